"""Problems to optimize: test functions with known optima, one real task, and a suite by class to develop on."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems.known import ackley8, branin, hartmann6, levy10, svm_breast_cancer, wave1
from believer.problems.problem import Problem
from believer.problems.scale import scale_of
from believer.problems.suite import KINDS, SUITE
from believer.problems.wrappers import noisy, shifted

__all__ = [
    "KINDS",
    "PROBLEMS",
    "SUITE",
    "Problem",
    "ackley8",
    "branin",
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
