"""What a trial returned: named objectives and constraints, and how far each can be trusted."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import numpy as np

from believer.arrays import LARGEST, shown
from believer.errors import InvalidInput

ONLY = "value"
"""The name of the objective of a study that has one number a trial."""

Value: TypeAlias = "float | Outcome"
"""What is told of a trial: a number, or an outcome with names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The numbers that one evaluation returned, in the user's units.

    A plain number is ``Outcome.of(number)``, with the one objective "value".

    Parameters
    ----------
    objectives : values by name, at least one. The first one named is what a study optimizes; further ones are kept
        with it, stored and listed.
    constraints : values by name, kept, stored and listed.
    noise : known standard deviations, by the name of the objective or constraint.
    """

    objectives: dict[str, float]
    constraints: dict[str, float] = field(default_factory=dict)
    noise: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", _numbers(self.objectives, "objectives"))
        object.__setattr__(self, "constraints", _numbers(self.constraints, "constraints"))
        object.__setattr__(self, "noise", _numbers(self.noise, "noise"))
        if not self.objectives:
            raise InvalidInput("an outcome needs at least one objective; got none.")
        if not (self.constraints or self.noise):
            return
        twice = self.objectives.keys() & self.constraints.keys()
        if twice:
            raise InvalidInput(f"a name is an objective's or a constraint's, not both; got {', '.join(sorted(twice))}.")
        unknown = sorted(self.noise.keys() - self.objectives.keys() - self.constraints.keys())
        if unknown:
            raise InvalidInput(f"noise must be named after an objective or a constraint; got {', '.join(unknown)}.")
        for name, std in self.noise.items():
            if std < 0.0:
                raise InvalidInput(f"noise must be a standard deviation, zero or more; got {std!r} for {name}.")

    @staticmethod
    def of(value: float, noise: float | None = None) -> Outcome:
        """One nameless number, ``value``, and its standard deviation ``noise`` where that is known."""
        return Outcome({ONLY: value}, noise={} if noise is None else {ONLY: noise})

    @property
    def name(self) -> str:
        """Of the objective that is optimized."""
        return next(iter(self.objectives))

    @property
    def value(self) -> float:
        """Of the objective that is optimized."""
        return self.objectives[self.name]

    @property
    def std(self) -> float | None:
        """The known standard deviation of ``value``, None where it is unknown."""
        return self.noise.get(self.name)

    @property
    def is_plain(self) -> bool:
        """Whether it is one nameless number, and nothing else is known."""
        return tuple(self.objectives) == (ONLY,) and not self.constraints and not self.noise


def outcome_of(value: Value | None, noise: float | None, error: str | None) -> Outcome | str:
    """What was told of a trial, or the reason why there is nothing; InvalidInput where it is neither."""
    if error is not None:
        if value is not None:
            raise InvalidInput(f"a trial has a value or an error, not both; got {shown(value)} and {shown(error)}.")
        if noise is not None:
            raise InvalidInput(f"a failed evaluation has no noise; got {shown(noise)} and {shown(error)}.")
        return error if type(error) is str else shown(error)
    if value is None:
        raise InvalidInput("a result needs a value, or error=... for a failed evaluation.")
    if isinstance(value, Outcome):
        if noise is not None:
            raise InvalidInput("the noise of an outcome goes into it: Outcome(objectives, constraints, noise).")
        return value
    number = as_number(value, "a value")
    if noise is not None and not 0.0 <= as_number(noise, "noise") <= LARGEST:
        raise InvalidInput(f"noise must be a standard deviation, zero or more and finite; got {shown(noise)}.")
    return Outcome.of(number, noise) if math.isfinite(number) else f"returned {number}"


def aligned(outcome: Outcome, names: tuple[str, ...] | None) -> Outcome:
    """A copy of ``outcome`` with its objectives in the order of ``names``; InvalidInput where they are not the same."""
    names = tuple(outcome.objectives) if names is None else names
    if outcome.objectives.keys() != set(names):
        raise InvalidInput(
            f"all results of a study have the same objectives; these have {', '.join(names)}, "
            f"got {', '.join(outcome.objectives)}."
        )
    return Outcome({name: outcome.objectives[name] for name in names}, outcome.constraints, outcome.noise)


def as_number(value: Any, what: str) -> float:
    """``value`` as a float that is not too large; NaN and infinities pass."""
    if type(value) is float and -LARGEST <= value <= LARGEST:  # nearly always
        return value
    odd = isinstance(value, np.ndarray) and value.ndim > 0  # NumPy 1 makes a number of some
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


class _Nothing(dict[str, float]):
    """No numbers, and none to come: one for all outcomes that have none."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the numbers of an outcome are not changed.")

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
