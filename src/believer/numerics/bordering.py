"""Inverses of symmetric matrices that grow by rows (bordering). The matrix may be indefinite.

A symmetric A that gets a row ``b`` and a diagonal entry ``c`` has the inverse

    [A  b]⁻¹   [A⁻¹  0]   1
    [bᵀ c]   = [ 0   0] + ─ u uᵀ,    u = [-A⁻¹ b; 1],    s = c - bᵀ A⁻¹ b,
                          s

which costs one product with A⁻¹. The pivot s is the Schur complement; its sign is the sign of the eigenvalue that the
row adds ([Haynsworth1968]), so nothing here asks for a positive one. Appended rows are kept separately as ``tail`` and
``weights``, so that a grown inverse shares the large ``base`` with the one from which it was made, and copies only O(p
N) numbers.

A pivot is *lost* when rounding may have made it: |s| is at most 1e-8 max(|c|, |bᵀ A⁻¹ b|), or at most 1e-14 bᵀ b times
the largest diagonal entry of A⁻¹, ten times what an explicit inverse errs by. A row with a lost pivot is left out: its
weight is zero, so is its row and column of the inverse, and everything stays as it was. An exact copy of an earlier row
is lost always; a weight is never above 1e8/|c|, whatever is appended.

========  ==================================================  ======
symbol    meaning                                             shape
========  ==================================================  ======
N         rows in all, n of the base and p appended           n + p
base      the inverse of the first n rows and columns         (n, n)
tail      the vectors u, one a row, zeros beyond their own 1  (p, N)
weights   1/s for each of them, or 0 where the pivot is lost  (p,)
diagonal  the diagonal of A⁻¹, whose size tells the rounding  (N,)
========  ==================================================  ======
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, frozen
from believer.errors import NumericalError

MIN_PIVOT = 1e-8
"""Pivots below this, relative to the numbers that they are the difference of, are rounding."""

_ROUNDING = 1e-14
_BLOCK = 64
"""Rows of workspace for LAPACK, per row of the matrix."""


@dataclass(frozen=True, slots=True, eq=False)
class Bordered:
    """A⁻¹ = base (padded with zeros) + Σ_i weights_i u_i u_iᵀ."""

    base: Array
    tail: Array
    weights: Array
    diagonal: Array

    @property
    def rows(self) -> int:
        """N, the number of rows of A."""
        return len(self.base) + len(self.tail)

    def apply(self, V: Array) -> Array:
        """V A⁻¹ (m, N) for ``V`` (m, N).  O(m N²)."""
        n = len(self.base)
        if not len(self.tail):
            return V @ self.base
        out = ((V @ self.tail.T) * self.weights) @ self.tail
        out[:, :n] += V[:, :n] @ self.base
        return out

    def append(self, b: Array, c: float) -> Bordered:
        """The inverse with one more row: ``b`` (N,) beside what is there, and ``c`` on the diagonal.  O(N²)."""
        solved = self.apply(b[None, :])[0]
        quadratic = float(b @ solved)
        least = MIN_PIVOT * max(abs(c), abs(quadratic))
        least = max(least, _ROUNDING * float(b @ b) * float(np.abs(self.diagonal).max()))
        s = c - quadratic
        weight = 1.0 / s if abs(s) > least else 0.0
        N = self.rows
        tail = np.zeros((len(self.tail) + 1, N + 1))
        tail[:-1, :N] = self.tail
        tail[-1, :N] = -solved
        tail[-1, N] = 1.0
        diagonal = weight * tail[-1] ** 2
        diagonal[:N] += self.diagonal
        return Bordered(self.base, frozen(tail), frozen(np.append(self.weights, weight)), frozen(diagonal))


def _bordered(full: Array) -> Bordered:
    return Bordered(frozen(full), frozen(np.zeros((0, len(full)))), frozen(np.zeros(0)), frozen(np.diagonal(full)))


def _full_inverse(A: Array) -> Array | None:
    """A⁻¹, symmetric to the bit; None if a pivot is exactly zero."""
    lu, pivots, info = lapack.dgetrf(A.T)
    if info != 0:
        return None
    full, _ = lapack.dgetri(lu, pivots, lwork=_BLOCK * len(A), overwrite_lu=True)
    return np.ascontiguousarray(0.5 * (full + full.T))


def inverse(A: Array) -> Bordered:
    """The inverse of a symmetric ``A`` (n, n), to be grown.  O(n³).

    Raises :class:`NumericalError` when A is singular to rounding: 1/(A⁻¹)_ii is the pivot that row i would have if it
    were the last, and one of these is lost beside the largest entry of A.
    """
    full = _full_inverse(A) if np.isfinite(A).all() else None
    if full is None or not MIN_PIVOT * np.abs(A).max() * np.abs(np.diagonal(full)).max() < 1.0:
        raise NumericalError(
            f"a symmetric matrix of {len(A)} rows is singular to rounding, so it has no inverse; are there infinite "
            "values, or rows that repeat each other?"
        )
    return _bordered(full)


def regular_part(A: Array, first: int) -> Bordered:
    """The inverse of ``A`` (n, n) without the rows that the others determine; their entries are zero.  O(n³).

    The ``first`` rows are kept, then always the row with the largest pivot (the earliest of equals), until every pivot
    that is left is lost beside the largest entry of A: the rows left out are those that rounding cannot tell from what
    is there. Slower than :func:`inverse`, and made for what that refuses; NumericalError where even the ``first`` rows
    are singular, or a value is infinite.
    """
    if not np.isfinite(A).all():
        raise NumericalError(
            f"a symmetric matrix of {len(A)} rows has infinite values, so it has no inverse. Look at the data."
        )
    kept = list(range(first))
    rest = np.ones(len(A), dtype=bool)
    rest[:first] = False
    S = A - inverse(A[:first, :first]).apply(A[:, :first]) @ A[:first]
    least = MIN_PIVOT * np.abs(A).max()
    while rest.any():
        best = int(np.argmax(np.where(rest, np.abs(np.diagonal(S)), -1.0)))
        if not abs(S[best, best]) > least:
            break
        S -= np.multiply.outer(S[:, best] / S[best, best], S[best])
        rest[best] = False
        kept.append(best)
    full = np.zeros_like(A)
    part = np.ix_(sorted(kept), sorted(kept))
    full[part] = np.linalg.inv(A[part])
    return _bordered(0.5 * (full + full.T))


def inverse_or_regular_part(A: Array, first: int) -> Bordered:
    """The inverse of a symmetric ``A`` (n, n), to be grown; where it is singular to rounding, its regular part's."""
    try:
        return inverse(A)
    except NumericalError:
        return regular_part(A, first)
