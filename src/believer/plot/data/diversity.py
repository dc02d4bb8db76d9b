"""Distances within each batch, compared with random points, and distances from earlier evaluations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, IntArray
from believer.errors import InvalidInput
from believer.plot.data.source import Source, StudyLike, study_of

_RANDOM = 400
"""The number of random batches with which a batch is compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Diversity:
    """Distances within b batches of two points or more, in the encoded cube, as shares of its diagonal √d.

    Attributes
    ----------
    batch : the numbers of the asks, (b,).
    size : the number of points of each batch, (b,).
    is_design : whether each batch is of the space-filling design only.
    least : the distance between the two nearest points of each batch, (b,).
    mean : the average distance between two points of each batch, (b,).
    before : the average distance from the batch's points to the nearest one that was handed out or observed before,
        (b,); NaN for the first batch.
    random_low, random_middle, random_high : quantiles (2.5, 50, 97.5 %) of the least distance between as many
        random points, (b,) each.
    """

    batch: IntArray
    size: IntArray
    is_design: tuple[bool, ...]
    least: Array
    mean: Array
    before: Array
    random_low: Array
    random_middle: Array
    random_high: Array


def diversity(study: StudyLike) -> Diversity:
    """The diversity of a study's batches."""
    source = study_of(study)
    trials = source.trials
    numbers = [int(b) for b in np.unique(trials.batch) if b > 0 and (trials.batch == b).sum() > 1]
    if not numbers:
        raise InvalidInput("a figure of diversity needs a batch of two points or more; there is none yet.")
    unit = np.sqrt(trials.X.shape[1])
    sizes = [int((trials.batch == b).sum()) for b in numbers]
    random = {size: _random_least(source, size) / unit for size in set(sizes)}
    gaps = [_gaps(trials.X[trials.batch == b]) / unit for b in numbers]
    low, middle, high = np.array([random[size] for size in sizes]).T
    return Diversity(
        np.array(numbers, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
        tuple(all(trials.origin[i] == "design" for i in np.flatnonzero(trials.batch == b)) for b in numbers),
        np.array([float(gap.min()) for gap in gaps]),
        np.array([float(gap.mean()) for gap in gaps]),
        np.array([_before(source, b) / unit for b in numbers]),
        low,
        middle,
        high,
    )


def _gaps(X: Array) -> Array:
    rows, columns = np.triu_indices(len(X), 1)
    gaps: Array = np.sqrt(((X[rows] - X[columns]) ** 2).sum(axis=1))
    return gaps


def _before(source: Source, batch: int) -> float:
    """The average distance of the batch's points from the nearest earlier trial."""
    X, inside = source.trials.X, source.trials.batch == batch
    earlier = X[: int(np.flatnonzero(inside)[0])]
    if not len(earlier):
        return np.nan
    gaps = np.sqrt(((X[inside][:, None, :] - earlier[None, :, :]) ** 2).sum(axis=2))
    return float(gaps.min(axis=1).mean())


def _random_least(source: Source, size: int) -> Array:
    """Quantiles of the least distance between so many random points of the region."""
    region, rng = source.space.region(), np.random.default_rng(0)
    count = size * _RANDOM
    X = region.spread(rng.random((count, source.space.dim)))
    if region.ruled:
        X = X[region.holds(X)]
    batches = X[: len(X) // size * size].reshape(-1, size, X.shape[1])
    if not len(batches):
        return np.full(3, np.nan)
    return np.quantile([float(_gaps(batch).min()) for batch in batches], (0.025, 0.5, 0.975))
