"""Problems of many dimensions, for budgets beyond a thousand evaluations.

| symbol | meaning | shape |
|---|---|---|
| P | control points of a path, its ends included | (m, 32, 2) |
| B | cubic B-spline basis at even times | (t, 32) |
| r | the path, B P | (m, t, 2) |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from believer.arrays import Array, read_only
from believer.problems import synthetic
from believer.problems.problem import OfRow, Problem, floats
from believer.space import Float, Space
from believer_bench.problems.made import uniform

_TIMES, _WAYPOINTS, _HILLS = 200, 30, 24
_START, _GOAL = (0.05, 0.05), (0.95, 0.95)
_RADIUS, _STEEPNESS = (0.05, 0.11), 0.02


def levy20() -> Problem:
    """Levy-20D on [-5, 10]^20."""
    return floats("levy20", synthetic.levy, [(-5.0, 10.0)] * 20, 0.0, [(1.0,) * 20])


def ackley50() -> Problem:
    """Ackley-50D on [-5, 10]^50, whose optimum is not the middle of the box."""
    return floats("ackley50", synthetic.ackley, [(-5.0, 10.0)] * 50, 0.0, [(0.0,) * 50])


def rover60() -> Problem:
    """The cost of a rover's path across a square full of hills, by 30 control points; the minimum is not known.

    The path begins at (0.05, 0.05), ends at (0.95, 0.95) and is a clamped cubic B-spline; its inner control points are
    what is searched, each coordinate in [0, 1]: 60 numbers, x0 and x1 of the first, and so on. The cost is the path's
    length, and so much more wherever it climbs: 20 times the length of what lies on a hill. There are 24 round hills
    with soft edges, at places and with radii drawn once and for all. Going straight on costs 9.46, of which 1.27 is the
    way; points drawn at random make a tangle eight times as long, which costs 115. Neighboring numbers work together,
    none is idle, and ways round different sides of the hills are different local optima.
    """
    space = Space({f"x{j}": Float(0.0, 1.0) for j in range(2 * _WAYPOINTS)})
    return Problem("rover60", space, OfRow(_rover))


MANY: dict[str, Callable[[], Problem]] = {make.__name__: make for make in (levy20, ackley50, rover60)}
"""They are no part of the suite, whose budgets they do not fit."""


def rover_path(X: Array) -> Array:
    """r (m, t, 2) of points ``X`` (m, 60) in the user's units."""
    m = len(X)
    ends = [np.broadcast_to(np.array(end), (m, 1, 2)) for end in (_START, _GOAL)]
    P = np.concatenate([ends[0], X.reshape(m, _WAYPOINTS, 2), ends[1]], axis=1)
    path: Array = (_basis()[None, :, :, None] * P[:, None, :, :]).sum(axis=2)
    return path


def rover_hills() -> tuple[Array, Array]:
    """Centers (h, 2) of the hills and their radii (h,)."""
    centers = uniform(6001, _HILLS, 2, low=0.12, high=0.88)
    return centers, uniform(6002, _HILLS, low=_RADIUS[0], high=_RADIUS[1])


def _rover(X: Array) -> Array:
    """∫ (1 + 20 height) ds along the path, by the middle of each of its pieces."""
    path, (centers, radii) = rover_path(X), rover_hills()
    pieces = np.sqrt((np.diff(path, axis=1) ** 2).sum(axis=2))
    middles = 0.5 * (path[:, 1:] + path[:, :-1])
    away = np.sqrt(((middles[:, :, None, :] - centers) ** 2).sum(axis=3))
    height = (1.0 / (1.0 + np.exp(np.clip((away - radii) / _STEEPNESS, -50.0, 50.0)))).max(axis=2)
    cost: Array = (pieces * (1.0 + 20.0 * height)).sum(axis=1)
    return cost


@lru_cache(maxsize=1)
def _basis() -> Array:
    """B, by the recursion of de Boor and Cox; the knots of the ends are there four times."""
    points, degree = _WAYPOINTS + 2, 3
    inner = np.linspace(0.0, 1.0, points - degree + 1)
    knots = np.concatenate([np.zeros(degree), inner, np.ones(degree)])
    t = np.linspace(0.0, 1.0, _TIMES)
    t[-1] = np.nextafter(1.0, 0.0)
    B = ((t[:, None] >= knots[:-1]) & (t[:, None] < knots[1:])).astype(np.float64)
    for k in range(1, degree + 1):
        low, high = knots[: -k - 1], knots[k + 1 :]
        up, down = knots[k:-1] - low, high - knots[1:-k]
        rising = np.divide(t[:, None] - low, up, out=np.zeros((_TIMES, len(up))), where=up > 0.0)
        falling = np.divide(high - t[:, None], down, out=np.zeros((_TIMES, len(down))), where=down > 0.0)
        B = rising * B[:, :-1] + falling * B[:, 1:]
    return read_only(B)
