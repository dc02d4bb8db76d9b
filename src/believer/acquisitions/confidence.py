"""Acquisition functions by confidence bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from believer.acquisitions.acquisition import Pointwise
from believer.acquisitions.pointwise import PointwiseAcquisition
from believer.arrays import LARGEST, Array, finite
from believer.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class UCB(PointwiseAcquisition):
    """-μ + √β σ: the negated lower confidence bound of a function to be minimized ([paper] appendix A.2).

    Parameters
    ----------
    beta : β, zero or more.
    """

    beta: float = 2.0
    compiled_as: ClassVar = ("UCB", "beta")

    def __post_init__(self) -> None:
        if finite(self.beta, "beta", LARGEST) < 0.0:
            raise InvalidInput(f"beta must be zero or more; got {self.beta!r}.")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = -μ + √β σ for the predictions ``mean`` and ``std`` (m,); ``incumbent`` is not used."""
        root = math.sqrt(self.beta)  # np.sqrt takes no int above 2**64
        return Pointwise(root * std - mean, np.full_like(mean, -1.0), np.full_like(std, root))

    def over(self, mean: Array, std: Array, incumbents: Array) -> Pointwise:
        """The values for the predictions ``mean`` and ``std`` (S, m) of all models; ``incumbents`` are not used."""
        return self.pointwise(mean, std, 0.0)
