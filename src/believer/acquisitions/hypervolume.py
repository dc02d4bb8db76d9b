"""Several objectives, all minimized: fronts, the volume that they dominate, and the improvement of it by a point.

======  ======================================================================  ======
symbol  meaning                                                                 shape
======  ======================================================================  ======
k       objectives
K       points of a front: none is as good as another in every objective
r       reference: only points below it in every objective count                (k,)
c       disjoint boxes that cover the part below r that no point of the front
        dominates
l, u    their corners; l may be -inf                                            (c, k)
H_j(a)  E (a - Y_j)⁺ = σ_j h((a - μ_j) / σ_j), with Y_j ~ N(μ_j, σ_j²)
======  ======================================================================  ======

The hypervolume is that of all points below r that some point of the front dominates ([Zitzler1999]). The improvement by
a point y is the volume of the boxes that y dominates, Σ_boxes Π_j ((u_j - y_j)⁺ - (l_j - y_j)⁺). With independent
models the expectation of each product is the product of expectations, so that the expected hypervolume improvement is
known in closed form for any k ([Emmerich2011], [Yang2019]; [Daulton2020] take the boxes the same way).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from believer.acquisitions.acquisition import Pointwise
from believer.acquisitions.several import OnModels, in_parts
from believer.arrays import Array, BoolArray, IntArray, as_points, as_values, frozen
from believer.numerics.intervals import log_integral, uses_integral
from believer.numerics.special import log_h
from believer.surrogates.protocols import Model

_AT_ONCE = 1 << 13

_MARGIN, AMONG = 0.1, 1.0
"""Constants of an inferred reference point, chosen by benchmarks/reference.py."""


def nondominated(Y: Array) -> BoolArray:
    """A mask (n,) of the rows of ``Y`` (n, k) that no other row dominates; the first of equal rows counts. O(K n k)."""
    found = np.zeros(len(Y), dtype=bool)
    # A row that dominates another comes before it in this order, and so does the first of equal rows.
    left = np.lexsort(Y.T[::-1])
    while len(left):
        found[left[0]] = True
        left = left[(Y[left] < Y[left[0]]).any(axis=1)]
    return found


def front_of(Y: Array) -> Array:
    """The nondominated rows of ``Y`` (n, k), each once, (K, k)."""
    return Y[nondominated(Y)]


def inferred_reference(front: Array, results: Array) -> Array:
    """A reference (k,) for a ``front`` (K, k) among all ``results`` (n, k): beyond the worst of each objective over it.

    It is beyond the front by a tenth of the front's range, as is common practice ([Ishibuchi2018] discuss it), so that
    the ends of the front contribute to the volume, too. It is at least as far as the worst result (the ``AMONG``
    quantile of all): otherwise a front that begins in a corner would stay there, because nothing could be gained beyond
    its ends. If all values of an objective are equal, the distance is a tenth of their size.

    Parameters
    ----------
    front : the objectives of nondominated points, at least one row.
    results : the objectives of all results, feasible or not, including the front.
    """
    worst = front.max(axis=0)
    margin = np.maximum(_MARGIN * (worst - front.min(axis=0)), np.quantile(results, AMONG, axis=0) - worst)
    size = np.where(worst == 0.0, 1.0, np.abs(worst))
    reference: Array = worst + np.where(margin > 0.0, margin, _MARGIN * size)
    return reference


def boxes(front: Array, reference: Array) -> tuple[Array, Array]:
    """The lower and upper corners (c, k) of disjoint boxes that cover the nondominated part below the reference.

    For two objectives c = K + 1, for three c ≤ 2 K + 1. Points of ``front`` (K, k) that are not below the reference
    (k,) are ignored.
    """
    lower, upper, _ = _swept(front, reference)
    return lower, upper


def hypervolume(Y: Array, reference: Array) -> float:
    """The volume of all points below the reference that some row of ``Y`` dominates; 0.0 if there is none.

    It is the sum of the volumes that each point adds to those before it, without differences of volumes.

    Parameters
    ----------
    Y : points (n, k), which may include dominated ones.
    reference : r, (k,).
    """
    return _swept(Y, reference)[2]


def _swept(Y: Array, reference: Array) -> tuple[Array, Array, float]:
    """Boxes and hypervolume of ``Y`` (n, k), by a sweep along the last objective ([Lacour2017] cut boxes so).

    A box that reaches above a point p in every objective is cut: its part below p_k is final, because all later points
    lie higher; its part beside p remains in up to k - 1 pieces; the rest is dominated by p.
    """
    k = len(reference)
    front = front_of(Y[(reference > Y).all(axis=1)])
    front = front[np.argsort(front[:, -1], kind="stable")]
    lower, upper = np.full((1, k), -np.inf), np.array(reference, dtype=np.float64)[None]
    done: list[tuple[Array, Array]] = []
    volume = 0.0
    for point in front:
        cut = (upper > point).all(axis=1)
        low, high = lower[cut], upper[cut]
        with np.errstate(over="ignore"):  # a volume that no float can hold is infinite
            volume += float(np.prod(high - np.maximum(low, point), axis=1).sum())
        below = low[:, -1] < point[-1]
        closed = high[below]
        closed[:, -1] = point[-1]
        done.append((low[below], closed))
        low, high = _split(low, high, point)
        lower, upper = np.vstack([lower[~cut], low]), np.vstack([upper[~cut], high])
    done.append((lower, upper))
    return np.vstack([low for low, _ in done]), np.vstack([high for _, high in done]), volume


def _split(lower: Array, upper: Array, point: Array) -> tuple[Array, Array]:
    """The parts of boxes (c, k) above ``point`` in the last objective, below it in another; few disjoint boxes."""
    left = lower.copy()
    left[:, -1] = point[-1]
    pieces: list[tuple[Array, Array]] = [(left[:0], upper[:0])]
    for j in range(len(point) - 1):
        some = left[:, j] < point[j]
        end = upper[some]
        end[:, j] = point[j]
        pieces.append((left[some], end))
        left[:, j] = np.maximum(left[:, j], point[j])
    lower, upper = np.vstack([low for low, _ in pieces]), np.vstack([high for _, high in pieces])
    for j in range(len(point) - 1):
        lower, upper = _merged(lower, upper, j)
    return lower, upper


def _merged(lower: Array, upper: Array, axis: int) -> tuple[Array, Array]:
    """Boxes (c, k), in which neighbors along ``axis`` that are equal in all other columns are merged."""
    if len(lower) < 2:
        return lower, upper
    others = np.hstack([np.delete(lower, axis, axis=1), np.delete(upper, axis, axis=1)])
    order = np.lexsort([lower[:, axis], *others.T])
    lower, upper, others = lower[order], upper[order], others[order]
    starts = np.ones(len(lower), dtype=bool)
    starts[1:] = (others[1:] != others[:-1]).any(axis=1) | (lower[1:, axis] != upper[:-1, axis])
    ends = np.append(np.flatnonzero(starts)[1:], len(lower)) - 1
    merged = upper[starts]
    merged[:, axis] = upper[ends, axis]
    return lower[starts], merged


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """Boxes by their edges: the values of each objective at which some box begins or ends, each listed once.

    Parameters
    ----------
    lower, upper : corners of the boxes, (c, k) each; lower ones may be -inf.

    Attributes
    ----------
    values : the edges of each objective, sorted; the first is -inf.
    begins, ends : the indices of the boxes' edges, (c, k) each.
    """

    lower: Array
    upper: Array
    values: tuple[Array, ...] = field(init=False)
    begins: IntArray = field(init=False)
    ends: IntArray = field(init=False)

    def __post_init__(self) -> None:
        columns = zip(self.lower.T, self.upper.T, strict=True)
        values = tuple(np.unique(np.concatenate([[-np.inf], low, high])) for low, high in columns)
        for name, corners in (("begins", self.lower), ("ends", self.upper)):
            places = [np.searchsorted(v, column) for v, column in zip(values, corners.T, strict=True)]
            object.__setattr__(self, name, np.stack(places, axis=1))
        object.__setattr__(self, "values", values)

    def log_improvement(self, mean: Array, std: Array) -> Pointwise:
        """log Σ_boxes Π_j (H_j(u_j) - H_j(l_j)) for ``mean`` and ``std`` (m, k), and its derivatives. O(m c k)."""
        rows = max(1, _AT_ONCE // self.begins.size)
        return in_parts(self._log_improvement, mean, std, rows)

    def _log_improvement(self, mean: Array, std: Array) -> Pointwise:
        m, (c, k) = len(mean), self.begins.shape
        logs, kept = np.zeros((m, c)), np.ones((m, c))
        by_means, by_stds = np.empty((k, m, c)), np.empty((k, m, c))
        for j in range(k):
            top, share, by_means[j], by_stds[j] = self._side(j, mean[:, j, None], std[:, j, None])
            logs += top
            kept *= share
        with np.errstate(divide="ignore"):  # for boxes so narrow that the difference underflows
            logs += np.log(kept)
        most = logs.max(axis=1, keepdims=True)
        weights = np.exp(logs - most)
        total = weights.sum(axis=1, keepdims=True)
        weights /= total
        value = (most + np.log(total))[:, 0] + np.log(std).sum(axis=1)
        by_mean, by_std = (np.einsum("mc,kmc->mk", weights, by) / std for by in (by_means, by_stds))
        return Pointwise(value, by_mean, by_std)

    def _side(self, j: int, mean: Array, std: Array) -> tuple[Array, Array, Array, Array]:
        """Boxes' sides in objective j, (m, c) each: log h at the end; the share of it that the side has; σ ∂/∂μ and
        σ ∂/∂σ of log(σ (h(end) - h(begin))).
        """
        values, begin, end = self.values[j], self.begins[:, j], self.ends[:, j]
        z = (values[1:] - mean) / std
        logs, masses, densities = (np.empty((len(mean), len(values))) for _ in range(3))
        logs[:, 0], masses[:, 0], densities[:, 0] = -np.inf, 0.0, 0.0
        logs[:, 1:], masses[:, 1:], densities[:, 1:] = log_h(z)
        top = logs[:, end]
        share = -np.expm1(logs[:, begin] - top)
        rest = 1.0 - share
        with np.errstate(divide="ignore", invalid="ignore"):  # narrow sides, which are computed below
            by_mean = (rest * masses[:, begin] - masses[:, end]) / share
            by_std = (densities[:, end] - rest * densities[:, begin]) / share
        inner = np.flatnonzero(begin > 0)
        low, high = values[begin[inner]], values[end[inner]]
        center, width = (0.5 * low + 0.5 * high - mean) / std, (high - low) / std
        row, column = np.nonzero(uses_integral(center, width))
        if len(row):
            c, w = center[row, column], width[row, column]
            value, by_center, by_width = log_integral(c, w)
            column = inner[column]
            share[row, column] = w * np.exp(value - top[row, column])
            by_mean[row, column], by_std[row, column] = -by_center, -c * by_center - by_width
        return top, share, by_mean, by_std


def log_ehvi_on(models: tuple[Model, ...], front: Array, reference: Array) -> OnModels:
    """log of the expected hypervolume improvement on k independent ``models``, one for each objective.

    Points of ``front`` (K, k) that are dominated, or not below the ``reference`` (k,), are ignored.
    """
    k = len(models)
    below = frozen(as_values(reference, k, "reference"))
    return OnModels(models, Edges(*boxes(as_points(front, k, "front"), below)).log_improvement)
