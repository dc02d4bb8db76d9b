"""What the models of a study say of it: predictions, the point to use in the end, the front of several objectives."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from believer.acquisitions.hypervolume import hypervolume
from believer.arrays import Array
from believer.batch.incumbent import is_noisy, learned_by
from believer.batch.standing import Known, Standing, stand
from believer.errors import InvalidInput
from believer.study.goals import RUNS, Target
from believer.study.history import History
from believer.study.ledger import Ledger
from believer.study.model_cache import Learned, ModelCache
from believer.study.recommendation import NORMAL_95, Expected, Front, FrontPoint, Recommendation
from believer.study.settings import StudySettings
from believer.study.trials import Trial
from believer.surrogates.protocols import Prediction


@dataclass(frozen=True, slots=True, eq=False)
class Insight:
    """A study as it stands, and its models."""

    settings: StudySettings
    history: History
    cache: ModelCache

    def learned(self) -> Learned:
        """The model of a study of one number."""
        return self.cache.learned(self.history)

    def predict(self, X: Array, outcome: str | None) -> Prediction:
        """The objective, or an ``outcome``, at ``X`` (m, d) of the encoded cube, in the user's units."""
        if not self.history.outputs:
            if outcome is not None:
                raise InvalidInput(f"this study declares no outcomes; got {outcome!r}.")
            at = self.learned().predict(X)
            return Prediction(self.settings.sign * at.mean, at.std)
        names = [output.name for output, _ in self.history.outputs]
        if outcome is None and sum(output.limits is None for output, _ in self.history.outputs) == 1:
            outcome = names[0]
        if outcome not in names:
            raise InvalidInput(f"outcome must be one of {', '.join(names)}; got {outcome!r}.")
        output, alone = self.history.outputs[names.index(outcome)]
        if not alone.ids:
            raise InvalidInput(f"predict needs at least one result of {outcome}; tell or observe one first.")
        at = self.cache.of(output).learned(alone).predict(X)
        return Prediction(output.sign * at.mean, at.std)

    def recommend(self, ledger: Ledger) -> Recommendation:
        """The evaluated point to use in the end; InvalidInput where there is none."""
        if self.history.outputs:
            return self._within_limits(ledger)
        trial = ledger.best
        assert trial is not None
        learned = self.learned()
        if is_noisy(learned.model):
            rows = learned_by(self.settings.surrogate, learned.data)
            best = int(np.argmin(learned.model.predict(learned.data.X[rows]).mean))
            trial = ledger.trials[self.history.ids[rows[best]]]
        return self._recommendation(trial, learned, self.settings.sign)

    def _within_limits(self, ledger: Ledger) -> Recommendation:
        goals = self.settings.goals
        assert goals is not None
        if len(goals.objectives) > 1:
            raise InvalidInput("of several objectives there is no best point: front has those to choose from.")
        here = self._standing()
        if here is None or not here.feasible.any():
            raise InvalidInput("recommend needs a result that is within all limits; there is none yet.")
        best = int(np.argmin(np.where(here.feasible, here.Y[:, 0], np.inf)))
        output, alone = self.history.outputs[0]
        trial = ledger.trials[here.ids[best]]
        found = self._recommendation(trial, self.cache.of(output).learned(alone), output.sign)
        return Recommendation(
            found.trial,
            found.params,
            found.mean,
            found.std,
            found.interval,
            float(np.exp(here.log_feasible[best])),
            self._expected(trial),
        )

    def _recommendation(self, trial: Trial, learned: Learned, sign: float) -> Recommendation:
        x = trial.unit[None, :]
        at, ends = learned.predict(x), [sign * float(learned.quantile(x, z)[0]) for z in (-NORMAL_95, NORMAL_95)]
        interval = (min(ends), max(ends))
        return Recommendation(trial.copy(), dict(trial.params), sign * float(at.mean[0]), float(at.std[0]), interval)

    def front(self, ledger: Ledger) -> Front:
        """The front; InvalidInput where there is one objective."""
        goals, settings = self.settings.goals, self.settings
        if goals is None or len(goals.objectives) == 1:
            raise InvalidInput("a front is for several objectives; this study has one: see best and recommend().")
        here, aims = self._standing(), [output for output, _ in self.history.outputs if output.limits is None]
        if here is None or not len(here.ids):
            return Front((), settings.reference, settings.reference is not None, 0.0)
        signs = np.array([output.sign for output in aims])
        inferred = here.reference()
        given = settings.reference
        point = inferred if given is None else signs * np.array([given[output.name] for output in aims])
        rows = here.front()
        points = tuple(
            FrontPoint(
                (trial := ledger.trials[here.ids[row]]).copy(),
                dict(trial.params),
                {one.name: float(one.sign * y) for one, y in zip(aims, here.Y[row], strict=True)},
                self._expected(trial),
                float(np.exp(here.log_feasible[row])),
            )
            for row in rows
        )
        reference = {one.name: float(one.sign * r) for one, r in zip(aims, point, strict=True)}
        return Front(points, reference, given is not None, hypervolume(here.Y[rows], point))

    def _expected(self, trial: Trial) -> dict[str, Expected]:
        """What the models expect at a trial's point, by output."""
        found, x = {}, trial.unit[None, :]
        for output, alone in self.history.outputs:
            if output.name == RUNS:
                continue
            at = self.cache.of(output).learned(alone).predict(x)
            found[output.name] = Expected(float(output.sign * at.mean[0]), float(at.std[0]))
        return found

    def _standing(self) -> Standing | None:
        """How things stand by real results alone of which nothing is missing; None where an output has none."""
        outputs = self.history.outputs
        if not all(alone.ids for _, alone in outputs):
            return None
        whole = frozenset(self.history.ids)
        return stand([self._known(output, alone, whole) for output, alone in outputs], self.settings.space.dim)

    def _known(self, output: Target, alone: History, whole: Set[int]) -> Known:
        learned = self.cache.of(output).learned(alone)
        limits, data = None if output.limits is None else learned.limits(output.limits), learned.data
        rows = dict(zip(alone.ids, zip(data.X, data.y.tolist(), strict=True), strict=True))
        if limits is None:  # nobody is to use a point of which something was never measured
            rows = {i: row for i, row in rows.items() if i in whole}
        return Known(learned.model, limits, output.probability, rows, exact=output.exact)
