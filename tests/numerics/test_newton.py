from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.numerics.newton import CurvedFunction, Settings, minimize

WIDE = np.full(3, -50.0), np.full(3, 50.0)


class Counted:
    """An objective that remembers where it was asked."""

    def __init__(self, objective: CurvedFunction) -> None:
        self.objective, self.asked = objective, list[Array]()

    def __call__(self, x: Array) -> tuple[float, Array, Array]:
        self.asked.append(x.copy())
        return self.objective(x)


def bowl(center: Array, A: Array, said: float = 1.0) -> Counted:
    """½ (x - c)ᵀ A (x - c), which says that its curvature is ``said`` times A."""
    return Counted(lambda x: (float(0.5 * (x - center) @ A @ (x - center)), A @ (x - center), said * A))


def curved(d: int = 3, seed: int = 0) -> Array:
    root = np.random.default_rng(seed).standard_normal((d, d))
    A: Array = root @ root.T + 0.1 * np.eye(d)
    return A


def valley(x: Array) -> tuple[float, Array, Array]:
    """Rosenbrock's function, with the curvature of Gauss and Newton."""
    a, b = 1.0 - x[0], x[1] - x[0] ** 2
    gradient = np.array([-2.0 * a - 400.0 * x[0] * b, 200.0 * b])
    along = np.array([-2.0 * x[0], 1.0])
    return float(a * a + 100.0 * b * b), gradient, np.diag([2.0, 0.0]) + 200.0 * np.outer(along, along)


def test_a_parabola_that_says_its_curvature_takes_one_step_and_no_value_to_confirm_it() -> None:
    center = np.array([0.3, -0.4, 0.5])
    objective = bowl(center, curved())
    x, f = minimize(objective, np.zeros(3), *WIDE)
    np.testing.assert_allclose(x, center, atol=1e-12)
    assert f == pytest.approx(0.0, abs=1e-20)
    assert len(objective.asked) == 2


def test_where_nothing_is_to_be_gained_there_is_one_value() -> None:
    center = np.array([0.3, -0.4, 0.5])
    objective = bowl(center, curved())
    x, _ = minimize(objective, center + 1e-6, *WIDE)
    assert len(objective.asked) == 1
    np.testing.assert_array_equal(x, center + 1e-6)


@settings(max_examples=40)
@given(st.floats(0.05, 10.0), st.integers(0, 50))
def test_a_curvature_that_is_wrong_by_a_factor_costs_steps_but_not_the_minimum(said: float, seed: int) -> None:
    center = np.random.default_rng(seed).uniform(-2.0, 2.0, 3)
    objective = bowl(center, curved(seed=seed), said)
    _, f = minimize(objective, np.zeros(3), *WIDE, Settings(gain_tol=1e-9))
    assert f < 1e-6
    assert len(objective.asked) < 40


def test_a_narrow_valley_is_followed_to_its_end() -> None:
    objective = Counted(valley)
    rules = Settings(gain_tol=1e-12, max_values=200)
    x, _ = minimize(objective, np.array([-1.2, 1.0]), np.full(2, -5.0), np.full(2, 5.0), rules)
    np.testing.assert_allclose(x, 1.0, atol=1e-4)


@settings(max_examples=60)
@given(st.integers(0, 10_000))
def test_the_minimum_over_a_box_satisfies_its_first_order_conditions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, center = curved(4, seed), rng.uniform(-2.0, 2.0, 4)
    lower, upper = rng.uniform(-1.0, 0.0, 4), rng.uniform(0.0, 1.0, 4)
    objective = bowl(center, A)
    x, _ = minimize(objective, rng.uniform(-1.0, 1.0, 4), lower, upper, Settings(gain_tol=1e-12))
    assert ((lower <= x) & (x <= upper)).all()
    g = A @ (x - center)
    inward = np.where(x - lower <= 1e-6, np.minimum(g, 0.0), np.where(upper - x <= 1e-6, np.maximum(g, 0.0), g))
    np.testing.assert_allclose(inward, 0.0, atol=1e-3 * max(1.0, np.abs(A).max()))
    assert all(((lower <= point) & (point <= upper)).all() for point in objective.asked)


def test_no_coordinate_moves_farther_than_it_may_in_one_step() -> None:
    objective = bowl(np.full(3, 20.0), np.eye(3))
    minimize(objective, np.zeros(3), *WIDE, Settings(longest=0.5))
    moves = np.abs(np.diff(np.array(objective.asked), axis=0)).max(axis=1)
    assert moves.max() <= 0.5 + 1e-12


def test_values_that_are_not_finite_are_backed_away_from() -> None:
    def walled(x: Array) -> tuple[float, Array, Array]:
        if x[0] > 1.0:
            return np.nan, np.full(1, np.nan), np.eye(1)
        return float((x[0] - 0.9) ** 2), 2.0 * (x - 0.9), 0.02 * np.eye(1)

    x, _ = minimize(walled, np.array([-1.0]), np.array([-5.0]), np.array([5.0]), Settings(longest=4.0, gain_tol=1e-9))
    assert x[0] == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize("spoiled", [np.nan, np.inf])
def test_a_start_without_a_finite_value_stays_with_infinity(spoiled: float) -> None:
    x, f = minimize(lambda x: (spoiled, np.ones(2), np.eye(2)), np.array([2.0, -2.0]), -np.ones(2), np.ones(2))
    np.testing.assert_array_equal(x, [1.0, -1.0])
    assert f == np.inf


@pytest.mark.parametrize("most", [1, 2, 5])
def test_there_are_no_more_values_than_asked_for(most: int) -> None:
    objective = Counted(valley)
    minimize(objective, np.array([-1.2, 1.0]), np.full(2, -5.0), np.full(2, 5.0), Settings(max_values=most))
    assert len(objective.asked) <= most


def test_values_never_rise() -> None:
    box = np.full(2, -5.0), np.full(2, 5.0)
    ends = [minimize(valley, np.array([-1.2, 1.0]), *box, Settings(1e-9, most))[1] for most in range(1, 40)]
    assert all(after <= before for before, after in pairwise(ends))


@pytest.mark.parametrize("B", [np.zeros((2, 2)), np.diag([1.0, -1.0])])
def test_a_curvature_that_is_not_positive_definite_promises_nothing(B: Array) -> None:
    x, f = minimize(lambda x: (float(x @ x), 2.0 * x, B), np.array([0.3, -0.2]), -np.ones(2), np.ones(2))
    np.testing.assert_array_equal(x, [0.3, -0.2])
    assert f == pytest.approx(0.13)
