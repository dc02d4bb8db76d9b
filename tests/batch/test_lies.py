from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.stats import kstest

from believer.arrays import Array, frozen
from believer.batch import Believe, ConstantLie, Data, Fantasy, Lie
from believer.errors import InvalidInput
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import Model, Prediction

LIES: list[Lie] = [
    ConstantLie("min"),
    ConstantLie("max"),
    ConstantLie("mean"),
    ConstantLie(2.5),
    Believe(),
    Believe(1.0),
    Believe(-2.0),
    Fantasy(),
    Fantasy(16),
]
DATA = Data(frozen([[0.1], [0.5], [0.9]]), frozen([4.0, 1.0, 2.5]))
AT = np.array([0.3])


@dataclass(frozen=True)
class Plain:
    """A model that only predicts: mean 7, std 2."""

    def predict(self, X: Array) -> Prediction:
        return Prediction(np.full(len(X), 7.0), np.full(len(X), 2.0))


def gp(noise: float) -> GPModel:
    hyper = Hyperparameters("matern52", frozen([0.3]), signal=1.0, noise=noise)
    return posterior(hyper, DATA.X, DATA.y, 2.5, 1.2)


def value(lie: Lie, model: Model, sign: float = 1.0, seed: int = 0) -> float:
    return lie.value(model, AT, DATA, sign, np.random.default_rng(seed))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("of", "expected"), [("min", 1.0), ("max", 4.0), ("mean", 2.5)])
def test_a_constant_lie_is_a_statistic_of_real_results_whatever_the_direction(
    of: str, expected: float, sign: float
) -> None:
    # Data are to be minimized already: "min" is the best result of someone who maximizes, too.
    assert value(ConstantLie(of), Plain(), sign) == expected


@pytest.mark.parametrize("number", [2.5, -1e9, 0, 3])
def test_a_number_is_in_the_units_of_the_user(number: float) -> None:
    assert value(ConstantLie(number), Plain(), 1.0) == number
    assert value(ConstantLie(number), Plain(), -1.0) == -number


@each("sigmas", [0.0, 1.0, -2.0, 0.5])
@each("sign", [1.0, -1.0])
def test_believe_is_the_mean_plus_so_many_stds(sigmas: float, sign: float) -> None:
    assert value(Believe(sigmas), Plain(), sign) == 7.0 + sigmas * 2.0
    at = gp(1e-6).predict(AT[None, :])
    assert value(Believe(sigmas), gp(1e-6), sign) == float(at.mean[0] + sigmas * at.std[0])


@each("lie", LIES, ids=repr)
def test_a_lie_comes_from_its_generator_alone(lie: Lie) -> None:
    model = gp(0.1)
    first, again, other = (value(lie, model, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert (first != other) == isinstance(lie, Fantasy)


@pytest.mark.parametrize("noise", [1e-6, 0.5])
def test_a_fantasy_is_a_draw_of_an_observation(noise: float) -> None:
    model = gp(noise)
    at = model.predict(AT[None, :])
    std = float(np.sqrt(at.std[0] ** 2 + noise * model.scale**2))
    rng = np.random.default_rng(5)
    draws = [Fantasy().value(model, AT, DATA, 1.0, rng) for _ in range(1000)]
    # Kolmogorov-Smirnov with a false-alarm rate of 1e-6; the generator is seeded.
    assert kstest((np.array(draws) - at.mean[0]) / std, "norm").pvalue > 1e-6


def test_a_fantasy_of_a_model_that_cannot_sample_is_a_draw_from_its_prediction() -> None:
    rng = np.random.default_rng(5)
    draws = [Fantasy().value(Plain(), AT, DATA, 1.0, rng) for _ in range(1000)]
    assert kstest((np.array(draws) - 7.0) / 2.0, "norm").pvalue > 1e-6


@each(
    ("lie", "verb"),
    [
        (ConstantLie("min"), "lying min about"),
        (ConstantLie(2.5), "lying 2.5 about"),
        (Believe(), "believing"),
        (Believe(1.0), "believing (μ+1σ)"),
        (Believe(-0.5), "believing (μ-0.5σ)"),
        (Fantasy(), "fantasizing about"),
        (Fantasy(1), "fantasizing about"),
        (Fantasy(16), "fantasizing 16 times about"),
    ],
)
def test_a_lie_has_a_verb_for_provenance(lie: Lie, verb: str) -> None:
    assert lie.verb == verb


@pytest.mark.parametrize("of", ["median", "", "MIN"])
def test_a_constant_lie_knows_three_words(of: str) -> None:
    with pytest.raises(InvalidInput, match=f'a constant lie must be "min", "max", "mean" or a number; got {of!r}'):
        ConstantLie(of)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_must_be_finite(number: float) -> None:
    with pytest.raises(InvalidInput, match="a constant lie must be a finite number; got"):
        ConstantLie(number)
    with pytest.raises(InvalidInput, match="sigmas must be a finite number; got"):
        Believe(number)


@each("samples", [0, -3, 2.0, 1.5, "many", None, True, np.nan])
def test_fantasies_are_counted_in_whole_numbers_from_one(samples: Any) -> None:
    with pytest.raises(InvalidInput, match="samples must be a whole number, 1 or more; got"):
        Fantasy(samples)


def test_how_many_fantasies_there_are_changes_no_single_draw() -> None:
    assert value(Fantasy(16), gp(0.1)) == value(Fantasy(), gp(0.1))


def test_lies_are_values() -> None:
    two: Any = np.int64(2)
    assert Fantasy() == Fantasy(1) != Fantasy(2) == Fantasy(two)
    assert type(Fantasy(two).samples) is int
    assert ConstantLie() == ConstantLie("min")
    assert len(set(LIES)) == len(LIES)
