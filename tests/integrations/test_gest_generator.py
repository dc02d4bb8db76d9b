"""A generator by the gest-api standard: what it takes from a VOCS, what it refuses, and a run of libEnsemble."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

from believer.errors import InvalidInput

pytest.importorskip("gest_api")

from gest_api.generator import Generator as Standard
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable, DiscreteVariable

from believer.integrations.gest import Generator
from believer.space import Int

MIXED: dict[str, Any] = {"x": [-1.0, 2.0], "n": {1, 2, 4, 8}, "kind": {"a", "b", "c"}}


def made(goal: str = "MINIMIZE", variables: Any = None, **parts: Any) -> VOCS:
    return VOCS(variables=dict(MIXED if variables is None else variables), objectives={"f": goal}, **parts)


def cost(point: dict[str, Any]) -> float:
    penalty = 0.0 if point.get("kind", "b") == "b" else 0.5
    return float((point["x"] - 0.7) ** 2 + 0.1 * (point.get("n", 4) - 4) ** 2 + penalty)


def test_it_is_a_generator_of_the_standard_with_ids() -> None:
    generator = Generator(made(constants={"alpha": 0.5}, observables=["seen"]), batch_size=3, seed=0)
    assert isinstance(generator, Standard)
    assert generator.returns_id
    points = generator.suggest()
    assert len(points) == 3
    assert [set(point) for point in points] == [{"x", "n", "kind", "alpha", "_id"}] * 3
    assert {point["alpha"] for point in points} == {0.5}
    assert [len(generator.suggest(n)) for n in (0, 1, 5)] == [0, 1, 5]
    assert len(generator.optimizer.pending) == 9


@pytest.mark.parametrize("goal", ["MINIMIZE", "MAXIMIZE"])
def test_it_finds_the_optimum_of_mixed_variables(goal: str) -> None:
    sign = 1.0 if goal == "MINIMIZE" else -1.0
    generator, best = Generator(made(goal), seed=2), math.inf
    for _ in range(10):
        points = generator.suggest(4)
        for point in points:
            assert (type(point["x"]), type(point["n"]), type(point["kind"])) == (float, int, str)
            point["f"], point["seen"] = sign * cost(point), "whatever"
            best = min(best, cost(point))
        generator.ingest(points)
    assert best < 0.01


def test_suggestions_depend_on_the_seed_and_not_on_the_order_of_a_set() -> None:
    def points(**options: Any) -> list[dict[str, Any]]:
        generator = Generator(made(variables={"kind": options.pop("kinds"), "x": [0.0, 1.0]}), **options)
        first = generator.suggest(4)
        generator.ingest([point | {"f": cost(point)} for point in first])
        return first + generator.suggest(3)

    assert points(kinds={"a", "b", "c"}, seed=1) == points(kinds={"c", "b", "a"}, seed=1)
    assert points(kinds={"a", "b", "c"}, seed=1) != points(kinds={"a", "b", "c"}, seed=2)


def test_whole_numbers_are_continuous_variables_of_an_integer_type() -> None:
    variables = {"n": ContinuousVariable(domain=[0.5, 4.2], dtype=int)}
    points = Generator(made(variables=variables), seed=0).suggest(4)
    assert sorted(point["n"] for point in points) == [1, 2, 3, 4]


def test_any_objects_can_be_the_values_of_a_discrete_variable() -> None:
    values = {True, None, (1, 2), "a"}
    generator = Generator(made(variables={"v": DiscreteVariable(values=values)}), seed=0)
    points = generator.suggest(4)
    assert {point["v"] for point in points} == values
    generator.ingest([{"v": point["v"], "f": 1.0} for point in points])
    assert generator.optimizer.pending == ()


@each(
    ("vocs", "says"),
    [
        (VOCS(variables={"x": [0.0, 1.0]}), "one or several; got {}"),
        (VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "EXPLORE"}), "'f': 'ExploreObjective'"),
        (made(constraints={"x": ["LESS_THAN", 0.0]}), "different names; got twice: .*'x'"),
        (made(variables={"x": [0.0, 1.0], "t": ContextualVariable()}), "'t' is ContextualVariable"),
        (made(variables={"x": ContinuousVariable(domain=[0.0, 1.0], dtype=(float, (3,)))}), "'x' has the dtype"),
        (made(variables={}), "at least one"),
        (made(constants={"x": 1.0}), r"different names; got twice: \['x'\]"),
        (made(variables={"f": [0.0, 1.0]}), r"twice: \['f'\]"),
        (made(variables={"_id": [0.0, 1.0]}), r"twice: \['_id'\]"),
        (made(constants={"_id": 1.0}), r"twice: \['_id'\]"),
    ],
)
def test_what_cannot_be_had_is_refused_by_name(vocs: VOCS, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Generator(vocs)


def test_results_come_in_any_order_and_as_numpy_has_them() -> None:
    generator = Generator(made(), seed=0)
    points = generator.suggest(4)
    for point in (points[2], points[0]):
        row = {name: np.array([value])[0] for name, value in point.items()}
        generator.ingest([row | {"f": np.float32(1.5), "sim_id": 7}])
    assert sorted(trial.id for trial in generator.optimizer.pending) == [1, 3]
    assert {outcome.value for outcome in generator.optimizer.outcomes.values()} == {1.5}


def test_results_from_elsewhere_have_no_id() -> None:
    generator = Generator(made(), seed=0)
    generator.ingest([{"x": 0.5, "n": 8, "kind": "a", "f": 2.0}])
    (point,) = generator.suggest(1)
    del point["_id"]
    generator.ingest([point | {"f": 3.0}])  # lost its id on the way, and is the pending one
    assert generator.optimizer.pending == ()
    assert sorted(outcome.value for outcome in generator.optimizer.outcomes.values()) == [2.0, 3.0]


def test_a_result_at_another_point_than_the_suggested_one_is_learnt_from_there() -> None:
    """Hosts clip, round, and read back what a machine really did."""
    generator = Generator(made(), seed=1)
    first, second, third = generator.suggest(3)
    generator.ingest(
        [{"_id": first["_id"], "x": 1.25, "f": 1.0}, second | {"n": 8 if second["n"] < 8 else 4, "f": 2.0}]
    )
    assert [trial.id for trial in generator.optimizer.pending] == [third["_id"]]
    assert generator.optimizer.counts.abandoned == 2
    assert generator.best == ({"x": 1.25, "n": first["n"], "kind": first["kind"]}, 1.0)
    with pytest.raises(ValueError, match=f"got {first['_id']}"):
        generator.ingest([first | {"f": 1.0}])
    generator.ingest(
        [third | {"x": second["x"], "n": second["n"], "kind": second["kind"], "f": 3.0}]
    )  # an abandoned one
    assert generator.optimizer.counts.done == 3


def test_a_point_that_moved_onto_another_pending_one_leaves_that_pending() -> None:
    generator = Generator(made(), seed=0)
    first, second = generator.suggest(2)
    generator.ingest([first | {"f": 1.0} | {name: second[name] for name in MIXED}])
    assert [trial.id for trial in generator.optimizer.pending] == [second["_id"]]


@pytest.mark.parametrize("with_id", [True, False])
def test_a_result_may_come_back_as_single_precision(with_id: bool) -> None:
    variables = {
        "x": [0.1, 0.3],
        "far": [1e6, 1e6 + 1.0],
        "v": {0.1, 0.2, 0.7},
        "n": ContinuousVariable(domain=[1, 9], dtype=int),
    }
    generator = Generator(made(variables=variables), seed=0)
    generator.optimizer.enqueue(generator.optimizer.space.decode(np.ones((1, 4)))[0])  # float32(0.3) is above 0.3
    points = generator.suggest(6)
    assert points[0]["x"] == 0.3
    rows = [{name: np.float32(point[name]) for name in variables} | {"f": 1.0} for point in points]
    generator.ingest([row | {"_id": point["_id"]} if with_id else row for row, point in zip(rows, points, strict=True)])
    assert (generator.optimizer.pending, generator.optimizer.counts.done, len(generator.optimizer.trials)) == ((), 6, 6)


def test_rows_without_an_id_leave_those_to_others_that_have_one() -> None:
    generator = Generator(made(variables={"x": [0.0, 1.0]}), seed=0)
    (point,) = generator.suggest(1)
    generator.ingest(
        [{"x": point["x"], "_id": None, "f": 1.0}, {"x": 0.5, "_id": math.nan, "f": 3.0}, point | {"f": 2.0}]
    )
    assert generator.optimizer.outcomes[point["_id"]].value == 2.0
    assert generator.optimizer.counts.done == 3


@pytest.mark.parametrize(
    "results",
    [{"_id": 0, "f": 1.0}, [5], None, "f", np.zeros(1, dtype=[("_id", int), ("f", float)]), [{"_id": 0, "f": 1.0}, 5]],
)
def test_results_are_a_list_of_dicts(results: Any) -> None:
    generator = Generator(made(), seed=0)
    generator.suggest(1)
    with pytest.raises(ValueError, match="results must be a list of dicts"):
        generator.ingest(results)
    assert len(generator.optimizer.pending) == 1


@pytest.mark.parametrize("goal", ["MINIMIZE", "MAXIMIZE"])
def test_the_best_is_in_the_values_and_the_direction_of_the_host(goal: str) -> None:
    generator = Generator(made(goal), seed=0)
    assert generator.best is None
    values = [3.0, 1.0, 2.0, 5.0]
    points = [point | {"f": value} for point, value in zip(generator.suggest(4), values, strict=True)]
    generator.ingest(points)
    best = points[1] if goal == "MINIMIZE" else points[3]
    assert generator.best == ({name: best[name] for name in MIXED}, best["f"])
    assert generator.recommend().params in [{name: point[name] for name in MIXED} for point in points]


def test_numbers_of_numpy_have_an_order() -> None:
    values = {np.int64(1), np.int64(5), np.int64(20)}
    (parameter,) = Generator(
        made(variables={"n": DiscreteVariable(values=values)}), seed=0
    ).optimizer.space.parameters.values()
    assert parameter == Int(0, 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, None, np.float64("nan")])
def test_no_number_is_a_failed_evaluation(value: Any) -> None:
    generator = Generator(made(), seed=0)
    generator.ingest([generator.suggest(1)[0] | {"f": value}, {"x": 0.5, "n": 8, "kind": "a", "f": value}])
    assert generator.optimizer.counts.failed == 2
    assert len(generator.suggest(2)) == 2


@each(
    ("wrong", "says"),
    [
        ({"_id": 99, "f": 1.0}, "got 99"),
        ({"_id": 0, "f": 1.0}, "pending suggestion, without a result; got 0"),
        ({"_id": 1, "g": 1.0}, "must have f; got"),
        ({"_id": 1, "f": "good"}, "number"),
        ({"f": 1.0, "x": 0.5}, "missing: n, kind"),
        ({"f": 1.0, "x": 0.5, "n": 3, "kind": "a"}, "'n'"),
        ({"f": 1.0, "x": 5.0, "n": 4, "kind": "a"}, "'x'"),
        ({"_id": 1, "f": 1.0, "x": 2.001}, "'x'"),
        ({"_id": 1, "f": 1.0, "n": 3}, "'n'"),
        ({"_id": 1, "f": 1.0, "x": math.nan}, "'x'"),
    ],
)
def test_a_wrong_result_is_refused_with_all_that_came_beside_it(wrong: dict[str, Any], says: str) -> None:
    generator = Generator(made(), seed=0)
    first, *others = generator.suggest(3)
    generator.ingest([first | {"f": 0.0}])
    with pytest.raises(ValueError, match=says):
        generator.ingest([others[1] | {"f": 1.0}, wrong])
    assert len(generator.optimizer.pending) == 2


def test_a_finite_space_gives_exactly_what_is_asked_or_says_how_much_is_left() -> None:
    generator = Generator(made(variables={"n": {1, 2, 3}}), seed=0)
    generator.suggest(2)
    with pytest.raises(InvalidInput, match="1 points of this finite space"):
        generator.suggest(2)
    assert len(generator.suggest(1)) == 1


def test_a_journal_goes_on_with_ids_that_are_still_out(tmp_path: Path) -> None:
    generator = Generator(made(), journal=tmp_path / "study.jsonl", seed=0)
    points = generator.suggest(3)
    generator.finalize()
    again = Generator(made(), journal=tmp_path / "study.jsonl", seed=0)
    again.ingest([point | {"f": 1.0} for point in points])
    assert again.optimizer.counts.done == 3
    again.finalize()


@pytest.mark.parametrize(
    ("values", "others"),
    [
        ({1, 2, 4}, {10, 20, 40}),
        ({"argon", "neon"}, {"argon", "helium"}),
        ({1, "a"}, {2, "a"}),
        ({(1, 2), "a"}, {(1, 3), "a"}),
        ({n / 7 for n in range(200)}, {n / 7 for n in range(199)} | {77.0}),
    ],
)
def test_a_journal_is_of_a_study_with_the_same_values(values: set[Any], others: set[Any], tmp_path: Path) -> None:
    def opened(values: set[Any]) -> Generator:
        variables = {"v": DiscreteVariable(values=values), "x": [0.0, 1.0]}
        return Generator(made(variables=variables), journal=tmp_path / "study.jsonl", seed=0)

    generator = opened(values)
    generator.ingest([point | {"f": point["x"]} for point in generator.suggest(3)])
    best = generator.best
    generator.finalize()
    with pytest.raises(InvalidInput, match="other settings:\n  parameter v"):
        opened(others)
    again = opened(values)
    assert again.best == best
    again.finalize()


def test_it_goes_to_another_process() -> None:
    generator = Generator(made(), seed=0)
    generator.ingest([point | {"f": cost(point)} for point in generator.suggest(4)])
    twin = pickle.loads(pickle.dumps(generator))
    assert twin.suggest(3) == generator.suggest(3)


def simulated(point: dict[str, Any]) -> dict[str, float]:
    return {"f": cost(point) + point["alpha"]}


def test_libensemble_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On threads of this process: a generator on the manager, two workers that evaluate."""
    pytest.importorskip("libensemble")
    from libensemble import Ensemble
    from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
    from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

    monkeypatch.chdir(tmp_path)  # it leaves files where it runs
    vocs = made(variables={"x": [-1.0, 2.0], "n": {1, 2, 4, 8}}, constants={"alpha": 1.0})
    generator = Generator(vocs, seed=1)
    ensemble = Ensemble(
        libE_specs=LibeSpecs(comms="threads", nworkers=2, gen_on_manager=True, disable_log_files=True),
        gen_specs=GenSpecs(generator=generator, vocs=vocs, initial_batch_size=6, batch_size=2),
        sim_specs=SimSpecs(simulator=simulated, vocs=vocs),
        alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
        exit_criteria=ExitCriteria(sim_max=24),
    )
    table, _, flag = ensemble.run()
    assert flag == 0
    ended = table[table["sim_ended"]]
    assert len(ended) == 24
    assert ended["f"].min() < 1.01
    assert generator.optimizer.counts.done >= 22


def test_objectives_are_traded_and_constraints_kept() -> None:
    vocs = VOCS(
        variables={"x": [0.0, 1.0], "y": [0.0, 1.0]},
        objectives={"f": "MINIMIZE", "g": "MAXIMIZE"},
        constraints={"c": ["GREATER_THAN", 0.3], "d": ["BOUNDS", -1.0, 1.5], "e": ["LESS_THAN", 0.9]},
    )
    generator = Generator(vocs, seed=1)
    for _ in range(5):
        points = generator.suggest(4)
        generator.ingest([point | several(point["x"], point["y"]) for point in points])
    front = generator.optimizer.front
    assert len(front) >= 5
    assert all(point.params["x"] >= 0.3 for point in front)
    with pytest.raises(ValueError, match="needs a single objective"):
        generator.best  # noqa: B018


def test_one_objective_within_constraints_has_a_best_result_and_none_before() -> None:
    vocs = VOCS(
        variables={"x": [0.0, 1.0], "y": [0.0, 1.0]},
        objectives={"f": "MINIMIZE"},
        constraints={"c": ["GREATER_THAN", 0.3]},
    )
    generator = Generator(vocs, seed=1)
    with pytest.raises(ValueError, match="a result must have c"):
        generator.ingest([generator.suggest(1)[0] | {"f": 1.0}])
    generator.ingest([{"x": 0.1, "y": 0.5, "f": 0.0, "c": 0.1}])
    assert generator.best is None
    generator.ingest([{"x": 0.5, "y": 0.5, "f": 2.0, "c": 0.5}, {"x": 0.6, "y": 0.5, "f": None, "c": 0.6}])
    assert generator.best == ({"x": 0.5, "y": 0.5}, 2.0)
    assert generator.optimizer.counts.failed == 1


def several(x: float, y: float) -> dict[str, float]:
    return {"f": x**2 + y, "g": -((x - 1.0) ** 2) - y, "c": x, "d": y, "e": x * y}


@pytest.mark.parametrize(("goal", "kind", "best"), [("MAXIMIZE", "LESS_THAN", 4), ("MINIMIZE", "GREATER_THAN", 6)])
def test_a_value_at_the_end_of_a_strict_constraint_breaks_it(goal: str, kind: str, best: int) -> None:
    vocs = made(goal, {"n": set(range(1, 9))}, constraints={"used": [kind, 5]})
    generator = Generator(vocs, seed=0)
    generator.ingest([p | {"f": float(p["n"]), "used": float(p["n"])} for p in generator.suggest(8)])
    assert generator.best is not None
    assert generator.best[0] == {"n": best}
    assert not vocs.constraints["used"].check(5.0)
