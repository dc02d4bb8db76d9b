from __future__ import annotations

import dataclasses
import math
from itertools import product
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
every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def grid(z: list[float], std: list[float]) -> tuple[Array, Array]:
    """Every z with every standard deviation."""
    first, second = np.meshgrid(z, std)
    return first.ravel(), second.ravel()


def at(member: PerPoint, mean: float, std: float, incumbent: float) -> tuple[float, float, float]:
    """α, ∂α/∂μ, ∂α/∂σ at one prediction."""
    found = member.pointwise(np.array([mean]), np.array([std]), incumbent)
    return float(found.value[0]), float(found.by_mean[0]), float(found.by_std[0])


def model_for(kernel: str, d: int, noise: float = 1e-4) -> GPModel:
    X = np.random.default_rng(0).random((3 * d + 4, d))
    hyper = Hyperparameters(kernel, frozen(np.linspace(0.3, 0.5, d) * np.sqrt(d)), signal=1.3, noise=noise)
    return posterior(hyper, X, 10.0 + 3.0 * np.sin(4.0 * X[:, 0]) + X.sum(axis=1), shift=11.0, scale=3.0)


# Values


def test_values_are_those_of_the_formula_where_it_is_accurate() -> None:
    z, std = grid([-5.0, -1.0, 0.0, 0.7, 3.0, 40.0], [1e-12, 1e-3, 1.0, 1e6])
    mean = -z * std
    direct = -mean * norm.cdf(z) + std * norm.pdf(z)
    np.testing.assert_allclose(EI().pointwise(mean, std, 0.0).value, direct, rtol=1e-9)
    np.testing.assert_allclose(LogEI().pointwise(mean, std, 0.0).value, np.log(direct), rtol=1e-9)
    np.testing.assert_allclose(PI().pointwise(mean, std, 0.0).value, norm.cdf(z), rtol=1e-12)
    np.testing.assert_allclose(UCB(4.0).pointwise(mean, std, 123.0).value, 2.0 * std - mean, rtol=1e-15)


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


def test_a_margin_lowers_the_incumbent() -> None:
    for kind, xi, mean in product(OF_IMPROVEMENT, (-0.4, 0.0, 0.25), (-1.0, 0.3, 2.0)):
        lowered = at(kind(), mean, 0.5, 1.0 - xi)
        assert at(kind(xi), mean, 0.5, 1.0) == pytest.approx(lowered, rel=1e-14), (kind, xi, mean)


@settings(max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(1e-12, 1e6))
def test_nothing_is_ever_nan(z: float, std: float) -> None:
    for member in MEMBERS:
        value, by_mean, by_std = at(member, -z * std, std, 0.0)
        assert np.isfinite([value, by_mean, by_std]).all(), member
        if isinstance(member, EI | PI):
            assert value >= 0.0, member
        assert by_mean <= 0.0, member


def test_many_points_give_what_each_gives_alone() -> None:
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=30) * 20.0, np.exp(rng.uniform(-9.0, 2.0, 30))
    for member in MEMBERS:
        together = member.pointwise(mean, std, -1.0)
        alone = np.array([at(member, float(m), float(s), -1.0) for m, s in zip(mean, std, strict=True)])
        found = np.column_stack([together.value, together.by_mean, together.by_std])
        np.testing.assert_allclose(found, alone, rtol=1e-14, err_msg=repr(member))


# Monotonicity


@given(st.floats(-1e3, 1e3), st.floats(1e-9, 1e3), st.floats(1.0, 1e6))
def test_value_never_falls_with_std(gap: float, std: float, factor: float) -> None:
    for member in RISE_WITH_STD:
        low, _, slope = at(member, gap, std, 0.0)
        high = at(member, gap, std * factor, 0.0)[0]
        assert high >= low - 1e-14 * abs(low), member
        assert slope >= 0.0, member


def test_probability_of_improvement_falls_with_std_where_the_mean_is_already_better() -> None:
    sure, unsure = (at(PI(), -1.0, std, 0.0) for std in (0.5, 1.0))
    assert sure[0] > unsure[0]
    assert sure[2] < 0.0
    assert at(PI(), 1.0, 0.5, 0.0)[0] < at(PI(), 1.0, 1.0, 0.0)[0]


@settings(max_examples=40)
@given(st.floats(-50.0, 50.0), st.floats(1e-6, 1e3), st.floats(0.0, 1e3))
def test_value_never_rises_with_the_mean(mean: float, std: float, worse: float) -> None:
    for member in MEMBERS:
        low, high = (at(member, mean + more, std, 0.0)[0] for more in (worse, 0.0))
        assert low <= high + 1e-14 * abs(high), member


# Gradients


def test_derivatives_by_mean_and_std_are_central_differences() -> None:
    z, std = grid([-1e4, -40.0, -30.0, -5.0, -1.0, 0.0, 2.0, 30.0], [1e-12, 1e-6, 1.0, 1e6])
    mean = -z * std
    step = 1e-4 * std / np.maximum(1.0, np.abs(z))
    for member in (LogEI(), EI(), PI(), UCB(), UCB(9.0)):

        def value(mean: Array, std: Array, member: PerPoint = member) -> Array:
            return member.pointwise(mean, std, 0.0).value

        found = member.pointwise(mean, std, 0.0)
        by_mean = (value(mean + step, std) - value(mean - step, std)) / (2.0 * step)
        by_std = (value(mean, std + step) - value(mean, std - step)) / (2.0 * step)
        # Truncation is 1e-8 of the third derivative; rounding is that of the value over the step.
        size = np.maximum(np.abs(found.value), np.abs(mean) if isinstance(member, UCB) else 0.0)
        tol = 16.0 * np.finfo(float).eps * size / step + 1e-12
        for slope, numeric in ((found.by_mean, by_mean), (found.by_std, by_std)):
            off = np.abs(slope - numeric) > np.maximum(tol, 1e-6 * np.abs(numeric))
            assert not off.any(), (member, z[off], std[off], slope[off], numeric[off])


@every_kernel
def test_gradients_through_a_gp_are_central_differences(kernel: str) -> None:
    rng = np.random.default_rng(1)
    for d in (1, 4):
        model = model_for(kernel, d)
        points = [rng.random(d), model.X[0] + 0.02, model.X[1]]
        for member, z, x in product(MEMBERS, (-1e3, -40.0, -2.0, 1.0), points):
            prediction = model.predict(x[None, :])
            incumbent = float(prediction.mean[0] + z * prediction.std[0]) + getattr(member, "xi", 0.0)
            bound = PointwiseObjective(member, model, incumbent)
            value, gradient = bound.value_with_gradient(x[None, :])
            said = f"{member!r}, d={d}, z={z}, x={x}"
            np.testing.assert_allclose(value, bound.value(x[None, :]), rtol=1e-9, err_msg=said)
            step = 1e-6 * np.eye(d)
            near, far = (bound.value(x + k * step) - bound.value(x - k * step) for k in (1.0, 2.0))
            numeric = (8.0 * near - far) / 12e-6
            # Rounding of a variance of 1e-4 is 1e-12 of it; of the value it is that times |∂α/∂σ| σ.
            tol = 2e-5 * float(np.abs(gradient).max()) + 1e-8 * abs(float(value[0])) + 1e-9
            np.testing.assert_allclose(gradient[0], numeric, rtol=2e-5, atol=tol, err_msg=said)


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


def test_a_model_without_gradients_gives_values_only() -> None:
    X = np.array([[0.1, 0.2], [0.6, 0.9]])
    search = Search(Box.cube(2), np.zeros((0, 2)), np.zeros((0, 2)))
    for member in MEMBERS:
        bound = PointwiseObjective(member, Plain(), 0.5)
        assert not bound.has_gradient, member
        expected = member.pointwise(X.sum(axis=1), np.ones(2), 0.5).value
        np.testing.assert_array_equal(bound.value(X), expected, err_msg=repr(member))
        assert PointwiseObjective(member, model_for("se", 2), 0.5).has_gradient, member
        with pytest.raises(MissingCapability, match=r"predict_with_gradient.*Candidates\(\)"):
            Multistart().maximize(bound, search, np.random.default_rng(0))


def test_a_margin_must_be_finite() -> None:
    bad: list[Any] = [np.nan, np.inf, -np.inf, "a", True, None]
    for kind, xi in product(OF_IMPROVEMENT, bad):
        with pytest.raises(InvalidInput, match="xi must be a finite number; got"):
            kind(xi)


def test_beta_must_be_finite_and_not_negative() -> None:
    for beta in (-1e-9, np.nan, np.inf):
        with pytest.raises(InvalidInput, match=r"beta must be (a finite number|zero or more); got"):
            UCB(beta)


def test_a_whole_number_is_a_number_however_large() -> None:
    mean, std = np.zeros(2), np.ones(2)
    for acquisition, large in product((UCB, LogEI, EI, PI), (2**63, 2**64, 10**99)):
        one, other = acquisition(large).pointwise(mean, std, 0.0), acquisition(float(large)).pointwise(mean, std, 0.0)
        np.testing.assert_array_equal(one.value, other.value)


def test_acquisitions_are_values() -> None:
    assert LogEI(0.1) == LogEI(0.1) != LogEI()
    assert len({EI(), EI(), PI(), UCB(), UCB(3.0)}) == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        LogEI().xi = 1.0  # type: ignore[misc]
