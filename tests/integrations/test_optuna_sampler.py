"""The sampler for Optuna: what it makes of trials, spaces and results."""

# ruff: noqa: E402
from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE

optuna = pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

import believer as bv
from believer.errors import InvalidInput, MissingCapability
from believer.integrations import optuna as door
from believer.integrations.optuna import BelieverSampler
from believer.integrations.optuna_branches import Branches
from believer.integrations.optuna_studies import coded_values, export_study, import_study, is_listed
from believer.plugins import History

optuna.logging.set_verbosity(optuna.logging.WARNING)

PLANE = {"x": FloatDistribution(-5.0, 10.0), "y": FloatDistribution(0.0, 15.0)}
MIXED = {
    "rate": FloatDistribution(1e-5, 1e-1, log=True),
    "share": FloatDistribution(0.0, 1.0, step=0.1),
    "layers": IntDistribution(1, 9, step=2),
    "width": IntDistribution(8, 512, log=True),
    "kind": CategoricalDistribution([None, True, 0.5, "a"]),
}


def bowl(params: dict[str, Any]) -> float:
    return float((params["x"] - 1) ** 2 + 0.5 * (params["y"] - 4) ** 2)


def loss(params: dict[str, Any]) -> float:
    kind = MIXED["kind"].choices.index(params["kind"])
    return float(
        (math.log10(params["rate"]) + 3) ** 2
        + (params["share"] - 0.3) ** 2
        + 0.1 * abs(params["layers"] - 5)
        + abs(math.log2(params["width"]) - 6)
        + (0.0 if kind == 2 else 1.0)
    )


def run(study: Any, n: int, space: dict[str, Any] = PLANE, f: Callable[[dict[str, Any]], float] = bowl) -> None:
    for _ in range(n):
        trial = study.ask(space)
        study.tell(trial, f(trial.params))


def params_of(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.get_trials(deepcopy=False)]


def new(sampler: Any, **options: Any) -> Any:
    return optuna.create_study(sampler=sampler, **options)


def in_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_optuna_is_loaded_by_its_own_door_alone_and_torch_by_none() -> None:
    loaded = "[name for name in ('optuna', 'torch') if name in sys.modules]"
    code = f"import sys, believer, believer.integrations; print({loaded})"
    assert in_python(code) == "[]"
    use = (
        "import sys, optuna; from believer.integrations.optuna import BelieverSampler\n"
        "optuna.logging.set_verbosity(optuna.logging.ERROR)\n"
        "study = optuna.create_study(sampler=BelieverSampler(n_startup_trials=2))\n"
        "study.optimize(lambda t: t.suggest_float('x', 0, 1), n_trials=4)\n"
    )
    assert in_python(f"{use}print({loaded})") == "['optuna']"


def test_without_optuna_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['optuna'] = None\n"
        "from believer.errors import MissingExtra\n"
        "try:\n    import believer.integrations.optuna\n"
        "except MissingExtra as error:\n    print(error)"
    )
    assert in_python(code) == "this needs optuna; install it with: pip install 'believer[optuna]'"


@pytest.mark.parametrize(
    "options",
    [
        {"pruned": "last"},
        {"failed": True},
        {"strategy": "no such"},
        {"surrogate": 3},
        {"seed": -1},
        {"warp": "on"},
        {"n_startup_trials": 0},
        {"search_space": {"x": (0, 1)}},
        {"search_space": ["x"]},
    ],
    ids=str,
)
def test_settings_are_checked_before_a_study_begins(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(options)).removesuffix("s")):
        BelieverSampler(**options)


def test_parts_that_cannot_work_together_are_refused_before_a_study_begins() -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(MissingCapability):
        BelieverSampler(strategy="qei", surrogate="forest")


@pytest.mark.parametrize("space", [PLANE, MIXED], ids=["plane", "mixed"])
def test_same_seed_same_suggestions(space: dict[str, Any]) -> None:
    f = bowl if space is PLANE else loss
    one, same, other = (new(BelieverSampler(seed=seed)) for seed in (7, 7, 8))
    for study in (one, same, other):
        run(study, 16, space, f)
    assert params_of(one) == params_of(same)
    assert params_of(one) != params_of(other)


def test_it_finds_the_minimum_of_a_bowl_and_the_maximum_of_another() -> None:
    down, up = new(BelieverSampler(seed=1)), new(BelieverSampler(seed=1), direction="maximize")
    run(down, 20)
    run(up, 20, f=lambda params: -bowl(params))
    assert down.best_value < 1e-2
    assert params_of(down) == params_of(up)
    assert up.best_value == -down.best_value


def test_it_does_better_than_chance_on_every_kind_of_parameter_together() -> None:
    study, chance = new(BelieverSampler(seed=0)), new(optuna.samplers.RandomSampler(seed=0))
    for each in (study, chance):
        run(each, 40, MIXED, loss)
    assert study.best_value < 0.5 * chance.best_value
    for params in params_of(study):
        assert 1e-5 <= params["rate"] <= 1e-1
        assert params["share"] == round(params["share"], 1)
        assert params["layers"] in (1, 3, 5, 7, 9)
        assert type(params["width"]) is int
        assert any(params["kind"] is choice for choice in MIXED["kind"].choices)


def test_choices_that_python_calls_equal_are_still_choices() -> None:
    study = new(BelieverSampler(seed=0, n_startup_trials=2))
    run(study, 12, {"c": CategoricalDistribution([1, 2.5, float("nan"), None]), **PLANE})
    assert len({str(params["c"]) for params in params_of(study)}) > 1


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_another_sampler_goes_on_from_the_storage_as_the_first_would_have(tmp_path: Path, storage: str) -> None:
    def begun(name: str) -> Any:
        address = None if storage == "memory" else f"sqlite:///{tmp_path}/{name}.db"
        return new(BelieverSampler(seed=3), storage=address, study_name=name)

    whole, halves = begun("whole"), begun("halves")
    run(whole, 20)
    run(halves, 11)
    if storage == "memory":
        halves.sampler = BelieverSampler(seed=3)
    else:
        address = f"sqlite:///{tmp_path}/halves.db"
        halves = optuna.load_study(study_name="halves", storage=address, sampler=BelieverSampler(seed=3))
    run(halves, 9)
    assert params_of(halves) == params_of(whole)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda sampler: pickle.loads(pickle.dumps(sampler))])
def test_a_copy_suggests_what_the_sampler_would(duplicate: Callable[[Any], Any]) -> None:
    one, other = new(BelieverSampler(seed=3)), new(BelieverSampler(seed=3))
    for study in (one, other):
        run(study, 8)
    other.sampler = duplicate(other.sampler)
    other.sampler.reseed_rng()
    for study in (one, other):
        run(study, 4)
    assert params_of(one) == params_of(other)


def test_one_sampler_may_serve_two_studies_in_turn() -> None:
    shared = BelieverSampler(seed=3)
    one, other, alone = new(shared), new(shared), new(BelieverSampler(seed=3))
    for _ in range(12):
        run(one, 1)
        run(other, 1, f=lambda params: -bowl(params))
    run(alone, 12)
    assert params_of(one) == params_of(alone)
    assert params_of(other) != params_of(alone)


@pytest.mark.parametrize("first", ["memory", "deleted", "sqlite"])
def test_a_study_of_the_same_name_is_another_one(tmp_path: Path, first: str) -> None:
    """In a storage of its own, or in the same, where the first one was; SQLite gives out its number again."""
    shared = BelieverSampler(seed=3)
    storage = optuna.storages.InMemoryStorage()
    if first == "sqlite":
        storage = optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/twice.db")
    run(new(shared, study_name="same", storage=storage), 12)
    if first == "memory":
        storage = optuna.storages.InMemoryStorage()
    else:
        optuna.delete_study(study_name="same", storage=storage)
    again, alone = new(shared, study_name="same", storage=storage), new(BelieverSampler(seed=3))
    other = {"y": PLANE["y"], "x": FloatDistribution(-1.0, 3.0)}
    for study in (again, alone):
        run(study, 12, other, lambda params: -bowl(params))
    assert params_of(again) == params_of(alone)


def test_of_two_studies_in_two_databases_each_has_its_own_trials(tmp_path: Path) -> None:
    one, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other"))
    optuna.create_study(study_name="before", storage=other)
    shared = BelieverSampler(seed=3)
    studies = [new(shared, study_name="same", storage=storage) for storage in (one, other)]
    for study in studies:
        run(study, 8)
    assert params_of(studies[0]) == params_of(studies[1])


def encoded(trials: list[Any]) -> Any:
    space = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
    return space.encode([trial.params for trial in trials])


def nearest(X: Any) -> float:
    apart = np.linalg.norm(X[:, None] - X[None], axis=2) + np.eye(len(X)) * 9
    return float(apart.min())


def test_while_trials_run_the_next_is_not_near_any_of_them() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 12)
    running = [study.ask(PLANE) for _ in range(8)]
    assert nearest(encoded(running)) > 1e-3
    study.tell(running[3], bowl(running[3].params))
    again = study.ask(PLANE)
    assert nearest(encoded([*running, again])) > 1e-3


def test_a_point_counts_from_the_first_parameter_on_that_was_asked_for() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 12)
    first = study.ask()
    x = first.suggest_float("x", -5.0, 10.0)
    second = study.ask(PLANE)
    first.suggest_float("y", 0.0, 15.0)
    assert x == first.params["x"]
    assert nearest(encoded([first, second])) > 1e-3


def test_workers_that_ask_at_the_same_moment_work_out_each_others_points() -> None:
    """All trials begin before any of them has a point; each is sampled by a sampler of its own, in any order."""
    at_once, in_turn = new(BelieverSampler(seed=0)), new(BelieverSampler(seed=0))
    for study in (at_once, in_turn):
        run(study, 12)
    begun = [at_once.ask() for _ in range(4)]
    seen = at_once.get_trials()
    found = []
    for trial in begun:
        blind = new(BelieverSampler(seed=0))
        for each in seen:
            blind.add_trial(each)
        copied = blind.get_trials()[trial.number]
        space = blind.sampler.infer_relative_search_space(blind, copied)
        found.append(blind.sampler.sample_relative(blind, copied, space))
    assert found == [in_turn.ask(PLANE).params for _ in range(4)]


def test_a_trial_that_gets_its_point_after_later_ones_ended_is_known_to_others() -> None:
    """Its fit is behind results of trials with higher numbers."""
    study = new(BelieverSampler(seed=0))
    study.ask()
    run(study, 12)
    study.sampler.sample_relative(study, study.get_trials()[0], PLANE)
    trials = study.get_trials()
    assert int(trials[0].system_attrs["believer"]["fit"]["ids"], 16) >= 1 << 12
    known, _ = study.sampler._read(study.sampler._door_to(PLANE, [False]), trials, 99)
    assert 0 in [seen.number for seen in known]


def test_a_trial_that_is_taken_up_again_gets_the_point_that_was_told() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 12)
    trial = study.ask()
    x = trial.suggest_float("x", -5.0, 10.0)
    told = study.trials[-1].system_attrs["believer"]["point"]
    study.sampler = BelieverSampler(seed=99)
    again = optuna.trial.Trial(study, trial._trial_id)
    assert (x, again.suggest_float("y", 0.0, 15.0)) == (told["x"], told["y"])


def test_a_trial_whose_worker_died_before_it_had_a_point_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    study, other = new(BelieverSampler(seed=0)), new(BelieverSampler(seed=0))
    for each in (study, other):
        run(each, 12)
    study.ask()
    monkeypatch.setattr(door, "ABOUT_TO_SHOW", timedelta(0))
    assert study.ask(PLANE).params == other.ask(PLANE).params


def test_points_that_wait_in_the_queue_are_pending_and_their_trials_get_them() -> None:
    study, other = new(BelieverSampler(seed=0)), new(BelieverSampler(seed=0))
    for each in (study, other):
        run(each, 12)
    best = other.ask(PLANE).params  # what would come next is in the queue
    study.enqueue_trial(best)
    study.enqueue_trial({"x": 2.0})
    study.enqueue_trial({"y": 3.0})
    trials = [study.ask(PLANE) for _ in range(4)]
    assert trials[0].params == best
    assert trials[1].params["x"] == 2.0
    assert trials[2].params["y"] == 3.0
    assert nearest(encoded(trials)) > 1e-3


def test_a_queue_of_a_whole_grid_is_run_in_its_order() -> None:
    grid = [{"x": float(x), "y": float(y)} for x in (-5, 2, 10) for y in (0, 8, 15)]
    study = new(BelieverSampler(seed=0))
    for params in grid:
        study.enqueue_trial(params)
    run(study, 12)
    assert params_of(study)[:9] == grid
    assert nearest(encoded(study.trials)) > 1e-3


def test_a_fixed_value_outside_of_the_range_is_no_point_of_the_space() -> None:
    study = new(BelieverSampler(seed=0, n_startup_trials=2))
    study.enqueue_trial({"x": 99.0, "y": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(study, 1)
    run(study, 5)
    assert params_of(study)[0]["x"] == 99.0


@pytest.mark.filterwarnings("ignore:The value nan is not acceptable")
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf], ids=str)
@pytest.mark.parametrize("failed", ["worst", "ignored"])
def test_a_study_survives_results_that_are_no_numbers(bad: float, failed: str) -> None:
    study = new(BelieverSampler(seed=0, failed=failed))
    for i in range(20):
        trial = study.ask(PLANE)
        study.tell(trial, bowl(trial.params) if i % 3 else bad, skip_if_finished=True)
    results = [study.sampler._returned(trial) for trial in study.trials]
    assert results[::3] == ["ignored" if failed == "ignored" else study.trials[0].state.name] * 7
    assert min(value for values in results if isinstance(values, list) for value in values) < 20.0


def test_where_trials_failed_is_avoided_unless_it_is_to_be_ignored() -> None:
    def half(params: dict[str, Any]) -> float:
        return params["x"] / 15 if params["x"] > 2.5 else math.nan

    wasted = {}
    for failed in ("worst", "ignored"):
        study = new(BelieverSampler(seed=0, failed=failed))
        study.optimize(lambda t: half({"x": t.suggest_float("x", -5, 10), "y": t.suggest_float("y", 0, 15)}), 25)
        wasted[failed] = sum(trial.state == TrialState.FAIL for trial in study.trials)
    assert wasted["worst"] < wasted["ignored"]


@pytest.mark.parametrize(
    ("pruned", "returned"),
    [("value", [[0.5], "PRUNED"]), ("failed", ["PRUNED", "PRUNED"]), ("ignored", ["ignored"] * 2)],
)
def test_a_pruned_trial_is_what_was_said(pruned: str, returned: list[list[float] | str]) -> None:
    study = new(BelieverSampler(seed=0, pruned=pruned))
    reported, silent = study.ask(PLANE), study.ask(PLANE)
    reported.report(2.0, 1)
    reported.report(0.5, 2)
    for trial in (reported, silent):
        study.tell(trial, state=TrialState.PRUNED)
    assert [study.sampler._returned(trial) for trial in study.trials] == returned
    run(study, 24)
    assert study.best_value < 20


@pytest.mark.parametrize("failed", ["worst", "ignored"])
def test_a_trial_that_failed_before_it_asked_for_all_is_not_repeated(failed: str) -> None:
    study = new(BelieverSampler(seed=0, failed=failed))
    run(study, 8)
    for _ in range(6):
        trial = study.ask()
        trial.suggest_float("x", -5.0, 10.0)
        study.tell(trial, state=TrialState.FAIL)
    told = [trial.system_attrs["believer"]["point"] for trial in study.trials[8:]]
    assert len({(point["x"], point["y"]) for point in told}) == 6


@pytest.mark.parametrize("state", [TrialState.FAIL, TrialState.PRUNED])
@pytest.mark.parametrize("first", [0, 8])
def test_points_of_trials_that_are_ignored_do_not_come_again(state: Any, first: int) -> None:
    study = new(BelieverSampler(seed=0, failed="ignored", pruned="ignored", search_space=PLANE))
    run(study, first)
    for _ in range(8):
        study.tell(study.ask(PLANE), state=state)
    assert len({(params["x"], params["y"]) for params in params_of(study)}) == first + 8
    known, _ = study.sampler._read(study.sampler._door, study.trials, 99)
    history = study.sampler._door.history(known, None)
    assert (len(history.ids), len(history.failed), len(history.pending.ids)) == (first, 0, 0)
    assert len(history.taken) == first + 8


def test_a_name_that_is_never_asked_for_is_said_once_and_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    study = new(BelieverSampler(seed=0, search_space={**PLANE, "Y": PLANE["y"]}))
    run(study, 25)
    assert len({(params["x"], params["y"]) for params in params_of(study)}) == 25
    assert study.best_value < 1e-1
    assert [r.message for r in caplog.records if "asked" in r.message] == [
        "'Y' of search_space was not asked for in trial 0."
    ]


def test_of_a_space_with_branches_said_in_advance_each_is_searched() -> None:
    space = {"deep": CategoricalDistribution([True, False]), "a": PLANE["x"], "b": PLANE["x"]}

    def objective(trial: Any) -> float:
        name = "a" if trial.suggest_categorical("deep", [True, False]) else "b"
        return float((trial.suggest_float(name, -5.0, 10.0) - 1) ** 2) + (name == "b")

    study = new(BelieverSampler(seed=0, search_space=space))
    study.optimize(objective, n_trials=30)
    assert study.best_value < 1e-2
    assert len({tuple(params.values()) for params in params_of(study)}) >= 28


def test_values_outside_of_the_space_that_was_said_keep_others_moving() -> None:
    study = new(BelieverSampler(seed=0, search_space=PLANE))
    elsewhere = {"x": FloatDistribution(20.0, 30.0), "y": PLANE["y"]}
    run(study, 10, elsewhere)
    assert len({params["y"] for params in params_of(study)}) == 10
    known, _ = study.sampler._read(study.sampler._door, study.trials, 99)
    assert {seen.returned for seen in known} == {"ignored"}


@pytest.mark.parametrize("pruned", ["value", "failed", "ignored"])
def test_a_trial_pruned_before_it_asked_for_all_leaves_the_space_as_it_was(pruned: str) -> None:
    study = new(BelieverSampler(seed=0, pruned=pruned))
    run(study, 5)
    trial = study.ask()
    trial.suggest_float("x", -5.0, 10.0)
    study.tell(trial, state=TrialState.PRUNED)
    assert set(study.ask().relative_params) == {"x", "y"}
    trial = study.ask()
    trial.suggest_float("x", -5.0, 10.0)
    trial.report(1.0, 1)
    study.tell(trial, state=TrialState.PRUNED)
    assert set(study.ask().relative_params) == ({"x"} if pruned == "value" else {"x", "y"})


@pytest.mark.parametrize("pruner", [optuna.pruners.MedianPruner(n_startup_trials=2), optuna.pruners.HyperbandPruner()])
def test_it_goes_with_pruners(pruner: Any) -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", -1, 1)
        for step in range(1, 9):
            trial.report(x**2 + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(x**2)

    study = new(BelieverSampler(seed=0), pruner=pruner)
    study.optimize(objective, n_trials=25)
    assert {trial.state for trial in study.trials} == {TrialState.COMPLETE, TrialState.PRUNED}
    assert study.best_value < 0.1


def test_equal_results_are_no_trouble() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 15, f=lambda params: 1.0)
    assert nearest(encoded(study.trials)) > 1e-3


def test_values_of_any_size_are_no_trouble() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 12, f=lambda params: 1e300 * (1 + params["x"]))
    run(study, 3, f=lambda params: 1.7e308)


def test_a_conditional_parameter_is_drawn_and_the_others_are_chosen(caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", -5, 10)
        if trial.suggest_categorical("deep", [True, False]):
            return float((x - 1) ** 2 + trial.suggest_int("depth", 2, 5))
        return float((x - 1) ** 2)

    study = new(BelieverSampler(seed=0))
    study.optimize(objective, n_trials=25)
    assert study.best_value < 0.05
    assert study.best_params["deep"] is False
    assert len([record for record in caplog.records if "'depth' is drawn at random" in record.message]) == 1


def test_it_does_not_warn_of_draws_that_began_before_a_trial_had_finished(caplog: pytest.LogCaptureFixture) -> None:
    study = new(BelieverSampler(seed=0))
    late = study.ask()
    late.suggest_float("x", -5.0, 10.0)
    run(study, 8)
    late.suggest_float("y", 0.0, 15.0)
    assert not caplog.records
    study.ask({"new": PLANE["x"]})
    assert [record.message[:34] for record in caplog.records] == ["'new' is drawn at random, in trial"]


def test_a_space_that_changes_in_the_middle_is_what_all_trials_share() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 10)
    wider = {"x": PLANE["x"], "y": FloatDistribution(0.0, 30.0), "z": IntDistribution(0, 3)}
    run(study, 10, wider)
    trial = study.ask(wider)
    assert list(study.sampler.infer_relative_search_space(study, study.trials[-1])) == ["x"]
    assert list(trial.relative_params) == ["x"]
    assert len(study.sampler._read(study.sampler._door, study.trials, 99)[0]) == 21


def test_a_finite_space_is_gone_through_once_and_then_repeated() -> None:
    space = {"i": IntDistribution(0, 3), "c": CategoricalDistribution(["a", "b"])}
    study = new(BelieverSampler(seed=0, search_space=space))
    run(study, 12, space, lambda params: params["i"])
    points = [tuple(sorted(params.items(), key=str)) for params in params_of(study)]
    assert len(set(points[:8])) == 8
    assert study.best_value == 0


def test_with_a_space_said_in_advance_the_first_trials_fill_it_evenly() -> None:
    study = new(BelieverSampler(seed=0, search_space=PLANE, n_startup_trials=8))
    X = encoded([study.ask(PLANE) for _ in range(8)])
    for column in X.T:
        assert sorted(np.floor(8 * column).astype(int)) == list(range(8))


def test_what_no_space_of_ours_can_hold_is_drawn_at_random(caplog: pytest.LogCaptureFixture) -> None:
    space = {
        "fine": FloatDistribution(0.0, 1e3, step=1e-7),
        "long": IntDistribution(0, 2**50),
        "many": CategoricalDistribution(range(5001)),
        "one": IntDistribution(4, 4),
        **PLANE,
    }
    study = new(BelieverSampler(seed=0, n_startup_trials=2))
    run(study, 6, space)
    assert set(study.sampler.infer_relative_search_space(study, study.trials[-1])) == {"x", "y"}
    assert door._parameter(FloatDistribution(-1e308, 1e308)) is None
    assert len([record for record in caplog.records if "its range is too wide" in record.message]) == 3
    assert len(caplog.records) == 3


def constrained(trial: Any) -> float:
    x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
    trial.set_constraint("far", 0.6 - x)
    return float((x - 0.2) ** 2 + (y - 0.3) ** 2)


def test_a_constraint_is_kept_as_soon_as_a_finished_trial_has_set_it() -> None:
    study = new(BelieverSampler(seed=0))
    study.optimize(constrained, n_trials=24)
    late = study.trials[12:]
    assert sum(trial.params["x"] > 0.58 for trial in late) >= 10
    assert abs(study.best_trial.params["x"] - 0.6) < 0.02
    assert abs(study.best_trial.params["y"] - 0.3) < 0.1


def test_a_constraint_that_a_trial_has_not_set_or_set_to_no_number_is_no_reason_to_stop() -> None:
    def objective(trial: Any) -> float:
        x: float = trial.suggest_float("x", 0.0, 1.0)
        if trial.number % 3:
            trial.set_constraint("far", math.inf if trial.number == 7 else 0.6 - x)
        return x

    study = optuna.create_study(sampler=BelieverSampler(seed=0))
    study.optimize(objective, n_trials=14)
    points = [trial.params["x"] for trial in study.trials]
    assert len(set(points)) == len(points)


@pytest.mark.parametrize("directions", [["minimize", "minimize"], ["minimize", "maximize"]])
def test_several_objectives_are_traded_in_both_directions(directions: list[str]) -> None:
    sign = -1.0 if directions[1] == "maximize" else 1.0

    def objective(trial: Any) -> tuple[float, float]:
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        return x**2 + (y - 0.5) ** 2, sign * ((x - 1.0) ** 2 + (y - 0.5) ** 2)

    study = optuna.create_study(directions=directions, sampler=BelieverSampler(seed=0))
    study.optimize(objective, n_trials=24)
    late = study.trials[12:]
    assert sum(abs(trial.params["y"] - 0.5) < 0.15 for trial in late) >= 9
    assert len(study.best_trials) >= 8


def test_another_sampler_goes_on_with_several_outcomes_where_one_stopped() -> None:
    def run(again: bool) -> list[dict[str, Any]]:
        study = optuna.create_study(sampler=BelieverSampler(seed=3))
        study.optimize(constrained, n_trials=8)
        if again:
            study.sampler = BelieverSampler(seed=3)
        study.optimize(constrained, n_trials=3)
        return [trial.params for trial in study.trials]

    assert run(again=False) == run(again=True)


def test_a_strategy_that_takes_one_number_says_so_when_there_are_several() -> None:
    sampler = BelieverSampler(strategy="lp", n_startup_trials=1, seed=0)
    study = new(sampler, directions=["minimize", "minimize"])
    study.tell(study.ask(PLANE), [0.0, 1.0])
    with pytest.raises(MissingCapability, match="chooses for one objective"):
        study.ask(PLANE)


def test_threads_share_a_sampler_and_get_different_points() -> None:
    study = new(BelieverSampler(seed=0))
    study.optimize(
        lambda t: bowl({"x": t.suggest_float("x", -5, 10), "y": t.suggest_float("y", 0, 15)}), n_trials=40, n_jobs=4
    )
    assert len(study.trials) == 40
    assert nearest(encoded(study.trials)) > 1e-7


def test_other_independent_samplers_are_used_and_told() -> None:
    theirs = optuna.samplers.TPESampler(seed=0)
    study = new(BelieverSampler(seed=0, independent_sampler=theirs))
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_float(f"y{t.number % 2}", 0, 1), n_trials=8)
    study.sampler.reseed_rng()
    assert len(study.trials) == 8


@pytest.mark.parametrize("surrogate", ["gp", "fixed_rbf"])
@pytest.mark.parametrize("strategy", ["kb", "lp", "thompson", "random"])
def test_strategies_and_surrogates_have_their_names_here_too(strategy: str, surrogate: str) -> None:
    if surrogate != "gp" and strategy in ("lp", "thompson"):
        pytest.skip("it has neither lengthscales nor paths")
    study = new(BelieverSampler(seed=0, strategy=strategy, surrogate=surrogate, n_startup_trials=4))
    run(study, 7)
    assert nearest(encoded(study.trials)) > 1e-6


def test_a_model_is_fitted_once_for_all_that_ask_before_the_next_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, fits = np.random.default_rng(0), list[int]()
    study = new(BelieverSampler(seed=0))
    for x, y in rng.random((1000, 2)) * 15:
        params = {"x": x - 5, "y": y}
        study.add_trial(optuna.create_trial(params=params, distributions=PLANE, value=bowl(params)))
    study.ask(PLANE)
    fit = bv.GP.fit

    def counted(*args: Any) -> Any:
        fits.append(1)
        return fit(*args)

    monkeypatch.setattr(bv.GP, "fit", counted)
    running = [study.ask(PLANE) for _ in range(5)]
    assert fits == []
    study.tell(running[0], bowl(running[0].params))
    study.ask(PLANE)
    assert len(fits) <= 2  # as it is, and warped; none where the result could be added to the last fit


def test_a_point_is_told_in_one_write_however_long_the_record_is(tmp_path: Path) -> None:
    space = {f"a parameter with a long name, {i}": FloatDistribution(0.0, 1.0) for i in range(60)}
    study = new(BelieverSampler(seed=0, n_startup_trials=2), storage=f"sqlite:///{tmp_path}/long.db")
    run(study, 4, space, lambda params: sum(params.values()))
    last = study.trials[-1]
    assert set(last.system_attrs) == {"believer"}
    assert len(str(last.system_attrs)) > 3000
    assert last.system_attrs["believer"]["point"] == last.params


def test_a_damaged_fit_is_no_warm_start() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 8)
    trial = study.ask(PLANE)
    record = study.trials[-1].system_attrs["believer"]
    record["fit"]["model"]["outputs"]["value"]["lengthscales"] = [-1.0]
    study._storage.set_trial_system_attr(trial._trial_id, "believer", record)
    study.tell(trial, 1.0)
    run(study, 2)
    assert len(study.trials) == 11


def test_the_results_behind_a_fit_go_into_one_number_and_come_back() -> None:
    study = new(BelieverSampler(seed=0))
    run(study, 10)
    study.tell(study.ask(PLANE), state=TrialState.FAIL)
    run(study, 2)
    fit = study.trials[-1].system_attrs["believer"]["fit"]
    ids, model = study.sampler._door.fit_behind(study.trials)
    assert (ids, model) == ((*range(10), 11), fit["model"])
    assert int(fit["ids"], 16) == sum(2**number for number in ids)


def test_of_two_workers_that_told_of_the_same_point_one_chooses_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tells of its point after this one has read the storage, and before it tells of its own."""
    study, other = new(BelieverSampler(seed=0)), new(BelieverSampler(seed=0))
    for each in (study, other):
        run(each, 12)
    best = other.ask(PLANE).params
    trial, late = study.ask(), study.ask()
    storage, told = study._storage, list[dict[str, Any]]()
    tell = storage.set_trial_system_attr

    def telling(trial_id: int, key: str, record: Any) -> None:
        if not told:
            for name, distribution in PLANE.items():
                storage.set_trial_param(late._trial_id, name, best[name], distribution)
        told.append(record["point"])
        tell(trial_id, key, record)

    monkeypatch.setattr(storage, "set_trial_system_attr", telling)
    x = trial.suggest_float("x", -5.0, 10.0)
    assert told[0] == best
    assert len(told) == 2
    assert x == told[1]["x"] != best["x"]


def test_a_history_is_what_the_door_for_hosts_makes_of_the_same_trials() -> None:
    study = new(BelieverSampler(seed=0), direction="maximize")
    run(study, 6, MIXED, loss)
    study.tell(study.ask(MIXED), state=TrialState.FAIL)
    study.ask(MIXED)
    sampler = study.sampler
    known, _ = sampler._read(sampler._door, study.trials, 99)
    ours = sampler._door.history(known, None)
    trials = [(seen.number, seen.point, study.trials[seen.number].value) for seen in known]
    trials[6] = (6, trials[6][1], "failed")
    theirs = History.of(sampler._door.settings, trials)
    assert (
        (ours.ids, ours.next_id, ours.designed)
        == (theirs.ids, theirs.next_id, theirs.designed)
        == ((tuple(range(6)), 8, 8))
    )
    for name in ("failed", "taken"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert np.array_equal(ours.data.X, theirs.data.X)
    assert np.array_equal(ours.data.Y, theirs.data.Y)
    assert ours.pending.ids == theirs.pending.ids == (7,)


def test_an_infinite_constraint_is_broken() -> None:
    def objective(trial: Any) -> float:
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        trial.set_constraint("c", math.inf if x > 0.5 else -1.0)
        return float(-x + (y - 0.3) ** 2)

    study = optuna.create_study(sampler=BelieverSampler(seed=2))
    study.optimize(objective, n_trials=30)
    assert max(trial.params["x"] for trial in study.trials if trial.params["x"] <= 0.5) > 0.49
    assert study.best_trial.params["x"] <= 0.5
    assert study.best_value < -0.48


def test_a_reference_says_which_part_of_a_front_counts() -> None:
    def objective(trial: Any) -> tuple[float, float]:
        x, y = trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("y", 0.0, 1.0)
        return x + y, (1.0 - x) + y

    study = optuna.create_study(directions=["minimize"] * 2, sampler=BelieverSampler(seed=0, reference=(0.3, 1.1)))
    study.optimize(objective, n_trials=24)
    assert all(trial.params["x"] <= 0.3 for trial in study.trials[12:])
    with pytest.raises(InvalidInput, match="finite number"):
        BelieverSampler(reference=(0.3, math.nan))
    with pytest.raises(InvalidInput, match=r"reference must be a list .*; got 0\.3"):
        BelieverSampler(reference=0.3)  # type: ignore[arg-type]
    study = optuna.create_study(directions=["minimize"] * 2, sampler=BelieverSampler(seed=0, reference=[1.0]))
    with pytest.raises(InvalidInput, match="reference must have 2 values; got 1"):
        study.optimize(objective, n_trials=3)


def test_a_misspelt_option_is_met_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="no option 'n_startup_trails'; did you mean 'n_startup_trials'"):
        BelieverSampler(n_startup_trails=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="no option 'xyzzy'; there are strategy, surrogate, "):
        BelieverSampler(xyzzy=3)  # type: ignore[call-arg]


def tuned(trial: Any) -> float:
    """Two branches, one of which has two of its own; a value that depends on all that is asked for."""
    if trial.suggest_categorical("model", ["svm", "forest"]) == "forest":
        return 1.0 + 0.01 * abs(float(trial.suggest_int("trees", 10, 200)) - 100.0)
    kernel = trial.suggest_categorical("kernel", ["rbf", None])
    value = (math.log10(trial.suggest_float("C", 1e-3, 1e3, log=True)) - 1.0) ** 2
    return value + (math.log10(trial.suggest_float("gamma", 1e-4, 1.0, log=True)) + 2.0) ** 2 if kernel else value + 0.3


def test_parameters_of_branches_are_chosen_once_each_branch_was_seen(caplog: pytest.LogCaptureFixture) -> None:
    study = new(BelieverSampler(seed=0))
    study.optimize(tuned, n_trials=45)
    late = [trial for trial in study.trials if trial.number >= 15]
    assert {record.message.split("'")[1] for record in caplog.records} <= {"trees", "kernel", "C", "gamma"}
    for trial in late:
        assert trial.system_attrs["believer"]["point"].keys() == trial.params.keys()
    assert {trial.params.get("kernel", "none") for trial in study.trials} == {"rbf", None, "none"}
    assert study.best_value < 0.02
    assert study.best_params["kernel"] == "rbf"


def test_another_sampler_goes_on_in_branches_as_the_first_would_have(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = new(BelieverSampler(seed=3), storage=storage, study_name="one")
    study.optimize(tuned, n_trials=20)
    again = optuna.load_study(study_name="one", storage=storage, sampler=BelieverSampler(seed=3))
    other = new(BelieverSampler(seed=3))
    other.optimize(tuned, n_trials=24)
    again.optimize(tuned, n_trials=4)
    assert params_of(again) == params_of(other)


def test_a_point_in_the_queue_that_names_a_part_of_a_branch_is_in_that_branch() -> None:
    study = new(BelieverSampler(seed=0))
    study.optimize(tuned, n_trials=15)
    study.enqueue_trial({"gamma": 0.02})
    study.enqueue_trial({"model": "forest", "gamma": 0.03})
    study.optimize(tuned, n_trials=2)
    assert study.trials[-2].params["gamma"] == 0.02
    assert study.trials[-1].params.keys() == {"model", "trees"}


def test_branches_are_what_trials_say_whichever_ended_first() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(tuned, n_trials=30)
    orders = [study.trials, study.trials[::-1], [*study.trials[10:], *study.trials[:10]]]
    found = []
    for trials in orders:
        branches = Branches(is_listed)
        for trial in trials:
            branches.add(trial.number, trial.distributions, coded_values(trial))
        found.append(branches.found())
    assert found[0] == found[1] == found[2]
    assert found[0][1] == {
        "C": {"model": [0]},
        "gamma": {"kernel": [0]},
        "kernel": {"model": [0]},
        "trees": {"model": [1]},
    }


def test_what_no_parameter_explains_is_drawn_at_random(caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Any) -> float:
        x = trial.suggest_float("x", -1.0, 1.0)
        return float(x**2 + (trial.suggest_float("y", 0.0, 1.0) if x > 0.0 else 0.0))

    study = new(BelieverSampler(seed=0))
    study.optimize(objective, n_trials=20)
    assert any("'y' is drawn at random" in record.message for record in caplog.records)
    assert study.best_value < 0.01


def test_a_study_with_branches_comes_here_and_goes_back(tmp_path: Path) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(tuned, n_trials=30)
    ours = import_study(study, tmp_path / "study.jsonl")
    assert ours.space.parameters["gamma"] == bv.Float(1e-4, 1.0, log=True, when={"kernel": "rbf"})
    assert [trial.params for trial in ours.trials] == params_of(study)
    assert {*ours.ask(1)[0].params} <= {"model", "trees", "kernel", "C", "gamma"}
    back = export_study(ours)
    assert params_of(back) == params_of(study)
    ours.close()
