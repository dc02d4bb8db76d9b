"""A box whose columns are either continuous or belong to a *block*; a function may forbid some of its points.

A block is a group of columns that takes one of a few rows of values: an integer's grid, a categorical's one-hot rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from believer.arrays import SAME_POINT, Array, BoolArray, IntArray, frozen, near_any, read_only
from believer.numerics.sampling import sobol
from believer.space.region import enough_lawful, last_lawful
from believer.space.scale import nearest_in

FINE = 100
"""A grid of so many values is as good as continuous."""

MAX_TRIED = 24
"""The largest number of values of a scale that are all tried."""

MAX_PAIRED = 12
"""The largest number of scales for which pairs are moved at once; there are 264 such pairs."""

_MANY_PAIRS = 1_000_000
"""From this number of pairs on, points of a finite box are compared in linear time."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Columns ``start:stop`` take one of the rows of ``values`` (k, stop - start).

    ``ordered``: whether neighboring rows are neighbors on a scale (integers, steps); otherwise all rows are equally
    near.
    """

    start: int
    stop: int
    values: Array
    ordered: bool
    _halves: Array = field(init=False, repr=False)
    """|v|²/2 of each row v of the values, if they are not ordered."""

    def __post_init__(self) -> None:
        values = self.values[:0] if self.ordered else self.values
        object.__setattr__(self, "_halves", 0.5 * np.square(values).sum(axis=1))

    def nearest(self, X: Array) -> IntArray:
        """The row of ``values`` nearest to each row of ``X[:, start:stop]``, as indices (m,)."""
        part = X[:, self.start : self.stop]
        if self.ordered:
            return nearest_in(self.values[:, 0], part[:, 0])
        # Where |x - v|² is least, x·v - |v|²/2 is largest.
        nearest: IntArray = (part @ self.values.T - self._halves).argmax(axis=1)
        return nearest

    def alternatives(self, X: Array) -> Array:
        """Points (s, a, d): each row of ``X`` (s, d) with a values of the block, its own among them.

        These are all values, or on a long scale the values at distances 1, 2, 4, ... both ways, so that every value can
        be reached in a few moves.
        """
        k, values = len(self.values), self.values
        if k > MAX_TRIED and self.ordered:
            there = 2 ** np.arange(k.bit_length())
            values = values[np.minimum(np.maximum(self.nearest(X)[:, None] + np.append(-there, there), 0), k - 1)]
        points = X.repeat(values.shape[-2], axis=0).reshape(len(X), -1, X.shape[1])
        points[:, :, self.start : self.stop] = values
        return points


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A :class:`~believer.space.region.Region`: a box with discrete blocks and an optional feasibility test.

    Parameters
    ----------
    lower, upper : the box, (d,) each.
    blocks : columns that take one of a few values.
    feasible : ``(m, d) -> (m,) bool`` says which points are allowed; None allows all.
    rounding : rounds points (m, d) in columns with too many values for a block; None if there are none.
    tolerance : coordinates that differ by no more than this are the same; one number, or one for each column (d,).

    Attributes
    ----------
    dim : number of columns d.
    size : the number of points of the box, feasible or not; None if a column is continuous.
    continuous : a mask (d,) of the columns that have width and no block.
    decisions : None for each continuous column, then the number of values of each block.
    """

    lower: Array
    upper: Array
    blocks: tuple[Block, ...] = ()
    feasible: Callable[[Array], BoolArray] | None = None
    rounding: Callable[[Array], Array] | None = None
    tolerance: float | Array = SAME_POINT
    _points: Array | None = field(init=False, repr=False, default=None)
    dim: int = field(init=False, repr=False)
    size: int | None = field(init=False, repr=False)
    continuous: BoolArray = field(init=False, repr=False)
    _free: BoolArray = field(init=False, repr=False)
    _scales: tuple[Block, ...] = field(init=False, repr=False)
    decisions: tuple[int | None, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        moves = self.upper > self.lower
        for block in self.blocks:
            moves[block.start : block.stop] = False
        moves.flags.writeable = False
        smooth, counts = int(np.count_nonzero(moves)), tuple(len(block.values) for block in self.blocks)
        scales = tuple(block for block in self.blocks if block.ordered and len(block.values) > 1)
        object.__setattr__(self, "dim", len(self.lower))
        object.__setattr__(self, "size", None if smooth else math.prod(counts))
        object.__setattr__(self, "continuous", moves)
        object.__setattr__(self, "_free", moves[None, :])
        object.__setattr__(self, "_scales", scales)
        object.__setattr__(self, "decisions", (None,) * smooth + counts)

    @staticmethod
    def cube(d: int) -> Box:
        """[0, 1]^d, all columns continuous."""
        return Box(frozen(np.zeros(d)), frozen(np.ones(d)))

    @property
    def metric(self) -> BoolArray:
        """The continuous columns (d,), and those of grids with very many values."""
        free = self.continuous.copy()
        for block in self.blocks:
            free[block.start : block.stop] |= block.ordered and len(block.values) >= FINE
        return free

    @property
    def freedom(self) -> int:
        """The number of columns with width that do not belong to categories."""
        free = self.upper > self.lower
        for block in self.blocks:
            free[block.start : block.stop] &= block.ordered
        return int(free.sum())

    @property
    def ruled(self) -> bool:
        """Whether there is a feasibility test."""
        return self.feasible is not None

    @property
    def rounded(self) -> bool:
        """Whether there are columns with more values than a block lists."""
        return self.rounding is not None

    def points(self) -> Array:
        """Every feasible point of a finite box, (n, d); computed once."""
        if self._points is None:
            points = self.lower[None, :].copy()
            for block in self.blocks:
                k = len(block.values)
                points = points.repeat(k, axis=0)
                points[:, block.start : block.stop] = np.tile(block.values, (len(points) // k, 1))
            object.__setattr__(self, "_points", read_only(points[self.holds(points)]))
        assert self._points is not None
        return self._points

    def spread(self, U: Array) -> Array:
        """Points of the box from uniform numbers ``U`` (m, d) in [0, 1).

        The first column of a block is read as a position among its values, so that a space-filling ``U`` uses every
        value equally often.
        """
        out = self.lower + U * (self.upper - self.lower)
        for block in self.blocks:
            k = len(block.values)
            index = np.minimum((U[:, block.start] * k).astype(np.int64), k - 1)
            out[:, block.start : block.stop] = block.values[index]
        return out if self.rounding is None else self.rounding(out)

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` feasible Sobol points from ``rng``. If few points are feasible, there may be fewer, and some are
        uniform draws."""
        unread = [column for block in self.blocks for column in range(block.start + 1, block.stop)]  # by spread
        U = sobol(m, self.dim - len(unread), rng)
        if unread:
            U, read = np.zeros((m, self.dim)), U
            U[:, np.delete(np.arange(self.dim), unread)] = read
        points = self.spread(U)
        if self.feasible is None:
            return points
        return enough_lawful(self, points, m, rng)

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` neighbors of each row of ``X`` (k, d), as (k m, d), from ``rng``; infeasible ones are left out.

        In a neighbor, a random share of the columns moves by a normal step of one of the ``widths``; a block is redrawn
        with the probability with which a column moves.
        """
        start = np.repeat(self.project(X) if self.blocks else X, m, axis=0)
        share = np.array((1.0, 0.5, min(1.0, 2.0 / self.dim)))[rng.integers(3, size=(len(start), 1))]
        moved = rng.random(start.shape) < share
        width = np.array(widths)[rng.integers(len(widths), size=(len(start), 1))] * (self.upper - self.lower)
        close = np.where(moved, start + width * rng.standard_normal(start.shape), start)
        close = np.minimum(np.maximum(close, self.lower), self.upper)
        for block in self.blocks:
            place, redraw = slice(block.start, block.stop), moved[:, block.start].nonzero()[0]
            close[:, place] = start[:, place]
            close[redraw, place] = block.values[rng.integers(0, len(block.values), len(redraw))]
        close = close if self.rounding is None else self.rounding(close)
        return close if self.feasible is None else close[self.feasible(close)]

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """``X`` (m, d) moved into the box and onto the nearest value of each block.

        ``inside`` (m, d) are feasible points: if a projection is not feasible, the result is the last feasible point of
        a bisection between the two.
        """
        out = np.minimum(np.maximum(X, self.lower), self.upper)
        for block in self.blocks:
            out[:, block.start : block.stop] = block.values[block.nearest(out)]
        out = out if self.rounding is None else self.rounding(out)
        if inside is None or self.feasible is None:
            return out
        return last_lawful(self, inside, out)

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """The continuous columns, with ``relaxed`` also those of ordered blocks; (1, d), the same for all rows of
        ``X``."""
        if not relaxed or not self._scales:
            return self._free
        moves = self._free.copy()
        for block in self._scales:
            moves[:, block.start : block.stop] = True
        return moves

    def box(self) -> tuple[Array, Array]:
        """The box itself."""
        return self.lower, self.upper

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d), one block after the other."""
        for block in self.blocks:
            if len(block.values) > 1:
                yield block.alternatives(X)

    def neighbors(self, x: Array) -> Array:
        """Feasible points (m, d) that differ from ``x`` (d,) by one value on a scale, or on two scales if there are
        few."""
        steps = _steps(len(self._scales))
        points = np.repeat(x[None, :], len(steps), axis=0)
        for block, step in zip(self._scales, steps.T, strict=True):
            values = int(block.nearest(x[None, :])[0]) + step
            points[:, block.start] = block.values[np.minimum(np.maximum(values, 0), len(block.values) - 1), 0]
        return points[self.holds(points)]

    def holds(self, X: Array) -> BoolArray:
        """A mask of the feasible points among ``X`` (m, d), which are in the box."""
        return np.ones(len(X), dtype=bool) if self.feasible is None else self.feasible(X)

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the points ``X`` (m, d) of the box that are the same point as a row of ``others`` (k, d)."""
        if len(X) * len(others) > _MANY_PAIRS and self.size is not None:
            return self._listed_among(X, others)
        return near_any(X, others, self.tolerance)

    def _listed_among(self, X: Array, others: Array) -> BoolArray:
        """``among`` in a finite box, in linear time."""
        # A column without a block has one value, which points from elsewhere may have only up to rounding.
        listed = np.zeros(self.dim, dtype=bool)
        for block in self.blocks:
            listed[block.start : block.stop] = True
        tolerance = np.broadcast_to(self.tolerance, self.dim)[~listed]
        here = others[(np.abs(others[:, ~listed] - self.lower[~listed]) <= tolerance).all(axis=1)]
        # The other columns lie on a grid, so equal points are equal after rounding, and a set finds them.
        taken = {row.tobytes() for row in np.round(here[:, listed], 9) + 0.0}
        return np.array([row.tobytes() in taken for row in np.round(X[:, listed], 9) + 0.0], dtype=bool)


@lru_cache(maxsize=8)
def _steps(scales: int) -> IntArray:
    """Steps (m, scales) of -1, 0 and 1 along one scale, and along two where there are few."""
    one = np.vstack([np.eye(scales, dtype=np.intp), -np.eye(scales, dtype=np.intp)])
    i, j = np.triu_indices(len(one) if scales <= MAX_PAIRED else 0, 1)
    both = one[i] + one[j]
    steps = np.vstack([one, both[both.any(axis=1)]])
    steps.flags.writeable = False
    return steps
