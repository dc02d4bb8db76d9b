"""The race: from the same initial points, batches of q are asked for, evaluated and told until a budget is spent.

``run`` is the loop, whoever races on whatever; ``race`` is one cell of the bench. Only a member's construction, asks
and tells are timed.

| symbol | meaning | shape |
|---|---|---|
| X | points of the encoded cube, the initial ones first | (n, d) |
| y | their values, to be minimized, NaN where an evaluation failed | (n,) |
| T | batches after the initial points | |
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import NEAR_IN_CUBE, random_pair_distance
from believer.bench.contest import Contest
from believer.bench.members import Entrant, Member, entrant_named, versions
from believer.diagnostics.measurement import distances
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.numerics.sampling import latin_hypercube
from believer.problems import branin
from believer.space import Space

Enter = Callable[[Array, Array], Member]
"""``(X0, y0) -> Member``: who races, the initial points and their values known."""

_warm: set[str] = set()
"""Members that this process has driven already, so that no timed call pays for imports or first calls."""


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """How a race went: ``X`` (n, d) and ``y`` (n,).

    batches: the points of each, T arrays. spent: wall and processor seconds of the construction, then of ask and tell
    for each batch, (T + 1, 2). effective: size of each batch, None where the member knows of no such thing. design: a
    digest of the initial points.
    """

    X: Array
    y: Array
    batches: tuple[Array, ...]
    spent: Array
    effective: tuple[float | None, ...]
    design: str

    def apart(self, lengthscales: Array | float = 1.0) -> list[Array]:
        """Distances of all pairs of each batch, in ``lengthscales`` (d,) of the cube."""
        return [distances(batch, lengthscales) for batch in self.batches]


def run(enter: Enter, evaluate: Callable[[Array], Array], X: Array, y: Array, q: int, budget: int) -> Course:
    """Race from the initial points ``X`` with values ``y`` until ``budget`` evaluations, theirs included, are made.

    evaluate: values (m,) at points (m, d), NaN where an evaluation fails.
    """
    design = hashlib.sha256(X.tobytes()).hexdigest()[:16]
    start = _clocks()
    member = enter(X.copy(), y.copy())
    spent, batches, effective = [_clocks() - start], [], []
    while len(y) < budget:
        size = min(q, budget - len(y))
        start = _clocks()
        proposed = member.ask(size)
        spent.append(_clocks() - start)
        if proposed.shape != (size, X.shape[1]) or not ((proposed >= 0.0) & (proposed <= 1.0)).all():
            raise ValueError(f"a member must propose {size} points inside the unit cube; got {proposed!r}.")
        values = evaluate(proposed)
        start = _clocks()
        member.tell(proposed, values)
        spent[-1] += _clocks() - start
        batches.append(proposed)
        effective.append(member.effective)
        y = np.concatenate([y, values])
    return Course(np.vstack([X, *batches]), y, tuple(batches), np.array(spent), tuple(effective), design)


def race(cell: Cell, others: Mapping[str, Entrant] | None = None) -> dict[str, Any]:
    """Run the cell; a row of plain JSON. ``others`` are members that cannot be found by their names.

    ``values`` of all evaluations in order, the design's first, as the function returned them (None where it failed).
    For each batch after the design: ``batches`` (its size), ``seconds`` and ``cpu_seconds`` of ask and tell, ``spread``
    (mean distance of its pairs in the cube, over that of random pairs), ``least`` (distance), ``near_duplicates``
    (pairs nearer than 1e-3) and ``effective`` (size, of ours only). ``setup_seconds`` of the construction, ``design``
    (a digest of the initial points) and ``versions``.

    Raises ``InvalidInput`` if not one evaluation of the design succeeds.
    """
    settings = cell.settings
    contest, name = Contest.from_settings(settings, cell.seed), settings["member"]
    entrant = others[name] if others and name in others else entrant_named(name)
    if name not in _warm:
        warm_up(partial(entrant.enter, Space.unit(2), 0))
        _warm.add(name)
    space = contest.space
    X = design(space, settings["n_init"], cell.seed)
    y = contest.values(X)
    if not np.isfinite(y).any():
        raise InvalidInput(
            f"every one of the {len(y)} initial evaluations of {settings['function']} failed; the first: "
            f"{contest.value(space.decode(X[:1])[0])[1].removesuffix('.')}. Mend the function, or its space."
        )
    course = run(partial(entrant.enter, space, cell.seed), contest.values, X, y, settings["q"], settings["budget"])
    apart, unit = course.apart(), random_pair_distance(space.region())
    clocks = course.spent.round(6)
    return {
        "values": [contest.sign * float(value) if math.isfinite(value) else None for value in course.y],
        "batches": [len(batch) for batch in course.batches],
        "seconds": clocks[1:, 0].tolist(),
        "cpu_seconds": clocks[1:, 1].tolist(),
        "spread": [float(gaps.mean() / unit) if len(gaps) and unit else None for gaps in apart],
        "least": [float(gaps.min()) if len(gaps) else None for gaps in apart],
        "effective": list(course.effective),
        "near_duplicates": [int((gaps < NEAR_IN_CUBE).sum()) for gaps in apart],
        "setup_seconds": float(clocks[0, 0]),
        "design": course.design,
        "versions": versions(name),
    }


def design(space: Space, n: int, seed: int) -> Array:
    """The initial points (n, d) of a seed: a Latin hypercube, the same for every member."""
    return space.region().spread(latin_hypercube(n, space.dim, np.random.default_rng([seed, space.dim])))


def warm_up(enter: Enter) -> None:
    """Drive a member through two batches on a small problem over the unit square."""
    X, evaluate = design(Space.unit(2), 6, 0), branin().evaluate
    run(enter, evaluate, X, evaluate(X), q=2, budget=10)


def _clocks() -> Array:
    """Wall and processor time, (2,); the second holds on a machine that others use as well."""
    return np.array([time.perf_counter(), time.process_time()])
