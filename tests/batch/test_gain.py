from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from batch_requests import Nearest, data_for, declared, pending, request_for
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from believer import GP, Float, Optimizer, Space
from believer.acquisitions import EI, JointImprovement
from believer.acquisitions.feasibility import Limits
from believer.arrays import Array, frozen
from believer.batch import Learned
from believer.batch.best_so_far import best_so_far, real_incumbent
from believer.batch.gain import ENOUGH, LIKELY, MAX_PENDING, POSSIBLE, Gain, expected_gain
from believer.batch.request import NoModel, Request, with_pending
from believer.batch.worth import worth
from believer.numerics import normal_sobol
from believer.surrogates.data import Data
from believer.surrogates.protocols import JointlyDifferentiable, JointPrediction, Prediction, Sampling
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
    together, rng = np.vstack([X, request.pending.X]), np.random.default_rng(7)
    f, *limited = (cast(Sampling, one.model).sample(together, MANY, rng) for one in request.outputs)
    best = np.array(real_incumbent(request))
    if warp is not None:
        f, best = warp.inverse(f), warp.inverse(best)
    for one, values in zip(request.limited, limited, strict=True):
        assert one.limits is not None
        f = np.where(one.limits.holds(values), f, np.inf)
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
    assert (gain.single, gain.together) == (curve[0], curve[-1])
    assert 0.0 <= gain.interval[0] <= gain.interval[1]
    assert gain.n_pending == beside


@each("seed", range(4))
def test_the_best_point_alone_has_its_expected_improvement(seed: int) -> None:
    request, X = request_for(), some(5, seed)
    at = request.model.predict(X)
    alone = EI().pointwise(at.mean, at.std, real_incumbent(request)).value
    gain = gain_of(request, X)
    error = 5e-3 * float(request.data.y.std())
    assert gain.single == pytest.approx(alone.max(), rel=0.05, abs=error)
    assert gain.single == pytest.approx(alone[gain.order[0]], rel=0.05, abs=error)
    assert gain_of(request, X[:1]).together == pytest.approx(alone[0], rel=0.05, abs=0.1 * error)


LIMITS: dict[str, tuple[Limits, ...]] = {
    "no limit": (),
    "a limit": (Limits(high=5.5),),
    "both sides, and another": (Limits(5.2, 5.8), Limits(low=5.0)),
}
any_limits = pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)


def hopeful(request: Request, q: int, seed: int) -> tuple[Array, Array]:
    """Points (q, d), some of the best of two hundred, and what a strategy takes them to be worth, (q,)."""
    X, here, models = some(200, seed), best_so_far(request), tuple(one.model for one in request.outputs)
    weighed = np.exp(worth(request, models, here, 20, incumbent=here.incumbent).objective.value(X))
    best = np.argsort(-weighed)[: 3 * q : 3]
    return X[best], weighed[best]


@any_limits
@each("seed", range(3))
def test_a_point_gains_its_expected_improvement_times_the_chance_that_limits_are_kept(
    limits: tuple[Limits, ...], seed: int
) -> None:
    """What samples say on average is what a strategy weighs, up to the error of so many samples."""
    request = declared(None, *limits)
    X, weighed = hopeful(request, 6, seed)
    for x, expected in zip(X[:, None], weighed, strict=True):
        gains, found = by_force(request, x), gain_of(request, x).together
        assert gains.mean() == pytest.approx(expected, abs=5.0 * gains.std() / np.sqrt(MANY))
        assert found == pytest.approx(expected, abs=5.0 * gains.std() / np.sqrt(512.0))


@any_limits
def test_a_batch_within_limits_gains_what_it_adds_to_pending_points(limits: tuple[Limits, ...]) -> None:
    request = declared(None, *limits)
    X = hopeful(request, 6, 0)[0]
    gains = by_force(with_pending(request, (20, 21), X[:2]), X[2:])
    assert 0.0 < gains.mean() < by_force(request, X[2:]).mean()
    assert gain_of(with_pending(request, (20, 21), X[:2]), X[2:]).together == close_to(gains)


def test_where_no_result_keeps_limits_there_is_nothing_to_improve_on() -> None:
    assert expected_gain(declared(None, Limits(high=-100.0)), some(3)) is None


@each("seed", range(4))
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
    assert gain.single > 0.0
    assert gain.together == pytest.approx(gain.single, rel=1e-3)
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
    beside = some(MAX_PENDING + 20, 1)
    every, last = (
        gain_of(pending(request_for(), tuple(range(len(X))), X), some(3)) for X in (beside, beside[-MAX_PENDING:])
    )
    assert every.curve == last.curve
    assert (every.n_pending, last.n_pending) == (MAX_PENDING + 20, MAX_PENDING)


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
    assert gain_of(request.with_first(warp=warp), X).together == close_to(gains)
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


@each("value", [0.0, 3.0, 1e9, -1e-12])
def test_results_that_are_all_equal_give_no_scale_of_a_gain(value: float) -> None:
    data = Data(data_for().X, frozen(np.full(8, value)))
    assert expected_gain(request_for(data=data), some(4)) is None


def test_the_same_question_has_the_same_answer_and_draws_nothing() -> None:
    request = request_for(randomness=no_randomness)
    one, two = (gain_of(request, some(4)) for _ in range(2))
    assert one == two == pickle.loads(pickle.dumps(one))


def a_gain(*curve: float, chance: float = 0.9, resolution: float = 0.0) -> Gain:
    return Gain(curve, tuple(range(len(curve))), (0.0, 2.0 * curve[-1]), chance, 0, resolution)


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


STRONGEST_FIRST = ["likely", "possible", "unlikely", "little"]


def test_the_chance_falls_with_the_resolution_and_the_word_with_both() -> None:
    """A higher chance never has a weaker word, and what is below the resolution is little whatever its chance."""
    found = [gain_of(request_for(resolution=least), some(4)) for least in np.geomspace(1e-6, 10.0, 30)]
    chances = [gain.chance for gain in found]
    assert 1.0 >= chances[0] > chances[-1] >= 0.0
    assert chances == sorted(chances, reverse=True)
    ranks = [STRONGEST_FIRST.index(gain.outlook) for gain in found]
    assert ranks == sorted(ranks)
    assert found[-1].outlook == "little"
    for gain in found:
        assert (gain.outlook == "little") == (gain.together <= gain.resolution)


@each(
    ("chance", "word"),
    [
        (1.0, "likely"),
        (LIKELY, "likely"),
        (0.49, "possible"),
        (POSSIBLE, "possible"),
        (0.09, "unlikely"),
        (0.0, "unlikely"),
    ],
)
def test_the_word_is_that_of_the_chance(chance: float, word: str) -> None:
    assert a_gain(0.2, 0.5, chance=chance).outlook == word
    assert a_gain(0.2, 0.5, chance=chance, resolution=0.5).outlook == "little"


def test_a_batch_has_no_lower_chance_than_its_points() -> None:
    request, X = request_for(resolution=1e-3), some(4)
    assert gain_of(request, X).chance >= max(gain_of(request, x[None]).chance for x in X)


@each("least", [1e-9, 0.1, 0.5])
def test_the_chance_of_a_point_is_that_of_a_normal_variable(least: float) -> None:
    request = request_for(resolution=least)
    for x in some(8):
        at = request.model.predict(x[None])
        expected = float(ndtr((real_incumbent(request) - least - at.mean[0]) / at.std[0]))
        assert gain_of(request, x[None]).chance == pytest.approx(expected, abs=0.01)


def a_study(sign: float, scale: float = 1.0, **parts: Any) -> Optimizer:
    """Twelve results of a heavy-tailed bowl."""
    study = Optimizer(
        Space({"a": Float(0.0, 1.0), "b": Float(0.0, 1.0)}), n_init=1, maximize=sign < 0.0, **{"seed": 0, **parts}
    )
    for a, b in some(12, 5):
        study.observe({"a": a, "b": b}, sign * scale * float(np.exp(8.0 * ((a - 0.4) ** 2 + (b - 0.6) ** 2))))
    return study


def learned_by(study: Optimizer) -> Learned:
    insight = study._insight
    return insight.cache.learned(insight.history)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_a_study_that_maximizes_gains_what_its_mirror_image_gains(scale: float) -> None:
    up, down = (a_study(sign, scale, surrogate=GP(noise=1e-6)).ask(3).verdict for sign in (-1.0, 1.0))
    assert up.gain is not None
    assert up == down
    assert up.gain.together > 0.0


@pytest.mark.parametrize("warp", ["auto", "none"])
def test_the_gain_of_a_study_is_that_of_samples_of_its_own_model(warp: str) -> None:
    study = a_study(1.0, surrogate=GP(noise=1e-6), warp=warp)
    learned = learned_by(study)
    assert (learned.warp is not None) == (warp == "auto")
    batch = study.ask(4)
    model: Any = learned.model
    f = model.sample(batch.encoded, MANY, np.random.default_rng(3))
    f = f if learned.warp is None else learned.warp.inverse(f)
    best = min(record["value"] for record in study.records() if record["value"] is not None)
    assert batch.verdict.gain is not None
    assert batch.verdict.gain.together == close_to(np.maximum(best - f.min(axis=1), 0.0))


def test_a_study_knows_what_is_pending() -> None:
    study = a_study(1.0, surrogate=GP(noise=1e-6), strategy="cl_min")
    first, second = study.ask(4), study.ask(4)
    learned = learned_by(study)
    request = request_for(data=learned.data, model=learned.model, warp=learned.warp)
    request = pending(request, tuple(trial.id for trial in first), first.encoded)
    assert second.verdict.gain is not None
    assert second.verdict.gain.n_pending == 4
    assert second.verdict.gain.together == close_to(by_force(request, second.encoded, learned.warp))
