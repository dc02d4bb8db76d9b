"""One cell of the bench: a member on a problem with a seed, to the end of its budget.

Every member of a problem and a seed starts from the same points. Only its construction, asks and tells are timed.

| symbol | meaning | shape |
|---|---|---|
| U | points of the encoded cube | (n, d) |
| y | their values, to be minimized, NaN where an evaluation failed | (n,) |
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.batch.verdict import NEAR_IN_CUBE, random_pair_distance
from believer.bench.contest import Contest
from believer.bench.members import Member, enter, versions
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.numerics.sampling import latin_hypercube
from believer.space import Space

_warm: set[str] = set()
"""Members that this process has driven already, so that no timed call pays for imports or first calls."""


def race(cell: Cell) -> dict[str, Any]:
    """Run the cell; a row of plain JSON.

    ``values`` of all evaluations in order, the design's first, as the function returned them (None where it failed).
    For each batch after the design: ``batches`` (its size), ``seconds`` and ``cpu_seconds`` of ask and tell, ``spread``
    (mean distance of its pairs in the cube, over that of random pairs), ``least`` (distance), ``near_duplicates``
    (pairs nearer than 1e-3) and ``effective`` (size, of ours only). ``setup_seconds`` of the construction, ``design``
    (a digest of the initial points) and ``versions``.

    Raises ``InvalidInput`` if not one evaluation of the design succeeds.
    """
    settings = cell.settings
    contest = Contest.from_settings(settings)
    name, q, budget = settings["member"], settings["q"], settings["budget"]
    warm_up(name)
    space = contest.space
    X = design(space, settings["n_init"], cell.seed)
    y = contest.values(X)
    if not np.isfinite(y).any():
        raise InvalidInput(
            f"every one of the {len(y)} initial evaluations of {settings['function']} failed; the first: "
            f"{contest.value(space.decode(X[:1])[0])[1].removesuffix('.')}. Mend the function, or its space."
        )
    digest = hashlib.sha256(X.tobytes()).hexdigest()[:16]
    start = _clocks()
    member = enter(name, space, X.copy(), y.copy(), cell.seed)
    setup = _clocks() - start
    log = _Log(random_pair_distance(space.region()))
    while len(y) < budget:
        y = np.concatenate([y, _step(member, contest, min(q, budget - len(y)), log)])
    return {
        "values": [contest.sign * float(value) if math.isfinite(value) else None for value in y],
        **log.columns,
        "setup_seconds": round(float(setup[0]), 6),
        "design": digest,
        "versions": versions(name),
    }


def design(space: Space, n: int, seed: int) -> Array:
    """The initial points (n, d) of a seed: a Latin hypercube, the same for every member."""
    return space.region().spread(latin_hypercube(n, space.dim, np.random.default_rng([seed, space.dim])))


def warm_up(name: str) -> None:
    """Drive a member once on a small problem, if this process has not yet done so."""
    if name in _warm:
        return
    space = Space.unit(2)
    X = design(space, 6, 0)
    member = enter(name, space, X, (X**2).sum(axis=1), 0)
    for _ in range(2):
        proposed = member.ask(2)
        member.tell(proposed, (proposed**2).sum(axis=1))
    _warm.add(name)


def _step(member: Member, contest: Contest, q: int, log: _Log) -> Array:
    """One batch: asked for, evaluated, told and logged; its values (q,)."""
    start = _clocks()
    proposed = member.ask(q)
    spent = _clocks() - start
    if proposed.shape != (q, contest.space.dim) or not ((proposed >= 0.0) & (proposed <= 1.0)).all():
        raise ValueError(f"a member must propose {q} points inside the unit cube; got {proposed!r}.")
    values = contest.values(proposed)
    start = _clocks()
    member.tell(proposed, values)
    spent += _clocks() - start
    log.add(proposed, member.effective, spent)
    return values


def _clocks() -> Array:
    """Wall and processor time, (2,); the second holds on a machine that others use as well."""
    return np.array([time.perf_counter(), time.process_time()])


@dataclass(slots=True)
class _Log:
    """What is kept of each batch; ``random_pair`` is the mean distance of two random points."""

    random_pair: float
    columns: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: []
            for name in ("batches", "seconds", "cpu_seconds", "spread", "least", "effective", "near_duplicates")
        }
    )

    def add(self, X: Array, effective: float | None, spent: Array) -> None:
        """The batch ``X`` (q, d), which took ``spent`` (wall, processor) seconds."""
        rows, columns = np.triu_indices(len(X), 1)
        distances = np.sqrt(((X[rows] - X[columns]) ** 2).sum(axis=1))
        entry: Mapping[str, Any] = {
            "batches": len(X),
            "seconds": round(float(spent[0]), 6),
            "cpu_seconds": round(float(spent[1]), 6),
            "spread": float(distances.mean() / self.random_pair) if len(distances) and self.random_pair else None,
            "least": float(distances.min()) if len(distances) else None,
            "effective": effective,
            "near_duplicates": int((distances < NEAR_IN_CUBE).sum()),
        }
        for name, value in entry.items():
            self.columns[name].append(value)
