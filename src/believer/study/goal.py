"""What can be wanted of one number: less of it, more of it, a limit that it keeps, or a share of one objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

from believer.arrays import LARGEST, finite, shown
from believer.batch.learned import LIKELY
from believer.errors import InvalidInput
from believer.space.units import amount, call_of, config_of, keep_units, labeled


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
KINDS = {cls.__name__: cls for cls in (Minimize, Maximize, AtMost, AtLeast, Between, Desirability)}


def to_config(goal: Goal) -> dict[str, Any]:
    """Plain JSON data.

    Parameters
    ----------
    goal : of one outcome.
    """
    settings = {part.name: getattr(goal, part.name) for part in fields(goal) if part.name != "units"}
    return {"type": type(goal).__name__, **settings, **config_of(goal.units)}


def from_config(name: str, config: Any) -> Goal:
    """Inverse of :func:`to_config`; InvalidInput for what no goal can be.

    Parameters
    ----------
    name : of the outcome, for the error.
    config : the plain data.
    """
    if not isinstance(config, Mapping) or not isinstance(config.get("type"), str) or config["type"] not in KINDS:
        raise InvalidInput(f"the outcome {name!r} must be one of {', '.join(KINDS)}; got {shown(config)}.")
    try:
        return KINDS[config["type"]](**{key: config[key] for key in config if key != "type"})
    except TypeError as error:
        raise InvalidInput(f"the outcome {name!r} has settings that it cannot have: {error}.") from error


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
