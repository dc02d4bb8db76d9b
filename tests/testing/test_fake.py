from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates.data import Data
from believer.surrogates.protocols import Conditionable, Differentiable, Joint, Sampling
from believer.testing import BareModel, BareSurrogate, FakeModel, FakeSurrogate, check_surrogate


def data(seed: int, n: int, d: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), 5.0 + rng.standard_normal(n)


def model_of(X: Array, y: Array) -> FakeModel:
    return FakeSurrogate().fit(Data(X, y), np.random.default_rng(0))


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 4))
def test_the_mean_interpolates_and_stays_within_the_data(seed: int, n: int, d: int) -> None:
    X, y = data(seed, n, d)
    model = model_of(X, y)
    elsewhere = np.random.default_rng(seed + 1).random((9, d))
    np.testing.assert_allclose(model.predict(X).mean, y, atol=1e-4 * np.ptp(y))
    mean = model.predict(elsewhere).mean
    slack = 1e-12 * np.abs(y).max()
    assert (mean >= y.min() - slack).all()
    assert (mean <= y.max() + slack).all()


def test_the_std_is_the_distance_to_the_nearest_observation_over_that_across_the_cube_in_units_of_the_spread() -> None:
    X, y = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([3.0, 7.0])
    at = model_of(X, y).predict(np.array([[0.0, 1.0], [0.25, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(at.std, [2.0 / np.sqrt(2.0), 2.0 * 0.25 / np.sqrt(2.0), 2.0e-9])


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(0, 4))
def test_conditioning_is_refitting_at_the_same_scale(seed: int, n: int, k: int) -> None:
    X, y = data(seed, n + k, 2)
    told = model_of(X[:n], y[:n]).condition(Data(X[n:], y[n:]))
    again = FakeModel(X, y, model_of(X[:n], y[:n]).scale)
    elsewhere = np.random.default_rng(seed + 1).random((5, 2))
    np.testing.assert_array_equal(told.predict(elsewhere).mean, again.predict(elsewhere).mean)
    np.testing.assert_array_equal(told.predict(elsewhere).std, again.predict(elsewhere).std)


def test_it_can_be_conditioned_and_nothing_else() -> None:
    model = model_of(*data(0, 4, 2))
    assert isinstance(model, Conditionable)
    assert not isinstance(model, Differentiable | Joint | Sampling)


def test_no_data_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one observation"):
        model_of(np.zeros((0, 2)), np.zeros(0))


def test_the_bare_one_predicts_as_the_fake_does_and_can_do_nothing_else() -> None:
    X, y = data(0, 4, 2)
    bare = BareSurrogate().fit(Data(X, y), np.random.default_rng(0))
    assert {name for name in dir(BareModel) if not name.startswith("_")} == {"inner", "predict"}
    np.testing.assert_array_equal(bare.predict(X).mean, model_of(X, y).predict(X).mean)
    check_surrogate(BareSurrogate())
