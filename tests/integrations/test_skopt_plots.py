"""The plots of the door with scikit-optimize's names draw what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.integrations import skopt
from believer.integrations.skopt.space import Categorical, Integer, Real

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt

from believer.integrations.skopt import plots

DIMENSIONS = [Real(1e-3, 1.0, "log-uniform", name="lr"), Integer(1, 9), Categorical(["a", "b"]), Categorical(["only"])]


@pytest.fixture(scope="module")
def result() -> Any:
    return skopt.gp_minimize(
        lambda x: np.log10(x[0]) ** 2 + x[1] + (x[2] == "a"), DIMENSIONS, n_calls=12, n_initial_points=8, random_state=0
    )


@pytest.fixture(autouse=True)
def _figures() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"minimum": "expected_minimum"},
        {"plot_dims": ["lr", 2]},
        {"levels": 3},
    ],
    ids=lambda options: ",".join(options) or "defaults",
)
def test_the_objective_has_a_panel_for_each_dimension_and_pair(result: Any, options: dict[str, Any]) -> None:
    panels = plots.plot_objective(result, n_points=6, n_samples=10, **options)
    figure = panels[0, 0].figure
    shown = len(options.get("plot_dims", DIMENSIONS[:3]))
    assert len(figure.axes) == shown * (shown + 1) // 2
    labels = {panel.get_xlabel() for panel in figure.axes}
    assert labels == ({"lr", "X_2"} if "plot_dims" in options else {"lr", "X_1", "X_2"})
    figure.canvas.draw()


def test_evaluations_are_counted_on_the_diagonal(result: Any) -> None:
    panels = plots.plot_evaluations(result, bins=5)
    assert [sum(bar.get_height() for bar in panel.patches) for panel in panels.diagonal()] == [12.0] * 3
    panels[0, 0].figure.canvas.draw()


def test_convergence_is_the_least_value_so_far_and_regret_the_sum(result: Any) -> None:
    least = plots.plot_convergence(("one", result), ("two", [result, result]), true_minimum=0.0)
    assert np.array_equal(least.lines[0].get_ydata(), np.minimum.accumulate(result.func_vals))
    assert [text.get_text() for text in least.get_legend().get_texts()] == ["one", "two", "True minimum"]
    regret = plots.plot_regret(result, ax=plt.subplots()[1])
    assert np.allclose(regret.lines[0].get_ydata(), np.cumsum(result.func_vals - result.fun))


def test_a_model_of_one_number_is_drawn_with_what_it_was_told() -> None:
    found = skopt.gp_minimize(lambda x: np.sin(x[0]), [(-2.0, 2.0)], n_calls=9, n_initial_points=5, random_state=0)
    ax = plots.plot_gaussian_process(found, objective=lambda x: np.sin(x[0]), n_points=50)
    assert len(ax.lines[-1].get_xdata()) == 9
    ax.figure.canvas.draw()
    for place, model in enumerate(found.models):
        ax = plots.plot_gaussian_process(found, n_calls=place, n_points=50, ax=plt.subplots()[1])
        told = ax.lines[-1].get_ydata()
        assert np.array_equal(told, found.func_vals[: 5 + place])
        mean = model.predict(found.space.transform([[x] for x in ax.lines[0].get_xdata()]))
        assert np.allclose(ax.lines[0].get_ydata(), mean)
    with pytest.raises(InvalidInput, match="5 models"):
        plots.plot_gaussian_process(found, n_calls=5)


def test_one_or_two_dimensions_are_drawn_by_name_or_place(result: Any) -> None:
    values = [x[0] for x in result.x_iters]
    for name in ("lr", 0):
        ax = plots.plot_histogram(result, name, bins=4, ax=plt.subplots()[1])
        assert [bar.get_height() for bar in ax.patches] == np.histogram(values, np.geomspace(1e-3, 1.0, 5))[0].tolist()
    counts = [bar.get_height() for bar in plots.plot_histogram(result, 2, ax=plt.subplots()[1]).patches]
    assert counts == [[x[2] for x in result.x_iters].count(name) for name in "ab"]
    ax = plots.plot_objective_2D(result, "lr", 1, n_points=5, n_samples=9, minimum="expected_minimum")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("lr", "X_1")
    dots, star = (collection.get_offsets() for collection in ax.collections[-2:])
    assert dots.tolist() == [x[:2] for x in result.x_iters]
    assert star.tolist() == [skopt.expected_minimum(result)[0][:2]]
    ax.figure.canvas.draw()


@pytest.mark.parametrize("point", ["result", "expected_minimum", "expected_minimum_random", [0.01, 4, "a", "only"]])
def test_the_other_dimensions_and_the_star_may_be_at_a_point(result: Any, point: Any) -> None:
    options = {"sample_source": point, "minimum": point, "n_minimum_search": 20, "dimensions": ["rate", "n", "kind"]}
    panels = plots.plot_objective(result, n_points=3, **options)
    assert [panel.get_xlabel() for panel in panels[-1]] == ["rate", "n", "kind"]
    if isinstance(point, list):
        assert panels[1, 0].collections[-1].get_offsets().tolist() == [[0.01, 4]]
        rows = result.space.transform([[0.01, n, "a", "only"] for n in (1, 5, 9)])
        assert np.allclose(panels[1, 1].lines[0].get_ydata(), result.models[-1].predict(rows))


def test_partial_dependence_is_the_mean_over_the_other_dimensions(result: Any) -> None:
    space, model = result.space, result.models[-1]
    points = space.rvs(7, random_state=0)
    samples = space.transform(points)
    where, means = plots.partial_dependence(space, model, 1, sample_points=samples, n_points=9)
    assert np.allclose(where, range(1, 10))
    for value, mean in zip(where, means, strict=True):
        moved = space.transform([[x[0], round(value), *x[2:]] for x in points])
        assert mean == pytest.approx(np.mean(model.predict(moved)))
    along_j, along_i, means = plots.partial_dependence(space, model, 2, 1, samples, 9)
    assert (len(along_j), list(along_i), means.shape) == (9, [0, 1], (2, 9))
    chosen = space.transform([[x[0], 5, "b", x[3]] for x in points])
    assert means[1, 4] == pytest.approx(np.mean(model.predict(chosen)))


def test_what_cannot_be_drawn_is_refused(result: Any) -> None:
    with pytest.raises(InvalidInput, match="one number"):
        plots.plot_gaussian_process(result)
    with pytest.raises(InvalidInput, match="plot_dims"):
        plots.plot_evaluations(result, plot_dims=["depth"])
    with pytest.raises(InvalidInput, match="expected_minimum"):
        plots.plot_objective(result, minimum="best")
    with pytest.raises(InvalidInput, match="sample_source"):
        plots.plot_objective(result, sample_source=[0.01])
    with pytest.raises(InvalidInput, match="label"):
        plots.plot_objective(result, dimensions=["one"])
    with pytest.raises(InvalidInput, match="dimension"):
        plots.plot_histogram(result, "depth")


def test_an_option_that_has_no_effect_is_named_in_a_warning(result: Any) -> None:
    with pytest.warns(UserWarning, match="size, zscale"):
        plots.plot_objective(result, n_points=3, n_samples=5, size=3, zscale="log")


def test_panels_of_the_diagonal_share_their_range_and_show_the_minimum(result: Any) -> None:
    diagonal = plots.plot_objective(result, n_points=5, n_samples=9).diagonal()
    assert len({panel.get_ylim() for panel in diagonal}) == 1
    for panel in diagonal:
        (low, high), (line, minimum) = panel.get_ylim(), panel.lines
        assert low <= min(line.get_ydata())
        assert max(line.get_ydata()) <= high
        assert min(line.get_xdata()) <= minimum.get_xdata()[0] <= max(line.get_xdata())


def test_a_minimum_that_a_logarithm_cannot_show_is_left_out(result: Any) -> None:
    ax = plots.plot_convergence(result, true_minimum=0.0, yscale="log")
    assert ax.get_legend() is None
