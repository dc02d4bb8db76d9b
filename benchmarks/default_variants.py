"""What default.py runs: the variants of the default that were tried, and the rugged problems beside the suite.

A variant is a context manager: it is told whether the space is finite, puts what it changes in its place, and gives
the options of the optimizer. "before" is the default of the round before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

import believer as bv
from believer.arrays import Array
from believer.numerics.sampling import normal
from believer.problems import Problem, synthetic
from believer.problems.known import ackley8, levy10
from believer.study import models
from believer.surrogates import gp_fit
from believer.surrogates.data import MIN_SCALE
from believer.surrogates.gp_fit import DEFAULT, SEPARATE, LogNormal, Preset
from believer.surrogates.warp import REACH, Warp
from believer_bench.problems import PROBLEMS, shapes
from believer_bench.problems.made import around

Variant = Callable[[bool], AbstractContextManager[dict[str, Any]]]

BEFORE = "before"


def lengthscale(center: float = 0.25, std: float = 0.5, shared: float = 1.0) -> Preset:
    """The preset of log ℓ/√d ~ N(μ, std), μ ~ N(log center, shared)."""
    return replace(DEFAULT, lengthscale=LogNormal(math.log(center), std, shared=shared))


@contextmanager
def under(finite: bool, prior: str, preset: Preset | None = None, **options: Any) -> Iterator[dict[str, Any]]:
    """A prior of lengthscales by name, in spaces that are not finite; ``preset`` is what the name means meanwhile."""
    kept = gp_fit.PRIORS.get(prior)
    if preset is not None:
        gp_fit.PRIORS[prior] = preset
    try:
        yield {"surrogate": bv.GP(prior=SEPARATE if finite else prior), **options}
    finally:
        if preset is not None:
            gp_fit.PRIORS.pop(prior) if kept is None else gp_fit.PRIORS.__setitem__(prior, kept)


def of(prior: str, preset: Preset | None = None, **options: Any) -> Variant:
    """A variant by :func:`under`."""
    return lambda finite: under(finite, prior, preset, **options)


def later(results: float, preset: Preset, **options: Any) -> Variant:
    """A mean in common from so many results a lengthscale on, and given means before."""

    @contextmanager
    def variant(finite: bool) -> Iterator[dict[str, Any]]:
        kept, gp_fit.SHARED_FROM = gp_fit.SHARED_FROM, results
        try:
            with under(finite, "tried", preset, **options) as given:
                yield given
        finally:
            gp_fit.SHARED_FROM = kept

    return variant


def warp_from(y: Array, share: float) -> Warp | None:
    """As ``warp_for``, but the warp begins at the best ``share`` of results in place of the median."""
    ordered = np.sort(y)
    m = float(np.quantile(ordered, share))
    below = ordered[ordered < m]
    if not len(below) or not float(ordered[-1]) - m > REACH * (m - float(ordered[0])):
        return None
    z = normal(np.array([share])) - normal((np.arange(len(below)) + 0.5) / len(y))
    scale = math.sqrt(float(((m - below) ** 2).sum()) / float((z**2).sum()))
    return Warp(m, scale) if scale >= MIN_SCALE else None


def warps(variant: Variant, everywhere: bool = True) -> Variant:
    """A variant with warps from the best quarter and eighth of results as well, by evidence; up to 100 results.

    everywhere: in finite spaces, too.
    """

    @contextmanager
    def warped(finite: bool) -> Iterator[dict[str, Any]]:
        kept = models.warps_for
        if everywhere or not finite:
            models.warps_for = lambda y: (*kept(y), *filter(None, (warp_from(y, share) for share in (0.25, 0.125))))
        try:
            with variant(finite) as options:
                yield options
        finally:
            models.warps_for = kept

    return warped


VARIANTS: dict[str, Variant] = {
    BEFORE: later(0.0, lengthscale()),
    "separate": of(SEPARATE),
    "0.35, 1": later(0.0, lengthscale(0.35)),
    "0.5, 1": later(0.0, lengthscale(0.5)),
    "0.35, 0.5": later(0.0, lengthscale(0.35, shared=0.5)),
    "0.5, 0.5": later(0.0, lengthscale(0.5, shared=0.5)),
    "0.5, 0.35": later(0.0, lengthscale(0.5, shared=0.35)),
    "0.7, 0.5": later(0.0, lengthscale(0.7, shared=0.5)),
    "0.5, 0.5, apart 0.35": later(0.0, lengthscale(0.5, 0.35, 0.5)),
    "0.5, 0.5, apart 0.75": later(0.0, lengthscale(0.5, 0.75, 0.5)),
    "0.7, 1": later(0.0, lengthscale(0.7)),
    "1, 1": later(0.0, lengthscale(1.0)),
    **{f"from {n} d": later(n, lengthscale()) for n in (3, 4, 5, 6)},
    **{f"0.5, 1, from {n} d": later(n, lengthscale(0.5)) for n in (3, 4, 5)},
    "chosen, kb": later(3, lengthscale(0.5), strategy="kb"),
    "chosen, warps": warps(later(3, lengthscale(0.5))),
    "chosen, warps, not finite": warps(later(3, lengthscale(0.5)), everywhere=False),
}
CONFIRMED = (BEFORE, "0.5, 1, from 3 d", "chosen, warps, not finite")


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
