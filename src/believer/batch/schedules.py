"""The width β_t of the confidence bounds μ - √β_t σ.

======  =====================================================================
symbol  meaning
======  =====================================================================
t       number of real results, plus one: the evaluation that comes next.
        Pending points and those of a batch do not count, so that β stays as
        it is until a result comes in ([Desautels2014], [Contal2013])
d       number of columns and blocks that can move
M       number of points of a finite region; else of combinations of blocks
δ       the chance that a bound may fail somewhere, sometime
C       bound on what a batch tells about any value, in nats; e^{2C} widens
======  =====================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Protocol, cast

from believer.arrays import LARGEST, above_zero, finite
from believer.errors import InvalidInput
from believer.space.region import Region

MAX_NATS, MAX_SCALE = 80.0, 1e6
"""The largest C and scale. Up to these β_t stays below 1e100, and far smaller values are useless already."""

MIN_CHANCE = 1e-100


class Schedule(Protocol):
    """A rule for β_t."""

    def beta(self, t: int, region: Region) -> float:
        """β_t ≥ 0 for points of ``region``, with t = 1, 2, ..."""


@dataclass(frozen=True, slots=True)
class LogBeta:
    """β_t = scale · d · log(2t), [Kandasamy2015]'s practical stand-in for what the theory asks for."""

    scale: float = 0.2

    def __post_init__(self) -> None:
        _at_least_zero(self.scale, "scale", MAX_SCALE)

    def beta(self, t: int, region: Region) -> float:
        """β_t."""
        return self.scale * _free(region) * math.log(2.0 * t)


@dataclass(frozen=True, slots=True)
class TheoryBeta:
    """β_t for which the bounds hold everywhere and always, with probability 1 - δ, for a function drawn from the
    model's prior.

    Finite region: 2 log(M t² π² / (6δ)), [Srinivas2010] Theorem 1. Continuous columns: 2 log(M t² 2π² / (3δ)) +
    2d log(t² d b √log(4da/δ)) on the unit cube, Theorem 2, where |∂f/∂x_j| exceeds L with a probability of at most a
    e^{-(L/b)²}; M comes from a union over the blocks. Both are multiplied by ``scale`` and e^{2C} ([Desautels2014]: the
    hallucinated σ is too small by a factor of at most e^C).

    Differs: ``scale`` is 1/5, as in the experiments of [Srinivas2010]. With 1 the bounds are proven, but too wide to be
    useful.
    """

    delta: float = 0.1
    scale: float = 0.2
    C: float = 0.0
    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < finite(self.delta, "delta") < 1.0 or self.delta < MIN_CHANCE:
            raise InvalidInput(f"delta must lie between 0 and 1, {MIN_CHANCE:g} or more; got {self.delta!r}.")
        _at_least_zero(self.scale, "scale", MAX_SCALE)
        _at_least_zero(self.C, "C", MAX_NATS)
        for name in ("a", "b"):
            above_zero(getattr(self, name), name, 1.0 / LARGEST, LARGEST)

    def beta(self, t: int, region: Region) -> float:
        """β_t, or zero if the formula is negative, as it may be for ``a`` or ``b`` far below 1."""
        d = region.decisions.count(None)
        log_M = sum(math.log(k) for k in region.decisions if k is not None)
        if d == 0:
            beta = 2.0 * (log_M + math.log(t**2 * math.pi**2 / (6.0 * self.delta)))
        else:
            slope = self.b * math.sqrt(max(math.log(4.0 * d * self.a / self.delta), 0.0))
            beta = 2.0 * (log_M + math.log(t**2 * 2.0 * math.pi**2 / (3.0 * self.delta)))
            beta += 2.0 * d * math.log(max(t**2 * d * slope, 1e-300))
        return self.scale * math.exp(2.0 * self.C) * max(beta, 0.0)


def checked_beta(beta: object) -> None:
    """Raise InvalidInput unless ``beta`` is a number of at least zero, or a schedule."""
    if isinstance(beta, type) or not callable(getattr(beta, "beta", None)):
        _at_least_zero(beta, "beta, where it is no schedule,", LARGEST)


def beta_at(beta: float | Schedule, t: int, region: Region) -> float:
    """β_t of a schedule, or the number itself."""
    return float(beta) if isinstance(beta, Real) else cast(Schedule, beta).beta(t, region)


def _free(region: Region) -> int:
    return sum(k is None or k > 1 for k in region.decisions)


def _at_least_zero(value: object, name: str, most: float) -> None:
    if finite(value, name, most) < 0.0:
        raise InvalidInput(f"{name} must be zero or more; got {value!r}.")
