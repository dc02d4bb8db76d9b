"""Requests for the laws of strategies, and the checks of their answers.

Requests are made as in a study: real results have the first ids, then pending trials, then the requested ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from believer.acquisitions import Acquisition
from believer.arrays import Array, frozen
from believer.batch import Data, Pending, Request, Strategy
from believer.batch.random import draw
from believer.errors import MissingCapability
from believer.maximize import Candidates, Maximizer, Multistart
from believer.numerics.sampling import stream
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer.space.region import Region
from believer.surrogates import LOADED_ON_USE
from believer.surrogates.protocols import Conditionable, Differentiable, Model, Surrogate
from believer.testing.contract import Breach, require


def _in_a_corner(params: dict[str, Any]) -> bool:
    """A twelfth of the plane, which uniform draws mostly miss, and without the best of the unconstrained points."""
    inside: bool = params["x0"] + 2.0 * params["x1"] < 0.58
    return inside


LINE = Space.cube(1)
PLANE = Space.cube(2)
MIXED = Space({"rate": Float(1e-3, 1.0, log=True), "k": Int(1, 9), "kind": Categorical(("a", "b", "c"))})
LONG = Space({"x": Float(0.0, 1.0), "k": Int(0, 1_000_000)})
"""More values than a block lists: they are rounded by ``Region.project``."""
FINITE = Space({"k": Int(1, 4), "kind": Categorical(("a", "b"))})
CORNER = Space({"x0": Float(0.0, 1.0), "x1": Float(0.0, 1.0)}, _in_a_corner)

_ON_THE_GRID = 1e-12


@dataclass(frozen=True, slots=True)
class Checked:
    """A strategy, with the parts that it works with."""

    strategy: Strategy
    surrogate: Surrogate
    acquisition: Acquisition


def values_at(X: Array) -> Array:
    """A smooth function (n,) of points (n, d), in units that are not standardized."""
    y: Array = 30.0 + 5.0 * (np.sin(3.0 * X[:, 0]) + ((X - 0.4) ** 2).mean(axis=1))
    return y


def points(region: Region, count: int, avoid: Array, seed: int) -> Array:
    """``count`` allowed points (count, d) of the region, apart from each other and from ``avoid`` (k, d)."""
    rng, found = np.random.default_rng(seed), avoid
    for _ in range(count):
        found = np.vstack([found, draw(region, found, rng)[0]])
    return found[len(avoid) :]


def results(space: Space = PLANE, n: int = 6) -> Data:
    """Results at ``n`` points of the space, whether or not its constraint allows them."""
    region = Space(space.parameters).region()
    X = points(region, n, np.zeros((0, region.dim)), seed=0)
    return Data(frozen(X), frozen(values_at(X)))


def request(
    case: Checked,
    space: Space = PLANE,
    data: Data | None = None,
    q: int = 3,
    pending: int = 2,
    fixed: Mapping[str, Any] | None = None,
) -> Request:
    """A request for ``q`` points while some are ``pending``, with parameters held where ``fixed`` says so."""
    known = results(space) if data is None else data
    region = space.region(fixed)
    randomness = partial(stream, 7)
    model = case.surrogate.fit(Data(known.X, known.y), randomness(len(known.y), "fit"), None)
    waiting = points(region, pending, known.X, seed=1)
    first = len(known.y)
    return Request.single(
        ids=tuple(range(first + pending, first + pending + q)),
        surrogate=case.surrogate,
        acquisition=case.acquisition,
        model=model,
        data=known,
        pending=Pending(tuple(range(first, first + pending)), frozen(waiting)),
        region=region,
        avoid=frozen(np.vstack([known.X, waiting])),
        distinct=True,
        randomness=randomness,
        maximizer=quick(model),
    )


def quick(model: Model) -> Maximizer:
    """A short search with the default method for such a model: the contract does not ask how good the points are."""
    if isinstance(model, Differentiable):
        return Multistart(starts=2, candidates=16, neighbors=4, sweeps=1)
    return Candidates(candidates=32, neighbors=4, survivors=4, rounds=1)


def after_failures(asked: Request, count: int = 2) -> Request:
    """The same request with ``count`` failed trials, which count as the worst result."""
    X = points(asked.region, count, asked.avoid, seed=2)
    failed = Data(frozen(X), frozen(np.full(count, asked.data.y.max())))
    if isinstance(asked.model, Conditionable):
        model: Model = asked.model.condition(Data(failed.X, failed.y))
    else:
        X_all, y_all = np.vstack([asked.data.X, X]), np.concatenate([asked.data.y, failed.y])
        model = asked.surrogate.fit(Data(X_all, y_all), asked.randomness(len(asked.data.y), "failed"), asked.model)
    conditioned = asked.with_first(model=model, fit=asked.model, failed=failed)
    return replace(conditioned, avoid=frozen(np.vstack([asked.avoid, X])))


def allowing_repeats(asked: Request) -> Request:
    """The same request without the rule that points are new."""
    return replace(asked, distinct=False, avoid=frozen(np.zeros((0, asked.region.dim))))


def chosen(strategy: Strategy, asked: Request, memory: object = None) -> Array:
    """The points (q, d) that ``strategy`` chooses; Breach unless they are q points of d finite coordinates."""
    return points_of(strategy.choose(asked, memory), asked)


def points_of(answer: Any, asked: Request) -> Array:
    """The points (q, d) of an ``answer``; Breach unless it is a ``Chosen`` with one point for each trial."""
    choices = getattr(answer, "choices", None)
    if not isinstance(choices, tuple):
        raise Breach(f"choose must return Chosen(choices) with a tuple of them; got {answer!r:.200}.")
    require(len(choices) == len(asked.ids), f"{len(asked.ids)} points were asked for, {len(choices)} were chosen.")
    X = np.empty((len(choices), asked.region.dim))
    for row, choice in enumerate(choices):
        x = getattr(choice, "x", None)
        if not isinstance(x, np.ndarray) or x.shape != (asked.region.dim,) or x.dtype != np.float64:
            raise Breach(f"point {row} must be a float64 array of shape ({asked.region.dim},); got {x!r:.200}.")
        require(bool(np.isfinite(x).all()), f"point {row} is not finite: {x}.")
        X[row] = x
    return X


def require_inside(X: Array, asked: Request) -> None:
    """Breach unless the points (q, d) are in the box and on the grids of the request's region."""
    nearest = asked.region.project(X)
    off = np.abs(nearest - X).max(axis=1)
    worst = int(np.argmax(off))
    require(
        bool(off[worst] <= _ON_THE_GRID),
        f"point {worst}, {X[worst]}, is not in the region; the nearest point that is, {nearest[worst]}, "
        f"is {off[worst]:.3g} away.",
    )


def require_allowed(X: Array, asked: Request) -> None:
    """Breach unless the constraint holds at the points (q, d)."""
    bad = np.flatnonzero(~asked.region.holds(X))
    require(not len(bad), f"the constraint does not allow {len(bad)} of {len(X)} points, e.g. {X[bad[:1]]}.")


def require_new(X: Array, asked: Request) -> None:
    """Breach unless the points (q, d) differ from each other and from those to avoid."""
    for row in range(len(X)):
        at = X[row : row + 1]
        require(not asked.region.among(at, asked.avoid)[0], f"point {row}, {X[row]}, was to be avoided.")
        require(not asked.region.among(at, X[:row])[0], f"point {row}, {X[row]}, is in the batch twice.")


def require_answer(strategy: Strategy, asked: Request) -> Array:
    """The points (q, d) of the answer; Breach unless they are in the region, allowed and new."""
    X = chosen(strategy, asked)
    require_inside(X, asked)
    require_allowed(X, asked)
    if asked.distinct:
        require_new(X, asked)
    return X


def require_answer_or_refusal(case: Checked, asked: Request) -> None:
    """An answer as above, or MissingCapability with the name of a surrogate that has the capability."""
    try:
        require_answer(case.strategy, asked)
    except MissingCapability as refusal:
        capable = {"GP", *LOADED_ON_USE, type(case.surrogate).__name__}
        require(
            not capable.isdisjoint(words(str(refusal))),
            f"MissingCapability must name a surrogate that works; it says: {refusal}",
        )


def words(text: str) -> set[str]:
    """The words of a sentence; "GP-BUCB" is one, and is no GP."""
    return set(re.findall(r"[\w-]+", text))


def require_same_points(wanted: Array, got: Array, when: str, tolerance: float = 0.0) -> None:
    """Breach unless two batches (q, d) agree, bit for bit or to ``tolerance``; ``when`` says what should not matter."""
    gap = np.abs(wanted - got).max(axis=1)
    row = int(np.argmax(gap > tolerance))
    require(bool((gap <= tolerance).all()), f"{when}, point {row} is {got[row]}; it was {wanted[row]}.")
