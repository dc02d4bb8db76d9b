"""One point of a batch: maximize the objective, keep the point new, and describe in words how it was chosen.

Every strategy that chooses one point at a time is a loop around :func:`pick`; what differs is the objective.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, frozen
from believer.batch.random import REPLACED, draw
from believer.batch.request import Choice, Request
from believer.maximize import Candidates, Maximizer, Multistart, Objective, Search
from believer.maximize.objective import Spacing, is_new
from believer.space.region import Region

_CLIMBING, _SCREENING = Multistart(), Candidates()


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """A point that was picked, and how it was picked.

    Attributes
    ----------
    x : the point, (d,).
    passed_over : the number of better points that were taken already.
    replaced : whether the point had to be replaced by a random draw.
    spaced : whether better points were too close to others.
    """

    x: Array
    passed_over: int
    replaced: bool
    spaced: bool = False

    def choice(self, what: str, after: str = "") -> Choice:
        """The point with its provenance: "chosen at LogEI rank 1 after believing 2 points".

        Parameters
        ----------
        what : what it was ranked by, "LogEI".
        after : what came before, " after believing 2 points".
        """
        rank = f"chosen at {what} rank {self.passed_over + 1}"
        rank += " of those far enough from others" if self.spaced else ""
        behind = f"; {_ranks(self.passed_over)} handed out already" if self.passed_over else ""
        return Choice(frozen(self.x), f"{rank}{after}{behind}{REPLACED if self.replaced else ''}")


def pick(
    objective: Objective,
    request: Request,
    trial: int,
    around: Array,
    avoid: Array,
    region: Region | None = None,
    spacing: Spacing | None = None,
) -> Picked:
    """The best point found that is not taken yet.

    Parameters
    ----------
    objective : what to maximize.
    request : what the strategy was asked.
    trial : id of the trial that gets the point; its randomness is used.
    around : good points (k, d); candidates come from near them.
    avoid : points (k, d) that are taken.
    region : a part of the request's to stay within; default all of it.
    spacing : from which points to stay away, where that can be; None for no such wish.
    """
    region = request.region if region is None else region
    maximizer = maximizer_for(objective, request.maximizer)
    search = Search(region, around, avoid, spacing)
    best = maximizer.maximize(objective, search, request.randomness(trial, "maximize"))
    # Ours promise a new point. Another that cannot avoid points must not make a belief differ from what is handed out.
    if request.maximizer is None or is_new(best.x, request.region, avoid):
        return Picked(best.x, best.passed_over, False, best.spaced)
    return Picked(draw(request.region, avoid, request.randomness(trial, "random"))[0], best.passed_over, True)


def maximizer_for(objective: Objective, wanted: Maximizer | None) -> Maximizer:
    """The maximizer of an objective.

    Parameters
    ----------
    objective : is to be maximized.
    wanted : the one that was asked for; None takes the one that suits the objective.
    """
    if wanted is not None:
        return wanted
    return _CLIMBING if objective.has_gradient else _SCREENING


def taken(avoid: Array, x: Array, request: Request) -> Array:
    """The points taken, with one more where the points of a batch have to differ.

    Parameters
    ----------
    avoid : points taken so far, (k, d).
    x : the one more, (d,).
    request : says whether points have to differ.
    """
    return np.vstack([avoid, x]) if request.distinct else avoid


def counted(points: int) -> str:
    """ "1 point", "2 points"."""
    return f"{points} point{'s' if points != 1 else ''}"


def _ranks(passed_over: int) -> str:
    return "rank 1 was" if passed_over == 1 else f"ranks 1 to {passed_over} were"
