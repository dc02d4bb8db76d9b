"""Lies about several outputs at once: one world, in which only what is missing is believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from batch_requests import FAST, data_for, model_of, request_for

from believer.acquisitions import EHVI, UCB, LogEI
from believer.acquisitions.feasibility import Feasible, Within
from believer.arrays import frozen
from believer.batch import Believe, ConstantLie, Data, Fantasy, Pending, PseudoObservations, Request
from believer.batch.outputs import Beliefs, believed, choose, objective, standing
from believer.batch.request import Output
from believer.errors import MissingCapability

NOTHING = Pending((), frozen(np.zeros((0, 2))))
AT = frozen(np.array([[0.2, 0.8], [0.7, 0.1]]))


def request_of(*limits: Within | None, pending: dict[int, Pending] | None = None, **changes: Any) -> Request:
    """A request with an output for each of ``limits``, of results of its own; pending points by output."""
    outputs = []
    for place, one in enumerate(limits):
        base = data_for(seed=0)
        data = Data(base.X, frozen(base.y + place * np.cos(4.0 * base.X[:, 1])))
        alone = request_for(data=data, model=model_of(data), pending=(pending or {}).get(place, NOTHING))
        outputs.append(Output(f"v{place}", one, 0.5, tuple(range(len(data))), replace(alone, maximizer=FAST)))
    first = replace(outputs[0].request, outputs=tuple(outputs), **changes)
    return replace(first, acquisition=EHVI() if sum(one is None for one in limits) > 1 else LogEI())


def test_a_point_is_lied_about_in_every_output_by_its_own_model() -> None:
    request = request_of(None, Within(high=5.5))
    beliefs = believed(PseudoObservations(Believe()), request).with_lie(request, 20, AT[0])
    for part, output in zip(beliefs.parts, request.outputs, strict=True):
        assert part.ids == (20,)
        assert part.y[0] == pytest.approx(output.request.model.predict(AT[:1]).mean[0])


def test_constant_lies_are_about_objectives_and_limits_are_believed() -> None:
    request = request_of(None, None, Within(high=5.5))
    beliefs = believed(PseudoObservations(ConstantLie("max")), request).with_lie(request, 20, AT[0])
    y = [part.y[0] for part in beliefs.parts]
    assert y[:2] == [output.request.data.y.max() for output in request.outputs[:2]]
    assert y[2] == pytest.approx(request.outputs[2].request.model.predict(AT[:1]).mean[0])
    drawn = believed(PseudoObservations(Fantasy()), request).with_lie(request, 20, AT[0])
    assert drawn.parts[2].y[0] != pytest.approx(y[2]), "a fantasy draws limits, too"


def test_only_what_is_missing_of_a_pending_point_is_believed() -> None:
    both, one = Pending((20, 21), AT), Pending((21,), AT[1:])
    request = request_of(None, Within(high=5.5), pending={0: one, 1: both})
    beliefs = believed(PseudoObservations(Believe()), request)
    assert [part.ids for part in beliefs.parts] == [(21,), (20, 21)]
    assert beliefs.largest is beliefs.parts[1]


def test_what_was_believed_is_used_again_where_it_is_about_the_same() -> None:
    request = request_of(None, Within(high=5.5), pending={0: Pending((20,), AT[:1]), 1: Pending((20,), AT[:1])})
    strategy = PseudoObservations(Believe())
    first = believed(strategy, request)
    again = believed(strategy, request, first)
    assert all(a is b for a, b in zip(first.parts, again.parts, strict=True))
    moved = request_of(None, Within(high=5.5), pending={0: Pending((20,), AT[1:]), 1: Pending((20,), AT[1:])})
    np.testing.assert_array_equal(believed(strategy, moved, first).parts[0].X, AT[1:])
    np.testing.assert_array_equal(believed(strategy, moved, object()).parts[0].X, AT[1:])


def test_a_believed_point_counts_as_feasible_where_it_is_believed_to_be() -> None:
    request = request_of(None, Within(high=5.5))
    beliefs = believed(PseudoObservations(Believe()), request)
    good = np.array([[0.9, 0.6]])
    assert request.outputs[1].request.model.predict(good).mean[0] < 5.5
    here = standing(request, beliefs.with_lie(request, 20, good[0]))
    assert here.ids[-1] == 20
    assert bool(here.feasible[-1])
    assert not bool(here.real[-1])


@pytest.mark.parametrize("hedge", [0.0, 0.1])
@pytest.mark.parametrize("limits", [(None, Within(high=5.5)), (None, None), (None, None, Within(high=5.5))])
def test_q_points_are_chosen_one_after_the_other(hedge: float, limits: tuple[Within | None, ...]) -> None:
    strategy = PseudoObservations(Believe(), hedge=hedge)
    request = request_of(*limits, ids=(20, 21, 22))
    together = choose(strategy, request, None)
    avoid, out, memory = request.avoid, NOTHING, None
    for choice, trial in zip(together.choices, request.ids, strict=True):
        single = request_of(*limits, pending=dict.fromkeys(range(len(limits)), out), ids=(trial,))
        outputs = tuple(
            replace(one, request=replace(one.request, model=same.request.model))
            for one, same in zip(single.outputs, request.outputs, strict=True)
        )
        found = choose(strategy, replace(single, outputs=outputs, avoid=avoid, model=request.model), memory)
        np.testing.assert_array_equal(found.choices[0].x, choice.x)
        avoid = np.vstack([avoid, choice.x])
        out = Pending((*out.ids, trial), frozen(np.vstack([out.X, choice.x])))
        memory = found.memory if trial == 20 else None


def test_while_nothing_is_feasible_probabilities_alone_are_climbed() -> None:
    request = request_of(None, Within(high=-100.0))
    beliefs = believed(PseudoObservations(Believe()), request)
    here = standing(request, beliefs)
    worth, name = objective(request, beliefs.models, here, 20)
    assert isinstance(worth, Feasible)
    assert (worth.objective, name) == (None, "feasibility")


@pytest.mark.parametrize("high", [-100.0, 100.0], ids=["nothing feasible", "all feasible"])
@pytest.mark.parametrize(("limits", "acquisition"), [((None,), EHVI()), ((None,), UCB()), ((None, None), LogEI())])
def test_an_acquisition_of_the_wrong_kind_is_refused(limits: Any, acquisition: Any, high: float) -> None:
    request = replace(request_of(*limits, Within(high=high)), acquisition=acquisition)
    with pytest.raises(MissingCapability, match=type(acquisition).__name__):
        choose(PseudoObservations(Believe()), request, None)


def test_the_front_that_is_believed_moves_with_every_point() -> None:
    request = request_of(None, None)
    beliefs: Beliefs = believed(PseudoObservations(Believe(-2.0)), request)
    before = standing(request, beliefs)
    after = standing(request, beliefs.with_lie(request, 20, AT[0]))
    assert len(after.ids) == len(before.ids) + 1
    np.testing.assert_array_equal(after.reference(), before.reference())
