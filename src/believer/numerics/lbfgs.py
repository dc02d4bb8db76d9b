"""Box-constrained limited-memory BFGS over many starts at once.

Every start carries its own point, step and curvature pairs, but all live in shared arrays and every round makes one
call of the objective for all starts that are still moving, so that ten starts cost little more than one. In a round a
start either takes its step (sufficient decrease along the projected path) or shortens it; none waits for another.

======  ===============================================  ==========
symbol  meaning                                          shape
======  ===============================================  ==========
X, f, G points, values, gradients                        (s, d), (s,), (s, d)
P       search directions                                (s, d)
t       step lengths                                     (s,)
S, Y    steps and gradient changes, newest last          (s, m, d)
free    not held at a bound by the gradient              (s, d)
======  ===============================================  ==========
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, BoolArray

Objective = Callable[[Array], tuple[Array, Array]]
"""(s, d) points -> values (s,) and gradients (s, d), to be minimized."""

_SUFFICIENT = 1e-4


@dataclass(frozen=True, slots=True)
class Settings:
    """When to stop, and how much to remember."""

    max_rounds: int = 60
    """calls of the objective"""
    gradient_tol: float = 1e-5
    """a start rests when no free coordinate of its gradient exceeds this"""
    value_tol: float = 1e-9
    """a start rests when a step gains less than this, relative to max(|f|, 1)"""
    memory: int = 8
    first_step: float = 0.1
    """length of the first step, as a share of the box, along the steepest coordinate"""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """Where each start came to rest."""

    X: Array
    f: Array
    rounds: int


def _directions(G: Array, S: Array, Y: Array, free: BoolArray) -> Array:
    """-H G on the free coordinates, H in the compact form of [Byrd1994] Eq. 3.1; steepest descent without pairs.

    Pairs are restricted to the free coordinates, and those without positive curvature there are left out.
    """
    mask = free[:, None, :]
    Sf, Yf = S * mask, Y * mask
    g = G * free
    curvature = np.einsum("smd,smd->sm", Sf, Yf)
    keep = curvature > 1e-12 * np.einsum("smd,smd->sm", Yf, Yf)
    Sf *= keep[:, :, None]
    Yf *= keep[:, :, None]
    m = S.shape[1]
    SY = Sf @ Yf.transpose(0, 2, 1)
    YY = Yf @ Yf.transpose(0, 2, 1)
    diagonal = np.where(keep, curvature, 0.0)
    R = np.triu(SY)
    R[:, range(m), range(m)] = np.where(keep, curvature, 1.0)
    newest = keep.any(axis=1)
    last = m - 1 - keep[:, ::-1].argmax(axis=1)
    rows = np.arange(len(G))
    gamma = np.where(newest, curvature[rows, last] / np.where(newest, YY[rows, last, last], 1.0), 1.0)[:, None]

    Rinv = np.linalg.inv(R)
    a = (Rinv @ (Sf @ g[:, :, None]))[:, :, 0]
    inner = diagonal * a + gamma * (YY @ a[:, :, None])[:, :, 0] - gamma * (Yf @ g[:, :, None])[:, :, 0]
    b = (Rinv.transpose(0, 2, 1) @ inner[:, :, None])[:, :, 0]
    step = gamma * g + (b[:, None, :] @ Sf)[:, 0] - gamma * (a[:, None, :] @ Yf)[:, 0]
    P = -step * free
    downhill = np.einsum("sd,sd->s", P, g) < 0.0
    return np.where(downhill[:, None], P, -g)


def _free(X: Array, G: Array, lower: Array, upper: Array) -> BoolArray:
    held: BoolArray = ((lower >= X) & (G > 0.0)) | ((upper <= X) & (G < 0.0))
    return ~held


def minimize(objective: Objective, X0: Array, lower: Array, upper: Array, settings: Settings = Settings()) -> Minimum:  # noqa: B008
    """Local minima of ``objective`` over the box, one for each row of ``X0`` (s, d).

    A start whose first value is not finite stays where it is, with value +inf.
    """
    X = np.clip(X0, lower, upper)
    s, d = X.shape
    f, G = objective(X)
    f = np.where(np.isfinite(f) & np.isfinite(G).all(axis=1), f, np.inf)
    active = np.isfinite(f)
    G = np.where(active[:, None], G, 0.0)
    S = np.zeros((s, settings.memory, d))
    Y = np.zeros_like(S)
    free = _free(X, G, lower, upper)
    P = -G * free
    widest = np.abs(P / np.maximum(upper - lower, 1e-300)).max(axis=1)
    active &= np.abs(P).max(axis=1) > settings.gradient_tol
    t = np.minimum(1.0, settings.first_step / np.maximum(widest, 1e-300))
    fresh = np.ones(s, dtype=bool)

    rounds = 1
    while active.any() and rounds < settings.max_rounds:
        rows = np.flatnonzero(active)
        x, g = X[rows], G[rows]
        trial = np.clip(x + t[rows, None] * P[rows], lower, upper)
        move = trial - x
        slope = np.einsum("sd,sd->s", g, move)
        ft, Gt = objective(trial)
        rounds += 1
        sound = np.isfinite(ft) & np.isfinite(Gt).all(axis=1)
        taken = sound & (ft <= f[rows] + _SUFFICIENT * slope) & (slope < 0.0)

        hit = rows[taken]
        if len(hit):
            gain = f[hit] - ft[taken]
            S[hit] = np.concatenate([S[hit, 1:], move[taken, None]], axis=1)
            Y[hit] = np.concatenate([Y[hit, 1:], (Gt - g)[taken, None]], axis=1)
            X[hit], f[hit], G[hit] = trial[taken], ft[taken], Gt[taken]
            free = _free(X[hit], G[hit], lower, upper)
            still = (np.abs(G[hit]) * free).max(axis=1) > settings.gradient_tol
            still &= gain > settings.value_tol * np.maximum(np.abs(f[hit]), 1.0)
            active[hit] = still
            P[hit] = _directions(G[hit], S[hit], Y[hit], free)
            t[hit] = 1.0
            fresh[hit] = False

        missed = rows[~taken]
        if len(missed):
            # The minimizer of the parabola through f, its slope and the trial value, kept within [0.1, 0.5].
            rise = np.where(sound, ft - f[rows] - slope, np.inf)[~taken]
            down = slope[~taken]
            shrink = np.where(rise > 0.0, -down / np.maximum(2.0 * rise, 1e-300), 0.5)
            t[missed] *= np.clip(np.where(np.isfinite(shrink), shrink, 0.1), 0.1, 0.5)
            stuck = (np.abs(move[~taken]).max(axis=1) < 1e-10) | (down >= 0.0)
            again = missed[stuck & ~fresh[missed]]
            if len(again):
                # The remembered curvature misleads here: forget it and go straight downhill once more.
                S[again], Y[again] = 0.0, 0.0
                P[again] = -G[again] * _free(X[again], G[again], lower, upper)
                t[again] = settings.first_step / np.maximum(np.abs(P[again]).max(axis=1), 1e-300)
                fresh[again] = True
            active[missed[stuck & np.isin(missed, again, invert=True)]] = False
    return Minimum(X, f, rounds)
