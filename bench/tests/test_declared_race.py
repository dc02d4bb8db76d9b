"""Races over declared outcomes: judged by the best feasible value or by hypervolume, refused before any run."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench_rows import finished_cell

import believer as bv
from believer.acquisitions.hypervolume import hypervolume
from believer.errors import EvaluationError, InvalidInput, MissingCapability
from believer.experiments import Cell
from believer.optimizer import Optimizer
from believer.space import Space
from believer.study.goals import Goals
from believer_bench import plan as room
from believer_bench.contest import Contest
from believer_bench.curves import draw_curves
from believer_bench.declared import FEASIBLE, HYPERVOLUME, SEVERAL, VALUE, Declared, declare, declared_by
from believer_bench.plan import benchmark, members, plan
from believer_bench.problems.several import best_feasible
from believer_bench.race import design, race
from believer_bench.report import bench_report
from believer_bench.runs import read_runs

SMALL: dict[str, Any] = {"seeds": 1, "q": 2, "progress": False}
SQUARE = Space({"a": bv.Float(0, 1), "b": bv.Float(0, 1)})
OWN = """
import math
import believer as bv

outcomes = {"gain": bv.Maximize(), "cost": bv.Minimize(), "heat": bv.AtMost(1.5)}
reference = {"gain": 0.0, "cost": 3.0}

def lab(params):
    if params["a"] > 0.9:
        raise RuntimeError("no")
    heat = math.nan if params["b"] > 0.9 else params["a"] + params["b"]
    return {"gain": params["a"], "cost": 1.0 + params["b"] ** 2, "heat": heat}

def number(params):
    return params["a"]
"""


def cell(problem: str = "gardner1", member: str = "random", **settings: Any) -> Cell:
    return Cell("bench", {"member": member, "problem": problem, "q": 3, "budget": 12, "n_init": 8, **settings}, 0)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module ``own_lab`` with a function of several outcomes."""
    (tmp_path / "own_lab.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_lab", raising=False)
    return "own_lab"


@pytest.mark.parametrize("name", SEVERAL)
def test_goals_of_problems_are_those_of_studies(name: str) -> None:
    problem = SEVERAL[name]()
    goals, Y = Goals.named(problem.goals), problem.evaluate(np.random.default_rng(0).random((40, problem.space.dim)))
    assert (problem.name, tuple(goals.wanted), goals.objectives) == (name, tuple(problem.goals), problem.objectives)
    scores = Declared(goals, declared_by(name).reference).scores(Y)
    if problem.reference is None:
        best = np.fmin.accumulate(scores)
        np.testing.assert_array_equal(np.where(np.isnan(best), np.inf, best), best_feasible(problem, Y))
    else:
        for n in (1, 7, 40):
            F = problem.to_minimize(Y[:n])[problem.feasible(Y[:n])]
            assert scores[n - 1] == hypervolume(F, problem.reference_to_minimize())


def test_goals_from_plain_data_have_every_kind() -> None:
    plain = {
        "a": ("minimize", None),
        "b": ("maximize", None),
        "c": ("at_most", 0.0),
        "d": ("at_least", 2.0),
        "e": ("between", (1.0, 2.0)),
    }
    wanted = [bv.Minimize(), bv.Maximize(), bv.AtMost(0.0), bv.AtLeast(2.0), bv.Between(1.0, 2.0)]
    assert list(Goals.named(plain).wanted.values()) == wanted


@pytest.mark.parametrize(
    ("outcomes", "reference", "measure", "maximize", "scores"),
    [
        ({"f": bv.Minimize()}, None, VALUE, False, [2.0, 1.0, math.nan, 3.0]),
        ({"f": bv.Maximize(), "g": bv.AtLeast(0.0)}, None, FEASIBLE, True, [math.nan, 1.0, math.nan, 3.0]),
        ({"f": bv.Minimize(), "g": bv.Between(-2, 1)}, None, FEASIBLE, False, [2.0, 1.0, math.nan, math.nan]),
        ({"f": bv.Minimize(), "g": bv.Maximize()}, {"f": 3, "g": -2}, HYPERVOLUME, True, [1.0, 4.0, 4.0, 4.0]),
        ({"f": bv.Desirability(3, 1)}, None, VALUE, True, [0.5, 1.0, math.nan, 0.0]),
    ],
)
def test_an_evaluation_is_judged_by_what_is_wanted(
    outcomes: Any, reference: Any, measure: str, maximize: bool, scores: list[float]
) -> None:
    declared = declare(outcomes, reference)
    assert declared is not None
    Y = np.array([[2.0, -1.0], [1.0, 0.0], [math.nan, 5.0], [3.0, 5.0]])[:, : len(outcomes)]
    assert (declared.measure, declared.maximize) == (measure, maximize)
    np.testing.assert_allclose(declared.scores(Y), scores)


@pytest.mark.parametrize(
    ("outcomes", "reference", "words"),
    [
        ({"f": bv.Minimize(), "g": bv.Minimize()}, None, "several objectives need a reference point.* f, g"),
        ({"f": bv.Minimize(), "g": bv.Minimize()}, {"f": 1.0}, "reference must have a number for each of f, g"),
        ({"f": bv.Minimize()}, {"f": 1.0}, "reference"),
        (None, {"f": 1.0}, "a reference point belongs to outcomes"),
        ({"f": 3}, None, "one of Minimize"),
        ("nowhere:goals", None, "cannot load 'nowhere:goals'"),
    ],
)
def test_what_cannot_be_declared_is_refused(outcomes: Any, reference: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        declare(outcomes, reference)


@pytest.mark.parametrize(("problem", "strategy"), [("gardner1", "kb"), ("branin_currin", "hedged"), ("c2_dtlz2", "kb")])
def test_the_run_is_that_of_an_optimizer_with_these_outcomes(problem: str, strategy: str) -> None:
    made, declared = SEVERAL[problem](), declared_by(problem)
    optimizer = Optimizer(made.space, strategy=strategy, n_init=8, seed=0, **declared.options)
    for params in made.space.decode(design(made.space, 8, 0)):
        optimizer.observe(params, made(params))
    for q in (3, 1):
        batch = optimizer.ask(q)
        optimizer.tell_many(batch, [made(trial.params) for trial in batch])
    row = race(cell(problem, strategy))
    assert row["outcomes"] == [{**one.objectives, **one.constraints} for one in optimizer.outcomes.values()]
    if made.reference is not None:
        assert row["values"][-1] == pytest.approx(optimizer.hypervolume)
    else:
        assert optimizer.best is not None
        assert min(value for value in row["values"] if value is not None) == optimizer.best[1]


def test_random_points_race_as_everyone_from_the_same_design() -> None:
    rows = [race(cell("c2_dtlz2", member)) for member in ("random", "kb/Scalarized")]
    assert rows[0]["outcomes"][:8] == rows[1]["outcomes"][:8]
    assert all(len(row["values"]) == len(row["outcomes"]) == 12 for row in rows)


def test_an_asynchronous_race_has_outcomes_too() -> None:
    row = race(cell("gardner1", "kb", mode="async"))
    assert row["batches"] == [1] * 4
    assert len(row["outcomes"]) == 12


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"strategies": "lp", "problems": "gardner1"}, MissingCapability, "lp cannot take part: lp chooses for one"),
        ({"strategies": ["kb", "qei"], "problems": "zdt1"}, MissingCapability, "qei cannot take part: .*objective"),
        ({"strategies": "kb/UCB", "problems": "gardner1"}, MissingCapability, "kb/UCB cannot take part: limits need"),
        ({"strategies": "kb/EI", "problems": "zdt1"}, MissingCapability, "kb/EI cannot take part: several objectives"),
        ({"strategies": "kb/EHVI", "problems": "gardner1"}, MissingCapability, "kb/EHVI cannot take part"),
        ({"strategies": "kb", "peers": "egobox_kb", "problems": "gardner1"}, InvalidInput, "egobox_kb takes part on"),
        ({"suite": "quick", "problems": "gardner1"}, InvalidInput, "a suite has problems of one number; gardner1"),
        ({"suite": "quick", "outcomes": {"f": bv.Minimize()}}, InvalidInput, "a suite has problems of its own"),
        ({"strategies": "kb", "outcomes": {"f": bv.Minimize()}}, InvalidInput, "outcomes and reference belong to a"),
    ],
)
def test_who_cannot_take_part_is_refused_before_any_run(
    given: dict[str, Any], error: type[Exception], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "run", lambda *_: pytest.fail("some work was done"))
    with pytest.raises(error, match=words) as caught:
        benchmark(**given, **SMALL)
    assert "\n" not in str(caught.value)


def test_all_strategies_are_those_that_take_every_problem() -> None:
    everyone = members(None)
    one = room.contests_of(["gardner1"])
    both = room.contests_of(["gardner1", "zdt1", "branin"])
    names = [
        {cell.settings["member"] for cell in plan(everyone, contests, [2], [0], all_that_can=True)}
        for contests in (one, both)
    ]
    assert "lp" not in names[0]
    assert {"hedged", "kb", "random", "thompson"} < names[1]
    assert names[0] - names[1] >= {"qei", "ucb_pe"}


def test_a_function_of_ones_own_races_with_outcomes_by_name(own: str, tmp_path: Path) -> None:
    function = f"{own}:lab"
    given: dict[str, Any] = {"outcomes": f"{own}:outcomes", "reference": f"{own}:reference"}
    small: dict[str, Any] = {"function": function, "space": SQUARE, "budget": 14, "n_init": 6, **SMALL}
    report = benchmark(["random", "kb"], **given, **small)
    lab = sys.modules[own]
    again = benchmark(["random", "kb"], outcomes=lab.outcomes, reference=lab.reference, workers=2, **small)
    assert [run.best.tolist() for run in again.runs] == [run.best.tolist() for run in report.runs]
    (case,) = {run.case for run in report.runs}
    assert (case.problem, case.measure, case.maximize, case.optimum) == ("lab", HYPERVOLUME, True, None)
    assert all((np.diff(run.best) <= 0.0).all() for run in report.runs)
    assert "hypervolume" in str(report)
    with pytest.raises(InvalidInput, match="Maximize"):
        benchmark("random", function=function, space=SQUARE, maximize=True, **given, **SMALL)
    with pytest.raises((EvaluationError, InvalidInput), match="has the outcomes gain, cost, heat; got 'value'"):
        benchmark("random", function=f"{own}:number", space=SQUARE, **given, **SMALL)


def test_what_an_evaluation_lost_is_told_kept_and_counted(own: str) -> None:
    declared = declare(f"{own}:outcomes", f"{own}:reference")
    contest = Contest.of_function(f"{own}:lab", SQUARE, declared=declared)
    place = cell(member="kb", budget=14, **contest.settings)
    row = race(place)
    raised = [out for out in row["outcomes"] if set(out.values()) == {None}]
    lost = [out for out in row["outcomes"] if out["heat"] is None and out["gain"] is not None]
    assert raised
    assert lost
    ((run,), _) = read_runs([(place, row)])
    assert run.failed == len(raised) + len(lost)


def test_before_anything_feasible_a_run_counts_as_the_worst_of_all() -> None:
    """Were it left out, who finds nothing would look good."""
    finished = [finished_cell(member, 1.0, seed, "gardner2") for member in ("kb", "random") for seed in range(3)]
    nothing: list[float | None] = [None] * 14
    finished[-1][1]["values"] = nothing
    finished[0][1]["values"][:6] = nothing[:6]
    for _, row in finished:
        row["outcomes"] = [{"value": 0.0, "limit": 0.0}] * 14
    runs, notices = read_runs(finished)
    assert len(runs) == 6
    worst = max(run.best.max() for run in runs)
    assert (runs[-1].best == worst).all()
    assert (runs[0].best[:6] == worst).all()
    assert runs[0].final == 1.0
    assert [run.failed for run in runs] == [0] * 6
    assert [n for n in notices if "nothing within all limits" in n and n.startswith("random on gardner2, q=3, seed 2")]
    alone, notices = read_runs(finished[-1:])
    assert (alone, "no value at all" in notices[0]) == ((), True)


def test_a_report_says_hypervolume_and_measures_from_the_ideal_front() -> None:
    pytest.importorskip("matplotlib")
    report = bench_report([finished_cell(name, 50.0, s, "branin_currin") for name in ("kb", "random") for s in (0, 1)])
    case = report.runs[0].case
    assert (case.optimum, case.maximize, case.slug) == (SEVERAL["branin_currin"]().hypervolume, True, case.slug)
    assert "_max" not in case.slug
    assert case.optimum is not None
    assert report.lines[0].regret == pytest.approx(case.optimum - report.lines[0].median)
    figure = draw_curves(report.lines, report.runs, [], "kb")
    assert figure.axes[0].get_ylabel() == "hypervolume that is missing"
    assert "median hypervolume" in report.markdown()
    settings: dict[str, Any] = {
        "function": "m:f",
        "outcomes": Goals({"a": bv.Minimize(), "b": bv.Minimize()}).to_config(),
    }
    other = bench_report([finished_cell("kb", 5.0, 0, "f", reference={"a": 1.0, "b": 1.0}, **settings)])
    drawn = draw_curves(other.lines, other.runs, [], "kb")
    assert drawn.axes[0].get_ylabel() == "hypervolume (more is better)"
