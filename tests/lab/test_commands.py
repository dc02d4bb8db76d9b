"""The commands of the lab, called as from a shell: what they write, what they say, and with which exit code."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import assert_one_line, run
from each import each
from sheets_for_tests import begin, cells, write

import believer as bv
from believer.errors import InvalidInput
from believer.lab import beginning, read_study_file
from believer.study.goal import Goal


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    begin(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(sheet: Path, shift: float = 0.0) -> Path:
    """The sheet with results in every row."""
    rows = cells(sheet)
    results = [[f"{60 + shift + int(row[0]) % 7}", "96", ""] for row in rows[1:]]
    return write(sheet, [rows[0], *([*row[:6], *more] for row, more in zip(rows[1:], results, strict=True))])


def data(ran: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.out)
    return found


def test_two_rounds_leave_nothing_but_the_study_its_journal_and_its_sheets(folder: Path) -> None:
    first = run("ask")
    assert (first.code, first.err) == (0, "")
    assert "Then: believer tell batch-001.csv" in first.out
    assert "trial 3" in run("show").out or "trials 0-3" in run("show").out
    assert run("tell", fill(folder / "batch-001.csv")).code == 0
    assert run("ask", "2").code == 0
    assert {path.name for path in folder.iterdir()} == {
        *("study.toml", "study.jsonl"),
        *("batch-001.csv", "batch-001.html", "batch-002.csv", "batch-002.html"),
    }
    assert len(cells(folder / "batch-002.csv")) == 3
    shown = run("show")
    assert "4 results, 0 failed, 2 pending" in shown.out
    assert "Best so far, trial 3: yield 63 %, purity 96 %" in shown.out
    assert "fill in batch-002.csv" in shown.out
    page = (folder / "batch-002.html").read_text(encoding="utf-8")
    assert "<h1>Test, batch 2</h1>" in page
    assert "http" not in page.partition("<body>")[2]


def test_a_sheet_is_never_overwritten_and_can_be_written_again(folder: Path) -> None:
    assert run("ask", "2").code == 0
    assert run("ask", "--pending").code == 0
    assert (folder / "batch-001-2.csv").exists()
    assert_one_line(run("ask", "-o", "batch-001.csv"), "exists, and may have results")
    assert_one_line(run("ask", "-o", "sheet.txt"), "must end in .csv or .xlsx")
    assert_one_line(run("ask", "-o", "no/sheet.csv"), "a folder that exists")
    assert run("ask", "1", "-o", "own.csv").code == 0
    assert (folder / "own.html").exists()
    with bv.Optimizer.load(folder / "study.jsonl", append=False) as study:
        assert len(study.trials) == 3


def test_bad_rows_are_named_and_the_exit_code_says_that_there_are_some(folder: Path) -> None:
    run("ask", "3")
    rows = cells(fill(folder / "batch-001.csv"))
    rows[2][6] = "6l"
    rows.append(["", "50", "50", "0", "DMF", "80", "40", "96", ""])
    write(folder / "batch-001.csv", rows)
    ran = run("tell", "batch-001.csv")
    assert (ran.code, ran.err) == (3, "")
    assert "line 3: yield: '6l' is not a number" in ran.out
    assert "line 5: no suggestion has" in ran.out
    found = run("tell", "batch-001.csv", "--yes", "--json")
    assert found.code == 3
    assert data(found) | {"problems": 0} == {
        **{"ok": True, "sheet": "batch-001.csv", "told": [], "failed": [], "abandoned": [], "replicated": []},
        **{"observed": [3], "changed": [], "known": [0, 2], "waiting": [], "ignored": [], "questions": []},
        **{"pending": [1], "problems": 0},
    }
    assert [row["line"] for row in data(found)["problems"]] == [3]


def test_an_edited_study_is_shown_and_goes_on_only_if_someone_says_so(folder: Path) -> None:
    run("ask", "2")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(text.replace("at_least = 95", "at_least = 97"), encoding="utf-8")
    before = (folder / "study.jsonl").read_bytes()
    for verb in (("ask", "2"), ("tell", "batch-001.csv"), ("amend", "0", "yield=3")):
        ran = run(*verb)
        assert (ran.code, "outcome purity" in ran.out) == (2, True)
        assert "Nothing was done" in ran.err
    refused = run("ask", "2", "--json")
    assert (data(refused)["ok"], data(refused)["error"]) == (False, "OtherSettings")
    assert (folder / "study.jsonl").read_bytes() == before
    assert run("ask", "2", "--yes").code == 0
    assert run("ask", "1").code == 0
    assert "at least 97 %" in run("show").out


def test_results_are_amended(folder: Path) -> None:
    run("ask", "2")
    run("tell", fill(folder / "batch-001.csv"))
    ran = run("amend", "1", "yield=81,5", "Purity=n/a")
    assert "Change it in batch-001.csv too." in ran.out
    assert ran.out.startswith("Trial 1, yield: was 61 %, is 81.5 % now.\nTrial 1, purity: was 96 %, is failed now.\n")
    assert run("amend", "0", "temperature=71.3").out.startswith("Trial 0, temperature: was ")
    assert "60 and 62" in run("amend", "0", "yield=60", "yield=62").out
    for arguments, words in (
        (["7", "yield=3"], "no trial 7"),
        (["0", "yeld=3"], "did you mean 'yield'"),
        (["0", "yield"], "a name and a value"),
        (["0", "yield=1,234"], "may be 1234 or 1.234"),
        (["-1", "yield=3"], "no trial -1|expected one argument|required|whole number"),
    ):
        assert_one_line(run("amend", *arguments), words)


@each(
    "arguments, words",
    [
        (["tell", "results.csv"], "there is no file results.csv"),
        (["tell", "study.toml"], "the description of the study; tell a sheet"),
        (["tell", "study.jsonl"], "study.jsonl is the journal; tell a sheet, such as batch-001.csv."),
        (["tell", "batch-001.html"], "a page to look at; tell a sheet"),
        (["tell", "."], "cannot be read"),
        (["ask", "0"], "whole number, 1 or more"),
        (["ask", "--pending"], "no suggestions and no results yet"),
        (["show", "--study", "nowhere"], "there is no nowhere"),
        (["new"], "there is a study already"),
        (["report"], "comes with the first believer ask"),
        (["report", "a.jsonl", "--study", "."], "name one study"),
    ],
)
def test_the_wrong_order_or_file_is_one_clear_sentence(folder: Path, arguments: list[str], words: str) -> None:
    assert_one_line(run(*arguments), words)
    assert "believer ask suggests 4 experiments" in run("show").out
    assert not (folder / "batch-001.csv").exists()


def test_programs_get_the_same_keys_every_time(folder: Path) -> None:
    assert data(run("show", "--json"))["counts"]["pending"] == 0
    asked = data(run("ask", "2", "--json"))
    assert [*asked] == ["ok", "batch", "sheet", "page", "trials", "waiting"]
    assert [*asked["trials"][0]] == ["trial", "params", "why"]
    rows = [{"trial": one["trial"], "yield": 70.5, "purity": 96} for one in asked["trials"]]
    (folder / "robot.json").write_text(json.dumps(rows), encoding="utf-8")
    told = data(run("tell", "robot.json", "--json"))
    assert (told["ok"], told["told"], told["pending"]) == (True, [0, 1], [])
    shown = data(run("show", "--json"))
    assert (shown["best"]["trial"], shown["best"]["outcomes"]) == (0, {"yield": 70.5, "purity": 96.0})
    assert [*shown] == [
        *("ok", "name", "goals", "counts", "batches", "best", "front", "expected", "pending", "next"),
    ]
    assert data(run("amend", "0", "yield=1", "--json"))["changes"] == ["Trial 0, yield: was 70.5 %, is 1 % now."]
    failed = run("tell", "no.json", "--json")
    assert (failed.code, data(failed)["ok"]) == (2, False)


def test_the_template_is_a_study_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = run("new", "amide", "--template")
    assert "believer ask --study amide" in made.out
    assert read_study_file(tmp_path / "amide" / "study.toml").batch == 8
    assert run("ask", "--study", "amide").code == 0
    assert len(cells(tmp_path / "amide" / "batch-001.csv")) == 9


def test_report_and_watch_find_the_journal_of_the_folder(folder: Path) -> None:
    pytest.importorskip("plotly")
    run("ask", "2")
    assert run("report").out == f"{Path('study.html')}\nOpen it in a browser.\n"
    assert (folder / "study.html").exists()
    assert run("report", "study.toml", "-o", "b.html").code == 0
    assert run("report", "--study", folder, "-o", "c.html").code == 0


def test_two_people_cannot_write_at_once_and_are_told_who_and_since_when(folder: Path) -> None:
    run("ask", "2")
    fill(folder / "batch-001.csv")
    with bv.Optimizer.from_toml("study.toml"):
        assert (folder / "study.jsonl.lock").exists()
        for verb in (("ask", "2"), ("tell", "batch-001.csv"), ("amend", "0", "yield=3")):
            assert_one_line(run(*verb), r"in use by .* on .* \(process \d+\) since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
        assert "2 pending" in run("show").out
    assert not (folder / "study.jsonl.lock").exists()
    assert run("tell", "batch-001.csv").code == 0


def test_suggestions_whose_sheet_could_not_be_written_are_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("believer.lab.folder.Folder.free_name", lambda *_: folder / "study.toml")
        assert_one_line(run("ask", "2"), "the experiments are recorded, but their sheet is not.*believer ask --pending")
    assert run("ask", "--pending").code == 0
    assert len(cells(folder / "batch-001.csv")) == 3


def test_sheets_for_excel_go_out_and_come_back(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    assert "believer tell batch-001.xlsx" in run("ask", "3", "--excel").out
    book = openpyxl.load_workbook(folder / "batch-001.xlsx")
    for row in book.active.iter_rows(min_row=2):
        row[6].value, row[7].value = 70.5, 96
    book.save(folder / "batch-001.xlsx")
    assert run("tell", "batch-001.xlsx").code == 0


def test_parameters_are_fixed_or_shared_in_a_batch(folder: Path) -> None:
    assert run("ask", "3", "--shared", "temperature", "--fixed", "solvent=mecn", "--fixed", "resin=50,5 %").code == 0
    rows = cells(folder / "batch-001.csv")[1:]
    assert {row[4] for row in rows} == {"MeCN"}
    assert {row[1] for row in rows} == {"50.5"}
    assert len({row[5] for row in rows}) == 1
    assert run("ask", "6", "--shared", "temperature=2").code == 0
    assert len({row[5] for row in cells(folder / "batch-002.csv")[1:]}) <= 2
    for arguments, words in (
        (["--shared", "temprature"], "shared must name parameters; .*did you mean 'temperature'"),
        (["--shared", "temperature=x"], "a name and a number of values"),
        (
            ["--shared", "temperature=90"],
            "up to 90 different values, but only 2 experiments are asked for. For 90 °C: --fixed temperature=90",
        ),
        (["--shared", "solvent=3"], "but only 2 experiments are asked for.$"),
        (["--fixed", "solvent"], "a name and a value"),
        (["--fixed", "solvent=ether"], "there is no choice 'ether'"),
        (["--fixed", "pressure=3"], "such as resin="),
    ):
        assert_one_line(run("ask", "2", *arguments), words)


@each(
    "text, parameter",
    [
        ("20 to 120 step 5 °C", bv.Float(20, 120, step=5)),
        ("from 0,5 to 2,5", bv.Float(0.5, 2.5)),
        ("0.1 - 10 log h", bv.Float(0.1, 10, log=True)),
        ("1 to 12 whole", bv.Int(1, 12)),
        ("1..9 whole step 2", bv.Int(1, 9, step=2)),
        ("-20 to 40 °C", bv.Float(-20, 40)),
        ("DMF, MeCN, water", bv.Categorical(["DMF", "MeCN", "water"])),
        ("1, 1.5, 2", bv.Discrete([1.0, 1.5, 2.0])),
        ("1,5; 2,5; 4", bv.Discrete([1.5, 2.5, 4.0])),
    ],
)
def test_a_parameter_is_described_in_a_line(text: str, parameter: object) -> None:
    assert beginning.parameter_of(text) == parameter


@each(
    "text, goal",
    [
        ("", bv.Maximize()),
        ("minimise €/kg", bv.Minimize(units="€/kg")),
        ("max %", bv.Maximize(units="%")),
        ("at least 95 %", bv.AtLeast(95, units="%")),
        (">= 95", bv.AtLeast(95)),
        ("more than 95 %", bv.AtLeast(95, units="%")),
        ("minimum 95", bv.AtLeast(95)),
        ("less than 5", bv.AtMost(5)),
        ("at most 0,5 g", bv.AtMost(0.5, units="g")),
        ("between 6 and 8", bv.Between(6, 8)),
    ],
)
def test_a_goal_is_described_in_a_line(text: str, goal: Goal) -> None:
    found = beginning.goal_of(text)
    assert (found, found.units) == (goal, goal.units)


def test_parts_add_up_to_a_number_with_units_and_what_was_understood_is_said() -> None:
    typed = ",acid,0 to 60 %,alcohol,20 to 80 %,n,1 to 9 whole,s,DMF; THF,,acid; alcohol = 100 %,,yield,max %,,n,3"
    answers, said = iter(typed.split(",")), list[str]()
    text = beginning.Answers(lambda question: next(answers), said.append).text("Mixture")
    assert "sum_to = 100" in text
    understood = ("from 20 to 80 %", "from 1 to 9, whole numbers", "one of DMF, THF", "maximize (%)")
    for words in understood:
        assert any(line.endswith(words) for line in said), words


def test_an_amended_failure_waits_for_what_it_lacks(folder: Path) -> None:
    run("ask", "1")
    write(folder / "told.csv", [["trial", "yield", "purity"], ["0", "failed", "failed"]])
    assert run("tell", "told.csv").code == 0
    assert "Trial 0 now waits for purity." in run("amend", "0", "yield=12.5").out


@each("read, text", [(beginning.parameter_of, "x"), (beginning.parameter_of, "5 to 1"), (beginning.goal_of, "better")])
def test_an_answer_that_makes_no_sense_is_refused(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(InvalidInput):
        read(text)


def test_questions_are_asked_until_the_answers_make_a_study() -> None:
    typed = ",,note,dose,1 to,1 to 10 mg,Dose,,,purity,at least 9,,gain,,,n,0,3"
    answers = iter(typed.split(","))
    said: list[str] = []
    text = beginning.Answers(lambda question: next(answers), said.append).text("Trial run")
    assert 'name = "Trial run"\nbatch = 3' in text
    assert '[outcomes.gain]\ngoal = "maximize"' in text
    assert "options" not in text
    for words in ("needs a parameter", "a column of every sheet", "a range such as", "same column", "still needed"):
        assert any(words in line for line in said), words


@each("count", range(15))
def test_an_input_that_ends_ends_the_questions_and_writes_nothing(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = ["Mixture", "a", "0 to 60 %", "b", "20 to 80 %", "", "a; b = 100", "", "yield", "?", "max %", "", "n", "3"]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed[:count])))
    ended = run("new", tmp_path / "study")
    if count == len(typed):
        assert (ended.code, ended.err) == (0, "")
        return
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert "the input ended" in ended.err
    assert not (tmp_path / "study").exists()


def test_candidates_come_from_a_table_beside_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stock = [[f"{100 + i}", f"{i % 12}", f"{i // 12 * 0.8:.1f}", "AB"[i % 2]] for i in range(60)]
    write(tmp_path / "stock.csv", [["alloy", "chromium", "nickel", "supplier"], *stock])
    text = (
        'table = "stock.csv"\nid = "alloy"\nfeatures = ["chromium", "nickel"]\n[outcomes.hardness]\ngoal = "maximize"\n'
    )
    (tmp_path / "study.toml").write_text(text, encoding="utf-8")
    for number in (1, 2, 3):
        assert run("ask", "4").code == 0
        rows = cells(tmp_path / f"batch-{number:03d}.csv")
        at = {name: rows[0].index(name) for name in ("alloy", "chromium", "nickel", "supplier", "hardness")}
        for row in rows[1:]:
            assert [row[at[name]] for name in ("chromium", "supplier")] == [
                stock[int(row[at["alloy"]]) - 100][i] for i in (1, 3)
            ]
            row[at["hardness"]] = str(200 - (float(row[at["chromium"]]) - 7) ** 2)
        if number == 2:
            rows = [[row[at["alloy"]], row[at["hardness"]]] for row in rows]
        assert run("tell", write(tmp_path / "told.csv", rows)).code == 0
    assert "12 results, 0 failed, 0 pending" in run("show").out
    write(tmp_path / "past.csv", [["alloy", "hardness"], ["999", "3"], *([alloy, "9"] for alloy, *_ in stock[:1])])
    found = data(run("tell", "past.csv", "--yes", "--json"))
    assert [(row["line"], "no row of the table" in row["words"]) for row in found["problems"]] == [(2, True)]
    for wrong, words in (
        ("features = 3", "line 3: features must be a list"),
        ('features = ["cobalt"]', "cobalt"),
        ('rules = [{ sum_to = 1, of = ["a", "b"] }]', "no rules"),
    ):
        (tmp_path / "study.toml").write_text(text.replace('features = ["chromium", "nickel"]', wrong), encoding="utf-8")
        assert_one_line(run("ask"), words)
