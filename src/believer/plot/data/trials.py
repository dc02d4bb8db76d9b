"""The trials of a study as columns, with a row for each trial, in id order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, read_only
from believer.errors import InvalidInput
from believer.study.events import Asked
from believer.study.goals import Goals
from believer.study.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """All trials.

    Attributes
    ----------
    ids : the ids, (n,).
    params : the points in the user's terms, n of them.
    X : the same in the encoded cube, (n, d).
    status : "done", "partial", "failed", "pending" or "abandoned", n of them.
    origin : "design", "model", "enqueued" or "observed", n of them.
    provenance : the reason for each choice, in words.
    error : the reason why a trial failed; "" for the others.
    batch : the number of the ask, from 1 on, (n,); 0 for a trial from elsewhere.
    values : for each outcome its values, (n,); NaN if there is none.
    keeps_limits : whether a trial is done and its results keep all limits, (n,).
    """

    ids: IntArray
    params: tuple[dict[str, Any], ...]
    X: Array
    status: tuple[str, ...]
    origin: tuple[str, ...]
    provenance: tuple[str, ...]
    error: tuple[str, ...]
    batch: IntArray
    values: dict[str, Array]
    keeps_limits: BoolArray

    def __len__(self) -> int:
        return len(self.ids)

    def has_status(self, *names: str) -> BoolArray:
        """A mask (n,) of the trials that are in one of these states."""
        return np.array([status in names for status in self.status], dtype=bool)

    @property
    def is_done(self) -> BoolArray:
        """A mask (n,) of the trials that have all of their results."""
        return self.has_status("done")

    def row(self, trial_id: int) -> int:
        """The row of a trial."""
        found = np.flatnonzero(self.ids == trial_id)
        if not len(found):
            raise InvalidInput(f"there is no trial {trial_id} in this space.")
        return int(found[0])


def trials_of(study: Study, goals: Goals) -> Trials:
    """The trials of a study; those that no longer fit its space are left out."""
    asks = [event for event in study.events if isinstance(event, Asked)]
    batch = {trial.id: number for number, asked in enumerate(asks, start=1) for trial in asked.trials}
    outside, outcomes = {trial.id for trial in study.outside}, study.outcomes
    pairs = [*zip(study.trials, study.records(), strict=True)]
    rows = [(trial, record) for trial, record in pairs if trial.id not in outside]
    found = [outcomes.get(trial.id) for trial, _ in rows]
    values = {
        output.name: [None if one is None else goals.value(one, output.name) for one in found]
        for output in goals.outputs
    }
    done = [record["status"] == "done" for _, record in rows]
    kept = [ok and one is not None and goals.keeps_limits(one) for ok, one in zip(done, found, strict=True)]
    return Trials(
        np.array([trial.id for trial, _ in rows], dtype=np.int64),
        tuple(trial.params for trial, _ in rows),
        read_only(np.array([trial.encoded for trial, _ in rows]).reshape(len(rows), study.space.dim)),
        tuple(record["status"] for _, record in rows),
        tuple(trial.origin for trial, _ in rows),
        tuple(trial.provenance for trial, _ in rows),
        tuple(record["error"] or "" for _, record in rows),
        np.array([batch.get(trial.id, 0) for trial, _ in rows], dtype=np.int64),
        {name: _column(column) for name, column in values.items()},
        np.array(kept, dtype=bool),
    )


def _column(values: list[float | None]) -> Array:
    return read_only(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
