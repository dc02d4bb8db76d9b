"""scikit-optimize's search space: dimensions in a fixed order; points are lists, in that order.

The same random state draws the same values as there, and models see the same columns, the *transformed* values;
``units`` leads on from these to the encoded columns of the engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, ClassVar

import numpy as np

from believer import space as engine
from believer.arrays import Array, shown
from believer.errors import BelieverError, InvalidInput

__all__ = ["Categorical", "Integer", "Real", "Space"]

Point = list[Any]
_PRIORS = ("uniform", "log-uniform")
_LEAST = 1e-300


class OutOfOrder(BelieverError, RuntimeError):
    """What is a RuntimeError there: a call that came too early, or a point that is not of this space."""


def one_of(value: Any, choices: Collection[str], what: str) -> Any:
    """``value`` if it is among the ``choices`` for ``what``; InvalidInput otherwise."""
    if value not in choices:
        raise InvalidInput(f"{what} must be one of {', '.join(choices)}; got {shown(value)}.")
    return value


def check_random_state(seed: Any) -> np.random.RandomState:
    """The generator of a ``random_state``: a seed, a RandomState itself, or None for NumPy's own."""
    if seed is None or isinstance(seed, np.random.RandomState):
        return np.random.mtrand._rand if seed is None else seed
    if isinstance(seed, Integral):
        return np.random.RandomState(int(seed))
    raise InvalidInput(f"random_state must be a whole number, a numpy.random.RandomState or None; got {shown(seed)}.")


class Dimension:
    """What :class:`Real`, :class:`Integer` and :class:`Categorical` share: a name or None, and a transform."""

    transforms: ClassVar[tuple[str, ...]]
    transformed_size = 1
    _ends: tuple[Any, Any]

    def __init__(self, name: str | None, transform: str | None) -> None:
        if not isinstance(name, str | None):
            raise InvalidInput(f"a dimension's name must be a str or None; got {shown(name)}.")
        self.name = name
        self.set_transformer(self.transforms[0] if transform is None else transform)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dimension) and repr(self) == repr(other)

    def set_transformer(self, transform: str) -> None:
        """Choose what models see of the dimension."""
        self.transform_ = one_of(transform, self.transforms, "transform")
        if isinstance(self, Categorical):  # two categories are one column
            self.transformed_size = len(self.categories) if transform == "onehot" and len(self.categories) > 2 else 1

    def transform(self, X: Any) -> Any:
        """What models see of the values ``X``."""
        seen, (low, high) = self._numbers(X), self._ends
        if self.transform_ == "onehot":
            return np.eye(high + 1, dtype=int)[seen] if self.transformed_size > 1 else seen[:, None]
        return (seen - low) / max(high - low, _LEAST) if self.transform_ == "normalize" else seen

    def inverse_transform(self, Xt: Any) -> Any:
        """The values that models see as ``Xt``."""
        return self._values(self._seen(Xt))

    def _seen(self, Xt: Any) -> Any:
        """Numbers (n,) on the scale of the prior, or indices of categories, that models see as ``Xt``."""
        Xt, (low, high) = np.asarray(Xt, dtype=float), self._ends
        if self.transformed_size > 1:
            return Xt.reshape(-1, self.transformed_size).argmax(axis=1)
        return Xt.ravel() * (float(high) - float(low)) + low if self.transform_ == "normalize" else Xt.ravel()

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """``n_samples`` values drawn from the prior with ``random_state``."""
        rng = check_random_state(random_state)
        if self.transform_ == "normalize":
            return self.inverse_transform(rng.uniform(size=n_samples) * np.nextafter(1.0, 2.0))
        return self._drawn(n_samples, rng)

    def units(self, Xt: Any) -> Array:
        """Encoded columns of the engine, of what models see."""
        numbers, (low, high) = self._seen(Xt), self._ends
        if isinstance(self, Categorical):
            return np.asarray(np.eye(high + 1)[np.round(numbers).astype(int)])
        return np.asarray(np.clip((numbers - low) / (float(high) - float(low)), 0.0, 1.0)[:, None])

    def _numbers(self, X: Any) -> Any: ...
    def _values(self, numbers: Any) -> Any: ...
    def _drawn(self, n: int, rng: np.random.RandomState) -> Any: ...


class _Number(Dimension):
    """A number between two bounds, both included."""

    transforms = ("identity", "normalize")
    is_whole: ClassVar[bool]

    def __init__(
        self, low: Any, high: Any, prior: str = "uniform", base: int = 10, transform: Any = None, name: Any = None
    ) -> None:
        if high <= low:
            raise InvalidInput(f"bounds must satisfy low < high; got low={low}, high={high}.")
        self._is_log = one_of(prior, _PRIORS, "prior") == "log-uniform"
        self.parameter = (engine.Int if self.is_whole else engine.Float)(low, high, log=self._is_log)
        self.low, self.high, self.prior, self.base = self.parameter.low, self.parameter.high, prior, base
        self.bounds = (self.low, self.high)
        self._ends = tuple(self._numbers(self.bounds)) if self._is_log else self.bounds
        super().__init__(name, transform)

    def __repr__(self) -> str:
        shape = f"low={self.low}, high={self.high}, prior={self.prior!r}, transform={self.transform_!r}"
        return f"{type(self).__name__}({shape})"

    def __contains__(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)

    def _numbers(self, X: Any) -> Any:
        if self._is_log:
            return np.log10(np.asarray(X, dtype=float)) / np.log10(self.base)
        return np.round(X) if self.is_whole else np.asarray(X)

    def _values(self, numbers: Any) -> Any:
        """An array of NumPy's whole numbers, or a list of Python's floats, as there."""
        values = np.clip(self.base**numbers if self._is_log else numbers, self.low, self.high)
        return np.round(values).astype(np.int64) if self.is_whole else values.tolist()

    def _drawn(self, n: int, rng: np.random.RandomState) -> Any:
        (low, high), width = self._ends, self._ends[1] - self._ends[0]
        if self.is_whole and not self._is_log:
            return self._values(rng.randint(low, high + 1, size=n))
        return self._values(rng.uniform(size=n) * np.nextafter(width, width + 1.0) + low)

    def to_engine(self, value: Any) -> Any:
        return round(float(value)) if self.is_whole else float(value)

    def from_engine(self, value: Any) -> Any:
        return np.int64(value) if self.is_whole else value


class Real(_Number):
    """A real number.

    Parameters
    ----------
    low, high : the bounds, both included.
    prior : "uniform" or "log-uniform".
    base : of the logarithm that models see.
    transform : what models see, "identity" or "normalize".
    name : for ``use_named_args`` and plots.
    """

    is_whole = False


class Integer(_Number):
    """A whole number.

    Parameters
    ----------
    low, high, prior, base, transform, name : as for :class:`Real`.
    """

    is_whole = True


class Categorical(Dimension):
    """One of several categories.

    Parameters
    ----------
    categories : values that differ.
    prior : how likely each is to be drawn; models make nothing of it.
    transform : what models see, "onehot", "label" or "normalize".
    name : for ``use_named_args`` and plots.
    """

    transforms = ("onehot", "label", "normalize")

    def __init__(self, categories: Iterable[Any], prior: Any = None, transform: Any = None, name: Any = None) -> None:
        self.categories = self.bounds = tuple(categories)
        self.prior, self._ends = prior, (0, len(self.categories) - 1)
        self._index = {category: i for i, category in enumerate(self.categories)}
        if not 0 < len(self._index) == len(self.categories):
            raise InvalidInput(f"categories must be one or more, and differ; got {shown(self.categories)}.")
        if prior is not None and (len(prior) != len(self.categories) or not np.isclose(sum(prior), 1.0)):
            raise InvalidInput(f"a prior must have a share for each category, 1 in all; got {shown(prior)}.")
        try:
            self.parameter = engine.Categorical(self.categories)
        except InvalidInput:  # values that are no plain data are known by their places
            self.parameter = engine.Categorical(range(len(self.categories)))
        super().__init__(name, transform)

    def __repr__(self) -> str:
        return f"Categorical(categories={self.categories}, prior={self.prior})"

    def __contains__(self, value: Any) -> bool:
        return value in self.categories

    def _numbers(self, X: Any) -> Any:
        return np.array([self._index[value] for value in X], dtype=int)

    def _values(self, numbers: Any) -> Any:
        return [self.categories[i] for i in np.round(numbers).astype(int)]

    def _drawn(self, n: int, rng: np.random.RandomState) -> Any:
        shares = np.ones(len(self.categories)) / len(self.categories) if self.prior is None else self.prior
        return self._values(np.searchsorted(np.cumsum(shares)[:-1], rng.uniform(size=n)))

    def to_engine(self, value: Any) -> Any:
        """A category as the engine has it."""
        return self.parameter.choices[self._index[value]]

    def from_engine(self, value: Any) -> Any:
        """A choice of the engine's as it is here."""
        return self.categories[self.parameter.choices.index(value)]


def check_dimension(dimension: Any, transform: str | None = None) -> Any:
    """A dimension itself, or that of ``(low, high)``, ``(low, high, prior)``, with a base, or of categories."""
    if isinstance(dimension, Dimension):
        return dimension
    if not isinstance(dimension, list | tuple | np.ndarray) or len(dimension) == 0:
        raise InvalidInput(f"a dimension is (low, high), categories, or a Real and the like; got {shown(dimension)}.")
    ends, more = tuple(dimension[:2]), tuple(dimension[2:])
    numbers = all(isinstance(end, RealNumber) and not isinstance(end, bool | np.bool_) for end in ends)
    if len(dimension) == 2 and not numbers and not any(isinstance(end, str | bool | np.bool_) for end in ends):
        raise InvalidInput(f"bounds must be two numbers; got {shown(dimension)}.")
    if len(ends) < 2 or not numbers or (more and (more[0] not in _PRIORS or len(more) > 2)):
        return Categorical(dimension, transform=transform)
    if not isinstance(dimension, tuple):
        warnings.warn(f"{dimension!r} is taken for bounds; write a tuple, or Categorical({dimension!r}).", stacklevel=3)
    kind: Any = Integer if all(isinstance(end, Integral) for end in ends) else Real
    return kind(*ends, *more, transform=transform)


class Space:
    """Dimensions in a fixed order.

    Parameters
    ----------
    dimensions : each as for :func:`check_dimension`; or another space.
    """

    def __init__(self, dimensions: Iterable[Any]) -> None:
        if not isinstance(dimensions, Iterable):
            raise InvalidInput(f"a space is made of dimensions, in a list; got {shown(dimensions)}.")
        self.dimensions = [check_dimension(dimension) for dimension in dimensions]
        self.n_dims, self.bounds = len(self.dimensions), [dim.bounds for dim in self]
        self.dimension_names = [f"X_{i}" if dim.name is None else dim.name for i, dim in enumerate(self)]
        differ = len(set(self.dimension_names)) == self.n_dims and all(self.dimension_names)
        self._keys = self.dimension_names if differ else [f"X_{i}" for i in range(self.n_dims)]
        self.engine = engine.Space({key: dim.parameter for key, dim in zip(self._keys, self, strict=True)})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.dimensions == other.dimensions

    def __repr__(self) -> str:
        return "Space([{}])".format(",\n       ".join(map(str, self.dimensions)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dimensions)

    def __contains__(self, point: Any) -> bool:
        return all(value in dimension for value, dimension in zip(point, self.dimensions, strict=False))

    def __getitem__(self, names: Any) -> Any:
        """``(index, dimension)`` by name or index, ``(None, None)`` for no such; a list of these for a list."""
        if isinstance(names, list | tuple):
            return [self[name] for name in names]
        return next(((i, dim) for i, dim in enumerate(self.dimensions) if names in (dim.name, i)), (None, None))

    def set_transformer(self, transform: str | list[str]) -> None:
        """One transform for all dimensions, or a list with one for each."""
        each = transform if isinstance(transform, list) else [transform] * self.n_dims
        for dim, one in zip(self, each, strict=True):
            dim.set_transformer(one)

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> list[Point]:
        """``n_samples`` points drawn with ``random_state``."""
        rng = check_random_state(random_state)
        return [list(row) for row in zip(*[dim.rvs(n_samples, rng) for dim in self], strict=True)]

    def transform(self, X: Any) -> Any:
        """What models see of the points ``X``: an array (n, columns)."""
        columns = [dim.transform([x[j] for x in X]) for j, dim in enumerate(self)]
        return np.hstack([np.asarray(column).reshape(len(X), -1) for column in columns])

    def inverse_transform(self, Xt: Any) -> list[Point]:
        """The points that models see as ``Xt`` (n, columns)."""
        columns = [dim.inverse_transform(part) for dim, part in self._parts(Xt)]
        return [list(row) for row in zip(*columns, strict=True)]

    def _parts(self, Xt: Any) -> Iterator[tuple[Any, Any]]:
        """Each dimension with its columns of ``Xt``."""
        stops = np.cumsum([dim.transformed_size for dim in self])
        return zip(self, np.split(np.asarray(Xt), stops[:-1], axis=1), strict=True)

    def distance(self, point_a: Point, point_b: Point) -> Any:
        """The sum of the distances of ``point_a`` and ``point_b`` along the dimensions."""
        if point_a not in self or point_b not in self:
            raise OutOfOrder(f"a distance is between two points of the space; got {shown(point_a)}, {shown(point_b)}.")
        pairs = zip(self, point_a, point_b, strict=True)
        return sum(int(a != b) if isinstance(dim, Categorical) else abs(a - b) for dim, a, b in pairs)

    def units(self, Xt: Any) -> Array:
        """The encoded cube of the engine (n, d), of what models see, ``Xt`` (n, columns)."""
        columns = sum(dim.transformed_size for dim in self)
        if np.ndim(Xt) != 2 or np.shape(Xt)[1] != columns:
            raise InvalidInput(f"transformed points are (n, {columns}); got {np.shape(Xt)}.")
        return np.hstack([dim.units(part) for dim, part in self._parts(Xt)])

    def params(self, point: Point) -> dict[str, Any]:
        """A point in the engine's terms."""
        return {key: dim.to_engine(value) for key, dim, value in zip(self._keys, self, point, strict=True)}

    def point(self, params: dict[str, Any]) -> Point:
        """A point of the engine's as a list."""
        return [dim.from_engine(params[key]) for key, dim in zip(self._keys, self, strict=True)]
