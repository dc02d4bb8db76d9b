"""Candidates that are kept together with the predictions of a model there.

A search needs predictions at the same points again after every lie, and a lie adds one observation to the model. If the
model is conditioned in closed form, its predictions can be updated in closed form, too, which costs less than new
predictions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, read_only
from believer.capabilities import has
from believer.surrogates.protocols import Model, Prediction


class Pool(Protocol):
    """Points, a model and its predictions there; a frozen value."""

    @property
    def points(self) -> Array:
        """The points, (m, d)."""

    @property
    def model(self) -> Model:
        """The model that predicts."""

    def predict(self) -> Prediction:
        """Mean and std (m,) at the points, which are computed once."""

    def under(self, model: Model) -> Pool:
        """The same points under another ``model``; this is cheap if that is the same model with more data."""

    def extended(self, X: Array) -> Pool:
        """The pool with the further points ``X`` (k, d) at the end."""


@runtime_checkable
class Pooling(Protocol):
    """A model that updates its predictions at lower cost than it makes new ones."""

    def pool(self, X: Array) -> Pool:
        """A pool of ``X`` (m, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """A pool for any model, which predicts again whenever the model changes."""

    points: Array
    model: Model
    _kept: Prediction | None = field(init=False, repr=False, default=None)

    def predict(self) -> Prediction:
        """Mean and std (m,) at the points."""
        if self._kept is None:
            object.__setattr__(self, "_kept", self.model.predict(self.points))
        assert self._kept is not None
        return self._kept

    def under(self, model: Model) -> Predicted:
        """The same points under another ``model``."""
        return self if model is self.model else Predicted(self.points, model)

    def extended(self, X: Array) -> Predicted:
        """The pool with more points ``X`` (k, d)."""
        return Predicted(read_only(np.vstack([self.points, X])), self.model)


def pool_of(model: Model, X: Array) -> Pool:
    """A pool of ``X`` (m, d) under ``model``: the model's own kind of pool if it has one."""
    return model.pool(X) if has(model, Pooling) else Predicted(X, model)
