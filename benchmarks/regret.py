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
import hashlib
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.bench import members
from believer.bench.members import Member, Ours, Theirs
from believer.numerics.sampling import latin_hypercube
from believer.problems.synthetic import ackley, hartmann6, levy
from believer.space import Space

EVALUATIONS = 50
BATCH = 3
RESULTS = Path(__file__).parent / "results" / "regret.jsonl"

Factory = Callable[[Array, Array, int], Member]
"""``(X0, y0, seed) -> Member``: from an initial design and its values."""


def ours(X0: Array, y0: Array, seed: int, **options: Any) -> Ours:
    """Our optimizer over the unit cube."""
    return Ours(Space.unit(X0.shape[1]), X0, y0, seed, **options)


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

MEMBERS: dict[str, Factory] = {"believer": ours, **{name: partial(Theirs, peer) for name, peer in PEERS.items()}}


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
        return latin_hypercube(2 * self.d, self.d, np.random.default_rng([seed, self.d]))


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
    y = problem(X)
    design = hashlib.sha256(X.tobytes()).hexdigest()[:16]
    start = _clocks()
    member = factory(X.copy(), y.copy(), cell.seed)
    spent = _clocks() - start
    while len(y) < EVALUATIONS:
        q = min(BATCH, EVALUATIONS - len(y))
        start = _clocks()
        proposed = member.ask(q)
        spent += _clocks() - start
        _require_inside(proposed, q, problem.d)
        values = problem(proposed)
        start = _clocks()
        member.tell(proposed, values)
        spent += _clocks() - start
        y = np.concatenate([y, values])
    curve = np.minimum.accumulate(y)
    return {
        "member": cell.member,
        "problem": cell.problem,
        "seed": cell.seed,
        "best": float(curve[-1]),
        "seconds": round(float(spent[0]), 4),
        "cpu_seconds": round(float(spent[1]), 4),
        "design": design,
        "versions": versions(cell.member),
        "curve": [float(f"{value:.10g}") for value in curve],
    }


def _clocks() -> Array:
    """Wall and processor time, (2,); the second holds on a machine that others use as well."""
    return np.array([time.perf_counter(), time.process_time()])


def warm_up(factory: Factory) -> None:
    """Drive a member once on a small problem, so that no timed cell pays for imports or first calls."""
    X = np.random.default_rng(0).random((6, 2))
    y = (X**2).sum(axis=1)
    member = factory(X, y, 0)
    proposed = member.ask(2)
    member.tell(proposed, (proposed**2).sum(axis=1))


def _require_inside(points: Array, q: int, d: int) -> None:
    if points.shape != (q, d) or not (np.isfinite(points).all() and points.min() >= 0.0 and points.max() <= 1.0):
        raise ValueError(f"a member must propose a ({q}, {d}) array inside the unit cube; got {points!r}.")


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
    print(f"{len(cells)} cells, {len(cells) - len(todo)} already there, {len(todo)} to run", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    spent: dict[tuple[str, str], list[float]] = {}
    failed = 0
    warm: set[str] = set()
    for i, cell in enumerate(todo):
        if cell in read_rows(others):
            continue
        try:
            if cell.member not in warm:
                warm_up(MEMBERS[cell.member])
                warm.add(cell.member)
            start = time.perf_counter()
            row = run_cell(cell, MEMBERS[cell.member])
        except Exception:
            failed += 1
            print(f"*** FAILED {cell} ***\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            continue
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        spent.setdefault((cell.member, cell.problem), []).append(time.perf_counter() - start)
        left = _seconds_left(todo[i + 1 :], spent) / 60.0
        print(
            f"[{i + 1}/{len(todo)}] {cell.member} {cell.problem} seed {cell.seed}: best {row['best']:.4f}, "
            f"{row['seconds']:.1f} s; about {left:.0f} min left",
            flush=True,
        )
    if failed:
        print(f"*** {failed} cell(s) FAILED ***", file=sys.stderr, flush=True)
    return failed


def _seconds_left(todo: Iterable[Cell], spent: dict[tuple[str, str], list[float]]) -> float:
    """Time left, a cell not yet seen counted as the average of those seen."""
    means = {key: float(np.mean(seconds)) for key, seconds in spent.items()}
    fallback = float(np.mean(list(means.values())))
    return sum(means.get((cell.member, cell.problem), fallback) for cell in todo)


def parse_seeds(text: str) -> list[int]:
    """Seeds from ``"0-19,100-149"``, in the order written."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds.extend(range(int(first), int(last or first) + 1))
    return seeds


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: ``run`` or ``report``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="run the missing cells")
    runner.add_argument("--members", nargs="+", required=True, choices=list(MEMBERS))
    runner.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    runner.add_argument("--seeds", type=parse_seeds, default="0-19", help="for example 0-19,100-149")
    runner.add_argument("--out", type=Path, default=RESULTS)
    runner.add_argument("--others", nargs="+", type=Path, default=[], help="other runs' files: skip their cells")
    reporter = commands.add_parser("report", help="summarize and compare the finished cells")
    reporter.add_argument("--ours", default="believer", help="the member to compare with every other one")
    reporter.add_argument("--members", nargs="+", help="the members to show; all by default")
    reporter.add_argument("--seeds", type=parse_seeds, help="the seeds to use; all by default")
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
