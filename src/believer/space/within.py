"""A region of any kind, cut down by a function of its points, some of which are known to be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.space.region import Region

_HALVINGS = 8
"""Of the way from a known point to one that the function does not keep."""


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """A :class:`~believer.space.region.Region`: the points of ``whole`` that a function keeps.

    Where too few of the points that are drawn are kept, the others are moved towards a known one until they are.

    Parameters
    ----------
    whole : the region that is cut down.
    keeps : (m, d) -> (m,) bool.
    known : points (k, d) of the whole that are kept, at least one.
    """

    whole: Region
    keeps: Callable[[Array], BoolArray]
    known: Array
    ruled: ClassVar[bool] = True  # by the function
    dim = property(attrgetter("whole.dim"))
    size = property(attrgetter("whole.size"))
    decisions = property(attrgetter("whole.decisions"))
    metric = property(attrgetter("whole.metric"))
    freedom = property(attrgetter("whole.freedom"))
    rounded = property(attrgetter("whole.rounded"))

    def points(self) -> Array:
        """Those of the whole that are kept, (n, d)."""
        points = self.whole.points()
        return points[self.keeps(points)]

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), all of them lawful but for another rule by function."""
        return self._pulled(self.whole.spread(U), np.zeros(0, dtype=np.intp))

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` lawful points (m, d) from ``rng``; fewer where another rule by function forbids some."""
        return self._enough(self.whole.sample(m, rng))

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` lawful neighbors of each row of ``X`` (k, d) from ``rng``; fewer where they are not kept."""
        return self._enough(self.whole.near(X, m, widths, rng))

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The points of the whole nearest to ``X`` (m, d); with ``inside`` the last lawful one on the way to there."""
        if inside is None:
            return self.whole.project(X)
        out = self.whole.project(X, inside)
        return self._bisected(out, inside, self.holds(out))

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """A mask of the columns that may move from ``X`` (m, d), as in the whole region."""
        return self.whole.free(X, relaxed)

    def box(self) -> tuple[Array, Array] | None:
        """The same as that of the whole region."""
        return self.whole.box()

    def steps(self, X: Array) -> Iterator[Array]:
        """Those of the whole, (s, a, d)."""
        return self.whole.steps(X)

    def neighbors(self, x: Array) -> Array:
        """Those of ``x`` (d,) in the whole that are kept, (m, d)."""
        found = self.whole.neighbors(x)
        return found[self.keeps(found)] if len(found) else found

    def holds(self, X: Array) -> BoolArray:
        """A mask of the lawful rows of ``X`` (m, d)."""
        found = self.whole.holds(X)
        if found.any():
            found[found] = self.keeps(X[found])
        return found

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""
        return self.whole.among(X, others)

    def _enough(self, points: Array) -> Array:
        """Those of ``points`` (m, d) that are lawful; of fewer than a quarter, the others moved as well."""
        kept = self.holds(points)
        if 4 * int(kept.sum()) >= len(points):
            return points[kept]
        moved = self._pulled(points, np.flatnonzero(kept))
        return moved[self.holds(moved)]

    def _pulled(self, points: Array, kept: IntArray) -> Array:
        """``points`` (m, d), moved towards known ones where they are not kept; those of the rows ``kept`` are."""
        lawful = self.keeps(points) if not len(kept) else np.isin(np.arange(len(points)), kept)
        return self._bisected(points, self.known[np.arange(len(points)) % len(self.known)], lawful)

    def _bisected(self, points: Array, inside: Array, lawful: BoolArray) -> Array:
        """The last lawful points on the way from ``inside`` (m, d) to ``points`` (m, d), which stay if ``lawful``."""
        out, rows = points.copy(), np.flatnonzero(~lawful)
        good, bad = inside[rows], points[rows]
        for _ in range(_HALVINGS if len(rows) else 0):
            middle = self.whole.project(0.5 * (good + bad), good)
            allowed = self.holds(middle)[:, None]
            good, bad = np.where(allowed, middle, good), np.where(allowed, bad, middle)
        out[rows] = good
        return out
