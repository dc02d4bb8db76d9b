"""The protocols of acquisition functions, which give the worth of an evaluation at a point.

An acquisition function is a frozen recipe. It is maximized, and the objective is minimized. The simple case is a
function of mean, std and incumbent at each point (:class:`PerPoint`); one that needs more makes its own objective
(:class:`Bindable`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np

from believer.arrays import Array
from believer.maximize import Objective
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model, Prediction


@dataclass(frozen=True, slots=True, eq=False)
class Pointwise:
    """Values of an acquisition function at m points, with their derivatives.

    Parameters
    ----------
    value : α, (m,).
    by_mean, by_std : ∂α/∂μ and ∂α/∂σ, (m,) each; (m, k) of k outputs.
    """

    value: Array
    by_mean: Array
    by_std: Array


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Everything that an acquisition function may use.

    Attributes
    ----------
    model : the model of the objective, conditioned on real results and lies.
    incumbent : f⁺, the value to beat.
    data : the real results; None if there are none.
    lies : the pseudo-observations on which the model is conditioned as well, pending points first.
    """

    model: Model
    incumbent: float
    data: Data | None = None
    lies: Data | None = None


@runtime_checkable
class ByPredictions(Protocol):
    """An objective that is a function of the models' predictions only, so that known predictions can be reused."""

    @property
    def models(self) -> tuple[Model, ...]:
        """The models whose predictions it uses; empty if it needs more than predictions."""

    def of(self, at: tuple[Prediction, ...]) -> Array:
        """Values (m,) for the predictions ``at``, one entry for each model, in their order."""


@runtime_checkable
class PerPoint(Protocol):
    """An acquisition function of one point at a time."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α and its derivatives for the predictions ``mean`` and ``std`` (m,); ``incumbent`` is f⁺."""


@runtime_checkable
class Bindable(Protocol):
    """An acquisition function that makes its own objective from a view."""

    def on(self, view: View) -> Objective:
        """The objective that a maximizer maximizes."""


@runtime_checkable
class Several(Protocol):
    """An acquisition function for several objectives."""

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """The objective that a maximizer maximizes: the logarithm of an expected quantity.

        Parameters
        ----------
        models : the models of the objectives, conditioned on real results and lies.
        front : the values (m, k) of the Pareto front so far.
        reference : the point (k,) from which hypervolumes are measured.
        rng : the generator of the trial that gets the point.
        """


Acquisition: TypeAlias = PerPoint | Bindable | Several
