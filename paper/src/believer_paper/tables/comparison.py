"""The comparison of a number of the paper with ours: the difference, in units and in standard errors.

========  =========================================================================  =====
symbol    meaning                                                                    shape
========  =========================================================================  =====
n_o       our values, one a seed (a data set, a repetition)
m_o, s_o  mean and standard deviation of ours, s_o with n_o - 1; no s_o if n_o = 1
m_p, s_p  mean and standard deviation as printed; often there is no s_p
n_p       the paper's seeds; 1 where it shows one data set, or does not say
========  =========================================================================  =====

The standard error of m_o - m_p is √(s_o²/n_o + s_p²/n_p), as for independent means. If one side has no spread, that of
the other is used for both: one data set of the paper is then compared like one more draw of ours. Without any spread,
and for values of ours that depend on each other, there is no standard error. Within means at most two standard errors.
A number printed as "< m_p" agrees with every m_o below it, too.
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
"""The least number of values with a bootstrap interval of the median; of five values, its ends are the extremes."""

WITHIN = 2.0
"""The number of standard errors up to which a difference counts as none."""

RULE = (
    "s.e.: the difference in standard errors, sqrt(std_ours^2 / n_ours + std_paper^2 / n_paper). Where the paper "
    "prints no spread, ours stands in for it, and one data set of the paper counts as one more draw of ours. Standard "
    "deviations of ours divide by n - 1; intervals are 95 % bootstrap intervals of the median."
)


@dataclass(frozen=True, slots=True)
class OurSummary:
    """A summary of our values.

    std: None for a single value. interval: that of the median; None for few or dependent values. first: the value of
    the first seed. independent: whether the values are independent.
    """

    n: int
    mean: float
    std: float | None
    median: float
    interval: tuple[float, float] | None
    first: float
    independent: bool = True


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paper's number (None if it prints none), and ours."""

    paper: Printed | None
    ours: OurSummary

    @property
    def difference(self) -> float | None:
        """Our number minus the paper's, or minus the printed bound."""
        return None if self.paper is None else self.ours.mean - self.paper.mean

    @property
    def standard_error(self) -> float | None:
        """The standard error of the difference; None without a spread or a value to compare, or for dependent values.

        It is √(s_o²/n_o + s_p²/n_p); if one spread is missing, the other is used for both.
        """
        if self.paper is None or not self.ours.independent:
            return None
        s_o = self.paper.std if self.ours.std is None else self.ours.std
        s_p = self.ours.std if self.paper.std is None else self.paper.std
        if s_o is None or s_p is None:
            return None
        return math.hypot(s_o / math.sqrt(self.ours.n), s_p / math.sqrt(self.paper.n or 1))

    @property
    def errors(self) -> float | None:
        """The size of the difference in standard errors; infinite for a difference without any spread."""
        if self.difference is None or self.standard_error is None:
            return None
        if self.standard_error == 0.0:
            return math.inf if self.difference else 0.0
        return abs(self.difference) / self.standard_error

    @property
    def within(self) -> bool | None:
        """Whether the difference is at most two standard errors; None if the rule has no answer."""
        if self.paper is not None and self.paper.bound and self.ours.mean < self.paper.mean:
            return True
        return None if self.errors is None else self.errors <= WITHIN


def summarize(values: Sequence[float], independent: bool = True) -> OurSummary:
    """The summary of our values; only ``independent`` ones have an interval. InvalidInput if there are no values."""
    if len(values) == 0:
        raise InvalidInput("a summary needs at least one value; got none.")
    sample = np.asarray(values, dtype=np.float64)
    return OurSummary(
        n=len(sample),
        mean=float(sample.mean()),
        std=float(sample.std(ddof=1)) if len(sample) > 1 else None,
        median=float(np.median(sample)),
        interval=_interval(tuple(sample.tolist())) if independent and len(sample) >= INTERVAL_FROM else None,
        first=float(sample[0]),
        independent=independent,
    )


@functools.lru_cache(maxsize=4096)
def _interval(values: tuple[float, ...]) -> tuple[float, float]:
    """The interval of the median, cached because several tables have the same loops."""
    return bootstrap_interval(values)
