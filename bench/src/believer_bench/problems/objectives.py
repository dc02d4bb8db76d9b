"""Several objectives at once: problems that multi-objective Bayesian optimization is measured on.

All are to be minimized; the reference points are those of [Daulton2020].
"""

from __future__ import annotations

import math

import numpy as np

from believer.arrays import Array
from believer.problems import synthetic
from believer_bench.problems.several import MINIMIZE, SeveralProblem, Wanted, of_rows

_TWO: dict[str, Wanted] = {"f1": MINIMIZE, "f2": MINIMIZE}
_R = 0.2
"""Radius of the feasible disks of C2-DTLZ2."""


def branin_currin() -> SeveralProblem:
    """Branin, over the unit square, and Currin's exponential function [Belakaria2019].

    Its hypervolume is that of the front found on a grid of 3,001² points and refined around it seven times: 59.4066 to
    1e-4, between a staircase of 550,000 points and the trapezoids above it. [Daulton2020] has 59.3601 from a search.
    """
    goals: dict[str, Wanted] = {"branin": MINIMIZE, "currin": MINIMIZE}
    reference, volume = (18.0, 6.0), 59.40658
    return of_rows("branin_currin", _branin_currin, _cube(2), goals, reference=reference, hypervolume=volume)


def zdt1(d: int = 4) -> SeveralProblem:
    """ZDT1 in ``d`` dimensions [Zitzler2000]: a convex front f2 = 1 - √f1, hypervolume 11² - 1/3."""
    return of_rows("zdt1", _zdt1, _cube(d), _TWO, reference=(11.0, 11.0), hypervolume=121.0 - 1.0 / 3.0)


def zdt2(d: int = 4) -> SeveralProblem:
    """ZDT2 in ``d`` dimensions [Zitzler2000]: a concave front f2 = 1 - f1², hypervolume 11² - 2/3."""
    return of_rows("zdt2", _zdt2, _cube(d), _TWO, reference=(11.0, 11.0), hypervolume=121.0 - 2.0 / 3.0)


def dtlz2(d: int = 4) -> SeveralProblem:
    """DTLZ2 with two objectives in ``d`` dimensions [Deb2005]: a quarter of a circle, hypervolume 1.1² - π/4."""
    return of_rows("dtlz2", _dtlz2, _cube(d), _TWO, reference=(1.1, 1.1), hypervolume=1.1**2 - math.pi / 4.0)


def c2_dtlz2(d: int = 4) -> SeveralProblem:
    """DTLZ2 with two objectives, feasible in three disks about the circle's ends and middle [Jain2014, Eq. 9].

    "disks" is at most 0 inside any. Differs: the middle disk's radius is √2 · 0.2, as [Daulton2020] ran it, where
    [Jain2014] has the same for all. The front is three arcs of the circle; its hypervolume is in closed form.
    """
    goals: dict[str, Wanted] = {**_TWO, "disks": ("at_most", 0.0)}
    volume = _three_arcs(1.1)
    return of_rows("c2_dtlz2", _c2_dtlz2, _cube(d), goals, reference=(1.1, 1.1), hypervolume=volume)


def vehicle_safety() -> SeveralProblem:
    """A car's mass, its acceleration in a full frontal crash, and its toe board's intrusion in an offset one.

    Five thicknesses in [1, 3]: RE3-5-4 of [Tanabe2020]. The reference point is 1.1 times the nadir of the front given
    there, the hypervolume that of the same front [Daulton2020]. Integrating over a grid of 81² limits on the last two
    the least mass within them gives 246.7, to 0.2.
    """
    goals: dict[str, Wanted] = {"mass": MINIMIZE, "acceleration": MINIMIZE, "intrusion": MINIMIZE}
    box = {f"t{j + 1}": (1.0, 3.0) for j in range(5)}
    reference, volume = (1864.72022, 11.81993945, 0.2903999384), 246.81607081187002
    return of_rows("vehicle_safety", _vehicle_safety, box, goals, reference=reference, hypervolume=volume)


def _cube(d: int) -> dict[str, tuple[float, float]]:
    return {f"x{j}": (0.0, 1.0) for j in range(d)}


def _branin_currin(X: Array) -> Array:
    x, y = X.T
    with np.errstate(divide="ignore"):  # at y = 0 the exponential is 0
        factor = 1.0 - np.exp(-0.5 / y)
    currin = factor * (2300.0 * x**3 + 1900.0 * x**2 + 2092.0 * x + 60.0)
    currin /= 100.0 * x**3 + 500.0 * x**2 + 4.0 * x + 20.0
    return np.column_stack([synthetic.branin(15.0 * X - np.array([5.0, 0.0])), currin])


def _zdt1(X: Array) -> Array:
    return _zdt(X, 0.5)


def _zdt2(X: Array) -> Array:
    return _zdt(X, 2.0)


def _zdt(X: Array, power: float) -> Array:
    f1, g = X[:, 0], 1.0 + 9.0 * X[:, 1:].mean(axis=1)
    return np.column_stack([f1, g * (1.0 - (f1 / g) ** power)])


def _dtlz2(X: Array) -> Array:
    angle, g = 0.5 * np.pi * X[:, 0], ((X[:, 1:] - 0.5) ** 2).sum(axis=1)
    return np.column_stack([(1.0 + g) * np.cos(angle), (1.0 + g) * np.sin(angle)])


def _c2_dtlz2(X: Array) -> Array:
    F = _dtlz2(X)
    f1, f2 = F.T
    ends = np.minimum((f1 - 1.0) ** 2 + f2**2, (f2 - 1.0) ** 2 + f1**2) - _R**2
    middle = ((F - math.sqrt(0.5)) ** 2).sum(axis=1) - 2.0 * _R**2
    return np.column_stack([F, np.minimum(ends, middle)])


def _three_arcs(reference: float) -> float:
    """Hypervolume of the parts of the unit circle within the disks, from (reference, reference).

    A chord of length c spans the angle 2 arcsin(c / 2). Under the arc from angle a to b, f2 = sin, the integral over f1
    is [(b - a) - (sin 2b - sin 2a) / 2] / 2; from the end of one arc to the next one's begin, the least f2 stays.
    """
    end, half = 2.0 * math.asin(_R / 2.0), 2.0 * math.asin(math.sqrt(0.5) * _R)
    arcs = [(math.pi / 2.0 - end, math.pi / 2.0), (math.pi / 4.0 - half, math.pi / 4.0 + half), (0.0, end)]
    volume, following = 0.0, [math.cos(arcs[1][1]), math.cos(arcs[2][1]), reference]
    for (a, b), f1 in zip(arcs, following, strict=True):
        under = ((b - a) - (math.sin(2.0 * b) - math.sin(2.0 * a)) / 2.0) / 2.0
        volume += reference * (math.cos(a) - math.cos(b)) - under + (reference - math.sin(a)) * (f1 - math.cos(a))
    return volume


def _vehicle_safety(X: Array) -> Array:
    a, b, c, d, e = X.T
    mass = 1640.2823 + 2.3573285 * a + 2.3220035 * b + 4.5688768 * c + 7.7213633 * d + 4.4559504 * e
    acceleration = 6.5856 + 1.15 * a - 1.0427 * b + 0.9738 * c + 0.8364 * d - 0.3695 * a * d + 0.0861 * a * e
    acceleration += 0.3628 * b * d - 0.1106 * a**2 - 0.3437 * c**2 + 0.1764 * d**2
    intrusion = -0.0551 + 0.0181 * a + 0.1024 * b + 0.0421 * c - 0.0073 * a * b + 0.024 * b * c - 0.0118 * b * d
    intrusion += -0.0204 * c * d - 0.008 * c * e - 0.0241 * b**2 + 0.0109 * d**2
    return np.column_stack([mass, acceleration, intrusion])
