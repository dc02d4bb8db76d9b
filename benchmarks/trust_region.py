"""Beyond a thousand evaluations: the trust region beside the default, TuRBO and random points.

    python benchmarks/trust_region.py run --seeds 0-9
    python benchmarks/trust_region.py report

Levy-20D, Ackley-50D and a rover's path of 60 numbers (``believer_bench.problems.many``), 1,100 evaluations: a Latin
hypercube of 100, the same for everyone, and batches of 50. TuRBO is TuRBO-1, written from its authors' description
(``believer_bench.turbo``). Needs no peers. One process, one thread; a run is a line of JSON, and runs that are there
are not made again, so that it can be stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

from believer.arrays import Array
from believer.numerics import backend
from believer.numerics.sampling import latin_hypercube
from believer.problems.problem import Problem
from believer.study.settings import ENGINE
from believer_bench.members import Member, Ours
from believer_bench.problems.many import MANY
from believer_bench.turbo import Turbo

RESULTS = Path(__file__).parent / "results"
BUDGET, DESIGN, Q = 1100, 100, 50
ENOUGH_PAIRS = 6
MEMBERS = ("trust_region", "turbo", "hedged", "random")
CALLED = {"hedged": "hedged (default)", "turbo": "TuRBO-1"}


def member(name: str, problem: Problem, X: Array, y: Array, seed: int) -> Any:
    """The optimizer of that name, told of the design."""
    return (
        Turbo(problem.space, X, y, seed, False) if name == "turbo" else Ours(problem.space, X, y, seed, strategy=name)
    )


def run(name: str, problem: Problem, seed: int) -> dict[str, Any]:
    """One run: the best value after each batch, and its processor seconds."""
    X = latin_hypercube(DESIGN, problem.space.dim, np.random.default_rng((seed, 20)))
    y = problem.evaluate(X)
    best, seconds = [float(y.min())], list[float]()
    began = time.process_time()
    taking: Member | Any = member(name, problem, X, y, seed)
    while DESIGN + Q * len(seconds) < BUDGET:
        batch = taking.ask(Q)
        stopped = time.process_time()
        values = problem.evaluate(batch)
        resumed = time.process_time()
        taking.tell(batch, values)
        seconds.append(time.process_time() - resumed + stopped - began)
        began = time.process_time()
        best.append(min(best[-1], float(values.min())))
    return {
        "member": name, "problem": problem.name, "seed": seed, "best": best, "seconds": seconds, "engine": ENGINE,
    }  # fmt: skip


def seeds_of(text: str) -> range:
    """The seeds from "0-9"."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def read(path: Path) -> list[dict[str, Any]]:
    """The runs of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def make_runs(path: Path, names: Sequence[str], problems: Sequence[str], seeds: range) -> None:
    """The runs that are missing, seed by seed."""
    done = {(row["member"], row["problem"], row["seed"]) for row in read(path)}
    for seed in seeds:
        for problem in problems:
            for name in names:
                if (name, problem, seed) in done:
                    continue
                row = run(name, MANY[problem](), seed)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{problem} {name} seed {seed}: {row['best'][-1]:.4g} in {sum(row['seconds']):.0f} s", flush=True)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """Medians and quartiles at three moments, seconds, and the paired comparisons with the trust region."""
    moments = (300, 600, BUDGET)
    parts = [
        "# Beyond a thousand evaluations\n",
        f"Best value of {BUDGET:,} evaluations in batches of {Q}, from the same Latin hypercube of {DESIGN}: medians "
        "over seeds (quartiles at the end). CPU seconds are those of all asks and tells of a run, one thread, "
        f"{backend.name()} backend, on a machine that was shared. p, of {ENOUGH_PAIRS} pairs and more: Wilcoxon's "
        "signed-rank test of the ends, two-sided, not corrected. Ours are of the engines "
        f"{', '.join(_engines(rows))}.\n",
    ]
    for problem in MANY:
        lines = []
        ends = {
            row["seed"]: row["best"][-1] for row in rows if (row["member"], row["problem"]) == (MEMBERS[0], problem)
        }
        for name in MEMBERS:
            own = [row for row in rows if (row["member"], row["problem"]) == (name, problem)]
            if not own:
                continue
            at = [np.array([row["best"][(n - DESIGN) // Q] for row in own]) for n in moments]
            low, high = np.quantile(at[-1], [0.25, 0.75])
            both = [row for row in own if row["seed"] in ends]
            gaps = np.array([row["best"][-1] - ends[row["seed"]] for row in both])
            found = "" if name == MEMBERS[0] else f"{int((gaps > 0).sum())} of {len(gaps)}{_p(gaps)}"
            lines.append(
                [CALLED.get(name, name), str(len(own)), *(f"{np.median(values):.4g}" for values in at),
                 f"{low:.4g} to {high:.4g}", f"{np.median([sum(row['seconds']) for row in own]):.1f}", found]
            )  # fmt: skip
        header = ["member", "runs", *(f"at {n:,}" for n in moments), "quartiles", "CPU s", "lost to the trust region"]
        parts += [f"## {problem}\n", markdown_table(header, lines)]
    return "\n".join(parts)


def _engines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Each engine, with its seeds."""
    seeds: dict[int, set[int]] = {}
    for row in rows:
        seeds.setdefault(row["engine"], set()).add(row["seed"])
    return [f"{engine} (seeds {', '.join(map(str, sorted(seeds[engine])))})" for engine in sorted(seeds)]


def _p(gaps: Array) -> str:
    """Of Wilcoxon's signed-rank test, two-sided; nothing where too few pairs could show anything."""
    from scipy.stats import wilcoxon

    return f", p = {wilcoxon(gaps).pvalue:.2g}" if len(gaps) >= ENOUGH_PAIRS and np.any(gaps) else ""


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Medians and quartiles of the best value so far, a panel a problem."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    colors = {"trust_region": "#0072b2", "hedged": "#d55e00", "turbo": "#009e73", "random": "#888888"}
    figure, axes = plt.subplots(1, len(MANY), figsize=(11.0, 3.4), layout="constrained")
    for axis, problem in zip(axes, MANY, strict=True):
        for name in MEMBERS:
            own = np.array([row["best"] for row in rows if (row["member"], row["problem"]) == (name, problem)])
            if not len(own):
                continue
            n = DESIGN + Q * np.arange(own.shape[1])
            low, middle, high = np.quantile(own, [0.25, 0.5, 0.75], axis=0)
            axis.plot(n, middle, color=colors[name], label=CALLED.get(name, name))
            axis.fill_between(n, low, high, color=colors[name], alpha=0.18, linewidth=0)
        axis.set(yscale="log", title=f"{problem}, {_most(rows, problem)} seeds at most", xlabel="evaluations")
    axes[0].set_ylabel("best value so far")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def _most(rows: Sequence[dict[str, Any]], problem: str) -> int:
    """The runs of the member that has most of them."""
    return max(sum((row["member"], row["problem"]) == (name, problem) for row in rows) for name in MEMBERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["run", "report"])
    parser.add_argument("--seeds", type=seeds_of, default=range(10))
    parser.add_argument("--members", nargs="*", default=list(MEMBERS))
    parser.add_argument("--problems", nargs="*", default=list(MANY))
    parser.add_argument("--out", type=Path, default=RESULTS / "trust_region.jsonl")
    arguments = parser.parse_args()
    if arguments.action == "run":
        make_runs(arguments.out, arguments.members, arguments.problems, arguments.seeds)
        return
    rows = read(arguments.out)
    found = report(rows)
    (RESULTS / "trust_region.md").write_text(found + "\n")
    draw(rows, RESULTS / "trust_region.png")
    print(found)


if __name__ == "__main__":
    main()
