"""Problems to optimize: test functions with known optima, one real task, and a suite by class to develop on."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems.constrained import (
    constrained_branin,
    gardner1,
    gardner2,
    gramacy,
    pressure_vessel,
    welded_beam,
)
from believer.problems.known import ackley8, branin, hartmann6, levy10, svm_breast_cancer, wave1
from believer.problems.objectives import branin_currin, c2_dtlz2, dtlz2, vehicle_safety, zdt1, zdt2
from believer.problems.problem import Problem
from believer.problems.scale import scale_of
from believer.problems.several import SeveralProblem, best_feasible, feasible_regret
from believer.problems.suite import KINDS, SUITE
from believer.problems.wrappers import noisy, shifted

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

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "hartmann6": hartmann6,
    "ackley8": ackley8,
    "levy10": levy10,
    "svm_breast_cancer": svm_breast_cancer,
    "wave1": wave1,
    "branin": branin,
} | SUITE

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
