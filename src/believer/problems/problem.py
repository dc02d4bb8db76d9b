"""A problem: a space, a function of its params to minimize, and what is known about the optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from believer.arrays import Array
from believer.space import Float, Space

Evaluable: TypeAlias = Callable[[dict[str, Any]], float]
"""The value at params, to be minimized."""

ProblemRows: TypeAlias = Callable[[Array], Array]
"""Values (m,) at points (m, d), each the same to the bit whatever rows stand beside it."""


@runtime_checkable
class Seeded(Protocol):
    """A function whose results depend on a seed."""

    def seeded(self, seed: int) -> Evaluable:
        """A copy with another seed, as if it had never been called."""


@dataclass(frozen=True, slots=True)
class Problem:
    """``function(params) -> float``, to be minimized over ``space``.

    ``optimum`` is the least value and ``optimizer`` the params that reach it; None if they are not known. Where
    results have noise, ``truth`` is the function without it, of which the optimum is; None if there is no noise.
    ``kind`` is the class of the suite that it belongs to, if any.
    """

    name: str
    space: Space
    function: Evaluable
    optimum: float | None = None
    optimizer: tuple[dict[str, Any], ...] | None = field(default=None, hash=False)
    kind: str = ""
    truth: Evaluable | None = None

    def __call__(self, params: dict[str, Any]) -> float:
        """The value at ``params``; InvalidInput when they do not belong to the space."""
        return float(self.function(self.space.check(params)))

    def evaluate(self, X: npt.ArrayLike) -> Array:
        """Values (m,) at encoded points ``X`` (m, dim) of the unit cube."""
        return np.array([float(self.function(params)) for params in self.space.decode(X)], dtype=np.float64)

    def seeded(self, seed: int) -> Problem:
        """The problem whose noise is that of ``seed``, not drawn from yet; itself where there is no noise."""
        return replace(self, function=self.function.seeded(seed)) if isinstance(self.function, Seeded) else self

    def without_noise(self) -> Problem:
        """The problem whose function is the truth."""
        return self if self.truth is None else replace(self, function=self.truth, truth=None)


@dataclass(frozen=True, slots=True)
class OfRow:
    """A function of params from one of rows: ``rows`` maps (m, d) to (m,), a point's values being its row."""

    rows: ProblemRows

    def __call__(self, params: dict[str, Any]) -> float:
        """The value at ``params``, whose order is that of the columns."""
        return float(self.rows(np.array([list(params.values())], dtype=np.float64))[0])


def floats(
    name: str,
    rows: ProblemRows,
    box: Sequence[tuple[float, float]],
    optimum: float,
    best: Sequence[tuple[float, ...]],
    kind: str = "",
) -> Problem:
    """A problem of real numbers x0, x1, ... in ``box``, with its optimum at each of ``best``."""
    space = Space({f"x{j}": Float(low, high) for j, (low, high) in enumerate(box)})
    optimizer = tuple(dict(zip(space.names, x, strict=True)) for x in best)
    return Problem(name, space, OfRow(rows), optimum, optimizer, kind)
