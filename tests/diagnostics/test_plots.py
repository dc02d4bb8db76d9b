"""Figures show what the study holds, for every kind of space, and nothing covers anything."""

import sys
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import believer as bv
from believer.diagnostics import batches, before_and_after_a_lie, convergence
from believer.errors import InvalidInput, MissingExtra
from believer.problems import branin, wave1

pytest.importorskip("matplotlib")

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("relu", "tanh", "$identity$")


def _mixed(maximize: bool = False, rounds: int = 4) -> bv.Optimizer:
    """Every kind of parameter, a constraint, failures, a result from elsewhere, an enqueued point, a pending batch.

    Eight rounds are enough for any model to learn what the function depends on.
    """
    space = bv.Space(
        {
            "blank": bv.Float(0, 1),
            "rate$": bv.Float(1e-4, 1.0, log=True),
            "one": bv.Int(3, 3),
            "kind": bv.Categorical(KINDS),
            "layers": bv.Int(1, 4),
        },
        constraint=lambda p: p["layers"] < 4 or p["rate$"] < 0.5,
    )

    def f(p: dict[str, Any]) -> float:
        bowl = (np.log10(p["rate$"]) + 2.0) ** 2 + 2.0 * KINDS.index(p["kind"]) + 0.1 * p["layers"]
        return float(-bowl if maximize else bowl)

    optimizer = bv.Optimizer(space, seed=1, n_init=6, maximize=maximize)
    first = {"blank": 0.5, "rate$": 0.1, "one": 3, "kind": "tanh", "layers": 4}
    optimizer.observe(first, f(first))
    optimizer.enqueue({**first, "rate$": 0.2})
    for round_ in range(rounds):
        for place, trial in enumerate(optimizer.ask(3)):
            if place == 1 and round_ % 2:
                optimizer.tell(trial, error="exploded")
            else:
                optimizer.tell(trial, f(trial.params))
    optimizer.ask(3)
    return optimizer


def _told(space: bv.Space, asks: int, f: Callable[[dict[str, Any]], float], q: int = 3, **options: Any) -> bv.Optimizer:
    optimizer = bv.Optimizer(space, **{"seed": 0, **options})
    for _ in range(asks):
        for trial in optimizer.ask(q):
            optimizer.tell(trial, f(trial.params))
    return optimizer


def _choices(p: dict[str, Any]) -> float:
    return float(len(p["kind"]))


STUDIES: dict[str, Callable[[], bv.Optimizer]] = {
    "mixed": _mixed,
    "mixed, maximized": lambda: _mixed(maximize=True),
    "branin": lambda: _told(branin().space, 4, branin()),
    "design only": lambda: _told(branin().space, 1, branin()),
    "one result": lambda: _told(branin().space, 1, branin(), q=1),
    "one parameter": lambda: _told(wave1().space, 3, wave1()),
    "one categorical": lambda: _told(bv.Space({"kind": bv.Categorical(KINDS)}), 1, _choices),
    "one log integer": lambda: _told(bv.Space({"n": bv.Int(1, 64, log=True)}), 2, lambda p: float(p["n"]), n_init=3),
    "short log axes": lambda: _told(
        bv.Space({"a": bv.Float(0.25, 4.0, log=True), "b": bv.Int(2, 9, log=True)}),
        3,
        lambda p: p["a"] * p["b"],
        n_init=4,
    ),
    "all the same": lambda: _told(branin().space, 3, lambda p: 1.0),
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest) -> bv.Optimizer:
    return STUDIES[request.param]()


def _xy(line: Any) -> npt.NDArray[np.float64]:
    return np.asarray(line.get_xydata(), dtype=np.float64)


def _line(figure: "Figure", label: str, panel: int = 0) -> Any:
    return next(line for line in figure.axes[panel].lines if line.get_label() == label)


def _check_layout(figure: "Figure") -> None:
    """Drawn without a warning (they are errors here); legend and title inside the figure and off the data, and no
    number on an axis over its neighbor."""
    figure.canvas.draw()
    frame, page = figure.legends[0].get_window_extent(), figure.bbox
    assert page.x0 <= frame.x0 <= frame.x1 <= page.x1
    assert not any(frame.overlaps(axes.get_window_extent()) for axes in figure.axes)
    title = figure.texts[0].get_window_extent()
    assert page.x0 <= title.x0 <= title.x1 <= page.x1
    assert not any(title.overlaps(axes.get_window_extent()) for axes in figure.axes)
    for axes in figure.axes:
        for axis, end in ((axes.xaxis, "x"), (axes.yaxis, "y")):
            frame = axes.get_window_extent().padded(1.0)
            low, high = getattr(frame, f"interval{end}")
            labels = [label for label in axis.get_ticklabels(which="both") if label.get_visible() and label.get_text()]
            spans = sorted(getattr(label.get_window_extent(), f"interval{end}").tolist() for label in labels)
            spans = [span for span in spans if low <= sum(span) / 2 <= high]
            assert all(left[1] <= right[0] for left, right in pairwise(spans)), f"crowded {end} axis"
    assert figure.dpi == 150
    assert figure.canvas.manager is None, "made by pyplot"


def test_figures_of_every_kind_of_study_are_drawn_with_legend_and_title_off_the_data(study: bv.Optimizer) -> None:
    _check_layout(convergence(study))
    _check_layout(batches(study, name="a name", values_are="loss"))


def test_convergence_shows_every_result_and_the_running_best() -> None:
    optimizer = _told(branin().space, 3, branin())
    values = [row["value"] for row in optimizer.records()]
    figure = convergence(optimizer, branin().optimum)
    best = _line(figure, "best so far").get_ydata()
    assert np.array_equal(best, np.minimum.accumulate(values))
    shown = {tuple(xy) for label in ("design", "chosen by the model") for xy in _line(figure, label).get_xydata()}
    assert shown == {(float(i), value) for i, value in enumerate(values, start=1)}
    regret = figure.axes[1]
    assert regret.get_yscale() == "log"
    assert np.allclose(regret.lines[0].get_ydata(), best - branin().optimum)
    assert _line(figure, f"optimum {branin().optimum:.6g}").get_ydata()[0] == branin().optimum


def test_convergence_of_a_maximization_rises_past_its_failures() -> None:
    optimizer = _mixed(maximize=True)
    values = [row["value"] for row in optimizer.records() if row["status"] in ("done", "failed")]
    assert None in values
    figure = convergence(optimizer)
    expected = np.fmax.accumulate(np.array([np.nan if v is None else v for v in values]))
    assert np.array_equal(_line(figure, "best so far").get_ydata(), expected)
    failed = [i for i, v in enumerate(values, start=1) if v is None]
    assert _line(figure, "failed").get_xdata().tolist() == failed
    assert {"given by the user", "design"} <= {str(line.get_label()) for line in figure.axes[0].lines}


def test_a_best_on_the_optimum_itself_stays_on_the_log_axis() -> None:
    optimizer = _told(bv.Space.unit(1), 2, lambda p: 0.0)
    _check_layout(convergence(optimizer, 0.0))


def test_batches_are_shaded_each_apart_from_the_next() -> None:
    optimizer = _told(branin().space, 6, branin(), n_init=3)
    figure = convergence(optimizer)
    shades: Any = figure.axes[0].patches
    spans = sorted((shade.get_x(), shade.get_x() + shade.get_width()) for shade in shades)
    assert spans == [(0.5, 3.5), (3.5, 6.5), (9.5, 12.5), (15.5, 18.5)]


def test_the_axes_are_the_parameters_with_the_shortest_lengthscales() -> None:
    optimizer = _mixed(rounds=8)
    assert optimizer.hyperparameters is not None
    ls = optimizer.hyperparameters["lengthscales"]
    shortest = {"blank": ls[0], "rate$": ls[1], "kind": min(ls[3:6]), "layers": ls[6]}
    across, up = sorted(shortest, key=shortest.__getitem__)[:2]
    axes = batches(optimizer).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (across.replace("$", r"\$"), up.replace("$", r"\$"))
    assert {"rate$", "kind"} == {across, up}, "the two that the function of this test depends on most"


def test_choices_and_log_scales_are_drawn_as_such() -> None:
    axes = batches(_mixed(rounds=8)).axes[0]
    kind, rate = (axes.xaxis, axes.yaxis) if axes.get_xlabel() == "kind" else (axes.yaxis, axes.xaxis)
    assert [label.get_text() for label in kind.get_ticklabels()] == ["relu", "tanh", r"\$identity\$"]
    assert rate.get_scale() == "log"


def test_without_a_fit_the_first_two_parameters_are_shown() -> None:
    optimizer = _told(branin().space, 1, branin())
    assert optimizer.hyperparameters is None
    figure = batches(optimizer)
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == branin().space.names
    assert "first two" in figure.texts[0].get_text()


def test_the_points_of_a_batch_are_joined_in_the_order_of_choice() -> None:
    optimizer = _told(branin().space, 3, branin(), n_init=3)
    axes = batches(optimizer).axes[0]
    names = (axes.get_xlabel(), axes.get_ylabel())
    joined = [_xy(line) for line in axes.lines if line.get_linestyle() == "-"]
    assert len(joined) == 2
    for line, first in zip(joined, (3, 6), strict=True):
        expected = [[trial.params[name] for name in names] for trial in optimizer.trials[first : first + 3]]
        assert np.allclose(line, expected)


def test_the_background_is_blank_where_the_constraint_forbids() -> None:
    space = bv.Space({"a": bv.Float(0, 1), "b": bv.Float(0, 1)}, constraint=lambda p: p["a"] + p["b"] < 1.0)
    optimizer = _told(space, 3, lambda p: p["a"] - p["b"], n_init=4)
    mean = batches(optimizer).axes[0].collections[0].get_array()
    assert mean is not None
    assert np.ma.getmaskarray(mean).mean() == pytest.approx(0.5, abs=0.02)


def test_an_optimizer_that_was_loaded_gives_the_same_figure(tmp_path: Any) -> None:
    optimizer = _told(branin().space, 3, branin())
    optimizer.save(tmp_path / "study.jsonl")
    with bv.Optimizer.load(tmp_path / "study.jsonl") as loaded:
        pictures = []
        for one in (optimizer, loaded):
            figure = batches(one)
            figure.canvas.draw()
            pictures.append(np.asarray(figure.canvas.buffer_rgba()))  # type: ignore[attr-defined]
    assert np.array_equal(pictures[0], pictures[1])


def test_figures_without_a_result_are_refused() -> None:
    optimizer = bv.Optimizer(branin().space, seed=0)
    optimizer.tell(optimizer.ask(1)[0], error="exploded")
    for figure in (convergence, batches):
        with pytest.raises(InvalidInput, match="at least one result"):
            figure(optimizer)


def test_a_lie_makes_the_improvement_collapse_where_it_was_largest() -> None:
    figure = before_and_after_a_lie()
    _check_layout(figure)
    columns = len(figure.axes) // 2
    assert columns == 3
    before, *after = [_xy(axes.lines[0]) for axes in figure.axes[columns:]]
    top = int(np.argmax(before[:, 1]))
    for improvement in after:
        assert improvement[top, 1] < 1e-2 * before[top, 1]
        assert abs(improvement[int(np.argmax(improvement[:, 1])), 0] - before[top, 0]) > 0.1


def test_a_believed_value_leaves_the_mean_as_it_was() -> None:
    figure = before_and_after_a_lie(lies=[bv.Believe()])
    before, after = (_line(figure, "model's mean", panel).get_ydata() for panel in (0, 1))
    assert np.allclose(before, after, atol=1e-6)


def test_a_lie_can_be_shown_on_one_number_only() -> None:
    with pytest.raises(InvalidInput, match="one number"):
        before_and_after_a_lie(branin())


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"believer\[plots\]"):
        before_and_after_a_lie()
