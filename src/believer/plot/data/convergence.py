"""The convergence of a study to its best result."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np

from believer.acquisitions.hypervolume import hypervolume, nondominated
from believer.arrays import Array, BoolArray, IntArray, finite
from believer.errors import InvalidInput
from believer.plot.data.source import Source, StudyLike, study_of
from believer.study.goal import AtLeast, AtMost, Between

HYPERVOLUME = "hypervolume"
"""The quantity for several objectives: the volume that the results dominate, up to the reference."""


@dataclass(frozen=True, slots=True)
class Span:
    """Evaluations that were handed out together.

    Attributes
    ----------
    first, last : their numbers, from 1 on.
    batch : the number of the ask; 0 for trials from elsewhere.
    is_design : whether they belong to the space-filling design.
    """

    first: int
    last: int
    batch: int
    is_design: bool


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """Results and the best so far, evaluation by evaluation, in id order; n of them are done, failed or partial.

    Attributes
    ----------
    label : the name of the outcome, with its units.
    ids : the ids of the trials, (n,).
    count : 1 to n.
    values : the values of the outcome, (n,); NaN if there is none. All are NaN for the hypervolume.
    status, origin : the status and the origin of the trials, n each.
    keeps_limits : whether all limits are kept, (n,).
    best : the best value so far among results that keep all limits, (n,); NaN before the first.
    maximize : whether more is better; None for an outcome with limits only, which has no best value.
    spans : the batches, in order.
    limits : the least and the greatest value that the outcome may have; infinite where there is no limit.
    target : the value to reach, or None.
    optimum : the best possible value; None if it is not known.
    pending : the number of trials without a result.
    """

    label: str
    ids: IntArray
    count: IntArray
    values: Array
    status: tuple[str, ...]
    origin: tuple[str, ...]
    keeps_limits: BoolArray
    best: Array
    maximize: bool | None
    spans: tuple[Span, ...]
    limits: tuple[float, float]
    target: float | None
    optimum: float | None
    pending: int

    @property
    def regret(self) -> Array:
        """The distance of the best so far from the optimum, (n,); InvalidInput if the optimum is unknown."""
        if self.optimum is None:
            raise InvalidInput("the regret is the distance from the optimum: pass optimum=.")
        return np.abs(self.best - self.optimum)


def convergence(
    study: StudyLike, *, outcome: str | None = None, target: float | None = None, optimum: float | None = None
) -> Convergence:
    """Every result and the best so far. The arguments are those of :func:`believer.plot.convergence`."""
    source = study_of(study)
    several = outcome is None and len(source.goals.objectives) > 1
    name, trials = source.chosen(outcome), source.trials
    rows = np.flatnonzero(trials.has_status("done", "failed", "partial"))
    values = np.full(len(rows), np.nan) if several else trials.values[name][rows]
    kept = trials.keeps_limits[rows]
    if not trials.is_done[rows].any() and not np.isfinite(values).any():
        raise InvalidInput("a figure of convergence needs at least one result; there is none yet.")
    aim = name in source.goals.objectives
    sign = source.sign(name)
    if several:
        best = _hypervolumes(source, rows)
    elif aim:
        best = sign * np.fmin.accumulate(np.where(kept, sign * values, np.nan))
    else:
        best = np.full(len(rows), np.nan)
    return Convergence(
        HYPERVOLUME if several else source.label(name),
        trials.ids[rows],
        np.arange(1, len(rows) + 1),
        values,
        tuple(trials.status[i] for i in rows),
        tuple(trials.origin[i] for i in rows),
        kept,
        best,
        (several or sign < 0.0) if aim else None,
        _spans([trials.origin[i] == "design" for i in rows], trials.batch[rows]),
        limits_of(source, name),
        None if target is None else finite(target, "target"),
        None if optimum is None else finite(optimum, "optimum"),
        int(trials.has_status("pending").sum()),
    )


def limits_of(source: Source, outcome: str) -> tuple[float, float]:
    """The least and the greatest value that an outcome may have, in the user's units; infinite without a limit."""
    match source.goals.wanted.get(outcome):
        case AtMost(threshold=high):
            return -np.inf, high
        case AtLeast(threshold=low):
            return low, np.inf
        case Between(low=low, high=high):
            return low, high
    return -np.inf, np.inf


def _hypervolumes(source: Source, rows: IntArray) -> Array:
    """The hypervolume of the feasible results so far, (n,), up to the present reference point of the front."""
    trials, names = source.trials, source.goals.objectives
    signs = np.array([source.sign(name) for name in names])
    Y = signs * np.column_stack([trials.values[name][rows] for name in names])
    given = source.settings.reference or source.front.reference
    if given is None:
        raise InvalidInput("a figure of convergence needs at least one result of every objective; there is none yet.")
    reference, front = signs * np.array([given[name] for name in names]), np.zeros((0, len(names)))
    found, volume = [], 0.0
    for y, counts in zip(Y, trials.keeps_limits[rows], strict=True):
        if counts and np.isfinite(y).all() and not (front <= y).all(axis=1).any():
            front = np.vstack([front, y])
            front = front[nondominated(front)]
            volume = hypervolume(front, reference)
        found.append(volume)
    return np.array(found)


def _spans(designed: list[bool], batch: IntArray) -> tuple[Span, ...]:
    spans, first = list[Span](), 1
    for (is_design, number), run in groupby(zip(designed, batch.tolist(), strict=True)):
        last = first + len(list(run)) - 1
        spans.append(Span(first, last, number, is_design))
        first = last + 1
    return tuple(spans)
