"""Ask and tell: the one object that changes, and only by events that are durable before a call returns.

Every call first checks its input, then writes one event to the journal, then folds the event into the ledger. Loading
folds the same events again, so a loaded optimizer is the one that was saved.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import Array, frozen, whole
from believer.batch import Pending, Request, Strategy
from believer.batch.random import REPLACED, design_point, draw, is_new
from believer.batch.request import checked_answer
from believer.batch.verdict import judge
from believer.errors import InvalidInput, JournalCorrupt, JournalError, SpaceExhausted, TrialError
from believer.maximize import Maximizer
from believer.maximize.objective import ENUMERATE_UP_TO, remaining
from believer.space import Constraint, Space
from believer.space.region import Region
from believer.study import serialization
from believer.study.events import FORMAT, Abandoned, Asked, Begun, Enqueued, Event, Failed, Observed, Told
from believer.study.journal import Journal, PathLike, read_events, write_events
from believer.study.model_cache import Learner
from believer.study.settings import make_settings, settings_from_config, versions
from believer.study.trials import Batch, Counts, Ledger, Trial, checked_result, columns, same_value
from believer.surrogates.protocols import Model, Prediction, Surrogate


@dataclass(frozen=True, slots=True, eq=False)
class _Proposal:
    """An ask before it is recorded; ``informed`` is the model that its verdict is measured with."""

    event: Asked
    region: Region
    informed: Model | None


@dataclass(slots=True, eq=False)
class _Draft:
    """The trials of an ask while it is being made up; ``taken`` (k, dim) is empty when duplicates are welcome."""

    first_id: int
    taken: Array
    distinct: bool
    entries: list[dict[str, Any]] = field(default_factory=list)

    @property
    def next_id(self) -> int:
        return self.first_id + len(self.entries)

    def add(self, params: dict[str, Any], unit: Array, origin: str, provenance: str) -> None:
        entry = {"id": self.next_id, "params": params, "unit": [float(u) for u in unit]}
        self.entries.append({**entry, "origin": origin, "provenance": provenance})
        if self.distinct:
            self.taken = np.vstack([self.taken, unit])


class Optimizer:
    """Batch Bayesian optimization: ``ask`` for points, ``tell`` what they returned.

    space: where to search. surrogate, acquisition, strategy: how; a strategy is a name or a value.
    n_init: results or pending trials before the model takes over (default: twice the number of parameters).
    seed: the same seed and the same calls give the same suggestions; None draws one.
    journal: a path; every event is written there before its call returns.
    maximize: the objective is to be maximized, not minimized.
    """

    def __init__(
        self,
        space: Space,
        surrogate: Surrogate | None = None,
        acquisition: Acquisition | None = None,
        strategy: str | Strategy = "kb",
        n_init: int | None = None,
        seed: int | None = 0,
        journal: PathLike | None = None,
        maximize: bool = False,
        maximizer: Maximizer | None = None,
    ) -> None:
        if journal is not None and not isinstance(journal, str | os.PathLike):
            raise InvalidInput(f"journal must be a path; got {journal!r}.")
        self.settings = make_settings(space, surrogate, acquisition, strategy, maximizer, n_init, seed, maximize)
        self._start(journal, [Begun(FORMAT, self.settings.to_config(), versions())])

    def _start(self, journal: Journal | PathLike | None, events: list[Event]) -> None:
        """Nothing learnt yet, and the ledger of ``events``."""
        self._ledger = Ledger(self.settings.space)
        self._learner = Learner(self.settings, self._ledger)
        self._memory: object = None
        for line, event in enumerate(events, start=1):
            try:
                self._ledger.apply(event)
            except (TrialError, InvalidInput, ValueError, KeyError, TypeError) as error:
                raise JournalCorrupt(f"line {line} does not follow from those before it: {error}", line) from error
        if isinstance(journal, str | os.PathLike):
            assert isinstance(events[0], Begun)
            journal = Journal.create(journal, events[0])
        self._journal = journal

    @property
    def space(self) -> Space:
        """Where it searches."""
        return self.settings.space

    def ask(
        self,
        q: int = 1,
        *,
        strategy: str | Strategy | None = None,
        fixed: Mapping[str, Any] | None = None,
        distinct: bool = True,
    ) -> Batch:
        """``q`` trials to evaluate now, good together and together with those still pending.

        strategy: another one than the optimizer's, for this call. fixed: parameters held at a value.
        distinct: no point equals another of the batch, a pending one or one of the history (1e-6 of the encoded cube).
        Raises :class:`SpaceExhausted` when a finite space has fewer than q such points left.
        """
        proposal = self._propose(q, strategy, fixed, distinct)
        units = np.array([entry["unit"] for entry in proposal.event.trials])
        verdict = judge(units, proposal.region, proposal.informed)
        self._record(proposal.event)
        return Batch(tuple(self._ledger.trials[entry["id"]].copy() for entry in proposal.event.trials), verdict)

    def _propose(
        self, q: int, strategy: str | Strategy | None, fixed: Mapping[str, Any] | None, distinct: bool
    ) -> _Proposal:
        """What an ask hands out: enqueued points first, then the design's, then the strategy's. Records nothing."""
        q = whole(q, "q", 1)
        if not isinstance(distinct, bool | np.bool_):
            raise InvalidInput(f"distinct must be True or False; got {distinct!r}.")
        distinct = bool(distinct)
        chosen_by = self.settings.strategy if strategy is None else serialization.strategy_named(strategy)
        held = self.space.check_fixed(fixed or {})
        region = self.space.region(held)
        before = self._ledger.pending
        queued = [p for p in self._ledger.queue if all(same_value(p[name], value) for name, value in held.items())][:q]
        if distinct:
            self._refuse_exhausted(q, queued, region)

        draft = _Draft(self._ledger.next_id, self._taken() if distinct else np.zeros((0, self.space.dim)), distinct)
        for params in queued:
            draft.add(params, self.space.encode([params])[0], "enqueued", "asked for by the user")
        model, described = None, None
        try:
            self._extend_design(draft, q, len(before), region, held)
            if len(draft.entries) < q:
                model = self._learner.model()
                described = self._learner.described()
                request = self._request(draft, q, before, region, model)
                chosen = checked_answer(chosen_by.choose(request, self._memory), request, chosen_by)
                self._memory = chosen.memory
                for choice in chosen.choices:
                    x, note = self._new_point(draft, choice.x, region)
                    why = choice.provenance + note + _subset_note(described)
                    draft.add({**self.space.decode(x[None, :])[0], **held}, x, "model", why)
        except SpaceExhausted:
            if distinct:
                self._refuse_exhausted(q, queued, region, count=True)
            raise

        informed = model if q == 1 or model is None else self._learner.informed(before)
        wanted = {"strategy": serialization.to_config(chosen_by), "fixed": held, "distinct": distinct}
        return _Proposal(Asked(tuple(draft.entries), wanted, described), region, informed)

    def _extend_design(self, draft: _Draft, q: int, pending: int, region: Region, held: dict[str, Any]) -> None:
        """Design points until ``n_init`` results or pending trials exist; and beyond, while there is no result."""
        known = len(self._ledger.values) + pending
        index = self._ledger.designed()
        while len(draft.entries) < q and (known + len(draft.entries) < self.settings.n_init or not self._ledger.values):
            planned = design_point(index, self.settings.n_init, region, self._learner.randomness(0, "design"))
            x, note = self._new_point(draft, planned, region)
            why = f"point {index + 1} of a Latin hypercube{note}"
            draft.add({**self.space.decode(x[None, :])[0], **held}, x, "design", why)
            index += 1

    def _new_point(self, draft: _Draft, x: Array, region: Region) -> tuple[Array, str]:
        """``x`` if it is allowed and new, else a uniform draw that is; and what provenance says of that."""
        if is_new(x, region, draft.taken):
            return x, ""
        return draw(region, draft.taken, self._learner.randomness(draft.next_id, "random"))[0], REPLACED

    def _request(self, draft: _Draft, q: int, before: tuple[Trial, ...], region: Region, model: Model) -> Request:
        """What the strategy sees; trials chosen earlier in this call count as pending."""
        early = [np.array(entry["unit"]) for entry in draft.entries]
        ids = tuple(trial.id for trial in before) + tuple(entry["id"] for entry in draft.entries)
        X = np.array([trial.unit for trial in before] + early).reshape(len(ids), self.space.dim)
        return Request(
            ids=tuple(range(draft.next_id, draft.next_id + q - len(early))),
            surrogate=self.settings.surrogate,
            acquisition=self.settings.acquisition,
            model=model,
            data=self._learner.data(),
            pending=Pending(ids, frozen(X)),
            region=region,
            avoid=draft.taken,
            distinct=draft.distinct,
            randomness=self._learner.randomness,
            sign=self.settings.sign,
            maximizer=self.settings.maximizer,
            failed=self._learner.failed(),
        )

    def _taken(self) -> Array:
        """Points (k, dim) that were handed out or observed."""
        return np.array([trial.unit for trial in self._ledger.trials.values()]).reshape(-1, self.space.dim)

    def _refuse_exhausted(self, q: int, queued: list[dict[str, Any]], region: Region, count: bool = False) -> None:
        """An error before any work, when a finite space cannot give q points that are new.

        With a constraint, points are counted only where that is cheap; or, with ``count``, after the work has failed.
        """
        size, needed = region.size, q - len(queued)
        if size is None:
            return
        surely = size - len(self._ledger.trials) - len(queued) if region.feasible is None else 0
        if surely >= needed or (region.feasible is not None and size > ENUMERATE_UP_TO and not count):
            return
        points = remaining(region, np.vstack([self._taken(), self.space.encode(queued)]) if queued else self._taken())
        if points is not None and needed > len(points):
            raise SpaceExhausted(
                f"{needed} new point(s) asked for, but this finite space has {len(points)} left; "
                "ask for fewer, or allow repeats with distinct=False.",
                len(points) + len(queued),
            )

    def predict(self, points: Iterable[Mapping[str, Any]]) -> Prediction:
        """Mean and std (m,) of the objective, without noise, in the user's units, from results so far.

        Failed trials count as the worst result, as they do for suggestions.
        """
        if not self._ledger.values:
            raise InvalidInput("predict needs at least one result; tell or observe one first.")
        try:
            rows = list(points)
        except TypeError as error:
            raise InvalidInput(f"predict needs a list of params; got {points!r}.") from error
        if isinstance(points, Mapping):
            raise InvalidInput(f"predict needs a list of params, [params]; got one, {dict(points)}.")
        X = self.space.encode(rows)
        at = self._learner.model().predict(X)
        return Prediction(self.settings.sign * at.mean, at.std)

    def tell(self, trial: Trial | int, value: float | None = None, *, error: str | None = None) -> None:
        """The result of a trial; NaN, an infinity or ``error="..."`` mark a failed evaluation."""
        self._record(self._answer(trial, value, error))

    def tell_many(self, trials: Iterable[Trial | int], values: Iterable[float]) -> None:
        """Results of several trials, one value each; nothing is taken in when one of them is wrong."""
        try:
            pairs = [*trials], [*values]
        except TypeError as error:
            raise InvalidInput(f"tell_many needs a list of trials and a list of values; {error}.") from error
        if len(pairs[0]) != len(pairs[1]):
            raise InvalidInput(f"tell_many needs one value for each trial; got {len(pairs[0])} and {len(pairs[1])}.")
        events = [self._answer(trial, value, None) for trial, value in zip(*pairs, strict=True)]
        ids = [event.id for event in events]
        if len(set(ids)) < len(ids):
            raise TrialError(f"each trial may be told once; got ids {ids}.")
        for event in events:
            self._record(event)

    def _answer(self, trial: Trial | int, value: float | None, error: str | None) -> Told | Failed:
        found = self._ledger.find(trial)
        if isinstance(trial, Trial) and not np.array_equal(trial.unit, found.unit):
            raise TrialError(
                f"trial {trial.id} of this study has other parameters; is it from another study?", trial.id
            )
        status = self._ledger.status(found.id)
        if status in ("done", "failed"):
            raise TrialError(f"trial {found.id} already has its result ({status}); a result is told once.", found.id)
        number, reason = checked_result(value, error)
        return Failed(found.id, reason) if reason is not None else Told(found.id, number)

    def observe(self, params: Mapping[str, Any], value: float | None = None, *, error: str | None = None) -> Trial:
        """A result from elsewhere; counts towards ``n_init``. The constraint is not asked: data are data."""
        settled = self.space.check(params)
        number, reason = checked_result(value, error)
        trial_id = self._ledger.next_id
        self._record(Observed(trial_id, settled, None if reason is not None else number, reason))
        return self._ledger.trials[trial_id].copy()

    def enqueue(self, params: Mapping[str, Any]) -> None:
        """A point that the user wants next: the next ask hands it out first, even if it repeats another."""
        settled = self.space.check(params)
        if not self.space.allows(settled):
            raise InvalidInput(f"the space's constraint does not allow {settled}.")
        self._record(Enqueued(settled))

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
        if status == "pending":
            self._record(Abandoned(found.id))

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials handed out and not answered."""
        return tuple(trial.copy() for trial in self._ledger.pending)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, in id order."""
        return tuple(trial.copy() for trial in self._ledger.trials.values())

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order: what the journal holds."""
        return tuple(self._ledger.events)

    @property
    def counts(self) -> Counts:
        """How many trials are done, failed, pending and abandoned."""
        return self._ledger.counts

    @property
    def queued(self) -> tuple[dict[str, Any], ...]:
        """Points enqueued and not handed out yet."""
        return tuple(dict(params) for params in self._ledger.queue)

    @property
    def best(self) -> tuple[dict[str, Any], float] | None:
        """Parameters and value of the best result; None before the first. Among equals, the first."""
        if not self._ledger.values:
            return None
        pick = max if self.settings.maximize else min
        ids = sorted(self._ledger.values)
        best = pick(ids, key=self._ledger.values.__getitem__)
        return dict(self._ledger.trials[best].params), self._ledger.values[best]

    @property
    def hyperparameters(self) -> dict[str, Any] | None:
        """Of the model behind the last ask, as plain data; None before the first fit."""
        return None if self._ledger.fitted is None else dict(self._ledger.fitted[1])

    def records(self) -> list[dict[str, Any]]:
        """The history as a table of plain dicts, one a trial."""
        return self._ledger.records()

    def to_csv(self, path: PathLike) -> None:
        """The history as a CSV file with a header."""
        rows = self.records()
        # Text of an exception may hold a lone surrogate, from a file name that is not UTF-8.
        with Path(path).open("w", newline="", encoding="utf-8", errors="backslashreplace") as file:
            writer = csv.DictWriter(file, columns(self.space.names))
            writer.writeheader()
            writer.writerows(rows)

    def save(self, path: PathLike) -> None:
        """Write the whole study to a journal at ``path``, atomically; an earlier state of this study is replaced.

        Raises :class:`JournalError` when the file there is anything else.
        """
        target = Path(path)
        if self._journal is not None and target.resolve() == self._journal.path.resolve():
            return
        if target.exists() and target.stat().st_size > 0:
            try:
                found = read_events(target)
            except JournalError:
                found = []
            if not found or found != self._ledger.events[: len(found)]:
                raise JournalError(f"{target} exists and is not an earlier state of this study; choose another path.")
        write_events(target, self._ledger.events)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        surrogate: Surrogate | None = None,
        acquisition: Acquisition | None = None,
        strategy: str | Strategy | None = None,
        constraint: Constraint | None = None,
        maximizer: Maximizer | None = None,
    ) -> Self:
        """The study in the journal at ``path``, ready to go on; further events are appended to it.

        Custom members and the space's constraint are passed again, and checked by name. No fit is run.
        """
        journal, events = Journal.open(path)
        try:
            study = cls._from_events(events, journal, surrogate, acquisition, strategy, maximizer, constraint)
        except BaseException:
            journal.close()
            raise
        return study

    @classmethod
    def _from_events(cls, events: list[Event], journal: Journal | None, *passed: Any) -> Self:
        begun = events[0]
        assert isinstance(begun, Begun)
        study = cls.__new__(cls)
        try:
            study.settings = settings_from_config(begun.config, *passed)
        except (KeyError, TypeError, AttributeError) as error:
            raise JournalCorrupt(f"the first line lacks a setting, or has a wrong one: {error!r}", 1) from error
        study._start(journal, events)
        return study

    def close(self) -> None:
        """Release the journal; the optimizer can still be read, not changed."""
        if self._journal is not None:
            self._journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, event: Event) -> None:
        if self._journal is not None:
            self._journal.append(event)
        self._ledger.apply(event)


def _subset_note(state: dict[str, Any] | None) -> str:
    """What provenance adds when hyperparameters come from part of the data."""
    subset = None if state is None else state.get("subset")
    return "" if subset is None else f"; hyperparameters from {subset} of the results"
