"""The posterior mean along one parameter or two: averaged over the others, or in a slice through a point.

======  ===========================================================================
symbol  meaning
======  ===========================================================================
z_s     S points of the region, evenly spread; f(x, z_s): with x in their place
μ, Σ    posterior mean and covariance of f at all (x, z_s)
======  ===========================================================================

The partial dependence is (1/S) Σ_s f(x, z_s). Its posterior mean is the mean of μ, and its variance is 1ᵀ Σ 1 / S², if
a model has covariances and results are not warped. If results are warped, it is the median of posterior samples, with
the interval that contains 95 % of them. For a model with neither covariances nor samples, the interval is the mean of
the pointwise intervals, which is never too narrow. Points that are not allowed are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, read_only, whole
from believer.batch.learned import Learned
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.plot.data.axis import Axis
from believer.plot.data.convergence import limits_of
from believer.plot.data.evaluations import axes_named
from believer.plot.data.source import Source, StudyLike, study_of
from believer.space.conditional import REST
from believer.space.region import Branched
from believer.study.recommendation import NORMAL_95
from believer.surrogates.protocols import Joint, Sampling, Scaled

MAX_SAMPLES, MIN_SAMPLES, _WORK = 128, 8, 5e9
"""The bounds of the number of points in an average, and of the cost of its predictions."""

_DRAWS = 512
_NOWHERE = 2.0
"""A coordinate outside of the cube."""

CELLS = 41
"""Cells along each axis of a surface."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The posterior mean along one parameter at k positions, with the results of n trials.

    Attributes
    ----------
    axis : the parameter.
    label : the name of the outcome, with its units.
    mean : the posterior mean, (k,); NaN if no point is allowed.
    low, high : the 95 % interval, (k,) each.
    through : the point of a slice, in the user's terms; None for an average.
    at, values : the positions and the results, (n,) each.
    ids : the ids of the trials, (n,).
    nearness : the nearness of each trial to a slice in the other parameters, from 0 to 1, (n,); all 1 for an average.
    best : the row of the best result; None if there is none.
    limits : the least and the greatest value that the outcome may have; infinite where there is no limit.
    star : a description of the best row, in words.
    """

    axis: Axis
    label: str
    mean: Array
    low: Array
    high: Array
    through: dict[str, Any] | None
    at: Array
    values: Array
    ids: IntArray
    nearness: Array
    best: int | None
    limits: tuple[float, float]
    star: str


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """The posterior mean along two parameters at (k_y, k_x) positions, with n trials.

    Attributes
    ----------
    x, y : the parameters.
    label : the name of the outcome, with its units.
    mean : the posterior mean, (k_y, k_x); NaN if no point is allowed.
    std : the standard deviation, (k_y, k_x): half the width of the 68.3 % interval.
    through : the point of a slice, in the user's terms; None for an average.
    at : the positions of the trials, (n, 2).
    values : the results, (n,); NaN if there is none.
    status : the status of each trial.
    origin : the origin of each trial.
    batch : the number of the ask, (n,); 0 for trials from elsewhere.
    ids : the ids of the trials, (n,).
    best : the row of the best result; None if there is none.
    maximize : whether more is better.
    star : a description of the best row, in words.
    """

    x: Axis
    y: Axis
    label: str
    mean: Array
    std: Array
    through: dict[str, Any] | None
    at: Array
    values: Array
    status: tuple[str, ...]
    origin: tuple[str, ...]
    batch: IntArray
    ids: IntArray
    best: int | None
    maximize: bool
    star: str


def partial_dependence(
    study: StudyLike,
    *,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
    samples: int | None = None,
) -> tuple[Curve, ...]:
    """The partial dependence on each parameter. The arguments are those of :func:`believer.plot.partial_dependence`."""
    source = study_of(study)
    name = source.chosen(outcome)
    axes = axes_named(source, parameters)
    Z = _spread(source, enough(source, max(len(axis.at) for axis in axes)) if samples is None else samples)
    return tuple(_curve(source, name, axis, Z, None) for axis in axes)


def slice(  # noqa: A001 (what it is called)
    study: StudyLike,
    *,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
    through: Mapping[str, Any] | None = None,
) -> tuple[Curve, ...]:
    """The posterior mean along each parameter while the others stay at the best result. The arguments are those of
    :func:`believer.plot.slice`."""
    source = study_of(study)
    name = source.chosen(outcome)
    params, x = source.center(through)
    return tuple(_curve(source, name, axis, x[None, :], params) for axis in axes_named(source, parameters))


def surface(
    study: StudyLike,
    *,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
    through: Mapping[str, Any] | None = None,
    samples: int | None = None,
) -> Surface:
    """The posterior mean along two parameters, in a slice or averaged over the others.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : two of them; None for those that matter most.
    outcome : the name of the outcome; None for the first objective.
    through : the point of the slice; None for the best result.
    samples : S, the number of points that are averaged; None for a slice.
    """
    source = study_of(study)
    name = source.chosen(outcome)
    x, y = two_axes(source, name, parameters)
    params, Z = None, None
    if samples is None:
        params, at = source.center(through)
        Z = at[None, :]
    else:
        Z = _spread(source, samples)
    x, y = thinned(x), thinned(y)
    shape = len(y.at), len(x.at)
    mean, low, high = (
        part.reshape(shape) for part in expected(source, name, at_rest(source, (x, y), crossed(x, y, Z)))
    )
    trials = source.trials
    return Surface(
        x,
        y,
        source.label(name),
        mean,
        (high - low) / (2.0 * NORMAL_95),
        params,
        np.column_stack([x.positions(trials.params), y.positions(trials.params)]),
        trials.values[name],
        trials.status,
        trials.origin,
        trials.batch,
        trials.ids,
        None if source.best is None else trials.row(source.best),
        source.sign(name) < 0.0,
        source.star,
    )


def two_axes(source: Source, outcome: str, parameters: Sequence[str] | None) -> tuple[Axis, Axis]:
    """The axes of a surface, by default the two that matter most for an outcome; InvalidInput if there are not two."""
    axes = source.by_relevance(outcome) if parameters is None else axes_named(source, parameters)
    if len(axes) < 2 or (parameters is not None and len(axes) != 2):
        raise InvalidInput(f"a surface needs two parameters; got {', '.join(axis.name for axis in axes)}.")
    return axes[0], axes[1]


def thinned(axis: Axis) -> Axis:
    """The axis with at most ``CELLS`` of its positions, evenly spread; choices are all kept."""
    k = len(axis.at)
    if k <= CELLS or not axis.is_number:
        return axis
    places = np.linspace(0, k - 1, CELLS).round().astype(int)
    values = tuple(axis.values[i] for i in places)
    return replace(axis, values=values, at=read_only(axis.at[places]), rows=read_only(axis.rows[places]))


def along(axis: Axis, Z: Array) -> Array:
    """Points (k, S, d): the points ``Z`` (S, d), moved to each of the k positions of an axis."""
    X = np.tile(Z, (len(axis.at), 1, 1))
    X[:, :, axis.start : axis.stop] = axis.rows[:, None, :]
    return X


def crossed(x: Axis, y: Axis, Z: Array) -> Array:
    """Points (k_y k_x, S, d): the points ``Z`` (S, d), moved to each pair of positions, along x first."""
    X = np.repeat(along(y, Z), len(x.at), axis=0)
    X[:, :, x.start : x.stop] = np.tile(x.rows, (len(y.at), 1))[:, None, :]
    return X


def at_rest(source: Source, axes: tuple[Axis, ...], groups: Array) -> Array:
    """Points ``groups`` (k, S, d) at positions of some axes, with inactive columns at 0.5."""
    region = source.cache.region
    if not has(region, Branched):
        return groups
    X = groups.reshape(-1, groups.shape[2])
    counts = region.active(X)
    out = np.where(counts & (X != REST), X, region.project(X))
    for axis in axes:
        out[~counts[:, axis.start], axis.start : axis.stop] = _NOWHERE
    return out.reshape(groups.shape)


def expected(source: Source, outcome: str, groups: Array) -> tuple[Array, Array, Array]:
    """The mean, and the ends of its 95 % interval, of the average over each group of S points, (k,) each; points that
    are not allowed are left out."""
    k, S, d = groups.shape
    learned = source.learned(outcome)
    counts = allowed(source, groups.reshape(-1, d)).reshape(k, S)
    found = np.full((3, k), np.nan)
    for i in np.flatnonzero(counts.any(axis=1)) if S > 1 else ():
        found[:, i] = _average(source, learned, groups[i, counts[i]])
    if S == 1 and counts.any():
        rows = counts[:, 0]
        found[:, rows] = _interval(source, groups[rows, 0], outcome)
    return found[0], found[1], found[2]


def _average(source: Source, learned: Learned, X: Array) -> tuple[float, float, float]:
    """The mean, or median, and the ends of the 95 % interval, of the average over ``X`` (S, d)."""
    model, sign, warp = learned.model, learned.output.sign, learned.warp
    if warp is None and has(model, Joint):
        at = model.joint(X)
        mean, std = sign * float(at.mean.mean()), math.sqrt(max(float(at.covariance.mean()), 0.0))
        return mean, mean - NORMAL_95 * std, mean + NORMAL_95 * std
    if warp is not None and has(model, Sampling):
        draws = model.sample(X, _DRAWS, source.cache.randomness(0, "partial dependence"))
        averages = sign * warp.inverse(draws.ravel()).reshape(draws.shape).mean(axis=1)
        low, middle, high = np.quantile(averages, (0.025, 0.5, 0.975)).tolist()
        return middle, low, high
    mean, low, high = (float(part.mean()) for part in _interval(source, X, learned.output.name))
    return mean, low, high


def _interval(source: Source, X: Array, outcome: str) -> tuple[Array, Array, Array]:
    mean, _, low, high = source.predict(X, outcome)
    return mean, low, high


def _curve(source: Source, outcome: str, axis: Axis, Z: Array, through: dict[str, Any] | None) -> Curve:
    mean, low, high = expected(source, outcome, at_rest(source, (axis,), along(axis, Z)))
    trials = source.trials
    rows = np.flatnonzero(np.isfinite(trials.values[outcome]))
    best = None if source.best is None else trials.row(source.best)
    return Curve(
        axis,
        source.label(outcome),
        mean,
        low,
        high,
        through,
        axis.positions([trials.params[i] for i in rows]),
        trials.values[outcome][rows],
        trials.ids[rows],
        np.ones(len(rows)) if through is None else nearness(source, outcome, trials.X[rows], Z[0], (axis,)),
        int(np.flatnonzero(rows == best)[0]) if best is not None and best in rows else None,
        limits_of(source, outcome),
        source.star,
    )


def nearness(source: Source, outcome: str, X: Array, x: Array, across: tuple[Axis, ...]) -> Array:
    """The nearness of points ``X`` (n, d) to a slice through ``x`` (d,), from 0 to 1, (n,): exp(-2 r²), where r is the
    distance in lengthscales.

    The lengthscales of the outcome's model are used, or 0.5 for a model without lengthscales. The parameters
    ``across``, along which the slice goes, are left out.
    """
    model = source.learned(outcome).model
    scales = model.lengthscales if has(model, Scaled) else np.full(len(x), 0.5)
    gaps = (X - x) / scales
    for axis in across:
        gaps[:, axis.start : axis.stop] = 0.0
    near: Array = np.exp(-2.0 * (gaps**2).sum(axis=1))
    return near


def enough(source: Source, positions: int) -> int:
    """The number of points to average at so many positions: fewer if there are many results."""
    n = max(len(source.history.ids), 1)
    return int(np.clip(_WORK / (positions * n**2), MIN_SAMPLES, MAX_SAMPLES))


def _spread(source: Source, samples: int) -> Array:
    return source.cache.region.sample(whole(samples, "samples", 1), source.cache.randomness(0, "plot"))


def allowed(source: Source, X: Array) -> BoolArray:
    """A mask of the rows of ``X`` (m, d) that the study may evaluate; all of them if its constraint is not known."""
    region = source.cache.region
    return region.holds(region.project(X)) & (np.abs(region.project(X) - X) < 1e-6).all(axis=1)
