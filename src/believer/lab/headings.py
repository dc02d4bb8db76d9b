"""The columns of a sheet: the parameter or outcome of each heading, and its units."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from believer.arrays import is_number, nearest, shown
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.lab.cells import folded, same_text, says_failed
from believer.lab.filled import FilledSheet
from believer.space import Space
from believer.space.parameter import Measurable, Number, Parameter
from believer.space.texts import Marks, text_of
from believer.space.units import labeled, units_of
from believer.space.when import when_of
from believer.study.goals import Goals
from believer.study.labels import one_line
from believer.study.table import unwritten

TRIAL, NOTE = "trial", "note"
"""The headings of the columns of a sheet besides parameters and outcomes."""

_TRIALS = (TRIAL, "trial_id", "trial id", "id")
_NOTES = (NOTE, "notes", "remark", "remarks", "comment", "comments")

_UNITS = re.compile(r"(.+?)\s*(?:\(([^()]*)\)|\[([^\[\]]*)\])|(.+?)\s+(?:/|in)\s+(\S+)")


@dataclass(frozen=True, slots=True)
class Columns:
    """The positions of a sheet's columns.

    Attributes
    ----------
    trial : the position of the column of trial numbers; None if there is none.
    parameters, outcomes : the positions of the columns by name.
    note : the position of the column of notes; None if there is none.
    ignored : headings that do not belong to the study.
    """

    trial: int | None
    parameters: Mapping[str, int]
    outcomes: Mapping[str, int]
    note: int | None
    ignored: tuple[str, ...]


def columns_of(sheet: FilledSheet, space: Space, goals: Goals) -> Columns:
    """The columns of a sheet; InvalidInput if they cannot be those of the study."""
    headings, name = sheet.headings, sheet.name
    units = {**{key: units_of(p) for key, p in space.parameters.items()}}
    units |= {key: goals.units(key) for key in goals.wanted}
    by_text = {folded(key): key for key in units}
    places: dict[str, int] = {}
    trial = note = None
    unknown: list[str] = []
    for place, heading in enumerate(headings):
        key = _name(heading, by_text, units, name)
        if key is not None:
            if key in places:
                raise InvalidInput(
                    f"{name} has two columns for {key!r}, {headings[places[key]]!r} and {heading!r}: keep one, and "
                    "write replicates into rows of their own."
                )
            places[key] = place
        elif folded(heading) in _TRIALS and trial is None:
            trial = place
        elif folded(heading) in _NOTES and note is None:
            note = place
        elif heading:
            unknown.append(heading)
    missing = [key for key in units if key not in places]
    _refuse_misspelt(unknown, missing, name)
    outcomes = {key: places[key] for key in goals.wanted if key in places}
    parameters = {key: places[key] for key in space.names if key in places}
    if not outcomes:
        seen = [one_line(heading, 30) for heading in headings if heading]
        listed = ", ".join([*seen[:8], *(["..."] if len(seen) > 8 else [])])
        raise InvalidInput(
            f"{name} has no column for {' or '.join(goals.wanted)}; its columns are {listed or 'without headings'}. Is "
            "it a sheet of this study?"
        )
    needed = [key for key, p in space.parameters.items() if p.width and when_of(p) is None]
    if space.table is not None and space.table.id in parameters:
        needed = []
    lacking = [key for key in needed if key not in parameters]
    if trial is None and lacking:
        raise InvalidInput(
            f"{name} needs the column {TRIAL!r}, or a column for each parameter; it has none for {', '.join(lacking)}."
        )
    _refuse_renamed([key for key in missing if key in goals.wanted], unknown, units, sheet)
    return Columns(trial, parameters, outcomes, note, tuple(unknown))


def _name(heading: str, by_text: Mapping[str, str], units: Mapping[str, str], name: str) -> str | None:
    """The parameter or outcome of a heading; None for another heading, InvalidInput for one with other units."""
    for text in (heading, unwritten(heading)):
        if (key := by_text.get(folded(text))) is not None:
            return key
        found = _UNITS.fullmatch(text_of(text))
        if found is None:
            continue
        key, said = by_text.get(folded(found[1] or found[4])), found[2] or found[3] or found[5]
        if key is None:
            continue
        if said and units[key] and folded(said) != folded(units[key]):
            raise InvalidInput(
                f"the column {heading!r} of {name} is in {said!r}, and the study has {key} in {units[key]!r}: convert "
                "the numbers, and write the units of the study."
            )
        return key
    return None


def _refuse_misspelt(unknown: Sequence[str], missing: Sequence[str], name: str) -> None:
    """Raise InvalidInput if an unknown heading is nearly that of a missing column."""
    near = {folded(key): key for key in missing}
    for heading in unknown:
        for text in (folded(heading), folded(re.sub(r"[(\[].*", "", heading))):
            if found := difflib.get_close_matches(text, [*near], 1, cutoff=0.75):
                raise InvalidInput(
                    f"the column {heading!r} of {name} is not of the study; if {near[found[0]]!r} is meant, name it so."
                )


def _refuse_renamed(
    missing: Sequence[str], unknown: Sequence[str], units: Mapping[str, str], sheet: FilledSheet
) -> None:
    """Raise InvalidInput if an outcome has no column and results may be below an unknown heading."""
    if not missing:
        return
    cells = {
        heading: [text for _, row in sheet.rows if place < len(row) and (text := text_of(row[place]))]
        for place, heading in enumerate(sheet.headings)
        if heading in unknown
    }
    filled = [heading for heading in cells if cells[heading]]
    if not filled:
        return

    def likeness(pair: tuple[str, str]) -> tuple[bool, float]:
        key, heading = pair
        found = _UNITS.fullmatch(text_of(heading))
        said = (found[2] or found[3] or found[5]) if found else ""
        numbers = sum(text[0].isdigit() or says_failed(text) for text in cells[heading])
        return folded(said or "") == folded(units[key]), numbers / len(cells[heading])

    key, heading = max(((key, heading) for key in missing for heading in filled), key=likeness)
    raise InvalidInput(
        f'{sheet.name} has no column "{labeled(key, units[key])}"; is "{one_line(heading, 60)}" that column? Rename '
        "it, or delete it, and tell again."
    )


def value_in(cell: Any, p: Parameter, name: str, marks: Marks) -> Any:
    """The value of a parameter in a cell, which may be one that would not be suggested; InvalidInput if it is not a
    value."""
    choices = getattr(p, "choices", None)
    if not p.width:  # a column of a table that models do not use
        return cell
    if choices is None and has(p, Number):
        try:
            number = marks.number(cell, units_of(p))
            return p.measured(number, name) if has(p, Measurable) else p.check(number, name)
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from error
    values = [*choices] if choices is not None else p.decode(p.grid())
    text = text_of(cell)
    for found in (
        [value for value in values if type(value) is type(cell) and value == cell],
        [value for value in values if text_of(str(value)) in (text, unwritten(text))],
        [value for value in values if same_text(text, str(value))],
        [value for value in values if is_number(value) and value == _number_or_none(cell, marks)],
    ):
        if found:
            return found[0]
    raise InvalidInput(f"{name}: there is no choice {shown(text)}; {nearest(text, map(str, values))}")


def values_of(texts: Iterable[str], space: Space, decimal: str) -> dict[str, Any]:
    """The values of parameters typed as "solvent=DMF"; InvalidInput for any other text."""
    marks = Marks.of([text.partition("=")[2] for text in texts], hint=decimal)
    by_text = {folded(name): name for name in space.names}
    found: dict[str, Any] = {}
    for text in texts:
        given, equals, value = text.partition("=")
        name = by_text.get(folded(given))
        if name is None or not equals:
            raise InvalidInput(
                f"a parameter is a name and a value, such as {space.names[0]}=..., of {', '.join(space.names)}; got "
                f"{text!r}."
            )
        found[name] = value_in(value, space.parameters[name], name, marks)
    return found


def _number_or_none(cell: Any, marks: Marks) -> float | None:
    try:
        return marks.number(cell)
    except InvalidInput:
        return None
