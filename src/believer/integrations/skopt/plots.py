"""scikit-optimize's plots of results; they need matplotlib, and draw with its pyplot, as there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.acquisitions import LogEI
from believer.arrays import Array, shown
from believer.errors import MissingExtra
from believer.integrations.skopt.refusals import InvalidInput
from believer.integrations.skopt.results import expected_minimum, expected_minimum_random_sampling, last_model
from believer.integrations.skopt.space import Categorical, Integer, Space

try:
    from matplotlib import pyplot as plt
    from matplotlib.gridspec import GridSpecFromSubplotSpec
    from matplotlib.ticker import LogLocator, MaxNLocator
except ImportError as missing:
    raise MissingExtra("matplotlib", "plots") from missing

__all__ = [
    "partial_dependence",
    "plot_convergence",
    "plot_evaluations",
    "plot_gaussian_process",
    "plot_objective",
    "plot_regret",
]

_STAR = {"color": "r", "s": 100, "lw": 0.0, "marker": "*", "zorder": 3}


def plot_convergence(*args: Any, true_minimum: float | None = None, yscale: str | None = None, ax: Any = None) -> Any:
    """The least value so far, after each call; returns the axes.

    Each of ``args`` is a result, a list of results (their mean is drawn as well), or a pair of a label and either.

    Parameters
    ----------
    true_minimum : drawn as a line.
    yscale : of the axis, as matplotlib has it.
    ax : axes to draw in; default the current ones.
    """
    labels = ("Convergence plot", r"$\min f(x)$ after $n$ calls")
    ax = _draw_curves(args, np.minimum.accumulate, labels, yscale, ax)
    if true_minimum is not None:
        ax.axhline(true_minimum, linestyle="--", color="r", lw=1, label="True minimum")
        ax.legend(loc="best")
    return ax


def plot_regret(*args: Any, ax: Any = None, true_minimum: float | None = None, yscale: str | None = None) -> Any:
    """The regret of all calls so far, summed up; returns the axes.

    ``args`` are as for :func:`plot_convergence`.

    Parameters
    ----------
    true_minimum : from which the regret is; default the least value of all.
    ax, yscale : as for :func:`plot_convergence`.
    """
    results = [result for arg in args for result in _results(arg)[1]]
    least = min(np.nanmin(result.func_vals) for result in results) if true_minimum is None else true_minimum
    labels = ("Cumulative regret plot", r"$\sum_{i \leq n} (f(x_i) - optimum)$")
    return _draw_curves(args, lambda y: np.cumsum(y - least), labels, yscale, ax)


def _results(arg: Any) -> tuple[str | None, list[OptimizeResult]]:
    """The label of an argument, and its results."""
    label, given = arg if isinstance(arg, tuple) else (None, arg)
    found = [given] if isinstance(given, OptimizeResult) else given
    if not isinstance(found, list) or not all(isinstance(result, OptimizeResult) for result in found):
        raise InvalidInput(f"a plot takes results, lists of them, or pairs (label, result); got {shown(arg)}.")
    return label, found


def _draw_curves(args: Any, curve: Callable[[Array], Array], labels: Any, yscale: str | None, ax: Any) -> Any:
    ax = plt.gca() if ax is None else ax
    ax.set(title=labels[0], xlabel="Number of calls $n$", ylabel=labels[1])
    ax.grid()
    if yscale is not None:
        ax.set_yscale(yscale)
    for arg, color in zip(args, plt.get_cmap("viridis")(np.linspace(0.25, 1.0, len(args))), strict=True):
        label, results = _results(arg)
        curves = [curve(np.asarray(result.func_vals, dtype=float)) for result in results]
        longest = max(map(len, curves))
        padded = np.array([np.pad(c, (0, longest - len(c)), constant_values=np.nan) for c in curves])
        for one in curves if len(curves) > 1 else []:
            ax.plot(range(1, 1 + len(one)), one, color=color, alpha=0.2)
        mean = np.nanmean(padded, axis=0)
        ax.plot(range(1, 1 + longest), mean, color=color, marker=".", markersize=12, lw=2, label=label)
        if label:
            ax.legend(loc="best")
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
    show_acq_func: bool = False,
    show_next_point: bool = False,
    show_observations: bool = True,
    show_mu: bool = True,
) -> Any:
    """The model of a function of one number, with what it was told; returns the axes.

    Parameters
    ----------
    res : the result.
    ax : axes to draw in; default the current ones.
    n_calls : which model, in their order; default the last.
    objective : the function itself, drawn with 1.96 times ``noise_level``.
    n_points : how many points along the axis.
    show_acq_func, show_next_point : the acquisition, and where it is largest.
    show_legend, show_title, show_observations, show_mu : what else to draw.
    """
    if res.space.n_dims != 1 or res.space.is_partly_categorical:
        raise InvalidInput(f"plot_gaussian_process draws functions of one number; the space is {res.space}.")
    ax, model, (low, high) = plt.gca() if ax is None else ax, last_model(res), res.space.bounds[0]
    told = len(res.x_iters)
    if n_calls >= 0:
        model, told = res.models[n_calls], len(res.x_iters) - len(res.models) + 1 + n_calls
    x = np.linspace(low, high, n_points)
    mean, std = model.predict(res.space.transform(x[:, None]), return_std=True)
    if objective is not None:
        y = np.array([objective([value]) for value in x], dtype=float)
        ax.plot(x, y, "r--", label="True (unknown)")
        ax.fill_between(x, y - 1.96 * noise_level, y + 1.96 * noise_level, alpha=0.2, fc="r", ec="none")
    if show_mu:
        ax.plot(x, mean, "g--", label=r"$\mu_{GP}(x)$")
        ax.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, fc="g", ec="none")
    if show_observations:
        ax.plot([point[0] for point in res.x_iters[:told]], res.func_vals[:told], "r.", ms=8, label="Observations")
    panels = [ax]
    if show_acq_func:
        worth, right = model.settings.acquisition, ax.twinx()
        value = worth.pointwise(mean, std, float(np.nanmin(res.func_vals[:told]))).value
        name, value = ("EI", np.exp(value)) if isinstance(worth, LogEI) else (type(worth).__name__, value)
        right.plot(x, value, "b", label=f"{name}(x)")
        right.set_ylabel(f"{name}(x)")
        if show_next_point:
            right.plot(x[np.argmax(value)], value.max(), "bo", markersize=6, label="Next query point")
        panels.append(right)
    ax.grid()
    ax.set(xlabel="x", ylabel="f(x)", title=f"x* = {res.x[0]:.4f}, f(x*) = {res.fun:.4f}" if show_title else "")
    if show_legend:
        named = [pair for panel in panels for pair in zip(*panel.get_legend_handles_labels(), strict=True)]
        panels[-1].legend(*zip(*named, strict=True), loc="best", prop={"size": 6}, numpoints=1)
    return ax


def partial_dependence(
    space: Space,
    model: Any,
    i: int,
    j: int | None = None,
    sample_points: Any = None,
    n_samples: int = 250,
    n_points: int = 40,
    x_eval: Any = None,
) -> tuple[Any, ...]:
    """What the model expects along dimension ``i``, or ``i`` and ``j``, on average over the others.

    Returns the values ``xi``, and ``yi`` at them; with ``j``, ``xi`` along j, ``yi`` along i and the matrix ``zi``.
    Categories are their indices.

    Parameters
    ----------
    space, model : of a result.
    i, j : dimensions.
    sample_points : transformed points to average over.
    n_samples : how many random ones, without them.
    n_points : how many values of a dimension.
    x_eval : a point in the place of random ones.
    """
    if sample_points is None:
        sample_points = space.transform(space.rvs(n_samples=n_samples) if x_eval is None else [x_eval])
    samples = np.asarray(sample_points, dtype=float)
    xi, (columns, seen) = _along(space, i, n_points)
    if j is None:
        return xi, [_mean(model, samples, [(columns, one)]) for one in seen]
    other, (others, shown_as) = _along(space, j, n_points)
    zi = [[_mean(model, samples, [(columns, one), (others, two)]) for two in shown_as] for one in seen]
    return other, xi, np.array(zi)


def _along(space: Space, i: int, n_points: int) -> tuple[Any, tuple[slice, Any]]:
    """Values along a dimension, its transformed columns, and what models see of the values."""
    dim, start = space.dimensions[i], sum(d.transformed_size for d in space.dimensions[:i])
    if isinstance(dim, Categorical):
        values, seen = np.arange(len(dim.categories)), dim.transform(dim.categories)
    else:
        spaced = np.geomspace if dim.prior == "log-uniform" else np.linspace
        values = np.clip(spaced(float(dim.low), float(dim.high), n_points), dim.low, dim.high)
        seen = dim.transform(values)
    return values, (slice(start, start + dim.transformed_size), np.asarray(seen, dtype=float))


def _mean(model: Any, samples: Array, held: list[tuple[slice, Any]]) -> float:
    at = samples.copy()
    for columns, value in held:
        at[:, columns] = value
    return float(np.mean(model.predict(at)))


def plot_objective(
    result: OptimizeResult,
    levels: int = 10,
    n_points: int = 40,
    n_samples: int = 250,
    size: float = 2,
    wspace: float = 0.35,
    hspace: float = 0.35,
    zscale: str = "linear",
    dimensions: list[str] | None = None,
    sample_source: Any = "random",
    minimum: Any = "result",
    n_minimum_search: int | None = None,
    plot_dims: Any = None,
    show_points: bool = True,
    cmap: Any = "viridis_r",
    ax: Any = None,
) -> Any:
    """What the last model expects along each dimension and each pair of them; returns the outer axes.

    Parameters
    ----------
    result : the result.
    levels, zscale, cmap : of the contours; ``zscale`` is "linear" or "log".
    n_points, n_samples : as for :func:`partial_dependence`.
    sample_source : "random" averages over the other dimensions; or one point, as ``minimum``.
    minimum : the red star: "result", "expected_minimum", "expected_minimum_random", or a point.
    n_minimum_search : how many random points the last but one tries.
    plot_dims : names or indices; default all that are not constant.
    dimensions : what to call them.
    show_points : evaluations as dots.
    size, wspace, hspace, ax : of the figure, of the gaps, and axes to draw in.
    """
    if zscale not in ("linear", "log"):
        raise InvalidInput(f"zscale must be linear or log; got {shown(zscale)}.")
    space, model, star = result.space, last_model(result), _place(result, minimum, n_minimum_search)
    others = None if sample_source == "random" else [_place(result, sample_source, n_minimum_search)]
    samples = space.transform(space.rvs(n_samples=n_samples) if others is None else others)
    points, best = _numbers(space, result.x_iters), _numbers(space, [star])[0]

    def alone(panel: Any, i: int) -> None:
        panel.plot(*partial_dependence(space, model, i, sample_points=samples, n_points=n_points))
        panel.axvline(best[i], linestyle="--", color="r", lw=1)

    def pair(panel: Any, i: int, j: int) -> None:
        filled = partial_dependence(space, model, i, j, samples, n_points=n_points)
        panel.contourf(*filled, levels, locator=LogLocator() if zscale == "log" else None, cmap=cmap)
        if show_points:
            panel.scatter(points[:, j], points[:, i], c="k", s=10, lw=0.0)
        panel.scatter(best[j], best[i], **_STAR)

    return _draw_matrix(space, plot_dims, dimensions, "Partial dependence", (size, wspace, hspace), ax, alone, pair)


def plot_evaluations(
    result: OptimizeResult,
    bins: int = 20,
    dimensions: list[str] | None = None,
    plot_dims: Any = None,
    size: float = 2,
    wspace: float = 0.35,
    hspace: float = 0.35,
    cmap: Any = "viridis",
    ax: Any = None,
) -> Any:
    """Where evaluations were: histograms, and pairs of dimensions colored by their order; returns the outer axes.

    Parameters
    ----------
    result : the result.
    bins : of the histograms.
    dimensions, plot_dims, size, wspace, hspace, cmap, ax : as for :func:`plot_objective`.
    """
    space = result.space
    points, best = _numbers(space, result.x_iters), _numbers(space, [result.x])[0]

    def alone(panel: Any, i: int) -> None:
        dim = space.dimensions[i]
        if isinstance(dim, Categorical):
            edges = np.arange(len(dim.categories) + 1) - 0.5
        else:
            spaced = np.geomspace if dim.prior == "log-uniform" else np.linspace
            edges = spaced(float(dim.low), float(dim.high), bins + 1)
        panel.hist(points[:, i], bins=edges)

    def pair(panel: Any, i: int, j: int) -> None:
        panel.scatter(points[:, j], points[:, i], c=range(len(points)), s=40, lw=0.0, cmap=cmap)
        panel.scatter(best[j], best[i], **_STAR)

    return _draw_matrix(space, plot_dims, dimensions, "Number of samples", (size, wspace, hspace), ax, alone, pair)


def _place(result: OptimizeResult, wanted: Any, tries: int | None) -> Any:
    """The point that ``minimum`` or ``sample_source`` stands for."""
    if isinstance(wanted, list) and len(wanted) == result.space.n_dims:
        return wanted
    if wanted == "result":
        return result.x
    if wanted == "expected_minimum":
        return expected_minimum(result)[0]
    if wanted == "expected_minimum_random":
        return expected_minimum_random_sampling(result, tries or 10_000)[0]
    raise InvalidInput(f"a point, result, expected_minimum or expected_minimum_random; got {shown(wanted)}.")


def _numbers(space: Space, points: list[Any]) -> Array:
    """Points (n, dimensions) in which categories are their indices."""
    categories = {i: dim.categories for i, dim in enumerate(space) if isinstance(dim, Categorical)}
    return np.array(
        [[categories[i].index(v) if i in categories else v for i, v in enumerate(x)] for x in points], float
    )


def _draw_matrix(
    space: Space,
    wanted: Any,
    labels: Any,
    ylabel: str,
    shape: tuple[float, float, float],
    ax: Any,
    alone: Any,
    pair: Any,
) -> Any:
    """A triangle of panels inside of ``ax``: ``alone`` draws the diagonal, ``pair`` what is below it."""
    chosen = [(i, dim) for i, dim in enumerate(space) if not dim.is_constant] if wanted is None else space[list(wanted)]
    if any(dim is None for _, dim in chosen) or (labels is not None and len(labels) != len(chosen)):
        raise InvalidInput(
            f"plot_dims must be dimensions of the space, and dimensions a label each; got {shown(wanted)}."
        )
    names = labels or [f"$X_{{{i}}}$" if dim.name is None else dim.name for i, dim in chosen]
    k, (size, wspace, hspace) = len(chosen), shape
    ax = plt.subplots(figsize=(size * k, size * k))[1] if ax is None else ax
    ax.set_axis_off()
    grid = GridSpecFromSubplotSpec(k, k, subplot_spec=ax.get_subplotspec(), wspace=wspace, hspace=hspace)
    diagonal = []
    for row, (i, dim_i) in enumerate(chosen):
        for column, (j, dim_j) in enumerate(chosen[: row + 1]):
            panel = ax.figure.add_subplot(grid[row, column])
            if row == column:
                alone(panel, i)
                diagonal.append(panel)
                panel.yaxis.tick_right()
                panel.yaxis.set_label_position("right")
                panel.xaxis.tick_top()
                panel.xaxis.set_label_position("top")
                panel.set(xlabel=names[row], ylabel=ylabel)
            else:
                pair(panel, i, j)
                _dress(panel.yaxis, dim_i, names[row] if column == 0 else None)
            _dress(panel.xaxis, dim_j, names[column] if row in (column, k - 1) else None)
    low, high = zip(*(panel.get_ylim() for panel in diagonal), strict=True)
    for panel in diagonal:
        panel.set_ylim(min(low), max(high))
    return ax


def _dress(axis: Any, dim: Any, label: str | None) -> None:
    """Scale, ticks and limits of one axis; no label, no ticks."""
    which = axis.axis_name
    if isinstance(dim, Categorical):
        axis.set_ticks(range(len(dim.categories)), [str(category) for category in dim.categories])
        axis.axes.set(**{f"{which}lim": (-0.3, len(dim.categories) - 0.7)})
    else:
        axis.axes.set(**{f"{which}lim": dim.bounds, f"{which}scale": "log" if dim.prior == "log-uniform" else "linear"})
        if dim.prior != "log-uniform":
            axis.set_major_locator(MaxNLocator(5, prune="both", integer=isinstance(dim, Integer)))
    if label is None:
        axis.set_ticklabels([])
    else:
        axis.set_label_text(label)
        axis.set_tick_params(rotation=45 if which == "x" else 0)
