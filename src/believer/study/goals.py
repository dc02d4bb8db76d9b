"""What is wanted of each number that an evaluation returns: less of it, more of it, or to stay within limits.

A study of a plain number minimizes or maximizes the outcome "value". One with several declares them once, by name::

    outcomes={"yield": Maximize(), "cost": Minimize(), "purity": AtLeast(95)}

Each number that is optimized or limited becomes an output, with a model of its own. Inside, an objective is minimized
and the good side of a limit is the lower one, whatever the user's direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeAlias

from believer.acquisitions.feasibility import Within
from believer.arrays import LARGEST, finite, shown
from believer.batch.learned import LIKELY, Output
from believer.errors import InvalidInput
from believer.space.units import amount, call_of, config_of, keep_units, labeled, units_of
from believer.study.outcome import ONLY, Outcome

DESIRABILITY = "desirability"
"""The name of the one objective that desirabilities add up to."""

RUNS = "(runs)"
"""The output that says whether an evaluation comes back at all: -1 where it did, 1 where it failed."""


@dataclass(frozen=True, slots=True)
class Minimize:
    """The less, the better.

    Parameters
    ----------
    units : shown beside the values; never converted, and no part of what makes two goals equal.
    """

    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True, slots=True)
class Maximize:
    """The more, the better.

    Parameters
    ----------
    units : shown beside the values; never converted, and no part of what makes two goals equal.
    """

    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True, slots=True)
class AtMost:
    """A limit from above.

    Parameters
    ----------
    threshold : in the user's units; it may be reached.
    probability : how surely it must be kept for a point to count as feasible.
    units : as those of :class:`Minimize`.
    """

    threshold: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", finite(self.threshold, "the threshold of a limit", LARGEST))
        object.__setattr__(self, "probability", _probability(self.probability))
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A limit from below.

    Parameters
    ----------
    threshold : in the user's units; it may be reached.
    probability : how surely it must be kept for a point to count as feasible.
    units : as those of :class:`Minimize`.
    """

    threshold: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", finite(self.threshold, "the threshold of a limit", LARGEST))
        object.__setattr__(self, "probability", _probability(self.probability))
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True, slots=True)
class Between:
    """Limits from below and from above.

    Parameters
    ----------
    low, high : in the user's units; both may be reached.
    probability : how surely they must be kept for a point to count as feasible.
    units : as those of :class:`Minimize`.
    """

    low: float
    high: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, finite(getattr(self, name), name, LARGEST))
        if not self.low < self.high:
            raise InvalidInput(f"low must lie below high; got {self.low!r} and {self.high!r}.")
        object.__setattr__(self, "probability", _probability(self.probability))
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)


@dataclass(frozen=True, slots=True)
class Desirability:
    """One of several numbers that are weighed into one, to be maximized ([Derringer1980]).

    Each is worth 0 at ``bad`` and beyond, 1 at ``good`` and beyond, and in between what a straight line says. The
    objective is their geometric mean: nothing makes up for what is worth nothing.

    Parameters
    ----------
    bad, good : in the user's units; good is the larger one where more is better.
    weight : how much it counts beside the others.
    units : as those of :class:`Minimize`.
    """

    bad: float
    good: float
    weight: float = 1.0
    units: str = field(default="", kw_only=True, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("bad", "good", "weight"):
            object.__setattr__(self, name, finite(getattr(self, name), name, LARGEST))
        if self.bad == self.good:
            raise InvalidInput(f"bad and good must differ; got {self.bad!r} for both.")
        if self.weight <= 0.0:
            raise InvalidInput(f"a weight must be above zero; got {self.weight!r}.")
        keep_units(self)

    def __repr__(self) -> str:
        return call_of(self)

    def worth(self, value: float) -> float:
        """From 0 to 1, of ``value`` in the user's units."""
        return min(1.0, max(0.0, (value - self.bad) / (self.good - self.bad)))


Goal: TypeAlias = Minimize | Maximize | AtMost | AtLeast | Between | Desirability
_GOALS = {cls.__name__: cls for cls in (Minimize, Maximize, AtMost, AtLeast, Between, Desirability)}


@dataclass(frozen=True)
class Goals:
    """What is wanted, by the names of the outcomes.

    Parameters
    ----------
    wanted : for each outcome.
    """

    wanted: Mapping[str, Goal]

    def __post_init__(self) -> None:
        wanted = self.wanted
        if not isinstance(wanted, Mapping) or not wanted:
            raise InvalidInput(f'outcomes must be a dict such as {{"yield": Maximize()}}; got {shown(wanted)}.')
        for name, goal in wanted.items():
            if not isinstance(name, str) or not name or name in (RUNS, DESIRABILITY):
                raise InvalidInput(f'an outcome has a name other than "", "{RUNS}", "{DESIRABILITY}"; got {name!r}.')
            if not isinstance(goal, tuple(_GOALS.values())):
                made = f" Say {goal.__name__}(...)." if isinstance(goal, type) and goal in _GOALS.values() else ""
                raise InvalidInput(f"an outcome is one of {', '.join(_GOALS)}; got {shown(goal)} for {name!r}.{made}")
        if not self.aims:
            raise InvalidInput("outcomes need something to optimize: Minimize(), Maximize() or Desirability(...).")
        weighed = [isinstance(wanted[name], Desirability) for name in self.aims]
        if any(weighed) and not all(weighed):
            raise InvalidInput("desirabilities add up to the only objective: no Minimize() or Maximize() beside them.")
        object.__setattr__(self, "wanted", dict(wanted))

    @staticmethod
    def plain(maximize: bool) -> Goals:
        """Those of a study of one number."""
        return Goals({ONLY: Maximize() if maximize else Minimize()})

    @cached_property
    def is_plain(self) -> bool:
        """Whether the only outcome is "value": then the first result may give it another name, and further numbers."""
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
        kinds = {name: _GOALS[kind.title().replace("_", "")] for name, (kind, _) in plain.items()}
        return Goals({name: kind(*(x for x in limits[name] if x is not None)) for name, kind in kinds.items()})

    @cached_property
    def aims(self) -> tuple[str, ...]:
        """Outcomes that are optimized."""
        return tuple(name for name, goal in self.wanted.items() if isinstance(goal, Minimize | Maximize | Desirability))

    @cached_property
    def limited(self) -> tuple[str, ...]:
        """Outcomes that have to stay within limits."""
        return tuple(name for name in self.wanted if name not in self.aims)

    @cached_property
    def is_weighed(self) -> bool:
        """Whether the objective is that of desirabilities."""
        return isinstance(self.wanted[self.aims[0]], Desirability)

    @cached_property
    def objectives(self) -> tuple[str, ...]:
        """Outputs that are optimized: the outcomes, or what their desirabilities add up to."""
        return (DESIRABILITY,) if self.is_weighed else self.aims

    @cached_property
    def outputs(self) -> tuple[Output, ...]:
        """What models learn: objectives, then what is limited, in the order in which they were declared."""
        one = len(self.objectives) == 1
        signs = {n: -1.0 if n == DESIRABILITY or isinstance(self.wanted[n], Maximize) else 1.0 for n in self.objectives}
        found = [Output(name, sign, warped=one and name != DESIRABILITY) for name, sign in signs.items()]
        for name in self.limited:
            goal = self.wanted[name]
            if isinstance(goal, Between):
                found.append(Output(name, 1.0, Within(goal.low, goal.high), goal.probability, warped=False))
            elif isinstance(goal, AtLeast):
                found.append(Output(name, -1.0, Within(high=-goal.threshold), goal.probability))
            elif isinstance(goal, AtMost):
                found.append(Output(name, 1.0, Within(high=goal.threshold), goal.probability))
        return tuple(found)

    def arranged(self, outcome: Outcome) -> Outcome:
        """``outcome`` with each number where it belongs; InvalidInput for one that the study does not know.

        Parameters
        ----------
        outcome : numbers by name, as objectives or constraints, whichever they are.
        """
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
        """A plain number as the only outcome of the study; ``outcome`` itself where there are several, or names.

        Parameters
        ----------
        outcome : what was told.
        """
        if len(self.wanted) != 1 or ONLY in self.wanted or outcome.names != {ONLY}:
            return outcome
        (name,) = self.wanted
        return Outcome(
            {name: outcome.value}, noise=dict.fromkeys([name] if outcome.noise else [], *outcome.noise.values())
        )

    def key(self, outcome: Outcome, output: str) -> str:
        """The name that an outcome has an output under.

        Parameters
        ----------
        outcome : what was told.
        output : its name.
        """
        return next(iter(outcome.objectives), output) if self.is_plain else output

    def _called(self, name: str, number: str, others: Set[str]) -> str:
        """What a number that was told under ``name`` is called here."""
        other = {ONLY: number, number: ONLY}.get(name, name)
        return other if name not in self.wanted and other in self.wanted and other not in others else name

    def regarded(self, outcome: Outcome, number: str) -> Outcome | None:
        """What was told, maybe under other goals, with each number where it belongs; None where nothing is left.

        Numbers that nothing is wanted of are kept beside those that are, as constraints.

        Parameters
        ----------
        outcome : as it was told.
        number : the second name of the plain number.
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
        """The part of what was told that nothing is wanted of; None where there is none.

        Parameters
        ----------
        outcome, number : as for :meth:`regarded`.
        """
        told = outcome.names
        seen = {name for name in told if self._called(name, number, told) in self.wanted}
        return outcome.without(seen) if seen < told else None

    def missing(self, outcome: Outcome | None) -> tuple[str, ...]:
        """Outcomes of which nothing was told yet.

        Parameters
        ----------
        outcome : what was told; None for nothing.
        """
        if outcome is None:
            return tuple(self.wanted)
        if self.is_plain:
            return ()
        known = outcome.names
        return tuple(name for name in self.wanted if name not in known)

    def whole(self, outcomes: Mapping[int, Outcome]) -> frozenset[int]:
        """Ids of outcomes of which nothing is missing.

        Parameters
        ----------
        outcomes : what was told, by id.
        """
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
        """What each of the outcomes says of an output, as :meth:`value` does, where it says anything.

        Parameters
        ----------
        outcomes : what was told, by id; all have the same objectives.
        output : its name.
        """
        if output == DESIRABILITY and self.is_weighed:
            return {i: value for i, one in outcomes.items() if (value := self.value(one, output)) is not None}
        key = self.key_of_all(outcomes.values(), output)
        return {
            i: value
            for i, one in outcomes.items()
            if (value := one.objectives.get(key, one.constraints.get(output))) is not None
        }

    def key_of_all(self, outcomes: Iterable[Outcome], output: str) -> str:
        """The name that all outcomes have an output under.

        Parameters
        ----------
        outcomes : what was told; all have the same objectives.
        output : its name.
        """
        first = next((one for one in outcomes if one.objectives), None) if self.is_plain else None
        return output if first is None else self.key(first, output)

    def value(self, outcome: Outcome, output: str) -> float | None:
        """What an outcome says of an output, in the user's units; None for nothing.

        Parameters
        ----------
        outcome : what was told.
        output : its name.
        """
        if output != DESIRABILITY or not self.is_weighed:
            found = outcome.objectives.get(self.key(outcome, output))
            return outcome.constraints.get(output) if found is None else found
        if any(name not in outcome.objectives for name in self.aims):
            return None
        return self._weighed(outcome.objectives)

    def _weighed(self, values: Mapping[str, float]) -> float:
        """The geometric mean of what ``values`` are worth."""
        goals = [(goal, values[name]) for name in self.aims if isinstance(goal := self.wanted[name], Desirability)]
        worths = [(goal.worth(value), goal.weight) for goal, value in goals]
        if min(worth for worth, _ in worths) <= 0.0:
            return 0.0
        total = sum(weight for _, weight in worths)
        return math.exp(sum(weight * math.log(worth) for worth, weight in worths) / total)

    def weighed_std(self, outcome: Outcome, stds: Mapping[str, float]) -> float:
        """The standard deviation of the weighed objective: half of what it differs by where a value is one off.

        Not its derivative: near a worth of zero that has no bounds, and beyond it there is none.

        Parameters
        ----------
        outcome : what was told, of all that is weighed.
        stds : how far each of it may be off.
        """
        told, squares = outcome.objectives, 0.0
        for name, std in stds.items():
            ends = [self._weighed({**told, name: told[name] + side * std}) for side in (-1.0, 1.0)]
            squares += (0.5 * (ends[1] - ends[0])) ** 2
        return math.sqrt(squares)

    def keeps_limits(self, outcome: Outcome) -> bool:
        """Whether an outcome was seen to be within all limits.

        Parameters
        ----------
        outcome : what was told.
        """
        for output in self.outputs:
            if output.limits is not None:
                value = outcome.constraints.get(output.name)
                if value is None or not output.limits.low <= output.sign * value <= output.limits.high:
                    return False
        return True

    def units(self, name: str) -> str:
        """Of an outcome or an output; "" where none are given.

        Parameters
        ----------
        name : of the outcome or output.
        """
        return units_of(self.wanted.get(name))

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {name: _config(goal) for name, goal in self.wanted.items()}

    @staticmethod
    def from_config(config: Any) -> Goals:
        """Inverse of :meth:`to_config`; InvalidInput for what no goals can be.

        Parameters
        ----------
        config : the plain data.
        """
        if not isinstance(config, Mapping):
            raise InvalidInput(f"outcomes must be a dict; got {shown(config)}.")
        wanted: dict[str, Any] = {}
        for name, part in config.items():
            if not isinstance(part, Mapping) or not isinstance(part.get("type"), str) or part["type"] not in _GOALS:
                raise InvalidInput(f"the outcome {name!r} must be one of {', '.join(_GOALS)}; got {shown(part)}.")
            try:
                wanted[name] = _GOALS[part["type"]](**{key: part[key] for key in part if key != "type"})
            except TypeError as error:
                raise InvalidInput(f"the outcome {name!r} has settings that it cannot have: {error}.") from error
        return Goals(wanted)


def checked_reference(reference: Any, goals: Goals) -> dict[str, float] | None:
    """A reference point by the names of the objectives; InvalidInput for any other.

    Parameters
    ----------
    reference : the point; None for one that is inferred.
    goals : of the study.
    """
    if reference is None:
        return None
    names = goals.objectives
    if len(names) < 2:
        raise InvalidInput("a reference point is for several objectives; this study has one.")
    if not isinstance(reference, Mapping) or reference.keys() != set(names):
        raise InvalidInput(f"reference must have a number for each of {', '.join(names)}; got {shown(reference)}.")
    return {name: finite(reference[name], f"reference of {name}", LARGEST) for name in names}


def _config(goal: Goal) -> dict[str, Any]:
    settings = {part.name: getattr(goal, part.name) for part in fields(goal) if part.name != "units"}
    return {"type": type(goal).__name__, **settings, **config_of(goal.units)}


def words(goal: Goal) -> str:
    """What is wanted, in words and with units: "maximize", "at least 95 %".

    Parameters
    ----------
    goal : of one outcome.
    """
    match goal:
        case AtMost(threshold=limit):
            return f"at most {amount(f'{limit:g}', goal.units)}"
        case AtLeast(threshold=limit):
            return f"at least {amount(f'{limit:g}', goal.units)}"
        case Between(low=low, high=high):
            return f"between {low:g} and {amount(f'{high:g}', goal.units)}"
        case Desirability(bad=bad, good=good):
            return f"bad at {bad:g}, good at {amount(f'{good:g}', goal.units)}"
    return labeled("maximize" if isinstance(goal, Maximize) else "minimize", goal.units)


def bounds(goal: Goal) -> str:
    """The limits of an outcome, without units: "≥ 95"; "" of one that has none.

    Parameters
    ----------
    goal : of one outcome.
    """
    match goal:
        case AtMost(threshold=limit):
            return f"≤ {limit:g}"
        case AtLeast(threshold=limit):
            return f"≥ {limit:g}"
        case Between(low=low, high=high):
            return f"{low:g} to {high:g}"
    return ""


def _probability(probability: Any) -> float:
    number = finite(probability, "a probability", LARGEST)
    if not 0.0 < number < 1.0:
        raise InvalidInput(f"a probability must lie between 0 and 1; got {probability!r}.")
    return number
