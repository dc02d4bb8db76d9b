"""The part of the cube in which linear rules hold, as arrays.

=======  ==============================================================================
symbol   meaning
=======  ==============================================================================
j        number of columns that are in some rule
r        number of rules that are sums
A        their coefficients in the cube (r, j), the largest of each row 1
group    columns of which no more than k may differ from 0
=======  ==============================================================================

Encoding is affine for numbers on a plain scale, x = low + u (high - low), so that a rule in the user's units is one in
the cube. Rules that are no equations are kept by a margin: rounding to short decimals must not break them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.space.projection import RuleBlock

MARGIN = 1e-10
KEPT = 1e-9
"""Rules that are no equations are kept with so much to spare, where continuous columns are in them; and a point keeps a
rule that it fails by no more."""
EXACT = 0.5 * MARGIN
"""What a projected point may fail a rule by: equations are made exact in the user's units, the others have a margin."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Points u (j,) of a box with low ≤ A u ≤ high, on grids, with at most so many parts.

    Attributes
    ----------
    columns : of the space, those that are in some rule (j,).
    lower, upper : the box, (j,) each.
    values : of each column the positions of its grid, in order; None where it is continuous, or held.
    A, low, high : the sums, (r, j) and (r,) each.
    groups : pairs of columns, from 0 to j - 1, and how many of them may differ from 0.
    center : of the largest ball that fits in where there were no grids and no groups, (j,).
    known : a point (j,) that keeps everything, grids and groups too.
    """

    columns: IntArray
    lower: Array
    upper: Array
    values: tuple[Array | None, ...]
    A: Array
    low: Array
    high: Array
    groups: tuple[tuple[IntArray, int], ...]
    center: Array
    known: Array

    @cached_property
    def equations(self) -> BoolArray:
        """A mask (r,) of the sums that must have one exact value."""
        return np.equal(self.low, self.high)

    @cached_property
    def moves(self) -> BoolArray:
        """A mask (j,) of the columns that have width."""
        return np.greater(self.upper, self.lower)

    @cached_property
    def gridded(self) -> BoolArray:
        """A mask (j,) of the columns that have a grid."""
        return np.array([values is not None for values in self.values], dtype=bool)

    @cached_property
    def slack(self) -> Array:
        """How far (j,) a column may move that takes what rounding leaves of an equation; 0 for those that take none."""
        A = np.abs(np.where(self.equations[:, None] & ~self.gridded, self.A, 0.0))
        found: Array = np.where(A > 0.0, KEPT / np.where(A > 0.0, A, 1.0), 0.0).max(axis=0, initial=0.0)
        return found

    @cached_property
    def parts(self) -> tuple[RuleBlock, ...]:
        """Sums that share columns with each other, by rows, and their columns; one after the other."""
        left, found = list(range(len(self.A))), []
        while left:
            rows = [left.pop(0)]
            columns = self.A[rows[0]] != 0.0
            while more := [r for r in left if (columns & (self.A[r] != 0.0)).any()]:
                rows += more
                left = [r for r in left if r not in more]
                columns = (self.A[rows] != 0.0).any(axis=0)
            found.append((np.array(sorted(rows), dtype=np.intp), np.flatnonzero(columns)))
        return tuple(found)

    @cached_property
    def loose(self) -> bool:
        """Whether there are neither grids nor groups."""
        return not (self.groups or self.gridded.any())

    def directions(self, columns: BoolArray) -> Array:
        """An orthonormal basis (f, j) of the ways that lead from lawful points to others, along ``columns`` (j,)."""
        E = self.A[np.ix_(self.equations, columns)]
        basis = np.zeros((0, len(columns)))
        if columns.any():
            _, s, V = np.linalg.svd(E) if len(E) else (None, np.zeros(0), np.eye(int(columns.sum())))
            free = V[int((s > 1e-9 * max(1.0, s.max(initial=0.0))).sum()) :]
            basis = np.zeros((len(free), len(columns)))
            basis[:, columns] = free
        return basis
