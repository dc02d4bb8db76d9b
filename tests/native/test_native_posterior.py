"""Predictions, acquisitions and their gradients: the compiled module against the Python twin."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import BLOCK, EPS, SMALL, Problem, assert_near, compiled, every_kernel, native, problems, python

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint, PointwiseObjective
from believer.arrays import Array
from believer.surrogates.gp import GPModel
from believer.surrogates.protocols import MIN_VARIANCE, Prediction, PredictionGradient

# Predictions


def assert_predictions_agree(case: Problem, of_python: GPModel, of_native: GPModel) -> None:
    """Means, variances and their gradients within the tolerance, in units of what the terms of each sum amount to."""
    at = case.at
    tolerance, scale, scales = case.tolerance, case.unit, case.hyper.lengthscales
    k, h = python(lambda: case.hyper.cross(at, case.points))
    weights = of_python.factor.unwhiten(of_python.factor.whiten(k))
    size_k, size_h, size_w = (np.abs(part).sum(axis=1) for part in (k, h, weights))
    size_alpha = float(np.abs(of_python.alpha).sum())
    one, other = (
        python(lambda: of_python.predict_with_gradient(at)),
        compiled(lambda: of_native.predict_with_gradient(at)),
    )
    plain, quick = python(lambda: of_python.predict(at)), compiled(lambda: of_native.predict(at))
    means = tolerance * size_k * size_alpha + 4.0 * EPS * abs(case.shift) / scale
    variances = tolerance * (case.hyper.signal + size_k * size_w)
    for ours in (other, quick):
        assert_near(plain.mean / scale, ours.mean / scale, means)
        assert_near((plain.std / scale) ** 2, (ours.std / scale) ** 2, variances)
    # Gradients are sums of h (x - x_j) / ℓ², and the Python twin forms x and x_j apart.
    reach = float(np.abs(np.vstack([at, case.points])).max()) / scales**2
    by_mean = tolerance * size_alpha * size_h[:, None] * reach
    assert_near(one.mean_gradient / scale, other.mean_gradient / scale, by_mean + 1e-300)
    halves = [p.std_gradient / scale * (p.std / scale)[:, None] for p in (one, other)]
    assert_near(halves[0], halves[1], tolerance * (size_w * size_h)[:, None] * reach + 1e-300)


@settings(max_examples=80)
@given(problems())
def test_predictions_of_one_factor_agree(case: Problem) -> None:
    model = python(case.model)
    assert_predictions_agree(case, model, model)


@settings(max_examples=60)
@given(problems(least_noise=-6.0))
def test_predictions_agree_with_a_factor_of_each_twins_own(case: Problem) -> None:
    assert_predictions_agree(case, python(case.model), compiled(case.model))


@each("m", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 300])
@each(("n", "tail"), [(1, 0), (1, 3), (SMALL + 1, 0), (60, 5)])
def test_predictions_agree_at_any_number_of_points(m: int, n: int, tail: int) -> None:
    case = Problem(n, tail=tail, m=m)
    model = python(case.model)
    assert_predictions_agree(case, model, model)
    assert compiled(lambda: model.predict(case.at)).mean.shape == (m,)
    assert compiled(lambda: model.predict_with_gradient(case.at)).std_gradient.shape == (m, 3)


@every_kernel
@each(
    ("n", "tail"),
    [*product([1, 3, 4, 5, SMALL], range(6)), (SMALL + 1, 1), (2 * SMALL, 0), (2 * SMALL + 1, 4), (100, 2), (257, 5)],
)
def test_predictions_agree_at_every_way_of_cutting(n: int, tail: int, kernel: str) -> None:
    case = Problem(n, d=2, tail=tail, m=3, kernel=kernel)
    assert_predictions_agree(case, python(case.model), compiled(case.model))


@pytest.mark.parametrize("m", [1, 2, 3, BLOCK + 1])
def test_a_point_is_predicted_alike_alone_and_among_others(m: int) -> None:
    case = Problem(40, tail=3, m=m)
    model = python(case.model)
    together, gradients = compiled(lambda: (model.predict(case.at), model.predict_with_gradient(case.at)))
    for row in range(m):
        alone = compiled(partial(model.predict_with_gradient, case.at[row : row + 1]))
        assert alone.mean[0] == pytest.approx(together.mean[row], rel=1e-12)
        assert alone.std[0] == pytest.approx(together.std[row], rel=1e-10)
        np.testing.assert_allclose(alone.mean_gradient[0], gradients.mean_gradient[row], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(alone.std_gradient[0], gradients.std_gradient[row], rtol=1e-9, atol=1e-11)


def test_the_floor_of_the_std_is_that_of_the_twin() -> None:
    # Without noise the variance at a data point is rounding, of either sign; below the floor it is the floor.
    case = Problem(12, noise=0.0)
    model = python(case.model)
    std = compiled(lambda: model.predict(case.points)).std
    floor = case.unit * np.sqrt(MIN_VARIANCE * case.hyper.signal)
    assert (std >= floor * (1.0 - 1e-12)).all()
    assert (std < 1e-5 * case.unit).all()
    zero = native.Posterior(
        0, case.points, case.hyper.lengthscales, 2.0, 9.0 * np.eye(12), np.zeros((0, 12)), model.alpha, 0.0, 3.0, 1e-18
    )
    assert zero.predict(case.points)[1] == pytest.approx(3.0 * np.sqrt(2e-18), rel=1e-12)
    assert zero.predict_with_gradient(case.points)[1] == pytest.approx(3.0 * np.sqrt(2e-18), rel=1e-12)


# Acquisitions

ACQUISITIONS: list[PerPoint] = [LogEI(), LogEI(xi=0.2), EI(), EI(xi=-0.1), PI(), PI(xi=0.05), UCB(), UCB(beta=0.0)]
every_acquisition = pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)


@settings(max_examples=80)
@given(st.sampled_from(ACQUISITIONS), problems(least_noise=-3.0, longest=0.5, unit=2.0), st.floats(-3.0, 3.0))
def test_acquisitions_of_the_twins_agree(acquisition: PerPoint, case: Problem, step: float) -> None:
    model = python(case.model)
    bound = PointwiseObjective(acquisition, model, case.shift + step * case.unit)
    values = python(lambda: bound.value(case.at)), compiled(lambda: bound.value(case.at))
    (one, slopes), (other, slopes_too) = (run(lambda: bound.value_with_gradient(case.at)) for run in (python, compiled))
    # First order: what the predictions may differ by, times how steep the acquisition is in them.
    at = python(lambda: model.predict(case.at))
    z = np.abs(bound.incumbent - at.mean) / at.std
    allowed = 1e3 * case.tolerance * (1.0 + np.abs(one) + z * z) * max(case.unit, 1.0) * (case.unit / at.std) ** 2
    assert_near(values[0], values[1], allowed)
    assert_near(one, other, allowed)
    assert_near(slopes, slopes_too, allowed[:, None] * (1.0 + z[:, None]) / case.hyper.lengthscales.min() ** 2)


def pointwise(acquisition: PerPoint, mean: Array, std: Array, incumbent: float) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        return acquisition.pointwise(mean, std, incumbent)


def both_predictions(model: GPModel, x: Array) -> tuple[PredictionGradient, Prediction]:
    return model.predict_with_gradient(x), model.predict(x)


@every_acquisition
@each("z", [8.0, 3.0, 0.5, -0.5, -0.999, -1.001, -1.999, -2.001, -5.0, -29.9, -30.1, -1e2, -1e4, -1e6])
def test_an_acquisition_is_what_the_twin_makes_of_the_same_mean_and_std(acquisition: PerPoint, z: float) -> None:
    # The twin gets the compiled mean and std of the same call, to the bit: predicted among other rows they round
    # otherwise, by ε signal/σ² of σ, and what that does to EI and PI grows with z².
    case = Problem(9, d=2, tail=2, m=6, noise=1e-6)
    model = python(case.model)
    for x in np.vstack([case.at, case.points[:2]])[:, None, :]:
        predicted, quick = compiled(partial(both_predictions, model, x))
        incumbent = float(predicted.mean[0] + z * predicted.std[0]) + getattr(acquisition, "xi", 0.0)
        bound = PointwiseObjective(acquisition, model, incumbent)
        value, gradient = compiled(partial(bound.value_with_gradient, x))
        twin = pointwise(acquisition, predicted.mean, predicted.std, incumbent)
        np.testing.assert_allclose(value, twin.value, rtol=1e-9, atol=1e-300)
        slopes = twin.by_mean * predicted.mean_gradient, twin.by_std * predicted.std_gradient
        assert_near(gradient, slopes[0] + slopes[1], 1e-9 * (np.abs(slopes[0]) + np.abs(slopes[1])) + 1e-300)
        plain = pointwise(acquisition, quick.mean, quick.std, incumbent).value
        np.testing.assert_allclose(compiled(partial(bound.value, x)), plain, rtol=1e-9, atol=1e-300)


PI_DIGITS = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862089986280348253421170680"
)


def exact_log_h(z: float) -> tuple[float, float, float]:
    """log h(z), Φ/h and φ/h, correct to the last digit, from decimal numbers with ninety digits.

    Above -9 with Φ = 1/2 + φ Σ_k z^(2k+1) / (2k+1)!!, of which up to 36 digits cancel; below with the asymptotic series
    h/φ = Σ_k (-1)^k (2k+1)!! / z^(2k+2), whose least term is less than 1e-17 of the first.
    """
    with localcontext(Context(prec=90)):
        x = Decimal(z)
        log_density = -x * x / 2 - (2 * PI_DIGITS).ln() / 2
        mass, over_density = Decimal(0), Decimal(0)
        if z > -9.0:
            term = x
            for k in range(1, 400):
                mass += term
                term *= x * x / (2 * k + 1)
            mass += 1 / (2 * log_density.exp())
            over_density = 1 + x * mass
        else:
            term = 1 / (x * x)
            for k in range(1, 41):
                over_density += term
                term *= -(2 * k + 1) / (x * x)
            mass = (over_density - 1) / x
        return float(log_density + over_density.ln()), float(mass / over_density), float(1 / over_density)


@each(
    "z",
    [
        *(
            8.0,
            5.0,
            2.0,
            0.5,
            0.0,
            -0.7,
            -1.0,
            -1.5,
            -1.9999,
            -2.0,
            -2.0001,
            -2.5,
            -4.0,
            -6.0,
            -8.9,
            -9.1,
            -12.0,
            -15.0,
        ),
        *(-22.0, -30.0, -31.0, -50.0, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8),
    ],
)
def test_the_logarithm_of_the_expected_improvement_is_exact_far_into_the_tail(z: float) -> None:
    log_h, mass, density = exact_log_h(z)
    one, nothing, at = np.ones(1), np.zeros((0, 1)), np.array([[0.25]])
    # A factor of zero leaves the prior's std, one everywhere, and the slope of the mean alone.
    flat = native.Posterior(2, np.zeros((1, 1)), one, 1.0, np.zeros((1, 1)), nothing, one, 0.0, 1.0, 1e-18)
    mean, _, by_mean, _ = flat.predict_with_gradient(at)
    shifted = native.Posterior(2, np.zeros((1, 1)), one, 1.0, np.zeros((1, 1)), nothing, one, -mean[0], 1.0, 1e-18)
    assert shifted.predict_with_gradient(at)[0] == 0.0
    value, gradient = native.Improvement(shifted, 0, 0.0, z).value_with_gradient(at)
    # Four roundings: of log h, and from -2 on of φ and z Φ, whose sum is h. Below, h is a product.
    terms = density - z * mass if -2.0 <= z < 0.0 else 1.0
    np.testing.assert_allclose(value, log_h, rtol=4.0 * EPS, atol=4.0 * EPS * terms)
    np.testing.assert_allclose(gradient / by_mean, -mass, rtol=1e-13)
    # Weights of zero leave the mean at zero, and the slope of the std alone.
    level = native.Posterior(2, np.zeros((1, 1)), one, 1.0, np.full((1, 1), 0.5), nothing, np.zeros(1), 0.0, 1.0, 1e-18)
    _, std, _, by_std = level.predict_with_gradient(at)
    incumbent = z * std[0]
    _, gradient = native.Improvement(level, 0, 0.0, incumbent).value_with_gradient(at)
    np.testing.assert_allclose(gradient * std[0] / by_std, exact_log_h(incumbent / std[0])[2], rtol=1e-13)
