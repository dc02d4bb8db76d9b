"""Sheets that people fill in: every good row is told, every other one is named with its line, and nothing is lost."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest
from each import each
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sheets_for_tests import GOALS, SPACE, begin, cells, write

import believer as bv
from believer.errors import BelieverError, InvalidInput
from believer.study.tell_report import TellReport


@pytest.fixture
def opt(tmp_path: Path) -> bv.Optimizer:
    return bv.Optimizer.from_toml(begin(tmp_path))


def rows_of(opt: bv.Optimizer, folder: Path, count: int = 4) -> list[list[str]]:
    return cells(opt.ask(count).to_csv(folder / f"sheet-{len([*folder.iterdir()])}.csv"))


def filled(rows: list[list[str]]) -> list[list[str]]:
    """The sheet with a yield of 60, 61, ... and a purity of 96."""
    return [rows[0], *([*row[:6], str(60 + i), "96", ""] for i, row in enumerate(rows[1:]))]


def told(opt: bv.Optimizer, folder: Path, rows: list[list[str]], **options: Any) -> TellReport:
    return opt.tell_csv(write(folder / "filled.csv", rows), **options)


def test_a_sheet_goes_out_and_comes_back(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = rows_of(opt, tmp_path)
    assert rows[0] == [
        "trial",
        "resin (%)",
        "hardener (%)",
        "filler (%)",
        "solvent",
        "temperature (°C)",
        "yield (%)",
        "purity (%)",
        "note",
    ]
    assert all(math.fsum(map(float, row[1:4])) == 100.0 for row in rows[1:])
    assert {row[4] for row in rows[1:]} <= {"DMF", "'=water", "MeCN"}
    report = told(opt, tmp_path, filled(rows))
    assert (report.told, report.problems, report.is_complete) == ((0, 1, 2, 3), (), True)
    assert [opt.outcomes[i].objectives for i in range(4)] == [{"yield": 60.0 + i} for i in range(4)]
    events = len(opt.events)
    again = told(opt, tmp_path, filled(rows))
    assert (again.known, again.is_complete, len(opt.events)) == ((0, 1, 2, 3), True, events)
    with pytest.raises(InvalidInput, match="exists, and may have results"):
        opt.ask(1).to_csv(tmp_path / "filled.csv")


def test_a_sheet_can_be_told_as_often_as_it_grows(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = rows_of(opt, tmp_path)
    blank = told(opt, tmp_path, rows)
    assert (blank.waiting, opt.counts.pending) == ((0, 1, 2, 3), 4)
    some = [rows[0], *([*row[:6], "70" if i < 2 else "", "", ""] for i, row in enumerate(rows[1:]))]
    assert told(opt, tmp_path, some).told == (0, 1)
    assert told(opt, tmp_path, some).waiting == (0, 1, 2, 3)
    full = [rows[0], *([*row[:6], "70", "96", ""] for row in rows[1:])]
    full.append([*rows[1][:6], "71", "", ""])
    report = told(opt, tmp_path, full)
    assert (report.replicated, report.told) == ((0,), (1, 2, 3))
    assert opt.outcomes[0].replicates == {"yield": (70.0, 71.0)}
    assert opt.outcomes[0].constraints == {"purity": 96.0}
    assert told(opt, tmp_path, full).known == (0, 1, 2, 3)


def test_failures_and_experiments_that_nobody_runs(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = rows_of(opt, tmp_path)
    rows[1][6:] = ["failed", "", "spilled"]
    rows[2][6:] = ["81", "n/a", ""]
    rows[3][6:] = ["Not run", "", ""]
    rows[4][6:] = ["82", "not run", ""]
    report = told(opt, tmp_path, rows)
    assert (report.failed, report.abandoned) == ((0, 1), (2,))
    assert [row["error"] for row in opt.records()][:2] == ["spilled", "no number for purity"]
    assert opt.outcomes[1].objectives == {"yield": 81.0}
    (problem,) = report.problems
    assert (problem.line, "leave one of them out" in problem.words) == (5, True)
    assert told(opt, tmp_path, rows).known == (0, 1, 2)
    rows[3][6:] = ["77", "97", ""]
    assert told(opt, tmp_path, rows).told == (2,)


def test_rows_are_matched_by_their_parameters(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = filled(rows_of(opt, tmp_path))
    moved = [[*row[1:8][::-1]] for row in reversed(rows)]
    moved = [moved[-1], *moved[:-1], [*moved[0][:1], "99", *moved[0][2:]]]
    report = told(opt, tmp_path, moved)
    assert (report.told, report.questions) == ((0, 1, 2, 3), ())
    assert opt.outcomes[3].replicates["yield"] == (63.0, 99.0)
    assert told(opt, tmp_path, moved).known == (0, 1, 2, 3)


def test_past_data_are_taken_after_a_question_and_only_once(opt: bv.Optimizer, tmp_path: Path) -> None:
    head = ["resin", "hardener", "filler", "solvent", "temperature", "yield", "purity"]
    past = [
        head,
        ["50", "50", "0", "DMF", "80", "40", "90"],
        ["50", "50", "0", "DMF", "80", "42", "91"],
        ["60", "40", "0", "=WATER", "95", "n/a", ""],
    ]
    asked = told(opt, tmp_path, past)
    assert (len(opt.trials), [row.line for row in asked.questions]) == (0, [2, 4])
    report = told(opt, tmp_path, past, accept=True)
    assert report.observed == (0, 1)
    assert opt.outcomes[0].replicates == {"yield": (40.0, 42.0), "purity": (90.0, 91.0)}
    assert [row["status"] for row in opt.records()] == ["done", "failed"]
    assert told(opt, tmp_path, past, accept=True).known == (0, 1)
    more = told(opt, tmp_path, [*past, ["50", "50", "0", "DMF", "80", "44", "91.5"]], accept=True)
    assert (more.observed, opt.outcomes[2].objectives) == ((2,), {"yield": 44.0})
    as_it_was = ["50.5", "50", "0", "DMF", "122.5", "44", "91.5"]
    assert told(opt, tmp_path, [head, as_it_was], accept=True).observed == (3,)
    assert told(opt, tmp_path, [head, as_it_was], accept=True).known == (3,)


def test_what_was_really_used_is_taken_after_a_question(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = filled(rows_of(opt, tmp_path))
    was = {1: opt.trials[1].params, 2: opt.trials[2].params}
    rows[2][5], rows[3][1], rows[3][4] = "71.3", "12.5", "dmf"
    rows.append([*rows[4][:5], "99", *rows[4][6:]])
    asked = told(opt, tmp_path, rows)
    assert (asked.told, [row.line for row in asked.questions]) == ((0,), [3, 4])
    assert "the sheet says it was run with temperature=71.3" in asked.questions[0].words
    assert [(row.line, row.words) for row in asked.problems] == [(5, "rows of trial 3 differ in temperature.")]
    report = told(opt, tmp_path, rows, accept=True)
    assert (report.told, report.changed) == ((1, 2), (1, 2))
    assert (opt.trials[1].params["temperature"], opt.trials[1].suggested) == (71.3, was[1])
    assert opt.trials[2].params == {**was[2], "resin": 12.5, "solvent": "DMF"}
    events = len(opt.events)
    assert told(opt, tmp_path, rows, accept=True).known == (0, 1, 2)
    rows[2][5] = "72"
    (problem,) = [row for row in told(opt, tmp_path, rows, accept=True).problems if row.line == 3]
    assert "believer amend 1 temperature=72" in problem.words
    assert len(opt.events) == events


@each(
    "row, words",
    [
        ({0: "17"}, "there is no trial 17"),
        ({0: "x"}, "the trial must be a number"),
        ({0: "", 1: ""}, "no trial number, and no resin"),
        ({6: "8l"}, "yield: '8l' is not a number"),
        ({6: "<5"}, "limit of detection"),
        ({7: "1,234"}, "may be 1234 or 1.234"),
        ({7: "95 g"}, "purity"),
        ({4: "water"}, "did you mean '=water'"),
        ({4: "Toluene"}, "there is no choice 'Toluene'"),
        ({8: "", 9: "5"}, "10 cells below 9 headings"),
        ({6: "1e101"}, "within"),
    ],
)
def test_a_bad_row_is_named_with_its_line_and_the_others_are_told(
    tmp_path: Path, row: dict[int, str], words: str
) -> None:
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    rows = filled(rows_of(opt, tmp_path, 4))
    rows[2] += [""] * (max(row) + 1 - len(rows[2]))
    for place, cell in row.items():
        rows[2][place] = cell
    report = told(opt, tmp_path, rows)
    assert report.told == (0, 2, 3)
    (problem,) = report.problems
    assert problem.line == 3
    assert words in problem.words
    assert str(problem) in str(report)


def test_a_result_that_contradicts_is_not_taken_and_amend_is_named(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = filled(rows_of(opt, tmp_path))
    told(opt, tmp_path, rows)
    rows[1][6], rows[2][6], rows[3][6:8] = "60.5", "failed", ["not run", ""]
    report = told(opt, tmp_path, rows)
    assert [row.line for row in report.problems] == [2, 3, 4]
    assert "believer amend 0 yield=60.5" in str(report)
    assert "believer amend 1 yield=failed" in str(report)
    assert opt.outcomes[0].objectives == {"yield": 60.0}


@each(
    "heading, words",
    [
        ("temperature (K)", "is in 'K', and the study has temperature in '°C'"),
        ("Yeild", "if 'yield' is meant"),
        ("yield [g]", "is in 'g'"),
    ],
)
def test_an_edited_heading_is_refused_in_a_sentence(tmp_path: Path, heading: str, words: str) -> None:
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    rows = filled(rows_of(opt, tmp_path, 2))
    place = 6 if heading.casefold()[0] == "y" else 5
    rows[0][place] = heading
    with pytest.raises(InvalidInput, match=words):
        told(opt, tmp_path, rows)
    assert opt.counts.done == 0
    rows[0][5:7] = ["TEMPERATURE", " Yield / % "]
    assert told(opt, tmp_path, rows).told == (0, 1)


@each(
    "change, words",
    [
        (lambda rows: [row[:6] for row in rows], "has no column for yield or purity"),
        (lambda rows: [row[1:5] + row[6:] for row in rows], "it has none for temperature"),
        (lambda rows: [[*row, row[6]] for row in rows], "two columns for 'yield'"),
        (lambda rows: [], "is empty"),
    ],
)
def test_a_sheet_of_something_else_is_refused_before_anything_is_told(tmp_path: Path, change: Any, words: str) -> None:
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    rows = filled(rows_of(opt, tmp_path, 2))
    with pytest.raises(InvalidInput, match=words):
        told(opt, tmp_path, change(rows))
    with pytest.raises(InvalidInput, match="there is no file"):
        opt.tell_csv(tmp_path / "nothing.csv")
    assert opt.counts.answered == 0


def excel(rows: list[list[Any]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["A title", None])
    for row in rows:
        book.active.append(row)
    for row in book.active.iter_rows(min_row=3, min_col=8, max_col=8):
        row[0].value, row[0].number_format = 0.965, "0.0%"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def numbers(rows: list[list[str]]) -> list[list[Any]]:
    """Cells as a spreadsheet has them."""
    return [rows[0], *([int(r[0]), *map(float, r[1:4]), r[4], *map(float, r[5:8]), None] for r in rows[1:])]


SAVED: dict[str, Callable[[list[list[str]]], str | bytes]] = {
    "with semicolons and decimal commas": lambda rows: "\r\n".join(";".join(row).replace(".", ",") for row in rows),
    "as text in UTF-16": lambda rows: "\n".join("\t".join(row) for row in rows).encode("utf-16"),
    "in the old Western encoding": lambda rows: "\n".join(",".join(row) for row in rows).encode("cp1252"),
    "with its separator": lambda rows: "sep=|\n" + "\n".join("|".join(row) for row in rows),
    "below a title, with empty rows and columns": lambda rows: (
        "Results of Monday,,,,,,,,,,,\n,,,,,,,,,,,\n" + "\n,,,,,,,,,,,\n".join(",".join([*row, ",,"]) for row in rows)
    ),
    "by an old Mac": lambda rows: "\r".join(",".join(row) for row in rows),
    "with trials as floats": lambda rows: "\n".join(
        ",".join([r[0] + ".0" * bool(i), *r[1:]]) for i, r in enumerate(rows)
    ),
    "as Excel": lambda rows: excel(numbers(rows)),
    "as JSON": lambda rows: json.dumps([dict(zip(rows[0], row, strict=True)) for row in numbers(rows)[1:]]),
}


@each("name", SAVED)
def test_a_sheet_is_read_however_it_was_saved(tmp_path: Path, name: str) -> None:
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    rows = filled(rows_of(opt, tmp_path, 4))
    data = SAVED[name](rows)
    path = tmp_path / f"saved {len(name)}{'.xlsx' if 'Excel' in name else '.json' if 'JSON' in name else '.csv'}"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    report = opt.tell_csv(path)
    assert (report.told, report.problems) == ((0, 1, 2, 3), ())
    assert [opt.outcomes[i].objectives["yield"] for i in range(4)] == [60.0, 61.0, 62.0, 63.0]
    assert opt.outcomes[0].constraints["purity"] == (96.5 if "Excel" in name else 96.0)


def test_sheets_for_excel_and_with_decimal_commas(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    batch = opt.ask(6)
    book = openpyxl.load_workbook(batch.to_csv(tmp_path / "a.xlsx"))
    page = book.active
    assert [cell.data_type for cell in page[2]][:6] == ["n", "n", "n", "n", "s", "n"]
    assert all(cell.data_type != "f" for row in page.iter_rows() for cell in row)
    for row in page.iter_rows(min_row=2):
        row[6].value, row[7].value = 81.5, "96 %"
    book.save(tmp_path / "b.xlsx")
    assert opt.tell_csv(tmp_path / "b.xlsx").told == (0, 1, 2, 3, 4, 5)
    rows = cells(opt.ask(2).to_csv(tmp_path / "c.csv", decimal=","), ";")
    assert any("," in cell for row in rows[1:] for cell in row)
    rows[1][6], rows[2][6] = "1,234", "0,5"
    assert opt.tell_csv(write(tmp_path / "d.csv", rows, ";")).told == (6, 7)
    assert [opt.outcomes[i].objectives["yield"] for i in (6, 7)] == [1.234, 0.5]


@each("library", ["pandas", "polars", "list"])
def test_data_frames_are_told(library: str) -> None:
    made: Any = list if library == "list" else pytest.importorskip(library).DataFrame
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    opt.ask(3)
    rows = [
        {"trial": 0, "yield": 81.5, "purity": 97.0},
        {"trial": 1, "yield": 82.5, "purity": None},
        {"trial": 9, "yield": 83.5, "purity": 97.0},
    ]
    report = opt.tell_frame(made(rows))
    assert (report.told, report.waiting, [row.line for row in report.problems]) == ((0, 1), (1,), [3])
    assert opt.records()[1]["status"] == "partial"
    for wrong in (3, "text", [1], [], made([{"a": 1}])):
        with pytest.raises(InvalidInput):
            opt.tell_frame(wrong)


def test_a_plain_number_is_told_from_a_sheet(tmp_path: Path) -> None:
    opt = bv.Optimizer(bv.Space({"value of x": bv.Float(0, 1), "on": bv.Categorical([True, False, None, 1])}), seed=1)
    rows = cells(opt.ask(8).to_csv(tmp_path / "a.csv"))
    assert rows[0] == ["trial", "value of x", "on", "value", "note"]
    rows = [rows[0][1:4], *([*row[1:3], "3.5"] for row in rows[1:])]
    assert opt.tell_csv(write(tmp_path / "b.csv", rows)).told == tuple(range(8))


MANGLED = st.lists(
    st.tuples(
        st.sampled_from(["cell", "drop", "double", "swap", "blank", "byte"]),
        st.integers(0, 10_000),
        st.integers(0, 10_000),
        st.text(max_size=6) | st.sampled_from(["=1+1", '"', "1,5", "\r", ";;", "-5", "failed", "nan", "9" * 400, "\0"]),
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study that has asked for six trials, and their sheet."""
    folder = tmp_path_factory.mktemp("asked")
    with bv.Optimizer.from_toml(begin(folder)) as opt:
        opt.ask(6).to_csv(folder / "out.csv")
    return folder


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MANGLED)
def test_a_mangled_sheet_loses_no_good_row_and_raises_nothing_of_others(
    asked: Path, tmp_path: Path, changes: list[tuple[str, int, int, str]]
) -> None:
    opt = bv.Optimizer.load(asked / "study.jsonl", append=False)
    rows = filled(cells(asked / "out.csv"))
    untouched = set(range(6))
    scars: list[tuple[int, str]] = []
    for kind, at, place, text in changes:
        row = 1 + at % 6
        untouched.discard(int(row - 1))
        if kind == "cell":
            rows[row] += [""] * (9 - len(rows[row]))
            rows[row][place % 9] = text
        elif kind == "blank":
            rows[row] = [""] * 9
        elif kind == "drop":
            rows[row] = rows[row][: place % 9]
        elif kind == "double":
            rows.append([*rows[row], *[""] * (9 - len(rows[row]))])
            rows[-1][place % 9] = text
        elif kind == "swap":
            other = 1 + place % 6
            untouched.discard(other - 1)
            rows[row], rows[other] = rows[other], rows[row]
        else:
            scars.append((at, text))
    path = write(tmp_path / "in.csv", rows)
    kept = not scars
    for at, text in scars:
        data = path.read_bytes()
        place = at % len(data)
        path.write_bytes(data[:place] + text.encode("utf-8", "replace") + data[place:])
    report = None
    with nullcontext() if kept else suppress(InvalidInput):
        report = opt.tell_csv(path, accept=True)
    if report is None:
        assert opt.counts.answered == 0
        return
    done = {row["trial_id"]: row for row in opt.records() if row["status"] == "done" and row["origin"] != "observed"}
    if kept:
        for trial in untouched:
            # Another row may have got its number: then both are kept, or both are named.
            named = any(row.line == trial + 2 for row in report.problems)
            assert named or 60.0 + trial in (opt.outcomes[trial].replicates.get("yield") or [done[trial]["yield"]])
    events = len(opt.events)
    opt.tell_csv(path, accept=True)
    assert len(opt.events) == events


def test_an_interrupted_telling_goes_on_where_it_ended(opt: bv.Optimizer, tmp_path: Path) -> None:
    rows = filled(rows_of(opt, tmp_path))
    calls, tell = [], opt.tell

    def broken(trial: Any, *values: Any, **options: Any) -> None:
        calls.append(trial)
        if len(calls) == 3:
            raise KeyboardInterrupt
        tell(trial, *values, **options)

    opt.tell = broken  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        told(opt, tmp_path, rows)
    opt.tell = tell  # type: ignore[method-assign]
    report = told(opt, tmp_path, rows)
    assert (report.known, report.told) == ((0, 1), (2, 3))
    assert isinstance(report.to_config()["problems"], list)
    assert issubclass(InvalidInput, BelieverError)


def test_rows_with_the_values_that_the_sheet_shows_are_its_suggestions(tmp_path: Path) -> None:
    # 6.4275 is shown as 6.4, because the parts beside it have one decimal and all of them add up.
    space = bv.Space(
        {"acid": bv.Float(0, 60), "alcohol": bv.Float(20, 80), "catalyst": bv.Float(0.5, 20)},
        rules=[bv.sum_to(["acid", "alcohol", "catalyst"], 100)],
    )
    opt = bv.Optimizer(space, seed=7573009425286270315)
    rows = cells(opt.ask(24).to_csv(tmp_path / "out.csv"))
    rows = [rows[0][1:5], *([*row[1:4], str(i)] for i, row in enumerate(rows[1:]))]
    report = told(opt, tmp_path, rows)
    assert (report.told, report.questions) == (tuple(range(24)), ())
    assert [opt.outcomes[i].objectives["value"] for i in range(24)] == [float(i) for i in range(24)]


@each(
    "heading, cell",
    [
        ("Ausbeute (%)", "failed"),
        ("Ausbeute (%)", "81"),
        ("result", "81"),
    ],
)
def test_an_outcome_under_another_heading_is_not_dropped(tmp_path: Path, heading: str, cell: str) -> None:
    opt = bv.Optimizer(SPACE, outcomes=GOALS, seed=1)
    rows = filled(rows_of(opt, tmp_path, 2))
    rows = [[*row, "operator" if not i else "Ada"] for i, row in enumerate(rows)]
    rows[0][6], rows[1][6], rows[2][6] = heading, cell, ""
    with pytest.raises(InvalidInput) as raised:
        told(opt, tmp_path, rows)
    assert f'has no column "yield (%)"; is "{heading}" that column? Rename it, or delete it, and tell again.' in str(
        raised.value
    )
    assert opt.counts.answered == 0
    lacking = [[*row[:6], row[7]] for row in rows]
    assert told(opt, tmp_path, lacking).told == (0, 1)
    lacking[0].append("empty")
    assert told(opt, tmp_path, lacking).ignored == ("empty",)
