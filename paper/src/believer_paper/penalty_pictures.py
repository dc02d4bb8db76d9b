"""Figures that show a lie as a penalty: ψ, EI to first order, determinants, Local Penalization. See docs/theory.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from believer.arrays import Array
from believer.diagnostics import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, SHADE, entitle, legend_below, new_figure
from believer_paper.theory import improvement_change, improvement_ratio, log_penalty, penalty
from believer_paper.theory.counterexamples import line_model
from believer_paper.theory_pictures import LINE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINT: Array = np.array([0.5])
_FAR = 40.0


def implicit_penalty() -> Figure:
    """[paper] Eq. 4: the exact ratio of EI against z, and the printed one along a line with data near."""
    figure = new_figure(9.5, 4.0)
    left, right = figure.subplots(1, 2)
    z = np.linspace(-4.0, 4.0, 401)
    for ratio, color in ((0.9, GREEN), (0.6, BLUE), (0.2, ORANGE)):
        left.plot(z, improvement_ratio(z, np.full_like(z, ratio)), color=color, lw=2)
        left.axhline(ratio, color=color, ls="--", lw=1.2)
        left.text(-3.9, ratio + 0.015, f"σ'/σ = {ratio}", color=color, fontsize=9)
    left.axvline(0.0, color=GRAY, ls=":", lw=1.2)
    left.set(title="solid: exact ψ; dashed: as printed", xlabel="z = (f⁺ - μ)/σ", ylabel="ψ", ylim=(0, 1.05))
    left.set_xlim(-4, 4)
    model = line_model([0.22, 0.8], [0.6, 0.2], 0.2)
    found = penalty(model, POINT, LINE, 0.2)
    off = np.abs(model.X - LINE[:, 0]).min(axis=0) > 0.012
    right.fill_between(LINE[:, 0], 0.0, 1.05, where=np.isnan(found.printed), color=SHADE, lw=0, label="not a number")
    right.plot(LINE[:, 0], found.printed, color=RED, lw=2, label="ψ as printed (Eq. 4)")
    right.plot(LINE[:, 0], np.where(off, found.std_ratio, np.nan), color=BLUE, ls="--", lw=2, label="σ'/σ")
    right.plot(LINE[:, 0], np.where(off, found.exact, np.nan), color=BLACK, lw=2, label="exact ψ")
    right.plot(model.X[:, 0], np.zeros(2), "o", color=BLACK, ms=7, clip_on=False, zorder=5, label="data", ls="")
    right.axvline(0.5, color=GRAY, ls=":", lw=1.5, label="the believed point")
    right.set(title="along a line with data near", xlabel="x", xlim=(0, 1), ylim=(0, 1.05))
    entitle(figure, "", "EI shrinks as σ does at z = 0 only")
    legend_below(figure)
    return figure


def improvement_expansion() -> Figure:
    """[paper] Eq. 17: exact and first-order changes of EI for three lies, and how the two terms decay."""
    figure = new_figure(9.5, 4.1)
    left, right = figure.subplots(1, 2)
    model = line_model([-_FAR, _FAR], [-1.0, 1.0], 0.1)
    for lie, color, name in ((-1.0, RED, "CL-min"), (0.0, GRAY, "KB"), (1.0, BLUE, "CL-max")):
        found = improvement_change(model, POINT, lie, LINE, -1.0)
        left.plot((LINE[:, 0] - 0.5) / 0.1, found.exact, color=color, lw=2, label=f"{name}, exact")
        left.plot((LINE[:, 0] - 0.5) / 0.1, found.first_order, color=color, ls="--", lw=1.3, label=f"{name}, Eq. 17")
    left.axhline(0.0, color=BLACK, lw=0.8)
    left.set(xlabel="distance from the lie, in lengthscales", ylabel="change of EI", xlim=(-4, 4))
    left.set_title("f⁺ = min y = -1, mean 0, max y = 1")
    r = np.linspace(0.0, 4.0, 200)
    found = improvement_change(model, POINT, -1.0, 0.5 + 0.1 * r[:, None], -1.0)
    right.semilogy(r, np.abs(found.mean_term), color=ORANGE, lw=2, label="mean term")
    right.semilogy(r, np.abs(found.variance_term), color=GREEN, lw=2, label="variance term")
    right.semilogy(r, np.abs(found.first_order), color=BLACK, ls="--", lw=1.8, label="both, Eq. 17")
    claimed = np.abs(found.first_order[0]) * np.exp(-(r**2))
    right.semilogy(r, claimed, color=BLACK, ls=":", lw=1.8, label="exp(-r²/ℓ²), as claimed")
    right.set(title="size of the two terms for CL-min", xlabel="distance from the lie, in lengthscales", xlim=(0, 4))
    right.set_ylim(1e-8, 1.0)
    entitle(figure, "", "the least value as a lie raises EI around it, and reaches as far as the kernel")
    legend_below(figure)
    return figure


def determinantal_penalty() -> Figure:
    """[paper] appendix C.5: log ψ as printed, of σ, of EI, and of the pair's determinant."""
    figure = new_figure(9.0, 4.3)
    axes = figure.subplots()
    model = line_model([_FAR], [0.0], 0.1)
    r = np.linspace(0.02, 3.0, 200)
    at = 0.5 + 0.1 * r[:, None]
    found = log_penalty(model, POINT, at, 0.0)
    axes.plot(r, found.std, color=BLUE, lw=2.2, label="log σ'/σ, exact")
    axes.plot(r[::8], found.determinant[::8], "o", mfc="none", mec=BLUE, ms=6, label="half log det of the pair")
    for z, color in ((-1.0, ORANGE), (1.0, GREEN)):
        exact = log_penalty(model, POINT, at, z).improvement
        axes.plot(r, exact, color=color, lw=1.8, label=f"log ψ at z = {z:+.0f}, exact")
    axes.plot(r, found.printed, color=RED, ls="--", lw=2.2, label="as printed")
    axes.set(xlabel="distance of the pair, in lengthscales", ylabel="log penalty", xlim=(0, 3), ylim=(-4, 0.1))
    entitle(figure, "", "the ratio of σ is the pair's determinant; the printed form lets duplicates pass")
    legend_below(figure)
    return figure


def local_penalization() -> Figure:
    """[paper] section 3.5: the explicit penalty of Local Penalization, and the change of EI by a believed value."""
    figure = new_figure(7.5, 4.3)
    axes = figure.subplots()
    model = line_model([_FAR], [0.0], 0.1)
    r = np.linspace(0.0, 4.0, 300)
    at = 0.5 + 0.1 * r[:, None]
    found = penalty(model, POINT, at, 0.0)
    axes.plot(r, found.local, color=RED, lw=2.2, label="Local Penalization")
    axes.plot(r, found.exact, color=BLUE, lw=2.2, label="ψ at z = 0 (= σ'/σ)")
    for z, color, style in ((-1.0, ORANGE, "--"), (1.0, GREEN, "-.")):
        axes.plot(r, penalty(model, POINT, at, z).exact, color=color, ls=style, lw=2, label=f"ψ at z = {z:+.0f}")
    axes.axhline(0.5, color=GRAY, ls=":", lw=1.2)
    axes.set(xlabel="distance from the lie, in lengthscales", ylabel="what is left of EI", xlim=(0, 4), ylim=(0, 1.05))
    entitle(figure, "", "both end within a few lengthscales; only the implicit penalty sees the mean")
    legend_below(figure)
    return figure
