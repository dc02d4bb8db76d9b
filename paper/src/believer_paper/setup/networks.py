"""The neural network ensemble of the printed set-up: scikit-learn's ``MLPRegressor``, ten times.

[paper] appendix "Hyperparameter details": 2 x 64 hidden units, ReLU, 10 networks, at most 2000 iterations, adaptive
learning rate, early stopping. Our choices where it says nothing: inputs in the units of the box, y standardized, the
solver "adam" (its steps adapt; ``learning_rate="adaptive"`` exists for "sgd" alone), and scikit-learn's defaults for
the rest. Trained weights are copied into the library's own networks, which predict many points at once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.plugins import Data, Model
from believer.space import Space
from believer.surrogates import Networks, NeuralModel, standardization
from believer_paper.setup.process import box_of
from believer_paper.setup.watch import FitWatch

MEMBERS = 10
SETTINGS: dict[str, Any] = {"hidden_layer_sizes": (64, 64), "max_iter": 2000, "early_stopping": True}


@dataclass(frozen=True, slots=True, eq=False)
class PrintedNetworks:
    """A recipe for the printed ensemble over ``space``."""

    space: Space
    watch: FitWatch = field(default_factory=FitWatch)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> NeuralModel:
        """Train every network from fresh weights on ``X`` (n, d), ``y`` (n,)."""
        from sklearn.neural_network import MLPRegressor  # heavy: loaded by those who use it

        X, y = data.X, data.y
        low, high = box_of(self.space)
        raw, (shift, scale) = low + X * (high - low), standardization(y)
        seeds = rng.integers(2**31, size=MEMBERS)
        with self.watch.elsewhere(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a score of one held-out point is undefined, and said to be
            trained = [MLPRegressor(**SETTINGS, random_state=int(seed)).fit(raw, (y - shift) / scale) for seed in seeds]
        return NeuralModel(_stacked(trained, low, high), shift, scale)


def _stacked(trained: list[Any], low: Array, high: Array) -> Networks:
    """The networks as functions of the cube; ``Networks`` scale it to x̄ = 2x - 1, the box is low + x (high - low)."""
    half, middle = (high - low) / 2.0, (high + low) / 2.0
    first = [net.coefs_[0] for net in trained]
    weights = [np.stack([half[:, None] * W for W in first])]
    biases = [np.stack([(net.intercepts_[0] + middle @ W)[None, :] for net, W in zip(trained, first, strict=True)])]
    for layer in range(1, len(trained[0].coefs_)):
        weights.append(np.stack([net.coefs_[layer] for net in trained]))
        biases.append(np.stack([net.intercepts_[layer][None, :] for net in trained]))
    return Networks(tuple(map(frozen, weights)), tuple(map(frozen, biases)))
