"""S fantasies of an exact Gaussian process at little more than the cost of one.

======  ====================================================  ========
symbol  meaning                                               shape
======  ====================================================  ========
S, p    fantasies, and points that each is conditioned on
V       k Wᵀ, the whitened cross-covariances                  (m, N)
V_p     its last p columns, which belong to the p points      (m, p)
Z       the values of the fantasies, whitened                 (S, p)
======  ====================================================  ========

Other symbols as in gp.py. An observation y ~ N(μ(x), σ²(x) + σ_n²) adds to the whitened data the coordinate
(y - μ(x)) / √(σ²(x) + σ_n²), a standard normal that depends on nothing before it. So fantasies need no data of their
own, only a row of normals. With W and α of the model that is conditioned on its own mean at the p points (the Kriging
Believer, whose new coordinates are zero),

    μ_s = kᵀ α + V_p z_s,        and σ is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from believer.arrays import Array, frozen
from believer.numerics.sampling import latin_hypercube, normal
from believer.surrogates.data import extended
from believer.surrogates.protocols import MIN_VARIANCE, FantasyGradient, Prediction

if TYPE_CHECKING:
    from believer.surrogates.gp import GPModel


@dataclass(frozen=True, slots=True, eq=False)
class GPFantasies:
    """S fantasies. ``believer`` is the model conditioned on its own mean at p points, and ``normals``, Z, are the
    fantasies' values, whitened."""

    believer: GPModel
    normals: Array

    def predict(self, X: Array) -> Prediction:
        """Latent means (S, m), and the std (1, m) that all share, at ``X`` (m, d). O(m N² + m S p)."""
        return self._at(self.believer.hyper.cross(X, self.believer.X)[0])[0]

    def predict_with_gradient(self, X: Array) -> FantasyGradient:
        """The same, and a function that maps derivatives by them to derivatives by ``X`` (m, d), at the same cost."""
        model = self.believer
        k, h = model.hyper.cross(X, model.X)
        at, V = self._at(k)

        def pull(by_mean: Array, by_std: Array) -> Array:
            # ∂μ_s/∂k = α + W_pᵀ z_s and ∂σ/∂k = -K_y⁻¹ k / σ, with ∂k/∂x = -h (x - x_i) / ℓ².
            by_k = by_mean.sum(axis=0)[:, None] * model.alpha
            by_k += (by_mean.T @ self.normals) @ model.factor.tail[len(model.factor.tail) - self.normals.shape[1] :]
            by_k -= (by_std.sum(axis=0) * model.scale / at.std[0])[:, None] * model.factor.unwhiten(V)
            T = model.scale * h * by_k
            gradient: Array = (T @ model.X - X * T.sum(axis=1)[:, None]) * model.lengthscales**-2.0
            return gradient

        return FantasyGradient(at.mean, at.std, pull)

    def fantasize(self, x: Array, rng: np.random.Generator) -> tuple[Self, Array]:
        """All fantasies conditioned on ``x`` (d,), and their values there (S,). O(N²).

        The S normals are a Latin hypercube sample ([McKay1979]): each is a draw from the distribution, and together
        they have one from every S-th part of it, so that averages over fantasies vary less.
        """
        strata = latin_hypercube(len(self.normals), 1, rng)[:, 0]
        return self.condition(x, normal(strata))

    def condition(self, x: Array, normals: Array) -> tuple[Self, Array]:
        """All fantasies conditioned on ``x`` (d,), with the whitened values (S,); and these values (S,) in the units of
        y."""
        model = self.believer
        k, _ = model.hyper.cross(x[None, :], model.X)
        grown = model.factor.append(k[0], model.hyper.signal + model.hyper.noise)
        values = self._at(k)[0].mean[:, 0] + model.scale * normals / grown.tail[-1, -1]
        believer = replace(
            model,
            X=frozen(np.vstack([model.X, x])),
            y=frozen(np.append(model.y, k @ model.alpha)),
            factor=grown,
            whitened=frozen(np.append(model.whitened, 0.0)),
            alpha=frozen(np.append(model.alpha, 0.0)),
            known=extended(model.known, len(model.y), None, 1),
        )
        return replace(self, believer=believer, normals=frozen(np.column_stack([self.normals, normals]))), values

    def _at(self, k: Array) -> tuple[Prediction, Array]:
        """Means (S, m) and the std (1, m) for the cross-covariances ``k`` (m, N), and V."""
        model = self.believer
        V = model.factor.whiten(k)
        variance = model.hyper.signal - np.einsum("ij,ij->i", V, V)
        std = np.sqrt(np.maximum(variance, MIN_VARIANCE * model.hyper.signal))
        mean = k @ model.alpha + self.normals @ V[:, V.shape[1] - self.normals.shape[1] :].T
        return Prediction(model.shift + model.scale * mean, model.scale * std[None, :]), V
