"""A plan of cells that take no time, in place of the paper's; a module of its own, so that processes load little."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from believer.experiments import Cell
from believer.workers import ONE_THREAD

KINDS = {"timed": "step", "scaled": "scaling"}
OPTIONS: dict[str, Any] = {"foreign": {"options": {"process": "botorch"}}}
NAMES = ("timed", "plain", "other", "scaled", "failing", "stopped", "foreign")


def toy_cells(names: Sequence[str], presets: Sequence[str], seeds: int | None, smoke: bool) -> list[Cell]:
    return [
        Cell(KINDS.get(name, "toy"), {"preset": preset, "name": name, **OPTIONS.get(name, {})}, seed)
        for name in names
        for preset in presets
        for seed in range(seeds or (1 if smoke else 3))
    ]


def toy_work(cell: Cell) -> dict[str, Any]:
    """Tells when and where it ran."""
    started = time.monotonic()
    if cell.settings["name"] == "failing" and cell.seed == 1:
        raise RuntimeError("the solver gave up")
    if cell.settings["name"] == "stopped" and cell.seed == 2:
        raise KeyboardInterrupt
    time.sleep(0.01)
    threads = {name: os.environ.get(name) for name in ONE_THREAD}
    return {"pid": os.getpid(), "seconds": [started, time.monotonic()], "threads": threads}
