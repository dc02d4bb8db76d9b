"""A column of a table that is shown with each point and that no model uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from believer.arrays import Array, shown
from believer.errors import InvalidInput
from believer.space.scale import plain
from believer.space.texts import Marks


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that belongs to a row of a table, such as its id, and that has no encoded column.

    Parameters
    ----------
    marks : the decimal marks of a column of numbers that was read from a file; None for any other column. The texts of
        such a file stand for its numbers.
    """

    marks: Marks | None = None

    width: ClassVar[int] = 0
    count: ClassVar[int] = 1
    ordered: ClassVar[bool] = False
    rounded: ClassVar[bool] = False
    slack: ClassVar[float] = 0.0

    def check(self, value: Any, name: str) -> Any:
        """A text, a number, True, False or None, as plain Python data."""
        kept = plain(value)
        if self.marks is not None and isinstance(kept, str):
            with suppress(InvalidInput):
                return self.marks.number(kept) if kept.strip() else None
        if type(kept) not in (str, int, float, bool, type(None)) or (isinstance(kept, float) and math.isinf(kept)):
            raise InvalidInput(
                f"a table's cell must be a text, a number, a bool or None; got {shown(value)} in {name!r}."
            )
        return None if isinstance(kept, float) and math.isnan(kept) else kept

    def encode(self, values: Sequence[Any], name: str) -> Array:
        """Rows (n, 0)."""
        return np.zeros((len(values), 0))

    def decode(self, U: Array) -> list[Any]:
        """None for each of n rows, because the row of the table has the value."""
        return [None] * len(U)

    def grid(self) -> Array:
        """One row (1, 0)."""
        return np.zeros((1, 0))

    def to_config(self) -> dict[str, Any]:
        """An empty config."""
        return {}
