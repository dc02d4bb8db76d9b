from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from believer.arrays import Array, BoolArray, frozen
from believer.space.box import Block, Box

STEPS = Block(1, 2, frozen([[0.0], [0.2], [1.0]]), ordered=True)
KINDS = Block(2, 4, frozen([[1.0, 0.0], [0.0, 1.0]]), ordered=False)


def mixed(width: float = 0.5) -> Box:
    """One continuous column in [0.25, 0.25 + width], an ordered block, a one-hot block."""
    return Box(frozen([0.25, 0.0, 0.0, 0.0]), frozen([0.25 + width, 1.0, 1.0, 1.0]), (STEPS, KINDS))


def below_half(X: Array) -> BoolArray:
    return X[:, 1] < 0.5


@st.composite
def regions(draw: st.DrawFn) -> Box:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    edges = np.sort(rng.random((2, draw(st.integers(0, 3)))), axis=0)
    lower, upper, blocks = [edges[0]], [edges[1]], []
    start = edges.shape[1]
    for kind in draw(st.lists(st.sampled_from(["ordered", "one-hot"]), min_size=1, max_size=3)):
        k = draw(st.integers(1, 4))
        values = np.unique(rng.random(k))[:, None] if kind == "ordered" else np.eye(k)
        blocks.append(Block(start, start + values.shape[1], frozen(values), kind == "ordered"))
        start += values.shape[1]
        lower.append(values.min(axis=0))
        upper.append(values.max(axis=0))
    return Box(frozen(np.concatenate(lower)), frozen(np.concatenate(upper)), tuple(blocks))


def inside(region: Box, X: Array) -> bool:
    on_blocks = all(
        (X[:, None, block.start : block.stop] == block.values).all(axis=2).any(axis=1).all() for block in region.blocks
    )
    return on_blocks and bool((np.clip(X, region.lower, region.upper) == X).all())


@given(regions(), st.integers(0, 2**32))
def test_snap_gives_the_nearest_point_of_the_region(region: Box, seed: int) -> None:
    X = np.random.default_rng(seed).uniform(-0.5, 1.5, (40, region.dim))
    snapped = region.project(X)
    assert inside(region, snapped)
    np.testing.assert_array_equal(region.project(snapped), snapped)
    clipped = np.clip(X, region.lower, region.upper)
    for block in region.blocks:
        part = clipped[:, None, block.start : block.stop]
        best = ((part - block.values) ** 2).sum(axis=2).min(axis=1)
        taken = ((part[:, 0] - snapped[:, block.start : block.stop]) ** 2).sum(axis=1)
        np.testing.assert_allclose(taken, best, rtol=0.0, atol=1e-15)
    free = region.continuous
    np.testing.assert_array_equal(snapped[:, free], clipped[:, free])


@given(regions(), st.integers(0, 2**32))
def test_spread_stays_in_the_region_and_uses_every_value_equally(region: Box, seed: int) -> None:
    n = 24
    rng = np.random.default_rng(seed)
    U = (rng.permuted(np.tile(np.arange(n), (region.dim, 1)), axis=1).T + rng.random((n, region.dim))) / n
    X = region.spread(U)
    assert inside(region, X)
    for block in region.blocks:
        counts = [int((X[:, block.start : block.stop] == row).all(axis=1).sum()) for row in block.values]
        assert counts == [n // len(block.values)] * len(block.values)


def test_snap_and_spread_leave_their_argument_alone() -> None:
    X = np.full((2, 4), 0.9)
    mixed().project(X)
    mixed().spread(X)
    assert (X == 0.9).all()


def test_snap_by_hand() -> None:
    snapped = mixed().project(np.array([[0.9, 0.59, 0.3, 0.4], [0.0, 0.61, 0.6, 0.2], [0.5, -3.0, 2.0, 1.0]]))
    np.testing.assert_array_equal(snapped, [[0.75, 0.2, 0.0, 1.0], [0.25, 1.0, 1.0, 0.0], [0.5, 0.0, 1.0, 0.0]])


def test_a_tie_goes_to_the_lower_value() -> None:
    halves = Block(0, 1, frozen([[0.0], [0.5], [1.0]]), ordered=True)
    assert halves.nearest(np.array([[0.25], [0.75]])).tolist() == [0, 1]


def test_spread_by_hand() -> None:
    spread = mixed().spread(np.array([[0.0, 0.0, 0.0, 0.9], [0.5, 0.34, 0.49, 0.9], [0.999, 0.999, 0.5, 0.0]]))
    expected = [[0.25, 0.0, 1.0, 0.0], [0.5, 0.2, 1.0, 0.0], [0.7495, 1.0, 0.0, 1.0]]
    np.testing.assert_allclose(spread, expected, rtol=1e-14)


def test_a_block_of_one_value_holds_it() -> None:
    block = Block(0, 1, frozen([[0.3]]), ordered=True)
    region = Box(frozen([0.3]), frozen([0.3]), (block,))
    U = np.linspace(0.0, 0.999, 5)[:, None]
    assert (region.project(U) == 0.3).all()
    assert (region.spread(U) == 0.3).all()
    assert region.size == 1


def test_size_and_enumerate_agree() -> None:
    finite = mixed(width=0.0)
    points = finite.points()
    assert mixed().size is None
    assert finite.size == len(points) == 6
    assert len(np.unique(points, axis=0)) == 6
    assert inside(finite, points)
    assert (points[:, 0] == 0.25).all()


@given(regions())
def test_a_finite_region_enumerates_each_point_once(region: Box) -> None:
    finite = Box(region.lower, np.where(region.continuous, region.lower, region.upper), region.blocks)
    points = finite.points()
    assert len(np.unique(points, axis=0)) == len(points) == finite.size
    assert inside(finite, points)


def test_the_constraint_filters_the_enumeration_but_not_the_size() -> None:
    free = mixed(width=0.0)
    region = Box(free.lower, free.upper, free.blocks, below_half)
    assert region.size == 6
    np.testing.assert_array_equal(region.points(), free.points()[below_half(free.points())])
    assert len(region.points()) == 4


def test_allows_asks_the_constraint_and_is_true_without_one() -> None:
    X = np.array([[0.5, 0.2, 1.0, 0.0], [0.5, 1.0, 1.0, 0.0]])
    region = mixed()
    assert region.holds(X).tolist() == [True, True]
    assert Box(region.lower, region.upper, region.blocks, below_half).holds(X).tolist() == [True, False]


def test_continuous_columns_are_those_with_width_and_no_block() -> None:
    assert mixed().continuous.tolist() == [True, False, False, False]
    assert not mixed(width=0.0).continuous.any()


@pytest.mark.parametrize("d", [1, 5])
def test_cube(d: int) -> None:
    cube = Box.cube(d)
    U = np.random.default_rng(0).random((10, d))
    assert (cube.dim, cube.size, cube.blocks) == (d, None, ())
    assert cube.continuous.all()
    np.testing.assert_array_equal(cube.spread(U), U)
    np.testing.assert_array_equal(cube.project(U * 3.0 - 1.0), np.clip(U * 3.0 - 1.0, 0.0, 1.0))


def test_the_points_of_a_finite_region_are_listed_once_and_stay_as_they_are() -> None:
    asked: list[int] = []

    def feasible(X: Array) -> BoolArray:
        asked.append(len(X))
        return below_half(X)

    region = replace(mixed(width=0.0), feasible=feasible)
    points = region.points()
    assert region.points() is points
    assert len(asked) == 1
    assert not points.flags.writeable
    assert replace(region, feasible=None).points().shape != points.shape
