"""Figures of the posterior mean along parameters: averages, slices, and maps with the batches on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import shown
from believer.errors import InvalidInput
from believer.plot import data
from believer.plot.data.dependence import CELLS, enough
from believer.plot.data.evaluations import axes_named
from believer.plot.data.source import StudyLike, study_of, with_article
from believer.plot.figure import (
    BLACK,
    BLUE,
    ORANGE,
    RED,
    batch_colors,
    dress,
    finished,
    finished_grid,
    literal,
    panel,
    panels,
    shades,
    spread,
    where,
)
from believer.plot.parameters import MAX_LINES, draw_star, draw_trials, readable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3


def partial_dependence(
    study: StudyLike,
    *,
    parameters: Sequence[str | tuple[str, str]] | None = None,
    outcome: str | None = None,
    samples: int | None = None,
    ax: Any = None,
) -> Any:
    """Plot the posterior mean along each parameter, averaged over the others, with a 95 % interval and the results.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : names for curves, pairs of names for maps; None for a curve of each, of the twelve that matter most.
        On a map, contour lines show the standard deviation of the average.
    outcome : the name of the outcome; None for the first objective.
    samples : the number of points that are averaged; None for 128, or fewer if there are many results.
    ax : an array of axes, one for each; None for a new figure.
    """
    source = study_of(study)
    points = enough(source, CELLS**2) if samples is None else samples
    found = [
        data.partial_dependence(source, parameters=[one], outcome=outcome, samples=samples)[0]
        if isinstance(one, str)
        else data.surface(source, parameters=one, outcome=outcome, samples=points)
        for one in _wanted(source, parameters)
    ]
    return _draw_all(found, "on average over the other parameters", ax)


def slice(  # noqa: A001 (what it is called)
    study: StudyLike,
    *,
    parameters: Sequence[str | tuple[str, str]] | None = None,
    outcome: str | None = None,
    through: Mapping[str, Any] | None = None,
    ax: Any = None,
) -> Any:
    """Plot the posterior mean along each parameter while the others stay at the best result, with a 95 % interval.

    Results that are farther from the slice are drawn fainter.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : names for curves, pairs of names for maps; None for a curve of each, of the twelve that matter most.
    outcome : the name of the outcome; None for the first objective.
    through : the point that the slice goes through; None for the best result.
    ax : an array of axes, one for each; None for a new figure.
    """
    source = study_of(study)
    found = [
        data.slice(source, parameters=[one], outcome=outcome, through=through)[0]
        if isinstance(one, str)
        else data.surface(source, parameters=one, outcome=outcome, through=through)
        for one in _wanted(source, parameters)
    ]
    point = with_article(source.star) if through is None else "the given point"
    return _draw_all(found, f"slices through {point}", ax)


def _wanted(source: data.Source, parameters: Sequence[str | tuple[str, str]] | None) -> Sequence[Any]:
    """Check names and pairs of names, and return them."""
    if parameters is None:
        return [axis.name for axis in axes_named(source, readable(source, None, MAX_LINES))]
    if isinstance(parameters, str) or not len(parameters):
        raise InvalidInput(f"parameters must be a list of names, or of pairs of names; got {shown(parameters)}.")
    return parameters


def _draw_all(found: Sequence[data.Curve | data.Surface], title: str, ax: Any) -> Any:
    columns = 2 if len(found) == 4 else min(len(found), _COLUMNS)
    rows = -(-len(found) // columns)
    width = 5.0 if columns == 1 else 3.0 * columns
    spare = rows * columns - len(found)
    if ax is None:
        grid = panels(None, rows, columns, (width, 3.6 if rows == columns == 1 else 2.7 * rows + 0.4))
        grid[0, 0].figure.suptitle(f"{literal(found[0].label)}: {title}", fontsize=10)
    else:
        grid, spare = panels(ax, 1, len(found), (width, 3.0)), 0
    for axes, one in zip(grid.ravel(), found, strict=False):
        if isinstance(one, data.Curve):
            draw_curve(axes, one)
        else:
            _draw_surface(axes, one)
    for axes in grid.ravel()[len(found) :] if spare else ():
        axes.set_visible(False)
    curves = [axes for axes, one in zip(grid.ravel(), found, strict=False) if isinstance(one, data.Curve)]
    _share_heights(curves)
    return finished_grid(grid, ax)


def _share_heights(curves: list[Any]) -> None:
    """Give all curves the same limits, so that a parameter that matters little looks flat."""
    if len(curves) < 2:
        return
    ends = np.array([axes.get_ylim() for axes in curves])
    for axes in curves:
        axes.set_ylim(ends[:, 0].min(), ends[:, 1].max())


def draw_curve(axes: Any, found: data.Curve) -> None:
    """Draw the posterior mean with its interval, and the results."""
    at = found.axis.at
    dress(axes, "x", found.axis)
    if found.axis.is_discrete:
        error = np.array([found.mean - found.low, found.high - found.mean])
        style = {"fmt": "D", "color": BLUE, "ms": 4, "capsize": 3, "lw": 1.2}
        axes.errorbar(at, found.mean, error, label="mean, 95 % interval", zorder=2, **style)
    else:
        axes.fill_between(at, found.low, found.high, color=BLUE, alpha=0.2, lw=0, label="95 % interval")
        axes.plot(at, found.mean, color=BLUE, lw=1.8, label="model's mean")
    alpha = 0.12 + 0.88 * found.nearness
    positions = spread(found.axis, found.at)
    axes.scatter(positions, found.values, s=16, color=BLACK, alpha=alpha, lw=0, zorder=3, label="results")
    if found.best is not None:
        draw_star(axes, positions[found.best], found.values[found.best], found.star)
    for limit in found.limits:
        if np.isfinite(limit):
            axes.axhline(limit, color=RED, ls=":", lw=1.4, label="limit")
    axes.set_ylabel(literal(found.label, 20))
    _focus(axes, found)


def _focus(axes: Any, found: data.Curve) -> None:
    """The limits of the y axis: they show the whole curve, and may leave out a few bad results."""
    model = np.concatenate([found.low, found.high, found.mean])
    model = model[np.isfinite(model)]
    if not len(model) or not len(found.values):
        return
    quartiles = np.quantile(found.values, (0.0, 0.9)), np.quantile(found.values, (0.1, 1.0))
    low, high = min(model.min(), quartiles[1][0]), max(model.max(), quartiles[0][1])
    if found.best is not None:
        low, high = min(low, found.values[found.best]), max(high, found.values[found.best])
    pad = 0.06 * (high - low) or 0.5
    axes.set_ylim(low - pad, high + pad)


def _draw_surface(axes: Any, found: data.Surface) -> None:
    draw_map(axes, found)
    xs, ys = spread(found.x, found.at[:, 0]), spread(found.y, found.at[:, 1])
    state = np.array(found.status)
    done = np.isin(state, ("done", "partial"))
    axes.plot(xs[done], ys[done], "o", color=BLACK, mec="white", mew=0.5, ms=4, ls="", clip_on=False, label="results")
    if found.best is not None:
        draw_star(axes, xs[found.best], ys[found.best], found.star)
    if found.x.is_number and found.y.is_number and np.nanmax(found.std) > 0.0 and min(found.std.shape) > 1:
        lines = axes.contour(found.x.at, found.y.at, found.std, 3, colors=ORANGE, linewidths=1.1)
        axes.clabel(lines, fmt=lambda level: f"±{level:.2g}", fontsize=7)


def draw_map(axes: Any, found: data.Surface) -> None:
    """Draw the posterior mean as shades: better is darker, and regions that are not allowed are blank."""
    dress(axes, "x", found.x)
    dress(axes, "y", found.y)
    image = np.ma.masked_invalid(found.mean)
    ends = (None, None)
    if np.isfinite(found.mean).any():
        # The worst quarter shares one shade, so that a few bad corners do not take all the contrast.
        ends = tuple(np.nanquantile(found.mean, (0.25, 1.0) if found.maximize else (0.0, 0.75)))
    options = {"cmap": shades(found.maximize), "vmin": ends[0], "vmax": ends[1], "zorder": 0, "rasterized": True}
    mesh = axes.pcolormesh(found.x.edges, found.y.edges, image, **options)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, extend="min" if found.maximize else "max")
    bar.set_label(f"{literal(found.label)}: model's mean", fontsize=9)


def batches(
    study: StudyLike, *, parameters: Sequence[str] | None = None, outcome: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot the points of each batch on a map of the model's mean in the slice through the best result.

    Points of a batch are joined in the order in which they were chosen. In a space of one parameter they lie on the
    model's curve.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    parameters : one or two; None for the two that matter most.
    outcome : the name of the outcome; None for the first objective.
    ax : the axes to draw on; None for a new figure.
    """
    source = study_of(study)
    if len(source.axes) == 1 or (parameters is not None and len(parameters) == 1):
        curve = data.slice(source, parameters=parameters, outcome=outcome)[0]
        axes = panel(ax, (6.0, 4.2))
        _draw_batches_on_curve(axes, source, curve)
    else:
        found = data.surface(source, parameters=parameters, outcome=outcome)
        axes = panel(ax, (6.4, 4.6))
        draw_map(axes, found)
        xs, ys = spread(found.x, found.at[:, 0]), spread(found.y, found.at[:, 1])
        last = max(int(found.batch.max()), 1)
        chosen = np.array(found.origin) == "model"
        for batch in np.unique(found.batch[chosen]):
            rows = chosen & (found.batch == batch)
            axes.plot(xs[rows], ys[rows], "-", color=batch_colors()(batch / last), lw=1.1, zorder=2, clip_on=False)
        draw_trials(axes, xs, ys, found.status, found.batch, found.best, found.star)
        axes.set_title(where(source, found.through, (found.x, found.y)), fontsize=10)
    return finished(axes, ax)


def _draw_batches_on_curve(axes: Any, source: data.Source, curve: data.Curve) -> None:
    draw_curve(axes, curve)
    axes.collections[-1].remove()  # the results, which are drawn by batch instead
    rows = [source.trials.row(int(i)) for i in curve.ids]
    status, batch = [source.trials.status[i] for i in rows], source.trials.batch[rows]
    draw_trials(axes, spread(curve.axis, curve.at), curve.values, status, batch, None, "")
