"""From how many results on may hyperparameters stay as they are while results are added to the model?

    python benchmarks/refits.py --seeds 0-4                                      # to choose on
    python benchmarks/refits.py --seeds 100-104 --confirm --write                # once, on what nobody looked at

With fewer results than ``KEPT_FROM`` (``study/models.py``) hyperparameters are fitted anew for each result; with more,
results are added to the fit in closed form until it is due. Eight workers evaluate a problem of each class of the suite
220 times, one suggestion after another, as an Optuna study with eight workers asks for them. A run counts by
l = log10(regret / scale), as in ``believer bench --suite``, with a floor of 1e-6.

The rule, written down before the runs: of 250 (the setting so far), 100 and 50 the smallest is chosen whose mean l over
all pairs of runs is at most 0.03 above that of 250, and with which no problem is shown worse (signed-rank test, Holm
over problems, 5 %). It stays only if both hold in the confirmation as well: on fresh seeds of other problems, the last
of each class, which have the most parameters.

Seeds 0 to 4 said (engine 5): 50 is 0.030 better (15 runs won, 10 lost, two thirds of the time), 100 is 0.050 better
(11 won, 12 lost, 0.84 of the time), no problem is shown worse; most runs of half of the problems end below the floor.
100 is confirmed, and not 50, because the default was chosen on studies of up to 100 results, which it leaves as they
are.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from regret_report import markdown_table
from speed import provenance
from tqdm import tqdm

from believer.arrays import Array
from believer.experiments import holm, wilcoxon
from believer.study import models
from believer_bench.command import seeds_of
from believer_bench.contest import Contest
from believer_bench.members import Ours
from believer_bench.problems import PROBLEMS
from believer_bench.race import design, run
from believer_bench.scores import measure_of
from believer_bench.suite import SUITES, suite_tasks

SO_FAR, OTHERS, CHOSEN = 250, (100, 50), 100
WORKERS, EVALUATIONS = 8, 220
FLOOR, ALLOWED, LEVEL = -6.0, 0.03, 0.05
RESULTS = Path(__file__).parent / "results" / "refits.md"


def ended(settings: dict[str, object], seed: int, kept_from: int) -> tuple[float, float]:
    """l of a run, and the processor seconds of its asks and tells."""
    models.KEPT_FROM = kept_from
    contest = Contest.from_settings(settings, seed)
    X = design(contest.space, settings["n_init"], seed)
    durations = np.random.default_rng([seed, 8]).uniform(1.0, 10.0, size=EVALUATIONS)
    enter = partial(Ours, contest.space, seed=seed)
    course = run(
        lambda X0, y0: enter(X0=X0, y0=y0), contest.values, X, contest.values(X), WORKERS, settings["budget"], durations
    )
    measure = measure_of(settings["problem"])
    share = (float(contest.truths(course.X).min()) - measure.optimum) / measure.scale
    return max(float(np.log10(max(share, 1e-12))), FLOOR), float(course.spent[:, 1].sum())


def main() -> None:
    """Run all, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=seeds_of, default=range(5))
    parser.add_argument("--confirm", action="store_true", help=f"{CHOSEN} beside {SO_FAR} alone, on other problems")
    parser.add_argument("--write", action="store_true", help="write results/refits.md")
    given = parser.parse_args()
    others = (CHOSEN,) if given.confirm else OTHERS
    largest = {PROBLEMS[name]().kind: name for name in SUITES["full"].problems}  # the last of each class
    names = [*largest.values()] if given.confirm else None
    tasks = suite_tasks(SUITES["quick"], names, q=(WORKERS,), modes=("async",), budget=EVALUATIONS)
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    jobs = [(task.settings, seed, kept) for seed in given.seeds for task in tasks for kept in (SO_FAR, *others)]
    for settings, seed, kept in tqdm(jobs, disable=None):
        found.setdefault((settings["problem"], kept), []).append(ended(settings, seed, kept))
    problems = list(dict.fromkeys(settings["problem"] for settings, _, _ in jobs))
    text = [f"Seeds {given.seeds[0]} to {given.seeds[-1]}. p is after Holm; CPU is the ratio of processor seconds.", ""]
    lines = []
    for kept in others:
        apart = {name: differences(found, name, kept) for name in problems}
        every = np.concatenate([*apart.values()])
        p = holm([wilcoxon(d) if d.any() else 1.0 for d in apart.values()])
        worse = [name for name, value in zip(problems, p, strict=True) if value < LEVEL and apart[name].mean() > 0.0]
        seconds = [sum(s for name in problems for _, s in found[name, k]) for k in (kept, SO_FAR)]
        held = every.mean() <= ALLOWED and not worse
        lines.append(
            [
                *(f"{kept}", f"{every.mean():+.3f}", f"{(every < 0).sum()} : {(every > 0).sum()}"),
                *(", ".join(worse) or "-", f"{seconds[0] / seconds[1]:.2f}", "holds" if held else "fails"),
            ]
        )
        lines += [
            [f"{kept}, {name}", f"{d.mean():+.3f}", f"{(d < 0).sum()} : {(d > 0).sum()}", f"p = {value:.2g}", "", ""]
            for (name, d), value in zip(apart.items(), p, strict=True)
        ]
    heads = ["kept from", f"l less that of {SO_FAR}", "won : lost", "shown worse", "CPU", "the rule"]
    text.append(markdown_table(heads, lines))
    print("\n".join(text))
    if given.write:
        head = "# When hyperparameters are fitted again\n\nMade by [refits.py](../refits.py), which has the rule.\n\n"
        RESULTS.write_text(head + "\n".join(text) + "\n\n" + provenance(["hedged"]) + "\n", encoding="utf-8")


def differences(found: dict[tuple[str, int], list[tuple[float, float]]], name: str, kept: int) -> Array:
    """l of each seed less that of the setting so far."""
    return np.array([a - b for (a, _), (b, _) in zip(found[name, kept], found[name, SO_FAR], strict=True)])


if __name__ == "__main__":
    main()
