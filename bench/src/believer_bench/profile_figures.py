"""Figures of a suite: data profiles and performance profiles, a panel for each target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array
from believer.plot.figure import BLACK, BLUE, GREEN, ORANGE, RED, entitle, legend_below, new_figure
from believer_bench.curves import literal
from believer_bench.profiles import MOST, counts, data_profile, performance_profile
from believer_bench.runs import Run, members_of
from believer_bench.scores import TARGETS, RaceGroup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ProfileStyle = str | tuple[int, tuple[int, ...]]
_STYLES: tuple[ProfileStyle, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
_LOOKS = list(product(_STYLES, (BLACK, BLUE, ORANGE, GREEN, RED)))
"""Of lines, in the order of members; the first is the reference."""


def draw_data(group: RaceGroup, runs: Sequence[Run]) -> Figure:
    """The share of blocks solved to each target, by evaluations."""
    figure, panels = _panels()
    n = np.arange(1.0, max(run.case.budget for run in runs) + 1.0)
    for axes, target in zip(panels, TARGETS, strict=True):
        needed = counts(runs, target)
        for look, member in zip(_looks(runs), needed, strict=True):
            _draw(axes, n, data_profile(needed[member], n), member, look)
        axes.set_xlim(0.0, n[-1])
    _dress(figure, panels, "evaluations, the design included")
    entitle(figure, group.label, "how many runs have come near the optimum")
    return figure


def draw_performance(group: RaceGroup, runs: Sequence[Run]) -> Figure:
    """The share of blocks solved to each target within a multiple of the fastest member's evaluations."""
    figure, panels = _panels()
    tau = np.geomspace(1.0, MOST, 200)
    for axes, target in zip(panels, TARGETS, strict=True):
        profiles = performance_profile(counts(runs, target), tau)
        for look, member in zip(_looks(runs), profiles, strict=True):
            _draw(axes, tau, profiles[member], member, look)
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 2, 4, 8], ["1", "2", "4", "8"])
        axes.set_xlim(1.0, MOST)
    _dress(figure, panels, "evaluations / the fastest member's")
    entitle(figure, group.label, "how far behind the fastest member on each problem and seed")
    return figure


def _panels() -> tuple[Figure, list[Axes]]:
    figure = new_figure(8.6, 6.4)
    return figure, list(figure.subplots(2, 2, sharex=True, sharey=True).ravel())


def _looks(runs: Sequence[Run]) -> list[tuple[ProfileStyle, str]]:
    return [_LOOKS[i % len(_LOOKS)] for i in range(len(members_of(runs)))]


def _draw(axes: Axes, x: Array, y: Array, member: str, look: tuple[ProfileStyle, str]) -> None:
    style, color = look
    axes.step(x, 100.0 * y, linestyle=style, where="post", color=color, lw=1.8, label=literal(member))


def _dress(figure: Figure, panels: Sequence[Axes], about: str) -> None:
    for axes, target in zip(panels, TARGETS, strict=True):
        axes.set_title(f"regret within {100.0 * target:g} % of the scale", fontsize=10)
        axes.set_ylim(0.0, 101.0)
        axes.grid(color="#EEEEEE")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[2:]:
        axes.set_xlabel(about)
    for axes in panels[::2]:
        axes.set_ylabel("problems and seeds (%)")
    legend_below(figure)
