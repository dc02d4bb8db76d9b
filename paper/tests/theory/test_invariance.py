"""Believing leaves the mean of a model to which it adds a residual of zero; other ways to take a lie in do not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer import surrogates
from believer.acquisitions import EI
from believer.arrays import Array, frozen
from believer.batch import Believe, Data
from believer.problems import hartmann6
from believer.surrogates.gp import GP, GPModel, posterior
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import Conditionable, Prediction
from believer_paper.setup.likelihood import PrintedGP
from believer_paper.theory import Family, Situation, believe, conditioned, guarantee, mean_shift, restandardized

seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1.0])
@settings(max_examples=15)
@given(seed=seeds, dim=st.integers(1, 3))
def test_believing_moves_the_mean_by_nothing(kernel: str, noise: float, seed: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel=kernel, dim=dim).draw(rng).model
    x = rng.random(dim)
    assert np.abs(mean_shift(model, x, rng.random((20, dim)))).max() < 1e-6 * (1.0 if noise == 0.0 else 1e-3)


@settings(max_examples=10)
@given(seed=seeds)
def test_any_other_lie_moves_the_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=1e-2, dim=2).draw(rng).model
    x = rng.random(2)
    before = model.predict(x[None, :])
    after = model.condition(Data(x[None, :], before.mean + before.std)).predict(x[None, :])
    assert float(after.mean[0] - before.mean[0]) > 0.0


@pytest.mark.parametrize("name", ["GP", "MQRBF", "FixedRBF", "SparseGP", "LastLayer"])
def test_believing_moves_no_mean_of_any_surrogate_that_is_conditioned_in_closed_form(name: str) -> None:
    if name == "LastLayer":
        pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    X, x, at = rng.random((20, 3)), rng.random(3), rng.random((50, 3))
    model = getattr(surrogates, name)().fit(Data(X, np.sin(5.0 * X[:, 0]) + X[:, 1]), np.random.default_rng(0))
    assert isinstance(model, Conditionable)
    assert np.abs(mean_shift(model, x, at)).max() < 1e-9
    believed = float(model.predict(x[None, :]).mean[0])
    moved = conditioned(model, x, believed + 1.0, at).mean - model.predict(at).mean
    assert np.abs(moved).max() > 1e-3, "another lie does move it"


@pytest.fixture(scope="module")
def hartmann() -> tuple[Data, Array, Array]:
    """Results, the point that EI chooses next, and other points."""
    rng = np.random.default_rng(2)
    X = rng.random((20, 6))
    data = Data(frozen(X), frozen(hartmann6().evaluate(X)))
    situation = Situation(PrintedGP().fit(data, rng), EI(), Believe(), data)
    return data, guarantee(situation, rng).step.x, rng.random((200, 6))


def test_restandardizing_or_refitting_after_a_believed_value_moves_the_mean(
    hartmann: tuple[Data, Array, Array],
) -> None:
    data, x, at = hartmann
    # How far σ rises depends on the lengthscales, and these on the prior.
    for recipe, rise in ((PrintedGP(), 0.1), (GP(prior="separate"), 0.1), (GP(), 0.05)):
        found = believe(recipe, data, x, at, np.random.default_rng(0))
        assert found.shifts["condition"] < 1e-9
        assert found.shifts["restandardize"] > 5e-3
        assert found.shifts["refit"] > 5e-3
        assert found.rises["condition"] < 1e-6
        assert found.rises["restandardize"] > rise


def test_restandardizing_is_the_posterior_on_data_and_lie_with_their_own_shift_and_scale() -> None:
    situation = Family(noise=1e-4, dim=2).draw(np.random.default_rng(0))
    model, data = situation.model, situation.data
    assert isinstance(model, GPModel)
    x, lie = np.array([0.3, 0.9]), 4.0
    y = np.append(data.y, lie)
    expected = posterior(model.hyper, np.vstack([data.X, x]), y, float(y.mean()), float(y.std()))
    at = np.random.default_rng(1).random((5, 2))
    np.testing.assert_allclose(
        restandardized(model, data, x, lie).predict(at).mean, expected.predict(at).mean, rtol=1e-12
    )


@dataclass(frozen=True, slots=True, eq=False)
class OfLogarithms:
    """A Gaussian process on log y: the mean of y is exp(μ + σ²/2), whose logarithm is not μ."""

    inner: GPModel

    def predict(self, X: Array) -> Prediction:
        at = self.inner.predict(X)
        mean = np.exp(at.mean + 0.5 * at.std**2)
        return Prediction(mean, mean * np.sqrt(np.expm1(at.std**2)))

    def condition(self, data: Data) -> OfLogarithms:
        X, y = data.X, data.y
        return OfLogarithms(self.inner.condition(Data(X, np.log(y))))


def test_believing_moves_the_mean_where_the_believed_value_is_not_of_residual_zero() -> None:
    rng = np.random.default_rng(2)
    inner = Family(noise=1e-6, dim=2).draw(rng).model
    assert isinstance(inner, GPModel)
    at = rng.random((200, 2))
    x = at[int(np.argmax(inner.predict(at).std))]
    shift = mean_shift(OfLogarithms(inner), x, at)
    assert np.abs(mean_shift(inner, x, at)).max() < 1e-9
    assert np.abs(shift).max() > 0.02 * float(np.ptp(OfLogarithms(inner).predict(at).mean))


@dataclass(frozen=True, slots=True, eq=False)
class NearestNeighbor:
    """The value of the nearest point: linear in y."""

    X: Array
    y: Array

    def predict(self, X: Array) -> Prediction:
        nearest = np.abs(X - self.X.T).argmin(axis=1)
        return Prediction(self.y[nearest], np.ones(len(X)))

    def condition(self, data: Data) -> NearestNeighbor:
        X, y = data.X, data.y
        return NearestNeighbor(np.vstack([self.X, X]), np.append(self.y, y))


def test_believing_moves_a_mean_that_is_affine_in_y_but_solves_no_least_squares() -> None:
    model = NearestNeighbor(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(mean_shift(model, np.array([0.4]), np.array([[0.1], [0.6], [0.9]])), [0.0, -1.0, 0.0])
