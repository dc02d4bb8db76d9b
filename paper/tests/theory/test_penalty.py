"""ψ is the ratio of σ at z = 0 only, far less below and one above; and what is printed need not be a number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer_paper.theory import Family, improvement_ratio, kappa, local_penalty, penalty, printed_penalty
from believer_paper.theory.penalty import printed_radicand

ratios = st.floats(0.05, 0.99)


def psi(z: float, ratio: float) -> float:
    return float(improvement_ratio(np.array([z]), np.array([ratio]))[0])


def far(kernel: str = "se", noise: float = 0.0) -> GPModel:
    """A prior as good as without data."""
    hyper = Hyperparameters(kernel, frozen([0.1]), 1.0, noise)
    return posterior(hyper, np.array([[9.0]]), np.zeros(1), 0.0, 1.0)


LINE: Array = np.linspace(0.5, 1.0, 101)[1:, None]
POINT: Array = np.array([0.5])


@given(ratio=ratios)
def test_the_ratio_of_improvements_is_the_ratio_of_std_at_z_zero(ratio: float) -> None:
    assert psi(0.0, ratio) == pytest.approx(ratio, rel=1e-12)
    step = 1e-4
    expected = 1.0 + np.sqrt(np.pi / 2.0) * step * (1.0 / ratio - 1.0)
    assert psi(step, ratio) / ratio == pytest.approx(expected, abs=1e-5 * (1.0 / ratio - 1.0))


@given(ratio=ratios, z=st.floats(-20.0, 20.0), more=st.floats(1e-3, 5.0))
def test_the_ratio_rises_with_z_between_zero_and_one_and_is_on_the_side_of_z(
    ratio: float, z: float, more: float
) -> None:
    here, there = psi(z, ratio), psi(z + more, ratio)
    assert 0.0 <= here <= there * (1.0 + 1e-12)
    assert there <= 1.0 + 1e-12
    if z < -1e-3:
        assert here < ratio
    if z > 1e-3:
        assert here > ratio


@pytest.mark.parametrize("ratio", [0.3, 0.6, 0.9])
def test_far_below_the_incumbent_the_ratio_decays_exponentially(ratio: float) -> None:
    for z in (-10.0, -20.0):
        tail = ratio**3 * np.exp(-0.5 * z * z * (ratio**-2 - 1.0))
        assert psi(z, ratio) == pytest.approx(tail, rel=0.05)
    assert psi(-3.0, ratio) < 0.5 * ratio, "not tight, although σφ(z) exceeds (f⁺ - μ)Φ(z), which is negative"


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9])
def test_far_above_the_incumbent_nothing_is_penalized(ratio: float) -> None:
    assert psi(3.0, ratio) > 0.99
    assert psi(10.0, ratio) == pytest.approx(1.0, abs=1e-12)


def test_without_noise_the_point_itself_keeps_most_of_its_improvement_when_a_better_mean_is_expected() -> None:
    z = 1.0
    h = np.exp(-0.5) / np.sqrt(2.0 * np.pi) + 0.8413447460685429
    assert psi(z, 1e-6) == pytest.approx(z / h, rel=1e-9)
    assert psi(z, 1e-6) > 0.92


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("noise", [1e-6, 1.0])
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32))
def test_the_exact_ratio_of_improvements_is_the_formula_of_both_ratios(kernel: str, noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    situation = Family(noise=noise, kernel=kernel, dim=2).draw(rng)
    assert isinstance(situation.model, GPModel)
    at, x = rng.random((30, 2)), rng.random(2)
    found = penalty(situation.model, x, at, float(situation.data.y.min()))
    kept = (found.z > -8.0) & (found.std_ratio > 1e-2)
    np.testing.assert_allclose(
        found.exact[kept], improvement_ratio(found.z, found.std_ratio)[kept], rtol=1e-6, atol=1e-12
    )
    assert (found.std_ratio <= 1.0 + 1e-9).all()


def test_without_data_and_with_a_squared_exponential_the_printed_ratio_of_std_is_exact() -> None:
    found = penalty(far(noise=0.1), POINT, LINE, 0.0)
    np.testing.assert_allclose(found.printed, found.std_ratio, rtol=1e-9)
    np.testing.assert_allclose(found.exact, found.std_ratio, rtol=1e-9)
    assert found.z == pytest.approx(np.zeros(len(LINE)), abs=1e-12)


@pytest.mark.parametrize("kernel", ["matern52", "matern32"])
def test_the_printed_ratio_is_too_small_for_rougher_kernels(kernel: str) -> None:
    found = penalty(far(kernel), POINT, LINE[:15], 0.0)
    assert (found.printed < found.std_ratio - 1e-3).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), noise=st.sampled_from([0.0, 0.1, 1.0]))
def test_the_printed_penalty_is_not_a_number_at_the_point_when_data_took_variance(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel="se", dim=2).draw(rng).model
    assert isinstance(model, GPModel)
    x = rng.random(2)
    left = kappa(model, x)
    if left < 1e-3:
        return
    inside = left * (left + noise)
    assert printed_radicand(model, x, x[None, :])[0] == pytest.approx(1.0 - 1.0 / inside, rel=1e-5)
    assert np.isnan(printed_penalty(model, x, x[None, :])[0]) == (inside < 1.0)


def test_noise_leaves_a_share_of_the_improvement_at_the_point() -> None:
    for noise in (0.01, 0.25, 1.0):
        ratio = penalty(far(noise=noise), POINT, POINT[None, :], 0.0).exact[0]
        assert ratio == pytest.approx(np.sqrt(noise / (1.0 + noise)), rel=1e-9)


# Local Penalization


def test_local_penalization_is_wider_than_conditioning_and_rises_as_a_square() -> None:
    found = penalty(far(), POINT, LINE, 0.0)
    r = found.distance
    assert (found.local <= found.exact + 1e-12).all()
    near = r < 0.2
    np.testing.assert_allclose(found.local[near], 0.5 * r[near] ** 2, rtol=0.02)
    np.testing.assert_allclose(found.exact[near], r[near], rtol=0.02)
    half_lp, half_ours = (float(np.interp(0.5, values, r)) for values in (found.local, found.exact))
    assert half_lp == pytest.approx(np.sqrt(2.0 * np.log(2.0)), abs=0.01)
    assert half_ours == pytest.approx(np.sqrt(np.log(4.0 / 3.0)), abs=0.01)


def test_local_penalties_count_in_lengthscales_and_are_zero_at_the_point() -> None:
    assert local_penalty(np.array([0.0, np.sqrt(2.0 * np.log(2.0)), 40.0])) == pytest.approx([0.0, 0.5, 1.0])
    hyper = Hyperparameters("se", frozen([0.1, 0.4]), 1.0, 0.0)
    model = posterior(hyper, np.array([[9.0, 9.0]]), np.zeros(1), 0.0, 1.0)
    found = penalty(model, np.zeros(2), np.array([[0.1, 0.0], [0.0, 0.4]]), 0.0)
    assert found.distance == pytest.approx([1.0, 1.0])


def test_local_penalization_ignores_the_mean_and_conditioning_does_not() -> None:
    cautious, hopeful = (penalty(far(), POINT, LINE, incumbent) for incumbent in (-2.0, 2.0))
    np.testing.assert_array_equal(cautious.local, hopeful.local)
    near = cautious.distance < 0.5
    assert (cautious.exact[near] < 0.2 * cautious.std_ratio[near]).all()
    assert (hopeful.exact[near] > 0.9).all()
