"""What is chosen: at the choice of either twin, the other's acquisition is as good as at its own.

A climb rests where a step gains less than ``value_tol``; two that rest on the same hill may differ by a few such steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each
from twins import compiled, python

from believer import Optimizer, Space
from believer.acquisitions import EI, UCB, Acquisition, LogEI
from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Fantasy, PseudoObservations, Request
from believer.batch.lies import Lie
from believer.batch.picking import pick, taken
from believer.maximize import Multistart, Objective
from believer.problems.synthetic import hartmann6
from believer.surrogates import GP
from believer.testing.requests import CORNER, LONG, MIXED, PLANE, Checked, points, request, results

SEARCH = Multistart(starts=6, candidates=128, neighbors=16)
STEPS = 10.0
"""Steps of ``value_tol`` that two climbs on one hill may rest apart."""

Twin = Callable[[Callable[[], Any]], Any]


def hartmann_data() -> Data:
    X = points(Space.cube(6).region(), 20, np.zeros((0, 6)), seed=3)
    return Data(frozen(X), frozen(hartmann6(X)))


PLACES: dict[str, tuple[Space, Callable[[], Data]]] = {
    "hartmann 6-D": (Space.cube(6), hartmann_data),
    "plane": (PLANE, lambda: results(PLANE, 10)),
    "mixed": (MIXED, lambda: results(MIXED, 10)),
    "long grid": (LONG, lambda: results(LONG, 8)),
    "constrained": (CORNER, lambda: results(CORNER, 10)),
}
LIES: dict[str, Lie] = {
    "min": ConstantLie("min"),
    "mean": ConstantLie("mean"),
    "max": ConstantLie("max"),
    "constant": ConstantLie(31.0),
    "believe": Believe(),
    "lower": Believe(-1.0),
    "upper": Believe(1.0),
    "fantasy": Fantasy(),
    "fantasies": Fantasy(samples=4),
}


def asked(place: str, lie: Lie, q: int, pending: int, acquisition: Acquisition) -> tuple[PseudoObservations, Request]:
    space, data = PLACES[place]
    strategy = PseudoObservations(lie)
    # One fit for all: what differs is what is made of it.
    case = Checked(strategy, GP(), acquisition)
    made = python(lambda: request(case, space, data(), q, pending))
    return strategy, replace(made, maximizer=SEARCH)


@dataclass(frozen=True, eq=False)
class Step:
    """An objective, the point that one twin chose by it, and how the other chooses by it."""

    objective: Objective
    x: Array
    again: Callable[[], Array]


def steps(twin: Twin, strategy: PseudoObservations, request: Request) -> Iterator[Step]:
    """The batch as ``twin`` chooses it: [paper] Algorithm 1, step by step."""
    belief = strategy.resume(request, None)
    for trial, x in zip(request.pending.ids, request.pending.X, strict=True):
        belief = twin(partial(belief.with_lie, request, trial, x))
    avoid = request.avoid
    for trial in request.ids:
        here = twin(partial(belief.best_so_far, request))
        objective = twin(partial(belief.worth, request, here, trial)).objective
        near_best = request.region.project(here.places())

        def choose(o: Objective = objective, t: int = trial, near: Array = near_best, far: Array = avoid) -> Array:
            return pick(o, request, t, near, far).x

        x = twin(choose)
        yield Step(objective, x, choose)
        avoid = taken(avoid, x, request)
        belief = twin(partial(belief.with_lie, request, trial, x))


def assert_choices_are_as_good(strategy: PseudoObservations, request: Request) -> None:
    for chooser, judge in ((python, compiled), (compiled, python)):
        for step in steps(chooser, strategy, request):
            here = judge(partial(step.objective.value, step.x[None, :]))[0]
            best = judge(partial(step.objective.value, judge(step.again)[None, :]))[0]
            assert here >= best - STEPS * SEARCH.climb.value_tol * max(abs(best), 1.0)


@each("place", PLACES)
@each("acquisition", [LogEI(), EI(), UCB()], ids=str)
def test_one_point_chosen_by_either_twin_is_as_good_to_the_other(place: str, acquisition: Acquisition) -> None:
    assert_choices_are_as_good(*asked(place, Believe(), 1, 0, acquisition))


@each("place", PLACES)
@each("pending", [0, 2])
def test_batches_chosen_by_either_twin_are_as_good_to_the_other(place: str, pending: int) -> None:
    assert_choices_are_as_good(*asked(place, Believe(), 5, pending, LogEI()))


@each("lie", LIES)
def test_batches_are_as_good_with_every_lie(lie: str) -> None:
    assert_choices_are_as_good(*asked("plane", LIES[lie], 3, 1, LogEI()))
    assert_choices_are_as_good(*asked("mixed", LIES[lie], 2, 1, LogEI()))


# Whole studies


def study(space: Space, seed: int, rounds: int = 3) -> list[dict[str, Any]]:
    """What an optimizer suggests, three at a time."""
    optimizer = Optimizer(space, n_init=6, seed=seed, maximizer=SEARCH)
    for _ in range(rounds):
        for trial in optimizer.ask(3):
            x = trial.encoded
            optimizer.tell(trial, float(np.sin(5.0 * x[0]) + np.square(x - 0.4).sum()))
    return [trial.params for trial in optimizer.trials]


@pytest.mark.parametrize("twin", [python, compiled], ids=["python", "native"])
def test_studies_in_two_threads_at_once_are_those_of_one_after_the_other(twin: Twin) -> None:
    work = [(Space.cube(3), 0), (MIXED, 1), (Space.cube(2), 2), (Space.cube(3), 0)]
    alone = [twin(partial(study, *w)) for w in work]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(2) as pool:
            together = twin(lambda: list(pool.map(study, *zip(*work, strict=True))))
    finally:
        sys.setswitchinterval(interval)
    assert together == alone
    assert together[0] == together[3]
