"""Trials, and batches of them: what is handed out."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import Verdict


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
    """

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
        lines = [f"{trial.id}: {described(trial.params)}  ({trial.provenance})" for trial in self.trials]
        return "\n".join([*lines, self.verdict.sentence])


def described(params: Mapping[str, Any]) -> str:
    """ "lr=0.01, depth=3"."""
    return ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in params.items())


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
