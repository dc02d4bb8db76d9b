"""Acquisition functions of several outputs, each with its own model: k independent predictions at a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from believer.arrays import Array
from believer.capabilities import has
from believer.surrogates.protocols import Differentiable, Model, Prediction


@dataclass(frozen=True, slots=True, eq=False)
class OfSeveral:
    """Values of an acquisition function of k outputs at m points, with their derivatives.

    Parameters
    ----------
    value : α, (m,).
    by_mean : ∂α/∂μ, (m, k).
    by_std : ∂α/∂σ, (m, k).
    """

    value: Array
    by_mean: Array
    by_std: Array


Formula: TypeAlias = Callable[[Array, Array], OfSeveral]
"""A function of means and stds, (m, k) each, that returns α."""


def differentiable(models: tuple[Model, ...]) -> bool:
    """Whether all ``models`` give gradients."""
    return all(has(model, Differentiable) for model in models)


def value_on(models: tuple[Model, ...], formula: Formula, X: Array) -> Array:
    """α (m,) of the ``formula`` on k ``models`` at ``X`` (m, d)."""
    return value_of(formula, tuple([model.predict(X) for model in models]))


def value_of(formula: Formula, at: tuple[Prediction, ...]) -> Array:
    """α (m,) of the ``formula`` for the predictions ``at`` of k models."""
    return formula(np.stack([p.mean for p in at], axis=1), np.stack([p.std for p in at], axis=1)).value


def gradient_on(models: tuple[Model, ...], formula: Formula, X: Array) -> tuple[Array, Array]:
    """α (m,) and ∂α/∂x (m, d) of the ``formula`` on k ``models``, all with gradients, at ``X`` (m, d)."""
    at = [cast(Differentiable, model).predict_with_gradient(X) for model in models]
    found = formula(np.stack([p.mean for p in at], axis=1), np.stack([p.std for p in at], axis=1))
    slope = np.zeros(X.shape)
    for j, p in enumerate(at):
        slope += found.by_mean[:, j, None] * p.mean_gradient + found.by_std[:, j, None] * p.std_gradient
    return found.value, slope


def in_parts(formula: Formula, mean: Array, std: Array, rows: int) -> OfSeveral:
    """The ``formula`` of ``mean`` and ``std`` (m, k), for ``rows`` points at a time, which bounds the memory."""
    if len(mean) <= rows:
        return formula(mean, std)
    parts = [formula(mean[i : i + rows], std[i : i + rows]) for i in range(0, len(mean), rows)]
    return OfSeveral(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.by_mean for part in parts]),
        np.concatenate([part.by_std for part in parts]),
    )
