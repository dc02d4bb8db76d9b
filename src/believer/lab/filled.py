"""Filled-in sheets as rows of cells, read from CSV of any spreadsheet, from Excel, JSON and data frames."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from believer.arrays import shown
from believer.errors import InvalidInput, MissingExtra
from believer.lab.cells import folded
from believer.space.texts import decoded, text_of
from believer.study.files import PathLike, as_path, followed

_LARGEST = 64 * 2**20
"""The largest number of bytes of a sheet, more than people fill in."""

_MOST_COLUMNS = 10_000

_LOOKED_AT = 20
"""The number of first rows among which the row of headings is sought."""

_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True, eq=False)
class FilledSheet:
    """A filled-in sheet with the cells of its file.

    Attributes
    ----------
    name : the name of the file, for errors.
    headings : the texts above the columns.
    rows : the number of the line, from 1, and the cells of each row that is not empty.
    width : the number of cells in the row of the headings.
    hint : the decimal mark that the format of the file suggests, or "".
    """

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Any, ...]], ...]
    width: int
    hint: str = ""


def read_filled(path: PathLike, known: Iterable[str] = ()) -> FilledSheet:
    """The sheet in a file; InvalidInput if there is none. The row that has most of the ``known`` headings is the row of
    headings."""
    file = Path(as_path(path, "a sheet"))
    try:
        real = Path(followed(file))
        if real.stat().st_size > _LARGEST:
            raise InvalidInput(f"{file} is larger than {_LARGEST >> 20} MiB; a sheet of results is smaller.")
        data = real.read_bytes()
    except FileNotFoundError as error:
        near = sorted(one.name for one in file.parent.glob("*.csv"))[:5]
        hint = f" In this folder: {', '.join(near)}." if near else ""
        raise InvalidInput(f"there is no file {file}.{hint}") from error
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror or error}.") from error
    if not data.strip():
        raise InvalidInput(f"{file} is empty; a sheet has a row of headings and a row for each trial.")
    if data[:4] == b"PK\x03\x04" or file.suffix.lower() in (".xlsx", ".xlsm"):
        return _headed(str(file), _excel_rows(data, file), known)
    if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" or file.suffix.lower() == ".xls":
        raise InvalidInput(f"{file} is in the old format of Excel; save it as .xlsx or as CSV.")
    text = decoded(data, file)
    if file.suffix.lower() == ".json":
        return _of_json(text, file)
    rows, delimiter = _csv_rows(text, file, known)
    return _headed(str(file), rows, known, "," if delimiter == ";" else "")


def filled_of_frame(frame: Any) -> FilledSheet:
    """The table of a pandas or polars data frame, or of a list of dicts; rows are numbered from 1."""
    if isinstance(frame, list):
        records = frame
    elif hasattr(frame, "to_dicts"):
        records = frame.to_dicts()
    elif hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        if not getattr(frame.columns, "is_unique", True):
            raise InvalidInput(f"a data frame must have different columns; got {shown([*frame.columns])}.")
        records = frame.to_dict("records")
    else:
        raise InvalidInput(f"a table must be a pandas or polars data frame; got {shown(type(frame).__name__)}.")
    return _of_records(records, "the table")


def _of_json(text: str, file: Path) -> FilledSheet:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} must be a list of objects in JSON; it is not: {error}.") from error
    if isinstance(records, dict):
        records = records.get("trials", records.get("results"))
    if not isinstance(records, list):
        raise InvalidInput(f'{file} must be a list of objects in JSON, such as [{{"trial": 0, "yield": 81.5}}].')
    return _of_records(records, str(file))


def _of_records(records: Sequence[Any], name: str) -> FilledSheet:
    flat: list[dict[str, Any]] = []
    for number, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise InvalidInput(f"row {number} of {name} must be an object with columns; got {shown(record)}.")
        row: dict[str, Any] = {}
        for key, value in record.items():
            inner = value if isinstance(value, Mapping) else {key: value}
            row |= {str(one): cell for one, cell in inner.items()}
        flat.append(row)
    headings = tuple(dict.fromkeys(key for row in flat for key in row))
    if not headings:
        raise InvalidInput(f"{name} has no rows.")
    rows = ((number, tuple(_missing(row.get(key)) for key in headings)) for number, row in enumerate(flat, start=1))
    full = tuple(row for row in rows if any(map(text_of, row[1])))
    return FilledSheet(name, tuple(map(text_of, headings)), full, len(headings))


def _missing(cell: Any) -> Any:
    """A plain value for a cell of a data frame: None for a missing value, a Python number for a NumPy number."""
    if type(cell).__name__ in ("NAType", "NaTType"):
        return None
    return (
        cell.item() if hasattr(cell, "item") and not isinstance(cell, str) and getattr(cell, "ndim", 0) == 0 else cell
    )


def _headed(name: str, rows: Sequence[tuple[int, Sequence[Any]]], known: Iterable[str], hint: str = "") -> FilledSheet:
    """The sheet, whose headings are in the row that has most of the known ones."""
    full = [(line, cells) for line, cells in rows if any(map(text_of, cells))]
    if not full:
        raise InvalidInput(f"{name} is empty; a sheet has a row of headings and a row for each trial.")
    wanted = {*map(folded, known)}

    def recognized(cells: Sequence[Any]) -> int:
        return sum(_stem(text_of(cell)) in wanted or folded(cell) in wanted for cell in cells)

    head = max(range(min(len(full), _LOOKED_AT)), key=lambda i: (recognized(full[i][1]), -i))
    headings = tuple(map(text_of, full[head][1]))
    return FilledSheet(
        name, headings, tuple((line, tuple(cells)) for line, cells in full[head + 1 :]), len(headings), hint
    )


def _stem(heading: str) -> str:
    """A heading without the brackets at its end."""
    for opening in "([":
        heading = heading.partition(f" {opening}")[0] or heading
    return heading.casefold().strip()


def _csv_rows(text: str, file: Path, known: Iterable[str]) -> tuple[list[tuple[int, list[str]]], str]:
    """The rows with the lines on which they end, and the delimiter."""
    first = text.partition("\n")[0].strip().casefold()
    if first.startswith("sep=") and len(first) == 5:
        return _parsed(text, first[-1], file)[1:], first[-1]
    wanted = {*map(folded, known)}

    def score(delimiter: str) -> tuple[int, int]:
        rows = _parsed(text[:100_000], delimiter, None)[:_LOOKED_AT]
        hits = max((sum(_stem(text_of(cell)) in wanted for cell in cells) for _, cells in rows), default=0)
        widths = Counter(len(cells) for _, cells in rows)
        return hits, max(((width > 1) * count for width, count in widths.items()), default=0)

    delimiter = max(_DELIMITERS, key=score)
    return _parsed(text, delimiter, file), delimiter


def _parsed(text: str, delimiter: str, file: Path | None) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text.replace("\r\n", "\n").replace("\r", "\n"), newline=""), delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    try:
        start = 1
        for cells in reader:
            if len(cells) > _MOST_COLUMNS:
                raise InvalidInput(f"{file} has more than {_MOST_COLUMNS:,} columns; is it the right file?")
            rows.append((start, cells))
            start = reader.line_num + 1
    except csv.Error as error:
        if file is not None:
            raise InvalidInput(f"{file}, line {reader.line_num}: it is not a table in CSV: {error}.") from error
    except InvalidInput:
        if file is not None:
            raise
    return rows


def _excel_rows(data: bytes, file: Path) -> list[tuple[int, list[Any]]]:
    """The rows of the first nonempty sheet of an Excel file, with percentages as they are shown."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtra("openpyxl", "excel") from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            if sum(part.file_size for part in parts.infolist()) > 8 * _LARGEST:
                raise InvalidInput(f"{file} is larger than {8 * _LARGEST >> 20} MiB when it is unpacked.")
        book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        sheet = next((one for one in book.worksheets if one.max_row > 1), book.worksheets[0])
        rows = [(number, [_excel_cell(cell) for cell in row]) for number, row in enumerate(sheet.iter_rows(), start=1)]
    except InvalidInput:
        raise
    except Exception as error:  # raised by another package on a user's file
        raise InvalidInput(f"{file} is not an Excel file that can be read: {type(error).__name__}: {error}.") from error
    return rows


def _excel_cell(cell: Any) -> Any:
    value = cell.value
    if type(value) in (int, float) and "%" in str(cell.number_format):
        return f"{float(f'{100.0 * value:.15g}')!r}%"
    return value
