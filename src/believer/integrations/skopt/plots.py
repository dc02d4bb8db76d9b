"""scikit-optimize's plots of results; they need matplotlib, draw with its pyplot, and return the axes, as there.

Options of scikit-optimize's that are not named here have no effect, which a warning says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer import space as engine
from believer.arrays import Array, shown
from believer.diagnostics.figure import Coordinate, at_units, cells, coordinates_of, dress, is_constant
from believer.errors import InvalidInput, MissingExtra
from believer.integrations.skopt.space import Real, Space, one_of
from believer.integrations.skopt.utils import expected_minimum, last_model

try:
    from matplotlib import pyplot as plt
except ImportError as missing:
    raise MissingExtra("matplotlib", "plots") from missing


def plot_convergence(*args: Any, true_minimum: float | None = None, yscale: str = "linear", ax: Any = None) -> Any:
    """The least value so far, after each call.

    Each of ``args`` is a result, a list of results, whose mean is drawn, or a pair of a label and either;
    ``true_minimum`` is drawn as a line.
    """
    ax = _draw_curves(args, np.fmin.accumulate, r"$\min f(x)$ after $n$ calls", yscale, ax)
    if true_minimum is not None:
        ax.axhline(true_minimum, linestyle="--", color="r", lw=1, label="True minimum")
        ax.legend()
    return ax


def plot_regret(*args: Any, ax: Any = None, true_minimum: float | None = None, yscale: str = "linear") -> Any:
    """The regret of all calls so far, summed up: from ``true_minimum``, by default the least value of all."""
    values = [np.nanmin(result.func_vals) for arg in args for result in _results(arg)[1]]
    least = min(values) if true_minimum is None else true_minimum
    return _draw_curves(args, lambda y: np.cumsum(y - least), r"$\sum_{i \leq n} (f(x_i) - optimum)$", yscale, ax)


def _results(arg: Any) -> tuple[str | None, list[OptimizeResult]]:
    """The label of an argument, and its results."""
    label, given = arg if isinstance(arg, tuple) else (None, arg)
    found = [given] if isinstance(given, OptimizeResult) else given
    if not isinstance(found, list) or not all(isinstance(result, OptimizeResult) for result in found):
        raise InvalidInput(f"a plot takes results, lists of them, or pairs (label, result); got {shown(arg)}.")
    return label, found


def _draw_curves(args: Any, curve: Callable[[Array], Array], ylabel: str, yscale: str, ax: Any) -> Any:
    named, ax = [_results(arg) for arg in args], ax or plt.gca()
    ax.set(xlabel="Number of calls $n$", ylabel=ylabel, yscale=yscale)
    for label, results in named:
        curves = [curve(np.asarray(result.func_vals, dtype=float)) for result in results]
        longest = max(map(len, curves))
        mean = np.nanmean([np.pad(c, (0, longest - len(c)), mode="edge") for c in curves], axis=0)
        ax.plot(range(1, 1 + longest), mean, marker=".", label=label)
    if any(label for label, _ in named):
        ax.legend()
    return ax


def plot_gaussian_process(
    res: OptimizeResult, ax: Any = None, n_calls: int = -1, objective: Any = None, n_points: int = 1000, **others: Any
) -> Any:
    """The model of a function of one number, the last or that after ``n_calls``, with what it was told.

    The ``objective`` is drawn beside it at ``n_points``, in the axes ``ax``, by default the current ones.
    """
    _warn_of(others)
    if res.space.n_dims != 1 or not isinstance(res.space.dimensions[0], Real):
        raise InvalidInput(f"plot_gaussian_process draws functions of one number; the space is {res.space}.")
    ax, model, told = ax or plt.gca(), last_model(res), len(res.x_iters)
    if n_calls >= 0:
        model, told = res.models[n_calls], told - len(res.models) + 1 + n_calls
    units = np.linspace(0.0, 1.0, n_points)
    x = at_units(coordinates_of(res.space.engine)[0], units)
    mean, std = model.predict(units[:, None], return_std=True)
    if objective is not None:
        ax.plot(x, [float(objective([v])) for v in x], "r--", label="True (unknown)")
    ax.plot(x, mean, "g--", label=r"$\mu_{GP}(x)$")
    ax.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, fc="g", ec="none")
    ax.plot([point[0] for point in res.x_iters[:told]], res.func_vals[:told], "r.", label="Observations")
    ax.set(xlabel="x", ylabel="f(x)", title=f"x* = {res.x[0]:.4f}, f(x*) = {res.fun:.4f}")
    ax.legend()
    return ax


def partial_dependence(
    space: Space, model: Any, i: int, j: int | None = None, sample_points: Any = None, n_points: int = 40
) -> tuple[Any, ...]:
    """What the model expects along dimension ``i``, or ``i`` and ``j``, on average over the others.

    Returns the values ``xi``, and ``yi`` at them; with ``j``, ``xi`` along j, ``yi`` along i and the matrix ``zi``.
    Categories are their indices. The average is over the transformed ``sample_points``, by default 250 random ones.
    """
    samples = np.array(space.transform(space.rvs(250)) if sample_points is None else sample_points, dtype=float)
    held = [coordinates_of(space.engine)[k] for k in ([i] if j is None else [i, j])]
    values, seen = zip(*(_along(coordinate, n_points) for coordinate in held), strict=True)
    means = []
    for at in product(*seen):
        for coordinate, one in zip(held, at, strict=True):
            samples[:, coordinate.start : coordinate.stop] = one
        means.append(np.mean(model.predict(samples)))
    return (values[0], means) if j is None else (values[1], values[0], np.reshape(means, (len(values[0]), -1)))


def _along(coordinate: Coordinate, n: int) -> tuple[Any, Array]:
    """n values of a number, or the indices of all categories, and their encoded columns."""
    if isinstance(coordinate.parameter, engine.Categorical):
        return np.arange(len(coordinate.parameter.choices)), cells(coordinate)[0]
    units = np.linspace(0.0, 1.0, n)
    return at_units(coordinate, units), units[:, None]


def plot_objective(
    result: Any, levels: int = 10, n_points: int = 40, n_samples: int = 250, minimum: str = "result", **more: Any
) -> Any:
    """What the last model expects along each dimension and each pair of them, by :func:`partial_dependence`.

    It is drawn at ``n_points`` with ``levels`` contours, on average over ``n_samples``; the star is at ``minimum``,
    "result" or "expected_minimum". ``plot_dims`` are names or indices, ``dimensions`` their labels.
    """
    space, model = result.space, last_model(result)
    is_best = one_of(minimum, ("result", "expected_minimum"), "minimum") == "result"
    star = result.x if is_best else expected_minimum(result)[0]
    samples = space.transform(space.rvs(n_samples))

    def draw(panel: Any, i: int, j: int) -> None:
        found = partial_dependence(space, model, i, None if i == j else j, samples, n_points)
        panel.plot(*found) if i == j else panel.contourf(*found, levels, cmap="viridis_r")

    return _draw_matrix(result, star, "Partial dependence", draw, **more)


def plot_evaluations(result: OptimizeResult, bins: int = 20, **more: Any) -> Any:
    """Where evaluations were: histograms of ``bins``, and pairs of dimensions, which may be chosen as there."""
    coordinates, points = coordinates_of(result.space.engine), _numbers(result.space, result.x_iters)

    def draw(panel: Any, i: int, j: int) -> None:
        if i == j:
            is_number = isinstance(result.space.dimensions[i], Real)
            panel.hist(points[i], _along(coordinates[i], bins + 1)[0] if is_number else cells(coordinates[i])[1])

    return _draw_matrix(result, result.x, "Number of samples", draw, **more)


def _numbers(space: Space, points: list[Any]) -> list[Array]:
    """What points have in each dimension, as numbers: of categories, their indices."""
    columns = zip(space, zip(*points, strict=True), strict=True)
    return [np.array(c if isinstance(d, Real) else [*map(d.categories.index, c)], float) for d, c in columns]


def _warn_of(others: dict[str, Any]) -> None:
    if others:
        warnings.warn(f"these options have no effect here: {', '.join(others)}.", stacklevel=3)


def _draw_matrix(
    result: Any, star: Any, ylabel: str, draw: Any, dimensions: Any = None, plot_dims: Any = None, **others: Any
) -> Any:
    """A triangle of panels that ``draw`` fills; those of pairs have the points, in the order of their colors."""
    _warn_of(others)
    names, coordinates = result.space.dimension_names, coordinates_of(result.space.engine)
    varied = [i for i, coordinate in enumerate(coordinates) if not is_constant(coordinate.parameter)]
    chosen = varied if plot_dims is None else [names.index(d) if d in names else d for d in plot_dims]
    if not set(chosen) <= set(range(len(names))) or len(dimensions or chosen) != len(chosen):
        raise InvalidInput(f"plot_dims must be of the space, and dimensions a label each; got {shown(plot_dims)}.")
    k, labels = len(chosen), dimensions or [names[i] for i in chosen]
    points, best = _numbers(result.space, result.x_iters), _numbers(result.space, [star])
    panels = plt.subplots(k, k, figsize=(2.5 * k, 2.5 * k), squeeze=False, layout="constrained")[1]
    for (row, column), panel in np.ndenumerate(panels):
        i, j = chosen[row], chosen[column]
        if row < column:
            panel.remove()
            continue
        draw(panel, i, j)
        if row > column:
            panel.scatter(points[j], points[i], c=range(len(points[i])), s=20, lw=0.0)
            panel.scatter(best[j], best[i], color="r", s=100, lw=0.0, marker="*", zorder=3)
            dress(panel, "y", coordinates[i])
        dress(panel, "x", coordinates[j])
        panel.set(xlabel=labels[column], ylabel=ylabel if row == column else labels[row])
    return panels
