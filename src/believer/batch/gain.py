"""How far is a batch expected to improve on the best so far? Said before anything is evaluated.

======  ================================================================  ==========
symbol  meaning                                                           shape
======  ================================================================  ==========
q, p    points of the batch, and pending ones
f⁺      the value to beat: :mod:`~believer.batch.incumbent`
S       base samples, the same for every batch
f       joint samples of the latent function at these points, given       (S, q + p)
        results and nothing that is only believed
I       max(0, f⁺ - f), in the user's units                               (S, q + p)
P       the most of I over pending points, 0 without any                  (S,)
G_j     the mean over samples of max(0, max_i I_i - P), over the first j  (q,)
        points of an order
======  ================================================================  ==========

Without pending points G_j is the q-EI of j points. With them it is what the batch adds to theirs. Which points come
first must not depend on how a strategy lists them: each is the one that adds most to those before it. G then rises
ever more slowly, from the best point alone to all together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from believer.arrays import Array, read_only
from believer.batch.hedge import resolution_of
from believer.batch.incumbent import real_incumbent
from believer.batch.request import Request
from believer.capabilities import able
from believer.numerics.sampling import normal_sobol
from believer.surrogates.data import squared
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Joint
from believer.surrogates.warp import Warp

ENOUGH = 0.95
"""The share of the whole gain that makes the slots that have it enough: benchmarks/verdict.py."""

MOST_BESIDE = 64
"""Pending points that are looked at: the last of them. The price of more would be that of a larger batch."""

_SAMPLES = 512
_LEAST_COLUMNS = 8
_IN_TEN = 10


@dataclass(frozen=True, slots=True)
class Gain:
    """How much a batch is expected to improve on the best so far, in the user's units, as far as the model can tell.

    Under noise it is the function without noise that is to improve on the least that the model believes in. Beside
    pending points the gain is what the batch adds to theirs. That an evaluation may fail is left out. Take it for an
    order of magnitude: over the suite batches gained about half of it. Of two that models chose, the one of which more
    was expected gained more in 63 % of pairs. It is only as good as the model's σ, which is no probability in `MQRBF`.

    Attributes
    ----------
    curve : of the first j points of ``order``, j = 1 ... q; it never falls.
    order : positions in the batch, each the one that adds most to those before it.
    interval : the gain of the whole batch lies below the first number in one case of ten, above the second in another.
    beside : how many pending points there are.
    resolution : the least improvement that matters: the study's, or a small part of what was gained so far.
    """

    curve: tuple[float, ...]
    order: tuple[int, ...]
    interval: tuple[float, float]
    beside: int
    resolution: float

    @property
    def alone(self) -> float:
        """What the best point is expected to gain without the others."""
        return self.curve[0]

    @property
    def together(self) -> float:
        """What the whole batch is expected to gain."""
        return self.curve[-1]

    @property
    def added(self) -> float:
        """What the other points add to the best, as a share of what it gains alone."""
        return (self.together - self.alone) / self.alone if self.alone > 0.0 else 0.0

    @property
    def slots(self) -> int:
        """The least number of points that have 95 % of the whole gain, the first of ``order``; 0 of no gain."""
        return sum(gained < ENOUGH * self.together for gained in self.curve) + 1 if self.together > 0.0 else 0

    @property
    def matters(self) -> bool:
        """Whether the whole gain is above the resolution."""
        return self.together > self.resolution


def expected_gain(request: Request, X: Array) -> Gain | None:
    """What the batch ``X`` (q, d) is expected to gain; None without joint covariance, or any spread of results.

    O(S q²), and what the joint posterior of q + p points costs. Draws nothing from the study's randomness.

    Parameters
    ----------
    request : a model of results alone, what it learned from, and what is pending beside the batch.
    X : the points, (q, d).
    """
    from believer.acquisitions.joint_improvement import root_of  # loaded by those who use it

    model, q, y = request.model, len(X), request.data.y
    if not able(model, Joint) or y.min() == y.max():  # without a spread of results there is no scale of a gain
        return None
    at = model.joint(np.vstack([X, request.pending.X[-MOST_BESIDE:]]))
    incumbent, unit = real_incumbent(request), standardization(y)[1]
    above, covariance = (at.mean - incumbent) / unit, at.covariance / squared(unit)
    if not (np.isfinite(above).all() and np.isfinite(covariance).all()):
        return None
    samples = above + _normals(len(above)) @ root_of(covariance[None]).lower[0].T
    improvements = _in_units_of_y(np.maximum(-samples, 0.0), incumbent, unit, request.warp)
    pending = improvements[:, q:].max(axis=1, initial=0.0)
    curve, order, gains = _greedy(np.maximum(improvements[:, :q] - pending[:, None], 0.0))
    ranked = np.sort(gains)
    tail = len(ranked) // _IN_TEN
    return Gain(
        curve=tuple((unit * curve).tolist()),
        order=tuple(order),
        interval=(unit * float(ranked[tail]), unit * float(ranked[-1 - tail])),
        beside=len(request.pending.ids),
        resolution=resolution_of(request),
    )


def _normals(m: int) -> Array:
    """Base samples (S, m): the first columns of a table, so that few tables serve every m."""
    return _table(max(_LEAST_COLUMNS, 1 << (m - 1).bit_length()))[:, :m]


@lru_cache(maxsize=8)
def _table(columns: int) -> Array:
    return read_only(normal_sobol(_SAMPLES, columns, np.random.default_rng(0)))


def _in_units_of_y(improvements: Array, incumbent: float, unit: float, warp: Warp | None) -> Array:
    """Improvements on w(f⁺), of a model that is warped, as those on f⁺, both in ``unit``s.

    As a rule they are the same: up to the median of the results a warp changes nothing. Where all is noise, the least
    mean of a model may lie above it.
    """
    if warp is None or incumbent <= warp.start:
        return improvements
    best = warp.inverse(np.array(incumbent))
    return np.maximum((best - warp.inverse(incumbent - unit * improvements)) / unit, 0.0)


def _greedy(improvements: Array) -> tuple[Array, list[int], Array]:
    """G (q,), the order, and the samples (S,) of all points together, of ``improvements`` (S, q)."""
    columns = np.ascontiguousarray(improvements.T)
    best, sums, order = np.zeros(len(improvements)), list[float](), list[int]()
    for _ in columns:
        with_each = np.maximum(columns, best)
        total = with_each.sum(axis=1)
        total[order] = -1.0
        order.append(int(total.argmax()))
        sums.append(float(total[order[-1]]))
        best = with_each[order[-1]]
    return np.array(sums) / len(best), order, best
