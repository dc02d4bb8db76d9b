"""A real number, encoded as one column: its position between low and high."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, ClassVar

import numpy as np

from believer.arrays import SAME_POINT, Array, shown
from believer.errors import InvalidInput
from believer.space import scale
from believer.space.likely import keep_likely
from believer.space.parameter import MAX_GRID, keep_backfill
from believer.space.units import call_of, keep_units
from believer.space.when import keep_when

_KIND = "a finite number"
_MAX_FLOATS = round(2.0 / SAME_POINT)
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True)
class Float:
    """A real number in [low, high].

    A grid of more than ``MAX_GRID`` values is searched as if it were continuous, and rounded by ``Space.decode``. If a
    range is so narrow that neighboring floats are more than 1e-6 of it apart, it is a grid of these floats.

    Parameters
    ----------
    low, high : the bounds, low < high.
    log : whether to search on a logarithmic scale.
    step : restricts the values to low, low + step, ...; None is continuous.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.
    likely : a belief about where the optimum is, (center, width): it is within a width of the center with a probability
        of about two thirds. With ``log=True`` the width is a factor. The belief fades as results come in.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    backfill: float | EllipsisType = field(default=..., kw_only=True, repr=False, compare=False)
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False, hash=False)
    likely: tuple[float, float] | None = field(default=None, kw_only=True, repr=False)
    _coarse: bool = field(default=False, init=False, repr=False, compare=False)
    __repr__ = call_of
    measured = scale.measured
    to_config = scale.to_config
    width: ClassVar[int] = 1
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings and keep plain Python numbers."""
        for name in ("low", "high") if self.step is None else ("low", "high", "step"):
            scale.keep(self, name, scale.real(getattr(self, name)), _KIND)
        if not self.low < self.high:
            raise InvalidInput(f"bounds must satisfy low < high; got low={self.low}, high={self.high}.")
        if not math.isfinite(self.high - self.low):
            raise InvalidInput(f"high - low must be finite; got low={self.low}, high={self.high}.")
        if self.log and self.step is not None:
            raise InvalidInput(f"log and step cannot be combined; got log=True, step={self.step}.")
        if self.log and self.low > 0 and math.log(self.low) == math.log(self.high):
            raise InvalidInput(f"log bounds must differ in their logarithms; got low={self.low}, high={self.high}.")
        if self.step is not None and 0 < self.step < scale.TOLERANCE * max(abs(self.low), abs(self.high)):
            raise InvalidInput(f"step must be at least 1e-9 of the larger bound, or None; got step={self.step}.")
        scale.check_scale(self)
        object.__setattr__(self, "_coarse", self._is_coarse())
        keep_backfill(self)
        keep_units(self)
        keep_when(self)
        keep_likely(self)

    @property
    def count(self) -> int | None:
        """The number k of values of a grid, or of a range of few floats; None if continuous."""
        if self.step is None:
            k = scale.ordinal(self.high) - scale.ordinal(self.low) + 1 if self._coarse else None
            return None if k is None or k > _MAX_FLOATS else k
        # A millionth of a step absorbs the rounding of (high - low) / step, as in (0.3 - 0.1) / 0.1.
        return math.floor((self.high - self.low) / self.step + 1e-6) + 1

    @property
    def rounded(self) -> bool:
        """Whether there are too many values to list, but fewer than can be distinguished in the cube.

        This is so for a long grid, and for a Float on a logarithmic scale that begins near the smallest positive
        number.
        """
        k = self.count
        return self._coarse if k is None else k > MAX_GRID

    @property
    def slack(self) -> float:
        """The largest error of a position by rounding."""
        return scale.slack(self)

    def check(self, value: Any, name: str) -> float:
        """``value`` as a float; InvalidInput, with the ``name``, if it is not allowed.

        A value that is at most 1e-9 (relative) outside the bounds or off the grid is moved onto them.
        """
        if type(value) is float and self.step is None and self.low <= value <= self.high:  # the usual case
            return value
        number = scale.real(value)
        if number is None:
            raise InvalidInput(f"a value must be {_KIND}; got {shown(value)} for {name!r}.")
        inside = min(max(number, self.low), self.high)
        if abs(number - inside) > scale.TOLERANCE * (abs(inside) if self.log else max(abs(self.low), abs(self.high))):
            raise InvalidInput(f"a value must lie in [{self.low}, {self.high}]; got {shown(value)} for {name!r}.")
        if self.step is None:
            return float(inside)
        nearest = float(scale.grid_values(self, np.array(round((inside - self.low) / self.step))))
        if abs(inside - nearest) > scale.TOLERANCE * max(abs(inside), self.step):
            on = f"a value must be on {self.low} + i * {self.step}"
            raise InvalidInput(f"{on}; got {shown(value)} for {name!r}, the nearest is {nearest}.")
        return nearest

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Positions (n, 1) of ``values`` of ``name``."""
        return scale.encode(self, values, name, self._by_magnitude())

    def located(self, value: float) -> float:
        """The position of a measured value; outside of the bounds it is below 0 or above 1."""
        return scale.located(self, value, self._by_magnitude())

    def decode(self, U: Array) -> list[float]:
        """The values at positions ``U`` (n, 1), or on the grid nearest to them."""
        values = (scale.values_at if self.step is None else scale.nearest_values)(
            self, U[:, 0], self.log and self._by_magnitude()
        )
        numbers: list[float] = values.tolist()
        return numbers

    def grid(self) -> Array:
        """Positions (k, 1) of the values; only the two ends of a long grid, and 0 and 1 if continuous."""
        return scale.grid(self, self._by_magnitude())

    def _is_coarse(self) -> bool:
        """Whether some neighboring floats are farther apart, in the cube, than two points that count as different."""
        if self.step is not None:
            return False
        if self.log:
            gap = max(math.ulp(self.low) / self.low, _EPS)
            return gap > SAME_POINT * (math.log(self.high) - math.log(self.low))
        return math.ulp(max(abs(self.low), abs(self.high))) > SAME_POINT * (self.high - self.low)

    def _by_magnitude(self) -> bool:
        """Whether positions are by the logarithm. In a range of few floats they are not, because the floats could not
        be found again."""
        return self.log and (not self._coarse or math.log(self.high) - math.log(self.low) >= _EPS / SAME_POINT)
