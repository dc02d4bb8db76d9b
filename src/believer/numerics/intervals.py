"""Logarithms of what a normal distribution gives an interval, accurate far out and for narrow intervals.

======  =======================================================================
symbol  meaning
======  =======================================================================
a, b    ends of the interval, a < b, in standard deviations from the mean
w, c    its width b - a and its center (a + b) / 2
φ, Φ    standard normal density and distribution
h(z)    φ(z) + z Φ(z), the integral of Φ up to z
R(z)    Φ(z) / φ(z)
λ(z)    φ(z) / Φ(z)
δ       (a² - b²) / 2 = -w c, so that φ(a) / φ(b) = e^-δ
======  =======================================================================

A difference of two logarithms that are nearly equal is never formed: of narrow intervals the integral itself is.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, ndtr

from believer.arrays import Array, BoolArray
from believer.numerics.special import log_cdf, normal_pdf

_LOG_SQRT_2PI = 0.5 * float(np.log(2.0 * np.pi))
_SQRT_HALF_PI = float(np.sqrt(0.5 * np.pi))
_SQRT_HALF = float(np.sqrt(0.5))

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)

_NARROW = 0.1
"""Widths below this, and below this share of 1 / |c|, in which Φ hardly bends: four terms of a series are enough."""

_SURE = 39.0
"""φ is no number from here on."""


def log_probability(center: Array, width: Array) -> tuple[Array, Array, Array]:
    """log(Φ(b) - Φ(a)), with its derivatives by c and by log w, for any finite ``center`` and ``width`` > 0, (m,) each.

    By symmetry c ≤ 0. Where w and w |c| are below one: φ(c) w ∫ cosh(c w t) exp(-w² t² / 2) dt over |t| < ½, by eight
    Gauss-Legendre nodes. Elsewhere φ(b) (R(b) - R(a) e^-δ) for b < 0, and 1 - Φ(-b) - Φ(a) for b ≥ 0.
    """
    value, by_center, by_width = np.empty_like(center), np.empty_like(center), np.empty_like(center)
    side = np.where(center > 0.0, -1.0, 1.0)
    c = side * center
    narrow = (width < 1.0) & (-width * c < 1.0)
    above = ~narrow & (c + 0.5 * width >= 0.0)
    for where, branch in ((narrow, _narrow), (above, _wide), (~narrow & ~above, _in_the_tail)):
        if where.any():
            value[where], by_center[where], by_width[where] = branch(c[where], width[where])
    return value, side * by_center, by_width


def _narrow(c: Array, w: Array) -> tuple[Array, Array, Array]:
    t = 0.5 * _NODES
    scaled = w[:, None] * t
    bell = 0.5 * _WEIGHTS * np.exp(-0.5 * scaled * scaled)
    even, odd = bell * np.cosh(c[:, None] * scaled), bell * np.sinh(c[:, None] * scaled)
    total = even.sum(axis=1)
    lean = (odd * scaled).sum(axis=1) / total
    spread = (even * scaled * scaled).sum(axis=1) / total
    return np.log(w * total) - 0.5 * c * c - _LOG_SQRT_2PI, lean - c, 1.0 + c * lean - spread


def _wide(c: Array, w: Array) -> tuple[Array, Array, Array]:
    a, b = c - 0.5 * w, c + 0.5 * w
    missing = ndtr(-b) + ndtr(a)
    left, right = normal_pdf(a) / (1.0 - missing), normal_pdf(b) / (1.0 - missing)
    return np.log1p(-missing), right - left, 0.5 * w * (left + right)


def _in_the_tail(c: Array, w: Array) -> tuple[Array, Array, Array]:
    a, b = c - 0.5 * w, c + 0.5 * w
    share = np.exp(w * c)
    over_density = _SQRT_HALF_PI * (erfcx(-_SQRT_HALF * b) - erfcx(-_SQRT_HALF * a) * share)
    value = np.log(over_density) - 0.5 * b * b - _LOG_SQRT_2PI
    return value, -np.expm1(w * c) / over_density, 0.5 * w * (1.0 + share) / over_density


def uses_integral(center: Array, width: Array) -> BoolArray:
    """A mask of intervals for which h(b) - h(a) comes from :func:`log_integral`: they are narrow, or Φ is one there."""
    mask: BoolArray = (width * np.maximum(-center, 1.0) < _NARROW) | (center - 0.5 * width > _SURE)
    return mask


def log_integral(center: Array, width: Array) -> tuple[Array, Array, Array]:
    """log of (h(b) - h(a)) / w, the mean of Φ over a narrow interval, with its derivatives by c and by log w.

    Of ``center`` and ``width`` where :func:`uses_integral` says so: Φ(c) (1 + w² Φ''/24 Φ + w⁴ Φ''''/1920 Φ), with
    Φ'' = -c φ and Φ'''' = (3 c - c³) φ. The terms left out are below 1e-10.
    """
    value, ratio = log_cdf(center)
    square, squared_width = center * center, width * width
    second, fourth = squared_width / 24.0, squared_width * squared_width / 1920.0
    bend, twist = -center * ratio, center * (3.0 - square) * ratio
    by_ratio = -(center + ratio)
    series = 1.0 + second * bend + fourth * twist
    by_center = second * (bend * by_ratio - ratio) + fourth * (twist * by_ratio + 3.0 * (1.0 - square) * ratio)
    by_width = 2.0 * second * bend + 4.0 * fourth * twist
    return value + np.log(series), ratio + by_center / series, by_width / series
