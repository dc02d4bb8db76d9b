from __future__ import annotations

import numpy as np
import pytest

from believer.arrays import Array
from believer.batch import ConstantLie, PseudoObservations
from believer.diagnostics.source import FromProblem
from believer.maximize import FixedStarts
from believer_paper.cells.fitted import FittedProblem, fitted

DATA = FromProblem("branin", 12).draw(0)


def posed(preset: str, name: str, q: int = 3) -> FittedProblem:
    return fitted(preset, name, "branin", DATA, 0, q, FixedStarts())


@pytest.mark.parametrize("preset", ["printed", "ours"])
def test_a_batch_is_that_of_the_engines_own_strategy(preset: str) -> None:
    scene = posed(preset, "gp")
    points, _ = scene.batch("condition")
    chosen = PseudoObservations(ConstantLie("min"), "condition", "data").choose(scene.request)
    assert np.array_equal(points, [choice.x for choice in chosen.choices])


def test_the_last_point_is_chosen_from_a_model_that_was_told_of_all_before() -> None:
    scene = posed("ours", "gp")
    points, last = scene.batch("condition")
    at = last.predict(points)
    lie = scene.request.data.y.min()
    assert at.mean[:2] == pytest.approx([lie, lie], abs=1e-4)
    assert abs(at.mean[2] - lie) > 1e-3


@pytest.mark.parametrize("preset", ["printed", "ours"])
def test_values_and_the_lie_are_in_the_units_of_the_problem(preset: str) -> None:
    scene = posed(preset, "gp")
    assert scene.values == pytest.approx(DATA.y)
    assert scene.lie == pytest.approx(DATA.y.min())


def test_the_improvement_is_in_the_units_of_the_problem() -> None:
    """Monte Carlo over the model's own belief, at the acquisition's maximum; 6 sigma of 200,000 draws is under 2 %."""
    scene = posed("ours", "gp")
    x = scene.best()[None, :]
    at = scene.request.model.predict(x)
    draws = scene.shift + scene.scale * np.random.default_rng(0).normal(at.mean, at.std, 200_000)
    gains: Array = np.maximum(DATA.y.min() - draws, 0.0)
    assert scene.improvement(scene.request.model, x)[0] == pytest.approx(gains.mean(), rel=0.02)


def test_other_random_numbers_leave_the_model_and_the_data() -> None:
    scene = posed("ours", "forest")
    other = scene.again(7)
    assert other.request.model is scene.request.model
    assert other.request.data is scene.request.data
    assert other.request.randomness(0, "refit").random() != scene.request.randomness(0, "refit").random()
