"""The results of several objectives, the Pareto front among them, and its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, shown
from believer.errors import InvalidInput
from believer.plot.data.source import Source, StudyLike, study_of


@dataclass(frozen=True, slots=True, eq=False)
class FrontPair:
    """Two objectives; n trials with results of both, m of them on the front of all objectives.

    Attributes
    ----------
    labels : the names of the two objectives, with their units.
    maximize : for each objective, whether more is better.
    ids : the ids of the trials, (n,).
    values : the results, (n, 2).
    keeps_limits : a mask (n,) of the results that keep all limits.
    on_front : the rows of the points on the front, (m,), sorted by the first objective.
    at : the points of the front, (m, 2): results, or posterior means if results are noisy.
    expected : the posterior means there, without noise, (m, 2).
    low, high : the ends of the 95 % interval, (m, 2) each.
    feasible : the probability that all limits are kept there, (m,).
    steps : the corners (s, 2) of the border of the dominated part; empty with more than two objectives.
    reference : the point from which the hypervolume is measured, (2,); None before any result.
    hypervolume : the hypervolume of all objectives.
    """

    labels: tuple[str, str]
    maximize: tuple[bool, bool]
    ids: IntArray
    values: Array
    keeps_limits: BoolArray
    on_front: IntArray
    at: Array
    expected: Array
    low: Array
    high: Array
    feasible: Array
    steps: Array
    reference: Array | None
    hypervolume: float


def front(study: StudyLike, *, objectives: Sequence[str] | None = None) -> tuple[FrontPair, ...]:
    """The front, for each pair of objectives; None for all of them."""
    source = study_of(study)
    names = source.goals.objectives if objectives is None else objectives
    if len(source.goals.objectives) < 2:
        raise InvalidInput("a front needs several objectives; this study has one. Use convergence.")
    if isinstance(names, str) or len(set(names)) < 2 or not set(names) <= set(source.goals.objectives):
        known = ", ".join(source.goals.objectives)
        raise InvalidInput(f"objectives must be two or more of {known}; got {shown(objectives)}.")
    if not any(np.isfinite(source.trials.values[name]).any() for name in names):
        raise InvalidInput("a figure of the front needs at least one result; there is none yet.")
    pairs = [(a, b) for i, a in enumerate(names) for b in list(names)[i + 1 :]]
    return tuple(_pair(source, a, b) for a, b in pairs)


def _pair(source: Source, a: str, b: str) -> FrontPair:
    trials, found = source.trials, source.front
    all_values = np.column_stack([trials.values[name] for name in (a, b)])
    rows = np.flatnonzero(np.isfinite(all_values).all(axis=1))
    points = sorted(found, key=lambda point: point.values[a])
    place = {int(trials.ids[row]): i for i, row in enumerate(rows)}
    points = [point for point in points if point.trial.id in place]
    X = np.array([point.trial.encoded for point in points]).reshape(len(points), source.space.dim)
    parts = [[part[:, None] for part in source.predict(X, name)] for name in (a, b)] if points else []
    mean, low, high = (
        (np.hstack([parts[0][i], parts[1][i]]) for i in (0, 2, 3)) if points else (np.zeros((0, 2)) for _ in range(3))
    )
    signs = (source.sign(a), source.sign(b))
    seen = np.array([[point.values[a], point.values[b]] for point in points]).reshape(-1, 2)
    reference = None if found.reference is None else np.array([found.reference[a], found.reference[b]])
    return FrontPair(
        (source.label(a), source.label(b)),
        (signs[0] < 0.0, signs[1] < 0.0),
        trials.ids[rows],
        all_values[rows],
        trials.keeps_limits[rows],
        np.array([place[point.trial.id] for point in points], dtype=np.int64),
        seen,
        mean,
        low,
        high,
        np.array([point.feasible for point in points]),
        _steps(seen, reference) if len(source.goals.objectives) == 2 and points else np.zeros((0, 2)),
        reference,
        found.hypervolume,
    )


def _steps(values: Array, reference: Array | None) -> Array:
    """The corners of the border of the part that the points dominate; the points are sorted by the first objective."""
    if reference is None:
        return values
    first, last = values[0], values[-1]
    # From the reference value of one objective to that of the other, whichever side is dominated.
    by_a = abs(reference[0] - first[0]) > abs(reference[0] - last[0])
    corners = [np.array([first[0], reference[1]]) if by_a else np.array([reference[0], first[1]])]
    for one, other in pairwise(values):
        corners += [one, np.array([other[0], one[1]]) if by_a else np.array([one[0], other[1]])]
    corners += [last, np.array([reference[0], last[1]]) if by_a else np.array([last[0], reference[1]])]
    return np.array(corners)
