"""Hedging: a batch should not stake all of its points on how far the model thinks that results reach.

======  =======================================================================================
symbol  meaning
======  =======================================================================================
ℓ       the model's lengthscales of columns in which points may move freely
c       a factor of ℓ, from 1/2 to 1
Δ(c)    log p(y | ℓ) - log p(y | cℓ), in nats: what the results say against lengthscales cℓ
T       how much they may say against them, for each result: what is wrong stays so with many
p       points that are pending when one is chosen, those of its batch before it included
======  =======================================================================================

A sure model believes a point's neighbors as soon as it believes the point, and finds the next one beside it: q points
test one belief. The model itself chooses the first point, and then one trial in p + 1: asynchronous use has its share
of them, too. All others are chosen under lengthscales cℓ, told the same lies: the shortest that the results do not
speak against by more than T,

    c = 1/2 where Δ(1/2) ≤ T, else (1/2)^√(T / Δ(1/2)),

since Δ is about quadratic in log c. Where the results say little of lengthscales c is 1/2; where half of them would not
explain the results at all, nearly 1: a model that has earned its certainty is hedged little. Between categories, and
along grids of few values, a lengthscale is no distance: there it stays as it is.
"""

from __future__ import annotations

import math

import numpy as np

from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array
from believer.batch.learned import Learned
from believer.batch.request import Request
from believer.batch.standing import standing
from believer.capabilities import able
from believer.maximize.objective import Search
from believer.space.region import Region
from believer.surrogates.protocols import Conditionable, Model, Rescalable

SHORTEST = 0.5
"""The least c."""

NATS = 1.0 / 15.0
"""T for each result, where nothing else is said."""

MOST_NATS = 1e6
"""No results say more than that of anything."""

_EXPECTED = LogEI()

_SAME = 0.98
"""A factor above this is not worth a second model."""

_ASKED = 64
"""Candidates everywhere, and a quarter of that near each of the best points, that say whether a model is quiet."""

RESOLUTION = 1e-4
"""The least improvement that matters, if the user says nothing: so much of the way from the mean result to the best."""


def is_own(request: Request, trial: int, pending: int) -> bool:
    """Whether the model itself chooses the point of ``trial``, with ``pending`` others under way: one time in p + 1.

    Drawn with the trial's own randomness, so that neither the number of a batch's first trial nor how the points are
    asked for decides what is hedged.
    """
    return pending == 0 or float(request.randomness(trial, "own").random()) * (pending + 1) < 1.0


def shortened(learned: Learned, region: Region, factor: float) -> Model | None:
    """The model under lengthscales ``factor`` times as long in free columns; None if that means nothing."""
    model, moves = learned.model, region.metric
    if not able(model, Rescalable) or not able(model, Conditionable) or not moves.any() or factor > _SAME:
        return None
    return model.with_lengthscales(np.where(moves, factor * model.lengthscales, model.lengthscales))


def plausible(learned: Learned, region: Region, nats: float) -> tuple[float, Model | None]:
    """c for T of ``nats`` a result, and the model under lengthscales cℓ; None if nothing can be hedged.  O(n³)."""
    model, shortest = learned.model, shortened(learned, region, SHORTEST)
    if not able(model, Rescalable) or not able(shortest, Rescalable):
        return 1.0, None
    against, allowed = model.log_evidence() - shortest.log_evidence(), nats * len(learned.data)
    if not against > allowed:
        return SHORTEST, shortest
    factor = SHORTEST ** math.sqrt(allowed / against)
    return factor, shortened(learned, region, factor)


def resolution_of(request: Request) -> float:
    """The least improvement that matters: what the user says, or a small part of the way from the mean to the best.

    The better half of the results is in the user's units, warped or not. The median would be among the best results as
    soon as a search has converged.
    """
    if request.resolution is not None:
        return request.resolution
    y = request.data.y
    return RESOLUTION * (float(y.mean()) - float(y.min()))


def is_settled(request: Request, model: Model, incumbent: float | None, X: Array) -> bool:
    """Whether ``model`` expects nothing that matters of ``X`` (m, d): improvements on f⁺ below the resolution."""
    least = resolution_of(request)
    if least <= 0.0 or not len(X) or incumbent is None:
        return False
    return float(PointwiseObjective(_EXPECTED, model, incumbent).screen(X, 1).max()) < math.log(least)


def is_quiet(request: Request) -> bool:
    """Whether the request's model expects nothing that matters anywhere: of some hundred candidates.

    They are near the best points and everywhere, and the same until there is another result.
    """
    here = standing(request)
    search = Search(request.region, request.region.project(here.places()), request.avoid)
    rng = request.randomness(len(request.data), "quiet")
    pool = search.candidates(_ASKED, _ASKED // 4, (0.2, 0.05, 0.01), rng)
    return is_settled(request, request.model, here.incumbent, pool)
