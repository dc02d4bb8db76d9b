"""Beyond two thousand results: what each way to learn from them costs, in time and memory, and what it finds.

    python benchmarks/large.py run --results 5000 20000 100000
    python benchmarks/large.py report

A long study is imitated, as in ``many_results.py``: half its points uniform, half normal steps around the best so far
that become shorter. Then ``--rounds`` batches of ten are asked for and told. Each cell runs in a process of its own.

* first: processor seconds of the first ask, in which models are made; later: of the last one, after more results;
* MB: the most memory that the process held, above what it held when the study stood there;
* gain: log10 of the regret after the batches over that before (less is better);
* new: log10 of the regret of the best of the batches' own points over that before, which says more where they find
  nothing better.

Models: ``exact`` is the GP of engine 5 under the default strategy: of up to 5,000 results, with hyperparameters from
2,000 of them, and of 5,000 where there are more; ``subset`` is a GP of 2,000 of them, the best, the latest and others
evenly; ``sparse`` the same strategy on 512 inducing points and all results; ``local`` is ``strategy="trust_region"``,
the nearest 500; ``default`` is what nobody named, ``subset`` since engine 6. Needs no peers.

The rule, written before it ran: where a study has more results than N, the default learns from 2,000 of them. N is
2,000 if ``subset`` is not worse than ``exact`` at 5,000 results nor at 20,000 and more; N is 5,000 if it is not worse
at 20,000 and more alone; else nothing changes. "Not worse" is: of the pairs (problem, seed), levy10, ackley8 and
zakharov10, seeds 0 to 2, two rounds, "new" is not shown to be larger (sign test, one-sided, 5 %), its median difference
is at most 0.05, and it takes at most half of the seconds and of the memory (medians of first and later). At 100,000
results one seed is run, for what it costs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from many_results import long_study
from regret_report import markdown_table
from scipy.stats import binomtest

import believer as bv
from believer import surrogates
from believer.numerics import backend
from believer.propose import propose
from believer.study.history import History
from believer.study.models import ModelCache
from believer.study.settings import ENGINE, StudySettings
from believer_bench.problems import PROBLEMS
from believer_bench.problems.many import MANY

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Of5000(surrogates.GP):
    """The Gaussian process of up to 5,000 results."""

    most_results: ClassVar[int] = 5000


@dataclass(frozen=True, slots=True)
class Of2000(surrogates.GP):
    """The Gaussian process of up to 2,000 results."""

    most_results: ClassVar[int] = 2000


MODELS: dict[str, dict[str, Any]] = {
    "default": {},
    "exact": {"surrogate": Of5000()},
    "subset": {"surrogate": Of2000()},
    "sparse": {"surrogate": surrogates.SparseGP(inducing=512)},
    "local": {"strategy": "trust_region"},
}
Q = 10


def held() -> float:
    """The most memory that this process held so far, MB."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024.0**2 if sys.platform == "darwin" else 1024.0)


def cell(model: str, name: str, n: int, rounds: int, seed: int) -> dict[str, Any]:
    """One study that goes on for some rounds."""
    problem = (PROBLEMS | MANY)[name]()
    X, y = long_study(problem, n, np.random.default_rng((seed, 7)))
    settings = StudySettings.of(problem.space, n_init=1, seed=seed, **MODELS[model])
    ids = range(len(y))
    points: dict[int, Any] = dict(zip(ids, X, strict=True))
    outcomes = {i: bv.Outcome({"value": float(value)}) for i, value in zip(ids, y, strict=True)}
    cache, fitted, seconds, best, before = ModelCache(settings), None, list[float](), np.inf, float(y.min())
    chosen: dict[int, int] = {}
    at_random = StudySettings.of(problem.space, n_init=1, seed=seed, strategy="random")
    propose(at_random, history_of(settings, points, outcomes))  # what any study of that size holds
    base = held()
    for _ in range(rounds):
        began = time.process_time()
        history = history_of(settings, points, outcomes, fitted, chosen)
        found = propose(settings, history, Q, cache=cache)
        seconds.append(time.process_time() - began)
        fitted = None if found.model is None else {"value": (history.ids, found.model["outputs"]["value"])}
        units = np.array([trial.encoded for trial in found.trials])
        known = len(points)
        for trial, value in zip(found.trials, problem.evaluate(units), strict=True):
            points[trial.id], outcomes[trial.id] = trial.encoded, bv.Outcome({"value": float(value)})
            chosen[trial.id] = known
            best = min(best, float(value))
    optimum = float(problem.optimum or 0.0)
    new = float(np.log10(max(best - optimum, 1e-12) / max(before - optimum, 1e-12)))
    return {"model": model, "problem": name, "n": len(y), "seed": seed, "seconds": seconds, "mb": held() - base,
            "gain": min(new, 0.0), "new": new, "engine": ENGINE, "provenance": found.trials[-1].provenance}  # fmt: skip


def history_of(settings: StudySettings, points: Any, outcomes: Any, fitted: Any = None, chosen: Any = None) -> History:
    """The study as it stands."""
    return History.encoded(settings, points, outcomes, (), (), fitted=fitted, answered_then=dict(chosen or {}))


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Medians over seeds, a line a cell."""
    lines = []
    for key in dict.fromkeys((row["problem"], row["n"], row["model"]) for row in rows):
        own = [row for row in rows if (row["problem"], row["n"], row["model"]) == key]
        first, later = (np.median([pick(row["seconds"]) for row in own]) for pick in (lambda s: s[0], lambda s: s[-1]))
        lines.append([key[0], f"{key[1]:,}", key[2], str(len(own)), f"{first:.2f}", f"{later:.2f}",
                      *(f"{np.median([row[name] for row in own]):.3g}" for name in ("mb", "gain", "new"))])  # fmt: skip
    head = ["problem", "results", "model", "seeds", "first, s", "later, s", "MB", "gain", "new"]
    rounds = len(rows[0]["seconds"])
    return (
        f"# Beyond two thousand results\n\nask({Q}), {rounds} times; {backend.name()} backend, one thread, processor "
        "seconds on a machine that was shared. What the columns are: [large.py](../large.py).\n\n"
    ) + "\n".join([markdown_table(head, lines), "## The subset beside the exact model\n", compared(rows)])


def compared(rows: Sequence[dict[str, Any]]) -> str:
    """By number of results, what the rule asks."""
    lines = []
    for n in sorted({row["n"] for row in rows}):
        cells = {(row["model"], row["problem"], row["seed"]): row for row in rows if row["n"] == n}
        pairs = [(cells[("exact", *key[1:])], one) for key, one in cells.items() if key[0] == "subset"
                 and ("exact", *key[1:]) in cells]  # fmt: skip
        if not pairs:
            continue
        gaps = [one["new"] - other["new"] for other, one in pairs]
        won, lost = sum(gap < 0.0 for gap in gaps), sum(gap > 0.0 for gap in gaps)
        chance = float(binomtest(lost, won + lost, alternative="greater").pvalue) if won + lost else 1.0
        ratios = [
            np.median([pick(other) / pick(one) for other, one in pairs])
            for pick in (lambda row: row["seconds"][0], lambda row: row["seconds"][-1], lambda row: row["mb"])
        ]
        lines.append([f"{n:,}", str(len(pairs)), f"{won} of {won + lost}", f"{chance:.3f}",
                      f"{np.median(gaps):+.3f}", *(f"{ratio:.1f}" for ratio in ratios)])  # fmt: skip
    head = ["results", "pairs", "subset is better", "p, that it is worse", "difference of new, median"]
    head += ["first: times faster", "later: times faster", "times less memory"]
    return markdown_table(head, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["run", "report", "cell"])
    parser.add_argument("--results", type=int, nargs="*", default=[5000, 20_000, 100_000])
    parser.add_argument("--models", nargs="*", default=["exact", "subset", "sparse", "local"])
    parser.add_argument("--problems", nargs="*", default=["levy10", "ackley8", "zakharov10"])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cell", nargs=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "large.jsonl")
    arguments = parser.parse_args()
    if arguments.action == "cell":
        model, name, n, rounds, seed = arguments.cell
        print(json.dumps(cell(model, name, int(n), int(rounds), int(seed))))
        return
    rows = [json.loads(line) for line in arguments.out.read_text().splitlines()] if arguments.out.exists() else []
    if arguments.action == "report":
        (RESULTS / "large.md").write_text(report(rows) + "\n")
        print(report(rows))
        return
    done = {(row["model"], row["problem"], row["n"], row["seed"]) for row in rows}
    for n in arguments.results:
        for seed in range(arguments.seeds):
            for name in arguments.problems:
                for model in arguments.models:
                    if (model, name, n, seed) in done:
                        continue
                    named = map(str, (model, name, n, arguments.rounds, seed))
                    command = [sys.executable, __file__, "cell", "--cell", *named]
                    ended = subprocess.run(command, capture_output=True, text=True, check=False)
                    if ended.returncode:
                        print(model, name, n, "failed:", ended.stderr.strip().splitlines()[-1:], flush=True)
                        continue
                    with arguments.out.open("a") as file:
                        file.write(ended.stdout)
                    row = json.loads(ended.stdout)
                    print(model, name, n, row["seconds"], row["mb"], row["gain"], row["provenance"], flush=True)


if __name__ == "__main__":
    main()
