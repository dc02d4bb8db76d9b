"""The exact q-EI by two formulas that share nothing, for few points.

``exact`` is the closed form of [Chevalier2013], stated for minimization: it sums over the point that improves the
most, and needs normal probabilities of dimension q and q - 1. ``integrated`` is a quadrature, for covariances with one
factor.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import multivariate_normal, norm

from believer.arrays import Array


def probability(upper: Array, covariance: Array) -> float:
    """P(Z ≤ upper) for Z ~ N(0, covariance); 1 in no dimensions."""
    if len(upper) == 0:
        return 1.0
    if len(upper) == 1:
        return float(norm.cdf(upper[0] / np.sqrt(covariance[0, 0])))
    law = multivariate_normal(np.zeros(len(upper)), covariance, allow_singular=True, abseps=1e-6, releps=1e-6, seed=0)
    return float(law.cdf(upper))


def exact(mean: Array, covariance: Array, target: float) -> float:
    """E max(0, target - min_i f_i) for f ~ N(mean (q,), covariance (q, q))."""
    q = len(mean)
    total = 0.0
    for k in range(q):
        # Y = -f is to be maximized; Z_j = Y_j - Y_k and Z_k = -Y_k are all below b exactly where k improves the most.
        A = np.eye(q)
        A[:, k] = -1.0
        b = A @ mean
        b[k] += target
        C = A @ covariance @ A.T
        total += (target - mean[k]) * probability(b, C)
        for i in range(q):
            rest = np.delete(np.arange(q), i)
            c = b[rest] - b[i] * C[rest, i] / C[i, i]
            conditional = C[np.ix_(rest, rest)] - np.outer(C[rest, i], C[rest, i]) / C[i, i]
            total += C[k, i] * norm.pdf(b[i], scale=np.sqrt(C[i, i])) * probability(c, conditional)
    return total


def integrated(mean: Array, noise: Array, loading: Array, target: float, nodes: int = 200) -> float:
    """∫ P(min f ≤ t) dt up to the target, for f_i = mean_i + loading_i u + √noise_i e_i with independent normal u, e.

    Given u the f_i are independent. Gauss-Legendre in both directions, each cut off nine deviations out.
    """
    at, weights = np.polynomial.legendre.leggauss(nodes)
    u = 9.0 * at
    lowest = float((mean - 9.0 * np.sqrt(noise + loading**2)).min())
    t = lowest + 0.5 * (target - lowest) * (at + 1.0)
    above = norm.sf((t[:, None, None] - mean - u[:, None] * loading) / np.sqrt(noise)).prod(axis=2)
    given = 0.5 * (target - lowest) * (weights @ (1.0 - above))
    return float(9.0 * weights @ (norm.pdf(u) * given))
