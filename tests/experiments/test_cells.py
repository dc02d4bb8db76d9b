from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from believer.errors import InvalidInput
from believer.experiments import Cell, grid

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SETTINGS = st.dictionaries(st.text(), VALUES, max_size=4)
CELLS = st.builds(Cell, st.text(min_size=1), SETTINGS, st.integers(0, 2**64))


# Digests of the canonical text, computed by coreutils:
# printf '["sdd",{"lie":"kb","q":3,"scale":0.1},7]' | sha256sum | cut -c-16
@pytest.mark.parametrize(
    ("cell", "key"),
    [
        (Cell("sdd", {"q": 3, "lie": "kb", "scale": 0.1}, 7), "0f8902fcaf8bd223"),
        (Cell("é", {}, 0), "c6e22ffac79cdac2"),
    ],
)
def test_keys_are_what_they_were_when_old_stores_were_written(cell: Cell, key: str) -> None:
    assert cell.key == key


@given(CELLS)
@settings(max_examples=50)
def test_a_cell_survives_json_and_pickle(cell: Cell) -> None:
    for copy in (Cell.from_json(json.loads(json.dumps(cell.to_json()))), pickle.loads(pickle.dumps(cell))):
        assert (copy, hash(copy), copy.key) == (cell, hash(cell), cell.key)
        assert (copy.experiment, dict(copy.settings), copy.seed) == (cell.experiment, dict(cell.settings), cell.seed)


@given(SETTINGS, st.data())
@settings(max_examples=50)
def test_the_order_of_settings_does_not_count(given_settings: dict[str, Any], data: st.DataObject) -> None:
    names = data.draw(st.permutations(list(given_settings)))
    assert Cell("x", {name: given_settings[name] for name in names}, 0) == Cell("x", given_settings, 0)


def test_every_part_of_a_cell_counts() -> None:
    variants = [
        Cell("a", {"q": 1}, 0),
        Cell("b", {"q": 1}, 0),
        Cell("a", {"q": 2}, 0),
        Cell("a", {"q": 1.0}, 0),
        Cell("a", {"q": True}, 0),
        Cell("a", {"q": "1"}, 0),
        Cell("a", {"q": None}, 0),
        Cell("a", {"p": 1}, 0),
        Cell("a", {}, 0),
        Cell("a", {"q": 1}, 1),
    ]
    assert len(set(variants)) == len({cell.key for cell in variants}) == len(variants)


def test_a_cell_keeps_its_settings_when_the_callers_dict_changes() -> None:
    mine: dict[str, Any] = {"q": 1, "bounds": [0, 1]}
    cell = Cell("a", mine, np.int64(3))  # type: ignore[arg-type]
    mine["q"] = 2
    mine["bounds"].append(2)
    assert cell == Cell("a", {"q": 1, "bounds": [0, 1]}, 3)
    assert cell.settings == {"q": 1, "bounds": [0, 1]}
    with pytest.raises(TypeError):
        cell.settings["q"] = 2  # type: ignore[index]
    assert type(cell.seed) is int


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("", {}, 0), "experiment must be a name"),
        ((3, {}, 0), "experiment must be a name"),
        (("a", [1], 0), "settings must be a dict"),
        (("a", {"x": (1, 2)}, 0), "lists in place of tuples"),
        (("a", {1: 2}, 0), "strings as keys"),
        (("a", {"x": float("nan")}, 0), "plain JSON"),
        (("a", {"x": np.int64(3)}, 0), "int\\(x\\)"),
        (("a", {"x": np.zeros(3)}, 0), "x.tolist"),
        (("a", {"x": object()}, 0), "plain JSON"),
        (("a", {}, -1), "seed must be a whole number"),
        (("a", {}, 1.0), "seed must be a whole number"),
        (("a", {}, True), "seed must be a whole number"),
    ],
)
def test_what_would_not_read_back_the_same_is_refused(arguments: tuple[Any, Any, Any], rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        Cell(*arguments)


@pytest.mark.parametrize(
    "record", [None, [], {}, {"experiment": "a", "settings": {}}, {**Cell("a", {}, 0).to_json(), "x": 1}]
)
def test_a_record_that_is_not_exactly_a_cell_is_refused(record: Any) -> None:
    with pytest.raises(InvalidInput, match="exactly the fields"):
        Cell.from_json(record)


def test_a_cell_tells_what_it_is() -> None:
    assert str(Cell("sdd", {"surrogate": "gp", "q": 3}, 4)) == "sdd surrogate=gp q=3 seed=4"


def test_a_label_leaves_out_what_no_line_has_room_for() -> None:
    space = {"parameters": [{"name": "a"}]}
    nested = {"problem": "f", "function": "lab:f", "space": space, "code": "0f", "maximize": True, "axes": [1, 2]}
    assert str(Cell("bench", {**nested, "q": 3, "note": "x" * 41, "kept": "x" * 40}, 4)) == (
        f"bench problem=f maximize=True q=3 kept={'x' * 40} seed=4"
    )


def test_a_grid_has_every_combination_with_seeds_slowest() -> None:
    made = grid("bench", {"strategy": ["kb", "lp"], "q": [1, 3]}, seeds=range(2))
    expected = [
        ("kb", 1, 0),
        ("kb", 3, 0),
        ("lp", 1, 0),
        ("lp", 3, 0),
        ("kb", 1, 1),
        ("kb", 3, 1),
        ("lp", 1, 1),
        ("lp", 3, 1),
    ]
    assert [(cell.settings["strategy"], cell.settings["q"], cell.seed) for cell in made] == expected
    assert grid("bench", {}, [5]) == [Cell("bench", {}, 5)]
    assert grid("bench", {"q": []}, [5]) == []
    with pytest.raises(InvalidInput, match="must be a list of values; got 'kb' for 'strategy'"):
        grid("bench", {"strategy": "kb"}, [0])
