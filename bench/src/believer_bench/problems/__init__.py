"""Problems to race on: the library's own, a suite by class, and problems that return several named numbers."""

from __future__ import annotations

from collections.abc import Callable

from believer import problems
from believer.problems import Problem, ackley8, branin, hartmann6, levy10, svm_breast_cancer, wave1
from believer_bench.problems.constrained import (
    constrained_branin,
    gardner1,
    gardner2,
    gramacy,
    pressure_vessel,
    welded_beam,
)
from believer_bench.problems.objectives import branin_currin, c2_dtlz2, dtlz2, vehicle_safety, zdt1, zdt2
from believer_bench.problems.scale import scale_of
from believer_bench.problems.several import SeveralProblem, best_feasible, feasible_regret
from believer_bench.problems.suite import KINDS, SUITE
from believer_bench.problems.wrappers import noisy, shifted

__all__ = [
    "FRONTS",
    "KINDS",
    "LIMITS",
    "PROBLEMS",
    "SEVERAL",
    "SUITE",
    "Problem",
    "SeveralProblem",
    "ackley8",
    "best_feasible",
    "branin",
    "feasible_regret",
    "hartmann6",
    "levy10",
    "noisy",
    "scale_of",
    "shifted",
    "svm_breast_cancer",
    "wave1",
]

PROBLEMS: dict[str, Callable[[], Problem]] = problems.PROBLEMS | SUITE
"""Problems that return one number, by name."""

LIMITS: dict[str, Callable[[], SeveralProblem]] = {
    make.__name__: make for make in (constrained_branin, gardner1, gardner2, gramacy, welded_beam, pressure_vessel)
}
"""One objective, within limits."""

FRONTS: dict[str, Callable[[], SeveralProblem]] = {
    make.__name__: make for make in (branin_currin, zdt1, zdt2, dtlz2, vehicle_safety, c2_dtlz2)
}
"""Several objectives, of which the last has a limit."""

SEVERAL = LIMITS | FRONTS
"""Problems that return several named numbers, by name."""
