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
from functools import lru_cache
from typing import Any

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, above_zero, finite, packed, whole
from believer.errors import InvalidInput
from believer.numerics import backend

BatchFunction = Callable[[Array], tuple[Array, Array]]
"""(s, d) points -> values (s,) and gradients (s, d), to be minimized."""

MAX_ROUNDS, MAX_TOLERANCE = 100_000, 1e9

MAX_MEMORY = 100
"""Each of the starts keeps two rows of numbers for a round that it remembers; more than twenty have no use."""

_SUFFICIENT = 1e-4
_NO_MOVE = 1e-10
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Settings:
    """The stopping rules, and the size of the memory."""

    max_rounds: int = 60
    """calls of the objective"""
    gradient_tol: float = 1e-5
    """a start rests when no free coordinate of its gradient exceeds this"""
    value_tol: float = 1e-9
    """a start rests when a step gains less than this, relative to max(|f|, 1)"""
    memory: int = 6
    heat: int | None = None
    """after this many calls only the ``finalists`` best starts go on"""
    finalists: int = 3
    first_step: float = 0.1
    """length of the first step, as a share of the box, along the steepest coordinate"""

    def __post_init__(self) -> None:
        whole(self.max_rounds, "max_rounds", 0, MAX_ROUNDS)
        whole(self.memory, "memory", 1, MAX_MEMORY)
        if self.heat is not None:
            whole(self.heat, "heat", 1, MAX_ROUNDS)
        whole(self.finalists, "finalists", 1, MAX_ROUNDS)
        for name in ("gradient_tol", "value_tol"):
            if finite(getattr(self, name), name, MAX_TOLERANCE) < 0.0:
                raise InvalidInput(f"{name} must be zero or more; got {getattr(self, name)!r}.")
        above_zero(self.first_step, "first_step", 1e-9, 1.0, "a share of the box")


DEFAULTS = Settings()

LBFGSSettings = Settings
"""What they are called outside of this module."""


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """The end of the climb from each start."""

    X: Array
    f: Array
    rounds: int


@np.errstate(over="ignore", invalid="ignore")
def _directions(G: Array, S: Array, Y: Array, free: BoolArray) -> tuple[Array, BoolArray]:
    """-H G on the free coordinates, H in the compact form of [Byrd1994] Eq. 3.1; steepest descent without pairs.

    Pairs are restricted to the free coordinates, and those without positive curvature there are left out; the flags
    (s,) say where any was left. A product too large for a number has no curvature, and is left out so.
    """
    g = G * free
    if not free.all():
        S, Y = S * free[:, None, :], Y * free[:, None, :]
    SY = S @ Y.transpose(0, 2, 1)
    YY = Y @ Y.transpose(0, 2, 1)
    curvature, lengths = np.einsum("sii->si", SY), np.einsum("sii->si", YY)
    keep = curvature > 1e-12 * lengths
    if (~keep & (lengths > 0.0)).any():
        S, Y = S * keep[:, :, None], Y * keep[:, :, None]
        both = keep[:, :, None] & keep[:, None, :]
        SY, YY = np.where(both, SY, 0.0), np.where(both, YY, 0.0)
        curvature, lengths = np.einsum("sii->si", SY), np.einsum("sii->si", YY)
    m = S.shape[1]
    rows, newest = np.arange(len(G)), m - 1 - keep[:, ::-1].argmax(axis=1)
    some = keep[rows, newest]
    gamma = np.where(some, curvature[rows, newest], 1.0) / np.where(some, lengths[rows, newest], 1.0)

    # A dropped pair has zero rows and columns; a one on the diagonal keeps R invertible without bringing it back.
    R = SY * _upper(m)
    np.einsum("sii->si", R)[...] += ~keep
    inverse = np.linalg.inv(R)
    column = g[:, :, None]
    a = inverse @ (S @ column)
    scale = gamma[:, None, None]
    inner = curvature[:, :, None] * a + scale * (YY @ a - Y @ column)
    b = inverse.transpose(0, 2, 1) @ inner
    step = scale * column + S.transpose(0, 2, 1) @ b - scale * (Y.transpose(0, 2, 1) @ a)
    P = -step[:, :, 0] * free
    uphill = np.einsum("sd,sd->s", P, g) >= 0.0
    return (np.where(uphill[:, None], -g, P) if uphill.any() else P), some


@lru_cache(maxsize=8)
def _upper(m: int) -> Array:
    return np.triu(np.ones((m, m)))


def _free(X: Array, G: Array, lower: Array, upper: Array) -> BoolArray:
    at_bound: BoolArray = ((lower >= X) & (G > 0.0)) | ((upper <= X) & (G < 0.0))
    return ~at_bound


@dataclass(slots=True, eq=False)
class _Climbing:
    """The starts that still move: their row in the result, and everything they carry."""

    rows: IntArray
    X: Array
    f: Array
    G: Array
    P: Array
    t: Array
    S: Array
    Y: Array
    fresh: BoolArray
    """no curvature remembered: the next step is steepest descent"""

    def keep(self, which: BoolArray) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name)[which])


def minimize(objective: BatchFunction, X0: Array, lower: Array, upper: Array, settings: Settings = DEFAULTS) -> Minimum:
    """Local minima of ``objective`` over the box, one for each row of ``X0`` (s, d).

    A start whose first value is not finite stays where it is, with value +inf.
    """
    native = backend.native
    if native is not None:
        moves = np.ones(len(lower), dtype=np.uint8)
        called = native.Callback(objective, len(lower))
        return Minimum(*native.minimize(called, packed(X0), packed(lower), packed(upper), moves, 1.0, settings))
    X = np.clip(X0, lower, upper)
    f, G = objective(X)
    sound = np.isfinite(f) & np.isfinite(G).all(axis=1)
    X, f = X.copy(), np.where(sound, f, np.inf)
    live = _begin(X, f, np.where(sound[:, None], G, 0.0), lower, upper, settings)
    rounds = 1
    while len(live.rows) and rounds < settings.max_rounds:
        trial = np.minimum(np.maximum(live.X + live.t[:, None] * live.P, lower), upper)
        ft, Gt = objective(trial)
        rounds += 1
        resting = _advance(live, trial, ft, Gt, lower, upper, settings)
        X[live.rows], f[live.rows] = live.X, live.f
        if rounds == settings.heat and len(live.rows) > settings.finalists:
            resting |= live.f > np.partition(live.f, settings.finalists - 1)[settings.finalists - 1]
        if resting.any():
            live.keep(~resting)
    return Minimum(X, f, rounds)


def _first_steps(P: Array, lower: Array, upper: Array, settings: Settings) -> Array:
    """Step lengths (s,) that move the steepest coordinate by the same share of the box, whatever the gradient is."""
    widest = np.abs(P / np.maximum(upper - lower, _TINY)).max(axis=1)
    steps: Array = settings.first_step / np.maximum(widest, _TINY)
    return steps


def _begin(X: Array, f: Array, G: Array, lower: Array, upper: Array, settings: Settings) -> _Climbing:
    P = -G * _free(X, G, lower, upper)
    t = np.minimum(1.0, _first_steps(P, lower, upper, settings))
    S = np.zeros((len(X), settings.memory, X.shape[1]))
    live = _Climbing(np.arange(len(X)), X.copy(), f.copy(), G, P, t, S, S.copy(), np.ones(len(X), dtype=bool))
    live.keep(np.isfinite(f) & (np.abs(P).max(axis=1) > settings.gradient_tol))
    return live


def _advance(
    live: _Climbing, trial: Array, ft: Array, Gt: Array, lower: Array, upper: Array, settings: Settings
) -> BoolArray:
    """Let every live start take its trial step or shorten it; says which have come to rest."""
    move = trial - live.X
    slope = np.einsum("sd,sd->s", live.G, move)
    sound = np.isfinite(ft) & np.isfinite(Gt).all(axis=1)
    taken = sound & (ft <= live.f + _SUFFICIENT * slope) & (slope < 0.0)
    resting = np.zeros(len(taken), dtype=bool)
    if taken.any():
        hit: Any = slice(None) if taken.all() else taken
        gain = live.f[hit] - ft[hit]
        live.S[hit, :-1], live.Y[hit, :-1] = live.S[hit, 1:], live.Y[hit, 1:]
        live.S[hit, -1], live.Y[hit, -1] = move[hit], Gt[hit] - live.G[hit]
        live.X[hit], live.f[hit], live.G[hit] = trial[hit], ft[hit], Gt[hit]
        G = live.G[hit]
        free = _free(live.X[hit], G, lower, upper)
        steep = (np.abs(G) * free).max(axis=1) > settings.gradient_tol
        resting[hit] = ~steep | (gain <= settings.value_tol * np.maximum(np.abs(live.f[hit]), 1.0))
        live.P[hit], curved = _directions(G, live.S[hit], live.Y[hit], free)
        # Without positive curvature the gradient's size says nothing about how far to go.
        live.t[hit] = 1.0 if curved.all() else np.where(curved, 1.0, _first_steps(live.P[hit], lower, upper, settings))
        live.fresh[hit] = False
    if not taken.all():
        missed = np.flatnonzero(~taken)
        # The minimizer of the parabola through f, its slope and the trial value, kept within [0.1, 0.5].
        rise = np.where(sound, ft - live.f - slope, np.inf)[missed]
        down = slope[missed]
        shrink = np.where(rise > 0.0, -down / np.maximum(np.maximum(2.0 * rise, np.abs(down)), _TINY), 0.5)
        live.t[missed] *= np.clip(shrink, 0.1, 0.5)
        stuck = (np.abs(move[missed]).max(axis=1) < _NO_MOVE) | (down >= 0.0)
        resting[missed[stuck & live.fresh[missed]]] = True
        again = missed[stuck & ~live.fresh[missed]]
        if len(again):
            # The remembered curvature misleads here: forget it and go straight downhill once more.
            live.S[again], live.Y[again] = 0.0, 0.0
            live.P[again] = -live.G[again] * _free(live.X[again], live.G[again], lower, upper)
            live.t[again] = settings.first_step / np.maximum(np.abs(live.P[again]).max(axis=1), _TINY)
            live.fresh[again] = True
    return resting
