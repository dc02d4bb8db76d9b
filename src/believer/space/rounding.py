"""Allowed points near given ones: sums by projection, then grids by single steps, and absent parts.

The values of columns on grids and the absent parts are decided first. These columns are then held, and the continuous
ones are projected onto the rest of each sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, BoolArray, IntArray
from believer.space.geometry import EXACT, Geometry
from believer.space.program import by_program
from believer.space.projection import excess, onto_rules
from believer.space.scale import nearest_in

ABSENT = 1e-9
"""A part that is closer to 0 counts as absent."""

_PAIRED = 24
"""Up to this number of single steps, pairs of steps are tried, too."""


def lawful(given: Geometry, P: Array) -> tuple[Array, BoolArray]:
    """Points (m, j) near ``P`` (m, j) that keep the rules if possible, and a mask (m,) of those that do.

    They are the nearest points if no column has a grid and there are no limits on the number of parts. Grid values and
    absent parts are unchanged if that is possible.
    """
    parts = given.parts
    if given.loose:
        X = onto_rules(P, given.lower, given.upper, given.A, given.low, given.high, parts)
        kept = excess(X, given.A, given.low, given.high) <= EXACT
        if kept.all():
            return X, kept
        X[~kept] = _towards_center(given, X[~kept])
        return X, excess(X, given.A, given.low, given.high) <= EXACT
    lower, upper = _as_they_are(given, P)
    odd = np.flatnonzero(_short(given, lower, upper) > EXACT)
    if len(odd):
        relaxed = onto_rules(P[odd], given.lower, given.upper, given.A, given.low, given.high, parts)
        least, most = _supported(given, relaxed)
        lower[odd], upper[odd] = _stepped(given, relaxed, least, most)
    return _filled(given, P, lower, upper)


def as_it_is(given: Geometry, P: Array) -> tuple[Array, BoolArray]:
    """``P`` (m, j) with columns on grids rounded and only the continuous columns projected, and a mask (m,) of the rows
    that then keep the rules."""
    return _filled(given, P, *_as_they_are(given, P))


def _filled(given: Geometry, P: Array, lower: Array, upper: Array) -> tuple[Array, BoolArray]:
    """The points nearest to ``P`` (m, j) in boxes (m, j) in which some columns are held, and a mask of the rows that
    keep the rules."""
    X = np.minimum(np.maximum(P, lower), upper)
    kept = excess(X, given.A, given.low, given.high) <= EXACT
    rows = np.flatnonzero(~kept & (_short(given, lower, upper) <= EXACT))
    if len(rows) and not given.gridded[given.moves].all():
        box = lower[rows], upper[rows]
        X[rows] = onto_rules(P[rows], *box, given.A, given.low, given.high, given.parts)
        kept[rows] = excess(X[rows], given.A, given.low, given.high) <= EXACT
    return X, kept


def settled(given: Geometry, P: Array) -> Array:
    """The same as :func:`lawful`; points for which that fails are found one by one by integer programming."""
    X, kept = lawful(given, P)
    for row in np.flatnonzero(~kept):
        found = by_program(given, np.minimum(np.maximum(P[row], given.lower), given.upper))
        X[row] = given.known if found is None else found
    return X


def _towards_center(given: Geometry, X: Array) -> Array:
    """The rows of ``X`` (m, j), which violate a rule, moved towards the center until they keep it."""
    E, center = given.A[given.equations], given.center
    if len(E):
        X = X - (X @ E.T - given.low[given.equations]) @ np.linalg.pinv(E).T
    way, rows = X - center, given.A[~given.equations]
    slope, at = np.hstack([way @ rows.T, way]), np.concatenate([rows @ center, center])
    high = np.concatenate([given.high[~given.equations], given.upper]) - at
    low = np.concatenate([given.low[~given.equations], given.lower]) - at
    room = np.where(slope > 0.0, high, np.where(slope < 0.0, low, np.inf)) / np.where(slope == 0.0, 1.0, slope)
    t = np.minimum(np.maximum(room, 0.0).min(axis=1), 1.0)
    found: Array = np.minimum(np.maximum(center + t[:, None] * way, given.lower), given.upper)
    return found


def _reach(given: Geometry, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The least and greatest sums (m, r) within the boxes ``lower``, ``upper`` (m, j)."""
    rises, falls = np.maximum(given.A, 0.0).T, np.minimum(given.A, 0.0).T
    return upper @ falls + lower @ rises, upper @ rises + lower @ falls


def _gap(given: Geometry, least: Array, most: Array) -> Array:
    """The least violation of rules by sums between ``least`` and ``most`` (..., r)."""
    found: Array = np.maximum(np.maximum(least - given.high, given.low - most), 0.0)
    return found


def _short(given: Geometry, lower: Array, upper: Array) -> Array:
    """The largest violation (m,) of a sum that cannot be avoided within the boxes ``lower``, ``upper`` (m, j)."""
    found: Array = _gap(given, *_reach(given, lower, upper)).max(axis=1, initial=0.0)
    return found


def _as_they_are(given: Geometry, P: Array) -> tuple[Array, Array]:
    """Boxes (m, j) that hold each column on its nearest grid value, and absent parts at 0.

    Where too many parts are present, the largest stay.
    """
    lower, upper = (np.repeat(end[None, :], len(P), axis=0) for end in (given.lower, given.upper))
    for i, values in enumerate(given.values):
        if values is not None:
            lower[:, i] = upper[:, i] = values[nearest_in(values, P[:, i])]
    for columns, most in given.groups:
        rank, forced = _ranked(given, P, columns)
        absent = ((P[:, columns] <= ABSENT) & ~forced) | (rank >= most)
        full = (~absent).sum(axis=1) >= most  # with room for more, an absent part may come in
        upper[:, columns] = np.where(absent & (full[:, None] | (rank >= most)), 0.0, upper[:, columns])
    return np.minimum(lower, upper), upper


def _ranked(given: Geometry, P: Array, columns: IntArray) -> tuple[IntArray, BoolArray]:
    """The rank (m, k) by size, from 0, of some columns, in which columns that cannot be absent come first; and a mask
    of those."""
    forced = given.lower[columns] > 0.0
    order = np.argsort(-(P[:, columns] + 1e6 * forced), axis=1, kind="stable")
    return np.argsort(order, axis=1), forced


def _supported(given: Geometry, P: Array) -> tuple[Array, Array]:
    """Boxes (m, j) in which as many parts are absent as necessary: the largest stay, or those that a sum needs."""
    lower, upper = (np.repeat(end[None, :], len(P), axis=0) for end in (given.lower, given.upper))
    for columns, most in given.groups:
        rank, _ = _ranked(given, P, columns)
        upper[:, columns] = np.where(rank >= most, 0.0, upper[:, columns])
    lower = np.minimum(lower, upper)
    for row in np.flatnonzero(_short(given, lower, upper) > EXACT) if given.groups else ():
        _swapped(given, lower, upper, int(row))
    return lower, upper


def _swapped(given: Geometry, lower: Array, upper: Array, row: int) -> None:
    """Replace parts by parts with a larger range, one by one, until every sum can be kept within a row's box."""
    for columns, most in given.groups:
        for _ in range(most):
            now = _short(given, lower[row : row + 1], upper[row : row + 1])[0]
            if now <= EXACT:
                return
            present = [int(i) for i in columns if upper[row, i] > 0.0 and given.lower[i] <= 0.0]
            absent = [int(i) for i in columns if upper[row, i] == 0.0 and given.upper[i] > 0.0]
            tries = [(out, come) for out in present for come in absent]
            if not tries:
                break
            boxes = np.repeat(upper[row][None, :], len(tries), axis=0)
            for place, (out, come) in enumerate(tries):
                boxes[place, out], boxes[place, come] = 0.0, given.upper[come]
            gaps = _short(given, np.repeat(lower[row][None, :], len(tries), axis=0), boxes)
            best = int(gaps.argmin())
            if gaps[best] >= now:
                break
            upper[row] = boxes[best]


def _stepped(given: Geometry, P: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The boxes ``lower``, ``upper`` (m, j) with columns on grids held at values near to ``P`` (m, j).

    Starting at the nearest values, single steps that reduce violations are taken, the shortest first; for one sum with
    equal steps this gives the nearest point. Two steps are taken at once if one does not help.
    """
    lower, upper = lower.copy(), upper.copy()
    columns = np.flatnonzero(given.gridded)
    if not len(columns):
        return lower, upper
    grids = [values for values in given.values if values is not None]
    longest = max(map(len, grids))
    table = np.array([np.append(v, np.full(longest - len(v), v[-1])) for v in grids])  # (g, k)
    absent = upper[:, columns] <= 0.0  # these stay at their first value
    top = np.where(absent, 0, np.array([len(v) - 1 for v in grids]))
    index = np.minimum(np.stack([nearest_in(v, P[:, i]) for v, i in zip(grids, columns, strict=True)], axis=1), top)
    places = np.arange(len(columns))
    for _ in range(8 * len(columns) + 16):
        lower[:, columns] = upper[:, columns] = table[places, index]
        least, most = _reach(given, lower, upper)
        rows = np.flatnonzero(_gap(given, least, most).max(axis=1, initial=0.0) > EXACT)
        if not len(rows):
            break
        moves = _Moves(given.A[:, columns], table, P[np.ix_(rows, columns)], index[rows], top[rows])
        step = _best(given, moves, least[rows], most[rows])
        if not step.any():
            break
        index[rows] += step
    return lower, upper


@dataclass(frozen=True, slots=True, eq=False)
class _Moves:
    """The grid columns of some points: coefficients (r, g), values (g, k), wanted values (m, g) and indices (m, g)."""

    A: Array
    table: Array
    wanted: Array
    index: IntArray
    top: IntArray

    def single(self, sign: int) -> tuple[Array, Array]:
        """The change of each column (m, g) by a step up or down, and that of the squared distance, which is infinite if
        there is no such step."""
        there, places = self.index + sign, np.arange(len(self.table))
        inside = (there >= 0) & (there <= self.top)
        now = self.table[places, self.index]
        then = self.table[places, np.minimum(np.maximum(there, 0), self.table.shape[1] - 1)]
        way = (then - self.wanted) ** 2 - (now - self.wanted) ** 2
        return then - now, np.where(inside, way, np.inf)


def _best(given: Geometry, moves: _Moves, least: Array, most: Array) -> IntArray:
    """The step (m, g), or pair of steps, with the least distance for the reduction of violations; 0 if none helps."""
    g = moves.index.shape[1]
    up, down = moves.single(1), moves.single(-1)
    change, way = np.hstack([up[0], down[0]]), np.hstack([up[1], down[1]])
    signed = np.vstack([np.eye(g, dtype=np.intp), -np.eye(g, dtype=np.intp)])
    slope = np.concatenate([moves.A.T, moves.A.T])  # (2g, r)
    now = _gap(given, least, most).sum(axis=1)
    added = change[:, :, None] * slope
    step = _cheapest(given, least, most, now, added, way, signed)
    stuck = np.flatnonzero(~step.any(axis=1))
    if len(stuck) and 2 * g <= _PAIRED:
        a, b = np.triu_indices(2 * g, 1)
        a, b = a[a % g != b % g], b[a % g != b % g]
        both = added[stuck][:, a] + added[stuck][:, b], way[stuck][:, a] + way[stuck][:, b], signed[a] + signed[b]
        step[stuck] = _cheapest(given, least[stuck], most[stuck], now[stuck], *both)
    return step


def _cheapest(
    given: Geometry, least: Array, most: Array, now: Array, added: Array, way: Array, steps: IntArray
) -> IntArray:
    """The best of ``steps`` (s, g) for each row, or 0; they add (m, s, r) to the sums and ``way`` (m, s) to the
    distance."""
    gaps = _gap(given, least[:, None, :] + added, most[:, None, :] + added).sum(axis=-1)
    better = (gaps < now[:, None] - EXACT) & np.isfinite(way)
    price = np.where(better, way / np.where(better, now[:, None] - gaps, 1.0), np.inf)
    best = price.argmin(axis=1) if price.shape[1] else np.zeros(len(price), dtype=np.intp)
    helps = better[np.arange(len(better)), best] if price.shape[1] else np.zeros(len(price), dtype=bool)
    found: IntArray = np.where(helps[:, None], steps[best] if len(steps) else 0, 0)
    return found
