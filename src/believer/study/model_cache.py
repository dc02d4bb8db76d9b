"""The models of a study, kept for as long as what they saw is what there is to see.

A model learns from results as they are, or from results through a warp: where their tail is heavy both are tried, and
the evidence decides. Such a model, what it is told and what strategies see of the results are in its own units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from believer.acquisitions.feasibility import Within
from believer.arrays import Array, shown
from believer.batch.incumbent import learned_by
from believer.batch.request import Pending
from believer.capabilities import able
from believer.errors import InvalidInput, JournalError, NumericalError
from believer.numerics.sampling import stream
from believer.study.goals import Target
from believer.study.history import Fitted, History
from believer.study.settings import AUTO, NONE, StudySettings
from believer.surrogates.data import Data, joined
from believer.surrogates.gp import standardization
from believer.surrogates.gp_fit import CENTER_UP_TO, quarters
from believer.surrogates.inspection import inspected
from believer.surrogates.protocols import Conditionable, Evident, Model, Prediction, Restorable, Verifiable
from believer.surrogates.warp import Warp, warp_for

MOST_TOLD = 2000
"""Failed trials that a model is told of, and pending ones: the last of them, so many of each at most."""


WARP = "y_warp"
"""The name under which a model's hyperparameters hold its warp."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A model and what it learned from.

    Attributes
    ----------
    model : predicts in its own units.
    data : the results, in the model's units.
    failed : failed trials that it was told of, in the model's units; None without any.
    warp : from the user's units to the model's; None where they are the same.
    """

    model: Model
    data: Data
    failed: Data | None = None
    warp: Warp | None = None

    def predict(self, X: Array) -> Prediction:
        """At ``X`` (m, d), in the user's units: see :meth:`Warp.prediction` where there is one."""
        at = self.model.predict(X)
        return at if self.warp is None else self.warp.prediction(at)

    def quantile(self, X: Array, z: float) -> Array:
        """The value (m,) at ``X`` (m, d) that is exceeded with the chance that a standard normal exceeds ``z``."""
        at = self.model.predict(X)
        value = at.mean + z * at.std
        return value if self.warp is None else self.warp.inverse(value)

    def limits(self, limits: Within) -> Within:
        """``limits`` in the user's units in those of the model: a warp never changes the order of values."""
        if self.warp is not None:
            low, high = self.warp(np.array([limits.low, limits.high]))
            limits = Within(float(low), float(high))
        return limits.near(*standardization(self.data.y))

    def to_units(self, data: Data) -> Data:
        """``data`` in the user's units in those of the model."""
        return data if self.warp is None else self.warp.data(data)


class ModelCache:
    """What proposals under one set of settings may share. Never changes a result, only its price.

    Two models are kept: the last fit to real results, and that fit conditioned on failed trials; each is used again
    only on the very data that it saw, from the same start. ``memory`` is the strategy's own.

    Parameters
    ----------
    settings : of the study.
    """

    def __init__(self, settings: StudySettings) -> None:
        self.settings = settings
        self.memory: object = None
        self._fit: tuple[Data, Fitted | None, Learned] | None = None
        self._told: tuple[Learned, Array, Learned] | None = None
        self._outputs: dict[str, ModelCache] = {}

    def randomness(self, trial_id: int, purpose: str) -> np.random.Generator:
        """The generator of the trial ``trial_id`` and a ``purpose``, from the study's seed."""
        return stream(self.settings.seed, trial_id, purpose)

    def fit(self, history: History) -> Learned:
        """Fitted to real results; warm-started from the fit behind the last proposal, or that one itself."""
        data, start = history.data.output(0), history.fitted if able(self.settings.surrogate, Restorable) else None
        if self._fit is None or start != self._fit[1] or not _same(self._fit[0], data):
            self._fit = (data, start, self._fitted(history, data))
        return self._fit[2]

    def learned(self, history: History) -> Learned:
        """The fit, given failures as the worst real result: in closed form, or by a second fit."""
        fit, failed = self.fit(history), failures(history)
        if failed is None:
            return fit
        if self._told is None or self._told[0] is not fit or not np.array_equal(self._told[1], failed.X):
            told = fit.to_units(failed)
            self._told = (fit, failed.X, replace(fit, model=self._with_failures(history, fit, told), failed=told))
        return self._told[2]

    def of(self, output: Target) -> ModelCache:
        """The cache of one output's models, in a study that declares its outcomes."""
        if output.name not in self._outputs:
            warp = self.settings.warp if output.warped else NONE
            self._outputs[output.name] = ModelCache(replace(self.settings, goals=None, reference=None, warp=warp))
        return self._outputs[output.name]

    def hyperparameters(self, history: History) -> dict[str, Any] | None:
        """Of the fit, where the surrogate can write them down; with its warp, where it has one.

        Of a study that declares its outcomes those of all models, by output.
        """
        surrogate = self.settings.surrogate
        if not able(surrogate, Restorable):
            return None
        if not history.outputs:
            return _described(surrogate, self.fit(history))
        return {"outputs": {one.name: self.of(one).hyperparameters(alone) for one, alone in history.outputs}}

    def _with_failures(self, history: History, fit: Learned, failed: Data) -> Model:
        if able(fit.model, Conditionable):
            return fit.model.condition(failed)
        rng = self.randomness(len(history.ids), "failed")
        return self.settings.surrogate.fit(joined(fit.data, failed), rng, fit.model)

    def _fitted(self, history: History, data: Data) -> Learned:
        """A new fit, or the one behind the last proposal, when it saw the same results.

        A fit that only ``predict`` asked for is no warm start: what is looked at must not change what is suggested.
        """
        surrogate = self.settings.surrogate
        previous, seen = None, 0
        if history.fitted is not None and able(surrogate, Restorable):
            ids, state = history.fitted
            known = data.at(np.isin(history.ids, ids))
            previous, seen = (self._restored(surrogate, known, state), len(known)) if len(known) else (None, 0)
            if previous is not None and set(ids) == set(history.ids):
                return previous
        return self._chosen(data, previous, seen)

    def _chosen(self, data: Data, previous: Learned | None, seen: int) -> Learned:
        """The fit to ``data`` as they are, or through a warp: whichever finds them more likely.

        With much data that is decided anew only when they have grown by a quarter since the last fit saw them.
        """
        n = len(data)
        warp = warp_for(data.y) if self.settings.warp == AUTO else None
        if warp is not None and previous is not None and n > CENTER_UP_TO and quarters(n) == quarters(seen):
            return self._learned(data, warp if previous.warp is not None else None, previous)
        plain = self._learned(data, None, previous)
        if warp is None or not able(plain.model, Evident):
            return plain
        warped = self._learned(data, warp, previous)
        if not able(warped.model, Evident):
            return plain
        rows = learned_by(self.settings.surrogate, data)
        # p(y) = p(w(y)) Π w'(y_i)
        gain = warped.model.log_evidence() + float(warp.log_slope(data.y[rows]).sum()) - plain.model.log_evidence()
        return warped if gain > 0.0 else plain

    def _learned(self, data: Data, warp: Warp | None, previous: Learned | None) -> Learned:
        given, rng = data if warp is None else warp.data(data), self.randomness(len(data), "fit")
        model = self.settings.surrogate.fit(given, rng, None if previous is None else previous.model)
        inspected(model, data.X[:1])
        return Learned(model, given, None, warp)

    def _restored(self, surrogate: Restorable, seen: Data, state: dict[str, Any]) -> Learned | None:
        """The model behind the last proposal; None if it cannot have been of these results."""
        if self._fit is not None and _same(self._fit[0], seen) and _described(surrogate, self._fit[2]) == state:
            return self._fit[2]
        try:
            warp, rest = warp_of(state)
            if warp is not None and (self.settings.warp != AUTO or not warp.is_like(warp_for(seen.y))):
                return None  # of other values than these: no start for a fit to them
            given = seen if warp is None else warp.data(seen)
            return Learned(surrogate.restore(given, rest), given, None, warp)
        except (KeyError, TypeError, ValueError, NumericalError) as error:
            raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, do not fit: {error}") from error


def _described(surrogate: Restorable, fit: Learned) -> dict[str, Any]:
    state = surrogate.describe(fit.model)
    return state if fit.warp is None else {**state, WARP: fit.warp.to_config()}


def warp_of(state: dict[str, Any]) -> tuple[Warp | None, dict[str, Any]]:
    """The warp of a model that ``state`` describes, None without one, and what the surrogate wrote of it.

    InvalidInput for what is no warp.
    """
    if WARP not in state:
        return None, state
    return Warp.from_config(state[WARP]), {name: value for name, value in state.items() if name != WARP}


def verified_fit(surrogate: Verifiable, state: dict[str, Any], n: int, d: int, is_several: bool) -> None:
    """An error unless ``state`` may be that of a fit to n results in d columns; of several outputs, n at most each."""
    states = state.get("outputs") if is_several else {"": state}
    if not isinstance(states, dict) or not all(isinstance(one, dict) for one in states.values()):
        raise TypeError("a study with declared outcomes has a model for each output")
    for one in states.values():
        surrogate.verify(warp_of(one)[1], n, d)


def failures(history: History) -> Data | None:
    """Failed trials as the worst real result, the last :data:`MOST_TOLD` of them; None without any."""
    failed = history.failed[-MOST_TOLD:]
    if not len(failed) or history.outputs:  # of several outputs one learns where evaluations fail
        return None
    return Data(failed, np.full(len(failed), history.data.output(0).y.max()))


def told_pending(history: History) -> Pending:
    """Pending points that a model is told of: all up to :data:`MOST_TOLD`, and of more the last, by half that number.

    They begin at a multiple of it, so that with one more pending they are mostly those of the last time, and what
    was computed for these serves again.
    """
    ids, step = history.pending.ids, MOST_TOLD // 2
    first = max(0, -(-(len(ids) - MOST_TOLD) // step) * step)
    return Pending(ids[first:], history.pending.X[first:]) if first else history.pending


def check_cache(cache: ModelCache, settings: StudySettings) -> None:
    """InvalidInput if the cache belongs to other settings."""
    if cache.settings is not settings:
        raise InvalidInput("a model cache belongs to the settings that it was made with; make another for these.")


def _same(one: Data, other: Data) -> bool:
    """Whether two models that saw them saw the same."""
    return (
        np.array_equal(one.X, other.X)
        and np.array_equal(one.Y, other.Y)
        and (
            one.noise is None
            if other.noise is None
            else one.noise is not None and np.array_equal(one.noise, other.noise)
        )
    )
