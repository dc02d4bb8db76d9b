"""Where should hypervolume be measured from while several objectives are searched, if nobody says so?

    python benchmarks/reference.py --seeds 100-109 --markdown benchmarks/results/reference.md

A reference at the worst of the front that is known leaves nothing to gain beyond its ends: a front that begins in a
corner stays there. One at the worst of all results makes the ends worth more than all between them, above all where a
few results are very bad. ``AMONG`` is a quantile of all results: the reference is no nearer than it
(``inferred_reference`` of believer.acquisitions.hypervolume).

The fronts of ``benchmarks/outcomes.py`` and three more, all searched without a reference: 2 (d + 1) initial points,
eight batches of four. Judged by the share of the ideal hypervolume that is missing in the end from the problem's own
reference, which no search knows.

*The rule*: the least mean over problems of the median log10 of what is missing. It was written before a first run,
without the last problem, which found that a reference at the worst result beats one near the front by 0.5.
*Confirmation*, once, on seeds 120 to 139: 0 and what was chosen, by the same mean.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from outcomes import BATCH, BATCHES, PROBLEMS, reached
from regret_report import markdown_table

import believer as bv
from believer.acquisitions import hypervolume
from believer.experiments.lines import ProgressLines
from believer.study.goals import Goals
from believer_bench.command import seeds_of
from believer_bench.problems import FRONTS, SeveralProblem
from believer_bench.race import design

QUANTILES = (0.0, 0.5, 0.75, 0.9, 1.0)
CONFIRMED = "120-139"


def _sold(params: dict[str, float]) -> dict[str, float]:
    x, y = params["x"], params["y"]
    return {"sold": x * y, "stock": x, "weight": y}


_SOLD = SeveralProblem(
    "sold",
    bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 5)}),
    _sold,
    {"sold": ("maximize", None), "stock": ("minimize", None), "weight": ("at_most", 2.0)},
    reference=(0.0, 1.0),
    hypervolume=1.0,
)
"""A front from one corner to the other, sold = 2 stock, at the limit of the weight: a triangle of 1."""

STUDIED = {
    **{name: PROBLEMS[name] for name in FRONTS},
    "sold": _SOLD,
    "wide": replace(
        _SOLD,
        name="wide",
        space=bv.Space({"x": bv.Float(0, 1), "y": bv.Float(0, 2)}),
        goals={name: goal for name, goal in _SOLD.goals.items() if name != "weight"},
        function=lambda params: {name: value for name, value in _sold(params).items() if name != "weight"},
    ),
}


STUDIED["spoilt"] = replace(
    STUDIED["wide"],
    name="spoilt",
    function=lambda params: STUDIED["wide"].function(params) if params["y"] > 0.4 else {"sold": -1e3, "stock": 1e3},
)
"""Where people return a penalty for what did not work."""


def missing(problem: SeveralProblem, seed: int) -> float:
    """log10 of what is missing in the end."""
    opt = bv.Optimizer(problem.space, n_init=1, seed=seed, outcomes=Goals.named(problem.goals).wanted)
    X = design(problem.space, 2 * (problem.space.dim + 1), seed)
    found = [problem.function(params) for params in problem.space.decode(X)]
    for params, outcomes in zip(problem.space.decode(X), found, strict=True):
        opt.observe(params, outcomes)
    for _ in range(BATCHES):
        for trial in opt.ask(BATCH):
            found.append(problem.function(trial.params))
            opt.tell(trial, found[-1])
    return float(reached(problem, problem.table(found))[-1])


def table(quantiles: tuple[float, ...], seeds: list[int]) -> tuple[str, float]:
    """Medians of each problem and their mean; and the quantile with the least."""
    progress, rows, means = ProgressLines(len(quantiles) * len(STUDIED), sys.stderr), list[list[str]](), list[float]()
    for quantile in quantiles:
        hypervolume.AMONG = quantile
        medians = []
        for name, problem in STUDIED.items():
            medians.append(float(np.median([missing(problem, seed) for seed in seeds])))
            progress.show(len(means) * len(STUDIED) + len(medians), f"{quantile:g}, {name}")
        means.append(float(np.mean(medians)))
        rows.append([f"{quantile:g}", *(f"{median:.2f}" for median in medians), f"{means[-1]:.3f}"])
    return markdown_table(["quantile", *STUDIED, "mean"], rows), quantiles[int(np.argmin(means))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("100-109"))
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    chosen, best = table(QUANTILES, options.seeds)
    confirmed, _ = table((0.0, best), seeds_of(CONFIRMED)) if best else ("Nothing to confirm.", best)
    parts = ["# Where hypervolume is measured from, if nobody says so", "By benchmarks/reference.py, which says how."]
    text = "\n\n".join([*parts, "log10 of the share that is missing, medians.", chosen, "## Confirmation", confirmed])
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
