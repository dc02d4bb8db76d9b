"""The search space: named parameters, and their encoding into the unit cube.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, BoolArray, IntArray, as_points, frozen
from believer.errors import InvalidInput
from believer.region import Block, Region

MAX_GRID = 10_000
"""A grid with more values is a continuous column of the region; ``Space.decode`` still lands on the grid."""

_TOLERANCE = 1e-9
_WIDEST_INT = 2**40
_LARGEST = float(np.finfo(np.float64).max)

Choice: TypeAlias = str | int | float | bool | None
Constraint: TypeAlias = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Float:
    """A real number in [low, high], or with ``step`` one of low, low + step, ...; ``log`` spreads it over magnitudes.

    A grid of more than ``MAX_GRID`` values is searched as if continuous, and rounded by ``Space.decode``.
    """

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)

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


@dataclass(frozen=True, slots=True)
class Int:
    """One of the whole numbers low, low + step, ... <= high; ``log`` spreads it over magnitudes.

    A range of more than ``MAX_GRID`` values is searched as if continuous, and rounded by ``Space.decode``.
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
        _check_scale(self)


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of ``choices``, none nearer to any other; 1, 1.0 and True are three different choices."""

    choices: Sequence[Choice] = field(compare=False, hash=True)
    _index: dict[tuple[type, Choice], int] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        """Check the rules, keep a tuple of plain Python values."""
        given = self.choices
        if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise InvalidInput(f"choices must be a list or tuple of at least one value; got {given!r}.")
        choices = tuple(_plain(choice) for choice in given)
        index: dict[tuple[type, Choice], int] = {}
        for i, choice in enumerate(choices):
            if type(choice) not in (str, int, float, bool, type(None)) or (
                isinstance(choice, float) and not math.isfinite(choice)
            ):
                raise InvalidInput(f"a choice must be a str, int, finite float, bool or None; got {choice!r}.")
            if index.setdefault((type(choice), choice), i) != i:
                raise InvalidInput(f"choices must differ from each other, drop one; got twice {choice!r}.")
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "_index", index)


Parameter: TypeAlias = Float | Int | Categorical
_KINDS: dict[str, type[Parameter]] = {"Float": Float, "Int": Int, "Categorical": Categorical}
_NUMBER = {Float: "a finite number", Int: "a whole number"}


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Space:
    """Named parameters in a fixed order; an optional ``constraint(params) -> bool`` says which points are allowed."""

    _items: tuple[tuple[str, Parameter], ...]
    constraint: Constraint | None

    def __init__(self, parameters: Mapping[str, Parameter], constraint: Constraint | None = None) -> None:
        """Check the names; the parameters have checked themselves."""
        if not isinstance(parameters, Mapping) or len(parameters) == 0:
            raise InvalidInput(f"a space needs a mapping of at least one name to a parameter; got {parameters!r}.")
        for name, parameter in parameters.items():
            if not isinstance(name, str) or not name:
                raise InvalidInput(f"a parameter's name must be a non-empty str; got {name!r}.")
            if not isinstance(parameter, Parameter):
                raise InvalidInput(f"a parameter must be a Float, Int or Categorical; got {parameter!r} for {name!r}.")
        if constraint is not None and not callable(constraint):
            raise InvalidInput(f"constraint must be a function of the params or None; got {constraint!r}.")
        object.__setattr__(self, "_items", tuple(parameters.items()))
        object.__setattr__(self, "constraint", constraint)

    def __repr__(self) -> str:
        """The call that makes this space."""
        return f"Space({dict(self._items)!r}{'' if self.constraint is None else f', {self.constraint!r}'})"

    def __len__(self) -> int:
        """Number of parameters."""
        return len(self._items)

    @staticmethod
    def unit(d: int) -> Space:
        """The cube itself: x0, ..., x{d-1}, each ``Float(0, 1)``."""
        return Space({f"x{j}": Float(0.0, 1.0) for j in range(d)})

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Name to parameter, in order, read-only."""
        return MappingProxyType(dict(self._items))

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(name for name, _ in self._items)

    @property
    def dim(self) -> int:
        """Number of encoded columns d."""
        return sum(_width(parameter) for _, parameter in self._items)

    @property
    def size(self) -> int | None:
        """How many points there are, allowed or not; None when a parameter is continuous."""
        counts = [_count(parameter) for _, parameter in self._items]
        return None if None in counts else math.prod(count for count in counts if count is not None)

    def check(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """One full assignment as plain Python values in the space's order; InvalidInput says what is wrong.

        A Float at most 1e-9 (relative) outside its bounds, or off its grid, moves onto them.
        """
        given = self.check_fixed(params)
        missing = [name for name in self.names if name not in given]
        if missing:
            raise InvalidInput(f"params must give every parameter a value; missing: {', '.join(missing)}.")
        return given

    def check_fixed(self, fixed: Mapping[str, Any]) -> dict[str, Any]:
        """A partial assignment, checked as by ``check``."""
        if not isinstance(fixed, Mapping):
            raise InvalidInput(f"params must be a mapping of names to values; got {fixed!r}.")
        unknown = [name for name in fixed if name not in self.names]
        if unknown:
            raise InvalidInput(f"params must name parameters among {', '.join(self.names)}; got {unknown[0]!r}.")
        return {name: _check_value(p, fixed[name], name) for name, p in self._items if name in fixed}

    def allows(self, params: Mapping[str, Any]) -> bool:
        """Does the constraint hold at ``params`` (assumed checked)?"""
        if self.constraint is None:
            return True
        try:
            verdict = self.constraint(dict(params))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise InvalidInput(f"constraint must work at every point; it raised {what} at {dict(params)}.") from error
        if not isinstance(verdict, bool | np.bool_):
            raise InvalidInput(f"constraint must return True or False; it returned {verdict!r} at {dict(params)}.")
        return bool(verdict)

    def encode(self, points: Iterable[Mapping[str, Any]]) -> Array:
        """Points of the unit cube (n, dim) for n assignments, which are checked on the way."""
        rows = list(points)
        names = dict(self._items).keys()
        for row in rows:
            if not isinstance(row, dict) or row.keys() != names:
                self.check(row)
        return np.hstack([_encode(p, [row[name] for row in rows], name) for name, p in self._items])

    def decode(self, X: npt.ArrayLike) -> list[dict[str, Any]]:
        """The assignment nearest to each row of ``X`` (n, dim), always within bounds and on the grids.

        decode(encode([p])) is [p]: exactly for discrete values, to 1e-12 of the value or of the range for a Float.
        """
        U = np.clip(as_points(X, self.dim), 0.0, 1.0)
        columns = [_decode(p, U[:, start:stop]) for _, p, start, stop in self._layout()]
        names = self.names
        return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]

    def region(self, fixed: Mapping[str, Any] | None = None) -> Region:
        """The encoded cube as plain data, with the parameters in ``fixed`` held at their values."""
        values = self.check_fixed(fixed or {})
        lower, upper, blocks = np.zeros(self.dim), np.ones(self.dim), []
        for name, p, start, stop in self._layout():
            rows = _encode(p, [values[name]], name) if name in values else _grid(p)
            lower[start:stop], upper[start:stop] = rows.min(axis=0), rows.max(axis=0)
            k = _count(p)
            if isinstance(p, Categorical) or (k is not None and k <= MAX_GRID):
                blocks.append(Block(start, stop, frozen(rows), ordered=not isinstance(p, Categorical)))
        feasible = None if self.constraint is None else self._feasible
        return Region(frozen(lower), frozen(upper), tuple(blocks), feasible)

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data from which ``from_config`` makes an equal space; a constraint is only mentioned."""
        parameters = []
        for name, p in self._items:
            if isinstance(p, Categorical):
                settings: dict[str, Any] = {"choices": list(p.choices)}
            else:
                settings = {"low": p.low, "high": p.high, "log": p.log, "step": p.step}
            parameters.append({"name": name, "kind": type(p).__name__, **settings})
        return {"parameters": parameters, "constrained": self.constraint is not None}

    @staticmethod
    def from_config(config: Mapping[str, Any], constraint: Constraint | None = None) -> Space:
        """The space of ``to_config``; a function is no JSON, so one that had a constraint needs it again."""
        try:
            parameters = {entry["name"]: _from_entry(**entry) for entry in config["parameters"]}
            forgotten = config["constrained"] and constraint is None
        except (KeyError, TypeError) as error:
            raise InvalidInput(f"config must be what Space.to_config returned; got {config!r}.") from error
        if forgotten:
            raise InvalidInput("this space had a constraint, which a config cannot hold; pass it as constraint=.")
        return Space(parameters, constraint)

    def _layout(self) -> Iterator[tuple[str, Parameter, int, int]]:
        start = 0
        for name, parameter in self._items:
            stop = start + _width(parameter)
            yield name, parameter, start, stop
            start = stop

    def _feasible(self, X: Array) -> BoolArray:
        return np.array([self.allows(params) for params in self.decode(X)], dtype=bool)


def _real(value: Any) -> float | None:
    """``value`` as a plain finite float; None for anything else, bool included."""
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _LARGEST:
        return None
    return float(number)


def _whole(value: Any) -> int | None:
    number = _real(value)
    return int(value) if number is not None and number.is_integer() else None


def _from_entry(name: str, kind: str, **settings: Any) -> Parameter:
    """A parameter from its part of a config; its errors name it."""
    try:
        return _KINDS[kind](**settings)
    except InvalidInput as error:
        raise InvalidInput(f"{str(error).removesuffix('.')} for {name!r}.") from error


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _keep_numbers(p: Float | Int, names: tuple[str, ...]) -> None:
    """Replace the named fields by plain Python numbers of the parameter's kind."""
    for name in names:
        value = getattr(p, name)
        number = _whole(value) if isinstance(p, Int) else _real(value)
        if number is None:
            raise InvalidInput(f"{name} must be {_NUMBER[type(p)]}; got {name}={value!r}.")
        object.__setattr__(p, name, number)


def _check_scale(p: Float | Int) -> None:
    """The rules of ``log`` and ``step`` that Float and Int share."""
    if not isinstance(p.log, bool):
        raise InvalidInput(f"log must be True or False; got log={p.log!r}.")
    if p.log and p.low <= 0:
        raise InvalidInput(f"log needs low > 0; got low={p.low}.")
    if p.step is not None and p.step <= 0:
        raise InvalidInput(f"step must be positive; got step={p.step}.")


def _width(p: Parameter) -> int:
    return len(p.choices) if isinstance(p, Categorical) else 1


def _count(p: Parameter) -> int | None:
    """Number of values k; None when continuous."""
    if isinstance(p, Categorical):
        return len(p.choices)
    if isinstance(p, Int):
        return (p.high - p.low) // p.step + 1
    # A millionth of a step absorbs the rounding of (high - low) / step, as in (0.3 - 0.1) / 0.1.
    return None if p.step is None else math.floor((p.high - p.low) / p.step + 1e-6) + 1


def _value(p: Float | Int, i: IntArray) -> Array:
    """Grid values low + i * step as floats, i cut to 0, ..., k - 1."""
    step = float(p.step or 1)
    values: Array = p.low + np.clip(i, 0, (_count(p) or 1) - 1) * np.float64(step)
    # 0 + 3 * 0.1 should be the 0.3 that a user writes, so sums of short decimals are rounded to their digits.
    digits = max(-int(Decimal(repr(float(x))).as_tuple().exponent) for x in (p.low, step))
    if 0 < digits <= 22 and max(abs(p.low), abs(p.high)) * 10.0**digits < 2**53:
        values = np.round(values, digits).astype(np.float64)
    return np.minimum(values, p.high)


def _scale(p: Float | Int, values: Array) -> Array:
    """Positions U of ``values``."""
    if p.low == p.high:
        return np.zeros(len(values))
    low, high = float(p.low), float(p.high)
    if p.log:
        low, high, values = float(np.log(low)), float(np.log(high)), np.log(values)
    # Scalar and vector logarithms may differ in the last bit, which must not leave the cube.
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _unscale(p: Float | Int, U: Array) -> Array:
    """Values at positions ``U``, before rounding to the grid; the ends are exact."""
    with np.errstate(over="ignore"):
        if p.log:
            low, high = float(np.log(p.low)), float(np.log(p.high))
            values = np.exp(low + U * (high - low))
        else:
            values = p.low + U * (p.high - p.low)
    values = np.clip(values, p.low, p.high)
    return np.where(U <= 0.0, p.low, np.where(U >= 1.0, p.high, values))


def _nearest(p: Float | Int, U: Array) -> Array:
    """Grid values whose positions are nearest to ``U``; a tie goes to the lower one, as in ``Block.nearest``."""
    i = np.floor((_unscale(p, U) - p.low) / (p.step or 1)).astype(np.int64)
    below, above = _value(p, i), _value(p, i + 1)
    return np.where(U - _scale(p, below) <= _scale(p, above) - U, below, above)


def _grid(p: Parameter) -> Array:
    """Encoded rows of the values (k, width); only the two ends where the region has a continuous column."""
    if isinstance(p, Categorical):
        return np.eye(len(p.choices))
    k = _count(p)
    if k is None:
        return np.array([[0.0], [1.0]])
    return _scale(p, _value(p, np.arange(k) if k <= MAX_GRID else np.array([0, k - 1])))[:, None]


def _encode(p: Parameter, values: list[Any], name: str) -> Array:
    """Encoded columns (n, width) of one parameter's values."""
    if isinstance(p, Categorical):
        return np.eye(len(p.choices))[[_choice(p, value, name) for value in values]]
    exact = int if isinstance(p, Int) else float
    if all(type(value) is exact and p.low <= value <= p.high for value in values):
        numbers = np.array(values, dtype=np.float64)
        if p.step is None or (_value(p, np.rint((numbers - p.low) / p.step).astype(np.int64)) == numbers).all():
            return _scale(p, numbers)[:, None]
    return _scale(p, np.array([_check_value(p, value, name) for value in values], dtype=np.float64))[:, None]


def _decode(p: Parameter, U: Array) -> list[Any]:
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
        raise InvalidInput(f"a value must be one of {list(p.choices)}; got {value!r} for {name!r}.") from None


def _check_value(p: Parameter, value: Any, name: str) -> Any:
    """``value`` in its canonical form: a float, an int, or the choice itself."""
    if isinstance(p, Categorical):
        return p.choices[_choice(p, value, name)]
    number = _whole(value) if isinstance(p, Int) else _real(value)
    if number is None:
        raise InvalidInput(f"a value must be {_NUMBER[type(p)]}; got {value!r} for {name!r}.")
    inside = min(max(number, p.low), p.high)
    slack = _TOLERANCE * (abs(inside) if p.log else max(abs(p.low), abs(p.high)))
    if number != inside and (isinstance(p, Int) or abs(number - inside) > slack):
        raise InvalidInput(f"a value must lie in [{p.low}, {p.high}]; got {value!r} for {name!r}.")
    if p.step is None:
        return float(inside)
    nearest = type(p.low)(_value(p, np.array(round((inside - p.low) / p.step))))
    if abs(inside - nearest) > (0 if isinstance(p, Int) else _TOLERANCE * max(abs(inside), p.step)):
        grid = f"{p.low} + i * {p.step}"
        raise InvalidInput(f"a value must be on {grid}; got {value!r} for {name!r}, the nearest is {nearest}.")
    return nearest
