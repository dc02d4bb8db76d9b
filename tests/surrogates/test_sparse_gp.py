from __future__ import annotations

import dataclasses
import json
import pickle
from itertools import pairwise
from pathlib import Path
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
    advance,
    believed,
    central_differences,
    hyper_for,
    joint_is_that_of_predict,
    pending_points_are_kept_off,
    same_predictions,
    samples_have_the_moments_of_the_joint,
    smooth,
)

import believer as bv
from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.problems.synthetic import hartmann6
from believer.surrogates import SparseGP, gp, gp_fit, sparse_gp
from believer.surrogates.data import Data
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    Model,
    Restorable,
    Sampling,
    Scaled,
    Smoothing,
)
from believer.surrogates.sparse_gp import SparseGPModel, choose_inducing, places, posterior

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def model_for(
    d: int = 2, n: int = 20, m: int = 6, kernel: str = "matern52", noise: float = 1e-4, seed: int = 0
) -> SparseGPModel:
    """A model at fixed hyperparameters, y in units that are not the standardized ones."""
    X = np.random.default_rng(seed).random((n, d))
    hyper = hyper_for(d, kernel, noise)
    return posterior(hyper, choose_inducing(hyper, X, m), X, 30.0 + 5.0 * smooth(X), shift=31.0, scale=4.0)


def prior_covariance(hyper: Hyperparameters, A: Array, B: Array) -> Array:
    r2 = ((A[:, None] - B) ** 2 / hyper.lengthscales**2).sum(axis=2)
    return hyper.signal * KERNELS[hyper.kernel](r2)[0]


def rest(model: SparseGPModel, at: Array) -> Array:
    """r(x) (k,), in the units of y squared, by the definition."""
    K = prior_covariance(model.hyper, model.inducing, model.inducing)
    k = prior_covariance(model.hyper, model.inducing, at)
    left: Array = model.scale**2 * (model.hyper.signal - np.einsum("ij,ij->j", k, np.linalg.solve(K, k)))
    return left


# The posterior


@every_kernel
@each("noise", [1e-6, 1e-4, 0.3])
@each(("n", "d"), [(1, 2), (15, 1), (25, 3)])
def test_with_all_data_inducing_it_is_the_exact_process(kernel: str, noise: float, n: int, d: int) -> None:
    X = np.random.default_rng(1).random((n, d))
    y = 30.0 + 5.0 * smooth(X)
    hyper = hyper_for(d, kernel, noise)
    exact = gp.posterior(hyper, X, y, 31.0, 4.0)
    rows = choose_inducing(hyper, X, n)
    found = posterior(hyper, rows, X, y, 31.0, 4.0)
    # A squared-exponential covariance of close points is singular to rounding: some explain the others altogether.
    assert len(rows) == n or kernel == "se"
    at = np.vstack([np.random.default_rng(2).random((20, d)), X, np.full((1, d), 3.0)])
    same_predictions(found, exact, at, 4.0, 1e-7)
    np.testing.assert_allclose(found.joint(at).covariance, exact.joint(at).covariance, rtol=0.0, atol=1e-6)
    slopes, expected = found.predict_with_gradient(at[:20]), exact.predict_with_gradient(at[:20])
    np.testing.assert_allclose(slopes.mean_gradient, expected.mean_gradient, rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(slopes.std_gradient, expected.std_gradient, rtol=1e-3, atol=1e-4)


@every_kernel
@pytest.mark.parametrize("noise", [1e-4, 0.3])
def test_with_fewer_inducing_points_it_is_the_deterministic_training_conditional(kernel: str, noise: float) -> None:
    X, at = np.random.default_rng(1).random((20, 2)), np.random.default_rng(2).random((10, 2))
    y = smooth(X)
    hyper = hyper_for(2, kernel, noise, mean=0.0)
    Z = X[[3, 5, 11, 17]]
    found = posterior(hyper, (3, 5, 11, 17), X, y, 0.0, 1.0)
    Kuu, Kuf, Kua = (prior_covariance(hyper, Z, B) for B in (Z, X, at))
    sigma = np.linalg.inv(Kuu + Kuf @ Kuf.T / noise)
    mean = Kua.T @ sigma @ Kuf @ y / noise
    covariance = prior_covariance(hyper, at, at) - Kua.T @ np.linalg.solve(Kuu, Kua) + Kua.T @ sigma @ Kua
    np.testing.assert_allclose(found.predict(at).mean, mean, atol=1e-8)
    np.testing.assert_allclose(found.predict(at).std ** 2, np.diagonal(covariance), atol=1e-9)
    np.testing.assert_allclose(found.joint(at).covariance, covariance, atol=1e-9)


def test_more_inducing_points_come_nearer_to_the_exact_process() -> None:
    X, at = np.random.default_rng(0).random((60, 2)), np.random.default_rng(1).random((50, 2))
    y = smooth(X)
    hyper = hyper_for(2, noise=1e-6)
    exact = gp.posterior(hyper, X, y, 0.0, 1.0).predict(at)
    errors, rests = [], []
    for m in (4, 12, 30, 60):
        model = posterior(hyper, choose_inducing(hyper, X, m), X, y, 0.0, 1.0)
        errors.append(float(np.abs(model.predict(at).mean - exact.mean).max()))
        rests.append(model.predict(at).std)
        assert (model.predict(at).std >= exact.std - 1e-6).all()
    assert errors == sorted(errors, reverse=True)
    assert all((more <= fewer + 1e-9).all() for fewer, more in pairwise(rests))


# Conditioning


@every_kernel
@settings(max_examples=10)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_a_fit_with_parameters_frozen(
    kernel: str, a: int, b: int, d: int, seed: int
) -> None:
    gen = np.random.default_rng(seed)
    X = gen.random((12 + a + b, d))
    y = smooth(X) + 0.1 * gen.standard_normal(len(X))
    hyper = hyper_for(d, kernel, noise=1e-3)
    rows = choose_inducing(hyper, X[:12], 5)
    base = posterior(hyper, rows, X[:12], y[:12], 0.5, 2.0)
    stepwise = base.condition(Data(X[12 : 12 + a], y[12 : 12 + a])).condition(Data(X[12 + a :], y[12 + a :]))
    at_once = base.condition(Data(X[12:], y[12:]))
    at = np.vstack([gen.random((5, d)), X])
    whole = posterior(hyper, rows, X, y, 0.5, 2.0)
    # Values that no smooth function has make the mean swing far beyond them: its error is relative to that.
    tol = 1e-9 * (1.0 + float(np.abs(whole.predict(at).mean).max()))
    same_predictions(stepwise, at_once, at, base.scale, tol)
    same_predictions(at_once, whole, at, base.scale, tol)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_the_order_of_lies_does_not_matter(seed: int) -> None:
    gen = np.random.default_rng(seed)
    model = model_for(3, seed=seed % 1000)
    X, y, at = gen.random((5, 3)), 30.0 + gen.standard_normal(5), gen.random((8, 3))
    order = gen.permutation(5)
    same_predictions(model.condition(Data(X, y)), model.condition(Data(X[order], y[order])), at, model.scale)


@every_kernel
@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(-1e3, 1e3), st.sampled_from([1e-8, 1e-6, 1e-2, 1.0]))
def test_std_never_rises_under_conditioning_nor_falls_below_what_the_inducing_points_cannot_explain(
    kernel: str, seed: int, value: float, noise: float
) -> None:
    gen = np.random.default_rng(seed)
    model = model_for(3, kernel=kernel, noise=noise, seed=seed % 1000)
    at = np.vstack([gen.random((20, 3)), model.inducing])
    told = model.condition(Data(at[:3], np.full(3, value)))
    before, after = model.predict(at).std ** 2, told.predict(at).std ** 2
    tol = 1e-12 * model.scale**2
    assert (after <= before + tol).all()
    assert (after >= rest(model, at) - tol).all()
    np.testing.assert_array_equal(
        told.predict(at).std, model.condition(Data(at[:3], np.full(3, -value))).predict(at).std
    )


@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_far_from_all_inducing_points_a_lie_cannot_lower_the_variance(noise: float) -> None:
    hyper = Hyperparameters("matern52", frozen([0.05, 0.05]), signal=1.7, noise=noise)
    near = np.random.default_rng(0).random((30, 2)) * 0.3
    y, far = smooth(near), np.array([[0.9, 0.9]])
    sparse = posterior(hyper, choose_inducing(hyper, near, 30), near, y, 0.0, 1.0)
    exact = gp.posterior(hyper, near, y, 0.0, 1.0)
    lied = sparse
    for _ in range(5):
        lied = lied.condition(Data(far, np.array([0.0])))
    # Five lies at the very point leave its variance where it was; the exact process is sure after the first.
    assert lied.predict(far).std[0] == pytest.approx(sparse.predict(far).std[0], rel=1e-6)
    assert sparse.predict(far).std[0] == pytest.approx(np.sqrt(1.7), rel=1e-6)
    assert exact.condition(Data(far, np.array([0.0]))).predict(far).std[0] < 1.1 * np.sqrt(noise)
    # At an inducing point a lie counts as it does for the exact process: twice the data, half the variance.
    here = sparse.inducing[:1]
    ratio = sparse.condition(Data(here, np.array([0.0]))).predict(here).std[0] / sparse.predict(here).std[0]
    expected = exact.condition(Data(here, np.array([0.0]))).predict(here).std[0] / exact.predict(here).std[0]
    assert ratio == pytest.approx(expected, rel=1e-3)
    assert ratio < 0.75


@every_kernel
@each("noise", [1e-6, 1e-3, 0.3])
def test_with_inducing_points_among_the_data_no_lie_lowers_the_variance_by_more_than_the_noise_allows(
    kernel: str, noise: float
) -> None:
    model = model_for(2, kernel=kernel, noise=noise)
    at = np.random.default_rng(1).random((30, 2))
    K = prior_covariance(model.hyper, model.inducing, model.inducing)
    pull = np.linalg.solve(K, prior_covariance(model.hyper, model.inducing, at))
    room = noise * (pull**2).sum(axis=0)
    told = model
    for _ in range(3):
        told = told.condition(Data(at, model.predict(at).mean))
    fall = (model.predict(at).std ** 2 - told.predict(at).std ** 2) / model.scale**2
    assert (fall <= room + 1e-12).all()
    # What is left of the variance in most places is a rest that lies cannot reach, unless the data are noisy.
    share = np.median(fall * model.scale**2 / model.predict(at).std ** 2)
    assert share < 1e-2 if noise <= 1e-3 else share > 0.1


def test_believing_the_mean_moves_the_mean_nowhere() -> None:
    model = model_for(3)
    at = np.random.default_rng(1).random((30, 3))
    told = believed(model, np.random.default_rng(2).random((4, 3)))
    np.testing.assert_allclose(told.predict(at).mean, model.predict(at).mean, rtol=0.0, atol=1e-9 * model.scale)
    assert (told.predict(at).std < model.predict(at).std).any()


def test_conditioning_changes_neither_the_parent_nor_hyperparameters_nor_inducing_points() -> None:
    model = model_for()
    before = model.weights.mean.copy(), model.weights.root.copy()
    child = model.condition(Data(np.full((2, 2), 0.5), np.array([1e6, -1e6])))
    np.testing.assert_array_equal(model.weights.mean, before[0])
    np.testing.assert_array_equal(model.weights.root, before[1])
    for name in ("hyper", "rows", "inducing", "inverse", "shift", "scale"):
        assert getattr(child, name) is getattr(model, name)
    for part in (child.weights.mean, child.weights.root, child.inducing):
        assert not part.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.scale = 1.0  # type: ignore[misc]


# Prediction


@every_kernel
@each("d", [1, 3, 50])
@each("conditioned", [False, True])
def test_gradients_are_central_differences(kernel: str, d: int, conditioned: bool) -> None:
    model = model_for(d, kernel=kernel)
    gen = np.random.default_rng(3)
    if conditioned:
        model = model.condition(Data(gen.random((2, d)), np.array([29.0, 33.0])))
    # Between inducing points, near one, and outside of the cube.
    X = np.vstack([gen.random((3, d)), model.inducing[:1] + 1e-3, np.full((1, d), 1.3)])
    at, plain = model.predict_with_gradient(X), model.predict(X)
    np.testing.assert_allclose(at.mean, plain.mean, rtol=1e-12)
    np.testing.assert_allclose(at.std, plain.std, rtol=1e-9)
    for x, mean_slope, std, std_slope in zip(X, at.mean_gradient, at.std, at.std_gradient, strict=True):
        by_mean = central_differences(lambda Z: model.predict(Z).mean, x, 1e-4)
        by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x, 1e-4)
        np.testing.assert_allclose(mean_slope, by_mean, rtol=1e-5, atol=1e-5 * model.scale)
        np.testing.assert_allclose(2.0 * std * std_slope, by_variance, rtol=1e-5, atol=1e-5 * model.scale**2)


@every_kernel
def test_gradients_at_an_inducing_point_are_those_of_the_variance(kernel: str) -> None:
    model = model_for(2, kernel=kernel)
    x = model.inducing[1]
    at = model.predict_with_gradient(x[None, :])
    assert np.isfinite(at.std_gradient).all()
    by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x, 1e-4)
    tol = 1e-5 * model.scale**2
    np.testing.assert_allclose(2.0 * at.std[:, None] * at.std_gradient, by_variance[None, :], rtol=1e-4, atol=tol)


@every_kernel
def test_far_from_data_the_prior_returns(kernel: str) -> None:
    model = model_for(2, kernel=kernel)
    at = model.predict(np.full((1, 2), 1e4))
    assert at.mean[0] == pytest.approx(31.0 + 4.0 * 0.2)
    assert at.std[0] == pytest.approx(model.scale * np.sqrt(model.hyper.signal))


@every_kernel
def test_the_diagonal_of_the_joint_is_the_variance(kernel: str) -> None:
    model = model_for(3, kernel=kernel).condition(Data(np.full((1, 3), 0.5), np.array([30.0])))
    X = np.vstack([np.random.default_rng(0).random((6, 3)), model.inducing[:2]])
    joint_is_that_of_predict(model, X, model.scale, rtol=1e-7)


@pytest.mark.parametrize("noisy", [False, True])
def test_samples_have_the_moments_of_the_joint(noisy: bool) -> None:
    model = model_for(2, 8, 4, noise=0.05)
    X = np.array([[0.1, 0.2], [0.15, 0.2], [0.9, 0.5], [0.5, 0.99]])
    samples_have_the_moments_of_the_joint(model, X, model.hyper.noise * model.scale**2 if noisy else None)


# Inducing points


@every_kernel
@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_every_inducing_point_is_the_one_that_those_before_explain_least(kernel: str, seed: int) -> None:
    X = np.random.default_rng(seed).random((15, 2))
    hyper = hyper_for(2, kernel)
    K = prior_covariance(hyper, X, X)
    rows = choose_inducing(hyper, X, 6, first=4)
    assert rows[0] == 4
    assert len(set(rows)) == 6
    for i in range(1, 6):
        before = list(rows[:i])
        k = K[before]
        left = hyper.signal - np.einsum("ij,ij->j", k, np.linalg.solve(K[np.ix_(before, before)], k))
        assert left[rows[i]] >= left.max() - 1e-9


def test_copies_of_a_point_are_chosen_once() -> None:
    X = np.repeat(np.random.default_rng(0).random((5, 2)), 4, axis=0)
    rows = np.array(choose_inducing(hyper_for(2), X, 20))
    assert (rows[:5] < len(X)).all()
    assert len(np.unique(X[rows[:5]], axis=0)) == 5
    # Places of the cube follow, each once.
    assert (rows[5:] >= len(X)).all()
    assert len(set(rows)) == len(rows) == 20


@pytest.mark.parametrize("inducing", [1, 5, 32])
def test_a_fit_has_no_more_inducing_points_than_asked_for_and_the_best_result_is_the_first(inducing: int) -> None:
    X = np.random.default_rng(0).random((20, 2))
    y = smooth(X)
    model = SparseGP(inducing).fit(Data(X, y), rng())
    assert len(model.rows) == len(model.inducing) == inducing
    assert model.rows[0] == int(np.argmin(y))
    np.testing.assert_array_equal(model.inducing, np.vstack([X, places(2)])[list(model.rows)])
    assert sum(row < 20 for row in model.rows) == min(inducing, 20)


def test_while_there_are_fewer_data_than_inducing_points_believing_lowers_the_variance() -> None:
    X = np.random.default_rng(0).random((10, 2))
    x = np.array([[0.9, 0.1]])
    falls = {}
    for inducing in (10, 64):
        model = SparseGP(inducing).fit(Data(X, smooth(X)), rng())
        before = model.predict(x)
        falls[inducing] = 1.0 - float(model.condition(Data(x, before.mean)).predict(x).std[0] / before.std[0])
    assert falls[10] < 0.01
    assert falls[64] > 0.2


def test_inducing_points_beside_the_data_leave_the_process_exact() -> None:
    X = np.random.default_rng(1).random((12, 2))
    sparse = SparseGP(64).fit(Data(X, smooth(X)), rng())
    exact = gp.posterior(sparse.hyper, X, smooth(X), *gp.standardization(smooth(X)))
    at = np.random.default_rng(2).random((50, 2))
    np.testing.assert_allclose(sparse.predict(at).mean, exact.predict(at).mean, atol=1e-4 * exact.scale)
    np.testing.assert_allclose(sparse.predict(at).std, exact.predict(at).std, atol=1e-3 * exact.scale)


# Fitting


def test_a_sparse_process_has_every_capability() -> None:
    for capability in (Model, Conditionable, Differentiable, Joint, Sampling, Smoothing, Scaled):
        assert isinstance(model_for(), capability)
    assert isinstance(SparseGP(), Restorable)
    assert model_for(noise=1e-2).is_noisy
    assert not model_for(noise=1e-6).is_noisy


@pytest.mark.parametrize("noise", [1e-6, "infer"])
def test_hyperparameters_are_those_of_the_exact_process(noise: float | str) -> None:
    X = np.random.default_rng(0).random((15, 3))
    y = 1e3 + smooth(X)
    sparse = SparseGP(5, noise=noise).fit(Data(X, y), rng())
    exact = gp.GP(noise=noise).fit(Data(X, y), rng())
    assert sparse.hyper.to_config() == exact.hyper.to_config()
    np.testing.assert_array_equal(sparse.lengthscales, exact.lengthscales)
    assert (sparse.shift, sparse.scale) == (exact.shift, exact.scale)
    whole = SparseGP(15, noise=noise).fit(Data(X, y), rng())
    same_predictions(whole, exact, np.random.default_rng(1).random((20, 3)), exact.scale, 1e-6)


@every_kernel
@each("noise", [1e-6, 0.1, "infer"])
def test_describe_and_restore_give_the_same_bits(kernel: str, noise: float | str) -> None:
    X = np.random.default_rng(0).random((12, 2))
    y = 1e3 + smooth(X)
    surrogate = SparseGP(6, kernel, noise)
    model = surrogate.fit(Data(X, y), rng())
    state = json.loads(json.dumps(surrogate.describe(model)))
    again = surrogate.restore(Data(X, y), state)
    at = np.random.default_rng(1).random((5, 2))
    np.testing.assert_array_equal(again.weights.mean, model.weights.mean)
    np.testing.assert_array_equal(again.weights.root, model.weights.root)
    np.testing.assert_array_equal(again.inverse, model.inverse)
    np.testing.assert_array_equal(again.predict(at).std, model.predict(at).std)
    assert surrogate.describe(again) == state
    told, told_again = (m.condition(Data(at[:2], np.ones(2))) for m in (model, again))
    np.testing.assert_array_equal(told.weights.mean, told_again.weights.mean)
    assert surrogate.describe(told) == state


@pytest.mark.parametrize("rows", [[], [0, 12 + 256], [-1]])
def test_inducing_points_that_are_neither_data_nor_places_are_refused(rows: list[int]) -> None:
    X = np.random.default_rng(0).random((12, 2))
    surrogate = SparseGP(6)
    state = {**surrogate.describe(surrogate.fit(Data(X, smooth(X)), rng())), "inducing": rows}
    with pytest.raises(InvalidInput, match="inducing points must be rows of the 12 data"):
        surrogate.restore(Data(X, smooth(X)), state)


def test_many_data_take_their_hyperparameters_from_a_seeded_subset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_gp, "SUBSET_ABOVE", 24)
    X = np.random.default_rng(0).random((5000, 2))
    y = smooth(X)
    one, again, other = (SparseGP().fit(Data(X, y), np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert one.hyper.subset == SparseGP().describe(one)["subset"] == 24
    assert again.hyper.to_config() == one.hyper.to_config()
    assert again.rows == one.rows
    assert other.hyper.to_config() != one.hyper.to_config()
    # All data count in the posterior, and all may be inducing points.
    assert max(one.rows) >= 24
    assert float(((one.predict(X).mean - y) ** 2).mean()) < 1e-3 * y.var()
    assert SparseGP().fit(Data(X[:24], y[:24]), rng()).hyper.subset is None


def test_a_warm_start_is_the_last_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Hyperparameters | None] = []

    def spy(*args: Any, **rest: Any) -> Hyperparameters:
        seen.append(args[-1])
        return fit(*args, **rest)

    fit = gp_fit.fit
    monkeypatch.setattr(gp_fit, "fit", spy)
    X = np.random.default_rng(0).random((10, 2))
    first = SparseGP().fit(Data(X, smooth(X)), rng())
    SparseGP().fit(Data(X, smooth(X)), rng(), first)
    SparseGP(kernel="se").fit(Data(X, smooth(X)), rng(), first)
    SparseGP().fit(Data(X, smooth(X)), rng(), gp.GP().fit(Data(X, smooth(X)), rng()))
    assert seen[0] is None
    assert seen[1] is first.hyper
    # Another kernel's hyperparameters mean something else; another class of model is not looked into.
    assert seen[2] is None
    assert seen[-1] is None


@pytest.mark.parametrize("scale", [1e-12, 1e12, -1e12])
def test_the_units_of_y_do_not_matter(scale: float) -> None:
    X, at = np.random.default_rng(0).random((12, 2)), np.random.default_rng(1).random((10, 2))
    y = smooth(X)
    # The best result is the first inducing point, so a change of sign needs all of them to be the same.
    one, two = (SparseGP(12).fit(Data(X, c * y), rng()).predict(at) for c in (1.0, scale))
    np.testing.assert_allclose(two.mean / scale, one.mean, rtol=0.0, atol=1e-4 * y.std())
    np.testing.assert_allclose(two.std / abs(scale), one.std, rtol=1e-3, atol=1e-6 * y.std())


@each("value", [0.0, 3.0, -1e-300, 1e12])
@each("n", [1, 2, 7])
@each("noise", [1e-6, "infer"])
def test_constant_data_give_a_finite_model_that_says_the_constant(value: float, n: int, noise: float | str) -> None:
    X, at = np.random.default_rng(0).random((n, 2)), np.random.default_rng(1).random((5, 2))
    prediction = SparseGP(4, noise=noise).fit(Data(X, np.full(n, value)), rng()).predict(at)
    np.testing.assert_allclose(prediction.mean, value, rtol=1e-9, atol=1e-300)
    assert np.isfinite(prediction.std).all()
    assert (prediction.std > 0.0).all()


@every_kernel
@each("gap", [0.0, 1e-12, 1e-9])
@each("noise", [0.0, 1e-6])
def test_points_on_top_of_each_other_are_survived(kernel: str, gap: float, noise: float) -> None:
    X = np.random.default_rng(0).random((8, 2))
    X = np.vstack([X, X[:4] + gap, X[:4] - gap])
    y = smooth(X)
    y[8] += 1e-3
    model = SparseGP(16, kernel, noise).fit(Data(X, y), rng())
    at = np.vstack([np.random.default_rng(1).random((20, 2)), X])
    for fitted in (model, model.condition(Data(X[:2] + gap, y[:2]))):
        found = fitted.predict_with_gradient(at)
        for part in (found.mean, found.std, found.mean_gradient, found.std_gradient):
            assert np.isfinite(part).all()
        assert (found.std > 0.0).all()
    np.testing.assert_allclose(model.predict(X[1:8]).mean, y[1:8], atol=2e-3)


def test_it_learns_more_than_the_average_and_less_than_the_exact_process() -> None:
    U = np.random.default_rng(0).random((400, 6))
    y = hartmann6(U)
    errors = {}
    for surrogate in (SparseGP(), gp.GP()):
        at = surrogate.fit(Data(U[:150], y[:150]), rng()).predict(U[150:])
        errors[type(surrogate).__name__] = float(((at.mean - y[150:]) ** 2).mean() / y[150:].var())
    assert errors["GP"] < errors["SparseGP"] < 0.75


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"inducing": 0}, "inducing must be a whole number, 1 or more; got 0"),
    ({"inducing": 2.5}, "inducing must be a whole number, 1 or more; got 2.5"),
    ({"kernel": "rbf"}, "kernel must be one of matern52, matern32, se; got 'rbf'"),
    ({"noise": "some"}, 'noise must be a variance or "infer" or "auto"; got \'some\''),
    ({"noise": -1.0}, "noise must be a variance, zero or more; got -1.0"),
]


@pytest.mark.parametrize(("arguments", "rule"), INVALID)
def test_a_recipe_that_breaks_a_rule_is_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SparseGP(**arguments)


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SparseGP().fit(Data(X, y), rng())


def test_recipes_are_values_and_all_can_be_pickled() -> None:
    assert SparseGP(8, "se", 1) == SparseGP(inducing=8, kernel="se", noise=1.0)
    assert SparseGP() != SparseGP(8)
    assert hash(SparseGP()) == hash(SparseGP())
    assert pickle.loads(pickle.dumps(SparseGP(8))) == SparseGP(8)
    model, at = model_for(), np.random.default_rng(1).random((4, 2))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(at).std, model.predict(at).std)


# In a study


@pytest.mark.parametrize("strategy", STUDIED)
def test_a_study_with_pending_points_gets_distinct_points_from_every_strategy(strategy: str) -> None:
    pending_points_are_kept_off(SparseGP(4), strategy)


def test_a_loaded_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    whole = advance(bv.Optimizer(SPACE, surrogate=SparseGP(4), seed=1), 5)
    with bv.Optimizer(SPACE, surrogate=SparseGP(4), seed=1, journal=path) as opt:
        first = advance(opt, 3)
    with bv.Optimizer.load(path) as opt:
        assert first + advance(opt, 2) == whole
