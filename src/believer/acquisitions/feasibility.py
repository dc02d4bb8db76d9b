"""Outputs that must stay within limits: the probability that they do, and the worth of a point with it.

======  =====================================================
symbol  meaning
======  =====================================================
v_j     an output with limits, N(μ_j, σ_j²) at a point
l, u    limits of an output: l ≤ v ≤ u; each may be infinite
P_j     probability that v_j is within its limits
======  =====================================================

If an improvement counts only at feasible points and the models are independent, its expectation is the expected
improvement times all P_j ([Schonlau1998], [Gardner2014]); its logarithm is a sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from believer.acquisitions.acquisition import ByPredictions, Pointwise
from believer.arrays import Array, BoolArray, shown
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.maximize.objective import Objective
from believer.numerics.intervals import log_probability
from believer.numerics.special import log_cdf
from believer.surrogates.protocols import Differentiable, Model, Prediction

FAR = 1e12
"""The distance in standard deviations from the results to which farther values are moved, so that their squares are
finite."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of an output, in the units of its model.

    Parameters
    ----------
    low : l, the least value that is feasible; -inf for none.
    high : u, the largest; inf for none.
    """

    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        if not (isinstance(self.low, int | float | np.number) and isinstance(self.high, int | float | np.number)):
            raise InvalidInput(f"limits must be numbers; got low={shown(self.low)}, high={shown(self.high)}.")
        if not self.low < self.high:
            raise InvalidInput(f"limits must satisfy low < high; got low={shown(self.low)}, high={shown(self.high)}.")

    def holds(self, values: Array) -> BoolArray:
        """A mask of the feasible ``values``, in their shape."""
        mask: BoolArray = (self.low <= values) & (values <= self.high)
        return mask

    def near(self, center: float, spread: float) -> Limits:
        """Equivalent limits for all results, of mean ``center`` and standard deviation ``spread``: a limit that is
        farther than ``FAR`` from them is dropped if it never binds, and moved to that distance if it is never kept."""
        least, most = center - FAR * spread, center + FAR * spread
        return Limits(
            -np.inf if self.low < least else min(self.low, most), np.inf if self.high > most else max(self.high, least)
        )

    def pointwise(self, mean: Array, std: Array) -> Pointwise:
        """log P(l ≤ v ≤ u) for v ~ N(``mean``, ``std``²), (m,) each, and its derivatives by both."""
        if np.isfinite(self.low) and np.isfinite(self.high):
            # Halving first, and the width of the limits, keep both exact even if mean and limits are far apart.
            center = (0.5 * self.low + 0.5 * self.high - mean) / std
            value, by_center, by_width = log_probability(center, (self.high - self.low) / std)
            return Pointwise(value, -by_center / std, -(center * by_center + by_width) / std)
        if np.isfinite(self.low):
            value, by_z = log_cdf(z := (mean - self.low) / std)
            return Pointwise(value, by_z / std, -z * by_z / std)
        if np.isfinite(self.high):
            value, by_z = log_cdf(z := (self.high - mean) / std)
            return Pointwise(value, -by_z / std, -z * by_z / std)
        return Pointwise(np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean))


@dataclass(frozen=True, slots=True, eq=False)
class Feasible:
    """log α(x) + Σ_j log P_j(x): the worth of a point that counts only if all limits hold.

    Parameters
    ----------
    objective : log α, the logarithm of an expected quantity: LogEI or EHVI on models. None as long as no feasible point
        is known; the point that is most likely feasible is then the best.
    limits : models of outputs, each with its limits.
    """

    objective: Objective | None
    limits: tuple[tuple[Model, Limits], ...]

    @property
    def has_gradient(self) -> bool:
        """Whether the objective and all models of outputs give gradients."""
        known = self.objective is None or self.objective.has_gradient
        return known and all(has(model, Differentiable) for model, _ in self.limits)

    def value(self, X: Array) -> Array:
        """The sum (m,) at ``X`` (m, d)."""
        total = np.zeros(len(X)) if self.objective is None else self.objective.value(X)
        return self._limited(total, tuple([model.predict(X) for model, _ in self.limits]))

    @property
    def models(self) -> tuple[Model, ...]:
        """The models of the objective, then those of the outputs; none if the objective is not a function of
        predictions."""
        limited = tuple([model for model, _ in self.limits])
        if self.objective is None:
            return limited
        return (*self.objective.models, *limited) if has(self.objective, ByPredictions) else ()

    def of(self, at: tuple[Prediction, ...]) -> Array:
        """The sum (m,) for the predictions ``at`` of the objective's models, then of the outputs' models."""
        own, limited = at[: len(at) - len(self.limits)], at[len(at) - len(self.limits) :]
        total = np.zeros(len(at[0].mean))
        if self.objective is not None:
            total = cast(ByPredictions, self.objective).of(own)
        return self._limited(total, limited)

    def _limited(self, total: Array, at: tuple[Prediction, ...]) -> Array:
        for (_, within), prediction in zip(self.limits, at, strict=True):
            total = total + within.pointwise(prediction.mean, prediction.std).value
        return total

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The sum (m,) and its derivatives by x (m, d) at ``X`` (m, d)."""
        if self.objective is None:
            total, slope = np.zeros(len(X)), np.zeros(X.shape)
        else:
            total, slope = self.objective.value_with_gradient(X)
        for model, within in self.limits:
            p = cast(Differentiable, model).predict_with_gradient(X)
            at = within.pointwise(p.mean, p.std)
            total = total + at.value
            slope = slope + at.by_mean[:, None] * p.mean_gradient + at.by_std[:, None] * p.std_gradient
        return total, slope
