"""``believer table1``: every row of the paper's Table 1, measured by the Structural Diversity Diagnostic."""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from pathlib import Path

from believer.batch import INCUMBENTS
from believer.cli import at_least, writable
from believer.errors import MissingExtra
from believer.experiments import versions
from believer.problems import PROBLEMS
from believer_paper.compatibility import LEAST_SEEDS, CompatibilityTable, compatibility_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer table1``."""
    named = "one that believer bench --list names (default: %(default)s)"
    parser.add_argument("--problem", default="hartmann6", choices=list(PROBLEMS), metavar="NAME", help=named)
    parser.add_argument("--q", type=at_least(2), default=3, help="points in a batch (default: %(default)s)")
    parser.add_argument("--n", type=at_least(2), default=30, help="observations to begin with (default: %(default)s)")
    parser.add_argument("--seeds", type=at_least(1), default=LEAST_SEEDS, help="initial designs (default: %(default)s)")
    parser.add_argument("--incumbent", choices=INCUMBENTS, default="data", help="default: %(default)s")
    parser.add_argument("--workers", type=at_least(1), help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="folder for table, figure and results; a run there is resumed")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, and leave table, figure and resumable results in the folder if one was given."""
    started = time.monotonic()
    out = None if arguments.out is None else writable(arguments.out)
    if out is not None and importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plots")
    table = compatibility_table(
        arguments.seeds,
        problem=arguments.problem,
        n=arguments.n,
        q=arguments.q,
        incumbent=arguments.incumbent,
        workers=arguments.workers or os.cpu_count() or 1,
        results=None if out is None else out / "results.jsonl",
        progress=True,
    )
    print(table)
    if out is not None:
        _write(table, out, f"`believer table1` on {arguments.problem}, n={arguments.n}, q={arguments.q}")
        print(f"\nTable, figure and results are in {out}{os.sep}.")
    print(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


def _write(table: CompatibilityTable, out: Path, command: str) -> None:
    v = versions()
    ran_on = f"believer {v['believer']}, Python {v['python']}, NumPy {v['numpy']}, SciPy {v['scipy']}, {v['platform']}"
    page = [table.table().markdown(), f"Made by {command}, with {ran_on}.\n", table.details().markdown()]
    (out / "compatibility.md").write_text("\n".join(page), encoding="utf-8")
    (out / "compatibility.csv").write_text(table.details().csv(), encoding="utf-8")
    (out / "compatibility.json").write_text(table.to_json(), encoding="utf-8")
    table.figure().savefig(out / "compatibility.png")
