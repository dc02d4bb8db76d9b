"""Kernels and the factor: the compiled module against the Python twin, and kernels against extended precision."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import (
    EPS,
    SMALL,
    Problem,
    assert_near,
    compiled,
    every_kernel,
    native,
    powers,
    problems,
    python,
)

from believer.arrays import Array, frozen
from believer.errors import NumericalError
from believer.numerics.cholesky import JITTER_STEPS, Factor, factor
from believer.surrogates.gp import posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS

LONG = np.longdouble


def exactly(hyper: Hyperparameters, A: Array, B: Array) -> tuple[Any, Any, Any]:
    """σ_f² k, σ_f² h and the distances (m, n) in extended precision: from differences, with no twin's code."""
    scales = hyper.lengthscales.astype(LONG)
    U, V = A.astype(LONG) / scales, B.astype(LONG) / scales
    r2 = np.square(U[:, None, :] - V[None, :, :]).sum(axis=2)
    signal = LONG(hyper.signal)
    if hyper.kernel == "se":
        e = signal * np.exp(-r2 / 2)
        return e, e, np.sqrt(r2)
    a = np.sqrt((5 if hyper.kernel == "matern52" else 3) * r2)
    e = signal * np.exp(-a)
    if hyper.kernel == "matern52":
        return (1 + a + a * a / 3) * e, LONG(5) / 3 * (1 + a) * e, np.sqrt(r2)
    return (1 + a) * e, 3 * e, np.sqrt(r2)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Hyperparameters, Array, Array]:
    """Hyperparameters, and points (m, d) and (n, d), some of the one among the other."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n, d = draw(st.integers(0, 40)), draw(st.integers(0, 90)), draw(st.integers(1, 12))
    A, B = rng.random((m, d)), rng.random((n, d))
    if m and n:
        B[rng.integers(n)] = A[rng.integers(m)]
        B[rng.integers(n)] = A[rng.integers(m)] + draw(powers(-12.0, -2.0))
    lengthscales = draw(powers(-3.0, 3.0)) * np.exp(0.5 * rng.standard_normal(d))
    kernel = draw(st.sampled_from(list(KERNELS)))
    return Hyperparameters(kernel, frozen(lengthscales), draw(powers(-2.0, 3.0)), 0.0), A, B


@settings(max_examples=100)
@given(pairs())
def test_compiled_kernels_are_exact_to_a_few_roundings(case: tuple[Hyperparameters, Array, Array]) -> None:
    hyper, A, B = case
    k, h = compiled(lambda: hyper.cross(A, B))
    exact_k, exact_h, r = exactly(hyper, A, B)
    assert k.shape == h.shape == (len(A), len(B))
    # The exponent is r²/2, or √5 r, and its error that of log k: from rounding r, and from rounding u and v before.
    size = np.linalg.norm(A / hyper.lengthscales, axis=1)[:, None] + np.linalg.norm(B / hyper.lengthscales, axis=1)
    relative = 3.0 * EPS * (hyper.lengthscales.shape[0] + (1.0 + r) * (1.0 + r + size))
    # Below e⁻⁷⁰⁸ only "next to nothing" is asked.
    for found, exact in ((k, exact_k), (h, exact_h)):
        assert_near(found, exact.astype(np.float64), (relative * exact).astype(np.float64) + 1e-280 * hyper.signal)


@settings(max_examples=60)
@given(pairs())
def test_kernels_of_the_twins_agree_as_far_as_the_python_twin_knows_distances(
    case: tuple[Hyperparameters, Array, Array],
) -> None:
    hyper, A, B = case
    U, V = A / hyper.lengthscales, B / hyper.lengthscales
    squares = np.square(U).sum(axis=1)[:, None] + np.square(V).sum(axis=1)
    # The twin's r² is off by this much; k and h fall with r², so the ends of that range bound them.
    doubt = (4.0 + U.shape[1]) * EPS * squares
    r2 = np.square(U[:, None, :] - V[None, :, :]).sum(axis=2)
    shape = KERNELS[hyper.kernel]
    low, high = shape(r2 + doubt), shape(np.maximum(r2 - doubt, 0.0))
    of_one, of_other = python(lambda: hyper.cross(A, B)), compiled(lambda: hyper.cross(A, B))
    for one, other, least, most in zip(of_one, of_other, low, high, strict=True):
        assert_near(one, other, hyper.signal * (most - least + 1e-9 * most) + 1e-280 * hyper.signal)


@every_kernel
@each("far", [1e2, 1e3, 1e4, 1e6])
def test_points_far_apart_have_next_to_no_covariance_and_nothing_overflows(kernel: str, far: float) -> None:
    hyper = Hyperparameters(kernel, frozen(np.full(2, 1.0 / far)), 3.0, 1e-6)
    A, B = np.zeros((1, 2)), np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    k, h = compiled(lambda: hyper.cross(A, B))
    assert ((k[0, :2] >= 0.0) & (k[0, :2] < 1e-40)).all()
    assert ((h[0, :2] >= 0.0) & (h[0, :2] < 1e-40)).all()
    assert k[0, 2] == 3.0


@every_kernel
def test_the_covariance_of_points_with_themselves_is_symmetric_with_the_signal_on_its_diagonal(kernel: str) -> None:
    case = Problem(70, d=5, kernel=kernel)
    k, _ = compiled(lambda: case.hyper.cross(case.points, case.points))
    np.testing.assert_array_equal(k, k.T)
    np.testing.assert_array_equal(np.diagonal(k), case.hyper.signal)


# The factor


def whole(grown: Factor) -> Array:
    """W (N, N) of a factor."""
    W = np.zeros((grown.rows, grown.rows))
    W[: len(grown.base), : len(grown.base)] = grown.base
    W[len(grown.base) :] = grown.tail
    return W


@settings(max_examples=80)
@given(problems())
def test_the_compiled_factor_inverts_the_covariance(case: Problem) -> None:
    grown = compiled(lambda: case.model().factor)
    K, W = case.covariance, whole(grown)
    np.testing.assert_array_equal(W, np.tril(W))
    assert (np.diagonal(W) > 0.0).all()
    residual = W @ (K + grown.jitter * np.eye(len(K))) @ W.T - np.eye(len(K))
    assert_near(residual, np.zeros_like(K), case.tolerance)


@settings(max_examples=80)
@given(problems(least_noise=-3.0, longest=0.0))
def test_factors_of_the_twins_are_equal_entry_by_entry_where_the_covariance_is_tame(case: Problem) -> None:
    one, other = python(lambda: case.model().factor), compiled(lambda: case.model().factor)
    assert one.jitter == other.jitter == 0.0
    assert_near(whole(one), whole(other), case.tolerance * np.abs(whole(one)).max())


EDGES = [1, 2, 3, SMALL - 1, SMALL, SMALL + 1, 2 * SMALL - 1, 2 * SMALL, 2 * SMALL + 1, 3 * SMALL, 100, 129, 200, 257]


@every_kernel
@each("n", EDGES)
@each("known_std", [0.0, 2.0])
def test_factors_of_the_twins_agree_at_every_way_of_cutting(n: int, kernel: str, known_std: float) -> None:
    case = Problem(n, tail=0, kernel=kernel, known_std=known_std)
    one, other = python(lambda: case.model().factor), compiled(lambda: case.model().factor)
    assert_near(one.base, other.base, 1e-11 * np.abs(one.base).max())
    np.testing.assert_array_equal(other.base, np.tril(other.base))


@each("n", [1, 3, 4, 5, 33, 100])
@each("p", range(7))
def test_appended_rows_of_the_twins_agree(n: int, p: int) -> None:
    case = Problem(n, tail=p + 1)
    grown = python(lambda: case.model().factor)
    before = Factor(grown.base, grown.tail[:-1, :-1].copy(), 0.0)
    k = case.covariance[-1, :-1]
    variance = case.hyper.signal + case.hyper.noise
    one, other = python(lambda: before.append(k, variance)), compiled(lambda: before.append(k, variance))
    assert_near(one.tail, other.tail, 1e-12 * np.abs(one.tail).max())
    assert one.jitter == other.jitter == 0.0
    np.testing.assert_array_equal(other.tail[:-1, :-1], before.tail)
    np.testing.assert_array_equal(other.tail[:-1, -1], 0.0)


def test_a_pivot_that_rounding_has_eaten_is_lifted_as_the_twin_lifts_it() -> None:
    start = factor(np.array([[2.0]]))
    for k in (np.array([2.0]), np.array([2.0 + 1e-12]), np.array([2.0 - 1e-15])):
        one, other = python(partial(start.append, k, 2.0)), compiled(partial(start.append, k, 2.0))
        np.testing.assert_allclose(one.tail, other.tail, rtol=1e-3)
        assert one.jitter == pytest.approx(other.jitter, rel=1e-3, abs=1e-15)
        assert other.jitter > 0.0
        assert other.tail[-1, -1] == pytest.approx(1.0 / np.sqrt(2e-12), rel=1e-9)


@each("n", [2, 31, 32, 33, 40, 64, 65, 100])
@each("spoiled", [0, -1])
def test_what_is_not_positive_definite_has_no_compiled_factor(n: int, spoiled: int) -> None:
    case = Problem(n)
    X = case.points.copy()
    scales, signal = case.hyper.lengthscales, case.hyper.signal
    # Two points in one place and less variance than covariance: a minor that is negative whatever the rounding.
    X[spoiled] = X[n // 2]
    assert native.covariance_factor(0, X, scales, signal, 1.5 * signal) is not None
    assert native.covariance_factor(0, X, scales, signal, 0.5 * signal) is None
    X[spoiled] = np.nan
    assert native.covariance_factor(0, X, scales, signal, 1.5 * signal) is None
    X[spoiled] = np.inf
    assert native.covariance_factor(0, X, scales, signal, 1.5 * signal) is None


@each("n", [511, 512, 700])
def test_a_large_triangle_is_zero_where_it_was_never_written(n: int) -> None:
    case = Problem(n)
    base = native.covariance_factor(0, case.points, case.hyper.lengthscales, 1.0, 1.5)
    assert base is not None
    np.testing.assert_array_equal(np.triu(base, 1), 0.0)
    K = case.hyper.cross(case.points, case.points)[0] / case.hyper.signal
    K[np.diag_indices(n)] = 1.5
    np.testing.assert_allclose(base @ K @ base.T, np.eye(n), atol=1e-9)


def test_a_covariance_without_a_factor_gets_the_jitter_of_the_twin() -> None:
    hyper = Hyperparameters("se", frozen(np.full(2, 50.0)), 1.0, 0.0)
    X = np.random.default_rng(0).random((60, 2))
    one, other = (run(lambda: posterior(hyper, X, X[:, 0], 0.0, 1.0)) for run in (python, compiled))
    assert native.covariance_factor(2, X, hyper.lengthscales, 1.0, 1.0) is None
    assert one.jitter == other.jitter > 0.0


def test_one_observation_that_says_nothing_leaves_the_jitter_of_the_others_as_it_is() -> None:
    hyper = Hyperparameters("se", frozen(np.full(2, 50.0)), 1.0, 0.0)
    X = np.random.default_rng(0).random((61, 2))
    std = np.append(np.zeros(60), 1e6)
    models = [run(lambda: posterior(hyper, X, X[:, 0], 0.0, 1.0, std)) for run in (python, compiled)]
    assert models[0].jitter == models[1].jitter
    assert 0.0 < models[0].jitter <= JITTER_STEPS[-1]


def test_an_infinite_covariance_is_the_same_error_with_both_twins() -> None:
    hyper = Hyperparameters("matern52", frozen(np.ones(1)), np.inf, 0.0)
    for run in (python, compiled):
        with np.errstate(invalid="ignore"), pytest.raises(NumericalError):
            run(lambda: posterior(hyper, np.zeros((3, 1)), np.zeros(3), 0.0, 1.0))
