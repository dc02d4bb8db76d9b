from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from believer.errors import InvalidInput
from believer.experiments import Cell, plain
from believer_paper.cells.pictures import UPDATES, picture

PRESETS = ("printed", "ours")
FIGURES = ("exp1", "exp2", "overview")
LARGEST = 60_000


def drawn(preset: str, figure: str) -> dict[str, Any]:
    return picture(Cell("picture", {"preset": preset, "figure": figure}, 0))


@pytest.fixture(scope="module")
def pictures() -> dict[tuple[str, str], dict[str, Any]]:
    return {(preset, figure): drawn(preset, figure) for preset in PRESETS for figure in FIGURES}


Pictures = dict[tuple[str, str], dict[str, Any]]


def lengths(node: Any) -> set[int]:
    """The lengths of all lists of numbers within."""
    if isinstance(node, dict):
        return set().union(*(lengths(child) for child in node.values()))
    return {len(node)} if isinstance(node, list) else set()


def test_every_picture_is_plain_json_of_a_moderate_size(pictures: Pictures) -> None:
    for result in pictures.values():
        assert len(plain.encode(result, "a picture")) < LARGEST


@pytest.mark.parametrize(("preset", "figure"), [("printed", "exp1"), ("ours", "exp1"), ("ours", "overview")])
def test_a_picture_is_the_same_every_time(pictures: Pictures, preset: str, figure: str) -> None:
    assert drawn(preset, figure) == pictures[preset, figure]


def test_another_seed_is_another_picture(pictures: Pictures) -> None:
    other = picture(Cell("picture", {"preset": "ours", "figure": "exp1"}, 1))
    assert other["data"] != pictures["ours", "exp1"]["data"]


@pytest.mark.parametrize("preset", PRESETS)
def test_exp1_lies_at_the_maximum_of_the_improvement(pictures: Pictures, preset: str) -> None:
    result = pictures[preset, "exp1"]
    top = int(np.argmax(result["before"]["improvement"]))
    assert result["lie"] == {"x": pytest.approx(result["x"][top]), "y": pytest.approx(min(result["data"]["y"]))}
    assert result["after"]["mean"][top] == pytest.approx(result["lie"]["y"], abs=1e-3)
    assert result["after"]["improvement"][top] < 0.01 * result["before"]["improvement"][top]


@pytest.mark.parametrize("preset", PRESETS)
def test_exp1_uncertainty_rises_nowhere(pictures: Pictures, preset: str) -> None:
    result = pictures[preset, "exp1"]
    before, after = (np.array(result[name]["std"]) for name in ("before", "after"))
    assert (after <= before * (1.0 + 1e-5)).all()
    assert (after < 0.9 * before).any()


@pytest.mark.parametrize("preset", PRESETS)
def test_exp1_means_pass_through_the_data(pictures: Pictures, preset: str) -> None:
    result = pictures[preset, "exp1"]
    for name in ("before", "after"):
        at_data = np.interp(result["data"]["x"], result["x"], result[name]["mean"])
        assert at_data == pytest.approx(result["data"]["y"], abs=0.01)


@pytest.mark.parametrize("preset", PRESETS)
def test_exp2_conditioned_models_change_and_models_that_are_told_nothing_do_not(
    pictures: Pictures, preset: str
) -> None:
    surrogates = pictures[preset, "exp2"]["surrogates"]
    assert {name: one["update"] for name, one in surrogates.items()} == UPDATES
    for name, one in surrogates.items():
        assert min(one["refit_changed"].values()) > 0.01, name
        if one["update"] == "none":
            assert one["after"] == one["before"]
            assert one["changed"] == {"mean": 0.0, "std": 0.0}
        else:
            assert min(one["changed"].values()) > 0.01, name


@pytest.mark.parametrize("preset", PRESETS)
def test_exp2_lies_in_the_gap_of_its_data(pictures: Pictures, preset: str) -> None:
    result = pictures[preset, "exp2"]
    x = np.array(result["data"]["x"])
    assert ((x <= 0.4) | (x >= 0.65)).all()
    assert min(np.count_nonzero(x > 0.65), np.count_nonzero(x < 0.4)) > 2
    assert 0.4 < result["lie"]["x"] < 0.65


@pytest.mark.parametrize("preset", PRESETS)
def test_curves_have_a_number_for_every_x(pictures: Pictures, preset: str) -> None:
    exp1, exp2 = pictures[preset, "exp1"], pictures[preset, "exp2"]
    assert lengths({name: exp1[name] for name in ("x", "truth", "before", "after")}) == {201}
    assert lengths({name: exp2[name] for name in ("x", "truth", "surrogates")}) == {151}


@pytest.mark.parametrize("preset", PRESETS)
def test_the_overview_has_batches_in_the_box_and_grids_of_one_shape(pictures: Pictures, preset: str) -> None:
    result = pictures[preset, "overview"]
    shape = (len(result["x1"]), len(result["x0"]))
    assert np.shape(result["truth"]) == shape
    assert list(result["surrogates"]) == list(UPDATES)
    for one in result["surrogates"].values():
        assert {np.shape(one[name]) for name in ("mean", "improvement", "improvement_last")} == {shape}
        assert np.shape(one["points"]) == (3, 2)
        low, high = [result["x0"][0], result["x1"][0]], [result["x0"][-1], result["x1"][-1]]
        assert (np.array(one["points"]) >= low).all()
        assert (np.array(one["points"]) <= high).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_overviews_batches_collapse_where_nothing_is_told(pictures: Pictures, preset: str) -> None:
    for name, one in pictures[preset, "overview"]["surrogates"].items():
        if one["update"] == "none":
            assert one["mean_distance"] == 0.0, name
            assert one["improvement_last"] == one["improvement"], name
        else:
            assert one["mean_distance"] > 0.01, name
            assert one["improvement_last"] != one["improvement"], name


def test_the_grids_rows_are_of_the_second_axis(pictures: Pictures) -> None:
    """Branin at (-5, 15) is 17.5, at (10, 0) 10.96: two corners that a transposed grid would swap."""
    truth = pictures["ours", "overview"]["truth"]
    assert truth[-1][0] == pytest.approx(17.508, rel=1e-3)
    assert truth[0][-1] == pytest.approx(10.961, rel=1e-3)


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(InvalidInput, match="figure must be one of exp1, exp2, overview; got 'exp3'"):
        drawn("ours", "exp3")
