"""What is known of the minimizer's place: the expansion against the model's own covariances, draws and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates import KERNELS, GPModel, Hyperparameters, posterior
from believer_paper.theory import Family, believed_minimizer, local
from believer_paper.theory.minimizer import slope_covariance

every_kernel = pytest.mark.parametrize("kernel", list(KERNELS))
seeds = st.integers(0, 2**32)


def drawn(kernel: str, dim: int, noise: float, seed: int) -> tuple[GPModel, Array]:
    """A random process, and a point off its data."""
    rng = np.random.default_rng(seed)
    model = Family(noise=noise, kernel=kernel, dim=dim).draw(rng).model
    assert isinstance(model, GPModel)
    return model, rng.random(dim)


def valley(center: tuple[float, ...], kernel: str = "matern52", noise: float = 0.0, tall: float = 1.0) -> GPModel:
    """Results of a parabola around ``center`` on a grid of four a column."""
    d = len(center)
    X = np.stack(np.meshgrid(*[np.linspace(0.05, 0.95, 4)] * d), axis=-1).reshape(-1, d)
    y = tall * ((X - center) ** 2 @ np.arange(1.0, d + 1.0))
    return posterior(Hyperparameters(kernel, frozen(np.full(d, 0.4)), 1.0, noise), X, y, 0.0, 1.0)


@every_kernel
@settings(max_examples=8)
@given(seed=seeds, dim=st.integers(1, 3), noise=st.sampled_from([1e-4, 0.1]))
def test_the_covariance_of_value_and_slope_is_that_of_differences(
    kernel: str, seed: int, dim: int, noise: float
) -> None:
    model, x = drawn(kernel, dim, noise, seed)
    steps = 1e-3 * model.lengthscales
    joint = model.joint(np.vstack([x, x + np.diag(steps), x - np.diag(steps)])).covariance
    differences = np.vstack([np.zeros(dim), np.diag(0.5 / steps), np.diag(-0.5 / steps)])
    differences = np.column_stack([np.eye(1 + 2 * dim)[0], differences])
    by_differences = differences.T @ joint @ differences
    exact = slope_covariance(model, x)
    # In lengthscales. A Matérn-3/2 process has slopes whose differences over s lose a share of the order of s.
    units = np.append(1.0, model.lengthscales)
    np.testing.assert_allclose(exact * np.outer(units, units), by_differences * np.outer(units, units), atol=1e-2)


@every_kernel
@settings(max_examples=8)
@given(seed=seeds, dim=st.integers(1, 3))
def test_mean_slope_and_curvature_are_those_of_the_prediction(kernel: str, seed: int, dim: int) -> None:
    model, x = drawn(kernel, dim, 1e-2, seed)
    here = local(model, x)
    step = 1e-2 * model.lengthscales * np.random.default_rng(seed).standard_normal(dim)
    both = model.predict(np.vstack([x + step, x - step])).mean
    # What odd and even parts leave is of third and fourth order: (1e-2)³ and (1e-2)⁴ times derivatives in lengthscales,
    # of which α, the weights of the kernels, has hundreds.
    assert 0.5 * (both[0] - both[1]) == pytest.approx(float(here.slope @ step), abs=1e-3)
    assert 0.5 * (both[0] + both[1]) - here.mean == pytest.approx(0.5 * float(step @ here.curvature @ step), abs=1e-4)
    assert here.std == pytest.approx(float(model.predict(x[None, :]).std[0]), rel=1e-6)


@pytest.mark.parametrize("center", [(0.43,), (0.43, 0.61), (0.43, 0.61, 0.52)])
@every_kernel
def test_the_minimizer_of_the_mean_has_no_slope_and_nothing_below_it(kernel: str, center: tuple[float, ...]) -> None:
    model = valley(center, kernel)
    x = believed_minimizer(model)
    assert np.abs(local(model, x).slope).max() < 1e-9
    assert np.abs(x - center).max() < 0.1
    everywhere = np.random.default_rng(0).random((2000, len(center)))
    assert model.predict(x[None, :]).mean[0] <= model.predict(everywhere).mean.min() + 1e-12


def test_a_minimum_at_the_end_of_the_box_is_held_there() -> None:
    model = valley((-0.3, 0.5))
    x = believed_minimizer(model)
    here = local(model, x)
    assert x[0] == 0.0
    assert here.free.tolist() == [False, True]
    assert here.slope[0] > 0.1
    assert abs(here.slope[1]) < 1e-9
    covariance = here.place_covariance()
    assert covariance[0].tolist() == [0.0, 0.0]
    assert covariance[1, 1] == pytest.approx(here.spread[1, 1] / here.curvature[1, 1] ** 2)


def test_the_axes_make_value_and_uncertainty_diagonal_at_once() -> None:
    model = valley((0.4, 0.55, 0.6))
    here = local(model, believed_minimizer(model))
    rates, axes = here.axes()
    np.testing.assert_allclose(axes.T @ here.curvature @ axes, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(axes.T @ here.spread @ axes, np.diag(rates), atol=1e-9)
    assert (np.diff(rates) <= 0.0).all()
    inverse = np.linalg.inv(here.curvature)
    np.testing.assert_allclose(here.place_covariance(), inverse @ here.spread @ inverse, atol=1e-9)


def test_functions_drawn_from_a_sure_model_have_their_minima_spread_as_said() -> None:
    model = valley((0.47,), tall=40.0)
    x = believed_minimizer(model)
    std = float(np.sqrt(local(model, x).place_covariance()[0, 0]))
    assert std < 0.03 * model.lengthscales[0]
    line = x + std * np.linspace(-6.0, 6.0, 601)[:, None]
    places = line[model.sample(line, 600, np.random.default_rng(0)).argmin(axis=1), 0]
    # 600 draws know a standard deviation to 3 %, and the mean to 4 % of it: four of these.
    assert places.std() == pytest.approx(std, rel=0.12)
    assert places.mean() == pytest.approx(x[0], abs=0.16 * std)


def test_a_hill_and_a_model_without_kernel_are_refused() -> None:
    top = local(valley((0.5,), tall=-1.0), np.array([0.5]))
    with pytest.raises(InvalidInput, match="curve upwards"):
        top.axes()
    with pytest.raises(MissingCapability):
        local(object(), np.array([0.5]))  # type: ignore[arg-type]
