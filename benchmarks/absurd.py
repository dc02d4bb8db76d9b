"""Do absurd results spoil a study? Hartmann-6D, some of whose results come back as 1e12.

    python benchmarks/absurd.py        # a minute of one core

Each result of a run, the design's included, is 1e12 with the probability in the first column, as if a simulation had
failed and had a penalty for it. 50 evaluations in batches of three, seeds 0-49; an absurd result is lost, so some loss
remains whatever the model does. Writes ``results/absurd.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table
from speed import provenance

import believer as bv
from believer.problems import PROBLEMS

ABSURD, SHARES, SEEDS, EVALUATIONS = 1e12, (0.0, 0.01, 0.03, 0.1), range(50), 50
MEMBERS: dict[str, dict[str, Any]] = {"default": {}, "without a warp": {"warp": "none"}}
RESULTS = Path(__file__).parent / "results" / "absurd.md"


def best(seed: int, share: float, options: dict[str, Any]) -> float:
    """The least result of a run."""
    problem, rng = PROBLEMS["hartmann6"](), np.random.default_rng([seed, 1])
    optimizer = bv.Optimizer(problem.space, seed=seed, **options)
    while optimizer.counts.done < EVALUATIONS:
        for trial in optimizer.ask(min(3, EVALUATIONS - optimizer.counts.done)):
            optimizer.tell(trial, ABSURD if rng.random() < share else problem(trial.params))
    assert optimizer.best is not None
    return optimizer.best[1]


def main() -> None:
    """Run all and write the table."""
    lines = []
    for share in SHARES:
        for name, options in MEMBERS.items():
            ends = np.array([best(seed, share, options) for seed in SEEDS])
            basin = f"{np.mean(ends < -3.25):.0%}"
            lines.append([f"{share:.0%}", name, f"{np.median(ends):.3f}", f"{ends.mean():.3f}", basin])
            print(" | ".join(lines[-1]), flush=True)
    heads = ["absurd", "model", "median", "mean", "in the best basin"]
    text = (
        "# Absurd results\n\nMade by [absurd.py](../absurd.py): Hartmann-6D, whose least value is -3.322, a share of "
        f"whose results is {ABSURD:g}; {EVALUATIONS} evaluations in batches of three, {len(SEEDS)} seeds.\n\n"
    )
    RESULTS.write_text(text + markdown_table(heads, lines) + "\n\n" + provenance(["hedged"]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
