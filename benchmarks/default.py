"""The default, chosen: what each of its parts brings, by class of problems, and what was left out.

    python benchmarks/default.py --seeds 0-9 --store dev.jsonl                     # to choose on
    python benchmarks/default.py --seeds 4000-4009 --store fresh.jsonl --confirm   # once, on seeds nobody looked at

Every variant runs on all problems of the suite from the same initial points, q = 3 (50 evaluations) and q = 10 (100),
in batches. A run counts by l = log10(regret / scale) as in ``believer bench --suite`` (floor 1e-6), and once more with
a floor of 1e-4, below which few users care; of noisy problems by the least true value among the evaluated points.
Differences are to "before", the default of the round before. Spaces without a continuous column (grids of integers,
categories, tables) are a class of their own, "finite", beside the class that each of these problems has by its shape.

The rule, written down before the runs:
1. A variant's score is the mean over the twelve classes of its mean l less that of "before", averaged over both q and
   both floors. Classes count alike, however many problems they have.
2. A variant is out if some class at some q, "finite" among them, is shown worse than "before" (signed-rank test, Holm
   over classes and q, 5 %), or if its score on "finite" alone is above +0.03. Where only "finite" speaks against it, a
   variant that takes the part in other spaces only, and stays as before in these, is judged in its place.
3. Parts come in one after another, simplest first: the prior of lengthscales, warps, the kernel, the strategy. On the
   development seeds a part comes in if the score with it is better by 0.03 or more than the score without; of several
   candidates for one part the best does, or a simpler one within 0.03 of it.
4. The confirmation runs once, on fresh seeds: "before", and each part that came in on top of those before it. A part
   stays only if with it l is shown lower than without (signed-rank test over all paired runs, 5 %, lower on average),
   and if rule 2 holds there too. What a part costs an ask is no matter of this rule; the limits of time are.
5. Leave one class out: rules 1 to 3 are applied to the other eleven; what they choose is judged on the one left out.
6. Calibration decides between variants within 0.03 of each other that are equally simple.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Mapping, Sequence
from functools import cache, partial
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
from believer_bench.problems import PROBLEMS
from believer_bench.race import design, run
from believer_bench.scores import measure_of
from believer_bench.suite import SUITES, suite_tasks

BEFORE = "before"
VARIANTS: dict[str, dict[str, Any]] = {
    BEFORE: {"surrogate": bv.GP(prior="separate")},
    "prior": {},
    "prior everywhere": {"surrogate": bv.GP()},
    "prior, Matern-3/2": {"surrogate": bv.GP("matern32")},
    "prior, kb": {"strategy": "kb"},
}
CONFIRMED = (BEFORE, "prior")
FINITE, ALLOWED = "finite", 0.03
FLOORS = (-6.0, -4.0)
LEVEL = 0.05


def main() -> None:
    """Run what is missing, then print the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=seeds_of, default=range(5))
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--confirm", action="store_true", help="the parts that came in, one on top of the other")
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
    """Scores, classes, who is out, what each part brings, and what leaving one class out would have chosen."""
    runs: Runs = {}
    near: dict[tuple[str, int], list[float]] = {}
    for name, problem, q, seed, value, share in rows:
        runs.setdefault((name, q), {})[problem, seed] = value
        if not measure_of(problem).noisy:
            near.setdefault((name, q), []).append(share)
    sizes, kinds = sorted({q for _, q in runs}), list(dict.fromkeys(measure_of(row[1]).kind for row in rows))
    classes = [*kinds, FINITE]
    scores = {name: score(runs, name, sizes, kinds) for name in names}
    finite = {name: score(runs, name, sizes, [FINITE]) for name in names}
    out = {name: reasons(runs, name, sizes, classes) for name in names}
    table = [
        [name, f"{scores[name]:+.3f}", f"{finite[name]:+.3f}", ", ".join(out[name]) or "-"]
        + [f"{100 * np.mean(near[name, q]):.2f} %" for q in sizes]
        for name in sorted(names, key=scores.__getitem__)
    ]
    heads = ["variant", "score", FINITE, "out by", *(f"near-duplicate pairs, q={q}" for q in sizes)]
    text = ["## Scores", "", markdown_table(heads, table), "", "## One on top of the other", ""]
    heads = ["variant", "than", "difference of l", "won : lost", "p"]
    pairs = [(name, other) for place, name in enumerate(names) for other in names[:place]]
    text += [markdown_table(heads, [versus(runs, name, other, sizes) for name, other in pairs]), ""]
    for q in sizes:
        lines = [[name, *(f"{mean(runs, name, q, [kind]):+.2f}" for kind in classes)] for name in names]
        text += [f"## Mean l less that of {BEFORE} by class, q={q}", ""]
        text += [markdown_table(["variant", *classes], lines), ""]
    left = []
    for kind in kinds:
        others = [other for other in kinds if other != kind]
        fit = [name for name in names if not reasons(runs, name, sizes, others)]
        best = min(fit, key=lambda name: score(runs, name, sizes, others))
        left.append([kind, best, f"{score(runs, best, sizes, [kind]):+.3f}", f"{scores[best]:+.3f}"])
    heads = ["class left out", "best score on the others", "its score on the class", "its score on all"]
    return "\n".join([*text, "## Leave one class out", "", markdown_table(heads, left)])


@cache
def classes_of(problem: str) -> tuple[str, ...]:
    """The class of a problem by its shape, and "finite" where its space has no continuous column."""
    kind = measure_of(problem).kind
    return (kind,) if PROBLEMS[problem]().space.size is None else (kind, FINITE)


def differences(
    runs: Runs, name: str, q: int, kinds: Sequence[str] | None, floor: float = FLOORS[0], other: str = BEFORE
) -> np.ndarray:
    """l less that of another variant, paired, over the problems of some classes, or of all."""
    mine, base = runs[name, q], runs[other, q]
    blocks = [b for b in base if b in mine and (kinds is None or any(kind in kinds for kind in classes_of(b[0])))]
    return np.array([max(mine[block], floor) - max(base[block], floor) for block in blocks])


def mean(runs: Runs, name: str, q: int, kinds: Sequence[str], floor: float = FLOORS[0]) -> float:
    """Of the differences, over classes that count alike."""
    return float(np.mean([differences(runs, name, q, [kind], floor).mean() for kind in kinds]))


def score(runs: Runs, name: str, sizes: Sequence[int], kinds: Sequence[str]) -> float:
    """Rule 1."""
    return float(np.mean([mean(runs, name, q, kinds, floor) for q in sizes for floor in FLOORS]))


def reasons(runs: Runs, name: str, sizes: Sequence[int], kinds: Sequence[str]) -> list[str]:
    """Rule 2: classes with the size of the batches where it is shown worse, and "finite" where it loses there."""
    tests: Mapping[str, np.ndarray] = {
        f"{kind} q={q}": differences(runs, name, q, [kind]) for kind in kinds for q in sizes
    }
    p = holm([wilcoxon(d) if d.any() else 1.0 for d in tests.values()])
    found = [where for (where, d), value in zip(tests.items(), p, strict=True) if value < LEVEL and d.mean() > 0.0]
    loses = FINITE in kinds and score(runs, name, sizes, [FINITE]) > ALLOWED
    return [*found, f"{FINITE}'s score"] if loses else found


def versus(runs: Runs, name: str, other: str, sizes: Sequence[int]) -> list[str]:
    """Rule 4: one variant beside another, over all paired runs."""
    d = np.concatenate([differences(runs, name, q, None, other=other) for q in sizes])
    p = wilcoxon(d) if d.any() else 1.0
    return [name, other, f"{d.mean():+.3f}", f"{(d < 0).sum()} : {(d > 0).sum()}", f"{p:.2g}"]


if __name__ == "__main__":
    main()
