from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judges import (
    BAD_DATA,
    STUDIED,
    central_differences,
    pending_and_failed_points_are_kept_off,
    samples_have_the_moments_of_the_joint,
    smooth,
    survive_pickling_and_a_journal,
)
from scipy.linalg import null_space

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.numerics.bordering import MIN_PIVOT
from believer.surrogates.data import Data
from believer.surrogates.mq_rbf import MQRBF, MQRBFModel, Parameters, posterior
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    Model,
    Sampling,
    Scaled,
)

RNG = np.random.default_rng(0)


def in_units(X: Array) -> Array:
    """A smooth function whose units are not the standardized ones."""
    return 30.0 + 5.0 * smooth(X)


def model_for(d: int = 2, n: int = 12, ridge: float = 1e-4, seed: int = 0) -> MQRBFModel:
    X = np.random.default_rng(seed).random((n, d))
    return MQRBF(ridge).fit(Data(X, in_units(X)), RNG)


def multiquadric(A: Array, B: Array, spread: float) -> Array:
    """φ between rows, written out."""
    values: Array = np.sqrt(1.0 + ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2) / spread**2)
    return values


def rounding(model: MQRBFModel) -> float:
    """What rounding may do to a form v A⁻¹ v: the largest entry of an inverse, here or on the way, times N 1e-15."""
    inverse = model.inverse
    parts = inverse.diagonal, inverse.base, inverse.weights
    return 1e-15 * inverse.rows * max(float(np.abs(part).max(initial=1.0)) for part in parts)


def same_predictions(a: MQRBFModel, b: MQRBFModel, at: Array) -> None:
    """Means and radicands agree to rounding; that of the mean is in units of the weights that it sums."""
    one, two = a.evaluate(at), b.evaluate(at)
    tol = 100.0 * max(rounding(a), rounding(b))
    np.testing.assert_allclose(one.radicand, two.radicand, rtol=0.0, atol=tol * max(1.0, np.abs(two.radicand).max()))
    tol *= max(float(np.abs(model.alpha).max(initial=1.0)) for model in (a, b))
    np.testing.assert_allclose(one.mean, two.mean, rtol=0.0, atol=tol)
    np.testing.assert_allclose(a.predict(at).mean, b.predict(at).mean, rtol=0.0, atol=tol * b.parameters.scale)


# Conditioning


@pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.3])
@settings(max_examples=12)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_solving_anew_at_frozen_parameters(
    ridge: float, a: int, b: int, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((6 + a + b, d)), rng.standard_normal(6 + a + b)
    base = MQRBF(ridge).fit(Data(X[:6], y[:6]), RNG)
    stepwise = base.condition(Data(X[6 : 6 + a], y[6 : 6 + a])).condition(Data(X[6 + a :], y[6 + a :]))
    at_once = base.condition(Data(X[6:], y[6:]))
    whole = posterior(base.parameters, X, y)
    at = np.vstack([rng.random((5, d)), X])
    same_predictions(stepwise, at_once, at)
    same_predictions(at_once, whole, at)
    assert at_once.parameters is base.parameters


def test_the_order_of_data_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    X = rng.random((10, 3))
    order = rng.permutation(10)
    at = rng.random((6, 3))
    same_predictions(MQRBF().fit(Data(X, in_units(X)), RNG), MQRBF().fit(Data(X[order], in_units(X[order])), RNG), at)


@settings(max_examples=25)
@given(st.integers(1, 9), st.integers(1, 4), st.sampled_from([0.0, 1e-6, 1e-4, 0.1]), st.integers(0, 2**32))
def test_the_power_function_is_never_negative_and_never_rises(n: int, d: int, ridge: float, seed: int) -> None:
    # On a line without a ridge rounding is as large as P² itself: the next test has that.
    assume(ridge > 0.0 or d > 1)
    rng = np.random.default_rng((seed, 1))
    model = model_for(d, n, ridge, seed % 1000)
    at = np.vstack([rng.random((20, d)), model.X])
    before = model.evaluate(at).radicand
    assert (before >= -rounding(model)).all()
    for x in rng.random((3, 1, d)):
        model = model.condition(Data(x, rng.standard_normal(1)))
        after = model.evaluate(at).radicand
        assert (after >= -10.0 * rounding(model)).all()
        assert (after <= before + 10.0 * rounding(model)).all()
        # A pivot is P² + λ; without a ridge, near the data, it can be lost, and then nothing changes.
        pivot_kept = model.inverse.weights[-1] > 0.0
        assert pivot_kept or ridge == 0.0
        assert (after < before).any() or not pivot_kept
        before = after


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_on_a_line_without_a_ridge_the_power_function_neither_rises_nor_falls_below_zero_by_much(seed: int) -> None:
    rng = np.random.default_rng((seed, 1))
    model, at = model_for(1, 8, 0.0, seed % 1000), np.linspace(0.0, 1.0, 101)[:, None]
    before = model.evaluate(at).radicand
    for x in rng.random((30, 1, 1)):
        model = model.condition(Data(x, in_units(x)))
        after = model.evaluate(at).radicand
        # A pivot that is only just kept is known to one digit, and so is the change that it makes.
        assert after.min() > -1e-4
        assert (after <= before + 1e-4).all()
        before = after


def test_with_the_default_ridge_no_observation_is_ever_left_out() -> None:
    X = np.random.default_rng(2).random((400, 1))
    model = MQRBF().fit(Data(X[:200], in_units(X[:200])), RNG).condition(Data(X[200:], in_units(X[200:])))
    assert (model.inverse.weights > 0.0).all()
    assert (model.inverse.diagonal[1:] > 0.0).all()


def test_the_value_of_a_lie_does_not_touch_the_std() -> None:
    model, at = model_for(), np.random.default_rng(1).random((9, 2))
    x = np.array([[0.3, 0.8]])
    low, high = (model.condition(Data(x, np.array([value]))).predict(at).std for value in (-1e3, 1e3))
    np.testing.assert_array_equal(low, high)


@pytest.mark.parametrize("ridge", [1e-6, 1e-4, 0.1, 10.0])
def test_power_variance_at_the_new_point_is_the_parallel_sum_of_variance_and_noise(ridge: float) -> None:
    model = model_for(ridge=ridge)
    for x in np.random.default_rng(1).random((5, 1, 2)):
        before = float(model.evaluate(x).radicand[0])
        after = float(model.condition(Data(x, np.array([7.0]))).evaluate(x).radicand[0])
        assert after == pytest.approx(before * ridge / (before + ridge), rel=1e-6, abs=rounding(model))


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_believing_the_mean_moves_the_mean_nowhere(ridge: float, seed: int) -> None:
    rng = np.random.default_rng((seed, 1))
    model = model_for(3, ridge=ridge, seed=seed % 1000)
    at = rng.random((30, 3))
    believed = model
    for x in rng.random((4, 1, 3)):
        believed = believed.condition(Data(x, believed.predict(x).mean))
    tol = 10.0 * rounding(believed) * float(np.abs(model.alpha).max(initial=1.0)) * model.parameters.scale
    np.testing.assert_allclose(believed.predict(at).mean, model.predict(at).mean, rtol=0.0, atol=tol)


@pytest.mark.parametrize("value", ["same", "other"])
def test_conditioning_at_a_data_point_is_solving_anew_with_a_ridge_and_changes_nothing_without(value: str) -> None:
    for ridge in (0.0, 1e-4):
        model = model_for(2, 10, ridge)
        X, at = model.X, np.random.default_rng(3).random((40, 2))
        y = in_units(X)
        for i in range(10):
            copies, told = X[[i, i, i]], np.full(3, y[i] if value == "same" else y.min() - 1.0)
            after = model.condition(Data(copies, told))
            anew = posterior(model.parameters, np.vstack([X, copies]), np.concatenate([y, told]))
            same_predictions(after, anew if ridge else model, np.vstack([at, X]))
            assert (after.predict(X).std > 0.0).all()


def test_without_a_ridge_a_repeated_point_is_left_out() -> None:
    X = np.random.default_rng(0).random((8, 2))
    y, at = in_units(X), np.random.default_rng(1).random((5, 2))
    once = MQRBF(ridge=0.0).fit(Data(X, y), RNG)
    copied = posterior(once.parameters, np.vstack([X, X[:3]]), np.concatenate([y, y[:3] + 50.0]))
    conditioned = once.condition(Data(X[:3], y[:3] + 50.0))
    for model in (copied, conditioned):
        same_predictions(model, once, at)


def test_conditioning_changes_neither_the_parent_nor_shares_what_can_be_written() -> None:
    model = model_for()
    before = model.X.copy(), model.alpha.copy()
    child = model.condition(Data(np.full((2, 2), 0.5), np.array([1e6, -1e6])))
    np.testing.assert_array_equal(model.X, before[0])
    np.testing.assert_array_equal(model.alpha, before[1])
    assert child.inverse.base is model.inverse.base
    for one in (model, child):
        for part in (one.X, one.alpha, one.inverse.base, one.inverse.tail):
            assert not part.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.X = child.X  # type: ignore[misc]


# Other roads to the same numbers


@settings(max_examples=20)
@given(st.integers(2, 10), st.integers(1, 4), st.sampled_from([1e-4, 1e-2, 1.0]), st.integers(0, 2**32))
def test_it_is_universal_kriging_with_a_positive_definite_kernel(n: int, d: int, ridge: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, at, anchor = rng.random((n, d)), rng.random((7, d)), rng.random((1, d))
    y = in_units(X)
    model = MQRBF(ridge=ridge).fit(Data(X, y), RNG)
    eps = model.parameters.spread

    def kernel(A: Array, B: Array) -> Array:
        # φ(x - a) + φ(x' - a) - φ(x - x') - φ(0) is positive definite for any anchor a.
        phi = multiquadric(A, anchor, eps) + multiquadric(B, anchor, eps).T - multiquadric(A, B, eps) - 1.0
        return np.asarray(phi)

    C = kernel(X, X) + ridge * np.eye(n)
    one, k = np.ones(n), kernel(X, at)
    inverse = np.linalg.inv(C)
    mean = one @ inverse @ y / (one @ inverse @ one)
    missing = 1.0 - one @ inverse @ k
    square = np.diagonal(kernel(at, at)) - np.einsum("im,ij,jm->m", k, inverse, k) + missing**2 / (one @ inverse @ one)
    np.testing.assert_allclose(model.evaluate(at).radicand, square, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict(at).mean, mean + k.T @ inverse @ (y - mean), rtol=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.1])
def test_tau_is_the_restricted_maximum_likelihood_over_contrasts(ridge: float) -> None:
    X = np.random.default_rng(0).random((9, 2))
    y = in_units(X)
    model = MQRBF(ridge=ridge).fit(Data(X, y), RNG)
    contrasts = null_space(np.ones((1, 9)))
    C = contrasts.T @ (ridge * np.eye(9) - multiquadric(X, X, model.parameters.spread)) @ contrasts
    assert np.linalg.eigvalsh(C).min() > 0.0
    z = contrasts.T @ y / model.parameters.scale
    assert model.parameters.tau**2 == pytest.approx(z @ np.linalg.solve(C, z) / 8.0, rel=1e-9)


def test_tau_does_not_count_what_repeats() -> None:
    X = np.random.default_rng(0).random((9, 2))
    twice = np.vstack([X, X])
    once = MQRBF(ridge=0.0, spread=0.5).fit(Data(X, in_units(X)), RNG)
    both = MQRBF(ridge=0.0, spread=0.5).fit(Data(twice, in_units(twice)), RNG)
    assert both.parameters.tau == pytest.approx(once.parameters.tau, rel=1e-9)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_with_a_tiny_ridge_the_mean_meets_the_data(d: int) -> None:
    model = model_for(d, 8, ridge=1e-9)
    X = model.X
    at = model.predict(X)
    np.testing.assert_allclose(at.mean, in_units(X), rtol=0.0, atol=1e-5 * model.parameters.scale)
    assert (at.std < 1e-3 * model.parameters.scale).all()


@settings(max_examples=15)
@given(st.integers(1, 10), st.integers(1, 4), st.integers(0, 2**32))
def test_the_power_function_vanishes_at_data_without_a_ridge_and_stays_below_it_with_one(
    n: int, d: int, seed: int
) -> None:
    for ridge in (0.0, 1e-4, 0.1):
        model = model_for(d, n, ridge, seed % 1000)
        radicand = model.evaluate(model.X).radicand
        # Data that are left out have what a lost pivot is, in units of the largest entry of A.
        lost = MIN_PIVOT * float(np.abs(model.rows(model.X)).max())
        assert (radicand <= max(ridge, lost) + 10.0 * rounding(model)).all()
        assert (radicand >= -10.0 * rounding(model)).all()


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 0.1])
def test_the_mean_goes_r_over_r_plus_ridge_of_the_way_to_a_lie(ridge: float) -> None:
    model = model_for(2, 8, ridge)
    p = model.parameters
    shares = []
    for x in np.random.default_rng(7).random((40, 1, 2)):
        radicand = float(model.evaluate(x).radicand[0])
        before = float(model.predict(x).mean[0])
        after = float(model.condition(Data(x, np.array([before + p.scale]))).predict(x).mean[0])
        shares.append((after - before) / p.scale)
        assert shares[-1] == pytest.approx(radicand / (radicand + ridge), rel=1e-4)
    assert all(0.0 < share <= 1.0 + 1e-6 for share in shares)


@pytest.mark.parametrize("d", [1, 3])
def test_the_ridge_moves_eigenvalues_away_from_zero(d: int) -> None:
    X = np.random.default_rng(0).random((20, d))
    model = MQRBF(ridge=1e-2).fit(Data(X, in_units(X)), RNG)
    # On contrasts the least of them is at least λ.
    assert np.linalg.eigvalsh(model.inverse.base[1:, 1:]).max() <= 1e2 * (1.0 + 1e-9)


# Prediction


@pytest.mark.parametrize(("d", "n"), [(1, 6), (3, 12), (20, 30)])
@pytest.mark.parametrize("conditioned", [False, True])
def test_gradients_are_central_differences(d: int, n: int, conditioned: bool) -> None:
    model = model_for(d, n, 1e-3)
    scale = model.parameters.scale
    rng = np.random.default_rng(3)
    if conditioned:
        model = model.condition(Data(rng.random((2, d)), np.array([29.0, 33.0])))
    # Between data, at one, beside one, and outside of the cube.
    X = np.vstack([rng.random((3, d)), model.X[:1], model.X[-1:] + 1e-4, np.full((1, d), 1.3)])
    at, plain = model.predict_with_gradient(X), model.predict(X)
    np.testing.assert_array_equal(at.mean, plain.mean)
    np.testing.assert_array_equal(at.std, plain.std)
    for x, mean_slope, std, std_slope in zip(X, at.mean_gradient, at.std, at.std_gradient, strict=True):
        by_mean = central_differences(lambda Z: model.predict(Z).mean, x, 1e-4)
        by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x, 1e-4)
        np.testing.assert_allclose(mean_slope, by_mean, rtol=1e-6, atol=1e-6 * scale)
        np.testing.assert_allclose(2.0 * std * std_slope, by_variance, rtol=1e-6, atol=1e-6 * scale**2)


@pytest.mark.parametrize("ridge", [0.0, 1e-4])
def test_gradients_are_finite_at_the_data_and_std_has_its_floor(ridge: float) -> None:
    model = model_for(3, 8, ridge).condition(Data(np.full((1, 3), 0.5), np.array([30.0])))
    at = model.predict_with_gradient(model.X)
    assert np.isfinite(at.mean_gradient).all()
    assert np.isfinite(at.std_gradient).all()
    assert (at.std >= 0.999e-9 * model.parameters.scale).all()


def test_the_diagonal_of_the_joint_is_the_variance_and_it_conditions_itself() -> None:
    model = model_for(3)
    X = np.vstack([np.random.default_rng(0).random((6, 3)), model.X[:2]])
    joint, at = model.joint(X), model.predict(X)
    scale = model.parameters.scale
    np.testing.assert_allclose(np.diagonal(joint.covariance), at.std**2, rtol=1e-12)
    np.testing.assert_array_equal(joint.mean, at.mean)
    np.testing.assert_array_equal(joint.covariance, joint.covariance.T)
    assert np.linalg.eigvalsh(joint.covariance).min() > -1e-9 * scale**2
    gain = joint.covariance[:, 0] / (
        joint.covariance[0, 0] + (model.parameters.tau * scale) ** 2 * model.parameters.ridge
    )
    told = model.condition(Data(X[:1], np.array([40.0]))).joint(X)
    np.testing.assert_allclose(told.mean, joint.mean + gain * (40.0 - joint.mean[0]), rtol=1e-8)
    expected = joint.covariance - np.multiply.outer(gain, joint.covariance[0])
    np.testing.assert_allclose(told.covariance, expected, rtol=0.0, atol=1e-9 * scale**2)


@pytest.mark.parametrize("noisy", [False, True])
def test_samples_have_the_moments_of_the_joint(noisy: bool) -> None:
    model = model_for(2, 5, ridge=0.05)
    p = model.parameters
    X = np.array([[0.1, 0.2], [0.15, 0.2], [0.9, 0.5], [0.5, 0.99]])
    samples_have_the_moments_of_the_joint(model, X, (p.tau * p.scale) ** 2 * p.ridge if noisy else None)


def test_samples_survive_copies_of_a_point_and_data() -> None:
    model = model_for()
    X = np.vstack([np.full((3, 2), 0.4), model.X, model.X])
    draws = model.sample(X, 20, np.random.default_rng(1))
    np.testing.assert_array_equal(draws, model.sample(X, 20, np.random.default_rng(1)))
    assert np.isfinite(draws).all()
    assert np.ptp(draws[:, :3], axis=1).max() < 1e-3 * model.predict(X[:1]).std[0]


# Fitting


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_predictions_carry_the_units_of_y(unit: float) -> None:
    X = np.random.default_rng(0).random((8, 2))
    y, at = in_units(X), np.random.default_rng(1).random((5, 2))
    plain, scaled = MQRBF().fit(Data(X, y), RNG).predict(at), MQRBF().fit(Data(X, unit * y), RNG).predict(at)
    np.testing.assert_allclose(scaled.mean, unit * plain.mean, rtol=1e-9)
    np.testing.assert_allclose(scaled.std, unit * plain.std, rtol=1e-7)


@each("ridge", [0.0, 1e-4])
@each(
    ("X", "y"),
    [
        ([[0.5, 0.5]], [3.0]),
        ([[0.5, 0.5]], [0.0]),
        ([[0.5, 0.5]] * 4, [1.0, 2.0, 3.0, 4.0]),
        ([[0.1, 0.1], [0.1, 0.1], [0.8, 0.7]], [1.0, 5.0, 3.0]),
        ([[0.1, 0.1], [0.9, 0.2], [0.3, 0.7]], [7.0, 7.0, 7.0]),
        ([[0.1, 0.1], [0.1 + 1e-9, 0.1], [0.3, 0.7]], [7.0, 7.0, 1e12]),
    ],
    ids=["one", "one zero", "all equal", "repeated", "constant", "near copies"],
)
def test_poor_data_give_a_finite_model_that_can_be_conditioned(
    ridge: float, X: list[list[float]], y: list[float]
) -> None:
    model = MQRBF(ridge).fit(Data(np.array(X), np.array(y)), RNG)
    at = np.vstack([np.random.default_rng(1).random((6, 2)), X])
    for one in (model, model.condition(Data(np.array([[0.4, 0.9], *X[:1]]), np.array([y[0], y[0]])))):
        p = one.predict_with_gradient(at)
        for part in (p.mean, p.std, p.mean_gradient, p.std_gradient):
            assert np.isfinite(part).all()
        assert (p.std > 0.0).all()
        assert p.std.max() > 1e-3 * model.parameters.scale
    assert model.parameters.tau > 0.0


def test_the_spread_is_the_median_distance_of_different_points_or_that_of_the_cube() -> None:
    y = np.arange(4.0)
    assert MQRBF().fit(Data(np.array([[0.0], [0.1], [0.4], [0.4]]), y), RNG).parameters.spread == pytest.approx(0.3)
    assert MQRBF().fit(Data(np.full((4, 6), 0.2), y), RNG).parameters.spread == pytest.approx(1.0)
    assert MQRBF(spread=0.7).fit(Data(np.full((4, 6), 0.2), y), RNG).parameters.spread == 0.7


def test_a_model_has_the_capabilities_that_are_true_of_it() -> None:
    model = model_for()
    for capability in (Model, Conditionable, Differentiable, Joint, Sampling):
        assert isinstance(model, capability)
    assert not isinstance(model, Scaled)


def test_models_and_recipes_survive_pickling_and_the_journal() -> None:
    recipe = MQRBF(1e-3, 0.4)
    model = model_for().condition(Data(np.full((1, 2), 0.3), np.array([31.0])))
    survive_pickling_and_a_journal(recipe, model, np.random.default_rng(1).random((4, 2)))


@pytest.mark.parametrize(
    ("settings_", "text"),
    [
        ({"ridge": -1.0}, "ridge must be zero or more; got -1.0"),
        ({"ridge": np.nan}, "ridge must be a finite number"),
        ({"spread": 0.0}, "spread must be a length above zero"),
        ({"spread": "wide"}, "spread must be a finite number"),
    ],
)
def test_bad_settings_are_refused(settings_: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        MQRBF(**settings_)


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        MQRBF().fit(Data(X, y), RNG)


def test_parameters_say_what_a_fit_learnt() -> None:
    parameters = model_for().parameters
    assert isinstance(parameters, Parameters)
    assert dataclasses.asdict(parameters).keys() == {"spread", "ridge", "tau", "shift", "scale"}


# Inside the optimizer


@pytest.mark.parametrize("strategy", STUDIED)
def test_a_study_works_with_every_strategy_and_with_pending_points(strategy: str) -> None:
    pending_and_failed_points_are_kept_off(MQRBF(), strategy)
