"""Files of lines that survive a crash: one writer, each line on the disk before its append returns.

The newline is the mark of a finished append. What follows the last newline (half a line, or the zero bytes that some
file systems leave after a crash) was never acknowledged and is ignored, even if it happens to make sense.

The lock is on the file itself and is released by the operating system when its owner dies, however it dies.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from believer.errors import JournalError, JournalLocked

PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Wording:
    """How errors speak of a file: what it is, who holds it open, and how to go on when it was lost or is in doubt."""

    file: str
    holder: str
    lost: str
    in_doubt: str


class LineFile:
    """A file of lines open for appending, by one writer at a time.

    Not for use by several threads at once. In a forked child it is closed: the child must neither write to it nor keep
    the lock alive once the parent is gone.
    """

    __slots__ = ("__weakref__", "_closed_because", "_fd", "_path", "_words")

    def __init__(self, path: PathLike, words: Wording, create: bool) -> None:
        """Open and lock the file; OSError if that cannot be done, ``JournalLocked`` if someone else has it."""
        self._fd: int | None = None  # also when the next lines raise
        self._closed_because = ""
        self._path = os.path.abspath(path)
        self._words = words
        self._fd = _open_locked(self._path, words, create)
        _close_in_forked_children()
        _OPEN.add(self)

    @property
    def path(self) -> str:
        """Where the file is, as an absolute path."""
        return self._path

    def lines(self) -> list[bytes]:
        """The finished lines, without their newlines."""
        with open(self._opened(), "rb", closefd=False) as file:
            file.seek(0)
            return finished_lines(file.read())

    def size(self) -> int:
        """Bytes in the file, a torn last line included."""
        return os.fstat(self._opened()).st_size

    def cut(self, length: int) -> None:
        """Drop all that follows the first ``length`` bytes: a line that was torn."""
        fd = self._opened()
        if os.fstat(fd).st_size > length:
            os.ftruncate(fd, length)
            os.fsync(fd)

    def append(self, line: bytes) -> None:
        """Add one line: on the disk when this returns; if it raises, the file is as it was, or closed."""
        fd = self._opened()
        with explained("append to", self._path, "Nothing was recorded; make room or mend the disk, and call again."):
            status = os.fstat(fd)
            if status.st_nlink == 0 and not _same_file(fd, self._path):
                raise JournalError(
                    f"an append needs a file; {self._path} was deleted or replaced while it was open. "
                    f"{self._words.lost}"
                )
            try:
                _write_all(fd, line + b"\n")
                os.fsync(fd)
            except BaseException:  # an interrupt must not leave half a line either
                self._roll_back(fd, status.st_size)
                raise

    def _opened(self) -> int:
        if self._fd is None:
            raise JournalError(
                f"an append needs an open {self._words.file}; {self._path} was closed{self._closed_because}."
            )
        return self._fd

    def _roll_back(self, fd: int, length: int) -> None:
        try:
            os.ftruncate(fd, length)
        except OSError as error:
            self.close()
            self._closed_because = " after a write that failed"
            raise JournalError(
                f"writing to {self._path} failed and could not be undone: {error.strerror or error}. "
                f"The {self._words.file} was closed; {self._words.in_doubt}"
            ) from error

    def sync_name(self) -> None:
        """Make the name of a new file as durable as its content."""
        _sync_directory(self._path)

    def close(self) -> None:
        """Release the file and its lock. Closing twice is fine."""
        fd, self._fd = self._fd, None
        if fd is not None:
            _release(fd)

    def close_in_child(self) -> None:
        """Close without unlocking, in a forked child: the lock is the parent's."""
        fd, self._fd = self._fd, None
        if fd is not None:
            self._closed_because = " in this process, a fork of its writer; append from the process that opened it"
            os.close(fd)

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would close a file that is not its own."""
        raise TypeError(
            f"a {self._words.file} cannot be copied or pickled; pass its path, and open it there after closing it here."
        )

    def __del__(self) -> None:
        """What is dropped without closing must not lock its file for the life of the process."""
        self.close()


_OPEN: weakref.WeakSet[LineFile] = weakref.WeakSet()


def read_lines(path: PathLike) -> list[bytes]:
    """The finished lines of a file, without its lock; a torn last line is left where it is."""
    with explained("read", path, "Check the path."):
        return finished_lines(Path(path).read_bytes())


def finished_lines(data: bytes) -> list[bytes]:
    """The lines that have their newline, without it."""
    return data.split(b"\n")[:-1]


def replace_file(path: PathLike, data: bytes, words: Wording) -> None:
    """Write a whole file at once: whatever happens, ``path`` holds all of the old file or all of the new.

    Raises ``JournalLocked`` if someone is writing to ``path``.
    """
    target = os.path.realpath(path)  # a link stays a link
    scratch = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    with explained("write", path, "Its directory must exist, be writable and have room."):
        held: int | None = None
        with suppress(FileNotFoundError):
            held = _open_locked(target, words, create=False)
        try:
            _write_scratch(scratch, data, mode=0o666 if held is None else os.fstat(held).st_mode & 0o777)
            if sys.platform == "win32" and held is not None:
                _release(held)  # an open file cannot be replaced there
                held = None
            os.replace(scratch, target)
            _sync_directory(target)
        finally:
            with suppress(OSError):
                os.unlink(scratch)
            if held is not None:
                _release(held)


def _write_scratch(path: str, data: bytes, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        _write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


@contextmanager
def explained(verb: str, path: PathLike, advice: str) -> Iterator[None]:
    """Turn an OSError into a ``JournalError`` that says what could not be done, and what to do."""
    try:
        yield
    except OSError as error:
        raise JournalError(f"cannot {verb} {os.fspath(path)}: {error.strerror or error}. {advice}") from error


def _open_locked(path: str, words: Wording, create: bool) -> int:
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0) | (os.O_CREAT if create else 0)
    while True:
        fd = os.open(path, flags, 0o666)
        try:
            if not _try_lock(fd):
                raise JournalLocked(
                    f"a {words.file} has one writer at a time; {path} is in use by another process, or by another "
                    f"{words.holder} in this one. Close that one or wait until it ends; reading needs no lock."
                )
            if _same_file(fd, path):  # else: replace_file put another file there before the lock was ours
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _release(fd: int) -> None:
    # Unlock first: a child that was forked a moment ago may still hold a copy of the descriptor.
    with suppress(OSError):
        _unlock(fd)
    os.close(fd)


if sys.platform == "win32":
    import msvcrt

    # Locked bytes cannot be read there, so the lock is one that no file reaches; the C library seeks by 32 bits.
    _LOCK_BYTE = 2**31 - 2

    def _try_lock(fd: int) -> bool:
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        return True

    def _unlock(fd: int) -> None:
        os.lseek(fd, _LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

    def _same_file(fd: int, path: str) -> bool:
        return True  # an open file can be neither deleted nor replaced

    def _sync_directory(path: str) -> None:
        pass  # directories cannot be opened

    def _close_in_forked_children() -> None:
        pass  # processes are never forked

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

    def _same_file(fd: int, path: str) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), os.stat(path))
        except FileNotFoundError:
            return False

    def _sync_directory(path: str) -> None:
        # Some file systems refuse this; then there is nothing more to be done.
        with suppress(OSError):
            fd = os.open(os.path.dirname(path), os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    @functools.cache
    def _close_in_forked_children() -> None:
        # A worker that inherits the descriptor would keep the lock after its parent was killed.
        os.register_at_fork(after_in_child=_close_all_in_child)

    def _close_all_in_child() -> None:
        for file in list(_OPEN):
            file.close_in_child()
