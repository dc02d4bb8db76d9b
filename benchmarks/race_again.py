"""The default of today, HEBO and SMAC on the cells of the suite that other libraries have raced on.

    python benchmarks/race_again.py hedged --seeds 1000-1002     # three minutes of one core
    python benchmarks/race_again.py hebo --q 3                   # half an hour, in an environment that has HEBO

The rows of ``results/suite/q3`` and ``q10`` are of seed 1000; peers do not change with the default, and so are not run
again there. Nothing was chosen on the seeds from 1000 on. HEBO and SMAC need environments of their own
(``peers_apart.py`` says which). The rows of the default of engine 4, from before lengthscales had a mean in common,
were made by its checkout (commit 5fe4896). A run counts by l = log10(regret / scale), -6 at least; of noisy problems by
the least true value among its points. A problem counts by the mean of the seeds that both have run. Writes
``results/suite/again.jsonl`` and ``again.md``.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

from believer.experiments import Cell, holm, wilcoxon
from believer_bench.command import seeds_of
from believer_bench.peers import PEERS
from believer_bench.race import race
from believer_bench.scores import measure_of

SUITE = Path(__file__).parent / "results" / "suite"
STORE, FLOOR, SIZES, DEFAULT = SUITE / "again.jsonl", -6.0, (3, 10), "hedged"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The finished cells of a file."""
    if path.exists():
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def main() -> None:
    """Run what is missing, then write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("member", nargs="?")
    parser.add_argument("--q", type=int, nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--seeds", type=seeds_of, default=(1000,))
    parser.add_argument("--problems", nargs="+")
    given = parser.parse_args()
    done = {key_of(row) for row in rows(STORE)}
    for seed in given.seeds if given.member else ():
        for q in given.q:
            for row in rows(SUITE / f"q{q}" / "results.jsonl"):
                settings = {**row["cell"]["settings"], "member": given.member}
                key, wanted = (given.member, settings["problem"], q, seed), given.problems or (settings["problem"],)
                if row["cell"]["settings"]["member"] != DEFAULT or key in done or settings["problem"] not in wanted:
                    continue
                result = race(Cell("bench", settings, seed))
                cell = {"experiment": "bench", "settings": settings, "seed": seed}
                with STORE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"cell": cell, "result": result}) + "\n")
                print(*key, flush=True)
    text = "# The default of today beside its peers\n\nMade by [race_again.py](../../race_again.py).\n"
    (SUITE / "again.md").write_text(text + "".join(map(table, SIZES)) + table(*SIZES), encoding="utf-8")


def key_of(row: dict[str, Any]) -> tuple[str, str, int, int]:
    """Member, problem, size of batches and seed of a row."""
    settings = row["cell"]["settings"]
    return settings["member"], settings["problem"], settings["q"], row["cell"]["seed"]


def score(row: dict[str, Any]) -> float:
    """l of a run."""
    result, measure = row["result"], measure_of(row["cell"]["settings"]["problem"])
    values = result.get("truths") or [value for value in result["values"] if value is not None]
    return max(float(np.log10(max((min(values) - measure.optimum) / measure.scale, 1e-12))), FLOOR)


def table(*sizes: int) -> str:
    """Every peer, and an earlier default, against the default of today, on the cells that both raced on.

    A problem counts once for each of the ``sizes`` of batches.
    """
    found: dict[str, dict[tuple[str, int, int], float]] = defaultdict(dict)
    seconds: dict[str, list[float]] = defaultdict(list)
    for row in rows(STORE):
        member, problem, q, seed = key_of(row)
        if q in sizes:
            found[member][problem, q, seed] = score(row)
            seconds[member].append(sum(row["result"]["cpu_seconds"]))
    ours = found.pop(DEFAULT)
    for row in [row for q in sizes for row in rows(SUITE / f"q{q}" / "results.jsonl")]:
        member, problem, q, seed = key_of(row)
        if member in PEERS:
            found[member][problem, q, seed] = score(row)
            seconds[member].append(sum(row["result"]["cpu_seconds"]))
    lines, chances = [], []
    for name, theirs in found.items():
        by_problem: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
        for at, score_of_it in theirs.items():
            if at in ours:
                by_problem[at[:2]].append((ours[at], score_of_it))
        mine, its = np.array([np.mean(pairs, axis=0) for pairs in by_problem.values()]).T
        d, seeds = mine - its, sorted({len(pairs) for pairs in by_problem.values()})
        chances.append(wilcoxon(d))
        means = [f"{mine.mean():.2f}", f"{its.mean():.2f}", f"{d.mean():.2f}"]
        won = f"{(d < 0).sum()} : {(d > 0).sum()}"
        lines.append([name, str(len(d)), " or ".join(map(str, seeds)), *means, won, f"{np.mean(seconds[name]):.2g}"])
    for line, p in zip(lines, holm(chances), strict=True):
        line.insert(-1, f"{p:.2g}")
    heads = ["against", "problems", "seeds", "mean l of the default", "its mean l", "difference"]
    heads += ["won : lost", "p (Wilcoxon, Holm)", "its CPU s per run"]
    title = " and ".join(f"q={q}" for q in sizes)
    ours_takes = f"A run of the default takes {np.mean(seconds[DEFAULT]):.2g} s of CPU in the mean."
    return f"\n## {title}\n\n{ours_takes}\n\n{markdown_table(heads, sorted(lines, key=lambda line: float(line[4])))}\n"


if __name__ == "__main__":
    main()
