"""Figures of the trials' points: pairs of parameters, and lines across all parameters."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import Array, IntArray
from believer.errors import InvalidInput
from believer.plot import data
from believer.plot.data.source import StudyLike, study_of
from believer.plot.figure import (
    BLACK,
    BLUE,
    GRAY,
    RED,
    batch_colors,
    dress,
    finished,
    finished_grid,
    literal,
    panel,
    panels,
    short,
    spread,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 6
"""The default number of parameters in a matrix of pairs."""

MAX_LINES = 12
"""The default number of parameters in parallel coordinates."""


def evaluations(
    study: StudyLike, *, parameters: Sequence[str] | None = None, outcome: str | None = None, ax: Any = None
) -> Any:
    """Plot a histogram of each parameter and a scatter plot of each pair; later batches have lighter colors.

    The best result is a star, failed trials are crosses, trials without a result are hollow.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : their names; None for the six that matter most.
    outcome : the outcome whose best result has the star; None for the first objective.
    ax : an array of (p, p) axes for p parameters; None for a new figure.
    """
    source = study_of(study)
    found = data.evaluations(source, parameters=readable(source, parameters, MOST), outcome=outcome)
    p = len(found.axes)
    size = 1.9 * p if p > 2 else 2.4 * p
    grid = panels(ax, p, p, (max(size, 4.5), max(size, 4.2)))
    for (row, column), axes in np.ndenumerate(grid):
        if row < column:
            axes.set_visible(False)
            continue
        dress(axes, "x", found.axes[column], narrow=True)
        if row == column:
            axes.stairs(found.counts[row], found.bins[row], fill=True, color=BLUE, alpha=0.55)
            axes.set_ylabel("trials")
            axes.yaxis.get_major_locator().set_params(integer=True, nbins=4)
            axes.set_ylim(bottom=0.0)
        else:
            dress(axes, "y", found.axes[row], narrow=True)
            xs, ys = (spread(found.axes[i], found.at[:, i]) for i in (column, row))
            draw_trials(axes, xs, ys, found.status, found.batch, found.best, found.star, size=22)
        axes.tick_params(labelsize=8)
        if row < p - 1:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        if 0 < column < row:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
    return finished_grid(grid, ax)


def draw_trials(
    axes: Any,
    xs: Array,
    ys: Array,
    status: Sequence[str],
    batch: IntArray,
    best: int | None,
    star: str,
    size: float = 34,
) -> None:
    """Draw trials at (n,) positions: the marker shows the status, the color the batch, a star the best result.

    ``best`` is the row of the star, None for none, and ``star`` is the meaning of the star, in words.
    """
    state, last = np.array(status), max(int(batch.max()), 1)
    colors = batch_colors()(np.asarray(batch) / last)
    done, failed = np.isin(state, ("done", "partial")), state == "failed"
    waiting = ~done & ~failed
    if done.any():
        style = {"s": size, "fc": colors[done], "ec": "white", "lw": 0.5}
        axes.scatter(xs[done], ys[done], zorder=3, clip_on=False, label="result (later batches are lighter)", **style)
    if waiting.any():
        style = {"s": size, "fc": "none", "ec": colors[waiting], "lw": 1.4}
        axes.scatter(xs[waiting], ys[waiting], zorder=3, clip_on=False, label="no result yet", **style)
    if failed.any():
        axes.plot(
            xs[failed], ys[failed], "x", color=BLACK, ms=0.9 * size**0.5, ls="", zorder=3, clip_on=False, label="failed"
        )
    if best is not None:
        draw_star(axes, xs[best], ys[best], star, size)


def draw_star(axes: Any, x: float, y: float, label: str, size: float = 25) -> None:
    """Draw the star that marks the best result, around it."""
    style = {"mfc": "none", "mec": RED, "mew": 1.6, "ms": 2.6 * size**0.5, "ls": ""}
    axes.plot(x, y, "*", zorder=5, clip_on=False, label=label, **style)


def readable(source: data.Source, parameters: Sequence[str] | None, most: int) -> Sequence[str] | None:
    """The given parameters; if none are given and there are many, those that matter most, in the order of the space."""
    varied = [axis for axis in source.axes if not axis.is_constant]
    if parameters is not None or len(varied) <= most:
        return parameters
    with suppress(InvalidInput):  # no model, or no result yet
        varied = [axis for axis in source.by_relevance(source.outputs[0]) if not axis.is_constant]
    names = {axis.name for axis in varied[:most]}
    return [name for name in source.space.names if name in names]


def parallel_coordinates(
    study: StudyLike,
    *,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot every result as a line across all parameters, colored by its value; the best one is thick.

    Failed trials are dotted lines.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : their names, in this order; None for the twelve that matter most.
    outcome : the name of the outcome; None for the first objective.
    ax : the axes to draw on; None for a new figure.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    source = study_of(study)
    names = readable(source, parameters, MAX_LINES)
    found = data.parallel_coordinates(source, parameters=names, outcome=outcome)
    p, known = len(found.axes), np.isfinite(found.values)
    axes = panel(ax, (min(max(6.0, 1.1 * p + 1.5), 12.0), 4.0))
    norm, cmap = Normalize(*_ends(found.values[known], found.maximize)), _value_colors(found.maximize)
    # With a single parameter, the line of a point has no length, and is drawn as a short one.
    places = np.arange(p) if p > 1 else np.array([-0.1, 0.1])
    share = np.column_stack([_share(axis, column) for axis, column in zip(found.axes, found.at.T, strict=True)])
    lines = np.stack([np.tile(places, (len(share), 1)), share if p > 1 else np.tile(share, 2)], axis=2)
    sign = 1.0 if found.maximize else -1.0
    rows = np.flatnonzero(known)[np.argsort(sign * found.values[known], kind="stable")]  # the best on top
    axes.add_collection(LineCollection([*lines[rows]], colors=cmap(norm(found.values[rows])), lw=1.3, alpha=0.8))
    failed = np.flatnonzero(np.array(found.status) == "failed")
    if len(failed):
        style: Any = {"colors": GRAY, "lw": 0.9, "linestyles": ":", "label": "failed"}
        axes.add_collection(LineCollection([*lines[failed]], **style))
    if found.best is not None and known[found.best]:
        best = f"{found.star}: {found.values[found.best]:.4g}"
        axes.plot(*lines[found.best].T, "-o", color=RED, lw=2.4, ms=5, zorder=5, label=best)
    _draw_scales(axes, found.axes)
    bar = axes.figure.colorbar(ScalarMappable(norm, cmap), ax=axes, pad=0.02, extend="min" if found.maximize else "max")
    bar.set_label(literal(found.label))
    return finished(axes, ax)


def _share(axis: data.Axis, positions: Array) -> Array:
    """Positions as shares of the axis, with a small offset for choices."""
    k = max(len(axis.choices), 1)
    shift = spread(axis, positions) - positions
    return axis.share(positions) + 0.4 * shift / k


def _draw_scales(axes: Any, parameters: tuple[data.Axis, ...]) -> None:
    """Draw a vertical line for each parameter, labeled with its bounds or its choices."""
    for place, parameter in enumerate(parameters):
        axes.axvline(place, color=GRAY, lw=0.8, zorder=0)
        style = {"fontsize": 8, "ha": "right", "va": "center", "zorder": 6}
        box = {"fc": "white", "ec": "none", "alpha": 0.7, "pad": 0.6}
        if parameter.choices:
            marks = [*zip(parameter.share(parameter.at), parameter.choices, strict=True)]
            step = -(-len(marks) // 8)
            marks = marks[::step]
        else:
            marks = [(0.0, f"{parameter.low:.4g}"), (1.0, f"{parameter.high:.4g}")]
        for height, text in marks:
            axes.text(place - 0.03, height, short(str(text)), bbox=box, **style)
    axes.set_xticks(range(len(parameters)), [literal(parameter.label) for parameter in parameters])
    if sum(len(parameter.label) for parameter in parameters) > 60:
        axes.tick_params(axis="x", rotation=25)
    axes.set_yticks([])
    axes.set_xlim(-0.35, len(parameters) - 0.65)
    axes.set_ylim(-0.06, 1.06)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _ends(values: Array, maximize: bool) -> tuple[float, float]:
    """The range of the color scale; the worst tenth shares one color, so that it does not use all the contrast."""
    low, high = np.quantile(values, (0.1, 1.0) if maximize else (0.0, 0.9))
    return float(low), float(high) if high > low else float(low) + 1.0


def _value_colors(maximize: bool) -> Any:
    """Viridis without its palest part; good results are dark."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    colors = colormaps["viridis"](np.linspace(0.0, 0.92, 256))
    return ListedColormap(colors[::-1] if maximize else colors, name="value")
