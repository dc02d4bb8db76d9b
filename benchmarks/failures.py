"""How sure should the model be that learns where evaluations fail?

    python benchmarks/failures.py --markdown benchmarks/results/failures.md

Its results are -1 and 1, and a border between them is no smooth function: a model that takes them to be exact finds
short lengthscales, and hopes again between two failures. Four problems in two dimensions, of which a part fails: beyond
an edge beside the optimum, in a disc around it, far from it, and in waves; 40 evaluations in batches of four.

*The rule*: of the standard deviations of a label, the one with the fewest failures in all whose best values are nowhere
worse in the median than those of exact labels by more than a tenth. (It was written after a first look at these seeds.)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.study import history

STDS = (1e-6, 0.3, 0.6, 1.0)
SEEDS = range(10)
SPACE = bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 1)})
Params = dict[str, float]
PROBLEMS: dict[str, tuple[Callable[[Params], bool], tuple[float, float]]] = {
    "edge": (lambda p: p["x"] > 0.8, (0.9, 0.1)),
    "disc": (lambda p: math.hypot(p["x"] - 0.5, p["y"] - 0.5) < 0.15, (0.5, 0.55)),
    "far": (lambda p: p["x"] < 0.35, (0.7, 0.4)),
    "waves": (lambda p: math.sin(7 * p["x"]) + math.cos(6 * p["y"]) > 0.9, (0.2, 0.1)),
}


def run(problem: str, seed: int) -> tuple[int, float]:
    """How many evaluations failed, and the best value."""
    fails, (x, y) = PROBLEMS[problem]
    opt = bv.Optimizer(SPACE, outcomes={"cost": bv.Minimize(), "load": bv.AtMost(2.0)}, seed=seed)
    for _ in range(10):
        for trial in opt.ask(4):
            if fails(trial.params):
                opt.tell(trial, error="failed")
            else:
                cost = (trial.params["x"] - x) ** 2 + (trial.params["y"] - y) ** 2
                opt.tell(trial, {"cost": cost, "load": trial.params["y"]})
    return opt.counts.failed, math.inf if opt.best is None else opt.best[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    lines = []
    for std in STDS:
        history.RUN_STD = std
        for problem in PROBLEMS:
            failed, best = zip(*(run(problem, seed) for seed in SEEDS), strict=True)
            lines.append([f"{std:g}", problem, f"{np.median(failed):g}", f"{np.median(best):.5f}", f"{max(best):.5f}"])
    header = ["std of a label", "problem", "failed of 40, median", "best value, median", "worst of ten seeds"]
    text = f"# Where evaluations fail\n\nBy benchmarks/failures.py, which says how.\n\n{markdown_table(header, lines)}"
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
