from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from each import each
from presets import PRESETS
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

from believer.arrays import Array
from believer.errors import InvalidInput
from believer.problems.synthetic import ackley, hartmann6
from believer.surrogates import gp_fit
from believer.surrogates.data import Data
from believer.surrogates.gp import fit_gp, standardization
from believer.surrogates.gp_fit import Hyperparameters, LogNormal, Preset
from believer.surrogates.gp_likelihood import log_likelihood
from believer.surrogates.kernels import KERNELS, squared_distances

pytestmark = pytest.mark.both_backends

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
MEANS = [None, 0.3, 1.0, 10.0]
NOISE = [1e-4, 0.2, None]
"""Fixed, and inferred (None)."""


def data(n: int = 10, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(4.0 * X[:, 0]) + X.sum(axis=1) + 0.1 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std() + 0.4


def theta_for(d: int, noise: float | None) -> Array:
    theta = np.log(np.append(np.linspace(0.3, 1.5, d), 1.7))
    return np.append(theta, np.log(0.05)) if noise is None else theta


def known_for(n: int) -> Array:
    """Known noise variances (n,), some of them zero."""
    return np.linspace(0.1, 1.0, n) * (np.arange(n) % 3)


def covariance(kernel: str, X: Array, theta: Array, noise: float | None, known: Array | None = None) -> Array:
    d = X.shape[1]
    scaled = X / np.exp(theta[:d])
    variance = float(np.exp(theta[d + 1])) if noise is None else noise
    K: Array = np.exp(theta[d]) * KERNELS[kernel](squared_distances(scaled, scaled))[0] + variance * np.eye(len(X))
    return K if known is None else K + np.diag(known)


def covariance_slopes(kernel: str, X: Array, theta: Array, noise: float | None) -> list[Array]:
    """The derivatives of the covariance to theta, by central differences."""
    steps = 1e-5 * np.eye(len(theta))
    return [(covariance(kernel, X, theta + e, noise) - covariance(kernel, X, theta - e, noise)) / 2e-5 for e in steps]


@dataclass(frozen=True)
class Case:
    """Data, their noise and the prior of their mean, which a law is tried with; it prints as what it is made of."""

    n: int
    d: int
    is_known: bool
    noise: float | None
    mean_std: float | None

    @property
    def data(self) -> tuple[Array, Array]:
        return data(self.n, self.d) if self.n > 1 else (np.full((1, self.d), 0.3), np.array([0.7]))

    @property
    def known(self) -> Array | None:
        return known_for(self.n) if self.is_known else None


def cases(shapes: list[tuple[int, int, bool]]) -> Iterator[Case]:
    """Every shape (n, d, is_known) with every noise and every prior of the mean."""
    return (Case(*shape, noise, mean_std) for shape, noise, mean_std in product(shapes, NOISE, MEANS))


@every_kernel
def test_the_gradient_is_central_differences(kernel: str) -> None:
    shapes = [(1, 2), (10, 1), (10, 3), (25, 12), (150, 2)]
    for case in cases([*((n, d, False) for n, d in shapes), (1, 2, True), (25, 3, True)]):
        (X, y), theta, known = case.data, theta_for(case.d, case.noise), case.known
        found = log_likelihood(kernel, X, y, theta, case.noise, case.mean_std, known)
        # A value is off by some ε |u|² |α|², at n = 150 by more than 1e-7, and the quotient by that over the step; the
        # formula itself by step⁴ f⁽⁵⁾/30. This step keeps both a decade below what is allowed.
        step = 1e-3
        steps = step * np.eye(len(theta))
        values = {
            k: np.array(
                [log_likelihood(kernel, X, y, theta + k * e, case.noise, case.mean_std, known).value for e in steps]
            )
            for k in (-2.0, -1.0, 1.0, 2.0)
        }
        numeric = (8.0 * (values[1.0] - values[-1.0]) - (values[2.0] - values[-2.0])) / (12.0 * step)
        allowed = 1e-7 * max(1.0, abs(found.value))
        np.testing.assert_allclose(found.gradient, numeric, rtol=1e-6, atol=allowed, err_msg=str(case))


GROUPS = np.array([0, 1, 1, 2, 1])
"""Of five columns three share a lengthscale."""


@every_kernel
def test_columns_that_share_a_lengthscale_have_the_sums_of_their_derivatives(kernel: str) -> None:
    for case in cases([(20, 5, False), (20, 5, True)]):
        (X, y), theta, noise, mean_std, known = (
            case.data,
            theta_for(3, case.noise),
            case.noise,
            case.mean_std,
            case.known,
        )
        found = log_likelihood(kernel, X, y, theta, noise, mean_std, known, GROUPS)
        places = np.append(GROUPS, range(3, len(theta)))
        apart = log_likelihood(kernel, X, y, theta[places], noise, mean_std, known)
        ties = np.eye(len(theta))[places]
        assert found.value == pytest.approx(apart.value, rel=1e-12), case
        np.testing.assert_allclose(found.gradient, ties.T @ apart.gradient, rtol=1e-9, atol=1e-9, err_msg=str(case))
        summed = ties.T @ apart.information @ ties
        np.testing.assert_allclose(found.information, summed, rtol=1e-9, atol=1e-9, err_msg=str(case))
        for j, slope in enumerate(found.gradient):
            e = 1e-4 * np.eye(len(theta))[j]
            ahead, back = (
                log_likelihood(kernel, X, y, theta + side * e, noise, mean_std, known, GROUPS).value for side in (1, -1)
            )
            assert slope == pytest.approx((ahead - back) / 2e-4, rel=1e-5, abs=1e-5), case


@pytest.mark.parametrize("noise", [1e-6, "infer"])
@pytest.mark.parametrize("preset", PRESETS)
def test_groups_of_one_column_change_nothing(noise: float | str, preset: str) -> None:
    X, y = data(20, 4)
    for groups in (None, (0, 1, 2, 3), (2, 0, 3, 1)):
        hyper = gp_fit.fit(X, y, "matern52", noise, PRESETS[preset], np.random.default_rng(0), None, groups=groups)
        assert (
            hyper.to_config()
            == gp_fit.fit(X, y, "matern52", noise, PRESETS[preset], np.random.default_rng(0), None).to_config()
        )


@each("noise", [1e-6, "infer"])
@each("preset", PRESETS)
def test_a_fit_gives_the_columns_of_a_group_one_lengthscale(noise: float | str, preset: str) -> None:
    X, y = data(30, 5)
    groups = tuple(GROUPS.tolist())

    def fitted(previous: gp_fit.Hyperparameters | None) -> gp_fit.Hyperparameters:
        rng = np.random.default_rng(0)
        return gp_fit.fit(X, y, "matern52", noise, PRESETS[preset], rng, previous, seen=30, groups=groups)

    cold = fitted(None)
    warm = fitted(cold)
    for hyper in (cold, warm):
        assert len(hyper.lengthscales) == 5
        assert len(set(hyper.lengthscales.tolist())) == 3
        assert len(set(hyper.lengthscales[GROUPS == 1].tolist())) == 1
    np.testing.assert_allclose(warm.lengthscales, cold.lengthscales, rtol=0.05)


@each("groups", [(0, 1), (0, 1, 3), (0, 1, 2, 2), (-1, 0, 1)])
def test_groups_number_every_column_from_zero_on(groups: tuple[int, ...]) -> None:
    X, y = data(10, 3)
    with pytest.raises(InvalidInput, match="groups must be 3 whole numbers"):
        gp_fit.fit(X, y, "matern52", 1e-6, gp_fit.DEFAULT, np.random.default_rng(0), None, groups=groups)


@every_kernel
def test_the_value_is_the_density_of_the_data(kernel: str) -> None:
    for case in cases([(10, 3, False), (10, 3, True)]):
        (X, y), theta = case.data, theta_for(3, case.noise)
        K = covariance(kernel, X, theta, case.noise, case.known)
        found = log_likelihood(kernel, X, y, theta, case.noise, case.mean_std, case.known)
        density = multivariate_normal(np.full(len(y), found.mean), K).logpdf(y)
        if case.mean_std is None:
            assert found.mean == 0.0, case
        else:
            density -= 0.5 * (found.mean / case.mean_std) ** 2
        assert found.value == pytest.approx(density, rel=1e-9), case


@every_kernel
def test_the_information_is_the_average_of_the_observed_and_the_expected(kernel: str) -> None:
    # Written out: ½ (K_i α)ᵀ (K_y⁻¹ - K_y⁻¹1 1ᵀK_y⁻¹ / (1ᵀK_y⁻¹1 + 1/τ²)) K_j α, K_i by central differences.
    for case in cases([(n, d, known) for n, d in [(1, 2), (10, 3), (150, 2)] for known in (False, True)]):
        (X, y), theta, noise = case.data, theta_for(case.d, case.noise), case.noise
        found = log_likelihood(kernel, X, y, theta, noise, case.mean_std, case.known)
        inverse = np.linalg.inv(covariance(kernel, X, theta, noise, case.known))
        alpha = inverse @ (y - found.mean)
        V = np.column_stack([slope @ alpha for slope in covariance_slopes(kernel, X, theta, noise)])
        if case.mean_std is not None:
            ones = inverse.sum(axis=0)
            inverse = inverse - np.outer(ones, ones) / (ones.sum() + case.mean_std**-2.0)
        expected = 0.5 * V.T @ inverse @ V
        allowed = 1e-6 * np.abs(expected).max()
        np.testing.assert_allclose(found.information, expected, rtol=1e-5, atol=allowed, err_msg=str(case))


@pytest.mark.parametrize("noise", NOISE)
def test_the_information_is_on_average_that_of_data_from_the_model(noise: float | None) -> None:
    # Of draws with known hyperparameters it averages ½ tr(K_y⁻¹K_i K_y⁻¹K_j), [Rasmussen2006] Eq. 5.9 once more.
    X, _ = data(30)
    theta = theta_for(3, noise)
    K = covariance("matern52", X, theta, noise)
    products = [np.linalg.solve(K, slope) for slope in covariance_slopes("matern52", X, theta, noise)]
    expected = np.array([[0.5 * float((a * b.T).sum()) for b in products] for a in products])
    rng = np.random.default_rng(0)
    draws = np.linalg.cholesky(K) @ rng.standard_normal((30, 2000))
    found = np.mean([log_likelihood("matern52", X, y, theta, noise).information for y in draws.T], axis=0)
    # An entry varies by at most its own size from draw to draw, in units of the diagonal: five standard errors.
    scale = np.sqrt(np.multiply.outer(np.diagonal(expected), np.diagonal(expected)))
    assert (np.abs(found - expected) / scale).max() < 5.0 / np.sqrt(2000)


@every_kernel
def test_the_mean_is_where_the_density_and_its_prior_are_stationary(kernel: str) -> None:
    for case in cases([(10, 3, False)]):
        if case.mean_std is None:
            continue
        (X, y), theta = case.data, theta_for(3, case.noise)
        inverse = np.linalg.inv(covariance(kernel, X, theta, case.noise))
        mean = log_likelihood(kernel, X, y, theta, case.noise, case.mean_std).mean
        slope = float((inverse @ (y - mean)).sum()) - mean / case.mean_std**2
        curvature = float(inverse.sum()) + case.mean_std**-2.0
        assert mean != 0.0, case
        # Newton's step from the mean that was returned.
        assert abs(slope / curvature) < 1e-9, case


def test_a_tight_prior_holds_the_mean_at_zero_and_a_wide_one_lets_it_go() -> None:
    X, y = data()
    means = [abs(log_likelihood("matern52", X, y + 3.0, theta_for(3, 0.1), 0.1, std).mean) for std in (1e-6, 0.3, 1e6)]
    assert means[0] < 1e-6
    assert means[0] < means[1] < means[2]


def test_an_indefinite_covariance_has_likelihood_minus_infinity() -> None:
    X = np.full((4, 2), 0.5)
    for noise, mean_std in product([0.0, -0.5], MEANS):
        found = log_likelihood("se", X, np.arange(4.0), theta_for(2, noise), noise, mean_std)
        assert found.value == -np.inf, (noise, mean_std)
        assert not found.gradient.any()
        assert not found.information.any()
        assert (found.gradient.shape, found.information.shape, found.mean) == ((3,), (3, 3), 0.0)


def test_the_data_are_left_alone() -> None:
    X, y = data()
    theta = theta_for(3, None)
    before = X.copy(), y.copy(), theta.copy()
    log_likelihood("matern52", X, y, theta, None, 1.0)
    for array, old in zip((X, y, theta), before, strict=True):
        np.testing.assert_array_equal(array, old)


def sklearn_best(X: Array, y: Array, preset: Preset, infer: bool, noise: float) -> float:
    """The best log likelihood that scikit-learn finds within the preset's bounds, from the center and 5 restarts."""
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    kernels = gaussian_process.kernels
    d = X.shape[1]
    kernel = kernels.ConstantKernel(1.0, preset.signal_bounds) * kernels.Matern(
        np.ones(d), preset.lengthscale_bounds, nu=2.5
    )
    if infer:
        kernel += kernels.WhiteKernel(1e-3, preset.noise_bounds)
    judge = gaussian_process.GaussianProcessRegressor(
        kernel, alpha=1e-12 if infer else noise, n_restarts_optimizer=5, random_state=0
    )
    with warnings.catch_warnings():
        # It warns when an optimum lies at a bound, or when its own search stops early; neither matters to a judge.
        warnings.simplefilter("ignore")
        judge.fit(X, y)
    return float(judge.log_marginal_likelihood_value_)


def _sets() -> dict[str, tuple[Array, Array]]:
    rng = np.random.default_rng(3)
    hartmann, noisy, ridge = rng.random((25, 6)), rng.random((30, 2)), rng.random((20, 4))
    return {
        "hartmann": (hartmann, hartmann6(hartmann)),
        "noisy": (noisy, ackley(4.0 * noisy) + 0.3 * rng.standard_normal(30)),
        "ridge": (ridge, np.sin(6.0 * ridge[:, 0]) + ridge[:, 1] ** 2),
    }


SETS = _sets()


@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("noise", [1e-6, 1e-2, "infer"])
def test_without_priors_a_fit_finds_the_likelihood_that_scikit_learn_finds(name: str, noise: float | str) -> None:
    X, y = SETS[name]
    shift, scale = standardization(y)
    target = (y - shift) / scale
    preset = PRESETS["likelihood"]
    model = fit_gp(Data(X, y), "matern52", noise, np.random.default_rng(0), preset=preset)
    fixed = 0.0 if isinstance(noise, str) else noise
    assert model.hyper.mean == 0.0
    assert model.log_marginal_likelihood() >= sklearn_best(X, target, preset, noise == "infer", fixed) - 1e-2


@each("fit", list(PRESETS))
@each("noise", [1e-6, "infer"])
def test_hyperparameters_stay_within_the_bounds_of_their_preset(fit: str, noise: float | str) -> None:
    preset = PRESETS[fit]
    for X, y in [*SETS.values(), (np.zeros((1, 2)), np.zeros(1)), (np.zeros((5, 2)), np.zeros(5))]:
        hyper = fit_gp(Data(X, y), "matern52", noise, np.random.default_rng(0), preset=preset).hyper
        ends = np.array(preset.lengthscale_bounds) * [1.0 - 1e-12, 1.0 + 1e-12]
        assert ((hyper.lengthscales >= ends[0]) & (hyper.lengthscales <= ends[1])).all()
        assert preset.signal_bounds[0] * (1 - 1e-12) <= hyper.signal <= preset.signal_bounds[1] * (1 + 1e-12)
        if noise == "infer":
            assert preset.noise_bounds[0] * (1 - 1e-12) <= hyper.noise <= preset.noise_bounds[1] * (1 + 1e-12)


def test_the_prior_of_lengthscales_widens_with_the_root_of_the_dimension_where_it_is_scaled() -> None:
    # One observation says nothing about lengthscales: the fit returns the prior's center.
    for scaled, expected in [(True, 0.4 * np.sqrt(9.0)), (False, 0.4)]:
        preset = Preset(lengthscale=LogNormal(float(np.log(0.4)), 0.5), scaled=scaled)
        hyper = gp_fit.fit(np.full((1, 9), 0.5), np.zeros(1), "matern52", 1e-6, preset, np.random.default_rng(0), None)
        np.testing.assert_allclose(hyper.lengthscales, expected, rtol=1e-3)


def test_a_shared_mean_of_lengthscales_has_its_best_value() -> None:
    s, std, shared, center = 4, 0.5, 1.3, float(np.log(0.25) + 0.5 * np.log(4.0))
    prior = gp_fit._prior(Preset(lengthscale=LogNormal(float(np.log(0.25)), std, shared)), s, infer=True)
    rng, steps = np.random.default_rng(0), 1e-5 * np.eye(s + 2)
    for theta in rng.standard_normal((5, s + 2)):

        def cost(mean: float, theta: Array = theta) -> float:
            rest = theta[s:] - prior.center[s:]
            away = float(rest @ prior.precision[s:, s:] @ rest) + ((mean - center) / shared) ** 2
            return 0.5 * (away + float((((theta[:s] - mean) / std) ** 2).sum()))

        found, slope = prior.nats(theta)
        assert found == pytest.approx(minimize_scalar(cost).fun, rel=1e-9)
        differences = [(prior.nats(theta + e)[0] - prior.nats(theta - e)[0]) / 2e-5 for e in steps]
        np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-8)


def test_a_category_has_no_part_in_the_mean_that_numbers_share() -> None:
    prior = gp_fit._prior(gp_fit.DEFAULT, 3, infer=False, tied=np.array([0, 1, 1, 1, 2]))
    assert (prior.precision[1, [0, 2, 3]] == 0.0).all()
    assert prior.precision[0, 2] < 0.0
    category = gp_fit.DEFAULT.category
    assert prior.center[1] == pytest.approx(category.mean + 0.5 * np.log(5.0))
    assert prior.precision[1, 1] == pytest.approx(category.std**-2.0)


@each("n", [1, 8, 9, 30])
@each("noise", ["infer", 1e-6, "auto"])
def test_a_mean_is_shared_by_enough_results_that_differ_and_are_exact(noise: float | str, n: int) -> None:
    X, rng = np.random.default_rng(0).random((n, 3)), np.random.default_rng(0)
    separate = gp_fit.PRIORS[gp_fit.SEPARATE]
    for y, same in ((np.full(n, 0.1), True), (X[:, 0], noise == "infer" or n < 9)):
        one, other = (fit_gp(Data(X, y), "matern52", noise, rng, preset=p).hyper for p in (gp_fit.DEFAULT, separate))
        assert (one.to_config() == other.to_config()) is same


def test_hyperparameters_survive_their_config_bit_for_bit() -> None:
    hyper = Hyperparameters("se", np.array([0.1, 1.0 / 3.0]), signal=np.pi, noise=1e-6, mean=-0.1, subset=7)
    again = Hyperparameters.from_config(hyper.to_config(), len(hyper.lengthscales))
    np.testing.assert_array_equal(again.lengthscales, hyper.lengthscales)
    assert not again.lengthscales.flags.writeable
    assert again.to_config() == hyper.to_config()
