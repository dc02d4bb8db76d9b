from __future__ import annotations

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from believer.arrays import Array, frozen
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fantasies import GPFantasies
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import Fantasizing

pytestmark = pytest.mark.both_backends


def model_of(n: int = 8, d: int = 2, noise: float = 1e-6, kernel: str = "matern52", unit: float = 1.0) -> GPModel:
    X = np.random.default_rng((n, d)).random((n, d))
    y = unit * (30.0 + np.sin(5.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1))
    hyper = Hyperparameters(kernel, frozen(np.linspace(0.3, 0.6, d)), signal=1.3, noise=noise)
    return posterior(hyper, X, y, float(y.mean()), unit * 1.7)


def told(model: GPModel, P: Array, samples: int, seed: int = 0) -> tuple[GPFantasies, Array]:
    """Fantasies about the points ``P`` (p, d), and their values (samples, p)."""
    fantasies, Y = model.fantasies(samples), []
    for j, x in enumerate(P):
        fantasies, values = fantasies.fantasize(x, np.random.default_rng((seed, j)))
        Y.append(values)
    return fantasies, np.array(Y).reshape(len(P), samples).T


@given(
    n=st.integers(1, 12),
    d=st.integers(1, 4),
    p=st.integers(0, 5),
    samples=st.integers(1, 6),
    noise=st.sampled_from([1e-6, 1e-2, 0.5]),
    kernel=st.sampled_from(sorted(KERNELS)),
    conditioned=st.booleans(),
    seed=st.integers(0, 2**20),
)
@settings(max_examples=60)
def test_all_at_once_are_as_many_models_conditioned_each_on_its_own_values(
    n: int, d: int, p: int, samples: int, noise: float, kernel: str, conditioned: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    model = model_of(n, d, noise, kernel)
    if conditioned:
        # As with failed trials: the factor has appended rows before the first fantasy, here with a known noise.
        model = model.condition(Data(rng.random((2, d)), np.array([31.0, 29.0]), np.array([0.0, 0.7])))
    P, at = rng.random((p, d)), rng.random((7, d))
    fantasies, Y = told(model, P, samples, seed)
    found = fantasies.predict(at)
    assert found.mean.shape == (samples, 7)
    assert found.std.shape == (1, 7)
    for s in range(samples):
        single = model.condition(Data(P, Y[s]))
        np.testing.assert_array_equal(single.known, fantasies.believer.known)
        alone = single.predict(at)
        np.testing.assert_allclose(found.mean[s], alone.mean, atol=1e-8)
        np.testing.assert_allclose(found.std[0] ** 2, alone.std**2, atol=1e-9)


def test_without_a_point_they_are_copies_of_the_model() -> None:
    model = model_of()
    at = np.random.default_rng(1).random((5, 2))
    found, alone = model.fantasies(3).predict(at), model.predict(at)
    np.testing.assert_array_equal(found.mean, np.tile(alone.mean, (3, 1)))
    np.testing.assert_allclose(found.std[0], alone.std, rtol=1e-12)


@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_values_have_the_joint_distribution_of_observations(noise: float) -> None:
    model = model_of(noise=noise)
    P, samples = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.9]]), 20_000
    _, Y = told(model, P, samples)
    joint = model.joint(P)
    covariance = joint.covariance + noise * model.scale**2 * np.eye(3)
    std = np.sqrt(np.diagonal(covariance))
    # Six standard errors of independent draws; stratified ones have less.
    np.testing.assert_allclose((Y.mean(axis=0) - joint.mean) / std, 0.0, atol=6.0 / np.sqrt(samples))
    error = (np.cov(Y.T) - covariance) / np.multiply.outer(std, std)
    np.testing.assert_allclose(error, 0.0, atol=6.0 * np.sqrt(2.0 / samples))


@each("samples", [2, 5, 16, 64])
def test_every_share_of_the_distribution_is_drawn_once_at_every_point(samples: int) -> None:
    fantasies, _ = told(model_of(), np.random.default_rng(0).random((3, 2)), samples)
    shares = np.floor(ndtr(fantasies.normals) * samples)
    np.testing.assert_array_equal(np.sort(shares, axis=0), np.tile(np.arange(samples)[:, None], (1, 3)))
    # In an order of its own at each point, or fantasies would rise and fall together.
    if samples > 2:
        assert (shares[:, 0] != shares[:, 1]).any()
        assert (shares[:, 1] != shares[:, 2]).any()


def test_a_draw_of_probability_zero_is_finite() -> None:
    class Zero(np.random.Generator):
        def random(self, *args: object, **kwargs: object) -> Array:  # type: ignore[override]
            return np.zeros((4, 1))

    _, values = model_of().fantasies(4).fantasize(np.array([0.5, 0.5]), Zero(np.random.PCG64(0)))
    assert np.isfinite(values).all()


@each("noise", [1e-6, 0.1])
@each("kernel", sorted(KERNELS))
def test_what_is_pulled_back_is_the_gradient(noise: float, kernel: str) -> None:
    rng = np.random.default_rng(2)
    model = model_of(d=3, noise=noise, kernel=kernel)
    fantasies, _ = told(model, rng.random((3, 3)), 4)
    at = 0.1 + 0.8 * rng.random((6, 3))
    by_mean, by_std = rng.standard_normal((4, 6)), rng.standard_normal((4, 6))

    def number(X: Array) -> Array:
        found = fantasies.predict(X)
        total: Array = (by_mean * found.mean + by_std * found.std).sum(axis=0)
        return total

    found, step = fantasies.predict_with_gradient(at), 1e-5
    differences = [(number(at + step * e) - number(at - step * e)) / (2.0 * step) for e in np.eye(3)]
    np.testing.assert_allclose(found.pull(by_mean, by_std), np.array(differences).T, rtol=1e-5, atol=1e-5)
    again = fantasies.predict(at)
    np.testing.assert_array_equal(found.mean, again.mean)
    np.testing.assert_array_equal(found.std, again.std)


def test_at_a_point_that_was_told_every_fantasy_has_its_own_value_and_no_doubt() -> None:
    P = np.array([[0.9, 0.1], [0.1, 0.1]])
    fantasies, Y = told(model_of(noise=1e-10), P, 5)
    found = fantasies.predict(P)
    np.testing.assert_allclose(found.mean, Y, atol=1e-6)
    assert (found.std < 1e-4).all()


def test_the_same_point_twice_is_no_reason_to_fail() -> None:
    x = np.array([0.9, 0.1])
    fantasies, Y = told(model_of(), np.array([x, x, x]), 4)
    assert np.isfinite(Y).all()
    np.testing.assert_allclose(Y[:, 1:], Y[:, :1] @ np.ones((1, 2)), atol=0.05)
    at = fantasies.predict_with_gradient(np.array([x]))
    assert np.isfinite(at.pull(np.ones((4, 1)), np.ones((4, 1)))).all()


@pytest.mark.parametrize("unit", [2.0**40, 2.0**-40])
def test_units_change_nothing(unit: float) -> None:
    P, at = np.random.default_rng(3).random((3, 2)), np.random.default_rng(4).random((4, 2))
    one, Y = told(model_of(), P, 5)
    other, scaled = told(model_of(unit=unit), P, 5)
    np.testing.assert_array_equal(scaled, unit * Y)
    np.testing.assert_array_equal(other.predict(at).mean, unit * one.predict(at).mean)
    ones = np.ones((5, 4))
    pulled = (f.predict_with_gradient(at).pull(ones, ones) for f in (one, other))
    np.testing.assert_array_equal(unit * next(pulled), next(pulled))


def test_telling_leaves_the_model_and_earlier_fantasies_as_they_were() -> None:
    model = model_of()
    before, _ = told(model, np.array([[0.3, 0.3]]), 3)
    at = np.random.default_rng(5).random((4, 2))
    was = model.predict(at).mean, before.predict(at).mean
    before.fantasize(np.array([0.7, 0.7]), np.random.default_rng(0))
    np.testing.assert_array_equal(model.predict(at).mean, was[0])
    np.testing.assert_array_equal(before.predict(at).mean, was[1])
    assert not before.normals.flags.writeable
    assert isinstance(model, Fantasizing)
