"""Local Penalization as the paper writes it: the product α Π φ, not its logarithm ([paper] sections 3.5, 4.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions import PointwiseObjective, completed
from believer.arrays import Array
from believer.batch import GaussianPenalty, LocalPenalization
from believer.plugins import Chosen, Request, best_places, pick, taken


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """α(x) Π_j φ(x; x_j)."""

    bound: PointwiseObjective
    penalty: GaussianPenalty

    @property
    def has_gradient(self) -> bool:
        """Whether the model has gradients; the printed one has none, and the product is differentiated numerically."""
        return self.bound.has_gradient

    def value(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        values: Array = self.bound.value(X) * np.exp(self.penalty(X)[0])
        return values

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at ``X`` (m, d); needs a model with gradients."""
        value, gradient = self.bound.value_with_gradient(X)
        log_left, by_x = self.penalty(X)
        left = np.exp(log_left)
        return value * left, left[:, None] * (gradient + value[:, None] * by_x)


@dataclass(frozen=True, slots=True)
class PrintedPenalization:
    """Choose one point at a time by EI times φ = 1 - exp(-|x - x_j|² / 2ℓ²) around the points chosen before.

    lengthscale: the paper writes a single ℓ, but its kernel has one for each column. ℓ is their arithmetic ("mean") or
    geometric ("geometric") mean in the units of the cube, or each column's own ("ard").
    """

    lengthscale: str = "mean"

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a maximizer of the product for each trial, under the model of the real data."""
        lengthscales = LocalPenalization(self.lengthscale).lengthscales(request.model, request.region.dim)
        bound = PointwiseObjective(completed(request.acquisition), request.model, float(request.data.y.min()))
        away, avoid, choices = request.pending.X, request.avoid, []
        for trial in request.ids:
            objective = Product(bound, GaussianPenalty(away, lengthscales))
            picked = pick(objective, request, trial, best_places(request), avoid)
            choices.append(picked.choice(type(request.acquisition).__name__))
            avoid, away = taken(avoid, picked.x, request), np.vstack([away, picked.x])
        return Chosen(tuple(choices))
