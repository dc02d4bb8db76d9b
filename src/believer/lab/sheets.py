"""Sheets: the trials of a batch as a table to fill in, as CSV, for Excel or for printing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from believer.arrays import is_number, shown
from believer.errors import InvalidInput, MissingExtra
from believer.lab.headings import NOTE, TRIAL
from believer.lab.readable import Readable
from believer.space import Space
from believer.space.units import labeled
from believer.study.files import PathLike, as_path
from believer.study.labels import NO_LABELS, Labels
from believer.study.table import written
from believer.study.tell_report import trials as named
from believer.study.trials import Batch, Trial

_FORMATS = (".csv", ".xlsx")


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Trials to run, with room for their results.

    Attributes
    ----------
    trials : the trials and their parameters, with as many digits as one sets on an instrument.
    parameters : the names of all parameters.
    labels : units and goals.
    """

    trials: tuple[tuple[int, dict[str, Any]], ...]
    parameters: tuple[str, ...]
    labels: Labels = NO_LABELS

    @staticmethod
    def of(trials: Iterable[Trial], space: Space | None, labels: Labels) -> Sheet:
        """The sheet of some trials; without a space, numbers are shown with all digits."""
        readable = None if space is None else Readable(space)
        shown = [(one.id, one.params if readable is None else readable.of(one.params)) for one in trials]
        names = dict.fromkeys(name for _, params in shown for name in params) if space is None else space.names
        return Sheet(tuple(shown), tuple(names), labels)

    @property
    def headings(self) -> list[str]:
        """The texts above the columns."""
        named = [labeled(name, self.labels.parameters.get(name, "")) for name in self.parameters]
        return [TRIAL, *named, *(labeled(n, self.labels.outcomes.get(n, "")) for n in self.labels.wanted), NOTE]

    def rows(self) -> list[list[Any]]:
        """The cells below the headings; outcomes and notes are empty."""
        left = [None] * (len(self.labels.wanted) + 1)
        return [[trial, *(_shown(params, name) for name in self.parameters), *left] for trial, params in self.trials]


def _shown(params: Mapping[str, Any], name: str) -> Any:
    """A parameter as the value of a cell; a choice None is a text."""
    value = params.get(name)
    return str(value) if isinstance(value, bool) or (value is None and name in params) else value


def batch_to_csv(batch: Batch, path: PathLike, decimal: str) -> str:
    """:meth:`believer.study.trials.Batch.to_csv`."""
    return write_sheet(Sheet.of(batch.trials, batch.space, batch.labels), path, decimal)


def write_sheet(sheet: Sheet, path: PathLike, decimal: str = ".") -> str:
    """Write a sheet to fill in, and return its path; an existing file is never replaced.

    The path ends in .csv, or in .xlsx for Excel, which needs the extra ``excel``. With the decimal mark "," cells are
    separated by semicolons.
    """
    target = Path(as_path(path, "a sheet"))
    if decimal not in (".", ","):
        raise InvalidInput(f'decimal must be "." or ","; got {shown(decimal)}.')
    if target.suffix.lower() not in _FORMATS:
        raise InvalidInput(f"a sheet must end in {' or '.join(_FORMATS)}; got {target.name!r}.")
    return _new_file(target, _excel(sheet) if target.suffix.lower() == ".xlsx" else _csv(sheet, decimal))


def write_page(sheet: Sheet, path: PathLike, title: str, after: str) -> str:
    """Write a sheet to be printed and filled in by hand, and return its path; an existing file is never replaced.

    ``after`` is a sentence on what to do with the results.
    """
    return _new_file(Path(as_path(path, "a sheet")), _page(sheet, title, after).encode("utf-8", "backslashreplace"))


def check_excel() -> None:
    """Raise MissingExtra if Excel files cannot be written here."""
    try:
        import openpyxl  # noqa: F401
    except ImportError as error:
        raise MissingExtra("openpyxl", "excel") from error


def cell_text(value: Any, decimal: str = ".") -> str:
    """A value as a sheet shows it."""
    if value is None:
        return ""
    if isinstance(value, float):
        text = f"{value:.12g}" if float(f"{value:.12g}") == value else repr(value)
        return text.replace(".", decimal)
    return str(value)


def _new_file(target: Path, data: bytes) -> str:
    try:
        with open(target, "xb") as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                with suppress(OSError):
                    target.unlink()
                raise
    except FileExistsError as error:
        raise InvalidInput(f"{target} exists, and may have results in it; choose another name.") from error
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror or error}.") from error
    return str(target)


def _csv(sheet: Sheet, decimal: str) -> bytes:
    delimiter = ";" if decimal == "," else ","

    def line(cells: Sequence[Any]) -> str:
        texts = [cell_text(written(cell), decimal) for cell in cells]
        marks = (delimiter, '"', "\n", "\r", "\t", ";", ",")
        return delimiter.join(
            '"' + t.replace('"', '""') + '"' if any(mark in t for mark in marks) and not is_number(c) else t
            for t, c in zip(texts, cells, strict=True)
        )

    # The byte order mark tells Excel that this is UTF-8.
    text = "\r\n".join([*map(line, [sheet.headings, *sheet.rows()]), ""])
    return b"\xef\xbb\xbf" + text.encode("utf-8", errors="backslashreplace")


def _excel(sheet: Sheet) -> bytes:
    check_excel()
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    book = Workbook()
    page: Any = book.active
    page.title = "results"
    for number, cells in enumerate([sheet.headings, *sheet.rows()], start=1):
        for place, value in enumerate(cells, start=1):
            is_text = isinstance(value, str)
            cell = page.cell(number, place, _excel_text(written(value)) if is_text else value)
            if is_text:
                cell.data_type = "s"  # never a formula
    blank = PatternFill("solid", fgColor="FFF8DC")
    first = 2 + len(sheet.parameters)
    for place, heading in enumerate(sheet.headings, start=1):
        head = page.cell(1, place)
        head.font, head.alignment = Font(bold=True), Alignment(wrap_text=True, vertical="top")
        page.column_dimensions[get_column_letter(place)].width = min(max(len(heading) + 2, 9), 40)
        for number in range(2, len(sheet.trials) + 2):
            if place >= first:
                page.cell(number, place).fill = blank
    page.freeze_panes = "B2"
    page.page_setup.orientation, page.page_setup.fitToWidth, page.page_setup.fitToHeight = "landscape", 1, 0
    page.sheet_properties.pageSetUpPr.fitToPage = True
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _excel_text(text: str) -> str:
    """A text without the control characters that an Excel file cannot hold."""
    return "".join(c if c in "\t\n" or (c.isprintable() and not 0xD800 <= ord(c) < 0xE000) else "\ufffd" for c in text)


_STYLE = """
@page { size: A4 landscape; margin: 12mm; }
* { box-sizing: border-box; }
body { font: 11pt/1.35 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #111; margin: 1.5rem; }
h1 { font-size: 16pt; margin: 0 0 .2rem; }
p { margin: .2rem 0; }
.top { display: flex; justify-content: space-between; gap: 2rem; align-items: flex-end; }
.hand { white-space: nowrap; }
.hand span { display: inline-block; min-width: 9rem; border-bottom: 1px solid #555; margin-left: .4rem; }
table { border-collapse: collapse; width: 100%; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid #777; padding: .35rem .5rem; text-align: left; }
thead { display: table-header-group; }
th { background: #eee; font-weight: 600; vertical-align: bottom; }
tr { break-inside: avoid; }
td { height: 2.3rem; }
.number { text-align: right; white-space: nowrap; }
.trial { font-weight: 600; text-align: right; white-space: nowrap; }
.fill { background: #fff; min-width: 5.5rem; border-width: 2px; }
.note { min-width: 9rem; width: 18%; }
.units { font-weight: 400; white-space: nowrap; }
.quiet { color: #444; font-size: 10pt; }
.wide { font-size: 8.5pt; }
.wide :is(th, td) { padding: .2rem .25rem; }
.wide .fill { min-width: 3.5rem; }
@media print { body { margin: 0; } th { -webkit-print-color-adjust: exact; print-color-adjust: exact; } }
"""

_WIDE = 10
"""From this number of columns on, the table is set in smaller letters."""


def _page(sheet: Sheet, title: str, after: str) -> str:
    names, outcomes = sheet.parameters, [*sheet.labels.wanted]
    units: Mapping[str, str] = {**sheet.labels.parameters, **sheet.labels.outcomes}

    def head(name: str, kind: str = "") -> str:
        said = f'<br><span class="units">{escape(units[name])}</span>' if units.get(name) else ""
        return f'<th scope="col"{kind}>{escape(name)}{said}</th>'

    def row(trial: int, params: Mapping[str, Any]) -> str:
        values = [_shown(params, name) for name in names]
        cells = "".join(
            f"<td{' class=number' if is_number(one) else ''}>{escape(cell_text(one))}</td>" for one in values
        )
        fill = '<td class="fill"></td>' * len(outcomes)
        return f'<tr><td class="trial">{trial}</td>{cells}{fill}<td class="note"></td></tr>'

    wanted = "; ".join(f"{name}: {words}" for name, words in sheet.labels.wanted.items())
    heads = "".join([head(TRIAL), *map(head, names), *map(head, outcomes), head(NOTE)])
    body = "\n".join(row(trial, params) for trial, params in sheet.trials)
    wide = ' class="wide"' if len(names) + len(outcomes) + 2 > _WIDE else ""
    ids = named(trial for trial, _ in sheet.trials)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<div class="top"><div><h1>{escape(title)}</h1>\n<p>{ids.capitalize()}. Wanted: {escape(wanted)}.</p></div>\n'
        '<p class="hand">date<span></span> name<span></span></p></div>\n'
        f"<table{wide}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"
        '<p class="quiet">Write a number, <b>failed</b> if the experiment or the measurement gave none, or '
        f"<b>not run</b>. Leave empty what is still to come. {escape(after)}</p>\n</body>\n</html>\n"
    )
