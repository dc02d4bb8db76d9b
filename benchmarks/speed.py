"""Seconds per step, ours and the peers' in one run on one thread, so that the ratios mean something.

    python benchmarks/speed.py                                   # every cell
    python benchmarks/speed.py --cells ask3_n50 import --members believer optuna

A *step* is what a loop pays per batch in the steady state: the optimizer holds n - q points and has proposed the next
q, then these q results are told and the next q are asked. Each repeat builds the optimizer anew from another design;
only tell + ask is timed, in seconds of the processor, since the machine may be shared. The members of a cell take
turns, and a slow one stops repeating when its time is used up; a ratio is of medians over the seeds that both ran.

``believer_python`` is our Python twin on the same seeds: what compiling gave. What the floor is, speed_floor.py says.

BoTorch takes part twice. At q = 10, n = 200, plain q-EI was exactly zero at all 256 raw samples for three of five
seeds, and the search then ended after three evaluations; otherwise it took up to a thousand. Its logarithm
(``botorch_joint``) has no such plateau, so it stands beside it, with fewer repeats.
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
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from regret import MEMBERS, PROBLEMS, Cell, Factory, run_cell, versions
from regret_report import markdown_table
from speed_floor import Call, counting, floor_table, likelihood_table, rates
from speed_probes import condition_table, import_table, large_table

import believer as bv
from believer.numerics import backend
from believer.numerics.sampling import latin_hypercube
from believer_bench.race import warm_up

OURS, TWIN = "believer", "believer_python"
RESULTS = Path(__file__).parent / "results" / "speed.md"
COUNTED_SEEDS = 3
SIDE_BUDGET = 0.25
"""Of the time of a cell and member, what one without a target gets."""

Timing = Callable[[str, int, AbstractContextManager[None]], float]
"""``(member, seed, watch) -> seconds`` of one repeat; what is timed runs within ``watch``."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One timed cell: the peer to compare with, how many times faster ours should be, who else takes part."""

    name: str
    title: str
    n: int
    timing: Timing
    peer: str
    asked: float
    others: tuple[str, ...]
    repeats: int

    @property
    def members(self) -> tuple[str, ...]:
        """Ours first, then the peers."""
        return (OURS, TWIN, self.peer, *self.others)


@dataclass(frozen=True, slots=True)
class Measured:
    """A comparison with what came out: seconds of each member, seed by seed, and the floor."""

    comparison: Comparison
    seconds: Mapping[str, Sequence[float]]
    floor: float

    def medians(self, peer: str) -> tuple[float, float] | None:
        """Median seconds of ``peer`` and of ours over the seeds of both; None when there are none."""
        theirs, ours = self.seconds.get(peer, ()), self.seconds.get(OURS, ())
        both = min(len(theirs), len(ours))
        return (float(np.median(theirs[:both])), float(np.median(ours[:both]))) if both else None


def step(enter: Factory, seed: int, n: int, q: int, watch: AbstractContextManager[None]) -> float:
    """Seconds of tell + ask(q) on Hartmann-6D, with ``n`` results known when the ask begins."""
    problem = PROBLEMS["hartmann6"]
    X = latin_hypercube(n - q, problem.d, np.random.default_rng([seed, n, q]))
    optimizer = enter(X, problem(X), seed)
    proposed = optimizer.ask(q)
    values = problem(proposed)
    with watch:
        start = time.process_time()
        optimizer.tell(proposed, values)
        optimizer.ask(q)
        return time.process_time() - start


def steps(n: int, q: int) -> Timing:
    """The timing of :func:`step` at one size."""
    return lambda member, seed, watch: step(MEMBERS[member], seed, n, q, watch)


def whole_loop(member: str, seed: int, watch: AbstractContextManager[None]) -> float:
    """Seconds in the optimizer over a whole Hartmann-6D run of 50 evaluations in batches of three."""
    with watch:
        return float(run_cell(Cell(member, "hartmann6", seed), MEMBERS[member])["cpu_seconds"])


def _step_cell(n: int, q: int, peer: str, asked: float, others: tuple[str, ...] = (), repeats: int = 15) -> Comparison:
    return Comparison(f"ask{q}_n{n}", f"tell + ask({q}), n = {n}, d = 6", n, steps(n, q), peer, asked, others, repeats)


COMPARISONS = {
    comparison.name: comparison
    for comparison in (
        _step_cell(50, 3, "egobox_kb", 80.0, ("botorch_qei_joint", "botorch_joint", "skopt", "optuna")),
        _step_cell(200, 3, "optuna", 20.0),
        _step_cell(200, 10, "botorch_qei_joint", 15.0, ("botorch_joint",)),
        _step_cell(500, 10, "botorch_qei_joint", 20.0, ("botorch_joint",), repeats=9),
        _step_cell(1000, 10, "optuna", 30.0, repeats=5),
        Comparison("loop", "Hartmann-6D loop, 50 evaluations, q = 3", 50, whole_loop, "egobox_clmin", 30.0, (), 9),
    )
}

PROBES = {
    "likelihood": likelihood_table,
    "condition": condition_table,
    "large": large_table,
    "import": import_table,
}


def once(comparison: Comparison, member: str, seed: int) -> float:
    """Seconds of one repeat; the Python twin is ours under another backend."""
    if member != TWIN:
        return comparison.timing(member, seed, nullcontext())
    with backend.using("python"):
        return comparison.timing(OURS, seed, nullcontext())


def measure(comparison: Comparison, members: Sequence[str], repeats: int, budget: float) -> dict[str, list[float]]:
    """Repeats of every member, taken in turns; a member stops once its repeats took ``budget`` seconds of wall time.

    A member that raises is reported and leaves the cell.
    """
    seconds: dict[str, list[float]] = {member: [] for member in members}
    left = {m: budget * (1.0 if m in (OURS, TWIN, comparison.peer) else SIDE_BUDGET) for m in members}
    for seed in range(repeats):
        for member in [member for member in members if left[member] > 0.0]:
            start = time.perf_counter()
            try:
                seconds[member].append(once(comparison, member, seed))
            except Exception:
                failure = f"*** FAILED {comparison.name} {member} ***\n{traceback.format_exc()}"
                print(failure, file=sys.stderr, flush=True)
                left[member] = 0.0
                continue
            left[member] -= time.perf_counter() - start
            print(f"{comparison.name} {member} #{seed}: {seconds[member][-1]:.4f} s", file=sys.stderr, flush=True)
    return seconds


def floor_of(comparison: Comparison, repeats: int) -> tuple[float, str]:
    """The floor of a cell in seconds, and its table; rates are measured right after the times that they belong to."""
    counts: list[list[Call]] = []
    for seed in range(min(repeats, COUNTED_SEEDS)):
        counts.append([])
        # Built by the Python twin, too: were the first batch another one, so would the counts be.
        with backend.using("python"):
            comparison.timing(OURS, seed, counting(counts[-1]))
    return floor_table(comparison.title, counts, PROBLEMS["hartmann6"].d, rates(comparison.n))


def summary_table(results: Sequence[Measured]) -> str:
    """What was asked for, cell by cell."""
    lines = []
    for result in results:
        comparison, medians = result.comparison, result.medians(result.comparison.peer)
        if medians is None:
            continue
        theirs, ours = medians
        lines.append(
            [
                comparison.title,
                comparison.peer,
                f"{theirs:.4g}",
                f"{ours:.4g}",
                f"**{theirs / ours:.1f}**",
                f"{comparison.asked:g}",
                "met" if theirs / ours >= comparison.asked else "missed",
                f"{result.floor:.3g}",
                f"{ours / result.floor:.1f}",
            ]
        )
    header = ["cell", "peer", "peer, s", "ours, s", "peer / ours", "asked", "", "floor, s", "ours / floor"]
    return markdown_table(header, lines)


def detail_table(result: Measured) -> str:
    """The medians of one cell, with the ratios to ours over the seeds of both."""
    lines = []
    for member, times in result.seconds.items():
        if not times:
            lines.append([member, "failed", "", "", "0"])
            continue
        medians = None if member == OURS else result.medians(member)
        lines.append(
            [
                f"**{member}**" if member == OURS else member,
                f"{np.median(times):.4g}",
                f"{min(times):.4g} to {max(times):.4g}",
                "" if medians is None else f"{medians[0] / medians[1]:.1f}",
                str(len(times)),
            ]
        )
    header = ["member", "median s", "range", "member / ours", "repeats"]
    return f"## {result.comparison.title}\n\n" + markdown_table(header, lines)


def provenance(members: Sequence[str]) -> str:
    """Where the numbers came from: processor, Python, package versions, threads."""
    packages: dict[str, str] = {}
    for member in members:
        packages.update(versions(member))
    listed = ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))
    load = f"{os.getloadavg()[0]:.1f}"
    return (
        f"Backend: {bv.backend()}. {_processor()}, {os.cpu_count()} logical cores, {platform.system()}, "
        f"Python {platform.python_version()}; one thread; seconds of the processor; load average {load} when the run "
        f"ended. {listed}.\n"
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
    parser.add_argument("--members", nargs="+", default=[*MEMBERS, TWIN], choices=[*MEMBERS, TWIN])
    parser.add_argument("--repeats", type=int, help="at most so many, where a cell has more of its own")
    parser.add_argument("--budget", type=float, default=100.0, help="seconds of wall time per cell and member")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    chosen = [COMPARISONS[name] for name in options.cells if name in COMPARISONS]
    wanted = {member for comparison in chosen for member in comparison.members} & set(options.members)
    if bv.backend() == "python":
        wanted.discard(TWIN)  # it would be ours once more
    for member in sorted(wanted - {TWIN}):
        try:
            warm_up(partial(MEMBERS[member], seed=0))
        except Exception:
            print(f"*** {member} cannot run ***\n{traceback.format_exc()}", file=sys.stderr, flush=True)
    results, details = [], []
    for comparison in chosen:
        repeats = min(comparison.repeats, options.repeats or comparison.repeats)
        present = [member for member in comparison.members if member in wanted]
        seconds = measure(comparison, present, repeats, options.budget)
        floor, parts = floor_of(comparison, repeats)
        results.append(Measured(comparison, seconds, floor))
        details += [detail_table(results[-1]), parts]
    details += [PROBES[name]() for name in options.cells if name in PROBES]
    text = "\n".join(["# Speed\n", provenance(sorted(wanted - {TWIN})), summary_table(results), *details])
    print(text)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
