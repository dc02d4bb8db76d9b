"""A store, compressed to be handed on, and taken up again from there.

A run writes its store; at its end ``pack`` leaves a compressed file beside it, the same bytes for the same cells. Who
gets only the latter, as with a clone of a repository, goes on from it: ``unpack`` comes before a run.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from believer.errors import JournalError
from believer.experiments.store import WORDING
from believer.study.files import explained, followed, replace_file
from believer.study.line_file import read_lines

LARGEST = 2**31
"""Bytes of a store, unpacked."""


def pack(store: Path, packed: Path) -> None:
    """Compress the finished lines of ``store``; whatever happens, ``packed`` is whole, old or new."""
    data = b"".join(line + b"\n" for line in read_lines(store))
    replace_file(packed, [gzip.compress(data, mtime=0)], WORDING)


def unpack(packed: Path, store: Path) -> None:
    """Add the lines of ``packed`` that ``store`` lacks: all of them where there is no store, none without ``packed``.

    Raises ``JournalError`` if the packed file cannot be read, ``JournalLocked`` if a run is writing to the store and
    lacks some.
    """
    if not packed.exists():
        return
    there = dict.fromkeys(read_lines(store) if store.exists() else [])
    missing = [line for line in _packed_lines(packed) if line not in there]
    if missing:
        replace_file(store, (line + b"\n" for line in [*there, *missing]), WORDING)


def _packed_lines(path: Path) -> list[bytes]:
    with explained("read", path, "Check the path."), open(followed(path), "rb") as packed:
        try:
            data = gzip.GzipFile(fileobj=packed).read(LARGEST + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise JournalError(f"{path} is damaged ({error}). Restore it from a copy, or delete it.") from error
    if len(data) > LARGEST:
        raise JournalError(f"{path} holds more than {LARGEST:,} bytes, which no run has written.")
    return data.split(b"\n")[:-1]
