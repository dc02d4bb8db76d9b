"""Cells in worker processes of our own, which may die without taking the run with them.

Workers are spawned, never forked: nothing depends on what the parent happens to hold in memory. When one dies, the pool
is lost and so is the knowledge of who killed it: every cell that was under way is a suspect, those that only waited
for a process too. Suspects are tried again one at a time, so that a death has one culprit: who dies alone twice has
failed, and the others finish.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager

from believer.errors import EvaluationError, InvalidInput
from believer.experiments.attempt import Attempt, Work, attempt
from believer.experiments.cells import Cell

LOOK_UP = 1.0
"""Seconds between looks at other things than results: an endless wait cannot be interrupted on Windows."""

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def in_processes(cells: Iterable[Cell], work: Work, count: int) -> Generator[tuple[Cell, Attempt], None, None]:
    """Outcomes as they come in from ``count`` processes, each with one BLAS thread unless the environment says more.

    A cell that kills its process twice, alone in it, is an outcome with an error. Close the generator to stop at once.
    Raises ``EvaluationError`` if processes cannot start at all.
    """
    _require_importable(work)
    waiting = deque(cells)
    pool = _Pool(work, count)
    try:
        while waiting:
            for suspect in (yield from _together(waiting, pool)):
                yield suspect, _alone(suspect, pool)
    except BaseException:
        pool.kill()
        raise
    pool.close()


def _together(waiting: deque[Cell], pool: _Pool) -> Generator[tuple[Cell, Attempt], None, list[Cell]]:
    """Work off ``waiting``, until a process dies: then returns the cells that were under way, the pool new."""
    running: dict[Future[Attempt], Cell] = {}
    suspects: list[Cell] = []
    broken = False
    while running or (waiting and not broken):
        # One more than there are processes, so that none is idle while a result is written to the disk.
        while waiting and not broken and len(running) <= pool.count:
            try:
                running[pool.submit(waiting[0])] = waiting[0]
            except BrokenExecutor:
                broken = True
            else:
                waiting.popleft()
        done, _ = wait(running, LOOK_UP, FIRST_COMPLETED)
        for future in [future for future in running if future in done]:
            cell = running.pop(future)
            outcome = _outcome(future)
            if outcome is None:
                broken = True
                suspects.append(cell)
            else:
                yield cell, outcome
    if broken:
        pool.renew()
    return suspects


def _alone(cell: Cell, pool: _Pool) -> Attempt:
    """Two attempts at ``cell``, with nothing else under way."""
    for _ in range(2):
        try:
            future = pool.submit(cell)
            while not wait([future], LOOK_UP).done:
                pass
            outcome = _outcome(future)
        except BrokenExecutor:
            outcome = None
        if outcome is not None:
            return outcome
        pool.renew()
    return Attempt(error="its worker process died, twice (out of memory, or killed from outside?)")


def _outcome(future: Future[Attempt]) -> Attempt | None:
    """What came back; None if the process died."""
    try:
        return future.result()
    except BrokenExecutor:
        return None


class _Pool:
    """Spawned processes that can be replaced by new ones."""

    __slots__ = ("_executor", "_work", "count")

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self.count = count
        self._executor = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.count, multiprocessing.get_context("spawn"), prepare_worker)

    def submit(self, cell: Cell) -> Future[Attempt]:
        with inherited_by_workers():  # an executor starts its processes one by one, as work comes in
            return self._executor.submit(attempt, self._work, cell)

    def renew(self) -> None:
        """New processes in place of a broken pool's; ``EvaluationError`` if they die before they get any work."""
        self.kill()
        self._executor = self._new()
        try:
            with inherited_by_workers():
                ready = self._executor.submit(_is_ready, self._work)
            ready.result()
        except BrokenExecutor as error:
            raise EvaluationError(
                "worker processes die before they get any work; finished cells are kept. Call from a script only under "
                'if __name__ == "__main__":, see that importing the module of the work function succeeds, or use '
                "workers=1 to see what happens in this process."
            ) from error

    def close(self) -> None:
        """Wait until every process has ended."""
        self._executor.shutdown()

    def kill(self) -> None:
        """End every process now: whoever interrupts does not want to wait for the cells that are under way."""
        # The executor has no public way before Python 3.14; it gives its processes up when it breaks.
        for process in list((self._executor._processes or {}).values()):
            process.terminate()
        self._executor.shutdown(cancel_futures=True)


@contextmanager
def one_process() -> Iterator[ProcessPoolExecutor]:
    """A process with one BLAS thread, for cells that must run alone; it ends at once when something goes wrong."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), prepare_worker)
    try:
        with inherited_by_workers():
            pool.submit(int)  # starts it
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _is_ready(work: Work) -> bool:
    return callable(work)


def _require_importable(work: Work) -> None:
    try:
        pickle.dumps(work)
    except Exception as error:
        raise InvalidInput(
            f"work must be a function at the top of a module, with nothing in it that cannot be pickled, to reach a "
            f"worker process; got {work!r} ({error}). Use workers=1, or mend that."
        ) from error


@contextmanager
def inherited_by_workers() -> Iterator[None]:
    """What a process must find when it starts: BLAS reads its number of threads once, and Ctrl-C is for the parent.

    The signal is held back here meanwhile, not lost.
    """
    unset = [name for name in ONE_THREAD if name not in os.environ]
    with _interrupts_held_back():
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            yield
        finally:
            for name in unset:
                os.environ.pop(name, None)


if sys.platform == "win32":

    @contextmanager
    def _interrupts_held_back() -> Iterator[None]:
        yield  # not inherited there

else:
    from multiprocessing import resource_tracker

    @contextmanager
    def _interrupts_held_back() -> Iterator[None]:
        resource_tracker.ensure_running()  # would otherwise be started within, and let the signals through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def prepare_worker() -> None:
    """What a worker does first: leave Ctrl-C to the parent, and leave with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()


def _leave_with_the_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
