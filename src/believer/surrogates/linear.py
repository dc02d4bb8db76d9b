"""Bayesian linear regression on features, by which every surrogate with a fixed basis is conditioned.

======  ====================================================  ========
symbol  meaning                                               shape
======  ====================================================  ========
F       features of the data, one row φ(x)ᵀ a point           (n, m)
w       weights, a priori N(0, v I)                           (m,)
D       noise variances of the observations                   (n,)
S       posterior covariance of w, (I/v + Fᵀ D⁻¹ F)⁻¹         (m, m)
R       root of it, S = R Rᵀ                                  (m, m)
g       mean of |φ|² over the data, so that v g is the share
        of the variance of y that the prior gives to w
ρ       noise variance over v g
======  ====================================================  ========
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import blas, lapack

from believer.arrays import Array, frozen
from believer.errors import NumericalError
from believer.surrogates.gp_fit import LogNormal

NOISE_RATIO = LogNormal(-5.0, 1.0)
"""The expected variance of noise and misfit together, relative to the variance that the basis explains: as for a GP."""

RATIOS = frozen(np.logspace(-8.0, 4.0, 97))
"""The grid of ρ on which the evidence is computed; of 1/(v g) if the noise is given."""

VARIANCES = frozen(np.logspace(-8.0, 0.5, 35))
"""The grid of σ_n² on which the evidence is computed if there is known noise."""


Features = Callable[[Array], tuple[Array, Callable[[Array], Array]]]
"""A function of points (k, d) that returns features F (k, m), and a function that maps weights (m,) to the derivatives
(k, d) of F w by the points."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The posterior of w: its mean (m,), the root R (m, m) of its covariance, and the largest variance in D."""

    mean: Array
    root: Array
    noisiest: float = 0.0

    def predict(self, F: Array) -> tuple[Array, Array]:
        """The mean and variance (k,) of φᵀ w at features ``F`` (k, m). O(k m²)."""
        V = F @ self.root
        return F @ self.mean, np.einsum("ij,ij->i", V, V)

    def covariance(self, F: Array) -> Array:
        """Covariance (k, k) of φᵀ w between the rows of ``F`` (k, m)."""
        V = F @ self.root
        return V @ V.T

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """``count`` draws of w, as (count, m)."""
        draws: Array = self.mean + rng.standard_normal((count, len(self.mean))) @ self.root.T
        return draws

    def condition(self, F: Array, y: Array, noise: Array) -> Self:
        """Condition on ``y`` (k,) at features ``F`` (k, m) with variances ``noise`` (k,) > 0.  O(k m²).

        Potter's update of the root, R' = R - (R u) uᵀ / (s + √(s σ_n²)) with u = Rᵀ φ and s = |u|² + σ_n²
        ([Bierman1977]); S' = R' R'ᵀ stays positive semidefinite, whatever the rounding.
        """
        if not len(F):
            return self
        mean, root, noisiest = self.mean, self.root, self.noisiest
        for phi, target, variance in zip(F, y, noise, strict=True):
            u = phi @ root
            s = float(u @ u) + float(variance)
            gain = root @ u
            mean = mean + gain * ((float(target) - float(phi @ mean)) / s)
            # A single call of BLAS, on the transpose because BLAS stores columns.
            root = blas.dger(-1.0 / (s + np.sqrt(s * float(variance))), u, gain, a=root.T).T
            noisiest = max(noisiest, float(variance))
        mean.flags.writeable = root.flags.writeable = False
        return type(self)(mean, root, noisiest)


@dataclass(frozen=True, slots=True, eq=False)
class WeightPaths:
    """Functions φ(x)ᵀ w in the units of y, one for each row of ``weights`` (count, m), which are draws of w."""

    weights: Array
    features: Features
    shift: float
    scale: float

    def value(self, X: Array) -> Array:
        """Every function at ``X`` (k, d), as (count, k)."""
        F, _ = self.features(X)
        return self.shift + self.scale * (self.weights @ F.T)

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (count, k) and derivatives by x (count, k, d)."""
        F, pull = self.features(X)
        slopes = np.stack([pull(w) for w in self.weights])
        return self.shift + self.scale * (self.weights @ F.T), self.scale * slopes


def weights(F: Array, y: Array, prior: float, noise: Array) -> Weights:
    """The posterior given ``F`` (n, m), ``y`` (n,), prior variance v and noise variances (n,) > 0.  O((n + m) m²).

    This uses a QR decomposition of [D^-½ F; I/√v] and not Fᵀ D⁻¹ F: that product squares the condition number, and with
    fewer data than features and a noise of 1e-12 only three digits of the mean would be right.
    """
    n, m = F.shape
    precision = 1.0 / np.sqrt(noise)
    stacked = np.zeros((n + m, m + 1))
    stacked[:n, :m] = F * precision[:, None]
    stacked[:n, m] = y * precision
    stacked[n + np.arange(m), np.arange(m)] = 1.0 / np.sqrt(prior)
    if not np.isfinite(stacked).all():
        raise NumericalError(f"the posterior of {m} weights must be finite, and is not. Check features, y and noise.")
    T: Array = np.asarray(np.linalg.qr(stacked, mode="r"))[:m]
    inverse, _ = lapack.dtrtri(T[:, :m], lower=0)
    return Weights(frozen(inverse @ T[:, m]), frozen(inverse), float(noise.max(initial=0.0)))


def noise_variances(noise: float, n: int, known: Array | None) -> Array:
    """D (n,): the model's own ``noise`` for n observations, plus the ``known`` noise of each, or None."""
    return np.full(n, noise) if known is None else noise + known


def by_evidence(
    F: Array,
    y: Array,
    ratio: LogNormal | None = None,
    noise: float | None = None,
    known: Array | None = None,
) -> tuple[float, float]:
    """Prior variance v and noise variance that make standardized ``y`` (n,) most likely given ``F`` (n, m).

    The objective is log N(y; 0, v F Fᵀ + σ_n² I) - ½ (log v + 1/(v g)), less ½ ((log ρ - mean)/std)² if ``ratio`` is
    given. The second term counts as one observation of the size of standardized y: it bounds v if the data do not
    determine it (a single result, or equal results). With the third, a few results in many dimensions are not explained
    by noise alone. For each ρ on a grid the best v follows in closed form, unless ``noise`` fixes σ_n² and with it v.
    O(n m min(n, m)).

    With ``known`` noise variances (n,) beyond σ_n², each of :data:`VARIANCES` is tried for σ_n² if it is not fixed:
    rows divided by the root of σ_n² + known have noise of variance one.
    """
    if known is None:
        return _by_evidence(F, y, ratio, noise)[1:]
    g = float((F * F).sum()) / len(y) or 1.0

    def at(variance: float) -> tuple[float, float, float]:
        root = np.sqrt(variance + known)
        of_one = None if ratio is None else LogNormal(ratio.mean - float(np.log(variance)), ratio.std)
        log_evidence, v, _ = _by_evidence(F / root[:, None], y / root, of_one, 1.0, g)
        return log_evidence - float(np.log(root).sum()), v, variance

    return max(map(at, VARIANCES.tolist() if noise is None else [noise]))[1:]


def _by_evidence(
    F: Array, y: Array, ratio: LogNormal | None, noise: float | None, g: float | None = None
) -> tuple[float, float, float]:
    """The largest log evidence, and v and σ_n² there; ``g`` is that of the unweighted features if ``F`` are
    weighted."""
    n = len(y)
    U, s, _ = np.linalg.svd(F, full_matrices=False)
    g = g or float(s @ s) / n or 1.0
    along = U.T @ y
    outside = y - U @ along
    share = RATIOS if noise is None else noise * RATIOS
    over_v = g * share
    spectrum = s**2 + over_v[:, None]
    quadratic = (along**2 / spectrum).sum(axis=1) + float(outside @ outside) / over_v + 1.0 / g
    v = quadratic / (n + 1) if noise is None else noise / over_v
    log_determinant = np.log(spectrum).sum(axis=1) + (n - len(s)) * np.log(over_v)
    log_evidence = -0.5 * ((n + 1) * np.log(v) + log_determinant + quadratic / v)
    if ratio is not None:
        log_evidence -= 0.5 * ((np.log(share) - ratio.mean) / ratio.std) ** 2
    best = int(np.argmax(log_evidence))
    return float(log_evidence[best]), float(v[best]), float(v[best] * over_v[best])
