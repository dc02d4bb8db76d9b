"""Multiquadric radial basis functions centered at the data, conditioned by bordering.

======  ====================================================  ============
symbol  meaning                                               shape
======  ====================================================  ============
X, y    data; y less its mean ``shift``, over its ``scale``   (N, d), (N,)
ε       spread, a length in the unit cube
φ(r)    √(1 + r²/ε²), so φ(0) = 1
Φ       φ between the data                                    (N, N)
λ       ridge
K       kernel: +φ (form "printed") or -φ (form "power")
A       Φ + λI ("printed"); [[0, 1ᵀ], [1, λI - Φ]] ("power")  (M, M)
v(x)    φ(x) ("printed"); [1; -φ(x)] ("power")                (M,)
α       weights, A⁻¹ y or A⁻¹ [0; y]                          (M,)
R(x)    radicand K(0) - vᵀ A⁻¹ v; P² in the form "power"
τ       scale of the process, in units of standardized y
======  ====================================================  ============

The sign of R. Multiquadrics are conditionally *negative* definite of order one ([Micchelli1986]): cᵀ Φ c < 0 for every
c != 0 that sums to zero. As its entries are positive, Φ has one positive eigenvalue and N - 1 negative ones. R is a
Schur complement, and has the sign of the eigenvalue that a further point adds ([Haynsworth1968]). With λ = 0:

- "printed": R < 0 everywhere off the data. The absolute value in [paper] Eq. 18 hides that. |R| still falls with every
  added point, as R' = R - C²/R(x*) with R(x*) < 0 (C is the cross term) and R' <= 0.
- "power": with the sign turned and a constant in the system, R = P² > 0 off the data, zero at the data, and falling:
  the power function of [Wendland2005], which is the variance of intrinsic kriging ([Matheron1973]).

Differs: [paper] says that its σ̂ "is precisely the power function". It is not: Eq. 18 has neither the sign nor the
constant that conditional definiteness asks for. The form "printed" keeps it as it stands, for comparison.

What λ > 0 does. In "power" it is the variance of noise: 0 <= R <= λ at the data, and R never rises. In "printed" it
moves the negative eigenvalues *towards* zero, and some across it: the wrong way for a ridge. R = λ - λ² (A⁻¹)_ii at a
datum, about +λ, and negative farther off: σ̂ vanishes not there but on a shell around it (of radius ε√λ about a single
datum). A point added where R = -λ (there at ε√(2λ + λ²), 0.014 ε by default) makes A singular; near that pole an added
point makes σ̂ *rise*, anywhere and without bound. The mean at an added point goes R / (R + λ) of the way to its value:
part of it in "power", past it or away from it in "printed" (unless R > 0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from believer.arrays import SAME_POINT, Array, finite, frozen
from believer.errors import InvalidInput, NumericalError
from believer.numerics import bordering
from believer.numerics.bordering import Bordered
from believer.surrogates.data import Data, learnable
from believer.surrogates.gp import standardization
from believer.surrogates.kernels import multiquadric, squared_distances
from believer.surrogates.protocols import LEAST_VARIANCE, JointPrediction, Model, Prediction, PredictionGradient

FORMS = ("power", "printed")
_LEAST_PROCESS = 1e-12


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a fit learns or is told, and conditioning leaves alone."""

    form: str
    spread: float
    ridge: float
    tau: float
    shift: float
    scale: float

    @property
    def sign(self) -> float:
        """K = sign φ."""
        return 1.0 if self.form == "printed" else -1.0

    @property
    def drift(self) -> int:
        """Rows of A before those of the data: one for the constant, or none."""
        return 0 if self.form == "printed" else 1

    def kernel(self, A: Array, B: Array) -> Array:
        """K between ``A`` (m, d) and ``B`` (n, d), as (m, n)."""
        return self.sign * multiquadric(A, B, self.spread)

    def square(self, radicand: Array) -> Array:
        """σ² of standardized y (m,), with a floor above zero: τ² |R|, or τ² R, which rounding alone makes negative."""
        R = np.abs(radicand) if self.form == "printed" else radicand
        return np.maximum(self.tau**2 * R, LEAST_VARIANCE)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """At m points: v and v A⁻¹ (m, M), the mean of standardized y (m,) and R (m,)."""

    v: Array
    solved: Array
    mean: Array
    radicand: Array


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The data's A⁻¹ and α: all that a prediction needs."""

    parameters: Parameters
    X: Array
    inverse: Bordered
    alpha: Array

    def rows(self, X: Array) -> Array:
        """v at ``X`` (m, d), as (m, M)."""
        K = self.parameters.kernel(X, self.X)
        return np.hstack([np.ones((len(X), 1)), K]) if self.parameters.drift else K

    def evaluate(self, X: Array) -> Evaluation:
        """Mean vᵀ α and radicand K(0) - vᵀ A⁻¹ v at ``X`` (m, d).  O(m N²)."""
        v = self.rows(X)
        solved = self.inverse.apply(v)
        return Evaluation(v, solved, v @ self.alpha, self.parameters.sign - np.einsum("ij,ij->i", v, solved))

    def predict(self, X: Array) -> Prediction:
        """Mean and std in the units of y."""
        p, at = self.parameters, self.evaluate(X)
        return Prediction(p.shift + p.scale * at.mean, p.scale * np.sqrt(p.square(at.radicand)))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Mean, std and their gradients; under the floor of std the slope is that of σ² over twice the floor."""
        p, at = self.parameters, self.evaluate(X)
        std = np.sqrt(p.square(at.radicand))
        turned = np.sign(at.radicand) if p.form == "printed" else np.ones(len(X))
        half_variance_slope = self._slope(X, at, at.solved) * (-(p.tau**2) * turned)[:, None]
        return PredictionGradient(
            p.shift + p.scale * at.mean,
            p.scale * std,
            p.scale * self._slope(X, at, self.alpha),
            p.scale * half_variance_slope / std[:, None],
        )

    def _slope(self, X: Array, at: Evaluation, weights: Array) -> Array:
        """Σ_i w_i ∂v_i/∂x (m, d) for ``weights`` (M,) or (m, M), as ∂K/∂x = (x - x_i) / (ε² K): no r to divide by."""
        W = (weights / at.v)[:, self.parameters.drift :]
        slope: Array = (X * W.sum(axis=1)[:, None] - W @ self.X) / self.parameters.spread**2
        return slope

    def extend(self, X: Array, y: Array) -> System:
        """With observations ``y`` (k,), in the caller's units, at ``X`` (k, d).  O(k N²).

        α' = [α; 0] + u (y - mean) / s: an observation that is the mean leaves α as it is.
        """
        p, system = self.parameters, self
        for x, value in zip(X, y, strict=True):
            v = system.rows(x[None, :])[0]
            grown = system.inverse.append(v, p.sign + p.ridge)
            residual = (float(value) - p.shift) / p.scale - float(v @ system.alpha)
            alpha = float(grown.weights[-1]) * residual * grown.tail[-1]
            alpha[:-1] += system.alpha
            system = System(p, frozen(np.vstack([system.X, x])), grown, frozen(alpha))
        return system


@dataclass(frozen=True, slots=True, eq=False)
class PrintedMQRBF:
    """[paper] Eq. 18 as it stands: s(x) = Σ w_i φ_i with (Φ + λI) w = y, and σ̂ = |R|^½ times the scale of y."""

    system: System

    @property
    def parameters(self) -> Parameters:
        """Form, ε, λ, shift and scale; τ is 1."""
        return self.system.parameters

    def predict(self, X: Array) -> Prediction:
        """The interpolant and |1 - φᵀ (Φ + λI)⁻¹ φ|^½ at ``X`` (m, d).  O(m N²)."""
        return self.system.predict(X)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """With gradients; that of σ̂ is large, but finite, where R changes its sign.  O(m N²)."""
        return self.system.predict_with_gradient(X)

    def condition(self, data: Data) -> Self:
        """With ``X`` (k, d), ``y`` (k,) as further centers and data; ε, λ and the scaling stay.  O(k N²)."""
        X, y = data.X, data.y
        return replace(self, system=self.system.extend(X, y))


@dataclass(frozen=True, slots=True, eq=False)
class PowerMQRBF:
    """y = constant + process + noise, of generalized covariance τ² K and variance τ² λ: intrinsic kriging, σ = τ P.

    It does not declare ``is_noisy``: the ridge is a nugget for the linear system, and data are taken as exact.
    """

    system: System

    @property
    def parameters(self) -> Parameters:
        """Form, ε, λ, τ, shift and scale."""
        return self.system.parameters

    def predict(self, X: Array) -> Prediction:
        """The best linear unbiased prediction and τ P at ``X`` (m, d).  O(m N²)."""
        return self.system.predict(X)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """With gradients.  O(m N²)."""
        return self.system.predict_with_gradient(X)

    def condition(self, data: Data) -> Self:
        """With ``X`` (k, d), ``y`` (k,) as further centers and data; ε, λ, τ and the scaling stay.  O(k N²)."""
        X, y = data.X, data.y
        return replace(self, system=self.system.extend(X, y))

    def joint(self, X: Array) -> JointPrediction:
        """Mean (m,) and covariance τ² (K(x, x') - vᵀ A⁻¹ v') (m, m) of what the prediction misses."""
        p, at = self.parameters, self.system.evaluate(X)
        covariance = p.tau**2 * (p.kernel(X, X) - at.solved @ at.v.T)
        covariance = 0.5 * (covariance + covariance.T)
        covariance[np.diag_indices(len(X))] = p.square(at.radicand)
        return JointPrediction(p.shift + p.scale * at.mean, p.scale**2 * covariance)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        """``count`` draws from the joint posterior at ``X`` (m, d), as (count, m); ``noisy`` adds the variance τ² λ."""
        p, joint = self.parameters, self.joint(X)
        unit = joint.covariance / p.scale**2
        unit[np.diag_indices(len(X))] += p.tau**2 * p.ridge if noisy else 0.0
        # Eigenvalues, not a Cholesky factor: copies of a point, and points at the data, need no jitter this way.
        values, vectors = np.linalg.eigh(unit)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        draws: Array = joint.mean + p.scale * (rng.standard_normal((count, len(X))) @ root.T)
        return draws


Fitted = PowerMQRBF | PrintedMQRBF


def posterior(parameters: Parameters, X: Array, y: Array) -> Fitted:
    """The model of ``X`` (n, d), ``y`` (n,), in the caller's units, at given parameters, from nothing.  O(n³).

    Where A is singular to rounding (repeated points without a ridge; the pole of the form "printed"), observations that
    the others determine are left out.
    """
    p, first = parameters, parameters.drift
    A = np.zeros((len(X) + first, len(X) + first))
    A[:first, first:] = A[first:, :first] = 1.0
    A[first:, first:] = p.kernel(X, X)
    np.einsum("ii->i", A)[first:] = p.sign + p.ridge
    try:
        inverse = bordering.inverse(A)
    except NumericalError:
        inverse = bordering.regular_part(A, first + 1)
    target = np.concatenate([np.zeros(first), (y - p.shift) / p.scale])
    system = System(p, frozen(X), inverse, frozen(inverse.apply(target[None, :])[0]))
    return PrintedMQRBF(system) if p.form == "printed" else PowerMQRBF(system)


def median_distance(X: Array) -> float:
    """Median over pairs of different points of ``X`` (n, d); without any √(d/6), the root mean square in the cube."""
    r = np.sqrt(squared_distances(X, X)[np.triu_indices(len(X), 1)])
    apart = r[r > SAME_POINT]
    return float(np.median(apart)) if len(apart) else float(np.sqrt(X.shape[1] / 6.0))


def process_scale(system: System, y: Array) -> float:
    """τ by restricted maximum likelihood: τ² = yᵀ B y / (n - 1), B the block of A⁻¹ that belongs to the data.

    One datum, or a constant y, says nothing about it: τ is 1 then, the scale of y itself.
    """
    p = system.parameters
    kept = int(np.count_nonzero(system.inverse.diagonal[p.drift :]))
    variance = float(((y - p.shift) / p.scale) @ system.alpha[p.drift :]) / max(kept - 1, 1)
    return float(np.sqrt(variance)) if variance > _LEAST_PROCESS else 1.0


@dataclass(frozen=True, slots=True)
class MQRBF:
    """Multiquadric recipe: every observation is a center ([paper] appendix "MQ-RBF Uncertainty").

    form: "power", the right one; or "printed", [paper] Eq. 18 as it stands (see the top of this module).
    ridge: λ, zero or more. spread: ε, a length in the unit cube; None is the median distance of the data.
    """

    form: str = "power"
    ridge: float = 1e-4
    spread: float | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise InvalidInput(f"form must be one of {', '.join(FORMS)}; got {self.form!r}.")
        if finite(self.ridge, "ridge") < 0.0:
            raise InvalidInput(f"ridge must be zero or more; got {self.ridge!r}.")
        if self.spread is not None and finite(self.spread, "spread") <= 0.0:
            raise InvalidInput(f"spread must be a length above zero, or None for the median; got {self.spread!r}.")

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Fitted:
        """ε and, for the form "power", τ from ``X`` (n, d), ``y`` (n,), then the weights. Draws nothing.  O(n³)."""
        X, y, _ = learnable(data, "a multiquadric interpolant")
        spread = median_distance(X) if self.spread is None else float(self.spread)
        model = posterior(Parameters(self.form, spread, float(self.ridge), 1.0, *standardization(y)), X, y)
        if self.form == "printed":
            return model
        parameters = replace(model.parameters, tau=process_scale(model.system, y))
        return replace(model, system=replace(model.system, parameters=parameters))
