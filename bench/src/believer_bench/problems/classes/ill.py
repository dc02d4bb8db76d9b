"""Ill-conditioned and turned: curvatures that differ a thousandfold to a millionfold along no axis."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems.problem import Problem
from believer_bench.problems import shapes
from believer_bench.problems.made import around

KIND = "ill"


def ellipsoid3() -> Problem:
    """3-D, condition 1e3."""
    return around(KIND, "ellipsoid3", shapes.ellipsoid3, 3, seed=303, turn=True, least=5.0)


def cigar4() -> Problem:
    """4-D, one long direction, bent."""
    return around(KIND, "cigar4", shapes.bent_cigar, 4, seed=304, turn=True)


def ellipsoid5() -> Problem:
    """5-D, condition 1e4."""
    return around(KIND, "ellipsoid5", shapes.ellipsoid4, 5, seed=305, turn=True)


def discus6() -> Problem:
    """6-D, one short direction."""
    return around(KIND, "discus6", shapes.discus, 6, seed=306, turn=True, least=-100.0)


def powers8() -> Problem:
    """8-D, different powers."""
    return around(KIND, "powers8", shapes.different_powers, 8, seed=308, turn=True)


def ellipsoid10() -> Problem:
    """10-D, condition 1e6."""
    return around(KIND, "ellipsoid10", shapes.ellipsoid6, 10, seed=310, turn=True)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "ellipsoid3": ellipsoid3,
    "cigar4": cigar4,
    "ellipsoid5": ellipsoid5,
    "discus6": discus6,
    "powers8": powers8,
    "ellipsoid10": ellipsoid10,
}
