"""The paper's figures of whole loops: the convergence of strategies, and the diversity of their batches.

A line is a mean over seeds and its bars are one standard deviation over seeds, as in the paper. A figure shows only the
seeds that all of its lines have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from believer.arrays import Array
from believer.batch import random_pair_distance
from believer.diagnostics import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, legend_below, new_figure
from believer.problems import PROBLEMS
from believer_paper.numbers.printed import Printed
from believer_paper.results import Loop, Results, paired
from believer_paper.setup.process import box_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The rest of Okabe and Ito's colors.
_SKY, _PURPLE = "#56B4E9", "#CC79A7"
_HEADROOM = 0.06
_BARS = 4
"""The approximate number of error bars of a line."""

_VALUES = {"svm_breast_cancer": "best cross-validated error"}

LoopAxis = Literal["evaluations", "iterations"]
LoopGroup: TypeAlias = dict[str, list[Loop]]
"""Loops by strategy."""


@dataclass(frozen=True, slots=True)
class LoopStyle:
    """The look of a strategy in every figure."""

    label: str
    color: str
    line: Any
    marker: str


STYLES: Mapping[str, LoopStyle] = {
    "cl_min": LoopStyle("CL-min", BLUE, "-", "o"),
    "cl_max": LoopStyle("CL-max", RED, ":", "v"),
    "cl_mean": LoopStyle("CL-mean", _SKY, "-.", "D"),
    "kb": LoopStyle("KB", GREEN, "--", "s"),
    "random": LoopStyle("random", GRAY, (0, (1, 1)), "X"),
    "sequential": LoopStyle("sequential", BLACK, (0, (6, 2)), "^"),
    "lp": LoopStyle("LP", _PURPLE, (0, (4, 1, 1, 1)), "P"),
    "qei": LoopStyle("q-EI", ORANGE, (0, (2, 1)), "*"),
}
LIES = ("cl_min", "cl_max", "cl_mean", "kb")


@dataclass(frozen=True, slots=True)
class Curves:
    """The loops that a figure shows: a panel for each batch size, a line for each strategy.

    printed_options: those of the loops of the printed set-up. finals: the paper's final values, by strategy and size.
    """

    problem: str
    strategies: tuple[str, ...]
    sizes: tuple[int, ...] = (2, 3)
    printed_options: Mapping[str, str] = field(default_factory=dict)
    finals: Mapping[tuple[str, int], Printed] = field(default_factory=dict)


def loops_of(results: Results, preset: str, curves: Curves) -> dict[int, LoopGroup] | None:
    """The loops of each batch size by strategy, all on the same seeds; None if a strategy has no loops."""
    options = dict(curves.printed_options) if preset == "printed" else {}
    found = results.of("loop", preset=preset, problem=curves.problem, noise=0.0, options=options)
    here = Results(tuple(found))
    keys = [(q, strategy) for q in curves.sizes for strategy in curves.strategies]
    groups = paired(*(_group(here, curves, preset, options, *key) for key in keys))
    if not groups[0]:
        return None
    panels: dict[int, LoopGroup] = {q: {} for q in curves.sizes}
    for (q, strategy), loops in zip(keys, groups, strict=True):
        panels[q][strategy] = loops
    return panels


def _group(here: Results, curves: Curves, preset: str, options: Any, q: int, strategy: str) -> list[Loop]:
    """The loops of the largest budget up to that of the first strategy: several figures share sequential runs."""
    most = max((one.cell.settings["budget"] for one in here.of("loop", strategy=curves.strategies[0], q=q)), default=0)
    size = 1 if strategy == "sequential" else q
    budgets = [one.cell.settings["budget"] for one in here.of("loop", strategy=strategy, q=size)]
    budget = max((b for b in budgets if b <= most), default=0)
    return here.loops(preset, curves.problem, strategy, size, options=options, budget=budget)


def convergence(results: Results, preset: str, curves: Curves) -> tuple[Figure, str] | None:
    """The best value against evaluations, a panel for each batch size."""
    panels = loops_of(results, preset, curves)
    if panels is None:
        return None
    return _converging(curves, [(f"q = {q}", q, group, "evaluations") for q, group in panels.items()])


def convergence_twice(results: Results, preset: str, curves: Curves) -> tuple[Figure, str] | None:
    """The best value against evaluations and, since a batch is evaluated at once, against iterations."""
    panels = loops_of(results, preset, curves)
    if panels is None:
        return None
    ways: tuple[LoopAxis, ...] = ("evaluations", "iterations")
    several = [(f"q = {q}, at equal {axis}", q, group, axis) for q, group in panels.items() for axis in ways]
    return _converging(curves, several)


def _converging(curves: Curves, panels: Sequence[tuple[str, int, LoopGroup, LoopAxis]]) -> tuple[Figure, str]:
    figure, several = _panels(len(panels))
    shown = []
    for axes, (title, q, group, axis) in zip(several, panels, strict=True):
        for number, (name, loops) in enumerate(group.items()):
            x, y = _best(loops, axis, group)
            shown.append(_line(axes, x, y, STYLES[name], number / len(group)))
        if axis == "evaluations":
            _finals(axes, curves, q, group)
        axes.set_title(title, fontsize=11)
        axes.set_xlabel("evaluations" if axis == "evaluations" else "iterations (batches)")
    several[0].set_ylabel(_VALUES.get(curves.problem, "best value"))
    finals = [(np.array([p.mean]), np.array([p.std or 0.0])) for p in curves.finals.values()]
    several[0].set_ylim(_limits([*shown, *finals]))
    _optimum(several, curves.problem)
    legend_below(figure)
    return figure, f"{_seeds(panels[0][2])}, mean ± 1 std"


def _best(loops: Sequence[Loop], axis: LoopAxis, group: LoopGroup) -> tuple[Array, Array]:
    """The positions (m,), and the best values there (seeds, m), from the end of the design on.

    Against iterations, as far as batches go: sequential runs have many more.
    """
    if axis == "evaluations":
        y = np.array([loop.best[loop.n_init - 1 :] for loop in loops])
        return loops[0].n_init + np.arange(y.shape[1], dtype=np.float64), y
    last = max(len(group[name][0].batches) for name in group if name != "sequential")
    y = np.array([loop.after_batches()[: last + 1] for loop in loops])
    return np.arange(y.shape[1], dtype=np.float64), y


def _finals(axes: Axes, curves: Curves, q: int, group: LoopGroup) -> None:
    """Draw the final values that the paper prints, beyond the end of the lines."""
    start, end = axes.dataLim.intervalx
    for number, name in enumerate(group):
        final = curves.finals.get((name, 1 if name == "sequential" else q))
        if final is not None:
            looks: dict[str, Any] = {
                "color": STYLES[name].color,
                "mfc": "white",
                "ms": 5,
                "elinewidth": 1.2,
                "capsize": 2,
            }
            x = end + (0.05 + 0.03 * number) * (end - start)
            axes.errorbar(x, final.mean, final.std, fmt=STYLES[name].marker, **looks)
    if curves.finals:
        axes.plot([], [], "o", color=BLACK, mfc="white", ms=5, label="the paper's final ± 1 std")


def diversity(results: Results, preset: str, curves: Curves) -> tuple[Figure, str] | None:
    """The mean distance of two members of a batch against iterations, in the unit cube."""
    return _diversity(results, preset, curves, raw=False)


def diversity_raw(results: Results, preset: str, curves: Curves) -> tuple[Figure, str] | None:
    """The figure of ``diversity`` in the units of the box."""
    return _diversity(results, preset, curves, raw=True)


def _diversity(results: Results, preset: str, curves: Curves, raw: bool) -> tuple[Figure, str] | None:
    panels = loops_of(results, preset, curves)
    if panels is None:
        return None
    figure, several = _panels(len(panels))
    side = box_side(curves.problem) if raw else 1.0
    expected = side * random_pair_distance(PROBLEMS[curves.problem]().space.region())
    shown = [(np.array([expected]), np.zeros(1))]
    for axes, (q, group) in zip(several, panels.items(), strict=True):
        for number, (name, loops) in enumerate(group.items()):
            y = np.array([loop.mean_distance_raw if raw else loop.mean_distance for loop in loops])
            shown.append(_line(axes, np.arange(1.0, y.shape[1] + 1.0), y, STYLES[name], number / len(group)))
        axes.axhline(expected, color=BLACK, ls="--", lw=1, zorder=1, label="two random points, mean")
        axes.set_title(f"q = {q}", fontsize=11)
        axes.set_xlabel("iteration (batch)")
    low, high = _limits(shown)
    several[0].set_ylim(0.0 if min(float(np.nanmin(mean - bars)) for mean, bars in shown) >= 0.0 else low, high)
    several[0].set_ylabel(f"mean distance in a batch ({'box' if raw else 'unit cube'})")
    legend_below(figure)
    note = f"; in the box of side {side:g}, as the paper's 20 to 28 must be" if raw else ""
    return figure, f"{_seeds(panels[curves.sizes[0]])}, mean ± 1 std{note}"


def box_side(problem: str) -> float:
    """The side of a problem's box, whose sides are all equal."""
    low, high = box_of(PROBLEMS[problem]().space)
    return float(high[0] - low[0])


def with_grid(axes: Axes) -> None:
    """Draw a pale grid behind the data, and no frame above or to the right."""
    axes.grid(color="#EEEEEE")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _panels(count: int) -> tuple[Figure, list[Axes]]:
    """A figure with panels that share their vertical axis."""
    figure = new_figure(7.5, 4.2)
    several = list(figure.subplots(1, count, sharey=True, squeeze=False)[0])
    for axes in several:
        with_grid(axes)
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure, several


def _line(axes: Axes, x: Array, y: Array, style: LoopStyle, phase: float) -> tuple[Array, Array]:
    """Draw the mean of ``y`` (seeds, m) with some bars of one standard deviation. Both are returned (m,).

    A standard deviation is zero where there is no bar. phase: the position, in [0, 1), of this line's bars among those
    of other lines; full bands of six lines would hide one another.
    """
    mean, std = y.mean(axis=0), y.std(axis=0, ddof=1 if len(y) > 1 else 0)
    every = max(1, len(x) // _BARS)
    places = (int(phase * every), every)
    looks: dict[str, Any] = {"ls": style.line, "marker": style.marker, "ms": 5, "lw": 1.6}
    axes.plot(x, mean, color=style.color, **looks, markevery=places, label=style.label)
    axes.errorbar(x, mean, std, fmt="none", ecolor=style.color, elinewidth=0.9, capsize=2, errorevery=places)
    bars = np.zeros_like(std)
    bars[places[0] :: every] = std[places[0] :: every]
    return mean, bars


def _limits(shown: Sequence[tuple[Array, Array]]) -> tuple[float, float]:
    """Axis limits for means and bars, each (m,), that cut off no bar: a cut bar would show a wrong spread."""
    lowest = min(float(np.nanmin(mean - bars)) for mean, bars in shown)
    highest = max(float(np.nanmax(mean + bars)) for mean, bars in shown)
    room = _HEADROOM * (highest - lowest) or 1.0
    return lowest - room, highest + room


def _optimum(several: Sequence[Axes], problem: str) -> None:
    """Draw a line at the optimum, if it is known and within the axis limits."""
    optimum = PROBLEMS[problem]().optimum
    low, high = several[0].get_ylim()
    if optimum is not None and low <= optimum <= high:
        for axes in several:
            axes.axhline(optimum, color=BLACK, ls=":", lw=1, zorder=1, label="optimum")


def _seeds(group: LoopGroup) -> str:
    count = len(next(iter(group.values())))
    return f"{count} seed{'s' if count > 1 else ''}"
