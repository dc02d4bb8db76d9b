"""The suite: problems by class, to develop and compare on; the optimum of each is known."""

from __future__ import annotations

from collections.abc import Callable

from believer.problems.problem import Problem
from believer_bench.problems.classes import (
    boundary,
    heavy,
    ill,
    integer,
    mixed,
    multimodal,
    noise,
    smooth,
    sparse,
    steps,
    tables,
    weak,
)

_CLASSES = (smooth, heavy, ill, multimodal, weak, steps, sparse, boundary, noise, integer, mixed, tables)

KINDS: tuple[str, ...] = tuple(of.KIND for of in _CLASSES)
"""The classes, in the order of the suite."""

SUITE: dict[str, Callable[[], Problem]] = {name: make for of in _CLASSES for name, make in of.MEMBERS.items()}
"""What makes each problem, by name, the problems of a class together."""
