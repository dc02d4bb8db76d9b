"""A figure of the effect of one lie on an acquisition function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from believer.acquisitions import EI, PointwiseObjective
from believer.arrays import Array, as_values
from believer.batch import Believe, ConstantLie, Data
from believer.batch.lies import Lie
from believer.errors import InvalidInput
from believer.plot.data.axis import axes_of
from believer.plot.figure import (
    BLACK,
    BLUE,
    GRAY,
    GREEN,
    ORANGE,
    RED,
    dress,
    entitle,
    legend_below,
    new_figure,
)
from believer.problems import Problem, wave1
from believer.space import Space
from believer.surrogates import GP
from believer.surrogates.gp import GPModel

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def before_and_after_a_lie(
    problem: Problem | None = None,
    at: Sequence[float] = (0.39, 0.55, 0.73, 0.94),
    lies: Sequence[Lie] = (Believe(), ConstantLie("min")),
) -> Figure:
    """A posterior and its expected improvement before and after a pseudo-observation at its maximum, one column a lie.

    problem: a problem of one number (default: ``problems.wave1``). at: the evaluated points, in the unit interval.
    """
    problem = wave1() if problem is None else problem
    axis = axes_of(problem.space)[0]
    if len(problem.space) > 1 or not axis.is_number:
        raise InvalidInput(f"a problem to draw must have one number; got {problem.name!r}, {problem.space!r}.")
    X = as_values(at, name="at")[:, None]
    data = Data(X, problem.evaluate(X))
    model = GP().fit(data, np.random.default_rng(0))
    figure = new_figure(9.5, 5.5)
    panels = figure.subplots(2, 1 + len(lies), sharex=True, sharey="row", squeeze=False, height_ratios=(3, 2))
    chosen = _draw_belief(panels[:, 0], problem, model, float(data.y.min()))
    panels[0, 0].set_title("before")
    for column, lie in zip(panels.T[1:], lies, strict=True):
        believed = lie.value(model, chosen, data, 1.0, np.random.default_rng(0))
        informed = model.condition(Data(chosen[None, :], np.array([believed])))
        _draw_belief(column, problem, informed, min(float(data.y.min()), believed))
        x = _decoded(problem.space, chosen[None, :])
        column[0].plot(x, believed, "D", color=ORANGE, mec=BLACK, ms=8, zorder=5, label="the lie", ls="")
        column[1].axvline(x[0], color=ORANGE, ls="--", lw=1.5, zorder=0)
        column[0].set_title(f"after {lie.verb} it")
    for panel in panels[0]:
        panel.plot(_decoded(problem.space, X), data.y, "o", color=BLACK, ms=6, zorder=4, label="data", ls="")
    for panel in panels[1]:
        dress(panel, "x", axis)
    panels[0, 0].set_ylabel("value")
    panels[1, 0].set_ylabel("expected improvement")
    entitle(figure, "", "what one lie does: the expected improvement collapses around it")
    legend_below(figure)
    return figure


def _decoded(space: Space, X: Array) -> Array:
    """Values (m,) of the one parameter at encoded points ``X`` (m, 1)."""
    return np.array([params[space.names[0]] for params in space.decode(X)], dtype=np.float64)


def _draw_belief(column: Any, problem: Problem, model: GPModel, incumbent: float) -> Array:
    """Posterior above, expected improvement below; the encoded point (1,) where the latter is largest."""
    U = np.linspace(0.0, 1.0, 501)[:, None]
    x, at = _decoded(problem.space, U), model.predict(U)
    improvement = PointwiseObjective(EI(), model, incumbent).value(U)
    column[0].fill_between(x, at.mean - 2 * at.std, at.mean + 2 * at.std, color=BLUE, alpha=0.2, lw=0, label="± 2σ")
    column[0].plot(x, at.mean, color=BLUE, lw=1.8, label="model's mean")
    column[0].plot(x, problem.evaluate(U), color=GRAY, ls="--", lw=1, label="the function")
    column[1].fill_between(x, 0.0, improvement, color=GREEN, alpha=0.35, lw=0)
    column[1].plot(x, improvement, color=GREEN, lw=1.5)
    top = int(np.argmax(improvement))
    column[1].plot(x[top], improvement[top], "v", color=RED, ms=8, zorder=5, clip_on=False, label="next point", ls="")
    column[1].margins(y=0.15)
    chosen: Array = U[top]
    return chosen
