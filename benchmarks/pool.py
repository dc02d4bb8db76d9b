"""Candidates that are kept and results that are added: what they cost, and what they give, beside a commit before.

    python benchmarks/pool.py reached [FIRST_SEED]         # the acquisition that searches reach, in this checkout
    python benchmarks/pool.py settle [FIRST_SEED]          # the same at 2,000 results, with more points
    python benchmarks/pool.py crowded [FIRST_SEED]         # the same in batches of 64 at 500 results
    python benchmarks/pool.py run OUT.jsonl [FIRST_SEED]   # times and regrets of the checkout on the path
    python benchmarks/pool.py table BEFORE.jsonl AFTER.jsonl BENCH_BEFORE BENCH_AFTER

``run`` is called once with each checkout on PYTHONPATH (each with its own compiled module), ``believer bench --suite
quick --strategies hedged --seeds 10 --out BENCH_...`` likewise; ``table`` prints what ``results/pool.md`` holds.

The rule. (Some settings of climbs and neighbors were tried on two functions before it was written.) Candidates that are
drawn once for all points between two results, and few climbs, are kept if

- the median over points of the ratio of acquisitions reached, to a search that draws anew and climbs from ten starts,
  is at least 0.99 at n = 50, 500 and 2,000, over points of which something that matters is expected;
- no class of the quick suite is shown worse: a sign test over the problems and seeds of a class, before against after,
  with p below 0.05 / 12;
- nor are the runs to 500 and to 2,000 results, by the same test over all of them.

What is reached at 2,000 results was left open by two runs of 15 and of 41 points. ``settle`` decides it, by a rule that
was written before it ran: d = 10, batches of 16, the three functions, seeds from 5000 on, which nothing was chosen on,
ten at first and more until 150 points of which something that matters is expected have been looked at. It is held if
the median ratio is at least 0.99; if it is below, the search is mended, and what is chosen so is confirmed by the same
rule on seeds from 6000 on. ``crowded`` is what the mend was chosen by, on seeds from 7000 on: points late in a large
batch.

Times are seconds of the processor, one thread, medians over seeds; a run of one checkout follows one of the other.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table
from scipy.stats import binom, binomtest

import believer as bv
from believer.arrays import Array
from believer.batch import picking, pseudo
from believer.maximize import Multistart, Search
from believer.propose import propose
from believer.study.history import History
from believer.study.settings import StudySettings

LEVEL = 0.05

Function = Callable[[Array, Array], Array]


def waves(X: Array, w: Array) -> Array:
    """A bowl with waves in it."""
    values: Array = 5.0 * ((X - w) ** 2).sum(axis=1) - np.cos(7.0 * (X - w)).sum(axis=1)
    return values


def valley(X: Array, w: Array) -> Array:
    """log(1 + Rosenbrock): curved and narrow."""
    Z = 4.0 * X - 2.0
    values: Array = np.log1p((100.0 * (Z[:, 1:] - Z[:, :-1] ** 2) ** 2 + (1.0 - Z[:, :-1]) ** 2).sum(axis=1))
    return values


def ackley(X: Array, w: Array) -> Array:
    """Ackley's function around w."""
    Z = 20.0 * (X - w)
    flat = -20.0 * np.exp(-0.2 * np.sqrt((Z**2).mean(axis=1)))
    values: Array = flat - np.exp(np.cos(2.0 * np.pi * Z).mean(axis=1)) + 20.0 + np.e
    return values


FUNCTIONS: dict[str, Function] = {"waves": waves, "valley": valley, "ackley": ackley}


def space_of(d: int) -> bv.Space:
    """[0, 1]^d."""
    return bv.Space({f"x{i:02d}": bv.Float(0.0, 1.0) for i in range(d)})


def point(x: Array) -> dict[str, float]:
    """A point of that space."""
    return {f"x{i:02d}": float(value) for i, value in enumerate(x)}


def searched(n: int, d: int, f: Function, seed: int) -> tuple[Array, Array]:
    """Results as a search leaves them: half of them anywhere, the others ever nearer to the best."""
    rng = np.random.default_rng(seed)
    w = 0.2 + 0.6 * rng.random(d)
    X = rng.random((n // 2, d))
    y = f(X, w)
    while len(X) < n:
        best = X[np.argsort(y)[:5]]
        k = min(n // 8 + 1, n - len(X))
        near = np.clip(best[rng.integers(5, size=k)] + 0.08 * rng.normal(size=(k, d)), 0.0, 1.0)
        X, y = np.vstack([X, near]), np.concatenate([y, f(near, w)])
    return X, y


def reached(n: int, d: int, q: int, seeds: range, least: int = 0) -> list[str]:
    """How much of the acquisition is reached that a search anew reaches, and that another such search reaches.

    Seeds go on beyond ``seeds`` until ``least`` points have been looked at.
    """
    from believer.batch.hedge import resolution_of

    kept, again = list[float](), list[float]()
    pick = pseudo.pick

    def watched(objective: Any, request: Any, trial: int, near_best: Array, avoid: Array, **more: Any) -> Any:
        found = pick(objective, request, trial, near_best, avoid, **more)
        if more.get("known") is not None:
            search = Search(request.region, near_best, avoid, more.get("spacing"))
            first, second = (
                Multistart().maximize(objective, search, request.randomness(trial, purpose)).value
                for purpose in ("maximize", "once more")
            )
            ours = picking._POOLED.maximize(
                objective, replace(search, known=more["known"]), request.randomness(trial, "maximize")
            )
            if first > np.log(max(resolution_of(request), 1e-300)):
                kept.append(ours.value - first)
                again.append(second - first)
        return found

    pseudo.pick = watched  # type: ignore[assignment]
    try:
        for seed in count(seeds.start):
            if seed >= seeds.stop and len(kept) >= least:
                break
            if kept:
                print(f"before seed {seed}: {np.exp(np.median(kept)):.3f} of {len(kept)}", file=sys.stderr, flush=True)
            for f in FUNCTIONS.values():
                X, y = searched(n, d, f, seed)
                settings = StudySettings.of(space_of(d), seed=seed, n_init=5)
                trials = [(i, point(X[i]), float(y[i])) for i in range(n)]
                propose(settings, History.of(settings, trials), q)
    finally:
        pseudo.pick = pick
    rows = [f"{n}", f"{d}", f"{q}", f"{len(kept)}"]
    for logs in (kept, again):
        rows += [f"{np.exp(np.median(logs)):.3f}", f"{np.exp(np.quantile(logs, 0.1)):.2f}"]
        rows += [f"{np.exp(np.quantile(logs, 0.9)):.2f}"]
    return [*rows, " to ".join(f"{np.exp(end):.3f}" for end in median_interval(kept))]


def median_interval(values: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median, between two of the ordered values: their ranks are binomial."""
    low = int(binom.ppf(LEVEL / 2.0, len(values), 0.5))
    ordered = sorted(values)
    return ordered[low], ordered[len(values) - 1 - low]


SIZES = ((50, 6, 3, 15), (200, 6, 10, 8), (500, 6, 10, 6), (1000, 10, 64, 3), (2000, 20, 64, 2))
"""n, d, q and seeds of what is timed: tell + ask(q) with n results known when the ask begins."""

RUNS = ((500, 8, 50, 200, 4), (2000, 10, 100, 1500, 2))
"""Budget, d, q, size of the design and seeds of what is compared by its regret."""


def timed(n: int, d: int, q: int, seed: int) -> Iterator[tuple[str, float]]:
    """Seconds of tell + ask(q) at n results, of a further ask(q), and of ask(1) with all of these pending."""
    X, y = searched(n - q, d, waves, seed)
    w = 0.2 + 0.6 * np.random.default_rng(seed).random(d)
    optimizer = bv.Optimizer(space_of(d), seed=seed, n_init=5)
    for x, value in zip(X, y, strict=True):
        optimizer.observe(point(x), float(value))
    batch = optimizer.ask(q)
    for name, asked in (("tell + ask(q)", q), ("ask(q) again", q), ("ask(1), 2 q pending", 1)):
        start = time.process_time()
        if name.startswith("tell"):
            optimizer.tell_many(batch, [float(v) for v in waves(batch.encoded, w)])
        optimizer.ask(asked)
        yield name, time.process_time() - start


def regret(budget: int, d: int, q: int, design: int, f: Function, seed: int) -> float:
    """The best value of a run."""
    w = 0.2 + 0.6 * np.random.default_rng((seed, d)).random(d)
    optimizer = bv.Optimizer(space_of(d), seed=seed, n_init=design)
    while optimizer.counts.done < budget:
        batch = optimizer.ask(q)
        optimizer.tell_many(batch, [float(v) for v in f(batch.encoded, w)])
    assert optimizer.best is not None
    return float(optimizer.best[1])


def run(path: Path, first: int = 0) -> None:
    """Everything that is compared, a line each."""
    with path.open("w", encoding="utf-8") as out:
        for n, d, q, seeds in SIZES:
            for seed in range(first, first + seeds):
                for name, seconds in timed(n, d, q, seed):
                    print(json.dumps({"time": [n, d, q, name], "seed": seed, "seconds": seconds}), file=out, flush=True)
        for budget, d, q, design, seeds in RUNS:
            for name, f in FUNCTIONS.items():
                for seed in range(first, first + seeds):
                    best = regret(budget, d, q, design, f, seed)
                    print(json.dumps({"run": [budget, name], "seed": seed, "best": best}), file=out, flush=True)


def signs(pairs: list[tuple[float, float]]) -> tuple[int, int, float]:
    """How often the first of a pair is lower, how often the second, and p of the sign test that the second is not."""
    lost = sum(before < after - 1e-12 * abs(after) for before, after in pairs)
    won = sum(after < before - 1e-12 * abs(before) for before, after in pairs)
    return won, lost, float(binomtest(lost, won + lost, alternative="greater").pvalue) if won + lost else 1.0


def table(before: Path, after: Path, *benches: Path) -> str:
    """What came out, as Markdown."""
    lines: list[dict[tuple[Any, ...], dict[int, float]]] = [defaultdict(dict), defaultdict(dict)]
    for side, path in zip(lines, (before, after), strict=True):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            key = ("time", *line["time"]) if "time" in line else ("run", *line["run"])
            side[key][line["seed"]] = line.get("seconds", line.get("best"))
    times, runs = list[list[str]](), list[list[str]]()
    for key, old in lines[0].items():
        new = lines[1][key]
        both = sorted(old.keys() & new.keys())
        if not both:
            continue
        if key[0] == "time":
            one, other = (float(np.median([side[seed] for seed in both])) for side in (old, new))
            row = [*map(str, key[1:]), f"{1e3 * one:.1f}", f"{1e3 * other:.1f}", f"{one / other:.2f}"]
            times.append(row)
        else:
            won, lost, p = signs([(old[seed], new[seed]) for seed in both])
            one, other = (float(np.median([side[seed] for seed in both])) for side in (old, new))
            runs.append([*map(str, key[1:]), f"{one:.4g}", f"{other:.4g}", f"{won} of {won + lost}", f"{p:.3f}"])
    text = "## Times\n\n" + markdown_table(["n", "d", "q", "what", "before, ms", "now, ms", "times faster"], times)
    text += "\n## Best values of long runs\n\n"
    text += markdown_table(["results", "function", "before", "now", "now is better", "p, that it is worse"], runs)
    return text + (suite_table(*benches) if len(benches) == 2 else "")


def suite_table(before: Path, after: Path) -> str:
    """The quick suite by problem, which is one of each class."""
    finals: list[dict[str, dict[int, float]]] = []
    for folder in (before, after):
        side: dict[str, dict[int, float]] = defaultdict(dict)
        for line in map(json.loads, (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()):
            cell, result = line["cell"], line["result"]
            side[cell["settings"]["problem"]][cell["seed"]] = min(map(float, result["values"]))
        finals.append(side)
    rows = []
    for problem in sorted(finals[0]):
        old, new = finals[0][problem], finals[1][problem]
        both = sorted(old.keys() & new.keys())
        won, lost, p = signs([(old[seed], new[seed]) for seed in both])
        one, other = (float(np.median([side[seed] for seed in both])) for side in (old, new))
        rows.append([problem, f"{one:.4g}", f"{other:.4g}", f"{won} of {won + lost}", f"{p:.3f}"])
    head = ["problem of the class", "before, median", "now, median", "now is better", "p, that it is worse"]
    return "\n## The quick suite, 10 seeds\n\n" + markdown_table(head, rows)


def main() -> None:
    """One of the commands above."""
    command, *arguments = sys.argv[1:] or ["reached"]
    if command == "run":
        run(Path(arguments[0]), *map(int, arguments[1:]))
    elif command == "table":
        print(table(*map(Path, arguments)))
    else:
        first = int(arguments[0]) if arguments else {"settle": 5000, "crowded": 7000}.get(command, 0)
        rows, small = [], ((200, 6, 8, 6), (500, 8, 16, 4), (2000, 10, 16, 1))
        sizes = {"settle": ((2000, 10, 16, 10),), "crowded": ((500, 8, 64, 5),)}.get(command, small)
        for n, d, q, seeds in sizes:
            rows.append(reached(n, d, q, range(first, first + seeds), 150 if command == "settle" else 0))
            print(*rows[-1], file=sys.stderr, flush=True)
        head = ["n", "d", "q", "points", "kept: median", "10 %", "90 %", "searched again: median", "10 %", "90 %"]
        head += ["95 % interval of the median kept"]
        print("## Acquisition reached, as a share of what a search anew reaches\n\n" + markdown_table(head, rows))


if __name__ == "__main__":
    main()
