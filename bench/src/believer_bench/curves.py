"""Figures of the bench: regret curves, final values, the effect of the batch size, and an overview of all members.

All members share a figure: the best few and the reference have colors, the others are gray, and each is named
where its line ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from believer.arrays import Array
from believer.experiments import bootstrap_interval
from believer.plot.figure import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, entitle, new_figure, plain_ticks
from believer_bench.advice import Advice
from believer_bench.declared import FEASIBLE, HYPERVOLUME
from believer_bench.runs import Case, Run, members_of, size_name
from believer_bench.summary import CurveAxis, Line, RegretCurve, curve, regret_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = (BLUE, ORANGE, GREEN, RED)
_SOFT = "#BDBDBD"
_DECADES = 1e-6
"""Regrets below this share of the largest are drawn as if they were it: a log axis has no zero."""
GAP = 0.052
"""Least distance of two labels, in heights of the axes."""


def colors_of(lines: Sequence[Line], reference: str | None) -> dict[str, str]:
    """A color for the best four members of a case and, in black, for the reference."""
    best = [line.member for line in lines if line.member != reference][: len(_COLORS)]
    chosen = dict(zip(best, _COLORS, strict=False))
    return chosen if reference is None else {**chosen, reference: BLACK}


def draw_curves(
    lines: Sequence[Line], runs: Sequence[Run], sequential_runs: Sequence[Run], reference: str | None
) -> Figure:
    """Medians at equal evaluations and at equal iterations, with the quartiles of the reference and the best other.

    lines, runs: of one case. alone: runs of one member with one point at a time, shown beside; may be none.
    """
    case = lines[0].case
    colors = colors_of(lines, reference)
    banded = [line.member for line in lines if line.member != reference][:1] + [m for m in colors if m == reference]
    sequential = f"{sequential_runs[0].member}, sequential" if sequential_runs else ""
    axis_of: list[CurveAxis] = ["evaluations", "iterations"] if case.q > 1 else ["evaluations"]
    height = max(4.8, 1.4 + 0.21 * len(lines))  # inches: a label takes a fifth of one
    figure = new_figure(1.5 + 4.75 * len(axis_of), height)
    panels = figure.subplots(1, len(axis_of), sharey=True, squeeze=False)[0]
    floor = _floor(runs)
    for axes, axis in zip(panels, axis_of, strict=True):
        ends = {}
        for line in reversed(lines):
            own = curve([run for run in runs if run.member == line.member], axis)
            ends[line.member] = _draw(axes, case, own, colors.get(line.member), floor, band=line.member in banded)
        if sequential_runs:
            last = case.budget if axis == "evaluations" else max(len(run.batches) for run in runs)
            ends[sequential] = _draw(
                axes, case, _until(curve(sequential_runs, axis), last), BLACK, floor, "--", band=False
            )
        _dress(axes, case, axis, f"iterations (batches of {case.q})")
    panels[0].set_ylabel(_value_name(case))
    _label_ends(panels[-1], ends, {**colors, sequential: BLACK}, GAP * 4.8 / height)
    seeds = sorted({line.seeds for line in lines})
    over = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    about = f"medians over {over} seeds; bands: quartiles of {' and '.join(banded)}"
    entitle(figure, literal(case.problem), literal(f"{case.terms}\n{about}"))
    return figure


def _until(c: RegretCurve, last: float) -> RegretCurve:
    kept = c.x <= last
    return RegretCurve(c.x[kept], c.low[kept], c.middle[kept], c.high[kept])


def draw_ends(lines: Sequence[Line], runs: Sequence[Run], reference: str | None) -> Figure:
    """Draw the final values of a case: a row for each member, a dot for each seed, the median with its interval."""
    case = lines[0].case
    colors = colors_of(lines, reference)
    floor = _floor(runs)
    figure = new_figure(8.0, 1.5 + 0.3 * len(lines))
    axes = figure.subplots()
    for row, line in enumerate(lines):
        best = np.array([run.final for run in runs if run.member == line.member])
        color = colors.get(line.member, GRAY)
        shown = _shown(case, best, floor)
        axes.plot(shown, row + 0.25 * _jitter(len(best)), "o", color=color, ms=4, alpha=0.45, mew=0)
        if len(best) > 1:
            axes.plot(_shown(case, np.array(bootstrap_interval(best)), floor), [row, row], color=color, lw=2, alpha=0.6)
        axes.plot(_shown(case, np.median(best, keepdims=True), floor), [row], "|", color=color, ms=16, mew=2)
    axes.set_yticks(range(len(lines)), [literal(line.member) for line in lines])
    axes.invert_yaxis()
    axes.grid(axis="y", color="#EEEEEE", zorder=0)
    axes.set_axisbelow(True)
    if case.optimum is not None:
        _log(axes, "x")
    axes.set_xlabel(_value_name(case))
    about = "each seed, the median and its 95 % interval; best mean rank first"
    entitle(figure, literal(case.problem), f"{case.terms}\n{about}")
    return figure


def draw_sizes(member: str, by_case: Mapping[Case, Sequence[Run]]) -> Figure:
    """One member with several batch sizes, at equal evaluations and at equal iterations."""
    figure = new_figure(11.0, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    axis_of: tuple[CurveAxis, CurveAxis] = ("evaluations", "iterations")
    names = {case: "sequential" if case.q == 1 else f"q={case.q}" for case in by_case}
    colors = dict(zip(names.values(), (BLACK, *_COLORS, *[GRAY] * len(names)), strict=False))
    everyone = [run for runs in by_case.values() for run in runs]
    floor, task = _floor(everyone), everyone[0].case
    for axes, axis in zip(panels, axis_of, strict=True):
        ends = {}
        for case, runs in by_case.items():
            style = "--" if case.q == 1 else "-"
            ends[names[case]] = _draw(axes, case, curve(runs, axis), colors[names[case]], floor, style)
        _dress(axes, task, axis, "iterations (batches)")
        if axis == "evaluations":
            _label_ends(axes, ends, colors)
        else:
            _label_at_ends(axes, ends, colors)
    panels[0].set_ylabel(_value_name(task))
    entitle(figure, literal(f"{member} on {task.problem}"), "what the size of a batch changes")
    return figure


def draw_overview(advice: Advice, lines: Sequence[Line]) -> Figure:
    """All members of one batch size: mean rank, time and spread, a row for each."""
    placings = advice.placings
    figure = new_figure(11.0, 1.7 + 0.3 * len(placings))
    several = advice.q > 1
    panels = figure.subplots(1, 3 if several else 2, sharey=True, squeeze=False)[0]
    best = advice.verdict
    for row, placing in enumerate(placings):
        worse = best is not None and placing.better == best
        color = GRAY if worse else BLUE
        panels[0].plot(placing.rank, row, "o", color=color, ms=8)
        if placing.ms is not None:
            panels[1].plot(placing.ms, row, "o", color=color, ms=8)
        own = [line for line in lines if line.case.q == advice.q and line.member == placing.member]
        found = [100.0 * line.spread for line in own if line.spread is not None]
        for axes in panels[2:]:
            axes.plot(found, [row] * len(found), "o", color=color, ms=6, alpha=0.7)
    titles = ("mean rank", f"ms{advice.clock} a batch", "spread (% of random pairs)")
    for axes, title in zip(panels, titles, strict=False):
        axes.set_xlabel(title)
        axes.grid(color="#EEEEEE")
        axes.set_axisbelow(True)
    panels[0].set_xlim(0.5, len(placings) + 0.5)
    panels[0].xaxis.get_major_locator().set_params(integer=True)
    _log(panels[1], "x")
    for axes in panels[2:]:
        axes.set_xlim(0.0, max(105.0, axes.get_xlim()[1]))
    panels[0].set_yticks(range(len(placings)), [literal(s.member) for s in placings])
    panels[0].set_ylim(len(placings) - 0.4, -0.6)
    told = "blue: not shown worse than the best" if best is not None else "too few seeds to say who is worse"
    dots = "; spread: a dot for each problem" if several else ""
    entitle(figure, size_name(advice.q), f"{advice.evidence}\n{told}{dots}")
    return figure


def _floor(runs: Sequence[Run]) -> float:
    """The least regret that is drawn."""
    if runs[0].case.optimum is None:
        return -np.inf
    start = [float(regret_of(run.case, run.best[~np.isnan(run.best)])[0]) for run in runs]
    return _DECADES * max([*start, 1e-300])


def _shown(case: Case, best: Array, floor: float) -> Array:
    """Regret where the optimum is known, the user's values elsewhere."""
    if case.optimum is None:
        return case.sign * best
    shown: Array = np.maximum(regret_of(case, best), floor)
    return shown


def _value_name(case: Case) -> str:
    if case.optimum is not None:
        known = {HYPERVOLUME: "hypervolume that is missing", FEASIBLE: "regret of the best feasible value"}
        return known.get(case.measure, "regret")
    what = HYPERVOLUME if case.measure == HYPERVOLUME else f"best {case.measure}"
    return f"{what} (more is better)" if case.maximize else f"{what} (less is better)"


def _dress(axes: Axes, case: Case, axis: CurveAxis, iterations: str) -> None:
    if case.optimum is not None:
        _log(axes, "y")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("evaluations" if axis == "evaluations" else iterations)
    axes.set_title(f"at equal {axis}", fontsize=10)
    axes.margins(x=0.0)


def _log(axes: Axes, which: Literal["x", "y"]) -> None:
    """A log axis; around one value only, which matplotlib does not widen by itself, a decade."""
    low, high = axes.dataLim.intervalx if which == "x" else axes.dataLim.intervaly
    if low == high:
        axes.set(**{f"{which}lim": (low / 3.0, 3.0 * high)})
    axes.set(**{f"{which}scale": "log"})
    plain_ticks(axes.xaxis if which == "x" else axes.yaxis)


def _draw(
    axes: Axes, case: Case, c: RegretCurve, color: str | None, floor: float, style: str = "-", band: bool = True
) -> tuple[float, float]:
    """One member's curve, gray without a color; where it ends."""
    y = _shown(case, c.middle, floor)
    if band:
        low, high = _shown(case, c.low, floor), _shown(case, c.high, floor)
        axes.fill_between(c.x, low, high, color=color or _SOFT, alpha=0.14, lw=0)
    axes.plot(c.x, y, style, color=color or _SOFT, lw=1.8 if color else 1.0, zorder=3 if color else 2)
    return float(c.x[-1]), float(y[-1])


def _label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], colors: Mapping[str, str], gap: float = GAP
) -> None:
    """Name every line to the right of the axes, moved apart where labels would overlap, with a hair to its end."""
    to_axes = axes.transAxes.inverted()
    heights = {name: float(to_axes.transform(axes.transData.transform(end))[1]) for name, end in ends.items()}
    names = sorted(heights, key=heights.__getitem__)
    places = apart([heights[name] for name in names], gap)
    for name, place in zip(names, places, strict=True):
        color = colors.get(name, GRAY)
        weight = "bold" if name in colors else "normal"
        axes.annotate(
            literal(name),
            xy=(1.0, heights[name]),
            xytext=(1.06, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=color,
            fontsize=8,
            fontweight=weight,
            va="center",
            arrowprops={"arrowstyle": "-", "color": color, "lw": 0.5, "shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)},
            annotation_clip=False,
        )


def _label_at_ends(axes: Axes, ends: Mapping[str, tuple[float, float]], colors: Mapping[str, str]) -> None:
    """Name every line just after its end; for lines that end at different places."""
    for name, (x, y) in ends.items():
        axes.annotate(
            name,
            (x, y),
            (4, 0),
            textcoords="offset points",
            color=colors[name],
            fontsize=8,
            fontweight="bold",
            va="center",
        )


def apart(heights: Sequence[float], gap: float = GAP) -> list[float]:
    """Rising heights, moved as little as need be to be a gap apart and inside the axes."""
    groups: list[tuple[float, int]] = []  # middle of a group of labels, their number
    for height in heights:
        groups.append((height, 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < 0.5 * gap * (groups[-1][1] + groups[-2][1]):
            (b, many), (a, others) = groups.pop(), groups.pop()
            groups.append(((a * others + b * many) / (others + many), others + many))
    return [middle + gap * (i - (count - 1) / 2.0) for middle, count in groups for i in range(count)]


def literal(text: str) -> str:
    """A user's text, escaped so that matplotlib reads no mathematics in it."""
    return text.replace("$", r"\$")


def _jitter(count: int) -> Array:
    """Places in [-1, 1] that tell equal values apart."""
    return np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1)


def sequential_runs_of(runs: Sequence[Run], reference: str | None) -> list[Run]:
    """The runs with one point at a time, of the reference or of the first member."""
    members = members_of(runs)
    who = reference if reference in members else next(iter(members), None)
    return [run for run in runs if run.member == who]
