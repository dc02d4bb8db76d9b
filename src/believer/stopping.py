"""When a run stops before its budget is spent: a target, a number of seconds, or a function of the user's."""

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
    value : at least this good, in the user's units.
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
    """Start no further evaluation after a while, and wait no longer than it takes for those that are under way.

    After the limit they have as long as the longest evaluation of this run took so far, or the limit once more if none
    has finished; then ``minimize`` returns and they stay pending. One in this process itself cannot be left.

    Parameters
    ----------
    limit : how long, in seconds.
    """

    limit: float

    def __post_init__(self) -> None:
        finite(self.limit, "seconds")


def stopper(stop: float | Target | Seconds | Stop | None, began: float) -> Stop:
    """What was asked for as a function of the study; ``InvalidInput`` for anything else."""
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
