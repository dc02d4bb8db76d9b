"""Made-up finished cells of the bench: each run ends at the value that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from believer.experiments import Cell

Finished = list[tuple[Cell, dict[str, Any]]]
BUDGET, N_INIT = 14, 4


def finished_cell(
    member: str, final: float, seed: int = 0, problem: str = "branin", q: int = 3, ms: float = 20.0, **settings: Any
) -> tuple[Cell, dict[str, Any]]:
    """A run that falls evenly from its design to ``final``, 10 above the end of the design's best."""
    total, n_init = settings.get("budget", BUDGET), settings.get("n_init", N_INIT)
    after = total - n_init
    sizes = [q] * (after // q) + ([after % q] if after % q else [])
    towards = -10.0 if settings.get("maximize") else 10.0
    values = [final + towards + towards * i for i in range(n_init)]
    values += [final + towards * (1.0 - (i + 1) / after) for i in range(after)]
    one = q == 1
    result = {
        "values": values,
        "batches": sizes,
        "seconds": [1e-3 * ms] * len(sizes),
        "cpu_seconds": [1e-3 * ms] * len(sizes),
        "setup_seconds": 0.01,
        "spread": [None if one else 0.5] * len(sizes),
        "least": [None if one else 0.1] * len(sizes),
        "near_duplicates": [0 if one else 1] * len(sizes),
        "design": f"{problem} {seed}",
        "versions": {"believer": "0.1.0"},
    }
    place = {"member": member, "problem": problem, "q": q, "budget": total, "n_init": n_init, **settings}
    return Cell("bench", place, seed), result


def finished_cells(
    levels: Mapping[str, float],
    seeds: Iterable[int] = range(20),
    problems: Iterable[str] = ("branin", "hartmann6"),
    q: Iterable[int] = (3,),
    jitter: float = 0.1,
    ms: Callable[[str], float] = lambda member: 20.0,
    **settings: Any,
) -> Finished:
    """Every member ends about its level, on every problem alike; ``jitter`` is the std over seeds."""
    found = []
    for seed in seeds:
        for size in q:
            for p, problem in enumerate(problems):
                for m, (member, level) in enumerate(levels.items()):
                    noise = jitter * float(np.random.default_rng([seed, size, p, m]).standard_normal())
                    found.append(finished_cell(member, level + noise, seed, problem, size, ms(member), **settings))
    return found
