"""Corrections of results, as they are typed: yield=82.5."""

from __future__ import annotations

import math
from collections.abc import Sequence

from believer.errors import InvalidInput
from believer.lab.cells import Marks, says_failed, text_of
from believer.lab.places import nearest
from believer.optimizer import Optimizer
from believer.space.units import amount
from believer.study.labels import number
from believer.study.outcome import Outcome


def amended(study: Optimizer, trial: int, results: Sequence[str], decimal: str) -> list[str]:
    """Correct a result, and return what has changed, a sentence for each outcome.

    Parameters
    ----------
    study : to be corrected.
    trial : the number of the trial.
    results : each a name and a value, "yield=82.5"; replicates are several values of a name.
    decimal : the decimal mark of the study's sheets.
    """
    goals = study.goals
    folded = {text_of(name).casefold(): name for name in goals.wanted}
    marks = Marks.of([text.partition("=")[2] for text in results], hint=decimal)
    values: dict[str, list[float]] = {}
    for text in results:
        given, equals, value = text.partition("=")
        name = folded.get(text_of(given).casefold())
        if not equals or name is None:
            wrong = f"there is no outcome {given!r}; {nearest(given, [*goals.wanted])}"
            raise InvalidInput(wrong if equals else f"a result is a name and a value, such as yield=82; got {text!r}.")
        try:
            found = math.nan if says_failed(text_of(value)) else marks.number(value, goals.units(name))
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error}") from error
        values.setdefault(name, []).append(found)
    before = study.outcome(trial) if trial >= 0 else None
    if all(math.isnan(value) for given in values.values() for value in given) and values.keys() == goals.wanted.keys():
        study.amend(trial, error="failed")
    else:
        study.amend(trial, {name: given[0] if len(given) == 1 else given for name, given in values.items()})
    after, units = study.outcome(trial), {name: goals.units(name) for name in values}
    return [
        f"Trial {trial}, {name}: was {_said(before, name, units[name])}, is {_said(after, name, units[name])} now."
        for name in values
    ]


def _said(outcome: Outcome | None, name: str, units: str) -> str:
    """What is known of an outcome, in words."""
    if outcome is None:
        return "failed"
    if name in outcome.replicates:
        return f"{amount(' and '.join(map(number, outcome.replicates[name])), units)}"
    value = {**outcome.objectives, **outcome.constraints}.get(name)
    return ("failed" if name in outcome.lost else "nothing") if value is None else amount(number(value), units)
