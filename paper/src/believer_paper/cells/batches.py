"""Cells of kind "batch": one batch of the engine on one design, for claims on distance, information and joint EI.

======  ===================================================================  ======
symbol  meaning                                                              shape
======  ===================================================================  ======
n, q    results, and points of the batch
K       posterior covariance of the batch before any lie                     (q, q)
σ_n²    noise variance of the model
I_k     ½ log det(1 + K_k / σ_n²), nats, of the first k points               (q,)
J_k     E max(0, f⁺ - min f) over the first k points                         (q,)
S       base samples of J
======  ===================================================================  ======

I_k is the mutual information between the objective and noisy results at the points ([Desautels2014] section 2.2).
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from believer.acquisitions import JointImprovement, LogEI
from believer.arrays import Array, frozen
from believer.batch import STRATEGIES, Data, Pending, Request, judge
from believer.experiments import Cell
from believer.numerics import latin_hypercube, normal_sobol, stream
from believer.plugins import Box
from believer.problems import PROBLEMS
from believer.surrogates import GP, GPModel
from believer_paper.theory import observation_noise

_STRATEGIES = ("kb", "cl_min", "top_q", "random", "thompson")
_SIZES = (3, 10)
_SAMPLES = 512
_SEEDS = 20

SETTINGS: tuple[tuple[dict[str, Any], int], ...] = tuple(
    ({"preset": "ours", "problem": "hartmann6", "n": 30, "q": q, "strategy": strategy}, _SEEDS)
    for q, strategy in product(_SIZES, _STRATEGIES)
)
"""Settings, each with its number of seeds in a full run."""


def batch(cell: Cell) -> dict[str, Any]:
    """Fit the engine's Gaussian process to a Latin hypercube design, let the strategy choose, and measure its points.

    The result: points (q, d) in the unit cube, lengthscales (d,), mean_distance and min_distance of pairs in the cube,
    min_lengthscales, random_pair (mean distance of uniform points), information (q,) and joint_ei (q,), in the units of
    y. The design depends on the seed alone, not on the strategy or q.
    """
    settings = cell.settings
    problem, q = PROBLEMS[settings["problem"]](), int(settings["q"])
    X = latin_hypercube(int(settings["n"]), problem.space.dim, stream(cell.seed, 0, "design"))
    data = Data(frozen(X), frozen(problem.evaluate(X)))
    recipe = GP(noise=1e-6)
    model = recipe.fit(data, stream(cell.seed, 0, "fit"))
    request = Request.single(
        ids=tuple(range(1, q + 1)),
        surrogate=recipe,
        acquisition=LogEI(),
        model=model,
        data=data,
        pending=Pending((), frozen(X[:0])),
        region=Box.cube(problem.space.dim),
        avoid=data.X,
        distinct=True,
        randomness=partial(stream, cell.seed),
    )
    points = np.array([choice.x for choice in STRATEGIES[settings["strategy"]].choose(request).choices])
    verdict = judge(points, request.region, model)
    return {
        "points": points.tolist(),
        "lengthscales": model.lengthscales.tolist(),
        "mean_distance": verdict.mean_distance,
        "min_distance": verdict.min_distance,
        "min_lengthscales": verdict.min_lengthscales,
        "random_pair": verdict.random_pair_distance,
        "information": information(model, points).tolist(),
        "joint_ei": joint_improvement(model, points, float(data.y.min()), stream(cell.seed, 0, "samples")).tolist(),
    }


def information(model: GPModel, points: Array) -> Array:
    """I_k (q,) of ``points`` (q, d), k = 1 ... q: sums of ½ log(1 + σ_j²/σ_n²), the pivots of one factor.  O(q³)."""
    K = model.joint(points).covariance / observation_noise(model)
    pivots = np.diagonal(np.linalg.cholesky(np.eye(len(points)) + K))
    gained: Array = np.cumsum(np.log(pivots))
    return gained


def joint_improvement(model: GPModel, points: Array, incumbent: float, rng: np.random.Generator) -> Array:
    """J_k (q,) of ``points`` (q, d) by S base samples, the same for all k, so that J never falls.  O(S q³)."""
    normals, nothing = normal_sobol(_SAMPLES, len(points), rng), points[:0]
    first = [
        JointImprovement(model, incumbent, normals[:, :k], nothing).value(points[:k].reshape(1, -1))[0]
        for k in range(1, len(points) + 1)
    ]
    return np.array(first)
