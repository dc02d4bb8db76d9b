"""When a lie keeps the next point off the last one: what is proven holds, and each step of the printed proof fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.acquisitions import EI, PI, UCB, LogEI, PerPoint
from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Fantasy, Lie, PseudoObservations
from believer.errors import InvalidInput
from believer.maximize import Multistart, Search
from believer.space.box import Box
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Prediction
from believer_paper.theory import COUNTEREXAMPLES, Family, Guarantee, Situation, guarantee, lie_about, monotonicity
from believer_paper.theory.distinctness import ABOVE_THE_NOISE, CONE, NO_IMPROVEMENT_LEFT, ceiling
from believer_paper.theory.situation import before, request, strongest

LIES: dict[str, Lie] = {
    "believe": Believe(),
    "min": ConstantLie("min"),
    "mean": ConstantLie("mean"),
    "max": ConstantLie("max"),
    "hope": Believe(-1.0),
    "fantasy": Fantasy(),
}
every_lie = pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
constant_lies = pytest.mark.parametrize("lie", [LIES[name] for name in ("min", "mean", "max")], ids=repr)
improvements = pytest.mark.parametrize("acquisition", [EI(), LogEI(), EI(0.1)], ids=repr)
seeds = st.integers(0, 2**32)


def improvement(bound_to: Situation, x: Array, rng: np.random.Generator) -> float:
    """EI at ``x`` after the lie about it."""
    told = lie_about(replace(bound_to, acquisition=EI()), x, rng)
    return float(told.bound.value(x[None, :])[0])


def most_to_gain(found: Guarantee) -> float:
    """The largest EI after the lie."""
    return float(np.exp(found.best.value)) if isinstance(found.situation.acquisition, LogEI) else found.best.value


# What is proven


@improvements
@every_lie
@settings(max_examples=6)
@given(seed=seeds)
def test_without_noise_no_lie_repeats_a_point_under_improvement_over_what_is_believed(
    acquisition: PerPoint, lie: Lie, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(acquisition, lie).draw(rng), rng)
    # Zero in exact arithmetic; rounding leaves about 1e-8 of σ_f, below which no EI can be told from none.
    assert improvement(found.situation, found.step.x, np.random.default_rng(seed)) < 1e-7
    assert found.exhausted == (most_to_gain(found) <= 1e-7)
    assert found.promise == (None if found.exhausted else NO_IMPROVEMENT_LEFT)
    assert found.moves or not found.applies


@improvements
@constant_lies
@settings(max_examples=6)
@given(seed=seeds)
def test_without_noise_constant_lies_repeat_no_point_under_improvement_over_real_results_either(
    acquisition: PerPoint, lie: Lie, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(acquisition, lie, "data").draw(rng), rng)
    assert found.promise == (NO_IMPROVEMENT_LEFT if most_to_gain(found) > 1e-7 else None)
    assert found.moves or not found.applies


@pytest.mark.parametrize("kernel", ["se", "matern52", "matern32"])
@every_lie
@settings(max_examples=6)
@given(seed=seeds)
def test_without_noise_ucb_repeats_corners_only(kernel: str, lie: Lie, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(UCB(), lie, kernel=kernel).draw(rng), rng)
    model = found.situation.model
    assert isinstance(model, GPModel)
    inside = 1e-6 < found.step.x[0] < 1.0 - 1e-6
    assert found.applies == (inside and model.jitter == 0.0)
    # Below 1e-4 the cone is as flat as rounding.
    assert found.moves or not found.applies or found.std_before < 1e-4


@settings(max_examples=15)
@given(seed=seeds)
def test_a_point_on_a_face_that_is_no_corner_is_not_repeated_by_ucb_without_noise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(UCB(), Believe(), dim=2).draw(rng), rng)
    on_faces = int(((found.step.x < 1e-6) | (found.step.x > 1.0 - 1e-6)).sum())
    assert found.applies == (on_faces < 2)
    assert found.moves or on_faces == 2


@pytest.mark.parametrize("noise", [1e-6, 0.01, 1.0])
@every_lie
@settings(max_examples=6)
@given(seed=seeds)
def test_room_above_the_noise_keeps_the_next_point_away(noise: float, lie: Lie, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(EI(), lie, noise=noise).draw(rng), rng)
    at = found.step.bound.model.predict(found.step.x[None, :])
    if found.step.bound.incumbent <= at.mean[0]:
        assert found.value_after < ceiling(noise)
    if found.promise is not None:
        assert found.promise == ABOVE_THE_NOISE
        assert found.best.value > ceiling(noise)
        assert found.moves


@pytest.mark.parametrize(
    ("noise", "lie", "seed"),
    [*((noise, lie, 3) for noise in (1e-6, 0.01) for lie in LIES.values()), (1.0, LIES["max"], 6)],
)
def test_there_is_room_above_the_noise_and_the_next_point_is_elsewhere(noise: float, lie: Lie, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = guarantee(Family(EI(), lie, noise=noise).draw(rng), rng)
    assert found.promise == ABOVE_THE_NOISE
    assert found.value_after < ceiling(noise) < found.best.value
    assert found.moves


@pytest.mark.parametrize("noise", [1e-6, 1e-2, 1.0])
@settings(max_examples=10)
@given(seed=seeds)
def test_believing_leaves_less_than_the_noise_to_gain(noise: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    situation = Family(EI(), Believe(), noise=noise, dim=2).draw(rng)
    x = rng.random(2)
    assert improvement(situation, x, rng) < ceiling(noise)


def test_a_promise_is_kept_over_a_whole_batch() -> None:
    rng = np.random.default_rng(3)
    steps = 0
    for _ in range(5):
        situation = Family(EI(), Believe()).draw(rng)
        for _ in range(4):
            found = guarantee(situation, rng)
            if not found.applies:
                break
            X, model = situation.data.X, found.step.bound.model
            assert (before(situation).value(X) < 1e-7).all(), "nothing is left to gain at data and earlier points"
            assert np.abs(X - found.step.x).max(axis=1).min() > 1e-6
            assert isinstance(model, GPModel)
            data = Data(frozen(np.vstack([X, found.step.x])), frozen(np.append(situation.data.y, found.step.lie)))
            situation, steps = replace(situation, model=model, data=data), steps + 1
    assert steps >= 10


# Where the printed statement fails


def failing(name: str) -> Situation:
    return COUNTEREXAMPLES[name]()


@pytest.mark.parametrize("name", ["box_end", "symmetric_valley", "large_noise", "corner"])
def test_the_acquisition_drops_at_the_point_and_the_point_stays_the_maximizer(name: str) -> None:
    found = guarantee(failing(name), np.random.default_rng(0))
    assert monotonicity(found.situation.acquisition).kind == "increasing"
    assert found.variance_drops
    assert found.acquisition_drops
    assert not found.moves, "step 3 does not follow"
    assert not found.applies
    assert found.separation == 0.0
    line = np.linspace(0.0, 1.0, 5001)[:, None]
    elsewhere = line[np.abs(line[:, 0] - found.step.x[0]) > 1e-6]
    assert found.step.bound.value(elsewhere).max() <= found.value_after + 1e-12
    assert "repeated" in str(found)


def test_non_decreasing_in_std_is_not_enough_for_a_drop() -> None:
    found = guarantee(failing("flat_in_std"), np.random.default_rng(0))
    assert monotonicity(found.situation.acquisition).kind == "non-decreasing"
    assert found.variance_drops
    assert not found.acquisition_drops
    assert not found.moves
    assert 0.01 < found.step.x[0] < 0.99


def test_probability_of_improvement_rises_where_a_better_mean_is_believed() -> None:
    found = guarantee(failing("certainty_attracts"), np.random.default_rng(0))
    assert found.variance_drops
    assert found.value_after > found.value_before + 0.3
    assert not found.moves


def test_a_low_lie_with_noise_raises_the_acquisition_at_its_point() -> None:
    found = guarantee(failing("pulled_down"), np.random.default_rng(0))
    assert found.variance_drops
    assert found.value_after > found.value_before + 0.2
    assert not found.moves


@pytest.mark.parametrize("name", ["box_end", "symmetric_valley"])
def test_the_believed_incumbent_cures_kriging_believer_without_noise(name: str) -> None:
    found = guarantee(replace(failing(name), incumbent="believed"), np.random.default_rng(0))
    assert found.promise == NO_IMPROVEMENT_LEFT
    assert found.moves
    assert found.lengthscales is not None
    assert found.lengthscales > 0.1
    assert "proven" in str(found)


def test_the_cone_needs_a_weight_on_std_and_no_noise() -> None:
    situation = failing("suppressed_but_close")
    rng = np.random.default_rng(0)
    assert guarantee(situation, rng).promise == CONE
    assert guarantee(replace(situation, acquisition=UCB(0.0)), rng).promise is None
    model = situation.model
    assert isinstance(model, GPModel)
    noisy = posterior(replace(model.hyper, noise=1e-6), model.X, model.y, 0.0, 1.0)
    assert guarantee(replace(situation, model=noisy), rng).promise is None


def test_the_cone_needs_a_column_that_is_continuous_and_not_settled_on_a_grid() -> None:
    repeats = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        tenths = Box(frozen([0.0]), frozen([1.0]), rounding=lambda X: np.round(10.0 * X) / 10.0)
        found = guarantee(replace(Family(UCB(0.05), kernel="se").draw(rng), region=tenths), rng)
        assert not found.applies
        repeats += not found.moves
    assert repeats > 0


@pytest.mark.parametrize("name", ["box_end", "symmetric_valley", "corner"])
@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_what_is_written_without_noise_fails_with_the_noise_that_the_proposition_asks_for(
    name: str, noise: float
) -> None:
    situation = failing(name)
    model = situation.model
    assert isinstance(model, GPModel)
    noisy = posterior(replace(model.hyper, noise=noise), model.X, model.y, 0.0, 1.0)
    found = guarantee(replace(situation, model=noisy), np.random.default_rng(0))
    assert found.acquisition_drops
    assert not found.moves


def test_no_proof_covers_pi_or_a_model_that_is_no_gaussian_process() -> None:
    rng = np.random.default_rng(0)
    assert guarantee(Family(PI(0.1)).draw(rng), rng).promise is None

    class Wrapped:
        def __init__(self, model: GPModel) -> None:
            self.model = model

        def predict(self, X: Array) -> Prediction:
            return self.model.predict(X)

        def condition(self, data: Data) -> Wrapped:
            X, y = data.X, data.y
            return Wrapped(self.model.condition(Data(X, y)))

    situation = Family().draw(rng)
    assert isinstance(situation.model, GPModel)
    found = guarantee(replace(situation, model=Wrapped(situation.model)), rng)
    assert found.promise is None
    assert found.lengthscales is None
    assert found.moves


# The step is the library's own


@pytest.mark.parametrize("incumbent", ["data", "believed"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
@every_lie
def test_a_told_lie_is_that_of_the_batch_strategy(lie: Lie, noise: float, incumbent: str) -> None:
    situation = Family(EI(), lie, incumbent, noise, dim=2).draw(np.random.default_rng(4))
    asked = request(situation, 2, lambda trial, purpose: np.random.default_rng([trial, len(purpose)]))
    first, second = (choice.x for choice in PseudoObservations(lie, "condition", incumbent).choose(asked).choices)
    told = lie_about(situation, first, np.random.default_rng([0, len("lie")]))
    # The strategy starts its search from the best three of data and lies.
    best = np.argsort(np.append(situation.data.y, told.lie), kind="stable")[:3]
    search = Search(situation.box, np.vstack([situation.data.X, first])[best], np.zeros((0, 2)))
    again = Multistart().maximize(told.bound, search, np.random.default_rng([1, len("maximize")]))
    np.testing.assert_array_equal(again.x, second)


def test_the_search_finds_corners_and_the_points_it_is_given() -> None:
    hyper = Hyperparameters("se", frozen([0.5, 0.5]), 1.0, 1e-6)
    X = np.array([[0.4, 0.5], [0.6, 0.2]])
    model = posterior(hyper, X, np.array([0.0, 5.0]), 0.0, 1.0)
    situation = Situation(model, UCB(), Believe(), Data(frozen(X), frozen([0.0, 5.0])))
    bound = before(situation)
    best = strongest(bound, situation.box, X, np.random.default_rng(0))
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 101)] * 2), axis=-1).reshape(-1, 2)
    assert best.value >= bound.value(np.vstack([grid, X])).max() - 1e-9


def test_an_unknown_incumbent_is_refused() -> None:
    situation = Family().draw(np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="incumbent must be"):
        replace(situation, incumbent="hoped")
