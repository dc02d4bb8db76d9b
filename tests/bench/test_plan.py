"""A whole bench: members by name, cells in order, everything checked first, results taken up again."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from believer.bench import plan as room
from believer.bench.contest import Contest
from believer.bench.peers import PEERS, PeerEntry
from believer.bench.plan import benchmark, members, plan
from believer.bench.report import BenchReport
from believer.errors import EvaluationError, InvalidInput, MissingCapability, MissingExtra
from believer.experiments import Cell, read_store
from believer.parameters import Float, Int
from believer.space import Space

BRANIN, WAVE = Contest.of_problem("branin"), Contest.of_problem("wave1")
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
    assert len(plan(["random"], [BRANIN, BRANIN], [3, 3], [0, 0])) == 1


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
    monkeypatch.setattr(room, "warm_up", lambda name: pytest.fail("some work was done"))
    usual: dict[str, Any] = {"names": ["kb"], "contests": [BRANIN], "q": [3], "seeds": [0]}
    with pytest.raises(InvalidInput, match=words):
        plan(**usual | change)


def test_a_strategy_that_its_surrogate_cannot_serve_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def incapable(name: str) -> None:
        raise MissingCapability("it has no gradient; use gp.")

    monkeypatch.setattr(room, "warm_up", incapable)
    with pytest.raises(
        MissingCapability, match=r"kb@svr cannot take part: it has no gradient; use gp\. Name the pairs"
    ):
        plan(["kb@svr"], [BRANIN], [3], [0])


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


SMALL: dict[str, Any] = {"problems": "branin", "seeds": 2, "budget": 7, "progress": False}


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
