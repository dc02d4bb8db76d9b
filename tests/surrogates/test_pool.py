"""Candidates that are kept: whatever the model is told, they say what it would predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen
from believer.surrogates.data import Data
from believer.surrogates.forest import RandomForest
from believer.surrogates.gp import GPModel, posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.gp_pool import GPPool
from believer.surrogates.kernels import KERNELS
from believer.surrogates.pool import Pool, Pooling, Predicted, pool_of
from believer.surrogates.protocols import Prediction

EPS = float(np.finfo(np.float64).eps)


def model_of(n: int, d: int = 3, noise: float = 1e-4, kernel: str = "matern52", seed: int = 0) -> GPModel:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(5.0 * X).sum(axis=1) * 3.0 + 7.0
    shift, scale = standardization(y)
    hyper = Hyperparameters(kernel, frozen(np.full(d, 0.6)), 1.5, noise)
    return posterior(hyper, X, y, shift, scale)


def more(k: int, d: int = 3, seed: int = 1) -> Data:
    rng = np.random.default_rng((seed, k))
    return Data(rng.random((k, d)), rng.normal(size=k))


def assert_same(pool: Pool, model: GPModel, at: Array) -> None:
    """To 1e-9 C cond(K_y) of what the model predicts, in units of its scale."""
    condition = np.linalg.cond(model.factor.base) ** 2
    allowed = max(1e-9, 4.0 * len(model.y) * EPS * condition)
    kept, anew = pool.predict(), model.predict(at)
    np.testing.assert_array_equal(pool.points, at)
    assert np.abs(kept.mean - anew.mean).max() <= allowed * model.scale * max(1.0, float(np.abs(model.y).max()))
    assert np.abs((kept.std / model.scale) ** 2 - (anew.std / model.scale) ** 2).max() <= allowed


@pytest.mark.both_backends
@each("kernel", KERNELS)
@each("noise", [1e-6, 1e-2])
@each("n", [1, 33, 130])
def test_a_pool_says_what_the_conditioned_model_predicts(n: int, noise: float, kernel: str) -> None:
    model, at, late = model_of(n, noise=noise, kernel=kernel), more(40).X, more(7, seed=5).X
    pool = model.pool(at)
    assert_same(pool, model, at)
    for row in range(5):
        lie = more(5)
        model = model.condition(Data(lie.X[row : row + 1], lie.y[row : row + 1]))
        pool = pool.under(model)
        if row in (1, 2, 3):
            pool, at = pool.extended(late + row / 100.0), np.vstack([at, late + row / 100.0])
        assert_same(pool, model, at)


@pytest.mark.both_backends
def test_a_pool_may_miss_lies_and_catch_up_to_the_bit() -> None:
    model, at, lies = model_of(50), more(40).X, more(6)
    step = model
    pool = model.pool(at)
    for row in range(6):
        step = step.condition(Data(lies.X[row : row + 1], lies.y[row : row + 1]))
        pool = pool.under(step)
    late = model.pool(at).under(step)
    np.testing.assert_array_equal(pool.predict().mean, late.predict().mean)
    np.testing.assert_array_equal(pool.predict().std, late.predict().std)


@pytest.mark.both_backends
def test_the_order_of_lies_does_not_matter() -> None:
    model, at, lies = model_of(50), more(40).X, more(6)
    found = []
    for order in (np.arange(6), np.arange(6)[::-1]):
        told = model.condition(Data(lies.X[order], lies.y[order]))
        found.append(model.pool(at).under(told).predict())
    np.testing.assert_allclose(found[0].mean, found[1].mean, rtol=1e-9)
    np.testing.assert_allclose(found[0].std, found[1].std, atol=1e-7)


@pytest.mark.both_backends
def test_a_mean_that_is_believed_moves_no_mean_and_stds_never_rise() -> None:
    model, at = model_of(50), more(40).X
    pool = model.pool(at)
    x = more(1, seed=9).X
    told = pool.under(model.condition(Data(x, model.predict(x).mean)))
    np.testing.assert_allclose(told.predict().mean, pool.predict().mean, rtol=1e-9)
    assert (told.predict().std <= pool.predict().std).all()


def test_a_pool_of_another_model_is_made_anew() -> None:
    model, at = model_of(50), more(40).X
    pool = model.pool(at)
    assert pool.under(model) is pool
    for other in (model_of(50, seed=3), model.with_lengthscales(0.5 * model.lengthscales), model_of(20)):
        np.testing.assert_array_equal(pool.under(other).predict().mean, other.predict(at).mean)
        np.testing.assert_array_equal(pool.under(other).predict().std, other.predict(at).std)


def test_of_very_many_candidates_that_were_added_the_oldest_go() -> None:
    model, first, added = model_of(20), more(1).X, list[Array]()
    pool: Any = model.pool(first)
    for i in range(80):
        added.append(np.random.default_rng(i).random((64, first.shape[1])))
        pool = pool.extended(added[-1])
    points = pool.points
    assert 2048 <= len(points) <= 2048 + 1024
    np.testing.assert_array_equal(points[:1], first)
    np.testing.assert_array_equal(points[1:], np.vstack(added)[1 - len(points) :])
    np.testing.assert_allclose(pool.predict().mean, model.predict(points).mean, rtol=1e-9, atol=1e-9)


def test_candidates_that_are_added_are_copied_rarely() -> None:
    model, at = model_of(20), more(4).X
    pool: Any = model.pool(at)
    for _ in range(64):
        pool = pool.extended(at)
    assert len(pool.points) == 65 * 4
    assert len(pool.blocks) <= 8
    assert pool.extended(at[:0]) is pool


@dataclass(frozen=True, slots=True, eq=False)
class Shifted(GPModel):
    """A class that is derived from the model and predicts something else."""

    def predict(self, X: Array) -> Prediction:
        at = GPModel.predict(self, X)
        return Prediction(at.mean + 1.0, at.std)


def test_a_model_without_a_pool_of_its_own_predicts_anew() -> None:
    model, at = model_of(20), more(4).X
    odd = Shifted(model.hyper, model.X, model.y, model.shift, model.scale, model.factor, model.whitened, model.alpha)
    forest = RandomForest(trees=3).fit(Data(model.X, model.y), np.random.default_rng(0))
    assert isinstance(model, Pooling)
    assert not isinstance(forest, Pooling)
    assert isinstance(pool_of(model, at), GPPool)
    for one in (odd, forest):
        pool = pool_of(one, at)
        assert isinstance(pool, Predicted)
        np.testing.assert_array_equal(pool.predict().mean, one.predict(at).mean)
        assert pool.predict() is pool.predict()
        assert pool.under(one) is pool
        np.testing.assert_array_equal(pool.under(model).predict().mean, model.predict(at).mean)
        np.testing.assert_array_equal(pool.extended(at).predict().std, np.tile(one.predict(at).std, 2))
