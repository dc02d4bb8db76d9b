"""What a maximizer is given and gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from believer.arrays import Array, near_any
from believer.errors import SpaceExhausted
from believer.region import Region

ENUMERATE_UP_TO = 4096
"""A finite region with no more points than this is searched exhaustively."""


class Objective(Protocol):
    """A function over the encoded cube, to be maximized."""

    @property
    def has_gradient(self) -> bool:
        """Whether :meth:`value_with_gradient` works."""
        ...

    def value(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        ...

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at ``X`` (m, d)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Where to search, and what is known of the place.

    around: good points so far (k, d), whose neighborhoods deserve candidates.
    avoid: points (k, d) that must not be proposed again.
    """

    region: Region
    around: Array
    avoid: Array


@dataclass(frozen=True, slots=True, eq=False)
class Maximum:
    """The point chosen (d,), its value, and how many better points were passed over as duplicates."""

    x: Array
    value: float
    passed_over: int


class Maximizer(Protocol):
    """A frozen recipe for maximizing an objective."""

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """The best point found that is not to be avoided."""
        ...


def first_distinct(X: Array, values: Array, avoid: Array) -> Maximum | None:
    """The best row of ``X`` (m, d) that is not among ``avoid``; None when all are.

    Rows that lie on each other count once among those passed over.
    """
    order = np.argsort(-values, kind="stable")
    passed: list[int] = []
    for row in order:
        if not near_any(X[row : row + 1], avoid)[0]:
            return Maximum(X[row], float(values[row]), len(passed))
        if not near_any(X[row : row + 1], X[passed])[0]:
            passed.append(int(row))
    return None


def search_exhaustively(objective: Objective, search: Search) -> Maximum | None:
    """The best of all points of a small finite region; None when the region is not one."""
    size = search.region.size
    if size is None or size > ENUMERATE_UP_TO:
        return None
    points = search.region.enumerate()
    found = first_distinct(points, objective.value(points), search.avoid) if len(points) else None
    if found is None:
        raise SpaceExhausted(f"all {len(points)} points of this finite space were handed out already.", left=0)
    return found


def any_distinct(objective: Objective, search: Search, rng: np.random.Generator, tries: int = 64) -> Maximum:
    """The best of some random points that are not to be avoided: what is left when every good one is taken."""
    for attempt in range(tries):
        points = search.region.spread(rng.random((64 << min(attempt, 6), search.region.dim)))
        points = points[search.region.allows(points)]
        points = points[~near_any(points, search.avoid)]
        if len(points):
            values = objective.value(points)
            best = int(np.argmax(values))
            return Maximum(points[best], float(values[best]), 1)
    raise SpaceExhausted(
        "no allowed point that was not handed out already could be found; the constraint may leave none.", left=0
    )
