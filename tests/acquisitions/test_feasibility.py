from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.acquisitions import LogEI, PointwiseObjective
from believer.acquisitions.feasibility import FAR, Feasible, Limits
from believer.acquisitions.hypervolume import log_ehvi_on
from believer.acquisitions.several import OnModels
from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.maximize import Objective
from believer.surrogates.gp import GPModel, posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction

LIMITS = [Limits(), Limits(low=-0.3), Limits(high=0.4), Limits(-0.3, 0.4), Limits(0.2, 0.2001), Limits(-80.0, 60.0)]
every_limit = pytest.mark.parametrize("within", LIMITS, ids=repr)


def at(within: Limits, mean: float, std: float) -> tuple[float, float, float]:
    """log P, ∂/∂μ, ∂/∂σ at one prediction."""
    found = within.pointwise(np.array([mean]), np.array([std]))
    return float(found.value[0]), float(found.by_mean[0]), float(found.by_std[0])


def by_many_digits(within: Limits, mean: float, std: float) -> tuple[Any, Any, Any]:
    """The same from differences of distributions and densities, with 80 digits and more of tails."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(80):
        a, b = ((mp.mpf(limit) - mp.mpf(mean)) / mp.mpf(std) for limit in (within.low, within.high))
        side = 1 if a + b < 0 else -1
        a, b = (a, b) if side == 1 else (-b, -a)
        share = (mp.erfc(-b / mp.sqrt(2)) - mp.erfc(-a / mp.sqrt(2))) / 2
        left, right = mp.npdf(a) / share, mp.npdf(b) / share
        ends = (a * left if mp.isfinite(a) else 0) - (b * right if mp.isfinite(b) else 0)
        return float(mp.log(share)), float(side * (left - right) / std), float(ends / std)


# Probabilities


@each("std", [1e-6, 1.0, 1e6])
@each("width", [1e-9, 1e-3, 0.3, 0.99, 1.01, 3.0, 50.0, 1e4])
@each("z", [0.0, 0.4, -0.9, 3.0, -12.0, 38.0, -1e3, 1e6])
def test_values_and_derivatives_are_those_of_many_digits(z: float, width: float, std: float) -> None:
    within, mean = Limits(-0.5 * width * std, 0.5 * width * std), z * std
    value, by_mean, by_std = at(within, mean, std)
    expected = by_many_digits(within, mean, std)
    assert value == pytest.approx(expected[0], rel=1e-12, abs=1e-70)
    assert by_mean == pytest.approx(expected[1], rel=1e-9, abs=1e-14 / std)
    assert by_std == pytest.approx(expected[2], rel=1e-9, abs=1e-9 / std)


@each("within", [Limits(low=0.3), Limits(high=0.3)], ids=repr)
@each("z", [0.0, 2.0, -3.0, 30.0, -30.0, 1e3, -1e3])
def test_one_limit_is_a_distribution_function(within: Limits, z: float) -> None:
    value, by_mean, by_std = at(within, 0.3 + 0.7 * z, 0.7)
    expected = by_many_digits(within, 0.3 + 0.7 * z, 0.7)
    assert value == pytest.approx(expected[0], rel=1e-12, abs=1e-70)
    assert by_mean == pytest.approx(expected[1], rel=1e-9, abs=1e-70)
    assert by_std == pytest.approx(expected[2], rel=1e-9, abs=1e-70)


@every_limit
@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_everything_is_a_number(within: Limits, mean: float, std: float) -> None:
    found = at(within, mean, std)
    assert np.isfinite(found).all()
    assert found[0] <= 0.0


@given(st.floats(-50.0, 50.0), st.floats(1e-3, 50.0), st.floats(1e-6, 30.0), st.floats(1.0, 100.0))
def test_wider_limits_are_never_less_likely(mean: float, std: float, half: float, factor: float) -> None:
    narrow, wide = (at(Limits(-h, h), mean, std)[0] for h in (half, factor * half))
    assert wide >= narrow - 1e-12 * abs(narrow)


@given(st.floats(-50.0, 50.0), st.floats(1e-3, 50.0), st.floats(-30.0, 30.0), st.floats(1e-6, 30.0))
def test_the_sign_of_an_output_does_not_matter(mean: float, std: float, low: float, width: float) -> None:
    value, by_mean, by_std = at(Limits(low, low + width), mean, std)
    mirrored = at(Limits(-low - width, -low), -mean, std)
    assert mirrored == pytest.approx((value, -by_mean, by_std), rel=1e-12, abs=1e-70)


@every_limit
def test_derivatives_are_central_differences(within: Limits) -> None:
    rng = np.random.default_rng(0)
    mean, std = rng.normal(0.0, 3.0, 40), np.exp(rng.uniform(-1.0, 1.0, 40))
    found = within.pointwise(mean, std)
    step = 1e-6
    by_mean, by_std = (
        (within.pointwise(mean + a, std + b).value - within.pointwise(mean - a, std - b).value) / (2.0 * step)
        for a, b in ((step, 0.0), (0.0, step))
    )
    np.testing.assert_allclose(found.by_mean, by_mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.by_std, by_std, rtol=1e-6, atol=1e-7)


def test_what_holds_includes_the_limits() -> None:
    values = np.array([[-1.0, 0.0], [0.5, 1.0]])
    assert Limits(0.0, 1.0).holds(values).tolist() == [[False, True], [True, True]]
    assert Limits().holds(values).all()


@pytest.mark.parametrize("bad", [(1.0, 1.0), (2.0, 1.0), (float("nan"), 1.0), (0.0, float("nan")), (np.inf, np.inf)])
def test_limits_are_in_order(bad: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="low < high"):
        Limits(*bad)
    with pytest.raises(InvalidInput, match="numbers"):
        Limits("low", 1.0)  # type: ignore[arg-type]


# On models


def model_of(seed: int) -> GPModel:
    X = np.random.default_rng(0).random((9, 2))
    hyper = Hyperparameters("matern52", frozen(np.array([0.3, 0.5])), signal=1.3, noise=1e-4)
    return posterior(hyper, X, np.sin((3.0 + seed) * X[:, 0]) + X.sum(axis=1), 0.5, 1.2)


def improvement() -> PointwiseObjective:
    return PointwiseObjective(LogEI(), model_of(0), 0.2)


def hypervolume_improvement() -> OnModels:
    return log_ehvi_on((model_of(0), model_of(1)), np.array([[0.4, 0.6], [0.6, 0.4]]), np.ones(2))


OBJECTIVES: list[Any] = [improvement, hypervolume_improvement, lambda: None]
POINTS = np.random.default_rng(3).random((12, 2))


@pytest.mark.both_backends
@pytest.mark.parametrize("make", OBJECTIVES, ids=["LogEI", "LogEHVI", "none"])
def test_gradients_on_models_are_central_differences(make: Any) -> None:
    objective = Feasible(make(), tuple((model_of(2 + j), within) for j, within in enumerate(LIMITS[:4])))
    assert objective.has_gradient
    value, gradient = objective.value_with_gradient(POINTS)
    np.testing.assert_allclose(value, objective.value(POINTS), rtol=1e-10)
    slopes, step = np.empty_like(POINTS), 1e-6
    for j, move in enumerate(step * np.eye(2)):
        slopes[:, j] = (objective.value(POINTS + move) - objective.value(POINTS - move)) / (2.0 * step)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("make", OBJECTIVES[:2], ids=["LogEI", "LogEHVI"])
def test_limits_that_surely_hold_change_nothing(make: Any) -> None:
    alone: Objective = make()
    for limits in ((), ((model_of(2), Limits(-1e9, 1e9)), (model_of(3), Limits()))):
        value, gradient = Feasible(alone, limits).value_with_gradient(POINTS)
        expected, slope = alone.value_with_gradient(POINTS)
        np.testing.assert_array_equal(value, expected)
        np.testing.assert_array_equal(gradient, slope)


def test_without_an_objective_it_is_the_probability_that_all_limits_hold() -> None:
    models, limits = (model_of(2), model_of(3)), (Limits(high=0.4), Limits(0.1, 0.9))
    value = Feasible(None, tuple(zip(models, limits, strict=True))).value(POINTS)
    rng = np.random.default_rng(0)
    hold = np.ones((len(POINTS), 200_000), dtype=bool)
    for model, within in zip(models, limits, strict=True):
        p = model.predict(POINTS)
        hold &= within.holds(p.mean[:, None] + p.std[:, None] * rng.standard_normal(hold.shape))
    np.testing.assert_allclose(np.exp(value), hold.mean(axis=1), atol=5.0 * 0.5 / np.sqrt(hold.shape[1]))


class Flat:
    """A model without gradients."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


def test_a_model_without_gradients_leaves_none() -> None:
    objective = Feasible(improvement(), ((Flat(), Limits(high=0.0)),))
    assert not objective.has_gradient
    np.testing.assert_allclose(objective.value(POINTS), improvement().value(POINTS) + np.log(0.5), rtol=1e-12)


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=8),
    st.floats(1e-200, 1e90),
    st.floats(1e-3, 1e100) | st.floats(-1e100, -1e-3),
)
@settings(max_examples=200)
def test_limits_brought_near_hold_for_the_same_results_and_lie_as_before_unless_they_are_far(
    values: list[int], scale: float, limit: float
) -> None:
    y = scale * np.array(values)
    shift, spread = standardization(y)
    for within in (Limits(high=limit), Limits(low=limit), Limits(0.5 * limit, limit) if limit > 0.0 else Limits()):
        near = within.near(shift, spread)
        assert (near.holds(y) == within.holds(y)).all()
        for one, other in ((near.low, within.low), (near.high, within.high)):
            assert one == other or abs(other - shift) >= 0.999 * FAR * spread
        found = near.pointwise(y, np.full(len(y), 1e-9 * spread))
        assert np.isfinite([found.value, found.by_mean, found.by_std]).all()
