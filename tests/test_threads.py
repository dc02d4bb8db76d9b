"""Threads may share an optimizer: their calls come one after the other, none is lost, and the journal agrees."""

from __future__ import annotations

import copy
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from interrupting import ROOM

from believer import Float, Int, Multistart, Optimizer, Space, Trial, read_study, replay
from believer.errors import InvalidInput, JournalError, TrialError

SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 500)})
QUICK = Multistart(starts=2, candidates=16, neighbors=4)


def value(trial: Trial) -> float:
    return float((trial.params["x"] - 2.0) ** 2 + 0.01 * (trial.params["n"] - 20) ** 2)


@pytest.fixture(autouse=True)
def _many_switches() -> Iterator[None]:
    """Threads take turns so often that whatever is not guarded breaks."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs: Callable[[], object]) -> None:
    """Run the jobs in a thread each, from one moment on; the first exception of any is raised."""
    start = threading.Barrier(len(jobs))

    def begin(job: Callable[[], object]) -> None:
        start.wait()
        job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(begin, job) for job in jobs]:
            future.result()


@pytest.mark.parametrize("seed", range(3))
def test_four_threads_that_ask_and_tell_lose_nothing_and_can_be_replayed(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "study.jsonl"
    said: list[tuple[int, float]] = []
    with Optimizer(SPACE, seed=seed, journal=path, n_init=4, maximizer=QUICK) as study:

        def work() -> None:
            for _ in range(6):
                for trial in study.ask(2):
                    study.tell(trial, value(trial))
                    said.append((trial.id, value(trial)))

        together(*[work] * 4)
        told = {i: outcome.value for i, outcome in study.outcomes.items()}
    assert sorted(said) == sorted(told.items())
    assert sorted(told) == list(range(48))
    loaded = Optimizer.load(path)
    assert loaded.outcomes == study.outcomes
    loaded.close()
    again = replay(path)
    assert again.identical, str(again)


def test_one_asks_while_others_tell_look_and_enqueue(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    done = threading.Event()
    with Optimizer(SPACE, journal=path, n_init=3, maximizer=QUICK, seed=0) as study:
        study.ask(4)

        def ask() -> None:
            for _ in range(12):
                study.ask(2)
            done.set()

        def tell() -> None:
            while not done.is_set() or study.pending:
                for trial in study.pending:
                    try:
                        study.tell(trial, value(trial))
                    except TrialError:  # the other was quicker
                        assert study.records()[trial.id]["status"] == "done"

        def look() -> None:
            while not done.is_set():
                counts = study.counts
                best, rows = study.best, study.records()
                assert counts.answered <= sum(row["status"] == "done" for row in rows)
                assert best is None or best[1] >= min(row["value"] for row in rows if row["value"] is not None)
                str(study), repr(study), study.trials, study.outcomes, study.events
                if best is not None:
                    study.predict([best[0]])

        def enqueue() -> None:
            for n in range(1, 9):
                study.enqueue({"x": 0.5, "n": n})

        together(ask, tell, tell, look, enqueue)
        assert study.counts.done == 28
    again = replay(path)
    assert again.identical, str(again)
    assert read_study(path).counts == study.counts


def test_a_result_is_told_once_however_many_tell_it() -> None:
    study = Optimizer(SPACE, seed=0)
    trials = study.ask(20)
    refused: list[int] = []

    def tell() -> None:
        for trial in trials:
            try:
                study.tell(trial, value(trial))
            except TrialError:
                refused.append(trial.id)

    together(*[tell] * 4)
    assert study.counts.done == 20
    assert sorted(refused) == sorted([*range(20)] * 3)


def test_a_call_from_within_another_is_refused_and_reading_is_not() -> None:
    """A constraint is the user's code, called in the middle of an ask."""
    seen: list[Any] = []

    def constraint(params: dict[str, Any]) -> bool:
        if not seen:
            seen.append((study.counts, repr(study)))
            for call in (lambda: study.ask(1), lambda: study.enqueue(params), lambda: study.observe(params, 1.0)):
                with pytest.raises(InvalidInput, match="from within another call"):
                    call()
        return True

    study = Optimizer(Space({"x": Float(0.0, 1.0)}, constraint), seed=0)
    assert len(study.ask(2)) == 2
    assert len(seen) == 1
    assert study.counts.pending == 2


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals are of POSIX")
def test_a_signal_handler_cannot_write_in_the_middle_of_a_call() -> None:
    heard: list[str] = []

    def handler(number: int, frame: object) -> None:
        try:
            study.observe({"x": 0.5}, 1.0)
        except InvalidInput as error:
            heard.append(str(error))

    def constraint(params: dict[str, Any]) -> bool:
        if not heard:
            signal.raise_signal(signal.SIGALRM)
        return True

    study = Optimizer(Space({"x": Float(0.0, 1.0)}, constraint), seed=0)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        study.ask(1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(heard) == 1
    assert len(study.trials) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="signals are of POSIX")
def test_a_signal_at_any_call_within_a_call_neither_hangs_nor_breaks_it(tmp_path: Path) -> None:
    """The handler looks, and tries to close the journal, at every function that a tell enters."""
    looked: list[int] = []
    left = 0

    def handler(number: int, frame: object) -> None:
        looked.append(study.counts.done)
        with suppress(InvalidInput):
            study.observe({"x": 1.0, "n": 1}, 0.5)
        if refused:
            with suppress(InvalidInput):
                study.close()

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal left
        if event == "call" and frame.f_code.co_filename.startswith(ROOM):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for refused in (False, True):
            for call in range(1, 60):
                path = tmp_path / f"{refused}{call}.jsonl"
                study = Optimizer(SPACE, journal=path, seed=0)
                [trial] = study.ask(1)
                left = call
                sys.setprofile(profile)
                try:
                    with suppress(JournalError):
                        study.tell(trial, 0.25)
                finally:
                    sys.setprofile(None)
                assert read_study(path).events == study.events
                study.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(looked) > 20


def test_a_study_can_be_copied_and_pickled_still() -> None:
    study = Optimizer(SPACE, n_init=2, seed=0)
    for trial in study.ask(3):
        study.tell(trial, value(trial))
    twins = [copy.deepcopy(study), pickle.loads(pickle.dumps(study))]
    batch = study.ask(2)
    for twin in twins:
        assert list(twin.ask(2)) == list(batch)
        together(*[lambda twin=twin: twin.ask(1)] * 3)
