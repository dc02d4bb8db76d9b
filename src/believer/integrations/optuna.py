"""A sampler for Optuna: trials that run are pending points, whichever thread, process or machine runs them.

::

    study = optuna.create_study(sampler=BelieverSampler(seed=1))

What it suggests depends on its settings and on what the storage holds, and on nothing else: the hyperparameters of the
last fit are kept there, beside the points, as system attributes of the trials. So another sampler with the same
settings goes on where one stopped, and workers share what they learned.

A worker tells the others its whole point in one write, before Optuna stores parameter by parameter. Of trials that
began before its own and show no point yet, it works out what they are about to get, as their workers do at this moment
from the same storage, and counts that as pending. Then it looks again: of two workers that told of the same point at
least one sees the other, and chooses another. Nobody waits for anybody.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from believer.arrays import LARGEST, whole
from believer.errors import InvalidInput, JournalError, MissingExtra, SpaceExhausted
from believer.numerics.sampling import stream
from believer.plugins import (
    Acquisition,
    Array,
    Fitted,
    History,
    ModelCache,
    Proposal,
    Strategy,
    StudySettings,
    Surrogate,
    make_settings,
    propose,
)
from believer.propose import rehearse
from believer.space import Categorical, Float, Int, Space
from believer.study.history import history as history_of
from believer.study.outcome import Outcome

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.trial import TrialState
except ImportError as error:
    raise MissingExtra("optuna", "optuna") from error

__all__ = ["BelieverSampler"]

ABOUT_TO_SHOW = timedelta(seconds=30)
"""A trial that runs without a point for longer is not being sampled: its worker died, or never asks."""

MOST_ROUNDS = 100
"""In which two workers that chose the same point at the same moment choose again."""

KEY, IGNORED = "believer", "ignored"
"""Of our system attribute; and what a trial returned that is neither a result nor a failure: its point is taken."""

_log = logging.getLogger(__name__)


class BelieverSampler(BaseSampler):  # type: ignore[misc]
    """Suggests points that are good together with those of all running trials.

    Parameters that all finished trials have in common, with the same range, are chosen together; others, and those of
    the first trials, are drawn at random, each by itself. One objective, no constraints: ``ValueError`` otherwise.
    Threads may share a sampler, and processes a study, each with a sampler of its own and best with the same seed.

    Parameters
    ----------
    strategy : how a point is chosen beside those that are pending: a name or a value, "hedged" by default.
    surrogate : the model: a name or a value, a Gaussian process by default.
    acquisition : what makes a point worth a trial, LogEI by default.
    n_startup_trials : results and running trials before the model takes over; None is two for each parameter.
    seed : of all that is random; None is another one each time.
    search_space : the distributions by name, where they are known in advance: then the first trials fill the space
        evenly, and never repeat each other either.
    pruned : what a pruned trial is: "value", a result, the last value that it reported; "failed"; or "ignored". One
        that reported nothing has failed.
    failed : what a failed trial, NaN or an infinite result is: "worst", as bad as the worst result; or "ignored".
    independent_sampler : draws what is not chosen together; None is a uniform draw for each trial and name.
    warp, resolution : as for :class:`~believer.optimizer.Optimizer`.
    """

    def __init__(
        self,
        *,
        strategy: str | Strategy | None = None,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        n_startup_trials: int | None = None,
        seed: int | None = None,
        search_space: Mapping[str, Any] | None = None,
        pruned: str = "value",
        failed: str = "worst",
        independent_sampler: Any = None,
        warp: str | None = None,
        resolution: float | None = None,
    ) -> None:
        if pruned not in ("value", "failed", "ignored"):
            raise InvalidInput(f'pruned must be "value", "failed" or "ignored"; got {pruned!r}.')
        if failed not in ("worst", "ignored"):
            raise InvalidInput(f'failed must be "worst" or "ignored"; got {failed!r}.')
        each_of = search_space.values() if isinstance(search_space, Mapping) else [search_space]
        if search_space is not None and not all(isinstance(each, BaseDistribution) for each in each_of):
            raise InvalidInput(f"search_space must have distributions of Optuna's by name; got {search_space!r}.")
        self._options: dict[str, Any] = {
            "strategy": strategy,
            "surrogate": surrogate,
            "acquisition": acquisition,
            "n_init": None if n_startup_trials is None else whole(n_startup_trials, "n_startup_trials", 1),
            "seed": secrets.randbits(63) if seed is None else seed,
            "warp": warp,
            "resolution": resolution,
        }
        rehearse(make_settings(Space.unit(1), **self._options))
        self._search_space = None if search_space is None else dict(search_space)
        self._pruned, self._failed, self._independent = pruned, failed, independent_sampler
        self._begin()

    def _begin(self) -> None:
        """As one that has seen no study yet."""
        self._lock = threading.Lock()
        self._said: set[tuple[str, ...]] = set()
        self._forget(None, None)

    def _forget(self, storage: Any, study_id: int | None) -> None:
        """All that was learned of another study than this one."""
        self._storage, self._study_id = storage, study_id
        self._door: _Door | None = None
        self._counted: set[int] = set()
        self._shared: dict[str, Any] | None = None
        self._blind = -1  # the last trial that began before anything was shared

    def __getstate__(self) -> dict[str, Any]:
        """Without the lock, and without models, which a copy learns again."""
        return {k: getattr(self, k) for k in ("_options", "_search_space", "_pruned", "_failed", "_independent")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def reseed_rng(self) -> None:
        """Nothing of ours: a trial's randomness is that of the seed and its number, so that copies never repeat."""
        if self._independent is not None:
            self._independent.reseed_rng()

    def before_trial(self, study: Any, trial: Any) -> None:
        """The sampler of independent parameters may prepare for ``trial`` of ``study``."""
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
        """It may also see how ``trial`` of ``study`` ended: in which ``state``, with which ``values``."""
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """What is chosen together for ``trial``: as said in advance, or what finished trials of ``study`` share."""
        shared = self._search_space
        if shared is None:
            with self._lock:
                self._turn_to(study)
                if (shared := self._shared) is None:
                    self._blind, shared = max(self._blind, trial.number), {}
        return {name: each for name, each in shared.items() if _parameter(each) is not None}

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """A point for ``trial`` of ``study`` in ``search_space``, told to other workers before it is returned."""
        _check_one_objective(study)
        searched = {name: each for name, each in search_space.items() if _parameter(each) is not None}
        with self._lock:
            trials = self._turn_to(study)
            if not searched:
                _check_unconstrained(trials)
                return {}
            door = self._door_to(searched, study.direction.name == "MAXIMIZE")
            fixed = point = door.point_of(trial)
            again: list[dict[str, Any]] = []
            for _ in range(MOST_ROUNDS if len(fixed) < len(searched) else 0):
                before, unseen = self._read(door, trials, trial.number)
                point, record = door.chosen(before, unseen + again, door.fit_behind(trials), fixed)
                _tell_others(study, trial, record)
                trials = study.get_trials(deepcopy=False)
                clashes = door.clashes(point, before, self._read(door, trials, trial.number)[0])
                if not clashes:
                    break
                again = [{} for number in clashes if number < trial.number]  # they may choose again, too
        return {name: door.to_optuna(name, value) for name, value in point.items()}

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """A value of ``param_name`` by itself, of ``param_distribution``, for ``trial`` of ``study``."""
        _check_one_objective(study)
        why = "only parameters that all finished trials have, or search_space, with the same range, are chosen together"
        if not_ours := _parameter(param_distribution) is None:
            why = "its range is too wide, its step too small, or its choices are too many"
        if not_ours or trial.number > self._blind:
            self._say_once("%r is drawn at random, in trial %d and further ones: %s.", param_name, trial.number, why)
        sampler = self._independent
        if sampler is None:
            rng = stream(self._options["seed"], trial.number, param_name)
            sampler = RandomSampler(seed=int(rng.integers(2**32)))
        return sampler.sample_independent(study, trial, param_name, param_distribution)

    def _say_once(self, text: str, name: str, *more: Any) -> None:
        if (text, name) not in self._said:
            self._said.add((text, name))
            _log.warning(text, name, *more)

    def _turn_to(self, study: Any) -> list[Any]:
        """The trials of ``study``, and what they share; another one is forgotten, and one that had its place before."""
        trials: list[Any] = study.get_trials(deepcopy=False)
        finished = {each.number: each for each in trials if each.state.is_finished()}
        known = self._storage is study._storage and self._study_id == study._study_id
        if not known or not self._counted <= finished.keys():
            self._forget(study._storage, study._study_id)
        for each in [finished[number] for number in finished.keys() - self._counted]:
            self._counted.add(each.number)
            if each.state == TrialState.COMPLETE or isinstance(self._returned(each), float):
                own = each.distributions
                shared = own if self._shared is None else self._shared
                self._shared = {name: shared[name] for name in sorted(shared) if own.get(name) == shared[name]}
        return trials

    def _door_to(self, searched: dict[str, Any], maximize: bool) -> _Door:
        """The last one, with the models that it keeps, while it leads to the same space."""
        door = self._door
        if door is None or door.distributions != searched or door.settings.maximize != maximize:
            space = Space({name: _parameter(each) for name, each in searched.items()})  # type: ignore[misc]
            settings = make_settings(space, maximize=maximize, **self._options)
            self._door = door = _Door(searched, settings, ModelCache(settings), _digest(settings))
        return door

    def _read(self, door: _Door, trials: Sequence[Any], number: int) -> tuple[list[_Seen], list[dict[str, Any]]]:
        """Trials with a point, but for that of ``number``; and what is fixed of those that earlier ones are to get."""
        known: list[_Seen] = []
        unseen: list[dict[str, Any]] = []
        _check_unconstrained([each for each in trials if each.number not in door.finished])
        for each in trials:
            if each.number == number:
                continue
            if each.number not in door.finished:
                point = door.point_of(each)
                is_whole = len(point) == len(door.distributions)
                if not each.state.is_finished():
                    if is_whole:
                        known.append(door.seen(each.number, point))
                    elif each.state == TrialState.RUNNING and each.number < number and _is_young(each):
                        unseen.append(point)
                    continue
                elsewhere = any(name in each.params and not door.inside(name, each.params) for name in point)
                returned = IGNORED if elsewhere else self._returned(each)
                door.finished[each.number] = door.seen(each.number, point, returned) if is_whole else None
                for name in sorted(door.distributions.keys() - each.params.keys()) if self._search_space else ():
                    self._say_once("%r of search_space was not asked for in trial %d.", name, each.number)
            if (seen := door.finished[each.number]) is not None:
                known.append(seen)
        return known, unseen

    def _returned(self, trial: Any) -> float | str:
        """Of a finished trial: a value, or why there is none."""
        if trial.state == TrialState.PRUNED and self._pruned == IGNORED:
            return IGNORED
        counts = trial.state == TrialState.COMPLETE or (trial.state == TrialState.PRUNED and self._pruned == "value")
        if counts and trial.values is not None and math.isfinite(trial.values[0]):
            return min(max(float(trial.values[0]), -LARGEST), LARGEST)
        return IGNORED if self._failed == IGNORED else str(trial.state.name)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A trial that has a point.

    Attributes
    ----------
    number : the trial's.
    point, unit : in our terms, and encoded.
    returned : a result, the reason why there is none, or None while there may be one.
    """

    number: int
    point: dict[str, Any]
    unit: Array
    returned: Outcome | str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Door:
    """From a search space of Optuna's to ours and back.

    Attributes
    ----------
    distributions : theirs, by name.
    settings, cache : ours.
    digest : of what the hyperparameters of a fit depend on.
    finished : trials that have ended, by number, which do not change; None for one without a point.
    """

    distributions: dict[str, Any]
    settings: StudySettings
    cache: ModelCache
    digest: str
    finished: dict[int, _Seen | None] = field(default_factory=dict)

    def to_optuna(self, name: str, value: Any) -> Any:
        """A value of ours: choices are known by their index, since theirs may be anything, equal ones too."""
        distribution = self.distributions[name]
        return distribution.choices[value] if isinstance(distribution, CategoricalDistribution) else value

    def inside(self, name: str, values: Mapping[str, Any], *, ours: bool = False) -> dict[str, Any]:
        """One of ``values``, in our terms or theirs; nothing if it is missing or outside, as of another range."""
        distribution = self.distributions[name]
        try:
            value = values[name]
            if isinstance(distribution, CategoricalDistribution) and not ours:
                value = int(distribution.to_internal_repr(value))
            return self.settings.space.check_fixed({name: value})
        except (KeyError, TypeError, ValueError):
            return {}

    def point_of(self, trial: Any) -> dict[str, Any]:
        """What is known of a trial's point: what it has, what is fixed of it, what its worker said it will get."""
        shown = {**(trial.system_attrs.get("fixed_params") or {}), **trial.params}
        said = trial.system_attrs.get(KEY, {}).get("point", {})
        point: dict[str, Any] = {}
        for name in self.distributions:
            point.update(self.inside(name, shown) or self.inside(name, said, ours=True))
        return point

    def seen(self, number: int, point: dict[str, Any], returned: float | str | None = None) -> _Seen:
        """A trial at a whole ``point``; what it ``returned``, if it did."""
        outcome = Outcome.of(returned) if isinstance(returned, float) else returned
        return _Seen(number, point, self.settings.space.encode([point])[0], outcome)

    def fit_behind(self, trials: Sequence[Any]) -> Fitted | None:
        """The hyperparameters that the last of them was chosen under; None where no fit is of these settings."""
        for trial in reversed(trials):
            fit = trial.system_attrs.get(KEY, {}).get("fit", {})
            if fit.get("of") == self.digest:
                return _unpacked(fit["ids"]), fit["model"]
        return None

    def chosen(
        self, known: Sequence[_Seen], unseen: Sequence[dict[str, Any]], fitted: Fitted | None, fixed: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A point with what is ``fixed`` of it, after those that others are about to get; and what to tell of it."""
        known = list(known)
        for held in (*unseen, fixed):
            history, proposal = self._proposed(known, fitted, held)
            point = proposal.batch[0].params
            known.append(self.seen(history.next_id, point))
        record: dict[str, Any] = {"point": point}
        if proposal.model is not None:
            record["fit"] = {"of": self.digest, "ids": _packed(history.ids), "model": proposal.model}
        return point, record

    def clashes(self, point: dict[str, Any], before: Sequence[_Seen], after: Sequence[_Seen]) -> list[int]:
        """Numbers of trials that got the same point in the meantime."""
        shown = {each.number: each.point for each in before}
        fresh = [each for each in after if shown.get(each.number) != each.point]
        if not fresh:
            return []
        space = self.settings.space
        same = space.region().among(np.array([each.unit for each in fresh]), space.encode([point]))
        return [each.number for each, is_same in zip(fresh, same, strict=True) if is_same]

    def _proposed(
        self, known: Sequence[_Seen], fitted: Fitted | None, held: Mapping[str, Any]
    ) -> tuple[History, Proposal]:
        """The next point, and the history it follows from; one that repeats another where no other is left."""
        history = self._history(known, fitted)
        try:
            return history, propose(self.settings, history, fixed=held, cache=self.cache)
        except SpaceExhausted:
            return history, propose(self.settings, history, fixed=held, distinct=False, cache=self.cache)
        except JournalError:
            if fitted is None:
                raise
            return self._proposed(known, None, held)  # what was kept of the last fit is damaged

    def _history(self, known: Sequence[_Seen], fitted: Fitted | None) -> History:
        """What ``History.of`` makes of them, without encoding each of them again for each suggestion."""
        ordered = sorted(known, key=lambda each: each.number)
        return history_of(
            self.settings,
            {each.number: each.unit for each in ordered},
            {each.number: each.returned for each in ordered if isinstance(each.returned, Outcome)},
            None,
            failed=[each.number for each in ordered if isinstance(each.returned, str) and each.returned != IGNORED],
            pending=[each.number for each in ordered if each.returned is None],
            queue=(),
            next_id=ordered[-1].number + 1 if ordered else 0,
            designed=len(ordered),
            fitted=fitted,
        )


def _parameter(distribution: Any) -> Float | Int | Categorical | None:
    """The same as a parameter of ours; None for a single value, and for a range wider than one of ours can be."""
    if distribution.single():
        return None
    try:
        if isinstance(distribution, CategoricalDistribution):
            return Categorical(range(len(distribution.choices)))
        kind = Float if isinstance(distribution, FloatDistribution) else Int
        return kind(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
    except InvalidInput:
        return None


def _check_one_objective(study: Any) -> None:
    if len(study.directions) > 1:
        raise InvalidInput(
            f"BelieverSampler takes studies with one objective; this one has {len(study.directions)}. "
            "Use NSGAIISampler or TPESampler for it."
        )


def _check_unconstrained(trials: Sequence[Any]) -> None:
    for each in trials:
        if each.constraints:
            raise InvalidInput(
                f"BelieverSampler takes studies without constraints; trial {each.number} has set "
                f"{', '.join(map(repr, each.constraints))}. Use GPSampler or TPESampler for it."
            )


def _is_young(trial: Any) -> bool:
    return trial.datetime_start is not None and abs(datetime.now() - trial.datetime_start) < ABOUT_TO_SHOW


def _digest(settings: StudySettings) -> str:
    config = settings.to_config()
    parts = {name: config[name] for name in ("space", "surrogate", "warp", "maximize")}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _tell_others(study: Any, trial: Any, record: dict[str, Any]) -> None:
    study._storage.set_trial_system_attr(trial._trial_id, KEY, record)


def _packed(ids: Sequence[int]) -> str:
    """Whole numbers from 0 on, as the bits of one."""
    return f"{sum(1 << i for i in ids):x}"


def _unpacked(bits: str) -> tuple[int, ...]:
    return tuple(i for i, bit in enumerate(reversed(f"{int(bits, 16):b}")) if bit == "1")
