from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from batch_requests import (
    FAST,
    assert_hands_out_every_cell,
    assert_new_and_allowed_in_a_mixed_space,
    assert_three_new_points_for_any_size_of_y,
    data_for,
    pending,
    points,
    request_for,
)
from each import each
from test_hallucination import asked
from test_relevance import LINE, PLANE, TABLE

from believer.acquisitions import UCB
from believer.arrays import Array
from believer.batch import PseudoObservations
from believer.batch.dpp import DPP, k_dpp
from believer.batch.hallucination import UCBPE, hallucinated
from believer.batch.relevance import relevance
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates import GPModel
from believer.surrogates.data import Data
from believer.testing import FakeSurrogate

MEMBERS = [DPP(), DPP(beta=2.0), DPP(sweeps=0), DPP("sample"), DPP("sample", beta=2.0)]
every_member = each("member", MEMBERS, ids=repr)


@every_member
def test_the_first_point_is_the_believers(member: DPP) -> None:
    request = replace(request_for(), acquisition=UCB(1.0))
    waiting = pending(request, (18, 19), np.array([[0.2, 0.4], [0.9, 0.9]]))
    for asked_for in (request, waiting):
        believer = PseudoObservations().choose(replace(asked_for, ids=(20,))).choices[0]
        for ids in ((20,), (20, 21, 22)):
            first = member.choose(replace(asked_for, ids=ids)).choices[0]
            np.testing.assert_array_equal(first.x, believer.x)
            assert first.provenance == believer.provenance


def test_greedy_alone_is_pure_exploration() -> None:
    request = request_for(tuple(range(20, 25)))
    greedy = DPP(beta=0.5, sweeps=0).choose(request)
    x = points(greedy)[:1]
    explored = UCBPE(0.5).choose(pending(replace(request, ids=request.ids[1:]), request.ids[:1], x))
    np.testing.assert_array_equal(points(greedy)[1:], points(explored))
    assert [c.provenance for c in greedy.choices[1:]] == [c.provenance for c in explored.choices]


def log_determinant(model: GPModel, X: Array) -> float:
    """log det (Σ + σ_n² I) of a batch ``X`` (q, d)."""
    noise = model.scale**2 * model.hyper.noise
    return float(np.linalg.slogdet(model.joint(X).covariance + noise * np.eye(len(X)))[1])


def log_chain(model: GPModel, X: Array) -> float:
    """Σ_j log(σ_j² + σ_n²), each variance after the points before it."""
    noise, total = model.scale**2 * model.hyper.noise, 0.0
    for x in X[:, None, :]:
        at = model.predict(x)
        total += float(np.log(at.std[0] ** 2 + noise))
        model = model.condition(Data(x, at.mean))
    return total


@pytest.mark.parametrize("noise", [1e-6, 0.05])
def test_the_determinant_is_the_product_of_variances_one_after_another(noise: float) -> None:
    request = asked(noise=noise)
    X = points(DPP().choose(request))
    assert isinstance(request.model, GPModel)
    for order in ([0, 1, 2], [2, 0, 1]):
        assert log_chain(request.model, X[order]) == pytest.approx(log_determinant(request.model, X), rel=1e-9)


def test_exchanges_never_lower_the_determinant_and_mostly_raise_it() -> None:
    gains = []
    for seed in range(4):
        request = replace(asked(1 + seed % 2, 4, seed, noise=1e-3), ids=tuple(range(20, 27)), maximizer=FAST)
        assert isinstance(request.model, GPModel)
        greedy, swept = (points(DPP(beta=3.0, sweeps=sweeps).choose(request)) for sweeps in (0, 4))
        np.testing.assert_array_equal(greedy[0], swept[0])
        gains.append(log_determinant(request.model, swept) - log_determinant(request.model, greedy))
    assert min(gains) >= -1e-9
    assert sum(gain > 1e-3 for gain in gains) >= 3


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_relevant_point_of_a_grid_would_be_better_in_place_of_one(d: int, seed: int) -> None:
    request = asked(d, 8, seed)
    chosen = DPP(beta=1.0, sweeps=20).choose(request)
    X, where = points(chosen), relevance(request, 1.0)
    grid = LINE if d == 1 else PLANE
    grid = grid[where.holds(grid)]
    for j in (1, 2):
        given = hallucinated(request, "dpp").conditioned(np.delete(X, j, axis=0)).model
        assert where.holds(X[[j]])[0]
        # An exchange is worth it from one percent on.
        assert given.predict(X[[j]]).std[0] >= (1.0 - 1e-2) * given.predict(grid).std.max(initial=0.0)


def test_provenance_tells_the_greedy_the_exchanged_and_the_drawn() -> None:
    request = replace(asked(1, 3, seed=1, noise=1e-3), ids=tuple(range(20, 24)), maximizer=FAST)
    where = relevance(request, 2.0).describe()
    said = [choice.provenance for choice in DPP(beta=2.0).choose(request).choices[1:]]
    exchanged = f"chosen at posterior std rank 1 in {where} given all other points of the batch"
    assert exchanged in said
    for i, words in enumerate(said, start=1):
        greedy = f"chosen at posterior std rank 1 in {where} after hallucinating {i} point{'s' if i > 1 else ''}"
        assert words in (exchanged, greedy)
    for choice in DPP("sample", beta=2.0).choose(request).choices[1:]:
        assert choice.provenance.startswith("drawn from a DPP over ")
        assert choice.provenance.endswith(f" points of {where} after hallucinating 1 point")


@every_member
def test_the_same_request_gives_the_same_bits(member: DPP) -> None:
    request = pending(request_for(), (19,), np.array([[0.2, 0.4]]))
    one, two = member.choose(request), member.choose(request)
    np.testing.assert_array_equal(points(one), points(two))
    assert all(not choice.x.flags.writeable for choice in one.choices)


@every_member
def test_a_finite_space_is_handed_out_to_its_last_cell(member: DPP) -> None:
    assert_hands_out_every_cell(member, TABLE)


@every_member
def test_mixed_spaces_with_a_constraint_get_new_points_that_are_allowed(member: DPP) -> None:
    assert_new_and_allowed_in_a_mixed_space(member)


@every_member
@each("scale", [0.0, 1e-12, 1e12])
def test_a_constant_y_and_any_size_of_it_give_three_new_points(member: DPP, scale: float) -> None:
    assert_three_new_points_for_any_size_of_y(member, scale)


# Draws


def test_sets_are_drawn_as_often_as_their_determinant_says() -> None:
    X = np.array([0.0, 0.15, 0.5, 0.6, 1.0])
    L = np.exp(-8.0 * (X[:, None] - X) ** 2) * np.outer([1.0, 2.0, 1.0, 1.0, 0.5], [1.0, 2.0, 1.0, 1.0, 0.5])
    rng = np.random.default_rng(0)
    draws = 1500
    for k in (1, 3):
        sets = list(combinations(range(5), k))
        weights = np.array([np.linalg.det(L[np.ix_(chosen, chosen)]) for chosen in sets])
        expected = draws * weights / weights.sum()
        drawn = [tuple(sorted(int(row) for row in k_dpp(L, k, rng))) for _ in range(draws)]
        seen = np.array([drawn.count(chosen) for chosen in sets])
        # Five standard deviations of a count; the seed is fixed.
        assert (np.abs(seen - expected) <= 5.0 * np.sqrt(expected) + 1.0).all()


def test_what_depends_on_each_other_is_not_drawn_together_and_all_can_be_drawn() -> None:
    L = np.eye(4)
    L[0, 1] = L[1, 0] = 1.0
    rng = np.random.default_rng(0)
    assert not any({0, 1} <= set(k_dpp(L, 3, rng).tolist()) for _ in range(200))
    B = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.3, 0.2, 1.0]])
    assert not any(set(k_dpp(B @ B.T, 3, rng).tolist()) == {0, 1, 2} for _ in range(200))
    assert sorted(k_dpp(np.eye(4) * 1e-24, 4, rng)) == [0, 1, 2, 3]
    # More points than the covariance has rank: still that many different rows.
    assert len(set(k_dpp(np.ones((6, 6)), 5, rng).tolist())) == 5


def test_drawn_points_are_relevant_and_not_those_of_the_maximum() -> None:
    request = asked()
    where = relevance(request, 0.5)
    drawn = points(DPP("sample", beta=0.5).choose(request))[1:]
    assert where.holds(drawn).all()
    assert np.abs(drawn - points(DPP(beta=0.5).choose(request))[1:]).max() > 1e-3


# Refusals


@pytest.mark.parametrize("bad", [{"mode": "best"}, {"beta": -1.0}, {"sweeps": -1}, {"sweeps": 1.5}])
def test_settings_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        DPP(**bad)  # type: ignore[arg-type]


def test_a_model_without_covariances_is_refused_by_name() -> None:
    data = data_for()
    model = FakeSurrogate().fit(data, np.random.default_rng(0))
    with pytest.raises(MissingCapability, match="dpp needs a model that gives joint covariances"):
        DPP().choose(request_for(data=data, model=model))
