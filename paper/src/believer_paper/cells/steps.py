"""Cells of kinds "step" (Exp 5, Table 3) and "scaling" (what conditioning costs as n grows).

``step``, one update by a lie, on data of Hartmann-6D:
  gp, mq_rbf (conditioned), neural, forest (trained again): {seconds, wall_seconds}, a number for each round. Surrogates
  take turns, so that a slow moment of the machine affects all of them; quick updates are timed in blocks. Only the
  update is timed, as in the paper: no prediction, no search. Under ``printed``, gp is scikit-learn's own process
  (``setup.regressor``), also in the batch, and gp_own is this library's posterior with the same hyperparameters, which
  whole runs use.
  batch: {gp, neural: {seconds, wall_seconds}}, one number each: a whole batch of q from the diagnostic's three starts
  with its q - 1 updates, as in Table 7, after the first fit.
``scaling``, the library's Gaussian process with given hyperparameters:
  ns; seconds, wall_seconds: of one conditioning step, the median of the rounds for each of ``ns``; samples_seconds
  (ns, rounds); anew_seconds: of a factorization from scratch, once for each of ``ns``.

``seconds`` are CPU seconds: the wall-clock time of one thread on a machine that does nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from believer.arrays import Array, frozen
from believer.diagnostics import FromProblem
from believer.errors import InvalidInput
from believer.experiments import Cell
from believer.maximize import FixedStarts
from believer.numerics import stream
from believer.plugins import Conditionable, Data, Surrogate, joined
from believer.problems import PROBLEMS
from believer.surrogates import GPModel, Hyperparameters, posterior, standardization
from believer_paper.cells.fitted import FittedProblem, fitted
from believer_paper.setup.regressor import Regressor

PROBLEM = "hartmann6"
UPDATES = {"gp": "condition", "mq_rbf": "condition", "neural": "refit", "forest": "refit"}

_ROUNDS = 2
_BLOCK = 100
"""The largest number of conditioning steps that are timed together; a single one takes some ten microseconds."""

_SCALING_ROUNDS = 7
_BLOCK_WORK = 4e6
"""n² times the number of steps in a block of "scaling", which makes a block take some milliseconds at every n."""

Clocks = tuple[float, float]


def step(cell: Cell) -> dict[str, Any]:
    """Time the updates of the cell, and whole batches."""
    s, space = cell.settings, PROBLEMS[PROBLEM]().space
    if s["d"] != space.dim:
        raise InvalidInput(f"d must be {space.dim}, that of {PROBLEM}; got {s['d']!r}.")
    data = FromProblem(PROBLEM, s["n"]).draw(cell.seed)
    members: dict[str, str | Surrogate] = {name: name for name in UPDATES}
    if s["preset"] == "printed":
        members = {**members, "gp": Regressor(space), "gp_own": "gp"}
    updates = {**UPDATES, "gp_own": "condition"}
    scenes = {
        name: fitted(s["preset"], member, PROBLEM, data, cell.seed, s["q"], FixedStarts())
        for name, member in members.items()
    }
    x = stream(cell.seed, 0, "lie").random((1, space.dim))
    for name in [name for name in scenes if updates[name] == "condition"]:
        _step(scenes[name], "condition", x, stream(cell.seed, 0, "refit"))  # what trains has warmed up by its fit
    rounds = [
        {name: _step(scene, updates[name], x, stream(cell.seed, turn, "refit")) for name, scene in scenes.items()}
        for turn in range(_ROUNDS)
    ]
    whole = {name: _timed(partial(scenes[name].batch, UPDATES[name])) for name in ("gp", "neural")}
    return {**_by_name(rounds), "batch": _by_name([whole])}


def scaling(cell: Cell) -> dict[str, Any]:
    """Time one conditioning step for each of the cell's ``ns``."""
    ns = cell.settings["ns"]
    x, y = stream(cell.seed, 0, "lie").random((1, PROBLEMS[PROBLEM]().space.dim)), np.zeros(1)
    makers = [_process(n, cell.seed) for n in ns]
    models = [make() for make in makers]
    anew = [_timed(make)[0] for make in makers]
    blocks = [min(_BLOCK, max(1, round(_BLOCK_WORK / n**2))) for n in ns]
    # A round visits every n: a slow moment of the machine meets them all.
    rounds = [
        [_timed(partial(model.condition, Data(x, y)), block) for model, block in zip(models, blocks, strict=True)]
        for _ in range(_SCALING_ROUNDS)
    ]
    samples = np.array(rounds)
    medians = np.median(samples, axis=0)
    return {
        **{"ns": list(ns), "seconds": medians[:, 0].tolist(), "wall_seconds": medians[:, 1].tolist()},
        **{"samples_seconds": samples[:, :, 0].T.tolist(), "anew_seconds": anew},
    }


def _step(scene: FittedProblem, update: str, x: Array, rng: np.random.Generator) -> Clocks:
    """The seconds of one update by a lie at ``x`` (1, d); quick updates are timed in a block."""
    return _timed(_update(scene, update, x, rng), _BLOCK if update == "condition" else 1)


def _update(scene: FittedProblem, update: str, x: Array, rng: np.random.Generator) -> Callable[[], object]:
    """The function to be timed: conditioning of the model, or training of the recipe on data and lie."""
    request = scene.request
    lie, model = request.data.y.min(keepdims=True), request.model
    if update == "condition":
        assert isinstance(model, Conditionable)
        return partial(model.condition, Data(x, lie))
    return partial(request.surrogate.fit, joined(request.data, Data(x, lie)), rng, model)


def _process(n: int, seed: int) -> Callable[[], GPModel]:
    """The Gaussian process posterior of ``n`` uniform points, with lengthscales of 0.5."""
    problem = PROBLEMS[PROBLEM]()
    X = stream(seed, n, "design").random((n, problem.space.dim))
    y = problem.evaluate(X)
    hyper = Hyperparameters("matern52", frozen(np.full(X.shape[1], 0.5)), signal=1.0, noise=1e-6)
    return partial(posterior, hyper, X, y, *standardization(y))


def _timed(work: Callable[[], object], times: int = 1) -> Clocks:
    """The CPU and wall-clock seconds of one call, as the mean over ``times`` calls in a row."""
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        work()
    return (time.process_time() - cpu) / times, (time.perf_counter() - wall) / times


def _by_name(rounds: list[dict[str, Clocks]]) -> dict[str, dict[str, list[float]]]:
    return {
        name: {"seconds": [one[name][0] for one in rounds], "wall_seconds": [one[name][1] for one in rounds]}
        for name in rounds[0]
    }
