"""Many local optima on a bowl that leads to the best of them."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems import synthetic
from believer.problems.known import ackley8, levy10
from believer.problems.problem import Problem
from believer_bench.problems import shapes
from believer_bench.problems.made import around

KIND = "multimodal"


def rastrigin3() -> Problem:
    """3-D, ripples as deep as the bowl, along the axes."""
    return around(KIND, "rastrigin3", shapes.rastrigin, 3, seed=403, box=(-2.0, 2.0), least=-20.0)


def ackley4() -> Problem:
    """4-D, a funnel away from the center."""
    return around(KIND, "ackley4", synthetic.ackley, 4, seed=404)


def rastrigin5() -> Problem:
    """5-D, the ripples turned."""
    return around(KIND, "rastrigin5", shapes.rastrigin, 5, seed=405, box=(-3.0, 3.0), turn=True)


def griewank6() -> Problem:
    """6-D, ripples that fade beside the bowl."""
    return around(KIND, "griewank6", shapes.griewank, 6, seed=406, least=1.0)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "rastrigin3": rastrigin3,
    "ackley4": ackley4,
    "rastrigin5": rastrigin5,
    "griewank6": griewank6,
    "ackley8": ackley8,
    "levy10": levy10,
}
