"""S fantasies of an exact Gaussian process for little more than the price of one.

======  ====================================================  ========
symbol  meaning                                               shape
======  ====================================================  ========
S, p    fantasies, and points that each was told of
V       k Wᵀ, the whitened cross-covariances                  (m, N)
V_p     its last p columns, which belong to the p points      (m, p)
Z       what was told, whitened                               (S, p)
======  ====================================================  ========

Other symbols as in gp.py. An observation y ~ N(μ(x), σ²(x) + σ_n²) adds to the whitened data the coordinate
(y - μ(x)) / √(σ²(x) + σ_n²), a standard normal that depends on nothing before it. So fantasies need no data of their
own, only a row of normals: with W and α those of the model that was told its own mean at the p points (the Kriging
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
    """The ``believer``: a model told its own mean at p points; ``normals``, Z: what S fantasies were told instead."""

    believer: GPModel
    normals: Array

    def predict(self, X: Array) -> Prediction:
        """Latent means (S, m), and the std (1, m) of all, at ``X`` (m, d).  O(m N² + m S p)."""
        return self._at(self.believer.hyper.cross(X, self.believer.X)[0])[0]

    def predict_with_gradient(self, X: Array) -> FantasyGradient:
        """The same, and the way back to ``X`` (m, d), which costs as much."""
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
        """All told of ``x`` (d,), and what (S,).  O(N²).

        The S normals are a Latin hypercube's ([McKay1979]): each a fair draw, and together one from every S-th part of
        the distribution, so that averages over fantasies vary less.
        """
        strata = latin_hypercube(len(self.normals), 1, rng)[:, 0]
        return self.condition(x, normal(strata))

    def condition(self, x: Array, normals: Array) -> tuple[Self, Array]:
        """All told of ``x`` (d,), by whitened coordinates (S,); and the values (S,) that these stand for."""
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
        """Means (S, m) and the std (1, m) where cross-covariances are ``k`` (m, N), and V."""
        model = self.believer
        V = model.factor.whiten(k)
        variance = model.hyper.signal - np.einsum("ij,ij->i", V, V)
        std = np.sqrt(np.maximum(variance, MIN_VARIANCE * model.hyper.signal))
        mean = k @ model.alpha + self.normals @ V[:, V.shape[1] - self.normals.shape[1] :].T
        return Prediction(model.shift + model.scale * mean, model.scale * std[None, :]), V
