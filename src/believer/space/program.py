"""The nearest allowed point by integer programming: exact with grids and parts that may be absent, but slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.space.geometry import EXACT, KEPT, Geometry
from believer.space.projection import excess, onto_rules

_ANSWERS = (0, 2)
"""The states of a solver that has found a point, or that there is none."""

_TIGHTER = 1e-5
"""The margin of the second program within the bounds of rules."""


def by_program(given: Geometry, x: Array) -> Array | None:
    """The point (j,) nearest to ``x`` (j,), by the sum of absolute differences, from an integer program; None if there
    is none.

    It is exact with grids and groups, but takes milliseconds for each point. The solver accepts a point that violates a
    rule by its tolerance; in that case a second program looks for a point that keeps every rule with a margin.
    """
    near, off = _solved(given, x, 0.0)
    if near is None or off <= EXACT:
        return near
    inner, beyond = _solved(given, x, _TIGHTER)
    return inner if inner is not None and beyond <= EXACT else near if off <= KEPT else None


def answered(solve: Callable[..., Any], c: Array, **program: Any) -> Any:
    """What a solver of SciPy says of a program: where it gives up, which is no answer, without its presolve.

    Parameters
    ----------
    solve : the solver.
    c : what to minimize.
    program : its further arguments.
    """
    solved = solve(c, **program)
    return solved if solved.status in _ANSWERS else solve(c, **program, options={"presolve": False})


def _solved(given: Geometry, x: Array, spare: float) -> tuple[Array | None, float]:
    """The point of the program, which keeps inequalities with the margin ``spare``, and its largest violation of a
    rule."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    j = len(x)
    grids = [(i, values) for i, values in enumerate(given.values) if values is not None]
    uniform = [np.ptp(np.diff(values)) < 1e-9 for _, values in grids]
    counts = [1 if even else len(values) for (_, values), even in zip(grids, uniform, strict=True)]
    total = 2 * j + sum(counts) + sum(len(columns) for columns, _ in given.groups)
    inwards = np.where(given.equations, 0.0, spare)
    rows = [np.hstack([given.A, np.zeros((len(given.A), total - j))])]
    low, high = [given.low + inwards], [given.high - inwards]
    upper, whole = np.concatenate([given.upper, np.full(j, np.inf), np.ones(total - 2 * j)]), np.zeros(total)

    def add(entries: Mapping[int, float], least: float, most: float) -> None:
        row = np.zeros((1, total))
        row[0, list(entries)] = list(entries.values())
        rows.append(row)
        low.append(np.array([least]))
        high.append(np.array([most]))

    for i in range(j):  # |u_i - x_i| ≤ t_i
        add({i: 1.0, j + i: -1.0}, -np.inf, x[i])
        add({i: 1.0, j + i: 1.0}, x[i], np.inf)
    at = 2 * j
    for (i, values), even, k in zip(grids, uniform, counts, strict=True):
        whole[at : at + k] = 1
        if even:
            upper[at] = len(values) - 1
            add({i: 1.0, at: -float(values[1] - values[0])}, values[0], values[0])
        else:
            add({i: 1.0, **{at + n: -float(v) for n, v in enumerate(values)}}, 0.0, 0.0)
            add({at + n: 1.0 for n in range(k)}, 1.0, 1.0)
        at += k
    for columns, most in given.groups:
        whole[at : at + len(columns)] = 1
        for n, i in enumerate(columns):
            add({int(i): 1.0, at + n: -float(given.upper[i])}, -np.inf, 0.0)
        add({at + n: 1.0 for n in range(len(columns))}, 0.0, most)
        at += len(columns)
    solved = answered(
        milp,
        np.concatenate([np.zeros(j), np.ones(j), np.zeros(total - 2 * j)]),
        integrality=whole,
        bounds=Bounds(np.concatenate([given.lower, np.zeros(total - j)]), upper),
        constraints=LinearConstraint(np.vstack(rows), np.concatenate(low), np.concatenate(high)),
    )
    if solved.x is None:
        return None, np.inf
    found = np.minimum(np.maximum(solved.x[:j], given.lower), given.upper)
    lower, upper = given.lower.copy(), given.upper.copy()
    for i, values in grids:
        lower[i] = upper[i] = values[np.abs(values - found[i]).argmin()]
    for columns, most in given.groups:
        absent = columns[np.argsort(-found[columns], kind="stable")[most:]]
        upper[absent] = 0.0
    near = np.minimum(np.maximum(found, lower), upper)[None, :]
    if not given.gridded[given.moves].all():
        near = onto_rules(found[None, :], lower, upper, given.A, given.low, given.high, given.parts)
    return near[0], float(excess(near, given.A, given.low, given.high)[0])
