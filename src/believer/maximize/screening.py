"""Candidates: where a search looks before it climbs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from believer.arrays import Array, IntArray
from believer.maximize.objective import Search
from believer.numerics.sampling import sobol
from believer.space.region import Block, Region

MOST_CANDIDATES, MOST_NEIGHBORS = 100_000, 10_000
"""Of a search; all are kept, and evaluated, at once."""

FEASIBLE_TRIES = 12
"""Rounds of ever more draws before a constraint counts as satisfied nowhere."""

MOST_TRIED = 24
"""Values of a scale, at most, that are all tried."""

MOST_PAIRED = 12
"""Scales, at most, of which two move at once: their pairs are 264."""


def near(points: Array, count: int, region: Region, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
    """``count`` neighbors of each of the ``points`` (k, d), as (k * count, d), all in the region.

    A neighbor moves a random share of the columns by a normal step of one of the ``widths`` and redraws a block with
    the chance that a column has to move.
    """
    start = np.repeat(region.snap(points) if region.blocks else points, count, axis=0)
    share = np.array((1.0, 0.5, min(1.0, 2.0 / region.dim)))[rng.integers(3, size=(len(start), 1))]
    moved = rng.random(start.shape) < share
    width = np.array(widths)[rng.integers(len(widths), size=(len(start), 1))] * (region.upper - region.lower)
    X = np.where(moved, start + width * rng.standard_normal(start.shape), start)
    X = np.minimum(np.maximum(X, region.lower), region.upper)
    for block in region.blocks:
        place, redraw = slice(block.start, block.stop), moved[:, block.start].nonzero()[0]
        X[:, place] = start[:, place]
        X[redraw, place] = block.values[rng.integers(0, len(block.values), len(redraw))]
    return X if region.settle is None else region.settle(X)


def spread(count: int, region: Region, rng: np.random.Generator) -> Array:
    """``count`` space-filling points of the region that satisfy its constraint (fewer where it is hard to satisfy)."""
    read = np.ones(region.dim, dtype=bool)
    for block in region.blocks:  # of a block the first column alone is read
        read[block.start + 1 : block.stop] = False
    U = np.zeros((count, region.dim))
    U[:, read] = sobol(count, int(np.count_nonzero(read)), rng)
    points = region.spread(U)
    if region.feasible is None:
        return points
    points = points[region.allows(points)]
    for attempt in range(FEASIBLE_TRIES):
        if len(points) >= count // 4:
            break
        more = region.spread(rng.random((count << min(attempt, 4), region.dim)))
        points = np.vstack([points, more[region.allows(more)]])
    return points[:count]


def candidates(
    count: int, search: Search, neighbors: int, widths: tuple[float, ...], rng: np.random.Generator
) -> Array:
    """Space-filling points, and neighbors of the good points so far, all allowed."""
    X = spread(count, search.region, rng)
    if neighbors and len(search.around):
        close = near(search.around, neighbors, search.region, widths, rng)
        X = np.vstack([close[search.region.allows(close)], X])
    return X


def alternatives(X: Array, block: Block) -> Array:
    """Points (s, a, d): each row of ``X`` (s, d) with a values of a block, its own among them.

    All values; of a long scale those 1, 2, 4, ... away both ways, which reach every one in a few moves.
    """
    k, values = len(block.values), block.values
    if k > MOST_TRIED and block.ordered:
        there = 2 ** np.arange(k.bit_length())
        values = values[np.minimum(np.maximum(block.nearest(X)[:, None] + np.append(-there, there), 0), k - 1)]
    points = X.repeat(values.shape[-2], axis=0).reshape(len(X), -1, X.shape[1])
    points[:, :, block.start : block.stop] = values
    return points


def neighbors(x: Array, region: Region) -> Array:
    """Allowed points (m, d) that differ from ``x`` (d,) by one value on a scale, or, of few scales, on two at once."""
    scales = [block for block in region.blocks if block.ordered and len(block.values) > 1]
    steps = _steps(len(scales))
    points = np.repeat(x[None, :], len(steps), axis=0)
    for block, step in zip(scales, steps.T, strict=True):
        values = int(block.nearest(x[None, :])[0]) + step
        points[:, block.start] = block.values[np.minimum(np.maximum(values, 0), len(block.values) - 1), 0]
    return points[region.allows(points)]


@lru_cache(maxsize=8)
def _steps(scales: int) -> IntArray:
    """Steps (m, scales) of -1, 0 and 1 along one scale, and along two where there are few."""
    one = np.vstack([np.eye(scales, dtype=np.intp), -np.eye(scales, dtype=np.intp)])
    i, j = np.triu_indices(len(one) if scales <= MOST_PAIRED else 0, 1)
    both = one[i] + one[j]
    steps = np.vstack([one, both[both.any(axis=1)]])
    steps.flags.writeable = False
    return steps
