from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from believer.arrays import Array
from believer.problems.synthetic import ackley, hartmann6
from believer.surrogates import GP, gp_fit
from believer.surrogates.gp import standardization
from believer.surrogates.gp_fit import PRESETS, Hyperparameters, LogNormal, Preset, log_likelihood
from believer.surrogates.kernels import KERNELS, squared_distances

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
every_mean = pytest.mark.parametrize("mean_std", [None, 0.3, 1.0, 10.0])
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


def covariance(kernel: str, X: Array, theta: Array, noise: float | None) -> Array:
    d = X.shape[1]
    scaled = X / np.exp(theta[:d])
    variance = float(np.exp(theta[d + 1])) if noise is None else noise
    K: Array = np.exp(theta[d]) * KERNELS[kernel](squared_distances(scaled, scaled))[0] + variance * np.eye(len(X))
    return K


@every_kernel
@every_mean
@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (10, 1), (10, 3), (25, 12), (150, 2)])
def test_the_gradient_is_central_differences(
    kernel: str, noise: float | None, mean_std: float | None, n: int, d: int
) -> None:
    X, y = data(n, d) if n > 1 else (np.full((1, d), 0.3), np.array([0.7]))
    theta = theta_for(d, noise)
    value, gradient, _ = log_likelihood(kernel, X, y, theta, noise, mean_std)
    step = 1e-4
    for j, slope in enumerate(gradient):
        e = np.zeros_like(theta)
        e[j] = step

        def at(k: float, e: Array = e) -> float:
            return log_likelihood(kernel, X, y, theta + k * e, noise, mean_std)[0]

        numeric = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step)
        assert slope == pytest.approx(numeric, rel=1e-6, abs=1e-7 * max(1.0, abs(value)))


@every_kernel
@pytest.mark.parametrize("noise", NOISE)
def test_the_value_is_the_density_of_the_data(kernel: str, noise: float | None) -> None:
    X, y = data()
    theta = theta_for(3, noise)
    K = covariance(kernel, X, theta, noise)
    value, _, mean = log_likelihood(kernel, X, y, theta, noise)
    assert mean == 0.0
    assert value == pytest.approx(multivariate_normal(np.zeros(len(y)), K).logpdf(y), rel=1e-9)
    value, _, mean = log_likelihood(kernel, X, y, theta, noise, mean_std=0.5)
    density = multivariate_normal(np.full(len(y), mean), K).logpdf(y) - 0.5 * (mean / 0.5) ** 2
    assert value == pytest.approx(density, rel=1e-9)


@every_kernel
@pytest.mark.parametrize("mean_std", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("noise", NOISE)
def test_the_mean_is_where_the_density_and_its_prior_are_stationary(
    kernel: str, noise: float | None, mean_std: float
) -> None:
    X, y = data()
    theta = theta_for(3, noise)
    inverse = np.linalg.inv(covariance(kernel, X, theta, noise))
    _, _, mean = log_likelihood(kernel, X, y, theta, noise, mean_std)
    slope = float((inverse @ (y - mean)).sum()) - mean / mean_std**2
    curvature = float(inverse.sum()) + mean_std**-2.0
    assert mean != 0.0
    # Newton's step from the mean that was returned.
    assert abs(slope / curvature) < 1e-9


def test_a_tight_prior_holds_the_mean_at_zero_and_a_wide_one_lets_it_go() -> None:
    X, y = data()
    means = [abs(log_likelihood("matern52", X, y + 3.0, theta_for(3, 0.1), 0.1, std)[2]) for std in (1e-6, 0.3, 1e6)]
    assert means[0] < 1e-6
    assert means[0] < means[1] < means[2]


@every_mean
@pytest.mark.parametrize("noise", [0.0, -0.5])
def test_an_indefinite_covariance_has_likelihood_minus_infinity(noise: float, mean_std: float | None) -> None:
    X = np.full((4, 2), 0.5)
    value, gradient, mean = log_likelihood("se", X, np.arange(4.0), theta_for(2, noise), noise, mean_std)
    assert value == -np.inf
    np.testing.assert_array_equal(gradient, np.zeros(3))
    assert mean == 0.0


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
def test_the_papers_preset_finds_the_likelihood_that_scikit_learn_finds(name: str, noise: float | str) -> None:
    X, y = SETS[name]
    shift, scale = standardization(y)
    target = (y - shift) / scale
    model = GP(noise=noise, fit="paper").fit(X, y, np.random.default_rng(0))
    fixed = 0.0 if isinstance(noise, str) else noise
    assert model.hyper.mean == 0.0
    assert model.log_marginal_likelihood() >= sklearn_best(X, target, PRESETS["paper"], noise == "infer", fixed) - 1e-2


@pytest.mark.parametrize("fit", list(PRESETS))
@pytest.mark.parametrize("noise", [1e-6, "infer"])
def test_hyperparameters_stay_within_the_bounds_of_their_preset(fit: str, noise: float | str) -> None:
    preset = PRESETS[fit]
    for X, y in [*SETS.values(), (np.zeros((1, 2)), np.zeros(1)), (np.zeros((5, 2)), np.zeros(5))]:
        hyper = GP(noise=noise, fit=fit).fit(X, y, np.random.default_rng(0)).hyper
        ends = np.array(preset.lengthscale_bounds) * [1.0 - 1e-12, 1.0 + 1e-12]
        assert ((hyper.lengthscales >= ends[0]) & (hyper.lengthscales <= ends[1])).all()
        assert preset.signal_bounds[0] * (1 - 1e-12) <= hyper.signal <= preset.signal_bounds[1] * (1 + 1e-12)
        if noise == "infer":
            assert preset.noise_bounds[0] * (1 - 1e-12) <= hyper.noise <= preset.noise_bounds[1] * (1 + 1e-12)


def test_the_prior_of_lengthscales_widens_with_the_root_of_the_dimension_where_it_is_scaled() -> None:
    # One observation says nothing about lengthscales: the fit returns the prior's center.
    base = PRESETS["default"]
    for scaled, expected in [(True, 0.4 * np.sqrt(9.0)), (False, 0.4)]:
        values = {name: getattr(base, name) for name in base.__dataclass_fields__}
        preset = Preset(**{**values, "lengthscale": LogNormal(float(np.log(0.4)), 0.5), "scaled": scaled})
        hyper = gp_fit.fit(np.full((1, 9), 0.5), np.zeros(1), "matern52", 1e-6, preset, np.random.default_rng(0), None)
        np.testing.assert_allclose(hyper.lengthscales, expected, rtol=1e-3)


def test_hyperparameters_survive_their_config_bit_for_bit() -> None:
    hyper = Hyperparameters("se", np.array([0.1, 1.0 / 3.0]), signal=np.pi, noise=1e-6, mean=-0.1, subset=7)
    again = Hyperparameters.from_config(hyper.to_config())
    np.testing.assert_array_equal(again.lengthscales, hyper.lengthscales)
    assert not again.lengthscales.flags.writeable
    assert again.to_config() == hyper.to_config()
