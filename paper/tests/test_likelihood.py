"""The Gaussian process fitted by maximum likelihood, as the paper says."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.plugins import Data
from believer.problems import hartmann6
from believer.testing import check_surrogate
from believer_paper.setup.likelihood import LIKELIHOOD, PrintedGP


def test_it_keeps_the_contract_of_surrogates() -> None:
    assert len(check_surrogate(PrintedGP()).passed) > 50


def test_it_finds_the_likelihood_that_scikit_learn_finds_with_the_papers_settings() -> None:
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    kernels = gaussian_process.kernels
    X = np.random.default_rng(3).random((25, 6))
    y = hartmann6().evaluate(X)
    kernel = kernels.ConstantKernel(1.0, (1e-3, 1e3)) * kernels.Matern(np.ones(6), (1e-2, 1e2), nu=2.5)
    judge = gaussian_process.GaussianProcessRegressor(
        kernel, alpha=1e-6, normalize_y=True, n_restarts_optimizer=5, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an optimum at a bound
        judge.fit(X, y)
    model = PrintedGP().fit(Data(X, y), np.random.default_rng(0))
    assert model.hyper.mean == 0.0
    assert model.log_marginal_likelihood() >= judge.log_marginal_likelihood_value_ - 1e-2


def test_nothing_is_taken_over_from_the_last_fit() -> None:
    X = np.random.default_rng(0).random((10, 2))
    y = X.sum(axis=1) ** 2
    last = PrintedGP().fit(Data(X[:6], y[:6]), np.random.default_rng(1))
    cold, warm = (PrintedGP().fit(Data(X, y), np.random.default_rng(2), previous) for previous in (None, last))
    assert warm.hyper.to_config() == cold.hyper.to_config()
    assert LIKELIHOOD.restarts == 5


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="kernel must be one of"):
        PrintedGP("rbf")
    with pytest.raises(InvalidInput, match="noise must be a variance"):
        PrintedGP(noise=-1.0)
