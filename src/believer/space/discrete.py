"""One of a few given numbers, encoded as one column: its position between the least and the greatest."""

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


@dataclass(frozen=True, slots=True)
class Discrete:
    """One of the given numbers, which need not be evenly spaced, such as the sizes that can be bought.

    The model assumes that close numbers have similar results.

    Parameters
    ----------
    values : a list or tuple of at least one number, in any order; all ints, or all floats.
    log : whether to search on a logarithmic scale, on which 1, 10, 100 are evenly spaced.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.
    likely : a belief about where the optimum is, (center, width): it is within a width of the center with a probability
        of about two thirds. With ``log=True`` the width is a factor. The belief fades as results come in.

    Attributes
    ----------
    low, high : the least and the greatest value.
    step : None, because the values need not be evenly spaced.
    """

    values: Sequence[float]
    log: bool = field(default=False, kw_only=True)
    backfill: float | EllipsisType = field(default=..., kw_only=True, repr=False, compare=False)
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False, hash=False)
    likely: tuple[float, float] | None = field(default=None, kw_only=True, repr=False)
    low: float = field(init=False, repr=False, compare=False)
    high: float = field(init=False, repr=False, compare=False)
    step: None = field(init=False, default=None, repr=False, compare=False)
    __repr__ = call_of
    measured = scale.measured
    width: ClassVar[int] = 1
    ordered: ClassVar[bool] = True
    rounded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the values and keep a sorted tuple of plain Python numbers."""
        given = self.values
        if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise InvalidInput(f"values must be a list or tuple of at least one number; got {shown(given)}.")
        if len(given) > MAX_GRID:
            raise InvalidInput(f"values must be {MAX_GRID:,} at most; got {len(given):,}. Use Float with a step.")
        numbers = [scale.real(value) for value in given]
        if None in numbers:
            raise InvalidInput(f"a value must be a finite number; got {shown(given[numbers.index(None)])}.")
        exact = all(isinstance(scale.plain(value), int) for value in given)
        values = sorted(int(value) if exact else float(value) for value in given)
        object.__setattr__(self, "values", tuple(values))
        object.__setattr__(self, "low", values[0])
        object.__setattr__(self, "high", values[-1])
        scale.check_scale(self)
        positions = self.grid()[:, 0]
        if len(values) > 1 and not (np.diff(positions) > 1e-9).all():
            raise InvalidInput(
                f"values must differ from each other by more than 1e-9 of their range; got {shown(list(given))}."
            )
        keep_backfill(self)
        keep_units(self)
        keep_when(self)
        keep_likely(self)

    @property
    def count(self) -> int:
        """Number of values k."""
        return len(self.values)

    @property
    def slack(self) -> float:
        """The error that rounding may cause in the position of a value."""
        return scale.slack(self)

    def check(self, value: Any, name: str) -> float:
        """The value that equals ``value`` to 1e-9 of its size; InvalidInput, with the ``name``, if there is none."""
        number = scale.real(value)
        if number is None:
            raise InvalidInput(f"a value must be a finite number; got {shown(value)} for {name!r}.")
        nearest = min(self.values, key=lambda known: abs(known - number))
        if abs(nearest - number) > scale.TOLERANCE * abs(nearest):
            said = shown(list(self.values))
            raise InvalidInput(f"a value must be one of {said}; got {shown(value)} for {name!r}.")
        return nearest

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Positions (n, 1) of ``values`` of ``name``."""
        numbers = np.array([self.check(value, name) for value in values], dtype=np.float64)
        return scale.positions(self, numbers, self.log)[:, None]

    def located(self, value: float) -> float:
        """The position of a measured value; outside of the bounds it is below 0 or above 1."""
        return scale.located(self, value, self.log)

    def decode(self, U: Array) -> list[float]:
        """The values whose positions are nearest to ``U`` (n, 1)."""
        return [self.values[i] for i in scale.nearest_in(self.grid()[:, 0], U[:, 0])]

    def grid(self) -> Array:
        """Positions (k, 1) of the values."""
        return scale.positions(self, np.array(self.values, dtype=np.float64), self.log)[:, None]

    def to_config(self) -> dict[str, Any]:
        """The values, and log."""
        return {"values": list(self.values), "log": self.log}
