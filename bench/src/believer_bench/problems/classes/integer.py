"""Grids: whole numbers and real numbers in steps, some over magnitudes; the optimum is a point of the grid."""

from __future__ import annotations

import math
from collections.abc import Callable

from believer.capabilities import has
from believer.problems.problem import OfRow, Problem, ProblemRows
from believer.space import Space
from believer.space.parameters import Float, Int, Number
from believer_bench.problems import shapes
from believer_bench.problems.made import Around

KIND = "integer"


def powers2() -> Problem:
    """Two numbers from 1 to 1024 and 4096 over magnitudes; they interact."""
    space = Space({"units": Int(1, 1024, log=True), "samples": Int(1, 4096, log=True)})
    return _grid("powers2", space, shapes.chained, (48, 700))


def steps3() -> Problem:
    """Three real numbers in steps, waves on a turned bowl."""
    space = Space({"time": Float(0, 12, step=0.5), "heat": Float(20, 120, step=5), "dose": Float(0, 1, step=0.05)})
    return _grid("steps3", space, shapes.cosines, (8.5, 45.0, 0.35), turn=1003)


def coarse4() -> Problem:
    """Four numbers of three to seven values each: 630 points."""
    space = Space({"a": Int(1, 3), "b": Int(0, 4), "c": Int(2, 14, step=2), "d": Float(0, 5, step=1)})
    return _grid("coarse4", space, shapes.chained, (3, 1, 8, 3.0))


def network5() -> Problem:
    """Layers, units, a batch, a rate over magnitudes and a share in steps: a bent valley."""
    space = Space(
        {
            "layers": Int(1, 8),
            "units": Int(4, 512, log=True),
            "batch": Int(8, 256, step=8),
            "rate": Float(1e-5, 1.0, log=True),
            "dropout": Float(0, 0.6, step=0.1),
        }
    )
    return _grid("network5", space, shapes.rosenbrock, (3, 100, 64, 0.003, 0.2), span=3.0)


def counts8() -> Problem:
    """Eight counts from 0 to 9, ripples on a bowl."""
    space = Space({f"n{j}": Int(0, 9) for j in range(8)})
    return _grid("counts8", space, shapes.griewank, (2, 7, 5, 1, 8, 3, 6, 4))


def _grid(
    name: str,
    space: Space,
    shape: ProblemRows,
    best: tuple[float, ...],
    span: float = 10.0,
    turn: int | None = None,
) -> Problem:
    """``shape`` around ``best``; a parameter's range is ``span`` units long, on its own scale."""
    numbers = [p for p in space.parameters.values() if has(p, Number)]
    log = tuple(j for j, p in enumerate(numbers) if p.log)
    width = tuple((math.log(p.high / p.low) if p.log else p.high - p.low) / span for p in numbers)
    rows = Around(shape, tuple(float(b) for b in best), width, turn, 0.0, log)
    return Problem(name, space, OfRow(rows), 0.0, (dict(zip(space.names, best, strict=True)),), KIND)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "powers2": powers2,
    "steps3": steps3,
    "coarse4": coarse4,
    "network5": network5,
    "counts8": counts8,
}
