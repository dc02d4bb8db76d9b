"""The checks of numbers that every room uses: the right ones pass, and an error is short whatever came."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from each import each

from believer.arrays import (
    MAX_SEED,
    above_zero,
    checked_seed,
    finite,
    nearest,
    shares,
    shown,
    suggested,
    to_width,
    whole,
)
from believer.errors import InvalidInput

NESTED: list[Any] = []
for _ in range(100_000):
    NESTED = [NESTED]


def kind(value: object) -> str:
    return type(value).__name__


NO_NUMBERS = [None, True, np.True_, "1", b"1", "", [], [1], (1,), {}, 1j, object(), NESTED, np.ones(1), int]
TOO_LARGE = [10**400, -(10**400), 10**5000, -(10**5000)]


@pytest.mark.parametrize("value", [0, 3, 10, np.int8(3), np.uint64(3)])
def test_a_whole_number_within_its_bounds_is_an_int(value: Any) -> None:
    found = whole(value, "n", 0, 10)
    assert type(found) is int
    assert found == value


@each("value", [*NO_NUMBERS, 1.0, -1, 11, 2**61, 10**400, -(10**5000), 10**5000, math.nan, math.inf], ids=kind)
def test_anything_else_is_no_whole_number(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"n must be a whole number, (0 or more|10 at most); got") as caught:
        whole(value, "n", 0, 10)
    assert len(str(caught.value)) < 300


@each("value", [0, -3.5, 10, np.float32(0.5), np.int64(3), Fraction(1, 3), 5e-324, -10.0])
def test_a_finite_number_within_its_bounds_is_a_float(value: Any) -> None:
    found = finite(value, "x", 10.0)
    assert type(found) is float
    assert found == float(value)


@each("value", [*NO_NUMBERS, math.nan, math.inf, -math.inf, 10**400, 10**5000, Fraction(10**400)], ids=kind)
@each("check", [finite, lambda x, name: above_zero(x, name, 0.1, 1.0)])
def test_anything_else_is_no_finite_number(check: Callable[[Any, str], float], value: Any) -> None:
    with pytest.raises(InvalidInput, match="x must be a finite number; got") as caught:
        check(value, "x")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [10.5, -10.5, 1e300, -1e300])
def test_a_number_that_is_too_large_says_how_large_it_may_be(value: float) -> None:
    with pytest.raises(InvalidInput, match="x must lie within ±10; got"):
        finite(value, "x", 10.0)


@pytest.mark.parametrize("value", [0.0, -0.0, -1.0, 5e-324, 0.09, 1.01, 1e300])
def test_what_must_be_above_zero_has_a_least_and_a_most(value: float) -> None:
    with pytest.raises(InvalidInput, match=r"x must be above zero(, from 0\.1 to 1)?; got"):
        above_zero(value, "x", 0.1, 1.0)
    assert above_zero(1, "x", 0.1, 1.0) == 1.0


def test_a_seed_has_128_bits_at_most() -> None:
    assert checked_seed(None) is None
    assert checked_seed(MAX_SEED) == MAX_SEED
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        checked_seed(MAX_SEED + 1)


@each("values", [0.5, "0.5", None, (0.5, "0.5"), (True,), (math.nan,), (1.1,), (-0.1,), (0.5,) * 4])
def test_shares_are_a_few_numbers_from_zero_to_one(values: Any) -> None:
    assert shares([0, 0.5, 1], "s", 3) == (0, 0.5, 1)
    with pytest.raises(InvalidInput, match="s must be"):
        shares(values, "s", 3)


def test_what_is_shown_is_short_and_never_fails() -> None:
    assert shown("x") == "'x'"
    assert shown([1] * 1000).endswith("...")
    assert shown(NESTED) == "a list"
    assert shown(10**5000) == "a int"


def test_an_unknown_word_is_told_the_nearest_or_some_of_all() -> None:
    assert nearest("Hihg", ["low", "high"]) == "did you mean 'high'?"
    assert nearest("x", ["low", "high"]) == "there are low, high."
    assert nearest("?", map(str, range(1000))).endswith(", 31 and more.")
    assert suggested("Hihg", ["low", "high"]) == " Did you mean 'high'?"
    assert suggested("x", ["low", "high"]) == suggested(NESTED, ["low"]) == suggested(10**5000, ["low"]) == ""


@each(
    "value, half_width, text",
    [
        (94.1999, 0.0491, "94.200"),
        (-2534.1234567, 0.0021, "-2534.1235"),
        (80.17, 3.7, "80.2"),
        (1234.4, 512.0, "1234"),
        (0.0, 0.25, "0.00"),
        (1.2345678e9, 3.1e7, "1.235e+09"),
        (1.2345678e-9, 3.1e-11, "1.235e-09"),
        (1e12, 1e-9, "1000000000000"),
        (2.123456789, 0.0, "2.12346"),
        (2.123456789, math.inf, "2.12346"),
        (math.nan, 1.0, "nan"),
    ],
)
def test_a_number_has_the_digits_that_its_interval_has_use_for(value: float, half_width: float, text: str) -> None:
    assert to_width(value, half_width) == text


def test_the_ends_of_an_interval_that_is_not_empty_differ_in_print() -> None:
    rng = np.random.default_rng(0)
    for offset, half in zip(10.0 ** rng.uniform(-8, 8, 300), 10.0 ** rng.uniform(-6, 6, 300), strict=True):
        assert to_width(offset - half, half) != to_width(offset + half, half)
        assert abs(float(to_width(offset, half)) - offset) <= 0.06 * half + 1e-12 * offset
