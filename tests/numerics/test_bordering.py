from __future__ import annotations

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.errors import NumericalError
from believer.numerics.bordering import MIN_PIVOT, Bordered, inverse, regular_part

TAILS = [0, 1, 4]
"""Rows appended to the base: none, one, several."""


def indefinite(n: int, seed: int = 0) -> tuple[Array, Array]:
    """A symmetric matrix L D Lᵀ with a unit lower triangle L, and the pivots D of both signs (n,)."""
    rng = np.random.default_rng(seed)
    L = np.tril(rng.uniform(-0.5, 0.5, (n, n)), -1) + np.eye(n)
    D = rng.uniform(0.5, 2.0, n) * rng.choice([-1.0, 1.0], n)
    A: Array = (L * D) @ L.T
    return 0.5 * (A + A.T), D


def grown(A: Array, tail: int) -> Bordered:
    """The inverse of A with its last ``tail`` rows appended one by one."""
    n = len(A) - tail
    out = inverse(A[:n, :n])
    for i in range(n, len(A)):
        out = out.append(A[i, :i], float(A[i, i]))
    return out


def dense(of: Bordered) -> Array:
    return of.apply(np.eye(of.rows))


@settings(max_examples=40)
@given(st.integers(2, 12), st.integers(0, 11), st.integers(0, 2**32))
def test_appending_one_by_one_is_the_inverse_of_the_whole(n: int, tail: int, seed: int) -> None:
    A, D = indefinite(n, seed)
    of = grown(A, min(tail, n - 1))
    assert of.rows == n
    expected = np.linalg.inv(A)
    np.testing.assert_allclose(dense(of), expected, rtol=0.0, atol=1e-12 * np.abs(expected).max() ** 2)
    # The Schur complements are the pivots of L D Lᵀ, whatever their signs.
    np.testing.assert_allclose(of.weights, 1.0 / D[n - len(of.weights) :], rtol=1e-8)


@pytest.mark.parametrize("tail", TAILS)
def test_apply_is_the_product_with_the_inverse_and_the_inverse_is_symmetric(tail: int) -> None:
    A, _ = indefinite(9)
    of = grown(A, tail)
    V = np.random.default_rng(1).standard_normal((3, 9))
    np.testing.assert_allclose(of.apply(V), np.linalg.solve(A, V.T).T, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(dense(of), dense(of).T, rtol=0.0, atol=1e-13)


def test_the_base_is_shared_and_every_array_is_read_only() -> None:
    A, _ = indefinite(8)
    parent = inverse(A[:6, :6])
    before = dense(parent)
    child = parent.append(A[6, :6], float(A[6, 6]))
    grandchild = child.append(A[7, :7], float(A[7, 7]))
    assert child.base is parent.base
    assert grandchild.base is parent.base
    for of in (parent, child, grandchild):
        for part in (of.base, of.tail, of.weights, of.diagonal):
            assert not part.flags.writeable
    np.testing.assert_array_equal(dense(parent), before)
    np.testing.assert_array_equal(child.tail, grandchild.tail[:1, :7])


@settings(max_examples=25)
@given(st.integers(2, 12), st.integers(0, 11), st.integers(0, 2**32))
def test_the_diagonal_is_that_of_the_inverse(n: int, tail: int, seed: int) -> None:
    of = grown(indefinite(n, seed)[0], min(tail, n - 1))
    np.testing.assert_allclose(of.diagonal, np.diagonal(dense(of)), rtol=0.0, atol=1e-13 * np.abs(dense(of)).max())


@pytest.mark.parametrize("entry", [1e3, 1e5, 1e7])
def test_a_pivot_below_the_rounding_of_the_inverse_is_lost(entry: float) -> None:
    # An inverse with such an entry knows bᵀ A⁻¹ b to about 1e-15 of it.
    of = inverse(np.diag([1.0 / entry, 1.0]))
    b = np.array([1e-3, 1.0])
    quadratic = 1e-6 * entry + 1.0
    noise = 1e-15 * entry * float(b @ b)
    for s in (0.5 * noise, -0.5 * noise, 1e-9, 0.0):
        assert of.append(b, quadratic + s).weights[-1] == 0.0
    for s in (1e-5, -1e-5):
        assert of.append(b, quadratic + s).weights[-1] == pytest.approx(1.0 / s, rel=1e-3)


@each("scale", [1e-9, 1.0, 1e9])
@each("tail", TAILS)
def test_a_copy_of_a_row_is_left_out_and_changes_nothing(tail: int, scale: float) -> None:
    A = scale * indefinite(7)[0]
    of = grown(A, tail)
    V = np.random.default_rng(2).standard_normal((4, 8))
    for i in range(7):
        copy = of.append(A[i], float(A[i, i]))
        assert copy.weights[-1] == 0.0
        # Equal but for the order in which BLAS sums matrices of another shape.
        np.testing.assert_allclose(copy.apply(V)[:, :7], of.apply(V[:, :7]), rtol=0.0, atol=1e-14 / scale)
        np.testing.assert_array_equal(copy.apply(V)[:, 7], 0.0)


@settings(max_examples=40)
@given(st.floats(0.5, 3.0), st.floats(-1e-7, 1e-7))
def test_no_weight_exceeds_the_bound_however_near_the_row_is_to_a_copy(b: float, miss: float) -> None:
    c = b * b + miss
    of = inverse(np.eye(1)).append(np.array([b]), c)
    assert abs(of.weights[-1]) <= 1.0 / (MIN_PIVOT * c)
    assert (of.weights[-1] == 0.0) == (abs(c - b * b) <= MIN_PIVOT * max(c, b * b))


@pytest.mark.parametrize(
    "A",
    [
        np.zeros((2, 2)),
        np.array([[0.0]]),
        np.ones((3, 3)),
        np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]]),
        np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1e-13]]),
        np.full((2, 2), np.nan),
        np.diag([1.0, np.inf]),
    ],
    ids=["zero", "zero alone", "ones", "nearly a copy", "nearly singular saddle", "nan", "inf"],
)
def test_a_singular_matrix_raises_numerical_error(A: Array) -> None:
    with pytest.raises(NumericalError, match=f"{len(A)} rows is singular to rounding"):
        inverse(A)


def test_a_zero_diagonal_is_no_singularity() -> None:
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(dense(inverse(A)), A)


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 2**32))
def test_the_regular_part_of_a_regular_matrix_is_all_of_it(n: int, seed: int) -> None:
    A, _ = indefinite(n, seed)
    expected = np.linalg.inv(A)
    np.testing.assert_allclose(dense(regular_part(A, 1)), expected, atol=1e-13 * np.abs(expected).max() ** 2)


def test_the_regular_part_keeps_the_first_of_equal_rows() -> None:
    A, _ = indefinite(5)
    order = np.array([0, 1, 2, 1, 3, 4, 3, 3])
    of = regular_part(A[np.ix_(order, order)], 1)
    once = [0, 1, 2, 4, 5]
    np.testing.assert_allclose(dense(of)[np.ix_(once, once)], np.linalg.inv(A), rtol=1e-9, atol=1e-10)
    for left_out in (3, 6, 7):
        np.testing.assert_array_equal(dense(of)[left_out], 0.0)
        np.testing.assert_array_equal(dense(of)[:, left_out], 0.0)


def test_the_regular_part_of_a_matrix_of_low_rank_reproduces_the_matrix() -> None:
    F = np.random.default_rng(4).standard_normal((30, 6))
    A: Array = (F * np.array([1.0, -1.0, 2.0, -0.5, 1.0, -1.0])) @ F.T
    of = regular_part(0.5 * (A + A.T), 1)
    assert np.count_nonzero(np.diagonal(of.base)) == 6
    np.testing.assert_allclose(A @ of.base @ A, A, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("A", [np.zeros((3, 3)), np.diag([1.0, np.nan, 1.0])], ids=["zero first row", "nan"])
def test_without_a_regular_first_row_or_finite_values_there_is_no_part(A: Array) -> None:
    with pytest.raises(NumericalError, match="no inverse"):
        regular_part(A, 1)
