"""Does an acquisition rise with σ? [paper] Prop. 3 says so of EI, UCB and PI.

======  =======================================
symbol  meaning
======  =======================================
z       (f⁺ - ξ - μ) / σ
φ, Φ    normal density and distribution
h(z)    φ(z) + z Φ(z)
======  =======================================

=====  ===================  ==========================================================
α      ∂α/∂σ                sign
=====  ===================  ==========================================================
EI     φ(z)                 above zero everywhere (below 1e-297 for \\|z\\| > 37)
LogEI  φ(z) / (σ h(z))      above zero everywhere
UCB    √β                   above zero for β > 0, zero for β = 0
PI     -z φ(z) / σ          above zero where μ > f⁺ - ξ, *below* zero where μ < f⁺ - ξ
=====  ===================  ==========================================================

So Prop. 3 does not cover PI, and "non-decreasing" (UCB with β = 0) is not enough for a strict drop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint
from believer.arrays import Array, IntArray, as_values, finite
from believer.errors import MissingCapability
from believer_paper.theory import arguments

INCREASING, NON_DECREASING, NOT_MONOTONE = "increasing", "non-decreasing", "not monotone"
_STDS = np.logspace(-3.0, 3.0, 121)
_GAPS = np.concatenate([-np.logspace(2.0, -2.0, 41), [0.0], np.logspace(-2.0, 2.0, 41)])
_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class Fall:
    """A mean at which α falls although σ rises: from ``value_low`` at ``std_low`` to ``value_high`` at ``std_high``."""

    mean: float
    std_low: float
    std_high: float
    value_low: float
    value_high: float


@dataclass(frozen=True, slots=True)
class Monotonicity:
    """How an acquisition depends on σ: its ``kind``, "increasing", "non-decreasing" or "not monotone", and the steepest
    ``fall`` that was found, if any."""

    kind: str
    fall: Fall | None


def slope(acquisition: PerPoint, mean: Array, std: Array, incumbent: float) -> Array:
    """The slope ∂α/∂σ (m,), by the acquisition's own formula."""
    return acquisition.pointwise(mean, std, incumbent).by_std


def exact_sign(acquisition: PerPoint, mean: Array, incumbent: float) -> IntArray:
    """The sign of ∂α/∂σ (m,) in exact arithmetic, which for these acquisitions does not depend on σ."""
    mean, incumbent = as_values(mean, name="mean"), finite(incumbent, "incumbent")
    if isinstance(acquisition, EI | LogEI):
        return np.ones(len(mean), dtype=np.int64)
    if isinstance(acquisition, UCB):
        return np.full(len(mean), int(acquisition.beta > 0.0), dtype=np.int64)
    if isinstance(acquisition, PI):
        return np.sign(mean - (incumbent - acquisition.xi)).astype(np.int64)
    raise MissingCapability(
        f"the sign is known in closed form for EI, LogEI, UCB and PI; got {type(acquisition).__name__}. "
        "Use monotonicity(), which looks at values."
    )


def monotonicity(acquisition: PerPoint, incumbent: float = 0.0, scale: float = 1.0) -> Monotonicity:
    """The monotonicity of an acquisition by its values: means within 100 ``scale`` of f⁺, stds of 0.001-1000 ``scale``.

    It is "increasing" if no step of the grid falls and some step rises at every mean. Differences below rounding do not
    count, so an acquisition is called increasing if there is no evidence against it.
    """
    incumbent, scale = finite(incumbent, "incumbent"), arguments.above_zero(scale, "scale")
    means = incumbent + scale * _GAPS
    stds = scale * _STDS
    M, S = (grid.ravel() for grid in np.meshgrid(means, stds, indexing="ij"))
    values = acquisition.pointwise(M, S, incumbent).value.reshape(len(means), len(stds))
    steps = np.diff(values, axis=1)
    # LogEI is a sum of two logarithms that may cancel, so the range counts beside the values themselves.
    rounding = _SLACK * (np.maximum(np.abs(values[:, 1:]), np.abs(values[:, :-1])) + np.ptp(values, axis=1)[:, None])
    falls = np.where(steps < -rounding, steps, 0.0)
    if (falls < 0.0).any():
        i, j = np.unravel_index(int(np.argmin(falls)), falls.shape)
        at = (float(stds[j]), float(stds[j + 1]), float(values[i, j]), float(values[i, j + 1]))
        return Monotonicity(NOT_MONOTONE, Fall(float(means[i]), *at))
    rises_everywhere = bool((steps > rounding).any(axis=1).all())
    return Monotonicity(INCREASING if rises_everywhere else NON_DECREASING, None)
