"""The sources of data for a diagnosis: a problem and a seed, or the user's own table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, as_points, as_values, frozen
from believer.batch.random import draw
from believer.errors import InvalidInput
from believer.experiments import fingerprint
from believer.numerics.sampling import latin_hypercube, stream
from believer.problems import Problem, problems_by_name
from believer.space import Space
from believer.space.box import Box
from believer.space.region import Region
from believer.surrogates.data import Data

Bounds: TypeAlias = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Observations ``X`` (n, d), ``y`` (n,) in a region of the unit cube."""

    X: Array
    y: Array
    region: Region

    @property
    def observations(self) -> Data:
        """The data that a model learns from."""
        return Data(self.X, self.y)


@dataclass(frozen=True, slots=True)
class FromProblem:
    """A Latin hypercube of ``n`` points of a problem, a different one for each seed."""

    problem: str | Problem
    n: int

    @property
    def name(self) -> str:
        """The name for titles."""
        return self.problem if isinstance(self.problem, str) else self.problem.name

    @property
    def space(self) -> Space:
        """The problem's space."""
        return self._problem().space

    @property
    def region(self) -> Region:
        """The same, encoded."""
        return self.space.region({})

    def _problem(self) -> Problem:
        return problems_by_name()[self.problem]() if isinstance(self.problem, str) else self.problem

    def settings(self) -> dict[str, Any]:
        """Plain data for the key of a cell; a problem without a name of its own is also identified by its parts."""
        problem, named = self._problem(), problems_by_name()
        if self.name in named and problem == named[self.name]():
            return {"problem": self.name, "n": self.n}
        made_of = [problem.space.to_config(), fingerprint(problem.function)]
        return {"problem": self.name, "made_of": made_of, "n": self.n}

    def draw(self, seed: int) -> DataSet:
        """The data set of ``seed``."""
        problem = self._problem()
        region = problem.space.region({})
        rng, none = stream(seed, 0, "initial design"), np.zeros((0, region.dim))
        design = region.spread(latin_hypercube(self.n, region.dim, rng))
        X = np.array([draw(region, none, rng, first=x)[0] for x in design])
        y = problem.evaluate(X)
        if not np.isfinite(y).all():
            raise InvalidInput(
                f"{self.name} gave a value that is not finite at {X[~np.isfinite(y)][0].tolist()}. "
                "Correct the problem, or exclude that point by a constraint."
            )
        return DataSet(frozen(X), frozen(y), region)


@dataclass(frozen=True, slots=True, eq=False)
class FromTable:
    """The user's own observations, the same for every seed, scaled to the unit cube."""

    X: Array
    y: Array

    @property
    def region(self) -> Region:
        """The whole cube."""
        return Box.cube(self.X.shape[1])

    def settings(self) -> dict[str, Any]:
        """Plain data, for a cell's key."""
        digest = hashlib.sha256(self.X.tobytes() + self.y.tobytes()).hexdigest()[:16]
        return {"table": digest, "n": len(self.X)}

    def draw(self, seed: int) -> DataSet:
        """The same data for every seed."""
        return DataSet(self.X, self.y, self.region)


DataSource: TypeAlias = FromProblem | FromTable


def source_of(given: Any, n: int) -> DataSource:
    """A source from a problem's name, a :class:`Problem`, or ``(X, y)`` or ``(X, y, bounds)`` in the user's units.

    ``n`` is the size of the initial designs of a problem. Raises :class:`InvalidInput` for anything else.
    """
    if isinstance(given, str):
        named = problems_by_name()
        if given not in named:
            raise InvalidInput(f"problem must be one of {', '.join(named)}, or data; got {given!r}.")
        return FromProblem(given, n)
    if isinstance(given, Problem):
        return FromProblem(given, n)
    if isinstance(given, tuple) and len(given) in (2, 3):
        return _table(*given)
    raise InvalidInput(
        f"problem_or_data must be a problem's name, a Problem, or a tuple (X, y, bounds); got {type(given).__name__}."
    )


def _table(X: Any, y: Any, bounds: Bounds | None = None) -> FromTable:
    points = as_points(X)
    values = as_values(y, len(points))
    if len(points) < 2:
        raise InvalidInput(f"a diagnosis needs at least two observations; got {len(points)}.")
    if not points.shape[1]:
        raise InvalidInput("a diagnosis needs at least one column besides y; got none.")
    low, high = _box(bounds, points.shape[1]).T
    unit = (points - low) / (high - low)
    outside = np.flatnonzero(((unit < -1e-9) | (unit > 1.0 + 1e-9)).any(axis=1))
    if len(outside):
        raise InvalidInput(f"every point must lie within the bounds; row {int(outside[0])} does not. Widen the bounds.")
    return FromTable(frozen(np.clip(unit, 0.0, 1.0)), frozen(values))


def _box(bounds: Bounds | None, d: int) -> Array:
    """``bounds`` as an array (d, 2), checked; the unit cube for None."""
    try:
        box = np.asarray([(0.0, 1.0)] * d if bounds is None else bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"bounds must be {d} pairs (low, high) of numbers; got {bounds!r}.") from error
    if box.shape != (d, 2):
        raise InvalidInput(f"bounds must be {d} pairs (low, high); got shape {box.shape}.")
    low, high = box.T
    with np.errstate(over="ignore", invalid="ignore"):
        wrong = np.flatnonzero(~(low < high) | ~np.isfinite(high - low))
    if len(wrong):
        j = int(wrong[0])
        raise InvalidInput(f"bounds must satisfy low < high; got low={low[j]}, high={high[j]} for column {j}.")
    return box
