"""Noisy results: Gaussian of 1, 10 and 50 % of the problem's scale, noise that depends on the place, and outliers.

The scale is the median of truth - optimum over uniform points (``scale_of``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from believer.problems import synthetic
from believer.problems.known import branin, hartmann6
from believer.problems.problem import Problem
from believer_bench.problems import shapes
from believer_bench.problems.made import around
from believer_bench.problems.replicates import Gaussian, Growing, NoiseLaw, Outliers, replicated
from believer_bench.problems.scale import scale_of

KIND = "noisy"
SEED = 0
"""Of the noise, until ``Problem.seeded`` sets another."""


def branin_noise50() -> Problem:
    """Branin, Gaussian noise of 50 %."""
    return _noisy("branin_noise50", branin(), Gaussian(0.5))


def rosenbrock3_noise10() -> Problem:
    """A bent valley in 3-D, Gaussian noise of 10 %."""
    base = around(KIND, "rosenbrock3", shapes.rosenbrock, 3, seed=903, box=(-2.0, 2.0))
    return _noisy("rosenbrock3_noise10", base, Gaussian(0.1))


def bowl4_loud() -> Problem:
    """A turned bowl in 4-D; the noise grows from 2 % at the optimum to about 50 % far from it."""
    base = around(KIND, "bowl4", shapes.chained, 4, seed=904, turn=True, least=-12.0)
    return _noisy("bowl4_loud", base, Growing(0.02, 0.4))


def ackley4_outliers() -> Problem:
    """A funnel in 4-D, noise of 2 %, and 5 % of the results off by the scale or more."""
    base = around(KIND, "ackley4", synthetic.ackley, 4, seed=914)
    return _noisy("ackley4_outliers", base, Outliers(0.02, 0.05, 1.0))


def hartmann6_noise1() -> Problem:
    """Hartmann-6D, Gaussian noise of 1 %."""
    return _noisy("hartmann6_noise1", hartmann6(), Gaussian(0.01))


def trid6_quiet() -> Problem:
    """A quadratic form in 6-D; the noise is 30 % at the optimum and less far from it."""
    base = around(KIND, "trid6", shapes.trid, 6, seed=906, least=7.0)
    return _noisy("trid6_quiet", base, Growing(0.3, -0.2))


def cosines8_noise50() -> Problem:
    """Gentle waves in 8-D, Gaussian noise of 50 %."""
    return _noisy("cosines8_noise50", around(KIND, "cosines8", shapes.cosines, 8, seed=908), Gaussian(0.5))


def _noisy(name: str, base: Problem, law: NoiseLaw) -> Problem:
    named = replace(base, name=name, kind=KIND)
    return replicated(named, law, scale_of(named), SEED)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "branin_noise50": branin_noise50,
    "rosenbrock3_noise10": rosenbrock3_noise10,
    "bowl4_loud": bowl4_loud,
    "ackley4_outliers": ackley4_outliers,
    "hartmann6_noise1": hartmann6_noise1,
    "trid6_quiet": trid6_quiet,
    "cosines8_noise50": cosines8_noise50,
}
