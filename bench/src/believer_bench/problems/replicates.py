"""Noise of which a repeated point draws anew: what replicates are for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import MAX_SEED, whole
from believer.problems.problem import Evaluable, Problem

NoiseLaw: TypeAlias = Callable[[float, np.random.Generator], float]
"""``(height, rng) -> noise``: height is the truth above its optimum, in the problem's scale."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """N(0, std²), ``std`` in the problem's scale."""

    std: float

    def __call__(self, height: float, rng: np.random.Generator) -> float:
        """One draw."""
        return self.std * float(rng.standard_normal())


@dataclass(frozen=True, slots=True)
class Growing:
    """N(0, (low + slope √height)²): quiet near the optimum, loud far from it, or the other way round (slope < 0).

    The standard deviation is never below a tenth of ``low``.
    """

    low: float
    slope: float

    def __call__(self, height: float, rng: np.random.Generator) -> float:
        """One draw."""
        std = max(self.low + self.slope * math.sqrt(max(height, 0.0)), self.low / 10.0)
        return std * float(rng.standard_normal())


@dataclass(frozen=True, slots=True)
class Outliers:
    """N(0, std²), and with probability ``share`` also ``size`` (1 + E), E of the exponential law, up or down."""

    std: float
    share: float
    size: float

    def __call__(self, height: float, rng: np.random.Generator) -> float:
        """One draw."""
        noise = self.std * float(rng.standard_normal())
        if rng.random() >= self.share:
            return noise
        sign = 1.0 if rng.random() < 0.5 else -1.0
        return noise + sign * self.size * (1.0 + float(rng.standard_exponential()))


def replicated(problem: Problem, law: NoiseLaw, scale: float, seed: int) -> Problem:
    """``problem`` plus ``scale`` times noise by ``law``, another draw each time that a point is evaluated.

    The noise is a function of ``seed``, of the encoded point's bytes, and of how often this problem evaluated the point
    before: neither the order of different points nor the process matters. ``optimum``, ``optimizer`` and ``truth`` are
    those of the function without noise.
    """
    function = _Replicated(problem, law, scale, whole(seed, "seed", 0, MAX_SEED))
    truth = problem.function if problem.truth is None else problem.truth
    return replace(problem, function=function, truth=truth)


@dataclass(frozen=True, slots=True)
class _Replicated:
    problem: Problem
    law: NoiseLaw
    scale: float
    seed: int
    counts: dict[bytes, int] = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, params: dict[str, Any]) -> float:
        point = (self.problem.space.encode([params])[0] + 0.0).tobytes()  # adding 0.0: one zero, one sequence of bytes
        before = self.counts.get(point, 0)
        self.counts[point] = before + 1
        rng = np.random.default_rng([self.seed, before, *np.frombuffer(point, dtype=np.uint32).tolist()])
        truth = float(self.problem.function(params))
        height = 0.0 if self.problem.optimum is None else (truth - self.problem.optimum) / self.scale
        return truth + self.scale * self.law(height, rng)

    def seeded(self, seed: int) -> Evaluable:
        """The problem with another seed, and no point evaluated yet."""
        return replace(self, seed=whole(seed, "seed", 0, MAX_SEED), counts={})
