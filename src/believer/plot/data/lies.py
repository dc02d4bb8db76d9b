"""A batch, lie by lie: the posterior and the acquisition function before and after each lie.

After a point is chosen, the model is conditioned on a pseudo-observation there, a lie. The acquisition function
collapses around it, so that the next point of the batch is chosen elsewhere. This is shown along one or two parameters;
in a space with more, in a slice through the first point of the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from believer.acquisitions import completed
from believer.acquisitions.acquisition import Several
from believer.arrays import Array, IntArray, shown, whole
from believer.batch import PseudoObservations, Strategy
from believer.batch.belief import Belief
from believer.batch.learned import Part, Pending
from believer.batch.request import Request
from believer.capabilities import has
from believer.errors import InvalidInput
from believer.plot.data.axis import Axis
from believer.plot.data.dependence import allowed, along, at_rest, crossed, nearness, thinned
from believer.plot.data.evaluations import axes_named
from believer.plot.data.source import Source, StudyLike, study_of
from believer.propose import request_of
from believer.study import serialization
from believer.study.recommendation import NORMAL_95

BATCHES = ("pending", "next")

_NAMES = {
    "LogEI": "expected improvement",
    "EI": "expected improvement",
    "PI": "probability of improvement",
    "LogPI": "probability of improvement",
    "UCB": "confidence bound",
    "EHVI": "expected hypervolume improvement",
    "feasibility": "probability of feasibility",
}
"""The names of acquisition functions in figures."""


@dataclass(frozen=True, slots=True, eq=False)
class LieStep:
    """The posterior after some lies, and the next point; (k,) along one parameter, (k_y, k_x) along two.

    Attributes
    ----------
    lies : the number of lies.
    mean : the posterior mean, in the user's units.
    low, high : the 95 % interval.
    worth : the acquisition function; NaN if no point is allowed.
    lie_ids : the ids of the trials with lies, (j,).
    lie_at : their positions, (j, 1) or (j, 2).
    lie_values : the lies, (j,), in the user's units.
    lie_nearness : the nearness of each to the slice, from 0 to 1, (j,).
    next_id : the trial that is chosen now; None after the last.
    next_at : its position, (1,) or (2,); None after the last.
    next_worth : the acquisition there; None after the last.
    next_nearness : its nearness to the slice; None after the last.
    provenance : the reason for its choice, in words.
    """

    lies: int
    mean: Array
    low: Array
    high: Array
    worth: Array
    lie_ids: IntArray
    lie_at: Array
    lie_values: Array
    lie_nearness: Array
    next_id: int | None
    next_at: Array | None
    next_worth: float | None
    next_nearness: float | None
    provenance: str


@dataclass(frozen=True, slots=True, eq=False)
class Lies:
    """A batch, lie by lie.

    Attributes
    ----------
    axes : one parameter or two, x first.
    label : the name of the outcome, with its units.
    worth_label : the name of the acquisition function.
    verb : the verb for the lies, e.g. "believing".
    batch : "pending" or "next".
    steps : before the first lie, and after each.
    through : the point of the slice, in the user's terms; None if there are no other parameters.
    at : the positions of the n results, (n, 1) or (n, 2).
    values : the results, (n,).
    nearness : the nearness of each to the slice, from 0 to 1, (n,).
    maximize : whether more is better.
    """

    axes: tuple[Axis, ...]
    label: str
    worth_label: str
    verb: str
    batch: str
    steps: tuple[LieStep, ...]
    through: dict[str, Any] | None
    at: Array
    values: Array
    nearness: Array
    maximize: bool


def lies(
    study: StudyLike,
    q: int = 3,
    *,
    batch: str | None = None,
    strategy: str | Strategy | None = None,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
) -> Lies:
    """A batch of ``q`` points, before and after each lie. The arguments are those of :func:`believer.plot.lies`."""
    source = study_of(study)
    name, q = source.chosen(outcome), whole(q, "q", 1)
    liar = _liar(source, strategy)
    waiting = len(source.history.pending.ids) > 0
    if batch is None:
        batch = "pending" if waiting else "next"
    if batch not in BATCHES or (batch == "pending" and not waiting):
        given = "no trial is pending" if batch == "pending" else f"got {shown(batch)}"
        raise InvalidInput(f'batch must be "pending" or "next"; {given}.')
    for output in source.outputs:
        source.learned(output)  # invalid arguments raise before any work
    request, points, words = _pending(source, q) if batch == "pending" else _next(source, liar, q)
    axes = _axes(source, name, parameters)
    x = points[0][1]
    scene = _Slice(source, name, axes, x, request)
    start = _until(request, 0) if batch == "pending" else request
    belief, steps = liar.begin(request).with_lies(start), list[LieStep]()
    for count, ((trial, point), said) in enumerate(zip(points, words, strict=True), start=1):
        steps.append(scene.step(belief, trial, point, said))
        # Some outcomes of a pending trial may be known; only the others get lies.
        pending = batch == "pending"
        belief = belief.with_lies(_until(request, count)) if pending else belief.with_lie(request, trial, point)
    steps.append(scene.step(belief, None, None, ""))
    trials = source.trials
    rows = np.flatnonzero(np.isfinite(trials.values[name]))
    fixed = len(source.axes) > len(axes)
    return Lies(
        axes,
        source.label(name),
        scene.worth_label(belief),
        liar.lie.verb,
        batch,
        tuple(steps),
        source.space.decode(x[None, :])[0] if fixed else None,
        np.column_stack([axis.positions([trials.params[i] for i in rows]) for axis in axes]),
        trials.values[name][rows],
        nearness(source, name, trials.X[rows], x, axes),
        source.sign(name) < 0.0,
    )


def _liar(source: Source, strategy: str | Strategy | None) -> PseudoObservations:
    if strategy is None and {"strategy", "acquisition"} & {*source.replaced}:
        raise InvalidInput(
            f"this study has its own {' and '.join(p for p in source.replaced if p in ('strategy', 'acquisition'))}, "
            "which a journal cannot hold: pass the optimizer, or bv.Optimizer.load(path, ..., append=False)."
        )
    found = source.settings.strategy if strategy is None else serialization.strategy_named(strategy)
    if not isinstance(found, PseudoObservations):
        raise InvalidInput(
            f"this figure needs a strategy of pseudo-observations; {type(found).__name__} is not one. Pass "
            'strategy="kb" to see what Kriging Believer would do.'
        )
    return found


Points = list[tuple[int, Array]]


def _pending(source: Source, q: int) -> tuple[Request, Points, list[str]]:
    """The first trials without a result, and the reasons for their choice."""
    trials, ids = source.trials, source.history.pending.ids[:q]
    request = request_of(source.settings, source.history, 1, cache=source.cache)
    places = [trials.row(trial) for trial in ids]
    points = [(trial, trials.X[row]) for trial, row in zip(ids, places, strict=True)]
    return request, points, [trials.provenance[row] for row in places]


def _until(request: Request, count: int) -> Request:
    """The request as if only the first ``count`` of all pending trials were pending."""
    ids = sorted({trial for one in request.outputs for trial in one.pending.ids})[:count]
    outputs = []
    for one in request.outputs:
        kept = [i for i, trial in enumerate(one.pending.ids) if trial in ids]
        outputs.append(replace(one, pending=Pending(tuple(one.pending.ids[i] for i in kept), one.pending.X[kept])))
    return replace(request, outputs=tuple(outputs))


def _next(source: Source, liar: PseudoObservations, q: int) -> tuple[Request, Points, list[str]]:
    request = request_of(source.settings, source.history, q, cache=source.cache)
    chosen = liar.choose(request)
    points = [(trial, choice.x) for trial, choice in zip(request.ids, chosen.choices, strict=True)]
    return request, points, [choice.provenance for choice in chosen.choices]


def _axes(source: Source, outcome: str, parameters: Sequence[str] | None) -> tuple[Axis, ...]:
    axes = source.by_relevance(outcome)[:2] if parameters is None else axes_named(source, parameters)
    if len(axes) > 2:
        raise InvalidInput(f"parameters must be one or two; got {len(axes)}.")
    varied = tuple(axis for axis in axes if not axis.is_constant) or axes[:1]
    return varied if len(varied) == 1 else tuple(map(thinned, varied))


@dataclass(frozen=True, slots=True, eq=False)
class _Slice:
    """The slice along ``axes`` through ``x`` (d,)."""

    source: Source
    outcome: str
    axes: tuple[Axis, ...]
    x: Array
    request: Request

    @property
    def points(self) -> Array:
        Z = self.x[None, :]
        groups = along(self.axes[0], Z) if len(self.axes) == 1 else crossed(self.axes[0], self.axes[1], Z)
        return at_rest(self.source, self.axes, groups)[:, 0]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis.at) for axis in reversed(self.axes))

    def worth_label(self, belief: Belief) -> str:
        found = belief.worth(self.request, belief.best_so_far(self.request), self.request.ids[0])
        name, _, rest = found.name.partition(" times ")
        return _NAMES.get(name, name) + (f" × {_NAMES.get(rest, rest)}" if rest else "")

    def step(self, belief: Belief, trial: int | None, point: Array | None, said: str) -> LieStep:
        """The present posterior, and the next point."""
        part = self._part(belief)
        known = belief.lies.ids
        shape = self.shape
        mean, low, high = (value.reshape(shape) for value in self._believed(part, self.points))
        own = dict(zip(part.ids, self._users(part, part.y).tolist(), strict=True))
        where = [self._place(x) for x in belief.lies.X]
        following = self.request.ids[0] if trial is None else trial
        worth = self._worth(belief, following, self.points)
        return LieStep(
            len(known),
            mean,
            low,
            high,
            np.where(allowed(self.source, self.points), worth, np.nan).reshape(shape),
            np.array(known, dtype=np.int64),
            np.array(where).reshape(-1, len(self.axes)),
            np.array([own.get(i, np.nan) for i in known]),
            self._nearness(belief.lies.X),
            trial,
            None if point is None else self._place(point),
            None if point is None else float(self._worth(belief, following, point[None, :])[0]),
            None if point is None else float(self._nearness(point[None, :])[0]),
            said,
        )

    def _nearness(self, X: Array) -> Array:
        return nearness(self.source, self.outcome, X, self.x, self.axes)

    def _part(self, belief: Belief) -> Part:
        return next(part for part in belief.parts if part.learned.output.name == self.outcome)

    def _users(self, part: Part, values: Array) -> Array:
        warp = part.learned.warp
        return part.learned.output.sign * (values if warp is None else warp.inverse(values))

    def _believed(self, part: Part, X: Array) -> tuple[Array, Array, Array]:
        at = part.model.predict(X)
        mean, low, high = (self._users(part, at.mean + z * at.std) for z in (0.0, -NORMAL_95, NORMAL_95))
        return mean, np.minimum(low, high), np.maximum(low, high)

    def _worth(self, belief: Belief, trial: int, X: Array) -> Array:
        """The acquisition (m,); not its logarithm."""
        found = belief.worth(self.request, belief.best_so_far(self.request), trial)
        acquisition = self.request.acquisition
        several, limited = has(acquisition, Several), bool(self.request.limited)
        is_log = several or limited or completed(acquisition).is_log
        value = found.objective.value(X)
        return np.exp(value) if is_log else value

    def _place(self, x: Array) -> Array:
        """The position of a point (d,) on the axes."""
        params = self.source.space.decode(x[None, :])[0]
        return np.array([axis.position(params[axis.name]) for axis in self.axes])
