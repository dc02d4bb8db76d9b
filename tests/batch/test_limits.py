"""What lies beyond limits is penalized: by how much, with which slope, and nothing within them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from batch_requests import data_for, model_of, request_for

from believer.acquisitions import UCB, PointwiseObjective
from believer.acquisitions.feasibility import Within
from believer.arrays import Array
from believer.batch import Request
from believer.batch.limits import STEEP, BoundExcess, DrawnExcess, Held, beyond_limits, refuse_several, within_bounds
from believer.batch.request import Output
from believer.errors import MissingCapability
from believer.surrogates.gp import standardization

X = np.random.default_rng(7).random((12, 2))
WITHIN = (Within(high=5.5), Within(low=5.5), Within(5.2, 5.8))
any_limits = pytest.mark.parametrize("limits", WITHIN, ids=["high", "low", "both"])


def limited(*limits: Within | None) -> Request:
    """A request with an output for each of ``limits``, all of the same results; None for an objective."""
    request = request_for()
    ids = tuple(range(len(request.data)))
    outputs = tuple(Output(f"v{i}", one, 0.5, ids, request) for i, one in enumerate(limits))
    return replace(request, outputs=outputs)


def slopes(value: object, at: Array, step: float = 1e-6) -> Array:
    columns = [
        (value(at + step * e) - value(at - step * e)) / (2.0 * step)  # type: ignore[operator]
        for e in np.eye(at.shape[1])
    ]
    return np.stack(columns, axis=1)


@any_limits
@pytest.mark.both_backends
def test_the_excess_of_a_bound_is_its_distance_from_the_limits_and_has_its_slope(limits: Within) -> None:
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
def test_the_excess_of_a_drawn_function_has_its_slope(limits: Within) -> None:
    path = model_of(data_for()).paths(1, np.random.default_rng(0))
    excess = DrawnExcess(path, limits, 0.5)
    value, slope = excess.value_with_gradient(X)
    drawn = path.value(X)[0]
    np.testing.assert_array_equal(value <= 0.0, limits.holds(drawn))
    np.testing.assert_allclose(value, excess.value(X), atol=1e-12)
    np.testing.assert_allclose(slope, slopes(excess.value, X), atol=1e-4)


@any_limits
def test_where_limits_are_kept_nothing_changes_and_beyond_it_costs(limits: Within) -> None:
    request = limited(None, limits)
    plain = PointwiseObjective(UCB(1.0), request.model, 0.0)
    held = within_bounds(request, plain, 0.5)
    assert isinstance(held, Held)
    excess = held.excesses[0].value(X)
    unit = standardization(request.data.y)[1]
    np.testing.assert_array_equal(held.value(X)[excess <= 0.0], plain.value(X)[excess <= 0.0])
    np.testing.assert_allclose(plain.value(X) - held.value(X), STEEP * unit * np.maximum(excess, 0.0), atol=1e-9)
    value, slope = held.value_with_gradient(X)
    np.testing.assert_allclose(value, held.value(X), atol=1e-9)
    smooth = np.abs(excess) > 1e-3
    np.testing.assert_allclose(slope[smooth], slopes(held.value, X)[smooth], rtol=1e-3, atol=1e-2)


def test_an_objective_without_limits_is_itself() -> None:
    request = limited(None)
    plain = PointwiseObjective(UCB(1.0), request.model, 0.0)
    assert within_bounds(request, plain, 0.5) is plain
    np.testing.assert_array_equal(beyond_limits(request, X), 0.0)


def test_what_models_expect_beyond_limits_costs_and_what_they_expect_within_does_not() -> None:
    request = limited(None, Within(high=5.5), Within(low=5.0))
    mean = request.model.predict(X).mean
    cost = beyond_limits(request, X)
    np.testing.assert_array_equal(cost > 0.0, (mean > 5.5) | (mean < 5.0))


def test_several_objectives_are_refused_by_name() -> None:
    refuse_several(limited(None, Within(high=0.0)), "qei")
    refuse_several(request_for(), "qei")
    with pytest.raises(MissingCapability, match=r"qei chooses for one objective.*kb"):
        refuse_several(limited(None, None), "qei")
