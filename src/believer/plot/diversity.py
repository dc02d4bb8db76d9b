"""The figure of the diversity of batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLUE, GRAY, ORANGE, SHADE, finished, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def diversity(study: StudyLike, *, ax: Axes | None = None) -> Axes:
    """Plot the least distance within each batch, compared with random points, and the distance from earlier trials.

    Batches of the design are drawn as squares. Distances are given as shares of the diagonal of the space.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    ax : the axes to draw on; None for a new figure.
    """
    found = data.diversity(study)
    axes = panel(ax, (6.0, 3.8))
    at, design = np.arange(len(found.batch)), np.array(found.is_design)
    edges = np.append(at - 0.4, at[-1] + 0.4) if len(at) == 1 else None
    where, band = (at, (found.random_low, found.random_high)) if edges is None else (edges, _twice(found))
    label = "random points, 95 % of them"
    axes.fill_between(where, *band, color=SHADE, lw=0, label=label)
    middle = found.random_middle if edges is None else np.repeat(found.random_middle, 2)
    axes.plot(where, middle, color=GRAY, ls="--", lw=1, label="random points, median")
    axes.plot(at, found.least, color=BLUE, lw=1.4, label="two nearest points of the batch")
    for rows, marker in ((design, "s"), (~design, "o")):
        axes.plot(at[rows], found.least[rows], marker, color=BLUE, ms=6, mec="white", mew=0.5, ls="")
    known = np.isfinite(found.before)
    if known.any():
        style = {"color": ORANGE, "lw": 1.2, "ms": 4}
        axes.plot(at[known], found.before[known], "-^", label="to the nearest earlier trial, mean", **style)
    step = -(-len(at) // 12)
    axes.set_xticks(at[::step], [str(number) for number in found.batch[::step]])
    axes.set(xlabel="batch", ylabel="distance / diagonal of the space")
    axes.set_ylim(bottom=0.0)
    return finished(axes, ax)


def _twice(found: data.Diversity) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(found.random_low, 2), np.repeat(found.random_high, 2)
