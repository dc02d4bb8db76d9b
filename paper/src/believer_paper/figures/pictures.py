"""The paper's figures of single situations: the overview (1), a lie to a process (3), a lie to four surrogates (4).

All of them are drawn from cells of kind "picture"; :mod:`believer_paper.cells.pictures` documents their results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import Array
from believer.diagnostics import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, legend_below, new_figure
from believer_paper.figures.diagnoses import SURROGATES
from believer_paper.figures.loops import with_grid
from believer_paper.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TOLD = {"condition": "conditioned", "none": "not retrained"}
_SAME = 1e-3
"""The distance, as a share of each side, within which members of a batch are drawn as one."""

_RIGHT = 0.75
"""The share of the width beyond which a label is to the left of its point."""


def overview(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 1: the batches of four surrogates on the function, and the expected improvement of the first choice."""
    picture = _picture(results, preset, "overview")
    if picture is None:
        return None
    figure = new_figure(7.5, 7.2)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (name, answer) in zip(panels.flat, picture["surrogates"].items(), strict=True):
        _batch(axes, picture, answer)
        apart = f"least distance {answer['min_distance']:.3f}"
        axes.set_title(f"{SURROGATES[name]}, {_TOLD[answer['update']]}: {apart}", fontsize=10)
    for axes in panels[1]:
        axes.set_xlabel("$x_1$")
    for axes in panels[:, 0]:
        axes.set_ylabel("$x_2$")
    legend_below(figure)
    return figure, "q = 3, CL-min; lines: Branin, shade: EI before the lies, distances: unit cube"


def _batch(axes: Axes, picture: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Draw data and batch on a map; each place is labeled with the numbers of its members, in the order of choice."""
    x, y = np.array(picture["x0"]), np.array(picture["x1"])
    axes.contourf(x, y, np.array(answer["improvement"]), levels=8, cmap="Greens", alpha=0.7)
    axes.contour(x, y, np.array(picture["truth"]), levels=picture["levels"], colors=GRAY, linewidths=0.7)
    data = np.array(picture["data"]["points"])
    axes.plot(data[:, 0], data[:, 1], "x", color=BLACK, ms=5, label="data")
    points = np.array(answer["points"])
    axes.plot(
        points[:, 0],
        points[:, 1],
        "o",
        color=RED,
        mec="white",
        ms=9,
        zorder=4,
        label="the batch, in the order of choice",
    )
    gaps = np.abs(points[:, None] - points) / [x[-1] - x[0], y[-1] - y[0]]
    same = gaps.max(axis=2) < _SAME
    for k, point in enumerate(points):
        if not same[k, :k].any():
            left = point[0] > x[0] + _RIGHT * (x[-1] - x[0])
            names = ", ".join(str(j + 1) for j in np.flatnonzero(same[k]))
            _name(axes, names, (point[0], point[1]), left)
    axes.set(xlim=_wider(x), ylim=_wider(y))


def _name(axes: Axes, text: str, point: tuple[float, float], left: bool) -> None:
    """Draw a label next to a point."""
    box: dict[str, Any] = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": RED, "lw": 0.8}
    at, align = ((-8, 0), "right") if left else ((8, 0), "left")
    axes.annotate(text, point, at, textcoords="offset points", ha=align, va="center", bbox=box, zorder=5, fontsize=10)


def _wider(ends: Array) -> tuple[float, float]:
    """The interval between the two ends, with room for a marker at either end."""
    room = 0.04 * float(ends[-1] - ends[0])
    return float(ends[0]) - room, float(ends[-1]) + room


def lie_to_process(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 3: mean, standard deviation and expected improvement of a Gaussian process before and after a lie."""
    picture = _picture(results, preset, "exp1")
    if picture is None:
        return None
    figure = new_figure(7.5, 7.2)
    means, stds, gains = figure.subplots(3, 1, sharex=True, height_ratios=(3, 2, 2))
    x = np.array(picture["x"])
    _truth_and_data(means, picture)
    for name, color, style in (("before", BLUE, "-"), ("after", RED, "--")):
        belief = {key: np.array(values) for key, values in picture[name].items()}
        _belief(means, x, belief, color, style, f"{name} the lie")
        stds.plot(x, belief["std"], style, color=color, lw=1.8)
        gains.plot(x, belief["improvement"], style, color=color, lw=1.8)
    _lie([means, stds, gains], picture)
    for axes, label in ((means, "mean ± 2 std"), (stds, "std"), (gains, "EI")):
        axes.set_ylabel(label)
        with_grid(axes)
    gains.set_xlabel("x")
    for axes in (stds, gains):
        axes.set_ylim(bottom=0.0)
    legend_below(figure)
    return figure, f"SE kernel, lengthscale {picture['lengthscale']:.2g}"


def lie_to_surrogates(results: Results, preset: str) -> tuple[Figure, str] | None:
    """Figure 4: mean and standard deviation of four surrogates before and after the same lie, and retrained on it."""
    picture = _picture(results, preset, "exp2")
    if picture is None:
        return None
    figure = new_figure(7.5, 7.2)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    x = np.array(picture["x"])
    for axes, (name, answer) in zip(panels.flat, picture["surrogates"].items(), strict=True):
        _truth_and_data(axes, picture)
        ways = [("before", BLUE, "-", "before the lie"), ("after", RED, "--", "after the lie")]
        if answer["update"] == "none":
            ways.append(("refit", ORANGE, ":", "retrained with the lie"))
        for key, color, style, label in ways:
            belief = {part: np.array(values) for part, values in answer[key].items()}
            _belief(axes, x, belief, color, style, label)
        _lie([axes], picture)
        changed = f"mean moves by {answer['changed']['mean']:.2g}"
        axes.set_title(f"{SURROGATES[name]}, {_TOLD[answer['update']]}: {changed}", fontsize=10)
        with_grid(axes)
    for axes in panels[1]:
        axes.set_xlabel("x")
    for axes in panels[:, 0]:
        axes.set_ylabel("mean ± 2 std")
    legend_below(figure)
    return figure, "one lie for all"


def _picture(results: Results, preset: str, figure: str) -> dict[str, Any] | None:
    found = results.of("picture", preset=preset, figure=figure)
    return found[0].result if found else None


def _truth_and_data(axes: Axes, picture: Mapping[str, Any]) -> None:
    axes.plot(picture["x"], picture["truth"], color=GRAY, lw=1, ls="-.", label="the function")
    axes.plot(picture["data"]["x"], picture["data"]["y"], "o", color=BLACK, ms=5, zorder=4, label="data")


def _belief(axes: Axes, x: Any, belief: Mapping[str, Any], color: str, style: str, label: str) -> None:
    low, high = belief["mean"] - 2.0 * belief["std"], belief["mean"] + 2.0 * belief["std"]
    axes.fill_between(x, low, high, color=color, alpha=0.15, lw=0)
    axes.plot(x, belief["mean"], style, color=color, lw=1.8, label=label)


def _lie(several: Sequence[Axes], picture: Mapping[str, Any]) -> None:
    lie = picture["lie"]
    several[0].plot(lie["x"], lie["y"], "D", color=GREEN, mec=BLACK, ms=8, zorder=5, label="the lie")
    for axes in several:
        axes.axvline(lie["x"], color=GREEN, lw=1, ls=":", zorder=0)
