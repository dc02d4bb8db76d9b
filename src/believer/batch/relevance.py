"""The relevant region: where the least value can still be, as far as the model knows ([Contal2013]).

======  ===================================================================
symbol  meaning
======  ===================================================================
μ, σ    latent mean and std, given real results only
σ'      the same after hallucinated results; the mean stays μ
y•      min_x μ(x) + √β σ(x): an upper confidence bound of the minimum
R⁺      {x : μ(x) - 2√β σ(x) ≤ y•}, the relevant region
e       μ - 2√β σ - y•, how far a point is from being relevant: e ≤ 0 in R⁺
======  ===================================================================

[Contal2013] maximize, so their f̂⁺ = μ + √β σ is our -(μ - √β σ), and their y•, the greatest lower bound, our least
upper one. The minimizer of μ - √β σ is in R⁺, because min μ - √β σ ≤ y•, and so is the point that y• belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from believer.acquisitions import Pointwise, PointwiseAcquisition, PointwiseObjective
from believer.arrays import Array, BoolArray, frozen
from believer.batch.best_so_far import best_places
from believer.batch.picking import maximizer_for
from believer.batch.request import Request
from believer.batch.worth import bounded
from believer.capabilities import has
from believer.maximize import Search
from believer.maximize.objective import ENUMERATE_UP_TO
from believer.space.region import Region
from believer.surrogates.protocols import Differentiable, Model

_SCREENED = 512


@dataclass(frozen=True, slots=True)
class Assured(PointwiseAcquisition):
    """-μ - √β σ: the negated upper bound, whose maximum is -y•."""

    root: float

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = -μ - √β σ; the incumbent is not used."""
        return Pointwise(-mean - self.root * std, np.full_like(mean, -1.0), np.full_like(std, -self.root))


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """R⁺ of a model. ``best`` is the point (d,) that y• belongs to, and ``share`` the relevant part of the space."""

    model: Model
    root: float
    threshold: float
    best: Array
    share: float

    def excess(self, X: Array) -> Array:
        """e (m,) at ``X`` (m, d)."""
        at = self.model.predict(X)
        return at.mean - 2.0 * self.root * at.std - self.threshold

    def holds(self, X: Array) -> BoolArray:
        """A mask of the relevant rows of ``X`` (m, d)."""
        return self.excess(X) <= 0.0

    def describe(self) -> str:
        """ "the relevant region (12 % of the space)"."""
        percent = 100.0 * self.share
        return f"the relevant region ({'under 1' if percent < 1.0 else f'{percent:.0f}'} % of the space)"


def relevance(request: Request, beta: float) -> Relevance:
    """R⁺ of the request's model, which is not conditioned on pending points.

    Its random numbers depend on the number of results, so that it is the same for every trial until there is a new
    result.
    """
    root, region, n = float(np.sqrt(beta)), request.region, len(request.data.y)
    bound = bounded(request, PointwiseObjective(Assured(root), request.model, 0.0), root)
    near_best = best_places(request)
    nothing = np.zeros((0, region.dim))
    search = Search(region, near_best, nothing)
    found = maximizer_for(bound, request.maximizer).maximize(bound, search, request.randomness(n, "assured"))
    # Without noise a result would be reached again, so y• may not be above the best result, however poor the search.
    at = np.vstack([found.x, near_best[region.holds(near_best)]])
    values = bound.value(at)
    best = int(np.argmax(values))
    here = Relevance(request.model, root, -float(values[best]), frozen(at[best]), 1.0)
    points = _everywhere(region, request.randomness(n, "relevance"))
    share = float(here.holds(points).mean()) if len(points) else 1.0
    return Relevance(here.model, root, here.threshold, here.best, share)


def _everywhere(region: Region, rng: np.random.Generator) -> Array:
    """All points of a small finite region, or space-filling ones."""
    size = region.size
    return region.points() if size is not None and size <= ENUMERATE_UP_TO else region.sample(_SCREENED, rng)


@dataclass(frozen=True, slots=True, eq=False)
class Exploration:
    """σ' inside R⁺; outside of it σ' - e, a slope that leads to R⁺, or -e with ``wall``.

    R⁺ is part of the objective and not of the region, because it may be too small for random draws to hit; a climb from
    outside finds it. The best points often lie on the border. With the slope, a climb can follow the border, but may
    end outside. With the wall, a climb stops at the border, but never ends outside while R⁺ has a new point.
    """

    model: Model
    relevance: Relevance
    wall: bool

    @property
    def has_gradient(self) -> bool:
        """Whether both models give gradients."""
        return has(self.model, Differentiable) and has(self.relevance.model, Differentiable)

    def value(self, X: Array) -> Array:
        """σ', σ' - e or -e (m,) at ``X`` (m, d)."""
        return self._bent(self.model.predict(X).std, self.relevance.excess(X))

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) with gradients (m, d), one-sided at the border of R⁺."""
        real = cast(Differentiable, self.relevance.model).predict_with_gradient(X)
        predicted = cast(Differentiable, self.model).predict_with_gradient(X)
        width = 2.0 * self.relevance.root
        excess = real.mean - width * real.std - self.relevance.threshold
        outwards = np.where((excess > 0.0)[:, None], real.mean_gradient - width * real.std_gradient, 0.0)
        kept = ((excess <= 0.0) | (not self.wall))[:, None]
        return self._bent(predicted.std, excess), np.where(kept, predicted.std_gradient, 0.0) - outwards

    def _bent(self, std: Array, excess: Array) -> Array:
        return np.where(excess <= 0.0, std, -excess if self.wall else std - excess)
