"""Limits for strategies that weigh no probabilities: what lies beyond them is penalized, steeply.

======  ==========================================================================================
symbol  meaning
======  ==========================================================================================
v       an output: a function drawn from its model, or the bound nearest to its limits, μ ± √β σ
e       how far v lies beyond its limits, in standard deviations of its results; at most 0 within
======  ==========================================================================================

A slope leads back to where limits are kept, and where they are kept nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from believer.acquisitions.feasibility import Within
from believer.arrays import Array
from believer.batch.request import WEIGH_ALL, Request
from believer.capabilities import able
from believer.errors import MissingCapability
from believer.maximize import Objective
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Differentiable, Model, Paths

STEEP = 100.0
"""What a standard deviation beyond a limit costs, in standard deviations of the objective."""


class Excess(Protocol):
    """e of an output."""

    @property
    def has_gradient(self) -> bool:
        """Whether :meth:`value_with_gradient` works."""
        ...

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        ...

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """An objective less what its point lies beyond limits, ``steep`` times."""

    objective: Objective
    excesses: tuple[Excess, ...]
    steep: float

    @property
    def has_gradient(self) -> bool:
        """Whether all parts have one."""
        return self.objective.has_gradient and all(excess.has_gradient for excess in self.excesses)

    def value(self, X: Array) -> Array:
        """The difference (m,) at ``X`` (m, d)."""
        total = self.objective.value(X)
        for excess in self.excesses:
            total = total - self.steep * np.maximum(excess.value(X), 0.0)
        return total

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The difference (m,) and its derivatives (m, d), one-sided at the limits."""
        total, slope = self.objective.value_with_gradient(X)
        for excess in self.excesses:
            e, by_x = excess.value_with_gradient(X)
            total = total - self.steep * np.maximum(e, 0.0)
            slope = slope - self.steep * np.where((e > 0.0)[:, None], by_x, 0.0)
        return total, slope


@dataclass(frozen=True, slots=True, eq=False)
class DrawnExcess:
    """e of a function drawn from a model; ``scale`` is the standard deviation of results."""

    path: Paths
    limits: Within
    scale: float

    @property
    def has_gradient(self) -> bool:
        """Always."""
        return True

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        v = self.path.value(X)[0]
        excess: Array = np.maximum(v - self.limits.high, self.limits.low - v) / self.scale
        return excess

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""
        values, slopes = self.path.value_with_gradient(X)
        over, under = values[0] - self.limits.high, self.limits.low - values[0]
        side = np.where(over >= under, 1.0, -1.0)[:, None]
        return np.maximum(over, under) / self.scale, side * slopes[0] / self.scale


@dataclass(frozen=True, slots=True, eq=False)
class BoundExcess:
    """e of the bound nearest to the limits: what may be within them, ``root`` standard deviations off, counts so."""

    model: Model
    limits: Within
    scale: float
    root: float

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        return able(self.model, Differentiable)

    def value(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        at = self.model.predict(X)
        return (np.maximum(at.mean - self.limits.high, self.limits.low - at.mean) - self.root * at.std) / self.scale

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """e (m,) and its derivatives (m, d)."""
        at = cast(Differentiable, self.model).predict_with_gradient(X)
        over, under = at.mean - self.limits.high, self.limits.low - at.mean
        side = np.where(over >= under, 1.0, -1.0)[:, None]
        slope = side * at.mean_gradient - self.root * at.std_gradient
        return (np.maximum(over, under) - self.root * at.std) / self.scale, slope / self.scale


def within_bounds(request: Request, objective: Objective, root: float) -> Objective:
    """``objective`` where all limits of a ``request`` may be kept, √β = ``root``; itself where there are none."""
    excesses = _bounds(request, root)
    return Held(objective, excesses, STEEP * standardization(request.data.y)[1]) if excesses else objective


def beyond_limits(request: Request, X: Array) -> Array:
    """What it costs (m,) that the models expect outputs at ``X`` (m, d) beyond their limits."""
    total = sum((np.maximum(excess.value(X), 0.0) for excess in _bounds(request, 0.0)), np.zeros(len(X)))
    return STEEP * standardization(request.data.y)[1] * total


def _bounds(request: Request, root: float) -> tuple[BoundExcess, ...]:
    return tuple(
        BoundExcess(one.request.model, one.limits, standardization(one.request.data.y)[1], root)
        for one in request.outputs
        if one.limits is not None
    )


def refuse_several(request: Request, strategy: str) -> None:
    """MissingCapability where there is more than one objective."""
    if sum(output.limits is None for output in request.outputs) > 1:
        raise MissingCapability(
            f"{strategy} chooses for one objective, within limits or without; several are traded for each other by "
            f"{WEIGH_ALL}."
        )
