"""The race: from the same initial points, batches of q are asked, evaluated and told until the budget is spent.

``run`` is the loop, whoever races on whatever; ``race`` is one cell of the bench. Only a member's construction, asks
and tells are timed. An asynchronous race has q workers on a simulated clock: one that is free asks for one point while
the others are at work, and its result is told when its time has come.

| symbol | meaning | shape |
|---|---|---|
| X | points of the encoded cube in the order of their results, the initial ones first | (n, d) |
| y | their values, to be minimized, NaN where an evaluation failed | (n,) |
|   | or declared outcomes in the user's units | (n, k) |
| T | batches after the initial points; asynchronous ones have one point | |
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import NEAR_IN_CUBE, Verdict, random_pair_distance
from believer.diagnostics.measurement import distances
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.numerics.sampling import latin_hypercube
from believer.problems import branin
from believer.space import Space
from believer_bench.contest import Contest
from believer_bench.declared import Declared
from believer_bench.members import Entrant, Member, entrant_named, versions
from believer_bench.runs import ASYNC

Enter = Callable[[Array, Array], Member]
"""``(X0, y0) -> Member``: who races, the initial points and their values known."""

_warm: set[str] = set()
"""Members that this process has driven already, so that no timed call pays for imports or first calls."""


_SLOWEST = 10.0
"""Evaluations of an asynchronous race take from 1 to this many units of time."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How a race went: ``X`` (n, d) and ``y`` (n,), or (n, k).

    batches: the points of each, T arrays, in the order of asks. spent: wall and processor seconds of the construction,
    then of ask and tell for each batch, (T + 1, 2). pending: points at work when each batch was asked for, T arrays
    (p, d). verdicts: on each batch, None if the member gives none. member: as it was at the end. design: a digest of
    the initial points.
    """

    X: Array
    y: Array
    batches: tuple[Array, ...]
    spent: Array
    pending: tuple[Array, ...]
    verdicts: tuple[Verdict | None, ...]
    member: Member
    design: str

    def apart(self, lengthscales: Array | float = 1.0) -> list[Array]:
        """Distances of all pairs of each batch, then of its points to pending ones, in ``lengthscales`` (d,)."""
        found = []
        for batch, others in zip(self.batches, self.pending, strict=True):
            gaps = (batch[:, None, :] - others) / lengthscales
            found.append(np.concatenate([distances(batch, lengthscales), np.sqrt((gaps**2).sum(axis=2)).ravel()]))
        return found


def run(
    enter: Enter,
    evaluate: Callable[[Array], Array],
    X: Array,
    y: Array,
    q: int,
    budget: int,
    durations: Array | None = None,
) -> Course:
    """Race from the initial points ``X`` with values ``y`` until ``budget`` evaluations, theirs included, are made.

    evaluate: values (m,) at points (m, d), NaN where an evaluation fails. durations: of the evaluations after the
    initial ones in the order of asks, for an asynchronous race; without, q workers wait for each other.
    """
    design = hashlib.sha256(X.tobytes()).hexdigest()[:16]
    start = _clocks()
    member = enter(X.copy(), y.copy())
    spent, told = [_clocks() - start], [X]
    batches: list[Array] = []
    pending: list[Array] = []
    verdicts: list[Verdict | None] = []
    step = q if durations is None else 1
    running: list[tuple[float, int, Array]] = []  # when it ends, its number, its points
    now, asked = 0.0, len(y)
    while len(y) < budget:
        while asked < budget and len(running) * step < q:
            size = min(step, budget - asked)
            start = _clocks()
            proposed = member.ask(size)
            spent.append(_clocks() - start)
            if proposed.shape != (size, X.shape[1]) or not ((proposed >= 0.0) & (proposed <= 1.0)).all():
                raise ValueError(f"a member must propose {size} points inside the unit cube; got {proposed!r}.")
            pending.append(np.vstack([X[:0], *(points for _, _, points in running)]))
            heappush(running, (now + (0.0 if durations is None else durations[len(batches)]), len(batches), proposed))
            batches.append(proposed)
            verdicts.append(member.verdict)
            asked += size
        now, number, points = heappop(running)
        values = evaluate(points)
        start = _clocks()
        member.tell(points, values)
        spent[1 + number] += _clocks() - start
        told.append(points)
        y = np.concatenate([y, values])
    return Course(np.vstack(told), y, tuple(batches), np.array(spent), tuple(pending), tuple(verdicts), member, design)


def race(cell: Cell, others: Mapping[str, Entrant] | None = None) -> dict[str, Any]:
    """Run the cell; a row of plain JSON. ``others`` are members that cannot be found by their names.

    ``values`` of all evaluations in order, the design's first, as the function returned them (None if it failed).
    For each batch after the design: ``batches`` (its size), ``seconds`` and ``cpu_seconds`` of ask and tell, ``spread``
    (mean distance of its pairs in the cube, over that of random pairs), ``least`` (distance), ``near_duplicates``
    (pairs nearer than 1e-3) and ``near_by_verdict`` (pairs, of ours only). ``setup_seconds`` of the construction,
    ``design`` (a digest of the initial points) and ``versions``. Asynchronous (``mode``), values are in the order in
    which they were told, batches have one point and pairs are with pending ones.

    Of a noisy problem, whose noise is that of the cell's seed, also ``truths`` beside the values, and ``recommended``,
    the true value at what the member recommends in the end (None if it says nothing).

    Where outcomes are declared, ``values`` are what a run is judged by, the feasible value (None if there is none)
    or the hypervolume so far, and ``outcomes`` has all numbers of each evaluation, None for what is missing.

    Raises ``InvalidInput`` if not one evaluation of the design succeeds.
    """
    settings = cell.settings
    contest, name = Contest.from_settings(settings, cell.seed), settings["member"]
    entrant = others[name] if others and name in others else entrant_named(name)
    declared = contest.declared
    more: dict[str, Any] = {} if declared is None else {"declared": declared}
    first = " ".join([name, *(() if declared is None else declared.goals.wanted)])
    if first not in _warm:
        warm_up(partial(entrant.enter, Space.cube(2), 0, **more), declared)
        _warm.add(first)
    space = contest.space
    X = design(space, settings["n_init"], cell.seed)
    y = contest.values(X)
    if not np.isfinite(y).any():
        raise InvalidInput(
            f"every one of the {len(y)} initial evaluations of {settings['function']} failed; the first: "
            f"{contest.value(space.decode(X[:1])[0])[1].removesuffix('.')}. Mend the function, or its space."
        )
    q, budget = settings["q"], settings["budget"]
    times = durations(budget - len(y), q, cell.seed) if settings.get("mode") == ASYNC else None
    enter = partial(entrant.enter, space, cell.seed, noisy=contest.truth is not None, **more)
    course = run(enter, contest.values, X, y, q, budget, times)
    apart, unit = course.apart(), random_pair_distance(space.region())
    clocks = course.spent.round(6)
    return {
        "values": _plain(contest.scores(course.y)),
        "batches": [len(batch) for batch in course.batches],
        "seconds": clocks[1:, 0].tolist(),
        "cpu_seconds": clocks[1:, 1].tolist(),
        "spread": [float(gaps.mean() / unit) if len(gaps) and unit else None for gaps in apart],
        "least": [float(gaps.min()) if len(gaps) else None for gaps in apart],
        "near_duplicates": [int((gaps < NEAR_IN_CUBE).sum()) for gaps in apart],
        "near_by_verdict": [None if verdict is None else len(verdict.near_duplicates) for verdict in course.verdicts],
        "setup_seconds": float(clocks[0, 0]),
        "design": course.design,
        "versions": versions(name),
        **_more(contest, course),
    }


def _plain(values: Array) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _more(contest: Contest, course: Course) -> dict[str, Any]:
    """The additional entries of a row with declared outcomes, or of a noisy problem."""
    if contest.declared is not None:
        names = contest.declared.goals.wanted
        return {"outcomes": [dict(zip(names, _plain(row), strict=True)) for row in course.y]}
    if contest.truth is None:
        return {}
    best = course.member.recommend()
    recommended = None if best is None else float(contest.truths(best[None])[0])
    return {"truths": contest.truths(course.X).tolist(), "recommended": recommended}


def durations(n: int, q: int, seed: int) -> Array:
    """Times of ``n`` evaluations by ``q`` workers, log-uniform over a tenfold range: the same for every member."""
    times: Array = _SLOWEST ** np.random.default_rng([seed, q]).random(n)
    return times


def design(space: Space, n: int, seed: int) -> Array:
    """The initial points (n, d) of a seed: a Latin hypercube, the same for every member."""
    return space.region().spread(latin_hypercube(n, space.dim, np.random.default_rng([seed, space.dim])))


def warm_up(enter: Enter, declared: Declared | None = None) -> None:
    """Drive a member through two batches on a small problem over the unit square."""

    def evaluate(X: Array) -> Array:
        y = branin().evaluate(X)
        return y if declared is None else declared.made_up(y)

    X = design(Space.cube(2), 6, 0)
    run(enter, evaluate, X, evaluate(X), q=2, budget=10)


def _clocks() -> Array:
    """Wall and processor time, (2,); the second holds on a machine that others use as well."""
    return np.array([time.perf_counter(), time.process_time()])
