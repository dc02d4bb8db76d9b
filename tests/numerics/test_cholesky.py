from __future__ import annotations

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.errors import BelieverError, NumericalError
from believer.numerics.cholesky import JITTER_STEPS, Factor, factor, lower_cholesky

pytestmark = pytest.mark.both_backends

TAILS = [0, 1, 4]
"""Rows appended after the first factorization: none, one, several."""


def covariance(n: int, seed: int = 0, floor: float = 0.1) -> Array:
    A = np.random.default_rng(seed).standard_normal((n, n))
    K: Array = A @ A.T / n + floor * np.eye(n)
    return K


def grown(K: Array, tail: int) -> Factor:
    """The factor of K with its last ``tail`` rows appended one by one."""
    n = len(K) - tail
    out = factor(K[:n, :n])
    for i in range(n, len(K)):
        out = out.append(K[i, :i], float(K[i, i]))
    return out


def dense(of: Factor) -> Array:
    """W (N, N) from its two parts."""
    W = np.zeros((of.rows, of.rows))
    n = len(of.base)
    W[:n, :n] = of.base
    W[n:] = of.tail
    return W


@each("tail", TAILS)
@each("n", [5, 30])
def test_w_whitens_the_covariance_and_is_lower_triangular(n: int, tail: int) -> None:
    K = covariance(n)
    of = grown(K, tail)
    W = dense(of)
    np.testing.assert_allclose(W @ K @ W.T, np.eye(n), atol=1e-12)
    np.testing.assert_array_equal(W, np.tril(W))
    assert (np.diagonal(W) > 0.0).all()
    assert of.jitter == 0.0
    assert of.rows == n


@settings(max_examples=40)
@given(st.integers(2, 12), st.integers(1, 11), st.integers(0, 2**32))
def test_appending_one_by_one_is_the_factor_of_the_whole(n: int, tail: int, seed: int) -> None:
    K = covariance(n, seed)
    np.testing.assert_allclose(dense(grown(K, min(tail, n - 1))), dense(factor(K)), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("tail", TAILS)
def test_whiten_gives_the_quadratic_form_and_unwhiten_the_solution(tail: int) -> None:
    K = covariance(12)
    of = grown(K, tail)
    cross = np.random.default_rng(1).standard_normal((3, 12))
    V = of.whiten(cross)
    np.testing.assert_allclose(V, cross @ dense(of).T, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(V @ V.T, cross @ np.linalg.solve(K, cross.T), rtol=1e-10)
    np.testing.assert_allclose(of.unwhiten(V), np.linalg.solve(K, cross.T).T, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("tail", TAILS)
def test_log_determinant_and_inverse_diagonal_are_those_of_the_covariance(tail: int) -> None:
    K = covariance(12)
    of = grown(K, tail)
    assert of.log_determinant() == pytest.approx(np.linalg.slogdet(K).logabsdet, rel=1e-12)
    np.testing.assert_allclose(of.inverse_diagonal(), np.diagonal(np.linalg.inv(K)), rtol=1e-10)


def test_the_base_is_shared_and_every_array_is_read_only() -> None:
    K = covariance(8)
    parent = factor(K[:6, :6])
    before = dense(parent)
    child = parent.append(K[6, :6], float(K[6, 6]))
    grandchild = child.append(K[7, :7], float(K[7, 7]))
    assert child.base is parent.base
    assert grandchild.base is parent.base
    for of in (parent, child, grandchild):
        assert not of.base.flags.writeable
        assert not of.tail.flags.writeable
    np.testing.assert_array_equal(dense(parent), before)
    np.testing.assert_array_equal(child.tail, grandchild.tail[:1, :7])


@pytest.mark.parametrize("overwrite", [False, True])
def test_lower_cholesky_is_the_factor_or_none(overwrite: bool) -> None:
    K = covariance(7)
    L = lower_cholesky(K.copy(), overwrite)
    assert L is not None
    np.testing.assert_allclose(L @ L.T, K, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(L, np.tril(L))
    assert lower_cholesky(-K, overwrite) is None


def test_factoring_leaves_the_covariance_alone() -> None:
    K = np.ones((3, 3))
    lower_cholesky(K)
    factor(K)
    assert (K == 1.0).all()


@each("scale", [1e-12, 1.0, 1e12])
@each("dip", [1e-13, 3e-10, 3e-8, 3e-6, 3e-5])
def test_jitter_is_the_least_step_that_works_and_is_reported_in_the_units_of_the_diagonal(
    dip: float, scale: float
) -> None:
    # Eigenvalues 1, 1, 1/2 and -dip.
    rotation = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0]
    K: Array = scale * (rotation * np.array([1.0, 1.0, 0.5, -dip])) @ rotation.T
    K = 0.5 * (K + K.T)
    unit = float(np.trace(K)) / 4
    of = factor(K)
    least = next(step for step in JITTER_STEPS if step * unit > dip * scale)
    assert of.jitter == pytest.approx(least * unit, rel=1e-12)
    W = dense(of)
    np.testing.assert_allclose(W @ (K + of.jitter * np.eye(4)) @ W.T, np.eye(4), atol=1e-4)


def test_the_jitter_steps_rise_from_nothing() -> None:
    assert JITTER_STEPS[0] == 0.0
    assert list(JITTER_STEPS) == sorted(set(JITTER_STEPS))
    assert JITTER_STEPS[-1] <= 1e-4


@each(
    "K",
    [
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        -np.eye(3),
        np.zeros((2, 2)),
        np.array([[0.0]]),
        np.full((2, 2), np.nan),
        np.diag([1.0, np.inf]),
        np.array([[1.0, np.nan], [np.nan, 1.0]]),
    ],
    ids=["indefinite", "negative", "zero", "zero alone", "nan", "inf", "nan aside"],
)
def test_what_is_not_a_covariance_raises_numerical_error(K: Array) -> None:
    with pytest.raises(NumericalError, match=r"not positive definite even with a jitter of 0\.0001") as caught:
        factor(K)
    assert isinstance(caught.value, BelieverError)
    assert not isinstance(caught.value, np.linalg.LinAlgError)
    assert f"{len(K)} points" in str(caught.value)


@each("gap", [0.0, 1e-12, 1e-9, 1e-6])
def test_near_duplicate_rows_are_factored_with_a_bounded_jitter(gap: float) -> None:
    x = np.array([0.1, 0.4, 0.4 + gap, 0.4 + 2 * gap, 0.9])
    K: Array = np.exp(-0.5 * ((x[:, None] - x) / 0.3) ** 2)
    for of in (factor(K), grown(K, 2)):
        assert of.jitter <= JITTER_STEPS[-1]
        W = dense(of)
        assert np.isfinite(W).all()
        # W inverts a covariance that is K to within the jitter (what an append lifted stays on its own diagonal entry).
        cross = np.exp(-0.5 * ((np.array([0.25, 0.6])[:, None] - x) / 0.3) ** 2)
        V = of.whiten(cross)
        assert ((V**2).sum(axis=1) <= 1.0).all()


def test_appending_an_exact_copy_lifts_the_pivot_and_says_so() -> None:
    K = covariance(5)
    of = factor(K)
    variance = float(K[2, 2])
    copy = of.append(K[2], variance)
    assert np.isfinite(copy.tail).all()
    assert 0.0 < copy.jitter <= 1e-11 * variance
    assert 1.0 / copy.tail[-1, -1] ** 2 == pytest.approx(1e-12 * variance, rel=1e-9)


def test_jitter_never_falls_when_rows_are_appended() -> None:
    K = np.ones((2, 2))
    of = factor(K)
    assert of.jitter > 0.0
    assert of.append(np.zeros(2), 1.0).jitter == of.jitter


def test_an_impossible_row_is_never_a_lapack_error() -> None:
    # A "covariance" of 3 with a variance of 1 cannot be: the append lifts it and the jitter tells how far.
    of = factor(np.eye(2)).append(np.array([3.0, 0.0]), 1.0)
    assert of.jitter == pytest.approx(8.0)
    assert np.isfinite(of.tail).all()
