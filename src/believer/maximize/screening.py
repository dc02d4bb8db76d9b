"""Candidates: where a search looks before it climbs."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.maximize.objective import Search, beside

MOST_CANDIDATES, MOST_NEIGHBORS = 100_000, 10_000
"""Of a search; all are kept, and evaluated, at once."""


def candidates(
    count: int, search: Search, neighbors: int, widths: tuple[float, ...], rng: np.random.Generator
) -> Array:
    """Space-filling points, and neighbors of the good points so far, all allowed.

    Where a rule by function allows none of them, points beside those that are known.
    """
    X = search.region.sample(count, rng)
    if neighbors and len(search.around):
        X = np.vstack([search.region.near(search.around, neighbors, widths, rng), X])
    if not len(X) and search.region.ruled:
        return beside(search.region, np.vstack([search.avoid, search.around]), search.avoid, rng)
    return X
