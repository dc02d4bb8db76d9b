"""Which basin of Hartmann-6D a run ends in, and what decides it: the initial points, or the search?

    python benchmarks/basins.py                                 # three minutes of one core
    python benchmarks/basins.py egobox_kb optuna_gp             # the same designs for peers, a quarter of an hour

The function has a best basin, at -3.322, and a second one, at -3.203. 50 designs of twelve points, seeds 600 to 649;
from each, ten runs of the default with other random seeds, 80 evaluations in batches of three. A run is in the best
basin once it is below -3.25. A design is said to lead to the best basin if a descent from its best point ends there.
"Between designs" is the share of the variance of where runs end that lies between designs: 100 % if the design alone
decided, and about 10 % if it did not matter. Peers run once from each design. Writes ``results/basins.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
from regret_report import markdown_table
from scipy.optimize import minimize

from believer.arrays import Array
from believer.problems.synthetic import hartmann6
from believer.space import Space
from believer.study.settings import ENGINE
from believer_bench.members import Ours, Theirs
from believer_bench.race import design, run

SPACE, LEVEL, STEPS = Space.cube(6), -3.25, (30, 50, 80)
DESIGNS, TIMES, POINTS, Q = range(600, 650), 10, 12, 3
RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / "basins.jsonl"


def best_after(member: str, number: int, time: int) -> list[float]:
    """The best value of a run after each of STEPS evaluations."""
    X = design(SPACE, POINTS, number)
    enter = partial(Ours, SPACE) if member == "default" else partial(Theirs, member, SPACE)
    course = run(partial(enter, seed=100 * number + time), hartmann6, X, hartmann6(X), Q, STEPS[-1])
    return [float(course.y[:n].min()) for n in STEPS]


def leads_to_the_best(number: int) -> bool:
    """Whether a descent from the best point of a design ends in the best basin."""
    X = design(SPACE, POINTS, number)
    start = X[int(hartmann6(X).argmin())]
    ends = minimize(lambda x: float(hartmann6(x[None])[0]), start, method="L-BFGS-B", bounds=[(0.0, 1.0)] * 6)
    return float(ends.fun) < LEVEL


def main(members: list[str]) -> None:
    """Run what is missing and write the tables."""
    rows = list(map(json.loads, STORE.read_text(encoding="utf-8").splitlines())) if STORE.exists() else []
    rows = [row for row in rows if row["engine"] == ENGINE or row["member"] != "default"]
    done = {(row["member"], row["design"], row["time"]) for row in rows}
    for member in ["default", *members]:
        for number in DESIGNS:
            for time in range(TIMES if member == "default" else 1):
                if (member, number, time) not in done:
                    best = best_after(member, number, time)
                    rows.append({"member": member, "design": number, "time": time, "best": best, "engine": ENGINE})
    STORE.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = "# Basins of Hartmann-6D\n\nMade by [basins.py](../basins.py), which says what is counted.\n\n"
    (RESULTS / "basins.md").write_text(text + report(rows), encoding="utf-8")


def report(rows: list[dict[str, object]]) -> str:
    """Who ends in the best basin, and what of it the designs decide."""
    lines = []
    for member in dict.fromkeys(row["member"] for row in rows):
        ends = np.array([row["best"] for row in rows if row["member"] == member]) < LEVEL
        lines.append([str(member), str(len(ends)), *(f"{share:.0%}" for share in ends.mean(axis=0))])
    heads = ["member", "runs", *(f"in the best basin after {n}" for n in STEPS)]
    found: Array = np.array([row["best"] for row in rows if row["member"] == "default"]) < LEVEL
    by_design, leads = found.reshape(len(DESIGNS), TIMES, len(STEPS)), np.array([*map(leads_to_the_best, DESIGNS)])
    decided = []
    for place, n in enumerate(STEPS):
        runs = by_design[:, :, place]
        shares = runs.mean(axis=1)
        few, most, explained = (shares <= 0.1).sum(), (shares >= 0.9).sum(), shares.var() / runs.var()
        led, others = runs[leads].mean(), runs[~leads].mean()
        decided.append([str(n), f"{explained:.0%}", str(few), str(most), f"{led:.0%}", f"{others:.0%}"])
    title = "evaluations", "between designs", "designs with at most one run of ten", "with at least nine"
    of = f"where the best point of {leads.sum()} designs leads there", f"of the other {(~leads).sum()}"
    return f"{markdown_table(heads, lines)}\n\n## What designs decide\n\n{markdown_table([*title, *of], decided)}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
