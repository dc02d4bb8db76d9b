"""What several tests of surrogates are judged by: functions for data, differences, comparisons, studies."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chi2

import believer as bv
from believer.arrays import Array, BoolArray, frozen
from believer.study.serialization import from_config, to_config
from believer.surrogates.data import Data
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.network import Networks
from believer.surrogates.protocols import Model, Surrogate

# Data


def smooth(X: Array) -> Array:
    """A smooth function of any dimension, for data."""
    values: Array = np.sin(3.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1) / X.shape[1]
    return values


def unit_smooth(X: Array) -> Array:
    """A smooth function of any dimension, standardized over the cube within a factor of two."""
    values: Array = 2.0 * np.sin(3.0 * X[:, 0]) + 3.0 * ((X - 0.4) ** 2).sum(axis=1) / X.shape[1] - 1.3
    return values


def unit_data(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    """Random points (n, d), and :func:`unit_smooth` there (n,)."""
    X = np.random.default_rng(seed).random((n, d))
    return X, unit_smooth(X)


BAD_DATA: list[tuple[Any, Any, str]] = [
    (np.zeros((0, 2)), np.zeros(0), "at least one observation"),
    (np.zeros(3), np.zeros(3), "X must have two axes"),
    (np.zeros((3, 2)), np.zeros((3, 2)), "one model learns one output"),
    (np.zeros((3, 2)), np.zeros(2), "one value for each of the 3 points; got 2"),
    (np.array([[0.0], [np.nan]]), np.zeros(2), "X must be finite; row 1 is not"),
    (np.zeros((2, 1)), np.array([0.0, np.inf]), "y must be finite; item 1 is not"),
    ([["a"]], np.zeros(1), "X must be a table of numbers; got list"),
    (np.zeros((1, 1)), ["a"], "y must be a list of numbers; got ndarray"),
]
"""X and y that every fit must refuse, and the rule that each breaks."""


HARD = ("one", "constant", "repeated", "plain")
"""Kinds of :func:`hard_data`."""


def hard_data(kind: str, size: float) -> tuple[Array, Array]:
    """Points (n, 2) and values (n,) of that ``size``: see :data:`HARD`."""
    X, y = unit_data(12, 2)
    if kind == "one":
        X, y = X[:1], y[:1]
    elif kind == "constant":
        y = np.full(12, 0.7)
    elif kind == "repeated":
        X[6:] = X[0]
    return X, size * y


def hyper_for(d: int, kernel: str = "matern52", noise: float = 1e-4, mean: float = 0.2) -> Hyperparameters:
    """Hyperparameters of a Gaussian process in ``d`` columns, a lengthscale for each."""
    lengthscales = frozen(np.linspace(0.3, 0.6, d) * np.sqrt(d))
    return Hyperparameters(kernel, lengthscales, signal=1.7, noise=noise, mean=mean)


# Differences


def central_differences(f: Callable[[Array], Array], x: Array, step: float) -> Array:
    """Fourth-order central differences of ``f: (m, d) -> (m,)`` at ``x`` (d,), as (d,)."""
    E = step * np.eye(len(x))
    near, far = f(x + E) - f(x - E), f(x + 2.0 * E) - f(x - 2.0 * E)
    slope: Array = (8.0 * near - far) / (12.0 * step)
    return slope


def slopes(f: Callable[[Array], Array], X: Array, step: float) -> Array:
    """Central differences of ``f: (m, d) -> (..., m, h)`` at ``X`` (m, d), as (..., m, h, d).

    Of second order: they are for what is linear in pieces, where the shorter stencil meets fewer kinks.
    """
    out: Array = np.stack([(f(X + e) - f(X - e)) / (2.0 * step) for e in step * np.eye(X.shape[1])], axis=-1)
    return out


def off_kinks(networks: Networks, X: Array, step: float) -> BoolArray:
    """Which of ``X`` (m, d) have no kink within ``step`` along any axis, so that the networks are linear there."""
    steady = np.ones(len(X), dtype=bool)
    for move in step * np.vstack([np.eye(X.shape[1]), -np.eye(X.shape[1])]):
        for here, there in zip(networks.hidden(X), networks.hidden(X + move), strict=True):
            steady &= ((here > 0.0) == (there > 0.0)).all(axis=(0, 2))
    return steady


# Comparisons


def same_predictions(a: Model, b: Model, at: Array, scale: float, tol: float = 1e-9) -> None:
    """Means and variances at ``at`` (m, d) agree to ``tol`` of the ``scale`` of y."""
    one, two = a.predict(at), b.predict(at)
    np.testing.assert_allclose(one.mean, two.mean, rtol=0.0, atol=tol * scale)
    np.testing.assert_allclose(one.std**2, two.std**2, rtol=0.0, atol=tol * scale**2)


def same_networks(a: Networks, b: Networks, rows: Any = slice(None)) -> bool:
    """Whether the networks in ``rows`` are the same, bit for bit."""
    pairs = zip((*a.weights, *a.biases), (*b.weights, *b.biases), strict=True)
    return all(np.array_equal(p[rows], q[rows]) for p, q in pairs)


def joint_is_that_of_predict(model: Any, X: Array, scale: float, rtol: float) -> None:
    """The joint at ``X`` (m, d) has the predicted mean and variances, is symmetric, and has no negative eigenvalue."""
    joint, at = model.joint(X), model.predict(X)
    np.testing.assert_allclose(np.diagonal(joint.covariance), at.std**2, rtol=rtol, atol=1e-12 * scale**2)
    np.testing.assert_allclose(joint.mean, at.mean, rtol=0.0, atol=1e-12 * (np.abs(at.mean).max() + scale))
    np.testing.assert_array_equal(joint.covariance, joint.covariance.T)
    assert np.linalg.eigvalsh(joint.covariance).min() > -1e-12 * scale**2


def samples_have_the_moments_of_the_joint(model: Any, X: Array, noise: float | None) -> None:
    """Draws at ``X`` (m, d), with a ``noise`` variance in the squared units of y or, where it is None, without.

    Whitened draws are standard normal: their mean has χ²(m), the sum of their squares χ²(m count), and every product
    of two coordinates a variance of 1. Each bound has a false-alarm rate of 1e-6; the generator is seeded.
    """
    m, count, rate = len(X), 4000, 1e-6
    draws = model.sample(X, count, np.random.default_rng(11), noisy=noise is not None)
    assert draws.shape == (count, m)
    np.testing.assert_array_equal(draws, model.sample(X, count, np.random.default_rng(11), noisy=noise is not None))
    joint = model.joint(X)
    covariance = joint.covariance + (noise or 0.0) * np.eye(m)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - joint.mean).T)
    assert count * float((white.mean(axis=1) ** 2).sum()) < chi2.isf(rate, m)
    assert chi2.ppf(rate, m * count) < float((white**2).sum()) < chi2.isf(rate, m * count)
    assert np.abs((white @ white.T / count)[np.triu_indices(m, 1)]).max() < 5.0 / np.sqrt(count)


def believed(model: Any, points: Array) -> Any:
    """``model`` told its own mean at each of ``points`` (k, d), one after another."""
    for x in points:
        model = model.condition(Data(x[None, :], model.predict(x[None, :]).mean))
    return model


def survive_pickling_and_a_journal(recipe: Surrogate, model: Model, at: Array) -> None:
    """The recipe is the same value afterwards, and the model predicts the same bits at ``at`` (m, d)."""
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert from_config(to_config(recipe), "surrogate") == recipe
    copy: Model = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(at).mean, model.predict(at).mean)
    np.testing.assert_array_equal(copy.predict(at).std, model.predict(at).std)


# Studies

SPACE = bv.Space({"x": bv.Float(-2.0, 2.0), "y": bv.Float(0.0, 1.0)})


def bowl(params: dict[str, Any]) -> float:
    """Least at (1, 0.3)."""
    return float((params["x"] - 1.0) ** 2 + (params["y"] - 0.3) ** 2)


def advance(study: bv.Optimizer, rounds: int) -> list[tuple[float, float]]:
    """Batches of three, of which the last stays pending; all points asked for."""
    points = []
    for _ in range(rounds):
        batch = study.ask(3)
        points += [(trial.params["x"], trial.params["y"]) for trial in batch]
        for trial in list(batch)[:2]:
            study.tell(trial, bowl(trial.params))
    return points


def pending_points_are_kept_off(surrogate: Surrogate, strategy: str) -> None:
    """A study that always has pending trials never repeats a point, and repeats itself with the same seed."""
    runs = [advance(bv.Optimizer(SPACE, surrogate=surrogate, strategy=strategy, seed=1), 4) for _ in range(2)]
    assert len(set(runs[0])) == 12
    assert runs[0] == runs[1]


def pending_and_failed_points_are_kept_off(surrogate: Surrogate, strategy: str) -> None:
    """All points of a study are inside of the space and distinct, with two trials pending and with one that failed."""
    study = bv.Optimizer(SPACE, surrogate=surrogate, strategy=strategy, seed=0, n_init=4)
    for trial in study.ask(4):
        study.tell(trial, bowl(trial.params))
    waiting = study.ask(2)
    for trial in study.ask(3):
        study.tell(trial, bowl(trial.params))
    study.tell(waiting[1], error="lost")
    study.ask(1)
    units = np.array([trial.encoded for trial in study.trials])
    assert len(np.unique(units, axis=0)) == 10
    assert ((units >= 0.0) & (units <= 1.0)).all()


STUDIED = ("kb", "cl_min", "fantasy", "top_q", "random")
"""Strategies that every surrogate is tried with in a study of its own; the contract of strategies tries the others."""
