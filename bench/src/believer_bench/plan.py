"""The whole bench: members x problems x batch sizes x seeds, checked before anything is run, then run or taken up."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, overload

from believer.arrays import whole
from believer.batch import STRATEGIES
from believer.errors import InvalidInput, MissingCapability
from believer.experiments import Cell, run
from believer.space import Space
from believer.study.files import PathLike
from believer.study.goal import Goal
from believer_bench.advice import default_strategy
from believer_bench.contest import Contest, Evaluated
from believer_bench.declared import declare
from believer_bench.members import ACQUISITION, SURROGATE, Entrant, combined, incapable
from believer_bench.peers import PEERS
from believer_bench.race import race
from believer_bench.report import BenchReport, bench_report
from believer_bench.runs import EXPERIMENT
from believer_bench.suite import suite_named, suite_tasks
from believer_bench.suite_report import SuiteReport, suite_report
from believer_bench.tasks import Task

PROBLEMS = ("hartmann6", "ackley8")
BUDGET, Q, SEEDS = 50, 3, 20

Names = str | Sequence[str]
Members = Any
"""Of one kind, one or several: names, the user's own as ``module:object``, values."""


@overload
def benchmark(
    strategies: Members = None,
    problems: Names | None = None,
    q: int | Iterable[int] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    suite: str,
    modes: Names | None = None,
    surrogates: Members = SURROGATE,
    acquisitions: Members = ACQUISITION,
    peers: Names = (),
    budget: int | None = None,
    n_init: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> SuiteReport: ...


@overload
def benchmark(
    strategies: Members = None,
    problems: Names | None = None,
    q: int | Iterable[int] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    suite: None = None,
    surrogates: Members = SURROGATE,
    acquisitions: Members = ACQUISITION,
    peers: Names = (),
    function: str | Evaluated | None = None,
    space: Space | None = None,
    maximize: bool = False,
    outcomes: str | Mapping[str, Goal] | None = None,
    reference: str | Mapping[str, float] | None = None,
    budget: int | None = None,
    n_init: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> BenchReport: ...


def benchmark(
    strategies: Members = None,
    problems: Names | None = None,
    q: int | Iterable[int] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    suite: str | None = None,
    modes: Names | None = None,
    surrogates: Members = SURROGATE,
    acquisitions: Members = ACQUISITION,
    peers: Names = (),
    function: str | Evaluated | None = None,
    space: Space | None = None,
    maximize: bool = False,
    outcomes: str | Mapping[str, Goal] | None = None,
    reference: str | Mapping[str, float] | None = None,
    budget: int | None = None,
    n_init: int | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
    results: PathLike | None = None,
    progress: bool | str = True,
) -> BenchReport | SuiteReport:
    """Race batch strategies against each other, each from the same initial points with the same budget.

    Strategies, surrogates and acquisitions are each a name, one of your own as ``"module:object"`` (a class is called
    without arguments), or a value, such as ``bv.QEI(samples=512)``; values go to ``workers`` as pickles. A result is
    taken up again only while the code of what is your own stays as it was.

    On an executor of threads, times mean little, and the seeds of BoTorch's peers do not hold: torch has one generator
    for the whole process. Peers may change settings of the process that they run in: torch's number of threads and
    seed, Optuna's verbosity, ``RAYON_NUM_THREADS``. Two or more ``workers`` keep all this away from yours.

    Raises before anything is run: ``InvalidInput``, ``MissingExtra``, ``MissingCapability``.

    Parameters
    ----------
    strategies : each raced on each of ``surrogates`` with each of ``acquisitions``; ``"kb@forest"`` names a pair,
        ``"kb@forest/EI"`` all three. By default all that can work on their surrogate; a warning names those that
        cannot. Of a suite, the default strategy alone.
    problems : names, also of problems with limits or several objectives; by default Hartmann-6D and Ackley-8D, or
        those of the suite.
    q : points in a batch, one or several numbers; 1 is sequential. By default 3.
    seeds : how many, or which; by default 20.
    suite : "quick" or "full": problems by class, with batches, budgets and seeds that fit; all of them can be given.
    modes : of a suite: "sync", "async", or both.
    surrogates, acquisitions : what strategies are raced on, one or several.
    peers : of other libraries, as in ``believer_bench.peers.PEERS``.
    function : in place of ``problems``, a function of one dict of params, found at the top of a module (or named
        ``"module:function"``).
    space : where ``function`` is searched.
    maximize : more is better for ``function``.
    outcomes : of a ``function`` that returns a dict, what is wanted of each number, as ``Optimizer`` takes it, or the
        name of such a dict, ``"module:object"``. Within limits, a run is judged by its best feasible value; of several
        objectives, by the hypervolume of its feasible results.
    reference : of several objectives, where hypervolumes are measured from: a number for each, or such a dict's name.
    budget : evaluations, the initial design included; by default 50.
    n_init : points of the initial design; default twice the number of parameters.
    executor, workers, progress : as ``experiments.run`` takes them.
    results : a file that a later call takes up.
    """
    if not isinstance(results, str | os.PathLike | None):
        raise InvalidInput(f"results must be the path of a file, or None; got {results!r}.")
    sizes = q if q is None else list(q) if isinstance(q, Iterable) else [q]
    if suite is None:
        if modes is not None:
            raise InvalidInput("modes belong to a suite; pass it as suite=..., or leave them out.")
        entrants = members(strategies, surrogates, peers, acquisitions)
        named = PROBLEMS if problems is None else _listed(problems, "problems")
        contests = contests_of(named, function, space, maximize, outcomes, reference)
        most = BUDGET if budget is None else budget
        cells = plan(entrants, contests, sizes or [Q], _seeds(seeds, SEEDS), most, n_init, strategies is None)
    else:
        if not all(given is None for given in (function, space, outcomes, reference)) or maximize:
            raise InvalidInput(
                "a suite has problems of its own: leave out function, space, maximize, outcomes and reference."
            )
        entrants = members(default_strategy() if strategies is None else strategies, surrogates, peers, acquisitions)
        chosen = suite_named(suite)
        wanted = None if problems is None else _listed(problems, "problems")
        tasks = suite_tasks(chosen, wanted, sizes, None if modes is None else _several(modes), budget, n_init)
        cells = cells_of(entrants, tasks, _seeds(seeds, chosen.seeds), where_they_can=True)
    if notice := left_out(entrants, cells):
        warnings.warn(notice, stacklevel=2)
    carried = {one.name: one for one in entrants if not one.findable}
    rows = run(cells, partial(race, others=carried) if carried else race, results, executor, workers, progress)
    finished = zip(cells, rows, strict=True)
    return bench_report(finished) if suite is None else suite_report(finished)


def _seeds(seeds: int | Iterable[int] | None, usual: int) -> list[int]:
    return (
        list(seeds)
        if isinstance(seeds, Iterable)
        else list(range(whole(usual if seeds is None else seeds, "seeds", 1)))
    )


def members(
    strategies: Members, surrogates: Members = SURROGATE, peers: Names = (), acquisitions: Members = ACQUISITION
) -> list[Entrant]:
    """The members of a race, each once: strategies on every surrogate with every acquisition, then peers.

    A name ``strategy@surrogate/acquisition`` stands for itself; None for every strategy.
    """
    found: dict[str, Entrant] = {}
    everyone = STRATEGIES if strategies is None else _several(strategies)
    for one in combined(everyone, _several(surrogates), _several(acquisitions)):
        if found.setdefault(one.name, one).settings != one.settings:
            raise InvalidInput(
                f"members must have different names; two are called {one.name}. Give the class a __repr__ that tells "
                "its values apart, or name them as module:object."
            )
    for peer in _listed(peers, "peers"):
        if peer not in PEERS:
            raise InvalidInput(f"a peer must be one of {', '.join(PEERS)}; got {peer!r}.")
        found[peer] = Entrant(peer)
    if not found:
        raise InvalidInput("name at least one strategy or peer; got none.")
    return list(found.values())


def plan(
    entrants: Sequence[Entrant],
    contests: Sequence[Contest],
    q: Sequence[int],
    seeds: Iterable[int],
    budget: int = BUDGET,
    n_init: int | None = None,
    all_that_can: bool = False,
) -> list[Cell]:
    """The cells of a bench; seeds change slowest: one that is stopped early has compared everything on its first seeds.

    Checks all that can be known in advance: the numbers, what every member needs, every member's abilities against
    every space and all declared outcomes, and that the library's problems have what they need. ``all_that_can`` leaves
    strategies out that lack an ability, or whose surrogate does, instead of ``MissingCapability``; ``left_out`` tells
    which.
    """
    sizes = [whole(size, "q", 1) for size in q]
    budget = whole(budget, "budget", 2)
    tasks = [Task(c, size, budget, _design_size(c.space, n_init)) for size in sizes for c in contests]
    return cells_of(entrants, tasks, seeds, all_that_can)


def cells_of(
    entrants: Sequence[Entrant],
    tasks: Sequence[Task],
    seeds: Iterable[int],
    all_that_can: bool = False,
    where_they_can: bool = False,
) -> list[Cell]:
    """The cells of every member on every task, checked as ``plan`` does; seeds change slowest, then tasks.

    ``where_they_can`` leaves a member out of tasks whose space it cannot work on, instead of ``InvalidInput``.
    """
    seeds = [whole(seed, "seed", 0) for seed in seeds]
    if repeated := [seed for i, seed in enumerate(seeds) if seed in seeds[:i]]:
        raise InvalidInput(f"seeds must be different; got {repeated[0]} more than once.")
    for task in tasks:
        task.check(task.runnable(entrants) if where_they_can else entrants)
    if not (entrants and tasks and seeds):
        raise InvalidInput("a bench needs at least one problem, batch size and seed; got none.")
    entrants = _able(entrants, tasks, all_that_can)
    racing = [
        (one, task.settings) for task in tasks for one in (task.runnable(entrants) if where_they_can else entrants)
    ]
    cells = [Cell(EXPERIMENT, {**one.settings, **settings}, seed) for seed in seeds for one, settings in racing]
    return list(dict.fromkeys(cells))


def left_out(entrants: Sequence[Entrant], cells: Sequence[Cell]) -> str:
    """One line on those of ``entrants`` that have no cell, since they lack an ability; empty if none."""
    racing = {cell.settings["member"] for cell in cells}
    missing = [one.name for one in entrants if one.name not in racing]
    return f"Left out, as they or their surrogate lack what is needed: {', '.join(missing)}." if missing else ""


def _listed(names: Names, what: str) -> list[str]:
    listed = _several(names)
    for name in listed:
        if not isinstance(name, str):
            raise InvalidInput(f"{what} must be a name or a list of names; got {name!r}.")
    return listed


def _several(given: Members) -> list[Any]:
    """The given members as a list; a single value makes a list of one."""
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def contests_of(
    problems: Sequence[str] = (),
    function: str | Evaluated | None = None,
    space: Space | None = None,
    maximize: bool = False,
    outcomes: str | Mapping[str, Goal] | None = None,
    reference: str | Mapping[str, float] | None = None,
) -> list[Contest]:
    """The contests of a race: the function if given, else ``problems``; the arguments are those of ``benchmark``."""
    if function is not None:
        if space is None:
            raise InvalidInput("a function needs a space: pass it as space=...")
        return [Contest.of_function(function, space, maximize, declare(outcomes, reference))]
    if not all(given is None for given in (space, outcomes, reference)) or maximize:
        raise InvalidInput(
            "space, maximize, outcomes and reference belong to a function; pass it as function=..., or leave them out."
        )
    return [Contest.of_problem(name) for name in problems]


def _design_size(space: Space, n_init: int | None) -> int:
    return 2 * len(space) if n_init is None else whole(n_init, "n_init", 2)


def _able(entrants: Sequence[Entrant], tasks: Sequence[Task], all_that_can: bool) -> list[Entrant]:
    """The members that can take part; the error of the first that cannot, unless it may be left out."""
    for one in entrants:
        if one.name in PEERS:
            PEERS[one.name].require()
    unable: dict[str, MissingCapability] = {}
    for declared in dict.fromkeys(task.contest.declared for task in tasks):
        found = incapable(entrants, declared)
        if found and not all_that_can:
            name, error = next(iter(found.items()))
            hint = " Name the pairs that can, as kb@forest." if declared is None else ""
            raise MissingCapability(f"{name} cannot take part: {error}{hint}") from error
        unable |= found
    return [one for one in entrants if one.name not in unable]
