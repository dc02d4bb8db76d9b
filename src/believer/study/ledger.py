"""The ledger: the events of a study folded into what is known now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from believer.arrays import frozen, shown
from believer.errors import InvalidInput, JournalCorrupt, TrialError
from believer.space import Space
from believer.study.events import Abandoned, Amended, Asked, Begun, Enqueued, Event, Failed, Observed, Told, Upgraded
from believer.study.goals import RUNS, Goals
from believer.study.history import Fitted, History
from believer.study.outcome import Outcome, aligned
from believer.study.settings import StudySettings
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
    sign: float
    """1 when the user minimizes, -1 when the user maximizes."""
    goals: Goals | None = None
    """What is wanted of each outcome, in a study that declares them."""
    events: list[Event] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    """By id."""
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)
    queue: dict[tuple[Hashable, int], dict[str, Any]] = field(default_factory=dict)
    """Points that the user wants next, by what they are and how many that were the same came before."""
    objectives: tuple[str, ...] | None = None
    """Their names, as the first result has them; that named first is what is optimized."""
    format: int = 0
    """The journal format that events are written in now."""
    _entered: Counter[Hashable] = field(default_factory=Counter)
    _left: Counter[Hashable] = field(default_factory=Counter)
    """How often a point entered the queue, and left it."""
    _arrived: dict[str, dict[int, None]] = field(default_factory=dict)
    """For each output of a study that declares its outcomes: trials of which it is known, as they came in."""
    _within: dict[int, float] = field(default_factory=dict)
    """There, what is optimized of results that are whole and within all limits; nothing for several objectives."""
    _fit: tuple[dict[str, int], dict[str, Any]] | None = None
    """How many results the models of the last ask had seen, and their hyperparameters."""

    @staticmethod
    def of(events: Iterable[Event], space: Space, sign: float, goals: Goals | None = None) -> Ledger:
        """The ledger of a journal's ``events``; JournalCorrupt where one does not follow from those before it."""
        ledger = Ledger(space, sign, goals)
        asked: list[tuple[int, Trial]] = []
        for line, event in enumerate(events, start=1):
            ledger.follow(event, line)
            if isinstance(event, Asked):
                asked += [(line, trial) for trial in event.trials]
        for start in range(0, len(asked), 10_000):
            some = asked[start : start + 10_000]
            place = space.misplaced([t.params for _, t in some], np.array([t.unit for _, t in some]))
            if place is not None:
                line, trial = some[place]
                raise JournalCorrupt(
                    f"line {line} does not agree with itself: {trial.params} is not at the point of trial {trial.id}, "
                    f"{trial.unit}.",
                    line,
                )
        return ledger

    @property
    def next_id(self) -> int:
        """The id that the next trial will get."""
        return len(self.trials)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Handed out, not answered or only in part, not abandoned; in id order."""
        answered = self.errors.keys() | self.abandoned | {i for i in self.outcomes if self._is_whole(i)}
        return tuple(trial for trial in self.trials if trial.id not in answered)

    def _is_whole(self, trial_id: int) -> bool:
        """Whether nothing is missing of an outcome."""
        return self.goals is None or not self.goals.missing(self.outcomes[trial_id])

    @property
    def model(self) -> dict[str, Any] | None:
        """The hyperparameters of the last ask; None before the first fit, and where a result was amended since."""
        return None if self._fit is None else self._fit[1]

    @property
    def fitted(self) -> Fitted | dict[str, Fitted] | None:
        """Ids of the results that the model of the last ask had seen, and its hyperparameters; None without any.

        By output, where outcomes are declared.
        """
        if self._fit is None:
            return None
        counts, model = self._fit
        if self.goals is None:
            return tuple(sorted(islice(self.outcomes, counts[""]))), model
        return {
            name: (tuple(sorted(islice(self._arrived[name], count))), model["outputs"][name])
            for name, count in counts.items()
            if name in model["outputs"]
        }

    @property
    def counts(self) -> Counts:
        """How many trials are in which state."""
        failed, abandoned = len(self.errors), len(self.abandoned)
        done = len(self.outcomes)
        if self.goals is not None:
            done = len(self._arrived.get(RUNS, ())) - failed
        return Counts(done, failed, len(self.trials) - done - failed - abandoned, abandoned)

    def history(self, settings: StudySettings) -> History:
        """The study as it stands, for a proposal under its ``settings``; a failure that was made good is none."""
        made = [i for i in self.outcomes if self.status(i) == "done"] if self.errors else []
        done = {key_of(self.trials[i].params) for i in made}
        good = {i for i in self.errors if key_of(self.trials[i].params) in done}
        return History.encoded(
            settings,
            {trial.id: trial.unit for trial in self.trials},
            {i: outcome for i, outcome in self.outcomes.items() if i not in good} if good else self.outcomes,
            [i for i in self.errors if i not in good],
            [trial.id for trial in self.pending],
            objectives=self.objectives,
            queue=tuple(self.queue.values()),
            next_id=self.next_id,
            designed=sum(trial.origin == "design" for trial in self.trials),
            fitted=self.fitted,
        )

    def value(self, trial_id: int) -> float | None:
        """What is optimized, in the user's units; None where it is not known, or is not one number."""
        outcome = self.outcomes.get(trial_id)
        if outcome is None or self.goals is None:
            return None if outcome is None else outcome.value
        names = self.goals.objectives
        return self.goals.value(outcome, names[0]) if len(names) == 1 else None

    @property
    def best(self) -> Trial | None:
        """The trial with the best value within all limits; among equals the first, None without such a result."""
        values = self._within
        if self.goals is None:
            values = {trial_id: outcome.value for trial_id, outcome in self.outcomes.items()}
        return self.trials[min(values, key=lambda i: (self.sign * values[i], i))] if values else None

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
            case Begun(format=version) | Upgraded(format=version):
                if version < self.format:
                    raise TrialError(f"a journal of format {self.format} does not go on in format {version}.")
                self.format = version
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
                wanted = self.space.check(params)
                key = key_of(wanted)
                self.queue[key, self._entered[key]] = wanted
                self._entered[key] += 1
            case Abandoned(id=trial_id):
                self._answer(trial_id)
                self.abandoned.add(trial_id)
        self.events.append(event)

    def _seen(self, model: dict[str, Any]) -> dict[str, int]:
        """How many results there are for each model of an ask."""
        if self.goals is None:
            return {"": len(self.outcomes)}
        if type(model.get("outputs")) is not dict:
            raise TrialError("a study with declared outcomes has a model for each output.")
        return {name: len(ids) for name, ids in self._arrived.items()}

    def _keep(self, trial_id: int, outcome: Outcome) -> None:
        if self.goals is None:
            names = tuple(outcome.objectives)
            self.objectives = self.objectives or names
            same = names == self.objectives and bool(names)
            self.outcomes[trial_id] = outcome if same else aligned(outcome, self.objectives)
            return
        arranged, known = self.goals.arranged(outcome), self.outcomes.get(trial_id)
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
        if self.goals is not None:
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
        if self.goals is None and not self.outcomes:
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
