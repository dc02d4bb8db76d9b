"""How a study with several outputs stands: which points are feasible, what is to be beaten, where the front is.

======  =========================================================================================
symbol  meaning
======  =========================================================================================
P_j     probability that output j is within its limits
f⁺      the least objective of feasible points
F       values of feasible points that no other such point beats in all objectives
r       the reference point, from which hypervolumes are measured
======  =========================================================================================

Without noise a point is where it was seen to be. With noise what was seen is partly luck, and what counts is what the
models expect there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from believer.acquisitions.feasibility import Within
from believer.acquisitions.hypervolume import inferred_reference, nondominated
from believer.arrays import Array, BoolArray, IntArray
from believer.batch.incumbent import is_noisy
from believer.batch.request import Output, Request
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import LEAST_STD, Model

Rows = Mapping[int, tuple[Array, float]]
"""Points (d,) and values by the ids of their trials."""

_AROUND = 4
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of an output.

    Attributes
    ----------
    model : of it, given both real results and lies.
    limits : where it has to lie; None for an objective.
    probability : how surely, for a point to count as feasible.
    real : results.
    lies : what is believed of points that are out.
    exact : whether what was seen is so, however noisy the model finds it.
    """

    model: Model
    limits: Within | None
    probability: float
    real: Rows
    lies: Rows = field(default_factory=dict)
    exact: bool = False

    def at(self, trial: int) -> tuple[Array, float] | None:
        """The point of ``trial`` and its value, real or believed; None where nothing is known."""
        return self.real.get(trial) or self.lies.get(trial)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How things stand at points where all objectives are known or believed.

    Attributes
    ----------
    ids : of their trials.
    X : the points, (n, d).
    Y : their objectives, (n, k), to be minimized.
    log_feasible : Σ_j log P_j, (n,).
    feasible : which points keep every limit as surely as is asked, (n,).
    real : at which of them no objective is only believed, (n,).
    """

    ids: tuple[int, ...]
    X: Array
    Y: Array
    log_feasible: Array
    feasible: BoolArray
    real: BoolArray

    @property
    def incumbent(self) -> float | None:
        """f⁺ of the first objective; None if nothing is feasible."""
        return float(self.Y[self.feasible, 0].min()) if self.feasible.any() else None

    def front(self) -> IntArray:
        """Rows (m,) of F."""
        rows = np.flatnonzero(self.feasible)
        return rows[nondominated(self.Y[rows])]

    def reference(self) -> Array:
        """r (k,), inferred from real results and the front of those that are feasible, of all if there are none."""
        real = self.real if self.real.any() else np.ones_like(self.real)
        known = real & self.feasible
        Y = self.Y[known if known.any() else real]
        return inferred_reference(Y[nondominated(Y)], self.Y[real])

    def places(self) -> Array:
        """Good points (m, d): on the front spread along the first objective, the best, or the most likely feasible."""
        if not self.feasible.any():
            order = np.argsort(-self.log_feasible, kind="stable")
        elif self.Y.shape[1] == 1:
            order = np.argsort(np.where(self.feasible, self.Y[:, 0], np.inf), kind="stable")
            order = order[: int(self.feasible.sum())]
        else:
            front = self.front()
            front = front[np.argsort(self.Y[front, 0], kind="stable")]
            order = front[np.unique(np.linspace(0, len(front) - 1, _AROUND).round().astype(int))]
        return self.X[order[:_AROUND]]


def standing(request: Request) -> Standing:
    """How things stand by real results alone."""
    return stand(
        [
            Known(one.request.model, one.limits, one.probability, rows_of(one), exact=one.exact)
            for one in request.outputs
        ],
        request.region.dim,
    )


def rows_of(output: Output) -> Rows:
    """The real results of an output."""
    data = output.request.data
    return dict(zip(output.ids, zip(data.X, data.y.tolist(), strict=True), strict=True))


def stand(outputs: Sequence[Known], d: int) -> Standing:
    """How things stand, of what is known of all ``outputs`` at points (d,)."""
    aims = [output for output in outputs if output.limits is None]
    ids = tuple(sorted(set.intersection(*({*output.real, *output.lies} for output in aims))))
    X = np.array([_point(aims[0], i) for i in ids]).reshape(-1, d)
    log_feasible, feasible = np.zeros(len(ids)), np.ones(len(ids), dtype=bool)
    for output in outputs:
        if output.limits is not None and len(ids):
            mean, std, seen = _expected(output, ids, X)
            logs = output.limits.pointwise(mean, std).value
            # A limit may be reached: what was seen there is within it, however sure one has to be.
            logs = np.where(seen & output.limits.holds(mean), 0.0, logs)
            log_feasible, feasible = log_feasible + logs, feasible & (logs >= np.log(output.probability) - _ROUNDING)
    real = np.array([all(i in output.real for output in aims) for i in ids], dtype=bool)
    Y = [_expected(output, ids, X)[0] if len(ids) else np.zeros(0) for output in aims]
    return Standing(ids, X, np.column_stack(Y), log_feasible, feasible, real)


def _point(output: Known, trial: int) -> Array:
    found = output.at(trial)
    assert found is not None
    return found[0]


def _expected(output: Known, ids: tuple[int, ...], X: Array) -> tuple[Array, Array, BoolArray]:
    """Mean and std (n,) of an output at ``X`` (n, d), and where it was seen, and is sure: unless noisy, or missing."""
    found = [None if (known := output.at(i)) is None else known[1] for i in ids]
    mean = np.array([np.nan if value is None else value for value in found], dtype=np.float64)
    values = np.array([y for _, y in output.real.values()])
    std = np.full(len(ids), LEAST_STD * standardization(values)[1])
    noisy = is_noisy(output.model) and not output.exact
    asked = np.ones_like(mean, dtype=bool) if noisy else np.isnan(mean)
    if asked.any():
        at = output.model.predict(X[asked])
        mean[asked], std[asked] = at.mean, at.std
    return mean, std, ~asked
