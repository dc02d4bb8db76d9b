from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from batch_requests import Nearest, data_for, model_of, pending, points, randomness, request_for
from each import each

from believer.acquisitions import UCB, LogEI, Pointwise, PointwiseObjective
from believer.arrays import SAME_POINT, Array, frozen, near_any
from believer.batch import (
    STRATEGIES,
    Believe,
    ConstantLie,
    Data,
    Fantasy,
    Lie,
    PseudoObservations,
    Request,
    Strategy,
)
from believer.batch.belief import Belief
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Candidates, FixedStarts, Multistart, Search
from believer.space.box import Block, Box
from believer.surrogates.kernels import KERNELS
from believer.surrogates.protocols import Model

pytestmark = pytest.mark.both_backends

LIES: list[Lie] = [
    Believe(),
    Believe(1.0),
    Believe(-1.0),
    ConstantLie("min"),
    ConstantLie("max"),
    ConstantLie("mean"),
    ConstantLie(3.5),
    Fantasy(),
    Fantasy(samples=4),
]
MEMBERS: list[PseudoObservations] = [
    *(PseudoObservations(lie) for lie in LIES),
    PseudoObservations(Believe(), incumbent="data"),
    PseudoObservations(Believe(), update="condition"),
    PseudoObservations(Believe(), hedge=2.0),
    PseudoObservations(ConstantLie("min"), hedge=1e-3),
    PseudoObservations(ConstantLie("max"), update="none"),
    PseudoObservations(Believe(), update="refit"),
    PseudoObservations(Fantasy(), update="refit", incumbent="data"),
    PseudoObservations(Fantasy(samples=2), update="refit", incumbent="data"),
    PseudoObservations(Fantasy(samples=3), update="none"),
]
every_member = each("member", MEMBERS, ids=repr)


# One at a time


@every_member
def test_a_batch_of_one_is_the_sequential_choice(member: PseudoObservations) -> None:
    request = request_for((20,), maximizer=None)
    best_three = request.data.X[np.argsort(request.data.y)[:3]]
    by_hand = Multistart().maximize(
        PointwiseObjective(LogEI(), request.model, float(request.data.y.min())),
        Search(request.region, best_three, request.avoid),
        randomness(20, "maximize"),
    )
    chosen = member.choose(request)
    np.testing.assert_array_equal(points(chosen), by_hand.x[None, :])
    assert chosen.choices[0].provenance == "chosen at LogEI rank 1"


@every_member
@each("distinct", [True, False])
def test_choosing_at_once_is_choosing_one_at_a_time_with_the_rest_pending(
    member: PseudoObservations, distinct: bool
) -> None:
    request = request_for(distinct=distinct)
    at_once = member.choose(request)
    X = points(at_once)
    for i, trial in enumerate(request.ids):
        alone = member.choose(pending(replace(request, ids=(trial,)), request.ids[:i], X[:i]))
        np.testing.assert_array_equal(points(alone), X[i : i + 1])
        assert alone.choices[0].provenance == at_once.choices[i].provenance
    halves = member.choose(pending(replace(request, ids=request.ids[1:]), request.ids[:1], X[:1]))
    np.testing.assert_array_equal(points(halves), X[1:])


@every_member
def test_the_same_request_gives_the_same_bits_and_is_left_alone(member: PseudoObservations) -> None:
    request = request_for()
    before = request.data.X.copy(), request.data.y.copy(), request.avoid.copy()
    one, two = member.choose(request), member.choose(request)
    np.testing.assert_array_equal(points(one), points(two))
    for array, old in zip((request.data.X, request.data.y, request.avoid), before, strict=True):
        np.testing.assert_array_equal(array, old)
    assert not one.choices[0].x.flags.writeable


# Memory


@dataclass(frozen=True)
class Counting:
    """Kriging Believer that records whom it lied about."""

    told: list[Array] = field(default_factory=list, compare=False)

    def value(self, model: Model, x: Array, data: Data, sign: float, rng: np.random.Generator) -> float:
        self.told.append(x.copy())
        return Believe().value(model, x, data, sign, rng)

    @property
    def verb(self) -> str:
        return "counting"


@every_member
def test_memory_changes_nothing(member: PseudoObservations) -> None:
    request = request_for((20, 21))
    first = member.choose(request)
    X = points(first)
    later = pending(replace(request, ids=(22,)), (20, 21), X)
    np.testing.assert_array_equal(points(member.choose(later, first.memory)), points(member.choose(later)))


def test_memory_saves_the_lies_that_were_told() -> None:
    lie = Counting()
    member = PseudoObservations(lie)
    request = request_for((20, 21))
    first = member.choose(request)
    X = points(first)
    assert len(lie.told) == 2
    member.choose(pending(replace(request, ids=(22,)), (20, 21), X), first.memory)
    assert len(lie.told) == 3
    member.choose(pending(replace(request, ids=(22,)), (20, 21), X))
    assert len(lie.told) == 6


@each("lie", [ConstantLie("max"), Fantasy(samples=3)], ids=repr)
@each("stale", ["model", "strategy", "gone", "reordered", "moved", "foreign"])
def test_stale_memory_is_ignored(stale: str, lie: Lie) -> None:
    member = PseudoObservations(lie)
    request = request_for((20, 21))
    memory: object = member.choose(request).memory
    X = points(member.choose(request))
    ids: tuple[int, ...] = (20, 21)
    if stale == "model":
        request = request.with_first(model=model_of(request.data, lengthscale=0.15))
    elif stale == "strategy":
        member = PseudoObservations(ConstantLie("min"))
    elif stale == "gone":
        # Trial 20 has been abandoned.
        ids, X = (21,), X[1:]
    elif stale == "reordered":
        ids, X = (19, 20), X[::-1]
    elif stale == "moved":
        X = X[::-1]
    else:
        memory = {"model": request.model}
    later = pending(replace(request, ids=(22,)), ids, X)
    fresh = member.choose(later)
    np.testing.assert_array_equal(points(member.choose(later, memory)), points(fresh))


def test_pending_points_are_lied_about_in_the_order_of_their_ids_before_the_batch() -> None:
    lie = Counting()
    X = np.array([[0.9, 0.9], [0.1, 0.8], [0.3, 0.1]])
    request = pending(request_for((30, 31)), (4, 9, 12), X)
    chosen = PseudoObservations(lie).choose(request)
    np.testing.assert_array_equal(lie.told[:3], X)
    np.testing.assert_array_equal(lie.told[3:], points(chosen))
    assert isinstance(chosen.memory, Belief)
    assert chosen.memory.parts[0].ids == (4, 9, 12, 30, 31)


def test_a_lie_draws_from_the_randomness_of_its_own_trial() -> None:
    asked: list[tuple[int, str]] = []

    def watched(trial: int, purpose: str) -> np.random.Generator:
        asked.append((trial, purpose))
        return randomness(trial, purpose)

    request = pending(request_for((30,), randomness=watched), (4,), np.array([[0.9, 0.9]]))
    PseudoObservations(Fantasy(), update="refit").choose(request)
    purposes = ("lie", "refit")
    assert set(asked) == {(4, purpose) for purpose in purposes} | {(30, "maximize")} | {(30, p) for p in purposes}
    assert len(asked) == len(set(asked))


# The incumbent


@dataclass(frozen=True)
class Watching:
    """UCB that records the incumbents it was bound to."""

    seen: list[float] = field(default_factory=list, compare=False)

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        if not self.seen or self.seen[-1] != incumbent:
            self.seen.append(incumbent)
        return UCB().pointwise(mean, std, incumbent)


def test_the_believed_incumbent_is_the_least_of_results_and_lies() -> None:
    hopeful = ConstantLie(-100.0)
    for incumbent, expected in [("believed", [-100.0]), ("data", [])]:
        watch = Watching()
        request = request_for((20, 21), acquisition=watch)
        PseudoObservations(hopeful, incumbent=incumbent).choose(request)
        assert watch.seen == [float(request.data.y.min()), *expected]
    watch = Watching()
    request = request_for((20, 21), acquisition=watch)
    PseudoObservations(ConstantLie(100.0)).choose(request)
    assert watch.seen == [float(request.data.y.min())]


def test_with_noise_the_incumbent_is_the_least_posterior_mean_over_results_and_lies() -> None:
    data = data_for()
    model = model_of(data, noise=0.3)
    watch = Watching()
    chosen = PseudoObservations(Believe()).choose(request_for((20, 21), data, model=model, acquisition=watch))
    first = float(model.predict(data.X).mean.min())
    believed = model.condition(Data(points(chosen)[:1], model.predict(points(chosen)[:1]).mean))
    second = float(believed.predict(np.vstack([data.X, points(chosen)[:1]])).mean.min())
    # The noise is 0.2 of the signal, so the condition of the matrix is near 100, and rounding far below the tolerance.
    assert watch.seen == pytest.approx([first, second], rel=1e-9)
    assert first > data.y.min()
    assert second < first
    watch = Watching()
    PseudoObservations(Believe(), incumbent="data").choose(request_for((20, 21), data, model=model, acquisition=watch))
    assert watch.seen == [float(data.y.min())]


def test_kriging_believer_repeats_points_with_the_incumbent_of_the_data_and_not_with_the_believed_one() -> None:
    # Data drawn from the prior of the model, as smooth as the model takes them to be; batches of two.
    lengthscale = 0.2
    repeats, close = {"data": 0, "believed": 0}, {"data": 0, "believed": 0}
    for seed in range(50):
        rng = np.random.default_rng(seed)
        X = rng.random((4, 1))
        K = KERNELS["matern52"](((X - X.T) / lengthscale) ** 2)[0] + 1e-8 * np.eye(4)
        data = Data(frozen(X), frozen(np.linalg.cholesky(K) @ rng.standard_normal(4)))
        request = request_for(
            (20, 21), data, model=model_of(data, lengthscale=lengthscale), distinct=False, avoid=np.zeros((0, 1))
        )
        for incumbent in repeats:
            chosen = points(PseudoObservations(Believe(), incumbent=incumbent).choose(request))
            gap = float(np.abs(chosen[0] - chosen[1]).max())
            repeats[incumbent] += gap <= SAME_POINT
            close[incumbent] += gap <= 0.1 * lengthscale
    assert repeats["data"] >= 2
    assert repeats["believed"] == 0
    assert close["data"] >= 10
    assert close["believed"] <= close["data"] / 4


# The update


def test_without_an_update_the_same_point_is_chosen_again_unless_distinct_points_are_asked_for() -> None:
    member = PseudoObservations(ConstantLie("max"), update="none")
    same = points(member.choose(request_for(distinct=False, maximizer=FixedStarts())))
    assert (same == same[0]).all()
    again = points(member.choose(request_for(distinct=False, maximizer=None)))
    np.testing.assert_allclose(again, np.tile(again[0], (3, 1)), atol=1e-2)
    chosen = member.choose(request_for(distinct=True))
    X = points(chosen)
    assert not any(near_any(X[i : i + 1], X[:i])[0] for i in range(1, 3))


@pytest.mark.parametrize("update", ["condition", "refit"])
def test_an_update_makes_the_points_differ_even_where_duplicates_are_welcome(update: str) -> None:
    request = request_for(distinct=False, avoid=np.zeros((0, 2)))
    X = points(PseudoObservations(Believe(), update=update).choose(request))
    gaps = np.abs(X[:, None] - X).max(axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 1e-3


def test_conditioning_is_what_auto_does_with_a_model_that_can() -> None:
    auto, condition = (PseudoObservations(update=update).choose(request_for()) for update in ("auto", "condition"))
    np.testing.assert_array_equal(points(auto), points(condition))


@dataclass(frozen=True)
class NearestSurrogate:
    """Records the data of every fit, and the model it was warm-started from."""

    fits: list[tuple[Array, Array, Model | None]] = field(default_factory=list, compare=False)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> Nearest:
        X, y = data.X, data.y
        self.fits.append((X, y, previous))
        return Nearest(X, y)


def plain_request(**changes: Any) -> tuple[Request, NearestSurrogate]:
    data = data_for()
    surrogate = NearestSurrogate()
    changes = {"maximizer": Candidates(candidates=128, neighbors=8, rounds=3), **changes}
    return request_for(data=data, surrogate=surrogate, model=Nearest(data.X, data.y), **changes), surrogate


def test_conditioning_a_model_that_cannot_is_refused_and_the_way_out_is_named() -> None:
    request, _ = plain_request()
    with pytest.raises(MissingCapability, match=r'Nearest cannot be conditioned; use update="refit".*\(GP\)'):
        PseudoObservations(Believe(), update="condition").choose(request)


@pytest.mark.parametrize("update", ["refit", "auto"])
def test_a_model_that_only_predicts_is_trained_again_on_data_and_lies(update: str) -> None:
    request, surrogate = plain_request()
    chosen = points(PseudoObservations(ConstantLie("mean"), update=update).choose(request))
    mean = float(request.data.y.mean())
    assert len(surrogate.fits) == 3
    model: Model = request.model
    for i, (X, y, previous) in enumerate(surrogate.fits, start=1):
        np.testing.assert_array_equal(X, np.vstack([request.data.X, chosen[:i]]))
        np.testing.assert_array_equal(y, np.concatenate([request.data.y, np.full(i, mean)]))
        assert previous is not None
        if i == 1:
            assert previous is model
    assert not near_any(chosen, request.data.X).any()
    assert ((chosen >= 0.0) & (chosen <= 1.0)).all()
    gaps = np.abs(chosen[:, None] - chosen).max(axis=2)[np.triu_indices(3, 1)]
    assert gaps.min() > 1e-2


def test_a_model_without_gradients_gets_the_maximizer_that_needs_none() -> None:
    request, _ = plain_request(maximizer=None, ids=(20,))
    by_hand = Candidates().maximize(
        PointwiseObjective(LogEI(), request.model, float(request.data.y.min())),
        Search(request.region, request.data.X[np.argsort(request.data.y)[:3]], request.avoid),
        randomness(20, "maximize"),
    )
    chosen = points(PseudoObservations(ConstantLie("max")).choose(request))
    np.testing.assert_array_equal(chosen[0], by_hand.x)


# Every strategy

MIXED = Box(
    frozen([0.0, 0.0, 0.0, 0.0]),
    frozen([1.0, 1.0, 1.0, 1.0]),
    (Block(1, 2, frozen([[0.0], [0.5], [1.0]]), True), Block(2, 4, frozen(np.eye(2)), False)),
    lambda X: X[:, 0] + X[:, 1] <= 1.5,
)


@each("name", list(STRATEGIES))
def test_every_strategy_gives_distinct_new_points_of_the_region_one_for_each_id(name: str) -> None:
    strategy: Strategy = STRATEGIES[name]
    X = MIXED.spread(np.random.default_rng(0).random((10, 4)))
    data = Data(frozen(X), frozen(np.sin(5.0 * X[:, 0]) + X[:, 1] * X[:, 2]))
    # The cell is small for a batch of six: distinctness needs the next-best points.
    request = request_for(tuple(range(10, 16)), data, region=MIXED, model=model_of(data), acquisition=LogEI())
    chosen = strategy.choose(request)
    found = points(chosen)
    assert found.shape == (6, 4)
    np.testing.assert_array_equal(MIXED.project(found), found)
    assert MIXED.holds(found).all()
    assert not near_any(found, request.avoid).any()
    assert not any(near_any(found[i : i + 1], found[:i])[0] for i in range(1, 6))
    np.testing.assert_array_equal(points(strategy.choose(request)), found)
    assert all(choice.provenance for choice in chosen.choices)


@each("name", list(STRATEGIES))
def test_a_finite_space_is_used_up_without_a_repeat(name: str) -> None:
    grid = np.linspace(0.0, 1.0, 3)[:, None]
    region = Box(
        frozen(np.zeros(2)), frozen(np.ones(2)), (Block(0, 1, frozen(grid), True), Block(1, 2, frozen(grid), True))
    )
    X = region.points()[:4]
    data = Data(frozen(X), frozen(np.array([1.0, 3.0, 2.0, 0.5])))
    request = request_for(tuple(range(5)), data, region=region, model=model_of(data))
    found = points(STRATEGIES[name].choose(request))
    assert len(np.unique(np.vstack([X, found]), axis=0)) == 9


# Provenance and settings


def test_provenance_says_what_was_maximized_after_how_many_lies() -> None:
    request = pending(request_for(), (3,), np.array([[0.5, 0.5]]))
    told = {
        PseudoObservations(Believe()): "believing",
        PseudoObservations(Believe(-1.0)): "believing (μ-1σ)",
        PseudoObservations(ConstantLie("min")): "lying min about",
        PseudoObservations(ConstantLie(2.5)): "lying 2.5 about",
        PseudoObservations(Fantasy()): "fantasizing about",
        PseudoObservations(Fantasy(samples=16)): "fantasizing 16 times about",
    }
    for member, verb in told.items():
        words = [choice.provenance for choice in member.choose(request).choices]
        assert words == [f"chosen at LogEI rank 1 after {verb} {k} point{'s' if k > 1 else ''}" for k in (1, 2, 3)]


def test_provenance_says_when_a_point_is_next_best() -> None:
    member = PseudoObservations(ConstantLie("max"), update="none")
    grid = np.linspace(0.0, 1.0, 9)[:, None]
    region = Box(frozen(np.zeros(1)), frozen(np.ones(1)), (Block(0, 1, frozen(grid), True),))
    data = Data(frozen(grid[[0, 5]]), frozen(np.array([1.0, 0.0])))
    request = request_for((5, 6, 7), data, region=region, model=model_of(data), avoid=np.zeros((0, 1)))
    words = [choice.provenance for choice in member.choose(request).choices]
    assert "handed out" not in words[0]
    assert words[1].endswith("; rank 1 was handed out already")
    assert words[2].endswith("; ranks 1 to 2 were handed out already")


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"update": "sometimes"}, "update must be one of auto, condition, refit, none; got 'sometimes'"),
        ({"incumbent": "best"}, "incumbent must be one of believed, data; got 'best'"),
    ],
)
def test_settings_that_break_a_rule_are_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        PseudoObservations(**arguments)


def test_strategies_are_values() -> None:
    assert PseudoObservations(Believe()) == PseudoObservations()
    assert PseudoObservations(ConstantLie("min")) != PseudoObservations(ConstantLie("max"))
    assert len(set(MEMBERS)) == len(MEMBERS)
