"""Comparing runs: tests, effect sizes and intervals, with nothing that changes from one version of SciPy to the next.

=======  =========================================================================
symbol   meaning
=======  =========================================================================
m        number of p values, or of values in a sample
d        differences of paired values, ours - theirs, one for each seed, (m,)
a, b     two samples, (m,) and (k,)
k, n     successes among trials
z        quantile of the normal distribution
=======  =========================================================================

Values are to be minimized where it matters: a difference below zero is a win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from believer.arrays import Array, IntArray, as_values, whole
from believer.errors import InvalidInput

EXACT_UP_TO = 200
"""Differences up to which the signed-rank test enumerates; beyond, the normal approximation is good to three digits."""


def holm(p: Sequence[float]) -> list[float]:
    """p values corrected for their number, m: the i-th least times m - i, made monotone, at most 1 [Holm1979].

    Rejecting what is below α then falsely rejects anything at all with probability α at most, however they depend.
    """
    values = as_values(p, name="p values")
    if np.any((values < 0.0) | (values > 1.0)):
        raise InvalidInput(f"p values must lie in [0, 1]; got {values.min():g} to {values.max():g}.")
    order = np.argsort(values, kind="stable")
    steps = (len(values) - np.arange(len(values))) * values[order]
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(value) for value in corrected]


def wilcoxon(d: npt.ArrayLike) -> float:
    """The two-sided p value of the signed-rank test: are the paired differences ``d`` symmetric about 0?

    [Wilcoxon1945], with zeros left out and ties given their average rank; 1 if nothing but zeros is left. Exact given
    the ranks, ties included, up to 200 differences: under the hypothesis each rank counts as positive with probability
    1/2, and the distribution of their sum is built rank by rank, O(m^3). Beyond, normal with the variance of these
    ranks.
    """
    values = _sample(d, "differences")
    values = values[values != 0.0]
    if len(values) == 0:
        return 1.0
    ranks = _doubled_ranks(np.abs(values))
    positive, total = int(ranks[values > 0.0].sum()), int(ranks.sum())
    least = min(positive, total - positive)
    if len(values) > EXACT_UP_TO:
        z = (least - total / 2.0) / (0.5 * math.sqrt(float((ranks.astype(np.float64) ** 2).sum())))
        return min(1.0, 2.0 * float(ndtr(z)))
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in ranks:
        shifted = np.zeros(total + 1)
        shifted[rank:] = chance[: total + 1 - rank]
        chance = 0.5 * (chance + shifted)
    return min(1.0, 2.0 * float(chance[: least + 1].sum()))


def _doubled_ranks(sizes: Array) -> IntArray:
    """Twice the ranks of ``sizes``, equal ones sharing their average: whole numbers in any case."""
    _, group, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    doubled: IntArray = (2 * np.cumsum(counts) - counts + 1)[group]
    return doubled


def hodges_lehmann(d: npt.ArrayLike) -> float:
    """The shift of paired differences: the median of all averages of two of them, each with itself included; O(m^2).

    [HodgesLehmann1963]. It has the sign that the signed-rank test sees, which the median may not have.
    """
    values = _sample(d, "differences")
    i, j = np.triu_indices(len(values))
    return float(np.median((values[i] + values[j]) / 2.0))


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float | None:
    """Spearman's correlation of paired values, ties sharing their average rank; None if all of a sample are equal."""
    sample = _sample(a, "a")
    first, second = _doubled_ranks(sample), _doubled_ranks(as_values(b, len(sample), name="b"))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def vargha_delaney(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """The share of all pairs in which the value of ``a`` exceeds that of ``b``; ties count one half.  O(m log m).

    A₁₂ of [VarghaDelaney2000]. Not paired: which seed a value is from does not matter, and the sizes may differ. 1/2 is
    no effect; where values are to be minimized, below 1/2 means that ``a`` is better.
    """
    first, second = _sample(a, "a"), np.sort(_sample(b, "b"))
    below = np.searchsorted(second, first, side="left")
    not_above = np.searchsorted(second, first, side="right")
    return float((below + not_above).sum() / (2.0 * len(first) * len(second)))


def wilson_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """An interval for a share, from ``successes`` among ``trials``: those p that a normal test would not reject.

    [Wilson1927]: (k + z²/2 ± z √(k(n-k)/n + z²/4)) / (n + z²). Unlike k/n ± z √..., it is sound near 0 and 1.
    """
    k, n = whole(successes, "successes", 0), whole(trials, "trials", 1)
    if k > n:
        raise InvalidInput(f"successes must not exceed trials; got {k} of {n}.")
    z = float(ndtri((1.0 + _level(level)) / 2.0))
    half = z * math.sqrt(k * (n - k) / n + z * z / 4.0)
    # The ends at 0 and n are exact; the formula only rounds to them.
    low = 0.0 if k == 0 else (k + z * z / 2.0 - half) / (n + z * z)
    high = 1.0 if k == n else (k + z * z / 2.0 + half) / (n + z * z)
    return low, high


def bootstrap_interval(
    values: npt.ArrayLike,
    of: Literal["median", "mean"] = "median",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float]:
    """The percentile bootstrap interval of the median or the mean [Efron1979]; the same seed, the same interval."""
    sample = _sample(values, "values")
    if of not in ("median", "mean"):
        raise InvalidInput(f'the interval must be of the "median" or the "mean"; got {of!r}.')
    tail = (1.0 - _level(level)) / 2.0
    rng = np.random.default_rng(whole(seed, "seed", 0))
    draws = rng.choice(sample, size=(whole(resamples, "resamples", 1), len(sample)))
    middles = np.median(draws, axis=1) if of == "median" else draws.mean(axis=1)
    low, high = np.quantile(middles, [tail, 1.0 - tail])
    return float(low), float(high)


def _sample(values: npt.ArrayLike, name: str) -> Array:
    sample = as_values(values, name=name)
    if len(sample) == 0:
        raise InvalidInput(f"{name} must hold at least one number; got none.")
    return sample


def _level(level: float) -> float:
    if not 0.0 < level < 1.0:
        raise InvalidInput(f"level must lie between 0 and 1, e.g. 0.95; got {level!r}.")
    return level
