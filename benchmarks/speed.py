"""Seconds per step, ours and the peers' in one run on one thread, so that the ratios mean something.

    python benchmarks/speed.py                                   # every cell
    python benchmarks/speed.py --cells ask3_n50 import --members believer optuna

A *step* is what a loop pays per batch in the steady state: the optimizer holds n - q points and has proposed the next
q, then these q results are told and the next q are asked. Each repeat builds the optimizer anew from another design;
only tell + ask is timed. The members of a cell take turns, and a slow one stops repeating when its time is used up.

BoTorch takes part twice. At q = 10, n = 200, plain q-EI was exactly zero at all 256 raw samples for three of five
seeds, and the search then ended after three evaluations; otherwise it took up to a thousand. Its logarithm
(``botorch_joint``) has no such plateau, so it stands beside it.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from regret import MEMBERS, PROBLEMS, Cell, run_cell, versions, warm_up
from regret_report import markdown_table
from speed_probes import condition_table, import_table, memory_table

from believer.numerics.sampling import latin_hypercube

OURS = "believer"
RESULTS = Path(__file__).parent / "results" / "speed.md"

Timing = Callable[[str, int], float]
"""``(member, seed) -> seconds`` of one repeat."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One timed cell: who takes part, how one repeat is timed, and how many times faster ours should be."""

    name: str
    title: str
    timing: Timing
    targets: Mapping[str, float | None] = field(default_factory=dict)
    """The peers and the least ratio peer / ours that is aimed at, None when there is no aim."""

    @property
    def members(self) -> tuple[str, ...]:
        """Ours first, then the peers."""
        return (OURS, *self.targets)


def step(member: str, seed: int, n: int, q: int) -> float:
    """Seconds of tell + ask(q) on Hartmann-6D, with ``n`` results known when the ask begins."""
    problem = PROBLEMS["hartmann6"]
    X = latin_hypercube(n - q, problem.d, np.random.default_rng([seed, n, q]))
    optimizer = MEMBERS[member](X, problem(X), seed)
    proposed = optimizer.ask(q)
    values = problem(proposed)
    start = time.perf_counter()
    optimizer.tell(proposed, values)
    optimizer.ask(q)
    return time.perf_counter() - start


def steps(n: int, q: int) -> Timing:
    """The timing of :func:`step` at one size."""
    return lambda member, seed: step(member, seed, n, q)


def whole_loop(member: str, seed: int) -> float:
    """Seconds in the optimizer over a whole Hartmann-6D run of 50 evaluations in batches of three."""
    return float(run_cell(Cell(member, "hartmann6", seed), MEMBERS[member])["seconds"])


_BOTORCH: dict[str, float | None] = {"botorch_qei_joint": None, "botorch_joint": None}

COMPARISONS = {
    comparison.name: comparison
    for comparison in (
        Comparison(
            "ask3_n50",
            "tell + ask(3), n = 50, d = 6",
            steps(50, 3),
            {"egobox_kb": 5.0, "botorch_qei_joint": 10.0, "botorch_joint": 10.0, "skopt": 20.0, "optuna": None},
        ),
        Comparison("ask3_n200", "tell + ask(3), n = 200, d = 6", steps(200, 3), {"optuna": None}),
        Comparison("ask10_n200", "tell + ask(10), n = 200, d = 6", steps(200, 10), _BOTORCH),
        Comparison("ask10_n500", "tell + ask(10), n = 500, d = 6", steps(500, 10), _BOTORCH),
        Comparison("ask10_n1000", "tell + ask(10), n = 1000, d = 6", steps(1000, 10), {"optuna": 5.0}),
        Comparison("loop", "Hartmann-6D loop, 50 evaluations, q = 3", whole_loop, {"egobox_clmin": None}),
    )
}

PROBES = {"condition": condition_table, "memory": memory_table, "import": import_table}


def measure(comparison: Comparison, members: Sequence[str], repeats: int, budget: float) -> dict[str, list[float]]:
    """Repeats of every member, taken in turns; a member stops once its repeats took ``budget`` seconds of wall time.

    A member that raises is reported and leaves the cell.
    """
    seconds: dict[str, list[float]] = {member: [] for member in members}
    spent = dict.fromkeys(members, 0.0)
    active = list(members)
    for seed in range(repeats):
        for member in tuple(active):
            start = time.perf_counter()
            try:
                seconds[member].append(comparison.timing(member, seed))
            except Exception:
                failure = f"*** FAILED {comparison.name} {member} ***\n{traceback.format_exc()}"
                print(failure, file=sys.stderr, flush=True)
                active.remove(member)
                continue
            spent[member] += time.perf_counter() - start
            print(f"{comparison.name} {member} #{seed}: {seconds[member][-1]:.4f} s", file=sys.stderr, flush=True)
            if spent[member] >= budget:
                active.remove(member)
    return seconds


def comparison_table(comparison: Comparison, seconds: Mapping[str, Sequence[float]]) -> str:
    """The medians of one cell, with the ratios to ours and the targets."""
    ours = float(np.median(seconds[OURS])) if seconds.get(OURS) else None
    lines = []
    for member, times in seconds.items():
        if not times:
            lines.append([member, "failed", "", "", "0", ""])
            continue
        median = float(np.median(times))
        ratio = None if ours is None or member == OURS else median / ours
        target = comparison.targets.get(member)
        lines.append(
            [
                f"**{member}**" if member == OURS else member,
                f"{median:.4g}",
                f"{min(times):.4g} to {max(times):.4g}",
                "" if ratio is None else f"{ratio:.1f}",
                str(len(times)),
                _target(ratio, target),
            ]
        )
    header = ["member", "median s", "range", "peer / ours", "repeats", "target ratio"]
    return f"## {comparison.title}\n\n" + markdown_table(header, lines)


def _target(ratio: float | None, target: float | None) -> str:
    if target is None:
        return ""
    return f"{target:g}" if ratio is None else f"{target:g} ({'met' if ratio >= target else 'missed'})"


def provenance(members: Sequence[str]) -> str:
    """Where the numbers came from: processor, Python, package versions, threads."""
    packages: dict[str, str] = {}
    for member in members:
        packages.update(versions(member))
    listed = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    load = f"{os.getloadavg()[0]:.1f}"
    return (
        f"{_processor()}, {os.cpu_count()} logical cores, {platform.system()}, Python {platform.python_version()}; "
        f"one thread; load average {load} when the run ended. {listed}.\n"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: run the cells, print the tables, write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cells", nargs="+", default=[*COMPARISONS, *PROBES], choices=[*COMPARISONS, *PROBES])
    parser.add_argument("--members", nargs="+", default=list(MEMBERS), choices=list(MEMBERS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of wall time per cell and member")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    chosen = [COMPARISONS[name] for name in options.cells if name in COMPARISONS]
    taking_part = {m: [c.name for c in chosen if m in c.members] for m in options.members}
    members = [member for member, names in taking_part.items() if names]
    for member in members:
        try:
            warm_up(MEMBERS[member])
        except Exception:
            print(f"*** {member} cannot run ***\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    parts = ["# Speed\n", ""]
    for comparison in chosen:
        present = [member for member in comparison.members if member in members]
        parts.append(comparison_table(comparison, measure(comparison, present, options.repeats, options.budget)))
    parts += [PROBES[name]() for name in options.cells if name in PROBES]
    parts[1] = provenance(members)
    text = "\n".join(parts)
    print(text)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
