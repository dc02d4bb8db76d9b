"""Open choices of the paper: their readings are options of cells, and one rule says which fits best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from paper_cells import results as made_up
from paper_cells import with_result, without

from believer.experiments import Cell
from believer.plugins import Data
from believer.problems import PROBLEMS, svm_breast_cancer
from believer_paper.cells.loops import OPTIONS, loop
from believer_paper.ledger import ledger
from believer_paper.ledger.changes import CHANGES, changes_table
from believer_paper.numbers.printed import TABLE_4
from believer_paper.plan import cells as planned
from believer_paper.readings import CHOICES, Estimate, Reading, ReadNumber, best_fit, cells
from believer_paper.results import Results
from believer_paper.setup.process import Process, box_of
from believer_paper.setup.regressor import Regressor
from believer_paper.sizes import Scale
from believer_paper.tables.unstated import unstated

NONE = ", though none fits (it is 2.4 standard errors off)."


def choice(question: str) -> Any:
    return next(one for one in CHOICES if one.question.startswith(question))


def test_a_reading_is_off_in_standard_errors_of_both_and_of_the_last_digit() -> None:
    number = ReadNumber("", 1.0, 0.2, (), rounding=0.0)
    assert number.errors_off(Estimate(1.5, 0.0, 9.0)) == pytest.approx(2.5)
    assert number.errors_off(Estimate(0.5, 0.15, 9.0)) == pytest.approx(-0.5 / 0.25)
    exact = ReadNumber("", 1.0, 0.0, (), rounding=0.05)
    assert exact.errors_off(Estimate(1.1, 0.0, 9.0)) == pytest.approx(2.0)


def test_a_single_draw_of_the_paper_is_one_more_of_ours() -> None:
    single = ReadNumber("", 1.0, None, (), rounding=0.0)
    assert single.errors_off(Estimate(2.0, 0.3, 0.4)) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("misfits", "said"),
    [
        ({"a": 1.0, "b": 5.0}, "a fits best."),
        ({"a": 1.0, "b": 4.9}, "cannot be told apart: a, b."),
        ({"b": 25.0, "a": 11.52}, f"a fits best{NONE}"),
        ({"a": 13.0, "b": 11.52, "c": 90.0}, f"cannot be told apart: b, a{NONE}"),
    ],
)
def test_the_nearest_fits_best_if_it_is_nearer_by_four_in_squares(misfits: dict[str, float], said: str) -> None:
    assert best_fit(misfits, 2) == said


def test_every_choice_has_two_readings_or_more_and_its_cells_are_of_the_plan() -> None:
    wanted = set(planned(["unstated"], ["printed"]))
    assert set(cells(Scale())) == wanted
    for one in CHOICES:
        assert len(set(one.readings)) == len(one.readings) >= 2
        assert all([r.words for r in number.readings] == list(one.readings) for number in one.numbers)
    assert planned(["unstated"], ["ours"]) == []


def test_every_option_of_a_loop_is_tried() -> None:
    tried = {name for cell in cells(Scale()) for name in cell.settings.get("options", {})}
    assert tried == {*OPTIONS, "budget", "starts"}


def test_the_distance_of_a_reading_follows_its_cells() -> None:
    before = made_up(["printed"])
    inputs = choice("Does the model see")
    far = inputs.misfits(before)

    def as_printed(result: dict[str, Any]) -> None:
        shift = mean - np.mean([min(one.result["values"]) for one in group])
        result["values"] = [value + shift for value in result["values"]]

    near = before
    for strategy, q in (("cl_min", 2), ("kb", 2), ("cl_min", 3), ("kb", 3), ("sequential", 1)):
        where = {"problem": "ackley8", "strategy": strategy, "q": q, "options": {"inputs": "cube"}}
        group, mean = before.of("loop", **where), TABLE_4[strategy, q, "ackley8"].mean
        near = with_result(near, as_printed, "loop", **where)
    found = inputs.misfits(near)
    assert found["cube"] == pytest.approx(0.0, abs=1e-9)
    assert found["raw"] == far["raw"] > 1.0
    assert best_fit(found, 5) == "cube fits best."
    table = unstated(near)
    assert table is not None
    assert ("Does the model see raw inputs or the unit cube?", "cube fits best.") in [
        row[:2] for row in table.table.rows
    ]


def test_a_choice_without_all_its_cells_is_left_out() -> None:
    results = made_up(["printed"], seeds=3)
    gone = without(results, "loop", options={"tolerance": "tight"}, strategy="kb")
    assert choice("When does L-BFGS-B").misfits(results)
    assert choice("When does L-BFGS-B").misfits(gone) == {}
    table = unstated(gone)
    assert table is not None
    assert len(table.table.rows) == len(CHOICES) - 1
    assert unstated(Results(())) is None
    assert (
        Reading("", choice("When").numbers[0].readings[0].runs, lambda loops: Estimate(0.0, 0.0, 0.0)).estimate(
            Results(())
        )
        is None
    )


def cell(problem: str, strategy: str, q: int, n_init: int, budget: int, **options: Any) -> Cell:
    settings = {"preset": "printed", "problem": problem, "strategy": strategy, "q": q, "budget": budget}
    return Cell("loop", {**settings, "n_init": n_init, "noise": 0.0, "options": {"process": "twin", **options}}, 0)


@pytest.mark.parametrize("options", [{"inputs": "cube"}, {"xi": "standardized"}, {"tolerance": "tight"}])
def test_an_option_changes_what_a_loop_does_and_only_after_the_design(options: dict[str, str]) -> None:
    as_chosen, other = (loop(cell("ackley8", "kb", 2, 16, 20, **o))["values"] for o in ({}, options))
    assert as_chosen[:16] == other[:16]
    assert as_chosen[16:] != other[16:]


def test_random_rows_are_the_same_for_every_q_unless_they_are_drawn_for_each() -> None:
    shared = [loop(cell("hartmann6", "random", q, 12, 18))["values"] for q in (2, 3)]
    apart = [loop(cell("hartmann6", "random", q, 12, 18, draws="by_q"))["values"] for q in (2, 3)]
    assert shared[0] == shared[1]
    assert apart[0][:12] == apart[1][:12]
    assert apart[0][12:] != apart[1][12:]


def test_folds_and_features_of_the_support_vector_machine_are_options() -> None:
    params = {"C": 10.0, "gamma": 1e-3, "weight": 1.0, "parts": 20}
    usual = PROBLEMS["svm_breast_cancer"]()
    assert usual(params) == svm_breast_cancer(True, True)(params)
    errors = {(a, b): svm_breast_cancer(a, b)(params) for a in (True, False) for b in (True, False)}
    assert len(set(errors.values())) > 2
    told = loop(cell("svm_breast_cancer", "random", 2, 10, 12, features="raw"))["values"]
    assert told != loop(cell("svm_breast_cancer", "random", 2, 10, 12))["values"]


def test_the_cube_is_the_box_of_every_space_where_it_is_asked_for() -> None:
    low, high = box_of(PROBLEMS["levy10"]().space, "cube")
    assert np.array_equal(low, np.zeros(10))
    assert np.array_equal(high, np.ones(10))


def test_scikit_learns_own_process_is_the_posterior_that_whole_runs_use() -> None:
    """The same search with the same seed; then another library's algebra, and y normalized anew after a lie."""
    problem = PROBLEMS["ackley8"]()
    rng = np.random.default_rng(0)
    X, at, lie = rng.random((20, 8)), rng.random((30, 8)), Data(rng.random((1, 8)), np.array([7.0]))
    data = Data(X, problem.evaluate(X))
    theirs, ours = (
        recipe.fit(data, np.random.default_rng(1)) for recipe in (Regressor(problem.space), Process(problem.space))
    )
    scale = float(data.y.std())
    for one, two in ((theirs, ours), (theirs.condition(lie), ours.condition(lie))):  # type: ignore[attr-defined]
        assert np.abs(one.predict(at).mean - two.predict(at).mean).max() < 1e-5 * scale
        assert np.abs(one.predict(at).std - two.predict(at).std).max() < 1e-4 * scale


def test_rules_that_changed_are_told_with_what_was_found_before_and_is_found_now() -> None:
    entries = ledger(made_up(seeds=10))
    table = changes_table(entries)
    assert [row[0] for row in table.rows] == [one.claim for one in CHANGES]
    now = {entry.claim.number: [finding.verdict for finding in entry.findings.values()] for entry in entries}
    assert all(str(row[5]).split(", ") == now[int(str(row[0]))] for row in table.rows)
    assert len({one.claim for one in CHANGES}) == len(CHANGES)
    assert not changes_table([]).rows
