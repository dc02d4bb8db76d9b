"""Made-up finished cells of the paper's experiments: what a run would leave, in milliseconds and with known numbers.

``made_up(cell)`` invents the result of one cell, always the same for the same cell. ``loop_cell``, ``sdd_cell`` and
``step_cell`` make a cell with the numbers asked for. ``every_cell()`` has all that the tables and figures need, and
``with_result`` alters what is there.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from believer.diagnostics.measurement import Measurement, SddPart
from believer.experiments import Cell, FinishedCell
from believer_paper import plan
from believer_paper.results import PRESETS, Results

DIM = {"hartmann6": 6, "ackley8": 8, "levy10": 10, "svm_breast_cancer": 4, "branin": 2}
WIDTH = {"hartmann6": 1.0, "ackley8": 10.0, "levy10": 20.0, "svm_breast_cancer": 1.0}
BEST = {"hartmann6": -3.3, "ackley8": 0.0, "levy10": 0.0, "svm_breast_cancer": 0.017}
START = {"hartmann6": -1.0, "ackley8": 10.0, "levy10": 60.0, "svm_breast_cancer": 0.05}
"""About where a loop can get, and about where its design leaves it."""

LEFT = {
    **{"sequential": 0.10, "cl_min": 0.12, "kb": 0.14, "qei": 0.14, "cl_mean": 0.20, "cl_max": 0.30},
    **{"lp": 0.22, "lp_lipschitz": 0.18, "thompson": 0.20, "top_q": 0.40, "random": 0.60},
}
"""The share of the way from START to BEST that a strategy leaves."""

APART = {"random": 0.97, "cl_min": 0.79, "kb": 0.95, "qei": 0.95, "lp": 0.85, "top_q": 0.001}
GAPS = {
    **{("gp", "condition"): 0.3, ("mq_rbf", "condition"): 0.42, ("mq_rbf_power", "condition"): 0.35},
    **{("last_layer", "condition"): 0.2, ("sparse_gp", "condition"): 0.2, ("neural", "refit"): 0.4},
}
"""The distance of a batch's members under the diagnostic; 0 for whatever is not here."""

STEPS = {"gp": 4e-4, "mq_rbf": 3e-5, "neural": 0.1, "forest": 0.06}


def made_up(cell: Cell) -> FinishedCell:
    """The cell with an invented result of its kind."""
    return FinishedCell(cell, MAKERS[cell.experiment](cell), {"seconds": 3.0, "cpu_seconds": 2.0, "version": "0.0"})


def loop_cell(
    preset: str,
    problem: str,
    strategy: str,
    q: int,
    seed: int,
    *,
    final: float | None = None,
    diversity: float | None = None,
    seconds: float | None = None,
    **settings: Any,
) -> FinishedCell:
    """A loop; it ends at ``final``, all its batches have that ``diversity`` (unit cube), and each took ``seconds``.

    settings: budget, n_init, noise, options where they are not those of Exp 4.
    """
    finished = made_up(Cell("loop", loop_settings(preset, problem, strategy, q, **settings), seed))
    result = finished.result
    if final is not None:
        shift = final - min(result["values"])
        for name in ("values", "truth"):
            if name in result:
                result[name] = [value + shift for value in result[name]]
    if diversity is not None:
        apart = [None if size == 1 else diversity for size in result["batches"]]
        result["mean_distance"] = apart
        result["mean_distance_raw"] = [None if gap is None else gap * WIDTH[problem] for gap in apart]
    if seconds is not None:
        result["seconds"] = [seconds] * len(result["batches"])
    return finished


def loop_settings(
    preset: str,
    problem: str,
    strategy: str,
    q: int,
    budget: int | None = None,
    n_init: int | None = None,
    noise: float = 0.0,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The settings of a loop, those of Exp 4 (of Exp 6 for the SVM) where they are not given."""
    svm = problem == "svm_breast_cancer"
    return {
        **{"preset": preset, "problem": problem, "strategy": strategy, "q": q},
        "budget": budget or (30 if svm else 50),
        "n_init": n_init or (10 if svm else 2 * DIM[problem]),
        **{"noise": noise, "options": options or {}},
    }


def sdd_cell(
    preset: str,
    surrogate: str,
    update: str,
    seed: int,
    *,
    gap: float | None = None,
    responds: bool | None = None,
    null_gap: float = 0.0,
    **settings: Any,
) -> FinishedCell:
    """A measurement whose batches have members ``gap`` apart, on a model that ``responds`` or not.

    null_gap: of the batches without the lie. settings: problem, n, q, lie, acquisition where they are not those of Exp
    3 with q = 3.
    """
    full = sdd_settings(preset, surrogate, update, **settings)
    cell = Cell("sdd", full, seed)
    gap = _gap(cell) if gap is None else gap
    responds = gap > 0.0 if responds is None else responds
    return FinishedCell(
        cell, measured(cell, gap, responds, null_gap).to_json(), {"seconds": 1.5, "cpu_seconds": 1.0, "version": "0.0"}
    )


def sdd_settings(
    preset: str,
    surrogate: str,
    update: str,
    problem: str = "hartmann6",
    n: int = 30,
    q: int = 3,
    lie: str = "cl_min",
    acquisition: str = "ei",
) -> dict[str, Any]:
    """The settings of a measurement, those of Exp 3 with q = 3 where they are not given."""
    return {
        **{"preset": preset, "problem": problem, "n": n, "q": q, "surrogate": surrogate, "update": update},
        **{"lie": lie, "acquisition": acquisition},
    }


def step_cell(preset: str, seed: int, times: dict[str, Sequence[float]] | None = None) -> FinishedCell:
    """A repetition of Exp 5, with these ``times`` for some surrogates."""
    finished = made_up(Cell("step", {"preset": preset, "n": 50, "d": 6, "q": 3}, seed))
    for name, seconds in (times or {}).items():
        finished.result[name] = _clocks(seconds)
    return finished


def every_cell(presets: Iterable[str] = PRESETS, seeds: int = 20) -> list[FinishedCell]:
    """All cells of the plan that ``made_up`` can invent, of the first ``seeds`` seeds at most."""
    planned = plan.cells(list(plan.EXPERIMENTS), list(presets))
    return [made_up(cell) for cell in planned if cell.seed < seeds and cell.experiment in MAKERS]


def results(presets: Iterable[str] = PRESETS, seeds: int = 20) -> Results:
    """``every_cell`` as results."""
    return Results(tuple(every_cell(presets, seeds)))


def with_result(before: Results, change: Callable[[dict[str, Any]], None], kind: str, **settings: Any) -> Results:
    """The same results, with ``change`` done to copies of those of a kind whose settings (or seed) are as given."""
    seed = settings.pop("seed", None)
    chosen = {one.cell for one in before.of(kind, **settings) if seed is None or one.cell.seed == seed}
    assert chosen, f"no {kind} cell has {settings} and seed {seed}"
    finished = []
    for one in before.finished:
        if one.cell in chosen:
            result = copy.deepcopy(one.result)
            change(result)
            one = FinishedCell(one.cell, result, one.provenance)
        finished.append(one)
    return Results(tuple(finished))


def without(before: Results, kind: str, **settings: Any) -> Results:
    """The same results, less the cells of a kind whose settings are as given."""
    gone = {one.cell for one in before.of(kind, **settings)}
    assert gone, f"no {kind} cell has {settings}"
    return Results(tuple(one for one in before.finished if one.cell not in gone))


def _rng(*parts: Any) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


def _loop(cell: Cell) -> dict[str, Any]:
    """From a design that all strategies share, evenly down to the strategy's level."""
    s = cell.settings
    problem, strategy, q = s["problem"], s["strategy"], s["q"]
    scale = START[problem] - BEST[problem]
    after = s["budget"] - s["n_init"]
    sizes = [q] * (after // q) + ([after % q] if after % q else [])
    rng = _rng("loop", cell.key)
    design = START[problem] + scale * np.sort(_rng("design", problem, cell.seed).random(s["n_init"]))[::-1]
    final = BEST[problem] + scale * LEFT[strategy] * (1.0 + 0.2 * rng.random())
    steps = np.linspace(START[problem], final, after + 1)[1:]
    truth = np.concatenate([design, steps])
    noise = s["noise"] * float(np.std(design))
    values = truth + noise * rng.standard_normal(len(truth))
    apart = [None if size == 1 else APART.get(strategy, 0.7) * (0.9 + 0.2 * rng.random()) for size in sizes]
    cpu = [0.02 * (1.0 + rng.random()) for _ in sizes]
    result: dict[str, Any] = {"values": values.tolist(), "batches": sizes}
    if noise:
        result["truth"] = truth.tolist()
    return {
        **result,
        "mean_distance": apart,
        "min_distance": [None if gap is None else 0.8 * gap for gap in apart],
        "max_distance": [None if gap is None else 1.2 * gap for gap in apart],
        "mean_distance_raw": [None if gap is None else gap * WIDTH[problem] for gap in apart],
        "seconds": [1.5 * time for time in cpu],
        "cpu": cpu,
        "foreign": 0.6 * sum(cpu) if s["preset"] == "printed" else 0.0,
        "moved": 0.4 if s["preset"] == "printed" else None,
    }


def _gap(cell: Cell) -> float:
    base = GAPS.get((cell.settings["surrogate"], cell.settings["update"]), 0.0)
    return base * (0.9 + 0.2 * float(_rng("sdd", cell.key).random()))


def _sdd(cell: Cell) -> dict[str, Any]:
    gap = _gap(cell)
    return measured(cell, gap, gap > 0.0, 0.0).to_json()


def measured(cell: Cell, gap: float, responds: bool, null_gap: float) -> Measurement:
    """A measurement as ``sdd_cell`` tells; a refit of a stochastic surrogate also has its draws held fixed."""
    s = cell.settings
    response = 0.5 if responds else 0.0

    def part(apart: float, moved: float) -> SddPart:
        return SddPart(_spread(s["q"], DIM[s["problem"]], apart), 0.05, (moved,) * (s["q"] - 1))

    frozen = s["update"] == "refit" and s["surrogate"] in ("neural", "forest")
    return Measurement(
        seed=cell.seed,
        fixed=part(gap, response),
        random=part(0.95 * gap, response),
        free=part(gap, response),
        null=part(null_gap, 0.0),
        null_free=part(null_gap, 0.0),
        frozen=part(gap, response) if frozen else None,
        frozen_free=part(gap, response) if frozen else None,
        moved=0.5,
        reached=0.8,
        random_pair=0.97,
        min_lengthscales=2.0 * gap if s["surrogate"] in ("gp", "sparse_gp") else None,
    )


def _spread(q: int, dim: int, gap: float) -> tuple[tuple[float, ...], ...]:
    """The center of the cube, and points ``gap`` from it along one axis each: the least distance is ``gap``."""
    points = np.full((q, dim), 0.5)
    for j in range(1, q):
        points[j, (j - 1) % dim] += gap * (1 + (j - 1) // dim)
    return tuple(tuple(float(u) for u in point) for point in points)


def _step(cell: Cell) -> dict[str, Any]:
    rng = _rng("step", cell.key)
    times = {name: (base * (0.9 + 0.2 * rng.random(3))).tolist() for name, base in STEPS.items()}
    whole = {"gp": 0.04, "neural": 0.6}
    return {
        **{name: _clocks(seconds) for name, seconds in times.items()},
        "batch": {name: _clocks([seconds]) for name, seconds in whole.items()},
    }


def _clocks(seconds: Sequence[float]) -> dict[str, list[float]]:
    return {"seconds": list(seconds), "wall_seconds": [1.5 * s for s in seconds]}


def _scaling(cell: Cell) -> dict[str, Any]:
    ns = cell.settings["ns"]
    seconds = [1e-8 * n**2 for n in ns]
    return {
        **{"ns": list(ns), **_clocks(seconds), "samples_seconds": [[s] * 7 for s in seconds]},
        "anew_seconds": [1e-9 * n**3 for n in ns],
    }


def _batch(cell: Cell) -> dict[str, Any]:
    s = cell.settings
    gap = 0.5 * APART.get(s["strategy"], 0.7)
    points = _spread(s["q"], DIM[s["problem"]], gap)
    gains = np.cumsum(1.0 / np.arange(1, s["q"] + 1)) * (0.5 + 0.5 * gap)
    return {
        "points": [list(point) for point in points],
        "lengthscales": [0.4] * DIM[s["problem"]],
        **{"mean_distance": 1.3 * gap, "min_distance": gap, "random_pair": 0.97},
        **{"information": gains.tolist(), "joint_ei": (0.1 * gains).tolist()},
    }


MAKERS: dict[str, Callable[[Cell], dict[str, Any]]] = {
    **{"loop": _loop, "sdd": _sdd, "step": _step, "scaling": _scaling, "batch": _batch}
}
