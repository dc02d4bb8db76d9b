"""The suites: their problems, with the default batch sizes, budgets and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from believer.arrays import whole
from believer.errors import InvalidInput
from believer.space import Space
from believer_bench.contest import Contest
from believer_bench.problems import PROBLEMS
from believer_bench.problems.suite import SUITE
from believer_bench.tasks import MODES, Task

BUDGETS = {1: 40, 3: 50, 10: 100, 50: 220}
"""Evaluations by q, the initial design included."""

_MIN_DESIGN, _LARGEST_DESIGN = 5, 20


@dataclass(frozen=True, slots=True)
class Suite:
    """The extent of a suite. every: all problems, or one of each class. q: batch sizes. seeds: the number of seeds."""

    every: bool
    q: tuple[int, ...]
    modes: tuple[str, ...]
    seeds: int

    @property
    def problems(self) -> list[str]:
        """Their names, by class; one of a class is that in its middle: classes begin with few parameters."""
        found: dict[str, list[str]] = {}
        for name, make in SUITE.items():
            found.setdefault(make().kind, []).append(name)
        return [name for names in found.values() for name in (names if self.every else [names[len(names) // 2]])]

    def __str__(self) -> str:
        many = "every problem" if self.every else "a problem of each class"
        return f"{many}, q = {', '.join(map(str, self.q))}, {' and '.join(self.modes)}, {self.seeds} seeds"


SUITES = {"quick": Suite(False, (3,), MODES[:1], 3), "full": Suite(True, tuple(BUDGETS), MODES, 5)}


def suite_named(name: str) -> Suite:
    """The suite that commands call ``name``."""
    if name not in SUITES:
        raise InvalidInput(f"a suite must be one of {', '.join(SUITES)}; got {name!r}.")
    return SUITES[name]


def suite_tasks(
    suite: Suite,
    problems: Sequence[str] | None = None,
    q: Sequence[int] | None = None,
    modes: Sequence[str] | None = None,
    budget: int | None = None,
    n_init: int | None = None,
) -> list[Task]:
    """The tasks of a suite; arguments that are given replace its own.

    One worker waits for nobody: q=1 is raced synchronously only, unless nothing else is. A finite space is not searched
    beyond its size, and not at all where its budget leaves less than one batch after the design.
    """
    contests = [Contest.of_problem(name) for name in (suite.problems if problems is None else problems)]
    sizes = [whole(size, "q", 1) for size in (suite.q if q is None else q)]
    for mode in modes or ():
        if mode not in MODES:
            raise InvalidInput(f"a mode must be one of {', '.join(MODES)}; got {mode!r}.")
    tasks = []
    for mode in modes or suite.modes:
        for size in sizes:
            if mode != MODES[0] and size == 1 and len(sizes) > 1:
                continue
            for contest in contests:
                task = _task(contest, size, mode, budget, n_init)
                if contest.space.size is None or task.budget - task.n_init >= size:
                    tasks.append(task)
    for contest in contests:
        if contest.declared is not None:
            raise InvalidInput(f"a suite has problems of one number; {contest.settings['problem']} has several.")
        if PROBLEMS[contest.settings["problem"]]().optimum is None:
            raise InvalidInput(f"a problem of a suite needs a known optimum; {contest.settings['problem']} has none.")
    return tasks


def _task(contest: Contest, q: int, mode: str, budget: int | None, n_init: int | None) -> Task:
    usual = BUDGETS.get(q, max(50, 20 + 4 * q))
    most = usual if budget is None else whole(budget, "budget", 2)
    design = design_size(contest.space) if n_init is None else whole(n_init, "n_init", 2)
    return Task(contest, q, min(most, contest.space.size or most), design, mode)


def design_size(space: Space) -> int:
    """Initial points: two a parameter, from 5 to 20."""
    return min(max(2 * len(space), _MIN_DESIGN), _LARGEST_DESIGN)
