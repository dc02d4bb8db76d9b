"""Special functions of improvement-based acquisitions, accurate far into the tail.

======  =================================================
symbol  meaning
======  =================================================
z       standardized improvement (f⁺ - μ) / σ
φ, Φ    standard normal density and distribution
h(z)    φ(z) + z Φ(z), so that EI = σ h(z) ([paper] Eq. 11)
======  =================================================
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from believer.arrays import Array

_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
_SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
_SQRT_HALF = np.sqrt(0.5)
_SQRT_2_OVER_PI = np.sqrt(2.0 / np.pi)

# h(z)/φ(z) = Σ_k (-1)^k (2k+1)!! / z^(2k+2) as z -> -∞: integrate the Mills ratio's series term by term.
_TAIL = (1.0, -3.0, 15.0, -105.0, 945.0, -10395.0, 135135.0)
_TAIL_FROM = -30.0


def normal_pdf(z: Array) -> Array:
    """φ(z)."""
    density: Array = np.exp(-0.5 * z * z - _LOG_SQRT_2PI)
    return density


def log_h(z: Array) -> tuple[Array, Array, Array]:
    """log h(z), with the ratios Φ/h (its derivative) and φ/h, for any finite z.

    Above -1 the sum is formed directly. Below, h = φ (1 + z Φ/φ) with the scaled complementary error function
    ([Ament2023] Eq. 9 has the same split); below -30, where that difference cancels, its asymptotic series.
    Relative error of the ratios: below 1e-11 everywhere.
    """
    log_value, by_z, density = np.empty_like(z), np.empty_like(z), np.empty_like(z)
    for where, branch in ((z >= -1.0, _above), ((z < -1.0) & (z > _TAIL_FROM), _middle), (z <= _TAIL_FROM, _below)):
        if where.all():
            return branch(z)
        if where.any():
            log_value[where], by_z[where], density[where] = branch(z[where])
    return log_value, by_z, density


def _above(z: Array) -> tuple[Array, Array, Array]:
    density, mass = normal_pdf(z), ndtr(z)
    h = density + z * mass
    return np.log(h), mass / h, density / h


def _middle(z: Array) -> tuple[Array, Array, Array]:
    mills = _SQRT_HALF_PI * erfcx(-_SQRT_HALF * z)
    over_density = 1.0 + z * mills
    return -0.5 * z * z - _LOG_SQRT_2PI + np.log(over_density), mills / over_density, 1.0 / over_density


def _below(z: Array) -> tuple[Array, Array, Array]:
    w = 1.0 / (z * z)
    series = np.zeros_like(w)
    for coefficient in reversed(_TAIL):
        series = series * w + coefficient
    over_density = series * w
    # Φ/φ = (1 - h/φ) / |z|.
    mills = (1.0 - over_density) / -z
    return -0.5 * z * z - _LOG_SQRT_2PI + np.log(over_density), mills / over_density, 1.0 / over_density


def log_cdf(z: Array) -> tuple[Array, Array]:
    """log Φ(z) and its derivative, the ratio of density to Φ, for any finite z."""
    below = np.minimum(z, 0.0)
    above = np.maximum(z, 0.0)
    ratio = np.where(z < 0.0, _SQRT_2_OVER_PI / erfcx(-_SQRT_HALF * below), normal_pdf(above) / ndtr(above))
    return log_ndtr(z), ratio
