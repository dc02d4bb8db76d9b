from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from batch_requests import (
    FAST,
    assert_hands_out_every_cell,
    assert_new_and_allowed_in_a_mixed_space,
    assert_three_new_points_for_any_size_of_y,
    data_for,
    model_of,
    pending,
    points,
    request_for,
)
from each import each
from test_relevance import LINE, PLANE, TABLE

from believer import Optimizer, Space
from believer.acquisitions import UCB, PointwiseObjective
from believer.arrays import Array, frozen, near_any
from believer.batch import Data, PseudoObservations, Request, Strategy
from believer.batch.hallucination import GPBUCB, UCBPE, BatchUCB, Hallucination, hallucinated
from believer.batch.relevance import relevance
from believer.batch.schedules import LogBeta, TheoryBeta, beta_at
from believer.errors import InvalidInput, MissingCapability
from believer.space.box import Block, Box
from believer.surrogates import GPModel
from believer.surrogates.protocols import Prediction
from believer.testing import FakeSurrogate

MEMBERS: list[Strategy] = [GPBUCB(), GPBUCB(2.0), GPBUCB(TheoryBeta()), UCBPE(), UCBPE(2.0), UCBPE(0.05)]
every_member = each("member", MEMBERS, ids=repr)


def asked(d: int = 2, n: int = 12, seed: int = 0, noise: float = 1e-6) -> Request:
    data = data_for(d, n, seed)
    return request_for(data=data, model=model_of(data, noise), maximizer=None)


# Hallucinated results


class Stubborn:
    """Cannot be conditioned."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(X[:, 0], np.ones(len(X)))


def test_the_std_is_that_of_the_joint_posterior_and_the_mean_stays() -> None:
    request = asked(noise=0.05)
    model = request.model
    assert isinstance(model, GPModel)
    X, at = np.random.default_rng(4).random((3, 2)), PLANE[::101]
    given = hallucinated(request, "gp_bucb").conditioned(X)
    joint = model.joint(np.vstack([X, at])).covariance
    noisy = joint[:3, :3] + 0.05 * model.scale**2 * np.eye(3)
    left = np.diagonal(joint)[3:] - np.einsum("im,im->m", joint[:3, 3:], np.linalg.solve(noisy, joint[:3, 3:]))
    np.testing.assert_allclose(given.model.predict(at).std ** 2, left, rtol=1e-8)
    np.testing.assert_allclose(given.model.predict(at).mean, model.predict(at).mean, rtol=1e-9)
    np.testing.assert_array_equal(given.y, [model.predict(x[None, :]).mean[0] for x in X])


def test_the_batch_bound_of_a_process_is_ucb_on_the_conditioned_one() -> None:
    given = hallucinated(asked(), "gp_bucb").conditioned(np.random.default_rng(4).random((3, 2)))
    two, one = BatchUCB(UCB(3.0), given), PointwiseObjective(UCB(3.0), given.model, 0.0)
    X = np.random.default_rng(5).random((20, 2))
    np.testing.assert_allclose(two.value(X), one.value(X), rtol=1e-9)
    for ours, known in zip(two.value_with_gradient(X), one.value_with_gradient(X), strict=True):
        np.testing.assert_allclose(ours, known, rtol=1e-7, atol=1e-8)


def test_a_model_whose_mean_moves_when_given_of_it_keeps_the_mean_of_real_results() -> None:
    data = data_for()
    model = FakeSurrogate().fit(data, np.random.default_rng(0))
    given = hallucinated(request_for(data=data, model=model), "gp_bucb").conditioned(np.array([[0.5, 0.5]]))
    at = np.array([[0.52, 0.5], [0.1, 0.1]])
    assert abs(given.model.predict(at).mean[0] - model.predict(at).mean[0]) > 1e-3
    expected = -model.predict(at).mean + np.sqrt(2.0) * given.model.predict(at).std
    np.testing.assert_allclose(BatchUCB(UCB(2.0), given).value(at), expected)


@pytest.mark.parametrize(("member", "name"), [(GPBUCB(), "gp_bucb"), (UCBPE(), "ucb_pe")])
def test_a_model_that_cannot_be_conditioned_is_refused_by_name(member: Strategy, name: str) -> None:
    with pytest.raises(MissingCapability, match=f"{name} needs a model that can be conditioned"):
        member.choose(request_for(model=Stubborn()))


# What is chosen, against a grid


@each("d", [1, 2])
@each("seed", [0, 1, 2])
@each("noise", [1e-6, 0.05])
def test_every_point_of_gp_bucb_has_the_best_bound_of_all(d: int, seed: int, noise: float) -> None:
    # With noise the best point may well be one of the batch, to be taken again.
    request = replace(asked(d, 8, seed, noise), distinct=False, avoid=np.zeros((0, d)))
    X = points(GPBUCB(2.0).choose(request))
    for i in range(3):
        objective = BatchUCB(UCB(2.0), hallucinated(request, "gp_bucb").conditioned(X[:i]))
        best = objective.value(LINE if d == 1 else PLANE).max()
        # A climb rests when a step gains less than 1e-6 of the value.
        assert objective.value(X[[i]])[0] >= best - 1e-5 * abs(best)


@each("d", [1, 2])
@each("seed", [0, 1, 2, 3])
@each("beta", [0.1, 0.5, 3.0])
def test_the_further_points_of_ucb_pe_are_the_least_known_of_the_relevant_ones(d: int, seed: int, beta: float) -> None:
    request = asked(d, 8 * d, seed)
    chosen = UCBPE(beta).choose(request)
    X, where = points(chosen), relevance(request, beta)
    grid = LINE if d == 1 else PLANE
    grid = grid[where.holds(grid)]
    for i in (1, 2):
        given = hallucinated(request, "ucb_pe").conditioned(X[:i]).model
        assert where.holds(X[[i]])[0]
        assert given.predict(X[[i]]).std[0] >= (1.0 - 1e-3) * given.predict(grid).std.max(initial=0.0)


def test_gp_bucb_is_kriging_believer_with_ucb() -> None:
    request = asked()
    ours = points(GPBUCB(2.0).choose(request))
    believer = PseudoObservations().choose(replace(request, acquisition=UCB(2.0)))
    np.testing.assert_allclose(ours, points(believer), atol=1e-5)


def test_the_first_point_of_ucb_pe_is_that_of_gp_bucb_and_the_second_is_not() -> None:
    request = asked()
    one, two = points(UCBPE(2.0).choose(request)), points(GPBUCB(2.0).choose(request))
    np.testing.assert_array_equal(one[0], two[0])
    assert np.abs(one[1] - two[1]).max() > 1e-3


# Batches and pending points


@every_member
@each("distinct", [True, False])
def test_choosing_at_once_is_choosing_one_at_a_time_with_the_rest_pending(member: Strategy, distinct: bool) -> None:
    request = request_for(distinct=distinct)
    at_once = member.choose(request)
    X = points(at_once)
    for i, trial in enumerate(request.ids):
        alone = member.choose(pending(replace(request, ids=(trial,)), request.ids[:i], X[:i]))
        np.testing.assert_array_equal(points(alone), X[i : i + 1])
        assert alone.choices[0].provenance == at_once.choices[i].provenance


@every_member
def test_the_same_request_gives_the_same_bits(member: Strategy) -> None:
    request = request_for()
    one, two = member.choose(request), member.choose(request)
    np.testing.assert_array_equal(points(one), points(two))
    assert not one.choices[0].x.flags.writeable


def test_provenance_says_by_what_rule_and_after_what() -> None:
    request = asked()
    assert [choice.provenance for choice in GPBUCB(3.2).choose(request).choices] == [
        "chosen at UCB (β = 3.2) rank 1",
        "chosen at UCB (β = 3.2) rank 1 after hallucinating 1 point",
        "chosen at UCB (β = 3.2) rank 1 after hallucinating 2 points",
    ]
    where = relevance(request, 0.5).describe()
    assert re.fullmatch(r"the relevant region \(\d+ % of the space\)", where)
    assert [choice.provenance for choice in UCBPE(0.5).choose(request).choices] == [
        "chosen at UCB (β = 0.5) rank 1",
        f"chosen at posterior std rank 1 in {where} after hallucinating 1 point",
        f"chosen at posterior std rank 1 in {where} after hallucinating 2 points",
    ]


def test_a_pending_point_counts_as_an_earlier_point_of_the_batch() -> None:
    request = pending(request_for((21,)), (20,), np.array([[0.5, 0.5]]))
    assert "posterior std rank 1" in UCBPE().choose(request).choices[0].provenance
    assert GPBUCB().choose(request).choices[0].provenance.endswith("rank 1 after hallucinating 1 point")


# Hard spaces and data


@every_member
def test_a_finite_space_is_handed_out_to_its_last_cell(member: Strategy) -> None:
    assert_hands_out_every_cell(member, TABLE)


def test_where_nothing_relevant_is_new_the_bound_decides_and_provenance_says_so() -> None:
    cells = TABLE.points()
    data = Data(frozen(cells[[0, 2, 5, 7, 9, 10]]), frozen(np.array([9.0, 9.0, 0.0, 1.0, 9.0, 9.0])))
    request = request_for(tuple(range(20, 26)), data, model=model_of(data, lengthscale=0.5), region=TABLE)
    chosen, where = UCBPE(0.5).choose(request), relevance(request, 0.5)
    relevant = where.holds(points(chosen))
    assert 1 < relevant.sum() < 6
    for i, choice in enumerate(chosen.choices[1:], start=1):
        fallen_back = "no new point of the relevant region was found" in choice.provenance
        assert fallen_back == (not relevant[i]) == ("UCB (β = 0.5)" in choice.provenance)
        if fallen_back:
            objective = BatchUCB(UCB(0.5), hallucinated(request, "ucb_pe").conditioned(points(chosen)[:i]))
            new = cells[~near_any(cells, np.vstack([data.X, points(chosen)[:i]]))]
            assert objective.value(points(chosen)[[i]])[0] == pytest.approx(objective.value(new).max(), rel=1e-9)


def tiny() -> Request:
    """Data so dense that draws from the whole space miss what is relevant."""
    X = np.linspace(0.0, 1.0, 40)[:, None]
    data = Data(frozen(X), frozen((X[:, 0] - 0.31) ** 2))
    return request_for(data=data, model=model_of(data, lengthscale=1.0), maximizer=None)


def test_a_relevant_region_that_draws_miss_is_still_found() -> None:
    request = tiny()
    where = relevance(request, 1e-3)
    assert where.share < 0.01
    chosen = UCBPE(1e-3).choose(request)
    for choice in chosen.choices[1:]:
        assert where.holds(choice.x[None, :])[0]
        assert "(under 1 % of the space)" in choice.provenance


@every_member
@each("scale", [0.0, 1e-12, 1e12])
def test_a_constant_y_and_any_size_of_it_give_three_new_points(member: Strategy, scale: float) -> None:
    assert_three_new_points_for_any_size_of_y(member, scale)


@every_member
def test_mixed_spaces_with_a_constraint_get_new_points_that_are_allowed(member: Strategy) -> None:
    assert_new_and_allowed_in_a_mixed_space(member)


def test_one_result_is_enough_for_fifty_points() -> None:
    optimizer = Optimizer(Space.cube(1), strategy=UCBPE(), n_init=1, seed=0, maximizer=FAST)
    optimizer.observe({"x0": 0.3}, 1.0)
    assert len({trial.params["x0"] for trial in optimizer.ask(50)}) == 50


# β


def test_beta_follows_the_formulas() -> None:
    cube, d, t = Box.cube(3), 3, 7
    assert LogBeta().beta(t, cube) == pytest.approx(0.2 * d * np.log(2 * t))
    slope = 2.0 * np.sqrt(np.log(4 * d * 1.5 / 0.05))
    theorem_2 = 2 * np.log(t**2 * 2 * np.pi**2 / (3 * 0.05)) + 2 * d * np.log(t**2 * d * slope)
    assert TheoryBeta(0.05, scale=1.0, a=1.5, b=2.0).beta(t, cube) == pytest.approx(theorem_2)
    mixed = Box(frozen(np.zeros(3)), frozen(np.ones(3)), (Block(2, 3, frozen(np.eye(5)[:, :1]), ordered=False),))
    slope = np.sqrt(np.log(4 * 2 / 0.1))
    theorem_2 = 2 * np.log(5 * t**2 * 2 * np.pi**2 / (3 * 0.1)) + 2 * 2 * np.log(t**2 * 2 * slope)
    assert TheoryBeta(scale=1.0).beta(t, mixed) == pytest.approx(theorem_2)
    theorem_1 = 2 * np.log(12 * t**2 * np.pi**2 / (6 * 0.1))
    assert TheoryBeta(scale=1.0).beta(t, TABLE) == pytest.approx(theorem_1)
    assert TheoryBeta(scale=0.5, C=0.3).beta(t, TABLE) == pytest.approx(0.5 * np.exp(0.6) * theorem_1)
    assert LogBeta(0.1).beta(t, TABLE) == pytest.approx(0.1 * 2 * np.log(2 * t))
    assert beta_at(3, t, cube) == 3.0


def test_beta_moves_with_results_only() -> None:
    request = request_for()
    n = len(request.data.y)
    expected = f"UCB (β = {LogBeta(0.2).beta(n + 1, request.region):.3g})"
    waiting = pending(replace(request, ids=(22,)), (20, 21), np.array([[0.5, 0.5], [0.1, 0.9]]))
    for asked_for in (request, waiting):
        assert all(expected in choice.provenance for choice in GPBUCB(LogBeta(0.2)).choose(asked_for).choices)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "log", None, LogBeta, True])
def test_a_beta_that_is_none_is_refused(bad: object) -> None:
    for member in (GPBUCB, UCBPE):
        with pytest.raises(InvalidInput, match="beta"):
            member(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"delta": 0.0}, {"delta": 1.0}, {"scale": -1.0}, {"C": -0.1}, {"a": 0.0}, {"b": -1.0}])
def test_constants_of_the_theory_that_make_no_sense_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        TheoryBeta(**bad)


def test_a_scale_below_zero_is_refused() -> None:
    with pytest.raises(InvalidInput, match="scale must be zero or more"):
        LogBeta(-0.1)


def test_hallucinating_nothing_changes_nothing() -> None:
    given = hallucinated(asked(), "gp_bucb")
    none: Array = np.zeros((0, 2))
    assert isinstance(given, Hallucination)
    assert given.conditioned(none) is given
    assert given.after() == ""


def test_numbers_of_numpy_are_numbers() -> None:
    request = request_for((20, 21))
    numbers: list[Any] = [np.int64(2), np.float64(2.0)]
    for number in numbers:
        np.testing.assert_array_equal(points(GPBUCB(number).choose(request)), points(GPBUCB(2.0).choose(request)))
