from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from batch_requests import FAST, data_for, model_of, pending, points, randomness, request_for
from each import each
from scipy.stats import chisquare

import believer as bv
from believer.acquisitions import Pointwise
from believer.arrays import SAME_POINT, Array, frozen, near_any
from believer.batch.random import REPLACED
from believer.batch.thompson import Depth, Thompson
from believer.errors import InvalidInput, MissingCapability, SpaceExhausted
from believer.maximize import Candidates, FixedStarts
from believer.space.box import Block, Box
from believer.surrogates import GP, MQRBF, SVR, FixedRBF, GPModel, LastLayer, SparseGP
from believer.surrogates.data import Data
from believer.surrogates.gp import posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Model, Prediction

WHOLE = "chosen at Thompson rank 1 of a function drawn from the model"


def reasons(chosen: Any) -> list[str]:
    return [choice.provenance for choice in chosen.choices]


@dataclass(frozen=True)
class Sampler:
    """A process of which only means and joint draws are to be had."""

    model: GPModel

    def predict(self, X: Array) -> Prediction:
        return self.model.predict(X)

    def sample(self, X: Array, count: int, rng: np.random.Generator, *, noisy: bool = False) -> Array:
        assert not noisy
        return self.model.sample(X, count, rng)


KINDS = ("whole", "values")
every_kind = each("kind", KINDS)


def of_kind(kind: str, model: GPModel) -> Model:
    return model if kind == "whole" else Sampler(model)


def grid(values: int) -> Box:
    """A line of that many points."""
    steps = np.linspace(0.0, 1.0, values)
    block = Block(0, 1, frozen(steps[:, None]), ordered=True)
    return replace(Box.cube(1), blocks=(block,))


# What is chosen


def test_a_trial_gets_the_minimum_of_its_own_draw() -> None:
    request = request_for(maximizer=None)
    chosen = Thompson().choose(request)
    assert reasons(chosen) == [WHOLE] * 3
    rough = np.random.default_rng(0).random((4000, 2))
    for trial, x in zip(request.ids, points(chosen), strict=True):
        assert isinstance(request.model, GPModel)
        drawn = request.model.paths(1, randomness(trial, "path"))
        assert drawn.value(x[None, :])[0, 0] <= drawn.value(rough).min() + 1e-6


def test_values_drawn_at_candidates_are_used_where_functions_cannot_be_drawn() -> None:
    data = data_for()
    chosen = Thompson(candidates=50).choose(request_for(model=Sampler(model_of(data)), data=data))
    # Three places of the data have forty neighbors each.
    assert reasons(chosen) == ["chosen at Thompson rank 1 of 170 values drawn from the model"] * 3


@every_kind
def test_a_point_is_chosen_as_often_as_it_is_best_under_the_model(kind: str) -> None:
    data = Data(frozen([[0.5]]), frozen([1.0]))
    model = posterior(Hyperparameters("matern52", frozen([0.4]), 1.5, 1e-6), data.X, data.y, 0.0, 1.0)
    region, trials = grid(4), 600
    request = request_for(tuple(range(trials)), data, model=of_kind(kind, model), region=region, distinct=False)
    best = model.sample(region.points(), 400_000, np.random.default_rng(0)).argmin(axis=1)
    expected = trials * np.bincount(best, minlength=4) / 400_000
    found = np.round(3.0 * points(Thompson().choose(request))[:, 0]).astype(int)
    # The false-alarm rate; the draws are seeded.
    assert chisquare(np.bincount(found, minlength=4), expected).pvalue > 1e-6
    assert expected.min() > 20.0
    assert expected.max() > 1.4 * expected.min()


@every_kind
def test_asking_one_by_one_is_asking_at_once(kind: str) -> None:
    data = data_for()
    request = request_for(model=of_kind(kind, model_of(data)), data=data)
    at_once = Thompson().choose(request)
    X = np.zeros((0, 2))
    for trial, choice in zip(request.ids, at_once.choices, strict=True):
        single = pending(replace(request, ids=(trial,)), tuple(range(20, trial)), X)
        (alone,) = Thompson().choose(single).choices
        np.testing.assert_array_equal(alone.x, choice.x)
        assert alone.provenance == choice.provenance
        X = np.vstack([X, alone.x])


def test_neither_pending_points_nor_the_acquisition_change_a_draw() -> None:
    class Refusing:
        def pointwise(self, mean: Array, std: Array, incumbent: float) -> Pointwise:
            raise AssertionError("not to be called")

    request = request_for()
    busy = pending(replace(request, acquisition=Refusing()), (19,), np.array([[0.123, 0.456]]))
    np.testing.assert_array_equal(points(Thompson().choose(busy)), points(Thompson().choose(request)))


@every_kind
@each("size", [2.0**40, 2.0**-40])
@each("offset", [0.0, 2.0**10])
def test_the_units_of_y_play_no_part(kind: str, size: float, offset: float) -> None:
    data = data_for()
    scaled = Data(data.X, frozen(size * (data.y + offset)))
    a, b = (
        points(Thompson().choose(request_for(data=part, model=of_kind(kind, model_of(part)))))
        for part in (data, scaled)
    )
    np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-4)


def test_the_depth_of_a_function_is_in_standard_deviations_of_the_results() -> None:
    data = data_for()
    drawn = model_of(data).paths(1, np.random.default_rng(0))
    depth, X = Depth(drawn, 5.0, 2.0), np.random.default_rng(1).random((3, 2))
    value, gradient = depth.value_with_gradient(X)
    assert depth.has_gradient
    np.testing.assert_allclose(value, (5.0 - drawn.value(X)[0]) / 2.0, rtol=1e-12)
    np.testing.assert_array_equal(depth.value(X), (5.0 - drawn.value(X)[0]) / 2.0)
    np.testing.assert_array_equal(gradient, drawn.value_with_gradient(X)[1][0] / -2.0)


# Distinct points


@every_kind
def test_where_draws_agree_the_next_best_is_taken_and_provenance_says_so(kind: str) -> None:
    X = np.array([[0.0], [0.25], [0.375], [0.625], [1.0]])
    data = Data(frozen(X), frozen((X[:, 0] - 0.47) ** 2))
    request = request_for(
        data=data, model=of_kind(kind, model_of(data, lengthscale=1.0)), region=grid(9), avoid=data.X, ids=(1, 2)
    )
    chosen = Thompson().choose(request)
    assert len(np.unique(points(chosen))) == 2
    assert points(chosen)[0, 0] == 0.5
    assert "rank 1 of" in reasons(chosen)[0]
    assert "rank 5 of" in reasons(chosen)[1]
    assert reasons(chosen)[1].endswith("; ranks 1 to 4 were handed out already")
    repeated = Thompson().choose(replace(request, distinct=False))
    np.testing.assert_array_equal(points(repeated), [[0.5], [0.5]])


@every_kind
def test_a_finite_space_is_used_up_to_its_last_point_and_no_further(kind: str) -> None:
    data = Data(frozen([[0.0], [1.0]]), frozen([1.0, 2.0]))
    request = request_for((5, 6, 7), data, model=of_kind(kind, model_of(data)), region=grid(5))
    chosen = Thompson().choose(request)
    assert sorted(points(chosen)[:, 0]) == [0.25, 0.5, 0.75]
    # Every point has a value once, none twice.
    assert all(f" of {'a function' if kind == 'whole' else '5 values'} drawn" in reason for reason in reasons(chosen))
    with pytest.raises(SpaceExhausted):
        Thompson().choose(replace(request, ids=(5, 6, 7, 8)))


def test_a_uniform_draw_takes_the_place_of_candidates_that_are_all_taken() -> None:
    data = data_for()
    crowded = replace(Box.cube(2), tolerance=frozen([0.05, 2.0]))
    # All but a slit of the square is as good as taken.
    taken = np.array([[x, 0.5] for x in (*np.arange(0.05, 0.9, 0.1), 0.9505)])
    request = request_for((4,), data, model=Sampler(model_of(data)), region=crowded, avoid=taken)
    (choice,) = Thompson(candidates=1).choose(request).choices
    assert 0.9 < choice.x[0] < 0.9005
    assert choice.provenance.endswith("; ranks 1 to 121 were handed out already" + REPLACED)


@pytest.mark.parametrize("maximizer", [None, Candidates(64, 8, 4, 2), FixedStarts()], ids=repr)
@every_kind
def test_points_are_distinct_and_inside_with_any_maximizer(kind: str, maximizer: Any) -> None:
    data = data_for()
    request = request_for(tuple(range(6)), data, model=of_kind(kind, model_of(data, 0.1)), maximizer=maximizer)
    X = points(Thompson().choose(request))
    np.testing.assert_array_equal(X, points(Thompson().choose(request)))
    assert ((X >= 0.0) & (X <= 1.0)).all()
    for i in range(6):
        assert not near_any(X[i : i + 1], np.vstack([data.X, X[:i]]), SAME_POINT)[0]


# What it takes


def test_a_model_that_cannot_draw_is_refused_with_the_names_of_those_that_can() -> None:
    data = data_for()
    model = SVR().fit(data, np.random.default_rng(0))
    with pytest.raises(MissingCapability, match=r"thompson needs a model that gives functions .*MQRBF.*GP.*random\."):
        Thompson().choose(request_for(model=model, data=data))


@pytest.mark.parametrize("candidates", [0, -1, 2.5, True, "many"])
def test_the_number_of_candidates_is_a_whole_number_above_zero(candidates: Any) -> None:
    with pytest.raises(InvalidInput, match="candidates must be a whole number, 1 or more"):
        Thompson(candidates)


# Studies

SPACE = bv.Space({"x": bv.Float(-2.0, 2.0), "k": bv.Int(1, 9), "c": bv.Categorical(["a", "b"])})


def cost(params: dict[str, Any]) -> float:
    return float((params["x"] - 1.0) ** 2 + 0.1 * (params["k"] - 4) ** 2 + (params["c"] == "b"))


@each("surrogate", [GP(), GP(noise="infer"), SparseGP(), FixedRBF(), LastLayer(max_iterations=50), MQRBF()], ids=repr)
@each("maximize", [False, True])
def test_a_study_has_distinct_trials_while_some_are_pending_or_failed(surrogate: Any, maximize: bool) -> None:
    def run() -> list[dict[str, Any]]:
        study = bv.Optimizer(
            SPACE, surrogate=surrogate, strategy=Thompson(), seed=1, n_init=4, maximizer=FAST, maximize=maximize
        )
        for trial in study.ask(4):
            study.tell(trial, cost(trial.params))
        waiting = study.ask(3)
        study.tell(waiting[0], cost(waiting[0].params))
        study.tell(waiting[1], error="lost")
        study.ask(4)
        return [trial.params for trial in study.trials]

    trials = run()
    assert len({tuple(params.values()) for params in trials}) == 11
    assert trials == run()


@pytest.mark.parametrize(
    ("n", "d", "q", "y"),
    [(1, 1, 3, None), (1, 50, 2, None), (6, 2, 40, None), (5, 2, 3, 0.0), (5, 2, 3, 7e11), (5, 2, 3, -3e-12)],
)
def test_few_results_many_columns_large_batches_and_constant_results(n: int, d: int, q: int, y: float | None) -> None:
    study = bv.Optimizer(bv.Space.cube(d), strategy=Thompson(), seed=0, n_init=n, maximizer=FAST)
    for trial in study.ask(n):
        study.tell(trial, float(sum(trial.params.values())) if y is None else y)
    batch = study.ask(q)
    units = np.array([trial.encoded for trial in batch])
    assert len(np.unique(np.round(units, 6), axis=0)) == q
    assert ((units >= 0.0) & (units <= 1.0)).all()
