"""The multi-start search: the compiled module against the Python twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import native, python

from believer.arrays import Array
from believer.numerics import lbfgs
from believer.numerics.lbfgs import BatchFunction, Minimum, Settings


def minimized(
    objective: BatchFunction, X0: Array, lower: Array, upper: Array, rules: Settings, moves: Array | None = None
) -> Minimum:
    """The compiled search of a function in Python."""
    flags = np.ones(len(lower), dtype=np.uint8) if moves is None else moves.astype(np.uint8)
    return Minimum(*native.minimize(native.Callback(objective, len(lower)), X0, lower, upper, flags, 1.0, rules))


def quadratic(seed: int, d: int, condition: float) -> BatchFunction:
    """A convex quadratic with its minimum in [-0.5, 1.5]ᵈ: inside the unit cube or beyond some of its sides."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    H = Q * np.geomspace(1.0, condition, d) @ Q.T
    center = rng.uniform(-0.5, 1.5, d)

    def value(X: Array) -> tuple[Array, Array]:
        slope = (X - center) @ H
        return 0.5 * ((X - center) * slope).sum(axis=1), slope

    return value


def rosenbrock(X: Array) -> tuple[Array, Array]:
    a, b = X[:, :-1], X[:, 1:]
    bend, lag = b - a * a, 1.0 - a
    G = np.zeros_like(X)
    G[:, :-1] -= 400.0 * a * bend + 2.0 * lag
    G[:, 1:] += 200.0 * bend
    return (100.0 * bend**2 + lag**2).sum(axis=1), G


def waves(X: Array) -> tuple[Array, Array]:
    """Many local minima, and stretches that curve downwards."""
    frequency = np.arange(3.0, 3.0 + X.shape[1])
    return (np.sin(frequency * X) + X * X).sum(axis=1), frequency * np.cos(frequency * X) + 2.0 * X


def holes(X: Array) -> tuple[Array, Array]:
    """A quadratic with a strip of NaN, and one of infinite gradients, on the way to its minimum."""
    f, G = np.square(X - 0.4).sum(axis=1), 2.0 * (X - 0.4)
    return np.where((X[:, 0] > 0.45) & (X[:, 0] < 0.5), np.nan, f), np.where((X > 0.2) & (X < 0.25), np.inf, G)


def flat(X: Array) -> tuple[Array, Array]:
    return np.full(len(X), 3.0), np.zeros_like(X)


def linear(X: Array) -> tuple[Array, Array]:
    slope = np.resize([1.0, -2.0, 1e-3, 0.0], X.shape[1])
    return X @ slope, np.tile(slope, (len(X), 1))


def kinks(X: Array) -> tuple[Array, Array]:
    return np.abs(X - 0.3).sum(axis=1), np.sign(X - 0.3)


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(1, 10),
    st.integers(1, 7),
    st.sampled_from([1.0, 3.0, 10.0]),
    st.sampled_from([None, 3, 5]),
    st.integers(1, 4),
    st.integers(1, 8),
)
def test_searches_of_the_twins_take_the_same_steps(
    seed: int, d: int, starts: int, condition: float, heat: int | None, finalists: int, memory: int
) -> None:
    objective = quadratic(seed, d, condition)
    rules = Settings(max_rounds=200, heat=heat, finalists=finalists, memory=memory)
    X0 = np.random.default_rng(seed).uniform(-0.5, 1.5, (starts, d))
    one = python(lambda: lbfgs.minimize(objective, X0, np.zeros(d), np.ones(d), rules))
    other = minimized(objective, X0, np.zeros(d), np.ones(d), rules)
    assert one.rounds == other.rounds
    np.testing.assert_allclose(one.X, other.X, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(one.f, other.f, rtol=1e-9, atol=1e-12)


HARD: dict[str, tuple[BatchFunction, int, float]] = {
    "rosenbrock 2-D": (rosenbrock, 2, 2.0),
    "rosenbrock 10-D": (rosenbrock, 10, 2.0),
    "rosenbrock cut off": (rosenbrock, 4, 0.7),
    "stretched": (quadratic(3, 6, 1e4), 6, 1.0),
    "waves": (waves, 3, 1.0),
    "holes": (holes, 2, 1.0),
}


@pytest.mark.parametrize("name", HARD)
def test_searches_of_the_twins_end_at_the_same_minima(name: str) -> None:
    objective, d, side = HARD[name]
    rules = Settings(max_rounds=1000, gradient_tol=1e-7, value_tol=0.0)
    X0 = np.random.default_rng(1).uniform(-side, side, (8, d))
    lower, upper = np.full(d, -side), np.full(d, side)
    one = python(lambda: lbfgs.minimize(objective, X0, lower, upper, rules))
    other = minimized(objective, X0, lower, upper, rules)
    np.testing.assert_allclose(np.sort(one.f), np.sort(other.f), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(one.X, other.X, rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("objective", [flat, linear, kinks], ids=lambda f: f.__name__)
@pytest.mark.parametrize("d", [1, 4])
def test_searches_of_the_twins_treat_flat_and_kinked_functions_alike(objective: BatchFunction, d: int) -> None:
    X0 = np.random.default_rng(2).random((5, d))
    one = python(lambda: lbfgs.minimize(objective, X0, np.zeros(d), np.ones(d)))
    other = minimized(objective, X0, np.zeros(d), np.ones(d), Settings())
    np.testing.assert_allclose(one.X, other.X, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(one.f, other.f, rtol=1e-12, atol=1e-12)
    assert one.rounds == other.rounds


@pytest.mark.parametrize("max_rounds", [0, 1, 2, 3, 9])
def test_searches_of_the_twins_make_the_same_calls(max_rounds: int) -> None:
    seen: dict[str, list[Array]] = {"one": [], "other": []}

    def watched(name: str) -> BatchFunction:
        def value(X: Array) -> tuple[Array, Array]:
            seen[name].append(X.copy())
            return waves(X)

        return value

    rules = Settings(max_rounds=max_rounds, heat=4, finalists=2)
    X0 = np.random.default_rng(3).uniform(-2.0, 2.0, (6, 3))
    one = python(lambda: lbfgs.minimize(watched("one"), X0, -np.ones(3), np.ones(3), rules))
    other = minimized(watched("other"), X0, -np.ones(3), np.ones(3), rules)
    assert one.rounds == other.rounds == len(seen["other"]) == max(1, max_rounds)
    for left, right in zip(seen["one"], seen["other"], strict=True):
        np.testing.assert_allclose(left, right, rtol=0.0, atol=1e-9)
        assert (np.abs(right) <= 1.0).all()


@pytest.mark.parametrize("spoil", [np.nan, np.inf, -np.inf])
def test_a_start_that_is_not_finite_stays_with_infinity_and_disturbs_no_other(spoil: float) -> None:
    def objective(X: Array) -> tuple[Array, Array]:
        f, G = np.square(X - 0.4).sum(axis=1), 2.0 * (X - 0.4)
        return np.where(X[:, 0] > 0.9, spoil, f), G

    X0 = np.array([[0.1, 0.1], [0.95, 0.2], [0.8, 0.9]])
    one = python(lambda: lbfgs.minimize(objective, X0, np.zeros(2), np.ones(2)))
    other = minimized(objective, X0, np.zeros(2), np.ones(2), Settings())
    np.testing.assert_array_equal(other.X[1], X0[1])
    assert other.f[1] == np.inf
    np.testing.assert_allclose(one.X, other.X, atol=1e-9)
    assert one.rounds == other.rounds


def test_columns_that_do_not_move_stay_where_they_are_bit_for_bit() -> None:
    moves = np.array([True, False, True, False])
    X0 = np.random.default_rng(4).random((5, 4))

    def held(X: Array) -> tuple[Array, Array]:
        f, G = rosenbrock(X)
        return f, np.where(moves, G, 0.0)

    one = python(lambda: lbfgs.minimize(held, X0, np.zeros(4), np.ones(4)))
    other = minimized(rosenbrock, X0, np.zeros(4), np.ones(4), Settings(), moves)
    np.testing.assert_array_equal(other.X[:, ~moves], X0[:, ~moves])
    np.testing.assert_allclose(one.X, other.X, atol=1e-6)
    assert (other.X[:, moves] != X0[:, moves]).any(axis=1).all()


def test_a_factor_scales_what_is_minimized() -> None:
    callback, moves = native.Callback(waves, 3), np.ones(3, dtype=np.uint8)
    X0, box = np.random.default_rng(5).random((4, 3)), (-np.ones(3), np.ones(3))
    down = native.minimize(callback, X0, *box, moves, 1.0, Settings())
    up = native.minimize(
        native.Callback(lambda X: tuple(-4.0 * part for part in waves(X)), 3), X0, *box, moves, -0.25, Settings()
    )
    np.testing.assert_array_equal(down[0], up[0])
    np.testing.assert_array_equal(down[1], up[1])


def test_the_starts_are_left_alone_and_read_only_arrays_are_welcome() -> None:
    arrays = np.random.default_rng(6).uniform(-2.0, 2.0, (3, 3)), -np.ones(3), np.ones(3)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False

    def read_only(X: Array) -> tuple[Array, Array]:
        answer = waves(X)
        for part in answer:
            part.flags.writeable = False
        return answer

    minimized(read_only, *arrays, Settings())
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


class Odd(Exception):
    """An exception with something to lose."""

    def __init__(self, payload: object) -> None:
        super().__init__("odd")
        self.payload = payload


@each("kind", [Odd, KeyboardInterrupt, ValueError, SystemExit, StopIteration])
@each("call", [1, 2, 5])
def test_what_an_objective_raises_comes_through_unchanged(kind: type[BaseException], call: int) -> None:
    error, calls = kind(object()), 0

    def objective(X: Array) -> tuple[Array, Array]:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return waves(X)

    with pytest.raises(kind) as caught:
        minimized(objective, np.zeros((2, 3)), -np.ones(3), np.ones(3), Settings(gradient_tol=0.0, value_tol=0.0))
    assert caught.value is error
    assert calls == call
    assert "objective" in [entry.name for entry in caught.traceback]


def test_what_an_objective_raises_when_it_is_asked_alone_comes_through_too() -> None:
    def objective(X: Array) -> tuple[Array, Array]:
        raise Odd(len(X))

    with pytest.raises(Odd):
        native.Callback(objective, 3).value_with_gradient(np.zeros((2, 3)))


WRONG: dict[str, Callable[[Array], Any]] = {
    "too few values": lambda X: (np.zeros(len(X) - 1), np.zeros_like(X)),
    "too few gradients": lambda X: (np.zeros(len(X)), np.zeros_like(X)[1:]),
    "too few columns": lambda X: (np.zeros(len(X)), np.zeros_like(X)[:, 1:]),
    "values in a table": lambda X: (np.zeros((len(X), 1)), np.zeros_like(X)),
    "no gradients": lambda X: np.zeros(len(X)),
    "nothing": lambda X: None,
    "texts": lambda X: (["a"] * len(X), np.zeros_like(X)),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_objective_with_the_wrong_answer_is_an_error(name: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        minimized(WRONG[name], np.zeros((3, 2)), -np.ones(2), np.ones(2), Settings())
