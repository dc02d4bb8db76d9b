"""Candidates that are kept together with what a model predicts there.

A search asks for the same points again after every lie, and a lie adds one observation to the model. A model that is
conditioned in closed form can follow with its predictions in closed form, too, for less than it takes to predict anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, read_only
from believer.capabilities import has
from believer.surrogates.protocols import Model, Prediction


class Pool(Protocol):
    """Points, a model, and what it predicts there. Frozen."""

    @property
    def points(self) -> Array:
        """The points that it predicts at, (m, d)."""

    @property
    def model(self) -> Model:
        """The model that predicts."""

    def predict(self) -> Prediction:
        """Mean and std (m,) at the points, kept once they are known."""

    def under(self, model: Model) -> Pool:
        """The same points under another ``model``; cheap where that is this one with more data."""

    def extended(self, X: Array) -> Pool:
        """The pool with more points ``X`` (k, d), after those that it has."""


@runtime_checkable
class Pooling(Protocol):
    """A model that keeps predictions up to date for less than it takes to make them."""

    def pool(self, X: Array) -> Pool:
        """A pool of ``X`` (m, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """A pool of any model, which predicts anew whenever the model is another."""

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
    """A pool of ``X`` (m, d) under ``model``: its own kind where it has one."""
    return model.pool(X) if has(model, Pooling) else Predicted(X, model)
