"""The figure of the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLACK, BLUE, GRAY, RED, finished_grid, literal, panels

_COLUMNS = 3


def front(study: StudyLike, *, objectives: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Plot the results of two objectives, the Pareto front, and the models' predictions there.

    If results are noisy, the front and its hypervolume are those of the posterior means. Bars are 95 %
    intervals. With more than two objectives there is a panel for each pair of them.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    objectives : two or more of them; None for all.
    ax : an array of axes, one for each pair; None for a new figure.
    """
    found = data.front(study, objectives=objectives)
    columns = min(len(found), _COLUMNS)
    rows = -(-len(found) // columns)
    size = (5.6, 4.2) if len(found) == 1 else (3.4 * columns, 3.2 * rows)
    grid = panels(ax, rows, columns, size) if ax is None else panels(ax, 1, len(found), size)
    for axes, pair in zip(grid.ravel(), found, strict=False):
        _draw_pair(axes, pair)
    for axes in grid.ravel()[len(found) :]:
        axes.set_visible(False)
    one = found[0]
    title = f"{len(one.on_front)} on the front, hypervolume {one.hypervolume:.4g}"
    if ax is None:
        grid[0, 0].figure.suptitle(title, fontsize=10)
    return finished_grid(grid, ax)


def _draw_pair(axes: Any, pair: data.FrontPair) -> None:
    on = np.zeros(len(pair.ids), dtype=bool)
    on[pair.on_front] = True
    for rows, fill, label in (
        (~on & pair.keeps_limits, GRAY, "beaten by another"),
        (~on & ~pair.keeps_limits, "none", "breaks a limit, or partial"),
    ):
        if rows.any():
            style = {"mfc": fill, "mec": GRAY, "ms": 5, "ls": "", "zorder": 1}
            axes.plot(*pair.values[rows].T, "o", label=label, **style)
    if len(pair.steps):
        axes.plot(*pair.steps.T, color=RED, lw=1.2, zorder=2, label="border of what is dominated")
    if len(pair.on_front):
        spread = [np.maximum([m - low, high - m], 0.0) for m, low, high in zip(*_columns(pair), strict=True)]
        style = {"fmt": "none", "ecolor": BLUE, "elinewidth": 1.0, "alpha": 0.6, "zorder": 3}
        axes.errorbar(*pair.expected.T, xerr=spread[0], yerr=spread[1], label="95 % interval", **style)
        style = {"color": BLUE, "mec": "white", "mew": 0.5, "ms": 7, "ls": "", "zorder": 4}
        axes.plot(*pair.at.T, "o", label="on the front", **style)
    if pair.reference is not None:
        axes.plot(*pair.reference, "P", color=BLACK, ms=7, ls="", zorder=2, label="reference point")
    for which, label, more in zip("xy", pair.labels, pair.maximize, strict=True):
        axes.set(**{f"{which}label": f"{literal(label)} ({'more' if more else 'less'} is better)"})
    axes.margins(0.07)


def _columns(pair: data.FrontPair) -> tuple[Any, Any, Any]:
    return pair.expected.T, pair.low.T, pair.high.T
