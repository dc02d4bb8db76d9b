"""Cells of kind "loop": one run of Bayesian optimization, under either preset (Exp 4, 6, 9, 10, 11, 12).

Every strategy of a problem and a seed starts from the same Latin design. ``printed``: EI with ξ = 0.01 in the units of
y over the best real result, ten random starts, the printed process, repeats allowed. ``ours``: the library's defaults.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from believer.acquisitions import EI
from believer.arrays import Array
from believer.batch import Believe, ConstantLie, Lie, PseudoObservations, Strategy
from believer.batch.random import RandomBatch
from believer.bench.peers import PEERS
from believer.bench.race import design
from believer.diagnostics.measurement import distances
from believer.experiments import Cell
from believer.optimizer import Optimizer
from believer.problems import PROBLEMS, noisy
from believer.space import Space
from believer.study.trials import Batch
from believer.surrogates import GP
from believer_paper.setup.process import Process, box_of
from believer_paper.setup.product import PrintedPenalization
from believer_paper.setup.search import ScipyStarts
from believer_paper.setup.watch import Watch

XI = 0.01
"""[paper] appendix "Hyperparameter details", in the units of y."""

NOISE_SHARE = 0.1
"""[paper] section 4.7: the noise's standard deviation, over that of the design's values."""

FRESH = 1000
"""Added to the seed of a cell: the library's defaults were chosen on smaller ones."""

OPTIONS: Mapping[str, Any] = {
    "process": "sklearn",
    "renormalize": True,
    "gradient": False,
    "incumbent": "data",
    "lengthscale": "mean",
}
"""What the paper leaves open in the printed set-up, as we read it; a cell's ``options`` replace some."""

LIES: Mapping[str, Lie] = {
    "kb": Believe(),
    "cl_min": ConstantLie("min"),
    "cl_mean": ConstantLie("mean"),
    "cl_max": ConstantLie("max"),
}


class Player(Protocol):
    """Whatever proposes points and is told of their values."""

    def ask(self, q: int) -> Array:
        """``q`` points (q, d) of the encoded cube."""
        ...

    def tell(self, X: Array, y: Array) -> None:
        """The values ``y`` (q,) of the last points ``X`` (q, d)."""
        ...


class Study:
    """The library's optimizer with a design that is known."""

    def __init__(self, space: Space, X: Array, y: Array, seed: int, distinct: bool, **members: Any) -> None:
        self._optimizer = Optimizer(space, n_init=len(y), seed=seed, **members)
        for params, value in zip(space.decode(X), y.tolist(), strict=True):
            self._optimizer.observe(params, value)
        self._distinct = distinct
        self._batch: Batch | None = None

    def ask(self, q: int) -> Array:
        """The points of a batch."""
        self._batch = self._optimizer.ask(q, distinct=self._distinct)
        return self._batch.unit

    def tell(self, X: Array, y: Array) -> None:
        """The results of the last batch."""
        assert self._batch is not None
        self._optimizer.tell_many(self._batch, y.tolist())


def loop(cell: Cell) -> dict[str, Any]:
    """Run the cell to the end of its budget; what :class:`~believer_paper.results.Loop` reads."""
    s = cell.settings
    problem = PROBLEMS[s["problem"]]()
    space = problem.space
    seed = FRESH + cell.seed
    X = design(space, s["n_init"], seed)
    truth = problem.evaluate(X)
    told = noisy(problem, s["noise"] * float(truth.std()), seed) if s["noise"] else problem
    watch, y = Watch(), told.evaluate(X)
    began = _clocks()
    player = _player(s, space, X, y, seed, watch)
    spent, log = [_clocks() - began], _Log(space)
    while len(y) < s["budget"]:
        began = _clocks()
        proposed = player.ask(min(s["q"], s["budget"] - len(y)))
        spent.append(_clocks() - began)
        values = told.evaluate(proposed)
        began = _clocks()
        player.tell(proposed, values)
        spent[-1] += _clocks() - began
        log.add(proposed)
        y, truth = np.concatenate([y, values]), np.concatenate([truth, problem.evaluate(proposed)])
    spent[1] += spent[0]
    clocks = np.round(spent[1:], 6)
    return {
        "values": y.tolist(),
        **({"truth": truth.tolist()} if s["noise"] else {}),
        **log.columns,
        "seconds": clocks[:, 0].tolist(),
        "cpu": clocks[:, 1].tolist(),
        "foreign": round(watch.foreign, 6),
        "moved": watch.share_moved,
    }


def _player(s: Mapping[str, Any], space: Space, X: Array, y: Array, seed: int, watch: Watch) -> Player:
    """Who plays the cell's settings, the design ``X``, ``y`` known."""
    options = {**OPTIONS, **s["options"]}
    if s["preset"] == "ours":
        name = "kb" if s["strategy"] == "sequential" else s["strategy"]
        surrogate = GP(noise="infer") if s["noise"] else GP()
        return Study(space, X, y, seed, True, strategy=name, surrogate=surrogate)
    if s["strategy"] == "qei":
        return _Watched(PEERS["botorch_qei"].make(X, y, seed), watch)
    if s["strategy"] == "random":  # no model is looked at: none of the printed kind is paid for
        return Study(space, X, y, seed, False, strategy=RandomBatch())
    # BoTorch's conditioning keeps the scaling of y; scikit-learn's refit renews it.
    renormalize = options["renormalize"] and options["process"] != "botorch"
    process = Process(space, options["process"], renormalize, options["gradient"], watch)
    return Study(
        space, X, y, seed, False,
        strategy=printed_strategy(s["strategy"], options["incumbent"], options["lengthscale"]),
        surrogate=process,
        acquisition=EI(XI),
        maximizer=ScipyStarts(space, watch=watch),
    )  # fmt: skip


def printed_strategy(name: str, incumbent: str = "data", lengthscale: str = "mean") -> Strategy:
    """A strategy of the paper: [paper] Algorithm 1 with a lie, or Local Penalization."""
    if name == "lp":
        return PrintedPenalization(lengthscale)
    return PseudoObservations(LIES["cl_min" if name == "sequential" else name], "auto", incumbent)


class _Watched:
    """A peer whose time is its own."""

    def __init__(self, peer: Player, watch: Watch) -> None:
        self._peer, self._watch = peer, watch

    def ask(self, q: int) -> Array:
        with self._watch.elsewhere():
            return self._peer.ask(q)

    def tell(self, X: Array, y: Array) -> None:
        self._peer.tell(X, y)


class _Log:
    """How far apart the points of each batch were, in the cube and in the units of the box."""

    def __init__(self, space: Space) -> None:
        low, high = box_of(space)
        self._scales = np.ones(space.dim), 1.0 / (high - low)
        self.columns: dict[str, list[Any]] = {
            name: [] for name in ("batches", "mean_distance", "min_distance", "mean_distance_raw")
        }

    def add(self, X: Array) -> None:
        cube, raw = (distances(X, scale) for scale in self._scales)
        several = len(X) > 1
        entry = (len(X), *((float(cube.mean()), float(cube.min()), float(raw.mean())) if several else (None,) * 3))
        for column, value in zip(self.columns.values(), entry, strict=True):
            column.append(value)


def _clocks() -> Array:
    """Wall and processor time, (2,)."""
    return np.array([time.perf_counter(), time.process_time()])
