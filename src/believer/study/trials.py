"""Trials, batches of them, and the ledger: the events of a study folded into what is known now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from believer.arrays import Array, frozen
from believer.batch.verdict import Verdict
from believer.errors import InvalidInput, TrialError
from believer.space import Space
from believer.study.events import Abandoned, Asked, Begun, Enqueued, Event, Failed, Observed, Told

_LARGEST = 1e100
"""Squares of values must be numbers too."""

COLUMNS = ("trial_id", "status", "value", "error", "origin", "provenance")


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A point to evaluate: its ``params`` in the user's terms, the same as ``unit`` (dim,) in the encoded cube.

    ``origin`` is "design", "model", "enqueued" or "observed"; ``provenance`` says in words why it was chosen.
    """

    id: int
    params: dict[str, Any]
    unit: Array
    provenance: str
    origin: str

    def copy(self) -> Trial:
        """The same trial with params of its own: what a caller does to them stays with the caller."""
        return replace(self, params=dict(self.params))


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Sequence[Trial]):
    """Trials proposed together, and how diverse they are."""

    trials: tuple[Trial, ...]
    verdict: Verdict

    @property
    def unit(self) -> Array:
        """The points as (q, dim)."""
        return np.array([trial.unit for trial in self.trials])

    @property
    def params(self) -> list[dict[str, Any]]:
        """The points in the user's terms."""
        return [trial.params for trial in self.trials]

    def __len__(self) -> int:
        return len(self.trials)

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trial]: ...
    def __getitem__(self, index: int | slice) -> Trial | Sequence[Trial]:
        return self.trials[index]

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __str__(self) -> str:
        lines = [f"{trial.id}: {_describe(trial.params)}  ({trial.provenance})" for trial in self.trials]
        return "\n".join([*lines, self.verdict.sentence])


def same_value(a: Any, b: Any) -> bool:
    """Equal as parameters are: 1, 1.0 and True are three different choices."""
    return type(a) is type(b) and bool(a == b)


def columns(names: Iterable[str]) -> list[str]:
    """The columns of the table, for parameters of these names."""
    return ["trial_id", "status", "value", *map(_column, names), "origin", "provenance", "error"]


def _column(name: str) -> str:
    """A parameter that bears the name of another column is prefixed."""
    return f"param.{name}" if name in COLUMNS else name


def checked_result(value: float | None, error: str | None) -> tuple[float, str | None]:
    """A result as a number, or the reason why there is none."""
    if error is not None:
        if value is not None:
            raise InvalidInput(f"a trial has a value or an error, not both; got {value!r} and {error!r}.")
        return np.nan, str(error)
    if value is None:
        raise InvalidInput("a result needs a value, or error=... for a failed evaluation.")
    if isinstance(value, str | bytes | bool | np.bool_ | complex | np.complexfloating):
        raise InvalidInput(f"a value must be a number; got {value!r}.")
    try:
        number = float(value)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"a value must be a number; got {value!r}.") from problem
    except OverflowError as problem:
        raise InvalidInput(f"a value must lie within ±{_LARGEST:g}; got more than a float holds.") from problem
    if np.isfinite(number) and abs(number) > _LARGEST:
        raise InvalidInput(f"a value must lie within ±{_LARGEST:g}; got {number!r}. Scale the objective.")
    return number, None if np.isfinite(number) else f"returned {number}"


def _describe(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in params.items())


@dataclass(frozen=True, slots=True)
class Counts:
    """How many trials are in which state; ``answered`` ones are done or failed."""

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
    """What the events of a study add up to. Values are in the user's units; the ledger never judges, only keeps."""

    space: Space
    events: list[Event] = field(default_factory=list)
    trials: dict[int, Trial] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    abandoned: set[int] = field(default_factory=set)
    queue: list[dict[str, Any]] = field(default_factory=list)
    fitted: tuple[tuple[int, ...], dict[str, Any]] | None = None
    """Ids of the results that the last ask's model was fitted to, and its hyperparameters."""

    @property
    def next_id(self) -> int:
        """The id that the next trial will get."""
        return len(self.trials)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Handed out, not answered, not abandoned; in id order."""
        open_ids = self.trials.keys() - self.values.keys() - self.errors.keys() - self.abandoned
        return tuple(self.trials[i] for i in sorted(open_ids))

    @property
    def counts(self) -> Counts:
        """How many trials are in which state."""
        done, failed, abandoned = len(self.values), len(self.errors), len(self.abandoned)
        return Counts(done, failed, len(self.trials) - done - failed - abandoned, abandoned)

    def designed(self) -> int:
        """How many trials came from the space-filling design."""
        return sum(trial.origin == "design" for trial in self.trials.values())

    def status(self, trial_id: int) -> str:
        """ "pending", "done", "failed" or "abandoned"."""
        if trial_id in self.values:
            return "done"
        if trial_id in self.errors:
            return "failed"
        return "abandoned" if trial_id in self.abandoned else "pending"

    def find(self, trial: Trial | int) -> Trial:
        """The trial with this id; TrialError when there is none."""
        trial_id = trial.id if isinstance(trial, Trial) else trial
        if isinstance(trial_id, bool) or not isinstance(trial_id, int | np.integer):
            raise TrialError(f"a trial is given by itself or by its id, a whole number; got {trial!r}.")
        if int(trial_id) not in self.trials:
            raise TrialError(f"there is no trial {trial_id}; ids run from 0 to {self.next_id - 1}.", int(trial_id))
        return self.trials[int(trial_id)]

    def apply(self, event: Event) -> None:
        """Take in one event, which must be a lawful successor of those before."""
        match event:
            case Begun():
                pass
            case Asked(trials=trials, model=model):
                if model is not None:
                    self.fitted = (tuple(sorted(self.values)), model)
                for entry in trials:
                    params = dict(entry["params"])
                    if entry["origin"] == "enqueued":
                        self._dequeue(params)
                    unit = np.array(entry["unit"], dtype=np.float64)
                    self._add(entry["id"], params, unit, entry["provenance"], entry["origin"])
            case Told(id=trial_id, value=value):
                self._answer(trial_id)
                self.values[trial_id] = value
            case Failed(id=trial_id, error=error):
                self._answer(trial_id)
                self.errors[trial_id] = error
            case Observed(id=trial_id, params=params, value=value, error=error):
                unit = self.space.encode([params])[0]
                self._add(trial_id, dict(params), unit, "observed elsewhere", "observed")
                if value is not None:
                    self.values[trial_id] = value
                else:
                    self.errors[trial_id] = error or "failed"
            case Enqueued(params=params):
                self.queue.append(dict(params))
            case Abandoned(id=trial_id):
                self.abandoned.add(self.find(trial_id).id)
        self.events.append(event)

    def _add(self, trial_id: int, params: dict[str, Any], unit: Array, provenance: str, origin: str) -> None:
        if trial_id != self.next_id:
            raise TrialError(f"trial {trial_id} is out of order; the next id is {self.next_id}.", trial_id)
        if unit.shape != (self.space.dim,) or not ((unit >= 0.0) & (unit <= 1.0)).all():
            raise TrialError(
                f"trial {trial_id} must have {self.space.dim} coordinates in [0, 1]; got {unit}.", trial_id
            )
        params = self.space.check(params)
        self.trials[trial_id] = Trial(trial_id, params, frozen(unit), provenance, origin)

    def _dequeue(self, params: dict[str, Any]) -> None:
        for place, queued in enumerate(self.queue):
            if queued.keys() == params.keys() and all(same_value(queued[name], params[name]) for name in params):
                del self.queue[place]
                return
        raise TrialError(f"{params} was not enqueued.")

    def _answer(self, trial_id: int) -> None:
        self.find(trial_id)
        if self.status(trial_id) in ("done", "failed"):
            raise TrialError(f"trial {trial_id} already has a result: {self.values.get(trial_id, 'failed')}.", trial_id)
        self.abandoned.discard(trial_id)

    def records(self) -> list[dict[str, Any]]:
        """One plain dict a trial, in id order, under the names of :func:`columns`."""
        names = [_column(name) for name in self.space.names]
        return [
            {
                "trial_id": trial.id,
                "status": self.status(trial.id),
                "value": self.values.get(trial.id),
                **dict(zip(names, trial.params.values(), strict=True)),
                "origin": trial.origin,
                "provenance": trial.provenance,
                "error": self.errors.get(trial.id),
            }
            for trial in self.trials.values()
        ]
