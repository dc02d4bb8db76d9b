"""The ratio of σ is the pair's determinant, batches obey the chain rule, and the printed log ψ holds for far points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import frozen
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer_paper.theory import Family, log_chain, log_determinant, log_penalty

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
seeds = st.integers(0, 2**32)


def prior(noise: float = 0.0) -> GPModel:
    hyper = Hyperparameters("se", frozen([0.1]), 1.0, noise)
    return posterior(hyper, np.array([[9.0]]), np.zeros(1), 0.0, 1.0)


@every_kernel
@pytest.mark.parametrize("noise", [1e-4, 1.0])
@settings(max_examples=15)
@given(seed=seeds)
def test_the_log_ratio_of_std_is_half_the_log_determinant_of_the_pair(kernel: str, noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    situation = Family(noise=noise, kernel=kernel, dim=2).draw(rng)
    assert isinstance(situation.model, GPModel)
    found = log_penalty(situation.model, rng.random(2), rng.random((10, 2)), float(situation.data.y.min()))
    np.testing.assert_allclose(found.std, found.determinant, rtol=1e-6, atol=1e-8)
    assert (found.std <= 1e-9).all()


@every_kernel
@pytest.mark.parametrize("noise", [1e-4, 1.0])
@settings(max_examples=15)
@given(seed=seeds, q=st.integers(1, 6))
def test_the_variances_of_a_batch_multiply_to_its_determinant(kernel: str, noise: float, seed: int, q: int) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel=kernel, dim=3).draw(rng).model
    assert isinstance(model, GPModel)
    X = rng.random((q, 3))
    assert log_chain(model, X) == pytest.approx(log_determinant(model, X), rel=1e-9, abs=1e-6)


def test_the_log_ratio_of_improvements_is_that_of_std_at_z_zero_less_below_and_more_above() -> None:
    at = np.array([[0.55], [0.6], [0.7]])
    x = np.array([0.5])
    at_zero, below, above = (log_penalty(prior(), x, at, incumbent) for incumbent in (0.0, -2.0, 2.0))
    np.testing.assert_allclose(at_zero.improvement, at_zero.std, rtol=1e-9)
    assert (below.improvement < below.std).all()
    assert (above.improvement > above.std).all()


def test_the_printed_log_penalty_holds_for_far_points_of_a_prior() -> None:
    r = np.array([2.0, 2.5, 3.0])
    found = log_penalty(prior(0.05), np.array([0.5]), 0.5 + 0.1 * r[:, None], 0.0)
    np.testing.assert_allclose(found.printed, found.std, rtol=0.02)
    np.testing.assert_allclose(found.printed, -0.5 * np.exp(-(r**2)) / 1.05, rtol=1e-6)


def test_the_printed_log_penalty_lets_a_duplicate_pass_at_61_percent() -> None:
    found = log_penalty(prior(), np.array([0.5]), np.array([[0.5], [0.5 + 1e-4]]), 0.0)
    np.testing.assert_allclose(found.printed, -0.5, rtol=1e-4)
    assert np.exp(found.printed[0]) > 0.6
    assert found.std[0] < -15.0
    assert found.improvement[1] < -6.0
    assert found.determinant[0] < -15.0


def test_the_printed_log_penalty_takes_the_variance_of_the_wrong_point() -> None:
    # One datum at 0.5: little variance is left at 0.52, much at 0.7, and the formula has that of the first point twice.
    hyper = Hyperparameters("se", frozen([0.1]), 1.0, 1e-4)
    model = posterior(hyper, np.array([[0.5]]), np.zeros(1), 0.0, 1.0)
    near, far_off = np.array([0.52]), np.array([0.6])
    there = log_penalty(model, near, far_off[None, :], 0.0)
    back = log_penalty(model, far_off, near[None, :], 0.0)
    assert there.printed[0] < 3.0 * there.std[0], "too strong by far from a known place to an unknown one"
    assert back.printed[0] > 0.3 * back.std[0], "and too weak the other way"
