"""Regular files, locked by their writer and replaced as a whole.

A lock is on the file itself and is released by the operating system when its owner dies, however it dies.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from typing import Any, TypeAlias

from believer.arrays import shown
from believer.errors import InvalidInput, JournalError, JournalLocked
from believer.study.holder import holder

PathLike: TypeAlias = str | os.PathLike[str]

_BINARY = getattr(os, "O_BINARY", 0)
_MOMENT = 60.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of errors about a file: its kind, its holder, and the advice if it was lost or is in doubt.

    ``noted`` says whether a file beside it names its writer (:mod:`~believer.study.holder`).
    """

    file: str
    holder: str
    lost: str
    in_doubt: str
    noted: bool = False


def as_path(path: Any, what: str = "a path") -> str:
    """``path`` as text; InvalidInput if it is not a path."""
    try:
        text = os.fspath(path)
    except Exception as error:  # __fspath__ is the caller's code
        raise InvalidInput(f"{what} must be a path; got {shown(path)}.") from error
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidInput(f"{what} must be a path; got {shown(path)}.")
    return text


def followed(path: PathLike) -> str:
    """The absolute path of the regular file at ``path``, with links resolved; OSError if it is not a regular file.

    Devices and pipes are never opened, since they could block or never end.
    """
    target = os.path.realpath(as_path(path))
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = os.stat(target, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
    return target


@contextmanager
def explained(verb: str, path: PathLike, advice: str) -> Iterator[None]:
    """Turn an OSError into a ``JournalError`` that says what could not be done, and what to do."""
    try:
        yield
    except (OSError, UnicodeError) as error:  # the latter: a path that the file system cannot have
        why = error.strerror or error if isinstance(error, OSError) else error
        raise JournalError(f"cannot {verb} {os.fspath(path)!s}: {why}. {advice}") from error


def opened(path: str, flags: int, mode: int = 0o666) -> FileIO:
    """The file as an object that owns its descriptor, so that it is closed in any case when it is dropped."""
    return FileIO(path, "rb+", opener=lambda name, _: os.open(name, flags | _BINARY, mode))


def open_locked(path: str, words: Wording, create: bool) -> FileIO:
    """The plain file at ``path``, for reading and appending, with its lock."""
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | (os.O_CREAT if create else 0)
    while True:
        file = opened(path, flags)
        try:
            if not _try_lock(file.fileno()):
                who = f": {found}" if words.noted and (found := holder(path)) else ""
                raise JournalLocked(
                    f"a {words.file} has one writer at a time; {path} is in use by another process, or by another "
                    f"{words.holder} in this one{who}. Close that one or wait until it ends; reading needs no lock."
                )
            if same_file(file.fileno(), path):  # else: replace_file put another file there before the lock was ours
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def release(file: FileIO) -> None:
    """Unlock first: a child that was forked a moment ago may still hold a copy of the descriptor."""
    if not file.closed:
        with suppress(OSError):
            _unlock(file.fileno())
        file.close()


def write_all(fd: int, data: bytes | bytearray) -> None:
    """All of ``data``, in as many writes as it takes."""
    with memoryview(data) as rest:
        done = 0
        while done < len(rest):
            done += os.write(fd, rest[done:])


def replace_file(path: PathLike, chunks: Iterable[bytes], words: Wording, lock: bool = True) -> None:
    """Write a whole file at once: whatever happens, ``path`` holds all of the old file or all of the new.

    Raises ``JournalLocked`` if someone is writing to ``path``, unless ``lock`` is False.
    """
    with explained("write", path, "Its directory must exist, be writable and have room."), ExitStack() as stack:
        target, mode = followed(path), 0o666  # a link stays a link
        with suppress(FileNotFoundError):
            mode = os.stat(target).st_mode & 0o777
            if lock:
                # Closed by itself, too: an interrupt may come before the first line of ``release``.
                stack.callback(release, stack.enter_context(open_locked(target, words, create=False)))
        _drop_leftovers(target)
        scratch = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        try:
            file = stack.enter_context(opened(scratch, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode))
            stack.callback(release, file)
            _try_lock(file.fileno())  # this one is not left over
            _write_chunks(file.fileno(), chunks)
            if sys.platform == "win32":  # an open file can neither replace nor be replaced there
                stack.close()
            os.replace(scratch, target)
            sync_directory(target)
        finally:
            with suppress(OSError):
                os.unlink(scratch)


def _write_chunks(fd: int, chunks: Iterable[bytes]) -> None:
    waiting = bytearray()
    for chunk in chunks:
        waiting += chunk
        if len(waiting) >= 2**20:
            write_all(fd, waiting)
            waiting.clear()
    write_all(fd, waiting)
    os.fsync(fd)


def _drop_leftovers(target: str) -> None:
    """Remove temporary files that killed processes have left beside ``target``.

    Recent files are kept, since they may not be locked yet.
    """
    for name in glob.glob(f"{glob.escape(target)}.[0-9]*-????????.tmp"):
        with suppress(OSError):
            if abs(time.time() - os.stat(name).st_mtime) < _MOMENT:
                continue
            file = opened(name, os.O_RDWR)
            abandoned = _try_lock(file.fileno())
            release(file)
            if abandoned:
                os.unlink(name)


if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read there, so the lock is one that no file reaches; the C library seeks by 32 bits.
    _LOCK_BYTE = 2**31 - 2

    def _try_lock(fd: int) -> bool:
        at = os.lseek(fd, 0, os.SEEK_CUR)
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        finally:
            os.lseek(fd, at, os.SEEK_SET)
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def same_file(fd: int, path: str) -> bool:
        """Always: an open file can be neither deleted nor replaced there."""
        return True

    def sync_directory(path: str) -> None:
        """Do nothing, because directories cannot be opened on Windows."""

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)

    def same_file(fd: int, path: str) -> bool:
        """Whether ``path`` still leads to the open file ``fd``."""
        try:
            return os.path.samestat(os.fstat(fd), os.stat(path))
        except FileNotFoundError:
            return False

    def sync_directory(path: str) -> None:
        """Make the name of a new file as durable as its content."""
        # Some file systems refuse this; then there is nothing more to be done.
        with suppress(OSError):
            fd = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
