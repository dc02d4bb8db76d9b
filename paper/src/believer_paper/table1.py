"""``believer table1``: every row of the paper's Table 1, measured on more data sets than in ``believer reproduce``.

The command runs the same cells for more seeds, and makes the same table by the same rule. It goes on from the finished
cells in a folder of ``believer reproduce``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from believer.cli import at_least, writable
from believer.experiments import Cell, Store, versions
from believer.experiments import run as run_cells
from believer_paper.compatibility import LIES
from believer_paper.packing import CELLS, unpack
from believer_paper.results import PRESETS, Results
from believer_paper.sizes import sdd_cell
from believer_paper.tables.diagnoses import READINGS, table_1
from believer_paper.work import work

MIN_SEEDS = 20
"""The number of data sets that make a table worth printing."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer table1``."""
    parser.add_argument("--seeds", type=at_least(1), default=MIN_SEEDS, help="data sets (default: %(default)s)")
    parser.add_argument("--preset", choices=[*PRESETS, "both"], default="both", help="default: %(default)s")
    parser.add_argument("--workers", type=at_least(1), help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help="folder for table and cells; an unfinished run there is resumed")


def run(arguments: argparse.Namespace) -> int:
    """Run the missing cells and print the table; with a folder, write the table and the cells there."""
    started = time.monotonic()
    out = None if arguments.out is None else writable(arguments.out)
    presets = PRESETS if arguments.preset == "both" else (arguments.preset,)
    cells = table_cells(presets, arguments.seeds)
    progress = True if sys.stderr.isatty() else "lines"
    if out is not None:
        unpack(out)
    with Store(None if out is None else out / CELLS) as store:
        run_cells(cells, work, store, workers=arguments.workers or os.cpu_count() or 1, progress=progress)
        table = table_1(Results(tuple(store[cell] for cell in cells)))
    assert table is not None
    print(table.table.text())
    if out is not None:
        v = versions()
        with_what = ", ".join(f"{name} {v[name]}" for name in ("believer", "numpy", "scipy", "platform"))
        made = f"\nMade by `believer table1 --seeds {arguments.seeds} --preset {arguments.preset}`, with {with_what}.\n"
        (out / f"{table.name}.md").write_text(table.markdown() + made, encoding="utf-8")
        (out / f"{table.name}.csv").write_text(table.data.csv(), encoding="utf-8")
        print(f"Table and cells are in {out}{os.sep}.")
    print(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


def table_cells(presets: Sequence[str], seeds: int) -> list[Cell]:
    """The diagnoses of every reading of every row, with each lie on the same data sets."""
    return [
        sdd_cell(preset, surrogate, update, seed, lie=lie)
        for preset in presets
        for readings in READINGS.values()
        for surrogate, update, _ in readings
        for lie in LIES
        for seed in range(seeds)
    ]
