"""An acquisition on a model: what a maximizer maximizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

from believer.acquisitions.acquisition import Acquisition
from believer.acquisitions.confidence import UCB
from believer.acquisitions.improvement import EI, PI, LogEI
from believer.arrays import Array, packed
from believer.numerics import backend
from believer.surrogates.gp import GPModel
from believer.surrogates.protocols import Differentiable, Model


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """An acquisition bound to a model and an incumbent."""

    acquisition: Acquisition
    model: Model
    incumbent: float

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        # Before Python 3.12 a protocol takes long to ask, and this is asked for every point: the class first.
        return isinstance(self.model, GPModel | Differentiable)

    def value(self, X: Array) -> Array:
        """α (m,) at ``X`` (m, d)."""
        compiled = self.compiled()
        if compiled is not None:
            values: Array = compiled.value(packed(X))
            return values
        prediction = self.model.predict(X)
        return self.acquisition.pointwise(prediction.mean, prediction.std, self.incumbent).value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """α (m,) and ∂α/∂x (m, d) at ``X`` (m, d); needs a model with gradients."""
        compiled = self.compiled()
        if compiled is not None:
            values, gradients = compiled.value_with_gradient(packed(X))
            return values, gradients
        p = cast(Differentiable, self.model).predict_with_gradient(X)
        at = self.acquisition.pointwise(p.mean, p.std, self.incumbent)
        return at.value, at.by_mean[:, None] * p.mean_gradient + at.by_std[:, None] * p.std_gradient

    def compiled(self) -> Any | None:
        """The same in compiled code, where the backend has both the acquisition and the model; else None."""
        native = backend.native()
        if native is None or type(self.model) is not GPModel:
            return None
        parameter = _parameter(self.acquisition)
        if parameter is None:
            return None
        kind = native.ACQUISITIONS[type(self.acquisition).__name__]
        return native.Improvement(self.model.compiled(), kind, parameter, self.incumbent)


def _parameter(acquisition: Acquisition) -> float | None:
    """The one number that the acquisition has, as compiled code wants it; None for a class that is not ours."""
    # Of the exact class: a subclass may compute something else.
    if type(acquisition) in (LogEI, EI, PI):
        return float(cast(LogEI, acquisition).xi)
    if type(acquisition) is UCB:
        return math.sqrt(acquisition.beta)
    return None
