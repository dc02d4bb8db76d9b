"""A figure of a batch, before and after each lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from believer.batch import Strategy
from believer.plot import data
from believer.plot.data.source import StudyLike, study_of
from believer.plot.figure import BLACK, BLUE, GREEN, ORANGE, RED, dress, finished_grid, literal, panels, shades, where


def lies(
    study: StudyLike,
    q: int = 2,
    *,
    batch: str | None = None,
    strategy: str | Strategy | None = None,
    parameters: Sequence[str] | None = None,
    outcome: str | None = None,
    ax: Any = None,
) -> Any:
    """Plot the posterior and the acquisition function before a batch and after each lie about its points.

    The upper row shows the model, the lower row the acquisition function; each column is one lie. With more parameters
    than are shown, it is a slice through the first point of the batch, and points farther from the slice are fainter.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    q : the number of points of the batch.
    batch : "pending" for trials that have no result yet, "next" for those that would be asked for now; None for
        pending ones if there are any.
    strategy : a strategy that lies, in place of the study's.
    parameters : one or two; None for the two that matter most, or the only one.
    outcome : the name of the outcome; None for the first objective.
    ax : an array of axes, (2, q + 1); None for a new figure.
    """
    source = study_of(study)
    found = data.lies(source, q, batch=batch, strategy=strategy, parameters=parameters, outcome=outcome)
    columns = len(found.steps)
    flat = len(found.axes) == 1
    shared = {"sharex": True, "sharey": "row" if flat else True}
    size = (2.7 * columns + 0.4, 4.6 if flat else 5.4)
    grid = panels(ax, 2, columns, size, **shared, **({"height_ratios": (3, 2)} if flat else {}))
    if flat:
        _draw_curves(grid, found)
    else:
        _draw_maps(grid, found)
    for axes, step in zip(grid[0], found.steps, strict=True):
        axes.set_title(_title(step.lies - found.steps[0].lies, found.verb), fontsize=10)
    if ax is None:
        fixed = where(source, found.through, found.axes)
        more = "" if not fixed else f", {fixed}" if fixed.startswith("slice at") else ", slice through its first point"
        which = "the pending batch" if found.batch == "pending" else "the next batch"
        faint = "\npoints that differ from the slice are fainter" if fixed else ""
        grid[0, 0].figure.suptitle(f"{which}, lie by lie{more}{faint}", fontsize=10)
    return finished_grid(grid, ax)


def _title(count: int, verb: str) -> str:
    if count == 0:
        return "before"
    return f"after {verb} {'1 point' if count == 1 else f'{count} points'}"


def _draw_curves(grid: Any, found: data.Lies) -> None:
    """The posterior above, the acquisition below, along one parameter."""
    axis = found.axes[0]
    style = "D" if axis.is_discrete else "-"
    for (above, below), step in zip(grid.T, found.steps, strict=True):
        if axis.is_discrete:
            error = np.maximum([step.mean - step.low, step.high - step.mean], 0.0)
            above.errorbar(axis.at, step.mean, error, fmt="D", color=BLUE, ms=4, capsize=3, label="mean, 95 % interval")
        else:
            above.fill_between(axis.at, step.low, step.high, color=BLUE, alpha=0.2, lw=0, label="95 % interval")
            above.plot(axis.at, step.mean, color=BLUE, lw=1.8, label="model's mean")
            below.fill_between(axis.at, 0.0, step.worth, color=GREEN, alpha=0.3, lw=0)
        alpha = 0.12 + 0.88 * found.nearness
        above.scatter(found.at[:, 0], found.values, s=22, color=BLACK, alpha=alpha, lw=0, zorder=4, label="results")
        below.plot(axis.at, step.worth, style, color=GREEN, lw=1.6, ms=4)
        for x, y, near in zip(step.lie_at[:, 0], step.lie_values, step.lie_nearness, strict=True):
            mark = {"color": ORANGE, "mec": BLACK, "ms": 7, "ls": "", "alpha": 0.25 + 0.75 * near}
            above.plot(x, y, "D", zorder=5, label="lie", **mark)
            below.axvline(x, color=ORANGE, ls="--", lw=1.3, zorder=0)
        if step.next_at is not None:
            mark = {"color": RED, "ms": 8, "ls": "", "zorder": 5, "clip_on": False, "alpha": _alpha(step)}
            below.plot(step.next_at[0], step.next_worth, "v", label="next point", **mark)
            above.axvline(step.next_at[0], color=RED, ls=":", lw=1.3, zorder=0)
        dress(below, "x", axis)
        below.margins(y=0.12)
    grid[0, 0].set_ylabel(literal(found.label))
    grid[1, 0].set_ylabel(found.worth_label.replace(" × ", " ×\n"))
    grid[1, 0].set_ylim(bottom=min(0.0, min(float(np.nanmin(step.worth)) for step in found.steps)))


def _draw_maps(grid: Any, found: data.Lies) -> None:
    """The posterior mean above, the acquisition below, along two parameters; all panels of a row share their shades."""
    from matplotlib.colors import Normalize, PowerNorm

    x, y = found.axes
    means = np.concatenate([step.mean.ravel() for step in found.steps])
    ends = np.nanquantile(means, (0.25, 1.0) if found.maximize else (0.0, 0.75))
    if not ends[1] - ends[0] > 1e-9 * np.abs(ends).max():  # all the same up to rounding
        ends = ends[0] + np.array([-0.5, 0.5]) * (float(np.abs(ends).max()) or 1.0)
    worths = np.concatenate([step.worth[np.isfinite(step.worth)] for step in found.steps])
    top = (float(worths.min()), float(worths.max())) if len(worths) else (0.0, 1.0)
    # An improvement is worth little almost everywhere: shades are its square root.
    norm = PowerNorm(0.5, 0.0, top[1]) if 0.0 <= top[0] < top[1] else Normalize(*top)
    bars: list[Any] = []
    for (above, below), step in zip(grid.T, found.steps, strict=True):
        colors = {"cmap": shades(found.maximize), "vmin": ends[0], "vmax": ends[1], "zorder": 0, "rasterized": True}
        mean = above.pcolormesh(x.edges, y.edges, np.ma.masked_where(np.isnan(step.worth), step.mean), **colors)
        colors |= {"cmap": "Greens", "vmin": None, "vmax": None, "norm": norm}
        worth = below.pcolormesh(x.edges, y.edges, np.ma.masked_invalid(step.worth), **colors)
        bars = [mean, worth]
        alpha = 0.15 + 0.85 * found.nearness
        above.scatter(*found.at.T, s=18, color=BLACK, alpha=alpha, lw=0, zorder=3, clip_on=False, label="results")
        for panel in (above, below):
            _draw_marks(panel, step)
            dress(panel, "x", x)
            dress(panel, "y", y)
        above.set_xlabel("")
        if step is not found.steps[0]:
            above.set_ylabel("")
            below.set_ylabel("")
    figure = grid[0, 0].figure
    for row, mesh, label in zip(grid, bars, (f"{literal(found.label)}: mean", found.worth_label), strict=True):
        figure.colorbar(mesh, ax=list(row), pad=0.01).set_label(label.replace(" × ", " ×\n"), fontsize=8)


def _alpha(step: data.LieStep) -> float:
    """The strength of the color of the next point: it is fainter the farther it lies from the slice."""
    return 0.3 + 0.7 * (step.next_nearness or 0.0)


def _draw_marks(axes: Any, step: data.LieStep) -> None:
    for (a, b), near in zip(step.lie_at, step.lie_nearness, strict=True):
        mark = {"color": ORANGE, "mec": BLACK, "ms": 7, "ls": "", "alpha": 0.3 + 0.7 * near}
        axes.plot(a, b, "D", zorder=4, clip_on=False, label="lie", **mark)
    if step.next_at is not None:
        mark = {"color": RED, "mec": "white", "mew": 0.7, "ms": 9, "ls": "", "alpha": _alpha(step)}
        axes.plot(*step.next_at, "v", zorder=5, clip_on=False, label="next point", **mark)
