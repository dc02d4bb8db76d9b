"""The rank-one updates are what conditioning does; and what is true of "the variance decreases everywhere"."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS, squared_distances
from believer_paper.theory import Family, Situation, conditioned, observation_noise, rank_one, variance_at_the_point

NOISES = (0.0, 1e-6, 1.0)
every_noise = pytest.mark.parametrize("noise", NOISES)
every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
seeds = st.integers(0, 2**32)


def drawn(kernel: str, noise: float, seed: int, dim: int = 2) -> tuple[Situation, GPModel, Array, Array]:
    """A situation, its model, a point and others; another one where rounding would be all that is left."""
    rng = np.random.default_rng(seed)
    situation = Family(noise=noise, kernel=kernel, dim=dim).draw(rng)
    model = situation.model
    assert isinstance(model, GPModel)
    scaled = model.X / model.lengthscales
    K = KERNELS[kernel](squared_distances(scaled, scaled))[0] + noise * np.eye(len(scaled))
    x, at = rng.random(dim), rng.random((70, dim))
    if model.jitter > 0.0 or np.linalg.cond(K) > 1e6 or model.predict(x[None, :]).std[0] < 1e-2:
        return drawn(kernel, noise, seed + 1, dim)
    return situation, model, x, at


def in_other_units(model: GPModel, shift: float, scale: float) -> GPModel:
    return posterior(model.hyper, model.X, shift + scale * model.y, shift, scale)


@every_kernel
@every_noise
@settings(max_examples=20)
@given(seed=seeds, lie=st.floats(-10.0, 10.0))
def test_the_updates_are_conditioning_and_the_posterior_of_one_more_point(
    kernel: str, noise: float, seed: int, lie: float
) -> None:
    _, model, x, at = drawn(kernel, noise, seed)
    at = np.vstack([at, x])
    update, own = rank_one(model, x, lie, at), conditioned(model, x, lie, at)
    np.testing.assert_allclose(update.mean_after, own.mean, rtol=0.0, atol=1e-9 * max(1.0, abs(lie)))
    np.testing.assert_allclose(update.variance_after, own.std**2, rtol=0.0, atol=1e-9)
    whole = posterior(model.hyper, np.vstack([model.X, x]), np.append(model.y, lie), 0.0, 1.0).predict(at)
    np.testing.assert_allclose(update.mean_after, whole.mean, rtol=0.0, atol=1e-9 * max(1.0, abs(lie)))
    np.testing.assert_allclose(update.variance_after, whole.std**2, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(("shift", "scale"), [(-3.0, 1e-6), (7.0, 1e6)])
def test_the_updates_are_in_the_units_of_y(shift: float, scale: float) -> None:
    _, model, x, at = drawn("matern52", 1e-2, 5)
    other = in_other_units(model, shift, scale)
    plain, scaled = rank_one(model, x, 0.7, at), rank_one(other, x, shift + scale * 0.7, at)
    np.testing.assert_allclose(scaled.mean_after, shift + scale * plain.mean_after, rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(scaled.variance_after, scale**2 * plain.variance_after, rtol=1e-9)
    assert observation_noise(other) == pytest.approx(1e-2 * scale**2, rel=1e-12)


@every_kernel
@every_noise
@settings(max_examples=20)
@given(seed=seeds)
def test_the_variance_at_the_point_is_that_of_eq_12_and_never_above_the_noise(
    kernel: str, noise: float, seed: int
) -> None:
    _, model, x, _ = drawn(kernel, noise, seed)
    s = float(model.predict(x[None, :]).std[0] ** 2)
    after = variance_at_the_point(s, noise)
    assert float(conditioned(model, x, 3.0, x[None, :]).std[0] ** 2) == pytest.approx(after, rel=0.0, abs=1e-9)
    assert after <= min(s, noise)
    assert after < s


@every_kernel
@every_noise
@settings(max_examples=20)
@given(seed=seeds)
def test_no_variance_rises_and_the_lost_share_is_largest_at_the_point(kernel: str, noise: float, seed: int) -> None:
    _, model, x, at = drawn(kernel, noise, seed)
    update = rank_one(model, x, 0.0, np.vstack([at, x]))
    assert (update.variance_drop >= 0.0).all()
    s = update.variance[-1]
    assert update.fraction[-1] == pytest.approx(s / (s + noise), rel=1e-9)
    assert (update.fraction <= update.fraction[-1] + 1e-9).all()


@every_kernel
@settings(max_examples=10)
@given(seed=seeds, one=st.floats(-5.0, 5.0), two=st.floats(-5.0, 5.0))
def test_the_geometry_of_variance_does_not_depend_on_the_lie(kernel: str, seed: int, one: float, two: float) -> None:
    _, model, x, at = drawn(kernel, 1e-6, seed)
    first, second = (conditioned(model, x, lie, at).std for lie in (one, two))
    np.testing.assert_array_equal(first, second)


def test_the_variance_does_not_decrease_where_the_posterior_covariance_is_zero() -> None:
    hyper = Hyperparameters("se", frozen([0.2]), 1.0, 0.0)
    model = posterior(hyper, np.array([[0.3], [0.6]]), np.array([0.0, 1.0]), 0.0, 1.0)
    x = np.array([0.45])
    # Without noise nothing is left to lose at the data; and where the covariance changes sign, nothing is lost.
    assert rank_one(model, x, 0.0, np.array([[0.3], [0.6]])).variance_drop == pytest.approx([0.0, 0.0], abs=1e-20)
    line = np.linspace(0.61, 1.5, 2000)[:, None]
    update = rank_one(posterior(hyper, np.array([[0.6]]), np.zeros(1), 0.0, 1.0), x, 0.0, line)
    assert update.covariance.min() < 0.0, "beyond a datum, knowing more on this side lowers the expectation there"


def test_the_largest_drop_of_variance_is_not_near_the_point_when_a_datum_is() -> None:
    hyper = Hyperparameters("se", frozen([0.2]), 1.0, 1e-6)
    model = posterior(hyper, np.array([[0.5]]), np.zeros(1), 0.0, 1.0)
    line = np.linspace(0.0, 1.0, 1001)[:, None]
    drop = rank_one(model, np.array([0.51]), 0.0, line).variance_drop
    farthest = abs(float(line[int(np.argmax(drop)), 0]) - 0.51)
    assert farthest > 0.9 * 0.2, "about one lengthscale away"
    assert drop.max() > 50.0 * drop[510]


def test_other_models_must_be_told_their_noise() -> None:
    _, model, x, at = drawn("se", 0.1, 3)

    class Plain:
        def joint(self, X: Array) -> object:
            return model.joint(X)

    with pytest.raises(MissingCapability, match="noise="):
        rank_one(Plain(), x, 0.0, at)  # type: ignore[arg-type]
    told = rank_one(Plain(), x, 0.0, at, noise=0.1)  # type: ignore[arg-type]
    np.testing.assert_allclose(told.variance_after, rank_one(model, x, 0.0, at).variance_after, rtol=1e-12)
    with pytest.raises(InvalidInput, match="zero or more"):
        rank_one(model, x, 0.0, at, noise=-1.0)
