"""The part of the cube in which linear rules hold, as arrays.

=======  ==============================================================================
symbol   meaning
=======  ==============================================================================
j        number of columns in rules
r        number of rules that are sums
A        their coefficients in the cube (r, j), the largest of each row 1
group    columns of which at most k may differ from 0
=======  ==============================================================================

The encoding of numbers on a linear scale is affine, x = low + u (high - low), so that a linear rule in the user's units
is also linear in the cube. Inequalities are kept with a margin, because rounding to short decimals must not violate
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.space.projection import RuleBlock

MARGIN = 1e-10
KEPT = 1e-9
"""The margin of inequalities with continuous columns, and the largest violation at which a point still keeps a rule."""
EXACT = 0.5 * MARGIN
"""The largest violation of a rule by a projected point: equations are later made exact in the user's units, and
inequalities have a margin."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """The points u (j,) of a box with low ≤ A u ≤ high, on grids, and with a limited number of parts.

    Attributes
    ----------
    columns : the columns of the space that are in rules, (j,).
    lower, upper : the box, (j,) each.
    values : for each column the positions of its grid, in order; None if it is continuous or held.
    A, low, high : the coefficients (r, j) and the bounds (r,) of the sums.
    groups : pairs of columns, from 0 to j - 1, and the number of them that may differ from 0.
    center : the center (j,) of the largest ball in the set, without regard to grids and groups.
    known : a point (j,) that keeps all rules, including grids and groups.
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
        """The distances (j,) by which columns may move to absorb the rounding of an equation; 0 for columns that do
        not."""
        A = np.abs(np.where(self.equations[:, None] & ~self.gridded, self.A, 0.0))
        found: Array = np.where(A > 0.0, KEPT / np.where(A > 0.0, A, 1.0), 0.0).max(axis=0, initial=0.0)
        return found

    @cached_property
    def parts(self) -> tuple[RuleBlock, ...]:
        """The connected parts: the rows of sums that share columns with each other, and their columns."""
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
        """An orthonormal basis (f, j) of the directions that keep all equations, along ``columns`` (j,)."""
        E = self.A[np.ix_(self.equations, columns)]
        basis = np.zeros((0, len(columns)))
        if columns.any():
            _, s, V = np.linalg.svd(E) if len(E) else (None, np.zeros(0), np.eye(int(columns.sum())))
            free = V[int((s > 1e-9 * max(1.0, s.max(initial=0.0))).sum()) :]
            basis = np.zeros((len(free), len(columns)))
            basis[:, columns] = free
        return basis
