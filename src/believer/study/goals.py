"""The goals of a study: which outcomes are minimized, which are maximized, and which must stay within limits.

A study of a plain number minimizes or maximizes the outcome "value". A study with several outcomes declares them by
name::

    outcomes={"yield": Maximize(), "cost": Minimize(), "purity": AtLeast(95)}

Each number that is optimized or limited becomes an output, with a model of its own. Internally every objective is
minimized and every one-sided limit is an upper limit, whatever the user's direction is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from believer.acquisitions.feasibility import Limits
from believer.arrays import LARGEST, finite, shown
from believer.batch.learned import Output
from believer.errors import InvalidInput
from believer.space.units import units_of
from believer.study.goal import (
    KINDS,
    AtLeast,
    AtMost,
    Between,
    Desirability,
    Goal,
    Maximize,
    Minimize,
    from_config,
    to_config,
)
from believer.study.outcome import ONLY, Outcome

DESIRABILITY = "desirability"
"""The name of the one objective that desirabilities add up to."""

RUNS = "(runs)"
"""The output for the success of an evaluation: -1 if it returned a result, 1 if it failed."""


@dataclass(frozen=True)
class Goals:
    """The goal of each outcome, by name.

    Parameters
    ----------
    wanted : the goal of each outcome.
    """

    wanted: Mapping[str, Goal]

    def __post_init__(self) -> None:
        wanted = self.wanted
        if not isinstance(wanted, Mapping) or not wanted:
            raise InvalidInput(f'outcomes must be a dict such as {{"yield": Maximize()}}; got {shown(wanted)}.')
        for name, goal in wanted.items():
            if not isinstance(name, str) or not name or name in (RUNS, DESIRABILITY):
                raise InvalidInput(
                    f'an outcome must have a name other than "", "{RUNS}", "{DESIRABILITY}"; got {name!r}.'
                )
            if not isinstance(goal, tuple(KINDS.values())):
                made = f" Say {goal.__name__}(...)." if isinstance(goal, type) and goal in KINDS.values() else ""
                raise InvalidInput(
                    f"the goal of an outcome must be one of {', '.join(KINDS)}; got {shown(goal)} for {name!r}.{made}"
                )
        if not self.aims:
            raise InvalidInput(
                "outcomes must include something to optimize: Minimize(), Maximize() or Desirability(...)."
            )
        weighed = [isinstance(wanted[name], Desirability) for name in self.aims]
        if any(weighed) and not all(weighed):
            raise InvalidInput("desirabilities make up the only objective; Minimize() and Maximize() cannot join them.")
        object.__setattr__(self, "wanted", dict(wanted))

    @staticmethod
    def plain(maximize: bool) -> Goals:
        """The goals of a study of one number."""
        return Goals({ONLY: Maximize() if maximize else Minimize()})

    @cached_property
    def is_plain(self) -> bool:
        """Whether the only outcome is "value". The first result may then give it another name, and return further
        numbers."""
        return tuple(self.wanted) == (ONLY,) and not self.is_weighed

    @staticmethod
    def named(plain: Mapping[str, tuple[str, Any]]) -> Goals:
        """Goals from plain data, as problems have them.

        Parameters
        ----------
        plain : for each outcome "minimize", "maximize", "at_most", "at_least" or "between", and its limits: None, a
            number, or two.
        """
        limits = {name: limit if isinstance(limit, tuple) else (limit,) for name, (_, limit) in plain.items()}
        kinds = {name: KINDS[kind.title().replace("_", "")] for name, (kind, _) in plain.items()}
        return Goals({name: kind(*(x for x in limits[name] if x is not None)) for name, kind in kinds.items()})

    @cached_property
    def aims(self) -> tuple[str, ...]:
        """Outcomes that are optimized."""
        return tuple(name for name, goal in self.wanted.items() if isinstance(goal, Minimize | Maximize | Desirability))

    @cached_property
    def limited(self) -> tuple[str, ...]:
        """Outcomes that must stay within limits."""
        return tuple(name for name in self.wanted if name not in self.aims)

    @cached_property
    def is_weighed(self) -> bool:
        """Whether the objective is a weighted mean of desirabilities."""
        return isinstance(self.wanted[self.aims[0]], Desirability)

    @cached_property
    def objectives(self) -> tuple[str, ...]:
        """Outputs that are optimized: the outcomes, or the one objective that combines their desirabilities."""
        return (DESIRABILITY,) if self.is_weighed else self.aims

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs that models learn: objectives, then limited outcomes, in the order of their declaration."""
        one = len(self.objectives) == 1
        signs = {n: -1.0 if n == DESIRABILITY or isinstance(self.wanted[n], Maximize) else 1.0 for n in self.objectives}
        found = [Output(name, sign, warped=one and name != DESIRABILITY) for name, sign in signs.items()]
        for name in self.limited:
            goal = self.wanted[name]
            if isinstance(goal, Between):
                found.append(Output(name, 1.0, Limits(goal.low, goal.high), goal.probability, warped=False))
            elif isinstance(goal, AtLeast):
                found.append(Output(name, -1.0, Limits(high=-goal.threshold), goal.probability))
            elif isinstance(goal, AtMost):
                found.append(Output(name, 1.0, Limits(high=goal.threshold), goal.probability))
        return tuple(found)

    def arranged(self, outcome: Outcome) -> Outcome:
        """``outcome`` sorted into objectives and constraints; InvalidInput for a name that the study does not know."""
        if self.is_plain:
            if not outcome.objectives and not outcome.lost:
                raise InvalidInput("an outcome needs at least one objective; got none.")
            return outcome
        numbers = {**outcome.objectives, **outcome.constraints}
        unknown = [name for name in (*numbers, *outcome.lost) if name not in self.wanted]
        if unknown:
            number = f' Of a number, say which it is: {{"{self.aims[0]}": ...}}.' if unknown == [ONLY] else ""
            raise InvalidInput(
                f"this study has the outcomes {', '.join(self.wanted)}; got {', '.join(map(shown, unknown))}.{number}"
            )
        return Outcome(
            {name: numbers[name] for name in self.aims if name in numbers},
            {name: numbers[name] for name in self.limited if name in numbers},
            outcome.noise,
            outcome.replicates,
            outcome.lost,
        )

    def of_number(self, outcome: Outcome) -> Outcome:
        """Give a plain number the name of the only outcome. Anything else is returned as it is."""
        if len(self.wanted) != 1 or ONLY in self.wanted or outcome.names != {ONLY}:
            return outcome
        (name,) = self.wanted
        return Outcome(
            {name: outcome.value}, noise=dict.fromkeys([name] if outcome.noise else [], *outcome.noise.values())
        )

    def key(self, outcome: Outcome, output: str) -> str:
        """The name under which an outcome holds an output."""
        return next(iter(outcome.objectives), output) if self.is_plain else output

    def _called(self, name: str, number: str, others: Set[str]) -> str:
        """The name in these goals of a number that was told under ``name``."""
        other = {ONLY: number, number: ONLY}.get(name, name)
        return other if name not in self.wanted and other in self.wanted and other not in others else name

    def regarded(self, outcome: Outcome, number: str) -> Outcome | None:
        """An outcome told under other goals, sorted by these goals; None if no number is left.

        Numbers without a goal are kept with the others, as constraints. ``number`` is the second name of the plain
        number.
        """
        told = outcome.names
        names = {name: self._called(name, number, told) for name in told}
        numbers = {names[name]: value for name, value in (*outcome.objectives.items(), *outcome.constraints.items())}
        aims = {name: numbers[name] for name in self.aims if name in numbers}
        others = {name: value for name, value in numbers.items() if name not in self.aims}
        lost = tuple(names[name] for name in outcome.lost if names[name] in self.wanted)
        if not (aims or lost) and (self.is_plain or not others):
            return None
        return Outcome(
            aims,
            others,
            {names[name]: std for name, std in outcome.noise.items()},
            {names[name]: each for name, each in outcome.replicates.items()},
            lost,
        )

    def unwanted(self, outcome: Outcome, number: str) -> Outcome | None:
        """The part of an outcome that has no goal; None if there is none."""
        told = outcome.names
        seen = {name for name in told if self._called(name, number, told) in self.wanted}
        return outcome.without(seen) if seen < told else None

    def missing(self, outcome: Outcome | None) -> tuple[str, ...]:
        """Outcomes that have not been told yet."""
        if outcome is None:
            return tuple(self.wanted)
        if self.is_plain:
            return ()
        known = outcome.names
        return tuple(name for name in self.wanted if name not in known)

    def whole(self, outcomes: Mapping[int, Outcome]) -> frozenset[int]:
        """Ids of the outcomes that are complete."""
        if self.is_plain:
            return frozenset(outcomes)
        wanted = self.wanted.keys()
        return frozenset(
            {
                i
                for i, one in outcomes.items()
                if not wanted - one.objectives.keys() - one.constraints.keys() - {*one.lost}
            }
        )

    def column(self, outcomes: Mapping[int, Outcome], output: str) -> dict[int, float]:
        """The values of an output, as by :meth:`value`, for all outcomes that have one. All outcomes have the same
        objectives."""
        if output == DESIRABILITY and self.is_weighed:
            return {i: value for i, one in outcomes.items() if (value := self.value(one, output)) is not None}
        key = self.key_of_all(outcomes.values(), output)
        found = {
            i: one.objectives[key] if key in one.objectives else one.constraints.get(output)
            for i, one in outcomes.items()
        }
        return {i: value for i, value in found.items() if value is not None}

    def key_of_all(self, outcomes: Iterable[Outcome], output: str) -> str:
        """The name under which all outcomes hold an output. All outcomes have the same objectives."""
        first = next((one for one in outcomes if one.objectives), None) if self.is_plain else None
        return output if first is None else self.key(first, output)

    def value(self, outcome: Outcome, output: str) -> float | None:
        """The value of an output in an outcome, in the user's units; None if there is none."""
        if output != DESIRABILITY or not self.is_weighed:
            found = outcome.objectives.get(self.key(outcome, output))
            return outcome.constraints.get(output) if found is None else found
        if any(name not in outcome.objectives for name in self.aims):
            return None
        return self._weighed(outcome.objectives)

    def _weighed(self, values: Mapping[str, float]) -> float:
        """The geometric mean of the desirabilities of ``values``."""
        goals = [(goal, values[name]) for name in self.aims if isinstance(goal := self.wanted[name], Desirability)]
        worths = [(goal.worth(value), goal.weight) for goal, value in goals]
        if min(worth for worth, _ in worths) <= 0.0:
            return 0.0
        total = sum(weight for _, weight in worths)
        return math.exp(sum(weight * math.log(worth) for worth, weight in worths) / total)

    def weighed_std(self, outcome: Outcome, stds: Mapping[str, float]) -> float:
        """The standard deviation of the weighted objective: half the change when a value moves by one std to either
        side.

        The derivative is not used, because it is unbounded near a desirability of zero and does not exist beyond.
        """
        told, squares = outcome.objectives, 0.0
        for name, std in stds.items():
            ends = [self._weighed({**told, name: told[name] + side * std}) for side in (-1.0, 1.0)]
            squares += (0.5 * (ends[1] - ends[0])) ** 2
        return math.sqrt(squares)

    def keeps_limits(self, outcome: Outcome) -> bool:
        """Whether an outcome was observed to be within all limits."""
        for output in self.outputs:
            if output.limits is not None:
                value = outcome.constraints.get(output.name)
                if value is None or not output.limits.low <= output.sign * value <= output.limits.high:
                    return False
        return True

    def units(self, name: str) -> str:
        """The units of an outcome or an output; "" if none are given."""
        return units_of(self.wanted.get(name))

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: to_config(goal) for name, goal in self.wanted.items()}

    @staticmethod
    def from_config(config: Any) -> Goals:
        """The inverse of :meth:`to_config`; InvalidInput if ``config`` cannot be goals."""
        if not isinstance(config, Mapping):
            raise InvalidInput(f"outcomes must be a dict; got {shown(config)}.")
        return Goals({name: from_config(name, part) for name, part in config.items()})


def checked_reference(reference: Any, goals: Goals) -> dict[str, float] | None:
    """The reference point, as numbers by the names of the objectives, or None to infer it; InvalidInput if it is
    invalid."""
    if reference is None:
        return None
    names = goals.objectives
    if len(names) < 2:
        raise InvalidInput("a reference point needs several objectives; this study has one. Leave out reference.")
    if not isinstance(reference, Mapping) or reference.keys() != set(names):
        raise InvalidInput(f"reference must have a number for each of {', '.join(names)}; got {shown(reference)}.")
    return {name: finite(reference[name], f"reference of {name}", LARGEST) for name in names}
