"""Laws of a strategy as a value: it changes no argument, and no call changes it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Pending, PseudoObservations, Request, Strategy
from believer.surrogates.inspection import complete, refuse_mutation
from believer.testing.contract import Breach, law, laws_in, require
from believer.testing.requests import (
    MIXED,
    Checked,
    after_failures,
    allowing_repeats,
    chosen,
    points,
    points_of,
    request,
    require_same_points,
    results,
    values_at,
)


def _arrays(asked: Request) -> dict[str, Array]:
    failed = {} if asked.failed is None else {"failed.X": asked.failed.X, "failed.y": asked.failed.y}
    return {
        "data.X": asked.data.X,
        "data.y": asked.data.y,
        "pending.X": asked.pending.X,
        "avoid": asked.avoid,
        **{f"region.box()[{i}]": end for i, end in enumerate(asked.region.box() or ())},
        **failed,
    }


@law("Work on copies of the request's arrays, and never change its model.")
def a_request_is_left_as_it_was(case: Checked) -> None:
    """Arrays that could be written to keep their values, and the model predicts as before."""
    asked = after_failures(request(case))
    assert asked.failed is not None
    asked = replace(asked, avoid=asked.avoid.copy()).with_first(
        data=Data(asked.data.X.copy(), asked.data.y.copy()),
        pending=Pending(asked.pending.ids, asked.pending.X.copy()),
        failed=Data(asked.failed.X.copy(), asked.failed.y.copy()),
    )
    before = {name: array.copy() for name, array in _arrays(asked).items()}
    at = results(n=9).X
    predicted = complete(asked.model, at)
    case.strategy.choose(asked, None)
    for name, array in _arrays(asked).items():
        require(np.array_equal(array, before[name]), f"request.{name} has other values after choose.")
    refuse_mutation(asked.model, at, predicted, "choose")


def _next(asked: Request, X: Array, kept: tuple[int, ...]) -> Request:
    """The request for two more points; of the chosen points ``X`` (q, d), the ``kept`` ones are pending."""
    ids = (*asked.pending.ids, *(asked.ids[row] for row in kept))
    waiting = frozen(np.vstack([asked.pending.X, X[list(kept)]]))
    first = asked.ids[-1] + 1
    avoid = frozen(np.vstack([asked.avoid, X]))
    return replace(asked, ids=(first, first + 1), avoid=avoid).with_first(pending=Pending(ids, waiting))


def _later(case: Checked, asked: Request, X: Array) -> Iterator[tuple[str, Request]]:
    """Requests that a study may make after ``asked`` was answered by ``X`` (q, d), each with what came between."""
    both, one = _next(asked, X, (0, 1)), _next(asked, X, (1,))
    yield "when both points are pending", both
    yield "when one of them was given up", one
    yield "when one of them has returned", _with_result(case, one, X[:1])
    yield "when a result came from elsewhere", _with_result(case, both, points(asked.region, 1, both.avoid, seed=3))
    yield "when a parameter is held", replace(both, region=MIXED.region({"kind": "b"}))
    yield "when repeats are welcome", allowing_repeats(both)


def _with_result(case: Checked, asked: Request, X: Array) -> Request:
    """``asked``, after results at the points ``X`` (k, d)."""
    known = Data(frozen(np.vstack([asked.data.X, X])), frozen(np.concatenate([asked.data.y, values_at(X)])))
    model = case.surrogate.fit(Data(known.X, known.y), asked.randomness(len(known.y), "fit"), asked.model)
    asked = replace(asked, avoid=frozen(np.vstack([asked.avoid, X])))
    return asked.with_first(data=known, model=model)


@law("Use memory only if it belongs to this request: the same strategy, model, pending points and their order.")
def memory_of_an_earlier_call_changes_nothing(case: Checked) -> None:
    """Whatever has happened since, bit for bit what is chosen without it."""
    asked = request(case, MIXED, q=2)
    answer = case.strategy.choose(asked, None)
    X = points_of(answer, asked)
    for when, later in _later(case, asked, X):
        wanted, got = chosen(case.strategy, later), chosen(case.strategy, later, answer.memory)
        require_same_points(wanted, got, f"with the memory of an earlier call, {when}")


@law("Check with isinstance that memory is of a class of your own, and ignore anything else.")
def memory_of_others_is_ignored(case: Checked) -> None:
    """Another strategy may have chosen last; and a user may pass anything."""
    asked = request(case, q=1, pending=0)
    for other in (PseudoObservations(Believe()), PseudoObservations(ConstantLie())):
        answer = other.choose(asked, None)
        later = _next(asked, points_of(answer, asked), (0,))
        wanted, got = chosen(case.strategy, later), chosen(case.strategy, later, answer.memory)
        require_same_points(wanted, got, "with the memory of another strategy that has chosen the pending point")
    wanted = chosen(case.strategy, asked)
    for memory in (object(), "memory", {}, (), 0, asked):
        got = chosen(case.strategy, asked, memory)
        require_same_points(wanted, got, f"with a memory that is not its own, {type(memory).__name__},")


@law("Hold plain data and importable classes and functions only: no lambdas, no open files, no local classes.")
def a_strategy_survives_pickling(case: Checked) -> None:
    """Seeds run in other processes."""
    asked = request(case)
    again: Strategy = pickle.loads(pickle.dumps(case.strategy))
    require_same_points(chosen(case.strategy, asked), chosen(again, asked), "from a pickled and unpickled strategy")


def _settings(strategy: Any) -> list[str]:
    if is_dataclass(strategy):
        return [field.name for field in fields(strategy)]
    return [*getattr(strategy, "__dict__", {}), *getattr(type(strategy), "__slots__", ())]


@law("Make it a frozen dataclass: @dataclass(frozen=True, slots=True).")
def settings_cannot_be_changed(case: Checked) -> None:
    """A study writes them down once, at its beginning."""
    strategy = copy.deepcopy(case.strategy)
    for name in _settings(strategy):
        try:
            setattr(strategy, name, getattr(strategy, name))
        except AttributeError:
            continue
        raise Breach(f"its setting {name} can be set after construction.")


@law("Compare by settings (a dataclass does, unless eq=False), and store nothing of a call in the strategy.")
def a_strategy_equals_its_copy_before_and_after_a_call(case: Checked) -> None:
    """Otherwise a memory or a journal could not be recognized as its own."""
    before = copy.deepcopy(case.strategy)
    require(before == case.strategy, "a copy of it, with the same settings, does not equal it.")
    case.strategy.choose(request(case), None)
    require(before == case.strategy, "after choose it does not equal the copy that was made before.")


LAWS = laws_in(globals())


@law(
    "Choose in the order of the ids, each point given those before it as if they were pending, with the randomness of "
    "its own trial; or do not promise one_at_a_time."
)
def points_asked_for_one_by_one_are_those_asked_for_at_once(case: Checked) -> None:
    """q = 4, bit for bit: with memory and without it, in the plane and in a mixed space."""
    for asked in (request(case, q=4), after_failures(request(case, MIXED, q=4))):
        at_once = chosen(case.strategy, asked)
        for keep in (True, False):
            memory: object = None
            single = asked
            for row, trial in enumerate(asked.ids):
                single = replace(single, ids=(trial,))
                answer = case.strategy.choose(single, memory if keep else None)
                x, memory = points_of(answer, single), answer.memory
                require_same_points(at_once[row : row + 1], x, f"asked for alone, {row} chosen before it being pending")
                waiting = Pending((*single.pending.ids, trial), frozen(np.vstack([single.pending.X, x])))
                single = replace(single, avoid=frozen(np.vstack([single.avoid, x]))).with_first(pending=waiting)


ONE_AT_A_TIME = (points_asked_for_one_by_one_are_those_asked_for_at_once,)
"""Laws of those strategies that promise it."""
