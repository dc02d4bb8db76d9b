from __future__ import annotations

import errno
import io
import os
import pickle
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from cell_work import at_fault, cells, faulty, logged, odd_result, runs, square
from each import each

from believer.errors import BelieverError, EvaluationError, InvalidInput, JournalError, JournalLocked, MissingExtra
from believer.experiments import Cell, Store, read_store, run, runner
from believer.experiments.attempt import attempt
from believer.experiments.lines import ProgressLines

SQUARES = [{"square": seed**2, "third": seed / 3} for seed in range(20)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


class Queue(Executor):
    """Does its work when asked, last come first served, one at a time; remembers how much waited at most."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.most = 0
        self.closed = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        if self.closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[Any] = Future()
        self.waiting.append((future, lambda: function(*args, **options)))
        self.most = max(self.most, len(self.waiting))
        return future

    def work_off(self, *args: Any) -> Any:
        """In place of ``wait``: do one piece of work."""
        future, work = self.waiting.pop()
        if future.set_running_or_notify_cancel():
            future.set_result(work())
        return {future}, set()


# Results


def test_results_come_in_the_order_of_the_cells() -> None:
    assert run(cells(20), square) == SQUARES
    assert run(cells(20)[::-1], square) == SQUARES[::-1]
    assert run(iter(cells(2)), square) == SQUARES[:2]
    assert run([], square) == []


def test_results_come_in_the_order_of_the_cells_from_an_executor() -> None:
    with ThreadPoolExecutor(3) as executor:
        assert run(cells(20), square, executor=executor) == SQUARES
        assert executor.submit(int, "3").result() == 3  # it is the caller's to shut down


def test_an_executor_that_finishes_in_any_order_gets_a_bounded_number_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue()
    monkeypatch.setattr(runner, "wait", queue.work_off)
    monkeypatch.setattr(runner, "_UNDER_WAY", 7)
    assert run(cells(20), square, executor=queue) == SQUARES
    assert queue.most == 7


def test_a_cell_that_is_there_twice_is_run_once(log: Path) -> None:
    twice = cells(2, log=str(log)) * 2
    assert run(twice, logged) == [{"square": 0}, {"square": 1}] * 2
    assert runs(log) == [0, 1]


def test_the_first_run_and_a_resumed_one_return_the_same(path: Path) -> None:
    first = run(cells(3), square, store=path)
    again = run(cells(3), square, store=path)
    assert first == again == SQUARES[:3]
    assert [type(value) for result in again for value in result.values()] == [int, float] * 3


# The store


def test_only_what_is_missing_is_run(path: Path, log: Path) -> None:
    todo = cells(6, log=str(log))
    run(todo[1:3], logged, store=path)
    assert runs(log) == [1, 2]
    assert run(todo, logged, store=path) == [{"square": seed**2} for seed in range(6)]
    assert runs(log) == [1, 2, 0, 3, 4, 5]
    assert run(todo, logged, store=str(path)) == [{"square": seed**2} for seed in range(6)]
    assert len(runs(log)) == 6


def test_a_store_of_the_callers_stays_open_and_a_path_is_closed(path: Path, log: Path) -> None:
    todo = cells(2, log=str(log))
    with Store(path) as store:
        run(todo[:1], logged, store)
        run(todo, logged, store)
        assert runs(log) == [0, 1]
        with pytest.raises(JournalLocked):
            run(todo, logged, store=path)
    run(todo, logged, store=path)
    Store(path).close()


def test_provenance_comes_from_where_the_cell_was_run(path: Path, log: Path) -> None:
    run(cells(1, log=str(log), seconds=0.02), logged, store=path)
    (entry,) = read_store(path)
    assert entry.provenance["seconds"] >= 0.02
    assert entry.provenance["cpu_seconds"] >= 0.0
    assert {"believer", "python", "numpy", "scipy", "platform", "commit", "finished"} <= entry.provenance.keys()


def test_a_disk_that_fills_up_ends_the_run_and_loses_nothing(
    path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = cells(6, log=str(log))
    synced: list[int] = []
    fsync = os.fsync

    def fill_up(fd: int) -> None:
        synced.append(fd)
        if len(synced) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(fd)

    with Store(path) as store, monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fill_up)
        with pytest.raises(JournalError, match="No space left"):
            run(todo, logged, store)
    assert [entry.cell.seed for entry in read_store(path)] == [0, 1, 2]
    run(todo, logged, store=path)
    assert runs(log) == [0, 1, 2, 3, 3, 4, 5]


def test_the_last_missing_cell_of_a_run_with_workers_is_not_run_in_this_process(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be the one that kills its process; and it must find one BLAS thread, as the others did."""
    asked: list[tuple[int, int]] = []

    def elsewhere(todo: list[Cell], work: Any, count: int) -> Any:
        asked.append((len(todo), count))
        return ((cell, attempt(work, cell)) for cell in todo)

    monkeypatch.setattr(runner, "in_processes", elsewhere)
    run(cells(4), square, store=path, workers=3)
    run(cells(5), square, store=path, workers=3)
    run(cells(5), square, store=path, workers=3)
    assert asked == [(4, 3), (1, 1)]


# Failures


@pytest.mark.parametrize("pooled", [False, True])
def test_a_cell_that_raises_does_not_stop_the_others(path: Path, log: Path, pooled: bool) -> None:
    todo = cells(6, log=str(log), bad=[1, 4])
    with ThreadPoolExecutor(1) as threads, pytest.raises(EvaluationError) as caught:
        run(todo, faulty, store=path, executor=threads if pooled else None)
    text = str(caught.value)
    assert "2 of 6 cells failed" in text
    assert "seed=1: ValueError: seed 1 is unlucky" in text
    assert str(path) in text
    assert "in faulty" in "".join(caught.value.__notes__)
    assert [entry.cell.seed for entry in read_store(path)] == runs(log) == [0, 2, 3, 5]
    with pytest.raises(EvaluationError, match="2 of 6"):
        run(todo, faulty, store=path)
    assert runs(log) == [0, 2, 3, 5]


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        ("invalid", InvalidInput, "q must be at least 1"),
        ("missing", MissingExtra, r"pip install 'believer\[surrogates\]'"),
        ("numerical", EvaluationError, "1 of 4 cells failed.*NumericalError: indefinite"),
        ("stubborn", EvaluationError, "1 of 4 cells failed.*Stubborn: no way"),
        ("exit", EvaluationError, "1 of 4 cells failed.*SystemExit: 3"),
    ],
)
def test_what_the_caller_can_mend_is_raised_as_it_is_and_at_once(
    path: Path, log: Path, fault: str, kind: type[BelieverError], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        run(cells(4, log=str(log), fault=fault), at_fault, store=path)
    assert type(caught.value) is kind
    assert runs(log) == ([0, 2, 3] if kind is EvaluationError else [0])
    assert [entry.cell.seed for entry in read_store(path)] == runs(log)


def test_an_error_that_the_caller_can_mend_survives_the_journey_from_a_worker(log: Path) -> None:
    outcome = attempt(at_fault, cells(2, log=str(log), fault="missing")[1])
    blame = pickle.loads(pickle.dumps(outcome)).blame
    assert type(blame) is MissingExtra
    assert (blame.package, blame.extra) == ("scikit-learn", "surrogates")


def test_the_failure_that_is_told_is_the_first_in_the_order_of_the_cells(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue()
    monkeypatch.setattr(runner, "wait", queue.work_off)
    with pytest.raises(EvaluationError, match=r"3 of 6 cells failed; the first, .*seed=1: "):
        run(cells(6, log=str(log), bad=[1, 2, 4]), faulty, executor=queue)
    assert runs(log) == [5, 3, 0]


@pytest.mark.parametrize("kind", ["nan", "tuple", "object", "function", "list", "none"])
def test_a_result_that_is_not_plain_json_is_a_failure(kind: str) -> None:
    with pytest.raises(EvaluationError, match=r"1 of 1 cells failed.*(plain JSON|read back)"):
        run(cells(1, kind=kind), odd_result)


def test_an_interrupt_leaves_what_was_finished_in_the_store(path: Path) -> None:
    def interrupted(cell: Cell) -> dict[str, Any]:
        if cell.seed == 2:
            raise KeyboardInterrupt
        return square(cell)

    with pytest.raises(KeyboardInterrupt):
        run(cells(6), interrupted, store=path)
    assert [entry.result for entry in read_store(path)] == SQUARES[:2]
    assert run(cells(6), square, store=path) == SQUARES[:6]


def test_an_interrupt_cancels_what_an_executor_has_not_begun(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue()

    def two_then_interrupt(*args: Any) -> Any:
        if len(queue.waiting) == 4:
            raise KeyboardInterrupt
        return queue.work_off()

    monkeypatch.setattr(runner, "wait", two_then_interrupt)
    monkeypatch.setattr(runner, "_UNDER_WAY", 6)
    with pytest.raises(KeyboardInterrupt):
        run(cells(6), square, store=path, executor=queue)
    assert all(future.cancelled() for future, _ in queue.waiting)
    assert len(read_store(path)) == 2


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_an_executor_that_was_shut_down_is_an_evaluation_error(
    path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Queue()

    def work_off(*args: Any) -> Any:
        queue.closed = len(queue.waiting) == 1
        return queue.work_off()

    queue.closed = when == "before"
    monkeypatch.setattr(runner, "wait", work_off)
    monkeypatch.setattr(runner, "_UNDER_WAY", 1)
    with pytest.raises(EvaluationError, match=r"takes no more work.*after shutdown.*new executor"):
        run(cells(6), square, store=path, executor=queue)
    assert [entry.result for entry in read_store(path)] == SQUARES[: 0 if when == "before" else 1]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (pickle.PicklingError("cannot pickle it"), "2 of 2 cells failed.*PicklingError: cannot pickle it"),
        (BrokenExecutor("a worker died"), "takes no more work.*a worker died"),
        (CancelledError(), "takes no more work.*CancelledError"),
    ],
)
def test_what_an_executor_does_to_a_cell_is_told(fault: Exception, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue()

    def fail(*args: Any) -> Any:
        future, _ = queue.waiting.pop()
        future.set_exception(fault)
        return {future}, set()

    monkeypatch.setattr(runner, "wait", fail)
    with pytest.raises(EvaluationError, match=text):
        run(cells(2), square, executor=queue)


@each(
    ("options", "rule"),
    [
        ({"work": "square"}, "work must be a function"),
        ({"cells": [1]}, "cells must be a list of Cell"),
        ({"executor": object()}, "executor must be a concurrent.futures.Executor"),
        ({"workers": 0}, "workers must be a whole number, 1 or more"),
        ({"workers": 1.5}, "workers must be a whole number"),
        ({"workers": 2, "executor": Queue()}, "got both"),
        ({"progress": "loud"}, "progress must be"),
        ({"workers": 2, "work": lambda cell: {}}, "at the top of a module"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        run(**{"cells": cells(2), "work": square, **options})


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_that_counts_all_cells_and_names_the_last(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(cells(3), square, store=path)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    run(cells(5), square, store=path)
    drawn = terminal.getvalue()
    assert [f"{done}/5" in drawn for done in range(6)] == [False, False, False, True, True, True]
    assert "toy seed=4" in drawn
    assert drawn.endswith("\n")
    assert all(len(line) <= 80 for line in drawn.split("\r"))


def test_progress_is_silent_elsewhere_and_when_not_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(cells(3), square)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(cells(3), square, progress=False)
    assert terminal.getvalue() == ""


def test_lines_tell_of_failures_and_of_what_was_there_before(
    path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    todo = cells(5, log=str(log), bad=[3])
    run(todo[:3], faulty, store=path)
    with pytest.raises(EvaluationError):
        run(todo, faulty, store=path, progress="lines")
    told = capsys.readouterr()
    assert told.out == ""
    first, second, last = told.err.splitlines()
    assert first == "3/5 cells"
    assert second.startswith("4/5 cells, 0:00 left, 1 failed, toy ")
    assert last.startswith("5/5 cells, 1 failed, toy ")
    assert last.endswith(" seed=4")


def test_lines_come_every_tenth_of_the_way_and_every_half_minute() -> None:
    clock = [0.0]
    stream = io.StringIO()
    lines = ProgressLines(100, stream, lambda: clock[0])
    lines.show(40)
    for done in range(41, 101):
        clock[0] += 1.0 if done <= 80 else 12.0
        lines.show(done)
    lines.show(100)
    counts = [int(line.split("/")[0]) for line in stream.getvalue().splitlines()]
    assert counts == [40, 50, 60, 70, 80, 83, 86, 89, 92, 95, 98, 100]
    assert stream.getvalue().splitlines()[1] == "50/100 cells, 0:50 left"
