"""Batches inside a box that grows and shrinks: a local search for budgets beyond a thousand evaluations.

======  ===================================================================================
symbol  meaning                                                                      shape
======  ===================================================================================
c       the center of the box: the best trial since the box began                    (d,)
L       its side, see ``trust_box``
ℓ       lengthscales of the model of the objective, where it has them                (d,)
L_j     side along column j: L ℓ_j / (Π ℓ_k)^{1/k}, the means over columns cut        (d,)
======  ===================================================================================

A model of all results is expensive, and in many dimensions it says little about any single place. The model here learns
only the results nearest to c. Points are chosen by pseudo-observations as usual ([paper] Algorithm 1), but inside the
box ([Eriksson2019]).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from believer.arrays import Array, BoolArray, IntArray, frozen, shown, whole
from believer.batch.hedge import NATS
from believer.batch.learned import Learned, is_noisy
from believer.batch.lies import Believe
from believer.batch.picking import taken
from believer.batch.pseudo import PseudoObservations
from believer.batch.random import REPLACED, draw
from believer.batch.request import LIMITS, Choice, Chosen, Request, with_pending
from believer.batch.trust_box import BoxState, box_state, merits_of
from believer.capabilities import has
from believer.errors import InvalidInput, SpaceExhausted
from believer.numerics.sampling import latin_hypercube
from believer.space.narrowed import Narrowed
from believer.surrogates.data import Data, joined
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Conditionable, Model, Rescalable
from believer.surrogates.warp import Warp, likelier, warps_for

MAX_LOCAL = 100_000

_LONGEST = 8.0
"""The largest ratio of a side to the geometric mean of all sides, in either direction."""


def _hedged() -> PseudoObservations:
    return PseudoObservations(Believe(), hedge=NATS)


@dataclass(frozen=True, slots=True)
class TrustRegion:
    """Hedged Kriging Believer in a box around the best point, under a model of the nearest results alone.

    The box doubles after three batches in a row that improved on the best, and halves after failures. When it has
    become tiny, another one begins at space-filling points (:mod:`~believer.batch.trust_box`). All of this is computed
    from the results at each ask. Nothing is fitted to all results, so that a batch costs the same for a thousand
    results and for many times that. Pending points get lies wherever they are. Asking q times for one point equals
    asking for q points, bit for bit.

    The box limits only columns in which a lengthscale is a distance: categories and short scales are searched in full.
    This needs a single objective, with or without limits, because several objectives have no best point to center on.

    Parameters
    ----------
    results : the largest number of results that the model learns from: those nearest to the center.
    within : the strategy that chooses inside the box.
    """

    results: int = 500
    within: PseudoObservations = field(default_factory=_hedged)
    needs_model: ClassVar[bool] = False
    takes: ClassVar[str] = LIMITS

    def __post_init__(self) -> None:
        whole(self.results, "results", 2, MAX_LOCAL)
        if not isinstance(self.within, PseudoObservations):
            raise InvalidInput(
                f"within must be PseudoObservations(...), e.g. PseudoObservations(Believe()); got {shown(self.within)}."
            )

    def choose(self, request: Request, memory: object = None) -> Chosen:
        """Choose a point in the box for each trial of ``request``; ``memory`` may hold the models of an earlier
        call."""
        state, design = _state(request)
        begun = design if state.begun is None else state.begun
        first = min(len(request.ids), design - begun)
        choices = _space_filling(request, state, begun, first, design) if first else ()
        if first == len(request.ids):
            return Chosen(choices, memory)
        if first:
            request = _after(request, choices)
        local = self._local(request, state, memory)
        asked = replace(request, outputs=local.outputs, region=local.region)
        found = self._within_box(asked, local.belief)
        note = local.describe(state)
        more = tuple([replace(choice, provenance=choice.provenance + note) for choice in found.choices])
        return Chosen((*choices, *more), replace(local, belief=found.memory))

    def _within_box(self, asked: Request, belief: object) -> Chosen:
        """Choose points of the box, and points of the whole region once every point of the box is handed out."""
        try:
            return self.within.choose(asked, belief)
        except SpaceExhausted:
            if len(asked.ids) == 1:
                if not isinstance(asked.region, Narrowed):
                    raise
                return self.within.choose(replace(asked, region=asked.region.whole), belief)
        choices = tuple[Choice, ...]()
        for trial in asked.ids:  # one by one: single asks must give the same points
            found = self._within_box(replace(asked, ids=(trial,)), belief)
            choices, belief = (*choices, *found.choices), found.memory
            asked = replace(_after(replace(asked, ids=(trial,)), found.choices), ids=asked.ids)
        return Chosen(choices, belief)

    def _local(self, request: Request, state: BoxState, memory: object) -> _Local:
        """The models near the center and the box around it; those of ``memory`` if they are the same."""
        center = _center(request, state)
        nearest = tuple([_nearest(one, center, self.results) for one in request.outputs])
        if isinstance(memory, _Local) and memory.is_of(self, request, state, nearest):
            outputs = tuple(
                [replace(old, pending=one.pending) for old, one in zip(memory.outputs, request.outputs, strict=True)]
            )
            return replace(memory, outputs=outputs)
        outputs = tuple([_learned(request, place, *at) for place, at in enumerate(nearest)])
        region = _box(request, outputs[0], center, state.length)
        return _Local(self, state, tuple([rows for rows, _ in nearest]), outputs, region, len(request.data), None)


@dataclass(frozen=True, slots=True, eq=False)
class _Local:
    """The models of a box, their data, and the belief with lies at pending points."""

    strategy: TrustRegion
    state: BoxState
    rows: tuple[IntArray, ...]
    outputs: tuple[Learned, ...]
    region: Narrowed
    known: int
    belief: object

    def is_of(
        self,
        strategy: TrustRegion,
        request: Request,
        state: BoxState,
        nearest: tuple[tuple[IntArray, IntArray], ...],
    ) -> bool:
        """Whether a new call would give the same models and the same box."""
        return (
            (self.strategy, self.state.length, self.state.center, self.known)
            == (strategy, state.length, state.center, len(request.data))
            and self.region.whole is request.region
            and len(self.outputs) == len(request.outputs)
            and all(
                np.array_equal(rows, at[0]) and _is_same(old, one, *at)
                for rows, old, one, at in zip(self.rows, self.outputs, request.outputs, nearest, strict=True)
            )
        )

    def describe(self, state: BoxState) -> str:
        """The sentence about the box for provenance."""
        known, learned = self.known, len(self.outputs[0].data)
        of = f"all {known:,} results" if learned == known else f"the {learned:,} nearest of {known:,} results"
        number = f", number {state.boxes + 1}," if state.boxes else ""
        about = "" if state.center is None else f" about trial {state.center}"
        return f"; in a box{number} {state.length:.3g} wide{about}, by a model of {of}"


def _state(request: Request) -> tuple[BoxState, int]:
    """The state of the box, with its center as the id of a trial; and the number of points with which a further box
    begins."""
    ids = np.array(request.outputs[0].ids, dtype=np.int64)
    for one in request.outputs[1:]:
        ids = np.intersect1d(ids, one.ids)
    objective = _at(request.outputs[0], ids)
    excess, kept = np.zeros(len(ids)), np.ones(len(ids), dtype=bool)
    for one in request.limited:
        limits, values = one.limits, _at(one, ids)
        assert limits is not None
        beyond = np.maximum(np.maximum(values - limits.high, limits.low - values), 0.0)
        excess += beyond / standardization(one.data.y)[1]
        kept &= beyond == 0.0
    dim = max(1, request.region.freedom)
    design, pending = 2 * dim, request.outputs[0].pending.ids
    merits = merits_of(objective, excess, kept) if len(ids) else objective
    state = box_state(ids.tolist(), merits, pending, request.answered_then, dim, design)
    return state if state.center is None else replace(state, center=int(ids[state.center])), design


def _at(one: Learned, ids: IntArray) -> Array:
    """The results (n,) of an output in trials ``ids``, all of which have one."""
    values: Array = one.data.y[np.searchsorted(one.ids, ids)]
    return values


def _center(request: Request, state: BoxState) -> Array:
    """c (d,): the best point of the box, or the middle of the region if there is none yet."""
    if state.center is None:
        middle: Array = request.region.project(np.full((1, request.region.dim), 0.5))[0]
        return middle
    first = request.outputs[0]
    center: Array = first.data.X[int(np.searchsorted(first.ids, state.center))]
    return center


def _nearest(one: Learned, center: Array, most: int) -> tuple[IntArray, IntArray]:
    """The rows of an output's results and of its failures that are nearest to ``center``, at most ``most`` of each."""
    failed = np.zeros((0, len(center))) if one.failed is None else one.failed.X
    rows, lost = (_rows(X, center, count) for X, count in ((one.data.X, most), (failed, most // 4)))
    return rows, lost


def _rows(X: Array, center: Array, most: int) -> IntArray:
    if len(X) <= most:
        return np.arange(len(X))
    return np.sort(np.argsort(((X - center) ** 2).sum(axis=1), kind="stable")[:most])


def _is_same(old: Learned, one: Learned, rows: IntArray, lost: IntArray) -> bool:
    """Whether the data of ``old`` are those in the given rows now."""
    told = None if one.failed is None or not len(lost) else one.failed.at(lost)
    pairs = [
        (old.data, one.data.at(rows)),
        *([(old.failed, told)] if old.failed is not None and told is not None else []),
    ]
    return (
        old.ids == tuple([one.ids[row] for row in rows])
        and (old.failed is None) == (told is None)
        and all(_equal(was, old.to_units(now)) for was, now in pairs)
    )


def _equal(was: Data, now: Data) -> bool:
    """Whether two data sets have the same points, values and noise."""
    if (was.noise is None) != (now.noise is None):
        return False
    same = np.array_equal(was.X, now.X) and np.array_equal(was.Y, now.Y)
    return same and (was.noise is None or now.noise is None or np.array_equal(was.noise, now.noise))


def _learned(request: Request, place: int, rows: IntArray, lost: IntArray) -> Learned:
    """An output learned from some of its results, and conditioned on some failures."""
    one = request.outputs[place]
    data, ids = one.data.at(rows), tuple([one.ids[row] for row in rows])
    fit, warp, data = _fitted(request, place, data)
    if one.failed is None or not len(lost):
        return replace(one, ids=ids, data=data, fit=fit, model=fit, failed=None, warp=warp)
    failed = one.failed.at(lost)
    failed = failed if warp is None else warp.data(failed)
    if has(fit, Conditionable):
        model: Model = fit.condition(failed)
    else:
        model = request.surrogate.fit(joined(data, failed), _stream(request, place, len(rows), "failed"), fit)
    return replace(one, ids=ids, data=data, fit=fit, model=model, failed=failed, warp=warp)


_Fitted = tuple[Model, Warp | None, Data]
"""A model, its warp, and the results in its units."""


def _fitted(request: Request, place: int, data: Data) -> _Fitted:
    """The model of ``data`` or of the warped data, whichever is more likely."""

    def fitted(warp: Warp | None, plain: _Fitted | None) -> _Fitted:
        given = data if warp is None else warp.data(data)
        start = None if plain is None else plain[0]
        return request.surrogate.fit(given, _stream(request, place, len(data), "fit"), start), warp, given

    finite = request.region.size is not None
    warps = warps_for(data.y, finite) if request.outputs[place].output.warped else ()
    return likelier(fitted, lambda fit: fit[0], warps, data.y)


def _stream(request: Request, place: int, n: int, purpose: str) -> np.random.Generator:
    return request.stream(n, f"{purpose} of a box", place)


def _box(request: Request, first: Learned, center: Array, length: float) -> Narrowed:
    """The box with sides L_j around c. If results are noisy, it is around the point inside with the best posterior
    mean."""
    cut = request.region.metric
    sides = np.full(request.region.dim, length)
    if has(first.model, Rescalable) and cut.any():
        relative = np.log(first.model.lengthscales[cut])
        weights = np.exp(relative - relative.mean())
        sides[cut] = length * np.minimum(np.maximum(weights, 1.0 / _LONGEST), _LONGEST)
    box = Narrowed(request.region, center - 0.5 * sides, center + 0.5 * sides)
    if not is_noisy(first.model):
        return box
    inside: BoolArray = box.inside(first.data.X)
    if not inside.any():
        return box
    among = first.data.X[inside]
    center = among[int(np.argmin(first.model.predict(among).mean))]
    return Narrowed(request.region, center - 0.5 * sides, center + 0.5 * sides)


def _space_filling(request: Request, state: BoxState, begun: int, count: int, design: int) -> tuple[Choice, ...]:
    """The next ``count`` of the space-filling points with which a further box begins."""
    rng = request.randomness(state.boxes, "design of a box")
    points, avoid, choices = request.region.spread(latin_hypercube(design, request.region.dim, rng)), request.avoid, []
    for trial, number in zip(request.ids[:count], range(begun, begun + count), strict=True):
        x, replaced = draw(request.region, avoid, request.randomness(trial, "random"), points[number])
        avoid = taken(avoid, x, request)
        what = f"point {number + 1} of a Latin hypercube, from which box number {state.boxes + 1} begins"
        choices.append(Choice(frozen(x), what + (REPLACED if replaced else "")))
    return tuple(choices)


def _after(request: Request, choices: tuple[Choice, ...]) -> Request:
    """The request for the remaining trials; those that have a point already are pending."""
    ids, X = request.ids[: len(choices)], np.array([choice.x for choice in choices])
    avoid = np.vstack([request.avoid, X]) if request.distinct else request.avoid
    return replace(with_pending(request, ids, X), ids=request.ids[len(choices) :], avoid=avoid)
