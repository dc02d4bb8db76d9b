"""What an acquisition is: a pointwise function of mean, std and incumbent, and the value it becomes on a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from believer.arrays import Array
from believer.surrogates.protocols import Differentiable, Model


@dataclass(frozen=True, slots=True, eq=False)
class Pointwise:
    """Values α (m,), with ∂α/∂μ and ∂α/∂σ (m,)."""

    value: Array
    by_mean: Array
    by_std: Array


class Acquisition(Protocol):
    """A frozen recipe, to be maximized; stated for minimization of the objective."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α and its derivatives where the model predicts ``mean`` and ``std`` (m,); ``incumbent`` is f⁺."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """An acquisition bound to a model and an incumbent: what a maximizer maximizes."""

    acquisition: Acquisition
    model: Model
    incumbent: float

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        return isinstance(self.model, Differentiable)

    def value(self, X: Array) -> Array:
        """α (m,) at ``X`` (m, d)."""
        prediction = self.model.predict(X)
        return self.acquisition.pointwise(prediction.mean, prediction.std, self.incumbent).value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """α (m,) and ∂α/∂x (m, d) at ``X`` (m, d); needs a model with gradients."""
        p = cast(Differentiable, self.model).predict_with_gradient(X)
        at = self.acquisition.pointwise(p.mean, p.std, self.incumbent)
        return at.value, at.by_mean[:, None] * p.mean_gradient + at.by_std[:, None] * p.std_gradient
