"""Files of lines that survive a crash: there is one writer, and each line is on the disk before its append returns.

The newline marks a finished append. Bytes after the last newline (half a line, or the zero bytes that some file systems
leave after a crash) were never acknowledged and are ignored, even if they could be read. A caller that knows the form
of a line may detect a newline that was damaged later.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import BinaryIO, NoReturn

from believer.errors import InvalidInput, JournalError
from believer.study.files import (
    PathLike,
    Wording,
    as_path,
    explained,
    followed,
    open_locked,
    release,
    same_file,
    sync_directory,
    write_all,
)
from believer.study.holder import leave_note, remove_note

LONGEST = 2**28
"""The largest number of bytes of a line with its newline: more than a study needs, and small enough to be read."""


class LineFile:
    """A file of lines open for appending, by one writer at a time.

    It is not for use by several threads at once. In a forked child it is closed: the child must not write to it, nor
    keep the lock after the parent is gone.

    ``end`` is the number of bytes that were appended: it grows when a line is on the disk. Anything that an exception
    leaves behind it is cut off before the next append.
    """

    __slots__ = ("__weakref__", "_closed_because", "_end", "_file", "_path", "_words", "_writing")

    def __init__(self, path: PathLike, words: Wording, create: bool) -> None:
        """Open and lock the file; OSError if that cannot be done, ``JournalLocked`` if someone else has it."""
        self._closed_because = ""
        self._writing = b""
        self._words = words
        self._path = followed(path)
        self._file = open_locked(self._path, words, create)
        if words.noted:
            leave_note(self._path)
        self._end = os.fstat(self._file.fileno()).st_size
        _close_in_forked_children()
        _OPEN.add(self)

    @property
    def path(self) -> str:
        """The absolute path of the file."""
        return self._path

    @property
    def end(self) -> int:
        """The number of bytes of the finished lines, once :meth:`lines` has read them."""
        self._repair()
        return self._end

    def lines(self, torn: Callable[[bytes], object] | None = None) -> Iterator[bytes]:
        """The finished lines, without their newlines. They must be read to the end before anything is appended.

        ``torn`` is called with the bytes that follow them, if there are any.
        """
        with open(self._opened(), "rb", closefd=False) as file:
            file.seek(0)
            length = 0
            for line in _finished(file, self._end, self._path, torn):
                length += len(line) + 1
                yield line
        self._end = length

    def drop_torn(self) -> None:
        """Cut off the bytes after the finished lines."""
        fd = self._opened()
        if os.fstat(fd).st_size > self._end:
            os.ftruncate(fd, self._end)
            os.fsync(fd)

    def torn(self, length: int) -> bytes:
        """The first bytes after the finished lines."""
        fd = self._opened()
        with open(fd, "rb", closefd=False) as file:
            file.seek(self._end)
            return file.read(min(length, os.fstat(fd).st_size - self._end))  # a file without a size may be endless

    def append(self, line: bytes) -> None:
        """Append one line. It is on the disk when this returns; if this raises, ``end`` says whether it is."""
        fd = self._opened()
        refuse_long(line)
        with explained("append to", self._path, "Nothing was recorded; make room or mend the disk, and call again."):
            self._repair()
            status = os.fstat(fd)
            if status.st_nlink == 0 and not same_file(fd, self._path):
                raise JournalError(
                    f"an append needs a file; {self._path} was deleted or replaced while it was open. "
                    f"{self._words.lost}"
                )
            if status.st_size != self._end:
                self._refuse(status.st_size)
            try:
                self._writing = line + b"\n"
                write_all(fd, self._writing)
                os.fsync(fd)
                self._end = status.st_size + len(self._writing)
                self._writing = b""
            except BaseException:  # an interrupt must not leave half a line either
                self._repair()
                raise

    def _opened(self) -> int:
        if self._file.closed:
            raise JournalError(
                f"an append needs an open {self._words.file}; {self._path} was closed{self._closed_because}."
            )
        return self._file.fileno()

    def _repair(self) -> None:
        """Cut off the remains of an unfinished append."""
        if not self._writing or self._file.closed:
            return
        try:
            fd = self._file.fileno()
            left = os.fstat(fd).st_size - self._end
            if left > len(self._writing):
                self._refuse(self._end + left)
            if left > 0:
                os.ftruncate(fd, self._end)
            self._writing = b""
        except OSError as error:
            self.close()
            self._closed_because = " after a write that failed"
            raise JournalError(
                f"writing to {self._path} failed and could not be undone: {error.strerror or error}. "
                f"The {self._words.file} was closed; {self._words.in_doubt}"
            ) from error

    def _refuse(self, size: int) -> NoReturn:
        """Raise JournalError, because another process wrote to the file without the lock, so that memory and file
        differ."""
        what = "truncated" if size < self._end else "appended to"
        self.close()
        self._closed_because = f" because it was {what} by someone else"
        raise JournalError(
            f"a {self._words.file} has one writer; {self._path} was {what} by someone else while it was open. "
            f"Nothing was recorded, and it was closed. {self._words.lost}"
        )

    def sync_name(self) -> None:
        """Make the name of a new file as durable as its content."""
        sync_directory(self._path)

    def close(self) -> None:
        """Release the file and its lock. Closing twice is fine."""
        if self._words.noted and not self._file.closed:
            remove_note(self._path)
        release(self._file)

    def close_in_child(self) -> None:
        """Close without unlocking, in a forked child: the lock is the parent's."""
        if not self._file.closed:
            self._closed_because = " in this process, a fork of its writer; append from the process that opened it"
            self._file.close()

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would close a file that is not its own."""
        raise TypeError(
            f"a {self._words.file} cannot be copied or pickled; pass its path, and open it there after closing it here."
        )

    def __del__(self) -> None:
        """Close: an object that is dropped must not lock its file for the life of the process."""
        if hasattr(self, "_file"):  # it was opened
            self.close()


_OPEN: weakref.WeakSet[LineFile] = weakref.WeakSet()


def read_lines(path: PathLike, torn: Callable[[bytes], object] | None = None) -> Iterator[bytes]:
    """The finished lines of a file, read without its lock; an unfinished last line is left there, and passed to
    ``torn``."""
    as_path(path)
    with explained("read", path, "Check the path."), open(followed(path), "rb") as file:
        yield from _finished(file, os.fstat(file.fileno()).st_size, os.fspath(path), torn)


def refuse_long(line: bytes) -> None:
    """Raise InvalidInput if a line is too long to be read again."""
    if len(line) >= LONGEST:
        raise InvalidInput(f"a line must be shorter than {LONGEST:,} bytes; got {len(line):,}. Nothing was recorded.")


def _finished(file: BinaryIO, size: int, path: str, torn: Callable[[bytes], object] | None) -> Iterator[bytes]:
    """The lines among the first ``size`` bytes that have their newline, without it; the rest is for ``torn``."""
    while size > 0:
        line = file.readline(min(size, LONGEST))
        size -= len(line)
        if not line.endswith(b"\n"):
            if len(line) == LONGEST and size > 0:
                raise JournalError(f"{path} has a line of more than {LONGEST} bytes, which no version has written.")
            if torn is not None:
                torn(line)
            return
        yield line[:-1]


if sys.platform == "win32":

    def _close_in_forked_children() -> None:
        pass  # processes are never forked

else:

    @functools.cache
    def _close_in_forked_children() -> None:
        # A worker that inherits the descriptor would keep the lock after its parent was killed.
        os.register_at_fork(after_in_child=_close_all_in_child)

    def _close_all_in_child() -> None:
        for file in list(_OPEN):
            file.close_in_child()
