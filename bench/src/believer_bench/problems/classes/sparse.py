"""Many parameters of which few matter."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems import synthetic
from believer.problems.problem import Problem, ProblemRows, floats
from believer_bench.problems import shapes
from believer_bench.problems.made import Active, Around, around, place

KIND = "sparse"
_BOX = (-5.0, 5.0)


def griewank5_of_15() -> Problem:
    """15-D, five matter: ripples on a bowl."""
    return _few("griewank5_of_15", shapes.griewank, 15, (1, 4, 7, 8, 13), 615)


def rosenbrock4_of_20() -> Problem:
    """20-D, four matter: a bent valley."""
    return _few("rosenbrock4_of_20", shapes.rosenbrock, 20, (3, 9, 10, 18), 620)


def bowl4_of_20() -> Problem:
    """20-D, four matter: a bowl with interactions, turned."""
    return _few("bowl4_of_20", shapes.chained, 20, (0, 6, 12, 15), 621, turn=True)


def fading25() -> Problem:
    """25-D, each matters four times less than the one before."""
    return around(KIND, "fading25", shapes.fading, 25, seed=625, least=1.0)


def ackley3_of_30() -> Problem:
    """30-D, three matter: a funnel with ripples."""
    return _few("ackley3_of_30", synthetic.ackley, 30, (5, 16, 22), 630)


def _few(name: str, shape: ProblemRows, d: int, active: tuple[int, ...], seed: int, turn: bool = False) -> Problem:
    """``shape`` of the active ones of ``d`` columns; the others stand in the middle of the given optimizer."""
    low, high = _BOX
    center = tuple(round(low + (high - low) * u, 6) for u in place(len(active), seed))
    rows = Active(Around(shape, center, (1.0,) * len(active), seed if turn else None), active)
    best = [0.0] * d
    for column, value in zip(active, center, strict=True):
        best[column] = value
    return floats(name, rows, [_BOX] * d, 0.0, [tuple(best)], KIND)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "griewank5_of_15": griewank5_of_15,
    "rosenbrock4_of_20": rosenbrock4_of_20,
    "bowl4_of_20": bowl4_of_20,
    "fading25": fading25,
    "ackley3_of_30": ackley3_of_30,
}
