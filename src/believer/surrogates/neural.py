"""An ensemble of neural networks: its mean is the prediction, its spread the uncertainty ([Lakshminarayanan2017]).

======  =====================================================  ==========
symbol  meaning                                                shape
======  =====================================================  ==========
f_i     output of network i, of standardized y                 (e, m)
μ, σ²   mean and variance of the f_i, divided by e             (m,)
======  =====================================================  ==========
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from believer.arrays import Array, checked_seed, whole
from believer.surrogates.data import Data, learnable
from believer.surrogates.gp import standardization
from believer.surrogates.network import (
    MAX_ITERATIONS,
    MAX_NETWORKS,
    Networks,
    Training,
    checked_hidden,
    seeds_of,
    train,
)
from believer.surrogates.protocols import MIN_VARIANCE, Model, Prediction, PredictionGradient


@dataclass(frozen=True, slots=True, eq=False)
class NeuralModel:
    """Trained networks, with the shift and scale that convert their outputs to the units of the given y.

    It cannot be conditioned: the weights depend on all data, so a lie needs a new fit.
    """

    networks: Networks
    shift: float
    scale: float

    def predict(self, X: Array) -> Prediction:
        """μ and σ at ``X`` (m, d)."""
        outputs = self.networks.outputs(X)
        mean = outputs.mean(axis=0)
        std = _spread(outputs - mean)
        return Prediction(self.shift + self.scale * mean, self.scale * std)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """μ, σ and their gradients at ``X`` (m, d); one-sided gradients at a kink of a network."""
        outputs, gradients = self.networks.outputs_with_gradient(X)
        mean = outputs.mean(axis=0)
        apart = outputs - mean
        std = _spread(apart)
        # ∂σ²/∂x = 2/e Σ_i (f_i - μ) ∂f_i/∂x; the term with ∂μ/∂x vanishes, because the f_i - μ sum to zero.
        half_variance_gradient = np.einsum("em,emd->md", apart, gradients) / len(outputs)
        return PredictionGradient(
            self.shift + self.scale * mean,
            self.scale * std,
            self.scale * gradients.mean(axis=0),
            self.scale * half_variance_gradient / std[:, None],
        )


def _spread(apart: Array) -> Array:
    """σ (m,) of deviations (e, m), at least 1e-9 if networks agree exactly."""
    spread: Array = np.sqrt((apart**2).mean(axis=0) + MIN_VARIANCE)
    return spread


@dataclass(frozen=True, slots=True)
class NeuralEnsemble:
    """The recipe of an ensemble of neural networks ([paper] appendix), which differ in initial weights and held-out
    data.

    The settings that the paper leaves open are listed in ``surrogates/network.py``. If there are more than 2,000
    results, it uses a subset of 2,000 (:mod:`~believer.surrogates.subset`), for which a fit takes half a minute.

    Differs: the paper does not say how the spread is normalized; here the variance is divided by the number of
    networks, as in [Lakshminarayanan2017]. Every fit begins with new initial weights, and not with those of the last
    fit.

    Parameters
    ----------
    members : the number of networks, two or more.
    hidden : sizes of the hidden layers.
    max_iterations : the largest number of training iterations; few networks need as many.
    seed : None uses the generator passed to ``fit``; a number fixes the initial weights and the held-out data.
    """

    members: int = 10
    hidden: tuple[int, ...] = (64, 64)
    max_iterations: int = 2000
    seed: int | None = None
    most_results: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        whole(self.members, "members", 2, MAX_NETWORKS)
        object.__setattr__(self, "hidden", checked_hidden(self.hidden, self.members))
        whole(self.max_iterations, "max_iterations", 1, MAX_ITERATIONS)
        checked_seed(self.seed)

    def with_fixed_draws(self, seed: int) -> NeuralEnsemble:
        """The recipe with initial weights that depend only on ``seed``, and held-out data that depend only on it and
        their positions."""
        return replace(self, seed=whole(seed, "seed", 0))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> NeuralModel:
        """Train on ``data``, X (n, d) and y (n,), from weights drawn with ``rng``; ``previous`` is ignored."""
        X, y, _ = learnable(data, "a neural network", self.most_results)
        shift, scale = standardization(y)
        seeds = seeds_of(self.members, rng, self.seed)
        networks = train(X, (y - shift) / scale, seeds, self.hidden, Training(max_iterations=self.max_iterations))
        return NeuralModel(networks, shift, scale)
