"""Noise of the suite: known truth, replicates that differ, and results that a seed fixes."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.problems import Problem, hartmann6
from believer_bench.contest import Contest
from believer_bench.problems import SUITE, noisy, scale_of, shifted
from believer_bench.problems.replicates import Gaussian, Growing, NoiseLaw, Outliers, replicated

NOISY = [name for name, make in SUITE.items() if make().kind == "noisy"]
QUIET = [name for name in SUITE if name not in NOISY]


def point(problem: Problem) -> dict[str, float]:
    assert problem.optimizer is not None
    return problem.optimizer[0]


@pytest.mark.parametrize("name", NOISY)
def test_truth_is_known_and_is_what_the_noise_surrounds(name: str) -> None:
    problem = SUITE[name]()
    assert problem.truth is not None
    draws = np.array([problem(point(problem)) for _ in range(1000)])
    assert problem.truth(point(problem)) == pytest.approx(problem.optimum, abs=1e-9 * scale_of(problem))
    assert problem.without_noise()(point(problem)) == problem.truth(point(problem))
    # The median has 1.25 standard errors of the mean; six of them.
    spread = float(np.subtract(*np.quantile(draws, [0.84, 0.16]))) / 2.0
    assert abs(np.median(draws) - problem.truth(point(problem))) < 6.0 * 1.26 * spread / math.sqrt(1000)


@pytest.mark.parametrize("name", NOISY)
def test_replicates_differ_and_a_seed_fixes_them(name: str) -> None:
    X = np.repeat(np.random.default_rng(0).random((3, SUITE[name]().space.dim)), 4, axis=0)
    values = SUITE[name]().evaluate(X)
    assert len(set(values)) == len(X)
    np.testing.assert_array_equal(SUITE[name]().evaluate(X), values)
    np.testing.assert_array_equal(SUITE[name]().seeded(0).evaluate(X), values)
    other = SUITE[name]().seeded(1)
    assert not set(other.evaluate(X)) & set(values)
    np.testing.assert_array_equal(other.seeded(0).evaluate(X), values)


def test_the_order_of_other_points_does_not_matter() -> None:
    X = np.random.default_rng(1).random((20, 6))
    forward, backward = (SUITE["hartmann6_noise1"]().evaluate(rows) for rows in (X, X[::-1]))
    np.testing.assert_array_equal(forward, backward[::-1])


@pytest.mark.parametrize("name", QUIET)
def test_a_seed_changes_nothing_where_there_is_no_noise(name: str) -> None:
    problem = SUITE[name]()
    assert problem.truth is None
    assert problem.seeded(3) is problem.without_noise() is problem


def test_a_race_gets_the_noise_of_its_seed() -> None:
    X = np.random.default_rng(2).random((4, 2))
    for seed in (0, 5):
        contest = Contest.from_settings({"problem": "branin_noise50"}, seed)
        np.testing.assert_array_equal(contest.values(X), SUITE["branin_noise50"]().seeded(seed).evaluate(X))
    assert Contest.from_settings({"problem": "branin_noise50"}, 5).settings == {"problem": "branin_noise50"}


def draws_of(law: NoiseLaw, height: float, count: int = 4000) -> Array:
    rng = np.random.default_rng(3)
    return np.array([law(height, rng) for _ in range(count)])


def test_laws_have_the_spread_that_they_say() -> None:
    # Five standard errors of a standard deviation over 4000 normal draws.
    near = 5.0 / math.sqrt(2 * 4000)
    laws: list[tuple[NoiseLaw, float, float]] = [
        (Gaussian(0.1), 9.0, 0.1),
        (Growing(0.02, 0.4), 0.0, 0.02),
        (Growing(0.02, 0.4), 4.0, 0.82),
        (Growing(0.3, -0.2), 0.25, 0.2),
        (Growing(0.3, -0.2), 100.0, 0.03),
    ]
    for law, height, std in laws:
        assert draws_of(law, height).std() == pytest.approx(std, rel=near)
    far = np.abs(draws_of(Outliers(0.02, 0.05, 1.0), 1.0)) > 0.5
    assert far.mean() == pytest.approx(0.05, abs=5.0 * math.sqrt(0.05 * 0.95 / 4000))


def test_the_wrappers_keep_the_truth_and_pass_the_seed_on() -> None:
    plain = hartmann6()
    X = np.random.default_rng(4).random((5, 6))
    problem = noisy(plain, 0.5, 7)
    assert problem.truth is plain.function
    np.testing.assert_array_equal(problem.seeded(8).evaluate(X), noisy(plain, 0.5, 8).evaluate(X))
    np.testing.assert_array_equal(noisy(problem, 1.0, 9).without_noise().evaluate(X), plain.evaluate(X))
    moved, offset = shifted(problem, np.full(6, 0.25)), np.full(6, 0.25)
    np.testing.assert_array_equal(moved.without_noise().evaluate(X), shifted(plain, offset).evaluate(X))
    np.testing.assert_array_equal(moved.seeded(8).evaluate(X), shifted(noisy(plain, 0.5, 8), offset).evaluate(X))
    assert shifted(plain, offset).seeded(8).function == shifted(plain, offset).function


def test_what_was_evaluated_goes_with_a_copy() -> None:
    problem = SUITE["branin_noise50"]()
    first = problem(point(problem))
    copied = pickle.loads(pickle.dumps(problem))
    assert copied == problem
    assert copied(point(problem)) == problem(point(problem)) != first


def test_a_seed_must_be_a_whole_number() -> None:
    with pytest.raises(InvalidInput, match="seed must be"):
        SUITE["branin_noise50"]().seeded(-1)
    with pytest.raises(InvalidInput, match="seed must be"):
        replicated(hartmann6(), Gaussian(1.0), 1.0, -1)
