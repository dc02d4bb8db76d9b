"""Bayesian linear regression on features: what every surrogate with a fixed basis conditions by.

======  ==================================================  ========
symbol  meaning                                             shape
======  ==================================================  ========
F       features of the data, one row φ(x)ᵀ a point         (n, m)
w       weights, a priori N(0, v I)                         (m,)
D       noise variances of the observations                 (n,)
S       posterior covariance of w, (I/v + Fᵀ D⁻¹ F)⁻¹       (m, m)
R       root of it, S = R Rᵀ                                (m, m)
g       mean of |φ|² over the data; v g is what the prior
        gives to the variance of y
ρ       noise variance over v g
======  ==================================================  ========
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack

from believer.arrays import Array, frozen
from believer.errors import NumericalError
from believer.surrogates.gp_fit import LogNormal

RATIOS = frozen(np.logspace(-8.0, 4.0, 97))
"""ρ: where the evidence is looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The posterior of w: its mean (m,) and the root R (m, m) of its covariance."""

    mean: Array
    root: Array

    def predict(self, F: Array) -> tuple[Array, Array]:
        """φᵀ w's mean and variance (k,) at features ``F`` (k, m).  O(k m²)."""
        V = F @ self.root
        return F @ self.mean, np.einsum("ij,ij->i", V, V)

    def covariance(self, F: Array) -> Array:
        """Covariance (k, k) of φᵀ w between the rows of ``F`` (k, m)."""
        V = F @ self.root
        return V @ V.T

    def condition(self, F: Array, y: Array, noise: Array) -> Self:
        """With observations ``y`` (k,) at features ``F`` (k, m) and variances ``noise`` (k,) > 0 added.  O(k m²).

        Potter's update of the root, R' = R - (R v) vᵀ / (s + √(s σ_n²)) with v = Rᵀ φ, s = |v|² + σ_n²
        ([Bierman1977] section II.3); S' = R' R'ᵀ can never lose its sign, whatever is rounded.
        """
        mean, root = self.mean.copy(), self.root.copy()
        for phi, target, variance in zip(F, y, noise, strict=True):
            v = phi @ root
            s = float(v @ v) + float(variance)
            gain = root @ v
            mean += gain * ((float(target) - float(phi @ mean)) / s)
            root -= np.multiply.outer(gain, v / (s + np.sqrt(s * float(variance))))
        mean.flags.writeable = root.flags.writeable = False
        return type(self)(mean, root)


def weights(F: Array, y: Array, prior: float, noise: Array) -> Weights:
    """The posterior given ``F`` (n, m), ``y`` (n,), prior variance v and noise variances (n,).  O(n m²).

    By a QR decomposition of [D^-½ F; I/√v], never by Fᵀ D⁻¹ F: with a noise of 1e-12 of the prior variance the latter
    leaves three digits of the mean, the former fourteen.
    """
    n, m = F.shape
    stacked = np.zeros((n + m, m + 1))
    precision = 1.0 / np.sqrt(noise)
    stacked[:n, :m] = F * precision[:, None]
    stacked[:n, m] = y * precision
    stacked[n + np.arange(m), np.arange(m)] = 1.0 / np.sqrt(prior)
    T = np.linalg.qr(stacked, mode="r")[:m]
    inverse, info = lapack.dtrtri(T[:, :m], lower=0)
    if info != 0 or not np.isfinite(T).all():
        raise NumericalError(f"the precision of {m} weights is not positive definite; are features and y finite?")
    return Weights(frozen(inverse @ T[:, m]), frozen(inverse))


def by_evidence(F: Array, y: Array, ratio: LogNormal | None = None) -> tuple[float, float]:
    """Prior variance v and noise variance that make standardized ``y`` (n,) most likely given ``F`` (n, m).

    Maximizes log N(y; 0, v F Fᵀ + σ_n² I) - ½ (log v + 1/(v g)), and less ½ ((log ρ - mean)/std)² where ``ratio`` is
    given. The second term is worth one observation of variance one: it keeps v in sight of standardized y where the
    data say nothing of it (one result, or all alike). The third keeps a few results in many dimensions from being
    called noise altogether. For each ρ of :data:`RATIOS` the best v follows in closed form.  O(n m min(n, m)).
    """
    n = len(y)
    U, s, _ = np.linalg.svd(F, full_matrices=False)
    g = float(s @ s) / n or 1.0
    along = U.T @ y
    outside = y - U @ along
    rho = g * RATIOS
    spectrum = s**2 + rho[:, None]
    quadratic = (along**2 / spectrum).sum(axis=1) + float(outside @ outside) / rho + 1.0 / g
    v = quadratic / (n + 1)
    log_evidence = -0.5 * ((n + 1) * np.log(v) + np.log(spectrum).sum(axis=1) + (n - len(s)) * np.log(rho))
    if ratio is not None:
        log_evidence -= 0.5 * ((np.log(RATIOS) - ratio.mean) / ratio.std) ** 2
    best = int(np.argmax(log_evidence))
    return float(v[best]), float(v[best] * rho[best])
