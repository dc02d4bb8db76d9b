"""Resamples, and the laws of every surrogate that stands on scikit-learn and on them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import STUDIED, smooth
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern
from sklearn.linear_model import BayesianRidge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import believer as bv
from believer.arrays import Array
from believer.errors import InvalidInput, MissingExtra
from believer.maximize import Candidates
from believer.surrogates import SVR, RandomForest, SklearnSurrogate
from believer.surrogates.bootstrap import resamples, states, summary
from believer.surrogates.data import Data
from believer.surrogates.protocols import MIN_STD, Conditionable, Differentiable, Model, Stochastic

SURROGATES: dict[str, Any] = {
    "forest": RandomForest(trees=12),
    "svr": SVR(members=4),
    "neighbors": SklearnSurrogate(KNeighborsRegressor(1), members=4),
    "network": SklearnSurrogate(
        make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(4,), max_iter=20)), members=3
    ),
    "ridge": SklearnSurrogate(BayesianRidge()),
    "gp": SklearnSurrogate(GaussianProcessRegressor(Matern(nu=2.5), alpha=1e-6, n_restarts_optimizer=1)),
}
ALL = list(SURROGATES)
ENSEMBLES = ["forest", "svr", "neighbors", "network"]
DRAWING = [*ENSEMBLES, "gp"]
"""Those whose fit depends on the generator that it gets."""

every_surrogate = pytest.mark.parametrize("surrogate", SURROGATES.values(), ids=ALL)


def data(n: int = 14, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    X = np.random.default_rng(seed).random((n, d))
    return X, smooth(X)


def bits(model: Model, at: Array) -> bytes:
    prediction = model.predict(at)
    return prediction.mean.tobytes() + prediction.std.tobytes()


def sound(model: Model, at: Array) -> None:
    prediction = model.predict(at)
    assert prediction.mean.shape == prediction.std.shape == (len(at),)
    assert np.isfinite(prediction.mean).all()
    assert np.isfinite(prediction.std).all()
    assert (prediction.std > 0.0).all()


# Resamples


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**32))
def test_fixed_counts_of_the_first_observations_do_not_depend_on_those_that_follow(
    n: int, more: int, members: int, seed: int
) -> None:
    rng = np.random.default_rng(1)
    few, many = resamples(n, members, rng, seed), resamples(n + more, members, rng, seed)
    np.testing.assert_array_equal(few, many[:, :n])


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 12), st.one_of(st.none(), st.integers(0, 2**32)))
def test_no_resample_is_empty(n: int, members: int, fixed: int | None) -> None:
    counts = resamples(n, members, np.random.default_rng(n), fixed)
    assert counts.shape == (members, n)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) > 0).all()


def test_a_free_resample_has_as_many_draws_as_there_are_observations() -> None:
    assert (resamples(17, 50, np.random.default_rng(0)).sum(axis=1) == 17).all()


def test_counts_of_both_kinds_have_mean_and_variance_of_a_bootstrap() -> None:
    # Binomial(n, 1/n) and Poisson(1): mean 1, variance 1 - 1/n and 1. Bars: five standard errors of 20,000 draws.
    free, fixed = resamples(20, 1000, np.random.default_rng(0)), resamples(21, 1000, np.random.default_rng(0), 0)[:, 1:]
    assert fixed.mean() == pytest.approx(1.0, abs=5.0 / np.sqrt(20000))
    assert free.var() == pytest.approx(0.95, abs=5.0 * np.sqrt(3.0 / 20000))
    assert fixed.var() == pytest.approx(1.0, abs=5.0 * np.sqrt(3.0 / 20000))


def test_fixed_draws_leave_the_generator_alone_and_do_not_repeat_the_stream_of_their_seed() -> None:
    rng = np.random.default_rng(3)
    counts = resamples(10, 5, rng, 7)
    assert states(5, rng, 7) == states(9, rng, 7)[:5]
    assert rng.bit_generator.state == np.random.default_rng(3).bit_generator.state
    assert not np.array_equal(counts.T, np.random.default_rng(7).poisson(1.0, size=(10, 5)))


def test_a_summary_is_mean_and_standard_deviation_over_members_in_the_units_of_y() -> None:
    F = np.array([[1.0, 3.0], [2.0, 2.0]])
    at = summary(F, 10.0, 5.0)
    np.testing.assert_array_equal(at.mean, [20.0, 20.0])
    np.testing.assert_array_equal(at.std, [5.0, 5.0 * MIN_STD])


# Laws of the surrogates


@every_surrogate
@each(("n", "d"), [(1, 1), (2, 2), (9, 1), (12, 50)])
def test_mean_and_std_are_sound_whatever_the_size_of_the_data(surrogate: Any, n: int, d: int) -> None:
    X, y = data(n, d)
    model = surrogate.fit(Data(X, y), np.random.default_rng(0))
    sound(model, np.vstack([np.random.default_rng(1).random((4, d)), X]))
    sound(model, np.zeros((0, d)))


@every_surrogate
@each("constant", [0.0, -3.0, 1e12, 1e-12])
def test_constant_values_are_predicted_everywhere(surrogate: Any, constant: float) -> None:
    X, _ = data(6)
    model = surrogate.fit(Data(X, np.full(6, constant)), np.random.default_rng(0))
    sound(model, X)
    if surrogate is not SURROGATES["network"]:  # which starts from random weights and stops early
        np.testing.assert_allclose(model.predict(X).mean, constant, rtol=1e-9, atol=1e-9 * (constant == 0.0))


@every_surrogate
@each("unit", [2.0**40, 2.0**-40], ids=["1e12", "1e-12"])
def test_predictions_follow_the_units_of_y(surrogate: Any, unit: float) -> None:
    X, y = data()
    at = np.random.default_rng(1).random((6, 3))
    one = surrogate.fit(Data(X, y), np.random.default_rng(0)).predict(at)
    other = surrogate.fit(Data(X, unit * y), np.random.default_rng(0)).predict(at)
    np.testing.assert_allclose(other.mean, unit * one.mean, rtol=1e-9)
    np.testing.assert_allclose(other.std, unit * one.std, rtol=1e-9)


@every_surrogate
def test_duplicated_points_with_different_values_are_no_trouble(surrogate: Any) -> None:
    X, y = data(5)
    model = surrogate.fit(Data(np.vstack([X, X, X]), np.concatenate([y, y, y + 1.0])), np.random.default_rng(0))
    sound(model, X)


@every_surrogate
def test_a_fit_depends_on_data_and_generator_alone_and_leaves_the_data_as_they_are(surrogate: Any) -> None:
    X, y = data()
    copies = X.copy(), y.copy()
    one = surrogate.fit(Data(X, y), np.random.default_rng(4))
    two = surrogate.fit(Data(X, y), np.random.default_rng(4), one)
    assert bits(one, X) == bits(two, X)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(y, copies[1])


@pytest.mark.parametrize("name", DRAWING)
def test_another_generator_gives_another_fit(name: str) -> None:
    X, y = data()
    one = SURROGATES[name].fit(Data(X, y), np.random.default_rng(4))
    other = SURROGATES[name].fit(Data(X, y), np.random.default_rng(5))
    assert bits(one, X + 0.01) != bits(other, X + 0.01)


@every_surrogate
def test_with_fixed_draws_a_fit_depends_on_data_and_seed_alone(surrogate: Any) -> None:
    assert isinstance(surrogate, Stochastic)
    X, y = data()
    frozen = surrogate.with_fixed_draws(3)
    one, two = (frozen.fit(Data(X, y), np.random.default_rng(seed)) for seed in (0, 1))
    assert bits(one, X) == bits(two, X)
    if surrogate is not SURROGATES["ridge"]:
        other = surrogate.with_fixed_draws(4).fit(Data(X, y), np.random.default_rng(0))
        assert bits(one, X + 0.01) != bits(other, X + 0.01)


@every_surrogate
def test_recipes_and_models_survive_pickling(surrogate: Any) -> None:
    X, y = data()
    model = surrogate.fit(Data(X, y), np.random.default_rng(0))
    again = pickle.loads(pickle.dumps(surrogate)).fit(Data(X, y), np.random.default_rng(0))
    assert bits(pickle.loads(pickle.dumps(model)), X) == bits(model, X) == bits(again, X)


@every_surrogate
def test_capabilities_are_what_the_model_can_do(surrogate: Any) -> None:
    model = surrogate.fit(Data(*data()), np.random.default_rng(0))
    assert isinstance(model, Model)
    assert not isinstance(model, Conditionable)
    assert isinstance(model, Differentiable) == isinstance(surrogate, SVR)


@every_surrogate
def test_data_that_break_a_rule_are_refused(surrogate: Any) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="at least one observation"):
        surrogate.fit(Data(np.zeros((0, 2)), np.zeros(0)), rng)
    with pytest.raises(InvalidInput, match="one value for each of the 2 points"):
        surrogate.fit(Data(np.zeros((2, 2)), np.zeros(3)), rng)
    with pytest.raises(InvalidInput, match="X must be finite"):
        surrogate.fit(Data(np.full((2, 2), np.nan), np.zeros(2)), rng)


@pytest.mark.parametrize("recipe", [RandomForest, SVR, lambda **given: SklearnSurrogate(BayesianRidge(), **given)])
@pytest.mark.parametrize("seed", [-1, 0.5, "a", True])
def test_a_seed_must_be_a_whole_number(recipe: Any, seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        recipe(seed=seed)
    with pytest.raises(InvalidInput, match="seed must be a whole number"):
        recipe().with_fixed_draws(seed)


@every_surrogate
def test_without_scikit_learn_the_extra_is_named(surrogate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*believer\[surrogates\]") as raised:
        surrogate.fit(Data(*data()), np.random.default_rng(0))
    assert raised.value.extra == "surrogates"


# In a study

SPACE = bv.Space({"a": bv.Float(1.0, 5.0), "k": bv.Int(1, 40), "c": bv.Categorical(["one", "two", "three"])})
QUICK = Candidates(candidates=64, neighbors=6, survivors=3, rounds=2)


def value(params: dict[str, Any]) -> float:
    return float((params["a"] - 2.0) ** 2 + 0.01 * params["k"] + len(params["c"]))


def study(surrogate: Any, strategy: str, **given: Any) -> bv.Optimizer:
    """Six results, then two points that stay pending."""
    opt = bv.Optimizer(SPACE, surrogate=surrogate, strategy=strategy, n_init=6, seed=1, **{"maximizer": QUICK, **given})
    for trial in opt.ask(6):
        opt.tell(trial, value(trial.params))
    opt.ask(2)
    return opt


@each("strategy", STUDIED)
@each("name", ["forest", "svr", "neighbors", "ridge"])
def test_every_strategy_works_with_pending_points(name: str, strategy: str) -> None:
    opt = study(SURROGATES[name], strategy)
    batch = opt.ask(3)
    assert [trial.origin for trial in batch] == ["model"] * 3
    assert len({tuple(trial.params.values()) for trial in opt.trials}) == 11
    for trial in batch:
        opt.tell(trial, value(trial.params))
    assert len(opt.ask(1)) == 1


@pytest.mark.parametrize("name", ["forest", "svr", "neighbors"])
def test_asking_one_by_one_is_asking_at_once(name: str) -> None:
    maximizer = None if name == "svr" else QUICK
    at_once = [trial.params for trial in study(SURROGATES[name], "kb", maximizer=maximizer).ask(3)]
    one_by_one = study(SURROGATES[name], "kb", maximizer=maximizer)
    assert [one_by_one.ask(1)[0].params for _ in range(3)] == at_once


@pytest.mark.parametrize("name", ["forest", "svr", "neighbors"])
def test_a_journal_brings_the_study_back(name: str, tmp_path: Path) -> None:
    surrogate = SURROGATES[name]
    opt = study(surrogate, "cl_min", journal=tmp_path / "study.jsonl")
    path = tmp_path / "copy.jsonl"
    path.write_bytes((tmp_path / "study.jsonl").read_bytes())
    # An estimator is code, which a journal does not hold: it is passed again.
    loaded = bv.Optimizer.load(path, **({"surrogate": surrogate} if name == "neighbors" else {}))
    assert [trial.params for trial in loaded.ask(2)] == [trial.params for trial in opt.ask(2)]
