"""The append-only event log: pure events in, pure events out.

A journal is a text file of JSON objects, one event a line, of which the first is always ``begun``. Reading one parses
JSON and nothing else: no code in it can run. How its lines reach the disk, and its lock, are described in
:mod:`believer.study.line_file`.

A line with its newline was acknowledged. If it cannot be read, even if it is the last one, it was damaged or edited
later: this is ``JournalCorrupt``, never a silent loss. The same holds for a whole line with its checksum and another
character in place of its newline. A last line with nothing or zero bytes in that place was never finished.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalTooNew
from believer.study.events import Asked, Begun, Event, Upgraded
from believer.study.files import PathLike, Wording, as_path, explained, replace_file
from believer.study.formats import FORMAT, decode_event, encode_event, is_damaged, parse_object, whole_line
from believer.study.line_file import LONGEST, LineFile, read_lines, refuse_long

__all__ = ["Journal", "PathLike", "read_events", "write_events"]

_log = logging.getLogger(__name__)

START = b'{"kind":"begun",'
"""The beginning of every journal that this library has written."""

_WORDING = Wording(
    file="journal",
    holder="Optimizer",
    lost="Save the study to another path, or load it from there again.",
    in_doubt="Optimizer.load(path) reads it, with the last event or without.",
    noted=True,
)


def read_events(path: PathLike) -> list[Event]:
    """All events of a journal, read without its lock; an unfinished last line is ignored and left in the file.

    Raises ``JournalError`` if there is nothing to read, and ``JournalCorrupt`` or ``JournalTooNew`` if it cannot be
    understood.
    """
    torn: list[bytes] = []
    return _parsed(read_lines(path, torn.append), torn, path)[0]


def _parsed(lines: Iterable[bytes], torn: Iterable[bytes], path: PathLike) -> tuple[list[Event], int]:
    """The events of the lines, and the format that the last of them is written in; ``torn`` is what follows them."""
    events: list[Event] = []
    version = FORMAT
    asked: tuple[str, dict[str, Any]] = ("", {})
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8")
            if number == 1 or '"upgraded"' in text[:40]:
                version = _version(text, version, path)
            event = decode_event(text, version)
            if isinstance(event, Asked):  # most asks have equal requests, so they share one copy
                said = repr(event.request)  # which tells 1 from True
                asked = asked if said == asked[0] else (said, event.request)
                event = replace(event, request=asked[1])
            if isinstance(event, Begun) != (number == 1):
                raise InvalidInput("the first event, and no other, must be begun.")
        except ValueError as error:  # also: bytes that are not UTF-8
            advice = "Check that it is a journal, or restore it from a copy"
            if events:
                advice = (
                    f"Restore it from a copy, or delete this line and all after it, to go on from line {number - 1}"
                )
            message = f"line {number} of {os.fspath(path)} is not a journal event ({error}). {advice}."
            raise JournalCorrupt(message, line=number) from error
        events.append(event)
    if any(map(_lacks_newline, torn)):
        number = len(events) + 1
        cut = f", or delete the line, to go on from line {number - 1}" if events else ""
        message = (
            f"line {number} of {os.fspath(path)} is whole, and something else is in the place of its newline: it was "
            f"damaged after it was written. Put a newline in the place of all that follows its checksum{cut}."
        )
        raise JournalCorrupt(message, line=number)
    if not events:
        raise JournalError(
            f"a journal must hold at least its first line; {os.fspath(path)} is empty, or was cut short while that "
            "was written. If it is meant to be a journal, nothing is lost: delete it and begin again."
        )
    return events, version


def _version(text: str, version: int, path: PathLike) -> int:
    """The format that a line states, or the ``version`` so far if it states none.

    This comes before any strict check, because a later format may have fields and kinds that this version does not
    know.
    """
    said = parse_object(text).get("format")
    if type(said) is not int:
        return version
    if said > FORMAT and not is_damaged(text):
        raise JournalTooNew(
            f"{os.fspath(path)} has journal format {said}; this version of believer reads up to format {FORMAT}. "
            "Upgrade believer to read it."
        )
    return min(said, FORMAT)


def write_events(path: PathLike, events: Iterable[Event]) -> None:
    """Write a whole journal at once: whatever happens, ``path`` holds all of the old file or all of the new.

    Raises ``JournalLocked`` if ``path`` is a journal that someone is writing to.
    """
    events = tuple(events)
    if not events or any(isinstance(event, Begun) != (i == 0) for i, event in enumerate(events)):
        raise InvalidInput("the first event, and no other, must be begun.")
    replace_file(path, _lines(events), _WORDING)


def _lines(events: Iterable[Event]) -> Iterator[bytes]:
    version = FORMAT
    for event in events:
        version = event.format if isinstance(event, Begun | Upgraded) else version
        line = _line(event, version)
        refuse_long(line)
        yield line + b"\n"


def is_begun(path: PathLike) -> bool:
    """Whether there is a finished line at ``path``; if there is none, a study can begin."""
    return os.path.exists(as_path(path, "a journal")) and next(read_lines(path), None) is not None


class Journal:
    """A journal open for appending, by one writer at a time; made by ``create`` or ``open``.

    It is not for use by several threads at once, and is closed in a forked child.
    """

    __slots__ = ("_file", "_version")

    def __init__(self, file: LineFile, version: int) -> None:
        """Own ``file``, whose next lines are written in the format ``version``."""
        self._file, self._version = file, version

    @classmethod
    def create(cls, path: PathLike, begun: Begun) -> Journal:
        """Begin a journal if there is no file, an empty one, or one with an unfinished first line only; otherwise raise
        ``JournalError``."""
        line = _line(begun, begun.format)
        with explained("create", path, "Its directory must exist and be writable."):
            file = LineFile(path, _WORDING, create=True)
            try:
                if any(True for _ in file.lines()) or not _is_torn_start(file.torn(LONGEST)):
                    raise JournalError(
                        f"a new journal needs a path of its own; {file.path} holds something already. "
                        "If it is a journal, use Optimizer.load(path) to go on."
                    )
                file.drop_torn()
                file.append(line)
                file.sync_name()
            except BaseException:
                file.close()
                raise
        return cls(file, begun.format)

    @classmethod
    def open(cls, path: PathLike) -> tuple[Journal, list[Event]]:
        """Lock a journal, read it, and cut off an unfinished last line. Raises the errors of ``read_events``, and
        ``JournalLocked``."""
        with explained("open", path, "Check the path, and that you may write there."):
            file = LineFile(path, _WORDING, create=False)
            try:
                torn: list[bytes] = []
                events, version = _parsed(file.lines(torn.append), torn, file.path)
                file.drop_torn()
                if any(torn):
                    _log.warning("%s: its last line was never finished, and was cut off", file.path)
            except BaseException:
                file.close()
                raise
        return cls(file, version), events

    @property
    def path(self) -> Path:
        """The absolute path of the file."""
        return Path(self._file.path)

    @property
    def end(self) -> int:
        """The number of bytes on the disk. If it has grown, an append was done, even if it raised."""
        return self._file.end

    def append(self, event: Event) -> None:
        """Add one event: on the disk when this returns; if it raises, ``end`` says whether it is."""
        if isinstance(event, Begun):
            raise InvalidInput("the first event, and no other, must be begun; write another journal for another study.")
        version = event.format if isinstance(event, Upgraded) else self._version
        self._file.append(_line(event, version))
        self._version = version

    def close(self) -> None:
        """Release the file and its lock. Closing twice is fine."""
        self._file.close()

    def __reduce__(self) -> NoReturn:
        """Refuse: a copy would close a file that is not its own."""
        raise TypeError(
            "a Journal cannot be copied or pickled; pass its path, and open it there after closing it here."
        )


def _is_torn_start(text: bytes) -> bool:
    """Whether the file is empty, or holds only an unfinished first line."""
    text = text.rstrip(b"\0")
    return START.startswith(text[: len(START)]) and not _lacks_newline(text)


def _lacks_newline(text: bytes) -> bool:
    """Whether this is a finished line in which the newline was replaced by something other than zero bytes."""
    end = whole_line(text)
    return end is not None and bool(text[end:].strip(b"\0"))


def _line(event: Event, version: int) -> bytes:
    return encode_event(event, version).encode("ascii")
