"""Cells of kind "loop": one run of Bayesian optimization, under either preset (Exp 4, 6, 9, 10, 11, 12).

Every strategy of a problem and a seed starts from the same Latin design. ``printed``: EI with ξ = 0.01 in the units of
y over the best real result, ten random starts, the printed process, repeats allowed. ``ours``: the library's
process (σ_n² = 1e-6, no warp), LogEI and search under the named strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from believer.acquisitions import EI
from believer.arrays import Array
from believer.batch import Believe, ConstantLie, Lie, PseudoObservations, RandomBatch, Strategy, Verdict
from believer.experiments import Cell
from believer.problems import Problem, svm_breast_cancer
from believer.space import Space
from believer.surrogates import GP
from believer_bench import Member, Ours, Theirs, design, run
from believer_bench.problems import PROBLEMS, noisy
from believer_paper.setup.process import Process, box_of
from believer_paper.setup.product import PrintedPenalization
from believer_paper.setup.search import ScipyStarts
from believer_paper.setup.watch import FitWatch

XI = 0.01
"""ξ of EI, from [paper] appendix "Hyperparameter details", in the units of y."""

NOISE_SHARE = 0.1
"""The standard deviation of the noise over that of the design's values ([paper] section 4.7)."""

FRESH = 1000
"""An offset of the seeds: the library's defaults were chosen on smaller seeds."""

OPTIONS: Mapping[str, Any] = {
    "process": "sklearn",
    "renormalize": True,
    "gradient": False,
    "incumbent": "data",
    "lengthscale": "mean",
    "inputs": "raw",
    "xi": "raw",
    "tolerance": "scipy",
    "draws": "shared",
    "folds": "shuffled",
    "features": "standardized",
}
"""Our readings of what the paper leaves open in the printed set-up; a cell's ``options`` replace some of them."""

LIES: Mapping[str, Lie] = {
    "kb": Believe(),
    "cl_min": ConstantLie("min"),
    "cl_mean": ConstantLie("mean"),
    "cl_max": ConstantLie("max"),
}


def loop(cell: Cell) -> dict[str, Any]:
    """Run the cell to the end of its budget. The result is read by :class:`~believer_paper.results.Loop`."""
    s = cell.settings
    problem = _problem(s)
    space = problem.space
    seed = FRESH + cell.seed
    X = design(space, s["n_init"], seed)
    told = noisy(problem, s["noise"] * float(problem.evaluate(X).std()), seed) if s["noise"] else problem
    watch = FitWatch()
    player = partial(_player, s, space, seed, watch)
    course = run(player, told.evaluate, X, told.evaluate(X), s["q"], s["budget"])
    low, high = box_of(space)
    cube, raw = course.apart(), course.apart(1.0 / (high - low))
    clocks = np.vstack([course.spent[:2].sum(axis=0), course.spent[2:]])  # the first batch pays for the construction
    seconds, cpu = clocks.round(6).T.tolist()
    return {
        "values": course.y.tolist(),
        **({"truth": problem.evaluate(course.X).tolist()} if s["noise"] else {}),
        "batches": [len(batch) for batch in course.batches],
        "mean_distance": [float(gaps.mean()) if len(gaps) else None for gaps in cube],
        "min_distance": [float(gaps.min()) if len(gaps) else None for gaps in cube],
        "max_distance": [float(gaps.max()) if len(gaps) else None for gaps in cube],
        "mean_distance_raw": [float(gaps.mean()) if len(gaps) else None for gaps in raw],
        "seconds": seconds,
        "cpu": cpu,
        "foreign": round(watch.foreign, 6),
        "moved": watch.share_moved,
    }


def _problem(s: Mapping[str, Any]) -> Problem:
    """The cell's problem; SVM tuning has the folds and features that the cell's options name."""
    if s["problem"] != "svm_breast_cancer":
        return PROBLEMS[s["problem"]]()
    options = {**OPTIONS, **s["options"]}
    return svm_breast_cancer(options["folds"] == "shuffled", options["features"] == "standardized")


def _player(s: Mapping[str, Any], space: Space, seed: int, watch: FitWatch, X: Array, y: Array) -> Member:
    """The member with the cell's settings, after it was told the design ``X``, ``y``."""
    options = {**OPTIONS, **s["options"]}
    if s["preset"] == "ours":
        name = "kb" if s["strategy"] == "sequential" else s["strategy"]
        surrogate = GP(noise="infer" if s["noise"] else 1e-6)
        return Ours(space, X, y, seed, strategy=name, surrogate=surrogate, warp="none")
    if s["strategy"] == "qei":
        return _Watched(Theirs("botorch_qei", space, X, y, seed, noisy=bool(s["noise"])), watch)
    if s["strategy"] == "random":  # no model is looked at: none of the printed kind is paid for
        draws = seed if options["draws"] == "shared" else seed + FRESH * s["q"]
        return Ours(space, X, y, draws, distinct=False, strategy=RandomBatch())
    # BoTorch's conditioning keeps the scaling of y; scikit-learn's refit renews it.
    renormalize = options["renormalize"] and options["process"] != "botorch"
    process = Process(space, options["process"], renormalize, options["gradient"], options["inputs"], watch)
    xi = XI if options["xi"] == "raw" else XI * float(y.std())
    return Ours(
        space, X, y, seed, distinct=False,
        strategy=printed_strategy(s["strategy"], options["incumbent"], options["lengthscale"]),
        surrogate=process,
        warp="none",
        acquisition=EI(xi),
        maximizer=ScipyStarts(space, inputs=options["inputs"], tolerance=options["tolerance"], watch=watch),
    )  # fmt: skip


def printed_strategy(name: str, incumbent: str = "data", lengthscale: str = "mean") -> Strategy:
    """A strategy of the paper: [paper] Algorithm 1 with a lie, or Local Penalization."""
    if name == "lp":
        return PrintedPenalization(lengthscale)
    return PseudoObservations(LIES["cl_min" if name == "sequential" else name], "auto", incumbent)


class _Watched:
    """A peer whose time is counted as another library's."""

    verdict: Verdict | None = None

    def __init__(self, peer: Member, watch: FitWatch) -> None:
        self._peer, self._watch = peer, watch

    def ask(self, q: int) -> Array:
        with self._watch.elsewhere():
            return self._peer.ask(q)

    def tell(self, X: Array, y: Array) -> None:
        self._peer.tell(X, y)

    def recommend(self) -> Array | None:
        return self._peer.recommend()
