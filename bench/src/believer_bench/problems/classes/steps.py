"""Steps and plateaus: no slope to follow, or a cliff in place of one."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems.problem import Problem
from believer_bench.problems import shapes
from believer_bench.problems.made import around

KIND = "steps"


def floors2() -> Problem:
    """2-D, a turned bowl in steps, flat at the bottom."""
    return around(KIND, "floors2", shapes.floors, 2, seed=502, box=(-3.0, 3.0), turn=True)


def plain3() -> Problem:
    """3-D, a plain with a funnel over a tenth of it."""
    return around(KIND, "plain3", shapes.plain, 3, seed=503, least=4.0)


def jumps4() -> Problem:
    """4-D, a bowl with cliffs beside the optimum."""
    return around(KIND, "jumps4", shapes.jumps, 4, seed=504, least=-3.0)


def step_ellipsoid5() -> Problem:
    """5-D, an ellipsoid of condition 100 in steps, turned."""
    return around(KIND, "step_ellipsoid5", shapes.step_ellipsoid, 5, seed=505, turn=True)


def stairs6() -> Problem:
    """6-D, stairs on a shallow bowl."""
    return around(KIND, "stairs6", shapes.stairs, 6, seed=506)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "floors2": floors2,
    "plain3": plain3,
    "jumps4": jumps4,
    "step_ellipsoid5": step_ellipsoid5,
    "stairs6": stairs6,
}
