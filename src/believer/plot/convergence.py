"""The figure of convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from believer.arrays import Array
from believer.plot import data
from believer.plot.data.source import StudyLike
from believer.plot.figure import BLACK, BLUE, GRAY, GREEN, ORANGE, RED, SHADE, finished, literal, panel, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESIGN_SHADE = "#DCE9F5"
_STRIPES_UP_TO = 80
_ORIGINS = (
    ("design", "s", GRAY, ("design",)),
    ("chosen by the model", "o", BLUE, ("model",)),
    ("given by the user", "D", ORANGE, ("enqueued", "observed")),
)


def convergence(
    study: StudyLike,
    *,
    outcome: str | None = None,
    target: float | None = None,
    optimum: float | None = None,
    regret: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Plot every result and the best so far against the number of evaluations; batches are shaded.

    For several objectives, the figure shows the hypervolume of the results so far. Results that break a limit are
    hollow, partial ones half filled, and failed evaluations are crosses at the bottom.

    Parameters
    ----------
    study : an optimizer, a result, a study that was read, or a path.
    outcome : the name of the outcome; None for the objective, or for the hypervolume if there are several objectives.
    target : a value to reach, drawn as a line.
    optimum : the best possible value, drawn as a line.
    regret : whether to draw the distance of the best so far from the optimum, on a log axis.
    ax : the axes to draw on; None for a new figure.
    """
    found = data.convergence(study, outcome=outcome, target=target, optimum=optimum)
    height = found.regret if regret else None
    axes = panel(ax, (6.0, 4.0))
    if height is not None:
        _draw_regret(axes, found, height)
    else:
        _draw_results(axes, found)
        _draw_lines(axes, found)
    _shade_batches(axes, found)
    axes.set_xlabel("evaluations")
    axes.set_xlim(0.3, len(found.count) + 0.7)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_title(_title(found), fontsize=10)
    return finished(axes, ax)


def _title(found: data.Convergence) -> str:
    known = found.best[np.isfinite(found.best)]
    waiting = f", {found.pending} pending" if found.pending else ""
    after = f"after {len(found.count)} evaluation{'' if len(found.count) == 1 else 's'}{waiting}"
    if found.maximize is None:
        return f"{literal(found.label)} {after}"
    if not len(known):
        return f"no result within all limits {after}"
    return f"best {literal(found.label)}: {known[-1]:.4g} {after}"


def _draw_results(axes: Any, found: data.Convergence) -> None:
    """Draw a marker for each result by its origin, hollow if it breaks a limit, and a cross for each failure."""
    known, origin = np.isfinite(found.values), np.array(found.origin)
    done = np.array([status == "done" for status in found.status])
    for label, marker, color, origins in _ORIGINS:
        own = known & np.isin(origin, origins)
        for rows, fill, more in (
            (own & found.keeps_limits, "full", ""),
            (own & done & ~found.keeps_limits, "none", f"{label}, breaks a limit"),
            (own & ~done, "left", f"{label}, partial result"),
        ):
            if rows.any():
                style = {"fillstyle": fill, "color": color, "markerfacecoloralt": "white", "ms": 5.5, "ls": ""}
                style |= {"mec": "white", "mew": 0.5} if fill == "full" else {"mew": 1.2}
                axes.plot(found.count[rows], found.values[rows], marker, label=more or label, **style)
    failed = np.array([status == "failed" for status in found.status])
    if failed.any():
        bottom = axes.get_xaxis_transform()
        style = {"color": BLACK, "transform": bottom, "ls": "", "clip_on": False, "zorder": 4}
        axes.plot(found.count[failed], np.full(int(failed.sum()), 0.03), "x", label="failed", **style)
    if np.isfinite(found.best).any():
        axes.step(found.count, found.best, where="post", color=RED, lw=2, label="best so far")
    axes.set_ylabel(literal(found.label))


def _draw_lines(axes: Any, found: data.Convergence) -> None:
    lines = [(limit, RED, ":", "limit") for limit in found.limits if np.isfinite(limit)]
    if found.target is not None:
        lines.append((found.target, GREEN, "--", f"target {found.target:.4g}"))
    if found.optimum is not None:
        lines.append((found.optimum, BLACK, "--", f"optimum {found.optimum:.4g}"))
    for value, color, style, label in lines:
        axes.axhline(value, color=color, ls=style, lw=1.4, label=label)
    shown = np.concatenate([found.values, found.best, [value for value, *_ in lines]])
    shown = shown[np.isfinite(shown)]
    if len(shown) and shown.min() > 0.0 and shown.max() >= 100.0 * shown.min():
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        axes.set_ylabel(f"{literal(found.label)} (log scale)")


def _draw_regret(axes: Any, found: data.Convergence, regret: Array) -> None:
    """Draw the distance from the optimum; a best value that equals the optimum is drawn a decade below the rest."""
    positive = regret[regret > 0]
    floor = 0.1 * float(positive.min()) if len(positive) else 1e-12
    known = np.isfinite(regret)
    axes.step(found.count[known], np.maximum(regret[known], floor), where="post", color=RED, lw=2, label="best so far")
    axes.set_yscale("log")
    plain_ticks(axes.yaxis)
    axes.set_ylabel(f"{literal(found.label)}: distance from the optimum")


def _shade_batches(axes: Any, found: data.Convergence) -> None:
    """Shade the design and every other later batch, unless there are very many batches or all have one point."""
    labeled, rest = False, [span for span in found.spans if not span.is_design]
    striped = len(found.spans) <= _STRIPES_UP_TO and any(span.last > span.first for span in rest)
    for number, span in enumerate(found.spans):
        if not span.is_design and (number % 2 == 0 or not striped):
            continue
        color = DESIGN_SHADE if span.is_design else SHADE
        options: dict[str, Any] = {} if span.is_design or labeled else {"label": "every other batch"}
        axes.axvspan(span.first - 0.5, span.last + 0.5, color=color, lw=0, zorder=0, **options)
        labeled |= not span.is_design
