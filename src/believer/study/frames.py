"""Tables as data frames of pandas or polars, whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from believer.arrays import shown
from believer.errors import InvalidInput, MissingExtra

LIBRARIES = ("pandas", "polars")

_WIDEST = 2**63


def frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Columns by name as a data frame; MissingExtra if the library is not installed.

    A column of mixed types, such as the choices 1 and "a", keeps them as objects.

    Parameters
    ----------
    columns : the cells of each column, all of one length; None for an empty cell.
    library : "pandas" or "polars". By default pandas if that is installed, else polars.
    """
    if library is not None and library not in LIBRARIES:
        raise InvalidInput(f'library must be "pandas" or "polars"; got {shown(library)}.')
    wanted = LIBRARIES if library is None else (library,)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        raise MissingExtra(" or ".join(wanted), wanted[0])
    made = import_module(found)
    make = _for_pandas if found == "pandas" else _for_polars
    return made.DataFrame({name: make(made, cells) for name, cells in columns.items()})


def _for_pandas(pandas: Any, cells: Sequence[Any]) -> Any:
    kinds = _kinds(cells)
    if kinds == {int} and None in cells and _fits(cells):
        return pandas.Series(cells, dtype="Int64")  # with None among them they would become floats
    return pandas.Series(cells, dtype=object) if len(kinds) > 1 or not _fits(cells) else pandas.Series(cells)


def _for_polars(polars: Any, cells: Sequence[Any]) -> Any:
    mixed = len(_kinds(cells)) > 1 or not _fits(cells)
    return polars.Series(values=list(cells), dtype=polars.Object if mixed else None)


def _kinds(cells: Sequence[Any]) -> set[type]:
    return {type(cell) for cell in cells if cell is not None}


def _fits(cells: Sequence[Any]) -> bool:
    """Whether all whole numbers fit into a column of integers."""
    return all(-_WIDEST <= cell < _WIDEST for cell in cells if type(cell) is int)
