"""Figures show what the study holds, for every kind of space, and nothing covers anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plot_studies import limited, mixed, one, several
from test_toy_region import ROUND, TURNING, studied

import believer as bv
from believer import plot
from believer.errors import InvalidInput, MissingExtra, SpaceExhausted
from believer.plot.data.axis import axes_of
from believer.problems import branin, wave1

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt

ALL = {name: getattr(plot, name) for name in plot.__all__ if name != "data"}
"""Every figure."""

NEEDS_MORE = {"front": ("several",), "feasibility": ("limited", "several")}
"""Figures that not every study has, and the studies that do."""


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def told(space: bv.Space, asks: int, f: Callable[[dict[str, Any]], float], q: int = 3, **options: Any) -> bv.Optimizer:
    study = bv.Optimizer(space, **{"seed": 0, **options})
    for _ in range(asks):
        for trial in study.ask(q):
            study.tell(trial, f(trial.params))
    return study


def of_kinds() -> bv.Optimizer:
    kinds = bv.Categorical(("relu", "tanh", "a name that is much too long for a tick"))
    return told(bv.Space({"kind": kinds}), 1, lambda p: float(len(p["kind"])))


STUDIES: dict[str, Callable[[], bv.Optimizer]] = {
    "mixed": mixed,
    "mixed, maximized": lambda: mixed(maximize=True),
    "limited": limited,
    "several": several,
    "one": one,
    "branin": lambda: told(branin().space, 4, branin()),
    "design only": lambda: told(branin().space, 1, branin(), q=4),
    "one categorical": of_kinds,
    "one log integer": lambda: told(bv.Space({"n": bv.Int(1, 64, log=True)}), 2, lambda p: float(p["n"]), n_init=3),
    "short log axes": lambda: told(
        bv.Space({"a": bv.Float(0.25, 4.0, log=True), "b": bv.Int(2, 9, log=True)}),
        3,
        lambda p: p["a"] * p["b"],
        n_init=4,
    ),
    "all the same": lambda: told(branin().space, 3, lambda p: 1.0),
    "long names": lambda: told(
        bv.Space(
            {
                "a parameter with a very long name " * 4: bv.Float(0, 1, units="mol per liter and hour"),
                "which": bv.Categorical([f"number {i} of a list of many choices" for i in range(30)]),
                "n" * 150: bv.Int(0, 9),
            }
        ),
        2,
        lambda p: float(sum(map(len, map(str, p.values())))),
        outcomes={"how long " * 20: bv.Minimize(units="characters, counted one by one")},
        n_init=4,
    ),
    "a disc": lambda: studied(ROUND),
    "an angle": lambda: studied(TURNING),
    "thirteen": lambda: told(
        bv.Space({f"x{j}": bv.Float(0, 1) for j in range(13)}), 2, lambda p: sum(p.values()), q=5, n_init=6
    ),
}


WHOLE = ("mixed", "limited", "several", "one", "long names", "a disc", "an angle")
"""Studies of which every figure is drawn; of the others, those whose layout depends on their axes in a way of its own:
``batches`` and ``lies`` are points and bands over the axes of ``slice``."""

OF_AXES = ("convergence", "evaluations", "parallel_coordinates", "slice")


@cache
def study_named(which: str) -> bv.Optimizer:
    return STUDIES[which]()


def first(axes: Any) -> Any:
    return axes.flat[0] if isinstance(axes, np.ndarray) else axes


def check_layout(axes: Any) -> None:
    """Drawn without a warning (they are errors here); legend and title inside the figure and off the data, and no
    number on an axis over its neighbor."""
    figure = first(axes).figure
    figure.canvas.draw()
    page = figure.bbox
    shown = [each for each in figure.axes if each.get_visible()]
    for block in (*figure.legends, *figure.texts, *([figure._suptitle] if figure._suptitle else [])):
        frame = block.get_window_extent()
        assert page.x0 - 1 <= frame.x0 <= frame.x1 <= page.x1 + 1, block
        assert not any(frame.overlaps(each.get_window_extent()) for each in shown), block
    for each in shown:
        for named in (each.xaxis.label, each.yaxis.label):
            frame = named.get_window_extent()
            assert not named.get_text() or page.x0 - 1 <= frame.x0 <= frame.x1 <= page.x1 + 1, named
            assert not named.get_text() or page.y0 - 1 <= frame.y0 <= frame.y1 <= page.y1 + 1, named
        for axis, end in ((each.xaxis, "x"), (each.yaxis, "y")):
            frame = each.get_window_extent().padded(1.0)
            low, high = getattr(frame, f"interval{end}")
            labels = [label for label in axis.get_ticklabels(which="both") if label.get_visible() and label.get_text()]
            labels = [label for label in labels if label.get_rotation() == 0.0]
            spans = sorted(getattr(label.get_window_extent(), f"interval{end}").tolist() for label in labels)
            spans = [span for span in spans if low <= sum(span) / 2 <= high]
            assert all(left[1] <= right[0] for left, right in pairwise(spans)), f"crowded {end} axis"
    assert figure.get_figwidth() * figure.dpi <= 1300.0


@pytest.mark.parametrize(
    ("which", "name"), [(which, name) for which in STUDIES for name in ALL if which in WHOLE or name in OF_AXES]
)
def test_every_figure_of_every_kind_of_study_is_drawn_with_nothing_on_top_of_another(which: str, name: str) -> None:
    optimizer = study_named(which)
    if which not in NEEDS_MORE.get(name, STUDIES):
        with pytest.raises(InvalidInput, match=r"several objectives|needs an outcome with a limit"):
            ALL[name](optimizer)
    elif name == "diversity" and which == "one":
        with pytest.raises(InvalidInput, match="needs a batch of two points"):
            ALL[name](optimizer)
    elif name == "timeline" and which == "one":
        with pytest.raises(InvalidInput, match="at least one trial that was handed out"):
            ALL[name](optimizer)
    elif name == "lies" and which == "one categorical":
        with pytest.raises(SpaceExhausted):
            ALL[name](optimizer)
    else:
        check_layout(ALL[name](optimizer))


def line(axes: Any, label: str) -> Any:
    return next(line for line in axes.lines if line.get_label() == label)


def test_convergence_shows_every_result_and_the_running_best() -> None:
    study = told(branin().space, 3, branin())
    values = [row["value"] for row in study.records()]
    axes = plot.convergence(study, optimum=branin().optimum)
    best = line(axes, "best so far").get_ydata()
    assert np.array_equal(best, np.minimum.accumulate(values))
    shown = {tuple(xy) for label in ("design", "chosen by the model") for xy in line(axes, label).get_xydata()}
    assert shown == {(float(i), value) for i, value in enumerate(values, start=1)}
    assert line(axes, f"optimum {branin().optimum:.4g}").get_ydata()[0] == branin().optimum
    regret = plot.convergence(study, optimum=branin().optimum, regret=True)
    assert regret.get_yscale() == "log"
    assert np.allclose(line(regret, "best so far").get_ydata(), best - branin().optimum)
    assert axes.get_xlabel() == "evaluations"
    assert axes.get_ylabel().startswith("value")


def test_a_best_on_the_optimum_itself_stays_on_the_log_axis() -> None:
    check_layout(plot.convergence(told(bv.Space.cube(1), 2, lambda p: 0.0), optimum=0.0, regret=True))


def test_convergence_of_a_maximization_rises_past_its_failures() -> None:
    study = mixed(maximize=True)
    values = [row["value"] for row in study.records() if row["status"] in ("done", "failed")]
    assert None in values
    axes = plot.convergence(study)
    expected = np.fmax.accumulate(np.array([np.nan if v is None else v for v in values]))
    assert np.array_equal(line(axes, "best so far").get_ydata(), expected)
    assert line(axes, "failed").get_xdata().tolist() == [i for i, v in enumerate(values, start=1) if v is None]


def test_limits_and_targets_are_lines_and_what_breaks_a_limit_is_hollow() -> None:
    axes: Any = plot.convergence(limited(), outcome="cost")
    assert line(axes, "limit").get_ydata()[0] == 3.0
    hollow = next(one for one in axes.lines if one.get_label().endswith(", breaks a limit"))
    assert hollow.get_markerfacecolor() == "none"
    assert (hollow.get_ydata() > 3.0).any()
    assert line(plot.convergence(limited(), target=4.0), "target 4").get_ydata()[0] == 4.0


def test_the_legend_explains_every_marker_of_results() -> None:
    axes: Any = plot.convergence(limited(), outcome="cost")
    shown = [one for one in axes.lines if one.get_linestyle() == "None"]
    assert len({one.get_label() for one in shown}) == len(shown) > 1


def test_a_few_discrete_numbers_have_ticks_at_their_values() -> None:
    space = bv.Space({"T": bv.Int(40, 100, step=20), "t": bv.Discrete([4, 12, 20]), "x": bv.Float(0, 1)})
    axes = plot.batches(told(space, 2, lambda params: params["x"]), parameters=["T", "t"])
    assert [label.get_text() for label in axes.xaxis.get_ticklabels()] == ["40", "60", "80", "100"]
    assert axes.get_yticks().tolist() == [4, 12, 20]
    close = bv.Space({"a": bv.Discrete([1, 2, 3, 100]), "b": bv.Int(0, 20)})
    assert [axis.ticks for axis in axes_of(close)] == [None, None]


def test_points_beside_a_slice_are_fainter_and_the_title_says_so() -> None:
    bowl = told(bv.Space.cube(3), 3, lambda params: sum((value - 0.4) ** 2 for value in params.values()))
    grid = plot.lies(bowl, 2, parameters=["x0", "x1"])
    there, later = (next(o for o in one.lines if o.get_label() == "next point") for one in grid[1, :2])
    assert there.get_alpha() == pytest.approx(1.0)
    assert later.get_alpha() < 1.0
    assert "fainter" in grid[0, 0].figure._suptitle.get_text()


def test_batches_are_shaded_each_apart_from_the_next() -> None:
    shades: Any = plot.convergence(told(branin().space, 6, branin(), n_init=3)).patches
    spans = sorted((shade.get_x(), shade.get_x() + shade.get_width()) for shade in shades)
    assert spans == [(0.5, 3.5), (3.5, 6.5), (9.5, 12.5), (15.5, 18.5)]


def test_choices_and_log_scales_are_drawn_as_such() -> None:
    axes = plot.batches(mixed(), parameters=["rate$", "kind"])
    assert [label.get_text() for label in axes.yaxis.get_ticklabels()] == ["relu", "tanh", r"\$identity\$"]
    assert axes.xaxis.get_scale() == "log"
    assert axes.get_xlabel() == r"rate\$"


def test_the_points_of_a_batch_are_joined_in_the_order_of_choice() -> None:
    study = told(branin().space, 3, branin(), n_init=3)
    axes = plot.batches(study)
    names = (axes.get_xlabel(), axes.get_ylabel())
    joined = [one.get_xydata() for one in axes.lines if one.get_linestyle() == "-"]
    assert len(joined) == 2
    for drawn, start in zip(joined, (3, 6), strict=True):
        expected = [[trial.params[name] for name in names] for trial in study.trials[start : start + 3]]
        assert np.allclose(drawn, expected)


def test_the_background_is_blank_where_the_constraint_forbids() -> None:
    space = bv.Space({"a": bv.Float(0, 1), "b": bv.Float(0, 1)}, constraint=lambda p: p["a"] + p["b"] < 1.0)
    study = told(space, 3, lambda p: p["a"] - p["b"], n_init=4)
    mean: Any = plot.batches(study).collections[0].get_array()
    assert np.ma.getmaskarray(mean).mean() == pytest.approx(0.5, abs=0.03)


def test_lies_have_a_column_for_each_and_mark_them() -> None:
    found, axes = plot.data.lies(one(), 2), plot.lies(one(), 2)
    assert axes.shape == (2, 3)
    assert [panel.get_title() for panel in axes[0]] == ["before", "after believing 1 point", "after believing 2 points"]
    assert [sum(one.get_label() == "lie" for one in panel.lines) for panel in axes[0]] == [0, 1, 2]
    assert [sum(one.get_label() == "next point" for one in panel.lines) for panel in axes[1]] == [1, 1, 0]
    for panel, step in zip(axes[1], found.steps, strict=True):
        assert np.array_equal(panel.lines[0].get_ydata(), step.worth)
    assert axes[0, 0].get_ylabel() == "value"
    assert axes[1, 0].get_ylabel() == "expected improvement"


def test_grids_have_a_panel_for_each() -> None:
    study = mixed()
    shape = plot.evaluations(study).shape
    assert shape == (5, 5)
    axes = plot.partial_dependence(study, parameters=["rate$", ("rate$", "kind")], samples=8)
    assert axes.shape == (1, 2)
    assert axes[0, 0].get_xlabel() == r"rate\$"
    assert (axes[0, 1].get_xlabel(), axes[0, 1].get_ylabel()) == (r"rate\$", "kind")
    single = plot.slice(study, parameters=["layers"])
    assert single.get_xlabel() == "layers"
    assert plot.calibration(study).shape == (1, 2)
    for wrong in (list[str](), "layers"):
        with pytest.raises(InvalidInput, match="a list of names, or of pairs of names"):
            plot.slice(study, parameters=wrong)


def test_bars_of_importance_are_named_and_have_intervals() -> None:
    study = limited()
    found, axes = plot.data.importance(study), plot.importance(study)
    bars: Any = axes.patches
    assert [bar.get_width() for bar in bars] == pytest.approx(found.values.tolist())
    assert tuple(label.get_text() for label in axes.get_yticklabels()) == found.names
    assert len(axes.collections) == 1


def test_every_result_is_a_line_across_the_parameters() -> None:
    study = mixed()
    axes = plot.parallel_coordinates(study)
    drawn: Any = axes.collections
    results, failed = (len(lines.get_segments()) for lines in drawn)
    assert (results, failed) == (study.counts.done, study.counts.failed)


def test_the_timeline_has_a_bar_for_each_trial() -> None:
    study = limited()
    assert len(plot.timeline(study).patches) == len(study.trials)


def test_the_front_marks_its_points() -> None:
    study = several()
    axes = plot.front(study)
    assert len(line(axes, "on the front").get_xdata()) == len(study.front)
    assert axes.get_xlabel() == "f (less is better)"
    assert axes.get_ylabel() == "g (more is better)"


def test_a_figure_is_drawn_on_the_axes_that_are_given() -> None:
    figure, axes = plt.subplots()
    assert plot.convergence(one(), ax=axes) is axes
    assert plot.importance(limited(), ax=axes) is axes
    _, pair = plt.subplots(1, 2)
    assert list(plot.calibration(one(), ax=pair).flat) == list(pair)
    with pytest.raises(InvalidInput, match="ax must be an array of 2 matplotlib Axes; got"):
        plot.calibration(one(), ax=axes)
    with pytest.raises(InvalidInput, match="ax must be a matplotlib Axes; got"):
        plot.convergence(one(), ax=figure)  # type: ignore[arg-type]


def test_a_loaded_study_gives_the_same_picture(tmp_path: Path) -> None:
    study = told(branin().space, 3, branin())
    study.save(tmp_path / "study.jsonl")
    pictures = []
    for source in (study, tmp_path / "study.jsonl"):
        figure: Any = plot.batches(source).figure
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba()))
    assert np.array_equal(pictures[0], pictures[1])


def test_the_diagnostics_door_still_has_the_figures_that_were_there() -> None:
    from believer import diagnostics

    assert (diagnostics.convergence, diagnostics.batches) == (plot.convergence, plot.batches)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"believer\[plots\]"):
        plot.convergence(told(wave1().space, 1, wave1()))
