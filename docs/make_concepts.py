"""Draw the pictures of docs/concepts: ``python docs/make_concepts.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot

import believer as bv

FIGURES = Path(__file__).parent / "figures" / "concepts"
DPI = 110
SIZES = (25, 50, 100, 200, 400, 800, 1600)


def branin(params: dict[str, float]) -> float:
    """Branin's function: three valleys of the same depth."""
    x, y = params["x"], params["y"]
    valley = y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6
    return float(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10)


def valleys() -> bv.Optimizer:
    """A study of it with twenty results."""
    study = bv.Optimizer(bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)}), n_init=20, seed=2)
    for trial in study.ask(20):
        study.tell(trial, branin(trial.params))
    return study


def clumping() -> None:
    """The same study, asked for six points by four strategies."""
    study = valleys()
    x, y = np.meshgrid(np.linspace(-5, 10, 60), np.linspace(0, 15, 60))
    mean = study.predict([{"x": float(a), "y": float(b)} for a, b in zip(x.ravel(), y.ravel(), strict=True)]).mean
    told = np.array([[t.params["x"], t.params["y"]] for t in study.trials])
    titles = {
        "top_q": "without a lie (top_q)",
        "kb": "Kriging Believer (kb)",
        "hedged": "the default (hedged)",
        "random": "at random",
    }
    figure, axes = pyplot.subplots(2, 2, figsize=(6.8, 6.4), sharex=True, sharey=True, layout="constrained")
    for ax, (strategy, title) in zip(axes.flat, titles.items(), strict=True):
        other = valleys()
        batch = other.ask(6, strategy=strategy)
        ax.contourf(x, y, np.asarray(mean).reshape(x.shape), levels=14, cmap="Blues_r", alpha=0.8)
        ax.plot(*told.T, "o", color="black", markersize=3.5, label="results")
        points = np.array([[t.params["x"], t.params["y"]] for t in batch])
        ax.plot(
            *points.T, "v", color="#d55e00", markersize=9, markeredgecolor="black", label="the batch", clip_on=False
        )
        gain = batch.verdict.gain
        ax.set_title(title if gain is None else f"{title}\nexpected to gain {gain.together:.2g}", fontsize=9)
        ax.tick_params(labelsize=8)
    figure.supxlabel("x", fontsize=9)
    figure.supylabel("y", fontsize=9)
    axes[0, 0].legend(fontsize=8, loc="upper right")
    keep(figure, "clumping")


def verdict() -> None:
    """What the points of a batch of eight are expected to gain, one after another."""
    gain = valleys().ask(8).verdict.gain
    assert gain is not None
    enough = next(slots for slots, value in enumerate(gain.curve, start=1) if value >= 0.95 * gain.curve[-1])
    figure, ax = pyplot.subplots(figsize=(6.4, 3.2), layout="constrained")
    slots = np.arange(1, len(gain.curve) + 1)
    ax.bar(slots, gain.curve, color=["#0072b2" if slot <= enough else "#a6cee3" for slot in slots])
    ax.axhline(0.95 * gain.curve[-1], color="#d55e00", linestyle="--", linewidth=1)
    ax.text(0.5, 0.955 * gain.curve[-1], f"95%: {enough} points are enough", color="#d55e00", fontsize=9, va="bottom")
    ax.set_ylim(0, 1.15 * gain.curve[-1])
    ax.set_xlabel("points of the batch, the most useful first")
    ax.set_ylabel("expected gain of all so far")
    keep(figure, "verdict")


def conditioning() -> None:
    """Multiplications and additions of one update of a Gaussian process, counted."""
    n = np.array(SIZES, dtype=float)
    refit, factor, append = 15 * n**3, n**3 / 3, n**2
    figure, ax = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
    for flops, label, color in (
        (refit, "fit the hyperparameters again (15 evaluations of the likelihood)", "#999999"),
        (factor, "factor the covariance again", "#0072b2"),
        (append, "condition: append a row to the factor", "#009e73"),
    ):
        ax.loglog(n, flops, "o-", color=color, label=label, markersize=4)
    ax.set_xlabel("results n")
    ax.set_ylabel("multiplications and additions")
    ax.legend(fontsize=8, loc="upper left")
    ax.set_ylim(300, 1e13)
    keep(figure, "conditioning")


def keep(figure: pyplot.Figure, name: str) -> None:
    """Write a picture."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURES / f"{name}.png", dpi=DPI, metadata={"Software": None})
    pyplot.close(figure)


if __name__ == "__main__":
    clumping()
    verdict()
    conditioning()
