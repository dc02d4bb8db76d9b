"""The file of a reproduction's cells, and its packed copy, from which a clone of the repository goes on."""

from __future__ import annotations

from pathlib import Path

from believer.experiments import pack as pack_store
from believer.experiments import unpack as unpack_store

CELLS = "cells.jsonl"
PACKED = "cells.jsonl.gz"


def pack(folder: Path) -> None:
    """Leave the packed file beside the folder's cells."""
    pack_store(folder / CELLS, folder / PACKED)


def unpack(folder: Path) -> None:
    """Add the packed cells that the folder's lack: all of them where there is only the packed file."""
    unpack_store(folder / PACKED, folder / CELLS)
