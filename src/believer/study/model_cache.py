"""The models of a study, kept for as long as what they saw is what there is to see."""

from __future__ import annotations

from typing import Any

import numpy as np

from believer.arrays import Array, shown
from believer.batch.request import Pending
from believer.capabilities import able
from believer.errors import InvalidInput, JournalError, NumericalError
from believer.numerics.sampling import stream
from believer.study.history import Fitted, History
from believer.study.settings import StudySettings
from believer.surrogates.data import Data, joined
from believer.surrogates.inspection import inspected
from believer.surrogates.protocols import Conditionable, Model, Restorable

MOST_TOLD = 2000
"""Failed trials that a model is told of, and pending ones: the last of them, so many of each at most."""


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
        self._fit: tuple[Data, Fitted | None, Model] | None = None
        self._model: tuple[Model, Array, Model] | None = None

    def randomness(self, trial_id: int, purpose: str) -> np.random.Generator:
        """The generator of the trial ``trial_id`` and a ``purpose``, from the study's seed."""
        return stream(self.settings.seed, trial_id, purpose)

    def fit(self, history: History) -> Model:
        """Fitted to real results; warm-started from the fit behind the last proposal, or that one itself."""
        data, start = history.data.output(0), history.fitted if able(self.settings.surrogate, Restorable) else None
        if self._fit is None or start != self._fit[1] or not _same(self._fit[0], data):
            self._fit = (data, start, self._fitted(history, data))
        return self._fit[2]

    def model(self, history: History) -> Model:
        """The fit, given failures as the worst real result: in closed form, or by a second fit."""
        fit, failed = self.fit(history), failures(history)
        if failed is None:
            return fit
        if self._model is None or self._model[0] is not fit or not np.array_equal(self._model[1], failed.X):
            self._model = (fit, failed.X, self._with_failures(history, fit, failed))
        return self._model[2]

    def hyperparameters(self, history: History) -> dict[str, Any] | None:
        """Of the fit, where the surrogate can write them down."""
        surrogate = self.settings.surrogate
        return surrogate.describe(self.fit(history)) if able(surrogate, Restorable) else None

    def _with_failures(self, history: History, fit: Model, failed: Data) -> Model:
        if able(fit, Conditionable):
            return fit.condition(failed)
        data, rng = joined(history.data.output(0), failed), self.randomness(len(history.ids), "failed")
        return self.settings.surrogate.fit(data, rng, fit)

    def _fitted(self, history: History, data: Data) -> Model:
        """A new fit, or the one behind the last proposal, when it saw the same results.

        A fit that only ``predict`` asked for is no warm start: what is looked at must not change what is suggested.
        """
        surrogate = self.settings.surrogate
        previous = None
        if history.fitted is not None and able(surrogate, Restorable):
            ids, state = history.fitted
            seen = data.at(np.isin(history.ids, ids))
            previous = self._restored(surrogate, seen, state) if len(seen) else None
            if previous is not None and set(ids) == set(history.ids):
                return previous
        model = surrogate.fit(data, self.randomness(len(history.ids), "fit"), previous)
        inspected(model, data.X[:1])
        return model

    def _restored(self, surrogate: Restorable, seen: Data, state: dict[str, Any]) -> Model:
        """The model behind the last proposal."""
        if self._fit is not None and _same(self._fit[0], seen) and surrogate.describe(self._fit[2]) == state:
            return self._fit[2]
        try:
            return surrogate.restore(seen, state)
        except (KeyError, TypeError, ValueError, NumericalError) as error:
            raise JournalError(f"the hyperparameters of the last fit, {shown(state)}, do not fit: {error}") from error


def failures(history: History) -> Data | None:
    """Failed trials as the worst real result, the last :data:`MOST_TOLD` of them; None without any."""
    failed = history.failed[-MOST_TOLD:]
    if not len(failed):
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
