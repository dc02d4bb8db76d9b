"""Scalarization of several objectives: the largest weighted objective, and the expected improvement of it.

======  ====================================================================  ==========
symbol  meaning                                                               shape
======  ====================================================================  ==========
w       weights of the objectives, above zero                                 (k,)
s(y)    max_j w_j (y_j - ideal_j) / scale_j, to be minimized
s⁺      the value of s to beat
t       the improvement of s on s⁺
z_j     (ideal_j + s⁺ scale_j / w_j - μ_j) / σ_j, where t is zero             (m, k)
r_j     scale_j / (w_j σ_j): the rate at which z_j falls as t rises           (m, k)
F(t)    Π_j Φ(z_j - r_j t), the probability that s is below s⁺ - t
λ       φ / Φ
======  ====================================================================  ==========

With independent models the expected improvement is one integral, E (s⁺ - s(Y))⁺ = ∫ F(t) dt over t > 0. F falls, and
its logarithm is concave. The range, up to the t where F is negligible, is divided into panels at the points where a
factor begins to fall and where it has fallen by half, so that F is smooth within each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import erfcx, ndtr

from believer.acquisitions.acquisition import Pointwise
from believer.acquisitions.several import OnModels, in_parts
from believer.arrays import LARGEST, Array, as_values, finite, frozen, shown
from believer.errors import InvalidInput
from believer.numerics.special import log_cdf
from believer.surrogates.protocols import Model

_AT_ONCE = 1 << 16

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)

_FALL = 26.0
"""F is negligible once it has fallen by e to this power."""

_FLAT = 6.7
"""From here on Φ is nearly one."""

_EARLY = 0.2
"""The share of the integration range that is a separate panel, for factors that fall exponentially from the start."""

_STEPS = 6

_SQRT_HALF = float(np.sqrt(0.5))
_SQRT_2_OVER_PI = float(np.sqrt(2.0 / np.pi))


@dataclass(frozen=True, slots=True, eq=False)
class Chebyshev:
    """s(y) = max_j w_j (y_j - ideal_j) / scale_j. Every point of a front, even a nonconvex one, is the best for some
    weights ([Knowles2006]).

    Differs: [Knowles2006] adds a small multiple of the weighted sum, which decides between points with the same
    maximum. With the maximum alone the expected improvement is one integral, and ties of predictions have probability
    zero.

    Parameters
    ----------
    weights : w, above zero, (k,).
    ideal : the best possible values of the objectives, or the best so far, (k,).
    scale : the size of differences in each objective, above zero, (k,).
    """

    weights: Array
    ideal: Array
    scale: Array

    def __post_init__(self) -> None:
        k = len(as_values(self.weights, name="weights"))
        for name in ("weights", "ideal", "scale"):
            object.__setattr__(self, name, frozen(as_values(getattr(self, name), k, name)))
        for name in ("weights", "scale"):
            if not k or not (getattr(self, name) > 0.0).all():
                raise InvalidInput(f"{name} must be above zero, one or more of them; got {shown(getattr(self, name))}.")

    def of(self, Y: Array) -> Array:
        """s (n,) of the rows of ``Y`` (n, k)."""
        worst: Array = ((Y - self.ideal) * (self.weights / self.scale)).max(axis=1)
        return worst


def random_weights(k: int, rng: np.random.Generator) -> Array:
    """Weights (k,) above zero that sum to one, drawn uniformly."""
    # The spacings of a Poisson process, with the least double in place of a zero.
    shares = np.maximum(rng.standard_exponential(k), np.finfo(np.float64).tiny)
    weights: Array = shares / shares.sum()
    return weights


def log_scalarized_improvement(mean: Array, std: Array, scalarization: Chebyshev, best: float) -> Pointwise:
    """log E (s⁺ - s(Y))⁺ at m points, with its derivatives by mean and std.  O(m k²), and accurate to 1e-8.

    Parameters
    ----------
    mean, std : independent predictions of the objectives, (m, k) each.
    scalarization : s.
    best : s⁺, the value to beat.
    """
    per_unit = scalarization.scale / scalarization.weights
    edge = scalarization.ideal + best * per_unit

    def formula(mean: Array, std: Array) -> Pointwise:
        return _log_integral((edge - mean) / std, per_unit / std, std)

    k = len(edge)
    return in_parts(formula, mean, std, max(1, _AT_ONCE // (2 * k * (k + 1) * len(_NODES))))


def _log_integral(z: Array, rate: Array, std: Array) -> Pointwise:
    """log ∫ F(t) dt and its derivatives by means and stds."""
    nodes, weights = _panels(z, rate)
    start, first = z.T[:, :, None], np.where(z < 0.0, 0.5 * erfcx(_SQRT_HALF * np.abs(z)), ndtr(z)).T[:, :, None]
    gone = rate.T[:, :, None] * nodes
    at = start - gone
    # In either tail Φ(-|x|) = ½ erfcx(|x| / √2) exp(-x² / 2). Where F is tiny from the start, it counts by what it
    # starts with, and the difference of squares is formed exactly.
    scaled = erfcx(_SQRT_HALF * np.abs(at))
    bell = np.exp(np.where(start < 0.0, gone * (start - 0.5 * gone), -0.5 * at * at))
    tail = 0.5 * scaled * bell
    mass = np.where(at < 0.0, tail, 1.0 - tail)
    weights = weights * np.prod(mass / first, axis=0)
    total = weights.sum(axis=1, keepdims=True)
    weights /= total
    value = log_cdf(z)[0].sum(axis=1) + np.log(total[:, 0])
    ratio = _SQRT_2_OVER_PI * np.where(at < 0.0, 1.0 / scaled, 0.5 * bell / mass)
    by_mean = -np.einsum("kmn,mn->mk", ratio, weights) / std
    by_std = -np.einsum("kmn,mn->mk", ratio * at, weights) / std
    return Pointwise(value, by_mean, by_std)


def _panels(z: Array, rate: Array) -> tuple[Array, Array]:
    """Nodes t and weights, (m, N) each, of Gauss-Legendre panels from zero to where F is negligible."""
    end = _end(z, rate)
    falls = [np.clip((z - flat) / rate, 0.0, end) for flat in (_FLAT, 0.0)]
    inner = np.sort(np.hstack([*falls, _EARLY * end]), axis=1)
    starts = np.hstack([np.zeros_like(end), inner])
    widths = np.hstack([inner, end]) - starts
    nodes = starts[:, :, None] + widths[:, :, None] * (0.5 + 0.5 * _NODES)
    weights = widths[:, :, None] * (0.5 * _WEIGHTS)
    return nodes.reshape(len(z), -1), weights.reshape(len(z), -1)


def _end(z: Array, rate: Array) -> Array:
    """A t (m, 1) at which F(t) is below e^-``_FALL`` of F(0), but not by much.

    -log F(t) / F(0) is at least the sum of r t (|z| + r t / 2) over z < 0 and of ((r t - z)⁺)² / 2 over the others:
    this is convex and rising, so that Newton's method converges from above to the t where it is ``_FALL``.
    """
    size, root = np.abs(z), np.sqrt(2.0 * _FALL)
    reach = np.where(z < 0.0, 2.0 * _FALL / (size + np.sqrt(size * size + 2.0 * _FALL)), z + root)
    end: Array = (reach / rate).min(axis=1, keepdims=True)
    for _ in range(_STEPS):
        gone = rate * end
        over = np.where(z < 0.0, gone, np.maximum(gone - z, 0.0))
        lean = np.where(z < 0.0, size, 0.0)
        fallen = (over * (lean + 0.5 * over)).sum(axis=1, keepdims=True)
        slope = (rate * (lean + over)).sum(axis=1, keepdims=True)
        end = end - (fallen - _FALL) / slope
    return end


def log_scalarized_ei_on(models: tuple[Model, ...], scalarization: Chebyshev, best: float) -> OnModels:
    """log E (s⁺ - s(Y(x)))⁺ on k independent ``models``, one for each objective; ``best`` is s⁺, the value to beat."""
    if len(models) != len(scalarization.weights):
        raise InvalidInput(
            f"there must be a model for each weight; got {len(models)} and {len(scalarization.weights)}."
        )
    best = finite(best, "best", LARGEST)
    return OnModels(models, partial(log_scalarized_improvement, scalarization=scalarization, best=best))
