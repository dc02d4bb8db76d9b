"""A neural network with a Bayesian last layer: its features are learned once and frozen, and the weights are
conditioned.

======  ===================================================================  ==========
symbol  meaning                                                              shape
======  ===================================================================  ==========
H       last hidden layer of the trained network                             (m, h)
φ       features: H over ``norm``, the root mean square length of its        (m, h + 1)
        rows on the data, and a one for the intercept
w       weights of the last layer, a priori N(0, v I)                        (h + 1,)
S       their posterior covariance, R Rᵀ                                     (h + 1, h + 1)
v       prior variance of a weight, of standardized y
σ_n²    noise variance, of standardized y
======  ===================================================================  ==========

The mean is φᵀ E[w], the variance φᵀ S φ ([paper] Table 1; [Snoek2015] section 3). All features are divided by the same
number. If each were divided by its own norm, a unit that is nearly always off on the data would be scaled up and
dominate wherever it is on. Units that are off on all the data, or that are copies of each other, need no special
treatment: the prior keeps S regular, and a unit that is off on the data contributes its prior variance where it is on,
as it should.

This σ is not a measure of distance from the data. The features were trained on the same y that the evidence uses, so
that σ is usually too small. With more observations than features it is small everywhere. Where all units are off, only
the intercept is uncertain, however far away the data are. Variation that the features cannot express counts as noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from believer.arrays import Array, checked_seed, frozen, whole
from believer.surrogates import linear
from believer.surrogates.data import Data, learnable, squared, variances
from believer.surrogates.gp import NOISY_FROM, standardization
from believer.surrogates.network import MAX_ITERATIONS, Networks, Training, checked_hidden, seeds_of, train
from believer.surrogates.protocols import MIN_VARIANCE, JointPrediction, Model, Prediction, PredictionGradient
from believer.surrogates.subset import MOST


@dataclass(frozen=True, slots=True, eq=False)
class LayerBasis:
    """The parts that conditioning does not change: a trained network, the norm of its features, v, σ_n² and the scaling
    of y."""

    network: Networks
    norm: float
    prior: float
    noise: float
    shift: float
    scale: float

    def features(self, X: Array) -> Array:
        """φ (m, h + 1) at ``X`` (m, d)."""
        return _features(self.network.hidden(X), self.norm)

    def with_slope(self, X: Array) -> tuple[Array, Callable[[Array], Array]]:
        """φ (m, h + 1) at ``X`` (m, d), and a function that maps weights (h + 1,) to the gradient (m, d) of φᵀ w."""
        layers = self.network.hidden(X)
        return _features(layers, self.norm), lambda w: self.network.pull_back(layers, w[None, None, :-1] / self.norm)[0]


@dataclass(frozen=True, slots=True, eq=False)
class LastLayerModel:
    """Fixed features and the posterior of their weights. Predictions are latent and in the units of the given y."""

    basis: LayerBasis
    weights: linear.Weights

    @property
    def dim(self) -> int:
        """d, the columns of the points that it was fitted to."""
        return int(self.basis.network.weights[0].shape[-2])

    @property
    def is_noisy(self) -> bool:
        """Whether the part that the features do not explain, or the known noise of a result, is more than a nugget."""
        return self.weights.noisiest > NOISY_FROM

    def predict(self, X: Array) -> Prediction:
        """φᵀ E[w] and √(φᵀ S φ) at ``X`` (m, d).  O(m h²)."""
        basis = self.basis
        mean, variance = self.weights.predict(basis.features(X))
        return Prediction(basis.shift + basis.scale * mean, basis.scale * np.sqrt(variance + MIN_VARIANCE))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Mean, std and their gradients at ``X`` (m, d); one-sided gradients at a kink of the network. O(m h²)."""
        basis, weights = self.basis, self.weights
        layers = basis.network.hidden(X)
        F = _features(layers, basis.norm)
        V = F @ weights.root
        std = np.sqrt(np.einsum("ij,ij->i", V, V) + MIN_VARIANCE)
        # ∂μ/∂φ = E[w] and ∂σ²/∂φ = 2 S φ; the intercept does not depend on x.
        by_variance = V @ weights.root[:-1].T
        by_mean = np.broadcast_to(weights.mean[:-1], by_variance.shape)
        by_x = basis.network.pull_back(layers, np.stack([by_mean, by_variance])) * (basis.scale / basis.norm)
        return PredictionGradient(
            basis.shift + basis.scale * (F @ weights.mean), basis.scale * std, by_x[0], by_x[1] / std[:, None]
        )

    def joint(self, X: Array) -> JointPrediction:
        """Latent mean (m,) and covariance φᵀ S φ' (m, m)."""
        basis, F = self.basis, self.basis.features(X)
        covariance = self.weights.covariance(F)
        covariance[np.diag_indices(len(X))] += MIN_VARIANCE
        return JointPrediction(basis.shift + basis.scale * (F @ self.weights.mean), squared(basis.scale) * covariance)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws of φᵀ w at ``X`` (m, d), as (count, m); each is one draw of the weights."""
        basis, F = self.basis, self.basis.features(X)
        draws = self.weights.draw(count, rng) @ F.T
        if noisy:
            draws += np.sqrt(basis.noise) * rng.standard_normal(draws.shape)
        return basis.shift + basis.scale * draws

    def paths(self, count: int, rng: np.random.Generator) -> linear.WeightPaths:
        """``count`` functions φᵀ w, with one-sided gradients at kinks of the network."""
        basis = self.basis
        return linear.WeightPaths(frozen(self.weights.draw(count, rng)), basis.with_slope, basis.shift, basis.scale)

    def condition(self, data: Data) -> Self:
        """The posterior with ``X`` (k, d), ``y`` (k,) added; the basis stays as it is.  O(k h²)."""
        X, y = data.X, data.y
        basis = self.basis
        targets = (y - basis.shift) / basis.scale
        noise = linear.noise_variances(basis.noise, len(X), variances(data.std, basis.scale))
        return type(self)(basis, self.weights.condition(basis.features(X), targets, noise))


def _features(layers: list[Array], norm: float) -> Array:
    """φ from the values of the hidden ``layers`` of a single network, each (1, m, h)."""
    H = layers[-1][0]
    F = np.ones((len(H), H.shape[1] + 1))
    np.divide(H, norm, out=F[:, :-1])
    return F


def posterior(basis: LayerBasis, X: Array, y: Array, std: Array | None = None) -> LastLayerModel:
    """The model at a given basis; ``y`` and known ``std`` in the caller's units.  O(n h² + h³)."""
    targets = (y - basis.shift) / basis.scale
    noise = linear.noise_variances(basis.noise, len(X), variances(std, basis.scale))
    return LastLayerModel(basis, linear.weights(basis.features(X), targets, basis.prior, noise))


@dataclass(frozen=True, slots=True)
class LastLayer:
    """The recipe of a Bayesian last layer: a network is trained, and its last hidden layer gives the features.

    Every fit begins with new initial weights, and not with those of the last fit. If there are more than 5,000 results,
    it uses a subset of 5,000 (:mod:`~believer.surrogates.subset`).

    Differs: the paper names this model but gives no settings. The network and its training are those of the paper's
    ensemble. v and σ_n² maximize the evidence under weak priors (``linear.by_evidence``), so that a rough y is not
    explained by noise alone.

    Parameters
    ----------
    hidden : sizes of the hidden layers.
    max_iterations : the number of training iterations (other settings: ``surrogates/network.py``).
    seed : None uses the generator passed to ``fit``; a number fixes the initial weights and the held-out data.
    """

    hidden: tuple[int, ...] = (64, 64)
    max_iterations: int = 2000
    seed: int | None = None
    most_results: ClassVar[int] = MOST

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", checked_hidden(self.hidden))
        whole(self.max_iterations, "max_iterations", 1, MAX_ITERATIONS)
        checked_seed(self.seed)

    def with_fixed_draws(self, seed: int) -> LastLayer:
        """The recipe with initial weights that depend only on ``seed``, and held-out data that depend only on it and
        their positions."""
        return replace(self, seed=whole(seed, "seed", 0))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> LastLayerModel:
        """Train on ``data``, X (n, d) and y (n,), choose v and σ_n², and compute the exact posterior of the last layer.

        Known noise is not used in the training, only after it. ``rng`` draws initial weights and held-out data;
        ``previous`` is ignored.
        """
        X, y, std = learnable(data, "a neural network", self.most_results)
        shift, scale = standardization(y)
        targets = (y - shift) / scale
        settings = Training(max_iterations=self.max_iterations)
        network = train(X, targets, seeds_of(1, rng, self.seed), self.hidden, settings)
        layers = network.hidden(X)
        # If every unit is off on all the data, the norm is undefined, and not needed.
        norm = float(np.sqrt((layers[-1] ** 2).sum(axis=2).mean())) or 1.0
        known = variances(std, scale)
        prior, noise = linear.by_evidence(_features(layers, norm), targets, linear.NOISE_RATIO, known=known)
        return posterior(LayerBasis(network, norm, prior, noise, shift, scale), X, y, std)
