"""The engine against uniform sampling, on equal designs and budgets."""

from __future__ import annotations

import pytest

import believer as bv
from believer.problems import PROBLEMS

SEEDS = range(200, 212)


def final_value(problem: str, strategy: str, seed: int, budget: int) -> float:
    task = PROBLEMS[problem]()
    result = bv.minimize(task, task.space, budget=budget, q=3, seed=seed, strategy=strategy, progress=False)
    assert result.value is not None
    return result.value


@pytest.mark.parametrize(("problem", "budget"), [("branin", 24), ("hartmann6", 30)])
@pytest.mark.parametrize("strategy", ["kb", "cl_min", "fantasy"])
def test_a_strategy_with_a_model_beats_random_batches(problem: str, budget: int, strategy: str) -> None:
    """Sign test over 12 seeds that share their design: 10 wins or more happen by chance with probability 79/4096."""
    wins = [final_value(problem, strategy, s, budget) < final_value(problem, "random", s, budget) for s in SEEDS]
    assert sum(wins) >= 10
