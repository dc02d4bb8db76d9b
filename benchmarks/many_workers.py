"""Many workers: which share of a core does the process use that asks for them?

    python benchmarks/many_workers.py run --strategies hedged trust_region
    python benchmarks/many_workers.py report
    python benchmarks/many_workers.py dask

500 workers whose evaluations take 1 to 10 minutes, uniformly, finish 1.5 trials a second. They are simulated: a clock
runs on by what evaluations are said to take, and by the processor seconds that ``tell`` and ``ask`` really take, in
which nobody gets a new trial. Whoever became free meanwhile is served by one ask; and an ask waits until one has been
free for ``--gather`` seconds. The first 500 trials are the design. "share" is processor seconds over seconds on the
clock, of the last hundred results; "idle" the share of the workers' time in which they wait.

``dask`` does the same for real on a Dask cluster of 16 processes on this machine, with ``--budget`` evaluations of 1 to
10 seconds.
Needs no peers; ``dask`` needs distributed.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.numerics import backend
from believer.problems import levy10
from believer.study.settings import ENGINE

RESULTS = Path(__file__).parent / "results"
TARGET = 0.2
MINUTE = 60.0
DASK = RESULTS / "many_workers_dask.jsonl"


def simulate(strategy: str, workers: int, results: int, gather: float, seed: int = 0) -> dict[str, Any]:
    """One study: the clock, processor seconds, trials and results after each ask."""
    problem, rng = levy10(), np.random.default_rng((seed, 30))
    optimizer = bv.Optimizer(problem.space, strategy=strategy, n_init=workers, seed=seed)
    busy = [(0.0, trial.id, trial) for trial in optimizer.ask(workers)]
    busy = [(float(rng.uniform(1.0, 10.0)) * MINUTE, number, trial) for _, number, trial in busy]
    heapq.heapify(busy)
    clock, spent, idle, best, told = 0.0, 0.0, 0.0, np.inf, 0
    steps: list[dict[str, float]] = []
    while told < results:
        clock = max(clock, busy[0][0] + gather)
        free = []
        while busy and busy[0][0] <= clock:
            free.append(heapq.heappop(busy))
        values = [problem(trial.params) for _, _, trial in free]
        began = time.process_time()
        for (_, _, trial), value in zip(free, values, strict=True):
            optimizer.tell(trial, value)
        batch = optimizer.ask(len(free))
        took = time.process_time() - began
        clock, spent, told, best = clock + took, spent + took, told + len(free), min(best, *values)
        idle += sum(clock - finished for finished, _, _ in free)
        for trial in batch:
            heapq.heappush(busy, (clock + float(rng.uniform(1.0, 10.0)) * MINUTE, trial.id, trial))
        print(f"{strategy}: {told} told, {spent:.0f} s of {clock:.0f}", end="\r", file=sys.stderr, flush=True)
        steps.append({"clock": clock, "spent": spent, "told": told, "asked": len(free), "best": best, "idle": idle})
    return {"strategy": strategy, "workers": workers, "gather": gather, "seed": seed, "steps": steps}


def shares(steps: Sequence[dict[str, float]], over: int = 100) -> tuple[list[float], list[float]]:
    """Results told, and the share of a core over the last ``over`` of them."""
    told, found = list[float](), list[float]()
    for i, step in enumerate(steps):
        j = max((k for k in range(i) if steps[k]["told"] <= step["told"] - over), default=None)
        if j is not None:
            told.append(step["told"])
            found.append((step["spent"] - steps[j]["spent"]) / (step["clock"] - steps[j]["clock"]))
    return told, found


def report(rows: Sequence[dict[str, Any]]) -> str:
    """A line a study."""
    lines = []
    for row in rows:
        steps, (_, share) = row["steps"], shares(row["steps"])
        last = steps[-1]
        lines.append(
            [row["strategy"], str(row.get("engine", ENGINE)), str(row["workers"]), f"{last['told']:,}", str(len(steps)),
             f"{last['told'] / len(steps):.1f}", f"{last['clock'] / MINUTE:.0f}", f"{last['spent']:.0f}",
             f"{last['spent'] / last['clock']:.1%}", f"{max(share):.1%}",
             f"{last['idle'] / (last['clock'] * row['workers']):.1%}", f"{last['best']:.3g}"]
        )  # fmt: skip
    header = [
        "strategy",
        "engine",
        "workers",
        "results",
        "asks",
        "points an ask",
        "minutes",
        "CPU s",
        "share of a core",
    ]
    header += ["most over 100 results", "workers idle", "best"]
    text = (
        f"# Many workers\n\nLevy-10D, evaluations of 1 to 10 minutes, {backend.name()} backend, one thread; the target "
        f"is under {TARGET:.0%} of a core. Minutes are on the simulated clock, CPU seconds are real, on a machine that "
        "was shared.\n\n"
    )
    return text + markdown_table(header, lines)


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def report_on_dask(rows: Sequence[dict[str, Any]]) -> str:
    """A line a run."""
    header = ["strategy", "engine", "processes", "evaluations", "seconds", "CPU s here", "share of a core", "best"]
    lines = [
        [row["strategy"], str(row["engine"]), str(row["workers"]), str(row["budget"]), f"{row['seconds']:.0f}",
         f"{row['spent']:.1f}", f"{row['share']:.1%}", f"{row['best']:.3g}"]
        for row in rows
    ]  # fmt: skip
    text = "\n## For real, on a Dask cluster of this machine\n\nEvaluations take 1 to 10 seconds.\n\n"
    return text + markdown_table(header, lines) + "\n"


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """The share of a core as results come in."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    colors = {"trust_region": "#0072b2", "hedged": "#d55e00", "kb": "#009e73"}
    for row in rows:
        told, share = shares(row["steps"])
        called = f"{row['strategy']}, engine {row.get('engine', ENGINE)}"
        axis.plot(told, share, color=colors.get(row["strategy"], "#888888"), label=called)
    axis.axhline(TARGET, color="black", linewidth=0.8, linestyle="--")
    axis.text(axis.get_xlim()[1], TARGET, "target ", ha="right", va="bottom", fontsize=8)
    axis.set(xlabel="results", ylabel="share of a core, last 100 results", yscale="log")
    ticks = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    axis.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axis.minorticks_off()
    axis.set_title("Asking for 500 workers, evaluations of 1 to 10 minutes", fontsize=10)
    axis.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def slept(params: dict[str, Any], longest: float) -> float:
    """Levy-10D, after a sleep of a tenth of ``longest`` to all of it."""
    value = levy10()(params)
    time.sleep(longest * (0.1 + 0.9 * (abs(hash(tuple(params.values()))) % 1000) / 999.0))
    return float(value)


def on_dask(workers: int, budget: int, longest: float, strategy: str) -> dict[str, Any]:
    """``minimize`` on a cluster of processes: seconds, processor seconds here, and what was found."""
    from distributed import LocalCluster

    from believer.integrations.dask import connected

    options: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": None, "threads_per_worker": 1}
    with LocalCluster(n_workers=workers, **options) as cluster, connected(cluster.scheduler_address) as executor:
        began, spent = time.perf_counter(), time.process_time()
        found = bv.minimize(
            partial(slept, longest=longest), levy10().space, budget, workers=executor, q=workers, mode="async",
            strategy=strategy, n_init=2 * workers, seed=0, progress=False,
        )  # fmt: skip
        seconds, spent = time.perf_counter() - began, time.process_time() - spent
    return {"workers": workers, "strategy": strategy, "budget": budget, "seconds": seconds, "spent": spent,
            "share": spent / seconds, "best": found.value}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["run", "report", "dask"])
    parser.add_argument("--strategies", nargs="*", default=["hedged", "trust_region"])
    parser.add_argument("--workers", type=int, default=500)
    parser.add_argument("--results", type=int, default=2000)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--gather", type=float, default=20.0)
    parser.add_argument("--out", type=Path, default=RESULTS / "many_workers.jsonl")
    arguments = parser.parse_args()
    if arguments.action == "dask":
        for strategy in arguments.strategies:
            line = json.dumps({**on_dask(16, arguments.budget, 10.0, strategy), "engine": ENGINE})
            with DASK.open("a") as file:
                file.write(line + "\n")
            print(line, flush=True)
        return
    if arguments.action == "run":
        for strategy in arguments.strategies:
            row = simulate(strategy, arguments.workers, arguments.results, arguments.gather)
            with arguments.out.open("a") as file:
                file.write(json.dumps({**row, "engine": ENGINE}) + "\n")
            print(report([row]), flush=True)
        return
    rows, real = read(arguments.out), read(DASK)
    found = report(rows) + (report_on_dask(real) if real else "")
    (RESULTS / "many_workers.md").write_text(found)
    draw(rows, RESULTS / "many_workers.png")
    print(found)


if __name__ == "__main__":
    main()
