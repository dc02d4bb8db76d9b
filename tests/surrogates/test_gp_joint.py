from __future__ import annotations

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import JointlyDifferentiable

pytestmark = pytest.mark.both_backends

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
every_size = each(("b", "q", "d"), [(1, 1, 1), (4, 3, 2), (3, 5, 6)])


def model_of(kernel: str, d: int, tail: int = 0, noise: float = 1e-4) -> GPModel:
    """A process with units of its own, whose last ``tail`` data were conditioned on."""
    rng = np.random.default_rng(d)
    n = 9 + tail
    X, y = rng.random((n, d)), 40.0 + 7.0 * rng.standard_normal(n)
    hyper = Hyperparameters(kernel, frozen(np.linspace(0.3, 0.8, d)), signal=1.7, noise=noise)
    return posterior(hyper, X[:9], y[:9], 38.0, 6.0).condition(Data(X[9:], y[9:], np.linspace(0.0, 3.0, tail)))


def groups_of(b: int, q: int, d: int) -> Array:
    return np.random.default_rng(b + q).random((b, q, d))


def test_a_gaussian_process_has_joint_gradients() -> None:
    assert isinstance(model_of("se", 2), JointlyDifferentiable)


@every_kernel
@every_size
@each("tail", [0, 3])
def test_each_group_has_the_joint_posterior_of_its_points(kernel: str, b: int, q: int, d: int, tail: int) -> None:
    model, A = model_of(kernel, d, tail), groups_of(b, q, d)
    joint = model.joint_with_gradient(A)
    for group, mean, covariance in zip(A, joint.mean, joint.covariance, strict=True):
        expected = model.joint(group)
        np.testing.assert_allclose(mean, expected.mean, rtol=1e-10)
        np.testing.assert_allclose(covariance, expected.covariance, rtol=1e-9, atol=1e-11)


@every_kernel
@every_size
@each("tail", [0, 3])
def test_derivatives_pulled_back_are_central_differences(kernel: str, b: int, q: int, d: int, tail: int) -> None:
    model, A = model_of(kernel, d, tail), groups_of(b, q, d)
    rng = np.random.default_rng(0)
    # Not symmetric: every entry of a covariance counts as free.
    by_mean, by_covariance = rng.standard_normal((b, q)), rng.standard_normal((b, q, q))

    def number(X: Array) -> Array:
        joint = model.joint_with_gradient(X)
        value: Array = (by_mean * joint.mean).sum(axis=1) + (by_covariance * joint.covariance).sum(axis=(1, 2))
        return value

    gradient = model.joint_with_gradient(A).pull(by_mean, by_covariance)
    step = 1e-5
    for i in range(q):
        for j in range(d):
            move = np.zeros_like(A)
            move[:, i, j] = step
            slope = (number(A + move) - number(A - move)) / (2.0 * step)
            np.testing.assert_allclose(gradient[:, i, j], slope, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


@every_kernel
def test_points_that_coincide_or_lie_on_data_have_finite_derivatives(kernel: str) -> None:
    model = model_of(kernel, 2, noise=0.0)
    A = np.array([[[0.4, 0.6], [0.4, 0.6]], [model.X[0], model.X[0]], [model.X[1], [0.2, 0.1]]])
    joint = model.joint_with_gradient(A)
    assert np.isfinite(joint.pull(np.ones((3, 2)), np.ones((3, 2, 2)))).all()
    assert joint.covariance[0, 0, 1] == pytest.approx(joint.covariance[0, 0, 0], rel=1e-9)
