"""How large a regret is usual on a problem, so that regrets of different problems can be compared."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from believer.errors import InvalidInput
from believer.problems.problem import Problem

_POINTS, _SEED = 512, 0


def scale_of(problem: Problem) -> float:
    """The median of truth - optimum over 512 fixed uniform points; where that is 0, the mean.

    It is kept by name, space and function. Raises InvalidInput for a problem whose optimum is not known.
    """
    return _scale_of(problem.without_noise())


@lru_cache(maxsize=256)
def _scale_of(problem: Problem) -> float:
    if problem.optimum is None:
        raise InvalidInput(f"a scale of regret needs a known optimum; {problem.name!r} has none.")
    X = np.random.default_rng(_SEED).random((_POINTS, problem.space.dim))
    regrets = problem.evaluate(X) - problem.optimum
    middle = float(np.median(regrets))
    return middle if middle > 0.0 else float(np.mean(regrets))
