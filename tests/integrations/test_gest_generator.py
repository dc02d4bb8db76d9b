"""A generator by the gest-api standard: what it takes from a VOCS, what it refuses, and a run of libEnsemble."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput

pytest.importorskip("gest_api")

from gest_api.generator import Generator as Standard
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable, DiscreteVariable

from believer.integrations.gest import Generator

MIXED: dict[str, Any] = {"x": [-1.0, 2.0], "n": {1, 2, 4, 8}, "kind": {"a", "b", "c"}}


def made(goal: str = "MINIMIZE", variables: Any = None, **parts: Any) -> VOCS:
    return VOCS(variables=dict(MIXED if variables is None else variables), objectives={"f": goal}, **parts)


def cost(point: dict[str, Any]) -> float:
    penalty = 0.0 if point.get("kind", "b") == "b" else 0.5
    return float((point["x"] - 0.7) ** 2 + 0.1 * (point.get("n", 4) - 4) ** 2 + penalty)


def test_it_is_a_generator_of_the_standard_with_ids() -> None:
    generator = Generator(made(constants={"alpha": 0.5}, observables=["seen"]), batch_size=3)
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
    points = Generator(made(variables=variables)).suggest(4)
    assert sorted(point["n"] for point in points) == [1, 2, 3, 4]


def test_any_objects_can_be_the_values_of_a_discrete_variable() -> None:
    values = {True, None, (1, 2), "a"}
    generator = Generator(made(variables={"v": DiscreteVariable(values=values)}))
    points = generator.suggest(4)
    assert {point["v"] for point in points} == values
    generator.ingest([{"v": point["v"], "f": 1.0} for point in points])
    assert generator.optimizer.pending == ()


@pytest.mark.parametrize(
    ("vocs", "says"),
    [
        (VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "MINIMIZE", "g": "MAXIMIZE"}), "not yet several.*f, g"),
        (VOCS(variables={"x": [0.0, 1.0]}), "one objective.*none"),
        (VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "EXPLORE"}), "'f' is ExploreObjective"),
        (made(constraints={"c": ["LESS_THAN", 0.0]}), "constraints.*yet.*c"),
        (made(variables={"x": [0.0, 1.0], "t": ContextualVariable()}), "'t' is ContextualVariable"),
        (made(variables={"x": ContinuousVariable(domain=[0.0, 1.0], dtype=(float, (3,)))}), "'x' has the dtype"),
        (made(variables={}), "at least one"),
    ],
)
def test_what_is_not_there_yet_is_refused_by_name(vocs: VOCS, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Generator(vocs)


def test_results_come_in_any_order_and_as_numpy_has_them() -> None:
    generator = Generator(made())
    points = generator.suggest(4)
    for point in (points[2], points[0]):
        row = {name: np.array([value])[0] for name, value in point.items()}
        generator.ingest([row | {"f": np.float32(1.5), "sim_id": 7}])
    assert sorted(trial.id for trial in generator.optimizer.pending) == [1, 3]
    assert {outcome.value for outcome in generator.optimizer.outcomes.values()} == {1.5}


def test_results_from_elsewhere_have_no_id() -> None:
    generator = Generator(made())
    generator.ingest([{"x": 0.5, "n": 8, "kind": "a", "f": 2.0}])
    (point,) = generator.suggest(1)
    del point["_id"]
    generator.ingest([point | {"f": 3.0}])  # lost its id on the way, and is the pending one
    assert generator.optimizer.pending == ()
    assert sorted(outcome.value for outcome in generator.optimizer.outcomes.values()) == [2.0, 3.0]


@pytest.mark.parametrize("value", [math.nan, math.inf, None, np.float64("nan")])
def test_no_number_is_a_failed_evaluation(value: Any) -> None:
    generator = Generator(made())
    generator.ingest([generator.suggest(1)[0] | {"f": value}, {"x": 0.5, "n": 8, "kind": "a", "f": value}])
    assert generator.optimizer.counts.failed == 2
    assert len(generator.suggest(2)) == 2


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"_id": 99, "f": 1.0}, "got 99"),
        ({"_id": 0, "f": 1.0}, "no result yet; got 0"),
        ({"_id": 1, "g": 1.0}, "the objective 'f'"),
        ({"_id": 1, "f": "good"}, "number"),
        ({"f": 1.0, "x": 0.5}, "missing: n, kind"),
        ({"f": 1.0, "x": 0.5, "n": 3, "kind": "a"}, "'n'"),
        ({"f": 1.0, "x": 5.0, "n": 4, "kind": "a"}, "'x'"),
    ],
)
def test_a_wrong_result_is_refused_with_all_that_came_beside_it(wrong: dict[str, Any], says: str) -> None:
    generator = Generator(made())
    first, *others = generator.suggest(3)
    generator.ingest([first | {"f": 0.0}])
    with pytest.raises(ValueError, match=says):
        generator.ingest([others[1] | {"f": 1.0}, wrong])
    assert len(generator.optimizer.pending) == 2


def test_a_finite_space_gives_exactly_what_is_asked_or_says_how_much_is_left() -> None:
    generator = Generator(made(variables={"n": {1, 2, 3}}))
    generator.suggest(2)
    with pytest.raises(InvalidInput, match="1 points of this finite space"):
        generator.suggest(2)
    assert len(generator.suggest(1)) == 1


def test_a_journal_goes_on_with_ids_that_are_still_out(tmp_path: Path) -> None:
    generator = Generator(made(), journal=tmp_path / "study.jsonl")
    points = generator.suggest(3)
    generator.finalize()
    again = Generator(made(), journal=tmp_path / "study.jsonl")
    again.ingest([point | {"f": 1.0} for point in points])
    assert again.optimizer.counts.done == 3
    again.finalize()


def test_it_goes_to_another_process() -> None:
    generator = Generator(made())
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
