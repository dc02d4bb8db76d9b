"""The work of a cell, by its kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from believer.errors import InvalidInput
from believer.experiments import Cell

KINDS = {
    "loop": ("loops", "loop"),
    "sdd": ("diagnoses", "diagnosis"),
    "picture": ("pictures", "picture"),
    "step": ("steps", "step"),
    "scaling": ("steps", "scaling"),
    "locality": ("locality", "locality"),
    "batch": ("batches", "batch"),
    "theory": ("propositions", "theory"),
}
"""The module of ``cells`` and its function, by kind; loaded on use, so that a process imports only what it needs."""


def work(cell: Cell) -> dict[str, Any]:
    """The result of a cell as plain JSON. Times aside, it depends only on the cell, the processor and the BLAS."""
    if cell.experiment not in KINDS:
        raise InvalidInput(f"a cell must be one of {', '.join(KINDS)}; got {cell.experiment!r}.")
    file, name = KINDS[cell.experiment]
    function: Callable[[Cell], dict[str, Any]] = getattr(import_module(f"believer_paper.cells.{file}"), name)
    return function(cell)
