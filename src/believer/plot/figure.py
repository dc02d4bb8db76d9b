"""The parts that all figures share: the empty figure, colors, title, legend and the axes of parameters.

matplotlib is an extra: it is imported inside the functions that draw, never with the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from believer.arrays import Array, shown
from believer.errors import InvalidInput, MissingExtra
from believer.plot.data.axis import Axis as Parameter
from believer.plot.data.source import Source, with_article
from believer.space.units import units_by_name
from believer.study.labels import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Okabe and Ito's colors: told apart with any kind of color vision.
BLACK, ORANGE, BLUE, GREEN, RED = "#000000", "#E69F00", "#0072B2", "#009E73", "#D55E00"
GRAY, SHADE = "#767676", "#EFEFEF"
_CROWDED = 60
_CHOICES, _NARROW_CHOICES = 20, 8
"""The largest number of ticks along an axis; with more choices, only every second or third has one."""


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
    """Draw one legend below all panels, with each label once, in as few rows as fit the page."""
    named = {label: h for axes in figure.axes for h, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    size = 9 if figure.get_figwidth() >= 9.0 else 8
    layout: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "fontsize": size, "columnspacing": 1.5}
    columns = 0
    for rows in range(1, len(named) + 1):
        if (tried := -(-len(named) // rows)) == columns:
            continue  # the same as with one row less
        columns = tried
        legend = figure.legend(named.values(), named.keys(), ncols=columns, **layout)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def plain_ticks(axis: Axis) -> None:
    """Use numbers such as 0.02 instead of powers if a log axis spans less than three decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if low > 1e-4 and high < 1e5 and high / low < 1e3:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 1e2 else (1.0,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float], **options: Any) -> Any:
    """The axes to draw on, (rows, columns): the given ones, or those of a new pyplot figure of a size in inches.

    ``ax`` is the argument of the caller: an Axes, an array of axes, or None. ``options`` are options of
    ``Figure.subplots``.
    """
    try:
        from matplotlib import pyplot
        from matplotlib.axes import Axes
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots") from error
    if ax is None:
        figure = pyplot.figure(figsize=size, layout="constrained")
        return figure.subplots(rows, columns, squeeze=False, **options)
    given = np.array(ax, dtype=object).ravel()
    if len(given) != rows * columns or not all(isinstance(one, Axes) for one in given):
        many = "a matplotlib Axes" if rows * columns == 1 else f"an array of {rows * columns} matplotlib Axes"
        raise InvalidInput(f"ax must be {many}; got {shown(ax)}.")
    return given.reshape(rows, columns)


def panel(ax: Any, size: tuple[float, float]) -> Any:
    """The axes to draw on: the given one, or that of a new pyplot figure."""
    return panels(ax, 1, 1, size)[0, 0]


def finished(axes: Any, ax: Any) -> Axes:
    """The axes that a plotting function returns, with a legend below a new figure, or within the ``ax`` passed."""
    drawn: Axes = finished_grid(np.array([[axes]], dtype=object), ax)
    return drawn


def finished_grid(grid: Any, ax: Any) -> Any:
    """The same for a grid of axes; if the grid has only one axes, that one is returned."""
    if ax is None:
        legend_below(grid[0, 0].figure)
    for one in grid.ravel() if ax is not None else ():
        if one.get_legend_handles_labels()[1]:
            one.legend(fontsize=8, frameon=False)
    return grid[0, 0] if grid.size == 1 else grid


def dress(axes: Any, which: Literal["x", "y"], parameter: Parameter, narrow: bool = False) -> None:
    """Set the label, scale, ticks and limits of one axis; markers at the bounds are drawn in full. A ``narrow`` axis
    has room for few ticks only."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_label_text(_label(parameter, narrow), **({"fontsize": 8} if narrow else {}))
    if parameter.choices:
        step = -(-len(parameter.choices) // (_NARROW_CHOICES if narrow else _CHOICES))
        shown = [short(choice) for choice in parameter.choices[::step]]
        axis.set_ticks(range(0, len(parameter.choices), step), shown)
        if which == "x" and sum(map(len, shown)) > (8 if narrow else _CROWDED):
            axis.set_tick_params(rotation=40 if narrow else 30)
    elif not narrow and parameter.ticks is not None:
        axis.set_ticks(parameter.ticks, [f"{value:g}" for value in parameter.ticks])
    elif parameter.is_whole and not parameter.is_log:
        axis.set_major_locator(MaxNLocator(nbins=3 if narrow else 6, integer=True))
    elif not parameter.is_log:
        axis.set_major_locator(MaxNLocator(nbins=3 if narrow else 5))
    edges = parameter.edges
    axes.set(**{f"{which}lim": (edges[0], edges[-1])})
    if parameter.is_log:
        axes.set(**{f"{which}scale": "log"})
        plain_ticks(axis)
        if narrow:
            axis.set_major_locator(LogLocator(numticks=4))
            axis.set_minor_locator(LogLocator(subs="auto", numticks=12))


def literal(text: str, most: int = 24) -> str:
    """A user's text, escaped so that matplotlib reads no mathematics in it, and shortened in the middle if it is
    long."""
    if len(text) > most:
        head = most // 2
        text = f"{text[:head]}…{text[len(text) - (most - 1 - head) :]}"
    return text.replace("$", r"\$")


def short(text: str, most: int = 18) -> str:
    """The beginning of a choice, as a tick shows it."""
    return literal(text if len(text) <= most else text[: most - 1] + "…")


def _label(parameter: Parameter, narrow: bool) -> str:
    """The name with its units, on two lines if there is little room."""
    if not narrow:
        return literal(parameter.label)
    return literal(parameter.name, 13) + (f"\n({literal(parameter.units, 11)})" if parameter.units else "")


def where(source: Source, through: Mapping[str, Any] | None, axes: Sequence[Parameter]) -> str:
    """The position of a slice, for a title: "slice at solvent=DMF, time=2 h"; "" if no parameter is fixed."""
    held = {name: value for name, value in (through or {}).items() if name not in [axis.name for axis in axes]}
    text = described(held, units_by_name(source.space.parameters))
    if not held:
        return ""
    return f"slice at {literal(text, 70)}" if len(text) <= 70 else f"slice through {with_article(source.star)}"


def spread(parameter: Parameter, positions: Array) -> Array:
    """Positions with a small offset for choices, so that points do not hide each other."""
    if parameter.is_number:
        return positions
    return positions + 0.5 * ((np.arange(len(positions)) * 0.618034 + 0.5) % 1.0 - 0.5)


def batch_colors() -> Colormap:
    """Plasma without its palest part, which a light background would swallow."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["plasma"](np.linspace(0.0, 0.85, 256)), name="batch")


def shades(maximize: bool) -> Colormap:
    """The color map of a posterior mean: better values are darker."""
    from matplotlib.colors import LinearSegmentedColormap

    pale_to_dark = ["#F7FBFF", "#6BAED6", "#08519C"]
    return LinearSegmentedColormap.from_list("mean", pale_to_dark if maximize else pale_to_dark[::-1])
