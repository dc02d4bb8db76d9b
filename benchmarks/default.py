"""The default, chosen: what each of its parts brings, by class of problems, and what was left out.

    python benchmarks/default.py --seeds 0-4 --store dev.jsonl                     # to choose on
    python benchmarks/default.py --seeds 2000-2004 --store fresh.jsonl --confirm   # once, on seeds nobody looked at

Every variant runs on all problems of the suite from the same initial points, q = 3 (50 evaluations) and q = 10 (100),
in batches. A run counts by l = log10(regret / scale) as in ``believer bench --suite`` (floor 1e-6), and once more with
a floor of 1e-4, below which few users care; of noisy problems by the least true value among the evaluated points.

The rule, written down before the runs:
1. A variant's score is the mean over the twelve classes of its mean l less that of the former default, averaged over
   both q and both floors. Classes count alike, however many problems they have.
2. A variant is out if some class at some q is shown worse than the former default (signed-rank test, Holm over classes
   and q, 5 %).
3. Of what is left the best score wins; a simpler variant that is within 0.03 of it wins instead. Simpler is what has
   fewer of: a warp, a hedge, a decision on noise, a resolution. The hedge, which keeps near-duplicates out of batches,
   and the decision on noise, without which noisy results are taken at their word, stay where they cost less than 0.03.
Leave one class out: the rule is applied to the other eleven; what it chooses is then judged on the one left out.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.experiments import Cell, holm, wilcoxon
from believer.experiments import run as run_cells
from believer_bench.command import seeds_of
from believer_bench.contest import Contest
from believer_bench.members import Ours
from believer_bench.race import design, run
from believer_bench.scores import measure_of
from believer_bench.suite import SUITES, suite_tasks

FORMER = {"strategy": "kb", "warp": "none", "surrogate": bv.GP(noise=1e-6)}
VARIANTS: dict[str, dict[str, Any]] = {
    "former": FORMER,
    "noise": {**FORMER, "surrogate": bv.GP()},
    "warp": {**FORMER, "warp": "auto"},
    "hedge": {**FORMER, "strategy": "hedged"},
    "warp, noise": {"strategy": "kb"},
    "warp, hedge": {"surrogate": bv.GP(noise=1e-6)},
    "default": {},
    "default, resolution 0": {"resolution": 0.0},
    "default, hedge x 1/4": {"strategy": bv.PseudoObservations(hedge=1.0 / 60.0)},
    "default, hedge x 4": {"strategy": bv.PseudoObservations(hedge=4.0 / 15.0)},
    "default, Matern-3/2": {"surrogate": bv.GP("matern32")},
    "warp, qei": {"strategy": "qei"},
    "warp, ucb_pe": {"strategy": "ucb_pe"},
}
CONFIRMED = ("former", "warp, noise", "default")
FLOORS = (-6.0, -4.0)
LEVEL = 0.05


def main() -> None:
    """Run what is missing, then print the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=seeds_of, default=range(5))
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--confirm", action="store_true", help="the former default, its parts and the default alone")
    parser.add_argument("--csv", type=Path, help="every run's l")
    given = parser.parse_args()
    names = list(CONFIRMED if given.confirm else VARIANTS)
    tasks = suite_tasks(SUITES["full"], q=(3, 10), modes=("sync",))
    cells = [
        Cell("default", {"variant": name, **task.settings}, seed)
        for seed in given.seeds
        for task in tasks
        for name in names
    ]
    rows = [
        (c.settings["variant"], c.settings["problem"], c.settings["q"], c.seed, r["l"], r["near"])
        for c, r in zip(cells, run_cells(cells, work, given.store, None, given.workers, True), strict=True)
    ]
    if given.csv:
        with given.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("variant", "problem", "q", "seed", "l", "near"), *rows])
    print(report(rows, names))


def work(cell: Cell) -> dict[str, Any]:
    """One run: its l, and the share of pairs of a batch that its verdicts call nearly the same."""
    s = cell.settings
    contest = Contest.from_settings(s, cell.seed)
    X = design(contest.space, s["n_init"], cell.seed)
    enter = partial(Ours, contest.space, seed=cell.seed, **VARIANTS[s["variant"]])
    course = run(lambda X0, y0: enter(X0=X0, y0=y0), contest.values, X, contest.values(X), s["q"], s["budget"])
    measure = measure_of(s["problem"])
    best = float(contest.truths(course.X).min())
    pairs = sum(len(batch) * (len(batch) - 1) // 2 for batch in course.batches)
    near = sum(len(verdict.near_duplicates) for verdict in course.verdicts if verdict is not None)
    share = max((best - measure.optimum) / measure.scale, 1e-12)
    return {"l": float(np.log10(share)), "near": near / max(pairs, 1)}


Row = tuple[str, str, int, int, float, float]
Runs = dict[tuple[str, int], dict[tuple[str, int], float]]


def report(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Scores, classes, who is out, and what leaving one class out would have chosen."""
    runs: Runs = {}
    near: dict[tuple[str, int], list[float]] = {}
    for name, problem, q, seed, value, share in rows:
        runs.setdefault((name, q), {})[problem, seed] = value
        if not measure_of(problem).noisy:
            near.setdefault((name, q), []).append(share)
    sizes, kinds = sorted({q for _, q in runs}), list(dict.fromkeys(measure_of(row[1]).kind for row in rows))
    scores = {name: score(runs, name, sizes, kinds) for name in names}
    worse = {name: shown_worse(runs, name, sizes, kinds) for name in names}
    table = [
        [name, f"{scores[name]:+.3f}", ", ".join(worse[name]) or "-"]
        + [f"{100 * np.mean(near[name, q]):.2f} %" for q in sizes]
        for name in sorted(names, key=scores.__getitem__)
    ]
    heads = ["variant", "score", "classes shown worse", *(f"near-duplicate pairs, q={q}" for q in sizes)]
    text = ["## Scores", "", markdown_table(heads, table), ""]
    for q in sizes:
        lines = [[name, *(f"{mean(runs, name, q, [kind]):+.2f}" for kind in kinds)] for name in names]
        text += [f"## Mean l less that of the former default by class, q={q}", ""]
        text += [markdown_table(["variant", *kinds], lines), ""]
    left = []
    for kind in kinds:
        others = [other for other in kinds if other != kind]
        fit = [name for name in names if not shown_worse(runs, name, sizes, others)]
        best = min(fit, key=lambda name: score(runs, name, sizes, others))
        left.append([kind, best, f"{score(runs, best, sizes, [kind]):+.3f}", f"{scores[best]:+.3f}"])
    heads = ["class left out", "best score on the others", "its score on the class", "its score on all"]
    return "\n".join([*text, "## Leave one class out", "", markdown_table(heads, left)])


def differences(runs: Runs, name: str, q: int, kinds: Sequence[str], floor: float) -> np.ndarray:
    """l less that of the former default, paired, over the problems of some classes."""
    mine, base = runs[name, q], runs["former", q]
    blocks = [block for block in base if block in mine and measure_of(block[0]).kind in kinds]
    return np.array([max(mine[block], floor) - max(base[block], floor) for block in blocks])


def mean(runs: Runs, name: str, q: int, kinds: Sequence[str], floor: float = FLOORS[0]) -> float:
    """Of the differences, over classes that count alike."""
    return float(np.mean([differences(runs, name, q, [kind], floor).mean() for kind in kinds]))


def score(runs: Runs, name: str, sizes: Sequence[int], kinds: Sequence[str]) -> float:
    """Rule 1."""
    return float(np.mean([mean(runs, name, q, kinds, floor) for q in sizes for floor in FLOORS]))


def shown_worse(runs: Runs, name: str, sizes: Sequence[int], kinds: Sequence[str]) -> list[str]:
    """Rule 2: classes, with the size of the batches."""
    tests: Mapping[str, np.ndarray] = {
        f"{kind} q={q}": differences(runs, name, q, [kind], FLOORS[0]) for kind in kinds for q in sizes
    }
    p = holm([wilcoxon(d) if d.any() else 1.0 for d in tests.values()])
    return [where for (where, d), value in zip(tests.items(), p, strict=True) if value < LEVEL and d.mean() > 0.0]


if __name__ == "__main__":
    main()
