"""Studies with very many trials: an answer in bounded memory that says what it rests on, and no model where none is
needed."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import believer as bv
from believer.arrays import near_any
from believer.batch import STRATEGIES, RandomBatch
from believer.batch.request import Choice, Chosen, NoModel, Request, needs_model
from believer.errors import MissingCapability
from believer.propose import propose
from believer.replay import replay
from believer.study import models
from believer.study.events import Amended, Asked, Begun, Enqueued, Event, Told
from believer.study.formats import FORMAT
from believer.study.goals import Goals
from believer.study.history import History
from believer.study.ledger import Ledger
from believer.study.outcome import Outcome
from believer.study.settings import StudySettings
from believer.study.trials import Trial
from believer.surrogates import GP, SparseGP
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model

SPACE = bv.Space.cube(2)
Trials = list[tuple[int, dict[str, Any], float | str | None]]


def some_trials(n: int, start: int = 0, what: str | None = "value") -> Trials:
    X = np.random.default_rng((n, start)).random((n, 2))
    values = [float(x @ x) if what == "value" else what for x in X]
    return [
        (start + i, {"x0": float(x[0]), "x1": float(x[1])}, v) for i, (x, v) in enumerate(zip(X, values, strict=True))
    ]


@dataclass(frozen=True)
class Unfittable:
    """A surrogate that must not be asked."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise AssertionError("a model was fitted")


@dataclass(frozen=True)
class Corner:
    """A strategy of someone's own that needs no model, or says so."""

    looks: bool = False
    needs_model = False

    def choose(self, request: Request, memory: object = None) -> Chosen:
        if self.looks:
            request.model.predict(request.data.X)
        return Chosen(tuple(Choice(np.full(2, 0.25 + 0.1 * trial), "a corner") for trial in request.ids))


@pytest.mark.parametrize("strategy", ["random", Corner()])
def test_a_strategy_that_needs_no_model_gets_none(strategy: Any) -> None:
    settings = StudySettings.of(SPACE, surrogate=Unfittable(), n_init=1, strategy=strategy, seed=0)
    history = History.of(settings, some_trials(3))
    found = propose(settings, history, 2)
    assert found.model is None
    assert found.event().model is None
    assert found.batch.verdict.gain is None
    assert found.batch.verdict.mean_distance is not None
    other = StudySettings.of(SPACE, surrogate=Unfittable(), n_init=1, seed=0)
    np.testing.assert_array_equal(propose(other, history, 2, strategy=strategy).batch.encoded, found.batch.encoded)
    with pytest.raises(AssertionError, match="fitted"):
        propose(other, history, 2)


def test_only_random_points_and_a_region_with_models_of_its_own_need_no_model_of_all_results() -> None:
    assert {name for name, strategy in STRATEGIES.items() if not needs_model(strategy)} == {"random", "trust_region"}


def test_a_strategy_that_looks_at_a_model_it_said_it_does_not_need_is_told() -> None:
    settings = StudySettings.of(SPACE, n_init=1, strategy=Corner(looks=True), seed=0)
    with pytest.raises(MissingCapability, match="needs_model"):
        propose(settings, History.of(settings, some_trials(3)))
    with pytest.raises(MissingCapability):
        NoModel().predict(np.zeros((1, 2)))


def test_a_journal_of_random_points_with_models_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.jsonl"
    monkeypatch.setattr(RandomBatch, "needs_model", True)
    with bv.Optimizer(SPACE, seed=3, n_init=2, journal=path) as study:
        for strategy in ("kb", "kb", "random", "random", "kb"):
            batch = study.ask(2, strategy=strategy)
            study.tell_many(batch, [float(t.encoded @ t.encoded) for t in batch])
    asked = [event for event in study.events if isinstance(event, Asked)]
    assert [event.model is not None for event in asked] == [False, True, True, True, True]
    monkeypatch.undo()
    assert replay(path).identical
    assert bv.Optimizer.load(path).events == study.events


def test_a_journal_of_random_points_without_models_replays(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with bv.Optimizer(SPACE, seed=3, n_init=2, journal=path) as study:
        for strategy in ("kb", "kb", "random", "kb"):
            batch = study.ask(2, strategy=strategy)
            study.tell_many(batch, [float(t.encoded @ t.encoded) for t in batch])
    asked = [event for event in study.events if isinstance(event, Asked)]
    assert [event.model is not None for event in asked] == [False, True, False, True]
    assert replay(path).identical
    assert bv.Optimizer.load(path)._ledger.fitted == study._ledger.fitted


def test_provenance_says_how_many_of_the_results_a_model_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GP, "most_results", 16)
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    few, many = (History.of(settings, some_trials(n)) for n in (16, 1040))
    assert "results" not in propose(settings, few).batch[0].provenance
    assert propose(settings, many).batch[0].provenance.endswith("; a model of 16 of 1,040 results")
    assert "results" not in propose(settings, many, strategy="random").batch[0].provenance
    sparse = StudySettings.of(SPACE, surrogate=SparseGP(), n_init=1, seed=0)
    assert "a model of" not in propose(sparse, History.of(sparse, some_trials(20))).batch[0].provenance


@pytest.mark.parametrize("strategy", [name for name in STRATEGIES if name != "random"])
@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_a_study_of_many_results_goes_on_as_one_that_was_never_left(
    strategy: str, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The subset is the same with the cache and without, and every strategy works on it, with noise as well."""
    monkeypatch.setattr(GP, "most_results", 12)
    settings = StudySettings.of(SPACE, surrogate=GP(noise=noise), n_init=1, strategy=strategy, seed=0)
    cache = models.ModelCache(settings)
    trials, fitted = some_trials(30), None
    for _ in range(2):
        history = History.of(settings, trials, fitted)
        one, two = propose(settings, history, 2, cache=cache), propose(settings, history, 2)
        np.testing.assert_array_equal(one.batch.encoded, two.batch.encoded)
        assert (one.model is not None) == needs_model(settings.strategy)
        assert one.model == two.model
        assert not near_any(one.batch.encoded, history.taken).any()
        fitted = None if one.model is None else (history.ids, one.model)
        trials = [*trials, *((t.id, t.params, float(t.encoded @ t.encoded)) for t in one.batch)]


@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_results_are_added_to_a_model_of_some_of_them_until_a_fit_is_due(
    noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the most that a model learns from, too: the next fit comes when these have grown by an eighth."""
    monkeypatch.setattr(GP, "most_results", 32)
    monkeypatch.setattr(models, "KEPT_FROM", 16)
    settings = StudySettings.of(SPACE, surrogate=GP(noise=noise), n_init=1, seed=0)
    cache = models.ModelCache(settings)
    trials, fitted, sizes = some_trials(60), None, list[int]()
    for _ in range(6):
        history = History.of(settings, trials, fitted)
        learned = cache.learned(history)
        sizes.append(len(learned.fit.mean_at_data()))  # type: ignore[attr-defined]
        one, two = propose(settings, history, 1, cache=cache), propose(settings, history, 1)
        np.testing.assert_array_equal(one.batch.encoded, two.batch.encoded)
        assert one.model == two.model
        assert one.model is not None
        fitted = history.ids, one.model
        trials = [*trials, *((t.id, t.params, float(t.encoded @ t.encoded)) for t in one.batch)]
    assert sizes[:5] == [32, 33, 34, 35, 36]
    assert sizes[5] == 32


def test_a_model_is_told_of_the_last_failures_and_provenance_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MAX_GIVEN", 4)
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    results, failed = some_trials(8), some_trials(9, 8, "broke")
    every, last = (History.of(settings, [*results, *some]) for some in (failed, failed[-4:]))
    told, alike = (models.ModelCache(settings).learned(history) for history in (every, last))
    X = np.random.default_rng(0).random((5, 2))
    np.testing.assert_array_equal(told.predict(X).mean, alike.predict(X).mean)
    assert "; conditioned on the last 4 of 9 failures" in propose(settings, every).batch[0].provenance
    assert "failures" not in propose(settings, last).batch[0].provenance


def test_a_model_is_told_of_the_last_pending_points_by_half_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "MAX_GIVEN", 6)
    settings = StudySettings.of(SPACE, n_init=1, seed=0)
    sizes = {}
    for p in range(16):
        history = History.of(settings, [*some_trials(8), *some_trials(p, 8, None)])
        told = models.counted_pending(history.pending)
        sizes[p] = len(told.ids)
        assert told.ids == history.pending.ids[p - sizes[p] :]
        np.testing.assert_array_equal(told.X, history.pending.X[p - sizes[p] :])
        found = propose(settings, history, 2, strategy="lp")
        assert ("pending points" in found.batch[0].provenance) == (sizes[p] < p)
    assert [sizes[p] for p in range(16)] == [0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5, 6]


def test_points_are_compared_with_many_in_bounded_memory() -> None:
    rng = np.random.default_rng(0)
    others, X = rng.random((100_000, 6)), rng.random((300, 6))
    X[::3] = others[:100] + 1e-7
    X[1::3, 0], others[:, 1] = 0.5, np.round(others[:, 1])
    X[:, 1] = np.round(X[:, 1])
    tracemalloc.start()
    found = near_any(X, others)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[::3].all()
    assert found.sum() == 100
    np.testing.assert_array_equal(found[:30], np.concatenate([near_any(x[None, :], others) for x in X[:30]]))
    assert peak < 3e8


BIG = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2_500_000_000, 2_500_000_000))
import numpy as np, believer as bv
from believer.plugins import History, ModelCache, StudySettings, propose
settings = StudySettings.of(bv.Space.cube(3), n_init=1, seed=0)
X = np.random.default_rng(0).random((100_000, 3))
y = np.sin(5.0 * X).sum(axis=1).tolist()
trials = [(i, dict(zip(settings.space.names, x)), y[i]) for i, x in enumerate(X.tolist())]
history, cache = History.of(settings, trials), ModelCache(settings)
for strategy in ("random", "kb"):
    batch = propose(settings, history, strategy=strategy, cache=cache).batch
    assert strategy == "random" or "a model of 2,000 of 100,000 results" in batch[0].provenance, batch[0].provenance
    gaps = np.abs(history.taken[None] - batch.encoded[:, None]).max(axis=2)
    assert (gaps > 1e-6).all()
    print(strategy)
assert cache.learned(history).predict(X[:3]).mean.shape == (3,)
"""


@pytest.mark.slow("a hundred thousand results, in a process with little memory")
def test_a_hundred_thousand_results_end_in_an_answer_in_bounded_memory() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", BIG], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["random", "kb"]


@pytest.mark.parametrize("n_init", [10**9, 2**63, 10**30])
def test_a_design_costs_what_is_asked_for(n_init: int, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    tracemalloc.start()
    with bv.Optimizer(SPACE, n_init=n_init, seed=1, journal=path) as study:
        batch = study.ask(3)
        study.tell_many(batch, [1.0, 2.0, 3.0])
        assert [trial.origin for trial in study.ask(2)] == ["design"] * 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8
    assert bv.Optimizer.load(path).settings.n_init == n_init
    assert replay(path).identical


def test_a_long_design_is_made_of_latin_hypercubes(monkeypatch: pytest.MonkeyPatch) -> None:
    from believer.batch import random

    monkeypatch.setattr(random, "LARGEST_DESIGN", 8)
    units = bv.Optimizer(SPACE, n_init=10**9, seed=1).ask(24).encoded
    for part in np.split(units, 3):
        for column in part.T:
            assert sorted((8 * column).astype(int)) == list(range(8))
    monkeypatch.undo()
    np.testing.assert_array_equal(bv.Optimizer(SPACE, n_init=8, seed=1).ask(24).encoded, units)


# Reading: work is counted, and not timed

LINE = bv.Space({"n": bv.Int(0, 10_000)})
REQUEST: dict[str, Any] = {"strategy": {"type": "RandomBatch"}, "fixed": {}, "distinct": True}


def handed_out(space: bv.Space, points: list[dict[str, Any]]) -> list[Event]:
    """The ask of each of the ``points``, all of them wanted by the user."""
    units = space.encode(points)
    trials = [Trial(i, p, units[i], "asked for by the user", "enqueued") for i, p in enumerate(points)]
    return [Asked((trial,), REQUEST, None) for trial in trials]


def calls_to_queue(n: int) -> int:
    """How many calls it takes to read a journal of ``n`` queued points, handed out backwards."""
    points = [{"n": i} for i in range(n)]
    events = [Begun(FORMAT, {}, {}), *map(Enqueued, points), *handed_out(LINE, points[::-1])]
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        ledger = Ledger.of(events, LINE, Goals.plain(False))
    finally:
        sys.setprofile(before)
    assert len(ledger.trials) == n
    assert not ledger.queue
    return calls


def test_the_work_to_read_queued_points_grows_with_their_number_in_whatever_order_they_were_handed_out() -> None:
    assert calls_to_queue(400) < 6 * calls_to_queue(100)


class Counted(int):
    """An id that counts how often it is compared."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int(self) == other


def test_the_work_to_read_an_amendment_does_not_grow_with_the_number_of_results() -> None:
    n, outcome = 300, Outcome({"cost": 1.0})
    points = [{"n": i} for i in range(n)]
    events = [Begun(FORMAT, {}, {}), *map(Enqueued, points), *handed_out(LINE, points)]
    events += [Told(Counted(i), outcome) for i in range(n)]
    events += [Amended(Counted(i), outcome, None) for i in reversed(range(n))]
    before = Counted.compared
    ledger = Ledger.of(events, LINE, Goals({"cost": bv.Minimize()}))
    assert Counted.compared - before < 40 * n
    assert list(ledger.outcomes) == list(reversed(range(n)))
    assert ledger.counts.done == n


def test_of_queued_points_that_are_the_same_the_first_is_handed_out_and_the_others_keep_their_order() -> None:
    space = bv.Space({"c": bv.Categorical([1, 1.0, True, "b"])})
    queue: list[dict[str, Any]] = [{"c": c} for c in (1, "b", True, 1, 1.0, "b", 1)]
    settings = StudySettings.of(space, seed=0)
    ledger = Ledger.of([Begun(FORMAT, {}, {}), *map(Enqueued, queue)], space, settings.goals)
    out = [{"c": c} for c in (1, "b", 1.0, 1)]
    for event in handed_out(space, out):
        ledger.apply(event)
    assert [repr(p["c"]) for p in ledger.history(settings).queue] == ["True", "'b'", "1"]
    ledger.apply(Enqueued({"c": 1}))
    assert [repr(p["c"]) for p in ledger.history(settings).queue] == ["True", "'b'", "1", "1"]
