"""``believer bench``: strategies, surrogates and peers race each other; the report says which one to use."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from believer.acquisitions import ACQUISITIONS
from believer.batch import STRATEGIES
from believer.cli.arguments import at_least, look_here, writable
from believer.errors import EvaluationError, InvalidInput, MissingExtra
from believer.experiments import Cell, Store
from believer.experiments import run as run_cells
from believer.problems import Problem
from believer.surrogates import SURROGATES
from believer_bench import plan
from believer_bench.advice import default_strategy
from believer_bench.contest import Contest
from believer_bench.declared import SEVERAL
from believer_bench.members import ACQUISITION, SURROGATE, Entrant
from believer_bench.peers import PEERS
from believer_bench.problems import PROBLEMS, SeveralProblem
from believer_bench.race import race
from believer_bench.report import write_report
from believer_bench.space_file import read_space
from believer_bench.suite import SUITES, suite_named, suite_tasks
from believer_bench.suite_report import write_suite_report
from believer_bench.tasks import MODES

FinishedCells = Sequence[tuple[Cell, dict[str, Any]]]
Write = Callable[[FinishedCells, Path | None], str]
"""Writes a report into a folder, if there is one, and returns it as text."""

_USUAL = {"problems": list(plan.PROBLEMS), "q": [plan.Q], "seeds": range(plan.SEEDS), "budget": plan.BUDGET}
_SMOKE = {"problems": ["branin"], "q": [plan.Q], "seeds": range(2), "budget": 10, "n_init": 4}
"""Where nothing else is said: for results, and to see in seconds whether everything runs."""

_SPACE_HELP = (
    "its parameters, in TOML or JSON: each name with type = float, int (both with low and high; log and step if you "
    "like) or categorical (choices); what Space.to_config returned is read as well"
)

_PROBLEMS_HELP = (
    f"also with limits (judged by the best feasible value) or several objectives (by hypervolume); --list names all "
    f"(default: {' '.join(plan.PROBLEMS)})"
)
_OUTCOMES_HELP = (
    'of a --function that returns a dict: what is wanted of each number, a dict such as {"yield": bv.Maximize(), '
    '"purity": bv.AtLeast(95)} at the top of a module'
)
_REFERENCE_HELP = "of several objectives: a dict with a number for each, where hypervolumes are measured from"

_STRATEGIES_HELP = (
    "each on every surrogate with every acquisition, or as a pair, kb@forest, or all three, kb@forest/EI; your own as "
    "module:object, a class being called without arguments (default: all that their surrogate can serve)"
)
_SEEDS_HELP = (
    f"a number N means the N seeds from 0 (default: {plan.SEEDS}); or which: 100-119, or a list such as 1,2,7-9; the "
    "seed 7 alone is 7-7 or 7, (with its comma)"
)
_OUT_HELP = (
    "folder for report and results; a run there is taken up. The report covers what this command names, also where "
    "results.jsonl holds more, and takes the place of an earlier one and of the figures which that one shows"
)
_SUITE_HELP = (
    "the library's problems by class: "
    + "; ".join(f"{name}: {suite}" for name, suite in SUITES.items())
    + ". Races the default strategy unless others are named, and reports by class"
)
_FIGURES = ("curves_*.png", "ends_*.png", "overview_*.png", "profiles_*.png", "sizes_*.png")
"""Files of a report whose names depend on what was raced."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer bench``."""
    named: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    parser.add_argument("--strategies", **named, help=_STRATEGIES_HELP)
    parser.add_argument("--surrogates", **named, default=[SURROGATE], help=_own(SURROGATES, SURROGATE))
    parser.add_argument("--acquisitions", **named, help=_own(ACQUISITIONS, ACQUISITION))
    parser.add_argument("--peers", **named, default=[], help="other libraries' optimizers (default: none)")
    parser.add_argument("--suite", choices=list(SUITES), help=_SUITE_HELP)
    parser.add_argument("--modes", nargs="+", choices=MODES, help="of a suite: who waits for whom (default: its own)")
    parser.add_argument("--problems", **named, choices=[*PROBLEMS, *SEVERAL], help=_PROBLEMS_HELP)
    parser.add_argument("--function", metavar="MODULE:FUNCTION", help="of your own: takes one dict, returns a number")
    parser.add_argument("--space", type=Path, metavar="FILE", help=_SPACE_HELP)
    parser.add_argument("--maximize", action="store_true", help="more is better, of --function")
    parser.add_argument("--outcomes", metavar="MODULE:OBJECT", help=_OUTCOMES_HELP)
    parser.add_argument("--reference", metavar="MODULE:OBJECT", help=_REFERENCE_HELP)
    parser.add_argument("--q", nargs="+", type=at_least(1), help=f"points in a batch, 1 is sequential ({plan.Q})")
    parser.add_argument("--seeds", type=seeds_of, help=_SEEDS_HELP)
    parser.add_argument("--budget", type=at_least(2), help=f"evaluations in a run, the design included ({plan.BUDGET})")
    parser.add_argument("--n-init", type=at_least(2), help="points of the design (default: two a parameter)")
    parser.add_argument("--workers", type=at_least(1), help="processes (default: one a core)")
    parser.add_argument("--out", type=Path, help=_OUT_HELP)
    parser.add_argument("--smoke", action="store_true", help="a tiny race, to see in seconds that everything runs")
    parser.add_argument("--list", action="store_true", help="say what can be named, and stop")


def _own(names: Iterable[str], usual: str) -> str:
    return f"{', '.join(names)}, or your own as module:object (default: {usual})"


def seeds_of(text: str) -> Sequence[int]:
    """``20`` seeds from 0, or those of a list of numbers and ranges such as ``100-119``, ``1,2,7-9`` or ``7,``."""
    try:
        ends = [part.split("-") if "-" in part else [part, part] for part in text.removesuffix(",").split(",")]
        seeds = [seed for first, last in ends for seed in range(int(first), int(last) + 1)]
        if text.strip().isdecimal():
            seeds = list(range(int(text)))
    except ValueError:
        seeds = []
    if not seeds or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError(
            f"must be how many (20), or which, each once (100-119 or 1,2,7-9; one alone: 7-7 or 7,); got {text!r}"
        )
    return seeds


def run(arguments: argparse.Namespace) -> int:
    """Race what was asked for, or what is missing of it, and report."""
    if arguments.list:
        print(_listed())
        return 0
    started = time.monotonic()
    usual = _SMOKE if arguments.smoke else _USUAL
    if arguments.suite is not None:
        usual = {"seeds": range(SUITES[arguments.suite].seeds), "strategies": [default_strategy()]}
    for name, value in usual.items():
        if getattr(arguments, name) is None and not (name == "problems" and arguments.function):
            setattr(arguments, name, value)
    cells = _cells(arguments)
    out = None if arguments.out is None else writable(arguments.out)
    if out is not None and importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plots")
    report = write_report if arguments.suite is None else write_suite_report
    _race(cells, out, arguments.workers or os.cpu_count() or 1, partial(report, command=command_of(arguments)))
    if out is not None:
        print(f"\nReport, figures and results are in {out}{os.sep}.")
    print(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


def _cells(arguments: argparse.Namespace) -> list[Cell]:
    """The cells to be raced; ``arguments.strategies`` is completed, for ``command_of``."""
    strategies, acquisitions = arguments.strategies, arguments.acquisitions or [ACQUISITION]
    named = (arguments.function, arguments.outcomes, arguments.reference)
    look_here(*(strategies or ()), *arguments.surrogates, *acquisitions, *named)
    entrants = plan.members(strategies, arguments.surrogates, arguments.peers, acquisitions)
    if arguments.suite is not None:
        return _suite_cells(arguments, entrants)
    if arguments.modes is not None:
        raise InvalidInput("--modes belongs to --suite; name one, or leave it out.")
    contests, everyone = _contests(arguments), strategies is None
    cells = plan.plan(
        entrants, contests, arguments.q, arguments.seeds, arguments.budget, arguments.n_init, all_that_can=everyone
    )
    if everyone:
        arguments.strategies = list(STRATEGIES)
    if notice := plan.left_out(entrants, cells):
        print(notice, file=sys.stderr)
        racing = {cell.settings["member"] for cell in cells}
        arguments.strategies = [one.name for one in entrants if one.parts and one.name in racing]
        arguments.surrogates, arguments.acquisitions = [SURROGATE], None
    return cells


def _suite_cells(arguments: argparse.Namespace, entrants: Sequence[Entrant]) -> list[Cell]:
    a, suite = arguments, suite_named(arguments.suite)
    if any([a.function, a.space, a.maximize, a.outcomes, a.reference, a.smoke]):
        raise InvalidInput(
            "--suite has problems of its own; leave out --function, --space, --maximize, --outcomes, --reference and "
            "--smoke."
        )
    tasks = suite_tasks(suite, a.problems, a.q, a.modes, a.budget, a.n_init)
    return plan.cells_of(entrants, tasks, a.seeds, where_they_can=True)


def _race(cells: Sequence[Cell], out: Path | None, workers: int, write: Write) -> None:
    """Run and report; when cells failed, the others are reported before the error goes on its way."""
    with Store(None if out is None else out / "results.jsonl") as store:
        try:
            run_cells(cells, race, store, workers=workers, progress=True if sys.stderr.isatty() else "lines")
        except EvaluationError:
            finished = [(cell, store[cell].result) for cell in cells if cell in store]
            if finished:
                _report(finished, out, write)
            raise
        _report([(cell, store[cell].result) for cell in cells], out, write)


def _report(finished: FinishedCells, out: Path | None, write: Write) -> None:
    """Print and write the report, in the place of an earlier one: figures that only that one shows are removed."""
    earlier = None if out is None else out / "bench.md"
    if out is not None and earlier is not None and earlier.is_file():
        shown = earlier.read_text(encoding="utf-8", errors="replace")
        for path in [path for pattern in _FIGURES for path in out.glob(pattern) if f"({path.name})" in shown]:
            path.unlink()
    print(write(finished, out))


def _contests(arguments: argparse.Namespace) -> list[Contest]:
    a = arguments
    if a.function is None:
        if any([a.space, a.maximize, a.outcomes, a.reference]):
            raise InvalidInput(
                "--space, --maximize, --outcomes and --reference belong to a function of your own; name it with "
                "--function."
            )
        return plan.contests_of(a.problems)
    if a.problems is not None:
        raise InvalidInput("--function takes the place of --problems; leave one of them out.")
    if a.space is None:
        raise InvalidInput("--function needs --space, a file with its parameters (see believer bench --help).")
    return plan.contests_of((), a.function, read_space(a.space), a.maximize, a.outcomes, a.reference)


def command_of(arguments: argparse.Namespace) -> str:
    """The command that races the same cells, written in full; where they run and what is left of them is not said."""
    words = ["believer", "bench", *([] if arguments.suite is None else ["--suite", arguments.suite])]
    for name in ("strategies", "surrogates", "acquisitions", "peers", "modes", "problems", "q"):
        given = getattr(arguments, name)
        words += [f"--{name}", *map(str, given)] if given else []
    if arguments.function is not None:
        words += ["--function", arguments.function, "--space", arguments.space.name]
        words += ["--maximize"] if arguments.maximize else []
        words += ["--outcomes", arguments.outcomes] if arguments.outcomes else []
        words += ["--reference", arguments.reference] if arguments.reference else []
    words += ["--seeds", _describe(arguments.seeds)]
    words += [] if arguments.budget is None else ["--budget", str(arguments.budget)]
    words += [] if arguments.n_init is None else ["--n-init", str(arguments.n_init)]
    return shlex.join(words)


def _describe(seeds: Sequence[int]) -> str:
    """Seeds as ranges, as ``seeds_of`` reads them."""
    starts = [seed for i, seed in enumerate(seeds) if i == 0 or seeds[i - 1] != seed - 1]
    ends = [seed for i, seed in enumerate(seeds) if i == len(seeds) - 1 or seeds[i + 1] != seed + 1]
    return ",".join(f"{first}-{last}" for first, last in zip(starts, ends, strict=True))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}" if count else ""


def _about(problem: Problem | SeveralProblem) -> str:
    if isinstance(problem, Problem):
        kinds = [problem.kind]
    else:
        aims = len(problem.objectives)
        kinds = [_counted(aims, "objective"), _counted(len(problem.goals) - aims, "limit")]
    return ", ".join(filter(None, [*kinds, _counted(len(problem.space), "parameter")]))


def _listed() -> str:
    """The names that can be given, and the peers that are installed."""
    problems = [f"{name} ({_about(make())})" for name, make in PROBLEMS.items()]
    problems += [f"{name} ({_about(make())})" for name, make in SEVERAL.items()]
    peers = [
        f"{name} ({', '.join(f'{package} {version}' for package, version in peer.versions().items())})"
        if peer.installed
        else f"{name} (not installed: pip install 'believer-bench[{peer.extra}]')"
        for name, peer in PEERS.items()
    ]
    ours = {"strategies": STRATEGIES, "surrogates": SURROGATES, "acquisitions": ACQUISITIONS}
    suites = [f"{name} ({suite})" for name, suite in SUITES.items()]
    groups = {**{name: list(known) for name, known in ours.items()}, "suite": suites, "problems": problems}
    groups["peers"] = peers
    return "\n".join(line for name, entries in groups.items() for line in (f"--{name}", *(f"  {e}" for e in entries)))
