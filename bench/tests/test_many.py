"""Problems of many dimensions, and TuRBO beside which they are raced."""

from __future__ import annotations

import numpy as np
import pytest

from believer import Float, Space
from believer_bench.problems.many import MANY, rover_hills, rover_path
from believer_bench.turbo import FIRST, LARGEST, SMALLEST, Turbo

SPACE = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})


@pytest.mark.parametrize("name", MANY)
def test_a_point_has_the_same_value_whatever_stands_beside_it(name: str) -> None:
    problem = MANY[name]()
    X = np.random.default_rng(0).random((5, problem.space.dim))
    values = problem.evaluate(X)
    params = problem.space.decode(X)
    assert [problem(one) for one in params] == values.tolist()
    for best in problem.optimizer or ():
        assert problem.optimum is not None
        assert abs(problem(best) - problem.optimum) < 1e-9


def test_a_rover_goes_from_the_start_to_the_goal_within_the_hull_of_its_control_points() -> None:
    X = np.random.default_rng(1).random((3, 60))
    path = rover_path(X)
    np.testing.assert_allclose(path[:, 0], [[0.05, 0.05]] * 3, atol=1e-12)
    np.testing.assert_allclose(path[:, -1], [[0.95, 0.95]] * 3, atol=1e-9)
    assert (path >= 0.0).all()
    assert (path <= 1.0).all()


def test_hills_are_what_a_straight_way_costs_beyond_its_length() -> None:
    problem = MANY["rover60"]()
    along = 0.05 + 0.9 * np.linspace(0.0, 1.0, 32)[1:-1]
    straight = problem.evaluate(np.repeat(along, 2)[None, :])[0]
    length = 0.9 * np.sqrt(2.0)
    centers, radii = rover_hills()
    away = np.abs(centers[:, 0] - centers[:, 1]) / np.sqrt(2.0)
    chords = 2.0 * np.sqrt(np.maximum(radii**2 - away**2, 0.0)).sum()
    assert length < straight < length + 20.0 * 1.5 * chords
    assert problem.evaluate(np.random.default_rng(0).random((20, 60))).min() > 5.0 * straight


def bowl(X: np.ndarray) -> np.ndarray:
    values: np.ndarray = ((X - 0.3) ** 2).sum(axis=1)
    return values


def test_turbo_comes_near_the_optimum_and_its_box_shrinks() -> None:
    X = np.random.default_rng(0).random((6, 2))
    turbo = Turbo(SPACE, X, bowl(X), 0, False)
    best = bowl(X).min()
    for _ in range(8):
        batch = turbo.ask(5)
        assert batch.shape == (5, 2)
        assert len(np.unique(batch, axis=0)) == 5
        turbo.tell(batch, bowl(batch))
        best = min(best, bowl(batch).min())
    assert best < 1e-3
    assert turbo._length < FIRST


def test_turbo_grows_after_three_successes_halves_after_a_failure_and_begins_again_when_it_is_tiny() -> None:
    X = np.random.default_rng(0).random((4, 2))
    turbo = Turbo(SPACE, X, np.full(4, 10.0) + X[:, 0], 0, False)
    for i in range(3):
        turbo.tell(turbo.ask(4), np.full(4, 5.0 - i))
    assert turbo._length == LARGEST
    halvings = 0
    while turbo._length > 2.0 * SMALLEST:
        turbo.tell(turbo.ask(4), np.full(4, 100.0 + halvings))
        halvings += 1
    assert halvings == int(np.log2(LARGEST / SMALLEST))
    turbo.tell(turbo.ask(4), np.full(4, 200.0))
    assert turbo._length == FIRST
    assert len(turbo.ask(4)) == 4
