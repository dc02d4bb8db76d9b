from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint, PointwiseObjective
from believer.arrays import Array, frozen
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Multistart, Search
from believer.space.box import Box
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import Prediction

pytestmark = pytest.mark.both_backends

MEMBERS: list[PerPoint] = [LogEI(), LogEI(0.3), EI(), EI(0.3), PI(), PI(0.3), UCB(), UCB(0.0), UCB(9.0)]
RISE_WITH_STD: list[PerPoint] = [LogEI(), EI(), UCB(), UCB(0.0)]
OF_IMPROVEMENT: list[type[Any]] = [LogEI, EI, PI]
every_member = pytest.mark.parametrize("member", MEMBERS, ids=repr)
every_improvement = pytest.mark.parametrize("kind", OF_IMPROVEMENT)
every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def at(member: PerPoint, mean: float, std: float, incumbent: float) -> tuple[float, float, float]:
    """α, ∂α/∂μ, ∂α/∂σ at one prediction."""
    found = member.pointwise(np.array([mean]), np.array([std]), incumbent)
    return float(found.value[0]), float(found.by_mean[0]), float(found.by_std[0])


def model_for(kernel: str, d: int, noise: float = 1e-4) -> GPModel:
    X = np.random.default_rng(0).random((3 * d + 4, d))
    hyper = Hyperparameters(kernel, frozen(np.linspace(0.3, 0.5, d) * np.sqrt(d)), signal=1.3, noise=noise)
    return posterior(hyper, X, 10.0 + 3.0 * np.sin(4.0 * X[:, 0]) + X.sum(axis=1), shift=11.0, scale=3.0)


# Values


@pytest.mark.parametrize("std", [1e-12, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("z", [-5.0, -1.0, 0.0, 0.7, 3.0, 40.0])
def test_values_are_those_of_the_formula_where_it_is_accurate(z: float, std: float) -> None:
    mean = -z * std
    direct = -mean * norm.cdf(z) + std * norm.pdf(z)
    assert at(EI(), mean, std, 0.0)[0] == pytest.approx(direct, rel=1e-9)
    assert at(LogEI(), mean, std, 0.0)[0] == pytest.approx(math.log(direct), rel=1e-9)
    assert at(PI(), mean, std, 0.0)[0] == pytest.approx(norm.cdf(z), rel=1e-12)
    assert at(UCB(4.0), mean, std, 123.0)[0] == pytest.approx(2.0 * std - mean, rel=1e-15)


@given(st.floats(-35.0, 1e6), st.floats(1e-12, 1e6))
def test_ei_is_the_exponential_of_log_ei(z: float, std: float) -> None:
    log_value = at(LogEI(), -z * std, std, 0.0)[0]
    assert at(EI(), -z * std, std, 0.0)[0] == pytest.approx(math.exp(log_value), rel=1e-11)


def test_values_far_from_the_incumbent_at_a_tiny_std() -> None:
    std = 1e-12
    # Surely better by 40 σ; and worse by 40 σ, where EI = σ e^-808 and Φ(-40) = 4e-350 are below the least double.
    assert at(EI(), -40.0 * std, std, 0.0) == pytest.approx((4e-11, -1.0, 0.0), rel=1e-14, abs=1e-300)
    assert at(EI(), 40.0 * std, std, 0.0) == (0.0, 0.0, 0.0)
    assert at(PI(), -40.0 * std, std, 0.0)[0] == 1.0
    assert at(PI(), 40.0 * std, std, 0.0) == (0.0, 0.0, 0.0)
    # mpmath 1.4.1: log h(-40) = -808.29856835661996, Φ/h = 40.049906657648518, φ/h = 1602.9962663059407.
    value, by_mean, by_std = at(LogEI(), 40.0 * std, std, 0.0)
    assert value == pytest.approx(math.log(std) - 808.29856835661996, rel=1e-14)
    assert by_mean == pytest.approx(-40.049906657648518 / std, rel=1e-11)
    assert by_std == pytest.approx(1602.9962663059407 / std, rel=1e-11)


@every_improvement
@pytest.mark.parametrize("xi", [-0.4, 0.0, 0.25])
def test_a_margin_lowers_the_incumbent(kind: type[Any], xi: float) -> None:
    for mean in (-1.0, 0.3, 2.0):
        assert at(kind(xi), mean, 0.5, 1.0) == pytest.approx(at(kind(), mean, 0.5, 1.0 - xi), rel=1e-14)


@every_member
@settings(max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(1e-12, 1e6))
def test_nothing_is_ever_nan(member: PerPoint, z: float, std: float) -> None:
    value, by_mean, by_std = at(member, -z * std, std, 0.0)
    assert np.isfinite([value, by_mean, by_std]).all()
    if isinstance(member, EI | PI):
        assert value >= 0.0
    assert by_mean <= 0.0


@every_member
def test_many_points_give_what_each_gives_alone(member: PerPoint) -> None:
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=30) * 20.0, np.exp(rng.uniform(-9.0, 2.0, 30))
    together = member.pointwise(mean, std, -1.0)
    for i in range(30):
        alone = at(member, float(mean[i]), float(std[i]), -1.0)
        assert (together.value[i], together.by_mean[i], together.by_std[i]) == pytest.approx(alone, rel=1e-14)


# Monotonicity


@pytest.mark.parametrize("member", RISE_WITH_STD, ids=repr)
@given(st.floats(-1e3, 1e3), st.floats(1e-9, 1e3), st.floats(1.0, 1e6))
def test_value_never_falls_with_std(member: PerPoint, gap: float, std: float, factor: float) -> None:
    low, _, slope = at(member, gap, std, 0.0)
    high = at(member, gap, std * factor, 0.0)[0]
    assert high >= low - 1e-14 * abs(low)
    assert slope >= 0.0


def test_probability_of_improvement_falls_with_std_where_the_mean_is_already_better() -> None:
    sure, unsure = (at(PI(), -1.0, std, 0.0) for std in (0.5, 1.0))
    assert sure[0] > unsure[0]
    assert sure[2] < 0.0
    assert at(PI(), 1.0, 0.5, 0.0)[0] < at(PI(), 1.0, 1.0, 0.0)[0]


@every_member
@settings(max_examples=40)
@given(st.floats(-50.0, 50.0), st.floats(1e-6, 1e3), st.floats(0.0, 1e3))
def test_value_never_rises_with_the_mean(member: PerPoint, mean: float, std: float, worse: float) -> None:
    low, high = (at(member, mean + more, std, 0.0)[0] for more in (worse, 0.0))
    assert low <= high + 1e-14 * abs(high)


# Gradients


@pytest.mark.parametrize("member", [LogEI(), EI(), PI(), UCB(), UCB(9.0)], ids=repr)
@pytest.mark.parametrize("std", [1e-12, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("z", [-1e4, -40.0, -30.0, -5.0, -1.0, 0.0, 2.0, 30.0])
def test_derivatives_by_mean_and_std_are_central_differences(member: PerPoint, z: float, std: float) -> None:
    mean = -z * std
    value, by_mean, by_std = at(member, mean, std, 0.0)
    step = 1e-4 * std / max(1.0, abs(z))
    numeric_mean = (at(member, mean + step, std, 0.0)[0] - at(member, mean - step, std, 0.0)[0]) / (2.0 * step)
    numeric_std = (at(member, mean, std + step, 0.0)[0] - at(member, mean, std - step, 0.0)[0]) / (2.0 * step)
    # Truncation is 1e-8 of the third derivative; rounding is that of the value over the step.
    tol = 16.0 * np.finfo(float).eps * max(abs(value), abs(mean) if isinstance(member, UCB) else 0.0) / step
    assert by_mean == pytest.approx(numeric_mean, rel=1e-6, abs=tol + 1e-12)
    assert by_std == pytest.approx(numeric_std, rel=1e-6, abs=tol + 1e-12)


@every_member
@every_kernel
@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("z", [-1e3, -40.0, -2.0, 1.0])
def test_gradients_through_a_gp_are_central_differences(member: PerPoint, kernel: str, d: int, z: float) -> None:
    model = model_for(kernel, d)
    rng = np.random.default_rng(1)
    for x in [rng.random(d), model.X[0] + 0.02, model.X[1]]:
        prediction = model.predict(x[None, :])
        incumbent = float(prediction.mean[0] + z * prediction.std[0]) + getattr(member, "xi", 0.0)
        bound = PointwiseObjective(member, model, incumbent)
        value, gradient = bound.value_with_gradient(x[None, :])
        np.testing.assert_allclose(value, bound.value(x[None, :]), rtol=1e-9)
        step = 1e-6 * np.eye(d)
        near, far = (bound.value(x + k * step) - bound.value(x - k * step) for k in (1.0, 2.0))
        numeric = (8.0 * near - far) / 12e-6
        # Rounding of a variance of 1e-4 is 1e-12 of it; of the value it is that times |∂α/∂σ| σ.
        tol = 2e-5 * float(np.abs(gradient).max()) + 1e-8 * abs(float(value[0])) + 1e-9
        np.testing.assert_allclose(gradient[0], numeric, rtol=2e-5, atol=tol)


@every_kernel
def test_log_ei_has_a_gradient_where_ei_has_none(kernel: str) -> None:
    model = model_for(kernel, 2)
    x = np.array([[0.31, 0.47]])
    prediction = model.predict(x)
    incumbent = float(prediction.mean[0] - 60.0 * prediction.std[0])
    flat, flat_gradient = PointwiseObjective(EI(), model, incumbent).value_with_gradient(x)
    _, gradient = PointwiseObjective(LogEI(), model, incumbent).value_with_gradient(x)
    assert flat[0] == 0.0
    assert (flat_gradient == 0.0).all()
    assert (np.abs(gradient) > 1.0).any()


# What a bound acquisition needs


@dataclasses.dataclass(frozen=True)
class Plain:
    """A model that only predicts."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(X.sum(axis=1), np.ones(len(X)))


@every_member
def test_a_model_without_gradients_gives_values_only(member: PerPoint) -> None:
    bound = PointwiseObjective(member, Plain(), 0.5)
    X = np.array([[0.1, 0.2], [0.6, 0.9]])
    assert not bound.has_gradient
    np.testing.assert_array_equal(bound.value(X), member.pointwise(X.sum(axis=1), np.ones(2), 0.5).value)
    assert PointwiseObjective(member, model_for("se", 2), 0.5).has_gradient
    search = Search(Box.cube(2), np.zeros((0, 2)), np.zeros((0, 2)))
    with pytest.raises(MissingCapability, match=r"predict_with_gradient.*Candidates\(\)"):
        Multistart().maximize(bound, search, np.random.default_rng(0))


@every_improvement
@pytest.mark.parametrize("xi", [np.nan, np.inf, -np.inf, "a", True, None])
def test_a_margin_must_be_finite(kind: type[Any], xi: float) -> None:
    with pytest.raises(InvalidInput, match="xi must be a finite number; got"):
        kind(xi)


@pytest.mark.parametrize("beta", [-1e-9, np.nan, np.inf])
def test_beta_must_be_finite_and_not_negative(beta: float) -> None:
    with pytest.raises(InvalidInput, match=r"beta must be (a finite number|zero or more); got"):
        UCB(beta)


@pytest.mark.parametrize("large", [2**63, 2**64, 10**99])
def test_a_whole_number_is_a_number_however_large(large: int) -> None:
    mean, std = np.zeros(2), np.ones(2)
    for acquisition in (UCB, LogEI, EI, PI):
        one, other = acquisition(large).pointwise(mean, std, 0.0), acquisition(float(large)).pointwise(mean, std, 0.0)
        np.testing.assert_array_equal(one.value, other.value)


def test_acquisitions_are_values() -> None:
    assert LogEI(0.1) == LogEI(0.1) != LogEI()
    assert len({EI(), EI(), PI(), UCB(), UCB(3.0)}) == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        LogEI().xi = 1.0  # type: ignore[misc]
