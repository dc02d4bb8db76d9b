"""The maximizer of the printed set-up: scipy's L-BFGS-B from ten random starts, in the units of the box.

The paper gives EI no gradient, so scipy takes forward differences. They are formed here, d + 1 points at a time with
scipy's own step, because a model predicts many points in hardly more time than one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from believer.arrays import SAME_POINT, Array
from believer.plugins import Maximum, Objective, Search, bounds
from believer.space import Space
from believer_paper.setup.process import box_of
from believer_paper.setup.watch import FitWatch

STARTS = 10
"""The number of starts ([paper] appendix "Hyperparameter details": 10 restarts)."""

STEP = 1e-8
"""The step of scipy's forward differences, in the units of x."""

TOLERANCES: Mapping[str, Mapping[str, float]] = {"scipy": {}, "tight": {"ftol": 1e-15, "gtol": 1e-12}}
"""The tolerances of L-BFGS-B: scipy's own (2e-9 of the value, a slope of 1e-5), or nearly zero."""


@dataclass(frozen=True, slots=True, eq=False)
class ScipyStarts:
    """The best result of L-BFGS-B from uniform starts, which are drawn again for every point.

    A batch may repeat a point. inputs: search in the units of the box ("raw") or in the unit cube ("cube"). tolerance:
    a key of :data:`TOLERANCES`.
    """

    space: Space
    starts: int = STARTS
    inputs: str = "raw"
    tolerance: str = "scipy"
    watch: FitWatch = field(default_factory=FitWatch)

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """Search from every start and return the best end; ends at starts that did not move count, too."""
        from scipy.optimize import minimize  # heavy: loaded by those who use it

        region = search.region
        low, high = box_of(self.space, self.inputs)
        width = high - low
        least, most = bounds(region)
        lower, upper = low + least * width, low + most * width
        corners = np.arange(1, region.dim + 1), np.arange(region.dim)
        drawn = region.spread(rng.random((self.starts, region.dim)))

        has_gradient = objective.has_gradient

        def descend(raw: Array) -> tuple[float, Array]:
            if has_gradient:
                value, gradient = objective.value_with_gradient((raw - low)[None, :] / width)
                return -float(value[0]), -gradient[0] / width
            steps = np.where(raw + STEP <= upper, STEP, -STEP)
            points = np.tile(raw, (len(raw) + 1, 1))
            points[corners] += steps
            values = -objective.value((points - low) / width)
            return float(values[0]), (values[1:] - values[0]) / steps

        box = list(zip(lower, upper, strict=True))
        how = {"jac": True, "method": "L-BFGS-B", "bounds": box, "options": dict(TOLERANCES[self.tolerance])}
        ends = [minimize(descend, low + x * width, **how).x for x in drawn]
        reached = region.project(np.clip((np.array(ends) - low) / width, least, most))
        self.watch.starts += len(drawn)
        self.watch.moved += int((np.abs(reached - drawn).max(axis=1) > SAME_POINT).sum())
        values = objective.value(reached)
        best = int(np.argmax(values))
        return Maximum(reached[best], float(values[best]), 0)
