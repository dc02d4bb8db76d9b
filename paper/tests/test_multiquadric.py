"""[paper] Eq. 18 as it stands, and what is wrong with it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.plugins import Conditionable, Data, Differentiable, Joint, Sampling
from believer.surrogates import multiquadric
from believer.testing import ContractBroken, surrogate_checks
from believer_paper.setup.multiquadric import PrintedMQRBF, PrintedMQRBFModel, posterior

RNG = np.random.default_rng(0)
BROKEN = "the mean moves toward a lie"
"""Near the data the ridge has the wrong sign: a lie is overshot, or answered by a step away from it."""


def values(X: Array) -> Array:
    """A smooth function whose units are not the standardized ones."""
    found: Array = 30.0 + 5.0 * (np.sin(4.0 * X) + X**2).sum(axis=1)
    return found


def model_for(d: int = 2, n: int = 12, ridge: float = 1e-4, seed: int = 0) -> PrintedMQRBFModel:
    X = np.random.default_rng(seed).random((n, d))
    return PrintedMQRBF(ridge).fit(Data(X, values(X)), RNG)


def single(ridge: float) -> PrintedMQRBFModel:
    """One datum at the middle of a line, ε = 1."""
    return PrintedMQRBF(ridge, spread=1.0).fit(Data(np.array([[0.5]]), np.array([2.0])), RNG)


def rounding(model: PrintedMQRBFModel) -> float:
    """What rounding may do to a form v A⁻¹ v: the largest entry of an inverse, here or on the way, times N 1e-15."""
    inverse = model.inverse
    parts = inverse.diagonal, inverse.base, inverse.weights
    return 1e-15 * inverse.rows * max(float(np.abs(part).max(initial=1.0)) for part in parts)


def same_predictions(a: PrintedMQRBFModel, b: PrintedMQRBFModel, at: Array) -> None:
    """Interpolants and radicands agree to rounding; that of the former is in units of the weights that it sums."""
    one, two = a.evaluate(at), b.evaluate(at)
    tol = 100.0 * max(rounding(a), rounding(b))
    np.testing.assert_allclose(one.radicand, two.radicand, rtol=0.0, atol=tol * max(1.0, np.abs(two.radicand).max()))
    tol *= max(float(np.abs(model.weights).max(initial=1.0)) for model in (a, b))
    np.testing.assert_allclose(one.mean, two.mean, rtol=0.0, atol=tol)


# As a surrogate


def test_it_keeps_the_contract_of_surrogates_but_for_one_law() -> None:
    checks = [check for check in surrogate_checks(PrintedMQRBF()) if str(check) != BROKEN]
    assert len(checks) > 40
    for check in checks:
        check()


def test_it_breaks_the_law_that_the_mean_moves_toward_a_lie() -> None:
    (law,) = (check for check in surrogate_checks(PrintedMQRBF()) if str(check) == BROKEN)
    with pytest.raises(ContractBroken):
        law()


def test_it_has_the_capabilities_that_are_true_of_it() -> None:
    model = model_for()
    assert isinstance(model, Conditionable)
    assert isinstance(model, Differentiable)
    assert not isinstance(model, Joint)
    assert not isinstance(model, Sampling)


def test_models_and_recipes_survive_pickling() -> None:
    model, at = model_for().condition(Data(np.full((1, 2), 0.3), np.array([31.0]))), RNG.random((4, 2))
    again = pickle.loads(pickle.dumps(model)).predict(at)
    np.testing.assert_array_equal(again.std, model.predict(at).std)
    assert pickle.loads(pickle.dumps(PrintedMQRBF(1e-3, 0.4))) == PrintedMQRBF(1e-3, 0.4)


@pytest.mark.parametrize("wrong", [{"ridge": -1.0}, {"ridge": np.nan}, {"spread": 0.0}, {"spread": "wide"}])
def test_bad_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} must be"):
        PrintedMQRBF(**wrong)


# Conditioning


@pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.3])
@settings(max_examples=12)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(2, 5), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_solving_anew_at_frozen_parameters(
    ridge: float, a: int, b: int, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((6 + a + b, d)), rng.standard_normal(6 + a + b)
    base = PrintedMQRBF(ridge).fit(Data(X[:6], y[:6]), RNG)
    stepwise = base.condition(Data(X[6 : 6 + a], y[6 : 6 + a])).condition(Data(X[6 + a :], y[6 + a :]))
    at_once = base.condition(Data(X[6:], y[6:]))
    whole = posterior(base.parameters, X, y)
    at = np.vstack([rng.random((5, d)), X])
    # At the pole a point is left out, and near it rounding grows with the square of the inverse.
    assume((at_once.inverse.weights != 0.0).all() and max(rounding(at_once), rounding(whole)) < 1e-9)
    same_predictions(stepwise, at_once, at)
    same_predictions(at_once, whole, at)
    assert at_once.parameters is base.parameters


def test_without_a_ridge_a_repeated_point_is_left_out() -> None:
    X = np.random.default_rng(0).random((8, 2))
    y, at = values(X), np.random.default_rng(1).random((5, 2))
    once = PrintedMQRBF(ridge=0.0).fit(Data(X, y), RNG)
    copied = posterior(once.parameters, np.vstack([X, X[:3]]), np.concatenate([y, y[:3] + 50.0]))
    for model in (copied, once.condition(Data(X[:3], y[:3] + 50.0))):
        same_predictions(model, once, at)


def central_differences(f: Callable[[Array], Array], x: Array, step: float = 1e-4) -> Array:
    steps = step * np.eye(len(x))
    slopes: Array = (f(x + steps) - f(x - steps)) / (2.0 * step)
    return slopes


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
        by_mean = central_differences(lambda Z: model.predict(Z).mean, x)
        by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x)
        np.testing.assert_allclose(mean_slope, by_mean, rtol=1e-6, atol=1e-6 * scale)
        np.testing.assert_allclose(2.0 * std * std_slope, by_variance, rtol=1e-6, atol=1e-6 * scale**2)


# What is wrong with it


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(2, 4), st.integers(0, 2**32))
def test_the_radicand_is_negative_off_the_data_without_a_ridge(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    model = PrintedMQRBF(ridge=0.0).fit(Data(X, values(X)), RNG)
    at = rng.random((30, d))
    off = np.sqrt(((at[:, None, :] - X) ** 2).sum(axis=2)).min(axis=1) > 0.05
    # The inertia behind it: one positive eigenvalue, all others negative.
    assert (np.linalg.eigvalsh(multiquadric(X, X, model.parameters.spread)) > 0.0).sum() == 1
    radicand = model.evaluate(at).radicand
    assert (radicand[off] < 0.0).all()
    np.testing.assert_allclose(model.predict(at).std, model.parameters.scale * np.sqrt(-radicand), rtol=1e-9)


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(2, 4), st.integers(0, 2**32))
def test_the_std_never_rises_without_a_ridge(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng((seed, 1))
    model = model_for(d, n, 0.0, seed % 1000)
    at = rng.random((30, d))
    before = model.evaluate(at).radicand
    for x in rng.random((3, 1, d)):
        model = model.condition(Data(x, np.zeros(1)))
        after = model.evaluate(at).radicand
        assert (np.abs(after) <= np.abs(before) + 10.0 * rounding(model)).all()
        before = after


@pytest.mark.parametrize("ridge", [1e-4, 1e-2])
def test_with_a_ridge_the_std_vanishes_on_a_shell_and_not_at_the_datum(ridge: float) -> None:
    model = single(ridge)
    shell = np.sqrt(ridge)
    at = model.evaluate(np.array([[0.5], [0.5 + 0.9 * shell], [0.5 + 1.1 * shell]]))
    assert at.radicand[0] == pytest.approx(ridge / (1.0 + ridge))
    assert at.radicand[1] > 0.0 > at.radicand[2]
    # Zero to the root of a rounding error, against √λ at the datum.
    std = model.predict(np.array([[0.5], [0.5 + shell]])).std
    assert std[1] < 1e-5 * std[0]


@pytest.mark.parametrize("ridge", [1e-4, 1e-2])
def test_near_its_pole_the_std_rises_under_conditioning_everywhere(ridge: float) -> None:
    model = single(ridge)
    pole = np.sqrt(2.0 * ridge + ridge**2)
    at = np.array([[0.0], [1.0], [0.5 + 1.05 * pole]])
    before = model.predict(at).std
    after = model.condition(Data(at[2:], np.array([2.0]))).predict(at).std
    assert (after > 1.1 * before).all()
    # Exactly at the pole the pivot is lost, and the point is left out.
    told = model.condition(Data(np.array([[0.5 + pole]]), np.array([9.0])))
    assert told.inverse.weights[-1] == 0.0
    same_predictions(told, model, at)
    # Far from the pole nothing of the kind happens at the point itself.
    far = np.array([[0.9]])
    assert model.condition(Data(far, np.array([2.0]))).predict(far).std[0] < model.predict(far).std[0]


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
    if ridge:
        # Past the lie where R < -λ, away from it where -λ < R < 0.
        assert max(shares) > 1.001
        assert min(shares) < 0.0 or ridge < 0.1


@pytest.mark.parametrize("d", [1, 3])
def test_the_ridge_moves_negative_eigenvalues_towards_zero_and_across(d: int) -> None:
    X = np.random.default_rng(0).random((20, d))
    model = PrintedMQRBF(ridge=1e-2).fit(Data(X, values(X)), RNG)
    plain = np.linalg.eigvalsh(multiquadric(X, X, model.parameters.spread))
    shifted = np.sort(1.0 / np.linalg.eigvalsh(model.inverse.base))
    np.testing.assert_allclose(shifted, plain + 1e-2, rtol=0.0, atol=1e-9)
    assert (plain < 0.0).sum() == 19
    assert (shifted < 0.0).sum() < 19
