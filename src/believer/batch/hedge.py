"""Hedging: a batch should not depend entirely on the fitted lengthscales, because these are uncertain.

======  =======================================================================================
symbol  meaning
======  =======================================================================================
ℓ       the model's lengthscales of columns in which points may move freely
c       a factor of ℓ, from 1/2 to 1
Δ(c)    log p(y | ℓ) - log p(y | cℓ), in nats: the evidence of the results against cℓ
n       the number of results that the lengthscales were fitted to
T       the largest such evidence that is allowed, in nats for each of the n results
p       points that are pending when one is chosen, those of its batch before it included
======  =======================================================================================

If the fitted lengthscales are long, a lie also settles the neighborhood of its point, and the next point lies beside
it: q points then test the same belief. The model itself chooses the first point, and then one trial in p + 1, so that
asynchronous use gets its share. All other points are chosen by a copy of the model with lengthscales cℓ and the same
lies. cℓ are the shortest lengthscales that the evidence allows,

    c = 1/2 if Δ(1/2) ≤ nT, else (1/2)^√(nT / Δ(1/2)),

since Δ is about quadratic in log c. If the results say little about the lengthscales, c is 1/2. If the fitted
lengthscales, halved, would not explain the results at all, c is nearly 1: a model that has good reasons to be certain
is hedged little. If the model of a single output expects no improvement above the resolution, c is 1/2 for every
point, whatever Δ is. Between categories, and along grids of few values, a lengthscale is not a distance, and stays as
it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array
from believer.batch.best_so_far import best_so_far
from believer.batch.learned import Learned
from believer.batch.request import Request
from believer.capabilities import has
from believer.maximize.objective import Search
from believer.space.region import Region
from believer.surrogates.pool import Pool
from believer.surrogates.protocols import Conditionable, Model, Prediction, Rescalable

LEAST_FACTOR = 0.5
"""The least c."""

NATS = 1.0 / 15.0
"""T of the default strategy, ``hedged``."""

MAX_NATS = 1e6
"""The largest T."""

_EXPECTED = LogEI()

_SAME = 0.98
"""With a factor c above this, no second model is made."""

_CANDIDATES = 64
""":class:`NothingExpected` predicts at this number of candidates in the whole region, and at a quarter of that number
near each of the best points."""

RESOLUTION = 1e-4
"""The default of the least improvement that matters, as a share of the distance from the mean result to the best."""


def is_own(request: Request, trial: int, pending: int) -> bool:
    """Whether the model itself chooses the point of ``trial``, with ``pending`` others pending: one time in p + 1.

    This is drawn with the trial's own randomness, so that it depends neither on the id of the first trial nor on how
    the points are divided into asks.
    """
    return pending == 0 or float(request.randomness(trial, "own").random()) * (pending + 1) < 1.0


def shortened(learned: Learned, region: Region, factor: float) -> Model | None:
    """The model under lengthscales ``factor`` times as long in free columns; None if there are none to shorten.

    If results were added since the last fit, this is the model at that fit.
    """
    model, moves = learned.model if learned.base is None else learned.base, region.metric
    if not has(model, Rescalable) or not has(model, Conditionable) or not moves.any() or factor > _SAME:
        return None
    return model.with_lengthscales(np.where(moves, factor * model.lengthscales, model.lengthscales))


def plausible(learned: Learned, region: Region, nats: float) -> tuple[float, Model | None]:
    """c for a T of ``nats``, and the model under lengthscales cℓ; None if it cannot be hedged. O(n³).

    The result is kept with the last fit; until the next fit it is conditioned on new results like the model, O(n²)
    each.
    """
    if learned.base is None or learned.since is None:
        return _plausible(learned, region, nats)
    # ``since`` has the new results in the order of their ids, and then the failed trials.
    key, count = (nats, region.metric.tobytes()), len(learned.since) - _failures(learned)
    new_ids = learned.ids[len(learned.ids) - count :]
    factor, model, has_ids = learned.kept.get(key, (1.0, None, None))
    if has_ids is None or has_ids != new_ids[: len(has_ids)]:
        factor, model = _plausible(learned, region, nats)
        has_ids = ()
    if model is not None and len(has_ids) < count:
        model = model.condition(learned.since.at(slice(len(has_ids), count)))
    learned.kept[key] = factor, model, new_ids
    if model is not None and count < len(learned.since):
        model = model.condition(learned.since.at(slice(count, None)))
    return factor, model


def _plausible(learned: Learned, region: Region, nats: float) -> tuple[float, Model | None]:
    model = learned.model if learned.base is None else learned.base
    shortest = shortened(learned, region, LEAST_FACTOR)
    if not has(model, Rescalable) or not has(shortest, Rescalable):
        return 1.0, None
    n = len(learned.data) - (0 if learned.since is None else len(learned.since) - _failures(learned))
    against, allowed = model.log_evidence() - shortest.log_evidence(), nats * n
    if not against > allowed:
        return LEAST_FACTOR, shortest
    del shortest  # frees a large factor before the next is made
    factor = LEAST_FACTOR ** math.sqrt(allowed / against)
    return factor, shortened(learned, region, factor)


def _failures(learned: Learned) -> int:
    return 0 if learned.failed is None else len(learned.failed)


def resolution_of(request: Request) -> float:
    """The least improvement that matters: the study's ``resolution``, or a small part of the distance from the mean to
    the best result.

    It is in the user's units, even if results are warped, because a warp leaves improvements unchanged. The mean is
    used because the median is close to the best result once a search has converged.
    """
    if request.resolution is not None:
        return request.resolution
    y = request.data.y
    return RESOLUTION * (float(y.mean()) - float(y.min()))


def has_nothing_left(request: Request, incumbent: float | None, at: Prediction) -> bool:
    """Whether all expected improvements on f⁺ are below the resolution, given the predictions ``at`` (m,); f⁺ is None
    if nothing feasible is known."""
    least = resolution_of(request)
    if least <= 0.0 or not len(at.mean) or incumbent is None:
        return False
    expected = PointwiseObjective(_EXPECTED, request.model, incumbent).of((at,))
    return float(expected.max()) < math.log(least)


@dataclass(frozen=True, slots=True, eq=False)
class NothingExpected:
    """Decides whether the request's own model, before any lie, expects no improvement that matters at any point.

    Parameters
    ----------
    request : the request to the strategy.
    pool : candidates under that model, which stand for the whole region; None if each point draws its own.
    """

    request: Request
    pool: Pool | None
    _minor: list[bool] = field(init=False, repr=False, default_factory=list)

    def holds(self, X: Array) -> bool:
        """Whether no improvement that matters is expected at the pending points ``X`` (p, d) or anywhere else.

        The first pending point is usually the best that the model knew, so that it alone often decides.
        """
        if not len(X) or not all(self._minor):
            return False
        request, here = self.request, best_so_far(self.request)
        for row in range(len(self._minor), len(X)):
            self._minor.append(has_nothing_left(request, here.incumbent, request.model.predict(X[row : row + 1])))
            if not self._minor[-1]:
                return False
        if self.pool is not None:
            at = self.pool.predict()
        else:
            search = Search(request.region, request.region.project(here.places()), request.avoid)
            rng = request.randomness(len(request.data), "quiet")
            at = request.model.predict(search.candidates(_CANDIDATES, _CANDIDATES // 4, (0.2, 0.05, 0.01), rng))
        return has_nothing_left(request, here.incumbent, at)
