"""``believer demo``: a complete study, a comparison with other ways to choose points, and the study's page."""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
import webbrowser
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from believer import plot
from believer._version import __version__
from believer.arrays import rounded
from believer.cli.arguments import at_least, writable
from believer.cli.demos import DEMOS, Demo
from believer.cli.demos.comparison import Reached, compare
from believer.cli.lab import say
from believer.errors import EvaluationError, MissingExtra
from believer.loop import minimize
from believer.optimizer import Optimizer
from believer.space.units import amount
from believer.study.goal import Maximize
from believer.study.labels import described
from believer.study.trials import Batch
from believer.workers import Workers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer demo``."""
    first, folder = next(iter(DEMOS)), Path("believer-demo")
    parser.add_argument("name", nargs="?", choices=[*DEMOS], default=first, help="which demo (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="list the demos and exit")
    parser.add_argument("--out", type=Path, default=folder, help="folder for the files (default: %(default)s)")
    parser.add_argument("--budget", type=at_least(1), metavar="N", help="evaluations (default: those of the demo)")
    parser.add_argument("--q", type=at_least(1), default=8, help="points in a batch (default: %(default)s)")
    parser.add_argument("--workers", type=at_least(1), default=2, help="processes (default: %(default)s)")
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the study, and first seed compared")
    parser.add_argument("--seeds", type=at_least(0), metavar="N", help="number of seeds compared; 0 for no comparison")
    parser.add_argument("--open", action="store_true", help="open the page of the study in a browser")


def run(arguments: argparse.Namespace) -> int:
    """Run the study, compare, and write journal, table, figures and page; files of an earlier run are replaced."""
    if arguments.list:
        for name, demo in DEMOS.items():
            say(f"{name:<11} {demo.title}")
        return 0
    started, demo = time.monotonic(), DEMOS[arguments.name]
    for package, module, extra in (("matplotlib", "matplotlib", "plots"), *demo.needs):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(package, extra)
    folder = writable(arguments.out)
    budget, q, seed = arguments.budget or demo.budget, arguments.q, arguments.seed
    seeds = range(seed, seed + (demo.seeds if arguments.seeds is None else arguments.seeds))
    say(f"believer {__version__}, demo {demo.name}.\n{demo.story}\n")
    with Workers(arguments.workers) as executor:
        rounds = _counted(math.ceil(budget / q), "round")
        say(f"{_counted(budget, 'evaluation')} in {rounds} of {q}, seed {seed}:")
        optimizer = solve(demo, budget, q, seed, executor)
        say(conclusion(demo, optimizer))
        if seeds:
            say(f"\nOther ways to choose points, medians of {_counted(len(seeds), 'run')} each:")
            say(comparison(demo, compare(demo, q, seeds, budget, executor)))
    page = keep(demo, optimizer, folder)
    say(f"\nJournal, table and figures: {folder / demo.name}.jsonl, .csv and _*.png")
    if page is None:
        say("The page of the study needs plotly: pip install 'believer[report]', then run this again.")
    else:
        say(f"The page of the study: {page}")
    say("A study of your own: `believer new` in an empty folder (no programming), or bv.minimize(f, space) in Python.")
    say(f"Done in {time.monotonic() - started:.0f} s.")
    if arguments.open and page is not None:
        webbrowser.open(page.resolve().as_uri())
    return 0


def solve(demo: Demo, budget: int, q: int, seed: int, executor: Executor) -> Optimizer:
    """Run the study, with a line for each batch; EvaluationError if every evaluation failed."""
    before: list[float | None] = [None]

    def tell(optimizer: Optimizer, batch: Batch) -> None:
        say(progress(demo, optimizer, batch, before[0], budget))
        before[0] = None if optimizer.best is None else optimizer.best[1]

    result = minimize(
        demo.function,
        demo.space,
        budget,
        q=q,
        workers=executor,
        mode="batch",
        outcomes=demo.goals,
        failures=demo.failures,
        seed=seed,
        progress=False,
        callback=tell,
    )
    if result.optimizer.counts.done == 0:
        error = result.optimizer.records()[0]["error"]
        raise EvaluationError(f"every evaluation failed; the first one with: {error}")
    return result.optimizer


def progress(demo: Demo, optimizer: Optimizer, batch: Batch, before: float | None, budget: int) -> str:
    """A line about a finished batch: the best so far, the gain, and the expected gain."""
    answered, best, gain = optimizer.counts.answered, optimizer.best, batch.verdict.gain
    line = f"  {answered:>3}/{budget}  "
    if best is None:
        return f"{line}nothing within the limits yet"
    line += f"best {_amount(demo, best[1])}"
    if all(trial.origin == "design" for trial in batch):
        return f"{line}; space-filling points, before the first model"
    if before is None or gain is None:  # there is no expected gain before a result is within the limits
        return f"{line}; the first within the limits"
    gained = "nothing" if best[1] == before else _amount(demo, abs(best[1] - before), digits=3)
    return f"{line}; gained {gained}, about {_amount(demo, gain.together, digits=1)} expected"


def conclusion(demo: Demo, optimizer: Optimizer) -> str:
    """A sentence on the result, if there is one."""
    best, parameters = optimizer.best, optimizer.settings.labels.parameters
    lines = []
    if best is None:
        lines.append(f"Nothing was found: of {optimizer.counts.done} results none keeps all limits. {_kept(optimizer)}")
    else:
        params, value = best
        row = next(row for row in optimizer.records() if all(row[name] == params[name] for name in params))
        others = [f"{name} {_amount(demo, row[name], name)}" for name in list(demo.goals)[1:]]
        with_others = f" ({', '.join(others)})" if others else ""
        lines.append(f"Best: {next(iter(demo.goals))} {_amount(demo, value)}{with_others}")
        lines.append(f"  with {described(params, parameters)}.")
    ending = demo.ending(optimizer)
    return "\n".join([*lines, *([ending] if ending else [])])


def comparison(demo: Demo, reached: Sequence[Reached]) -> str:
    """A table, and sentences that compare batches, the first row, with each other row."""
    ours, *single, chance = reached
    width = max(len(one.method.label) for one in reached)
    lines = [
        f"  {'':<{width}}  {'equal evaluations':>20}  {f'equal rounds ({ours.needed})':>20}  {'all rounds':>13}",
        *(
            f"  {one.method.label:<{width}}  {_amount(demo, one.evaluations):>20}  {_amount(demo, one.rounds):>20}  "
            f"{one.needed:>13}"
            for one in reached
        ),
    ]
    for one in single:
        lines.append(_said(demo, "At equal evaluations", ours.evaluations, one.evaluations, "one at a time"))
        lines.append(_said(demo, "At equal rounds", ours.rounds, one.rounds, "one at a time"))
    both = "At equal evaluations and rounds" if single else "At equal evaluations"
    lines.append(_said(demo, both, ours.evaluations, chance.evaluations, "random points"))
    if any(value is None for one in reached for value in (one.evaluations, one.rounds)):
        lines.append("None: most runs found nothing within the limits.")
    return "\n".join(lines)


def _said(demo: Demo, when: str, ours: float | None, theirs: float | None, other: str) -> str:
    """A sentence that compares batches with another method."""
    one, two = _amount(demo, ours), _amount(demo, theirs)
    if one == two:
        same = "find nothing within the limits" if ours is None else f"reach the same: {one}"
        return f"{when}, batches and {other} {same}."
    if ours is None or theirs is None:
        ahead = theirs is None
    else:
        ahead = (ours > theirs) == isinstance(next(iter(demo.goals.values())), Maximize)
    return f"{when}, batches are {'ahead of' if ahead else 'behind'} {other}: {one} against {two}."


def keep(demo: Demo, optimizer: Optimizer, folder: Path) -> Path | None:
    """Write journal, table, figures and page, and return the page's path, or None without plotly."""
    journal = folder / f"{demo.name}.jsonl"
    journal.unlink(missing_ok=True)
    optimizer.save(journal)
    optimizer.to_csv(folder / f"{demo.name}.csv")
    page = folder / f"{demo.name}.html"
    page.unlink(missing_ok=True)
    _figure(plot.convergence(optimizer, optimum=demo.optimum), folder / f"{demo.name}_convergence.png")
    _figure(plot.lies(optimizer), folder / f"{demo.name}_lies.png")
    try:
        optimizer.report(page)
    except MissingExtra:
        return None
    return page


def _figure(axes: Any, path: Path) -> None:
    first = axes if hasattr(axes, "figure") else axes.flat[0]
    first.figure.savefig(path, dpi=150)


def _amount(demo: Demo, value: float | None, name: str | None = None, digits: int = 4) -> str:
    """The value of an outcome, by default the objective, in its units."""
    if value is None:
        return "none"
    return amount(rounded(value, digits), demo.goals[name or next(iter(demo.goals))].units)


def _kept(optimizer: Optimizer) -> str:
    """The number of results that keep each limit."""
    rows = [row for row in optimizer.records() if row["status"] == "done"]
    counts = {
        output.name: sum(bool(output.limits.holds(np.asarray(output.sign * row[output.name]))) for row in rows)
        for output in optimizer.settings.goals.outputs
        if output.limits is not None
    }
    return "Results that keep each of them: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + "."


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"
