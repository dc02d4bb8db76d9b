"""The state of a trust region's box, computed anew from the results: nothing is kept between two asks.

======  ===================================================================================================
symbol  meaning
======  ===================================================================================================
L       the side of the box, as a share of the region's: 0.8 at first, at most 1.6; below 1/128 it is given up
m_i     the merit of trial i, less is better: its objective; beyond the worst by how far it breaks limits
round   trials that were chosen before any of them, or of what came after, was answered: a batch
======  ===================================================================================================

A round that finds a better point is a success, and three in a row double L. Rounds without one halve it as soon as
they have together as many trials as there are dimensions. A box that is given up is followed by another, which begins
at space-filling points and knows of no earlier result as its best ([Eriksson2019] section 2).

Differs: [Eriksson2019] counts batches, which are told all at once. Here a round is read off from how many trials had
been answered when each was chosen: with batches it is the batch, with W workers that are never idle about W trials, and
one by one it is a trial. A success has to be better by a thousandth of how far the round lies above the best, where
there it is a thousandth of the best value's size, which depends on where the user's zero is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from believer.arrays import Array, BoolArray

FIRST, LARGEST, SMALLEST = 0.8, 1.6, 0.5**7
"""L of a new box; the most, and the least."""

SUCCESSES = 3
"""Rounds in a row, each better than all before, after which the box doubles."""

MIN_FAILURES = 4
"""Trials without success, at least, after which it halves."""

ENOUGH = 1e-3
"""The least gain of a success over the best, relative to the distance of its round's median from the best."""


@dataclass(frozen=True, slots=True)
class BoxState:
    """The state of a trust region.

    Attributes
    ----------
    length : L.
    center : the place of its best trial among those that have a merit; None where it has none yet.
    boxes : how many were given up before this one.
    begun : of its space-filling points, how many were handed out; ``None`` for the first box, which has the study's.
    since : how many trials were answered when it began.
    """

    length: float
    center: int | None
    boxes: int = 0
    begun: int | None = None
    since: int = 0


@dataclass(slots=True)
class _Box:
    """A box while trials are gone through."""

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
    """Places and merits of the round under way; NaN where a trial failed."""
    opened: int = 0

    def meet(self, place: int, merit: float) -> None:
        """A trial that is not judged: it was not chosen in this box."""
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
    ids : of trials that have a merit, ascending.
    merits : m (n,).
    pending : ids of trials that are under way.
    answered_then : of each trial that a strategy chose, how many had been answered at that time.
    dim : in how many directions points can move.
    design : space-filling points that a box after the first one begins with.
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
            continue  # it was chosen in the box before
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
    """m (n,): the objective ``Y`` (n,) where limits are ``kept``; else beyond the worst by ``excess`` (n,)."""
    if not kept.any():
        return excess
    worst = float(Y[kept].max())
    spread = float(np.ptp(Y[kept])) or max(abs(worst), 1.0)
    return np.where(kept, Y, worst + spread * (1.0 + excess))
