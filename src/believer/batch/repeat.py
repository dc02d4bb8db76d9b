"""Whether repeating a measurement is worth more than a new point, by the knowledge gradient of both.

======  ========================================================================  ==========
symbol  meaning                                                                   shape
======  ========================================================================  ==========
A       points measured or under way; the one to recommend in the end is among    (m, d)
        them, that with the least posterior mean
x       where one more measurement would be made
μ, Σ    joint posterior of the function without noise, given results and lies
σ_n²    variance of one measurement's noise at x
σ̃(a,x)  Σ(a, x) / √(Σ(x, x) + σ_n²(x)): how far the mean at a will move            (m,)
KG(x)   min_A μ - E[min_a μ(a) + σ̃(a, x) Z], Z normal; a in A, or in A and x if
        that is new
======  ========================================================================  ==========

This is the knowledge gradient of [Frazier2009], for the least value instead of the largest. A repeated measurement can
only improve the knowledge about measured points; a new point can also become the best one. Pending points have lies, so
that repeating a point a second time in the same batch is worth less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from believer.arrays import Array, frozen
from believer.batch.learned import is_noisy
from believer.batch.request import Choice, Request
from believer.capabilities import has
from believer.numerics.special import log_h
from believer.surrogates.data import squared
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import Joint, Measuring, Model

MOST = 128
"""The number of points that may be recommended or repeated: those with the least means. The means of others would have
to move too far."""

_AT_ZERO = float(1.0 / np.sqrt(2.0 * np.pi))
"""h(0)."""

_SAME = 1e-9
"""The largest distance by which rounding may move a point of the space."""

_NEVER = 100.0
"""Lines that cross this many standard deviations away or more count as never crossing: h(-100) is below the least
float."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A measured point whose repetition is worth more than measuring a new point.

    Attributes
    ----------
    index : its row among the given points.
    x : the point, (d,).
    worth : the expected decrease of the function at the recommended point after one more measurement of this point.
    new : the same for the new point.
    """

    index: int
    x: Array
    worth: float
    new: float

    @property
    def provenance(self) -> str:
        """The reason for the choice, in words."""
        return f"repeated: another measurement is worth {self.worth:.3g}, of a new point {self.new:.3g}"


def repeated_instead(request: Request, model: Model, X: Array, choice: Choice, allowed: Array | None = None) -> Choice:
    """Return a measured point if another measurement there is worth more than one at ``choice``, and otherwise
    ``choice``.

    Points are repeated only if results are noisy. This is called only if the user allows repeats. A further measurement
    is taken to be like the result of the point: if that is a mean of replicates, it is a mean of as many.

    Parameters
    ----------
    request : the request to the strategy.
    model : a model with the results and lies at ``X``.
    X : the pending points, (p, d).
    choice : the new point.
    allowed : measured and pending points (k, d) that may be repeated; None for all of them.
    """
    if not is_noisy(model) or not has(model, Measuring):
        return choice
    data, own = request.data, model.noise_std
    known = np.zeros(len(data)) if data.std is None else data.std
    there = float(np.hypot(own, np.median(known)))
    points, stds = np.vstack([data.X, X]), np.concatenate([np.hypot(own, known), np.full(len(X), there)])
    if allowed is not None:
        among = request.region.among(points, allowed)
        points, stds = points[among], stds[among]
    lawful = request.region.project(points)  # a point that was evaluated off its steps cannot be suggested
    inside = request.region.holds(points) & (np.abs(lawful - points) <= _SAME).all(axis=1)
    unit = standardization(data.y)[1]
    found = worth_repeating(model, points[inside], stds[inside], np.asarray(choice.x), there, unit)
    return choice if found is None else Choice(found.x, found.provenance, repeats=True)


def worth_repeating(
    model: Model, X: Array, noise: float | Array, x: Array, noise_there: float, scale: float
) -> Repeat | None:
    """The measured point whose repetition is worth most, if it is worth more than measuring ``x``; otherwise None.

    It is also None if the model has no joint covariance or takes its data to be free of noise. The cost is a prediction
    at ``X`` and the joint posterior of up to 129 points.

    Parameters
    ----------
    model : a model with the results and lies at pending points.
    X : measured and pending points, (m, d); a point may occur several times.
    noise : the standard deviation of one measurement at each of them, (m,), or one for all.
    x : the new point, (d,).
    noise_there : the standard deviation of one measurement at ``x``.
    scale : the scale of the results, :func:`~believer.surrogates.gp.standardization`'s: the unit of all values.
    """
    stds = np.broadcast_to(np.asarray(noise, dtype=np.float64), len(X)) / scale
    if len(X) == 0 or not has(model, Joint) or not is_noisy(model) or not (stds > 0.0).any():
        return None
    rows = np.arange(len(X))
    if len(X) > MOST:
        rows = np.sort(np.argsort(model.predict(X).mean, kind="stable")[:MOST])
    at = model.joint(np.vstack([X[rows], x]))
    mean, covariance = (at.mean - at.mean[:-1].min()) / scale, at.covariance / squared(scale)
    if not (np.isfinite(mean).all() and np.isfinite(covariance).all()):
        return None
    new = float(max(0.0, -mean[-1])) + knowledge_gradient(mean, slopes(covariance, -1, noise_there / scale))
    best, worth = -1, new
    for i in np.flatnonzero(stds[rows] > 0.0).tolist():
        moves = slopes(covariance, i, float(stds[rows[i]]))[:-1]
        if np.ptp(moves) * _AT_ZERO <= worth:  # no lines with such slopes are worth more
            continue
        found = knowledge_gradient(mean[:-1], moves)
        if found > worth:
            best, worth = i, found
    if best < 0:
        return None
    return Repeat(int(rows[best]), frozen(X[rows[best]]), scale * worth, scale * new)


def slopes(covariance: Array, at: int, noise: float) -> Array:
    """σ̃(·, x) (m,): the change of each mean if a measurement deviates from its prediction by one standard deviation.

    Parameters
    ----------
    covariance : the covariance of the function without noise, (m, m).
    at : the row of x.
    noise : the standard deviation of one measurement at x.
    """
    variance = max(float(covariance[at, at]), 0.0) + noise**2
    return np.zeros(len(covariance)) if variance <= 0.0 else covariance[at] / np.sqrt(variance)


def knowledge_gradient(means: Array, moves: Array) -> float:
    """min_i a_i - E[min_i a_i + b_i Z], Z standard normal, in closed form; never negative.

    Only lines of the lower envelope count. If they are sorted by falling slope and the j-th crosses the next at c_j,
    the result is Σ_j (b_j - b_{j+1}) h(-|c_j|), h(z) = φ(z) + z Φ(z) ([Frazier2009] Algorithm 1).  O(m log m).

    Parameters
    ----------
    means : a, (m,).
    moves : b, (m,).
    """
    lines: list[tuple[float, float, float]] = []  # a, b, and the z from which on the line is the least
    for i in np.lexsort((means, -moves)):
        a, b, start = float(means[i]), float(moves[i]), -np.inf
        if lines and lines[-1][1] == b:
            continue  # parallel, and not below
        while lines:
            start = (a - lines[-1][0]) / (lines[-1][1] - b)
            if start > lines[-1][2]:
                break
            lines.pop()
            start = -np.inf
        lines.append((a, b, start))
    if len(lines) < 2:
        return 0.0
    table = np.array(lines)
    crossings = np.minimum(np.abs(table[1:, 2]), _NEVER)
    return float((-np.diff(table[:, 1]) * np.exp(log_h(-crossings)[0])).sum())
