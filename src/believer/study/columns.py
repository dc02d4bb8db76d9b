"""Tables to read: aligned columns of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from believer.space.units import labeled
from believer.study.labels import DIGITS, Labels, number, one_line

_LONGEST = 200
"""Characters of a cell."""

MAX_ROWS = 50
MAX_COLUMNS = 24
"""Of a table that is shown; a longer one says how many more there are."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : its heading, with units.
    cells : the texts of the cells.
    is_number : whether the cells are aligned to the right.
    """

    title: str
    cells: tuple[str, ...]
    is_number: bool


def column(title: str, values: Iterable[Any], units: str = "") -> Column:
    """A column of values; ``...`` leaves a cell empty."""
    values = tuple(values)
    kinds = {type(value) for value in values if value is not ...}
    cells = tuple("" if value is ... else number(value, longest=_LONGEST) for value in values)
    return Column(labeled(one_line(title), units), cells, kinds <= {int, float} and bool(kinds))


def known(values: Iterable[Any]) -> list[Any]:
    """The values, with ``...`` for each None, which is an unknown value."""
    return [... if value is None else value for value in values]


def of_params(points: Sequence[Mapping[str, Any]], labels: Labels) -> list[Column]:
    """A column for each parameter of these points."""
    points, units = [labels.shown(params, DIGITS) for params in points], labels.parameters
    names = dict.fromkeys(name for params in points for name in params)
    return [column(name, [params.get(name, ...) for params in points], units.get(name, "")) for name in names]


def shortened(columns: Sequence[Column], rows: int = MAX_ROWS) -> tuple[list[Column], str]:
    """The first rows and columns of a table, and a sentence that says what is left out; "" if nothing is."""
    more_rows = max((len(one.cells) for one in columns), default=0) - rows
    more_columns = len(columns) - MAX_COLUMNS
    left = [
        f"{more:,} more {what}{'' if more == 1 else 's'}"
        for more, what in ((more_rows, "row"), (more_columns, "column"))
        if more > 0
    ]
    if more_columns > 0:
        half = MAX_COLUMNS // 2
        columns = [*columns[:half], *columns[-half:]]
    kept = [Column(one.title, one.cells[:rows], one.is_number) for one in columns]
    return kept, f"{' and '.join(left)}: to_frame() has all." if left else ""


def as_text(columns: Sequence[Column]) -> str:
    """A table as lines of text: headings, then a line for each row."""
    columns, left_out = shortened(columns)
    padded = []
    for one in columns:
        width = max(len(text) for text in (one.title, *one.cells))
        pad = str.rjust if one.is_number else str.ljust
        padded.append([pad(text, width) for text in (one.title, *one.cells)])
    lines = ["  ".join(row).rstrip() for row in zip_longest(*padded, fillvalue="")]
    return "\n".join([*lines, left_out] if left_out else lines)
