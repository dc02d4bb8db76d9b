"""The runs of a report: finished cells, and sentences on missing and inconsistent ones.

=======  =========================================================================
symbol   meaning
=======  =========================================================================
case     what all members were given alike: problem, q, budget, initial design
N        evaluations of a run, the initial design included
best     the best value so far after 1, ..., N evaluations, to be minimized, (N,);
         of a noisy problem the least true value; of several objectives minus
         the hypervolume
T        batches of a run; its times and distances have one entry for each, (T,)
=======  =========================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer_bench.declared import FEASIBLE, HYPERVOLUME, SEVERAL, VALUE, declared_in
from believer_bench.problems import PROBLEMS

ASYNC = "async"
"""The ``mode`` in a cell's settings of an asynchronous race; a synchronous one has none."""

EXPERIMENT = "bench"
"""Name of every cell. A store keeps results by it and their settings: change it whenever the meaning of a cell changes,
as when a problem, the initial design or what is logged is another, or old results are taken for new ones."""


@dataclass(frozen=True, slots=True)
class Case:
    """A problem, batch size and budget for comparisons. ``optimum`` is in the user's units, None if it is not known.

    mode: "async" where every worker asks by itself. measure: what runs are judged by.
    """

    problem: str
    q: int
    budget: int
    n_init: int
    maximize: bool = False
    optimum: float | None = None
    mode: str = "sync"
    measure: str = VALUE

    @property
    def terms(self) -> str:
        """Batch size and budget in words."""
        waits = ", asynchronous" if self.mode == ASYNC else ""
        return f"{size_name(self.q)}{waits}, {self.budget} evaluations, {self.n_init} of them the initial design"

    @property
    def label(self) -> str:
        """Problem, batch size and budget in one line."""
        return f"{self.problem}, {self.terms}"

    @property
    def slug(self) -> str:
        """The case as a part of a file's name."""
        problem = re.sub(r"[^A-Za-z0-9]+", "_", self.problem).strip("_") or "problem"
        kind = ("_max" if self.maximize and self.measure != HYPERVOLUME else "") + (
            "_async" if self.mode == ASYNC else ""
        )
        return f"{problem}{kind}_q{self.q}_{self.n_init}of{self.budget}"

    @property
    def sign(self) -> float:
        """-1 where the user's values are to be maximized."""
        return -1.0 if self.maximize else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One member on one case with one seed. recommended: the true value, of a noisy problem."""

    member: str
    case: Case
    seed: int
    best: Array
    failed: int
    batches: tuple[int, ...]
    wall: Array
    cpu: Array
    setup: float
    spread: Array
    least: Array
    near: Array
    near_by_verdict: Array
    design: str
    versions: Mapping[str, Any]
    recommended: float | None = None

    @property
    def label(self) -> str:
        """Member, problem, batch size and seed in a few words."""
        return f"{self.member} on {self.case.problem}, q={self.case.q}, seed {self.seed}"

    @property
    def final(self) -> float:
        """The best value, to be minimized."""
        return float(self.best[-1])

    @property
    def pairs(self) -> Array:
        """How many pairs there were within each batch, or, asynchronous, with pending points, (T,)."""
        sizes = np.array(self.batches, dtype=np.float64)
        if self.case.mode == ASYNC:
            return np.minimum(np.arange(len(sizes), dtype=np.float64), self.case.q - 1.0)
        return sizes * (sizes - 1.0) / 2.0

    def after_batches(self) -> Array:
        """The best value after 0, 1, ..., T batches, (T + 1,)."""
        ends = self.case.n_init + np.concatenate([[0], np.cumsum(self.batches)]).astype(np.int64)
        return self.best[np.clip(ends, 1, len(self.best)) - 1]


def read_runs(finished: Iterable[tuple[Cell, Mapping[str, Any]]]) -> tuple[tuple[Run, ...], tuple[str, ...]]:
    """Runs with at least one value, and sentences on what was left out, is missing or failed."""
    found, notices = sound_runs(finished)
    return found, (*notices, *_odd_versions(found), *_odd_designs(found), *_missing(found), *_cut_short(found))


def sound_runs(finished: Iterable[tuple[Cell, Mapping[str, Any]]]) -> tuple[tuple[Run, ...], list[str]]:
    """Runs with at least one value, each once, and sentences on what was left out.

    Where values count within limits only, a run that has none yet counts as the worst that any run of the case had.
    """
    runs: dict[tuple[str, Case, int], Run] = {}
    notices: list[str] = []
    foreign = 0
    for cell, result in finished:
        if cell.experiment != EXPERIMENT:
            foreign += 1
            continue
        run = _run(cell, result)
        if (run.member, run.case, run.seed) in runs:
            notices.append(f"{run.label} is there twice: the first counts.")
        else:
            runs[run.member, run.case, run.seed] = run
    if foreign:
        notices.append(f"{foreign} cells are of another experiment than the bench: they are left out.")
    worst: dict[Case, float] = {}
    for run in runs.values():
        if run.case.measure == FEASIBLE:
            worst[run.case] = float(np.fmax(worst.get(run.case, np.nan), np.fmax.reduce(run.best)))
    found = []
    for run in runs.values():
        best = run.best
        if run.case in worst:
            best = frozen(np.where(np.isnan(best), worst[run.case], best))
        if np.isnan(best[-1]):
            notices.append(f"{run.label} has no value at all: it is left out.")
            continue
        if np.isnan(run.final):
            notices.append(f"{run.label} found nothing within all limits: it counts as the worst value of any run.")
        found.append(replace(run, best=best))
    return tuple(found), notices


def _run(cell: Cell, result: Mapping[str, Any]) -> Run:
    s = cell.settings
    try:
        case = _case(s)
        values = _numbers(result.get("truths", result["values"])) * case.sign
        if len(values) == 0:
            raise ValueError("there is no value")
        lost = [None in row.values() for row in result["outcomes"]] if "outcomes" in result else ~np.isfinite(values)
        return Run(
            member=str(s["member"]),
            case=case,
            seed=cell.seed,
            best=frozen(np.fmin.accumulate(values)),
            failed=int(np.sum(lost)),
            batches=tuple(int(size) for size in result["batches"]),
            wall=_numbers(result["seconds"]),
            cpu=_numbers(result["cpu_seconds"]),
            setup=float(result.get("setup_seconds") or 0.0),
            **{name: _numbers(result.get(key, ())) for name, key in _PER_BATCH.items()},
            design=str(result.get("design", "")),
            versions=dict(result.get("versions", {})),
            recommended=result.get("recommended"),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"a finished cell of the bench must have member, problem, q, budget and n_init, and a result with values, "
            f"batches, seconds and cpu_seconds; {cell} has not: {type(error).__name__}: {error}."
        ) from error


_PER_BATCH = {name: name for name in ("spread", "least", "near_by_verdict")} | {"near": "near_duplicates"}


def _case(s: Mapping[str, Any]) -> Case:
    problem, declared = str(s["problem"]), declared_in(s)
    maximize = bool(s.get("maximize", False)) if declared is None else declared.maximize
    known = "function" not in s and (problem in SEVERAL or (not maximize and problem in PROBLEMS))
    optimum = _optimum(problem) if known else None
    sizes = int(s["q"]), int(s["budget"]), int(s["n_init"])
    measure = VALUE if declared is None else declared.measure
    return Case(problem, *sizes, maximize, optimum, s.get("mode", "sync"), measure)


@cache
def _optimum(problem: str) -> float | None:
    """The optimum of a problem; for several objectives, the hypervolume of the ideal front."""
    if problem in SEVERAL:
        several = SEVERAL[problem]()
        return several.optimum if several.reference is None else several.hypervolume
    return PROBLEMS[problem]().optimum


def _numbers(values: Sequence[float | None]) -> Array:
    """The values as an array, with NaN for None; infinite values are failures, too."""
    array = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    array[~np.isfinite(array)] = np.nan
    return frozen(array)


def size_name(q: int) -> str:
    """A batch size in words."""
    return "q=1 (sequential)" if q == 1 else f"q={q}"


def members_of(runs: Iterable[Run]) -> list[str]:
    """Their members, in order of appearance."""
    return list(dict.fromkeys(run.member for run in runs))


def cases_of(runs: Iterable[Run]) -> list[Case]:
    """Their cases: problems in order of appearance, the smaller batches first."""
    cases = list(dict.fromkeys(run.case for run in runs))
    problems = list(dict.fromkeys(case.problem for case in cases))
    return sorted(cases, key=lambda case: (problems.index(case.problem), case.q, case.budget, case.n_init, case.mode))


def sequential_of(case: Case) -> Case:
    """The same case, one point at a time."""
    return replace(case, q=1)


def called(case: Case, cases: Iterable[Case]) -> str:
    """The problem of ``case``, with what tells it from others of ``cases`` on the same problem with the same q."""
    alike = [c for c in cases if (c.problem, c.q) == (case.problem, case.q)]
    return f"{case.problem} ({case.n_init} of {case.budget} evaluations initial)" if len(alike) > 1 else case.problem


def versions_of(runs: Iterable[Run]) -> str:
    """The versions of all that ran, in words; empty if nothing is known."""
    seen: dict[str, set[str]] = {}
    for run in runs:
        for name, version in run.versions.items():
            seen.setdefault(name, set()).add(str(version))
    versions = ", ".join(f"{name} {' and '.join(sorted(found))}" for name, found in sorted(seen.items()))
    return f"Versions: {versions}." if versions else ""


def _odd_versions(runs: Sequence[Run]) -> list[str]:
    """A member is one program only with one set of versions."""
    sets: dict[str, set[tuple[tuple[str, str], ...]]] = {}
    for run in runs:
        sets.setdefault(run.member, set()).add(tuple(sorted((name, str(v)) for name, v in run.versions.items())))
    return [
        f"{member} was run with {len(found)} sets of versions: its runs are not of one program."
        for member, found in sets.items()
        if len(found) > 1
    ]


def _odd_designs(runs: Sequence[Run]) -> list[str]:
    """A pair is only a pair when both started from the same points."""
    designs: dict[tuple[Any, ...], Run] = {}
    odd: dict[tuple[str, str], int] = {}
    for run in runs:
        c = run.case
        first = designs.setdefault((c.problem, c.n_init, c.maximize, run.seed), run)
        if first.design != run.design:
            odd[run.member, c.problem] = odd.get((run.member, c.problem), 0) + 1
    return [
        f"{member} on {problem} started from other points than the rest in {count} runs: those are not paired in truth."
        for (member, problem), count in odd.items()
    ]


def _missing(runs: Sequence[Run]) -> list[str]:
    """Seeds that others have run; members that lack the same ones share a sentence."""
    lines = []
    cases = cases_of(runs)
    for case in cases:
        here = [run for run in runs if run.case == case]
        seeds = {run.seed for run in here}
        lacking: dict[tuple[int, ...], list[str]] = {}
        for member in members_of(run for run in runs if run.case.q == case.q):
            missing = tuple(sorted(seeds - {run.seed for run in here if run.member == member}))
            lacking.setdefault(missing, []).append(member)
        for missing, members in lacking.items():
            if missing:
                which = "all" if len(missing) == len(seeds) else f"{len(missing)} of {len(seeds)}"
                named = f" ({', '.join(map(str, missing))})" if len(missing) < min(len(seeds), 11) else ""
                where = f"{', '.join(members)} on {called(case, cases)}, q={case.q}"
                lines.append(f"{where}: {which} seeds are missing{named}.")
    return lines


def _cut_short(runs: Sequence[Run]) -> list[str]:
    """Runs with fewer evaluations than the budget, and evaluations that failed."""
    lines = []
    for case in cases_of(runs):
        for member in members_of(run for run in runs if run.case == case):
            own = [run for run in runs if run.case == case and run.member == member]
            short = [run for run in own if len(run.best) < case.budget]
            failed = sum(run.failed for run in own)
            where = f"{member} on {case.problem}, q={case.q}"
            if short:
                least = min(len(run.best) for run in short)
                lines.append(
                    f"{where}: {len(short)} runs stopped before {case.budget} evaluations, the first after {least}."
                )
            if failed:
                lines.append(f"{where}: {failed} evaluations failed.")
    return lines
