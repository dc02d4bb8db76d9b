"""A parameter as an axis of a figure, whatever its kind.

The kinds of parameters are not used here: an axis is made by encoding and decoding values, which every parameter can
do. A parameter whose values are numbers on a scale is an axis of numbers; any other one is a list of choices, at the
positions 0, 1, 2, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array, is_number, read_only
from believer.capabilities import has
from believer.space import Space
from believer.space.parameter import Number, Parameter
from believer.study.trials import same_value

MAX_VALUES = 101
"""The largest number of values along an axis of numbers; a longer grid is thinned out."""

MAX_CHOICES = 60
"""The largest number of choices along an axis; of more, evaluated ones come first."""

MAX_TICKS = 8
"""The largest number of numbers along an axis that all have a tick."""

_ROOM = 12.0
"""The number of ticks for which an axis has room."""

_DRAWS = 4000
"""The number of encoded rows in which values are sought if a continuous parameter has several columns."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """A parameter as an axis.

    Attributes
    ----------
    name : the name of the parameter.
    units : the units of its values; "" for none.
    is_number : whether positions are values; otherwise they are indices of ``choices``.
    is_log : whether the scale is logarithmic.
    is_discrete : whether there are no values between two positions, as with choices, whole numbers and steps.
    is_whole : whether all values are whole numbers.
    start, stop : its encoded columns, ``X[:, start:stop]``.
    values : the k values along the axis, in the user's terms.
    at : their positions (k,), increasing.
    rows : their encoded rows (k, stop - start).
    low, high : the ends of the axis.
    choices : the values as texts, if they are not numbers; otherwise empty.
    """

    name: str
    units: str
    is_number: bool
    is_log: bool
    is_discrete: bool
    is_whole: bool
    start: int
    stop: int
    values: tuple[Any, ...]
    at: Array
    rows: Array
    low: float
    high: float
    choices: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name, with its units."""
        return f"{self.name} ({self.units})" if self.units else self.name

    @property
    def is_constant(self) -> bool:
        """Whether the parameter has a single value."""
        return len(self.values) == 1

    @property
    def edges(self) -> Array:
        """Borders (k + 1,) between the cells around the positions; the axis ends where the outer cells do."""
        if self.is_constant or not self.is_number:
            return np.concatenate([self.at - 0.5, self.at[-1:] + 0.5])
        at = np.log(self.at) if self.is_log else self.at
        middle = 0.5 * (at[1:] + at[:-1])
        ends = (2.0 * at[0] - middle[0], 2.0 * at[-1] - middle[-1]) if self.is_discrete else (at[0], at[-1])
        edges = np.concatenate([ends[:1], middle, ends[1:]])
        return np.exp(edges) if self.is_log else edges

    @property
    def ticks(self) -> Array | None:
        """The positions of all values if they are a few numbers with room between them; None otherwise."""
        if not self.is_number or not self.is_discrete or self.is_log or not 1 < len(self.at) <= MAX_TICKS:
            return None
        return self.at if np.diff(self.at).min() * _ROOM >= np.ptp(self.at) else None

    def position(self, value: Any) -> float:
        """The position of a value on the axis; NaN if it is not on the axis."""
        if self.is_number:
            return float(value) if is_number(value) else np.nan
        return next((float(i) for i, choice in enumerate(self.values) if same_value(choice, value)), np.nan)

    def positions(self, points: Iterable[dict[str, Any]]) -> Array:
        """Positions (n,) of n points in the user's terms; NaN for those without this parameter."""
        return np.array([self.position(params[self.name]) if self.name in params else np.nan for params in points])

    def share(self, positions: Array) -> Array:
        """Positions (n,) as shares of the axis, from 0 at its beginning to 1 at its end."""
        ends = np.array([self.low, self.high])
        if self.is_constant:
            return np.where(np.isnan(positions), np.nan, 0.5)
        low, high = np.log(ends) if self.is_log else ends
        share: Array = ((np.log(positions) if self.is_log else positions) - low) / (high - low)
        return share


def axes_of(space: Space, points: Sequence[dict[str, Any]] = (), most: int = MAX_VALUES) -> tuple[Axis, ...]:
    """The parameters of a space as axes, in its order.

    Of many choices, those of the evaluated ``points`` are shown first. An axis of numbers has at most ``most`` values.
    """
    axes, start = [], 0
    for name, parameter in space.parameters.items():
        if parameter.width:
            seen = [params[name] for params in points if name in params]
            axes.append(_axis(name, parameter, start, seen, most))
        start += parameter.width
    return tuple(axes)


def _axis(name: str, parameter: Parameter, start: int, seen: list[Any], most: int) -> Axis:
    values = _values(parameter, seen, most)
    on_scale = all(map(is_number, values)) and (parameter.ordered or parameter.count is None)
    if on_scale:
        values = _distinct(sorted(values))
        at = np.array(values, dtype=np.float64)
    else:
        at = np.arange(len(values), dtype=np.float64)
    is_log = on_scale and len(values) > 1 and has(parameter, Number) and parameter.log
    return Axis(
        name,
        str(getattr(parameter, "units", None) or ""),
        on_scale,
        is_log,
        not on_scale or (parameter.count is not None and parameter.count <= most),
        on_scale and all(isinstance(value, int) for value in values),
        start,
        start + parameter.width,
        tuple(values),
        read_only(at),
        read_only(parameter.encode(values, name)),
        float(at[0]) if on_scale else -0.5,
        float(at[-1]) if on_scale else len(values) - 0.5,
        () if on_scale else tuple(map(str, values)),
    )


def _values(parameter: Parameter, seen: list[Any], most: int) -> list[Any]:
    """The values along an axis: all of a short list, otherwise evenly spread ones."""
    count, grid = parameter.count, parameter.grid()
    if count is not None and not parameter.ordered:
        if len(grid) <= MAX_CHOICES:
            return parameter.decode(grid)
        spread = parameter.decode(grid[np.linspace(0, len(grid) - 1, MAX_CHOICES).round().astype(int)])
        return _distinct([*seen, *spread])[:MAX_CHOICES]
    if count is not None and len(grid) == count:
        return parameter.decode(grid[np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))])
    if parameter.width == 1:
        ends = grid.min(), grid.max()
        return _distinct(parameter.decode(np.linspace(*ends, most)[:, None]))
    # Several columns without a list of values: the values to which their box decodes, thinned out.
    U = grid.min(axis=0) + np.random.default_rng(0).random((_DRAWS, parameter.width)) * np.ptp(grid, axis=0)
    found = parameter.decode(U)
    if not all(map(is_number, found)):
        return _distinct([*seen, *found])[:MAX_CHOICES]
    return [sorted(found)[i] for i in np.linspace(0, _DRAWS - 1, most).round().astype(int)]


def _distinct(values: Iterable[Any]) -> list[Any]:
    """The values without repeats, in the same order; 1 and True are different values."""
    return list({(type(value), value): value for value in values}.values())
