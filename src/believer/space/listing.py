"""All points of a finite space in which linear rules hold, unless there are too many."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.space.box import Box
from believer.space.geometry import KEPT, Geometry
from believer.space.rounding import as_it_is

MAX_LISTED = 100_000
_MAX_HELD = 2_000_000
"""The largest number of partial rows."""


def listed(rules: Geometry, rest: Box) -> Array | None:
    """Every point (n, d) that keeps the rules; None if there are more than 100,000.

    Values are added column by column, and partial rows that can no longer keep the rules are dropped at once. Every
    column in the ``rules`` has a grid, is held, or follows from the columns with grids; ``rest`` is a finite box for
    the other columns.
    """
    A, j, smooth = rules.A, len(rules.columns), rules.moves & ~rules.gridded
    values = [rules.lower[i : i + 1] if grid is None else grid for i, grid in enumerate(rules.values)]
    widest = [v if not smooth[i] else np.array([rules.lower[i], rules.upper[i]]) for i, v in enumerate(values)]
    ends = [(A[:, i] * v[0], A[:, i] * v[-1]) for i, v in enumerate(widest)]
    ends = [(np.minimum(*end), np.maximum(*end)) for end in ends]
    points, sums = np.zeros((1, 0)), np.zeros((1, len(A)))
    for i, grid in enumerate(values):
        if len(points) * len(grid) > _MAX_HELD:
            return None
        points = np.hstack([np.repeat(points, len(grid), axis=0), np.tile(grid, len(points))[:, None]])
        sums = np.repeat(sums, len(grid), axis=0) + points[:, -1:] * A[:, i] * (not smooth[i])
        later = [end for k, end in enumerate(ends) if k > i or smooth[k]]
        least, most = (sum((end[k] for end in later), np.zeros(len(A))) for k in (0, 1))
        kept = ((sums + least <= rules.high + KEPT) & (sums + most >= rules.low - KEPT)).all(axis=1)
        for group, k in rules.groups:
            kept &= (points[:, group[(group <= i) & ~smooth[group]]] > 0.0).sum(axis=1) <= k
        points, sums = points[kept], sums[kept]
        if len(points) > MAX_LISTED:
            return None
    if smooth.any():
        points, kept = as_it_is(rules, points)
        points = points[kept]
    out = rest.lower[None, :].copy()
    for block in rest.blocks:
        if len(out) * len(block.values) * len(points) > MAX_LISTED:
            return None
        k = len(block.values)
        out = out.repeat(k, axis=0)
        out[:, block.start : block.stop] = np.tile(block.values, (len(out) // k, 1))
    rows = len(out)
    out = np.repeat(out, len(points), axis=0)
    out[:, rules.columns] = np.tile(points, (rows, 1)).reshape(-1, j)
    return out
