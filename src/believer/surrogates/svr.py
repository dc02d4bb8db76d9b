"""Support vector regression: an ensemble over bootstrap resamples, with predictions and gradients in closed form.

=======  ======================================================  ============
symbol   meaning                                                 shape
=======  ======================================================  ============
X        data                                                    (n, d)
k        exp(-γ |x - x_i|²)                                      (m, n)
A        dual coefficients; zero off a member's support vectors  (members, n)
b        intercepts                                              (members,)
F        k Aᵀ + b, standardized predictions of the members       (m, members)
=======  ======================================================  ============
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from believer.arrays import Array, above_zero, checked_seed, finite, frozen, whole
from believer.errors import InvalidInput
from believer.surrogates.bootstrap import MAX_MEMBERS, resamples, summary
from believer.surrogates.data import Data, learnable
from believer.surrogates.gp import standardization
from believer.surrogates.kernels import squared_distances
from believer.surrogates.protocols import MIN_STD, Model, Prediction, PredictionGradient
from believer.surrogates.sklearn import scikit_learn

_GAMMA = 12.0
"""γ d, the value of scikit-learn's "scale", 1 / (d var X), for points spread evenly over the unit cube."""


@dataclass(frozen=True, slots=True, eq=False)
class SVRModel:
    """A fitted ensemble of support vector machines."""

    X: Array
    duals: Array
    intercepts: Array
    gamma: float
    shift: float
    scale: float

    def predict(self, X: Array) -> Prediction:
        """Mean and standard deviation over the members at ``X`` (m, d).  O(m n (d + members))."""
        return summary(self._kernel(X) @ self.duals.T + self.intercepts, self.shift, self.scale)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Predictions with gradients by x; the gradient of σ is zero where σ is at its floor."""
        k = self._kernel(X)
        F = k @ self.duals.T + self.intercepts
        at = summary(F, self.shift, self.scale)
        std = F.std(axis=1)[:, None]
        # ∂σ/∂x = Σ_j (F_j - F̄) ∂F_j/∂x / (members σ): one set of coefficients for each point.
        free = std > MIN_STD
        by_member = np.where(free, (F - F.mean(axis=1)[:, None]) / np.where(free, len(self.duals) * std, 1.0), 0.0)
        return PredictionGradient(
            at.mean,
            at.std,
            self.scale * self._slope(X, k * self.duals.mean(axis=0)),
            self.scale * self._slope(X, k * (by_member @ self.duals)),
        )

    def _kernel(self, X: Array) -> Array:
        k: Array = np.exp(-self.gamma * squared_distances(X, self.X))
        return k

    def _slope(self, X: Array, terms: Array) -> Array:
        """∂/∂x of Σ_i a_i k_i, given ``terms`` a_i k_i (m, n): ∂k_i/∂x = -2γ k_i (x - x_i)."""
        slope: Array = 2.0 * self.gamma * (terms @ self.X - X * terms.sum(axis=1)[:, None])
        return slope


@dataclass(frozen=True, slots=True)
class SVR:
    """Support vector regression recipe: ε-SVR with the kernel exp(-γ |x - x'|²) ([Smola2004]). Needs scikit-learn.

    A support vector machine has no uncertainty of its own ([paper] appendix, Support Vector Machines). The mean here is
    that of the members, and σ is the standard deviation over them, which says how much the prediction depends on the
    resampled data. It is not a posterior and not calibrated. Far from all data, every member returns to its intercept,
    so that σ can be *smaller* there than near the data.

    C = 10 and ε = 0.01 suit deterministic objectives and are close to interpolation. scikit-learn's C = 1, ε = 0.1 are
    for noisy y. The quadratic program has no closed-form update: new data require a new solution, which with a much
    larger C and a much smaller γ can take minutes. If there are more than 2,000 results, a subset of 2,000 is used
    (:mod:`~believer.surrogates.subset`), for which a fit takes half a minute.

    Parameters
    ----------
    C : the penalty of a residual beyond ``epsilon``, for y of mean 0 and variance 1.
    epsilon : the largest residual without a penalty, for y of mean 0 and variance 1.
    gamma : γ, by default 12 / d: for points spread evenly over the cube the same as scikit-learn's "scale", but a
        pseudo-observation cannot change it.
    members : the number of machines, each fitted to its own resample.
    seed : None draws resamples from the generator passed to ``fit``; a number fixes them (:meth:`with_fixed_draws`).
    """

    C: float = 10.0
    epsilon: float = 0.01
    gamma: float | None = None
    members: int = 20
    seed: int | None = None
    most_results: ClassVar[int] = 2000

    def __post_init__(self) -> None:
        above_zero(self.C, "C", 1e-6, 1e6)
        if self.gamma is not None:
            above_zero(self.gamma, "gamma", 1e-6, 1e6)
        if finite(self.epsilon, "epsilon", 1e6) < 0.0:
            raise InvalidInput(f"epsilon must be zero or more; got {self.epsilon!r}.")
        whole(self.members, "members", 2, MAX_MEMBERS)
        checked_seed(self.seed)

    def with_fixed_draws(self, seed: int) -> Self:
        """The recipe with resamples that depend only on ``seed`` and an observation's position."""
        return replace(self, seed=whole(seed, "seed", 0))

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> SVRModel:
        """Solve one quadratic program for each member on ``data``, X (n, d) and y (n,).  O(members n²) and more.

        Resamples are drawn with ``rng``; ``previous`` is ignored.
        """
        X, y, _ = learnable(data, "support vector regression", self.most_results)
        shift, scale = standardization(y)
        target = (y - shift) / scale
        gamma = self.gamma if self.gamma is not None else _GAMMA / X.shape[1]
        counts = resamples(len(X), self.members, rng, self.seed)
        duals, intercepts = np.zeros(counts.shape), np.zeros(self.members)
        machine = scikit_learn("sklearn.svm").SVR(C=self.C, epsilon=self.epsilon, gamma=gamma)
        for member, count in enumerate(counts):
            # Rows with weight zero are removed here, because scikit-learn would number its support vectors without
            # them.
            rows = np.flatnonzero(count)
            machine.fit(X[rows], target[rows], sample_weight=count[rows].astype(np.float64))
            duals[member, rows[machine.support_]] = machine.dual_coef_[0]
            intercepts[member] = machine.intercept_[0]
        return SVRModel(frozen(X), frozen(duals), frozen(intercepts), float(gamma), shift, scale)
