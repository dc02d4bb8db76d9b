"""Tables, and the one place where a value becomes text: for a terminal, in Markdown and HTML, or as data in CSV."""

from __future__ import annotations

import csv
import html
import io
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from believer.errors import InvalidInput

Plain: TypeAlias = str | float | int | bool | None

_DIGITS = 4
_MIN, _LARGEST = 1e-4, 1e7
"""Sizes between which a number is written without an exponent."""

TONES = ("good", "mixed", "bad", "open")
"""The color of a cell by its meaning; "good 1" to "good 3" and "bad 1" to "bad 3" are shades by size."""

_NOTHING = (None, "", "-")
_BREAK = re.compile(r"\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"\r\n|[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MARKDOWN = re.compile(r"[\\|*`~&<\[\]]|(?<![^\W_])_|_(?![^\W_])")
"""The characters that have a meaning in a Markdown table; an underscore within a word has none."""


@dataclass(frozen=True, slots=True)
class Table:
    """A title, names of columns, and rows with a value for each: text, a number, a bool, or None for nothing.

    tones: of the cells, "" for none (see :data:`TONES`); a page colors them. The words of a cell say the same.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Plain]]
    tones: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(map(str, self.columns)))
        object.__setattr__(self, "rows", tuple(tuple(map(_plain, row)) for row in self.rows))
        if not self.columns:
            raise InvalidInput("a table must have at least one column; got none.")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise InvalidInput(f"a row must have {len(self.columns)} values; row {number} has {len(row)}.")

    def dense(self) -> Table:
        """Without the columns in which no row has a value: where nothing is compared, nothing stands under "p"."""
        kept = [j for j in range(len(self.columns)) if j == 0 or any(row[j] not in _NOTHING for row in self.rows)]
        if not self.rows or len(kept) == len(self.columns):
            return self
        tones = None if self.tones is None else [[tones[j] for j in kept] for tones in self.tones]
        rows = [[row[j] for j in kept] for row in self.rows]
        return Table(self.title, [self.columns[j] for j in kept], rows, tones)

    def text(self) -> str:
        """Aligned for a terminal, numbers to the right; a line break within a value becomes a space."""
        lines = [[_CONTROL.sub(" ", field) for field in line] for line in self._lines()]
        widths = [max(map(_width, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        right = self._numeric()
        body = ["  ".join(map(_padded, line, widths, right)).rstrip() for line in lines]
        return "\n".join([*filter(None, [_CONTROL.sub(" ", self.title)]), *body]) + "\n"

    def markdown(self) -> str:
        """A heading and a table as GitHub reads them; what has a meaning there is escaped."""
        lines = [[_escaped(field, "<br>") for field in line] for line in self._lines()]
        lines.insert(1, ["---:" if right else "---" for right in self._numeric()])
        title = f"## {_escaped(self.title, ' ')}\n\n" if self.title else ""
        return title + "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def csv(self) -> str:
        """Columns and rows for programs, without the title: numbers in full, nothing for None."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(self.columns)
        for row in self.rows:
            writer.writerow([formatted(value) if isinstance(value, bool) else value for value in row])
        return out.getvalue()

    def html(self) -> str:
        """A ``<table>`` to be placed in a page; everything is escaped."""
        head, *body = ([_BREAK.sub("<br>", html.escape(field)) for field in line] for line in self._lines())
        align = ["text-align:right" if right else "" for right in self._numeric()]
        caption = f"<caption>{html.escape(self.title)}</caption>\n" if self.title else ""
        top = f"<thead>\n{_row('th', head, align)}</thead>\n"
        tones = self.tones or [[""] * len(align)] * len(body)
        rows = "".join(_row("td", line, align, tone) for line, tone in zip(body, tones, strict=True))
        return f"<table>\n{caption}{top}<tbody>\n{rows}</tbody>\n</table>\n"

    def __str__(self) -> str:
        return self.text()

    def _lines(self) -> list[list[str]]:
        """The names of the columns and the rows, as text."""
        return [list(self.columns), *([formatted(value) for value in row] for row in self.rows)]

    def _numeric(self) -> list[bool]:
        """For each column, whether all values that it has are numbers."""
        columns = [[row[i] for row in self.rows if row[i] is not None] for i in range(len(self.columns))]
        return [bool(column) and all(type(value) in (int, float) for value in column) for column in columns]


def formatted(value: Plain) -> str:
    """A value as people read it: numbers to four digits, "-" for None, yes or no.

    Digits before the point are never rounded away, up to 1e7.
    """
    value = _plain(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, float) else str(value)


def _number(value: float) -> str:
    if not _MIN <= abs(value) < _LARGEST:
        return f"{value + 0.0:.{_DIGITS}g}"  # zero has no sign
    decimals = max(0, _DIGITS - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _plain(value: Any) -> Plain:
    """The value, a scalar of NumPy as Python's own."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is not None and not isinstance(value, str | float | int):
        raise InvalidInput(f"a table holds text, numbers, bools and None; got {value!r}.")
    return value


def _escaped(field: str, line_break: str) -> str:
    return _BREAK.sub(line_break, _MARKDOWN.sub(r"\\\g<0>", field))


def _row(tag: str, fields: Sequence[str], align: Sequence[str], tones: Sequence[str] | None = None) -> str:
    cells = []
    for field, side, tone in zip(fields, align, tones or [""] * len(align), strict=True):
        style = f' style="{side}"' if side else ""
        colored = f' class="{html.escape(tone)}"' if tone else ""
        cells.append(f"<{tag}{colored}{style}>{field}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>\n"


def _padded(field: str, width: int, right: bool) -> str:
    space = " " * (width - _width(field))
    return space + field if right else field + space


def _width(field: str) -> int:
    """Columns of a terminal: none for an accent that joins the letter before it, two for a wide character."""
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in field
    )
