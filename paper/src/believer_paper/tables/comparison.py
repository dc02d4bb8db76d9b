"""A number of the paper beside ours: the difference, and whether it lies within the combined spread.

========  ======================================================================  =====
symbol    meaning                                                                 shape
========  ======================================================================  =====
n         our values, one a seed (a data set, a repetition)
m_o, s_o  mean and standard deviation of ours, s_o with n - 1; no s_o if n = 1
m_p, s_p  mean and standard deviation as printed; often there is no s_p
========  ======================================================================  =====

The rule: |m_o - m_p| ≤ √(s_o² + s_p²). A spread that is not there does not count; without any, there is no answer. A
number printed as "< m_p" is also met by every m_o below it. The rule says that a difference is no larger than what one
run varies by. It is no test: the means of many runs can differ for certain within it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from believer.errors import InvalidInput
from believer.experiments import bootstrap_interval
from believer_paper.numbers.printed import Printed

INTERVAL_FROM = 6
"""Values from which a bootstrap interval of the median is given: of five, its ends are the extremes."""

RULE = (
    "Within: |ours - paper| <= sqrt(std_ours^2 + std_paper^2); where the paper prints no spread, ours alone counts. "
    "Standard deviations of ours divide by n - 1; intervals are 95 % bootstrap intervals of the median."
)


@dataclass(frozen=True, slots=True)
class Summary:
    """Our values in short. std: None of a single value. interval: of the median; None of few or dependent values.

    first: the value of the first seed.
    """

    n: int
    mean: float
    std: float | None
    median: float
    interval: tuple[float, float] | None
    first: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paper's number, None where it prints none, and ours."""

    paper: Printed | None
    ours: Summary

    @property
    def difference(self) -> float | None:
        """Ours less the paper's; of a printed bound, ours less the bound."""
        return None if self.paper is None else self.ours.mean - self.paper.mean

    @property
    def spread(self) -> float | None:
        """√(s_o² + s_p²), None if neither is known or there is nothing to compare."""
        known = [std for std in (self.ours.std, self.paper.std) if std is not None] if self.paper else []
        return math.hypot(*known) if known else None

    @property
    def within(self) -> bool | None:
        """Whether the difference is at most the spread; None where the rule has no answer."""
        if self.paper is None or self.difference is None:
            return None
        if self.paper.bound and self.difference < 0.0:
            return True
        return None if self.spread is None else abs(self.difference) <= self.spread


def summarize(values: Sequence[float], independent: bool = True) -> Summary:
    """Our values in short; ``independent`` or not: only independent ones have an interval. InvalidInput if empty."""
    if len(values) == 0:
        raise InvalidInput("a summary needs at least one value; got none.")
    sample = np.asarray(values, dtype=np.float64)
    return Summary(
        n=len(sample),
        mean=float(sample.mean()),
        std=float(sample.std(ddof=1)) if len(sample) > 1 else None,
        median=float(np.median(sample)),
        interval=_interval(tuple(sample.tolist())) if independent and len(sample) >= INTERVAL_FROM else None,
        first=float(sample[0]),
    )


@functools.lru_cache(maxsize=4096)
def _interval(values: tuple[float, ...]) -> tuple[float, float]:
    """Kept: the same loops are in several tables, and a report makes all of them more than once."""
    return bootstrap_interval(values)
