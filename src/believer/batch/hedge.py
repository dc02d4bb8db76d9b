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
from dataclasses import dataclass, field

import numpy as np

from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array
from believer.batch.best_so_far import best_so_far, real_incumbent
from believer.batch.learned import Learned
from believer.batch.request import Request
from believer.capabilities import has
from believer.maximize.objective import Search
from believer.space.region import Region
from believer.surrogates.pool import Pool
from believer.surrogates.protocols import Conditionable, Model, Prediction, Rescalable

SHORTEST = 0.5
"""The least c."""

NATS = 1.0 / 15.0
"""T for each result, where nothing else is said."""

MAX_NATS = 1e6
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
    """The model under lengthscales ``factor`` times as long in free columns; None where that means nothing.

    Where results were added to a model since it was fitted, it is that at the fit.
    """
    model, moves = learned.model if learned.base is None else learned.base, region.metric
    if not has(model, Rescalable) or not has(model, Conditionable) or not moves.any() or factor > _SAME:
        return None
    return model.with_lengthscales(np.where(moves, factor * model.lengthscales, model.lengthscales))


def plausible(learned: Learned, region: Region, nats: float) -> tuple[float, Model | None]:
    """c for T of ``nats`` a result, and the model under lengthscales cℓ; None where nothing can be hedged.  O(n³).

    What it comes to is kept with the last fit: between two fits a hedge is told results as the model is, O(n²) each.
    """
    if learned.base is None or learned.since is None:
        return _plausible(learned, region, nats)
    key, count = (nats, region.metric.tobytes()), len(learned.since) - _failures(learned)
    results = learned.ids[len(learned.ids) - count :]
    factor, model, told = learned.kept.get(key, (1.0, None, None))
    if told is None or told != results[: len(told)]:
        factor, model = _plausible(learned, region, nats)
        told = ()
    if model is not None and len(told) < count:
        model = model.condition(learned.since.at(slice(len(told), count)))
    learned.kept[key] = factor, model, results
    if model is not None and count < len(learned.since):
        model = model.condition(learned.since.at(slice(count, None)))
    return factor, model


def _plausible(learned: Learned, region: Region, nats: float) -> tuple[float, Model | None]:
    model = learned.model if learned.base is None else learned.base
    shortest = shortened(learned, region, SHORTEST)
    if not has(model, Rescalable) or not has(shortest, Rescalable):
        return 1.0, None
    results = len(learned.data) - (0 if learned.since is None else len(learned.since) - _failures(learned))
    against, allowed = model.log_evidence() - shortest.log_evidence(), nats * results
    if not against > allowed:
        return SHORTEST, shortest
    del shortest  # a factor of K is large, and the next one need not stand beside it
    factor = SHORTEST ** math.sqrt(allowed / against)
    return factor, shortened(learned, region, factor)


def _failures(learned: Learned) -> int:
    return 0 if learned.failed is None else len(learned.failed)


def resolution_of(request: Request) -> float:
    """The least improvement that matters: what the user says, or a small part of the way from the mean to the best.

    Improvements are in the user's units, warped or not. The median would be among the best results as soon as a search
    has converged.
    """
    if request.resolution is not None:
        return request.resolution
    y = request.data.y
    return RESOLUTION * (float(y.mean()) - float(y.min()))


def has_nothing_left(request: Request, incumbent: float | None, at: Prediction) -> bool:
    """Whether nothing that matters is expected where a model predicts ``at`` (m,): improvements on f⁺, which is None
    where nothing feasible is known, below the resolution."""
    least = resolution_of(request)
    if least <= 0.0 or not len(at.mean) or incumbent is None:
        return False
    expected = PointwiseObjective(_EXPECTED, request.model, incumbent).of((at,))
    return float(expected.max()) < math.log(least)


@dataclass(frozen=True, slots=True, eq=False)
class NothingExpected:
    """Whether the request's own model, before any lie, expects no improvement that matters at any point.

    Parameters
    ----------
    request : what the strategy was asked.
    pool : candidates under that model, which stand for all others; None where each point draws its own.
    """

    request: Request
    pool: Pool | None
    _minor: list[bool] = field(init=False, repr=False, default_factory=list)

    def holds(self, X: Array) -> bool:
        """Whether nothing that matters is expected of the points under way ``X`` (p, d), nor anywhere else.

        As a rule a point under way is the model's own choice, the best that it knew: then its first says no at once.
        """
        if not len(X) or not all(self._minor):
            return False
        request, best = self.request, real_incumbent(self.request)
        for row in range(len(self._minor), len(X)):
            self._minor.append(has_nothing_left(request, best, request.model.predict(X[row : row + 1])))
            if not self._minor[-1]:
                return False
        if self.pool is not None:
            at = self.pool.predict()
        else:
            search = Search(request.region, request.region.project(best_so_far(request).places()), request.avoid)
            rng = request.randomness(len(request.data), "quiet")
            at = request.model.predict(search.candidates(_ASKED, _ASKED // 4, (0.2, 0.05, 0.01), rng))
        return has_nothing_left(request, best_so_far(request).incumbent, at)
