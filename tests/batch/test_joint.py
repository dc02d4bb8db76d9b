from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.acquisitions import EI, PI, UCB, LogEI, Pointwise
from believer.acquisitions.joint_improvement import JointImprovement, Softness
from believer.arrays import Array, BoolArray, frozen
from believer.batch import STRATEGIES, ConstantLie, Data, Pending, PseudoObservations, Request, pseudo
from believer.batch import joint as module
from believer.batch.joint import QEI
from believer.batch.picking import Picked
from believer.errors import InvalidInput, MissingCapability
from believer.maximize import Candidates, FixedStarts, Multistart
from believer.space.box import Block, Box
from believer.space.combine import Copies
from believer.surrogates import GP, GPModel
from believer.surrogates.gp import posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction

FAST = Multistart(starts=2, candidates=32, neighbors=4)
MEMBERS = [
    QEI(samples=64),
    QEI(samples=32, smoothing=None),
    QEI(samples=32, smoothing=Softness(fat=False), restarts=2),
]
every_member = pytest.mark.parametrize("member", MEMBERS, ids=["fat", "plain", "soft"])


def randomness(trial: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng((3, trial, zlib.crc32(purpose.encode())))


def model_of(data: Data, noise: float = 1e-6) -> GPModel:
    hyper = Hyperparameters("matern52", frozen(np.full(data.X.shape[1], 0.3)), signal=1.5, noise=noise)
    return posterior(hyper, data.X, data.y, float(data.y.mean()), float(data.y.std()) or 1.0)


def data_in(region: Box, n: int = 8, unit: float = 1.0) -> Data:
    X = region.spread(np.random.default_rng(0).random((n, region.dim)))
    return Data(frozen(X), frozen(unit * (5.0 + np.sin(5.0 * X[:, 0]) + ((X - 0.6) ** 2).sum(axis=1))))


def request_for(q: int = 3, region: Box | None = None, p: int = 0, **changes: Any) -> Request:
    """A request for q points, with p pending ones."""
    region = region if region is not None else Box.cube(2)
    data = changes.pop("data", None) or data_in(region)
    waiting = region.spread(np.random.default_rng(9).random((p, region.dim)))
    base = Request.single(
        ids=tuple(range(20 + p, 20 + p + q)),
        surrogate=GP(),
        acquisition=LogEI(),
        model=changes.pop("model", None) or model_of(data),
        data=data,
        pending=Pending(tuple(range(20, 20 + p)), frozen(waiting)),
        region=region,
        avoid=np.vstack([data.X, waiting]),
        distinct=True,
        randomness=randomness,
        maximizer=FAST,
    )
    return replace(base, **changes)


def points(chosen: Any) -> Array:
    return np.array([choice.x for choice in chosen.choices])


def caught(monkeypatch: pytest.MonkeyPatch) -> list[JointImprovement]:
    """The objectives that are made from here on."""
    made: list[JointImprovement] = []

    def make(**settings: Any) -> JointImprovement:
        made.append(JointImprovement(**settings))
        return made[-1]

    monkeypatch.setattr(module, "JointImprovement", make)
    return made


def grid(k: int, start: int) -> Block:
    return Block(start, start + 1, np.linspace(0.0, 1.0, k)[:, None], ordered=True)


def half(X: Array) -> BoolArray:
    below: BoolArray = X[:, 0] + X[:, 1] <= 1.2
    return below


def halves(X: Array) -> Array:
    return np.round(X * 2e5) / 2e5


REGIONS: dict[str, Box] = {
    "line": Box.cube(1),
    "cube": Box.cube(3),
    "constrained": replace(Box.cube(2), feasible=half),
    "mixed": Box(np.zeros(5), np.ones(5), (grid(4, 1), Block(2, 5, np.eye(3), ordered=False))),
    "finite": Box(np.zeros(2), np.ones(2), (grid(6, 0), grid(5, 1))),
    "settled": replace(Box.cube(2), rounding=halves),
    "flat": Box(np.array([0.0, 0.5]), np.array([1.0, 0.5])),
}
every_region = pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)


@pytest.mark.parametrize("acquisition", [LogEI(), LogEI(0.1), EI()])
def test_one_point_with_nothing_pending_is_the_sequential_choice(acquisition: LogEI | EI) -> None:
    request = request_for(1, acquisition=acquisition, maximizer=None)
    ours, kb = QEI().choose(request), STRATEGIES["kb"].choose(request)
    np.testing.assert_array_equal(points(ours), points(kb))
    assert ours.choices[0].provenance == kb.choices[0].provenance


@every_member
@every_region
@each(("q", "p"), [(1, 2), (3, 1)])
def test_points_are_allowed_new_and_the_same_every_time(member: QEI, region: Box, q: int, p: int) -> None:
    request = request_for(q, region, p)
    X = points(member.choose(request))
    assert X.shape == (q, region.dim)
    np.testing.assert_array_equal(X, region.project(X))
    assert region.holds(X).all()
    for i, x in enumerate(X):
        assert not region.among(x[None], np.vstack([request.avoid, X[:i]]))[0]
    np.testing.assert_array_equal(X, points(member.choose(request)))


@every_member
@every_region
@pytest.mark.parametrize("p", [0, 2])
def test_the_batch_is_no_worse_than_its_greedy_starts(
    member: QEI, region: Box, p: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = caught(monkeypatch)
    request = request_for(3, region, p)
    batch = points(member.choose(request)).reshape(1, -1)
    for lie in ("kb", "cl_min"):
        greedy = points(STRATEGIES[lie].choose(request)).reshape(1, -1)
        assert made[0].value(batch)[0] >= made[0].value(greedy)[0]


@pytest.mark.parametrize("name", ["cube", "mixed", "constrained"])
def test_moving_together_gains_over_choosing_one_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = caught(monkeypatch)
    request = request_for(3, REGIONS[name])
    batch = points(QEI().choose(request)).reshape(1, -1)
    starts = [points(one.choose(request)) for one in (PseudoObservations(), PseudoObservations(ConstantLie("min")))]
    best = max(float(made[0].value(start.reshape(1, -1))[0]) for start in starts)
    assert made[0].value(batch)[0] > best + 1e-4


def test_a_value_far_below_the_scale_of_y_is_climbed_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    made = caught(monkeypatch)
    request = request_for(3, acquisition=EI(xi=1.1))
    batch = points(QEI(smoothing=None).choose(request)).reshape(1, -1)
    starts = [points(STRATEGIES[lie].choose(request)).reshape(1, -1) for lie in ("kb", "cl_min")]
    best = max(float(made[0].value(start)[0]) for start in starts)
    assert 0.0 < best < 1e-2
    assert made[0].value(batch)[0] > 1.001 * best


def bordered(seed: int) -> Request:
    """A request for three points, where the best of them would lie beyond the constraint."""
    region = REGIONS["constrained"]
    X = region.spread(np.random.default_rng(seed).random((40, 2)))
    X = X[region.holds(X)][:10]
    y = np.sin(5.0 * X[:, 0] + seed) + ((X - 0.6) ** 2).sum(axis=1)
    return request_for(3, region, data=Data(frozen(X), frozen(y)), maximizer=None)


@pytest.mark.parametrize("seed", range(3))
def test_points_move_along_the_border_of_a_constraint(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = caught(monkeypatch)
    request = bordered(seed)
    batch = points(QEI().choose(request)).reshape(1, -1)
    starts = [points(STRATEGIES[lie].choose(request)).reshape(1, -1) for lie in ("kb", "cl_min")]
    assert made[0].value(batch)[0] > max(made[0].value(start)[0] for start in starts) + 0.025


@pytest.mark.parametrize("seed", range(3))
def test_climbs_and_restarts_stay_within_the_constraint_and_never_lose(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = caught(monkeypatch)
    request = bordered(seed)
    member = QEI(restarts=16)
    chosen = member.choose(request)
    assert {choice.provenance for choice in chosen.choices} == {"chosen jointly for q-LogEI with 2 others"}
    region, d = request.region, request.region.dim
    X = region.spread(np.random.default_rng(seed).random((200, d)))
    rows = X[region.holds(X)][:60].reshape(20, 3 * d)
    ends, values = member._climbed(made[0], Copies(region, 3), rows, 1.0)
    assert region.holds(ends.reshape(-1, d)).all()
    np.testing.assert_allclose(values, made[0].value(ends), rtol=1e-12)
    assert (values >= made[0].value(rows)).all()


def test_a_climb_that_got_worse_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(2)
    monkeypatch.setattr(QEI, "_moved", lambda self, objective, request, starts: np.array([0.0, 1.0, 0.0, 0.99]))
    greedy = [points(STRATEGIES[lie].choose(request)).tolist() for lie in ("kb", "cl_min")]
    assert points(QEI().choose(request)).tolist() in greedy


def test_values_of_blocks_are_stepped_to_where_the_batch_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a finite region no climb can move a point: what is gained over poor starts comes from the steps."""
    made = caught(monkeypatch)
    request = request_for(3, REGIONS["finite"], maximizer=FixedStarts((0.0,)))
    batch = points(QEI().choose(request)).reshape(1, -1)
    starts = [points(STRATEGIES[lie].choose(request)).reshape(1, -1) for lie in ("kb", "cl_min")]
    assert made[0].value(batch)[0] > max(made[0].value(start)[0] for start in starts) + 0.1


def test_the_target_is_the_best_real_value_less_the_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    made = caught(monkeypatch)
    request = request_for(2, p=1, acquisition=LogEI(xi=0.25))
    QEI().choose(request)
    assert made[0].target == pytest.approx(request.data.y.min() - 0.25)
    np.testing.assert_array_equal(made[0].fixed, request.pending.X)
    assert made[0].normals.shape == (128, 3)
    noisy = request.with_first(model=model_of(request.data, noise=0.1))
    QEI().choose(noisy)
    assert made[1].target == pytest.approx(noisy.model.predict(noisy.data.X).mean.min() - 0.25)


def test_pending_points_push_the_batch_away() -> None:
    alone = points(QEI().choose(request_for(2)))
    request = request_for(2)
    waiting = request.with_first(pending=Pending((20, 21), frozen(alone)))
    after = points(QEI().choose(replace(waiting, avoid=np.vstack([request.avoid, alone]))))
    assert min(np.abs(x - y).max() for x in alone for y in after) > 0.02


@pytest.mark.parametrize(("q", "p", "n"), [(3, 60, 12), (40, 5, 12), (2, 0, 1), (5, 1, 2)])
def test_many_pending_points_many_points_and_few_data(q: int, p: int, n: int) -> None:
    region = Box.cube(2)
    request = request_for(q, region, p, data=data_in(region, n))
    X = points(QEI(samples=32).choose(request))
    assert np.isfinite(X).all()
    for i, x in enumerate(X):
        assert not region.among(x[None], np.vstack([request.avoid, X[:i]]))[0]


@pytest.mark.parametrize("unit", [1e-12, 1e12])
@pytest.mark.parametrize("member", [QEI(), QEI(smoothing=None)], ids=["fat", "plain"])
def test_units_of_y_hardly_change_the_batch(unit: float, member: QEI) -> None:
    usual = points(member.choose(request_for(3, maximizer=None)))
    scaled = points(member.choose(request_for(3, data=data_in(Box.cube(2), unit=unit), maximizer=None)))
    np.testing.assert_allclose(scaled, usual, atol=0.05)


def test_constant_data_and_repeated_data_are_no_obstacle() -> None:
    X = np.array([[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]])
    data = Data(frozen(X), frozen(np.zeros(3)))
    assert np.isfinite(points(QEI().choose(request_for(3, data=data)))).all()


@pytest.mark.parametrize("maximizer", [None, Candidates(candidates=64, rounds=2), FixedStarts()])
def test_the_greedy_starts_come_from_any_maximizer(maximizer: Any) -> None:
    assert points(QEI().choose(request_for(3, maximizer=maximizer))).shape == (3, 2)


def test_points_that_are_not_new_are_chosen_again_given_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(3, p=1)

    def stuck(self: QEI, objective: JointImprovement, request: Request, starts: Array) -> Array:
        return np.concatenate([starts[0, :2], starts[0, :2], request.data.X[0]])

    monkeypatch.setattr(QEI, "_moved", stuck)
    monkeypatch.setattr(module, "_GREEDY", (PseudoObservations(ConstantLie("max"), incumbent="data"),))
    chosen = QEI().choose(request)
    X = points(chosen)
    first = points(module._GREEDY[0].choose(request))[0]
    np.testing.assert_array_equal(X[0], first)
    assert not request.region.among(X[1:2], np.vstack([request.avoid, X[:1]]))[0]
    assert not request.region.among(X[2:], np.vstack([request.avoid, X[:2]]))[0]
    told = [choice.provenance.partition("; ")[2] for choice in chosen.choices]
    assert told == [
        "",
        "it was not new, and was chosen again after believing 2 points",
        "it was not new, and was chosen again after believing 3 points",
    ]


def test_a_point_that_is_chosen_again_avoids_the_rest_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model says: here it repeats itself."""
    request = request_for(4)

    def repeat(objective: Any, request: Request, trial: int, near_best: Array, avoid: Array, **_: Any) -> Picked:
        favorites = np.array([[0.25, 0.25], [0.5, 0.25], [0.75, 0.25], [0.25, 0.75]])
        return Picked(favorites[~request.region.among(favorites, avoid)][0], 0, False)

    monkeypatch.setattr(pseudo, "pick", repeat)
    monkeypatch.setattr(QEI, "_moved", lambda self, objective, request, starts: np.full(8, 0.25))
    monkeypatch.setattr(JointImprovement, "value", lambda self, X: np.arange(len(X), 0.0, -1.0))
    X = points(QEI().choose(request))
    np.testing.assert_array_equal(X, [[0.25, 0.25], [0.5, 0.25], [0.75, 0.25], [0.25, 0.75]])


def test_copies_are_allowed_where_points_need_not_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_for(2, distinct=False, avoid=np.zeros((0, 2)))

    def same(self: QEI, objective: JointImprovement, request: Request, starts: Array) -> Array:
        return np.concatenate([starts[0, :2], starts[0, :2]])

    monkeypatch.setattr(QEI, "_moved", same)
    monkeypatch.setattr(JointImprovement, "value", lambda self, X: np.arange(len(X), 0.0, -1.0))
    X = points(QEI().choose(request))
    np.testing.assert_array_equal(X[0], X[1])


@pytest.mark.parametrize(
    ("q", "p", "said"),
    [
        (3, 0, "chosen jointly for q-LogEI with 2 others"),
        (2, 1, "chosen jointly for q-LogEI with 1 other given 1 pending point"),
        (1, 2, "chosen for q-LogEI given 2 pending points"),
    ],
)
def test_provenance_tells_with_whom(q: int, p: int, said: str) -> None:
    assert [choice.provenance for choice in QEI().choose(request_for(q, p=p)).choices] == [said] * q
    plain = [choice.provenance for choice in QEI(smoothing=None).choose(request_for(q, p=p)).choices]
    assert plain == [said.replace("q-LogEI", "q-EI")] * q


@dataclass(frozen=True, slots=True)
class Custom:
    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        return Pointwise(-mean, -np.ones_like(mean), np.zeros_like(std))


@pytest.mark.parametrize("acquisition", [UCB(), PI(), Custom()])
@pytest.mark.parametrize("q", [1, 3])
def test_acquisitions_without_a_joint_version_are_refused(acquisition: Any, q: int) -> None:
    with pytest.raises(MissingCapability, match=rf"got {type(acquisition).__name__}.*kb, cl_min"):
        QEI().choose(request_for(q, acquisition=acquisition))


@dataclass(frozen=True, slots=True)
class Blind:
    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


@pytest.mark.parametrize("q", [1, 3])
def test_models_without_joint_gradients_are_refused(q: int) -> None:
    with pytest.raises(MissingCapability, match=r"qei needs.*joint_with_gradient"):
        QEI().choose(request_for(q, model=Blind()))


@pytest.mark.parametrize(
    "bad", [{"samples": 0}, {"samples": 1.5}, {"restarts": -1}, {"smoothing": "fat"}, {"climb": None}]
)
def test_settings_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        QEI(**bad)


@pytest.mark.parametrize("maximize", [False, True])
def test_a_study_with_failures_a_constraint_and_mixed_parameters_runs(maximize: bool) -> None:
    def allowed(params: Mapping[str, Any]) -> bool:
        return bool(params["a"] + params["b"] < 1.6)

    space = bv.Space(
        {"a": bv.Float(0.0, 1.0), "b": bv.Float(0.0, 1.0), "n": bv.Int(1, 4), "kind": bv.Categorical(["u", "v"])},
        constraint=allowed,
    )
    study = bv.Optimizer(space, seed=1, n_init=4, strategy=QEI(samples=32), maximize=maximize)
    for _ in range(4):
        batch = study.ask(3)
        assert all(allowed(trial.params) for trial in batch)
        for i, trial in enumerate(batch):
            value = (trial.params["a"] - 0.3) ** 2 + 0.1 * trial.params["n"] + (trial.params["kind"] == "u")
            study.tell(trial, float("nan") if i == 2 else value)
    assert any(words in batch[0].provenance for words in ("jointly for q-LogEI", "no joint move was better"))
