from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.arrays import Array
from believer.diagnostics.source import FromProblem
from believer.experiments import Cell, plain
from believer_paper.cells import locality as room
from believer_paper.cells.locality import locality

FAR = 0.5
R = np.linspace(0.0, 1.0, 11) * np.array([[1.0], [0.9]])
EDGES = np.linspace(0.0, 1.2, 4)


def found(surrogate: str, update: str, preset: str = "ours", seed: int = 0) -> dict[str, Any]:
    return locality(Cell("locality", {"preset": preset, "surrogate": surrogate, "update": update}, seed))


def response(change: Array, again: float = 0.0, untold: float = 0.0) -> dict[str, Any]:
    """Of an update that changes a model of zeros by ``change``; another one is ``again`` apart everywhere."""
    at = {"before": 0.0 * R, "after": change, "again": change + again, "untold": 0.0 * R + untold}
    return room._response(at, R, EDGES, FAR)


@pytest.fixture(scope="module")
def forest() -> dict[str, Any]:
    return found("forest", "refit")


def test_results_are_plain_json_with_a_number_for_every_bin(forest: dict[str, Any]) -> None:
    plain.encode(forest, "locality")
    assert len(forest["edges"]) == 13
    assert forest["edges"][8] == pytest.approx(forest["random_pair"])
    assert {len(forest["counts"]), len(forest["mean"]["bins"]), len(forest["std"]["bins"])} == {12}
    assert min(forest["counts"]) > 50


@pytest.mark.parametrize("preset", ["printed", "ours"])
@pytest.mark.parametrize("surrogate", ["gp", "mq_rbf"])
def test_conditioning_is_deterministic_and_changes_nothing_without_a_lie(surrogate: str, preset: str) -> None:
    result = found(surrogate, "condition", preset)
    for what in ("mean", "std"):
        assert result[what]["largest"] > 0.01
        assert result[what]["repeated"] == 0.0
        assert result[what]["without_lie"] == 0.0


def test_training_again_differs_from_time_to_time_and_changes_a_model_without_a_lie(forest: dict[str, Any]) -> None:
    for what in ("mean", "std"):
        assert forest[what]["repeated"] > 0.1
        assert forest[what]["without_lie"] > 0.1


def test_a_cell_gives_the_same_result_every_time(forest: dict[str, Any]) -> None:
    assert found("forest", "refit") == forest
    assert found("gp", "condition") == found("gp", "condition")
    assert found("gp", "condition") != found("gp", "condition", seed=1)


def test_a_model_that_is_told_nothing_has_no_response() -> None:
    result = found("forest", "none")
    for what in ("mean", "std"):
        one = result[what]
        assert (one["largest"], one["at_lie"]) == (0.0, 0.0)
        assert {one[name] for name in ("spearman", "rises", "far_share", "repeated", "without_lie")} == {None}


def test_a_process_takes_the_value_of_the_lie_at_the_lie() -> None:
    """In units of the standard deviation of y, of which ``value`` is not."""
    result, y = found("gp", "condition"), FromProblem("hartmann6", 30).draw(0).y
    assert result["value"] == pytest.approx(y.min())
    lie = (y.min() - y.mean()) / y.std()
    assert result["mean"]["at_lie"] == pytest.approx(abs(lie - result["mean"]["before"]), rel=1e-3)
    assert result["std"]["at_lie"] == pytest.approx(result["std"]["before"], rel=0.01)


def test_the_effect_of_the_librarys_process_falls_with_distance() -> None:
    result = found("gp", "condition")
    for what in ("mean", "std"):
        one = result[what]
        assert one["bins"][0] > 4 * one["bins"][-1]
        assert one["spearman"] < -0.5
        assert one["far_share"] < result["far_points"]


def test_an_effect_that_only_falls_has_rank_correlation_minus_one_and_no_rises() -> None:
    one = response(np.exp(-3.0 * R))
    assert one["spearman"] == pytest.approx(-1.0)
    assert one["rises"] == 0.0
    assert one["bins"][0] > one["bins"][1] > one["bins"][2]
    assert (one["largest"], one["at_lie"]) == (1.0, 1.0)


def test_an_effect_that_only_grows_rises_at_every_step() -> None:
    one = response(R)
    assert one["spearman"] == pytest.approx(1.0)
    assert one["rises"] == 1.0
    assert one["at_lie"] == 0.0


def test_an_effect_that_is_the_same_everywhere_is_as_far_as_the_points_are() -> None:
    one = response(np.ones_like(R))
    assert one["far_share"] == pytest.approx((R[:, 1:] > FAR).mean())
    assert one["spearman"] is None
    assert one["rises"] == 0.0


def test_differences_are_relative_to_the_change_itself() -> None:
    one = response(0.0 * R - 2.0, again=0.5, untold=1.0)
    assert one["repeated"] == pytest.approx(0.25)
    assert one["without_lie"] == pytest.approx(0.5)
    assert one["largest"] == 2.0


def test_an_empty_bin_has_no_number() -> None:
    at = dict.fromkeys(("before", "again", "untold"), 0.0 * R) | {"after": 1.0 + 0.0 * R}
    assert room._response(at, R, np.array([0.0, 1.1, 2.0]), FAR)["bins"] == [1.0, None]
