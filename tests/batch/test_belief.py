"""Lies about all outputs at once: one world, in which only what is missing is believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from batch_requests import declared, model_of
from each import each

from believer.acquisitions.feasibility import Limits
from believer.arrays import frozen
from believer.batch import Believe, ConstantLie, Fantasy, Pending, PseudoObservations, Request
from believer.batch.belief import PLAUSIBLE, SHORTEST, Belief, believed
from believer.batch.request import with_pending

AT = frozen(np.array([[0.2, 0.8], [0.7, 0.1]]))
LIMIT = Limits(high=5.5)
STUDIES: dict[str, tuple[Limits | None, ...]] = {
    "one objective": (None,),
    "a limit": (None, LIMIT),
    "two objectives": (None, None),
    "two objectives and a limit": (None, None, LIMIT),
}
any_study = each("limits", STUDIES.values(), ids=STUDIES)


def before(request: Request, strategy: PseudoObservations) -> Belief:
    """What is believed before the first lie."""
    belief = strategy.resume(request, None)
    assert isinstance(belief, Belief)
    return belief


@any_study
def test_a_point_is_lied_about_in_every_output_by_its_own_model(limits: tuple[Limits | None, ...]) -> None:
    request = declared(*limits)
    belief = before(request, PseudoObservations(Believe())).with_lie(request, 20, AT[0])
    for part, learned in zip(belief.parts, request.outputs, strict=True):
        assert part.ids == (20,)
        assert part.y[0] == pytest.approx(learned.model.predict(AT[:1]).mean[0])
        assert part.model.predict(AT[:1]).std[0] < 0.1 * learned.model.predict(AT[:1]).std[0]
    assert (belief.model, belief.models) == (belief.parts[0].model, tuple(part.model for part in belief.parts))


def test_constant_lies_are_about_objectives_and_limits_are_believed() -> None:
    request = declared(None, None, LIMIT)
    belief = before(request, PseudoObservations(ConstantLie("max"))).with_lie(request, 20, AT[0])
    y = [part.y[0] for part in belief.parts]
    assert y[:2] == [learned.data.y.max() for learned in request.outputs[:2]]
    assert y[2] == pytest.approx(request.outputs[2].model.predict(AT[:1]).mean[0])
    drawn = before(request, PseudoObservations(Fantasy())).with_lie(request, 20, AT[0])
    assert drawn.parts[2].y[0] != pytest.approx(y[2]), "a fantasy draws limits, too"


def test_fantasies_of_different_outputs_are_independent() -> None:
    """Of equal models at the same point and trial."""
    request = declared(None, None)
    request = replace(
        request, outputs=(request.outputs[0], replace(request.outputs[0], output=request.outputs[1].output))
    )
    first, second = before(request, PseudoObservations(Fantasy())).with_lie(request, 20, AT[0]).parts
    assert first.y[0] != second.y[0]


def test_only_what_is_missing_of_a_pending_point_is_believed() -> None:
    both, one = Pending((20, 21), AT), Pending((21,), AT[1:])
    belief = believed(declared(None, LIMIT, out={0: one, 1: both}))
    assert [part.ids for part in belief.parts] == [(21,), (20, 21)]
    assert belief.lies is belief.parts[1]


@any_study
def test_what_was_believed_is_used_again_where_it_is_about_the_same(limits: tuple[Limits | None, ...]) -> None:
    strategy, request = PseudoObservations(Believe()), declared(*limits)
    first = before(with_pending(request, (20,), AT[:1]), strategy).with_lies(with_pending(request, (20,), AT[:1]))
    assert strategy.resume(with_pending(request, (20,), AT[:1]), first) is first
    assert strategy.resume(with_pending(request, (20, 21), AT), first) is first, "lies about the others are added"
    learned = request.outputs[-1]
    other = replace(learned, model=model_of(learned.data, lengthscale=0.2))
    for now, memory in (
        (with_pending(request, (20,), AT[1:]), first),
        (with_pending(request, (21,), AT[:1]), first),
        (request, first),
        (with_pending(replace(request, outputs=(*request.outputs[:-1], other)), (20,), AT[:1]), first),
        (with_pending(replace(request, outputs=(*request.outputs, learned)), (20,), AT[:1]), first),
        (with_pending(request, (20,), AT[:1]), replace(first, strategy=PseudoObservations(ConstantLie("min")))),
        (with_pending(request, (20,), AT[:1]), object()),
    ):
        fresh = strategy.resume(now, memory)
        assert fresh is not memory
        assert isinstance(fresh, Belief)
        assert [part.ids for part in fresh.parts] == [()] * len(now.outputs)


def test_a_believed_point_counts_as_feasible_where_it_is_believed_to_be() -> None:
    request, good = declared(None, LIMIT), np.array([0.9, 0.6])
    assert request.outputs[1].model.predict(good[None, :]).mean[0] < 5.5
    here = believed(request).with_lie(request, 20, good).best_so_far(request)
    assert here.ids[-1] == 20
    assert bool(here.feasible[-1])
    assert not bool(here.real[-1])


@any_study
@each("hedge", [0.0, 0.1])
def test_q_points_are_chosen_one_after_the_other(hedge: float, limits: tuple[Limits | None, ...]) -> None:
    strategy, request = PseudoObservations(Believe(), hedge=hedge), declared(*limits)
    together, now, memory = strategy.choose(request), request, None
    for choice, trial in zip(together.choices, request.ids, strict=True):
        found = strategy.choose(replace(now, ids=(trial,)), memory)
        np.testing.assert_array_equal(found.choices[0].x, choice.x)
        assert found.choices[0].provenance == choice.provenance
        now = replace(with_pending(now, (trial,), choice.x[None, :]), avoid=np.vstack([now.avoid, choice.x]))
        memory = found.memory if trial == 20 else None


@any_study
def test_hedges_of_all_outputs_are_given_the_lies_whenever_they_are_made(limits: tuple[Limits | None, ...]) -> None:
    request = declared(*limits)
    start = before(request, PseudoObservations(Believe(), hedge=0.1))
    early, before_lies = start.following(request, PLAUSIBLE)
    _, first = early.with_lie(request, 20, AT[0]).following(request, PLAUSIBLE)
    _, second = start.with_lie(request, 20, AT[0]).following(request, PLAUSIBLE)
    for base, one, other in zip(before_lies, first, second, strict=True):
        assert 0.5 <= base.factor == one.factor == other.factor < 1.0
        assert one.model is not None
        assert other.model is not None
        np.testing.assert_array_equal(one.model.predict(AT).mean, other.model.predict(AT).mean)
        np.testing.assert_array_equal(one.model.predict(AT).std, other.model.predict(AT).std)
    assert [one.factor for one in start.following(request, SHORTEST)[1]] == [0.5] * len(before_lies)


def test_the_front_that_is_believed_moves_with_every_point() -> None:
    request = declared(None, None)
    belief = before(request, PseudoObservations(Believe(-2.0)))
    then, now = belief.best_so_far(request), belief.with_lie(request, 20, AT[0]).best_so_far(request)
    assert len(now.ids) == len(then.ids) + 1
    np.testing.assert_array_equal(now.reference(), then.reference())


def test_the_incumbent_is_over_lies_too_or_of_the_data() -> None:
    request = declared(None, LIMIT)
    for incumbent, expected in (("believed", -100.0), ("data", None)):
        belief = before(request, PseudoObservations(ConstantLie(-100.0), incumbent=incumbent))
        real = belief.incumbent(belief.best_so_far(request))
        lied = belief.with_lie(request, 20, np.array([0.9, 0.6]))
        assert lied.incumbent(lied.best_so_far(request)) == (expected or real)
