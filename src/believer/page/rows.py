"""The trials of a study as the table of a page, and its columns as data of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from believer.arrays import Array, to_width
from believer.page.cells import Json, cell, isolated, numbers, readable
from believer.plot.data import Axis, Source
from believer.space.units import amount
from believer.study.table import parameters as columns_of_parameters

_BEFORE, _AFTER = ("trial_id", "status", "value"), ("origin", "provenance", "error")
_ROLES = {"trial_id": "id", "status": "status", "value": "outcome", "error": "error"}


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """All trials, with a row for each, and the columns of :meth:`Study.to_csv`.

    Attributes
    ----------
    columns : for each column its name, its label with units, and its role: "id", "status", "outcome", "parameter",
        "error" or "text"; a hidden column repeats another one.
    rows : the cells.
    parameters : the column of each parameter.
    outcomes : the column of each outcome.
    """

    columns: list[Json]
    rows: list[list[Any]]
    parameters: dict[str, int]
    outcomes: dict[str, int]

    def to_json(self) -> Json:
        """The value as plain data for the page."""
        return {"columns": self.columns, "rows": self.rows}

    def along(self, axis: Axis, at: Array) -> Any:
        """Positions of trials on an axis: the column of the table that has them, or the positions ``at`` themselves."""
        column = self.parameters[axis.name]
        if axis.is_number:
            return {"column": column}
        if len({*axis.choices}) == len(axis.choices):
            return {"column": column, "choices": [*map(readable, axis.choices)]}
        return numbers(at)


def rows_of(source: Source) -> PageRows:
    """The table of a study."""
    records, trials, names = source.study.records(), source.study.trials, source.space.names
    heads = [*records[0]] if records else [*_BEFORE, *names, *_AFTER]
    first = len(_BEFORE)
    parameters = {name: first + i for i, name in enumerate(names)}
    outcome_columns = range(first + len(columns_of_parameters(source.study._ledger)), heads.index(_AFTER[0]))
    outcomes = {heads[i].removeprefix("outcome."): i for i in outcome_columns}
    goals = source.goals
    one = goals.objectives[0]
    hidden = not goals.is_plain and (len(goals.objectives) > 1 or one in outcomes)
    if len(goals.objectives) == 1 and one not in outcomes:
        outcomes[one] = 2
    shown = {parameters[axis.name]: axis.label for axis in source.axes}
    shown |= {place: source.label(name) for name, place in outcomes.items() if name in source.outputs}
    columns = []
    for i, head in enumerate(heads):
        role = (
            "parameter" if i in parameters.values() else "outcome" if i in outcome_columns else _ROLES.get(head, "text")
        )
        labeled = readable(shown.get(i, head))
        columns.append({"name": readable(head), "label": labeled, "role": role, "hidden": i == 2 and hidden})
    rows = [
        [
            "None" if value is None and i in parameters.values() and names[i - first] in trial.params else cell(value)
            for i, value in enumerate(record.values())
        ]
        for record, trial in zip(records, trials, strict=True)
    ]
    return PageRows(columns, rows, parameters, outcomes)


def labels_of(source: Source) -> dict[str, str]:
    """The parameters by name, with their units."""
    return {axis.name: axis.label for axis in source.axes}


def units_of(source: Source) -> dict[str, str]:
    """The units of the parameters that have some, by name."""
    return {axis.name: axis.units for axis in source.axes if axis.units}


def outcome(source: Source, name: str, value: float, half_width: float = 0.0) -> str:
    """A value of an outcome in a sentence, with its units, and with the digits for an interval of that half width."""
    return amount(to_width(value, half_width), isolated(source.units(name)))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], plain: bool = False) -> Json:
    """A small table of a page; with ``plain``, the first column only names the second."""
    return {
        "caption": readable(caption),
        "head": [*map(readable, head)],
        "rows": [[*map(cell, row)] for row in rows],
        "plain": plain,
    }


def pairs(caption: str, found: Mapping[str, Any]) -> Json:
    """A table of names and their values."""
    return table(caption, (), found.items(), plain=True)
