"""The figure of the probability of feasibility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import Array
from believer.plot import data
from believer.plot.data.source import StudyLike, study_of
from believer.plot.figure import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, dress, finished, literal, panel, spread, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = (
    ("feasible", "o", GREEN, "white"),
    ("infeasible", "v", ORANGE, BLACK),
    ("failed", "X", BLACK, "white"),
    ("no result yet", "s", "none", BLACK),
)
_LONGEST = 70
_LINES = (BLUE, ORANGE, GREEN, RED, GRAY)


def feasibility(
    study: StudyLike,
    *,
    parameters: Sequence[str] | None = None,
    through: Mapping[str, Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the probability that all limits are kept, in a slice through the best result, with the trials.

    If failures are learned, it includes the probability that an evaluation succeeds.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : one or two; None for the two that matter most to the first limit.
    through : the point that the slice goes through; None for the best result.
    ax : the axes to draw on; None for a new figure.
    """
    source = study_of(study)
    found = data.feasibility(source, parameters=parameters, through=through)
    axes = panel(ax, (6.2, 4.4))
    dress(axes, "x", found.axes[0])
    xs = spread(found.axes[0], found.at[:, 0])
    if len(found.axes) == 1:
        _draw_lines(axes, found)
        ys: Array = np.array([1.04 if verdict == "feasible" else -0.04 for verdict in found.verdict])
        axes.set(ylabel="probability of feasibility", ylim=(-0.1, 1.1))
    else:
        dress(axes, "y", found.axes[1])
        ys = spread(found.axes[1], found.at[:, 1])
        _draw_map(axes, found)
    verdict = np.array(found.verdict)
    for name, marker, fill, edge in _MARKS:
        rows = verdict == name
        if rows.any():
            style = {"mfc": fill, "mec": edge, "mew": 0.8, "ms": 6, "ls": "", "zorder": 3, "clip_on": False}
            axes.plot(xs[rows], ys[rows], marker, label=name, **style)
    held = where(source, found.through, found.axes)
    named = ", ".join(literal(name) for name in found.parts)
    limits = named if len(named) <= _LONGEST else f"all {len(found.parts)} limits"
    axes.set_title(f"limits: {limits}" + (f"\n{held}" if held else ""), fontsize=10)
    return finished(axes, ax)


def _draw_lines(axes: Any, found: data.Feasibility) -> None:
    at, style = found.axes[0].at, "D" if found.axes[0].is_discrete else "-"
    for color, (name, part) in zip(_LINES, found.parts.items(), strict=False):
        if len(found.parts) > 1:
            axes.plot(at, part, style if style == "D" else "--", color=color, lw=1.1, ms=3, label=literal(name))
    axes.plot(at, found.probability, style, color=BLACK, lw=2, ms=5, label="all limits")


def _draw_map(axes: Any, found: data.Feasibility) -> None:
    x, y = found.axes
    image = np.ma.masked_invalid(found.probability)
    options = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, "zorder": 0, "rasterized": True}
    mesh = axes.pcolormesh(x.edges, y.edges, image, **options)
    axes.figure.colorbar(mesh, ax=axes, pad=0.02).set_label("probability of feasibility", fontsize=9)
    shown = image.compressed()
    if x.is_number and y.is_number and min(image.shape) > 1 and len(shown) and shown.min() < 0.5 < shown.max():
        axes.clabel(
            axes.contour(x.at, y.at, image, [0.5], colors="white", linewidths=1.4), fmt=lambda _: "50 %", fontsize=8
        )
