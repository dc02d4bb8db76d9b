"""The pool of a Gaussian process on a device: candidates stay there, and a further observation needs one product with
them.

Symbols are those of gp_pool.py; ``cross`` is σ_f² k(C, X) (m, N) with all observations of the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array, packed, read_only
from believer.surrogates.pool import pool_of
from believer.surrogates.protocols import MIN_VARIANCE, Model, Prediction
from believer.surrogates.torch_device import Tensor, correlation, pytorch, to_host

if TYPE_CHECKING:
    from believer.surrogates.pool import Pool
    from believer.surrogates.torch_gp import TorchGPModel


@dataclass(frozen=True, slots=True, eq=False)
class TorchPool:
    """Candidates on the device of their model; ``mean`` and ``variance`` (m,) are of standardized y.

    ``cross`` (m, n) is with the first observations, ``later`` (p, m) with those that were added since.
    """

    model: TorchGPModel
    points: Array
    placed: Tensor
    cross: Tensor
    later: tuple[Tensor, ...]
    mean: Tensor
    variance: Tensor

    @staticmethod
    def of(model: TorchGPModel, X: Array) -> TorchPool:
        """``X`` (m, d) under ``model``.  O(m N²)."""
        placed = model.place(X)
        cross, _ = model.cross(placed)
        variance = model.hyper.signal - model.whiten(cross).square().sum(dim=1)
        return TorchPool(model, read_only(packed(X)), placed, cross, (), cross @ model.alpha, variance)

    def predict(self) -> Prediction:
        """Mean and std (m,).  O(m)."""
        model = self.model
        std = np.sqrt(np.maximum(to_host(self.variance), MIN_VARIANCE * model.hyper.signal))
        return Prediction(model.shift + model.scale * to_host(self.mean), model.scale * std)

    def under(self, model: Model) -> Pool:
        """The same candidates under another ``model``: O(m N) for each new observation if it is this model conditioned,
        else O(m N²)."""
        own = self.model
        if model is own:
            return self
        if type(model) is not type(own) or model.base is not own.base or model.hyper is not own.hyper:
            return pool_of(model, self.points)
        return self._conditioned(model)

    def _conditioned(self, model: TorchGPModel) -> TorchPool:
        """The pool conditioned on the observations of ``model`` that it does not have yet. [paper] Eq. 1-2."""
        later, mean, variance, n = list(self.later), self.mean, self.variance, self.cross.shape[1]
        for row in range(len(self.model.target), len(model.target)):
            w = model.tail[row - len(model.base), : row + 1]
            near = correlation(model.hyper, self.placed, model.points[row : row + 1])[0][:, 0]
            c = self.cross @ w[:n] + w[row] * near
            if later:
                c = c + w[n:row] @ pytorch().stack(later)
            mean, variance = mean + c * model.whitened[row], variance - c * c
            later.append(near)
        return replace(self, model=model, later=tuple(later), mean=mean, variance=variance)

    def extended(self, X: Array) -> TorchPool:
        """The pool with the further candidates ``X`` (k, d). O(k N²), plus a copy of the earlier ones."""
        if not len(X):
            return self
        torch, more = pytorch(), TorchPool.of(self.model, X)
        return replace(
            more,
            points=read_only(np.vstack([self.points, more.points])),
            placed=torch.cat([self.placed, more.placed]),
            cross=torch.cat([torch.cat([self.cross, *(one[:, None] for one in self.later)], dim=1), more.cross]),
            mean=torch.cat([self.mean, more.mean]),
            variance=torch.cat([self.variance, more.variance]),
        )
