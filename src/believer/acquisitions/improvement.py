"""Acquisition functions by improvement: its expectation, its logarithm, its probability.

======  ==============================
symbol  meaning
======  ==============================
f⁺      incumbent: the value to beat
ξ       margin beyond f⁺
z       (f⁺ - ξ - μ) / σ
======  ==============================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from scipy.special import ndtr

from believer.acquisitions.acquisition import Pointwise
from believer.acquisitions.pointwise import PointwiseAcquisition
from believer.arrays import LARGEST, Array, finite
from believer.numerics.special import log_cdf, log_h, normal_pdf


@dataclass(frozen=True, slots=True)
class _Improvement(PointwiseAcquisition):
    """``xi`` is in the units of y."""

    xi: float = 0.0

    def __post_init__(self) -> None:
        finite(self.xi, "xi", LARGEST)

    def over(self, mean: Array, std: Array, incumbents: Array) -> Pointwise:
        """The values for all ``incumbents`` (S,); ``mean`` or ``std`` may be (1, m) for all."""
        return self.pointwise(mean, std, cast(float, incumbents[:, None]))


@dataclass(frozen=True, slots=True)
class LogEI(_Improvement):
    """log of the expected improvement, log σ + log h(z)  ([Ament2023] Eq. 7).

    It has the same maximizers as EI, and a gradient where EI underflows to zero.

    Parameters
    ----------
    xi : ξ, the margin by which to beat the incumbent, in the units of y.
    """

    compiled_as: ClassVar = ("LogEI", "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = log σ + log h(z), of ``mean`` and ``std`` (m,) and the ``incumbent`` f⁺."""
        value, mass, density = log_h((incumbent - self.xi - mean) / std)
        return Pointwise(np.log(std) + value, -mass / std, density / std)

    def average(self, alphas: Array) -> tuple[Array, Array]:
        """The log of the mean of EI, and the softmax of α_s."""
        # Values are relative to the largest, so that an average of tiny improvements does not underflow.
        top = alphas.max(axis=0)
        shares = np.exp(alphas - top)
        total = shares.sum(axis=0)
        return top + np.log(total / len(alphas)), shares / total

    def log(self) -> LogEI:
        """Itself, since it is a logarithm already."""
        return self

    def margin(self) -> float:
        """ξ."""
        return self.xi


@dataclass(frozen=True, slots=True)
class EI(_Improvement):
    """Expected improvement σ h(z) = (f⁺ - ξ - μ) Φ(z) + σ φ(z)  ([paper] Eq. 11).

    Parameters
    ----------
    xi : ξ, the margin by which to beat the incumbent, in the units of y.
    """

    compiled_as: ClassVar = ("EI", "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = σ h(z), of ``mean`` and ``std`` (m,) and the ``incumbent`` f⁺.

        It is computed from log h, without the difference of two tiny numbers.
        """
        z = (incumbent - self.xi - mean) / std
        return Pointwise(std * np.exp(log_h(z)[0]), -ndtr(z), normal_pdf(z))

    def log(self) -> LogEI:
        """LogEI."""
        return LogEI(self.xi)

    def margin(self) -> float:
        """ξ."""
        return self.xi


@dataclass(frozen=True, slots=True)
class PI(_Improvement):
    """Probability of improvement Φ(z).

    It is not monotone in σ: if μ < f⁺ - ξ, less uncertainty makes an improvement more probable. [paper] Prop. 3 does
    not apply to it.

    Parameters
    ----------
    xi : ξ, the margin by which to beat the incumbent, in the units of y.
    """

    compiled_as: ClassVar = ("PI", "xi")

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = Φ(z), of ``mean`` and ``std`` (m,) and the ``incumbent`` f⁺."""
        z = (incumbent - self.xi - mean) / std
        density = normal_pdf(z)
        return Pointwise(ndtr(z), -density / std, -z * density / std)

    def log(self) -> LogPI:
        """log Φ(z)."""
        return LogPI(self.xi)


@dataclass(frozen=True, slots=True)
class LogPI(_Improvement):
    """log Φ(z): the log of the probability of improvement, finite where Φ is zero."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α = log Φ(z)."""
        z = (incumbent - self.xi - mean) / std
        value, by_z = log_cdf(z)
        return Pointwise(value, -by_z / std, -z * by_z / std)

    def log(self) -> LogPI:
        """Itself, since it is a logarithm already."""
        return self
