"""The printed Gaussian process with scikit-learn's own predictions, for timings alone.

``process`` computes the same posterior with this library, because whole runs spend their time on predictions. Exp 5 is
about time, so it must time what the paper ran. A conditioning step is a fit of ``GaussianProcessRegressor`` to data and
lie with its optimizer off, because scikit-learn has no other way.
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
    """A fitted ``GaussianProcessRegressor`` over the box ``low``, ``high`` (d,), with its data (n, d), (n,)."""

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
        """The model with more data: a fit without the optimizer, with y normalized again.  O(n³)."""
        from sklearn.gaussian_process import GaussianProcessRegressor

        X, y = frozen(np.vstack([self.X, data.X])), frozen(np.concatenate([self.y, data.y]))
        frozen_kernel = GaussianProcessRegressor(self.fitted.kernel_, alpha=NOISE, normalize_y=True, optimizer=None)
        return type(self)(frozen_kernel.fit(_raw(X, self.low, self.high), y), self.low, self.high, X, y)


@dataclass(frozen=True, slots=True)
class Regressor:
    """A recipe for :class:`RegressorModel` over ``space``, with hyperparameters found as in the paper."""

    space: Space

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> RegressorModel:
        """Maximize the likelihood in the units of the box, from scratch."""
        low, high = box_of(self.space)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a search at its bounds, or out of iterations: the paper's went on too
            fitted = regressor(_raw(data.X, low, high), data.y, int(rng.integers(2**31)))
        return RegressorModel(fitted, low, high, data.X, data.y)


def _raw(X: Array, low: Array, high: Array) -> Array:
    raw: Array = low + X * (high - low)
    return raw
