"""Multiquadric radial basis functions centered at the data, conditioned by bordering.

======  ====================================================  ============
symbol  meaning                                               shape
======  ====================================================  ============
X, y    data; y less its mean ``shift``, over its ``scale``   (N, d), (N,)
ε       spread, a length in the unit cube
φ(r)    √(1 + r²/ε²), so φ(0) = 1
Φ       φ between the data                                    (N, N)
λ       ridge
A       [[0, 1ᵀ], [1, λI - Φ]]                                (N+1, N+1)
v(x)    [1; -φ(x)]                                            (N+1,)
α       weights, A⁻¹ [0; y]                                   (N+1,)
P²(x)   -1 - vᵀ A⁻¹ v, the power function squared
τ       scale of the process, in units of standardized y
======  ====================================================  ============

Multiquadrics are conditionally *negative* definite of order one ([Micchelli1986]): cᵀ Φ c < 0 for every c != 0 that
sums to zero. So the kernel is -φ, and the system has a constant. P² is a Schur complement, and has the sign of the
eigenvalue that a further point adds ([Haynsworth1968]): with λ = 0 it is positive off the data, zero at the data, and
falls with every added point. It is the power function of [Wendland2005], which is the variance of intrinsic kriging
([Matheron1973]). λ > 0 is the variance of noise: 0 <= P² <= λ at the data, P² never rises, and the mean at an added
point moves by a share of P² / (P² + λ) towards its value.

Differs: [paper] Eq. 18 has neither the sign nor the constant that conditional definiteness requires, and takes the root
of an absolute value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from believer.arrays import SAME_POINT, Array, above_zero, finite, frozen
from believer.errors import InvalidInput
from believer.numerics.bordering import Bordered, inverse_or_regular_part
from believer.surrogates.data import Data, learnable, squared
from believer.surrogates.gp import standardization
from believer.surrogates.kernels import MAX_SPREAD, MIN_SPREAD, multiquadric, squared_distances
from believer.surrogates.protocols import MIN_VARIANCE, JointPrediction, Model, Prediction, PredictionGradient
from believer.surrogates.subset import MOST

MAX_RIDGE = 1e3

_MIN_PROCESS = 1e-12


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters that a fit learns or is given, and that conditioning does not change."""

    spread: float
    ridge: float
    tau: float
    shift: float
    scale: float

    def kernel(self, A: Array, B: Array) -> Array:
        """-φ between ``A`` (m, d) and ``B`` (n, d), as (m, n)."""
        return -multiquadric(A, B, self.spread)

    def variance(self, power: Array) -> Array:
        """σ² = τ² P² of standardized y (m,), with a floor above zero, because rounding may make ``power`` negative."""
        return np.maximum(self.tau**2 * power, MIN_VARIANCE)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Values at m points: v, v A⁻¹ (m, N+1), the mean of standardized y (m,), and P² (m,) before any floor."""

    v: Array
    solved: Array
    mean: Array
    radicand: Array


@dataclass(frozen=True, slots=True, eq=False)
class MQRBFModel:
    """y = constant + process + noise, of generalized covariance -τ² φ and variance τ² λ: intrinsic kriging, σ = τ P.

    It has no ``is_noisy``: the ridge is a nugget for the linear system, and data are taken as exact.
    """

    parameters: Parameters
    X: Array
    inverse: Bordered
    alpha: Array

    @property
    def dim(self) -> int:
        """d, the columns of the points that it was fitted to."""
        return int(self.X.shape[1])

    def rows(self, X: Array) -> Array:
        """v at ``X`` (m, d), as (m, N+1)."""
        return np.hstack([np.ones((len(X), 1)), self.parameters.kernel(X, self.X)])

    def evaluate(self, X: Array) -> Evaluation:
        """Mean vᵀ α and P² = -1 - vᵀ A⁻¹ v at ``X`` (m, d).  O(m N²)."""
        v = self.rows(X)
        solved = self.inverse.apply(v)
        return Evaluation(v, solved, v @ self.alpha, -1.0 - np.einsum("ij,ij->i", v, solved))

    def predict(self, X: Array) -> Prediction:
        """The best linear unbiased prediction and τ P at ``X`` (m, d).  O(m N²)."""
        p, at = self.parameters, self.evaluate(X)
        return Prediction(p.shift + p.scale * at.mean, p.scale * np.sqrt(p.variance(at.radicand)))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Predict with gradients. Below the floor of σ, its gradient is that of σ² divided by twice the floor. O(m
        N²)."""
        p, at = self.parameters, self.evaluate(X)
        std = np.sqrt(p.variance(at.radicand))
        half_variance_slope = self._slope(X, at, at.solved) * -(p.tau**2)
        return PredictionGradient(
            p.shift + p.scale * at.mean,
            p.scale * std,
            p.scale * self._slope(X, at, self.alpha),
            p.scale * half_variance_slope / std[:, None],
        )

    def _slope(self, X: Array, at: Evaluation, weights: Array) -> Array:
        """Σ_i w_i ∂v_i/∂x (m, d) for ``weights`` (N+1,) or (m, N+1).

        With K = -φ, ∂K/∂x = (x - x_i) / (ε² K), without a division by r.
        """
        W = (weights / at.v)[:, 1:]
        slope: Array = (X * W.sum(axis=1)[:, None] - W @ self.X) / self.parameters.spread**2
        return slope

    def condition(self, data: Data) -> Self:
        """Add ``X`` (k, d), ``y`` (k,) as further centers and data; ε, λ, τ and the scaling are unchanged. O(k N²).

        α' = [α; 0] + u (y - mean) / s: an observation equal to the mean does not change α.
        """
        p, model = self.parameters, self
        for x, value in zip(data.X, data.y, strict=True):
            v = model.rows(x[None, :])[0]
            grown = model.inverse.append(v, p.ridge - 1.0)
            residual = (float(value) - p.shift) / p.scale - float(v @ model.alpha)
            alpha = float(grown.weights[-1]) * residual * grown.tail[-1]
            alpha[:-1] += model.alpha
            model = type(self)(p, frozen(np.vstack([model.X, x])), grown, frozen(alpha))
        return model

    def joint(self, X: Array) -> JointPrediction:
        """Mean (m,) and covariance τ² (-φ(x, x') - vᵀ A⁻¹ v') (m, m) of the prediction error."""
        p, at = self.parameters, self.evaluate(X)
        covariance = p.tau**2 * (p.kernel(X, X) - at.solved @ at.v.T)
        covariance = 0.5 * (covariance + covariance.T)
        covariance[np.diag_indices(len(X))] = p.variance(at.radicand)
        return JointPrediction(p.shift + p.scale * at.mean, squared(p.scale) * covariance)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (m, d), as (count, m); ``noisy`` adds the variance τ² λ."""
        p, joint = self.parameters, self.joint(X)
        unit = joint.covariance / squared(p.scale)
        unit[np.diag_indices(len(X))] += p.tau**2 * p.ridge if noisy else 0.0
        # Eigenvalues are used and not a Cholesky factor, so that copies of a point, and points at the data, need no
        # jitter.
        values, vectors = np.linalg.eigh(unit)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        draws: Array = joint.mean + p.scale * (rng.standard_normal((count, len(X))) @ root.T)
        return draws


def posterior(parameters: Parameters, X: Array, y: Array) -> MQRBFModel:
    """The model of ``X`` (n, d), ``y`` (n,), in the caller's units, at given parameters. O(n³).

    If A is singular to rounding (repeated points without a ridge), observations that follow from the others are left
    out.
    """
    p = parameters
    A = np.zeros((len(X) + 1, len(X) + 1))
    A[:1, 1:] = A[1:, :1] = 1.0
    A[1:, 1:] = p.kernel(X, X)
    np.einsum("ii->i", A)[1:] = p.ridge - 1.0
    inverse = inverse_or_regular_part(A, 2)
    target = np.concatenate([np.zeros(1), (y - p.shift) / p.scale])
    return MQRBFModel(p, frozen(X), inverse, frozen(inverse.apply(target[None, :])[0]))


def median_distance(X: Array) -> float:
    """The median distance over pairs of different points of ``X`` (n, d); √(d/6), the root mean square in the cube, if
    there are none."""
    r = np.sqrt(squared_distances(X, X)[np.triu_indices(len(X), 1)])
    apart = r[r > SAME_POINT]
    return float(np.median(apart)) if len(apart) else float(np.sqrt(X.shape[1] / 6.0))


def process_scale(model: MQRBFModel, y: Array) -> float:
    """τ by restricted maximum likelihood: τ² = yᵀ B y / (n - 1), B the block of A⁻¹ that belongs to the data.

    A single datum or a constant y does not determine it; τ is then 1, the scale of y itself.
    """
    p = model.parameters
    kept = int(np.count_nonzero(model.inverse.diagonal[1:]))
    variance = float(((y - p.shift) / p.scale) @ model.alpha[1:]) / max(kept - 1, 1)
    return float(np.sqrt(variance)) if variance > _MIN_PROCESS else 1.0


@dataclass(frozen=True, slots=True)
class MQRBF:
    """Multiquadric recipe: every observation is a center ([paper] appendix "MQ-RBF Uncertainty").

    If there are more than 5,000 observations, it uses a subset of 5,000 (:mod:`~believer.surrogates.subset`).

    Parameters
    ----------
    ridge : λ, zero or more.
    spread : ε, a length in the unit cube; None is the median distance of the data.
    """

    ridge: float = 1e-4
    spread: float | None = None
    most_results: ClassVar[int] = MOST

    def __post_init__(self) -> None:
        if finite(self.ridge, "ridge", MAX_RIDGE) < 0.0:
            raise InvalidInput(f"ridge must be zero or more; got {self.ridge!r}.")
        if self.spread is not None:
            what = "a length above zero, or None for the median"
            above_zero(self.spread, "spread", MIN_SPREAD, MAX_SPREAD, what)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> MQRBFModel:
        """Compute ε, τ and the weights from ``data``, X (n, d) and y (n,). O(n³); ``rng`` and ``previous`` are not
        used."""
        X, y, _ = learnable(data, "a multiquadric interpolant", self.most_results)
        spread = median_distance(X) if self.spread is None else float(self.spread)
        model = posterior(Parameters(spread, float(self.ridge), 1.0, *standardization(y)), X, y)
        return replace(model, parameters=replace(model.parameters, tau=process_scale(model, y)))
