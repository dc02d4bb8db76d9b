"""A batch does not stake all of its points on the model's lengthscales; no two are nearly the same."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from batch_requests import Nearest, data_for, model_of, pending, points, request_for
from each import each

from believer import GP, Categorical, Float, Int, Optimizer, RandomForest, Space, replay
from believer.acquisitions import LogEI
from believer.arrays import Array, frozen
from believer.batch import STRATEGIES, Believe, Data, Fantasy, PseudoObservations
from believer.batch.belief import PLAUSIBLE, Belief
from believer.batch.hedge import LEAST_FACTOR, NATS, has_nothing_left, is_own, plausible, resolution_of, shortened
from believer.batch.verdict import judge, nearness
from believer.errors import InvalidInput
from believer.numerics import backend
from believer.space.box import Block, Box
from believer.surrogates.gp import GPModel
from believer.surrogates.protocols import Model, Prediction

HEDGED, KB = STRATEGIES["hedged"], STRATEGIES["kb"]


def below(params: dict[str, Any]) -> bool:
    return bool(params["x"] + params["y"] <= 12.0)


SPACES: dict[str, Space] = {
    "line": Space.cube(1),
    "square": Space.cube(2),
    "mixed": Space({"lr": Float(1e-5, 1.0, log=True), "depth": Int(1, 8), "kernel": Categorical(["rbf", "poly", 3])}),
    "constrained": Space({"x": Float(-5.0, 10.0), "y": Float(0.0, 15.0)}, below),
    "discrete": Space({"n": Int(0, 9), "c": Categorical(["a", "b", None]), "s": Float(0.0, 1.0, step=0.25)}),
}


def value(unit: Array) -> float:
    """A bowl with ripples, over the encoded cube."""
    return float(((unit - 0.35) ** 2).sum() + 0.1 * np.sin(9.0 * unit).sum())


def study(space: Space, n: int = 8, **settings: Any) -> Optimizer:
    """With ``n`` results of its design."""
    optimizer = Optimizer(space, n_init=n, **{"seed": 0, **settings})
    batch = optimizer.ask(n)
    optimizer.tell_many(batch, [value(trial.encoded) for trial in batch])
    return optimizer


def observed(d: int, n: int, noise: float = 0.0, **settings: Any) -> Optimizer:
    """With ``n`` results at random points of the cube."""
    optimizer, rng = Optimizer(Space.cube(d), n_init=1, **{"seed": 0, **settings}), np.random.default_rng(n)
    for x in rng.random((n, d)):
        y = value(x) + noise * rng.normal()
        optimizer.observe({f"x{i}": float(v) for i, v in enumerate(x)}, y)
    return optimizer


def model_behind(optimizer: Optimizer) -> Any:
    return optimizer._insight.cache.learned(optimizer._insight.history).model


# Who chooses


@pytest.mark.parametrize("p", [0, 1, 2, 7, 63])
def test_with_p_pending_the_model_itself_chooses_one_trial_in_p_plus_one(p: int) -> None:
    asked, trials = request_for(), 200 * (p + 1)
    own = np.array([is_own(asked, trial, p) for trial in range(trials)])
    assert own.mean() == pytest.approx(1.0 / (p + 1), rel=0.3)
    for step in range(2, 6 if p else 2):  # no rhythm: a batch may begin with any trial
        assert own[::step].mean() == pytest.approx(1.0 / (p + 1), rel=0.7)


def test_asynchronous_use_has_its_share_of_both() -> None:
    """Always seven pending, and one result told for each point that is asked for."""
    optimizer = study(SPACES["square"], 8, resolution=0.0)
    out = list(optimizer.ask(7))
    asked = []
    for _ in range(40):
        asked.append(optimizer.ask(1)[0])
        first = out.pop(0)
        optimizer.tell(first, value(first.encoded))
        out.append(asked[-1])
    assert all("after believing 7 points" in trial.provenance for trial in asked)
    hedged = sum("under lengthscales" in trial.provenance for trial in asked)
    assert 20 <= hedged < 40, "one in eight is the model's own"


# How short


@dataclass(frozen=True)
class Quadratic:
    """A model whose log evidence falls by ``curvature`` log² c, from its own lengthscales on."""

    lengthscales: Array
    curvature: float
    factor: float = 1.0

    def with_lengthscales(self, lengthscales: Array) -> Quadratic:
        ratio = lengthscales / self.lengthscales
        return replace(self, lengthscales=lengthscales, factor=self.factor * float(ratio.min()))

    def condition(self, data: Data) -> Quadratic:
        return self

    def log_evidence(self) -> float:
        return 3.0 - self.curvature * math.log(self.factor) ** 2

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))


@each("against", [0.0, 1.0, 2.0, 2.5, 8.0, 200.0, 1e4])
@each("nats", [0.5, 2.0])
def test_lengthscales_are_the_shortest_that_the_results_do_not_speak_against(against: float, nats: float) -> None:
    model = Quadratic(np.array([0.2, 0.4]), against / math.log(LEAST_FACTOR) ** 2)
    asked = request_for(model=model)
    factor, hedge = plausible(asked.outputs[0], asked.region, nats / len(asked.data))
    if against <= nats:
        assert factor == LEAST_FACTOR
    else:
        assert factor == pytest.approx(0.5 ** math.sqrt(nats / against))
    if factor > 0.98:
        assert hedge is None, "not worth a second model"
    else:
        assert isinstance(hedge, Quadratic)
        np.testing.assert_allclose(hedge.lengthscales, factor * model.lengthscales)
        assert model.log_evidence() - hedge.log_evidence() == pytest.approx(min(against, nats))


def test_they_are_halved_with_few_results_in_many_dimensions_and_hardly_shorter_with_many_in_few() -> None:
    def factor(d: int, n: int) -> float:
        data = data_for(d, n)
        asked = request_for(data=data, model=GP(noise=1e-6).fit(data, np.random.default_rng(0)))
        return plausible(asked.outputs[0], asked.region, NATS)[0]

    assert factor(20, 8) == LEAST_FACTOR
    assert LEAST_FACTOR < factor(2, 12) < factor(2, 30)
    assert 0.8 < factor(2, 100) < 0.95, "a model that is wrong stays wrong with many results"


def test_a_model_under_other_lengthscales_is_the_one_that_would_be_made_of_them() -> None:
    data, X = data_for(3, 12), np.random.default_rng(1).random((20, 3))
    model, shorter = model_of(data, lengthscale=0.4), model_of(data, lengthscale=0.2)
    for name in ("python", backend.name()):
        with backend.using(name):
            made = model.with_lengthscales(np.full(3, 0.2))
            np.testing.assert_allclose(made.predict(X).mean, shorter.predict(X).mean, rtol=1e-12)
            np.testing.assert_allclose(made.predict(X).std, shorter.predict(X).std, rtol=1e-9)
            assert made.log_evidence() == pytest.approx(shorter.log_evidence())
    assert model.lengthscales.tolist() == [0.4] * 3, "the model itself is as it was"


def test_between_categories_along_grids_and_where_held_lengthscales_stay() -> None:
    grid = Block(1, 2, frozen(np.linspace(0.0, 1.0, 5)[:, None]), True)
    kinds = Block(2, 5, frozen(np.eye(3)), False)
    region = Box(frozen(np.array([0.0, 0, 0, 0, 0, 0.3])), frozen(np.array([1.0, 1, 1, 1, 1, 0.3])), (grid, kinds))
    data = Data(frozen(region.spread(np.random.default_rng(0).random((8, 6)))), frozen(np.arange(8.0)))
    model = shortened(request_for(data=data).outputs[0], region, 0.5)
    assert isinstance(model, GPModel)
    np.testing.assert_allclose(model.lengthscales, [0.15, 0.3, 0.3, 0.3, 0.3, 0.3])


def test_there_is_nothing_to_hedge_without_a_free_column_or_without_lengthscales() -> None:
    data = data_for()
    cells = replace(Box.cube(2), blocks=(Block(0, 2, frozen(data.X), False),))
    assert plausible(request_for().outputs[0], cells, NATS) == (1.0, None)
    assert plausible(request_for(model=Nearest(data.X, data.y)).outputs[0], Box.cube(2), NATS) == (1.0, None)


# What it is told


@pytest.mark.both_backends
def test_a_hedge_is_told_the_lies_of_the_model() -> None:
    request = pending(request_for((21, 22, 23)), (9, 10), np.array([[0.2, 0.9], [0.7, 0.1]]))
    belief = HEDGED.choose(request).memory
    assert isinstance(belief, Belief)
    (part,) = belief.parts
    assert len(part.ids) == 5
    _, (follower,) = belief.following(request, PLAUSIBLE)
    hedge = follower.model
    model = cast(GPModel, part.model)
    assert isinstance(hedge, GPModel)
    np.testing.assert_array_equal(hedge.X, model.X)
    np.testing.assert_array_equal(hedge.y, model.y)
    np.testing.assert_array_equal(hedge.X[-5:], part.X)
    np.testing.assert_allclose(hedge.shift + hedge.scale * hedge.y[-5:], part.y)
    assert (hedge.lengthscales < model.lengthscales).all()


@pytest.mark.both_backends
def test_points_after_the_first_maximize_the_acquisition_under_the_hedge() -> None:
    request = request_for((0,), maximizer=None)
    trial = next(trial for trial in range(20, 40) if not is_own(request, trial, 1))
    request = replace(request, ids=(trial - 1, trial))
    first, second = HEDGED.choose(request).choices
    assert first.provenance == "chosen at LogEI rank 1"
    belief = HEDGED.choose(replace(request, ids=(trial - 1,))).memory
    assert isinstance(belief, Belief)
    belief, (follower,) = belief.following(request, PLAUSIBLE)
    assert f"under lengthscales {follower.factor:.2g} times as long" in second.provenance
    hedge = cast(GPModel, follower.model)
    incumbent = belief.view(request).incumbent

    def worth(X: Array) -> Array:
        at = hedge.predict(X)
        return LogEI().pointwise(at.mean, at.std, incumbent).value

    rivals = np.random.default_rng(0).random((2000, 2))
    assert worth(second.x[None, :])[0] >= worth(rivals).max() - 1e-3


@pytest.mark.skipif(backend.name() != "native", reason="needs both twins")
@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_twins_find_points_that_are_as_good(d: int) -> None:
    """To the tolerance of a climb: a later point of a batch stands on the ones before it."""
    request = request_for((0,), data_for(d, 12), maximizer=None)
    trial = next(trial for trial in range(20, 40) if not is_own(request, trial, 1))
    request = pending(replace(request, ids=(trial,)), (9,), np.full((1, d), 0.45))
    found = {}
    for name in ("native", "python"):
        with backend.using(name):
            chosen = HEDGED.choose(request)
            found[name] = points(chosen)
            assert "under lengthscales" in chosen.choices[0].provenance
            belief = cast(Belief, HEDGED.choose(replace(request, ids=())).memory)
            belief, (follower,) = belief.following(request, PLAUSIBLE)
            model = cast(GPModel, follower.model)
            incumbent = belief.view(request).incumbent
    at = [model.predict(found[name]) for name in ("native", "python")]
    native, python = (float(LogEI().pointwise(one.mean, one.std, incumbent).value[0]) for one in at)
    assert native == pytest.approx(python, abs=1e-3)


# Batches


@pytest.mark.both_backends
@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_asking_one_by_one_is_asking_for_all_at_once(space: Space) -> None:
    """With others pending, to the bit, however crowded it gets."""
    together, apart = study(space), study(space)
    together.ask(2), apart.ask(2)
    at_once = together.ask(14)
    one_by_one = [apart.ask(1)[0] for _ in range(14)]
    assert [trial.encoded.tolist() for trial in one_by_one] == at_once.encoded.tolist()
    assert [trial.provenance for trial in one_by_one] == [trial.provenance for trial in at_once]


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n", [10, 30])
def test_a_crowd_is_the_same_however_it_is_asked_for(d: int, n: int) -> None:
    """What counts as near depends on how many there are by then, not on how many are asked for together."""
    parts = ([24], [1] * 24, [5, 1, 10, 8])
    batches = []
    for part in parts:
        optimizer = observed(d, n)
        batches.append(np.vstack([optimizer.ask(q).encoded for q in part]).tolist())
    assert batches[0] == batches[1] == batches[2]


@pytest.mark.both_backends
def test_a_study_read_from_its_journal_goes_on_with_the_same_hedges(tmp_path: Path) -> None:
    """Also where some asks hold a parameter fixed: then other columns are free."""
    path = tmp_path / "study.jsonl"
    with study(Space.cube(3), 12, journal=path) as optimizer:
        optimizer.ask(3)
        asks: list[dict[str, Any]] = [{}, {"x0": 0.5}, {"x1": 0.1}, {"x0": 0.5}, {}]
        for i, fixed in enumerate(asks):
            shutil.copy(path, tmp_path / f"{i}.jsonl")
            with Optimizer.load(tmp_path / f"{i}.jsonl") as fresh:
                np.testing.assert_array_equal(fresh.ask(2, fixed=fixed).encoded, optimizer.ask(2, fixed=fixed).encoded)
    assert replay(path).identical


@pytest.mark.both_backends
def test_a_table_is_chosen_from_as_by_the_kriging_believer() -> None:
    """There is no distance to hedge between the cells of a table, and none of these are near."""
    hedged, believed = study(SPACES["discrete"], 6), study(SPACES["discrete"], 6, strategy="kb")
    for _ in range(3):
        one, other = hedged.ask(4), believed.ask(4)
        np.testing.assert_array_equal(one.encoded, other.encoded)
        assert [trial.provenance for trial in one] == [trial.provenance for trial in other]
        hedged.tell_many(one, [value(trial.encoded) for trial in one])
        believed.tell_many(other, [value(trial.encoded) for trial in other])


@pytest.mark.parametrize("surrogate", [RandomForest(10), "mq_rbf"], ids=str)
def test_a_model_without_lengthscales_is_believed_as_by_the_kriging_believer(surrogate: Any) -> None:
    hedged, believed = (study(SPACES["square"], surrogate=surrogate, strategy=name) for name in ("hedged", "kb"))
    np.testing.assert_array_equal(hedged.ask(4).encoded, believed.ask(4).encoded)


def test_zero_nats_are_algorithm_1() -> None:
    assert PseudoObservations(Believe(), hedge=0.0) == KB
    request = request_for()
    assert [one.provenance for one in KB.choose(request).choices][1] == "chosen at LogEI rank 1 after believing 1 point"


@pytest.mark.parametrize("hedge", [-1.0, math.nan, math.inf, 1e7, "2", None, True])
def test_a_hedge_is_a_number_of_nats(hedge: Any) -> None:
    with pytest.raises(InvalidInput, match="hedge"):
        PseudoObservations(Believe(), hedge=hedge)


def test_a_hedge_needs_one_model_that_is_conditioned() -> None:
    for settings in ({"lie": Fantasy(samples=2)}, {"update": "refit"}, {"update": "none"}):
        with pytest.raises(InvalidInput, match="one model that is conditioned"):
            PseudoObservations(**{"lie": Believe(), "hedge": 2.0, **settings})  # type: ignore[arg-type]
    assert PseudoObservations(Fantasy(samples=1), "condition", "data", 2.0).hedge == 2.0


# Nearness


def near_share(X: Array, model: Model) -> float:
    """The share of pairs that the verdict takes for nearly the same."""
    pairs = len(X) * (len(X) - 1) / 2
    return len(judge(X, Box.cube(X.shape[1]), model).near_duplicates) / pairs


@each(
    ("n", "q", "d"),
    [
        (10, 3, 1),
        (10, 64, 1),
        (50, 10, 1),
        (500, 3, 1),
        (50, 10, 2),
        (10, 64, 2),
        (10, 10, 6),
        (50, 64, 6),
        (50, 3, 20),
    ],
)
@each("seed", [0, 1])
def test_hardly_any_two_points_of_a_batch_are_nearly_the_same(n: int, q: int, d: int, seed: int) -> None:
    optimizer = observed(d, n, surrogate=GP(noise=1e-6), seed=seed)
    batch = optimizer.ask(q)
    assert near_share(batch.encoded, model_behind(optimizer)) <= 0.01
    assert "look before you pay" not in batch.verdict.sentence or q == 64


def test_nor_in_a_large_batch_after_many_results_in_many_dimensions() -> None:
    optimizer = observed(20, 500, surrogate=GP(noise=1e-6))
    assert near_share(optimizer.ask(64).encoded, model_behind(optimizer)) <= 0.01


@pytest.mark.parametrize("d", [1, 2, 6])
def test_nor_among_pending_points_that_were_asked_for_one_by_one(d: int) -> None:
    optimizer = observed(d, 30, surrogate=GP(noise=1e-6))
    X = np.vstack([optimizer.ask(1).encoded for _ in range(16)])
    assert near_share(X, model_behind(optimizer)) <= 0.01


@pytest.mark.parametrize("d", [1, 2])
def test_nor_in_batches_beside_many_that_are_pending(d: int) -> None:
    """The more are under way, the nearer two have to be for that."""
    optimizer = observed(d, 20, surrogate=GP(noise=1e-6))
    for _ in range(6):
        assert optimizer.ask(8).verdict.near_duplicates == ()


def test_points_may_repeat_where_they_need_not_differ() -> None:
    optimizer = Optimizer(Space({"n": Int(0, 1)}), surrogate=GP(noise=1e-6), n_init=1, seed=0)
    optimizer.observe({"n": 0}, 1.0)
    optimizer.observe({"n": 1}, 0.0)
    assert len(optimizer.ask(5, distinct=False)) == 5


def test_where_results_are_noisy_points_beside_evaluated_ones_are_called_replicates() -> None:
    replicates = 0
    for seed in range(3):
        optimizer = observed(1, 40, noise=0.3, surrogate=GP(noise="infer"), seed=seed)
        batch = optimizer.ask(6)
        assert model_behind(optimizer).is_noisy
        replicates += sum("; nearly a replicate, as results are noisy" in trial.provenance for trial in batch)
        assert not batch.verdict.near_duplicates, "two points a little apart say as much as one twice"
    assert replicates


def test_a_deterministic_model_makes_no_replicates() -> None:
    optimizer = observed(1, 40, surrogate=GP(noise=1e-6))
    assert not any("replicate" in trial.provenance for trial in optimizer.ask(10))


@pytest.mark.parametrize("noisy", [False, True])
def test_the_verdict_calls_near_pairs_replicates_only_where_results_are_noisy(noisy: bool) -> None:
    X = np.array([[0.5, 0.5], [0.5, 0.5001]])
    verdict = judge(X, Box.cube(2), model_of(data_for(), noise=0.1 if noisy else 1e-6))
    assert verdict.near_duplicates == ((0, 1),)
    assert ("replicates, as results are noisy" in verdict.sentence) == noisy
    assert ("look before you pay for both" in verdict.sentence) != noisy


@each("q", [1, 2, 10, 1000])
@each("d", [1, 2, 6])
def test_the_spacing_leaves_room_for_everyone(q: int, d: int) -> None:
    """Balls around q points, within which others are too near, fill a small part of the cube, in any dimension."""
    rule = nearness(Box.cube(d), q, model_of(data_for(d), lengthscale=5.0))
    ball = math.pi ** (0.5 * d) / math.gamma(0.5 * d + 1.0) * rule.reach**d
    assert q * ball == pytest.approx(0.25**d)
    assert rule.radius == 0.1
    assert nearness(Box.cube(d), q, None).radius == 1e-3


# Resolution


def test_the_least_improvement_that_matters_is_of_the_user_or_from_the_results() -> None:
    data = Data(frozen(np.arange(5.0)[:, None] / 4.0), frozen(np.array([1.0, 3.0, 5.0, 1e6, 1e9])))
    assert resolution_of(request_for(data=data)) == pytest.approx(1e-4 * (data.y.mean() - 1.0))
    assert resolution_of(request_for(data=data, resolution=0.3)) == 0.3
    assert resolution_of(request_for(data=data, resolution=0.0)) == 0.0


@pytest.mark.parametrize("std", [1e-3, 1.0, 1e3])
def test_it_is_settled_where_less_than_that_is_expected(std: float) -> None:
    """At the mean of the incumbent the expected improvement is σ / √(2π)."""
    expected, at = std / math.sqrt(2.0 * math.pi), Prediction(np.zeros(1), np.full(1, std))
    for resolution, settled in ((1.01 * expected, True), (0.99 * expected, False), (0.0, False)):
        assert has_nothing_left(request_for(resolution=resolution), 0.0, at) == settled
    assert not has_nothing_left(request_for(resolution=1e9), None, at), "nothing is to be beaten"
    nowhere = Prediction(np.zeros(0), np.zeros(0))
    assert not has_nothing_left(request_for(resolution=1e9), 0.0, nowhere), "nobody was asked about"


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_where_nothing_that_matters_is_expected_points_are_chosen_elsewhere(d: int, seed: int) -> None:
    def late(**settings: Any) -> tuple[Array, list[str]]:
        """How far the points of the last two batches on a bowl are from its bottom, and where they come from."""
        optimizer = Optimizer(Space.cube(d), n_init=4, seed=seed, **settings)
        for _ in range(8):
            batch = optimizer.ask(4)
            optimizer.tell_many(batch, [float(((trial.encoded - 0.3) ** 2).sum()) for trial in batch])
        last = optimizer.trials[-8:]
        return np.array([np.linalg.norm(t.encoded - 0.3) for t in last]), [t.provenance for t in last]

    distance, why = late(resolution=1e-3)
    says = ["as nothing that matters is expected otherwise" in one for one in why]
    assert all(says)
    assert np.median(distance) > 0.02
    assert distance.min() > 1e-3, "nothing is refined below what matters"
    assert np.median(late(strategy="kb", warp="none")[0]) < 0.01
    assert not any("nothing that matters" in one for one in late(resolution=0.0)[1])


def test_the_resolution_is_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    study(SPACES["line"], 4, journal=path, resolution=0.02).close()
    with Optimizer.load(path) as loaded:
        assert loaded.settings.resolution == 0.02
    with Optimizer.open(path, SPACES["line"], n_init=4, resolution=0.02, seed=0):
        pass
    with Optimizer.open(path, SPACES["line"], n_init=4, seed=0) as unnamed:
        assert unnamed.settings.resolution == 0.02
    with pytest.raises(InvalidInput, match=r"resolution: 0.02, now 0.5"):
        Optimizer.open(path, SPACES["line"], n_init=4, resolution=0.5, seed=0)
