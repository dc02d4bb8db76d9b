"""Points that need no model: uniform draws, and the space-filling design that comes before the first fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from believer.arrays import Array, frozen
from believer.batch.request import SEVERAL, Choice, Chosen, Request
from believer.maximize.objective import is_new, new_points
from believer.numerics.sampling import latin_hypercube
from believer.space.likely import Likely
from believer.space.region import Region

LARGEST_DESIGN = 10_000
"""The largest number of points of a Latin hypercube; a longer design is made of several, one after the other."""

REPLACED = "; replaced by a uniform draw, because it was not allowed or not new"
"""The words in the provenance of a point that had to be replaced."""


@dataclass(frozen=True, slots=True)
class RandomBatch:
    """Independent uniform points: the baseline that every strategy has to beat. No model is fitted for it."""

    needs_model: ClassVar[bool] = False
    takes: ClassVar[str] = SEVERAL

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Draw a uniform point for each trial of ``request`` from the trial's own randomness; ``memory`` is ignored."""
        avoid = request.avoid
        choices = []
        for trial in request.ids:
            x, _ = draw(request.region, avoid, request.randomness(trial, "random"))
            choices.append(Choice(frozen(x), "uniform draw"))
            avoid = np.vstack([avoid, x]) if request.distinct else avoid
        return Chosen(tuple(choices))


def draw(region: Region, avoid: Array, rng: np.random.Generator, first: Array | None = None) -> tuple[Array, bool]:
    """A point (d,) of the region that is allowed and new: ``first`` if it is one, otherwise a uniform draw.

    The flag says whether ``first`` had to be replaced.
    """
    if first is not None and is_new(first, region, avoid):
        return first, False
    points = new_points(region, avoid, rng)
    return points[rng.integers(len(points))], first is not None


def design(
    start: int, n_init: int, region: Region, seeded: np.random.Generator, likely: Likely | None = None
) -> Iterator[Array]:
    """Points ``start``, ``start + 1``, ... of Latin hypercubes of ``n_init`` points each, one after the other.

    If there are beliefs about the optimum, ``likely``, half of each column follows them. A hypercube has at most
    :data:`LARGEST_DESIGN` points, so that the cost of a point is bounded.
    """
    size = min(n_init, LARGEST_DESIGN)
    for _ in range(start // size):
        latin_hypercube(size, region.dim, seeded)
    first = start % size
    while True:
        U = latin_hypercube(size, region.dim, seeded)
        yield from region.spread(U if likely is None else likely.warped(U))[first:]
        first = 0
