"""How careful should a study be where evaluations fail?

    python benchmarks/failures.py --markdown benchmarks/results/failures.md

A model learns where they do, from -1 for an evaluation that came back and 1 for one that failed. It has two numbers:

- *std*, how far these labels are taken to be off. A border between them is no smooth function: a model that takes them
  to be exact finds short lengthscales, and hopes again between two failures.
- *limit*, below which an evaluation counts as one that comes back. At 0 a place half way between the two is a toss-up,
  and where the best points lie at the border, half of all evaluations fail.

Problems in two and four dimensions, of which a part fails: around the optimum, beside it, far from it; 40 evaluations
in batches of four. Best values are distances from an optimum that may lie where nothing comes back.

*The rule*, on the first four problems: of all pairs, the one with the fewest failures whose median distance is nowhere
farther than that of exact labels by more than a twentieth. (It was written after a first look: at std on seeds 0 to 9
with a limit of 0, then at the limit on these seeds.) *Confirmation*, once, on four other problems against a limit of 0:
failures and distances.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.experiments.lines import ProgressLines
from believer.plugins import Limits
from believer.study import history

PAIRS = ((1e-6, 0.0), (0.3, 0.0), (0.6, 0.0), (1.0, 0.0), (0.3, -0.25), (0.3, -0.5), (0.3, -0.75))
CONFIRMED = ((0.3, 0.0), (0.3, -0.5))
SEEDS = range(10, 30)
Problem = tuple[Callable[[list[float]], bool], tuple[float, ...]]
PROBLEMS: dict[str, Problem] = {
    "edge": (lambda x: x[0] > 0.8, (0.9, 0.1)),
    "disc": (lambda x: math.dist(x, (0.5, 0.5)) < 0.15, (0.5, 0.55)),
    "far": (lambda x: x[0] < 0.35, (0.7, 0.4)),
    "waves": (lambda x: math.sin(7 * x[0]) + math.cos(6 * x[1]) > 0.9, (0.2, 0.1)),
}
OTHERS: dict[str, Problem] = {
    "corner": (lambda x: x[0] + x[1] > 1.2, (0.8, 0.6)),
    "band": (lambda x: 0.45 < x[0] < 0.55, (0.8, 0.3)),
    "island": (lambda x: math.dist(x, (0.3, 0.6)) > 0.3, (0.45, 0.9)),
    "ball": (lambda x: math.dist(x, (0.5, 0.5, 0.5, 0.5)) > 0.55, (0.9, 0.2, 0.8, 0.3)),
}


def run(problem: Problem, seed: int) -> tuple[int, float]:
    """How many evaluations failed, and the least distance."""
    fails, optimum = problem
    wanted = {"cost": bv.Minimize(), "load": bv.AtMost(2.0)}
    opt = bv.Optimizer(bv.Space.cube(len(optimum)), outcomes=wanted, seed=seed)
    for _ in range(10):
        for trial in opt.ask(4):
            x = list(trial.params.values())
            if fails(x):
                opt.tell(trial, error="failed")
            else:
                opt.tell(trial, {"cost": math.dist(x, optimum) ** 2, "load": x[0]})
    return opt.counts.failed, math.inf if opt.best is None else math.sqrt(opt.best[1])


def table(problems: dict[str, Problem], pairs: tuple[tuple[float, float], ...]) -> str:
    """A row for each pair and problem."""
    progress, rows = ProgressLines(len(pairs) * len(problems), sys.stderr), list[list[str]]()
    for std, limit in pairs:
        history.RUN_STD, history._RUN = std, replace(history._RUN, limits=Limits(high=limit))
        for name, problem in problems.items():
            failed, best = zip(*(run(problem, seed) for seed in SEEDS), strict=True)
            figures = [f"{np.mean(failed):.1f}", f"{np.median(best):.4f}", f"{max(best):.4f}"]
            rows.append([f"{std:g}", f"{limit:g}", name, *figures])
            progress.show(len(rows), f"std {std:g}, limit {limit:g}, {name}")
    header = ["std", "limit", "problem", "failed of 40, mean", "distance, median", "largest of 20 seeds"]
    return markdown_table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    parts = ["# Where evaluations fail", "By benchmarks/failures.py, which says how.", table(PROBLEMS, PAIRS)]
    text = "\n\n".join([*parts, "## Confirmation, on other problems", table(OTHERS, CONFIRMED)])
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
