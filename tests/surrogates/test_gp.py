from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import (
    BAD_DATA,
    central_differences,
    hyper_for,
    joint_is_that_of_predict,
    same_predictions,
    samples_have_the_moments_of_the_joint,
    smooth,
)
from presets import PRESETS
from scipy.stats import multivariate_normal

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.problems.synthetic import hartmann6
from believer.surrogates import GP, GPModel, LogNormal, gp_fit, gp_likelihood
from believer.surrogates.data import Data
from believer.surrogates.gp import fit_gp, posterior, standardization
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import (
    Conditionable,
    Differentiable,
    Joint,
    Model,
    Restorable,
    Sampling,
    Scaled,
    Smoothing,
)

pytestmark = pytest.mark.both_backends

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
every_preset = each("fit", list(PRESETS))


def model_for(d: int = 2, n: int = 12, kernel: str = "matern52", noise: float = 1e-4, seed: int = 0) -> GPModel:
    """A model at fixed hyperparameters, y in units that are not the standardized ones."""
    X = np.random.default_rng(seed).random((n, d))
    return posterior(hyper_for(d, kernel, noise, mean=0.2), X, 30.0 + 5.0 * smooth(X), shift=31.0, scale=4.0)


# Conditioning


@every_kernel
@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_the_posterior_of_the_union(
    kernel: str, a: int, b: int, d: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((8 + a + b, d)), rng.standard_normal(8 + a + b)
    hyper = hyper_for(d, kernel, mean=0.3)
    base = posterior(hyper, X[:8], y[:8], 0.5, 2.0)
    stepwise = base.condition(Data(X[8 : 8 + a], y[8 : 8 + a])).condition(Data(X[8 + a :], y[8 + a :]))
    at_once = base.condition(Data(X[8:], y[8:]))
    whole = posterior(hyper, X, y, 0.5, 2.0)
    at = np.vstack([rng.random((5, d)), X])
    same_predictions(stepwise, at_once, at, base.scale)
    same_predictions(at_once, whole, at, base.scale)
    np.testing.assert_allclose(at_once.joint(at).covariance, whole.joint(at).covariance, rtol=0.0, atol=4e-9)
    assert at_once.log_marginal_likelihood() == pytest.approx(whole.log_marginal_likelihood(), rel=1e-8)
    np.testing.assert_allclose(at_once.leave_one_out().mean, whole.leave_one_out().mean, rtol=0.0, atol=1e-8)


@every_kernel
@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_the_order_of_data_does_not_matter(kernel: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.random((10, 3)), rng.standard_normal(10)
    order = rng.permutation(10)
    hyper = hyper_for(3, kernel, mean=0.0)
    at = rng.random((6, 3))
    same_predictions(posterior(hyper, X, y, 0.0, 1.0), posterior(hyper, X[order], y[order], 0.0, 1.0), at, 1.0)
    base = posterior(hyper, X[:4], y[:4], 0.0, 1.0)
    later = 4 + rng.permutation(6)
    same_predictions(base.condition(Data(X[4:], y[4:])), base.condition(Data(X[later], y[later])), at, 1.0)


@every_kernel
@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(-1e3, 1e3), st.sampled_from([1e-8, 1e-6, 1e-2, 1.0]))
def test_std_never_rises_under_conditioning_and_does_not_depend_on_the_value(
    kernel: str, seed: int, value: float, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    model = model_for(3, kernel=kernel, noise=noise, seed=seed % 1000)
    x, at = rng.random((1, 3)), np.vstack([rng.random((20, 3)), model.X])
    before = model.predict(at).std / model.scale
    after = model.condition(Data(x, np.array([value]))).predict(at).std / model.scale
    assert (after**2 <= before**2 + 1e-12).all()
    assert after.min() < before.max()
    other = model.condition(Data(x, np.array([-value]))).predict(at).std / model.scale
    np.testing.assert_array_equal(after, other)


@every_kernel
@each("noise", [1e-6, 1e-3, 0.5, 10.0])
def test_variance_at_the_new_point_is_the_parallel_sum_of_variance_and_noise(kernel: str, noise: float) -> None:
    model = model_for(2, kernel=kernel, noise=noise)
    for x in np.random.default_rng(1).random((5, 1, 2)):
        before = float(model.predict(x).std[0] / model.scale) ** 2
        after = float(model.condition(Data(x, np.array([7.0]))).predict(x).std[0] / model.scale) ** 2
        assert after == pytest.approx(before * noise / (before + noise), rel=1e-7, abs=1e-14)


@every_kernel
@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([1e-6, 1e-2]))
def test_believing_the_mean_moves_the_mean_nowhere(kernel: str, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    model = model_for(3, kernel=kernel, noise=noise, seed=seed % 1000)
    at = rng.random((30, 3))
    believed = model
    for x in rng.random((4, 1, 3)):
        believed = believed.condition(Data(x, believed.predict(x).mean))
    np.testing.assert_allclose(believed.predict(at).mean, model.predict(at).mean, rtol=0.0, atol=1e-9 * model.scale)
    assert (believed.predict(at).std < model.predict(at).std).any()


def test_a_lie_moves_the_mean_by_the_discrepancy_over_the_covariance() -> None:
    model = model_for(2)
    x, at = np.array([[0.3, 0.8]]), np.random.default_rng(2).random((6, 2))
    joint = model.joint(np.vstack([x, at]))
    gain = joint.covariance[1:, 0] / (joint.covariance[0, 0] + model.hyper.noise * model.scale**2)
    moved = model.condition(Data(x, np.array([40.0]))).predict(at).mean - model.predict(at).mean
    np.testing.assert_allclose(moved, gain * (40.0 - joint.mean[0]), rtol=1e-8, atol=1e-10)


def test_conditioning_changes_neither_the_parent_nor_the_scaling() -> None:
    model = model_for(2)
    parts = ("X", "y", "whitened", "alpha")
    before = {name: getattr(model, name).copy() for name in parts}
    child = model.condition(Data(np.full((2, 2), 0.5), np.array([1e6, -1e6])))
    for name in parts:
        np.testing.assert_array_equal(getattr(model, name), before[name])
    assert (child.hyper, child.shift, child.scale) == (model.hyper, model.shift, model.scale)
    assert child.factor.base is model.factor.base
    assert len(model.X) + 2 == len(child.X) == child.factor.rows


def test_conditioning_on_nothing_is_the_same_model() -> None:
    model = model_for(2)
    assert model.condition(Data(np.zeros((0, 2)), np.zeros(0))) is model


@pytest.mark.parametrize("conditioned", [False, True])
def test_a_model_is_frozen(conditioned: bool) -> None:
    model = model_for(2)
    if conditioned:
        model = model.condition(Data(np.full((1, 2), 0.5), np.array([1.0])))
    for part in (model.X, model.y, model.whitened, model.alpha, model.lengthscales, model.factor.base):
        assert not part.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.scale = 1.0  # type: ignore[misc]


def test_the_callers_data_are_neither_changed_nor_frozen_nor_kept() -> None:
    X = np.random.default_rng(0).random((5, 2))
    y = smooth(X)
    X_before, y_before = X.copy(), y.copy()
    model = GP().fit(Data(X, y), np.random.default_rng(0))
    assert X.flags.writeable
    assert y.flags.writeable
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    X += 1.0
    np.testing.assert_array_equal(model.X, X_before)


def test_a_gp_has_every_capability() -> None:
    model = model_for()
    for capability in (Model, Conditionable, Differentiable, Joint, Sampling, Smoothing, Scaled):
        assert isinstance(model, capability)
    assert isinstance(GP(), Restorable)


# Prediction


@every_kernel
@each(("d", "n"), [(1, 6), (3, 12), (50, 40)])
@each("conditioned", [False, True])
def test_gradients_are_central_differences(kernel: str, d: int, n: int, conditioned: bool) -> None:
    model = model_for(d, n, kernel)
    rng = np.random.default_rng(3)
    if conditioned:
        model = model.condition(Data(rng.random((2, d)), np.array([29.0, 33.0])))
    # Between data, a tenth of a thousandth of a lengthscale from one, and outside of the cube.
    X = np.vstack([rng.random((3, d)), model.X[:1] + 1e-5, np.full((1, d), 1.3)])
    at = model.predict_with_gradient(X)
    plain = model.predict(X)
    np.testing.assert_allclose(at.mean, plain.mean, rtol=1e-12)
    np.testing.assert_allclose(at.std, plain.std, rtol=1e-9)
    for x, mean_slope, std, std_slope in zip(X, at.mean_gradient, at.std, at.std_gradient, strict=True):
        # The third derivative of Matérn-3/2 jumps at a data point: a step must not leap over one.
        step = 2e-6 if np.abs(x - model.X[0]).max() < 1e-4 else 1e-4
        tol = 1e-3 if step < 1e-5 else 1e-5
        by_mean = central_differences(lambda Z: model.predict(Z).mean, x, step)
        by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x, step)
        np.testing.assert_allclose(mean_slope, by_mean, rtol=tol, atol=tol * model.scale)
        np.testing.assert_allclose(2.0 * std * std_slope, by_variance, rtol=tol, atol=tol * model.scale**2)


@every_kernel
@each("d", [1, 3, 50])
@each("noise", [1e-8, 1e-6, 1e-2])
def test_gradients_at_a_data_point_are_those_of_the_variance(kernel: str, d: int, noise: float) -> None:
    model = model_for(d, 5, kernel, noise)
    x = model.X[2]
    at = model.predict_with_gradient(x[None, :])
    assert np.isfinite(at.std_gradient).all()
    step = 1e-4
    by_variance = central_differences(lambda Z: model.predict(Z).std ** 2, x, step)
    # σ² has a minimum near the point; Matérn-3/2 has |r|³ there, whose differences err by the square of the step.
    tol = 1e-5 * model.scale**2
    np.testing.assert_allclose(2.0 * at.std[:, None] * at.std_gradient, by_variance[None, :], rtol=1e-4, atol=tol)
    by_mean = central_differences(lambda Z: model.predict(Z).mean, x, step)
    np.testing.assert_allclose(at.mean_gradient[0], by_mean, rtol=1e-4, atol=1e-3 * model.scale)


@every_kernel
def test_without_noise_the_mean_meets_the_data(kernel: str) -> None:
    model = model_for(3, kernel=kernel, noise=1e-8)
    at = model.predict(model.X)
    np.testing.assert_allclose(at.mean, 30.0 + 5.0 * smooth(model.X), atol=1e-4)
    assert (at.std < 2e-4 * model.scale).all()


@every_kernel
def test_far_from_data_the_prior_returns(kernel: str) -> None:
    model = model_for(2, kernel=kernel)
    at = model.predict(np.full((1, 2), 1e4))
    assert at.mean[0] == pytest.approx(model.shift)
    assert model.shift == pytest.approx(31.0 + 4.0 * 0.2)
    assert at.std[0] == pytest.approx(model.scale * np.sqrt(model.hyper.signal))


@every_kernel
def test_the_diagonal_of_the_joint_is_the_variance(kernel: str) -> None:
    model = model_for(3, kernel=kernel).condition(Data(np.full((1, 3), 0.5), np.array([30.0])))
    X = np.vstack([np.random.default_rng(0).random((6, 3)), model.X[:2]])
    joint_is_that_of_predict(model, X, model.scale, rtol=1e-7)


@pytest.mark.parametrize("noisy", [False, True])
def test_samples_have_the_moments_of_the_joint(noisy: bool) -> None:
    model = model_for(2, 5, noise=0.05)
    X = np.array([[0.1, 0.2], [0.15, 0.2], [0.9, 0.5], [0.5, 0.99]])
    samples_have_the_moments_of_the_joint(model, X, model.hyper.noise * model.scale**2 if noisy else None)


def test_samples_come_from_the_generator_alone_and_survive_copies_of_a_point() -> None:
    model = model_for(2)
    X = np.vstack([np.full((3, 2), 0.4), model.X[:2]])
    draws = model.sample(X, 20, np.random.default_rng(1))
    np.testing.assert_array_equal(draws, model.sample(X, 20, np.random.default_rng(1)))
    assert (draws != model.sample(X, 20, np.random.default_rng(2))).any()
    assert np.isfinite(draws).all()
    # Copies share their draw to what the jitter of a factor leaves apart.
    assert np.ptp(draws[:, :3], axis=1).max() < 0.1 * model.predict(X[:1]).std[0]


@every_kernel
@each("noise", [1e-4, 0.3])
def test_leave_one_out_is_leaving_one_out(kernel: str, noise: float) -> None:
    X = np.random.default_rng(0).random((9, 2))
    y = 30.0 + 5.0 * smooth(X)
    hyper = hyper_for(2, kernel, noise, mean=0.2)
    loo = posterior(hyper, X, y, 31.0, 4.0).leave_one_out()
    for i in range(len(X)):
        rest = posterior(hyper, np.delete(X, i, axis=0), np.delete(y, i), 31.0, 4.0)
        alone = rest.predict(X[i : i + 1])
        assert loo.mean[i] == pytest.approx(alone.mean[0], rel=1e-8)
        assert loo.std[i] == pytest.approx(alone.std[0], rel=1e-6)


@every_kernel
def test_log_marginal_likelihood_is_the_density_of_the_standardized_data(kernel: str) -> None:
    model = model_for(2, 8, kernel, noise=0.01)
    r2 = ((model.X[:, None] - model.X) ** 2 / model.lengthscales**2).sum(axis=2)
    K = model.hyper.signal * KERNELS[kernel](r2)[0] + 0.01 * np.eye(8)
    expected = multivariate_normal(np.zeros(8), K).logpdf(model.y)
    assert model.log_marginal_likelihood() == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(model.y, (30.0 + 5.0 * smooth(model.X) - 31.0 - 0.8) / 4.0, rtol=1e-12)


def test_noise_above_the_nugget_makes_a_model_noisy() -> None:
    assert not model_for(noise=1e-6).is_noisy
    assert model_for(noise=1e-2).is_noisy


# Fitting


@every_kernel
@every_preset
@each("noise", [1e-6, 0.1, "infer"])
def test_describe_and_restore_give_the_same_bits(kernel: str, fit: str, noise: float | str) -> None:
    X = np.random.default_rng(0).random((9, 2))
    y = 1e3 + smooth(X)
    surrogate = GP(kernel, noise)
    model = fit_gp(Data(X, y), kernel, noise, np.random.default_rng(0), preset=PRESETS[fit])
    state = json.loads(json.dumps(surrogate.describe(model)))
    again = surrogate.restore(Data(X, y), state)
    at = np.random.default_rng(1).random((5, 2))
    for part in ("X", "y", "whitened", "alpha"):
        np.testing.assert_array_equal(getattr(again, part), getattr(model, part))
    np.testing.assert_array_equal(again.predict(at).std, model.predict(at).std)
    np.testing.assert_array_equal(again.factor.base, model.factor.base)
    assert surrogate.describe(again) == state
    np.testing.assert_array_equal(
        again.condition(Data(at[:2], np.ones(2))).alpha, model.condition(Data(at[:2], np.ones(2))).alpha
    )


@every_preset
@each("noise", [1e-6, "infer"])
def test_a_fit_comes_from_its_generator_alone(fit: str, noise: float | str) -> None:
    X = np.random.default_rng(0).random((8, 3))
    data, preset = Data(X, smooth(X)), PRESETS[fit]
    models = [fit_gp(data, "matern52", noise, np.random.default_rng(5), preset=preset) for _ in range(2)]
    assert models[0].hyper.to_config() == models[1].hyper.to_config()
    np.testing.assert_array_equal(models[0].alpha, models[1].alpha)


@each("noise", [1e-6, 1e-2])
@each("scale", [1e-12, 1e12, -1e12, 1e-90, 1e200])
def test_the_units_of_y_do_not_matter(scale: float, noise: float) -> None:
    X, at = np.random.default_rng(0).random((12, 2)), np.random.default_rng(1).random((10, 2))
    y = smooth(X)
    one = GP(noise=noise).fit(Data(X, y), np.random.default_rng(0)).predict(at)
    two = GP(noise=noise).fit(Data(X, scale * y), np.random.default_rng(0)).predict(at)
    np.testing.assert_allclose(two.mean / scale, one.mean, rtol=0.0, atol=1e-4 * y.std())
    np.testing.assert_allclose(two.std / abs(scale), one.std, rtol=1e-3, atol=1e-6 * y.std())


@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_a_large_offset_of_y_costs_no_more_than_its_rounding(noise: float) -> None:
    X, at = np.random.default_rng(0).random((12, 2)), np.random.default_rng(1).random((10, 2))
    # The last bit of 1e12 is worth 2⁻¹³: multiples of that survive the sum unrounded.
    y = np.round(smooth(X) * 2.0**13) / 2.0**13
    assert ((y + 1e12) - 1e12 == y).all()
    one = GP(noise=noise).fit(Data(X, y), np.random.default_rng(0)).predict(at)
    two = GP(noise=noise).fit(Data(X, y + 1e12), np.random.default_rng(0)).predict(at)
    np.testing.assert_allclose(two.mean - 1e12, one.mean, rtol=0.0, atol=1e-3 * y.std())
    np.testing.assert_allclose(two.std, one.std, rtol=1e-3)


@each("value", [0.0, 3.0, -1e-300, 1e12, 0.1])
@each("n", [1, 2, 7])
@each("noise", [1e-6, "infer"])
def test_constant_data_give_a_finite_model_that_says_the_constant(value: float, n: int, noise: float | str) -> None:
    X, at = np.random.default_rng(0).random((n, 2)), np.random.default_rng(1).random((5, 2))
    prediction = GP(noise=noise).fit(Data(X, np.full(n, value)), np.random.default_rng(0)).predict(at)
    np.testing.assert_allclose(prediction.mean, value, rtol=1e-9, atol=1e-300)
    assert np.isfinite(prediction.std).all()
    assert (prediction.std > 0.0).all()


@pytest.mark.parametrize("y", [[2.0], [0.0], [-1e9]])
def test_one_observation_is_enough(y: list[float]) -> None:
    model = GP().fit(Data(np.array([[0.3, 0.6]]), np.array(y)), np.random.default_rng(0))
    at = model.predict(np.array([[0.3, 0.6], [0.9, 0.1]]))
    np.testing.assert_allclose(at.mean[0], y[0], rtol=1e-5)
    assert at.std[0] < at.std[1]


@every_kernel
@each("gap", [0.0, 1e-12, 1e-9])
@each("noise", [0.0, 1e-6])
def test_points_on_top_of_each_other_are_survived(kernel: str, gap: float, noise: float) -> None:
    X = np.random.default_rng(0).random((8, 2))
    X = np.vstack([X, X[:4] + gap, X[:4] - gap])
    y = smooth(X)
    model = GP(kernel, noise).fit(Data(X, y), np.random.default_rng(0))
    # Copies that answer differently leave the likelihood no room but noise; the posterior must still be one.
    y[8] += 1e-3
    odd = GP(kernel, noise).fit(Data(X, y), np.random.default_rng(0))
    at = np.vstack([np.random.default_rng(1).random((20, 2)), X])
    for fitted in (model, odd):
        found = fitted.predict_with_gradient(at)
        for part in (found.mean, found.std, found.mean_gradient, found.std_gradient):
            assert np.isfinite(part).all()
        assert fitted.jitter <= 1e-4 * (fitted.hyper.signal + fitted.hyper.noise) * (1.0 + 1e-9)
    np.testing.assert_allclose(model.predict(X[:8]).mean, smooth(X[:8]), atol=1e-3)
    # Another copy may join by conditioning.
    more = model.condition(Data(X[:1] + gap, y[:1]))
    assert np.isfinite(more.predict(at).mean).all()
    assert (more.predict(at).std > 0.0).all()


def test_many_data_take_their_hyperparameters_from_a_seeded_subset(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).random((30, 2))
    y = smooth(X)
    assert GP().fit(Data(X, y), np.random.default_rng(0)).hyper.subset is None
    monkeypatch.setattr(gp_fit, "SUBSET_ABOVE", 12)
    one = GP().fit(Data(X, y), np.random.default_rng(0))
    assert one.hyper.subset == 12
    assert len(one.X) == len(one.y) == 30
    np.testing.assert_allclose(one.predict(X).mean, y, atol=1e-3)
    again, other = (GP().fit(Data(X, y), np.random.default_rng(seed)) for seed in (0, 1))
    assert again.hyper.to_config() == one.hyper.to_config()
    assert other.hyper.to_config() != one.hyper.to_config()
    assert GP().fit(Data(X[:12], y[:12]), np.random.default_rng(0)).hyper.subset is None


@each("share", [0.01, 0.1, 0.3])
@each("seed", range(3))
def test_inferred_noise_is_near_the_truth(share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((80, 2))
    clean = np.sin(5.0 * X[:, 0]) + X[:, 1]
    y = clean + np.sqrt(share * clean.var()) * rng.standard_normal(80)
    model = GP(noise="infer").fit(Data(X, y), np.random.default_rng(0))
    truth = share / (1.0 + share)
    assert truth / 3.0 < model.hyper.noise < truth * 3.0
    assert model.is_noisy


@each("n", [20, 50])
@each("seed", range(4))
def test_a_deterministic_function_is_not_called_noise(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 6))
    model = GP(noise="infer").fit(Data(X, hartmann6(X)), np.random.default_rng(0))
    # "All noise" is a flat mean: the model must explain more than half of the variance of its own data.
    assert float(((model.predict(X).mean - hartmann6(X)) ** 2).mean() / hartmann6(X).var()) < 0.5
    assert model.hyper.noise < 0.5 * model.hyper.signal


def log_posterior(model: GPModel, X: Array, y: Array, noise: float | str, fit: str) -> float:
    """What a fit climbs: log likelihood and log priors of the model's hyperparameters, to a constant."""
    preset, hyper = PRESETS[fit], model.hyper
    shift, scale = standardization(y)
    theta = np.log([*hyper.lengthscales, hyper.signal, *([hyper.noise] if noise == "infer" else [])])
    fixed = None if noise == "infer" else hyper.noise
    total = gp_likelihood.log_likelihood(hyper.kernel, X, (y - shift) / scale, theta, fixed, preset.mean_std).value
    offset = 0.5 * np.log(X.shape[1]) if preset.scaled else 0.0
    d = X.shape[1]
    priors = (preset.lengthscale, preset.signal, preset.noise)
    for prior, values in zip(priors, (theta[:d] - offset, theta[d : d + 1], theta[d + 1 :]), strict=True):
        if prior is not None:
            total -= nats(prior, values)
    return total


def nats(prior: LogNormal, values: Array) -> float:
    """-log p of logarithms under ``prior``, to a constant; a shared mean has its best value."""
    off, common, beyond = values - prior.mean, 0.0, 0.0
    if prior.shared:
        common = float(off.sum()) / (len(off) + (prior.std / prior.shared) ** 2)
        beyond = (common / prior.shared) ** 2
    return 0.5 * float((((off - common) / prior.std) ** 2).sum() + beyond)


@every_preset
@each("noise", [1e-6, "infer"])
@each("seed", range(3))
def test_a_warm_start_is_never_worse_than_where_it_starts_nor_than_a_cold_one(
    fit: str, noise: float | str, seed: int
) -> None:
    X = np.random.default_rng(seed).random((14, 3))
    y = smooth(X)
    preset = PRESETS[fit]
    earlier = fit_gp(Data(X[:10], y[:10]), "matern52", noise, np.random.default_rng(1), preset=preset)
    cold = fit_gp(Data(X, y), "matern52", noise, np.random.default_rng(2), preset=preset)
    warm = fit_gp(Data(X, y), "matern52", noise, np.random.default_rng(2), earlier, preset)
    models = {"cold": cold, "warm": warm, "at": earlier}
    reached = {name: log_posterior(model, X, y, noise, fit) for name, model in models.items()}
    assert reached["warm"] >= reached["at"] - 1e-9
    # A preset may drop starts that lag behind after a few rounds: as good means to a hundredth.
    assert reached["warm"] >= reached["cold"] - 1e-2


@pytest.mark.parametrize("dims", [(2, 5), (5, 2), (3, 2)])
def test_a_model_of_other_dimensions_or_kernel_is_no_warm_start(
    dims: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that a warm start, where there is one, is the only one.
    monkeypatch.setattr(gp_fit, "CENTER_AT_TIMES_UP_TO", 0)
    d, other = dims
    X, Z = np.random.default_rng(0).random((10, d)), np.random.default_rng(1).random((10, other))
    previous = GP().fit(Data(Z, smooth(Z)), np.random.default_rng(0))
    cold = GP().fit(Data(X, smooth(X)), np.random.default_rng(0))
    assert GP().fit(Data(X, smooth(X)), np.random.default_rng(0), previous).hyper.to_config() == cold.hyper.to_config()
    se = GP("se").fit(Data(X, smooth(X)), np.random.default_rng(0))
    assert GP().fit(Data(X, smooth(X)), np.random.default_rng(0), se).hyper.to_config() == cold.hyper.to_config()


@every_preset
def test_noise_is_fixed_where_it_is_given(fit: str) -> None:
    X = np.random.default_rng(0).random((8, 2))
    for given_, used in ((1e-6, 1e-6), (0.25, 0.25), (0.0, gp_fit.NOISE_FLOOR)):
        model = fit_gp(Data(X, smooth(X)), "matern52", given_, np.random.default_rng(0), preset=PRESETS[fit])
        assert model.hyper.noise == used


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"kernel": "rbf"}, "kernel must be one of matern52, matern32, se; got 'rbf'"),
    ({"prior": "flat"}, "prior must be one of auto, shared, separate; got 'flat'"),
    ({"prior": 3}, "prior must be one of auto, shared, separate; got 3"),
    ({"noise": "some"}, 'noise must be a variance or "infer" or "auto"; got \'some\''),
    ({"noise": -1.0}, "noise must be a variance, zero or more; got -1.0"),
    ({"noise": np.inf}, "noise must be a finite number; got inf"),
    ({"noise": np.nan}, "noise must be a finite number; got nan"),
    ({"noise": True}, "noise must be a finite number; got True"),
]


@each(("arguments", "rule"), INVALID)
def test_a_recipe_that_breaks_a_rule_is_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        GP(**arguments)


def test_a_noise_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInput, match="noise must be"):
        GP(noise=None)  # type: ignore[arg-type]


@each(("X", "y", "rule"), BAD_DATA)
def test_data_that_break_a_rule_are_refused(X: Any, y: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        GP().fit(Data(X, y), np.random.default_rng(0))


def test_recipes_are_values() -> None:
    assert GP("se", 0.1) == GP("se", 0.1)
    assert GP() != GP("se")
    assert hash(GP()) == hash(GP())
    with pytest.raises(dataclasses.FrozenInstanceError):
        GP().kernel = "se"  # type: ignore[misc]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=8))
def test_standardization_is_finite_positive_and_centers(values: list[float]) -> None:
    y = np.array(values)
    shift, scale = standardization(y)
    assert np.isfinite([shift, scale]).all()
    assert scale > 0.0
    unit = (y - shift) / scale
    assert np.isfinite(unit).all()
    assert abs(unit.mean()) < 1e-2
    assert unit.std() < 1.01
