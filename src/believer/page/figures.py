"""Figures of a study that need no model."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, BoolArray
from believer.page.cells import Json, label, numbers
from believer.page.rows import PageRows
from believer.page.traces import figure, limit_lines, line, panel, parameter_axis, points, value_axis
from believer.plot import data
from believer.plot.data import Axis, Convergence, Evaluations, Source
from believer.plot.data.source import with_article

MAX_PAIRED = 4
"""The number of parameters that are shown in pairs."""

_SHADES = 8
_MAX_BORDERS = 60


def convergence(source: Source, rows: PageRows) -> Json:
    """Results and the best so far, for the objective or the hypervolume and for each limited outcome."""
    goals = source.goals
    shown = [None, *goals.limited] if len(goals.objectives) == 1 else [None, *goals.objectives, *goals.limited]
    panels = [_history(data.convergence(source, outcome=name)) for name in shown]
    return figure(
        "convergence",
        "Progress",
        "Each result in the order of its trial, and the best so far. The design is shaded, dotted lines divide "
        "batches, and dashed lines are limits."
        + (
            " A cross is a failed trial: it has no value, and is drawn at the edge."
            if source.study.counts.failed
            else ""
        ),
        panels,
    )


def _history(found: Convergence) -> Json:
    values, count = found.values, found.count
    failed = np.array([status == "failed" for status in found.status]) & ~np.isfinite(values)
    known = np.isfinite(values)
    traces = []
    groups = (
        ("result", known & found.keeps_limits, "@blue", "circle"),
        ("outside a limit, or partial", known & ~found.keeps_limits, "@orange", "circle-open"),
    )
    traces += [
        points(found.ids[mask], count[mask], values[mask], color, name=name, symbol=symbol)
        for name, mask, color, symbol in groups
        if mask.any()
    ]
    if failed.any() and known.any():
        edge = np.full(int(failed.sum()), values[known].min() if found.maximize else values[known].max())
        traces.append(points(found.ids[failed], count[failed], edge, "@red", name="failed", symbol="x"))
    if np.isfinite(found.best).any():
        traces.append(line(count, found.best, "@black", name="best so far", line=_STEPS))
    borders = [
        {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "line": _BORDER}
        for at in ([span.last + 0.5 for span in found.spans[:-1]] if len(found.spans) <= _MAX_BORDERS else ())
    ]
    shade = [
        {
            **{"type": "rect", "yref": "paper", "y0": 0, "y1": 1, "layer": "below"},
            **{"x0": span.first - 0.5, "x1": span.last + 0.5, "fillcolor": "@card", "line": {"width": 0}},
        }
        for span in found.spans
        if span.is_design
    ]
    layout = {
        "xaxis": {"title": {"text": "evaluation"}, "type": "linear"},
        "yaxis": value_axis(found.label),
        "shapes": [*shade, *borders, *limit_lines(found.limits)],
        "showlegend": True,
    }
    return panel(f"Progress of {found.label}", traces, layout, 340)


_STEPS = {"color": "@black", "width": 2, "shape": "hv"}
_BORDER = {"color": "@grid", "width": 1, "dash": "dot"}


def evaluations(source: Source, rows: PageRows, names: tuple[str, ...] | None) -> Json:
    """Scatter plots of pairs of parameters; ``names`` are the parameters to show, None for the first ones."""
    found = data.evaluations(source, parameters=names)
    axes = found.axes[:MAX_PAIRED]
    pairs = [(x, y) for i, x in enumerate(axes) for y in axes[i + 1 :]]
    left = len([axis for axis in source.axes if not axis.is_constant]) - len(axes)
    more = f" The {len(axes)} parameters that matter most are shown; {left} more are in the table." if left > 0 else ""
    return figure(
        "evaluations",
        "Where it was evaluated",
        f"Trials by pairs of parameters. Colors rank {found.label}, from blue for the worst to yellow for the best; "
        f"the star is {with_article(found.star)}, open squares are pending and crosses failed.{more}",
        [_pair(found, rows, x, y) for x, y in pairs] or [_single(found, rows, axes[0])],
    )


def _groups(found: Evaluations) -> dict[str, BoolArray]:
    status = np.array(found.status)
    known = np.isfinite(found.values)
    return {
        "known": known,
        "failed": (status == "failed") & ~known,
        "waiting": np.isin(status, ["pending", "partial"]) & ~known,
        "abandoned": (status == "abandoned") & ~known,
    }


def _pair(found: Evaluations, rows: PageRows, x: Axis, y: Axis) -> Json:
    traces, places = [], [found.axes.index(x), found.axes.index(y)]
    for kind, mask in _groups(found).items():
        if mask.any():
            ids = found.ids[mask]
            across, up = (rows.along(axis, found.at[mask, i]) for axis, i in zip((x, y), places, strict=True))
            traces.append(points(ids, across, up, **_look(kind, found, mask)))
    if found.best is not None:
        ids, at = found.ids[[found.best]], found.at[[found.best]]
        traces.append(points(ids, at[:, places[0]], at[:, places[1]], "@red", symbol="star", size=13))
    layout = {"xaxis": parameter_axis(x), "yaxis": parameter_axis(y)}
    return panel(f"Trials by {x.label} and {y.label}", traces, layout)


def _single(found: Evaluations, rows: PageRows, x: Axis) -> Json:
    mask = np.isfinite(found.values)
    at = rows.along(x, found.at[mask, 0])
    traces = [points(found.ids[mask], at, found.values[mask], "@blue")]
    layout = {"xaxis": parameter_axis(x), "yaxis": value_axis(found.label)}
    return panel(f"{found.label} by {x.label}", traces, layout)


def _look(kind: str, found: Evaluations, mask: BoolArray) -> Json:
    if kind != "known":
        color, symbol = {"failed": ("@red", "x"), "waiting": ("@green", "square-open")}.get(kind, ("@gray", "cross"))
        return {"color": color, "symbol": symbol}
    good = -1.0 if found.maximize else 1.0
    values = found.values[mask]
    # Colors are by rank, so that a few results that are far worse do not hide the rest.
    order = np.argsort(np.argsort(good * values, kind="stable"), kind="stable")
    colors = numbers(order / max(1, len(order) - 1))
    return {"color": colors, "colorscale": "Cividis", "reversescale": True, "line": {"width": 0.5, "color": "@gray"}}


def parallel(source: Source, rows: PageRows) -> Json:
    """All parameters and the outcome of every trial, as lines."""
    found = data.parallel_coordinates(source)
    known = np.flatnonzero(np.isfinite(found.values))
    good = known[np.argsort(found.values[known] * (-1.0 if found.maximize else 1.0), kind="stable")]
    low, high = float(found.values[known].min()), float(found.values[known].max())
    column = rows.outcomes.get(source.chosen(None), 2)
    ends = [
        *({**_end(axis), "column": rows.parameters[axis.name]} for axis in found.axes),
        {"low": low, "high": high, "log": False, "column": column},
    ]
    traces = [
        {
            **{"type": "scatter", "mode": "lines", "trials": [*map(int, found.ids[np.sort(part)])], "across": ends},
            **{"line": {"color": color, "width": 1.5 if i < _SHADES - 1 else 2.5}, "opacity": 0.35 + 0.06 * i},
        }
        for i, (part, color) in enumerate(zip(np.array_split(good, _SHADES)[::-1], _RAMP, strict=True))
        if len(part)
    ]
    names = [*(axis.label for axis in found.axes), found.label]
    ticks = {"tickmode": "array", "tickvals": [*range(len(names))], "ticktext": [label(name, 18) for name in names]}
    layout = {
        "xaxis": {"type": "linear", "range": [-0.2, len(names) - 0.8], **ticks},
        "yaxis": {"type": "linear", "showticklabels": False, "range": [-0.03, 1.03], "zeroline": False},
    }
    return figure(
        "parallel",
        "All trials across all parameters",
        "A line is a trial. Each axis goes from the lowest to the highest value of its parameter, bottom to top; the "
        f"last is {found.label}. The best eighth of the results is drawn last, in the darkest color (in the dark theme "
        "the brightest).",
        [panel("Parallel coordinates", traces, layout, 360)],
    )


_RAMP = ["@shade1", "@shade2", "@shade3", "@shade4", "@shade5", "@shade6", "@shade7", "@shade8"]


def _end(axis: Axis) -> Json:
    if axis.is_number:
        return {"low": axis.low, "high": axis.high, "log": axis.is_log}
    return {"low": 0, "high": max(1, len(axis.choices) - 1), "log": False, "choices": [*axis.choices]}


def distribution(source: Source, rows: PageRows) -> Json:
    """The cumulative distribution of the results, for each outcome."""
    panels = []
    for outcome in source.outputs:
        values = source.trials.values[outcome]
        order = np.argsort(values, kind="stable")
        order = order[np.isfinite(values[order])]
        share = np.arange(1, len(order) + 1) / max(1, len(order))
        if not len(order):
            continue
        trace = {
            **points(source.trials.ids[order], values[order], share, "@blue", size=5),
            **{"mode": "lines+markers", "line": {"color": "@blue", "width": 2, "shape": "hv"}},
        }
        name = source.label(outcome)
        layout = {"xaxis": value_axis(name), "yaxis": {"title": {"text": "share of results"}, "type": "linear"}}
        panels.append(panel(f"Distribution of {name}", [trace], layout, 280))
    return figure(
        "distribution",
        "How the results are distributed",
        "The share of results that are at most so large: the empirical distribution of each outcome.",
        panels,
    )


def diversity(source: Source, rows: PageRows) -> Json:
    """Distances within batches."""
    found = data.diversity(source)
    x = found.batch.astype(float)
    traces = [
        {**line(x, found.random_high, "@band", line={"width": 0, "color": "@band"}), "showlegend": False},
        {
            **line(x, found.random_low, "@band", name="nearest two of random points"),
            **{"fill": "tonexty", "fillcolor": "@band", "line": {"width": 0, "color": "@band"}},
        },
        _marked(x, found.least, "@blue", "nearest two"),
        _marked(x, found.mean, "@black", "mean of all pairs"),
        _marked(x, found.before, "@orange", "to the nearest earlier trial"),
    ]
    layout = {
        "xaxis": {"title": {"text": "batch"}, "type": "linear"},
        "yaxis": {"title": {"text": "distance / diagonal"}, "type": "linear", "rangemode": "tozero"},
        "showlegend": True,
    }
    return figure(
        "diversity",
        "How diverse the batches are",
        "Distances between points of a batch in the encoded space, as shares of its diagonal. The band holds 95 % of "
        "the distances of the two nearest of as many random points.",
        [panel("Diversity of the batches", traces, layout, 340)],
    )


def _marked(x: Array, y: Array, color: str, name: str) -> Json:
    return {**line(x, y, color, name=name), "mode": "lines+markers", "marker": {"color": color}}


def timeline(source: Source, rows: PageRows) -> Json:
    """When trials were pending."""
    found = data.timeline(source)
    unit, scale = _unit(float(found.end.max())) if found.is_timed else ("events", 1.0)
    colors = {"done": "@blue", "failed": "@red", "pending": "@green", "partial": "@orange", "abandoned": "@gray"}
    traces = []
    for status in dict.fromkeys(found.status):
        mask = np.array([one == status for one in found.status])
        x = np.column_stack([found.begin[mask] / scale, found.end[mask] / scale, np.full(mask.sum(), np.nan)]).ravel()
        y = np.repeat(found.lane[mask] + 1.0, 3)
        ids = np.repeat(found.ids[mask], 3)
        traces.append(
            {**points(ids, x, y, colors[status], name=status, size=4), "mode": "lines+markers"}
            | {"line": {"color": colors[status], "width": 5}}
        )
    layout = {
        "xaxis": {"title": {"text": f"{unit} since the first trial was handed out"}, "type": "linear"},
        "yaxis": {"title": {"text": "slot"}, "type": "linear", "dtick": 1 if found.lane.max() < 20 else None},
        "showlegend": True,
    }
    return figure(
        "timeline",
        "When trials were under way",
        f"A line is a trial, from when it was handed out until its result came in. {found.utilization:.0%} of the "
        "slots' time was used.",
        [panel("Timeline", traces, layout, 320)],
    )


def _unit(seconds: float) -> tuple[str, float]:
    units = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0))
    return next(((name, size) for name, size in units if seconds > 2.0 * size), ("seconds", 1.0))
