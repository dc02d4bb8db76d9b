"""Cells in worker processes of our own, which may die without taking the run with them."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait

from believer.errors import InvalidInput, WorkerDied
from believer.experiments.attempt import Attempt, Work, attempt
from believer.experiments.cells import Cell
from believer.workers import LOOK_UP, Workers


def in_processes(cells: Iterable[Cell], work: Work, count: int) -> Generator[tuple[Cell, Attempt], None, None]:
    """Outcomes as they come in from ``count`` processes, each with one BLAS thread unless the environment says more.

    A cell whose process died is tried once more; one that dies twice is an outcome with an error. Close the generator
    to stop at once. Raises ``EvaluationError`` if processes cannot start at all.
    """
    _require_importable(work)
    waiting = deque(cells)
    running: dict[Future[Attempt], Cell] = {}
    died: set[Cell] = set()
    with Workers(count) as workers:
        while waiting or running:
            # One more than there are processes, so that none is idle while a result is written to the disk.
            while waiting and len(running) <= count:
                cell = waiting.popleft()
                running[workers.submit(attempt, work, cell)] = cell
            done, _ = wait(running, LOOK_UP, FIRST_COMPLETED)
            for future in [future for future in running if future in done]:
                cell = running.pop(future)
                try:
                    outcome = future.result()
                except WorkerDied as error:
                    if cell not in died:
                        died.add(cell)
                        waiting.appendleft(cell)
                        continue
                    outcome = Attempt(error=f"its worker process died, twice; the second time {error}")
                yield cell, outcome


def one_process() -> Workers:
    """A process with one BLAS thread, for cells that must run alone; it ends at once when something goes wrong."""
    return Workers(1)


def _require_importable(work: Work) -> None:
    try:
        pickle.dumps(work)
    except Exception as error:
        raise InvalidInput(
            f"work must be a function at the top of a module, with nothing in it that cannot be pickled, to reach a "
            f"worker process; got {work!r} ({error}). Use workers=1, or mend that."
        ) from error
