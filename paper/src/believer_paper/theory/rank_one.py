"""The effect of one pseudo-observation on predictions: [paper] Eq. 1-2 and 12, and the model's own conditioning.

======  ===============================================================  ======
symbol  meaning                                                          shape
======  ===============================================================  ======
x*, ỹ   the point that is lied about, and the lie                        (d,)
μ, σ²   latent mean and variance before the lie                          (m,)
c       k_D(x, x*), the *posterior* covariance before the lie            (m,)
s       σ²(x*)
σ_n²    noise variance, in the squared units of y
w       c / (s + σ_n²)                                                   (m,)
μ'      μ + w (ỹ - μ(x*)), Eq. 1                                         (m,)
σ'²     σ² - c² / (s + σ_n²), Eq. 2                                      (m,)
======  ===============================================================  ======

Eq. 2 says that the variance never rises, whatever ỹ is. It stays as it was where c = 0: at data without noise, and
where the posterior covariance changes sign. The *absolute* drop need not be largest near x*. The share of the variance
that is lost, c² / (σ² (s + σ_n²)), is: by Cauchy and Schwarz it is at most s / (s + σ_n²), which it reaches at x*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, finite
from believer.errors import MissingCapability
from believer.plugins import Conditionable, Data, Joint, Prediction
from believer_paper.theory import arguments

_BLOCK = 32


@dataclass(frozen=True, slots=True, eq=False)
class RankOne:
    """Predictions at m points before a lie, and all that determines them after it."""

    mean: Array
    variance: Array
    covariance: Array
    """c (m,), with the point that is lied about"""
    denominator: float
    """s + σ_n²"""
    discrepancy: float
    """ỹ - μ(x*)"""

    @property
    def weight(self) -> Array:
        """w (m,)."""
        return self.covariance / self.denominator

    @property
    def mean_change(self) -> Array:
        """μ' - μ = w (ỹ - μ(x*))  (m,)."""
        return self.weight * self.discrepancy

    @property
    def mean_after(self) -> Array:
        """μ' (m,), Eq. 1."""
        return self.mean + self.mean_change

    @property
    def variance_drop(self) -> Array:
        """σ² - σ'² = c² / (s + σ_n²)  (m,), never negative."""
        return self.covariance**2 / self.denominator

    @property
    def variance_after(self) -> Array:
        """σ'² (m,), Eq. 2."""
        return self.variance - self.variance_drop

    @property
    def fraction(self) -> Array:
        """(σ² - σ'²) / σ², the share of the variance that the lie takes away (m,), in [0, 1]."""
        share = self.variance_drop / np.maximum(self.variance, np.finfo(np.float64).tiny)
        return np.minimum(share, 1.0)


def observation_noise(model: object) -> float:
    """σ_n² of a Gaussian process, exact or sparse, in the squared units of y; MissingCapability for other models."""
    if not isinstance(model, arguments.GaussianProcess):
        raise MissingCapability(
            f"the noise variance must be known, as it is for GP and SparseGP; got {type(model).__name__}. "
            "Pass it as noise=..."
        )
    return model.hyper.noise * model.scale**2


def noise_of(model: object, noise: float | None) -> float:
    """``noise``, or the model's own if it is None."""
    return observation_noise(model) if noise is None else arguments.variance(noise, "noise")


def rank_one(model: Joint, x: Array, lie: float, at: Array, noise: float | None = None) -> RankOne:
    """[paper] Eq. 1-2 at ``at`` (m, d) for a lie about ``x`` (d,), from the joint covariance before it.  O(m N²).

    noise: σ_n² in the squared units of y; None reads it from a Gaussian process. Conditioning a sparse one is not quite
    this: it updates only the part of the covariance that the inducing points explain.
    """
    arguments.joint(model)
    x, at = arguments.place(model, x, at)
    lie, sigma_n2 = finite(lie, "lie"), noise_of(model, noise)
    point = model.joint(x[None, :])
    # In blocks: of the covariances between the m points only their variances are needed. One block at least, so that
    # no points give no predictions.
    blocks = [model.joint(np.vstack([at[i : i + _BLOCK], x])) for i in range(0, max(len(at), 1), _BLOCK)]
    return RankOne(
        mean=np.concatenate([block.mean[:-1] for block in blocks]),
        variance=np.concatenate([np.diagonal(block.covariance)[:-1] for block in blocks]),
        covariance=np.concatenate([block.covariance[:-1, -1] for block in blocks]),
        denominator=float(point.covariance[0, 0]) + sigma_n2,
        discrepancy=lie - float(point.mean[0]),
    )


def conditioned(model: Conditionable, x: Array, lie: float, at: Array) -> Prediction:
    """The exact counterpart: the model's predictions at ``at`` (m, d) after conditioning on ``lie`` at ``x`` (d,)."""
    arguments.conditionable(model)
    x, at = arguments.place(model, x, at)
    return model.condition(Data(x[None, :], np.array([finite(lie, "lie")]))).predict(at)


def variance_at_the_point(variance: float, noise: float) -> float:
    """σ'²(x*) = s σ_n² / (s + σ_n²), [paper] Eq. 12: never above σ_n², and zero without noise."""
    s, sigma_n2 = arguments.variance(variance, "variance"), arguments.variance(noise, "noise")
    return s * sigma_n2 / (s + sigma_n2) if s > 0.0 else 0.0
