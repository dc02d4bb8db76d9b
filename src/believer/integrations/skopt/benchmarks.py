"""The test functions that scikit-optimize has in ``skopt.benchmarks``; each takes a point, a list."""

from math import cos, pi
from typing import Any

import numpy as np

_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_SCALES = np.array(
    [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
)
_CENTERS = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def bench1(x: Any) -> Any:
    """A square, least at 0."""
    return x[0] ** 2


def bench1_with_time(x: Any) -> tuple[Any, float]:
    """The value of ``bench1``, and a made-up evaluation time in seconds."""
    return bench1(x), 2.22


def bench2(x: Any) -> Any:
    """Two squares: -5 at 5, and 0 at 0."""
    return (x[0] - 5) ** 2 - 5 if x[0] >= 0 else bench1(x)


def bench3(x: Any) -> Any:
    """A wave that fades: about -0.9 at -0.3."""
    return (1 - np.tanh(x[0] ** 2)) * np.sin(5 * x[0])


def bench4(x: Any) -> float:
    """The square of a number in text, for categories."""
    return float(x[0]) ** 2


def bench5(x: Any) -> float:
    """The square of a number in text and that of a number, for mixed spaces."""
    return bench4(x) + x[1] ** 2  # type: ignore[no-any-return]


def branin(
    x: Any,
    a: float = 1,
    b: float = 5.1 / (2 * pi) ** 2,
    c: float = 5 / pi,
    r: float = 6,
    s: float = 10,
    t: float = 1 / (8 * pi),
) -> float:
    """Branin's function on [-5, 10] x [0, 15]: 0.397887 at (-pi, 12.275), (pi, 2.275) and (9.42478, 2.475)."""
    valley = x[1] + x[0] * (c - b * x[0]) - r
    return float(a * valley**2 + s * (1 - t) * cos(x[0]) + s)


def hart6(x: Any, alpha: Any = _WEIGHTS, P: Any = _CENTERS, A: Any = _SCALES) -> float:
    """Hartmann's function in the unit cube of six dimensions, -3.32237 where it is least."""
    return float(-np.exp(-(A * np.square(np.asarray(x) - P)).sum(axis=1)) @ alpha)
