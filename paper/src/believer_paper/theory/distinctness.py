"""Does a lie keep the next point away from the last one? [paper] Prop. 1, its three steps, and sufficient conditions.

======  ==========================================================================
symbol  meaning
======  ==========================================================================
x₁, ỹ   the maximizer of the acquisition α, and the lie about it
α', σ'  acquisition and latent std after the lie; f⁺' the incumbent after it
s, σ_n²  σ²(x₁) before the lie, noise variance
ξ, β    margin of EI; weight of UCB, α = -μ + √β σ
φ, h    normal density; h(z) = φ(z) + z Φ(z), so that EI = σ h(z)
======  ==========================================================================

The proof in [paper] appendix B.1 has three steps: (1) σ' < σ at x₁; (2) so α' < α there; (3) so every maximizer of α'
is elsewhere. Only the first holds. (2) asks for more than "non-decreasing" (UCB with β = 0), is about a fixed mean
(constant lies move it), and is not true of PI. (3) does not follow: α' may be lower at x₁ and highest there all the
same, because the neighbors were lowered too. What can be proven for an exact Gaussian process:

- **No improvement is left.** EI or LogEI, σ_n² = 0 and f⁺' - ξ <= ỹ. Then μ'(x₁) = ỹ and σ'(x₁) = 0, so EI' (x₁) = 0,
  while EI' > 0 at every point off the data. With ξ >= 0 the condition holds for every lie when f⁺' is believed, and for
  the constant lies min, mean and max also when it is not. (In floating point, EI' must exceed rounding somewhere.)
- **A cone.** UCB with β > 0, σ_n² = 0, x₁ off both ends of the box in some continuous column. σ' rises from 0 like
  |x - x₁| in every direction (the kernels here have a derivative whose posterior variance is positive), μ' is smooth,
  and of two opposite directions that the box allows one does not raise μ'. So α' rises along it: x₁ is not even a local
  maximizer. (The rise may be below rounding where σ(x₁) was about 1e-4 σ_f or less before the lie.)
- **Room above the noise.** EI or LogEI, σ_n² > 0, f⁺' - ξ <= μ'(x₁), and EI' > σ_n / √(2π) somewhere. For h(z) <= φ(0)
  when z <= 0, and σ'(x₁) < σ_n by Eq. 12, so EI'(x₁) < σ_n / √(2π). With ξ >= 0 and a believed f⁺', Kriging Believer
  meets the second condition always, the other lies where f⁺' is the least posterior mean (a model that is noisy).

They extend to every earlier point of the batch whose lie met the condition when it was told. Later lies only lower σ
there; without noise they leave the mean there, and f⁺ does not rise. With noise, f⁺' stays at or below the mean there
if the lies are Kriging Believer's, which leave all means, or if f⁺' is the least posterior mean, of which it is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.acquisitions import EI, UCB, LogEI, PointwiseObjective
from believer.arrays import SAME_POINT, Array, near_any
from believer.maximize import Maximum
from believer.plugins import Scaled, bounds
from believer.surrogates import GPModel
from believer_paper.theory.rank_one import observation_noise
from believer_paper.theory.situation import Situation, Step, before, lie_about, strongest

NO_IMPROVEMENT_LEFT = "no improvement is left: without noise, EI is zero where a lie no better than f⁺ was told"
CONE = "a cone: without noise, σ rises from zero in every direction, and the point is not a corner"
ABOVE_THE_NOISE = "room above the noise: somewhere EI exceeds σ_n/√(2π), the most that it can be at the point"

_ROUNDING = 1e-9
_ROUNDED_STD = 1e-7
"""The size of σ' = 0 after rounding, over σ_f: a few roots of the machine's precision. EI below it is no evidence."""

_DENSITY_AT_ZERO = 1.0 / np.sqrt(2.0 * np.pi)


@dataclass(frozen=True, slots=True, eq=False)
class Guarantee:
    """What a proof promises and what a search finds about the next point: x₁ is ``step.x``, ``best`` maximizes α'.

    promise: the condition of this module under which x₁ cannot be chosen again; None if none applies.
    """

    situation: Situation
    step: Step
    promise: str | None
    std_before: float
    std_after: float
    value_before: float
    value_after: float
    best: Maximum

    @property
    def applies(self) -> bool:
        """Whether a proof covers this situation."""
        return self.promise is not None

    @property
    def variance_drops(self) -> bool:
        """Whether step 1 holds: σ' < σ at x₁."""
        return self.std_after < self.std_before

    @property
    def acquisition_drops(self) -> bool:
        """Whether step 2 holds: α' < α at x₁, beyond rounding."""
        return self.value_before - self.value_after > _ROUNDING * self._magnitude

    @property
    def moves(self) -> bool:
        """Whether step 3 holds: another point is better than x₁ after the lie, beyond rounding."""
        gain = self.best.value - self.value_after
        return gain > _ROUNDING * self._magnitude and not near_any(self.best.x[None, :], self.step.x[None, :])[0]

    @property
    def exhausted(self) -> bool:
        """Whether EI after the lie is zero up to rounding everywhere, so that no point is better than another."""
        return _exhausted(self.step.bound, self.best.x)

    @property
    def separation(self) -> float:
        """The distance from x₁ to the maximizer of α' in the cube; zero if x₁ is still as good as any point."""
        return float(np.linalg.norm(self.best.x - self.step.x)) if self.moves else 0.0

    @property
    def lengthscales(self) -> float | None:
        """The same distance in lengthscales; None for a model that has none."""
        model = self.situation.model
        if not isinstance(model, Scaled):
            return None
        return float(np.linalg.norm((self.best.x - self.step.x) / model.lengthscales)) if self.moves else 0.0

    @property
    def _magnitude(self) -> float:
        return max(abs(self.value_before), abs(self.value_after), abs(self.best.value))

    def __str__(self) -> str:
        x, a = np.array2string(self.step.x, precision=4), type(self.situation.acquisition).__name__
        changed = f"{a} at x1 = {x} went from {self.value_before:.4g} to {self.value_after:.4g} after the lie"
        proof = f"proven ({self.promise})" if self.promise else "no proof covers this"
        if self.moves:
            to = np.array2string(self.best.x, precision=4)
            return f"distinct here: {changed}, and {to} has {self.best.value:.4g}; {proof}."
        return f"repeated: {changed}, and no other point has more; {proof}."


def guarantee(situation: Situation, rng: np.random.Generator) -> Guarantee:
    """Choose x₁, lie about it, and search for the maximizer of α'; report the proof that applies, if any.

    A situation in which x₁ stays the maximizer (``moves`` is False) is a counterexample to [paper] Prop. 1, if the
    acquisition does not fall with σ. "Elsewhere" is settled by a search, so a repeat is as sure as that search.
    """
    data, region = situation.data, situation.box
    first = before(situation)
    best_known = data.X[np.argsort(data.y, kind="stable")[:3]]
    x = strongest(first, region, best_known, rng).x
    step = lie_about(situation, x, rng)
    best = strongest(step.bound, region, np.vstack([x[None, :], best_known]), rng)
    return Guarantee(
        situation=situation,
        step=step,
        promise=promise(situation, step, best),
        std_before=float(first.model.predict(x[None, :]).std[0]),
        std_after=float(step.bound.model.predict(x[None, :]).std[0]),
        value_before=float(first.value(x[None, :])[0]),
        value_after=float(step.bound.value(x[None, :])[0]),
        best=best,
    )


def promise(situation: Situation, step: Step, best: Maximum) -> str | None:
    """The condition of this module that holds; None if none does, or the model is no exact Gaussian process."""
    model, acquisition = situation.model, situation.acquisition
    if not isinstance(model, GPModel) or situation.box.size is not None:
        return None
    noise = observation_noise(model) + model.jitter * model.scale**2
    if isinstance(acquisition, UCB):
        return CONE if noise == 0.0 and acquisition.beta > 0.0 and _has_room(situation, step.x) else None
    if not isinstance(acquisition, EI | LogEI):
        return None
    target = step.bound.incumbent - acquisition.xi
    if noise == 0.0:
        return NO_IMPROVEMENT_LEFT if target <= step.lie and not _exhausted(step.bound, best.x) else None
    at_point = float(step.bound.model.predict(step.x[None, :]).mean[0])
    # μ'(x₁) and the lie agree to rounding where they agree at all (Kriging Believer).
    reached = target - at_point <= _ROUNDING * model.scale
    return ABOVE_THE_NOISE if reached and _improvement(step.bound, best.x) > ceiling(noise) else None


def ceiling(noise: float) -> float:
    """σ_n / √(2π): above all that EI can be at a point that was lied about, if f⁺' - ξ does not exceed its mean."""
    return float(np.sqrt(noise) * _DENSITY_AT_ZERO)


def _improvement(bound: PointwiseObjective, x: Array) -> float:
    """EI at ``x`` (d,), also if the acquisition function is its logarithm."""
    at = bound.model.predict(x[None, :])
    acquisition = bound.acquisition
    xi = acquisition.xi if isinstance(acquisition, EI | LogEI) else 0.0
    return float(EI(xi).pointwise(at.mean, at.std, bound.incumbent).value[0])


def _exhausted(bound: PointwiseObjective, best: Array) -> bool:
    model = bound.model
    if not isinstance(bound.acquisition, EI | LogEI) or not isinstance(model, GPModel):
        return False
    return _improvement(bound, best) <= _ROUNDED_STD * float(np.sqrt(model.hyper.signal)) * model.scale


def _has_room(situation: Situation, x: Array) -> bool:
    """Whether some continuous column of ``x`` (d,) is off both ends of the box: then it can move along it both ways."""
    region = situation.box
    lower, upper = bounds(region)
    inside = (x > lower + SAME_POINT) & (x < upper - SAME_POINT)
    # A grid too fine for a block counts as free, and is rounded afterwards: a step on it may leap over the cone.
    return bool((inside & region.free(x[None, :])[0]).any()) and not region.ruled and not region.rounded
