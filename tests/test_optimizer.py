"""What the optimizer promises: one test a promise, over every strategy and every kind of space."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from each import each
from optimizer_studies import (
    NAMES,
    SPACES,
    any_space,
    any_strategy,
    assert_distinct,
    assert_lawful,
    started,
    tell_all,
    value_of,
)

from believer import Batch, ConstantLie, Optimizer, PseudoObservations, Space
from believer.batch import STRATEGIES
from believer.errors import InvalidInput
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel

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
    assert first.encoded.shape == (3, space.dim)
    assert second.verdict.size == 2
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_these_laws_are_tried_on_the_lies_and_on_random_points() -> None:
    """The contract of strategies (contracts/) tries all of them."""
    lies = {name for name, strategy in STRATEGIES.items() if isinstance(strategy, PseudoObservations)}
    assert set(NAMES) == lies - {"fantasies"} | {"random"}


def test_a_batch_is_a_sequence_of_trials() -> None:
    batch = Optimizer(SPACES["mixed"], seed=0).ask(3)
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
        trial.encoded[0] = 0.5
    with pytest.raises(AttributeError):
        trial.id = 7  # type: ignore[misc]


def test_what_a_caller_does_to_the_params_of_a_trial_stays_with_the_caller() -> None:
    """``f(**params)`` often adds or converts entries first; the study must not learn parameters from that."""
    optimizer = Optimizer(SPACES["mixed"], seed=0)
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
    gaps = [float(np.linalg.norm(a.encoded - b.encoded)) for a, b in itertools.combinations(batch, 2)]
    assert batch.verdict.size == q
    assert batch.verdict.min_distance == (pytest.approx(min(gaps)) if gaps else None)
    assert batch.verdict.mean_distance == (pytest.approx(np.mean(gaps)) if gaps else None)


# The design


@any_space
def test_until_n_init_results_the_design_is_twice_the_number_of_parameters(space: Space) -> None:
    optimizer = Optimizer(space, seed=0)
    for _ in range(2 * len(space)):
        tell_all(optimizer, optimizer.ask(1))
    optimizer.ask(1)
    assert [trial.origin for trial in optimizer.trials] == ["design"] * (2 * len(space)) + ["model"]


@pytest.mark.parametrize("sizes", [[8], [1] * 8, [3, 3, 2]])
def test_the_design_is_a_latin_hypercube_however_it_is_asked_for(sizes: list[int]) -> None:
    optimizer = Optimizer(Space.cube(3), n_init=8, seed=5)
    for q in sizes:
        optimizer.ask(q)
    slices = np.floor(8 * np.array([trial.encoded for trial in optimizer.trials]))
    assert (np.sort(slices, axis=0) == np.arange(8.0)[:, None]).all()


def test_results_pending_trials_and_observations_all_count_towards_n_init() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=6, seed=0)
    optimizer.observe({"x0": 0.1, "x1": 0.9}, 1.0)
    optimizer.observe({"x0": 0.7, "x1": 0.2}, 2.0)
    tell_all(optimizer, optimizer.ask(1))
    optimizer.ask(2)
    assert [trial.origin for trial in optimizer.ask(3)] == ["design", "model", "model"]


def test_failed_and_abandoned_trials_do_not_count_towards_n_init() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=3, seed=0)
    batch = optimizer.ask(3)
    optimizer.tell(batch[0], 1.0)
    optimizer.tell(batch[1], error="crashed")
    optimizer.abandon(batch[2])
    assert [trial.origin for trial in optimizer.ask(3)] == ["design", "design", "model"]


@any_space
def test_with_failures_only_it_keeps_giving_new_design_points(space: Space) -> None:
    optimizer = Optimizer(space, n_init=3, seed=0)
    for _ in range(4):
        for trial in optimizer.ask(2):
            assert trial.origin == "design"
            optimizer.tell(trial, math.nan)
    assert optimizer.best is None
    assert_distinct(optimizer.trials)
    assert_lawful(space, optimizer.trials)


def test_without_any_result_a_large_batch_is_all_design() -> None:
    batch = Optimizer(SPACES["cube"], n_init=3, seed=0).ask(10)
    assert {trial.origin for trial in batch} == {"design"}
    assert_distinct(batch)


def test_one_result_and_n_init_one_are_enough_for_the_model() -> None:
    optimizer = Optimizer(SPACES["mixed"], n_init=1, seed=0)
    tell_all(optimizer, optimizer.ask(1))
    batch = optimizer.ask(3)
    assert {trial.origin for trial in batch} == {"model"}
    assert_distinct(optimizer.trials)


# The other way up


@any_strategy
@each("space", [SPACES["cube"], SPACES["mixed"]], ids=["cube", "mixed"])
def test_maximizing_is_minimizing_the_negated_function_bit_for_bit(space: Space, strategy: str) -> None:
    down = started(space, strategy=strategy)
    up = started(space, strategy=strategy, sign=-1.0, maximize=True)
    for _ in range(2):
        below_, above = down.ask(3), up.ask(3)
        assert below_.encoded.tobytes() == above.encoded.tobytes()
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

    def spy(self: GPModel, data: Data) -> GPModel:
        lies.extend(data.y.tolist())
        return condition(self, data)

    optimizer = Optimizer(SPACES["cube"], n_init=3, maximize=True, strategy=PseudoObservations(ConstantLie(of)), seed=0)
    optimizer.tell_many(optimizer.ask(3), [9.0, 1.0, -7.0])
    monkeypatch.setattr(GPModel, "condition", spy)
    optimizer.ask(1)
    assert lies == [-expected]


# Prediction


def test_predictions_are_in_the_users_units_and_interpolate() -> None:
    for sign in (1.0, -1.0):
        optimizer = Optimizer(SPACES["mixed"], n_init=6, maximize=sign < 0, seed=0)
        batch = optimizer.ask(6)
        values = [sign * (1000.0 + 50.0 * value_of(trial)) for trial in batch]
        optimizer.tell_many(batch, values)
        at = optimizer.predict(batch.params)
        assert at.mean == pytest.approx(np.array(values), abs=0.05 * np.ptp(values))
        assert (at.std >= 0.0).all()
        assert optimizer.predict([]).mean.shape == (0,)


def test_prediction_needs_a_result() -> None:
    optimizer = Optimizer(SPACES["cube"], seed=0)
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    with pytest.raises(InvalidInput, match="at least one result"):
        optimizer.predict([{"x0": 0.5, "x1": 0.5}])
