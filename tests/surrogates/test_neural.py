from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import (
    BAD_DATA,
    HARD,
    STUDIED,
    hard_data,
    off_kinks,
    pending_and_failed_points_are_kept_off,
    same_networks,
    slopes,
    survive_pickling_and_a_journal,
    unit_data,
    unit_smooth,
)

import believer
from believer.arrays import Array
from believer.errors import InvalidInput
from believer.problems.synthetic import hartmann6
from believer.surrogates import NeuralEnsemble
from believer.surrogates.data import Data
from believer.surrogates.neural import NeuralModel
from believer.surrogates.protocols import Conditionable, Differentiable, Model, Stochastic

SMALL = NeuralEnsemble(members=3, hidden=(8,), max_iterations=40)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_model_predicts_and_differentiates_and_cannot_be_conditioned() -> None:
    model = SMALL.fit(Data(*unit_data(8, 2)), rng())
    assert isinstance(model, Model)
    assert isinstance(model, Differentiable)
    assert not isinstance(model, Conditionable)
    assert isinstance(SMALL, Stochastic)
    assert believer.NeuralEnsemble is NeuralEnsemble


def test_defaults_are_the_settings_of_the_paper() -> None:
    assert NeuralEnsemble() == NeuralEnsemble(members=10, hidden=(64, 64), max_iterations=2000, seed=None)


def test_mean_and_std_are_those_of_the_networks_in_the_units_of_y() -> None:
    X, y = unit_data(20, 3)
    model = SMALL.fit(Data(X, 100.0 + 7.0 * y), rng())
    at = rng(1).random((30, 3))
    outputs = 100.0 + 7.0 * y.mean() + 7.0 * y.std() * model.networks.outputs(at)
    assert outputs.shape == (3, 30)
    prediction = model.predict(at)
    np.testing.assert_allclose(prediction.mean, outputs.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(prediction.std, outputs.std(axis=0, ddof=0), rtol=1e-8)


@settings(max_examples=10)
@given(st.integers(1, 6), st.integers(2, 30), st.sampled_from([(5,), (16, 16)]), st.integers(0, 2**32))
def test_gradients_are_central_differences(d: int, n: int, hidden: tuple[int, ...], seed: int) -> None:
    X, y = unit_data(n, d, seed % 1000)
    model = NeuralEnsemble(3, hidden, 30, seed).fit(Data(X, 3.0 * y), rng())
    at = rng(seed).random((30, d))
    at = at[off_kinks(model.networks, at, 1e-6)]
    assert len(at) >= 20
    found = model.predict_with_gradient(at)
    plain = model.predict(at)
    np.testing.assert_array_equal(found.mean, plain.mean)
    np.testing.assert_array_equal(found.std, plain.std)
    mean = slopes(lambda X: model.predict(X).mean[:, None], at, 1e-6)[:, 0]
    variance = slopes(lambda X: model.predict(X).std[:, None] ** 2, at, 1e-6)[:, 0]
    scale = float(np.abs(found.mean_gradient).max(initial=1.0))
    np.testing.assert_allclose(found.mean_gradient, mean, rtol=0.0, atol=1e-6 * scale)
    np.testing.assert_allclose(2.0 * found.std[:, None] * found.std_gradient, variance, rtol=0.0, atol=1e-5 * scale**2)


def test_networks_that_agree_leave_a_little_std_and_a_finite_gradient() -> None:
    model = SMALL.fit(Data(*unit_data(8, 2)), rng())
    one = type(model.networks)(
        tuple(np.repeat(W[:1], 3, axis=0) for W in model.networks.weights),
        tuple(np.repeat(b[:1], 3, axis=0) for b in model.networks.biases),
    )
    found = NeuralModel(one, 0.0, 1e6).predict_with_gradient(rng().random((5, 2)))
    np.testing.assert_allclose(found.std, 1e-3, rtol=1e-6)
    np.testing.assert_allclose(found.std_gradient, 0.0, atol=1e-3)


# Draws


def test_with_fixed_draws_the_generator_does_not_matter_and_without_them_it_does() -> None:
    X, y = unit_data(20, 3)
    fixed = SMALL.with_fixed_draws(5)
    assert fixed == NeuralEnsemble(3, (8,), 40, 5)
    assert same_networks(fixed.fit(Data(X, y), rng(0)).networks, fixed.fit(Data(X, y), rng(1)).networks)
    assert not same_networks(
        fixed.fit(Data(X, y), rng(0)).networks, SMALL.with_fixed_draws(6).fit(Data(X, y), rng(0)).networks
    )
    assert not same_networks(SMALL.fit(Data(X, y), rng(0)).networks, SMALL.fit(Data(X, y), rng(1)).networks)
    assert same_networks(SMALL.fit(Data(X, y), rng(0)).networks, SMALL.fit(Data(X, y), rng(0)).networks)


def test_the_last_fit_is_no_start_for_the_next_one() -> None:
    X, y = unit_data(20, 3)
    previous = SMALL.fit(Data(X, -y), rng(3))
    assert same_networks(SMALL.fit(Data(X, y), rng(0), previous).networks, SMALL.fit(Data(X, y), rng(0)).networks)


def test_with_fixed_draws_one_more_observation_changes_a_fit_through_its_data_alone() -> None:
    X, y = unit_data(25, 3)
    start = NeuralEnsemble(4, (8,), 1, seed=5)
    assert same_networks(start.fit(Data(X[:24], y[:24]), rng(0)).networks, start.fit(Data(X, y), rng(1)).networks)
    trained = NeuralEnsemble(4, (8,), 30, seed=5)
    repeated = np.vstack([X[:24], X[:1]]), np.append(y[:24], y[0])
    one, other = trained.fit(Data(X[:24], y[:24]), rng(0)), trained.fit(Data(*repeated), rng(1))
    at = rng().random((50, 3))
    far = NeuralEnsemble(4, (8,), 30, seed=6).fit(Data(X[:24], y[:24]), rng(0))
    moved = np.abs(one.predict(at).mean - other.predict(at).mean).mean()
    assert 0.0 < moved < 0.2 * np.abs(one.predict(at).mean - far.predict(at).mean).mean()


# Hard data


@each("size", [1e-12, 1.0, 1e12])
@each("kind", HARD)
def test_hard_data_give_finite_predictions_near_the_data_and_std_above_zero(kind: str, size: float) -> None:
    X, y = hard_data(kind, size)
    model = NeuralEnsemble(3, (16,), 200).fit(Data(X, y), rng())
    at = np.vstack([X, rng(1).random((50, 2)), np.zeros((1, 2)), np.ones((1, 2))])
    found = model.predict_with_gradient(at)
    for part in (found.mean, found.std, found.mean_gradient, found.std_gradient):
        assert np.isfinite(part).all()
    assert (found.std > 0.0).all()
    reach = np.abs(y).max()
    assert np.abs(found.mean).max() < 5.0 * reach
    assert found.std.max() < 5.0 * reach


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_units_of_y_do_not_matter(factor: float) -> None:
    X, y = unit_data(15, 2)
    at = rng(1).random((20, 2))
    plain, scaled = SMALL.fit(Data(X, y), rng()).predict(at), SMALL.fit(Data(X, factor * y), rng()).predict(at)
    np.testing.assert_allclose(scaled.mean / factor, plain.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(scaled.std / factor, plain.std, rtol=1e-6)


# What it is worth


def test_networks_differ_more_away_from_the_data_than_at_it() -> None:
    # Data in a corner of the square, the opposite corner unseen: 16 of 20 or more happen by chance once in 170 times.
    wins = 0
    for seed in range(20):
        draw = rng(seed)
        X = 0.5 * draw.random((15, 2))
        model = NeuralEnsemble(5, (32, 32)).fit(Data(X, unit_smooth(X)), draw)
        wins += bool(model.predict(0.5 + 0.5 * draw.random((50, 2))).std.mean() > model.predict(X).std.mean())
    assert wins >= 16


def r_squared(mean: Array, truth: Array) -> float:
    return float(1.0 - ((mean - truth) ** 2).mean() / truth.var())


def test_it_fits_not_clearly_worse_than_scikit_learns_networks() -> None:
    neural_network = pytest.importorskip("sklearn.neural_network")
    at = rng(99).random((500, 6))
    ours, theirs = [], []
    for seed in range(3):
        X = rng(seed).random((50, 6))
        y = hartmann6(X)
        unit = (y - y.mean()) / y.std()
        model = NeuralEnsemble(5).fit(Data(X, y), rng(seed))
        ours.append(r_squared(model.predict(at).mean, hartmann6(at)))
        judges = []
        for member in range(5):
            judge = neural_network.MLPRegressor(
                hidden_layer_sizes=(64, 64),
                max_iter=2000,
                learning_rate="adaptive",
                early_stopping=True,
                random_state=10 * seed + member,
            )
            judges.append(judge.fit(X, unit).predict(at))
        theirs.append(r_squared(y.mean() + y.std() * np.mean(judges, axis=0), hartmann6(at)))
    assert np.mean(ours) > np.mean(theirs) - 0.1


# In a study


@pytest.mark.parametrize("strategy", STUDIED)
def test_a_study_works_with_every_strategy_and_with_pending_points(strategy: str) -> None:
    pending_and_failed_points_are_kept_off(NeuralEnsemble(2, (6,), 15), strategy)


def test_recipe_and_model_survive_pickling_and_the_recipe_a_journal() -> None:
    recipe = NeuralEnsemble(3, (8, 4), 40, seed=9)
    survive_pickling_and_a_journal(recipe, recipe.fit(Data(*unit_data(9, 2)), rng()), rng(1).random((5, 2)))


@pytest.mark.parametrize(
    ("settings_", "word"),
    [
        ({"members": 1}, "members"),
        ({"members": 2.0}, "members"),
        ({"hidden": ()}, "hidden"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_settings_are_checked(settings_: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        NeuralEnsemble(**settings_)


@pytest.mark.parametrize("seed", [None, -1, 0.5, True])
def test_draws_are_fixed_by_a_whole_number_only(seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number, 0 or more"):
        NeuralEnsemble().with_fixed_draws(seed)


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        SMALL.fit(Data(X, y), rng())
