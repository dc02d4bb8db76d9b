"""Projections, chords and climbs where linear sums hold: the compiled module against the Python twin."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_native_lbfgs import Odd, holes, kinks, quadratic, waves
from twins import compiled, native, python

import believer as bv
from believer.arrays import Array
from believer.maximize.climb import projected
from believer.numerics.lbfgs import BatchFunction, Settings
from believer.space import chords
from believer.space.polytope import Polytope
from believer.space.projection import onto_rules

Sums = tuple[Array, Array, Array, Array, Array]


def separate(seed: int, d: int, rules: int) -> Sums:
    """A box, and rules that share no column and hold somewhere in it: A, low, high, lower, upper."""
    rng = np.random.default_rng(seed)
    lower = np.where(rng.random(d) < 0.3, rng.random(d), 0.0)
    upper = np.where(rng.random(d) < 0.2, lower, lower + 2.0 * rng.random(d))  # some columns are held
    A, inside = np.zeros((rules, d)), lower + rng.random(d) * (upper - lower)
    cuts = [0, *sorted(rng.integers(1, d, rules - 1).tolist()), d]
    for r, (first, end) in enumerate(pairwise(cuts)):
        A[r, first:end] = rng.choice([1.0, 1.0, -1.0, 0.3, 1e-3], end - first)
    total = A @ inside
    low = np.where(rng.random(rules) < 0.3, -np.inf, total - rng.choice([0.0, 0.0, 0.3], rules))
    return A, low, np.maximum(total, low) + rng.choice([0.0, 0.2], rules), lower, upper


@settings(max_examples=150)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 3), st.sampled_from([0.1, 2.0, 1e6]))
def test_projections_of_the_twins_agree_and_keep_the_sums(seed: int, d: int, rules: int, far: float) -> None:
    A, low, high, lower, upper = separate(seed, d, rules)
    parts = tuple((np.array([r]), np.flatnonzero(A[r])) for r in range(rules) if A[r].any())
    A, low, high = (part[[rows[0] for rows, _ in parts]] for part in (A, low, high))
    parts = tuple((np.array([r]), columns) for r, (_, columns) in enumerate(parts))
    P = far * np.random.default_rng(seed).standard_normal((7, d))
    one, other = (run(lambda: onto_rules(P, lower, upper, A, low, high, parts)) for run in (python, compiled))
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-11 * max(far, 1.0))
    assert ((other >= lower) & (other <= upper)).all()
    slack = 1e-11 * max(far, 1.0)
    assert ((other @ A.T >= low - slack) & (other @ A.T <= high + slack)).all()
    floor, roof = (np.repeat(end[None, :], len(P), axis=0) for end in (lower, upper))
    np.testing.assert_array_equal(compiled(lambda: onto_rules(P, floor, roof, A, low, high, parts)), other)


def region_of(parts: int, further: bool = False) -> Polytope:
    """A mixture, and with ``further`` a second rule and columns that are in none."""
    names = [f"p{i}" for i in range(parts)]
    space: dict[str, Any] = {name: bv.Float(0, 1) for name in names}
    rules: list[Any] = [bv.sum_to(names, 1.0)]
    if further:
        space |= {"u": bv.Float(0, 1), "v": bv.Float(0, 2), "w": bv.Float(0, 1), "kind": bv.Categorical(["a", "b"])}
        rules.append(bv.linear({"u": 1.0, "v": 2.0}, at_most=1.5))
    region = bv.Space(space, rules=rules).region()
    assert isinstance(region, Polytope)
    return region


@pytest.mark.parametrize("further", [False, True])
def test_chords_of_the_twins_agree(further: bool) -> None:
    region = region_of(6, further)
    U = np.random.default_rng(0).random((200, len(region._basis) + 1))
    one, other = (
        run(lambda: chords.spread(region.rules, region._basis, region._known, U)) for run in (python, compiled)
    )
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12)


class Upward:
    """A function to be minimized, as an objective to be maximized."""

    has_gradient = True

    def __init__(self, function: BatchFunction) -> None:
        self.function, self.seen = function, list[Array]()

    def value(self, X: Array) -> Array:
        return -self.function(X)[0]

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        self.seen.append(X.copy())
        f, G = self.function(X)
        return -f, -G


def climbs(function: BatchFunction, region: Polytope, rules: Settings, starts: int, seed: int) -> list[Any]:
    """What both twins find, and the points that they asked for."""
    X, found = region.sample(starts, np.random.default_rng(seed)), []
    for run in (python, compiled):
        objective = Upward(function)
        ends = run(lambda o=objective: projected(o, region, X, rules, 0.5, region.free(X)[0]))  # type: ignore[misc]
        found.append((*ends, objective.seen))
    return found


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(2, 8),
    st.integers(1, 6),
    st.sampled_from([1.0, 3.0]),
    st.sampled_from([None, 3, 5]),
    st.booleans(),
)
def test_climbs_of_the_twins_take_the_same_steps(
    seed: int, parts: int, starts: int, condition: float, heat: int | None, further: bool
) -> None:
    region = region_of(parts, further)
    rules = Settings(max_rounds=60, heat=heat, finalists=2, gradient_tol=1e-6, value_tol=1e-9)
    one, other = climbs(quadratic(seed, region.dim, condition), region, rules, starts, seed)
    np.testing.assert_allclose(one[0], other[0], rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-8, atol=1e-10)
    for left, right in zip(one[2][:6], other[2][:6], strict=True):
        np.testing.assert_allclose(left, right, rtol=0.0, atol=1e-8)
    assert region.holds(other[0]).all()


@pytest.mark.parametrize("function", [waves, holes, kinks], ids=lambda f: f.__name__)
@pytest.mark.parametrize("max_rounds", [0, 1, 2, 9])
def test_climbs_of_the_twins_make_the_same_calls_on_hard_functions(function: BatchFunction, max_rounds: int) -> None:
    rules = Settings(max_rounds=max_rounds, heat=4, finalists=2)
    one, other = climbs(function, region_of(3), rules, 6, 0)
    assert [len(X) for X in one[2]] == [len(X) for X in other[2]]
    np.testing.assert_allclose(one[0], other[0], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(one[1], other[1], rtol=1e-9, atol=1e-12)


def test_what_an_objective_raises_in_a_climb_comes_through() -> None:
    def raises(X: Array) -> tuple[Array, Array]:
        raise Odd(X)

    region = region_of(3)
    X = region.sample(2, np.random.default_rng(0))
    with pytest.raises(Odd):
        compiled(lambda: projected(Upward(raises), region, X, Settings(), 1.0, region.free(X)[0]))


def test_a_sum_takes_columns_once() -> None:
    with pytest.raises(ValueError, match="column 1 is in two"):
        native.Sums(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.zeros(2), np.ones(2))


def test_a_mixture_is_asked_for_by_compiled_code_without_a_callback(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", "b", "c"]
    study = bv.Optimizer(bv.Space({n: bv.Float(0, 1) for n in names}, rules=[bv.sum_to(names, 1.0)]), seed=0)
    for trial in study.ask(8):
        study.tell(trial, sum((v - 0.3) ** 2 for v in trial.params.values()))
    monkeypatch.setattr(native, "Callback", None)  # to call it would be a TypeError
    compiled(lambda: study.ask(3))
