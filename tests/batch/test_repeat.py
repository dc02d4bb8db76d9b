from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from batch_requests import Nearest, data_for, model_of
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.arrays import Array, frozen
from believer.batch.repeat import MOST, Repeat, knowledge_gradient, slopes, worth_repeating
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, standardization

pytestmark = pytest.mark.both_backends

MANY = 1 << 16


def noisy(noise: float = 0.5, n: int = 20, seed: int = 0, unit: float = 1.0) -> tuple[GPModel, Data, float, float]:
    """A model of results with noise, the results, the noise's standard deviation and the scale of y."""
    data = data_for(n=n, seed=seed)
    y = data.y + 0.7 * np.random.default_rng(seed).standard_normal(n)
    data = Data(data.X, frozen(unit * y))
    model = model_of(data, noise)
    return model, data, model.scale * float(np.sqrt(noise)), standardization(data.y)[1]


def found(case: tuple[GPModel, Data, float, float], x: Array) -> Repeat | None:
    model, data, std, scale = case
    return worth_repeating(model, data.X, std, x, std, scale)


def a_corner(model: GPModel) -> Array:
    """Where the mean is largest: no good place for a new point."""
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    worst: Array = corners[int(model.predict(corners).mean.argmax())]
    return worst


# The knowledge gradient


lines = st.integers(1, 12).flatmap(
    lambda m: st.tuples(*(st.lists(st.floats(-3.0, 3.0), min_size=m, max_size=m) for _ in range(2)))
)


@settings(max_examples=60, deadline=None)
@given(lines)
def test_it_is_what_many_draws_gain_on_average(ab: tuple[list[float], list[float]]) -> None:
    a, b = np.array(ab[0]), np.array(ab[1])
    z = np.random.default_rng(1).standard_normal(MANY)
    z = np.concatenate([z, -z])
    gains = a.min() - (a + b * z[:, None]).min(axis=1)
    error = 5.0 * gains.std() / np.sqrt(MANY)
    assert knowledge_gradient(a, b) == pytest.approx(gains.mean(), abs=error + 1e-12)


@settings(max_examples=100)
@given(lines, st.floats(-5.0, 5.0), st.floats(-5.0, 5.0))
def test_it_is_never_negative_and_only_differences_count(
    ab: tuple[list[float], list[float]], up: float, tilt: float
) -> None:
    a, b = np.array(ab[0]), np.array(ab[1])
    value = knowledge_gradient(a, b)
    assert value >= 0.0
    assert value <= np.ptp(b) / np.sqrt(2.0 * np.pi) + 1e-12
    assert knowledge_gradient(a + up, b + tilt) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert knowledge_gradient(a[::-1], b[::-1]) == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert knowledge_gradient(a, -b) == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_of_two_lines_it_is_the_expected_improvement_in_their_difference() -> None:
    for gap in (0.0, 0.3, 5.0, 30.0):
        exact = np.exp(-0.5 * gap**2) / np.sqrt(2.0 * np.pi)
        value = knowledge_gradient(np.array([0.0, gap]), np.array([0.0, 1.0]))
        assert 0.0 < value <= exact * (1.0 + 1e-12)
    assert knowledge_gradient(np.zeros(2), np.array([0.0, 1.0])) == pytest.approx(1.0 / np.sqrt(2.0 * np.pi))


def test_parallel_lines_teach_nothing() -> None:
    assert knowledge_gradient(np.array([1.0, 0.0, 2.0]), np.full(3, 0.4)) == 0.0
    assert knowledge_gradient(np.array([1.0]), np.array([2.0])) == 0.0
    assert knowledge_gradient(np.array([1.0, 0.0]), np.array([0.0, 5e-324])) == 0.0


def test_slopes_are_how_far_conditioning_moves_the_means() -> None:
    model, data, std, _ = noisy()
    at = model.joint(data.X)
    off = np.sqrt(at.covariance[3, 3] + std**2)
    told = model.condition(Data(data.X[3:4], at.mean[3:4] + off))
    np.testing.assert_allclose(slopes(at.covariance, 3, std), told.predict(data.X).mean - at.mean, atol=1e-8)


def test_where_nothing_is_uncertain_nothing_moves() -> None:
    assert not slopes(np.zeros((3, 3)), 1, 0.0).any()


# The rule


def test_the_worths_are_those_of_posteriors_after_the_measurement() -> None:
    case = noisy()
    model, data, std, _ = case
    x = a_corner(model)
    repeat = found(case, x)
    assert repeat is not None
    np.testing.assert_array_equal(repeat.x, data.X[repeat.index])
    z = np.random.default_rng(2).standard_normal(4000)
    z = np.concatenate([z, -z])
    best = model.predict(data.X).mean.min()
    for at, worth, among in ((repeat.x, repeat.worth, data.X), (x, repeat.new, np.vstack([data.X, x]))):
        joint = model.joint(np.vstack([among, at]))
        moves = joint.covariance[-1, :-1] / np.sqrt(joint.covariance[-1, -1] + std**2)
        gains = best - (joint.mean[:-1] + moves * z[:, None]).min(axis=1)
        assert worth == pytest.approx(gains.mean(), abs=5.0 * gains.std() / np.sqrt(4000.0))
    assert repeat.worth > repeat.new
    assert "repeated" in repeat.provenance


def test_a_new_point_that_promises_much_is_preferred() -> None:
    model, data, std, scale = noisy(noise=0.01)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 21)] * 2), axis=-1).reshape(-1, 2)
    at = model.predict(grid)
    x = grid[int((at.mean - 2.0 * at.std).argmin())]
    assert worth_repeating(model, data.X, std, x, std, scale) is None


def test_without_noise_nothing_is_repeated() -> None:
    model, data, _, scale = noisy(noise=1e-6)
    assert worth_repeating(model, data.X, 1.0, a_corner(model), 1.0, scale) is None
    model, data, _, scale = noisy()
    assert worth_repeating(model, data.X, 0.0, a_corner(model), 0.0, scale) is None


def test_a_point_that_was_measured_without_noise_is_worth_nothing_again() -> None:
    data = data_for()
    at = model_of(data, 1e-8).joint(data.X)
    worths = [knowledge_gradient(at.mean, slopes(at.covariance, i, 0.0)) for i in range(len(data))]
    assert max(worths) < 1e-3 * np.ptp(data.y)


def test_a_model_without_covariances_has_no_say() -> None:
    data = data_for()
    assert worth_repeating(Nearest(data.X, data.y), data.X, 1.0, data.X[0], 1.0, 1.0) is None
    model, _, std, scale = noisy()
    assert worth_repeating(model, data.X[:0], std, data.X[0], std, scale) is None


def test_points_with_little_noise_are_no_better_known_for_another_measurement() -> None:
    """Where only one point's measurements are precise, that is the one to be repeated, if any."""
    model, data, _, scale = noisy()
    stds = np.full(len(data), 1e3 * scale)
    precise = int(model.predict(data.X).mean.argmin())
    stds[precise] = 0.1 * scale
    repeat = worth_repeating(model, data.X, stds, a_corner(model), 1e3 * scale, scale)
    assert repeat is not None
    assert repeat.index == precise


@each("unit", [1e-150, 1e-12, 1e12, 1e90])
def test_units_scale_the_worths_and_nothing_else(unit: float) -> None:
    one, other = noisy(), noisy(unit=unit)
    x = a_corner(one[0])
    here, there = found(one, x), found(other, x)
    assert here is not None
    assert there is not None
    assert there.index == here.index
    assert (there.worth, there.new) == pytest.approx((unit * here.worth, unit * here.new), rel=1e-6, abs=0.0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_the_order_of_points_plays_no_part(seed: int) -> None:
    model, data, std, scale = noisy()
    x = a_corner(model)
    order = np.random.default_rng(seed).permutation(len(data))
    here = worth_repeating(model, data.X, std, x, std, scale)
    there = worth_repeating(model, data.X[order], std, x, std, scale)
    assert here is not None
    assert there is not None
    np.testing.assert_array_equal(here.x, there.x)
    assert there.worth == pytest.approx(here.worth)


def test_a_batch_does_not_repeat_one_point_for_ever() -> None:
    """Each repeat is believed before the next: its worth falls, and others have their turn."""
    case = noisy()
    model, data, std, scale = case
    x, X = a_corner(model), data.X
    chosen, worths = [], []
    for _ in range(12):
        repeat = worth_repeating(model, X, std, x, std, scale)
        if repeat is None:
            break
        chosen.append(tuple(repeat.x))
        at = repeat.x[None, :]
        model = model.condition(Data(at, model.predict(at).mean))
        X = np.vstack([X, at])
        joint = model.joint(data.X)
        row = int(np.flatnonzero(np.equal(data.X, repeat.x).all(axis=1))[0])
        worths.append((repeat.worth, knowledge_gradient(joint.mean, slopes(joint.covariance, row, std))))
    assert all(after < before for before, after in worths)
    assert len(set(chosen)) >= 2


def test_of_many_points_those_with_the_least_means_count() -> None:
    case = noisy(n=3 * MOST, noise=2.0)
    model, data, _, _ = case
    repeat = found(case, a_corner(model))
    assert repeat is not None
    assert repeat.index in np.argsort(model.predict(data.X).mean)[:MOST]


@dataclass(frozen=True)
class Endless:
    """A model whose covariance is no number."""

    model: GPModel
    is_noisy: bool = True

    def predict(self, X: Array) -> object:
        return self.model.predict(X)

    def joint(self, X: Array) -> object:
        at = self.model.joint(X)
        return replace(at, covariance=np.full_like(at.covariance, np.inf))


def test_a_covariance_that_is_no_number_says_nothing() -> None:
    model, data, std, scale = noisy()
    assert worth_repeating(Endless(model), data.X, std, data.X[0], std, scale) is None  # type: ignore[arg-type]
