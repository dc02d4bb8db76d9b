"""Finished cells, looked up by their settings. Tables, figures and the ledger are made from them.

======  =================================================================  ========
symbol  meaning                                                            shape
======  =================================================================  ========
n       evaluations of a loop, the initial design included
T       batches of a loop, after the design
======  =================================================================  ========
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.diagnostics import Measurement
from believer.experiments import FinishedCell

PRESETS = ("printed", "ours")
"""The paper's own set-up as far as it is printed, and this library's engine under the strategies of the paper."""


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One run of Bayesian optimization to the end of its budget.

    values (n,): observed values, the design's first. truth (n,): the same without noise. batches: sizes (T). Distances
    are those of the pairs of a batch, a number for each batch (T,), NaN for a batch of one: in the unit cube, and with
    ``_raw`` in the units of the box. seconds, cpu (T,): the time of ask and tell. foreign: all CPU seconds within other
    libraries. moved: the share of the acquisition's starts that ended elsewhere; None if it is not known.
    """

    seed: int
    n_init: int
    values: Array
    truth: Array
    batches: tuple[int, ...]
    mean_distance: Array
    min_distance: Array
    max_distance: Array
    mean_distance_raw: Array
    seconds: Array
    cpu: Array
    foreign: float
    moved: float | None

    @property
    def best(self) -> Array:
        """The best value observed so far, (n,)."""
        return frozen(np.minimum.accumulate(self.values))

    @property
    def final(self) -> float:
        """The best value observed by the end."""
        return float(self.values.min())

    @property
    def true_final(self) -> float:
        """The value without noise at the point with the best observed value."""
        return float(self.truth[int(np.argmin(self.values))])

    def after_batches(self) -> Array:
        """The best value after 0, 1, ..., T batches, (T + 1,)."""
        ends = self.n_init + np.concatenate([[0], np.cumsum(self.batches)]).astype(np.int64)
        return self.best[ends - 1]


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Finished cells, and methods to look them up."""

    finished: tuple[FinishedCell, ...]
    _named: dict[tuple[str, ...], list[FinishedCell]] = field(init=False, repr=False)
    """The cells of each kind, and those of each kind in which a setting has a name as its value."""

    def __post_init__(self) -> None:
        named: dict[tuple[str, ...], list[FinishedCell]] = {}
        for one in self.finished:
            kind = one.cell.experiment
            named.setdefault((kind,), []).append(one)
            for key, value in one.cell.settings.items():
                if isinstance(value, str):
                    named.setdefault((kind, key, value), []).append(one)
        object.__setattr__(self, "_named", named)

    def of(self, kind: str, **settings: Any) -> list[FinishedCell]:
        """The cells of a kind whose settings include those given, in the order of seeds."""
        keys = [(kind,), *((kind, key, value) for key, value in settings.items() if isinstance(value, str))]
        few = min((self._named.get(key, []) for key in keys), key=len)
        found = [one for one in few if all(one.cell.settings.get(k) == v for k, v in settings.items())]
        return sorted(found, key=lambda one: one.cell.seed)

    def loops(self, preset: str, problem: str, strategy: str, q: int, **settings: Any) -> list[Loop]:
        """The loops of a configuration, in the order of seeds; without options unless given (``options={...}``)."""
        wanted = {"noise": 0.0, "options": {}, **settings}
        found = self.of("loop", preset=preset, problem=problem, strategy=strategy, q=q, **wanted)
        return [_loop(one) for one in found]

    def measurements(self, preset: str, surrogate: str, **settings: Any) -> list[Measurement]:
        """The measurements of the diagnostic, in the order of seeds; without options unless given."""
        options = settings.pop("options", {})
        found = self.of("sdd", preset=preset, surrogate=surrogate, **settings)
        found = [one for one in found if one.cell.settings.get("options", {}) == options]
        return [Measurement.from_json(one.result) for one in found]

    @property
    def presets(self) -> tuple[str, ...]:
        """The presets that have at least one cell."""
        there = {one.cell.settings.get("preset") for one in self.finished}
        return tuple(preset for preset in PRESETS if preset in there)


def paired(*groups: Iterable[Loop]) -> list[list[Loop]]:
    """The same groups, reduced to the seeds that all of them have, in the order of seeds."""
    by_seed = [{loop.seed: loop for loop in group} for group in groups]
    seeds = sorted(set.intersection(*(set(loops) for loops in by_seed)))
    return [[loops[seed] for seed in seeds] for loops in by_seed]


def foreign_of(one: FinishedCell) -> float:
    """The CPU seconds that a cell spent within other libraries, as far as it counted them; 0 for our own search."""
    twin = one.cell.settings.get("options", {}).get("process") == "twin"
    return 0.0 if twin else float(one.result.get("foreign") or 0.0)


def _loop(one: FinishedCell) -> Loop:
    result = one.result
    values = frozen(np.array(result["values"], dtype=np.float64))
    return Loop(
        seed=one.cell.seed,
        n_init=int(one.cell.settings["n_init"]),
        values=values,
        truth=frozen(np.array(result.get("truth", result["values"]), dtype=np.float64)),
        batches=tuple(result["batches"]),
        mean_distance=_numbers(result["mean_distance"]),
        min_distance=_numbers(result["min_distance"]),
        max_distance=_numbers(result["max_distance"]),
        mean_distance_raw=_numbers(result["mean_distance_raw"]),
        seconds=_numbers(result["seconds"]),
        cpu=_numbers(result["cpu"]),
        foreign=foreign_of(one),
        moved=result["moved"],
    )


def _numbers(values: Iterable[float | None]) -> Array:
    return frozen(np.array([np.nan if value is None else value for value in values], dtype=np.float64))
