"""Corrections of results, typed as yield=82.5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from believer.arrays import nearest
from believer.errors import InvalidInput
from believer.lab.cells import folded, says_failed
from believer.lab.headings import values_of
from believer.optimizer import Optimizer
from believer.space.texts import Marks, text_of
from believer.space.units import amount
from believer.study.goals import Goals
from believer.study.labels import number
from believer.study.outcome import Outcome


def amended(study: Optimizer, trial: int, typed: Sequence[str], decimal: str) -> list[str]:
    """Correct a result, and return what has changed, a sentence for each name.

    ``typed`` are names with values, such as "yield=82.5"; several values of an outcome are replicates. The value of a
    parameter is the one that was really used.
    """
    goals, parameters = study.goals, {folded(name) for name in study.space.names}
    settings = [text for text in typed if folded(text.partition("=")[0]) in parameters]
    params = values_of(settings, study.space, decimal)
    values = _results([text for text in typed if text not in settings], goals, study.space.names, decimal)
    before = study.outcome(trial) if trial >= 0 else None
    used = study.trials[trial].params if 0 <= trial < len(study.trials) else {}
    every = [value for given in values.values() for value in given]
    told: dict[str, Any] = {name: given[0] if len(given) == 1 else given for name, given in values.items()}
    if values and all(map(math.isnan, every)) and values.keys() == goals.wanted.keys():
        study.amend(trial, error="failed", params=params or None)
    else:
        study.amend(trial, told or None, params=params or None)
    after = study.outcome(trial)
    changes = [(n, _said(before, n, goals.units(n)), _said(after, n, goals.units(n))) for n in values]
    changes += [(name, number(used.get(name)), number(value)) for name, value in params.items()]
    said = [f"Trial {trial}, {name}: was {then}, is {now} now." for name, then, now in changes]
    if study.records()[trial]["status"] == "partial":
        lacking = " and ".join(name for name in goals.wanted if _said(after, name, "") == "nothing")
        said.append(f"Trial {trial} now waits for {lacking}.")
    return said


def _results(typed: Sequence[str], goals: Goals, parameters: Sequence[str], decimal: str) -> dict[str, list[float]]:
    """Numbers by outcome, with NaN for those that failed."""
    by_text = {folded(name): name for name in goals.wanted}
    marks = Marks.of([text.partition("=")[2] for text in typed], hint=decimal)
    values: dict[str, list[float]] = {}
    for text in typed:
        given, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(f"a result is a name and a value, such as yield=82; got {text!r}.")
        name = by_text.get(folded(given))
        if name is None:
            raise InvalidInput(f"there is no outcome {given!r}; {nearest(given, [*goals.wanted, *parameters])}")
        try:
            found = math.nan if says_failed(text_of(value)) else marks.number(value, goals.units(name))
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from error
        values.setdefault(name, []).append(found)
    return values


def _said(outcome: Outcome | None, name: str, units: str) -> str:
    """The known result of an outcome, in words."""
    if outcome is None:
        return "failed"
    if name in outcome.replicates:
        return amount(" and ".join(map(number, outcome.replicates[name])), units)
    value = {**outcome.objectives, **outcome.constraints}.get(name)
    return ("failed" if name in outcome.lost else "nothing") if value is None else amount(number(value), units)
