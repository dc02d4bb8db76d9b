"""The events of a study: frozen values. The journal's format determines how an event is written as a line of JSON.

``at`` is the wall-clock time of an event, in seconds since 1970 (UTC); None if it is not known. It is only shown:
nothing is computed from it, and two events that differ only in it are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from believer.study.outcome import Outcome
from believer.study.trials import Trial

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Begun:
    """A study began: its settings, and the versions that ran it. Always the first event, and only the first.

    ``engine`` is the number of the engine that chooses its points.
    """

    format: int
    config: Json
    versions: Json
    engine: int = 1


@dataclass(frozen=True, slots=True)
class Upgraded:
    """A study of an older format or engine goes on under these versions: later events are written, and points chosen,
    by them."""

    format: int
    versions: Json
    engine: int = 1


@dataclass(frozen=True, slots=True)
class Changed:
    """The study goes on with other settings: another space, other goals, another strategy."""

    config: Json


@dataclass(frozen=True, slots=True)
class Asked:
    """Trials were handed out, under ``model``'s fitted hyperparameters."""

    trials: tuple[Trial, ...]
    request: Json
    model: Json | None
    at: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Told:
    """The outcome of a trial, or a part of it; its numbers are always finite.

    ``params``, here and in similar events: the parameters with which the trial was really evaluated, if they differ
    from those suggested; otherwise None.
    """

    id: int
    outcome: Outcome
    at: float | None = field(default=None, compare=False)
    params: Json | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The trial has no value and will have none."""

    id: int
    error: str
    at: float | None = field(default=None, compare=False)
    params: Json | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """A result from elsewhere: an outcome or an error, not both."""

    id: int
    params: Json
    outcome: Outcome | None
    error: str | None
    at: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Amended:
    """A correction of a trial's result: an outcome or an error, not both, replaces it."""

    id: int
    outcome: Outcome | None
    error: str | None
    params: Json | None = None


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A point to hand out at the next ask."""

    params: Json


@dataclass(frozen=True, slots=True)
class Abandoned:
    """The trial is no longer pending, and has no result."""

    id: int
    at: float | None = field(default=None, compare=False)


Timed: TypeAlias = Asked | Told | Failed | Observed | Abandoned
"""Events that may have a time."""

Event: TypeAlias = Begun | Upgraded | Changed | Asked | Told | Failed | Observed | Amended | Enqueued | Abandoned
