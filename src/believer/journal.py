"""The append-only event log: pure events in, pure events out.

A journal is a text file of JSON objects, one event a line, of which the first is always ``begun``. Reading one parses
JSON and nothing else: no code in it can run.

The newline is the mark of a finished append. What follows the last newline (half a line, or the zero bytes that some
file systems leave after a crash) was never acknowledged and is ignored, even if it happens to parse. A line that has
its newline and cannot be understood, the last one included, was acknowledged once and then damaged or edited: that is
``JournalCorrupt``, never a silent loss.

The lock is on the file itself and is released by the operating system when its owner dies, however it dies.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NoReturn, TypeAlias

from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalLocked, JournalTooNew
from believer.events import FORMAT, Begun, Event, decode_event, encode_event, parse_object

PathLike: TypeAlias = str | os.PathLike[str]


def read_events(path: PathLike) -> list[Event]:
    """All events of a journal, without its lock; a torn last line is ignored, and left where it is.

    Raises ``JournalError`` if there is nothing to read, ``JournalCorrupt`` or ``JournalTooNew`` if it makes no sense.
    """
    with _explained("read", path, "Check the path."):
        data = Path(path).read_bytes()
    return _scan(data, path)[0]


def _scan(data: bytes, path: PathLike) -> tuple[list[Event], int]:
    """The events, and how many bytes their lines take; what follows is torn."""
    *lines, _ = data.split(b"\n")
    if not lines:
        raise JournalError(
            f"a journal must hold at least its first line; {os.fspath(path)} is empty, or was cut short while that "
            "was written. If it is meant to be a journal, nothing is lost: delete it and begin again."
        )
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8")
            if number == 1:
                _refuse_newer(text, path)
            event = decode_event(text)
            if isinstance(event, Begun) != (number == 1):
                raise InvalidInput("the first event, and no other, must be begun.")
        except ValueError as error:  # also: bytes that are not UTF-8
            cut = f", or delete this line and all after it, to go on from line {number - 1}" if events else ""
            message = (
                f"line {number} of {os.fspath(path)} is not a journal event ({error}). Restore it from a copy{cut}."
            )
            raise JournalCorrupt(message, line=number) from error
        events.append(event)
    return events, sum(len(line) + 1 for line in lines)


def _refuse_newer(text: str, path: PathLike) -> None:
    """Before any strict check: a later format may have fields and kinds that this version cannot know."""
    record = parse_object(text)
    if record.get("kind") == "begun" and type(record.get("format")) is int and record["format"] > FORMAT:
        raise JournalTooNew(
            f"{os.fspath(path)} has journal format {record['format']}; this version of believer reads up to format "
            f"{FORMAT}. Upgrade believer to read it."
        )


def write_events(path: PathLike, events: Iterable[Event]) -> None:
    """Write a whole journal at once: whatever happens, ``path`` holds all of the old file or all of the new.

    Raises ``JournalLocked`` if ``path`` is a journal that someone is writing to.
    """
    events = tuple(events)
    if not events or any(isinstance(event, Begun) != (i == 0) for i, event in enumerate(events)):
        raise InvalidInput("the first event, and no other, must be begun.")
    data = b"".join(_line(event) for event in events)
    target = os.path.realpath(path)  # a link stays a link
    scratch = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    with _explained("write", path, "Its directory must exist, be writable and have room."):
        held: int | None = None
        with suppress(FileNotFoundError):
            held = _open_locked(target, create=False)
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


class Journal:
    """A journal open for appending, by one writer at a time; made by ``create`` or ``open``.

    Not for use by several threads at once. In a forked child it is closed: the child must neither write to it nor keep
    the lock alive once the parent is gone.
    """

    __slots__ = ("__weakref__", "_closed_because", "_fd", "_path")

    def __init__(self, path: str, fd: int) -> None:
        """Own ``fd``, which is open and locked."""
        self._path = path
        self._fd: int | None = fd
        self._closed_because = ""
        _close_in_forked_children()
        _OPEN.add(self)

    @classmethod
    def create(cls, path: PathLike, begun: Begun) -> Journal:
        """Begin a journal where there is none, or an empty file; ``JournalError`` where there is more."""
        line = _line(begun)
        where = os.path.abspath(path)
        with _explained("create", path, "Its directory must exist and be writable."):
            fd = _open_locked(where, create=True)
            journal = cls(where, fd)
            try:
                if os.fstat(fd).st_size > 0:
                    raise JournalError(
                        f"a new journal needs a path of its own; {where} holds something already. "
                        "If it is a journal, use Optimizer.load(path) to go on."
                    )
                journal._append(line)
                _sync_directory(where)
            except BaseException:
                journal.close()
                raise
        return journal

    @classmethod
    def open(cls, path: PathLike) -> tuple[Journal, list[Event]]:
        """Lock a journal, read it, and cut off a torn last line. Raises as ``read_events``, and ``JournalLocked``."""
        where = os.path.abspath(path)
        with _explained("open", path, "Check the path, and that you may write there."):
            fd = _open_locked(where, create=False)
            journal = cls(where, fd)
            try:
                with open(fd, "rb", closefd=False) as file:
                    file.seek(0)
                    data = file.read()
                events, length = _scan(data, where)
                if length < len(data):
                    os.ftruncate(fd, length)
                    os.fsync(fd)
            except BaseException:
                journal.close()
                raise
        return journal, events

    @property
    def path(self) -> Path:
        """Where the file is, as an absolute path."""
        return Path(self._path)

    def append(self, event: Event) -> None:
        """Add one event: on the disk when this returns; if it raises, the file is as it was or the journal closed."""
        if isinstance(event, Begun):
            raise InvalidInput("the first event, and no other, must be begun; write another journal for another study.")
        self._append(_line(event))

    def _append(self, line: bytes) -> None:
        fd = self._fd
        if fd is None:
            raise JournalError(f"an append needs an open journal; {self._path} was closed{self._closed_because}.")
        with _explained("append to", self._path, "Nothing was recorded; make room or mend the disk, and call again."):
            status = os.fstat(fd)
            if status.st_nlink == 0 and not _same_file(fd, self._path):
                raise JournalError(
                    f"an append needs a file; {self._path} was deleted or replaced while it was open. "
                    "Save the study to another path."
                )
            try:
                _write_all(fd, line)
                os.fsync(fd)
            except BaseException:  # an interrupt must not leave half a line either
                self._roll_back(fd, status.st_size)
                raise

    def _roll_back(self, fd: int, length: int) -> None:
        try:
            os.ftruncate(fd, length)
        except OSError as error:
            self.close()
            self._closed_because = " after a write that failed"
            raise JournalError(
                f"writing to {self._path} failed and could not be undone: {error.strerror or error}. The journal was "
                "closed; Optimizer.load(path) reads it, with the last event or without."
            ) from error

    def close(self) -> None:
        """Release the file and its lock. Closing twice is fine."""
        fd, self._fd = self._fd, None
        if fd is not None:
            _release(fd)

    def _close_in_child(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            self._closed_because = " in this process, a fork of its writer; append from the process that opened it"
            os.close(fd)  # and no unlocking: that would unlock the parent's file as well

    def __enter__(self) -> Journal:
        """The journal itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close."""
        self.close()

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would close a file that is not its own."""
        raise TypeError(
            "a Journal cannot be copied or pickled; pass its path, and open it there after closing it here."
        )

    def __del__(self) -> None:
        """An optimizer that is dropped without closing must not lock its journal for the life of the process."""
        self.close()


_OPEN: weakref.WeakSet[Journal] = weakref.WeakSet()


def _line(event: Event) -> bytes:
    return encode_event(event).encode("ascii") + b"\n"


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


@contextmanager
def _explained(verb: str, path: PathLike, advice: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"cannot {verb} {os.fspath(path)}: {error.strerror or error}. {advice}") from error


def _open_locked(path: str, create: bool) -> int:
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0) | (os.O_CREAT if create else 0)
    while True:
        fd = os.open(path, flags, 0o666)
        try:
            if not _try_lock(fd):
                raise JournalLocked(
                    f"a journal has one writer at a time; {path} is in use by another process, or by another Optimizer "
                    "in this one. Close that one or wait until it ends; reading needs no lock."
                )
            if _same_file(fd, path):  # else: write_events put another file there before the lock was ours
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

    # Locked bytes cannot be read there, so the lock is one that no journal reaches; the C library seeks by 32 bits.
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
        for journal in list(_OPEN):
            journal._close_in_child()
