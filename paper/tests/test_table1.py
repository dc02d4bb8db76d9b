"""``believer table1``: the paper's Table 1, measured, on the terminal and in a folder that can be taken up again."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import command_runs
import pytest
from command_runs import assert_one_line

import believer as bv
from believer.experiments import read_store
from believer_paper import compatibility
from believer_paper.setup.likelihood import PrintedGP

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

run = partial(command_runs.run, "table1")


def test_the_table_measures_the_entries_and_leaves_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [compatibility.table_1()[0], compatibility.table_1()[3]]
    assert [type(entry.surrogate) for entry in entries] == [PrintedGP, bv.FixedRBF]
    monkeypatch.setattr(compatibility, "table_1", lambda: tuple(entries))
    ran = run("--problem", "branin", "--n", "6", "--q", "2", "--seeds", "1", "--workers", "1", "--out", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Compatibility with pseudo-observations: 1 data sets")
    assert f"believer {bv.__version__}, Python" in (tmp_path / "compatibility.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("compatibility.csv", "compatibility.json", "compatibility.md", "compatibility.png", "results.jsonl")
    ]
    assert len(read_store(tmp_path / "results.jsonl")) == 8
    data = json.loads((tmp_path / "compatibility.json").read_text())
    assert [row["paper: compatible"] for row in data["table"]] == ["Yes", "No"]
    assert {report["settings"]["incumbent"] for report in data["reports"]} == {"data"}
    assert len(list(csv.reader(io.StringIO((tmp_path / "compatibility.csv").read_text())))) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seeds", "0"), "must be a whole number, 1 or more; got '0'"),
        (("--problem", "moon"), "--problem: invalid choice: 'moon'"),
        (("gp",), "unrecognized arguments: gp"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert_one_line(run(*arguments), words)
