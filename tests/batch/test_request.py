"""A request has at least one output, and strategies say for how many they can choose."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from batch_requests import data_for, declared, model_of, request_for

from believer.acquisitions.feasibility import Limits
from believer.arrays import frozen
from believer.batch import STRATEGIES, Chosen, Request
from believer.batch.request import LIMITS, ONE, SEVERAL, refuse_outputs, refuse_repeats, takes, with_pending
from believer.errors import InvalidInput, MissingCapability


def test_a_request_without_outputs_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one output"):
        replace(request_for(), outputs=())


def test_the_first_objective_can_be_changed_alone() -> None:
    request, data = declared(None, Limits(high=5.5)), data_for(n=5, seed=1)
    model = model_of(data)
    changed = request.with_first(model=model, data=data, sign=-1.0)
    first, other = changed.outputs
    assert (changed.model, changed.data, changed.sign) == (model, data, -1.0)
    assert (first.fit, first.ids) == (model, (0, 1, 2, 3, 4))
    assert other is request.outputs[1]
    assert (request.sign, request.model is model) == (1.0, False), "the request itself is as it was"
    assert (changed.objectives, changed.limited) == (1, (other,))


def test_points_are_pending_in_every_output() -> None:
    X = frozen(np.array([[0.2, 0.8], [0.7, 0.1]]))
    request = with_pending(with_pending(declared(None, Limits(high=5.5)), (20,), X[:1]), (21,), X[1:])
    for learned in request.outputs:
        assert learned.pending.ids == (20, 21)
        np.testing.assert_array_equal(learned.pending.X, X)


def test_each_output_draws_its_own_and_the_first_as_if_it_were_the_only_one() -> None:
    one, two = declared(None), declared(None, None)
    draws = [request.stream(20, "lie", place).random() for request, place in ((one, 0), (two, 0), (two, 1))]
    assert draws[0] == draws[1] == one.randomness(20, "lie").random()
    assert draws[2] != draws[0]


@dataclass(frozen=True)
class Plain:
    """A strategy that says nothing of outputs."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        raise NotImplementedError


def test_a_strategy_that_would_look_at_the_first_objective_alone_is_refused() -> None:
    assert takes(Plain()) == ONE
    assert takes(STRATEGIES["kb"]) == SEVERAL
    assert takes(STRATEGIES["qei"]) == LIMITS
    for name, strategy in {**STRATEGIES, "plain": Plain()}.items():
        refuse_outputs(strategy, partial(str, name), 1, False)
        if takes(strategy) != SEVERAL:
            with pytest.raises(MissingCapability, match=f"{name} chooses for one objective.*kb"):
                refuse_outputs(strategy, partial(str, name), 2, False)
        if takes(strategy) == ONE:
            with pytest.raises(MissingCapability, match=f"{name} chooses for one objective without limits.*kb"):
                refuse_outputs(strategy, partial(str, name), 1, True)
        else:
            refuse_outputs(strategy, partial(str, name), 1, True)


def test_those_that_are_named_instead_are_all_that_can() -> None:
    """All but top_q: nobody is sent to a baseline that is shown worse."""
    taking = {can: {name for name, one in STRATEGIES.items() if takes(one) == can} for can in (LIMITS, SEVERAL)}
    for objectives, limited, named in ((2, False, taking[SEVERAL]), (1, True, taking[SEVERAL] | taking[LIMITS])):
        with pytest.raises(MissingCapability) as refused:
            refuse_outputs(Plain(), lambda: "plain", objectives, limited)
        assert set(re.findall(r"\w+", str(refused.value).rpartition(":")[2])) == named - {"top_q"}


def test_repeats_are_for_one_objective_and_strategies_that_weigh_them() -> None:
    refuse_repeats(STRATEGIES["kb"], lambda: "kb", 1)
    with pytest.raises(MissingCapability, match="objective"):
        refuse_repeats(STRATEGIES["kb"], lambda: "kb", 2)
    with pytest.raises(MissingCapability, match="lp never repeats"):
        refuse_repeats(STRATEGIES["lp"], lambda: "lp", 1)
