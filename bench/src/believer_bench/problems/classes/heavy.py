"""Heavy tails: values over six decades and more, so that a mean and a variance say little."""

from __future__ import annotations

from collections.abc import Callable

from believer.arrays import Array
from believer.problems.problem import Problem
from believer_bench.problems import shapes
from believer_bench.problems.made import around, uniform

KIND = "heavy"
_SPIKES = uniform(201, 6, 2, low=-5.0, high=5.0)


def spiky(Z: Array) -> Array:
    """|z|² (1 + Σ_k 100 / (1e-4 + |z - s_k|²)): spikes of up to 1e6 times the bowl at six places s_k."""
    gaps = ((Z[:, None, :] - _SPIKES) ** 2).sum(axis=2)
    values: Array = shapes.sphere(Z) * (1.0 + (100.0 / (1e-4 + gaps)).sum(axis=1))
    return values


def spikes2() -> Problem:
    """2-D, a bowl with spikes upward."""
    return around(KIND, "spikes2", spiky, 2, seed=202)


def sextic3() -> Problem:
    """3-D, the third power of a turned bowl."""
    return around(KIND, "sextic3", shapes.sextic, 3, seed=203, turn=True, least=-7.0)


def exp_bowl4() -> Problem:
    """4-D, the exponential of a bowl."""
    return around(KIND, "exp_bowl4", shapes.exp_bowl, 4, seed=204, least=2.0)


def rosenbrock5() -> Problem:
    """5-D, a bent valley."""
    return around(KIND, "rosenbrock5", shapes.rosenbrock, 5, seed=205)


def zakharov10() -> Problem:
    """10-D, walls that rise with the fourth power."""
    return around(KIND, "zakharov10", shapes.zakharov, 10, seed=210)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "spikes2": spikes2,
    "sextic3": sextic3,
    "exp_bowl4": exp_bowl4,
    "rosenbrock5": rosenbrock5,
    "zakharov10": zakharov10,
}
