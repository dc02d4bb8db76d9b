"""A study as a table with a row for each trial: as plain dicts, or as CSV in which a spreadsheet runs no formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from believer.space.units import units_of
from believer.study.files import PathLike, Wording, as_path, replace_file
from believer.study.ledger import Ledger
from believer.study.outcome import Outcome
from believer.study.trials import RESERVED, Trial, column_names, same_value

_WORDING = Wording(
    file="CSV file",
    holder="program",
    lost="Choose another path.",
    in_doubt="the study itself is not touched.",
)
_FORMULA = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
"""The characters with which a formula begins, including their full-width forms."""

_START = re.compile(rf"['\t\r\n]|\s*{_FORMULA}")
"""The beginning of a cell that is a formula, or that :func:`written` has changed."""

_INNER = re.compile(rf"([;\s]+)('*)({_FORMULA})?")
"""The same within a cell, because a spreadsheet with another separator than the comma may begin a cell there."""

_SEPARATORS = frozenset(";\t\r\n")
_BREAKS = _SEPARATORS | {",", '"'}


def records(ledger: Ledger, last: int | None = None) -> list[dict[str, Any]]:
    """A plain dict for each trial, in id order, with the same columns; all trials, or only the ``last`` ones."""
    columns, more, outside, suggested = parameters(ledger), _outcomes(ledger), ledger.outside, _suggested(ledger)
    return [
        {
            "trial_id": trial.id,
            "status": ledger.status(trial.id),
            "value": ledger.value(trial.id),
            **{column: value_of(ledger, trial, name) for name, column in columns.items()},
            **{column: (trial.suggested or {}).get(name) for name, column in suggested.items()},
            **{column: _listed(ledger.outcomes.get(trial.id), what, name) for column, (what, name) in more.items()},
            "origin": trial.origin,
            "provenance": trial.provenance,
            "error": ledger.errors.get(trial.id),
            **({"outside": trial.id in outside} if outside else {}),
        }
        for trial in (ledger.trials if last is None else ledger.trials[-last:])
    ]


def value_of(ledger: Ledger, trial: Trial, name: str, missing: Any = None) -> Any:
    """The value of a parameter of a trial, even of one that was removed from the space; ``missing`` if the trial has
    none."""
    return trial.params.get(name, ledger.handed[trial.id].params.get(name, missing))


def by_column(ledger: Ledger) -> dict[str, list[Any]]:
    """The table by columns, including empty ones."""
    rows = records(ledger)
    return {name: [row[name] for row in rows] for name in _columns(ledger)}


def units(ledger: Ledger) -> dict[str, str]:
    """The units of the columns that have any."""
    goals, names = ledger.goals, ledger.goals.objectives
    found = {"value": goals.units(names[0]) if len(names) == 1 else ""}
    found |= {column: units_of(ledger.space.parameters.get(name)) for name, column in parameters(ledger).items()}
    found |= {column: units_of(ledger.space.parameters.get(name)) for name, column in _suggested(ledger).items()}
    found |= {column: goals.units(name) for column, (what, name) in _outcomes(ledger).items()}
    return {column: encoded for column, encoded in found.items() if encoded}


def write_csv(ledger: Ledger, path: PathLike, raw: bool) -> None:
    """Write the table as a CSV file with a header, as a whole or not at all; ``raw`` writes cells as they are."""
    replace_file(as_path(path, "a CSV file"), _csv_lines(ledger, raw), _WORDING, lock=False)


def written(cell: Any) -> Any:
    """A cell for CSV: text that a spreadsheet would take for a formula gets an apostrophe in front."""
    if not isinstance(cell, str):
        return cell
    text = _within(cell, lambda marks: f"'{marks}")
    return f"'{text}" if _START.match(text) else text


def unwritten(cell: str) -> str:
    """The inverse of :func:`written`."""
    return _within(cell.removeprefix("'"), lambda marks: marks[1:])


def _within(cell: str, change: Callable[[str], str]) -> str:
    """A cell in which apostrophes are changed in front of text that would be a formula if a cell began there."""

    def changed(found: re.Match[str]) -> str:
        risky = found[3] is not None and not _SEPARATORS.isdisjoint(found[1])
        return found[1] + change(found[2]) + found[3] if risky else found[0]

    return _INNER.sub(changed, cell)


def _csv_lines(ledger: Ledger, raw: bool) -> Iterator[bytes]:
    for row in (_columns(ledger), *([*row.values()] for row in records(ledger))):
        line = ",".join(_quoted(cell if raw else written(cell)) for cell in row) + "\r\n"
        # Text of an exception may hold a lone surrogate, from a file name that is not UTF-8.
        yield line.encode("utf-8", errors="backslashreplace")


def _columns(ledger: Ledger) -> list[str]:
    known = ("trial_id", "status", "value", *parameters(ledger).values(), *_suggested(ledger).values())
    known += (*_outcomes(ledger),)
    return [*known, "origin", "provenance", "error", *(["outside"] if ledger.outside else [])]


def _quoted(cell: Any) -> str:
    """A cell, in quotes if it has a separator of cells, in any format."""
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if not _BREAKS.isdisjoint(text) else text


def parameters(ledger: Ledger) -> dict[str, str]:
    """The columns of the parameters by their names; a parameter with the name of another column gets a prefix.

    Parameters that the space had before it was changed come last.
    """
    former = (name for trial in ledger.handed for name in trial.params) if ledger.is_changed else ()
    return column_names([*dict.fromkeys((*ledger.space.names, *former))])


def _suggested(ledger: Ledger) -> dict[str, str]:
    """The columns of suggested values, for parameters of which some trial was evaluated with another value."""
    moved = [trial for trial in ledger.trials if trial.suggested is not None]
    columns, found = parameters(ledger), dict[str, str]()
    for name in columns if moved else ():
        if any(not same_value(t.params.get(name), (t.suggested or {}).get(name)) for t in moved):
            column = f"suggested.{name}"
            while column in {*RESERVED, *columns.values(), *found.values()}:
                column = f"suggested.{column}"
            found[name] = column
    return found


def _outcomes(ledger: Ledger) -> dict[str, tuple[str, str]]:
    """Columns that a plain study has not, and where an outcome has what stands in them."""
    found = list(ledger.outcomes.values())
    named = {
        what: list(dict.fromkeys(name for outcome in found for name in getattr(outcome, what)))
        for what in ("objectives", "constraints", "noise", "replicates")
    }
    goals = ledger.goals
    if not goals.is_plain:
        named |= {"objectives": [*goals.aims], "constraints": [*goals.limited]}
    only = len(named["objectives"]) < 2 and not named["constraints"] and goals.is_plain
    taken = {*RESERVED, *parameters(ledger).values(), *_suggested(ledger).values()}
    more = {}
    for what, names in named.items():
        is_detail = what in ("noise", "replicates")
        for name in names if is_detail or not only else ():
            plain = what if is_detail and only else f"{what}.{name}" if is_detail else name
            while plain in taken:
                plain = f"outcome.{plain}"
            more[plain] = (what, name)
            taken.add(plain)
    return more


def _listed(outcome: Outcome | None, what: str, name: str) -> float | str | None:
    found = None if outcome is None else getattr(outcome, what).get(name)
    return " ".join(map(repr, found)) if isinstance(found, tuple) else found
