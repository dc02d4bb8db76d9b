"""TuRBO-1 as its authors describe it, written from [Eriksson2019], section 2 and supplement D, for comparisons.

| symbol | meaning | shape |
|---|---|---|
| L | the side of the trust region: 0.8 at first, at most 1.6, given up below 1/128 | |
| L_j | side along column j, L λ_j / (Π λ_k)^(1/d) | (d,) |
| λ | lengthscales | (d,) |
| C | candidates: min(100 d, 5000) | (c, d) |

The model is a Gaussian process with a Matérn-5/2 kernel, a lengthscale for each column in [0.005, 2], a signal variance
in [0.05, 20] and a noise variance in [0.0005, 0.1] of standardized values, all of maximum likelihood, given all results
since the last restart. Candidates are Sobol points of the box, each of whose coordinates takes the place of the best
point's with probability min(1, 20 / d). A batch is the minima over C of q functions drawn from the posterior. L
doubles after 3 batches in a row with a success, halves after ⌈max(4, d) / q⌉ without; a success is better than the best
by a thousandth of its size. After a restart the first points are a Latin hypercube.

Differs: hyperparameters come from this library's search for maxima, warm-started, where the authors take 50 steps of
Adam. The points of a restart are as many as the initial design has. Draws at the candidates are of single precision.
"""

from __future__ import annotations

import math

import numpy as np

from believer.arrays import Array
from believer.errors import NumericalError
from believer.numerics.sampling import latin_hypercube, sobol
from believer.space import Space
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, fit_gp
from believer.surrogates.gp_fit import Preset

FIRST, LARGEST, SMALLEST = 0.8, 1.6, 0.5**7
SUCCESSES, ENOUGH = 3, 1e-3
MAX_CANDIDATES = 5000

PRESET = Preset(
    lengthscale=None,
    signal=None,
    noise=None,
    lengthscale_bounds=(0.005, 2.0),
    signal_bounds=(0.05, 20.0),
    noise_bounds=(0.0005, 0.1),
    scaled=False,
    mean_std=None,
)


class Turbo:
    """One trust region over the continuous columns of a space: a :class:`~believer_bench.peers.Peer`."""

    def __init__(self, space: Space, X0: Array, y0: Array, seed: int, noisy: bool) -> None:
        self._region, self._rng = space.region(), np.random.default_rng((seed, 1019))
        self._design = len(X0)
        self._X, self._y = X0[:0], y0[:0]
        self._length, self._successes, self._failures = FIRST, 0, 0
        self._model: GPModel | None = None
        self._take(X0, y0)

    def ask(self, q: int) -> Array:
        """The next points of a design, or a batch by Thompson sampling in the box."""
        if len(self._y) < self._design:
            U = latin_hypercube(self._design, self._region.dim, self._rng)
            return self._region.spread(U)[:q]
        model = fit_gp(Data(self._X, self._y), "matern52", "infer", self._rng, self._model, PRESET)
        candidates = self._candidates(model)
        draws = _draws(model, candidates, q, self._rng)
        chosen = list[int]()
        for drawn in draws:
            drawn[chosen] = np.inf
            chosen.append(int(np.argmin(drawn)))
        self._model = model
        return self._region.project(candidates[chosen])

    def tell(self, X: Array, y: Array) -> None:
        """Grow or shrink the box by what came back, or begin another."""
        if len(self._y) < self._design:
            self._take(X, y)
            return
        best = float(self._y.min())
        success = float(y.min()) < best - ENOUGH * abs(best)
        self._successes = self._successes + 1 if success else 0
        self._failures = 0 if success else self._failures + 1
        if self._successes == SUCCESSES:
            self._length, self._successes = min(2.0 * self._length, LARGEST), 0
        elif self._failures == math.ceil(max(4, self._region.dim) / len(y)):
            self._length, self._failures = 0.5 * self._length, 0
        self._take(X, y)
        if self._length < SMALLEST:
            self._begin()

    def _begin(self) -> None:
        self._X, self._y = np.zeros((0, self._region.dim)), np.zeros(0)
        self._length, self._successes, self._failures = FIRST, 0, 0
        self._model = None

    def _take(self, X: Array, y: Array) -> None:
        self._X, self._y = np.vstack([self._X, X]), np.concatenate([self._y, y])

    def _candidates(self, model: GPModel) -> Array:
        """C, made of points of the box and of the best point."""
        d, center = self._region.dim, self._X[int(np.argmin(self._y))]
        weights = np.exp(np.log(model.lengthscales) - np.log(model.lengthscales).mean())
        lower = np.maximum(center - 0.5 * self._length * weights, 0.0)
        upper = np.minimum(center + 0.5 * self._length * weights, 1.0)
        count = min(100 * d, MAX_CANDIDATES)
        points = lower + sobol(count, d, self._rng) * (upper - lower)
        moved = self._rng.random((count, d)) <= min(1.0, 20.0 / d)
        still = np.flatnonzero(~moved.any(axis=1))
        moved[still, self._rng.integers(d, size=len(still))] = True
        made: Array = np.where(moved, points, center)
        return made


def _draws(model: GPModel, X: Array, count: int, rng: np.random.Generator) -> Array:
    """Values (count, c) of functions drawn from the posterior at ``X`` (c, d), jointly.  O(c³), in single precision."""
    joint = model.joint(X)
    covariance, diagonal = (joint.covariance / model.scale**2).astype(np.float32), np.diag_indices(len(X))
    for jitter in (1e-5, 1e-4, 1e-3, 1e-2):
        covariance[diagonal] += np.float32(jitter)
        try:
            root = np.linalg.cholesky(covariance)
            break
        except np.linalg.LinAlgError:
            continue
    else:
        raise NumericalError("the covariance of the candidates has no factor.")
    values: Array = joint.mean + model.scale * (rng.standard_normal((count, len(X))) @ root.T.astype(np.float64))
    return values
