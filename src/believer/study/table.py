"""A study as a table, one row a trial: as plain dicts, or as CSV that a spreadsheet opens without running it."""

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
"""How what a spreadsheet would run begins, also in the full width of East Asian scripts."""

_START = re.compile(rf"['\t\r\n]|\s*{_FORMULA}")
"""How a cell begins that a spreadsheet would run, or that :func:`written` has changed."""

_INNER = re.compile(rf"([;\s]+)('*)({_FORMULA})?")
"""The same within a cell: where the separator is another one than the comma, a spreadsheet may begin a cell there."""

_SEPARATORS = frozenset(";\t\r\n")
_BREAKS = _SEPARATORS | {",", '"'}


def records(ledger: Ledger, last: int | None = None) -> list[dict[str, Any]]:
    """One plain dict a trial, in id order, under the same columns; all, or only so many of the ``last``."""
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
    """A parameter of a trial, also one that the space has no more; ``missing`` where the trial has none of it."""
    return trial.params.get(name, ledger.handed[trial.id].params.get(name, missing))


def by_column(ledger: Ledger) -> dict[str, list[Any]]:
    """The table by its columns, with those that no trial has anything in."""
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
    """The table as a CSV file with a header, whole or not at all; ``raw`` writes cells as they are."""
    replace_file(as_path(path, "a CSV file"), _csv_lines(ledger, raw), _WORDING, lock=False)


def written(cell: Any) -> Any:
    """A cell as CSV has it: text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if not isinstance(cell, str):
        return cell
    text = _within(cell, lambda marks: f"'{marks}")
    return f"'{text}" if _START.match(text) else text


def unwritten(cell: str) -> str:
    """The text that :func:`written` has written."""
    return _within(cell.removeprefix("'"), lambda marks: marks[1:])


def _within(cell: str, change: Callable[[str], str]) -> str:
    """A cell with the apostrophes changed before what would be a formula if a cell began within it."""

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
    """A cell in quotes where it holds what separates cells, here or elsewhere."""
    text = "" if cell is None else str(cell)
    return '"' + text.replace('"', '""') + '"' if not _BREAKS.isdisjoint(text) else text


def parameters(ledger: Ledger) -> dict[str, str]:
    """The columns of the parameters by their names: one that bears the name of another column is prefixed.

    Parameters that the space had before it was changed come last.
    """
    former = (name for trial in ledger.handed for name in trial.params) if ledger.is_changed else ()
    return column_names([*dict.fromkeys((*ledger.space.names, *former))])


def _suggested(ledger: Ledger) -> dict[str, str]:
    """Columns of what was suggested, by the parameters that some trial was evaluated with another value of."""
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
