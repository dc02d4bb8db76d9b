"""One attempt at a cell, made in the process where it runs; result and errors come back as picklable values."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from believer.errors import BelieverError, InvalidInput, MissingCapability, MissingExtra
from believer.experiments import plain
from believer.experiments.cells import Cell
from believer.study.settings import versions
from believer.workers import error_text

Work = Callable[[Cell], Mapping[str, Any]]
"""A function at the top of a module, so that any process can find it. It returns plain JSON for a cell."""

_CALLER_ERRORS = (InvalidInput, MissingCapability, MissingExtra)
"""The errors that end a run: other cells would fail in the same way, and the text says what to do."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A result with its provenance; or an error with its traceback, and the exception if the caller is to blame."""

    result: dict[str, Any] | None = None
    provenance: dict[str, Any] | None = None
    error: str = ""
    trace: str = ""
    blame: BelieverError | None = None


def attempt(work: Work, cell: Cell) -> Attempt:
    """Do the work. Only an interrupt is raised: an exception of another module may not be picklable."""
    start, cpu = time.perf_counter(), time.process_time()
    try:
        result = _plain(work(cell))
    except (Exception, SystemExit) as error:
        blame = error if isinstance(error, _CALLER_ERRORS) and _travels(error) else None
        return Attempt(error=error_text(error), trace=traceback.format_exc(), blame=blame)
    seconds = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    return Attempt(result, {**versions(), **{name: round(value, 6) for name, value in seconds.items()}})


def _plain(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result as it reads back from the store, so that a resumed run returns the same values."""
    if not isinstance(result, Mapping):
        raise TypeError(f"work must return a dict of plain JSON; got {result!r:.200}.")
    try:
        return plain.decode(plain.encode(dict(result), "a result"), "a result")
    except InvalidInput as error:  # a fault of this cell's work, not of the caller
        raise ValueError(str(error)) from error


def _travels(error: BaseException) -> bool:
    """Whether the exception can be pickled and restored; one that cannot would break the whole pool."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False
