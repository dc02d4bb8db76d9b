"""The append-only event log: pure events in, pure events out.

A journal is a text file of JSON objects, one event a line, of which the first is always ``begun``. Reading one parses
JSON and nothing else: no code in it can run. How its lines reach the disk, and its lock, are told in
:mod:`believer.study.line_file`.

A line that has its newline and cannot be understood, the last one included, was acknowledged once and then damaged or
edited: that is ``JournalCorrupt``, never a silent loss.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from believer.errors import InvalidInput, JournalCorrupt, JournalError, JournalTooNew
from believer.study.events import FORMAT, Begun, Event, decode_event, encode_event, parse_object
from believer.study.line_file import LineFile, PathLike, Wording, explained, read_lines, replace_file

__all__ = ["Journal", "PathLike", "read_events", "write_events"]

_WORDING = Wording(
    file="journal",
    holder="Optimizer",
    lost="Save the study to another path.",
    in_doubt="Optimizer.load(path) reads it, with the last event or without.",
)


def read_events(path: PathLike) -> list[Event]:
    """All events of a journal, without its lock; a torn last line is ignored, and left where it is.

    Raises ``JournalError`` if there is nothing to read, ``JournalCorrupt`` or ``JournalTooNew`` if it makes no sense.
    """
    return _parsed(read_lines(path), path)


def _parsed(lines: Sequence[bytes], path: PathLike) -> list[Event]:
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
    return events


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
    replace_file(path, b"".join(_line(event) + b"\n" for event in events), _WORDING)


class Journal:
    """A journal open for appending, by one writer at a time; made by ``create`` or ``open``.

    Not for use by several threads at once, and closed in a forked child.
    """

    __slots__ = ("_file",)

    def __init__(self, file: LineFile) -> None:
        """Own ``file``."""
        self._file = file

    @classmethod
    def create(cls, path: PathLike, begun: Begun) -> Journal:
        """Begin a journal where there is none, or an empty file; ``JournalError`` where there is more."""
        line = _line(begun)
        with explained("create", path, "Its directory must exist and be writable."):
            file = LineFile(path, _WORDING, create=True)
            try:
                if file.size() > 0:
                    raise JournalError(
                        f"a new journal needs a path of its own; {file.path} holds something already. "
                        "If it is a journal, use Optimizer.load(path) to go on."
                    )
                file.append(line)
                file.sync_name()
            except BaseException:
                file.close()
                raise
        return cls(file)

    @classmethod
    def open(cls, path: PathLike) -> tuple[Journal, list[Event]]:
        """Lock a journal, read it, and cut off a torn last line. Raises as ``read_events``, and ``JournalLocked``."""
        with explained("open", path, "Check the path, and that you may write there."):
            file = LineFile(path, _WORDING, create=False)
            try:
                lines = file.lines()
                events = _parsed(lines, file.path)
                file.cut(sum(len(line) + 1 for line in lines))
            except BaseException:
                file.close()
                raise
        return cls(file), events

    @property
    def path(self) -> Path:
        """Where the file is, as an absolute path."""
        return Path(self._file.path)

    def append(self, event: Event) -> None:
        """Add one event: on the disk when this returns; if it raises, the file is as it was or the journal closed."""
        if isinstance(event, Begun):
            raise InvalidInput("the first event, and no other, must be begun; write another journal for another study.")
        self._file.append(_line(event))

    def close(self) -> None:
        """Release the file and its lock. Closing twice is fine."""
        self._file.close()

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


def _line(event: Event) -> bytes:
    return encode_event(event).encode("ascii")
