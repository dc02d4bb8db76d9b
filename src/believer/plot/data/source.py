"""The study behind a figure, as one value that every figure reads.

A study is an ``Optimizer``, the ``Result`` of ``minimize``, a study from ``read_study``, or the path of a journal. Its
models are made from its settings, without a fit if the last ask used all results. The models do not need a constraint
or a custom acquisition function, strategy or maximizer, which a journal cannot hold; they do need a custom surrogate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, shown
from believer.batch.learned import Learned
from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.plot.data.axis import Axis, axes_of
from believer.plot.data.trials import Trials, trials_of
from believer.result import Result
from believer.space import Space
from believer.study import serialization
from believer.study.events import Begun, Changed
from believer.study.goals import RUNS, Goals
from believer.study.history import History
from believer.study.models import ModelCache
from believer.study.outcome import ONLY
from believer.study.recommend import Insight
from believer.study.recommendation import NORMAL_95, Front
from believer.study.settings import StudySettings, upgraded_config
from believer.study.study import Study, read_study

_DISPENSABLE = ("acquisition", "strategy", "maximizer")
"""The parts that predictions do not need."""


@dataclass(frozen=True, eq=False)
class Source:
    """A study as figures read it, made by :func:`study_of`. Models are fitted once, when they are first needed.

    Attributes
    ----------
    study : the study.
    goals : the goal of each outcome.
    replaced : the parts that a journal could not restore, and that are replaced by defaults: "strategy", "acquisition",
        "maximizer", "constraint", "table". Predictions do not need them.
    """

    study: Study
    goals: Goals
    replaced: tuple[str, ...] = ()
    _settings: StudySettings | None = field(default=None, repr=False)
    _history: History | None = field(default=None, repr=False)

    @property
    def space(self) -> Space:
        """The search space of the study."""
        return self.study.space if self._settings is None else self._settings.space

    @cached_property
    def trials(self) -> Trials:
        """All trials, as columns."""
        return trials_of(self.study, self.goals)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The parameters as axes, in the order of the space."""
        return axes_of(self.space, self.trials.params)

    @property
    def settings(self) -> StudySettings:
        """The settings; InvalidInput, which says what to pass, if the journal does not have the surrogate."""
        if self._settings is not None:
            return self._settings
        raise InvalidInput(
            f"this figure needs the model of the study, and its surrogate, {_surrogate_name(self.study)}, is not one "
            "that a journal can hold: pass the optimizer, or bv.Optimizer.load(path, surrogate=..., append=False)."
        )

    @property
    def has_settings(self) -> bool:
        """Whether the settings are known, and so the models."""
        return self._settings is not None

    @cached_property
    def history(self) -> History:
        """The history from which the models learn."""
        return self.study.history(self.settings) if self._history is None else self._history

    def with_history(self, history: History) -> Source:
        """The study with models of another history, which has the fit by which they were made."""
        return replace(self, _history=history)

    @cached_property
    def cache(self) -> ModelCache:
        """The cache of its models."""
        return ModelCache(self.settings)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs that models learn: objectives, then limited outcomes."""
        return tuple(output.name for output in self.goals.outputs)

    def chosen(self, outcome: str | None) -> str:
        """The outcome of that name; the first objective for None. InvalidInput if the study does not have it."""
        if outcome is None:
            return self.outputs[0]
        if outcome == self.label(self.outputs[0]):
            return self.outputs[0]
        if outcome not in self.outputs:
            raise InvalidInput(f"outcome must be one of {', '.join(self.outputs)}; got {shown(outcome)}.")
        return outcome

    def label(self, outcome: str) -> str:
        """The name of an outcome, with its units."""
        units = self.units(outcome)
        return f"{self.named(outcome)} ({units})" if units else self.named(outcome)

    def named(self, outcome: str) -> str:
        """The name of an outcome; in a plain study, the first result may have named the number."""
        if outcome != ONLY or not self.goals.is_plain:
            return outcome
        first = next((one for one in self.study.outcomes.values() if one.objectives), None)
        return ONLY if first is None else first.name

    def units(self, outcome: str) -> str:
        """The units of an outcome; "" if it has none."""
        return str(getattr(self.goals.wanted.get(outcome), "units", None) or "")

    def sign(self, outcome: str) -> float:
        """-1 if the outcome is maximized, else 1."""
        return next(one.sign for one in self.goals.outputs if one.name == outcome)

    def learned(self, outcome: str) -> Learned:
        """The model of an outcome and its results; InvalidInput before the first of them."""
        names = [table.output.name for table in self.history.tables]
        if outcome not in names:
            raise InvalidInput(f"outcome must be one of {', '.join(names)}; got {shown(outcome)}.")
        place = names.index(outcome)
        if not self.history.tables[place].ids:
            raise InvalidInput(f"this figure needs at least one result of {self.label(outcome)}; there is none yet.")
        return self.cache.learned(self.history, place)

    def has_results(self, outcome: str) -> bool:
        """Whether any trial has a result of an outcome."""
        return bool(np.isfinite(self.trials.values[outcome]).any())

    @property
    def learns_failures(self) -> bool:
        """Whether a model learns where evaluations fail."""
        return any(table.output.name == RUNS for table in self.history.tables)

    def predict(self, X: Array, outcome: str) -> tuple[Array, Array, Array, Array]:
        """Mean, std, and the ends of the 95 % interval of the outcome without noise, (m,) each, in the user's units."""
        learned, sign = self.learned(outcome), self.sign(outcome)
        at = learned.predict(X)
        ends = [sign * learned.quantile(X, z) for z in (-NORMAL_95, NORMAL_95)]
        return sign * at.mean, at.std, np.minimum(*ends), np.maximum(*ends)

    @cached_property
    def front(self) -> Front:
        """The Pareto front of several objectives."""
        return Insight(self.settings, self.history, self.cache).front(self.study.trials, self.study.outcomes)

    @cached_property
    def best(self) -> int | None:
        """The id of the trial through which slices go: the best result, or the middle point of the front.

        If no result is within the limits, it is the best result of the first objective; None before the first result.
        """
        trials, first = self.trials, self.outputs[0]
        if len(self.goals.objectives) > 1 and self._settings is not None and len(self.front):
            return self.front[len(self.front) // 2].trial.id
        values = self.sign(first) * trials.values[first]
        for rows in (trials.is_done & trials.keeps_limits, trials.is_done, np.isfinite(values)):
            if (rows & np.isfinite(values)).any():
                return int(trials.ids[np.argmin(np.where(rows, values, np.inf))])
        return None

    @property
    def star(self) -> str:
        """A description of :attr:`best`, which figures mark with a star."""
        if self.best is None:
            return ""
        row = self.trials.row(self.best)
        if len(self.goals.objectives) > 1 and self._settings is not None and len(self.front):
            return "a result of the front"
        if not self.trials.is_done[row]:
            return "best partial result"
        return "best result" if self.trials.keeps_limits[row] else "best result, outside a limit"

    def center(self, through: Mapping[str, Any] | None = None) -> tuple[dict[str, Any], Array]:
        """The point that slices go through, by default the best result: in the user's terms, and encoded, (d,)."""
        if through is not None:
            params = self.space.check(through)
        elif self.best is None:
            raise InvalidInput("this figure goes through the best result; there is no result yet.")
        else:
            params = self.trials.params[self.trials.row(self.best)]
        return params, self.space.encode([params])[0]

    def axis(self, name: str) -> Axis:
        """The parameter of that name; InvalidInput if there is none."""
        found = next((axis for axis in self.axes if axis.name == name), None)
        if found is None:
            raise InvalidInput(f"a parameter must be one of {', '.join(self.space.names)}; got {shown(name)}.")
        return found

    def by_relevance(self, outcome: str) -> tuple[Axis, ...]:
        """The axes, sorted by the change of the model's mean along them; constant ones come last.

        If the mean is the same everywhere, the shortest lengthscale comes first.
        """
        from believer.plot.data.importance import lengthscales_of, relevance_of  # imports this module

        if outcome not in self._relevant:
            scales = lengthscales_of(self, outcome)
            places = range(len(self.axes)) if scales is None else scales
            order = sorted(zip(-relevance_of(self, outcome), places, range(len(self.axes)), strict=True))
            axes = [self.axes[i] for *_, i in order]
            self._relevant[outcome] = tuple(sorted(axes, key=lambda axis: axis.is_constant))
        return self._relevant[outcome]

    @cached_property
    def _relevant(self) -> dict[str, tuple[Axis, ...]]:
        return {}


StudyLike: TypeAlias = Optimizer | Result | Study | Source | str | os.PathLike[str]
"""The kinds of arguments that every figure takes."""


def study_of(study: StudyLike) -> Source:
    """The study behind whatever was passed.

    Several figures of one study share its models if they are given the source in place of the study.
    """
    if isinstance(study, Source):
        return study
    if isinstance(study, Result):
        study = study.optimizer
    if isinstance(study, str | os.PathLike):
        study = read_study(study)
    if isinstance(study, Optimizer):
        return Source(study, study.goals, (), study.settings)
    if isinstance(study, Study):
        replaced, settings = _restored(study)
        return Source(study, study.goals, replaced, settings)
    raise InvalidInput(
        f"a figure needs a study: an Optimizer, a Result, what read_study returned, or a path; got {shown(study)}."
    )


def with_article(star: str) -> str:
    """The meaning of a star, as a part of a sentence: "the best result", "a result of the front"."""
    return star if star.startswith("a ") else f"the {star}"


def _last_config(study: Study) -> dict[str, Any]:
    return next(event.config for event in reversed(study.events) if isinstance(event, Begun | Changed))


def _surrogate_name(study: Study) -> str:
    return serialization.named(_last_config(study)["surrogate"])


def _restored(study: Study) -> tuple[tuple[str, ...], StudySettings | None]:
    """The parts that were replaced, and the settings; None if the surrogate is not the library's own."""
    config = upgraded_config(_last_config(study))
    if serialization.is_custom(config["surrogate"]):
        return (), None
    usual = StudySettings.of(study.space, outcomes=study.goals.wanted, seed=0).to_config()
    replaced = [part for part in _DISPENSABLE if serialization.is_custom(config.get(part))]
    config |= {part: usual[part] for part in replaced}
    if config["constraint"] is not None:
        replaced.append("constraint")
        config |= {"constraint": None, "space": {**config["space"], "constrained": False}}
    if config["space"].get("table") is not None:  # as if all values of its features were possible
        replaced.append("table")
        config |= {"space": {**config["space"], "table": None}}
    return tuple(replaced), StudySettings.from_config(config)
