"""The file of a reproduction's cells and its compressed copy, from which a clone of the repository can go on."""

from __future__ import annotations

from pathlib import Path

from believer.experiments import pack as pack_store
from believer.experiments import unpack as unpack_store

CELLS = "cells.jsonl"
PACKED = "cells.jsonl.gz"


def pack(folder: Path) -> None:
    """Write the compressed copy of the folder's cells."""
    pack_store(folder / CELLS, folder / PACKED)


def unpack(folder: Path) -> None:
    """Add the cells of the compressed copy that the folder's own file lacks."""
    unpack_store(folder / PACKED, folder / CELLS)
