"""How problems of our own are made: a shape, least at the origin, put somewhere in a box, turned and stretched.

| symbol | meaning | shape |
|---|---|---|
| X | points in the user's units | (m, d) |
| c | where the optimum is put | (d,) |
| w | the length that counts as one | (d,) |
| R | a rotation | (d, d) |
| z | coordinates of a shape, R (X - c) / w | (m, d) |

Whatever looks random here is drawn once and for all from Python's ``random.Random(seed).random()``, whose numbers are
the same in every version. Sums run over coordinates, which no BLAS orders by the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from random import Random

import numpy as np

from believer.arrays import Array, read_only
from believer.problems.problem import Problem, ProblemRows, floats


@dataclass(frozen=True, slots=True)
class Around:
    """f(x) = least + shape(z), z = R (x - c) / w; the optimum is ``least`` at c, for a shape that is least, 0, at 0.

    turn: seed of R, None for no rotation. log: columns whose difference is that of their logarithms.
    """

    shape: ProblemRows
    center: tuple[float, ...]
    width: tuple[float, ...]
    turn: int | None = None
    least: float = 0.0
    log: tuple[int, ...] = ()

    def __call__(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        Z = X - np.array(self.center)
        for j in self.log:
            Z[:, j] = np.log(X[:, j] / self.center[j])
        Z /= np.array(self.width)
        return self.least + self.shape(Z if self.turn is None else turned(Z, self.turn))


@dataclass(frozen=True, slots=True)
class Active:
    """f of the named columns only; the others do nothing."""

    rows: ProblemRows
    columns: tuple[int, ...]

    def __call__(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        return self.rows(np.take(X, self.columns, axis=1))


def turned(Z: Array, seed: int) -> Array:
    """R z for every row of ``Z`` (m, d)."""
    rotated: Array = (Z[:, None, :] * rotation(Z.shape[1], seed)).sum(axis=2)
    return rotated


@lru_cache(maxsize=64)
def rotation(d: int, seed: int) -> Array:
    """A rotation (d, d): the product of a turn in each of the d (d - 1) / 2 planes of two axes, angles uniform."""
    rng, R = Random(seed), np.eye(d)
    for i in range(d):
        for j in range(i + 1, d):
            angle = 2.0 * math.pi * rng.random()
            first, second = R[i].copy(), R[j].copy()
            R[i] = math.cos(angle) * first - math.sin(angle) * second
            R[j] = math.sin(angle) * first + math.cos(angle) * second
    return read_only(R)


def place(d: int, seed: int, margin: float = 0.1) -> tuple[float, ...]:
    """A point of the unit cube (d,), uniform but for a margin from the faces, to three decimals."""
    rng = Random(seed)
    return tuple(round(margin + (1.0 - 2.0 * margin) * rng.random(), 3) for _ in range(d))


@lru_cache(maxsize=256)
def uniform(seed: int, *shape: int, low: float = 0.0, high: float = 1.0) -> Array:
    """Fixed numbers in [low, high) of the given shape."""
    rng = Random(seed)
    numbers = [low + (high - low) * rng.random() for _ in range(math.prod(shape))]
    return read_only(np.array(numbers).reshape(shape))


def around(
    kind: str,
    name: str,
    shape: ProblemRows,
    d: int,
    *,
    seed: int,
    box: tuple[float, float] = (-5.0, 5.0),
    turn: bool = False,
    least: float = 0.0,
) -> Problem:
    """``shape`` in ``d`` dimensions, its origin at a place of ``box``^d, turned or not: both by ``seed``."""
    low, high = box
    center = tuple(round(low + (high - low) * u, 6) for u in place(d, seed))
    rows = Around(shape, center, (1.0,) * d, seed if turn else None, least)
    return floats(name, rows, [box] * d, least, [center], kind)
