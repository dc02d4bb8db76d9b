"""Whether results are noisy, by points that were evaluated more than once.

A Gaussian process decides by these, and if they do not decide it, by the evidence of two fits
(:func:`~believer.surrogates.gp_fit.fit`), one without noise and one with inferred noise.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, IntArray

AUTO, INFER = "auto", "infer"

EXACT = 1e-6
"""The noise variance, of standardized y, of data that count as deterministic."""

TRIED, CHEAP = 1e-4, 1.0
"""A sign of noise: so much of it, at a fit that has none, costs no more than this, in nats."""

ROUGHER = {"se": "matern52", "matern52": "matern32"}
"""The next kernel whose functions are less smooth."""

ROUGH, IF_ROUGH = 2.0, 4.0
"""A function counts as rough if the rougher kernel has this many nats more evidence; noise then needs this many times
the usual evidence."""

ROUNDING = 1e-9
"""Values of standardized y that differ by less are the same."""

AGREEING = 2
"""The number of repeated points, each with equal values, that shows that there is no noise."""


def by_replicates(group: IntArray, y: Array) -> float | str:
    """The noise setting of a fit, from the spread of standardized ``y`` (n,) of equal points, by their ``group`` (n,).

    "infer" if replicates vary by more than a deterministic model allows, so that there is certainly noise;
    :data:`EXACT` if the replicates of :data:`AGREEING` points or more all agree; otherwise "auto", undecided.
    """
    sizes = np.bincount(group)
    residuals = y - (np.bincount(group, y) / sizes)[group]
    if float(residuals @ residuals) / (len(y) - len(sizes)) > EXACT:
        return INFER
    agree = (sizes > 1).sum() >= AGREEING and float(np.abs(residuals).max()) <= ROUNDING
    return EXACT if agree else AUTO
