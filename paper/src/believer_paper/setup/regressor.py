"""The printed process as the paper's scripts ran it: scikit-learn predicts, too. For timings alone.

``process`` computes the same posterior with this library, because whole runs spend their time on predictions; where the
time itself is the question (Exp 5), the paper's own stack is what must be timed. A step of conditioning is a fit of
``GaussianProcessRegressor`` to data and lie with its optimizer off: scikit-learn has no other.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from believer.arrays import Array, frozen
from believer.plugins import Data, Model, Prediction
from believer.space import Space
from believer_paper.setup.process import NOISE, box_of, regressor


@dataclass(frozen=True, slots=True, eq=False)
class RegressorModel:
    """A fitted ``GaussianProcessRegressor`` over the box ``low``, ``high`` (d,), and the data (n, d), (n,) it has."""

    fitted: Any
    low: Array
    high: Array
    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        """Latent mean and std at ``X`` (m, d) of the cube."""
        mean, std = self.fitted.predict(_raw(X, self.low, self.high), return_std=True)
        return Prediction(mean, std)

    def condition(self, data: Data) -> Self:
        """The model with more data: a fit without the optimizer, y normalized anew.  O(n³)."""
        from sklearn.gaussian_process import GaussianProcessRegressor

        X, y = frozen(np.vstack([self.X, data.X])), frozen(np.concatenate([self.y, data.y]))
        frozen_kernel = GaussianProcessRegressor(self.fitted.kernel_, alpha=NOISE, normalize_y=True, optimizer=None)
        return type(self)(frozen_kernel.fit(_raw(X, self.low, self.high), y), self.low, self.high, X, y)


@dataclass(frozen=True, slots=True)
class Regressor:
    """Recipe of :class:`RegressorModel` over ``space``, hyperparameters as the paper finds them."""

    space: Space

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> RegressorModel:
        """Maximum likelihood in the units of the box, from scratch."""
        low, high = box_of(self.space)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a search at its bounds, or out of iterations: the paper's went on too
            fitted = regressor(_raw(data.X, low, high), data.y, int(rng.integers(2**31)))
        return RegressorModel(fitted, low, high, data.X, data.y)


def _raw(X: Array, low: Array, high: Array) -> Array:
    raw: Array = low + X * (high - low)
    return raw
