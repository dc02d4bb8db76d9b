"""One step of [paper] Algorithm 1 as a value: the choice of a point, and the effect of a lie about it.

======  ==================================================================
symbol  meaning
======  ==================================================================
x₁, ỹ   the point that was chosen, and the lie about it
α, α'   acquisition before the lie, and after it
f⁺      incumbent: over real results ("data"), or also over lies ("believed")
======  ==================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from believer.acquisitions import PerPoint, PointwiseObjective, View
from believer.arrays import Array, frozen
from believer.batch import INCUMBENTS, Data, Lie, Pending, PseudoObservations, Request
from believer.errors import InvalidInput
from believer.maximize import Maximizer, Maximum, Search
from believer.plugins import Box, Conditionable, Randomness, Region, bounds, maximizer_for
from believer.surrogates import GP
from believer_paper.theory import arguments

_CORNERS_UP_TO = 10
_LINE = 2001


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """A model of ``data``, an acquisition, a lie, the box (None means the unit cube), and the kind of f⁺."""

    model: Conditionable
    acquisition: PerPoint
    lie: Lie
    data: Data
    region: Region | None = None
    incumbent: str = "believed"

    def __post_init__(self) -> None:
        if self.incumbent not in INCUMBENTS:
            raise InvalidInput(f"incumbent must be one of {', '.join(INCUMBENTS)}; got {self.incumbent!r}.")

    @property
    def box(self) -> Region:
        """The region that is searched."""
        return Box.cube(self.data.X.shape[1]) if self.region is None else self.region


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The ``lie`` about ``x`` (d,), and the acquisition on the model after it."""

    x: Array
    lie: float
    bound: PointwiseObjective


def request(situation: Situation, q: int, randomness: Randomness, maximizer: Maximizer | None = None) -> Request:
    """The request that the library's own strategy would get for ``q`` points here."""
    nothing = frozen(np.zeros((0, situation.box.dim)))
    return Request.single(
        ids=tuple(range(q)),
        surrogate=GP(),  # never asked: no lie leads to a fit
        acquisition=situation.acquisition,
        model=situation.model,
        data=situation.data,
        pending=Pending((), nothing),
        region=situation.box,
        avoid=nothing,
        distinct=False,
        randomness=randomness,
        maximizer=maximizer,
    )


def strategy(situation: Situation, update: str = "condition") -> PseudoObservations:
    """The strategy with this situation's lie."""
    return PseudoObservations(situation.lie, update, situation.incumbent)


def before(situation: Situation) -> PointwiseObjective:
    """The acquisition α that chooses the first point."""
    asked, liar = request(situation, 1, lambda *_: np.random.default_rng(0)), strategy(situation)
    return _surface(situation, liar.begin(asked).view(asked))


def _surface(situation: Situation, view: View) -> PointwiseObjective:
    return PointwiseObjective(situation.acquisition, view.model, view.incumbent)


def lie_about(situation: Situation, x: Array, rng: np.random.Generator) -> Step:
    """Lie about ``x`` (d,): the lie, and α'. Only a fantasy draws from ``rng``."""
    arguments.conditionable(situation.model)
    x = arguments.point(x, situation.box.dim)
    asked, liar = request(situation, 1, lambda *_: rng), strategy(situation)
    belief = liar.begin(asked).with_lie(asked, 0, x)
    return Step(frozen(x), float(belief.lies.y[0]), _surface(situation, belief.view(asked)))


def strongest(bound: PointwiseObjective, region: Region, near_best: Array, rng: np.random.Generator) -> Maximum:
    """The maximizer over the box, as surely as a search can find it.

    This is the library's own maximizer, which also starts from ``near_best`` (k, d); it is compared with these starts,
    with every corner of a box of up to ten columns, and with a dense line if there is only one column.
    """
    none = np.zeros((0, region.dim))
    climbed = maximizer_for(bound, None).maximize(bound, Search(region, region.project(near_best), none), rng)
    pool = [climbed.x[None, :], region.project(near_best)]
    lower, upper = bounds(region)
    if region.dim <= _CORNERS_UP_TO:
        ends = list(zip(lower, upper, strict=True))
        pool.append(region.project(np.array(list(product(*ends)))))
    if region.dim == 1:
        pool.append(region.project(np.linspace(lower, upper, _LINE)))
    points = np.vstack(pool)
    points = points[region.holds(points)]
    values = bound.value(points)
    top = int(np.argmax(values))
    return Maximum(frozen(points[top]), float(values[top]), 0)
