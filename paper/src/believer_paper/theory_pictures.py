"""Figures of the paper's propositions: where each holds, and where it does not. docs/theory.md explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.acquisitions import EI, PI, UCB, PerPoint, PointwiseObjective
from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Lie
from believer.diagnostics import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, entitle, legend_below, new_figure
from believer.maximize import Multistart
from believer.problems import wave1
from believer.surrogates import GPModel
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.theory import (
    COUNTEREXAMPLES,
    Family,
    Situation,
    believe,
    guarantee,
    guaranteed_radius,
    printed_radius,
    rank_one,
    suppression,
    tally,
    unmoved_batch,
)
from believer_paper.theory.counterexamples import line_model
from believer_paper.theory.situation import before, lie_about

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINE: Array = np.linspace(0.0, 1.0, 601)[:, None]


def rank_one_updates() -> Figure:
    """[paper] Eq. 2: the variance that a lie removes, far from data and next to a datum."""
    figure = new_figure(9.5, 3.9)
    panels = figure.subplots(1, 2, sharey=True)
    model = line_model([0.1, 0.45, 0.9], [0.0, 0.0, 0.0], 0.12)
    for panel, x, where in ((panels[0], 0.67, "a lie between data"), (panels[1], 0.47, "a lie next to a datum")):
        update = rank_one(model, np.array([x]), 0.0, LINE)
        share = np.where(update.variance > 1e-6, update.fraction, np.nan)
        panel.fill_between(LINE[:, 0], update.variance_after, update.variance, color=ORANGE, alpha=0.3, lw=0)
        panel.plot(LINE[:, 0], update.variance, color=GRAY, lw=1.5, label="σ² before")
        panel.plot(LINE[:, 0], update.variance_after, color=BLUE, lw=1.8, label="σ² after")
        panel.plot(LINE[:, 0], update.variance_drop, color=ORANGE, lw=1.8, label="variance lost")
        panel.plot(LINE[:, 0], share, color=GREEN, ls="--", lw=1.5, label="share of it lost")
        panel.axvline(x, color=RED, ls=":", lw=1.5, label="the lie")
        panel.plot(model.X[:, 0], np.zeros(3), "o", color=BLACK, ms=6, clip_on=False, zorder=5, label="data", ls="")
        panel.set(title=where, xlabel="x", xlim=(0, 1), ylim=(0, 1.05))
    panels[0].set_ylabel("variance, prior = 1")
    entitle(figure, "", "no variance rises; what is lost need not be lost near the lie")
    legend_below(figure)
    return figure


LIES: dict[str, Lie] = {
    "KB": Believe(),
    "CL-min": ConstantLie("min"),
    "CL-mean": ConstantLie("mean"),
    "CL-max": ConstantLie("max"),
}
CHOSEN_BY: dict[str, PerPoint] = {"EI": EI(), "UCB": UCB(), "PI": PI(0.1)}
SETTINGS = {
    "no noise,\nf⁺ of data": ("data", 0.0),
    "no noise,\nf⁺ believed": ("believed", 0.0),
    "σ_n² = σ_f²,\nf⁺ believed": ("believed", 1.0),
}


def distinct_points(tries: int = 100) -> Figure:
    """[paper] Prop. 1: a repeated point at the end of the box, and how often ``tries`` random situations repeat one."""
    figure = new_figure(11.0, 4.4)
    left, right = figure.subplots(1, 2, width_ratios=(5, 7))
    situation = COUNTEREXAMPLES["box_end"]()
    rng = np.random.default_rng(0)
    x = guarantee(situation, rng).step.x
    believed = Situation(situation.model, situation.acquisition, situation.lie, situation.data)
    for bound, color, style, label in (
        (before(situation), GRAY, "-", "EI before"),
        (lie_about(situation, x, rng).bound, RED, "-", "EI after believing, f⁺ of data"),
        (lie_about(believed, x, rng).bound, BLUE, "--", "EI after believing, f⁺ believed"),
    ):
        values = bound.value(LINE)
        top = int(np.argmax(values))
        left.plot(LINE[:, 0], values, color=color, ls=style, lw=1.8, label=label)
        left.plot(LINE[top, 0], values[top], "v", color=color, ms=9, clip_on=False, zorder=5)
    left.set(title="the chosen point stays the best", xlabel="x", ylabel="expected improvement", xlim=(0, 1))
    left.set_ylim(0, None)
    left.legend(frameon=False, fontsize=9)
    _draw_repeats(right, tries)
    entitle(figure, "", "a lie lowers the acquisition at its point; that need not move the maximum")
    return figure


def _draw_repeats(axes: Axes, tries: int) -> None:
    """Draw the shares of situations that repeat the first point: a row for each lie, a column for each setting."""
    columns = [(setting, name) for setting in SETTINGS.values() for name in CHOSEN_BY]
    shares = np.zeros((len(LIES), len(columns)))
    for i, lie in enumerate(LIES.values()):
        for j, ((which, noise), name) in enumerate(columns):
            found = tally(Family(CHOSEN_BY[name], lie, which, noise), tries, np.random.default_rng(1))
            shares[i, j] = found.repeats / tries
            color = "white" if shares[i, j] > 0.5 else BLACK
            axes.text(j, i, f"{shares[i, j]:.0%}", ha="center", va="center", color=color, fontsize=10)
    axes.imshow(shares, cmap="Oranges", vmin=0.0, vmax=1.0, aspect="auto")
    for edge in (2.5, 5.5):
        axes.axvline(edge, color=BLACK, lw=1.5)
    axes.set_xticks(range(len(columns)), [name for _, name in columns])
    axes.set_yticks(range(len(LIES)), list(LIES))
    axes.tick_params(length=0)
    top = axes.secondary_xaxis("top")
    top.set_xticks([1, 4, 7], list(SETTINGS), fontsize=9)
    top.tick_params(length=0)
    axes.set_xlabel("random situations in which the second point is the first")


def suppression_radius(models: int = 150) -> Figure:
    """[paper] Prop. 2: the printed radius, the bound that holds, and exact radii of random processes."""
    figure = new_figure(9.5, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    kappas = np.linspace(0.01, 1.0, 200)
    for panel, kernel, title in ((panels[0], "se", "squared exponential"), (panels[1], "matern52", "Matérn-5/2")):
        rng = np.random.default_rng(0)
        dots = []
        for _ in range(models):
            model = Family(noise=1e-6, kernel=kernel, dim=2).draw(rng).model
            assert isinstance(model, GPModel)
            found = suppression(model, rng.random(2), 0.5, rng.standard_normal((6, 2)))
            dots.append((found.kappa, float(found.exact.min())))
        label = "exact, least of six directions, random data in 2-D"
        panel.plot(*np.array(dots).T, "o", color=GRAY, ms=4, mec="white", mew=0.4, ls="", label=label)
        panel.plot(kappas, [printed_radius(k, 0.5) for k in kappas], color=RED, lw=2, label="as printed (Eq. 3)")
        bound = [guaranteed_radius(k, 0.5, kernel=kernel) for k in kappas]
        panel.plot(kappas, bound, color=BLUE, lw=2, label="a bound that holds")
        panel.set(title=title, xlabel="κ, variance at the point over prior variance", xlim=(0, 1), ylim=(0, 3))
    panels[0].set_ylabel("radius of half suppression,\nin lengthscales")
    entitle(figure, "", "the printed radius grows as data come near; the exact one shrinks")
    legend_below(figure)
    return figure


def mean_invariance() -> Figure:
    """[paper] Lemma 1: a believed value leaves the mean as it is, unless y is standardized or fitted again."""
    X = np.array([[0.04], [0.18], [0.31], [0.44], [0.62], [0.75], [0.88], [0.97]])
    data, recipe = Data(frozen(X), frozen(wave1().evaluate(X))), PrintedGP()
    rng = np.random.default_rng(0)
    situation = Situation(recipe.fit(data, rng), EI(), Believe(), data)
    x = guarantee(situation, rng).step.x
    found = believe(recipe, data, x, LINE, np.random.default_rng(0))
    figure = new_figure(9.5, 3.9)
    left, right = figure.subplots(1, 2)
    ways = (
        (found.refitted, ORANGE, "-", "refitted"),
        (found.restandardized, RED, "--", "y standardized anew"),
        (found.conditioned, BLUE, "-", "conditioned"),
    )
    away = np.abs(data.X - LINE[:, 0]).min(axis=0) > 0.01
    for way, color, style, label in ways:
        left.plot(
            LINE[:, 0], 100.0 * (way.mean - found.before.mean) / found.spread, style, color=color, lw=2, label=label
        )
        ratio = np.where(away, 100.0 * (way.std / found.before.std - 1.0), np.nan)
        right.plot(LINE[:, 0], ratio, style, color=color, lw=2)
    for panel in (left, right):
        panel.axvline(x[0], color=GRAY, ls=":", lw=1.5, label="the believed point")
        panel.axhline(0.0, color=BLACK, lw=0.8, zorder=0)
        panel.set(xlabel="x", xlim=(0, 1))
    left.set_ylabel("change of the mean,\n% of the range of y")
    right.set_ylabel("change of σ, %")
    entitle(figure, "", "a believed value leaves the mean only when nothing else is learnt again")
    legend_below(figure)
    return figure


def acquisition_slopes() -> Figure:
    """[paper] Prop. 3: EI and UCB rise with σ for every mean; PI falls where the mean is better than f⁺."""
    figure = new_figure(9.5, 3.7)
    panels = figure.subplots(1, 3)
    std = np.linspace(0.02, 2.0, 300)
    shown: dict[str, PerPoint] = {"EI": EI(), "UCB": UCB(), "PI": PI()}
    for panel, (name, acquisition) in zip(panels, shown.items(), strict=True):
        for mean, color, style in ((-0.5, RED, "-"), (0.0, GRAY, "--"), (0.5, BLUE, "-.")):
            sign = {-0.5: "below f⁺", 0.0: "at f⁺", 0.5: "above f⁺"}[mean]
            values = acquisition.pointwise(np.full_like(std, mean), std, 0.0).value
            panel.plot(std, values, ls=style, color=color, lw=2, label=f"mean {sign}")
        panel.set(title=name, xlabel="σ", xlim=(0, 2))
    panels[0].set_ylabel("acquisition")
    entitle(figure, "", "PI falls as σ rises where the mean is better than the incumbent")
    legend_below(figure)
    return figure


def unmoved_model() -> Figure:
    """[paper] Cor. 1: a model that no lie changes repeats its point, unless the incumbent changes."""
    figure = new_figure(9.5, 3.9)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, which, title in ((panels[0], "data", "f⁺ of data"), (panels[1], "believed", "f⁺ believed")):
        situation = Family(EI(), Believe(), which, 1e-6).draw(np.random.default_rng(1))
        batch = unmoved_batch(situation, 3, Multistart(neighbors=0))
        for place, (color, style) in enumerate(((GRAY, "-"), (BLUE, "--"), (ORANGE, "-."))):
            bound = PointwiseObjective(situation.acquisition, situation.model, float(batch.incumbents[place]))
            label = f"EI for point {place + 1}"
            panel.plot(LINE[:, 0], bound.value(LINE), ls=style, color=color, lw=2, label=label)
            x, size = batch.X[place], 13 - 3 * place
            panel.plot(x, bound.value(x[None, :]), "o", mfc="none", mec=color, mew=2, ms=size, clip_on=False, zorder=5)
        panel.set(title=title, xlabel="x", xlim=(0, 1), ylim=(0, None))
    panels[0].set_ylabel("expected improvement")
    entitle(figure, "", "a model that does not change repeats its point, unless the incumbent changes")
    legend_below(figure)
    return figure
