"""The figure of the importance of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLACK, BLUE, finished, literal, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def importance(
    study: StudyLike,
    *,
    outcome: str | None = None,
    method: str | None = None,
    repeats: int = 50,
    ax: Axes | None = None,
) -> Axes:
    """Plot the importance of each parameter for an outcome, as bars with 95 % intervals.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    outcome : the name of the outcome; None for the first objective.
    method : "lengthscales" or "permutation"; None for lengthscales if the model has them.
    repeats : the number of shuffles, for permutation.
    ax : the axes to draw on; None for a new figure.
    """
    found = data.importance(study, outcome=outcome, method=method, repeats=repeats)
    p = len(found.names)
    axes = panel(ax, (6.0, max(2.0, 0.36 * p + 1.2)))
    places = np.arange(p)[::-1]
    axes.barh(places, found.values, color=BLUE, height=0.62)
    known = np.isfinite(found.low) & np.isfinite(found.high)
    if known.any():
        # A shuffle may help by chance, and an interval need not hold the mean of a skewed measure.
        reach = np.maximum([found.values - found.low, found.high - found.values], 0.0)[:, known]
        axes.errorbar(found.values[known], places[known], xerr=reach, fmt="none", ecolor=BLACK, capsize=3, lw=1.2)
    axes.set_yticks(places, [literal(name, 44) for name in found.titles])
    axes.set_xlabel(found.measure, loc="right")  # long names leave little room below the bars
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]) if (found.values < 0.0).any() else 0.0)
    axes.set_title(f"importance for {literal(found.label)}, by {found.method}", fontsize=10)
    return finished(axes, ax)
