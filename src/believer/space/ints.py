"""A whole number, encoded as one column: its position between low and high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, ClassVar

import numpy as np

from believer.arrays import Array, shown
from believer.errors import InvalidInput
from believer.space import scale
from believer.space.likely import keep_likely
from believer.space.parameter import MAX_GRID, keep_backfill
from believer.space.units import call_of, keep_units
from believer.space.when import keep_when

_KIND = "a whole number"
_WIDEST = 2**40


@dataclass(frozen=True, slots=True)
class Int:
    """One of the whole numbers low, low + step, ... <= high.

    A range of more than ``MAX_GRID`` values is searched as if it were continuous, and rounded by ``Space.decode``.

    Parameters
    ----------
    low, high : the bounds, low <= high.
    log : whether to search on a logarithmic scale.
    step : the distance from one value to the next.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.
    likely : a belief about where the optimum is, (center, width): it is within a width of the center with a probability
        of about two thirds. With ``log=True`` the width is a factor. The belief fades as results come in.
    """

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int = field(default=1, kw_only=True)
    backfill: int | EllipsisType = field(default=..., kw_only=True, repr=False, compare=False)
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False, hash=False)
    likely: tuple[float, float] | None = field(default=None, kw_only=True, repr=False)
    __repr__ = call_of
    measured = scale.measured
    to_config = scale.to_config
    width: ClassVar[int] = 1
    ordered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings and keep plain Python numbers."""
        for name in ("low", "high", "step"):
            scale.keep(self, name, scale.whole(getattr(self, name)), _KIND)
        if self.low > self.high:
            raise InvalidInput(f"bounds must satisfy low <= high; got low={self.low}, high={self.high}.")
        if max(abs(self.low), abs(self.high)) > _WIDEST:
            raise InvalidInput(f"bounds must lie within ±2**40, or use Float; got low={self.low}, high={self.high}.")
        if self.step > _WIDEST:
            raise InvalidInput(f"step must be 2**40 at most; got step={shown(self.step)}.")
        scale.check_scale(self)
        keep_backfill(self)
        keep_units(self)
        keep_when(self)
        keep_likely(self)

    @property
    def count(self) -> int:
        """Number of values k."""
        return (self.high - self.low) // self.step + 1

    @property
    def rounded(self) -> bool:
        """Whether there are too many values to list."""
        return self.count > MAX_GRID

    @property
    def slack(self) -> float:
        """The largest error of a position by rounding."""
        return scale.slack(self)

    def check(self, value: Any, name: str) -> int:
        """``value`` as an int; InvalidInput, with the ``name``, if it is not on the grid."""
        if type(value) is int and self.step == 1 and self.low <= value <= self.high:  # the usual case
            return value
        number = scale.whole(value)
        if number is None:
            raise InvalidInput(f"a value must be {_KIND}; got {shown(value)} for {name!r}.")
        if not self.low <= number <= self.high:
            raise InvalidInput(f"a value must lie in [{self.low}, {self.high}]; got {shown(value)} for {name!r}.")
        nearest = int(scale.grid_values(self, np.array(round((number - self.low) / self.step))))
        if number != nearest:
            on = f"a value must be on {self.low} + i * {self.step}"
            raise InvalidInput(f"{on}; got {shown(value)} for {name!r}, the nearest is {nearest}.")
        return nearest

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Positions (n, 1) of ``values`` of ``name``."""
        return scale.encode(self, values, name, self.log)

    def located(self, value: float) -> float:
        """The position of a measured value; outside of the bounds it is below 0 or above 1."""
        return scale.located(self, value, self.log)

    def decode(self, U: Array) -> list[int]:
        """The values nearest to positions ``U`` (n, 1)."""
        numbers: list[int] = scale.nearest_values(self, U[:, 0], self.log).astype(np.int64).tolist()
        return numbers

    def grid(self) -> Array:
        """Positions (k, 1) of the values; only the two ends of a long grid."""
        return scale.grid(self, self.log)
