"""The probability that a point keeps all limits and that its evaluation succeeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from believer.arrays import Array, IntArray
from believer.errors import InvalidInput
from believer.plot.data.axis import Axis
from believer.plot.data.dependence import allowed, along, at_rest, crossed, thinned, two_axes
from believer.plot.data.source import Source, StudyLike, study_of
from believer.study.goals import RUNS


@dataclass(frozen=True, slots=True, eq=False)
class Feasibility:
    """The probability that a point is feasible, in a slice along one parameter or two, and n trials.

    Attributes
    ----------
    axes : one parameter or two, x first.
    probability : the probability, (k_x,) or (k_y, k_x); NaN if no point is allowed.
    parts : the same for each limited outcome, and for "evaluation succeeds" if failures are learned.
    through : the point of the slice, in the user's terms.
    at : the positions of the trials, (n, 1) or (n, 2).
    verdict : "feasible", "infeasible", "failed" or "no result yet" for each trial.
    ids : the ids of the trials, (n,).
    """

    axes: tuple[Axis, ...]
    probability: Array
    parts: dict[str, Array]
    through: dict[str, Any]
    at: Array
    verdict: tuple[str, ...]
    ids: IntArray


SUCCEEDS = "evaluation succeeds"


def feasibility(
    study: StudyLike, *, parameters: Sequence[str] | None = None, through: Mapping[str, Any] | None = None
) -> Feasibility:
    """The probability of feasibility in a slice through the best result. The arguments are those of
    :func:`believer.plot.feasibility`."""
    source = study_of(study)
    limited = [name for name in source.goals.limited if source.has_results(name)]
    if source.learns_failures:
        limited.append(RUNS)
    if not limited:
        raise InvalidInput(
            "a figure of feasibility needs an outcome with a limit that has a result, or failed trials that the study "
            'learns from (failures="learn"); there is none.'
        )
    params, x = source.center(through)
    if len(source.axes) == 1 or (parameters is not None and len(parameters) == 1):
        axes: tuple[Axis, ...] = (source.axes[0] if parameters is None else source.axis(parameters[0]),)
        X = at_rest(source, axes, along(axes[0], x[None, :]))[:, 0]
    else:
        by = next((name for name in limited if name != RUNS), source.outputs[0])
        one, other = map(thinned, two_axes(source, by, parameters))
        axes, X = (one, other), at_rest(source, (one, other), crossed(one, other, x[None, :]))[:, 0]
    may, shape = allowed(source, X), tuple(len(axis.at) for axis in reversed(axes))
    parts = {
        SUCCEEDS if name == RUNS else source.label(name): np.where(may, probability(source, name, X), np.nan)
        for name in limited
    }
    trials = source.trials
    return Feasibility(
        axes,
        np.prod([*parts.values()], axis=0).reshape(shape),
        {name: part.reshape(shape) for name, part in parts.items()},
        params,
        np.column_stack([axis.positions(trials.params) for axis in axes]),
        tuple(_verdict(status, kept) for status, kept in zip(trials.status, trials.keeps_limits, strict=True)),
        trials.ids,
    )


def probability(source: Source, outcome: str, X: Array) -> Array:
    """The probability (m,) that an outcome keeps its limits at ``X`` (m, d)."""
    learned = source.learned(outcome)
    limits = learned.limits
    assert limits is not None
    at = learned.model.predict(X)
    return np.exp(limits.pointwise(at.mean, at.std).value)


def _verdict(status: str, keeps_limits: bool) -> str:
    if status == "done":
        return "feasible" if keeps_limits else "infeasible"
    return "failed" if status == "failed" else "no result yet"
