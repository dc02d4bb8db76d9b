from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from batch_requests import data_for, model_of, pending, request_for
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.batch.hallucination import hallucinated
from believer.batch.relevance import Assured, Exploration, relevance
from believer.batch.request import Request
from believer.maximize import Maximum, Objective, Search
from believer.space.box import Block, Box
from believer.testing import FakeSurrogate

PLANE = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 101)] * 2), axis=-1).reshape(-1, 2)
LINE = np.linspace(0.0, 1.0, 2001)[:, None]
TABLE = Box(
    frozen(np.zeros(2)),
    frozen(np.ones(2)),
    (
        Block(0, 1, frozen(np.linspace(0.0, 1.0, 4)[:, None]), ordered=True),
        Block(1, 2, frozen(np.linspace(0.0, 1.0, 3)[:, None]), ordered=True),
    ),
)
"""Twelve cells."""


def asked(d: int = 2, n: int = 12, seed: int = 0, noise: float = 1e-6) -> Request:
    data = data_for(d, n, seed)
    return request_for(data=data, model=model_of(data, noise), maximizer=None)


def bounds(request: Request, X: Array, root: float) -> tuple[Array, Array]:
    """μ - root σ and μ + root σ."""
    at = request.model.predict(X)
    return at.mean - root * at.std, at.mean + root * at.std


cases = given(
    d=st.sampled_from([1, 2]),
    n=st.integers(1, 30),
    seed=st.integers(0, 99),
    beta=st.floats(0.01, 9.0),
    noise=st.sampled_from([1e-6, 0.1]),
)


@settings(max_examples=10)
@cases
def test_the_least_upper_bound_is_that_of_a_grid_or_below(d: int, n: int, seed: int, beta: float, noise: float) -> None:
    request = asked(d, max(n, 2), seed, noise)
    where = relevance(request, beta)
    least = bounds(request, LINE if d == 1 else PLANE, np.sqrt(beta))[1].min()
    # A climb rests when a step gains less than 1e-6 of the value.
    assert where.threshold <= least + 1e-5 * abs(least)
    # σ comes from a difference: alone or among others, a point gets another rounding of it.
    assert where.threshold == pytest.approx(bounds(request, where.best[None, :], np.sqrt(beta))[1][0], rel=1e-8)


@settings(max_examples=10)
@cases
def test_whoever_has_the_least_lower_bound_is_relevant(d: int, n: int, seed: int, beta: float, noise: float) -> None:
    request = asked(d, max(n, 2), seed, noise)
    where = relevance(request, beta)
    grid = np.vstack([LINE if d == 1 else PLANE, where.best])
    lower, _ = bounds(request, grid, np.sqrt(beta))
    assert where.holds(grid[[int(lower.argmin()), -1]]).all()


def test_a_point_is_relevant_if_twice_the_doubt_could_bring_it_below_what_is_sure() -> None:
    request = asked()
    where = relevance(request, 2.0)
    lower, _ = bounds(request, PLANE, 2.0 * np.sqrt(2.0))
    np.testing.assert_array_equal(where.holds(PLANE), lower <= where.threshold)
    assert 0.02 < where.holds(PLANE).mean() < 0.98


def test_more_doubt_makes_more_points_relevant() -> None:
    request = asked(n=25)
    held = [relevance(request, beta).holds(PLANE) for beta in (0.05, 0.5, 2.0, 8.0)]
    for narrow, wide in pairwise(held):
        assert (narrow <= wide).all()
    assert held[0].sum() < held[-1].sum()


def test_the_share_is_that_of_a_grid() -> None:
    request = asked(n=25)
    for beta in (0.1, 0.5, 2.0):
        where = relevance(request, beta)
        assert where.share == pytest.approx(where.holds(PLANE).mean(), abs=0.03)


def test_the_share_of_a_finite_space_is_counted() -> None:
    request = replace(asked(), region=TABLE)
    where = relevance(request, 0.5)
    assert where.share == where.holds(TABLE.points()).mean()
    assert where.describe() == f"the relevant region ({100.0 * where.share:.0f} % of the space)"
    assert replace(where, share=0.004).describe() == "the relevant region (under 1 % of the space)"


def test_the_region_is_the_same_for_every_trial_until_a_result_comes_in() -> None:
    request = asked()
    other = replace(pending(request, (20, 21), np.array([[0.5, 0.5], [0.1, 0.9]])), ids=(22,))
    one, two = relevance(request, 1.5), relevance(other, 1.5)
    assert (one.threshold, one.share) == (two.threshold, two.share)
    np.testing.assert_array_equal(one.best, two.best)


@dataclass(frozen=True)
class Hopeless:
    """Finds the corner, whatever is asked."""

    def maximize(self, objective: Objective, search: Search, rng: np.random.Generator) -> Maximum:
        x = np.ones(search.region.dim)
        return Maximum(x, float(objective.value(x[None, :])[0]), 0)


def test_no_search_ends_above_the_best_result() -> None:
    request = replace(asked(), maximizer=Hopeless())
    where = relevance(request, 2.0)
    best = request.data.X[[request.data.y.argmin()]]
    # Alone a point is predicted to rounding as among others: ε cond(K) with cond(K) up to n over the noise of 1e-6.
    rounding = 2.2e-16 * len(request.data.y) / 1e-6 * float(np.ptp(request.data.y))
    assert where.threshold <= bounds(request, best, np.sqrt(2.0))[1][0] + rounding


def test_places_that_the_space_forbids_assure_nothing() -> None:
    request = asked()
    best = request.data.X[request.data.y.argmin()]
    assert isinstance(request.region, Box)
    fenced = replace(request.region, feasible=lambda X: np.abs(X - best).max(axis=1) > 0.2)
    where = relevance(replace(request, region=fenced), 2.0)
    assert fenced.holds(where.best[None, :])[0]
    assert where.threshold > relevance(request, 2.0).threshold


@pytest.mark.parametrize("wall", [False, True])
def test_the_gradient_of_exploration_is_that_of_its_differences(wall: bool) -> None:
    request = asked(n=25)
    where = relevance(request, 0.5)
    told = hallucinated(request, "ucb_pe").conditioned(np.array([[0.3, 0.8]]))
    objective = Exploration(told.model, where, wall)
    X = np.random.default_rng(1).random((40, 2))
    inside = where.holds(X)
    assert inside.any()
    assert not inside.all()
    value, gradient = objective.value_with_gradient(X)
    # A variance of 1e-6 of the prior one is known to eps / 1e-6.
    np.testing.assert_allclose(value, objective.value(X), rtol=1e-9)
    for j in range(2):
        step = np.zeros(2)
        step[j] = 1e-6
        central = (objective.value(X + step) - objective.value(X - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], central, rtol=1e-5, atol=1e-6)


def test_the_upper_bound_has_the_derivatives_that_it_says() -> None:
    mean, std = np.array([0.3, -1.0]), np.array([0.5, 2.0])
    at = Assured(1.5).pointwise(mean, std, 0.0)
    np.testing.assert_allclose(at.value, -(mean + 1.5 * std))
    np.testing.assert_array_equal([at.by_mean, at.by_std], [[-1.0, -1.0], [-1.5, -1.5]])


def test_behind_the_wall_nothing_is_as_good_as_inside() -> None:
    request = asked(n=25)
    where = relevance(request, 0.5)
    told = hallucinated(request, "ucb_pe")
    walled = Exploration(told.model, where, True).value(PLANE)
    sloped = Exploration(told.model, where, False).value(PLANE)
    inside = where.holds(PLANE)
    assert walled[~inside].max() < 0.0 < walled[inside].min()
    np.testing.assert_array_equal(walled[inside], told.model.predict(PLANE).std[inside])
    np.testing.assert_array_equal(sloped[inside], walled[inside])
    np.testing.assert_allclose(sloped[~inside] - walled[~inside], told.model.predict(PLANE).std[~inside])


def test_a_model_without_gradients_is_explored_all_the_same() -> None:
    data = data_for()
    request = request_for(data=data, model=FakeSurrogate().fit(data, np.random.default_rng(0)))
    where = relevance(replace(request, maximizer=None), 1.0)
    assert not Exploration(request.model, where, True).has_gradient
    assert where.holds(where.best[None, :])[0]
