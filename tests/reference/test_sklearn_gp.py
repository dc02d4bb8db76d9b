"""scikit-learn's Gaussian process, at fixed hyperparameters, as the judge of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS

pytestmark = pytest.mark.both_backends

gaussian_process = pytest.importorskip("sklearn.gaussian_process")

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
every_size = each(("n", "d"), [(1, 1), (8, 1), (20, 4), (40, 10)])
known_or_not = each("known", [False, True])
every_noise = each("noise", [1e-6, 1e-2, 0.5])
SIGNAL = 2.3


def pair(kernel: str, n: int, d: int, noise: float, tail: int = 0, known: bool = False) -> tuple[GPModel, Any, Array]:
    """Our posterior (with its last ``tail`` data conditioned on), theirs, and points to compare at.

    ``known``: whether each but every third observation has a noise of its own, known beyond ``noise``.
    """
    rng = np.random.default_rng(n + d)
    X, y = rng.random((n, d)), rng.standard_normal(n)
    std = (np.arange(n) % 3) * np.linspace(0.1, 1.0, n) if known else np.zeros(n)
    lengthscales = np.exp(rng.uniform(-1.0, 0.5, d)) * np.sqrt(d)
    hyper = Hyperparameters(kernel, frozen(lengthscales), SIGNAL, noise)
    first, rest = (std[: n - tail], std[n - tail :]) if known else (None, None)
    ours = posterior(hyper, X[: n - tail], y[: n - tail], 0.0, 1.0, first)
    ours = ours.condition(Data(X[n - tail :], y[n - tail :], rest))
    kernels = gaussian_process.kernels
    shape = {
        "matern52": lambda: kernels.Matern(lengthscales, nu=2.5),
        "matern32": lambda: kernels.Matern(lengthscales, nu=1.5),
        "se": lambda: kernels.RBF(lengthscales),
    }[kernel]()
    theirs = gaussian_process.GaussianProcessRegressor(
        kernels.ConstantKernel(SIGNAL) * shape, alpha=noise + std**2, optimizer=None
    )
    return ours, theirs.fit(X, y), np.vstack([rng.random((6, d)), X[:1] + 0.01])


@every_kernel
@every_size
@every_noise
@known_or_not
def test_mean_std_and_covariance_are_those_of_scikit_learn(
    kernel: str, n: int, d: int, noise: float, known: bool
) -> None:
    ours, theirs, at = pair(kernel, n, d, noise, n // 4, known)
    # Both invert K_y, whose condition is at most n σ_f² / σ_n²; differences grow with it.
    tol = 1e-14 * n * SIGNAL / noise + 1e-12
    mean, std = theirs.predict(at, return_std=True)
    _, covariance = theirs.predict(at, return_cov=True)
    np.testing.assert_allclose(ours.predict(at).mean, mean, rtol=0.0, atol=tol)
    np.testing.assert_allclose(ours.predict(at).std ** 2, std**2, rtol=0.0, atol=tol)
    np.testing.assert_allclose(ours.joint(at).covariance, covariance, rtol=0.0, atol=tol)


@every_kernel
@every_size
@every_noise
@known_or_not
@each("tail", [0, 1])
def test_log_marginal_likelihood_is_that_of_scikit_learn(
    kernel: str, n: int, d: int, noise: float, tail: int, known: bool
) -> None:
    ours, theirs, _ = pair(kernel, n, d, noise, tail if n > 1 else 0, known)
    assert ours.log_marginal_likelihood() == pytest.approx(theirs.log_marginal_likelihood_value_, rel=1e-8)


@every_kernel
@known_or_not
def test_the_likelihoods_gradient_is_that_of_scikit_learn(kernel: str, known: bool) -> None:
    from believer.surrogates.gp_likelihood import log_likelihood

    ours, theirs, _ = pair(kernel, 20, 4, 0.05, known=known)
    theta = np.log([*ours.lengthscales, SIGNAL])
    found = log_likelihood(kernel, ours.X, ours.y, theta, 0.05, known=ours.known)
    value, gradient = found.value, found.gradient
    expected, slope = theirs.log_marginal_likelihood(theirs.kernel_.theta, eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-10)
    # Their order is signal, then lengthscales.
    np.testing.assert_allclose(gradient, np.append(slope[1:], slope[0]), rtol=1e-7, atol=1e-9)
