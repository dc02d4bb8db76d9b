"""What a batch costs by each strategy, beside the Kriging Believer and BoTorch's joint q-EI; and fifty points at once.

    python benchmarks/strategies.py [--markdown benchmarks/results/strategies.md] [--skip-peers]

A step is tell + ask(3) on Hartmann-6D with 50 results known when the ask begins, as in speed.py. Members take turns and
each repeat starts from another design; times are of the processor, on one thread, medians of the repeats.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import platform
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import scipy
from regret import ours, theirs
from speed import step

import believer as bv
from believer.batch import STRATEGIES
from believer.numerics.sampling import latin_hypercube
from believer.report import Table
from believer_bench.problems import PROBLEMS
from believer_bench.race import warm_up

PEERS = ("botorch_qei", "botorch_qlogei")
TOGETHER = ("dpp", "qei")
"""Strategies that choose the points of a batch together; they are not held to a multiple of kb's time."""


def steps(members: list[str], repeats: int) -> Table:
    """One row a member."""
    entrants = {
        member: partial(theirs, peer=member) if member in PEERS else partial(ours, strategy=member)
        for member in members
    }
    for enter in entrants.values():
        warm_up(partial(enter, seed=0))
    seconds: dict[str, list[float]] = {member: [] for member in members}
    for seed in range(repeats):
        for member in members:
            seconds[member].append(step(entrants[member], seed, 50, 3, nullcontext()))
    median = {member: float(np.median(times)) for member, times in seconds.items()}
    rows = [
        (
            member,
            round(1e3 * median[member], 1),
            f"{1e3 * min(seconds[member]):.0f} to {1e3 * max(seconds[member]):.0f}",
            round(median[member] / median["kb"], 2),
            round(median[member] / median["qei"], 2) if member in PEERS else None,
            _aim(member, median),
        )
        for member in members
    ]
    columns = ("member", "median CPU ms", "range", "of kb", "of qei", "aim")
    return Table(f"tell + ask(3), n = 50, d = 6, {repeats} repeats", columns, rows)


def _aim(member: str, median: dict[str, float]) -> str | None:
    if member in PEERS:
        return f"qei at most 1/5 ({'met' if 5.0 * median['qei'] <= median[member] else 'missed'})"
    if member in TOGETHER or member == "kb":
        return None
    return f"at most 3 of kb ({'met' if median[member] <= 3.0 * median['kb'] else 'missed'})"


def fifty() -> Table:
    """ask(50) on Levy-10D with 200 results: every strategy, its time, whether the points differ, what is expected."""
    problem = PROBLEMS["levy10"]()
    X = latin_hypercube(200, 10, np.random.default_rng(0))
    values = problem.evaluate(X)
    rows = []
    for name in STRATEGIES:
        optimizer = bv.Optimizer(problem.space, seed=0, strategy=name)
        for params, value in zip(problem.space.decode(X), values, strict=True):
            optimizer.observe(params, float(value))
        started = time.process_time()
        batch = optimizer.ask(50)
        spent = time.process_time() - started
        rows.append(
            (
                name,
                round(spent, 2),
                len({tuple(np.round(trial.encoded, 6)) for trial in batch}),
                None if batch.verdict.gain is None else batch.verdict.gain.together,
                None if batch.verdict.gain is None else batch.verdict.gain.slots,
                batch.verdict.min_distance,
                len(batch.verdict.near_duplicates),
            )
        )
    columns = ("strategy", "CPU s, fit included", "distinct points", "expected gain", "slots that have most of it")
    columns += ("least distance", "near pairs")
    return Table("ask(50) on Levy-10D, n = 200", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--skip-peers", action="store_true")
    arguments = parser.parse_args()
    members = [*STRATEGIES, *(() if arguments.skip_peers else PEERS)]
    tables = [steps(members, arguments.repeats).markdown(), fifty().markdown()]
    ran_on = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    load = f"load average {os.getloadavg()[0]:.1f} when the run ended" if hasattr(os, "getloadavg") else ""
    made_by = f"believer {bv.__version__}, {ran_on}, {platform.system()} {platform.machine()}; {load}."
    text = "\n".join([*tables, made_by + "\n"])
    print(text)
    if arguments.markdown is not None:
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
