"""Studies that declare their outcomes: what may be told, what becomes of it, and what is said of it."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from declared_studies import EVERYTHING, KINDS, LIMITED, SEVERAL, SPACE, begun, result
from each import each

import believer as bv
from believer import (
    EHVI,
    GP,
    UCB,
    AtLeast,
    AtMost,
    Between,
    Categorical,
    Desirability,
    Float,
    Int,
    LastLayer,
    LogEI,
    Maximize,
    Minimize,
    Multistart,
    Optimizer,
    Outcome,
    RandomForest,
    Scalarized,
    Space,
    read_study,
)
from believer.acquisitions.hypervolume import Edges, boxes
from believer.arrays import LARGEST
from believer.batch import STRATEGIES, Chosen, Request
from believer.batch import request as requests
from believer.batch.request import SEVERAL as TAKES_SEVERAL
from believer.batch.request import Choice, takes
from believer.errors import InvalidInput, JournalError, MissingCapability, SpaceExhausted, TrialError
from believer.propose import propose
from believer.study.events import Amended, Told
from believer.study.goal import Goal
from believer.study.history import History
from believer.study.ledger import Counts
from believer.study.settings import StudySettings

NAN = float("nan")
any_kind = each("outcomes", KINDS.values(), ids=KINDS)


def study(outcomes: dict[str, Goal] = EVERYTHING, **settings: Any) -> Optimizer:
    return Optimizer(SPACE, n_init=3, outcomes=outcomes, **{"seed": 0, **settings})


def statuses(opt: Optimizer) -> list[str]:
    return [row["status"] for row in opt.records()]


# Telling


def test_numbers_are_told_by_name_in_any_order() -> None:
    opt = study()
    opt.tell(opt.ask(1)[0], {"purity": 0.5, "yield": 1, "heat": np.float32(0.5), "cost": np.array(2.0)})
    assert opt.outcomes[0] == Outcome({"cost": 2.0, "yield": 1.0}, {"heat": 0.5, "purity": 0.5})
    row = opt.records()[0]
    assert [row[name] for name in EVERYTHING] == [2.0, 1.0, 0.5, 0.5]
    assert (row["status"], row["value"]) == ("done", None)


@pytest.mark.parametrize("kept", [(1.0, 3.0), np.array([1.0, 3.0]), [1.0, NAN, 3.0, math.inf], [np.float64(1), 3]])
def test_of_replicates_the_mean_counts_and_what_is_no_number_does_not(kept: Any) -> None:
    opt = study({"a": Minimize()})
    opt.tell(opt.ask(1)[0], {"a": kept})
    assert opt.outcomes[0] == Outcome({"a": 2.0}, replicates={"a": (1.0, 3.0)})


def test_replicates_that_are_equal_have_their_value_as_mean() -> None:
    opt = study({"a": Minimize(), "b": AtMost(0.1)})
    for k, trial in enumerate(opt.ask(12), start=2):
        opt.tell(trial, {"a": [0.7] * k, "b": [0.1] * k})
    assert all((one.objectives["a"], one.constraints["b"]) == (0.7, 0.1) for one in opt.outcomes.values())


@pytest.mark.parametrize("lost", [NAN, math.inf, -math.inf, [NAN, NAN], np.array([math.inf])])
def test_what_is_no_number_is_lost_the_rest_kept_and_the_trial_has_failed(lost: Any) -> None:
    opt = study()
    opt.tell(opt.ask(1)[0], {"cost": 1.0, "yield": lost, "heat": 1.0, "purity": 0.5}, noise={"yield": 0.1, "cost": 0.2})
    assert opt.outcomes[0] == Outcome({"cost": 1.0}, {"heat": 1.0, "purity": 0.5}, {"cost": 0.2}, lost=("yield",))
    assert statuses(opt) == ["failed"]
    assert opt.records()[0]["error"] == "no number for yield"
    assert (opt.counts.failed, opt.counts.done, opt.pending) == (1, 0, ())


def test_a_result_may_come_in_parts() -> None:
    opt = study()
    first, second = opt.ask(2)
    opt.tell(first, {"cost": 1.0, "yield": 2.0})
    assert statuses(opt) == ["partial", "pending"]
    assert [trial.id for trial in opt.pending] == [0, 1]
    opt.tell(first.params, {"heat": 0.3})
    opt.tell_many([first, second], [{"purity": 0.9}, {"cost": 3.0}])
    assert statuses(opt) == ["done", "partial"]
    assert opt.outcomes[0] == Outcome({"cost": 1.0, "yield": 2.0}, {"heat": 0.3, "purity": 0.9})
    opt.tell(second, error="the rest never came")
    assert statuses(opt) == ["done", "failed"]
    assert opt.outcomes[1].objectives == {"cost": 3.0}, "what came is kept"
    assert opt.counts.answered == 2


def test_a_part_that_is_lost_fails_the_trial_only_when_all_is_told() -> None:
    opt = study()
    opt.ask(1)
    opt.tell(0, {"cost": NAN})
    assert statuses(opt) == ["partial"]
    opt.tell(0, {"yield": 1.0, "heat": 1.0, "purity": 1.0})
    assert statuses(opt) == ["failed"]


def test_a_partial_trial_can_be_abandoned_and_still_be_answered() -> None:
    opt = begun(SEVERAL)
    trial = opt.ask(2)[0]
    told = result(opt, trial)
    opt.tell(trial, {"cost": told["cost"]})
    opt.abandon(trial)
    assert statuses(opt)[-2:] == ["abandoned", "pending"]
    assert trial.id not in [one.id for one in opt.pending]
    assert sum((opt.counts.answered, opt.counts.pending, opt.counts.abandoned)) == len(opt.trials)
    opt.ask(2)
    assert len(opt.front) > 0
    del told["cost"]
    opt.tell(trial.params, told)
    assert statuses(opt)[-4:] == ["done", "pending", "pending", "pending"]
    opt.ask(1)


@each(
    ("call", "rule"),
    [
        (
            lambda o: o.tell(0, 1.0),
            "outcomes cost, yield, heat, purity; got 'value'. Of a number, say which it is: {.cost",
        ),
        (lambda o: o.tell(0, {}), "at least one number"),
        (lambda o: o.tell(0, {"price": 1.0}), "this study has the outcomes .*; got 'price'"),
        (lambda o: o.tell(0, {"cost": 1.0, "price": NAN}), "got 'price'"),
        (lambda o: o.tell(0, {"cost": []}), "a list of at least one number; got none for 'cost'"),
        (lambda o: o.tell(0, {"cost": "1"}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": True}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": None}), "cost is None"),
        (lambda o: o.tell(0, {"cost": [1.0, "2"]}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": [1.0, [2.0, 3.0]]}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": [[1.0, 2.0]]}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": np.ones((2, 2))}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": {"a": 1.0}}), "cost must be a number"),
        (lambda o: o.tell(0, {"cost": 1e101}), "must lie within"),
        (lambda o: o.tell(0, {1: 1.0}), "an outcome has a name; got 1"),
        (lambda o: o.tell(0, {"cost": 1.0}, noise={"price": 0.1}), "noise must be named after"),
        (lambda o: o.tell(0, {"cost": 1.0}, noise={"yield": 0.1}), "noise must be named after"),
        (lambda o: o.tell(0, {"cost": 1.0}, noise={"cost": -0.1}), "zero or more; got -0.1 for cost"),
        (lambda o: o.tell(0, {"cost": 1.0}, noise={"cost": NAN}), "must be finite"),
        (lambda o: o.tell(0, {"cost": 1.0}, noise={"cost": "much"}), "must be a number"),
        (lambda o: o.tell(0, {"cost": 1.0, "yield": 1.0}, noise=0.1), "noise"),
        (lambda o: o.tell(0, {"cost": 1.0}, error="no"), "value or an error"),
        (lambda o: o.tell(0), "have a value"),
        (lambda o: o.tell(0, Outcome({"value": 1.0})), "got 'value'"),
        (lambda o: o.observe({"x": 0.5, "y": 0.5}, 1.0), "say which it is"),
        (lambda o: o.observe({"x": 0.5, "y": 0.5}, {"price": 1.0}), "got 'price'"),
        (lambda o: o.tell_many([0, 1], [{"cost": 1.0}, {"price": 1.0}]), "got 'price'"),
        (lambda o: o.tell_many([0, 2], [{"cost": 1.0}, {"cost": 1.0}]), "cost was told already"),
        (lambda o: o.tell(2, {"cost": 2.0, "heat": 1.0}), "cost was told already; amend"),
        (lambda o: o.amend(3, {"price": 1.0}), "got 'price'"),
        (lambda o: o.amend(3, 1.0), "say which it is"),
        (lambda o: o.amend(3), "have a value"),
        (lambda o: o.predict([{"x": 0.5, "y": 0.5}]), "outcome must be one of cost, yield, heat, purity.*; got None"),
        (lambda o: o.predict([{"x": 0.5, "y": 0.5}], "price"), "outcome must be one of .*; got 'price'"),
        (lambda o: o.best, "best needs a single objective; this study has cost, yield"),
        (lambda o: o.recommend(), "front"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(call: Any, rule: str) -> None:
    opt = study()
    batch = opt.ask(4)
    opt.tell(2, {"cost": 1.0})
    opt.tell(3, result(opt, batch[3]))
    before = opt.events
    with pytest.raises(InvalidInput, match=rule):
        call(opt)
    assert opt.events == before
    opt.ask(1)


@each(
    ("call", "rule"),
    [
        (lambda o: o.tell(1, {"cost": 1.0}), "trial 1 already.*done.*amend"),
        (lambda o: o.tell(2, {"cost": 1.0}), "trial 2 already.*failed"),
        (lambda o: o.amend(0, {"cost": 1.0}), "trial 0 has no result"),
        (lambda o: o.amend(9, {"cost": 1.0}), "there is no trial 9"),
        (lambda o: o.amend(3, {"cost": 1.0}), "trial 3 has no result"),
        (lambda o: o.amend(Optimizer(SPACE, seed=5).ask(2)[1], {"cost": 1.0}), "is it from another study"),
        (lambda o: o.abandon(2), "abandon"),
        (lambda o: o.tell({"x": 0.123, "y": 0.0}, {"cost": 1.0}), "no pending trial has the params"),
        (lambda o: o.tell_many([0, 0], [{"cost": 1.0}, {"yield": 1.0}]), "each trial may be told once"),
    ],
)
def test_a_trial_is_told_once_and_amended_when_there_is_something_to_amend(call: Any, rule: str) -> None:
    opt = study()
    batch = opt.ask(4)
    opt.tell(1, result(opt, batch[1]))
    opt.tell(2, error="no")
    opt.abandon(3)
    before = opt.events
    with pytest.raises(TrialError, match=rule):
        call(opt)
    assert opt.events == before


def test_an_amendment_stands_in_place_of_what_was_told_and_events_have_both() -> None:
    opt = begun(LIMITED)
    right = opt.outcomes[2]
    opt.amend(2, error="the bottle was swapped")
    assert (statuses(opt)[2], opt.counts.failed, 2 in opt.outcomes) == ("failed", 1, False)
    opt.amend(2, {"cost": -9.0})
    assert (statuses(opt)[2], [trial.id for trial in opt.pending]) == ("partial", [2])
    opt.tell(2, {"heat": 0.0})
    assert opt.best == (opt.trials[2].params, -9.0)
    opt.amend(opt.trials[2], {"cost": NAN, "heat": 1.0})
    assert statuses(opt)[2] == "failed"
    opt.amend(2, right)
    assert (opt.outcomes[2], opt.counts.done) == (right, 5)
    kinds = [type(event) for event in opt.events if getattr(event, "id", None) == 2]
    assert kinds == [Told, Amended, Amended, Told, Amended, Amended]
    np.testing.assert_array_equal(opt.ask(2).encoded, begun(LIMITED).ask(2).encoded, "as if nothing had been wrong")


def test_an_amendment_after_an_ask_starts_the_next_fit_anew() -> None:
    opt = begun(LIMITED)
    opt.ask(1)
    assert opt.hyperparameters is not None
    assert set(opt.hyperparameters) == {"cost", "heat"}
    opt.amend(0, {"cost": 0.0, "heat": 0.0})
    assert opt.hyperparameters is None
    opt.ask(1)


def test_a_result_of_one_number_can_be_amended_too() -> None:
    opt = Optimizer(SPACE, n_init=2, seed=0)
    first, second = opt.ask(2)
    opt.tell(first, 1.0)
    opt.amend(first, Outcome({"loss": 2.0, "seconds": 1.0}))
    opt.tell(second, Outcome({"loss": 3.0, "seconds": 1.0}))
    with pytest.raises(InvalidInput, match="the same objectives"):
        opt.amend(first, 5.0)
    opt.amend(second, error="no")
    opt.amend(second, Outcome({"seconds": 4.0, "loss": 0.5}))
    assert opt.best == (second.params, 0.5)
    opt.ask(1)


def test_results_from_elsewhere_count_whole_in_part_and_failed() -> None:
    opt = study(LIMITED)
    opt.observe({"x": 0.1, "y": 0.1}, {"cost": 1.0, "heat": 0.1})
    opt.observe({"x": 0.2, "y": 0.1}, {"cost": 0.5})
    opt.observe({"x": 0.3, "y": 0.1}, error="spilled")
    assert statuses(opt) == ["done", "partial", "failed"]
    opt.tell(1, {"heat": 0.2})
    assert opt.best == ({"x": 0.2, "y": 0.1}, 0.5)


# Asking


def test_points_are_enqueued_fixed_and_repeated() -> None:
    opt = begun(SEVERAL, surrogate=GP(noise="infer"))
    opt.enqueue({"x": 0.5, "y": 0.25})
    batch = opt.ask(3, fixed={"y": 0.25})
    assert batch[0].params == {"x": 0.5, "y": 0.25}
    assert [trial.params["y"] for trial in batch] == [0.25] * 3
    assert len({tuple(trial.encoded) for trial in batch}) == 3
    opt.ask(2, distinct=False)
    noisy = begun(LIMITED, surrogate=GP(noise=0.5))
    assert len(noisy.ask(3, distinct=False)) == 3


@any_kind
@each("name", STRATEGIES)
def test_every_strategy_works_or_says_at_once_which_one_does(name: str, outcomes: dict[str, Goal]) -> None:
    try:
        opt = begun(outcomes, strategy=name)
    except MissingCapability as error:
        said = str(error).replace(",", " ").replace(";", " ").replace(".", " ").split()
        assert said[0] == name
        assert "hedged" in said
        can = (requests.ONE,) if outcomes == LIMITED else (requests.ONE, requests.LIMITS)
        assert requests.takes(STRATEGIES[name]) in can
        return
    batch = opt.ask(2)
    assert batch[1].origin == "model"
    assert SPACE.allows(batch[1].params)


@pytest.mark.parametrize(
    ("outcomes", "acquisition", "rule"),
    [
        ({"a": Minimize(), "c": AtLeast(1e6)}, UCB(), "LogEI, EI or PI.*UCB"),
        ({"a": Minimize(), "c": AtLeast(1e6)}, EHVI(), "EHVI.*outcomes="),
        ({"a": Minimize(), "c": AtLeast(-1e6)}, Scalarized(), "Scalarized.*outcomes="),
        ({"a": Minimize(), "b": Minimize(), "c": AtLeast(1e6)}, LogEI(), "EHVI or Scalarized; got LogEI"),
    ],
)
def test_an_acquisition_that_cannot_work_is_refused_at_once(outcomes: Any, acquisition: Any, rule: str) -> None:
    """Also where nothing is feasible in rehearsal."""
    with pytest.raises(MissingCapability, match=rule):
        Optimizer(SPACE, acquisition=acquisition, outcomes=outcomes, seed=0)


@dataclass(frozen=True)
class Middle:
    """A strategy of a user's own."""

    def choose(self, request: Request, memory: object = None) -> Chosen:
        return Chosen(tuple(Choice(np.full(request.region.dim, 0.5), "the middle") for _ in request.ids))


@dataclass(frozen=True)
class Aware(Middle):
    """One that says that it looks at limits."""

    takes: ClassVar[str] = requests.LIMITS


def test_a_strategy_of_ones_own_says_whether_it_takes_outcomes() -> None:
    with pytest.raises(MissingCapability, match=r"Middle chooses for one objective without limits, .* hedged"):
        Optimizer(SPACE, strategy=Middle(), outcomes=LIMITED, seed=0)
    with pytest.raises(MissingCapability, match="Middle chooses for one objective"):
        begun(LIMITED).ask(1, strategy=Middle())
    assert begun(LIMITED, strategy=Aware()).ask(1)[0].params == {"x": 0.5, "y": 0.0}


@dataclass(frozen=True)
class Front:
    """An acquisition of a user's own, of several objectives."""

    seen: ClassVar[list[Any]] = []

    def of_several(self, models: Any, front: Any, reference: Any, rng: Any) -> Any:
        self.seen.append((len(models), front.shape[1], reference))
        return EHVI().of_several(models, front, reference, rng)


def test_an_acquisition_of_ones_own_is_given_models_front_and_reference() -> None:
    opt = begun(SEVERAL, acquisition=Front(), reference={"yield": 1.0, "cost": 2.0}, strategy="kb")
    np.testing.assert_array_equal(opt.ask(2).encoded, begun_with_reference().ask(2).encoded)
    assert [(k, columns, reference.tolist()) for k, columns, reference in Front.seen] == [(2, 2, [2.0, -1.0])] * 2


def begun_with_reference() -> Optimizer:
    return begun(SEVERAL, reference={"yield": 1.0, "cost": 2.0}, strategy="kb")


def test_outcomes_say_themselves_what_is_maximized() -> None:
    with pytest.raises(InvalidInput, match="Maximize"):
        Optimizer(SPACE, outcomes=LIMITED, maximize=True)
    with pytest.raises(InvalidInput, match="reference"):
        Optimizer(SPACE, outcomes=LIMITED, reference={"cost": 1.0})
    with pytest.raises(InvalidInput, match="outcomes="):
        Optimizer(SPACE, seed=0).observe({"x": 0.5, "y": 0.5}, {"cost": 1.0})


MIXED = Space({"x": Float(1e-3, 1.0, log=True), "n": Int(0, 4), "kind": Categorical(["a", "b", "c"])})
BELOW = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}, lambda params: params["x"] + params["y"] <= 1.2)


@any_kind
@each(
    ("space", "n", "q"),
    [
        (MIXED, 4, 3),
        (BELOW, 4, 3),
        (Space({"x": Float(-3.0, 7.0)}), 3, 2),
        (Space.cube(50), 3, 2),
        (SPACE, 1, 2),
        (SPACE, 4, 30),
    ],
    ids=["mixed", "constrained", "one dimension", "fifty", "one result", "thirty points"],
)
def test_points_are_new_and_allowed_in_any_space(space: Space, n: int, q: int, outcomes: dict[str, Goal]) -> None:
    opt = begun(outcomes, n, space, maximizer=Multistart(starts=2, candidates=32, neighbors=4))
    batch = opt.ask(q)
    assert len({tuple(trial.encoded) for trial in opt.trials}) == n + q
    assert all(space.allows(trial.params) for trial in batch)


def test_a_finite_space_ends() -> None:
    opt = begun(SEVERAL, 3, Space({"n": Int(0, 2), "m": Int(0, 1)}))
    opt.ask(3)
    with pytest.raises(SpaceExhausted):
        opt.ask(1)
    assert len(opt.ask(2, distinct=False)) == 2


@any_kind
@each("scale", [0.0, 1e12, 1e-12, 1e90])
def test_results_without_spread_and_of_any_size_are_worked_with(outcomes: dict[str, Goal], scale: float) -> None:
    opt = Optimizer(SPACE, n_init=4, outcomes=outcomes, seed=0)
    for _ in range(3):
        for trial in opt.ask(2):
            told = result(opt, trial)
            opt.tell(
                trial, {**told, "cost": 2.0 + scale * told["cost"], "heat": 0.5 + told["heat"] / (scale or math.inf)}
            )
    at = opt.predict([trial.params for trial in opt.trials], "heat")
    assert np.isfinite([at.mean, at.std]).all()
    assert np.isfinite(opt.ask(2).encoded).all()


ONE: dict[str, Goal] = {"cost": Minimize()}
TWO: dict[str, Goal] = {**ONE, "yield": Maximize()}
FAR_LIMITS: list[Goal] = [
    *(goal(side * LARGEST) for goal in (AtMost, AtLeast) for side in (1.0, -1.0)),
    *(Between(low, high) for low, high in ((-LARGEST, LARGEST), (0.9 * LARGEST, LARGEST), (-LARGEST, -0.9 * LARGEST))),
    *(Between(low, high) for low, high in ((0.0, LARGEST), (-LARGEST, 0.0), (LARGEST * (1.0 - 1e-15), LARGEST))),
]
FAR_GOALS: dict[str, tuple[dict[str, Goal], Any]] = {
    **{f"one, {limit}": ({**ONE, "heat": limit}, None) for limit in FAR_LIMITS},
    **{f"two, {limit}": ({**TWO, "heat": limit}, None) for limit in FAR_LIMITS[::3]},
    **{
        f"beyond {a:g} and {b:g}": (TWO, {"cost": a * LARGEST, "yield": b * LARGEST})
        for a, b in itertools.product((1.0, -1.0, 1e-100), repeat=2)
    },
    "desirabilities": ({"cost": Desirability(-LARGEST, LARGEST), "yield": Desirability(LARGEST, -LARGEST)}, None),
}


@pytest.mark.parametrize("name", FAR_GOALS)
def test_goals_as_far_from_results_as_they_may_be_are_worked_with(name: str) -> None:
    outcomes, reference = FAR_GOALS[name]
    several = sum(isinstance(goal, Minimize | Maximize) for goal in outcomes.values()) > 1
    acquisitions = ("EHVI", "Scalarized") if several else ("LogEI",)
    for scale, acquisition in itertools.product((1.0, 1e-60), acquisitions):
        opt = Optimizer(SPACE, n_init=4, outcomes=outcomes, reference=reference, acquisition=acquisition)
        for trial in opt.ask(4):
            opt.tell(trial, {n: scale * float(((trial.encoded - i / 4) ** 2).sum()) for i, n in enumerate(outcomes)})
        for strategy in ("kb", "hedged", "fantasy", "thompson", *(() if several else ("qei", "gp_bucb", "ucb_pe"))):
            batch = opt.ask(2, strategy=strategy)
            assert [trial.origin for trial in batch] == ["model", "model"]
            assert str(batch)


@pytest.mark.parametrize("objectives", [3, 4])
@pytest.mark.parametrize("acquisition", [EHVI(), Scalarized()], ids=["EHVI", "Scalarized"])
def test_several_objectives_and_limits_are_weighed_together(objectives: int, acquisition: Any) -> None:
    wanted: dict[str, Goal] = {f"f{i}": Minimize() for i in range(objectives)}
    wanted |= {f"c{i}": AtMost(1.5 + i) for i in range(5)}
    opt = Optimizer(Space.cube(3), n_init=5, outcomes=wanted, acquisition=acquisition, seed=0)
    for _ in range(4):
        for trial in opt.ask(2):
            aims = {f"f{i}": float(((trial.encoded - i / 4) ** 2).sum()) for i in range(objectives)}
            opt.tell(trial, aims | {f"c{i}": float(trial.encoded[i % 3] * (1 + i)) for i in range(5)})
    assert 1 <= len(opt.front) <= 8
    assert opt.hypervolume > 0.0
    assert "times feasibility" in opt.trials[-1].provenance


@any_kind
@each("surrogate", [RandomForest(3), "mq_rbf", "sparse_gp", "fixed_rbf", LastLayer((4,), 5)])
def test_other_surrogates_learn_outcomes_too(surrogate: Any, outcomes: dict[str, Goal]) -> None:
    opt = begun(outcomes, surrogate=surrogate, strategy="kb")
    opt.tell(opt.ask(2)[0], error="no")
    assert opt.ask(2)[1].origin == "model"


# Looking


def test_the_best_result_is_the_best_within_all_limits() -> None:
    opt = study({"a": Maximize(), "c": AtMost(1.0), "d": AtLeast(0.0)})
    for value, c, d in ((1.0, 0.0, 1.0), (3.0, 1.0, 0.0), (9.0, 1.1, 0.0), (8.0, 0.0, -0.1), (3.0, 0.5, 5.0)):
        opt.tell(opt.ask(1)[0], {"a": value, "c": c, "d": d})
    opt.observe({"x": 0.5, "y": 0.5}, {"a": 99.0, "c": 0.0})
    opt.observe({"x": 0.6, "y": 0.5}, {"a": 99.0, "c": 0.0, "d": NAN})
    assert opt.best == (opt.trials[1].params, 3.0), "of equals the first"
    assert opt.records()[5]["value"] == 99.0
    assert str(opt).splitlines()[2].startswith("best 3 at x=")


def test_the_front_has_what_no_other_feasible_result_beats() -> None:
    opt = study({"a": Minimize(), "b": Maximize(), "c": AtMost(1.0)}, reference={"a": 10.0, "b": 0.0})
    rows = [(1.0, 1.0, 0.0), (2.0, 3.0, 1.0), (2.5, 2.0, 0.0), (0.0, 9.0, 1.5), (9.0, 4.0, 0.0), (2.0, 3.0, 0.0)]
    for a, b, c in rows:
        opt.tell(opt.ask(1)[0], {"a": a, "b": b, "c": c})
    opt.tell(opt.ask(1)[0], error="no")
    front = opt.front
    assert [point.trial.id for point in front] == [0, 1, 4]
    assert front[1].values == {"a": pytest.approx(2.0), "b": pytest.approx(3.0)}
    assert front.reference == {"a": 10.0, "b": 0.0}
    assert front.is_given
    assert opt.hypervolume == front.hypervolume == pytest.approx(9.0 + 8.0 * 2.0 + 1.0)
    assert [len(front[1:]), front[-1].params] == [2, opt.trials[4].params]
    assert "3 on the front" in str(front)
    assert set(front[0].expected) == {"a", "b", "c"}


def test_a_front_of_nothing_is_empty_and_says_so() -> None:
    opt = study(SEVERAL)
    assert (len(opt.front), opt.hypervolume, str(opt.front)) == (0, 0.0, "no point on the front yet")
    opt.tell(opt.ask(1)[0], {"cost": 1.0})
    assert len(opt.front) == 0
    with pytest.raises(InvalidInput, match="at least one result of heat"):
        opt.predict([{"x": 0.5, "y": 0.5}], "heat")
    with pytest.raises(InvalidInput, match="a front needs several objectives"):
        _ = begun(LIMITED).front


def test_an_inferred_reference_lies_beyond_the_front() -> None:
    opt = begun(SEVERAL)
    reference = opt.front.reference
    assert reference is not None
    assert not opt.front.is_given
    assert all(point.values["cost"] < reference["cost"] for point in opt.front)
    assert all(point.values["yield"] > reference["yield"] for point in opt.front)


def test_predictions_are_in_the_units_and_direction_of_the_user() -> None:
    opt = begun(EVERYTHING, n=12, surrogate=GP(noise=1e-6))
    points = [trial.params for trial in opt.trials]
    for name in EVERYTHING:
        told = [row[name] for row in opt.records()]
        np.testing.assert_allclose(opt.predict(points, name).mean, told, atol=1e-2)
    single = begun(LIMITED)
    np.testing.assert_array_equal(single.predict(points).mean, single.predict(points, "cost").mean)


def test_what_is_recommended_comes_with_the_probability_of_its_limits() -> None:
    opt = begun(LIMITED, n=10)
    found = opt.recommend()
    assert opt.best is not None
    assert found.params == opt.best[0]
    assert 0.5 <= found.feasible <= 1.0
    assert set(found.outcomes) == {"cost", "heat"}
    assert found.interval[0] <= found.mean <= found.interval[1]
    assert "within all limits at" in str(found)


def test_desirabilities_make_one_objective() -> None:
    opt = begun({"cost": Desirability(2.0, 0.0), "yield": Desirability(1.0, 3.0, weight=2.0), "heat": AtMost(1.4)})
    opt.ask(2)
    assert opt.best is not None
    assert 0.0 < opt.best[1] <= 1.0
    assert opt.best[1] == max(row["value"] for row in opt.records() if row["value"] and row["heat"] <= 1.4)
    assert opt.predict([opt.best[0]]).mean[0] == pytest.approx(opt.best[1], abs=0.1)
    assert opt.recommend().params == opt.best[0]


def test_the_table_has_a_column_for_each_outcome_and_is_read_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(LIMITED, journal=path) as opt:
        batch = opt.ask(4)
        opt.tell(batch[0], {"cost": [1.0, 2.0], "heat": 0.5}, noise={"heat": 0.1})
        opt.tell(batch[1], {"heat": 0.5})
        opt.tell(batch[2], error="no")
        opt.to_csv(tmp_path / "study.csv")
        rows = opt.records()
    with (tmp_path / "study.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [row["cost"] for row in table] == ["1.5", "", "", ""]
    assert [row["heat"] for row in table] == ["0.5", "0.5", "", ""]
    assert (table[0]["replicates.cost"], table[0]["noise.heat"], table[0]["value"]) == ("1.0 2.0", "0.1", "1.5")
    assert [row["status"] for row in table] == ["done", "partial", "failed", "pending"]
    there = read_study(path)
    assert there.records() == rows
    assert there.best == opt.best
    assert str(there) == str(opt)
    assert "cost: minimize" in str(there)


def test_a_study_is_opened_again_only_with_the_same_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    reference = {"cost": 3.0, "yield": 0.0}
    with Optimizer.open(path, SPACE, outcomes=SEVERAL, reference=reference, seed=0) as opt:
        opt.ask(2)
    with Optimizer.open(path, SPACE, outcomes=SEVERAL, reference=reference, seed=0) as again:
        assert len(again.pending) == 2
        assert again.settings.goals == opt.settings.goals
    for said in ({}, {"outcomes": SEVERAL}, {"reference": reference, "outcomes": SEVERAL}):
        Optimizer.open(path, SPACE, **said).close()  # what is left out goes on as it was
    others: list[tuple[dict[str, Any], str]] = [
        ({"maximize": True}, "outcome value: none, now Maximize"),
        ({"outcomes": SEVERAL, "reference": {"cost": 4.0, "yield": 0.0}}, "reference: "),
        ({"outcomes": SEVERAL | {"heat": AtMost(1.5)}}, r"outcome heat: AtMost\(.*1.4.*\), now AtMost\(.*1.5"),
        ({"outcomes": LIMITED}, "outcome yield: Maximize.*, now none"),
    ]
    for other, line in others:
        with pytest.raises(InvalidInput, match=rf"(?s)a study with other settings:.*\n  {line}"):
            Optimizer.open(path, SPACE, **other)


def test_noise_that_is_known_reaches_the_model_of_its_outcome_alone() -> None:
    def cost_at(noise: dict[str, float]) -> tuple[float, float]:
        opt = begun(LIMITED, n=8, surrogate=GP(noise=1e-6))
        opt.observe({"x": 0.5, "y": 0.0}, {"cost": 5.0, "heat": 5.0}, noise=noise)
        at = [{"x": 0.5, "y": 0.0}]
        return float(opt.predict(at, "cost").mean[0]), float(opt.predict(at, "heat").mean[0])

    sure, vague = cost_at({}), cost_at({"cost": 9.0})
    assert sure == pytest.approx((5.0, 5.0), abs=0.1)
    assert vague[0] < 3.0
    assert vague[1] == pytest.approx(5.0, abs=0.1)


@pytest.mark.parametrize("reference", [None, {"cost": 3.0, "yield": 1.0}, {"cost": 1e6, "yield": -1e6}])
def test_what_a_point_is_expected_to_gain_is_its_expected_hypervolume_improvement(reference: Any) -> None:
    opt = begun({"cost": Minimize(), "yield": Maximize()}, strategy="kb", reference=reference)
    batch = opt.ask(1)
    front, gain = opt.front, batch.verdict.gain
    assert front.reference is not None
    assert gain is not None
    predicted = [opt.predict([batch[0].params], name) for name in ("cost", "yield")]
    signs = np.array([1.0, -1.0])
    mean, std = (np.array([[getattr(one, part)[0] for one in predicted]]) for part in ("mean", "std"))
    Y = signs * np.array([[*point.values.values()] for point in front])
    edges = Edges(*boxes(Y, signs * np.array([*front.reference.values()])))
    expected = float(np.exp(edges.log_improvement(signs * mean, std).value[0]))
    assert gain.together == pytest.approx(expected, rel=0.5)


def test_volumes_that_no_float_holds_are_no_error() -> None:
    opt = Optimizer(SPACE, n_init=4, outcomes=dict.fromkeys("abcd", Minimize()), seed=0)
    for trial in opt.ask(4):
        opt.tell(trial, {name: 1e90 * float(((trial.encoded - i / 4) ** 2).sum()) for i, name in enumerate("abcd")})
    assert len(opt.ask(2)) == 2
    assert opt.hypervolume == math.inf


def test_a_fit_that_was_kept_elsewhere_has_hyperparameters_for_each_output() -> None:
    settings = StudySettings.of(SPACE, outcomes=LIMITED, n_init=2, seed=0)
    trials: list[Any] = [(i, {"x": 0.2 * i, "y": 0.1 * i}, {"cost": 0.1 * i, "heat": 1.0}) for i in range(3)]
    trials += [
        (3, {"x": 0.9, "y": 0.1}, {"cost": 1.0}),
        (4, {"x": 0.8, "y": 0.2}, "boom"),
        (5, {"x": 0.7, "y": 0.3}, None),
    ]
    first = propose(settings, History.of(settings, trials), 2)
    again = propose(settings, History.of(settings, trials, ((0, 1, 2), first.model or {})), 1)
    assert (len(first.batch), len(again.batch)) == (2, 1)
    with pytest.raises(JournalError, match="not those of all outputs"):
        History.of(settings, trials, ((0, 1, 2), {"lengthscales": [1.0]}))


def test_a_lost_outcome_that_was_measured_again_is_no_failure_and_nothing_breaks() -> None:
    opt = bv.Optimizer(SPACE, outcomes=LIMITED, n_init=2, seed=0)
    for trial in opt.ask(3):
        opt.tell(trial, {"cost": trial.params["x"], "heat": trial.params["y"]})
    (again,) = opt.ask(1)
    opt.tell(again, {"cost": 0.5, "heat": float("nan")})
    opt.observe(again.params, {"cost": 0.5, "heat": 0.2})
    history = opt._ledger.history(opt.settings)
    assert again.id not in history.ids
    assert len(history.tables) == 2, "nothing has failed for good"
    assert len(opt.ask(2)) == 2


def test_an_evaluation_that_came_back_is_feasible_however_noisy_failures_look() -> None:
    opt = bv.Optimizer(SPACE, outcomes=LIMITED, n_init=4, seed=2)
    for _ in range(6):
        for trial in opt.ask(3):
            if trial.params["x"] > 0.8:
                opt.tell(trial, error="crashed")
            else:
                opt.tell(trial, {"cost": abs(trial.params["x"] - 0.9), "heat": 0.1})
    assert opt.best is not None
    assert opt.counts.failed > 2
    assert opt.recommend().params == opt.best[0]
    assert "(runs)" not in opt.recommend().outcomes


def test_amend_keeps_what_it_does_not_name_and_takes_abandoned_parts() -> None:
    opt = bv.Optimizer(SPACE, outcomes=LIMITED, n_init=2, seed=0)
    whole, part = opt.ask(2)
    opt.tell(whole, {"cost": 7.0, "heat": 0.2})
    opt.amend(whole, {"cost": 0.7})
    assert opt.outcomes[whole.id].objectives == {"cost": 0.7}
    assert opt.outcomes[whole.id].constraints == {"heat": 0.2}
    opt.tell(part, {"cost": 1.0})
    opt.abandon(part)
    opt.amend(part, {"cost": 0.5, "heat": 0.1})
    assert opt.counts == Counts(done=2, failed=0, pending=0, abandoned=0)
    assert opt.best == (part.params, 0.5)


def test_models_take_over_when_every_output_has_data_though_no_trial_has_all() -> None:
    opt = bv.Optimizer(SPACE, outcomes=LIMITED, n_init=4, seed=0)
    for i, trial in enumerate(opt.ask(6)):
        opt.tell(trial, {"cost": trial.params["x"]} if i % 2 else {"heat": trial.params["y"]})
    assert [trial.origin for trial in opt.ask(2)] == ["model", "model"]


@each("acquisition", ["EHVI", "Scalarized"])
@each("name", [name for name, strategy in STRATEGIES.items() if takes(strategy) == TAKES_SEVERAL])
def test_points_are_handed_out_while_no_trial_has_every_objective(name: str, acquisition: str) -> None:
    limits: list[dict[str, Goal]] = [{}, {"heat": AtMost(0.5)}]
    for reference, more in itertools.product([None, {"cost": 3.0, "yield": 1.0}], limits):
        outcomes: dict[str, Goal] = {"cost": Minimize(), "yield": Maximize(), **more}
        opt = Optimizer(SPACE, n_init=3, outcomes=outcomes, acquisition=acquisition, reference=reference)
        parts = opt.ask(4)
        for i, trial in enumerate(parts):
            opt.tell(trial, {"cost": 0.1 * i} if i % 2 else {"yield": 0.1 * i, **dict.fromkeys(more, 0.3)})
        assert {trial.origin for trial in opt.ask(2, strategy=name)} == {"model"}
        for trial in parts:
            opt.abandon(trial)
        for trial in opt.pending:
            opt.tell(trial, error="no")
        assert [trial.origin for trial in opt.ask(4, strategy=name)] == [*["design"] * 3, "model"]
        assert len(opt.front) == 0


@pytest.mark.parametrize("acquisition", ["EHVI", "Scalarized"])
def test_an_acquisition_of_several_objectives_asks_for_outcomes(acquisition: str) -> None:
    with pytest.raises(MissingCapability, match="outcomes="):
        bv.Optimizer(SPACE, acquisition=acquisition, seed=0)


def test_the_noise_of_what_is_weighed_reaches_the_model() -> None:
    wanted: dict[str, Any] = {"a": bv.Desirability(0, 10, weight=2), "b": bv.Desirability(5, 0)}
    opt = bv.Optimizer(SPACE, outcomes=wanted, seed=0)
    opt.observe({"x": 0.1, "y": 0.2}, {"a": [4.0, 6.0], "b": 1.0}, noise={"b": 0.5})
    opt.observe({"x": 0.3, "y": 0.2}, {"a": 20.0, "b": -1.0}, noise={"b": 0.5})
    (alone,) = opt._ledger.history(opt.settings).tables
    by_a = 0.5 * (0.6 ** (2 / 3) - 0.4 ** (2 / 3)) * 0.8 ** (1 / 3)  # of a mean of two, 5 ± 1
    by_b = 0.5 * 0.5 ** (2 / 3) * (0.9 ** (1 / 3) - 0.7 ** (1 / 3))
    assert alone.data.std is not None
    assert alone.data.std.tolist() == pytest.approx([math.hypot(by_a, by_b), 0.0])


def test_what_is_weighed_has_the_noise_of_replicates_elsewhere_and_never_much() -> None:
    wanted: dict[str, Any] = {"a": bv.Desirability(0, 1), "b": bv.Desirability(0, 1)}
    opt = bv.Optimizer(SPACE, outcomes=wanted, seed=0)
    for i, a in enumerate(([0.4, 0.6], 0.5, 1e-9, 0.0)):
        opt.observe({"x": 0.1 * i, "y": 0.2}, {"a": a, "b": 0.8})
    (alone,) = opt._ledger.history(opt.settings).tables
    assert alone.data.std is not None
    several, one, nearly, nothing = alone.data.std
    assert several < one < 0.1
    assert nearly == pytest.approx(nothing, rel=1e-6)
    assert 0.05 < nothing < 0.5


@pytest.mark.parametrize("bad", [{"a": -7.0}, {"a": -7.0, "c": math.nan}])
def test_a_failed_trial_is_never_recommended_even_if_its_point_was_measured_again(bad: dict[str, float]) -> None:
    def f(p: dict[str, Any]) -> dict[str, float]:
        return {"a": (p["x"] - 0.3) ** 2 + 0.1 * p["y"], "c": p["y"]}

    for more in ({}, {"b": Minimize()}):
        opt = bv.Optimizer(SPACE, outcomes={"a": Minimize(), "c": AtMost(0.5), **more}, n_init=4, seed=1)
        for trial in opt.ask(6):
            opt.tell(trial, f(trial.params) | dict.fromkeys(more, trial.params["y"]))
        failed = opt.ask(1)[0]
        opt.tell(failed, bad)
        if opt.records()[failed.id]["status"] == "partial":
            opt.tell(failed, error="the sensor broke")
        opt.enqueue(failed.params)
        again = opt.ask(1)[0]
        opt.tell(again, f(again.params) | dict.fromkeys(more, again.params["y"]))
        assert opt.records()[failed.id]["status"] == "failed"
        assert not any(-7.0 in table.data.y for table in opt._ledger.history(opt.settings).tables)
        found = [point.trial.id for point in opt.front] if more else [opt.recommend().trial.id]
        assert failed.id not in found


def test_a_trial_that_was_given_up_stays_so_when_a_part_of_it_is_corrected() -> None:
    opt = study(LIMITED)
    trial = opt.ask(1)[0]
    opt.tell(trial, {"cost": 71.2})
    opt.abandon(trial)
    opt.amend(trial, {"cost": 7.12})
    assert statuses(opt) == ["abandoned"]
    opt.amend(trial, {"heat": 1.0})
    assert statuses(opt) == ["done"]


def test_of_two_trials_at_a_point_the_one_that_lacks_an_outcome_gets_it() -> None:
    opt, point = study(LIMITED), {"x": 0.5, "y": 0.5}
    opt.enqueue(point)
    opt.enqueue(point)
    opt.ask(2)
    opt.tell(point, {"cost": 1.0})
    opt.tell(point, {"cost": 1.1})
    opt.tell(point, {"heat": 0.1})
    assert [outcome.objectives["cost"] for outcome in opt.outcomes.values()] == [1.0, 1.1]
    assert statuses(opt) == ["done", "partial"]
    with pytest.raises(InvalidInput, match="cost"):
        opt.tell(point, {"cost": 1.2})


# Repeats


def noisy_study(**settings: Any) -> Optimizer:
    opt = bv.Optimizer(SPACE, surrogate=GP(noise="infer"), n_init=4, seed=3, **settings)
    rng = np.random.default_rng(0)
    for i in range(12):
        point = {"x": (0.5, 0.52, 0.9)[i % 3], "y": 0.5 if i % 3 < 2 else 0.1 * (i // 3)}
        value = (point["x"] - 0.5) ** 2 + float(rng.normal(0.0, 0.3))
        opt.observe(point, value if not settings else {"cost": value, "heat": point["y"]})
    return opt


@pytest.mark.parametrize("settings", [{}, {"outcomes": {"cost": Minimize(), "heat": AtMost(0.8)}}])
def test_a_point_is_repeated_where_that_is_worth_more_and_only_then(settings: dict[str, Any]) -> None:
    opt = noisy_study(**settings)
    known = [trial.params for trial in opt.trials]
    batch = opt.ask(6, strategy="kb", repeat=True)
    repeats = [trial.provenance.startswith("repeated") for trial in batch]
    assert any(repeats)
    for trial, is_repeat in zip(batch, repeats, strict=True):
        assert (trial.params in known) == is_repeat
        known.append(trial.params)  # one that is under way may be repeated, too
    assert not any(trial.params in known[:12] for trial in noisy_study(**settings).ask(6, strategy="kb"))


def test_where_nothing_is_noisy_repeats_are_welcome_and_never_come() -> None:
    opt = bv.Optimizer(Space({"k": Int(1, 9)}), outcomes={"a": Minimize()}, n_init=3, seed=0)
    for trial in opt.ask(4):
        opt.tell(trial, {"a": trial.params["k"]})
    taken = {trial.params["k"] for trial in opt.trials}
    batch = opt.ask(3, repeat=True)
    assert len(taken | {trial.params["k"] for trial in batch}) == 7


@pytest.mark.parametrize("strategy", ["qei", "thompson", "ucb_pe", "random"])
def test_strategies_that_never_repeat_say_so(strategy: str) -> None:
    with pytest.raises(MissingCapability, match=f"{strategy} never repeats.*kb"):
        study(LIMITED).ask(1, strategy=strategy, repeat=True)


def test_of_several_objectives_nothing_is_repeated() -> None:
    with pytest.raises(MissingCapability, match="repeat=True"):
        study(SEVERAL).ask(1, repeat=True)


def test_a_target_is_for_one_objective() -> None:
    wanted: dict[str, Any] = {"a": bv.Minimize(), "b": bv.Minimize()}
    with pytest.raises(InvalidInput, match="target"):
        bv.minimize(lambda p: {"a": 1.0, "b": 2.0}, SPACE, outcomes=wanted, stop=0.5, progress=False)


def test_none_is_not_a_number_that_is_still_to_come() -> None:
    opt = bv.Optimizer(SPACE, outcomes=LIMITED, seed=0)
    with pytest.raises(InvalidInput, match="is None"):
        opt.tell(opt.ask(1)[0], {"cost": 1.0, "heat": None})


def test_nobody_is_advised_to_use_a_point_of_which_something_was_never_measured() -> None:
    for more in ({}, {"b": Minimize()}):
        opt = bv.Optimizer(SPACE, outcomes={"a": Minimize(), "c": AtMost(1.0), **more}, n_init=4, seed=0)
        first, *others = opt.ask(8)
        opt.tell(first, {"a": 5.0, "c": 0.5} | dict.fromkeys(more, 5.0))
        for i, trial in enumerate(others):
            opt.tell(trial, {"a": float(i)} | dict.fromkeys(more, 1.0))
        found = [point.trial.id for point in opt.front] if more else [opt.recommend().trial.id]
        assert found == [first.id]
