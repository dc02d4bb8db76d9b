"""Parameters that have a value only if others have certain values: a region in which they count only then.

======  ==============================================================================
symbol  meaning
======  ==============================================================================
0.5     the value of every column of an inactive parameter, so that it has no effect
======  ==============================================================================

A parameter is inactive if one of its parents is inactive or has another value than the condition needs. Two points that
differ only in inactive parameters are the same point; the columns of the parents determine the branch of a point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np

from believer.arrays import Array, BoolArray
from believer.numerics.sampling import latin_hypercube
from believer.space.box import Block
from believer.space.listing import MAX_LISTED
from believer.space.region import Region

REST = 0.5
"""The value of the columns of inactive parameters."""

_LOOKED_AT = 512
"""The number of points among which the one with the most active columns is sought."""


@dataclass(frozen=True, slots=True, eq=False)
class Dependent:
    """A conditional parameter, in the encoded cube.

    Attributes
    ----------
    start, stop : its columns.
    needs : the block of each parent, and a mask (k,) of its values that allow this parameter.
    values : the rows that its columns may have if it is active, (k, stop - start); None for too many.
    """

    start: int
    stop: int
    needs: tuple[tuple[Block, BoolArray], ...]
    values: Array | None

    def active(self, X: Array, above: BoolArray) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) in which it is active; ``above`` (m, d) is the mask of its parents'
        columns."""
        found = np.ones(len(X), dtype=bool)
        for parent, allowed in self.needs:
            found &= above[:, parent.start] & allowed[parent.nearest(X)]
        return found


@dataclass(frozen=True, eq=False)
class Conditional:
    """A :class:`~believer.space.region.Region`: the points of another one, in which inactive columns are 0.5.

    Parameters
    ----------
    inner : any region, in which all parameters count.
    dependents : the conditional parameters, each after its parents.
    core : the inner region with the columns of conditional parameters at 0.5, and without a constraint function; points
        are listed by its points and then by the values of conditional parameters. None if there is no such region.
    """

    inner: Region
    dependents: tuple[Dependent, ...]
    core: Region | None = None
    dim = property(attrgetter("inner.dim"))
    decisions = property(attrgetter("inner.decisions"))
    metric = property(attrgetter("inner.metric"))
    ruled = property(attrgetter("inner.ruled"))
    rounded = property(attrgetter("inner.rounded"))

    def active(self, X: Array) -> BoolArray:
        """A mask (m, d) of the columns that are active at the points ``X`` (m, d)."""
        found = np.ones(X.shape, dtype=bool)
        for one in self.dependents:
            found[:, one.start : one.stop] = one.active(X, found)[:, None]
        return found

    def rest(self, X: Array) -> Array:
        """``X`` (m, d) with inactive columns at 0.5."""
        return np.where(self.active(X), X, REST)

    @cached_property
    def _listed(self) -> Array | None:
        """Every point, without regard to a constraint function; None if there are too many."""
        core = self.inner if self.core is None else self.core
        if core.size is None or core.size > MAX_LISTED:
            return None
        if self.core is None:
            return np.unique(self.rest(core.points()), axis=0)
        points = core.points()
        above = np.ones(points.shape, dtype=bool)
        for one in self.dependents:
            has = one.active(points, above)
            above[:, one.start : one.stop] = has[:, None]
            assert one.values is not None
            k = len(one.values)
            times = np.where(has, k, 1)
            if times.sum() > MAX_LISTED:
                return None
            there = np.repeat(has, times)
            points, above = np.repeat(points, times, axis=0), np.repeat(above, times, axis=0)
            points[there, one.start : one.stop] = np.tile(one.values, (int(has.sum()), 1))
        return points

    @cached_property
    def size(self) -> int | None:
        """The number of points, None if a column is continuous; if there are more than 100,000, an upper bound."""
        if self.inner.size is None:
            return None
        if self._listed is not None:
            return len(self._listed)
        if self.core is None or self.core.size is None:
            return self.inner.size
        return self.core.size * math.prod(len(one.values) for one in self.dependents if one.values is not None)

    @cached_property
    def freedom(self) -> int:
        """The degrees of freedom of the branch that has the most."""
        X = self.spread(latin_hypercube(_LOOKED_AT, self.dim, np.random.default_rng(0)))
        resting = (~self.active(X) & self.inner.free(X, relaxed=True)).sum(axis=1)
        return max(self.inner.freedom - int(resting.min()), 0)

    def points(self) -> Array:
        """Every allowed point (n, d) of a finite region with at most 100,000 points."""
        assert self._listed is not None
        return self._listed[self.inner.holds(self._listed)]

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), as evenly spread as in the inner region."""
        return self.rest(self.inner.spread(U))

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` space-filling allowed points (m, d) from ``rng``."""
        return self.rest(self.inner.sample(m, rng))

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` allowed neighbors of each row of ``X`` (k, d), as (k m, d).

        A parameter that becomes active gets a random value.
        """
        start = np.repeat(X, m, axis=0)
        drawn = self.inner.spread(rng.random(start.shape))
        return self.rest(self.inner.near(np.where(self.active(start), start, drawn), 1, widths, rng))

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The points of the inner region nearest to ``X`` (m, d), with inactive columns at 0.5."""
        return self.rest(self.inner.project(X, inside))

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """A mask (m, d) of the columns that may move in the inner region and are active."""
        return self.inner.free(X, relaxed) & self.active(X)

    def box(self) -> tuple[Array, Array] | None:
        """The same as that of the inner region."""
        return self.inner.box()

    def steps(self, X: Array) -> Iterator[Array]:
        """Those of the inner region (s, a, d); a parameter that becomes active gets the middle of its values."""
        for found in self.inner.steps(X):
            was = np.repeat(self.active(X), found.shape[1], axis=0)
            yield self._moved(found.reshape(-1, self.dim), was).reshape(found.shape)

    def neighbors(self, x: Array) -> Array:
        """Those of the inner region (m, d) that differ from ``x`` (d,)."""
        found = self._moved(self.inner.neighbors(x), self.active(x[None, :]))
        others: Array = found[(found != x).any(axis=1)]
        return others

    def holds(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that lie in the inner region."""
        return self.inner.holds(X)

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""
        return self.inner.among(X, others)

    def _moved(self, X: Array, was: BoolArray) -> Array:
        """``X`` (m, d) with inactive columns at 0.5, and with newly active parameters (not in ``was``) moved to their
        values."""
        now = self.active(X)
        out, fresh = np.where(now, X, REST), (now & ~was).any(axis=1)
        if fresh.any():
            out[fresh] = self.project(out[fresh])
        return out
