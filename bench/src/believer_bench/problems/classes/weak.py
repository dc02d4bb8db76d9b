"""Many local optima, and nothing that leads to the best of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array
from believer.problems.problem import Problem, floats
from believer_bench.problems import shapes
from believer_bench.problems.made import Around, uniform

KIND = "weak"

_HOLES = uniform(441, 10, 4, low=0.5, high=9.5)
_DEPTHS = uniform(442, 10, low=0.15, high=0.6)
_FOXHOLES = -4.935937211156054
_FOXHOLES_AT = (1.850273995, 8.411178103, 7.24471296, 0.910585336)
_SCHWEFEL = -418.98288727243363
_SCHWEFEL_AT = 420.968746359
_RIDGES = -4.691563469231233
_RIDGES_AT = (2.191075942, 1.570796327, 1.28658778, 1.922549132, 1.720302594)


@dataclass(frozen=True, slots=True)
class Peaks:
    """10 - max_k h_k exp(-Σ_j a_kj (x_j - p_kj)² / 2) on the unit cube, h_1 = 10 and the others 1.1 ... 9.1.

    After the random peaks of Gallagher: the best one's slopes are ten times as steep as those of the widest. Places
    p_k, (count, d), and widths are fixed by ``seed``; the optimum is 0 at p_1.
    """

    d: int
    count: int
    seed: int

    @property
    def centers(self) -> Array:
        """The places of the peaks, (count, d)."""
        return uniform(self.seed, self.count, self.d, low=0.08, high=0.92)

    def __call__(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        steepness = np.concatenate([[60.0], uniform(self.seed + 1, self.count - 1, low=6.0, high=300.0)])
        stretch = uniform(self.seed + 2, self.count, self.d, low=0.4, high=1.6)
        heights = np.concatenate([[10.0], np.linspace(9.1, 1.1, self.count - 1)])
        gaps = X[:, None, :] - self.centers
        inner = (gaps * gaps * stretch).sum(axis=2) * (steepness / 2.0)
        values: Array = 10.0 - (heights * np.exp(-inner)).max(axis=1)
        return values


def foxholes(X: Array) -> Array:
    """-Σ_k 1 / (b_k + |x - a_k|²), ten holes on [0, 10]^4, after Shekel."""
    gaps = X[:, None, :] - _HOLES
    values: Array = -(1.0 / (_DEPTHS + (gaps * gaps).sum(axis=2))).sum(axis=1)
    return values


def schwefel(X: Array) -> Array:
    """-Σ x_j sin √|x_j| / d on [-500, 500]^d: the best and the second best corner are far apart."""
    values: Array = -(X * np.sin(np.sqrt(np.abs(X)))).sum(axis=1) / X.shape[1]
    return values


def ridges(X: Array) -> Array:
    """-Σ sin(x_j) sin^12(j x_j² / π) on [0, π]^d, after Michalewicz: valleys between which it is flat."""
    wave = np.sin(np.arange(1.0, X.shape[1] + 1.0) * X * X / np.pi)
    square = wave * wave
    fourth = square * square
    values: Array = -(np.sin(X) * fourth * fourth * fourth).sum(axis=1)
    return values


def schwefel3() -> Problem:
    """3-D, the optimum far from the second best."""
    return floats("schwefel3", schwefel, [(-500.0, 500.0)] * 3, _SCHWEFEL, [(_SCHWEFEL_AT,) * 3], KIND)


def foxholes4() -> Problem:
    """4-D, ten holes."""
    return floats("foxholes4", foxholes, [(0.0, 10.0)] * 4, _FOXHOLES, [_FOXHOLES_AT], KIND)


def peaks4() -> Problem:
    """4-D, 21 peaks."""
    return _peaks("peaks4", Peaks(4, 21, 451))


def ridges5() -> Problem:
    """5-D, valleys along the axes."""
    return floats("ridges5", ridges, [(0.0, np.pi)] * 5, _RIDGES, [_RIDGES_AT], KIND)


def lunacek5() -> Problem:
    """5-D, two funnels."""
    center = (-2.3, -1.1, -3.2, -2.8, -1.7)
    return floats("lunacek5", Around(shapes.lunacek, center, (1.0,) * 5), [(-5.0, 5.0)] * 5, 0.0, [center], KIND)


def peaks6() -> Problem:
    """6-D, 61 peaks."""
    return _peaks("peaks6", Peaks(6, 61, 461))


def _peaks(name: str, rows: Peaks) -> Problem:
    return floats(name, rows, [(0.0, 1.0)] * rows.d, 0.0, [tuple(rows.centers[0].tolist())], KIND)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "schwefel3": schwefel3,
    "foxholes4": foxholes4,
    "peaks4": peaks4,
    "ridges5": ridges5,
    "lunacek5": lunacek5,
    "peaks6": peaks6,
}
