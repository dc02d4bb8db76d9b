"""Results of the models of a study: predictions, the recommended point, the Pareto front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from believer.acquisitions.hypervolume import hypervolume
from believer.arrays import Array
from believer.batch.best_so_far import BestSoFar, best_among
from believer.batch.learned import Learned, Part
from believer.capabilities import has
from believer.errors import InvalidInput, MissingCapability
from believer.study.goals import RUNS
from believer.study.history import History
from believer.study.models import ModelCache
from believer.study.outcome import Outcome
from believer.study.recommendation import NORMAL_95, Expected, Front, FrontPoint, Recommendation
from believer.study.settings import StudySettings
from believer.study.trials import Trial
from believer.surrogates.protocols import Prediction, Scaled


@dataclass(frozen=True, slots=True, eq=False)
class Insight:
    """The present state of a study, and its models."""

    settings: StudySettings
    history: History
    cache: ModelCache

    def predict(self, X: Array, outcome: str | None) -> Prediction:
        """Predict the only objective, or an ``outcome``, at ``X`` (m, d) of the encoded cube, in the user's units."""
        learned, sign = self._learned(outcome)
        at = learned.predict(X)
        return Prediction(sign * at.mean, at.std)

    def descriptor_shares(self, outcome: str | None) -> dict[str, dict[str, float]]:
        """How much each descriptor counts in the model of the only objective, or of an ``outcome``."""
        model = self._learned(outcome)[0].fit
        if not has(model, Scaled):
            raise MissingCapability(
                f"descriptor_shares needs a model with lengthscales; {type(model).__name__} has none. Use GP()."
            )
        return self.settings.space.descriptor_shares(model.lengthscales)

    def _learned(self, outcome: str | None) -> tuple[Learned, float]:
        """The learned model of the only objective, or of an ``outcome``, and its sign."""
        tables, goals = self.history.tables, self.settings.goals
        names = [table.output.name for table in tables]
        if outcome is None and len(goals.objectives) == 1:
            outcome = names[0]
        if outcome not in names:
            raise InvalidInput(f"outcome must be one of {', '.join(names)}; got {outcome!r}.")
        place = names.index(outcome)
        if not tables[place].ids:
            raise InvalidInput(f"a model needs at least one result of {outcome}; tell or observe one first.")
        return self.cache.learned(self.history, place), tables[place].output.sign

    def recommend(self, trials: Sequence[Trial]) -> Recommendation:
        """The evaluated point to use in the end, among ``trials`` by id; InvalidInput if there is none."""
        goals = self.settings.goals
        if len(goals.objectives) > 1:
            raise InvalidInput(
                "several objectives have no single best point. Use front, which lists the points to choose from."
            )
        here = self._best_so_far()
        if here is None or not here.any_feasible:
            raise InvalidInput("recommend needs a feasible result, and there is none yet.")
        best = int(np.argmin(np.where(here.feasible, here.Y[:, 0], np.inf)))
        trial = trials[int(here.ids[best])]
        found = self._recommendation(trial, self.cache.learned(self.history), goals.outputs[0].sign)
        if goals.is_plain:
            return found
        return replace(found, feasible=float(np.exp(here.log_feasible[best])), outcomes=self._expected(trial))

    def _recommendation(self, trial: Trial, learned: Learned, sign: float) -> Recommendation:
        x = trial.encoded[None, :]
        at, ends = learned.predict(x), [sign * float(learned.quantile(x, z)[0]) for z in (-NORMAL_95, NORMAL_95)]
        interval = (min(ends), max(ends))
        mean, std = sign * float(at.mean[0]), float(at.std[0])
        return Recommendation(trial.copy(), dict(trial.params), mean, std, interval, labels=self.settings.labels)

    def front(self, trials: Sequence[Trial], outcomes: Mapping[int, Outcome]) -> Front:
        """The Pareto front of ``trials`` and their ``outcomes``, both by id; InvalidInput for one objective."""
        goals, settings = self.settings.goals, self.settings
        if len(goals.objectives) == 1:
            raise InvalidInput("a front needs several objectives, and this study has one. Use best or recommend().")
        here, aims = self._best_so_far(), [output for output in goals.outputs if output.limits is None]
        if here is None or not len(here.ids):
            return Front((), settings.reference, settings.reference is not None, 0.0, settings.labels)
        signs = np.array([output.sign for output in aims])
        inferred = here.reference()
        given = settings.reference
        point = inferred if given is None else signs * np.array([given[output.name] for output in aims])
        rows = here.front()
        points = tuple(
            FrontPoint(
                (trial := trials[int(here.ids[row])]).copy(),
                dict(trial.params),
                {one.name: float(one.sign * y) for one, y in zip(aims, here.Y[row], strict=True)},
                self._expected(trial),
                float(np.exp(here.log_feasible[row])),
                self._told(outcomes[trial.id]),
            )
            for row in rows
        )
        reference = {one.name: float(one.sign * r) for one, r in zip(aims, point, strict=True)}
        return Front(points, reference, given is not None, hypervolume(here.Y[rows], point), settings.labels)

    def _told(self, outcome: Outcome) -> dict[str, float]:
        """The numbers of a result, in the order in which outcomes were declared."""
        numbers = {**outcome.objectives, **outcome.constraints}
        return {name: numbers[name] for name in self.settings.goals.wanted if name in numbers}

    def _expected(self, trial: Trial) -> dict[str, Expected]:
        """The posterior at a trial's point, by output."""
        found, x = {}, trial.encoded[None, :]
        for place, table in enumerate(self.history.tables):
            if table.output.name != RUNS:
                at = self.cache.learned(self.history, place).predict(x)
                found[table.output.name] = Expected(float(table.output.sign * at.mean[0]), float(at.std[0]))
        return found

    def _best_so_far(self) -> BestSoFar | None:
        """Feasibility, incumbent and Pareto front by complete results only; None if an output has no result."""
        tables = self.history.tables
        if not all(table.ids for table in tables):
            return None
        parts = [Part.of(self.cache.learned(self.history, place)) for place in range(len(tables))]
        here, whole = best_among(parts, self.settings.surrogate), np.array(self.history.ids, dtype=np.int64)
        # A point with an outcome that was never measured is not recommended.
        return here if len(here.ids) == len(whole) else here.among(np.isin(here.ids, whole))
