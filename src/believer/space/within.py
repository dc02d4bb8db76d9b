"""A region of any kind, restricted by a function of its points; some points that it keeps are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import ClassVar

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.space.region import Region

_HALVINGS = 8
"""The number of bisections between a known point and one that the function does not keep."""


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """A :class:`~believer.space.region.Region`: the points of ``whole`` that a function keeps.

    If too few of the drawn points are kept, the others are moved towards a known point until they are.

    Parameters
    ----------
    whole : the region that is restricted.
    keeps : the function, (m, d) -> (m,) bool.
    known : one or more points (k, d) of the region that the function keeps.
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
        """The points of the whole region that are kept, (n, d)."""
        points = self.whole.points()
        return points[self.keeps(points)]

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), all of which are kept, without regard to another constraint
        function."""
        return self._pulled(self.whole.spread(U), np.zeros(0, dtype=np.intp))

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` allowed points (m, d) from ``rng``; fewer if another constraint function forbids some."""
        return self._enough(self.whole.sample(m, rng))

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` allowed neighbors of each row of ``X`` (k, d) from ``rng``; fewer if some are not kept."""
        return self._enough(self.whole.near(X, m, widths, rng))

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The points of the whole region nearest to ``X`` (m, d); with ``inside``, the last allowed points on the way
        there."""
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
        """Those of the whole region, (s, a, d)."""
        return self.whole.steps(X)

    def neighbors(self, x: Array) -> Array:
        """The neighbors of ``x`` (d,) in the whole region that are kept, (m, d)."""
        found = self.whole.neighbors(x)
        return found[self.keeps(found)] if len(found) else found

    def holds(self, X: Array) -> BoolArray:
        """A mask of the allowed rows of ``X`` (m, d)."""
        found = self.whole.holds(X)
        if found.any():
            found[found] = self.keeps(X[found])
        return found

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""
        return self.whole.among(X, others)

    def _enough(self, points: Array) -> Array:
        """The allowed ones of ``points`` (m, d); if these are fewer than a quarter, the others are moved and
        included."""
        kept = self.holds(points)
        if 4 * int(kept.sum()) >= len(points):
            return points[kept]
        moved = self._pulled(points, np.flatnonzero(kept))
        return moved[self.holds(moved)]

    def _pulled(self, points: Array, kept: IntArray) -> Array:
        """``points`` (m, d), in which those that are not ``kept`` are moved towards known ones."""
        lawful = self.keeps(points) if not len(kept) else np.isin(np.arange(len(points)), kept)
        return self._bisected(points, self.known[np.arange(len(points)) % len(self.known)], lawful)

    def _bisected(self, points: Array, inside: Array, lawful: BoolArray) -> Array:
        """The last allowed points on the way from ``inside`` (m, d) to ``points`` (m, d); points that are ``lawful``
        are unchanged."""
        out, rows = points.copy(), np.flatnonzero(~lawful)
        good, bad = inside[rows], points[rows]
        for _ in range(_HALVINGS if len(rows) else 0):
            middle = self.whole.project(0.5 * (good + bad), good)
            allowed = self.holds(middle)[:, None]
            good, bad = np.where(allowed, middle, good), np.where(allowed, bad, middle)
        out[rows] = good
        return out
