"""A simple surrogate: inverse-distance weights, and a standard deviation that grows with the distance to the data.

======  ==========================================================  ========
symbol  meaning                                                     shape
======  ==========================================================  ========
r       distance of a point to each observation                     (m, n)
w       weights 1 / (r² + δ²), δ = 1e-6                             (m, n)
s       standard deviation of y at the fit
======  ==========================================================  ========
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from believer.arrays import Array, frozen
from believer.surrogates.data import Data, learnable
from believer.surrogates.gp import standardization
from believer.surrogates.kernels import squared_distances
from believer.surrogates.protocols import MIN_STD, Model, Prediction

_NEAR = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class FakeModel:
    """Data, and the scale of y when it was fitted."""

    X: Array
    y: Array
    scale: float

    def predict(self, X: Array) -> Prediction:
        """μ = Σ w_i y_i / Σ w_i ([Shepard1968], exponent 2), σ = s max(min r / √d, 1e-9), at ``X`` (m, d).

        Differs: δ² in the weights, so that the data need no special case.
        """
        r2 = squared_distances(X, self.X)
        w = 1.0 / (r2 + _NEAR)
        # Averages are taken of y less its first value, so that constant values stay constant, to the last bit.
        mean = self.y[0] + (w * (self.y - self.y[0])).sum(axis=1) / w.sum(axis=1)
        return Prediction(mean, self.scale * np.maximum(np.sqrt(r2.min(axis=1) / X.shape[1]), MIN_STD))

    def condition(self, data: Data) -> Self:
        """The model with ``X`` (k, d), ``y`` (k,) added; there is nothing else to learn."""
        X, y = data.X, data.y
        return type(self)(frozen(np.vstack([self.X, X])), frozen(np.concatenate([self.y, y])), self.scale)


@dataclass(frozen=True, slots=True)
class FakeSurrogate:
    """A recipe without settings, for tests that need a surrogate and not a good one."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> FakeModel:
        """Keep ``X`` (n, d), ``y`` (n,)."""
        X, y, _ = learnable(data, "a surrogate")
        return FakeModel(frozen(X), frozen(y), standardization(y)[1])


@dataclass(frozen=True, slots=True, eq=False)
class BareModel:
    """A model that can only predict."""

    inner: FakeModel

    def predict(self, X: Array) -> Prediction:
        """Predict at ``X`` (m, d), as the fake model does."""
        return self.inner.predict(X)


@dataclass(frozen=True, slots=True)
class BareSurrogate:
    """The minimal surrogate, for strategies that need capabilities of a model and must say which."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> BareModel:
        """Keep ``X`` (n, d), ``y`` (n,)."""
        X, y = data.X, data.y
        return BareModel(FakeSurrogate().fit(Data(X, y), rng))
