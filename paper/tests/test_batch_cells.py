"""A batch is measured as its docstring says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.acquisitions import EI
from believer.experiments import Cell
from believer.experiments.plain import encode
from believer.surrogates.gp import GPModel, posterior
from believer.surrogates.gp_fit import Hyperparameters
from believer_paper.cells.batches import SETTINGS, batch, information, joint_improvement

SMALL = {"preset": "ours", "problem": "hartmann6", "n": 12, "q": 4}


def cell(strategy: str, seed: int = 0, **more: Any) -> Cell:
    return Cell("batch", {**SMALL, "strategy": strategy, **more}, seed)


def process(noise: float = 0.01) -> GPModel:
    X = np.array([[0.1, 0.2], [0.7, 0.6], [0.4, 0.9]])
    y = np.array([1.0, -1.0, 0.5])
    return posterior(Hyperparameters("matern52", np.array([0.3, 0.4]), 2.0, noise), X, y, 0.2, 1.5)


@pytest.mark.parametrize("strategy", sorted({str(settings["strategy"]) for settings, _ in SETTINGS}))
def test_a_cell_gives_the_same_plain_result_every_time(strategy: str) -> None:
    first, again = batch(cell(strategy)), batch(cell(strategy))
    assert first == again
    assert encode(first, "a result")
    assert batch(cell(strategy, seed=1))["points"] != first["points"]


def test_strategies_are_compared_on_one_model() -> None:
    found = [batch(cell(strategy)) for strategy in ("kb", "random")]
    assert found[0]["lengthscales"] == found[1]["lengthscales"]
    assert found[0]["points"] != found[1]["points"]


def test_distances_are_those_of_the_points() -> None:
    result = batch(cell("cl_min"))
    points, ell = np.array(result["points"]), np.array(result["lengthscales"])
    rows, columns = np.triu_indices(4, 1)
    gaps = np.linalg.norm(points[rows] - points[columns], axis=1)
    scaled = np.linalg.norm((points[rows] - points[columns]) / ell, axis=1)
    assert result["mean_distance"] == pytest.approx(gaps.mean())
    assert result["min_distance"] == pytest.approx(gaps.min())
    assert result["min_lengthscales"] == pytest.approx(scaled.min())


def test_information_is_half_the_log_determinant_of_every_part() -> None:
    model, points = process(), np.random.default_rng(0).random((5, 2))
    K = model.joint(points).covariance / (model.hyper.noise * model.scale**2)
    direct = [0.5 * np.linalg.slogdet(np.eye(k) + K[:k, :k])[1] for k in range(1, 6)]
    np.testing.assert_allclose(information(model, points), direct, rtol=1e-9)


def test_a_copy_of_a_point_tells_at_most_half_the_logarithm_of_two() -> None:
    x = np.array([[0.9, 0.1]])
    told = information(process(1e-9), np.vstack([x, x]))
    assert told[1] - told[0] == pytest.approx(0.5 * np.log(2.0), rel=1e-3)


def test_joint_improvement_of_one_point_is_its_expected_improvement_and_never_falls() -> None:
    model, points = process(), np.random.default_rng(1).random((4, 2))
    found = joint_improvement(model, points, 0.3, np.random.default_rng(0))
    at = model.predict(points[:1])
    assert found[0] == pytest.approx(float(EI().pointwise(at.mean, at.std, 0.3).value[0]), rel=0.02)
    assert (np.diff(found) >= -1e-12).all()


def test_copies_of_a_point_improve_on_nothing() -> None:
    x = np.array([0.55, 0.4])
    found = joint_improvement(process(), np.tile(x, (4, 1)), 0.3, np.random.default_rng(0))
    np.testing.assert_allclose(found, found[0], rtol=1e-4)
