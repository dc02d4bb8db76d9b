"""The ledger: the events of a study folded into what is known now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from believer.arrays import frozen, shown
from believer.errors import InvalidInput, JournalCorrupt, JournalError, TrialError
from believer.space import Space
from believer.study.change import adapted, is_relabeled, moved
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
from believer.study.outcome import Outcome, aligned
from believer.study.settings import StudySettings, space_and_goals, upgraded_config
from believer.study.trials import Trial, key_of, same_params


@dataclass(frozen=True, slots=True)
class Counts:
    """How many trials are in which state; ``answered`` ones are done or failed.

    Attributes
    ----------
    done : have a result.
    failed : were evaluated in vain.
    pending : were handed out and not answered.
    abandoned : nobody waits for.
    """

    done: int
    failed: int
    pending: int
    abandoned: int

    @property
    def answered(self) -> int:
        """Trials that have a result, good or bad."""
        return self.done + self.failed


@dataclass(slots=True, eq=False)
class Ledger:
    """What the events of a study add up to. Outcomes are in the user's units; the ledger never judges, only keeps."""

    space: Space
    goals: Goals
    """What is wanted of each outcome."""
    events: list[Event] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    """By id."""
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)
    queue: dict[tuple[Hashable, int], dict[str, Any]] = field(default_factory=dict)
    """Points that the user wants next, by what they are and how many that were the same came before."""
    objectives: tuple[str, ...] | None = None
    """Of a study of a plain number, the names that the first result has; that named first is what is optimized."""
    format: int = 0
    """The journal format that events are written in now."""
    engine: int = 1
    """The number of the engine that chooses points now."""
    outside: set[int] = field(default_factory=set)
    """Trials that the space has no place for since it was changed: they are kept, and no model learns them."""
    _placed: int = 0
    """How many trials were checked to be at the points that are written with them."""
    _entered: Counter[Hashable] = field(default_factory=Counter)
    _left: Counter[Hashable] = field(default_factory=Counter)
    """How often a point entered the queue, and left it."""
    _arrived: dict[str, dict[int, None]] = field(default_factory=dict)
    """For each output: trials of which it is known, as they came in."""
    _within: dict[int, float] = field(default_factory=dict)
    """What is optimized, of results that are whole and within all limits; nothing for several objectives."""
    _fit: tuple[dict[str, int], dict[str, Any]] | None = None
    """How many results the models of the last ask had seen, and their hyperparameters."""

    @staticmethod
    def of(events: Iterable[Event], space: Space, goals: Goals) -> Ledger:
        """The ledger of a journal's ``events``; JournalCorrupt where one does not follow from those before it."""
        ledger = Ledger(space, goals)
        for line, event in enumerate(events, start=1):
            ledger.follow(event, line)
        ledger._refuse_misplaced()
        return ledger

    def _refuse_misplaced(self) -> None:
        """JournalCorrupt where the params of a trial that was handed out are not at its point."""
        new = self.trials[self._placed :]
        self._placed = len(self.trials)
        for start in range(0, len(new), 10_000):
            some = [trial for trial in new[start : start + 10_000] if trial.origin != "observed"]
            place = self.space.misplaced([t.params for t in some], np.array([t.unit for t in some])) if some else None
            if place is not None:
                trial = some[place]
                line = next(i for i, e in enumerate(self.events, 1) if isinstance(e, Asked) and trial in e.trials)
                raise JournalCorrupt(
                    f"line {line} does not agree with itself: {trial.params} is not at the point of trial {trial.id}, "
                    f"{trial.unit}.",
                    line,
                )

    @property
    def next_id(self) -> int:
        """The id that the next trial will get."""
        return len(self.trials)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Handed out, not answered or only in part, not abandoned; in id order."""
        answered = self.errors.keys() | self.abandoned | self.goals.whole(self.outcomes)
        return tuple([trial for trial in self.trials if trial.id not in answered])

    def _is_whole(self, trial_id: int) -> bool:
        """Whether nothing is missing of an outcome."""
        return not self.goals.missing(self.outcomes[trial_id])

    @property
    def model(self) -> dict[str, Any] | None:
        """The hyperparameters of the last ask; None before the first fit, and where a result was amended since."""
        return None if self._fit is None else self._fit[1]

    @property
    def fitted(self) -> dict[str, Fitted] | None:
        """By output, ids of the results that the model of the last ask had seen, and its hyperparameters."""
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
        """How many trials are in which state."""
        failed, abandoned = len(self.errors), len(self.abandoned)
        done = len(self._arrived.get(RUNS, ())) - failed
        return Counts(done, failed, len(self.trials) - done - failed - abandoned, abandoned)

    def history(self, settings: StudySettings) -> History:
        """The study as it stands, for a proposal under its ``settings``; a failure that was made good is none."""
        there = [trial for trial in self.trials if trial.id not in self.outside] if self.outside else self.trials
        made = [i for i in self.outcomes if self.status(i) == "done"] if self.errors else []
        done = {key_of(self.trials[i].params) for i in made}
        good = {i for i in self.errors if key_of(self.trials[i].params) in done} | self.outside
        return History.encoded(
            settings,
            {trial.id: trial.unit for trial in there},
            {i: o for i, o in self.outcomes.items() if i not in good} if good else self.outcomes,
            [i for i in self.errors if i not in good],
            [trial.id for trial in self.pending if trial.id not in self.outside],
            queue=tuple(self.queue.values()),
            next_id=self.next_id,
            designed=len([trial for trial in self.trials if trial.origin == "design"]),
            fitted=self.fitted,
        )

    def value(self, trial_id: int) -> float | None:
        """What is optimized, in the user's units; None where it is not known, or is not one number."""
        outcome, names = self.outcomes.get(trial_id), self.goals.objectives
        return None if outcome is None or len(names) > 1 else self.goals.value(outcome, names[0])

    @property
    def best(self) -> Trial | None:
        """The trial with the best value within all limits; among equals the first, None without such a result."""
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
        """The trial with this id; TrialError when there is none."""
        trial_id = trial.id if isinstance(trial, Trial) else trial
        if isinstance(trial_id, bool) or not isinstance(trial_id, int | np.integer):
            raise TrialError(f"a trial is given by itself, its id or its params; got {shown(trial)}.")
        if not 0 <= int(trial_id) < len(self.trials):
            raise TrialError(f"there is no trial {trial_id}; ids run from 0 to {self.next_id - 1}.", int(trial_id))
        return self.trials[int(trial_id)]

    def follow(self, event: Event, line: int) -> None:
        """Take in the event of a journal's line; JournalCorrupt where it does not follow from those before it."""
        try:
            self.apply(event)
        except (TrialError, InvalidInput, ValueError, KeyError, TypeError) as error:
            raise JournalCorrupt(f"line {line} does not follow from those before it: {error}", line) from error

    def apply(self, event: Event) -> None:
        """Take in one event, which must be a lawful successor of those before."""
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
                        self._dequeue(trial.params)
                    elif trial.origin not in ("design", "model"):
                        raise TrialError(f"a trial is not handed out by {trial.origin!r}.", trial.id)
                    self._add(trial)
            case Told(id=trial_id, outcome=outcome):
                self._answer(trial_id)
                self._keep(trial_id, outcome)
            case Failed(id=trial_id, error=error):
                self._answer(trial_id)
                self._fail(trial_id, error)
            case Observed(id=trial_id, params=params, outcome=found, error=error):
                unit = self.space.encode([params])[0]
                self._add(Trial(trial_id, params, frozen(unit), "observed elsewhere", "observed"))
                if found is not None:
                    self._keep(trial_id, found)
                else:
                    self._fail(trial_id, error or "failed")
            case Amended(id=trial_id, outcome=found, error=error):
                was_abandoned = trial_id in self.abandoned
                self._forget(trial_id)
                if found is not None:
                    self._keep(trial_id, found)
                else:
                    self._fail(trial_id, error or "failed")
                if was_abandoned and self.status(trial_id) == "partial":
                    self.abandoned.add(trial_id)
            case Enqueued(params=params):
                self._enqueue(self.space.check(params))
            case Abandoned(id=trial_id):
                self._answer(trial_id)
                self.abandoned.add(trial_id)
        self.events.append(event)

    def _change(self, config: dict[str, Any]) -> None:
        """Go on in another space, or with other goals: what fits counts, and the rest is kept. Units change nothing."""
        before = next(event.config for event in reversed(self.events) if isinstance(event, Begun | Changed))
        self.space, goals = space_and_goals(config)
        if is_relabeled(upgraded_config(before), upgraded_config(config)):
            self.goals = goals
            return
        self.trials = [moved(trial, self.space) or trial for trial in self.trials]
        self.outside = {trial.id for trial in self.trials if moved(trial, self.space) is None}
        wanted = [adapted(params, self.space) for params in self.queue.values()]
        self.queue, self._entered, self._left = {}, Counter(), Counter()
        for params in wanted:
            if params is not None:
                self._enqueue(params)
        if goals != self.goals:
            self._regard(goals)
        self.goals, self._fit = goals, None

    def _regard(self, goals: Goals) -> None:
        """What is known, with regard to other goals."""
        known, errors, arrived = self.outcomes, self.errors, list(self._arrived.get(RUNS, ()))
        order, whole = [*dict.fromkeys([*arrived, *known])], self.goals.whole(known)
        was_plain, self.goals, self.outcomes, self.errors, self.objectives = self.goals.is_plain, goals, {}, {}, None
        self._arrived, self._within = {}, {}
        for i in order:
            outcome = known.get(i) if was_plain and goals.is_plain else goals.rearranged(known.get(i))
            if outcome is not None:
                self._put(i, outcome)
            is_done = outcome is not None and self._is_whole(i)
            if is_done:
                self.abandoned.discard(i)
            if i in errors and i not in self.errors and not (is_done and i in whole):
                self._fail(i, errors[i])  # but for one that lost a number only of which nothing is wanted any more
            elif i in whole and i not in self.errors and not is_done:
                self.abandoned.add(i)  # nobody waits for a number that was not asked for then

    def _seen(self, model: dict[str, Any]) -> dict[str, int]:
        """How many results there are for each model of an ask."""
        try:
            states_by_output(model, self.goals)
        except JournalError as error:
            raise TrialError(f"an ask has a model for each output: {error}") from error
        return {name: len(ids) for name, ids in self._arrived.items()}

    def _keep(self, trial_id: int, outcome: Outcome) -> None:
        self._put(trial_id, self.goals.arranged(outcome))

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
        """What was told of a trial: the next fit starts anew, as the last one saw it."""
        self.find(trial_id)
        if self.outcomes.pop(trial_id, None) is None and trial_id not in self.errors:
            raise TrialError(f"trial {trial_id} has no result that could be amended.", trial_id)
        self.errors.pop(trial_id, None)
        self._within.pop(trial_id, None)
        self.abandoned.discard(trial_id)
        for arrived in self._arrived.values():
            arrived.pop(trial_id, None)
        self._fit = None
        if not self.outcomes:
            self.objectives = None

    def _add(self, trial: Trial) -> None:
        dim, unit = self.space.dim, trial.unit
        if trial.id != self.next_id:
            raise TrialError(f"trial {trial.id} is out of order; the next id is {self.next_id}.", trial.id)
        if unit.shape != (dim,) or not ((unit >= 0.0) & (unit <= 1.0)).all():
            raise TrialError(f"trial {trial.id} must have {dim} coordinates in [0, 1]; got {unit}.", trial.id)
        params = self.space.check(trial.params)
        same = same_params(params, trial.params) and [*params] == [*trial.params]
        self.trials.append(trial if same else replace(trial, params=params))

    def _enqueue(self, params: dict[str, Any]) -> None:
        key = key_of(params)
        self.queue[key, self._entered[key]] = params
        self._entered[key] += 1

    def _dequeue(self, params: dict[str, Any]) -> None:
        key = key_of(params)
        if self.queue.pop((key, self._left[key]), None) is None:
            raise TrialError(f"{params} was not enqueued.")
        self._left[key] += 1

    def _answer(self, trial_id: int) -> None:
        self.find(trial_id)
        if self.status(trial_id) in ("done", "failed"):
            raise TrialError(f"trial {trial_id} already has its result ({self.status(trial_id)}).", trial_id)
        self.abandoned.discard(trial_id)
