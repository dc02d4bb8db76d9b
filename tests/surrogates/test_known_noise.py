"""What is known of the noise of each observation, in every surrogate that gives an observation a noise of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import hyper_for, same_predictions, samples_have_the_moments_of_the_joint, smooth, unit_data
from presets import PRESETS
from scipy.stats import multivariate_normal

from believer.arrays import Array
from believer.surrogates import GP, FixedRBF, GPModel, LastLayer, SparseGP, fixed_rbf, gp_fit, last_layer, sparse_gp
from believer.surrogates.data import Data, joined, variances
from believer.surrogates.gp import fit_gp, posterior, prior_covariance, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.kernels import KERNELS
from believer.surrogates.linear import by_evidence

pytestmark = pytest.mark.both_backends

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))

SHIFT, SCALE = 31.0, 4.0
EPS = float(np.finfo(np.float64).eps)


def data_for(n: int, d: int, seed: int = 0, largest: float = 1.0) -> Data:
    """Results in units of their own, of which all but every third have a known noise, the ``largest`` in units of y."""
    rng = np.random.default_rng((seed, n, d))
    X = rng.random((n, d))
    std = SCALE * largest * rng.random(n) * (np.arange(n) % 3 > 0)
    return Data(X, 30.0 + 5.0 * smooth(X) + std * rng.standard_normal(n), std)


def rows(data: Data, which: Any) -> Data:
    return Data(data.X[which], data.Y[which], None if data.noise is None else data.noise[which])


def process(hyper: Hyperparameters, data: Data) -> GPModel:
    return posterior(hyper, data.X, data.y, SHIFT, SCALE, data.std)


def tolerance(model: GPModel) -> float:
    """max(1e-9, C ε cond(K_y)) of what the terms of a mean amount to, in units of y; C is that of the native tests."""
    K = prior_covariance(model.hyper, model.X, model.hyper.signal + model.noise)
    reach = float(np.square(model.X / model.lengthscales).sum(axis=1).max())
    condition = 2.0 * (len(K) + reach) * EPS * float(np.linalg.cond(K))
    return max(1e-9, condition) * max(1.0, model.hyper.signal * float(np.abs(model.alpha).sum()))


def same_processes(one: GPModel, other: GPModel, at: Array) -> None:
    same_predictions(one, other, at, SCALE, max(tolerance(one), tolerance(other)))


# Conditioning


@every_kernel
@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.sampled_from([1e-4, 0.3]), st.integers(0, 2**20))
def test_conditioning_on_a_then_b_is_conditioning_on_both_is_the_posterior_of_the_union(
    kernel: str, a: int, b: int, d: int, noise: float, seed: int
) -> None:
    data, hyper = data_for(8 + a + b, d, seed), hyper_for(d, kernel, noise)
    base = process(hyper, rows(data, slice(8)))
    first, second = rows(data, slice(8, 8 + a)), rows(data, slice(8 + a, None))
    stepwise, at_once = base.condition(first).condition(second), base.condition(joined(first, second))
    whole = process(hyper, data)
    at = np.vstack([np.random.default_rng(seed).random((5, d)), data.X])
    same_processes(stepwise, at_once, at)
    same_processes(at_once, whole, at)
    for one in (stepwise, at_once):
        np.testing.assert_array_equal(one.known, whole.known)
    tol = tolerance(whole)
    np.testing.assert_allclose(at_once.joint(at).covariance, whole.joint(at).covariance, rtol=0.0, atol=tol * SCALE**2)
    assert at_once.log_marginal_likelihood() == pytest.approx(whole.log_marginal_likelihood(), rel=tol, abs=tol)
    loo, expected = at_once.leave_one_out(), whole.leave_one_out()
    np.testing.assert_allclose(loo.mean, expected.mean, rtol=0.0, atol=tol * SCALE)
    np.testing.assert_allclose(loo.std**2, expected.std**2, rtol=0.0, atol=tol * SCALE**2)


@pytest.mark.parametrize("known_first", [False, True])
def test_data_with_and_without_known_noise_may_follow_each_other(known_first: bool) -> None:
    hyper, at = hyper_for(2), np.random.default_rng(1).random((6, 2))
    noisy, plain = data_for(5, 2), Data(*unit_data(4, 2, seed=3))
    parts = (noisy, plain) if known_first else (plain, noisy)
    same_processes(process(hyper, parts[0]).condition(parts[1]), process(hyper, joined(*parts)), at)


@every_kernel
@settings(max_examples=15)
@given(st.integers(0, 2**20))
def test_the_order_of_data_does_not_matter(kernel: str, seed: int) -> None:
    data, hyper, rng = data_for(10, 3, seed), hyper_for(3, kernel), np.random.default_rng(seed)
    at = rng.random((6, 3))
    whole = process(hyper, data)
    same_processes(whole, process(hyper, rows(data, rng.permutation(10))), at)
    same_processes(whole, process(hyper, rows(data, slice(4))).condition(rows(data, 4 + rng.permutation(6))), at)


@every_kernel
@settings(max_examples=20)
@given(st.integers(0, 2**20), st.floats(-1e3, 1e3), st.sampled_from([1e-8, 1e-2]), st.sampled_from([1e-3, 1.0, 1e9]))
def test_std_never_rises_under_conditioning_and_does_not_depend_on_the_value(
    kernel: str, seed: int, value: float, noise: float, std: float
) -> None:
    model = process(hyper_for(3, kernel, noise), data_for(12, 3, seed))
    rng = np.random.default_rng(seed)
    x, at = rng.random((1, 3)), np.vstack([rng.random((20, 3)), model.X])
    told, other = (model.condition(Data(x, np.array([y]), np.array([std]))) for y in (value, -value))
    before, after = model.predict(at).std / SCALE, told.predict(at).std / SCALE
    assert (after**2 <= before**2 + 1e-12).all()
    np.testing.assert_array_equal(after, other.predict(at).std / SCALE)


@every_kernel
@each("noise", [0.0, 1e-3, 0.5])
@each("std", [1e-2, 1.0, 30.0])
def test_variance_at_the_new_point_is_the_parallel_sum_of_variance_and_all_noise(
    kernel: str, noise: float, std: float
) -> None:
    model = process(hyper_for(2, kernel, noise), data_for(9, 2))
    total = noise + (std / SCALE) ** 2
    for x in np.random.default_rng(1).random((5, 1, 2)):
        before = float(model.predict(x).std[0] / SCALE) ** 2
        after = float(model.condition(Data(x, np.array([7.0]), np.array([std]))).predict(x).std[0] / SCALE) ** 2
        # A variance is what subtraction leaves of the signal's.
        assert after == pytest.approx(before * total / (before + total), rel=1e-7, abs=tolerance(model))


@pytest.mark.parametrize("std", [1e9, 1e100, 1e300])
def test_a_result_that_says_nothing_changes_nothing(std: float) -> None:
    data, hyper, at = data_for(9, 2), hyper_for(2), np.random.default_rng(1).random((6, 2))
    nothing = Data(np.array([[0.4, 0.6]]), np.array([-500.0]), np.array([std]))
    model = process(hyper, data)
    for told in (
        model.condition(nothing),
        process(hyper, joined(data, nothing)),
        process(hyper, joined(nothing, data)),
    ):
        # It is some 100 scales off, with a noise of 1e6 of them at the most: it weighs 1e-12.
        same_predictions(told, model, at, SCALE, 1e-9)
        np.testing.assert_allclose(np.sort(told.alpha), np.sort(np.append(model.alpha, 0.0)), atol=tolerance(model))


def test_a_result_without_noise_is_met_among_noisy_ones() -> None:
    data, hyper = data_for(12, 2, largest=2.0), hyper_for(2, noise=1e-8)
    assert data.std is not None
    exact = data.std == 0.0
    off = np.abs(process(hyper, data).predict(data.X).mean - data.y) / SCALE
    assert off[exact].max() < 1e-4
    assert off[~exact].max() > 0.1
    x, value = np.array([[0.3, 0.7]]), np.array([60.0])
    told = process(hyper, data).condition(Data(x, value, np.zeros(1)))
    np.testing.assert_allclose(told.predict(x).mean, value, atol=1e-4 * SCALE)


@every_kernel
def test_the_same_noise_for_all_is_a_process_with_so_much_more_noise(kernel: str) -> None:
    data, at = data_for(12, 3), np.random.default_rng(1).random((6, 3))
    noisy = process(hyper_for(3, kernel, 1e-2), Data(data.X, data.Y, np.full(12, 0.5 * SCALE)))
    plain = process(hyper_for(3, kernel, 1e-2 + 0.25), Data(data.X, data.Y))
    same_processes(noisy, plain, at)
    assert noisy.log_marginal_likelihood() == pytest.approx(plain.log_marginal_likelihood(), rel=1e-9)
    np.testing.assert_allclose(noisy.leave_one_out().std, plain.leave_one_out().std, rtol=1e-9)


@every_kernel
@settings(max_examples=10)
@given(st.integers(0, 2**20), st.sampled_from([0.05, 1.0]))
def test_two_results_at_a_point_are_one_at_their_mean_with_less_noise(kernel: str, seed: int, std: float) -> None:
    data, hyper = data_for(7, 2, seed), hyper_for(2, kernel, 0.0)
    data = Data(data.X, data.Y, np.full(7, std))
    x, values = np.full((1, 2), 0.5), np.array([28.0, 33.0])
    twice = Data(np.repeat(x, 2, axis=0), values, np.full(2, std))
    once = Data(x, values.mean(keepdims=True), np.array([std / np.sqrt(2.0)]))
    at = np.vstack([np.random.default_rng(seed).random((6, 2)), x])
    same_processes(process(hyper, joined(data, twice)), process(hyper, joined(data, once)), at)
    same_processes(process(hyper, data).condition(twice), process(hyper, data).condition(once), at)


@each("fit", list(PRESETS))
@each("noise", [1e-6, "infer"])
def test_a_noise_of_zero_is_none_bit_for_bit(fit: str, noise: float | str) -> None:
    X, y = unit_data(12, 2)
    at = np.random.default_rng(1).random((5, 2))
    plain, zero = (
        fit_gp(Data(X[:10], y[:10], s), "matern52", noise, np.random.default_rng(0), preset=PRESETS[fit])
        for s in (None, np.zeros(10))
    )
    told = plain.condition(Data(X[10:], y[10:])), zero.condition(Data(X[10:], y[10:], np.zeros(2)))
    np.testing.assert_array_equal(told[0].predict(at).mean, told[1].predict(at).mean)
    np.testing.assert_array_equal(told[0].factor.tail, told[1].factor.tail)
    assert told[1].known is None


# The rest of a process


@every_kernel
def test_leave_one_out_is_leaving_one_out(kernel: str) -> None:
    data, hyper = data_for(9, 2), hyper_for(2, kernel, 1e-2)
    loo = process(hyper, data).leave_one_out()
    for i in range(9):
        alone = process(hyper, rows(data, np.arange(9) != i)).predict(data.X[i : i + 1])
        assert loo.mean[i] == pytest.approx(alone.mean[0], rel=1e-8)
        assert loo.std[i] == pytest.approx(alone.std[0], rel=1e-6)


@every_kernel
def test_log_marginal_likelihood_is_the_density_of_the_standardized_data(kernel: str) -> None:
    model = process(hyper_for(2, kernel, 1e-2), data_for(8, 2))
    assert model.known is not None
    K = prior_covariance(model.hyper, model.X) + np.diag(1e-2 + model.known)
    expected = multivariate_normal(np.zeros(8), K).logpdf(model.y)
    assert model.log_marginal_likelihood() == pytest.approx(expected, rel=1e-9)


def test_observations_are_drawn_with_the_noise_of_the_model_alone() -> None:
    model = process(hyper_for(2, noise=0.05), data_for(6, 2))
    X = np.array([[0.1, 0.2], [0.9, 0.5], [0.5, 0.99]])
    samples_have_the_moments_of_the_joint(model, X, 0.05 * SCALE**2)


@pytest.mark.parametrize("recipe", [GP(), SparseGP(), FixedRBF(noise=1e-6)], ids=lambda recipe: type(recipe).__name__)
def test_known_noise_above_the_nugget_makes_a_model_noisy(recipe: Any) -> None:
    X, y = unit_data(9, 2)
    scale = standardization(y)[1]
    models = [
        recipe.fit(Data(X, y, np.append(np.zeros(8), std)), np.random.default_rng(0))
        for std in (0.0, 1e-3 * scale, 1e-2 * scale)
    ]
    assert [model.is_noisy for model in models] == [False, False, True]
    told = [models[0].condition(Data(X[:1], y[:1], np.array([std * scale]))) for std in (1e-3, 1e-2)]
    assert [model.is_noisy for model in told] == [False, True]


# Fits


@pytest.mark.parametrize("fit", list(PRESETS))
def test_describe_and_restore_give_the_same_bits(fit: str) -> None:
    data, recipe = data_for(9, 2), GP(noise="infer")
    model = fit_gp(data, "matern52", "infer", np.random.default_rng(0), preset=PRESETS[fit])
    again = recipe.restore(data, json.loads(json.dumps(recipe.describe(model))))
    for part in ("known", "whitened", "alpha"):
        np.testing.assert_array_equal(getattr(again, part), getattr(model, part))
    np.testing.assert_array_equal(again.factor.base, model.factor.base)
    assert model.known is not None
    assert not model.known.flags.writeable


@pytest.mark.parametrize("seed", range(3))
def test_what_is_inferred_is_what_is_left_beyond_the_known_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((80, 2))
    clean = np.sin(5.0 * X[:, 0]) + X[:, 1]
    std = np.full(80, float(np.sqrt(0.3 * clean.var())))
    y = clean + std * rng.standard_normal(80)
    truth = 0.3 / 1.3
    unaware, aware = (GP(noise="infer").fit(Data(X, y, s), np.random.default_rng(0)) for s in (None, std))
    assert unaware.hyper.noise > truth / 3.0
    # The prior expects some 0.007.
    assert aware.hyper.noise < truth / 5.0
    assert aware.log_marginal_likelihood() > unaware.log_marginal_likelihood() - 3.0


def test_a_fit_that_knows_which_results_are_bad_is_nearer_to_the_truth() -> None:
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, at = rng.random((40, 2)), rng.random((200, 2))
        std = np.where(np.arange(40) % 2, 1.0, 1e-3)
        y = smooth(X) + std * rng.standard_normal(40)
        models = [GP(noise="infer").fit(Data(X, y, s), np.random.default_rng(0)) for s in (None, std)]
        errors.append([float(np.square(model.predict(at).mean - smooth(at)).mean()) for model in models])
    assert (np.array(errors)[:, 1] < 0.5 * np.array(errors)[:, 0]).all()


def test_a_subset_takes_the_noise_of_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_for(40, 2)
    shift, scale = standardization(data.y)
    known = variances(data.std, scale)
    assert known is not None
    monkeypatch.setattr(gp_fit, "SUBSET_ABOVE", 25)
    model = GP(noise="infer").fit(data, np.random.default_rng(4))
    some = np.sort(np.random.default_rng(4).permutation(40)[:25])
    X, y = data.X[some], (data.y[some] - shift) / scale
    rng, rules = np.random.default_rng(0), PRESETS["default"]
    expected = gp_fit.fit(X, y, "matern52", "infer", rules, rng, None, known=known[some])
    assert model.hyper.to_config() == {**expected.to_config(), "subset": 25}
    assert model.known is not None
    np.testing.assert_array_equal(model.known, known)


# Models that are linear in weights

Refit = Callable[[Any, Data], Any]

LINEAR: dict[str, tuple[Any, Refit]] = {
    "sparse": (
        SparseGP(inducing=6),
        lambda m, data: sparse_gp.posterior(
            m.hyper, m.rows, data.X, data.y, m.shift - m.scale * m.hyper.mean, m.scale, data.std
        ),
    ),
    "fixed": (
        FixedRBF(centers=12),
        lambda m, data: fixed_rbf.posterior(m.basis, m.prior, m.noise, data.X, data.y, m.shift, m.scale, data.std),
    ),
    "last layer": (
        LastLayer(hidden=(8, 8), seed=0),
        lambda m, data: last_layer.posterior(m.basis, data.X, data.y, data.std),
    ),
}
every_linear = pytest.mark.parametrize("name", list(LINEAR))


@every_linear
def test_conditioning_in_weights_is_a_fit_with_parameters_frozen(name: str) -> None:
    recipe, refit = LINEAR[name]
    data = data_for(16, 2)
    base = recipe.fit(rows(data, slice(12)), np.random.default_rng(0))
    at = np.vstack([np.random.default_rng(1).random((5, 2)), data.X])
    whole = refit(base, data)
    same_predictions(refit(base, rows(data, slice(12))), base, at, SCALE)
    same_predictions(base.condition(rows(data, slice(12, None))), whole, at, SCALE, 1e-8)
    stepwise = base.condition(rows(data, slice(12, 13))).condition(rows(data, slice(13, None)))
    same_predictions(stepwise, whole, at, SCALE, 1e-8)
    backwards = base.condition(rows(data, slice(None, 11, -1)))
    same_predictions(backwards, whole, at, SCALE, 1e-8)
    nothing = Data(at[:1], np.array([-500.0]), np.array([1e300]))
    same_predictions(base.condition(nothing), base, at, SCALE, 1e-8)
    unaware = base.condition(Data(data.X[12:], data.Y[12:]))
    assert np.abs(unaware.predict(at).mean - whole.predict(at).mean).max() > 1e-3


def test_with_all_data_inducing_a_sparse_process_is_the_exact_one() -> None:
    data, hyper = data_for(15, 2), hyper_for(2, noise=1e-3)
    chosen = sparse_gp.choose_inducing(hyper, data.X, 15)
    sparse = sparse_gp.posterior(hyper, chosen, data.X, data.y, SHIFT, SCALE, data.std)
    exact = process(hyper, data)
    same_predictions(sparse, exact, np.random.default_rng(2).random((20, 2)), SCALE, 1e-7)


def test_a_sparse_process_is_restored_with_the_noise_of_its_data() -> None:
    data, recipe = data_for(14, 2), SparseGP(inducing=6)
    model = recipe.fit(data, np.random.default_rng(0))
    again = recipe.restore(data, json.loads(json.dumps(recipe.describe(model))))
    np.testing.assert_array_equal(again.weights.root, model.weights.root)
    np.testing.assert_array_equal(again.weights.mean, model.weights.mean)


@pytest.mark.parametrize("subset", [25, 512])
def test_a_sparse_process_learns_what_the_exact_one_learns(subset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_for(40, 2)
    for room in (gp_fit, sparse_gp):
        monkeypatch.setattr(room, "SUBSET_ABOVE", subset)
    exact, sparse = (recipe(noise="infer").fit(data, np.random.default_rng(4)).hyper for recipe in (GP, SparseGP))
    assert sparse.to_config() == exact.to_config()


def log_density(F: Array, y: Array, v: float, noise: float, known: Array) -> float:
    """What the evidence is, but for the prior of the noise."""
    g = float((F * F).sum()) / len(y)
    K = v * F @ F.T + np.diag(noise + known)
    return float(multivariate_normal(np.zeros(len(y)), K).logpdf(y) - 0.5 * (np.log(v) + 1.0 / (v * g)))


@each("fixed", [None, 1e-2])
@each("n", [6, 40])
def test_no_other_prior_and_noise_make_data_of_known_noise_more_likely(n: int, fixed: float | None) -> None:
    rng = np.random.default_rng(n)
    F, known = rng.standard_normal((n, 5)), rng.random(n) * (np.arange(n) % 3)
    y = F @ rng.standard_normal(5) + np.sqrt(known + 0.05) * rng.standard_normal(n)
    v, noise = by_evidence(F, y, noise=fixed, known=known)
    assert fixed is None or noise == fixed
    reached = log_density(F, y, v, noise, known)
    for more_v in (0.1, 0.5, 1.0, 2.0, 10.0):
        for more_noise in (0.1, 0.5, 1.0, 2.0, 10.0) if fixed is None else (1.0,):
            if 1e-8 <= noise * more_noise <= 3.0:
                assert log_density(F, y, more_v * v, more_noise * noise, known) < reached + 0.05
