"""Problems that return several named numbers: objectives to trade against each other, and outcomes to keep in limits.

| symbol | meaning | shape |
|---|---|---|
| X | points, in the user's units or encoded | (m, d) |
| Y | outcomes, a column each in the order of the goals | (m, k) |
| F | objectives, all to be minimized | (m, o) |
| G | violations, at most 0 where a limit is kept | (m, c) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, BoolArray
from believer.errors import InvalidInput
from believer.space import Float, Space

Wanted: TypeAlias = (
    tuple[Literal["minimize", "maximize"], None]
    | tuple[Literal["at_most", "at_least"], float]
    | tuple[Literal["between"], tuple[float, float]]
)
"""What is wanted of an outcome: its kind, and the limit or the two limits where it has any."""

MINIMIZE: Wanted = ("minimize", None)

Returned: TypeAlias = Callable[[dict[str, Any]], dict[str, float]]
"""The named numbers at params."""


@dataclass(frozen=True, slots=True)
class SeveralProblem:
    """``function(params) -> {name: number}`` over ``space``, with a goal for each of the numbers.

    Parameters
    ----------
    name : of the problem.
    space : of the params.
    function : from params to the outcomes, a number for each name of ``goals``.
    goals : by outcome, what is wanted of it; columns of outcomes are in this order.
    optimum : the best feasible value of the only objective; None if there are several, or it is not known.
    optimizer : params that reach it; None if they are not known.
    reference : with several objectives, the point (in their own units and order) up to which hypervolume is measured.
    hypervolume : of the ideal front, from ``reference``; None with one objective.
    """

    name: str
    space: Space
    function: Returned
    goals: Mapping[str, Wanted] = field(hash=False)
    optimum: float | None = None
    optimizer: tuple[dict[str, Any], ...] | None = field(default=None, hash=False)
    reference: tuple[float, ...] | None = None
    hypervolume: float | None = None

    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        """The outcomes at ``params``; InvalidInput when they do not belong to the space."""
        return self.function(self.space.check(params))

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the outcomes to be minimized or maximized."""
        return tuple(name for name, goal in self.goals.items() if goal[0] in ("minimize", "maximize"))

    def evaluate(self, X: npt.ArrayLike) -> Array:
        """Outcomes Y (m, k) at encoded points ``X`` (m, dim) of the unit cube."""
        return self.table(self.function(params) for params in self.space.decode(X))

    def table(self, outcomes: Iterable[Mapping[str, float]]) -> Array:
        """``outcomes`` of m points as Y (m, k)."""
        rows = [[float(row[name]) for name in self.goals] for row in outcomes]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.goals))

    def to_minimize(self, Y: Array) -> Array:
        """Objectives F (m, o) of outcomes ``Y`` (m, k), those to be maximized negated."""
        pairs = zip(self.goals.values(), Y.T, strict=True)
        columns = [y if kind == "minimize" else -y for (kind, _), y in pairs if kind in ("minimize", "maximize")]
        return np.column_stack([Y[:, :0], *columns])

    def violations(self, Y: Array) -> Array:
        """The violations G (m, c) of limits by outcomes ``Y`` (m, k); at most 0 where a limit is kept.

        "at_most" and "at_least" have one column, "between" has two.
        """
        columns: list[Array] = []
        for goal, y in zip(self.goals.values(), Y.T, strict=True):
            if goal[0] == "at_most":
                columns.append(y - goal[1])
            elif goal[0] == "at_least":
                columns.append(goal[1] - y)
            elif goal[0] == "between":
                columns += [goal[1][0] - y, y - goal[1][1]]
        return np.column_stack([Y[:, :0], *columns])

    def feasible(self, Y: Array) -> BoolArray:
        """A mask (m,) of the rows of ``Y`` (m, k) that keep every limit."""
        return np.asarray((self.violations(Y) <= 0.0).all(axis=1))

    def reference_to_minimize(self) -> Array:
        """The reference point (o,) beside ``to_minimize``. Raises InvalidInput if there is none."""
        if self.reference is None:
            raise InvalidInput(f"hypervolume needs a reference point; {self.name!r} has one objective and none.")
        signs = [1.0 if self.goals[name][0] == "minimize" else -1.0 for name in self.objectives]
        return np.multiply(signs, self.reference)


def best_feasible(problem: SeveralProblem, Y: Array) -> Array:
    """The best feasible value so far (m,), to be minimized, after each row of ``Y`` (m, k); inf before there is any.

    Raises InvalidInput unless the problem has one objective.
    """
    if len(problem.objectives) != 1:
        raise InvalidInput(f"a best value needs one objective; {problem.name!r} has {len(problem.objectives)}.")
    values = np.where(problem.feasible(Y), problem.to_minimize(Y)[:, 0], np.inf)
    curve: Array = np.minimum.accumulate(values)
    return curve


def feasible_regret(problem: SeveralProblem, Y: Array) -> Array:
    """``best_feasible`` above the optimum (m,); inf before anything feasible.

    Raises InvalidInput if the optimum is not known.
    """
    if problem.optimum is None:
        raise InvalidInput(f"regret needs a known optimum; {problem.name!r} has none.")
    sign = 1.0 if problem.goals[problem.objectives[0]][0] == "minimize" else -1.0
    return best_feasible(problem, Y) - sign * problem.optimum


@dataclass(frozen=True, slots=True)
class NamedRow:
    """A function of params from one of rows: ``rows`` maps (m, d) to (m, k), named by ``names``."""

    rows: Callable[[Array], Array]
    names: tuple[str, ...]

    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        """The outcomes at ``params``, whose order is that of the columns."""
        row = self.rows(np.array([list(params.values())], dtype=np.float64))[0]
        return dict(zip(self.names, row.tolist(), strict=True))


def of_rows(
    name: str,
    rows: Callable[[Array], Array],
    box: Mapping[str, tuple[float, float]],
    goals: Mapping[str, Wanted],
    *,
    optimum: float | None = None,
    best: Iterable[tuple[float, ...]] = (),
    reference: tuple[float, ...] | None = None,
    hypervolume: float | None = None,
) -> SeveralProblem:
    """A problem of real numbers in ``box``, its outcomes the columns of ``rows``, its optimum at each of ``best``."""
    space = Space({key: Float(low, high) for key, (low, high) in box.items()})
    optimizer = tuple(dict(zip(space.names, x, strict=True)) for x in best) or None
    function = NamedRow(rows, tuple(goals))
    return SeveralProblem(name, space, function, dict(goals), optimum, optimizer, reference, hypervolume)
