"""The suppression radius: the printed bound is none, ours is one, and both are exact for a prior without data."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import frozen
from believer.errors import InvalidInput
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer_paper.theory import (
    COUNTEREXAMPLES,
    Family,
    exact_radius,
    guarantee,
    guaranteed_radius,
    kappa,
    printed_radius,
    suppression,
)
from believer_paper.theory.suppression import along, shares

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
seeds = st.integers(0, 2**32)


def between(lengthscale: float, kernel: str = "se", noise: float = 0.0) -> GPModel:
    """Data at 0 and 1: the variance has its maximum halfway, as [paper] Prop. 2 asks."""
    hyper = Hyperparameters(kernel, frozen([lengthscale]), 1.0, noise)
    return posterior(hyper, np.array([[0.0], [1.0]]), np.array([0.3, -0.2]), 0.0, 1.0)


HALFWAY = np.array([0.5])


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_far_from_data_the_printed_radius_the_bound_and_the_exact_one_are_equal(tau: float, noise: float) -> None:
    found = suppression(between(0.05, noise=noise), HALFWAY, tau)
    assert found.kappa == pytest.approx(1.0, abs=1e-12)
    assert found.exact == pytest.approx([found.printed] * 2, rel=1e-9)
    assert found.guaranteed == pytest.approx(found.printed, rel=1e-9)


def test_half_of_the_variance_is_suppressed_up_to_083_lengthscales_by_a_prior_of_squared_exponentials_only() -> None:
    assert printed_radius(1.0, 0.5) == pytest.approx(math.sqrt(math.log(2.0)), rel=1e-12)
    exact = {kernel: suppression(between(0.05, kernel), HALFWAY).exact[0] for kernel in KERNELS}
    assert exact["se"] == pytest.approx(0.8326, abs=1e-4)
    assert exact["matern52"] == pytest.approx(0.6997, abs=1e-4)
    assert exact["matern32"] == pytest.approx(0.6224, abs=1e-4)


@every_kernel
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1.0])
@settings(max_examples=12)
@given(seed=seeds, tau=st.floats(0.02, 0.98), dim=st.integers(1, 3))
def test_the_exact_radius_is_never_below_our_bound(kernel: str, noise: float, seed: int, tau: float, dim: int) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel=kernel, dim=dim).draw(rng).model
    assert isinstance(model, GPModel)
    x = rng.random(dim)
    if kappa(model, x) < 1e-4:
        return  # what is left of the variance is rounding
    found = suppression(model, x, tau, rng.standard_normal((4, dim)))
    assert (found.exact >= found.guaranteed - 1e-6).all()


@every_kernel
@settings(max_examples=12)
@given(seed=seeds, noise=st.sampled_from([0.0, 1e-3, 1.0]))
def test_the_printed_radius_is_no_bound_when_any_variance_was_lost_to_data(
    kernel: str, seed: int, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel=kernel, dim=2).draw(rng).model
    assert isinstance(model, GPModel)
    x = rng.random(2)
    left = kappa(model, x)
    if not 1e-4 < left < 0.999:
        return
    # At the largest share that a lie can take anywhere, only x* itself is suppressed; the formula prints √(2 log 1/κ).
    most = left / (left + noise)
    assert printed_radius(left, most, noise) == pytest.approx(math.sqrt(2.0 * math.log(1.0 / left)), rel=1e-9)
    just_below = exact_radius(model, x, most * (1.0 - 1e-6), rng.standard_normal((3, 2)))
    assert (just_below < printed_radius(left, most, noise)).all()
    assert just_below.max() < 0.02


def test_the_printed_radius_is_no_bound_halfway_between_two_data_when_kappa_is_small() -> None:
    found = suppression(between(0.6), HALFWAY)
    line = np.linspace(-0.49, 0.49, 99)[:, None] + 0.5
    assert (between(0.6).predict(line).std <= between(0.6).predict(HALFWAY[None, :]).std + 1e-12).all()
    assert found.kappa == pytest.approx(0.2006, abs=1e-4)
    assert found.printed > 1.9
    assert found.exact.max() < 1.35


def test_the_printed_radius_grows_as_kappa_falls_and_our_bound_shrinks() -> None:
    kappas = np.linspace(1.0, 0.02, 50)
    printed = np.array([printed_radius(k, 0.5) for k in kappas])
    bound = np.array([guaranteed_radius(k, 0.5) for k in kappas])
    assert (np.diff(printed) > 0.0).all()
    assert (np.diff(bound) < 0.0).all()


def test_at_random_points_the_exact_radius_shrinks_with_kappa_and_lies_below_the_printed_one() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(40):
        model = Family(noise=1e-4, kernel="se", dim=2).draw(rng).model
        assert isinstance(model, GPModel)
        found = suppression(model, rng.random(2), 0.5, rng.standard_normal((4, 2)))
        rows.append((found.kappa, found.printed, float(found.exact.min())))
    left, printed, exact = np.array(rows).T
    assert np.mean(exact < printed) > 0.95
    assert np.median(exact[left < 0.2]) < 0.5 * np.median(exact[left > 0.8])


@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_large_noise_leaves_no_radius_where_no_share_reaches_tau(noise: float) -> None:
    most = 1.0 / (1.0 + noise)
    model = between(0.05, noise=noise)
    assert suppression(model, HALFWAY, most + 0.01).exact.max() == 0.0
    assert guaranteed_radius(1.0, most + 0.01, noise) == 0.0
    assert math.isnan(printed_radius(1.0, most + 0.01, noise))
    assert suppression(model, HALFWAY, most - 0.01).exact.min() > 0.0


def test_the_exact_radius_is_where_the_share_crosses_tau() -> None:
    model = between(0.3, "matern52", 0.01)
    ray = np.array([1.0])
    radius = float(exact_radius(model, HALFWAY, 0.4, ray[None, :])[0])
    assert shares(model, HALFWAY, along(model, HALFWAY, ray, np.array([radius])))[0] == pytest.approx(0.4, abs=1e-9)
    assert (shares(model, HALFWAY, along(model, HALFWAY, ray, np.linspace(0.0, radius - 1e-6, 50))) >= 0.4).all()
    assert exact_radius(model, HALFWAY, 0.4, ray[None, :], reach=0.1) == pytest.approx([0.1])


def test_directions_count_in_lengthscales_whatever_their_length() -> None:
    hyper = Hyperparameters("se", frozen([0.05, 0.2]), 1.0, 0.0)
    model = posterior(hyper, np.array([[3.0, 3.0]]), np.zeros(1), 0.0, 1.0)
    radius = exact_radius(model, np.array([0.5, 0.5]), 0.5, np.array([[1.0, 0.0], [0.0, 9.0], [2.0, -2.0]]))
    assert radius == pytest.approx([printed_radius(1.0, 0.5)] * 3, rel=1e-9)


# Separation of points


def test_suppressed_variance_does_not_separate_points() -> None:
    situation = COUNTEREXAMPLES["suppressed_but_close"]()
    found = guarantee(situation, np.random.default_rng(0))
    model = situation.model
    assert isinstance(model, GPModel)
    around = suppression(model, found.step.x)
    # All that Prop. 2 asks for: SE, no noise, κ near 1, a maximizer of the variance; and the radius is what it says.
    assert model.hyper.kernel == "se"
    assert model.hyper.noise == 0.0
    assert around.kappa > 0.98
    line = np.linspace(0.0, 1.0, 401)[:, None]
    assert (model.predict(line).std <= model.predict(found.step.x[None, :]).std + 1e-9).all()
    assert around.exact.min() > 0.83
    assert found.moves
    assert found.lengthscales is not None
    assert found.lengthscales < 0.03


def test_points_cannot_be_a_lengthscale_apart_in_a_box_that_is_shorter() -> None:
    family = Family(noise=1e-6)
    situation = family.draw(np.random.default_rng(1))
    model = situation.model
    assert isinstance(model, GPModel)
    wide = posterior(Hyperparameters("matern52", frozen([5.0]), 1.0, 1e-6), model.X, model.y, 0.0, 1.0)
    found = guarantee(replace(situation, model=wide), np.random.default_rng(0))
    assert found.lengthscales is not None
    assert found.lengthscales <= 0.2


@pytest.mark.parametrize("tau", [0.0, -0.1, 1.1, float("nan")])
def test_tau_must_be_a_share(tau: float) -> None:
    with pytest.raises(InvalidInput):
        printed_radius(0.5, tau)


def test_unknown_kernels_and_zero_directions_are_refused() -> None:
    with pytest.raises(InvalidInput, match="kernel must be"):
        guaranteed_radius(1.0, 0.5, kernel="cubic")
    with pytest.raises(InvalidInput, match="must not be zero"):
        exact_radius(between(0.3), HALFWAY, 0.5, np.zeros((1, 1)))
