"""An output (an objective or a limited outcome), its results and its models, with and without pseudo-observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, no_rows
from believer.capabilities import has
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.pool import Pool, pool_of
from believer.surrogates.protocols import Conditionable, Model, Prediction, Smoothing
from believer.surrogates.warp import Warp

LIKELY = 0.5
"""The default probability with which a feasible point must keep each limit."""


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
    limits: Limits | None = None
    probability: float = LIKELY
    warped: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Points that were handed out and have no result yet, in the order of their trial ids.

    Parameters
    ----------
    ids : the ids of their trials.
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
    base : the model at the last fit, without failed trials; None if there are failures and no results were added since.
    since : the data that were added after ``base``, with failed trials at the end.
    kept : values computed from ``base``, kept for the next call.
    """

    output: Output
    ids: tuple[int, ...]
    data: Data
    pending: Pending
    fit: Model
    model: Model
    failed: Data | None = None
    warp: Warp | None = None
    base: Model | None = None
    since: Data | None = None
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def limits(self) -> Limits | None:
        """The limits in the units of the model: a warp never changes the order of values."""
        limits = self.output.limits
        if limits is None:
            return None
        if self.warp is not None:
            low, high = self.warp(np.array([limits.low, limits.high]))
            limits = Limits(float(low), float(high))
        return limits.near(*standardization(self.data.y))

    def predict(self, X: Array) -> Prediction:
        """Predict at ``X`` (m, d) in the user's units, to be minimized; a warp is undone by :meth:`Warp.prediction`."""
        at = self.model.predict(X)
        return at if self.warp is None else self.warp.prediction(at)

    def quantile(self, X: Array, z: float) -> Array:
        """The value (m,) at ``X`` (m, d) that is exceeded with the probability that a standard normal exceeds ``z``."""
        at = self.model.predict(X)
        value = at.mean + z * at.std
        return value if self.warp is None else self.warp.inverse(value)

    def to_units(self, data: Data) -> Data:
        """Convert ``data`` from the user's units to those of the model."""
        return data if self.warp is None else self.warp.data(data)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The belief about one output: its models, conditioned on lies.

    Attributes
    ----------
    learned : the output with its results and the model before the first lie.
    model : the model with the lies.
    ids, X, y : the trials with lies, their points (p, d) and the lies (p,), in this order.
    pool_before_lies : the candidates under the model before the first lie; None if each point draws its own.
    added : the candidates that were added later: for each group the number of lies at that time, the points, and the
        model of that time, or None if it can be computed again by conditioning.
    followers : by name, models that get the same lies when they are needed: the model itself with its candidates, and
        copies under shorter lengthscales.
    """

    learned: Learned
    model: Model
    ids: tuple[int, ...]
    X: Array
    y: Array
    pool_before_lies: Pool | None = None
    added: tuple[tuple[int, Array, Model | None], ...] = ()
    followers: Mapping[str, Follower] = field(default_factory=dict)

    @staticmethod
    def of(learned: Learned, candidates: Array | None = None) -> Part:
        """The belief before the first lie about the output ``learned``; ``candidates`` are points (m, d) that are kept
        with the predictions there, None for none."""
        pool = None if candidates is None else pool_of(learned.model, candidates)
        nothing, own = no_rows(learned.data.X.shape[1]), Follower(1.0, learned.model, pool)
        return Part(learned, learned.model, (), nothing, no_rows(1)[:, 0], pool, followers={OWN: own})

    def following(self, name: str, factor: float, model: Model | None) -> Part:
        """A copy of the part with one more follower, which has no lies yet.

        Parameters
        ----------
        name : the name of the follower.
        factor : the factor of its lengthscales, at most 1.
        model : the model with these lengthscales; None if there is none.
        """
        pool = None if model is None or self.pool_before_lies is None else pool_of(model, self.pool_before_lies.points)
        return replace(self, followers={**self.followers, name: Follower(factor, model, pool)})

    def caught_up(self, name: str) -> tuple[Part, Follower]:
        """A copy whose follower has all lies, and that follower; it has the part's own model if there is none with
        other lengthscales."""
        name = OWN if self.followers[name].model is None else name
        before, now = self.followers[name], self.followers[name].after_lies(self, name == OWN)
        return self if now is before else replace(self, followers={**self.followers, name: now}), now


OWN = "own"
"""The follower that has the model's own lengthscales."""


@dataclass(frozen=True, slots=True, eq=False)
class Follower:
    """A model that gets lies only when it is used, so that an unused follower costs nothing.

    It has the candidates under it, too, if they are kept. Lies and candidates are added one by one in their original
    order, so that the time at which this happens does not matter. An output that cannot be hedged follows its own
    model.

    Attributes
    ----------
    factor : the factor of the fitted lengthscales, at most 1.
    model : the model with these lengthscales; None if the output cannot be hedged.
    pool : the candidates under this model; None if each point draws its own.
    lies, looked : the numbers of lies, and of groups of added candidates, that it has so far.
    """

    factor: float
    model: Model | None
    pool: Pool | None
    lies: int = 0
    looked: int = 0

    def after_lies(self, part: Part, own: bool) -> Follower:
        """The follower after all lies of ``part``; ``own`` says whether its model is the part's."""
        here = self
        for lies, X, model in part.added[self.looked :]:
            here = here._at(part, lies, model if own else None)
            pool = None if here.pool is None else here.pool.extended(X)
            here = replace(here, pool=pool, looked=here.looked + 1)
        return here._at(part, len(part.ids), part.model if own else None)

    def _at(self, part: Part, lies: int, model: Model | None) -> Follower:
        """The follower after ``lies`` lies. ``model`` has them already; if it is None, the follower's model is
        conditioned here."""
        if self.model is None or (lies == self.lies and (model is None or model is self.model)):
            return self
        if model is None:
            data = Data(part.X[self.lies : lies], part.y[self.lies : lies])
            model = cast(Conditionable, self.model).condition(data)
        return replace(self, model=model, pool=None if self.pool is None else self.pool.under(model), lies=lies)


def is_noisy(model: Model) -> bool:
    """Whether the model infers noise."""
    return has(model, Smoothing) and model.is_noisy
