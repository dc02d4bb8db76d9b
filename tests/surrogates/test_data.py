"""What models learn from: one table of values, known noise beside it, and clear words where they do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.surrogates.data import Data, joined, learnable

X = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
Y = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])


def test_values_of_one_output_are_a_table_of_one_column() -> None:
    data = Data(X, Y[:, 0], np.array([0.1, 0.0, 0.3]))
    assert data.Y.shape == (3, 1)
    assert data.noise is not None
    assert data.noise.shape == (3, 1)
    assert data.y.tolist() == [1.0, 2.0, 3.0]
    assert data.std is not None
    assert data.std.tolist() == [0.1, 0.0, 0.3]
    assert len(data) == 3


def test_an_output_of_several_is_taken_by_its_column() -> None:
    data = Data(X, Y, 0.1 * Y)
    with pytest.raises(InvalidInput, match=r"one model learns one output, y \(n,\); these values have shape \(3, 2\)"):
        _ = data.y
    second = data.output(1)
    assert second.y.tolist() == [10.0, 20.0, 30.0]
    assert second.std is not None
    assert second.std.tolist() == [1.0, 2.0, 3.0]
    assert Data(X, Y).output(0).std is None


def test_parts_are_joined_and_what_has_no_known_noise_has_none_there_either() -> None:
    known = Data(X[:1], Y[:1, 0], np.array([0.5]))
    rest = Data(X[1:], Y[1:, 0])
    both = joined(known, rest)
    assert both.X.tolist() == X.tolist()
    assert both.y.tolist() == [1.0, 2.0, 3.0]
    assert both.std is not None
    assert both.std.tolist() == [0.5, 0.0, 0.0]
    assert joined(rest, rest).noise is None


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (X, r"^a model is fitted to Data\(X, y\); got ndarray"),
        (Data(X, Y[:, 0], np.array([0.1, -0.2, 0.0])), "noise must be standard deviations, zero or more; got -0.2"),
        (Data(X, Y[:, 0], np.array([0.1, np.nan, 0.0])), "noise must be finite; item 1 is not"),
        (Data(X, Y[:, 0], np.array([0.1])), "noise must have one value for each of the 3 points; got 1"),
        (Data(X[:0], Y[:0, 0]), "a model needs at least one observation to be fitted; got none"),
    ],
)
def test_what_no_model_can_learn_from_is_refused(data: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        learnable(data, "a model")


def test_columns_that_belong_together_do_so_in_every_part() -> None:
    data = Data(np.zeros((3, 2)), np.zeros((3, 2)), groups=(0, 0))
    for part in (data.output(1), data.at([0, 2]), joined(data, Data(np.ones((1, 2)), np.ones((1, 2))))):
        assert part.groups == (0, 0)
    assert Data(np.zeros((3, 2)), np.zeros(3)).groups is None
