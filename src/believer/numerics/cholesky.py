"""Covariance factors: one that grows by rows, and those of many small covariances at once.

A :class:`Factor` holds W = L⁻¹, the inverse of the Cholesky factor of a covariance K = L Lᵀ. With it everything that a
Gaussian process needs is a matrix product: K⁻¹ = Wᵀ W, the whitened cross-covariance is k Wᵀ, and appending a point
costs one product with W and one with Wᵀ, O(n²). Rows appended after the first factorization are kept apart in ``tail``,
so that a conditioned model shares the large ``base`` with the model that it came from and copies only O(p n) numbers.

======  =====================================================  ============
symbol  meaning                                                shape
======  =====================================================  ============
N       rows in all, n of the base and p appended              n + p
W       inverse Cholesky factor, lower triangular              (N, N)
base    the first n rows of W (columns beyond n are zero)      (n, n)
tail    the appended rows of W                                 (p, N)
======  =====================================================  ============
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, packed, read_only
from believer.errors import NumericalError
from believer.numerics import backend

JITTER_STEPS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""The jitter that may be added to the diagonal, relative to its size, in this order; the factor reports it."""

_MIN_PIVOT = 1e-12
_MIN_GAP = 1e-10  # the share by which correlations are shrunk, so that equal points make no covariance singular
_CUT_FROM = 256


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """W = L⁻¹ of a covariance, and the largest jitter that was needed to have one."""

    base: Array
    tail: Array
    jitter: float

    @property
    def rows(self) -> int:
        """N, the number of observations that the factor covers."""
        return len(self.base) + len(self.tail)

    def whiten(self, K: Array) -> Array:
        """V = K Wᵀ (m, N) for cross-covariances K (m, N); then K (L Lᵀ)⁻¹ Kᵀ = V Vᵀ."""
        n, half = len(self.base), _half(len(self.base))
        if not half and not len(self.tail):
            return K @ self.base.T
        parts = [K[:, :half] @ self.base[:half, :half].T, K[:, :n] @ self.base[half:].T]
        if len(self.tail):
            parts.append(K @ self.tail.T)
        return np.hstack(parts)

    def unwhiten(self, V: Array) -> Array:
        """V W (m, N): of a whitened cross-covariance, this is K (L Lᵀ)⁻¹."""
        n, half = len(self.base), _half(len(self.base))
        if not half and not len(self.tail):
            return V @ self.base
        out = V[:, n:] @ self.tail if len(self.tail) else np.zeros((len(V), n))
        out[:, :half] += V[:, :half] @ self.base[:half, :half]
        out[:, :n] += V[:, half:n] @ self.base[half:]
        return out

    def inverse_diagonal(self) -> Array:
        """The diagonal (N,) of (L Lᵀ)⁻¹."""
        diagonal = np.zeros(self.rows)
        diagonal[: len(self.base)] = np.einsum("ij,ij->j", self.base, self.base)
        diagonal += np.einsum("ij,ij->j", self.tail, self.tail)
        return diagonal

    def log_determinant(self) -> float:
        """log det (L Lᵀ)."""
        pivots = np.concatenate([np.diagonal(self.base), np.diagonal(self.tail, offset=len(self.base))])
        return float(-2.0 * np.log(pivots).sum())

    def append(self, k: Array, variance: float) -> Factor:
        """The factor with one more row: covariances ``k`` (N,) with what is there, and its own ``variance``.  O(N²).

        A pivot that rounding has eaten is lifted to 1e-12 of the variance, which counts as jitter.
        """
        native = backend.native
        if native is not None:
            tail, pivot = native.append(self.base, self.tail, packed(k), variance, _MIN_PIVOT)
            tail.flags.writeable = False
            return Factor(self.base, tail, max(self.jitter, _MIN_PIVOT * variance - pivot))
        v = self.whiten(k[None, :])
        pivot = variance - float(v[0] @ v[0])
        least = _MIN_PIVOT * variance
        jitter = max(self.jitter, least - pivot if pivot < least else 0.0)
        root = np.sqrt(max(pivot, least))
        N = self.rows
        tail = np.zeros((len(self.tail) + 1, N + 1))
        tail[:-1, :N] = self.tail
        tail[-1, :N] = self.unwhiten(v)[0] / -root
        tail[-1, N] = 1.0 / root
        return Factor(self.base, read_only(tail), jitter)


@lru_cache(256)
def _half(n: int) -> int:
    """The row at which a large triangle is cut in two, to skip the quarter of its square that is zero; or 0."""
    return n // 2 if n >= _CUT_FROM else 0


def lower_cholesky(K: Array, overwrite: bool = False) -> Array | None:
    """L with L Lᵀ = K (n, n), zeros above the diagonal; None when K is not positive definite.  O(n³)."""
    # LAPACK wants columns; the transpose of a symmetric matrix is itself, so its upper factor is our lower one.
    U, info = lapack.dpotrf(K.T, lower=0, clean=1, overwrite_a=overwrite)
    return U.T if info == 0 else None


def factor(K: Array, size: float | None = None) -> Factor:
    """Factor a covariance (n, n), with the least jitter of :data:`JITTER_STEPS` that works.  O(n³).

    Steps are in units of ``size``, None for the mean of the diagonal.
    Raises :class:`NumericalError` when even the largest does not.
    """
    scale = float(np.trace(K)) / len(K) if size is None else size
    for step in JITTER_STEPS if np.isfinite(K).all() else ():
        jitter = step * scale
        L = lower_cholesky(K + jitter * np.eye(len(K)) if jitter else K)
        if L is not None:
            Winv, info = lapack.dtrtri(L.T, lower=0)
            if info == 0:
                return Factor(read_only(np.ascontiguousarray(Winv.T)), read_only(np.zeros((0, len(K)))), jitter)
    raise NumericalError(
        f"the covariance of {len(K)} points is not positive definite even with a jitter of {JITTER_STEPS[-1]:g} of its "
        "diagonal; are there infinite values, or a kernel that is not one?"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """Cholesky factors ``lower`` (b, m, m) of covariances, of which ``kept`` (b, m, m) is the share that went in."""

    lower: Array
    kept: Array

    def pull(self, by_lower: Array) -> Array:
        """Σ̄ = ½ L⁻ᵀ (P + Pᵀ) L⁻¹ with P = Φ(Lᵀ L̄), the lower triangle and half its diagonal ([Murray2016] sec. 3)."""
        P = np.tril(self.lower.transpose(0, 2, 1) @ by_lower)
        _diagonal(P)[...] *= 0.5
        inverse = np.linalg.inv(self.lower)
        by_covariance: Array = inverse.transpose(0, 2, 1) @ (0.5 * (P + P.transpose(0, 2, 1))) @ inverse
        return by_covariance * self.kept


def root_of(covariance: Array, least: float) -> Root:
    """Factors of ``covariance`` (b, m, m), its correlations shrunk by what that takes, variances left as they are.

    Shrinking by 1 / (1 + δ) adds δ to the eigenvalues of a correlation matrix before it is scaled back. δ is
    1e-10, or where that is too little, twice what the least eigenvalue lacks; derivatives take it as constant.
    A variance that rounding has eaten, below ``least``, is replaced by that, and goes with nothing.
    """
    variance = _diagonal(covariance)
    sound = variance >= least
    both = sound[:, :, None] & sound[:, None, :]
    missing = np.where(sound, 0.0, least)

    def factored(gap: Array) -> Root:
        kept = both / (1.0 + gap)[:, None, None]
        _diagonal(kept)[...] = sound
        shrunk = covariance * kept
        _diagonal(shrunk)[...] += missing
        return Root(cast(Array, np.linalg.cholesky(shrunk)), kept)

    try:
        return factored(np.full(len(covariance), _MIN_GAP))
    except np.linalg.LinAlgError:
        std = np.sqrt(np.where(sound, variance, 1.0))
        correlation = both * covariance / (std[:, :, None] * std[:, None, :])
        lowest = np.linalg.eigvalsh(correlation)[:, 0]
        return factored(_MIN_GAP + 2.0 * np.maximum(-lowest, 0.0))


def _diagonal(matrices: Array) -> Array:
    """The diagonals (b, m) of ``matrices`` (b, m, m), to be read or written."""
    diagonal: Array = np.einsum("bii->bi", matrices)
    return diagonal
