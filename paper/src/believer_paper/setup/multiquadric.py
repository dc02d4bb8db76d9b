"""The multiquadric network with the uncertainty of [paper] Eq. 18, as it stands.

======  ====================================================  ============
symbol  meaning                                               shape
======  ====================================================  ============
X, y    data; y less its mean ``shift``, over its ``scale``   (N, d), (N,)
ε       spread, a length in the unit cube
φ(r)    √(1 + r²/ε²), so φ(0) = 1
Φ       φ between the data                                    (N, N)
λ       ridge
A       Φ + λI                                                (N, N)
w       weights, A⁻¹ y                                        (N,)
R(x)    radicand 1 - φ(x)ᵀ A⁻¹ φ(x)
======  ====================================================  ============

The sign of R. Multiquadrics are conditionally *negative* definite of order one ([Micchelli1986]): cᵀ Φ c < 0 for every
c != 0 that sums to zero. As its entries are positive, Φ has one positive eigenvalue and N - 1 negative ones. R is a
Schur complement, and has the sign of the eigenvalue that a further point adds ([Haynsworth1968]): with λ = 0, R < 0
everywhere off the data. The absolute value in Eq. 18 hides that. |R| still falls with every added point, as
R' = R - C²/R(x*) with R(x*) < 0 (C is the cross term) and R' <= 0.

[paper] says that its σ̂ "is precisely the power function". It is not: Eq. 18 has neither the sign nor the constant that
conditional definiteness asks for. ``believer.MQRBF`` has both.

What λ > 0 does. It moves the negative eigenvalues *towards* zero, and some across it: the wrong way for a ridge.
R = λ - λ² (A⁻¹)_ii at a datum, about +λ, and negative farther off: σ̂ vanishes not there but on a shell around it (of
radius ε√λ about a single datum). A point added where R = -λ (there at ε√(2λ + λ²), 0.014 ε by default) makes A
singular; near that pole an added point makes σ̂ *rise*, anywhere and without bound. The mean at an added point goes
R / (R + λ) of the way to its value: past it or away from it, unless R > 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from believer.arrays import Array, frozen
from believer.numerics import Bordered, inverse_or_regular_part
from believer.plugins import MIN_VARIANCE, Data, Model, Prediction, PredictionGradient, learnable
from believer.surrogates import MQRBF, median_distance, multiquadric, standardization


@dataclass(frozen=True, slots=True)
class PrintedParameters:
    """The parameters that a fit learns or is given, and that conditioning leaves unchanged."""

    spread: float
    ridge: float
    shift: float
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class PrintedEvaluation:
    """Values at m points: φ and φ A⁻¹ (m, N), the interpolant of standardized y (m,) and R (m,)."""

    phi: Array
    solved: Array
    mean: Array
    radicand: Array

    @property
    def std(self) -> Array:
        """σ̂ = |R|^½ (m,), with a floor above zero."""
        root: Array = np.sqrt(np.maximum(np.abs(self.radicand), MIN_VARIANCE))
        return root


@dataclass(frozen=True, slots=True, eq=False)
class PrintedMQRBFModel:
    """s(x) = Σ w_i φ_i with (Φ + λI) w = y, and σ̂ = |R|^½ times the scale of y."""

    parameters: PrintedParameters
    X: Array
    inverse: Bordered
    weights: Array

    @property
    def dim(self) -> int:
        """d, the columns of the points that it was fitted to."""
        return int(self.X.shape[1])

    def evaluate(self, X: Array) -> PrintedEvaluation:
        """The interpolant and R at ``X`` (m, d).  O(m N²)."""
        phi = multiquadric(X, self.X, self.parameters.spread)
        solved = self.inverse.apply(phi)
        return PrintedEvaluation(phi, solved, phi @ self.weights, 1.0 - np.einsum("ij,ij->i", phi, solved))

    def predict(self, X: Array) -> Prediction:
        """s and σ̂ at ``X`` (m, d), in the units of y.  O(m N²)."""
        p, at = self.parameters, self.evaluate(X)
        return Prediction(p.shift + p.scale * at.mean, p.scale * at.std)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        """Predict with gradients; that of σ̂ is large, but finite, where R changes its sign.  O(m N²)."""
        p, at = self.parameters, self.evaluate(X)
        half_square_slope = self._slope(X, at, at.solved) * -np.sign(at.radicand)[:, None]
        return PredictionGradient(
            p.shift + p.scale * at.mean,
            p.scale * at.std,
            p.scale * self._slope(X, at, self.weights),
            p.scale * half_square_slope / at.std[:, None],
        )

    def _slope(self, X: Array, at: PrintedEvaluation, weights: Array) -> Array:
        """Σ_i w_i ∂φ_i/∂x (m, d) for ``weights`` (N,) or (m, N), as ∂φ/∂x = (x - x_i) / (ε² φ): no r to divide by."""
        W = weights / at.phi
        slope: Array = (X * W.sum(axis=1)[:, None] - W @ self.X) / self.parameters.spread**2
        return slope

    def condition(self, data: Data) -> Self:
        """Add ``X`` (k, d), ``y`` (k,) as further centers and data; ε, λ and the scaling stay.  O(k N²)."""
        p, model = self.parameters, self
        for x, value in zip(data.X, data.y, strict=True):
            phi = multiquadric(x[None, :], model.X, p.spread)[0]
            grown = model.inverse.append(phi, 1.0 + p.ridge)
            residual = (float(value) - p.shift) / p.scale - float(phi @ model.weights)
            weights = float(grown.weights[-1]) * residual * grown.tail[-1]
            weights[:-1] += model.weights
            model = type(self)(p, frozen(np.vstack([model.X, x])), grown, frozen(weights))
        return model


def posterior(parameters: PrintedParameters, X: Array, y: Array) -> PrintedMQRBFModel:
    """The model of ``X`` (n, d), ``y`` (n,), in the caller's units, at given parameters, from scratch.  O(n³).

    If A is singular to rounding (repeated points without a ridge, or the pole), observations that the others determine
    are left out.
    """
    p = parameters
    A = multiquadric(X, X, p.spread)
    A[np.diag_indices(len(X))] = 1.0 + p.ridge
    inverse = inverse_or_regular_part(A, 1)
    weights = inverse.apply(((y - p.shift) / p.scale)[None, :])[0]
    return PrintedMQRBFModel(p, frozen(X), inverse, frozen(weights))


@dataclass(frozen=True, slots=True)
class PrintedMQRBF:
    """A recipe for the network of [paper] Eq. 18; ``ridge`` and ``spread`` are those of ``MQRBF``."""

    ridge: float = 1e-4
    spread: float | None = None

    def __post_init__(self) -> None:
        MQRBF(self.ridge, self.spread)  # says what is wrong with them

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> PrintedMQRBFModel:
        """Choose ε from ``X`` (n, d), then solve for the weights. Nothing is drawn from ``rng``.  O(n³)."""
        X, y, _ = learnable(data, "a multiquadric interpolant")
        spread = median_distance(X) if self.spread is None else float(self.spread)
        return posterior(PrintedParameters(spread, float(self.ridge), *standardization(y)), X, y)
