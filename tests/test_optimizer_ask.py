"""Which points an ask may give, and what it says of them: enqueued, fixed, distinct."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from optimizer_studies import (
    SPACES,
    SpyLie,
    SpySurrogate,
    any_strategy,
    assert_distinct,
    assert_lawful,
    on_the_diagonal,
    started,
    tell_all,
    units,
)

from believer import EI, PI, UCB, Categorical, Float, Int, Optimizer, PseudoObservations, Space
from believer.errors import InvalidInput, SpaceExhausted

# Enqueued points


def test_enqueued_points_come_first_in_order_and_the_rest_is_asked_as_usual() -> None:
    optimizer = started(SPACES["mixed"])
    wishes = [{"lr": 0.1, "depth": depth, "kernel": "rbf"} for depth in (3, 1, 2)]
    for wish in wishes:
        optimizer.enqueue(wish)
    assert list(optimizer.queued) == wishes
    first = optimizer.ask(2)
    second = optimizer.ask(3)
    assert [trial.params for trial in (*first, second[0])] == wishes
    assert [trial.origin for trial in second] == ["enqueued", "model", "model"]
    assert optimizer.queued == ()
    assert_distinct(optimizer.trials)


def test_enqueued_points_wait_for_an_ask_whose_fixed_parameters_they_have() -> None:
    optimizer = started(SPACES["mixed"])
    optimizer.enqueue({"lr": 0.1, "depth": 3, "kernel": "rbf"})
    optimizer.enqueue({"lr": 0.1, "depth": 4, "kernel": "rbf"})
    batch = optimizer.ask(2, fixed={"depth": 4})
    assert [trial.origin for trial in batch] == ["enqueued", "model"]
    assert {trial.params["depth"] for trial in batch} == {4}
    assert optimizer.queued == ({"lr": 0.1, "depth": 3, "kernel": "rbf"},)
    assert optimizer.ask(1)[0].params["depth"] == 3


def test_fixed_tells_one_from_true() -> None:
    optimizer = Optimizer(Space({"c": Categorical([1, True, "a"])}), seed=0)
    optimizer.enqueue({"c": True})
    assert optimizer.ask(1, fixed={"c": 1})[0].params["c"] is not True


def test_an_enqueued_point_may_repeat_another() -> None:
    optimizer = started(SPACES["cube"])
    wish = optimizer.trials[0].params
    optimizer.enqueue(wish)
    optimizer.enqueue(wish)
    batch = optimizer.ask(3)
    assert batch.params[:2] == [wish, wish]
    assert_distinct([optimizer.trials[0], batch[2]])


def test_enqueued_points_are_pending_for_the_rest_of_their_batch() -> None:
    lie = SpyLie()
    optimizer = started(SPACES["cube"], strategy=PseudoObservations(lie))
    optimizer.enqueue({"x0": 0.25, "x1": 0.5})
    batch = optimizer.ask(2)
    assert lie.seen == units(batch)


# Fixed parameters


FIXED: dict[str, list[dict[str, Any]]] = {
    "cube": [{"x1": 0.25}],
    "mixed": [{"kernel": 3}, {"lr": 1e-3}, {"lr": 1.0, "kernel": "poly"}],
    "constrained": [{"x": 3.0}],
    "discrete": [{"s": 0.75}, {"c": None, "n": 4}],
}


@any_strategy
@each(("name", "fixed"), [(name, fixed) for name, cases in FIXED.items() for fixed in cases])
def test_fixed_parameters_are_held_in_design_and_model(name: str, fixed: dict[str, Any], strategy: str) -> None:
    space = SPACES[name]
    optimizer = Optimizer(space, n_init=3, strategy=strategy, seed=0)
    tell_all(optimizer, optimizer.ask(2, fixed=fixed))
    optimizer.ask(3, fixed=fixed)
    assert {trial.origin for trial in optimizer.trials} == {"design", "model"}
    for trial in optimizer.trials:
        assert {name: trial.params[name] for name in fixed} == fixed
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_with_everything_fixed_there_is_one_point() -> None:
    optimizer = started(SPACES["cube"])
    everything = {"x0": 0.125, "x1": 0.5}
    assert optimizer.ask(1, fixed=everything)[0].params == everything
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(1, fixed=everything)
    assert caught.value.left == 0
    assert optimizer.ask(2, fixed=everything, distinct=False).params == [everything] * 2


# Distinct points


def never(params: dict[str, Any]) -> bool:
    return False


@any_strategy
@each(
    "space",
    [
        Space({"n": Int(0, 6)}),
        Space({"n": Int(0, 3), "c": Categorical(["a", "b"])}, lambda params: params["n"] > 0 or params["c"] == "a"),
        Space({"s": Float(0.0, 1.0, step=0.125)}),
        Space({"n": Int(1, 1000, log=True, step=150)}),
    ],
    ids=["int", "constrained", "step", "log"],
)
def test_a_finite_space_gives_each_of_its_points_once_and_then_says_that_it_is_exhausted(
    space: Space, strategy: str
) -> None:
    allowed = space.decode(space.region().points())
    optimizer = Optimizer(space, n_init=2, strategy=strategy, seed=0)
    for _ in range(len(allowed) // 2):
        tell_all(optimizer, optimizer.ask(2))
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(2)
    assert caught.value.left == len(allowed) % 2
    if caught.value.left:
        optimizer.ask(1)
    with pytest.raises(SpaceExhausted, match=r"distinct=False"):
        optimizer.ask(1)
    seen = [trial.params for trial in optimizer.trials]
    assert len(seen) == len(allowed)
    assert all(point in seen for point in allowed)
    assert len(optimizer.ask(3, distinct=False)) == 3


@pytest.mark.parametrize("strategy", ["kb", "random"])
def test_a_constraint_that_leaves_few_of_many_points_gives_them_all_and_says_how_many_are_left(strategy: str) -> None:
    optimizer = Optimizer(
        Space({"a": Int(0, 69), "b": Int(0, 69)}, on_the_diagonal), n_init=4, strategy=strategy, seed=0
    )
    tell_all(optimizer, optimizer.ask(7))
    for _ in range(2):
        with pytest.raises(SpaceExhausted) as caught:
            optimizer.ask(4)
        assert caught.value.left == 2
    optimizer.ask(2)
    assert sorted(trial.params["a"] for trial in optimizer.trials) == list(range(9))


def test_exhaustion_is_said_before_any_work() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(Space({"n": Int(0, 6)}), surrogate=surrogate, n_init=2, seed=0)
    tell_all(optimizer, optimizer.ask(3))
    before = optimizer.records()
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(5)
    assert caught.value.left == 4
    assert surrogate.fits == []
    assert optimizer.records() == before
    assert len(optimizer.ask(4)) == 4


def test_what_is_left_is_what_an_ask_can_have_enqueued_points_included() -> None:
    """So that ask(error.left) gives all there is: the queue, and every point that is neither known nor queued."""
    optimizer = Optimizer(Space({"n": Int(0, 4)}), seed=0)
    optimizer.ask(3)
    optimizer.enqueue(optimizer.trials[0].params)
    with pytest.raises(SpaceExhausted) as caught:
        optimizer.ask(5)
    assert caught.value.left == 3
    assert len(optimizer.ask(caught.value.left)) == 3


@pytest.mark.parametrize("strategy", ["kb", "random"])
@pytest.mark.parametrize(
    "space", [Space({"n": Int(0, 20_000)}), Space({"x": Float(0.0, 3.0, step=1e-4)})], ids=["int", "step"]
)
def test_a_grid_too_long_to_list_gives_no_value_twice(space: Space, strategy: str) -> None:
    optimizer = Optimizer(space, n_init=4, seed=0)
    tell_all(optimizer, optimizer.ask(4))
    optimizer.ask(400 if strategy == "random" else 30, strategy=strategy)
    values = [tuple(trial.params.values()) for trial in optimizer.trials]
    assert len(set(values)) == len(values)


def test_a_point_within_a_millionth_of_a_known_one_is_the_same_point() -> None:
    """All mass on one point: every near copy of it is refused, whatever made it known."""
    optimizer = Optimizer(SPACES["line"], n_init=2, acquisition=UCB(0.0), seed=0)
    for x, y in ((-3.0, 1.0), (2.0, -1.0), (7.0, 1.0)):
        optimizer.observe({"x": x}, y)
    optimizer.ask(4)
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(4)
    assert_distinct(optimizer.trials)


def test_with_distinct_false_points_may_repeat() -> None:
    space = Space({"n": Int(0, 3)})
    optimizer = Optimizer(space, n_init=2, acquisition=UCB(0.0), seed=0)
    for n in range(4):
        optimizer.observe({"n": n}, float(n != 2))
    assert optimizer.ask(2, distinct=False).params == [{"n": 2}, {"n": 2}]


@pytest.mark.parametrize("space", [Space({"x": Float(0.0, 1.0)}, never), Space({"n": Int(0, 9)}, never)])
def test_a_constraint_that_nothing_satisfies_is_an_exhausted_space(space: Space) -> None:
    optimizer = Optimizer(space, n_init=1, seed=0)
    for _ in range(2):
        with pytest.raises(SpaceExhausted) as caught:
            optimizer.ask(1)
        assert caught.value.left == 0
        optimizer.observe(space.decode(np.full((1, 1), 0.5))[0], 1.0)


def test_a_constraint_that_fails_is_named_and_nothing_is_recorded() -> None:
    optimizer = Optimizer(Space({"x": Float(0.0, 1.0)}, lambda params: 1 / 0 > 1), seed=0)
    with pytest.raises(InvalidInput, match="constraint must work at every point; it raised ZeroDivisionError"):
        optimizer.ask(1)
    assert optimizer.records() == []


# Provenance


def test_provenance_says_where_a_point_comes_from() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=2, seed=0)
    optimizer.enqueue({"x0": 0.5, "x1": 0.25})
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(1)
    texts = [trial.provenance for trial in optimizer.trials]
    assert texts == ["asked for by the user", "point 1 of a Latin hypercube", "chosen at LogEI rank 1"]


@each(
    ("strategy", "text"),
    [
        ("kb", "chosen at LogEI rank 1 after believing 2 points"),
        ("kb_lower", "chosen at LogEI rank 1 after believing (μ-1σ) 2 points"),
        ("kb_upper", "chosen at LogEI rank 1 after believing (μ+1σ) 2 points"),
        ("cl_min", "chosen at LogEI rank 1 after lying min about 2 points"),
        ("cl_max", "chosen at LogEI rank 1 after lying max about 2 points"),
        ("cl_mean", "chosen at LogEI rank 1 after lying mean about 2 points"),
        ("fantasy", "chosen at LogEI rank 1 after fantasizing about 2 points"),
        ("random", "uniform draw"),
    ],
)
def test_provenance_names_the_acquisition_and_the_lies(strategy: str, text: str) -> None:
    batch = started(SPACES["cube"]).ask(3, strategy=strategy)
    assert batch[2].provenance.startswith(text)
    if strategy != "random":
        assert batch[0].provenance.startswith("chosen at LogEI rank 1")
        assert batch[1].provenance.startswith(text.replace("2 points", "1 point"))


@pytest.mark.parametrize("acquisition", [EI(), PI(), UCB()], ids=repr)
def test_other_acquisitions_work_and_are_named(acquisition: EI | PI | UCB) -> None:
    optimizer = started(SPACES["mixed"], acquisition=acquisition)
    batch = optimizer.ask(2)
    assert batch[0].provenance.startswith(f"chosen at {type(acquisition).__name__}")
    assert_distinct(optimizer.trials)


def test_provenance_says_when_a_better_point_was_passed_over() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 6)}), n_init=2, acquisition=UCB(0.0), seed=0)
    for n in range(0, 7, 2):
        optimizer.observe({"n": n}, -1.0 if n == 2 else 1.0)
    batch = optimizer.ask(2)
    assert "rank 2; rank 1 was handed out already" in batch[0].provenance
    assert "handed out" not in optimizer.ask(1, distinct=False)[0].provenance


def test_provenance_says_when_a_design_point_was_replaced() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 1)}), n_init=4, seed=0)
    taken = optimizer.ask(1)[0]
    other = optimizer.ask(1)[0]
    assert {taken.params["n"], other.params["n"]} == {0, 1}
    narrow = Optimizer(Space({"x": Float(0.0, 1.0)}, lambda params: params["x"] > 0.75), n_init=4, seed=0)
    replaced = [trial for trial in narrow.ask(4) if "; replaced by a uniform draw" in trial.provenance]
    assert len(replaced) == 3


def test_a_batch_says_how_many_earlier_trials_are_still_out() -> None:
    study = Optimizer(Space({"x": Float(0.0, 1.0)}), seed=0)
    first = study.ask(3)
    assert first.earlier == 0
    assert "earlier" not in str(first)
    study.tell(first[0], 1.0)
    second = study.ask(2)
    assert second.earlier == 2
    assert "2 earlier trials have no result yet" in str(second)
    assert "2 earlier trials have no result yet" in second._repr_html_()
