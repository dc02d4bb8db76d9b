from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.experiments import (
    bootstrap_interval,
    hodges_lehmann,
    holm,
    rank_correlation,
    vargha_delaney,
    wilcoxon,
    wilson_interval,
)

SMALL = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=9)
"""Differences with many ties and zeros."""


# Holm


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8), st.floats(0.001, 0.999))
@settings(max_examples=100)
def test_holm_rejects_what_stepping_down_rejects(p: list[float], level: float) -> None:
    """The least p against α/m, the next against α/(m-1), ... until one is not below."""
    rejected: set[int] = set()
    for i, j in enumerate(sorted(range(len(p)), key=lambda j: p[j])):
        if not (len(p) - i) * p[j] < level:
            break
        rejected.add(j)
    assert {j for j, value in enumerate(holm(p)) if value < level} == rejected


@pytest.mark.parametrize("p", [[-0.1], [1.1], [math.nan]])
def test_holm_takes_only_probabilities(p: list[float]) -> None:
    with pytest.raises(InvalidInput):
        holm(p)


# The signed-rank test


def signed_rank_by_enumeration(d: Array) -> float:
    """The share of all ways to sign the ranks whose sum is at least as far from its mean."""
    d = d[d != 0]
    ranks = stats.rankdata(np.abs(d))
    seen = abs(float(ranks[d > 0].sum()) - ranks.sum() / 2)
    sums = [float(np.dot(signs, ranks)) for signs in product((0.0, 1.0), repeat=len(d))]
    return float(np.mean([abs(total - ranks.sum() / 2) >= seen - 1e-9 for total in sums]))


@given(SMALL)
@settings(max_examples=60)
def test_wilcoxon_is_exact_with_ties_and_zeros(d: list[float]) -> None:
    assert wilcoxon(d) == pytest.approx(signed_rank_by_enumeration(np.array(d)), abs=1e-12)


@pytest.mark.parametrize("m", [1, 2, 5, 20, 50])
def test_wilcoxon_is_scipys_without_ties(m: int) -> None:
    rng = np.random.default_rng(m)
    for shift in (0.0, 0.5, 2.0):
        d = rng.normal(shift, 1.0, m)
        assert wilcoxon(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-10)


def test_wilcoxon_of_many_differences_is_scipys_normal_approximation_ties_included() -> None:
    d = np.random.default_rng(0).integers(-9, 11, 300).astype(float)
    expected = stats.wilcoxon(d[d != 0], method="asymptotic", correction=False).pvalue
    assert wilcoxon(d) == pytest.approx(expected, rel=1e-10)


def test_the_exact_test_and_the_approximation_meet() -> None:
    d = np.random.default_rng(1).normal(0.15, 1.0, 201)
    assert wilcoxon(d) == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=5e-3)


@given(SMALL, st.floats(1e-9, 1e9))
@settings(max_examples=50)
def test_wilcoxon_knows_no_side_scale_or_order(d: list[float], scale: float) -> None:
    values = np.array(d)
    assert wilcoxon(-values) == wilcoxon(values[::-1]) == wilcoxon(scale * values) == wilcoxon(values)


def test_differences_that_are_all_zero_show_nothing() -> None:
    assert wilcoxon([0.0, 0.0, -0.0]) == 1.0


def test_wilcoxon_rejects_at_most_as_often_as_it_says() -> None:
    """1000 null samples of 12: at level 0.05 the share rejected is below it but for chance (5 sigma)."""
    d = np.random.default_rng(2).normal(size=(1000, 12))
    assert np.mean([wilcoxon(row) < 0.05 for row in d]) < 0.05 + 5 * math.sqrt(0.05 * 0.95 / 1000)


# Effect sizes


@given(SMALL)
@settings(max_examples=50)
def test_hodges_lehmann_is_the_median_of_all_averages(d: list[float]) -> None:
    averages = [(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))]
    assert hodges_lehmann(d) == np.median(averages)


def test_hodges_lehmann_moves_with_the_differences_and_shrugs_off_an_outlier() -> None:
    d = np.random.default_rng(3).normal(size=21)
    assert hodges_lehmann(d + 10.0) == pytest.approx(hodges_lehmann(d) + 10.0)
    assert hodges_lehmann(-d) == pytest.approx(-hodges_lehmann(d))
    assert abs(hodges_lehmann([*d, 1e9]) - hodges_lehmann(d)) < 0.5


@given(SMALL, SMALL)
@settings(max_examples=50)
def test_vargha_delaney_counts_all_pairs(a: list[float], b: list[float]) -> None:
    share = sum((x > y) + 0.5 * (x == y) for x in a for y in b) / (len(a) * len(b))
    assert vargha_delaney(a, b) == pytest.approx(share, abs=1e-12)
    assert vargha_delaney(a, b) + vargha_delaney(b, a) == pytest.approx(1.0, abs=1e-12)


def test_vargha_delaney_is_below_a_half_for_the_lower_sample() -> None:
    assert vargha_delaney([1.0, 2.0], [3.0, 4.0, 5.0]) == 0.0
    assert vargha_delaney([1.0], [1.0]) == 0.5


# Intervals


@each(("k", "n"), [(0, 10), (3, 10), (10, 10), (1, 1), (170, 200)])
@each("level", [0.9, 0.95])
def test_wilson_interval_is_scipys(k: int, n: int, level: float) -> None:
    expected = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    low, high = wilson_interval(k, n, level)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0.0 <= low <= k / n <= high <= 1.0
    assert (low == 0.0) == (k == 0)
    assert (high == 1.0) == (k == n)


def test_wilson_interval_covers_the_share_about_as_often_as_it_says() -> None:
    n = 30
    for share in (0.05, 0.3, 0.5, 0.9):
        covers = [low <= share <= high for low, high in (wilson_interval(k, n) for k in range(n + 1))]
        assert stats.binom.pmf(np.arange(n + 1), n, share)[covers].sum() > 0.91


@pytest.mark.parametrize(("of", "statistic"), [("median", np.median), ("mean", np.mean)])
def test_bootstrap_interval_is_that_of_all_resamples_but_for_chance(of: Any, statistic: Any) -> None:
    """The share of all 5^5 resamples at or below each end is the tail, up to the weight of that end and 5 sigma."""
    values = [0.3, 1.1, 1.6, 4.0, 9.7]
    all_of_them = np.array([statistic(resample) for resample in product(values, repeat=5)])
    chance = 5 * math.sqrt(0.025 * 0.975 / 10_000)
    low, high = bootstrap_interval(values, of)
    for end, tail in ((low, 0.025), (high, 0.975)):
        assert np.mean(all_of_them < end - 1e-9) <= tail + chance
        assert np.mean(all_of_them <= end + 1e-9) >= tail - chance


def test_bootstrap_interval_is_the_same_every_time_and_wider_at_a_higher_level() -> None:
    values = np.random.default_rng(4).normal(size=40)
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    assert (low, high) != bootstrap_interval(values, seed=1)
    inner = bootstrap_interval(values, level=0.5)
    assert low < inner[0] < inner[1] < high


def test_bootstrap_interval_of_one_value_is_that_value() -> None:
    assert bootstrap_interval([3.5]) == (3.5, 3.5)


@each(
    "call",
    [
        lambda: wilcoxon([]),
        lambda: wilcoxon([1.0, math.nan]),
        lambda: hodges_lehmann([]),
        lambda: hodges_lehmann([[1.0]]),
        lambda: vargha_delaney([], [1.0]),
        lambda: vargha_delaney([1.0], [math.inf]),
        lambda: wilson_interval(3, 2),
        lambda: wilson_interval(-1, 2),
        lambda: wilson_interval(0, 0),
        lambda: wilson_interval(1, 2, level=1.0),
        lambda: bootstrap_interval([]),
        lambda: bootstrap_interval([1.0], "mode"),  # type: ignore[arg-type]
        lambda: bootstrap_interval([1.0], level=95),
        lambda: bootstrap_interval([1.0], resamples=0),
    ],
)
def test_what_has_no_answer_is_refused(call: Any) -> None:
    with pytest.raises(InvalidInput):
        call()


def test_rank_correlation_is_that_of_scipy_with_ties_and_none_for_equal_values() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.integers(0, 6, 15), rng.random(15)
        assert rank_correlation(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)
    assert rank_correlation([1.0, 1.0], [1.0, 2.0]) is None
    assert rank_correlation([1.0, 2.0], [3.0, 3.0]) is None
    with pytest.raises(InvalidInput):
        rank_correlation([1.0, 2.0], [1.0, 2.0, 3.0])
