"""Trials, and batches of them: what is handed out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import Verdict
from believer.study import html
from believer.study.columns import Column, column, of_params
from believer.study.frames import frame
from believer.study.labels import NO_LABELS, Labels, described, named


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A point to evaluate.

    Attributes
    ----------
    id : its number in the study, from 0.
    params : the point in the user's terms.
    unit : the same in the encoded cube, (dim,).
    provenance : in words, why it was chosen.
    origin : "design", "model", "enqueued" or "observed".
    """

    id: int
    params: dict[str, Any]
    unit: Array
    provenance: str
    origin: str

    def __eq__(self, other: object) -> bool:
        """The same in all of its parts, to the bit."""
        if not isinstance(other, Trial):
            return NotImplemented
        return (self.id, self.origin, self.provenance, self.unit.tobytes()) == (
            (other.id, other.origin, other.provenance, other.unit.tobytes())
        ) and same_params(self.params, other.params)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Trial({self.id}, {named(self.params)})"

    def copy(self) -> Trial:
        """The same trial with params of its own: what a caller does to them stays with the caller."""
        return replace(self, params=dict(self.params))


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Sequence[Trial]):
    """Trials proposed together, and how diverse they are. Printed, it says both.

    Attributes
    ----------
    trials : in id order.
    verdict : how diverse they are.
    labels : units, for what is printed.
    earlier : how many trials of earlier batches have no result yet: the batch is good together with them.
    """

    trials: tuple[Trial, ...]
    verdict: Verdict
    labels: Labels = field(default=NO_LABELS)
    earlier: int = 0

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
        units = self.labels.parameters
        lines = [f"{trial.id}: {described(trial.params, units)}  ({trial.provenance})" for trial in self.trials]
        return "\n".join([*lines, self.verdict.sentence, *([self._still_out] if self.earlier else [])])

    @property
    def _still_out(self) -> str:
        trials = "1 earlier trial has" if self.earlier == 1 else f"{self.earlier} earlier trials have"
        return f"{trials} no result yet, and this batch is chosen beside them: opt.pending lists them."

    def __repr__(self) -> str:
        return f"Batch({self._counted()})"

    def _repr_html_(self) -> str:
        points = of_params(self.params, self.labels.parameters)
        columns = [_ids(self.trials), *points, column("why", [trial.provenance for trial in self.trials])]
        said = [self.verdict.sentence, *([self._still_out] if self.earlier else [])]
        return html.block(f"Batch of {self._counted()}", html.table(columns), *map(html.sentence, said))

    def _counted(self) -> str:
        ids = [trial.id for trial in self.trials]
        if not ids:
            return "0 trials"
        run = f"ids {ids[0]}-{ids[-1]}" if len(ids) > 1 else f"id {ids[0]}"
        return f"{len(ids)} trial{'' if len(ids) == 1 else 's'}, {run}"

    def to_frame(self, library: str | None = None) -> Any:
        """The trials as a data frame, a row each: id, parameters, origin and provenance.

        Parameters
        ----------
        library : "pandas" or "polars". By default pandas if that is installed, else polars.
        """
        return frame(
            {
                "trial_id": [trial.id for trial in self.trials],
                **params_by_column(self.params),
                "origin": [trial.origin for trial in self.trials],
                "provenance": [trial.provenance for trial in self.trials],
            },
            library,
        )


RESERVED = ("trial_id", "status", "value", "outside", "error", "origin", "provenance")
"""Columns that tables of trials have beside parameters and outcomes."""


def column_names(names: Sequence[str]) -> dict[str, str]:
    """The columns of parameters by their names: one that bears the name of another column is prefixed."""
    columns: dict[str, str] = {}
    for name in names:
        found = name
        while found in RESERVED or (found != name and found in names):
            found = f"param.{found}"
        columns[name] = found
    return columns


def params_by_column(points: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Parameters as the columns of a table; None where a point has none of a name."""
    names = column_names(list(dict.fromkeys(name for params in points for name in params)))
    return {found: [params.get(name) for params in points] for name, found in names.items()}


def _ids(trials: Sequence[Trial]) -> Column:
    return column("trial", [trial.id for trial in trials])


def same_value(a: Any, b: Any) -> bool:
    """Equal as parameters are: 1, 1.0 and True are three different choices."""
    return type(a) is type(b) and bool(a == b)


def same_params(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Whether two points are the same, parameter by parameter."""
    if a.keys() != b.keys():
        return False
    return [(type(value), value) for value in a.values()] == [(type(b[name]), b[name]) for name in a]


def key_of(params: Mapping[str, Any]) -> Hashable:
    """What two points have in common if and only if they are the same, parameter by parameter."""
    return tuple(part for name in sorted(params) for part in (name, type(params[name]), params[name]))
