"""How far the numbers agree: each printed number counts once, by standard errors, and zeros are apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from paper_cells import every_cell, with_result

from believer_paper.numbers import printed
from believer_paper.results import PRESETS, Results
from believer_paper.tables import tables
from believer_paper.tables.agreement import Agreement, agreement_table, agreements, by_kind, in_a_sentence


@pytest.fixture(scope="module")
def every() -> Results:
    return Results(tuple(every_cell(PRESETS)))


def found(results: Results, preset: str = "printed") -> list[Agreement]:
    return agreements([table for _, table in sorted(tables(results).items())], preset)


def kinds(several: Sequence[Agreement]) -> dict[str, Agreement]:
    return {one.kind: one for one in by_kind(several)}


@pytest.fixture(scope="module")
def agreed(every: Results) -> list[Agreement]:
    return found(every)


def test_every_final_value_of_the_paper_counts_once(agreed: list[Agreement]) -> None:
    finals = [*printed.TABLE_4, *printed.TABLE_5, *printed.TABLE_6, *printed.SVM, *printed.Q10_FINAL]
    assert len(kinds(agreed)["final values"].numbers) == len(finals) == 31


def test_every_distance_of_the_paper_counts_once_though_it_prints_some_three_times(agreed: list[Agreement]) -> None:
    distances = kinds(agreed)["distances of the diagnostic"]
    once = 2 * (len(printed.TABLE_2) + len(printed.TABLE_11)) + len(printed.TABLE_9)
    retrained, bounds = 2 * 2, 2 * 4  # Table 7 adds two rows to Table 2, Table 8 its columns of UCB
    assert len(distances.numbers) == once + retrained + bounds
    assert len(kinds(agreed)["diversities of loops"].numbers) == len(printed.TABLE_5) + len(printed.TABLE_6)


def test_zeros_are_apart_and_everything_else_is_judged(agreed: list[Agreement]) -> None:
    distances = kinds(agreed)["distances of the diagnostic"]
    papers = [one.comparison.paper for one in distances.numbers]
    assert len(distances.zeros) == sum(paper is not None and paper.mean == 0.0 for paper in papers) == 20
    assert len(distances.judged) + len(distances.zeros) == len(distances.numbers)
    assert distances.met == len(distances.zeros)
    assert not kinds(agreed)["final values"].zeros


def test_a_zero_that_is_none_with_us_is_not_met(every: Results) -> None:
    def wide(result: dict[str, object]) -> None:
        points = result["fixed"]["points"]  # type: ignore[index]
        points[1] = [u + 0.1 for u in points[0]]

    where = {"preset": "printed", "surrogate": "forest", "update": "none", "q": 2, "problem": "hartmann6"}
    distances = kinds(found(with_result(every, wide, "sdd", **where)))["distances of the diagnostic"]
    assert (distances.met, len(distances.zeros)) == (18, 20)


def test_a_final_value_far_off_is_counted_and_named_first(every: Results, agreed: list[Agreement]) -> None:
    def worse(result: dict[str, object]) -> None:
        result["values"] = [value + 100.0 for value in result["values"]]  # type: ignore[attr-defined]

    where = {"preset": "printed", "problem": "ackley8", "strategy": "lp", "q": 2, "noise": 0.0, "options": {}}
    changed = found(with_result(every, worse, "loop", **where))
    before, after = kinds(agreed)["final values"], kinds(changed)["final values"]
    assert len(after.off) <= len(before.off) + 1
    assert after.off[0].where == "Local Penalization, q=2, Ackley-8D"
    sentence = in_a_sentence(changed)
    assert "Farthest off: Exp 9 (Table 4), Local Penalization, q=2, Ackley-8D (" in sentence
    assert f"{len(after.judged) - len(after.off)} of 31 final values" in sentence


def test_the_table_has_a_row_a_table_and_one_a_kind_that_adds_them_up(agreed: list[Agreement]) -> None:
    table = agreement_table(agreed)
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    for last in [row for row in rows if row["of"] == "all"]:
        for column in ("numbers", "within 2 s.e.", "off", "printed without spread"):
            parts = [row[column] for row in rows if row["kind"] == last["kind"] and row["of"] != "all"]
            assert sum(int(part or 0) for part in parts) == last[column]
    assert {row["of"] for row in rows if row["kind"] == "final values"} == {
        *("Exp 9 (Table 4)", "Exp 10 (Table 5)", "Exp 11 (Table 6)", "Exp 6 (text)", "Exp 12 (text)", "all"),
    }
    assert all(re.fullmatch(r"(.+: \d+\.\d s\.e\.\n?)*", str(row["farthest off"] or "")) for row in rows)


def test_without_tables_there_is_nothing_to_say() -> None:
    assert in_a_sentence([]) == ""
    assert agreement_table([]).rows == ()
