"""Candidates: where a search looks before it climbs."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.maximize.objective import Search
from believer.numerics.sampling import sobol
from believer.space.region import Block, Region

MOST_CANDIDATES, MOST_NEIGHBORS = 100_000, 10_000
"""Of a search; all are kept, and evaluated, at once."""

FEASIBLE_TRIES = 12
"""Rounds of ever more draws before a constraint counts as satisfied nowhere."""


def near(points: Array, count: int, region: Region, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
    """``count`` neighbors of each of the ``points`` (k, d), as (k * count, d), all in the region.

    A neighbor moves a random share of the columns by a normal step of one of the ``widths`` and redraws a block with
    the chance that a column has to move.
    """
    d = region.dim
    X = np.repeat(points, count, axis=0)
    share = np.array((1.0, 0.5, min(1.0, 2.0 / d)))[rng.integers(3, size=(len(X), 1))]
    moved = rng.random(X.shape) < share
    width = np.array(widths)[rng.integers(len(widths), size=(len(X), 1))] * (region.upper - region.lower)
    X = np.where(moved, X + width * rng.standard_normal(X.shape), X)
    for block in region.blocks:
        redraw = moved[:, block.start]
        X[redraw, block.start : block.stop] = block.values[rng.integers(0, len(block.values), int(redraw.sum()))]
    return region.snap(X)


def spread(count: int, region: Region, rng: np.random.Generator) -> Array:
    """``count`` space-filling points of the region that satisfy its constraint (fewer where it is hard to satisfy)."""
    points = region.spread(sobol(count, region.dim, rng))
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


def alternatives(x: Array, block: Block, most: int = 24) -> Array:
    """Points (k, d) that differ from ``x`` (d,) in one block: all of its values, or the nearer ones of a long scale."""
    k = len(block.values)
    here = int(block.nearest(x[None, :])[0])
    if k <= most or not block.ordered:
        rows = np.delete(np.arange(k), here)
    else:
        # Steps of 1, 2, 4, ... both ways reach every value in a few moves.
        steps = 2 ** np.arange(int(np.log2(k)) + 1)
        rows = np.unique(np.concatenate([here - steps, here + steps]))
        rows = rows[(rows >= 0) & (rows < k)]
    out = np.repeat(x[None, :], len(rows), axis=0)
    out[:, block.start : block.stop] = block.values[rows]
    return out
