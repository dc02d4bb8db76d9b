"""The commands of the lab, called as from a shell: what they write, what they say, and with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_runs import assert_one_line, run
from each import each
from sheets_for_tests import begin, cells, write

import believer as bv
from believer.lab import read_study_file


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
    assert ran.out.startswith("Trial 1, yield: was 61 %, is 81.5 % now.\nTrial 1, purity: was 96 %, is failed now.\n")
    assert "60 and 62" in run("amend", "0", "yield=60", "yield=62").out
    for arguments, words in (
        (["7", "yield=3"], "no trial 7"),
        (["0", "yeld=3"], "did you mean 'yield'"),
        (["0", "yield"], "a name and a value"),
        (["0", "yield=1,234"], "may be 1234 or 1.234"),
        (["-1", "yield=3"], "no trial -1|expected one argument|required"),
    ):
        assert_one_line(run("amend", *arguments), words)


@each(
    "arguments, words",
    [
        (["tell", "results.csv"], "there is no file results.csv"),
        (["tell", "study.toml"], "has no column for yield or purity"),
        (["tell", "."], "cannot be read"),
        (["ask", "0"], "whole number, 1 or more"),
        (["ask", "--pending"], "nothing was suggested yet"),
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
    assert run("report").out == f"{Path('study.html')}\n"
    assert (folder / "study.html").exists()
    assert run("report", "study.toml", "-o", "b.html").code == 0
    assert run("report", "--study", folder, "-o", "c.html").code == 0
