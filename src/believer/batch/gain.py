"""The expected improvement of a whole batch on the best result so far.

======  ================================================================  ==========
symbol  meaning                                                           shape
======  ================================================================  ==========
q, p    points of the batch, and pending ones
f⁺      the value to beat: :mod:`~believer.batch.best_so_far`
S       base samples, the same for every batch
f       joint samples of the latent function at these points, given       (S, q + p)
        results and nothing that is only believed
I       max(0, f⁺ - f), in the user's units                               (S, q + p)
P       the most of I over pending points, 0 without any                  (S,)
G_j     the mean over samples of max(0, max_i I_i - P), over the first j  (q,)
        points of an order
======  ================================================================  ==========

Without pending points G_j is the q-EI of j points. With them it is the gain that the batch adds to theirs. The order of
the points must not depend on how a strategy lists them: each is the one that adds most to those before it. The
increments of G therefore fall from the best point to the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from believer.acquisitions.hypervolume import boxes
from believer.arrays import Array, BoolArray, read_only
from believer.batch.best_so_far import best_so_far
from believer.batch.hedge import resolution_of
from believer.batch.request import Request
from believer.capabilities import has
from believer.numerics.cholesky import root_of
from believer.numerics.sampling import normal_sobol, sobol
from believer.surrogates.data import squared
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import MIN_VARIANCE, Joint, Model
from believer.surrogates.warp import Warp

ENOUGH = 0.95
"""The share of the whole gain that counts as enough (benchmarks/verdict.py)."""

LIKELY, POSSIBLE = 0.5, 0.1
"""A batch is likely to improve from the first probability on, may improve from the second on, and is unlikely to
below."""

MAX_PENDING = 64
"""The largest number of pending points that are considered, the last ones; each costs as much as a point of the
batch."""

_SAMPLES = 512
_FEW, _PLACES = 64, 1024
"""For several objectives: the number of samples, and of points that count the dominated volume."""

_MIN_COLUMNS = 8
_IN_TEN = 10


@dataclass(frozen=True, slots=True)
class Gain:
    """The expected improvement of a batch on the best result so far, in the user's units, according to the model.

    Under noise, the gain is that of the function without noise over the smallest posterior mean. If there are pending
    points, the gain is what the batch adds to theirs. Failures are not considered. The gain is an order of magnitude:
    over a suite of 74 problems, batches gained 0.9 times as much, and 0.2 to 2.9 times by class of problems. Of two
    batches that models chose, the one with the larger expected gain gained more in 62 % of pairs. The gain is only as
    good as the model's σ, which in `MQRBF` is not calibrated.

    Attributes
    ----------
    curve : the gain of the first j points of ``order``, j = 1 ... q; it never falls.
    order : positions in the batch, sorted so that each point adds most to those before it.
    interval : the 80 % interval of the gain of the whole batch.
    chance : the probability that the whole batch gains more than the resolution.
    n_pending : the number of pending points beside the batch.
    resolution : the smallest improvement that matters: the study's resolution, or a small part of the gain so far.
    of : " of hypervolume" for several objectives, otherwise "".
    """

    curve: tuple[float, ...]
    order: tuple[int, ...]
    interval: tuple[float, float]
    chance: float
    n_pending: int
    resolution: float
    of: str = ""

    @property
    def single(self) -> float:
        """The expected gain of the best point without the others."""
        return self.curve[0]

    @property
    def together(self) -> float:
        """The expected gain of the whole batch."""
        return self.curve[-1]

    @property
    def added(self) -> float:
        """The expected gain that the other points add, relative to that of the best point."""
        return (self.together - self.single) / self.single if self.single > 0.0 else 0.0

    @property
    def slots(self) -> int:
        """The least number of points, the first of ``order``, that have 95 % of the whole gain; 0 if there is no
        gain."""
        enough = ENOUGH * self.curve[-1]
        return len([gained for gained in self.curve if gained < enough]) + 1 if enough > 0.0 else 0

    @property
    def matters(self) -> bool:
        """Whether the whole gain is above the resolution."""
        return self.together > self.resolution

    @property
    def outlook(self) -> str:
        """The chance of an improvement in one word: "likely", "possible", "unlikely"; "little" if no gain matters."""
        if not self.matters:
            return "little"
        return "likely" if self.chance >= LIKELY else "possible" if self.chance >= POSSIBLE else "unlikely"


def expected_gain(request: Request, X: Array) -> Gain | None:
    """The expected gain of the batch ``X`` (q, d); None without joint covariances or if all results are equal.

    It is also None if there are several objectives, no trial has all of them, and the user gave no reference.

    The cost is O(S q²) plus that of the joint posterior of q + p points. No random numbers of the study are used.

    Parameters
    ----------
    request : a request with models of results alone; its pending points are those beside the batch.
    X : the points, (q, d).
    """
    y = request.data.y
    if y.min() == y.max():  # if all results are equal, there is no scale for a gain
        return None
    several = request.objectives > 1
    gains = _hypervolumes(request, X) if several else _improvements(request, X)
    if gains is None:
        return None
    curve, order, whole = gains
    ranked = np.sort(whole)
    tail = len(ranked) // _IN_TEN
    resolution = 0.0 if several else resolution_of(request)
    return Gain(
        curve=tuple(curve.tolist()),
        order=tuple(order),
        interval=(float(ranked[tail]), float(ranked[-1 - tail])),
        chance=float(np.mean(whole > resolution)),
        n_pending=len(request.pending.ids),
        resolution=resolution,
        of=" of hypervolume" if several else "",
    )


Gains = tuple[Array, list[int], Array]
"""G (q,), the order of the points, and samples (S,) of the gain of all points together."""


def _improvements(request: Request, X: Array) -> Gains | None:
    """The gains for one objective: improvements on the best result so far, in samples that keep all limits."""
    q, unit = len(X), standardization(request.data.y)[1]
    best = best_so_far(request).incumbent
    points = np.vstack([X, request.pending.X[-MAX_PENDING:]])
    drawn = None if best is None else _drawn(request.model, points, best, unit, 0)
    if best is None or drawn is None:
        return None
    improvements = _in_units_of_y(np.maximum(-drawn, 0.0), best, unit, request.warp)
    for place, learned in enumerate(request.outputs):
        if learned.limits is not None:
            shift, scale = standardization(learned.data.y)
            values = _drawn(learned.model, points, shift, scale, place)
            if values is None:
                return None
            improvements = np.where(learned.limits.holds(shift + scale * values), improvements, 0.0)
    pending = improvements[:, q:].max(axis=1, initial=0.0)
    curve, order, gains = _greedy(np.maximum(improvements[:, :q] - pending[:, None], 0.0))
    return unit * curve, order, unit * gains


def _hypervolumes(request: Request, X: Array) -> Gains | None:
    """The gains for several objectives: growth of the dominated hypervolume, counted on points not yet dominated."""
    here, q = best_so_far(request), len(X)
    if request.reference is None and len(here.ids) == 0:  # no trial has all objectives, so there is no reference point
        return None
    reference = here.reference() if request.reference is None else request.reference
    points = np.vstack([X, request.pending.X[-MAX_PENDING:]])
    drawn = []
    for place, learned in enumerate(request.outputs):
        shift, unit = standardization(learned.data.y)
        values = _drawn(learned.model, points, shift, unit, place)
        if values is None:
            return None
        drawn.append(shift + unit * values[:_FEW])
    pairs = [*zip(request.outputs, drawn, strict=True)]
    Y = np.stack([values for learned, values in pairs if learned.limits is None], axis=2)
    kept = np.ones(Y.shape[:2], dtype=bool)
    for learned, values in pairs:
        kept &= True if learned.limits is None else learned.limits.holds(values)
    front = here.Y[here.front()]
    low = np.minimum(Y.min(axis=(0, 1)), front.min(axis=0, initial=np.inf))
    if not (low < reference).all():
        return np.zeros(q), list(range(q)), np.zeros(len(Y))
    Z, volume = _free_places(front, low, reference)
    if not np.isfinite(volume):
        return None
    covered: BoolArray = np.all(Y[:, :, None] <= Z, axis=3) & kept[:, :, None]  # (S, q + p, M)
    known: BoolArray = np.any(covered[:, q:], axis=1)
    order, curve = list[int](), list[float]()
    left = (covered[:, :q] & ~known[:, None]).transpose(1, 0, 2)
    total = np.zeros_like(known)
    for _ in range(q):
        added = np.count_nonzero(left & ~total, axis=(1, 2))
        added[order] = -1
        order.append(int(added.argmax()))
        total |= left[order[-1]]
        curve.append(volume * float(np.count_nonzero(total)) / len(total))
    return np.array(curve), order, volume * np.count_nonzero(total, axis=1)


def _free_places(front: Array, low: Array, reference: Array) -> tuple[Array, float]:
    """Points (M, k) between ``low`` and the reference that no point of the front dominates, and the volume of each.

    They are drawn in boxes that exclude the dominated part, so that as many points count if the reference is far away.
    """
    lower, upper = boxes(front, reference)
    lower, whole = np.maximum(lower, low), reference - low
    sides = np.maximum(upper - lower, 0.0)
    shares = np.prod(sides / whole, axis=1)
    ends, draws = np.cumsum(shares), sobol(_PLACES, len(reference) + 1, np.random.default_rng(0))
    box = np.minimum(np.searchsorted(ends, draws[:, 0] * ends[-1], side="right"), len(shares) - 1)
    with np.errstate(over="ignore"):
        volume = float(ends[-1] * np.prod(whole)) / _PLACES
    return lower[box] + draws[:, 1:] * sides[box], volume


def _drawn(model: Model, points: Array, shift: float, unit: float, place: int) -> Array | None:
    """Joint samples (S, m) of (f - shift) / unit at ``points`` (m, d); each output, at its ``place``, has its own
    samples."""
    if not has(model, Joint):
        return None
    at = model.joint(points)
    mean, covariance = (at.mean - shift) / unit, at.covariance / squared(unit)
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
        return None
    samples: Array = mean + _normals(len(points), place) @ root_of(covariance[None], MIN_VARIANCE).lower[0].T
    return samples


def _normals(m: int, place: int) -> Array:
    """Base samples (S, m): the first columns of a table, so that few tables serve every m. Each ``place`` has its own
    table."""
    return _table(max(_MIN_COLUMNS, 1 << (m - 1).bit_length()), place)[:, :m]


@lru_cache(maxsize=32)
def _table(columns: int, place: int) -> Array:
    """A table of normal samples. It is shuffled for further outputs, as scrambled Sobol sequences are dependent."""
    rng = np.random.default_rng(place)
    table = normal_sobol(_SAMPLES, columns, rng)
    return read_only(table if place == 0 else rng.permutation(table))


def _in_units_of_y(improvements: Array, incumbent: float, unit: float, warp: Warp | None) -> Array:
    """Convert improvements on w(f⁺), of a model of warped results, to improvements on f⁺; both are in ``unit``s.

    They are usually the same, because a warp changes nothing up to the best result or the median. If results are noisy,
    the least posterior mean may lie above that.
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
