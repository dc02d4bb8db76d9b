"""Confidence-bound acquisitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions.acquisition import Pointwise
from believer.arrays import Array, finite
from believer.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class UCB:
    """-μ + √β σ: the negated lower confidence bound of a function to be minimized ([paper] appendix A.2)."""

    beta: float = 2.0

    def __post_init__(self) -> None:
        if finite(self.beta, "beta") < 0.0:
            raise InvalidInput(f"beta must be zero or more; got {self.beta!r}.")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = -μ + √β σ; the incumbent plays no part."""
        root = float(np.sqrt(self.beta))
        return Pointwise(root * std - mean, np.full_like(mean, -1.0), np.full_like(std, root))
