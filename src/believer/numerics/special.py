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
from scipy.special import erfcx, ndtr

from believer.arrays import Array

_LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
_SQRT_HALF_PI = np.sqrt(0.5 * np.pi)
_SQRT_HALF = np.sqrt(0.5)

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
    middle = (z < -1.0) & (z > _TAIL_FROM)
    tail = z <= _TAIL_FROM
    zc = np.where(tail, -2.0, z)
    mills = _SQRT_HALF_PI * erfcx(-_SQRT_HALF * np.minimum(zc, 0.0))
    inside = np.where(middle, 1.0 + zc * mills, 1.0)

    above = np.maximum(z, -1.0)
    density = normal_pdf(above)
    mass = ndtr(above)
    direct = density + above * mass

    zt = np.where(tail, z, -1e3)
    w = 1.0 / (zt * zt)
    series = np.zeros_like(w)
    for coefficient in reversed(_TAIL):
        series = series * w + coefficient
    # h/φ in the tail is series / z²; Φ/φ = (1 - h/φ) / |z|.
    below = np.where(tail, series * w, inside)
    ratio = np.where(tail, (1.0 - series * w) / -zt, mills)

    high = z >= -1.0
    log_value = np.where(high, np.log(direct), -0.5 * z * z - _LOG_SQRT_2PI + np.log(below))
    mass_over_h = np.where(high, mass / direct, ratio / below)
    density_over_h = np.where(high, density / direct, 1.0 / below)
    return log_value, mass_over_h, density_over_h
