from __future__ import annotations

import base64
import csv
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from bench_rows import BUDGET, N_INIT, Finished, finished_cell, finished_cells

from believer.errors import InvalidInput
from believer.experiments import Cell
from believer_bench.report import bench_report, write_report
from believer_bench.runs import read_runs
from believer_bench.summary import clocks_agree, curve, sequential_table

pytest.importorskip("matplotlib")

LEVELS = {"kb": 0.0, "lp": 0.3, "botorch_qei": 0.4}
ALL = finished_cells(LEVELS, seeds=range(4))
VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Tags that were not closed, sources of images, anchors and links."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str, attribute: str) -> list[str]:
        return [str(attrs[attribute]) for name, attrs in self.found if name == tag and attribute in attrs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bench")
    rows = finished_cells(LEVELS, seeds=range(12), q=(1, 3), problems=("branin",)) + finished_cells(
        {"kb": 1.0, "a<b>|$": 2.0}, seeds=range(3), problems=("own & odd",), maximize=True
    )
    (out / "printed.txt").write_text(write_report(rows, out, "believer bench --q 1 3"), encoding="utf-8")
    return out


def test_the_page_is_well_formed_and_needs_no_other_file(folder: Path) -> None:
    text = (folder / "bench.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    sources = page.all("img", "src")
    assert len(sources) == len(list(folder.glob("*.png"))) > 5
    for source in sources:
        head, _, data = source.partition(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(data, validate=True).startswith(b"\x89PNG")
    assert all(page.all("img", "alt"))
    assert not re.search(r"<(script|link)|https?://", text)
    assert "width=device-width" in text


def test_the_contents_lead_to_every_section_and_tables_scroll_in_their_box(folder: Path) -> None:
    text = (folder / "bench.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert [link.removeprefix("#") for link in page.all("a", "href")] == page.all("h2", "id")
    assert text.count("<table>") == len(re.findall(r'<div class="scroll [^>]*>\n<table>', text)) > 5
    assert "a&lt;b&gt;|$" in text
    assert "<b>" not in text


def test_the_markdown_twin_links_to_figures_that_exist_and_says_the_same(folder: Path) -> None:
    text = (folder / "bench.md").read_text(encoding="utf-8")
    links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert Counter(links) == Counter(path.name for path in folder.glob("*.png"))
    page = (folder / "bench.html").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        title.replace("&amp;", "&") for title in re.findall(r"<h2[^>]*>(.*)</h2>", page)
    ]
    assert "> q=3: use kb" in text
    assert "Made by: believer bench --q 1 3. Versions: believer 0.1.0." in text


def test_the_terminal_ends_with_what_to_use(folder: Path) -> None:
    text = (folder / "printed.txt").read_text(encoding="utf-8")
    assert text.rstrip().splitlines()[-1].startswith("q=3: use kb")
    assert text.rindex("Use this") > text.rindex("What is missing or failed")
    assert "Holm's method over all 5 comparisons" in text


def test_the_csv_has_a_row_for_each_member_problem_and_size(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "bench.csv").read_text(encoding="utf-8").splitlines()))
    assert len({(r["problem"], r["q"], r["member"]) for r in rows}) == len(rows) == 2 * 3 + 2
    (own,) = [r for r in rows if r["member"] == "kb" and r["problem"] == "own & odd"]
    assert own["maximize"] == "yes"
    assert own["optimum"] == own["regret"] == ""
    (first,) = [r for r in rows if (r["member"], r["problem"], r["q"]) == ("kb", "branin", "3")]
    assert float(first["regret"]) == pytest.approx(float(first["median"]) - 10.0 / (8.0 * np.pi))
    assert float(first["cpu_ms"]) == pytest.approx(20.0)


def test_curves_are_written_at_equal_evaluations_and_iterations(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "curves.csv").read_text(encoding="utf-8").splitlines()))
    kb = [r for r in rows if (r["member"], r["problem"], r["q"]) == ("kb", "branin", "3")]
    assert [int(r["x"]) for r in kb if r["axis"] == "evaluations"] == list(range(N_INIT, BUDGET + 1))
    assert [int(r["x"]) for r in kb if r["axis"] == "iterations"] == [0, 1, 2, 3, 4]
    assert all(float(r["best_low"]) <= float(r["best"]) <= float(r["best_high"]) for r in rows)
    ends = [[r for r in kb if r["axis"] == axis][-1]["best"] for axis in ("evaluations", "iterations")]
    assert ends[0] == ends[1]


def test_a_line_has_median_interval_mean_and_spread_over_the_seeds() -> None:
    report = bench_report([finished_cell("kb", value, seed) for seed, value in enumerate([1.0, 2.0, 6.0])])
    (line,) = report.lines
    assert line.low is line.high is None  # the range of three misses the median once in four times
    (many,) = bench_report([finished_cell("kb", float(seed), seed) for seed in range(6)]).lines
    assert many.low is not None
    assert many.high is not None
    assert 0.0 <= many.low <= 2.5 <= many.high <= 5.0
    assert (line.seeds, line.median, line.mean) == (3, 2.0, 3.0)
    assert line.std == pytest.approx(np.std([1.0, 2.0, 6.0], ddof=1))
    start = np.array([11.0, 12.0, 16.0]) - 10.0 / (8.0 * np.pi)
    assert line.regret_left == pytest.approx(np.median((start - 10.0) / start))
    assert (line.spread, line.near, line.regret) == (0.5, 1.0, 2.0 - 10.0 / (8.0 * np.pi))


def test_rows_with_more_than_is_recorded_today_are_read() -> None:
    cell, result = finished_cell("kb", 1.0)
    now, former = bench_report([(cell, result)]), bench_report([(cell, {**result, "effective": [2.4, None]})])
    assert former.lines == now.lines


def test_values_to_be_maximized_stay_in_the_users_units() -> None:
    rows = finished_cells({"kb": 5.0, "lp": 1.0}, problems=("own",), maximize=True, jitter=0.0)
    report = bench_report(rows)
    assert [(line.member, line.median) for line in report.lines] == [("kb", 5.0), ("lp", 1.0)]
    assert report.advice[0].verdict == "kb"
    (test,) = [table for table in report.tables() if table.title.startswith("kb against")]
    assert test.rows[0][5] == 4.0  # the shift, ours - theirs
    assert "Values are maximized." in str(report)


def test_failed_evaluations_do_not_count_as_values_and_are_reported() -> None:
    cell, result = finished_cell("kb", 1.0)
    result["values"][:2] = [None, None]
    result["values"][-1] = None
    runs, notices = read_runs([(cell, result)])
    assert np.isnan(runs[0].best[:2]).all()
    assert runs[0].final == result["values"][-2]
    assert runs[0].failed == 3
    assert notices == ("kb on branin, q=3: 3 evaluations failed.",)
    assert "3 evaluations failed" in str(bench_report([(cell, result)]))


def test_a_run_without_any_value_is_left_out_and_said_to_be() -> None:
    cell, result = finished_cell("lp", 1.0)
    result["values"] = [None] * len(result["values"])
    report = bench_report([finished_cell("kb", 1.0), (cell, result)])
    assert [line.member for line in report.lines] == ["kb"]
    assert report.notices == ("lp on branin, q=3, seed 0 has no value at all: it is left out.",)


def test_missing_seeds_and_missing_problems_are_reported() -> None:
    rows = [
        row
        for row in finished_cells({"kb": 0.0, "lp": 1.0}, seeds=range(4))
        if row[0].settings["member"] == "kb" or (row[0].settings["problem"] == "branin" and row[0].seed != 2)
    ]
    notices = bench_report(rows).notices
    assert notices == (
        "lp on branin, q=3: 1 of 4 seeds are missing (2).",
        "lp on hartmann6, q=3: all seeds are missing.",
    )
    text = str(bench_report(rows + finished_cells({"qei": 0.0}, seeds=range(4))))
    assert "Not ranked at q=3, for want of runs (how many they have of the 8 that the others share): lp (3)." in text
    stray = finished_cells({"kb": 0.0}, seeds=range(4), problems=("ackley8",))
    assert "Not part of the ranks at q=3, as few ran it: ackley8." in str(bench_report(stray + ALL))


def test_what_is_odd_is_reported() -> None:
    (cell, result), (other, theirs) = finished_cell("kb", 1.0), finished_cell("lp", 1.0)
    short = {**result, "values": result["values"][:-3], "batches": result["batches"][:-1]}
    notices = bench_report([(cell, short), (cell, result), (other, {**theirs, "design": "else"})]).notices
    assert notices[0] == "kb on branin, q=3, seed 0 is there twice: the first counts."
    assert "lp on branin started from other points than the rest in 1 runs" in notices[1]
    assert notices[2] == "kb on branin, q=3: 1 runs stopped before 14 evaluations, the first after 11."
    assert "1 cells are of another experiment" in bench_report([(Cell("sdd", {}, 0), {})]).notices[0]


def test_a_cell_that_is_not_of_the_bench_is_refused_with_what_it_lacks() -> None:
    cell, result = finished_cell("kb", 1.0)
    with pytest.raises(InvalidInput, match=r"must have member, problem.*KeyError: 'batches'"):
        bench_report([(cell, {"values": result["values"]})])


def test_a_member_of_several_sets_of_versions_is_reported() -> None:
    rows = finished_cells({"kb": 0.0, "lp": 1.0}, seeds=range(2), problems=("branin",))
    mixed = [
        (c, {**r, "versions": {"believer": f"0.{c.seed}"}} if c.settings["member"] == "kb" else r) for c, r in rows
    ]
    assert bench_report(rows).notices == ()
    assert bench_report(mixed).notices == ("kb was run with 2 sets of versions: its runs are not of one program.",)


def test_single_problems_are_said_to_be_a_family_of_their_own() -> None:
    own = "Single problems are tested apart, corrected over 6 comparisons of their own at q=3."
    assert own in str(bench_report(ALL))
    assert "tested apart" not in str(bench_report(finished_cells(LEVELS, seeds=range(4), problems=("branin",))))


def test_members_that_lack_the_same_seeds_share_a_sentence() -> None:
    rows = finished_cells({"kb": 0.0}, seeds=range(4), problems=("branin",))
    rows += finished_cells({"lp": 0.0, "qei": 0.0}, seeds=range(3), problems=("branin",))
    assert bench_report(rows).notices == ("lp, qei on branin, q=3: 1 of 4 seeds are missing (3).",)


def test_the_optimum_is_known_of_the_librarys_problems_only() -> None:
    def optimum(**settings: object) -> float | None:
        return read_runs([finished_cell("kb", 0.0, **settings)])[0][0].case.optimum  # type: ignore[arg-type]

    assert optimum(problem="branin") == pytest.approx(10.0 / (8.0 * np.pi))
    assert optimum(problem="branin", function="mine:branin") is None
    assert optimum(problem="own") is None


def test_times_are_told_as_processor_time_where_the_clocks_disagree() -> None:
    rows = finished_cells({"kb": 0.0, "lp": 1.0})
    slow = [(cell, {**result, "seconds": [9.0] * len(result["batches"])}) for cell, result in rows]
    assert clocks_agree(bench_report(rows).lines)
    assert not clocks_agree(bench_report(slow).lines)
    assert "20 ms a batch" in bench_report(rows).advice[0].sentence
    assert "20 ms CPU a batch" in bench_report(slow).advice[0].sentence
    assert "Processor and wall time disagree" in str(bench_report(slow))
    assert "Processor and wall time disagree" not in str(bench_report(rows))


def test_batches_are_shown_beside_one_point_at_a_time() -> None:
    rows = [finished_cell("kb", 0.0, seed, q=1) for seed in range(3)]
    rows += [finished_cell("kb", 1.0, seed, q=5) for seed in range(3)]
    table = sequential_table(read_runs(rows)[0])
    assert table is not None
    # Two batches: one at a time then has fallen by 2 of 10 steps from 10 to 0.
    assert table.rows == (("branin", "kb", 5, 2, 3, 1.0, 0.0, "0 / 0 / 3", 8.0, "3 / 0 / 0"),)
    assert sequential_table(read_runs(rows[:3])[0]) is None


def test_a_curve_keeps_the_last_value_of_a_run_that_stopped() -> None:
    (cell, result), other = finished_cell("kb", 0.0), finished_cell("kb", 0.0, 1)
    short = {**result, "values": result["values"][:-3], "batches": result["batches"][:-1]}
    runs = read_runs([(cell, short), other])[0]
    assert curve(runs, "evaluations").high[-1] == pytest.approx(0.75 * 3.0)
    assert curve(runs, "iterations").x[-1] == 4.0


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [finished_cell("kb", 0.0)],
        [finished_cell("kb", 0.0, q=1)],
        [finished_cell("kb", 0.0), finished_cell("lp", 0.0)],
        [finished_cell("lp", 0.0, 0), finished_cell("kb", 0.0, 1)],
        [finished_cell("kb@forest", 1.0, problem="own", n_init=14)],
        [finished_cell("kb", 10.0 / (8.0 * np.pi))],
    ],
    ids=["nothing", "one run", "sequential", "ties", "no shared seed", "design only", "the optimum itself"],
)
def test_any_bench_can_be_reported(rows: Finished, tmp_path: Path) -> None:
    text = write_report(rows, tmp_path, "")
    assert text == str(bench_report(rows))
    assert {path.name for path in tmp_path.glob("bench.*")} == {"bench.html", "bench.md", "bench.csv"}


def test_without_a_folder_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    assert "use kb" in write_report(finished_cells({"kb": 0.0, "lp": 5.0}), None, "")
