"""scikit-optimize's dimensions: a number or a category, with a prior, a transform and a name.

The same random state draws the same values as there, and models see the same columns, the *transformed* values;
``units`` leads on from these to the encoded columns of the engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from numbers import Real as RealNumber
from typing import Any, ClassVar

import numpy as np

from believer import space as engine
from believer.arrays import Array, shown
from believer.integrations.skopt.refusals import InvalidInput, OutOfOrder

__all__ = ["Categorical", "Dimension", "Integer", "Real", "check_dimension", "check_random_state"]

_PRIORS = ("uniform", "log-uniform")
_WITHIN = 1e-8


def check_random_state(seed: Any) -> np.random.RandomState:
    """The generator of a ``random_state``: a seed, a RandomState itself, or None for NumPy's own."""
    if seed is None or isinstance(seed, np.random.RandomState):
        return np.random.mtrand._rand if seed is None else seed
    if isinstance(seed, Integral):
        return np.random.RandomState(int(seed))
    raise InvalidInput(f"random_state must be a whole number, a numpy.random.RandomState or None; got {shown(seed)}.")


class Dimension:
    """What every dimension has; the kinds are :class:`Real`, :class:`Integer` and :class:`Categorical`.

    Parameters
    ----------
    name : what it is called, or None.
    transform : what models see of it; None for the first of ``transforms``.
    """

    transforms: ClassVar[tuple[str, ...]]
    size, transformed_size, is_constant = 1, 1, False
    bounds: tuple[Any, ...]
    transformed_bounds: Any = (0.0, 1.0)
    transform_: str

    def __init__(self, name: str | None, transform: str | None) -> None:
        self.name = name
        self.set_transformer(self.transforms[0] if transform is None else transform)

    @property
    def name(self) -> str | None:
        """What the dimension is called, or None."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        if not isinstance(value, str | None):
            raise InvalidInput(f"a dimension's name must be a str or None; got {shown(value)}.")
        self._name = value

    def set_transformer(self, transform: str) -> None:
        """Choose what models see of the dimension."""
        if transform not in self.transforms:
            raise InvalidInput(f"transform must be one of {', '.join(self.transforms)}; got {shown(transform)}.")
        self.transform_ = transform
        self._transformed()

    def distance(self, a: Any, b: Any) -> Any:
        """Between the values ``a`` and ``b``: of numbers |a - b|, of categories 1 if they differ."""
        if a not in self or b not in self:
            raise OutOfOrder(f"a distance is between two values of the dimension; got {shown(a)} and {shown(b)}.")
        return abs(a - b) if isinstance(self, _Number) else int(a != b)

    def __contains__(self, value: Any) -> bool:
        raise NotImplementedError

    def _transformed(self) -> None:
        raise NotImplementedError


class _Number(Dimension):
    """A number between two bounds, both included; ``own`` is its type in Python, and ``dtypes`` those it may have."""

    transforms = ("identity", "normalize")
    own: ClassVar[type]
    dtypes: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        low: Any,
        high: Any,
        prior: str = "uniform",
        base: int = 10,
        transform: str | None = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        if high <= low:
            raise InvalidInput(f"bounds must satisfy low < high; got low={low}, high={high}.")
        if prior not in _PRIORS:
            raise InvalidInput(f"prior must be uniform or log-uniform; got {shown(prior)}.")
        if prior == "log-uniform" and low <= 0:
            raise InvalidInput(f"a log-uniform prior needs low > 0; got low={low}.")
        dtype = {float: float, int: np.int64}[self.own] if dtype is None else dtype
        if isinstance(dtype, str | type) and getattr(dtype, "__name__", dtype) not in self.dtypes:
            raise InvalidInput(f"dtype must be one of {', '.join(self.dtypes)}; got {shown(dtype)}.")
        self.low, self.high, self.prior, self.base, self.dtype = low, high, prior, base, dtype
        self.bounds, self._is_log = (low, high), prior == "log-uniform"
        self._ends: tuple[Any, Any] = tuple(self._scaled(self.bounds)) if self._is_log else self.bounds
        kind = engine.Int if self.own is int else engine.Float
        self.parameter = kind(low, high, log=self._is_log)
        super().__init__(name, transform)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and np.allclose(self.bounds, other.bounds)
            and (self.prior, self.transform_) == (other.prior, other.transform_)
        )

    def __repr__(self) -> str:
        bounds = f"low={self.low}, high={self.high}"
        return f"{type(self).__name__}({bounds}, prior={self.prior!r}, transform={self.transform_!r})"

    def __contains__(self, value: Any) -> bool:
        return bool(self.low <= value <= self.high)

    def _transformed(self) -> None:
        self.transformed_bounds = (0.0, 1.0) if self.transform_ == "normalize" else self._ends

    def _scaled(self, values: Any) -> Any:
        return np.log10(np.asarray(values, dtype=float)) / np.log10(self.base)

    def transform(self, X: Any) -> Any:
        """What models see of the values ``X``."""
        X = self._scaled(X) if self._is_log else X
        if self.transform_ == "identity":
            return X
        (low, high), X = self._ends, np.round(X) if self.own is int and not self._is_log else np.asarray(X)
        if np.any((X - high > _WITHIN) | (low - X > _WITHIN)):
            raise InvalidInput(f"values must lie in [{self.low}, {self.high}].")
        return (X - low) / (float(high) - float(low))

    def inverse_transform(self, Xt: Any) -> Any:
        """The values that models see as ``Xt``."""
        Xt = np.asarray(Xt)
        if self.transform_ == "normalize":
            if np.any(np.abs(Xt - 0.5) > 0.5 + _WITHIN):
                raise InvalidInput("normalized values must lie in [0, 1].")
            low, high = map(float, self._ends)
            Xt = Xt * (high - low) + low
        return self._typed(self.base ** Xt.astype(float) if self._is_log else Xt)

    def _typed(self, values: Any) -> Any:
        """As values of the dimension: a list of Python's own type, or an array."""
        values = np.clip(values, self.low, self.high)
        typed = (np.round(values) if self.own is int else values).astype(self.dtype)
        return typed.tolist() if self.dtype in (self.own, self.own.__name__) else typed

    def rvs(self, n_samples: int | None = 1, random_state: Any = None) -> Any:
        """``n_samples`` values drawn from the prior with ``random_state``."""
        rng, (low, high) = check_random_state(random_state), self.transformed_bounds
        if self.own is int and not self._is_log and self.transform_ == "identity":
            return self.inverse_transform(rng.randint(low, high + 1, size=n_samples))
        width = high - low
        return self.inverse_transform(rng.uniform(size=n_samples) * np.nextafter(width, width + 1.0) + low)

    def units(self, Xt: Any) -> Array:
        """Encoded columns (n, 1) of what models see."""
        low, high = map(float, self.transformed_bounds)
        return np.clip((np.asarray(Xt, dtype=float).reshape(-1, 1) - low) / (high - low), 0.0, 1.0)

    def to_engine(self, value: Any) -> Any:
        """A value as the engine has it."""
        return round(float(value)) if self.own is int else float(value)

    def from_engine(self, value: Any) -> Any:
        """A value of the engine's as it is here."""
        return self._typed(np.array([value]))[0]


class Real(_Number):
    """A real number.

    Parameters
    ----------
    low, high : the bounds, both included.
    prior : "uniform" or "log-uniform".
    base : of the logarithm that models see.
    transform : what models see, "identity" or "normalize".
    name : for ``use_named_args`` and plots.
    dtype : of the values; default float.
    """

    own, dtypes = float, ("float", "float16", "float32", "float64")


class Integer(_Number):
    """A whole number.

    Parameters
    ----------
    low, high, prior, base, transform, name : as for :class:`Real`.
    dtype : of the values; default numpy.int64.
    """

    own, dtypes = int, ("int", *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")))


class Categorical(Dimension):
    """One of several categories.

    Parameters
    ----------
    categories : values that differ.
    prior : how likely each is to be drawn; models make nothing of it.
    transform : what models see, "onehot", "label", "normalize", "string" or "identity".
    name : for ``use_named_args`` and plots.
    """

    transforms = ("onehot", "identity", "string", "normalize", "label")

    def __init__(
        self, categories: Iterable[Any], prior: Any = None, transform: str | None = None, name: str | None = None
    ) -> None:
        self.categories, self.prior = tuple(categories), prior
        self.bounds, k = self.categories, len(self.categories)
        self._index = {category: i for i, category in enumerate(self.categories)}
        if not 0 < len(self._index) == k:
            raise InvalidInput(f"categories must be one or more, and differ; got {shown(self.categories)}.")
        self.prior_, self.is_constant = np.full(k, 1.0 / k) if prior is None else prior, k == 1
        try:
            self.parameter = engine.Categorical(self.categories)
        except InvalidInput:  # values that are no plain data are known by their places
            self.parameter = engine.Categorical(range(k))
        super().__init__(name, transform)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Categorical)
            and self.categories == other.categories
            and np.allclose(self.prior_, other.prior_)
        )

    def __repr__(self) -> str:
        return f"Categorical(categories={shown(self.categories)}, prior={shown(self.prior)})"

    def __contains__(self, value: Any) -> bool:
        return value in self.categories

    def _transformed(self) -> None:
        """Two categories are one column."""
        self.transformed_size = len(self.categories) if self.transform_ == "onehot" and len(self.categories) > 2 else 1
        self.transformed_bounds = (0.0, 1.0) if self.transformed_size == 1 else [(0.0, 1.0)] * self.transformed_size

    def transform(self, X: Any) -> Any:
        """What models see of the categories ``X``."""
        if self.transform_ in ("identity", "string"):
            return X if self.transform_ == "identity" else [str(value) for value in X]
        places, k = np.array([self._index[value] for value in X], dtype=int), len(self.categories)
        if self.transform_ == "onehot":
            return np.eye(k, dtype=int)[places] if k > 2 else places[:, None]
        return places / max(k - 1, 1) if self.transform_ == "normalize" else places.tolist()

    def _places(self, Xt: Any) -> Any:
        """The indices of the categories that models see as ``Xt``."""
        k = len(self.categories)
        if self.transform_ in ("identity", "string"):
            named = self._index if self.transform_ == "identity" else {str(c): i for c, i in self._index.items()}
            return [named[value] for value in np.asarray(Xt, dtype=object).ravel()]
        Xt = np.asarray(Xt, dtype=float)
        if self.transform_ == "onehot":
            return Xt.reshape(-1, k).argmax(axis=1) if k > 2 else (Xt.ravel() > 0.5).astype(int)
        return np.round(Xt.ravel() * (k - 1 if self.transform_ == "normalize" else 1)).astype(int)

    def inverse_transform(self, Xt: Any) -> list[Any]:
        """The categories that models see as ``Xt``."""
        return [self.categories[i] for i in self._places(Xt)]

    def rvs(self, n_samples: int | None = None, random_state: Any = None) -> Any:
        """``n_samples`` categories drawn with ``random_state``; for None one, not in a list."""
        u = np.atleast_1d(check_random_state(random_state).uniform(size=n_samples))
        if self.transform_ == "normalize":
            drawn = self.inverse_transform(u)
        else:
            drawn = [self.categories[i] for i in np.searchsorted(np.cumsum(self.prior_)[:-1], u)]
        return drawn[0] if n_samples is None else drawn

    def units(self, Xt: Any) -> Array:
        """Encoded columns (n, k) of what models see."""
        units: Array = np.eye(len(self.categories))[self._places(Xt)]
        return units

    def to_engine(self, value: Any) -> Any:
        """A category as the engine has it."""
        return self.parameter.choices[self._index[value]]

    def from_engine(self, value: Any) -> Any:
        """A choice of the engine's as it is here."""
        return self.categories[self.parameter.choices.index(value)]


def check_dimension(dimension: Any, transform: str | None = None) -> Any:
    """The dimension that a tuple or list stands for; a dimension is itself.

    Parameters
    ----------
    dimension : ``(low, high)``, ``(low, high, prior)``, ``(low, high, prior, base)``, or categories.
    transform : of a dimension that is made here.
    """
    if isinstance(dimension, Dimension):
        return dimension
    if not isinstance(dimension, list | tuple | np.ndarray) or len(dimension) == 0:
        raise InvalidInput(f"a dimension is (low, high), categories, or a Real and the like; got {shown(dimension)}.")
    ends, more = tuple(dimension[:2]), tuple(dimension[2:])
    named = len(more) == 1 and more[0] in _PRIORS
    based = len(more) == 2 and more[0] == "log-uniform" and isinstance(more[1], int)
    numbers = all(isinstance(end, RealNumber) and not isinstance(end, bool | np.bool_) for end in ends)
    if len(dimension) == 2 and not numbers and not any(isinstance(end, str | bool | np.bool_) for end in ends):
        raise InvalidInput(f"bounds must be two numbers; got {shown(dimension)}.")
    if len(dimension) == 1 or not numbers or (more and not named and not based):
        return Categorical(dimension, transform=transform)
    if not isinstance(dimension, tuple):
        warnings.warn(f"{dimension!r} is taken for bounds; write a tuple, or Categorical({dimension!r}).", stacklevel=3)
    kind: Any = Integer if all(isinstance(end, Integral) for end in ends) else Real
    return kind(*map(kind.own, ends), *more, transform=transform)
