"""``believer reproduce``: run the experiments of the paper, or what is missing of them, and report on them."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from believer import __version__
from believer.cli import at_least, writable
from believer.errors import EvaluationError, InvalidInput, MissingExtra
from believer.experiments import Cell, Store, one_process
from believer.experiments import run as run_cells
from believer.integrations import dask
from believer_paper import plan
from believer_paper.packing import CELLS, pack, unpack
from believer_paper.report import write_report
from believer_paper.results import PRESETS, Results
from believer_paper.work import work

_TIMING = ("step", "scaling")
"""The kinds of cells that measure time: they run one at a time, when nothing else is running."""

_NAMES_HELP = "all (default), or any of those that --list names, such as exp3 exp9 claims"
_SEEDS_HELP = "use the seeds 0 to N - 1 wherever there are seeds (default: as many as in the paper)"
_OUT_HELP = (
    "folder for report, tables, figures and cells (default: %(default)s); an unfinished run there is resumed. The "
    "report covers the experiments that this command names, and replaces an earlier report"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer reproduce``."""
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=_NAMES_HELP)
    parser.add_argument("--seeds", type=at_least(1), metavar="N", help=_SEEDS_HELP)
    parser.add_argument(
        "--preset",
        choices=[*PRESETS, "both"],
        default="both",
        help="printed: the paper's own set-up; ours: this library's engine (default: %(default)s)",
    )
    parser.add_argument("--workers", type=at_least(1), metavar="N", help="processes (default: one a core)")
    parser.add_argument("--dask", metavar="ADDRESS", help="address of a Dask scheduler, such as tcp://host:8786")
    parser.add_argument("--out", type=Path, default=Path("believer-reproduction"), help=_OUT_HELP)
    parser.add_argument("--smoke", action="store_true", help="run tiny experiments, as a check that everything works")
    parser.add_argument("--list", action="store_true", help="list the names of the experiments, and stop")


def run(arguments: argparse.Namespace) -> int:
    """Run the missing cells, report on all named experiments, and compress the cells."""
    if arguments.list:
        print(_listed())
        return 0
    started = time.monotonic()
    arguments.names = _names(arguments.names)
    if arguments.workers is not None and arguments.dask is not None:
        raise InvalidInput(
            f"--workers (processes of this machine) and --dask (a cluster) exclude each other; got "
            f"--workers {arguments.workers} --dask {arguments.dask}. Leave one of them out."
        )
    presets = PRESETS if arguments.preset == "both" else (arguments.preset,)
    cells = plan.cells(arguments.names, presets, arguments.seeds, arguments.smoke)
    for package, module, extra in (("scikit-learn", "sklearn", "surrogates"), ("matplotlib", "matplotlib", "plots")):
        _require(package, module, extra)
    out = writable(arguments.out)
    try:
        failures = _reproduce(cells, arguments, out)
    except KeyboardInterrupt:
        print(f"\nFinished cells are in {out / CELLS}; the same command resumes the run.", file=sys.stderr)
        raise
    print(f"Done in {time.monotonic() - started:.0f} s.")
    if failures:
        raise EvaluationError(" ".join(failures))
    return 0


def _names(given: Sequence[str]) -> list[str]:
    """The named experiments, in the order of the plan."""
    unknown = [repr(name) for name in given if name not in plan.EXPERIMENTS and name != "all"]
    if unknown:
        raise InvalidInput(
            f"an experiment must be one of all, {', '.join(plan.EXPERIMENTS)}; got {', '.join(unknown)}."
        )
    return [name for name in plan.EXPERIMENTS if not given or "all" in given or name in given]


def _listed() -> str:
    width = max(map(len, plan.EXPERIMENTS))
    return "\n".join(f"{name:<{width}}  {experiment.title}" for name, experiment in plan.EXPERIMENTS.items())


def _require(package: str, module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise MissingExtra(package, extra)


def _reproduce(cells: Sequence[Cell], arguments: argparse.Namespace, out: Path) -> list[str]:
    """Run, report and compress. Returns the messages about cells that failed."""
    unpack(out)
    with Store(out / CELLS) as store:
        cells = _without_botorch(cells, store)
        with _workers(arguments) as workers:
            done = sum(cell in store for cell in cells)
            print(f"believer {__version__}: {len(cells)} cells, {done} of them finished before.", flush=True)
            failures = _run(cells, store, workers)
        results = Results(tuple(store[cell] for cell in cells if cell in store))
        print(write_report(results, out, command_of(arguments), arguments.names), end="")
    pack(out)
    return failures


def _without_botorch(cells: Sequence[Cell], store: Store) -> Sequence[Cell]:
    """The cells that can be run here. If BoTorch is not installed, say how many cells need it, and leave them out."""
    needy = [c for c in cells if c.settings.get("options", {}).get("process") == "botorch" and c not in store]
    if not needy or importlib.util.find_spec("botorch") is not None:
        return cells
    missing = MissingExtra("botorch", "botorch", "believer-paper")
    left = [cell for cell in cells if cell not in needy]
    if not left:
        raise missing
    print(f"Skipping {len(needy)} of {len(cells)} cells that need BoTorch: {missing}", flush=True)
    return left


def _run(cells: Sequence[Cell], store: Store, workers: dict[str, Any]) -> list[str]:
    """Run the missing cells; those that measure time come last and run alone. Returns messages about failures."""
    progress = True if sys.stderr.isatty() else "lines"
    together = [cell for cell in cells if cell.experiment not in _TIMING]
    alone = [cell for cell in cells if cell.experiment in _TIMING]
    failures: list[str] = []
    try:
        if together:
            run_cells(together, work, store, progress=progress, **workers)
    except EvaluationError as error:
        failures.append(str(error))
    if left := sum(cell not in store for cell in alone):
        print(f"Running {left} cells that measure time, one at a time.", flush=True)
        try:
            with one_process() as executor:
                run_cells(alone, work, store, executor, progress=progress)
        except EvaluationError as error:
            failures.append(str(error))
    return failures


@contextmanager
def _workers(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The arguments of ``experiments.run`` that say where cells run. Connects to the cluster first, if there is one."""
    if arguments.dask is None:
        yield {"workers": arguments.workers or os.cpu_count() or 1}
        return
    with dask.connected(arguments.dask) as executor:
        yield {"executor": executor}


def command_of(arguments: argparse.Namespace) -> str:
    """The command that makes the same report, without the options for workers and for the folder."""
    everything = arguments.names == list(plan.EXPERIMENTS)
    words = ["believer", "reproduce", *(["all"] if everything else arguments.names), "--preset", arguments.preset]
    words += [] if arguments.seeds is None else ["--seeds", str(arguments.seeds)]
    words += ["--smoke"] if arguments.smoke else []
    return shlex.join(words)
