"""The protocol of a region, in which points may lie: all that a search asks, whatever the kinds of parameters.

A region is a part of the encoded unit cube. The first kind is :class:`~believer.space.box.Box`; any object with these
attributes and methods is another, and a :class:`~believer.space.space.Space` is given one by its ``within``.

===========================  ==========================================================================
who                          asks for
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
"""Rounds of ever more draws before a rule by function counts as kept nowhere; and of a bisection."""


class Region(Protocol):
    """A part of the unit cube that can be searched."""

    @property
    def dim(self) -> int:
        """Number of columns d."""

    @property
    def size(self) -> int | None:
        """How many points there are, those that a rule by function forbids included; None for infinitely many."""

    @property
    def decisions(self) -> tuple[int | None, ...]:
        """The number of values of each decision that makes up a point; None for a continuous one."""

    @property
    def metric(self) -> BoolArray:
        """The columns (d,) in which a lengthscale is a distance: points may move freely along them, or nearly so."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom: in how many directions points lie nearer to each other or farther apart."""

    @property
    def ruled(self) -> bool:
        """Whether a function says which points are lawful, so that no more is known of them than what it answers."""

    @property
    def rounded(self) -> bool:
        """Whether points within ``box()`` have to be rounded by ``project``, though their columns are free."""

    def points(self) -> Array:
        """Every lawful point (n, d); asked for where there is a size that is not too large."""

    def spread(self, U: Array) -> Array:
        """Points (m, d) from uniform numbers ``U`` (m, d), evenly spread where these are; ``project(U)`` will do.

        A rule by function is not asked.
        """

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` space-filling lawful points (m, d) from ``rng``; fewer where a rule is hard to satisfy."""

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` lawful neighbors of each row of ``X`` (k, d), as (k m, d); fewer where a rule forbids some.

        Each is a step away that is drawn from ``rng``; the ``widths`` are standard deviations, as shares of the region.
        """

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The lawful points nearest to ``X`` (m, d), but for a rule by function.

        With ``inside`` (m, d), lawful points, also under such a rule: the last lawful one found on the way to there.
        """

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """The columns (m, d) that a gradient may move from lawful points ``X`` (m, d); (1, d) if the same from all.

        ``relaxed``: those of scales as well, as if they were continuous; ``project`` rounds them.
        """

    def box(self) -> tuple[Array, Array] | None:
        """The least and greatest values (d,) of the columns, if free ones may take all between; else None.

        What ends between them may still have to be rounded, or be forbidden by a function.
        """

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d), one discrete decision at a time.

        Each is worked out from what ``X`` is when it is asked for. A rule by function is not asked.
        """

    def neighbors(self, x: Array) -> Array:
        """Lawful points (m, d) that differ from ``x`` (d,) by one value on a scale, or on a few at once."""

    def holds(self, X: Array) -> BoolArray:
        """A mask of the lawful rows of ``X`` (m, d), which come from ``project`` or ``spread``."""

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are the same point as a row of ``others`` (k, d)."""


@runtime_checkable
class Branched(Protocol):
    """A region in which some columns do not count at some points."""

    def active(self, X: Array) -> BoolArray:
        """A mask (m, d) of the columns that are active at the points ``X`` (m, d)."""


def active(region: Region, X: Array) -> BoolArray:
    """A mask (m, d) of the columns that are active at the points ``X`` (m, d): all, unless it says otherwise."""
    return region.active(X) if has(region, Branched) else np.ones(X.shape, dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The points x of a box with low ≤ A x ≤ high, where no column is in two of the sums.

    Attributes
    ----------
    lower, upper : the box, (d,) each.
    A : the coefficients of the sums, (r, d).
    low, high : what each of them may be, (r,).
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
        """The box and the sums, where ``project`` does no more than to keep them; else None."""


@runtime_checkable
class Listed(Protocol):
    """A region that is a list of points, of which each can be looked at, however many they are."""

    @property
    def rows(self) -> Array:
        """All points (n, d): the same array whenever it is asked for."""


def bounds(region: Region) -> tuple[Array, Array]:
    """The box of a region, or the cube around it, as least and greatest values (d,).

    Parameters
    ----------
    region : of any kind.
    """
    box = region.box()
    return (np.zeros(region.dim), np.ones(region.dim)) if box is None else box


def enough_lawful(region: Region, points: Array, m: int, rng: np.random.Generator) -> Array:
    """``m`` lawful points (m, d) at most: those of ``points``, and where they are few, of uniform ones from ``rng``."""
    points = points[region.holds(points)]
    for attempt in range(_TRIES):
        if len(points) >= m // 4:
            break
        more = region.spread(rng.random((m << min(attempt, 4), region.dim)))
        points = np.vstack([points, more[region.holds(more)]])
    return points[:m]


def last_lawful(region: Region, inside: Array, X: Array) -> Array:
    """``X`` (m, d), or by bisection the last lawful points on the way there from lawful ones, ``inside`` (m, d)."""
    good, bad = np.where(region.holds(X)[:, None], X, inside), X
    for _ in range(_HALVINGS):
        middle = region.project(0.5 * (good + bad))
        allowed = region.holds(middle)[:, None]
        good, bad = np.where(allowed, middle, good), np.where(allowed, bad, middle)
    return good
