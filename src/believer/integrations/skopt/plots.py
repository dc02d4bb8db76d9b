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
from believer.integrations.skopt.results import last_model

try:
    from matplotlib import pyplot as plt

    from believer.integrations.skopt.panels import partial_dependence, plot_evaluations, plot_objective
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
    ax = _draw_curves(args, np.fmin.accumulate, labels, yscale, ax)
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
        padded = np.array([np.pad(c, (0, longest - len(c)), mode="edge") for c in curves])
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
