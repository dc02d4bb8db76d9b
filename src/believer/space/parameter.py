"""The protocol of a parameter, whatever its kind.

A kind is a class with these attributes and methods, in a file of its own. A :class:`~believer.space.space.Space` takes
any; to be read back from a config a kind has to be listed in ``believer.space.parameters.KINDS``, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from believer.arrays import Array

MAX_GRID = 100_000
"""A grid with more values is a continuous column of the region; ``Space.decode`` still lands on the grid."""

MAX_COLUMNS = 5000
"""A choice has a column for each of its values, and models have matrices of (columns, columns)."""


@runtime_checkable
class Parameter(Protocol):
    """A named value of a point, and the columns of the unit cube that stand for it."""

    @property
    def width(self) -> int:
        """Number of encoded columns."""

    @property
    def count(self) -> int | None:
        """Number of values k; None when continuous."""

    @property
    def ordered(self) -> bool:
        """Whether the values lie on a scale, one column wide: neighbors are nearer to each other than to others."""

    @property
    def rounded(self) -> bool:
        """Whether it is searched as if all of its columns' box were values, and points are rounded afterwards.

        ``encode(decode(U))`` rounds. For what is not continuous in the box, and has too many values for a list.
        """

    @property
    def slack(self) -> float:
        """How far rounding, on whatever processor, may move an encoded value."""

    def check(self, value: Any, name: str) -> Any:
        """``value`` in its canonical form, plain Python data; InvalidInput, with the ``name``, for any other."""

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Encoded rows (n, width), in the unit cube, of n ``values``, checked on the way as values of ``name``."""

    def decode(self, U: Array) -> list[Any]:
        """The n values nearest to encoded rows ``U`` (n, width)."""

    def grid(self) -> Array:
        """Encoded rows (k, width) of all values in order; the two ends of the box where they are not listed."""

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data: the arguments that make an equal parameter."""


@runtime_checkable
class Described(Protocol):
    """A parameter whose values may have descriptors."""

    def descriptor_shares(self, lengthscales: Array) -> dict[str, float] | None:
        """Shares of descriptors, by name, and of "identity" under ``lengthscales`` (width,); None without any."""


@runtime_checkable
class Measurable(Parameter, Protocol):
    """A parameter that also has a place for values that are not suggested: off its steps, outside of its bounds."""

    def measured(self, value: Any, name: str) -> Any:
        """``value`` in its canonical form, as it was measured; InvalidInput, with the ``name``, if it has no place."""

    def located(self, value: Any) -> float:
        """The position of a measured value in its only column: below 0 or above 1 outside of its bounds."""


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
    """A parameter that is a number between two bounds; ``low`` is an int where all values are whole."""

    @property
    def low(self) -> float:
        """The least value."""

    @property
    def high(self) -> float:
        """No value is above it."""

    @property
    def log(self) -> bool:
        """Whether it is spread over magnitudes."""

    @property
    def step(self) -> float | None:
        """The distance from one value to the next; None if it is continuous."""
