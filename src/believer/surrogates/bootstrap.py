"""Bootstrap resamples of data, for surrogates whose uncertainty is the spread over resamples.

======  ============================================================  ============
symbol  meaning                                                       shape
======  ============================================================  ============
c       the count of an observation in the resample of a member       (members, n)
F       predictions of each member, (y - ``shift``) over ``scale``    (m, members)
======  ============================================================  ============
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, IntArray
from believer.surrogates.protocols import MIN_STD, Prediction

MAX_MEMBERS = 1000

# Fixed draws must not repeat the stream of default_rng(seed), because it may have made the data.
_COUNTS, _STATES = 0xB0075, 0x57A7E


def resamples(n: int, members: int, rng: np.random.Generator, fixed: int | None = None) -> IntArray:
    """The count of each of ``n`` observations in the resample of each member, (members, n).

    By default these are n draws with replacement. With a seed ``fixed`` they are Poisson(1) counts ([Oza2001]) that
    depend only on the seed and on an observation's position, so that a further observation does not change the counts
    of the others. The first observation is then in every resample, so that none is ever empty.
    """
    if fixed is None:
        return np.asarray(rng.multinomial(n, np.full(n, 1.0 / n), size=members), dtype=np.int64)
    # Rows are filled one by one, so that the draws of the first n rows do not depend on later ones.
    counts = np.random.default_rng((fixed, _COUNTS)).poisson(1.0, size=(n, members))
    counts[:1] = np.maximum(counts[:1], 1)
    return np.asarray(counts.T, dtype=np.int64)


def states(members: int, rng: np.random.Generator, fixed: int | None = None) -> list[int]:
    """A random state for each member; with a seed ``fixed``, it depends only on the seed and the member's position."""
    source = rng if fixed is None else np.random.default_rng((fixed, _STATES))
    return [int(state) for state in source.integers(2**31, size=members)]


def summary(F: Array, shift: float, scale: float) -> Prediction:
    """Mean and standard deviation of ``F`` (m, members) over the members, in the units of y.

    The variance is divided by the number of members.
    """
    return Prediction(shift + scale * F.mean(axis=1), scale * np.maximum(F.std(axis=1), MIN_STD))
