from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import HARD, central_differences, hard_data, hyper_for, off_kinks, slopes, unit_data
from scipy.stats import chi2

from believer.arrays import Array
from believer.numerics.cholesky import factor
from believer.surrogates import GP, FixedRBF, GPModel, LastLayer, SparseGP
from believer.surrogates.data import Data
from believer.surrogates.gp import posterior, prior_covariance
from believer.surrogates.kernels import KERNELS
from believer.surrogates.last_layer import LastLayerModel
from believer.surrogates.paths import FREEDOM, KernelPaths, Waves, _cosine, correction, noise_draws, prior_draws
from believer.surrogates.protocols import Pathwise

pytestmark = pytest.mark.both_backends

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def model_for(
    d: int, n: int, kernel: str = "matern52", noise: float = 1e-6, seed: int = 0, known: float = 0.0
) -> GPModel:
    """A process at fixed hyperparameters whose last two data were conditioned on, y in units of its own.

    known: the largest of the standard deviations that noise is known to have, in these units.
    """
    X, y = unit_data(n + 2, d, seed)
    std = np.linspace(0.0, known, n + 2)
    base = posterior(hyper_for(d, kernel, noise), X[:n], 30.0 + 4.0 * y[:n], shift=31.0, scale=4.0, std=std[:n])
    return base.condition(Data(X[n:], 30.0 + 4.0 * y[n:], std[n:]))


def others() -> list[Any]:
    """Models that are linear in weights, and one that is so in part; all conditioned on two more data."""
    X, y = unit_data(16, 2)
    recipes = (SparseGP(inducing=6), SparseGP(inducing=6, kernel="se"), FixedRBF(centers=12), LastLayer(hidden=(8, 8)))
    models: list[Any] = [recipe.fit(Data(X[:14], 50.0 * y[:14]), np.random.default_rng(0)) for recipe in recipes]
    return [model.condition(Data(X[14:], 50.0 * y[14:])) for model in models]


every_other = pytest.mark.parametrize("model", others(), ids=lambda model: type(model).__name__)


# Moments


def have_the_moments_of_the_joint(model: Any, at: Array, count: int) -> None:
    """Functions drawn have the model's mean and covariance at ``at`` (m, d), and are normal there.

    Whitened, they are standard normal: their mean has χ²(m), the sum of their squares χ²(m count), products of two
    coordinates a variance of 1 and fourth powers one of 96. Each bound has a false-alarm rate below 1e-6.
    """
    m, rate, joint = len(at), 1e-6, model.joint(at)
    drawn = model.paths(count, np.random.default_rng(4)).value(at)
    assert drawn.shape == (count, m)
    white = np.linalg.solve(np.linalg.cholesky(joint.covariance), (drawn - joint.mean).T)
    assert count * float((white.mean(axis=1) ** 2).sum()) < chi2.isf(rate, m)
    assert chi2.ppf(rate, m * count) < float((white**2).sum()) < chi2.isf(rate, m * count)
    assert np.abs((white @ white.T / count)[np.triu_indices(m, 1)]).max() < 5.0 / np.sqrt(count)
    assert (white**4).mean() < 3.0 + 5.0 * np.sqrt(96.0 / (m * count))


@pytest.mark.parametrize(
    ("d", "n", "kernel", "noise", "known"),
    [
        # In one dimension seven data leave open only what is far out in the spectrum.
        (1, 7, "matern52", 1e-6, 0.0),
        (2, 12, "matern32", 1e-6, 0.0),
        (2, 8, "se", 1e-2, 0.0),
        (6, 1, "matern52", 0.3, 0.0),
        (2, 12, "matern52", 1e-6, 8.0),
    ],
)
def test_functions_drawn_from_a_process_have_its_moments(
    d: int, n: int, kernel: str, noise: float, known: float
) -> None:
    model = model_for(d, n, kernel, noise, known=known)
    have_the_moments_of_the_joint(model, np.random.default_rng(1).random((4, d)), 1000)


@every_other
def test_functions_drawn_from_other_models_have_their_moments(model: Any) -> None:
    have_the_moments_of_the_joint(model, np.random.default_rng(1).random((4, 2)), 1000)


@dataclass(frozen=True)
class Table:
    """Draws of a prior that are known at some points alone: values (count, m)."""

    values: Array

    def value(self, X: Array) -> Array:
        return self.values

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        raise NotImplementedError


@every_kernel
@settings(max_examples=10)
@given(st.integers(1, 12), st.integers(1, 6), st.sampled_from([1e-6, 1e-2, 1.0]), st.integers(0, 2**32))
def test_a_correction_turns_the_moments_of_the_prior_into_those_of_the_posterior(
    kernel: str, n: int, d: int, noise: float, seed: int
) -> None:
    model = model_for(d, n, kernel, noise, seed)
    at = np.random.default_rng(seed).random((3, d))
    N = len(model.X)
    # Columns of a root of the covariance: the sum of their outer products is what an average over draws tends to.
    root = np.linalg.inv(factor(prior_covariance(model.hyper, np.vstack([model.X, at]))).base)
    drawn = np.vstack([root.T, np.zeros((N, N + 3))])
    errors = np.vstack([np.zeros((N + 3, N)), np.sqrt(noise) * np.eye(N)])
    weights = correction(model.factor, np.zeros(N), drawn[:, :N], errors)
    paths = KernelPaths(Table(drawn[:, N:]), model.hyper, model.X, weights, 0.0, model.scale)
    moved = paths.value(at)
    np.testing.assert_allclose(moved.T @ moved, model.joint(at).covariance, rtol=0.0, atol=1e-7 * model.scale**2)
    still = correction(model.factor, model.y, np.zeros((1, N)), np.zeros((1, N)))
    mean = KernelPaths(Table(np.zeros((1, 3))), model.hyper, model.X, still, model.shift, model.scale).value(at)
    np.testing.assert_allclose(mean[0], model.predict(at).mean, rtol=0.0, atol=1e-9 * model.scale)


def test_the_noise_of_a_draw_is_that_of_the_factor() -> None:
    jittered = factor(np.ones((3, 3)))
    assert jittered.jitter > 0.0
    grown = jittered.append(np.full(3, 0.5), 1.2)
    count, rate = 2000, 1e-6
    draws = noise_draws(grown, 1e-11, count, np.random.default_rng(0))
    expected = 1e-11 + jittered.jitter * np.array([1.0, 1.0, 1.0, 0.0])
    squares = (draws**2).sum(axis=0) / expected
    assert ((chi2.ppf(rate, count) < squares) & (squares < chi2.isf(rate, count))).all()


@every_kernel
@each("d", [1, 5])
def test_draws_of_the_prior_have_its_covariance_with_any_number_of_waves(kernel: str, d: int) -> None:
    hyper, count = hyper_for(d, kernel), 2000
    X = np.vstack([np.zeros((1, d)), 0.2 * np.ones((1, d)), np.ones((1, d))])
    drawn = prior_draws(hyper, count, np.random.default_rng(2), waves=16).value(X)
    products = drawn[:, :, None] * drawn[:, None, :]
    error = products.std(axis=0) / np.sqrt(count)
    assert (np.abs(products.mean(axis=0) - prior_covariance(hyper, X)) < 5.0 * error).all()


def test_every_kernel_has_a_spectrum() -> None:
    assert set(FREEDOM) == set(KERNELS)


# Where data are


@every_kernel
@each("n", [1, 25])
def test_functions_pass_through_data_without_noise(kernel: str, n: int) -> None:
    model = model_for(3, n, kernel, noise=1e-8)
    drawn = model.paths(5, np.random.default_rng(3)).value(model.X)
    y = model.shift + model.scale * model.y
    assert np.abs(drawn - y).max() < 6.0 * 1e-4 * model.scale
    assert np.ptp(model.paths(5, np.random.default_rng(3)).value(np.full((1, 3), 0.99))) > 1e-3 * model.scale


@every_kernel
@settings(max_examples=10)
@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 2**32))
def test_functions_of_a_conditioned_model_are_those_of_the_posterior_of_the_union(
    kernel: str, n: int, d: int, seed: int
) -> None:
    model = model_for(d, n, kernel, 1e-4, seed)
    whole = posterior(
        hyper_for(d, kernel, 1e-4), model.X, model.scale * model.y + model.shift, shift=31.0, scale=model.scale
    )
    at = np.random.default_rng(seed).random((4, d))
    a, b = (m.paths(2, np.random.default_rng(seed)).value(at) for m in (model, whole))
    np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-8 * model.scale)


@each("recipe", [GP(), GP(noise="infer"), SparseGP(), FixedRBF(), LastLayer()], ids=repr)
@each("kind", HARD)
def test_functions_are_finite_and_in_the_units_of_y(recipe: Any, kind: str) -> None:
    at = np.random.default_rng(0).random((3, 2))

    def at_size(size: float) -> tuple[Array, Array]:
        X, y = hard_data(kind, size)
        model: Pathwise = recipe.fit(Data(X, y), np.random.default_rng(1))
        return model.paths(2, np.random.default_rng(2)).value_with_gradient(at)

    value, slope = at_size(1.0)
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    for size in (2.0**40, 2.0**-40):
        large, steep = at_size(size)
        np.testing.assert_allclose(large, size * value, rtol=1e-9, atol=1e-9 * size)
        np.testing.assert_allclose(steep, size * slope, rtol=1e-9, atol=1e-9 * size)


# Gradients


@every_kernel
@each("d", [1, 6, 50])
def test_gradients_are_central_differences_at_data_too(kernel: str, d: int) -> None:
    model = model_for(d, 10, kernel)
    paths = model.paths(3, np.random.default_rng(0))
    at = np.vstack([np.random.default_rng(1).random((2, d)), model.X[:1], model.X[-1:], np.zeros((1, d))])
    values, gradients = paths.value_with_gradient(at)
    assert gradients.shape == (3, 5, d)
    np.testing.assert_allclose(values, paths.value(at), rtol=0.0, atol=1e-12 * model.scale)
    for row in range(3):
        for x, gradient in zip(at, gradients[row], strict=True):
            expected = central_differences(lambda X, row=row: paths.value(X)[row], x, 1e-6)  # type: ignore[misc]
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=2e-6 * model.scale)


@every_other
def test_gradients_of_other_models_are_central_differences(model: Any) -> None:
    at = np.random.default_rng(1).random((6, 2))
    if isinstance(model, LastLayerModel):
        at = at[off_kinks(model.basis.network, at, 1e-5)]
    paths = model.paths(3, np.random.default_rng(0))
    values, gradients = paths.value_with_gradient(at)
    np.testing.assert_array_equal(values, paths.value(at))
    expected = slopes(lambda X: paths.value(X)[..., None], at, 1e-6)[:, :, 0]
    np.testing.assert_allclose(gradients, expected, rtol=1e-5, atol=1e-5 * model_scale(values))


def model_scale(values: Array) -> float:
    return float(np.abs(values).max())


# Functions


@each("model", [model_for(2, 8), *others()], ids=lambda model: type(model).__name__)
def test_a_function_is_drawn_once_and_depends_on_the_generator_alone(model: Any) -> None:
    assert isinstance(model, Pathwise)
    at = np.random.default_rng(1).random((5, 2))
    paths = model.paths(3, np.random.default_rng(7))
    values = paths.value(at)
    np.testing.assert_array_equal(values, paths.value(at))
    np.testing.assert_array_equal(values, model.paths(3, np.random.default_rng(7)).value(at))
    one_by_one = np.hstack([paths.value(x[None, :]) for x in at])
    np.testing.assert_allclose(one_by_one, values, rtol=1e-9, atol=1e-9 * model_scale(values))
    assert len(np.unique(values[:, 0])) == 3
    assert not np.isclose(values, model.paths(3, np.random.default_rng(8)).value(at)).any()


@pytest.mark.parametrize("model", others()[2:], ids=lambda model: type(model).__name__)
def test_functions_of_models_linear_in_weights_are_their_samples(model: Any) -> None:
    at = np.random.default_rng(1).random((5, 2))
    drawn = model.paths(4, np.random.default_rng(7)).value(at)
    np.testing.assert_allclose(drawn, model.sample(at, 4, np.random.default_rng(7)), rtol=1e-9)


def test_waves_are_cosines_with_frequencies_phases_and_amplitudes() -> None:
    rng = np.random.default_rng(0)
    waves = Waves(rng.standard_normal((2, 3, 4)), rng.random((2, 3)), rng.random((2, 3)))
    X = rng.random((5, 4))
    angles = np.einsum("cld,md->cml", waves.frequencies, X) + waves.phases[:, None, :]
    expected = (waves.amplitudes[:, None, :] * np.cos(angles)).sum(axis=2)
    np.testing.assert_allclose(waves.value(X), expected, rtol=0.0, atol=1e-14)


def test_cosine_and_sine_hold_at_every_angle() -> None:
    turns = np.pi * np.array([0.0, 1.0, -1.0, 0.5, -0.5, 3.0, 1e6])
    angles = np.concatenate([turns, np.nextafter(turns, 9.0), 1e9 * np.random.default_rng(0).standard_normal(100)])
    cosine, sine = _cosine(angles)
    np.testing.assert_allclose(cosine, np.cos(angles), rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(sine, np.sin(angles), rtol=0.0, atol=1e-15)
