"""What a study has learnt: the model of its results, fitted when there are new ones and kept until there are more."""

from __future__ import annotations

from typing import Any

import numpy as np

from believer.arrays import frozen
from believer.batch import Data
from believer.errors import JournalError
from believer.numerics.sampling import stream
from believer.study.settings import StudySettings
from believer.study.trials import Ledger, Trial
from believer.surrogates.data import joined
from believer.surrogates.inspection import inspected
from believer.surrogates.protocols import Conditionable, Model, Restorable

Ids = tuple[int, ...]


class Learner:
    """The models of a study, derived from its settings and its ledger alone.

    Two are remembered: the fit to real results, and that fit conditioned on failed trials.
    """

    def __init__(self, settings: StudySettings, ledger: Ledger) -> None:
        self._settings, self._ledger = settings, ledger
        self._fit: tuple[Ids, Model] | None = None
        self._model: tuple[tuple[Ids, Ids], Model] | None = None

    def randomness(self, trial_id: int, purpose: str) -> np.random.Generator:
        """The generator of a trial and a purpose, from the study's seed."""
        return stream(self._settings.seed, trial_id, purpose)

    def data(self) -> Data:
        """Real results in id order, to be minimized."""
        ids = sorted(self._ledger.values)
        X = np.array([self._ledger.trials[i].unit for i in ids]).reshape(len(ids), self._settings.space.dim)
        return Data(frozen(X), frozen(self._settings.sign * np.array([self._ledger.values[i] for i in ids])))

    def failed(self) -> Data | None:
        """Failed trials in id order, as the worst real result; None without any."""
        ids = sorted(self._ledger.errors)
        if not ids:
            return None
        X = np.array([self._ledger.trials[i].unit for i in ids])
        return Data(frozen(X), frozen(np.full(len(ids), self.data().y.max())))

    def model(self) -> Model:
        """Fitted to real results, then told of failures as the worst of them: in closed form, or by a second fit."""
        ids, lost = tuple(sorted(self._ledger.values)), tuple(sorted(self._ledger.errors))
        if self._model is not None and self._model[0] == (ids, lost):
            return self._model[1]
        data = self.data()
        if self._fit is None or self._fit[0] != ids:
            self._fit = (ids, self._fitted(ids, data))
        model, failed = self._fit[1], self.failed()
        if failed is not None and isinstance(model, Conditionable):
            model = model.condition(failed)
        elif failed is not None:
            model = self._settings.surrogate.fit(joined(data, failed), self.randomness(len(ids), "failed"), model)
        self._model = ((ids, lost), model)
        return model

    def _fitted(self, ids: Ids, data: Data) -> Model:
        """A new fit, warm-started from the last ask's; or that one itself, when it saw the same results.

        A fit that only ``predict`` asked for is no warm start: what is looked at must not change what is suggested.
        """
        surrogate = self._settings.surrogate
        previous = None
        if self._ledger.fitted is not None and isinstance(surrogate, Restorable):
            known, state = self._ledger.fitted
            if self._fit is not None and self._fit[0] == known:
                previous = self._fit[1]
            else:
                rows = np.isin(ids, known)
                try:
                    previous = surrogate.restore(Data(data.X[rows], data.y[rows]), state)
                except (KeyError, TypeError, ValueError) as error:
                    raise JournalError(f"the journal's hyperparameters {state} do not fit: {error!r}") from error
            if known == ids:
                return previous
        model = surrogate.fit(data, self.randomness(len(ids), "fit"), previous)
        inspected(model, data.X[:1])
        return model

    def described(self) -> dict[str, Any] | None:
        """Hyperparameters of the current fit, where the surrogate can write them down."""
        if self._fit is None or not isinstance(self._settings.surrogate, Restorable):
            return None
        return self._settings.surrogate.describe(self._fit[1])

    def informed(self, pending: tuple[Trial, ...]) -> Model:
        """The model given results and pending points: what a verdict is measured with."""
        model = self.model()
        if not pending or not isinstance(model, Conditionable):
            return model
        X = np.array([trial.unit for trial in pending])
        return model.condition(Data(X, model.predict(X).mean))
