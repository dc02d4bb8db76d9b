"""What the optimizer makes of results: those that come, those that fail, and those still to come."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from optimizer_studies import (
    SPACES,
    SpyAcquisition,
    SpyLie,
    SpySurrogate,
    assert_distinct,
    started,
    tell_all,
    units,
    value_of,
)

from believer import Categorical, Float, Int, Optimizer, PseudoObservations, Space, Trial
from believer.arrays import Array
from believer.errors import BelieverError, TrialError
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel

# Pending trials and the fit


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


@pytest.mark.parametrize("warp", ["none", "auto"])
def test_one_fit_serves_until_new_results_are_told(warp: str) -> None:
    """With warps, results are fitted as they are and through each warp that may fit them better."""
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], surrogate=surrogate, warp=warp)
    optimizer.ask(2)
    first = len(surrogate.fits)
    assert first == 1 if warp == "none" else first > 1
    batch = optimizer.ask(1)
    optimizer.predict([{"x0": 0.5, "x1": 0.5}])
    optimizer.abandon(batch[0])
    optimizer.ask(1)
    assert len(surrogate.fits) == first
    optimizer.tell(batch[0], 1.0)
    assert len(surrogate.fits) == first
    optimizer.ask(2)
    second = len(surrogate.fits)
    assert second == 2 if warp == "none" else second > first
    optimizer.ask(2)
    assert len(surrogate.fits) == second


def test_data_enter_the_fit_in_id_order() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(SPACES["cube"], surrogate=surrogate, n_init=5, seed=0)
    batch = optimizer.ask(5)
    tell_all(optimizer, [batch[i] for i in (3, 0, 4, 1, 2)])
    optimizer.ask(1)
    X, y = surrogate.fits[0]
    assert (batch.encoded == X).all()
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
    optimizer = Optimizer(SPACES["cube"], seed=0)
    trial = optimizer.ask(1)[0]
    fail(optimizer, trial)
    record = optimizer.records()[0]
    assert (record["status"], record["value"]) == ("failed", None)
    assert record["error"]
    assert (optimizer.pending, optimizer.best) == ((), None)
    with pytest.raises(TrialError, match="already has a result"):
        optimizer.tell(trial, 1.0)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["minimize", "maximize"])
def test_a_failure_is_conditioned_at_the_worst_real_value_and_never_in_the_fit(
    sign: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], surrogate=surrogate, sign=sign, maximize=sign < 0, warp="none")
    failed = optimizer.ask(2)
    optimizer.tell(failed[1], error="crashed")
    optimizer.tell(failed[0], math.nan)
    conditioned: list[tuple[Array, Array]] = []
    condition = GPModel.condition

    def spy(self: GPModel, data: Data) -> GPModel:
        conditioned.append((data.X, data.y))
        return condition(self, data)

    monkeypatch.setattr(GPModel, "condition", spy)
    optimizer.ask(1)
    assert len(surrogate.fits) == 1
    assert len(surrogate.fits[0][1]) == 4
    X, y = conditioned[0]
    worst = max(value_of(trial) for trial in optimizer.trials[:4])
    assert (failed.encoded == X).all()
    assert y.tolist() == [worst, worst]


def test_the_model_expects_the_worst_where_a_trial_failed() -> None:
    optimizer = started(SPACES["cube"])
    trial = optimizer.ask(1)[0]
    optimizer.tell(trial, error="crashed")
    expected = optimizer.predict([trial.params])
    worst = max(value_of(told) for told in optimizer.trials[:4])
    assert expected.mean[0] == pytest.approx(worst, abs=0.01)
    assert expected.std[0] < 0.01


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
    assert optimizer.counts.failed == 2
    optimizer.ask(2)


# Telling


def test_a_list_of_replicates_is_told_as_under_the_name_of_the_outcome() -> None:
    """To a study of a number as to one of a declared outcome, with the same suggestions afterwards."""
    named, plain = (Optimizer(Space.cube(2), seed=0, n_init=4) for _ in range(2))
    results: list[list[float]] = [[0.1, 0.3], [0.5], [0.2, float("nan"), 0.4], [float("nan")], [0.9, 0.7]]
    for opt, told in ((named, [{"value": each} for each in results]), (plain, results)):
        for trial, result in zip(opt.ask(5), told, strict=True):
            opt.tell(trial, result)  # type: ignore[arg-type]
    assert [row["value"] for row in plain.records()] == pytest.approx([0.2, 0.5, 0.3, None, 0.8])
    assert [row["status"] for row in plain.records()] == ["done", "done", "done", "failed", "done"]
    assert [t.params for t in plain.ask(2)] == [t.params for t in named.ask(2)]


def test_results_come_in_any_order_by_trial_or_by_id() -> None:
    optimizer = Optimizer(SPACES["cube"], seed=0)
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
    optimizer = Optimizer(SPACES["cube"], seed=0)
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
        optimizer = Optimizer(SPACES["cube"], maximize=maximize, seed=0)
        batch = optimizer.ask(3)
        optimizer.tell_many(reversed(batch), [1.0, 1.0, 1.0])
        assert optimizer.best == (batch[0].params, 1.0)


def test_an_abandoned_trial_is_not_pending_not_repeated_and_its_late_result_is_accepted() -> None:
    optimizer = started(SPACES["discrete"])
    trial = optimizer.ask(1)[0]
    optimizer.abandon(trial)
    optimizer.abandon(trial.id)
    assert optimizer.pending == ()
    assert optimizer.counts.abandoned == 1
    assert optimizer.records()[-1]["status"] == "abandoned"
    optimizer.ask(3)
    assert_distinct(optimizer.trials)
    optimizer.tell(trial, -100.0)
    assert optimizer.counts.abandoned == 0
    assert optimizer.best == (trial.params, -100.0)
    with pytest.raises(TrialError, match="abandon"):
        optimizer.abandon(trial)


def test_a_late_result_may_be_a_failure() -> None:
    optimizer = Optimizer(SPACES["cube"], seed=0)
    trial = optimizer.ask(1)[0]
    optimizer.abandon(trial)
    optimizer.tell(trial, error="killed after all")
    assert optimizer.records()[0]["status"] == "failed"


def test_what_is_observed_may_break_the_constraint_and_is_never_proposed_again() -> None:
    space = Space({"n": Int(0, 4)}, lambda params: params["n"] != 4)
    optimizer = Optimizer(space, n_init=2, seed=0)
    forbidden = optimizer.observe({"n": 4}, -5.0)
    known = optimizer.observe({"n": np.int64(2)}, 1.0)
    assert (forbidden.id, forbidden.provenance, known.params) == (0, "observed elsewhere", {"n": 2})
    assert optimizer.best == ({"n": 4}, -5.0)
    assert sorted(trial.params["n"] for trial in optimizer.ask(3)) == [0, 1, 3]


def test_a_failure_that_was_made_good_no_longer_counts_as_bad() -> None:
    optimizer = Optimizer(Space({"x": Float(0, 1)}), n_init=2, seed=0)
    for params in ({"x": 0.1}, {"x": 0.9}):
        optimizer.observe(params, params["x"])
    failed = optimizer.ask()[0]
    optimizer.tell(failed, error="the oven was off")
    assert optimizer.predict([failed.params]).mean[0] > 0.8
    optimizer.observe(failed.params, 0.2)
    assert optimizer.predict([failed.params]).mean[0] == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("failing", [1, 1.0, True])
def test_a_failure_is_made_good_by_no_other_choice_though_python_calls_them_equal(failing: int | float | bool) -> None:
    optimizer = Optimizer(Space({"max_features": Categorical([1, 1.0, True]), "x": Float(0, 1)}), n_init=2)
    optimizer.observe({"max_features": failing, "x": 0.5}, error="it fails")
    for choice in (1, 1.0, True):
        if type(choice) is not type(failing):
            optimizer.observe({"max_features": choice, "x": 0.5}, float(type(choice) is int))
    history = optimizer._ledger.history(optimizer.settings)
    assert len(history.failed) == 1
    optimizer.observe({"max_features": failing, "x": 0.5}, 3.0)
    assert not len(optimizer._ledger.history(optimizer.settings).failed)
