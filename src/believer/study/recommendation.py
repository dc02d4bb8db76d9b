"""What to use in the end: not always the best value that was observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from believer.study.trials import Trial, described

NORMAL_95 = 1.959963984540054
"""A normal variable is within so many standard deviations of its mean in 95 % of all cases."""


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
    """

    trial: Trial
    params: dict[str, Any]
    mean: float
    std: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"trial {self.trial.id}, {described(self.params)}: {self.mean:.6g} expected, "
            f"between {low:.6g} and {high:.6g} at 95 %"
        )
