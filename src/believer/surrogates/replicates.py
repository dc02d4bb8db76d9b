"""The noise as estimated from replicates: one variance for all points, or one that depends on the place.

======  ==============================================================================  ======
symbol  meaning                                                                         shape
======  ==============================================================================  ======
r_i     how often point i was measured; its result is the mean                          (n,)
s_i     the sample standard deviation of these, where r_i ≥ 2                           (n,)
ν_i, ν  r_i - 1, its degrees of freedom, and their sum over the k points with r_i ≥ 2
σ_p²    Σ ν_i s_i² / ν, the pooled variance of one measurement
l_i     log(s_i² / σ_p²) - ψ(ν_i/2) + log(ν_i/2): log(σ²(x_i) / σ_p²) without bias      (k,)
D_i     ψ'(ν_i/2), the variance of l_i, whatever σ² is                                  (k,)
======  ==============================================================================  ======

ν_i s_i² / σ² is chi-square with ν_i degrees of freedom if the noise is normal, and the mean and variance of its
logarithm are known: so a Gaussian process of l with known noise D is a model of σ²(x). It is believed where it explains
the l_i better than a constant does; else one variance serves all. Its prior mean, -σ_f²/2 with σ_f² the variance of l,
makes E[σ²(x)] = σ_p² where no replicate is near.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import digamma, polygamma

from believer.arrays import Array, as_points, as_values, frozen, packed, read_only
from believer.errors import InvalidInput
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, fit_gp, posterior

MIN_POINTS, MIN_DEGREES, NATS = 5, 40, 1.0
"""A noise that depends on the place takes so many replicated points, degrees of freedom, and nats of evidence more than
a constant has: benchmarks/replicates.py."""

MAX_POINTS = 500
"""Replicated points that the second model learns from; of more, so many that are drawn."""

MIN_SHARE = 1e-4
"""A variance of less than this part of the pooled one counts as that: replicates that agree by chance, or to rounding,
have no logarithm."""

_EXACT = 1e-6
"""The second model's own noise variance: D is all there is."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateNoise:
    """The noise of n results, as replicates show it.

    Attributes
    ----------
    std : standard deviations (n,) of the results, each the mean of r_i measurements; what a user gave, where given.
    pooled : the standard deviation of one measurement, if it is the same everywhere.
    model : of log(σ²(x) / σ_p²), (k,) or fewer data; None if one variance serves all.
    """

    std: Array
    pooled: float
    model: GPModel | None


def noise_of_means(
    X: Array,
    counts: Any,
    stds: Any,
    rng: np.random.Generator,
    known: Array | None = None,
    groups: tuple[int, ...] | None = None,
) -> ReplicateNoise | None:
    """The known noise of n results, of which some are means of replicates; None if none are.

    A point that was measured once has the noise of the others: σ_p, or σ(x) of the second model. Replicates of a result
    whose noise was given say nothing here: who gave it knows better. O(k³) for each step of a fit, O(n k²) to predict.

    Parameters
    ----------
    X : points of the encoded cube, (n, d).
    counts : r, how often each was measured, (n,).
    stds : s, sample standard deviations with r - 1 in the denominator, (n,); not looked at where r is 1.
    rng : draws points for the second model where there are very many.
    known : standard deviations of the results that a user gave, (n,), 0 where none was given; None for none at all.
    groups : the parameter that each column belongs to, as in :class:`~believer.surrogates.data.Data`.
    """
    X = as_points(X)
    r = _checked_counts(counts, len(X))
    given = np.zeros(len(X)) if known is None else _checked_stds(known, len(X), "known")
    has_std = given > 0.0
    rows = np.flatnonzero((r >= 2.0) & ~has_std)
    if len(rows) == 0:
        return None
    s, freedom = _checked_stds(np.asarray(stds, dtype=np.float64)[rows], len(rows), "stds"), r[rows] - 1.0
    # Sorted by place, so that the order of results changes nothing, and of a scale whose squares are numbers.
    order = np.lexsort((s, freedom, *X[rows].T[::-1]))
    rows, s, freedom = rows[order], s[order], freedom[order]
    unit = float(s.max()) or 1.0
    shares = np.square(s / unit)
    variance = float(freedom @ shares) / float(freedom.sum())
    pooled = unit * float(np.sqrt(variance))
    model, single = None, np.full(len(X), pooled)
    if len(rows) >= MIN_POINTS and freedom.sum() >= MIN_DEGREES and variance > 0.0:
        shares = shares / variance
        found, nats = second_model(Data(frozen(X[rows]), frozen(shares), groups=groups), freedom, rng)
        if nats > NATS:
            model, single = found, pooled * np.sqrt(_shares(found, X, float(shares.max())))
    return ReplicateNoise(read_only(np.where(has_std, given, single / np.sqrt(r))), pooled, model)


def second_model(data: Data, freedom: Array, rng: np.random.Generator) -> tuple[GPModel, float]:
    """A Gaussian process of l, and how many nats of evidence it has more than a constant with the same D.

    Both have the constant mean that suits them; the process is then given the prior mean that leads to σ_p².

    Parameters
    ----------
    data : replicated points (k, d) and s²/σ_p² (k,) there.
    freedom : ν_i, (k,).
    rng : draws ``MAX_POINTS`` of more points.
    """
    rows = np.arange(len(data))
    if len(rows) > MAX_POINTS:
        rows = np.sort(rng.permutation(len(rows))[:MAX_POINTS])
    half = 0.5 * freedom[rows]
    D = polygamma(1, half)
    logs = np.log(np.maximum(data.y[rows], MIN_SHARE)) - digamma(half) + np.log(half)
    std = np.sqrt(D)
    fitted = fit_gp(Data(data.X[rows], logs, std, data.groups), "matern52", _EXACT, rng)
    hyper, scale = replace(fitted.hyper, mean=0.0), fitted.scale
    model = posterior(hyper, data.X[rows], logs, -0.5 * hyper.signal * scale**2, scale, std)
    mean = float((logs / D).sum() / (1.0 / D).sum())
    constant = -0.5 * float(((logs - mean) ** 2 / D + np.log(2.0 * np.pi * D)).sum())
    return model, fitted.log_evidence() - constant


def _shares(model: GPModel, X: Array, most: float) -> Array:
    """E[σ²(x)] / σ_p² (m,) at ``X`` (m, d): of all guesses of a variance it is the one with the least expected KL
    divergence from the truth. No more than the ``most`` that was measured, no less than the least that counts."""
    at = model.predict(packed(X))
    found: Array = np.exp(np.clip(at.mean + 0.5 * at.std**2, np.log(MIN_SHARE), np.log(most)))
    return found


def _checked_counts(counts: Any, n: int) -> Array:
    r = as_values(counts, n, "counts")
    wrong = (r < 1.0) | (r != np.floor(r))
    if wrong.any():
        raise InvalidInput(f"counts must be whole numbers, 1 or more; got {float(r[wrong][0])!r}.")
    return r


def _checked_stds(stds: Any, n: int, name: str) -> Array:
    found = as_values(stds, n, name)
    if (found < 0.0).any():
        raise InvalidInput(f"{name} must be standard deviations, zero or more; got {float(found.min())!r}.")
    return found
