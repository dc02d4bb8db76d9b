"""The paper's figures of the Structural Diversity Diagnostic.

The paper shows one data set. Bars also show one data set, that of the first seed; dots show the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from believer.arrays import Array
from believer.diagnostics import (
    BLACK,
    BLUE,
    GRAY,
    GREEN,
    ORANGE,
    Measurement,
    distances,
    legend_below,
    new_figure,
    plain_ticks,
)
from believer_paper.cells.diagnoses import AS_PRINTED
from believer_paper.figures.loops import box_side, with_grid
from believer_paper.numbers.printed import TABLE_2, TABLE_7, TABLE_8, TABLE_11, Distances
from believer_paper.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SURROGATES = {"gp": "GP", "mq_rbf": "MQ-RBF", "neural": "NN", "forest": "RF"}
UPDATES = dict(AS_PRINTED)
_RETRAINED = {
    ("gp", "condition"): "GP, conditioned",
    ("mq_rbf", "condition"): "MQ-RBF, re-solved",
    ("neural", "none"): "NN, as it was",
    ("neural", "refit"): "NN, retrained",
    ("forest", "none"): "RF, as it was",
    ("forest", "refit"): "RF, rebuilt",
}
_COLORS = (BLUE, ORANGE, GREEN)
_HATCHES = ("", "//", "..")
_WIDTH = 0.8
_MIN = 1e-6
_NAUGHT = 0.0005
"""Numbers below this are zero when printed with three decimals."""

_IN_PAPER = "printed in the paper"
_ACQUISITIONS = {
    **{("printed", "ei"): "EI", ("ours", "ei"): "LogEI"},
    **{("printed", "ucb"): "UCB", ("ours", "ucb"): "UCB"},
}

Groups: TypeAlias = Mapping[str, Sequence[Measurement]]
PrintedNumber: TypeAlias = Callable[[Measurement], float]


@dataclass(frozen=True, slots=True)
class Series:
    """A bar in each group: its name, the function that reads it from a measurement, and the paper's number by group."""

    name: str
    number: PrintedNumber
    paper: Sequence[float | None] = ()


def pairwise(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 5: the distances of all pairs of a batch, from fixed starts, q = 2 and 3."""
    panels = _both_sizes(results, preset)
    if panels is None:
        return None
    figure, several = _panels()
    for axes, (q, groups) in zip(several, panels.items(), strict=True):
        pairs = zip(*np.triu_indices(q, 1), strict=True)
        _bars(axes, groups, [Series(f"members {i + 1} and {j + 1}", _pair(k)) for k, (i, j) in enumerate(pairs)])
        axes.set_title(f"q = {q}", fontsize=11)
    several[0].set_ylabel("distance of two members (unit cube)")
    legend_below(figure)
    return figure, _about(*panels.values())


def restarts(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 6: the least distance from fixed starts, and from random restarts that all members share."""
    panels = _both_sizes(results, preset)
    if panels is None:
        return None
    figure, several = _panels()
    for axes, (q, groups) in zip(several, panels.items(), strict=True):
        paper = [TABLE_2[surrogate, q].minimum for surrogate in SURROGATES]
        fixed = Series("fixed starts", lambda m: m.fixed.min_distance, paper)
        _bars(axes, groups, [fixed, Series("random restarts, reused", lambda m: m.random.min_distance)])
        axes.set_title(f"q = {q}", fontsize=11)
    several[0].set_ylabel("least distance of two members (unit cube)")
    legend_below(figure)
    return figure, _about(*panels.values())


def retrained(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 18: distances and seconds of a batch, with surrogates conditioned, left as they were, and retrained."""
    groups = {
        label: _measured(results, preset, surrogate, 3, update=update)
        for (surrogate, update), label in _RETRAINED.items()
    }
    if not all(groups.values()):
        return None
    rows = [TABLE_7[key] for key in _RETRAINED]
    figure = new_figure(7.5, 4.2)
    apart, cost = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _bars(apart, groups, _least_and_mean(rows), across=True)
    apart.set_xlabel("distance of two members (unit cube)")
    cost.set_xscale("log")
    _bars(cost, groups, [Series("", lambda m: m.fixed.seconds, [row.seconds for row in rows])], across=True, time=True)
    plain_ticks(cost.xaxis)
    cost.set_xlabel("seconds to build the batch")
    apart.invert_yaxis()
    legend_below(figure)
    return figure, f"q = 3, {_about(groups)}"


def acquisitions(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 19: the least and the mean distance under EI and under UCB."""
    panels = {
        acquisition: {
            label: _measured(results, preset, surrogate, 3, acquisition=acquisition)
            for surrogate, label in SURROGATES.items()
        }
        for acquisition in ("ei", "ucb")
    }
    if not all(all(groups.values()) for groups in panels.values()):
        return None
    figure, several = _panels()
    for axes, (acquisition, groups) in zip(several, panels.items(), strict=True):
        _bars(axes, groups, _least_and_mean([TABLE_8[surrogate, acquisition] for surrogate in SURROGATES]))
        axes.set_title(_ACQUISITIONS[preset, acquisition], fontsize=11)
    several[0].set_ylabel("distance of two members (unit cube)")
    legend_below(figure)
    return figure, f"q = 3, {_about(*panels.values())}"


def per_member(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 22: the least distance within the first k members of a batch of ten, k = 2 ... 10, in Levy's box."""
    q = max((one.cell.settings["q"] for one in results.of("sdd", preset=preset, problem="levy10")), default=0)
    groups = {name: _measured(results, preset, name, q, problem="levy10") for name in ("gp", "mq_rbf")}
    if not all(groups.values()):
        return None
    side = box_side("levy10")
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    for (name, measured), color, style in zip(groups.items(), (BLUE, ORANGE), ("o-", "s--"), strict=True):
        for number, m in enumerate(measured):
            least = np.maximum(side * np.minimum.accumulate(m.fixed.nearest), _MIN)
            looks: dict[str, Any] = (
                {"lw": 2.0, "ms": 6, "zorder": 3} if number == 0 else {"lw": 0.8, "ms": 0, "alpha": 0.5}
            )
            label = SURROGATES[name] + (", other data sets" if number else "")
            axes.plot(np.arange(2, q + 1), least, style, color=color, label=label, **looks)
        axes.plot(q + 0.3, TABLE_11[name].minimum, style[0], color=color, mfc="white", ms=7)
    axes.plot([], [], "o", color=BLACK, mfc="white", label="the paper's, of ten")
    axes.axhline(side * groups["gp"][0].random_pair, color=BLACK, lw=1, ls="--", label="two random points, mean")
    axes.set(yscale="log", xlabel="members chosen", ylabel="least distance so far (box)")
    plain_ticks(axes.yaxis)
    axes.set_xticks(range(2, q + 1))
    with_grid(axes)
    legend_below(figure)
    return figure, f"q = {q}, the box has side {side:g}"


def _least_and_mean(rows: Sequence[Distances]) -> list[Series]:
    return [
        Series("least distance", lambda m: m.fixed.min_distance, [row.minimum for row in rows]),
        Series("mean distance", lambda m: m.fixed.mean_distance, [row.mean for row in rows]),
    ]


def _measured(results: Results, preset: str, surrogate: str, q: int, **settings: str) -> list[Measurement]:
    """The measurements with CL-min and EI on Hartmann-6D, unless ``settings`` say otherwise."""
    wanted = {"problem": "hartmann6", "update": UPDATES[surrogate], "lie": "cl_min", "acquisition": "ei"}
    return results.measurements(preset, surrogate, n=30, q=q, **{**wanted, **settings})


def _both_sizes(results: Results, preset: str) -> dict[int, Groups] | None:
    panels: dict[int, Groups] = {
        q: {label: _measured(results, preset, surrogate, q) for surrogate, label in SURROGATES.items()} for q in (2, 3)
    }
    return panels if all(all(groups.values()) for groups in panels.values()) else None


def _pair(number: int) -> PrintedNumber:
    """The distance of the pair of that number, in the order of ``distances``."""
    return lambda m: float(distances(m.fixed.points, np.ones(len(m.fixed.points[0])))[number])


def _bars(axes: Axes, groups: Groups, series: Sequence[Series], across: bool = False, time: bool = False) -> None:
    """Draw a group of bars for each surrogate: its first measurement, with dots for others and diamonds for the paper.

    across: whether bars are horizontal. time: whether they show seconds in place of distances.
    """
    width = _WIDTH / len(series)
    for k, one in enumerate(series):
        at = np.arange(len(groups)) + width * (k - (len(series) - 1) / 2)
        values = [one.number(measured[0]) for measured in groups.values()]
        looks: dict[str, Any] = {
            "color": GRAY if time else _COLORS[k],
            "hatch": _HATCHES[k],
            "edgecolor": "white",
            "label": one.name,
        }
        (axes.barh if across else axes.bar)(at, values, width, **looks)
        for place, value, measured in zip(at, values, groups.values(), strict=True):
            rest = np.array([one.number(m) for m in measured[1:]])
            if len(rest):  # an empty line that is not clipped has no extent that a layout could use
                _mark(axes, across, place + 0.6 * width * _jitter(len(rest)), rest, "o", BLACK, 3.5)
            if value < _NAUGHT and not time:
                _say_naught(axes, across, place)
        if one.paper:
            _mark(axes, across, at, one.paper, "D", "white", 5.0, label=_IN_PAPER)
    if not time:
        expected = next(iter(groups.values()))[0].random_pair
        line = axes.axvline if across else axes.axhline
        line(expected, color=BLACK, lw=1, ls="--", zorder=1, label="two random points, mean")
    (axes.set_yticks if across else axes.set_xticks)(range(len(groups)), list(groups))
    with_grid(axes)


def _mark(
    axes: Axes, across: bool, places: Any, values: Any, marker: str, face: str, size: float, label: str = ""
) -> None:
    edge = BLACK if face == "white" else "white"
    looks: dict[str, Any] = {"mfc": face, "mec": edge, "mew": 1.0 if face == "white" else 0.5, "ms": size, "zorder": 3}
    axes.plot(*((values, places) if across else (places, values)), marker, **looks, label=label, clip_on=False)


def _say_naught(axes: Axes, across: bool, place: float) -> None:
    """Mark a bar of height zero, which would otherwise look like a missing bar."""
    if across:
        axes.annotate("0", (0.0, place), (6, 0), textcoords="offset points", fontsize=9, va="center")
    else:
        axes.annotate("0", (place, 0.0), (0, 5), textcoords="offset points", fontsize=9, ha="center")


def _panels() -> tuple[Figure, list[Axes]]:
    figure = new_figure(7.5, 4.2)
    return figure, list(figure.subplots(1, 2, sharey=True))


def _jitter(count: int) -> Array:
    """Offsets in [-0.5, 0.5] that keep dots of equal values apart."""
    return np.linspace(-0.5, 0.5, count) if count > 1 else np.zeros(1)


def _about(*panels: Groups) -> str:
    several = any(len(measured) > 1 for groups in panels for measured in groups.values())
    return "bars: the first data set, dots: others" if several else "one data set"
