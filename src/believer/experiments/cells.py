"""A cell: the smallest part of an experiment, which is run, stored and resumed by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Any

from believer.arrays import whole
from believer.errors import InvalidInput
from believer.experiments import plain

_KEY_DIGITS = 16
"""64 bits: among a million cells, two share a key with probability 3e-8."""


_UNSPOKEN = ("function", "space", "code")
"""Settings that tell where a function is and what it was: a label names the problem instead."""

_SPOKEN_LENGTH = 40
"""Characters of a setting that a label still says."""


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One run of an experiment: everything that its result depends on.

    experiment: its name. settings: plain JSON, kept as a read-only copy; what changes the result belongs here, a number
    for the version of the experiment included. seed: of all its randomness.

    key: a digest of the three, the same in every process and version; equal keys are equal cells. The order of the
    settings does not count; 1 and 1.0 are different settings.
    """

    experiment: str
    settings: Mapping[str, Any]
    seed: int
    key: str = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.experiment, str) or not self.experiment:
            raise InvalidInput(f"experiment must be a name; got {self.experiment!r}.")
        if not isinstance(self.settings, Mapping):
            raise InvalidInput(f"settings must be a dict of plain JSON; got {self.settings!r}.")
        settings = plain.decode(plain.encode(dict(self.settings), "settings"), "settings")
        seed = whole(self.seed, "seed", 0)
        text = plain.encode([self.experiment, settings, seed], "a cell", sort=True)
        object.__setattr__(self, "settings", MappingProxyType(settings))
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "key", hashlib.sha256(text.encode("ascii")).hexdigest()[:_KEY_DIGITS])

    def to_json(self) -> dict[str, Any]:
        """``{experiment, settings, seed}``."""
        return {"experiment": self.experiment, "settings": dict(self.settings), "seed": self.seed}

    @classmethod
    def from_json(cls, record: Any) -> Cell:
        """The cell from the output of ``to_json``."""
        if not isinstance(record, dict) or record.keys() != {"experiment", "settings", "seed"}:
            raise InvalidInput(f"a cell must have exactly the fields experiment, settings, seed; got {record!r}.")
        return cls(record["experiment"], record["settings"], record["seed"])

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Cell) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[type[Cell], tuple[str, dict[str, Any], int]]:
        return Cell, (self.experiment, dict(self.settings), self.seed)

    def __str__(self) -> str:
        """A short label for a line of progress: nested and long settings are left out."""
        settings = "".join(f" {name}={value}" for name, value in self.settings.items() if _describe(name, value))
        return f"{self.experiment}{settings} seed={self.seed}"


def _describe(name: str, value: Any) -> bool:
    return name not in _UNSPOKEN and not isinstance(value, dict | list) and len(str(value)) <= _SPOKEN_LENGTH


def grid(experiment: str, axes: Mapping[str, Sequence[Any]], seeds: Iterable[int]) -> list[Cell]:
    """Every combination of one value from each axis, for every seed.

    Seeds change slowest: a run that is stopped early has compared everything on its first seeds.
    """
    for name, values in axes.items():
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise InvalidInput(f"an axis must be a list of values; got {values!r} for {name!r}.")
    return [
        Cell(experiment, dict(zip(axes, values, strict=True)), seed)
        for seed in seeds
        for values in product(*axes.values())
    ]
