from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.special import erfc

from believer.acquisitions import UCB, LogEI, PointwiseObjective
from believer.arrays import Array, frozen
from believer.batch import Data, Pending, Request
from believer.batch.best_so_far import best_places
from believer.batch.lipschitz import LipschitzPenalization, LipschitzPenalty, estimate, steepest_slope
from believer.batch.penalization import Penalized
from believer.batch.picking import pick
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Candidates, Multistart
from believer.space.box import Block, Box
from believer.surrogates import GP, GPModel
from believer.surrogates.gp import posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Model, Prediction, PredictionGradient


def randomness(trial: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng((3, trial, zlib.crc32(purpose.encode())))


def data_for(d: int = 2, n: int = 8, seed: int = 0) -> Data:
    X = np.random.default_rng(seed).random((n, d))
    return Data(frozen(X), frozen(5.0 + np.sin(5.0 * X[:, 0]) + ((X - 0.6) ** 2).sum(axis=1)))


def model_of(data: Data, noise: float = 1e-6) -> GPModel:
    """A Gaussian process of ``data`` at fixed hyperparameters."""
    hyper = Hyperparameters("matern52", frozen(np.full(data.X.shape[1], 0.3)), signal=1.5, noise=noise)
    return posterior(hyper, data.X, data.y, *standardization(data.y))


def request_for(data: Data, model: Model, **changes: Any) -> Request:
    d = data.X.shape[1]
    base = Request.single(
        ids=(20, 21, 22),
        surrogate=GP(),
        acquisition=LogEI(),
        model=model,
        data=data,
        pending=Pending((), frozen(np.zeros((0, d)))),
        region=Box.cube(d),
        avoid=data.X,
        distinct=True,
        randomness=randomness,
        maximizer=Multistart(starts=4, candidates=64, neighbors=8),
    )
    return replace(base, **changes)


def points(member: LipschitzPenalization, request: Request) -> Array:
    return np.array([choice.x for choice in member.choose(request).choices])


def least_distance(X: Array) -> float:
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    return float(gaps[np.triu_indices(len(X), 1)].min())


# The penalty


def test_the_penalty_is_the_chance_that_a_point_is_outside_of_every_ball() -> None:
    rng = np.random.default_rng(0)
    taken, mean, std, best, slope = rng.random((3, 2)), np.array([0.2, 1.0, -0.1]), np.array([0.3, 0.2, 0.5]), 0.1, 2.5
    X = rng.random((6, 2))
    distance = np.sqrt(((X[:, None] - taken) ** 2).sum(axis=2))
    # The minimum, best, is not within (f(x_j) - best) / L of x_j.
    draws = mean + std * rng.standard_normal((200_000, 3))
    outside = (distance[:, None, :] > (draws - best) / slope).mean(axis=1)
    value, _ = LipschitzPenalty(taken, mean - best, std, slope)(X)
    error = 4.0 * np.sqrt((outside * (1.0 - outside) / 200_000 / np.maximum(outside, 1e-3) ** 2).sum(axis=1))
    np.testing.assert_array_less(np.abs(value - np.log(outside).sum(axis=1)), error)


def test_the_penalty_is_that_of_the_paper_for_the_negated_function() -> None:
    rng = np.random.default_rng(1)
    taken, mean, std, best, slope = rng.random((1, 3)), np.array([0.7]), np.array([0.3]), 0.2, 1.7
    X = rng.random((20, 3))
    distance = np.sqrt(((X - taken) ** 2).sum(axis=1))
    # Maximization: φ = ½ erfc(-z), z = (L |x_j - x| - M + μ_j) / √(2 σ²), of -f.
    z = (slope * distance - (-best) + (-mean)) / np.sqrt(2.0 * std**2)
    value, _ = LipschitzPenalty(taken, mean - best, std, slope)(X)
    np.testing.assert_allclose(np.exp(value), 0.5 * erfc(-z), rtol=1e-12)


def test_the_worse_a_point_is_expected_to_be_the_wider_its_ball() -> None:
    along = np.linspace(0.0, 1.0, 101)[:, None]
    halves = []
    for gap in (-0.3, 0.0, 0.5, 1.0):
        left = np.exp(LipschitzPenalty(np.zeros((1, 1)), np.array([gap]), np.array([0.1]), 2.0)(along)[0])
        assert (np.diff(left) >= 0.0).all()
        halves.append(float(along[np.argmax(left >= 0.5 - 1e-9), 0]))
    np.testing.assert_allclose(halves, [0.0, 0.0, 0.25, 0.5], atol=1e-12)


@pytest.mark.parametrize("gap", [-0.4, 0.0, 0.9])
@pytest.mark.parametrize("std", [0.01, 0.5])
def test_the_gradient_is_a_central_difference(gap: float, std: float) -> None:
    rng = np.random.default_rng(2)
    penalty = LipschitzPenalty(rng.random((3, 2)), np.full(3, gap), np.full(3, std), 2.0)
    X = rng.random((10, 2))
    gradient = penalty(X)[1]
    for column, step in enumerate(1e-6 * np.eye(2)):
        difference = (penalty(X + step)[0] - penalty(X - step)[0]) / 2e-6
        np.testing.assert_allclose(gradient[:, column], difference, rtol=1e-6, atol=1e-6)


def test_at_the_tip_of_a_cone_the_gradient_is_that_of_the_others() -> None:
    taken = np.array([[0.5, 0.5], [0.1, 0.2]])
    both = LipschitzPenalty(taken, np.array([0.1, 0.2]), np.array([0.3, 0.3]), 2.0)
    other = LipschitzPenalty(taken[1:], np.array([0.2]), np.array([0.3]), 2.0)
    value, gradient = both(taken[:1])
    np.testing.assert_allclose(gradient, other(taken[:1])[1], rtol=1e-12)
    assert np.isfinite(value).all()


@pytest.mark.parametrize("std", [1e-9, 1e-12])
def test_a_point_that_is_known_exactly_makes_a_wall_without_nan(std: float) -> None:
    penalty = LipschitzPenalty(np.zeros((1, 1)), np.array([0.5]), np.array([std]), 1.0)
    value, gradient = penalty(np.array([[0.0], [0.2], [0.7], [1.0]]))
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()
    assert (value[:2] < -1e15).all()
    np.testing.assert_array_equal(value[2:], 0.0)
    assert gradient[1, 0] > 0.0


# The Lipschitz constant


@dataclass(frozen=True)
class Known:
    """A mean with a gradient that is known: f(x) = height sin(2π x_1) / 2π + tilt x_2."""

    height: float = 1.0
    tilt: float = 0.0
    std: float = 0.3

    def predict(self, X: Array) -> Prediction:
        mean = self.height * np.sin(2.0 * np.pi * X[:, 0]) / (2.0 * np.pi) + self.tilt * X[:, 1]
        return Prediction(mean, np.full(len(X), self.std))

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = self.predict(X)
        by_x = np.stack([self.height * np.cos(2.0 * np.pi * X[:, 0]), np.full(len(X), self.tilt)], axis=1)
        return PredictionGradient(at.mean, at.std, by_x, np.zeros_like(X))


@pytest.mark.parametrize(("height", "tilt"), [(3.0, 0.0), (3.0, 4.0), (0.0, 2.0)])
def test_the_climb_reaches_the_steepest_place(height: float, tilt: float) -> None:
    # |∇μ| is largest at x_1 = 0, ½ and 1; the screen begins away from them.
    X = np.array([[0.37, 0.5], [0.22, 0.1]])
    found = steepest_slope(Known(height, tilt), Box.cube(2), X, scale=2.0)
    np.testing.assert_allclose(found, np.hypot(height, tilt) / 2.0, rtol=1e-4)


@each("d", [1, 2, 6])
@each("seed", [0, 1, 2])
def test_the_estimate_is_no_less_than_at_any_of_many_points(d: int, seed: int) -> None:
    data = data_for(d, 12, seed)
    model = model_of(data)
    found = estimate(request_for(data, model))
    X = np.vstack([np.random.default_rng(9).random((4000, d)), data.X])
    slopes = np.sqrt((model.predict_with_gradient(X).mean_gradient ** 2).sum(axis=1))
    assert found >= slopes[-12:].max()
    assert found >= 0.999 * slopes.max()


def test_the_estimate_is_in_the_units_of_y_and_the_same_for_every_trial() -> None:
    data = data_for()
    request = request_for(data, model_of(data))
    one = estimate(request)
    assert estimate(replace(request, ids=(99,))) == one
    for power in (40, -40):
        units = Data(data.X, frozen(data.y * 2.0**power))
        assert estimate(request_for(units, model_of(units))) == one * 2.0**power


def test_the_estimate_is_that_of_the_region_alone() -> None:
    # cos is at most ½ in size for x_1 in [1/6, 1/3], and the data lie elsewhere.
    data = Data(frozen([[0.25, 0.0], [0.25, 1.0]]), frozen([0.0, 1.0]))
    region = Box(frozen([1.0 / 6.0, 0.0]), frozen([1.0 / 3.0, 1.0]))
    found = estimate(request_for(data, Known(height=8.0), region=region))
    np.testing.assert_allclose(found, 4.0, rtol=1e-6)


@pytest.mark.parametrize("y", [0.0, 5.0, -3e12, 1e-12])
def test_a_flat_mean_still_clears_a_ball(y: float) -> None:
    data = Data(data_for().X, frozen(np.full(8, y)))
    model = model_of(data)
    np.testing.assert_allclose(estimate(request_for(data, model)), (abs(y) or 1.0) / np.sqrt(2.0), rtol=1e-12)
    assert least_distance(points(LipschitzPenalization(), request_for(data, model, maximizer=None))) > 0.1


def test_many_data_are_thinned_before_the_screen() -> None:
    screened: list[int] = []

    @dataclass(frozen=True)
    class Counting(Known):
        def predict_with_gradient(self, X: Array) -> PredictionGradient:
            screened.append(len(X))
            return Known.predict_with_gradient(self, X)

    data = data_for(2, 1000)
    estimate(request_for(data, Counting()))
    assert screened[0] == 256 + 250


# The strategy


def test_the_constant_that_was_given_is_used_in_the_units_of_y() -> None:
    data = data_for()
    model = model_of(data)
    request = request_for(data, model)
    given = LipschitzPenalization(estimate(request))
    np.testing.assert_array_equal(points(given, request), points(LipschitzPenalization(), request))
    assert not np.array_equal(points(LipschitzPenalization(1e-3), request), points(given, request))


def test_a_pending_point_expected_to_be_bad_keeps_the_batch_out_of_its_ball() -> None:
    # Known values: 1 at the pending point 0.5, and at best 0: with L = 4 nothing within 0.25 of it can be a minimum.
    data = Data(frozen([[0.0], [1.0]]), frozen([0.0, 0.2]))
    wall = Bump()
    request = request_for(data, wall, maximizer=Candidates(candidates=128, neighbors=8, rounds=3))
    held = request.with_first(pending=Pending((4,), frozen([[0.5]])))
    held = replace(held, avoid=np.vstack([data.X, [[0.5]]]))
    assert (np.abs(points(LipschitzPenalization(4.0), held) - 0.5) > 0.24).all()
    assert (np.abs(points(LipschitzPenalization(1e3), held) - 0.5) < 0.24).any()


@dataclass(frozen=True)
class Bump:
    """Sure of 1 at x = 0.5 and of 0 elsewhere; most uncertain near 0.5."""

    def predict(self, X: Array) -> Prediction:
        away = np.abs(X[:, 0] - 0.5)
        return Prediction(np.where(away < 1e-12, 1.0, 0.0), np.where(away < 1e-12, 1e-6, 1.0 - away))


@pytest.mark.parametrize("std", [1e-9, 1e-100])
def test_a_model_that_is_sure_everywhere_still_gives_distinct_points(std: float) -> None:
    request = request_for(data_for(), Known(2.0, 1.0, std), acquisition=UCB())
    assert least_distance(points(LipschitzPenalization(), request)) > 1e-6


@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_what_is_maximized_is_log_ei_and_the_penalty_and_with_noise_the_least_mean_is_to_beat(noise: float) -> None:
    data = data_for()
    model = model_of(data, noise)
    request = request_for(data, model, ids=(20,)).with_first(pending=Pending((4,), frozen([[0.5, 0.5]])))
    best = float(data.y.min()) if noise < 0.1 else float(model.predict(data.X).mean.min())
    at = model.predict(request.pending.X)
    penalty = LipschitzPenalty(request.pending.X, at.mean - best, at.std, estimate(request))
    objective = Penalized(PointwiseObjective(LogEI(), model, best), penalty)
    by_hand = pick(objective, request, 20, best_places(request), request.avoid)
    np.testing.assert_array_equal(points(LipschitzPenalization(), request), by_hand.x[None, :])


def test_discrete_columns_are_climbed_as_part_of_the_box() -> None:
    region = Box(frozen(np.zeros(2)), frozen(np.ones(2)), (Block(1, 2, frozen([[0.0], [1.0]]), True),))
    data = data_for()
    assert estimate(request_for(data, Known(3.0, 4.0), region=region)) == pytest.approx(5.0, rel=1e-4)


@dataclass(frozen=True)
class OnlyPredicts:
    def predict(self, X: Array) -> Prediction:
        return Prediction(X.sum(axis=1), np.ones(len(X)))


def test_a_model_without_gradients_is_refused_and_the_way_out_is_named() -> None:
    rule = r"lp_lipschitz needs a model that gives gradients .* OnlyPredicts is not one\. Or use LipschitzPenal"
    with pytest.raises(MissingCapability, match=rule):
        LipschitzPenalization().choose(request_for(data_for(), OnlyPredicts()))


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (0.0, "lipschitz must be above zero, or None to estimate it; got 0.0"),
        (-2, "lipschitz must be above zero"),
        (float("inf"), "lipschitz must be a finite number; got inf"),
        ("steep", "lipschitz must be a finite number; got 'steep'"),
    ],
)
def test_settings_that_break_a_rule_are_refused(value: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        LipschitzPenalization(value)
