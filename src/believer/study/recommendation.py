"""What to use in the end: not always the best value that was observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from believer.study.trials import Trial, described

NORMAL_95 = 1.959963984540054
"""A normal variable is within so many standard deviations of its mean in 95 % of all cases."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a model expects of an outcome, in the user's units.

    Attributes
    ----------
    mean : without noise; the median, where the model learns from warped results.
    std : how uncertain that mean is.
    """

    mean: float
    std: float


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """The evaluated point to use, and what the model expects there; all in the user's units.

    Attributes
    ----------
    trial : that evaluated it.
    params : the point.
    mean : of the objective there, without noise; the median, where the model learns from warped results.
    std : how uncertain that mean is.
    interval : where the objective without noise lies there, with a probability of 95 %.
    feasible : the probability that all limits are kept there; 1 without any.
    outcomes : what is expected of each declared outcome there; empty where none is declared.
    """

    trial: Trial
    params: dict[str, Any]
    mean: float
    std: float
    interval: tuple[float, float]
    feasible: float = 1.0
    outcomes: dict[str, Expected] = field(default_factory=dict)

    def __str__(self) -> str:
        low, high = self.interval
        limits = f"; within all limits at {self.feasible:.0%}" if self.outcomes else ""
        return (
            f"trial {self.trial.id}, {described(self.params)}: {self.mean:.6g} expected, "
            f"between {low:.6g} and {high:.6g} at 95 %{limits}"
        )


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A result that no other beats in every objective; all in the user's units.

    Attributes
    ----------
    trial : that evaluated it.
    params : the point.
    values : of the objectives, as they were seen; as they are expected, where results are noisy.
    expected : what the models expect of each outcome there.
    feasible : the probability that all limits are kept there; 1 without any.
    """

    trial: Trial
    params: dict[str, Any]
    values: dict[str, float]
    expected: dict[str, Expected]
    feasible: float

    def __str__(self) -> str:
        return f"trial {self.trial.id}, {described(self.params)}: {described(self.values)}"


@dataclass(frozen=True, slots=True, eq=False)
class Front(Sequence[FrontPoint]):
    """The results to choose from, where there are several objectives. Printed, it lists them.

    Attributes
    ----------
    points : in the order of their trials.
    reference : the point from which the hypervolume is measured, by objective; None before any result.
    is_given : whether the user gave it; otherwise it is inferred: the worst of all results, or a tenth of the
        front's range beyond it.
    hypervolume : how much is dominated by the front, up to the reference.
    """

    points: tuple[FrontPoint, ...]
    reference: dict[str, float] | None
    is_given: bool
    hypervolume: float

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, index: int) -> FrontPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FrontPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> FrontPoint | tuple[FrontPoint, ...]:
        return self.points[index]

    def __str__(self) -> str:
        if self.reference is None:
            return "no point on the front yet"
        how = "given" if self.is_given else "inferred"
        head = f"{len(self)} on the front, hypervolume {self.hypervolume:.6g} up to {described(self.reference)} ({how})"
        return "\n".join([head, *map(str, self.points)])
