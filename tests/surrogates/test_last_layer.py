from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import (
    BAD_DATA,
    HARD,
    STUDIED,
    hard_data,
    off_kinks,
    pending_and_failed_points_are_kept_off,
    same_networks,
    same_predictions,
    slopes,
    survive_pickling_and_a_journal,
    unit_data,
    unit_smooth,
)

import believer
from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates import LastLayer
from believer.surrogates.data import Data
from believer.surrogates.last_layer import LastLayerModel, LayerBasis, posterior
from believer.surrogates.network import Networks
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    Model,
    Sampling,
    Smoothing,
    Stochastic,
)

SMALL = LastLayer(hidden=(12, 10), max_iterations=40)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def fitted(d: int = 3, n: int = 20, seed: int = 0, recipe: LastLayer = SMALL) -> tuple[LastLayerModel, Array, Array]:
    """A model with its data, y in units that are not the standardized ones."""
    X, y = unit_data(n, d, seed % 1000)
    y = 30.0 + 5.0 * y
    return recipe.fit(Data(X, y), rng(seed)), X, y


def test_the_model_has_every_capability_of_a_closed_form() -> None:
    model, _, _ = fitted()
    for capability in (Model, Conditionable, Differentiable, Joint, Sampling, Smoothing):
        assert isinstance(model, capability)
    assert isinstance(SMALL, Stochastic)
    assert believer.LastLayer is LastLayer


# Conditioning


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 4), st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_a_refit_with_the_basis_frozen(
    a: int, b: int, d: int, n: int, seed: int
) -> None:
    model, X, y = fitted(d, n, seed)
    draw = rng(seed)
    new, values = draw.random((a + b, d)), 30.0 + 10.0 * draw.standard_normal(a + b)
    at_once = model.condition(Data(new, values))
    stepwise = model.condition(Data(new[:a], values[:a])).condition(Data(new[a:], values[a:]))
    refit = posterior(model.basis, np.vstack([X, new]), np.append(y, values))
    at = np.vstack([draw.random((10, d)), X, new])
    same_predictions(at_once, stepwise, at, model.basis.scale)
    same_predictions(at_once, refit, at, model.basis.scale)
    assert at_once.basis is model.basis
    scale = model.basis.scale
    np.testing.assert_allclose(at_once.joint(at).covariance, refit.joint(at).covariance, rtol=0.0, atol=1e-9 * scale**2)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(-1e6, 1e6))
def test_std_never_rises_under_conditioning_and_does_not_depend_on_the_value(seed: int, value: float) -> None:
    model, X, _ = fitted(3, 15, seed)
    x, at = rng(seed).random((1, 3)), np.vstack([rng(seed + 1).random((20, 3)), X])
    before = model.predict(at).std / model.basis.scale
    after = model.condition(Data(x, np.array([value]))).predict(at).std / model.basis.scale
    assert (after**2 <= before**2 + 1e-12).all()
    assert after.sum() < before.sum()
    np.testing.assert_array_equal(
        model.condition(Data(x, np.array([-value]))).predict(at).std / model.basis.scale, after
    )


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_variance_at_the_new_point_is_the_parallel_sum_of_variance_and_noise(seed: int) -> None:
    model, _, _ = fitted(2, 10, seed)
    x = rng(seed).random((1, 2))
    before = float(model.predict(x).std[0] / model.basis.scale) ** 2
    after = float(model.condition(Data(x, np.array([7.0]))).predict(x).std[0] / model.basis.scale) ** 2
    noise = model.basis.noise
    assert after == pytest.approx(before * noise / (before + noise), rel=1e-7, abs=1e-14)


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_believing_the_mean_moves_the_mean_nowhere(seed: int) -> None:
    model, X, _ = fitted(3, 15, seed)
    x, at = rng(seed).random((3, 3)), np.vstack([rng(seed + 1).random((20, 3)), X])
    believed = model.condition(Data(x, model.predict(x).mean))
    np.testing.assert_allclose(
        believed.predict(at).mean, model.predict(at).mean, rtol=0.0, atol=1e-10 * model.basis.scale
    )


def test_conditioning_leaves_the_model_as_it_was() -> None:
    model, X, y = fitted()
    before = model.predict(X)
    model.condition(Data(X[:2], y[:2] + 100.0))
    after = model.predict(X)
    np.testing.assert_array_equal(before.mean, after.mean)
    np.testing.assert_array_equal(before.std, after.std)


# Gradients, joint predictions, draws


@settings(max_examples=15)
@given(st.integers(1, 6), st.integers(1, 30), st.sampled_from([(5,), (16, 16), (4, 9, 3)]), st.integers(0, 2**32))
def test_gradients_are_central_differences(d: int, n: int, hidden: tuple[int, ...], seed: int) -> None:
    model, X, _ = fitted(d, n, seed, LastLayer(hidden, 30))
    at = np.vstack([rng(seed).random((30, d)), X[:3]])
    at = at[off_kinks(model.basis.network, at, 1e-6)]
    assert len(at) >= 20
    found, plain = model.predict_with_gradient(at), model.predict(at)
    np.testing.assert_allclose(found.mean, plain.mean, rtol=1e-13)
    np.testing.assert_allclose(found.std, plain.std, rtol=1e-13)
    mean = slopes(lambda X: model.predict(X).mean[:, None], at, 1e-6)[:, 0]
    variance = slopes(lambda X: model.predict(X).std[:, None] ** 2, at, 1e-6)[:, 0]
    scale = max(float(np.abs(found.mean_gradient).max()), model.basis.scale)
    np.testing.assert_allclose(found.mean_gradient, mean, rtol=0.0, atol=1e-6 * scale)
    rise = 2.0 * found.std[:, None] * found.std_gradient
    np.testing.assert_allclose(rise, variance, rtol=0.0, atol=1e-6 * max(scale**2, float(np.abs(rise).max())))


def test_a_joint_prediction_agrees_with_predict() -> None:
    model, X, _ = fitted()
    at = np.vstack([rng(1).random((10, 3)), X])
    joint, plain = model.joint(at), model.predict(at)
    np.testing.assert_allclose(joint.mean, plain.mean, rtol=1e-13)
    np.testing.assert_allclose(np.sqrt(np.diagonal(joint.covariance)), plain.std, rtol=1e-10)
    np.testing.assert_array_equal(joint.covariance, joint.covariance.T)
    assert np.linalg.eigvalsh(joint.covariance)[0] > -1e-10 * model.basis.scale**2


@pytest.mark.parametrize("noisy", [False, True])
def test_draws_have_the_moments_that_are_predicted(noisy: bool) -> None:
    model, _, _ = fitted()
    at, count = rng(1).random((4, 3)), 20_000
    draws = model.sample(at, count, rng(2), noisy=noisy)
    assert draws.shape == (count, 4)
    joint = model.joint(at)
    covariance = joint.covariance + noisy * model.basis.noise * model.basis.scale**2 * np.eye(4)
    std = np.sqrt(np.diagonal(covariance))
    # Five standard errors: of a mean σ/√N, of a covariance at most σ_i σ_j √(2/N).
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - joint.mean), 5.0 * std / np.sqrt(count))
    off = np.abs(np.cov(draws.T) - covariance) / np.multiply.outer(std, std)
    assert off.max() < 5.0 * np.sqrt(2.0 / count)


# What the std means


def test_std_is_larger_away_from_the_data_than_at_it() -> None:
    # Data in a corner of the square, the opposite corner unseen: 16 of 20 or more happen by chance once in 170 times.
    wins = 0
    for seed in range(20):
        draw = rng(seed)
        X = 0.5 * draw.random((15, 2))
        model = LastLayer().fit(Data(X, unit_smooth(X)), draw)
        wins += bool(model.predict(0.5 + 0.5 * draw.random((50, 2))).std.mean() > model.predict(X).std.mean())
    assert wins >= 16


def one_layer(weights: list[float], biases: list[float]) -> Networks:
    """A network of one hidden layer on one input."""
    W, b = np.array(weights)[None, None, :], np.array(biases)[None, None, :]
    return Networks((W, np.ones((1, len(weights), 1))), (b, np.zeros((1, 1, 1))))


def test_where_every_unit_is_off_only_the_intercept_is_uncertain() -> None:
    # One unit, on for x > 1/2; all data on the left of it.
    basis = LayerBasis(one_layer([1.0], [0.0]), norm=1.0, prior=2.0, noise=0.5, shift=0.0, scale=1.0)
    model = posterior(basis, np.array([[0.1], [0.3]]), np.array([1.0, 1.0]))
    found = model.predict(np.array([[0.0], [0.4], [1.0]]))
    # The intercept has the precision 1/v + 2/σ_n², the unit keeps its prior variance v; the feature at 1 is 1.
    intercept = 1.0 / (1.0 / 2.0 + 2.0 / 0.5)
    np.testing.assert_allclose(found.std**2, [intercept, intercept, intercept + 2.0], rtol=1e-12)
    np.testing.assert_allclose(found.mean, 2.0 / 0.5 * intercept, rtol=1e-12)


def test_a_network_whose_units_are_all_off_on_the_data_is_no_trouble() -> None:
    at = np.linspace(0.0, 1.0, 11)[:, None]
    dead = 0
    for seed in range(10):
        model = LastLayer((1,), 5).fit(Data(np.array([[0.3]]), np.array([2.0])), rng(seed))
        dead += not model.basis.network.hidden(np.array([[0.3]]))[-1].any()
        found = model.predict(at)
        assert np.isfinite(found.mean).all()
        assert np.isfinite(found.std).all()
        assert (found.std > 0.0).all()
    assert dead


def test_units_that_repeat_each_other_do_no_harm() -> None:
    X, y = np.linspace(0.0, 1.0, 9)[:, None], np.sin(5.0 * np.linspace(0.0, 1.0, 9))
    weights, biases = [1.0, -1.3, 0.7], [0.2, 0.5, 0.1]
    single = LayerBasis(one_layer(weights, biases), norm=1.0, prior=2.0, noise=1e-4, shift=0.0, scale=1.0)
    double = replace(single, network=one_layer(2 * weights, 2 * biases), norm=float(np.sqrt(2.0)))
    at = np.linspace(0.0, 1.0, 30)[:, None]
    same_predictions(posterior(single, X, y), posterior(double, X, y), at, single.scale)


def test_features_are_of_size_one_on_the_data() -> None:
    model, X, _ = fitted()
    F = model.basis.features(X)
    assert float((F[:, :-1] ** 2).sum(axis=1).mean()) == pytest.approx(1.0)
    np.testing.assert_array_equal(F[:, -1], 1.0)


@pytest.mark.parametrize("d", [1, 2])
def test_a_smooth_function_is_learned(d: int) -> None:
    at = rng(99).random((500, d))
    truth = unit_smooth(at)
    for seed in range(5):
        model = LastLayer().fit(Data(*unit_data(40, d, seed)), rng(seed))
        assert 1.0 - ((model.predict(at).mean - truth) ** 2).mean() / truth.var() > 0.9


# Draws


def test_with_fixed_draws_the_generator_does_not_matter_and_without_them_it_does() -> None:
    X, y = unit_data(20, 3)
    fixed = SMALL.with_fixed_draws(5)
    assert fixed == replace(SMALL, seed=5)

    def network(recipe: LastLayer, seed: int, rows: int = 20) -> Networks:
        return recipe.fit(Data(X[:rows], y[:rows]), rng(seed)).basis.network

    assert same_networks(network(fixed, 0), network(fixed, 1))
    assert not same_networks(network(fixed, 0), network(SMALL.with_fixed_draws(6), 0))
    assert not same_networks(network(SMALL, 0), network(SMALL, 1))
    start = replace(fixed, max_iterations=1)
    assert same_networks(network(start, 0, 19), network(start, 1, 20))


# Hard data


@each("size", [1e-12, 1.0, 1e12])
@each("kind", HARD)
def test_hard_data_give_finite_predictions_near_the_data_and_std_above_zero(kind: str, size: float) -> None:
    X, y = hard_data(kind, size)
    model = LastLayer((16,), 200).fit(Data(X, y), rng())
    model = model.condition(Data(X[:1], y[:1])).condition(Data(X[:1], y[:1] + size))
    at = np.vstack([X, rng(1).random((50, 2)), np.zeros((1, 2)), np.ones((1, 2))])
    found = model.predict_with_gradient(at)
    for part in (found.mean, found.std, found.mean_gradient, found.std_gradient):
        assert np.isfinite(part).all()
    assert (found.std > 1e-9 * model.basis.scale).all()
    reach = np.abs(y).max() + size
    assert np.abs(found.mean).max() < 5.0 * reach
    assert found.std.max() < 5.0 * reach
    assert np.isfinite(model.sample(at, 2, rng(), noisy=True)).all()


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_units_of_y_do_not_matter(factor: float) -> None:
    X, y = unit_data(15, 2)
    at = rng(1).random((20, 2))
    plain, scaled = SMALL.fit(Data(X, y), rng()).predict(at), SMALL.fit(Data(X, factor * y), rng()).predict(at)
    np.testing.assert_allclose(scaled.mean / factor, plain.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.std / factor, plain.std, rtol=1e-6)


def test_what_the_features_cannot_express_is_called_noise() -> None:
    X = rng().random((80, 3))
    rough, plain = rng(1).standard_normal(80), unit_smooth(X)
    assert (
        LastLayer().fit(Data(X, rough), rng()).basis.noise > 10.0 * LastLayer().fit(Data(X, plain), rng()).basis.noise
    )
    model = LastLayer().fit(Data(X, rough), rng())
    assert model.is_noisy
    assert not posterior(replace(model.basis, noise=1e-6), X, rough).is_noisy


# In a study


@pytest.mark.parametrize("strategy", STUDIED)
def test_a_study_works_with_every_strategy_and_with_pending_points(strategy: str) -> None:
    pending_and_failed_points_are_kept_off(LastLayer((6,), 15), strategy)


def test_recipe_and_model_survive_pickling_and_the_recipe_a_journal() -> None:
    recipe = LastLayer((8, 4), 40, seed=9)
    survive_pickling_and_a_journal(recipe, recipe.fit(Data(*unit_data(9, 2)), rng()), rng(1).random((5, 2)))


@pytest.mark.parametrize(
    ("settings_", "word"),
    [({"hidden": 3}, "hidden"), ({"max_iterations": 0}, "max_iterations"), ({"seed": -1}, "seed")],
)
def test_settings_are_checked(settings_: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        LastLayer(**settings_)


@pytest.mark.parametrize("seed", [None, -1, 0.5, True])
def test_draws_are_fixed_by_a_whole_number_only(seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number, 0 or more"):
        LastLayer().with_fixed_draws(seed)


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SMALL.fit(Data(X, y), rng())
