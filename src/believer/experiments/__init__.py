"""The parts that experiments of every kind share: cells, a store that survives a crash, a runner and statistics.

An experiment is a list of cells and a function ``work(cell) -> dict`` at the top of a module. The room knows none in
particular::

    cells = grid("toy", {"q": [1, 3], "problem": ["hartmann6"]}, seeds=range(20))
    results = run(cells, work, store="toy.jsonl", workers=2)     # again after a crash: only what is missing runs
"""

from __future__ import annotations

from believer.experiments.cells import Cell, grid
from believer.experiments.fingerprint import fingerprint
from believer.experiments.packing import pack, unpack
from believer.experiments.processes import one_process
from believer.experiments.runner import run
from believer.experiments.statistics import (
    bootstrap_interval,
    hodges_lehmann,
    holm,
    rank_correlation,
    vargha_delaney,
    wilcoxon,
    wilson_interval,
)
from believer.experiments.store import FinishedCell, Store, read_store
from believer.study.settings import versions

__all__ = [
    "Cell",
    "FinishedCell",
    "Store",
    "bootstrap_interval",
    "fingerprint",
    "grid",
    "hodges_lehmann",
    "holm",
    "one_process",
    "pack",
    "rank_correlation",
    "read_store",
    "run",
    "unpack",
    "vargha_delaney",
    "versions",
    "wilcoxon",
    "wilson_interval",
]
