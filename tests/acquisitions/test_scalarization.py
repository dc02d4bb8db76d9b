from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr

from believer.acquisitions import LogEI
from believer.acquisitions.scalarization import (
    Chebyshev,
    log_scalarized_ei_on,
    log_scalarized_improvement,
    random_weights,
)
from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters

every_k = each("k", [1, 2, 3, 5])


def weighed(k: int, seed: int = 0) -> Chebyshev:
    rng = np.random.default_rng(seed)
    return Chebyshev(random_weights(k, rng), rng.normal(size=k), np.exp(rng.normal(size=k)))


def predictions(m: int, k: int, seed: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1.0, (m, k)), np.exp(rng.uniform(-3.0, 1.0, (m, k)))


# Scalarizations and weights


def test_the_worst_objective_counts() -> None:
    s = Chebyshev(np.array([0.5, 0.25]), np.array([1.0, -1.0]), np.array([2.0, 10.0]))
    np.testing.assert_allclose(s.of(np.array([[1.0, -1.0], [5.0, -1.0], [1.0, 39.0], [3.0, 39.0]])), [0.0, 1, 1, 1])


def test_every_point_of_a_front_is_the_best_under_some_weights() -> None:
    first = np.linspace(0.05, 0.95, 7)
    front = np.column_stack([first, np.sqrt(1.0 - first**2)])  # not convex: no weighted sum finds its middle
    for i, y in enumerate(front):
        assert int(np.argmin(Chebyshev(1.0 / y, np.zeros(2), np.ones(2)).of(front))) == i


@every_k
def test_random_weights_are_uniform_on_the_simplex(k: int) -> None:
    rng = np.random.default_rng(0)
    weights = np.array([random_weights(k, rng) for _ in range(4000)])
    assert (weights > 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-12)
    # Each is Beta(1, k - 1): mean 1 / k, P(w > 1/2) = 2^(1 - k). Five standard errors.
    np.testing.assert_allclose(weights.mean(axis=0), 1.0 / k, atol=5.0 * 0.3 / math.sqrt(4000))
    np.testing.assert_allclose((weights > 0.5).mean(axis=0), 2.0 ** (1 - k), atol=5.0 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize(
    ("weights", "ideal", "scale", "words"),
    [
        ([0.5, 0.0], [0.0, 0.0], [1.0, 1.0], "weights must be above zero"),
        ([0.5, 0.5], [0.0, 0.0], [1.0, -1.0], "scale must be above zero"),
        ([0.5, 0.5], [0.0], [1.0, 1.0], "ideal must have one value"),
        ([], [], [], "weights must be above zero"),
    ],
)
def test_what_is_no_scalarization_is_refused(weights: Any, ideal: Any, scale: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Chebyshev(weights, ideal, scale)


# The expected improvement


def integrated(mean: Array, std: Array, s: Chebyshev, best: float) -> float:
    """log ∫ Π Φ dt at one point: SciPy's log Φ over the largest, on a million points as dense as the integral needs."""
    per_unit = s.scale / s.weights

    def log_f(t: Array) -> Array:
        total: Array = log_ndtr((s.ideal + (best - t[:, None]) * per_unit - mean) / std).sum(axis=1)
        return total

    top, end = float(log_f(np.zeros(1))[0]), 1e-12
    while float(log_f(np.array([end]))[0]) > top - 45.0:
        end *= 1.3
    t = np.linspace(0.0, end, 1_000_001)
    f = np.exp(log_f(t) - top)
    # Simpson's rule.
    return top + math.log(end / 3e6 * (f[0] + f[-1] + 4.0 * f[1::2].sum() + 2.0 * f[2:-1:2].sum()))


@every_k
@pytest.mark.parametrize("away", [-30.0, 0.0, 4.0, 20.0])
def test_values_are_those_of_a_dense_integral(k: int, away: float) -> None:
    s = weighed(k)
    mean, std = predictions(3, k)
    mean += away * std
    value = log_scalarized_improvement(mean, std, s, 0.3).value
    np.testing.assert_allclose(value, [integrated(m, d, s, 0.3) for m, d in zip(mean, std, strict=True)], atol=1e-8)
    if away == 20.0:
        assert value.min() < math.log(1e-100)


def test_of_one_objective_it_is_the_expected_improvement() -> None:
    z = np.concatenate([np.linspace(-40.0, 40.0, 201), [-1e6, -1e3, 1e3, 1e6]])[:, None]
    std = np.full_like(z, 0.7)
    s = Chebyshev(np.ones(1), np.zeros(1), np.ones(1))
    found, alone = log_scalarized_improvement(-0.7 * z, std, s, 0.0), LogEI().pointwise(-0.7 * z, std, 0.0)
    np.testing.assert_allclose(found.value, alone.value[:, 0], rtol=1e-12, atol=3e-9)
    np.testing.assert_allclose(found.by_mean, alone.by_mean, rtol=1e-7)
    np.testing.assert_allclose(found.by_std, alone.by_std, rtol=1e-6, atol=1e-7)


def slopes(f: Callable[[Array], Array], at: Array, step: float) -> Array:
    """Central differences (m, k) of ``f: (m, k) -> (m,)``."""
    moves = step * np.eye(at.shape[1])
    return np.stack([(f(at + move) - f(at - move)) / (2.0 * step) for move in moves], axis=1)


@every_k
@each("away", [-10.0, 0.0, 10.0])
def test_derivatives_are_central_differences(k: int, away: float) -> None:
    s = weighed(k)
    mean, std = predictions(30, k)
    mean += away * std
    found = log_scalarized_improvement(mean, std, s, 0.3)
    by_mean = slopes(lambda mean: log_scalarized_improvement(mean, std, s, 0.3).value, mean, 1e-4)
    by_std = slopes(lambda std: log_scalarized_improvement(mean, std, s, 0.3).value, std, 1e-5)
    np.testing.assert_allclose(found.by_mean, by_mean, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.by_std, by_std, rtol=1e-4, atol=1e-3)


@given(st.floats(-1e5, 1e5), st.floats(1e-6, 1e5), st.floats(-1e5, 1e5), st.floats(1e-6, 1e5))
def test_everything_is_a_number_and_falls_with_every_mean(m: float, s: float, other: float, std: float) -> None:
    found = log_scalarized_improvement(np.array([[m, other]]), np.array([[s, std]]), weighed(2), 0.3)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.by_mean).all()
    assert np.isfinite(found.by_std).all()
    assert (found.by_mean <= 0.0).all()


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_objectives_does_not_matter(k: int) -> None:
    s = weighed(k)
    mean, std = predictions(20, k)
    back = Chebyshev(s.weights[::-1], s.ideal[::-1], s.scale[::-1])
    usual, other = (
        log_scalarized_improvement(mean, std, s, 0.3),
        log_scalarized_improvement(mean[:, ::-1], std[:, ::-1], back, 0.3),
    )
    np.testing.assert_allclose(other.value, usual.value, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(other.by_mean[:, ::-1], usual.by_mean, rtol=1e-9, atol=1e-12)


def test_units_of_objectives_do_not_matter_and_those_of_weights_add_a_logarithm() -> None:
    s = weighed(2)
    mean, std = predictions(20, 2)
    unit = np.array([1e-9, 1e7])
    usual = log_scalarized_improvement(mean, std, s, 0.3).value
    other = Chebyshev(s.weights, unit * s.ideal, unit * s.scale)
    np.testing.assert_allclose(log_scalarized_improvement(unit * mean, unit * std, other, 0.3).value, usual, rtol=1e-9)
    heavy = Chebyshev(5.0 * s.weights, s.ideal, s.scale)
    found = log_scalarized_improvement(mean, std, heavy, 5.0 * 0.3).value
    np.testing.assert_allclose(found, usual + math.log(5.0), rtol=1e-9, atol=1e-9)


def test_an_objective_that_is_surely_good_enough_does_not_matter() -> None:
    s = Chebyshev(np.array([0.6, 0.4]), np.zeros(2), np.ones(2))
    mean, std = predictions(20, 2)
    mean[:, 1], std[:, 1] = -1e4, 1e-3
    expected = LogEI().pointwise(0.6 * mean[:, 0], 0.6 * std[:, 0], 0.3).value
    np.testing.assert_allclose(log_scalarized_improvement(mean, std, s, 0.3).value, expected, atol=3e-9)


def test_many_points_give_what_each_gives_alone() -> None:
    s = weighed(3)
    mean, std = predictions(1500, 3)
    together = log_scalarized_improvement(mean, std, s, 0.3)
    for i in range(0, 1500, 211):
        alone = log_scalarized_improvement(mean[i : i + 1], std[i : i + 1], s, 0.3)
        assert together.value[i] == pytest.approx(alone.value[0], rel=1e-12)
        np.testing.assert_allclose(together.by_std[i], alone.by_std[0], rtol=1e-10, atol=1e-14)


# On models


def models_of(k: int) -> tuple[GPModel, ...]:
    X = np.random.default_rng(0).random((9, 2))
    hyper = Hyperparameters("matern52", frozen(np.array([0.3, 0.5])), signal=1.3, noise=1e-4)
    return tuple(posterior(hyper, X, np.sin((3.0 + j) * X[:, 0]) + X.sum(axis=1), 0.5, 1.2) for j in range(k))


@pytest.mark.both_backends
@pytest.mark.parametrize("k", [1, 2, 3])
def test_gradients_on_models_are_central_differences(k: int) -> None:
    objective = log_scalarized_ei_on(models_of(k), Chebyshev(np.full(k, 1.0 / k), np.zeros(k), np.ones(k)), 0.2)
    assert objective.has_gradient
    X = np.random.default_rng(3).random((12, 2))
    value, gradient = objective.value_with_gradient(X)
    np.testing.assert_allclose(value, objective.value(X), rtol=1e-8)
    expected = slopes(objective.value, X, 1e-5)
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4 * np.abs(gradient).max())


def test_every_weight_needs_a_model() -> None:
    with pytest.raises(InvalidInput, match="a model for each weight"):
        log_scalarized_ei_on(models_of(2), weighed(3), 0.0)
    with pytest.raises(InvalidInput, match="best must be a finite number"):
        log_scalarized_ei_on(models_of(2), weighed(2), math.nan)
