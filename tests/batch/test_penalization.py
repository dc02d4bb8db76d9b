from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import batch_requests
import numpy as np
import pytest
from batch_requests import FAST, Nearest, Watching, data_for, pending, points, randomness
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint, Pointwise, PointwiseObjective
from believer.acquisitions.improvement import LogPI
from believer.arrays import Array, frozen, near_any
from believer.batch import STRATEGIES, Data, PseudoObservations, Request, Strategy
from believer.batch.lipschitz import LipschitzPenalization
from believer.batch.penalization import (
    GaussianPenalty,
    LocalPenalization,
    LogSoftplus,
    Penalized,
    log_positive,
    log_softplus,
)
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Candidates, Multistart
from believer.numerics import lbfgs
from believer.numerics.special import log_cdf
from believer.optimizer import Optimizer
from believer.space import Space
from believer.space.box import Block, Box
from believer.space.parameters import Categorical, Float, Int
from believer.surrogates.protocols import Model

MEMBERS: list[Strategy] = [
    LocalPenalization(),
    LocalPenalization("mean"),
    LocalPenalization("geometric"),
    LocalPenalization(radius=0.2),
    LipschitzPenalization(),
    LipschitzPenalization(4.0),
]
every_member = each("member", MEMBERS, ids=repr)


@dataclass(frozen=True)
class Doubt:
    """An acquisition that the library does not know, in no units: log σ, not finite where σ is small."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        known = std > 0.05
        return Pointwise(np.where(known, np.log(std), -np.inf), np.zeros_like(mean), 1.0 / std)


ACQUISITIONS: list[PerPoint] = [LogEI(), EI(0.01), PI(0.01), UCB(), Doubt()]
every_acquisition = each("acquisition", ACQUISITIONS, ids=repr)


model_of = partial(batch_requests.model_of, lengthscale=(0.3, 0.5))


def request_for(ids: tuple[int, ...] = (20, 21, 22), data: Data | None = None, **changes: Any) -> Request:
    """A request whose model has a lengthscale of its own in each direction."""
    data = data if data is not None else data_for()
    return batch_requests.request_for(ids, data, **{"model": model_of(data), **changes})


def least_distance(X: Array) -> float:
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    return float(gaps[np.triu_indices(len(X), 1)].min())


# The Gaussian penalty


def test_the_penalty_is_the_product_of_the_papers_over_all_points() -> None:
    rng = np.random.default_rng(0)
    X, taken, scales = rng.random((30, 3)), rng.random((4, 3)), np.array([0.2, 0.7, 1.5])
    product = np.ones(30)
    for x_j in taken:
        product *= 1.0 - np.exp(-0.5 * (((X - x_j) / scales) ** 2).sum(axis=1))
    np.testing.assert_allclose(np.exp(GaussianPenalty(taken, scales)(X)[0]), product, rtol=1e-12)


@given(exponent=st.floats(-150.0, -3.0))
@settings(max_examples=30)
def test_the_penalty_is_accurate_next_to_a_point(exponent: float) -> None:
    r = 10.0**exponent
    value, gradient = GaussianPenalty(np.zeros((1, 1)), np.ones(1))(np.array([[r]]))
    # φ = t - t²/2 + ..., t = r²/2, and d log φ / dr = 2/r - r/2 + ...
    np.testing.assert_allclose(value, 2.0 * math.log(r) - math.log(2.0) - r * r / 4.0, rtol=1e-12)
    np.testing.assert_allclose(gradient, [[2.0 / r - r / 2.0]], rtol=1e-11)


def test_the_penalty_is_accurate_far_away_and_ends_as_nothing() -> None:
    r = np.array([6.0, 8.0, 40.0, 1e5])
    value, gradient = GaussianPenalty(np.zeros((1, 1)), np.ones(1))(r[:, None])
    left = np.array([math.exp(-0.5 * x * x) for x in r])
    np.testing.assert_allclose(value, np.log1p(-left), rtol=1e-7, atol=1e-16)
    np.testing.assert_allclose(gradient[:, 0], r * left, rtol=1e-7)


def test_at_a_point_itself_the_value_is_as_good_as_none_and_nothing_is_nan() -> None:
    taken = np.array([[0.5, 0.5], [0.2, 0.9]])
    value, gradient = GaussianPenalty(taken, np.array([0.3, 0.3]))(taken)
    assert (value < -700.0).all()
    assert np.isfinite(value).all()
    others, slope = GaussianPenalty(taken[1:], np.array([0.3, 0.3]))(taken[:1])
    np.testing.assert_allclose(gradient[0], slope[0], rtol=1e-12)
    assert others[0] > -1.0


def test_a_start_at_a_point_taken_is_left_for_a_better_one() -> None:
    request = request_for((20,), data_for(d=1, n=4), maximizer=None)
    x = points(LocalPenalization().choose(request))
    again = pending(replace(request, ids=(21,)), (20,), x)
    assert abs(points(LocalPenalization().choose(again))[0, 0] - x[0, 0]) > 0.1


# Positive acquisitions


@given(u=st.floats(-50.0, 50.0) | st.floats(-1e6, 1e6))
@settings(max_examples=60)
@example(u=-37.1)
@example(u=-36.9)
def test_log_softplus_is_accurate_in_both_tails(u: float) -> None:
    value, slope = log_softplus(np.array([u]))
    if u < -30.0:
        # log(w - w²/2 + ...), w = eᵘ
        expected, by_u = u - 0.5 * math.exp(u), 1.0 - 0.5 * math.exp(u)
    elif u > 30.0:
        expected, by_u = math.log(u), 1.0 / u
    else:
        softplus = math.log1p(math.exp(u))
        expected, by_u = math.log(softplus), 1.0 / (1.0 + math.exp(-u)) / softplus
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(slope, by_u, rtol=1e-13)


@given(z=st.floats(-1e9, 40.0))
@settings(max_examples=60)
def test_log_cdf_and_its_slope_are_accurate_in_both_tails(z: float) -> None:
    value, slope = log_cdf(np.array([z]))
    if z < -100.0:
        w = 1.0 / (z * z)
        expected = -0.5 * z * z - math.log(-z * math.sqrt(2.0 * math.pi)) + math.log1p(-w + 3.0 * w * w)
        by_z = -z * (1.0 + w - 2.0 * w * w)
    else:
        below = 0.5 * math.erfc(-z / math.sqrt(2.0))
        if below < 1e-300:
            return
        expected = math.log(below) if z < 0.0 else math.log1p(-0.5 * math.erfc(z / math.sqrt(2.0)))
        by_z = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) / below
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    np.testing.assert_allclose(slope, by_z, rtol=1e-11)


def test_ei_and_pi_are_taken_in_logs_that_never_underflow() -> None:
    request = request_for()
    near, far, std = np.array([4.9]), np.array([45.0]), np.array([0.5])
    for acquisition in (EI(0.01), PI(0.01)):
        logged = log_positive(PointwiseObjective(acquisition, request.model, 5.0), request)
        plain = acquisition.pointwise(near, std, 5.0).value
        np.testing.assert_allclose(np.exp(logged.pointwise(near, std, 5.0).value), plain, rtol=1e-13)
        assert acquisition.pointwise(far, std, 5.0).value == 0.0
        assert -3300.0 < logged.pointwise(far, std, 5.0).value[0] < -3190.0
    assert log_positive(PointwiseObjective(LogEI(0.3), request.model, 5.0), request) == LogEI(0.3)
    assert log_positive(PointwiseObjective(EI(0.3), request.model, 5.0), request) == LogEI(0.3)


def test_any_other_acquisition_goes_through_a_softplus_that_is_zero_at_the_best_known_point() -> None:
    request = request_for()
    positive = log_positive(PointwiseObjective(UCB(), request.model, 0.0), request)
    assert isinstance(positive, LogSoftplus)
    best = request.data.X[[int(np.argmin(request.data.y))]]
    np.testing.assert_allclose(positive.center, PointwiseObjective(UCB(), request.model, 0.0).value(best)[0], rtol=1e-3)
    spread = PointwiseObjective(UCB(), request.model, 0.0).value(np.random.default_rng(0).random((4000, 2)))
    np.testing.assert_allclose(positive.spread, np.abs(spread - np.median(spread)).mean(), rtol=0.1)
    mean, std = np.array([4.0, 5.0, 6.0]), np.array([0.5, 0.1, 0.9])
    u = (UCB().pointwise(mean, std, 0.0).value - positive.center) / positive.spread
    np.testing.assert_allclose(positive.pointwise(mean, std, 0.0).value, np.log(np.log1p(np.exp(u))), rtol=1e-12)


@pytest.mark.parametrize(
    "log_alpha", [LogPI(0.1), LogSoftplus(UCB(), -4.0, 0.3), LogSoftplus(EI(), 0.1, 0.3)], ids=repr
)
def test_derivatives_of_log_alpha_are_central_differences(log_alpha: PerPoint) -> None:
    mean, std = np.array([2.0, 4.9, 5.4, 9.0]), np.array([0.3, 0.05, 1.2, 0.4])
    at, h = log_alpha.pointwise(mean, std, 5.0), 1e-6
    by_mean = log_alpha.pointwise(mean + h, std, 5.0).value - log_alpha.pointwise(mean - h, std, 5.0).value
    by_std = log_alpha.pointwise(mean, std + h, 5.0).value - log_alpha.pointwise(mean, std - h, 5.0).value
    np.testing.assert_allclose(at.by_mean, by_mean / (2.0 * h), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(at.by_std, by_std / (2.0 * h), rtol=1e-6, atol=1e-8)


# The objective


@every_acquisition
def test_the_objective_is_log_alpha_and_the_log_of_every_penalty_with_its_gradient(acquisition: PerPoint) -> None:
    request = request_for(acquisition=acquisition)
    bound = PointwiseObjective(acquisition, request.model, float(request.data.y.min()))
    positive = PointwiseObjective(log_positive(bound, request), request.model, bound.incumbent)
    taken = np.array([[0.3, 0.6], [0.8, 0.1]])
    objective = Penalized(positive, GaussianPenalty(taken, request.model.lengthscales))  # type: ignore[attr-defined]
    X = np.random.default_rng(1).uniform(0.05, 0.95, (12, 2))
    X = X[np.isfinite(bound.value(X))]
    by_hand = positive.value(X)
    for x_j in taken:
        r2 = (((X - x_j) / np.array([0.3, 0.5])) ** 2).sum(axis=1)
        by_hand = by_hand + np.log(1.0 - np.exp(-0.5 * r2))
    value, gradient = objective.value_with_gradient(X)
    np.testing.assert_allclose(value, by_hand, rtol=1e-10)
    np.testing.assert_allclose(objective.value(X), value, rtol=1e-12)
    for column, step in enumerate(1e-6 * np.eye(2)):
        difference = (objective.value(X + step) - objective.value(X - step)) / 2e-6
        np.testing.assert_allclose(gradient[:, column], difference, rtol=1e-5, atol=1e-6)


def test_the_second_point_maximizes_ei_times_the_penalty_of_the_first() -> None:
    data = data_for(d=1, n=5)
    request = request_for((20, 21), data, model=model_of(data, lengthscale=0.15), maximizer=None)
    first, second = points(LocalPenalization().choose(request))[:, 0]
    grid = np.linspace(0.0, 1.0, 20_001)
    ei = PointwiseObjective(EI(), request.model, float(data.y.min()))
    product = ei.value(grid[:, None]) * (1.0 - np.exp(-0.5 * ((grid - first) / 0.15) ** 2))
    assert abs(second - grid[int(np.argmax(product))]) < 1e-3


@pytest.mark.parametrize(("kind", "one"), [("mean", 0.5), ("geometric", 0.4)])
def test_mean_and_geometric_use_one_number_for_all_columns(kind: str, one: float) -> None:
    data = data_for()
    request = request_for(data=data, model=model_of(data, lengthscale=(0.2, 0.8)))
    np.testing.assert_array_equal(
        points(LocalPenalization(kind).choose(request)), points(LocalPenalization(radius=one).choose(request))
    )
    assert not np.array_equal(
        points(LocalPenalization(kind).choose(request)), points(LocalPenalization().choose(request))
    )


# One at a time


@every_member
@every_acquisition
def test_with_nothing_taken_the_choice_is_that_of_kriging_believer(member: Strategy, acquisition: PerPoint) -> None:
    request = request_for((20,), acquisition=acquisition, maximizer=None)
    mine, kb = member.choose(request), STRATEGIES["kb"].choose(request)
    np.testing.assert_array_equal(points(mine), points(kb))
    assert mine.choices[0].provenance == kb.choices[0].provenance


@every_member
@each("acquisition", [LogEI(), UCB()], ids=repr)
@each("distinct", [True, False])
def test_choosing_at_once_is_choosing_one_at_a_time_with_the_rest_pending(
    member: Strategy, acquisition: PerPoint, distinct: bool
) -> None:
    request = pending(request_for(acquisition=acquisition, distinct=distinct), (4,), np.array([[0.5, 0.5]]))
    at_once = member.choose(request)
    X = points(at_once)
    for i, trial in enumerate(request.ids):
        ids, known = (4, *request.ids[:i]), np.vstack([[[0.5, 0.5]], X[:i]])
        before = replace(request, ids=(trial,), avoid=request_for().avoid)
        alone = member.choose(pending(before, ids, known))
        np.testing.assert_array_equal(points(alone), X[i : i + 1])
        assert alone.choices[0].provenance == at_once.choices[i].provenance


@every_member
def test_the_same_request_gives_the_same_bits_and_is_left_alone(member: Strategy) -> None:
    request = request_for()
    before = request.data.X.copy(), request.data.y.copy(), request.avoid.copy()
    one, two = member.choose(request), member.choose(request, memory="whatever")
    np.testing.assert_array_equal(points(one), points(two))
    for array, old in zip((request.data.X, request.data.y, request.avoid), before, strict=True):
        np.testing.assert_array_equal(array, old)
    assert not one.choices[0].x.flags.writeable


@every_member
def test_provenance_says_after_how_many_penalties(member: Strategy) -> None:
    words = [choice.provenance for choice in member.choose(request_for()).choices]
    assert words == [
        "chosen at LogEI rank 1",
        "chosen at LogEI rank 1 after penalizing 1 point",
        "chosen at LogEI rank 1 after penalizing 2 points",
    ]


@every_acquisition
def test_randomness_belongs_to_a_trial_or_to_the_study(acquisition: PerPoint) -> None:
    asked: set[tuple[int, str]] = set()

    def watched(trial: int, purpose: str) -> np.random.Generator:
        asked.add((trial, purpose))
        return randomness(trial, purpose)

    LocalPenalization().choose(request_for((30, 31), acquisition=acquisition, randomness=watched))
    study = {(0, "spread")} if isinstance(acquisition, UCB | Doubt) else set()
    assert asked == {(30, "maximize"), (31, "maximize")} | study


# What the penalty is for


@every_acquisition
def test_points_are_farther_apart_than_without_a_penalty(acquisition: PerPoint) -> None:
    request = request_for(acquisition=acquisition, maximizer=None)
    apart = least_distance(points(LocalPenalization().choose(request)))
    assert apart > 0.1
    assert apart > least_distance(points(PseudoObservations(update="none").choose(request)))


@every_member
def test_pending_points_are_penalized_as_those_of_the_batch(member: Strategy) -> None:
    request = request_for((20,), maximizer=None)
    free = points(member.choose(request))
    held = pending(request, (4,), free + 1e-3)
    assert np.abs(points(member.choose(held)) - free).max() > 5e-3


@pytest.mark.parametrize("acquisition", [LogEI(), EI(), PI(), UCB(), Doubt()], ids=repr)
def test_a_finite_space_with_repeats_allowed_goes_through_all_points_before_it_repeats(
    acquisition: PerPoint,
) -> None:
    grid = np.linspace(0.0, 1.0, 5)[:, None]
    region = Box(frozen(np.zeros(1)), frozen(np.ones(1)), (Block(0, 1, frozen(grid), True),))
    data = Data(frozen([[0.1], [0.6]]), frozen([1.0, 0.0]))
    request = request_for(
        tuple(range(10)), data, region=region, distinct=False, avoid=np.zeros((0, 1)), acquisition=acquisition
    )
    X = points(LocalPenalization(radius=0.2).choose(request))
    assert len(np.unique(X[:5])) == 5
    assert len(np.unique(X[5:])) == 5


MIXED = Box(
    frozen([0.0, 0.0, 0.0, 0.0]),
    frozen([1.0, 1.0, 1.0, 1.0]),
    (Block(1, 2, frozen([[0.0], [0.5], [1.0]]), True), Block(2, 4, frozen(np.eye(2)), False)),
    lambda X: X[:, 0] + X[:, 1] <= 1.5,
)


@every_member
@each("acquisition", [LogEI(), UCB()], ids=repr)
def test_mixed_regions_get_distinct_new_points_that_are_allowed(member: Strategy, acquisition: PerPoint) -> None:
    X = MIXED.spread(np.random.default_rng(0).random((10, 4)))
    data = Data(frozen(X), frozen(np.sin(5.0 * X[:, 0]) + X[:, 1] * X[:, 2]))
    request = request_for(tuple(range(10, 16)), data, region=MIXED, acquisition=acquisition)
    found = points(member.choose(request))
    np.testing.assert_array_equal(MIXED.project(found), found)
    assert MIXED.holds(found).all()
    assert not near_any(found, request.avoid).any()
    assert not any(near_any(found[i : i + 1], found[:i])[0] for i in range(1, 6))


@every_member
def test_a_finite_space_is_used_up_without_a_repeat(member: Strategy) -> None:
    grid = np.linspace(0.0, 1.0, 3)[:, None]
    region = Box(
        frozen(np.zeros(2)), frozen(np.ones(2)), (Block(0, 1, frozen(grid), True), Block(1, 2, frozen(grid), True))
    )
    X = region.points()[:4]
    data = Data(frozen(X), frozen(np.array([1.0, 3.0, 2.0, 0.5])))
    found = points(member.choose(request_for(tuple(range(5)), data, region=region)))
    assert len(np.unique(np.vstack([X, found]), axis=0)) == 9


# Units, and hard cases


@each("member", [LocalPenalization(), LipschitzPenalization()], ids=repr)
@each("acquisition", [LogEI(), EI(), PI(), UCB()], ids=repr)
@each("power", [40, -40])
def test_the_units_of_y_do_not_matter(member: Strategy, acquisition: PerPoint, power: int) -> None:
    data = data_for()
    # One point is pending: without a penalty, EI and UCB are climbed in their own units, by every strategy.
    plain = pending(request_for(data=data, acquisition=acquisition), (4,), np.array([[0.5, 0.5]]))
    units = Data(data.X, frozen(data.y * 2.0**power))
    scaled = plain.with_first(data=units, model=model_of(units))
    if isinstance(acquisition, PI | UCB):
        np.testing.assert_array_equal(points(member.choose(scaled)), points(member.choose(plain)))
        return
    # log EI moves by the log of the units, and a climb rests by a share of the value: let it go on to the top.
    to_the_top = replace(FAST, climb=lbfgs.Settings(max_rounds=200, gradient_tol=1e-8, value_tol=1e-15))
    found, wanted = (points(member.choose(replace(one, maximizer=to_the_top))) for one in (scaled, plain))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("offset", [1024.0, -1024.0])
def test_where_y_has_its_zero_does_not_matter_to_a_confidence_bound(offset: float) -> None:
    data = data_for()
    plain = request_for(data=data, acquisition=UCB(), maximizer=None)
    moved = Data(data.X, frozen(data.y + offset))
    there = plain.with_first(data=moved, model=model_of(moved))
    np.testing.assert_allclose(
        points(LocalPenalization().choose(there)), points(LocalPenalization().choose(plain)), rtol=0.0, atol=1e-4
    )


@every_member
@each("case", ["one", "constant", "zero", "duplicates", "line", "wide"])
@each("acquisition", [LogEI(), UCB()], ids=repr)
def test_hard_data_give_distinct_points_inside_the_cube(member: Strategy, case: str, acquisition: PerPoint) -> None:
    data = {
        "one": data_for(n=1),
        "constant": Data(data_for().X, frozen(np.full(8, 3e12))),
        "zero": Data(data_for().X, frozen(np.zeros(8))),
        "duplicates": Data(frozen(np.repeat(data_for().X, 3, axis=0)), frozen(np.repeat(data_for().y, 3))),
        "line": data_for(d=1, n=5),
        "wide": data_for(d=50, n=12),
    }[case]
    X = points(member.choose(request_for(data=data, acquisition=acquisition)))
    assert ((X >= 0.0) & (X <= 1.0)).all()
    assert least_distance(X) > 1e-6


@pytest.mark.parametrize("member", [LocalPenalization(), LipschitzPenalization()], ids=repr)
def test_a_hundred_points_are_distinct(member: Strategy) -> None:
    request = request_for(tuple(range(100)), maximizer=Multistart(starts=2, candidates=32, neighbors=2))
    assert least_distance(points(member.choose(request))) > 1e-6


@every_member
@each("noise", [1e-6, 0.3])
def test_the_incumbent_is_that_of_real_results_and_with_noise_the_least_mean_there(
    member: Strategy, noise: float
) -> None:
    data, watch = data_for(), Watching()
    model = model_of(data, noise=noise)
    member.choose(request_for(data=data, model=model, acquisition=watch))
    (seen,) = set(watch.seen)
    least = float(data.y.min()) if noise < 0.1 else float(model.predict(data.X).mean.min())
    assert seen == pytest.approx(least, rel=1e-12)  # predictions at other points beside these may round differently


@dataclass(frozen=True)
class NeverAgain:
    """A surrogate that must not be fitted."""

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Model:
        raise AssertionError("the model is never updated")


def plain_request(**changes: Any) -> Request:
    data = data_for()
    return request_for(data=data, surrogate=NeverAgain(), model=Nearest(data.X, data.y), maximizer=None, **changes)


@every_acquisition
@each("member", [LocalPenalization(radius=0.2), LipschitzPenalization(4.0)], ids=repr)
def test_a_model_that_only_predicts_is_enough_and_is_never_updated(member: Strategy, acquisition: PerPoint) -> None:
    request = plain_request(acquisition=acquisition)
    X = points(member.choose(request))
    assert least_distance(X) > 1e-3
    np.testing.assert_array_equal(X, points(member.choose(replace(request, maximizer=Candidates()))))


def test_a_model_without_lengthscales_is_refused_and_the_way_out_is_named() -> None:
    rule = r"lp needs a model that has lengthscales; Nearest is not one\. Or use LocalPenalization\(radius=0\.1\)"
    with pytest.raises(MissingCapability, match=rule):
        LocalPenalization().choose(plain_request())


def test_a_study_with_failures_and_all_kinds_of_parameters_gets_the_same_points_at_once_or_one_by_one() -> None:
    space = Space({"x": Float(-1.0, 2.0), "k": Int(1, 5), "c": Categorical(["a", "b", "c"])})

    def study(member: Strategy) -> Optimizer:
        optimizer = Optimizer(space, strategy=member, n_init=6, seed=1, maximize=True, maximizer=FAST)
        for i, trial in enumerate(optimizer.ask(6)):
            if i == 2:
                optimizer.tell(trial, error="no result")
            else:
                optimizer.tell(trial, trial.params["x"] - 0.3 * trial.params["k"] + (trial.params["c"] == "b"))
        return optimizer

    for member in (LocalPenalization(), LipschitzPenalization()):
        at_once, one_by_one = study(member), study(member)
        batch = [trial.params for trial in at_once.ask(4)]
        assert batch == [one_by_one.ask()[0].params for _ in range(4)]
        units = space.encode(batch)
        assert not any(near_any(units[i : i + 1], units[:i])[0] for i in range(1, 4))


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"lengthscale": "median"}, "lengthscale must be one of ard, mean, geometric; got 'median'"),
        ({"radius": 0.0}, "radius must be above zero, or None for the model's lengthscales; got 0.0"),
        ({"radius": -1}, "radius must be above zero"),
        ({"radius": float("nan")}, "radius must be a finite number; got nan"),
        ({"radius": "wide"}, "radius must be a finite number; got 'wide'"),
    ],
)
def test_settings_that_break_a_rule_are_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        LocalPenalization(**arguments)


def test_strategies_are_values() -> None:
    assert LocalPenalization() == LocalPenalization("ard")
    assert len(set(MEMBERS)) == len(MEMBERS)
