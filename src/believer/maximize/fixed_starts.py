"""The maximizer of the Structural Diversity Diagnostic: the same few starts every time, scipy's L-BFGS-B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import MAX_SEED, SAME_POINT, Array, shares, whole
from believer.errors import InvalidInput, SpaceExhausted
from believer.maximize.objective import Maximum, Objective, Search
from believer.space.region import Region, bounds

MAX_STARTS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Ascent:
    """The climbs from all starts: where they begin and end, (s, d) each, and the values there, (s,) each."""

    starts: Array
    ends: Array
    values: Array

    @property
    def moved(self) -> float:
        """The share of climbs that ended away from their start."""
        return float((np.abs(self.ends - self.starts).max(axis=1) > SAME_POINT).mean())

    def best(self, region: Region) -> Maximum:
        """The best end that the region allows."""
        allowed = region.holds(self.ends)
        if not allowed.any():
            raise SpaceExhausted(
                "no climb ended where the constraint allows; use Multistart() or Candidates().", left=0
            )
        best = int(np.argmax(np.where(allowed, self.values, -np.inf)))
        return Maximum(self.ends[best], float(self.values[best]), 0)


@dataclass(frozen=True, slots=True)
class FixedStarts:
    """L-BFGS-B from fixed starts along the diagonal of the box ([paper] section 4.1: 0.2, 0.5, 0.8).

    There is no randomness but that of the seed, no screening of candidates, and duplicates are not avoided: two calls
    differ in their objective only. Without gradients scipy uses finite differences, as the paper's scripts did.

    Parameters
    ----------
    levels : the positions of starts along the diagonal, in [0, 1].
    draws : the number of further uniform starts: the paper's pre-drawn restarts (SDD, part B).
    seed : the seed of these starts.
    """

    levels: tuple[float, ...] = (0.2, 0.5, 0.8)
    draws: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        whole(self.draws, "draws", 0, MAX_STARTS)
        object.__setattr__(self, "levels", shares(self.levels, "levels", MAX_STARTS))
        if not (self.levels or self.draws):
            raise InvalidInput(
                "levels must be one or more numbers in [0, 1], or draws above zero; got neither. Pass either of them."
            )
        whole(self.seed, "seed", 0, MAX_SEED)

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """Return the best end of the climbs on ``objective`` in the region of ``search``; ``rng`` is not used."""
        return self.climb(objective, search.region).best(search.region)

    def starts(self, region: Region) -> Array:
        """The points (s, d) where every search begins."""
        levels = np.array(self.levels)[:, None] * np.ones(region.dim)
        drawn = np.random.default_rng(self.seed).random((self.draws, region.dim))
        lower, upper = bounds(region)
        return region.project(np.vstack([lower + levels * (upper - lower), region.spread(drawn)]))

    def climb(self, objective: Objective, region: Region) -> Ascent:
        """The climbs on ``objective`` from all starts in ``region``."""
        from scipy.optimize import minimize  # heavy, so loaded on use

        box = list(zip(*bounds(region), strict=True))

        def negated(x: Array) -> float | tuple[float, Array]:
            if objective.has_gradient:
                value, gradient = objective.value_with_gradient(x[None, :])
                return -float(value[0]), -gradient[0]
            return -float(objective.value(x[None, :])[0])

        starts = self.starts(region)
        ends = [minimize(negated, x, jac=objective.has_gradient, method="L-BFGS-B", bounds=box).x for x in starts]
        snapped = region.project(np.array(ends))
        return Ascent(starts, snapped, objective.value(snapped))
