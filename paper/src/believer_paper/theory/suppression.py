"""The distance up to which a lie suppresses the variance: [paper] Prop. 2, Eq. 3, a valid bound, the exact radius.

======  ====================================================================  ======
symbol  meaning                                                               shape
======  ====================================================================  ======
r       distance from x*, in lengthscales
c(r)    correlation of the kernel, exp(-r²/2) for SE
κ       σ²(x*) / σ_f², what the data left of the prior variance, in (0, 1]
ν       σ_n² / σ_f²
F(x)    share of the variance at x that a lie about x* takes away             (m,)
τ       the share that counts as suppressed
r_τ     the distance up to which F >= τ
======  ====================================================================  ======

Eq. 3 puts the *prior* kernel where Eq. 2 has the posterior covariance: r_τ >= √log(1 / (τ κ (κ + ν))). The two agree at
κ = 1. Below, the printed radius *grows* as κ falls. It cannot be a bound there, for any data: at x* itself
F = κ / (κ + ν) is the most that F can be, so that r_τ = 0 for τ = κ / (κ + ν), where Eq. 3 prints √(2 log(1/κ)) > 0.

A bound that does hold. Knowing f(x) alone would explain c(r)² of the prior variance at x*, so data and f(x) together
explain at least that. The data alone explain 1 - κ. Hence f(x) adds k_D(x, x*)² / (σ²(x) σ_f²) >= c(r)² - (1 - κ), and

    F(x) = k_D(x, x*)² / (σ²(x) (σ²(x*) + σ_n²)) >= (c(r)² - (1 - κ)) / (κ + ν),

so that r_τ >= c⁻¹(√(1 - κ + τ (κ + ν))), for every stationary kernel whose correlation falls with distance, all data,
and any x* (it need not be a local maximum of the variance). At κ = 1 and SE it is Eq. 3; it shrinks with κ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.surrogates import KERNELS, GPModel
from believer_paper.theory import arguments
from believer_paper.theory.arguments import GaussianProcess
from believer_paper.theory.rank_one import rank_one

_FARTHEST = 60.0
_HALVINGS = 50
_STEPS = 160
_KNOWN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Suppression:
    """Radii in lengthscales at one point: as printed (NaN if Eq. 3 is not defined), a valid bound, and exact (k,)."""

    kappa: float
    noise: float
    """ν"""
    printed: float
    guaranteed: float
    exact: Array
    """along each of the k rays that were asked for"""


def kappa(model: GaussianProcess, x: Array) -> float:
    """κ = σ²(x) / σ_f² at ``x`` (d,), in (0, 1]."""
    arguments.process(model)
    x = arguments.point(x, arguments.columns(model))
    # Far from all data rounding may leave a little more than the prior's variance.
    return min(float((model.predict(x[None, :]).std[0] / model.scale) ** 2) / model.hyper.signal, 1.0)


def printed_radius(kappa: float, tau: float, noise: float = 0.0) -> float:
    """√log(1 / (τ κ (κ + ν))), [paper] Eq. 3 over ℓ; NaN where the logarithm is negative.

    kappa, tau: in (0, 1]. noise: ν, zero or more.
    """
    left, tau, nu = arguments.share(kappa, "kappa"), arguments.share(tau, "tau"), arguments.variance(noise, "noise")
    log = -float(np.log(tau * left * (left + nu)))
    return float(np.sqrt(log)) if log >= 0.0 else float("nan")


def guaranteed_radius(kappa: float, tau: float, noise: float = 0.0, kernel: str = "se") -> float:
    """c⁻¹(√(1 - κ + τ (κ + ν))) in lengthscales, a radius within which every lie suppresses by τ or more."""
    if kernel not in KERNELS:
        raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}; got {kernel!r}.")
    left, tau, nu = arguments.share(kappa, "kappa"), arguments.share(tau, "tau"), arguments.variance(noise, "noise")
    level = 1.0 - left + tau * (left + nu)
    if level >= 1.0:
        return 0.0
    low, high = 0.0, _FARTHEST
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        reaches = float(KERNELS[kernel](np.array([middle**2]))[0][0]) ** 2 >= level
        low, high = (middle, high) if reaches else (low, middle)
    return low


def exact_radius(model: GPModel, x: Array, tau: float, directions: Array, reach: float = 6.0) -> Array:
    """r_τ (k,) along rays from ``x`` (d,): where F first falls below τ, by bisection on the exact share.

    directions: (k, d), in lengthscales, of any length. reach: the largest distance, which a ray gets if F stays above
    τ. Rays may leave the unit cube, where the model is also defined.
    """
    arguments.exact_process(model)
    x = arguments.point(x, arguments.columns(model))
    rays = arguments.points(directions, len(x), "directions")
    if not (np.linalg.norm(rays, axis=1) > 0.0).all():
        raise InvalidInput("directions must not be zero; leave such rows out.")
    rays = rays / np.linalg.norm(rays, axis=1)[:, None]
    return frozen(_first_below(model, x, arguments.share(tau, "tau"), rays, arguments.above_zero(reach, "reach")))


def suppression(model: GPModel, x: Array, tau: float = 0.5, directions: Array | None = None) -> Suppression:
    """The three radii at ``x`` (d,); the default ``directions`` are both directions of every axis."""
    arguments.exact_process(model)
    x = arguments.point(x, arguments.columns(model))
    rays = np.vstack([np.eye(len(x)), -np.eye(len(x))]) if directions is None else directions
    left, noise = kappa(model, x), model.hyper.noise / model.hyper.signal
    return Suppression(
        kappa=left,
        noise=noise,
        printed=printed_radius(left, tau, noise),
        guaranteed=guaranteed_radius(left, tau, noise, model.hyper.kernel),
        exact=exact_radius(model, x, tau, rays),
    )


def shares(model: GPModel, x: Array, at: Array) -> Array:
    """F (m,) at ``at`` (m, d) for a lie about ``x`` (d,).

    It is NaN at data without noise, where the variance is zero and a share of it would be rounding.
    """
    update = rank_one(model, x, 0.0, at)
    known = update.variance <= _KNOWN * model.hyper.signal * model.scale**2
    return np.where(known, np.nan, update.fraction)


def along(model: GPModel, x: Array, rays: Array, distances: Array) -> Array:
    """Points (m, d) at ``distances`` (m,) in lengthscales from ``x`` (d,), along unit vectors ``rays`` (m, d), (d,)."""
    points: Array = x + distances[:, None] * model.lengthscales * rays
    return points


def _first_below(model: GPModel, x: Array, tau: float, rays: Array, reach: float) -> Array:
    """The distances at which F first falls below τ along ``rays`` (k, d): a scan, then bisection of all at once."""
    steps = np.linspace(0.0, reach, _STEPS + 1)
    scan = along(model, x, np.repeat(rays, len(steps), axis=0), np.tile(steps, len(rays)))
    below = (shares(model, x, scan) < tau).reshape(len(rays), len(steps))
    first = np.where(below.any(axis=1), below.argmax(axis=1), len(steps))
    low, high = steps[np.maximum(first - 1, 0)], steps[np.minimum(first, _STEPS)]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        outside = shares(model, x, along(model, x, rays, middle)) < tau
        low, high = np.where(outside, low, middle), np.where(outside, middle, high)
    return np.where(first == 0, 0.0, np.where(first > _STEPS, reach, low))
