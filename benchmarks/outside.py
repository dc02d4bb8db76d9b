"""Functions outside the suite: the 24 of BBOB, as COCO has them, in five and ten dimensions.

    pip install coco-experiment
    python benchmarks/outside.py "from the best" before --instances 41-60 --ten 41-48   # six minutes of one core
    python benchmarks/outside.py egobox_kb optuna_gp --instances 21-22                    # half an hour
    python benchmarks/outside.py                                                         # the table alone

Five dimensions, batches of three, 50 evaluations; ten dimensions, batches of ten, 100 evaluations; the box from -5 to
5, 2 d points of a Latin hypercube first, the same for everyone. A run counts by log10(best - optimum), -8 at least. A
member is a variant of the default (default_variants.py), or a peer of ``believer bench``. Rows go to
``results/outside.jsonl``, one for each run; runs that are there are not made again.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np
from regret_report import markdown_table

from believer.arrays import Array
from believer.experiments import holm, wilcoxon
from believer.space import Space
from believer_bench.command import seeds_of
from believer_bench.members import Ours, Theirs
from believer_bench.peers import PEERS
from believer_bench.race import design, run

RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / "outside.jsonl"
KINDS = {5: (3, 50), 10: (10, 100)}
"""Of each number of dimensions, the size of batches and the evaluations."""

FLOOR, DEFAULT = -8.0, "from the best"

Key = tuple[str, int, int, int]
"""Member, dimensions, function and instance."""


def functions(d: int, instance: int) -> Iterator[tuple[int, Callable[[Array], Array], float]]:
    """Number, function of points (m, d) of the cube, and optimum, of each function of an instance."""
    import cocoex

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # COCO writes where the optimum is to a file
        try:
            for problem in cocoex.Suite("bbob", f"instances:{instance}", f"dimensions:{d}"):
                problem._best_parameter("print")
                optimum = problem(np.loadtxt("._bbob_problem_best_parameter.txt"))
                values = lambda X, f=problem: np.array([f(x) for x in 10.0 * X - 5.0])  # noqa: E731
                yield problem.id_function, values, float(optimum)
        finally:
            os.chdir(here)


def raced(member: str, d: int, number: int, instance: int, values: Callable[[Array], Array]) -> tuple[float, float]:
    """The best value of a run, and the processor seconds of the member."""
    q, budget = KINDS[d]
    space, seed = Space.cube(d), 1000 * instance + number
    X = design(space, 2 * d, seed)
    if member in PEERS:
        return _best(run(partial(Theirs, member, space, seed=seed), values, X, values(X), q, budget))
    from default_variants import VARIANTS

    with VARIANTS[member](False) as options:
        return _best(run(partial(Ours, space, seed=seed, **options), values, X, values(X), q, budget))


def _best(course: Any) -> tuple[float, float]:
    return float(course.y.min()), float(course.spent[:, 1].sum())


def rows() -> dict[Key, dict[str, Any]]:
    """The runs that are there."""
    if not STORE.exists():
        return {}
    found = map(json.loads, STORE.read_text(encoding="utf-8").splitlines())
    return {(row["member"], row["d"], row["function"], row["instance"]): row for row in found}


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("members", nargs="*")
    parser.add_argument("--instances", type=seeds_of, default=())
    parser.add_argument("--ten", type=seeds_of, default=(), help="instances in ten dimensions")
    given = parser.parse_args()
    done = rows()
    for d, instances in ((5, given.instances), (10, given.ten)):
        for instance in instances:
            for number, values, optimum in functions(d, instance):
                for member in given.members:
                    if (member, d, number, instance) in done:
                        continue
                    start = time.perf_counter()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        best, cpu = raced(member, d, number, instance, values)
                    score = max(float(np.log10(max(best - optimum, 1e-300))), FLOOR)
                    row = {"member": member, "d": d, "function": number, "instance": instance, "l": score, "cpu": cpu}
                    with STORE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
                    if member in PEERS:
                        print(member, d, number, instance, f"{time.perf_counter() - start:.0f} s", flush=True)
    heads = "# Functions outside the suite\n\nMade by [outside.py](../outside.py), which says how.\n"
    (RESULTS / "outside.md").write_text(heads + "".join(table(rows(), d) for d in KINDS), encoding="utf-8")


def table(found: dict[Key, dict[str, Any]], d: int) -> str:
    """Every other member beside the default, on the runs that both have, and by function."""
    names = [name for name in dict.fromkeys(name for name, *_ in found) if name != DEFAULT]
    lines, chances = [], []
    for name in names:
        pairs = [
            (found[DEFAULT, *at], row)
            for (member, *at), row in found.items()
            if member == name and at[0] == d and (DEFAULT, *at) in found
        ]
        if not pairs:
            continue
        ours, theirs = (np.array([pair[side]["l"] for pair in pairs]) for side in (0, 1))
        difference, functions_of = ours - theirs, np.array([row["function"] for _, row in pairs])
        means = np.array([difference[functions_of == number].mean() for number in np.unique(functions_of)])
        chances.append(wilcoxon(difference) if difference.any() else 1.0)
        seconds = (f"{np.median([pair[side]['cpu'] for pair in pairs]):.2g}" for side in (0, 1))
        won = [f"{(d < 0).sum()} : {(d > 0).sum()}" for d in (difference, means)]
        lines.append([name, str(len(pairs)), f"{ours.mean():.3f}", f"{theirs.mean():.3f}", *won, *seconds])
    for line, p in zip(lines, holm(chances), strict=True):
        line.insert(6, f"{p:.2g}")
    q, budget = KINDS[d]
    heads = ["against", "runs", "mean l of the default", "its mean l", "runs won : lost", "functions won : lost"]
    heads += ["p (Wilcoxon over runs, Holm)", "CPU s of the default", "its CPU s"]
    title = f"\n## {d} dimensions, {budget} evaluations in batches of {q}\n\n"
    return f"{title}{markdown_table(heads, sorted(lines, key=lambda line: float(line[3])))}\n"


if __name__ == "__main__":
    main()
