"""Multiquadric radial basis functions at fixed centers: Bayesian in their weights, closed form throughout.

======  =====================================================  ========
symbol  meaning                                                shape
======  =====================================================  ========
C       centers, space-filling in the unit cube                (m, d)
ε       spread, a length in the unit cube
φ       multiquadrics √(1 + |x - c_j|²/ε²)                     (m,)
Φ       φ at the centers; φ̄ is its mean over them              (m, m)
P       I - 1 1ᵀ/m, which subtracts the mean
T       whitening: T Tᵀ = a (-P Φ P)⁺, a number a              (m, p)
f       features [1, Tᵀ(φ(x) - φ̄)]                             (p+1,)
w       weights of f, a priori N(0, v I), then N(w̄, S)         (p+1,)
======  =====================================================  ========

The weights of the φ_j sum to zero, with the covariance v T Tᵀ: multiquadrics are conditionally negative definite
([Micchelli1986]), which makes -P Φ P a covariance. So this is the same process as that of MQ-RBF; the only difference
is that the centers are fixed, and not the data.

Differs: independent weights on the multiquadrics themselves would be simpler, but would give a poor σ: the φ_j are
nearly the same function, and only very large weights can distinguish places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from believer.arrays import Array, above_zero, frozen, whole
from believer.numerics.sampling import sobol
from believer.surrogates import linear
from believer.surrogates.data import Data, learnable, squared, variances
from believer.surrogates.gp import NOISY_FROM, checked_noise, standardization
from believer.surrogates.gp_fit import NOISE_FLOOR
from believer.surrogates.gp_noise import INFER
from believer.surrogates.kernels import MAX_SPREAD, MIN_SPREAD, multiquadric, squared_distances
from believer.surrogates.linear import Weights
from believer.surrogates.protocols import MIN_VARIANCE, JointPrediction, Model, Prediction, PredictionGradient

MAX_CENTERS = 2000
"""The largest number of centers, because matrices have shape (centers, centers)."""

_MIN_EIGENVALUE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class RadialBasis:
    """The basis, fixed before any data: centers (m, d), spread, φ̄ (m,) and the whitening [0, T] (m, p+1).

    The column of zeros belongs to the intercept.
    """

    centers: Array
    spread: float
    offset: Array
    whitening: Array

    def multiquadrics(self, X: Array) -> Array:
        """φ (k, m) at ``X`` (k, d): the basis of [paper] appendix "Hyperparameter details"."""
        return multiquadric(X, self.centers, self.spread)

    def features(self, phi: Array) -> Array:
        """f (k, p+1) of multiquadrics ``phi`` (k, m)."""
        f: Array = (phi - self.offset) @ self.whitening
        f[:, 0] = 1.0
        return f

    def slope(self, X: Array, phi: Array, B: Array) -> Array:
        """bᵀ ∂f/∂x (k, d), with a row b of ``B`` (k, p+1) for each point, or (1, p+1) for all; ∂φ_j/∂x = (x - c_j) /
        (ε² φ_j)."""
        a = (B @ self.whitening.T) / (self.spread**2 * phi)
        gradient: Array = X * a.sum(axis=1)[:, None] - a @ self.centers
        return gradient

    def with_slope(self, X: Array) -> tuple[Array, Callable[[Array], Array]]:
        """f (k, p+1) at ``X`` (k, d), and a function that maps weights b (p+1,) to bᵀ ∂f/∂x (k, d)."""
        phi = self.multiquadrics(X)
        return self.features(phi), lambda b: self.slope(X, phi, b[None, :])


@lru_cache(maxsize=32)
def basis(centers: int, d: int, spread: float | None) -> RadialBasis:
    """The basis of that many centers in d columns; ``spread`` None is the median distance of two centers.  O(m³)."""
    C = sobol(centers, d, np.random.default_rng(0))
    if spread is None:
        spread = float(np.median(np.sqrt(squared_distances(C, C)[np.triu_indices(centers, 1)])))
    phi = multiquadric(C, C, spread)
    # Multiquadrics are conditionally negative definite: -P Φ P is a covariance, of weights that sum to zero.
    centered = phi - phi.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.mean(axis=1)[:, None] - centered)
    kept = values > _MIN_EIGENVALUE * values[-1]
    # Rounding mixes the constant, whose eigenvalue is zero, into eigenvectors of small eigenvalues: it is removed
    # again.
    vectors = vectors - vectors.mean(axis=0)
    # The scale gives the features an average variance of 1 at the centers.
    T = vectors[:, kept] * np.sqrt(centers / (values[kept] * values[kept].sum()))
    whitening = np.hstack([np.zeros((centers, 1)), T])
    return RadialBasis(frozen(C), spread, frozen(phi.mean(axis=0)), frozen(whitening))


@dataclass(frozen=True, slots=True, eq=False)
class FixedRBFModel:
    """A fitted network. Predictions are latent (without noise) and in the units of the y that was given."""

    basis: RadialBasis
    prior: float
    noise: float
    shift: float
    scale: float
    weights: Weights

    @property
    def dim(self) -> int:
        """d, the columns of the points that it was fitted to."""
        return int(self.basis.centers.shape[1])

    @property
    def is_noisy(self) -> bool:
        """Whether the noise (the model's or a result's) and the misfit together are more than a nugget."""
        return self.weights.noisiest > NOISY_FROM

    def predict(self, X: Array) -> Prediction:
        """μ = fᵀ w̄, σ² = fᵀ S f at ``X`` (k, d).  O(k m²)."""
        mean, variance = self.weights.predict(self.basis.features(self.basis.multiquadrics(X)))
        return Prediction(self.shift + self.scale * mean, self.scale * _root(variance))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """μ, σ and their gradients by x, at ``X`` (k, d).  O(k m²)."""
        phi = self.basis.multiquadrics(X)
        F = self.basis.features(phi)
        V = F @ self.weights.root
        std = _root(np.einsum("ij,ij->i", V, V))
        mean_gradient = self.basis.slope(X, phi, np.broadcast_to(self.weights.mean, F.shape))
        half_variance_gradient = self.basis.slope(X, phi, V @ self.weights.root.T)
        return PredictionGradient(
            self.shift + self.scale * (F @ self.weights.mean),
            self.scale * std,
            self.scale * mean_gradient,
            self.scale * half_variance_gradient / std[:, None],
        )

    def joint(self, X: Array) -> JointPrediction:
        """Latent mean (k,) and covariance (k, k)."""
        F = self.basis.features(self.basis.multiquadrics(X))
        return JointPrediction(
            self.shift + self.scale * (F @ self.weights.mean), squared(self.scale) * self.weights.covariance(F)
        )

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (k, d), as (count, k), by draws of the weights."""
        F = self.basis.features(self.basis.multiquadrics(X))
        draws = rng.standard_normal((count, F.shape[1])) @ (F @ self.weights.root).T
        if noisy:
            draws += np.sqrt(self.noise) * rng.standard_normal((count, len(X)))
        return self.shift + self.scale * (F @ self.weights.mean + draws)

    def paths(self, count: int, rng: np.random.Generator) -> linear.WeightPaths:
        """``count`` functions fᵀ w, drawn from the posterior of the weights."""
        return linear.WeightPaths(frozen(self.weights.draw(count, rng)), self.basis.with_slope, self.shift, self.scale)

    def condition(self, data: Data) -> Self:
        """The posterior with ``X`` (k, d), ``y`` (k,) added.  O(k m²); centers, v, noise and scaling stay."""
        X, y = data.X, data.y
        F = self.basis.features(self.basis.multiquadrics(X))
        noise = linear.noise_variances(self.noise, len(X), variances(data.std, self.scale))
        weights = self.weights.condition(F, (y - self.shift) / self.scale, noise)
        return type(self)(self.basis, self.prior, self.noise, self.shift, self.scale, weights)


def _root(variance: Array) -> Array:
    root: Array = np.sqrt(np.maximum(variance, MIN_VARIANCE))
    return root


def posterior(
    basis: RadialBasis,
    prior: float,
    noise: float,
    X: Array,
    y: Array,
    shift: float,
    scale: float,
    std: Array | None = None,
) -> FixedRBFModel:
    """The model at given v and noise variance; ``y`` and known ``std`` in the caller's units.  O(n m²)."""
    F = basis.features(basis.multiquadrics(X))
    own_and_known = linear.noise_variances(noise, len(X), variances(std, scale))
    weights = linear.weights(F, (y - shift) / scale, prior, own_and_known)
    return FixedRBFModel(basis, prior, noise, shift, scale, weights)


@dataclass(frozen=True, slots=True)
class FixedRBF:
    """Recipe of a multiquadric network with fixed centers.

    v and noise maximize the evidence at the fit (``linear.by_evidence``) and are frozen from then on.
    "With fixed centers, only the weights update, placing these models in the parametric category" ([paper] section
    3.3). To use the model in this sense, choose batches by ``PseudoObservations(update="none")``. But Bayesian weights
    do have a closed-form update, and they respond to a lie: if it is conditioned, the model is not parametric in the
    paper's sense.

    Parameters
    ----------
    centers : the number of centers. They are Sobol points, which depend on their number and on d, but not on data.
    spread : ε; None is the median distance of two centers, as [paper] uses that of its data.
    noise : the variance of noise and misfit as a share of the variance of y, or "infer". A fixed basis cannot pass
        through all results, so the size of the residuals must be given or inferred.
    """

    centers: int = 64
    spread: float | None = None
    noise: float | str = "infer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "centers", whole(self.centers, "centers", 2, MAX_CENTERS))
        if self.spread is not None:
            object.__setattr__(
                self, "spread", above_zero(self.spread, "spread", MIN_SPREAD, MAX_SPREAD, "a length above zero")
            )
        object.__setattr__(self, "noise", checked_noise(self.noise, (INFER,)))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> FixedRBFModel:
        """Learn v and noise from ``data``, X (n, d) and y (n,), and compute the exact posterior.

        Nothing is random: ``rng`` and ``previous`` are ignored.
        """
        X, y, std = learnable(data, "a radial basis network")
        shift, scale = standardization(y)
        fixed = basis(self.centers, X.shape[1], self.spread)
        F = fixed.features(fixed.multiquadrics(X))
        target = (y - shift) / scale
        known = variances(std, scale)
        if isinstance(self.noise, str):
            prior, noise = linear.by_evidence(F, target, linear.NOISE_RATIO, known=known)
        else:
            prior, noise = linear.by_evidence(F, target, noise=max(self.noise, NOISE_FLOOR), known=known)
        return posterior(fixed, prior, noise, X, y, shift, scale, std)
