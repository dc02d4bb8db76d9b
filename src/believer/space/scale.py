"""The arithmetic of scales: the position of a number between two bounds, by its value or by its logarithm, and on a
grid.

=======  ================================================================
symbol   meaning
=======  ================================================================
U        positions on a parameter's own scale, 0 at low and 1 at high (n,)
i        index of a grid value low + i * step, from 0
k        number of values of a discrete parameter
=======  ================================================================

A position is (v - low) / (high - low), or the same in logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from believer.arrays import Array, IntArray, shown
from believer.errors import InvalidInput
from believer.space.parameter import MAX_GRID, Number

TOLERANCE = 1e-9
"""A number this close to a bound or to a grid value, relative to its size, counts as the same."""

_LARGEST = float(np.finfo(np.float64).max)


def plain(value: Any) -> Any:
    """A NumPy scalar as the equal Python value; anything else is returned unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def real(value: Any) -> float | None:
    """``value`` as a plain finite float; None for anything else, bool included."""
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _LARGEST:
        return None
    return float(number)


def whole(value: Any) -> int | None:
    """``value`` as a plain int; None for anything that is not a whole number."""
    number = real(value)
    return int(value) if number is not None and number.is_integer() else None


def keep(p: Number, name: str, number: float | None, what: str) -> None:
    """Set a field of a frozen parameter to ``number``, its value as a plain number; InvalidInput if that is None."""
    if number is None:
        raise InvalidInput(f"{name} must be {what}; got {name}={shown(getattr(p, name))}.")
    object.__setattr__(p, name, number)


def check_scale(p: Number) -> None:
    """Check ``log`` and ``step`` by the rules that all numbers share."""
    if not isinstance(p.log, bool):
        raise InvalidInput(f"log must be True or False; got log={shown(p.log)}.")
    if p.log and p.low <= 0:
        raise InvalidInput(f"log needs low > 0; got low={p.low}.")
    if p.step is not None and p.step <= 0:
        raise InvalidInput(f"step must be positive; got step={p.step}.")


def slack(p: Number) -> float:
    """The error that rounding may cause in an encoded value, on any processor."""
    if p.low == p.high:
        return 1e-9
    low, high = (math.log(p.low), math.log(p.high)) if p.log else (p.low, p.high)
    return 1e-9 + 8 * math.ulp(1.0) * max(1.0 if p.log else 0.0, abs(low), abs(high)) / (high - low)


def to_config(p: Number) -> dict[str, Any]:
    """The bounds, log and step, as plain JSON data."""
    return {"low": p.low, "high": p.high, "log": p.log, "step": p.step}


def ordinal(x: float) -> int:
    """The position of a float among all floats; that of zero is 0."""
    bits = int(np.float64(abs(x)).view(np.int64))
    return bits if x >= 0.0 else -bits


def grid_values(p: Number, i: IntArray) -> Array:
    """Grid values low + i * step as floats, with i clipped to 0, ..., k - 1; without a step, successive floats."""
    if p.step is None:
        places = ordinal(p.low) + np.clip(i, 0, (p.count or 1) - 1)
        floats: Array = np.copysign(np.abs(places).view(np.float64), places)
        return floats + 0.0  # no zero below zero
    step = float(p.step)
    values: Array = p.low + np.minimum(np.maximum(i, 0), (p.count or 1) - 1) * np.float64(step)
    # 0 + 3 * 0.1 should be the 0.3 that a user writes, so sums of short decimals are rounded to their digits.
    digits = 0 if isinstance(p.low, int) else max(_digits(p.low), _digits(step))
    if 0 < digits <= 22 and max(abs(p.low), abs(p.high)) * 10.0**digits < 2**53:
        values = np.round(values, digits).astype(np.float64)
    return np.minimum(values, p.high)


@lru_cache(maxsize=256)
def _digits(x: float) -> int:
    """The number of digits after the decimal point, as ``x`` is written."""
    return -int(Decimal(repr(float(x))).as_tuple().exponent)


def positions(p: Number, values: Array, by_magnitude: bool) -> Array:
    """Positions U of ``values``."""
    if p.low == p.high:
        return np.zeros(values.shape)
    low, high = float(p.low), float(p.high)
    if by_magnitude:
        low, high, values = float(np.log(low)), float(np.log(high)), np.log(values)
    # Scalar and vector logarithms may differ in the last bit, which must not leave the cube.
    return np.minimum(np.maximum((values - low) / (high - low), 0.0), 1.0)


def position(p: Number, number: float, by_magnitude: bool) -> float:
    """The same as ``positions`` for a single value, bit for bit, at a tenth of the cost."""
    if p.low == p.high or by_magnitude:
        return float(positions(p, np.array([number]), by_magnitude)[0])
    return min(max((number - p.low) / (p.high - p.low), 0.0), 1.0)


def measured(p: Number, value: Any, name: str) -> float:
    """A measured ``value`` of ``p``, which need not be on its steps or within its bounds, but above 0 on a logarithmic
    scale; InvalidInput, with ``name``, for anything that is not such a number."""
    try:
        found: float = p.check(value, name)
    except InvalidInput:
        number = real(value)
        if number is None:
            raise
        if p.log and number <= 0.0:
            raise InvalidInput(
                f"a value on a logarithmic scale must be above 0; got {shown(value)} for {name!r}."
            ) from None
        return int(number) if isinstance(p.low, int) and number.is_integer() else number
    return found


def located(p: Number, number: float, by_magnitude: bool) -> float:
    """The position of a measured ``number``: that of :func:`position` within the bounds, extended beyond them."""
    if p.low == p.high or p.low <= number <= p.high:
        return position(p, number, by_magnitude)
    with np.errstate(over="ignore"):
        ends = np.array([p.low, p.high, number], dtype=np.float64)
        low, high, there = np.log(ends) if by_magnitude else ends
        return float((there - low) / (high - low))


def encode(p: Number, values: Sequence[Any], name: str, by_magnitude: bool) -> Array:
    """Positions (n, 1) of n values, which are checked; plain floats are checked all at once."""
    if len(values) == 1:
        return np.array([[position(p, float(p.check(values[0], name)), by_magnitude)]])
    exact = type(p.low)
    if all(type(value) is exact and p.low <= value <= p.high for value in values):
        numbers = np.array(values, dtype=np.float64)
        on_grid = p.step is None or (exact is int and p.step == 1)
        if on_grid or (grid_values(p, np.rint((numbers - p.low) / (p.step or 1)).astype(np.int64)) == numbers).all():
            return positions(p, numbers, by_magnitude)[:, None]
    checked = np.array([p.check(value, name) for value in values], dtype=np.float64)
    return positions(p, checked, by_magnitude)[:, None]


def grid(p: Number, by_magnitude: bool) -> Array:
    """Positions (k, 1) of the values; only the two ends of a long grid, and 0 and 1 if continuous."""
    k = p.count
    if k is None:
        return np.array([[0.0], [1.0]])
    values = grid_values(p, np.arange(k) if k <= MAX_GRID else np.array([0, k - 1]))
    return positions(p, values, by_magnitude)[:, None]


def nearest_in(grid: Array, at: Array) -> IntArray:
    """Indices (n,) of the values of an ascending ``grid`` (k,) nearest to ``at`` (n,); of a tie, the lower value."""
    right = np.minimum(np.maximum(grid.searchsorted(at), 1), len(grid) - 1)
    left = np.maximum(right - 1, 0)
    index: IntArray = np.where(at - grid[left] <= grid[right] - at, left, right)
    return index


def values_at(p: Number, U: Array, by_magnitude: bool) -> Array:
    """Values at positions ``U``, before rounding to the grid; the ends are exact."""
    if not by_magnitude and math.isfinite(p.high - p.low):
        values = p.low + U * (p.high - p.low)
    else:
        with np.errstate(over="ignore"):
            if by_magnitude:
                low, high = float(np.log(p.low)), float(np.log(p.high))
                values = np.exp(low + U * (high - low))
            else:
                values = p.low + U * (p.high - p.low)
    values = np.minimum(np.maximum(values, p.low), p.high)
    return np.where(U <= 0.0, p.low, np.where(U >= 1.0, p.high, values))


def nearest_values(p: Number, U: Array, by_magnitude: bool) -> Array:
    """Grid values whose positions are nearest to ``U``; a tie goes to the lower one, as in ``Block.nearest``."""
    i = np.floor((values_at(p, U, by_magnitude) - p.low) / (p.step or 1)).astype(np.int64)
    values = grid_values(p, np.array([i, i + 1]))
    below, above = positions(p, values, by_magnitude)
    nearest: Array = np.where(U - below <= above - U, values[0], values[1])
    return nearest
