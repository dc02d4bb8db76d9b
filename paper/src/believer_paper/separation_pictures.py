"""The figure of the law of separation: the step to the next point, and distances within batches of two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.acquisitions import EI
from believer.diagnostics import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, entitle, legend_below, new_figure
from believer_paper.theory.pairs import QEI_STEP, THOMPSON_MEDIAN, Pairs, pairs
from believer_paper.theory.separation import standard_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESULTS = (8, 16, 32, 64)
NOISES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 3e-1)
"""σ_n/σ_f"""

AMONG = 32
"""The number of results in the panel that varies the noise."""

LOOKS = {
    "KB": (BLUE, "o"),
    "CL-min": (RED, "s"),
    "KB-σ": (GREEN, "v"),
    "KB+σ": (GREEN, "^"),
    "q-EI": (ORANGE, "D"),
    "Thompson": (GRAY, "P"),
}
_ASIDE = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5)
"""Offsets that put markers of the same place side by side."""

HALF_SUPPRESSED = 0.8326
"""√log 2: the distance in lengthscales within which half of the variance is removed according to [paper] Eq. 3."""


def separations(tries: int = 40) -> Figure:
    """EI around a believed minimum; distances of ``tries`` batches of two over the number of results and over noise."""
    figure = new_figure(12.0, 4.4)
    left, middle, right = figure.subplots(1, 3)
    _draw_improvement(left)
    _draw_over_results(middle, [by_results(n, tries) for n in RESULTS])
    _draw_over_noise(right, [by_noise(noise, tries) for noise in NOISES])
    entitle(figure, "", "once the model is sure, distances follow what it does not know of the minimum's place, not ℓ")
    legend_below(figure)
    return figure


def by_results(n: int, tries: int) -> Pairs:
    """Batches of two after ``n`` results without noise, one column, Matérn-5/2."""
    return pairs(n, 0.0, tries, np.random.default_rng([0, n]))


def by_noise(noise: float, tries: int) -> Pairs:
    """Batches of two after 32 results with noise of standard deviation ``noise``, in units of σ_f."""
    return pairs(AMONG, noise**2, tries, np.random.default_rng([1, NOISES.index(noise)]))


def _draw_improvement(axes: Axes) -> None:
    """Draw EI under the expansion for three noise levels, in the units of the law, so that no model is needed."""
    t = np.linspace(-3.0, 3.0, 1201)
    for floor, color, style, place in (
        (0.0, BLUE, "-", (-2.9, 0.03)),
        (0.4, BLACK, "--", (0.06, 0.243)),
        (0.8, GRAY, "-.", (0.25, 0.33)),
    ):
        std = np.sqrt(floor**2 + t**2)
        values = EI().pointwise(0.5 * t**2, np.maximum(std, 1e-12), 0.0).value
        top = float(values.max())
        axes.plot(t, values, ls=style, color=color, lw=2)
        axes.text(*place, f"σ₀ = {floor:g} c²/H" if floor else "no noise, σ₀ = 0", color=color, fontsize=8)
        tops = t[values >= top * (1.0 - 1e-9)]
        axes.plot(tops, np.full(len(tops), top), "v", color=color, ms=8, zorder=5)
    step, gain = standard_step()
    axes.vlines(step, 0.0, gain, color=BLUE, ls=":", lw=1.2)
    axes.text(step + 0.07, 0.06, f"{step:.2f}", fontsize=10, color=BLUE)
    axes.axvline(0.0, color=RED, ls=":", lw=1.2)
    axes.text(-0.1, 0.345, "believed point", color=RED, fontsize=9, ha="right", va="center")
    axes.set(title="EI after believing the minimum", xlabel="distance, in c/H", xlim=(-3, 3), ylim=(0, 0.36))
    axes.set_ylabel("expected improvement, in c²/H")


def _draw_over_results(axes: Axes, found: list[Pairs]) -> None:
    axes.axhline(HALF_SUPPRESSED, color=BLACK, lw=1.2, ls=(0, (1, 2)))
    axes.text(8.2, 0.95, "radius of half suppression, Eq. 3", fontsize=9, va="bottom")
    law = standard_step()[0] * np.array([np.median(one.believed) for one in found])
    place = np.array([np.median(one.place) for one in found])
    expected = [float(np.nanmedian(one.expected)) for one in found]
    axes.plot(RESULTS, law, color=BLUE, lw=2, label="KB: 1.22 c/H")
    axes.plot(RESULTS, expected, color=BLUE, lw=1.5, ls=":", label="KB, with slope and noise")
    axes.plot(RESULTS, QEI_STEP * place, color=ORANGE, lw=1.5, ls="--", label="q-EI: 1.60 c₀/H")
    axes.plot(RESULTS, THOMPSON_MEDIAN * place, color=GRAY, lw=1.5, ls="-.", label="Thompson: 0.95 c₀/H")
    for aside, (name, (color, marker)) in zip(_ASIDE, LOOKS.items(), strict=True):
        medians = [np.median(one.distance[name]) for one in found]
        at = np.array(RESULTS) * 1.02**aside
        axes.plot(at, medians, marker, color=color, mec="white", mew=0.5, ms=8, ls="", label=name)
    axes.set(title="without noise", xlabel="results n", ylabel="distance of two points, in ℓ")
    axes.set(xscale="log", yscale="log", ylim=(3e-4, 2.0), xlim=(6.8, 75))
    axes.set_xticks(RESULTS, [str(n) for n in RESULTS])
    axes.minorticks_off()


def _draw_over_noise(axes: Axes, found: list[Pairs]) -> None:
    expected = [float(np.nanmedian(one.expected / one.place)) for one in found]
    axes.plot(NOISES, expected, color=BLUE, lw=1.5, ls=":")
    axes.axhline(QEI_STEP, color=ORANGE, lw=1.5, ls="--")
    axes.axhline(THOMPSON_MEDIAN, color=GRAY, lw=1.5, ls="-.")
    for aside, (name, (color, marker)) in zip(_ASIDE, LOOKS.items(), strict=True):
        medians = [np.median(one.distance[name] / one.place) for one in found]
        axes.plot(np.array(NOISES) * 1.1**aside, medians, marker, color=color, mec="white", mew=0.5, ms=8, ls="")
    axes.set(title=f"with noise, n = {AMONG}", xlabel="noise σ_n/σ_f", ylabel="distance of two points, in c₀/H")
    axes.set(xscale="log", ylim=(-0.1, 2.6))
