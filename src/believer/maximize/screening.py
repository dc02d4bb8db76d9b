"""Candidates: where a search looks before it climbs."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.maximize.objective import Search

MOST_CANDIDATES, MOST_NEIGHBORS = 100_000, 10_000
"""Of a search; all are kept, and evaluated, at once."""


def candidates(
    count: int, search: Search, neighbors: int, widths: tuple[float, ...], rng: np.random.Generator
) -> Array:
    """Space-filling points, and neighbors of the good points so far, all allowed."""
    X = search.region.sample(count, rng)
    if neighbors and len(search.around):
        X = np.vstack([search.region.near(search.around, neighbors, widths, rng), X])
    return X
