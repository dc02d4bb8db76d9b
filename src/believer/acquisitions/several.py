"""Acquisition functions of several outputs, each with its own model: k independent predictions at a point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from believer.acquisitions.acquisition import Pointwise
from believer.arrays import Array
from believer.capabilities import has
from believer.surrogates.protocols import Differentiable, Model, Prediction, PredictionGradient

Formula: TypeAlias = Callable[[Array, Array], Pointwise]
"""A function of means and stds, (m, k) each, that returns α (m,) and its derivatives by them, (m, k) each."""


@dataclass(frozen=True, slots=True, eq=False)
class OnModels:
    """An acquisition function of the models of k outputs, as the objective of a maximizer.

    Parameters
    ----------
    models : a model for each output, independent of the others.
    formula : α as a function of their predictions.
    """

    models: tuple[Model, ...]
    formula: Formula

    @property
    def has_gradient(self) -> bool:
        """Whether all models give gradients."""
        return all(has(model, Differentiable) for model in self.models)

    def value(self, X: Array) -> Array:
        """α (m,) at ``X`` (m, d)."""
        return self.of(tuple([model.predict(X) for model in self.models]))

    def of(self, at: tuple[Prediction, ...]) -> Array:
        """α (m,) for the predictions ``at`` of the models."""
        return self.formula(*_side_by_side(at)).value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """α (m,) and ∂α/∂x (m, d) at ``X`` (m, d); needs models with gradients."""
        at = [cast(Differentiable, model).predict_with_gradient(X) for model in self.models]
        found = self.formula(*_side_by_side(at))
        slope = np.zeros(X.shape)
        for j, p in enumerate(at):
            slope += found.by_mean[:, j, None] * p.mean_gradient + found.by_std[:, j, None] * p.std_gradient
        return found.value, slope


def _side_by_side(at: Sequence[Prediction | PredictionGradient]) -> tuple[Array, Array]:
    """The means and stds (m, k) of k predictions."""
    return np.stack([p.mean for p in at], axis=1), np.stack([p.std for p in at], axis=1)


def in_parts(formula: Formula, mean: Array, std: Array, rows: int) -> Pointwise:
    """The ``formula`` of ``mean`` and ``std`` (m, k), for ``rows`` points at a time, which bounds the memory."""
    if len(mean) <= rows:
        return formula(mean, std)
    parts = [formula(mean[i : i + rows], std[i : i + rows]) for i in range(0, len(mean), rows)]
    return Pointwise(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.by_mean for part in parts]),
        np.concatenate([part.by_std for part in parts]),
    )
