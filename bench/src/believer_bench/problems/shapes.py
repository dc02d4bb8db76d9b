"""Shapes: functions of z (m, d) that are least, 0, at the origin, from which the problems of the suite are made.

Sums and products run over coordinates; powers are products, which are the same to the bit on every processor.
"""

from __future__ import annotations

import numpy as np

from believer.arrays import Array


def sphere(Z: Array) -> Array:
    """Σ z_j²."""
    return _sum(Z * Z)


def chained(Z: Array) -> Array:
    """Σ z_j² + Σ (z_j + z_{j+1})² + Σ z_j⁴ / 50: a bowl whose neighbors interact."""
    squares, pairs = Z * Z, Z[:, :-1] + Z[:, 1:]
    return _sum(squares) + _sum(pairs * pairs) + _sum(squares * squares) / 50.0


def cone(Z: Array) -> Array:
    """√(1 + Σ j z_j²) - 1: a bowl near its optimum, a cone far from it."""
    values: Array = np.sqrt(1.0 + _sum(_ranks(Z) * Z * Z)) - 1.0
    return values


def cosines(Z: Array) -> Array:
    """Σ (z_j² / 10 + 1 - cos 1.5 z_j): a bowl with gentle waves."""
    return _sum(Z * Z / 10.0 + 1.0 - np.cos(1.5 * Z))


def trid(Z: Array) -> Array:
    """Σ z_j² - Σ z_j z_{j+1}: a quadratic whose smallest curvature falls as 1 / d²."""
    return _sum(Z * Z) - _sum(Z[:, :-1] * Z[:, 1:])


def exp_bowl(Z: Array) -> Array:
    """exp(Σ z_j² / 7) - 1, over many decades on [-5, 5]^d."""
    values: Array = np.expm1(sphere(Z) / 7.0)
    return values


def sextic(Z: Array) -> Array:
    """(Σ j z_j²)³: flat near its optimum, steep far from it."""
    bowl = _sum(_ranks(Z) * Z * Z)
    return bowl * bowl * bowl


def rosenbrock(Z: Array) -> Array:
    """Σ (100 (x_{j+1} - x_j²)² + (1 - x_j)²), x = z + 1: a bent valley."""
    X = Z + 1.0
    bend, rest = X[:, 1:] - X[:, :-1] * X[:, :-1], Z[:, :-1]
    return _sum(100.0 * bend * bend + rest * rest)


def zakharov(Z: Array) -> Array:
    """Σ z_j² + s² + s⁴, s = Σ j z_j / 2: a valley whose walls rise with the fourth power."""
    s = _sum(_ranks(Z) * Z) / 2.0
    return sphere(Z) + s * s + s * s * s * s


def ellipsoid3(Z: Array) -> Array:
    """Σ κ^((j-1)/(d-1)) z_j², of condition κ = 1e3."""
    return _ellipsoid(Z, 3.0)


def ellipsoid4(Z: Array) -> Array:
    """The same of condition 1e4."""
    return _ellipsoid(Z, 4.0)


def ellipsoid6(Z: Array) -> Array:
    """The same of condition 1e6."""
    return _ellipsoid(Z, 6.0)


def bent_cigar(Z: Array) -> Array:
    """z_1² + 1e4 Σ_{j>1} y_j², y_2 = z_2 + z_1² / 5 and y_j = z_j: one long direction, which is no line."""
    Y = Z.copy()
    Y[:, 1] += Z[:, 0] * Z[:, 0] / 5.0
    Y *= Y
    return Y[:, 0] + 1e4 * _sum(Y[:, 1:])


def discus(Z: Array) -> Array:
    """1e4 z_1² + Σ_{j>1} z_j²: one short direction."""
    Y = Z * Z
    return 1e4 * Y[:, 0] + _sum(Y[:, 1:])


def different_powers(Z: Array) -> Array:
    """Σ |z_j|^(2 + k_j), k = 0, 1, 2, 3, 4, 0, ...: near the optimum, high powers hardly matter."""
    A = np.abs(Z)
    terms = A * A
    for power in range(1, 5):
        later = np.arange(Z.shape[1]) % 5 >= power
        terms[:, later] *= A[:, later]
    return _sum(terms)


def rastrigin(Z: Array) -> Array:
    """Σ (z_j² + 10 (1 - cos 2π z_j))."""
    return _sum(Z * Z + 10.0 * (1.0 - np.cos(2.0 * np.pi * Z)))


def griewank(Z: Array) -> Array:
    """Σ y_j² / 4000 + 1 - Π cos(y_j / √j), y = 20 z: ripples that fade beside the bowl."""
    Y = 20.0 * Z
    values: Array = _sum(Y * Y) / 4000.0 + 1.0 - np.cos(Y / np.sqrt(_ranks(Z))).prod(axis=1)
    return values


def lunacek(Z: Array) -> Array:
    """min(Σ z_j², d + 0.8 Σ (z_j - 4)²) + 5 Σ (1 - cos 2π z_j): two funnels, the wider one of them higher."""
    other = Z - 4.0
    funnels = np.minimum(sphere(Z), Z.shape[1] + 0.8 * sphere(other))
    values: Array = funnels + 5.0 * _sum(1.0 - np.cos(2.0 * np.pi * Z))
    return values


def step_ellipsoid(Z: Array) -> Array:
    """max(|z_1| / 1e4, Σ 10^(2(j-1)/(d-1)) s_j²) / 10, s the z rounded to 1, or to 0.1 within ±0.5: plateaus."""
    S = np.where(np.abs(Z) > 0.5, np.floor(Z + 0.5), np.floor(10.0 * Z + 0.5) / 10.0)
    values: Array = 0.1 * np.maximum(np.abs(Z[:, 0]) / 1e4, _ellipsoid(S, 2.0))
    return values


def floors(Z: Array) -> Array:
    """⌊2 Σ z_j²⌋ / 2: a bowl in steps, flat at the bottom."""
    values: Array = np.floor(2.0 * sphere(Z)) / 2.0
    return values


def jumps(Z: Array) -> Array:
    """Σ z_j² + 6 Σ j [z_j > 0.4]: the optimum is near cliffs."""
    return sphere(Z) + 6.0 * _sum(np.where(Z > 0.4, _ranks(Z), 0.0))


def plain(Z: Array) -> Array:
    """min(1, Σ z_j² / 9): a flat plain with one funnel of radius 3."""
    values: Array = np.minimum(1.0, sphere(Z) / 9.0)
    return values


def stairs(Z: Array) -> Array:
    """Σ (⌊1.5 |z_j| + 0.5⌋ + z_j² / 20): stairs on a shallow bowl."""
    return _sum(np.floor(1.5 * np.abs(Z) + 0.5) + Z * Z / 20.0)


def fading(Z: Array) -> Array:
    """Σ 4^(1-j) z_j² + Σ 4^(-j) (z_j - z_{j+1})²: every coordinate matters four times less than the one before."""
    weights, pairs = np.exp2(2.0 - 2.0 * _ranks(Z)), Z[:, :-1] - Z[:, 1:]
    return _sum(weights * Z * Z) + _sum(weights[:-1] / 4.0 * pairs * pairs)


def _ellipsoid(Z: Array, decades: float) -> Array:
    return _sum(10.0 ** (decades * np.linspace(0.0, 1.0, Z.shape[1])) * Z * Z)


def _ranks(Z: Array) -> Array:
    """1, ..., d."""
    return np.arange(1.0, Z.shape[1] + 1.0)


def _sum(terms: Array) -> Array:
    values: Array = np.ascontiguousarray(terms).sum(axis=1)
    return values
