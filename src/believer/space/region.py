"""Where a point may lie: the encoded cube as plain data, for maximizers that must not know about parameters.

A region is a box whose columns are either continuous or belong to a *block*: a group of columns that takes one of a
few rows of values (an integer's grid, a categorical's one-hot rows). An optional predicate marks infeasible points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from believer.arrays import SAME_POINT, Array, BoolArray, IntArray, frozen, near_any, read_only


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Columns ``start:stop`` take one of the rows of ``values`` (k, stop - start).

    ``ordered``: neighboring rows are neighbors on a scale (integers, steps); otherwise every row is as near as any.
    """

    start: int
    stop: int
    values: Array
    ordered: bool
    _halves: Array = field(init=False, repr=False)
    """|v|²/2 of each row of values, where they are not ordered."""

    def __post_init__(self) -> None:
        values = self.values[:0] if self.ordered else self.values
        object.__setattr__(self, "_halves", 0.5 * np.square(values).sum(axis=1))

    def nearest(self, X: Array) -> IntArray:
        """Row of ``values`` nearest to each row of ``X[:, start:stop]``, as indices (m,)."""
        part = X[:, self.start : self.stop]
        if self.ordered:
            at, grid = part[:, 0], self.values[:, 0]
            right = np.minimum(np.maximum(grid.searchsorted(at), 1), len(grid) - 1)
            left = np.maximum(right - 1, 0)
            index: IntArray = np.where(at - grid[left] <= grid[right] - at, left, right)
            return index
        # Where |x - v|² is least, x·v - |v|²/2 is largest.
        nearest: IntArray = (part @ self.values.T - self._halves).argmax(axis=1)
        return nearest


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A box with discrete blocks and an optional feasibility test.

    Parameters
    ----------
    lower, upper : the box, (d,) each.
    blocks : columns that take one of a few values.
    feasible : ``(m, d) -> (m,) bool``, which points are allowed; None allows all.
    settle : rounds points (m, d) to values too many for a block; None where there are no such columns.
    tolerance : coordinates that differ by no more, for all columns or for each (d,), are the same.
    """

    lower: Array
    upper: Array
    blocks: tuple[Block, ...] = ()
    feasible: Callable[[Array], BoolArray] | None = None
    settle: Callable[[Array], Array] | None = None
    tolerance: float | Array = SAME_POINT
    _points: Array | None = field(init=False, repr=False, default=None)

    @staticmethod
    def cube(d: int) -> Region:
        """[0, 1]^d, all columns continuous."""
        return Region(frozen(np.zeros(d)), frozen(np.ones(d)))

    @property
    def dim(self) -> int:
        """Number of columns d."""
        return len(self.lower)

    @property
    def continuous(self) -> BoolArray:
        """Which columns (d,) a gradient step may move."""
        moves = self.upper > self.lower
        for block in self.blocks:
            moves[block.start : block.stop] = False
        return moves

    @property
    def size(self) -> int | None:
        """How many points the box holds, feasible or not; None when a column is continuous."""
        if self.continuous.any():
            return None
        return math.prod(len(block.values) for block in self.blocks)

    def allows(self, X: Array) -> BoolArray:
        """Which rows of ``X`` (m, d) satisfy the constraint."""
        return np.ones(len(X), dtype=bool) if self.feasible is None else self.feasible(X)

    def among(self, X: Array, others: Array) -> BoolArray:
        """Which rows of ``X`` (m, d) are the same point as some row of ``others`` (k, d)."""
        return near_any(X, others, self.tolerance)

    def snap(self, X: Array) -> Array:
        """``X`` (m, d) moved into the box and onto the nearest value of each block."""
        out = np.minimum(np.maximum(X, self.lower), self.upper)
        for block in self.blocks:
            out[:, block.start : block.stop] = block.values[block.nearest(out)]
        return out if self.settle is None else self.settle(out)

    def spread(self, U: Array) -> Array:
        """Points of the region from uniform numbers ``U`` (m, d) in [0, 1).

        A block reads its first column as a position among its values, so that space-filling ``U`` uses every value
        equally often.
        """
        out = self.lower + U * (self.upper - self.lower)
        for block in self.blocks:
            k = len(block.values)
            index = np.minimum((U[:, block.start] * k).astype(np.int64), k - 1)
            out[:, block.start : block.stop] = block.values[index]
        return out if self.settle is None else self.settle(out)

    def enumerate(self) -> Array:
        """Every point of a finite region, feasible ones only, as (size, d); listed once."""
        if self._points is None:
            points = self.lower[None, :].copy()
            for block in self.blocks:
                k = len(block.values)
                points = points.repeat(k, axis=0)
                points[:, block.start : block.stop] = np.tile(block.values, (len(points) // k, 1))
            object.__setattr__(self, "_points", read_only(points[self.allows(points)]))
        assert self._points is not None
        return self._points
