"""Laws of the suite: every problem has a class, an optimum that is one, and values that depend on the point only."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.problems import Problem, svm_breast_cancer
from believer.problems.problem import OfRow
from believer.space.parameters import Categorical, Float, Int
from believer_bench.problems import KINDS, PROBLEMS, SUITE, scale_of
from believer_bench.problems.made import place, rotation

RANDOM, ROUNDS, WALKERS = 5000, 100, 40


@cache
def made(name: str) -> Problem:
    return SUITE[name]().without_noise()


@cache
def of_kind(kind: str) -> tuple[str, ...]:
    return tuple(name for name in SUITE if made(name).kind == kind)


by_class = pytest.mark.parametrize("kind", KINDS)


def optimum_of(problem: Problem) -> float:
    assert problem.optimum is not None
    return problem.optimum


def test_the_suite_is_large_enough_and_every_class_has_members() -> None:
    assert len(SUITE) >= 44
    assert len(KINDS) == len(set(KINDS)) == 12
    counts = Counter(made(name).kind for name in SUITE)
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 3
    kinds = [KINDS.index(made(name).kind) for name in SUITE]
    assert kinds == sorted(kinds)


def test_the_suite_is_among_the_problems_and_spans_one_to_thirty_parameters() -> None:
    assert set(SUITE) < set(PROBLEMS)
    assert all(PROBLEMS[name] is SUITE[name] for name in SUITE)
    counts = {len(made(name).space) for name in SUITE}
    assert min(counts) == 1
    assert max(counts) == 30


def values_at(problem: Problem, X: Array) -> Array:
    """The same as ``evaluate``, all rows at once where they can be."""
    if not isinstance(problem.function, OfRow):
        return problem.evaluate(X)
    points = [list(params.values()) for params in problem.space.decode(X)]
    return problem.function.rows(np.array(points, dtype=np.float64))


@by_class
def test_every_optimizer_reaches_the_optimum(kind: str) -> None:
    for name in of_kind(kind):
        problem = made(name)
        assert problem.optimizer, name
        for params in problem.optimizer:
            assert problem.space.check(params) == params, name
            close = pytest.approx(optimum_of(problem), rel=1e-9, abs=1e-9 * scale_of(problem))
            assert problem(params) == close, name


@by_class
def test_nothing_is_below_the_optimum(kind: str) -> None:
    for name in of_kind(kind):
        assert least_found(made(name)) >= optimum_of(made(name)) - 1e-9 * scale_of(made(name)), name


def least_found(problem: Problem) -> float:
    """Of random points, then local search from the best of them and from the optimizer, with steps of all sizes."""
    assert problem.optimizer is not None
    rng, d = np.random.default_rng(0), problem.space.dim
    X = rng.random((RANDOM, d))
    y = values_at(problem, X)
    best = problem.space.encode(problem.optimizer[:1])
    X = np.vstack([np.repeat(best, WALKERS // 2, axis=0), X[np.argsort(y)[: WALKERS // 2]]])
    y = values_at(problem, X)
    for _ in range(ROUNDS):
        sizes = 10.0 ** rng.uniform(-7.0, 0.0, (len(X), 1))
        moved = rng.random(X.shape) < rng.choice([1.0, 1.5 / d, 0.5], (len(X), 1))
        near = np.clip(X + sizes * moved * rng.standard_normal(X.shape), 0.0, 1.0)
        values = values_at(problem, near)
        X, y = np.where((values < y)[:, None], near, X), np.minimum(values, y)
    return float(y.min())


@by_class
def test_a_point_has_one_value_whatever_points_stand_beside_it(kind: str) -> None:
    for name in of_kind(kind):
        problem = made(name)
        if not isinstance(problem.function, OfRow):
            continue
        points = problem.space.decode(np.random.default_rng(0).random((33, problem.space.dim)))
        X = np.array([list(params.values()) for params in points], dtype=np.float64)
        together = problem.function.rows(X)
        for count in (1, 2, 3, 5, 16):
            for first in range(0, len(X) - count, 7):
                some = slice(first, first + count)
                np.testing.assert_array_equal(problem.function.rows(X[some]), together[some], err_msg=name)


@by_class
def test_a_problem_made_again_is_the_same(kind: str) -> None:
    for name in of_kind(kind):
        one, two = SUITE[name](), SUITE[name]()
        assert one == two, name
        assert hash(one) == hash(two), name
        X = np.random.default_rng(1).random((5, one.space.dim))
        np.testing.assert_array_equal(one.evaluate(X), two.evaluate(X), err_msg=name)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("tables", "mixed", "integer")])
def test_the_optimum_is_neither_the_center_nor_on_a_face_unless_the_class_says_so(kind: str) -> None:
    for name in of_kind(kind):
        if name in ("ackley8", "ackley3_of_30"):
            continue
        problem = made(name)
        assert problem.optimizer is not None, name
        U = problem.space.encode(problem.optimizer)
        on_face = ((U == 0.0) | (U == 1.0)).any(axis=1)
        assert on_face.all() == on_face.any() == (kind == "boundary"), name
        assert (np.abs(U - 0.5).max(axis=1) > 0.03).all(), name


def test_the_scale_is_positive_and_kept() -> None:
    for name in SUITE:
        assert 0.0 < scale_of(made(name)) == scale_of(SUITE[name]()) < 1e9, name


def test_a_scale_needs_an_optimum() -> None:
    with pytest.raises(InvalidInput, match="needs a known optimum; 'svm_breast_cancer' has none"):
        scale_of(svm_breast_cancer())


def test_heavy_tails_span_many_decades() -> None:
    for name in of_kind("heavy"):
        problem = made(name)
        assert problem.optimizer is not None
        rng = np.random.default_rng(2)
        near = problem.space.encode(problem.optimizer) + 1e-2 * rng.standard_normal((50, problem.space.dim))
        X = np.vstack([rng.random((RANDOM, problem.space.dim)), np.clip(near, 0.0, 1.0)])
        regrets = problem.evaluate(X) - optimum_of(problem)
        assert regrets.max() / regrets.min() > 1e5, name


def test_the_columns_that_are_not_active_do_nothing() -> None:
    sparse = [name for name in SUITE if "_of_" in name]
    assert len(sparse) >= 3
    for name in sparse:
        problem = made(name)
        rng = np.random.default_rng(3)
        X = np.tile(rng.random((1, problem.space.dim)), (problem.space.dim, 1))
        base = problem.evaluate(X[:1])[0]
        np.fill_diagonal(X, rng.random(problem.space.dim))
        matter = int((problem.evaluate(X) != base).sum())
        assert matter == int(name.partition("_of_")[0][-1]), name


def kinds_of_parameter(name: str) -> set[type]:
    return {type(p) for p in made(name).space.parameters.values()}


def test_grids_and_mixtures_have_the_parameters_that_their_class_says() -> None:
    for name in SUITE:
        if made(name).kind == "integer":
            assert kinds_of_parameter(name) <= {Int, Float}
        elif made(name).kind == "mixed":
            assert {Categorical, Float} <= kinds_of_parameter(name)
        elif made(name).kind != "tables":
            assert kinds_of_parameter(name) == {Float}


@pytest.mark.parametrize("d", [2, 5, 12])
def test_a_rotation_keeps_lengths_and_mixes_all_axes(d: int) -> None:
    R: Array = rotation(d, 7)
    np.testing.assert_allclose(R @ R.T, np.eye(d), atol=1e-13)
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert (np.abs(R) > 1e-6).mean() > 0.9


def test_places_are_fixed_numbers() -> None:
    assert place(3, 103) == (0.883, 0.465, 0.675)
