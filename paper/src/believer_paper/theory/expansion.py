"""How much does EI change after a lie? [paper] Eq. 17 to first order, and exactly; the effect of each lie's mean term.

======  ========================================================  ======
symbol  meaning                                                   shape
======  ========================================================  ======
δμ      w (ỹ - μ(x*)), the change of the mean (Eq. 1)             (m,)
δσ²     k_D(x, x*)² / (σ²(x*) + σ_n²), the drop of the variance   (m,)
z       (f⁺ - μ)/σ before the lie; f⁺ stays                       (m,)
======  ========================================================  ======

    ΔEI ≈ -δμ Φ(z) - δσ²/(2σ) φ(z).

As an expansion it is right: what is left is of second order in δμ and δσ². It is no description of the neighborhood of
x*, where δσ² = σ² is not small. Three of the statements around it do not hold:

- "CL-min: the mean decreases locally, reinforcing the variance reduction". For minimization a lower mean *raises* EI.
  Where k_D > 0 the mean term has the sign of μ(x*) - ỹ. CL-min lowers the mean if μ(x*) > min y, and then works against
  the variance term; if μ(x*) < min y it raises the mean, and works with it.
- "CL-max ... partially offsetting": for μ(x*) < max y its mean term is negative, and adds to the suppression.
- "The suppression decays as exp(-r²/ℓ²)": only the variance term does (a square of the covariance). The mean term
  decays as the covariance itself, exp(-r²/(2ℓ²)), so it decides far from x*; there such a CL-min raises EI. The two
  agree in size where 2 σ |ỹ - μ(x*)| Φ(z) = |k_D| φ(z).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from believer.acquisitions import EI
from believer.arrays import Array, finite
from believer.numerics import normal_pdf
from believer_paper.theory import arguments
from believer_paper.theory.arguments import JointConditionable
from believer_paper.theory.rank_one import RankOne, conditioned, rank_one


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """ΔEI at m points: its two first-order terms and its exact value; all (m,)."""

    mean_term: Array
    variance_term: Array
    exact: Array

    @property
    def first_order(self) -> Array:
        """[paper] Eq. 17."""
        return self.mean_term + self.variance_term


def first_order(update: RankOne, incumbent: float) -> tuple[Array, Array]:
    """-δμ Φ(z) and -δσ²/(2σ) φ(z), both (m,), from the rank-one ``update``."""
    std = np.sqrt(np.maximum(update.variance, np.finfo(np.float64).tiny))
    z = (incumbent - update.mean) / std
    return -update.mean_change * ndtr(z), -update.variance_drop / (2.0 * std) * normal_pdf(z)


def improvement_change(
    model: JointConditionable, x: Array, lie: float, at: Array, incumbent: float, noise: float | None = None
) -> Change:
    """ΔEI at ``at`` (m, d) when ``lie`` is told about ``x`` (d,); ``noise`` as in :func:`rank_one`."""
    arguments.conditionable(model)
    x, at = arguments.place(model, x, at)
    incumbent = finite(incumbent, "incumbent")
    mean_term, variance_term = first_order(rank_one(model, x, lie, at, noise), incumbent)
    before, after = model.predict(at), conditioned(model, x, lie, at)
    exact = EI().pointwise(after.mean, after.std, incumbent).value
    return Change(mean_term, variance_term, exact - EI().pointwise(before.mean, before.std, incumbent).value)
