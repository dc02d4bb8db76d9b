"""Resamples of data, for surrogates whose spread over resamples is their uncertainty.

======  ============================================================  ============
symbol  meaning                                                       shape
======  ============================================================  ============
c       how often an observation is in the resample of a member       (members, n)
F       what each member predicts, (y - ``shift``) over ``scale``     (m, members)
======  ============================================================  ============
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array, IntArray
from believer.surrogates.protocols import MIN_STD, Prediction

MAX_MEMBERS = 1000

# Fixed draws must not repeat the stream of default_rng(seed), which may well have made the data.
_COUNTS, _STATES = 0xB0075, 0x57A7E


def resamples(n: int, members: int, rng: np.random.Generator, fixed: int | None = None) -> IntArray:
    """The count of each of ``n`` observations in the resample of each member, (members, n).

    As a rule n draws with replacement. With a seed ``fixed``, Poisson(1) counts ([Oza2001]) that depend on
    the seed and on an observation's position alone, so that one more observation leaves those of the others as they
    are. The first observation is then in every resample: only so is none ever without data, whatever n.
    """
    if fixed is None:
        return np.asarray(rng.multinomial(n, np.full(n, 1.0 / n), size=members), dtype=np.int64)
    # Filled row by row, so that the draws of the first n rows are the same however many follow.
    counts = np.random.default_rng((fixed, _COUNTS)).poisson(1.0, size=(n, members))
    counts[:1] = np.maximum(counts[:1], 1)
    return np.asarray(counts.T, dtype=np.int64)


def states(members: int, rng: np.random.Generator, fixed: int | None = None) -> list[int]:
    """A random state for each member; with a seed ``fixed``, it depends on that and the member's position alone."""
    source = rng if fixed is None else np.random.default_rng((fixed, _STATES))
    return [int(state) for state in source.integers(2**31, size=members)]


def summary(F: Array, shift: float, scale: float) -> Prediction:
    """Mean and standard deviation of ``F`` (m, members) over the members, in the units of y.

    The standard deviation is that of the members at hand: its divisor is their number.
    """
    return Prediction(shift + scale * F.mean(axis=1), scale * np.maximum(F.std(axis=1), MIN_STD))
