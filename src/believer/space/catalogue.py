"""A table of points to choose from; there are no points between its rows.

======  ======================================================
symbol  meaning
======  ======================================================
n       number of rows
key     a number made of all bits of a row, to find it by
======  ======================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from believer.arrays import Array, BoolArray, IntArray, frozen

_AT_ONCE = 1 << 21
"""The number of distances that are computed at once: 16 MB."""

_NEARBY = 32
"""The number of rows to which a step from a row may lead."""

_MIXED = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""Constants of SplitMix64, which spreads every bit over all."""

Keys = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """A :class:`~believer.space.region.Region` of given points.

    Parameters
    ----------
    rows : the points (n, d), all different.
    keys : the keys of the rows, (n,), from :func:`keys_of`.

    Attributes
    ----------
    freedom : the number of columns in which rows differ.
    """

    rows: Array
    keys: Keys
    freedom: int = field(init=False, repr=False)
    _order: IntArray = field(init=False, repr=False)
    """The rows by their keys."""
    _along: list[IntArray] = field(init=False, repr=False, default_factory=list)
    """The rows in the order of the direction in which they differ most; empty until it is computed."""
    ruled: ClassVar[bool] = False  # every allowed point is in the table
    rounded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        differs = (self.rows != self.rows[:1]).any(axis=0)
        object.__setattr__(self, "freedom", int(np.count_nonzero(differs)))
        object.__setattr__(self, "_order", np.argsort(self.keys, kind="stable"))

    @property
    def dim(self) -> int:
        """Number of columns d."""
        d: int = self.rows.shape[1]
        return d

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.rows)

    @property
    def decisions(self) -> tuple[int | None, ...]:
        """One: which row."""
        return (len(self.rows),)

    @property
    def metric(self) -> BoolArray:
        """No column, because points cannot move along any."""
        return np.zeros(self.dim, dtype=bool)

    def points(self) -> Array:
        """The rows."""
        return self.rows

    def spread(self, U: Array) -> Array:
        """Rows (m, d) from uniform numbers ``U`` (m, d); the first number is a position along the direction of largest
        variance."""
        if not self._along:
            some = self.rows[:: max(1, len(self.rows) // 10_000)]
            direction = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][0]
            direction *= np.sign(direction[np.abs(direction).argmax()])
            self._along.append(np.argsort(self.rows @ direction, kind="stable"))
        n = len(self.rows)
        return self.rows[self._along[0][np.minimum((U[:, 0] * n).astype(np.intp), n - 1)]]

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` different rows (m, d) from ``rng``; all of a shorter table."""
        return self.rows[rng.choice(len(self.rows), min(m, len(self.rows)), replace=False)]

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` rows near each row of ``X`` (k, d), drawn by ``rng`` among four times as many; fewer if the table is
        short."""
        found = [rng.permutation(self._nearest(x, 4 * m))[:m] for x in X]
        return self.rows[np.concatenate(found)] if found else self.rows[:0]

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """The nearest row to each of ``X`` (m, d)."""
        return self.rows[self.nearest(X)]

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """No column, (1, d)."""
        return np.zeros((1, self.dim), dtype=bool)

    def box(self) -> None:
        """None, because there are no points between rows."""

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, d) to the rows of ``X`` (s, d): those that are nearest to each."""
        yield np.array([self.rows[self._nearest(x, _NEARBY)] for x in X])

    def neighbors(self, x: Array) -> Array:
        """The rows (m, d) that are nearest to ``x`` (d,)."""
        return self.rows[self._nearest(x, _NEARBY)]

    def holds(self, X: Array) -> BoolArray:
        """A mask of the points of ``X`` (m, d) that are rows."""
        kept: BoolArray = self.places(X) >= 0
        return kept

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the points of ``X`` (m, d) that are the same row as one of ``others`` (k, d)."""
        taken = np.zeros(len(self.rows) + 1, dtype=bool)  # the last entry is for points that are not rows
        taken[self.places(others)] = True
        taken[-1] = False
        return taken[: len(self.rows)] if X is self.rows else taken[self.places(X)]

    def places(self, X: Array) -> IntArray:
        """The row number, from 0, of each point of ``X`` (m, d); -1 for a point that is not a row."""
        if not len(X) or not len(self.rows):
            return np.full(len(X), -1, dtype=np.intp)
        keys = self.keys[self._order] if len(X) > len(self.rows) else None
        wanted = keys_of(X)
        at = np.searchsorted(self.keys, wanted, sorter=self._order) if keys is None else np.searchsorted(keys, wanted)
        rows = self._order[np.minimum(at, len(self.rows) - 1)]
        return np.where((self.rows[rows] == X).all(axis=1), rows, -1)

    def nearest(self, X: Array) -> IntArray:
        """The number, from 0, of the row nearest to each of ``X`` (m, d). O(m n d) for points that are not rows
        themselves."""
        found = self.places(X)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            halves = 0.5 * np.square(self.rows).sum(axis=1)
            step = max(1, _AT_ONCE // len(self.rows))
            for start in range(0, len(missing), step):
                some = missing[start : start + step]
                found[some] = (X[some] @ self.rows.T - halves).argmax(axis=1)
        return found

    def _nearest(self, x: Array, m: int) -> IntArray:
        """The ``m`` rows nearest to ``x`` (d,), nearest first."""
        m = min(m, len(self.rows))
        gaps = np.square(self.rows - x).sum(axis=1)
        rows = np.argpartition(gaps, m - 1)[:m]
        return rows[np.lexsort((rows, gaps[rows]))]


def keys_of(X: Array) -> Keys:
    """A number for each row of ``X`` (n, d) that differs between rows, except for one pair in 10¹⁹. O(n d)."""
    first, second, third = _MIXED
    key = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        bits = (column + 0.0).view(np.uint64)  # -0.0 is 0.0
        key ^= bits
        key += first
        key ^= key >> np.uint64(30)
        key *= second
        key ^= key >> np.uint64(27)
        key *= third
        key ^= key >> np.uint64(31)
    return key


def distinct(X: Array) -> tuple[IntArray, Keys, IntArray]:
    """The rows of ``X`` (n, d) that are not copies of an earlier one, their keys, and for each row the first row that
    is equal to it."""
    keys = keys_of(X)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    earlier = first[inverse]
    rows = np.flatnonzero(earlier == np.arange(len(X)))
    return rows, keys[rows], earlier


def catalogue(X: Array, keys: Keys, mask: BoolArray | None = None) -> Catalogue:
    """A catalogue of the rows of ``X`` (n, d), or of those in a ``mask`` (n,)."""
    return Catalogue(X, keys) if mask is None else Catalogue(frozen(X[mask]), keys[mask])
