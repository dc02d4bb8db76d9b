"""Figures of the posterior of a study's models."""

from __future__ import annotations

import numpy as np

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.page.cells import Json, label, numbers, point
from believer.page.rows import PageRows, units_of
from believer.page.traces import (
    band,
    bars,
    figure,
    heat,
    interval,
    limit_lines,
    line,
    panel,
    parameter_axis,
    points,
    value_axis,
)
from believer.plot import data
from believer.plot.data import Curve, Feasibility, FrontPair, Importance, Lies, LieStep, Source
from believer.plot.data.importance import by_descriptors, lengthscales_of
from believer.plot.data.source import with_article

MAX_CURVES = 8
"""The number of parameters along which an outcome is shown: those that matter most."""

_FAINT = 0.15
_MAX_INTERVALS = 300
_THIN: Json = {"thickness": 1, "width": 0}


def by_relevance(source: Source) -> tuple[str, ...]:
    """Names of the parameters that have more than one value, those that matter most first."""
    axes = source.by_relevance(source.outputs[0])
    return tuple(axis.name for axis in axes if not axis.is_constant) or tuple(axis.name for axis in axes)


def slices(source: Source, rows: PageRows) -> Json:
    """The posterior along each parameter, through the best result."""
    names, known = by_relevance(source)[:MAX_CURVES], [o for o in source.outputs if source.has_results(o)]
    curves = [curve for name in known for curve in data.slice(source, parameters=names, outcome=name)]
    through = curves[0].through or {}
    left = len([axis for axis in source.axes if not axis.is_constant]) - len(names)
    more = (
        f" The {len(names)} parameters that matter most to the model are shown, of {len(names) + left}." if left else ""
    )
    return figure(
        "slice",
        f"What the model expects around {with_article(source.star)}",
        "Along each parameter, while the others stay at the star. The line is the expected value and the band holds "
        "the value, without noise, with a probability of 95 %. The nearer a result is to the slice, the stronger its "
        f"color.{more} The star: {point(through, units_of(source))}.",
        [_curve(curve, rows, True) for curve in curves],
    )


def dependence(source: Source, rows: PageRows, samples: int) -> Json:
    """Partial dependence on each parameter."""
    curves = data.partial_dependence(source, parameters=by_relevance(source)[:MAX_CURVES], samples=samples)
    return figure(
        "dependence",
        "What the model expects on average",
        f"Partial dependence: {curves[0].label} along each parameter, averaged over {samples} points of the space in "
        "the others, with a 95 % interval of that average. Points are results.",
        [_curve(curve, rows, False) for curve in curves],
    )


def _curve(found: Curve, rows: PageRows, is_slice: bool) -> Json:
    axis, traces = found.axis, list[Json]()
    if axis.is_discrete:
        traces.append(bars(axis.at, found.mean, found.low, found.high))
    else:
        traces += [*band(axis.at, found.low, found.high), line(axis.at, found.mean, "@blue")]
    faded = np.maximum(_FAINT, found.nearness) if is_slice else np.full(len(found.ids), 0.4)
    opacity = numbers(np.round(faded, 2)) if is_slice else 0.4
    at = rows.along(axis, found.at)
    traces.append(points(found.ids, at, found.values, "@gray", size=6, opacity=opacity))
    if found.best is not None:
        one = [found.best]
        traces.append(points(found.ids[one], found.at[one], found.values[one], "@red", symbol="star", size=13))
    layout = {
        "xaxis": parameter_axis(axis),
        "yaxis": value_axis(found.label),
        "shapes": limit_lines(found.limits),
    }
    return panel(f"{found.label} along {axis.label}", traces, layout, 280)


def surface(source: Source, rows: PageRows) -> Json:
    """The posterior mean and standard deviation along two parameters."""
    found = data.surface(source)
    x, y, known = found.x, found.y, np.isfinite(found.values)
    across, up = (rows.along(axis, found.at[known, i]) for i, axis in enumerate((x, y)))
    over = [points(found.ids[known], across, up, "@ground", size=5, line={"width": 1, "color": "@ink"})]
    if found.best is not None:
        place = [found.best]
        star = points(found.ids[place], found.at[place, 0], found.at[place, 1], "@red", symbol="star", size=13)
        over.append({**star, "marker": {**star["marker"], "line": {"width": 1, "color": "@ground"}}})
    layout = {"xaxis": parameter_axis(x), "yaxis": parameter_axis(y)}
    scale: Json = {"reversescale": not found.maximize}
    return figure(
        "surface",
        "The two parameters that matter most",
        f"Expected {found.label} (first) and its standard deviation (second) while the other parameters stay at the "
        "star. Points are all results, also those far from this slice.",
        [
            panel(f"Expected {found.label}", [heat(x, y, found.mean, "expected", **scale), *over], layout, 340),
            panel("Standard deviation", [heat(x, y, found.std, "std", "Greys"), *over], layout, 340),
        ],
    )


def importance(source: Source, rows: PageRows, quick: bool) -> Json:
    """The importance of parameters for each outcome; ``quick`` leaves out intervals that take long to compute."""
    panels = []
    for outcome in source.outputs:
        if not source.has_results(outcome):
            continue
        found = _quick_importance(source, outcome) if quick else data.importance(source, outcome=outcome)
        values, low, high = (part[::-1] for part in (found.values, found.low, found.high))
        trace = {
            "type": "bar",
            "orientation": "h",
            "x": numbers(values),
            "y": [*range(len(values))],
            "marker": {"color": "@blue"},
            "error_x": interval(values, low, high, "@black", thickness=1.5),
            "hoverinfo": "x",
        }
        ticks = [label(name, 40) for name in found.titles[::-1]]
        layout = {
            "xaxis": {"title": {"text": found.measure}, "type": "linear", "rangemode": "tozero"},
            "yaxis": {"type": "linear", "tickmode": "array", "tickvals": [*range(len(ticks))], "ticktext": ticks},
            "title": {"text": label(found.label), "font": {"size": 13}},
            "margin": {"l": 50, "r": 12, "t": 36, "b": 40},
        }
        panels.append(panel(f"Importance for {found.label}", [trace], layout, min(900, 110 + 26 * len(ticks))))
    return figure(
        "importance",
        "Which parameters matter",
        "A parameter with a short lengthscale changes the outcome within a small part of its range. Error bars are "
        "95 % intervals, where they are known.",
        panels,
    )


def _quick_importance(source: Source, outcome: str) -> Importance:
    scales = lengthscales_of(source, outcome)
    if scales is None:
        raise InvalidInput("a model without lengthscales takes a while to say what matters.")
    shares = (1.0 / scales) / max(float((1.0 / scales).sum()), 1e-300)
    order, unknown = np.argsort(-shares, kind="stable"), np.full(len(shares), np.nan)
    names = tuple(source.axes[i].name for i in order)
    measure = "share of all inverse lengthscales"
    used = by_descriptors(source, outcome)
    return Importance(source.label(outcome), "lengthscales", measure, names, shares[order], unknown, unknown, used)


def calibration(source: Source, rows: PageRows) -> Json:
    """Leave-one-out predictions against results."""
    panels, words = [], []
    for outcome in source.outputs:
        if not source.has_results(outcome):
            continue
        found = data.calibration(source, outcome=outcome)
        trace = points(found.ids, found.observed, found.mean, "@blue", size=6)
        if len(found.ids) <= _MAX_INTERVALS:
            trace["error_y"] = interval(found.mean, found.low, found.high, **_THIN)
        ends = np.array([found.observed.min(), found.observed.max()])
        layout = {
            "xaxis": {**value_axis(f"observed {found.label}")},
            "yaxis": {**value_axis("expected without it")},
        }
        panels.append(
            panel(f"Calibration of {found.label}", [line(ends, ends, "@gray", dash="dash"), trace], layout, 320)
        )
        inside = float(((found.observed >= found.low) & (found.observed <= found.high)).mean())
        explained = f", R² is {found.r2:.2f}" if np.isfinite(found.r2) else ""
        words.append(f"{found.label}: {inside:.0%} of the results are in their 95 % interval{explained}.")
    return figure(
        "calibration",
        "How well the model predicts",
        "Each result beside what the model expects when it does not know that result. " + " ".join(words),
        panels,
    )


def front(source: Source, rows: PageRows) -> Json:
    """The Pareto front, for each pair of objectives."""
    return figure(
        "front",
        "The Pareto front",
        "No trial that keeps all limits beats a point of the front in all objectives, by what the models expect "
        "without noise. Crosses are 95 % intervals of that.",
        [_front(pair) for pair in data.front(source)],
    )


def _front(found: FrontPair) -> Json:
    kept, n = found.keeps_limits, len(found.ids)
    rest = ~np.isin(np.arange(n), found.on_front)
    traces = []
    if len(found.steps):
        traces.append(line(found.steps[:, 0], found.steps[:, 1], "@blue", name="border", dash="dot"))
    for name, mask, color, symbol in (
        ("dominated", rest & kept, "@gray", "circle"),
        ("outside a limit, or partial", rest & ~kept, "@orange", "circle-open"),
    ):
        if mask.any():
            x, y = found.values[mask, 0], found.values[mask, 1]
            traces.append(points(found.ids[mask], x, y, color, name=name, symbol=symbol))
    x, y = found.values[found.on_front, 0], found.values[found.on_front, 1]
    best = points(found.ids[found.on_front], x, y, "@blue", name="front", size=9)
    mean, low, high = found.expected, found.low, found.high
    spread = {
        **line(mean[:, 0], mean[:, 1], "@blue", name="expected"),
        **{"mode": "markers", "marker": {"color": "@blue", "size": 3}},
    }
    for key, i in (("error_x", 0), ("error_y", 1)):
        spread[key] = interval(mean[:, i], low[:, i], high[:, i], **_THIN)
    traces += [spread, best]
    if found.reference is not None:
        cross = {**line(found.reference[:1], found.reference[1:], "@red", name="reference"), "mode": "markers"}
        traces.append({**cross, "marker": {"color": "@red", "symbol": "cross-thin-open", "size": 12}})
    layout = {"xaxis": value_axis(found.labels[0]), "yaxis": value_axis(found.labels[1]), "showlegend": True}
    return panel(f"{found.labels[0]} and {found.labels[1]}", traces, layout, 400)


def feasibility(source: Source, rows: PageRows) -> Json:
    """The probability that all limits are kept."""
    found = data.feasibility(source)
    parts = {"all limits": found.probability, **(found.parts if len(found.parts) > 1 else {})}
    return figure(
        "feasibility",
        "Where the limits are kept",
        "The probability that a point keeps its limits, while the other parameters stay at "
        f"{with_article(source.star)}. Trials: blue keep them, orange do not, crosses failed.",
        [_probable(found, rows, name, part) for name, part in parts.items()],
    )


def _probable(found: Feasibility, rows: PageRows, name: str, probability: Array) -> Json:
    verdict, traces = np.array(found.verdict), list[Json]()
    if len(found.axes) == 2:
        x, y = found.axes
        traces.append(heat(x, y, probability, "probability", "Greys", zmin=0.0, zmax=1.0))
    else:
        traces.append(line(found.axes[0].at, probability, "@blue"))
    looks = {"feasible": ("@blue", "circle"), "infeasible": ("@orange", "circle"), "failed": ("@red", "x")}
    for kind, (color, symbol) in looks.items():
        mask = verdict == kind
        if mask.any():
            at = [rows.along(axis, found.at[mask, i]) for i, axis in enumerate(found.axes)]
            up = at[1] if len(at) == 2 else np.full(mask.sum(), 1.0 if kind == "feasible" else 0.0)
            edge = {"width": 0.5, "color": "@ground"}
            traces.append(points(found.ids[mask], at[0], up, color, name=kind, symbol=symbol, size=6, line=edge))
    other = parameter_axis(found.axes[1]) if len(found.axes) == 2 else {"title": {"text": "probability"}}
    layout = {
        "xaxis": parameter_axis(found.axes[0]),
        "yaxis": other,
        "title": {"text": label(name), "font": {"size": 13}},
        "margin": {"l": 50, "r": 12, "t": 36, "b": 40},
    }
    return panel(f"Probability: {name}", traces, layout, 340)


def lies(source: Source, rows: PageRows, q: int) -> Json:
    """The pending or the next batch, before and after each pseudo-observation."""
    found = data.lies(source, min(q, 3))
    what = "pending trials" if found.batch == "pending" else "next batch"
    worth = f"{found.worth_label[:1].upper()}{found.worth_label[1:]}"
    return figure(
        "lies",
        f"Why these points: the {what}, one by one",
        f"{worth} in a slice through the first point, before and after {found.verb} each point. The star is chosen "
        "next; squares were chosen before it, and what is worth most moves away from them.",
        [_step(found, step) for step in found.steps],
    )


def _step(found: Lies, step: LieStep) -> Json:
    axes, traces = found.axes, list[Json]()
    worth = np.where(np.isfinite(step.worth), step.worth, np.nan)
    if len(axes) == 2:
        ends: Json = {"zmin": 0.0, "zmax": 1.0} if not np.nanmax(worth, initial=0.0) else {}
        traces.append(heat(axes[0], axes[1], worth, "acquisition", **ends))
    else:
        traces.append(line(axes[0].at, worth, "@blue"))
    if len(step.lie_ids):
        up = step.lie_at[:, 1] if len(axes) == 2 else np.full(len(step.lie_ids), np.nanmin(worth))
        edge = {"width": 2, "color": "@ground"}
        traces.append(points(step.lie_ids, step.lie_at[:, 0], up, "@orange", symbol="square", size=10, line=edge))
    if step.next_at is not None and step.next_id is not None:
        x, up = step.next_at[:1], step.next_at[1:] if len(axes) == 2 else np.array([step.next_worth], dtype=np.float64)
        edge = {"width": 1, "color": "@ground"}
        traces.append(points([step.next_id], x, up, "@red", symbol="star", size=14, line=edge))
    after = f"after {found.verb} {step.lies} point{'s' if step.lies > 1 else ''}" if step.lies else "at first"
    layout = {
        "xaxis": parameter_axis(axes[0]),
        "yaxis": parameter_axis(axes[1]) if len(axes) == 2 else value_axis(found.worth_label),
        "title": {"text": label(after), "font": {"size": 13}},
        "margin": {"l": 50, "r": 12, "t": 36, "b": 40},
    }
    return panel(f"{found.worth_label} {after}", traces, layout, 320)
