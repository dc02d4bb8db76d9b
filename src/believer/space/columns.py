"""The columns of a table that is a CSV file, a data frame, rows or columns; and which of them are numbers."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, IntArray, shown
from believer.errors import InvalidInput
from believer.space.scale import plain
from believer.space.texts import Ambiguous, Marks, decimal_mark, decoded

Cells: TypeAlias = Any
"""The cells of a column: an array of numbers, or a list of texts, bools, numbers and None."""

_EXACT = 2.0**53
_CODE = re.compile(r"\s*[+-]?0\d")


class Texts(list[str]):
    """The cells of a column of a file; the texts may stand for numbers.

    Attributes
    ----------
    name : the name of the column.
    marks : the decimal marks of the column; those of the file if its own cells show none.
    """

    name = ""
    marks = Marks()


def read_columns(source: Any) -> dict[str, Cells]:
    """The columns of a CSV file, a data frame, a list of dicts, or a dict of columns, by name and unchanged."""
    if isinstance(source, str | os.PathLike):
        return _from_csv(os.fspath(source))
    if isinstance(source, Mapping):
        return {str(name): _cells(cells) for name, cells in source.items()}
    if (names := getattr(source, "columns", None)) is not None:
        return {str(name): _cells(source[name].to_numpy()) for name in names}
    if isinstance(source, Sequence) and source and all(isinstance(row, Mapping) for row in source):
        first = source[0].keys()
        for i, row in enumerate(source, 1):
            if row.keys() != first:
                odd = next(iter(first ^ row.keys()))
                raise InvalidInput(f"rows must all have the same columns; {shown(odd)} is not in row {i} and in row 1.")
        return {str(name): _cells([row[name] for row in source]) for name in first}
    raise InvalidInput(
        "a table must be the path of a CSV file, a data frame, a list of dicts, or a dict of columns; got "
        f"{shown(source)}."
    )


def _cells(cells: Any) -> Cells:
    """An array of numbers as it is, anything else as a list."""
    if isinstance(cells, np.ndarray) and cells.ndim == 1 and cells.dtype.kind in "iuf":
        return cells
    try:
        return cells.tolist() if isinstance(cells, np.ndarray) else list(cells)
    except TypeError:
        raise InvalidInput(f"a column must be a list of cells; got {shown(cells)}.") from None


def _from_csv(path: str) -> dict[str, Cells]:
    try:
        file = io.StringIO(decoded(Path(path).read_bytes(), path), newline="")
        head = file.readline()
        file.seek(0)
        delimiter = max(",;\t", key=head.count)
        lines = csv.reader(file, delimiter=delimiter)
        names = next(lines, [])
        if not names or len({*names}) < len(names) or not all(names):
            raise InvalidInput(f"a table must begin with the names of its columns, all different; got {shown(names)}.")
        columns = [Texts() for _ in names]
        for cells in lines:
            if cells and len(cells) != len(names):
                hint = " Cells with decimal commas need quotes, or semicolons between cells."
                raise InvalidInput(
                    f"line {lines.line_num} of {path} has {len(cells)} cells; {len(names)} are named."
                    f"{hint if delimiter == ',' and len(cells) > len(names) else ''}"
                )
            for column, cell in zip(columns, cells, strict=False):
                column.append(cell)
    except (OSError, csv.Error) as error:
        raise InvalidInput(f"the table {path} cannot be read: {error}.") from error
    own = [_marks_in(column) for column in columns]
    shared = frozenset[str]().union(*own) or frozenset("," if delimiter == ";" else "")
    for name, column, marks in zip(names, columns, own, strict=True):
        column.name, column.marks = name, Marks(marks or shared)
    return dict(zip(names, columns, strict=True))


def _marks_in(cells: Texts) -> frozenset[str]:
    """The decimal marks of a column; none if it has commas and other texts than numbers, such as 1,2-diol."""
    if any("," in cell for cell in cells):
        try:
            np.array([cell.strip().replace(",", ".") or "nan" for cell in cells], dtype=np.float64)
        except ValueError:
            if not all(is_number(cell) for cell in cells if cell.strip()):
                return frozenset()
    return frozenset(
        mark
        for mark, other in (",.", ".,")
        if any(decimal_mark(cell.strip()) == mark for cell in cells if mark in cell or cell.count(other) > 1)
    )


def numbers_of(cells: Cells) -> Array | IntArray | None:
    """A column as an array of numbers, with NaN for empty cells; None if it has anything else.

    Raises InvalidInput for a text that may be one number or another.
    """
    if isinstance(cells, np.ndarray):
        return cells
    if isinstance(cells, Texts):
        found = _read(cells)
        if found is None:
            return None
        if all(cell.strip().lstrip("+-").isdecimal() for cell in cells) and np.abs(found).max() < _EXACT:
            return found.astype(np.int64)
        return found if np.isfinite(found).any() else None
    kinds = {type(plain(cell)) for cell in cells}
    if not kinds <= {int, float, type(None)} or not kinds & {int, float}:
        return None
    if kinds == {int}:
        kept = np.array(cells)
        return kept if kept.dtype.kind == "i" else None
    return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)


def _read(cells: Texts) -> Array | None:
    """The numbers of a column of texts, at once if all have the same decimal mark; None if a cell is no number."""
    texts = [cell.strip() or "nan" for cell in cells]
    comma, point = (any(mark in text for text in texts) for mark in ",.")
    if not (comma and point) and (cells.marks.seen == frozenset("," if comma else ".") or not (comma or point)):
        try:
            return np.array([t.replace(",", ".") for t in texts] if comma else texts, dtype=np.float64)
        except ValueError:
            pass
    found = np.empty(len(texts))
    doubt: InvalidInput | None = None
    for i, text in enumerate(texts):
        try:
            found[i] = math.nan if text.casefold() == "nan" else cells.marks.number(text)
        except Ambiguous as error:
            doubt = doubt or InvalidInput(
                f"a number must have one meaning; in row {i + 1}, {cells.name!r} has {error} Use one decimal mark in "
                "the whole file."
            )
        except InvalidInput:
            return None
    if doubt is not None:
        raise doubt
    return found


def is_number(cell: Any) -> bool:
    """Whether a plain cell is a number, or a text that may stand for one."""
    if isinstance(cell, str):
        try:
            return cell.strip().casefold() in ("nan", "inf", "-inf") or math.isfinite(Marks().number(cell))
        except Ambiguous:
            return True
        except InvalidInput:
            return False
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def carried_of(cells: Cells) -> tuple[Cells, Marks | None]:
    """A column that is no feature, as plain data, and the decimal marks of a file's column of numbers.

    Numbers of a file are numbers, unless they look like codes: with leading zeros, or with too many digits.
    """
    values = [None if (kept := plain(cell)) != kept else kept for cell in cells]
    if not isinstance(cells, Texts) or any(_CODE.match(cell) for cell in cells):
        return values, None
    try:
        found = numbers_of(cells)
    except InvalidInput:
        return values, None
    if found is None or np.isinf(found).any() or np.nanmax(np.abs(found)) >= _EXACT:
        return values, None
    return [None if number != number else number for number in found.tolist()], cells.marks
