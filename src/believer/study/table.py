"""A study as a table, one row a trial: as plain dicts, or as CSV that a spreadsheet opens without running it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from believer.study.files import PathLike, Wording, as_path, replace_file
from believer.study.ledger import Ledger
from believer.study.outcome import Outcome

COLUMNS = ("trial_id", "status", "value", "error", "origin", "provenance")

_WORDING = Wording(
    file="CSV file",
    holder="program",
    lost="Choose another path.",
    in_doubt="the study itself is not touched.",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""How a cell begins that a spreadsheet would run, or that :func:`written` has changed."""


def records(ledger: Ledger) -> list[dict[str, Any]]:
    """One plain dict a trial, in id order, under the same columns."""
    parameters, more = _parameters(ledger), _outcomes(ledger)
    return [
        {
            "trial_id": trial.id,
            "status": ledger.status(trial.id),
            "value": ledger.value(trial.id),
            **{column: trial.params[name] for name, column in parameters.items()},
            **{column: _listed(ledger.outcomes.get(trial.id), what, name) for column, (what, name) in more.items()},
            "origin": trial.origin,
            "provenance": trial.provenance,
            "error": ledger.errors.get(trial.id),
        }
        for trial in ledger.trials
    ]


def write_csv(ledger: Ledger, path: PathLike, raw: bool) -> None:
    """The table as a CSV file with a header, whole or not at all; ``raw`` writes cells as they are."""
    replace_file(as_path(path, "a CSV file"), _csv_lines(ledger, raw), _WORDING, lock=False)


def written(cell: Any) -> Any:
    """A cell as CSV has it: text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def unwritten(cell: str) -> str:
    """The text that :func:`written` has written."""
    return cell[1:] if cell.startswith("'") else cell


def _csv_lines(ledger: Ledger, raw: bool) -> Iterator[bytes]:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    columns = ["trial_id", "status", "value", *_parameters(ledger).values(), *_outcomes(ledger)]
    rows = ([*row.values()] for row in records(ledger))
    for row in ([*columns, "origin", "provenance", "error"], *rows):
        writer.writerow(row if raw else [written(cell) for cell in row])
        # Text of an exception may hold a lone surrogate, from a file name that is not UTF-8.
        yield buffer.getvalue().encode("utf-8", errors="backslashreplace")
        buffer.seek(0)
        buffer.truncate()


def _parameters(ledger: Ledger) -> dict[str, str]:
    """The columns of the parameters by their names: one that bears the name of another column is prefixed."""
    names = ledger.space.names
    columns: dict[str, str] = {}
    for name in names:
        column = name
        while column in COLUMNS or (column != name and column in names):
            column = f"param.{column}"
        columns[name] = column
    return columns


def _outcomes(ledger: Ledger) -> dict[str, tuple[str, str]]:
    """Columns that a plain study has not, and where an outcome has what stands in them."""
    found = list(ledger.outcomes.values())
    named = {
        what: list(dict.fromkeys(name for outcome in found for name in getattr(outcome, what)))
        for what in ("objectives", "constraints", "noise", "replicates")
    }
    if ledger.goals is not None:
        named |= {"objectives": [*ledger.goals.aims], "constraints": [*ledger.goals.limited]}
    only = len(named["objectives"]) < 2 and not named["constraints"] and ledger.goals is None
    taken = {*COLUMNS, *_parameters(ledger).values()}
    more = {}
    for what, names in named.items():
        beside = what in ("noise", "replicates")
        for name in names if beside or not only else ():
            plain = what if beside and only else f"{what}.{name}" if beside else name
            while plain in taken:
                plain = f"outcome.{plain}"
            more[plain] = (what, name)
            taken.add(plain)
    return more


def _listed(outcome: Outcome | None, what: str, name: str) -> float | str | None:
    found = None if outcome is None else getattr(outcome, what).get(name)
    return " ".join(map(repr, found)) if isinstance(found, tuple) else found
