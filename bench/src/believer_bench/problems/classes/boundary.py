"""The optimum lies on faces, edges or a corner of the box.

| symbol | meaning | shape |
|---|---|---|
| t | distance from the faces that the optimum is on, 0 at the optimum | (m, k) |
| z | coordinates of the others around the optimum | (m, d - k) |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from believer.arrays import Array
from believer.problems.problem import Problem, floats
from believer_bench.problems import shapes
from believer_bench.problems.made import place

KIND = "boundary"


@dataclass(frozen=True, slots=True)
class OnFaces:
    """least + form(t, z) on the unit cube: t = |x_j - side_j| where ``sides`` is 0 or 1, z = x_j - c_j elsewhere."""

    form: Callable[[Array, Array], Array]
    sides: tuple[float, ...]
    least: float = 0.0

    def __call__(self, X: Array) -> Array:
        """Values (m,) at ``X`` (m, d)."""
        Z = X - np.array(self.sides)
        on_face = [j for j, side in enumerate(self.sides) if side in (0.0, 1.0)]
        inside = [j for j, side in enumerate(self.sides) if side not in (0.0, 1.0)]
        return self.least + self.form(np.abs(np.take(Z, on_face, axis=1)), np.take(Z, inside, axis=1))


def bent(T: Array, Z: Array) -> Array:
    """Σ j t_j (1.2 + sin(4 z̄ + t_j)) + 4 |z|², z̄ the sum of z: a slope whose steepness depends on the rest."""
    steepness: Array = 1.2 + np.sin(4.0 * Z.sum(axis=1)[:, None] + T)
    return _ranked(T * steepness) + 4.0 * shapes.sphere(Z)


def slope(T: Array, Z: Array) -> Array:
    """Σ j t_j: linear, a corner is best."""
    return _ranked(T)


def past(T: Array, Z: Array) -> Array:
    """Σ ((t_j + 0.3)² - 0.09) + 3 |z|² + z̄²: a bowl whose center is outside of the box."""
    total: Array = Z.sum(axis=1)
    values: Array = shapes.sphere(T) + 0.6 * T.sum(axis=1) + 3.0 * shapes.sphere(Z) + total * total
    return values


def roots(T: Array, Z: Array) -> Array:
    """Σ j √t_j / 4: infinitely steep at a corner."""
    return _ranked(np.sqrt(T)) / 4.0


def rippled(T: Array, Z: Array) -> Array:
    """Σ j t_j + Σ (4 z_k² + 1 - cos 12 z_k) / 2: faces, and ripples along them."""
    values: Array = _ranked(T) + (4.0 * Z * Z + 1.0 - np.cos(12.0 * Z)).sum(axis=1) / 2.0
    return values


def bent4() -> Problem:
    """4-D, on an edge of two faces; the slope changes along them."""
    return _on_faces("bent4", bent, (1.0, 0.0, None, None), 804)


def slope5() -> Problem:
    """5-D, linear, at a corner."""
    return _on_faces("slope5", slope, (1.0, 0.0, 0.0, 1.0, 1.0), 805, least=-15.0)


def past6() -> Problem:
    """6-D, a bowl whose center lies outside of three faces."""
    return _on_faces("past6", past, (None, 0.0, None, 1.0, 1.0, None), 806, least=2.0)


def roots8() -> Problem:
    """8-D, steepest at a corner."""
    return _on_faces("roots8", roots, (0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0), 808)


def rippled10() -> Problem:
    """10-D, on five faces, with ripples along the rest."""
    sides = (None, 1.0, None, 0.0, 0.0, None, 1.0, None, None, 1.0)
    return _on_faces("rippled10", rippled, sides, 810)


def _on_faces(
    name: str,
    form: Callable[[Array, Array], Array],
    sides: tuple[float | None, ...],
    seed: int,
    least: float = 0.0,
) -> Problem:
    """The optimum is on the given sides, and at a place by ``seed`` where none is given."""
    inside = place(len(sides), seed)
    best = tuple(u if side is None else side for side, u in zip(sides, inside, strict=True))
    return floats(name, OnFaces(form, best, least), [(0.0, 1.0)] * len(sides), least, [best], KIND)


def _ranked(T: Array) -> Array:
    """Σ j t_j."""
    values: Array = (np.arange(1.0, T.shape[1] + 1.0) * T).sum(axis=1)
    return values


MEMBERS: dict[str, Callable[[], Problem]] = {
    "bent4": bent4,
    "slope5": slope5,
    "past6": past6,
    "roots8": roots8,
    "rippled10": rippled10,
}
