"""Trials and batches, which an ask hands out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, overload

import numpy as np

from believer._lazy import above
from believer.arrays import Array
from believer.batch.verdict import Verdict
from believer.space import Space
from believer.study import html
from believer.study.columns import Column, column, of_params
from believer.study.files import PathLike
from believer.study.frames import frame
from believer.study.labels import NO_LABELS, Labels, named


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A point to evaluate.

    Attributes
    ----------
    id : the number of the trial in the study, from 0.
    params : the point in the user's terms.
    encoded : the point in the encoded cube, (dim,).
    provenance : the reason why the point was chosen, in words.
    origin : "design", "model", "enqueued" or "observed".
    suggested : the suggested parameters, if the trial was evaluated with other ones; otherwise None.
    """

    id: int
    params: dict[str, Any]
    encoded: Array
    provenance: str
    origin: str
    suggested: dict[str, Any] | None = None

    def __eq__(self, other: object) -> bool:
        """Whether all fields are equal, bit for bit."""
        if not isinstance(other, Trial):
            return NotImplemented
        ours, theirs = (
            (one.id, one.origin, one.provenance, one.encoded.tobytes(), one.suggested is None) for one in (self, other)
        )
        return ours == theirs and all(
            map(same_params, (self.params, self.suggested or {}), (other.params, other.suggested or {}))
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Trial({self.id}, {named(self.params)})"

    def copy(self) -> Trial:
        """A copy with its own params, so that a caller cannot change the original."""
        suggested = None if self.suggested is None else dict(self.suggested)
        return replace(self, params=dict(self.params), suggested=suggested)


class TrialList(tuple[Trial, ...]):
    """Trials in id order: a tuple that a console shows in one line, and a notebook as a table with units.

    Attributes
    ----------
    labels : units, for printing.
    """

    labels: Labels

    def __new__(cls, trials: Iterable[Trial] = (), labels: Labels = NO_LABELS) -> Self:
        """Make a batch of trials, which are in id order."""
        made = super().__new__(cls, trials)
        made.labels = labels
        return made

    def __str__(self) -> str:
        return "\n".join(f"{one.id}: {self.labels.point(one.params)}" for one in self) or "no trials"

    def __repr__(self) -> str:
        return f"TrialList({_counted(self)})"

    def _repr_html_(self) -> str:
        points = of_params([trial.params for trial in self], self.labels)
        columns = [_ids(self), *points, column("why", [trial.provenance for trial in self])]
        return html.block(_counted(self), html.table(columns))

    def to_frame(self, library: str | None = None) -> Any:
        """The trials as a data frame with a row for each trial: id, parameters, origin and provenance.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if that is installed, else polars.
        """
        return _framed(self, library)


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Sequence[Trial]):
    """Trials that were suggested together, with a verdict on them. It prints both.

    Attributes
    ----------
    trials : the trials, in the order of their ids.
    verdict : the expected gain of the batch, and its diversity.
    labels : units, for printing.
    earlier : the number of trials of earlier batches without a result; the batch is good together with them.
    space : the space of the study.
    """

    trials: tuple[Trial, ...]
    verdict: Verdict
    labels: Labels = field(default=NO_LABELS)
    earlier: int = 0
    space: Space | None = None

    @property
    def encoded(self) -> Array:
        """The points in the encoded cube, (q, dim)."""
        return np.array([trial.encoded for trial in self.trials])

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
        lines = [f"{one.id}: {self.labels.point(one.params)}  ({one.provenance})" for one in self.trials]
        return "\n".join([*lines, self.verdict.sentence, *([self._earlier_trials] if self.earlier else [])])

    @property
    def _earlier_trials(self) -> str:
        trials = "1 earlier trial has" if self.earlier == 1 else f"{self.earlier} earlier trials have"
        return f"{trials} no result yet; opt.pending lists them, and this batch takes them into account."

    def __repr__(self) -> str:
        return f"Batch({_counted(self.trials)})"

    def _repr_html_(self) -> str:
        points = of_params(self.params, self.labels)
        columns = [_ids(self.trials), *points, column("why", [trial.provenance for trial in self.trials])]
        said = [self.verdict.sentence, *([self._earlier_trials] if self.earlier else [])]
        return html.block(f"Batch of {_counted(self.trials)}", html.table(columns), *map(html.sentence, said))

    def to_frame(self, library: str | None = None) -> Any:
        """The trials as a data frame with a row for each trial: id, parameters, origin and provenance.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if that is installed, else polars.
        """
        return _framed(self.trials, library)

    def to_csv(self, path: PathLike, *, decimal: str = ".") -> str:
        """Write a sheet to fill in, which :meth:`believer.Optimizer.tell_csv` reads, and return its path.

        Continuous parameters have about three digits; the rules of the space still hold. An existing file is never
        replaced.

        Parameters
        ----------
        path : the path of the file, which ends in .csv, or in .xlsx for Excel (extra ``excel``).
        decimal : the decimal mark, "." or ",".
        """
        wrote: str = above("believer.lab", "batch_to_csv")(self, path, decimal)
        return wrote


def _counted(trials: Sequence[Trial]) -> str:
    ids = [trial.id for trial in trials]
    if not ids:
        return "0 trials"
    run = f"ids {ids[0]}-{ids[-1]}" if len(ids) > 1 else f"id {ids[0]}"
    return f"{len(ids)} trial{'' if len(ids) == 1 else 's'}, {run}"


def _framed(trials: Sequence[Trial], library: str | None) -> Any:
    return frame(
        {
            "trial_id": [trial.id for trial in trials],
            **params_by_column([trial.params for trial in trials]),
            "origin": [trial.origin for trial in trials],
            "provenance": [trial.provenance for trial in trials],
        },
        library,
    )


RESERVED = ("trial_id", "status", "value", "outside", "error", "origin", "provenance")
"""Columns that tables of trials have beside parameters and outcomes."""


def column_names(names: Sequence[str]) -> dict[str, str]:
    """The column of each parameter; a parameter with the name of another column gets a prefix."""
    columns: dict[str, str] = {}
    for name in names:
        found = name
        while found in RESERVED or (found != name and found in names):
            found = f"param.{found}"
        columns[name] = found
    return columns


def params_by_column(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Parameters as the columns of a table; None if a point lacks a parameter."""
    names = column_names(list(dict.fromkeys(name for params in points for name in params)))
    return {found: [params.get(name) for params in points] for name, found in names.items()}


def _ids(trials: Sequence[Trial]) -> Column:
    return column("trial", [trial.id for trial in trials])


def same_value(a: Any, b: Any) -> bool:
    """Whether two parameter values are the same; 1, 1.0 and True are three different values."""
    return type(a) is type(b) and bool(a == b)


def same_params(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether two points are the same, parameter by parameter."""
    if a.keys() != b.keys():
        return False
    return [(type(value), value) for value in a.values()] == [(type(b[name]), b[name]) for name in a]


def key_of(params: Mapping[str, Any]) -> Hashable:
    """A key that is equal for two points if and only if all of their parameters are the same."""
    return tuple(part for name in sorted(params) for part in (name, type(params[name]), params[name]))
