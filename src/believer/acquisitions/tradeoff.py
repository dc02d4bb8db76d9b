"""Acquisition functions for several objectives: recipes that make an objective from the models and the front so far."""

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
    """The log of the expected hypervolume improvement, in closed form."""

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """log EHVI of ``models`` on ``front`` (m, k), up to ``reference`` (k,); ``rng`` is not used."""
        return log_ehvi_on(models, front, reference)


@dataclass(frozen=True, slots=True)
class Scalarized:
    """The log of the expected improvement of the largest weighted objective, with random weights for each point
    ([Knowles2006]).

    This is the cheap alternative for many objectives, because its cost does not grow with the front. While there is no
    front, it is the improvement on the reference.
    """

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """log EI of ``models`` for weights from ``rng``; ``front`` (m, k) and ``reference`` (k,) determine the
        scales."""
        front = front if len(front) else reference[None, :]  # it only says that points beyond it are no gain
        ideal = front.min(axis=0)
        scale = np.where(reference > ideal, reference - ideal, 1.0)
        way = Chebyshev(random_weights(len(models), rng), ideal, scale)
        return log_scalarized_ei_on(models, way, float(way.of(front).min()))
