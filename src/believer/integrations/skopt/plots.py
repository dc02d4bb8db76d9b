"""scikit-optimize's plots of results; they need matplotlib, draw with its pyplot, and return the axes, as there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import Array, shown
from believer.diagnostics.figure import coordinates_of, dress, is_constant
from believer.errors import InvalidInput, MissingExtra
from believer.integrations.skopt.space import Categorical, Space, one_of
from believer.integrations.skopt.utils import expected_minimum, last_model

try:
    from matplotlib import pyplot as plt
except ImportError as missing:
    raise MissingExtra("matplotlib", "plots") from missing

Draw = Callable[..., None]
_STAR = {"color": "r", "s": 100, "lw": 0.0, "marker": "*", "zorder": 3}


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
    values = [result.func_vals for arg in args for result in _results(arg)[1]]
    least = min(map(np.nanmin, values)) if true_minimum is None else true_minimum
    return _draw_curves(args, lambda y: np.cumsum(y - least), r"$\sum_{i \leq n} (f(x_i) - optimum)$", yscale, ax)


def _results(arg: Any) -> tuple[str | None, list[OptimizeResult]]:
    """The label of an argument, and its results."""
    label, given = arg if isinstance(arg, tuple) else (None, arg)
    found = [given] if isinstance(given, OptimizeResult) else given
    if not isinstance(found, list) or not all(isinstance(result, OptimizeResult) for result in found):
        raise InvalidInput(f"a plot takes results, lists of them, or pairs (label, result); got {shown(arg)}.")
    return label, found


def _draw_curves(args: Any, curve: Callable[[Array], Array], ylabel: str, yscale: str, ax: Any) -> Any:
    named = [_results(arg) for arg in args]
    ax = plt.gca() if ax is None else ax
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
    res: OptimizeResult,
    ax: Any = None,
    n_calls: int = -1,
    objective: Callable[[Any], float] | None = None,
    n_points: int = 1000,
    noise_level: float = 0,
    show_legend: bool = True,
    show_title: bool = True,
    **others: Any,
) -> Any:
    """The model of a function of one number, with what it was told.

    Parameters
    ----------
    res, ax : the result, and axes to draw in; default the current ones.
    n_calls, n_points : which model, in their order, default the last; and how many points along the axis.
    objective, noise_level : the function itself, drawn with 1.96 times the level.
    show_legend, show_title : whether there are any.
    """
    _warn_of(others)
    if res.space.n_dims != 1 or isinstance(res.space.dimensions[0], Categorical):
        raise InvalidInput(f"plot_gaussian_process draws functions of one number; the space is {res.space}.")
    ax, model, told = plt.gca() if ax is None else ax, last_model(res), len(res.x_iters)
    if n_calls >= 0:
        model, told = res.models[n_calls], told - len(res.models) + 1 + n_calls
    low, high = res.space.bounds[0]
    x = np.linspace(low, high, n_points)
    mean, std = model.predict(res.space.transform(x[:, None]), return_std=True)
    curves = [("g", r"$\mu_{GP}(x)$", mean, std)]
    if objective is not None:
        curves.append(("r", "True (unknown)", np.array([float(objective([v])) for v in x]), noise_level))
    for color, label, middle, spread in curves:
        ax.plot(x, middle, f"{color}--", label=label)
        ax.fill_between(x, middle - 1.96 * spread, middle + 1.96 * spread, alpha=0.2, fc=color, ec="none")
    ax.plot([point[0] for point in res.x_iters[:told]], res.func_vals[:told], "r.", label="Observations")
    ax.set(xlabel="x", ylabel="f(x)")
    if show_title:
        ax.set_title(f"x* = {res.x[0]:.4f}, f(x*) = {res.fun:.4f}")
    if show_legend:
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
    starts = np.cumsum([0, *(dim.transformed_size for dim in space)])
    held = [i] if j is None else [i, j]
    values, seen = zip(*(_along(space.dimensions[k], n_points) for k in held), strict=True)
    means = []
    for at in product(*seen):
        for k, one in zip(held, at, strict=True):
            samples[:, starts[k] : starts[k + 1]] = one
        means.append(np.mean(model.predict(samples)))
    return (values[0], means) if j is None else (values[1], values[0], np.reshape(means, (len(values[0]), -1)))


def _along(dim: Any, n: int) -> tuple[Any, Any]:
    """Values along a dimension, evenly on the scale of its prior, and what models see of them."""
    if isinstance(dim, Categorical):
        return np.arange(len(dim.categories)), np.asarray(dim.transform(dim.categories), dtype=float)
    spaced = np.geomspace if dim.prior == "log-uniform" else np.linspace
    values = np.clip(spaced(float(dim.low), float(dim.high), n), dim.low, dim.high)
    return values, dim.transform(values)


def plot_objective(
    result: OptimizeResult,
    levels: int = 10,
    n_points: int = 40,
    n_samples: int = 250,
    minimum: Any = "result",
    **layout: Any,
) -> Any:
    """What the last model expects along each dimension and each pair of them, by :func:`partial_dependence`.

    Parameters
    ----------
    result : the result. The ``layout``: ``plot_dims``, names or indices of dimensions; ``dimensions``, their labels.
    levels : how many contours.
    n_points, n_samples : along a dimension, and random ones to average over.
    minimum : the red star: "result", "expected_minimum", or a point.
    """
    space, model, star = result.space, last_model(result), minimum
    if not isinstance(minimum, list):
        named = one_of(minimum, ("result", "expected_minimum"), "a minimum that is no point")
        star = result.x if named == "result" else expected_minimum(result)[0]
    samples = space.transform(space.rvs(n_samples))
    points, best = _numbers(space, result.x_iters), _numbers(space, [star])[0]

    def alone(panel: Any, i: int) -> None:
        panel.plot(*partial_dependence(space, model, i, None, samples, n_points))
        panel.axvline(best[i], linestyle="--", color="r", lw=1)

    def pair(panel: Any, i: int, j: int) -> None:
        panel.contourf(*partial_dependence(space, model, i, j, samples, n_points), levels, cmap="viridis_r")
        panel.scatter(points[:, j], points[:, i], c="k", s=10, lw=0.0)
        panel.scatter(best[j], best[i], **_STAR)

    return _draw_matrix(space, "Partial dependence", alone, pair, **layout)


def plot_evaluations(result: OptimizeResult, bins: int = 20, **layout: Any) -> Any:
    """Where evaluations were: histograms, and pairs of dimensions colored by their order.

    ``bins`` are those of the histograms; the ``layout`` is as for :func:`plot_objective`.
    """
    space, points = result.space, _numbers(result.space, result.x_iters)
    best = _numbers(space, [result.x])[0]

    def alone(panel: Any, i: int) -> None:
        values = _along(dim := space.dimensions[i], bins + 1)[0]
        panel.hist(points[:, i], bins=np.arange(len(values) + 1) - 0.5 if isinstance(dim, Categorical) else values)

    def pair(panel: Any, i: int, j: int) -> None:
        panel.scatter(points[:, j], points[:, i], c=range(len(points)), s=40, lw=0.0)
        panel.scatter(best[j], best[i], **_STAR)

    return _draw_matrix(space, "Number of samples", alone, pair, **layout)


def _numbers(space: Space, points: list[Any]) -> Array:
    """Points (n, dimensions) in which categories are their indices."""
    columns = [[x[i] for x in points] for i in range(space.n_dims)]
    pairs = zip(space, columns, strict=True)
    return np.array([list(map(d.categories.index, c)) if isinstance(d, Categorical) else c for d, c in pairs], float).T


def _warn_of(others: dict[str, Any]) -> None:
    """Say which options were given that are not here."""
    if others:
        warnings.warn(f"these options have no effect here: {', '.join(others)}.", stacklevel=3)


def _draw_matrix(
    space: Space, ylabel: str, alone: Draw, pair: Draw, dimensions: Any = None, plot_dims: Any = None, **others: Any
) -> Any:
    """A triangle of panels: ``alone`` draws the diagonal, ``pair`` what is below it."""
    _warn_of(others)
    coordinates = coordinates_of(space.engine)
    varied = [i for i, coordinate in enumerate(coordinates) if not is_constant(coordinate.parameter)]
    chosen = [i for i, _ in space[varied if plot_dims is None else list(plot_dims)]]
    if None in chosen or len(dimensions or chosen) != len(chosen):
        raise InvalidInput(f"plot_dims must be of the space, and dimensions a label each; got {shown(plot_dims)}.")
    k, names = len(chosen), dimensions or [space.dimension_names[i] for i in chosen]
    panels = plt.subplots(k, k, figsize=(2.5 * k, 2.5 * k), squeeze=False, layout="constrained")[1]
    for (row, column), panel in np.ndenumerate(panels):
        if column > row:
            panel.remove()
            continue
        if row == column:
            alone(panel, chosen[row])
        else:
            pair(panel, chosen[row], chosen[column])
            dress(panel, "y", coordinates[chosen[row]])
        dress(panel, "x", coordinates[chosen[column]])
        panel.set(xlabel=names[column], ylabel=ylabel if row == column else names[row])
    return panels
