"""Measurements of the Structural Diversity Diagnostic on one data set, as values that can be saved and read back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from believer.arrays import Array


@dataclass(frozen=True, slots=True)
class SddPart:
    """A batch (q points of d coordinates), the seconds that it took, and the change of the acquisition function by each
    lie.

    ``responses`` (q - 1 of them) are the largest changes of α by an update, at the same incumbent, relative to the
    range of α before it, on a fixed dense set of candidates.
    """

    points: tuple[tuple[float, ...], ...]
    seconds: float
    responses: tuple[float, ...]

    @property
    def nearest(self) -> tuple[float, ...]:
        """The distance of each member after the first to the nearest one chosen before it."""
        X = np.array(self.points)
        return tuple(float(np.sqrt(((X[:j] - X[j]) ** 2).sum(axis=1)).min()) for j in range(1, len(X)))

    @property
    def min_distance(self) -> float:
        """The least distance of two members, in the unit cube."""
        return min(self.nearest)

    @property
    def mean_distance(self) -> float:
        """The mean distance of two members, in the unit cube."""
        return float(distances(self.points, np.ones(len(self.points[0]))).mean())

    @property
    def response(self) -> float:
        """The largest change of the acquisition by one update."""
        return max(self.responses)


@dataclass(frozen=True, slots=True)
class Measurement:
    """The measurements on one data set; parts that do not apply to the surrogate are None.

    moved: the share of climbs that ended away from their start. reached: the acquisition at the chosen points, relative
    to the values that the search without derivatives reaches on the same surfaces. ``moved`` is None for a maximizer
    without fixed starts.
    """

    seed: int
    fixed: SddPart
    random: SddPart
    free: SddPart
    null: SddPart
    null_free: SddPart
    frozen: SddPart | None
    frozen_free: SddPart | None
    moved: float | None
    reached: float
    random_pair: float
    min_lengthscales: float | None

    def to_json(self) -> dict[str, Any]:
        """Plain data, lists where this has tuples."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return data

    @staticmethod
    def from_json(data: dict[str, Any]) -> Measurement:
        """Inverse of :meth:`to_json`, after a trip through a file."""
        fields: dict[str, Any] = {key: _part(item) if isinstance(item, dict) else item for key, item in data.items()}
        return Measurement(**fields)


def _part(data: dict[str, Any]) -> SddPart:
    return SddPart(tuple(map(tuple, data["points"])), float(data["seconds"]), tuple(map(float, data["responses"])))


def distances(points: Any, lengthscales: Array | float) -> Array:
    """Distances of all pairs of ``points`` (q, d), in ``lengthscales`` (d,)."""
    X = np.asarray(points) / lengthscales
    rows, columns = np.triu_indices(len(X), 1)
    gaps: Array = np.sqrt(((X[rows] - X[columns]) ** 2).sum(axis=1))
    return gaps
