from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from batch_requests import FAST, Watching, data_for, model_of, pending, points, randomness, request_for
from each import each
from scipy.special import logsumexp

from believer import GP, Candidates, Categorical, Float, Int, Optimizer, PseudoObservations, Space
from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint, Pointwise
from believer.arrays import Array, frozen, near_any
from believer.batch import Believe, Fantasy, Pending, Request
from believer.batch.fantasies import Averaged, Fantasized, Separate
from believer.maximize import Objective
from believer.study import serialization
from believer.surrogates import GPModel, SparseGP
from believer.surrogates.data import Data
from believer.surrogates.gp_fantasies import GPFantasies
from believer.surrogates.protocols import Model, Prediction, PredictionGradient
from believer.testing.fake import FakeSurrogate


@dataclass(frozen=True)
class Apart:
    """A Gaussian process that does not say it can fantasize, so that every fantasy gets a model of its own."""

    inner: GPModel

    @property
    def is_noisy(self) -> bool:
        return self.inner.is_noisy

    def predict(self, X: Array) -> Prediction:
        return self.inner.predict(X)

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        return self.inner.predict_with_gradient(X)

    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        return replace(self, inner=self.inner.condition(Data(X, y)))


@dataclass(frozen=True)
class Cubed:
    """An acquisition of someone else's, which wants numbers and vectors, as the protocol promises."""

    def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
        assert isinstance(incumbent, float)
        assert mean.ndim == std.ndim == 1
        gain = incumbent - mean + std
        return Pointwise(gain**3, -3.0 * gain**2, 3.0 * gain**2)


ACQUISITIONS: list[PerPoint] = [LogEI(), LogEI(xi=0.1), EI(), PI(), UCB(), Cubed()]


def with_pending(request: Request, p: int = 3) -> Request:
    """``request`` with ``p`` points out."""
    return pending(request, tuple(range(10, 10 + p)), np.random.default_rng(9).random((p, 2)))


def fantasized(member: PseudoObservations, request: Request) -> Fantasized:
    """What the strategy holds of the request's pending points, before it chooses any."""
    held = member.resume(request, None)
    for trial, x in zip(request.pending.ids, request.pending.X, strict=True):
        held = held.with_lie(request, trial, x)
    assert isinstance(held, Fantasized)
    return held


def objective_of(held: Fantasized, request: Request) -> Objective:
    return held.worth(request, held.best_so_far(request), request.ids[0]).objective


def averaged(member: PseudoObservations, request: Request) -> Averaged:
    objective = objective_of(fantasized(member, request), request)
    assert isinstance(objective, Averaged)
    return objective


AT = np.random.default_rng(5).random((6, 2))
KINDS: dict[str, tuple[PseudoObservations, dict[str, Any]]] = {
    "shared": (PseudoObservations(Fantasy(5)), {}),
    "separate": (PseudoObservations(Fantasy(5)), {"model": Apart(model_of(data_for()))}),
    "refit": (PseudoObservations(Fantasy(5), update="refit"), {}),
    "none": (PseudoObservations(Fantasy(5), update="none"), {}),
}
every_kind = pytest.mark.parametrize("kind", list(KINDS))


# The average


@every_kind
@each("acquisition", ACQUISITIONS, ids=repr)
def test_the_average_is_that_of_the_acquisition_on_the_model_of_every_fantasy(kind: str, acquisition: PerPoint) -> None:
    member, changes = KINDS[kind]
    request = with_pending(request_for(acquisition=acquisition, **changes))
    held = fantasized(member, request)
    base = model_of(request.data)
    rows = []
    for s, y in enumerate(held.Y):
        model: Model = base if kind == "none" else base.condition(Data(held.X, y))
        if kind == "refit":
            assert isinstance(held.models, Separate)
            model = held.models.models[s]
        at = model.predict(AT)
        rows.append(acquisition.pointwise(at.mean, at.std, float(min(request.data.y.min(), y.min()))).value)
    log_mean = logsumexp(rows, axis=0) - np.log(5.0)
    expected = log_mean if isinstance(acquisition, LogEI) else np.mean(rows, axis=0)
    np.testing.assert_allclose(objective_of(held, request).value(AT), expected, rtol=1e-6, atol=1e-9)


@each("acquisition", ACQUISITIONS, ids=repr)
@each("noise", [1e-6, 0.2])
@each("kind", ["shared", "separate", "none"])
def test_its_gradient_is_that_of_central_differences(kind: str, noise: float, acquisition: PerPoint) -> None:
    member, changes = KINDS[kind]
    if "model" in changes:
        changes = {"model": Apart(model_of(data_for(), noise))}
    objective = averaged(member, with_pending(request_for(acquisition=acquisition, noise=noise, **changes)))
    assert objective.has_gradient
    value, gradient = objective.value_with_gradient(AT)
    # Not bit for bit: compiled code finds a variance alone by other products than a variance with its gradient.
    np.testing.assert_allclose(value, objective.value(AT), rtol=1e-10)
    step = 1e-5
    differences = [(objective.value(AT + step * e) - objective.value(AT - step * e)) / (2.0 * step) for e in np.eye(2)]
    np.testing.assert_allclose(gradient, np.array(differences).T, rtol=1e-6, atol=1e-6)


def test_an_average_of_improvements_that_underflow_is_finite_and_has_weights() -> None:
    alphas = np.array([[-1e5, -3.0], [-1e5 - 1.0, -2.0], [-2e5, -1.0]])
    value, weights = LogEI().average(alphas)
    np.testing.assert_allclose(value, logsumexp(alphas, axis=0) - np.log(3.0), rtol=1e-14)
    np.testing.assert_allclose(weights, np.exp(alphas - logsumexp(alphas, axis=0)), rtol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    plain, even = EI().average(alphas)
    np.testing.assert_allclose(plain, alphas.mean(axis=0))
    np.testing.assert_array_equal(even, np.full((3, 2), 1.0 / 3.0))


@pytest.mark.parametrize("noise", [1e-6, 0.2])
def test_the_average_tends_to_the_expectation_over_the_result_that_is_out(noise: float) -> None:
    request = with_pending(request_for(acquisition=EI(), noise=noise), 1)
    model, x = request.model, request.pending.X
    assert isinstance(model, GPModel)
    at = model.predict(x)
    std = np.sqrt(at.std[0] ** 2 + noise * model.scale**2)
    # A fine midpoint rule; results beyond six standard deviations do not count.
    z = (np.arange(300) + 0.5) / 300 * 12.0 - 6.0
    density = np.exp(-0.5 * z**2)
    rows = []
    for value in at.mean[0] + std * z:
        told = model.condition(Data(x, np.array([value])))
        best = min(request.data.y.min(), value)
        if noise > 1e-3:
            best = told.predict(np.vstack([request.data.X, x])).mean.min()
        p = told.predict(AT)
        rows.append(EI().pointwise(p.mean, p.std, float(best)).value)
    expected = density @ np.array(rows) / density.sum()
    found = averaged(PseudoObservations(Fantasy(4000)), request).value(AT)
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-6)


# Fantasies


def test_an_exact_process_shares_its_factor_between_fantasies_and_other_models_do_not() -> None:
    request = with_pending(request_for())
    assert isinstance(fantasized(PseudoObservations(Fantasy(3)), request).models, GPFantasies)
    assert isinstance(fantasized(PseudoObservations(Fantasy(3), "condition"), request).models, GPFantasies)
    sizes = {"separate": 5, "refit": 5, "none": 1}
    for kind, size in sizes.items():
        member, changes = KINDS[kind]
        models = fantasized(member, with_pending(request_for(**changes))).models
        assert isinstance(models, Separate)
        assert len(set(map(id, models.models))) == size


def test_separate_models_choose_what_shared_ones_do() -> None:
    # The same values are told to both, so what remains is rounding.
    request = with_pending(request_for((20,), maximizer=None))
    held = fantasized(PseudoObservations(Fantasy(6)), request)
    model = request.model
    assert isinstance(model, GPModel)
    apart = Separate(tuple(model.condition(Data(held.X, y)) for y in held.Y))
    shared = objective_of(held, request)
    one = Averaged(LogEI(), apart, np.minimum(request.data.y.min(), held.Y.min(axis=1)))
    np.testing.assert_allclose(one.value(AT), shared.value(AT), rtol=1e-7)
    for a, b in zip(one.value_with_gradient(AT), shared.value_with_gradient(AT), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["shared", "separate", "none"])
def test_where_lies_reach_the_model_a_second_draw_at_a_point_repeats_the_first_of_its_fantasy(kind: str) -> None:
    member, changes = KINDS[kind]
    x = np.array([0.15, 0.85])
    request = request_for(**changes)
    out = Pending((10, 11), frozen([x, x]))
    Y = fantasized(member, request.with_first(pending=out)).Y
    gap, spread = float(np.abs(Y[:, 1] - Y[:, 0]).max()), float(Y[:, 0].std())
    assert gap > 0.5 * spread if kind == "none" else gap < 0.05 * spread


@every_kind
def test_every_draw_comes_from_the_randomness_of_its_own_trial(kind: str) -> None:
    asked: list[tuple[int, str]] = []

    def watched(trial: int, purpose: str) -> np.random.Generator:
        asked.append((trial, purpose))
        return randomness(trial, purpose)

    member, changes = KINDS[kind]
    request = with_pending(request_for((30,), randomness=watched, **changes), 2)
    member.choose(request)
    lies = [entry for entry in asked if entry[1] == "lie"]
    assert lies == [(10, "lie"), (11, "lie"), (30, "lie")]
    purposes = {"lie", "refit"} if kind == "refit" else {"lie"}
    assert set(asked) == {(trial, purpose) for trial in (10, 11, 30) for purpose in purposes} | {(30, "maximize")}


def test_memory_saves_the_draws_that_were_made() -> None:
    asked: list[int] = []

    def watched(trial: int, purpose: str) -> np.random.Generator:
        if purpose == "lie":
            asked.append(trial)
        return randomness(trial, purpose)

    member = PseudoObservations(Fantasy(3))
    request = request_for((20, 21), randomness=watched)
    first = member.choose(request)
    X = points(first)
    later = pending(replace(request, ids=(22,)), (20, 21), X)
    again = member.choose(later, first.memory)
    assert asked == [20, 21, 22]
    np.testing.assert_array_equal(points(member.choose(later)), points(again))
    assert asked == [20, 21, 22, 20, 21, 22]


def test_a_model_without_gradients_is_searched_without_them() -> None:
    surrogate, data = FakeSurrogate(), data_for()
    model = surrogate.fit(data, np.random.default_rng(0))
    request = with_pending(request_for(model=model, surrogate=surrogate, maximizer=Candidates(32, 4, rounds=1)))
    member = PseudoObservations(Fantasy(3))
    assert not averaged(member, request).has_gradient
    assert not near_any(points(member.choose(request)), request.avoid).any()


# The incumbent


@pytest.mark.parametrize("noise", [1e-6, 0.2])
@pytest.mark.parametrize("kind", ["shared", "separate", "none"])
def test_every_fantasy_has_the_incumbent_of_its_own_values_under_the_rule_for_noise(kind: str, noise: float) -> None:
    member, changes = KINDS[kind]
    if "model" in changes:
        changes = {"model": Apart(model_of(data_for(), noise))}
    watch = Watching()
    request = with_pending(request_for(noise=noise, acquisition=watch, **changes))
    held = fantasized(member, request)
    objective_of(held, request).value(AT)
    model, data = model_of(request.data, noise), request.data
    if noise > 1e-3:
        told = [model if kind == "none" else model.condition(Data(held.X, y)) for y in held.Y]
        expected = [m.predict(np.vstack([data.X, held.X])).mean.min() for m in told]
    else:
        expected = [min(data.y.min(), y.min()) for y in held.Y]
        assert len(set(expected)) > 1
    np.testing.assert_allclose(watch.seen, expected, rtol=1e-9)


@every_kind
@each("noise", [1e-6, 0.2])
def test_the_incumbent_of_the_data_is_the_same_for_all(kind: str, noise: float) -> None:
    member, changes = KINDS[kind]
    request = with_pending(request_for(noise=noise, **changes))
    objective = averaged(replace(member, incumbent="data"), request)
    np.testing.assert_array_equal(objective.incumbents, np.full(5, request.data.y.min()))


# In a study

MIXED = Space({"x": Float(-1.0, 2.0), "k": Int(1, 9), "kind": Categorical(("a", "b"))})


def value_of(params: dict[str, Any]) -> float:
    value: float = sum((float(v) - 0.4) ** 2 for v in params.values() if not isinstance(v, str))
    return value


def study(space: Space, strategy: PseudoObservations, unit: float = 1.0, **options: Any) -> Optimizer:
    """Two results, a failed trial and two that are out."""
    optimizer = Optimizer(space, strategy=strategy, n_init=3, seed=2, **{"maximizer": FAST, **options})
    for i, trial in enumerate(optimizer.ask(3)):
        optimizer.tell(trial, unit * value_of(trial.params)) if i else optimizer.tell(trial, error="no result")
    optimizer.ask(2)
    return optimizer


@pytest.mark.parametrize("update", ["auto", "refit", "none"])
@pytest.mark.parametrize("maximize", [False, True])
def test_asking_at_once_is_asking_one_by_one(update: str, maximize: bool) -> None:
    member = PseudoObservations(Fantasy(4), update)
    at_once, one_by_one = (study(MIXED, member, maximize=maximize) for _ in range(2))
    at_once.ask(3)
    for _ in range(3):
        one_by_one.ask(1)
    assert [t.params for t in at_once.trials] == [t.params for t in one_by_one.trials]
    units = MIXED.encode([t.params for t in at_once.trials])
    assert not any(near_any(units[i : i + 1], units[:i])[0] for i in range(1, len(units)))
    assert "after fantasizing 4 times about 4 points" in at_once.trials[-1].provenance


SURROGATES: dict[str, tuple[Any, dict[str, Any]]] = {
    "sparse": (SparseGP(), {}),
    "no gradients": (FakeSurrogate(), {"maximizer": Candidates(32, 4, rounds=1)}),
    "noisy": (GP(noise=0.1), {}),
}


@each("name", list(SURROGATES))
@each("acquisition", [LogEI(), UCB(), Cubed()], ids=repr)
def test_any_surrogate_and_acquisition_will_do(name: str, acquisition: PerPoint) -> None:
    surrogate, options = SURROGATES[name]
    found = study(MIXED, PseudoObservations(Fantasy(3)), surrogate=surrogate, acquisition=acquisition, **options)
    batch = found.ask(2)
    assert all(MIXED.allows(trial.params) for trial in batch)


@pytest.mark.parametrize("unit", [0.0, 1e-12, 1e12])
@pytest.mark.parametrize("d", [1, 50])
def test_few_data_of_any_size_are_enough(unit: float, d: int) -> None:
    optimizer = Optimizer(Space.cube(d), strategy=PseudoObservations(Fantasy(4)), n_init=1, seed=0, maximizer=FAST)
    optimizer.tell(optimizer.ask(1)[0], 3.0 * unit)
    for trial in optimizer.ask(3):
        optimizer.tell(trial, unit * value_of(trial.params))
    units = np.array([trial.encoded for trial in (optimizer.ask(3), optimizer.trials)[1]])
    assert len(units) == 7
    assert not any(near_any(units[i : i + 1], units[:i])[0] for i in range(1, 7))


def test_a_study_with_fantasies_goes_on_from_its_journal(tmp_path: Path) -> None:
    member = PseudoObservations(Fantasy(16))
    path = tmp_path / "study.jsonl"
    stays = study(MIXED, member)
    study(MIXED, member, journal=path).close()
    with Optimizer.load(path, strategy=member) as loaded:
        assert loaded.settings.strategy == member
        assert [t.params for t in loaded.ask(2)] == [t.params for t in stays.ask(2)]


def test_fantasies_are_written_down_with_their_number_and_old_ones_are_read_without_it() -> None:
    written = serialization.to_config(PseudoObservations(Fantasy(16)))
    assert written["lie"] == {"type": "Fantasy", "samples": 16}
    assert serialization.from_config(written, "strategy") == PseudoObservations(Fantasy(16))
    old = {**written, "lie": {"type": "Fantasy"}}
    assert serialization.from_config(old, "strategy") == PseudoObservations(Fantasy())


def test_many_fantasies_at_points_that_are_known_are_kriging_believer() -> None:
    # At data the model has no doubt, so that all fantasies say what Kriging Believer says.
    request = request_for((20,), maximizer=None)
    out = Pending((10, 11), request.data.X[:2])
    request = request.with_first(pending=out)
    many, kb = (PseudoObservations(lie).choose(request) for lie in (Fantasy(8), Believe()))
    np.testing.assert_allclose(points(many), points(kb), atol=1e-2)
