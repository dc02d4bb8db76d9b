"""Work for the tests of experiments, in a module of its own so that spawned processes load little."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from waiting import wait_for

from believer.errors import InvalidInput, MissingExtra, NumericalError
from believer.experiments import Cell


def cells(count: int, experiment: str = "toy", **settings: Any) -> list[Cell]:
    return [Cell(experiment, settings, seed) for seed in range(count)]


def square(cell: Cell) -> dict[str, Any]:
    return {"square": cell.seed**2, "third": cell.seed / 3}


def logged(cell: Cell) -> dict[str, Any]:
    """Leaves a line in a file each time it is run, whatever process runs it."""
    fd = os.open(cell.settings["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, f"{cell.seed} {os.getpid()}\n".encode())
    os.close(fd)
    time.sleep(cell.settings.get("seconds", 0.0))
    return {"square": cell.seed**2}


def runs(log: Path) -> list[int]:
    """The seeds that ``logged`` was run for, in order."""
    return [int(line.split()[0]) for line in log.read_text().splitlines()] if log.exists() else []


def pids(log: Path) -> list[int]:
    """The processes that ran them."""
    return [int(line.split()[1]) for line in log.read_text().splitlines()]


def faulty(cell: Cell) -> dict[str, Any]:
    if cell.seed in cell.settings["bad"]:
        raise ValueError(f"seed {cell.seed} is unlucky")
    return logged(cell)


def spoiled() -> None:
    raise TypeError("there is no way back")


class Spoiled:
    """Can be pickled, and not made again from what was."""

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return spoiled, ()


class Stubborn(InvalidInput):
    """An error that cannot travel, even where a library has taught Python to pickle any other (distributed does)."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)
        self.cargo = Spoiled()


FAULTS: dict[str, Any] = {
    "invalid": lambda: InvalidInput("q must be at least 1; got 0."),
    "missing": lambda: MissingExtra("scikit-learn", "surrogates"),
    "numerical": lambda: NumericalError("indefinite"),
    "stubborn": lambda: Stubborn("no ", "way"),
    "exit": lambda: SystemExit(3),
}


def at_fault(cell: Cell) -> dict[str, Any]:
    if cell.seed == 1:
        raise FAULTS[cell.settings["fault"]]()
    return logged(cell)


def odd_result(cell: Cell) -> Any:
    return {
        "nan": {"x": float("nan")},
        "tuple": {"x": (1, 2)},
        "object": {"x": object()},
        "function": {"x": odd_result},
        "list": [1],
        "none": None,
    }[cell.settings["kind"]]


def deadly(cell: Cell) -> dict[str, Any]:
    """Kills its process for some seeds: every time, or only the first."""
    if cell.seed in cell.settings["always"]:
        os._exit(7)
    died = Path(cell.settings["log"] + f".{cell.seed}")
    if cell.seed in cell.settings["once"] and not died.exists():
        died.touch()
        os._exit(7)
    return logged(cell)


def conditions(cell: Cell) -> dict[str, Any]:
    """What a process finds when it runs a cell, once so many ``processes`` have one."""
    log = Path(cell.settings["log"])
    logged(cell)
    wait_for(lambda: len(set(pids(log))) >= cell.settings["processes"])
    import numpy  # noqa: F401 - read its threads by now

    return {
        "pid": os.getpid(),
        "threads": {name: value for name, value in os.environ.items() if name.endswith("_THREADS")},
        "interrupts": signal.getsignal(signal.SIGINT) != signal.SIG_IGN,
    }
