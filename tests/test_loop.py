"""minimize: the same study whoever evaluates it, and never lost whatever the function does."""

from __future__ import annotations

import io
import math
import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from optimizer_studies import SPACES, assert_distinct, below, on_the_diagonal
from waiting import PATIENCE

from believer import (
    EI,
    GP,
    Batch,
    Categorical,
    Float,
    Int,
    Optimizer,
    Outcome,
    PseudoObservations,
    Seconds,
    Space,
    Target,
    Trial,
    minimize,
)
from believer.errors import EvaluationError, InvalidInput, JournalLocked
from believer.progress import Progress
from believer.study.journal import read_events

SQUARE = Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)})


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 1.0) ** 2 + 0.1 * params["y"])


def key(params: dict[str, Any]) -> tuple[float, float]:
    return params["x"], params["y"]


class Eager(Executor):
    """A toy executor: it evaluates at once, in the caller's thread."""

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


def processes(workers: int = 1) -> ProcessPoolExecutor:
    """Started afresh: forking a process that has threads is a warning in newer Pythons."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with processes(2) as executor:
        yield executor


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "study.jsonl"


@pytest.fixture(scope="module")
def inline() -> list[dict[str, Any]]:
    return minimize(bowl, SQUARE, budget=11, q=3, n_init=4, seed=0).optimizer.records()


# Who evaluates


def test_inline_uses_the_budget_the_design_included(inline: list[dict[str, Any]]) -> None:
    result = minimize(bowl, SQUARE, budget=11, q=3, n_init=4, seed=0)
    assert (result.evaluations, result.failures, result.stopped) == (11, 0, "budget")
    assert [row["origin"] for row in inline] == ["design"] * 4 + ["model"] * 7
    best = min(inline, key=lambda row: row["value"])
    assert result.value == best["value"]
    assert result.params == {"x": best["x"], "y": best["y"]}
    assert result.optimizer.records() == inline
    assert str(result).startswith(f"best {result.value:.6g} at ")
    assert str(result).endswith("(11 evaluations; stopped by budget)")


@pytest.mark.parametrize("workers", [1, 3, 5])
def test_threads_give_the_study_of_inline_in_batch_mode(workers: int, inline: list[dict[str, Any]]) -> None:
    with ThreadPoolExecutor(workers) as executor:
        result = minimize(bowl, SQUARE, budget=11, q=3, n_init=4, workers=executor, mode="batch", seed=0)
    assert result.optimizer.records() == inline


def test_threads_that_finish_backwards_give_the_study_of_inline(inline: list[dict[str, Any]], journal: Path) -> None:
    """Each evaluation waits until the next one of its batch is done."""
    ids = {key(row): row["trial_id"] for row in inline}
    done = [threading.Event() for _ in inline]

    def backwards(params: dict[str, Any]) -> float:
        i = ids[key(params)]
        if i % 3 != 2 and i + 1 < len(done):
            assert done[i + 1].wait(PATIENCE)
        done[i].set()
        return bowl(params)

    with ThreadPoolExecutor(3) as executor:
        result = minimize(
            backwards, SQUARE, budget=11, q=3, n_init=4, workers=executor, journal=journal, mode="batch", seed=0
        )
    assert result.optimizer.records() == inline
    assert result.failures == 0


def test_processes_give_the_study_of_inline_in_batch_mode(
    pool: ProcessPoolExecutor, inline: list[dict[str, Any]]
) -> None:
    result = minimize(bowl, SQUARE, budget=11, q=3, n_init=4, workers=pool, mode="batch", seed=0)
    assert result.optimizer.records() == inline


def test_any_executor_will_do(inline: list[dict[str, Any]]) -> None:
    executor = Eager()
    result = minimize(bowl, SQUARE, budget=11, q=3, n_init=4, workers=executor, mode="batch", seed=0)
    assert result.optimizer.records() == inline
    assert executor.submitted == 11


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(2), Eager], ids=["threads", "custom"])
def test_async_uses_the_budget_and_nothing_stays_pending(make: Callable[[], Executor]) -> None:
    with make() as executor:
        result = minimize(bowl, SQUARE, budget=9, q=2, n_init=3, workers=executor, mode="async", seed=0)
    assert (result.evaluations, result.stopped) == (9, "budget")
    assert result.optimizer.pending == ()
    assert_distinct(result.optimizer.trials)


def test_async_with_processes(pool: ProcessPoolExecutor) -> None:
    result = minimize(bowl, SQUARE, budget=6, q=2, n_init=3, workers=pool, mode="async", seed=0)
    assert (result.evaluations, result.failures) == (6, 0)


def test_async_with_one_worker_is_one_at_a_time() -> None:
    alone = minimize(bowl, SQUARE, budget=7, q=1, n_init=3, seed=0)
    result = minimize(bowl, SQUARE, budget=7, q=1, n_init=3, workers=Eager(), mode="async", seed=0)
    assert result.optimizer.records() == alone.optimizer.records()


def test_async_gives_a_free_worker_the_next_point_while_another_is_busy(journal: Path) -> None:
    """The first evaluation ends only when the sixth has begun; waiting for a whole batch would never get there."""
    sixth = threading.Event()
    count = threading.Lock()
    calls: list[dict[str, Any]] = []
    in_time: list[bool] = []

    def slow_first(params: dict[str, Any]) -> float:
        with count:
            calls.append(params)
            number = len(calls)
        if number == 1:
            in_time.append(sixth.wait(PATIENCE))
        if number == 6:
            sixth.set()
        return bowl(params)

    with ThreadPoolExecutor(2) as executor:
        result = minimize(
            slow_first, SQUARE, budget=8, q=2, n_init=3, workers=executor, mode="async", journal=journal, seed=0
        )
    assert in_time == [True]
    assert result.evaluations == 8
    kinds = [type(event).__name__ for event in read_events(journal)[1:]]
    assert kinds[:2] == ["Asked", "Asked"]
    assert all(kinds[: end + 1].count("Asked") - kinds[: end + 1].count("Told") <= 2 for end in range(len(kinds)))


def test_the_parameters_that_a_function_changes_are_its_own(inline: list[dict[str, Any]]) -> None:
    def careless(params: dict[str, Any]) -> float:
        value = bowl(params)
        params.clear()
        return value

    assert minimize(careless, SQUARE, budget=11, q=3, n_init=4, seed=0).optimizer.records() == inline


# Budget


@pytest.mark.parametrize(
    ("budget", "q", "sizes"), [(7, 3, [3, 3, 1]), (2, 5, [2]), (4, 2, [2, 2]), (1, 1, [1]), (3, 1, [1, 1, 1])]
)
def test_the_last_batch_is_cut_to_the_budget(budget: int, q: int, sizes: list[int]) -> None:
    batches: list[Batch] = []

    def note(optimizer: Optimizer, batch: Batch) -> None:
        assert all(optimizer.records()[trial.id]["status"] == "done" for trial in batch)
        batches.append(batch)

    result = minimize(bowl, SQUARE, budget=budget, q=q, callback=note, seed=0)
    assert [len(batch) for batch in batches] == sizes
    assert result.evaluations == budget == len(result.optimizer.trials)


def test_the_callback_of_async_comes_after_each_result() -> None:
    seen: list[int] = []
    minimize(
        bowl,
        SQUARE,
        budget=5,
        q=2,
        workers=Eager(),
        mode="async",
        callback=lambda optimizer, batch: seen.extend(trial.id for trial in batch),
        seed=0,
    )
    assert sorted(seen) == list(range(5))


def test_an_error_in_the_callback_ends_the_run_and_frees_the_journal(journal: Path) -> None:
    def broken(optimizer: Optimizer, batch: Batch) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        minimize(bowl, SQUARE, budget=6, q=2, callback=broken, journal=journal, seed=0)
    with Optimizer.load(journal) as study:
        assert study.counts.done == 2


FINITE = Space({"n": Int(0, 6), "c": Categorical(["a"])})


@pytest.mark.parametrize("mode", ["batch", "async"])
@pytest.mark.parametrize("q", [1, 3, 10])
def test_an_exhausted_space_ends_the_run_with_every_point_evaluated(mode: str, q: int) -> None:
    result = minimize(lambda params: params["n"], FINITE, budget=50, q=q, n_init=3, workers=Eager(), mode=mode, seed=0)
    assert (result.evaluations, result.value, result.stopped) == (7, 0.0, "exhausted space")
    assert sorted(trial.params["n"] for trial in result.optimizer.trials) == list(range(7))


def test_a_constraint_that_leaves_few_of_many_points_has_them_all_evaluated() -> None:
    space = Space({"a": Int(0, 69), "b": Int(0, 69)}, on_the_diagonal)
    result = minimize(lambda params: params["a"], space, budget=50, q=4, n_init=3, seed=0)
    assert (result.evaluations, result.value, result.stopped) == (9, 0.0, "exhausted space")


# When to stop


def test_a_target_ends_the_run_before_the_next_evaluation() -> None:
    reached = minimize(bowl, SQUARE, budget=30, q=2, n_init=4, seed=0)
    assert reached.value is not None
    values = [row["value"] for row in reached.optimizer.records()]
    target = sorted(values)[5]
    first = next(i for i, value in enumerate(values) if value <= target)
    for stop in (target, Target(target), lambda optimizer: optimizer.best is not None and optimizer.best[1] <= target):
        result = minimize(bowl, SQUARE, budget=30, q=2, n_init=4, stop=stop, seed=0)
        assert result.stopped == "stop"
        assert result.evaluations == first + 1
        assert len(result.optimizer.pending) == (first + 1) % 2


def test_async_stops_handing_out_and_waits_for_what_is_running() -> None:
    with ThreadPoolExecutor(2) as executor:
        result = minimize(
            bowl,
            SQUARE,
            budget=30,
            q=2,
            workers=executor,
            mode="async",
            stop=lambda optimizer: optimizer.counts.answered >= 3,
            seed=0,
        )
    assert result.stopped == "stop"
    assert result.evaluations in (3, 4)
    assert result.optimizer.pending == ()


def test_after_its_seconds_nothing_is_started() -> None:
    calls: list[dict[str, Any]] = []
    result = minimize(calls.append, SQUARE, budget=5, stop=Seconds(0.0), q=3, seed=0)  # type: ignore[arg-type]
    assert calls == []
    assert (result.evaluations, result.params, result.value, result.stopped) == (0, None, None, "stop")
    assert str(result).startswith("no result")
    assert minimize(bowl, SQUARE, budget=5, stop=Seconds(1e6), q=3, seed=0).stopped == "budget"


def test_a_whole_number_is_a_target() -> None:
    assert minimize(bowl, SQUARE, budget=9, q=1, stop=10**6, seed=0).evaluations == 1


# Functions that fail


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("even its text fails")


def raising(error: BaseException) -> Callable[[dict[str, Any]], float]:
    def f(params: dict[str, Any]) -> float:
        raise error

    return f


FAILING: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "an exception": (raising(ValueError("no such model")), "ValueError: no such model"),
    "a key error": (lambda params: params["z"], "KeyError"),
    "the end of an iterator": (lambda params: next(iter(())), "StopIteration"),
    "a cancellation": (raising(CancelledError()), "CancelledError"),
    "an exception without a text": (raising(Unspeakable()), "Unspeakable"),
    "nan": (lambda params: math.nan, "nan"),
    "inf": (lambda params: math.inf, "inf"),
    "minus inf": (lambda params: -math.inf, "inf"),
    "the largest float": (lambda params: sys.float_info.max, "1e+100"),
    "too large for a float": (lambda params: 10**400, ""),
    "nothing": (lambda params: None, ""),
    "text": (lambda params: "low", "low"),
    "a number in quotes": (lambda params: "1.5", "1.5"),
    "a flag": (lambda params: True, "True"),
    "a list of lists": (lambda params: [[1.0]], ""),
}


@pytest.mark.parametrize("executor", [None, Eager()], ids=["inline", "executor"])
@pytest.mark.parametrize("name", FAILING)
def test_a_function_that_always_fails_uses_the_budget_and_has_no_result(name: str, executor: Executor | None) -> None:
    f, text = FAILING[name]
    result = minimize(f, SQUARE, budget=4, q=2, workers=executor, mode="batch", seed=0)
    assert (result.evaluations, result.failures, result.params, result.value) == (4, 4, None, None)
    rows = result.optimizer.records()
    assert {row["status"] for row in rows} == {"failed"}
    assert all(row["error"] and text in row["error"] for row in rows)
    first = rows[0]["error"]
    assert str(result) == f"no result (4 evaluations, 4 failed; stopped by budget; the first failure: {first})"


@pytest.mark.parametrize("mode", ["batch", "async"])
def test_a_function_that_sometimes_fails_is_minimized_all_the_same(mode: str) -> None:
    def moody(params: dict[str, Any]) -> float:
        if params["x"] > 6.0:
            raise RuntimeError("too hot")
        return math.nan if params["y"] > 13.0 else bowl(params)

    result = minimize(moody, SQUARE, budget=16, q=2, n_init=6, workers=Eager(), mode=mode, seed=0)
    rows = result.optimizer.records()
    assert result.evaluations == 16
    assert 0 < result.failures < 16
    assert result.failures == sum(row["x"] > 6.0 or row["y"] > 13.0 for row in rows)
    assert result.value == min(row["value"] for row in rows if row["value"] is not None)


# Interrupts and broken workers


def interrupting(after: int) -> tuple[list[tuple[float, float]], Callable[[dict[str, Any]], float]]:
    calls: list[tuple[float, float]] = []

    def f(params: dict[str, Any]) -> float:
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(key(params))
        return bowl(params)

    return calls, f


@pytest.mark.parametrize("after", [0, 1, 4, 6, 10])
@pytest.mark.parametrize("make", [None, Eager], ids=["inline", "executor"])
def test_an_interrupted_run_goes_on_to_the_study_it_would_have_been(
    after: int, make: type[Eager] | None, journal: Path, inline: list[dict[str, Any]]
) -> None:
    """Ctrl-C inside the function: the journal is free and complete, and unanswered trials come first."""
    calls, f = interrupting(after)
    settings: dict[str, Any] = {"budget": 11, "q": 3, "mode": "batch", "n_init": 4, "seed": 0, "journal": journal}
    with pytest.raises(KeyboardInterrupt):
        minimize(f, SQUARE, workers=make() if make else None, **settings)
    with Optimizer.load(journal) as study:
        waiting = [key(trial.params) for trial in study.pending]
        answered = study.counts.answered
    assert waiting
    assert answered <= len(calls)
    again: list[tuple[float, float]] = []

    def bowl_again(params: dict[str, Any]) -> float:
        again.append(key(params))
        return bowl(params)

    result = minimize(bowl_again, SQUARE, **settings)
    assert again[: len(waiting)] == waiting
    assert len(again) == 11 - answered
    assert result.optimizer.records() == inline


def test_an_interrupt_in_a_thread_ends_the_run_and_frees_the_journal(journal: Path) -> None:
    _, f = interrupting(2)
    with ThreadPoolExecutor(2) as executor, pytest.raises(KeyboardInterrupt):
        minimize(f, SQUARE, budget=8, q=2, workers=executor, mode="async", journal=journal, seed=0)
    with Optimizer.load(journal) as study:
        assert study.pending


def test_a_function_that_cannot_travel_is_an_evaluation_error_and_the_study_is_intact(
    pool: ProcessPoolExecutor, journal: Path
) -> None:
    for mode in ("batch", "async"):
        with pytest.raises(EvaluationError, match="importable by name"):
            minimize(lambda params: 0.0, SQUARE, budget=4, q=2, workers=pool, mode=mode, journal=journal, seed=0)
        with Optimizer.load(journal) as study:
            assert study.counts.pending == 2
    result = minimize(bowl, SQUARE, budget=4, q=2, workers=pool, journal=journal, mode="batch", seed=0)
    assert result.evaluations == 4


def test_an_executor_that_was_shut_down_is_an_evaluation_error() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    for mode in ("batch", "async"):
        with pytest.raises(EvaluationError, match="takes no more work"):
            minimize(bowl, SQUARE, budget=4, q=2, workers=executor, mode=mode, seed=0)


# Journals


def test_a_finished_run_is_not_run_again(journal: Path) -> None:
    first = minimize(bowl, SQUARE, budget=6, q=2, journal=journal, seed=0)
    calls: list[dict[str, Any]] = []
    again = minimize(calls.append, SQUARE, budget=6, q=2, journal=journal, seed=0)  # type: ignore[arg-type]
    assert calls == []
    assert (again.value, again.evaluations, again.stopped) == (first.value, 6, "budget")
    more = minimize(bowl, SQUARE, budget=8, q=2, journal=journal, seed=0)
    assert more.evaluations == 8
    assert more.optimizer.records()[:6] == first.optimizer.records()


@pytest.mark.parametrize("mode", ["batch", "async"])
def test_a_budget_that_shrank_is_not_exceeded(mode: str, journal: Path) -> None:
    with Optimizer(SQUARE, journal=journal, seed=0) as study:
        batch = study.ask(6)
        study.tell(batch[0], 1.0)
        study.tell(batch[1], 2.0)
    result = minimize(bowl, SQUARE, budget=3, q=3, workers=Eager(), mode=mode, journal=journal, seed=0)
    assert (result.evaluations, result.stopped) == (3, "budget")
    assert result.optimizer.counts.pending == 3


@pytest.mark.parametrize("mode", ["batch", "async"])
def test_a_run_takes_up_what_was_enqueued_observed_and_abandoned_by_hand(mode: str, journal: Path) -> None:
    with Optimizer(SQUARE, journal=journal, seed=0) as study:
        batch = study.ask(3)
        study.tell(batch[0], 5.0)
        study.abandon(batch[1])
        study.observe({"x": 0.0, "y": 0.0}, 1.0)
        study.enqueue({"x": 1.0, "y": 0.0})
    order: list[tuple[float, float]] = []

    def f(params: dict[str, Any]) -> float:
        order.append(key(params))
        return bowl(params)

    result = minimize(f, SQUARE, budget=6, q=2, workers=Eager(), mode=mode, journal=journal, seed=0)
    assert order[:2] == [key(batch[2].params), (1.0, 0.0)]
    assert result.evaluations == 6
    assert result.value == 0.0
    assert key(batch[1].params) not in order


def test_enqueued_points_are_evaluated_even_when_the_space_is_exhausted(journal: Path) -> None:
    with Optimizer(FINITE, journal=journal, seed=0) as study:
        for trial in study.ask(7):
            study.tell(trial, 1.0)
        study.enqueue({"n": 3, "c": "a"})
    result = minimize(lambda params: params["n"], FINITE, budget=20, q=2, journal=journal, seed=0)
    assert (result.evaluations, result.stopped) == (8, "exhausted space")


OTHER: dict[str, dict[str, Any]] = {
    "parameter y": {"space": Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 14.0)})},
    "seed": {"seed": 1},
    "n_init": {"n_init": 5},
    "strategy": {"strategy": "cl_min"},
    "surrogate": {"surrogate": GP("se")},
    "acquisition": {"acquisition": EI()},
    "constraint": {"space": Space(SQUARE.parameters, below)},
}


@pytest.mark.parametrize("what", OTHER)
def test_a_journal_of_a_study_with_other_settings_is_refused_and_left_alone(what: str, journal: Path) -> None:
    minimize(bowl, SQUARE, budget=4, q=2, journal=journal, seed=0)
    before = journal.read_bytes()
    with pytest.raises(InvalidInput, match=what):
        minimize(bowl, **{"space": SQUARE, "budget": 6, "q": 2, "seed": 0, "journal": journal, **OTHER[what]})
    assert journal.read_bytes() == before
    Optimizer.load(journal).close()


def test_no_seed_goes_on_with_the_seed_of_the_journal(journal: Path) -> None:
    first = minimize(bowl, SQUARE, budget=4, q=2, seed=None, journal=journal)
    again = minimize(bowl, SQUARE, budget=6, q=2, seed=None, journal=journal)
    assert again.optimizer.settings.seed == first.optimizer.settings.seed
    assert again.optimizer.records()[:4] == first.optimizer.records()


def test_the_constraint_and_options_of_a_run_are_those_of_its_study(journal: Path) -> None:
    space = SPACES["constrained"]
    options: dict[str, Any] = {
        "strategy": PseudoObservations(update="refit"),
        "acquisition": EI(),
        "n_init": 3,
        "seed": 0,
    }
    minimize(bowl, space, budget=4, q=2, journal=journal, **options)
    result = minimize(bowl, space, budget=6, q=2, journal=journal, **options)
    assert result.evaluations == 6
    assert all(below(trial.params) for trial in result.optimizer.trials)
    assert result.optimizer.settings.n_init == 3


def test_a_journal_in_use_is_refused(journal: Path) -> None:
    with Optimizer(SQUARE, journal=journal, seed=0), pytest.raises(JournalLocked):
        minimize(bowl, SQUARE, budget=4, journal=journal, q=3, seed=0)


def test_every_result_is_in_the_journal_before_the_next_evaluation_begins(journal: Path) -> None:
    told: list[int] = []

    def f(params: dict[str, Any]) -> float:
        told.append(sum(type(event).__name__ == "Told" for event in read_events(journal)))
        return bowl(params)

    minimize(f, SQUARE, budget=7, q=3, journal=journal, seed=0)
    assert told == list(range(7))


# Wrong calls


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "f": ({"f": 3}, "f must be a function"),
    "space": ({"space": {"x": Float(0.0, 1.0)}}, "space must be"),
    "budget 0": ({"budget": 0}, "budget must be a whole number, 1 or more; got 0"),
    "budget 2.5": ({"budget": 2.5}, "budget must be"),
    "q 0": ({"q": 0}, "q must be"),
    "mode": ({"mode": "parallel"}, '"batch" or "async"; got'),
    "async inline": ({"mode": "async"}, "needs workers"),
    "no workers": ({"workers": 0}, "workers, where it is a number of worker processes, must be a whole number, 1"),
    "executor flag": ({"workers": True}, "workers, where it is a number"),
    "executor text": ({"workers": "4"}, "workers must be a number of processes"),
    "timeout inline": ({"timeout": 5.0}, "timeout needs worker processes .* workers=4, .*; this process cannot"),
    "timeout threads": ({"timeout": 5.0, "workers": ThreadPoolExecutor(1)}, "a ThreadPoolExecutor cannot be"),
    "timeout 0": ({"timeout": 0.0, "workers": 2}, "timeout must be a number of seconds above zero; got 0.0"),
    "timeout nan": ({"timeout": math.nan, "workers": 2}, "timeout must be a finite number"),
    "maximize": ({"maximize": 1}, "maximize must be True or False"),
    "x0": ({"x0": [{"x": 9}]}, "x0|must"),
    "one x0": ({"x0": {"x": 0.5}}, "x0 must be a list of params"),
    "y0": ({"y0": [1.0]}, "y0 must have one value for each point of x0; got 1 and 0"),
    "stop text": ({"stop": "soon"}, "stop must be"),
    "stop flag": ({"stop": True}, "stop must be"),
    "strategy": ({"strategy": "best"}, "strategy must be one of"),
    "seed": ({"seed": -1}, "seed must be"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_refused_before_anything_is_evaluated_or_written(name: str, journal: Path) -> None:
    calls: list[Any] = []
    settings, text = WRONG[name]
    with pytest.raises(InvalidInput, match=text):
        minimize(**{"f": calls.append, "space": SQUARE, "budget": 4, "journal": journal, **settings})
    assert calls == []
    assert not journal.exists()


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_draws_on_a_terminal_and_ends_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    result = minimize(bowl, SQUARE, budget=6, q=2, seed=0)
    text = terminal.getvalue()
    frames = text.split("\r")[1:]
    assert [frame.split("] ")[1].split("/")[0] for frame in frames][:3] == ["0", "1", "2"]
    assert frames[0].startswith("[........................] 0/6")
    assert frames[-1].startswith("[########################] 6/6")
    assert f"best {result.value:.6g}" in frames[-1]
    assert text.count("\n") == 1
    assert text.endswith("\n")


def test_the_bar_ends_its_line_when_the_run_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(KeyboardInterrupt):
        minimize(interrupting(2)[1], SQUARE, budget=6, q=2, seed=0)
    assert terminal.getvalue().endswith("\n")


def test_without_a_terminal_or_unwanted_there_is_no_bar(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    minimize(bowl, SQUARE, budget=3, q=2, seed=0)
    terminal = Terminal()
    with ExitStack() as stack:
        patch = stack.enter_context(monkeypatch.context())
        patch.setattr(sys, "stderr", terminal)
        minimize(bowl, SQUARE, budget=3, q=2, progress=False, seed=0)
        patch.setattr(sys, "stderr", None)
        minimize(bowl, SQUARE, budget=3, q=2, seed=0)
    assert terminal.getvalue() == ""
    assert capfd.readouterr() == ("", "")


def test_a_resumed_run_shows_what_was_done_before(monkeypatch: pytest.MonkeyPatch, journal: Path) -> None:
    minimize(bowl, SQUARE, budget=4, q=2, journal=journal, seed=0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    minimize(bowl, SQUARE, budget=6, q=2, journal=journal, seed=0)
    assert terminal.getvalue().split("\r")[1].startswith("[################........] 4/6")


def test_a_shorter_line_wipes_out_a_longer_one() -> None:
    terminal = Terminal()
    bar = Progress(10, True, terminal)
    bar.show(1, "a long note about what is going on")
    bar.show(10, "done")
    bar.close()
    _, first, second = terminal.getvalue().split("\r")
    assert len(second.rstrip("\n")) == len(first)


def test_trials_of_a_result_can_still_be_looked_at() -> None:
    result = minimize(bowl, SQUARE, budget=5, q=2, seed=0)
    assert all(isinstance(trial, Trial) for trial in result.optimizer.trials)
    assert result.optimizer.predict([{"x": 1.0, "y": 0.0}]).mean.shape == (1,)


# Points and values of the user's own; the other direction; outcomes with names


def test_maximize_looks_for_the_largest_value() -> None:
    found = minimize(lambda p: -bowl(p), SQUARE, budget=12, seed=1, progress=False, maximize=True, q=3)
    mirrored = minimize(bowl, SQUARE, budget=12, seed=1, progress=False, q=3)
    assert found.value is not None
    assert mirrored.value is not None
    assert found.value == -mirrored.value
    assert found.params == mirrored.params
    stopped = minimize(lambda p: -bowl(p), SQUARE, budget=12, seed=1, progress=False, maximize=True, stop=-1e9, q=3)
    assert stopped.evaluations == 1


def test_points_of_the_user_are_evaluated_first() -> None:
    seen: list[dict[str, Any]] = []

    def f(params: dict[str, Any]) -> float:
        seen.append(dict(params))
        return bowl(params)

    wanted = [{"x": share, "y": share} for share in (0.25, 0.75)]
    result = minimize(f, SQUARE, budget=7, seed=1, progress=False, x0=wanted, q=3)
    assert seen[:2] == wanted
    assert (len(seen), result.evaluations) == (7, 7)


def test_values_that_are_known_count_as_results_and_not_towards_the_budget(journal: Path) -> None:
    known = [{"x": share, "y": share} for share in (0.25, 0.5, 0.75)]
    values = [bowl(params) for params in known]
    counted: list[int] = []

    def f(params: dict[str, Any]) -> float:
        counted.append(1)
        return bowl(params)

    def run(budget: int) -> Any:
        return minimize(f, SQUARE, budget=budget, journal=journal, progress=False, x0=known, y0=values, q=3, seed=0)

    assert run(5).evaluations == len(counted) == 5
    again = run(8)
    assert again.evaluations == len(counted) == 8
    assert [trial.origin for trial in again.optimizer.trials].count("observed") == 3


def test_a_function_may_return_named_outcomes_and_one_that_does_not_fit_is_a_failure() -> None:
    def f(params: dict[str, Any]) -> Outcome:
        if params["x"] > 9.0:
            return Outcome({"loss": 1.0})
        return Outcome({"loss": bowl(params), "seconds": 2.0}, noise={"loss": 0.01})

    result = minimize(f, SQUARE, budget=9, seed=3, progress=False, x0=[{"x": 0.1, "y": 0.1}, {"x": 9.5, "y": 0.1}], q=3)
    assert (result.evaluations, result.failures) == (9, result.failures)
    assert result.failures >= 1
    assert "the same objectives" in str(result.optimizer.records()[1]["error"])
    assert result.optimizer.outcomes[0].objectives["seconds"] == 2.0


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"x0": [{"x": 0.1, "y": 0.1}], "y0": []}, "y0 must have one value for each point of x0; got 0 and 1"),
        ({"x0": [{"x": 0.1, "y": 0.1}], "y0": ["good"]}, "a value must be a number; got 'good'"),
        ({"x0": [{"x": 77.0, "y": 0.1}]}, "x"),
        ({"x0": {"x": 0.1, "y": 0.1}}, "x0 must be a list of params"),
    ],
)
def test_wrong_points_of_the_user_are_refused_before_anything_is_written(
    given: dict[str, Any], rule: str, journal: Path
) -> None:
    with pytest.raises(InvalidInput, match=rule):
        minimize(bowl, SQUARE, budget=3, journal=journal, progress=False, **given)
    assert not journal.exists()


def test_points_that_the_constraint_forbids_are_refused_as_points_and_taken_as_results(journal: Path) -> None:
    space = Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)}, below)
    outside = {"x": 9.0, "y": 9.0}
    assert not space.allows(outside)
    with pytest.raises(InvalidInput, match=r"constraint does not allow .*, a point of x0"):
        minimize(bowl, space, budget=3, journal=journal, progress=False, x0=[outside], q=3, seed=0)
    assert not journal.exists()
    assert minimize(bowl, space, budget=3, progress=False, x0=[outside], y0=[1.0], q=3, seed=0).evaluations == 3


def test_a_run_that_died_while_it_began_takes_up_the_points_that_are_missing(journal: Path) -> None:
    wanted = [{"x": share, "y": share} for share in (0.25, 0.5, 0.75)]
    with Optimizer.open(journal, SQUARE, seed=0) as study:
        study.enqueue(wanted[0])
    seen: list[dict[str, Any]] = []

    def f(params: dict[str, Any]) -> float:
        seen.append(dict(params))
        return bowl(params)

    minimize(f, SQUARE, budget=4, journal=journal, progress=False, x0=wanted, q=3, seed=0)
    assert seen[:3] == wanted
    minimize(f, SQUARE, budget=6, journal=journal, progress=False, x0=wanted, q=3, seed=0)
    assert sum(params in wanted for params in seen) == 3


def test_values_that_are_known_to_be_failures_are_no_evaluations_of_the_run() -> None:
    known = [{"x": share, "y": share} for share in (0.25, 0.5)]
    result = minimize(bowl, SQUARE, budget=4, progress=False, x0=known, y0=[math.nan, 1.0], q=3, seed=0)
    assert (result.evaluations, result.failures) == (4, 0)


@pytest.mark.parametrize(
    "given",
    [{"x0": 3}, {"y0": 3.0}, {"x0": [{"x": 0.1, "y": 0.1}, {"x": 0.2, "y": 0.1}], "y0": [Outcome({"a": 1.0}), 2.0]}],
    ids=["x0", "y0", "mixed"],
)
def test_points_and_values_that_are_no_lists_or_do_not_go_together_are_refused(
    given: dict[str, Any], journal: Path
) -> None:
    with pytest.raises(InvalidInput):
        minimize(bowl, SQUARE, budget=3, journal=journal, progress=False, **given)
    assert not journal.exists()


def test_a_stop_that_changes_its_mind_has_stopped_the_run() -> None:
    """As a clock that is set back does."""
    said = iter([False, False, True, *[False] * 100])
    result = minimize(
        lambda params: params["x0"], Space.cube(1), 6, q=3, progress=False, stop=lambda _: next(said), seed=0
    )
    assert result.stopped == "stop"
    assert result.evaluations == 2
    assert len(result.optimizer.pending) == 1


def test_a_callback_may_ask_for_what_is_left_of_the_budget() -> None:
    def ask(optimizer: Optimizer, batch: Any) -> None:
        if len(optimizer.trials) < 8:
            optimizer.ask(8 - len(optimizer.trials))

    result = minimize(lambda params: params["x0"], Space.cube(1), 8, q=3, progress=False, callback=ask, seed=0)
    assert (result.stopped, result.evaluations, len(result.optimizer.pending)) == ("budget", 3, 5)
