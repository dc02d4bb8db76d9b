"""What default.py runs: the variants of the default that were tried, and the rugged problems beside the suite.

A variant is a context manager: it is told whether the space is finite, puts what it changes in its place, and gives
the options of the optimizer. "before" is the default of the round before. The variants of earlier rounds are in the
history of this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from warped_inputs import WarpedInputs

from believer.arrays import Array
from believer.numerics.sampling import normal
from believer.problems import Problem, synthetic
from believer.problems.known import ackley8, levy10
from believer.study import models
from believer.surrogates import gp, gp_fit, warp
from believer.surrogates.data import MIN_SCALE, Data
from believer.surrogates.gp_fit import DEFAULT, PRIORS, LogNormal, Preset
from believer.surrogates.protocols import Model
from believer.surrogates.warp import REACH, Warp
from believer_bench.problems import PROBLEMS, shapes
from believer_bench.problems.made import around

Variant = Callable[[bool], AbstractContextManager[dict[str, Any]]]
Warps = Callable[[Array], list[Warp | None]]

BEFORE = "before"


def lengthscale(center: float = 0.25, std: float = 0.5, shared: float = 1.0) -> Preset:
    """The preset of log ℓ/√d ~ N(μ, std), μ ~ N(log center, shared)."""
    return replace(DEFAULT, lengthscale=LogNormal(math.log(center), std, shared=shared))


@contextmanager
def learned_from_the_first() -> Iterator[dict[str, Any]]:
    """The prior of the second round: lengthscales share a mean from the first result on, around log 0.25."""
    kept, gp_fit.SHARED_FROM, PRIORS["tried"] = gp_fit.SHARED_FROM, 0.0, lengthscale()
    try:
        yield {"surrogate": gp.GP(prior="tried")}
    finally:
        gp_fit.SHARED_FROM = kept
        del PRIORS["tried"]


@contextmanager
def from_the_best(**constants: Any) -> Iterator[dict[str, Any]]:
    """Warps that begin at the best result under other constants of surrogates/warp.py."""
    kept = {name: getattr(warp, name) for name in constants}
    for name, value in constants.items():
        setattr(warp, name, value)
    try:
        yield {}
    finally:
        for name, value in kept.items():
            setattr(warp, name, value)


def others(make: Warps, finite_too: bool = False) -> Variant:
    """The warps that ``make`` makes of results, in place of those that begin at the best."""

    @contextmanager
    def variant(finite: bool) -> Iterator[dict[str, Any]]:
        kept = models.warps_for
        models.warps_for = lambda y, _: (*kept(y, True), *(filter(None, make(y)) if finite_too or not finite else ()))
        try:
            yield {}
        finally:
            models.warps_for = kept

    return variant


def from_share(y: Array, share: float) -> Warp | None:
    """The warp of the worse half, but beginning at the best ``share`` of results in place of the median."""
    ordered = np.sort(y)
    m = float(np.quantile(ordered, share))
    below = ordered[ordered < m]
    if not len(below) or not float(ordered[-1]) - m > REACH * (m - float(ordered[0])):
        return None
    z = normal(np.array([share])) - normal((np.arange(len(below)) + 0.5) / len(y))
    scale = math.sqrt(float(((m - below) ** 2).sum()) / float((z**2).sum()))
    return Warp(m, scale) if scale >= MIN_SCALE else None


def before_the_best(y: Array, share: float, by: float) -> Warp | None:
    """A warp that begins ``by`` times its scale before the best result, so that improvements bend a little, too."""
    best, span = float(y.min()), float(np.ptp(y))
    scale = float(np.quantile(y, share)) - best
    return Warp(best - by * scale, scale, share=share) if scale >= MIN_SCALE and span > warp.SPAN * scale else None


class ByKernel:
    """A surrogate: the Gaussian process of the kernel with the most evidence."""

    def __init__(self, *kernels: str) -> None:
        self._recipes = [gp.GP(kernel) for kernel in kernels]

    def suited(self, finite: bool) -> ByKernel:
        """With the prior of a study."""
        self._recipes = [recipe.suited(finite) for recipe in self._recipes]
        return self

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> gp.GPModel:
        """The likeliest of the fits."""
        return max((recipe.fit(data, rng, previous) for recipe in self._recipes), key=gp.GPModel.log_evidence)

    def describe(self, model: gp.GPModel) -> dict[str, Any]:
        """As a Gaussian process."""
        return self._recipes[0].describe(model)

    def restore(self, data: Data, state: dict[str, Any]) -> gp.GPModel:
        """As a Gaussian process."""
        return self._recipes[0].restore(data, state)


@contextmanager
def levels_apart() -> Iterator[dict[str, Any]]:
    """A lengthscale for each value of a category, which says how far it is from the others."""
    kept, gp_fit._tied = gp_fit._tied, lambda _, d: (None, np.arange(d))
    try:
        yield {}
    finally:
        gp_fit._tied = kept


@contextmanager
def given(**options: Any) -> Iterator[dict[str, Any]]:
    """Other options."""
    yield options


VARIANTS: dict[str, Variant] = {
    BEFORE: lambda _: from_the_best(SHARES=()),
    "from the best": lambda _: from_the_best(),
    "0 nats": lambda _: from_the_best(CLEAR=0.0),
    "2 nats": lambda _: from_the_best(CLEAR=2.0),
    "10 nats": lambda _: from_the_best(CLEAR=10.0),
    "span 4": lambda _: from_the_best(SPAN=4.0),
    "finite, too": others(lambda y: [w for w in warp.warps_for(y) if w.share], finite_too=True),
    "from 1/4, 1/8": others(lambda y: [from_share(y, share) for share in (0.25, 0.125)]),
    "before the best": others(lambda y: [before_the_best(y, share, 0.3) for share in warp.SHARES]),
    "chosen, kb": lambda _: given(strategy="kb"),
    "chosen, kernel by evidence": lambda _: given(surrogate=ByKernel("matern52", "matern32")),
    "chosen, levels apart": lambda _: levels_apart(),
    "chosen, inputs warped": lambda finite: given(surrogate=WarpedInputs().suited(finite)),
}
CONFIRMED = (BEFORE, "from the best")


def _levy(Z: Array) -> Array:
    """Levy's function with its optimum at the origin."""
    return synthetic.levy(Z + 1.0)


def _known(make: Callable[[], Problem]) -> Callable[[], Problem]:
    return lambda: replace(make(), kind="rugged")


def _placed(name: str, shape: Callable[[Array], Array], d: int, **options: Any) -> Callable[[], Problem]:
    return lambda: around("rugged", name, shape, d, **options)


RUGGED_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "rugged_ackley8": _known(ackley8),
    "rugged_levy10": _known(levy10),
    **{
        name: _placed(name, shape, d, **options)
        for name, shape, d, options in (
            ("rugged_ackley10", synthetic.ackley, 10, {"seed": 1410}),
            ("rugged_levy8", _levy, 8, {"seed": 1408, "box": (-10.0, 10.0)}),
            ("rugged_rastrigin8", shapes.rastrigin, 8, {"seed": 1418, "box": (-3.0, 3.0)}),
            ("rugged_rastrigin10", shapes.rastrigin, 10, {"seed": 1420, "box": (-2.0, 2.0), "turn": True}),
            ("rugged_cosines8", shapes.cosines, 8, {"seed": 1428}),
            ("rugged_griewank9", shapes.griewank, 9, {"seed": 1409}),
        )
    },
}
PROBLEMS |= RUGGED_PROBLEMS
