"""What a problem is: a space, a function of its params to minimize, and what is known about the optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from believer.arrays import Array
from believer.space import Space


@dataclass(frozen=True, slots=True)
class Problem:
    """``function(params) -> float``, to be minimized over ``space``.

    ``optimum`` is the least value and ``optimizer`` the params that reach it; None where they are not known.
    """

    name: str
    space: Space
    function: Callable[[dict[str, Any]], float]
    optimum: float | None = None
    optimizer: tuple[dict[str, Any], ...] | None = field(default=None, hash=False)

    def __call__(self, params: dict[str, Any]) -> float:
        """The value at ``params``; InvalidInput when they do not belong to the space."""
        return float(self.function(self.space.check(params)))

    def evaluate(self, X: npt.ArrayLike) -> Array:
        """Values (m,) at encoded points ``X`` (m, dim) of the unit cube."""
        return np.array([float(self.function(params)) for params in self.space.decode(X)], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class OfRow:
    """A function of params from one of rows: ``rows`` maps (m, d) to (m,), a point's values being its row."""

    rows: Callable[[Array], Array]

    def __call__(self, params: dict[str, Any]) -> float:
        """The value at ``params``, whose order is that of the columns."""
        return float(self.rows(np.array([list(params.values())], dtype=np.float64))[0])
