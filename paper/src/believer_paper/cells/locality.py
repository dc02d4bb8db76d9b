"""Cells of kind "locality": is an update by a lie local, repeatable, and monotone in distance (claim 33)?

======  ====================================================================  =========
symbol  meaning                                                               shape
======  ====================================================================  =========
x*      where the lie is: the maximum of the acquisition                      (d,)
Δ       |after - before| of the mean, or of the std
r       distance to x* in the unit cube
R       mean distance of two random points of the cube
======  ====================================================================  =========

[paper] appendix C.6 says that conditioning is deterministic and local, and that training is neither, and is not
monotone in r. Δ is measured along rays, in equal steps from x* to points all over the cube, because hardly any random
point of the cube is near x*.

Fields: x, value: of the lie. random_pair: R. edges (13,): of the bins of r, R/8 apart; counts (12,): points of the rays
in each. far_points: the share of them with r > R/2. And for ``mean`` and for ``std``, each in units of the std of y:
  before, at_lie: the model's at x*, and Δ there; largest: the largest Δ.
  bins (12,): mean Δ in each bin, over ``largest``; None if a bin is empty.
  spearman: rank correlation of Δ with r along the rays; -1 is an effect that only falls.
  rises: the share of outward steps along the rays in which Δ grows by more than a hundredth of ``largest``.
  far_share: of the sum of Δ along the rays, the part at r > R/2; an effect that is the same everywhere has far_points.
  repeated: the mean difference of two updates that differ in their random numbers alone, over the mean Δ, both over the
  points at which the rays end; 0 is deterministic.
  without_lie: the same of the change that the update makes with no lie; 0 for conditioning.
A ratio whose denominator is zero, because the update changed nothing, is None.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.batch import random_pair_distance
from believer.diagnostics import FromProblem
from believer.experiments import Cell, rank_correlation
from believer.numerics import sobol
from believer.plugins import Model
from believer.surrogates import standardization
from believer_paper.cells.fitted import FittedProblem, fitted

PROBLEM, N = "hartmann6", 30
_RAYS, _STEPS = 512, 12
_BINS, _BINS_IN_PAIR = 12, 8
_NOTABLE = 0.01


def locality(cell: Cell) -> dict[str, Any]:
    """Update once by a lie at the maximum of the acquisition function, and measure what changes where."""
    s, seed = cell.settings, cell.seed
    scene = fitted(s["preset"], s["surrogate"], PROBLEM, FromProblem(PROBLEM, N).draw(seed), seed)
    x, update, pair = scene.best(), s["update"], random_pair_distance(scene.request.region)
    rays = _rays(x)
    r = np.sqrt(((rays - x) ** 2).sum(axis=2))
    edges = np.linspace(0.0, _BINS * pair / _BINS_IN_PAIR, _BINS + 1)
    models = {
        "before": scene.request.model,
        "after": scene.updated(x, update),
        "again": scene.again(seed + 1).updated(x, update),
        "untold": _without_lie(scene, update),
    }
    beliefs = {name: model.predict(rays.reshape(-1, len(x))) for name, model in models.items()}
    unit = standardization(scene.request.data.y)[1]
    means = {name: belief.mean.reshape(r.shape) / unit for name, belief in beliefs.items()}
    stds = {name: belief.std.reshape(r.shape) / unit for name, belief in beliefs.items()}
    return {
        **{"x": x.tolist(), "value": scene.lie, "random_pair": pair, "edges": edges.tolist()},
        "counts": np.histogram(r, edges)[0].tolist(),
        "far_points": float((r[:, 1:] > 0.5 * pair).mean()),
        **{"mean": _response(means, r, edges, 0.5 * pair), "std": _response(stds, r, edges, 0.5 * pair)},
    }


def _rays(x: Array) -> Array:
    """Points (m, steps + 1, d) from ``x`` (d,) straight to Sobol points of the cube, which come last."""
    ends = sobol(_RAYS, len(x), np.random.default_rng(0))
    rays: Array = x + np.linspace(0.0, 1.0, _STEPS + 1)[:, None] * (ends - x)[:, None, :]
    return rays


def _without_lie(scene: FittedProblem, update: str) -> Model:
    """The model after the update without a lie: trained again with the same random numbers, or as it was."""
    request = scene.request
    if update != "refit":
        return request.model
    return request.surrogate.fit(request.data, request.randomness(0, "refit"), request.model)


def _response(at: dict[str, Array], r: Array, edges: Array, far: float) -> dict[str, Any]:
    """The effect of the update on predictions ``at`` (m, steps + 1) along the rays, at distances ``r`` from x*."""
    change = np.abs(at["after"] - at["before"])
    largest = float(change.max())
    outside, over_cube = change[:, 1:], float(change[:, -1].mean())
    inside = [(r >= low) & (r < high) for low, high in pairwise(edges)]
    return {
        **{"before": float(at["before"][0, 0]), "at_lie": float(change[0, 0]), "largest": largest},
        "bins": [_share(float(change[near].mean()), largest) if near.any() else None for near in inside],
        "spearman": rank_correlation(outside.ravel(), r[:, 1:].ravel()),
        "rises": _share(float((np.diff(change, axis=1) > _NOTABLE * largest).mean()), float(largest > 0.0)),
        "far_share": _share(float(outside[r[:, 1:] > far].sum()), float(outside.sum())),
        "repeated": _share(float(np.abs(at["again"] - at["after"])[:, -1].mean()), over_cube),
        "without_lie": _share(float(np.abs(at["untold"] - at["before"])[:, -1].mean()), over_cube),
    }


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0.0 else None
