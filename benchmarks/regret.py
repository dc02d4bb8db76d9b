"""Best value found after 50 evaluations in batches of three, against the peers, on equal initial designs.

    python benchmarks/regret.py run --members optuna botorch_seq --seeds 0-19
    python benchmarks/regret.py report --ours believer --markdown benchmarks/results/regret.md

A cell is a member on a problem with a seed. Each finished cell is one JSON line of the results file; cells already
there are skipped, so a run can be stopped and taken up again. Two processes share the work by writing to two files,
each naming the other's in ``--others``; the report reads both. A cell that raises is reported, never retried within the
run, and makes the exit status 1.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.experiments.lines import ProgressLines
from believer.problems.synthetic import ackley, hartmann6, levy
from believer.space import Space
from believer_bench import members
from believer_bench.command import seeds_of
from believer_bench.members import Member, Ours, Theirs
from believer_bench.race import design, warm_up
from believer_bench.race import run as race

EVALUATIONS = 50
BATCH = 3
RESULTS = Path(__file__).parent / "results" / "regret.jsonl"

Factory = Callable[[Array, Array, int], Member]
"""``(X0, y0, seed) -> Member``: from an initial design and its values."""


def ours(X0: Array, y0: Array, seed: int, **options: Any) -> Ours:
    """Our optimizer over the unit cube."""
    return Ours(Space.cube(X0.shape[1]), X0, y0, seed, **options)


def theirs(X0: Array, y0: Array, seed: int, peer: str) -> Theirs:
    """A peer over the unit cube."""
    return Theirs(peer, Space.cube(X0.shape[1]), X0, y0, seed)


PEERS = {
    "optuna": "optuna_gp",
    "egobox_kb": "egobox_kb",
    "egobox_clmin": "egobox_clmin",
    "botorch_joint": "botorch_qlogei",
    "botorch_seq": "botorch_qlogei_greedy",
    "botorch_qei_joint": "botorch_qei",
    "skopt": "skopt_clmin",
}
"""Names in the results here, and those of ``believer bench``."""

MEMBERS: dict[str, Factory] = {"believer": ours, **{name: partial(theirs, peer=peer) for name, peer in PEERS.items()}}


def versions(member: str) -> dict[str, str]:
    """The versions of the packages that ``member`` runs on."""
    return members.versions(PEERS.get(member, member))


@dataclass(frozen=True, slots=True)
class Problem:
    """A test function over the cube [low, high]^d."""

    name: str
    function: Callable[[Array], Array]
    d: int
    low: float
    high: float

    def __call__(self, U: Array) -> Array:
        """Values (m,) at the points ``U`` (m, d) of the unit cube."""
        return self.function(self.low + (self.high - self.low) * U)

    def design(self, seed: int) -> Array:
        """The initial design of ``seed``, (2d, d), the same for every member."""
        return design(Space.cube(self.d), 2 * self.d, seed)


PROBLEMS = {
    problem.name: problem
    for problem in (
        Problem("hartmann6", hartmann6, 6, 0.0, 1.0),
        Problem("ackley8", ackley, 8, -5.0, 5.0),
        Problem("levy10", levy, 10, -10.0, 10.0),
    )
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: a member on a problem with a seed."""

    member: str
    problem: str
    seed: int


def run_cell(cell: Cell, factory: Factory) -> dict[str, Any]:
    """Run ``cell`` to the end of its budget; only the member's construction, asks and tells are timed."""
    problem = PROBLEMS[cell.problem]
    X = problem.design(cell.seed)
    course = race(partial(factory, seed=cell.seed), problem, X, problem(X), BATCH, EVALUATIONS)
    seconds, cpu_seconds = course.spent.sum(axis=0).round(4).tolist()
    curve = np.minimum.accumulate(course.y)
    return {
        "member": cell.member,
        "problem": cell.problem,
        "seed": cell.seed,
        "best": float(curve[-1]),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "design": course.design,
        "versions": versions(cell.member),
        "curve": [float(f"{value:.10g}") for value in curve],
    }


def read_rows(paths: Iterable[Path]) -> dict[Cell, dict[str, Any]]:
    """The finished cells of the files ``paths`` that exist; the first row of a cell counts.

    A last line without its end is being written by another process, and is left out.
    """
    rows: dict[Cell, dict[str, Any]] = {}
    for path in paths:
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        for row in map(json.loads, filter(None, lines)):
            rows.setdefault(Cell(row["member"], row["problem"], row["seed"]), row)
    return rows


def run(cells: Sequence[Cell], out: Path, others: Sequence[Path] = ()) -> int:
    """Run the cells that ``out`` does not hold yet, one line each; returns how many raised.

    ``others`` are files that another process is writing: they are looked at again before each cell.
    """
    done = read_rows([out, *others])
    todo = [cell for cell in cells if cell not in done]
    progress = ProgressLines(len(cells), sys.stderr)
    progress.show(len(cells) - len(todo))
    out.parent.mkdir(parents=True, exist_ok=True)
    failed = 0
    warm: set[str] = set()
    for number, cell in enumerate(todo, start=len(cells) - len(todo) + 1):
        if cell in read_rows(others):
            continue
        try:
            if cell.member not in warm:
                warm_up(partial(MEMBERS[cell.member], seed=0))
                warm.add(cell.member)
            row = run_cell(cell, MEMBERS[cell.member])
        except Exception:
            failed += 1
            print(f"*** FAILED {cell} ***\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            continue
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        progress.show(number, f"{cell}: best {row['best']:.4f}, {row['seconds']:.1f} s")
    if failed:
        print(f"*** {failed} cell(s) FAILED ***", file=sys.stderr, flush=True)
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: ``run`` or ``report``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="run the missing cells")
    runner.add_argument("--members", nargs="+", required=True, choices=list(MEMBERS))
    runner.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    runner.add_argument("--seeds", type=seeds_of, default="0-19", help="for example 0-19,100-149")
    runner.add_argument("--out", type=Path, default=RESULTS)
    runner.add_argument("--others", nargs="+", type=Path, default=[], help="other runs' files: skip their cells")
    reporter = commands.add_parser("report", help="summarize and compare the finished cells")
    reporter.add_argument("--ours", default="believer", help="the member to compare with every other one")
    reporter.add_argument("--members", nargs="+", help="the members to show; all by default")
    reporter.add_argument("--seeds", type=seeds_of, help="the seeds to use; all by default")
    reporter.add_argument("--out", nargs="+", type=Path, default=[RESULTS], help="the results files to read")
    reporter.add_argument("--markdown", type=Path, help="write the report to this file as well")
    options = parser.parse_args(arguments)
    if options.command == "run":
        cells = [Cell(m, p, seed) for seed in options.seeds for p in options.problems for m in options.members]
        return 1 if run(cells, options.out, options.others) else 0
    from regret_report import report

    text = report(list(read_rows(options.out).values()), options.ours, options.members, options.seeds)
    print(text)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
