"""A choice, encoded as one-hot columns, one for each of its values. Columns for its descriptors, if it has any, come
before them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from believer.arrays import Array, read_only, shown
from believer.errors import InvalidInput
from believer.space import described
from believer.space.box import Block
from believer.space.parameter import MAX_COLUMNS, keep_backfill
from believer.space.scale import plain
from believer.space.units import call_of, keep_units
from believer.space.when import keep_when

Category: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True, init=False)
class Categorical:
    """One of several choices without an order; 1, 1.0 and True are three different choices.

    Parameters
    ----------
    choices : a list or tuple of at least one str, int, float, bool or None; or a dict of each with its descriptors,
        ``{"DMF": [36.7, 3.82], "water": [78.4, 1.85]}`` or ``{"DMF": {"dielectric": 36.7, "dipole": 3.82}, ...}``; or
        a data frame of pandas whose index has the choices, and its columns the descriptors.
    descriptors : numbers that say how alike choices are, as a list for all choices by name:
        ``{"dielectric": [36.7, 78.4], "dipole": [3.82, 1.85]}``. The model learns how much each of them counts, and how
        much the identity of a choice does beside them; see ``Optimizer.descriptor_shares``.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.

    Attributes
    ----------
    described_by : the names of the descriptors that tell choices apart, one for each of the first encoded columns.
    """

    choices: Sequence[Category] = field(compare=False, hash=True)
    descriptors: described.Descriptors
    backfill: Category | EllipsisType = field(repr=False, compare=False)
    units: str = field(repr=False, compare=False)
    when: Mapping[str, Any] | None = field(repr=False, hash=False)
    described_by: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _index: dict[tuple[type, Category], int] = field(init=False, repr=False, hash=False)
    _rows: Block | None = field(init=False, repr=False, compare=False)
    """The encoded rows (k, p + k) of all choices; None without descriptors."""
    ordered: ClassVar[bool] = False
    rounded: ClassVar[bool] = False
    slack: ClassVar[float] = 1e-9  # zero and one are exact

    def __init__(
        self,
        choices: Sequence[Category] | Mapping[Any, Any],
        *,
        descriptors: Mapping[str, Sequence[float]] | Iterable[tuple[str, Sequence[float]]] | None = None,
        backfill: Category | EllipsisType = ...,
        units: str = "",
        when: Mapping[str, Any] | None = None,
    ) -> None:
        given: Any = choices
        if isinstance(given, Mapping):
            if descriptors is not None:
                raise InvalidInput("descriptors must be in the dict of choices or in descriptors=, not in both.")
            given, descriptors = described.split(given)
        elif described.is_frame(given) and descriptors is None:
            given, descriptors = described.of_frame(given)
        kept, index = _checked(given)
        if described.is_frame(descriptors):
            _, descriptors = described.of_frame(descriptors, kept)
        object.__setattr__(self, "choices", kept)
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "descriptors", described.checked(descriptors, kept))
        names, scaled = described.scaled(self.descriptors)
        object.__setattr__(self, "described_by", names)
        rows = np.hstack([scaled, np.eye(len(kept))]) if names else None
        object.__setattr__(self, "_rows", None if rows is None else Block(0, rows.shape[1], read_only(rows), False))
        object.__setattr__(self, "backfill", backfill)
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "when", when)
        keep_backfill(self)
        keep_units(self)
        keep_when(self)

    def __repr__(self) -> str:
        if self.descriptors:
            return call_of(self)
        return call_of(self).replace(", descriptors=()", "", 1)

    @property
    def width(self) -> int:
        """One column for each descriptor that tells choices apart, and one for each choice."""
        return len(self.described_by) + len(self.choices)

    @property
    def scales(self) -> tuple[int, ...]:
        """The number, from 0, of each column's lengthscale: one for each descriptor, and one for all columns of the
        identity."""
        p = len(self.described_by)
        return (*range(p), *[p] * len(self.choices))

    @property
    def count(self) -> int:
        """Number of choices k."""
        return len(self.choices)

    def descriptor_shares(self, lengthscales: Array) -> dict[str, float] | None:
        """The shares of each descriptor and of the identity under ``lengthscales`` (p + k,); None without descriptors.

        See :func:`~believer.space.described.counted`.
        """
        if self._rows is None:
            return None
        p = len(self.described_by)
        return described.counted(self.described_by, self._rows.values[:, :p], lengthscales)

    def check(self, value: Any, name: str) -> Category:
        """The choice that equals ``value``; InvalidInput, with the ``name``, if there is none."""
        return self.choices[self.place(value, name)]

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Scaled descriptors and one-hot rows (n, p + k) of ``values`` of ``name``."""
        places = [self.place(value, name) for value in values]
        if self._rows is not None:
            return self._rows.values[places]
        rows = np.zeros((len(values), len(self.choices)))
        rows[range(len(values)), places] = 1.0
        return rows

    def decode(self, U: Array) -> list[Category]:
        """The choices whose encoded rows are nearest to ``U`` (n, p + k)."""
        if self._rows is None:
            places = U.argmax(axis=1)
        else:  # a region has points within the box of the rows
            places = self._rows.nearest(np.minimum(U, self._rows.values.max(axis=0)))
        return [self.choices[i] for i in places]

    def grid(self) -> Array:
        """Scaled descriptors and the rows of the identity matrix, (k, p + k)."""
        return np.eye(len(self.choices)) if self._rows is None else self._rows.values

    def to_config(self) -> dict[str, Any]:
        """The choices, and descriptors if there are any."""
        kept = {name: list(values) for name, values in self.descriptors}
        return {"choices": list(self.choices), **({"descriptors": kept} if kept else {})}

    def place(self, value: Any, name: str) -> int:
        """The position of ``value`` among the choices, from 0; InvalidInput, with the ``name``, if it is not one of
        them."""
        try:
            return self._index[type(value), value]
        except (KeyError, TypeError):
            known = plain(value)
            if type(known) is not type(value):
                return self.place(known, name)
            raise InvalidInput(
                f"a value must be one of {list(self.choices)}; got {shown(value)} for {name!r}."
            ) from None


def _checked(given: Any) -> tuple[tuple[Category, ...], dict[tuple[type, Category], int]]:
    """The choices as plain Python values, and the position of each."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
        raise InvalidInput(f"choices must be a list or tuple of at least one value; got {shown(given)}.")
    if len(given) > MAX_COLUMNS:
        raise InvalidInput(f"choices must be {MAX_COLUMNS:,} at most; got {len(given):,}. Use Int for a long table.")
    choices = tuple(plain(choice) for choice in given)
    index: dict[tuple[type, Category], int] = {}
    for i, choice in enumerate(choices):
        if type(choice) not in (str, int, float, bool, type(None)) or (
            isinstance(choice, float) and not math.isfinite(choice)
        ):
            raise InvalidInput(f"a choice must be a str, int, finite float, bool or None; got {shown(choice)}.")
        if index.setdefault((type(choice), choice), i) != i:
            raise InvalidInput(f"choices must differ from each other; got {choice!r} twice. Remove one.")
    return choices, index
