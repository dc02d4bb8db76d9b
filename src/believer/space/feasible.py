"""Whether rules can hold together, the set in which they do, and the rules that contradict each other, by linear
programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.space.geometry import KEPT, MARGIN, Geometry
from believer.space.parameter import Parameter
from believer.space.program import answered, by_program
from believer.space.projection import excess, onto_rules
from believer.space.rules import Linear, MaxParts, Rule

_FLAT = 1e-7
_SAME = 1e-8
"""A set whose largest ball has a smaller radius is flat; ends of an interval that are closer are one number."""

_EXHAUSTIVE = 8
"""Up to this number of rules, the smallest set of rules that cannot hold together is sought among all sets."""


def geometry_of(
    rules: Sequence[Rule],
    parameters: Mapping[str, Parameter],
    starts: Mapping[str, int],
    lower: Array,
    upper: Array,
    grids: Mapping[int, Array],
) -> Geometry | None:
    """The set of points that keep ``rules``; None if it is empty.

    ``starts`` has the column of each parameter, ``lower`` and ``upper`` are the bounds of all columns of the space, and
    ``grids`` has the positions of the values of columns that have grids.
    """
    names = [*dict.fromkeys(name for rule in rules for name in rule.names)]
    place = {name: i for i, name in enumerate(names)}
    rows, groups = [], []
    for rule in rules:
        if isinstance(rule, Linear):
            rows.append(_row(rule, parameters, place))
        elif isinstance(rule, MaxParts):
            groups.append((np.array([place[name] for name in rule.names], dtype=np.intp), rule.most))
    columns = np.array([starts[name] for name in names], dtype=np.intp)
    A = np.array([row for row, _, _ in rows]).reshape(len(rows), len(names))
    low, high = (np.array([row[i] for row in rows], dtype=np.float64) for i in (1, 2))
    floor, roof = lower[columns], upper[columns]
    held = A[:, floor == roof] @ floor[floor == roof]  # a column that is held, or has one value, adds a constant
    possible = np.maximum(A * floor, A * roof).sum(axis=1) + KEPT >= low
    possible &= np.minimum(A * floor, A * roof).sum(axis=1) - KEPT <= high
    if not possible.all():
        return None
    A, low, high = A.copy(), low - held, high - held
    A[:, floor == roof] = 0.0
    size = np.abs(A).max(axis=1, initial=0.0)
    A, low, high = (
        A[size > 0.0],
        (low / np.where(size, size, 1.0))[size > 0.0],
        (high / np.where(size, size, 1.0))[size > 0.0],
    )
    A /= size[size > 0.0, None]
    values = tuple(grids.get(int(c)) if floor[i] < roof[i] else None for i, c in enumerate(columns))
    middle = 0.5 * (floor + roof)
    found = _centered(Geometry(columns, floor, roof, values, A, low, high, tuple(groups), middle, middle))
    if found is None or not (groups or found.gridded.any()):
        return found
    known = by_program(found, found.center)
    return None if known is None else replace(found, known=frozen(known))


def _row(rule: Linear, parameters: Mapping[str, Parameter], place: Mapping[str, int]) -> tuple[Array, float, float]:
    """A rule in the cube: its coefficients (j,), and the bounds of the sum."""
    a, shift = np.zeros(len(place)), 0.0
    for name, c in rule.terms:
        number: Any = parameters[name]
        a[place[name]] = c * (number.high - number.low)
        shift += c * number.low
    low = -np.inf if rule.at_least is None else rule.at_least - shift
    high = np.inf if rule.at_most is None else rule.at_most - shift
    return a, low, high


def conflict(rules: Sequence[Rule], feasible: Callable[[Sequence[Rule]], bool]) -> tuple[Rule, ...]:
    """The smallest set of ``rules`` that cannot hold together; for many rules, a set from which no rule can be left
    out. ``feasible`` says whether some rules can hold together."""
    if len(rules) <= _EXHAUSTIVE:
        for size in range(1, len(rules)):
            for some in combinations(rules, size):
                if not feasible(some):
                    return some
        return tuple(rules)
    kept = list(rules)
    for rule in rules:
        without = [other for other in kept if other is not rule]
        if not feasible(without):
            kept = without
    return tuple(kept)


def _centered(given: Geometry) -> Geometry | None:
    """The set with its center and its margins; None if it is empty. In a flat set, some bounds are replaced by
    equations."""
    found = _largest_ball(given)
    if found is None:
        return None
    if found[1] < _FLAT:
        given = _flattened(given)
        found = _largest_ball(given)
        if found is None:
            return None
    loose = ~given.equations & (given.A[:, ~given.gridded] != 0.0).any(axis=1)
    spare = np.where(loose, np.minimum(MARGIN, 0.25 * (given.high - given.low)), 0.0)
    low, high = given.low + spare, given.high - spare
    center = onto_rules(found[0][None, :], given.lower, given.upper, given.A, low, high, given.parts)
    middle = frozen(center[0])
    return replace(
        given,
        lower=frozen(given.lower),
        upper=frozen(given.upper),
        low=low,
        high=high,
        center=middle,
        known=middle,
    )


def _largest_ball(given: Geometry) -> tuple[Array, float] | None:
    """The center and radius of the largest ball in the set, by a linear program; None if the set is empty."""
    from scipy.optimize import linprog

    j, equations, moves = len(given.lower), given.equations, given.moves
    basis = given.directions(moves)
    # The largest change of a sum, and of a column, by a unit step.
    slopes = np.sqrt(((given.A @ basis.T) ** 2).sum(axis=1))
    widths = np.sqrt((basis**2).sum(axis=0))
    eye = np.eye(j)[moves]
    blocks = [
        (given.A, given.high, slopes, ~equations & np.isfinite(given.high)),
        (-given.A, -given.low, slopes, ~equations & np.isfinite(given.low)),
        (eye, given.upper[moves], widths[moves], np.ones(len(eye), dtype=bool)),
        (-eye, -given.lower[moves], widths[moves], np.ones(len(eye), dtype=bool)),
    ]
    rows = np.vstack([np.hstack([M[keep], slope[keep, None]]) for M, _, slope, keep in blocks])
    ends = np.concatenate([end[keep] for _, end, _, keep in blocks])
    solved = answered(
        linprog,
        np.append(np.zeros(j), -1.0),
        A_ub=rows if len(rows) else None,
        b_ub=ends if len(rows) else None,
        A_eq=np.hstack([given.A, np.zeros((len(given.A), 1))])[equations] if equations.any() else None,
        b_eq=given.low[equations] if equations.any() else None,
        bounds=[*zip(given.lower, given.upper, strict=True), (0.0, 1.0)],
    )
    if solved.status != 0:
        return None
    x = np.minimum(np.maximum(solved.x[:j], given.lower), given.upper)
    near = onto_rules(x[None, :], given.lower, given.upper, given.A, given.low, given.high, given.parts)
    if excess(near, given.A, given.low, given.high)[0] > KEPT:
        return None  # the program's own tolerance is larger
    return near[0], float(solved.x[j])


def _flattened(given: Geometry) -> Geometry:
    """The set in which columns that cannot move are held, and sums that cannot change are equations."""
    lower, upper, low, high = (end.copy() for end in (given.lower, given.upper, given.low, given.high))
    for i in np.flatnonzero(given.moves & ~given.gridded):
        least, most = _range(given, np.eye(len(lower))[i])
        if most - least < _SAME:
            lower[i] = upper[i] = _snapped(least, lower[i], upper[i])
    for r in np.flatnonzero(~given.equations):
        least, most = _range(given, given.A[r])
        if most - least < _SAME:
            low[r] = high[r] = _snapped(least, low[r], high[r])
    return replace(given, lower=lower, upper=upper, low=low, high=high)


def _range(given: Geometry, slope: Array) -> tuple[float, float]:
    """The least and greatest value of a sum in the set."""
    from scipy.optimize import linprog

    equations = given.equations
    above, below = ~equations & np.isfinite(given.high), ~equations & np.isfinite(given.low)
    ends = []
    for sign in (1.0, -1.0):
        solved = answered(
            linprog,
            sign * slope,
            A_ub=np.vstack([given.A[above], -given.A[below]]),
            b_ub=np.concatenate([given.high[above], -given.low[below]]),
            A_eq=given.A[equations],
            b_eq=given.low[equations],
            bounds=[*zip(given.lower, given.upper, strict=True)],
        )
        ends.append(sign * solved.fun if solved.status == 0 else sign * -np.inf)
    return ends[0], ends[1]


def _snapped(value: float, *ends: float) -> float:
    """``value``, or an end of the interval if it lies there up to rounding."""
    return next((end for end in ends if abs(end - value) < _SAME), value)
