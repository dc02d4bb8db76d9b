"""The maximizer of the Structural Diversity Diagnostic: the same few starts every time, scipy's L-BFGS-B."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput, SpaceExhausted
from believer.maximize.objective import Maximum, Objective, Search


@dataclass(frozen=True, slots=True)
class FixedStarts:
    """L-BFGS-B from ``levels`` along the diagonal of the box ([paper] section 4.1: 0.2, 0.5, 0.8).

    No randomness, no screening, and no duplicate is avoided: what differs between two calls is the objective alone.
    Without gradients scipy takes finite differences, as the paper's scripts did.
    """

    levels: tuple[float, ...] = (0.2, 0.5, 0.8)

    def __post_init__(self) -> None:
        if not self.levels or not all(0.0 <= level <= 1.0 for level in self.levels):
            raise InvalidInput(f"levels must be one or more numbers in [0, 1]; got {self.levels!r}.")

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """The best end of the starts."""
        ends, values = self.climb(objective, search)
        allowed = search.region.allows(ends)
        if not allowed.any():
            raise SpaceExhausted(
                "no climb ended where the constraint allows; use Multistart() or Candidates().", left=0
            )
        best = int(np.argmax(np.where(allowed, values, -np.inf)))
        return Maximum(ends[best], float(values[best]), 0)

    def climb(self, objective: Objective, search: Search) -> tuple[Array, Array]:
        """Where each start ends (s, d), and the values there (s,)."""
        from scipy.optimize import minimize  # heavy: loaded by those who use it

        region = search.region
        bounds = list(zip(region.lower, region.upper, strict=True))

        def negated(x: Array) -> float | tuple[float, Array]:
            if objective.has_gradient:
                value, gradient = objective.value_with_gradient(x[None, :])
                return -float(value[0]), -gradient[0]
            return -float(objective.value(x[None, :])[0])

        ends = []
        for level in self.levels:
            start = region.lower + level * (region.upper - region.lower)
            ends.append(minimize(negated, start, jac=objective.has_gradient, method="L-BFGS-B", bounds=bounds).x)
        snapped = region.snap(np.array(ends))
        return snapped, objective.value(snapped)
