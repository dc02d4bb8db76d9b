"""The marginal likelihood of a Gaussian process's hyperparameters, with gradient and curvature.

======  =========================================================  ========
symbol  meaning                                                    shape
======  =========================================================  ========
θ       log ℓ_1 .. log ℓ_s, log σ_f², and log σ_n² when inferred    (p,)
        s is d, or the number of groups of columns that share a ℓ
y       standardized data, m its constant mean                     (n,)
u       points over lengthscales                                   (n, d)
D       known noise variances of y, beyond σ_n²                    (n,)
K_y     σ_f² k(X, X) + σ_n² I + diag(D)                            (n, n)
α       K_y⁻¹ (y - m)                                              (n,)
K_j     ∂K_y/∂θ_j                                                  (n, n)
======  =========================================================  ========
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, IntArray, packed
from believer.numerics import backend
from believer.numerics.cholesky import lower_cholesky
from believer.surrogates.kernels import KERNELS, squared_distances

_BLOCK = 128


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """log p(y | X, θ), its gradient (p,), the mean m that it was taken with, and the average information (p, p)."""

    value: float
    gradient: Array
    mean: float
    information: Array


class LikelihoodOf(Protocol):
    """A function that computes :func:`log_likelihood`, on any device."""

    def __call__(
        self,
        kernel: str,
        X: Array,
        y: Array,
        theta: Array,
        noise: float | None,
        mean_std: float | None = None,
        known: Array | None = None,
        groups: IntArray | None = None,
    ) -> Likelihood:
        """log p(y | X, θ) with its derivatives."""


def log_likelihood(
    kernel: str,
    X: Array,
    y: Array,
    theta: Array,
    noise: float | None,
    mean_std: float | None = None,
    known: Array | None = None,
    groups: IntArray | None = None,
) -> Likelihood:
    """log p(y | X, θ) with its derivatives; -inf and zeros if K_y is not positive definite.

    ``noise`` is σ_n² if it is fixed, and None if the last entry of θ is its logarithm; ``known`` is D, or None;
    ``groups`` (d,) is the number of each column's ℓ in θ, None if each has its own. With ``mean_std`` the constant mean
    m takes its best value for θ, m = 1ᵀK_y⁻¹y / (1ᵀK_y⁻¹1 + 1/τ²), and log p includes its prior N(0, τ²); because this
    is the maximum, it adds nothing to the gradient. [Rasmussen2006] Eq. 5.8-5.9; the derivative by log ℓ_j needs Σ M_ab
    h_ab (x_aj - x_bj)²/ℓ_j² with M = α αᵀ - K_y⁻¹, which two products with X give for all j at once.  O(n³ + n² d).
    """
    native = backend.native
    if native is not None:
        center, precision = np.zeros(len(theta)), np.zeros((len(theta), len(theta)))
        found = native.HyperPosterior(
            native.KERNELS[kernel],
            packed(X),
            packed(y),
            np.nan if noise is None else noise,
            np.nan if mean_std is None else mean_std,
            center,
            precision,
            known,
            groups,
        )
        return Likelihood(*found.log_likelihood(packed(theta)))
    n, s = len(X), len(theta) - (2 if noise is None else 1)
    scaled = X / np.exp(theta[:s] if groups is None else theta[groups])
    signal = float(np.exp(theta[s]))
    noise_variance = float(np.exp(theta[s + 1])) if noise is None else noise
    k, h = _lower_kernel(kernel, scaled, signal)
    nugget = noise_variance if known is None else noise_variance + known
    k[np.diag_indices(n)] = signal + nugget
    L = lower_cholesky(k, overwrite=True)
    if L is None:
        return Likelihood(-np.inf, np.zeros_like(theta), 0.0, np.zeros((len(theta), len(theta))))
    half_log_det = float(np.log(np.diagonal(L)).sum())
    ones = lapack.dpotrs(L.T, np.ones(n), lower=0)[0]
    spread = np.inf if mean_std is None else float(ones.sum()) + mean_std**-2.0
    mean = float(ones @ y) / spread
    y = y - mean
    alpha = lapack.dpotrs(L.T, y, lower=0)[0]
    value = -0.5 * float(y @ alpha) - half_log_det - 0.5 * n * float(np.log(2.0 * np.pi))
    if mean_std is not None:
        value -= 0.5 * (mean / mean_std) ** 2

    # K_j α for every θ_j; the signal's part of K_y is K_y without the noise.
    products = summed(_lengthscale_products(h, alpha, scaled), groups, s)
    V = np.column_stack([products, y - nugget * alpha, noise_variance * alpha])
    information = _average_information(V[:, : len(theta)], L, ones, spread)
    inverse = lapack.dpotri(L.T, lower=0, overwrite_c=1)[0].T
    square, trace = float(alpha @ alpha), float(np.trace(inverse))
    by_signal = 0.5 * (float(y @ alpha) - noise_variance * square - n + noise_variance * trace)
    if known is not None:
        by_signal -= 0.5 * float(known @ (alpha**2 - np.diagonal(inverse)))
    by_noise = 0.5 * noise_variance * (square - trace)
    by_length = summed(_by_lengthscales(h, inverse, alpha, scaled), groups, s)
    gradient = np.append(by_length, [by_signal, by_noise])[: len(theta)]
    return Likelihood(value, gradient, mean, information)


def summed(by_column: Array, groups: IntArray | None, s: int) -> Array:
    """Derivatives (..., s) by the s lengthscales that columns share, from those (..., d) by the log ℓ of each column:
    the chain rule. ``groups`` has the lengthscale of each column; it is None if each has its own."""
    if groups is None:
        return by_column
    total = np.zeros((*by_column.shape[:-1], s))
    for column, group in enumerate(groups):
        total[..., group] += by_column[..., column]
    return total


def _average_information(V: Array, L: Array, ones: Array, spread: float) -> Array:
    """½ αᵀ K_i K_y⁻¹ K_j α (p, p) from the columns K_j α of ``V`` (n, p): mean of observed and expected information.

    [Gilmour1995]: it needs no product of matrices, but has the curvature of the likelihood near its maximum. The part
    that the constant mean absorbs is subtracted; ``ones`` is K_y⁻¹ 1 and ``spread`` 1ᵀK_y⁻¹1 + 1/τ².
    """
    along = V.T @ ones
    information: Array = 0.5 * (V.T @ lapack.dpotrs(L.T, V, lower=0)[0] - np.multiply.outer(along, along) / spread)
    return information


def _lengthscale_products(h: Array, alpha: Array, scaled: Array) -> Array:
    """Σ_b h_ab (u_aj - u_bj)² α_b (n, d), of the lower triangle of h; the square is written out as in the gradient."""
    n, d = scaled.shape
    weights = np.hstack([np.ones((n, 1)), scaled, scaled * scaled]) * alpha[:, None]
    product = np.zeros((n, 2 * d + 1))
    for rows in _row_blocks(n):
        part = h[rows, : rows.stop].copy()
        part[:, rows] *= np.tri(rows.stop - rows.start, k=-1)
        product[rows] += part @ weights[: rows.stop]
        product[: rows.stop] += part.T @ weights[rows]
    squares: Array = scaled * scaled * product[:, :1] - 2.0 * scaled * product[:, 1 : d + 1] + product[:, d + 1 :]
    return squares


def _row_blocks(n: int) -> list[slice]:
    """Blocks of rows that fit the cache; with the columns up to its end, each covers its part of the lower triangle."""
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def _lower_kernel(kernel: str, scaled: Array, signal: float) -> tuple[Array, Array]:
    """σ_f² k and σ_f² h (n, n) of the scaled points (n, d), the lower triangle only; the upper triangle is
    arbitrary."""
    n = len(scaled)
    k, h = np.empty((n, n)), np.empty((n, n))
    for rows in _row_blocks(n):
        part_k, part_h = KERNELS[kernel](squared_distances(scaled[rows], scaled[: rows.stop]))
        np.multiply(part_k, signal, out=k[rows, : rows.stop])
        np.multiply(part_h, signal, out=h[rows, : rows.stop])
    return k, h


def _by_lengthscales(h: Array, inverse: Array, alpha: Array, scaled: Array) -> Array:
    """Σ_{a>b} M_ab h_ab (u_aj - u_bj)² for each column j of the scaled points u (n, d), M = α αᵀ - K_y⁻¹.

    Written out, the square needs only the row and column sums of M h and its product with u.
    """
    n, d = scaled.shape
    sums, product = np.zeros(n), np.zeros((n, d))
    for rows in _row_blocks(n):
        M = np.multiply.outer(alpha[rows], alpha[: rows.stop])
        M -= inverse[rows, : rows.stop]
        M *= h[rows, : rows.stop]
        M[:, rows] *= np.tri(rows.stop - rows.start, k=-1)
        sums[rows] += M.sum(axis=1)
        sums[: rows.stop] += M.sum(axis=0)
        product[rows] = M @ scaled[: rows.stop]
    by_length: Array = (scaled * scaled * sums[:, None] - 2.0 * scaled * product).sum(axis=0)
    return by_length
