from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from each import each

from believer.arrays import Array
from believer.errors import InvalidInput, MissingCapability
from believer.surrogates import GP
from believer.surrogates.data import Data
from believer.surrogates.inspection import inspected, refuse_mutation, require_surrogate
from believer.surrogates.protocols import Prediction

AT = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
ONES = np.ones(3)


@dataclass
class Answers:
    """A model that gives the same answer to every question."""

    answer: Any

    def predict(self, X: Array) -> Any:
        return self.answer


@dataclass
class Loose:
    """Something with a mean and a std that is no Prediction."""

    mean: Any
    std: Any


class Unready:
    """A class of the right shape whose parts are methods, as those of a frozen scipy distribution are."""

    def mean(self) -> Array:
        return ONES

    def std(self) -> Array:
        return ONES


def test_a_recipe_passes_for_a_surrogate() -> None:
    require_surrogate(GP())


@pytest.mark.parametrize("passed", [GP, None, "gp", 3.0, Answers(ONES)])
def test_a_class_and_what_has_no_fit_are_no_surrogates(passed: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"^surrogate must be an object with a method fit\(data, rng, previous\); got"
    ):
        require_surrogate(passed)


def test_an_honest_model_passes_with_its_own_prediction() -> None:
    model = GP().fit(Data(AT, np.array([1.0, 3.0, 2.0])), np.random.default_rng(0))
    found, own = inspected(model, AT), model.predict(AT)
    np.testing.assert_array_equal(found.mean, own.mean)
    np.testing.assert_array_equal(found.std, own.std)


def test_lists_pass_as_the_arrays_that_they_stand_for() -> None:
    found = inspected(Answers(Loose([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])), AT)
    assert isinstance(found, Prediction)
    np.testing.assert_array_equal(found.mean, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("model", [None, 3.0, object(), Loose(ONES, ONES)])
def test_what_does_not_predict_is_no_model(model: Any) -> None:
    with pytest.raises(MissingCapability, match="fit must return a model with a method predict; got"):
        inspected(model, AT)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (ONES, "mean"),
        (None, "mean"),
        ((ONES, ONES), "mean"),
        (Unready(), "mean"),
        (Loose(None, ONES), "mean"),
        (Loose(ONES, None), "std"),
    ],
    ids=["array", "none", "tuple", "methods", "no mean", "no std"],
)
def test_a_missing_mean_or_std_is_named_with_what_came_and_what_would_help(answer: Any, part: str) -> None:
    with pytest.raises(MissingCapability) as caught:
        inspected(Answers(answer), AT)
    text = str(caught.value)
    assert text.startswith(f"Answers predicts no {part}, and every acquisition needs one; it returned ")
    assert type(answer).__name__ in text
    assert "SklearnSurrogate" in text


@each("part", ["mean", "std"])
@each(
    ("values", "text"),
    [
        (np.ones((3, 1)), r"has shape \(3, 1\) for 3 points"),
        (np.ones(2), r"has shape \(2,\) for 3 points"),
        (1.0, r"has shape \(\) for 3 points"),
        ([[1.0], [1.0, 2.0], [1.0]], "is not an array"),
        (np.ones(3, dtype=int), "must be an array of floats; got int64"),
        (np.array(["1", "1", "1"]), "must be an array of floats"),
        (np.ones(3, dtype=complex), "must be an array of floats; got complex128"),
        (np.array([1.0, np.nan, np.nan]), "must be finite; got nan at 2 of 3 points"),
        (np.array([1.0, np.inf, 1.0]), "must be finite; got inf at 1 of 3 points"),
    ],
    ids=["column", "too few", "scalar", "ragged", "int", "text", "complex", "nan", "inf"],
)
def test_a_part_that_is_no_array_of_finite_floats_for_every_point_is_refused(part: str, values: Any, text: str) -> None:
    answer = Loose(values, ONES) if part == "mean" else Loose(ONES, values)
    with pytest.raises(InvalidInput, match=f"Answers's {part} {text}"):
        inspected(Answers(answer), AT)


@pytest.mark.parametrize(("least", "text"), [(0.0, "got 0.0 at 1 of 3"), (-2.0, "got -2.0 at 1 of 3")])
def test_a_std_that_is_not_above_zero_is_refused_and_a_floor_advised(least: float, text: str) -> None:
    with pytest.raises(
        InvalidInput, match=rf"std must be above zero everywhere; {text} points\. Give it a small floor"
    ):
        inspected(Answers(Loose(ONES, np.array([1.0, least, 2.0]))), AT)


def test_a_std_may_be_as_small_as_a_float_can_be() -> None:
    assert inspected(Answers(Loose(ONES, np.full(3, 5e-324))), AT).std[0] == 5e-324


def test_no_points_have_an_empty_prediction() -> None:
    assert len(inspected(Answers(Loose(np.zeros(0), np.zeros(0))), AT[:0]).mean) == 0


def test_a_model_that_predicts_as_before_was_not_changed() -> None:
    refuse_mutation(Answers(Prediction(ONES, ONES)), AT, Prediction(ONES.copy(), ONES.copy()), "nothing")


@pytest.mark.parametrize(
    ("mean", "std", "text"),
    [
        (ONES + 0.25, ONES, "its mean moved by up to 0.25, its std by up to 0)"),
        (ONES, ONES - 0.5, "its mean moved by up to 0, its std by up to 0.5)"),
        (ONES * np.nextafter(1.0, 2.0), ONES, "its mean moved by up to 2.22e-16, its std by up to 0)"),
    ],
    ids=["mean", "std", "last bit"],
)
def test_a_model_that_has_changed_is_refused_with_how_far_and_by_what(mean: Array, std: Array, text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        refuse_mutation(Answers(Prediction(mean, std)), AT, Prediction(ONES, ONES), "condition")
    assert str(caught.value).startswith(f"Answers was changed by condition ({text}; a model must never change")


def test_a_model_that_no_longer_predicts_at_all_is_refused() -> None:
    with pytest.raises(InvalidInput, match="shape"):
        refuse_mutation(Answers(Prediction(ONES[:2], ONES[:2])), AT, Prediction(ONES, ONES), "condition")
