"""A choice whose values have an order, encoded as one column: its position among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, ClassVar

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.space.categorical import Categorical, Category
from believer.space.parameter import keep_backfill
from believer.space.units import call_of, keep_units
from believer.space.when import keep_when


@dataclass(frozen=True, slots=True)
class Ordinal:
    """One of several choices that have an order, such as "low", "mid", "high": the model assumes that neighbors have
    similar results.

    Parameters
    ----------
    choices : a list or tuple, in order, of at least one str, int, float, bool or None.
    backfill : the value that this parameter had in trials from before it was added; see ``Optimizer.open``.
    units : shown with the values, such as "°C". Units are never converted, and do not affect equality.
    when : the values of other parameters under which this one has a value, such as ``{"kernel": "rbf"}``; a list
        allows several. Elsewhere points do not have it. None is everywhere.
    """

    choices: Sequence[Category] = field(compare=False, hash=True)
    backfill: Category | EllipsisType = field(default=..., kw_only=True, repr=False, compare=False)
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    when: Mapping[str, Any] | None = field(default=None, kw_only=True, repr=False, hash=False)
    _listed: Categorical = field(init=False, repr=False, hash=False)
    """The same choices, without their order."""
    __repr__ = call_of
    width: ClassVar[int] = 1
    ordered: ClassVar[bool] = True
    rounded: ClassVar[bool] = False
    slack: ClassVar[float] = 1e-9

    def __post_init__(self) -> None:
        """Check the choices and keep a tuple of plain Python values."""
        object.__setattr__(self, "_listed", Categorical(self.choices))
        if self._listed.descriptors:
            raise InvalidInput("an Ordinal has no descriptors: its order says how alike choices are. Use Categorical.")
        object.__setattr__(self, "choices", self._listed.choices)
        keep_backfill(self)
        keep_units(self)
        keep_when(self)

    @property
    def count(self) -> int:
        """Number of choices k."""
        return len(self.choices)

    def check(self, value: Any, name: str) -> Category:
        """The choice that equals ``value``; InvalidInput, with the ``name``, if there is none."""
        return self._listed.check(value, name)

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Positions (n, 1) of ``values`` of ``name``, from 0 for the first choice to 1 for the last."""
        places = np.array([self._listed.place(value, name) for value in values], dtype=np.float64)
        return (places / max(1, len(self.choices) - 1))[:, None]

    def decode(self, U: Array) -> list[Category]:
        """The choices whose positions are nearest to ``U`` (n, 1); the first of two that are equally near."""
        last = len(self.choices) - 1
        return [self.choices[min(max(i, 0), last)] for i in np.ceil(U[:, 0] * last - 0.5).astype(np.intp)]

    def grid(self) -> Array:
        """Positions (k, 1) of the choices."""
        k = len(self.choices)
        return (np.arange(k, dtype=np.float64) / max(1, k - 1))[:, None]

    def to_config(self) -> dict[str, Any]:
        """The choices."""
        return {"choices": list(self.choices)}
