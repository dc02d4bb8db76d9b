"""Test functions with known optima, vectorized over rows.

The three of the paper's experiments ([paper] appendix "Experimental setup"): Hartmann-6D, Ackley-8D, Levy-10D; and a
1-D and a 2-D function to draw.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array

_HARTMANN_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(X: Array) -> Array:
    """Hartmann-6D on [0, 1]^6; least value -3.32237 at (0.2017, 0.1500, 0.4769, 0.2753, 0.3117, 0.6573)."""
    inner = ((X[:, None, :] - _HARTMANN_P) ** 2 * _HARTMANN_A).sum(axis=2)
    values: Array = -(np.exp(-inner) * _HARTMANN_ALPHA).sum(axis=1)
    return values


def ackley(X: Array) -> Array:
    """Ackley in any dimension (a=20, b=0.2, c=2π); least value 0 at the origin."""
    slope = -20.0 * np.exp(-0.2 * np.sqrt((X**2).mean(axis=1)))
    values: Array = slope - np.exp(np.cos(2.0 * np.pi * X).mean(axis=1)) + 20.0 + np.e
    return values


def levy(X: Array) -> Array:
    """Levy in any dimension; least value 0 at (1, ..., 1)."""
    w = 1.0 + (X - 1.0) / 4.0
    head = np.sin(np.pi * w[:, 0]) ** 2
    body = ((w[:, :-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:, :-1] + 1.0) ** 2)).sum(axis=1)
    tail = (w[:, -1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[:, -1]) ** 2)
    values: Array = head + body + tail
    return values


def wave1(X: Array) -> Array:
    """A 1-D function on [0, 1] to draw: sin(3πx) + x² - 0.7x, least at x = 0.4967; both ends are local minima."""
    x = X[:, 0]
    values: Array = np.sin(3.0 * np.pi * x) + x**2 - 0.7 * x
    return values


def branin(X: Array) -> Array:
    """Branin on [-5, 10] x [0, 15]; least value 0.397887 at three points."""
    a, b = X[:, 0], X[:, 1]
    bowl = (b - 5.1 / (4.0 * np.pi**2) * a**2 + 5.0 / np.pi * a - 6.0) ** 2
    values: Array = bowl + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0
    return values
