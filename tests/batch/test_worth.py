"""What a point is worth: the acquisition, times the chance that limits are kept; or less what lies beyond them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from batch_requests import data_for, declared, model_of, request_for
from scipy.stats import norm

from believer.acquisitions import EHVI, EI, PI, UCB, LogEI, PointwiseObjective
from believer.acquisitions.feasibility import Feasible, Limits
from believer.arrays import Array, frozen
from believer.batch import Believe, PseudoObservations, Request
from believer.batch.best_so_far import best_so_far
from believer.batch.worth import STEEP, BoundExcess, DrawnExcess, LimitPenalized, Worth, bounded, worth
from believer.errors import MissingCapability
from believer.surrogates.gp import standardization

X = np.random.default_rng(7).random((12, 2))
WITHIN = (Limits(high=5.5), Limits(low=5.5), Limits(5.2, 5.8))
any_limits = pytest.mark.parametrize("limits", WITHIN, ids=["high", "low", "both"])


def worth_of(request: Request) -> Worth:
    """Of a point for trial 20, by real results alone."""
    here = best_so_far(request)
    return worth(request, tuple(one.model for one in request.outputs), here, 20, incumbent=here.incumbent)


# Probabilities


@pytest.mark.parametrize("acquisition", [LogEI(), EI(), PI(), UCB()], ids=repr)
def test_one_objective_without_limits_is_worth_the_acquisition_itself(acquisition: Any) -> None:
    request = request_for(acquisition=acquisition)
    found = worth_of(request)
    plain = PointwiseObjective(acquisition, request.model, float(request.data.y.min()))
    np.testing.assert_array_equal(found.objective.value(X), plain.value(X))
    assert found.name == type(acquisition).__name__


@any_limits
@pytest.mark.parametrize("acquisition", [LogEI(), EI()], ids=repr)
def test_with_limits_it_is_the_improvement_times_the_chance_that_they_are_kept(
    acquisition: Any, limits: Limits
) -> None:
    request = declared(None, limits, acquisition=acquisition)
    first, other = (one.model.predict(X) for one in request.outputs)
    best = best_so_far(request).incumbent
    assert best is not None
    improvement = EI().pointwise(first.mean, first.std, best).value
    chance = norm.cdf(limits.high, other.mean, other.std) - norm.cdf(limits.low, other.mean, other.std)
    found = worth_of(request)
    np.testing.assert_allclose(np.exp(found.objective.value(X)), improvement * chance, atol=1e-12)
    assert found.name == f"{type(acquisition).__name__} times feasibility"


def test_while_nothing_is_feasible_probabilities_alone_are_climbed() -> None:
    found = worth_of(declared(None, Limits(high=-100.0)))
    assert isinstance(found.objective, Feasible)
    assert (found.objective.objective, found.name) == (None, "feasibility")


def test_several_objectives_are_worth_the_volume_that_they_add_up_to_the_reference() -> None:
    request = declared(None, None)
    here = best_so_far(request)
    inferred = worth_of(request).objective.value(X)
    given = worth_of(replace(request, reference=here.reference())).objective.value(X)
    np.testing.assert_array_equal(inferred, given)
    farther = worth_of(replace(request, reference=frozen(here.reference() + 1.0))).objective.value(X)
    assert (farther >= given).all()
    with_limit = declared(None, None, Limits(high=100.0))
    np.testing.assert_allclose(worth_of(with_limit).objective.value(X), inferred, atol=1e-9)
    assert worth_of(with_limit).name == "EHVI times feasibility"


def test_a_reference_is_as_good_as_far_wherever_it_is_beyond_that() -> None:
    far, farther = (
        worth_of(declared(None, None, reference=frozen(np.full(2, size)))).objective.value(X) for size in (1e60, 1e90)
    )
    assert np.isfinite(far).all()
    np.testing.assert_array_equal(far, farther)


@pytest.mark.parametrize("high", [-100.0, 100.0], ids=["nothing feasible", "all feasible"])
@pytest.mark.parametrize(("limits", "acquisition"), [((None,), EHVI()), ((None,), UCB()), ((None, None), LogEI())])
def test_an_acquisition_of_the_wrong_kind_is_refused(limits: Any, acquisition: Any, high: float) -> None:
    request = declared(*limits, Limits(high=high), acquisition=acquisition)
    with pytest.raises(MissingCapability, match=type(acquisition).__name__):
        PseudoObservations(Believe()).choose(request)


# Penalties


def slopes(value: object, at: Array, step: float = 1e-6) -> Array:
    columns = [
        (value(at + step * e) - value(at - step * e)) / (2.0 * step)  # type: ignore[operator]
        for e in np.eye(at.shape[1])
    ]
    return np.stack(columns, axis=1)


@any_limits
@pytest.mark.both_backends
def test_the_excess_of_a_bound_is_its_distance_from_the_limits_and_has_its_slope(limits: Limits) -> None:
    model = model_of(data_for())
    excess, at = BoundExcess(model, limits, 2.0, 0.7), model.predict(X)
    nearest = np.clip(at.mean, limits.low, limits.high)
    outside = at.mean != nearest
    np.testing.assert_allclose(
        excess.value(X)[outside], (np.abs(at.mean - nearest) - 0.7 * at.std)[outside] / 2.0, atol=1e-12
    )
    assert (excess.value(X)[~outside] <= 0.0).all()
    value, slope = excess.value_with_gradient(X)
    np.testing.assert_allclose(value, excess.value(X), atol=1e-12)
    np.testing.assert_allclose(slope, slopes(excess.value, X), atol=1e-5)


@any_limits
def test_the_excess_of_a_drawn_function_has_its_slope(limits: Limits) -> None:
    path = model_of(data_for()).paths(1, np.random.default_rng(0))
    excess = DrawnExcess(path, limits, 0.5)
    value, slope = excess.value_with_gradient(X)
    drawn = path.value(X)[0]
    np.testing.assert_array_equal(value <= 0.0, limits.holds(drawn))
    np.testing.assert_allclose(value, excess.value(X), atol=1e-12)
    np.testing.assert_allclose(slope, slopes(excess.value, X), atol=1e-4)


@any_limits
def test_where_limits_are_kept_nothing_changes_and_beyond_it_costs(limits: Limits) -> None:
    request = declared(None, limits)
    plain = PointwiseObjective(UCB(1.0), request.model, 0.0)
    held = bounded(request, plain, 0.5)
    assert isinstance(held, LimitPenalized)
    excess = held.excesses[0].value(X)
    unit = standardization(request.data.y)[1]
    np.testing.assert_array_equal(held.value(X)[excess <= 0.0], plain.value(X)[excess <= 0.0])
    np.testing.assert_allclose(plain.value(X) - held.value(X), STEEP * unit * np.maximum(excess, 0.0), atol=1e-9)
    value, slope = held.value_with_gradient(X)
    np.testing.assert_allclose(value, held.value(X), atol=1e-9)
    smooth = np.abs(excess) > 1e-3
    np.testing.assert_allclose(slope[smooth], slopes(held.value, X)[smooth], rtol=1e-3, atol=1e-2)


def test_an_objective_without_limits_is_itself() -> None:
    request = declared(None)
    plain = PointwiseObjective(UCB(1.0), request.model, 0.0)
    assert bounded(request, plain, 0.5) is plain
