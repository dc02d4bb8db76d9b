"""The data that a model learns from: points, values to be minimized, and the known noise of each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array, IntArray, as_points, as_values, packed, read_only
from believer.errors import InvalidInput
from believer.surrogates.subset import learned_rows

LARGEST_STD = 1e6
"""A known standard deviation above this multiple of the scale of y is cut to it: such a result carries no information
anyway, and its square must not overflow."""

MIN_SCALE = 2.0**-990
"""Values of y that differ by less count as equal, and get this scale, 1e-298. A standard deviation is a small part of
the scale, and its inverse must be finite."""

_MIN_SQUARED = 2.0**-400


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """n results of k outputs, all to be minimized.

    Parameters
    ----------
    X : points of the encoded cube, (n, d).
    Y : values, (n, k); a list of one output's, (n,), is a table of one column.
    noise : known standard deviations of the values, with the shape of ``Y``, and 0 for a value without one; None if no
        value has one. A model's own noise, fixed or inferred, is added to it; models without noise ignore it.
    groups : the number of the parameter, from 0, to which each of the d columns belongs; None if each column is a
        parameter. Columns of the same parameter share a lengthscale.
    """

    X: Array
    Y: Array
    noise: Array | None = None
    groups: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("Y",) if self.noise is None else ("Y", "noise"):
            values = np.asarray(getattr(self, name))
            object.__setattr__(self, name, values[:, None] if values.ndim == 1 else values)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def y(self) -> Array:
        """The values (n,) of the only output."""
        if self.Y.shape[1:] != (1,):
            self._refuse_several()
        return self.Y[:, 0]

    @property
    def std(self) -> Array | None:
        """The known standard deviations (n,) of the only output."""
        if self.Y.shape[1:] != (1,):
            self._refuse_several()
        return None if self.noise is None else self.noise[:, 0]

    def output(self, column: int) -> Data:
        """The data of one output alone, from which its model learns."""
        columns = slice(column, column + 1)
        return Data(self.X, self.Y[:, columns], None if self.noise is None else self.noise[:, columns], self.groups)

    def at(self, rows: Any) -> Data:
        """The results in ``rows``, indices or a mask."""
        return Data(self.X[rows], self.Y[rows], None if self.noise is None else self.noise[rows], self.groups)

    def _refuse_several(self) -> None:
        raise InvalidInput(f"one model learns one output, y (n,); these values have shape {self.Y.shape}.")


def joined(*parts: Data) -> Data:
    """All rows of ``parts``, in their order; the groups are those of the first."""
    noise = None
    if any(part.noise is not None for part in parts):
        noise = np.vstack([np.zeros_like(part.Y) if part.noise is None else part.noise for part in parts])
    return Data(np.vstack([part.X for part in parts]), np.vstack([part.Y for part in parts]), noise, parts[0].groups)


def replicates(X: Array) -> IntArray | None:
    """The group (n,) of equal points that each row of ``X`` (n, d) belongs to; None if no two are equal."""
    if len(X) < 2:
        return None
    column = np.sort(X[:, 0])
    if (column[1:] != column[:-1]).all():  # usually the rows differ in one column already
        return None
    order = np.lexsort(X.T[::-1])
    new = np.any(X[order[1:]] != X[order[:-1]], axis=1)
    if new.all():
        return None
    group = np.empty(len(X), np.int64)
    group[order] = np.concatenate([[0], np.cumsum(new)])
    return group


def variances(std: Array | None, scale: float) -> Array | None:
    """The known standard deviations (n,) as variances of y over ``scale``; None if there are none."""
    if std is None or not std.any():
        return None
    return read_only(np.square(np.minimum(packed(std), LARGEST_STD * scale) / scale))


def squared(scale: float) -> float:
    """The factor of a covariance in units of y²: ``scale``², or 2⁻⁸⁰⁰ if the scale is below 2⁻⁴⁰⁰ (4e-121).

    Squares of smaller scales would underflow. Callers divide covariances by this factor again, or by their diagonal.
    """
    return max(scale, _MIN_SQUARED) ** 2


def extended(known: Array | None, n: int, more: Array | None, k: int) -> Array | None:
    """The ``known`` variances (n,) of n observations followed by those of k ``more`` (k,), with zeros for observations
    without one."""
    if known is None and more is None:
        return None
    parts = (np.zeros(size) if part is None else part for part, size in ((known, n), (more, k)))
    return read_only(np.concatenate([*parts]))


def learned(data: Data, most: int | None) -> Data:
    """The results that a model learns from, in their order; :mod:`~believer.surrogates.subset` says which if there are
    many.

    Parameters
    ----------
    data : the results of one output.
    most : the largest number of results; None for no limit.
    """
    if most is None or len(data) <= most:
        return data
    return data.at(learned_rows(data.y, most))


def learnable(data: Any, what: str, most: int | None = None) -> tuple[Array, Array, Array | None]:
    """X (n, d), y (n,), and the known standard deviations (n,) or None. Raises InvalidInput for data that cannot be
    fitted.

    Parameters
    ----------
    data : the data of a fit.
    what : the name of the surrogate, for the error.
    most : the largest number of results (:func:`learned`); None for all.
    """
    if not isinstance(data, Data):
        raise InvalidInput(f"{what} is fitted to Data(X, y); got {type(data).__name__}.")
    X = as_points(data.X)
    y = as_values(data.y, len(X))
    if len(X) == 0:
        raise InvalidInput(f"{what} needs at least one observation to be fitted; got none.")
    std = data.std
    if std is not None:
        std = as_values(std, len(X), "noise")
        if (std < 0.0).any():
            raise InvalidInput(f"noise must be standard deviations, zero or more; got {float(std.min())!r}.")
    if most is not None and len(y) > most:
        rows = learned_rows(y, most)
        return X[rows], y[rows], None if std is None else std[rows]
    return X, y, std
