"""A sampler for Optuna: running trials are pending points, whichever thread, process or machine runs them.

::

    study = optuna.create_study(sampler=BelieverSampler(seed=1))

Its suggestions depend only on its settings and on the storage: the hyperparameters of the last fit are kept there, too,
as system attributes of the trials. How workers share a storage without a lock is in
docs/decisions/021-workers-that-share-a-storage.md; the guide is docs/optuna.md.

The file is long because Optuna's interface is one class, and each of its methods reads the storage in the same way.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from believer.arrays import LARGEST, finite, whole
from believer.errors import InvalidInput, JournalError, MissingExtra, SpaceExhausted
from believer.plugins import (
    Acquisition,
    Array,
    Fitted,
    History,
    ModelCache,
    Outcome,
    Proposal,
    Strategy,
    StudySettings,
    Surrogate,
    propose,
    rehearse,
    stream,
)
from believer.space import Categorical, Float, Int, Space
from believer.study.goal import AtMost, Maximize, Minimize
from believer.study.goals import Goals
from believer.study.options import suggesting

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.trial import TrialState
except ImportError as error:
    raise MissingExtra("optuna", "optuna") from error

from believer.integrations.optuna_branches import Branches
from believer.integrations.optuna_studies import (
    coded_values,
    export_study,
    import_study,
    is_listed,
    limit_named,
    objective_named,
    watch_study,
)

__all__ = ["BelieverSampler", "export_study", "import_study", "watch_study"]

ABOUT_TO_SHOW = timedelta(seconds=30)
"""The seconds after which a running trial without a point counts as not being sampled, because its worker died or never
asks."""

MAX_ROUNDS = 100
"""In which two workers that chose the same point at the same moment choose again."""

KEY, IGNORED = "believer", "ignored"
"""Of our system attribute; and what a trial returned that is neither a result nor a failure: its point is taken."""

NOTES = "system attributes of believer"

LATER = 4096
"""The number of later trials that may have ended before a trial has its point."""

BranchValues: TypeAlias = dict[str, dict[str, list[Any]]]
"""For each parameter of a branch, the values of its parent with which trials ask for it."""

_log = logging.getLogger(__name__)


class BelieverSampler(BaseSampler):  # type: ignore[misc]
    """A sampler that suggests points which suit those of all running trials.

    Parameters that all finished trials have in common, with the same range, are chosen together. Parameters of branches
    are chosen with them: if the values of an earlier parameter decide whether a trial asks for another one, this is
    learned from finished trials. Other parameters, and those of the first trials, are drawn at random, one by one.
    Several objectives are optimized by their hypervolume. Constraints (``trial.set_constraint``) are used as soon as a
    finished trial has any; they hold if they are at most 0. Several threads may share a sampler. Several processes may
    share a study; each has a sampler of its own, preferably with the same seed.

    Parameters
    ----------
    strategy, surrogate, acquisition, warp, resolution : as for :class:`~believer.optimizer.Optimizer`.
    n_startup_trials : the number of results and running trials before the model chooses points; None for two for each
        parameter.
    seed : the random seed; None draws one.
    search_space : the distributions by name, if they are known in advance. The first trials then fill the space evenly
        and never repeat each other.
    pruned : how a pruned trial counts: "value" takes its last reported value as the result, "failed" counts it as
        failed, and "ignored" ignores it. With "value", a pruned trial without a value has failed.
    reference : the reference point of the hypervolume, with a value for each of several objectives; None infers it.
    failed : how a failed trial, NaN or an infinite result counts: "worst" takes the worst result, and "ignored" ignores
        it.
    independent_sampler : the sampler of parameters that are not chosen together; None draws them uniformly.
    """

    @suggesting
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
        reference: Sequence[float] | None = None,
        independent_sampler: Any = None,
        warp: str | None = None,
        resolution: float | None = None,
    ) -> None:
        if pruned not in ("value", "failed", "ignored"):
            raise InvalidInput(f'pruned must be "value", "failed" or "ignored"; got {pruned!r}.')
        if failed not in ("worst", "ignored"):
            raise InvalidInput(f'failed must be "worst" or "ignored"; got {failed!r}.')
        space = {} if search_space is None else search_space
        if not isinstance(space, Mapping) or not all(isinstance(each, BaseDistribution) for each in space.values()):
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
        rehearse(StudySettings.of(Space.cube(1), **self._options))
        if not isinstance(reference, Sequence | None):
            raise InvalidInput(f"reference must be a list with a value for each objective; got {reference!r}.")
        self._reference = None if reference is None else [finite(each, "reference") for each in reference]
        self._search_space = None if search_space is None else dict(search_space)
        self._pruned, self._failed, self._independent = pruned, failed, independent_sampler
        self._begin()

    def _begin(self) -> None:
        """Begin without a study."""
        self._lock = threading.Lock()
        self._said: set[tuple[str, str]] = set()
        self._searched: dict[str, Any] = {}
        self._forget(None, None)

    def _forget(self, storage: Any, study_id: int | None) -> None:
        """Forget another study, and turn to this one."""
        self._storage, self._study_id = storage, study_id
        self._door: _Door | None = None
        self._counted: dict[int, datetime] = {}  # trials that have ended, and when they ended
        self._first_open = 0  # all trials before this one have ended
        self._limits: set[str] = set()  # names of constraints
        self._branches = Branches(is_listed)
        self._found: tuple[dict[str, Any], BranchValues] = ({}, {})

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock and the models, which a copy fits again."""
        return {
            k: getattr(self, k)
            for k in ("_options", "_reference", "_search_space", "_pruned", "_failed", "_independent")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def reseed_rng(self) -> None:
        """Reseed the independent sampler only: the seed and a trial's number determine everything else."""
        if self._independent is not None:
            self._independent.reseed_rng()

    def before_trial(self, study: Any, trial: Any) -> None:
        """The independent sampler may prepare for ``trial`` of ``study``."""
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(self, study: Any, trial: Any, state: Any, values: Sequence[float] | None) -> None:
        """The independent sampler may see the ``state`` and ``values`` with which ``trial`` of ``study`` ended."""
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)

    def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
        """The parameters chosen together for ``trial``: as given in advance, or learned from finished trials."""
        shared = self._search_space
        if shared is None:
            with self._lock:
                self._turn_to(study)
                shared = self._found[0]
        return self._ours(shared)

    def _ours(self, distributions: Mapping[str, Any]) -> dict[str, Any]:
        """Those from which we can choose."""
        if distributions != self._searched:
            self._searched = {name: each for name, each in distributions.items() if _parameter(each) is not None}
            distributions = self._searched
        return dict(distributions)

    def sample_relative(self, study: Any, trial: Any, search_space: dict[str, Any]) -> dict[str, Any]:
        """A point for ``trial`` of ``study`` in ``search_space``; it is announced to other workers before it is
        returned."""
        searched = self._ours(search_space)
        with self._lock:
            trials = self._turn_to(study)
            if not searched:
                return {}
            door = self._door_to(searched, [each.name == "MAXIMIZE" for each in study.directions])
            given = door.look(trial)
            fixed = point = given.point
            again = list[dict[str, Any]]()
            for _ in range(MAX_ROUNDS if given.encoded is None else 0):
                before, unseen = self._read(door, trials, trial.number)
                point, record = self._chosen(door, before, unseen + again, door.fit_behind(trials), fixed)
                study._storage.set_trial_system_attr(trial._trial_id, KEY, record)
                trials = study.get_trials(deepcopy=False)
                clashes = door.clashes(point, before, self._read(door, trials, trial.number)[0])
                if not clashes:
                    break
                again = [{} for number in clashes if number < trial.number]  # they may choose again, too
        return {name: searched[name].to_external_repr(value) for name, value in point.items()}

    def _chosen(self, door: _Door, known: Any, unseen: Any, fitted: Fitted | None, fixed: Any) -> Any:
        """The chosen point; it is chosen without the last fit if that is damaged in the storage."""
        try:
            return door.chosen(known, unseen, fitted, fixed)
        except JournalError:
            if fitted is None:
                raise
            self._say_once(
                "%s have a fit that is damaged, noted before trial %d: it is left out.", NOTES, max(fitted[0])
            )
            return door.chosen(known, unseen, None, fixed)

    def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
        """A value of ``param_name`` alone, from ``param_distribution``, for ``trial`` of ``study``."""
        why = (
            "only search_space, or what all finished trials or all of a branch have with one range, is chosen together"
        )
        if not_ours := _parameter(param_distribution) is None:
            why = "its range is too wide, its step too small, or its choices are too many"
        is_nothing_shared = len(self._branches) > 0 and not self._found[0]
        if not_ours or KEY in trial.system_attrs or is_nothing_shared:  # else it began before anything was shared
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
        """The trials of ``study`` and their common parameters. The state of another study is dropped, and so is that of
        an earlier study with the same id."""
        trials: list[Any] = study.get_trials(deepcopy=False)  # by number
        last, ended = next(reversed(self._counted.items()), (0, None))
        known = self._storage is study._storage and self._study_id == study._study_id
        if not known or (ended and [each.datetime_complete for each in trials[last : last + 1]] != [ended]):
            self._forget(study._storage, study._study_id)
        counted, since = self._counted, trials[self._first_open :]
        fresh = [each for each in since if each.number not in counted and each.state.is_finished()]
        before = len(self._branches)
        for each in fresh:
            self._limits |= each.constraints.keys()
            self._counted[each.number] = each.datetime_complete
            if each.state == TrialState.COMPLETE or isinstance(self._returned(each), list):
                self._branches.add(each.number, each.distributions, coded_values(each))
        while self._first_open in counted:
            self._first_open += 1
        if len(self._branches) > before:
            self._found = self._branches.found()
        return trials

    def _door_to(self, searched: dict[str, Any], maximize: list[bool]) -> _Door:
        """The last one, with the models that it keeps, while it leads to the same space and the same outcomes."""
        door, wanted = self._door, dict[str, Any]()
        if len(maximize) > 1 or self._limits:
            wanted = {objective_named(i): Maximize() if more else Minimize() for i, more in enumerate(maximize)}
            wanted |= {limit_named(name): AtMost(0.0) for name in sorted(self._limits)}
        goals = Goals(wanted) if wanted else Goals.plain(maximize[0])
        rules = {name: when for name, when in self._found[1].items() if {name, *when} <= searched.keys()}
        if door is None or (door.distributions, door.rules) != (searched, rules) or door.settings.goals != goals:
            space = Space({name: _parameter(each, rules.get(name)) for name, each in searched.items()})  # type: ignore[misc]
            aim: dict[str, Any] = {"outcomes": goals.wanted}
            if self._reference is not None and len(maximize) > 1:
                if len(self._reference) != len(maximize):
                    raise InvalidInput(f"reference must have {len(maximize)} values; got {len(self._reference)}.")
                aim["reference"] = {objective_named(i): value for i, value in enumerate(self._reference)}
            settings = StudySettings.of(space, **aim, **self._options)
            if wanted:
                rehearse(settings)  # what cannot weigh several outcomes is refused before any of them is paid for
            config = settings.to_config()
            parts = {name: config.get(name) for name in ("space", "surrogate", "warp", "outcomes")}
            digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
            self._door = door = _Door(searched, rules, settings, ModelCache(settings), digest)
        return door

    def _read(self, door: _Door, trials: Sequence[Any], number: int) -> tuple[list[_Seen], list[dict[str, Any]]]:
        """The trials with a point, except ``number``, and the fixed values of the points that earlier trials will
        get."""
        known, unseen, recent = list(door.known), list[dict[str, Any]](), datetime.now() - ABOUT_TO_SHOW
        for each in trials[door.settled :]:
            seen = door.seen.get(each.number)
            if seen is None or seen.returned is None:
                is_own, before = each.number == number, seen
                seen = seen if is_own else door.look(each, self._returned(each))
                if (is_own or seen is not before) and KEY in each.system_attrs and not _noted(each):
                    self._say_once(
                        "%s of trial %d are damaged: they are left out, there and elsewhere.", NOTES, each.number
                    )
                if is_own or seen is None:
                    continue
                if self._search_space and seen.returned is not None:
                    for name in sorted({*seen.point} - each.params.keys()):
                        self._say_once("%r of search_space was not asked for in trial %d.", name, each.number)
            if door.settled == each.number and seen.returned is not None:
                door.settled += 1
                door.known += [seen] if seen.encoded is not None else []
            if seen.encoded is not None:
                known.append(seen)
            elif each.number < number and each.state == TrialState.RUNNING and each.datetime_start > recent:
                unseen.append(seen.point)
        return known, unseen

    def _returned(self, trial: Any) -> list[float] | str | None:
        """The values of a finished trial, or the reason why there are none."""
        if not trial.state.is_finished():
            return None
        if trial.state == TrialState.PRUNED and self._pruned == IGNORED:
            return IGNORED
        counts = trial.state == TrialState.COMPLETE or (trial.state == TrialState.PRUNED and self._pruned == "value")
        if counts and math.inf in trial.constraints.values():  # violated by an unknown amount, which cannot be learned
            return "an infinite constraint"
        if counts and trial.values is not None and all(map(math.isfinite, trial.values)):
            return [_bounded(value) for value in trial.values]
        return IGNORED if self._failed == IGNORED else str(trial.state.name)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A trial: its point as ``shown`` in the storage, in our terms as far as it is known, and encoded if it is
    complete.

    ``returned``: a result, the reason why there is none, or None while there may be one.
    """

    number: int
    shown: Any
    point: dict[str, Any]
    encoded: Array | None
    returned: Outcome | str | None


@dataclass(slots=True, eq=False)
class _Door:
    """The conversion of Optuna's search space, with ``rules`` for its branches, to ours; ``seen`` has the trials by
    number, as they were last read.

    ``digest``: of everything on which the hyperparameters of a fit depend. ``settled``: all trials before this number
    have ended, and ``known`` are those with a point; they are not read again. ``behind``: the results behind the last
    fit, as stored in a note and by number.
    """

    distributions: dict[str, Any]
    rules: BranchValues
    settings: StudySettings
    cache: ModelCache
    digest: str
    seen: dict[int, _Seen] = field(default_factory=dict)
    settled: int = 0
    known: list[_Seen] = field(default_factory=list)
    behind: tuple[str, tuple[int, ...]] = ("", ())

    def inside(self, name: str, values: Mapping[str, Any], *, ours: bool = False) -> dict[str, Any]:
        """One of ``values``, in our terms or Optuna's; nothing if it is missing or outside the range.

        Choices are known by their index, since theirs may be anything, equal ones too.
        """
        distribution = self.distributions[name]
        try:
            value = values[name]
            if isinstance(distribution, CategoricalDistribution) and not ours:
                value = int(distribution.to_internal_repr(value))
            return self.settings.space.check_fixed({name: value})
        except (KeyError, TypeError, ValueError, OverflowError):
            return {}

    def look(self, trial: Any, returned: list[float] | str | None = None) -> _Seen:
        """The known part of a trial's point: its parameters, those fixed in advance, those announced by its worker."""
        last = self.seen.get(trial.number)
        if last is not None and returned is None and last.shown == (trial.params, trial.system_attrs):
            return last
        shown = dict(trial.params), dict(trial.system_attrs)
        fixed = trial.system_attrs.get("fixed_params")
        has = {**(fixed if isinstance(fixed, dict) else {}), **trial.params}
        said = _noted(trial).get("point", {})
        point: dict[str, Any] = {}
        for name in self.distributions:
            value = self.inside(name, has)
            point.update(value or self.inside(name, said, ours=True))
            if returned is not None and name in trial.params and not value:
                returned = IGNORED  # it belongs to another point
        space = self.settings.space
        counting = space.trimmed(point)
        is_whole = len(counting) == len(space.present(counting))
        point = counting if is_whole else space.compatible(point)
        encoded = space.encode([point])[0] if is_whole else None
        outcome = self._outcome(trial, returned) if isinstance(returned, list) else returned
        self.seen[trial.number] = seen = _Seen(trial.number, shown, point, encoded, outcome)
        return seen

    def _outcome(self, trial: Any, values: list[float]) -> Outcome:
        if self.settings.goals.is_plain:
            return Outcome.of(values[0])
        limits = {limit_named(name): _bounded(g) for name, g in trial.constraints.items() if math.isfinite(g)}
        return Outcome({objective_named(i): value for i, value in enumerate(values)}, limits)

    def fit_behind(self, trials: Sequence[Any]) -> Fitted | None:
        """The hyperparameters behind the last suggestion; None if no trial has any for these settings."""
        for trial in reversed(trials):
            fit = _noted(trial).get("fit", {})
            if fit.get("of") == self.digest:
                if self.behind[0] != fit["ids"]:
                    bits = reversed(f"{int(fit['ids'], 16):b}")
                    self.behind = fit["ids"], tuple(i for i, bit in enumerate(bits) if bit == "1")
                return self.behind[1], fit["model"]
        return None

    def chosen(
        self, known: Sequence[_Seen], unseen: Sequence[dict[str, Any]], fitted: Fitted | None, fixed: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """A point with the ``fixed`` values, given the points of other workers, and the note about it."""
        guessed = list(known)
        for given in unseen:
            history, proposal = self.proposed(guessed, fitted, given)
            point = proposal.trials[0].params
            guessed.append(_Seen(history.next_id, None, point, self.settings.space.encode([point])[0], None))
        history, proposal = self.proposed(guessed, fitted, fixed)
        point = proposal.trials[0].params
        record: dict[str, Any] = {"point": point}
        if proposal.model is not None:
            self.behind = f"{sum(map((1).__lshift__, history.ids)):x}", history.ids  # shorter than a list
            record["fit"] = {"of": self.digest, "ids": self.behind[0], "model": proposal.model}
        return point, record

    def proposed(
        self, known: Sequence[_Seen], fitted: Fitted | None, fixed: dict[str, Any]
    ) -> tuple[History, Proposal]:
        """A point with its ``fixed`` values, and what is known when it is chosen."""
        history = self.history(known, fitted)
        try:
            return history, propose(self.settings, history, fixed=fixed, cache=self.cache)
        except SpaceExhausted:
            return history, propose(self.settings, history, fixed=fixed, distinct=False, cache=self.cache)

    def clashes(self, point: dict[str, Any], before: Sequence[_Seen], after: Sequence[_Seen]) -> list[int]:
        """The numbers of trials that got the same point in the meantime."""
        if before == after:  # the very same
            return []
        shown, space = {each.number: each.point for each in before}, self.settings.space
        fresh = [each for each in after if shown.get(each.number) != each.point]
        same = (space.region().among(space.encode([each.point]), space.encode([point]))[0] for each in fresh)
        return [each.number for each, is_same in zip(fresh, same, strict=True) if is_same]

    def history(self, known: Sequence[_Seen], fitted: Fitted | None) -> History:
        """The same as ``History.of``, without encoding every trial again for each suggestion.

        A constraint that a trial has not set gets a lie, like those of running trials.
        """
        goals = self.settings.goals
        points, results = dict[int, Array](), dict[int, Outcome]()
        failed, pending = list[int](), list[int]()
        for each in known:
            if each.encoded is not None:
                points[each.number] = each.encoded
            if isinstance(each.returned, Outcome):
                results[each.number] = each.returned
            elif each.returned is None:
                pending.append(each.number)
            elif each.returned != IGNORED:
                failed.append(each.number)
        if not goals.is_plain:
            pending += [number for number, result in results.items() if goals.missing(result)]
        return History.encoded(self.settings, points, results, failed, pending, fitted=fitted)


def _parameter(distribution: Any, when: Any = None) -> Float | Int | Categorical | None:
    """The same as a parameter of ours, with its condition; None for a single value, and for a range wider than one of
    ours can be.
    """
    if distribution.single():
        return None
    try:
        if isinstance(distribution, CategoricalDistribution):
            return Categorical(range(len(distribution.choices)), when=when)
        kind = Float if isinstance(distribution, FloatDistribution) else Int
        return kind(distribution.low, distribution.high, log=distribution.log, step=distribution.step, when=when)
    except InvalidInput:
        return None


def _noted(trial: Any) -> dict[str, Any]:
    """A worker's note about a trial in the storage; empty if it is damaged, since anyone may write there."""
    noted = trial.system_attrs.get(KEY)
    if not isinstance(noted, dict) or not isinstance(noted.get("point"), dict):
        return {}
    if "fit" not in noted:
        return noted
    fit = noted["fit"]
    is_whole = (
        isinstance(fit, dict)
        and isinstance(fit.get("model"), dict)
        and all(isinstance(fit.get(it), str) for it in ("of", "ids"))
    )
    # The numbers of trials as bits: of earlier ones, and of later ones that ended before this one had its point.
    return noted if is_whole and re.fullmatch(f"[0-9a-f]{{1,{(trial.number + LATER) // 4 + 1}}}", fit["ids"]) else {}


def _bounded(value: float) -> float:
    return min(max(float(value), -LARGEST), LARGEST)
