"""The whole bench: members x problems x batch sizes x seeds, checked before anything is run, then run or taken up."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

import numpy as np

from believer.arrays import whole
from believer.batch import STRATEGIES
from believer.bench.contest import Contest, Function
from believer.bench.members import incapable, require_space, split
from believer.bench.peers import PEERS
from believer.bench.race import race
from believer.bench.report import BenchReport, bench_report
from believer.bench.runs import EXPERIMENT
from believer.errors import InvalidInput, MissingCapability
from believer.experiments import Cell, run
from believer.space import Space
from believer.study.line_file import PathLike

PROBLEMS = ("hartmann6", "ackley8")
BUDGET, Q, SEEDS = 50, 3, 20

Names = str | Sequence[str]


def benchmark(
    strategies: Names | None = None,
    problems: Names = PROBLEMS,
    q: int | Iterable[int] = Q,
    seeds: int | Iterable[int] = SEEDS,
    *,
    surrogates: Names = "gp",
    peers: Names = (),
    function: str | Function | None = None,
    space: Space | None = None,
    maximize: bool = False,
    budget: int = BUDGET,
    n_init: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> BenchReport:
    """Race batch strategies against each other, each from the same initial points with the same budget.

    strategies: names, each raced on each of ``surrogates``; ``"kb@forest"`` names a pair. By default all that can work
    on their surrogate; a warning names those that cannot. peers: of other libraries, as in
    ``believer.bench.peers.PEERS``. problems: names; or in their place a ``function`` of one dict of params, found at
    the top of a module (or named ``"module:function"``), over ``space``, with ``maximize`` if more is better.
    q: points in a batch, one or several numbers; 1 is sequential. seeds: how many, or which. budget: evaluations, the
    initial design of ``n_init`` points (default: twice the number of parameters) included.
    executor, workers, results, progress: as ``experiments.run`` takes them; ``results`` is a file that a later call
    takes up.

    On an executor of threads, times mean little, and the seeds of BoTorch's peers do not hold: torch has one generator
    for the whole process. Peers may change settings of the process that they run in: torch's number of threads and
    seed, Optuna's verbosity, ``RAYON_NUM_THREADS``. Two or more ``workers`` keep all this away from yours.

    Raises before anything is run: ``InvalidInput``, ``MissingExtra``, ``MissingCapability``.
    """
    sizes = list(q) if isinstance(q, Iterable) else [q]
    numbers = list(seeds) if isinstance(seeds, Iterable) else range(whole(seeds, "seeds", 1))
    if not isinstance(results, str | os.PathLike | None):
        raise InvalidInput(f"results must be the path of a file, or None; got {results!r}.")
    names = members(strategies, surrogates, peers)
    contests = _contests(problems, function, space, maximize)
    cells = plan(names, contests, sizes, numbers, budget, n_init, all_that_can=strategies is None)
    if notice := left_out(names, cells):
        warnings.warn(notice, stacklevel=2)
    outcomes = run(cells, race, results, executor, workers, progress)
    return bench_report(zip(cells, outcomes, strict=True))


def members(strategies: Names | None, surrogates: Names = "gp", peers: Names = ()) -> list[str]:
    """Names of members, each once: strategies on every surrogate, pairs ``strategy@surrogate`` as they are, peers.

    None names every strategy.
    """
    names = []
    recipes = _listed(surrogates, "surrogates")
    for name in STRATEGIES if strategies is None else _listed(strategies, "strategies"):
        pairs = [name] if "@" in name else [f"{name}@{recipe}" for recipe in recipes]
        for strategy, surrogate in map(split, pairs):
            names.append(strategy if surrogate == "gp" else f"{strategy}@{surrogate}")
    for peer in _listed(peers, "peers"):
        if peer not in PEERS:
            raise InvalidInput(f"a peer must be one of {', '.join(PEERS)}; got {peer!r}.")
        names.append(peer)
    if not names:
        raise InvalidInput("name at least one strategy or peer; got none.")
    return list(dict.fromkeys(names))


def plan(
    names: Sequence[str],
    contests: Sequence[Contest],
    q: Sequence[int],
    seeds: Iterable[int],
    budget: int = BUDGET,
    n_init: int | None = None,
    all_that_can: bool = False,
) -> list[Cell]:
    """The cells of a bench; seeds change slowest: one that is stopped early has compared everything on its first seeds.

    Checks all that can be known in advance: the numbers, what every member needs, every member's abilities against
    every space, and that the library's problems have what they need. ``all_that_can`` leaves strategies out that their
    surrogate cannot serve, instead of ``MissingCapability``; ``left_out`` tells which.
    """
    sizes = [whole(size, "q", 1) for size in q]
    budget = whole(budget, "budget", 2)
    seeds = [whole(seed, "seed", 0) for seed in seeds]
    if repeated := [seed for i, seed in enumerate(seeds) if seed in seeds[:i]]:
        raise InvalidInput(f"seeds must be different; got {repeated[0]} more than once.")
    for contest in contests:
        _check_contest(contest, names, budget, n_init)
        _check_sizes(contest, sizes, budget, n_init)
    if not (names and contests and sizes and seeds):
        raise InvalidInput("a bench needs at least one problem, batch size and seed; got none.")
    names = _able(names, all_that_can)
    tasks = [{**c.settings, "budget": budget, "n_init": _design_size(c.space, n_init)} for c in contests]
    cells = [
        Cell(EXPERIMENT, {"member": name, **task, "q": size}, seed)
        for seed in seeds
        for size in sizes
        for task in tasks
        for name in names
    ]
    return list(dict.fromkeys(cells))


def left_out(names: Sequence[str], cells: Sequence[Cell]) -> str:
    """One line on the members ``names`` that have no cell, since their surrogate cannot serve them; empty if none."""
    racing = {cell.settings["member"] for cell in cells}
    missing = [name for name in names if name not in racing]
    return f"Left out, as their surrogate lacks what they need: {', '.join(missing)}." if missing else ""


def _listed(names: Names, what: str) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    for name in listed:
        if not isinstance(name, str):
            raise InvalidInput(f"{what} must be a name or a list of names; got {name!r}.")
    return listed


def _contests(problems: Names, function: str | Function | None, space: Space | None, maximize: bool) -> list[Contest]:
    if function is not None:
        if space is None:
            raise InvalidInput("a function needs a space: pass it as space=...")
        return [Contest.of_function(function, space, maximize)]
    if space is not None or maximize:
        raise InvalidInput("space and maximize belong to a function; pass it as function=..., or leave them out.")
    return [Contest.of_problem(name) for name in _listed(problems, "problems")]


def _check_contest(contest: Contest, names: Sequence[str], budget: int, n_init: int | None) -> None:
    problem, space = contest.settings["problem"], contest.space
    design = _design_size(space, n_init)
    if budget <= design:
        raise InvalidInput(
            f"the budget must be more than the {design} initial points of {problem}; got {budget}. "
            "Raise it, or say how many initial points there are to be (n_init)."
        )
    if space.size is not None and space.size < budget:
        raise InvalidInput(
            f"the space of {problem} has {space.size} points; the budget must not be more, got {budget}."
        )
    for name in names:
        require_space(name, space)
    if not contest.own:
        contest.values(np.full((1, space.dim), 0.5))


def _check_sizes(contest: Contest, sizes: Sequence[int], budget: int, n_init: int | None) -> None:
    largest = budget - _design_size(contest.space, n_init)
    for size in sizes:
        if size > largest:
            raise InvalidInput(
                f"q must not be more than {largest}, what the budget of {budget} leaves after the initial points of "
                f"{contest.settings['problem']}; got {size}. Make batches smaller, or raise the budget."
            )


def _design_size(space: Space, n_init: int | None) -> int:
    return 2 * len(space) if n_init is None else whole(n_init, "n_init", 2)


def _able(names: Sequence[str], all_that_can: bool) -> list[str]:
    """The names of members that can take part; the error of the first that cannot, unless it may be left out."""
    for name in names:
        if name in PEERS:
            PEERS[name].require()
    unable = incapable([name for name in names if name not in PEERS])
    if unable and not all_that_can:
        name, error = next(iter(unable.items()))
        raise MissingCapability(f"{name} cannot take part: {error} Name the pairs that can, as kb@forest.") from error
    return [name for name in names if name not in unable]
