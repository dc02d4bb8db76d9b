"""minimize: a bad function, or a worker that dies, hangs or is interrupted, costs its own trial at the most."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import bad_functions as bad
import pytest
from bad_functions import BAD, GOOD, LINE, NUMBERED, RAISED, square
from waiting import PATIENCE, wait_for

from believer import Optimizer, Outcome, Seconds, minimize
from believer.errors import EvaluationError
from believer.evaluation import Answer, UnderWay
from believer.workers import Workers

MODES = pytest.mark.parametrize("mode", ["batch", "async"])
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups are POSIX")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "study.jsonl"


def processes(workers: int = 1) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def statuses(path: Path) -> list[str]:
    with Optimizer.load(path) as study:
        return [row["status"] for row in study.records()]


def errors(path: Path) -> list[str]:
    with Optimizer.load(path) as study:
        return [row["error"] for row in study.records() if row["status"] == "failed"]


class Scripted(Executor):
    """Ends the futures of the trials as told: with an exception, never (None), or else with what the call returns.

    When the last of them has been submitted, all end at once.
    """

    def __init__(self, *ends: BaseException | str | None, interrupt: bool = False) -> None:
        self.ends = ends
        self.calls: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.interrupt = interrupt

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls.append((future, lambda: fn(*args, **kwargs)))
        if len(self.calls) == len(self.ends):
            for (waiting, call), end in zip(self.calls, self.ends, strict=True):
                waiting.set_running_or_notify_cancel()
                if isinstance(end, str):
                    waiting.set_result(call())
                elif end is not None:
                    waiting.set_exception(end)
            if self.interrupt:
                raise KeyboardInterrupt
        return future


# What is finished is told


@MODES
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_finished_is_told_when_another_cannot_be_evaluated(mode: str, place: int, journal: Path) -> None:
    ends: list[BaseException | str] = ["done"] * 3
    ends[place] = TypeError("cannot pickle 'module' object")
    with pytest.raises(EvaluationError, match=r"cannot pickle.*importable by name.*stay pending"):
        minimize(square, LINE, 6, q=3, workers=Scripted(*ends), mode=mode, journal=journal, seed=0)
    assert statuses(journal) == ["pending" if i == place else "done" for i in range(3)]
    assert minimize(square, LINE, 6, q=3, journal=journal, seed=0).failures == 0


@MODES
def test_what_is_finished_is_told_when_we_are_interrupted(mode: str, journal: Path) -> None:
    """While trials are handed out: two have ended, one has not, and the last was not even taken."""
    with pytest.raises(KeyboardInterrupt):
        minimize(
            square,
            LINE,
            6,
            q=4,
            workers=Scripted("done", None, "done", "done", interrupt=True),
            mode=mode,
            journal=journal,
            seed=0,
        )
    assert statuses(journal) == ["done", "pending", "done", "pending"]


@MODES
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_of_a_thread_ends_the_run_and_what_is_finished_is_told(
    mode: str, kind: type[BaseException], journal: Path
) -> None:
    with pytest.raises(kind):
        minimize(square, LINE, 6, q=3, workers=Scripted(kind(), "done", "done"), mode=mode, journal=journal, seed=0)
    assert statuses(journal) == ["pending", "done", "done"]


@pytest.mark.parametrize("executor", [None, 1], ids=["inline", "thread"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_this_process_ends_the_run(kind: type[BaseException], executor: int | None) -> None:
    def f(params: dict[str, Any]) -> float:
        raise kind

    with ThreadPoolExecutor(1) as threads, pytest.raises(kind):
        minimize(f, LINE, 3, workers=threads if executor else None, q=3, mode="batch", seed=0)


# Functions that raise anything


@pytest.mark.parametrize("executor", ["inline", "threads"])
def test_whatever_else_is_raised_in_this_process_is_a_failed_trial(executor: str, journal: Path) -> None:
    points = [{"n": n} for n in (*range(len(RAISED) - 2), len(RAISED))]
    with ThreadPoolExecutor(2) as threads:
        result = minimize(
            bad.raising,
            NUMBERED,
            len(points),
            workers=threads if executor == "threads" else None,
            journal=journal,
            x0=points,
            q=3,
            mode="batch",
            seed=0,
        )
    assert (result.failures, result.value) == (len(points) - 1, 0.0)
    assert all(error.startswith(text) for error, (_, text) in zip(errors(journal), RAISED, strict=False))


@pytest.mark.parametrize("make", [lambda: 2, lambda: Workers(2), lambda: processes(2)], ids=["number", "ours", "pool"])
def test_whatever_is_raised_in_a_worker_process_is_a_failed_trial(make: Callable[[], Any], journal: Path) -> None:
    points = [{"n": n} for n in range(len(RAISED) + 1)]
    executor = make()
    result = minimize(
        bad.raising, NUMBERED, len(points), workers=executor, journal=journal, x0=points, q=3, mode="batch", seed=0
    )
    assert (result.failures, result.value) == (len(points) - 1, 0.0)
    assert all(error.startswith(text) for error, (_, text) in zip(errors(journal), RAISED, strict=True))
    assert max(map(len, errors(journal))) < 3000
    if not isinstance(executor, int):
        executor.shutdown()


def test_a_function_of_a_script_prints_and_its_processes_end_with_the_run(tmp_path: Path) -> None:
    code = """
        import believer as bv, multiprocessing, os
        def f(params):
            if params["x"] > 5.0:
                os._exit(1)
            print("x")
            return params["x"]
        if __name__ == "__main__":
            line = bv.Space({"x": bv.Float(0, 10)})
            result = bv.minimize(f, line, 12, q=3, workers=2, mode="async", n_init=8, seed=0, progress=False)
            assert 0 < result.failures < 12 == result.evaluations
            assert multiprocessing.active_children() == []
            print(result.evaluations - result.failures)
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, "-W", "error", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    *printed, count = done.stdout.split()
    assert (done.returncode, done.stderr) == (0, "")
    assert "".join(printed) == "x" * int(count)  # without a buffer, two processes may end their lines together


# Workers that die


def test_a_worker_of_ours_that_dies_fails_its_trial_and_the_run_goes_on(journal: Path) -> None:
    """Among others, one by one; in batches, a worker is killed from outside below."""
    points = [GOOD, BAD, {"x": 1.0}, {"x": 9.0}, {"x": 3.0}]
    result = minimize(bad.deadly, LINE, 9, q=3, workers=2, mode="async", n_init=4, x0=points, journal=journal, seed=0)
    assert (result.evaluations, result.stopped) == (9, "budget")
    assert result.failures == sum(row["x"] > 5.0 for row in result.optimizer.records()) >= 2
    assert set(errors(journal)) == {"its worker died (exit code 3)"}
    assert multiprocessing.active_children() == []
    died = [row["x"] for row in result.optimizer.records() if row["status"] == "failed"]
    seen: list[float] = []

    def f(params: dict[str, Any]) -> float:
        seen.append(params["x"])
        return square(params)

    minimize(f, LINE, 12, q=3, n_init=4, x0=points, journal=journal, seed=0)
    assert not set(seen) & set(died)


@posix_only
def test_a_worker_that_is_killed_from_outside_fails_its_trial(tmp_path: Path) -> None:
    """The function waits to be killed, the first two times."""
    marks = [tmp_path / "0", tmp_path / "1"]

    def kill() -> None:
        for mark in marks:
            wait_for(mark.exists)
            os.kill(int(mark.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    result = minimize(Marked(str(tmp_path)), LINE, 5, q=2, workers=2, n_init=3, mode="batch", seed=0)
    killer.join()
    texts = [row["error"] for row in result.optimizer.records() if row["status"] == "failed"]
    assert texts == ["its worker died (killed: out of memory, or from outside?)"] * 2
    assert result.evaluations == 5


class Marked:
    """Hangs where it is the first to leave a mark."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, params: dict[str, Any]) -> float:
        for name in ("0", "1"):
            scratch = Path(self.folder, f"{name}.{os.getpid()}.{params['x']}")
            scratch.write_text(str(os.getpid()))
            try:
                os.link(scratch, Path(self.folder, name))
            except FileExistsError:
                continue
            time.sleep(10 * PATIENCE)
        return square(params)


def test_an_executor_that_breaks_is_told_of_and_a_restart_goes_on_without_its_killer(journal: Path) -> None:
    points = [BAD, GOOD, {"x": 3.0}]
    with processes() as executor:
        with pytest.raises(EvaluationError, match=r"trials .*0.* have failed.* enqueue .*workers=<number>") as caught:
            minimize(
                bad.deadly, LINE, 5, q=3, workers=executor, n_init=3, x0=points, journal=journal, mode="batch", seed=0
            )
        assert isinstance(caught.value.__cause__, BrokenExecutor)
        assert "pending" not in statuses(journal)
        assert errors(journal)[0].startswith("its worker died")
        with pytest.raises(EvaluationError, match=r"takes no more work.*stays pending"):
            minimize(
                bad.deadly, LINE, 5, q=3, workers=executor, n_init=3, x0=points, journal=journal, mode="batch", seed=0
            )
    with processes() as executor:
        result = minimize(
            square, LINE, 5, q=3, workers=executor, n_init=3, x0=points, journal=journal, mode="batch", seed=0
        )
    assert result.evaluations == 5


@MODES
def test_every_trial_of_an_executor_that_breaks_has_failed_and_says_that_there_were_others(
    mode: str, journal: Path
) -> None:
    broken = BrokenExecutor("abruptly")
    with pytest.raises(EvaluationError, match="trials 0, 2 have failed"):
        minimize(square, LINE, 6, q=3, workers=Scripted(broken, "done", broken), mode=mode, journal=journal, seed=0)
    assert statuses(journal) == ["failed", "done", "failed"]
    others = ", or that of another trial under way with it (trials 0, 2)"
    assert errors(journal) == [f"its worker died{others}: BrokenExecutor: abruptly"] * 2
    with pytest.raises(EvaluationError, match="trials 3 have failed"):
        minimize(square, LINE, 6, q=1, workers=Scripted(broken), mode=mode, journal=journal, seed=0)
    assert errors(journal)[2] == "its worker died: BrokenExecutor: abruptly"


class BreaksOnSubmit(Scripted):
    """Found broken when the third trial is to be handed out."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if len(self.calls) == 2:
            raise BrokenExecutor("abruptly")
        return super().submit(fn, *args, **kwargs)


@MODES
def test_an_executor_that_is_found_broken_leaves_what_it_never_had_pending(mode: str, journal: Path) -> None:
    with pytest.raises(EvaluationError, match="trials 1 have failed"):
        minimize(
            square,
            LINE,
            6,
            q=3,
            workers=BreaksOnSubmit("done", BrokenExecutor("abruptly")),
            mode=mode,
            journal=journal,
            seed=0,
        )
    assert statuses(journal) == ["done", "failed", "pending"]


def test_a_worker_of_ours_is_told_of_by_the_executor_that_a_caller_made(journal: Path) -> None:
    with Workers(2) as executor:
        result = minimize(
            bad.deadly, LINE, 4, q=2, workers=executor, x0=[BAD, GOOD], n_init=2, journal=journal, mode="batch", seed=0
        )
        assert executor.submit(abs, -1).result() == 1  # left open
    assert result.failures >= 1
    with pytest.raises(EvaluationError, match="takes no more work"):
        minimize(
            square, LINE, 6, q=2, workers=executor, n_init=2, x0=[BAD, GOOD], journal=journal, mode="batch", seed=0
        )


def test_processes_that_cannot_start_leave_the_study_as_it_was(tmp_path: Path, journal: Path) -> None:
    code = f"""
        import believer as bv
        line = bv.Space({{"x": bv.Float(0, 10)}})
        bv.minimize(abs, line, 20, q=3, workers=2, mode="batch", seed=0, journal={str(journal)!r})
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("believer.errors.EvaluationError: worker processes die before")
    assert statuses(journal) == ["pending"] * 3


# Workers that hang


def test_an_evaluation_that_takes_longer_than_it_may_has_failed(tmp_path: Path) -> None:
    """In both modes, which wait at the same time: the limit is long, as good evaluations must end within it."""

    def run(mode: str) -> tuple[int, int]:
        points = [BAD, GOOD, {"x": 3.0}]
        result = minimize(
            bad.endless, LINE, 3, q=3, workers=2, mode=mode, x0=points, timeout=8, journal=tmp_path / mode, seed=0
        )
        return result.evaluations, result.failures

    modes = ("batch", "async")
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(run, modes)) == [(3, 1)] * 2
    for mode in modes:
        assert statuses(tmp_path / mode) == ["failed", "done", "done"]
        assert errors(tmp_path / mode) == ["took longer than 8 s"]


@MODES
def test_seconds_end_a_run_whose_workers_hang_and_leave_their_trials_pending(mode: str, journal: Path) -> None:
    result = minimize(
        bad.endless,
        LINE,
        9,
        q=2,
        workers=2,
        mode=mode,
        x0=[BAD, {"x": 9.0}],
        stop=Seconds(0.5),
        journal=journal,
        seed=0,
    )
    assert (result.evaluations, result.stopped) == (0, "stop")
    assert set(statuses(journal)) <= {"pending"}
    assert multiprocessing.active_children() == []


@MODES
def test_after_its_seconds_a_run_starts_nothing_and_waits_as_long_again_for_a_first_result(mode: str) -> None:
    """One thread, three trials: the first hangs, the others are never begun, be there a thread again."""
    free = threading.Event()
    begun: list[float] = []

    def f(params: dict[str, Any]) -> float:
        begun.append(params["x"])
        assert free.wait(PATIENCE)
        return 0.0

    called: list[Any] = []
    with ThreadPoolExecutor(1) as threads:
        start = time.monotonic()
        result = minimize(
            f,
            LINE,
            9,
            q=3,
            workers=threads,
            mode=mode,
            stop=Seconds(0.3),
            callback=lambda optimizer, batch: called.append(batch),
            seed=0,
        )
        seconds = time.monotonic() - start
        free.set()
    assert len(begun) <= 1  # none on a machine that is busy for so long
    assert seconds >= 0.6 or not begun
    assert called == []
    assert (result.evaluations, result.stopped) == (0, "stop")


def test_what_comes_in_after_the_seconds_is_told() -> None:
    """As long as it is no slower than others were; the first that is told is slower than any machine needs to be."""
    free = threading.Event()

    def f(params: dict[str, Any]) -> float:
        assert free.wait(PATIENCE)
        return 0.0

    told: list[Answer] = []
    with ThreadPoolExecutor(1) as threads:
        under_way = UnderWay(f, threads, lambda trial, answer: told.append(answer), None, time.monotonic(), 0.1)
        under_way.longest = PATIENCE
        under_way.submit(Optimizer(LINE, seed=0).ask(1)[0])
        threading.Timer(0.3, free.set).start()
        assert [trial.id for trial in under_way.collect()] == [0]
    assert told[0].outcome == Outcome.of(0.0)


# Ctrl-C at a terminal


@posix_only
@pytest.mark.parametrize("executor", ["2", "pool(2)", "pool(4)"])
def test_an_interrupt_at_the_terminal_leaves_all_trials_pending(executor: str, journal: Path, tmp_path: Path) -> None:
    """It reaches the workers as well; those of a pool of the standard library raise it, or die of it."""
    code = f"""
        import multiprocessing, os, signal, sys
        sys.path.append({str(Path(__file__).parent)!r})
        import believer as bv
        from bad_functions import LINE
        from test_bad_workers import Staying
        from concurrent.futures import ProcessPoolExecutor
        def pool(count):
            pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"))
            list(pool.map(abs, range(50)))
            return pool
        if __name__ == "__main__":
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                f = Staying({str(tmp_path)!r})
                bv.minimize(f, LINE, 9, q=2, workers={executor}, mode="batch", seed=0, journal={str(journal)!r})
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            os._exit(0)  # without waiting for a pool whose workers died while they held its locks
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(code))
    command = [sys.executable, str(tmp_path / "script.py")]
    with open(tmp_path / "out", "w") as out:  # no pipe: who waits for its end waits for all that hold it
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: len(list(tmp_path.glob("*.mark"))) == 2)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert (tmp_path / "out").read_text() == "interrupted\n"
    assert statuses(journal) == ["pending"] * 2


class Staying:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, params: dict[str, Any]) -> float:
        bad.stay(str(Path(self.folder, f"{params['x']}.mark")))
        return 0.0


# Functions that are wrong


@pytest.mark.parametrize(("n_init", "count"), [(1, 2), (2, 2), (4, 4), (None, 2)])
def test_a_function_that_fails_in_one_way_from_the_start_ends_the_run(
    n_init: int | None, count: int, journal: Path
) -> None:
    with pytest.raises(EvaluationError, match=rf"the first {count} .*same way.*: .*Error: .*unpack.* Fix the function"):
        minimize(bad.pair, LINE, 50, q=3, n_init=n_init, journal=journal, seed=0)
    assert statuses(journal).count("failed") == count


@pytest.mark.parametrize(("mode", "executor"), [("batch", "threads"), ("async", "threads"), ("async", 2)])
def test_it_ends_the_run_in_workers_too_and_a_restart_with_a_better_function_goes_on(
    mode: str, executor: Any, journal: Path
) -> None:
    with ThreadPoolExecutor(3) as threads:
        pool = executor if executor == 2 else threads
        for runs in (1, 2):  # again with the same function: it is tried as often again
            with pytest.raises(EvaluationError, match="failed in the same way"):
                minimize(bad.pair, LINE, 50, q=3, workers=pool, mode=mode, n_init=4, journal=journal, seed=0)
            found = statuses(journal)
            assert "pending" not in found
            assert 4 * runs <= found.count("failed") <= 6 * runs
        result = minimize(square, LINE, 20, q=3, workers=pool, mode=mode, n_init=4, journal=journal, seed=0)
    assert (result.evaluations, result.stopped) == (20, "budget")


def test_a_function_that_kills_every_worker_ends_the_run() -> None:
    with pytest.raises(EvaluationError, match=r"the first 3 .*its worker died \(exit code 3\)"):
        minimize(bad.deadly, LINE, 50, q=3, workers=2, n_init=3, x0=[BAD, {"x": 9.0}, {"x": 7.0}], mode="batch", seed=0)


def test_failures_in_several_ways_or_beside_a_result_do_not_end_a_run() -> None:
    def two_ways(params: dict[str, Any]) -> float:
        raise ValueError if params["x"] > 5.0 else TypeError

    def not_a_number(params: dict[str, Any]) -> float:
        return float("nan")

    def late(params: dict[str, Any]) -> Outcome:
        if params["x"] != 2.0:
            raise ValueError
        return Outcome.of(1.0)

    assert minimize(two_ways, LINE, 8, q=2, n_init=4, x0=[GOOD, BAD], seed=0).failures == 8
    assert minimize(not_a_number, LINE, 8, q=2, n_init=4, seed=0).failures == 8
    assert minimize(late, LINE, 8, q=2, n_init=3, x0=[BAD, GOOD], seed=0).failures == 7
    assert minimize(bad.pair, LINE, 8, q=2, n_init=3, x0=[GOOD], y0=[1.0], seed=0).failures == 8
    assert minimize(bad.pair, LINE, 3, q=2, n_init=3, seed=0).failures == 3  # the budget is spent anyway
