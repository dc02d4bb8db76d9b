"""What an acquisition is: what makes a point worth an experiment, given all that a study knows.

A frozen recipe, to be maximized, stated for minimization of the objective. The easy case is a function of mean, std and
incumbent, point by point (:class:`PerPoint`); one that looks at more makes its own objective (:class:`Bindable`).
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
    """Values of an acquisition at m points, with their derivatives.

    Parameters
    ----------
    value : α, (m,).
    by_mean : ∂α/∂μ, (m,).
    by_std : ∂α/∂σ, (m,).
    """

    value: Array
    by_mean: Array
    by_std: Array


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What an acquisition may look at.

    Attributes
    ----------
    model : of the objective, given real results and lies.
    incumbent : f⁺, the value to beat.
    data : real results; None where there are none to speak of.
    lies : pseudo-observations that the model was given beside them, pending points first.
    outputs : models of further outputs, one each, given the same.
    """

    model: Model
    incumbent: float
    data: Data | None = None
    lies: Data | None = None
    outputs: tuple[Model, ...] = ()


@runtime_checkable
class ByPredictions(Protocol):
    """An objective that is a function of what models predict, and nothing else: then nobody need predict it twice."""

    @property
    def models(self) -> tuple[Model, ...]:
        """That predict; none where it is no such function after all."""
        ...

    def of(self, at: tuple[Prediction, ...]) -> Array:
        """Values (m,) at points where the models predict ``at``, one entry for each, in their order."""
        ...


@runtime_checkable
class PerPoint(Protocol):
    """An acquisition of one point at a time."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        """α and its derivatives where the model predicts ``mean`` and ``std`` (m,); ``incumbent`` is f⁺."""
        ...


@runtime_checkable
class Bindable(Protocol):
    """An acquisition that makes an objective of what is known."""

    def on(self, view: View) -> Objective:
        """What a maximizer maximizes."""
        ...


@runtime_checkable
class Several(Protocol):
    """An acquisition that trades several objectives for each other."""

    def of_several(
        self, models: tuple[Model, ...], front: Array, reference: Array, rng: np.random.Generator
    ) -> Objective:
        """What a maximizer maximizes: the logarithm of something expected.

        Parameters
        ----------
        models : of the objectives, given real results and lies.
        front : values (m, k) of the best points so far, none of which beats another in all objectives.
        reference : the point (k,) from which hypervolumes are measured.
        rng : of the trial that gets the point.
        """
        ...


Acquisition: TypeAlias = PerPoint | Bindable | Several
