from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import paper_cells
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from believer.arrays import Array
from believer.batch.verdict import random_pair_distance
from believer.experiments import Cell, FinishedCell
from believer.report import png
from believer.space.box import Box
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.cells.pictures import picture
from believer_paper.figures import FIGURES
from believer_paper.figures.loops import STYLES
from believer_paper.numbers.printed import TABLE_7, TABLE_11
from believer_paper.plan import cells
from believer_paper.results import PRESETS, Results

SEEDS = 3
EXPERIMENTS = sorted({name for figure in FIGURES.values() for name in figure.experiments})
BOTH = ["q = 2", "q = 3"]
PANELS = {
    **dict.fromkeys((2, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16), BOTH),
    **{12: BOTH[:1], 17: BOTH[1:], 20: ["q = 10, at equal evaluations", "q = 10, at equal iterations"], 21: ["q = 10"]},
}
LIES = ("CL-min", "CL-max", "CL-mean", "KB")
LINES = {
    **dict.fromkeys((2, 7, 10), (*LIES, "random", "sequential")),
    **dict.fromkeys((8, 9, 11), (*LIES, "random")),
    **dict.fromkeys((13, 14), ("CL-min", "KB", "LP", "random", "sequential")),
    **dict.fromkeys((15, 16), ("CL-min", "KB", "LP")),
    **{12: ("CL-min", "random", "sequential"), 17: ("CL-min", "KB", "q-EI")},
    **{20: ("CL-min", "KB", "random", "sequential"), 21: ("CL-min", "KB", "random")},
}
"""The strategies of every figure of loops."""

SURROGATES = ["GP", "MQ-RBF", "NN", "RF"]
UPDATES = dict(AS_PRINTED)


@cache
def done(cell: Cell) -> FinishedCell:
    """Pictures are quick enough to be real."""
    return FinishedCell(cell, picture(cell), {}) if cell.experiment == "picture" else paper_cells.made_up(cell)


def results_of(*experiments: str, smoke: bool = False) -> Results:
    wanted = cells(experiments, PRESETS, None if smoke else SEEDS, smoke)
    return Results(tuple(done(cell) for cell in wanted))


@pytest.fixture(scope="module")
def everything() -> Results:
    return results_of(*EXPERIMENTS, "exp8")


@pytest.fixture(scope="module")
def drawn(everything: Results) -> dict[tuple[int, str], Figure]:
    found = {}
    for number, one in FIGURES.items():
        for preset in PRESETS:
            figure = one.draw(everything, preset)
            assert figure is not None, (number, preset)
            found[number, preset] = figure
    return found


def redrawn(number: int, results: Results, preset: str = "ours") -> Figure:
    figure = FIGURES[number].draw(results, preset)
    assert figure is not None
    return figure


def line(axes: Axes, label: str) -> Line2D:
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return found


def xs(one: Line2D) -> Array:
    return np.asarray(one.get_xdata(), dtype=np.float64)


def ys(one: Line2D) -> Array:
    return np.asarray(one.get_ydata(), dtype=np.float64)


def heights(axes: Axes, label: str) -> list[float]:
    (found,) = [bars for bars in axes.containers if bars.get_label() == label]
    return [bar.get_height() for bar in found]


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_there_are_the_papers_22_figures() -> None:
    assert sorted(FIGURES) == list(range(1, 23))
    assert all(number == figure.number for number, figure in FIGURES.items())


@pytest.mark.parametrize("number", range(1, 23))
def test_a_figure_needs_no_cells_but_the_fewest_of_its_experiments(number: int) -> None:
    figure = redrawn(number, results_of(*FIGURES[number].experiments, smoke=True), "printed")
    figure.draw_without_rendering()  # a layout that fails would warn


def test_without_its_cells_a_figure_is_none() -> None:
    for number in range(1, 23):
        without_its_cells_a_figure_is_none(number)


def without_its_cells_a_figure_is_none(number: int) -> None:
    assert FIGURES[number].draw(Results(()), "ours") is None
    other = [one for one in results_of(*FIGURES[number].experiments).finished if one.cell.settings["preset"] == "ours"]
    assert FIGURES[number].draw(Results(tuple(other)), "printed") is None


def test_without_one_of_its_strategies_a_figure_of_loops_is_none() -> None:
    for number in sorted(LINES):
        without_one_of_its_strategies_a_figure_of_loops_is_none(number)


def without_one_of_its_strategies_a_figure_of_loops_is_none(number: int) -> None:
    results = results_of(*FIGURES[number].experiments)
    for name, style in STYLES.items():
        if style.label in LINES[number]:
            assert FIGURES[number].draw(paper_cells.without(results, "loop", strategy=name), "ours") is None


@pytest.mark.parametrize("number", [5, 6, 18, 19, 22])
def test_without_one_of_its_surrogates_a_figure_of_the_diagnostic_is_none(number: int) -> None:
    results = results_of(*FIGURES[number].experiments)
    for name in ("gp", "mq_rbf") if number == 22 else UPDATES:
        assert FIGURES[number].draw(paper_cells.without(results, "sdd", surrogate=name), "ours") is None


def test_a_title_says_number_and_preset_and_fits(drawn: dict[tuple[int, str], Figure]) -> None:
    for number in range(1, 23):
        for preset in PRESETS:
            a_title_says_number_and_preset_and_fits(drawn, number, preset)


def a_title_says_number_and_preset_and_fits(drawn: dict[tuple[int, str], Figure], number: int, preset: str) -> None:
    figure = drawn[number, preset]
    title = figure.get_suptitle()
    assert title.startswith(f"Figure {number}. {FIGURES[number].title}")
    assert f"({preset}, " in title
    (text,) = [one for one in figure.texts if one.get_text() == title]
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    assert text.get_window_extent(renderer).width < figure.bbox.width


def test_every_outer_axis_has_a_label(drawn: dict[tuple[int, str], Figure]) -> None:
    for number in range(1, 23):
        every_outer_axis_has_a_label(drawn, number)


def every_outer_axis_has_a_label(drawn: dict[tuple[int, str], Figure], number: int) -> None:
    for axes in drawn[number, "printed"].axes:
        place = axes.get_subplotspec()
        assert place is not None
        named = [*axes.get_xticklabels(), *axes.get_yticklabels()]
        surrogates = any(text.get_text().startswith("GP") for text in named)  # ticks that need no name
        assert axes.get_xlabel() or surrogates or not place.is_last_row()
        assert axes.get_ylabel() or surrogates or not place.is_first_col()


def test_panels_are_the_papers_and_share_their_values(drawn: dict[tuple[int, str], Figure]) -> None:
    for number in sorted(PANELS):
        panels_are_the_papers_and_share_their_values(drawn, number)


def panels_are_the_papers_and_share_their_values(drawn: dict[tuple[int, str], Figure], number: int) -> None:
    several = drawn[number, "printed"].axes
    assert [axes.get_title() for axes in several] == PANELS[number]
    assert len({axes.get_ylim() for axes in several}) == 1


def test_each_panel_has_the_papers_strategies(drawn: dict[tuple[int, str], Figure]) -> None:
    for number in sorted(LINES):
        each_panel_has_the_papers_strategies(drawn, number)


def each_panel_has_the_papers_strategies(drawn: dict[tuple[int, str], Figure], number: int) -> None:
    for axes in drawn[number, "ours"].axes:
        known = {style.label for style in STYLES.values()}
        assert [one.get_label() for one in axes.get_lines() if one.get_label() in known] == list(LINES[number])


def test_a_strategy_has_one_look_and_no_two_share_it(drawn: dict[tuple[int, str], Figure]) -> None:
    looks: dict[Any, set[Any]] = {style.label: set() for style in STYLES.values()}
    for figure in drawn.values():
        for one in (one for axes in figure.axes for one in axes.get_lines()):
            if one.get_label() in looks:
                looks[one.get_label()].add((one.get_color(), one.get_marker()))
    assert all(len(own) == 1 for own in looks.values())
    for part in zip(*(next(iter(own)) for own in looks.values()), strict=True):
        assert len(set(part)) == len(STYLES)


@pytest.mark.parametrize(("number", "preset", "options"), [(2, "ours", {}), (17, "printed", {"process": "botorch"})])
def test_a_line_of_convergence_is_the_mean_best_and_moves_with_the_data(
    everything: Results, drawn: dict[tuple[int, str], Figure], number: int, preset: str, options: dict[str, str]
) -> None:
    loops = everything.loops(preset, "hartmann6", "kb", 3, options=options)
    before = drawn[number, preset].axes[-1]
    np.testing.assert_allclose(ys(line(before, "KB")), np.mean([loop.best[11:] for loop in loops], axis=0))
    np.testing.assert_array_equal(xs(line(before, "KB")), np.arange(12, 51))

    def better(result: dict[str, Any]) -> None:
        result["values"][-1] -= 3.0

    where = {"preset": preset, "problem": "hartmann6", "strategy": "kb", "q": 3, "options": options, "seed": 1}
    after = redrawn(number, paper_cells.with_result(everything, better, "loop", **where), preset).axes[-1]
    moved = ys(line(before, "KB")) - ys(line(after, "KB"))
    assert moved[-1] == pytest.approx(1.0)
    assert not moved[:-1].any()
    np.testing.assert_array_equal(ys(line(before, "CL-min")), ys(line(after, "CL-min")))


def test_bars_of_a_line_are_one_standard_deviation_over_seeds(
    everything: Results, drawn: dict[tuple[int, str], Figure]
) -> None:
    axes = drawn[2, "ours"].axes[0]
    loops = everything.loops("ours", "hartmann6", "cl_min", 2)
    expected = np.std([loop.best[11:] for loop in loops], axis=0, ddof=1)
    bars = next(found for found in axes.collections if isinstance(found, LineCollection))  # CL-min is the first
    segments = np.array(bars.get_segments())
    places = segments[:, 0, 0].astype(int) - 12
    assert len(places) >= 4
    np.testing.assert_allclose(segments[:, 1, 1] - segments[:, 0, 1], 2.0 * expected[places], atol=1e-12)


@pytest.mark.parametrize(("number", "problem", "raw"), [(9, "hartmann6", False), (21, "levy10", True)])
def test_a_line_of_diversity_is_the_mean_distance_beside_that_of_random_points(
    everything: Results, drawn: dict[tuple[int, str], Figure], number: int, problem: str, raw: bool
) -> None:
    q = 10 if raw else 3
    loops = everything.loops("ours", problem, "cl_min", q)
    axes = drawn[number, "ours"].axes[-1]
    shown = np.mean([loop.mean_distance_raw if raw else loop.mean_distance for loop in loops], axis=0)
    np.testing.assert_allclose(ys(line(axes, "CL-min")), shown)
    expected = (20.0 if raw else 1.0) * random_pair_distance(Box.cube(paper_cells.DIM[problem]))
    assert ys(line(axes, "two random points, mean")) == pytest.approx([expected, expected])
    assert axes.get_ylim()[0] == 0.0


def test_a_batch_of_one_leaves_a_gap_in_its_line(everything: Results) -> None:
    def alone(result: dict[str, Any]) -> None:
        result["mean_distance"][-1] = None

    where = {"preset": "ours", "problem": "hartmann6", "strategy": "kb", "q": 3}
    axes = redrawn(9, paper_cells.with_result(everything, alone, "loop", **where)).axes[1]
    assert np.isnan(ys(line(axes, "KB"))).tolist() == [False] * 12 + [True]


def test_lines_are_of_the_seeds_that_all_strategies_have(everything: Results) -> None:
    unfinished = Results(
        tuple(
            one
            for one in everything.finished
            if not (one.cell.seed == 0 and one.cell.settings.get("strategy") == "cl_max")
        )
    )
    figure = redrawn(2, unfinished)
    loops = everything.loops("ours", "hartmann6", "random", 2)[1:]
    expected = np.mean([loop.best[11:] for loop in loops], axis=0)
    np.testing.assert_allclose(ys(line(figure.axes[0], "random")), expected)
    assert f"{SEEDS - 1} seeds" in figure.get_suptitle()


def test_sequential_runs_are_those_of_the_figures_own_budget(drawn: dict[tuple[int, str], Figure]) -> None:
    for preset in PRESETS:
        assert xs(line(drawn[10, preset].axes[0], "sequential"))[-1] == 50
        assert xs(line(drawn[20, preset].axes[0], "sequential"))[-1] == 170


def test_against_iterations_every_line_ends_with_the_batches(
    everything: Results, drawn: dict[tuple[int, str], Figure]
) -> None:
    axes = drawn[20, "ours"].axes[1]
    loops = everything.loops("ours", "levy10", "sequential", 1, budget=170)
    sequential = line(axes, "sequential")
    np.testing.assert_array_equal(xs(sequential), np.arange(16))
    np.testing.assert_allclose(ys(sequential), np.mean([loop.best[19:35] for loop in loops], axis=0))
    np.testing.assert_array_equal(xs(line(axes, "KB")), np.arange(16))


def outside(figure: Figure) -> list[tuple[float, float]]:
    """Ends of error bars that the panels cut off."""
    found = []
    for axes in figure.axes:
        (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
        for bars in (one for one in axes.collections if isinstance(one, LineCollection)):
            ends = [end for segment in bars.get_segments() if np.ndim(segment) == 2 for end in np.asarray(segment)]
            found += [(x, y) for x, y in ends if not (left <= x <= right and low <= y <= high)]
    return found


def test_no_bar_is_cut_off(drawn: dict[tuple[int, str], Figure]) -> None:
    for number in sorted(LINES):
        for preset in PRESETS:
            no_bar_is_cut_off(drawn, number, preset)


def no_bar_is_cut_off(drawn: dict[tuple[int, str], Figure], number: int, preset: str) -> None:
    assert outside(drawn[number, preset]) == []


@pytest.mark.parametrize(("number", "field"), [(10, "values"), (11, "mean_distance")])
def test_the_longest_bar_is_in_sight_too(everything: Results, number: int, field: str) -> None:
    def bad_start(result: dict[str, Any]) -> None:
        result[field][:20] = [900.0] * len(result[field][:20])

    results = paper_cells.with_result(everything, bad_start, "loop", preset="ours", problem="levy10", seed=0)
    figure = redrawn(number, results)
    assert outside(figure) == []
    figure.axes[0].set_ylim(0.0, 300.0)
    assert outside(figure) != []


def test_the_papers_finals_stand_beyond_the_lines(drawn: dict[tuple[int, str], Figure]) -> None:
    for number, count in ((13, 5), (14, 5), (17, 3), (12, 3), (20, 4), (2, 0)):
        axes = drawn[number, "ours"].axes[0]
        end = max(float(np.max(xs(line(axes, label)))) for label in LINES[number])
        beyond = [
            one
            for one in axes.get_lines()
            if one.get_marker() in tuple("os^XP*") and one.get_markerfacecolor() == "white"
        ]
        assert sum(float(x) > end for one in beyond for x in xs(one)) == count


@pytest.mark.parametrize(("number", "part"), [(5, "fixed"), (6, "fixed"), (6, "random"), (19, "fixed")])
def test_bars_are_of_the_first_data_set(
    everything: Results, drawn: dict[tuple[int, str], Figure], number: int, part: str
) -> None:
    label = {5: "members 1 and 2", 19: "least distance"}.get(number, "")
    label = label or {"fixed": "fixed starts", "random": "random restarts, reused"}[part]
    where = {"problem": "hartmann6", "q": 3, "lie": "cl_min"}
    if number == 19:
        where["acquisition"] = "ucb"
    expected = [
        getattr(everything.measurements("printed", name, update=update, **where)[0], part).min_distance
        for name, update in UPDATES.items()
    ]
    axes = drawn[number, "printed"].axes[1]
    assert heights(axes, label) == pytest.approx(expected)
    assert [text.get_text() for text in axes.get_xticklabels()] == SURROGATES


def test_distances_of_all_pairs_are_shown(drawn: dict[tuple[int, str], Figure]) -> None:
    two, three = drawn[5, "ours"].axes
    assert [bars.get_label() for bars in two.containers] == ["members 1 and 2"]
    assert [bars.get_label() for bars in three.containers] == [
        "members 1 and 2", "members 1 and 3", "members 2 and 3"
    ]  # fmt: skip
    assert heights(three, "members 2 and 3")[0] == pytest.approx(np.sqrt(2.0) * heights(three, "members 1 and 2")[0])


def test_other_data_sets_are_dots_and_nothing_is_named_as_such(drawn: dict[tuple[int, str], Figure]) -> None:
    axes = drawn[6, "ours"].axes[1]
    dots = [one for one in axes.get_lines() if one.get_marker() == "o"]
    assert sum(len(xs(one)) for one in dots) == 2 * len(SURROGATES) * (SEEDS - 1)
    assert texts(axes) == ["0"] * 4
    assert "dots: others" in drawn[6, "ours"].get_suptitle()


def test_retraining_is_shown_beside_conditioning_with_its_seconds(
    everything: Results, drawn: dict[tuple[int, str], Figure]
) -> None:
    apart, cost = drawn[18, "printed"].axes
    assert len(apart.get_yticks()) == len(TABLE_7) == 6
    rows = [everything.measurements("printed", s, update=u, q=3, acquisition="ei")[0].fixed for s, u in TABLE_7]
    bars = {group.get_label(): [bar.get_width() for bar in group] for group in apart.containers}
    assert bars["least distance"] == pytest.approx([row.min_distance for row in rows])
    assert bars["mean distance"] == pytest.approx([row.mean_distance for row in rows])
    assert [bar.get_width() for bar in cost.containers[0]] == pytest.approx([row.seconds for row in rows])
    printed = [one for one in cost.get_lines() if one.get_marker() == "D"]
    assert xs(printed[0]).tolist() == [row.seconds for row in TABLE_7.values()]
    assert cost.get_xscale() == "log"


def test_members_are_shown_by_the_least_distance_so_far_in_the_box(everything: Results) -> None:
    def crowd(result: dict[str, Any]) -> None:
        result["fixed"]["points"][4] = [u + 0.001 for u in result["fixed"]["points"][0]]

    where: dict[str, Any] = {"preset": "ours", "problem": "levy10", "surrogate": "gp", "q": 10}
    axes = redrawn(22, paper_cells.with_result(everything, crowd, "sdd", **where)).axes[0]
    shown = ys(line(axes, "GP"))
    gap = everything.measurements(**where)[0].fixed.min_distance
    np.testing.assert_allclose(shown[:3], 20.0 * gap)
    np.testing.assert_allclose(shown[3:], 20.0 * 0.001 * np.sqrt(10.0))
    np.testing.assert_array_equal(xs(line(axes, "GP")), np.arange(2, 11))
    hollow = [float(y) for one in axes.get_lines() if one.get_markerfacecolor() == "white" for y in ys(one)]
    assert hollow == [TABLE_11["gp"].minimum, TABLE_11["mq_rbf"].minimum]


def test_the_overview_names_members_where_they_are(everything: Results) -> None:
    def place(result: dict[str, Any]) -> None:
        result["surrogates"]["gp"]["points"] = [[0.0, 5.0], [9.0, 5.0], [0.0, 5.0]]

    axes = redrawn(1, paper_cells.with_result(everything, place, "picture", figure="overview")).axes
    assert [one.get_title().split(",")[0] for one in axes] == SURROGATES
    assert texts(axes[0]) == ["1, 3", "2"]
    assert texts(axes[2]) == texts(axes[3]) == ["1, 2, 3"]


def test_the_lie_to_a_process_is_shown_on_mean_std_and_improvement(drawn: dict[tuple[int, str], Figure]) -> None:
    for preset in PRESETS:
        result = done(Cell("picture", {"preset": preset, "figure": "exp1"}, 0)).result
        means, stds, gains = drawn[3, preset].axes
        np.testing.assert_array_equal(ys(line(means, "after the lie")), result["after"]["mean"])
        for axes, key in ((stds, "std"), (gains, "improvement")):
            for one, name in zip(axes.get_lines(), ("before", "after"), strict=False):
                np.testing.assert_array_equal(ys(one), result[name][key])


def test_the_lie_to_four_surrogates_is_shown_before_after_and_retrained(drawn: dict[tuple[int, str], Figure]) -> None:
    result = done(Cell("picture", {"preset": "ours", "figure": "exp2"}, 0)).result["surrogates"]
    for axes, (name, answer) in zip(drawn[4, "ours"].axes, result.items(), strict=True):
        np.testing.assert_array_equal(ys(line(axes, "before the lie")), answer["before"]["mean"])
        np.testing.assert_array_equal(ys(line(axes, "after the lie")), answer["after"]["mean"])
        retrained = [one for one in axes.get_lines() if one.get_label() == "retrained with the lie"]
        assert len(retrained) == (name in ("neural", "forest"))


def test_a_figure_is_named_by_number_and_preset_and_is_the_same_each_time() -> None:
    results = results_of("exp1")
    assert FIGURES[3].name("printed") == "figure03_printed"
    assert png(redrawn(3, results, "printed")) == png(redrawn(3, results, "printed"))
