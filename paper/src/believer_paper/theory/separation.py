"""The distance to the next point once the model is sure: 1.22 standard deviations of the minimizer's place.

======  ==================================================================  ======
symbol  meaning                                                             shape
======  ==================================================================  ======
x, t    the point that is lied about, and the step to the next one          (d,)
g, H, σ₀, b, C   of the model *after* the lie, around x: see ``minimizer``
λ, e    C e = λ H e with eᵀ H e = 1, the largest λ                          (d,)
a       μ'(x) - f⁺, what the mean at x lacks of the incumbent
u, γ    a step and a slope in one column: H |t| / c and |g| / c, c = √C
h(z)    φ(z) + z Φ(z), so that EI = σ h((f⁺ - μ)/σ)
======  ==================================================================  ======

Kriging Believer with the believed f⁺, no noise, x the minimizer of the mean: g = 0, a = 0, σ₀ = 0, b = 0. Then

    EI(x + t) = √(tᵀCt) h(-tᵀHt / (2 √(tᵀCt))).                                                                    (2)

Along a direction let u² = (tᵀHt)² / tᵀCt. Then EI = (tᵀCt / tᵀHt) u h(-u/2), where the first factor knows the direction
only and is at most λ, and the second the length only. With v = u/2 its slope is h(-v) - vΦ(-v), which is zero at

    φ(v) = 2 v Φ(-v),    v = 0.612:    t = ± u √λ e with u = 1.224,    EI = u h(-u/2) λ = 0.2025 λ.                 (3)

In one column that is |t| = 1.224 c/H and EI = 0.2025 c²/H. (LogEI has the same maximizer.)

**A slope** (x is not the minimizer, or the lie moved the mean): in one column EI = (c²/H) u h(γ - u/2) downhill, with
u = γ + φ(v)/Φ(v), v = γ - u/2. It tends to the Newton step u = γ as γ grows.

**Noise** leaves σ₀ > 0 at x. To second order in t, EI = φ(0) (σ₀ + bᵀt/σ₀ + tᵀ(C - bbᵀ/σ₀²)t/(2σ₀)) - tᵀHt/4. With
b = 0, x stays a maximizer exactly when λ <= σ₀ √(π/2): then the point is *repeated*. With b the maximizer is, for
λ ≪ σ₀,

    t = √(2/π) H⁻¹ b/σ₀ = 0.798 H⁻¹ ∇σ'(x),                                                                        (4)

which is 0.798 |ρ| c/H in one column (ρ the correlation of value and slope): below 0.8 standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize

from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array, finite, frozen
from believer.batch import Data
from believer.numerics import log_h
from believer.plugins import Box
from believer.surrogates import GPModel
from believer_paper.theory import arguments
from believer_paper.theory.minimizer import Local, believed_minimizer, local
from believer_paper.theory.situation import strongest

_TINY = 1e-12
_SHORT = 0.1
_SCALES = (-1.8, -1.2, -0.6, 0.6, 1.2, 1.8)
"""The distances, along every axis, at which the expansion must hold, in standard deviations of the place."""

_AROUND = 12
_REACH = 2.5


def standard_step(slope: float = 0.0) -> tuple[float, float]:
    """u and the gain u h(γ - u/2) that it brings, in units of c/H and c²/H, for a ``slope`` γ >= 0: Eq. 3 at γ = 0."""
    gamma = arguments.at_least_zero(slope, "slope")

    def excess(u: float) -> float:
        """φ(v) - (u - γ) Φ(v), over h(v)."""
        _, mass, density = log_h(np.array([gamma - 0.5 * u]))
        return float(density[0] - (u - gamma) * mass[0])

    # φ/Φ of v = γ - u/2 is below 1 + |v|, so that u - γ is below 4.
    u = float(brentq(excess, gamma, gamma + 4.0, xtol=1e-14))
    return u, u * float(np.exp(log_h(np.array([gamma - 0.5 * u]))[0][0]))


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """The expected place of a batch's next point, after ``believed`` was conditioned on the lie about ``around.x``.

    step, gain: maximizer (d,) and maximum of EI under ``minimizer`` Eq. 1, with slope, noise and gap as they are.
    strain: how far the model is from that expansion up to 1.8 √λ_i along every axis: the largest error of the mean, and
    of the std of f(x + t) - f(x), over that std. Lengths are off by some times that; well below 0.1 the law holds.
    """

    believed: GPModel
    incumbent: float
    around: Local
    rate: float
    """λ"""
    axis: Array
    """e (d,), zero in columns that are held by the box"""
    step: Array
    gain: float
    strain: float

    @property
    def law(self) -> Array:
        """1.224 √λ e (d,), Eq. 3: the step without slope, noise and gap. The opposite step is as good."""
        law: Array = standard_step()[0] * np.sqrt(self.rate) * self.axis
        return law

    @property
    def law_gain(self) -> float:
        """The gain 0.2025 λ of that step, Eq. 3."""
        return standard_step()[1] * self.rate

    @property
    def place_std(self) -> float:
        """c/H along e: the standard deviation of the minimizer's place in its most uncertain direction, √λ |e|."""
        return float(np.sqrt(self.rate) * np.linalg.norm(self.axis))

    @property
    def floor(self) -> float:
        """σ₀/λ: if it is √(2/π) = 0.798 or more, and b = 0, the point is repeated."""
        return self.around.std / self.rate if self.rate > 0.0 else float("inf")


def next_step(
    model: GPModel, x: Array | None = None, lie: float | None = None, incumbent: float | None = None
) -> Separation:
    """Lie about ``x`` (d,), and find where EI is largest around it afterwards.  O(d N²).

    x: None is the minimizer of the mean. lie: None believes the mean. incumbent: f⁺ after the lie; None is the mean at
    x after the lie, as for Kriging Believer with the believed f⁺ if no result is better. Columns in which x lies at an
    end of the box, with a mean that falls outwards, stay as they are. The step is zero if all columns stay, or if C is
    zero up to rounding. The step ignores the box, and means nothing if ``strain`` is large. Raises InvalidInput if the
    mean does not curve upwards.
    """
    arguments.exact_process(model)
    x = believed_minimizer(model) if x is None else arguments.in_cube(x, arguments.columns(model))
    told = float(model.predict(x[None, :]).mean[0]) if lie is None else finite(lie, "lie")
    believed = model.condition(Data(frozen(x[None, :]), frozen([told])))
    around = local(believed, x)
    target = around.mean if incumbent is None else finite(incumbent, "incumbent")
    rates, axes = around.axes() if around.free.any() else (np.zeros(1), np.zeros((len(x), 1)))
    if rates[0] <= 0.0:
        still = frozen(np.zeros(len(x)))
        return Separation(believed, target, around, 0.0, still, still, 0.0, 0.0)
    rate, axis = float(rates[0]), frozen(axes[:, 0])
    step, gain = _best_step(around, rates, axes, around.mean - target)
    strain = _strain(believed, around, np.vstack([*(r * (np.sqrt(rates) * axes).T for r in _SCALES), step]))
    return Separation(believed, target, around, rate, axis, frozen(step), gain, strain)


def exact_step(found: Separation, rng: np.random.Generator) -> Array:
    """The exact counterpart of ``found.step`` (d,): to the maximizer of EI in the unit cube after the lie.

    This climbs from points around x at distances of the law's order, drawn with ``rng``, and then uses the search of
    all other propositions. A step shorter than 1e-6 counts as zero.
    """
    around, d = found.around, len(found.axis)
    bound, box = PointwiseObjective(LogEI(), found.believed, found.incumbent), Box.cube(d)
    # The place's std in every column, but not less than a millionth of the box: there is nothing to find below.
    size = np.maximum(np.sqrt(np.diagonal(around.place_covariance())), 1e-6) if around.free.any() else np.full(d, 1e-3)

    def value(w: Array) -> tuple[float, Array]:
        y, slope = bound.value_with_gradient((around.x + size * w)[None, :])
        return -float(y[0]), -size * slope[0]

    limits = list(zip((0.0 - around.x) / size, (1.0 - around.x) / size, strict=True))
    drawn = _REACH * rng.standard_normal((_AROUND, d))
    starts = np.vstack([np.stack([found.step, found.law, -found.law]) / size, drawn, 0.1 * drawn])
    low, high = np.array(limits).T
    ends = [minimize(value, np.clip(w, low, high), jac=True, method="L-BFGS-B", bounds=limits) for w in starts]
    near = around.x + size * np.array([end.x for end in ends])
    best = strongest(bound, box, np.vstack([around.x, near, found.believed.X[:-1]]), rng)
    step: Array = best.x - around.x
    return step


def _best_step(around: Local, rates: Array, axes: Array, gap: float) -> tuple[Array, float]:
    """Maximizer (d,) and maximum of EI under Eq. 1, in units in which λ₁ and H are one."""
    rate, root = rates[0], np.sqrt(rates[0])
    floor2, lack = (around.std / rate) ** 2, gap / rate
    tilt, slope = axes.T @ around.tilt / (rate * root), axes.T @ around.slope / root

    def worth(w: Array) -> tuple[float, Array]:
        """-log EI, and its derivatives by ``w`` (k,)."""
        std = np.sqrt(max(floor2 + 2.0 * tilt @ w + (rates / rate) @ w**2, _TINY))
        rise = lack + slope @ w + 0.5 * w @ w
        log, by_z, density = (float(part[0]) for part in log_h(np.array([-rise / std])))
        # ∂EI = φ ∂σ - Φ ∂μ
        gradient = (density * (tilt + rates / rate * w) / std - by_z * (slope + w)) / std
        return -(np.log(std) + log), -gradient

    first = np.eye(len(rates))[0] * standard_step()[0]
    starts = [first, -first, -slope, 0.1 * first, tilt / np.sqrt(floor2 + _TINY)]
    ends = [minimize(worth, w, jac=True, method="BFGS") for w in starts]
    best = min(ends, key=lambda end: float(end.fun))
    step: Array = axes @ (root * best.x)
    return step, float(rate * np.exp(-best.fun))


def _strain(believed: GPModel, around: Local, steps: Array) -> float:
    """Largest error of Eq. 1 at x + ``steps`` (m, d), over the std √(tᵀCt) that it gives to f(x + t) - f(x).

    Not over that of f(x + t): noise would hide how fast the slope of f changes.
    """
    joint = believed.joint(np.vstack([around.x, around.x + steps]))
    variance = np.diagonal(joint.covariance)
    exact = np.sqrt(np.maximum(variance[1:] - 2.0 * joint.covariance[0, 1:] + variance[0], 0.0))
    std = np.sqrt(np.einsum("ij,jk,ik->i", steps, around.spread, steps))
    # A step that noise has made short shares x's own rounding, and has no error to speak of.
    moved = std > _SHORT * std.max()
    errors = np.maximum(np.abs(exact - std), np.abs(joint.mean[1:] - around.predict(steps)[0]))
    return float((errors[moved] / std[moved]).max(initial=0.0))
