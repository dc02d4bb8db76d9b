"""The feasible points, the incumbent and the Pareto front of a study, from results or from results and lies.

======  =========================================================================================
symbol  meaning
======  =========================================================================================
P_j     probability that output j is within its limits
f⁺      the least objective of feasible points: the value to beat
F       values of feasible points that no other such point beats in all objectives
r       the reference point, from which hypervolumes are measured
======  =========================================================================================

Without noise, the value of a point is its result. With noise, a result is partly luck, and the posterior mean counts
instead. Failed trials are not results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from believer.acquisitions.hypervolume import inferred_reference, nondominated
from believer.arrays import Array, BoolArray, IntArray
from believer.batch.learned import Learned, Part, is_noisy
from believer.batch.request import Request
from believer.capabilities import has
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import MIN_STD, Bounded, Recalling, Surrogate
from believer.surrogates.subset import learned_rows

_PLACES, _PLACES_AMONG = 3, 4
"""The numbers of good points near which candidates are drawn: for one objective without limits, and otherwise."""

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class BestSoFar:
    """Feasibility, incumbent and Pareto front over the points where every objective is known or has a lie.

    Attributes
    ----------
    ids : the ids of their trials, (n,).
    X : the points, (n, d).
    Y : the objectives at the points, (n, k), for minimization.
    seen : the observed value or the lie of the first objective, (n,); it contains noise.
    log_feasible : Σ_j log P_j, (n,).
    feasible : a mask of the points that keep every limit with the required probability, (n,).
    real : a mask of the points that have no lie in any objective, (n,).
    limited : whether there are limits.
    """

    ids: IntArray
    X: Array
    Y: Array
    seen: Array
    log_feasible: Array
    feasible: BoolArray
    real: BoolArray
    limited: bool

    @cached_property
    def any_feasible(self) -> bool:
        """Whether any point counts as feasible."""
        return bool(self.feasible.any())

    @property
    def incumbent(self) -> float | None:
        """f⁺ of the first objective; None if nothing is feasible."""
        Y = self.Y[:, 0]
        if not self.limited:
            return float(Y.min()) if len(Y) else None
        return float(Y[self.feasible].min()) if self.any_feasible else None

    @property
    def incumbent_of_data(self) -> float | None:
        """f⁺ over the observed values of real results, [paper] Algorithm 1; None if none is feasible."""
        real = self.seen[self.real & self.feasible]
        return float(real.min()) if len(real) else None

    def among(self, rows: BoolArray) -> BestSoFar:
        """The values at a subset of the points, (n,)."""
        return replace(
            self,
            ids=self.ids[rows],
            X=self.X[rows],
            Y=self.Y[rows],
            seen=self.seen[rows],
            log_feasible=self.log_feasible[rows],
            feasible=self.feasible[rows],
            real=self.real[rows],
        )

    def front(self) -> IntArray:
        """Rows (m,) of F."""
        rows = np.flatnonzero(self.feasible)
        return rows[nondominated(self.Y[rows])]

    def reference(self) -> Array:
        """r (k,), inferred from real results and the front of the feasible ones, or the front of all if none is
        feasible."""
        real = self.real if self.real.any() else np.ones_like(self.real)
        known = real & self.feasible
        Y = self.Y[known if known.any() else real]
        return inferred_reference(Y[nondominated(Y)], self.Y[real])

    def places(self) -> Array:
        """Good points (m, d): the best ones, points of the front at even steps along the first objective, or the points
        that are most likely feasible."""
        if not self.any_feasible:
            return self.X[np.argsort(-self.log_feasible, kind="stable")[:_PLACES_AMONG]]
        if self.Y.shape[1] == 1:
            if not self.limited:
                return self.X[np.argsort(self.seen, kind="stable")[:_PLACES]]
            order = np.argsort(np.where(self.feasible, self.Y[:, 0], np.inf), kind="stable")
            return self.X[order[: min(_PLACES_AMONG, int(self.feasible.sum()))]]
        front = self.front()
        front = front[np.argsort(self.Y[front, 0], kind="stable")]
        spread: Array = self.X[front[np.unique(np.linspace(0, len(front) - 1, _PLACES_AMONG).round().astype(int))]]
        return spread


def best_so_far(request: Request) -> BestSoFar:
    """Feasibility, incumbent and Pareto front from real results only, under the models of the request.

    Parameters
    ----------
    request : the request to the strategy.
    """
    return best_among([Part.of(learned) for learned in request.outputs], request.surrogate)


def real_incumbent(request: Request) -> float:
    """f⁺ over feasible real results, or over all real results if none is feasible.

    Parameters
    ----------
    request : the request to the strategy.
    """
    here = best_so_far(request)
    return float(here.Y[:, 0].min()) if here.incumbent is None else here.incumbent


def best_places(request: Request, X: Array | None = None, y: Array | None = None) -> Array:
    """The best of the real and the added points, moved into the region: candidates are drawn near them.

    Parameters
    ----------
    request : the request to the strategy; it has the real points.
    X, y : added points, (p, d), and their values (p,) of the first objective; None for none.
    """
    parts = [Part.of(learned) for learned in request.outputs]
    if X is not None and y is not None and len(X):
        believed = (*request.pending.ids, *request.ids)[: len(X)]
        first = parts[0]
        parts[0] = Part(first.learned, first.model, believed, X, y)
    return request.region.project(best_among(parts, request.surrogate).places())


def learned_by(surrogate: Surrogate, data: Data) -> IntArray | None:
    """The rows of ``data`` that the surrogate's models learn from; None if they learn from all."""
    if has(surrogate, Bounded) and len(data) > surrogate.most_results:
        return learned_rows(data.y, surrogate.most_results)
    return None


def best_among(parts: Sequence[Part], surrogate: Surrogate) -> BestSoFar:
    """Feasibility, incumbent and Pareto front from the results and lies of all outputs."""
    known, limited = list[_Known](), list[Part]()
    for part in parts:
        if part.learned.output.limits is None:
            known.append(_Known.of(part, surrogate))
        else:
            limited.append(part)
    first = known[0]
    ids, X, seen, real = first.ids, first.X, first.seen, first.real
    Y = first.expected[:, None]
    if len(known) > 1:
        for other in known[1:]:
            ids = np.intersect1d(ids, other.ids)
        rows = [one.rows_of(ids) for one in known]
        X, seen = X[rows[0]], seen[rows[0]]
        Y = np.column_stack([one.expected[at] for one, at in zip(known, rows, strict=True)])
        real = np.logical_and.reduce([one.real[at] for one, at in zip(known, rows, strict=True)])
    log_feasible, feasible = np.zeros(len(ids)), np.ones(len(ids), dtype=bool)
    for part in limited if len(ids) else ():
        logs = _log_probability(part, ids, X)
        log_feasible = log_feasible + logs
        feasible &= logs >= np.log(part.learned.output.probability) - _ROUNDING
    return BestSoFar(ids, X, Y, seen, log_feasible, feasible, real, bool(limited))


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """An objective at its points, real ones first: the results or lies, and the values that count."""

    ids: IntArray
    X: Array
    seen: Array
    expected: Array
    real: BoolArray

    @staticmethod
    def of(part: Part, surrogate: Surrogate) -> _Known:
        learned, p = part.learned, len(part.ids)
        data, ids = learned.data, np.array(learned.ids, dtype=np.int64)
        noisy = is_noisy(part.model) and not learned.output.exact
        rows = _learned_rows(learned, surrogate) if noisy else None
        X, y = (data.X, data.y) if rows is None else (data.X[rows], data.y[rows])
        ids = ids if rows is None else ids[rows]
        real = np.ones(len(ids) + p, dtype=bool)
        if p:
            real[-p:] = False
            ids = np.concatenate([ids, np.array(part.ids, dtype=np.int64)])
            X, y = np.vstack([X, part.X]), np.concatenate([y, part.y])
        return _Known(ids, X, y, _means(part, X) if noisy and len(X) else y, real)

    def rows_of(self, ids: IntArray) -> IntArray:
        """The rows of the trials ``ids``, all of which must be known."""
        order = np.argsort(self.ids, kind="stable")
        found: IntArray = order[np.searchsorted(self.ids, ids, sorter=order)]
        return found


def _learned_rows(learned: Learned, surrogate: Surrogate) -> IntArray | None:
    """The rows of the results that a model has learned: those of its fit, and those added since; None if it has learned
    all."""
    failed = 0 if learned.failed is None else len(learned.failed)
    first = len(learned.data) - (0 if learned.since is None else len(learned.since) - failed)
    rows = learned_by(surrogate, learned.data.at(slice(first)))
    return None if rows is None else np.append(rows, np.arange(first, len(learned.data)))


def _means(part: Part, X: Array) -> Array:
    """The posterior means at ``X`` (n, d), the points that the model learned from followed by those of lies."""
    model, p = part.model, len(part.ids)
    if has(model, Recalling):
        known, failed = model.mean_at_data(), 0 if part.learned.failed is None else len(part.learned.failed)
        if len(known) == len(X) + failed:  # failures stand between results and lies
            return known if not failed else np.concatenate([known[: len(X) - p], known[len(X) - p + failed :]])
    return model.predict(X).mean


def _log_probability(part: Part, ids: IntArray, X: Array) -> Array:
    """log P_j (n,) at the points ``X`` (n, d) of trials ``ids``: 0 or -∞ by an exact result, and the model's
    probability otherwise."""
    learned, limits = part.learned, part.learned.limits
    assert limits is not None
    known = np.array((*learned.ids, *part.ids), dtype=np.int64)
    values, order = np.concatenate([learned.data.y, part.y]), np.argsort(known, kind="stable")
    mean = np.full(len(ids), np.nan)
    if len(known):
        at = order[np.minimum(np.searchsorted(known, ids, sorter=order), len(known) - 1)]
        mean = np.where(known[at] == ids, values[at], np.nan)
    std = np.full(len(ids), MIN_STD * standardization(learned.data.y)[1])
    noisy = is_noisy(part.model) and not learned.output.exact
    asked = np.ones_like(mean, dtype=bool) if noisy else np.isnan(mean)
    if asked.any():
        found = part.model.predict(X[asked])
        mean[asked], std[asked] = found.mean, found.std
    logs = limits.pointwise(mean, std).value
    # A limit may be reached: what was seen there is within it, however sure one has to be.
    return np.where(~asked & limits.holds(mean), 0.0, logs)
