"""run: run the cells that have no result yet, here or in other processes, and return all results."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

from believer.arrays import whole
from believer.errors import EvaluationError, InvalidInput
from believer.experiments.attempt import Attempt, Work, attempt
from believer.experiments.cells import Cell
from believer.experiments.lines import ProgressLines
from believer.experiments.processes import in_processes
from believer.experiments.store import Store
from believer.progress import Progress
from believer.study.files import PathLike
from believer.workers import LOOK_UP

_UNDER_WAY = 256
"""Cells handed to someone else's executor at a time: enough to keep a cluster busy, and not a million futures."""

_BAR_WIDTH = 52
"""Columns that a progress bar takes at most before its note."""

_LABEL = 80
"""Characters of a cell that an error shows."""

Attempts = Generator[tuple[Cell, Attempt], None, None]


def run(
    cells: Iterable[Cell],
    work: Work,
    store: Store | PathLike | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: bool | str = True,
) -> list[dict[str, Any]]:
    """The result of every cell, in their order; those that the ``store`` holds already are not run again.

    work: a function ``work(cell) -> dict`` of plain JSON, at the top of a module. store: a path or a ``Store``; each
    result is on the disk before its cell counts as done. executor: any ``concurrent.futures.Executor``; or workers: as
    many processes of our own, each with one BLAS thread; None and 1 do the work in this process. progress: True draws a
    bar on a terminal and nothing elsewhere, "lines" writes lines to standard error, False is silent.

    A cell that fails does not stop the others; in the end, one ``EvaluationError`` tells of all failures. An error that
    the caller can mend (``InvalidInput``, ``MissingExtra``, ``MissingCapability``) is raised as it is, at once. However
    a run ends, what it had finished is in the store, and the same call goes on from there.
    """
    _check(work, executor, workers, progress)
    count = 1 if workers is None else whole(workers, "workers", 1)
    cells = _checked(cells)
    with _opened(store) as book:
        todo = [cell for cell in dict.fromkeys(cells) if cell not in book]
        total = len(set(cells))
        bar = ProgressLines(total, sys.stderr) if progress == "lines" else Progress.on_terminal(total, bool(progress))
        try:
            with closing(_outcomes(todo, work, executor, count)) as outcomes:
                failures = _collect(outcomes, book, bar, total - len(todo))
        finally:
            bar.close()
        if failures:
            raise _error([(cell, failures[cell]) for cell in todo if cell in failures], total, book)
        return [book[cell].result for cell in cells]


def _check(work: Work, executor: Executor | None, workers: int | None, progress: bool | str) -> None:
    if not callable(work):
        raise InvalidInput(f"work must be a function of a cell; got {work!r}.")
    if executor is not None and not isinstance(executor, Executor):
        raise InvalidInput(f"executor must be a concurrent.futures.Executor; got {executor!r}.")
    if executor is not None and workers is not None:
        raise InvalidInput("pass an executor or a number of workers; got both.")
    if progress not in (True, False, "lines"):
        raise InvalidInput(f'progress must be True, False or "lines"; got {progress!r}.')


def _checked(cells: Iterable[Cell]) -> list[Cell]:
    cells = list(cells)
    for cell in cells:
        if not isinstance(cell, Cell):
            raise InvalidInput(f"cells must be a list of Cell; got {cell!r}.")
    return cells


@contextmanager
def _opened(store: Store | PathLike | None) -> Iterator[Store]:
    """The store itself; closed at the end only if it was opened here."""
    if isinstance(store, Store):
        yield store
        return
    with Store(store) as book:
        yield book


def _outcomes(todo: Sequence[Cell], work: Work, executor: Executor | None, count: int) -> Attempts:
    if executor is not None:
        return _on_executor(todo, work, executor)
    if count > 1 and todo:  # a single cell as well: it must find the same conditions as the others did
        return in_processes(todo, work, min(count, len(todo)))
    return _inline(todo, work)


def _inline(todo: Sequence[Cell], work: Work) -> Attempts:
    for cell in todo:
        yield cell, attempt(work, cell)


def _on_executor(todo: Sequence[Cell], work: Work, executor: Executor) -> Attempts:
    """Outcomes as they come in; someone else's executor is not ours to mend when it breaks, nor to shut down."""
    rest = iter(todo)
    running: dict[Future[Attempt], Cell] = {}
    try:
        while True:
            for cell in islice(rest, _UNDER_WAY - len(running)):
                running[executor.submit(attempt, work, cell)] = cell
            if not running:
                return
            done, _ = wait(running, LOOK_UP, FIRST_COMPLETED)
            for future in [future for future in running if future in done]:
                cell = running.pop(future)
                try:
                    outcome = future.result()
                except (BrokenExecutor, CancelledError):
                    raise
                except Exception as error:  # the function or its cell could not travel
                    outcome = Attempt(error=f"{type(error).__name__}: {error}")
                yield cell, outcome
    except (RuntimeError, CancelledError) as error:  # broken, or shut down
        raise EvaluationError(
            f"the executor takes no more work ({type(error).__name__}: {error}); what was finished is kept. Run again "
            "with a new executor."
        ) from error
    finally:
        for future in running:
            future.cancel()


def _collect(outcomes: Attempts, book: Store, bar: Progress | ProgressLines, done: int) -> dict[Cell, Attempt]:
    """Store results as they come in; returns the failures."""
    failures: dict[Cell, Attempt] = {}
    room = max(0, shutil.get_terminal_size().columns - _BAR_WIDTH)
    bar.show(done)
    for cell, outcome in outcomes:
        if outcome.blame is not None:
            raise outcome.blame
        if outcome.result is None:
            failures[cell] = outcome
        else:
            book.add(cell, outcome.result, outcome.provenance)
        done += 1
        note = f"{len(failures)} failed, {cell}" if failures else str(cell)
        bar.show(done, note if isinstance(bar, ProgressLines) else note[:room])
    return failures


def _error(failures: Sequence[tuple[Cell, Attempt]], total: int, book: Store) -> EvaluationError:
    cell, outcome = failures[0]
    label = str(cell) if len(str(cell)) <= _LABEL else f"{str(cell)[:_LABEL]}... seed={cell.seed}"
    kept = f" The others are in {book.path}; the same call tries again only these." if book.path else ""
    error = EvaluationError(f"{len(failures)} of {total} cells failed; the first, {label}: {outcome.error}.{kept}")
    if outcome.trace:
        error.add_note(outcome.trace)
    return error
