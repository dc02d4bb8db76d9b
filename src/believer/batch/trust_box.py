"""The state of a trust region, computed from all results at each ask: nothing is kept between two asks.

======  ===================================================================================================
symbol  meaning
======  ===================================================================================================
L       the side of the box, as a share of the region's: 0.8 at first, at most 1.6; below 1/128 it is given up
m_i     the merit of trial i, less is better: its objective; beyond the worst by how far it breaks limits
round   trials that were chosen before any of them, or of what came after, was answered: a batch
======  ===================================================================================================

A round that finds a better point is a success, and three successes in a row double L. Rounds without success halve L as
soon as they have together as many trials as there are dimensions. A box that is given up is followed by another one,
which begins with space-filling points and whose best value does not include earlier results ([Eriksson2019] section 2).

Differs: [Eriksson2019] counts batches, whose results arrive together. Here a round follows from the number of results
that were known when each trial was chosen: it is the batch if points are asked for in batches, about W trials with W
workers that are never idle, and one trial if points are asked for one by one. A success must be better by a thousandth
of the distance between the round and the best value. In the paper it is a thousandth of the best value's size, which
depends on the user's zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from believer.arrays import Array, BoolArray

FIRST, LARGEST, SMALLEST = 0.8, 1.6, 0.5**7
"""L of a new box, its maximum and its minimum."""

SUCCESSES = 3
"""The number of successes in a row after which the box doubles."""

MIN_FAILURES = 4
"""The least number of trials without success after which the box halves."""

ENOUGH = 1e-3
"""The least gain of a success over the best value, relative to the distance between the round's median and the best."""


@dataclass(frozen=True, slots=True)
class BoxState:
    """The state of a trust region.

    Attributes
    ----------
    length : L.
    center : the position of its best trial among those that have a merit; None if it has none yet.
    boxes : the number of boxes that were given up before this one.
    begun : the number of its space-filling points that were handed out; ``None`` for the first box, which begins with
        the study's design.
    since : the number of trials that had results when it began.
    """

    length: float
    center: int | None
    boxes: int = 0
    begun: int | None = None
    since: int = 0


@dataclass(slots=True)
class _Box:
    """The state of a box while trials are processed."""

    dim: int
    boxes: int = 0
    since: int = 0
    length: float = FIRST
    best: float = np.inf
    center: int | None = None
    begun: int = 0
    successes: int = 0
    failures: int = 0
    round: list[tuple[int, float]] = field(default_factory=list)
    """Positions and merits of the present round; NaN if a trial failed."""
    opened: int = 0

    def meet(self, place: int, merit: float) -> None:
        """Add a trial that is not judged, because it was not chosen in this box."""
        if merit < self.best:
            self.best, self.center = merit, place

    def close(self) -> None:
        """Judge the round."""
        if not self.round:
            return
        merits = np.array([merit for _, merit in self.round])
        known = merits[~np.isnan(merits)]
        middle = float(np.median(known)) if len(known) else np.inf
        before = self.best
        for place, merit in self.round:
            self.meet(place, merit)
        gap = middle - before if middle > before and np.isfinite(middle) else 0.0
        if self.best < before and not self.best > before - ENOUGH * gap:
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + len(self.round)
        self.round = []
        if self.successes == SUCCESSES:
            self.length, self.successes = min(2.0 * self.length, LARGEST), 0
        elif self.failures >= max(MIN_FAILURES, self.dim):
            self.length, self.failures = 0.5 * self.length, 0


def box_state(
    ids: Sequence[int],
    merits: Array,
    pending: Sequence[int],
    answered_then: Mapping[int, int],
    dim: int,
    design: int,
) -> BoxState:
    """The state of the box after all answered trials, in the order of their ids.

    Parameters
    ----------
    ids : the ids of trials that have a merit, ascending.
    merits : m (n,).
    pending : the ids of pending trials.
    answered_then : for each trial that a strategy chose, the number of trials that had results at that time.
    dim : the number of directions in which points can move.
    design : the number of space-filling points with which a box after the first one begins.
    """
    out, places = set(pending), {trial: place for place, trial in enumerate(ids)}
    answered = sorted(places.keys() | (answered_then.keys() - out))
    box = _Box(dim)
    for position, trial in enumerate(answered):
        place = places.get(trial, -1)
        merit = float(merits[place]) if place >= 0 else np.nan
        then = answered_then.get(trial)
        if then is None:
            box.meet(place, merit)
            continue
        if box.round and then > box.opened:
            box.close()
            if box.length < SMALLEST:
                box = _Box(dim, boxes=box.boxes + 1, since=then)
        if box.boxes and then < box.since:
            continue  # it was chosen in an earlier box
        if box.boxes and box.begun < design:
            box.begun += 1
            box.meet(place, merit)
            continue
        if not box.round:
            box.opened = max(position, then)
        box.round.append((place, merit))
    box.close()
    if box.length < SMALLEST:
        box = _Box(dim, boxes=box.boxes + 1, since=len(answered))
    if not box.boxes:
        return BoxState(box.length, box.center)
    waiting = sum(answered_then.get(trial, -1) >= box.since for trial in out)
    return BoxState(box.length, box.center, box.boxes, min(design, box.begun + waiting), box.since)


def merits_of(Y: Array, excess: Array, kept: BoolArray) -> Array:
    """m (n,): the objective ``Y`` (n,) if limits are ``kept``, and otherwise worse than the worst value by ``excess``
    (n,)."""
    if not kept.any():
        return excess
    worst = float(Y[kept].max())
    spread = float(np.ptp(Y[kept])) or max(abs(worst), 1.0)
    return np.where(kept, Y, worst + spread * (1.0 + excess))
