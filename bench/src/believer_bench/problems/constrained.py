"""One objective under limits on other outcomes: problems that constrained Bayesian optimization is measured on.

Optima that have no closed form were found by SLSQP from 300 starts, whose best agree to the digits given.
"""

from __future__ import annotations

import math

import numpy as np

from believer.arrays import Array
from believer.problems import synthetic
from believer_bench.problems.several import MINIMIZE, SeveralProblem, of_rows

_LOAD, _LENGTH, _YOUNG, _SHEAR = 6000.0, 14.0, 30e6, 12e6
"""The welded beam's load (lb), length (in), and moduli (psi)."""


def constrained_branin() -> SeveralProblem:
    """Branin inside a disk, (x - 2.5)² + (y - 7.5)² <= 50 [Gelbart2014]: of its three optima (π, 2.275) is left."""
    box = {"x": (-5.0, 10.0), "y": (0.0, 15.0)}
    goals = {"branin": MINIMIZE, "disk": ("at_most", 50.0)}
    least, best = 10.0 / (8.0 * math.pi), [(math.pi, 2.275)]
    return of_rows("constrained_branin", _branin, box, goals, optimum=least, best=best)


def gardner1() -> SeveralProblem:
    """cos 2x cos y + sin x where cos x cos y - sin x sin y <= 1/2, on [0, 6]² [Gardner2014, simulation 1]."""
    goals = {"value": MINIMIZE, "limit": ("at_most", 0.5)}
    best = [(1.5 * math.pi, 0.0)]
    return of_rows("gardner1", _gardner1, {"x": (0.0, 6.0), "y": (0.0, 6.0)}, goals, optimum=-2.0, best=best)


def gardner2() -> SeveralProblem:
    """sin x + y where sin x sin y <= -0.95, on [0, 6]² [Gardner2014, simulation 2]: two small feasible regions.

    The optimum is arcsin 0.95 - 1: along the limit, the value grows with sin x from its end at sin x = -1.
    """
    goals = {"value": MINIMIZE, "limit": ("at_most", -0.95)}
    best = [(1.5 * math.pi, math.asin(0.95))]
    box = {"x": (0.0, 6.0), "y": (0.0, 6.0)}
    return of_rows("gardner2", _gardner2, box, goals, optimum=math.asin(0.95) - 1.0, best=best)


def gramacy() -> SeveralProblem:
    """x + y under two limits, one of which has waves, on [0, 1]² [Gramacy2016, Eq. 1]."""
    goals = {"sum": MINIMIZE, "waves": ("at_most", 0.0), "circle": ("at_most", 0.0)}
    box = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    return of_rows("gramacy", _gramacy, box, goals, optimum=GRAMACY[0], best=[GRAMACY[1]])


def welded_beam() -> SeveralProblem:
    """The cost of a welded beam under limits on stresses, buckling, deflection and sizes [Coello2002, A.1].

    Weld thickness h and length l, beam height t and thickness b, in inches.
    """
    box = {"h": (0.125, 10.0), "l": (0.1, 10.0), "t": (0.1, 10.0), "b": (0.1, 10.0)}
    goals = {
        "cost": MINIMIZE,
        "shear": ("at_most", 13600.0),
        "bending": ("at_most", 30000.0),
        "overhang": ("at_most", 0.0),
        "material": ("at_most", 5.0),
        "deflection": ("at_most", 0.25),
        "buckling_load": ("at_least", _LOAD),
    }
    return of_rows("welded_beam", _welded_beam, box, goals, optimum=WELDED_BEAM[0], best=[WELDED_BEAM[1]])


def pressure_vessel() -> SeveralProblem:
    """The cost of a pressure vessel that holds 1,296,000 cubic inches, shell and head thick enough [Coello2002, A.2].

    Differs: plates of any thickness, where [Coello2002] has multiples of 1/16 inch, so that there is no rounding to
    argue about; no limit of 240 on the length, which ends at 200 anyway.
    """
    box = {"shell": (0.0625, 6.1875), "head": (0.0625, 6.1875), "radius": (10.0, 200.0), "length": (10.0, 200.0)}
    goals = {
        "cost": MINIMIZE,
        "shell_margin": ("at_least", 0.0),
        "head_margin": ("at_least", 0.0),
        "volume": ("at_least", 1_296_000.0),
    }
    return of_rows(
        "pressure_vessel", _pressure_vessel, box, goals, optimum=PRESSURE_VESSEL[0], best=[PRESSURE_VESSEL[1]]
    )


def _branin(X: Array) -> Array:
    return np.column_stack([synthetic.branin(X), (X[:, 0] - 2.5) ** 2 + (X[:, 1] - 7.5) ** 2])


def _gardner1(X: Array) -> Array:
    x, y = X.T
    return np.column_stack([np.cos(2.0 * x) * np.cos(y) + np.sin(x), np.cos(x) * np.cos(y) - np.sin(x) * np.sin(y)])


def _gardner2(X: Array) -> Array:
    x, y = X.T
    return np.column_stack([np.sin(x) + y, np.sin(x) * np.sin(y)])


def _gramacy(X: Array) -> Array:
    x, y = X.T
    waves = 1.5 - x - 2.0 * y - 0.5 * np.sin(2.0 * np.pi * (x**2 - 2.0 * y))
    return np.column_stack([x + y, waves, x**2 + y**2 - 1.5])


def _welded_beam(X: Array) -> Array:
    h, l, t, b = X.T  # noqa: E741 - the literature's letter
    beam = 0.04811 * t * b * (_LENGTH + l)
    arm = np.sqrt(l**2 / 4.0 + ((h + t) / 2.0) ** 2)
    inertia = 2.0 * math.sqrt(2.0) * h * l * (l**2 / 12.0 + ((h + t) / 2.0) ** 2)
    direct = _LOAD / (math.sqrt(2.0) * h * l)
    twist = _LOAD * (_LENGTH + l / 2.0) * arm / inertia
    shear = np.sqrt(direct**2 + direct * twist * l / arm + twist**2)
    slender = 1.0 - t / (2.0 * _LENGTH) * math.sqrt(_YOUNG / (4.0 * _SHEAR))
    return np.column_stack(
        [
            1.10471 * h**2 * l + beam,
            shear,
            6.0 * _LOAD * _LENGTH / (b * t**2),
            h - b,
            0.10471 * h**2 + beam,
            4.0 * _LOAD * _LENGTH**3 / (_YOUNG * t**3 * b),
            4.013 * _YOUNG * t * b**3 / (6.0 * _LENGTH**2) * slender,
        ]
    )


def _pressure_vessel(X: Array) -> Array:
    shell, head, radius, length = X.T
    cost = 0.6224 * shell * radius * length + 1.7781 * head * radius**2
    cost += 3.1661 * shell**2 * length + 19.84 * shell**2 * radius
    volume = np.pi * radius**2 * length + 4.0 / 3.0 * np.pi * radius**3
    return np.column_stack([cost, shell - 0.0193 * radius, head - 0.00954 * radius, volume])


GRAMACY = 0.59978805201, (0.1951226868, 0.4046653652)
WELDED_BEAM = 1.7248523086, (0.2057296397861, 3.470488665628, 9.036623910358, 0.2057296397861)
PRESSURE_VESSEL = 5885.3327736, (0.778168641375, 0.384649162628, 40.3196187241, 200.0)
"""Optimum, and where it is."""
