"""Regions that are made of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, BoolArray
from believer.space.region import Region


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """The region of ``q`` points of another region, written one after the other in a row (q·d,).

    All results are those of the region, for rows of d columns.

    Parameters
    ----------
    region : the region of one point.
    q : the number of points.
    moving : the number, from 0, of the point whose decisions ``steps`` changes; None for all of them.
    """

    region: Region
    q: int
    moving: int | None = None

    @property
    def dim(self) -> int:
        """q·d."""
        return self.q * self.region.dim

    @property
    def size(self) -> int | None:
        """The number of rows; None for infinitely many."""
        size = self.region.size
        return None if size is None else size**self.q

    @property
    def decisions(self) -> tuple[int | None, ...]:
        """Those of each point."""
        return self.region.decisions * self.q

    @property
    def metric(self) -> BoolArray:
        """Those of each point, (q·d,)."""
        return np.tile(self.region.metric, self.q)

    @property
    def freedom(self) -> int:
        """The sum of those of the points."""
        return self.q * self.region.freedom

    @property
    def ruled(self) -> bool:
        """Whether a function forbids points."""
        return self.region.ruled

    @property
    def rounded(self) -> bool:
        """Whether points must be rounded."""
        return self.region.rounded

    def points(self) -> Array:
        """Every row of allowed points, (n^q, q·d)."""
        points = self.region.points()
        rows = np.indices((len(points),) * self.q).reshape(self.q, -1).T
        return points[rows].reshape(len(rows), self.dim)

    def spread(self, U: Array) -> Array:
        """Rows (m, q·d) from uniform numbers ``U`` (m, q·d)."""
        return self._joined(self.region.spread(self._apart(U)))

    def sample(self, m: int, rng: np.random.Generator) -> Array:
        """``m`` rows of allowed points from ``rng``, each point space-filling; fewer if a rule is hard to satisfy."""
        points = rng.permutation(self.region.sample(m * self.q, rng), axis=0)
        return self._joined(points[: len(points) // self.q * self.q])

    def near(self, X: Array, m: int, widths: tuple[float, ...], rng: np.random.Generator) -> Array:
        """``m`` rows near each row of ``X`` (k, q·d), from ``rng``, in which every point is replaced by an allowed
        neighbor."""
        found = []
        for point in self._apart(X):
            close = self.region.near(point[None, :], m, widths, rng)
            found.append(np.resize(close if len(close) else point, (m, len(point))))
        points = np.array(found).reshape(len(X), self.q, m, self.region.dim)
        return points.transpose(0, 2, 1, 3).reshape(len(X) * m, self.dim)

    def project(self, X: Array, inside: Array | None = None) -> Array:
        """``X`` (m, q·d) with every point projected separately."""
        return self._joined(self.region.project(self._apart(X), None if inside is None else self._apart(inside)))

    def free(self, X: Array, relaxed: bool = False) -> BoolArray:
        """The columns (m, q·d), or (1, q·d), that are free for each point of ``X``, ``relaxed`` or not."""
        free = self.region.free(self._apart(X), relaxed)
        return np.tile(free, self.q) if len(free) == 1 else free.reshape(X.shape)

    def box(self) -> tuple[Array, Array] | None:
        """The box of each point, side by side."""
        box = self.region.box()
        return None if box is None else (np.tile(box[0], self.q), np.tile(box[1], self.q))

    def steps(self, X: Array) -> Iterator[Array]:
        """Alternatives (s, a, q·d) to the rows of ``X`` (s, q·d), one decision of one point at a time."""
        d = self.region.dim
        for i in range(self.q) if self.moving is None else (self.moving,):
            place = slice(i * d, (i + 1) * d)
            for tried in self.region.steps(X[:, place]):  # a view, so that changes of X in the meantime are used
                points = np.repeat(X[:, None, :], tried.shape[1], axis=1)
                points[:, :, place] = tried
                yield points

    def neighbors(self, x: Array) -> Array:
        """Rows (m, q·d) in which one point is a neighbor of that of ``x`` (q·d,)."""
        d, found = self.region.dim, []
        for i in range(self.q):
            close = self.region.neighbors(x[i * d : (i + 1) * d])
            rows = np.repeat(x[None, :], len(close), axis=0)
            rows[:, i * d : (i + 1) * d] = close
            found.append(rows)
        return np.vstack(found)

    def holds(self, X: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, q·d) all of whose points are allowed."""
        allowed: BoolArray = np.logical_and.reduce(self.region.holds(self._apart(X)).reshape(len(X), self.q), axis=1)
        return allowed

    def among(self, X: Array, others: Array) -> BoolArray:
        """A mask of the rows of ``X`` (m, q·d) that have the same points, in the same order, as some row of
        ``others``."""
        found, d = np.zeros(len(X), dtype=bool), self.region.dim
        for other in others:
            same = [self.region.among(X[:, i : i + d], other[None, i : i + d]) for i in range(0, self.dim, d)]
            found |= np.logical_and.reduce(same)
        return found

    def _apart(self, X: Array) -> Array:
        return X.reshape(len(X) * self.q, self.region.dim)

    def _joined(self, points: Array) -> Array:
        return points.reshape(len(points) // self.q, self.dim)
