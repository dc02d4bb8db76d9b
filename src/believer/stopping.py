"""Rules by which a run stops before its budget is spent: a target, a number of seconds, or a user's function."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from believer.arrays import finite, shown
from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.result import best_of

Stop = Callable[[Optimizer], bool]


@dataclass(frozen=True, slots=True)
class Target:
    """Stop as soon as a value is good enough.

    Parameters
    ----------
    value : the value to reach, in the user's units.
    """

    value: float

    def __post_init__(self) -> None:
        finite(self.value, "a target")

    def __call__(self, optimizer: Optimizer) -> bool:
        """Whether the best result reaches the target."""
        best, sign = best_of(optimizer), optimizer.settings.sign
        return best is not None and sign * best[1] <= sign * self.value


@dataclass(frozen=True, slots=True)
class Seconds:
    """Start no further evaluation after a number of seconds, and wait a limited time for the running ones.

    After the limit, running evaluations have as much time as the longest evaluation of this run has taken, or as the
    limit itself if none has finished. Then ``minimize`` returns and they stay pending. An evaluation in this process
    cannot be interrupted.

    Parameters
    ----------
    limit : the number of seconds.
    """

    limit: float

    def __post_init__(self) -> None:
        finite(self.limit, "seconds")


def stopper(stop: float | Target | Seconds | Stop | None, began: float) -> Stop:
    """The stopping rule as a function of the optimizer; ``InvalidInput`` for anything that is not one."""
    if stop is None:
        return lambda optimizer: False
    if isinstance(stop, Seconds):
        deadline = began + stop.limit
        return lambda optimizer: time.monotonic() >= deadline
    if callable(stop) and not isinstance(stop, type):
        return stop
    if isinstance(stop, bool) or not isinstance(stop, Real):
        raise InvalidInput(f"stop must be a target value, Seconds(...) or a callable; got {shown(stop)}.")
    return Target(float(stop))
