"""The user's beliefs about the optimum in the acquisition function: they count less with every result ([Hvarfner2022]).

======  =========================================================================
symbol  meaning
======  =========================================================================
α       the acquisition function
π       how likely the optimum is at a point: ``space.likely``
n, k    numbers of results, and of parameters with a belief
======  =========================================================================

[Hvarfner2022] maximizes α π^(β/n), which in logarithms is log α + β/n log π.

Differs: log π is divided by k, because many wrong beliefs together would otherwise outweigh the results for long. To an
acquisition function in units of the objective (UCB, a sampled function), β/n log π standard deviations of the results
are added.
"""

from __future__ import annotations

from dataclasses import dataclass

from believer.arrays import Array
from believer.batch.request import Request
from believer.maximize import Objective
from believer.space.likely import Likely
from believer.space.region import Region
from believer.surrogates.gp import standardization

BETA = 10.0
"""β."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaning:
    """An objective plus ``weight`` times log π."""

    objective: Objective
    likely: Likely
    region: Region
    weight: float

    @property
    def has_gradient(self) -> bool:
        """Whether the objective has one."""
        return self.objective.has_gradient

    def value(self, X: Array) -> Array:
        """The sum (m,) at ``X`` (m, d)."""
        return self.objective.value(X) + self.added(X)

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The sum (m,) and its derivatives (m, d)."""
        value, slope = self.objective.value_with_gradient(X)
        more, by_x = self.likely.log_density(X, self.region)
        return value + self.weight * more, slope + self.weight * by_x

    def added(self, X: Array) -> Array:
        """The amount (m,) that beliefs add at ``X`` (m, d)."""
        return self.weight * self.likely.log_density(X, self.region)[0]


def leaning(objective: Objective, request: Request, likely: Likely, is_scaled: bool) -> Leaning:
    """The objective of a request that has results, with the beliefs ``likely``.

    ``is_scaled`` says whether the objective is a logarithm, or in standard deviations of the results.
    """
    unit = 1.0 if is_scaled else standardization(request.data.y)[1]
    return Leaning(objective, likely, request.region, unit * BETA / (len(likely.columns) * len(request.data)))
