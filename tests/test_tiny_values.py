"""The units of y do not matter, however small: times a power of two, everything stays what it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.batch import STRATEGIES
from believer.problems import PROBLEMS
from believer.surrogates import SURROGATES, standardization
from believer.surrogates.data import MIN_SCALE, squared

BRANIN = PROBLEMS["branin"]()
POINTS = BRANIN.space.decode(np.random.default_rng(0).random((12, 2)))
FACTORS = [2.0**-30, 2.0**-480, 2.0**-930]


def a_study(factor: float, noise: float | None = None, **parts: Any) -> bv.Optimizer:
    study = bv.Optimizer(BRANIN.space, seed=1, n_init=1, **parts)
    for params in POINTS:
        study.observe(params, BRANIN(params) * factor, noise=None if noise is None else noise * factor)
    return study


@each("factor", FACTORS)
@each("surrogate", SURROGATES)
def test_predictions_scale_with_y_to_the_bit(surrogate: str, factor: float) -> None:
    noise = 0.5 if surrogate in ("gp", "sparse_gp", "fixed_rbf") else None
    X = BRANIN.space.decode(np.random.default_rng(1).random((7, 2)))
    one, tiny = (a_study(f, noise, surrogate=surrogate).predict(X) for f in (1.0, factor))
    np.testing.assert_array_equal(tiny.mean, one.mean * factor)
    np.testing.assert_array_equal(tiny.std, one.std * factor)


@each("factor", FACTORS)
@each("strategy", STRATEGIES)
def test_suggestions_do_not_depend_on_the_units_of_y(strategy: str, factor: float) -> None:
    """To what a climb leaves open: log EI has another zero in other units, and a climb's tolerance is relative."""
    one, tiny = (a_study(f, strategy=strategy).ask(3) for f in (1.0, factor))
    np.testing.assert_allclose(tiny.encoded, one.encoded, atol=5e-3)
    if one.verdict.gain is not None:
        assert tiny.verdict.gain is not None
        assert tiny.verdict.gain.together == pytest.approx(factor * one.verdict.gain.together, rel=0.3)


@each("factor", [1e-303, 1e-318, 0.0])
@each("strategy", STRATEGIES)
def test_values_that_hardly_are_numbers_count_as_equal(strategy: str, factor: float) -> None:
    batch = a_study(factor, strategy=strategy).ask(2)
    assert np.isfinite(batch.encoded).all()
    assert not np.array_equal(batch.encoded[0], batch.encoded[1])


def test_standardization_has_the_same_bits_in_any_units() -> None:
    y = np.random.default_rng(0).standard_normal(9) + 3.0
    shift, scale = standardization(y)
    for k in (40, 500, 980):
        assert standardization(y * 2.0**-k) == (shift * 2.0**-k, scale * 2.0**-k)
    assert standardization(y * 2.0**-1000)[1] == MIN_SCALE
    assert standardization(np.zeros(3)) == (0.0, 1.0)
    assert standardization(np.full(3, 5e-324)) == (0.0, MIN_SCALE)


def test_the_square_of_a_scale_is_a_number() -> None:
    assert squared(3.0) == 9.0
    assert squared(1e-100) == 1e-100**2
    assert squared(1e-290) > 1e-250
