"""``believer table1``: the paper's Table 1, measured, on the terminal and in a folder that can be taken up again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import command_runs
import pytest
from command_runs import assert_one_line
from paper_cells import made_up

import believer as bv
from believer.experiments import Cell, read_store
from believer_paper import plan, table1
from believer_paper.cells.diagnoses import SETTINGS
from believer_paper.compatibility import LIES
from believer_paper.numbers.printed import TABLE_1
from believer_paper.results import PRESETS, Results
from believer_paper.tables.diagnoses import READINGS, table_1

run = partial(command_runs.run, "table1")


def invented(cell: Cell) -> dict[str, object]:
    return made_up(cell).result


def test_the_cells_are_those_of_a_reproduction() -> None:
    planned = set(plan.cells(["claims"], PRESETS))
    least = min(seeds for settings, seeds in SETTINGS if settings.get("lie") == "kb")
    assert set(table1.table_cells(PRESETS, least)) <= planned


def test_every_row_of_the_paper_is_measured_as_it_stands_and_untold_where_the_paper_calls_it_parametric() -> None:
    assert [readings[0][0] for readings in READINGS.values()] == list(TABLE_1)
    for readings in READINGS.values():
        updates = [update for _, update, _ in readings]
        parametric = readings[0][0] in ("fixed_rbf", "neural", "forest", "svr")
        assert ("none" in updates) == parametric


def test_the_command_makes_the_table_of_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table1, "work", invented)
    ran = run("--seeds", "2", "--preset", "printed", "--workers", "1", "--out", tmp_path)
    assert ran.code == 0
    stored = read_store(tmp_path / "cells.jsonl")
    expected = table_1(Results(tuple(stored)))
    assert expected is not None
    assert ran.out.startswith(expected.table.text())
    text = (tmp_path / "table01.md").read_text(encoding="utf-8")
    assert text.startswith(expected.markdown())
    assert f"believer {bv.__version__}" in text
    assert len(stored) == 2 * len(LIES) * sum(map(len, READINGS.values()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cells.jsonl", "table01.csv", "table01.md"]


def test_a_run_that_is_there_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table1, "work", invented)
    assert run("--seeds", "1", "--preset", "ours", "--workers", "1", "--out", tmp_path).code == 0
    ran: list[Cell] = []

    def counted(cell: Cell) -> dict[str, object]:
        ran.append(cell)
        return invented(cell)

    monkeypatch.setattr(table1, "work", counted)
    assert run("--seeds", "2", "--preset", "ours", "--workers", "1", "--out", tmp_path).code == 0
    assert {cell.seed for cell in ran} == {1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seeds", "0"), "must be a whole number, 1 or more; got '0'"),
        (("--preset", "moon"), "--preset: invalid choice: 'moon'"),
        (("gp",), "unrecognized arguments: gp"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert_one_line(run(*arguments), words)
