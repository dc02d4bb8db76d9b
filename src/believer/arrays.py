"""Array aliases, the shape vocabulary, and the input checks that every room uses.

=======  ==========================================================
symbol   meaning
=======  ==========================================================
n        number of observations
m        number of points at which something is evaluated
d        number of columns of the encoded unit cube (``space.dim``)
q        number of points in a batch
s        number of starts that are advanced together
=======  ==========================================================
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from believer.errors import InvalidInput

__all__ = [
    "LARGEST",
    "MAX_SEED",
    "SAME_POINT",
    "Array",
    "BoolArray",
    "IntArray",
    "above_zero",
    "as_points",
    "as_values",
    "checked_seed",
    "finite",
    "frozen",
    "is_number",
    "near_any",
    "nearest",
    "packed",
    "read_only",
    "shares",
    "shown",
    "suggested",
    "whole",
]

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

LARGEST = 1e100
"""The largest absolute value of y, and of settings in its units: the squares must be finite, too."""

MAX_SEED = 2**1024 - 1
"""The largest seed."""

_SHOWN, _LISTED = 200, 32

SAME_POINT = 1e-6
"""Two encoded points closer than this in every coordinate are the same experiment."""

_MANY, _AT_ONCE = 4096, 1 << 20
"""If there are more than ``_MANY`` points to compare with, they are compared column by column, ``_AT_ONCE`` pairs at
once."""


def frozen(a: npt.ArrayLike) -> Array:
    """A read-only float64 array with the values of ``a`` (a copy only if ``a`` is writable or of another type)."""
    out = np.asarray(a, dtype=np.float64)
    if out.flags.writeable:
        out = out.copy()
        out.flags.writeable = False
    return out


def read_only(a: Array) -> Array:
    """Make ``a`` itself read-only and return it: for an array that was just made and that nothing else writes to."""
    a.flags.writeable = False
    return a


@lru_cache(256)
def no_rows(d: int) -> Array:
    """A read-only table (0, d)."""
    return read_only(np.zeros((0, d)))


packed: Callable[[Array], Array] = partial(np.ascontiguousarray, dtype=np.float64)
"""The array as compiled code reads it: float64, row after row in memory (a copy only if it is not so already)."""


def as_points(X: Any, dim: int | None = None, name: str = "X") -> Array:
    """Return ``X`` as a finite (n, d) float array; raise InvalidInput if it is not one."""
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a table of numbers; got {type(X).__name__}.") from error
    if points.ndim != 2:
        raise InvalidInput(f"{name} must have two axes, (points, coordinates); got shape {points.shape}.")
    if dim is not None and points.shape[1] != dim:
        raise InvalidInput(f"{name} must have {dim} columns; got {points.shape[1]}.")
    if not np.isfinite(points).all():
        raise InvalidInput(f"{name} must be finite; row {int(np.argwhere(~np.isfinite(points))[0, 0])} is not.")
    return points


def as_values(y: Any, n: int | None = None, name: str = "y") -> Array:
    """Return ``y`` as a finite (n,) float array; raise InvalidInput if it is not one."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must be a list of numbers; got {type(y).__name__}.") from error
    if values.ndim != 1:
        raise InvalidInput(f"{name} must have one axis; got shape {values.shape}.")
    if n is not None and len(values) != n:
        raise InvalidInput(f"{name} must have one value for each of the {n} points; got {len(values)}.")
    if not np.isfinite(values).all():
        raise InvalidInput(f"{name} must be finite; item {int(np.argwhere(~np.isfinite(values))[0, 0])} is not.")
    return values


def whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return ``value`` as an int from ``least`` to ``most``; raise InvalidInput if it is not one."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{name} must be a whole number, {least} or more; got {shown(value)}.")
    if most is not None and value > most:
        raise InvalidInput(f"{name} must be a whole number, {most:,} at most; got {shown(value)}.")
    return int(value)


def finite(value: Any, name: str, most: float | None = None) -> float:
    """Return ``value`` as a finite float with an absolute value of at most ``most``; raise InvalidInput if it is not
    one."""
    number = np.nan
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        with suppress(OverflowError):  # an int that is larger than any float
            number = float(value)
    if not math.isfinite(number):
        raise InvalidInput(f"{name} must be a finite number; got {shown(value)}.")
    if most is not None and abs(number) > most:
        raise InvalidInput(f"{name} must lie within ±{most:g}; got {shown(value)}.")
    return number


def above_zero(value: Any, name: str, least: float, most: float, what: str = "above zero") -> float:
    """Return ``value`` as a float above zero, from ``least`` to ``most``; otherwise raise InvalidInput that asks for
    ``what``."""
    number = finite(value, name)
    if number <= 0.0:
        raise InvalidInput(f"{name} must be {what}; got {shown(value)}.")
    if not least <= number <= most:
        raise InvalidInput(f"{name} must be {what}, from {least:g} to {most:g}; got {shown(value)}.")
    return number


def shares(values: Any, name: str, most: int) -> tuple[float, ...]:
    """Return ``values`` as a tuple of up to ``most`` numbers in [0, 1]; raise InvalidInput if they are not."""
    if not isinstance(values, tuple | list) or len(values) > most:
        raise InvalidInput(f"{name} must be a tuple of {most} numbers at most; got {shown(values)}.")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= value <= 1.0:
            raise InvalidInput(f"{name} must be one or more numbers in [0, 1]; got {shown(values)}.")
    return tuple(values)


def is_number(value: Any) -> bool:
    """Whether a plain value is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def checked_seed(seed: Any) -> int | None:
    """Return ``seed`` as an int from 0 to ``MAX_SEED``, or None; raise InvalidInput if it is neither."""
    return None if seed is None else whole(seed, "seed", 0, MAX_SEED)


def shown(value: Any) -> str:
    """``value`` as error messages show it: its repr, cut if it is long, or its type if it has no repr."""
    try:
        text = repr(value)
    except Exception:  # an int of too many digits, a deeply nested list; and the repr may be a user's code
        return f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown ``word``: "did you mean 'high'?", or "there are low, high."."""
    by_text = {one.casefold(): one for one in known}
    near = _near(word, by_text)
    if near:
        return f"did you mean {near!r}?"
    return f"there are {', '.join([*by_text.values()][:_LISTED])}{' and more' * (len(by_text) > _LISTED)}."


def suggested(word: Any, known: Iterable[str]) -> str:
    """The end of an error that lists the ``known`` words: " Did you mean 'high'?", or nothing if none is near."""
    near = _near(word, {one.casefold(): one for one in known}) if isinstance(word, str) else ""
    return f" Did you mean {near!r}?" if near else ""


def _near(word: str, by_text: Mapping[str, str]) -> str:
    """The known word nearest to ``word``, or "" if none is near; ``by_text`` has them by their casefolded text."""
    near = difflib.get_close_matches(word.casefold(), [*by_text], 1)
    return by_text[near[0]] if near else ""


def rounded(value: float, digits: int) -> str:
    """A number with that many significant digits, and without an exponent below a million: "140", "0.0031"."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e6 else text


def to_width(value: float, half_width: float) -> str:
    """A number with as many digits as its interval has use for: two digits of half the width of that; six digits if the
    width is zero or infinite."""
    if not math.isfinite(half_width) or half_width <= 0.0 or not math.isfinite(value):
        return f"{value:.6g}"
    decimals = 1 - math.floor(math.log10(half_width))
    size = math.floor(math.log10(max(abs(value), half_width)))
    if -5 <= size < 6 and decimals <= 12:
        return f"{value:.{max(decimals, 0)}f}"
    return f"{value:.{min(max(size + decimals + 1, 2), 17)}g}"


def near_any(X: Array, others: Array, tolerance: float | Array = SAME_POINT) -> BoolArray:
    """A mask (m,) of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d).  O(m k d).

    Two points are the same if no coordinate differs by more than ``tolerance``: one number, or one for each column
    (d,).
    """
    if len(others) == 0 or len(X) == 0:
        return np.zeros(len(X), dtype=bool)
    close = np.zeros(len(X), dtype=bool)
    if len(others) > _MANY:
        within = np.broadcast_to(tolerance, X.shape[1])
        for start in range(0, len(X), rows := max(1, _AT_ONCE // len(others))):
            # Few pairs usually agree in one column, and only these are compared in the next.
            part = X[start : start + rows]
            pairs = np.nonzero(np.abs(part[:, None, 0] - others[None, :, 0]) <= within[0])
            for column in range(1, X.shape[1]):
                near = np.abs(part[pairs[0], column] - others[pairs[1], column]) <= within[column]
                pairs = pairs[0][near], pairs[1][near]
            close[start + pairs[0]] = True
        return close
    for start in range(0, len(X), rows := max(1, _AT_ONCE // max(1, others.size))):
        same: BoolArray = np.abs(X[start : start + rows, None, :] - others[None, :, :]) <= tolerance
        close[start : start + rows] = np.any(np.all(same, axis=2), axis=1)
    return close
