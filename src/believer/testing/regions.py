"""Laws of regions: their points are allowed and repeatable, and moves from them are possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.maximize.objective import ENUMERATE_UP_TO
from believer.space.region import Region
from believer.testing.contract import law, laws_in, require

_M, _WIDTHS = 64, (0.2, 0.02)
_SAME = 1e-9
"""The largest distance by which rounding may move a point."""


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def _lawful(region: Region, seed: int = 0) -> Array:
    """Some allowed points (m, d)."""
    X = region.sample(_M, _rng(seed))
    require(len(X) > 0, "sample gives no point.")
    return X


def _require_points(region: Region, X: Any, what: str, m: int | None = None) -> Array:
    """``X`` if it is an array of points, as many as wanted."""
    require(isinstance(X, np.ndarray) and X.dtype == np.float64, f"{what} gives no float64 array: {type(X).__name__}.")
    require(X.ndim == 2 and X.shape[1] == region.dim, f"{what} gives shape {X.shape}; there are {region.dim} columns.")
    require(m is None or len(X) == m, f"{what} gives {len(X)} points, where {m} were wanted.")
    require(bool(((X >= 0.0) & (X <= 1.0)).all()), f"{what} gives points outside of the unit cube.")
    found: Array = X
    return found


def _require_lawful(region: Region, X: Array, what: str) -> None:
    broken = X[~region.holds(X)]
    require(not len(broken), f"{what} gives a point that does not hold: {broken[:1].tolist()}.")


@law(
    "dim is the number d of columns; metric is (d,) bool; size is None or 1 or more; box() is None or two arrays (d,)."
)
def what_a_region_says_of_itself_fits_together(region: Region) -> None:
    """Its columns, its size, its decisions and its box."""
    d = region.dim
    require(isinstance(d, int) and d >= 1, f"dim is {d!r}.")
    require(region.metric.shape == (d,) and region.metric.dtype == bool, f"metric has shape {region.metric.shape}.")
    require(0 <= region.freedom <= d, f"freedom is {region.freedom!r} of {d} columns.")
    size = region.size
    require(size is None or size >= 1, f"size is {size!r}.")
    require((size is None) == (None in region.decisions), f"size is {size!r}, and decisions are {region.decisions!r}.")
    box = region.box()
    if box is not None:
        require(all(end.shape == (d,) for end in box), "box() has ends of other shapes than (d,).")
        require(bool((box[0] <= box[1]).all()), "box() has a least value above the greatest.")


@law("spread, sample, near and project give float64 rows of d numbers in [0, 1]; spread and project one for each row.")
def points_are_rows_of_the_unit_cube(region: Region) -> None:
    """Of spread and project as many as were given; of sample and near no more than asked for."""
    rng = _rng()
    _require_points(region, region.spread(rng.random((_M, region.dim))), "spread", _M)
    X = _require_points(region, region.sample(_M, rng), "sample")
    require(0 < len(X) <= _M, f"sample gives {len(X)} of {_M} points.")
    close = _require_points(region, region.near(X[:4], 8, _WIDTHS, rng), "near")
    require(len(close) <= 8 * len(X[:4]), f"near gives {len(close)} neighbors, where 8 were asked for of each point.")
    away = np.clip(rng.normal(0.5, 0.7, (_M, region.dim)), -1.0, 2.0)
    _require_points(region, region.project(away), "project", _M)


@law("Draw random numbers only from the generator that is passed.")
def the_same_numbers_give_the_same_points(region: Region) -> None:
    """Of spread, sample, near and project, bit for bit."""
    U, X = _rng().random((_M, region.dim)), _lawful(region)[:4]
    ways: dict[str, Callable[[], Array]] = {
        "spread": lambda: region.spread(U),
        "sample": lambda: region.sample(_M, _rng(1)),
        "near": lambda: region.near(X, 8, _WIDTHS, _rng(2)),
        "project": lambda: region.project(U),
    }
    for what, made in ways.items():
        require(made().tobytes() == made().tobytes(), f"{what} gives other points the second time.")


@law("Copy an argument before changing it.")
def arguments_stay_as_they_are(region: Region) -> None:
    """Points that were passed to any method."""
    U, X = _rng().random((_M, region.dim)), _lawful(region)
    inside, first = np.resize(X, U.shape), X[: min(4, len(X))]
    given = [part.copy() for part in (U, X, inside)]
    region.spread(U), region.project(U), region.project(U, inside), region.near(first, 4, _WIDTHS, _rng())
    region.holds(X), region.among(X, X), region.free(X), region.free(X, True), region.neighbors(X[0])
    for _ in region.steps(X):
        pass
    kept = all(np.array_equal(one, two) for one, two in zip(given, (U, X, inside), strict=True))
    require(kept, "a method changes the points that it is given.")


@law("holds gets any points of the cube that project or spread return; it must be False where they break your rule.")
def holds_is_a_mask_of_the_rows(region: Region) -> None:
    """Of no rows too; and the same for a row whatever rows stand beside it."""
    X = _lawful(region)
    found = region.holds(X)
    require(found.shape == (len(X),) and found.dtype == bool, f"holds gives {found!r:.60}.")
    require(region.holds(X[:0]).shape == (0,), "holds of no rows is not an empty mask.")
    one_by_one = [bool(region.holds(x[None, :])[0]) for x in X[:16]]
    require(found[:16].tolist() == one_by_one, "holds answers otherwise for a row alone.")


@law("Leave out or replace forbidden points: sample, near and project(X, inside) must return allowed points only.")
def every_point_that_is_given_is_lawful(region: Region) -> None:
    """holds says so; of project without ``inside`` only where no rule is a function."""
    X, rng = _lawful(region), _rng(3)
    _require_lawful(region, X, "sample")
    _require_lawful(region, region.near(X[:8], 8, _WIDTHS, rng), "near")
    away = rng.uniform(-0.2, 1.2, (_M, region.dim))
    _require_lawful(region, region.project(away, np.resize(X, away.shape)), "project(X, inside)")
    if not region.ruled:
        _require_lawful(region, region.project(away), "project")
        _require_lawful(region, region.spread(rng.random((_M, region.dim))), "spread")


@law("project leaves an allowed point where it is, and moves a point close to it only a little.")
def project_leaves_lawful_points_where_they_are(region: Region) -> None:
    """To rounding; and of points 1e-7 away too."""
    X = _lawful(region)
    gap = np.abs(region.project(X) - X).max()
    require(gap <= _SAME, f"project moves a lawful point by {gap:.2g}.")
    away = X + 1e-7 * _rng(4).uniform(-1.0, 1.0, X.shape)
    gap = np.abs(region.project(away) - X).max()
    require(gap <= 1e-5, f"project moves what is 1e-7 from a lawful point to {gap:.2g} from it.")


@law("Compare to SAME_POINT in continuous columns, and exactly, to rounding, in discrete ones.")
def a_point_is_among_those_that_have_it_and_no_others(region: Region) -> None:
    """Every lawful point is among all of them, none among none, and far ones are others."""
    X = _lawful(region)
    require(bool(region.among(X, X).all()), "a point is not among points that have it.")
    require(not region.among(X, X[:0]).any(), "a point is among no points.")
    far = np.abs(X - X[0]).max(axis=1) > 0.01
    require(not region.among(X[far], X[:1]).any(), "a point is the same as one that is far from it.")


@law("free is (m, d) bool, or (1, d); a small move along free columns, projected, stays a small move.")
def free_columns_can_move(region: Region) -> None:
    """From lawful points, by 1e-4; ``relaxed`` frees no fewer."""
    X, rng = _lawful(region), _rng(5)
    free, relaxed = region.free(X), region.free(X, True)
    for mask in (free, relaxed):
        fits = mask.dtype == bool and mask.shape in ((1, region.dim), X.shape)
        require(fits, f"free gives shape {mask.shape} for {len(X)} points of {region.dim} columns.")
    require(bool((relaxed | ~free).all()), "relaxed holds a column that is free otherwise.")
    moved = np.clip(X + 1e-4 * np.where(free, rng.uniform(-1.0, 1.0, X.shape), 0.0), 0.0, 1.0)
    gap = np.abs(region.project(moved) - X).max()
    require(gap <= 1e-2, f"a move of free columns by 1e-4 ends {gap:.2g} away, once it is projected.")


@law(
    "Each array of steps is (s, a, d): allowed alternatives to each row, or the row itself in place of a forbidden one."
)
def steps_lead_to_lawful_points(region: Region) -> None:
    """And neighbors are lawful."""
    X = _lawful(region)[:8]
    for found in region.steps(X):
        fits = found.ndim == 3 and found.shape[::2] == X.shape
        require(fits, f"steps give shape {found.shape} for {X.shape}.")
        _require_points(region, found.reshape(-1, region.dim), "steps")
        if not region.ruled:
            _require_lawful(region, found.reshape(-1, region.dim), "steps")
    for x in X:
        close = _require_points(region, region.neighbors(x), "neighbors")
        _require_lawful(region, close, "neighbors")


@law("If size is not None, points() lists every allowed point once; size also counts those that a function forbids.")
def a_finite_region_lists_its_points(region: Region) -> None:
    """Of up to 4,096: as many as it says, all different, and all that are drawn among them."""
    if region.size is None or region.size > ENUMERATE_UP_TO:
        return
    points = _require_points(region, region.points(), "points")
    enough = len(points) <= region.size if region.ruled else len(points) == region.size
    require(enough, f"size is {region.size}, and points() has {len(points)}.")
    require(len(np.unique(np.round(points, 9), axis=0)) == len(points), "points() has a point twice.")
    _require_lawful(region, points, "points")
    require(bool(region.among(_lawful(region), points).all()), "sample gives a point that points() has not.")


LAWS = laws_in(globals())
