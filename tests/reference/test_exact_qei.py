from __future__ import annotations

import numpy as np
import pytest
from each import each
from exact_qei import exact, integrated

from believer.acquisitions import EI
from believer.acquisitions.joint_improvement import JointImprovement
from believer.arrays import frozen
from believer.numerics.sampling import normal_sobol
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters

pytestmark = pytest.mark.both_backends

SAMPLES = 4096


def model_in(d: int, seed: int) -> GPModel:
    rng = np.random.default_rng(seed)
    X = rng.random((10, d))
    y = np.sin(6.0 * X[:, 0]) + ((X - 0.4) ** 2).sum(axis=1)
    hyper = Hyperparameters("matern52", frozen(np.full(d, 0.4)), signal=1.2, noise=1e-6)
    return posterior(hyper, X, y, float(y.mean()), float(y.std()))


@each("seed", range(3))
@each("target", [-2.0, 0.0, 1.5])
def test_for_one_point_the_exact_value_is_expected_improvement(seed: int, target: float) -> None:
    rng = np.random.default_rng(seed)
    mean, std = rng.standard_normal(1), rng.random(1)
    closed = EI().pointwise(mean, std, target).value[0]
    assert exact(mean, np.diag(std**2), target) == pytest.approx(closed, rel=1e-12)


@each("q", [1, 2, 3, 4])
@each("target", [-1.5, 0.5])
def test_the_exact_value_is_that_of_quadrature(q: int, target: float) -> None:
    rng = np.random.default_rng(q)
    mean, loading, noise = rng.standard_normal(q), rng.standard_normal(q), rng.uniform(0.2, 1.0, q)
    covariance = np.diag(noise) + np.outer(loading, loading)
    assert exact(mean, covariance, target) == pytest.approx(integrated(mean, noise, loading, target), rel=1e-4)


@each("q", [1, 2, 3, 4])
@each("seed", range(2))
@each("pending", [False, True])
def test_monte_carlo_lies_within_four_standard_errors_of_the_exact_value(q: int, seed: int, pending: bool) -> None:
    model = model_in(2, seed)
    rng = np.random.default_rng(100 + seed)
    points = rng.random((q, 2))
    target = float(model.shift + model.scale * model.y.min())
    fixed = int(pending and q > 1)
    value = JointImprovement(model, target, normal_sobol(SAMPLES, q, rng), points[:fixed]).value(
        points[fixed:].reshape(1, -1)
    )[0]
    joint = model.joint(points)
    # Sobol samples do better than independent ones, whose standard error this is.
    draws = rng.multivariate_normal(joint.mean, joint.covariance, SAMPLES)
    error = np.maximum(target - draws.min(axis=1), 0.0).std() / np.sqrt(SAMPLES)
    assert abs(value - exact(joint.mean, joint.covariance, target)) < 4.0 * error
