from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.special import ndtri

from believer.acquisitions import EI, PointwiseObjective
from believer.acquisitions.feasibility import Limits
from believer.acquisitions.joint_improvement import JointImprovement, Softness
from believer.acquisitions.joint_limit import JointLimit
from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.numerics.sampling import normal_sobol
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import JointGradient

pytestmark = pytest.mark.both_backends

D = 2
SMOOTHINGS = [
    None,
    Softness(),
    Softness(fat=False),
    Softness(improvement=0.05, maximum=0.5),
    Softness(improvement=0.05, maximum=0.5, fat=False),
]
every_smoothing = each("smoothing", SMOOTHINGS, ids=repr)


def model_of(unit: float = 1.0, noise: float = 1e-6, n: int = 10) -> GPModel:
    X = np.random.default_rng(0).random((n, D))
    y = unit * (np.sin(5.0 * X[:, 0]) + ((X - 0.5) ** 2).sum(axis=1))
    hyper = Hyperparameters("matern52", frozen(np.array([0.3, 0.5])), signal=1.3, noise=noise)
    return posterior(hyper, X, y, float(y.mean()), float(y.std()))


def target_of(model: GPModel) -> float:
    """Not hard to beat, so that most groups of points improve in some samples."""
    return float(model.shift + model.scale * (model.y.min() + 0.5))


def objective_of(q: int, smoothing: Softness | None, fixed: Array | None = None, **changes: Any) -> JointImprovement:
    """The improvement of q points over half a deviation more than the best of ten, with 128 samples."""
    model = changes.pop("model", None) or model_of()
    fixed = np.zeros((0, D)) if fixed is None else fixed
    normals = normal_sobol(128, len(fixed) + q, np.random.default_rng(1))
    base = JointImprovement(model, target_of(model), normals, fixed, smoothing, unit=model.scale)
    return replace(base, **changes)


def rows(b: int, q: int, seed: int = 2) -> Array:
    return np.random.default_rng(seed).random((b, q * D))


@every_smoothing
@each(("q", "p"), [(1, 0), (1, 3), (3, 0), (3, 2)])
def test_gradients_are_central_differences(smoothing: Softness | None, q: int, p: int) -> None:
    objective = objective_of(q, smoothing, rows(p, 1, seed=5))
    X = rows(6, q)
    value, gradient = objective.value_with_gradient(X)
    np.testing.assert_array_equal(value, objective.value(X))
    slopes = np.empty_like(X)
    step = 1e-6
    for j in range(X.shape[1]):
        move = np.zeros(X.shape[1])
        move[j] = step
        slopes[:, j] = (objective.value(X + move) - objective.value(X - move)) / (2.0 * step)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(gradient).max())


def test_one_point_has_the_expected_improvement_that_is_known_in_closed_form() -> None:
    even = ndtri((np.arange(20_000) + 0.5) / 20_000)[:, None]
    objective = objective_of(1, None, normals=even, unit=1.0)
    X = rows(20, 1)
    closed = PointwiseObjective(EI(), model_of(), objective.target).value(X)
    # The outermost slice of probability is cut off by its middle.
    np.testing.assert_allclose(objective.value(X), closed, rtol=1e-4, atol=1e-5)


@each("fat", [True, False])
@each("q", [1, 2, 5])
def test_the_logarithm_is_that_of_the_plain_value_but_for_its_temperatures(fat: bool, q: int) -> None:
    X = rows(20, q)
    plain = objective_of(q, None).value(X)
    smooth = objective_of(q, Softness(1e-9, 1e-3, fat)).value(X)
    useful = plain > 1e-4
    assert useful.sum() >= 5
    # A soft maximum of q numbers exceeds the hard one by at most τ log q.
    gap = (smooth - np.log(np.where(useful, plain, 1.0)))[useful]
    assert (gap > -1e-6).all()
    assert (gap < 1e-3 * np.log(q) + 1e-4).all()


@every_smoothing
def test_fixed_points_count_like_those_that_move(smoothing: Softness | None) -> None:
    fixed, X = rows(2, 1, seed=5), rows(4, 3)
    some = objective_of(3, smoothing, fixed)
    every = replace(some, fixed=np.zeros((0, D)))
    together = np.hstack([np.tile(fixed.reshape(1, -1), (4, 1)), X])
    value, gradient = some.value_with_gradient(X)
    all_value, all_gradient = every.value_with_gradient(together)
    np.testing.assert_array_equal(value, all_value)
    np.testing.assert_array_equal(gradient, all_gradient[:, 2 * D :])


@pytest.mark.parametrize("smoothing", [None, Softness()], ids=repr)
def test_a_further_point_never_makes_a_group_worse(smoothing: Softness | None) -> None:
    more = objective_of(4, smoothing)
    fewer = replace(more, normals=more.normals[:, :3])
    X = rows(50, 4)
    assert (more.value(X) >= fewer.value(X[:, : 3 * D]) - 1e-12).all()


@every_smoothing
def test_a_copy_of_a_point_adds_nothing(smoothing: Softness | None) -> None:
    twice = objective_of(2, smoothing)
    once = replace(twice, normals=twice.normals[:, :1])
    x = rows(10, 1)
    spare = 0.0 if smoothing is None else smoothing.maximum * np.log(2.0)
    gain = twice.value(np.hstack([x, x])) - once.value(x)
    assert (gain > -1e-9).all()
    assert (gain < spare + 1e-3).all()


def test_rows_do_not_depend_on_how_many_come_together() -> None:
    objective = objective_of(3, Softness())
    X = rows(4000, 3)
    together = objective.value(X)
    np.testing.assert_allclose(together[::997], [objective.value(x[None])[0] for x in X[::997]], rtol=1e-12)
    assert objective.value(X[:0]).shape == (0,)


@each("smoothing", [None, Softness(), Softness(fat=False)], ids=repr)
@each("unit", [1e-12, 1e12])
def test_units_of_y_do_not_matter(smoothing: Softness | None, unit: float) -> None:
    X = rows(5, 3)
    usual = objective_of(3, smoothing).value_with_gradient(X)
    other = objective_of(3, smoothing, model=model_of(unit)).value_with_gradient(X)
    np.testing.assert_allclose(other[0], usual[0], rtol=1e-6)
    np.testing.assert_allclose(other[1], usual[1], rtol=1e-5, atol=1e-6 * np.abs(usual[1]).max())


@every_smoothing
@each("noise", [0.0, 1e-6])
def test_equal_points_and_points_on_data_give_numbers(smoothing: Softness | None, noise: float) -> None:
    model = model_of(noise=noise)
    x, on = np.array([0.3, 0.7]), model.X[int(np.argmin(model.y))]
    groups = [[x, x, x], [on, on, on], [on, on + 1e-9, x], [x, x + 1e-12, on], [model.X[0], model.X[1], model.X[2]]]
    objective = objective_of(3, smoothing, np.vstack([on, x]), model=model)
    value, gradient = objective.value_with_gradient(np.array(groups).reshape(5, -1))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A model with one law for every group, whatever its points."""

    mean: Array
    covariance: Array

    def joint_with_gradient(self, X: Array) -> JointGradient:
        b = len(X)
        law = np.tile(self.mean, (b, 1)), np.tile(self.covariance, (b, 1, 1))
        return JointGradient(*law, lambda by_mean, by_covariance: by_mean[:, :, None] + by_covariance)


@each(
    "covariance",
    [
        [[1.0, 1.001], [1.001, 1.0]],
        [[1.0, -1.2], [-1.2, 1.0]],
        [[0.0, 0.0], [0.0, 1.0]],
        [[-1e-14, 1e-14], [1e-14, 1.0]],
        [[4.0, 2.0], [2.0, 1.0]],
    ],
)
def test_a_covariance_that_is_none_loses_correlation_and_keeps_its_variances(covariance: list[list[float]]) -> None:
    model = Given(np.zeros(2), np.array(covariance))
    even = ndtri((np.arange(4096) + 0.5) / 4096)
    normals = np.column_stack([even, np.random.default_rng(0).permutation(even)])
    objective = JointImprovement(model, 0.0, normals, np.zeros((0, 2)))
    value, gradient = objective.value_with_gradient(np.zeros((1, 4)))
    assert np.isfinite(gradient).all()
    # E max(0, -min f) lies between the largest of the two alone and their sum.
    alone = np.sqrt(np.maximum(np.diagonal(model.covariance), 0.0)) / np.sqrt(2.0 * np.pi)
    assert 0.99 * alone.max() <= value[0] <= 1.03 * alone.sum()
    # A variance that rounding has eaten is a constant: its square root would have a slope without bound.
    assert np.abs(gradient).max() < 1e3


@pytest.mark.parametrize("smoothing", [Softness(), Softness(fat=False)], ids=repr)
def test_hopeless_points_still_have_a_gradient(smoothing: Softness) -> None:
    objective = objective_of(2, smoothing)
    far = replace(objective, target=objective.target - 60.0 * objective.unit)
    value, gradient = far.value_with_gradient(rows(8, 2))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    # With fat tails even the worse point of a sample has a slope; else it is the better one's.
    assert (np.abs(gradient).max(axis=1) > 1e-6).all()
    assert (replace(far, softness=None).value(rows(8, 2)) == 0.0).all()


@pytest.mark.parametrize("bad", [{"improvement": 0.0}, {"maximum": -1.0}, {"improvement": float("nan")}])
def test_temperatures_are_above_zero(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        Softness(**bad)  # type: ignore[arg-type]


# Limits of other outputs


def limits_of(m: int, *within: Limits, softness: float = 1e-3, unit: float = 1.0) -> tuple[JointLimit, ...]:
    """Outputs like the objective, with base samples of their own."""
    model, rng = model_of(unit), np.random.default_rng(9)
    return tuple(JointLimit(model, w, normal_sobol(128, m, rng), model.scale, softness) for w in within)


@every_smoothing
@each(("q", "p"), [(1, 0), (3, 2)])
def test_gradients_under_limits_are_central_differences(smoothing: Softness | None, q: int, p: int) -> None:
    limits = limits_of(p + q, Limits(-0.7, 0.0), Limits(low=-0.8), Limits(), softness=0.3)
    objective = objective_of(q, smoothing, rows(p, 1, seed=5), limits=limits)
    X = rows(6, q)
    value, gradient = objective.value_with_gradient(X)
    np.testing.assert_array_equal(value, objective.value(X))
    # Without smoothing a step may take a sample over a limit, which is a jump.
    step = 1e-6 if smoothing is not None else 1e-9
    slopes = np.empty_like(X)
    for j, move in enumerate(step * np.eye(X.shape[1])):
        slopes[:, j] = (objective.value(X + move) - objective.value(X - move)) / (2.0 * step)
    close = 1e-5 if smoothing is not None else 1e-4
    np.testing.assert_allclose(gradient, slopes, rtol=close, atol=close * np.abs(gradient).max())


@every_smoothing
def test_limits_that_surely_hold_change_nothing(smoothing: Softness | None) -> None:
    X = rows(5, 3)
    alone = objective_of(3, smoothing).value_with_gradient(X)
    for within in (Limits(), Limits(-1e9, 1e9)):
        found = objective_of(3, smoothing, limits=limits_of(3, within)).value_with_gradient(X)
        np.testing.assert_allclose(found[0], alone[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[1], alone[1], rtol=1e-9, atol=1e-9 * np.abs(alone[1]).max())


def test_without_smoothing_a_point_counts_in_the_samples_in_which_all_limits_hold() -> None:
    (limit,) = limits_of(3, Limits(-0.7, 0.0))
    objective = objective_of(3, None, limits=(limit,))
    X = rows(20, 3)
    assert (objective.value(X) > 0.01).sum() >= 5
    for x in X:
        at, other = (model.joint_with_gradient(x.reshape(1, 3, D)) for model in (objective.model, limit.model))
        f = at.mean[0] + objective.normals @ np.linalg.cholesky(at.covariance[0]).T
        v = other.mean[0] + limit.normals @ np.linalg.cholesky(other.covariance[0]).T
        gains = np.where(limit.within.holds(v), np.maximum(objective.target - f, 0.0), 0.0)
        assert objective.value(x[None])[0] == pytest.approx(
            gains.max(axis=1).mean() / objective.unit, rel=1e-6, abs=1e-9
        )


@pytest.mark.parametrize("fat", [True, False])
def test_the_logarithm_under_limits_is_that_of_the_plain_value_but_for_its_temperatures(fat: bool) -> None:
    X = rows(20, 2)
    limits = limits_of(2, Limits(-0.7, 0.0), softness=1e-9)
    plain = objective_of(2, None, limits=limits).value(X)
    smooth = objective_of(2, Softness(1e-9, 1e-4, fat), limits=limits).value(X)
    seen = plain > 1e-3
    assert seen.sum() >= 5
    np.testing.assert_allclose(np.exp(smooth[seen]), plain[seen], rtol=1e-2)


@pytest.mark.parametrize("smoothing", [Softness(), Softness(fat=False)], ids=repr)
def test_points_that_are_hopelessly_infeasible_still_have_a_gradient(smoothing: Softness) -> None:
    far = objective_of(2, smoothing, limits=limits_of(2, Limits(high=-60.0)))
    value, gradient = far.value_with_gradient(rows(8, 2))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    assert (np.abs(gradient).max(axis=1) > 1e-6).all()


@each("smoothing", [None, Softness(), Softness(fat=False)], ids=repr)
@each("unit", [1e-12, 1e12])
def test_units_of_a_limited_output_do_not_matter(smoothing: Softness | None, unit: float) -> None:
    X = rows(5, 3)
    usual = objective_of(3, smoothing, limits=limits_of(3, Limits(-0.7, 0.0))).value(X)
    other = objective_of(3, smoothing, limits=limits_of(3, Limits(-0.7 * unit, 0.0), unit=unit)).value(X)
    np.testing.assert_allclose(other, usual, rtol=1e-6)


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_the_temperature_of_a_limit_is_above_zero(bad: float) -> None:
    with pytest.raises(InvalidInput, match="softness"):
        limits_of(1, Limits(), softness=bad)
