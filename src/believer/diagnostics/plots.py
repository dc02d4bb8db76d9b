"""Figures of a study: how it converged, where its batches lay, and what one lie does to an acquisition.

Each function returns a ``matplotlib.figure.Figure`` of its own, outside pyplot; save it with ``figure.savefig(path)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from believer.acquisitions import EI, Bound
from believer.arrays import Array, IntArray, as_values
from believer.batch import Believe, ConstantLie, Data
from believer.batch.lies import Lie
from believer.errors import InvalidInput, MissingExtra
from believer.events import Asked
from believer.optimizer import Optimizer
from believer.parameters import Categorical, Int, Parameter
from believer.problems import Problem, wave1
from believer.space import Space
from believer.surrogates import GP
from believer.surrogates.gp import GPModel
from believer.trials import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Okabe and Ito's colors: told apart with any kind of color vision.
_BLACK, _ORANGE, _BLUE, _GREEN, _RED = "#000000", "#E69F00", "#0072B2", "#009E73", "#D55E00"
_GRAY, _SHADE, _DESIGN_SHADE = "#767676", "#EFEFEF", "#DCE9F5"
_STRIPES_UP_TO = 80
_CELLS = 101
_CROWDED = 60


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A trial and what became of it; ``batch`` counts the asks from 1, and is 0 for a trial from elsewhere."""

    trial: Trial
    status: str
    value: float | None
    batch: int


@dataclass(frozen=True, slots=True)
class _Coordinate:
    """A parameter as an axis, and its encoded columns ``start:stop``."""

    name: str
    parameter: Parameter
    start: int
    stop: int


def convergence(
    optimizer: Optimizer, optimum: float | None = None, name: str = "", values_are: str = "value"
) -> Figure:
    """Every result and the best so far against the number of evaluations, batch by batch.

    With a known ``optimum``, a second panel shows how far the best is from it, on a log axis. ``name`` heads the title,
    ``values_are`` is what the values are called.
    """
    points = [p for p in _history(optimizer) if p.status in ("done", "failed")]
    values = np.array([np.nan if p.value is None else p.value for p in points])
    if not np.isfinite(values).any():
        raise InvalidInput("a figure of convergence needs at least one result; got none.")
    best: Array = (np.fmax if optimizer.setup.maximize else np.fmin).accumulate(values)
    count = np.arange(1, len(points) + 1)

    figure = _figure(8.0, 5.0 if optimum is None else 6.0)
    panels = figure.subplots(1 if optimum is None else 2, 1, sharex=True, squeeze=False)[:, 0]
    _draw_results(panels[0], points, values)
    panels[0].step(count, best, where="post", color=_RED, lw=2, label="best so far")
    panels[0].set_ylabel(values_are)
    if optimum is not None:
        panels[0].axhline(optimum, color=_BLACK, ls="--", lw=1, label=f"optimum {optimum:.6g}")
        _draw_regret(panels[1], count, np.abs(best - optimum))
    elif np.nanmin(values) > 0 and np.nanmax(values) >= 10 * np.nanmin(values):
        panels[0].set_yscale("log")
        _plain_ticks(panels[0].yaxis)
        panels[0].set_ylabel(f"{values_are} (log scale)")
    for panel in panels:
        _shade_batches(panel, points, labeled=panel is panels[0])
    panels[-1].set_xlabel("evaluations")
    panels[-1].set_xlim(0.3, len(points) + 0.7)
    panels[-1].xaxis.get_major_locator().set_params(integer=True)
    _entitle(figure, name, _found(points, float(best[-1]), optimum, optimizer.setup.maximize))
    _legend_below(figure)
    return figure


def batches(optimizer: Optimizer, name: str = "", values_are: str = "value") -> Figure:
    """The batches on the two parameters that matter most, over the model's mean in the slice through the best result.

    What matters most has the shortest lengthscale; a model without lengthscales leaves the space's first two. Points of
    a batch are joined in the order in which they were chosen. A space of one parameter shows the model's curve.
    """
    found = optimizer.best
    if found is None:
        raise InvalidInput("a figure of batches needs at least one result; got none.")
    coordinates, measured = _by_importance(optimizer)
    across, points = coordinates[0], _history(optimizer)
    figure = _figure(8.0, 5.5)
    axes = figure.subplots()
    _dress(axes, "x", across)
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
        _dress(axes, "y", up)
        _draw_slice(axes, optimizer, across, up, values_are)
    _draw_batches(axes, points, xy, joined=len(coordinates) > 1)
    star = next(i for i, p in enumerate(points) if p.value == found[1] and p.trial.params == found[0])
    outline: dict[str, Any] = {"mfc": "none", "mec": _RED, "mew": 1.8, "ms": 20}
    axes.plot(*xy[star], "*", **outline, zorder=6, clip_on=False, label=f"best: {found[1]:.4g}")
    _entitle(figure, name, title)
    _legend_below(figure)
    return figure


def before_and_after_a_lie(
    problem: Problem | None = None,
    at: Sequence[float] = (0.39, 0.55, 0.73, 0.94),
    lies: Sequence[Lie] = (Believe(), ConstantLie("min")),
) -> Figure:
    """A posterior and its expected improvement before and after a pseudo-observation at its maximum, one column a lie.

    problem: of one number (default: ``problems.wave1``). at: where it was evaluated, in the unit interval.
    """
    problem = wave1() if problem is None else problem
    coordinate = _coordinates(problem.space)[0]
    if len(problem.space) > 1 or isinstance(coordinate.parameter, Categorical):
        raise InvalidInput(f"only a problem of one number can be drawn; got {problem.name!r}, {problem.space!r}.")
    X = as_values(at, name="at")[:, None]
    data = Data(X, problem.evaluate(X))
    model = GP().fit(data.X, data.y, np.random.default_rng(0))
    figure = _figure(9.5, 5.5)
    panels = figure.subplots(2, 1 + len(lies), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 2))
    chosen = _draw_belief(panels[:, 0], problem, model, float(data.y.min()))
    panels[0, 0].set_title("before")
    for column, lie in zip(panels.T[1:], lies, strict=True):
        told = lie.value(model, chosen, data, 1.0, np.random.default_rng(0))
        informed = model.condition(chosen[None, :], np.array([told]))
        _draw_belief(column, problem, informed, min(float(data.y.min()), told))
        x = _decoded(problem.space, chosen[None, :])
        column[0].plot(x, told, "D", color=_ORANGE, mec=_BLACK, ms=8, zorder=5, label="the lie", ls="")
        column[1].axvline(x[0], color=_ORANGE, ls="--", lw=1.5, zorder=0)
        column[0].set_title(f"after {lie.verb} it")
    for panel in panels[0]:
        panel.plot(_decoded(problem.space, X), data.y, "o", color=_BLACK, ms=6, zorder=4, label="data", ls="")
    for panel in panels[1]:
        _dress(panel, "x", coordinate)
    panels[0, 0].set_ylabel("value")
    panels[1, 0].set_ylabel("expected improvement")
    _entitle(figure, "", "what one lie does: the expected improvement collapses around it")
    _legend_below(figure)
    return figure


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _legend_below(figure: Figure) -> None:
    """One legend for all panels, each label once, outside of the data."""
    named = {label: h for axes in figure.axes for h, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    in_one_row = 5 if figure.get_figwidth() < 9.0 else 6
    columns = len(named) if len(named) <= in_one_row else (len(named) + 1) // 2
    layout = {"ncols": columns, "frameon": False, "fontsize": 9, "columnspacing": 1.5}
    figure.legend(named.values(), named.keys(), loc="outside lower center", **layout)


def _history(optimizer: Optimizer) -> list[_Point]:
    """All trials in id order."""
    asks = [event for event in optimizer._ledger.events if isinstance(event, Asked)]
    batch = {entry["id"]: number for number, asked in enumerate(asks, start=1) for entry in asked.trials}
    return [
        _Point(trial, record["status"], record["value"], batch.get(trial.id, 0))
        for trial, record in zip(optimizer.trials, optimizer.records(), strict=True)
    ]


def _entitle(figure: Figure, name: str, title: str) -> None:
    figure.suptitle(f"{name}: {title}" if name else title[0].upper() + title[1:], fontsize=11)


def _found(points: list[_Point], best: float, optimum: float | None, maximize: bool) -> str:
    """A title for the convergence."""
    design = [p.value for p in points if p.trial.origin == "design" and p.value is not None]
    gap = "" if optimum is None else f", {abs(best - optimum):.2g} from the optimum"
    start = f" (design alone: {(max if maximize else min)(design):.4g})" if design else ""
    return f"best {best:.4g}{gap}, after {len(points)} evaluations{start}"


def _draw_results(panel: Axes, points: list[_Point], values: Array) -> None:
    """A marker for each result by its origin, and a cross at the bottom for each failure."""
    count = np.arange(1, len(points) + 1)
    for label, marker, color, origins in (
        ("design", "s", _GRAY, ("design",)),
        ("chosen by the model", "o", _BLUE, ("model",)),
        ("given by the user", "D", _ORANGE, ("enqueued", "observed")),
    ):
        rows = np.array([p.trial.origin in origins and p.value is not None for p in points])
        if rows.any():
            panel.plot(count[rows], values[rows], marker, color=color, ms=5.5, mec="white", mew=0.5, label=label)
    failed = ~np.isfinite(values)
    if failed.any():
        bottom = panel.get_xaxis_transform()
        panel.plot(count[failed], np.full(failed.sum(), 0.03), "x", color=_BLACK, transform=bottom, label="failed")


def _draw_regret(panel: Axes, count: IntArray, regret: Array) -> None:
    """Distance from the optimum; a best that meets it to the last bit is drawn a decade below the rest."""
    positive = regret[regret > 0]
    floor = 0.1 * float(positive.min()) if len(positive) else 1e-12
    panel.step(count, np.where(regret > 0, regret, floor), where="post", color=_RED, lw=2)
    panel.set_yscale("log")
    _plain_ticks(panel.yaxis)
    panel.set_ylabel("best so far,\ndistance from the optimum")


def _plain_ticks(axis: Axis) -> None:
    """Numbers such as 0.02 rather than powers, where a log axis spans less than three decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if low > 1e-4 and high < 1e5 and high / low < 1e3:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _shade_batches(panel: Axes, points: list[_Point], labeled: bool) -> None:
    """Shade the design, and every other batch of the rest unless there are very many."""
    runs: list[tuple[bool, int, int]] = []
    for (design, _), run in groupby((p.trial.origin == "design", p.batch) for p in points):
        runs.append((design, start := runs[-1][2] if runs else 0, start + len(list(run))))
    label = "every other batch" if labeled else None
    for number, (design, start, stop) in enumerate(runs):
        if design or (number % 2 and len(runs) <= _STRIPES_UP_TO):
            color, named = (_DESIGN_SHADE, None) if design else (_SHADE, label)
            panel.axvspan(start + 0.5, stop + 0.5, color=color, lw=0, zorder=0, label=named)


def _coordinates(space: Space) -> list[_Coordinate]:
    found, start = [], 0
    for name, parameter in space.parameters.items():
        stop = start + (len(parameter.choices) if isinstance(parameter, Categorical) else 1)
        found.append(_Coordinate(name, parameter, start, stop))
        start = stop
    return found


def _by_importance(optimizer: Optimizer) -> tuple[list[_Coordinate], bool]:
    """Coordinates by their shortest lengthscale; in the space's order, and False, when the model has none.

    A parameter with one value comes last: nothing was learnt about its lengthscale.
    """
    coordinates = sorted(_coordinates(optimizer.space), key=lambda c: _is_constant(c.parameter))
    lengthscales = (optimizer.hyperparameters or {}).get("lengthscales")
    if lengthscales is None:
        return coordinates, False
    return sorted(coordinates, key=lambda c: (_is_constant(c.parameter), min(lengthscales[c.start : c.stop]))), True


def _is_constant(p: Parameter) -> bool:
    return len(p.choices) == 1 if isinstance(p, Categorical) else p.low == p.high


def _position(coordinate: _Coordinate, trial: Trial) -> float:
    """Where a trial lies on the axis; choices are spread a little, so that points do not hide each other."""
    value = trial.params[coordinate.name]
    if isinstance(coordinate.parameter, Categorical):
        index = int(np.argmax(trial.unit[coordinate.start : coordinate.stop]))
        return index + 0.6 * ((trial.id * 0.618034 + 0.5) % 1.0 - 0.5)
    return float(value)


def _at_units(coordinate: _Coordinate, units: Array) -> Array:
    """Values of a number's axis at positions ``units`` (m,), where the space's own rounding is not wanted."""
    p = coordinate.parameter
    assert not isinstance(p, Categorical)
    if p.log:
        powers: Array = np.exp(np.log(p.low) + units * np.log(p.high / p.low))
        return powers
    return p.low + units * np.float64(p.high - p.low)


def _cells(coordinate: _Coordinate) -> tuple[Array, Array]:
    """Encoded rows (k, width) of the cells along an axis, and the edges (k + 1,) between them."""
    p = coordinate.parameter
    if isinstance(p, Categorical):
        return np.eye(len(p.choices)), np.arange(-0.5, len(p.choices))
    if _is_constant(p):
        return np.zeros((1, 1)), np.array([p.low - 0.5, p.low + 0.5])
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    return middles[:, None], _at_units(coordinate, np.arange(_CELLS + 1) / _CELLS)


def _dress(axes: Axes, which: Literal["x", "y"], coordinate: _Coordinate) -> None:
    """Label, scale, ticks and limits of one axis; markers at the bounds are drawn whole, beyond the frame."""
    from matplotlib.ticker import MaxNLocator

    p = coordinate.parameter
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(_literal(coordinate.name))
    if isinstance(p, Categorical):
        choices = [_literal(str(choice)) for choice in p.choices]
        axis.set_ticks(range(len(choices)), choices)
        if which == "x" and sum(map(len, choices)) > _CROWDED:
            axis.set_tick_params(rotation=30)
    elif isinstance(p, Int) and not p.log:
        axis.set_major_locator(MaxNLocator(integer=True))
    edges = _cells(coordinate)[1]
    axes.set(**{f"{which}lim": (edges[0], edges[-1])})
    if not isinstance(p, Categorical) and p.log and not _is_constant(p):
        axes.set(**{f"{which}scale": "log"})
        _plain_ticks(axis)


def _literal(text: str) -> str:
    """A user's word, with no sign that matplotlib would read as mathematics."""
    return text.replace("$", r"\$")


def _draw_slice(axes: Axes, optimizer: Optimizer, across: _Coordinate, up: _Coordinate, values_are: str) -> None:
    """The predicted mean where the other parameters stay at the best result; blank where the constraint forbids."""
    from matplotlib.colors import LinearSegmentedColormap

    space, best = optimizer.space, optimizer.best
    assert best is not None
    (columns, x_edges), (rows, y_edges) = _cells(across), _cells(up)
    grid = np.tile(space.encode([best[0]])[0], (len(rows) * len(columns), 1))
    grid[:, across.start : across.stop] = np.tile(columns, (len(rows), 1))
    grid[:, up.start : up.stop] = np.repeat(rows, len(columns), axis=0)
    params = space.decode(grid)
    mean = optimizer.predict(params).mean.copy()
    forbidden = np.array([not space.allows(p) for p in params])
    if not forbidden.all():
        mean[forbidden] = np.nan
    shades = ["#FFFFFF", "#8C8C8C"] if optimizer.setup.maximize else ["#8C8C8C", "#FFFFFF"]
    cmap = LinearSegmentedColormap.from_list("mean", shades)
    image = np.ma.masked_invalid(mean.reshape(len(rows), len(columns)))
    # The worst quarter shares one shade, so that a few bad corners do not take all the contrast.
    ends = np.nanquantile(mean, (0.25, 1.0) if optimizer.setup.maximize else (0.0, 0.75))
    mesh = axes.pcolormesh(x_edges, y_edges, image, cmap=cmap, vmin=ends[0], vmax=ends[1], zorder=0)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, extend="min" if optimizer.setup.maximize else "max")
    bar.set_label(f"{values_are}: model's mean, slice through the best", fontsize=9)


def _draw_curve(axes: Axes, optimizer: Optimizer, across: _Coordinate) -> None:
    """The predicted mean ± 2σ over a space of one parameter."""
    space = optimizer.space
    if isinstance(across.parameter, Categorical) or _is_constant(across.parameter):
        rows, edges = _cells(across)
        x = 0.5 * (edges[1:] + edges[:-1])
        at = optimizer.predict(space.decode(rows))
        axes.errorbar(x, at.mean, 2 * at.std, fmt="_", color=_GRAY, ms=20, label="mean ± 2σ", zorder=1)
    else:
        units = np.linspace(0.0, 1.0, 401)
        x = _at_units(across, units)
        at = optimizer.predict(space.decode(units[:, None]))
        axes.fill_between(x, at.mean - 2 * at.std, at.mean + 2 * at.std, color=_SHADE, label="± 2σ", zorder=0)
        axes.plot(x, at.mean, color=_GRAY, label="mean", zorder=1)


def _draw_batches(axes: Axes, points: list[_Point], xy: Array, joined: bool) -> None:
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
        ("given by the user", "D", _ORANGE, np.isin(origin, ("enqueued", "observed")) & ~failed),
        ("failed", "x", _BLACK, failed),
    ):
        if rows.any():
            axes.plot(*xy[rows].T, marker, mfc=fill, mec=_BLACK, ms=6, ls="", zorder=3, clip_on=False, label=label)
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


def _decoded(space: Space, X: Array) -> Array:
    """Values (m,) of the one parameter at encoded points ``X`` (m, 1)."""
    return np.array([params[space.names[0]] for params in space.decode(X)], dtype=np.float64)


def _draw_belief(column: Any, problem: Problem, model: GPModel, incumbent: float) -> Array:
    """Posterior above, expected improvement below; the encoded point (1,) where the latter is largest."""
    U = np.linspace(0.0, 1.0, 501)[:, None]
    x, at = _decoded(problem.space, U), model.predict(U)
    improvement = Bound(EI(), model, incumbent).value(U)
    column[0].fill_between(x, at.mean - 2 * at.std, at.mean + 2 * at.std, color=_BLUE, alpha=0.2, lw=0, label="± 2σ")
    column[0].plot(x, at.mean, color=_BLUE, lw=1.8, label="model's mean")
    column[0].plot(x, problem.evaluate(U), color=_GRAY, ls="--", lw=1, label="the function")
    column[1].fill_between(x, 0.0, improvement, color=_GREEN, alpha=0.35, lw=0)
    column[1].plot(x, improvement, color=_GREEN, lw=1.5)
    top = int(np.argmax(improvement))
    column[1].plot(x[top], improvement[top], "v", color=_RED, ms=8, zorder=5, clip_on=False, label="next point", ls="")
    column[1].margins(y=0.15)
    chosen: Array = U[top]
    return chosen
