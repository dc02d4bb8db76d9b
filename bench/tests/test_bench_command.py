"""``believer bench``: a race told on the terminal and left in a folder that can be taken up; errors are one line."""

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import command_runs
import pytest
from command_runs import assert_one_line
from waiting import wait_for

from believer.acquisitions import ACQUISITIONS
from believer.batch import STRATEGIES
from believer.cli import VERBS, main
from believer.experiments import Cell, read_store
from believer.surrogates import SURROGATES
from believer_bench import command
from believer_bench.declared import SEVERAL
from believer_bench.peers import PEERS
from believer_bench.problems import PROBLEMS
from believer_bench.race import race

pytest.importorskip("matplotlib")

SMALL = ("--strategies", "random", "cl_min", "--problems", "branin", "--seeds", "2", "--budget", "7", "--workers", "1")
OWN = """
import os
import time

from believer import Maximize, Minimize
from believer.acquisitions import Pointwise
from believer.batch import STRATEGIES
from believer.surrogates import FixedRBF


def yield_of(params):
    results = os.environ.get("HELD_FROM_3_IN")
    while results and os.path.exists(results) and open(results, "rb").read().count(b"\\n") >= 3:
        time.sleep(0.01)
    if params["kind"] == "c":
        raise ValueError("no such kind")
    return params["dose"] - (params["dose"] - 0.3) ** 2 + params["steps"]


def broken(params):
    return params["nothing"]


class Anywhere:
    def choose(self, request, memory=None):
        return STRATEGIES["random"].choose(request, memory)


class Doubt:
    def pointwise(self, mean, std, incumbent):
        return Pointwise(std, 0.0 * std, 0.0 * std + 1.0)


def dish(params):
    return {"dose": params["dose"], "steps": float(params["steps"])}


stiff = FixedRBF(8)
outcomes = {"dose": Minimize(), "steps": Maximize()}
reference = {"dose": 1.0, "steps": -1.0}
"""
SPACE = """
[dose]
type = "float"
low = 0.01
high = 1
log = true

[steps]
type = "int"
low = 0
high = 3

[kind]
type = "categorical"
choices = ["a", "b", "c"]
"""


run = partial(command_runs.run, "bench")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A function of the user's own with its space, in the folder where the command is called."""
    (tmp_path / "lab.py").write_text(OWN)
    (tmp_path / "lab.toml").write_text(SPACE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    monkeypatch.delitem(sys.modules, "lab", raising=False)
    return ("--function", "lab:yield_of", "--space", "lab.toml")


def test_bench_is_a_verb() -> None:
    assert "bench" not in VERBS
    ran = command_runs.run("bench", "--list")
    assert (ran.code, ran.err) == (0, "")
    assert "--strategies" in ran.out


def test_a_race_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run(*SMALL)
    assert ran.code == 0
    assert "Use this" in ran.out
    assert "cl_min" in ran.out
    assert "Done in" in ran.out
    assert ran.err.splitlines()[-1].startswith("4/4 cells")
    assert list(tmp_path.iterdir()) == []


def test_a_race_in_a_folder_leaves_its_report_and_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "new" / "folder"
    first = run(*SMALL, "--q", "2", "--out", folder)
    assert first.code == 0
    assert {"results.jsonl", "bench.html", "bench.md", "bench.csv"} <= {path.name for path in folder.iterdir()}
    assert f"results are in {folder}" in first.out
    assert (
        "believer bench --strategies random cl_min --surrogates gp --problems branin --q 2 --seeds 0-1 --budget 7"
        in (folder / "bench.md").read_text(encoding="utf-8")
    )
    results = (folder / "results.jsonl").read_bytes()
    assert len(read_store(folder / "results.jsonl")) == 4

    def never(cell: Cell) -> dict[str, Any]:
        pytest.fail("run again")

    monkeypatch.setattr(command, "race", never)
    again = run(*SMALL, "--q", "2", "--out", folder)
    assert again.code == 0
    assert (folder / "results.jsonl").read_bytes() == results
    assert again.out.splitlines()[:-1] == first.out.splitlines()[:-1]


def test_problems_with_limits_and_several_objectives_race_by_name(tmp_path: Path) -> None:
    few = ("--strategies", "random", "kb", "--seeds", "1", "--budget", "12", "--workers", "1", "--out", tmp_path)
    ran = run(*few, "--problems", "gardner1", "branin_currin")
    assert ran.code == 0
    assert "Final feasible value" in ran.out
    assert "Final hypervolume" in ran.out
    assert (tmp_path / "curves_branin_currin_q3_4of12.png").is_file()
    refused = run(*few, "--problems", "gardner1", "--peers", "optuna_gp")
    assert_one_line(refused, "optuna_gp takes part on problems of one number only")


def test_a_function_that_returns_a_dict_races_with_outcomes_by_name(own: tuple[str, ...], tmp_path: Path) -> None:
    goals = ("--outcomes", "lab:outcomes", "--reference", "lab:reference")
    few = ("--strategies", "random", "--seeds", "1", "--budget", "9", "--workers", "1", "--out", tmp_path / "out")
    function = ("--function", "lab:dish", *own[2:])
    assert run(*few, *function, *goals).code == 0
    report = (tmp_path / "out" / "bench.md").read_text(encoding="utf-8")
    assert "--function lab:dish --space lab.toml --outcomes lab:outcomes --reference lab:reference" in report
    assert "median hypervolume" in report
    assert_one_line(run(*few, *function, *goals[:2]), "several objectives need a reference point")
    assert_one_line(run(*few, "--problems", "branin", *goals), "belong to a function of your own")
    assert_one_line(run(*few, *function, "--maximize", *goals), "Maximize")


def test_a_report_takes_the_place_of_an_earlier_one_with_its_figures_only(tmp_path: Path) -> None:
    mine = tmp_path / "curves_mine.png"
    mine.write_bytes(b"not of a report")
    assert run(*SMALL, "--q", "2", "--out", tmp_path).code == 0
    first = {path.name for path in tmp_path.glob("*.png")}
    assert run(*SMALL, "--q", "3", "--out", tmp_path).code == 0
    second = {path.name for path in tmp_path.glob("*.png")}
    assert first & second == {mine.name}
    shown = set(re.findall(r"\(([^()]*\.png)\)", (tmp_path / "bench.md").read_text(encoding="utf-8")))
    assert second == {mine.name, *shown}
    assert len(shown) > 0
    assert len(read_store(tmp_path / "results.jsonl")) == 8


def test_all_strategies_are_those_that_their_surrogate_can_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[str] = []
    monkeypatch.setattr(command, "_race", lambda cells, out, workers, write: commands.append(write.keywords["command"]))
    ran = run("--smoke", "--surrogates", "sparse_gp")
    assert (ran.code, ran.err) == (0, "Left out, as they or their surrogate lack what is needed: qei@sparse_gp.\n")
    pairs = " ".join(f"{name}@sparse_gp" for name in STRATEGIES if name != "qei")
    assert f"believer bench --strategies {pairs} --surrogates gp --problems" in commands[0]
    again = run(*commands[0].split()[2:])
    assert (again.code, again.err, commands[1]) == (0, "", commands[0])


def test_when_a_cell_fails_the_others_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flaky(cell: Cell) -> dict[str, Any]:
        if cell.settings["member"] == "cl_min" and cell.seed == 1:
            raise RuntimeError("the solver gave up")
        return race(cell)

    monkeypatch.setattr(command, "race", flaky)
    ran = run(*SMALL, "--out", tmp_path)
    assert ran.code == 2
    assert re.search(r"believer: error: 1 of 4 cells failed.*RuntimeError: the solver gave up", ran.err)
    assert "cl_min on branin, q=3: 1 of 2 seeds are missing (1)" in ran.out
    assert (tmp_path / "bench.html").exists()


def test_a_function_of_ones_own_is_raced_here_and_in_other_processes(own: tuple[str, ...], tmp_path: Path) -> None:
    """Found in the folder where the command is called, which an installed command does not look into by itself."""
    small = ("--strategies", "random", "--seeds", "2", "--budget", "9", "--maximize")
    ran = run(*own, *small, "--workers", "2", "--out", "out")
    assert ran.code == 0, ran.err
    (first, second) = read_store(tmp_path / "out" / "results.jsonl")
    assert first.cell.settings["problem"] == "yield_of"
    assert first.cell.settings["n_init"] == 6
    assert None in [*first.result["values"], *second.result["values"]]
    assert "yield_of" in ran.out
    assert re.search(
        r"bench member=random problem=yield_of maximize=True budget=9 n_init=6 q=3 seed=\d$", ran.err, re.M
    )
    said = (tmp_path / "out" / "bench.md").read_text(encoding="utf-8")
    assert "--function lab:yield_of --space lab.toml --maximize --seeds 0-1 --budget 9" in said


@pytest.mark.usefixtures("own")
def test_members_of_ones_own_are_raced_in_other_processes_and_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = (
        "--strategies",
        "kb",
        "lab:Anywhere()",
        "--surrogates",
        "gp",
        "lab:stiff",
        "--acquisitions",
        "EI",
        "lab:Doubt",
    )
    small = ("--problems", "branin", "--seeds", "1", "--budget", "7", "--workers", "2", "--out", "out")
    ran = run(*parts, *small)
    assert ran.code == 0, ran.err
    kinds = [f"{surrogate}/{acquisition}" for surrogate in ("", "@lab:stiff") for acquisition in ("EI", "lab:Doubt")]
    names = [strategy + kind for strategy in ("kb", "lab:Anywhere()") for kind in kinds]
    found = read_store(tmp_path / "out" / "results.jsonl")
    assert sorted(one.cell.settings["member"] for one in found) == sorted(names)
    assert shlex.join(parts) in (tmp_path / "out" / "bench.md").read_text(encoding="utf-8")
    monkeypatch.setattr(command, "race", lambda cell: pytest.fail("run again"))
    assert run(*parts, *small).code == 0


def test_a_run_that_is_killed_is_taken_up(own: tuple[str, ...], tmp_path: Path) -> None:
    small = ("--strategies", "random", "--seeds", "6", "--budget", "8", "--q", "2", "--workers", "1")
    arguments = [*own, *small, "--out", "out"]
    start = [sys.executable, "-m", "believer", "bench", *arguments]
    results = tmp_path / "out" / "results.jsonl"
    process = subprocess.Popen(
        start, cwd=tmp_path, env={**os.environ, "HELD_FROM_3_IN": str(results)}, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(lambda: process.poll() is not None or (results.exists() and results.read_bytes().count(b"\n") >= 2))
        assert process.poll() is None, "it ended by itself"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = results.read_bytes()
    kept = kept[: kept.rindex(b"\n") + 1]
    assert 2 <= kept.count(b"\n") < 6
    ran = run(*arguments)
    assert ran.code == 0, ran.err
    assert results.read_bytes().startswith(kept)
    assert sorted(row.cell.seed for row in read_store(results)) == [0, 1, 2, 3, 4, 5]


def test_smoke_races_everything_in_little_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    cells: list[Cell] = []

    def noted(found: list[Cell], *_: Any) -> None:
        cells[:] = found

    monkeypatch.setattr(command, "_race", noted)
    assert run("--smoke").code == 0
    assert {cell.settings["member"] for cell in cells} == set(STRATEGIES)
    assert {(cell.settings["problem"], cell.settings["budget"], cell.seed) for cell in cells} == {
        ("branin", 10, 0),
        ("branin", 10, 1),
    }
    assert run("--smoke", "--problems", "hartmann6", "--strategies", "kb", "--seeds", "4-4").code == 0
    assert [(cell.settings["problem"], cell.settings["n_init"], cell.seed) for cell in cells] == [("hartmann6", 4, 4)]


def test_a_bench_is_large_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    cells: list[Cell] = []

    def noted(found: list[Cell], *_: Any) -> None:
        cells[:] = found

    monkeypatch.setattr(command, "_race", noted)
    assert run("--strategies", "kb").code == 0
    assert len(cells) == 40
    assert cells[0].settings == {"member": "kb", "problem": "hartmann6", "q": 3, "budget": 50, "n_init": 12}


def test_list_names_everything_and_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("believer_bench.peers.find_spec", lambda name: None)
    ran = run("--list")
    assert (ran.code, ran.err) == (0, "")
    for name in (*STRATEGIES, *SURROGATES, *ACQUISITIONS, *PROBLEMS, *SEVERAL, *PEERS):
        assert re.search(rf"^  {name}\b", ran.out, re.MULTILINE), name
    assert "c2_dtlz2 (2 objectives, 1 limit, 4 parameters)" in ran.out
    assert "egobox_kb (not installed: pip install 'believer-bench[egobox]')" in ran.out


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("3", [0, 1, 2]),
        ("100-102", [100, 101, 102]),
        ("7-7", [7]),
        ("0-1,5-6", [0, 1, 5, 6]),
        ("1,2,7-9", [1, 2, 7, 8, 9]),
        ("7,", [7]),
        ("0,", [0]),
        ("9,3", [9, 3]),
    ],
)
def test_seeds_are_a_number_or_ranges_and_are_written_as_read(text: str, seeds: list[int]) -> None:
    assert list(command.seeds_of(text)) == seeds
    assert list(command.seeds_of(command._describe(seeds))) == seeds


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--strategies", "kriging"), "a strategy must be one of cl_min, .*; got 'kriging'"),
        (("--strategies", "kb@kriging"), "a surrogate must be one of gp, .*; got 'kriging'"),
        (("--surrogates", "kriging"), "a surrogate must be one of gp, .*, or module:object; got 'kriging'"),
        (("--strategies", "lab:nothing"), "cannot load 'lab:nothing': module 'lab' has no attribute 'nothing'"),
        (("--strategies", "lab:broken"), r"a strategy must have a method choose\(request, memory\); got <function"),
        (("--surrogates", "lab:Doubt"), "surrogate must be an object with a method fit"),
        (("--acquisitions", "qEI"), "an acquisition must be one of LogEI, .*, or module:object; got 'qEI'"),
        (("--acquisitions", "elsewhere:Mine"), "cannot load 'elsewhere:Mine': No module named 'elsewhere'"),
        (("--peers", "spearmint"), "a peer must be one of .*; got 'spearmint'"),
        (("--problems", "hartmann7"), "--problems: invalid choice: 'hartmann7'"),
        (("--q", "0"), "must be a whole number, 1 or more; got '0'"),
        (("--seeds", "0"), "must be how many .*; got '0'"),
        (("--seeds", "5-3"), "must be how many .*; got '5-3'"),
        (("--seeds", "1,1"), "must be how many .*; got '1,1'"),
        (("--seeds", "1,,2"), "must be how many .*; got '1,,2'"),
        (("--seeds", ","), "must be how many .*; got ','"),
        (("--seeds", "1-2-3"), "must be how many .*; got '1-2-3'"),
        (("--q", "39"), "q must not be more than 38, what the budget of 50 leaves"),
        (("--strategies", "qei", "--surrogates", "svr"), "qei@svr cannot take part: qei needs"),
        (("--function", "lab.py:yield_of", "--space", "lab.toml"), "without .py, as lab:yield_of"),
        (("--seeds", "0-3,2-4"), "must be how many .*; got '0-3,2-4'"),
        (("--seeds", "few"), "must be how many .*; got 'few'"),
        (("--budget", "10"), "the budget must be more than the 12 initial points of hartmann6; got 10"),
        (("--n-init", "1"), "must be a whole number, 2 or more; got '1'"),
        (("--function", "lab:yield_of"), "--function needs --space"),
        (("--space", "lab.toml"), "name it with --function"),
        (("--maximize",), "name it with --function"),
        (("--function", "lab:yield_of", "--space", "lab.toml", "--problems", "branin"), "leave one of them out"),
        (("--function", "lab:yield_of", "--space", "none.toml"), "can be read; got none.toml"),
        (("--function", "lab:nothing", "--space", "lab.toml"), "cannot load 'lab:nothing'"),
        (("--function", "lab", "--space", "lab.toml"), "must be named as module:object; got 'lab'"),
        (("--colour", "red"), "unrecognized arguments: --colour red"),
    ],
)
@pytest.mark.usefixtures("own")
def test_a_wrong_argument_is_told_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert_one_line(run(*arguments), words)


def test_a_function_that_always_fails_is_told(own: tuple[str, ...]) -> None:
    ran = run("--function", "lab:broken", *own[2:], "--strategies", "random", "--smoke", "--workers", "1")
    assert ran.code == 2
    assert re.search(r"error: every one of the 4 initial evaluations of lab:broken failed.*KeyError", ran.err)


def test_a_folder_that_is_a_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert_one_line(run(*SMALL, "--out", tmp_path / "taken"), "--out must be a folder to write into")


def test_help_names_what_a_space_file_holds() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stopped:
        main(["bench", "--help"])
    assert stopped.value.code == 0
    words = " ".join(out.getvalue().split())
    assert "in TOML or JSON: each name with type = float, int" in words
    assert "--peers" in words
    assert "LogEI, EI, PI, UCB, EHVI, Scalarized, or your own as module:object (default: LogEI)" in words
    assert "a list such as 1,2,7-9; the seed 7 alone is 7-7 or 7," in words
    assert "The report covers what this command names" in words
