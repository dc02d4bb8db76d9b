"""The region where linear rules hold: fixed sums, weighted sums, limited numbers of parts. Rejection sampling would
rarely hit it.

Columns that are in no rule are those of the box. u stands for the columns in rules, (m, j).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.numerics.sampling import sobol
from believer.space import chords
from believer.space.box import Box
from believer.space.geometry import KEPT, Geometry
from believer.space.listing import listed
from believer.space.projection import excess
from believer.space.region import Sums, enough_lawful, last_lawful
from believer.space.rounding import ABSENT, as_it_is, lawful, settled

_UNIFORM = math.sqrt(12.0)
"""The width of a uniform distribution, in standard deviations."""

_SCRAMBLE = 7919.0
"""The factor by which further digits of a uniform number give another one."""


@dataclass(frozen=True, eq=False)
class Polytope:
    """A :class:`~believer.space.region.Region`: the points of a box that keep linear rules.

    Parameters
    ----------
    box : all columns, with their grids and choices, and the constraint function if there is one.
    rules : the linear rules for some of the columns.

    Attributes
    ----------
    dim : number of columns d.
    """

    outer: Box
    rules: Geometry
    dim: int = field(init=False, repr=False)
    _rest: Box = field(init=False, repr=False)
    """The box in which columns in rules are continuous; the other columns are unchanged."""

    def __post_init__(self) -> None:
        columns = set(self.rules.columns.tolist())
        blocks = tuple(block for block in self.outer.blocks if block.start not in columns)
        object.__setattr__(self, "dim", self.outer.dim)
        object.__setattr__(self, "_rest", replace(self.outer, blocks=blocks, feasible=None))

    @cached_property
    def _ruled(self) -> BoolArray:
        """A mask (d,) of the columns in rules."""
        ruled = np.zeros(self.dim, dtype=bool)
        ruled[self.rules.columns] = True
        return ruled

    @cached_property
    def _basis(self) -> Array:
        """A basis (f, j) of the directions that points can move in."""
        return self.rules.directions(self.rules.moves)

    @cached_property
    def _known(self) -> Array:
        """Known uniform points of the columns in rules, without regard to grids and groups."""
        return chords.known_points(self.rules, self._basis)

    @cached_property
    def _is_finite(self) -> bool:
        """Whether the columns on grids determine the continuous ones: each is the only continuous column of an
        equation."""
        alone = not (self.outer.continuous & ~self._ruled).any() and not self.rounded
        return alone and not len(self.rules.directions(self.rules.moves & ~self.rules.gridded))

    @cached_property
    def _listed(self) -> Array | None:
        """Every point that keeps the rules, without regard to a constraint function; None if there are too many."""
        return listed(self.rules, self._rest) if self._is_finite else None

    @property
    def size(self) -> int | None:
        """The number of points, None if a column is continuous; if there are more than 100,000, an upper bound."""
        if not self._is_finite:
            return None
        return (
            math.prod(len(block.values) for block in self.outer.blocks) if self._listed is None else len(self._listed)
        )

    @cached_property
    def decisions(self) -> tuple[int | None, ...]:
        """None for each continuous degree of freedom, then the numbers of values of the blocks and of the sets of
        parts."""
        smooth = len(self.rules.directions(self.rules.moves & ~self.rules.gridded))
        smooth += int(np.count_nonzero(self.outer.continuous & ~self._ruled))
        counts = tuple(len(block.values) for block in self.outer.blocks)
        return (None,) * smooth + counts + tuple(math.comb(len(columns), k) for columns, k in self.rules.groups)

    @property
    def metric(self) -> BoolArray:
        """Those of the box."""
        return self.outer.metric

    @property
    def freedom(self) -> int:
        """Degrees of freedom: a mixture of k parts has k - 1, and with at most k parts of n, n - k fewer."""
        outside = (self.outer.upper > self.outer.lower) & ~self._ruled
        for block in self._rest.blocks:
            outside[block.start : block.stop] &= block.ordered
        absent = sum(len(columns) - most for columns, most in self.rules.groups)
        return int(outside.sum()) + max(len(self._basis) - absent, 0)

    @property
    def ruled(self) -> bool:
        """Whether there is a constraint function as well."""
        return self.outer.ruled

    @property
    def rounded(self) -> bool:
        """Whether there are columns with more values than a block lists."""
        return self.outer.rounded

    def points(self) -> Array:
        """Every allowed point of a finite region with at most 100,000 points."""
        assert self._listed is not None
        return self._listed[self.holds(self._listed)]

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d): uniform in the set where the rules hold, apart from
        grids."""
        out, u = self._rest.spread(U), U[:, self.rules.columns]
        start = u[:, -1:] if len(self._basis) < u.shape[1] else (_SCRAMBLE * u[:, :1]) % 1.0
        found = chords.spread(self.rules, self._basis, self._known, np.hstack([start, u[:, : len(self._basis)]]))
        found, kept = lawful(self.rules, found)
        if (
            not kept.all()
        ):  # grids of several rules: a point that is near none of theirs is replaced by one that keeps them
            found = found[np.resize(np.flatnonzero(kept), len(found))] if kept.any() else settled(self.rules, found)
        out[:, self.rules.columns] = found
        return out

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` allowed Sobol points from ``rng``; fewer if a constraint function is hard to satisfy."""
        read = np.ones(self.dim, dtype=bool)
        for block in self._rest.blocks:  # only the first column of a block is read
            read[block.start + 1 : block.stop] = False
        U = np.zeros((m, self.dim))
        U[:, read] = sobol(m, int(np.count_nonzero(read)), rng)
        points = self.spread(U)
        if not self.ruled:
            return points
        return enough_lawful(self, points, m, rng)

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` allowed neighbors of each row of ``X`` (k, d), as (k m, d); those that a constraint function forbids
        are left out.

        Columns in rules move by shares of their range under the rules, and are then projected.
        """
        columns, start = self.rules.columns, np.repeat(self.project(X), m, axis=0)
        out = self._rest.near(start, 1, widths, rng)
        share = np.array((1.0, 0.5, min(1.0, 3.0 / len(columns))))[rng.integers(3, size=(len(start), 1))]
        moved = rng.random((len(start), len(columns))) < share
        width = np.array(widths)[rng.integers(len(widths), size=(len(start), 1))] * _UNIFORM * self._known.std(axis=0)
        step = np.where(moved, width * rng.standard_normal(moved.shape), 0.0)
        found, kept = lawful(self.rules, start[:, columns] + step)
        out[:, columns] = np.where(kept[:, None], found, start[:, columns])
        return out[self.holds(out)] if self.ruled else out

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The allowed points nearest to ``X`` (m, d), exactly for one sum, and approximately for several sums or on
        grids.

        ``inside`` (m, d) are allowed points: if a constraint function forbids a projection, the result is the last
        allowed point of a bisection between the two.
        """
        out = self._rest.project(X)
        out[:, self.rules.columns] = settled(self.rules, X[:, self.rules.columns])
        if inside is None or not self.ruled:
            return out
        return last_lawful(self, inside, out)

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """The continuous columns (m, d), with absent parts only if a further part may be present; (1, d) without
        groups.

        ``relaxed`` makes no difference: columns on grids move in steps.
        """
        moves = self.outer.free(X)
        if not self.rules.groups:
            return moves
        moves = np.repeat(moves, len(X), axis=0)
        for group, most in self.rules.groups:
            columns = self.rules.columns[group]
            present = X[:, columns] > ABSENT
            moves[:, columns] &= present | (present.sum(axis=1) < most)[:, None]
        return moves

    def sums(self) -> Sums | None:
        """The box and the rules; None if there are grids or groups, or rules that share columns."""
        return self._sums

    @cached_property
    def _sums(self) -> Sums | None:
        rules = self.rules
        if not rules.loose or self.rounded or any(len(rows) > 1 for rows, _ in rules.parts):
            return None
        lower, upper, A = self.outer.lower.copy(), self.outer.upper.copy(), np.zeros((len(rules.A), self.dim))
        lower[rules.columns], upper[rules.columns], A[:, rules.columns] = rules.lower, rules.upper, rules.A
        return Sums(lower, upper, A, rules.low, rules.high)

    def box(self) -> None:
        """None, because the columns of a rule do not move independently."""

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d): one block after the other, then exchanges between
        parts."""
        yield from self._rest.steps(X)
        for i, values in enumerate(self.rules.values):
            if values is not None:
                there = 2 ** np.arange((len(values) - 1).bit_length())
                yield self._exchanged(X, i, np.concatenate([there, -there]))
        for group, most in self.rules.groups:
            for rank in range(most):
                yield self._replaced(X, group, rank)

    def neighbors(self, x: Array) -> Array:
        """Allowed points (m, d) that differ from ``x`` (d,) by one value on a scale, or on two scales in the same
        rule."""
        found, one = [self._rest.neighbors(x)], np.array([1, -1])
        found += [self._exchanged(x[None, :], int(i), one)[0] for i in np.flatnonzero(self.rules.gridded)]
        points = np.vstack(found)
        points = points[(points != x).any(axis=1)]
        lawful_ones: Array = points[self.holds(points)]
        return lawful_ones

    def _exchanged(self, X: Array, i: int, steps: IntArray) -> Array:
        """Alternatives (s, a, d) in which column i of the rules moves by ``steps`` on its grid, alone or in exchange
        with another column.

        Continuous columns take the remainder of a sum. An alternative that is not allowed is replaced by the row
        itself.
        """
        rules, u = self.rules, X[:, self.rules.columns]
        values = rules.values[i]
        assert values is not None
        index = np.abs(u[:, i, None] - values).argmin(axis=1)
        there = values[np.minimum(np.maximum(index[:, None] + steps, 0), len(values) - 1)]
        moved = np.repeat(u[:, None, :], len(steps), axis=1)
        moved[:, :, i] = there
        alternatives = [moved]
        for h in np.flatnonzero(rules.gridded[i + 1 :]) + i + 1:
            together = np.flatnonzero(rules.equations & (rules.A[:, i] != 0.0) & (rules.A[:, h] != 0.0))
            if len(together):
                other, rate = moved.copy(), rules.A[together[0], i] / rules.A[together[0], h]
                other[:, :, h] -= rate * (there - u[:, i, None])
                alternatives.append(other)
        return self._lawful(X, np.concatenate(alternatives, axis=1))

    def _replaced(self, X: Array, group: IntArray, rank: int) -> Array:
        """Alternatives (s, k, d) in which each part of a group replaces the part of the given rank by size.

        If that one is absent, the part gets half of the largest.
        """
        u = X[:, self.rules.columns]
        rows, order = np.arange(len(u)), np.argsort(-u[:, group], axis=1, kind="stable")
        out, first = group[order[:, rank]], group[order[:, 0]]
        size = np.where(u[rows, out] > ABSENT, u[rows, out], 0.5 * u[rows, first])
        moved = np.repeat(u[:, None, :], len(group), axis=1)
        for k, part in enumerate(group):
            absent = u[:, part] <= ABSENT
            at = rows[absent]
            moved[at, k, out[absent]] = 0.0
            moved[at, k, part] = size[absent]
        return self._lawful(X, moved)

    def _lawful(self, X: Array, moved: Array) -> Array:
        """The rows of ``X`` (s, d) with ``moved`` (s, a, j) in the columns of the rules, if this is allowed."""
        s, a, j = moved.shape
        found, kept = as_it_is(self.rules, moved.reshape(s * a, j))
        points = np.repeat(X[:, None, :], a, axis=1)
        same = np.repeat(X[:, self.rules.columns], a, axis=0)
        points[:, :, self.rules.columns] = np.where(kept[:, None], found, same).reshape(s, a, j)
        return points

    def holds(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that keep the rules, to rounding, and the constraint function."""
        u = X[:, self.rules.columns]
        kept: BoolArray = excess(u, self.rules.A, self.rules.low, self.rules.high) <= KEPT
        for group, most in self.rules.groups:
            kept &= (u[:, group] > ABSENT).sum(axis=1) <= most
        if self.outer.feasible is not None and kept.any():
            kept[kept] = self.outer.feasible(X[kept])
        return kept

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""
        return self.outer.among(X, others)
