from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest
from batch_requests import Nearest, data_for, pending, request_for
from hypothesis import given, settings
from hypothesis import strategies as st

from believer import GP, Float, Optimizer, Space
from believer.acquisitions import EI, JointImprovement
from believer.arrays import Array, frozen
from believer.batch.gain import ENOUGH, MOST_BESIDE, Gain, expected_gain
from believer.batch.incumbent import real_incumbent
from believer.batch.request import NoModel, Request
from believer.numerics import normal_sobol
from believer.surrogates.data import Data
from believer.surrogates.protocols import JointlyDifferentiable, JointPrediction, Prediction
from believer.surrogates.warp import Warp

pytestmark = pytest.mark.both_backends

MANY = 1 << 14


def some(q: int, seed: int = 0, d: int = 2) -> Array:
    return np.random.default_rng(seed).random((q, d))


def gain_of(request: Request, X: Array) -> Gain:
    found = expected_gain(request, X)
    assert found is not None
    return found


def no_randomness(trial: int, purpose: str) -> np.random.Generator:
    raise AssertionError("a verdict draws nothing from the study's randomness")


def by_force(request: Request, X: Array, warp: Warp | None = None) -> Array:
    """Gains (MANY,) of the whole batch from independent samples, in the user's units."""
    model: Any = request.model
    together = np.vstack([X, request.pending.X])
    f = model.sample(together, MANY, np.random.default_rng(7))
    best = np.array(real_incumbent(request))
    if warp is not None:
        f, best = warp.inverse(f), warp.inverse(best)
    least = np.minimum(best, f[:, len(X) :].min(axis=1, initial=np.inf))
    gains: Array = np.maximum(least - f[:, : len(X)].min(axis=1), 0.0)
    return gains


def close_to(gains: Array) -> Any:
    """Their mean, to five standard errors of 512 independent samples; the fixed ones do better."""
    return pytest.approx(gains.mean(), abs=5.0 * gains.std() / np.sqrt(512.0))


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(0, 2**32), st.integers(0, 3))
def test_the_curve_rises_ever_more_slowly_over_all_points(q: int, seed: int, beside: int) -> None:
    X = some(q + beside, seed)
    request = pending(request_for(), tuple(range(beside)), X[q:])
    gain = gain_of(request, X[:q])
    curve = np.array(gain.curve)
    steps = np.diff(curve, prepend=0.0)
    assert sorted(gain.order) == list(range(q))
    assert (steps >= 0.0).all()
    assert (np.diff(steps) <= 1e-12 * curve[-1]).all()
    assert (gain.alone, gain.together) == (curve[0], curve[-1])
    assert 0.0 <= gain.interval[0] <= gain.interval[1]
    assert gain.beside == beside


@pytest.mark.parametrize("seed", range(4))
def test_the_best_point_alone_has_its_expected_improvement(seed: int) -> None:
    request, X = request_for(), some(5, seed)
    at = request.model.predict(X)
    alone = EI().pointwise(at.mean, at.std, real_incumbent(request)).value
    gain = gain_of(request, X)
    error = 5e-3 * float(request.data.y.std())
    assert gain.alone == pytest.approx(alone.max(), rel=0.05, abs=error)
    assert gain.alone == pytest.approx(alone[gain.order[0]], rel=0.05, abs=error)
    assert gain_of(request, X[:1]).together == pytest.approx(alone[0], rel=0.05, abs=0.1 * error)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_points_have_their_joint_improvement(seed: int) -> None:
    request, X = request_for(), some(6, seed)
    gain = gain_of(request, X)
    for j in (1, 3, 6):
        normals = normal_sobol(4096, j, np.random.default_rng(1))
        first = X[list(gain.order[:j])].reshape(1, -1)
        model = cast(JointlyDifferentiable, request.model)
        value = JointImprovement(model, real_incumbent(request), normals, X[:0]).value(first)[0]
        assert gain.curve[j - 1] == pytest.approx(value, rel=0.05, abs=5e-3 * float(request.data.y.std()))


def test_the_interval_holds_eight_samples_of_ten() -> None:
    request, X = request_for(), some(4)
    low, high = gain_of(request, X).interval
    gains = by_force(request, X)
    assert np.mean(gains < low) <= 0.13
    assert np.mean(gains > high) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("copies", [2, 5, 40])
def test_copies_add_nothing(copies: int) -> None:
    gain = gain_of(request_for(), np.tile(some(1, 3), (copies, 1)))
    assert gain.alone > 0.0
    assert gain.together == pytest.approx(gain.alone, rel=1e-3)
    assert gain.added == pytest.approx(0.0, abs=1e-3)
    assert gain.slots == 1


@pytest.mark.parametrize("seed", range(3))
def test_beside_pending_points_it_is_what_the_batch_adds_to_theirs(seed: int) -> None:
    X = some(6, seed)
    request = pending(request_for(), (7, 8), X[4:])
    gain = gain_of(request, X[:4])
    assert gain.together == close_to(by_force(request, X[:4]))
    without = gain_of(request_for(), X[:4])
    assert gain.together <= without.together
    twice = gain_of(pending(request_for(), (7, 8, 9, 10), X[:4]), X[:4])
    assert twice.together == pytest.approx(0.0, abs=1e-3 * without.together)


def test_of_very_many_pending_points_the_last_count() -> None:
    beside = some(MOST_BESIDE + 20, 1)
    every, last = (
        gain_of(pending(request_for(), tuple(range(len(X))), X), some(3)) for X in (beside, beside[-MOST_BESIDE:])
    )
    assert every.curve == last.curve
    assert (every.beside, last.beside) == (MOST_BESIDE + 20, MOST_BESIDE)


@pytest.mark.parametrize("noise", [1e-6, 0.3])
def test_under_noise_the_function_is_to_improve_on_what_is_believed(noise: float) -> None:
    request, X = request_for(noise=noise), some(4)
    assert gain_of(request, X).together == close_to(by_force(request, X))
    assert (real_incumbent(request) == request.data.y.min()) == (noise < 0.1)


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40, 2.0**-300])
def test_it_is_in_the_units_of_y(factor: float) -> None:
    data = data_for()
    one, other = (gain_of(request_for(data=Data(data.X, frozen(data.y * f))), some(5)) for f in (1.0, factor))
    assert other.order == one.order
    for name in ("curve", "interval", "resolution"):
        np.testing.assert_allclose(getattr(other, name), factor * np.array(getattr(one, name)), rtol=1e-12)


@pytest.mark.parametrize("above", [False, True])
def test_a_model_that_is_warped_tells_it_in_the_users_units(above: bool) -> None:
    """Where all is noise the value to beat may be of the worse half, which the warp has changed."""
    request, X = request_for(noise=0.3), some(4)
    best, spread = real_incumbent(request), float(request.data.y.std())
    warp = Warp(best - 0.3 * spread if above else best + spread, 0.2 * spread)
    gains = by_force(request, X, warp)
    assert gain_of(replace(request, warp=warp), X).together == close_to(gains)
    if above:
        assert abs(gain_of(request, X).together - gains.mean()) > 0.1 * gains.mean()


@dataclass(frozen=True)
class Broken:
    """A model whose covariances are no numbers."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.zeros(len(X)), np.ones(len(X)))

    def joint(self, X: Array) -> JointPrediction:
        return JointPrediction(np.zeros(len(X)), np.full((len(X), len(X)), np.nan))


def test_without_joint_covariances_nothing_is_said() -> None:
    data = data_for()
    for model in (NoModel(), Nearest(data.X, data.y), Broken()):
        assert expected_gain(request_for(model=model), some(3)) is None


@pytest.mark.parametrize("q", [3, 100])
def test_points_without_uncertainty_gain_nothing_and_give_numbers(q: int) -> None:
    data = data_for()
    known = gain_of(request_for(data=data), np.resize(data.X, (q, 2)))
    assert known.together <= 1e-3 * float(data.y.std())
    mixed = gain_of(request_for(data=data), np.vstack([np.resize(data.X, (q, 2)), some(q), some(q)]))
    assert np.isfinite(mixed.curve).all()
    assert mixed.together == pytest.approx(gain_of(request_for(data=data), some(q)).together, rel=0.1)
    assert mixed.slots <= q + 1


@pytest.mark.parametrize("value", [0.0, 3.0, 1e9, -1e-12])
def test_results_that_are_all_equal_give_no_scale_of_a_gain(value: float) -> None:
    data = Data(data_for().X, frozen(np.full(8, value)))
    assert expected_gain(request_for(data=data), some(4)) is None


def test_the_same_question_has_the_same_answer_and_draws_nothing() -> None:
    request = request_for(randomness=no_randomness)
    one, two = (gain_of(request, some(4)) for _ in range(2))
    assert one == two == pickle.loads(pickle.dumps(one))


def a_gain(*curve: float, resolution: float = 0.0) -> Gain:
    return Gain(curve, tuple(range(len(curve))), (0.0, 2.0 * curve[-1]), 0, resolution)


def test_slots_are_the_fewest_with_most_of_the_gain() -> None:
    assert a_gain(0.5, 0.8, ENOUGH, 0.98, 1.0).slots == 3
    assert a_gain(1.0, 1.0).slots == 1
    assert a_gain(0.1, 0.2).slots == 2
    assert a_gain(0.0, 0.0).slots == 0
    assert a_gain(0.12, 0.21).added == pytest.approx(0.75)
    assert a_gain(0.0, 0.0).added == 0.0


def test_it_matters_above_the_resolution_of_the_study() -> None:
    X = some(4)
    gain = gain_of(request_for(), X)
    assert gain.matters
    assert gain_of(request_for(resolution=0.9 * gain.together), X).matters
    coarse = gain_of(request_for(resolution=1.1 * gain.together), X)
    assert not coarse.matters
    assert coarse.curve == gain.curve


def a_study(sign: float, scale: float = 1.0, **parts: Any) -> Optimizer:
    """Twelve results of a heavy-tailed bowl."""
    study = Optimizer(
        Space({"a": Float(0.0, 1.0), "b": Float(0.0, 1.0)}), n_init=1, maximize=sign < 0.0, **{"seed": 0, **parts}
    )
    for a, b in some(12, 5):
        study.observe({"a": a, "b": b}, sign * scale * float(np.exp(8.0 * ((a - 0.4) ** 2 + (b - 0.6) ** 2))))
    return study


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_study_that_maximizes_gains_what_its_mirror_image_gains(scale: float) -> None:
    up, down = (a_study(sign, scale, surrogate=GP(noise=1e-6)).ask(3).verdict for sign in (-1.0, 1.0))
    assert up.gain is not None
    assert up == down
    assert up.gain.together > 0.0


@pytest.mark.parametrize("warp", ["auto", "none"])
def test_the_gain_of_a_study_is_that_of_samples_of_its_own_model(warp: str) -> None:
    study = a_study(1.0, surrogate=GP(noise=1e-6), warp=warp)
    learned = study._insight.learned()
    assert (learned.warp is not None) == (warp == "auto")
    batch = study.ask(4)
    model: Any = learned.model
    f = model.sample(batch.unit, MANY, np.random.default_rng(3))
    f = f if learned.warp is None else learned.warp.inverse(f)
    best = min(record["value"] for record in study.records() if record["value"] is not None)
    assert batch.verdict.gain is not None
    assert batch.verdict.gain.together == close_to(np.maximum(best - f.min(axis=1), 0.0))


def test_a_study_knows_what_is_pending() -> None:
    study = a_study(1.0, surrogate=GP(noise=1e-6), strategy="cl_min")
    first, second = study.ask(4), study.ask(4)
    learned = study._insight.learned()
    request = replace(request_for(data=learned.data, model=learned.model), warp=learned.warp)
    request = pending(request, tuple(trial.id for trial in first), first.unit)
    assert second.verdict.gain is not None
    assert second.verdict.gain.beside == 4
    assert second.verdict.gain.together == close_to(by_force(request, second.unit, learned.warp))
