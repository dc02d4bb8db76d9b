"""The noise as estimated from replicates: one variance for all points, or one that depends on the place.

======  ==============================================================================  ======
symbol  meaning                                                                         shape
======  ==============================================================================  ======
r_i     the number of measurements of point i; its result is their mean                 (n,)
s_i     the sample standard deviation of these, where r_i ≥ 2                           (n,)
ν_i, ν  r_i - 1, its degrees of freedom, and their sum over the k points with r_i ≥ 2
σ_p²    Σ ν_i s_i² / ν, the pooled variance of one measurement
l_i     log(s_i² / σ_p²) - ψ(ν_i/2) + log(ν_i/2): log(σ²(x_i) / σ_p²) without bias      (k,)
D_i     ψ'(ν_i/2), the variance of l_i, whatever σ² is                                  (k,)
======  ==============================================================================  ======

ν_i s_i² / σ² is chi-square with ν_i degrees of freedom if the noise is normal, and the mean and variance of its
logarithm are known: so a Gaussian process of l with known noise D is a model of σ²(x). It is used if it explains the
l_i better than a constant does; otherwise all points have the same variance. Its prior mean, -σ_f²/2 with σ_f² the
variance of l, makes E[σ²(x)] = σ_p² far from all replicates.
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
"""For a noise that depends on the place: the least numbers of replicated points and of degrees of freedom, and the
least evidence in nats beyond that of a constant (benchmarks/replicates.py)."""

MAX_POINTS = 500
"""The largest number of replicated points that the second model learns from; of more, a random subset is drawn."""

MIN_SHARE = 1e-4
"""The least variance, relative to the pooled one: for replicates that agree by chance, or to rounding, the logarithm
would be -∞."""

_EXACT = 1e-6
"""The second model's own noise variance, because D is all of its noise."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicateNoise:
    """The noise of n results, as replicates show it.

    Attributes
    ----------
    std : the standard deviations (n,) of the results, each the mean of r_i measurements; those that the user gave are
        used as they are.
    pooled : the standard deviation of one measurement, if it is the same everywhere.
    model : the model of log(σ²(x) / σ_p²), of k data or fewer; None if all points have the same variance.
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
    """The known noise of n results, some of which are means of replicates; None if none is.

    A point that was measured once has the noise of the others: σ_p, or σ(x) of the second model. Replicates of a result
    whose noise the user gave are not used. O(k³) for each step of a fit, O(n k²) to predict.

    Parameters
    ----------
    X : points of the encoded cube, (n, d).
    counts : r, the number of measurements of each, (n,).
    stds : s, sample standard deviations with r - 1 in the denominator, (n,); ignored if r is 1.
    rng : draws points for the second model if there are very many.
    known : the standard deviations that the user gave, (n,), 0 for results without one; None for none at all.
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
    # Points are sorted, so that the order of results changes nothing, and scaled, so that squares are finite.
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
    """A Gaussian process of l, and its evidence in nats beyond that of a constant with the same D.

    Both have their most likely constant mean; the process then gets the prior mean that leads to σ_p².

    Parameters
    ----------
    data : replicated points (k, d) and s²/σ_p² (k,) there.
    freedom : ν_i, (k,).
    rng : draws ``MAX_POINTS`` of the points if there are more.
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
    """E[σ²(x)] / σ_p² (m,) at ``X`` (m, d), the estimate of a variance with the least expected KL divergence from the
    truth. It is at most ``most``, the largest that was measured, and at least the least variance that counts."""
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
