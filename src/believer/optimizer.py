"""Ask and tell: the one object that changes, and only by events that are durable before a call returns.

Every call first checks its input, then writes one event to the journal, then folds the event into the ledger; what an
ask hands out is for :func:`~believer.propose.propose` to say. Loading folds the same events again, so a loaded
optimizer is the one that was saved. Calls of several threads come one after the other; one that an exception ends
half-way is made good by the next, so that file and memory always agree.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Self

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import shown
from believer.batch import Strategy
from believer.capabilities import able
from believer.errors import InvalidInput, JournalCorrupt, JournalError, TrialError
from believer.maximize import Maximizer
from believer.propose import propose, rehearse
from believer.space import Constraint, Space
from believer.study import serialization
from believer.study.events import Abandoned, Amended, Asked, Begun, Enqueued, Event, Failed, Observed, Told, Upgraded
from believer.study.files import PathLike, as_path, explained, followed
from believer.study.formats import FORMAT
from believer.study.goals import Goal
from believer.study.insight import Insight
from believer.study.journal import Journal, is_begun, read_events, write_events
from believer.study.ledger import Ledger
from believer.study.model_cache import ModelCache, verified_fit
from believer.study.outcome import ONLY, Noise, Outcome, Value, aligned, outcome_of
from believer.study.recommendation import Front, Recommendation
from believer.study.settings import FORMER, StudySettings, make_settings, settings_from_config, versions
from believer.study.study import Study, changing, reading
from believer.study.trials import Batch, Trial, same_params
from believer.surrogates.protocols import Prediction, Surrogate, Verifiable


class Optimizer(Study):
    """Batch Bayesian optimization: ``ask`` for points, ``tell`` what they returned.

    Threads may share one: their calls are taken one after the other.

    Parameters
    ----------
    space : where to search.
    surrogate : the model's recipe, a value or a name ("gp", "forest", ...); default the Gaussian process.
    acquisition : what makes a point worth an experiment, a value or a name ("LogEI", "EI", ...); default LogEI.
    strategy : how q points are chosen together, a name ("kb", "qei", ...) or a value; default "hedged", and where
        outcomes are declared "kb".
    n_init : results or pending trials before the model takes over; default twice the number of parameters.
    seed : the same seed and the same calls give the same suggestions, per processor and BLAS; None draws one.
    journal : a path; every event is written there before its call returns.
    maximize : the objective is to be maximized, not minimized.
    maximizer : how the acquisition is maximized; default what suits the model.
    warp : "auto" (default): where results have a heavy tail on the bad side, and are more likely so, the model learns
        from a warp of them (:mod:`~believer.surrogates.warp`) that leaves the better half as it is; or "none".
    resolution : the least improvement that matters, in units of the objective. Where no more is to be expected, points
        are chosen elsewhere. By default a ten-thousandth of the distance from the mean result to the best. Where
        outcomes are declared it only counts in verdicts.
    outcomes : what evaluations return, where that is more than one number: for each name ``Minimize()``,
        ``Maximize()``, ``AtLeast(...)``, ``AtMost(...)``, ``Between(...)`` or ``Desirability(...)``.
    reference : of several objectives, a value for each that every point worth having beats; hypervolumes are measured
        from there. By default the worst of all results, or a tenth of the front's range beyond it.
    """

    def __init__(
        self,
        space: Space,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        strategy: str | Strategy | None = None,
        n_init: int | None = None,
        seed: int | None = 0,
        journal: PathLike | None = None,
        maximize: bool = False,
        maximizer: Maximizer | None = None,
        warp: str | None = None,
        resolution: float | None = None,
        outcomes: Mapping[str, Goal] | None = None,
        reference: Mapping[str, float] | None = None,
    ) -> None:
        if journal is not None:
            as_path(journal, "a journal")
        parts = (space, surrogate, acquisition, strategy, maximizer, n_init, seed, maximize, warp, resolution)
        settings = make_settings(*parts, outcomes, reference)
        rehearse(settings)
        begun = Begun(FORMAT, settings.to_config(), versions())
        self._start(settings, [begun], None if journal is None else Journal.create(journal, begun))

    def _start(self, settings: StudySettings, events: list[Event], journal: Journal | None) -> None:
        """Nothing learnt yet, and the ledger of ``events``, which ``journal`` holds."""
        super().__init__(
            Ledger.of(events, settings.space, settings.sign, settings.goals),
            None if journal is None else str(journal.path),
        )
        self._settings, self._cache, self._journal = settings, ModelCache(settings), journal
        self._doubt: tuple[int, int, Event] | None = None

    @classmethod
    def open(
        cls,
        path: PathLike,
        space: Space,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        strategy: str | Strategy | None = None,
        n_init: int | None = None,
        seed: int | None = 0,
        maximize: bool = False,
        maximizer: Maximizer | None = None,
        warp: str | None = None,
        resolution: float | None = None,
        outcomes: Mapping[str, Goal] | None = None,
        reference: Mapping[str, float] | None = None,
    ) -> Self:
        """The study in the journal at ``path``, begun if there is none yet: a script that does so can be run again.

        Raises :class:`InvalidInput` when the journal holds a study with other settings.

        Parameters
        ----------
        path : of the journal.
        space, surrogate, acquisition, strategy, n_init, seed, maximize, maximizer : those of the constructor.
        warp, resolution, outcomes, reference : those of the constructor.
        """
        parts, more = (space, surrogate, acquisition, strategy), (warp, resolution, outcomes, reference)
        if not is_begun(path):
            return cls(*parts, n_init, seed, path, maximize, maximizer, *more)
        wanted = make_settings(*parts, maximizer, n_init, seed, maximize, *more)
        journal, events = Journal.open(path)
        try:
            begun, config = events[0], wanted.to_config()
            assert isinstance(begun, Begun)
            study = cls._from_events(events, journal, *_custom_parts(begun, wanted), space.constraint)
            found = study.settings.to_config()
            named = {"surrogate": None if surrogate == "gp" else surrogate, "strategy": strategy, "warp": warp}
            former = [name for name, given in named.items() if given is None and found[name] == FORMER[name]]
            former += ["resolution"] if resolution is None else []
            config |= {name: found[name] for name in former}
            names = config.keys() | found.keys()
            other = [n for n in sorted(names) if config.get(n) != found.get(n) and (n, seed) != ("seed", None)]
            if other:
                raise InvalidInput(
                    f"the journal {os.fspath(path)} belongs to a study with other settings ({', '.join(other)}): "
                    "pass the same ones to go on with it, or another path to start anew."
                )
            return study
        except BaseException:
            journal.close()
            raise

    @property
    def settings(self) -> StudySettings:
        """What it was made with."""
        return self._settings

    @changing
    def ask(
        self,
        q: int = 1,
        *,
        strategy: str | Strategy | None = None,
        fixed: Mapping[str, Any] | None = None,
        distinct: bool = True,
        repeat: bool = False,
    ) -> Batch:
        """``q`` trials to evaluate now, good together and together with those still pending.

        Raises :class:`SpaceExhausted` when a finite space has fewer than q distinct points left.

        Parameters
        ----------
        q : how many.
        strategy : another one than the optimizer's, for this call.
        fixed : parameters held at a value.
        distinct : no point equals another of the batch, a pending one or one of the history (1e-6 of the encoded cube).
        repeat : where results are noisy, a point is measured again if that is worth more than a new one; provenance
            says so (:mod:`~believer.batch.repeat`). Lies do so, of one objective; others refuse.
        """
        history = self._ledger.history(self.settings)
        proposal = propose(
            self.settings,
            history,
            q,
            strategy=strategy,
            fixed=fixed,
            distinct=distinct,
            repeat=repeat,
            cache=self._cache,
        )
        verdict = proposal.judged()
        self._record(proposal.event())
        return Batch(tuple(self._ledger.trials[trial.id].copy() for trial in proposal.trials), verdict)

    @reading
    def predict(self, points: Iterable[Mapping[str, Any]], outcome: str | None = None) -> Prediction:
        """Mean and std (m,) of the objective, without noise, in the user's units, from results so far.

        Where the model learns from warped results (``warp``) what it expects is no Gaussian: then ``mean`` is the
        median and ``std`` half the width of the interval that holds the value with a chance of 68.3 %. Failed trials
        count as the worst result, as they do for suggestions; not where outcomes are declared.

        Parameters
        ----------
        points : a list of params.
        outcome : which one, where outcomes are declared; None is the only objective.
        """
        if not self._ledger.outcomes:
            raise InvalidInput("predict needs at least one result; tell or observe one first.")
        try:
            rows = list(points)
        except TypeError as error:
            raise InvalidInput(f"predict needs a list of params; got {shown(points)}.") from error
        if isinstance(points, Mapping):
            raise InvalidInput(f"predict needs a list of params, [params]; got one, {dict(points)}.")
        return self._insight.predict(self.space.encode(rows), outcome)

    @property
    def _insight(self) -> Insight:
        return Insight(self.settings, self._ledger.history(self.settings), self._cache)

    @reading
    def recommend(self) -> Recommendation:
        """The evaluated point to use in the end, with what the model expects there.

        Where the model takes results to be noisy, the point with the best expected value: the best result, ``best``, is
        partly luck then. Otherwise the best result's. Of points within all limits, as surely as these ask, where
        outcomes are declared; of several objectives there is no best, and ``front`` has the points to choose from.
        """
        if not self._ledger.outcomes:
            raise InvalidInput("recommend needs at least one result; tell or observe one first.")
        return self._insight.recommend(self._ledger)

    @property
    @reading
    def front(self) -> Front:
        """Of several objectives: the results within all limits that no other such result beats in every objective."""
        return self._insight.front(self._ledger)

    @property
    @reading
    def hypervolume(self) -> float:
        """Of several objectives: how much the front dominates up to the reference point, ``front.reference``."""
        return self._insight.front(self._ledger).hypervolume

    @changing
    def tell(
        self,
        trial: Trial | int | Mapping[str, Any],
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
    ) -> None:
        """The result of a trial.

        Where outcomes are declared, what is still missing may be told later: models learn from what is there.

        Parameters
        ----------
        trial : the trial, its id, or the params of one that is pending.
        value : a number, an :class:`Outcome`, or where outcomes are declared a dict with a number for each, or a list
            of replicates. NaN and infinities mark a failed evaluation; of one outcome among several, that one is lost
            and the trial has failed, but what else it returned is kept and learned from.
        noise : the known standard deviation of the number; of several, by name.
        error : why there is no value, for a failed evaluation.
        """
        self._record(self._answer(trial, value, noise, error))

    @changing
    def tell_many(
        self,
        trials: Iterable[Trial | int | Mapping[str, Any]],
        values: Iterable[Value],
        noise: Iterable[Noise | None] | None = None,
    ) -> None:
        """Results of several trials; nothing is taken in when one of them is wrong.

        Parameters
        ----------
        trials : each as for :meth:`tell`.
        values : one for each trial.
        noise : the known standard deviations of the values, one each.
        """
        try:
            answered, found = [*trials], [*values]
            stds: Sequence[Noise | None] = [None] * len(answered) if noise is None else [*noise]
        except TypeError as error:
            raise InvalidInput(f"tell_many needs a list of trials and a list of values; {error}.") from error
        if not len(answered) == len(found) == len(stds):
            raise InvalidInput(f"tell_many needs one value for each trial; got {len(answered)} and {len(found)}.")
        events: list[Told | Failed] = []
        for trial, value, std in zip(answered, found, stds, strict=True):
            events.append(self._answer(trial, value, std, None, events))
        ids = [event.id for event in events]
        if len(set(ids)) < len(ids):
            raise TrialError(f"each trial may be told once; got ids {ids}.")
        for event in events:
            self._record(event)

    def _answer(
        self,
        trial: Trial | int | Mapping[str, Any],
        value: Value | None,
        noise: Noise | None,
        error: str | None,
        before: Sequence[Told | Failed] = (),
    ) -> Told | Failed:
        """The event of an answer that comes after those ``before`` it in the same call."""
        answered = {event.id for event in before}
        names = frozenset(value) if isinstance(value, Mapping) else frozenset[str]()
        found = self._waiting_at(trial, answered, names) if isinstance(trial, Mapping) else self._own(trial)
        status = self._ledger.status(found.id)
        if status in ("done", "failed"):
            raise TrialError(
                f"trial {found.id} already has its result ({status}); a result is told once, and amended by amend.",
                found.id,
            )
        first = next((event.outcome for event in before if isinstance(event, Told)), None)
        outcome = self._outcome(value, noise, error, None if first is None else tuple(first.objectives))
        known = self._ledger.outcomes.get(found.id)
        if known is not None and isinstance(outcome, Outcome):
            known.with_more(outcome)  # InvalidInput for what is there already
        return Failed(found.id, outcome) if isinstance(outcome, str) else Told(found.id, outcome)

    def _own(self, trial: Trial | int) -> Trial:
        """The trial of this study; TrialError for one of another."""
        found = self._ledger.find(trial)
        if isinstance(trial, Trial) and trial.unit is not found.unit and not np.array_equal(trial.unit, found.unit):
            raise TrialError(
                f"trial {trial.id} of this study has other parameters; is it from another study?", trial.id
            )
        return found

    def _waiting_at(self, params: Mapping[str, Any], answered: set[int], names: Set[str]) -> Trial:
        """The first trial with these params that waits for an answer: a pending one, else one that was abandoned.

        One that has outcomes of these ``names`` already comes last.
        """
        settled, ledger = self.space.check(params), self._ledger
        waiting = (*ledger.pending, *(ledger.trials[i] for i in sorted(ledger.abandoned)))
        found = [trial for trial in waiting if trial.id not in answered and same_params(trial.params, settled)]
        if found:
            return min(
                found, key=lambda t: t.id in ledger.outcomes and not names.isdisjoint(ledger.outcomes[t.id].names)
            )
        raise TrialError(
            f"no pending trial has the params {settled}; a result from elsewhere is for observe(params, ...)."
        )

    def _outcome(
        self, value: Value | None, noise: Noise | None, error: str | None, names: tuple[str, ...] | None = None
    ) -> Outcome | str:
        goals = self.settings.goals
        if isinstance(value, Mapping) and goals is None:
            raise InvalidInput(
                f"numbers by name are for a study that declares them, outcomes={{...}}; got {shown(value)}."
            )
        outcome, names = outcome_of(value, noise, error), self._ledger.objectives or names
        if isinstance(outcome, str):
            return outcome
        if goals is not None:
            if not isinstance(value, Mapping | Outcome):
                raise InvalidInput(f"this study has outcomes by name, {', '.join(goals.wanted)}; got {shown(value)}.")
            return goals.arranged(outcome)
        return outcome if outcome is not value and names in (None, (ONLY,)) else aligned(outcome, names)

    @changing
    def amend(
        self,
        trial: Trial | int,
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
    ) -> None:
        """Correct what was told of a trial: this stands in its place, and ``events`` has both.

        Of declared outcomes those that are not named stay as they were told; with ``error`` nothing does.

        Parameters
        ----------
        trial : the trial, or its id; one that has a result, a part of one, or a failure.
        value, noise, error : as for :meth:`tell`.
        """
        found = self._own(trial)
        known = self._ledger.outcomes.get(found.id)
        if known is None and found.id not in self._ledger.errors:
            raise TrialError(f"trial {found.id} has no result that could be amended; tell it.", found.id)
        if self.settings.goals is None and len(self._ledger.outcomes) == 1 and found.id in self._ledger.outcomes:
            outcome = outcome_of(value, noise, error)  # the only result says how objectives are called
        else:
            outcome = self._outcome(value, noise, error)
        if isinstance(outcome, str):
            self._record(Amended(found.id, None, outcome))
            return
        if self.settings.goals is not None and known is not None:
            outcome = outcome.and_of(known)
        self._record(Amended(found.id, outcome, None))

    @changing
    def observe(
        self,
        params: Mapping[str, Any],
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
    ) -> Trial:
        """A result from elsewhere; counts towards ``n_init``.

        The constraint is not asked: data are data.

        Parameters
        ----------
        params : the point in the user's terms.
        value, noise, error : as for :meth:`tell`.
        """
        settled, outcome, trial_id = self.space.check(params), self._outcome(value, noise, error), self._ledger.next_id
        if isinstance(outcome, str):
            self._record(Observed(trial_id, settled, None, outcome))
        else:
            self._record(Observed(trial_id, settled, outcome, None))
        return self._ledger.trials[trial_id].copy()

    @changing
    def enqueue(self, params: Mapping[str, Any]) -> None:
        """A point that the user wants next: the next ask hands it out first, even if it repeats another."""
        settled = self.space.check(params)
        if not self.space.allows(settled):
            raise InvalidInput(f"the space's constraint does not allow {settled}.")
        self._record(Enqueued(settled))

    @changing
    def abandon(self, trial: Trial | int) -> None:
        """Stop waiting for a trial (its worker died); a result that still arrives is accepted.

        The point stays in the history, so it is not proposed again; ``enqueue`` it to retry.
        """
        found = self._ledger.find(trial)
        status = self._ledger.status(found.id)
        if status in ("done", "failed"):
            raise TrialError(
                f"trial {found.id} already has its result ({status}); there is nothing to abandon.", found.id
            )
        if status in ("pending", "partial"):
            self._record(Abandoned(found.id))

    @reading
    def save(self, path: PathLike) -> None:
        """Write the whole study to a journal at ``path``, atomically; an earlier state of this study is replaced.

        Raises :class:`JournalError` when the file there is anything else.
        """
        with explained("write", as_path(path, "a journal"), "Choose another path."):
            target = followed(path)
            taken = os.path.exists(target) and os.stat(target).st_size > 0
        if self._journal is not None and target == str(self._journal.path):
            return
        if taken:
            try:
                found = read_events(target)
            except JournalError:
                found = []
            if not found or found != self._ledger.events[: len(found)]:
                raise JournalError(f"{path} exists and is not an earlier state of this study; choose another path.")
        write_events(target, self._ledger.events)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        strategy: str | Strategy | None = None,
        constraint: Constraint | None = None,
        maximizer: Maximizer | None = None,
        append: bool = True,
    ) -> Self:
        """The study in the journal at ``path``, ready to go on; further events are appended to it.

        What is not the library's own is passed again, and checked by name. No fit is run.

        Parameters
        ----------
        path : of the journal.
        surrogate, acquisition, strategy, maximizer : those of the constructor, where they are not the library's own.
        constraint : the space's, where it has one.
        append : False only reads the file, without its lock, and goes on in memory.
        """
        journal, events = Journal.open(as_path(path, "a journal")) if append else (None, read_events(as_path(path)))
        try:
            return cls._from_events(events, journal, surrogate, acquisition, strategy, maximizer, constraint)
        except BaseException:
            if journal is not None:
                journal.close()
            raise

    @classmethod
    def _from_events(cls, events: list[Event], journal: Journal | None, *passed: Any) -> Self:
        begun = events[0]
        assert isinstance(begun, Begun)
        settings = _settings(begun, *passed)
        if able(settings.surrogate, Verifiable):
            _verify_fits(events, settings.surrogate, settings.space.dim, settings.goals is not None)
        study = cls.__new__(cls)
        study._start(settings, events, journal)
        return study

    @changing
    def close(self) -> None:
        """Release the journal; the optimizer can still be read, not changed."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, event: Event) -> None:
        if self._ledger.format < FORMAT and not isinstance(event, Upgraded):
            self._record(Upgraded(FORMAT, versions()))
        self._doubt = (len(self._ledger.events), 0 if self._journal is None else self._journal.end, event)
        try:
            if self._journal is not None:
                self._journal.append(event)
            self._ledger.apply(event)
            self._doubt = None
        except BaseException:  # an interrupt may come between any two lines
            self._settle()
            raise

    def _settle(self) -> None:
        """After a call that was broken off: the ledger of the events that are in the journal, and of no other."""
        if self._doubt is None:
            return
        count, end, event = self._doubt
        events = self._ledger.events
        if self._journal is not None:
            events = events[:count] + ([event] if self._journal.end > end else [])
        self._ledger = Ledger.of(events, self.space, self.settings.sign, self.settings.goals)
        self._doubt = None


def _settings(begun: Begun, *passed: Any) -> StudySettings:
    """The settings of a journal's first line, with what was passed again."""
    try:
        return settings_from_config(begun.config, *passed)
    except serialization.DamagedSettings as error:
        raise JournalCorrupt(f"the first line has settings that no study can have: {error}", 1) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise JournalCorrupt(f"the first line lacks a setting, or has a wrong one: {error!r}", 1) from error


def _verify_fits(events: list[Event], surrogate: Verifiable, dim: int, is_several: bool) -> None:
    """JournalCorrupt for the first ask under hyperparameters that its surrogate never came to.

    ``is_several``: of several outputs one knows of failures, too, and results come in parts.
    """
    results = 0
    for line, event in enumerate(events, start=1):
        told = isinstance(event, Told | Failed | Observed)
        results += told and (is_several or getattr(event, "outcome", None) is not None)
        if isinstance(event, Asked) and event.model is not None:
            try:
                verified_fit(surrogate, event.model, results, dim, is_several)
            except (KeyError, TypeError, ValueError) as error:
                raise JournalCorrupt(f"line {line} has hyperparameters that no fit comes to: {error}", line) from error


def _custom_parts(begun: Begun, wanted: StudySettings) -> list[Any]:
    """The parts of ``wanted`` that a journal knows by their names alone, and so must be passed again; else None."""
    config = wanted.to_config()
    return [
        getattr(wanted, name)
        if serialization.is_custom(config[name]) or serialization.is_custom(begun.config.get(name))
        else None
        for name in ("surrogate", "acquisition", "strategy", "maximizer")
    ]
