"""The columns of a table that is a CSV file, a data frame, rows or columns; and which of them are numbers."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, IntArray, shown
from believer.errors import InvalidInput
from believer.space.scale import plain

Cells: TypeAlias = Any
"""The cells of a column: an array of numbers, or a list of texts, bools, numbers and None."""

_EXACT = 2.0**53


class Texts(list[str]):
    """The cells of a column of a file; the texts may stand for numbers.

    Attributes
    ----------
    comma : whether the decimal mark may be a comma, as in files with semicolons between cells.
    """

    comma = False


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
        with open(path, encoding="utf-8-sig", newline="") as file:
            head = file.readline()
            file.seek(0)
            delimiter = max(",;\t", key=head.count)
            lines = csv.reader(file, delimiter=delimiter)
            names = next(lines, [])
            if not names or len({*names}) < len(names) or not all(names):
                raise InvalidInput(
                    f"a table must begin with the names of its columns, all different; got {shown(names)}."
                )
            columns = [Texts() for _ in names]
            for cells in lines:
                if cells and len(cells) != len(names):
                    raise InvalidInput(
                        f"line {lines.line_num} of {path} has {len(cells)} cells; {len(names)} are named."
                    )
                for column, cell in zip(columns, cells, strict=False):
                    column.append(cell)
            for column in columns:
                column.comma = delimiter == ";" and not any("." in cell for cell in column)
    except (OSError, UnicodeError, csv.Error) as error:
        raise InvalidInput(f"the table {path} cannot be read: {error}.") from error
    return dict(zip(names, columns, strict=True))


def numbers_of(cells: Cells) -> Array | IntArray | None:
    """A column as an array of numbers, with NaN for empty cells; None if it has anything else."""
    if isinstance(cells, np.ndarray):
        return cells
    if isinstance(cells, Texts):
        texts = [cell.strip() or "nan" for cell in cells]
        try:
            found = np.array([t.replace(",", ".") for t in texts] if cells.comma else texts, dtype=np.float64)
        except ValueError:
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


def is_number(cell: Any) -> bool:
    """Whether a plain cell is a number, or a text that may stand for one."""
    if isinstance(cell, str):
        try:
            float(cell.replace(",", "."))
        except ValueError:
            return False
    return isinstance(cell, str | int | float) and not isinstance(cell, bool)
