"""The points of a study, for pairs of parameters and as lines across all parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, IntArray, shown
from believer.errors import InvalidInput
from believer.plot.data.axis import Axis
from believer.plot.data.source import Source, StudyLike, study_of

_BINS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """Trials on the axes of their parameters, n trials and p parameters.

    Attributes
    ----------
    label : the name of the outcome, with its units.
    axes : the p axes.
    ids : the ids of the trials, (n,).
    at : the positions on the axes, (n, p); NaN if a trial does not have the parameter.
    share : the same as shares of the axes, from 0 to 1, (n, p).
    values : the values of the outcome, (n,); NaN if there is none.
    status : the status of each trial.
    batch : the number of the ask, (n,); 0 for trials from elsewhere.
    best : the row of the best result; None if there is none.
    maximize : whether more is better.
    bins : the edges of the bars of a histogram on each axis.
    counts : the number of trials in each bar.
    star : a description of the best row, in words.
    """

    label: str
    axes: tuple[Axis, ...]
    ids: IntArray
    at: Array
    share: Array
    values: Array
    status: tuple[str, ...]
    batch: IntArray
    best: int | None
    maximize: bool
    bins: tuple[Array, ...]
    counts: tuple[IntArray, ...]
    star: str


def evaluations(
    study: StudyLike, *, parameters: Sequence[str] | None = None, outcome: str | None = None
) -> Evaluations:
    """The points of a study's trials. The arguments are those of :func:`believer.plot.evaluations`."""
    source = study_of(study)
    name, trials = source.chosen(outcome), source.trials
    if not len(trials):
        raise InvalidInput("a figure of evaluations needs at least one trial; there is none yet.")
    axes = axes_named(source, parameters)
    at = np.column_stack([axis.positions(trials.params) for axis in axes])
    bins = tuple(map(_bins, axes))
    return Evaluations(
        source.label(name),
        axes,
        trials.ids,
        at,
        np.column_stack([axis.share(column) for axis, column in zip(axes, at.T, strict=True)]),
        trials.values[name],
        trials.status,
        trials.batch,
        None if source.best is None else trials.row(source.best),
        source.sign(name) < 0.0,
        bins,
        tuple(np.histogram(column[np.isfinite(column)], e)[0] for e, column in zip(bins, at.T, strict=True)),
        source.star,
    )


def parallel_coordinates(
    study: StudyLike, *, parameters: Sequence[str] | None = None, outcome: str | None = None
) -> Evaluations:
    """The data of parallel coordinates: every trial that has a value of the outcome, on all axes."""
    found = evaluations(study, parameters=parameters, outcome=outcome)
    if not np.isfinite(found.values).any():
        raise InvalidInput(f"parallel coordinates need at least one result of {found.label}; there is none yet.")
    return found


def axes_named(source: Source, parameters: Sequence[str] | None) -> tuple[Axis, ...]:
    """The axes with the names ``parameters``; for None those with more than one value, or all if none has."""
    if parameters is None:
        return tuple(axis for axis in source.axes if not axis.is_constant) or source.axes
    if isinstance(parameters, str) or len(set(parameters)) < len(parameters) or not len(parameters):
        raise InvalidInput(f"parameters must be a list of different names; got {shown(parameters)}.")
    return tuple(source.axis(name) for name in parameters)


def _bins(axis: Axis) -> Array:
    if axis.is_constant or not axis.is_number or (axis.is_discrete and len(axis.at) <= 2 * _BINS):
        return axis.edges
    low, high = float(axis.edges[0]), float(axis.edges[-1])
    return np.geomspace(low, high, _BINS + 1) if axis.is_log else np.linspace(low, high, _BINS + 1)
