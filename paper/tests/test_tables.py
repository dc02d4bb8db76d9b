from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paper_cells import loop_cell, made_up, results, sdd_cell, with_result, without

from believer.experiments import Cell, FinishedCell
from believer.problems import hartmann6
from believer.surrogates.data import Data
from believer_paper import plan
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.numbers import printed
from believer_paper.results import PRESETS, Results, foreign_of
from believer_paper.setup.surrogates import surrogate_of
from believer_paper.tables import costs as tables_cost
from believer_paper.tables import diagnoses as tables_sdd
from believer_paper.tables import loops as tables_loops
from believer_paper.tables import tables
from believer_paper.tables import texts as tables_texts
from believer_paper.tables.layout import PaperTable

TEXT = [104, 106, 111, 112]
MEMBERS = ["GP", "MQ-RBF", "NN Ensemble", "Random Forest"]
LIES = ["CL-Min", "Kriging Believer"]
LIPSCHITZ = tables_loops.NAMES["lp_lipschitz"]
ROWS: dict[int, list[tuple[Any, ...]]] = {
    2: [(name, q) for q in (2, 3) for name in MEMBERS],
    3: [("GP (condition)",), ("MQ-RBF (re-solve)",), ("NN Ensemble (retrain)",), ("Random Forest (rebuild)",)],
    4: [
        *((name, q) for q in (2, 3) for name in (*LIES, "Local Penalization", LIPSCHITZ, "Random Batch")),
        ("Sequential", 1),
    ],
    5: [(name,) for name in (*LIES, "q-EI")],
    6: [(name,) for name in (*LIES, "Random Batch")],
    7: [
        *(("GP (condition)",), ("MQ-RBF (re-solve)",), ("NN (no retrain)",)),
        *(("NN (retrained)",), ("RF (no rebuild)",), ("RF (rebuilt)",)),
    ],
    8: [(name,) for name in MEMBERS],
    9: [(name,) for name in MEMBERS],
    10: [(name,) for name in (*LIES, "q-EI")],
    11: [(name,) for name in MEMBERS],
}
"""The rows of the paper's tables, in its order."""

Maker = Callable[[Results], PaperTable | None]


@pytest.fixture(scope="module")
def every() -> Results:
    return results()


@pytest.fixture(scope="module")
def found(every: Results) -> dict[int, PaperTable]:
    return tables(every)


def lines(table: PaperTable | None) -> list[dict[str, Any]]:
    assert table is not None
    return [dict(zip(table.data.columns, row, strict=True)) for row in table.data.rows]


def line(table: PaperTable | None, item: str, preset: str = "printed", **labels: Any) -> dict[str, Any]:
    """The one line of an item and a preset in the row with these labels."""
    wanted = {"item": item, "preset": preset, **labels}
    (found,) = (one for one in lines(table) if all(one[name] == value for name, value in wanted.items()))
    return found


def shift(result: dict[str, Any]) -> None:
    result["values"] = [value + 2.0 for value in result["values"]]


def scaled(points: list[list[float]], by: float) -> list[list[float]]:
    return [[0.5 + by * (u - 0.5) for u in point] for point in points]


def test_all_tables_are_there_and_what_only_the_text_prints(found: dict[int, PaperTable]) -> None:
    assert sorted(found) == [*range(1, 14), 100, *TEXT]
    assert [found[n].name for n in (4, 13, 104)] == ["table04", "table13", "exp04_text"]
    assert [found[n].label for n in (4, 100, 112)] == ["Table 4", "Unstated", "Exp 12 (text)"]
    for number, table in found.items():
        assert set(table.experiments) <= set(plan.EXPERIMENTS)
        assert {row["preset"] for row in lines(table)} == ({"printed"} if number == 100 else set(PRESETS))


def test_rows_are_the_papers_in_its_order(found: dict[int, PaperTable]) -> None:
    for number, labels in ROWS.items():
        width = len(labels[0])
        assert [row[:width] for row in found[number].table.rows] == labels, number
    assert list(dict.fromkeys(row[0] for row in found[1].table.rows)) == list(tables_sdd.READINGS)
    assert [row[1:3] for row in found[12].table.rows] == [
        (parameter, words) for (_, parameter), words in printed.TABLE_12.items()
    ]
    assert len(found[13].table.rows) == len(printed.TABLE_13) + 5  # two totals, and three experiments of ours


def test_every_printed_number_stands_in_its_place(every: Results) -> None:
    four = tables_loops.table_4(every)
    names = {"hartmann6": "Hartmann-6D", "ackley8": "Ackley-8D"}
    for (strategy, q, problem), paper in printed.TABLE_4.items():
        found = line(four, names[problem], strategy=tables_loops.NAMES[strategy], q=q)
        assert (found["paper"], found["paper_std"]) == (paper.mean, paper.std)
    eleven = tables_sdd.table_11(every)
    for surrogate, distances in printed.TABLE_11.items():
        name = tables_sdd.NAMES[surrogate]
        assert line(eleven, "min dist", surrogate=name)["paper"] == distances.minimum
        assert line(eleven, "mean dist", surrogate=name)["paper"] == distances.mean
    five = tables_loops.table_5(every)
    assert line(five, "time/batch (CPU s)", strategy="q-EI")["paper"] == 0.09
    assert line(five, "diversity, over batches", strategy="CL-Min")["paper_std"] == 0.35
    assert (
        line(tables_cost.table_3(every), "time/step (CPU s)", surrogate="MQ-RBF (re-solve)")["paper_is_bound"] is True
    )


def test_a_number_is_the_mean_and_std_over_the_seeds_of_its_cells(every: Results) -> None:
    finals = [min(one.result["values"]) for one in _kb(every)]
    found = line(tables_loops.table_4(every), "Hartmann-6D", strategy="Kriging Believer", q=3)
    assert found["n"] == 20
    assert found["mean"] == pytest.approx(np.mean(finals), rel=1e-14)
    assert found["std"] == pytest.approx(np.std(finals, ddof=1), rel=1e-12)
    assert found["low"] < found["median"] < found["high"]
    assert found["difference"] == pytest.approx(np.mean(finals) + 2.83)
    assert found["within"] is True
    assert found["standard_error"] == pytest.approx(np.hypot(found["std"], 0.41) / np.sqrt(20))


def _kb(every: Results) -> list[FinishedCell]:
    where = {"preset": "printed", "problem": "hartmann6", "strategy": "kb", "q": 3, "noise": 0.0, "options": {}}
    found = every.of("loop", **where)
    assert len(found) == 20
    return found


def test_altered_loops_change_their_number_and_its_flag_and_no_other(every: Results) -> None:
    before = tables_loops.table_4(every)
    where = {"preset": "printed", "problem": "hartmann6", "strategy": "kb", "q": 3, "options": {}, "noise": 0.0}
    after = tables_loops.table_4(with_result(every, shift, "loop", **where))
    old, new = (line(t, "Hartmann-6D", strategy="Kriging Believer", q=3) for t in (before, after))
    assert new["mean"] == pytest.approx(old["mean"] + 2.0)
    assert (old["within"], new["within"]) == (True, False)
    changed = [a["strategy"] for a, b in zip(lines(before), lines(after), strict=True) if a != b]
    assert changed == ["Kriging Believer"]
    assert before is not None
    assert after is not None
    for table, found in ((before, old), (after, new)):
        assert f", {abs(found['difference']) / found['standard_error']:.1f} s.e." in str(table.table.rows[6][4])


def test_altered_points_change_distances_answer_and_verdict(every: Results) -> None:
    def collapse(result: dict[str, Any]) -> None:
        result["fixed"]["points"] = scaled(result["fixed"]["points"], 0.0)

    where = {"preset": "ours", "surrogate": "gp", "q": 3, "lie": "cl_min", "acquisition": "ei", "problem": "hartmann6"}
    altered = with_result(every, collapse, "sdd", **where)
    before, after = tables_sdd.table_2(every), tables_sdd.table_2(altered)
    labels: dict[str, Any] = {"preset": "ours", "surrogate": "GP", "q": 3}
    assert line(before, "min dist", **labels)["mean"] > 0.2
    assert line(after, "min dist", **labels)["mean"] == 0.0
    assert line(before, "diverse?", **labels)["within"] is True
    assert line(after, "diverse?", **labels)["within"] is False
    assert line(after, "diverse?", **labels)["words"] == "no"
    assert "the optimizer could not show it (5/5)" in line(after, "diverse?", **labels)["words_from"]
    assert line(tables_sdd.table_9(altered), "seeds diverse", preset="ours", surrogate="GP")["words"] == "0/5"
    assert line(tables_sdd.table_7(altered), "mean dist", preset="ours", surrogate="GP (condition)")["mean"] == 0.0
    assert line(tables_sdd.table_8(altered), "EI min dist", preset="ours", surrogate="GP")["mean"] == 0.0
    assert line(tables_sdd.table_8(altered), "UCB min dist", preset="ours", surrogate="GP")["mean"] > 0.2


def test_one_data_set_of_the_paper_is_compared_by_our_spread_over_data_sets_with_the_first_beside(
    every: Results,
) -> None:
    found = line(tables_sdd.table_2(every), "min dist", surrogate="MQ-RBF", q=3)
    assert found["paper_std"] is None
    assert found["standard_error"] == pytest.approx(found["std"] * np.sqrt(1.0 + 1.0 / found["n"]))
    assert found["std"] > 0.0
    assert (
        found["first"]
        == every.measurements("printed", "mq_rbf", q=3, lie="cl_min", acquisition="ei")[0].fixed.min_distance
    )


def test_diverse_is_the_papers_rule_in_the_papers_units() -> None:
    # 0.0005 of the cube is 0.01 of Levy's box, which the paper would call diverse, and half of what it needs elsewhere.
    cells = []
    for surrogate, update in AS_PRINTED:
        for settings in ({"problem": "levy10", "q": 10}, {"q": 2}, {"q": 3}):
            cells.append(sdd_cell("ours", surrogate, update, 0, gap=0.0005, **settings))
    found = Results(tuple(cells))
    assert line(tables_sdd.table_11(found), "diverse?", "ours", surrogate="GP")["words"] == "yes"
    assert line(tables_sdd.table_2(found), "diverse?", "ours", surrogate="GP", q=3)["words"] == "no"


def test_distances_on_levy_are_of_the_box_and_twenty_times_those_in_the_cube(every: Results) -> None:
    eleven = tables_sdd.table_11(every)
    box, cube = (line(eleven, item, surrogate="MQ-RBF")["mean"] for item in ("mean dist", "cube mean dist"))
    assert box == pytest.approx(20.0 * cube)
    assert line(eleven, "cube mean dist", surrogate="MQ-RBF")["paper"] is None


def test_compatibility_follows_the_share_of_data_sets_that_respond_and_are_diverse(every: Results) -> None:
    def deaf(result: dict[str, Any]) -> None:
        for part in ("fixed", "free"):
            result[part]["responses"] = [0.0, 0.0]

    labels = {"surrogate": "Gaussian Process"}
    answers = []
    for seeds in (0, 2, 9):  # of ten, told one of both lies: the weaker decides
        altered = every
        for seed in range(seeds):
            altered = with_result(altered, deaf, "sdd", preset="printed", surrogate="gp", q=3, lie="kb", seed=seed)
        table = tables_sdd.table_1(altered)
        compatible = line(table, "CL/KB compatible", **labels)
        answers.append((compatible, line(table, "efficient conditioning", **labels)))
    assert [(one["words"], one["within"]) for one, _ in answers] == [("yes", True), ("limited", False), ("no", False)]
    assert [one["words"] for _, one in answers] == ["yes", "partial", "no"]
    assert [one["words_from"] for _, one in answers][1:] == [f"responds CL-Min 10/10, KB {n}/10" for n in (8, 1)]
    assert answers[1][0]["words_from"].startswith("CL-Min 10/10, KB 8/10 (95 % of the weaker: ")
    retrained = {"surrogate": "Neural Network", "read as": "retrained"}
    assert line(tables_sdd.table_1(every), "CL/KB compatible", **retrained)["words"] == "yes"
    found = line(tables_sdd.table_1(every), "efficient conditioning", **retrained)
    assert (found["words"], found["paper_words"], found["within"]) == ("no", "no", None)  # no closed form
    assert found["words_from"].startswith("by definition; responds ")


def test_the_lies_of_table_1_are_told_about_the_same_data_sets(every: Results) -> None:
    found = without(every, "sdd", preset="printed", surrogate="gp", q=3, lie="kb", acquisition="ei")
    kb = [sdd_cell("printed", "gp", "condition", seed, lie="kb") for seed in (3, 19, 77)]  # CL-min has the first 20
    table = tables_sdd.table_1(Results((*found.finished, *kb)))
    compatible = line(table, "CL/KB compatible", surrogate="Gaussian Process")
    assert compatible["words_from"].startswith("CL-Min 2/2, KB 2/2 ")


COMMON: list[tuple[Maker, dict[str, Any]]] = [
    (tables_sdd.table_2, {"surrogate": "mq_rbf", "q": 2}),
    (tables_sdd.table_7, {"surrogate": "forest", "update": "refit", "lie": "cl_min"}),
    (tables_sdd.table_8, {"surrogate": "neural", "update": "none", "acquisition": "ucb"}),
    (tables_sdd.table_9, {"surrogate": "gp", "q": 3, "lie": "cl_min", "acquisition": "ei"}),
    (tables_sdd.table_11, {"surrogate": "forest", "problem": "levy10"}),
]


@pytest.mark.parametrize(("make", "settings"), COMMON, ids=lambda value: getattr(value, "__name__", None))
def test_means_of_a_table_are_over_the_data_sets_that_all_of_its_cells_have(
    every: Results, make: Maker, settings: dict[str, Any]
) -> None:
    late = {one.cell for one in every.of("sdd", preset="ours", **settings) if one.cell.seed >= 1}
    found = make(Results(tuple(one for one in every.finished if one.cell not in late)))
    assert {one["n"] for one in lines(found) if one["preset"] == "ours" and one["n"] is not None} == {1}
    assert found is not None
    assert make is tables_sdd.table_9 or re.search(
        r"all cells of the table have \(printed \d+, ours 1\)", found.notes[0]
    )


def test_table_9_has_the_papers_seeds_and_all_beside(every: Results) -> None:
    table = tables_sdd.table_9(every)
    values = [m.fixed.min_distance for m in tables_sdd.measured(every, "gp", "condition")["ours"]]
    assert len(values) == 20
    assert line(table, "min dist", "ours", surrogate="GP")["mean"] == pytest.approx(np.mean(values[:5]))
    assert line(table, "min dist, all", "ours", surrogate="GP")["mean"] == pytest.approx(np.mean(values))


def test_a_reading_of_table_1_needs_both_lies(every: Results) -> None:
    table = tables_sdd.table_1(without(every, "sdd", preset="ours", surrogate="svr", lie="kb"))
    found = {(one["preset"], one["surrogate"]) for one in lines(table)}
    assert ("printed", "SVM Regression") in found
    assert ("ours", "SVM Regression") not in found
    assert tables_sdd.table_1(without(every, "sdd", lie="kb")) is None


def test_diversity_has_its_spread_over_seeds_and_over_batches() -> None:
    cells = [
        loop_cell("ours", "hartmann6", strategy, 3, seed, diversity=0.5 + 0.1 * seed)
        for strategy in ("cl_min", "kb", "qei")
        for seed in range(3)
    ]
    cells[0].result["mean_distance"][0] = 0.8
    cells[0].result["mean_distance"][1] = None  # a batch of one
    five = tables_loops.table_5(Results(tuple(cells)))
    seeds, batches = (line(five, f"diversity, over {x}", "ours", strategy="CL-Min") for x in ("seeds", "batches"))
    assert (seeds["n"], batches["n"]) == (3, 3 * 13 - 1)
    assert seeds["mean"] == pytest.approx((0.525 + 0.6 + 0.7) / 3)
    values = [0.8, *[0.5] * 11, *[0.6] * 13, *[0.7] * 13]
    assert batches["mean"] == pytest.approx(np.mean(values))
    assert batches["std"] == pytest.approx(np.std(values, ddof=1))
    assert batches["low"] is None


def test_under_noise_the_value_told_and_the_true_value_at_the_same_point_stand_apart() -> None:
    cells = [loop_cell("ours", "hartmann6", strategy, 3, 0, noise=0.1) for strategy in ("cl_min", "kb", "random")]
    for one in cells:
        one.result["values"][20], one.result["truth"][20] = -9.0, -2.5
        one.result["truth"][30] = -8.0
    six = tables_loops.table_6(Results(tuple(cells)))
    assert line(six, "final best", "ours", strategy="CL-Min")["mean"] == -9.0
    assert line(six, "its true value", "ours", strategy="CL-Min")["mean"] == -2.5
    assert line(six, "its true value", "ours", strategy="CL-Min")["paper"] == -2.95


def test_loop_times_are_sums_of_the_first_five_seeds_with_other_libraries_apart(every: Results) -> None:
    def slower(result: dict[str, Any]) -> None:
        result["cpu"] = [100.0] * len(result["batches"])

    where = {"preset": "printed", "problem": "hartmann6", "strategy": "qei", "q": 3}
    found = line(tables_loops.table_10(every), "total loop time (CPU s)", strategy="q-EI")
    first = every.of("loop", **where)[:5]
    assert found["n"] == 5
    assert found["mean"] == pytest.approx(np.mean([sum(one.result["cpu"]) for one in first]))
    late = tables_loops.table_10(with_result(every, slower, "loop", seed=5, **where))
    assert line(late, "total loop time (CPU s)", strategy="q-EI") == found
    early = tables_loops.table_10(with_result(every, slower, "loop", seed=4, **where))
    assert line(early, "total loop time (CPU s)", strategy="q-EI")["mean"] > 100.0
    wall = line(tables_loops.table_10(every), "total loop time (wall s)", strategy="q-EI")
    assert wall["mean"] == pytest.approx(np.mean([sum(one.result["seconds"]) for one in first]))
    assert (found["paper"], wall["paper"]) == (2.91, None)
    foreign = line(tables_loops.table_10(every), "CPU within others (s)", strategy="q-EI")
    assert foreign["mean"] == pytest.approx(np.mean([one.result["foreign"] for one in first]))


def test_other_load_lengthens_the_wall_clock_alone_and_what_is_compared_is_the_processors(every: Results) -> None:
    def load(result: dict[str, Any]) -> None:
        result["seconds"] = [10.0 * s for s in result["seconds"]]

    where = {"preset": "ours", "problem": "hartmann6", "strategy": "kb", "q": 3, "noise": 0.0, "options": {}}
    loaded = with_result(every, load, "loop", **where)
    for make, name in ((tables_loops.table_5, "time/batch"), (tables_loops.table_10, "total loop time")):
        cpu, wall = (
            [line(make(some), f"{name} ({clock} s)", "ours", strategy="Kriging Believer") for some in (every, loaded)]
            for clock in ("CPU", "wall")
        )
        assert cpu[0] == cpu[1]
        assert cpu[0]["paper"] is not None
        assert wall[1]["mean"] == pytest.approx(10.0 * wall[0]["mean"])
        assert wall[0]["paper"] is None
        table = make(every)
        assert table is not None
        assert any("do not depend on what else ran" in note for note in table.notes)


def test_local_penalization_by_a_lipschitz_constant_is_ours_only_and_compared_with_nothing(every: Results) -> None:
    finals = [min(one.result["values"]) for one in every.of("loop", problem="ackley8", strategy="lp_lipschitz", q=2)]
    found = line(tables_loops.table_4(every), "Ackley-8D", "ours", strategy=LIPSCHITZ, q=2)
    assert found["mean"] == pytest.approx(np.mean(finals))
    assert found["paper"] is None
    assert {one["preset"] for one in lines(tables_loops.table_4(every))} == set(PRESETS)
    alone = tables_loops.table_4(without(every, "loop", strategy="lp_lipschitz"))
    assert {one["preset"] for one in lines(alone)} == set(PRESETS)
    assert LIPSCHITZ not in {one["strategy"] for one in lines(alone)}


def test_table_4_tells_how_many_starts_of_the_printed_search_moved(every: Results) -> None:
    def still(result: dict[str, Any]) -> None:
        result["moved"] = 0.25

    where = {"preset": "printed", "problem": "ackley8", "strategy": "lp", "q": 3}
    table = tables_loops.table_4(with_result(every, still, "loop", **where))
    assert table is not None
    (note,) = (note for note in table.notes if "starts that moved" in note)
    assert "Local Penalization on Ackley-8D, q=3: 25%" in note
    assert note.count(": 40%") == 7
    alone = tables_loops.table_4(results(["ours"], seeds=2))
    assert alone is not None
    assert not any("starts that moved" in note for note in alone.notes)


def test_cells_of_exp_10_and_12_are_those_with_the_options_that_the_plan_gives_them(every: Results) -> None:
    where = {"preset": "printed", "problem": "hartmann6", "strategy": "kb", "q": 3}
    altered = with_result(every, shift, "loop", options={}, noise=0.0, **where)
    assert lines(tables_loops.table_5(altered)) == lines(tables_loops.table_5(every))
    altered = with_result(every, shift, "loop", options={"process": "botorch"}, **where)
    assert lines(tables_loops.table_5(altered)) != lines(tables_loops.table_5(every))
    assert lines(tables_loops.table_4(altered)) == lines(tables_loops.table_4(every))
    altered = with_result(every, shift, "loop", problem="levy10", strategy="sequential", budget=50)
    assert lines(tables_texts.exp12_text(altered)) == lines(tables_texts.exp12_text(every))


def test_shorter_loops_of_another_run_are_not_mixed_in(every: Results) -> None:
    short = [loop_cell("ours", "hartmann6", "kb", 3, seed, budget=18, final=50.0) for seed in range(2)]
    mixed = Results((*every.finished, *short))
    assert lines(tables_loops.table_4(mixed)) == lines(tables_loops.table_4(every))


def test_ratios_are_to_the_networks_of_the_same_repetition(every: Results) -> None:
    def slow(result: dict[str, Any]) -> None:
        result["gp"]["seconds"] = [1.0, 0.5, 90.0]
        result["neural"]["seconds"] = [7.0, 6.0, 8.0]

    table = tables_cost.table_3(with_result(every, slow, "step", preset="ours"))
    label = {"preset": "ours", "surrogate": "GP (condition)"}
    assert line(table, "time/step (CPU s)", **label)["mean"] == 1.0
    assert line(table, "times faster than NN retrain", **label)["mean"] == 7.0
    assert line(table, "times faster than NN retrain", **label)["within"] is False
    assert line(table, "times faster than NN retrain", preset="ours", surrogate="NN Ensemble (retrain)")["mean"] == 1.0


def test_steps_are_compared_by_processor_time_with_the_wall_clock_beside(every: Results) -> None:
    def load(result: dict[str, Any]) -> None:
        result["gp"]["wall_seconds"] = [5.0, 7.0, 6.0]

    before, after = (tables_cost.table_3(some) for some in (every, with_result(every, load, "step", preset="ours")))
    label = {"preset": "ours", "surrogate": "GP (condition)"}
    for item in ("time/step (CPU s)", "times faster than NN retrain"):
        assert line(before, item, **label) == line(after, item, **label)
    assert line(after, "time/step (wall s)", **label)["mean"] == 6.0
    assert after is not None
    assert any(note.startswith("CPU time (CPU s) is compared") for note in after.notes)


def test_the_twin_is_said_of_the_loops_of_exp_12_alone(every: Results) -> None:
    table = tables_cost.table_12(every)
    assert table is not None
    assert "in the diagnostic of Exp 12; BoTorch's" in table.notes[0]
    assert "in the loops of Exp 12, hyperparameters found by this library's search" in table.notes[0]
    twins = {
        c.experiment for c in plan.cells(["exp12"], ["printed"]) if c.settings.get("options") == {"process": "twin"}
    }
    assert twins == {"loop"}


def test_settings_are_told_for_every_parameter_of_the_paper_and_presets_differ_where_they_do() -> None:
    as_printed, ours = tables_cost.settings("printed"), tables_cost.settings("ours")
    assert as_printed.keys() == ours.keys() == printed.TABLE_12.keys()
    differ = {key for key in ours if as_printed[key] != ours[key]}
    assert ("gp", "lengthscale") in differ
    assert ("acquisition", "function") in differ
    assert ("forest", "trees") not in differ
    assert "bounds [0.001, 1000]" in as_printed["gp", "signal variance"]
    assert as_printed["gp", "optimizer restarts"] == "5"


def test_the_printed_process_is_what_the_settings_say() -> None:
    pytest.importorskip("sklearn")
    space, rng = hartmann6().space, np.random.default_rng(0)
    X = rng.random((8, 6))
    model: Any = surrogate_of("printed", "gp", space).fit(Data(X, X.sum(axis=1)), rng, None)
    assert model.inner.hyper.kernel == "matern52"
    assert len(model.lengthscales) == 6
    assert model.renormalize is True
    assert f"{model.inner.hyper.noise:g} (fixed)" == tables_cost.settings("printed")["gp", "noise variance"]


def test_runtimes_count_every_cell_once_for_the_first_experiment_that_plans_it(every: Results) -> None:
    pictures = [
        FinishedCell(cell, {}, {"seconds": 0.5, "cpu_seconds": 0.25})
        for cell in plan.cells(["exp1", "exp2", "overview"], PRESETS)
    ]
    table = tables_cost.table_13(Results((*every.finished, *pictures)))
    for preset in PRESETS:
        mine = [one for one in (*every.finished, *pictures) if one.cell.settings["preset"] == preset]
        cpu, wall = (sum(one.provenance[name] for one in mine) for name in ("cpu_seconds", "seconds"))
        assert line(table, "CPU (s)", preset, experiment="Total")["mean"] == pytest.approx(cpu)
        assert line(table, "wall (s)", preset, experiment="Total")["mean"] == pytest.approx(wall)
        foreign = sum(foreign_of(one) for one in mine)
        assert line(table, "CPU within others (s)", preset, experiment="Total")["mean"] == pytest.approx(foreign)
        rest = line(table, "CPU without others (s)", preset, experiment="Total")["mean"]
        assert rest == pytest.approx(cpu - foreign)
    firsts = {name: set(plan.cells([name], ["printed"])) for name in ("exp3", "exp4", "exp7a", "exp7b", "exp8", "exp9")}
    sevens = firsts["exp7a"] | firsts["exp7b"]
    assert line(table, "CPU (s)", experiment="Exp 3")["mean"] == 2.0 * len(firsts["exp3"])
    assert line(table, "CPU (s)", experiment="Exp 7a, 7b")["mean"] == 2.0 * len(sevens - firsts["exp3"])
    assert line(table, "CPU (s)", experiment="Exp 8")["mean"] == 2.0 * len(firsts["exp8"] - firsts["exp3"] - sevens)
    assert line(table, "CPU (s)", experiment="Exp 9")["mean"] == 2.0 * len(firsts["exp9"] - firsts["exp4"])
    assert line(table, "CPU (s)", experiment="Exp 1, 2")["mean"] == 0.5
    assert line(table, "CPU (s)", experiment="Exp 1, 2")["within"] is True
    assert line(table, "CPU (s)", experiment="Total of these")["paper"] == 128 * 60.0
    assert not [one for one in lines(tables_cost.table_13(every)) if one["experiment"] == "Total of these"]


def test_a_cell_that_did_not_keep_processor_time_counts_by_the_wall_clock() -> None:
    cell = plan.cells(["exp1"], ["ours"])[0]
    assert tables_cost.clocks(FinishedCell(cell, {}, {"seconds": 3.0})).tolist() == [3.0, 3.0, 0.0]
    kept = FinishedCell(cell, {"foreign": 0.5}, {"seconds": 3.0, "cpu_seconds": 0.0})
    assert tables_cost.clocks(kept).tolist() == [0.0, 3.0, 0.5]


def test_a_test_flips_with_its_data(every: Results) -> None:
    labels = {"problem": "Hartmann-6D", "pair": "CL-Min vs. Random Batch"}
    table = tables_texts.exp4_text(every)
    before, p = line(table, "differ?", **labels), line(table, "p", **labels)["mean"]
    assert before["words_from"].startswith(f"p (Holm) {9.0 * p:.3g}, 20 pairs")  # the least of nine
    altered = every
    for seed in range(0, 20, 2):
        where = {"preset": "printed", "problem": "hartmann6", "strategy": "cl_min", "q": 3, "options": {}, "noise": 0.0}
        altered = with_result(altered, shift, "loop", seed=seed, **where)
    after = line(tables_texts.exp4_text(altered), "differ?", **labels)
    assert (before["words"], before["within"]) == ("yes", True)
    assert (after["words"], after["within"]) == ("no", False)
    noisy = tables_texts.exp11_text(every)
    assert {one["words"] for one in lines(noisy) if one["item"] == "differ?"} == {"yes"}


def test_under_noise_values_told_and_true_values_are_tested_apart(every: Results) -> None:
    def mirage(result: dict[str, Any]) -> None:
        result["truth"] = [5.0] * len(result["truth"])

    altered = every
    for seed in range(0, 20, 2):
        altered = with_result(altered, mirage, "loop", preset="ours", strategy="cl_min", noise=0.1, seed=seed)
    table = tables_texts.exp11_text(altered)
    pair = "CL-Min vs. Random Batch"
    told = line(table, "differ?", "ours", problem="Hartmann-6D, observed value", pair=pair)
    true = line(table, "differ?", "ours", problem="Hartmann-6D, true value", pair=pair)
    assert (told["words"], told["within"]) == ("yes", True)
    assert (true["words"], true["within"]) == ("no", False)


def test_sequential_at_equal_iterations_is_its_best_after_fifteen_evaluations(every: Results) -> None:
    where = {"preset": "ours", "problem": "levy10", "strategy": "sequential", "budget": 170}
    values = [one.result["values"][: 20 + 15] for one in every.of("loop", **where)]
    table = tables_texts.exp12_text(every)
    found = line(table, "final best", "ours", strategy="Sequential, after 15 iterations")
    assert found["mean"] == pytest.approx(np.mean([min(v) for v in values]))
    assert found["paper"] == 35.0


MISSING: list[tuple[Maker, str, dict[str, Any]]] = [
    (tables_sdd.table_2, "sdd", {"surrogate": "forest", "q": 2}),
    (tables_cost.table_3, "step", {}),
    (tables_loops.table_4, "loop", {"strategy": "lp"}),
    (tables_loops.table_5, "loop", {"strategy": "qei"}),
    (tables_loops.table_6, "loop", {"noise": 0.1}),
    (tables_sdd.table_7, "sdd", {"update": "refit"}),
    (tables_sdd.table_8, "sdd", {"acquisition": "ucb"}),
    (tables_sdd.table_9, "sdd", {"surrogate": "neural", "update": "none"}),
    (tables_loops.table_10, "loop", {"strategy": "qei"}),
    (tables_sdd.table_11, "sdd", {"problem": "levy10"}),
    (tables_texts.exp4_text, "loop", {"problem": "levy10", "strategy": "kb"}),
    (tables_texts.exp6_text, "loop", {"problem": "svm_breast_cancer", "strategy": "sequential"}),
    (tables_texts.exp11_text, "loop", {"noise": 0.1, "strategy": "kb"}),
    (tables_texts.exp12_text, "loop", {"q": 10, "strategy": "kb"}),
]


@pytest.mark.parametrize(("make", "kind", "settings"), MISSING, ids=lambda value: getattr(value, "__name__", None))
def test_a_preset_without_all_cells_is_left_out_and_a_table_without_presets_too(
    every: Results, make: Maker, kind: str, settings: dict[str, Any]
) -> None:
    assert {one["preset"] for one in lines(make(every))} == set(PRESETS)
    alone = make(without(every, kind, preset="ours", **settings))
    assert {one["preset"] for one in lines(alone)} == {"printed"}
    assert alone is not None
    assert not any("ours" in column for column in alone.table.columns)
    assert make(without(every, kind, **settings)) is None


def test_nothing_gives_no_tables() -> None:
    assert tables(Results(())) == {}


@pytest.mark.parametrize("preset", PRESETS)
def test_one_preset_alone_has_all_tables(preset: str) -> None:
    found = tables(results([preset], seeds=2))
    assert sorted(found) == [*range(1, 14), *([100] if preset == "printed" else []), *TEXT]
    assert {one["preset"] for table in found.values() for one in lines(table)} == {preset}


def test_cells_of_a_smoke_run_make_all_tables() -> None:
    planned = plan.cells(list(plan.EXPERIMENTS), PRESETS, smoke=True)
    kinds = ("loop", "sdd", "step")
    found = tables(Results(tuple(made_up(cell) for cell in planned if cell.experiment in kinds)))
    assert sorted(found) == [*range(1, 14), 100, *TEXT]
    assert "q=4" in found[11].title


def test_the_file_for_programs_holds_numbers_in_full(every: Results) -> None:
    table = tables_loops.table_4(every)
    assert table is not None
    read = list(csv.DictReader(io.StringIO(table.data.csv())))
    assert [float(row["mean"]) for row in read] == [one["mean"] for one in lines(table)]
    words = {True: "yes", False: "no", None: ""}
    assert [row["within"] for row in read] == [words[one["within"]] for one in lines(table)]


def test_the_file_to_read_has_heading_table_and_notes(every: Results) -> None:
    table = tables_loops.table_4(every)
    assert table is not None
    text = table.markdown()
    assert text.startswith("## Table 4: CL/KB vs. Local Penalization")
    assert "-3.02 ± 0.30" in text
    assert all(f"- {note}\n" in text for note in table.notes)
    assert any("sqrt(std_ours^2 / n_ours + std_paper^2 / n_paper)" in note for note in table.notes)


def test_what_cells_of_other_kinds_hold_does_not_matter(every: Results) -> None:
    other = FinishedCell(Cell("something", {"preset": "ours"}, 0), {}, {"seconds": 1.0})
    assert tables_cost.table_13(Results((*every.finished, other))) == tables_cost.table_13(every)
