"""Acquisition functions of one point at a time, and their objectives on a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from believer.acquisitions.acquisition import Acquisition, Bindable, PerPoint, Pointwise, View
from believer.arrays import Array, packed
from believer.capabilities import has
from believer.errors import MissingCapability
from believer.maximize.objective import Climb, Objective, climb_from
from believer.numerics import backend, lbfgs
from believer.surrogates.protocols import CompilableModel, Differentiable, Model, Prediction

if TYPE_CHECKING:
    from believer._native import Improvement


class PointwiseAcquisition:
    """A base class of acquisition functions with defaults for everything that strategies need besides values."""

    __slots__ = ()

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α and its derivatives (m,) for the predictions ``mean`` and ``std`` (m,); ``incumbent`` is f⁺."""
        raise NotImplementedError

    def on(self, view: View) -> Objective:
        """α on the model of ``view``."""
        return PointwiseObjective(self, view.model, view.incumbent)

    def over(self, mean: Array, std: Array, incumbents: Array) -> Pointwise:
        """α_s and its derivatives (S, m) of S models.

        Parameters
        ----------
        mean, std : the predictions of the models, (S, m), or (1, m) if all are equal.
        incumbents : f⁺ of the models, (S,).
        """
        shape = len(incumbents), mean.shape[1]
        rows = zip(np.broadcast_to(mean, shape), np.broadcast_to(std, shape), incumbents, strict=True)
        at = [self.pointwise(m, s, float(f)) for m, s, f in rows]
        value, by_mean, by_std = (
            np.stack(part) for part in zip(*((a.value, a.by_mean, a.by_std) for a in at), strict=True)
        )
        return Pointwise(value, by_mean, by_std)

    def average(self, alphas: Array) -> tuple[Array, Array]:
        """The average α (m,) of α_s (S, m) over S equally likely models, and ∂α/∂α_s (S, m)."""
        return alphas.mean(axis=0), np.full_like(alphas, 1.0 / len(alphas))

    def log(self) -> PointwiseAcquisition | None:
        """The acquisition function whose value is the logarithm of this one; None if this one may be negative."""
        return None

    @property
    def is_log(self) -> bool:
        """Whether it is a logarithm, so that ranges and ratios of its values have no meaning."""
        return self.log() is self

    def margin(self) -> float | None:
        """ξ of an expected improvement, which has a joint version for q points; None for anything else."""
        return None

    compiled_as: ClassVar[tuple[str, str] | None] = None
    """Its name in compiled code, and the name of its only parameter; None if it is not compiled. This is not inherited,
    because a derived class may compute something else."""


@dataclass(frozen=True, slots=True)
class Defaulted(PointwiseAcquisition):
    """An acquisition function that only has values, completed with the defaults."""

    own: PerPoint

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """The value and its derivatives, as ``Acquisition.pointwise`` defines them."""
        return self.own.pointwise(mean, std, incumbent)


def completed(acquisition: Acquisition) -> PointwiseAcquisition:
    """``acquisition`` with everything that strategies need of a pointwise acquisition function."""
    if isinstance(acquisition, PointwiseAcquisition):
        return acquisition
    if not has(acquisition, PerPoint):
        raise MissingCapability(
            f"this needs an acquisition function with a method pointwise; {type(acquisition).__name__} has none. "
            "Strategies that work with it: the lies kb, kb_lower, kb_upper, cl_min, cl_mean, cl_max, fantasy; top_q."
        )
    return Defaulted(acquisition)


def objective_on(acquisition: Acquisition, view: View) -> Objective:
    """The objective that an acquisition function makes from a view.

    Parameters
    ----------
    acquisition : the acquisition function.
    view : the model, the incumbent and the data.
    """
    return (acquisition if has(acquisition, Bindable) else completed(acquisition)).on(view)


@dataclass(frozen=True, slots=True, eq=False)
class PointwiseObjective:
    """α(μ(x), σ(x), f⁺): an acquisition function of one point on a model, in compiled code if both exist there."""

    acquisition: PerPoint
    model: Model
    incumbent: float
    _compiled: Improvement | None = field(init=False, repr=False, default=None)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        """Leave out the compiled objective, which is made again when needed."""
        return type(self), (self.acquisition, self.model, self.incumbent)

    def compiled(self) -> Improvement | None:
        """The objective in compiled code, made once; None if it exists in Python alone."""
        if self._compiled is None:
            native = backend.native
            if native is None:
                return None
            known = vars(type(self.acquisition)).get("compiled_as")
            posterior = self.model.compiled() if known is not None and has(self.model, CompilableModel) else None
            if known is None or posterior is None:
                return None
            name, number = known
            kind, parameter = native.ACQUISITIONS[name], float(getattr(self.acquisition, number))
            made = native.Improvement(posterior, kind, parameter, self.incumbent)
            object.__setattr__(self, "_compiled", made)
        return self._compiled

    @property
    def has_gradient(self) -> bool:
        """Whether the model gives gradients."""
        return has(self.model, Differentiable)

    def value(self, X: Array) -> Array:
        """α (m,) at ``X`` (m, d)."""
        compiled = self.compiled()
        return self.of((self.model.predict(X),)) if compiled is None else compiled.value(packed(X))

    @property
    def models(self) -> tuple[Model, ...]:
        """The model."""
        return (self.model,)

    def of(self, at: tuple[Prediction, ...]) -> Array:
        """α (m,) for the model's predictions, the only entry of ``at``."""
        (prediction,), compiled = at, self.compiled()
        if compiled is not None:
            return compiled.of(prediction.mean, prediction.std)
        return self.acquisition.pointwise(prediction.mean, prediction.std, self.incumbent).value

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """α (m,) and ∂α/∂x (m, d) at ``X`` (m, d); needs a model with gradients."""
        compiled = self.compiled()
        if compiled is not None:
            return compiled.value_with_gradient(packed(X))
        p = cast(Differentiable, self.model).predict_with_gradient(X)
        at = self.acquisition.pointwise(p.mean, p.std, self.incumbent)
        return at.value, at.by_mean[:, None] * p.mean_gradient + at.by_std[:, None] * p.std_gradient

    def climb(self, climb: Climb) -> lbfgs.Minimum:
        """Run the climbs, and return where they end."""
        native, compiled = backend.native, self.compiled()
        if native is None or compiled is None:
            return climb_from(self, climb)
        starts, lower, upper = packed(climb.starts), packed(climb.lower), packed(climb.upper)
        moves, factor = climb.moves.astype(np.uint8), -1.0 / climb.scale
        return lbfgs.Minimum(*native.minimize(compiled, starts, lower, upper, moves, factor, climb.settings))
