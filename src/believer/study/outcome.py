"""The outcome of a trial: named objectives and constraints, with their noise."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias

import numpy as np

from believer.arrays import LARGEST, shown
from believer.errors import InvalidInput

ONLY = "value"
"""The name of the objective of a study that has one number a trial."""

Value: TypeAlias = "float | Sequence[float] | Outcome | Mapping[str, Any]"
"""The result of a trial: a number, a list of replicates, an outcome, or a dict with a number or a list for each
outcome."""

Noise: TypeAlias = "float | Mapping[str, float]"
"""The known standard deviation of the only number, or a dict of them by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The numbers that one evaluation returned, in the user's units.

    A plain number is ``Outcome.of(number)``; its only objective is "value".

    Parameters
    ----------
    objectives : values by name. In a study without declared outcomes the first one is optimized; the others are stored
        and listed with it.
    constraints : values of the limited outcomes, by name.
    noise : known standard deviations, by the name of the objective or constraint.
    replicates : single measurements, by the name of the objective or constraint whose value is their mean.
    lost : names of outcomes that failed: they were evaluated, but came back as NaN or infinite.
    """

    objectives: dict[str, float]
    constraints: dict[str, float] = field(default_factory=dict)
    noise: dict[str, float] = field(default_factory=dict)
    replicates: dict[str, tuple[float, ...]] = field(default_factory=dict)
    lost: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", _numbers(self.objectives, "objectives"))
        object.__setattr__(self, "constraints", _numbers(self.constraints, "constraints"))
        object.__setattr__(self, "noise", _numbers(self.noise, "noise"))
        object.__setattr__(self, "replicates", _lists(self.replicates))
        object.__setattr__(self, "lost", _names(self.lost))
        if not (self.objectives or self.constraints or self.lost):
            raise InvalidInput("an outcome needs at least one number; got none.")
        if not (self.constraints or self.noise or self.replicates or self.lost):
            return
        twice = self.objectives.keys() & self.constraints.keys()
        if twice:
            raise InvalidInput(
                f"a name must be either an objective's or a constraint's; got {', '.join(sorted(twice))}."
            )
        known = self.objectives.keys() | self.constraints.keys()
        for what, names in (("noise", self.noise.keys()), ("replicates", self.replicates.keys())):
            if unknown := sorted(names - known):
                raise InvalidInput(
                    f"{what} must be named after an objective or a constraint; got {', '.join(unknown)}."
                )
        if both := sorted(known & set(self.lost)):
            raise InvalidInput(f"a lost outcome cannot have a number; got one for {', '.join(both)}.")
        for name, std in self.noise.items():
            if std < 0.0:
                raise InvalidInput(f"noise must be a standard deviation, zero or more; got {std!r} for {name}.")

    @staticmethod
    def of(value: float, noise: float | None = None) -> Outcome:
        """A number without a name, ``value``, with its standard deviation ``noise`` if that is known."""
        return Outcome({ONLY: value}, noise={} if noise is None else {ONLY: noise})

    @property
    def name(self) -> str:
        """The name of the objective that is optimized."""
        return next(iter(self.objectives))

    @property
    def value(self) -> float:
        """The value of the objective that is optimized."""
        return self.objectives[self.name]

    @property
    def std(self) -> float | None:
        """The known standard deviation of ``value``; None if it is unknown."""
        return self.noise.get(self.name)

    @property
    def is_plain(self) -> bool:
        """Whether the outcome is a single number without a name, and nothing else."""
        more = self.constraints or self.noise or self.replicates or self.lost
        return tuple(self.objectives) == (ONLY,) and not more

    @property
    def names(self) -> set[str]:
        """The names of all numbers, known and lost."""
        return {*self.objectives, *self.constraints, *self.lost}

    def and_of(self, other: Outcome) -> Outcome:
        """This outcome, with the numbers of ``other`` that it lacks."""
        return self if other.names <= self.names else self.with_more(other.without(self.names))

    def without(self, names: Set[str]) -> Outcome:
        """The outcome without some of its numbers; InvalidInput if none is left."""

        def rest(named: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in named.items() if name not in names}

        return Outcome(
            rest(self.objectives),
            rest(self.constraints),
            rest(self.noise),
            rest(self.replicates),
            tuple(name for name in self.lost if name not in names),
        )

    def with_more(self, other: Outcome) -> Outcome:
        """The outcome with numbers that came later; InvalidInput for a number that it already has."""
        if again := sorted(self.names & other.names):
            raise InvalidInput(f"{', '.join(again)} was told already; amend(trial, ...) corrects a result.")
        return Outcome(
            {**self.objectives, **other.objectives},
            {**self.constraints, **other.constraints},
            {**self.noise, **other.noise},
            {**self.replicates, **other.replicates},
            (*self.lost, *other.lost),
        )


def outcome_of(value: Value | None, noise: Noise | None, error: str | None) -> Outcome | str:
    """The outcome that was told, or the reason for a failure; InvalidInput for anything else."""
    if error is not None:
        if value is not None:
            raise InvalidInput(f"a trial must have either a value or an error; got {shown(value)} and {shown(error)}.")
        if noise is not None:
            raise InvalidInput(f"a failed evaluation cannot have noise; got {shown(noise)} and {shown(error)}.")
        return error if type(error) is str else shown(error)
    if value is None:
        raise InvalidInput("a result must have a value, or error=... for a failed evaluation.")
    if isinstance(value, Outcome):
        if noise is not None:
            raise InvalidInput("the noise of an Outcome is part of it: Outcome(objectives, constraints, noise).")
        return value
    if isinstance(value, Mapping):
        return _by_name(value, noise)
    if _is_list(value):
        outcome = _by_name({ONLY: value}, noise)
        return f"returned {shown(value)}" if outcome.lost else outcome
    number = as_number(value, "a value")
    if noise is None:
        return Outcome.of(number) if math.isfinite(number) else f"returned {number}"
    std = as_number(noise, "noise")
    if not 0.0 <= std <= LARGEST:
        raise InvalidInput(f"noise must be a standard deviation, zero or more and finite; got {shown(noise)}.")
    return Outcome.of(number, std) if math.isfinite(number) else f"returned {number}"


def refuse_names(value: Any) -> None:
    """Raise InvalidInput for numbers by name, told to a study of one number."""
    if isinstance(value, Mapping) and set(value) != {ONLY}:
        raise InvalidInput(f"a dict of numbers needs declared outcomes, outcomes={{...}}; got {shown(value)}.")


def _by_name(values: Mapping[str, Any], noise: Noise | None) -> Outcome:
    """Numbers by name, or lists of replicates, whose mean counts; NaN and infinities are lost."""
    if noise is not None and not isinstance(noise, Mapping):
        if len(values) != 1:
            raise InvalidInput(f'noise must be given by outcome, e.g. noise={{"yield": 0.2}}; got {shown(noise)}.')
        noise = {next(iter(values)): noise}
    numbers: dict[str, float] = {}
    replicates: dict[str, tuple[float, ...]] = {}
    lost: list[str] = []
    for name, value in values.items():
        if not isinstance(name, str):
            raise InvalidInput(f"an outcome has a name; got {shown(name)}.")
        if value is None:
            raise InvalidInput(
                f"{name} is None. Leave it out if it comes later, and pass NaN if its evaluation failed."
            )
        each = value if _is_list(value) else (value,)
        single = [as_number(one, name) for one in each]
        kept = [one for one in single if math.isfinite(one)]
        if not single:
            raise InvalidInput(f"replicates must be a list of at least one number; got none for {name!r}.")
        if not kept:
            lost.append(name)
            continue
        # By rounding, the mean of equal numbers could differ from them, and a limit that is reached would not be kept.
        numbers[name] = min(max(math.fsum(kept) / len(kept), min(kept)), max(kept))
        if len(kept) > 1:
            replicates[name] = tuple(kept)
    known = {name: std for name, std in (noise or {}).items() if name not in lost}
    return Outcome(numbers, {}, known, replicates, tuple(lost))


def _is_list(value: Any) -> bool:
    """Whether ``value`` is a list of replicates."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def copied(outcome: Outcome) -> Outcome:
    """A copy with its own dicts, so that a caller cannot change the original."""
    return replace(outcome)


def aligned(outcome: Outcome, names: tuple[str, ...] | None) -> Outcome:
    """A copy of ``outcome`` with its objectives in the order of ``names``; InvalidInput if the names differ."""
    names = tuple(outcome.objectives) if names is None else names
    if not names:
        raise InvalidInput("an outcome needs at least one objective; got none.")
    if outcome.objectives.keys() != set(names):
        raise InvalidInput(
            f"all results of a study have the same objectives; these have {', '.join(names)}, "
            f"got {', '.join(outcome.objectives) or 'none'}."
        )
    return replace(outcome, objectives={name: outcome.objectives[name] for name in names})


def as_number(value: Any, what: str) -> float:
    """``value`` as a float; InvalidInput if it is too large. NaN and infinities are allowed."""
    if type(value) is float and -LARGEST <= value <= LARGEST:  # nearly always
        return value
    odd = isinstance(value, np.ndarray) and value.ndim > 0  # NumPy 1 converts some of these to a number
    if odd or isinstance(value, str | bytes | bool | np.bool_ | complex | np.complexfloating):
        raise InvalidInput(f"{what} must be a number; got {shown(value)}.")
    try:
        number = float(value)
    except OverflowError as problem:
        raise InvalidInput(f"{what} must lie within ±{LARGEST:g}; got more than a float holds.") from problem
    except Exception as problem:  # __float__ is the user's code, and so may be __repr__
        raise InvalidInput(
            f"{what} must be a number; got a {type(value).__name__} ({type(problem).__name__})."
        ) from problem
    if math.isfinite(number) and abs(number) > LARGEST:
        raise InvalidInput(f"{what} must lie within ±{LARGEST:g}; got {number!r}. Scale it.")
    return number


class _Nothing(dict[str, Any]):
    """An empty dict that cannot be changed, which all outcomes without numbers share."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the numbers of an outcome cannot be changed; make another Outcome.")

    __setitem__ = setdefault = update = __ior__ = _refuse


_NOTHING = _Nothing()


def _numbers(named: Any, what: str) -> dict[str, float]:
    """A dict of finite floats of the outcome's own."""
    if type(named) is not dict and not isinstance(named, Mapping):
        raise InvalidInput(f"{what} must be a dict of numbers by name; got {shown(named)}.")
    if not named:
        return _NOTHING
    numbers: dict[str, float] = {}
    for name, value in named.items():
        if not isinstance(name, str):
            raise InvalidInput(f"{what} must be a dict of numbers by name; got {shown(named)}.")
        number = as_number(value, f"{name} of {what}")
        if not math.isfinite(number):
            raise InvalidInput(f"{name} of {what} must be finite; got {number!r}. Tell a failure as error=...")
        numbers[sys.intern(str(name))] = number  # all outcomes share their names
    return numbers


def _names(names: Any) -> tuple[str, ...]:
    """Different names."""
    if not names and isinstance(names, list | tuple):
        return ()
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidInput(f"lost must be a list of names; got {shown(names)}.")
    if len(set(names)) < len(names):
        raise InvalidInput(f"each lost outcome must be named once; got {', '.join(names)}.")
    return tuple(names)


def _lists(named: Any) -> dict[str, tuple[float, ...]]:
    """Lists of finite floats by name."""
    if not named:
        return _NOTHING
    if not isinstance(named, Mapping):
        raise InvalidInput(f"replicates must be lists of numbers by name; got {shown(named)}.")
    found: dict[str, tuple[float, ...]] = {}
    for name, values in named.items():
        if not isinstance(name, str) or not isinstance(values, list | tuple) or len(values) < 2:
            raise InvalidInput(f"replicates must be lists of two or more numbers by name; got {shown(named)}.")
        numbers = tuple(as_number(value, f"a replicate of {name}") for value in values)
        if not all(map(math.isfinite, numbers)):
            raise InvalidInput(f"replicates must be finite; got {shown(values)} for {name}.")
        found[sys.intern(name)] = numbers
    return found
