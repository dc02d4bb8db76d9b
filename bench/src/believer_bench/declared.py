"""The score of declared outcomes after each evaluation, as one number.

======  ==============================================================================
symbol  meaning                                                                  shape
======  ==============================================================================
Y       outcomes in the user's units, in the order of their names, NaN where
        there is none                                                            (n, k)
F       objectives, to be minimized, NaN in rows that miss a limit or a number   (n, o)
======  ==============================================================================

With one objective the number is its value where all limits are kept, and nothing elsewhere. With several it is the
hypervolume of the feasible results so far, from a reference point that stays the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from believer.acquisitions.hypervolume import hypervolume
from believer.arrays import Array
from believer.errors import InvalidInput
from believer.experiments.loading import load
from believer.study.goal import Goal
from believer.study.goals import Goals, checked_reference
from believer.study.outcome import Outcome, outcome_of
from believer_bench.problems import FRONTS, LIMITS

SEVERAL = LIMITS | FRONTS
"""The library's problems that return several numbers."""

VALUE, FEASIBLE, HYPERVOLUME = "value", "feasible value", "hypervolume"
"""The name of the score of runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """The outcomes of evaluations, and their goals.

    Parameters
    ----------
    goals : by the names of the outcomes.
    reference : of several objectives, where hypervolumes are measured from; None with one.
    """

    goals: Goals
    reference: dict[str, float] | None = None

    @property
    def measure(self) -> str:
        """The name of the score of runs."""
        if len(self.goals.objectives) > 1:
            return HYPERVOLUME
        return FEASIBLE if self.goals.limited else VALUE

    @property
    def maximize(self) -> bool:
        """Whether a higher score is better."""
        return self.measure == HYPERVOLUME or self.goals.outputs[0].sign < 0.0

    @property
    def options(self) -> dict[str, Any]:
        """The options of an ``Optimizer``."""
        return {"outcomes": self.goals.wanted, "reference": self.reference}

    @property
    def settings(self) -> dict[str, Any]:
        """Its part of a cell's."""
        return {"outcomes": self.goals.to_config(), "reference": self.reference}

    def row(self, outcome: Outcome) -> list[float]:
        """The numbers (k,) of an outcome; ``InvalidInput`` for one that is not declared."""
        found = self.goals.arranged(outcome)
        return [{**found.objectives, **found.constraints}.get(name, np.nan) for name in self.goals.wanted]

    def scores(self, Y: Array) -> Array:
        """The score (n,) of each evaluation: its feasible value, or NaN; or the hypervolume up to it."""
        F = np.array([self._objectives(row) for row in Y.tolist()])
        if self.reference is None:
            return self.goals.outputs[0].sign * F[:, 0]
        r = np.array([one.sign * self.reference[one.name] for one in self.goals.outputs if one.limits is None])
        kept = ~np.isnan(F[:, 0])
        volumes = [0.0, *(hypervolume(F[: i + 1][kept[: i + 1]], r) for i in np.flatnonzero(kept))]
        grown: Array = np.array(volumes)[np.cumsum(kept)]
        return grown

    def _objectives(self, row: list[float]) -> list[float]:
        goals = self.goals
        told = outcome_of(dict(zip(goals.wanted, row, strict=True)), None, None)
        assert isinstance(told, Outcome)
        outcome = goals.arranged(told)
        found = [(one.sign, goals.value(outcome, one.name)) for one in goals.outputs if one.limits is None]
        known = [sign * value for sign, value in found if value is not None]
        return known if len(known) == len(found) and goals.keeps_limits(outcome) else [np.nan] * len(found)

    def made_up(self, y: Array) -> Array:
        """Outcomes (n, k) that keep every limit, with objectives like ``y`` (n,): to see who can take part at all."""
        columns = dict.fromkeys(self.goals.wanted, y)
        for one in self.goals.outputs:
            if one.limits is not None:
                low, high = one.limits.low, one.limits.high
                inside = 0.5 * (low + high) if np.isfinite(low) else high - max(1.0, abs(high))
                columns[one.name] = np.full(len(y), one.sign * inside)
        return np.column_stack(list(columns.values()))


def declare(outcomes: str | Mapping[str, Goal] | None, reference: str | Mapping[str, float] | None) -> Declared | None:
    """The user's declaration, each part a dict or its name ``module:object``; None for one number."""
    wanted = load(outcomes) if isinstance(outcomes, str) else outcomes
    point = load(reference) if isinstance(reference, str) else reference
    if wanted is None:
        if point is not None:
            raise InvalidInput("a reference point belongs to outcomes; declare them, or leave it out.")
        return None
    goals = Goals(wanted)
    if len(goals.objectives) > 1 and point is None:
        raise InvalidInput(
            f"several objectives need a reference point, the same for every run: a number for each of "
            f"{', '.join(goals.objectives)}. Pass it as reference."
        )
    return Declared(goals, checked_reference(point, goals))


@cache
def declared_by(problem: str) -> Declared:
    """The outcomes that the library's problem of that name declares."""
    made = SEVERAL[problem]()
    reference = dict(zip(made.objectives, made.reference or (), strict=False)) or None
    return Declared(Goals.named(made.goals), reference)


def declared_in(settings: Mapping[str, Any]) -> Declared | None:
    """The outcomes that the settings of a cell declare; None if the function returns one number."""
    if "outcomes" in settings:
        return Declared(Goals.from_config(settings["outcomes"]), settings["reference"])
    return declared_by(settings["problem"]) if settings["problem"] in SEVERAL and "function" not in settings else None
