"""The state of a study: its results, pending trials and next steps, in words and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from believer.arrays import to_width
from believer.errors import InvalidInput
from believer.lab.folder import Folder, batches
from believer.lab.readable import Readable
from believer.optimizer import Optimizer
from believer.space.units import amount
from believer.study.columns import as_text, column, known, of_params
from believer.study.goals import Goals
from believer.study.labels import Labels, number
from believer.study.outcome import Outcome
from believer.study.tell_report import trials as named
from believer.study.trials import same_params

_MOST = 24
"""The largest number of trials that are listed one by one."""


@dataclass(frozen=True, slots=True)
class ListedTrial:
    """A trial with its outcomes.

    Attributes
    ----------
    trial : the number of the trial.
    params : its parameters, with few digits.
    outcomes : numbers by name.
    """

    trial: int
    params: dict[str, Any]
    outcomes: dict[str, float]


@dataclass(frozen=True, slots=True)
class State:
    """The state of a study.

    Attributes
    ----------
    name : the name of the study.
    labels : units and goals.
    counts : numbers of trials that are done, failed, pending and abandoned.
    batches : the number of batches so far.
    best : the best result within all limits; None if there is none, or several objectives.
    front : the results to choose from, with several objectives.
    expected : a sentence with the model's prediction at the recommended point; "" if it adds nothing.
    pending : the trials without results.
    next : the next steps, a sentence each.
    """

    name: str
    labels: Labels
    counts: dict[str, int]
    batches: int
    best: ListedTrial | None
    front: tuple[ListedTrial, ...]
    expected: str
    pending: tuple[ListedTrial, ...]
    next: tuple[str, ...]

    def to_config(self) -> dict[str, Any]:
        """Plain JSON data."""

        def data(one: ListedTrial) -> dict[str, Any]:
            return {"trial": one.trial, "params": one.params, "outcomes": one.outcomes}

        return {
            "name": self.name,
            "goals": dict(self.labels.wanted),
            "counts": self.counts,
            "batches": self.batches,
            "best": None if self.best is None else data(self.best),
            "front": [data(one) for one in self.front],
            "expected": self.expected,
            "pending": [data(one) for one in self.pending],
            "next": list(self.next),
        }

    def __str__(self) -> str:
        counts = self.counts
        wanted = "; ".join(f"{name}: {words}" for name, words in self.labels.wanted.items())
        results = f"{counts['done']} {'result' if counts['done'] == 1 else 'results'}"
        lines = [
            f"{self.name}: {results}, {counts['failed']} failed, {counts['pending']} pending, "
            f"{counts['abandoned']} not run, in {self.batches} {'batch' if self.batches == 1 else 'batches'}.",
            f"Wanted: {wanted}.",
        ]
        if self.best is not None:
            said = ", ".join(
                f"{name} {amount(number(value), self.labels.outcomes.get(name, ''))}"
                for name, value in self.best.outcomes.items()
            )
            lines += [f"Best so far, trial {self.best.trial}: {said}"]
            lines += [f"  at {self.labels.point(self.best.params)}"]
        elif self.front:
            lines += [f"The best compromises so far, {len(self.front)} of them:", self._table(self.front)]
        elif counts["done"]:
            lines += ["No result is within all limits yet."]
        lines += [self.expected] if self.expected else []
        if self.pending:
            ids = named(one.trial for one in self.pending)
            lines += [f"Waiting for results: {ids}", self._table(self.pending[:_MOST])]
        return "\n".join([*lines, steps(*self.next)])

    def _table(self, rows: Sequence[ListedTrial]) -> str:
        names = [name for name in self.labels.wanted if any(name in one.outcomes for one in rows)]
        columns = [
            column("trial", [one.trial for one in rows]),
            *of_params([r.params for r in rows], self.labels),
        ]
        columns += [
            column(name, known(one.outcomes.get(name) for one in rows), self.labels.outcomes.get(name, ""))
            for name in names
        ]
        return "\n".join(f"  {line}" for line in as_text(columns).splitlines())


def steps(*sentences: str) -> str:
    """The next steps, as lines below what was found or done."""
    return "\n".join(f"Next: {one}" if not i else f"      {one}" for i, one in enumerate(sentences))


def state_of(folder: Folder, study: Optimizer | None) -> State:
    """The state of the study in a folder; ``study`` is the study of its journal, None before the first ask."""
    ask = f"believer ask suggests {folder.file.batch} experiments."
    if study is None:
        labels = Labels.of(folder.file.space, Goals(folder.file.options["outcomes"]))
        counts = dict.fromkeys(("done", "failed", "pending", "abandoned"), 0)
        return State(folder.file.name, labels, counts, 0, None, (), "", (), (ask,))
    readable, labels = Readable(study.space), Labels.of(study.space, study.goals)
    outcomes, trials = study.outcomes, study.trials

    def found(trial: int) -> ListedTrial:
        return ListedTrial(trial, readable.of(trials[trial].params), _numbers(outcomes.get(trial)))

    several = len(study.goals.objectives) > 1
    front: tuple[ListedTrial, ...] = ()
    best, expected = None, ""
    if several:
        front = tuple(found(point.trial.id) for point in study.front) if outcomes else ()
    elif study.best is not None:
        params, value = study.best
        rows = {row["trial_id"]: row["value"] for row in study.records()}
        best = found(next(one.id for one in trials if rows[one.id] == value and same_params(one.params, params)))
        expected = _expected(study)
    waiting = tuple(found(one.id) for one in study.pending)
    return State(
        folder.file.name,
        labels,
        {name: getattr(study.counts, name) for name in ("done", "failed", "pending", "abandoned")},
        batches(study),
        best,
        front,
        expected,
        waiting,
        _next(folder, study, bool(waiting), ask),
    )


def _next(folder: Folder, study: Optimizer, waits: bool, ask: str) -> tuple[str, ...]:
    if waits:
        sheets = [folder.relative(sheet) for sheet in folder.sheets_of(study)]
        which = f"fill in {', '.join(sheets)}; then: believer tell {sheets[-1]}" if sheets else "fill in the sheet"
        return (which, "A new sheet of all that waits: believer ask --pending")
    return (ask, "believer report writes a page with figures.") if study.outcomes else (ask,)


def _numbers(outcome: Outcome | None) -> dict[str, float]:
    return {} if outcome is None else {**outcome.objectives, **outcome.constraints}


def _expected(study: Optimizer) -> str:
    """The model's recommendation, if results are noisy, because the best result is then partly luck."""
    vary = any(outcome.replicates for outcome in study.outcomes.values()) or _infers_noise(study)
    if len(study.outcomes) < 3 or not vary:
        return ""
    try:
        found = study.recommend()
    except InvalidInput:
        return ""
    low, high = found.interval
    mean, *ends = (to_width(one, 0.5 * (high - low)) for one in (found.mean, low, high))
    mean = amount(mean, found.labels.objective)
    return f"To use, as results vary: trial {found.trial.id}, {mean} expected ({ends[0]} to {ends[1]} at 95 %)"


def _infers_noise(study: Optimizer) -> bool:
    return getattr(study.settings.surrogate, "noise", None) == "infer"
