"""The store: finished cells as lines of JSON, each written to disk before it counts as done.

One object a line: ``format``, ``key``, ``cell`` (experiment, settings, seed), ``result``, ``provenance``. Lines stand
alone, so files of two machines can be joined by ``cat``; of a cell that is there twice, the first line counts. How a
line reaches the disk, and the lock, are described in :mod:`believer.study.line_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from believer.errors import InvalidInput, JournalCorrupt, JournalTooNew
from believer.experiments import plain
from believer.experiments.cells import Cell
from believer.experiments.provenance import commit
from believer.study.files import PathLike, Wording, explained
from believer.study.line_file import LineFile, read_lines
from believer.study.settings import versions

FORMAT = 1
"""The newest format of a line that this version reads, and the one that it writes."""

_FIELDS = ("format", "key", "cell", "result", "provenance")
WORDING = Wording(
    file="store",
    holder="run",
    lost="Run again with another path.",
    in_doubt="run again: it goes on with the last cell or without.",
)
"""The words for a store in error messages."""


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """A cell with its result, and where that came from: versions, commit, seconds, the time when it was stored."""

    cell: Cell
    result: dict[str, Any]
    provenance: dict[str, Any]


def read_store(path: PathLike) -> list[FinishedCell]:
    """The finished cells of a file, without its lock: also while a run is writing to it.

    Raises ``JournalError`` if it cannot be read, ``JournalCorrupt`` with the line that makes no sense,
    ``JournalTooNew`` if a newer version wrote it.
    """
    return list(_parsed(read_lines(path), path).values())


class Store:
    """Finished cells, in memory and, given a ``path``, in a file that no one else may write to meanwhile.

    What the file holds already is there at once; a torn last line is cut off. Raises as ``read_store``, and
    ``JournalLocked``.
    """

    __slots__ = ("_file", "_finished")

    def __init__(self, path: PathLike | None = None) -> None:
        self._file: LineFile | None = None
        self._finished: dict[str, FinishedCell] = {}
        if path is None:
            return
        with explained("open", path, "Its directory must exist and be writable."):
            file = LineFile(path, WORDING, create=True)
            try:
                self._finished = _parsed(file.lines(), file.path)
                file.drop_torn()
                file.sync_name()
            except BaseException:
                file.close()
                raise
        self._file = file

    @property
    def path(self) -> Path | None:
        """The absolute path of the file; None in memory."""
        return None if self._file is None else Path(self._file.path)

    def add(self, cell: Cell, result: Mapping[str, Any], provenance: Mapping[str, Any] | None = None) -> FinishedCell:
        """Record a result, on the disk when this returns; ``InvalidInput`` if it is not plain JSON, or there already.

        provenance: of the process that computed it; of this one by default.
        """
        if cell in self:
            raise InvalidInput(f"a cell is finished once; {cell} is in the store already.")
        where = dict(versions() if provenance is None else provenance)
        where |= {"commit": commit(), "finished": datetime.now(UTC).isoformat(timespec="seconds")}
        record = {
            "format": FORMAT,
            "key": cell.key,
            "cell": cell.to_json(),
            "result": dict(result),
            "provenance": where,
        }
        line = plain.encode(record, f"the result of {cell}")
        finished = _decoded(line, "the store")
        if self._file is not None:
            self._file.append(line.encode("ascii"))
        self._finished[cell.key] = finished
        return finished

    def __getitem__(self, cell: Cell) -> FinishedCell:
        """The finished cell; KeyError if it is not finished."""
        return self._finished[cell.key]

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, Cell) and cell.key in self._finished

    def __len__(self) -> int:
        return len(self._finished)

    def __iter__(self) -> Iterator[FinishedCell]:
        """Iterate over the cells in the order in which they finished."""
        return iter(self._finished.values())

    def close(self) -> None:
        """Release the file and its lock; what was read or added can still be looked at. Closing twice is fine."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Store:
        """The store itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close."""
        self.close()


def _parsed(lines: Iterable[bytes], path: PathLike) -> dict[str, FinishedCell]:
    """Finished cells by key; the first line of a cell counts."""
    finished: dict[str, FinishedCell] = {}
    for number, line in enumerate(lines, start=1):
        try:
            entry = _decoded(line.decode("utf-8"), os.fspath(path))
        except ValueError as error:  # also: bytes that are not UTF-8
            raise JournalCorrupt(
                f"line {number} of {os.fspath(path)} is not a finished cell ({error}). Restore it from a copy, or "
                "delete this line: its cell will be run again.",
                line=number,
            ) from error
        finished.setdefault(entry.cell.key, entry)
    return finished


def _decoded(line: str, where: str) -> FinishedCell:
    record = plain.decode(line, "a line")
    written = record.get("format")
    if type(written) is int and written > FORMAT:
        raise JournalTooNew(
            f"{where} has store format {written}; this version of believer reads up to format {FORMAT}. "
            "Upgrade believer to read it."
        )
    if record.keys() != set(_FIELDS) or written != FORMAT:
        raise InvalidInput(f"a line must have exactly the fields {', '.join(_FIELDS)}; got {', '.join(record)}.")
    cell = Cell.from_json(record["cell"])
    if record["key"] != cell.key:
        raise InvalidInput(f"the key must be that of the cell, {cell.key}; got {record['key']!r}.")
    if not isinstance(record["result"], dict) or not isinstance(record["provenance"], dict):
        raise InvalidInput("result and provenance must be JSON objects.")
    return FinishedCell(cell, record["result"], record["provenance"])
