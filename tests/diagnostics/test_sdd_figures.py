"""Figures of the diagnostic show every part and every data set, for any size of batch and any number of seeds."""

import io
import sys
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sdd_fakes import FixableTilt, Spots, Steps

import believer as bv
from believer.arrays import Array
from believer.diagnostics.sdd import sdd
from believer.diagnostics.sdd_figure import COLORS, draw, draw_many
from believer.diagnostics.sdd_report import PARTS, VERDICTS, SDDReport
from believer.errors import MissingExtra
from believer.surrogates.protocols import Surrogate

pytest.importorskip("matplotlib")

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

X = np.array([[2, 11], [14, 6], [5, 3], [9, 15], [8, 8], [12, 1]]) / 16.0
Y = np.array([2.0, -1.0, 0.5, 3.0, 0.0, 1.0])


REPORTS: dict[str, tuple[Surrogate, int, int, dict[str, Any]]] = {
    "conditioned": (Spots(), 3, 3, {}),
    "refitted": (FixableTilt(), 3, 4, {}),
    "pair of one": (Spots(), 2, 1, {}),
    "ten of one": (Spots(), 10, 1, {}),
    "stuck": (Steps(), 3, 2, {}),
    "no starts": (Spots(), 3, 2, {"maximizer": bv.Candidates()}),
}


@cache
def report_named(name: str) -> SDDReport:
    surrogate, q, seeds, options = REPORTS[name]
    return sdd(surrogate, (X, Y), q, acquisition=bv.UCB(), seeds=seeds, progress=False, **options)


@cache
def figure_named(name: str) -> "Figure":
    return report_named(name).figure()


def dots(axes: "Axes") -> list[tuple[Array, Array]]:
    """Where the markers of a panel are, line by line."""
    lines = [line for line in axes.lines if line.get_marker() != "None"]
    return [(np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)) for line in lines]


def rendered(figure: "Figure") -> Any:
    """The pixels (height, width, 3), between 0 and 1."""
    from matplotlib.image import imread

    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100)
    out.seek(0)
    return imread(out)[..., :3]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_drawn_and_nothing_runs_out_of_the_picture(name: str) -> None:
    from matplotlib.figure import Figure

    figure = figure_named(name)
    assert isinstance(figure, Figure)
    pixels = rendered(figure)
    assert pixels.std() > 0.05
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        np.testing.assert_array_equal(edge, 1.0)


def test_a_figure_is_unknown_to_pyplot() -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    report_named("conditioned").figure()
    assert plt.get_fignums() == before


@pytest.mark.parametrize("name", REPORTS)
def test_the_title_has_the_report_and_its_verdict(name: str) -> None:
    title = figure_named(name).get_suptitle()
    first, second = title.split("\n")
    assert first == report_named(name).title
    assert second == report_named(name).verdict


@pytest.mark.parametrize("name", REPORTS)
def test_every_part_has_a_row_with_a_dot_for_each_seed(name: str) -> None:
    report = report_named(name)
    axes = figure_named(name).axes[0]
    there = [label for part, label in PARTS.items() if report.parts(part)]
    assert [text.get_text() for text in axes.get_yticklabels()] == there
    drawn = dots(axes)
    assert len(drawn) == len(there) * len(report.measurements)
    for row, part in enumerate(part for part in PARTS if report.parts(part)):
        mine = [x[0] for x, y in drawn if abs(y[0] - row) < 0.5]
        np.testing.assert_allclose(sorted(mine), sorted(max(one.min_distance, 1e-6) for one in report.parts(part)))


@pytest.mark.parametrize("name", REPORTS)
def test_what_is_drawn_is_in_view(name: str) -> None:
    figure = figure_named(name)
    for axes in figure.axes:
        (left, right), (bottom, top) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
        for x, y in dots(axes):
            assert ((x >= left) & (x <= right) & (y >= bottom) & (y <= top)).all()
        for scattered in axes.collections:
            x, y = np.asarray(scattered.get_offsets()).T
            assert ((x >= left) & (x <= right) & (y >= bottom) & (y <= top)).all()


def test_members_are_numbered_from_the_second() -> None:
    for name, q in (("pair of one", 2), ("conditioned", 3), ("ten of one", 10)):
        members = figure_named(name).axes[1]
        assert list(members.get_xticks()) == list(range(2, q + 1))
        assert [x.tolist() for x, _ in dots(members)] == 3 * [list(range(2, q + 1))]


def test_starts_that_moved_are_shown_where_there_are_starts() -> None:
    labels = {
        name: [text.get_text() for text in figure_named(name).axes[2].get_yticklabels()]
        for name in ("conditioned", "no starts")
    }
    assert "starts that moved" in labels["conditioned"]
    assert labels["no starts"] == [label for label in labels["conditioned"] if label != "starts that moved"]


def test_a_color_stands_for_a_verdict() -> None:
    assert set(COLORS) == set(VERDICTS)
    assert len(set(COLORS.values())) == 4
    report = report_named("refitted")
    legend = [text.get_text() for text in figure_named("refitted").legends[0].get_texts()]
    assert {label for label in legend if label in VERDICTS} == {v for v, count in report.verdicts.items() if count}
    assert len(legend) == len(set(legend))


def test_many_reports_are_bars_that_count_data_sets() -> None:
    from matplotlib.patches import Rectangle

    reports = [report_named("conditioned"), report_named("refitted"), report_named("stuck")]
    figure = draw_many(reports)
    (axes,) = figure.axes
    assert len(axes.get_yticks()) == 3
    assert sum(bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)) == 3 + 4 + 2
    assert axes.get_xlim() == (0.0, 4.0)
    assert sorted(int(text.get_text()) for text in axes.texts) == sorted(
        count for report in reports for count in report.verdicts.values() if count
    )
    rendered(figure)


def test_one_report_among_many_may_stand_alone() -> None:
    rendered(draw_many([report_named("pair of one")]))


def test_a_figure_without_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name == "matplotlib" or name.startswith("matplotlib.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'believer\[plots\]'"):
        report_named("conditioned").figure()


def test_a_distance_of_zero_is_drawn_at_the_left_edge_and_not_lost() -> None:
    report = report_named("conditioned")
    (m, *_) = report.measurements
    alone = replace(report, measurements=(m,))
    assert min(x[0] for x, _ in dots(draw(alone).axes[0])) == 1e-6
