"""A warp leaves results as they are up to where it begins, bends those that are worse, and comes back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import assume, given
from hypothesis import strategies as st

from believer.arrays import LARGEST, Array
from believer.errors import InvalidInput
from believer.numerics.sampling import normal
from believer.surrogates.data import MIN_SCALE, Data
from believer.surrogates.protocols import Prediction
from believer.surrogates.warp import SHARES, SPAN, Warp, warp_for, warps_for

HEAVY = np.array([-1.0, -0.4, -0.3, 0.0, 0.2, 0.9, 7.0])
RNG = np.random.default_rng(0)

numbers = st.floats(-1e6, 1e6).filter(lambda y: y == 0.0 or abs(y) > 1e-6)
results = st.lists(numbers, min_size=1, max_size=30).map(np.array)
scales = st.floats(1e-6, 1e6)
units = st.integers(-300, 300).map(lambda power: 2.0**power)


def heavy(seed: int, n: int = 30) -> Array:
    """Results over many orders of magnitude."""
    return np.exp(3.0 * np.random.default_rng(seed).normal(size=n))


def warped(y: Array) -> Warp:
    warp = warp_for(y)
    assert warp is not None
    return warp


@given(numbers, scales, results)
def test_it_is_the_identity_up_to_its_start_to_the_bit_and_below_it_beyond(
    start: float, scale: float, y: Array
) -> None:
    warp = Warp(start, scale)
    w = warp(y)
    np.testing.assert_array_equal(w[y <= start], y[y <= start])
    assert (w <= y + 1e-15 * np.abs(y)).all()
    assert (warp.log_slope(y) <= 0.0).all()
    assert (warp.log_slope(y)[y <= start] == 0.0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_better_half_of_the_results_stays_as_it_is(seed: int) -> None:
    y = heavy(seed)
    w = warped(y)(y)
    better = y <= np.median(y)
    assert better.sum() >= 15
    np.testing.assert_array_equal(w[better], y[better])
    assert w.min() == y.min()
    assert (w[~better] < y[~better]).all()


@given(numbers, scales, results)
def test_it_rises_no_faster_than_its_argument(start: float, scale: float, y: Array) -> None:
    warp, y = Warp(start, scale), np.sort(y)
    steps, rounding = np.diff(warp(y)), 1e-14 * (np.abs(y).max() + abs(start))
    assert (steps >= -rounding).all()
    assert (steps <= np.diff(y) + rounding).all()


@given(st.floats(-10.0, 10.0), st.floats(0.01, 100.0))
def test_value_and_slope_are_continuous_at_the_start(start: float, scale: float) -> None:
    warp = Warp(start, scale)
    for step in (1e-3, 1e-5):
        y = start + scale * np.array([-step, step])
        np.testing.assert_allclose(warp(y), y, atol=scale * step**2 + 1e-15 * abs(start))
        np.testing.assert_allclose(warp.log_slope(y), 0.0, atol=1.01 * step)


@each("folds", [1, 2])
def test_the_slope_is_that_of_the_values(folds: int) -> None:
    warp, y = Warp(1.0, 0.5, folds), np.array([-3.0, 0.9, 1.1, 2.0, 50.0, 1e6])
    step = 1e-6 * np.abs(y)
    numeric = (warp(y + step) - warp(y - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(warp.log_slope(y)), numeric, rtol=1e-4)


@given(st.floats(-10.0, 10.0), st.floats(0.1, 10.0), st.sampled_from([1, 2]))
def test_its_inverse_comes_back_over_twelve_decades_on_either_side(start: float, scale: float, folds: int) -> None:
    warp, reach = Warp(start, scale, folds), 30.0 if folds == 1 else 3.4
    y = np.concatenate([-np.logspace(-12, 12, 49), np.logspace(-12, 12, 49)])
    np.testing.assert_allclose(warp.inverse(warp(y)), y, rtol=1e-12, atol=1e-12)
    w = np.linspace(start - 5.0 * scale, start + reach * scale, 50)
    np.testing.assert_allclose(warp(warp.inverse(w)), w, rtol=1e-12, atol=1e-12)


@given(results, units)
def test_it_has_the_unit_of_the_results(y: Array, unit: float) -> None:
    """With powers of two, which round nothing, to the bit: w_{cy}(cy) = c w_y(y)."""
    warp = warp_for(y)
    assume(warp is None or 1e-90 < warp.scale * unit < 1e90)
    assume(np.abs(y * unit).max() < LARGEST)
    other = warp_for(unit * y)
    assert (warp is None) == (other is None)
    if warp is not None and other is not None:
        assert (other.start, other.scale) == (unit * warp.start, unit * warp.scale)
        np.testing.assert_array_equal(other(unit * y), unit * warp(y))


@given(st.floats(-100.0, 100.0))
def test_it_moves_with_the_results(shift: float) -> None:
    warp, moved = warped(HEAVY), warped(HEAVY + shift)
    np.testing.assert_allclose(moved(HEAVY + shift), warp(HEAVY) + shift, atol=1e-12)


@given(results, st.randoms(use_true_random=False))
def test_the_order_of_the_results_plays_no_part(y: Array, random: Any) -> None:
    shuffled = y.tolist()
    random.shuffle(shuffled)
    assert warp_for(np.array(shuffled)) == warp_for(y)


@each(
    "y",
    [
        np.array([1.0]),
        np.array([1.0, 1e9]),
        np.full(7, 3.0),
        np.array([0.0, 0.0, 0.0, 0.0, 5.0, 1e6]),
        np.array([0.0, 0.0, 0.0, 1e6]),
        np.linspace(0.0, 1.0, 20),
        RNG.random(40),
        -heavy(0),
        np.array([0.0, 1.0, 2.0, 4.5]),
    ],
    ids=[
        "one", "two", "constant", "more than half of one", "half of one", "line", "uniform", "good tail", "short"
    ],
)  # fmt: skip
def test_there_is_none_where_the_tail_is_light_or_the_better_half_of_one_value(y: Array) -> None:
    assert warp_for(y) is None


def test_the_scale_is_the_standard_deviation_of_what_is_gaussian_on_the_better_side() -> None:
    y = np.random.default_rng(1).normal(3.0, 2.0, 4000)
    y[y > 3.0] = 3.0 + (y[y > 3.0] - 3.0) ** 5
    warp = warped(y)
    assert warp.start == pytest.approx(3.0, abs=0.2)
    assert warp.scale == pytest.approx(2.0, rel=0.05)


@each("unit", [1e-280, 1e-100, 1e-12, 1e12, 1e94])
@each("shift", [0.0, 3.0])
def test_results_of_any_size_stay_within_numbers(unit: float, shift: float) -> None:
    y = unit * (heavy(2) + shift)
    warp = warped(y)
    np.testing.assert_allclose(warp.inverse(warp(y)), y, rtol=1e-12)
    assert np.isfinite(warp.log_slope(y)).all()


@each("scale", [MIN_SCALE, 1e-100, 1.0, LARGEST])
@each("start", [-LARGEST, 0.0, LARGEST])
def test_no_warp_leaves_the_numbers(start: float, scale: float) -> None:
    """Whatever is put into it: warnings are errors here."""
    warp, y = Warp(start, scale), np.array([-LARGEST, -1.0, 0.0, 1.0, LARGEST, 1e120])
    for values in (warp(y), warp.inverse(warp(y)), warp.inverse(y), warp.log_slope(y)):
        assert np.isfinite(values).all()
        assert (np.diff(values) >= 0.0).all() or (np.diff(values) <= 0.0).all()
    at = warp.prediction(Prediction(y, np.full(6, 1e3)))
    assert np.isfinite(at.mean).all()
    assert (at.std >= 0.0).all()


def test_results_four_hundred_decades_apart_are_survived() -> None:
    y = np.array([-1e-290, 0.0, 1e-290, 2e-290, LARGEST])
    w = warped(y)(y)
    assert np.isfinite(w).all()
    assert (np.diff(w) > 0.0).all()


def test_a_prediction_comes_back_as_its_median_and_half_of_its_68_percent() -> None:
    warp, at = Warp(0.0, 1.0), Prediction(np.array([-2.0, 0.5, 3.0]), np.array([0.5, 0.5, 2.0]))
    back = warp.prediction(at)
    np.testing.assert_allclose(back.mean, [-2.0, math.expm1(0.5), math.expm1(3.0)])
    np.testing.assert_allclose(back.std, [0.5, 0.5 * math.expm1(1.0), 0.5 * (math.expm1(5.0) - math.expm1(1.0))])


def test_known_noise_shrinks_with_the_slope() -> None:
    X, y = np.zeros((3, 1)), np.array([-1.0, 0.0, 3.0])
    given_ = Warp(0.0, 1.0).data(Data(X, y, np.array([0.1, 0.2, 0.4])))
    assert given_.std is not None
    np.testing.assert_allclose(given_.y, [-1.0, 0.0, math.log(4.0)])
    np.testing.assert_allclose(given_.std, [0.1, 0.2, 0.1])
    assert Warp(0.0, 1.0).data(Data(X, y)).noise is None


@given(results)
def test_where_results_are_absurd_the_logarithm_may_be_taken_twice(y: Array) -> None:
    warp, found = warp_for(y), warps_for(y, finite=True)
    assert found[:1] == (() if warp is None else (warp,))
    if warp is not None:
        twice = (replace(warp, folds=2),)
        assert found[1:] == (twice if y.max() - warp.start > 1e3 * warp.scale else ())
        assert (twice[0](y) <= warp(y)).all()
        assert np.isfinite(twice[0].inverse(np.array([warp.start + 1e9 * warp.scale]))).all()


def from_the_best(y: Array) -> tuple[Warp, ...]:
    return tuple(warp for warp in warps_for(y) if warp.share)


@pytest.mark.parametrize("seed", range(5))
def test_from_the_best_on_a_share_of_the_results_lies_within_one_scale(seed: int) -> None:
    y = heavy(seed, 40)
    found = from_the_best(y)
    assert [warp.share for warp in found] == [*SHARES]
    for warp in found:
        w = warp(y)
        assert warp.start == y.min() == w.min()
        assert abs(np.mean(y <= warp.start + warp.scale) - warp.share) <= 1.0 / 40
        assert (w[y > warp.start] < y[y > warp.start]).all()
        np.testing.assert_array_equal(np.argsort(w), np.argsort(y))


@given(results)
def test_from_the_best_on_only_where_results_span_many_scales(y: Array) -> None:
    for warp in from_the_best(y):
        assert np.ptp(y) > SPAN * warp.scale
    assert not any(warp.share for warp in warps_for(y, finite=True))
    assert [warp for warp in warps_for(y) if not warp.share] == [*warps_for(y, finite=True)]


@each("y", [np.array([1.0]), np.full(7, 3.0), normal((np.arange(40) + 0.5) / 40), -heavy(0)])
def test_from_the_best_on_no_warp_of_what_is_gaussian_or_has_a_good_tail(y: Array) -> None:
    assert not from_the_best(y)


@given(results, units, st.randoms(use_true_random=False))
def test_from_the_best_on_neither_the_unit_nor_the_order_plays_a_part(y: Array, unit: float, random: Any) -> None:
    found = from_the_best(y)
    assume(all(1e-90 < warp.scale * unit < 1e90 for warp in found) and np.abs(y * unit).max() < LARGEST)
    shuffled = y.tolist()
    random.shuffle(shuffled)
    assert from_the_best(unit * np.array(shuffled)) == tuple(
        replace(warp, start=unit * warp.start, scale=unit * warp.scale) for warp in found
    )


def test_a_kind_of_warp_is_what_two_sets_of_results_have_in_common() -> None:
    one, other = warps_for(heavy(0)), warps_for(heavy(1))
    assert [warp.kind for warp in one] == [warp.kind for warp in other]
    assert len({warp.kind for warp in one}) == len(one)
    assert not one[0].is_like(one[1])


@given(st.floats(-1e100, 1e100), st.floats(1e-290, 1e100), st.sampled_from([1, 2]), st.sampled_from([0.0, *SHARES]))
def test_it_survives_json(start: float, scale: float, folds: int, share: float) -> None:
    warp = Warp(start, scale, folds, share)
    assert Warp.from_config(json.loads(json.dumps(warp.to_config()))) == warp


@each(
    "config",
    [
        None,
        [],
        "auto",
        {},
        {"start": 0.0},
        {"start": 0.0, "scale": 1.0, "more": 1.0},
        {"start": 0.0, "scale": 0.0},
        {"start": 0.0, "scale": -1.0},
        {"start": 0.0, "scale": 1e-310},
        {"start": 0.0, "scale": 1e101},
        {"start": 0.0, "scale": math.nan},
        {"start": math.inf, "scale": 1.0},
        {"start": -1e101, "scale": 1.0},
        {"start": "0", "scale": 1.0},
        {"start": True, "scale": 1.0},
        {"start": 0.0, "scale": None},
        {"start": [0.0], "scale": 1.0},
        {"start": 10**400, "scale": 1.0},
        {"start": 0.0, "scale": 1.0, "folds": 3},
        {"start": 0.0, "scale": 1.0, "folds": True},
        {"start": 0.0, "scale": 1.0, "share": 0.3},
        {"start": 0.0, "scale": 1.0, "share": [0.5]},
        {"start": 0.0, "scale": 1.0, "share": "0.5"},
        {"start": 0.0, "scale": 1.0, "share": None},
    ],
    ids=str,
)
def test_nonsense_is_no_warp(config: Any) -> None:
    with pytest.raises(InvalidInput, match="warp"):
        Warp.from_config(config)
