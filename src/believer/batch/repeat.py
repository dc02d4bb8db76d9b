"""Is repeating a measurement worth more than a new point? The knowledge gradient of both says.

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

This is [Frazier2009]'s, for the least instead of the largest. A repeat can only sharpen what is known of points that
were measured; a new point can win beside that. Under lies the model knows of points under way: one that was repeated in
the same batch already is worth less the second time.
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
"""Points that may be recommended or repeated: those with the least means. Others would have to move too far."""

_AT_ZERO = float(1.0 / np.sqrt(2.0 * np.pi))
"""h(0)."""

_SAME = 1e-9
"""The largest distance by which rounding may move a point of the space."""

_NEVER = 100.0
"""Lines that cross so many standard deviations away or more never do: h(-100) is below the least float."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A point that is worth repeating more than a new one is worth measuring.

    Attributes
    ----------
    index : its row among the points that were given.
    x : the point, (d,).
    worth : how much lower the function is expected to be at what is recommended, after one more measurement of it.
    new : the same of the new point.
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
    """A measured point where one more measurement is worth more than that of ``choice``; as a rule ``choice`` itself.

    Only where results are noisy; who calls this knows that the user wants repeats. A measurement is one more
    result like that of the point: of replicates, a mean of as many.

    Parameters
    ----------
    request : what the strategy was asked.
    model : knows the results, and lies about ``X``.
    X : points under way, (p, d).
    choice : the new point.
    allowed : points (k, d), of results and under way, that may be repeated; None for all of them.
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
    lawful = request.region.project(points)  # what was evaluated off its steps cannot be suggested
    inside = request.region.holds(points) & (np.abs(lawful - points) <= _SAME).all(axis=1)
    unit = standardization(data.y)[1]
    found = worth_repeating(model, points[inside], stds[inside], np.asarray(choice.x), there, unit)
    return choice if found is None else Choice(found.x, found.provenance, repeats=True)


def worth_repeating(
    model: Model, X: Array, noise: float | Array, x: Array, noise_there: float, scale: float
) -> Repeat | None:
    """The measured point whose repetition is worth more than measuring ``x``, and most; None if there is none.

    None also of a model that has no joint covariance or takes its data to be free of noise. Costs a prediction at ``X``
    and the joint posterior of up to 129 points.

    Parameters
    ----------
    model : knows the results, and lies about what is under way.
    X : points measured or under way, (m, d); a point may be there several times.
    noise : standard deviation of one measurement at each of them, (m,), or one for all.
    x : the new point, (d,).
    noise_there : standard deviation of one measurement at it.
    scale : of the results, :func:`~believer.surrogates.gp.standardization`'s: the unit of all that is computed.
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
    """σ̃(·, x) (m,): how far each mean moves for a measurement that is one standard deviation off what is expected.

    Parameters
    ----------
    covariance : of the function without noise, (m, m).
    at : the row of x.
    noise : standard deviation of one measurement at x.
    """
    variance = max(float(covariance[at, at]), 0.0) + noise**2
    return np.zeros(len(covariance)) if variance <= 0.0 else covariance[at] / np.sqrt(variance)


def knowledge_gradient(means: Array, moves: Array) -> float:
    """min_i a_i - E[min_i a_i + b_i Z], Z standard normal, in closed form; never negative.

    Only lines of the lower envelope count. Sorted by falling slope, with c_j where the j-th crosses the next, it is
    Σ_j (b_j - b_{j+1}) h(-|c_j|), h(z) = φ(z) + z Φ(z) ([Frazier2009] Algorithm 1).  O(m log m).

    Parameters
    ----------
    means : a, (m,).
    moves : b, (m,).
    """
    lines: list[tuple[float, float, float]] = []  # a, b, and from which z on it is the least
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
