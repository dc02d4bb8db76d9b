"""An output (an objective or a limited outcome), its results and its models, with and without pseudo-observations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from believer.acquisitions.feasibility import Within
from believer.arrays import Array, BoolArray, no_rows
from believer.capabilities import able
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Conditionable, Model, Prediction, Smoothing
from believer.surrogates.warp import Warp

LIKELY = 0.5
"""A point counts as feasible where each limit is kept with this probability, if the user says nothing else."""


@dataclass(frozen=True, slots=True)
class Output:
    """A number that a model learns.

    Attributes
    ----------
    name : the name of the output.
    sign : -1 if more is better; internally, less is always better.
    limits : the limits, with the internal sign; None for an objective, which is minimized.
    probability : the probability with which a feasible point must keep the limits.
    warped : whether results may be warped before a model learns them.
    exact : whether observed values are exact, even if the model infers noise.
    """

    name: str
    sign: float = 1.0
    limits: Within | None = None
    probability: float = LIKELY
    warped: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Points that were handed out and have no result yet, in the order of their trial ids.

    Parameters
    ----------
    ids : of their trials.
    X : the points in the encoded cube, (p, d).
    """

    ids: tuple[int, ...]
    X: Array


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """An output, its results, and the model that learned them.

    Attributes
    ----------
    output : the output; its limits are in the user's units.
    ids : the trials that have a result, in the order of ``data``.
    data : the results, in the model's units.
    pending : the points whose result of this output is pending.
    fit : the model of the results.
    model : the same model, conditioned on failed trials; the same object if there are none.
    failed : failed trials, with the values that they are given, in the model's units; None if there are none.
    warp : the warp from the user's units to those of the model; None if they are the same.
    """

    output: Output
    ids: tuple[int, ...]
    data: Data
    pending: Pending
    fit: Model
    model: Model
    failed: Data | None = None
    warp: Warp | None = None

    @property
    def limits(self) -> Within | None:
        """The limits in the units of the model: a warp never changes the order of values."""
        limits = self.output.limits
        if limits is None:
            return None
        if self.warp is not None:
            low, high = self.warp(np.array([limits.low, limits.high]))
            limits = Within(float(low), float(high))
        return limits.near(*standardization(self.data.y))

    def predict(self, X: Array) -> Prediction:
        """At ``X`` (m, d), in the user's units, to be minimized: see :meth:`Warp.prediction` where there is one."""
        at = self.model.predict(X)
        return at if self.warp is None else self.warp.prediction(at)

    def quantile(self, X: Array, z: float) -> Array:
        """The value (m,) at ``X`` (m, d) that is exceeded with the chance that a standard normal exceeds ``z``."""
        at = self.model.predict(X)
        value = at.mean + z * at.std
        return value if self.warp is None else self.warp.inverse(value)

    def to_units(self, data: Data) -> Data:
        """``data`` in the units of the model, given in the user's units."""
        return data if self.warp is None else self.warp.data(data)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The belief about one output: its models, conditioned on lies.

    Attributes
    ----------
    learned : its results, and the model before the first lie.
    model : the model with the lies.
    ids, X, y : the trials with lies, their points (p, d) and the lies (p,), in this order.
    hedges : models under shorter lengthscales that were given the same lies, by name, with the factor of each; None
        where there can be none.
    moves : the columns (d,) in which hedges have shorter lengthscales.
    """

    learned: Learned
    model: Model
    ids: tuple[int, ...]
    X: Array
    y: Array
    hedges: tuple[tuple[str, float, Model | None], ...] = ()
    moves: BoolArray | None = field(default=None)

    @staticmethod
    def of(learned: Learned) -> Part:
        """Before the first lie."""
        return Part(learned, learned.model, (), no_rows(learned.data.X.shape[1]), no_rows(1)[:, 0])

    def hedge(self, name: str) -> tuple[float, Model]:
        """The factor of the hedge of that name, and its model; the model itself where there can be none."""
        found = next((factor, model) for known, factor, model in self.hedges if known == name)
        return (1.0, self.model) if found[1] is None else (found[0], found[1])

    def with_hedge(self, name: str, factor: float, model: Model | None, moves: BoolArray) -> Part:
        """With one more hedge, which is given the lies so far; those of an ask with other moves are gone.

        Parameters
        ----------
        name : of the hedge.
        factor : by which its lengthscales are shorter.
        model : with these lengthscales; None if there can be none.
        moves : the columns (d,) in which they are shorter.
        """
        kept = self.hedges if self.hedged_along(moves) else ()
        return replace(self, hedges=(*kept, (name, factor, conditioned(model, Data(self.X, self.y)))), moves=moves)

    def hedged_along(self, moves: BoolArray) -> bool:
        """Whether the hedges, if there are any, are shorter in these columns."""
        return self.moves is not None and np.array_equal(self.moves, moves)


def conditioned(model: Model | None, data: Data) -> Model | None:
    """A hedge that is given ``data``; None if there is no hedge."""
    return None if model is None else cast(Conditionable, model).condition(data)


def is_noisy(model: Model) -> bool:
    """Whether the model infers noise."""
    return able(model, Smoothing) and model.is_noisy
