from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from believer.arrays import Array
from believer.surrogates.kernels import KERNELS, multiquadric, squared_distances

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))


def judge(kernel: str, lengthscales: Array) -> Any:
    """scikit-learn's kernel of the same name."""
    sklearn = pytest.importorskip("sklearn.gaussian_process.kernels")
    return {
        "matern52": sklearn.Matern(lengthscales, nu=2.5),
        "matern32": sklearn.Matern(lengthscales, nu=1.5),
        "se": sklearn.RBF(lengthscales),
    }[kernel]


@every_kernel
@each("d", [1, 3, 20])
def test_correlations_are_those_of_scikit_learn(kernel: str, d: int) -> None:
    rng = np.random.default_rng(d)
    A, B = rng.random((7, d)), rng.random((5, d))
    lengthscales = np.exp(rng.uniform(-2.0, 1.0, d))
    k, _ = KERNELS[kernel](squared_distances(A / lengthscales, B / lengthscales))
    np.testing.assert_allclose(k, judge(kernel, lengthscales)(A, B), rtol=1e-12, atol=1e-15)


@every_kernel
@each("r2", [1e-3, 0.1, 1.0, 7.0, 100.0])
def test_h_is_minus_twice_the_derivative_by_the_squared_distance(kernel: str, r2: float) -> None:
    step = 1e-5 * r2
    up, down = (KERNELS[kernel](np.array([r2 + sign * step]))[0] for sign in (1.0, -1.0))
    slope = -2.0 * (up - down) / (2.0 * step)
    np.testing.assert_allclose(KERNELS[kernel](np.array([r2]))[1], slope, rtol=1e-6)


@every_kernel
def test_at_distance_zero_the_correlation_is_one_and_h_its_limit(kernel: str) -> None:
    k, h = KERNELS[kernel](np.array([0.0, 1e-16]))
    assert k[0] == 1.0
    assert h[0] == {"matern52": 5.0 / 3.0, "matern32": 3.0, "se": 1.0}[kernel]
    np.testing.assert_allclose(h[1], h[0], rtol=1e-7)


@every_kernel
def test_far_away_both_vanish_without_overflow(kernel: str) -> None:
    k, h = KERNELS[kernel](np.array([1e4, 1e8, 1e300]))
    assert ((k >= 0.0) & (k < 1e-60)).all()
    assert ((h >= 0.0) & (h < 1e-60)).all()


@every_kernel
@settings(max_examples=25)
@given(st.integers(2, 15), st.integers(1, 6), st.integers(0, 2**32))
def test_covariances_are_positive_definite(kernel: str, n: int, d: int, seed: int) -> None:
    X = 4.0 * np.random.default_rng(seed).random((n, d))
    K, _ = KERNELS[kernel](squared_distances(X, X))
    assert np.linalg.eigvalsh(K).min() > -1e-13 * n
    np.testing.assert_allclose(K, K.T, rtol=0.0, atol=1e-14)


@every_kernel
@settings(max_examples=25)
@given(st.lists(st.floats(0.0, 1e3), min_size=2, max_size=10))
def test_correlation_and_h_fall_with_distance(kernel: str, distances: list[float]) -> None:
    k, h = KERNELS[kernel](np.sort(np.array(distances)))
    assert (np.diff(k) <= 1e-16).all()
    assert (np.diff(h) <= 1e-15).all()


@every_kernel
def test_values_and_h_are_arrays_of_their_own(kernel: str) -> None:
    r2 = np.array([[0.0, 1.0], [1.0, 0.0]])
    k, h = KERNELS[kernel](r2)
    assert not np.shares_memory(k, h)
    assert not np.shares_memory(k, r2)
    k *= 0.0
    assert (h > 0.0).all()
    np.testing.assert_array_equal(r2, [[0.0, 1.0], [1.0, 0.0]])


@each("d", [1, 6, 50])
@each("scale", [1e-6, 1.0, 1e6])
def test_squared_distances_are_those_of_scipy(d: int, scale: float) -> None:
    rng = np.random.default_rng(d)
    A, B = scale * rng.standard_normal((9, d)), scale * rng.standard_normal((4, d))
    expected = cdist(A, B, "sqeuclidean")
    np.testing.assert_allclose(squared_distances(A, B), expected, rtol=1e-12, atol=1e-13 * scale**2 * d)
    assert squared_distances(A[:0], B).shape == (0, 4)


@settings(max_examples=50)
@given(st.integers(1, 6), st.integers(0, 2**32), st.floats(1e-12, 1e-6))
def test_squared_distances_are_never_negative_and_near_zero_for_copies(d: int, seed: int, gap: float) -> None:
    X = 10.0 * np.random.default_rng(seed).random((5, d))
    r2 = squared_distances(X, np.vstack([X, X + gap]))
    assert (r2 >= 0.0).all()
    # Forming |a|² + |b|² - 2ab loses what is below the rounding of |a|².
    rounding = 8.0 * np.finfo(float).eps * float((X**2).sum(axis=1).max())
    assert (np.diagonal(r2) <= rounding).all()
    assert (np.abs(np.diagonal(r2, offset=5) - d * gap**2) <= rounding + 1e-9 * d * gap**2).all()


@pytest.mark.parametrize("spread", [0.05, 1.0, 30.0])
def test_multiquadrics_are_one_at_distance_zero_and_grow_as_the_formula_says(spread: float) -> None:
    rng = np.random.default_rng(0)
    A, B = rng.random((7, 3)), rng.random((5, 3))
    np.testing.assert_allclose(multiquadric(A, B, spread), np.hypot(1.0, cdist(A, B) / spread), rtol=1e-12)
    np.testing.assert_array_equal(multiquadric(np.zeros((1, 3)), np.zeros((1, 3)), spread), [[1.0]])
