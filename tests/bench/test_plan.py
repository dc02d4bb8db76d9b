"""A whole bench: members by name, cells in order, everything checked first, results taken up again."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from believer.batch import STRATEGIES
from believer.bench import plan as room
from believer.bench import race as race_room
from believer.bench.contest import Contest
from believer.bench.members import incapable
from believer.bench.peers import PEERS, PeerEntry
from believer.bench.plan import benchmark, members, plan
from believer.bench.report import BenchReport
from believer.errors import EvaluationError, InvalidInput, MissingCapability, MissingExtra
from believer.experiments import Cell, read_store
from believer.space import Space
from believer.space.parameters import Float, Int
from believer.surrogates import MQRBF

BRANIN, WAVE = Contest.of_problem("branin"), Contest.of_problem("wave1")
SMALL: dict[str, Any] = {"problems": "branin", "seeds": 2, "budget": 7, "progress": False}
GRID = Space({"a": Int(0, 2), "b": Int(0, 2)})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("kb",), ["kb"]),
        ((["kb", "cl_min"], ["gp", "forest"]), ["kb", "kb@forest", "cl_min", "cl_min@forest"]),
        ((["kb@svr", "kb"], "gp"), ["kb@svr", "kb"]),
        ((["kb@gp", "kb", "kb"],), ["kb"]),
        ((["random"], "gp", ["egobox_kb", "egobox_kb"]), ["random", "egobox_kb"]),
        (((), "gp", "optuna_gp"), ["optuna_gp"]),
    ],
)
def test_members_are_strategies_on_surrogates_then_peers_each_once(arguments: Any, expected: list[str]) -> None:
    assert members(*arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kriging",), r"a strategy must be one of cl_min, .*; got 'kriging'"),
        (("kb@kriging",), r"a surrogate must be one of gp, .*; got 'kriging'"),
        (("kb", "kriging"), r"a surrogate must be one of gp, .*; got 'kriging'"),
        (("kb", "gp", "spearmint"), r"a peer must be one of botorch_qei, .*; got 'spearmint'"),
        (((),), "at least one strategy or peer"),
    ],
)
def test_a_name_that_is_not_known_is_told_with_those_that_are(arguments: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        members(*arguments)


def test_cells_hold_all_that_a_result_depends_on_and_seeds_change_slowest() -> None:
    cells = plan(["random", "kb"], [BRANIN, WAVE], [1, 3], [7, 9], budget=12)
    assert len(cells) == 16
    assert cells[0].settings == {"member": "random", "problem": "branin", "q": 1, "budget": 12, "n_init": 4}
    assert cells[3].settings == {"member": "kb", "problem": "wave1", "q": 1, "budget": 12, "n_init": 2}
    assert [cell.seed for cell in cells] == [7] * 8 + [9] * 8
    assert [cell.settings["q"] for cell in cells[:8]] == [1] * 4 + [3] * 4
    assert {cell.experiment for cell in cells} == {"bench"}


def test_what_is_named_twice_is_run_once() -> None:
    assert len(plan(["random"], [BRANIN, BRANIN], [3, 3], [0])) == 1


def test_a_number_of_initial_points_holds_for_every_problem() -> None:
    assert {cell.settings["n_init"] for cell in plan(["random"], [BRANIN, WAVE], [3], [0], n_init=5)} == {5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": [0]}, "q must be a whole number, 1 or more"),
        ({"q": []}, "at least one problem, batch size and seed"),
        ({"seeds": []}, "at least one problem, batch size and seed"),
        ({"contests": []}, "at least one problem, batch size and seed"),
        ({"seeds": [-1]}, "seed must be a whole number, 0 or more"),
        ({"seeds": [1, 2, 1]}, "seeds must be different; got 1 more than once"),
        ({"q": [3, 9], "budget": 12}, "q must not be more than 8, what the budget of 12 leaves .* of branin; got 9"),
        ({"contests": [BRANIN, WAVE], "q": [4], "budget": 7}, "q must not be more than 3, .* of branin; got 4"),
        ({"budget": 4}, "the budget must be more than the 4 initial points of branin; got 4"),
        ({"budget": 2.5}, "budget must be a whole number"),
        ({"n_init": 50}, "more than the 50 initial points"),
        ({"n_init": 1}, "n_init must be a whole number, 2 or more"),
        ({"contests": [Contest(GRID, len, {"problem": "grid"}, own=True)]}, "grid has 9 points; the budget .* got 50"),
        (
            {"contests": [Contest(GRID, len, {"problem": "grid"}, own=True)], "names": ["egobox_kb"], "budget": 9},
            "egobox_kb takes part on spaces of Floats",
        ),
    ],
)
def test_what_cannot_be_raced_is_refused_before_any_work(
    change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "incapable", lambda names: pytest.fail("some work was done"))
    usual: dict[str, Any] = {"names": ["kb"], "contests": [BRANIN], "q": [3], "seeds": [0]}
    with pytest.raises(InvalidInput, match=words):
        plan(**usual | change)


def test_the_largest_batch_is_what_the_budget_leaves() -> None:
    assert len(plan(["random"], [BRANIN], [8], [0], budget=12)) == 1


def test_a_strategy_that_its_surrogate_cannot_serve_is_refused_before_any_work() -> None:
    with pytest.raises(MissingCapability, match=r"lp@mq_rbf cannot take part: lp needs .* Name the pairs that can"):
        plan(["kb@mq_rbf", "lp@mq_rbf"], [BRANIN], [3], [0])


def test_all_means_all_that_can_and_the_others_are_named() -> None:
    names = members(None, ["gp", "mq_rbf"])
    cells = plan(names, [BRANIN], [3], [0], all_that_can=True)
    racing = [cell.settings["member"] for cell in cells]
    assert racing == [name for name in names if name not in ("lp@mq_rbf", "qei@mq_rbf")]
    assert room.left_out(names, cells) == "Left out, as their surrogate lacks what they need: lp@mq_rbf, qei@mq_rbf."
    assert room.left_out(["kb"], plan(["kb"], [BRANIN], [3], [0])) == ""


@pytest.mark.parametrize("surrogate", ["gp", "mq_rbf", "fixed_rbf", "svr", "sparse_gp"])
def test_one_ask_of_one_fit_tells_who_can_race(surrogate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those found incapable are exactly those that a warm-up of their own refuses."""
    names = [name for name in members(None, surrogate) if not name.startswith("fantasies")]
    monkeypatch.setattr(race_room, "_warm", set())
    refused = []
    for name in names:
        try:
            race_room.warm_up(name)
        except MissingCapability:
            refused.append(name)
    assert list(incapable(names)) == refused


def test_capabilities_cost_one_fit_of_a_surrogate(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    fit = MQRBF.fit

    def counted(self: MQRBF, X: Any, *rest: Any, **named: Any) -> Any:
        fitted.append(len(X))
        return fit(self, X, *rest, **named)

    monkeypatch.setattr(MQRBF, "fit", counted)
    incapable(["kb@mq_rbf", "random@mq_rbf", "lp@mq_rbf", "kb"])
    assert fitted == [3]


def test_a_bench_of_all_warns_of_those_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    raced: list[str] = []

    def stopped(cells: list[Cell], *_: Any) -> None:
        raced.extend(cell.settings["member"] for cell in cells)
        raise EvaluationError("enough")

    monkeypatch.setattr(room, "run", stopped)
    with pytest.warns(UserWarning, match=r"Left out.*: qei@sparse_gp\.$"), pytest.raises(EvaluationError):
        benchmark(surrogates="sparse_gp", **SMALL | {"seeds": 1})
    assert raced == [f"{name}@sparse_gp" for name in STRATEGIES if name != "qei"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"strategies": 3}, "strategies must be a name or a list of names; got 3"),
        ({"strategies": ["kb", 5]}, "strategies must be a name or a list of names; got 5"),
        ({"surrogates": 3}, "surrogates must be a name or a list of names; got 3"),
        ({"peers": [None]}, "peers must be a name or a list of names; got None"),
        ({"problems": 3}, "problems must be a name or a list of names; got 3"),
        ({"problems": [["branin"]]}, "problems must be a name or a list of names; got \\['branin'\\]"),
        ({"results": 3}, "results must be the path of a file, or None; got 3"),
        ({"seeds": [1, 1]}, "seeds must be different; got 1 more than once"),
        ({"seeds": [[1]]}, "seed must be a whole number, 0 or more; got \\[1\\]"),
        ({"seeds": "2"}, "seed must be a whole number, 0 or more; got '2'"),
        ({"q": 4}, "q must not be more than 3"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_told(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        benchmark(**{"strategies": "random"} | SMALL | change)


def test_a_peer_that_is_not_installed_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = PeerEntry(PEERS["egobox_kb"].make, ("no_such_module",), ("egobox",), "egobox")
    monkeypatch.setitem(PEERS, "egobox_kb", entry)
    with pytest.raises(MissingExtra, match="egobox"):
        plan(["egobox_kb"], [BRANIN], [3], [0])


def test_a_problem_that_lacks_its_package_is_refused_before_any_work() -> None:
    def missing(params: dict[str, Any]) -> float:
        raise MissingExtra("scikit-learn", "surrogates")

    with pytest.raises(MissingExtra):
        plan(["random"], [Contest(Space({"a": Float(0, 1)}), missing, {"problem": "svm"})], [3], [0])


def test_a_bench_is_a_report_whose_results_are_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = benchmark(["random", "cl_min"], q=(2, 3), results=tmp_path / "r.jsonl", **SMALL)
    assert isinstance(report, BenchReport)
    assert len(report.runs) == len(read_store(tmp_path / "r.jsonl")) == 8

    def never(cell: Cell) -> dict[str, Any]:
        raise RuntimeError("run again")

    monkeypatch.setattr(room, "race", never)
    again = benchmark(["random", "cl_min"], q=(2, 3), results=tmp_path / "r.jsonl", **SMALL)
    assert str(again) == str(report)
    with pytest.raises(EvaluationError, match="4 of 12 cells failed"):
        benchmark(["random", "cl_min"], q=(2, 3), results=tmp_path / "r.jsonl", **SMALL | {"seeds": 3})


class Counting(ThreadPoolExecutor):
    """Counts what it is given."""

    submitted = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        return super().submit(fn, *args, **kwargs)


def test_a_bench_runs_on_any_executor() -> None:
    with Counting(1) as executor:
        report = benchmark("random", executor=executor, **SMALL)
    assert executor.submitted == len(report.runs) == 2
    assert [run.best.tolist() for run in report.runs] == [
        run.best.tolist() for run in benchmark("random", **SMALL | {"seeds": [0, 1]}).runs
    ]


def corner(params: dict[str, Any]) -> float:
    return float(params["a"] + params["b"])


def test_a_function_takes_the_place_of_problems() -> None:
    space = Space({"a": Float(0, 1), "b": Float(0, 1)})
    report = benchmark("random", function=corner, space=space, maximize=True, **SMALL)
    assert [(run.case.problem, run.case.maximize) for run in report.runs] == [("corner", True)] * 2
    with pytest.raises(InvalidInput, match="a function needs a space"):
        benchmark("random", function=corner, **SMALL)
    with pytest.raises(InvalidInput, match="belong to a function"):
        benchmark("random", space=space, **SMALL)
    with pytest.raises(InvalidInput, match="belong to a function"):
        benchmark("random", maximize=True, **SMALL)
