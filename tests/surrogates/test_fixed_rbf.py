from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import (
    BAD_DATA,
    SPACE,
    STUDIED,
    believed,
    bowl,
    central_differences,
    joint_is_that_of_predict,
    pending_points_are_kept_off,
    same_predictions,
    samples_have_the_moments_of_the_joint,
    smooth,
)

import believer as bv
from believer.errors import InvalidInput
from believer.problems.synthetic import branin, hartmann6
from believer.surrogates import FixedRBF
from believer.surrogates.data import Data
from believer.surrogates.fixed_rbf import FixedRBFModel, basis, posterior
from believer.surrogates.gp import standardization
from believer.surrogates.gp_fit import NOISE_FLOOR
from believer.surrogates.protocols import Conditionable, Differentiable, Joint, Model, Sampling, Smoothing

NOISES: list[float | str] = ["infer", 1e-6]
every_noise = pytest.mark.parametrize("noise", NOISES)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def model_for(d: int = 2, n: int = 12, noise: float = 1e-4, centers: int = 20, seed: int = 0) -> FixedRBFModel:
    """A model at fixed parameters, y in units that are not the standardized ones."""
    X = np.random.default_rng(seed).random((n, d))
    return posterior(basis(centers, d, None), 1.5, noise, X, 30.0 + 5.0 * smooth(X), shift=31.0, scale=4.0)


# The basis


@each("d", [1, 2, 6, 80])
@each("centers", [2, 7, 64])
def test_centers_are_distinct_points_of_the_cube_and_depend_on_their_number_and_d_alone(d: int, centers: int) -> None:
    one, other = basis.__wrapped__(centers, d, None), basis.__wrapped__(centers, d, None)
    assert one.centers.shape == (centers, d)
    assert ((one.centers > 0.0) & (one.centers < 1.0)).all()
    assert len(np.unique(one.centers, axis=0)) == centers
    for name in ("centers", "offset", "whitening"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert not getattr(one, name).flags.writeable
    X = np.random.default_rng(1).random((9, d))
    fits = [
        FixedRBF(centers).fit(Data(X, y), np.random.default_rng(s)) for s, y in enumerate((X[:, 0], -X.sum(axis=1)))
    ]
    for model in fits:
        np.testing.assert_array_equal(model.basis.centers, one.centers)


@pytest.mark.parametrize("d", [1, 3])
def test_the_spread_is_the_median_distance_of_two_centers_unless_given(d: int) -> None:
    found = basis(12, d, None)
    C = found.centers
    gaps = [float(np.linalg.norm(C[i] - C[j])) for i in range(12) for j in range(i)]
    assert found.spread == pytest.approx(float(np.median(gaps)), rel=1e-12)
    assert basis(12, d, 0.3).spread == 0.3
    assert FixedRBF(12, spread=0.3).fit(Data(C, C[:, 0]), rng()).basis.spread == 0.3


def test_the_basis_is_the_multiquadric() -> None:
    found = basis(5, 2, 0.7)
    X = np.random.default_rng(0).random((3, 2))
    r = np.linalg.norm(X[:, None] - found.centers, axis=2)
    np.testing.assert_allclose(found.multiquadrics(X), np.sqrt(1.0 + (r / 0.7) ** 2), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 6])
def test_a_priori_covariances_between_centers_are_those_of_the_negated_centered_multiquadric(d: int) -> None:
    found = basis(30, d, None)
    phi = found.multiquadrics(found.centers)
    P = np.eye(30) - 1.0 / 30.0
    K = -P @ phi @ P
    assert np.linalg.eigvalsh(K).min() > -1e-12
    F = found.features(phi)
    np.testing.assert_array_equal(F[:, 0], 1.0)
    # One number scales all: at the centers the features' variance is 1 on average, and the intercept adds as much.
    np.testing.assert_allclose(F[:, 1:] @ F[:, 1:].T, K * 30.0 / np.trace(K), rtol=0.0, atol=1e-8)
    assert (F**2).sum(axis=1).mean() == pytest.approx(2.0)


def test_the_features_reach_every_sum_of_multiquadrics_whose_weights_sum_to_zero() -> None:
    found = basis(16, 2, None)
    assert found.whitening.shape == (16, 16)
    np.testing.assert_allclose(found.whitening.sum(axis=0), 0.0, atol=1e-10 * np.abs(found.whitening).max())
    w = np.random.default_rng(0).standard_normal(16)
    w -= w.mean()
    X = np.random.default_rng(1).random((60, 2))
    phi = found.multiquadrics(X)
    F = found.features(phi)
    target = phi @ w
    np.testing.assert_allclose(F @ np.linalg.lstsq(F, target, rcond=None)[0], target, atol=1e-7)


# Conditioning


@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.sampled_from([1e-6, 1e-2]), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_a_fit_with_parameters_frozen(
    a: int, b: int, d: int, noise: float, seed: int
) -> None:
    gen = np.random.default_rng(seed)
    X = gen.random((8 + a + b, d))
    y = smooth(X) + gen.standard_normal(len(X))
    fixed = basis(20, d, None)
    base = posterior(fixed, 2.0, noise, X[:8], y[:8], 0.5, 2.0)
    stepwise = base.condition(Data(X[8 : 8 + a], y[8 : 8 + a])).condition(Data(X[8 + a :], y[8 + a :]))
    at_once = base.condition(Data(X[8:], y[8:]))
    whole = posterior(fixed, 2.0, noise, X, y, 0.5, 2.0)
    at = np.vstack([gen.random((5, d)), X])
    # Values that contradict each other at close points make the mean large, and its error with it.
    tol = 1e-9 * max(1.0, float(np.abs(whole.predict(at).mean).max()) / np.sqrt(noise))
    same_predictions(stepwise, at_once, at, base.scale, tol)
    same_predictions(at_once, whole, at, base.scale, tol)


def test_a_fit_is_the_posterior_at_the_parameters_it_found() -> None:
    X = np.random.default_rng(1).random((15, 3))
    y = 1e3 + smooth(X)
    model = FixedRBF().fit(Data(X, y), rng())
    again = posterior(model.basis, model.prior, model.noise, X, y, *standardization(y))
    np.testing.assert_array_equal(again.weights.mean, model.weights.mean)
    np.testing.assert_array_equal(again.weights.root, model.weights.root)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(-1e3, 1e3), st.sampled_from([1e-6, 1e-2, 1.0]))
def test_std_never_rises_under_conditioning_and_falls_to_the_parallel_sum_at_the_point(
    seed: int, value: float, noise: float
) -> None:
    gen = np.random.default_rng(seed)
    model = model_for(3, noise=noise, seed=seed % 1000)
    at = gen.random((20, 3))
    told = model.condition(Data(at[:1], np.array([value])))
    before, after = ((m.predict(at).std / model.scale) ** 2 for m in (model, told))
    assert (after <= before * (1.0 + 1e-9)).all()
    assert after[0] == pytest.approx(before[0] * noise / (before[0] + noise), rel=1e-7)
    np.testing.assert_array_equal(
        told.predict(at).std, model.condition(Data(at[:1], np.array([-value]))).predict(at).std
    )


def test_believing_the_mean_moves_the_mean_nowhere_and_narrows_the_std() -> None:
    model = model_for(3)
    at = np.random.default_rng(1).random((30, 3))
    told = believed(model, np.random.default_rng(2).random((4, 3)))
    np.testing.assert_allclose(told.predict(at).mean, model.predict(at).mean, rtol=0.0, atol=1e-9 * model.scale)
    assert (told.predict(at).std < model.predict(at).std).all()


def test_conditioning_changes_neither_the_parent_nor_basis_nor_parameters() -> None:
    model = model_for()
    before = model.weights.mean.copy(), model.weights.root.copy()
    child = model.condition(Data(np.full((2, 2), 0.5), np.array([1e6, -1e6])))
    np.testing.assert_array_equal(model.weights.mean, before[0])
    np.testing.assert_array_equal(model.weights.root, before[1])
    assert child.basis is model.basis
    for name in ("prior", "noise", "shift", "scale"):
        assert getattr(child, name) == getattr(model, name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.scale = 1.0  # type: ignore[misc]


# Prediction


@each(("d", "centers"), [(1, 4), (2, 20), (6, 64), (50, 10)])
@each("conditioned", [False, True])
def test_gradients_are_central_differences(d: int, centers: int, conditioned: bool) -> None:
    model = model_for(d, centers=centers)
    gen = np.random.default_rng(3)
    if conditioned:
        model = model.condition(Data(gen.random((2, d)), np.array([29.0, 33.0])))
    X = np.vstack([gen.random((3, d)), model.basis.centers[:1], np.zeros((1, d)), np.full((1, d), 1.3)])
    at, plain = model.predict_with_gradient(X), model.predict(X)
    np.testing.assert_allclose(at.mean, plain.mean, rtol=1e-12)
    np.testing.assert_allclose(at.std, plain.std, rtol=1e-12)
    for x, mean_slope, std_slope in zip(X, at.mean_gradient, at.std_gradient, strict=True):
        by_mean = central_differences(lambda Z: model.predict(Z).mean, x, 1e-3)
        by_std = central_differences(lambda Z: model.predict(Z).std, x, 1e-3)
        np.testing.assert_allclose(mean_slope, by_mean, rtol=1e-5, atol=1e-5 * model.scale)
        np.testing.assert_allclose(std_slope, by_std, rtol=1e-5, atol=1e-5 * model.scale)


@every_noise
@each("seed", range(4))
@each("n", [4, 10, 20])
def test_in_two_dimensions_std_is_larger_away_from_data_than_at_data(n: int, seed: int, noise: float | str) -> None:
    gen = np.random.default_rng(seed)
    # Data in the left half; the right edge is away from all of them.
    X = gen.random((n, 2)) * np.array([0.5, 1.0])
    away = np.column_stack([np.full(20, 1.0), np.linspace(0.0, 1.0, 20)])
    for f in (smooth, lambda Z: branin(15.0 * Z - np.array([5.0, 0.0]))):
        model = FixedRBF(noise=noise).fit(Data(X, f(X)), rng())
        assert model.predict(away).std.min() > 2.0 * model.predict(X).std.max()
        lie = model.condition(Data(away[10:11], model.predict(away[10:11]).mean))
        assert lie.predict(away[10:11]).std[0] < 0.5 * model.predict(away[10:11]).std[0]


@pytest.mark.parametrize("n", [12, 40])
def test_two_std_hold_most_of_new_values(n: int) -> None:
    held = []
    for seed in range(10):
        U = np.random.default_rng(seed).random((n + 200, 2))
        y = branin(15.0 * U - np.array([5.0, 0.0]))
        at = FixedRBF().fit(Data(U[:n], y[:n]), rng()).predict(U[n:])
        held.append(float((np.abs(at.mean - y[n:]) < 2.0 * at.std).mean()))
    # Independent weights on bare multiquadrics hold 0.60 here.
    assert np.mean(held) > 0.75


def test_it_learns_more_than_the_average() -> None:
    U = np.random.default_rng(0).random((400, 6))
    y = hartmann6(U)
    at = FixedRBF().fit(Data(U[:200], y[:200]), rng()).predict(U[200:])
    assert float(((at.mean - y[200:]) ** 2).mean()) < 0.7 * float(y[200:].var())


@each("n", [6, 12, 20])
@each("seed", range(3))
def test_a_few_results_in_six_dimensions_are_not_called_noise(n: int, seed: int) -> None:
    X = np.random.default_rng(seed).random((n, 6))
    model = FixedRBF().fit(Data(X, hartmann6(X)), rng())
    away = np.random.default_rng(9).random((200, 6))
    # A model that calls its data noise has the same std everywhere: by the evidence alone these ratios are 1.0 to 1.5.
    assert np.median(model.predict(away).std) > 1.3 * np.median(model.predict(X).std)


def test_the_diagonal_of_the_joint_is_the_variance() -> None:
    model = model_for(3).condition(Data(np.full((1, 3), 0.5), np.array([30.0])))
    X = np.random.default_rng(0).random((6, 3))
    joint_is_that_of_predict(model, X, model.scale, rtol=1e-9)


@pytest.mark.parametrize("noisy", [False, True])
def test_samples_have_the_moments_of_the_joint(noisy: bool) -> None:
    model = model_for(2, 5, noise=0.05)
    X = np.array([[0.1, 0.2], [0.4, 0.2], [0.9, 0.5], [0.5, 0.99]])
    samples_have_the_moments_of_the_joint(model, X, model.noise * model.scale**2 if noisy else None)


# Fitting


def test_a_model_has_the_capabilities_it_should() -> None:
    model = FixedRBF().fit(Data(np.array([[0.5]]), np.array([1.0])), rng())
    for capability in (Model, Conditionable, Differentiable, Joint, Sampling, Smoothing):
        assert isinstance(model, capability)
    assert model_for(noise=1e-2).is_noisy
    assert not model_for(noise=1e-6).is_noisy


@every_noise
def test_a_fit_needs_no_generator_nor_earlier_model(noise: float | str) -> None:
    X = np.random.default_rng(0).random((8, 3))
    surrogate = FixedRBF(noise=noise)
    one = surrogate.fit(Data(X, smooth(X)), np.random.default_rng(5))
    two = pickle.loads(pickle.dumps(surrogate)).fit(Data(X, smooth(X)), np.random.default_rng(6), previous=one)
    np.testing.assert_array_equal(one.weights.mean, two.weights.mean)
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.predict(X).std, one.predict(X).std)


@every_noise
@each("scale", [1e-12, 1e12, -1e12, 1e200])
def test_the_units_of_y_do_not_matter(scale: float, noise: float | str) -> None:
    X, at = np.random.default_rng(0).random((12, 2)), np.random.default_rng(1).random((10, 2))
    one, two = (FixedRBF(noise=noise).fit(Data(X, c * smooth(X)), rng()).predict(at) for c in (1.0, scale))
    np.testing.assert_allclose(two.mean / scale, one.mean, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(two.std / abs(scale), one.std, rtol=1e-6)


@every_noise
@each("value", [0.0, 3.0, -1e-300, 1e12])
@each("n", [1, 2, 7])
def test_constant_data_give_a_finite_model_that_says_the_constant(value: float, n: int, noise: float | str) -> None:
    X, at = np.random.default_rng(0).random((n, 2)), np.random.default_rng(1).random((5, 2))
    prediction = FixedRBF(noise=noise).fit(Data(X, np.full(n, value)), rng()).predict(at)
    np.testing.assert_allclose(prediction.mean, value, rtol=1e-9, atol=1e-300)
    assert np.isfinite(prediction.std).all()
    # Not only above zero: what was not looked at may differ from the constant, by more than rounding.
    assert (prediction.std > 1e-3 * (abs(value) or 1.0)).all()


@every_noise
def test_points_on_top_of_each_other_are_survived(noise: float | str) -> None:
    X = np.random.default_rng(0).random((8, 2))
    X = np.vstack([X, X[:4], X[:4] + 1e-12])
    y = smooth(X)
    y[8] += 0.1
    model = FixedRBF(noise=noise).fit(Data(X, y), rng())
    for fitted in (model, model.condition(Data(X[:3], y[:3]))):
        found = fitted.predict_with_gradient(np.vstack([X, np.random.default_rng(1).random((20, 2))]))
        for part in (found.mean, found.std, found.mean_gradient, found.std_gradient):
            assert np.isfinite(part).all()
        assert (found.std > 0.0).all()


def test_noise_is_fixed_where_it_is_given() -> None:
    X = np.random.default_rng(0).random((8, 2))
    for noise in (1e-6, 0.25):
        assert FixedRBF(noise=noise).fit(Data(X, smooth(X)), rng()).noise == pytest.approx(noise, rel=1e-12)
    assert FixedRBF(noise=0.0).fit(Data(X, smooth(X)), rng()).noise == pytest.approx(NOISE_FLOOR, rel=1e-12)


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"centers": 1}, "centers must be a whole number, 2 or more; got 1"),
    ({"centers": 8.5}, "centers must be a whole number, 2 or more; got 8.5"),
    ({"spread": 0.0}, "spread must be a length above zero; got 0.0"),
    ({"spread": np.nan}, "spread must be a finite number; got nan"),
    ({"noise": "some"}, "noise must be a variance or \"infer\"; got 'some'"),
    ({"noise": "auto"}, "noise must be a variance or \"infer\"; got 'auto'"),
    ({"noise": -1.0}, "noise must be a variance, zero or more; got -1.0"),
    ({"noise": None}, "noise must be a finite number; got None"),
]


@each(("arguments", "rule"), INVALID)
def test_a_recipe_that_breaks_a_rule_is_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        FixedRBF(**arguments)


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        FixedRBF().fit(Data(X, y), rng())


def test_recipes_are_values() -> None:
    assert FixedRBF(8, 0.5, 1) == FixedRBF(centers=8, spread=0.5, noise=1.0)
    assert FixedRBF() != FixedRBF(8)
    assert hash(FixedRBF()) == hash(FixedRBF())


# In a study


@pytest.mark.parametrize("strategy", STUDIED)
def test_a_study_with_pending_points_gets_distinct_points_from_every_strategy(strategy: str) -> None:
    pending_points_are_kept_off(FixedRBF(16), strategy)


def test_lies_move_the_next_choice_unless_they_are_kept_from_the_model() -> None:
    spans = {}
    for update in ("none", "condition"):
        strategy = bv.PseudoObservations(bv.ConstantLie("min"), update=update, incumbent="data")
        opt = bv.Optimizer(SPACE, surrogate=FixedRBF(16), strategy=strategy, n_init=6, seed=1)
        for trial in opt.ask(6):
            opt.tell(trial, bowl(trial.params))
        batch = opt.ask(3, distinct=False)
        units = np.array([SPACE.encode([trial.params])[0] for trial in batch])
        spans[update] = float(np.ptp(units, axis=0).max())
    # The paper's parametric case: without an update, one point three times, to what the search leaves apart.
    assert spans["none"] < 1e-3
    assert spans["condition"] > 0.1
