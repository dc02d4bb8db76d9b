"""Which of many results a model learns from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer import surrogates
from believer.surrogates import SURROGATES
from believer.surrogates.data import Data, learned
from believer.surrogates.protocols import Bounded, Surrogate
from believer.surrogates.subset import learned_rows

BOUNDED = ["gp", "mq_rbf", "neural", "last_layer", "forest", "svr"]
SMALL: dict[str, dict[str, Any]] = {
    "neural": {"members": 2, "max_iterations": 20},
    "last_layer": {"max_iterations": 20},
    "forest": {"trees": 4},
    "svr": {"members": 2},
}


def the_surrogate(name: str) -> Surrogate:
    made: Surrogate = getattr(surrogates, SURROGATES[name])(**SMALL.get(name, {}))
    return made


def some_data(n: int = 60, d: int = 2) -> Data:
    rng = np.random.default_rng(n)
    X = rng.random((n, d))
    return Data(X, np.sin(7.0 * X).sum(axis=1), np.where(rng.random(n) < 0.5, 0.1, 0.0))


@given(st.lists(st.floats(-5.0, 5.0), max_size=80), st.integers(1, 90))
@settings(max_examples=200, deadline=None)
def test_rows_are_as_many_as_may_be_in_order_with_the_best_and_the_latest(values: list[float], most: int) -> None:
    y = np.array(values)
    rows = learned_rows(y, most)
    assert len(rows) == min(len(y), most)
    assert (np.diff(rows) > 0).all()
    if len(y):
        assert rows[-1] == len(y) - 1
    if most > 1 and len(y):
        assert y[rows].min() == y.min()
    np.testing.assert_array_equal(rows, learned_rows(y.copy(), most))


def test_the_best_the_latest_and_an_even_share_of_the_others() -> None:
    y = np.random.default_rng(0).standard_normal(1000)
    rows = learned_rows(y, 80)
    assert set(range(990, 1000)) <= set(rows)
    others = np.argsort(y)
    assert set(others[others < 990][:40]) <= set(rows)
    rest = sorted(set(rows) - set(range(990, 1000)) - set(others[others < 990][:40]))
    assert len(rest) == 30
    assert max(np.diff(rest)) < 2 * 1000 / 30


def test_rows_take_their_noise_along_and_few_data_stay_what_they_are() -> None:
    data = some_data()
    part, rows = learned(data, 20), learned_rows(data.y, 20)
    assert data.std is not None
    assert part.std is not None
    np.testing.assert_array_equal(part.X, data.X[rows])
    np.testing.assert_array_equal(part.y, data.y[rows])
    np.testing.assert_array_equal(part.std, data.std[rows])
    assert learned(data, 60) is data
    assert learned(data, None) is data


@each("name", SURROGATES)
def test_a_surrogate_that_is_not_linear_in_the_data_says_how_many_it_takes(name: str) -> None:
    made = the_surrogate(name)
    assert isinstance(made, Bounded) == (name in BOUNDED)
    if isinstance(made, Bounded):
        assert made.most_results >= 2000


@pytest.mark.parametrize("name", BOUNDED)
def test_many_data_are_learned_from_as_their_subset_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, made = some_data(), the_surrogate(name)
    part = learned(data, 20)
    of_part = made.fit(part, np.random.default_rng(1)).predict(data.X)
    of_all = made.fit(data, np.random.default_rng(1)).predict(data.X)
    assert not np.array_equal(of_part.mean, of_all.mean)
    monkeypatch.setattr(type(made), "most_results", 20)
    of_many = made.fit(data, np.random.default_rng(1)).predict(data.X)
    np.testing.assert_array_equal(of_many.mean, of_part.mean)
    np.testing.assert_array_equal(of_many.std, of_part.std)


def test_a_process_of_many_data_is_restored_from_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surrogates.GP, "most_results", 20)
    data, gp = some_data(), surrogates.GP()
    model = gp.fit(data, np.random.default_rng(1))
    assert len(model.y) == 20
    again = gp.restore(data, gp.describe(model))
    np.testing.assert_array_equal(again.predict(data.X).mean, model.predict(data.X).mean)
    np.testing.assert_array_equal(again.predict(data.X).std, model.predict(data.X).std)
