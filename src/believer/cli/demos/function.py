"""A test function with a known optimum: Hartmann-6D."""

from __future__ import annotations

from typing import Any

from believer.cli.demos.demo import Demo
from believer.optimizer import Optimizer
from believer.problems import hartmann6
from believer.study.goal import Minimize

_PROBLEM = hartmann6()
OPTIMUM = -3.3223680114155147
SECOND_BASIN = -3.2032
"""The value of the second-best local optimum."""


def value(params: dict[str, Any]) -> dict[str, float]:
    """The value of the function at a point of its cube."""
    return {"value": _PROBLEM(params)}


def gap(optimizer: Optimizer) -> str | None:
    """A sentence on the distance of the best value from the optimum, and on its basin."""
    if optimizer.best is None:
        return None
    best = optimizer.best[1]
    said = f"That is {best - OPTIMUM:.5f} above the optimum, {OPTIMUM:.5f}."
    if abs(best - SECOND_BASIN) < 0.02:
        said += f" It is the function's second-best basin ({SECOND_BASIN}); another --seed may find the best one."
    return said


FUNCTION = Demo(
    name="function",
    title="Hartmann-6D, a test function with a known optimum",
    story="Hartmann-6D: a test function of 6 parameters with several basins. Wanted: its least value.",
    function=value,
    space=_PROBLEM.space,
    goals={"value": Minimize()},
    budget=64,
    seeds=7,
    ending=gap,
    optimum=OPTIMUM,
)
