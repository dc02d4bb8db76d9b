"""The protocol of a parameter, whatever its kind.

A kind of parameter is a class with these attributes and methods, in a file of its own. A
:class:`~believer.space.space.Space` takes any kind; one that can be read back from a config is listed in
``believer.space.parameters.KINDS``, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from believer.arrays import Array

MAX_GRID = 100_000
"""A grid with more values is a continuous column of the region; ``Space.decode`` rounds to the grid."""

MAX_COLUMNS = 5000
"""A choice has a column for each of its values, and models have matrices of (columns, columns)."""


@runtime_checkable
class Parameter(Protocol):
    """A named value of a point, encoded as columns of the unit cube."""

    @property
    def width(self) -> int:
        """Number of encoded columns."""

    @property
    def count(self) -> int | None:
        """The number k of values; None if continuous."""

    @property
    def ordered(self) -> bool:
        """Whether the values lie on a scale, in one column: neighbors are nearer to each other than to other values."""

    @property
    def rounded(self) -> bool:
        """Whether it is searched as if it were continuous, and points are rounded afterwards.

        This is for parameters that are not continuous but have too many values to list; ``encode(decode(U))`` rounds.
        """

    @property
    def slack(self) -> float:
        """The largest error of an encoded value by rounding, on any processor."""

    def check(self, value: Any, name: str) -> Any:
        """``value`` in its canonical form, plain Python data; InvalidInput, with the ``name``, for any other."""

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Encoded rows (n, width), in the unit cube, of n ``values``, checked on the way as values of ``name``."""

    def decode(self, U: Array) -> list[Any]:
        """The n values nearest to encoded rows ``U`` (n, width)."""

    def grid(self) -> Array:
        """Encoded rows (k, width) of all values in order; only the two ends of the box if they are not listed."""

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data: the arguments that make an equal parameter."""


@runtime_checkable
class Described(Protocol):
    """A parameter whose values may have descriptors."""

    def descriptor_shares(self, lengthscales: Array) -> dict[str, float] | None:
        """The shares of descriptors, by name, and of "identity" under ``lengthscales`` (width,); None without
        descriptors."""


@runtime_checkable
class Measurable(Parameter, Protocol):
    """A parameter that can also encode measured values off its steps or outside of its bounds."""

    def measured(self, value: Any, name: str) -> Any:
        """A measured ``value`` in its canonical form; InvalidInput, with the ``name``, if it cannot be encoded."""

    def located(self, value: Any) -> float:
        """The position of a measured value in the only column; outside of the bounds it is below 0 or above 1."""


def backfill_of(parameter: Parameter) -> Any:
    """The value that trials had before the parameter was added to their study; ``...`` if none was given."""
    return getattr(parameter, "backfill", ...)


def scales_of(parameter: Parameter) -> tuple[int, ...]:
    """The number of each column's lengthscale, from 0: all columns share one unless the parameter says otherwise."""
    scales: tuple[int, ...] = getattr(parameter, "scales", (0,) * parameter.width)
    return scales


def keep_backfill(parameter: Parameter) -> None:
    """Check the ``backfill`` of a frozen parameter: one of its values, or ``...`` for none."""
    if (value := backfill_of(parameter)) is not ...:
        object.__setattr__(parameter, "backfill", parameter.check(value, "backfill"))


@runtime_checkable
class Number(Parameter, Protocol):
    """A parameter that is a number between two bounds; ``low`` is an int if all values are whole."""

    @property
    def low(self) -> float:
        """The least value."""

    @property
    def high(self) -> float:
        """The greatest value or an upper bound of it."""

    @property
    def log(self) -> bool:
        """Whether the scale is logarithmic."""

    @property
    def step(self) -> float | None:
        """The distance from one value to the next; None if it is continuous."""
