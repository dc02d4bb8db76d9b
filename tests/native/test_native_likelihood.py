"""The likelihood of hyperparameters, and fits: the compiled module against the Python twin."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from presets import PRESETS
from twins import SMALL, Problem, assert_near, compiled, every_kernel, native, problems, python

from believer.arrays import Array, frozen
from believer.numerics import lbfgs, newton
from believer.surrogates import gp_fit
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.gp_likelihood import log_likelihood

# The likelihood


@dataclass(frozen=True, eq=False)
class Sizes:
    """What the terms of each sum in a likelihood amount to: value, gradient (p,), mean, information (p, p)."""

    value: float
    gradient: Array
    mean: float
    information: Array


def sizes(case: Problem, y: Array, p: int) -> Sizes:
    precision = np.linalg.inv(case.covariance)
    alpha, ones = precision @ y, precision.sum(axis=1)
    n, fit = len(y), float(np.linalg.norm(y) * np.linalg.norm(alpha))
    nugget = case.noise + (np.zeros(n) if case.known is None else case.known)
    squares = np.square(alpha) + np.diagonal(precision)
    M = np.abs(np.multiply.outer(alpha, alpha)) + np.abs(precision)
    _, h = python(lambda: case.hyper.cross(case.points, case.points))
    # The Python twin squares u_a and u_b apart.
    parts = [h * np.add.outer(u, u) for u in np.square(case.points / case.hyper.lengthscales).T]
    by_signal, by_noise = n + fit + float(nugget @ squares), case.noise * float(squares.sum())
    gradient = np.array([*(float((M * part).sum()) for part in parts), by_signal, by_noise])
    columns = [part @ np.abs(alpha) for part in parts]
    columns += [np.abs(y) + nugget * np.abs(alpha), case.noise * np.abs(alpha)]
    lengths = np.array([float(np.linalg.norm(column)) for column in columns])
    information = np.multiply.outer(lengths, lengths) * float(np.linalg.norm(precision, 2))
    logs = float(np.abs(np.log(np.abs(np.linalg.eigvalsh(case.covariance)))).sum())
    mean = float(np.linalg.norm(ones) * np.linalg.norm(y)) / abs(float(ones.sum()))
    return Sizes(n + fit + logs, gradient[:p], mean, information[:p, :p])


def theta_of(case: Problem, inferred: bool) -> Array:
    return np.log([*case.hyper.lengthscales, case.signal, *[case.noise] * inferred])


def standardized(case: Problem) -> Array:
    y: Array = case.y / case.unit - 3.0
    return y


def assert_likelihoods_agree(case: Problem, inferred: bool, mean_std: float | None) -> None:
    y, theta = standardized(case), theta_of(case, inferred)
    noise = None if inferred else case.noise
    one, other = (
        run(lambda: log_likelihood(case.kernel, case.points, y, theta, noise, mean_std, case.known))
        for run in (python, compiled)
    )
    size, tolerance = sizes(case, y, len(theta)), case.tolerance
    assert_near(np.array(one.value), np.array(other.value), tolerance * size.value)
    assert_near(one.gradient, other.gradient, tolerance * size.gradient + 1e-300)
    assert_near(np.array(one.mean), np.array(other.mean), tolerance * size.mean + 1e-300)
    assert_near(one.information, other.information, tolerance * size.information + 1e-300)
    assert (one.mean == 0.0) == (other.mean == 0.0) == (mean_std is None)


@settings(max_examples=80)
@given(problems(least_noise=-7.0, unit=0.0), st.booleans(), st.sampled_from([None, 1.0, 0.1]))
def test_likelihoods_of_the_twins_agree(case: Problem, inferred: bool, mean_std: float | None) -> None:
    assert_likelihoods_agree(case, inferred, mean_std)


@every_kernel
@each("n", [1, 2, SMALL - 1, SMALL, SMALL + 1, 2 * SMALL, 2 * SMALL + 1, 100, 129, 200])
@each("known_std", [0.0, 0.5])
def test_likelihoods_of_the_twins_agree_at_every_way_of_cutting(n: int, kernel: str, known_std: float) -> None:
    assert_likelihoods_agree(Problem(n, kernel=kernel, noise=1e-1, unit=1.0, known_std=known_std), True, 0.5)


@each("inferred", [False, True])
@each("known_std", [0.0, 0.5])
@each("n", [1, SMALL, 100])
def test_likelihoods_of_the_twins_agree_where_columns_share_a_lengthscale(
    n: int, known_std: float, inferred: bool
) -> None:
    case = Problem(n, noise=1e-1, unit=1.0, known_std=known_std)
    y, noise = standardized(case), None if inferred else case.noise
    groups = np.arange(case.points.shape[1]) // 2
    theta = np.concatenate([np.linspace(-0.5, 0.5, groups[-1] + 1), np.log([case.signal, *[case.noise] * inferred])])
    one, other = (
        run(lambda: log_likelihood(case.kernel, case.points, y, theta, noise, 0.5, case.known, groups))
        for run in (python, compiled)
    )
    np.testing.assert_allclose(one.value, other.value, rtol=1e-9)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8)
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(one.information, other.information, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("inferred", [False, True])
def test_a_fit_minimizes_the_negative_log_posterior_of_one_observation(inferred: bool) -> None:
    case = Problem(25, noise=0.1, unit=1.0)
    y, theta = standardized(case), theta_of(case, inferred)
    noise = None if inferred else case.noise
    rng = np.random.default_rng(0)
    center, root = rng.standard_normal(len(theta)), rng.standard_normal((len(theta), len(theta)))
    prior = gp_fit._Prior(center, root @ root.T)
    given = np.nan if inferred else case.noise
    objective = native.HyperPosterior(0, case.points, y, given, 1.0, center, prior.precision)
    thetas = theta + 0.3 * rng.standard_normal((7, len(theta)))
    values, gradients = objective.value_with_gradient(thetas)
    for row, at in enumerate(thetas):
        twin = python(partial(log_likelihood, "matern52", case.points, y, at, noise, 1.0))
        nats, slope = prior.nats(at)
        assert values[row] == pytest.approx((nats - twin.value) / 25, rel=1e-10)
        np.testing.assert_allclose(gradients[row], (slope - twin.gradient) / 25, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n", [2, SMALL, SMALL + 1, 100])
def test_a_covariance_that_is_not_positive_definite_has_no_likelihood(n: int) -> None:
    case = Problem(n, unit=1.0)
    y, theta = standardized(case), theta_of(case, False)
    for run in (python, compiled):
        found = run(lambda: log_likelihood("matern52", case.points, y, theta, -2.0, 1.0))
        assert (found.value, found.mean) == (-np.inf, 0.0)
        np.testing.assert_array_equal(found.gradient, np.zeros(4))
        np.testing.assert_array_equal(found.information, np.zeros((4, 4)))


# Fits


def data_of(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """Points of the cube and standardized values of a smooth function there, with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(4.0 * X[:, 0]) * np.cos(3.0 * X[:, -1]) + np.square(X - 0.4).sum(axis=1) + 0.02 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def log_posterior(
    X: Array, y: Array, hyper: Hyperparameters, noise: float | str, preset: str, known: Array | None = None
) -> float:
    """What a fit maximizes, computed by the Python twin."""
    inferred, rules = noise == "infer", PRESETS[preset]
    theta = np.log([*hyper.lengthscales, hyper.signal, *[hyper.noise] * inferred])
    prior = gp_fit._prior(rules, X.shape[1], inferred)
    fixed = None if inferred else hyper.noise
    value = python(lambda: log_likelihood(hyper.kernel, X, y, theta, fixed, rules.mean_std, known)).value
    return value - prior.nats(theta)[0]


@every_kernel
@each(("n", "d"), [(1, 1), (12, 4), (20, 2), (50, 6)])
@each("noise", [1e-6, "infer"])
def test_fits_of_the_twins_reach_the_same_posterior(n: int, d: int, noise: float | str, kernel: str) -> None:
    X, y = data_of(n + 1, d, seed=n)
    X, y = X[:n], y[:n]

    def fitted(previous: Hyperparameters | None = None) -> Hyperparameters:
        return gp_fit.fit(X, y, kernel, noise, PRESETS["default"], np.random.default_rng(0), previous)

    one, other = python(fitted), compiled(fitted)
    reached = log_posterior(X, y, one, noise, "default")
    assert reached == pytest.approx(log_posterior(X, y, other, noise, "default"), abs=1e-3)
    assert one.mean == pytest.approx(other.mean, abs=0.02)
    warm = compiled(lambda: fitted(one))
    assert reached == pytest.approx(log_posterior(X, y, warm, noise, "default"), abs=1e-3)


@pytest.mark.parametrize("preset", list(PRESETS))
@pytest.mark.parametrize("noise", [1e-6, "infer"])
def test_fits_of_the_twins_reach_the_same_posterior_with_known_noise(noise: float | str, preset: str) -> None:
    X, y = data_of(40, 3, seed=8)
    known = np.random.default_rng(9).random(40)
    one, other = (
        run(partial(gp_fit.fit, X, y, "matern52", noise, PRESETS[preset], np.random.default_rng(0), None, known=known))
        for run in (python, compiled)
    )
    reached = [log_posterior(X, y, hyper, noise, preset, known) for hyper in (one, other)]
    assert reached[0] == pytest.approx(reached[1], abs=1e-3)
    without = compiled(lambda: gp_fit.fit(X, y, "matern52", noise, PRESETS[preset], np.random.default_rng(0), None))
    assert reached[1] > log_posterior(X, y, without, noise, preset, known)


@pytest.mark.parametrize("lengthscale", [0.012, 80.0])
@pytest.mark.parametrize("noise", [1e-6, "infer"])
def test_fits_of_the_twins_take_the_same_steps_from_far_away(lengthscale: float, noise: float | str) -> None:
    X, y = data_of(30, 3, seed=7)
    far = Hyperparameters("matern52", frozen(np.full(3, lengthscale)), 500.0, 0.5)
    # Few values, so that what the first and longest steps did is still to be seen.
    for values in (2, 3, 5, 60):
        rules = replace(PRESETS["default"], search=newton.Settings(max_values=values))
        one, other = (
            run(partial(gp_fit.fit, X, y, "matern52", noise, rules, np.random.default_rng(0), far))
            for run in (python, compiled)
        )
        np.testing.assert_allclose(one.lengthscales, other.lengthscales, rtol=1e-4)
        assert (one.signal, one.noise) == pytest.approx((other.signal, other.noise), rel=1e-4)
        assert one.mean == pytest.approx(other.mean, abs=1e-5)


@pytest.mark.parametrize("noise", [1e-6, "infer"])
def test_fits_with_restarts_reach_the_same_likelihood(noise: float | str) -> None:
    X, y = data_of(20, 2, seed=5)
    one, other = (
        run(lambda: gp_fit.fit(X, y, "matern52", noise, PRESETS["likelihood"], np.random.default_rng(0), None))
        for run in (python, compiled)
    )
    assert log_posterior(X, y, one, noise, "likelihood") == pytest.approx(
        log_posterior(X, y, other, noise, "likelihood"), abs=1e-5
    )
    assert one.mean == other.mean == 0.0


def test_the_mean_of_a_fit_is_the_best_one_for_its_hyperparameters() -> None:
    X, y = data_of(20, 2, seed=6)
    y = y + 0.7
    hyper = compiled(lambda: gp_fit.fit(X, y, "se", 1e-3, PRESETS["default"], np.random.default_rng(0), None))
    theta = np.log([*hyper.lengthscales, hyper.signal])
    best = python(lambda: log_likelihood("se", X, y, theta, hyper.noise, PRESETS["default"].mean_std)).mean
    assert hyper.mean == pytest.approx(best, rel=1e-6)
    assert abs(best) > 0.1


class Alarm(Exception):
    pass


@pytest.mark.parametrize("search", ["newton", "lbfgs"])
def test_signals_are_answered_during_a_long_fit(search: str) -> None:
    rings: list[int] = []

    def ring(number: int, _: object) -> None:
        rings.append(number)
        if len(rings) == 3:  # those that come in while nobody looks are one
            raise Alarm

    rng, d, starts = np.random.default_rng(0), 3, 40
    prior = np.zeros(d + 1), np.eye(d + 1)
    target = native.HyperPosterior(0, rng.random((600, d)), rng.standard_normal(600), 1e-2, 1.0, *prior)
    where = rng.uniform(-2.0, 1.0, (starts, d + 1)), np.full(d + 1, -4.0), np.full(d + 1, 4.0)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
        with pytest.raises(Alarm):
            getattr(target, search)(*where, newton.Settings() if search == "newton" else lbfgs.Settings())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
