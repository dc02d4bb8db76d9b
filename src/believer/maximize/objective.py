"""The values that a maximizer is given and returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from believer.arrays import Array, BoolArray, packed
from believer.capabilities import has
from believer.errors import NoPointFound, NumericalError, SpaceExhausted
from believer.numerics import backend, lbfgs
from believer.space.region import Listed, Region

if TYPE_CHECKING:
    from believer._native import Objective as CompiledObjective

ENUMERATE_UP_TO = 4096
"""A finite region with no more points than this is searched exhaustively."""

_AT_FIRST = 64
"""The number of best points that are first compared with the points to avoid; more are compared only if needed."""

_AT_ONCE = 1 << 18
"""The number of values from which distances are computed at once: 2 MB."""

_BEGUN_FROM, _AROUND = 8, 1024
_STEPS = (0.2, 0.05, 0.01, 2e-3, 4e-4, 1e-4, 2e-5)
"""If no random point is allowed: the number of known points to start from, of points around them, and step sizes."""

MAX_CANDIDATES, MAX_NEIGHBORS = 100_000, 10_000
"""The largest numbers of candidates and neighbors, which are all kept and evaluated at once."""

_CHUNK = 8192
"""The number of points that are evaluated at once."""

COUNT_UP_TO = 100_000
"""A finite region with no more points than this is listed if it is unclear whether any point is left."""


class Objective(Protocol):
    """A function over the encoded cube, to be maximized."""

    @property
    def has_gradient(self) -> bool:
        """Whether :meth:`value_with_gradient` works."""

    def value(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, d) at ``X`` (m, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """Descents of -objective / ``scale`` in a box.

    Attributes
    ----------
    starts : the starts, (s, d).
    lower, upper : the box, (d,) each.
    moves : a mask (d,) of the columns that move.
    scale : the size of differences that matter.
    settings : when a climb stops.
    """

    starts: Array
    lower: Array
    upper: Array
    moves: BoolArray
    scale: float
    settings: lbfgs.Settings


@runtime_checkable
class Climbing(Protocol):
    """An objective with climbs of its own, in compiled code or on another device."""

    def climb(self, climb: Climb) -> lbfgs.Minimum:
        """Run the climbs, and return where they end, as minima of -objective / scale."""


@runtime_checkable
class CompilableObjective(Protocol):
    """An objective that may exist in compiled code."""

    def compiled(self) -> CompiledObjective | None:
        """The objective as an object of compiled code; None if it exists in Python alone."""


def climb_from(objective: Objective, climb: Climb) -> lbfgs.Minimum:
    """Run the climbs by calls of ``value_with_gradient``; return where they end, as minima of -objective / scale."""

    def descend(points: Array) -> tuple[Array, Array]:
        value, gradient = objective.value_with_gradient(points)
        return -value / climb.scale, np.where(climb.moves, -gradient / climb.scale, 0.0)

    return lbfgs.minimize(descend, climb.starts, climb.lower, climb.upper, climb.settings)


@dataclass(frozen=True, slots=True, eq=False)
class Spacing:
    """Points from which other points must keep a distance.

    Attributes
    ----------
    points : the points, (k, d).
    scale : the unit of distance in each column, (d,).
    radius : the least distance in these units.
    reach : a distance in the cube that is always enough.
    """

    points: Array
    scale: Array
    radius: float
    reach: float

    def near(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, d) that are near one of the points."""
        native = backend.native
        if native is not None:
            return native.near_rows(packed(X), packed(self.points), packed(self.scale), self.radius, self.reach)
        found, step = np.zeros(len(X), dtype=bool), max(1, _AT_ONCE // max(1, X.size))
        for start in range(0, len(self.points), step):
            found |= self.close(X[:, None, :] - self.points[start : start + step]).any(axis=1)
        return found

    def close(self, gaps: Array) -> BoolArray:
        """A mask of the differences of two points (..., d) that are too small."""
        scaled = ((gaps / self.scale) ** 2).sum(axis=-1) < self.radius**2
        found: BoolArray = scaled & ((gaps**2).sum(axis=-1) < self.reach**2)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Candidates with their values.

    Attributes
    ----------
    X : allowed points, (m, d).
    values : the values of the objective there, (m,).
    whole : whether these are all points of the region.
    left_out : the largest value of the other points of the region, at the time when these were taken as the best; None
        if the candidates were not chosen in this way.
    """

    X: Array
    values: Array
    whole: bool = False
    left_out: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The region to search, with what is known about it.

    Attributes
    ----------
    region : the region to search.
    near_best : good points so far (k, d), near which candidates are drawn.
    avoid : points (k, d) that must not be proposed again.
    spacing : points to keep a distance from, if possible; None for no spacing.
    known : candidates whose values are known already; None if the maximizer must draw its own.
    """

    region: Region
    near_best: Array
    avoid: Array
    spacing: Spacing | None = None
    known: Known | None = None

    def candidates(self, count: int, neighbors: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """Space-filling points and neighbors of the good points so far, all allowed, as candidates before a climb.

        Parameters
        ----------
        count : the number of space-filling points.
        neighbors : the number of neighbors of each good point.
        widths : the standard deviations of the steps to neighbors, in the cube.
        rng : the source of random numbers.
        """
        X = self.region.sample(count, rng)
        if neighbors and len(self.near_best):
            X = np.vstack([self.region.near(self.near_best, neighbors, widths, rng), X])
        if not len(X) and self.region.ruled:
            return new_near(self.region, np.vstack([self.avoid, self.near_best]), self.avoid, rng)
        return X


@dataclass(frozen=True, slots=True, eq=False)
class Maximum:
    """The result of a maximizer.

    Parameters
    ----------
    x : the chosen point, (d,).
    value : the value of the objective there.
    passed_over : the number of better points that were skipped as duplicates.
    spaced : whether better points were skipped because they were too close to others.
    among : the number of points that were compared, if others of a long list were not; otherwise 0.
    """

    x: Array
    value: float
    passed_over: int
    spaced: bool = False
    among: int = 0


class Maximizer(Protocol):
    """A frozen recipe for maximizing an objective."""

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        """Return the best new point that was found.

        Parameters
        ----------
        objective : the objective to maximize.
        search : the region, the good points and the points to avoid.
        rng : the source of random numbers.
        """


def ranked(values: Array, all_bad: bool = False) -> Array:
    """Values, with -inf in place of values that are not finite. Raises NumericalError if none is finite, unless
    ``all_bad``."""
    good = np.isfinite(values)
    if not good.any() and not all_bad:
        raise NumericalError(
            "the acquisition is not finite at any candidate; check that the model predicts finite values."
        )
    return values if good.all() else np.where(good, values, -np.inf)


def first_distinct(X: Array, values: Array, search: Search) -> Maximum | None:
    """The best new row of ``X`` (m, d); None if none is new.

    A row that keeps the spacing is preferred. Equal rows count once among those that are skipped.
    """
    if search.spacing is not None:
        order, near = np.argsort(-values, kind="stable"), np.zeros(0, dtype=bool)
        while len(near) < len(order):  # usually one of the first is new
            fresh = order[len(near) : 4 * len(near) + _AT_FIRST]
            near = np.concatenate([near, search.spacing.near(X[fresh])])
            far = fresh[~near[-len(fresh) :] & np.isfinite(values[fresh])]
            found = _first_distinct(X[far], values[far], search) if len(far) else None
            if found is None:
                continue
            rows = order[: len(near)]
            better = rows[near & (values[rows] > found.value)]
            if _any_new(X[better], search):  # if all of them are taken, they are counted below
                return replace(found, spaced=True)
            break
    return _first_distinct(X, values, search)


def _any_new(X: Array, search: Search) -> bool:
    """Whether any row of ``X`` (m, d) is new; usually one of the first is."""
    start, some = 0, 1
    while start < len(X):
        if not search.region.among(X[start : start + some], search.avoid).all():
            return True
        start, some = start + some, 4 * some
    return False


def _first_distinct(X: Array, values: Array, search: Search) -> Maximum | None:
    best = int(np.argmax(values))
    if not search.region.among(X[best : best + 1], search.avoid)[0]:
        return Maximum(X[best], float(values[best]), 0)
    passed: list[int] = []
    for row in np.argsort(-values, kind="stable"):
        if not search.region.among(X[row : row + 1], search.avoid)[0]:
            return Maximum(X[row], float(values[row]), len(passed))
        if not search.region.among(X[row : row + 1], X[passed])[0]:
            passed.append(int(row))
    return None


def search_exhaustively(objective: Objective, search: Search) -> Maximum | None:
    """The best of all points of a small finite region, or of a list of any length; None if the region is neither.

    In a long list, the best known point is the result if no other point was better before; otherwise all points are
    evaluated again. Under the fitted model of Kriging Believer, values only fall while points are chosen, so that this
    is the best of all points. With other lies or under shorter lengthscales, it is the best of those ``among`` which it
    was chosen.
    """
    size, known = search.region.size, search.known
    if size is None or (size > ENUMERATE_UP_TO and not has(search.region, Listed)):
        return None
    if known is not None and known.left_out is not None:
        best = first_distinct(known.X, known.values, search)
        if best is not None and best.value >= known.left_out:
            return replace(best, among=len(known.X) if known.left_out > -np.inf else 0)
        known = None
    if known is None or not known.whole:
        points = search.region.points()
        known = Known(points, values_of(objective, points), True)
    points = known.X
    found = first_distinct(points, known.values, search) if len(points) else None
    if not len(points):
        raise SpaceExhausted("the constraint allows no point of this finite space.", left=0)
    if found is None:
        raise SpaceExhausted(f"all {len(points)} points of this finite space have been handed out already.", left=0)
    return found


def values_of(objective: Objective, X: Array) -> Array:
    """Values (m,) at ``X`` (m, d), in parts if there are more than a few thousand points."""
    parts = [objective.value(X[start : start + _CHUNK]) for start in range(0, len(X), _CHUNK)]
    return np.concatenate(parts) if parts else np.zeros(0)


def is_new(x: Array, region: Region, avoid: Array) -> bool:
    """Whether ``x`` (d,) is allowed and not to be avoided."""
    return bool(region.holds(x[None, :])[0]) and not region.among(x[None, :], avoid)[0]


def remaining(region: Region, avoid: Array) -> Array | None:
    """The allowed points of a finite region that are not among ``avoid`` (k, d); None if there are too many to list."""
    size = region.size
    if size is None or (size > COUNT_UP_TO and not has(region, Listed)):
        return None
    points = region.points()
    left: Array = points[~region.among(points, avoid)]
    return left


def new_points(region: Region, avoid: Array, rng: np.random.Generator) -> Array:
    """At least one allowed point (m, d) of the region that is not among ``avoid``; all such points of a finite region.

    If a constraint function allows none of tens of thousands of draws, allowed points near those of ``avoid`` are
    returned. Raises :class:`SpaceExhausted` if there are none, and :class:`NoPointFound` if none is found.
    """
    points = remaining(region, avoid)
    if points is not None:
        if not len(points):
            raise SpaceExhausted(
                "every point of this finite space has been handed out already or is not allowed.", left=0
            )
        return points
    for attempt in range(16):
        points = region.spread(rng.random((1 << attempt, region.dim)))
        points = points[region.holds(points)]
        points = points[~region.among(points, avoid)]
        if len(points):
            return points
    if not region.ruled:
        raise NoPointFound("none of 65,535 random points is new: their parameters leave too few values.", left=0)
    points = new_near(region, avoid, avoid, rng)
    if len(points):
        return points
    raise NoPointFound(
        "none of 65,535 random points satisfies the constraint and is new, and no point near to those that are known "
        f"does; {int(region.holds(avoid).sum())} of the known points satisfy it; is the constraint too tight? "
        "Enqueue or observe a point that satisfies it, and the search begins there.",
        left=0,
    )


def none_allowed(region: Region) -> SpaceExhausted:
    """The error for a region in which no candidate is allowed."""
    tried = "the constraint allows none of the thousands of points that were tried"
    if region.size is not None:
        return SpaceExhausted(f"{tried}.", left=0)
    return NoPointFound(f"{tried}. Enqueue or observe a point that it allows: the search begins there.", left=0)


def new_near(region: Region, known: Array, avoid: Array, rng: np.random.Generator) -> Array:
    """New points (m, d) near allowed points of ``known`` (k, d), at the largest step for which there are any; possibly
    none."""
    allowed = known[region.holds(known)][-_BEGUN_FROM:]
    for width in _STEPS if len(allowed) else ():
        points = region.near(allowed, _AROUND // len(allowed), (width,), rng)
        points = points[region.holds(points)]
        points = points[~region.among(points, avoid)]
        if len(points):
            return points
    return allowed[:0]


def any_distinct(objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
    """The best of some new points, for the case that every good point is taken."""
    points = new_points(search.region, search.avoid, rng)
    values = objective.value(points)
    best = int(np.argmax(values))
    return Maximum(points[best], float(values[best]), 1)
