"""scikit-optimize's plots of a result along its dimensions and pairs of them; they need matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.gridspec import GridSpecFromSubplotSpec
from matplotlib.ticker import LogLocator, MaxNLocator
from scipy.optimize import OptimizeResult

from believer.arrays import Array, shown
from believer.integrations.skopt.refusals import InvalidInput
from believer.integrations.skopt.results import expected_minimum, expected_minimum_random_sampling, last_model
from believer.integrations.skopt.space import Categorical, Integer, Space

__all__ = ["partial_dependence", "plot_evaluations", "plot_objective"]

_STAR = {"color": "r", "s": 100, "lw": 0.0, "marker": "*", "zorder": 3}


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
    choices = isinstance(dim, Categorical)
    values = np.arange(len(dim.categories)) if choices else _spaced(dim, n_points)
    seen = np.asarray(dim.transform(dim.categories if choices else values), dtype=float)
    return values, (slice(start, start + dim.transformed_size), seen)


def _spaced(dim: Any, n: int) -> Array:
    """Numbers from low to high, evenly on the scale of the prior."""
    spaced = np.geomspace if dim.prior == "log-uniform" else np.linspace
    return np.clip(spaced(float(dim.low), float(dim.high), n), dim.low, dim.high)


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
    zscale: str = "linear",
    sample_source: Any = "random",
    minimum: Any = "result",
    n_minimum_search: int | None = None,
    show_points: bool = True,
    cmap: Any = "viridis_r",
    **layout: Any,
) -> Any:
    """What the last model expects along each dimension and each pair of them; returns the outer axes.

    The ``layout``: ``plot_dims``, names or indices of dimensions, ``dimensions``, what to call them, ``size`` of a
    panel, ``wspace`` and ``hspace`` between them, and ``ax`` to draw in.

    Parameters
    ----------
    result : the result.
    levels, zscale, cmap : of the contours; ``zscale`` is "linear" or "log".
    n_points, n_samples : as for :func:`partial_dependence`.
    sample_source : "random" averages over the other dimensions; or one point, as ``minimum``.
    minimum : the red star: "result", "expected_minimum", "expected_minimum_random", or a point.
    n_minimum_search : how many random points the last but one tries.
    show_points : evaluations as dots.
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

    return _draw_matrix(space, "Partial dependence", alone, pair, **layout)


def plot_evaluations(result: OptimizeResult, bins: int = 20, cmap: Any = "viridis", **layout: Any) -> Any:
    """Where evaluations were: histograms, and pairs of dimensions colored by their order; returns the outer axes.

    Parameters
    ----------
    result : the result.
    bins : of the histograms.
    cmap : colors; the ``layout`` is as for :func:`plot_objective`.
    """
    space = result.space
    points, best = _numbers(space, result.x_iters), _numbers(space, [result.x])[0]

    def alone(panel: Any, i: int) -> None:
        dim = space.dimensions[i]
        choices = isinstance(dim, Categorical)
        panel.hist(points[:, i], bins=np.arange(len(dim.categories) + 1) - 0.5 if choices else _spaced(dim, bins + 1))

    def pair(panel: Any, i: int, j: int) -> None:
        panel.scatter(points[:, j], points[:, i], c=range(len(points)), s=40, lw=0.0, cmap=cmap)
        panel.scatter(best[j], best[i], **_STAR)

    return _draw_matrix(space, "Number of samples", alone, pair, **layout)


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
    ylabel: str,
    alone: Callable[[Any, int], None],
    pair: Callable[[Any, int, int], None],
    dimensions: Any = None,
    plot_dims: Any = None,
    size: float = 2,
    wspace: float = 0.35,
    hspace: float = 0.35,
    ax: Any = None,
) -> Any:
    """A triangle of panels inside of ``ax``: ``alone`` draws the diagonal, ``pair`` what is below it."""
    varied = [i for i, dim in enumerate(space) if not dim.is_constant]
    chosen = space[varied if plot_dims is None else list(plot_dims)]
    if any(dim is None for _, dim in chosen) or len(dimensions or chosen) != len(chosen):
        raise InvalidInput(f"plot_dims must be of the space, and dimensions a label each; got {shown(plot_dims)}.")
    names = dimensions or [f"$X_{{{i}}}$" if dim.name is None else dim.name for i, dim in chosen]
    k = len(chosen)
    ax = plt.subplots(figsize=(size * k, size * k))[1] if ax is None else ax
    ax.set_axis_off()
    grid = GridSpecFromSubplotSpec(k, k, subplot_spec=ax.get_subplotspec(), wspace=wspace, hspace=hspace)
    diagonal = []
    for row, (i, dim_i) in enumerate(chosen):
        for column, (j, dim_j) in enumerate(chosen[: row + 1]):
            panel = ax.figure.add_subplot(grid[row, column])
            if row == column:
                alone(panel, i)
                panel.set(xlabel=names[row], ylabel=ylabel)
                panel.tick_params(left=False, labelleft=False, right=True, labelright=True)
                panel.tick_params(bottom=False, labelbottom=False, top=True, labeltop=True)
                panel.yaxis.set_label_position("right")
                panel.xaxis.set_label_position("top")
                diagonal.append(panel)
            else:
                pair(panel, i, j)
                _dress(panel.yaxis, dim_i, names[row] if column == 0 else None)
            _dress(panel.xaxis, dim_j, names[column] if row in (column, k - 1) else None)
    limits = [panel.get_ylim() for panel in diagonal]
    for panel in diagonal:
        panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
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
