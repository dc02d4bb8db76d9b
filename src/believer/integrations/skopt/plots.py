"""scikit-optimize's plots of results. As there, they need matplotlib, draw with its pyplot, and return the axes."""

import warnings
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import shown
from believer.errors import InvalidInput, MissingExtra
from believer.integrations.skopt.optimizer import expected_minimum, expected_minimum_random_sampling, last_model
from believer.integrations.skopt.space import Numeric, Space, one_of
from believer.plot.data import Axis, axes_of
from believer.plot.figure import dress

try:
    from matplotlib import pyplot as plt
except ImportError as missing:
    raise MissingExtra("matplotlib", "plots") from missing

MAX_RANDOM = 100_000
"""The largest number of random points among which a minimum is searched, unless another number is given."""


def plot_convergence(*args: Any, true_minimum: float | None = None, yscale: str = "linear", ax: Any = None) -> Any:
    """Plot the least value so far after each call, and ``true_minimum`` as a line.

    Each of ``args`` is a result, a list of results, whose mean is drawn, or a pair of a label and either.
    """
    return _curves(args, lambda y, _: np.fmin.accumulate(y), r"$\min f(x)$ after $n$ calls", true_minimum, yscale, ax)


def plot_regret(*args: Any, ax: Any = None, true_minimum: float | None = None, yscale: str = "linear") -> Any:
    """Plot the cumulative regret after each call, from ``true_minimum``, by default the least value of all."""
    return _curves(args, lambda y, least: np.cumsum(y - least), r"$\sum (f(x_i) - optimum)$", true_minimum, yscale, ax)


def _curves(args: Any, curve: Any, ylabel: str, true_minimum: float | None, yscale: str, ax: Any) -> Any:
    """The mean ``curve`` of each group of results: a function of their values and the least of all."""
    pairs = [arg if isinstance(arg, tuple) else (None, arg) for arg in args]
    groups = [(label, given if isinstance(given, list) else [given]) for label, given in pairs]
    results = [result for _, group in groups for result in group]
    if not all(isinstance(result, OptimizeResult) for result in results):
        raise InvalidInput(f"a plot takes results, lists of them, or pairs (label, result); got {shown(args)}.")
    least = min(np.nanmin(result.func_vals) for result in results) if true_minimum is None else true_minimum
    if true_minimum is not None and (yscale != "log" or true_minimum > 0.0):
        ideal = np.full(max(len(result.func_vals) for result in results), true_minimum)
        groups.append(("True minimum", [OptimizeResult(func_vals=ideal)]))
    ax = ax or plt.gca()
    for label, group in groups:
        curves = [curve(result.func_vals, least) for result in group]
        longest = max(map(len, curves))
        mean = np.nanmean([np.pad(c, (0, longest - len(c)), mode="edge") for c in curves], axis=0)
        ax.plot(range(1, 1 + longest), mean, marker=".", label=label)
    ax.set(xlabel="Number of calls $n$", ylabel=ylabel, yscale=yscale)
    if any(label for label, _ in groups):
        ax.legend()
    return ax


def plot_gaussian_process(
    res: Any, ax: Any = None, n_calls: int = -1, objective: Any = None, n_points: int = 1000, **others: Any
) -> Any:
    """The last model of a function of one number and its data, beside the ``objective``, at ``n_points``.

    ``n_calls`` is the index of one of the result's models, 0 for the first one, to plot in place of the last one.
    The model is drawn with the data from which it was fitted.
    """
    res = _with_last(res, n_calls)
    _warn_of(others)
    if res.space.n_dims != 1 or not isinstance(res.space.dimensions[0], Numeric):
        raise InvalidInput(f"plot_gaussian_process draws functions of one number; the space is {res.space}.")
    axis = axes_of(res.space.engine, most=n_points)[0]
    x, columns = axis.at, axis.rows
    mean, std = last_model(res).predict(columns, return_std=True)
    ax = ax or plt.gca()
    if objective is not None:
        ax.plot(x, [float(objective([v])) for v in x], "r--", label="True (unknown)")
    ax.plot(x, mean, "g--", label=r"$\mu_{GP}(x)$")
    ax.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, fc="g", ec="none")
    ax.plot([point[0] for point in res.x_iters], res.func_vals, "r.", label="Observations")
    ax.set(xlabel="x", ylabel="f(x)")
    ax.legend()
    return ax


def _with_last(res: Any, place: int) -> Any:
    """The result when the model with this index was its last one; a negative index means the whole result."""
    if place < 0:
        return res
    if place >= len(res.models):
        raise InvalidInput(f"n_calls must be the index of one of the {len(res.models)} models; got {place}.")
    known = len(res.x_iters) - len(res.models) + 1 + place
    kept = {"x_iters": res.x_iters[:known], "func_vals": res.func_vals[:known], "models": res.models[: place + 1]}
    return OptimizeResult({**res, **kept})


def partial_dependence(
    space: Space, model: Any, i: int, j: int | None = None, sample_points: Any = None, n_points: int = 40
) -> tuple[Any, ...]:
    """Values along dimension ``i`` and what the model expects there; with ``j``, values along j, along i, a matrix.

    It is on average over the transformed ``sample_points``, by default 250 random ones. Categories are their indices.
    """
    samples = np.array(space.transform(space.rvs(250)) if sample_points is None else sample_points, dtype=float)
    axes = axes_of(space.engine, most=n_points)
    varied = [axes[k] for k in ([i] if j is None else [i, j])]
    values, means = [axis.at for axis in varied], []
    for at in product(*(axis.rows for axis in varied)):
        for axis, one in zip(varied, at, strict=True):
            samples[:, axis.start : axis.stop] = one
        means.append(np.mean(model.predict(samples)))
    return (values[0], means) if j is None else (values[1], values[0], np.reshape(means, (len(values[0]), -1)))


def plot_objective(result: Any, levels: int = 10, n_points: int = 40, n_samples: int = 250, **more: Any) -> Any:
    """Plot the last model's :func:`partial_dependence` on each dimension and on each pair of dimensions.

    It is drawn at ``n_points`` with ``levels`` contours, on average over ``n_samples`` or with the other dimensions
    as in ``sample_source``. The star is at ``minimum``. Both are "result", "expected_minimum",
    "expected_minimum_random" or a point; ``n_minimum_search`` is the number of random points in the search for the
    "expected_minimum_random".
    ``plot_dims`` are names or indices, ``dimensions`` their labels.
    """
    space, model = result.space, last_model(result)
    star, samples = _star_and_samples(result, n_samples, more)

    def draw(panel: Any, i: int, j: int, values: Any) -> None:
        found = partial_dependence(space, model, i, None if i == j else j, samples, n_points)
        panel.plot(*found) if i == j else panel.contourf(*found, levels, cmap="viridis_r")
        if i == j:
            panel.axvline(values[-1], color="r", linestyle="--", linewidth=1)

    panels = _draw_matrix(result, star, "Partial dependence", draw, **more)
    ends = np.array([panel.get_ylim() for panel in panels.diagonal()])
    for panel in panels.diagonal():  # the same for all: what matters little looks flat
        panel.set_ylim(ends[:, 0].min(), ends[:, 1].max())
    return panels


def _star_and_samples(result: Any, n_samples: int, more: dict[str, Any]) -> tuple[Any, Any]:
    """The point to mark, and the transformed points to average over; their options are removed from ``more``."""
    search, space = more.pop("n_minimum_search", None), result.space
    star, source = more.pop("minimum", "result"), more.pop("sample_source", "random")
    rows = space.rvs(n_samples) if source == "random" else [_point(result, source, search, "sample_source")]
    return _point(result, star, search, "minimum"), space.transform(rows)


def _point(result: Any, given: Any, search: int | None, what: str) -> Any:
    """The given point, or the point with the given name."""
    if isinstance(given, list | tuple):
        if len(given) != result.space.n_dims or given not in result.space:
            raise InvalidInput(f"{what} must be a point of the space or the name of a point; got {shown(given)}.")
        return list(given)
    match one_of(given, ("result", "expected_minimum", "expected_minimum_random"), what):
        case "expected_minimum":
            return expected_minimum(result)[0]
        case "expected_minimum_random":
            return expected_minimum_random_sampling(result, search or min(10**result.space.n_dims, MAX_RANDOM))[0]
    return result.x


def plot_objective_2D(  # noqa: N802  # scikit-optimize's name
    result: Any,
    dimension_identifier1: Any,
    dimension_identifier2: Any,
    n_points: int = 40,
    n_samples: int = 250,
    levels: int = 10,
    ax: Any = None,
    **more: Any,
) -> Any:
    """Plot the last model's :func:`partial_dependence` on two dimensions, which are names or indices.

    The other options are those of :func:`plot_objective`.
    """
    space, axes = result.space, axes_of(result.space.engine)
    star, samples = _star_and_samples(result, n_samples, more)
    _warn_of(more)
    (i, _), (j, _) = chosen = [space[dimension_identifier1], space[dimension_identifier2]]
    ax = ax or plt.gca()
    ax.contourf(*partial_dependence(space, last_model(result), j, i, samples, n_points), levels, cmap="viridis_r")
    x, y = (_positions(dim, [point[at] for point in [*result.x_iters, star]]) for at, dim in chosen)
    dress(ax, "x", axes[i])
    dress(ax, "y", axes[j])
    ax.scatter(x[:-1], y[:-1], c="black", s=10)
    ax.scatter(x[-1:], y[-1:], c="red", s=100, marker="*", zorder=3)
    ax.set(xlabel=space.dimension_names[i], ylabel=space.dimension_names[j])
    return ax


def plot_histogram(
    result: Any, dimension_identifier: Any, bins: int = 20, rotate_labels: int = 0, ax: Any = None
) -> Any:
    """Plot a histogram with ``bins`` of the evaluated values of a dimension, which is a name or an index."""
    i, dim = result.space[dimension_identifier]
    axis, ax = axes_of(result.space.engine, most=bins + 1)[i], ax or plt.gca()
    _histogram(ax, axis, _positions(dim, [point[i] for point in result.x_iters]))
    dress(ax, "x", axis)
    ax.tick_params("x", rotation=rotate_labels)
    ax.set(xlabel=result.space.dimension_names[i], ylabel="Sample Count")
    return ax


def _histogram(ax: Any, axis: Axis, values: Any) -> None:
    ax.hist(values, axis.at if axis.is_number and not axis.is_constant else axis.edges)


def _positions(dim: Any, values: Any) -> Any:
    """Values of a dimension along its axis: categories are their indices."""
    return values if isinstance(dim, Numeric) else [dim.categories.index(value) for value in values]


def plot_evaluations(result: OptimizeResult, bins: int = 20, **more: Any) -> Any:
    """Plot evaluated points: histograms of ``bins``, and pairs of dimensions.

    ``plot_dims`` are names or indices, ``dimensions`` their labels.
    """

    def draw(panel: Any, i: int, j: int, values: Any) -> None:
        if i == j:
            _histogram(panel, axes_of(result.space.engine, most=bins + 1)[i], values[:-1])

    return _draw_matrix(result, result.x, "Number of samples", draw, **more)


def _warn_of(options: dict[str, Any]) -> None:
    if options:
        warnings.warn(f"these options have no effect here: {', '.join(options)}.", stacklevel=3)


def _draw_matrix(
    result: Any, star: Any, ylabel: str, draw: Any, plot_dims: Any = None, dimensions: Any = None, **others: Any
) -> Any:
    """A triangle of panels that ``draw`` fills; those of pairs have the points, in the order of their colors."""
    _warn_of(others)
    names, axes = result.space.dimension_names, axes_of(result.space.engine)
    columns = [
        _positions(dim, values)
        for dim, values in zip(result.space, zip(*result.x_iters, star, strict=True), strict=True)
    ]
    varied = [i for i, axis in enumerate(axes) if not axis.is_constant]
    chosen = varied if plot_dims is None else [names.index(d) if d in names else d for d in plot_dims]
    k = len([one_of(i, range(len(names)), "a name or an index in plot_dims") for i in chosen])
    labels = [names[i] for i in chosen] if dimensions is None else list(dimensions)
    if len(labels) != k:
        raise InvalidInput(f"dimensions must be a label for each of {k} dimensions; got {shown(dimensions)}.")
    panels = plt.subplots(k, k, figsize=(2.5 * k, 2.5 * k), squeeze=False, layout="constrained")[1]
    for (row, column), panel in np.ndenumerate(panels):
        (i, y), (j, x) = [(place, columns[place]) for place in (chosen[row], chosen[column])]
        if row < column:
            panel.remove()
            continue
        draw(panel, i, j, x)
        dress(panel, "x", axes[j])
        if row > column:
            dress(panel, "y", axes[i])
            panel.scatter(x[:-1], y[:-1], c=range(len(x) - 1), s=20)
            panel.scatter(x[-1], y[-1], color="r", s=100, marker="*", zorder=3)
        panel.set(xlabel=labels[column], ylabel=ylabel if i == j else labels[row])
    return panels
