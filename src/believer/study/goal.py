"""The goals that one outcome can have: minimize, maximize, stay within a limit, or count as one of several
desirabilities."""

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
    """Minimize the outcome.

    Parameters
    ----------
    units : shown with the values. Units are never converted, and goals that differ in units alone are equal.
    """

    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        keep_units(self)


@dataclass(frozen=True, slots=True)
class Maximize:
    """Maximize the outcome.

    Parameters
    ----------
    units : shown with the values. Units are never converted, and goals that differ in units alone are equal.
    """

    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        keep_units(self)


@dataclass(frozen=True, slots=True)
class AtMost:
    """Keep the outcome at or below an upper limit.

    Parameters
    ----------
    threshold : the limit, in the user's units; it is itself an allowed value.
    probability : the probability with which a feasible point must keep the limit.
    units : as those of :class:`Minimize`.
    """

    threshold: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", finite(self.threshold, "the threshold of a limit", LARGEST))
        _keep_probability(self)
        keep_units(self)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """Keep the outcome at or above a lower limit.

    Parameters
    ----------
    threshold : the limit, in the user's units; it is itself an allowed value.
    probability : the probability with which a feasible point must keep the limit.
    units : as those of :class:`Minimize`.
    """

    threshold: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", finite(self.threshold, "the threshold of a limit", LARGEST))
        _keep_probability(self)
        keep_units(self)


@dataclass(frozen=True, slots=True)
class Between:
    """Keep the outcome between a lower and an upper limit.

    Parameters
    ----------
    low, high : the limits, in the user's units; both are allowed values.
    probability : the probability with which a feasible point must keep both limits.
    units : as those of :class:`Minimize`.
    """

    low: float
    high: float
    probability: float = LIKELY
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, finite(getattr(self, name), name, LARGEST))
        if not self.low < self.high:
            raise InvalidInput(f"low must lie below high; got {self.low!r} and {self.high!r}.")
        _keep_probability(self)
        keep_units(self)


@dataclass(frozen=True, slots=True)
class Desirability:
    """One of several outcomes that are combined into one objective, which is maximized ([Derringer1980]).

    The desirability of an outcome is 0 at ``bad`` and beyond, 1 at ``good`` and beyond, and linear in between. The
    objective is the weighted geometric mean of all desirabilities, so no other outcome makes up for one whose
    desirability is 0.

    Parameters
    ----------
    bad, good : values in the user's units; ``good`` is the larger one if more is better.
    weight : the weight in the geometric mean.
    units : as those of :class:`Minimize`.
    """

    bad: float
    good: float
    weight: float = 1.0
    units: str = field(default="", kw_only=True, repr=False, compare=False)
    __repr__ = call_of

    def __post_init__(self) -> None:
        for name in ("bad", "good", "weight"):
            object.__setattr__(self, name, finite(getattr(self, name), name, LARGEST))
        if self.bad == self.good:
            raise InvalidInput(f"bad and good must differ; got {self.bad!r} for both.")
        if self.weight <= 0.0:
            raise InvalidInput(f"a weight must be above zero; got {self.weight!r}.")
        keep_units(self)

    def worth(self, value: float) -> float:
        """The desirability, from 0 to 1, of ``value`` in the user's units."""
        return min(1.0, max(0.0, (value - self.bad) / (self.good - self.bad)))


Goal: TypeAlias = Minimize | Maximize | AtMost | AtLeast | Between | Desirability
KINDS = {cls.__name__: cls for cls in (Minimize, Maximize, AtMost, AtLeast, Between, Desirability)}


def to_config(goal: Goal) -> dict[str, Any]:
    """Plain JSON data."""
    settings = {part.name: getattr(goal, part.name) for part in fields(goal) if part.name != "units"}
    return {"type": type(goal).__name__, **settings, **config_of(goal.units)}


def from_config(name: str, config: Any) -> Goal:
    """The inverse of :func:`to_config`; InvalidInput if ``config`` cannot be a goal."""
    if not isinstance(config, Mapping) or not isinstance(config.get("type"), str) or config["type"] not in KINDS:
        raise InvalidInput(f"the outcome {name!r} must be one of {', '.join(KINDS)}; got {shown(config)}.")
    try:
        return KINDS[config["type"]](**{key: config[key] for key in config if key != "type"})
    except TypeError as error:
        raise InvalidInput(f"the outcome {name!r} has invalid settings: {error}.") from error


def words(goal: Goal) -> str:
    """The goal in words, with units: "maximize", "at least 95 %"."""
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
    """The limits of an outcome, without units: "≥ 95"; "" if it has none."""
    match goal:
        case AtMost(threshold=limit):
            return f"≤ {limit:g}"
        case AtLeast(threshold=limit):
            return f"≥ {limit:g}"
        case Between(low=low, high=high):
            return f"{low:g} to {high:g}"
    return ""


def _keep_probability(goal: AtMost | AtLeast | Between) -> None:
    number = finite(goal.probability, "a probability", LARGEST)
    if not 0.0 < number < 1.0:
        raise InvalidInput(f"a probability must lie between 0 and 1; got {goal.probability!r}.")
    object.__setattr__(goal, "probability", number)
