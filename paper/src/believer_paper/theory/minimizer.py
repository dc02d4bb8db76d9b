"""The place of a Gaussian process's minimum: its mean and uncertainty, to second order around a point.

======  ==================================================================  ======
symbol  meaning                                                             shape
======  ==================================================================  ======
x, t    a point, and a step from it                                         (d,)
g, H    slope and curvature of the mean at x                                (d,), (d, d)
σ₀      std of f(x)
b       covariance of f(x) and the slope of f there                         (d,)
C       covariance of the slope of f                                        (d, d)
t*      where f is least, from x: -H⁻¹ (slope of f)                         (d,)
λ, e    C e = λ H e with eᵀ H e = 1, the largest λ first                    (d,), (d, d)
======  ==================================================================  ======

    μ(x + t) ≈ μ(x) + gᵀt + tᵀHt / 2,        σ²(x + t) ≈ σ₀² + 2 bᵀt + tᵀCt.                                       (1)

The first forgets third derivatives of the mean, the second that the curvature of f is uncertain too. Under (1) f is a
parabola of known curvature H, whose minimum lies at t* ~ N(-H⁻¹g, H⁻¹CH⁻¹). In the basis e that is one independent
number for each column: t* + H⁻¹g = Σ √λ_i ξ_i e_i with ξ standard normal, and f(x + t) - min f = |t - t*|²_H / 2 with
|t|²_H = tᵀHt. So √λ₁ is the std of the minimizer's place along its most uncertain direction, measured by what it costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from believer.arrays import SAME_POINT, Array, BoolArray, frozen
from believer.errors import InvalidInput
from believer.surrogates import KERNELS, GPModel
from believer_paper.theory import arguments

_DIFFERENCE = 1e-4
_STARTS = 5
_NEWTON = 4


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Eq. 1 around ``x`` (d,), in the units of y; ``free`` (d,) are the columns in which x may move both ways.

    A column is not free where x lies at an end of the unit cube and the mean falls outwards.
    """

    x: Array
    mean: float
    slope: Array
    """g (d,)"""
    curvature: Array
    """H (d, d)"""
    std: float
    """σ₀"""
    tilt: Array
    """b (d,)"""
    spread: Array
    """C (d, d)"""
    free: BoolArray

    def axes(self) -> tuple[Array, Array]:
        """λ (k,), largest first, and e (d, k) as columns, over the k free columns; InvalidInput unless H > 0 there."""
        inside = np.ix_(self.free, self.free)
        try:
            rates, vectors = eigh(self.spread[inside], self.curvature[inside])
        except np.linalg.LinAlgError as error:
            raise InvalidInput(
                f"the mean must curve upwards at x, as it does at a minimum; got {self.curvature.tolist()}."
            ) from error
        axes = np.zeros((len(self.x), len(rates)))
        # Signs as BLAS pleases: the largest entry of each is made positive.
        axes[self.free] = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(rates))])
        return np.maximum(rates[::-1], 0.0), axes[:, ::-1]

    def place_covariance(self) -> Array:
        """H⁻¹ C H⁻¹ = Σ λ e eᵀ (d, d): the covariance of the minimizer's place; zero in columns that are not free.

        If the model was conditioned on f(x), this is the covariance that remains.
        """
        rates, axes = self.axes()
        covariance: Array = (axes * rates) @ axes.T
        return covariance

    def predict(self, steps: Array) -> tuple[Array, Array]:
        """The mean and the std (m,) at x + ``steps`` (m, d), by Eq. 1."""
        mean = self.mean + steps @ self.slope + 0.5 * np.einsum("ij,jk,ik->i", steps, self.curvature, steps)
        tilted = 2.0 * steps @ self.tilt + np.einsum("ij,jk,ik->i", steps, self.spread, steps)
        return mean, np.sqrt(np.maximum(self.std**2 + tilted, 0.0))


def local(model: GPModel, x: Array) -> Local:
    """Eq. 1 of an exact Gaussian process around ``x`` (d,).  O(d N²).

    Everything is in closed form but H, which is differenced from the slope of the mean, over 1e-4 lengthscales.
    """
    arguments.exact_process(model)
    x = arguments.point(x, arguments.columns(model))
    d, steps = len(x), _DIFFERENCE * model.lengthscales
    around = model.predict_with_gradient(np.vstack([x, x + np.diag(steps), x - np.diag(steps)]))
    slopes = around.mean_gradient
    H = (slopes[1 : d + 1] - slopes[d + 1 :]) / (2.0 * steps[:, None])
    covariance = slope_covariance(model, x)
    outwards = ((x <= SAME_POINT) & (slopes[0] > 0.0)) | ((x >= 1.0 - SAME_POINT) & (slopes[0] < 0.0))
    return Local(
        x=frozen(x),
        mean=float(around.mean[0]),
        slope=frozen(slopes[0]),
        curvature=frozen(0.5 * (H + H.T)),
        std=float(np.sqrt(max(covariance[0, 0], 0.0))),
        tilt=frozen(covariance[0, 1:]),
        spread=frozen(covariance[1:, 1:]),
        free=~outwards,
    )


def slope_covariance(model: GPModel, x: Array) -> Array:
    """The posterior covariance (1 + d, 1 + d) of f and its slope at ``x`` (d,), in the units of y.  O(d N²).

    From ∂k/∂x = -h (x - x') / ℓ² and, at one and the same point, ∂²k/∂x∂x' = h(0) / ℓ² ([Rasmussen2006] section 9.4).
    """
    k, h = model.hyper.cross(x[None, :], model.X)
    scaled = (x - model.X) / model.lengthscales**2
    V = model.factor.whiten(np.vstack([k, -(h * scaled.T)]))
    at_zero = float(KERNELS[model.hyper.kernel](np.zeros(1))[1][0])
    prior = model.hyper.signal * np.diag([1.0, *(at_zero / model.lengthscales**2)])
    covariance: Array = model.scale**2 * (prior - V @ V.T)
    return covariance


def believed_minimizer(model: GPModel) -> Array:
    """The minimizer (d,) of the mean in the unit cube: climbs from the data of least mean, then Newton's steps."""
    arguments.exact_process(model)
    d = len(model.lengthscales)
    size = model.scale * float(np.sqrt(model.hyper.signal))

    def value(x: Array) -> tuple[float, Array]:
        at = model.predict_with_gradient(x[None, :])
        return float(at.mean[0]) / size, at.mean_gradient[0] / size

    data = np.clip(model.X, 0.0, 1.0)
    starts = data[np.argsort(model.predict(data).mean, kind="stable")[:_STARTS]]
    ends = [minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * d) for start in starts]
    x: Array = np.clip(min(ends, key=lambda end: float(end.fun)).x, 0.0, 1.0)
    for _ in range(_NEWTON):
        here = local(model, x)
        inside = np.ix_(here.free, here.free)
        if not here.free.any() or np.linalg.eigvalsh(here.curvature[inside])[0] <= 0.0:
            break
        x = x.copy()
        x[here.free] -= np.linalg.solve(here.curvature[inside], here.slope[here.free])
        x = np.clip(x, 0.0, 1.0)
    return frozen(x)
