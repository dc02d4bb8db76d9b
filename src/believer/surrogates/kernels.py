"""Stationary kernels as functions of the squared scaled distance.

Each returns the correlation k(r²) and the weight h(r²) = -2 dk/d(r²). Both derivatives that the library needs follow
from h without a division, so they are also valid at distance zero:

    ∂k/∂x_j = -h (x_j - x'_j) / ℓ_j²,        ∂k/∂log ℓ_j = h (x_j - x'_j)² / ℓ_j².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from believer.arrays import Array

Correlation = Callable[[Array], tuple[Array, Array]]


def matern52(r2: Array) -> tuple[Array, Array]:
    """(1 + a + a²/3) e⁻ᵃ with a = √5 r  ([Rasmussen2006] Eq. 4.17)."""
    a = np.sqrt(5.0 * r2)
    e = np.exp(-a)
    h = (1.0 + a) * e
    return h + (5.0 / 3.0) * r2 * e, (5.0 / 3.0) * h


def matern32(r2: Array) -> tuple[Array, Array]:
    """(1 + a) e⁻ᵃ with a = √3 r  ([Rasmussen2006] Eq. 4.17)."""
    a = np.sqrt(3.0 * r2)
    e = np.exp(-a)
    return (1.0 + a) * e, 3.0 * e


def squared_exponential(r2: Array) -> tuple[Array, Array]:
    """exp(-r²/2)  ([paper] Prop. 2)."""
    e = np.exp(-0.5 * r2)
    return e, e.copy()


KERNELS: dict[str, Correlation] = {"matern52": matern52, "matern32": matern32, "se": squared_exponential}


MIN_SPREAD, MAX_SPREAD = 1e-9, 1e9
"""The bounds of a multiquadric's ε, in units of the cube."""


def squared_distances(A: Array, B: Array) -> Array:
    """Squared Euclidean distances (m, n) between rows of ``A`` (m, d) and ``B`` (n, d), through one matrix product."""
    r2 = A @ (-2.0 * B.T)
    r2 += np.einsum("ij,ij->i", A, A)[:, None]
    r2 += np.einsum("ij,ij->i", B, B)
    return np.maximum(r2, 0.0, out=r2)


def multiquadric(A: Array, B: Array, spread: float) -> Array:
    """φ = √(1 + r²/ε²) (m, n) between rows of ``A`` (m, d) and ``B`` (n, d); ``spread`` is ε.

    It is not a correlation and not one of ``KERNELS``, because it grows with the distance ([Micchelli1986]).
    """
    phi: Array = np.sqrt(1.0 + squared_distances(A, B) / spread**2)
    return phi
