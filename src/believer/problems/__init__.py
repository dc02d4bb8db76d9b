"""Problems to optimize: test functions with known optima and one real task; other packages bring more by name.

A package brings problems by the entry point group ``believer.problems``: each entry names a mapping from names to what
makes a :class:`Problem` (see :func:`problems_by_name`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from believer.problems.known import ackley8, branin, hartmann6, levy10, svm_breast_cancer, wave1
from believer.problems.problem import Problem

__all__ = [
    "GROUP",
    "PROBLEMS",
    "Problem",
    "ackley8",
    "branin",
    "hartmann6",
    "levy10",
    "problems_by_name",
    "svm_breast_cancer",
    "wave1",
]

GROUP = "believer.problems"
"""The entry points by which other packages bring problems."""

PROBLEMS: dict[str, Callable[[], Problem]] = {
    "hartmann6": hartmann6,
    "ackley8": ackley8,
    "levy10": levy10,
    "svm_breast_cancer": svm_breast_cancer,
    "wave1": wave1,
    "branin": branin,
}
"""The library's own."""


def problems_by_name() -> dict[str, Callable[[], Problem]]:
    """The library's own problems, then those of other packages that are called otherwise."""
    found = dict(PROBLEMS)
    for point in entry_points(group=GROUP):
        found |= {name: make for name, make in point.load().items() if name not in PROBLEMS}
    return found
