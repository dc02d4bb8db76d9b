"""Figures of the Structural Diversity Diagnostic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from believer.diagnostics.sdd_report import (
    DIVERSE_FROM,
    NO_RESPONSE,
    OTHER_REASON,
    PARTS,
    RESPONDS_DIVERSE,
    RESPONDS_FROM,
    RESPONDS_HIDDEN,
    SDDReport,
    own_response,
    verdict_of,
)
from believer.plot.figure import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, entitle, legend_below, new_figure
from believer.study import serialization

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {RESPONDS_DIVERSE: BLUE, RESPONDS_HIDDEN: ORANGE, NO_RESPONSE: GRAY, OTHER_REASON: RED}
_INK = {RESPONDS_DIVERSE: "white", RESPONDS_HIDDEN: BLACK, NO_RESPONSE: "white", OTHER_REASON: "white"}
_MIN = 1e-6


def draw(report: SDDReport) -> Figure:
    """Draw the least distances of every part, seed by seed, each member's distance to those before it, and the
    controls."""
    figure = new_figure(11.0, 4.6)
    parts, members_, controls = figure.subplots(1, 3, width_ratios=(5, 3, 4))
    _draw_parts(parts, report)
    _draw_members(members_, report)
    _draw_controls(controls, report)
    entitle(figure, "", f"{report.title}\n{report.verdict}")
    legend_below(figure)
    return figure


def _shown(values: Any) -> Any:
    """Distances for a log axis, at least 1e-6."""
    return np.maximum(np.asarray(values, dtype=np.float64), _MIN)


def _draw_parts(axes: Axes, report: SDDReport) -> None:
    named = [(name, label) for name, label in PARTS.items() if report.parts(name)]
    for row, (name, _) in enumerate(named):
        for seed, m in enumerate(report.measurements):
            verdict = verdict_of(m)
            y = row + 0.5 * ((seed + 0.5) / len(report.measurements) - 0.5)
            axes.plot(
                _shown(getattr(m, name).min_distance),
                y,
                "o",
                color=COLORS[verdict],
                ms=5,
                alpha=0.8,
                ls="",
                label=verdict,
            )
    axes.axvline(DIVERSE_FROM, color=BLACK, lw=1, ls="--", label="diverse from here")
    axes.axvline(report.measurements[0].random_pair, color=GREEN, lw=1, ls=":", label="random pairs, mean")
    axes.set_yticks(range(len(named)), [label for _, label in named])
    axes.invert_yaxis()
    axes.set(
        xscale="log",
        xlim=(_MIN / 2.0, 5.0),
        xlabel="least distance in the batch (1e-6: that or less)",
        title="every way to build it",
    )


def _draw_members(axes: Axes, report: SDDReport) -> None:
    for name, style, color in (("fixed", "o-", BLUE), ("free", "s-", GREEN), ("null", "x--", GRAY)):
        steps = _shown([part.nearest for part in report.parts(name)])
        members_ = np.arange(2, 2 + steps.shape[1])
        axes.plot(members_, np.median(steps, axis=0), style, color=color, ms=5, lw=1.5, label=PARTS[name])
    axes.axhline(DIVERSE_FROM, color=BLACK, lw=1, ls="--")
    axes.set(yscale="log", ylim=(_MIN / 2.0, 5.0), title="each member")
    axes.set(xlabel="member", ylabel="to the nearest before it, median")
    axes.set_xticks(members_)
    axes.margins(x=0.15)


def _draw_controls(axes: Axes, report: SDDReport) -> None:
    ms = report.measurements
    rows: list[tuple[str, list[float]]] = [
        ("the lie moved the acquisition", [own_response(m) for m in ms]),
        ("the update without it did", [m.null_free.response for m in ms]),
        ("starts that moved", [m.moved for m in ms if m.moved is not None]),
        ("acquisition reached", [m.reached for m in ms]),
    ]
    rows = [(label, values) for label, values in rows if values]
    for row, (_, values) in enumerate(rows):
        jitter = row + 0.5 * ((np.arange(len(values)) + 0.5) / len(values) - 0.5)
        colors = [COLORS[verdict_of(m)] for m in ms][: len(values)]
        axes.scatter(np.maximum(values, _MIN), jitter, c=colors, s=22, alpha=0.8)
    axes.axvline(RESPONDS_FROM, color=BLACK, lw=1, ls="--")
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.invert_yaxis()
    largest = max(max(values) for _, values in rows)
    axes.set(xscale="log", xlim=(_MIN / 2.0, max(1e2, 3.0 * largest)), xlabel="share", title="controls")


def draw_many(reports: list[SDDReport]) -> Figure:
    """A figure with a row for each surrogate: the number of data sets with each verdict."""
    figure = new_figure(9.0, 1.6 + 0.42 * len(reports))
    axes = figure.subplots()
    for row, report in enumerate(reports):
        draw_verdicts(axes, row, report)
    labels = [f"{serialization.brief(r.settings['surrogate'])}, {r.settings['update']}" for r in reports]
    axes.set_yticks(range(len(reports)), labels)
    axes.invert_yaxis()
    axes.set(xlabel="data sets", xlim=(0, max(len(r.measurements) for r in reports)))
    whole_ticks(axes)
    entitle(figure, "", "what the Structural Diversity Diagnostic says")
    legend_below(figure)
    return figure


def whole_ticks(axes: Axes) -> None:
    """Whole numbers along the x axis."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def draw_verdicts(axes: Axes, row: int, report: SDDReport) -> None:
    """A bar in ``row`` with the number of data sets for each verdict."""
    left = 0
    for verdict, count in report.verdicts.items():
        if count:
            axes.barh(row, count, left=left, color=COLORS[verdict], label=verdict, height=0.7)
            axes.text(left + count / 2, row, str(count), ha="center", va="center", color=_INK[verdict], fontsize=8)
        left += count
