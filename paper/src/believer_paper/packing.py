"""The cells of a reproduction, compressed to be handed on, and taken up again from there.

A run writes ``cells.jsonl``; at its end ``pack`` leaves ``cells.jsonl.gz`` beside it, the same bytes for the same
cells. Who gets only the latter, as with a clone of the repository, goes on from it: ``unpack`` comes before a run.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from believer.errors import JournalError
from believer.study.line_file import Wording, explained, finished_lines, read_lines, replace_file

CELLS = "cells.jsonl"
PACKED = "cells.jsonl.gz"

_WORDING = Wording(
    file="store",
    holder="run",
    lost="Run again with another path.",
    in_doubt="run again: it goes on with the last cell or without.",
)


def pack(folder: Path) -> Path:
    """Compress the finished lines of the folder's cells; whatever happens, the packed file is whole, old or new."""
    data = b"".join(line + b"\n" for line in read_lines(folder / CELLS))
    replace_file(folder / PACKED, gzip.compress(data, mtime=0), _WORDING)
    return folder / PACKED


def unpack(folder: Path) -> None:
    """Add the packed lines that the folder's cells lack: all of them where there is only the packed file.

    Raises ``JournalError`` if the packed file cannot be read, ``JournalLocked`` if a run is writing to the cells and
    lacks some.
    """
    if not (folder / PACKED).exists():
        return
    there = dict.fromkeys(read_lines(folder / CELLS) if (folder / CELLS).exists() else [])
    missing = [line for line in _packed_lines(folder / PACKED) if line not in there]
    if missing:
        replace_file(folder / CELLS, b"".join(line + b"\n" for line in [*there, *missing]), _WORDING)


def _packed_lines(path: Path) -> list[bytes]:
    with explained("read", path, "Check the path."):
        packed = path.read_bytes()
    try:
        return finished_lines(gzip.decompress(packed))
    except (OSError, EOFError, zlib.error) as error:
        raise JournalError(f"{path} is damaged ({error}). Restore it from a copy, or delete it.") from error
