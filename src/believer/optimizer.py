"""The optimizer, with ask and tell. Its state changes only by events, which are on disk before a call returns.

A call that changes the study first checks its input, then writes its events to the journal and folds them into the
ledger. :func:`~believer.propose.propose` decides which points an ask hands out. Loading folds the same events again, so
a loaded optimizer equals the one that was saved. Calls from several threads run one after the other. If an exception
ends a call half-way, the call itself repairs what it left, or the next one if that was interrupted, so that file and
memory always agree.

The file is long because it is one class, and most of its lines are documentation. The work is done in other files.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np

from believer._lazy import above
from believer.acquisitions import Acquisition
from believer.arrays import Array, shown
from believer.batch import Strategy
from believer.capabilities import has
from believer.errors import InvalidInput, JournalCorrupt, JournalError, OtherSettings, TrialError
from believer.maximize import Maximizer
from believer.propose import propose, rehearse
from believer.space import Constraint, Space
from believer.study import serialization
from believer.study.batch_rules import Cost, Shared
from believer.study.change import differences, is_relabeled, units_in, with_units, without_backfill
from believer.study.constraints import identity, is_constraint
from believer.study.events import (
    Abandoned,
    Amended,
    Asked,
    Begun,
    Changed,
    Enqueued,
    Event,
    Failed,
    Observed,
    Timed,
    Told,
    Upgraded,
)
from believer.study.files import PathLike, as_path, explained, followed
from believer.study.formats import FORMAT
from believer.study.goals import Goals
from believer.study.journal import Journal, is_begun, read_events, write_events
from believer.study.ledger import Ledger
from believer.study.models import ModelCache, verified_fit
from believer.study.options import Options, documented, said, suggesting, with_options
from believer.study.outcome import Noise, Outcome, Value, aligned, copied, outcome_of, refuse_names
from believer.study.recommend import Insight
from believer.study.recommendation import Front, Recommendation
from believer.study.settings import (
    ENGINE,
    StudySettings,
    options_of,
    refuse_unreadable,
    space_and_goals,
    upgraded_config,
    versions,
)
from believer.study.study import Study, changing, reading
from believer.study.tell_report import TellReport
from believer.study.trials import Batch, Trial, same_params, same_value
from believer.surrogates.protocols import Prediction, Surrogate, Verifiable

_log = logging.getLogger(__name__)


class Optimizer(Study):
    """Batch Bayesian optimization: ``ask`` for points, ``tell`` what they returned.

    Several threads may share an optimizer: their calls run one after the other.

    Parameters
    ----------
    space : the space to search.
    journal : a path; every event is written there before its call returns. A study whose space has a region
        (``within=``) or a parameter type that is not the library's cannot have a journal: it lives in memory only.
    {options}
    """

    __doc__ = documented(__doc__)

    @with_options
    def __init__(self, space: Space, *, journal: PathLike | None = None, **options: Unpack[Options]) -> None:
        if journal is not None:
            as_path(journal, "a journal")
        said(options, ("journal",))
        settings = StudySettings.of(space, **options)
        rehearse(settings)
        if journal is not None:
            refuse_unreadable(space)
        begun = Begun(FORMAT, settings.to_config(), versions(), ENGINE)
        self._start(settings, [begun], None if journal is None else Journal.create(journal, begun))

    def _start(self, settings: StudySettings, events: list[Event], journal: Journal | None) -> None:
        """Set up the study with the ledger of ``events``, which ``journal`` holds, and without any fitted model."""
        super().__init__(_folded(events, settings), None if journal is None else str(journal.path))
        self._settings, self._cache, self._journal = settings, ModelCache(settings), journal
        # While an event is recorded: the number of events before it, the end of the journal before it, and the event.
        self._doubt: tuple[int, int, Event] | None = None

    @classmethod
    @with_options
    def open(cls, path: PathLike, space: Space, *, change: bool = False, **options: Unpack[Options]) -> Self:
        """Open the study in the journal at ``path``, or begin it if there is none: the same script can be run again and
        again.

        Only the options that are passed are compared with the journal; an option that is left out stays as it was. If
        any differ, :class:`InvalidInput` lists them. Units that were not given before are added without an error.

        Parameters
        ----------
        path : the path of the journal.
        space : the space to search.
        change : whether to go on with the options passed now where they differ from the journal's. All results that fit
            the new space count. A new parameter needs ``backfill=``, the value that it had in earlier results. A
            parameter that is removed is dropped from earlier results; if it had a ``backfill``, only results at that
            value fit. Results that do not fit are kept and listed in ``outside``; they count again if a later space
            includes them. A number counts under the name that it was told under; the number of a plain study becomes
            the only objective of declared goals, and the reverse.
        {options}
        """
        said(options, ("change",))
        as_path(path, "a journal")
        return cls._open(path, space, change, options)

    @classmethod
    @suggesting
    def from_toml(cls, path: PathLike, *, journal: PathLike | None = None, change: bool = False) -> Self:
        """Open the study that a ``study.toml`` describes, or begin it: the file that ``believer new`` writes.

        Parameters
        ----------
        path : the path of the file.
        journal : the path of the journal. By default the file's own with the ending ``.jsonl``, the one that the
            commands ``believer ask`` and ``believer tell`` use.
        change : whether to go on if the file was changed since the study began; see :meth:`open`.
        """
        opened: Self = above("believer.lab", "from_toml")(cls, path, journal, change)
        return opened

    @classmethod
    def _open(
        cls,
        path: PathLike | None,
        space: Space,
        change: bool,
        options: Options,
        check: Callable[[StudySettings], None] = lambda settings: None,
    ) -> Self:
        """The work of :meth:`open`, also for a study without a journal. ``check`` is called with the settings before
        anything is written."""
        if not isinstance(change, bool):
            raise InvalidInput(f"change must be True or False; got {shown(change)}.")
        if path is None or not is_begun(path):
            check(StudySettings.of(space, **options))
            return cls(space, journal=path, **options)
        if not isinstance(space, Space):
            raise InvalidInput(f"space must be a believer.Space; got {type(space).__name__}.")
        refuse_unreadable(space)
        journal, events = Journal.open(path)
        try:
            config, line = _last_settings(events)
            found, settings, wanted = _before_and_after(config, line, space, said(options))
            lines = differences(found, wanted)
            if lines and not change:
                raise OtherSettings(
                    f"the journal {os.fspath(path)} belongs to a study with other settings:\n  "
                    + "\n  ".join(lines)
                    + "\nPass the same settings, or change=True to go on with these, or another path to start anew.",
                    tuple(lines),
                )
            if lines and (unknown := without_backfill(found, space)):
                raise InvalidInput(
                    f"{', '.join(unknown)}: a new parameter needs the value that it had in earlier results, e.g. "
                    "Float(0, 1, backfill=0.2), or backfill = 0.2 in a study.toml."
                )
            check(settings)
            if lines:
                rehearse(settings)
                return cls._changed(events, journal, settings, settings.to_config())
            if units_in(found) != units_in(wanted):  # everything else is written unchanged, so that the fits stay valid
                return cls._changed(events, journal, settings, with_units(wanted, upgraded_config(config)))
            return cls._from_events(events, journal, settings)
        except BaseException:
            journal.close()
            raise

    @classmethod
    def _changed(cls, events: list[Event], journal: Journal, settings: StudySettings, written: dict[str, Any]) -> Self:
        """The study of ``events`` under other settings. They are tried before anything is written.

        ``written`` is the configuration that the journal stores.
        """
        last = next(event for event in reversed(events) if isinstance(event, Begun | Upgraded))
        older = (last.format, last.engine) != (FORMAT, ENGINE)
        further: list[Event] = [Upgraded(FORMAT, versions(), ENGINE)] if older else []
        further.append(Changed(written))
        study = cls.__new__(cls)
        study._start(settings, [*events, *further], journal)
        for event in further:
            journal.append(event)
        return study

    @property
    def settings(self) -> StudySettings:
        """The settings that the optimizer was made with."""
        return self._settings

    @changing
    def ask(
        self,
        q: int = 1,
        *,
        strategy: str | Strategy | None = None,
        fixed: Mapping[str, Any] | None = None,
        shared: Shared | None = None,
        max_cost: float | None = None,
        cost: Cost | None = None,
        distinct: bool = True,
        repeat: bool = False,
    ) -> Batch:
        """Suggest ``q`` trials to evaluate now, chosen to be good together and together with the pending ones.

        Raises :class:`SpaceExhausted` if ``distinct`` is True and a finite space has fewer than q new points left.

        Parameters
        ----------
        q : the number of trials.
        strategy : a strategy for this call, in place of the optimizer's.
        fixed : parameters that keep a fixed value in this call.
        shared : parameters that have the same value in the whole batch, ``["temperature"]``, or at most as many
            different values as stated, ``{"temperature": 2}``. Several batches with different values are tried, and
            the one with the largest expected gain is returned; this takes about five times as long. The values of
            pending points do not count.
        max_cost : the most that the batch may cost, all its points together.
        cost : what a point costs: a price for each unit of some numbers, ``{"catalyst": 12.5}``, or a function of the
            params. A batch that costs too much is chosen again under the limit.
        distinct : whether every point must differ from the others of the batch, from pending points and from evaluated
            ones (by 1e-6 in the encoded cube).
        repeat : whether an evaluated point may be measured again when results are noisy and a replicate is worth more
            than a new point (:mod:`~believer.batch.repeat`). The provenance says when this happened. Only the
            pseudo-observation strategies support it, for one objective; the others raise an error.
        """
        history = self._ledger.history(self.settings)
        proposal = propose(
            self.settings,
            history,
            q,
            strategy=strategy,
            fixed=fixed,
            shared=shared,
            max_cost=max_cost,
            cost=cost,
            distinct=distinct,
            repeat=repeat,
            cache=self._cache,
        )
        verdict = proposal.judged()
        self._record(proposal.event())
        _log.info("asked for %d: %r", len(proposal.trials), verdict)
        trials = tuple(self._ledger.trials[trial.id].copy() for trial in proposal.trials)
        return Batch(trials, verdict, proposal.labels, len(history.pending.ids), self.settings.space)

    @reading
    def predict(self, points: Iterable[Mapping[str, Any]], outcome: str | None = None) -> Prediction:
        """Predict the mean and std (m,) of the objective, without noise, in the user's units, from the results so far.

        If the model learns from warped results (``warp``), its prediction is not Gaussian: ``mean`` is then the median,
        and ``std`` is half the width of the interval that contains the value with a probability of 68.3 %. Failed
        trials count as they do for suggestions (``failures``).

        Parameters
        ----------
        points : a list of params.
        outcome : the name of the outcome; None for the only objective.
        """
        self._refuse_without_results("predict")
        try:
            rows = list(points)
        except TypeError as error:
            raise InvalidInput(f"predict needs a list of params; got {shown(points)}.") from error
        if isinstance(points, Mapping):
            raise InvalidInput(f"predict needs a list of params, [params]; got one, {dict(points)}.")
        return self._insight.predict(self._encoded(rows), outcome)

    def _encoded(self, points: list[Mapping[str, Any]]) -> Array:
        """Encode points that may have been measured, and need not lie on steps.

        Raises InvalidInput if a number is outside of its bounds by more than the distance between them.
        """
        try:
            return self.space.encode(points)
        except InvalidInput:
            found = [self.space.located(self.space.measured(params)) for params in points]
            if not all(near for _, near in found):
                raise
            return np.array([encoded for encoded, _ in found])

    @reading
    def descriptor_shares(self, outcome: str | None = None) -> dict[str, dict[str, float]]:
        """The shares of each descriptor, and of the identity, in the model's distances between choices, by parameter.

        ``{"solvent": {"dielectric": 0.7, "dipole": 0.2, "identity": 0.1}}``: 70 % of the distance between two solvents,
        as the model sees it, is due to their dielectric constant, and 10 % to no descriptor. Shares are of squared
        distances in lengthscales, averaged over pairs of choices. A descriptor that is the same for all choices, or
        that follows from another one, is left out. This needs a model with lengthscales.

        Parameters
        ----------
        outcome : the name of the outcome; None for the only objective.
        """
        self._refuse_without_results("descriptor_shares")
        return self._insight.descriptor_shares(outcome)

    def _refuse_without_results(self, what: str) -> None:
        """Raise InvalidInput if there is no result that a model could learn from."""
        ledger = self._ledger
        if not ledger.outcomes:
            raise InvalidInput(f"{what} needs at least one result. Use tell or observe first.")
        if ledger.outcomes.keys() <= ledger.outside:
            raise InvalidInput(
                f"{what} needs at least one result within the space, and all {len(ledger.outcomes)} lie outside of it "
                "since it was changed; tell or observe one, or change the space so that it has a place for them."
            )

    @property
    def _insight(self) -> Insight:
        return Insight(self.settings, self._ledger.history(self.settings), self._cache)

    @reading
    def recommend(self) -> Recommendation:
        """Recommend the evaluated point to use in the end, with the model's prediction there.

        If the model infers noise, this is the point with the best posterior mean, because the best result, ``best``, is
        then partly luck. Otherwise it is the point of the best result. With limits, only points that are feasible with
        the required probability count. With several objectives there is no single best point; ``front`` lists the
        points to choose from.
        """
        self._refuse_without_results("recommend")
        return self._insight.recommend(self._ledger.trials)

    @property
    @reading
    def front(self) -> Front:
        """The Pareto front of several objectives: the feasible results that no other feasible result beats in every
        objective."""
        return self._insight.front(self._ledger.trials, self._ledger.outcomes)

    @property
    @reading
    def hypervolume(self) -> float:
        """The hypervolume that the Pareto front dominates, up to the reference point ``front.reference``."""
        return self._insight.front(self._ledger.trials, self._ledger.outcomes).hypervolume

    @changing
    def tell(
        self,
        trial: Trial | int | Mapping[str, Any],
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """Tell the result of a trial.

        If outcomes are declared, some of them may be told later; the models learn from those that are known.

        Parameters
        ----------
        trial : the trial, its id, or the params of one that is pending.
        value : a number, an :class:`Outcome`, a list of replicates, or a dict with a number for each declared outcome.
            NaN and infinities mark a failed evaluation. If only some of the declared outcomes are NaN or infinite, the
            trial has failed, but its other outcomes are kept and the models learn from them.
        noise : the known standard deviation of the number, or a dict of standard deviations by outcome.
        error : the reason why the evaluation failed; it marks the trial as failed.
        params : the parameters with which the trial was really evaluated, if they differ from those suggested:
            ``{"temperature": 71.3}``. They need not lie on steps or within bounds, nor keep the rules. The models learn
            from them, and the record shows both. If a number is outside of its bounds by more than the distance between
            them, the result is kept in ``outside``, and no model learns from it.
        """
        self._record_answer(self._answer(trial, value, noise, error, params=params))

    @changing
    def tell_many(
        self,
        trials: Iterable[Trial | int | Mapping[str, Any]],
        values: Iterable[Value],
        noise: Iterable[Noise | None] | None = None,
    ) -> None:
        """Tell the results of several trials; if one of them is invalid, none is recorded.

        Parameters
        ----------
        trials : trials, as for :meth:`tell`.
        values : one value for each trial.
        noise : the known standard deviation of each value.
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
            self._record_answer(event)

    def _record_answer(self, event: Told | Failed) -> None:
        self._record(event)
        if isinstance(event, Failed):
            _log.info("trial %d failed: %r", event.id, event.error)
        else:
            _log.debug("trial %d told: %s", event.id, event.outcome)

    def _answer(
        self,
        trial: Trial | int | Mapping[str, Any],
        value: Value | None,
        noise: Noise | None,
        error: str | None,
        before: Sequence[Told | Failed] = (),
        params: Mapping[str, Any] | None = None,
    ) -> Told | Failed:
        """The event of an answer; ``before`` are the earlier events of the same call."""
        answered = {event.id for event in before}
        names = frozenset(value) if isinstance(value, Mapping) else frozenset[str]()
        found = self._waiting_at(trial, answered, names) if isinstance(trial, Mapping) else self._own(trial)
        status = self._ledger.status(found.id)
        if status in ("done", "failed"):
            raise TrialError(
                f"trial {found.id} already has a result ({status}); a trial is told once. Use amend to correct it.",
                found.id,
            )
        first = next((event.outcome for event in before if isinstance(event, Told)), None)
        outcome = self._outcome(value, noise, error, None if first is None else tuple(first.objectives))
        known = self._ledger.outcomes.get(found.id)
        if known is not None and isinstance(outcome, Outcome):
            known.with_more(outcome)  # InvalidInput for an outcome that was told already
        changed = self._changed_params(found, params)
        if isinstance(outcome, str):
            return Failed(found.id, outcome, params=changed)
        return Told(found.id, outcome, params=changed)

    def _changed_params(self, trial: Trial, params: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Check ``params`` and return those that differ from the trial's parameters; None if there are none."""
        if params is None:
            return None
        known = self._ledger.trials[trial.id].params
        checked = self.space.moved(known, params)
        return {n: v for n, v in checked.items() if n not in known or not same_value(v, known[n])} or None

    def _own(self, trial: Trial | int) -> Trial:
        """Find a trial of this study. Raise TrialError for a trial of another study."""
        found = self._ledger.find(trial)
        known = (found.encoded, self._ledger.handed[found.id].encoded)  # now, and before the space changed
        if isinstance(trial, Trial) and not any(
            trial.encoded is encoded or np.array_equal(trial.encoded, encoded) for encoded in known
        ):
            raise TrialError(
                f"trial {trial.id} of this study has other parameters; is it from another study?", trial.id
            )
        return found

    def _waiting_at(self, params: Mapping[str, Any], answered: set[int], names: Set[str]) -> Trial:
        """The first trial with these params that waits for a result: a pending one, or else an abandoned one.

        A trial that already has some of the outcomes ``names`` comes last.
        """
        checked, ledger = self.space.measured(params), self._ledger
        waiting = (*ledger.pending, *(ledger.trials[i] for i in sorted(ledger.abandoned)))
        found = [trial for trial in waiting if trial.id not in answered and same_params(trial.params, checked)]
        if found:
            return min(
                found, key=lambda t: t.id in ledger.outcomes and not names.isdisjoint(ledger.outcomes[t.id].names)
            )
        raise TrialError(
            f"no pending trial has the params {checked}; use observe(params, ...) for a result from elsewhere, and "
            "tell(trial, value, params=...) for a trial that was evaluated with other params than those suggested."
        )

    def _outcome(
        self, value: Value | None, noise: Noise | None, error: str | None, names: tuple[str, ...] | None = None
    ) -> Outcome | str:
        goals = self.settings.goals
        if goals.is_plain:
            refuse_names(value)
        outcome, names = outcome_of(value, noise, error), self._ledger.objectives or names
        if isinstance(outcome, str):
            return outcome
        arranged = goals.arranged(goals.of_number(outcome))
        if goals.is_plain and arranged.objectives and names not in (None, tuple(arranged.objectives)):
            return aligned(arranged, names)
        return copied(arranged) if arranged is value else arranged

    def tell_csv(self, path: PathLike, *, accept: bool = False, decimal: str = ".") -> TellReport:
        """Tell the results in a filled-in sheet: a CSV, Excel or JSON file with a row for each trial.

        Rows are matched by the column "trial", or else by their parameters; several rows of a trial are replicates.
        Numbers may have a decimal comma, separators of thousands, or the units of their column. An empty cell stands
        for a result that is still to come, "failed" or "n/a" for a failure, and "not run" abandons the trial. Results
        that were told before are not told again. Every row that can be understood is told. The returned report lists
        the other rows with their lines; it prints as sentences.

        Parameters
        ----------
        path : the path of the file, such as one that ``batch.to_csv`` wrote.
        accept : whether to take rows that need a decision: rows that match no suggestion are taken as past data, and
            rows with parameters that differ from the suggestion as what was really used.
        decimal : the decimal mark to assume if a number such as 1,234 is ambiguous.
        """
        told: TellReport = above("believer.lab", "tell_file")(self, path, accept, decimal)
        return told

    def tell_frame(self, frame: Any, *, accept: bool = False) -> TellReport:
        """Tell the results in a data frame; see :meth:`tell_csv`. A missing value stands for a result that is still to
        come.

        Parameters
        ----------
        frame : a pandas or polars data frame, or a list of dicts.
        accept : as for :meth:`tell_csv`.
        """
        told: TellReport = above("believer.lab", "tell_frame")(self, frame, accept)
        return told

    @changing
    def amend(
        self,
        trial: Trial | int,
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """Correct the result of a trial: the new result replaces the old one, and ``events`` keeps both.

        Declared outcomes that are not named keep their values, unless ``error`` is given. With ``params`` alone the
        result stays as it is.

        Parameters
        ----------
        trial : a trial that has a result, a part of a result, or a failure; or its id.
        value, noise, error, params : as for :meth:`tell`.
        """
        found = self._own(trial)
        known = self._ledger.outcomes.get(found.id)
        if known is None and found.id not in self._ledger.errors:
            raise TrialError(f"trial {found.id} has no result to amend. Use tell first.", found.id)
        changed = self._changed_params(found, params)
        if params is not None and value is None and noise is None and error is None:
            if known is not None and found.id in self._ledger.faults:
                raise InvalidInput(f"trial {found.id} has a part of its result and has failed; pass error=... as well.")
            if changed is not None:
                self._record(Amended(found.id, known, None if known else self._ledger.errors[found.id], changed))
            return
        if self.settings.goals.is_plain and [*self._ledger.outcomes] == [found.id]:
            outcome = outcome_of(value, noise, error)  # the only result determines the names of the objectives
        else:
            outcome = self._outcome(value, noise, error)
        if isinstance(outcome, str):
            self._record(Amended(found.id, None, outcome, changed))
            return
        if known is not None and not self.settings.goals.is_plain:
            unwanted = known.names - self.settings.goals.wanted.keys()
            if unwanted < known.names:
                outcome = outcome.and_of(known.without(unwanted) if unwanted else known)
        self._record(Amended(found.id, outcome, None, changed))

    @changing
    def observe(
        self,
        params: Mapping[str, Any],
        value: Value | None = None,
        *,
        noise: Noise | None = None,
        error: str | None = None,
    ) -> Trial:
        """Add the result of a point that was not suggested. It counts towards ``n_init``.

        The point is taken as it is, because its result exists already: it need not keep the rules or the constraint of
        the space, and its numbers need not lie on steps or within bounds. A choice that the space does not have is an
        error, and so is a number that is not above 0 on a logarithmic scale. If a number is outside of its bounds by
        more than the distance between them, the result is kept in ``outside``, and no model learns from it.

        Parameters
        ----------
        params : the point in the user's terms.
        value, noise, error : as for :meth:`tell`.
        """
        checked, trial_id = self.space.measured(params), self._ledger.next_id
        outcome = self._outcome(value, noise, error)
        if isinstance(outcome, str):
            self._record(Observed(trial_id, checked, None, outcome))
        else:
            self._record(Observed(trial_id, checked, outcome, None))
        return self._ledger.trials[trial_id].copy()

    @changing
    def enqueue(self, params: Mapping[str, Any]) -> None:
        """Queue a point to try: the next ask hands it out first, even if it repeats another point."""
        checked = self.space.check(params)
        if not self.space.allows(checked):
            what = next((repr(rule) for rule in self.space.rules if not rule.holds(checked)), "constraint")
            raise InvalidInput(f"the space's {what} does not allow {checked}.")
        self._record(Enqueued(checked))

    @changing
    def abandon(self, trial: Trial | int) -> None:
        """Stop waiting for a trial, for example because its worker died. A result that still arrives is accepted.

        The point stays in the history, so it is not suggested again. Use ``enqueue`` to try it again.
        """
        found = self._ledger.find(trial)
        status = self._ledger.status(found.id)
        if status in ("done", "failed"):
            raise TrialError(
                f"trial {found.id} already has its result ({status}); only a pending trial can be abandoned.", found.id
            )
        if status in ("pending", "partial"):
            self._record(Abandoned(found.id))

    @reading
    def snapshot(self) -> Study:
        """A read-only copy of the study as it is now; later events do not change it."""
        return Study(_folded(list(self._ledger.events), self.settings), self._where)

    @reading
    def save(self, path: PathLike) -> None:
        """Write the whole study to a journal at ``path``, atomically. An earlier state of this study there is replaced.

        Raises :class:`JournalError` if the file at ``path`` is anything else, and :class:`InvalidInput` for a space
        that no journal can hold: one with a region (``within=``) or a parameter type that is not the library's.
        """
        refuse_unreadable(self.space)
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
    @suggesting
    def load(
        cls,
        path: PathLike,
        *,
        surrogate: str | Surrogate | None = None,
        acquisition: str | Acquisition | None = None,
        strategy: str | Strategy | None = None,
        constraint: Constraint | None = None,
        table: Any = None,
        maximizer: Maximizer | None = None,
        append: bool = True,
    ) -> Self:
        """Load the study in the journal at ``path``, ready to go on. Further events are appended to the journal.

        Parts that are not the library's own must be passed again; they are checked by name. No model is fitted.

        Parameters
        ----------
        path : the path of the journal.
        surrogate, acquisition, strategy, maximizer : those of the constructor, if they are not the library's own.
        constraint : the constraint of the space, if it has one.
        table : the table of the space, if it was made by ``Space.from_table``: a path, a data frame, rows or columns.
        append : if False, the file is only read, without its lock, and the study goes on in memory.
        """
        journal, events = Journal.open(as_path(path, "a journal")) if append else (None, read_events(as_path(path)))
        try:
            passed = {"surrogate": surrogate, "acquisition": acquisition, "strategy": strategy, "maximizer": maximizer}
            config, line = _last_settings(events)
            return cls._from_events(
                events, journal, settings_in(config, {**passed, "constraint": constraint, "table": table}, line)
            )
        except BaseException:
            if journal is not None:
                journal.close()
            raise

    @classmethod
    def _from_events(cls, events: list[Event], journal: Journal | None, settings: StudySettings) -> Self:
        """The study of ``events``, which end with it having ``settings``."""
        study = cls.__new__(cls)
        study._start(settings, events, journal)
        if has(settings.surrogate, Verifiable):
            _verify_fits(events, settings.surrogate)
        return study

    def _follow(self, event: Event, line: int, settings: StudySettings | None = None) -> None:
        """Apply an ``event`` that was read from a ``line`` of the journal.

        ``settings`` are the new settings if the event changed them, and None otherwise.
        """
        self._ledger.follow(event, line)
        if settings is not None:
            self._ledger.go_on_in(settings.space)
            self._settings, self._cache = settings, ModelCache(settings)

    @changing
    def close(self) -> None:
        """Release the journal. The optimizer can still be read, but no longer changed."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, event: Event) -> None:
        if (self._ledger.format, self._ledger.engine) != (FORMAT, ENGINE) and not isinstance(event, Upgraded):
            self._record(Upgraded(FORMAT, versions(), ENGINE))
        if isinstance(event, Timed):
            event = replace(event, at=round(time.time(), 3))
        self._doubt = (len(self._ledger.events), 0 if self._journal is None else self._journal.end, event)
        try:
            if self._journal is not None:
                self._journal.append(event)
            self._ledger.apply(event)
            self._doubt = None
        except BaseException:  # an interrupt may arrive between any two lines
            self._recover()
            raise

    def _recover(self) -> None:
        """Rebuild the ledger after an interrupted call, from exactly the events that are in the journal."""
        if self._doubt is None:
            return
        count, end, event = self._doubt
        events = self._ledger.events
        if self._journal is not None:
            events = events[:count] + ([event] if self._journal.end > end else [])
        self._ledger = _folded(events, self.settings)
        self._doubt = None


def _last_settings(events: list[Event]) -> tuple[dict[str, Any], int]:
    """The present settings of a study and the number of their line, which is the first or that of the last change."""
    return [(event.config, line) for line, event in enumerate(events, 1) if isinstance(event, Begun | Changed)][-1]


def _before_and_after(
    config: dict[str, Any], line: int, space: Space, given: Mapping[str, Any]
) -> tuple[dict[str, Any], StudySettings, dict[str, Any]]:
    """The settings in a journal, the settings with the options passed now, and the latter as plain data to compare.

    Only the space and the options that were passed are compared. Everything else stays as the journal has it.
    """
    try:
        found = upgraded_config(config)
        if found["space"].get("table") is not None:  # the columns that the study began with
            space = space.showing({part["name"] for part in found["space"]["parameters"]})
        options = options_of(found, given, space)
        if is_constraint(found["constraint"], space.constraint, space.constraint_name):
            found["constraint"] = identity(space.constraint, space.constraint_name)
    except serialization.DamagedSettings as error:
        raise JournalCorrupt(f"line {line} has invalid settings: {error}", line) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise JournalCorrupt(f"line {line} lacks a setting, or has an invalid one: {error!r}", line) from error
    named = with_units(found, {"space": space.to_config(), "outcomes": Goals(options["outcomes"]).to_config()})
    space = Space.from_config(named["space"], space.constraint, space.constraint_name, space.table)
    options["outcomes"] = Goals.from_config(named["outcomes"]).wanted
    settings = StudySettings.of(space, **options)
    own, said_now = settings.to_config(), {"space", "constraint", "outcomes"} | given.keys() - {"maximize"}
    if settings.goals != Goals.from_config(found["outcomes"]):
        said_now |= {"acquisition", "strategy", "failures", "reference"}
    return found, settings, found | {name: own[name] for name in said_now}


def _folded(events: list[Event], settings: StudySettings) -> Ledger:
    """The ledger of ``events``; at its end the study has ``settings``."""
    begun = events[0]
    assert isinstance(begun, Begun)
    if not any(isinstance(event, Changed) for event in events):
        return Ledger.of(events, settings.space, settings.goals)
    try:
        space, goals = space_and_goals(begun.config)
    except (InvalidInput, KeyError, TypeError, AttributeError) as error:
        raise JournalCorrupt(f"line 1 lacks a setting, or has an invalid one: {error!r}", 1) from error
    ledger = Ledger.of(events, space, goals)
    ledger.go_on_in(settings.space)
    return ledger


def settings_in(config: Mapping[str, Any], passed: Mapping[str, Any], line: int) -> StudySettings:
    """The settings in a line of a journal, with the parts that were passed again."""
    try:
        return StudySettings.from_config(config, passed)
    except serialization.DamagedSettings as error:
        raise JournalCorrupt(f"line {line} has invalid settings: {error}", line) from error
    except (KeyError, TypeError, AttributeError) as error:
        raise JournalCorrupt(f"line {line} lacks a setting, or has an invalid one: {error!r}", line) from error


def _verify_fits(events: list[Event], surrogate: Verifiable) -> None:
    """Raise JournalCorrupt for the first ask since the last change whose hyperparameters no fit can produce."""
    results, start = 0, 0
    config: dict[str, Any] = {}
    for place, event in enumerate(events):
        if isinstance(event, Begun | Changed):
            now = upgraded_config(event.config)
            start, config = place if not config or not is_relabeled(config, now) else start, now
    for line, event in enumerate(events, start=1):
        results += isinstance(event, Told | Failed | Observed)
        if isinstance(event, Begun | Changed):
            space, goals = space_and_goals(event.config)
        if isinstance(event, Asked) and event.model is not None and line > start:
            try:
                verified_fit(surrogate, event.model, results, space.dim, goals)
            except (KeyError, TypeError, ValueError, JournalError) as error:
                raise JournalCorrupt(
                    f"line {line} has hyperparameters that no fit can produce: {error}", line
                ) from error
