"""scikit-optimize's search space: the same random state draws the same points, which are lists, as there."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any

import numpy as np

from believer import space as engine
from believer.arrays import Array, shown
from believer.errors import InvalidInput

__all__ = ["Categorical", "Dimension", "Integer", "Real", "Space"]

MAX_DRAWS = 1000
"""The largest number of rounds of random draws until enough points keep a constraint."""


def one_of(value: Any, choices: Collection[Any], what: str) -> Any:
    """``value`` if it is among the ``choices`` for ``what``; InvalidInput otherwise."""
    if value not in choices:
        raise InvalidInput(f"{what} must be one of {', '.join(map(str, choices))}; got {shown(value)}.")
    return value


def check_random_state(seed: Any) -> np.random.RandomState:
    """The generator of a ``random_state``: a seed, a RandomState itself, or None for NumPy's own."""
    if not isinstance(seed, Integral | np.random.RandomState | None):
        raise InvalidInput(f"random_state must be a whole number, a RandomState or None; got {shown(seed)}.")
    return np.random.RandomState(int(seed)) if isinstance(seed, Integral) else seed or np.random.mtrand._rand


class OutOfOrder(InvalidInput, RuntimeError):
    """A call that comes too early, or with an impossible point; scikit-optimize raises a RuntimeError for it."""


class Dimension:
    """One column of a point."""


@dataclass
class Numeric(Dimension):
    """The base of :class:`Real` and :class:`Integer`."""

    low: Any
    high: Any
    prior: str = "uniform"
    base: int = field(default=10, repr=False)
    transform: Any = None
    name: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.high <= self.low or not isinstance(self.name, str | None):
            raise InvalidInput(f"a dimension has low < high, and a name that is a str or None; got {self}.")
        self.transform = one_of(self.transform or "identity", ("identity", "normalize"), "transform")
        self._is_log = one_of(self.prior, ("uniform", "log-uniform"), "prior") == "log-uniform"
        self._is_whole = isinstance(self, Integer)
        self.parameter = (engine.Int if self._is_whole else engine.Float)(self.low, self.high, log=self._is_log)
        self.bounds = self.low, self.high = self.parameter.low, self.parameter.high
        self.to_engine: Any = round if self._is_whole else float
        self.from_engine: Any = np.int64 if self._is_whole else float

    def __contains__(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """``n_samples`` values drawn with ``random_state``: an array of whole numbers, or a list of floats."""
        rng, is_plain = check_random_state(random_state), self.transform == "identity"
        if self._is_whole and is_plain and not self._is_log:
            return rng.randint(self.low, self.high + 1, size=n_samples)
        low, high = np.log10(self.bounds) / np.log10(self.base) if self._is_log else np.array(self.bounds, dtype=float)
        width = high - low if is_plain else 1.0
        drawn = rng.uniform(size=n_samples) * np.nextafter(width, width + 1.0)
        drawn = (drawn if is_plain else drawn * (high - low)) + low
        values = np.clip(self.base**drawn if self._is_log else drawn, self.low, self.high)
        return np.round(values).astype(np.int64) if self._is_whole else values.tolist()


class Real(Numeric):
    """A real number.

    Parameters
    ----------
    low, high : the bounds, both included.
    prior, base : "uniform" or "log-uniform", and the base of the logarithm.
    transform, name : "identity" or "normalize", two ways to draw; for ``use_named_args`` and plots.
    """


class Integer(Numeric):
    """A whole number.

    Parameters
    ----------
    low, high, prior, base, transform, name : as for :class:`Real`.
    """


@dataclass
class Categorical(Dimension):
    """One of several categories.

    Parameters
    ----------
    categories, prior : the different values, and the probability with which each is drawn; models ignore the prior.
    transform, name : "onehot", "label" or "normalize", which draws without the prior; as for :class:`Real`.
    """

    categories: Any
    prior: Any = None
    transform: Any = field(default=None, repr=False)
    name: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.categories = self.bounds = tuple(self.categories)
        k = len(self.categories)
        self.transform = one_of(self.transform or "onehot", ("onehot", "label", "normalize"), "transform")
        if not 0 < len(set(self.categories)) == k or not isinstance(self.name, str | None):
            raise InvalidInput(f"a dimension has categories that differ, and a name that is a str or None; got {self}.")
        self.prior = None if self.prior is None else [float(share) for share in self.prior]
        if self.prior is not None and (len(self.prior) != k or not np.isclose(sum(self.prior), 1.0)):
            raise InvalidInput(f"a prior must have a share for each category, 1 in all; got {shown(self.prior)}.")
        try:
            self.parameter = engine.Categorical(self.categories)
        except InvalidInput:  # values that are not plain data are replaced by their positions
            self.parameter = engine.Categorical(range(k))

    def to_engine(self, value: Any) -> Any:
        """A category in the engine's terms; KeyError if it is not one."""
        for category, choice in zip(self.categories, self.parameter.choices, strict=True):
            if category is value or category == value:
                return choice
        raise KeyError(value)

    def from_engine(self, choice: Any) -> Any:
        """The category for a choice of the engine."""
        return self.categories[self.parameter.choices.index(choice)]

    def __contains__(self, value: Any) -> bool:
        return value in self.categories

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> list[Any]:
        """``n_samples`` values drawn with ``random_state``."""
        drawn, k = check_random_state(random_state).uniform(size=n_samples), len(self.categories)
        places = np.searchsorted(np.cumsum(self.prior or np.full(k, 1.0 / k))[:-1], drawn)
        if self.transform == "normalize":
            places = np.round(drawn * np.nextafter(1.0, 2.0) * (k - 1)).astype(int)
        return [self.categories[i] for i in places]


def check_dimension(dimension: Any) -> Any:
    """A dimension itself, or that of ``(low, high)``, ``(low, high, prior)``, with a base, or of categories."""
    if isinstance(dimension, Dimension):
        return dimension
    given = tuple(dimension) if isinstance(dimension, list | tuple | np.ndarray) else ()
    has_names = any(isinstance(end, str | bool | np.bool_) for end in given[:2])
    if len(given) == 1 or has_names or given[2:3] not in ((), ("uniform",), ("log-uniform",)):
        return Categorical(given)
    if not given or not all(isinstance(end, RealNumber) for end in given[:2]):
        raise InvalidInput(f"a dimension is (low, high), categories, or a Real and the like; got {shown(dimension)}.")
    return (Integer if all(isinstance(end, Integral) for end in given[:2]) else Real)(*given)


@dataclass
class Space:
    """Dimensions in a fixed order.

    Parameters
    ----------
    dimensions : each as for :func:`check_dimension`; or another space, whose constraint is kept.
    constraint : a function that says whether a point, which is a list, may be evaluated; None if all may.
    """

    dimensions: Any
    constraint: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.dimensions, Space) and self.constraint is None:
            self.constraint = self.dimensions.constraint
        if self.constraint is not None and not callable(self.constraint):
            raise InvalidInput(f"a constraint must be a function of a point, or None; got {shown(self.constraint)}.")
        if not isinstance(self.dimensions, Iterable):
            raise InvalidInput(f"a space is made of dimensions, in a list; got {shown(self.dimensions)}.")
        self.dimensions = [check_dimension(dimension) for dimension in self.dimensions]
        self.n_dims, self.bounds = len(self.dimensions), [dim.bounds for dim in self]
        places = [f"X_{i}" for i in range(self.n_dims)]
        names = [place if dim.name is None else dim.name for dim, place in zip(self, places, strict=True)]
        self.dimension_names, self._keys = names, names if len({*names} - {""}) == self.n_dims else places
        constraint = None if self.constraint is None else self._holds
        parameters = {key: dim.parameter for key, dim in zip(self._keys, self, strict=True)}
        self.engine = engine.Space(parameters, constraint=constraint)

    def __repr__(self) -> str:
        return "Space([{}])".format(",\n       ".join(map(str, self.dimensions)))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.dimensions)

    def __getitem__(self, name: Any) -> Any:
        """The place and the dimension of a name, or of a place; a list of these for a list."""
        if isinstance(name, list | tuple):
            return [self[one] for one in name]
        names = [*self.dimension_names, *range(self.n_dims)]
        place = names.index(one_of(name, names, "a dimension")) % self.n_dims
        return place, self.dimensions[place]

    def __contains__(self, point: Any) -> bool:
        return all(value in dimension for value, dimension in zip(point, self.dimensions, strict=False))

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> list[list[Any]]:
        """``n_samples`` points drawn with ``random_state``."""
        rng, points = check_random_state(random_state), list[list[Any]]()
        for _ in range(MAX_DRAWS):
            drawn = [list(row) for row in zip(*[dim.rvs(n_samples, rng) for dim in self], strict=True)]
            points += drawn if self.constraint is None else filter(self.constraint, drawn)
            if len(points) >= n_samples:
                return points[:n_samples]
        raise OutOfOrder(f"{len(points)} of {MAX_DRAWS * n_samples} random points keep the constraint: too few.")

    def _holds(self, params: dict[str, Any]) -> bool:
        return bool(self.constraint(self.point(params)))

    def transform(self, X: Iterable[Any]) -> Array:
        """The points ``X`` as models see them: numbers from 0 to 1 on the scale of the prior, one column a category."""
        return self.engine.encode([self.params(x) for x in X])

    def inverse_transform(self, Xt: Any) -> list[list[Any]]:
        """The points that models see as ``Xt`` (n, columns)."""
        return [self.point(params) for params in self.engine.decode(Xt)]

    def params(self, point: list[Any]) -> dict[str, Any]:
        """A point in the engine's terms."""
        return {key: dim.to_engine(value) for key, dim, value in zip(self._keys, self, point, strict=True)}

    def point(self, params: dict[str, Any]) -> list[Any]:
        """A point of the engine's as a list."""
        return [dim.from_engine(params[key]) for key, dim in zip(self._keys, self, strict=True)]
