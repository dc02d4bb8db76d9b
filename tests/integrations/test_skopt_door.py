"""The door with scikit-optimize's names, where scikit-optimize is not."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from test_docstrings import offenses
from waiting import PATIENCE

import believer as bv
from believer.errors import InvalidInput
from believer.integrations import skopt
from believer.integrations.skopt.callbacks import CheckpointSaver, DeadlineStopper, TimerCallback
from believer.integrations.skopt.space import Categorical, Integer, Real, Space
from believer.study.events import Begun
from believer.study.journal import write_events

MIXED: list[Any] = [
    Real(1e-4, 1.0, "log-uniform", name="lr"),
    Integer(1, 12, name="depth"),
    Categorical(["relu", "tanh", "elu"], name="act"),
    Real(-1.0, 1.0),
]


def cost(x: list[Any]) -> float:
    return float((np.log10(x[0]) + 2) ** 2 + 0.1 * (x[1] - 6) ** 2 + (x[2] != "relu") + x[3] ** 2)


def branin(x: list[float]) -> float:
    bent = x[1] - 5.1 / (4 * np.pi**2) * x[0] ** 2 + 5 / np.pi * x[0] - 6
    return float(bent**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x[0]) + 10)


@pytest.fixture(scope="module")
def result() -> Any:
    return skopt.gp_minimize(cost, MIXED, n_calls=16, n_initial_points=8, random_state=0)


@each("generator", ["random", "lhs", "sobol"])
def test_no_point_is_evaluated_that_the_constraint_of_the_space_forbids(generator: str, tmp_path: Path) -> None:
    def allowed(x: list[Any]) -> bool:
        return bool(x[1] >= 6 and x[2] != "elu")

    asked = {"n_calls": 8, "n_initial_points": 5, "initial_point_generator": generator, "random_state": 0}
    result = skopt.gp_minimize(cost, MIXED, space_constraint=allowed, **asked)
    assert len(result.x_iters) == 8
    assert all(map(allowed, result.x_iters))
    assert skopt.gp_minimize(cost, Space(Space(MIXED, allowed)), **asked).x_iters == result.x_iters
    skopt.dump(result, tmp_path / "found.jsonl")
    assert skopt.load(tmp_path / "found.jsonl").x_iters == result.x_iters


def test_a_constraint_that_nothing_keeps_or_that_is_no_function_is_refused() -> None:
    with pytest.raises(RuntimeError, match="0 of 1000 random points keep the constraint"):
        Space(MIXED, lambda x: False).rvs(1)
    with pytest.raises(ValueError, match="function of a point"):
        skopt.Optimizer(MIXED, space_constraint=3)  # type: ignore[arg-type]


def test_public_names_list_their_parameters() -> None:
    named = {name: vars(skopt).get(name) for name in skopt.__all__ if name != "OptimizeResult"}  # which is SciPy's
    named |= {name: vars(skopt.space)[name] for name in skopt.space.__all__}
    found = {name: offenses(value) for name, value in named.items() if getattr(value, "__module__", "") in sys.modules}
    assert len(found) > 9
    assert {name: what for name, what in found.items() if what} == {}


def test_nothing_but_numpy_and_scipy_is_needed() -> None:
    code = """
import sys
for name in ("skopt", "sklearn", "joblib", "matplotlib", "yaml", "pandas"):
    sys.modules[name] = None
from believer.integrations import skopt
result = skopt.gp_minimize(lambda x: (x[0] - 1) ** 2 + x[1], [(-5.0, 10.0), (0, 15)], n_calls=12, random_state=0)
assert len(result.models) == 3
def plots():
    import believer.integrations.skopt.plots
for call, extra in ((lambda: skopt.forest_minimize(sum, [(0.0, 1.0)]), "surrogates"), (plots, "plots")):
    try:
        call()
    except ImportError as error:
        assert extra in str(error), error
    else:
        raise AssertionError(extra)
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.both_backends
def test_it_finds_the_minimum_of_branin() -> None:
    found = [skopt.gp_minimize(branin, [(-5.0, 10.0), (0.0, 15.0)], n_calls=30, random_state=s).fun for s in range(5)]
    assert np.median(found) < 0.41


@pytest.mark.parametrize("estimator", ["GP", "RF", "ET", "dummy"])
def test_every_estimator_improves_or_at_least_goes_on(estimator: str) -> None:
    if estimator not in ("GP", "dummy"):
        pytest.importorskip("sklearn")
    optimizer = skopt.Optimizer(MIXED, estimator, n_initial_points=5, random_state=0)
    found = optimizer.run(cost, 9)
    assert len(found.x_iters) == 9
    assert len(found.models) == (0 if estimator == "dummy" else 5)
    assert found.fun == min(found.func_vals)


def test_a_regressor_of_scikit_learns_is_an_estimator() -> None:
    neighbors = pytest.importorskip("sklearn.neighbors")
    optimizer = skopt.Optimizer([(0.0, 1.0)], neighbors.KNeighborsRegressor(2), n_initial_points=4, random_state=0)
    mean, std = optimizer.run(lambda x: x[0], 6).models[-1].predict([[0.5]], return_std=True)
    assert mean.shape == std.shape == (1,)


def test_an_ask_without_a_tell_is_answered_in_the_same_way_again() -> None:
    optimizer = skopt.Optimizer(MIXED, n_initial_points=3, random_state=0)
    for _ in range(4):
        optimizer.tell(x := optimizer.ask(), cost(x))
    assert optimizer.ask() == optimizer.ask()
    assert optimizer.ask(3) is optimizer.ask(3)
    before = optimizer.ask()
    optimizer.tell([0.1, 2, "elu", 0.0], 5.0, fit=False)
    assert optimizer.ask() == before
    optimizer.tell(before, 4.0)
    assert optimizer.ask() != before


@pytest.mark.parametrize("lie", ["cl_min", "cl_mean", "cl_max"])
def test_points_of_a_batch_differ_and_begin_with_the_point_that_is_next(lie: str) -> None:
    optimizer = skopt.Optimizer(MIXED, n_initial_points=5, acq_func="EI", random_state=0)
    for _ in range(6):
        optimizer.tell(x := optimizer.ask(), cost(x))
    batch = optimizer.ask(4, strategy=lie)
    assert batch[0] == optimizer.ask()
    assert len({tuple(x) for x in batch}) == 4
    assert all(x in optimizer.space for x in batch)


def test_the_same_random_state_gives_the_same_run() -> None:
    runs = [skopt.gp_minimize(cost, MIXED, n_calls=13, random_state=np.random.RandomState(5)) for _ in range(2)]
    assert runs[0].x_iters == runs[1].x_iters


def test_what_models_see_leads_back_to_the_point() -> None:
    space = Space([*MIXED, Categorical(["u", "v"]), Categorical(["w"])])
    points = space.rvs(20, random_state=0)
    seen = space.transform(points)
    assert seen.shape == (20, 1 + 1 + 3 + 1 + 2 + 1)
    assert seen.min() >= 0.0
    assert seen.max() <= 1.0
    for point, again in zip(points, space.inverse_transform(seen), strict=True):
        assert [again[0], again[3]] == pytest.approx([point[0], point[3]], rel=1e-12)
        assert (again[1:3], again[4:]) == (point[1:3], point[4:])


def test_categories_may_be_anything_that_can_be_told_apart() -> None:
    layers = [(32,), (32, 16), (64, 32, 16)]
    optimizer = skopt.Optimizer([Categorical(layers), (0.0, 1.0)], n_initial_points=2, random_state=0)
    found = optimizer.run(lambda x: len(x[0]) + x[1], 6)
    assert found.x[0] in layers
    assert len(found.x[0]) == 1


@pytest.mark.parametrize("name", ["lhs", "sobol", "halton", "hammersly", "grid"])
def test_initial_points_of_a_generator_fill_the_space(name: str) -> None:
    generate = skopt.utils.cook_initial_point_generator(name)
    assert generate is not None
    points = generate(Space(MIXED), 24, 1)
    assert len({tuple(x) for x in points}) > 20
    assert all(x in Space(MIXED) for x in points)
    middles = Space(MIXED).transform(points).mean(axis=0)
    assert np.all((middles > 0.25) & (middles < 0.75))
    optimizer = skopt.Optimizer(MIXED, n_initial_points=3, initial_point_generator=name, random_state=1)
    first = optimizer.ask(3)
    made = getattr(skopt.sampler, name.title())()
    assert skopt.Optimizer(MIXED, n_initial_points=3, initial_point_generator=made, random_state=1).ask(3) == first
    for x in first:
        assert optimizer.ask() == x
        optimizer.tell(x, cost(x))


def test_a_failed_evaluation_is_no_error_and_never_the_best() -> None:
    optimizer = skopt.Optimizer([(0.0, 1.0)], n_initial_points=2, random_state=0)
    for y in (np.nan, 1.0, np.inf, 0.5):
        found = optimizer.tell(optimizer.ask(), y)
    assert found.fun == 0.5
    assert 0.0 <= optimizer.ask()[0] <= 1.0


@pytest.mark.parametrize("y", [1e200, 1j, [0.5, 1e200]], ids=str)
def test_what_is_refused_is_not_kept(y: Any) -> None:
    optimizer = skopt.Optimizer([(0.0, 1.0)], n_initial_points=2, random_state=0)
    optimizer.run(lambda x: x[0], 3)
    with pytest.raises(InvalidInput):
        optimizer.tell([[0.1], [0.2]] if isinstance(y, list) else [0.1], y)
    assert len(optimizer.Xi) == len(optimizer.yi) == 3
    assert len(optimizer.run(lambda x: x[0], 1).models) == 3


def test_a_random_search_goes_on_beyond_the_points_of_its_generator() -> None:
    optimizer = skopt.Optimizer(MIXED, "dummy", n_initial_points=3, initial_point_generator="lhs", random_state=0)
    assert len(optimizer.ask(5)) == 5
    assert len({tuple(x) for x in optimizer.run(cost, 5).x_iters}) == 5


def test_no_estimator_is_no_random_search() -> None:
    with pytest.raises(InvalidInput, match="base_estimator"):
        skopt.forest_minimize(cost, MIXED, None, n_calls=10)


@each(
    "more, message",
    [
        ({}, "10 or more, because it includes n_initial_points=10; got 5"),
        ({"n_initial_points": 4, "x0": [[0.1, 2, "elu", 0.0]] * 2}, "6 or more, .*n_initial_points=4 and the 2 of x0"),
    ],
)
def test_a_run_with_too_few_calls_is_told_what_they_include(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"n_calls must be {message}"):
        skopt.gp_minimize(cost, MIXED, n_calls=5, **more)


def test_a_space_without_new_points_goes_on_with_old_ones_and_warns() -> None:
    optimizer = skopt.Optimizer([(0, 1), ["a", "b"]], n_initial_points=2, random_state=0)
    for x in ([0, "a"], [1, "a"], [0, "b"]):
        optimizer.tell(x, 1.0)
    assert optimizer.ask() == [1, "b"]
    with pytest.warns(UserWarning, match="evaluated before"):
        batch = optimizer.ask(3)
    assert len(batch) == 3
    assert all(x in optimizer.space for x in batch)


def test_an_optimizer_can_be_pickled() -> None:
    optimizer = skopt.Optimizer([(0, 9), (0.0, 9.0)], n_initial_points=4, random_state=0)
    optimizer.run(lambda x: x[0] - x[1], 6)
    assert pickle.loads(pickle.dumps(optimizer)).ask(2) == optimizer.ask(2)


def test_where_the_model_is_least_is_a_point_of_the_space(result: Any) -> None:
    x, fun = skopt.expected_minimum(result, random_state=0)
    assert x in result.space
    assert isinstance(x[1], np.integer)
    points = result.space.rvs(2000, random_state=0)
    assert fun <= min(result.models[-1].predict(result.space.transform(points))) + 1e-9
    with pytest.raises(InvalidInput, match="no model"):
        skopt.expected_minimum(skopt.dummy_minimize(cost, MIXED, n_calls=3))


def test_a_file_is_a_journal_that_holds_the_result_and_its_model(result: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.jsonl"
    skopt.dump(result, path, store_objective=False, compress=9)
    again = skopt.load(path)
    assert (again.x, again.fun, again.x_iters) == (result.x, result.fun, result.x_iters)
    assert [type(v) for v in again.x] == [type(v) for v in result.x]
    assert np.array_equal(again.func_vals, result.func_vals)
    assert again.space == result.space
    assert again.space.dimension_names == result.space.dimension_names
    at = result.space.transform(result.x_iters)
    assert np.allclose(again.models[-1].predict(at), result.models[-1].predict(at), atol=1e-2)
    with bv.Optimizer.load(path) as study:
        study.tell(study.ask()[0], 0.125)
    assert skopt.load(path).func_vals[-1] == 0.125


def test_a_file_holds_categories_and_bounds_that_are_numpys(tmp_path: Path) -> None:
    dimensions = [Categorical(np.array([1, 2, 4])), Real(np.float32(0.5), np.float32(2.0)), (np.int64(0), np.int64(9))]
    found = skopt.dummy_minimize(lambda x: float(x[0] + x[1]), dimensions, n_calls=4, random_state=np.int64(0))
    skopt.dump(found, tmp_path / "found.jsonl")
    again = skopt.load(tmp_path / "found.jsonl")
    assert again.x_iters == found.x_iters
    skopt.dump(again, tmp_path / "again.jsonl")
    assert skopt.load(tmp_path / "again.jsonl").x == found.x


def test_no_pickle_is_read_and_no_stranger_is_written(result: Any, tmp_path: Path) -> None:
    (tmp_path / "theirs.pkl").write_bytes(pickle.dumps({"x": 1}))
    with pytest.raises(InvalidInput, match="not a pickle"):
        skopt.load(tmp_path / "theirs.pkl")
    with bv.Optimizer(bv.Space.cube(2), journal=tmp_path / "ours.jsonl", seed=0):
        pass
    with pytest.raises(InvalidInput, match="of this library's dump"):
        skopt.load(tmp_path / "ours.jsonl")
    with pytest.raises(InvalidInput, match="needs a result"):
        skopt.dump({"x": 1}, tmp_path / "new.jsonl")
    odd = skopt.dummy_minimize(lambda x: 1.0, [Categorical([(1,), b"2"]), (0, 1)], n_calls=2)
    with pytest.raises(InvalidInput, match="a file holds"):
        skopt.dump(odd, tmp_path / "new.jsonl")


@pytest.mark.parametrize(
    "damage",
    [
        {"dimensions": [["Real", 1, 0]]},
        {"dimensions": [["os.system", "ls"]]},
        {"dimensions": 3},
        {"dimensions": [["Real", 0, 1]]},
        {"dimensions": [[]]},
    ],
    ids=str,
)
def test_a_file_that_nobody_dumped_is_refused(damage: dict[str, Any], result: Any, tmp_path: Path) -> None:
    skopt.dump(result, tmp_path / "good.jsonl")
    begun, *rest = bv.read_study(tmp_path / "good.jsonl").events
    assert isinstance(begun, Begun)
    told = {**begun.config, "skopt": {**begun.config["skopt"], **damage}}
    write_events(tmp_path / "bad.jsonl", [replace(begun, config=told), *rest])
    with pytest.raises(InvalidInput, match="of this library's dump"):
        skopt.load(tmp_path / "bad.jsonl")


def test_a_checkpoint_goes_on_where_it_was(tmp_path: Path) -> None:
    saver = CheckpointSaver(tmp_path / "checkpoint.pkl", compress=9)
    timer = TimerCallback()
    first = skopt.gp_minimize(cost, MIXED, n_calls=12, callback=[saver, timer], random_state=0)
    assert len(timer.iter_time) == 12
    before = skopt.load(tmp_path / "checkpoint.pkl")
    again = {"x0": before.x_iters, "y0": before.func_vals, "n_initial_points": 0}
    second = skopt.gp_minimize(cost, MIXED, n_calls=2, callback=saver, random_state=1, **again)
    assert second.x_iters[:12] == first.x_iters
    assert len(skopt.load(tmp_path / "checkpoint.pkl").x_iters) == 14
    failed = skopt.dummy_minimize(
        lambda x: np.nan if x[3] < 0 else 1.0, MIXED, n_calls=9, random_state=0, callback=saver
    )
    assert np.array_equal(skopt.load(saver.checkpoint_path).func_vals, failed.func_vals, equal_nan=True)


def test_a_deadline_ends_a_run_before_it_is_missed() -> None:
    def slow(x: list[Any]) -> float:
        time.sleep(0.02)
        return cost(x)

    found = skopt.dummy_minimize(slow, MIXED, n_calls=500, callback=DeadlineStopper(0.5))
    assert 1 <= len(found.x_iters) < 50


def test_what_is_verbose_prints_each_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    skopt.gp_minimize(cost, MIXED, n_calls=5, n_initial_points=3, x0=[0.1, 2, "elu", 0.0], verbose=True)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(" ended")[0] for line in printed] == [f"Iteration No: {i} of 5" for i in range(1, 6)]


def test_what_it_lists_is_there_and_nothing_else_is() -> None:
    pytest.importorskip("sklearn")
    assert all(getattr(skopt, name) is not None for name in skopt.__all__)
    assert not hasattr(skopt, "anything_else")


def test_a_result_keeps_what_its_call_was_given() -> None:
    args = skopt.gp_minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=10, random_state=1).specs["args"]
    assert (args["n_calls"], args["n_initial_points"], args["acq_func"]) == (10, 10, "gp_hedge")
    assert "options" not in args


def test_a_misspelt_option_is_met_with_the_nearest_name() -> None:
    with pytest.raises(InvalidInput, match="no option 'acq_fun'; did you mean 'acq_func'"):
        skopt.Optimizer([(0.0, 1.0)], acq_fun="EI")  # type: ignore[call-arg]
    for name, nearest in (("n_call", "n_calls"), ("n_inital_points", "n_initial_points"), ("acq_fun", "acq_func")):
        with pytest.raises(InvalidInput, match=f"no option '{name}'; did you mean '{nearest}'"):
            skopt.gp_minimize(sum, [(0.0, 1.0)], **{name: 3})
