"""Categories with descriptors: what a space makes of them, and a study that learns from them."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.batch import STRATEGIES
from believer.errors import InvalidInput, MissingCapability
from believer.numerics import backend

choice: Any = bv.Categorical
ordinal: Any = bv.Ordinal
"""Of any type, as bad input has."""

SOLVENTS = {"DMF": [36.7, 3.82], "water": [78.4, 1.85], "toluene": [2.38, 0.36], "DMSO": [46.7, 3.96]}
NAMED = {name: {"dielectric": a, "dipole": b} for name, (a, b) in SOLVENTS.items()}

COLUMNS = {"dielectric": [36.7, 78.4, 2.38, 46.7], "dipole": [3.82, 1.85, 0.36, 3.96]}


def value(params: dict[str, Any]) -> float:
    """What a solvent is worth depends on its dielectric constant alone."""
    return float((NAMED[params["solvent"]]["dielectric"] / 80.0 - 0.5) ** 2 + (params["T"] - 0.3) ** 2)


def space(**more: list[float]) -> bv.Space:
    return bv.Space({"solvent": bv.Categorical({**SOLVENTS, **more}), "T": bv.Float(0, 1)})


def test_a_row_is_scaled_descriptors_and_then_the_identity() -> None:
    choice = bv.Categorical({"a": [1.0, 5.0], "b": [3.0, 4.0], "c": [2.0, 0.0]})
    assert choice.grid().tolist() == [[0.0, 0.5, 1, 0, 0], [0.5, 0.4, 0, 1, 0], [0.25, 0.0, 0, 0, 1]]
    np.testing.assert_array_equal(choice.encode(["c", "a"], "x"), choice.grid()[[2, 0]])
    assert choice.decode(choice.grid() + 0.1) == ["a", "b", "c"]
    assert (choice.width, choice.count, choice.ordered) == (5, 3, False)


def test_each_descriptor_has_a_lengthscale_and_the_identity_one_more() -> None:
    assert space().groups == (0, 1, 2, 2, 2, 2, 3)
    assert bv.Space({"x": bv.Float(0, 1), "c": bv.Categorical({"a": 1, "b": 2})}).groups == (0, 1, 2, 2)


@each(
    "same",
    [
        bv.Categorical([*SOLVENTS], descriptors=COLUMNS),
        choice(np.array([*SOLVENTS]), descriptors=[*COLUMNS.items()]),
        bv.Categorical({name: {key: np.float64(x) for key, x in row.items()} for name, row in NAMED.items()}),
        replace(bv.Categorical([*SOLVENTS], descriptors=COLUMNS), units=""),
        pickle.loads(pickle.dumps(bv.Categorical(NAMED))),
    ],
)
def test_there_are_several_ways_to_say_the_same(same: bv.Categorical) -> None:
    known = bv.Categorical(NAMED)
    assert same == known
    assert hash(same) == hash(known)
    assert eval(repr(same), {"Categorical": bv.Categorical}) == known
    np.testing.assert_array_equal(same.grid(), bv.Categorical(SOLVENTS).grid())
    assert same.described_by == ("dielectric", "dipole")
    assert bv.Categorical(SOLVENTS).described_by == ("descriptor 1", "descriptor 2")
    assert known != bv.Categorical([*SOLVENTS])


@each(
    "rows, left",
    [
        ({"a": [1, 7], "b": [2, 7]}, ("descriptor 1",)),
        ({"a": [1, 2.0, 9.0], "b": [2, 4.0, 8.0]}, ("descriptor 1",)),
        ({"a": [5], "b": [5]}, ()),
        ({"a": 5, "b": 6}, ("descriptor 1",)),
        ({"a": [], "b": []}, ()),
        ({"a": [5.0]}, ()),
    ],
)
def test_descriptors_that_tell_nothing_new_are_left_out(rows: Any, left: tuple[str, ...]) -> None:
    choice = bv.Categorical(rows)
    assert choice.described_by == left
    assert choice.decode(choice.grid()) == [*rows]
    assert bv.Space({"x": choice}).groups == (None if len(rows) == 1 else (*range(len(left)), *[len(left)] * len(rows)))


def test_rows_of_a_data_frame_are_found_by_the_names_of_their_choices() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS, index=[*SOLVENTS])
    assert bv.Categorical(frame) == bv.Categorical(NAMED)
    assert choice([*SOLVENTS], descriptors=frame.iloc[::-1]) == bv.Categorical(NAMED)
    assert choice([*SOLVENTS], descriptors=frame.reset_index(drop=True)) == bv.Categorical(NAMED)
    with pytest.raises(InvalidInput, match="'MeCN' has none"):
        choice([*SOLVENTS, "MeCN"], descriptors=frame)


@each(
    "make, text",
    [
        (lambda: choice({"a": [1, 2], "b": [1]}), "'b' has descriptor 1"),
        (lambda: choice({"a": [1, 2], "b": [1, np.nan]}), "got nan for 'descriptor 2' of 'b'"),
        (lambda: choice({"a": [1], "b": [np.inf]}), "got inf"),
        (lambda: choice({"a": [1], "b": [1e300]}), "got 1e\\+300"),
        (lambda: choice({"a": [1], "b": ["x"]}), "got 'x'"),
        (lambda: choice({"a": [1], "b": [True]}), "got True"),
        (lambda: choice({"a": {"x": 1}, "b": {"y": 1}}), "'b' has y"),
        (lambda: choice({"a": 1, "b": None}), "got None"),
        (lambda: choice({}), "at least one value"),
        (lambda: choice({"a": 1, "b": 2}, descriptors={"x": [1, 2]}), "not in both"),
        (lambda: choice(["a", "b"], descriptors={"x": [1]}), "'x' has 1"),
        (lambda: choice(["a", "b"], descriptors={"x": "ab"}), "a list of numbers by name"),
        (lambda: choice(["a", "b"], descriptors={1: [1, 2]}), "a list of numbers by name"),
        (lambda: choice(["a", "b"], descriptors=[1, 2]), "a list of numbers by name"),
        (lambda: choice(["a", "b"], descriptors={"x": 3}), "a list of numbers by name"),
        (lambda: choice(["a", "b"], descriptors={"identity": [1, 2]}), "Rename it"),
        (lambda: choice([(1, 2)], descriptors={"x": [1]}), "a choice must be"),
        (lambda: choice({"a": [*range(5000)]}), "5,000 at most"),
        (lambda: ordinal({"a": 1, "b": 2}), "its order says how alike"),
    ],
)
def test_bad_descriptors_are_one_clear_error(make: Any, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        make()


@each("strategy", [*STRATEGIES], ids=str)
def test_every_strategy_hands_out_choices(strategy: str) -> None:
    opt = bv.Optimizer(
        bv.Space({"solvent": bv.Categorical(SOLVENTS), "base": bv.Categorical({"x": 1, "y": 3})}),
        strategy=strategy,
        n_init=3,
        seed=0,
    )
    points = []
    for q in (3, 2):
        for trial in opt.ask(q):
            points.append(tuple(trial.params.values()))
            opt.tell(trial, NAMED[trial.params["solvent"]]["dielectric"] + (trial.params["base"] == "x"))
    assert len({*points}) == 5


@each("name", ["python", "native"])
def test_q_asks_of_one_choose_what_one_ask_of_q_does_on_both_backends(name: str) -> None:
    if name == "native" and backend.name() != "native":
        pytest.skip("not compiled")
    with backend.using(name):
        one, four = (bv.Optimizer(space(), n_init=4, seed=3) for _ in range(2))
        for opt in (one, four):
            for trial in opt.ask(4):
                opt.tell(trial, value(trial.params))
        assert [one.ask(1)[0].params for _ in range(4)] == [trial.params for trial in four.ask(4)]


def test_a_study_goes_on_with_one_more_solvent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "study.jsonl"
    with bv.Optimizer.open(path, space(), n_init=4, seed=1) as opt:
        for trial in opt.ask(6):
            opt.tell(trial, value(trial.params))
        waiting = opt.ask(2)
    bv.replay(path)
    with bv.Optimizer.open(path, space()) as again:
        assert [trial.params for trial in again.pending] == [trial.params for trial in waiting]
    monkeypatch.setitem(NAMED, "ether", {"dielectric": 40.0, "dipole": 1.15})
    with pytest.raises(InvalidInput, match="solvent"):
        bv.Optimizer.open(path, space(ether=[40.0, 1.15]))
    with bv.Optimizer.open(path, space(ether=[40.0, 1.15]), change=True) as wider:
        assert len(wider.outcomes) == 6
        told = [trial.params["solvent"] for trial in wider.ask(8)]
    assert "ether" in told
    bv.replay(path)
    with pytest.raises(InvalidInput, match="dielectric"):
        bv.Optimizer.open(path, bv.Space({"solvent": bv.Categorical(NAMED), "T": bv.Float(0, 1)}))


def test_shares_are_of_the_mean_squared_distance_between_choices() -> None:
    known = bv.Space({"t": bv.Float(0, 1), "solvent": bv.Categorical(NAMED)})
    scales = np.array([9.0, 0.5, 2.0, *[3.0] * 4])
    rows = known.parameters["solvent"].grid() / scales[1:]
    pairs = np.array([(a - b) ** 2 for i, a in enumerate(rows) for b in rows[:i]]).mean(axis=0)
    shares = known.descriptor_shares(scales)["solvent"]
    wanted = np.array([pairs[0], pairs[1], pairs[2:].sum()]) / pairs.sum()
    np.testing.assert_allclose([*shares.values()], wanted)
    assert [*shares] == ["dielectric", "dipole", "identity"]
    assert bv.Space({"x": bv.Float(0, 1)}).descriptor_shares(np.ones(1)) == {}


def test_a_model_says_how_much_it_uses_descriptors_and_identity() -> None:
    opt = bv.Optimizer(space(), n_init=6, seed=0)
    for trial in opt.ask(6):
        opt.tell(trial, value(trial.params))
    shares = opt.descriptor_shares()["solvent"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) > 0.0
    found = bv.plot.data.importance(opt)
    assert found.by_descriptors["solvent"] == pytest.approx(1.0 - shares["identity"])
    assert sum(title.endswith("by descriptors)") for title in found.titles) == 1


def test_shares_need_results_and_lengthscales() -> None:
    opt = bv.Optimizer(space(), surrogate="forest", seed=0)
    with pytest.raises(InvalidInput, match="at least one result"):
        opt.descriptor_shares()
    for trial in opt.ask(3):
        opt.tell(trial, value(trial.params))
    with pytest.raises(MissingCapability, match="lengthscales"):
        opt.descriptor_shares()
