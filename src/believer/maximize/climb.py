"""Climbs from many starts at once: free columns move along gradients, other columns from value to value.

======  =====================================================
symbol  meaning
======  =====================================================
s       number of starts
P       ``region.project``, the nearest allowed point
λ       the spectral step: sᵀs / sᵀy of the last move
======  =====================================================

In a box the climb is L-BFGS-B; in any other region it is a spectral projected gradient. Both run in compiled code if
the objective does, the latter only if the region is a box with linear sums.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, BoolArray, packed
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.maximize.objective import Climb, Climbing, CompilableObjective, Objective, climb_from, ranked
from believer.numerics import backend, lbfgs
from believer.space.region import Region, Summed

_LOOKED_BACK = 10
_ENOUGH = 1e-4
_SHORTEST, _LONGEST = 1e-10, 1e10
"""Settings of the spectral projected gradient: the number of earlier values in the line search, the share of the
expected descent, and the bounds of λ."""


def ascend(
    objective: Objective, region: Region, X: Array, settings: lbfgs.Settings, scale: float, relaxed: bool = False
) -> tuple[Array, Array]:
    """Local maxima over the free columns, from allowed points ``X`` (s, d), and the values (s,) there.

    A climb that ends where a constraint function forbids it is moved back to the last allowed point. ``scale`` is the
    size of differences that matter. If ``relaxed``, the columns of scales climb, too, and are then rounded; a row that
    this makes worse stays at its start.
    """
    moves = free = region.free(X)
    if relaxed and region.box() is not None:
        moves = region.free(X, relaxed=True)
    rounds = moves is not free and bool((moves != free).any())
    if not moves.any():
        return X, objective.value(X)
    ends, f = climbed(objective, region, X, settings, scale, moves)
    if not (rounds or region.ruled or region.rounded):
        return ends, f
    ends = region.project(ends, X)
    if not rounds:
        return ends, objective.value(ends)
    values = objective.value(np.vstack([ends, X]))
    f, before = ranked(values[: len(X)], all_bad=True), values[len(X) :]
    worse = f < before
    return np.where(worse[:, None], X, ends), np.where(worse, before, f)


def climbed(
    objective: Objective, region: Region, X: Array, settings: lbfgs.Settings, scale: float, moves: BoolArray
) -> tuple[Array, Array]:
    """Climb along the columns ``moves`` (s, d) from ``X`` (s, d); return the ends, not yet projected, and values (s,).

    ``moves`` has one row if it is the same for every start.
    """
    if len(moves) == 1 or (moves == moves[:1]).all():
        return _climbed_alike(objective, region, X, settings, scale, moves[0])
    ends, f = X.copy(), np.empty(len(X))
    for free in np.unique(moves, axis=0):
        rows = np.flatnonzero((moves == free).all(axis=1))
        ends[rows], f[rows] = _climbed_alike(objective, region, X[rows], settings, scale, free)
    return ends, f


def _climbed_alike(
    objective: Objective, region: Region, X: Array, settings: lbfgs.Settings, scale: float, moves: BoolArray
) -> tuple[Array, Array]:
    """The climbs if the same columns ``moves`` (d,) are free at every start."""
    if not moves.any():
        return X, objective.value(X)
    box = region.box()
    if box is None:
        return projected(objective, region, X, settings, scale, moves)
    # Columns that do not move may lie outside of the box: inactive columns keep their resting value, wherever it is.
    lower = np.where(moves, box[0], np.minimum(box[0], X.min(axis=0)))
    upper = np.where(moves, box[1], np.maximum(box[1], X.max(axis=0)))
    found = _in_box(objective, Climb(X, lower, upper, moves, scale, settings))
    return found.X, -scale * found.f


def _in_box(objective: Objective, climb: Climb) -> lbfgs.Minimum:
    """Run the climbs, by the objective's own method if it has one. Raises InvalidInput if its result is invalid."""
    if not has(objective, Climbing):
        return climb_from(objective, climb)
    found = objective.climb(climb)
    X, f = [getattr(getattr(found, name, None), "shape", None) for name in ("X", "f")]
    if (X, f) != (climb.starts.shape, climb.starts.shape[:1]):
        raise InvalidInput(f"{type(objective).__name__}.climb must give the ends X (s, d) and f (s,) of all starts.")
    return found


def projected(
    objective: Objective, region: Region, X: Array, settings: lbfgs.Settings, scale: float, moves: BoolArray
) -> tuple[Array, Array]:
    """The best points (s, d) of spectral projected gradients from ``X`` (s, d), and the values (s,) there.

    [Birgin2000] Algorithm 2.2 on f = -objective / ``scale``: d = P(x - λ g) - x, and a step along d to a value
    sufficiently below the largest of the last ones. All starts move together, and only P of the region is used.

    Differs: a step is projected once more, because a region need not be convex.
    """

    def descend(points: Array) -> tuple[Array, Array]:
        value, gradient = objective.value_with_gradient(points)
        return -ranked(value, all_bad=True) / scale, np.where(moves & np.isfinite(gradient), -gradient / scale, 0.0)

    compiled = _compiled(objective, region, X, settings, scale, moves)
    if compiled is not None:
        return region.project(compiled.X), -scale * compiled.f
    x = region.project(X)
    f, g = descend(x)
    best, least, past = x.copy(), f.copy(), np.repeat(f[None, :], _LOOKED_BACK, axis=0)
    pull = region.project(x - g) - x
    spectral = 1.0 / np.clip(np.abs(pull).max(axis=1), _SHORTEST, _LONGEST)
    step, move = np.ones(len(x)), region.project(x - spectral[:, None] * g) - x
    going = np.abs(pull).max(axis=1) > settings.gradient_tol
    for calls in range(1, settings.max_rounds):
        if calls == settings.heat:
            going[np.argsort(least, kind="stable")[settings.finalists :]] = False
        rows = np.flatnonzero(going)
        if not len(rows):
            break
        there = region.project(x[rows] + step[rows, None] * move[rows])
        value, slope = descend(there)
        promised = _ENOUGH * step[rows] * (move[rows] * g[rows]).sum(axis=1)
        enough = value <= past[:, rows].max(axis=0) + promised
        step[rows[~enough]] *= 0.5
        going[rows[~enough]] = step[rows[~enough]] > _SHORTEST
        done, there, value, slope = rows[enough], there[enough], value[enough], slope[enough]
        if not len(done):
            continue
        s, y = there - x[done], slope - g[done]
        bend = (s * y).sum(axis=1)
        curved = np.where(bend > 0.0, (s * s).sum(axis=1) / np.where(bend > 0.0, bend, 1.0), _LONGEST)
        spectral[done], gained = np.clip(curved, _SHORTEST, _LONGEST), np.abs(f[done] - value)
        x[done], f[done], g[done], step[done] = there, value, slope, 1.0
        past[calls % _LOOKED_BACK, done] = value
        ways = region.project(np.vstack([there - spectral[done, None] * slope, there - slope]))
        move[done], pull = ways[: len(done)] - there, np.abs(ways[len(done) :] - there).max(axis=1)
        going[done] = (pull > settings.gradient_tol) & (gained > settings.value_tol * np.maximum(np.abs(value), 1.0))
        better = done[value < least[done]]
        best[better], least[better] = x[better], f[better]
    return best, -scale * least


def _compiled(
    objective: Objective, region: Region, X: Array, settings: lbfgs.Settings, scale: float, moves: BoolArray
) -> lbfgs.Minimum | None:
    """The climbs in compiled code; None if compiled code does not know the region or the objective."""
    native, sums = backend.native, region.sums() if has(region, Summed) else None
    if native is None or sums is None:
        return None
    own = objective.compiled() if has(objective, CompilableObjective) else None
    called = native.Callback(objective.value_with_gradient, X.shape[1]) if own is None else own
    rules = native.Sums(packed(sums.A), packed(sums.low), packed(sums.high))
    box = packed(X), packed(sums.lower), packed(sums.upper), moves.astype(np.uint8)
    return lbfgs.Minimum(*native.minimize_projected(called, rules, *box, -1.0 / scale, settings))


def stepped(objective: Objective, region: Region, X: Array, f: Array) -> tuple[Array, Array]:
    """Move each row of ``X`` (s, d), of value ``f`` (s,), to the best alternative of each discrete decision, one after
    the other, if that is better.
    """
    X, f = X.copy(), f.copy()
    for points in region.steps(X):
        pool = points.reshape(-1, region.dim)
        at = np.where(region.holds(pool), objective.value(pool), -np.inf).reshape(points.shape[:2])
        for row in np.flatnonzero(at.max(axis=1) > f + 1e-12 * np.maximum(np.abs(f), 1.0)):
            best = int(at[row].argmax())
            X[row], f[row] = points[row, best], at[row, best]
    return X, f
