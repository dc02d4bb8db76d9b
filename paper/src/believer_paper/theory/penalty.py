"""A lie as a penalty on EI: ψ of [paper] Eq. 4, as printed and exact, compared with Local Penalization.

======  ==================================================================  ======
symbol  meaning                                                             shape
======  ==================================================================  ======
r       distance from x*, in lengthscales                                   (m,)
ρ       σ'/σ, latent std after a lie about x* over that before              (m,)
z       (f⁺ - μ)/σ before the lie                                           (m,)
ψ       EI after a believed value over EI before it, f⁺ fixed               (m,)
h(z)    φ(z) + z Φ(z)
φ_LP    1 - exp(-r²/2), the penalty of [paper] section 4.5                  (m,)
======  ==================================================================  ======

The mean stays (Lemma 1), so exactly ψ = ρ h(z/ρ) / h(z). Eq. 4 says ψ ≈ ρ, "tight in the exploration-dominated regime".
ψ rises with z, from 0 to 1, and meets ρ at one place only:

- z = 0: ψ = ρ exactly, and ψ/ρ ≈ 1 + 1.25 z (1/ρ - 1) around it.
- z -> -∞ (σ φ(z) still far above (f⁺ - μ) Φ(z), which is negative): ψ ≈ ρ³ exp(-z² (ρ⁻² - 1)/2), far below ρ.
- z -> +∞: ψ -> 1. Without noise ψ(x*) = z / h(z) for z > 0: 0.92 at z = 1. Such a point is hardly penalized at all.

Eq. 4 then puts the prior kernel for the posterior covariance in ρ. At x* its radicand is 1 - 1/(κ (κ + ν)), negative
unless κ (κ + ν) >= 1 (κ, ν as in ``suppression``): as printed, ψ is not a number around x* when data are near.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from believer.acquisitions import LogEI
from believer.arrays import Array, finite
from believer.errors import InvalidInput
from believer.numerics import log_h
from believer.surrogates import squared_distances
from believer_paper.theory import arguments
from believer_paper.theory.arguments import GaussianProcess
from believer_paper.theory.rank_one import conditioned, observation_noise


@dataclass(frozen=True, slots=True, eq=False)
class ImplicitPenalty:
    """The effect of a lie on EI at m points: ψ as printed, ρ, exact ψ, and φ_LP. All (m,), NaN where not defined."""

    distance: Array
    z: Array
    printed: Array
    std_ratio: Array
    exact: Array
    local: Array


def improvement_ratio(z: npt.ArrayLike, std_ratio: npt.ArrayLike) -> Array:
    """ψ = ρ h(z/ρ) / h(z), for ``z`` and ρ of shapes that broadcast; accurate far into both tails.

    ρ is in (0, 1]; rounding may leave it a little above one.
    """
    z, std_ratio = arguments.numbers(z, "z"), arguments.numbers(std_ratio, "std_ratio")
    if not (std_ratio > 0.0).all():
        raise InvalidInput(f"std_ratio must be above zero; got {float(std_ratio.min())!r}.")
    try:
        np.broadcast_shapes(z.shape, std_ratio.shape)
    except ValueError as error:
        raise InvalidInput(f"z and std_ratio must broadcast; got {z.shape} and {std_ratio.shape}.") from error
    ratio: Array = np.exp(np.log(std_ratio) + log_h(np.asarray(z / std_ratio))[0] - log_h(z)[0])
    return ratio


def distances(model: GaussianProcess, x: Array, at: Array) -> Array:
    """r (m,) between ``x`` (d,) and ``at`` (m, d)."""
    scale = model.lengthscales
    root: Array = np.sqrt(squared_distances(at / scale, x[None, :] / scale)[:, 0])
    return root


def printed_radicand(model: GaussianProcess, x: Array, at: Array) -> Array:
    """1 - σ_f⁴ exp(-r²) / (σ²(x) (σ²(x*) + σ_n²)) (m,), whose root is [paper] Eq. 4, with SE for any kernel."""
    prior = (model.hyper.signal * model.scale**2) ** 2 * np.exp(-(distances(model, x, at) ** 2))
    denominator = float(model.predict(x[None, :]).std[0]) ** 2 + observation_noise(model)
    radicand: Array = 1.0 - prior / (model.predict(at).std ** 2 * denominator)
    return radicand


def printed_penalty(model: GaussianProcess, x: Array, at: Array) -> Array:
    """ψ (m,) as [paper] Eq. 4 prints it; NaN where the radicand is negative."""
    arguments.process(model)
    radicand = printed_radicand(model, *arguments.place(model, x, at))
    return np.where(radicand >= 0.0, np.sqrt(np.maximum(radicand, 0.0)), np.nan)


def local_penalty(distance: npt.ArrayLike) -> Array:
    """φ_LP = 1 - exp(-r²/2), the paper's Local Penalization, at distances in lengthscales; the shape is theirs."""
    penalized: Array = -np.expm1(-0.5 * arguments.numbers(distance, "distance", infinite=True) ** 2)
    return penalized


def penalty(model: GaussianProcess, x: Array, at: Array, incumbent: float) -> ImplicitPenalty:
    """Believe μ(x*) at ``x`` (d,), and compare EI at ``at`` (m, d) before and after, with f⁺ = ``incumbent`` fixed."""
    arguments.process(model)
    x, at = arguments.place(model, x, at)
    incumbent = finite(incumbent, "incumbent")
    before = model.predict(at)
    after = conditioned(model, x, float(model.predict(x[None, :]).mean[0]), at)
    r = distances(model, x, at)
    log_before = LogEI().pointwise(before.mean, before.std, incumbent).value
    log_after = LogEI().pointwise(after.mean, after.std, incumbent).value
    return ImplicitPenalty(
        distance=r,
        z=(incumbent - before.mean) / before.std,
        printed=printed_penalty(model, x, at),
        std_ratio=after.std / before.std,
        exact=np.exp(log_after - log_before),
        local=local_penalty(r),
    )
