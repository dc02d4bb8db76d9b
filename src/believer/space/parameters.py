"""The parameters of a space: a real number, a whole number or a choice, each with its encoded columns.

=======  ================================================================
symbol   meaning
=======  ================================================================
U        positions on a parameter's own scale, 0 at low and 1 at high (n,)
i        index of a grid value low + i * step, from 0
k        number of values of a discrete parameter
=======  ================================================================

A Float or an Int is one column, (v - low) / (high - low) or the same in logarithms; a Categorical is k one-hot columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import SAME_POINT, Array, IntArray, shown
from believer.errors import InvalidInput

MAX_GRID = 100_000
"""A grid with more values is a continuous column of the region; ``Space.decode`` still lands on the grid."""

MOST_COLUMNS = 5000
"""A choice has a column for each of its values, and models have matrices of (columns, columns)."""

_MOST_FLOATS = round(2.0 / SAME_POINT)
_EPS = float(np.finfo(np.float64).eps)
_TOLERANCE = 1e-9
_WIDEST_INT = 2**40
_LARGEST = float(np.finfo(np.float64).max)

Choice: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Float:
    """A real number in [low, high].

    A grid of more than ``MAX_GRID`` values is searched as if continuous, and rounded by ``Space.decode``. A range so
    narrow that it holds few floats is a grid of these: where neighbors lie further apart than what tells two points
    from each other, 1e-6 of the range.

    Parameters
    ----------
    low, high : the bounds, low < high.
    log : spread it over magnitudes.
    step : makes it one of low, low + step, ...; None is continuous.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    _coarse: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the rules, keep plain Python numbers."""
        _keep_numbers(self, ("low", "high") if self.step is None else ("low", "high", "step"))
        if not self.low < self.high:
            raise InvalidInput(f"bounds must satisfy low < high; got low={self.low}, high={self.high}.")
        if not math.isfinite(self.high - self.low):
            raise InvalidInput(f"high - low must be finite; got low={self.low}, high={self.high}.")
        if self.log and self.step is not None:
            raise InvalidInput(f"log and step exclude each other, drop one; got log=True, step={self.step}.")
        if self.log and self.low > 0 and math.log(self.low) == math.log(self.high):
            raise InvalidInput(f"log bounds must differ in their logarithms; got low={self.low}, high={self.high}.")
        if self.step is not None and 0 < self.step < _TOLERANCE * max(abs(self.low), abs(self.high)):
            raise InvalidInput(f"step must be at least 1e-9 of the larger bound, or None; got step={self.step}.")
        _check_scale(self)
        object.__setattr__(self, "_coarse", _is_coarse(self))


@dataclass(frozen=True, slots=True)
class Int:
    """One of the whole numbers low, low + step, ... <= high.

    A range of more than ``MAX_GRID`` values is searched as if continuous, and rounded by ``Space.decode``.

    Parameters
    ----------
    low, high : the bounds, low <= high.
    log : spread it over magnitudes.
    step : from one value to the next.
    """

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        """Check the rules, keep plain Python numbers."""
        _keep_numbers(self, ("low", "high", "step"))
        if self.low > self.high:
            raise InvalidInput(f"bounds must satisfy low <= high; got low={self.low}, high={self.high}.")
        if max(abs(self.low), abs(self.high)) > _WIDEST_INT:
            raise InvalidInput(f"bounds must lie within ±2**40, or use Float; got low={self.low}, high={self.high}.")
        if self.step > _WIDEST_INT:
            raise InvalidInput(f"step must be 2**40 at most; got step={shown(self.step)}.")
        _check_scale(self)


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of several choices, none nearer to any other; 1, 1.0 and True are three different choices.

    Parameters
    ----------
    choices : a list or tuple of at least one str, int, float, bool or None.
    """

    choices: Sequence[Choice] = field(compare=False, hash=True)
    _index: dict[tuple[type, Choice], int] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        """Check the rules, keep a tuple of plain Python values."""
        given = self.choices
        if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise InvalidInput(f"choices must be a list or tuple of at least one value; got {shown(given)}.")
        if len(given) > MOST_COLUMNS:
            raise InvalidInput(
                f"choices must be {MOST_COLUMNS:,} at most; got {len(given):,}. Use Int for a long table."
            )
        choices = tuple(_plain(choice) for choice in given)
        index: dict[tuple[type, Choice], int] = {}
        for i, choice in enumerate(choices):
            if type(choice) not in (str, int, float, bool, type(None)) or (
                isinstance(choice, float) and not math.isfinite(choice)
            ):
                raise InvalidInput(f"a choice must be a str, int, finite float, bool or None; got {shown(choice)}.")
            if index.setdefault((type(choice), choice), i) != i:
                raise InvalidInput(f"choices must differ from each other, drop one; got twice {choice!r}.")
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "_index", index)


Parameter: TypeAlias = Float | Int | Categorical
_NUMBER = {Float: "a finite number", Int: "a whole number"}


def _real(value: Any) -> float | None:
    """``value`` as a plain finite float; None for anything else, bool included."""
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _LARGEST:
        return None
    return float(number)


def _whole(value: Any) -> int | None:
    number = _real(value)
    return int(value) if number is not None and number.is_integer() else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _keep_numbers(p: Float | Int, names: tuple[str, ...]) -> None:
    """Replace the named fields by plain Python numbers of the parameter's kind."""
    for name in names:
        value = getattr(p, name)
        number = _whole(value) if isinstance(p, Int) else _real(value)
        if number is None:
            raise InvalidInput(f"{name} must be {_NUMBER[type(p)]}; got {name}={shown(value)}.")
        object.__setattr__(p, name, number)


def _check_scale(p: Float | Int) -> None:
    """The rules of ``log`` and ``step`` that Float and Int share."""
    if not isinstance(p.log, bool):
        raise InvalidInput(f"log must be True or False; got log={shown(p.log)}.")
    if p.log and p.low <= 0:
        raise InvalidInput(f"log needs low > 0; got low={p.low}.")
    if p.step is not None and p.step <= 0:
        raise InvalidInput(f"step must be positive; got step={p.step}.")


def width(p: Parameter) -> int:
    """Number of encoded columns."""
    return len(p.choices) if isinstance(p, Categorical) else 1


def count(p: Parameter) -> int | None:
    """Number of values k; None when continuous."""
    if isinstance(p, Categorical):
        return len(p.choices)
    if isinstance(p, Int):
        return (p.high - p.low) // p.step + 1
    if p.step is None:
        k = _ordinal(p.high) - _ordinal(p.low) + 1 if p._coarse else None
        return None if k is None or k > _MOST_FLOATS else k
    # A millionth of a step absorbs the rounding of (high - low) / step, as in (0.3 - 0.1) / 0.1.
    return math.floor((p.high - p.low) / p.step + 1e-6) + 1


def settles(p: Parameter) -> bool:
    """Has it too many values to list, and yet fewer than the cube tells apart?

    Such a parameter is searched as if continuous, then rounded. The second kind is a Float over magnitudes that begins
    among the least numbers there are.
    """
    k = count(p)
    if k is None:
        return isinstance(p, Float) and p._coarse
    return k > MAX_GRID


def _is_coarse(p: Float) -> bool:
    """Are neighboring floats somewhere further apart, in the cube, than two points that count as different?"""
    if p.step is not None:
        return False
    if p.log:
        return max(math.ulp(p.low) / p.low, _EPS) > SAME_POINT * (math.log(p.high) - math.log(p.low))
    return math.ulp(max(abs(p.low), abs(p.high))) > SAME_POINT * (p.high - p.low)


def _ordinal(x: float) -> int:
    """Position of a float among all floats, zero's being 0."""
    bits = int(np.float64(abs(x)).view(np.int64))
    return bits if x >= 0.0 else -bits


def _by_magnitude(p: Float | Int) -> bool:
    """Is it spread by its logarithm? In a range of few floats that is no other, and would not find them again."""
    return p.log and (isinstance(p, Int) or not p._coarse or math.log(p.high) - math.log(p.low) >= _EPS / SAME_POINT)


def _value(p: Float | Int, i: IntArray) -> Array:
    """Grid values low + i * step as floats, i cut to 0, ..., k - 1."""
    if p.step is None:
        places = _ordinal(p.low) + np.clip(i, 0, (count(p) or 1) - 1)
        floats: Array = np.copysign(np.abs(places).view(np.float64), places)
        return floats + 0.0  # no zero below zero
    step = float(p.step)
    values: Array = p.low + np.minimum(np.maximum(i, 0), (count(p) or 1) - 1) * np.float64(step)
    # 0 + 3 * 0.1 should be the 0.3 that a user writes, so sums of short decimals are rounded to their digits.
    digits = 0 if isinstance(p, Int) else max(_digits(p.low), _digits(step))
    if 0 < digits <= 22 and max(abs(p.low), abs(p.high)) * 10.0**digits < 2**53:
        values = np.round(values, digits).astype(np.float64)
    return np.minimum(values, p.high)


@lru_cache(maxsize=256)
def _digits(x: float) -> int:
    """After the point, as ``x`` is written."""
    return -int(Decimal(repr(float(x))).as_tuple().exponent)


def _scale(p: Float | Int, values: Array) -> Array:
    """Positions U of ``values``."""
    if p.low == p.high:
        return np.zeros(values.shape)
    low, high = float(p.low), float(p.high)
    if _by_magnitude(p):
        low, high, values = float(np.log(low)), float(np.log(high)), np.log(values)
    # Scalar and vector logarithms may differ in the last bit, which must not leave the cube.
    return np.minimum(np.maximum((values - low) / (high - low), 0.0), 1.0)


def _unscale(p: Float | Int, U: Array) -> Array:
    """Values at positions ``U``, before rounding to the grid; the ends are exact."""
    by_magnitude = _by_magnitude(p)
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


def _nearest(p: Float | Int, U: Array) -> Array:
    """Grid values whose positions are nearest to ``U``; a tie goes to the lower one, as in ``Block.nearest``."""
    i = np.floor((_unscale(p, U) - p.low) / (p.step or 1)).astype(np.int64)
    values = _value(p, np.array([i, i + 1]))
    below, above = _scale(p, values)
    nearest: Array = np.where(U - below <= above - U, values[0], values[1])
    return nearest


def grid(p: Parameter) -> Array:
    """Encoded rows of the values (k, width); only the two ends where the region has a continuous column."""
    if isinstance(p, Categorical):
        return np.eye(len(p.choices))
    k = count(p)
    if k is None:
        return np.array([[0.0], [1.0]])
    return _scale(p, _value(p, np.arange(k) if k <= MAX_GRID else np.array([0, k - 1])))[:, None]


def encode(p: Parameter, values: list[Any], name: str) -> Array:
    """Encoded columns (n, width) of one parameter's values."""
    if isinstance(p, Categorical):
        rows = np.zeros((len(values), len(p.choices)))
        rows[range(len(values)), [_choice(p, value, name) for value in values]] = 1.0
        return rows
    exact = int if isinstance(p, Int) else float
    if all(type(value) is exact and p.low <= value <= p.high for value in values):
        numbers = np.array(values, dtype=np.float64)
        on_grid = p.step is None or (isinstance(p, Int) and p.step == 1)
        if on_grid or (_value(p, np.rint((numbers - p.low) / (p.step or 1)).astype(np.int64)) == numbers).all():
            return _scale(p, numbers)[:, None]
    return _scale(p, np.array([check_value(p, value, name) for value in values], dtype=np.float64))[:, None]


def encode_one(p: Parameter, value: Any, name: str) -> list[float]:
    """The row of ``encode`` for a single value, the same to the bit and a tenth of its price."""
    if isinstance(p, Categorical):
        chosen = _choice(p, value, name)
        return [1.0 if i == chosen else 0.0 for i in range(len(p.choices))]
    number = float(check_value(p, value, name))
    if p.low == p.high or _by_magnitude(p):
        return [float(_scale(p, np.array([number]))[0])]
    return [min(max((number - p.low) / (p.high - p.low), 0.0), 1.0)]


def decode(p: Parameter, U: Array) -> list[Any]:
    """One parameter's values from its columns (n, width)."""
    if isinstance(p, Categorical):
        return [p.choices[i] for i in U.argmax(axis=1)]
    values = _unscale(p, U[:, 0]) if p.step is None else _nearest(p, U[:, 0])
    plain: list[Any] = (values.astype(np.int64) if isinstance(p, Int) else values).tolist()
    return plain


def _choice(p: Categorical, value: Any, name: str) -> int:
    try:
        return p._index[type(value), value]
    except (KeyError, TypeError):
        plain = _plain(value)
        if type(plain) is not type(value):
            return _choice(p, plain, name)
        raise InvalidInput(f"a value must be one of {list(p.choices)}; got {shown(value)} for {name!r}.") from None


def check_value(p: Parameter, value: Any, name: str) -> Any:
    """``value`` in its canonical form: a float, an int, or the choice itself."""
    if isinstance(p, Categorical):
        return p.choices[_choice(p, value, name)]
    plain = (float, None) if isinstance(p, Float) else (int, 1)
    if (type(value), p.step) == plain and p.low <= value <= p.high:  # nearly always
        return value
    number = _whole(value) if isinstance(p, Int) else _real(value)
    if number is None:
        raise InvalidInput(f"a value must be {_NUMBER[type(p)]}; got {shown(value)} for {name!r}.")
    inside = min(max(number, p.low), p.high)
    slack = _TOLERANCE * (abs(inside) if p.log else max(abs(p.low), abs(p.high)))
    if number != inside and (isinstance(p, Int) or abs(number - inside) > slack):
        raise InvalidInput(f"a value must lie in [{p.low}, {p.high}]; got {shown(value)} for {name!r}.")
    if p.step is None:
        return float(inside)
    nearest = type(p.low)(_value(p, np.array(round((inside - p.low) / p.step))))
    if abs(inside - nearest) > (0 if isinstance(p, Int) else _TOLERANCE * max(abs(inside), p.step)):
        values = f"{p.low} + i * {p.step}"
        raise InvalidInput(f"a value must be on {values}; got {shown(value)} for {name!r}, the nearest is {nearest}.")
    return nearest
