"""Parts of figures for plotly: axes, points, bands. Colors are given by names, whose values the page defines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from believer.arrays import Array, IntArray
from believer.page.cells import Json, label, numbers
from believer.plot.data import Axis

Numbers: TypeAlias = Array | IntArray
MAX_TICKS = 24


def figure(id_: str, title: str, caption: str, panels: Sequence[Json]) -> Json:
    """A figure of one panel or more."""
    return {"id": f"figure-{id_}", "title": title, "caption": caption, "panels": [*panels]}


def panel(name: str, data: Sequence[Json], layout: Json, height: int = 300) -> Json:
    """A panel of a figure; ``name`` is a description, for screen readers."""
    return {"label": name, "data": [*data], "layout": layout, "height": height}


def parameter_axis(axis: Axis) -> Json:
    """The axis of a parameter, whatever its kind."""
    if not axis.is_number:
        step = -(-len(axis.choices) // MAX_TICKS)
        ticks = range(0, len(axis.choices), step)
        return {
            "title": {"text": label(axis.label)},
            "type": "linear",
            "tickmode": "array",
            "tickvals": [*ticks],
            "ticktext": [label(axis.choices[i], 16) for i in ticks],
            "range": [-0.5, len(axis.choices) - 0.5],
            # Steep labels end below their ticks; plotly would hide those that reach beyond the panel.
            "ticklabeloverflow": "allow",
            "autotickangles": [0, -30, -90],
        }
    if axis.is_constant:
        return value_axis(axis.label)
    ends = np.array([axis.low, axis.high])
    low, high = np.log10(ends) if axis.is_log else ends
    margin = 0.03 * (high - low)
    return {
        "title": {"text": label(axis.label)},
        "type": "log" if axis.is_log else "linear",
        "range": numbers([low - margin, high + margin]),
        **(_log_ticks(low, high) if axis.is_log else {}),
        **({} if axis.ticks is None else {"tickmode": "array", "tickvals": numbers(axis.ticks)}),
    }


def _log_ticks(low: float, high: float) -> Json:
    """The ticks of an axis from 10**low to 10**high: powers of ten, and their 2 and 5 times if there are few."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    step = max(1, -(-len(powers) // 8))
    steps = (0.0,) if high - low > 2.5 else (0.0, math.log10(2.0), math.log10(5.0))
    found = [power + s for power in powers[::step] for s in steps if low - 1e-9 <= power + s <= high + 1e-9]
    ticks = [10.0**at for at in found] or [10.0**low, 10.0**high]
    return {"tickmode": "array", "tickvals": numbers(ticks), "ticktext": [f"{tick:.4g}" for tick in ticks]}


def value_axis(name: str) -> Json:
    """The axis of an outcome."""
    return {"title": {"text": label(name)}, "type": "linear"}


def points(
    ids: IntArray | Sequence[int],
    x: Any,
    y: Any,
    color: str,
    *,
    name: str = "",
    symbol: str = "circle",
    size: float = 7.0,
    **marker: Any,
) -> Json:
    """Trials as points, which hovering describes; ``x`` and ``y`` are arrays or columns of the table, and ``marker``
    has further settings of plotly's markers."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": label(name),
        "trials": [*map(int, ids)],
        "x": _read(x),
        "y": _read(y),
        "marker": {"color": color, "symbol": symbol, "size": size, **marker},
    }


def line(x: Numbers, y: Numbers, color: str, *, name: str = "", dash: str = "solid", **more: Any) -> Json:
    """A line, which NaN interrupts; ``dash`` is plotly's name of the pattern, and ``more`` are further settings of
    plotly."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(name),
        "x": numbers(x),
        "y": numbers(y),
        "line": {"color": color, "dash": dash, "width": 2},
        "hoverinfo": "skip",
        **more,
    }


def band(x: Array, low: Array, high: Array) -> list[Json]:
    """The area between two lines, (k,) each."""
    edge: Json = {"line": {"width": 0, "color": "@band"}, "showlegend": False}
    return [line(x, low, "@band", **edge), line(x, high, "@band", fill="tonexty", fillcolor="@band", **edge)]


def bars(x: Array, mean: Array, low: Array, high: Array) -> Json:
    """Means with their intervals, (k,) each, for a discrete parameter."""
    return {
        **line(x, mean, "@blue"),
        "mode": "markers",
        "marker": {"color": "@blue", "symbol": "diamond", "size": 8},
        "error_y": interval(mean, low, high, thickness=1.5),
    }


def interval(mean: Array, low: Array, high: Array, color: str = "@blue", **more: Any) -> Json:
    """The bars from ``low`` to ``high``, (k,) each, around means; ``more`` are further settings of plotly."""
    around = {"array": numbers(high - mean), "arrayminus": numbers(mean - low)}
    return {"type": "data", "symmetric": False, "color": color, **around, **more}


def heat(x: Axis, y: Axis, z: Array, name: str, scale: str = "Cividis", **more: Any) -> Json:
    """Values (k_y, k_x) along two parameters, as colors."""
    bar = {"title": {"text": label(name, 24), "side": "right"}, "thickness": 10, "outlinewidth": 0}
    return {
        "type": "heatmap",
        "x": numbers(x.at),
        "y": numbers(y.at),
        "z": [numbers(row) for row in z],
        "colorscale": scale,
        "colorbar": bar,
        "hoverinfo": "skip",
        "zsmooth": "best" if not (x.is_discrete or y.is_discrete or x.is_log or y.is_log) else False,
        **more,
    }


def limit_lines(limits: tuple[float, float]) -> list[Json]:
    """Limits of an outcome, as shapes across a panel."""
    return [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "line": _LIMIT}
        for at in limits
        if np.isfinite(at)
    ]


_LIMIT = {"color": "@red", "width": 1.5, "dash": "dash"}


def _read(values: Any) -> Any:
    return values if isinstance(values, dict) or (isinstance(values, list) and None in values) else numbers(values)
