"""Eq. 17 is EI to first order; a low lie raises EI nearby and a high one lowers it; the mean decides far away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer_paper.theory import Family, improvement_change, rank_one
from believer_paper.theory.expansion import first_order

POINT: Array = np.array([0.5])


def two_ends(noise: float = 0.0) -> GPModel:
    """Two results far from the point, at -1 and 1: there the prior's mean 0 and variance 1 are left."""
    hyper = Hyperparameters("se", frozen([0.1]), 1.0, noise)
    return posterior(hyper, np.array([[-3.0], [4.0]]), np.array([-1.0, 1.0]), 0.0, 1.0)


@pytest.mark.parametrize("kernel", list(KERNELS))
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), gap=st.floats(-1.0, 1.0))
def test_what_the_expansion_leaves_out_is_of_second_order(kernel: str, seed: int, gap: float) -> None:
    rng = np.random.default_rng(seed)
    situation = Family(noise=1e-2, kernel=kernel, dim=2).draw(rng)
    model, incumbent = situation.model, float(situation.data.y.min())
    assert isinstance(model, GPModel)
    x, at = rng.random(2), rng.random((20, 2))
    s = float(model.predict(x[None, :]).std[0]) ** 2
    lie = float(model.predict(x[None, :]).mean[0])
    errors = []
    # More noise makes a lie weigh less: δμ and δσ² fall as 1/σ_n², what is left of ΔEI as its square.
    for noise in (1e3 * s, 1e4 * s):
        weak = rank_one(model, x, lie + gap, at, noise)
        std = np.sqrt(weak.variance)
        mean_term, variance_term = first_order(weak, incumbent)
        after, before = (
            _improvement(weak.mean_after, np.sqrt(weak.variance_after), incumbent),
            _improvement(weak.mean, std, incumbent),
        )
        errors.append(float(np.abs(after - before - mean_term - variance_term).max()))
    assert errors[1] < 0.02 * errors[0] + 1e-14


def _improvement(mean: Array, std: Array, incumbent: float) -> Array:
    from believer.acquisitions import EI

    return EI().pointwise(mean, std, incumbent).value


@pytest.mark.parametrize("noise", [1e-6, 1.0])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), gap=st.floats(0.1, 3.0))
def test_a_lie_below_the_mean_has_a_raising_mean_term_where_the_covariance_is_positive(
    noise: float, seed: int, gap: float
) -> None:
    rng = np.random.default_rng(seed)
    situation = Family(noise=noise, dim=2).draw(rng)
    model, incumbent = situation.model, float(situation.data.y.min())
    assert isinstance(model, GPModel)
    x, at = rng.random(2), rng.random((30, 2))
    mean = float(model.predict(x[None, :]).mean[0])
    c = rank_one(model, x, 0.0, at).covariance
    low, high = (improvement_change(model, x, mean + sign * gap, at, incumbent) for sign in (-1.0, 1.0))
    assert (low.mean_term * c >= 0.0).all()
    assert (high.mean_term * c <= 0.0).all()
    assert (low.variance_term <= 0.0).all()
    np.testing.assert_allclose(low.mean_term, -high.mean_term, rtol=1e-9)
    np.testing.assert_array_equal(low.variance_term, high.variance_term)
    believed = improvement_change(model, x, mean, at, incumbent)
    np.testing.assert_allclose(believed.mean_term, 0.0, atol=1e-12)
    assert (believed.exact <= 1e-12).all(), "believing never raises EI while f⁺ stays"


def test_the_least_value_as_a_lie_raises_improvement_around_it_and_the_highest_lowers_it() -> None:
    at = np.array([[0.5 + 0.15], [0.5 + 0.2], [0.5 - 0.25]])
    low, believed, high = (improvement_change(two_ends(), POINT, lie, at, -1.0).exact for lie in (-1.0, 0.0, 1.0))
    assert (low > 0.0).all(), "the least value does not reinforce suppression, it undoes it"
    assert (high < believed).all()
    assert (believed < 0.0).all()


def test_the_least_value_raises_the_mean_where_the_model_hopes_for_better() -> None:
    hyper = Hyperparameters("se", frozen([0.3]), 1.0, 0.0)
    model = posterior(hyper, np.array([[0.2], [0.5]]), np.array([0.0, 1.5]), 0.0, 1.0)
    x = np.array([0.0])
    assert model.predict(x[None, :]).mean[0] < 0.0
    update = rank_one(model, x, 0.0, np.array([[0.02], [0.05]]))
    assert (update.mean_change > 0.0).all()


def test_the_mean_term_decays_as_the_kernel_and_the_variance_term_as_its_square() -> None:
    r = np.array([2.0, 3.0])
    found = improvement_change(two_ends(), POINT, -1.0, POINT + 0.1 * r[:, None], -1.0)
    for term, rate in ((found.mean_term, 0.5), (found.variance_term, 1.0)):
        assert term[1] / term[0] == pytest.approx(np.exp(-rate * (r[1] ** 2 - r[0] ** 2)), rel=1e-6)


def test_far_away_the_mean_decides() -> None:
    at = POINT + 0.1 * np.array([[0.2], [3.0], [4.0]])
    update = rank_one(two_ends(), POINT, -1.0, at)
    mean_term, variance_term = first_order(update, -1.0)
    ratio = np.abs(mean_term / variance_term)
    assert ratio[0] < 2.0
    assert (ratio[1:] > 50.0).all()
    change = improvement_change(two_ends(), POINT, -1.0, at, -1.0)
    assert change.first_order[1:] == pytest.approx(change.exact[1:], rel=0.02)
    # φ and Φ at z = -1: 2 σ |ỹ - μ(x*)| Φ(z) = |k_D| φ(z) is where the two agree in size.
    density, mass = np.exp(-0.5) / np.sqrt(2.0 * np.pi), 0.15865525393145707
    np.testing.assert_allclose(ratio, 2.0 * mass / (update.covariance * density), rtol=1e-6)


def test_at_the_point_itself_the_first_order_is_far_off() -> None:
    found = improvement_change(two_ends(), POINT, 0.0, POINT[None, :], 0.0)
    # z = 0: EI falls from σφ(0) to nothing, of which -δσ²/(2σ) φ(0) sees one half.
    assert found.exact[0] == pytest.approx(-1.0 / np.sqrt(2.0 * np.pi), rel=1e-6)
    assert found.first_order[0] == pytest.approx(0.5 * found.exact[0], rel=1e-6)


@pytest.mark.parametrize("lie", [-2.0, 0.0, 2.0])
def test_all_lies_suppress_the_same_variance_and_not_the_same_acquisition(lie: float) -> None:
    at = np.linspace(0.3, 0.7, 21)[:, None]
    believed, told = (improvement_change(two_ends(0.01), POINT, value, at, -0.5) for value in (0.0, lie))
    np.testing.assert_array_equal(believed.variance_term, told.variance_term)
    if lie:
        assert np.abs(told.exact - believed.exact).max() > 0.1 * np.abs(believed.exact).max()
