"""What the figures share: the empty figure, its colors, title and legend, a study's trials, and parameters as axes.

matplotlib is an extra: it is imported inside the functions that draw, never with the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from believer.arrays import Array
from believer.capabilities import able
from believer.errors import MissingExtra
from believer.optimizer import Optimizer
from believer.space import Space
from believer.space.parameters import Number, Parameter
from believer.study.events import Asked
from believer.study.trials import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

# Okabe and Ito's colors: told apart with any kind of color vision.
BLACK, ORANGE, BLUE, GREEN, RED = "#000000", "#E69F00", "#0072B2", "#009E73", "#D55E00"
GRAY, SHADE = "#767676", "#EFEFEF"
_CELLS = 101
_CROWDED = 60


def new_figure(width: float, height: float) -> Figure:
    """An empty figure outside pyplot; MissingExtra without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def entitle(figure: Figure, name: str, title: str) -> None:
    """Head the figure with ``title``, after the study's ``name`` if it has one."""
    figure.suptitle(f"{name}: {title}" if name else title[0].upper() + title[1:], fontsize=11)


def legend_below(figure: Figure) -> None:
    """One legend for all panels, each label once, outside of the data."""
    named = {label: h for axes in figure.axes for h, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    in_one_row = 5 if figure.get_figwidth() < 9.0 else 6
    columns = len(named) if len(named) <= in_one_row else min((len(named) + 1) // 2, in_one_row)
    layout = {"ncols": columns, "frameon": False, "fontsize": 9, "columnspacing": 1.5}
    figure.legend(named.values(), named.keys(), loc="outside lower center", **layout)


def plain_ticks(axis: Axis) -> None:
    """Numbers such as 0.02 rather than powers, where a log axis spans less than three decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if low > 1e-4 and high < 1e5 and high / low < 1e3:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 1e2 else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A trial and what became of it; ``batch`` counts the asks from 1, and is 0 for a trial from elsewhere."""

    trial: Trial
    status: str
    value: float | None
    batch: int


def history(optimizer: Optimizer) -> list[Point]:
    """All trials in id order."""
    asks = [event for event in optimizer.events if isinstance(event, Asked)]
    batch = {trial.id: number for number, asked in enumerate(asks, start=1) for trial in asked.trials}
    return [
        Point(trial, record["status"], record["value"], batch.get(trial.id, 0))
        for trial, record in zip(optimizer.trials, optimizer.records(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A parameter as an axis, and its encoded columns ``start:stop``."""

    name: str
    parameter: Parameter
    start: int
    stop: int


def coordinates_of(space: Space) -> list[Coordinate]:
    """The parameters of a space as axes, in its order."""
    found, start = [], 0
    for name, parameter in space.parameters.items():
        stop = start + parameter.width
        found.append(Coordinate(name, parameter, start, stop))
        start = stop
    return found


def is_constant(p: Parameter) -> bool:
    """Whether the parameter has one value only."""
    return p.count == 1


def at_units(coordinate: Coordinate, units: Array) -> Array:
    """Values of a number's axis at positions ``units`` (m,), where the space's own rounding is not wanted."""
    p = coordinate.parameter
    assert able(p, Number)
    if p.log:
        powers: Array = np.exp(np.log(p.low) + units * np.log(p.high / p.low))
        return powers
    return p.low + units * np.float64(p.high - p.low)


def cells(coordinate: Coordinate) -> tuple[Array, Array]:
    """Encoded rows (k, width) of the cells along an axis, and the edges (k + 1,) between them."""
    p = coordinate.parameter
    if not able(p, Number):
        rows = p.grid()
        return rows, np.arange(-0.5, len(rows))
    if is_constant(p):
        return np.zeros((1, 1)), np.array([p.low - 0.5, p.low + 0.5])
    middles = (np.arange(_CELLS) + 0.5) / _CELLS
    return middles[:, None], at_units(coordinate, np.arange(_CELLS + 1) / _CELLS)


def dress(axes: Axes, which: Literal["x", "y"], coordinate: Coordinate) -> None:
    """Label, scale, ticks and limits of one axis; markers at the bounds are drawn whole, beyond the frame."""
    from matplotlib.ticker import MaxNLocator

    p = coordinate.parameter
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(_literal(coordinate.name))
    if not able(p, Number):
        choices = [_literal(str(choice)) for choice in p.decode(p.grid())]
        axis.set_ticks(range(len(choices)), choices)
        if which == "x" and sum(map(len, choices)) > _CROWDED:
            axis.set_tick_params(rotation=30)
    elif isinstance(p.low, int) and not p.log:
        axis.set_major_locator(MaxNLocator(integer=True))
    edges = cells(coordinate)[1]
    axes.set(**{f"{which}lim": (edges[0], edges[-1])})
    if able(p, Number) and p.log and not is_constant(p):
        axes.set(**{f"{which}scale": "log"})
        plain_ticks(axis)


def _literal(text: str) -> str:
    """A user's word, with no sign that matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
