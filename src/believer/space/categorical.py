"""A choice, as one-hot columns: one for each of its values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, shown
from believer.errors import InvalidInput
from believer.space.parameter import MAX_COLUMNS, keep_backfill
from believer.space.scale import plain
from believer.space.units import call_of, keep_units
from believer.space.when import keep_when

Category: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of several choices without an order; 1, 1.0 and True are three different choices.

    Parameters
    ----------
    choices : a list or tuple of at least one str, int, float, bool or None.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.
    """

    choices: Sequence[Category] = field(compare=False, hash=True)
    backfill: Category | EllipsisType = field(default=..., kw_only=True, repr=False, compare=False)
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False, hash=False)
    _index: dict[tuple[type, Category], int] = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        """Check the rules, keep a tuple of plain Python values."""
        given = self.choices
        if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise InvalidInput(f"choices must be a list or tuple of at least one value; got {shown(given)}.")
        if len(given) > MAX_COLUMNS:
            raise InvalidInput(
                f"choices must be {MAX_COLUMNS:,} at most; got {len(given):,}. Use Int for a long table."
            )
        choices = tuple(plain(choice) for choice in given)
        index: dict[tuple[type, Category], int] = {}
        for i, choice in enumerate(choices):
            if type(choice) not in (str, int, float, bool, type(None)) or (
                isinstance(choice, float) and not math.isfinite(choice)
            ):
                raise InvalidInput(f"a choice must be a str, int, finite float, bool or None; got {shown(choice)}.")
            if index.setdefault((type(choice), choice), i) != i:
                raise InvalidInput(f"choices must differ from each other; got {choice!r} twice. Remove one.")
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "_index", index)
        keep_backfill(self)
        keep_units(self)
        keep_when(self)

    def __repr__(self) -> str:
        return call_of(self)

    @property
    def width(self) -> int:
        """One column for each choice."""
        return len(self.choices)

    @property
    def count(self) -> int:
        """Number of choices k."""
        return len(self.choices)

    @property
    def ordered(self) -> bool:
        """No, because every choice is equally near to any other."""
        return False

    @property
    def rounded(self) -> bool:
        """No, because the choices are listed."""
        return False

    @property
    def slack(self) -> float:
        """Zero and one are exact."""
        return 1e-9

    def check(self, value: Any, name: str) -> Category:
        """The choice that equals ``value``; InvalidInput, with the ``name``, if there is none."""
        return self.choices[self.place(value, name)]

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """One-hot rows (n, k) of ``values`` of ``name``."""
        rows = np.zeros((len(values), len(self.choices)))
        rows[range(len(values)), [self.place(value, name) for value in values]] = 1.0
        return rows

    def decode(self, U: Array) -> list[Category]:
        """The choices of the largest columns of ``U`` (n, k)."""
        return [self.choices[i] for i in U.argmax(axis=1)]

    def grid(self) -> Array:
        """The rows of the identity matrix (k, k)."""
        return np.eye(len(self.choices))

    def to_config(self) -> dict[str, Any]:
        """The choices."""
        return {"choices": list(self.choices)}

    def place(self, value: Any, name: str) -> int:
        """The place of ``value`` among the choices, from 0; InvalidInput, with the ``name``, where it has none."""
        try:
            return self._index[type(value), value]
        except (KeyError, TypeError):
            known = plain(value)
            if type(known) is not type(value):
                return self.place(known, name)
            raise InvalidInput(
                f"a value must be one of {list(self.choices)}; got {shown(value)} for {name!r}."
            ) from None
