from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.stats import qmc

from believer.arrays import Array
from believer.numerics.sampling import SOBOL_COLUMNS, latin_hypercube, normal_sobol, sobol, sobol_integers

Sampler = Callable[[int, int, np.random.Generator], Array]
MEMBERS = [latin_hypercube, sobol]


def slices(points: Array, n: int) -> Any:
    """Which of n equal slices of each axis a point is in, sorted along each axis."""
    return np.sort(np.floor(points * n).astype(int), axis=0)


@each("member", MEMBERS)
@each(("n", "d"), [(0, 3), (1, 1), (2, 3), (7, 5), (100, 1), (50, 70)])
def test_points_lie_in_the_cube_and_come_from_the_generator_alone(member: Sampler, n: int, d: int) -> None:
    points = member(n, d, np.random.default_rng(0))
    assert points.shape == (n, d)
    assert points.dtype == np.float64
    assert ((points >= 0.0) & (points < 1.0)).all()
    np.testing.assert_array_equal(points, member(n, d, np.random.default_rng(0)))
    assert (points != member(n, d, np.random.default_rng(1))).all()


@pytest.mark.parametrize("n", [1, 2, 5, 64, 1000])
def test_latin_hypercube_has_one_point_in_each_slice_of_each_axis(n: int) -> None:
    points = latin_hypercube(n, 4, np.random.default_rng(n))
    np.testing.assert_array_equal(slices(points, n), np.tile(np.arange(n)[:, None], (1, 4)))


def test_latin_hypercube_permutes_each_axis_on_its_own_and_fills_the_slices() -> None:
    points = latin_hypercube(1000, 3, np.random.default_rng(0))
    # Five standard errors of a correlation and of a mean over 1000 independent draws.
    assert np.abs(np.corrcoef(points.T) - np.eye(3)).max() < 5 / np.sqrt(1000)
    within = points * 1000 % 1.0
    assert np.abs(within.mean(axis=0) - 0.5).max() < 5 / np.sqrt(12 * 1000)
    assert np.ptp(within, axis=0).min() > 0.9


def test_sobol_has_the_points_of_scipy() -> None:
    ours = sobol_integers(256, SOBOL_COLUMNS) / 2.0**30
    theirs = qmc.Sobol(SOBOL_COLUMNS, scramble=False).random(256)
    assert SOBOL_COLUMNS == 64
    np.testing.assert_array_equal(ours[np.lexsort(ours.T[::-1])], theirs[np.lexsort(theirs.T[::-1])])


def test_a_shorter_sobol_sequence_is_the_start_of_a_longer_one() -> None:
    np.testing.assert_array_equal(sobol_integers(100, 5), sobol_integers(300, 5)[:100])
    np.testing.assert_array_equal(sobol_integers(100, 5), sobol_integers(100, 9)[:, :5])


@pytest.mark.parametrize("seed", range(5))
def test_the_random_shift_keeps_the_net(seed: int) -> None:
    points = sobol(64, SOBOL_COLUMNS, np.random.default_rng(seed))
    np.testing.assert_array_equal(slices(points, 64), np.tile(np.arange(64)[:, None], (1, SOBOL_COLUMNS)))
    # The first two columns are a (0, m, 2)-net: one point in every box of volume 1/64, whatever its sides.
    for across in (1, 2, 4, 8, 16, 32, 64):
        boxes = np.floor(points[:, 0] * across) * 64 + np.floor(points[:, 1] * (64 / across))
        assert len(np.unique(boxes)) == 64


def test_the_random_shift_is_uniform() -> None:
    first = np.array([sobol(1, 3, np.random.default_rng(seed))[0] for seed in range(1000)])
    # Five standard errors of the mean and of the variance of 1000 uniform draws.
    assert np.abs(first.mean(axis=0) - 0.5).max() < 5 / np.sqrt(12 * 1000)
    assert np.abs(first.var(axis=0) - 1 / 12).max() < 5 / np.sqrt(180 * 1000)


def test_columns_past_the_table_are_latin() -> None:
    points = sobol(50, 70, np.random.default_rng(0))
    np.testing.assert_array_equal(slices(points[:, 64:], 50), np.tile(np.arange(50)[:, None], (1, 6)))
    np.testing.assert_array_equal(points[:, :64], sobol(50, 64, np.random.default_rng(0)))


@pytest.mark.parametrize(("n", "d"), [(256, 1), (256, 6), (256, 70)])
def test_normal_points_are_finite_and_have_the_moments_of_a_normal(n: int, d: int) -> None:
    points = normal_sobol(n, d, np.random.default_rng(0))
    assert points.shape == (n, d)
    assert np.isfinite(points).all()
    # One point in each of the n slices of probability: moments are far nearer than those of independent draws.
    assert np.abs(points.mean(axis=0)).max() < 0.02
    assert np.abs(points.std(axis=0) - 1.0).max() < 0.03
    np.testing.assert_array_equal(points, normal_sobol(n, d, np.random.default_rng(0)))


def test_a_uniform_zero_is_no_infinite_normal() -> None:
    class Zeros:
        def __getattr__(self, name: str) -> Any:
            return getattr(np.random.default_rng(0), name)

        def random(self, size: Any) -> Any:
            return np.zeros(size)

    assert np.isfinite(normal_sobol(4, SOBOL_COLUMNS + 1, Zeros())).all()  # type: ignore[arg-type]
