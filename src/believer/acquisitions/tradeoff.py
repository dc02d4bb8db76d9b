"""Acquisitions of several objectives: recipes that make an objective of their models and of the front so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions.hypervolume import log_ehvi_on
from believer.acquisitions.scalarization import Chebyshev, log_scalarized_ei_on, random_weights
from believer.arrays import Array
from believer.maximize import Objective
from believer.surrogates.protocols import Model


@dataclass(frozen=True, slots=True)
class EHVI:
    """log of the expected hypervolume improvement, in closed form: by how much the front is expected to grow."""

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """log EHVI of ``models`` beyond ``front`` (m, k), up to ``reference`` (k,); ``rng`` plays no part."""
        return log_ehvi_on(models, front, reference)


@dataclass(frozen=True, slots=True)
class Scalarized:
    """log of the improvement expected in the largest of the objectives, weighed at random a point ([Knowles2006]).

    The cheap alternative where objectives are many: its price does not grow with the front. While there is no front,
    the reference is what is to be improved on.
    """

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """log EI of ``models`` for weights from ``rng``; ``front`` (m, k) and ``reference`` (k,) say the scales."""
        front = front if len(front) else reference[None, :]  # all that it says is that points beyond it are no gain
        ideal = front.min(axis=0)
        scale = np.where(reference > ideal, reference - ideal, 1.0)
        way = Chebyshev(random_weights(len(models), rng), ideal, scale)
        return log_scalarized_ei_on(models, way, float(way.of(front).min()))
