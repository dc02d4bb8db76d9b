"""scikit-optimize's search space: dimensions in a fixed order; points are lists, in that order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer import space as engine
from believer.arrays import Array, shown
from believer.integrations.skopt.dimensions import (
    Categorical,
    Dimension,
    Integer,
    Real,
    check_dimension,
    check_random_state,
)
from believer.integrations.skopt.refusals import InvalidInput, OutOfOrder

__all__ = ["Categorical", "Dimension", "Integer", "Real", "Space", "check_dimension"]

Point = list[Any]
Constraint = Callable[[Point], bool]


class Space:
    """Dimensions in a fixed order, and which points are allowed.

    Parameters
    ----------
    dimensions : each as for :func:`check_dimension`; or another space.
    constraint : says of a point, a list, whether it is allowed; None allows all.
    """

    def __init__(self, dimensions: Iterable[Any], constraint: Constraint | None = None) -> None:
        self.dimensions = [check_dimension(dimension) for dimension in dimensions]
        known = dimensions.constraint if isinstance(dimensions, Space) else None
        self.constraint: Constraint | None = known if constraint is None else constraint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.dimensions == other.dimensions

    def __repr__(self) -> str:
        return "Space([{}])".format(",\n       ".join(map(str, self.dimensions)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dimensions)

    def __contains__(self, point: Any) -> bool:
        within = all(value in dimension for value, dimension in zip(point, self.dimensions, strict=False))
        return within and (self.constraint is None or bool(self.constraint(point)))

    def __getitem__(self, names: Any) -> Any:
        """``(index, dimension)`` by name or index, ``(None, None)`` for no such; a list of these for a list."""
        if isinstance(names, list | tuple):
            return [self[name] for name in names]
        if not isinstance(names, str | int):
            raise InvalidInput(f"a dimension is found by its name or index; got {shown(names)}.")
        return next(((i, dim) for i, dim in enumerate(self.dimensions) if names in (dim.name, i)), (None, None))

    @property
    def n_dims(self) -> int:
        """How many dimensions."""
        return len(self.dimensions)

    @property
    def transformed_n_dims(self) -> int:
        """How many columns models see."""
        return sum(dimension.transformed_size for dimension in self.dimensions)

    @property
    def bounds(self) -> list[Any]:
        """Of each dimension."""
        return [dimension.bounds for dimension in self.dimensions]

    @property
    def transformed_bounds(self) -> list[Any]:
        """Of each column that models see."""
        found = [dimension.transformed_bounds for dimension in self.dimensions]
        return [pair for bounds in found for pair in (bounds if isinstance(bounds, list) else [bounds])]

    @property
    def dimension_names(self) -> list[str]:
        """Names of the dimensions, ``X_0`` and so on for those without."""
        return [f"X_{i}" if dim.name is None else dim.name for i, dim in enumerate(self.dimensions)]

    @dimension_names.setter
    def dimension_names(self, names: list[str | None]) -> None:
        if len(names) != self.n_dims:
            raise InvalidInput(f"each of {self.n_dims} dimensions needs a name; got {len(names)} names.")
        for dimension, name in zip(self.dimensions, names, strict=True):
            dimension.name = name

    @property
    def is_categorical(self) -> bool:
        """Whether all dimensions are Categorical."""
        return all(isinstance(dimension, Categorical) for dimension in self.dimensions)

    @property
    def is_partly_categorical(self) -> bool:
        """Whether some dimension is Categorical."""
        return any(isinstance(dimension, Categorical) for dimension in self.dimensions)

    def get_transformer(self) -> list[str]:
        """The transform of each dimension."""
        return [dimension.transform_ for dimension in self.dimensions]

    def set_transformer(self, transform: str | list[str]) -> None:
        """One transform for all dimensions, or a list with one for each."""
        each = transform if isinstance(transform, list) else [transform] * self.n_dims
        for dimension, one in zip(self.dimensions, each, strict=True):
            dimension.set_transformer(one)

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> list[Point]:
        """``n_samples`` points drawn with ``random_state`` that are allowed."""
        rng, points = check_random_state(random_state), []
        for _ in range(10_000):
            columns = [dim.rvs(n_samples=n_samples, random_state=rng) for dim in self.dimensions]
            rows = (list(row) for row in zip(*columns, strict=True))
            points += [row for row in rows if self.constraint is None or self.constraint(row)]
            if len(points) >= n_samples:
                return points[:n_samples]
        raise OutOfOrder("the constraint allows hardly any point: of 10,000 draws there were too few.")

    def transform(self, X: Any) -> Any:
        """What models see of the points ``X``: an array (n, columns)."""
        columns = [dim.transform([x[j] for x in X]) for j, dim in enumerate(self.dimensions)]
        return np.hstack([np.asarray(column).reshape(len(X), -1) for column in columns])

    def inverse_transform(self, Xt: Any) -> list[Point]:
        """The points that models see as ``Xt`` (n, columns)."""
        columns = [dim.inverse_transform(part) for dim, part in self._parts(Xt)]
        return [list(row) for row in zip(*columns, strict=True)]

    def _parts(self, Xt: Any) -> Iterator[tuple[Any, Any]]:
        """Each dimension with its columns of ``Xt``: (n,) where it has one."""
        Xt, start = np.asarray(Xt), 0
        for dim in self.dimensions:
            stop = start + dim.transformed_size
            yield dim, Xt[:, start] if stop == start + 1 else Xt[:, start:stop]
            start = stop

    def distance(self, point_a: Point, point_b: Point) -> Any:
        """The sum of the distances of ``point_a`` and ``point_b`` along the dimensions."""
        return sum(dim.distance(a, b) for a, b, dim in zip(point_a, point_b, self.dimensions, strict=False))

    def units(self, Xt: Any) -> Array:
        """The encoded cube of the engine (n, d), of what models see, ``Xt`` (n, columns)."""
        if np.ndim(Xt) != 2 or np.shape(Xt)[1] != self.transformed_n_dims:
            raise InvalidInput(f"transformed points are (n, {self.transformed_n_dims}); got {np.shape(Xt)}.")
        return np.hstack([dim.units(part) for dim, part in self._parts(Xt)])

    def engine(self) -> engine.Space:
        """The space in the engine's terms."""
        parameters = {key: dim.parameter for key, dim in zip(self._keys(), self.dimensions, strict=True)}
        return engine.Space(parameters, None if self.constraint is None else _OnLists(self, self.constraint))

    def params(self, point: Point) -> dict[str, Any]:
        """A point in the engine's terms."""
        found = zip(self._keys(), self.dimensions, point, strict=True)
        return {key: dim.to_engine(value) for key, dim, value in found}

    def point(self, params: dict[str, Any]) -> Point:
        """A point of the engine's as a list."""
        return [dim.from_engine(params[key]) for key, dim in zip(self._keys(), self.dimensions, strict=True)]

    def _keys(self) -> list[str]:
        """The names of the dimensions, where they differ."""
        names = self.dimension_names
        return names if all(names) and len(set(names)) == len(names) else [f"X_{i}" for i in range(self.n_dims)]


@dataclass(frozen=True)
class _OnLists:
    """A constraint on lists as one on params."""

    space: Space
    constraint: Constraint

    def __call__(self, params: dict[str, Any]) -> bool:
        return bool(self.constraint(self.space.point(params)))
