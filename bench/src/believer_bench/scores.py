"""How well a run did, as a number that compares across problems.

=======  ==================================================================================
symbol   meaning
=======  ==================================================================================
s        scale of a problem: the median of f - f* over fixed random points, without noise
r        regret after 1, ..., N evaluations: the least true value so far - f*, (N,)
l        log10(max(r, 1e-6 s) / s): 0 is a random point, -2 a hundredth of it, -6 solved
n(t)     evaluations until r <= t s, infinity if that never was, the design included
=======  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from believer.arrays import Array
from believer_bench.problems import PROBLEMS, scale_of
from believer_bench.runs import ASYNC, Run, size_name

FLOOR = 1e-6
"""Regrets below this share of the scale count as it: what is left is rounding."""

TARGETS = (0.1, 0.01, 0.001, 0.0001)
"""Shares of the scale that a run may reach."""


@dataclass(frozen=True, slots=True)
class Measure:
    """The measure of a problem: its class, its minimum and its scale, and whether it is noisy."""

    kind: str
    optimum: float
    scale: float
    noisy: bool


@cache
def measure_of(problem: str) -> Measure:
    """The measure of the library's problem of that name, whose optimum must be known."""
    made = PROBLEMS[problem]()
    assert made.optimum is not None
    return Measure(made.kind, made.optimum, scale_of(made), made.truth is not None)


def log_regrets(run: Run) -> Array:
    """l after each evaluation, (N,)."""
    return _log(run.best, measure_of(run.case.problem))


def final(run: Run) -> float:
    """l at the end."""
    return float(log_regrets(run)[-1])


def recommended(run: Run) -> float | None:
    """l of what the member recommends in the end of a noisy problem; None if it says nothing."""
    if run.recommended is None:
        return None
    return float(_log(np.array([run.recommended]), measure_of(run.case.problem))[0])


def evaluations_to(run: Run, target: float) -> float:
    """n(t)."""
    measure = measure_of(run.case.problem)
    reached = np.flatnonzero(run.best - measure.optimum <= target * measure.scale)
    return float(reached[0] + 1) if len(reached) else np.inf


def _log(values: Array, measure: Measure) -> Array:
    shares: Array = np.log10(np.maximum((values - measure.optimum) / measure.scale, FLOOR))
    return shares


@dataclass(frozen=True, slots=True, order=True)
class RaceGroup:
    """Runs that are compared with each other: the mode and the size of their batches."""

    mode: str
    q: int

    @property
    def label(self) -> str:
        """The group in words."""
        return f"{size_name(self.q)}, asynchronous" if self.mode == ASYNC else size_name(self.q)

    @property
    def short(self) -> str:
        """The name of the group in a table."""
        return f"q={self.q} {self.mode}" if self.mode == ASYNC else f"q={self.q}"

    @property
    def slug(self) -> str:
        """The name of the group as a part of a file's name."""
        return f"q{self.q}{'_async' if self.mode == ASYNC else ''}"


def group_of(run: Run) -> RaceGroup:
    """The group that a run belongs to."""
    return RaceGroup(run.case.mode, run.case.q)


def grouped(runs: Iterable[Run]) -> dict[RaceGroup, list[Run]]:
    """Runs by group, synchronous and small batches first."""
    found: dict[RaceGroup, list[Run]] = {}
    for run in runs:
        found.setdefault(group_of(run), []).append(run)
    return dict(sorted(found.items(), key=lambda item: (item[0].mode == ASYNC, item[0].q)))
