"""Beliefs about where the optimum is (``likely=``): what a right one brings and what a wrong one costs.

    python benchmarks/likely.py --seeds 10 --markdown benchmarks/results/likely.md

Six parameters, 40 evaluations in batches of four. *right*: every center is 0.05 off the optimum (normal), the width is
0.1. *one wrong*: the first center is 0.45 off. *all wrong*: all are. Median value of the best point so far.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

import believer as bv

NAMES = [f"x{i}" for i in range(6)]
A = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(x: np.ndarray) -> float:
    """Hartmann's function; the least value is -3.322."""
    return -float((np.array([1.0, 1.2, 3.0, 3.2]) * np.exp(-(A * (x - P) ** 2).sum(axis=1))).sum())


def ackley(x: np.ndarray) -> float:
    """Ackley's function on a box of length 20; 0 at (0.37, ...)."""
    z = 20.0 * (x - 0.37)
    return float(20.0 - 20.0 * np.exp(-0.2 * np.sqrt((z**2).mean())) + np.e - np.exp(np.cos(2.0 * np.pi * z).mean()))


PROBLEMS: dict[str, tuple[Callable[[np.ndarray], float], np.ndarray]] = {
    "hartmann": (hartmann, np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])),
    "ackley": (ackley, np.full(6, 0.37)),
}
KINDS = ("none", "right", "one wrong", "all wrong")


def best_so_far(problem: str, kind: str, seed: int, strategy: str | None) -> np.ndarray:
    """The best value after each of 40 evaluations."""
    function, best = PROBLEMS[problem]
    right = np.clip(best + 0.05 * np.random.default_rng(seed).standard_normal(6), 0.0, 1.0)
    wrong = np.where(best > 0.5, best - 0.45, best + 0.45)
    is_wrong = np.arange(6) < {"one wrong": 1, "all wrong": 6}.get(kind, 0)
    centers = np.where(is_wrong, wrong, right)
    likely = [None if kind == "none" else (float(center), 0.1) for center in centers]
    space = bv.Space({name: bv.Float(0, 1, likely=one) for name, one in zip(NAMES, likely, strict=True)})
    study, found = bv.Optimizer(space, seed=seed, strategy=strategy), list[float]()
    while len(found) < 40:
        for trial in study.ask(4):
            found.append(function(np.array([*trial.params.values()])))
            study.tell(trial, found[-1])
    return np.minimum.accumulate(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--strategies", nargs="+", default=["hedged"])
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    lines = [
        "# Beliefs about the optimum (`python benchmarks/likely.py`)",
        "",
        f"Median of {given.seeds} seeds of the best value after 16, 28 and 40 evaluations, and the worst after 40.",
        "",
        "| strategy | problem | belief | 16 | 28 | 40 | worst |",
        "|---|---|---|---|---|---|---|",
    ]
    for strategy in given.strategies:
        for problem in PROBLEMS:
            for kind in KINDS:
                found = np.array([best_so_far(problem, kind, seed, strategy) for seed in range(given.seeds)])
                medians = " | ".join(f"{np.median(found[:, n - 1]):.3f}" for n in (16, 28, 40))
                lines.append(f"| {strategy} | {problem} | {kind} | {medians} | {found[:, -1].max():.3f} |")
                print(lines[-1], flush=True)
    if given.markdown:
        given.markdown.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
