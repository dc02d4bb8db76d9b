"""The rows of a table of candidates: their encoded features, and the other columns."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from believer.arrays import LARGEST, Array, BoolArray, IntArray, frozen, read_only, shown, suggested
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.space.carried import Carried
from believer.space.catalogue import Catalogue, catalogue, distinct
from believer.space.categorical import Categorical
from believer.space.columns import Cells, carried_of, is_number, numbers_of, read_columns
from believer.space.floats import Float
from believer.space.ints import Int
from believer.space.parameter import Number, Parameter
from believer.space.parameters import from_config
from believer.space.scale import plain

MAX_ROWS = 10_000_000

_SHOWN = 5
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Rows:
    """The distinct rows of a table. Two are equal if their features and ids are.

    Attributes
    ----------
    digest : the SHA-256 of names and cells of the id and the features, as hex digits.
    parameters : the kind of each column, by name: the id, other carried columns, features.
    columns : the cells of the n rows, by name.
    features : the names of the columns that models use.
    id : the name of the column with the ids of rows; None if there is none.
    region : the encoded features (n, d), as a region.
    """

    digest: str
    parameters: Mapping[str, Parameter] = field(compare=False)
    columns: Mapping[str, Cells] = field(compare=False)
    features: tuple[str, ...] = field(compare=False)
    id: str | None = field(compare=False)
    region: Catalogue = field(compare=False)
    _by_id: dict[Any, int] = field(compare=False, repr=False)

    def __len__(self) -> int:
        """The number of rows with different features."""
        return self.region.size

    def __repr__(self) -> str:
        name = "" if self.id is None else f", id_column={self.id!r}"
        return f"<table of {len(self):,} rows>, {[*self.features]!r}{name}"

    def at(self, row: int) -> dict[str, Any]:
        """All cells of a row, by column, as plain values."""
        return {name: _plain(cells[row]) for name, cells in self.columns.items()}

    def points(self, X: Array) -> list[dict[str, Any]]:
        """The rows nearest to encoded points ``X`` (m, d)."""
        return [self.at(int(row)) for row in self.region.nearest(X)]

    def encoded(self, points: Sequence[Mapping[str, Any]]) -> Array:
        """The encoded features (m, d) of points that are rows."""
        return self.region.rows[[self.place(params) for params in points]]

    def place(self, params: Mapping[str, Any]) -> int:
        """The number of the row that ``params`` names, by all features or by its id; InvalidInput if there is none."""
        self._refuse_unknown(params)
        missing = [name for name in self.features if name not in params]
        if not missing:
            values = {name: self.parameters[name].check(params[name], name) for name in self.features}
            x = np.concatenate([self.parameters[name].encode([value], name) for name, value in values.items()], axis=1)
            row = int(self.region.nearest(x)[0])
            if np.abs(self.region.rows[row] - x[0]).max() <= _NEAR:
                if self.id is not None and self.id in params and self._by_id.get(plain(params[self.id]), row) != row:
                    raise InvalidInput(
                        f"{self.id}={shown(params[self.id])} is another row than that of the features {values}."
                    )
                return row
            nearest = {name: _plain(self.columns[name][row]) for name in (*([self.id] if self.id else []), *values)}
            raise InvalidInput(f"no row of the table has the features {values}; the nearest one is {nearest}.")
        if self.id is None or self.id not in params:
            also = "" if self.id is None else f", or the id {self.id!r}"
            raise InvalidInput(f"params must give all features{also}; missing: {', '.join(missing)}.")
        given = plain(params[self.id])
        found = self._by_id.get(given, self._by_id.get(str(given)))
        if found is None:
            raise InvalidInput(f"no row of the table has {self.id}={shown(params[self.id])}.")
        for name, value in params.items():
            kind = self.parameters[name]
            kept = kind.check(value, name) if isinstance(kind, Carried) else plain(value)
            if name != self.id and _plain(self.columns[name][found]) != kept:
                raise InvalidInput(
                    f"the row with {self.id}={shown(given)} has {name}={shown(_plain(self.columns[name][found]))}; "
                    f"got {shown(value)}."
                )
        return found

    def checked(self, fixed: Mapping[str, Any], what: str = "params") -> dict[str, Any]:
        """Check values of some columns; InvalidInput if no row has them. ``what`` names the argument in errors."""
        self._refuse_unknown(fixed, what)
        checked = {name: self.parameters[name].check(value, name) for name, value in fixed.items()}
        if checked and not self.having(checked).any():
            raise InvalidInput(f"no row of the table has {', '.join(f'{k}={v!r}' for k, v in checked.items())}.")
        return checked

    def _refuse_unknown(self, params: Any, what: str = "params") -> None:
        """Raise InvalidInput, which names ``what``, if ``params`` is not a mapping or names an unknown column."""
        if not isinstance(params, Mapping):
            raise InvalidInput(f"{what} must be a mapping of columns to values; got {shown(params)}.")
        unknown = [name for name in params if name not in self.columns]
        if unknown:
            raise InvalidInput(
                f"{what} must name columns among {', '.join(self.columns)}; got {shown(unknown[0])}."
                f"{suggested(unknown[0], self.columns)}"
            )

    def having(self, values: Mapping[str, Any]) -> BoolArray:
        """A mask (n,) of the rows that have these values."""
        mask = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            cells = self.columns[name]
            if isinstance(cells, np.ndarray):
                mask &= np.abs(cells - value) <= _NEAR * max(1.0, abs(value)) if value is not None else False
            else:
                mask &= np.fromiter((_same(cell, value) for cell in cells), bool, len(cells))
        return mask

    def part(self, values: Mapping[str, Any], among: Mapping[str, Sequence[Any]]) -> Catalogue:
        """The rows that have these values, and one of those ``among`` others, as a region."""
        if not values and not among:
            return self.region
        mask = self.having(values)
        for name, some in among.items():
            mask = mask & np.logical_or.reduce([self.having({name: value}) for value in some])
        return catalogue(self.region.rows, self.region.keys, mask)

    def has_numbers(self, name: str) -> bool:
        """Whether a column has a number in every row."""
        cells = self.columns.get(name)
        if cells is None or isinstance(cells, np.ndarray):
            return cells is not None
        return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)

    def showing(self, names: Collection[str]) -> Rows:
        """The same rows; of the columns that are not features, only those among ``names`` are kept."""
        kept = [name for name in self.columns if name in names or name in self.features]
        parameters, columns = ({name: part[name] for name in kept} for part in (self.parameters, self.columns))
        return replace(self, parameters=parameters, columns=columns)

    def to_config(self) -> dict[str, Any]:
        """The config of a table in a journal, by which the table can be recognized."""
        return {"sha256": self.digest, "rows": len(self), "features": [*self.features], "id": self.id}


def _same(cell: Any, value: Any) -> bool:
    """Whether two plain values are equal; 1 and True are not, 1 and 1.0 are."""
    return isinstance(cell, bool) is isinstance(value, bool) and bool(cell == value)


def rows_of(source: Any, features: Any = None, id_column: str | None = None) -> Rows:
    """The rows of a table, from the arguments of :meth:`~believer.space.space.Space.from_table`."""
    columns = read_columns(source)
    n = _lengths(columns)
    if id_column is not None and id_column not in columns:
        raise InvalidInput(f"id_column must be one of {', '.join(columns)}; got {shown(id_column)}.")
    parameters = {name: _made(name, columns[name], p) for name, p in _features(features, columns, id_column).items()}
    cells = {name: _values(name, columns[name], p) for name, p in parameters.items()}
    X, start = np.empty((n, sum(p.width for p in parameters.values()))), 0
    for name, p in parameters.items():
        X[:, start : start + p.width] = _encoded(name, cells[name], p)
        start += p.width
    rows, keys, earlier = distinct(X)
    ids = {} if id_column is None else {id_column: _ids(id_column, columns[id_column])}
    others = {name: carried_of(columns[name]) for name in columns if name not in {*parameters, *ids}}
    carried = ids | {name: values for name, (values, _) in others.items()}
    for name, values in carried.items():
        for kind in {*map(type, values)} - {str, int, float, bool, type(None)}:
            raise InvalidInput(
                f"a cell must be a text, a number, a bool or None; got a {kind.__name__} in {name!r}. Write the column "
                "as text, or leave it out."
            )
    digest, every, places = _digest({**ids, **cells}), {**carried, **cells}, np.arange(n)
    if len(rows) < n:
        _say_same(rows, earlier, n)
        X, places = X[rows], np.searchsorted(rows, earlier)
        every = {name: _taken(values, rows) for name, values in every.items()}
    by_id = {value: int(places[i]) for values in ids.values() for i, value in enumerate(values)}
    kinds: dict[str, Parameter] = {name: Carried(others[name][1] if name in others else None) for name in carried}
    return Rows(digest, {**kinds, **parameters}, every, tuple(parameters), id_column, Catalogue(frozen(X), keys), by_id)


def _taken(cells: Cells, rows: IntArray) -> Cells:
    return cells[rows] if isinstance(cells, np.ndarray) else [cells[row] for row in rows]


def _lengths(columns: Mapping[str, Cells]) -> int:
    """The number of rows; InvalidInput if columns differ in it."""
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) != 1 or not 0 < max(lengths) <= MAX_ROWS:
        raise InvalidInput(f"a table must have 1 to {MAX_ROWS:,} rows in every column; got {sorted(lengths)}.")
    return lengths.pop()


def _features(given: Any, columns: Mapping[str, Cells], id_column: str | None) -> dict[str, Parameter | None]:
    """The features by name, each with its parameter, or None if that is not given."""
    if given is None:
        numbers = {name: numbers_of(cells) for name, cells in columns.items() if name != id_column}
        found = {name: None for name, kept in numbers.items() if kept is not None and np.ptp(kept) > 0.0}
        if not found:
            raise InvalidInput("a table needs features, and no column has numbers that differ. Use features=[...].")
        return {**found}
    if isinstance(given, str) or not isinstance(given, Iterable) or not (named := [*given]):
        raise InvalidInput(f"features must be the names of columns; got {shown(given)}.")
    for name in named:
        if name not in columns or name == id_column:
            raise InvalidInput(
                f"features must be among {', '.join(n for n in columns if n != id_column)}; got {shown(name)}."
            )
    return dict(given) if isinstance(given, Mapping) else dict.fromkeys(named)


def _made(name: str, cells: Cells, given: Parameter | None) -> Parameter:
    """The parameter of a feature: the given one, or one that suits its cells."""
    if given is not None:
        return given
    numbers = numbers_of(cells)
    if numbers is None:
        for i, cell in enumerate(cells, 1):
            if cell is None or cell == "" or cell != cell:
                raise _lacks(name, i)
        values = [value for _, value in dict.fromkeys((type(cell), cell) for cell in map(plain, cells))]
        real = any(is_number(value) and not isinstance(value, str) for value in values)
        odd = [value for value in values if not is_number(value) or (real and isinstance(value, str))]
        if odd and 2 * len(odd) < len(values):
            raise InvalidInput(
                f"a feature must be numbers, or names; {name!r} has mostly numbers, and {shown(odd[0])} in row "
                f"{[*map(plain, cells)].index(odd[0]) + 1}. Correct it, leave the row out, or name all of the choices: "
                f"features={{{name!r}: bv.Categorical([...]), ...}}."
            )
        return Categorical(values)
    if not np.isfinite(numbers).all():
        raise _lacks(name, int(np.flatnonzero(~np.isfinite(numbers))[0]) + 1)
    low, high = numbers.min().item(), numbers.max().item()
    if low == high:
        raise InvalidInput(f"a feature must differ between rows; {name!r} is {low!r} in all of them. Leave it out.")
    return Int(low, high) if isinstance(low, int) else Float(low, high)


def _lacks(name: str, row: int) -> InvalidInput:
    return InvalidInput(
        f"a feature must have a value in every row; row {row} has none in {name!r}. Fill it, or leave the row or the "
        "column out."
    )


def _values(name: str, cells: Cells, p: Parameter) -> Cells:
    """The cells of a feature as values of its parameter: an array of numbers, or a list."""
    numbers = numbers_of(cells) if has(p, Number) else None
    if numbers is None:
        kept: dict[Any, Any] = {}
        for i, cell in enumerate(cells, 1):
            if (type(cell), cell) not in kept:
                try:
                    kept[type(cell), cell] = _choice(name, cell, p)
                except InvalidInput as error:
                    raise InvalidInput(f"row {i} of the table has another value: {error}") from error
        return [kept[type(cell), cell] for cell in cells]
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise _lacks(name, int(bad[0]) + 1)
    if numbers.dtype.kind == "f" and np.abs(numbers).max() > LARGEST:
        raise InvalidInput(f"a feature must be {LARGEST:g} at most; got {np.abs(numbers).max()!r} in {name!r}.")
    return read_only(numbers.astype(np.int64 if isinstance(p, Int) else np.float64))


def _choice(name: str, cell: Any, p: Parameter) -> Any:
    """The choice that a cell stands for; a cell of a file is a text, and may stand for a number."""
    try:
        return p.check(cell, name)
    except InvalidInput:
        if isinstance(cell, str):
            for kind in (int, float):
                with suppress(ValueError, InvalidInput):
                    return p.check(kind(cell), name)
        raise


def _encoded(name: str, cells: Cells, p: Parameter) -> Array:
    """The encoded columns (n, width) of a feature."""
    if isinstance(p, Float | Int) and not p.log and p.step in (None, 1):
        low, high = float(p.low), float(p.high)
        if cells.min() < low or cells.max() > high:
            raise InvalidInput(f"a feature must be within its bounds; {name!r} is from {cells.min()} to {cells.max()}.")
        scaled: Array = ((cells - low) / (high - low))[:, None]
        return scaled
    kinds: dict[Any, int] = {}
    places = [kinds.setdefault((type(cell), cell), len(kinds)) for cell in map(plain, cells)]
    encoded: Array = p.encode([cell for _, cell in kinds], name)[places]
    return encoded


def _ids(name: str, cells: Cells) -> list[Any]:
    """The ids of the rows; InvalidInput if two are the same or one is missing."""
    ids, seen = [*map(_plain, cells)], dict[Any, int]()
    for i, value in enumerate(ids, 1):
        if value is None or value == "":
            raise _lacks(name, i)
        if seen.setdefault(value, i) != i:
            raise InvalidInput(f"an id must name one row; {shown(value)} is in rows {seen[value]} and {i} of {name!r}.")
    return ids


def _plain(cell: Any) -> Any:
    """A cell as plain data; None for NaN."""
    kept = plain(cell)
    return None if kept != kept else kept


def _digest(columns: Mapping[str, Cells]) -> str:
    digest = hashlib.sha256()
    for name, cells in columns.items():
        digest.update(f"{name!r}:".encode())
        if isinstance(cells, np.ndarray):
            digest.update(cells.astype("<f8").tobytes())
        else:
            digest.update(repr(cells).encode(errors="backslashreplace"))
    return digest.hexdigest()


def _say_same(rows: IntArray, earlier: IntArray, n: int) -> None:
    """Warn about rows that have the same features."""
    same = np.flatnonzero(earlier != np.arange(n))
    pairs = ", ".join(f"{i + 1} as {earlier[i] + 1}" for i in same[:_SHOWN]) + (", ..." if len(same) > _SHOWN else "")
    warnings.warn(
        f"{n - len(rows):,} of {n:,} rows have the features of an earlier row, and are one point with it: row {pairs}.",
        stacklevel=4,
    )


def rows_again(known: Any, entries: Any, passed: Any) -> Rows | None:
    """The rows of a journal's table, which was passed again; InvalidInput if it is a different one.

    ``known`` is the journal's config of the table, None for no table; ``entries`` are its configs of the parameters.
    """
    if known is None:
        if passed is not None:
            raise InvalidInput("the journal belongs to a study without a table; leave table= out.")
        return None
    if passed is None:
        raise InvalidInput(f"the journal was written with a table of {known['rows']:,} rows. Pass it as table=...")
    kinds = {entry["name"]: from_config(**entry) for entry in entries}
    try:
        found = rows_of(passed, {name: kinds[name] for name in known["features"]}, known["id"])
    except InvalidInput as error:
        raise InvalidInput(f"the table is not the one that the journal was written with: {error}") from error
    if found.digest != known["sha256"]:
        raise InvalidInput(
            f"the table is not the one that the journal was written with: that has {known['rows']:,} rows, this one "
            f"{len(found):,}, and cells of the id or of features differ. To go on with this one, open the study with "
            "Optimizer.open(..., change=True)."
        )
    shown_then = {entry["name"] for entry in entries}
    gone = [name for name in shown_then if name not in found.columns]
    if gone:
        raise InvalidInput(f"the table must have all columns that the journal has; it lacks {', '.join(sorted(gone))}.")
    return found.showing(shown_then)
