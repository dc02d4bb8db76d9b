"""A figure of how a study converged."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array, IntArray
from believer.diagnostics.figure import (
    BLACK,
    BLUE,
    GRAY,
    ORANGE,
    RED,
    SHADE,
    Point,
    entitle,
    history,
    legend_below,
    new_figure,
    plain_ticks,
)
from believer.errors import InvalidInput
from believer.optimizer import Optimizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DESIGN_SHADE = "#DCE9F5"
_STRIPES_UP_TO = 80


def convergence(
    optimizer: Optimizer, optimum: float | None = None, name: str = "", values_are: str = "value"
) -> Figure:
    """Every result and the best so far against the number of evaluations, batch by batch.

    With a known ``optimum``, a second panel shows how far the best is from it, on a log axis. ``name`` heads the title,
    ``values_are`` is what the values are called.
    """
    points = [p for p in history(optimizer) if p.status in ("done", "failed")]
    values = np.array([np.nan if p.value is None else p.value for p in points])
    if not np.isfinite(values).any():
        raise InvalidInput("a figure of convergence needs at least one result; got none.")
    best: Array = (np.fmax if (optimizer.settings.sign < 0.0) else np.fmin).accumulate(values)
    count = np.arange(1, len(points) + 1)

    figure = new_figure(8.0, 5.0 if optimum is None else 6.0)
    panels = figure.subplots(1 if optimum is None else 2, 1, sharex=True, squeeze=False)[:, 0]
    _draw_results(panels[0], points, values)
    panels[0].step(count, best, where="post", color=RED, lw=2, label="best so far")
    panels[0].set_ylabel(values_are)
    if optimum is not None:
        panels[0].axhline(optimum, color=BLACK, ls="--", lw=1, label=f"optimum {optimum:.6g}")
        _draw_regret(panels[1], count, np.abs(best - optimum))
    elif np.nanmin(values) > 0 and np.nanmax(values) >= 10 * np.nanmin(values):
        panels[0].set_yscale("log")
        plain_ticks(panels[0].yaxis)
        panels[0].set_ylabel(f"{values_are} (log scale)")
    for panel in panels:
        _shade_batches(panel, points, labeled=panel is panels[0])
    panels[-1].set_xlabel("evaluations")
    panels[-1].set_xlim(0.3, len(points) + 0.7)
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    entitle(figure, name, _found(points, float(best[-1]), optimum, (optimizer.settings.sign < 0.0)))
    legend_below(figure)
    return figure


def _found(points: list[Point], best: float, optimum: float | None, maximize: bool) -> str:
    """A title for the convergence."""
    design = [p.value for p in points if p.trial.origin == "design" and p.value is not None]
    gap = "" if optimum is None else f", {abs(best - optimum):.2g} from the optimum"
    start = f" (design alone: {(max if maximize else min)(design):.4g})" if design else ""
    return f"best {best:.4g}{gap}, after {len(points)} evaluations{start}"


def _draw_results(panel: Axes, points: list[Point], values: Array) -> None:
    """A marker for each result by its origin, and a cross at the bottom for each failure."""
    count = np.arange(1, len(points) + 1)
    for label, marker, color, origins in (
        ("design", "s", GRAY, ("design",)),
        ("chosen by the model", "o", BLUE, ("model",)),
        ("given by the user", "D", ORANGE, ("enqueued", "observed")),
    ):
        rows = np.array([p.trial.origin in origins and p.value is not None for p in points])
        if rows.any():
            panel.plot(count[rows], values[rows], marker, color=color, ms=5.5, mec="white", mew=0.5, label=label)
    failed = ~np.isfinite(values)
    if failed.any():
        bottom = panel.get_xaxis_transform()
        panel.plot(count[failed], np.full(failed.sum(), 0.03), "x", color=BLACK, transform=bottom, label="failed")


def _draw_regret(panel: Axes, count: IntArray, regret: Array) -> None:
    """Distance from the optimum; a best that meets it to the last bit is drawn a decade below the rest."""
    positive = regret[regret > 0]
    floor = 0.1 * float(positive.min()) if len(positive) else 1e-12
    panel.step(count, np.where(regret > 0, regret, floor), where="post", color=RED, lw=2)
    panel.set_yscale("log")
    plain_ticks(panel.yaxis)
    panel.set_ylabel("best so far,\ndistance from the optimum")


def _shade_batches(panel: Axes, points: list[Point], labeled: bool) -> None:
    """Shade the design, and every other batch of the rest unless there are very many."""
    runs: list[tuple[bool, int, int]] = []
    for (design, _), run in groupby((p.trial.origin == "design", p.batch) for p in points):
        runs.append((design, start := runs[-1][2] if runs else 0, start + len(list(run))))
    label = "every other batch" if labeled else None
    for number, (design, start, stop) in enumerate(runs):
        if design or (number % 2 and len(runs) <= _STRIPES_UP_TO):
            color, named = (_DESIGN_SHADE, None) if design else (SHADE, label)
            panel.axvspan(start + 0.5, stop + 0.5, color=color, lw=0, zorder=0, label=named)
