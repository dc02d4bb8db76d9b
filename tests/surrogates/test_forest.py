from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.surrogates import RandomForest
from believer.surrogates.bootstrap import resamples
from believer.surrogates.data import Data


def data(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    X = np.random.default_rng(seed).random((n, d))
    return X, 7.0 + np.sin(6.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1)


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**32))
def test_mean_and_std_are_those_of_trees_grown_one_by_one(n: int, min_leaf: int, seed: int) -> None:
    # In one dimension no two columns tie for a split, so that a tree follows from its resample alone.
    X, y = data(n, 1, seed % 1000)
    at = np.vstack([np.linspace(0.0, 1.0, 50)[:, None], X])
    counts = resamples(n, 8, np.random.default_rng(0), seed)
    trees = [DecisionTreeRegressor(min_samples_leaf=min_leaf).fit(X, y, sample_weight=count) for count in counts]
    by_tree = np.stack([tree.predict(at) for tree in trees], axis=1)
    model = RandomForest(trees=8, min_leaf=min_leaf, seed=seed).fit(Data(X, y), np.random.default_rng(0))
    np.testing.assert_allclose(model.by_tree(at), by_tree, rtol=1e-12)
    np.testing.assert_allclose(model.predict(at).mean, by_tree.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.predict(at).std, np.maximum(by_tree.std(axis=1), 1e-9), rtol=1e-6, atol=1e-8)


def test_trees_have_the_distribution_of_scikit_learns_forest() -> None:
    """Kolmogorov-Smirnov at six points, 400 trees against 400; false-alarm rate 1e-3 for all six together."""
    X, y = data(8, 2)
    at = np.random.default_rng(1).random((6, 2))

    def least_p(ours: Array, theirs: Array) -> float:
        return min(float(ks_2samp(a, b, method="asymp").pvalue) for a, b in zip(ours, theirs, strict=True))

    ours = RandomForest(trees=400).fit(Data(X, y), np.random.default_rng(2)).by_tree(at)
    forest = RandomForestRegressor(400, min_samples_leaf=2, random_state=3).fit(X, y)
    assert least_p(ours, np.stack([tree.predict(at) for tree in forest.estimators_], axis=1)) > 1e-3 / 6
    # The test has the power to tell: it objects to trees that count copies of an observation towards their least leaf.
    rows = [np.repeat(np.arange(8), count) for count in resamples(8, 400, np.random.default_rng(4))]
    copied = [DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(X[row], y[row]) for row in rows]
    assert least_p(ours, np.stack([tree.predict(at) for tree in copied], axis=1)) < 1e-3 / 6


@settings(max_examples=10)
@given(st.integers(1, 30), st.floats(-100.0, 100.0), st.integers(0, 2**32))
def test_with_fixed_draws_one_more_observation_reaches_exactly_the_trees_that_draw_it(
    n: int, value: float, seed: int
) -> None:
    # Six columns tie often, and the value rescales y: neither may touch a tree that did not draw it.
    X, y = data(n + 1, 6, seed % 1000)
    y[n] = value
    recipe = RandomForest(trees=30).with_fixed_draws(seed)
    before = recipe.fit(Data(X[:n], y[:n]), np.random.default_rng(0)).by_tree(X)
    after = recipe.fit(Data(X, y), np.random.default_rng(1)).by_tree(X)
    drawn = resamples(n + 1, 30, np.random.default_rng(2), seed)[:, n] > 0
    np.testing.assert_array_equal(before[:, ~drawn], after[:, ~drawn])
    if abs(value - 7.0) > 10.0:
        assert (before[n, drawn] != after[n, drawn]).all()


def test_points_are_predicted_alike_alone_and_among_many() -> None:
    X, y = data(30, 4)
    model = RandomForest(trees=20).fit(Data(X, y), np.random.default_rng(0))
    at = np.random.default_rng(1).random((600, 4))
    together = model.predict(at)
    for row in (0, 255, 256, 511, 599):
        alone = model.predict(at[row : row + 1])
        assert (alone.mean[0], alone.std[0]) == (together.mean[row], together.std[row])


@settings(max_examples=15)
@given(st.integers(1, 25), st.integers(1, 5), st.integers(0, 2**32))
def test_no_tree_predicts_beyond_the_data(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((n, d)), rng.standard_normal(n)
    by_tree = RandomForest(trees=5).fit(Data(X, y), rng).by_tree(rng.random((40, d)))
    assert by_tree.min() >= y.min() - 1e-12
    assert by_tree.max() <= y.max() + 1e-12


def test_leaves_larger_than_the_data_give_the_spread_of_bootstrap_means() -> None:
    X, y = data(12, 2)
    model = RandomForest(trees=50, min_leaf=12, seed=0).fit(Data(X, y), np.random.default_rng(0))
    counts = resamples(12, 50, np.random.default_rng(0), 0)
    means = counts @ y / counts.sum(axis=1)
    at = model.predict(np.array([[0.1, 0.1], [0.9, 0.5]]))
    np.testing.assert_allclose(at.mean, means.mean(), rtol=1e-12)
    np.testing.assert_allclose(at.std, means.std(), rtol=1e-12)


def test_a_large_offset_leaves_the_trees_as_they_are() -> None:
    # y + 2²⁰ is exact, so that the trees must be the same, bit for bit.
    X, y = data(25, 3)
    y = np.round(y * 2.0**20) / 2.0**20
    near, far = (
        RandomForest(trees=20, seed=1).fit(Data(X, y + off), np.random.default_rng(0)) for off in (0.0, 2.0**20)
    )
    np.testing.assert_array_equal(near.value, far.value)
    np.testing.assert_array_equal(near.threshold, far.threshold)


def test_a_model_is_read_only_and_refuses_points_of_another_dimension() -> None:
    model = RandomForest(trees=3).fit(Data(*data(8, 2)), np.random.default_rng(0))
    for array in (model.feature, model.threshold, model.children, model.value, model.roots):
        assert not array.flags.writeable
    with pytest.raises(InvalidInput, match="X must have 2 columns; got 3"):
        model.predict(np.zeros((1, 3)))


def test_extremely_randomized_trees_see_all_data_and_differ_between_them() -> None:
    X, y = data(20, 2)
    model = RandomForest(trees=30, min_leaf=1, extra=True).fit(Data(X, y), np.random.default_rng(0))
    np.testing.assert_allclose(model.by_tree(X), np.tile(y[:, None], 30), rtol=1e-12)
    assert model.predict(np.random.default_rng(1).random((50, 2))).std.mean() > 0.05


def test_extremely_randomized_trees_have_the_distribution_of_scikit_learns() -> None:
    """Kolmogorov-Smirnov at six points, 400 trees against 400; false-alarm rate 1e-3 for all six together."""
    X, y = data(12, 2)
    at = np.random.default_rng(1).random((6, 2))
    ours = RandomForest(trees=400, extra=True).fit(Data(X, y), np.random.default_rng(2)).by_tree(at)
    forest = ExtraTreesRegressor(400, min_samples_leaf=2, random_state=3).fit(X, y)
    theirs = np.stack([tree.predict(at) for tree in forest.estimators_], axis=1)
    assert min(ks_2samp(one, other).pvalue for one, other in zip(ours, theirs, strict=True)) > 1e-3 / 6


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"trees": 1}, "trees must be a whole number, 2 or more"),
        ({"trees": 2.5}, "trees must be"),
        ({"min_leaf": 0}, "min_leaf must be a whole number, 1 or more"),
        ({"extra": 1}, "extra must be True or False"),
    ],
)
def test_settings_that_break_a_rule_are_refused(given: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        RandomForest(**given)
