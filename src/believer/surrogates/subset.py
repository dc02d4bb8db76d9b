"""The choice of results that a model learns from if there are more than it can take.

======  ==========================================================
symbol  meaning
======  ==========================================================
n       number of results
m       the most that a model learns from, below n
======  ==========================================================

An eighth of m are the latest results, so that the next suggestion does not repeat the last one; these include
pseudo-observations, which come last. Half are the best values, because the minimum is near them. The rest is taken at
even steps from all others in their order, which in a study is that of time. Nothing is random, so that a model can be
restored from its data alone. ``benchmarks/many_results.py`` compares this with other rules.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, IntArray

MOST = 5000
"""m for most surrogates with cubic cost: a fit takes seconds, and the factor of a covariance 200 MB."""


def learned_rows(y: Array, most: int) -> IntArray:
    """Rows of ``y`` (n,), in their order, that a model learns from: all of them up to ``most``.  O(n log n)."""
    n = len(y)
    if n <= most:
        return np.arange(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[n - max(most // 8, 1) :] = True
    best = np.argsort(y, kind="stable")
    chosen[best[~chosen[best]][: min(most // 2, most - int(chosen.sum()))]] = True
    others = np.flatnonzero(~chosen)
    left = most - int(chosen.sum())
    chosen[others[(np.arange(left) * len(others)) // max(left, 1)]] = True
    return np.flatnonzero(chosen)
