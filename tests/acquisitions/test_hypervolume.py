from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from believer.acquisitions import LogEI, Pointwise
from believer.acquisitions.hypervolume import (
    Edges,
    boxes,
    front_of,
    hypervolume,
    inferred_reference,
    log_ehvi_on,
    nondominated,
)
from believer.arrays import Array, frozen
from believer.errors import InvalidInput
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction

every_k = pytest.mark.parametrize("k", [1, 2, 3, 4, 5])

# Small whole numbers, so that points share coordinates, and some are equal.
TABLES = st.integers(1, 4).flatmap(
    lambda k: st.integers(0, 8).flatmap(lambda n: arrays(np.float64, (n, k), elements=st.integers(0, 4).map(float)))
)


def improvement(mean: Array, std: Array, lower: Array, upper: Array) -> Pointwise:
    """log EHVI of predictions, by the corners of the boxes."""
    return Edges(lower, upper).log_improvement(mean, std)


def on_a_sphere(n: int, k: int, seed: int = 0) -> Array:
    """No point of these dominates another."""
    Y = np.abs(np.random.default_rng(seed).normal(size=(n, k)))
    front: Array = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    return front


def by_inclusion_and_exclusion(Y: Array, reference: Array) -> float:
    """The volume of a union of boxes up to the reference, from the volumes of all intersections."""
    below = [y for y in Y if (y < reference).all()]
    subsets = [some for size in range(1, len(below) + 1) for some in combinations(below, size)]
    return sum((-1.0) ** (len(some) + 1) * float(np.prod(reference - np.max(some, axis=0))) for some in subsets)


# Fronts


@given(TABLES)
def test_a_front_is_what_nothing_is_as_good_as_and_of_equal_rows_the_first(Y: Array) -> None:
    expected = [
        not any((Y[j] <= y).all() and (j < i or not (Y[j] == y).all()) for j in range(len(Y)) if j != i)
        for i, y in enumerate(Y)
    ]
    assert nondominated(Y).tolist() == expected
    np.testing.assert_array_equal(front_of(Y), Y[expected])


def test_an_inferred_reference_is_a_tenth_of_the_range_beyond_the_worst() -> None:
    front = np.array([[0.0, 3.0, -4.0, 0.0], [2.0, 1.0, -4.0, 0.0]])
    np.testing.assert_allclose(inferred_reference(front, front), [2.2, 3.2, -3.6, 0.1], rtol=1e-14)


def test_an_inferred_reference_is_no_nearer_than_the_worst_result() -> None:
    front = np.array([[0.0, 3.0], [2.0, 1.0]])
    results = np.vstack([front, [[12.0, 3.1]] * 30])
    np.testing.assert_allclose(inferred_reference(front, results), [12.0, 3.2], rtol=1e-14)
    assert (inferred_reference(front, results) >= results.max(axis=0)).all()
    one = np.array([[5.0, 0.0]])
    shifted = [inferred_reference(one + by, np.vstack([one, [[6.0, 2.0]]]) + by) - by for by in (0.0, 100.0)]
    np.testing.assert_allclose(shifted[0], shifted[1], rtol=1e-12)


# Boxes and volumes


@settings(max_examples=200)
@given(TABLES)
def test_a_point_below_the_reference_is_dominated_or_in_one_box(Y: Array) -> None:
    k = Y.shape[1]
    reference = np.full(k, 3.0)
    lower, upper = boxes(Y, reference)
    assert (lower < upper).all()
    # The middles of all cells of the grid, and its corners, of which the lower ones belong to a cell.
    ticks = np.arange(-0.5, 3.0, 0.5)
    for y in np.stack(np.meshgrid(*[ticks] * k), axis=-1).reshape(-1, k)[:: 1 + (k == 4) * 6]:
        dominated = any((p <= y).all() for p in Y)
        assert ((lower <= y) & (y < upper)).all(axis=1).sum() == (not dominated)


def test_boxes_are_as_few_as_strips_for_two_objectives_and_two_a_point_for_three() -> None:
    assert len(boxes(on_a_sphere(30, 2), np.full(2, 1.1))[0]) == 31
    assert len(boxes(on_a_sphere(30, 3), np.full(3, 1.1))[0]) == 61
    assert len(boxes(on_a_sphere(30, 1), np.full(1, 1.1))[0]) == 1


@every_k
def test_without_a_front_below_the_reference_all_is_one_box(k: int) -> None:
    reference = np.arange(1.0, k + 1.0)
    for front in (np.zeros((0, k)), reference[None], reference[None] + np.eye(k)[:1] - 1.0 * np.eye(k)[-1:]):
        lower, upper = boxes(front, reference)
        assert (lower == -np.inf).all()
        np.testing.assert_array_equal(upper, reference[None])
        assert hypervolume(front, reference) == 0.0


@settings(max_examples=100)
@given(TABLES)
def test_a_hypervolume_is_that_of_a_union_of_boxes(Y: Array) -> None:
    reference = np.full(Y.shape[1], 3.0)
    assert hypervolume(Y, reference) == pytest.approx(by_inclusion_and_exclusion(Y, reference), abs=1e-9)


@every_k
def test_hypervolumes_of_random_fronts_are_those_of_inclusion_and_exclusion(k: int) -> None:
    Y, reference = on_a_sphere(9, k, seed=k), np.full(k, 1.1)
    assert hypervolume(Y, reference) == pytest.approx(by_inclusion_and_exclusion(Y, reference), rel=1e-11)


def test_a_dense_front_has_the_volume_that_is_known_of_the_curve() -> None:
    # ZDT1: f₂ = 1 - √f₁ leaves 1/3 of the unit square below it.
    first = np.linspace(0.0, 1.0, 2001)
    zdt1 = np.column_stack([first, 1.0 - np.sqrt(first)])
    assert hypervolume(zdt1, np.array([1.1, 1.1])) == pytest.approx(1.21 - 1.0 / 3.0, abs=1e-3)
    # DTLZ2: a part of the unit sphere, which has 1/2^k of the volume of the ball below it.
    for k, n, close in ((2, 2000, 5e-3), (3, 900, 0.05)):
        volume = 1.1**k - math.pi ** (k / 2) / math.gamma(k / 2 + 1) / 2**k
        found = hypervolume(on_a_sphere(n, k), np.full(k, 1.1))
        assert volume * (1.0 - close) < found < volume


def test_a_tiny_volume_is_no_difference_of_large_ones() -> None:
    Y = np.array([[0.0, 1.0 - 2.0**-50], [1.0 - 2.0**-50, 0.0]])
    assert hypervolume(Y, np.ones(2)) == 2.0**-49 - 2.0**-100


# The expected improvement


def predictions(m: int, k: int, seed: int = 1) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 0.6, (m, k)), np.exp(rng.uniform(-3.0, 0.5, (m, k)))


def by_box(mean: Array, std: Array, lower: Array, upper: Array) -> Any:
    """log Σ Π (H(u) - H(l)) at one point, with 120 digits and more of differences of tails."""
    mp = pytest.importorskip("mpmath")

    def below(a: float, j: int) -> Any:
        z = (mp.mpf(a) - mp.mpf(mean[j])) / mp.mpf(std[j])
        return mp.mpf(std[j]) * (mp.npdf(z) + z * mp.erfc(-z / mp.sqrt(2)) / 2) if a > -np.inf else mp.mpf(0)

    with mp.workdps(120):
        total = sum(
            mp.fprod(below(u[j], j) - below(low[j], j) for j in range(len(u)))
            for low, u in zip(lower, upper, strict=True)
        )
        return float(mp.log(total))


@each("k", [1, 2, 3])
@each("size", [1e-12, 1e-3, 1.0, 1e6])
@each("away", [-100.0, 0.0, 5.0, 37.0, 2e3])
def test_values_are_those_of_many_digits(k: int, size: float, away: float) -> None:
    """With points of the front from close together to far apart in deviations, and improvements of down to e^-1e6."""
    lower, upper = boxes(size * on_a_sphere(6, k), np.full(k, 1.1 * size))
    mean, std = predictions(3, k)
    value = improvement(away * std + size * mean, std, lower, upper).value
    expected = [by_box(away * s + size * m, s, lower, upper) for m, s in zip(mean, std, strict=True)]
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-9)


def test_an_improvement_that_is_no_number_has_a_logarithm() -> None:
    lower, upper = boxes(on_a_sphere(10, 2), np.full(2, 1.1))
    mean, std = np.array([[6.0, 5.0]]), np.array([[0.15, 0.2]])
    value = float(improvement(mean, std, lower, upper).value[0])
    assert value < math.log(1e-300)
    assert value == pytest.approx(by_box(mean[0], std[0], lower, upper), rel=1e-13)


def slopes(f: Callable[[Array], Array], at: Array, step: float) -> Array:
    """Central differences (m, k) of ``f: (m, k) -> (m,)``."""
    moves = step * np.eye(at.shape[1])
    return np.stack([(f(at + move) - f(at - move)) / (2.0 * step) for move in moves], axis=1)


@every_k
@each("size", [1e-6, 0.03, 1.0, 40.0])
def test_derivatives_are_central_differences(k: int, size: float) -> None:
    lower, upper = boxes(size * on_a_sphere(7, k), np.full(k, 1.1 * size))
    mean, std = predictions(30, k)
    mean[::3] += 12.0 * std[::3]
    found = improvement(mean, std, lower, upper)
    by_mean = slopes(lambda mean: improvement(mean, std, lower, upper).value, mean, 1e-5)
    by_std = slopes(lambda std: improvement(mean, std, lower, upper).value, std, 1e-6)
    np.testing.assert_allclose(found.by_mean, by_mean, rtol=1e-4, atol=1e-7 + 1e-6 * np.abs(by_mean).max())
    np.testing.assert_allclose(found.by_std, by_std, rtol=1e-4, atol=1e-7 + 1e-6 * np.abs(by_std).max())


@given(st.floats(-1e5, 1e5), st.floats(1e-9, 1e5), st.floats(-1e5, 1e5), st.floats(1e-9, 1e5))
def test_everything_is_a_number_and_falls_with_every_mean(m: float, s: float, other: float, std: float) -> None:
    lower, upper = boxes(on_a_sphere(8, 2), np.full(2, 1.1))
    found = improvement(np.array([[m, other]]), np.array([[s, std]]), lower, upper)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.by_mean).all()
    assert np.isfinite(found.by_std).all()
    assert (found.by_mean <= 0.0).all()


def test_of_one_objective_it_is_the_expected_improvement() -> None:
    mean, std = predictions(50, 1)
    lower, upper = boxes(np.array([[0.4], [0.2], [0.9]]), np.array([1.0]))
    found, alone = improvement(mean, std, lower, upper), LogEI().pointwise(mean[:, 0], std[:, 0], 0.2)
    np.testing.assert_allclose(found.value, alone.value, rtol=1e-13)
    np.testing.assert_allclose(found.by_mean[:, 0], alone.by_mean, rtol=1e-12)
    np.testing.assert_allclose(found.by_std[:, 0], alone.by_std, rtol=1e-12)


@pytest.mark.parametrize("constant", [0.4, 0.7, 0.99])
def test_beside_an_objective_that_is_sure_it_is_the_expected_improvement_times_a_width(constant: float) -> None:
    lower, upper = boxes(np.array([[0.3, 0.3]]), np.array([1.0, 1.0]))
    mean, std = predictions(20, 2)
    mean[:, 1], std[:, 1] = constant, 1e-12
    expected = LogEI().pointwise(mean[:, 0], std[:, 0], 0.3).value + math.log(1.0 - constant)
    np.testing.assert_allclose(improvement(mean, std, lower, upper).value, expected, rtol=1e-10)


def test_an_objective_that_is_surely_beyond_the_reference_leaves_a_slope_back_to_it() -> None:
    lower, upper = boxes(np.array([[0.3, 0.3]]), np.array([1.0, 1.0]))
    found = improvement(np.array([[0.0, 2.0]]), np.array([[0.1, 1e-6]]), lower, upper)
    assert -1e12 < found.value[0] < -1e11
    assert found.by_mean[0, 1] < -1e5
    assert found.by_std[0, 1] > 1e5


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_objectives_does_not_matter(k: int) -> None:
    front, reference = on_a_sphere(12, k), np.linspace(1.05, 1.2, k)
    mean, std = predictions(20, k)
    usual = improvement(mean, std, *boxes(front, reference))
    for order in permutations(range(k)):
        p = list(order)
        other = improvement(mean[:, p], std[:, p], *boxes(front[:, p], reference[p]))
        np.testing.assert_allclose(other.value, usual.value, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(other.by_mean, usual.by_mean[:, p], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("k", [2, 3])
def test_units_add_the_logarithm_of_their_factors(k: int) -> None:
    front, reference = on_a_sphere(12, k), np.full(k, 1.1)
    mean, std = predictions(20, k)
    unit = np.array([1e-9, 1e7, 3.0])[:k]
    usual, other = (improvement(u * mean, u * std, *boxes(u * front, u * reference)) for u in (np.ones(k), unit))
    np.testing.assert_allclose(other.value, usual.value + np.log(unit).sum(), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(other.by_std * unit, usual.by_std, rtol=1e-8, atol=1e-10)


def test_points_that_are_dominated_or_beyond_the_reference_do_not_matter() -> None:
    front, reference = on_a_sphere(12, 3), np.full(3, 1.1)
    more = np.vstack([front + 0.01, front, front, [[0.0, 0.0, 1.2]]])
    mean, std = predictions(20, 3)
    usual, other = (improvement(mean, std, *boxes(Y, reference)).value for Y in (front, more))
    np.testing.assert_allclose(other, usual, rtol=1e-12)


def test_many_points_give_what_each_gives_alone() -> None:
    lower, upper = boxes(on_a_sphere(20, 3), np.full(3, 1.1))
    mean, std = predictions(500, 3)
    together = improvement(mean, std, lower, upper)
    for i in range(0, 500, 83):
        alone = improvement(mean[i : i + 1], std[i : i + 1], lower, upper)
        assert together.value[i] == pytest.approx(alone.value[0], rel=1e-13)
        np.testing.assert_allclose(together.by_mean[i], alone.by_mean[0], rtol=1e-12)
    assert improvement(mean[:0], std[:0], lower, upper).value.shape == (0,)


# On models


def models_of(k: int, d: int = 2) -> tuple[GPModel, ...]:
    X = np.random.default_rng(0).random((9, d))
    hyper = Hyperparameters("matern52", frozen(np.linspace(0.3, 0.5, d)), signal=1.3, noise=1e-4)
    return tuple(posterior(hyper, X, np.sin((3.0 + j) * X[:, 0]) + X.sum(axis=1), 0.5, 1.2) for j in range(k))


@pytest.mark.both_backends
@pytest.mark.parametrize("k", [1, 2, 3])
def test_gradients_on_models_are_central_differences(k: int) -> None:
    objective = log_ehvi_on(models_of(k), on_a_sphere(8, k), np.full(k, 1.1))
    assert objective.has_gradient
    X = np.random.default_rng(3).random((12, 2))
    value, gradient = objective.value_with_gradient(X)
    np.testing.assert_allclose(value, objective.value(X), rtol=1e-10)
    expected = slopes(objective.value, X, 1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


def test_an_objective_survives_pickling() -> None:
    objective = log_ehvi_on(models_of(2), on_a_sphere(8, 2), np.full(2, 1.1))
    X = np.random.default_rng(3).random((5, 2))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(objective)).value(X), objective.value(X))


class Flat:
    """A model without gradients."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


def test_a_model_without_gradients_leaves_none() -> None:
    objective = log_ehvi_on((Flat(), *models_of(1)), np.zeros((0, 2)), np.ones(2))
    assert not objective.has_gradient
    assert objective.value(np.zeros((3, 2))).shape == (3,)


@pytest.mark.parametrize(
    ("front", "reference", "words"),
    [
        (np.zeros((3, 3)), np.ones(2), "front must have 2 columns"),
        (np.zeros((3, 2)), np.ones(3), "reference must have one value"),
        (np.full((3, 2), np.nan), np.ones(2), "front must be finite"),
    ],
)
def test_what_does_not_fit_the_models_is_refused(front: Array, reference: Array, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        log_ehvi_on(models_of(2), front, reference)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-20])
def test_boxes_so_narrow_that_nothing_is_left_of_them_are_no_error(tiny: float) -> None:
    lower, upper = boxes(np.array([[0.3, -tiny], [0.2, 0.0], [0.5, -1.0]]), np.array([1.0, 0.5]))
    for std in (1e-9, 1.0, 1e3):
        found = improvement(np.array([[0.1, 0.2], [0.4, -0.5]]), np.full((2, 2), std), lower, upper)
        assert np.isfinite([*found.value, *found.by_mean.ravel(), *found.by_std.ravel()]).all()
