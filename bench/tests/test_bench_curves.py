from __future__ import annotations

import numpy as np
import pytest
from bench_rows import finished_cells
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

from matplotlib.text import Text

from believer.plot.figure import BLACK
from believer_bench import curves
from believer_bench.report import BenchReport, bench_report

MANY = {f"member_{i}": 0.5 * i for i in range(15)} | {"hedged": 3.2}


@pytest.fixture(scope="module")
def report() -> BenchReport:
    return bench_report(finished_cells(MANY, seeds=range(3), q=(1, 3, 5), problems=("branin",)))


def test_every_figure_that_the_report_shows_is_drawn(report: BenchReport) -> None:
    named = [name for section in report.sections() for name in (section.figures or {})]
    assert sorted(named) == sorted(report.drawings())
    assert len(set(named)) == len(named) == 3 + 2 * 3 + 1


def test_the_best_few_and_the_reference_have_colors(report: BenchReport) -> None:
    lines = [line for line in report.lines if line.case.q == 3]
    colors = curves.colors_of(lines, "hedged")
    assert set(colors) == {"member_0", "member_1", "member_2", "member_3", "hedged"}
    assert colors["hedged"] == BLACK
    assert len(set(colors.values())) == 5
    assert len(curves.colors_of(lines, None)) == 4


def test_every_member_is_named_once_beside_the_curves_and_sequential_too(report: BenchReport) -> None:
    figure = report.drawings()["curves_branin_q3_4of14"]()
    left, right = figure.axes
    assert sorted(text.get_text() for text in right.texts) == sorted([*MANY, "hedged, sequential"])
    assert (left.get_xlabel(), right.get_xlabel()) == ("evaluations", "iterations (batches of 3)")
    assert left.get_yscale() == "log"
    assert right.get_xlim() == (0.0, 4.0)
    assert max(float(np.max(np.asarray(line.get_xdata()))) for line in right.lines) == 4.0


def test_the_title_tells_over_how_many_seeds() -> None:
    rows = finished_cells({"kb": 0.0}, seeds=range(4), problems=("branin",))
    few = finished_cells({"lp": 1.0}, seeds=range(2), problems=("branin",))
    for cells, told in ((rows, "medians over 4 seeds;"), (rows + few, "medians over 2 to 4 seeds;")):
        figure = bench_report(cells).drawings()["curves_branin_q3_4of14"]()
        assert told in " ".join(text.get_text() for text in figure.findobj(Text))


def test_one_point_at_a_time_has_one_panel(report: BenchReport) -> None:
    assert len(report.drawings()["curves_branin_q1_4of14"]().axes) == 1
    assert len(report.drawings()["overview_q1"]().axes) == 2


def test_rows_of_a_figure_are_in_the_order_of_the_table(report: BenchReport) -> None:
    (axes,) = report.drawings()["ends_branin_q3_4of14"]().axes
    expected = [line.member for line in report.lines if line.case.q == 3]
    assert [label.get_text() for label in axes.get_yticklabels()] == expected
    first = report.drawings()["overview_q3"]().axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == [s.member for s in report.advice[1].placings]


def test_an_unknown_optimum_is_drawn_on_a_plain_axis_in_the_users_units() -> None:
    made = bench_report(finished_cells({"kb": 5.0}, problems=("own",), seeds=range(2), maximize=True))
    axes = made.drawings()["curves_own_max_q3_4of14"]().axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.get_ylabel() == "best value (more is better)"
    (line,) = axes.lines
    assert (np.diff(np.asarray(line.get_ydata(), dtype=np.float64)) >= 0.0).all()


@settings(max_examples=50)
@given(st.lists(st.floats(-0.1, 1.1), min_size=1, max_size=17))
def test_labels_are_moved_apart_and_keep_their_order(heights: list[float]) -> None:
    heights = sorted(heights)
    places = curves.apart(heights)
    assert len(places) == len(heights)
    assert (np.diff(places) >= curves.GAP - 1e-9).all()
    assert np.mean(places) == pytest.approx(np.mean(heights), abs=1e-9)
