"""The nearest point of a box in which linear rules hold.

=======  ===================================================================
symbol   meaning
=======  ===================================================================
P        the points to project (m, j)
l, u     least and greatest values, (j,), or (m, j) where points differ
a        the coefficients of one rule (j,)
λ        its multiplier: the nearest point is clip(P - λ a, l, u)
=======  ===================================================================

For one rule low ≤ a·x ≤ high the projection is exact: a·clip(P - λ a, l, u) is piecewise linear and falls as λ grows,
so the λ at which it has the required value lies between two of 2j sorted breakpoints. For several rules the multipliers
are found one after the other, and then together.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, packed
from believer.numerics import backend

RuleBlock: TypeAlias = tuple[IntArray, IntArray]
"""Rules that share columns with each other and with no other rule: their rows and their columns."""

_TINY = 1e-13
"""A sum this close to its required value is left unchanged."""

_ROUNDS, _STEPS = 8, 4
_SETTLED = 1e-12
"""For several rules: the largest number of rounds through all multipliers, of Newton steps after each round, and the
tolerance."""

_FAR = 1e3
"""Points are first moved to within this distance of the box: from farther away rounding would matter, and the nearest
corner is the same."""


def onto_rule(P: Array, lower: Array, upper: Array, a: Array, low: float, high: float) -> Array:
    """The points (m, j) of the box nearest to ``P`` (m, j) in which low ≤ a·x ≤ high.

    If no point of the box keeps the rule, it is the point with the least violation. O(m j log j).
    """
    X = np.minimum(np.maximum(P, lower), upper)
    total = X @ a
    wanted = np.minimum(np.maximum(total, low), high)
    off = np.abs(wanted - total) > _TINY
    if not off.any():
        return X
    floor, roof = (end if end.ndim == 1 else end[off] for end in (lower, upper))
    X[off] = _mended(
        P[off] - _multiplier(P[off], floor, roof, a, wanted[off])[:, None] * a, floor, roof, a, wanted[off]
    )
    return X


def _multiplier(P: Array, lower: Array, upper: Array, a: Array, wanted: Array) -> Array:
    """λ (m,) for which a·clip(P - λ a, l, u) is ``wanted`` (m,), or as close to it as possible."""
    m, j = P.shape
    one, two = (P - upper) / a, (P - lower) / a
    at = np.concatenate([np.minimum(one, two), np.maximum(one, two)], axis=1)  # a column moves between these two λ
    order, rows = at.argsort(axis=1, kind="stable"), np.arange(m)
    at = at[rows[:, None], order]
    slope = np.concatenate([a**2, -(a**2)])[order].cumsum(axis=1)
    most = np.maximum(a * lower, a * upper).sum(axis=-1)
    # The sum at each breakpoint but the first.
    value = np.reshape(most, (-1, 1)) - (slope[:, :-1] * (at[:, 1:] - at[:, :-1])).cumsum(axis=1)
    k = np.minimum((value > wanted[:, None]).sum(axis=1), 2 * j - 2)  # the piece that contains the wanted value
    length = at[rows, k + 1] - at[rows, k]
    left = value[rows, k] + slope[rows, k] * length - wanted
    found: Array = at[rows, k] + np.minimum(left / np.maximum(slope[rows, k], 1e-300), length)
    return found


def _mended(X: Array, lower: Array, upper: Array, a: Array, wanted: Array) -> Array:
    """``X`` (m, j) clipped to the box; the rounding error of a·x is spread over the columns that can move."""
    X = np.minimum(np.maximum(X, lower), upper)
    for _ in range(3):
        off = wanted - X @ a
        if np.abs(off).max() <= 0.01 * _TINY:
            break
        free = np.where(off[:, None] * a > 0.0, upper > X, lower < X) * a
        X = X + (off / np.maximum(free @ a, 1e-300))[:, None] * free
        X = np.minimum(np.maximum(X, lower), upper)
    return X


def onto_rules(
    P: Array, lower: Array, upper: Array, A: Array, low: Array, high: Array, parts: tuple[RuleBlock, ...]
) -> Array:
    """The points (m, j) of the box nearest to ``P`` (m, j) in which every rule low ≤ A x ≤ high holds, A (r, j).

    If there is no such point, or if several rules share columns and their multipliers were not found, the result
    violates a rule: check it with :func:`excess`. ``parts`` are the rules split into parts that share no column.
    """
    native = backend.native
    if native is not None and all(len(rules) == 1 for rules, _ in parts):
        one = [packed(np.atleast_2d(part)) for part in (lower, upper)]
        return native.Sums(packed(A), packed(low), packed(high)).project(packed(P), *one)
    if len(parts) == 1 and len(parts[0][0]) == 1 and len(parts[0][1]) == P.shape[1]:
        return onto_rule(P, lower, upper, A[0], float(low[0]), float(high[0]))
    X = np.minimum(np.maximum(P, lower), upper)
    for rules, used in parts:
        floor, roof = lower[..., used], upper[..., used]
        if len(rules) == 1:
            r = rules[0]
            X[:, used] = onto_rule(P[:, used], floor, roof, A[r, used], float(low[r]), float(high[r]))
        else:
            X[:, used] = _onto_several(P[:, used], floor, roof, A[np.ix_(rules, used)], low[rules], high[rules])
    return X


def _onto_several(P: Array, lower: Array, upper: Array, A: Array, low: Array, high: Array) -> Array:
    """The nearest points (m, j) of the box that keep rules which share columns.

    The multipliers are μ (m, r) with x = clip(P - Aᵀμ), and A x = high if μ > 0, low if μ < 0. They are found by
    Newton's method, which starts from rounds in which each multiplier is optimized given the others ([Hildreth1957]).
    """
    X = np.minimum(np.maximum(P, lower), upper)
    rows = np.flatnonzero(excess(X, A, low, high) > _TINY)
    if not len(rows):
        return X
    floor, roof = (np.broadcast_to(end, P.shape)[rows] for end in (lower, upper))
    away = P[rows] - X[rows]
    near = X[rows] + away * np.minimum(1.0, _FAR / np.maximum(np.abs(away).max(axis=1, keepdims=True), _FAR))
    mu, uses = np.zeros((len(rows), len(A))), [np.flatnonzero(a) for a in A]
    for _ in range(_ROUNDS):
        for r, use in enumerate(uses):
            rest = near[:, use] - mu @ A[:, use] + mu[:, r : r + 1] * A[r, use]
            s = np.minimum(np.maximum(rest, floor[:, use]), roof[:, use]) @ A[r, use]
            end = np.minimum(np.maximum(s, low[r]), high[r])
            best = _multiplier(rest, floor[:, use], roof[:, use], A[r, use], end)
            mu[:, r] = np.where(np.abs(s - end) > 0.01 * _TINY, best, 0.0)
        X[rows], done = _newton(near, mu, floor, roof, A, low, high)
        rows, (near, mu, floor, roof) = rows[~done], (part[~done] for part in (near, mu, floor, roof))
        if not len(rows):
            return X
    for i, row in enumerate(rows):
        X[row] = _least_distance(near[i], floor[i], roof[i], A, low, high)
    return X


def _newton(
    P: Array, mu: Array, lower: Array, upper: Array, A: Array, low: Array, high: Array
) -> tuple[Array, BoolArray]:
    """The points (m, j) after some steps of Newton's method on ``mu`` (m, r), and a mask (m,) of those that are the
    nearest.

    The derivative of the piecewise linear equations is taken piece by piece ([Hintermuller2002]).
    """
    r = np.arange(len(A))
    for _ in range(_STEPS):
        X = P - mu @ A
        free = ((lower < X) & (upper > X)).astype(np.float64)
        X = np.minimum(np.maximum(X, lower), upper)
        s = X @ A.T
        end = np.minimum(np.maximum(s + mu, low), high)
        active = (s + mu < low) | (s + mu > high) | (low == high)
        off = np.where(active, s - end, mu)
        done: BoolArray = np.abs(off).max(axis=1) <= _SETTLED
        if done.all():
            break
        G, gone = np.einsum("mj,rj,sj->mrs", free, A, A), np.where(active, 0.0, mu)
        off = np.where(active, s - end + np.einsum("mrs,ms->mr", G, gone), 0.0)
        G = np.where(active[:, :, None] & active[:, None, :], G, 0.0)
        G[:, r, r] += ~active
        step = np.linalg.pinv(G, rcond=1e-9, hermitian=True) @ off[:, :, None]
        mu = np.where(done[:, None], mu, mu - gone + step[:, :, 0])
    return X, done


def _least_distance(p: Array, lower: Array, upper: Array, A: Array, low: Array, high: Array) -> Array:
    """The nearest point to a single ``p`` (j,), by least squares with multipliers that are not negative.

    [Lawson1974] chapter 23: with z = x - p, the least |z| for which G z ≥ h. It is slow, but always ends.
    """
    from scipy.optimize import nnls

    G = np.vstack([A, -A, np.eye(len(p)), -np.eye(len(p))])
    h = np.concatenate([low - A @ p, A @ p - high, lower - p, p - upper])
    G, h = G[np.isfinite(h)], h[np.isfinite(h)]
    f = np.append(np.zeros(len(p)), 1.0)
    try:
        left = np.vstack([G.T, h]) @ nnls(np.vstack([G.T, h]), f)[0] - f
    except RuntimeError:  # too many rounds
        left = f
    x = p - left[:-1] / left[-1] if abs(left[-1]) > _SETTLED else p
    found: Array = np.minimum(np.maximum(x, lower), upper)
    return found


def excess(X: Array, A: Array, low: Array, high: Array) -> Array:
    """The largest violation of a rule (m,) at the points ``X`` (m, j); 0 if all hold."""
    total = X @ A.T
    found: Array = np.maximum(low - total, total - high).max(axis=1, initial=0.0)
    return found
