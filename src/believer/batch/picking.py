"""One point of a batch: maximize the objective, keep the point new, and describe in words how it was chosen.

Every strategy that chooses one point at a time is a loop around :func:`pick`; only the objectives differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from believer.arrays import Array, frozen, no_rows, read_only
from believer.batch.leaning import leaning
from believer.batch.random import REPLACED, draw
from believer.batch.request import Choice, Request
from believer.capabilities import has
from believer.maximize import Candidates, Maximizer, Multistart, Objective, Search
from believer.maximize.objective import ENUMERATE_UP_TO, Known, Spacing, first_distinct, is_new, ranked, values_of
from believer.numerics.lbfgs import Settings as LBFGSSettings
from believer.space.region import Listed, Region
from believer.surrogates.protocols import Differentiable

_CLIMBING, _SCREENING = Multistart(), Candidates()

_POOLED = Multistart(
    starts=8,
    neighbors=64,
    climb=LBFGSSettings(max_rounds=50, gradient_tol=1e-3, value_tol=1e-3, heat=4, finalists=1),
)
"""The maximizer for kept candidates: it draws more of them near good points, and after ``heat`` rounds goes on with
the best climb only, until LogEI gains less than 0.001 (benchmarks/pool.py)."""

POOLED_FROM = 200
"""From this number of results on, candidates are kept for all points of a batch."""

_EVERY, _UNTIL, _EVERY_LATER, _FEW = 2, 16, 8, 48
"""Further candidates, ``_FEW`` near each good place, are drawn after every ``_EVERY``-th lie up to ``_UNTIL`` lies, and
then after every ``_EVERY_LATER``-th, because the earlier candidates there are used up. All of them are kept."""


MOST_ROWS, _NUMBERS = 32_768, 1 << 24
"""Limits for a long list: the number of points kept as candidates, and of their covariances with the results."""


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """A point that was picked, and how it was picked.

    Attributes
    ----------
    x : the point, (d,).
    passed_over : the number of better points that were skipped because they were taken.
    replaced : whether the point had to be replaced by a random draw.
    spaced : whether better points were too close to others.
    among : the number of rows among which it was picked, if others of a long list were not compared; otherwise 0.
    """

    x: Array
    passed_over: int
    replaced: bool
    spaced: bool = False
    among: int = 0

    def choice(self, what: str, after: str = "") -> Choice:
        """The point with its provenance: "chosen at LogEI rank 1 after believing 2 points".

        ``what`` is the name of the objective, "LogEI"; ``after`` describes the lies before it in words, " after
        believing 2 points".
        """
        rank = f"chosen at {what} rank {self.passed_over + 1}"
        rank += " of those far enough from others" if self.spaced else ""
        behind = f"; {_ranks(self.passed_over)} handed out already" if self.passed_over else ""
        return Choice(frozen(self.x), f"{rank}{after}{behind}{REPLACED if self.replaced else ''}")


def pick(
    objective: Objective,
    request: Request,
    trial: int,
    near_best: Array,
    avoid: Array,
    spacing: Spacing | None = None,
    known: Known | None = None,
    climbs: bool = True,
    is_scaled: bool = False,
) -> Picked:
    """The best point found that is not taken yet.

    Parameters
    ----------
    objective : the objective to maximize.
    request : the request to the strategy.
    trial : the id of the trial that gets the point; its random stream is used.
    near_best : good points (k, d); candidates are drawn near them.
    avoid : points (k, d) that are taken.
    spacing : the points to keep a distance from, if possible; None for no spacing.
    known : candidates with their values; None if they must be drawn.
    climbs : whether to climb from the best known candidates; otherwise one of them is the point.
    is_scaled : whether the objective is a logarithm or in standard deviations. The prior about the optimum
        (``request.likely``) is added to the objective and needs this.
    """
    if request.likely is not None and len(request.data):
        leans = leaning(objective, request, request.likely, is_scaled)
        objective, known = leans, known and replace(known, values=known.values + leans.added(known.X))
        near_best = np.vstack([near_best, request.region.project(leans.likely.centered(near_best[:1]))])
    if known is not None and not climbs:
        best = first_distinct(known.X, ranked(known.values), Search(request.region, near_best, avoid, spacing, known))
        if best is not None:
            return Picked(best.x, best.passed_over, False, best.spaced)
    maximizer = _POOLED if known is not None and objective.has_gradient else maximizer_for(objective, request.maximizer)
    search = Search(request.region, near_best, avoid, spacing, known)
    best = maximizer.maximize(objective, search, request.randomness(trial, "maximize"))
    # The library's maximizers return a new point. A user's may not: the lie must then be at the point that replaces it.
    if request.maximizer is None or is_new(best.x, request.region, avoid):
        return Picked(best.x, best.passed_over, False, best.spaced, best.among)
    return Picked(draw(request.region, avoid, request.randomness(trial, "random"))[0], best.passed_over, True)


def maximizer_for(objective: Objective, wanted: Maximizer | None) -> Maximizer:
    """The maximizer of an objective.

    Parameters
    ----------
    objective : the objective to maximize.
    wanted : the maximizer that the user chose; None takes the one that suits the objective.
    """
    if wanted is not None:
        return wanted
    return _CLIMBING if objective.has_gradient else _SCREENING


def drawn(request: Request, places: Array) -> Array | None:
    """Candidates (m, d) for all points that are asked for until there are new results; None if the maximizer draws its
    own.

    They are drawn once, with randomness that depends on the seed and the number of results: near the best results, and
    everywhere. In a small finite region they are all points.
    """
    region = request.region
    if request.fresh or not shares_candidates(request):
        return None
    if region.size is not None and region.size <= ENUMERATE_UP_TO:
        X = region.points()
    else:
        search = Search(region, region.project(places), request.avoid)
        X = _POOLED.drawn(search, request.randomness(len(request.data), "pool"))
    return X if len(X) else None


def shares_candidates(request: Request) -> bool:
    """Whether all points of a ``request`` share their candidates, apart from the first point of a fresh request.

    They do not share them if the maximizer is the user's own, if a model has no gradients, or with fewer than
    ``POOLED_FROM`` results, when a new prediction costs no more than an update.
    """
    if len(request.data) < POOLED_FROM or request.maximizer is not None:
        return False
    return all(has(one.model, Differentiable) for one in request.outputs)


def is_long(region: Region) -> bool:
    """Whether a region is a list of too many points to keep all of them as candidates."""
    return has(region, Listed) and len(region.rows) > ENUMERATE_UP_TO


def best_rows(request: Request, objective: Objective) -> tuple[Array, float] | None:
    """The points of a long list that are best before any lie, (m, d), and the largest value of all others.  O(m n²).

    None if the maximizer draws its own candidates, because it is the user's own, or because a model has no gradients.
    """
    if request.maximizer is not None or not all(has(one.model, Differentiable) for one in request.outputs):
        return None
    rows: Array = request.region.points()
    values = ranked(values_of(objective, rows))
    most = min(MOST_ROWS, max(ENUMERATE_UP_TO, _NUMBERS // (len(request.data) + 1)))
    if len(rows) <= most:
        return rows, -np.inf
    order = np.argpartition(-values, most)
    return read_only(rows[np.sort(order[:most])]), float(values[order[most]])


def deserves_candidates(request: Request, x: Array, lies: int, places: Array) -> bool:
    """Whether further candidates are drawn after a lie at ``x`` (d,): if it is one of the good ``places`` (k, d), or if
    ``lies``, the number of lies, is one of every few."""
    size = request.region.size
    if (size is not None and size <= ENUMERATE_UP_TO) or is_long(request.region):
        return False
    return _brings_more(lies) or bool((places == x).all(axis=1).any())


def _brings_more(lies: int) -> bool:
    return lies % (_EVERY if lies <= _UNTIL else _EVERY_LATER) == 0


def drawn_near(request: Request, trial: int, x: Array, lies: int, places: Array) -> Array:
    """Further candidates (m, d) from the random stream of ``trial``: near each of the good ``places`` (k, d) after
    every few lies, and many near ``x`` (d,) if it is a good place itself."""
    region, near, rng = request.region, [no_rows(request.region.dim)], request.randomness(trial, "near")
    if _brings_more(lies):
        near.append(region.near(region.project(places), _FEW, _POOLED.widths, rng))
    if (places == x).all(axis=1).any():
        near.append(region.near(x[None, :], _POOLED.neighbors, _POOLED.widths, rng))
    return np.vstack(near)


def taken(avoid: Array, x: Array, request: Request) -> Array:
    """The taken points, with one more if the points of a batch must differ.

    Parameters
    ----------
    avoid : the points taken so far, (k, d).
    x : the further point, (d,).
    request : the request, which says whether points must differ.
    """
    return np.vstack([avoid, x]) if request.distinct else avoid


def counted(points: int) -> str:
    """ "1 point", "2 points"."""
    return f"{points} point{'s' if points != 1 else ''}"


def _ranks(passed_over: int) -> str:
    return "rank 1 was" if passed_over == 1 else f"ranks 1 to {passed_over} were"
