"""A warp of y: what a model learns from where results have a heavy tail on the side that nobody wants.

======  =================================================================================
symbol  meaning
======  =================================================================================
m       the median of y
s       the scale of the better half: √(Σ (m - y_i)² / Σ z_i²) over the y_i below m, with
        z_i the normal scores of their ranks; the standard deviation, if y is Gaussian
w(y)    y up to m, above it m + s log(1 + (y - m) / s)
======  =================================================================================

The better half stays as it is, so an improvement is what it was, and f⁺ is the best result. The worse half bends:
values a million times as far from m as the better half is wide come to lie fourteen times as far, and cost the model no
attention. w and w' are continuous, w' ≤ 1, and w is inverted in closed form. Lies, failures and what is known of the
noise pass through it; what a user is told comes back through w⁻¹.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from believer.arrays import LARGEST, Array, above_zero, finite, shown
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.numerics.sampling import normal
from believer.surrogates.data import MIN_SCALE, Data
from believer.surrogates.protocols import Evident, Model, Prediction

T = TypeVar("T")

REACH = 2.0
"""The worse half has to reach so many times as far from the median as the better half for a warp to be thought of."""

_FARTHEST = 1e300
"""Where w and w⁻¹ end, in units of y and of s: no result is that far away, and more is no number."""


@dataclass(frozen=True, slots=True)
class Warp:
    """w, of ``start`` m and ``scale`` s."""

    start: float
    scale: float

    def __post_init__(self) -> None:
        finite(self.start, "the start of a warp", LARGEST)
        above_zero(self.scale, "the scale of a warp", MIN_SCALE, LARGEST)

    def __call__(self, y: Array) -> Array:
        """w(y), elementwise."""
        return np.where(y > self.start, self.start + self.scale * np.log1p(self._beyond(y)), y)

    def inverse(self, w: Array) -> Array:
        """w⁻¹, elementwise."""
        beyond = np.minimum(self._beyond(w), math.log(_FARTHEST / max(self.scale, 1.0)))
        return np.where(w > self.start, self.start + self.scale * np.expm1(beyond), w)

    def log_slope(self, y: Array) -> Array:
        """log w'(y), elementwise: zero for the better half."""
        return -np.log1p(self._beyond(y))

    def data(self, data: Data) -> Data:
        """``data`` of one output in the units of the model: known noise becomes w'(y) times as large."""
        noise = None if data.noise is None else data.noise * np.exp(self.log_slope(data.Y))
        return Data(data.X, self(data.Y), noise, data.groups)

    def prediction(self, at: Prediction) -> Prediction:
        """What a model of w(y) predicts, in the units of y: the median, and half the width of the central 68.3 %."""
        low, high = self.inverse(at.mean - at.std), self.inverse(at.mean + at.std)
        return Prediction(self.inverse(at.mean), 0.5 * (high - low))

    def _beyond(self, y: Array) -> Array:
        return np.clip(y - self.start, 0.0, _FARTHEST * self.scale) / self.scale

    def is_like(self, other: Warp | None) -> bool:
        """Whether ``other`` is the same but for rounding."""
        return other is not None and math.isclose(self.start, other.start) and math.isclose(self.scale, other.scale)

    def to_config(self) -> dict[str, float]:
        """Plain JSON data."""
        return {"start": self.start, "scale": self.scale}

    @staticmethod
    def from_config(config: Any) -> Warp:
        """Inverse of :meth:`to_config`; InvalidInput for what is no warp."""
        if not isinstance(config, dict) or config.keys() != {"start", "scale"}:
            raise InvalidInput(f"a warp must have a start and a scale; got {shown(config)}.")
        return Warp(config["start"], config["scale"])


def likelier(
    fitted: Callable[[Warp | None, T | None], T], model_of: Callable[[T], Model], warp: Warp | None, y: Array
) -> T:
    """A fit to results as they are, or one through a warp: whichever finds them more likely, p(y) = p(w(y)) Π w'(y_i).

    Parameters
    ----------
    fitted : makes a fit through a warp, given the fit without one; or, given neither, the latter.
    model_of : the model of a fit; without its evidence there is no fit through a warp.
    warp : to be tried; None tries none.
    y : the results that a model learns from, (n,).
    """
    plain = fitted(None, None)
    before = model_of(plain)
    if warp is None or not has(before, Evident):
        return plain
    warped = fitted(warp, plain)
    after = model_of(warped)
    if not has(after, Evident):
        return plain
    return warped if after.log_evidence() + float(warp.log_slope(y).sum()) - before.log_evidence() > 0.0 else plain


def warp_for(y: Array) -> Warp | None:
    """The warp of results ``y`` (n,); None if the worse half does not reach far, or the better half is of one value.

    It depends on the values alone: not on their order, and with their unit as they do.
    """
    ordered = np.sort(y)
    m = float(np.median(ordered))
    below = ordered[ordered < m]
    if not len(below) or not float(ordered[-1]) - m > REACH * (m - float(ordered[0])):
        return None
    z = normal((np.arange(len(below)) + 0.5) / len(y))
    unit = m - float(ordered[0])
    scale = unit * math.sqrt(float((((m - below) / unit) ** 2).sum()) / float((z**2).sum()))
    return Warp(m, scale) if MIN_SCALE <= scale <= LARGEST and abs(m) <= LARGEST else None
