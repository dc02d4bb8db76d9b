"""Answers that verdicts are made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from believer.experiments import hodges_lehmann
from believer_paper.ledger.checks import (
    NO,
    OPEN,
    PARTLY,
    YES,
    averaged,
    by_preset,
    contrast,
    enough,
    family,
    judged,
    mostly,
    pooled,
    together,
    verdict,
)
from believer_paper.ledger.claim import Finding
from believer_paper.results import Results

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=20)
NEAR = 0.05 * RNG.normal(size=20)
"""Differences that are small beside the spread of BASE."""


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([YES, YES], "holds"),
        ([YES], "holds"),
        ([YES, OPEN], "holds in part"),
        ([YES, NO], "holds in part"),
        ([YES, NO, OPEN], "holds in part"),
        ([PARTLY], "holds in part"),
        ([PARTLY, PARTLY, NO, OPEN], "holds in part"),
        ([PARTLY, NO, NO], "fails"),
        ([NO, NO, YES], "fails"),
        ([NO, OPEN, OPEN, NO, NO], "fails"),
        ([NO], "fails"),
    ],
)
def test_a_claim_holds_if_all_checks_do_and_fails_if_most_do_not(answers: list[str], expected: str) -> None:
    assert verdict(answers) == expected
    assert judged(answers, "because", "table 1") == Finding(expected, "because", ("table 1",))
    assert together(answers) == {"holds": YES, "holds in part": PARTLY, "fails": NO}[expected]


@pytest.mark.parametrize(
    ("k", "n", "answer"), [(20, 20, YES), (18, 20, YES), (17, 20, PARTLY), (3, 20, PARTLY), (2, 20, NO), (0, 20, NO)]
)
def test_mostly_is_nine_tenths_and_the_same_on_the_other_side(k: int, n: int, answer: str) -> None:
    assert mostly(k, n) == answer
    assert mostly(n - k, n) == {YES: NO, NO: YES, PARTLY: PARTLY}[answer]


def test_lower_and_higher_are_mirror_images() -> None:
    one, two = contrast("", BASE, BASE + 1.0 + NEAR), contrast("", BASE + 1.0 + NEAR, BASE)
    assert (one.lower(), one.higher()) == (two.higher(), two.lower()) == (YES, NO)
    same = contrast("", BASE, BASE)
    assert same.p == 1.0
    assert (same.lower(), same.higher()) == (NO, NO)


def test_a_test_that_finds_nothing_refutes_nothing() -> None:
    rng = np.random.default_rng(1)
    few = contrast("", rng.normal(size=6), rng.normal(size=6))
    assert few.p > 0.05
    assert few.lower() == few.higher() == OPEN


def test_lower_is_refuted_by_the_reverse_or_by_an_interval_without_an_advantage_beyond_the_margin() -> None:
    near = contrast("", BASE + NEAR, BASE)
    assert near.p > 0.05
    assert near.lower() == near.higher() == NO
    slight = contrast("", BASE + 0.1 + 0.1 * NEAR, BASE)
    assert slight.p < 0.05
    assert slight.interval[1] < 0.5 * slight.spread
    assert (slight.lower(), slight.higher()) == (NO, YES)
    # Most likely higher, not significantly, and in any case not lower by the margin.
    leaning = replace(contrast("", BASE + 0.6 + 4.0 * NEAR, BASE), p=0.2)
    assert leaning.interval[0] > -0.5 * leaning.spread
    assert leaning.interval[1] > 0.5 * leaning.spread
    assert (leaning.lower(), leaning.higher()) == (NO, OPEN)


def test_the_shift_and_its_interval_are_of_one_estimator() -> None:
    d = np.concatenate([np.zeros(12), np.linspace(1.0, 3.0, 8)])
    one = contrast("", d, np.zeros(20))
    low, high = one.interval
    assert np.median(d) == 0.0
    assert low < one.shift < high
    assert one.shift == hodges_lehmann(d) > 0.3
    again = [hodges_lehmann(draw) for draw in np.random.default_rng(0).choice(d, size=(2_000, 20))]
    assert (low, high) == pytest.approx(np.quantile(again, [0.05, 0.95]))
    mirrored = contrast("", -d, np.zeros(20)).interval
    assert mirrored == pytest.approx((-high, -low))


def test_not_worse_asks_for_the_margin_not_for_a_test_that_finds_nothing() -> None:
    rng = np.random.default_rng(1)
    few = contrast("", rng.normal(size=6), rng.normal(size=6))
    assert few.p > 0.05
    assert few.not_worse() == few.equal() == OPEN
    assert contrast("", BASE + NEAR, BASE).not_worse() == YES
    assert contrast("", BASE + NEAR, BASE).equal() == YES


def test_not_worse_may_be_better_but_equal_may_not() -> None:
    better = contrast("", BASE - 5.0 + NEAR, BASE)
    assert better.not_worse() == YES
    assert better.equal() == NO
    worse = contrast("", BASE + 5.0 + NEAR, BASE)
    assert worse.not_worse() == worse.equal() == NO


def test_a_difference_that_is_certain_and_within_the_margin_is_none() -> None:
    slight = contrast("", BASE + 0.1 + 0.1 * NEAR, BASE)
    assert slight.higher() == YES
    assert slight.not_worse() == slight.equal() == YES
    assert slight.equal(margin=0.01) == NO
    assert slight.equal(margin=0.2) == YES


def test_a_family_is_corrected_for_its_number() -> None:
    one = contrast("", BASE + 0.3 + 0.5 * RNG.normal(size=20), BASE)
    together = family([one] + [contrast("", BASE, BASE)] * 9)
    assert together[0].p == pytest.approx(min(1.0, 10 * one.p))
    assert np.array_equal(together[0].d, one.d)


def test_margins_are_in_pooled_standard_deviations() -> None:
    one, scaled = contrast("", BASE, BASE + NEAR), contrast("", 1e3 * BASE, 1e3 * (BASE + NEAR))
    assert scaled.spread == pytest.approx(1e3 * one.spread)
    assert one.spread == pytest.approx(np.sqrt((BASE.var(ddof=1) + (BASE + NEAR).var(ddof=1)) / 2))
    assert scaled.not_worse() == one.not_worse()


def test_contrasts_of_different_units_are_pooled_in_their_own() -> None:
    one, two = contrast("", BASE + 1.0, BASE), contrast("", 1e3 * (BASE + 1.0), 1e3 * BASE)
    both = pooled("", [one, two])
    assert both.d == pytest.approx(np.full(40, 1.0 / one.spread))
    assert both.spread == 1.0
    mean = averaged("", [one, contrast("", BASE - 1.0, BASE)])
    assert mean.d == pytest.approx(np.zeros(20), abs=1e-12)


def test_values_without_spread_are_compared_as_they_are() -> None:
    flat = contrast("x", np.ones(8), np.ones(8))
    assert flat.equal() == YES
    assert pooled("", [flat]).d == pytest.approx(np.zeros(8))
    assert "x +0 (A12 0.50" in flat.text()


def test_seeds_are_enough_where_the_least_p_value_is_small_enough() -> None:
    assert enough(6, 1)
    assert not enough(5, 1)
    assert enough(10, 14)
    assert not enough(9, 14)


def test_a_claim_by_preset_cannot_be_judged_without_one() -> None:
    judge = by_preset(lambda results, preset: Finding("holds", preset, ()))
    assert judge(Results(()), "ours").evidence == "ours"
    assert judge(Results(()), None).verdict == "cannot be tested"


def test_text_has_shift_effect_interval_and_p() -> None:
    one = contrast("a - b", BASE + 2.0, BASE)
    assert one.text().startswith("a - b +2 (A12 0.")
    assert "std, p 1.9e-06)" in one.text()
    assert "std" not in one.text(brief=True)


@pytest.mark.parametrize("answers", [[], [OPEN], [OPEN, OPEN, OPEN]])
def test_where_no_check_answers_nothing_can_be_tested(answers: list[str]) -> None:
    assert verdict(answers) == "cannot be tested"
    assert judged(answers, "because").evidence.startswith("So few data decide nothing")
    assert together(answers) == OPEN


def test_what_nothing_speaks_for_and_something_against_does_not_hold_in_part() -> None:
    assert verdict([OPEN, NO]) == verdict([OPEN, OPEN, OPEN, NO]) == "fails"
