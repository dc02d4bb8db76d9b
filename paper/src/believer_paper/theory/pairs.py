"""Models that are sure of their minimum, and the distance that strategies put between two points around it.

======  ==================================================================  ======
symbol  meaning                                                             shape
======  ==================================================================  ======
n, ν    results of a Gaussian process; σ_n²/σ_f²
ℓ       its lengthscale, 0.3 √d; σ_f² = 1, hyperparameters are known
c₀/H    standard deviation of the minimizer's place (``minimizer``)         (k,)
c/H     the same once the value at the believed minimum is believed         (k,)
======  ==================================================================  ======

The law of ``separation`` is about Kriging Believer. If f is a parabola of known curvature with its minimum at t*, then
f(t) - min f = H (t - t*)²/2, and other strategies have constants of their own, in units of c₀/H:

- **q-EI** of two points, where an improvement is sure, minimizes E min_i (t_i - t*)²: the best two-point quantizer of a
  normal variable, ±√(2/π), 1.596 apart. Kriging Believer is its greedy version: the mean first, and then 1.224. That
  gains 0.2025 c²/H over one point, where both together gain c₀²/(πH) = 0.3183 c₀²/H.
- **Thompson**'s points are two draws of t*: the mean of their distance is 2/√π = 1.128, its median 0.954, its root mean
  square √2.
- **Lies beside the mean** by m standard deviations tilt it. In one column γ = |m ρ| / √(1 - ρ²), ρ the correlation of
  value and slope before the lie, and the step is the longer one of ``standard_step(γ)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from believer.acquisitions import LogEI
from believer.arrays import Array, frozen, whole
from believer.batch import QEI, Believe, ConstantLie, Data, PseudoObservations, Strategy, Thompson
from believer.errors import InvalidInput
from believer.numerics import LBFGSSettings, latin_hypercube
from believer.surrogates import KERNELS, GPModel, Hyperparameters, posterior, squared_distances
from believer_paper.theory import arguments
from believer_paper.theory.minimizer import believed_minimizer, local
from believer_paper.theory.separation import Separation, next_step
from believer_paper.theory.situation import Situation, request

PAIRS: dict[str, Strategy] = {
    "KB": PseudoObservations(Believe(), "condition"),
    "CL-min": PseudoObservations(ConstantLie("min"), "condition"),
    "KB-σ": PseudoObservations(Believe(-1.0), "condition"),
    "KB+σ": PseudoObservations(Believe(1.0), "condition"),
    # q-EI as it is, climbed to the top: rounding its corners off, as the default does, draws points together.
    "q-EI": QEI(samples=512, smoothing=None, climb=LBFGSSettings(max_rounds=200, gradient_tol=1e-8, value_tol=1e-12)),
    "Thompson": Thompson(),
}
"""The strategies that are compared; f⁺ is the believed one."""

QEI_STEP = 2.0 * math.sqrt(2.0 / math.pi)
THOMPSON_MEDIAN = 2.0 * 0.476936276204469873
"""Median distance of two standard normal draws: 2 erf⁻¹(1/2)."""

_NUGGET = 1e-10
_INSIDE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """k batches of two, each on a different model; all lengths are in lengthscales."""

    place: Array
    """c₀/H along e (k,)"""
    believed: Array
    """c/H along e (k,)"""
    strain: Array
    expected: Array
    """what the expansion says of Kriging Believer from its first point on, with slope and noise (k,)"""
    distance: Mapping[str, Array]
    """of each strategy of :data:`PAIRS` (k,)"""


def pairs(n: int, noise: float, tries: int, rng: np.random.Generator, kernel: str = "matern52", dim: int = 1) -> Pairs:
    """Draw ``tries`` random models of ``n`` results whose mean has its minimum inside the box; a batch of two each."""
    rows, distances = [], []
    arguments.variance(noise, "noise")
    if kernel not in KERNELS:
        raise InvalidInput(f"kernel must be one of {', '.join(KERNELS)}; got {kernel!r}.")
    for _ in range(whole(tries, "tries", 1)):
        model, found = _inner(n, noise, kernel, dim, rng)
        ell, here = float(model.lengthscales[0]), local(model, found.around.x)
        rates, axes = here.axes()
        unsure = float(np.sqrt(rates[0]) * np.linalg.norm(axes[:, 0]))
        batches = {name: _batch(strategy, model, int(rng.integers(2**31))) for name, strategy in PAIRS.items()}
        step = _expected(model, batches["KB"][0])
        rows.append((unsure / ell, found.place_std / ell, found.strain, step / ell))
        distances.append([float(np.linalg.norm(second - first)) / ell for first, second in batches.values()])
    place, believed, strain, expected = map(frozen, np.array(rows).T)
    measured = map(frozen, np.array(distances).T)
    return Pairs(place, believed, strain, expected, dict(zip(PAIRS, measured, strict=True)))


def sure_model(kernel: str, dim: int, place: float, rng: np.random.Generator) -> GPModel:
    """A Gaussian process whose results are a tilted parabola, so steep that c/H along e is ``place`` lengthscales.

    The variance depends on the places of the results and not on their values: a steeper parabola makes the model surer.
    No result is within half a lengthscale of the parabola's center: two close results determine the slope between them
    but not beyond them, and the expansion would hold only for less than their distance.
    """
    center, tilt = rng.uniform(0.4, 0.6, dim), rng.standard_normal((dim, dim))
    lengthscales = frozen(rng.uniform(0.3, 0.5, dim) * math.sqrt(dim))
    corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * dim), axis=-1).reshape(-1, dim)
    X = np.vstack([latin_hypercube(6 * dim, dim, rng), corners])
    X = X[np.linalg.norm((X - center) / lengthscales, axis=1) > 0.5]
    y = np.einsum("ij,jk,ik->i", X - center, np.eye(dim) + 0.3 * tilt @ tilt.T, X - center)
    hyper = Hyperparameters(kernel, lengthscales, 1.0, 0.0)
    found = next_step(posterior(hyper, X, y, 0.0, 1.0))
    taller = float(np.sqrt(found.rate) * np.linalg.norm(found.axis / lengthscales)) / place
    return posterior(hyper, X, taller * y, 0.0, 1.0)


def _inner(n: int, noise: float, kernel: str, dim: int, rng: np.random.Generator) -> tuple[GPModel, Separation]:
    lengthscales = np.full(dim, 0.3 * math.sqrt(dim))
    while True:
        X = latin_hypercube(n, dim, rng)
        k = KERNELS[kernel](squared_distances(X / lengthscales, X / lengthscales))[0]
        y = np.linalg.cholesky(k + (noise + _NUGGET) * np.eye(n)) @ rng.standard_normal(n)
        model = posterior(Hyperparameters(kernel, frozen(lengthscales), 1.0, noise), X, y, 0.0, 1.0)
        x = believed_minimizer(model)
        if x.min() > _INSIDE and x.max() < 1.0 - _INSIDE:
            return model, next_step(model, x)


def _batch(strategy: Strategy, model: GPModel, seed: int) -> tuple[Array, Array]:
    situation = Situation(model, LogEI(), Believe(), Data(model.X, model.y))
    asked = request(situation, 2, lambda trial, why: np.random.default_rng([seed, trial, *why.encode()]))
    first, second = (choice.x for choice in strategy.choose(asked).choices)
    return first, second


def _expected(model: GPModel, first: Array) -> float:
    """Length of the step that the expansion expects from ``first`` (d,); NaN where the mean does not curve upwards."""
    best = float((model.predict(model.X).mean if model.is_noisy else model.y).min())
    incumbent = min(best, float(model.predict(first[None, :]).mean[0]))
    try:
        return float(np.linalg.norm(next_step(model, first, incumbent=incumbent).step))
    except InvalidInput:
        return float("nan")
