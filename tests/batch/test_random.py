from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.stats import chi2

from believer.acquisitions import LogEI
from believer.arrays import Array, BoolArray, frozen, near_any
from believer.batch import Data, Pending, RandomBatch, Request
from believer.batch.random import design, draw
from believer.errors import SpaceExhausted
from believer.maximize.objective import ENUMERATE_UP_TO
from believer.space.box import Block, Box
from believer.surrogates import GP
from believer.surrogates.protocols import Prediction


class Nothing:
    """A model that must not be asked."""

    def predict(self, X: Array) -> Prediction:
        raise AssertionError


def randomness(trial: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng((3, trial, zlib.crc32(purpose.encode())))


def request_for(ids: tuple[int, ...], region: Box, avoid: Array | None = None, distinct: bool = True) -> Request:
    nowhere = np.zeros((0, region.dim))
    return Request.single(
        ids=ids,
        surrogate=GP(),
        acquisition=LogEI(),
        model=Nothing(),
        data=Data(frozen(nowhere), frozen(np.zeros(0))),
        pending=Pending((), frozen(nowhere)),
        region=region,
        avoid=nowhere if avoid is None else avoid,
        distinct=distinct,
        randomness=randomness,
    )


def points(chosen: Any) -> Array:
    return np.array([choice.x for choice in chosen.choices])


def grid(*sizes: int) -> Box:
    blocks = tuple(Block(j, j + 1, frozen(np.linspace(0.0, 1.0, k)[:, None]), True) for j, k in enumerate(sizes))
    return Box(frozen(np.zeros(len(sizes))), frozen(np.ones(len(sizes))), blocks)


def nothing(X: Array) -> BoolArray:
    return np.zeros(len(X), dtype=bool)


# RandomBatch


@pytest.mark.parametrize("region", [Box.cube(3), grid(4, 5), grid(80, 80)], ids=["cube", "small grid", "large grid"])
def test_choosing_at_once_is_choosing_one_at_a_time(region: Box) -> None:
    at_once = RandomBatch().choose(request_for((4, 5, 6), region))
    X = points(at_once)
    for i, trial in enumerate((4, 5, 6)):
        alone = RandomBatch().choose(request_for((trial,), region, avoid=X[:i]))
        np.testing.assert_array_equal(points(alone)[0], X[i])
    assert [choice.provenance for choice in at_once.choices] == ["uniform draw"] * 3
    assert not at_once.choices[0].x.flags.writeable
    np.testing.assert_array_equal(region.project(X), X)


def test_every_trial_has_a_draw_of_its_own() -> None:
    X = points(RandomBatch().choose(request_for(tuple(range(50)), Box.cube(2))))
    assert not any(near_any(X[i : i + 1], X[:i])[0] for i in range(1, 50))
    other = points(RandomBatch().choose(request_for((49, 0), Box.cube(2))))
    np.testing.assert_array_equal(other, X[[49, 0]])


def test_a_finite_region_is_used_up_and_then_exhausted() -> None:
    region = grid(2, 3)
    X = points(RandomBatch().choose(request_for(tuple(range(6)), region)))
    assert len(np.unique(X, axis=0)) == 6
    with pytest.raises(SpaceExhausted, match="every point of this finite space") as caught:
        RandomBatch().choose(request_for((7,), region, avoid=X))
    assert caught.value.left == 0
    repeated = points(RandomBatch().choose(request_for(tuple(range(20)), region, distinct=False)))
    assert len(np.unique(repeated, axis=0)) < 20


# draw


@pytest.mark.parametrize("region", [Box.cube(2), grid(3, 3), grid(80, 80)], ids=["cube", "small grid", "large grid"])
def test_a_first_point_that_will_do_is_taken_as_it_is(region: Box) -> None:
    first = np.array([0.5, 1.0])
    x, replaced = draw(region, np.zeros((0, 2)), np.random.default_rng(0), first)
    assert x is first
    assert not replaced


@pytest.mark.parametrize("region", [Box.cube(2), grid(3, 3), grid(80, 80)], ids=["cube", "small grid", "large grid"])
@pytest.mark.parametrize("why", ["taken", "forbidden"])
def test_a_first_point_that_will_not_do_is_replaced_by_a_uniform_one(region: Box, why: str) -> None:
    first = np.array([0.5, 1.0])
    avoid = first[None, :] + 1e-7 if why == "taken" else np.zeros((0, 2))
    if why == "forbidden":
        region = replace(region, feasible=lambda X: X[:, 1] < 0.6)
    x, replaced = draw(region, avoid, np.random.default_rng(0), first)
    assert replaced
    assert region.holds(x[None, :])[0]
    assert not near_any(x[None, :], avoid)[0]
    alone, flag = draw(region, avoid, np.random.default_rng(0))
    np.testing.assert_array_equal(x, alone)
    assert not flag


def test_draws_avoid_what_was_handed_out() -> None:
    region = grid(4, 4)
    everything = region.points()
    for left in range(16):
        x, _ = draw(region, np.delete(everything, left, axis=0), np.random.default_rng(left))
        np.testing.assert_array_equal(x, everything[left])


def test_draws_from_a_finite_region_are_uniform() -> None:
    region = grid(3, 2)
    rng = np.random.default_rng(0)
    everything = region.points()
    taken = everything[:1]
    draws = np.array([draw(region, taken, rng)[0] for _ in range(1000)])
    counts = np.array([(draws == row).all(axis=1).sum() for row in everything])
    assert counts[0] == 0
    # Pearson's test over the five that are left, with a false-alarm rate of 1e-6; the generator is seeded.
    assert float(((counts[1:] - 200.0) ** 2 / 200.0).sum()) < chi2.isf(1e-6, 4)


def test_draws_from_a_box_are_uniform() -> None:
    region = Box(frozen([-1.0, 2.0]), frozen([1.0, 2.5]))
    rng = np.random.default_rng(0)
    draws = np.array([draw(region, np.zeros((0, 2)), rng)[0] for _ in range(1000)])
    unit = (draws - region.lower) / (region.upper - region.lower)
    counts = np.histogramdd(unit, bins=(4, 4), range=[(0.0, 1.0)] * 2)[0]
    assert counts.sum() == 1000
    assert float(((counts - 62.5) ** 2 / 62.5).sum()) < chi2.isf(1e-6, 15)


def test_a_tight_constraint_is_satisfied() -> None:
    def corner(X: Array) -> BoolArray:
        return np.asarray(X.max(axis=1) < 0.1)

    region = replace(Box.cube(3), feasible=corner)
    x, _ = draw(region, np.zeros((0, 3)), np.random.default_rng(0))
    assert (x < 0.1).all()


@pytest.mark.parametrize("region", [Box.cube(2), grid(3, 3), grid(80, 80)], ids=["cube", "small grid", "large grid"])
def test_a_constraint_that_allows_nothing_is_reported(region: Box) -> None:
    assert (region.size or 0) != ENUMERATE_UP_TO
    with pytest.raises(SpaceExhausted) as caught:
        draw(replace(region, feasible=nothing), np.zeros((0, 2)), np.random.default_rng(0), np.array([0.5, 0.5]))
    assert caught.value.left == 0


# design


@each("n_init", [1, 4, 7])
@each("round_", [0, 1, 3])
def test_every_round_of_the_design_is_a_latin_hypercube(n_init: int, round_: int) -> None:
    indices = range(round_ * n_init, (round_ + 1) * n_init)
    points = np.array([next(design(i, n_init, Box.cube(3), np.random.default_rng(2))) for i in indices])
    slices = np.sort(np.floor(points * n_init), axis=0)
    np.testing.assert_array_equal(slices, np.tile(np.arange(n_init)[:, None], (1, 3)))


def test_the_design_goes_on_beyond_its_first_round_with_new_points() -> None:
    points = np.array([next(design(i, 3, Box.cube(2), np.random.default_rng(2))) for i in range(12)])
    assert not any(near_any(points[i : i + 1], points[:i])[0] for i in range(1, 12))
    again = np.array([next(design(i, 3, Box.cube(2), np.random.default_rng(2))) for i in reversed(range(12))])
    np.testing.assert_array_equal(again[::-1], points)


def test_the_design_lies_in_the_region() -> None:
    region = grid(3, 5)
    points = np.array([next(design(i, 15, region, np.random.default_rng(0))) for i in range(15)])
    np.testing.assert_array_equal(region.project(points), points)
    # Latin in each column: every value of a block as often as any other.
    for block in region.blocks:
        assert len(set(np.bincount(block.nearest(points).astype(int)))) == 1
