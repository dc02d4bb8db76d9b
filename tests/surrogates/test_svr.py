from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import svm

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates import SVR
from believer.surrogates.bootstrap import resamples
from believer.surrogates.data import Data
from believer.surrogates.gp import standardization
from believer.surrogates.protocols import MIN_STD
from believer.surrogates.svr import SVRModel


def data(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    X = np.random.default_rng(seed).random((n, d))
    return X, 30.0 + 5.0 * np.sin(6.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1)


def fitted(n: int = 15, d: int = 3, seed: int = 0, **given: Any) -> SVRModel:
    return SVR(members=5, seed=seed, **given).fit(Data(*data(n, d, seed)), np.random.default_rng(0))


@settings(max_examples=15)
@given(st.integers(1, 25), st.integers(1, 6), st.integers(0, 2**32))
def test_predictions_are_those_of_scikit_learn(n: int, d: int, seed: int) -> None:
    X, y = data(n, d, seed % 1000)
    at = np.vstack([np.random.default_rng(1).random((20, d)), X])
    shift, scale = standardization(y)
    machines = []
    for count in resamples(n, 5, np.random.default_rng(0), seed):
        machine = svm.SVR(C=10.0, epsilon=0.01, gamma=12.0 / d)
        rows = count > 0
        machines.append(machine.fit(X[rows], (y[rows] - shift) / scale, sample_weight=count[rows].astype(float)))
    F = np.stack([machine.predict(at) for machine in machines], axis=1)
    model = SVR(members=5, seed=seed).fit(Data(X, y), np.random.default_rng(0))
    at_all = model.predict(at)
    np.testing.assert_allclose(at_all.mean, shift + scale * F.mean(axis=1), rtol=0.0, atol=1e-9 * scale)
    std = np.maximum(F.std(axis=1), MIN_STD)
    np.testing.assert_allclose(at_all.std, scale * std, rtol=0.0, atol=1e-9 * scale)


def slope(values: list[Array], step: float) -> Array:
    """Fourth-order central differences from values at -2, -1, 1 and 2 steps."""
    a, b, c, e = values
    by_step: Array = (a - 8.0 * b + 8.0 * c - e) / (12.0 * step)
    return by_step


@settings(max_examples=25)
@given(st.integers(2, 20), st.integers(1, 5), st.sampled_from([None, 0.3, 8.0]), st.integers(0, 2**32))
def test_gradients_are_central_differences(n: int, d: int, gamma: float | None, seed: int) -> None:
    model = fitted(n, d, seed, gamma=gamma)
    near = np.random.default_rng(seed + 1).random((3, d))
    at = np.vstack([near, model.X[:2], np.zeros((1, d)), np.ones((1, d))])
    p = model.predict_with_gradient(at)
    plain = model.predict(at)
    np.testing.assert_array_equal(p.mean, plain.mean)
    np.testing.assert_array_equal(p.std, plain.std)
    # Of the variance, since σ itself bends without bound where it goes to zero. What differences leave is rounding,
    # 1e-16 / step of the terms that are summed.
    step = 1e-4
    terms = 1.0 + np.abs(model.duals).sum(axis=1).max()
    shift = abs(model.shift) / model.scale
    mean_gradient, variance_gradient = (
        p.mean_gradient / model.scale,
        2.0 * (p.std / model.scale**2)[:, None] * p.std_gradient,
    )
    for j in range(d):
        moved = [model.predict(at + k * step * np.eye(d)[j]) for k in (-2, -1, 1, 2)]
        mean_slope = slope([prediction.mean / model.scale for prediction in moved], step)
        variance_slope = slope([(prediction.std / model.scale) ** 2 for prediction in moved], step)
        np.testing.assert_allclose(mean_gradient[:, j], mean_slope, rtol=1e-7, atol=1e-10 * (terms + shift))
        np.testing.assert_allclose(variance_gradient[:, j], variance_slope, rtol=1e-7, atol=1e-10 * terms)


def test_where_the_members_agree_std_is_its_floor_and_flat() -> None:
    X, _ = data(6, 2)
    p = SVR(members=3).fit(Data(X, np.full(6, 4.0)), np.random.default_rng(0)).predict_with_gradient(X)
    np.testing.assert_allclose(p.std, 4.0 * MIN_STD)
    np.testing.assert_array_equal(p.std_gradient, 0.0)
    np.testing.assert_array_equal(p.mean_gradient, 0.0)


def test_far_from_data_std_can_be_less_than_near_them() -> None:
    """The stand-in for σ is no posterior: where every member is back at its intercept, only those differ."""
    X, y = data(20, 2)
    model = SVR(gamma=50.0, seed=0).fit(Data(0.4 * X, y), np.random.default_rng(0))
    far = model.predict(np.array([[1.0, 1.0]]))
    assert far.std[0] == pytest.approx(model.scale * model.intercepts.std(), rel=1e-6)
    assert far.std[0] < np.median(model.predict(0.4 * X).std)


def test_only_observations_that_a_member_drew_can_support_it() -> None:
    model = fitted(20, 3, seed=4)
    counts = resamples(20, 5, np.random.default_rng(0), 4)
    assert (model.duals[counts == 0] == 0.0).all()
    assert (model.duals[counts > 0] != 0.0).any()
    # The price of a residual is C for each time that an observation was drawn.
    assert (np.abs(model.duals) <= 10.0 * counts + 1e-12).all()


def test_the_kernel_depends_on_the_dimension_alone_unless_it_is_given() -> None:
    X, y = data(12, 4)
    one, more = (SVR(members=2).fit(Data(X[:n], y[:n]), np.random.default_rng(0)) for n in (11, 12))
    assert one.gamma == more.gamma == 3.0
    assert fitted(gamma=0.7).gamma == 0.7


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"C": 0.0}, "C must be above zero"),
        ({"C": None}, "C must be a finite number"),
        ({"gamma": -1.0}, "gamma must be above zero"),
        ({"gamma": "scale"}, "gamma must be a finite number"),
        ({"epsilon": -0.1}, "epsilon must be zero or more"),
        ({"members": 1}, "members must be a whole number, 2 or more"),
    ],
)
def test_settings_that_break_a_rule_are_refused(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SVR(**given)
