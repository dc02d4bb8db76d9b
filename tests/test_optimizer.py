"""What the optimizer promises: one test a promise, over every strategy and every kind of space."""

from __future__ import annotations

import csv
import itertools
import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from believer import (
    EI,
    GP,
    MQRBF,
    PI,
    UCB,
    Batch,
    Believe,
    Candidates,
    Categorical,
    ConstantLie,
    Fantasy,
    FixedStarts,
    Float,
    Int,
    LogEI,
    NeuralEnsemble,
    Optimizer,
    PseudoObservations,
    RandomBatch,
    Space,
    Trial,
)
from believer.acquisitions import Pointwise
from believer.arrays import SAME_POINT, Array
from believer.batch import STRATEGIES, Chosen, Data
from believer.batch.request import Choice
from believer.errors import BelieverError, InvalidInput, JournalError, MissingCapability, SpaceExhausted, TrialError
from believer.surrogates.gp import GPModel
from believer.surrogates.protocols import Model, Prediction


def below(params: dict[str, Any]) -> bool:
    return bool(params["x"] + params["y"] <= 12.0)


def on_the_diagonal(params: dict[str, Any]) -> bool:
    return bool(params["a"] == params["b"] <= 8)


def never(params: dict[str, Any]) -> bool:
    return False


SPACES: dict[str, Space] = {
    "cube": Space.unit(2),
    "mixed": Space({"lr": Float(1e-5, 1.0, log=True), "depth": Int(1, 8), "kernel": Categorical(["rbf", "poly", 3])}),
    "constrained": Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)}, below),
    "line": Space({"x": Float(-3.0, 7.0)}),
    "discrete": Space({"n": Int(0, 9), "c": Categorical(["a", "b", None]), "s": Float(0.0, 1.0, step=0.25)}),
}
NAMES = ("cl_min", "cl_max", "cl_mean", "kb", "kb_lower", "kb_upper", "fantasy", "random")
PSEUDO = NAMES[:-1]

any_space = pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
any_strategy = pytest.mark.parametrize("strategy", NAMES)


def value_of(trial: Trial) -> float:
    """A smooth bowl with a few ripples, over the encoded cube of any space."""
    return float(((trial.unit - 0.35) ** 2).sum() + 0.1 * np.sin(9.0 * trial.unit).sum())


def tell_all(optimizer: Optimizer, batch: Iterable[Trial], sign: float = 1.0) -> None:
    for trial in batch:
        optimizer.tell(trial, sign * value_of(trial))


def started(space: Space, n_init: int = 4, sign: float = 1.0, **options: Any) -> Optimizer:
    """An optimizer whose design is done and told, so that the next ask needs the model."""
    optimizer = Optimizer(space, n_init=n_init, **options)
    tell_all(optimizer, optimizer.ask(n_init), sign)
    return optimizer


def gap(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max())


def assert_lawful(space: Space, trials: Sequence[Trial]) -> None:
    """Inside the space, canonical, and encoded as they are written."""
    for trial in trials:
        assert space.check(trial.params) == trial.params
        assert space.allows(trial.params)
        assert gap(trial.unit, space.encode([trial.params])[0]) <= 1e-12


def assert_distinct(trials: Sequence[Trial]) -> None:
    for a, b in itertools.combinations(trials, 2):
        assert gap(a.unit, b.unit) > SAME_POINT, (a.params, b.params)


# Batches


@any_space
@any_strategy
def test_every_strategy_gives_new_points_of_the_space(space: Space, strategy: str) -> None:
    optimizer = started(space, strategy=strategy)
    first = optimizer.ask(3)
    tell_all(optimizer, reversed(first))
    second = optimizer.ask(2)
    assert [trial.origin for trial in (*first, *second)] == ["model"] * 5
    assert [trial.id for trial in optimizer.trials] == list(range(9))
    assert first.unit.shape == (3, space.dim)
    assert second.verdict.size == 2
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_these_laws_are_tried_on_the_lies_and_on_random_points() -> None:
    """The contract of strategies (contracts/) tries all of them."""
    lies = {name for name, strategy in STRATEGIES.items() if isinstance(strategy, PseudoObservations)}
    assert set(NAMES) == lies - {"fantasies"} | {"random"}


def test_a_batch_is_a_sequence_of_trials() -> None:
    batch = Optimizer(SPACES["mixed"]).ask(3)
    assert isinstance(batch, Sequence)
    assert isinstance(batch, Batch)
    assert len(batch) == 3
    assert list(batch) == [batch[0], batch[1], batch[-1]]
    assert list(batch[1:]) == list(batch)[1:]
    assert next(reversed(batch)) is batch[2]
    assert batch[1] in batch
    assert batch.index(batch[2]) == 2
    assert batch.params == [trial.params for trial in batch]
    assert all(f"{trial.id}: lr=" in str(batch) and trial.provenance in str(batch) for trial in batch)
    assert str(batch).endswith(batch.verdict.sentence)
    with pytest.raises(IndexError):
        batch[3]


def test_points_handed_out_cannot_be_written_to() -> None:
    optimizer = started(SPACES["cube"])
    trial = optimizer.ask(1)[0]
    with pytest.raises(ValueError, match="read-only"):
        trial.unit[0] = 0.5
    with pytest.raises(AttributeError):
        trial.id = 7  # type: ignore[misc]


def test_what_a_caller_does_to_the_params_of_a_trial_stays_with_the_caller() -> None:
    """``f(**params)`` often adds or converts entries first; the study must not learn parameters from that."""
    optimizer = Optimizer(SPACES["mixed"])
    trial = optimizer.ask(1)[0]
    asked = dict(trial.params)
    try:
        trial.params["epochs"] = 10
        trial.params["depth"] = 99
    except TypeError:
        pass  # read-only is as good
    optimizer.tell(trial, 1.0)
    assert optimizer.best == (asked, 1.0)
    assert "epochs" not in optimizer.records()[0]


@pytest.mark.parametrize("q", [1, 2, 5])
def test_the_verdict_is_about_the_batch(q: int) -> None:
    batch = started(SPACES["cube"]).ask(q)
    gaps = [float(np.linalg.norm(a.unit - b.unit)) for a, b in itertools.combinations(batch, 2)]
    assert batch.verdict.size == q
    assert batch.verdict.min_distance == (pytest.approx(min(gaps)) if gaps else None)
    assert batch.verdict.mean_distance == (pytest.approx(np.mean(gaps)) if gaps else None)


# The design


@any_space
def test_until_n_init_results_the_design_is_twice_the_number_of_parameters(space: Space) -> None:
    optimizer = Optimizer(space)
    for _ in range(2 * len(space)):
        tell_all(optimizer, optimizer.ask(1))
    optimizer.ask(1)
    assert [trial.origin for trial in optimizer.trials] == ["design"] * (2 * len(space)) + ["model"]


@pytest.mark.parametrize("sizes", [[8], [1] * 8, [3, 3, 2]])
def test_the_design_is_a_latin_hypercube_however_it_is_asked_for(sizes: list[int]) -> None:
    optimizer = Optimizer(Space.unit(3), n_init=8, seed=5)
    for q in sizes:
        optimizer.ask(q)
    slices = np.floor(8 * np.array([trial.unit for trial in optimizer.trials]))
    assert (np.sort(slices, axis=0) == np.arange(8.0)[:, None]).all()


def test_results_pending_trials_and_observations_all_count_towards_n_init() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=6)
    optimizer.observe({"x0": 0.1, "x1": 0.9}, 1.0)
    optimizer.observe({"x0": 0.7, "x1": 0.2}, 2.0)
    tell_all(optimizer, optimizer.ask(1))
    optimizer.ask(2)
    assert [trial.origin for trial in optimizer.ask(3)] == ["design", "model", "model"]


def test_failed_and_abandoned_trials_do_not_count_towards_n_init() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=3)
    batch = optimizer.ask(3)
    optimizer.tell(batch[0], 1.0)
    optimizer.tell(batch[1], error="crashed")
    optimizer.abandon(batch[2])
    assert [trial.origin for trial in optimizer.ask(3)] == ["design", "design", "model"]


@any_space
def test_with_failures_only_it_keeps_giving_new_design_points(space: Space) -> None:
    optimizer = Optimizer(space, n_init=3)
    for _ in range(4):
        for trial in optimizer.ask(2):
            assert trial.origin == "design"
            optimizer.tell(trial, math.nan)
    assert optimizer.best is None
    assert_distinct(optimizer.trials)
    assert_lawful(space, optimizer.trials)


def test_without_any_result_a_large_batch_is_all_design() -> None:
    batch = Optimizer(SPACES["cube"], n_init=3).ask(10)
    assert {trial.origin for trial in batch} == {"design"}
    assert_distinct(batch)


def test_one_result_and_n_init_one_are_enough_for_the_model() -> None:
    optimizer = Optimizer(SPACES["mixed"], n_init=1)
    tell_all(optimizer, optimizer.ask(1))
    batch = optimizer.ask(3)
    assert {trial.origin for trial in batch} == {"model"}
    assert_distinct(optimizer.trials)


# Pending trials and the fit


@dataclass(frozen=True, eq=False)
class SpyLie:
    """Believes, and keeps what it was asked about."""

    seen: list[tuple[float, ...]] = field(default_factory=list)

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: np.random.Generator) -> float:
        self.seen.append(tuple(x.tolist()))
        return float(model.predict(x[None, :]).mean[0])

    @property
    def verb(self) -> str:
        return "spying on"


def units(trials: Iterable[Trial]) -> list[tuple[float, ...]]:
    return [tuple(trial.unit.tolist()) for trial in trials]


def test_every_pending_trial_is_lied_about_in_id_order_before_the_first_choice() -> None:
    lie = SpyLie()
    optimizer = started(SPACES["cube"], strategy=PseudoObservations(lie))
    pending = optimizer.ask(3)
    assert lie.seen == units(pending)
    optimizer.tell(pending[1], 0.0)
    lie.seen.clear()
    batch = optimizer.ask(2)
    assert lie.seen == units([pending[0], pending[2], *batch])


def test_an_abandoned_trial_is_not_lied_about() -> None:
    lie = SpyLie()
    optimizer = started(SPACES["cube"], strategy=PseudoObservations(lie))
    pending = optimizer.ask(3)
    optimizer.abandon(pending[1])
    lie.seen.clear()
    batch = optimizer.ask(1)
    assert lie.seen == units([pending[0], pending[2], *batch])


@dataclass(frozen=True, eq=False)
class SpySurrogate:
    """A Gaussian process that keeps the data of its fits."""

    fits: list[tuple[Array, Array]] = field(default_factory=list)

    def fit(self, X: Array, y: Array, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        self.fits.append((X, y))
        return GP().fit(X, y, rng, previous)


def test_one_fit_serves_until_new_results_are_told() -> None:
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], surrogate=surrogate)
    optimizer.ask(2)
    batch = optimizer.ask(1)
    optimizer.predict([{"x0": 0.5, "x1": 0.5}])
    optimizer.abandon(batch[0])
    optimizer.ask(1)
    assert len(surrogate.fits) == 1
    optimizer.tell(batch[0], 1.0)
    assert len(surrogate.fits) == 1
    optimizer.ask(2)
    assert len(surrogate.fits) == 2


def test_data_enter_the_fit_in_id_order() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(SPACES["cube"], surrogate=surrogate, n_init=5)
    batch = optimizer.ask(5)
    tell_all(optimizer, [batch[i] for i in (3, 0, 4, 1, 2)])
    optimizer.ask(1)
    X, y = surrogate.fits[0]
    assert (batch.unit == X).all()
    assert y.tolist() == [value_of(trial) for trial in batch]


# Failures


FAILURES: dict[str, Callable[[Optimizer, Trial], None]] = {
    "nan": lambda optimizer, trial: optimizer.tell(trial, math.nan),
    "inf": lambda optimizer, trial: optimizer.tell(trial, math.inf),
    "minus inf": lambda optimizer, trial: optimizer.tell(trial, -math.inf),
    "error": lambda optimizer, trial: optimizer.tell(trial, error="out of memory"),
    "tell_many": lambda optimizer, trial: optimizer.tell_many([trial], [math.nan]),
    "numpy": lambda optimizer, trial: optimizer.tell(trial, np.float32("nan")),  # type: ignore[arg-type]
}
any_failure = pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)


@any_failure
def test_a_failed_trial_is_answered_and_has_no_value(fail: Callable[[Optimizer, Trial], None]) -> None:
    optimizer = Optimizer(SPACES["cube"])
    trial = optimizer.ask(1)[0]
    fail(optimizer, trial)
    record = optimizer.records()[0]
    assert (record["status"], record["value"]) == ("failed", None)
    assert record["error"]
    assert (optimizer.pending, optimizer.best) == ((), None)
    with pytest.raises(TrialError, match="already has its result"):
        optimizer.tell(trial, 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["minimize", "maximize"])
def test_a_failure_is_conditioned_at_the_worst_real_value_and_never_in_the_fit(
    sign: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], surrogate=surrogate, sign=sign, maximize=sign < 0)
    failed = optimizer.ask(2)
    optimizer.tell(failed[1], error="crashed")
    optimizer.tell(failed[0], math.nan)
    conditioned: list[tuple[Array, Array]] = []
    condition = GPModel.condition

    def spy(self: GPModel, X: Array, y: Array) -> GPModel:
        conditioned.append((X, y))
        return condition(self, X, y)

    monkeypatch.setattr(GPModel, "condition", spy)
    optimizer.ask(1)
    assert len(surrogate.fits) == 1
    assert len(surrogate.fits[0][1]) == 4
    X, y = conditioned[0]
    worst = max(value_of(trial) for trial in optimizer.trials[:4])
    assert (failed.unit == X).all()
    assert y.tolist() == [worst, worst]


def test_the_model_expects_the_worst_where_a_trial_failed() -> None:
    optimizer = started(SPACES["cube"])
    trial = optimizer.ask(1)[0]
    optimizer.tell(trial, error="crashed")
    expected = optimizer.predict([trial.params])
    worst = max(value_of(told) for told in optimizer.trials[:4])
    assert expected.mean[0] == pytest.approx(worst, abs=0.01)
    assert expected.std[0] < 0.01


@dataclass(frozen=True, eq=False)
class SpyAcquisition:
    """LogEI that keeps the incumbents."""

    incumbents: set[float] = field(default_factory=set)

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        self.incumbents.add(incumbent)
        return LogEI().pointwise(mean, std, incumbent)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["minimize", "maximize"])
def test_a_failure_is_never_the_incumbent_nor_the_best(sign: float) -> None:
    acquisition = SpyAcquisition()
    optimizer = started(SPACES["cube"], acquisition=acquisition, sign=sign, maximize=sign < 0)
    for bad in (-math.inf, math.inf, math.nan):
        optimizer.tell(optimizer.ask(1)[0], bad)
    acquisition.incumbents.clear()
    optimizer.ask(1)
    best = min(optimizer.trials[:4], key=value_of)
    assert acquisition.incumbents == {value_of(best)}
    assert optimizer.best == (best.params, sign * value_of(best))


def test_an_observed_failure_is_a_failure() -> None:
    optimizer = started(SPACES["cube"])
    optimizer.observe({"x0": 0.5, "x1": 0.5}, error="burnt")
    optimizer.observe({"x0": 0.6, "x1": 0.5}, math.nan)
    assert [record["status"] for record in optimizer.records()[4:]] == ["failed", "failed"]
    assert optimizer.tally.failed == 2
    optimizer.ask(2)


# Telling


def test_results_come_in_any_order_by_trial_or_by_id() -> None:
    optimizer = Optimizer(SPACES["cube"])
    batch = optimizer.ask(4)
    optimizer.tell(batch[2], 3.0)
    optimizer.tell(0, 1.0)
    optimizer.tell(np.int64(3), 4)  # type: ignore[arg-type]
    assert [trial.id for trial in optimizer.pending] == [1]
    optimizer.tell(batch[1], np.float64(-2.0))
    assert [record["value"] for record in optimizer.records()] == [1.0, -2.0, 3.0, 4.0]
    assert optimizer.pending == ()
    assert optimizer.best == (batch[1].params, -2.0)


def test_a_trial_object_from_a_loaded_twin_may_be_told_and_one_from_another_study_may_not() -> None:
    optimizer, twin, other = (Optimizer(SPACES["cube"], seed=seed) for seed in (1, 1, 2))
    optimizer.ask(1)
    optimizer.tell(twin.ask(1)[0], 5.0)
    assert optimizer.best is not None
    optimizer.ask(1)
    other.ask(1)
    with pytest.raises(TrialError, match="another study"):
        optimizer.tell(other.ask(1)[0], 5.0)


def test_tell_many_takes_all_or_nothing() -> None:
    optimizer = Optimizer(SPACES["cube"])
    batch = optimizer.ask(3)
    for trials, values in (
        (batch, [1.0, 2.0]),
        ([0, 1, 7], [1.0, 2.0, 3.0]),
        ([0, 1, 1], [1.0, 2.0, 3.0]),
        (batch, [1.0, 2.0, "three"]),
    ):
        with pytest.raises(BelieverError):
            optimizer.tell_many(trials, values)  # type: ignore[arg-type]
        assert len(optimizer.pending) == 3
    optimizer.tell_many(reversed(batch), (float(i) for i in range(3)))
    assert [record["value"] for record in optimizer.records()] == [2.0, 1.0, 0.0]


def test_the_best_of_equals_is_the_first() -> None:
    for maximize in (False, True):
        optimizer = Optimizer(SPACES["cube"], maximize=maximize)
        batch = optimizer.ask(3)
        optimizer.tell_many(reversed(batch), [1.0, 1.0, 1.0])
        assert optimizer.best == (batch[0].params, 1.0)


def test_an_abandoned_trial_is_not_pending_not_repeated_and_its_late_result_is_accepted() -> None:
    optimizer = started(SPACES["discrete"])
    trial = optimizer.ask(1)[0]
    optimizer.abandon(trial)
    optimizer.abandon(trial.id)
    assert optimizer.pending == ()
    assert optimizer.tally.abandoned == 1
    assert optimizer.records()[-1]["status"] == "abandoned"
    optimizer.ask(3)
    assert_distinct(optimizer.trials)
    optimizer.tell(trial, -100.0)
    assert optimizer.tally.abandoned == 0
    assert optimizer.best == (trial.params, -100.0)
    with pytest.raises(TrialError, match="nothing to abandon"):
        optimizer.abandon(trial)


def test_a_late_result_may_be_a_failure() -> None:
    optimizer = Optimizer(SPACES["cube"])
    trial = optimizer.ask(1)[0]
    optimizer.abandon(trial)
    optimizer.tell(trial, error="killed after all")
    assert optimizer.records()[0]["status"] == "failed"


def test_what_is_observed_may_break_the_constraint_and_is_never_proposed_again() -> None:
    space = Space({"n": Int(0, 4)}, lambda params: params["n"] != 4)
    optimizer = Optimizer(space, n_init=2)
    forbidden = optimizer.observe({"n": 4}, -5.0)
    known = optimizer.observe({"n": np.int64(2)}, 1.0)
    assert (forbidden.id, forbidden.provenance, known.params) == (0, "observed elsewhere", {"n": 2})
    assert optimizer.best == ({"n": 4}, -5.0)
    assert sorted(trial.params["n"] for trial in optimizer.ask(3)) == [0, 1, 3]


# Enqueued points


def test_enqueued_points_come_first_in_order_and_the_rest_is_asked_as_usual() -> None:
    optimizer = started(SPACES["mixed"])
    wishes = [{"lr": 0.1, "depth": depth, "kernel": "rbf"} for depth in (3, 1, 2)]
    for wish in wishes:
        optimizer.enqueue(wish)
    assert list(optimizer.queued) == wishes
    first = optimizer.ask(2)
    second = optimizer.ask(3)
    assert [trial.params for trial in (*first, second[0])] == wishes
    assert [trial.origin for trial in second] == ["enqueued", "model", "model"]
    assert optimizer.queued == ()
    assert_distinct(optimizer.trials)


def test_enqueued_points_wait_for_an_ask_whose_fixed_parameters_they_have() -> None:
    optimizer = started(SPACES["mixed"])
    optimizer.enqueue({"lr": 0.1, "depth": 3, "kernel": "rbf"})
    optimizer.enqueue({"lr": 0.1, "depth": 4, "kernel": "rbf"})
    batch = optimizer.ask(2, fixed={"depth": 4})
    assert [trial.origin for trial in batch] == ["enqueued", "model"]
    assert {trial.params["depth"] for trial in batch} == {4}
    assert optimizer.queued == ({"lr": 0.1, "depth": 3, "kernel": "rbf"},)
    assert optimizer.ask(1)[0].params["depth"] == 3


def test_fixed_tells_one_from_true() -> None:
    optimizer = Optimizer(Space({"c": Categorical([1, True, "a"])}))
    optimizer.enqueue({"c": True})
    assert optimizer.ask(1, fixed={"c": 1})[0].params["c"] is not True


def test_an_enqueued_point_may_repeat_another() -> None:
    optimizer = started(SPACES["cube"])
    wish = optimizer.trials[0].params
    optimizer.enqueue(wish)
    optimizer.enqueue(wish)
    batch = optimizer.ask(3)
    assert batch.params[:2] == [wish, wish]
    assert_distinct([optimizer.trials[0], batch[2]])


def test_enqueued_points_are_pending_for_the_rest_of_their_batch() -> None:
    lie = SpyLie()
    optimizer = started(SPACES["cube"], strategy=PseudoObservations(lie))
    optimizer.enqueue({"x0": 0.25, "x1": 0.5})
    batch = optimizer.ask(2)
    assert lie.seen == units(batch)


# Fixed parameters


FIXED: dict[str, list[dict[str, Any]]] = {
    "cube": [{"x1": 0.25}],
    "mixed": [{"kernel": 3}, {"lr": 1e-3}, {"lr": 1.0, "kernel": "poly"}],
    "constrained": [{"x": 3.0}],
    "discrete": [{"s": 0.75}, {"c": None, "n": 4}],
}


@any_strategy
@pytest.mark.parametrize(("name", "fixed"), [(name, fixed) for name, cases in FIXED.items() for fixed in cases])
def test_fixed_parameters_are_held_in_design_and_model(name: str, fixed: dict[str, Any], strategy: str) -> None:
    space = SPACES[name]
    optimizer = Optimizer(space, n_init=3, strategy=strategy)
    tell_all(optimizer, optimizer.ask(2, fixed=fixed))
    optimizer.ask(3, fixed=fixed)
    assert {trial.origin for trial in optimizer.trials} == {"design", "model"}
    for trial in optimizer.trials:
        assert {name: trial.params[name] for name in fixed} == fixed
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_with_everything_fixed_there_is_one_point() -> None:
    optimizer = started(SPACES["cube"])
    everything = {"x0": 0.125, "x1": 0.5}
    assert optimizer.ask(1, fixed=everything)[0].params == everything
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(1, fixed=everything)
    assert caught.value.left == 0
    assert optimizer.ask(2, fixed=everything, distinct=False).params == [everything] * 2


# Distinct points


@any_strategy
@pytest.mark.parametrize(
    "space",
    [
        Space({"n": Int(0, 6)}),
        Space({"n": Int(0, 3), "c": Categorical(["a", "b"])}, lambda params: params["n"] > 0 or params["c"] == "a"),
        Space({"s": Float(0.0, 1.0, step=0.125)}),
        Space({"n": Int(1, 1000, log=True, step=150)}),
    ],
    ids=["int", "constrained", "step", "log"],
)
def test_a_finite_space_gives_each_of_its_points_once_and_then_says_that_it_is_exhausted(
    space: Space, strategy: str
) -> None:
    allowed = space.decode(space.region().enumerate())
    optimizer = Optimizer(space, n_init=2, strategy=strategy)
    for _ in range(len(allowed) // 2):
        tell_all(optimizer, optimizer.ask(2))
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(2)
    assert caught.value.left == len(allowed) % 2
    if caught.value.left:
        optimizer.ask(1)
    with pytest.raises(SpaceExhausted, match=r"distinct=False"):
        optimizer.ask(1)
    seen = [trial.params for trial in optimizer.trials]
    assert len(seen) == len(allowed)
    assert all(point in seen for point in allowed)
    assert len(optimizer.ask(3, distinct=False)) == 3


@pytest.mark.parametrize("strategy", ["kb", "random"])
def test_a_constraint_that_leaves_few_of_many_points_gives_them_all_and_says_how_many_are_left(strategy: str) -> None:
    optimizer = Optimizer(Space({"a": Int(0, 69), "b": Int(0, 69)}, on_the_diagonal), n_init=4, strategy=strategy)
    tell_all(optimizer, optimizer.ask(7))
    for _ in range(2):
        with pytest.raises(SpaceExhausted) as caught:
            optimizer.ask(4)
        assert caught.value.left == 2
    optimizer.ask(2)
    assert sorted(trial.params["a"] for trial in optimizer.trials) == list(range(9))


def test_exhaustion_is_said_before_any_work() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(Space({"n": Int(0, 6)}), surrogate=surrogate, n_init=2)
    tell_all(optimizer, optimizer.ask(3))
    before = optimizer.records()
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(5)
    assert caught.value.left == 4
    assert surrogate.fits == []
    assert optimizer.records() == before
    assert len(optimizer.ask(4)) == 4


def test_what_is_left_is_what_an_ask_can_have_enqueued_points_included() -> None:
    """So that ask(error.left) gives all there is: the queue, and every point that is neither known nor queued."""
    optimizer = Optimizer(Space({"n": Int(0, 4)}))
    optimizer.ask(3)
    optimizer.enqueue(optimizer.trials[0].params)
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(5)
    assert caught.value.left == 3
    assert len(optimizer.ask(caught.value.left)) == 3


@pytest.mark.parametrize("strategy", ["kb", "random"])
@pytest.mark.parametrize(
    "space", [Space({"n": Int(0, 20_000)}), Space({"x": Float(0.0, 3.0, step=1e-4)})], ids=["int", "step"]
)
def test_a_grid_too_long_to_list_gives_no_value_twice(space: Space, strategy: str) -> None:
    optimizer = Optimizer(space, n_init=4)
    tell_all(optimizer, optimizer.ask(4))
    optimizer.ask(400 if strategy == "random" else 30, strategy=strategy)
    values = [tuple(trial.params.values()) for trial in optimizer.trials]
    assert len(set(values)) == len(values)


def test_a_point_within_a_millionth_of_a_known_one_is_the_same_point() -> None:
    """All mass on one point: every near copy of it is refused, whatever made it known."""
    optimizer = Optimizer(SPACES["line"], n_init=2, acquisition=UCB(0.0))
    for x, y in ((-3.0, 1.0), (2.0, -1.0), (7.0, 1.0)):
        optimizer.observe({"x": x}, y)
    optimizer.ask(4)
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(4)
    assert_distinct(optimizer.trials)


def test_with_distinct_false_points_may_repeat() -> None:
    space = Space({"n": Int(0, 3)})
    optimizer = Optimizer(space, n_init=2, acquisition=UCB(0.0))
    for n in range(4):
        optimizer.observe({"n": n}, float(n != 2))
    assert optimizer.ask(2, distinct=False).params == [{"n": 2}, {"n": 2}]


@pytest.mark.parametrize("space", [Space({"x": Float(0.0, 1.0)}, never), Space({"n": Int(0, 9)}, never)])
def test_a_constraint_that_nothing_satisfies_is_an_exhausted_space(space: Space) -> None:
    optimizer = Optimizer(space, n_init=1)
    for _ in range(2):
        with pytest.raises(SpaceExhausted) as caught:
            optimizer.ask(1)
        assert caught.value.left == 0
        optimizer.observe(space.decode(np.full((1, 1), 0.5))[0], 1.0)


def test_a_constraint_that_fails_is_named_and_nothing_is_recorded() -> None:
    optimizer = Optimizer(Space({"x": Float(0.0, 1.0)}, lambda params: 1 / 0 > 1))
    with pytest.raises(InvalidInput, match="constraint must work at every point; it raised ZeroDivisionError"):
        optimizer.ask(1)
    assert optimizer.records() == []


# Provenance


def test_provenance_says_where_a_point_comes_from() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=2)
    optimizer.enqueue({"x0": 0.5, "x1": 0.25})
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(1)
    texts = [trial.provenance for trial in optimizer.trials]
    assert texts == ["asked for by the user", "point 1 of a Latin hypercube", "chosen at LogEI rank 1"]


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        ("kb", "chosen at LogEI rank 1 after believing 2 points"),
        ("kb_lower", "chosen at LogEI rank 1 after believing (μ-1σ) 2 points"),
        ("kb_upper", "chosen at LogEI rank 1 after believing (μ+1σ) 2 points"),
        ("cl_min", "chosen at LogEI rank 1 after lying min about 2 points"),
        ("cl_max", "chosen at LogEI rank 1 after lying max about 2 points"),
        ("cl_mean", "chosen at LogEI rank 1 after lying mean about 2 points"),
        ("fantasy", "chosen at LogEI rank 1 after fantasizing about 2 points"),
        ("random", "uniform draw"),
    ],
)
def test_provenance_names_the_acquisition_and_the_lies(strategy: str, text: str) -> None:
    batch = started(SPACES["cube"]).ask(3, strategy=strategy)
    assert batch[2].provenance.startswith(text)
    if strategy != "random":
        assert batch[0].provenance.startswith("chosen at LogEI rank 1")
        assert batch[1].provenance.startswith(text.replace("2 points", "1 point"))


@pytest.mark.parametrize("acquisition", [EI(), PI(), UCB()], ids=repr)
def test_other_acquisitions_work_and_are_named(acquisition: EI | PI | UCB) -> None:
    optimizer = started(SPACES["mixed"], acquisition=acquisition)
    batch = optimizer.ask(2)
    assert batch[0].provenance.startswith(f"chosen at {type(acquisition).__name__}")
    assert_distinct(optimizer.trials)


def test_provenance_says_when_a_better_point_was_passed_over() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 6)}), n_init=2, acquisition=UCB(0.0))
    for n in range(0, 7, 2):
        optimizer.observe({"n": n}, -1.0 if n == 2 else 1.0)
    batch = optimizer.ask(2)
    assert "rank 2; rank 1 was handed out already" in batch[0].provenance
    assert "handed out" not in optimizer.ask(1, distinct=False)[0].provenance


def test_provenance_says_when_a_design_point_was_replaced() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 1)}), n_init=4)
    taken = optimizer.ask(1)[0]
    other = optimizer.ask(1)[0]
    assert {taken.params["n"], other.params["n"]} == {0, 1}
    narrow = Optimizer(Space({"x": Float(0.0, 1.0)}, lambda params: params["x"] > 0.75), n_init=4)
    replaced = [trial for trial in narrow.ask(4) if "; replaced by a uniform draw" in trial.provenance]
    assert len(replaced) == 3


# The other way up


@any_strategy
@pytest.mark.parametrize("space", [SPACES["cube"], SPACES["mixed"]], ids=["cube", "mixed"])
def test_maximizing_is_minimizing_the_negated_function_bit_for_bit(space: Space, strategy: str) -> None:
    down = started(space, strategy=strategy)
    up = started(space, strategy=strategy, sign=-1.0, maximize=True)
    for _ in range(2):
        below_, above = down.ask(3), up.ask(3)
        assert below_.unit.tobytes() == above.unit.tobytes()
        assert below_.verdict == above.verdict
        down.tell(below_[0], error="failed")
        up.tell(above[0], error="failed")
        tell_all(down, below_[1:])
        tell_all(up, above[1:], -1.0)
    points = [trial.params for trial in down.ask(2)]
    ours, theirs = down.predict(points), up.predict(points)
    assert (ours.mean == -theirs.mean).all()
    assert (ours.std == theirs.std).all()
    assert down.best is not None
    assert up.best == (down.best[0], -down.best[1])


@pytest.mark.parametrize(("of", "expected"), [("min", 9.0), ("max", -7.0), ("mean", 1.0), (4.5, 4.5)])
def test_a_lie_is_stated_for_minimization_and_a_number_in_the_users_units(
    of: str | float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "min" is the best value that the user saw, here the largest."""
    lies: list[float] = []
    condition = GPModel.condition

    def spy(self: GPModel, X: Array, y: Array) -> GPModel:
        lies.extend(y.tolist())
        return condition(self, X, y)

    optimizer = Optimizer(SPACES["cube"], n_init=3, maximize=True, strategy=PseudoObservations(ConstantLie(of)))
    optimizer.tell_many(optimizer.ask(3), [9.0, 1.0, -7.0])
    monkeypatch.setattr(GPModel, "condition", spy)
    optimizer.ask(1)
    assert lies == [-expected]


# Prediction


def test_predictions_are_in_the_users_units_and_interpolate() -> None:
    for sign in (1.0, -1.0):
        optimizer = Optimizer(SPACES["mixed"], n_init=6, maximize=sign < 0)
        batch = optimizer.ask(6)
        values = [sign * (1000.0 + 50.0 * value_of(trial)) for trial in batch]
        optimizer.tell_many(batch, values)
        at = optimizer.predict(batch.params)
        assert at.mean == pytest.approx(np.array(values), abs=0.05 * np.ptp(values))
        assert (at.std >= 0.0).all()
        assert optimizer.predict([]).mean.shape == (0,)


def test_prediction_needs_a_result() -> None:
    optimizer = Optimizer(SPACES["cube"])
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    with pytest.raises(InvalidInput, match="at least one result"):
        optimizer.predict([{"x0": 0.5, "x1": 0.5}])


# Members


@dataclass(frozen=True)
class Plain:
    """A surrogate that can only predict: the nearest neighbor, and the distance to it."""

    def fit(self, X: Array, y: Array, rng: np.random.Generator, previous: object = None) -> PlainModel:
        return PlainModel(X, y)


@dataclass(frozen=True, eq=False)
class PlainModel:
    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        distance = np.abs(X[:, None, :] - self.X[None, :, :]).sum(axis=2)
        return Prediction(self.y[distance.argmin(axis=1)], distance.min(axis=1) + 1e-9)


@any_space
def test_a_surrogate_that_only_predicts_is_refitted_to_the_lies(space: Space) -> None:
    optimizer = started(space, surrogate=Plain())
    tell_all(optimizer, optimizer.ask(3))
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    batch = optimizer.ask(2)
    assert {trial.origin for trial in batch} == {"model"}
    assert optimizer.hyperparameters is None
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_what_a_surrogate_cannot_do_is_named_and_nothing_is_recorded() -> None:
    optimizer = started(SPACES["cube"], surrogate=Plain())
    before = optimizer.records()
    with pytest.raises(MissingCapability, match=r'PlainModel cannot be conditioned; use update="refit"'):
        optimizer.ask(2, strategy=PseudoObservations(update="condition"))
    assert optimizer.records() == before


@pytest.mark.parametrize(
    "strategy",
    [
        PseudoObservations(Believe(2.0), "refit"),
        PseudoObservations(ConstantLie(0.5), "none", "data"),
        PseudoObservations(Fantasy(), incumbent="data"),
        RandomBatch(),
    ],
    ids=repr,
)
def test_a_strategy_may_be_a_value_for_the_study_or_for_one_ask(strategy: Any) -> None:
    optimizer = started(SPACES["mixed"])
    own = started(SPACES["mixed"], strategy=strategy)
    assert optimizer.ask(2, strategy=strategy).params == own.ask(2).params
    assert_distinct(optimizer.trials)


def test_a_noisy_surrogate_and_another_maximizer_work() -> None:
    for options in ({"surrogate": GP("se", noise="infer")}, {"surrogate": GP(fit="paper"), "maximizer": Candidates()}):
        optimizer = started(SPACES["mixed"], **options)
        tell_all(optimizer, optimizer.ask(2))
        optimizer.ask(2)
        assert_distinct(optimizer.trials)


def test_a_maximizer_that_repeats_itself_still_gives_distinct_points_and_provenance_says_so() -> None:
    optimizer = Optimizer(SPACES["line"], n_init=1, maximizer=FixedStarts(), acquisition=UCB(0.0))
    for x, y in ((-3.0, 1.0), (-1.0, -1.0), (2.0, 1.0), (7.0, 1.0)):
        optimizer.observe({"x": x}, y)
    stubborn = PseudoObservations(update="none")
    first, second = optimizer.ask(2, strategy=stubborn)
    assert first.provenance == "chosen at UCB rank 1"
    assert "replaced by a uniform draw, because it was not allowed or not new" in second.provenance
    assert_distinct(optimizer.trials)
    again = optimizer.ask(2, strategy=stubborn, distinct=False)
    assert {tuple(trial.unit) for trial in again} == {tuple(first.unit)}
    assert "replaced" not in str(again)


def test_hyperparameters_are_those_of_the_last_ask() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=3)
    tell_all(optimizer, optimizer.ask(3))
    assert optimizer.hyperparameters is None
    optimizer.ask(1)
    found = optimizer.hyperparameters
    assert found is not None
    assert found["kernel"] == "matern52"
    assert len(found["lengthscales"]) == 2
    found.clear()
    assert optimizer.hyperparameters


# Extreme inputs


def mixed_magnitudes(trial: Trial) -> float:
    return float(10.0 ** (24.0 * trial.unit[0] - 12.0))


EXTREME: dict[str, Callable[[Trial], float]] = {
    "1e12": lambda trial: 1e12 * value_of(trial),
    "1e-12": lambda trial: 1e-12 * value_of(trial),
    "1e-12 on 1e12": lambda trial: 1e12 + 1e-12 * value_of(trial),
    "1 on 1e12": lambda trial: 1e12 + value_of(trial),
    "1e-12 to 1e12": mixed_magnitudes,
    "1e12 and one 1e-12": lambda trial: 1e-12 if trial.id == 0 else 1e12,
    "zero": lambda trial: 0.0,
    "constant": lambda trial: -7.25,
    "constant 1e12": lambda trial: 1e12,
    "constant 1e-12": lambda trial: -1e-12,
    "1e100": lambda trial: 1e100 * value_of(trial),
    "1e-100": lambda trial: 1e-100 * value_of(trial),
    "the largest value as a penalty": lambda trial: 1e100 if trial.id == 1 else value_of(trial),
    "plus and minus the largest value": lambda trial: 1e100 * (-1.0) ** (trial.id == 1),
    "the smallest floats": lambda trial: 5e-324 * trial.id,
}


@pytest.mark.parametrize("strategy", ["kb", "cl_min", "fantasy"])
@pytest.mark.parametrize("f", EXTREME.values(), ids=EXTREME)
def test_any_finite_values_give_finite_predictions_and_new_points(f: Callable[[Trial], float], strategy: str) -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=5, strategy=strategy)
    for q in (5, 3):
        for trial in optimizer.ask(q):
            optimizer.tell(trial, f(trial))
    batch = optimizer.ask(3)
    assert_lawful(SPACES["cube"], batch)
    assert_distinct(optimizer.trials)
    at = optimizer.predict(batch.params)
    assert np.isfinite(at.mean).all()
    assert np.isfinite(at.std).all()
    assert math.isfinite(batch.verdict.effective_size or 0.0)


def test_observations_a_trillionth_apart_are_survived() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=4)
    for i in range(12):
        optimizer.observe({"x0": 0.5 + i * 1e-12, "x1": 0.5 - i * 1e-12}, 1.0 + (i % 2))
    optimizer.observe({"x0": 0.1, "x1": 0.2}, 0.5)
    optimizer.observe({"x0": 0.1, "x1": 0.2}, 0.7)
    batch = optimizer.ask(4)
    assert_distinct([*batch, optimizer.trials[0], optimizer.trials[-1]][:5])
    at = optimizer.predict([{"x0": 0.5, "x1": 0.5}])
    assert 0.9 < at.mean[0] < 2.1


def test_one_parameter_of_one_value_is_a_space() -> None:
    optimizer = Optimizer(Space({"n": Int(3, 3)}))
    optimizer.tell(optimizer.ask(1)[0], 1.0)
    assert optimizer.best == ({"n": 3}, 1.0)
    assert len(optimizer.ask(2, distinct=False)) == 2
    with pytest.raises(SpaceExhausted):
        optimizer.ask(1)


def test_fifty_dimensions_work() -> None:
    optimizer = started(Space.unit(50), n_init=6)
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(2)
    assert_lawful(optimizer.space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_a_hundred_points_at_once_are_distinct_and_need_one_fit() -> None:
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], n_init=10, surrogate=surrogate)
    start = time.process_time()
    batch = optimizer.ask(100)
    assert time.process_time() - start < 60.0  # of processor time: about 3 s, so that only another order is an error
    assert len(surrogate.fits) == 1
    assert len(batch) == 100
    assert_distinct(optimizer.trials)


def test_five_hundred_results_work() -> None:
    optimizer = Optimizer(Space.unit(3), n_init=10)
    rng = np.random.default_rng(0)
    for point in rng.random((500, 3)):
        optimizer.observe(dict(zip(("x0", "x1", "x2"), point.tolist(), strict=True)), float(((point - 0.4) ** 2).sum()))
    batch = optimizer.ask(2)
    assert_distinct(batch)
    assert optimizer.best is not None
    at = optimizer.predict([optimizer.best[0]])
    assert at.mean[0] == pytest.approx(optimizer.best[1], abs=0.01)


def test_a_thousand_observations_cost_no_fit_and_little_time() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(SPACES["mixed"], surrogate=surrogate)
    points = optimizer.space.decode(np.random.default_rng(0).random((1000, optimizer.space.dim)))
    start = time.process_time()
    for i, point in enumerate(points):
        optimizer.observe(point, float(i))
    assert time.process_time() - start < 10.0  # about 0.2 s: nothing in it may be quadratic
    assert surrogate.fits == []
    assert optimizer.tally.done == 1000


# Wrong input


NEW = {"lr": 0.5, "depth": 1, "kernel": "rbf"}
WRONG: dict[str, tuple[Callable[[Optimizer], object], type[BelieverError], str]] = {
    "ask 0": (lambda o: o.ask(0), InvalidInput, "q must be a whole number, 1 or more; got 0"),
    "ask -1": (lambda o: o.ask(-1), InvalidInput, "q must be"),
    "ask 2.0": (lambda o: o.ask(2.0), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "ask True": (lambda o: o.ask(True), InvalidInput, "q must be"),
    "ask '2'": (lambda o: o.ask("2"), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "ask None": (lambda o: o.ask(None), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "strategy": (lambda o: o.ask(1, strategy="kbb"), InvalidInput, "one of cl_min, .* got 'kbb'"),
    "strategy list": (lambda o: o.ask(1, strategy=["kb"]), InvalidInput, "choose"),  # type: ignore[arg-type]
    "strategy class": (lambda o: o.ask(1, strategy=PseudoObservations), InvalidInput, "strategy"),  # type: ignore[arg-type]
    "fixed name": (lambda o: o.ask(1, fixed={"dept": 1}), InvalidInput, "got 'dept'"),
    "fixed value": (lambda o: o.ask(1, fixed={"depth": 9}), InvalidInput, r"\[1, 8\]; got 9 for 'depth'"),
    "fixed choice": (lambda o: o.ask(1, fixed={"kernel": "RBF"}), InvalidInput, "got 'RBF' for 'kernel'"),
    "fixed text": (lambda o: o.ask(1, fixed="depth"), InvalidInput, "mapping"),  # type: ignore[arg-type]
    "distinct": (lambda o: o.ask(1, distinct="no"), InvalidInput, "distinct"),  # type: ignore[arg-type]
    "tell unknown": (lambda o: o.tell(99, 1.0), TrialError, "no trial 99; ids run from 0 to 6"),
    "tell negative": (lambda o: o.tell(-1, 1.0), TrialError, "no trial -1"),
    "tell told": (lambda o: o.tell(0, 1.0), TrialError, "trial 0 already has its result .done.; a result is told once"),
    "tell failed": (lambda o: o.tell(4, 1.0), TrialError, "trial 4 already has its result .failed."),
    "fail told": (lambda o: o.tell(0, error="no"), TrialError, "trial 0 already"),
    "tell text id": (lambda o: o.tell("5", 1.0), TrialError, "a whole number; got '5'"),  # type: ignore[arg-type]
    "tell float id": (lambda o: o.tell(5.0, 1.0), TrialError, "got 5.0"),  # type: ignore[arg-type]
    "tell bool id": (lambda o: o.tell(True, 1.0), TrialError, "got True"),
    "tell params": (lambda o: o.tell(NEW, 1.0), TrialError, "by its id"),  # type: ignore[arg-type]
    "tell nothing": (lambda o: o.tell(5), InvalidInput, "needs a value, or error="),
    "tell None": (lambda o: o.tell(5, None), InvalidInput, "needs a value"),
    "tell text": (lambda o: o.tell(5, "1.0"), InvalidInput, "must be a number; got '1.0'"),  # type: ignore[arg-type]
    "tell bool": (lambda o: o.tell(5, True), InvalidInput, "must be a number; got True"),
    "tell list": (lambda o: o.tell(5, [1.0]), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell array": (lambda o: o.tell(5, np.ones(2)), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell array of one": (lambda o: o.tell(5, np.ones(1)), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell complex": (lambda o: o.tell(5, 1j), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell numpy complex": (lambda o: o.tell(5, np.complex128(1 + 2j)), InvalidInput, "a number"),  # type: ignore[arg-type]
    "tell too much": (lambda o: o.tell(5, 1e101), InvalidInput, "within .1e.100; got 1e.101"),
    "tell a huge integer": (lambda o: o.tell(5, 10**400), InvalidInput, "within .1e.100"),
    "tell_many too much": (lambda o: o.tell_many([5, 6], [1.0, -1e101]), InvalidInput, "within"),
    "observe too much": (lambda o: o.observe(NEW, sys.float_info.max), InvalidInput, "within"),
    "tell both": (lambda o: o.tell(5, 1.0, error="no"), InvalidInput, "a value or an error, not both"),
    "tell_many lengths": (lambda o: o.tell_many([5], [1.0, 2.0]), InvalidInput, "got 1 and 2"),
    "tell_many twice": (lambda o: o.tell_many([5, 5], [1.0, 2.0]), TrialError, "told once"),
    "tell_many half": (lambda o: o.tell_many([5, 0], [1.0, 2.0]), TrialError, "trial 0 already"),
    "tell_many text": (lambda o: o.tell_many([5, 6], [1.0, "2"]), InvalidInput, "a number"),  # type: ignore[list-item]
    "tell_many numbers": (lambda o: o.tell_many(5, 1.0), InvalidInput, "."),  # type: ignore[arg-type]
    "observe missing": (lambda o: o.observe({"lr": 0.5}, 1.0), InvalidInput, "missing: depth, kernel"),
    "observe more": (lambda o: o.observe({**NEW, "x": 1}, 1.0), InvalidInput, "got 'x'"),
    "observe outside": (lambda o: o.observe({**NEW, "lr": 2.0}, 1.0), InvalidInput, r"got 2.0 for 'lr'"),
    "observe nan": (lambda o: o.observe({**NEW, "lr": math.nan}, 1.0), InvalidInput, "got nan for 'lr'"),
    "observe fraction": (lambda o: o.observe({**NEW, "depth": 1.5}, 1.0), InvalidInput, "got 1.5 for 'depth'"),
    "observe list": (lambda o: o.observe([NEW], 1.0), InvalidInput, "mapping"),  # type: ignore[arg-type]
    "observe nothing": (lambda o: o.observe(NEW), InvalidInput, "needs a value"),
    "observe text": (lambda o: o.observe(NEW, "low"), InvalidInput, "a number; got 'low'"),  # type: ignore[arg-type]
    "enqueue missing": (lambda o: o.enqueue({}), InvalidInput, "missing: lr, depth, kernel"),
    "enqueue outside": (lambda o: o.enqueue({**NEW, "depth": 0}), InvalidInput, "got 0 for 'depth'"),
    "enqueue None": (lambda o: o.enqueue(None), InvalidInput, "mapping"),  # type: ignore[arg-type]
    "enqueue forbidden": (lambda o: o.enqueue({**NEW, "depth": 8}), InvalidInput, "constraint does not allow"),
    "abandon unknown": (lambda o: o.abandon(7), TrialError, "no trial 7"),
    "abandon done": (lambda o: o.abandon(1), TrialError, "nothing to abandon"),
    "abandon text": (lambda o: o.abandon("5"), TrialError, "got '5'"),  # type: ignore[arg-type]
    "predict a dict": (lambda o: o.predict(NEW), InvalidInput, "needs a list of params"),  # type: ignore[arg-type]
    "predict missing": (lambda o: o.predict([{"lr": 0.5}]), InvalidInput, "missing"),
    "predict outside": (lambda o: o.predict([{**NEW, "lr": 9.0}]), InvalidInput, "got 9.0"),
    "predict a number": (lambda o: o.predict(3), InvalidInput, "."),  # type: ignore[arg-type]
    "exhausted": (lambda o: o.ask(2, fixed=NEW), SpaceExhausted, r"2 new point\(s\) asked for.* 1 left"),
}


def with_history() -> Optimizer:
    """Five results, one of them a failure, and two pending trials: 5 and 6."""
    mixed = SPACES["mixed"]
    space = Space(mixed.parameters, lambda params: params["depth"] < 8)
    optimizer = started(space)
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    optimizer.ask(2)
    return optimizer


def state(optimizer: Optimizer) -> Any:
    return optimizer.records(), optimizer.queued, optimizer.tally, optimizer.best, optimizer.hyperparameters


@pytest.fixture(scope="module")
def untouched() -> tuple[Any, list[dict[str, Any]]]:
    optimizer = with_history()
    before = state(optimizer)
    return before, optimizer.ask(1).params


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_clear_error_and_changes_nothing(
    name: str, untouched: tuple[Any, list[dict[str, Any]]]
) -> None:
    call, kind, text = WRONG[name]
    optimizer = with_history()
    with pytest.raises(kind, match=text):
        call(optimizer)
    assert (state(optimizer), optimizer.ask(1).params) == untouched


WRONG_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "space dict": ({"space": {"x": Float(0.0, 1.0)}}, r"space must be a believer\.Space; got dict"),
    "surrogate class": ({"surrogate": GP}, r"surrogate must be an object with a method fit"),
    "surrogate text": ({"surrogate": "gp"}, "surrogate must be an object"),
    "acquisition class": ({"acquisition": EI}, r"acquisition must be an object with a method pointwise"),
    "acquisition text": ({"acquisition": "EI"}, "acquisition must be an object"),
    "strategy": ({"strategy": "bogus"}, "strategy must be one of cl_min, .*; got 'bogus'"),
    "strategy None": ({"strategy": None}, "strategy"),
    "strategy class": ({"strategy": RandomBatch}, "strategy"),
    "maximizer": ({"maximizer": 3}, "maximizer must be an object with a method maximize"),
    "n_init 0": ({"n_init": 0}, "n_init must be a whole number, 1 or more; got 0"),
    "n_init 2.5": ({"n_init": 2.5}, "n_init must be"),
    "seed -1": ({"seed": -1}, "seed must be a whole number, 0 or more; got -1"),
    "seed text": ({"seed": "x"}, "seed must be"),
    "maximize text": ({"maximize": "yes"}, "maximize must be True or False"),
}


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_a_wrong_setting_is_refused_and_leaves_no_journal(name: str, tmp_path: Path) -> None:
    settings, text = WRONG_SETTINGS[name]
    with pytest.raises(InvalidInput, match=text):
        Optimizer(**{"space": SPACES["cube"], "journal": tmp_path / "study.jsonl", **settings})
    assert list(tmp_path.iterdir()) == []


def test_numpy_scalars_and_flags_are_as_good_as_pythons_own(tmp_path: Path) -> None:
    plain = started(SPACES["mixed"], seed=3)
    typed = started(
        SPACES["mixed"],
        n_init=np.int64(4),  # type: ignore[arg-type]
        seed=np.int64(3),
        maximize=np.bool_(False),
        journal=tmp_path / "study.jsonl",
    )
    fixed = {"depth": np.int64(2)}
    ours = plain.ask(np.int64(2), fixed=fixed, distinct=np.bool_(True))  # type: ignore[arg-type]
    theirs = typed.ask(np.int64(2), fixed=fixed, distinct=np.bool_(True))  # type: ignore[arg-type]
    assert ours.params == theirs.params
    plain.save(tmp_path / "copy.jsonl")
    typed.close()


# The history as a table


def test_records_have_one_row_a_trial_with_every_parameter() -> None:
    optimizer = with_history()
    optimizer.observe(NEW, 2.5)
    optimizer.abandon(5)
    rows = optimizer.records()
    assert [row["trial_id"] for row in rows] == list(range(8))
    assert [row["status"] for row in rows] == ["done"] * 4 + ["failed", "abandoned", "pending", "done"]
    assert [row["origin"] for row in rows] == ["design"] * 4 + ["model"] * 3 + ["observed"]
    for row, trial in zip(rows, optimizer.trials, strict=True):
        assert list(row) == ["trial_id", "status", "value", "lr", "depth", "kernel", "origin", "provenance", "error"]
        assert {name: row[name] for name in trial.params} == trial.params
        assert (row["value"] is None) == (row["status"] != "done")
        assert row["provenance"] == trial.provenance
    assert rows[4]["error"] == "failed"
    assert rows[7]["value"] == 2.5


def test_a_parameter_with_the_name_of_a_column_is_prefixed() -> None:
    optimizer = Optimizer(Space({"value": Float(0.0, 1.0), "status": Int(0, 3)}))
    optimizer.observe({"value": 0.5, "status": 2}, 7.0)
    row = optimizer.records()[0]
    assert (row["value"], row["status"], row["param.value"], row["param.status"]) == (7.0, "done", 0.5, 2)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_csv_is_the_records_with_numbers_that_read_back(tmp_path: Path) -> None:
    optimizer = with_history()
    optimizer.observe(NEW, error='commas, "quotes"\nand lines: σ')
    path = tmp_path / "history.csv"
    optimizer.to_csv(path)
    rows, records = read_csv(path), optimizer.records()
    assert list(rows[0]) == list(records[0])
    for row, record in zip(rows, records, strict=True):
        assert float(row["lr"]) == record["lr"]
        assert row["value"] == ("" if record["value"] is None else repr(record["value"]))
        assert row["error"] == (record["error"] or "")


def test_csv_takes_any_text_of_an_error(tmp_path: Path) -> None:
    """A file name that is not UTF-8 reaches the text of an exception as a lone surrogate."""
    optimizer = Optimizer(SPACES["cube"])
    optimizer.observe({"x0": 0.5, "x1": 0.5}, error="no such file: \udcff")
    optimizer.to_csv(tmp_path / "history.csv")
    assert read_csv(tmp_path / "history.csv")[0]["error"].startswith("no such file: ")


def test_the_csv_of_a_study_without_trials_has_the_same_header(tmp_path: Path) -> None:
    optimizer = Optimizer(Space({"value": Float(0.0, 1.0), "x": Float(0.0, 1.0)}))
    headers = []
    for name in ("empty.csv", "full.csv"):
        optimizer.to_csv(tmp_path / name)
        headers.append((tmp_path / name).read_text(encoding="utf-8").splitlines()[0])
        optimizer.ask(1)
    assert headers[0] == headers[1]


# Seeds, journals and closing


def test_seeds_decide_and_none_draws_one() -> None:
    same = [Optimizer(SPACES["mixed"], seed=9).ask(3).params for _ in range(2)]
    assert same[0] == same[1]
    assert Optimizer(SPACES["mixed"], seed=10).ask(3).params != same[0]
    drawn = [Optimizer(SPACES["mixed"], seed=None) for _ in range(2)]
    assert drawn[0].setup.seed != drawn[1].setup.seed
    again = Optimizer(SPACES["mixed"], seed=drawn[0].setup.seed)
    assert again.ask(3).params == drawn[0].ask(3).params


def test_a_closed_optimizer_can_be_read_and_not_changed(tmp_path: Path) -> None:
    with started(SPACES["cube"], journal=tmp_path / "study.jsonl") as optimizer:
        optimizer.ask(1)
    before = state(optimizer)
    calls: list[Callable[[], object]] = [
        lambda: optimizer.ask(1),
        lambda: optimizer.tell(4, 1.0),
        lambda: optimizer.observe({"x0": 0.5, "x1": 0.5}, 1.0),
        lambda: optimizer.enqueue({"x0": 0.5, "x1": 0.5}),
        lambda: optimizer.abandon(4),
    ]
    for call in calls:
        with pytest.raises(JournalError, match="was closed"):
            call()
    assert state(optimizer) == before
    assert optimizer.predict([{"x0": 0.5, "x1": 0.5}]).mean.shape == (1,)
    optimizer.close()


def test_a_path_that_holds_a_study_is_not_overwritten_by_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    started(SPACES["cube"], journal=path).close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"Optimizer\.load"):
        Optimizer(SPACES["cube"], journal=path)
    assert path.read_bytes() == before


def test_saving_a_study_to_its_own_journal_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with started(SPACES["cube"], journal=path) as optimizer:
        before = path.read_bytes()
        optimizer.save(path)
        assert path.read_bytes() == before
        optimizer.save(tmp_path / "copy.jsonl")
        assert (tmp_path / "copy.jsonl").read_bytes() == before
        optimizer.ask(1)
        assert path.read_bytes() != before


def test_an_ask_that_could_not_be_recorded_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next trial gets the id that the lost one had; nothing of the lost one may be believed about it."""
    point = {"x0": 0.9, "x1": 0.1}
    twin = started(SPACES["cube"])
    twin.enqueue(point)
    twin.ask(1)
    optimizer = started(SPACES["cube"], journal=tmp_path / "study.jsonl")

    def full(self: object, event: object) -> None:
        raise JournalError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("believer.journal.Journal.append", full)
        with pytest.raises(JournalError, match="the disk is full"):
            optimizer.ask(1)
    optimizer.enqueue(point)
    optimizer.ask(1)
    assert optimizer.ask(2).params == twin.ask(2).params
    assert state(optimizer) == state(twin)
    optimizer.close()


# What a strategy of the user's own may answer


@dataclass(frozen=True)
class Answers:
    """A strategy that answers what it is told to, whatever was asked."""

    answer: Any

    def choose(self, request: Any, memory: object = None) -> Any:
        return self.answer


def chosen(*points: Any, why: Any = "because") -> Chosen:
    return Chosen(tuple(Choice(np.asarray(x), why) for x in points))


@pytest.mark.parametrize(
    ("answer", "rule"),
    [
        (chosen([0.5, 0.5]), "2 points were asked for, and it chose 1"),
        (chosen(), "2 points were asked for, and it chose 0"),
        (chosen([0.1, 0.1], [0.2, 0.2], [0.3, 0.3]), "and it chose 3"),
        (chosen([0.1, 0.1], [0.2, 1.2]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2, np.nan]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2, 0.2], why=None), "provenance must be a text"),
        ([1, 2], "it returned list"),
        (Chosen(([0.1, 0.1],)), "it returned Chosen"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_breaks_the_contract_is_refused_and_nothing_is_handed_out(answer: Any, rule: str) -> None:
    optimizer = Optimizer(Space.unit(2), strategy=Answers(answer), n_init=2)
    for x in (0.25, 0.75):
        optimizer.observe({"x0": x, "x1": x}, x)
    with pytest.raises(InvalidInput, match=f"the strategy Answers breaks the contract: .*{rule}"):
        optimizer.ask(2)
    assert len(optimizer.trials) == 2
    assert len(optimizer.ask(2, strategy="kb")) == 2


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("qei", {"acquisition": UCB()}),
        ("qei", {"surrogate": MQRBF()}),
        ("lp", {"surrogate": MQRBF()}),
        ("gp_bucb", {"surrogate": NeuralEnsemble(members=2, hidden=(4,), max_iterations=5)}),
        ("thompson", {"surrogate": NeuralEnsemble(members=2, hidden=(4,), max_iterations=5)}),
    ],
)
def test_a_strategy_that_cannot_work_is_refused_before_anything_is_evaluated(strategy: str, options: Any) -> None:
    with pytest.raises(MissingCapability, match=strategy):
        Optimizer(Space.unit(2), strategy=strategy, **options)
    study = Optimizer(Space.unit(2), **options)
    assert len(study.ask(2)) == 2


def test_a_custom_surrogate_is_not_fitted_before_it_has_results() -> None:
    spy = SpySurrogate()
    Optimizer(Space.unit(2), strategy="lp", surrogate=spy)
    assert not spy.fits
