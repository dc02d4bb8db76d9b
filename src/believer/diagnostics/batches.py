"""A figure of where the batches of a study lay, over what its model believes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import Array
from believer.capabilities import able
from believer.diagnostics.figure import (
    BLACK,
    GRAY,
    ORANGE,
    RED,
    SHADE,
    Coordinate,
    Point,
    at_units,
    cells,
    coordinates_of,
    dress,
    entitle,
    history,
    is_constant,
    legend_below,
    new_figure,
)
from believer.errors import InvalidInput
from believer.optimizer import Optimizer
from believer.space.parameters import Number
from believer.study.trials import Trial, same_params

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


def batches(optimizer: Optimizer, name: str = "", values_are: str = "value") -> Figure:
    """The batches on the two parameters that matter most, over the model's mean in the slice through the best result.

    What matters most has the shortest lengthscale; a model without lengthscales leaves the space's first two. Points of
    a batch are joined in the order in which they were chosen. A space of one parameter shows the model's curve.
    """
    found = optimizer.best
    if found is None:
        raise InvalidInput("a figure of batches needs at least one result; got none.")
    coordinates, measured = _by_importance(optimizer)
    across, points = coordinates[0], history(optimizer)
    figure = new_figure(8.0, 5.5)
    axes = figure.subplots()
    dress(axes, "x", across)
    if len(coordinates) == 1:
        title = "where the batches lay, and the model's mean"
        points = [p for p in points if p.value is not None]
        xy = np.array([(_position(across, p.trial), p.value) for p in points])
        axes.set_ylabel(values_are)
        _draw_curve(axes, optimizer, across)
    else:
        up = coordinates[1]
        title = f"the batches on the {'two parameters that matter most' if measured else 'first two parameters'}"
        xy = np.array([(_position(across, p.trial), _position(up, p.trial)) for p in points])
        dress(axes, "y", up)
        _draw_slice(axes, optimizer, across, up, values_are)
    _draw_batches(axes, points, xy, joined=len(coordinates) > 1)
    star = next(i for i, p in enumerate(points) if p.value == found[1] and same_params(p.trial.params, found[0]))
    outline: dict[str, Any] = {"mfc": "none", "mec": RED, "mew": 1.8, "ms": 20}
    axes.plot(*xy[star], "*", **outline, zorder=6, clip_on=False, label=f"best: {found[1]:.4g}")
    entitle(figure, name, title)
    legend_below(figure)
    return figure


def _by_importance(optimizer: Optimizer) -> tuple[list[Coordinate], bool]:
    """Coordinates by their shortest lengthscale; in the space's order, and False, when the model has none.

    A parameter with one value comes last: nothing was learnt about its lengthscale.
    """
    coordinates = sorted(coordinates_of(optimizer.space), key=lambda c: is_constant(c.parameter))
    lengthscales = (optimizer.hyperparameters or {}).get("lengthscales")
    if lengthscales is None:
        return coordinates, False
    return sorted(coordinates, key=lambda c: (is_constant(c.parameter), min(lengthscales[c.start : c.stop]))), True


def _position(coordinate: Coordinate, trial: Trial) -> float:
    """Where a trial lies on the axis; choices are spread a little, so that points do not hide each other."""
    value = trial.params[coordinate.name]
    if not able(coordinate.parameter, Number):
        index = int(np.argmax(trial.unit[coordinate.start : coordinate.stop]))
        return index + 0.6 * ((trial.id * 0.618034 + 0.5) % 1.0 - 0.5)
    return float(value)


def _draw_slice(axes: Axes, optimizer: Optimizer, across: Coordinate, up: Coordinate, values_are: str) -> None:
    """The predicted mean where the other parameters stay at the best result; blank where the constraint forbids."""
    from matplotlib.colors import LinearSegmentedColormap

    space, best = optimizer.space, optimizer.best
    assert best is not None
    (columns, x_edges), (rows, y_edges) = cells(across), cells(up)
    grid = np.tile(space.encode([best[0]])[0], (len(rows) * len(columns), 1))
    grid[:, across.start : across.stop] = np.tile(columns, (len(rows), 1))
    grid[:, up.start : up.stop] = np.repeat(rows, len(columns), axis=0)
    params = space.decode(grid)
    mean = optimizer.predict(params).mean.copy()
    forbidden = np.array([not space.allows(p) for p in params])
    if not forbidden.all():
        mean[forbidden] = np.nan
    shades = ["#FFFFFF", "#8C8C8C"] if (optimizer.settings.sign < 0.0) else ["#8C8C8C", "#FFFFFF"]
    cmap = LinearSegmentedColormap.from_list("mean", shades)
    image = np.ma.masked_invalid(mean.reshape(len(rows), len(columns)))
    # The worst quarter shares one shade, so that a few bad corners do not take all the contrast.
    ends = np.nanquantile(mean, (0.25, 1.0) if (optimizer.settings.sign < 0.0) else (0.0, 0.75))
    mesh = axes.pcolormesh(x_edges, y_edges, image, cmap=cmap, vmin=ends[0], vmax=ends[1], zorder=0)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, extend="min" if (optimizer.settings.sign < 0.0) else "max")
    bar.set_label(f"{values_are}: model's mean, slice through the best", fontsize=9)


def _draw_curve(axes: Axes, optimizer: Optimizer, across: Coordinate) -> None:
    """The predicted mean ± 2σ over a space of one parameter."""
    space = optimizer.space
    if not able(across.parameter, Number) or is_constant(across.parameter):
        rows, edges = cells(across)
        x = 0.5 * (edges[1:] + edges[:-1])
        at = optimizer.predict(space.decode(rows))
        axes.errorbar(x, at.mean, 2 * at.std, fmt="_", color=GRAY, ms=20, label="mean ± 2σ", zorder=1)
    else:
        units = np.linspace(0.0, 1.0, 401)
        x = at_units(across, units)
        at = optimizer.predict(space.decode(units[:, None]))
        axes.fill_between(x, at.mean - 2 * at.std, at.mean + 2 * at.std, color=SHADE, label="± 2σ", zorder=0)
        axes.plot(x, at.mean, color=GRAY, label="mean", zorder=1)


def _draw_batches(axes: Axes, points: list[Point], xy: Array, joined: bool) -> None:
    """Each batch of the model in its color, other points and failures in black, at ``xy`` (n, 2)."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import MaxNLocator

    number = np.array([p.batch for p in points])
    failed = np.array([p.status == "failed" for p in points])
    open_ = np.array([p.status in ("pending", "abandoned") for p in points])
    origin = np.array([p.trial.origin for p in points])
    chosen = origin == "model"
    for label, marker, fill, rows in (
        ("design", "s", "white", (origin == "design") & ~failed),
        ("given by the user", "D", ORANGE, np.isin(origin, ("enqueued", "observed")) & ~failed),
        ("failed", "x", BLACK, failed),
    ):
        if rows.any():
            axes.plot(*xy[rows].T, marker, mfc=fill, mec=BLACK, ms=6, ls="", zorder=3, clip_on=False, label=label)
    if not chosen.any():
        return
    cmap, norm = _batch_colors(), Normalize(number[chosen].min() - 0.5, number[chosen].max() + 0.5)
    for batch in np.unique(number[chosen]) if joined else ():
        axes.plot(*xy[chosen & (number == batch)].T, "-", color=cmap(norm(batch)), lw=1.2, zorder=2, clip_on=False)
    done, waiting, colors = chosen & ~failed & ~open_, chosen & open_, cmap(norm(number))
    x, y = xy.T
    axes.scatter(x[done], y[done], s=42, fc=colors[done], ec="white", lw=0.6, zorder=4, clip_on=False)
    if waiting.any():
        axes.scatter(
            x[waiting], y[waiting], s=42, fc="none", ec=colors[waiting], lw=1.5, zorder=4, label="no result yet"
        )
    ticks = MaxNLocator(integer=True, nbins=10)
    axes.figure.colorbar(ScalarMappable(norm, cmap), ax=axes, pad=0.02, label="batch", ticks=ticks)


def _batch_colors() -> Colormap:
    """Plasma without its palest part, which a light background would swallow."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["plasma"](np.linspace(0.0, 0.85, 256)), name="batch")
