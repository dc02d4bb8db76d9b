"""Limits of an output in a joint improvement: an indicator for each sample, or the logarithm of a smooth indicator.

======  ==============================================================
symbol  meaning
======  ==============================================================
v       a sample of the output
l, u    its limits
η       temperature of the indicator, as a share of the scale of v
x       the distance of v inside a limit, (v - l) / η or (u - v) / η
======  ==============================================================

The smooth indicator of both limits is the product of one for each limit, as in BoTorch, the library of [Ament2023]: a
step whose tails fall like 1/x², so that poor samples keep a gradient, or the logistic function.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, above_zero
from believer.surrogates.protocols import JointlyDifferentiable

_BEND = float(np.sqrt(1.0 / 3.0))
_HEIGHT = 2.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class JointLimit:
    """An output with limits, sampled at the points of a group.

    Differs: η is relative to the scale of v, so that the units of v do not matter.

    Parameters
    ----------
    model : the model of the output, independent of all others.
    within : the limits of the output.
    normals : standard normal base samples (S, m) of its own.
    unit : the scale of v.
    softness : η of the smooth indicator.
    """

    model: JointlyDifferentiable
    within: Limits
    normals: Array
    unit: float = 1.0
    softness: float = 1e-3

    def __post_init__(self) -> None:
        above_zero(self.softness, "softness", 1e-12, 1e3)

    def log_indicator(self, values: Array, fat: bool) -> tuple[Array, Array]:
        """log of the smooth indicator of ``values`` in units, of any shape, and its derivative; with ``fat`` tails."""
        step = _log_fat_step if fat else _log_step
        total, slope = np.zeros_like(values), np.zeros_like(values)
        for limit, sign in ((self.within.low, 1.0), (self.within.high, -1.0)):
            if np.isfinite(limit):
                value, by_x = step((sign / self.softness) * (values - limit / self.unit))
                total += value
                slope += (sign / self.softness) * by_x
        return total, slope


def _log_fat_step(x: Array) -> tuple[Array, Array]:
    """log of 2/3 / (1 + (x - b)²) below zero and of 1 - 2/3 / (1 + (x + b)²) above, b² = 1/3; and its derivative."""
    far = np.abs(x) + _BEND
    lorentz = 1.0 / (1.0 + far * far)
    low = _HEIGHT * lorentz
    below = x < 0.0
    value = np.log(np.where(below, low, 1.0 - low))
    return value, 2.0 * far * lorentz * np.where(below, 1.0, low / (1.0 - low))


def _log_step(x: Array) -> tuple[Array, Array]:
    """log 1 / (1 + e^-x) and its derivative."""
    e = np.exp(-np.abs(x))
    return np.minimum(x, 0.0) - np.log1p(e), np.where(x > 0.0, e, 1.0) / (1.0 + e)
