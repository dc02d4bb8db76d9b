"""Joint moves of the points of a batch: each to where it is worth most, given that all others are observed.

======  ===================================================================  ========
symbol  meaning                                                              shape
======  ===================================================================  ========
C       posterior covariance of the q points, with the noise of observing    (q, q)
P       C⁻¹                                                                  (q, q)
μ_i     posterior mean at point i; Kriging Believer's lies do not move it
σ_i²    variance at point i if the other q - 1 were observed: 1/P_ii - σ_n²
======  ===================================================================  ========

The sum of α(μ_i, σ_i, f⁺_i) is maximized, starting from the points that were chosen among candidates one by one. A
point gains nothing near another one, because σ_i is small there. ∂σ_i²/∂C = P e_i e_iᵀ P / P_ii². If several models
chose points, each moves its own points and counts all others as observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from believer.acquisitions import completed
from believer.acquisitions.acquisition import PerPoint
from believer.arrays import Array, frozen
from believer.batch.lies import Believe
from believer.batch.picking import POOLED_FROM, taken
from believer.batch.request import Choice, Request
from believer.batch.verdict import nearness
from believer.capabilities import has
from believer.maximize.objective import is_new
from believer.numerics import lbfgs
from believer.surrogates.protocols import MIN_STD, Conditionable, Measuring, Model, Together

if TYPE_CHECKING:
    from believer.batch.pseudo import PseudoObservations

_CLIMB = lbfgs.Settings(max_rounds=40, gradient_tol=1e-3, value_tol=1e-6)
_NUGGET = 1e-10


def moves_together(strategy: PseudoObservations, request: Request) -> bool:
    """Whether the points of a request are chosen among candidates, and moved together afterwards.

    They are if the model climbs together, as one on a GPU does, for one objective in a continuous box, from
    ``POOLED_FROM`` results on.
    """
    model, region = request.model, request.region
    return (
        has(model, Together)
        and model.climbs_together
        and has(model, Conditionable)
        and strategy.lie == Believe()
        and strategy.update in ("auto", "condition")
        and len(request.outputs) == 1
        and request.outputs[0].limits is None
        and request.maximizer is None
        and not request.repeat
        and request.likely is None
        and has(request.acquisition, PerPoint)
        and len(request.data) >= POOLED_FROM
        and region.box() is not None
        and not (region.ruled or region.rounded)
        and all(count is None or count == 1 for count in region.decisions)
    )


def moved(
    request: Request,
    choices: Sequence[Choice],
    incumbents: Array,
    groups: Sequence[tuple[Model, Sequence[int]]],
    spaced: bool,
) -> tuple[Choice, ...]:
    """The choices after the joint moves; a point that would come too near to another one stays where it was chosen.

    Parameters
    ----------
    request : the request to the strategy.
    choices : the q points that were chosen one by one.
    incumbents : f⁺ at the time of each choice, (q,).
    groups : models with the results and the points that were pending before, each with the positions of the points
        that it chose.
    spaced : whether points must keep a distance from each other.
    """
    X = np.array([choice.x for choice in choices])
    ends = X.copy()
    for model, rows in groups:
        if rows and has(model, Together):
            ends[rows] = _climbed(request, model, X, [*rows], incumbents)
    pending = request.outputs[0].pending.X
    spacing = nearness(request.region, len(X) + len(pending), request.model)
    out, avoid = list[Choice](), request.avoid
    for i, choice in enumerate(choices):
        x, others = frozen(ends[i]), np.vstack([pending, ends[:i], X[i + 1 :]])
        fits = not spaced or not replace(spacing, points=others).near(x[None, :])[0]
        if fits and is_new(x, request.region, np.vstack([avoid, X[i + 1 :]]) if request.distinct else avoid):
            if (x != choice.x).any():
                choice = Choice(x, f"{choice.provenance}, then moved together with the others of the batch")
        else:
            ends[i] = X[i]
        out.append(choice)
        avoid = taken(avoid, choice.x, request)
    return tuple(out)


def _climbed(request: Request, model: Together, X: Array, rows: list[int], incumbents: Array) -> Array:
    """Climb with the points ``rows`` of ``X`` (q, d) and return their final positions, (len(rows), d)."""
    acquisition, region = completed(request.acquisition), request.region
    box, moves = region.box(), region.free(X[rows])
    assert box is not None
    (lower, upper), k = box, len(rows)
    noise = model.noise_std**2 if has(model, Measuring) else 0.0
    best, points = incumbents[rows], X.copy()

    def descend(flat: Array) -> tuple[Array, Array]:
        points[rows] = flat[0].reshape(k, -1)
        joint = model.joint_with_gradient(points[None])
        C = joint.covariance[0].copy()
        size = max(float(np.diagonal(C).max()), 1e-300)
        C[np.diag_indices(len(C))] += noise + _NUGGET * size
        P = np.linalg.inv(C)
        own = np.diagonal(P)[rows]
        std = np.sqrt(np.maximum(1.0 / own - noise, MIN_STD**2 * size))
        at = [
            acquisition.pointwise(joint.mean[:1, i], s[None], float(f)) for i, s, f in zip(rows, std, best, strict=True)
        ]
        value, by_mean, by_std = (
            np.concatenate(p) for p in zip(*((a.value, a.by_mean, a.by_std) for a in at), strict=True)
        )
        weights, means = np.zeros(len(C)), np.zeros((1, len(C)))
        weights[rows], means[0, rows] = by_std / (2.0 * std * own**2), by_mean
        gradient = joint.pull(means, ((P * weights) @ P)[None])[0, rows]
        return np.array([-value.sum()]), np.where(moves, -gradient, 0.0).reshape(1, -1)

    found = lbfgs.minimize(descend, X[rows].reshape(1, -1), np.tile(lower, k), np.tile(upper, k), _CLIMB)
    ends: Array = np.clip(found.X[0].reshape(k, -1), lower, upper)
    return ends
