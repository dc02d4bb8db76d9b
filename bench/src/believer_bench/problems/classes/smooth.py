"""Smooth functions with few optima."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from believer.arrays import Array
from believer.problems.known import branin, hartmann6
from believer.problems.problem import Problem, floats
from believer_bench.problems import shapes
from believer_bench.problems.made import Around, around

KIND = "smooth"


def dip(Z: Array) -> Array:
    """z² / 20 + sin² 0.9 z, in one dimension."""
    wave = np.sin(0.9 * Z[:, 0])
    values: Array = Z[:, 0] * Z[:, 0] / 20.0 + wave * wave
    return values


def dip1() -> Problem:
    """1-D, with two lesser dips beside the deepest."""
    return floats("dip1", Around(dip, (1.7,), (1.0,), least=-2.0), [(-4.0, 6.0)], -2.0, [(1.7,)], KIND)


def cosines2() -> Problem:
    """2-D, gentle waves on a bowl."""
    return around(KIND, "cosines2", shapes.cosines, 2, seed=102, least=1.0)


def cosines3() -> Problem:
    """3-D, the same turned."""
    return around(KIND, "cosines3", shapes.cosines, 3, seed=103, turn=True, least=-4.0)


def bowl4() -> Problem:
    """4-D, a bowl with interactions."""
    return around(KIND, "bowl4", shapes.chained, 4, seed=104, least=10.0)


def trid5() -> Problem:
    """5-D, a quadratic form whose neighbors interact."""
    return around(KIND, "trid5", shapes.trid, 5, seed=105, box=(-10.0, 10.0), least=-30.0)


def bowl12() -> Problem:
    """12-D, round at the bottom and straight far away, turned."""
    return around(KIND, "bowl12", shapes.cone, 12, seed=112, turn=True, least=3.0)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "dip1": dip1,
    "branin": branin,
    "cosines2": cosines2,
    "cosines3": cosines3,
    "bowl4": bowl4,
    "trid5": trid5,
    "hartmann6": hartmann6,
    "bowl12": bowl12,
}
