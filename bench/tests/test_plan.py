"""A whole bench: members by name, cells in order, everything checked first, results taken up again."""

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from believer.acquisitions import EI, UCB, LogEI, Pointwise
from believer.batch import QEI, STRATEGIES, Believe, PseudoObservations
from believer.errors import EvaluationError, InvalidInput, MissingCapability, MissingExtra
from believer.experiments import Cell, read_store
from believer.optimizer import Optimizer
from believer.space import Space
from believer.space.parameters import Float, Int
from believer.surrogates import GP, MQRBF
from believer_bench import plan as room
from believer_bench.contest import Contest
from believer_bench.members import WITHOUT_ACQUISITION, incapable
from believer_bench.peers import PEERS, PeerEntry
from believer_bench.plan import benchmark, members, plan
from believer_bench.race import design, warm_up
from believer_bench.report import BenchReport

BRANIN, WAVE = Contest.of_problem("branin"), Contest.of_problem("wave1")
SMALL: dict[str, Any] = {"problems": "branin", "seeds": 2, "budget": 7, "progress": False}
GRID = Space({"a": Int(0, 2), "b": Int(0, 2)})
BOUND = Space(GRID.parameters, lambda params: True)
EGOBOX = members((), peers="egobox_kb")


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
    assert [one.name for one in members(*arguments)] == expected


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
    cells = plan(members(["random", "kb"]), [BRANIN, WAVE], [1, 3], [7, 9], budget=12)
    assert len(cells) == 16
    assert cells[0].settings == {"member": "random", "problem": "branin", "q": 1, "budget": 12, "n_init": 4}
    assert cells[3].settings == {"member": "kb", "problem": "wave1", "q": 1, "budget": 12, "n_init": 2}
    assert [cell.seed for cell in cells] == [7] * 8 + [9] * 8
    assert [cell.settings["q"] for cell in cells[:8]] == [1] * 4 + [3] * 4
    assert {cell.experiment for cell in cells} == {"bench"}


def test_what_is_named_twice_is_run_once() -> None:
    assert len(plan(members(["random"]), [BRANIN, BRANIN], [3, 3], [0])) == 1


def test_a_number_of_initial_points_holds_for_every_problem() -> None:
    assert {cell.settings["n_init"] for cell in plan(members(["random"]), [BRANIN, WAVE], [3], [0], n_init=5)} == {5}


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
            {"contests": [Contest(BOUND, len, {"problem": "grid"}, own=True)], "entrants": EGOBOX, "budget": 9},
            "egobox_kb takes part on spaces without a constraint",
        ),
    ],
)
def test_what_cannot_be_raced_is_refused_before_any_work(
    change: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "incapable", lambda names: pytest.fail("some work was done"))
    usual: dict[str, Any] = {"entrants": members("kb"), "contests": [BRANIN], "q": [3], "seeds": [0]}
    with pytest.raises(InvalidInput, match=words):
        plan(**usual | change)


def test_the_largest_batch_is_what_the_budget_leaves() -> None:
    assert len(plan(members(["random"]), [BRANIN], [8], [0], budget=12)) == 1


def test_a_strategy_that_its_surrogate_cannot_serve_is_refused_before_any_work() -> None:
    with pytest.raises(MissingCapability, match=r"lp@mq_rbf cannot take part: lp needs .* Name the pairs that can"):
        plan(members(["kb@mq_rbf", "lp@mq_rbf"]), [BRANIN], [3], [0])


def test_all_means_all_that_can_and_the_others_are_named() -> None:
    everyone = members(None, ["gp", "mq_rbf"])
    cells = plan(everyone, [BRANIN], [3], [0], all_that_can=True)
    racing = [cell.settings["member"] for cell in cells]
    assert racing == [one.name for one in everyone if one.name not in ("lp@mq_rbf", "qei@mq_rbf")]
    missing = "lp@mq_rbf, qei@mq_rbf"
    assert room.left_out(everyone, cells) == f"Left out, as they or their surrogate lack what is needed: {missing}."
    assert room.left_out(members("kb"), plan(members(["kb"]), [BRANIN], [3], [0])) == ""


@pytest.mark.parametrize("surrogate", ["gp", "mq_rbf", "fixed_rbf", "svr", "sparse_gp"])
def test_one_ask_of_one_fit_tells_who_can_race(surrogate: str) -> None:
    """Those found incapable are exactly those that a warm-up of their own refuses."""
    entrants = [one for one in members(None, surrogate) if not one.name.startswith("fantasies")]
    refused = []
    for one in entrants:
        try:
            warm_up(partial(one.enter, Space.cube(2), 0))
        except MissingCapability:
            refused.append(one.name)
    assert list(incapable(entrants)) == refused


def test_capabilities_cost_one_fit_of_a_surrogate(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[int] = []
    fit = MQRBF.fit

    def counted(self: MQRBF, X: Any, *rest: Any, **named: Any) -> Any:
        fitted.append(len(X))
        return fit(self, X, *rest, **named)

    monkeypatch.setattr(MQRBF, "fit", counted)
    incapable(members(["kb@mq_rbf", "random@mq_rbf", "lp@mq_rbf", "kb"]))
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
        ({"strategies": 3}, r"a strategy must have a method choose\(request, memory\); got 3"),
        ({"strategies": ["kb", 5]}, r"a strategy must have a method choose\(request, memory\); got 5"),
        ({"strategies": QEI}, r"a strategy must have .* Make one of it: QEI\(\.\.\.\)"),
        ({"surrogates": 3}, r"surrogate must be an object with a method fit\(data, rng, previous\); got 3"),
        (
            {"acquisitions": [None]},
            r"acquisition must be an object with a method pointwise\(\.\.\.\) or on\(\.\.\.\) .*; got None",
        ),
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
        plan(members((), peers="egobox_kb"), [BRANIN], [3], [0])


def test_a_problem_that_lacks_its_package_is_refused_before_any_work() -> None:
    def missing(params: dict[str, Any]) -> float:
        raise MissingExtra("scikit-learn", "surrogates")

    with pytest.raises(MissingExtra):
        plan(members(["random"]), [Contest(Space({"a": Float(0, 1)}), missing, {"problem": "svm"})], [3], [0])


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


OWN = """
from dataclasses import dataclass
from believer.acquisitions import Pointwise
from believer.batch.random import RandomBatch
from believer.surrogates import GP


@dataclass(frozen=True)
class Strategy:
    points: int = 1

    def choose(self, request, memory=None):
        return RandomBatch().choose(request, memory)


class Surrogate:
    def fit(self, data, rng, previous=None):
        return GP().fit(data, rng)


class Spread:
    def pointwise(self, mean, std, incumbent):
        return Pointwise(std, 0.0 * std, 0.0 * std + 1.0)


class Careless:
    def choose(self, request, memory=None):
        raise KeyError("nothing")


def make():
    return Strategy(2)


ready = Strategy(3)
smooth = GP(kernel="se")
number = 7
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module ``own_parts`` with members of the user's own."""
    path = tmp_path / "own_parts.py"
    path.write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_parts", raising=False)
    return path


def keys(*given: Any, **more: Any) -> list[str]:
    return [cell.key for cell in plan(members(*given, **more), [BRANIN], [3], [0])]


def test_every_strategy_races_with_every_acquisition_unless_it_uses_none() -> None:
    found = members(["kb", "random", "lp@svr", "qei/EI"], ["gp", "mq_rbf"], acquisitions=["LogEI", "UCB"])
    assert [one.name for one in found] == [
        *("kb", "kb/UCB", "kb@mq_rbf", "kb@mq_rbf/UCB", "random", "random@mq_rbf"),
        *("lp@svr", "lp@svr/UCB", "qei/EI", "qei@mq_rbf/EI"),
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_those_that_race_with_one_acquisition_are_those_in_which_it_plays_no_part(strategy: str) -> None:
    ends = []
    for acquisition in (LogEI(), EI(xi=5.0)):
        optimizer = Optimizer(BRANIN.space, acquisition=acquisition, strategy=strategy, n_init=4, seed=0)
        for params in BRANIN.space.decode(design(BRANIN.space, 4, 0)):
            optimizer.observe(params, BRANIN.function(params))
        ends.append(optimizer.ask(2).encoded.tolist())
    assert (ends[0] == ends[1]) == (strategy in WITHOUT_ACQUISITION)


def test_the_default_acquisition_leaves_a_cell_as_it_was_and_another_makes_it_another() -> None:
    (cell,) = plan(members("kb"), [BRANIN], [3], [0])
    assert cell.key == Cell("bench", {"member": "kb", **BRANIN.settings, "q": 3, "budget": 50, "n_init": 4}, 0).key
    for same in ("kb/LogEI", "kb@gp/LogEI", PseudoObservations(Believe())):
        assert keys(same) == keys(same, GP(), acquisitions=LogEI()) == [cell.key]
    assert keys("kb/EI") == keys("kb", acquisitions="EI") == keys("kb", acquisitions=[EI()]) != [cell.key]


def test_ones_own_are_found_by_name_in_this_process_and_others(own: Path) -> None:
    strategies = ["own_parts:Strategy", "own_parts:make()", "kb@own_parts:Surrogate/own_parts:Spread"]
    small: dict[str, Any] = SMALL | {"seeds": 1}
    here = benchmark(strategies, **small)
    assert [run.member for run in here.runs] == strategies
    there = benchmark(strategies, workers=2, **small)
    assert [run.best.tolist() for run in there.runs] == [run.best.tolist() for run in here.runs]
    by_argument = benchmark("kb", surrogates="own_parts:Surrogate", acquisitions="own_parts:Spread", **small)
    assert by_argument.runs[0].member == strategies[2]
    assert by_argument.runs[0].best.tolist() == here.runs[2].best.tolist()


def test_results_of_ones_own_are_taken_up_until_their_code_changes(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["own_parts:Strategy", "own_parts:ready", "kb@own_parts:smooth", "kb"]
    before = keys(names)
    monkeypatch.delitem(sys.modules, "own_parts")
    assert keys(names) == before
    own.write_text(OWN + "# changed\n")
    monkeypatch.delitem(sys.modules, "own_parts")
    after = keys(names)
    assert [new == old for new, old in zip(after, before, strict=True)] == [False, False, True, True]
    own.write_text(OWN.replace('"se"', '"matern32"'))
    monkeypatch.delitem(sys.modules, "own_parts")
    assert keys(names)[2] != before[2]


@dataclass(frozen=True)
class Corners:
    """A strategy of the user's own, as a value."""

    lie: float = 0.5

    def choose(self, request: Any, memory: object = None) -> Any:
        return STRATEGIES["random"].choose(request, memory)


class Hopeful:
    """An acquisition whose values cannot be told apart."""

    def __init__(self, hope: float) -> None:
        self.hope = hope

    def pointwise(self, mean: Any, std: Any, incumbent: float) -> Pointwise:
        return UCB(self.hope).pointwise(mean, std, incumbent)


def test_values_race_under_names_of_their_own_here_and_in_other_processes(tmp_path: Path) -> None:
    given = [Corners(), Corners(0.7), QEI(samples=32)]
    report = benchmark(given, acquisitions=EI(0.1), results=tmp_path / "r.jsonl", **SMALL | {"seeds": 1})
    names = [f"{name}/EI(xi=0.1)" for name in ("Corners(lie=0.5)", "Corners(lie=0.7)", "QEI(samples=32)")]
    assert [run.member for run in report.runs] == names
    with pytest.raises(EvaluationError, match=r"in \S+r\.jsonl"):  # what is there is not run again
        benchmark([*given, Broken()], acquisitions=EI(0.1), results=tmp_path / "r.jsonl", **SMALL | {"seeds": 1})
    assert len(read_store(tmp_path / "r.jsonl")) == 3
    there = benchmark(given, acquisitions=EI(0.1), workers=2, **SMALL | {"seeds": 1})
    assert [run.best.tolist() for run in there.runs] == [run.best.tolist() for run in report.runs]


@dataclass(frozen=True)
class Broken(Corners):
    """Gives up when a batch is larger than the one of a rehearsal."""

    def choose(self, request: Any, memory: object = None) -> Any:
        if len(request.ids) > 1:
            raise RuntimeError("too much")
        return super().choose(request, memory)


def test_two_that_would_have_one_name_are_refused() -> None:
    hopeful = [Hopeful(1.0), Hopeful(2.0)]
    with pytest.raises(InvalidInput, match=r"members must have different names; two are called kb/Hopeful\. Give"):
        members("kb", acquisitions=hopeful)
    assert [one.name for one in members("kb", acquisitions=hopeful[:1] * 2)] == ["kb/Hopeful"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strategies": "own_parts:nothing"}, "cannot load 'own_parts:nothing': module .* has no attribute 'nothing'"),
        ({"strategies": "own_parts:number"}, r"a strategy must have a method choose\(request, memory\); got 7"),
        ({"strategies": "own_parts:Surrogate"}, r"a strategy must have a method choose"),
        ({"strategies": "own_parts:number()"}, "cannot load 'own_parts:number\\(\\)': 'int' object is not callable"),
        ({"surrogates": "own_parts:Strategy"}, "surrogate must be an object with a method fit"),
        ({"strategies": "kb@own_parts:number"}, "surrogate must be an object with a method fit"),
        ({"acquisitions": "own_parts:Surrogate"}, r"acquisition must be an object with a method pointwise"),
        ({"acquisitions": "qEI"}, r"an acquisition must be one of LogEI, .*, or module:object; got 'qEI'"),
        ({"strategies": "kb/qEI"}, r"an acquisition must be one of"),
        ({"strategies": "own_parts:Careless"}, "own_parts:Careless cannot take part: it raised KeyError: 'nothing'"),
        ({"strategies": "qei", "acquisitions": "UCB"}, "qei"),
    ],
)
def test_what_cannot_be_a_part_is_refused_before_any_work(
    own: Path, given: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "run", lambda *_: pytest.fail("some work was done"))
    with pytest.raises((InvalidInput, MissingCapability), match=words) as caught:
        benchmark(**{"strategies": "kb"} | given, **SMALL)
    assert "\n" not in str(caught.value)
