"""``believer sdd``: reports on the terminal and in a folder that can be taken up again; errors are one line."""

import contextlib
import csv
import html
import io
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import command_runs
import pytest
from command_runs import assert_one_line
from each import each

import believer as bv
from believer.cli import VERBS, main
from believer.cli import sdd as command
from believer.diagnostics import sdd as room
from believer.diagnostics.sdd import Diagnosis
from believer.diagnostics.sdd_page import summary_table
from believer.diagnostics.sdd_report import NO_RESPONSE, SDDReport, verdict_of
from believer.errors import InvalidInput
from believer.experiments import read_store
from believer.experiments.parts import part
from believer.surrogates import SURROGATES

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

SMALL = ("--problem", "branin", "--n", "6", "--q", "2", "--seeds", "2", "--workers", "1")
OWN = """
import numpy as np
from believer.surrogates.protocols import Prediction


class Model:
    def predict(self, X):
        return Prediction(X @ np.arange(1.0, 1.0 + X.shape[1]), np.full(len(X), 0.5))


class Plane:
    def __repr__(self):
        return "Plane()"

    def fit(self, data, rng, previous=None):
        return Model()


ready = Plane()
number = 7
"""
TABLE = "speed,heat,loss\n1,10,3\n2,40,1\n3,20,2\n4,30,0.5\n2.5,25,0.75\n"


run = partial(command_runs.run, "sdd")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with surrogates of the user's own."""
    (tmp_path / "own_surrogates.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_surrogates", raising=False)
    return "own_surrogates"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    return path


def test_sdd_is_a_verb() -> None:
    assert "sdd" in VERBS


def test_one_surrogate_prints_its_report_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("gp", *SMALL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("GP() on branin, n=6, q=2: lie ConstantLie(of=min), LogEI(xi=0.0), update auto, 2 seeds")
    for words in ("A: fixed starts", "B: random restarts", "verdict: ", "was it the lie?", "\nDone in "):
        assert ran.out.count(words) == 1
    assert "Structural Diversity Diagnostic" not in ran.out  # the table of several
    assert list(tmp_path.iterdir()) == []


def test_the_report_is_the_librarys(tmp_path: Path) -> None:
    ran = run("gp", *SMALL, "--lie", "kb", "--acquisition", "ucb", "--incumbent", "data", "--out", tmp_path)
    assert ran.code == 0
    (told,) = json.loads((tmp_path / "sdd.json").read_text())
    report = bv.sdd(
        bv.GP(), "branin", 2, lie=bv.Believe(), acquisition=bv.UCB(), incumbent="data", seeds=2, n=6, progress=False
    )
    there = SDDReport.from_json(json.dumps(told))
    assert there.settings == report.settings
    assert [m.fixed.points for m in there.measurements] == [m.fixed.points for m in report.measurements]


def test_several_surrogates_and_updates_are_told_one_by_one_and_together(tmp_path: Path, own: str) -> None:
    folder = tmp_path / "new" / "folder"
    ran = run("gp", f"{own}:ready", *SMALL, "--update", "auto", "none", "--acquisition", "ucb", "--out", folder)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("verdict: ") == 4
    assert "Structural Diversity Diagnostic\n" in ran.out
    assert f"Report, figures and results are in {folder}" in ran.out
    figures = ["sdd.png", "sdd_1.png", "sdd_2.png", "sdd_3.png", "sdd_4.png"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["results.jsonl", "sdd.csv", "sdd.html", "sdd.json", "sdd.md", *figures]
    )
    for name in figures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    reports = [SDDReport.from_json(json.dumps(one)) for one in json.loads((folder / "sdd.json").read_text())]
    assert [(r.settings["update"], len(r.measurements)) for r in reports] == [("auto", 2), ("none", 2)] * 2
    rows = list(csv.DictReader(io.StringIO((folder / "sdd.csv").read_text())))
    assert [(row["surrogate"], row["update"]) for row in rows] == [
        *(("GP()", "auto"), ("GP()", "none"), ("Plane", "auto"), ("Plane", "none"))
    ]
    assert rows[1]["verdict"] == "does not respond (2 of 2)"
    page, text = ((folder / name).read_text(encoding="utf-8") for name in ("sdd.html", "sdd.md"))
    for report in reports:
        assert report.title in ran.out
        for told in (page, text):
            assert f"{report.verdict} (2 of 2 seeds)." in told
            assert html.escape(report.title, quote=False) in told
    assert page.count('<p class="use bad">') == sum(report.verdict == NO_RESPONSE for report in reports) > 0
    assert page.count("<img ") == len(figures)
    assert len(read_store(folder / "results.jsonl")) == 8


def test_a_run_in_the_same_folder_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("gp", *SMALL, "--out", tmp_path)
    kept = {name: (tmp_path / name).read_text() for name in ("results.jsonl", "sdd.json", "sdd.csv", "sdd.md")}

    def never(*_: object) -> None:
        pytest.fail("measured again")

    monkeypatch.setattr(room, "measure", never)
    again = run("gp", *SMALL, "--out", tmp_path)
    assert again.code == first.code == 0
    assert {name: (tmp_path / name).read_text() for name in kept} == kept


@each("name", SURROGATES)
def test_every_name_stands_for_a_surrogate_of_the_library(name: str) -> None:
    surrogate = part("a surrogate", name).value
    assert type(surrogate).__name__ == SURROGATES[name]
    assert callable(surrogate.fit)


def test_a_surrogate_of_ones_own_is_an_object_or_a_class(own: str) -> None:
    for name in ("ready", "Plane", "Plane()"):
        assert repr(part("a surrogate", f"{own}:{name}").value) == "Plane()"


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The settings of what a command line would measure."""

    def asked(*arguments: str | Path) -> dict[str, Any]:
        found: list[Diagnosis] = []

        def stop(diagnoses: list[Diagnosis], *_: object, **__: object) -> None:
            found.extend(diagnoses)
            raise InvalidInput("far enough")

        monkeypatch.setattr(command, "diagnose", stop)
        assert_one_line(run(*arguments), "far enough")
        (one,) = found
        return one.settings()

    return asked


def test_a_number_is_a_lie_in_the_units_of_y(asked_for: Callable[..., dict[str, Any]]) -> None:
    assert asked_for("gp", "--lie", "-2.5")["lie"] == {"type": "ConstantLie", "of": -2.5}
    assert asked_for("gp", "--lie", "kb_lower")["lie"] == {"type": "Believe", "sigmas": -1.0}


X: list[list[float]] = [[1, 10], [2, 40], [3, 20], [4, 30], [2.5, 25]]
Y = [3, 1, 2, 0.5, 0.75]


@pytest.mark.parametrize(
    ("arguments", "data"),
    [
        ((), (X, Y, [(1, 4), (10, 40)])),
        (("--bounds", "speed=0:5"), (X, Y, [(0, 5), (10, 40)])),
        (("--bounds", "heat=-10:1e2", "speed=0:5"), (X, Y, [(0, 5), (-10, 1e2)])),
        (("--target", "loss"), (X, Y, [(1, 4), (10, 40)])),
        (
            ("--target", "speed"),
            ([[h, v] for (_, h), v in zip(X, Y, strict=True)], [s for s, _ in X], [(10, 40), (0.5, 3)]),
        ),
    ],
)
def test_a_table_of_numbers_is_diagnosed_in_its_own_bounds_or_those_given(
    table: Path, asked_for: Callable[..., dict[str, Any]], arguments: tuple[str, ...], data: Any
) -> None:
    assert asked_for("gp", "--data", table, *arguments) == room.diagnosis(bv.GP(), data).settings()


@pytest.mark.parametrize("encode", ["utf-8-sig", "utf-8"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_spreadsheets_write_can_be_read(
    table: Path, asked_for: Callable[..., dict[str, Any]], encode: str, newline: str
) -> None:
    table.write_bytes((TABLE.replace("1,10,3", '"1", 10 ,3') + "\n\n").replace("\n", newline).encode(encode))
    given = asked_for("gp", "--data", table, "--bounds", "speed=0:5")
    assert given == room.diagnosis(bv.GP(), (X, Y, [(0, 5), (10, 40)])).settings()


def test_a_table_is_measured_as_a_problem_is(table: Path) -> None:
    ran = run("gp", "--data", table, "--q", "2", "--seeds", "1", "--workers", "1")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("GP() on a table of 5 points, q=2: ")


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (TABLE.replace("40", "n/a"), (), r"line 3 of \S+ must be 3 numbers; could not convert string to float: 'n/a'"),
        (TABLE.replace("40,1", "40"), (), r"line 3 of \S+ must be 3 numbers"),
        (TABLE.replace("40,1", "40,1,9"), (), r"line 3 of \S+ must be 3 numbers"),
        (TABLE.replace("40", ""), (), r"line 3 of \S+ must be 3 numbers"),
        (TABLE.replace("40", "nan"), (), "must be finite|low < high"),
        (TABLE.replace("0.5,", "inf,").replace("30,0.5", "30,inf"), (), "y must be finite; item 3 is not"),
        ("speed,heat,loss\n1,2,3\n", (), "a header and at least two rows; it has 2 lines"),
        ("", (), "a header and at least two rows; it has 0 lines"),
        (TABLE, ("--target", "cost"), "--target must be one of the columns speed, heat, loss; got 'cost'"),
        (TABLE, ("--bounds", "weight=0:1"), r"--bounds must name columns of \S+: speed, heat; got weight"),
        (TABLE, ("--bounds", "loss=0:5"), "--bounds must name columns"),
        (TABLE, ("--bounds", "speed"), "--bounds must be COLUMN=LOW:HIGH; got 'speed'"),
        (TABLE, ("--bounds", "speed=1"), "--bounds must be COLUMN=LOW:HIGH; got 'speed=1'"),
        (TABLE, ("--bounds", "speed=5:0"), r"low < high; got low=5\.0, high=0\.0"),
        (TABLE, ("--bounds", "speed=0:3"), "every point must lie within the bounds; row 3 does not"),
        ("speed,heat,loss\n1,10,3\n1,40,1\n", (), r"low < high; got low=1\.0, high=1\.0"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_in_one_line(
    table: Path, text: str, arguments: tuple[str, ...], words: str
) -> None:
    table.write_text(text)
    assert_one_line(run("gp", "--data", table, "--seeds", "1", "--workers", "1", *arguments), words)


@each(
    ("arguments", "words"),
    [
        ((), "name one or more surrogates: gp, .*, or module:object"),
        (("kriging",), "surrogate must be one of gp, .*, or module:object; got 'kriging'"),
        (("no_such_module:thing",), "cannot load 'no_such_module:thing': No module named 'no_such_module'"),
        (("math:gp",), "cannot load 'math:gp': module 'math' has no attribute 'gp'"),
        (("math:pi",), r"surrogate must be an object with a method fit\(data, rng, previous\); got 3\.14"),
        (("gp", "--seeds", "0"), "must be a whole number, 1 or more; got '0'"),
        (("gp", "--seeds", "two"), "must be a whole number, 1 or more; got 'two'"),
        (("gp", "--q", "1"), "must be a whole number, 2 or more; got '1'"),
        (("gp", "--q", "2.5"), r"must be a whole number, 2 or more; got '2\.5'"),
        (("gp", "--n", "1"), "must be a whole number, 2 or more; got '1'"),
        (("gp", "--workers", "0"), "must be a whole number, 1 or more; got '0'"),
        (("gp", "--problem", "hartmann7"), "--problem: invalid choice: 'hartmann7'"),
        (("gp", "--acquisition", "qei"), "--acquisition: invalid choice: 'qei'"),
        (("gp", "--update", "retrain"), "--update: invalid choice: 'retrain'"),
        (("gp", "--incumbent", "best"), "--incumbent: invalid choice: 'best'"),
        (("gp", "--lie", "white"), "lie must be one of cl_min, .*, or a number; got 'white'"),
        (("gp", "--lie", "nan"), "lie must be"),
        (
            ("gp", "--data", "no/such/file.csv"),
            "a CSV file that can be read; got no/such/file.csv: No such file",
        ),
        (("gp", "--colour", "red"), "unrecognized arguments: --colour red"),
        (("svr", "--update", "condition", *SMALL), 'cannot be conditioned; use update="refit"'),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert_one_line(run(*arguments), words)


def test_a_folder_that_is_a_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert_one_line(run("gp", *SMALL, "--out", tmp_path / "taken"), "--out must be a folder to write into")


def test_results_that_are_not_ours_are_told_in_one_line_and_kept(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text('{"a": 1}\n')
    assert_one_line(run("gp", *SMALL, "--out", tmp_path), "line 1 of .*results.jsonl is not a finished cell")
    assert (tmp_path / "results.jsonl").read_text() == '{"a": 1}\n'


def test_help_names_the_surrogates_and_where_defaults_are() -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stopped:
        main(["sdd", "--help"])
    assert stopped.value.code == 0
    assert "mq_rbf" in out.getvalue()
    assert "--incumbent" in out.getvalue()


def test_a_summary_needs_the_same_columns_for_every_report() -> None:
    reports = [bv.sdd(bv.GP(), "branin", 2, n=6, seeds=1, update=u, progress=False) for u in ("none", "auto")]
    summary = summary_table(reports)
    assert len(summary.rows) == 2
    assert summary.rows[0][-1] == f"{verdict_of(reports[0].measurements[0])} (1 of 1)"


def test_the_command_finds_a_module_in_the_folder_where_it_is_called(tmp_path: Path) -> None:
    """The installed command, whose own folder is elsewhere; worker processes find it too."""
    (tmp_path / "here.py").write_text("from believer import FixedRBF\nmine = FixedRBF(8)\n", encoding="utf-8")
    command = Path(sys.executable).with_name("believer")
    if not command.exists():
        pytest.skip("the package is not installed with its command")
    arguments = ["sdd", "here:mine", "--problem", "branin", "--n", "6", "--seeds", "2", "--q", "2", "--workers", "2"]
    done = subprocess.run([command, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "FixedRBF(centers=8)" in done.stdout
