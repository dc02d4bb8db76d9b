"""A process may be killed at any moment: no told result is lost, no trial is forgotten or handed out twice."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from believer import Float, Int, Optimizer, Space, minimize, replay
from believer.errors import JournalError, JournalLocked
from believer.study.events import Abandoned, Asked, Enqueued, Failed, Observed, Told
from believer.study.journal import read_events

SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 50)})
SETTINGS: dict[str, Any] = {"n_init": 4, "seed": 5}


def objective(params: dict[str, Any]) -> float:
    return float((params["x"] - 2.0) ** 2 + 0.01 * (params["n"] - 20) ** 2)


# The child says what it was given and what it gave, each only after the call has returned.
HEADER = """
    import json, os, sys
    from believer import *

    SPACE = Space({"x": Float(-5.0, 10.0), "n": Int(1, 50)})
    ask, tell = Optimizer.ask, Optimizer.tell

    def say(*words):
        os.write(1, (json.dumps(words) + "\\n").encode())

    def loud_ask(self, *args, **options):
        batch = ask(self, *args, **options)
        for trial in batch:
            say("asked", trial.id, trial.params)
        return batch

    def loud_tell(self, trial, value=None, *, error=None):
        tell(self, trial, value, error=error)
        say("told", trial.id, getattr(value, "value", value))

    def objective(params):
        return (params["x"] - 2.0) ** 2 + 0.01 * (params["n"] - 20) ** 2

    Optimizer.ask, Optimizer.tell = loud_ask, loud_tell
    path = sys.argv[1]
"""
BY_HAND = """
    study = Optimizer.load(path) if os.path.exists(path) else Optimizer(SPACE, n_init=4, seed=5, journal=path)
    say("open")
    while True:
        batch = study.ask(2)
        for trial in study.pending[:2]:
            study.tell(trial, objective(trial.params))
"""
BY_LOOP = """
    def f(params):
        say("evaluating", params)
        return objective(params)

    minimize(f, SPACE, budget=100_000, q=3, journal=path, seed=5, n_init=4)
"""


@contextmanager
def child(code: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that runs the code; killed at the end, if it still lives."""
    command = [sys.executable, "-c", textwrap.dedent(HEADER) + textwrap.dedent(code), str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def hear(process: subprocess.Popen[str], lines: int) -> list[list[Any]]:
    assert process.stdout is not None
    heard = [process.stdout.readline() for _ in range(lines)]
    assert all(heard), "the child ended by itself"
    return [json.loads(line) for line in heard]


def hear_and_kill(process: subprocess.Popen[str], lines: int, delay: float) -> list[list[Any]]:
    """What the child said until it was killed, ``delay`` seconds after it had said so many lines."""
    heard = hear(process, lines)
    time.sleep(delay)
    process.kill()
    assert process.stdout is not None
    rest = process.stdout.read().splitlines()
    return heard + [json.loads(line) for line in rest]


class Witness:
    """What the world saw of a study across its lives."""

    def __init__(self) -> None:
        self.asked: dict[int, dict[str, Any]] = {}
        self.told: dict[int, float] = {}

    def hears(self, lines: list[list[Any]]) -> None:
        for kind, *words in lines:
            if kind == "asked":
                trial_id, params = words
                assert trial_id not in self.asked, "an id was given out twice"
                assert params not in self.asked.values(), "a point was given out twice"
                self.asked[trial_id] = params
            elif kind == "told":
                trial_id, value = words
                assert trial_id not in self.told, "a trial was evaluated to the end twice"
                self.told[trial_id] = value

    def agrees_with(self, study: Optimizer) -> None:
        rows = study.records()
        for trial_id, params in self.asked.items():
            assert study.trials[trial_id].params == params
        for trial_id, value in self.told.items():
            assert (rows[trial_id]["status"], rows[trial_id]["value"]) == ("done", value)


@pytest.mark.parametrize("code", [BY_HAND, BY_LOOP], ids=["by hand", "by minimize"])
def test_a_study_killed_again_and_again_loses_nothing_and_repeats_nothing(code: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    witness = Witness()
    rng = random.Random(code)
    for _ in range(4):
        with child(code, path) as process:
            witness.hears(hear_and_kill(process, rng.randrange(2, 25), rng.random() * 0.03))
        with Optimizer.load(path) as study:
            witness.agrees_with(study)
            next_trial = study.ask(1)[0]
            assert next_trial.id == len(study.trials) - 1
            witness.hears([["asked", next_trial.id, next_trial.params]])
    assert len(witness.told) >= 4
    assert replay(path).identical


def test_a_killed_run_is_resumed_to_its_budget_with_pending_trials_first(tmp_path: Path) -> None:
    """And the study is the one that would have been without the kill."""
    path = tmp_path / "study.jsonl"
    with child(BY_LOOP, path) as process:
        hear_and_kill(process, 30, 0.0)
    with Optimizer.load(path) as study:
        waiting = [trial.params for trial in study.pending]
        answered = study.counts.answered
    budget = answered + len(waiting) + 4
    evaluated: list[dict[str, Any]] = []

    def f(params: dict[str, Any]) -> float:
        evaluated.append(dict(params))
        return objective(params)

    result = minimize(f, SPACE, budget=budget, q=3, journal=path, **SETTINGS)
    assert result.evaluations == budget
    assert evaluated[: len(waiting)] == waiting
    assert len(evaluated) == budget - answered
    whole = minimize(objective, SPACE, budget=budget, q=3, **SETTINGS)
    assert result.optimizer.records() == whole.optimizer.records()


def test_a_run_killed_before_its_first_result_is_resumed_with_the_trials_that_it_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    code = """
        def f(params):
            say("evaluating", params)
            sys.stdin.read()

        minimize(f, SPACE, budget=9, q=3, journal=path, seed=5, n_init=4)
    """
    command = [sys.executable, "-c", textwrap.dedent(HEADER) + textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        heard = hear(process, 4)
        process.kill()
    assert [kind for kind, *_ in heard] == ["asked", "asked", "asked", "evaluating"]
    evaluated: list[dict[str, Any]] = []

    def g(params: dict[str, Any]) -> float:
        evaluated.append(dict(params))
        return objective(params)

    minimize(g, SPACE, budget=5, q=3, journal=path, **SETTINGS)
    assert evaluated[:3] == [params for _, _, params in heard[:3]]
    assert len(evaluated) == 5


def test_a_second_writer_is_refused_while_the_first_lives_and_welcome_after_its_death(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    code = """
        study = Optimizer(SPACE, n_init=4, seed=5, journal=path)
        study.tell(study.ask(1)[0], 1.0)
        say("open")
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(HEADER) + textwrap.dedent(code), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        hear(process, 3)
        before = path.read_bytes()
        attempts: list[Callable[[], object]] = [
            lambda: Optimizer.load(path),
            lambda: Optimizer(SPACE, journal=path, seed=0),
            lambda: minimize(objective, SPACE, budget=3, journal=path, **SETTINGS),
        ]
        for attempt in attempts:
            with pytest.raises(JournalLocked, match="one writer at a time"):
                attempt()
        with pytest.raises(JournalError, match="not an earlier state of this study"):
            Optimizer(SPACE, seed=0).save(path)
        assert path.read_bytes() == before
        assert replay(path).identical
        process.kill()
    with Optimizer.load(path) as study:
        assert study.counts.done == 1
        assert study.ask(1)[0].id == 1


def test_every_call_is_on_the_disk_when_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.jsonl"
    synced: list[int] = []
    fsync = os.fsync

    def record(fd: int) -> None:
        synced.append(path.stat().st_size)
        fsync(fd)

    monkeypatch.setattr(os, "fsync", record)
    study = Optimizer(SPACE, journal=path, **SETTINGS)
    calls: list[tuple[Callable[[], object], type]] = [
        (lambda: study.ask(4), Asked),
        (lambda: study.tell(0, 1.0), Told),
        (lambda: study.tell(1, error="no"), Failed),
        (lambda: study.tell_many([2], [3.0]), Told),
        (lambda: study.abandon(3), Abandoned),
        (lambda: study.observe({"x": 0.5, "n": 7}, 2.0), Observed),
        (lambda: study.enqueue({"x": 0.5, "n": 8}), Enqueued),
        (lambda: study.ask(2), Asked),
        (lambda: study.tell(3, 9.0), Told),
    ]
    for number, (call, kind) in enumerate(calls, start=2):
        call()
        events = read_events(path)
        assert len(events) == number
        assert type(events[-1]) is kind
        assert synced[-1] == path.stat().st_size
    study.close()


def test_what_only_looks_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, **SETTINGS) as study:
        study.tell(study.ask(1)[0], 1.0)
        before = path.read_bytes()
        study.predict([{"x": 0.5, "n": 7}])
        study.records()
        study.to_csv(tmp_path / "history.csv")
        assert study.best is not None
        assert study.pending == ()
        assert path.read_bytes() == before


def test_a_torn_last_line_is_as_if_the_call_had_never_been_made(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, journal=path, **SETTINGS) as study:
        study.tell(study.ask(1)[0], 1.0)
        before = path.read_bytes()
        lost = study.ask(2).params
    path.write_bytes(path.read_bytes()[:-20])
    with Optimizer.load(path) as study:
        assert path.read_bytes() == before
        assert [trial.id for trial in study.pending] == []
        assert study.ask(2).params == lost
