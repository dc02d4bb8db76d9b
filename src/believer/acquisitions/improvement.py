"""Acquisitions that ask how far, or how surely, a point improves on the incumbent.

======  ==============================
symbol  meaning
======  ==============================
f⁺      incumbent: the value to beat
ξ       margin asked beyond f⁺
z       (f⁺ - ξ - μ) / σ
======  ==============================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from believer.acquisitions.acquisition import Pointwise
from believer.arrays import Array, finite
from believer.numerics.special import log_h, normal_pdf


@dataclass(frozen=True, slots=True)
class LogEI:
    """log of the expected improvement, log σ + log h(z)  ([Ament2023] Eq. 7). ``xi`` is in the units of y.

    It has the maximizers of EI and a gradient where EI is flat zero.
    """

    xi: float = 0.0

    def __post_init__(self) -> None:
        finite(self.xi, "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = log σ + log h(z)."""
        value, mass, density = log_h((incumbent - self.xi - mean) / std)
        return Pointwise(np.log(std) + value, -mass / std, density / std)


@dataclass(frozen=True, slots=True)
class EI:
    """Expected improvement σ h(z) = (f⁺ - ξ - μ) Φ(z) + σ φ(z)  ([paper] Eq. 11). ``xi`` is in the units of y."""

    xi: float = 0.0

    def __post_init__(self) -> None:
        finite(self.xi, "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = σ h(z), through log h so that the difference of two tiny numbers is never formed."""
        z = (incumbent - self.xi - mean) / std
        return Pointwise(std * np.exp(log_h(z)[0]), -ndtr(z), normal_pdf(z))


@dataclass(frozen=True, slots=True)
class PI:
    """Probability of improvement Φ(z). ``xi`` is in the units of y.

    Not monotone in σ: where μ < f⁺ - ξ, less uncertainty makes improvement surer. [paper] Prop. 3 does not cover it.
    """

    xi: float = 0.0

    def __post_init__(self) -> None:
        finite(self.xi, "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = Φ(z)."""
        z = (incumbent - self.xi - mean) / std
        density = normal_pdf(z)
        return Pointwise(ndtr(z), -density / std, -z * density / std)
