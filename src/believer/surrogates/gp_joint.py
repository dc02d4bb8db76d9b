"""Joint posteriors of many small groups of points under an exact Gaussian process, with derivatives by the points.

======  ====================================================  ==========
symbol  meaning                                               shape
======  ====================================================  ==========
A       b groups of q points                                  (b, q, d)
k, h    σ_f² k and σ_f² h between A and the data X            (b q, N)
V       k Wᵀ, the whitened cross-covariances                  (b, q, N)
μ̄, Σ̄    derivatives of a number by means and covariances      (b, q), (b, q, q)
======  ====================================================  ==========

Other symbols as in gp.py. Covariances are Σ = σ_f² k(A, A) - V Vᵀ, so that with Σ̄ₛ = Σ̄ + Σ̄ᵀ

    ∂/∂k = μ̄ αᵀ - (Σ̄ₛ V) W        and        ∂/∂k(A, A) = Σ̄,

and the derivative of a kernel entry by its point is ∂k/∂x = -h (x - x') / ℓ² (kernels.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array
from believer.surrogates.data import squared
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import JointGradient

if TYPE_CHECKING:
    from believer.surrogates.gp import GPModel


def joint_with_gradient(model: GPModel, A: Array) -> JointGradient:
    """Latent means and covariances of the groups ``A`` (b, q, d). O(b q N² + b q² N), and the same for the
    derivatives."""
    hyper, scale, square = model.hyper, model.scale, squared(model.scale)
    b, q, d = A.shape
    rows = A.reshape(b * q, d)
    k, h = hyper.cross(rows, model.X)
    V = model.factor.whiten(k).reshape(b, q, -1)
    prior, prior_h = KERNELS[hyper.kernel](_within(A / hyper.lengthscales))
    unit = hyper.signal * prior - V @ V.transpose(0, 2, 1)
    mean = (k @ model.alpha).reshape(b, q)

    def pull(by_mean: Array, by_covariance: Array) -> Array:
        both = by_covariance + by_covariance.transpose(0, 2, 1)
        back = model.factor.unwhiten((both @ V).reshape(b * q, -1))
        T = (scale * by_mean.reshape(b * q, 1) * model.alpha - square * back) * h
        H = (square * hyper.signal) * both * prior_h
        from_data = T @ model.X - rows * T.sum(axis=1)[:, None]
        from_group = H @ A - A * H.sum(axis=2)[:, :, None]
        gradient: Array = (from_data.reshape(b, q, d) + from_group) * hyper.lengthscales**-2.0
        return gradient

    return JointGradient(model.shift + scale * mean, square * unit, pull)


def _within(A: Array) -> Array:
    """Squared distances (b, q, q) between the points of each group of ``A`` (b, q, d)."""
    lengths = np.einsum("bqd,bqd->bq", A, A)
    r2: Array = np.maximum(lengths[:, :, None] + lengths[:, None, :] - 2.0 * (A @ A.transpose(0, 2, 1)), 0.0)
    return r2
