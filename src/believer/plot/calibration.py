"""The figure of the model's calibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLUE, GRAY, RED, finished_grid, literal, panels
from believer.space.units import amount


def calibration(study: StudyLike, *, outcome: str | None = None, ax: Any = None) -> Any:
    """Plot leave-one-out predictions against results, and the share of results within the intervals of each level.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    outcome : the name of the outcome; None for the first objective.
    ax : an array of two axes; None for a new figure.
    """
    found = data.calibration(study, outcome=outcome)
    grid = panels(ax, 1, 2, (7.4, 3.8))
    left, right = grid[0]
    outside = (found.observed < found.low) | (found.observed > found.high)
    error = np.maximum([found.mean - found.low, found.high - found.mean], 0.0)
    for rows, color, label in ((~outside, BLUE, "within the 95 % interval"), (outside, RED, "outside")):
        if rows.any():
            style = {"fmt": "o", "color": color, "ms": 4, "elinewidth": 0.8, "alpha": 0.8, "label": label}
            left.errorbar(found.observed[rows], found.mean[rows], error[:, rows], **style)
    ends = float(found.observed.min()), float(found.observed.max())
    left.plot(ends, ends, color=GRAY, ls="--", lw=1.2, label="perfect")
    left.set(xlabel=f"observed {literal(found.label)}", ylabel="expected from the other results")
    explained = f"R² {found.r2:.2f}, " if np.isfinite(found.r2) else ""
    left.set_title(f"{explained}RMSE {amount(f'{found.rmse:.3g}', found.units)}", fontsize=10)
    right.plot((0, 1), (0, 1), color=GRAY, ls="--", lw=1.2, label="perfect")
    right.plot(found.levels, found.coverage, "-o", color=BLUE, ms=3.5, lw=1.4)
    right.set(xlabel="level of the interval", ylabel="share of results within it", xlim=(0, 1), ylim=(0, 1.02))
    right.set_title(found.method, fontsize=10)
    return finished_grid(grid, ax)
