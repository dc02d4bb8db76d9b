"""Descriptors of categories: numbers that say how alike they are, such as a solvent's dielectric constant.

The encoded rows of a described choice are its descriptors, each from 0 for its least value to 1/2 for its largest, and
after them the one-hot columns of its identity. A model learns a lengthscale for each descriptor and one for the
identity, so that the results decide how much each of them counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import LARGEST, Array, shown
from believer.errors import InvalidInput
from believer.space.parameter import MAX_COLUMNS
from believer.space.scale import plain, real

Descriptors: TypeAlias = tuple[tuple[str, tuple[float, ...]], ...]
"""The descriptors by name, with a number for each choice."""

IDENTITY = "identity"
"""The name of the one-hot columns beside descriptors."""

_REACH = 0.5
"""The largest encoded descriptor. Before there are results, the identity should count more than descriptors: with 1,
misleading descriptors cost more (benchmarks/descriptors.py)."""

_SAME = 1e-12
"""Scaled descriptors that differ by less are the same."""


def split(given: Mapping[Any, Any]) -> tuple[list[Any], dict[str, list[Any]]]:
    """The choices of ``{"DMF": [36.7, 3.82], ...}``, and their descriptors by name. Each choice has a list of numbers,
    a dict of numbers by name, or one number."""
    choices, rows = list(given), [row if isinstance(row, Mapping) else _listed(row) for row in given.values()]
    if not rows:
        return choices, {}
    first, names = rows[0], list(rows[0])
    for choice, row in zip(choices, rows, strict=True):
        if row.keys() != first.keys():
            wanted, found = (", ".join(map(str, one)) or "none" for one in (first, row))
            raise InvalidInput(
                f"choices must all have the same descriptors; {choices[0]!r} has {wanted} and {choice!r} has {found}."
            )
    return choices, {name: [row[name] for row in rows] for name in names}


def of_frame(frame: Any, choices: Sequence[Any] | None = None) -> tuple[list[Any], dict[str, list[Any]]]:
    """The choices in the index of a data frame, and its columns as descriptors. They are in the order of ``choices`` if
    these are given and the rows have names."""
    rows = frame.index.tolist()
    if choices is not None and {*rows} != {*range(len(rows))}:
        missing = [choice for choice in choices if choice not in rows]
        if missing:
            raise InvalidInput(f"descriptors must have a row for each choice; {shown(missing[0])} has none.")
        places = [rows.index(choice) for choice in choices]
    else:
        places = [*range(len(rows))]
    columns = {str(name): frame[name].tolist() for name in frame.columns}
    return [rows[i] for i in places], {name: [column[i] for i in places] for name, column in columns.items()}


def is_frame(given: Any) -> bool:
    """Whether something is a data frame whose rows have names."""
    return getattr(given, "iloc", None) is not None


def _listed(row: Any) -> dict[str, Any]:
    """The numbers of one choice, by made-up names, for descriptors without names."""
    row = row.tolist() if isinstance(row, np.ndarray | np.generic) else row
    values = row if isinstance(row, list | tuple) else [row]
    return {f"descriptor {i}": value for i, value in enumerate(values, 1)}


def checked(given: Any, choices: Sequence[Any]) -> Descriptors:
    """Check descriptors and return them as plain data; InvalidInput if a choice lacks a number or there are too
    many."""
    try:
        columns = {} if given is None else dict(given)
        table = {name: list(values) for name, values in columns.items() if not isinstance(values, str | Mapping)}
    except (TypeError, ValueError):
        columns, table = {"": ""}, {}
    if len(table) < len(columns) or not all(isinstance(name, str) and name for name in table):
        raise InvalidInput(
            'descriptors must be a list of numbers by name, one for each choice, such as {"dielectric": [36.7, 78.4]}; '
            f"got {shown(given)}."
        )
    if IDENTITY in table:
        raise InvalidInput(f'a descriptor must not be called "{IDENTITY}", the name of the one-hot columns. Rename it.')
    if len(table) + len(choices) > MAX_COLUMNS:
        raise InvalidInput(
            f"descriptors and choices must be {MAX_COLUMNS:,} at most; got {len(table) + len(choices):,}."
        )
    kept = []
    for name, values in table.items():
        if len(values) != len(choices):
            raise InvalidInput(
                f"descriptors must have a number for each of {len(choices)} choices; {name!r} has {len(values)}."
            )
        numbers = [real(value) for value in values]
        for choice, value, number in zip(choices, values, numbers, strict=True):
            if number is None or abs(number) > LARGEST:
                raise InvalidInput(
                    f"a descriptor must be a finite number, {LARGEST:g} at most; got {shown(plain(value))} for "
                    f"{name!r} of {choice!r}."
                )
        kept.append((name, tuple(number + 0.0 for number in numbers if number is not None)))
    return tuple(kept)


def scaled(descriptors: Descriptors) -> tuple[tuple[str, ...], Array]:
    """The names (p,) of the descriptors that tell choices apart, and their encoded values, (k, p).

    A descriptor that is the same for all choices is left out, and so is one that equals another in other units.
    """
    names, columns = [], list[Array]()
    for name, values in descriptors:
        column = np.array(values)
        low, high = column.min(), column.max()
        if low == high:
            continue
        column = (column - low) / (high - low)
        if not any(min(np.abs(column - one).max(), np.abs(1.0 - column - one).max()) < _SAME for one in columns):
            names.append(name)
            columns.append(column)
    return tuple(names), _REACH * np.array(columns).T if columns else np.zeros((0, 0))


def counted(names: Sequence[str], table: Array, lengthscales: Array) -> dict[str, float]:
    """The shares of the distance between two choices that are due to each descriptor and to the identity; they add up
    to 1.

    Distances are squared, in lengthscales, and averaged over pairs of choices: Δ_j² / ℓ_j² for a descriptor, 2 / ℓ² for
    the identity.

    Parameters
    ----------
    names : the names of the p descriptors.
    table : their scaled values, (k, p).
    lengthscales : the lengthscales of the encoded columns, (p + k,).
    """
    p = len(names)
    # The mean of (a - b)² over pairs of different choices is twice the variance with divisor k - 1.
    apart = 2.0 * table.var(axis=0, ddof=1) / lengthscales[:p] ** 2
    parts = np.append(apart, 2.0 / float(lengthscales[p]) ** 2)
    parts /= parts.sum()
    return dict(zip((*names, IDENTITY), parts.tolist(), strict=True))
