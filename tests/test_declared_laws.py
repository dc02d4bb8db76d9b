"""Laws of suggestions in studies that declare their outcomes: what they depend on, and what makes no difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from declared_studies import KINDS, LIMITED, SEVERAL, SPACE, begun, numbers_at, result

from believer import AtLeast, AtMost, Between, LogEI, Maximize, Minimize, Optimizer, replay
from believer.acquisitions.feasibility import Feasible
from believer.acquisitions.pointwise import PointwiseObjective
from believer.study.goal import Goal
from believer.study.models import ModelCache

LIES = ("hedged", "kb", "cl_min", "cl_max", "fantasy", "thompson")
any_kind = pytest.mark.parametrize("outcomes", KINDS.values(), ids=KINDS)
any_lie = pytest.mark.parametrize("strategy", LIES)


@any_kind
@any_lie
def test_to_ask_for_points_one_by_one_is_to_ask_for_them_together(outcomes: dict[str, Goal], strategy: str) -> None:
    together, single = (begun(outcomes, strategy=strategy) for _ in range(2))
    np.testing.assert_array_equal(together.ask(4).encoded, [single.ask(1)[0].encoded for _ in range(4)])


@any_kind
@pytest.mark.both_backends
def test_the_order_in_which_results_come_in_makes_no_difference(outcomes: dict[str, Goal]) -> None:
    def suggested(order: list[int], in_parts: bool) -> Any:
        opt = Optimizer(SPACE, n_init=5, outcomes=outcomes, seed=0)
        batch = opt.ask(5)
        for i in order:
            told = result(opt, batch[i])
            for name in [*told] if in_parts else []:
                opt.tell(i, {name: told.pop(name)})
            if told:
                opt.tell(i, told)
        return opt.ask(2).encoded

    first = suggested([0, 1, 2, 3, 4], False)
    np.testing.assert_array_equal(first, suggested([3, 0, 4, 2, 1], False))
    np.testing.assert_array_equal(first, suggested([4, 2, 0, 3, 1], True))


def eventful(outcomes: dict[str, Goal], path: Path, strategy: str) -> Optimizer:
    """A study in which everything happens that may: parts, failures, amendments before and after asks."""
    opt = begun(outcomes, n=4, journal=path, strategy=strategy)
    batch = opt.ask(3)
    told = result(opt, batch[0])
    opt.tell(batch[0], {"cost": told.pop("cost")})
    opt.tell(batch[1], error="leaked")
    more = opt.ask(2)
    opt.tell(batch[0], told)
    opt.tell(more[0], {**result(opt, more[0]), "cost": float("nan")})
    opt.ask(1)
    opt.amend(0, result(opt, opt.trials[1]))
    opt.ask(1)
    opt.amend(batch[1], {name: [value, value + 0.1] for name, value in result(opt, batch[1]).items()})
    opt.amend(batch[0], error="not at all")
    opt.amend(more[0], {"heat": 0.5})
    opt.abandon(more[1])
    opt.ask(2)
    return opt


@any_kind
@pytest.mark.parametrize("strategy", ["hedged", "fantasy"])
def test_a_study_is_replayed_loaded_and_goes_on_bit_for_bit(
    outcomes: dict[str, Goal], strategy: str, tmp_path: Path
) -> None:
    path, copy = tmp_path / "study.jsonl", tmp_path / "copy.jsonl"
    with eventful(outcomes, path, strategy) as opt:
        assert replay(path).identical
        opt.save(copy)
        opt.predict([{"x": 0.5, "y": 0.5}], "heat")
        if outcomes is SEVERAL:
            assert len(opt.front) > 0
        else:
            opt.recommend()
        with Optimizer.load(copy) as loaded:
            assert (loaded.records(), loaded.events, loaded.counts) == (opt.records(), opt.events, opt.counts)
            np.testing.assert_array_equal(loaded.ask(2).encoded, opt.ask(2).encoded)


@any_kind
def test_looking_changes_no_suggestion(outcomes: dict[str, Goal]) -> None:
    watched, alone = begun(outcomes), begun(outcomes)
    for _ in range(2):
        watched.predict([{"x": 0.5, "y": 0.0}], "heat")
        if outcomes is SEVERAL:
            str(watched.front)
        else:
            str(watched.recommend())
        batches = watched.ask(2), alone.ask(2)
        np.testing.assert_array_equal(batches[0].encoded, batches[1].encoded)
        for opt, batch in zip((watched, alone), batches, strict=True):
            opt.tell(batch[0], result(opt, batch[0]))


def near(a: Any, b: Any, atol: float = 1e-3) -> None:
    np.testing.assert_allclose(a, b, atol=atol)


@pytest.mark.parametrize("strategy", ["kb", "cl_min"])
def test_the_order_in_which_outcomes_are_declared_makes_no_difference(strategy: str) -> None:
    outcomes: dict[str, Goal] = {"cost": Minimize(), "yield": Maximize(), "heat": AtMost(1.4), "purity": AtLeast(0.6)}
    backwards = dict(reversed(outcomes.items()))
    near(begun(outcomes, strategy=strategy).ask(3).encoded, begun(backwards, strategy=strategy).ask(3).encoded)


@pytest.mark.parametrize("name", ["cost", "yield", "heat"])
@pytest.mark.parametrize("unit", [1e6, 1e-6])
def test_the_units_of_an_outcome_make_no_difference(name: str, unit: float) -> None:
    def suggested(scale: float) -> Any:
        goals = SEVERAL | ({"heat": AtMost(1.4 * scale)} if name == "heat" else {})
        opt = Optimizer(SPACE, n_init=6, outcomes=goals, strategy="kb", seed=0)
        for trial in opt.ask(6):
            told = result(opt, trial)
            opt.tell(trial, {**told, name: scale * told[name]})
        return opt.ask(2).encoded

    near(suggested(1.0), suggested(unit))


def test_limits_that_hold_by_far_leave_the_study_that_has_none() -> None:
    opt = begun({"cost": Minimize(), "heat": AtMost(1e4), "purity": Between(-1e4, 1e4)}, strategy="kb")
    plain = begun({"cost": Minimize()}, strategy="kb")
    near(opt.ask(3).encoded, plain.ask(3).encoded)


def test_the_worth_of_a_point_is_log_ei_where_limits_hold_by_far() -> None:
    opt = begun({"cost": Minimize(), "heat": AtMost(1e4)})
    history, cache = opt._ledger.history(opt.settings), ModelCache(opt.settings)
    cost, heat = (cache.learned(history, place) for place in (0, 1))
    assert heat.limits is not None
    plain = PointwiseObjective(LogEI(), cost.model, float(cost.data.y.min()))
    X = np.random.default_rng(0).random((20, 2))
    within = Feasible(plain, ((heat.model, heat.limits),))
    np.testing.assert_allclose(within.value(X), plain.value(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("strategy", ["hedged", "kb", "cl_max"])
def test_to_maximize_is_to_minimize_the_negative(strategy: str) -> None:
    up = Optimizer(
        SPACE, n_init=5, strategy=strategy, outcomes={"a": Maximize(), "b": AtLeast(-1.2), "c": Maximize()}, seed=0
    )
    down = Optimizer(
        SPACE, n_init=5, strategy=strategy, outcomes={"a": Minimize(), "b": AtMost(1.2), "c": Minimize()}, seed=0
    )
    for opt, sign in ((up, 1.0), (down, -1.0)):
        for trial in opt.ask(5):
            at = numbers_at(trial.encoded)
            opt.tell(trial, {"a": -sign * at["cost"], "b": -sign * at["heat"], "c": sign * at["yield"]})
    np.testing.assert_array_equal(up.ask(3).encoded, down.ask(3).encoded)
    assert up.hypervolume == down.hypervolume


@pytest.mark.parametrize("constant", ["cost", "yield"])
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_an_objective_that_is_constant_leaves_the_other_to_be_optimized(constant: str, value: float) -> None:
    opt = Optimizer(SPACE, n_init=6, outcomes={"cost": Minimize(), "yield": Maximize()}, strategy="kb", seed=0)
    other, best = ("yield", 0.8) if constant == "cost" else ("cost", 0.2)
    for _ in range(4):
        for trial in opt.ask(3):
            opt.tell(trial, {**result(opt, trial), constant: value})
    assert len(opt.front) == 1
    assert opt.front[0].values[constant] == pytest.approx(value, abs=1e-9)
    assert np.abs(opt.front[0].trial.encoded - best).max() < 0.1, other


def test_where_evaluations_fail_points_stay_away() -> None:
    """Nothing comes back from the corner where the objective is best; who is not told of that goes on going there."""

    def run(told: bool, seed: int) -> float:
        outcomes: dict[str, Goal] = {"yield": Maximize(), "heat": AtMost(9.0)}
        opt, deep = Optimizer(SPACE, n_init=8, outcomes=outcomes, strategy="kb", seed=seed), []
        for _ in range(6):
            for trial in opt.ask(4):
                if trial.encoded.min() < 0.5:
                    opt.tell(trial, result(opt, trial))
                elif told:
                    opt.tell(trial, error="burnt")
                else:
                    opt.abandon(trial)
                deep.append(trial.encoded.min() > 0.65)
        return float(np.mean(deep[8:]))

    told, untold = (np.mean([run(told, seed) for seed in range(3)]) for told in (True, False))
    assert untold > 0.6
    assert told < untold - 0.2


def test_a_limit_that_nothing_keeps_is_searched_for_and_nothing_is_lost() -> None:
    opt = begun({"cost": Minimize(), "heat": AtMost(-5.0)})
    for _ in range(2):
        batch = opt.ask(3)
        assert all("feasibility" in trial.provenance for trial in batch)
        for trial in batch:
            opt.tell(trial, result(opt, trial))
    assert opt.best is None
    assert opt.counts.done == 11
    with pytest.raises(ValueError, match="recommend needs a feasible result"):
        opt.recommend()


def test_while_nothing_is_feasible_the_search_is_for_what_is() -> None:
    opt = begun({"cost": Maximize(), "heat": AtMost(0.05)}, strategy="kb")
    assert opt.best is None
    for _ in range(4):
        for trial in opt.ask(2):
            opt.tell(trial, result(opt, trial))
    assert opt.best is not None


def test_the_search_turns_to_the_objective_when_the_first_feasible_result_is_there() -> None:
    opt = begun({"cost": Minimize(), "heat": AtMost(-5.0)})
    assert "chosen at feasibility" in opt.ask(1)[0].provenance
    opt.observe({"x": 0.5, "y": 0.5}, {"cost": 1.0, "heat": -5.0})
    assert "LogEI times feasibility" in opt.ask(1)[0].provenance
    assert opt.best == ({"x": 0.5, "y": 0.5}, 1.0)
    assert opt.recommend().params == {"x": 0.5, "y": 0.5}


def test_a_limit_that_is_reached_is_kept_however_surely_it_must_be() -> None:
    opt = begun({"cost": Minimize(), "heat": AtMost(-5.0, probability=0.99)}, surrogate="mq_rbf", strategy="kb")
    opt.observe({"x": 0.5, "y": 0.5}, {"cost": 1.0, "heat": -5.0})
    assert opt.best == ({"x": 0.5, "y": 0.5}, 1.0)
    assert opt.recommend().params == {"x": 0.5, "y": 0.5}
    assert opt.recommend().feasible == 1.0


def test_fantasies_of_outcomes_are_independent_of_each_other() -> None:
    """Both numbers are the same, so that models are: what is drawn for them must differ all the same."""
    opt = Optimizer(SPACE, n_init=5, outcomes={"a": Minimize(), "b": Minimize()}, strategy="fantasy", seed=0)
    for trial in opt.ask(5):
        opt.tell(trial, dict.fromkeys("ab", numbers_at(trial.encoded)["cost"]))
    opt.ask(3)
    one, other = (part.y for part in opt._cache.memory.parts)  # type: ignore[attr-defined]
    assert not np.isclose(one, other).any()


@any_kind
def test_all_failed_and_all_lost_studies_go_on_with_their_design(outcomes: dict[str, Goal]) -> None:
    opt = Optimizer(SPACE, n_init=3, outcomes=outcomes, seed=0)
    for trial in opt.ask(3):
        opt.tell(trial, error="no")
    for trial in opt.ask(3):
        opt.tell(trial, dict.fromkeys(outcomes, float("nan")))
    assert [trial.origin for trial in opt.ask(2)] == ["design"] * 2
    assert (opt.counts.failed, opt.counts.done) == (6, 0)
    if outcomes is LIMITED:
        assert opt.best is None
    else:
        assert len(opt.front) == 0
