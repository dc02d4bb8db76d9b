"""A region of any kind, restricted to a box for a local search.

The box limits the columns in which distances are meaningful; all values of categories and of short scales are kept.
Rules take precedence over the box: if a rule moves a point out of the box, the point stays outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from believer.arrays import Array, BoolArray
from believer.space.region import Region, active, bounds

_SLACK = 1e-9
"""The rounding error of a side."""


@dataclass(frozen=True, slots=True, eq=False)
class Narrowed:
    """A :class:`~believer.space.region.Region`: the points of ``whole`` between ``lower`` and ``upper``, (d,) each.

    Parameters
    ----------
    whole : the region that is restricted.
    lower, upper : the box; columns that are not in ``whole.metric`` are not limited.

    Attributes
    ----------
    share : the length of the sides relative to those of the region, as the geometric mean over the limited columns.
    """

    whole: Region
    lower: Array
    upper: Array
    share: float = field(init=False)
    _cut: BoolArray = field(init=False, repr=False)
    dim = property(attrgetter("whole.dim"))
    size = property(attrgetter("whole.size"))
    decisions = property(attrgetter("whole.decisions"))
    metric = property(attrgetter("whole.metric"))
    freedom = property(attrgetter("whole.freedom"))
    ruled = property(attrgetter("whole.ruled"))
    rounded = property(attrgetter("whole.rounded"))

    def __post_init__(self) -> None:
        least, most = bounds(self.whole)
        cut = self.whole.metric & (most > least)
        lower = np.where(cut, np.minimum(np.maximum(self.lower, least), most), least)
        upper = np.where(cut, np.maximum(np.minimum(self.upper, most), lower), most)
        sides = np.maximum((upper - lower)[cut] / (most - least)[cut], _SLACK)
        for name, value in (("lower", lower), ("upper", upper), ("_cut", cut)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "share", float(np.exp(np.log(sides).mean())) if len(sides) else 1.0)

    def points(self) -> Array:
        """The points of the whole region that are inside, (n, d)."""
        points = self.whole.points()
        return points[self.inside(points)]

    def inside(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that lie in the box with all of their active columns."""
        outside = np.maximum(X - self.upper, self.lower - X)
        within: BoolArray = np.all((outside <= _SLACK) | ~self._cut | ~active(self.whole, X), axis=1)
        return within

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), which fill the box in the limited columns."""
        return self.project(self._shrunk(self.whole.spread(U)))

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` allowed points (m, d) of the whole region from ``rng``, moved into the box; fewer if a rule forbids
        some."""
        points = self.project(self._shrunk(self.whole.sample(m, rng)))
        return points[self.whole.holds(points)] if self.ruled else points

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` allowed neighbors of each row of ``X`` (k, d) from ``rng``; ``widths`` are shares of the box."""
        close = self.project(self.whole.near(X, m, tuple(self.share * width for width in widths), rng))
        return close[self.whole.holds(close)] if self.ruled else close

    def active(self, X: Array) -> BoolArray:
        """A mask (m, d) of the columns that are active at the points ``X`` (m, d), as in the whole region."""
        return active(self.whole, X)

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The allowed points nearest to the points of the box that are nearest to ``X`` (m, d); ``inside`` is as for
        any region."""
        return self.whole.project(np.minimum(np.maximum(X, self.lower), self.upper), inside)

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """A mask of the columns that may move from ``X`` (m, d), as in the whole region."""
        return self.whole.free(X, relaxed)

    def box(self) -> tuple[Array, Array] | None:
        """The box, if the whole region has one."""
        return None if self.whole.box() is None else (self.lower, self.upper)

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d); alternatives outside are replaced by the row itself."""
        for found in self.whole.steps(X):
            within = self.inside(found.reshape(-1, self.dim)).reshape(found.shape[:2])
            yield np.where(within[:, :, None], found, X[:, None, :])

    def neighbors(self, x: Array) -> Array:
        """The neighbors of ``x`` (d,) that are inside, (m, d)."""
        found = self.whole.neighbors(x)
        return found[self.inside(found)]

    def holds(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are allowed, in the box or not."""
        return self.whole.holds(X)

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""
        return self.whole.among(X, others)

    def _shrunk(self, X: Array) -> Array:
        """Points ``X`` (m, d) of the whole region, mapped into the box column by column."""
        least, most = bounds(self.whole)
        share = np.where(self._cut, (self.upper - self.lower) / np.where(self._cut, most - least, 1.0), 1.0)
        return np.where(self._cut, self.lower + (X - least) * share, X)
