"""The protocol of a region, the set in which points may lie: everything that a search needs, whatever the kinds of
parameters.

A region is a part of the encoded unit cube. The simplest one is :class:`~believer.space.box.Box`, and any object with
these attributes and methods is a region; a :class:`~believer.space.space.Space` takes a user's own as ``within``.

===========================  ==========================================================================
used by                      attributes and methods
===========================  ==========================================================================
designs, draws, strategies   spread, sample, points, holds, among
search                       near, project, free, box; with discrete parts steps and neighbors
hedges, verdicts, schedules  metric, freedom, decisions
===========================  ==========================================================================

All points are rows of float64 numbers in [0, 1]; no method changes its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, BoolArray
from believer.capabilities import has

_TRIES, _HALVINGS = 12, 12
"""The number of rounds of ever more draws before a constraint function counts as satisfied nowhere, and the number of
halvings of a bisection."""


class Region(Protocol):
    """A part of the unit cube that can be searched."""

    @property
    def dim(self) -> int:
        """Number of columns d."""

    @property
    def size(self) -> int | None:
        """The number of points, including those that a constraint function forbids; None for infinitely many."""

    @property
    def decisions(self) -> tuple[int | None, ...]:
        """The number of values of each decision that makes up a point; None for a continuous one."""

    @property
    def metric(self) -> BoolArray:
        """A mask (d,) of the columns in which a lengthscale is a distance, because points can move freely along them,
        or nearly so."""

    @property
    def freedom(self) -> int:
        """The degrees of freedom: the number of directions in which points can be nearer to each other or farther
        apart."""

    @property
    def ruled(self) -> bool:
        """Whether a constraint function says which points are allowed, so that they are known only by calling it."""

    @property
    def rounded(self) -> bool:
        """Whether points within ``box()`` must be rounded by ``project`` although their columns are free."""

    def points(self) -> Array:
        """Every allowed point (n, d). This is called only if the size is known and not too large."""

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), which are evenly spread if these are; ``project(U)`` is good
        enough.

        A constraint function is not called.
        """

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` space-filling allowed points (m, d) from ``rng``; fewer if a rule is hard to satisfy."""

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` allowed neighbors of each row of ``X`` (k, d), as (k m, d); fewer if a rule forbids some.

        Each is a random step away, from ``rng``; the ``widths`` are standard deviations of steps, as shares of the
        region.
        """

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The allowed points nearest to ``X`` (m, d), without regard to a constraint function.

        If ``inside`` (m, d), allowed points, are given, the constraint function is kept, too: the result is the last
        allowed point on the way from them to the projections.
        """

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """A mask (m, d) of the columns that a gradient may move at the allowed points ``X`` (m, d); (1, d) if it is the
        same for all.

        With ``relaxed``, it includes columns of scales, as if they were continuous; ``project`` rounds them.
        """

    def box(self) -> tuple[Array, Array] | None:
        """The least and greatest values (d,) of the columns, if free columns may take all values in between; otherwise
        None.

        A point between them may still have to be rounded, or be forbidden by a constraint function.
        """

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d), one discrete decision at a time.

        Each is computed lazily from the present value of ``X``. A constraint function is not called.
        """

    def neighbors(self, x: Array) -> Array:
        """Allowed points (m, d) that differ from ``x`` (d,) by one value on a scale, or on a few scales at once."""

    def holds(self, X: Array) -> BoolArray:
        """A mask of the allowed rows of ``X`` (m, d), which come from ``project`` or ``spread``."""

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""


@runtime_checkable
class Branched(Protocol):
    """A region in which some columns are inactive at some points."""

    def active(self, X: Array) -> BoolArray:
        """A mask (m, d) of the columns that are active at the points ``X`` (m, d)."""


def active(region: Region, X: Array) -> BoolArray:
    """A mask (m, d) of the columns that are active at the points ``X`` (m, d); by default all are."""
    return region.active(X) if has(region, Branched) else np.ones(X.shape, dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The points x of a box with low ≤ A x ≤ high, if no column is in two of the sums.

    Attributes
    ----------
    lower, upper : the box, (d,) each.
    A : the coefficients of the sums, (r, d).
    low, high : the bounds of each sum, (r,).
    """

    lower: Array
    upper: Array
    A: Array
    low: Array
    high: Array


@runtime_checkable
class Summed(Protocol):
    """A region in which a gradient moves columns as in a box with sums."""

    def sums(self) -> Sums | None:
        """The box and the sums, if ``project`` keeps nothing else; otherwise None."""


@runtime_checkable
class Listed(Protocol):
    """A region that is a list of points, which can all be evaluated by a model, however many there are."""

    @property
    def rows(self) -> Array:
        """All points (n, d), always as the same array."""


def bounds(region: Region) -> tuple[Array, Array]:
    """The box of a region, or the cube around it, as least and greatest values (d,).

    Parameters
    ----------
    region : a region of any kind.
    """
    box = region.box()
    return (np.zeros(region.dim), np.ones(region.dim)) if box is None else box


def enough_lawful(region: Region, points: Array, m: int, rng: np.random.Generator) -> Array:
    """At most ``m`` allowed points (m, d), from ``points`` and, if too few of these are allowed, from uniform draws by
    ``rng``."""
    points = points[region.holds(points)]
    for attempt in range(_TRIES):
        if len(points) >= m // 4:
            break
        more = region.spread(rng.random((m << min(attempt, 4), region.dim)))
        points = np.vstack([points, more[region.holds(more)]])
    return points[:m]


def last_lawful(region: Region, inside: Array, X: Array) -> Array:
    """``X`` (m, d), with each forbidden point replaced by the last allowed one on the way to it from the allowed points
    ``inside`` (m, d), which bisection finds."""
    good, bad = np.where(region.holds(X)[:, None], X, inside), X
    for _ in range(_HALVINGS):
        middle = region.project(0.5 * (good + bad))
        allowed = region.holds(middle)[:, None]
        good, bad = np.where(allowed, middle, good), np.where(allowed, bad, middle)
    return good
