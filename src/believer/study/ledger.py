"""The ledger: the present state of a study, folded from its events.

The file is long because all kinds of events are folded here, and the state depends on all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from believer.arrays import Array, frozen, shown
from believer.errors import InvalidInput, JournalCorrupt, JournalError, TrialError
from believer.space import Space
from believer.study.change import adapted, is_relabeled, placed, stated_backfill
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
    Told,
    Upgraded,
)
from believer.study.goals import RUNS, Goals
from believer.study.history import Fitted, History, states_by_output
from believer.study.outcome import ONLY, Outcome, aligned
from believer.study.settings import StudySettings, space_and_goals, upgraded_config
from believer.study.trials import Trial, key_of, same_params


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of trials by state; ``answered`` trials are done or failed.

    Attributes
    ----------
    done : the number of trials with a result.
    failed : the number of failed trials.
    pending : the number of trials without an answer.
    abandoned : the number of abandoned trials.
    """

    done: int
    failed: int
    pending: int
    abandoned: int

    @property
    def answered(self) -> int:
        """The number of trials that are done or failed."""
        return self.done + self.failed


@dataclass(slots=True, eq=False)
class Ledger:
    """The present state of a study. Outcomes are in the user's units.

    What was handed out and told is kept unchanged (``handed``, ``told``, ``faults``, ``over``, ``wanted``). Its form in
    the present space and under the present goals (``trials``, ``outcomes``, ``errors``, ``abandoned``, ``queue``) is
    derived from that at each change, so that a change that is reversed loses nothing.

    A number belongs to the name under which it was told, and a number without a name to the only outcome of that time.
    If a study changes from the plain number, "value", to goals with one objective, or back, both names mean the same
    number from then on, unless results were told under the other name before. The number gets such a second name only
    once, and keeps it.
    """

    space: Space
    goals: Goals
    """The goal of each outcome."""
    events: list[Event] = field(default_factory=list)
    handed: list[Trial] = field(default_factory=list)
    """The trials by id, as they were handed out or observed."""
    told: dict[int, Outcome] = field(default_factory=dict)
    """All outcomes that were told, under their names at that time."""
    faults: dict[int, str] = field(default_factory=dict)
    """The reasons of failed evaluations."""
    over: set[int] = field(default_factory=set)
    """Trials that need no further result: they had all outcomes that were wanted at the time, or were abandoned."""
    wanted: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The enqueued points, by their number."""
    number: str = ONLY
    """The second name of the plain number; "value" if it has none."""
    trials: list[Trial] = field(default_factory=list)
    """The trials by id, in the present space; those that do not fit are as they were handed out."""
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)
    queue: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The enqueued points that fit the present space, by their number."""
    objectives: tuple[str, ...] | None = None
    """In a study of a plain number, the names in the first result; the first of them is optimized."""
    format: int = 0
    """The journal format in which events are written now."""
    engine: int = 1
    """The number of the engine that chooses points now."""
    outside: set[int] = field(default_factory=set)
    """Trials that do not fit the space since it was changed, and those that were evaluated far outside of its bounds:
    they are kept, but no model learns from them."""
    is_changed: bool = False
    """Whether the space or the goals were ever changed."""
    _placed: int = 0
    """The number of trials that were checked to lie at the points that are stored with them."""
    _queued: int = 0
    """The number of points that have entered the queue."""
    _at: dict[Hashable, deque[int]] = field(default_factory=dict)
    """The numbers of equal points."""
    _barred: set[int] = field(default_factory=set)
    """The enqueued points that the constraint does not allow since it was changed."""
    _fill: dict[str, Any] = field(default_factory=dict)
    """The values of parameters at points that lack them, from the ``backfill`` of all spaces so far."""
    _was_declared: bool = False
    """Whether the study had goals other than the plain number."""
    _arrived: dict[str, dict[int, None]] = field(default_factory=dict)
    """For each output, the trials whose value is known, in the order of their results."""
    _within: dict[int, float] = field(default_factory=dict)
    """The values of the objective for complete results within all limits; empty for several objectives."""
    _measured: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The parameters with which trials were really evaluated, if they differ from those suggested or lie off the
    space."""
    _passed_by: dict[int, Array] = field(default_factory=dict)
    """The suggested points of these trials, in the present space."""
    answered_then: dict[int, int] = field(default_factory=dict)
    """For each trial that a strategy chose, the number of trials that had been answered or abandoned at that time."""
    _fit: tuple[dict[str, int], dict[str, Any]] | None = None
    """The numbers of results behind the models of the last ask, and their hyperparameters."""

    @staticmethod
    def of(events: Iterable[Event], space: Space, goals: Goals) -> Ledger:
        """The ledger of a journal's ``events``; JournalCorrupt if one contradicts those before it."""
        ledger = Ledger(space, goals)
        for line, event in enumerate(events, start=1):
            ledger.follow(event, line)
        ledger._refuse_misplaced()
        return ledger

    def _refuse_misplaced(self) -> None:
        """Raise JournalCorrupt if the params of a trial that was handed out are not at its point."""
        new = self.handed[self._placed :]
        self._placed = len(self.handed)
        for start in range(0, len(new), 10_000):
            some = [trial for trial in new[start : start + 10_000] if trial.origin != "observed"]
            place = (
                self.space.misplaced([t.params for t in some], np.array([t.encoded for t in some])) if some else None
            )
            if place is not None:
                trial = some[place]
                asks = ((i, e.trials) for i, e in enumerate(self.events, 1) if isinstance(e, Asked))
                line = next(i for i, trials in asks if any(one.id == trial.id for one in trials))
                raise JournalCorrupt(
                    f"line {line} does not agree with itself: {trial.params} is not at the point of trial {trial.id}, "
                    f"{trial.encoded}.",
                    line,
                )

    @property
    def next_id(self) -> int:
        """The id that the next trial will get."""
        return len(self.trials)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials that were handed out and not abandoned, and have no complete answer; in id order."""
        answered = self.errors.keys() | self.abandoned | self.goals.whole(self.outcomes)
        return tuple([trial for trial in self.trials if trial.id not in answered])

    def _is_whole(self, trial_id: int) -> bool:
        """Whether nothing is missing of an outcome."""
        return not self.goals.missing(self.outcomes[trial_id])

    @property
    def model(self) -> dict[str, Any] | None:
        """The hyperparameters of the last ask; None before the first fit, and if a result was amended since."""
        return None if self._fit is None else self._fit[1]

    @property
    def fitted(self) -> dict[str, Fitted] | None:
        """By output, the ids of the results to which the model of the last ask was fitted, and its hyperparameters."""
        if self._fit is None:
            return None
        counts, model = self._fit
        states = states_by_output(model, self.goals)
        return {
            name: (tuple(sorted({*islice(self._arrived[name], count)} - self.outside)), states[name])
            for name, count in counts.items()
            if name in states
        }

    @property
    def counts(self) -> Counts:
        """The numbers of trials by state."""
        failed, abandoned = len(self.errors), len(self.abandoned)
        done = len(self._arrived.get(RUNS, ())) - failed
        return Counts(done, failed, len(self.trials) - done - failed - abandoned, abandoned)

    def history(self, settings: StudySettings) -> History:
        """The present state of the study, for a proposal under its ``settings``; a failed trial whose result was
        amended is not a failure."""
        there = [trial for trial in self.trials if trial.id not in self.outside] if self.outside else self.trials
        made = [i for i in self.outcomes if self.status(i) == "done"] if self.errors else []
        done = {key_of(self.trials[i].params) for i in made}
        good = {i for i in self.errors if key_of(self.trials[i].params) in done} | self.outside
        return History.encoded(
            settings,
            {trial.id: trial.encoded for trial in there},
            {i: o for i, o in self.outcomes.items() if i not in good} if good else self.outcomes,
            [i for i in self.errors if i not in good],
            [trial.id for trial in self.pending if trial.id not in self.outside],
            queue=self.next_wanted,
            next_id=self.next_id,
            designed=len([trial for trial in self.trials if trial.origin == "design"]),
            fitted=self.fitted,
            answered_then=dict(self.answered_then),
            passed_by=[*self._passed_by.values()],
        )

    @property
    def next_wanted(self) -> tuple[dict[str, Any], ...]:
        """The enqueued points that the next ask may hand out."""
        return tuple(params for number, params in self.queue.items() if number not in self._barred)

    def go_on_in(self, space: Space) -> None:
        """Take the present space with its constraint, which events do not hold.

        Points that were enqueued before a change wait if the present constraint does not allow them.
        """
        self.space = space
        waiting = self.queue.items() if self.is_changed else ()
        self._barred = {number for number, params in waiting if not space.allows(params)}

    def value(self, trial_id: int) -> float | None:
        """The value of the objective, in the user's units; None if it is unknown or there are several objectives."""
        outcome, names = self.outcomes.get(trial_id), self.goals.objectives
        return None if outcome is None or len(names) > 1 else self.goals.value(outcome, names[0])

    @property
    def best(self) -> Trial | None:
        """The trial with the best value within all limits; the first of equal ones, and None if there is none."""
        values, sign = self._within, self.goals.outputs[0].sign
        if self.outside:
            values = {i: value for i, value in values.items() if i not in self.outside}
        return self.trials[min(values, key=lambda i: (sign * values[i], i))] if values else None

    def best_so_far(self) -> list[float | None]:
        """The best value within all limits of each trial and those before it; None before the first."""
        sign, best, found = self.goals.outputs[0].sign, None, []
        for trial in self.trials:
            value = None if trial.id in self.outside else self._within.get(trial.id)
            if value is not None and (best is None or sign * value < sign * best):
                best = value
            found.append(best)
        return found

    def status(self, trial_id: int) -> str:
        """ "pending", "partial", "done", "failed" or "abandoned"."""
        if trial_id in self.errors:
            return "failed"
        if trial_id in self.abandoned:
            return "abandoned"
        if trial_id not in self.outcomes:
            return "pending"
        return "done" if self._is_whole(trial_id) else "partial"

    def find(self, trial: Trial | int) -> Trial:
        """The trial with this id; TrialError if there is none."""
        trial_id = trial.id if isinstance(trial, Trial) else trial
        if isinstance(trial_id, bool) or not isinstance(trial_id, int | np.integer):
            raise TrialError(f"a trial must be given as a Trial, its id or its params; got {shown(trial)}.")
        if not 0 <= int(trial_id) < len(self.trials):
            raise TrialError(f"there is no trial {trial_id}; ids run from 0 to {self.next_id - 1}.", int(trial_id))
        return self.trials[int(trial_id)]

    def follow(self, event: Event, line: int) -> None:
        """Apply the event of a journal's line; JournalCorrupt if it contradicts those before it."""
        try:
            self.apply(event)
        except (TrialError, InvalidInput, ValueError, KeyError, TypeError) as error:
            raise JournalCorrupt(f"line {line} does not follow from those before it: {error}", line) from error

    def apply(self, event: Event) -> None:
        """Apply one event, which must be possible after those before it."""
        match event:
            case Begun(format=version, engine=engine) | Upgraded(format=version, engine=engine):
                if version < self.format:
                    raise TrialError(f"a journal of format {self.format} does not go on in format {version}.")
                self.format, self.engine = version, engine
            case Changed(config=config):
                self._refuse_misplaced()
                self._change(config)
            case Asked(trials=trials, model=model):
                if model is not None:
                    self._fit = (self._seen(model), model)
                for trial in trials:
                    if trial.origin == "enqueued":
                        self._dequeue(self.space.check(trial.params))
                    elif trial.origin not in ("design", "model"):
                        raise TrialError(f"a trial is not handed out by {trial.origin!r}.", trial.id)
                    self._add(trial)
                    if trial.origin == "model":
                        self.answered_then[trial.id] = len(self._arrived.get(RUNS, ())) + len(self.abandoned)
            case Told(id=trial_id, outcome=outcome, params=params):
                self._answer(trial_id)
                self._move(trial_id, params)
                self._keep(trial_id, outcome)
            case Failed(id=trial_id, error=error, params=params):
                self._answer(trial_id)
                self._move(trial_id, params)
                self._blame(trial_id, error)
            case Observed(id=trial_id, params=params, outcome=found, error=error):
                self._observe(trial_id, params)
                if found is not None:
                    self._keep(trial_id, found)
                else:
                    self._blame(trial_id, error or "failed")
            case Amended(id=trial_id, outcome=found, error=error, params=params):
                self._amend(trial_id, found, error)
                self._move(trial_id, params)
            case Enqueued(params=params):
                self.wanted[self._queued] = self.space.check(params)
                self._line_up(self._queued, self.wanted[self._queued])
                self._queued += 1
            case Abandoned(id=trial_id):
                self._answer(trial_id)
                self.abandoned.add(trial_id)
                self.over.add(trial_id)
        self.events.append(event)

    def _change(self, config: dict[str, Any]) -> None:
        """Go on in another space or with other goals: results that fit count, and the others are kept. Units change
        nothing."""
        before = next(event.config for event in reversed(self.events) if isinstance(event, Begun | Changed))
        space, goals = space_and_goals(config)
        if not is_relabeled(upgraded_config(before), upgraded_config(config)):
            self._fill |= stated_backfill(self.space) | stated_backfill(space)
            self.number = self._second_name(goals)
            self._was_declared |= not self.goals.is_plain
            self.is_changed, self._fit = True, None
            self.space, self.goals = space, goals
            self._look_anew()
        self.space, self.goals = space, goals

    def _second_name(self, goals: Goals) -> str:
        """The second name of the plain number from now on, if it has none yet: see the class."""
        now, then = goals, self.goals
        if self.number != ONLY or now.is_plain == then.is_plain:
            return self.number
        if then.is_plain and self.objectives and self.objectives[0] != ONLY:
            return self.objectives[0]  # the name that its results gave it
        declared, other = (now, now.aims[0]) if then.is_plain else (then, ONLY)
        is_free = not any(other in outcome.names for outcome in self.told.values())
        return declared.aims[0] if len(declared.aims) == 1 and is_free else ONLY

    def _look_anew(self) -> None:
        """Derive everything from what was handed out and told, for the present space and goals."""
        found = placed([trial.params for trial in self.handed], self.space, self._fill)
        self.outside = {i for i, place in enumerate(found) if place is None}
        self.trials = [
            trial if place is None else replace(trial, params=place[0], encoded=place[1])
            for trial, place in zip(self.handed, found, strict=True)
        ]
        self._passed_by = {i: place[1] for i in self._measured if (place := found[i]) is not None}
        for trial_id, params in self._measured.items():
            self._put_at(trial_id, params, adapted(params, self.space, self._fill, self.space.measured))
        self.queue, self._at = {}, {}
        points = placed(self.wanted.values(), self.space, self._fill)
        for number, place in zip(self.wanted, points, strict=True):
            if place is not None:
                self._line_up(number, place[0])
        self.outcomes, self.errors, self.abandoned, self.objectives = {}, {}, set(), None
        self._arrived, self._within = {}, {}
        for trial_id in dict.fromkeys((*self.told, *self.faults, *sorted(self.over))):
            self._look_at(trial_id)

    def _look_at(self, trial_id: int) -> None:
        """Update the state of one trial under the present goals."""
        told, error = self.told.get(trial_id), self.faults.get(trial_id)
        regarded = told if told is None or self._is_as_told else self.goals.regarded(told, self.number)
        if regarded is not None:
            self._put(trial_id, regarded)
        if error is not None:
            self._fail(trial_id, error)
        if trial_id in self.over and self.status(trial_id) in ("pending", "partial"):
            self.abandoned.add(trial_id)  # a number that was not wanted at the time is not waited for

    @property
    def _is_as_told(self) -> bool:
        """Whether the number of a plain study has the names that its results use."""
        return self.goals.is_plain and not self._was_declared

    def _seen(self, model: dict[str, Any]) -> dict[str, int]:
        """The number of results for each model of an ask."""
        try:
            states_by_output(model, self.goals)
        except JournalError as error:
            raise TrialError(f"an ask has a model for each output: {error}") from error
        return {name: len(ids) for name, ids in self._arrived.items()}

    def _keep(self, trial_id: int, outcome: Outcome) -> None:
        arranged, known = self.goals.arranged(outcome), self.told.get(trial_id)
        self._put(trial_id, arranged)
        self.told[trial_id] = arranged if known is None else known.with_more(arranged)
        if self._is_whole(trial_id):
            self.over.add(trial_id)

    def _blame(self, trial_id: int, error: str) -> None:
        self.faults[trial_id] = error
        self._fail(trial_id, error)

    def _amend(self, trial_id: int, outcome: Outcome | None, error: str | None) -> None:
        """The amended result; numbers without a present goal stay."""
        known, is_over = self.told.get(trial_id), trial_id in self.abandoned
        self._forget(trial_id)
        if outcome is None:
            self._blame(trial_id, error or "failed")
            return
        arranged = self.goals.arranged(outcome)
        rest = None if known is None or self._is_as_told else self.goals.unwanted(known, self.number)
        self.told[trial_id] = arranged if rest is None else arranged.and_of(rest)
        if is_over:
            self.over.add(trial_id)
        self._look_at(trial_id)
        if self._is_whole(trial_id):
            self.over.add(trial_id)

    def _put(self, trial_id: int, arranged: Outcome) -> None:
        known = self.outcomes.get(trial_id)
        if self.goals.is_plain and arranged.objectives:
            self.objectives = self.objectives or tuple(arranged.objectives)
            if tuple(arranged.objectives) != self.objectives:
                arranged = aligned(arranged, self.objectives)
        whole = arranged if known is None else known.with_more(arranged)
        self.outcomes[trial_id] = whole
        for output in self.goals.outputs:
            before = None if known is None else self.goals.value(known, output.name)
            if before is None and self.goals.value(whole, output.name) is not None:
                self._arrived.setdefault(output.name, {})[trial_id] = None
        if self._is_whole(trial_id):
            if whole.lost:
                self._fail(trial_id, f"no number for {', '.join(whole.lost)}")
            else:
                self._arrived.setdefault(RUNS, {})[trial_id] = None
                value = self.value(trial_id) if self.goals.keeps_limits(whole) else None
                if value is not None:
                    self._within[trial_id] = value

    def _fail(self, trial_id: int, error: str) -> None:
        self.errors[trial_id] = error
        self._arrived.setdefault(RUNS, {})[trial_id] = None

    def _forget(self, trial_id: int) -> None:
        """Remove the result of a trial; the next fit starts anew, because the last one has seen it."""
        self.find(trial_id)
        if trial_id not in self.told and trial_id not in self.faults:
            raise TrialError(f"trial {trial_id} has no result that could be amended.", trial_id)
        for known in (self.told, self.faults, self.outcomes, self.errors):
            known.pop(trial_id, None)
        self.over.discard(trial_id)
        self._within.pop(trial_id, None)
        self.abandoned.discard(trial_id)
        for arrived in self._arrived.values():
            arrived.pop(trial_id, None)
        self._fit = None
        if not self.outcomes:
            self.objectives = None

    def _observe(self, trial_id: int, params: dict[str, Any]) -> None:
        """Add a point from elsewhere; from format 6 on it need not lie on steps or within bounds."""
        try:
            encoded = self.space.encode([params])[0]
        except InvalidInput:
            if self.format < 6:
                raise
            self._measured[trial_id] = params = self.space.measured(params)
            encoded, _ = self.space.located(params)
        self._add(
            Trial(trial_id, params, frozen(encoded), "observed elsewhere", "observed"), trial_id in self._measured
        )
        if trial_id in self._measured:
            self._put_at(trial_id, params, params)

    def _move(self, trial_id: int, changed: dict[str, Any] | None) -> None:
        """Move a trial to where it was really evaluated, with some parameters that differ from those suggested."""
        if changed is None:
            return
        trial = self.trials[trial_id]
        params = self.space.moved(trial.params, changed)
        if trial_id not in self._measured and trial_id not in self.outside:
            self._passed_by[trial_id] = trial.encoded
        self._measured[trial_id] = params
        self._put_at(trial_id, params, params)
        if trial_id in self.outcomes:
            self._fit = None  # models have learned it at another point

    def _put_at(self, trial_id: int, params: dict[str, Any], now: dict[str, Any] | None) -> None:
        """A trial that was evaluated with ``params``, which are ``now`` in the space; None without a place there."""
        handed, encoded, near = self.handed[trial_id], None, False
        if now is not None:
            encoded, near = self.space.located(now)
        self.trials[trial_id] = replace(
            handed,
            params=params if now is None else now,
            encoded=handed.encoded if encoded is None else encoded,
            suggested=None if handed.origin == "observed" or same_params(handed.params, params) else handed.params,
        )
        if near:
            self.outside.discard(trial_id)
        else:
            self.outside.add(trial_id)

    def _add(self, trial: Trial, measured: bool = False) -> None:
        dim, encoded = self.space.dim, trial.encoded
        if trial.id != self.next_id:
            raise TrialError(f"trial {trial.id} is out of order; the next id must be {self.next_id}.", trial.id)
        if encoded.shape != (dim,) or not (measured or ((encoded >= 0.0) & (encoded <= 1.0)).all()):
            raise TrialError(f"trial {trial.id} must have {dim} coordinates in [0, 1]; got {encoded}.", trial.id)
        params = trial.params if measured else self.space.check(trial.params)
        same = same_params(params, trial.params) and [*params] == [*trial.params]
        self.trials.append(trial if same else replace(trial, params=params))
        self.handed.append(self.trials[-1])

    def _line_up(self, number: int, params: dict[str, Any]) -> None:
        self.queue[number] = params
        self._at.setdefault(key_of(params), deque()).append(number)

    def _dequeue(self, params: dict[str, Any]) -> None:
        numbers = self._at.get(key_of(params))
        if not numbers:
            raise TrialError(f"{params} was not enqueued.")
        number = numbers.popleft()
        del self.queue[number], self.wanted[number]

    def _answer(self, trial_id: int) -> None:
        self.find(trial_id)
        if self.status(trial_id) in ("done", "failed"):
            raise TrialError(f"trial {trial_id} already has its result ({self.status(trial_id)}).", trial_id)
        self.abandoned.discard(trial_id)
        self.over.discard(trial_id)
