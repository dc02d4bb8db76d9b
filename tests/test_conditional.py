"""Conditional parameters: points have the parameters that count where they are, whatever the space and the strategy."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st

import believer as bv
from believer.arrays import Array
from believer.batch import STRATEGIES
from believer.errors import BelieverError, InvalidInput, SpaceExhausted
from believer.maximize.climb import ascend
from believer.numerics import LBFGSSettings, backend
from believer.plot import data
from believer.replay import replay
from believer.space.narrowed import Narrowed
from believer.space.region import active

law = settings(max_examples=40)

KINDS: dict[str, Any] = {
    "x": (bv.Float, (0.0, 1.0), {}),
    "rate": (bv.Float, (1e-4, 1.0), {"log": True}),
    "step": (bv.Float, (0.0, 1.0), {"step": 0.25}),
    "n": (bv.Int, (1, 4), {}),
    "many": (bv.Int, (0, 300), {}),
    "size": (bv.Discrete, ([1, 2.5, 10.0],), {}),
    "level": (bv.Ordinal, (["low", "mid", "high"],), {}),
    "kind": (bv.Categorical, (["a", "b", None],), {}),
}
LISTED = ("step", "n", "size", "level", "kind")


@st.composite
def spaces(draw: st.DrawFn, finite: bool = False) -> bv.Space:
    """Parameters of all kinds, each of which may depend on any that come before it, in any order of the names."""
    kinds = draw(st.lists(st.sampled_from(LISTED if finite else [*KINDS]), min_size=1, max_size=5))
    parameters: dict[str, Any] = {"root": bv.Categorical(["p", "q", "r"])}
    for i, kind in enumerate(kinds):
        make, arguments, options = KINDS[kind]
        parents = [name for name, p in parameters.items() if p.count is not None and p.count <= 10]
        when = {
            parent: draw(st.lists(st.sampled_from(parameters[parent].decode(parameters[parent].grid())), min_size=1))
            for parent in draw(st.lists(st.sampled_from(parents), max_size=2, unique=True))
        }
        new = make(*arguments, **options, when=when or None)
        with suppress(InvalidInput):  # its parents may exclude each other
            parameters = {**bv.Space({**parameters, f"{kind}{i}": new}).parameters}
    names = draw(st.permutations([*parameters]))
    return bv.Space({name: parameters[name] for name in names})


def has_value(space: bv.Space, name: str, params: dict[str, Any]) -> bool:
    """Whether a parameter has a value at a point, by its definition."""
    when = getattr(space.parameters[name], "when", None) or {}
    return all(
        has_value(space, parent, params)
        and any(type(params.get(parent)) is type(v) and params.get(parent) == v for v in values)
        for parent, values in when.items()
    )


def assert_lawful(space: bv.Space, params: dict[str, Any]) -> None:
    assert [*params] == [name for name in space.names if has_value(space, name, params)]
    assert space.check(params) == params


def assert_encoded(space: bv.Space, X: Array, what: str = "") -> None:
    """Every row is the encoding of a lawful point, to the last bits."""
    points = space.decode(X)
    for params in points:
        assert_lawful(space, params)
    np.testing.assert_allclose(space.encode(points), X, rtol=0.0, atol=1e-9, err_msg=what)


@law
@given(spaces(), st.integers(0, 2**32))
def test_every_point_that_a_region_gives_has_what_counts_there(space: bv.Space, seed: int) -> None:
    region, rng = space.region(), np.random.default_rng(seed)
    U = rng.random((20, space.dim))
    X = region.spread(U)
    parts = {
        "spread": X,
        "sample": region.sample(20, rng),
        "project": region.project(4.0 * U - 1.5),
        "near": region.near(X[:3], 5, (0.3, 0.01), rng),
        "neighbors": region.neighbors(X[0]),
        **{f"step {i}": step.reshape(-1, space.dim) for i, step in enumerate(region.steps(X[:2]))},
    }
    narrowed = Narrowed(region, X[0] - 0.2, X[0] + 0.2)
    parts |= {"narrowed": narrowed.spread(U), "near in it": narrowed.near(X[:1], 5, (0.1,), rng)}
    for what, rows in parts.items():
        assert region.holds(rows).all(), what
        rounded = region.project(rows) if what not in ("spread", "sample", "project") else rows
        assert_encoded(space, rounded, what)
        np.testing.assert_allclose(rounded, rows, rtol=0.0, atol=1e-9, err_msg=what)
    free = region.free(X, relaxed=True)
    counts = active(region, X)
    assert (X[~counts] == 0.5).all()
    assert not (free & ~counts).any()
    assert narrowed.inside(X[:1]).all()


@settings(max_examples=15)
@given(spaces(finite=True))
def test_a_finite_space_has_as_many_points_as_it_says(space: bv.Space) -> None:
    region = space.region()
    points = space.decode(region.points())
    assert len(points) == region.size == space.size
    assert len({json.dumps(params) for params in points}) == len(points)
    for params in points:
        assert_lawful(space, params)
    choices = [[*p.decode(p.grid())] for p in space.parameters.values()]
    crossed = (dict(zip(space.names, values, strict=True)) for values in product(*choices))
    there = {json.dumps({k: v for k, v in p.items() if has_value(space, k, p)}) for p in crossed}
    assert there == {json.dumps(params) for params in points}


@law
@given(spaces(), st.integers(0, 2**32))
def test_a_point_that_is_fixed_in_part_has_what_is_fixed(space: bv.Space, seed: int) -> None:
    rng = np.random.default_rng(seed)
    point = space.decode(space.region().spread(rng.random((1, space.dim))))[0]
    names = [name for name in point if rng.random() < 0.4]
    fixed = {name: point[name] for name in names}
    region = space.region(fixed)
    X = np.vstack([region.spread(rng.random((8, space.dim))), region.sample(4, rng)])
    X = np.vstack([X, region.near(X[:2], 3, (0.2,), rng), region.project(rng.random((4, space.dim)))])
    for params in space.decode(X, fixed):
        assert_lawful(space, params)
        assert params.items() >= fixed.items()
    assert region.size is None or len(region.points()) == region.size


@law
@given(spaces())
def test_a_conditional_space_comes_back_from_its_config_and_from_its_repr(space: bv.Space) -> None:
    again = bv.Space.from_config(json.loads(json.dumps(space.to_config())))
    assert again == space
    U = np.random.default_rng(0).random((5, space.dim))
    np.testing.assert_array_equal(again.region().spread(U), space.region().spread(U))
    assert eval(repr(space), {**vars(bv)}) == space


@settings(max_examples=15)
@given(spaces(), st.sampled_from(["kb", "hedged", "cl_min", "random"]), st.integers(0, 99))
def test_asking_one_by_one_gives_the_same_points(space: bv.Space, strategy: str, seed: int) -> None:
    studies = [bv.Optimizer(space, n_init=4, seed=seed, strategy=strategy) for _ in range(2)]
    for q in (4, 3):
        try:
            together = list(studies[0].ask(q))
        except SpaceExhausted:
            return
        single = [studies[1].ask(1)[0] for _ in range(q)]
        assert [trial.params for trial in together] == [trial.params for trial in single]
        for trial in together:
            assert_lawful(space, trial.params)
            for study in studies:
                study.tell(trial.id, float(((trial.encoded - 0.3) ** 2).sum()))


TUNED = bv.Space(
    {
        "gamma": bv.Float(1e-4, 1, log=True, when={"kernel": ["rbf", "poly"]}),
        "kernel": bv.Categorical(["rbf", "poly", "linear"]),
        "C": bv.Float(1e-3, 1e3, log=True),
        "degree": bv.Int(2, 5, when={"kernel": "poly"}),
        "shift": bv.Float(0, 1, units="mm", when={"degree": [3, 4]}),
    }
)


def loss(params: dict[str, Any]) -> float:
    value = {"rbf": 0.1, "poly": 0.2, "linear": 0.5}[params["kernel"]] + 0.1 * (np.log10(params["C"]) - 1.0) ** 2
    value += 0.2 * (np.log10(params["gamma"]) + 2.0) ** 2 if "gamma" in params else 0.0
    value -= 0.15 * (params["degree"] == 3) * (1.0 - (params["shift"] - 0.7) ** 2) if params.get("degree") == 3 else 0.0
    return float(value)


@pytest.mark.both_backends("kb", "hedged", "thompson", "trust")
@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_strategy_hands_out_distinct_points_that_have_what_counts(strategy: str, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with bv.Optimizer(TUNED, n_init=6, seed=1, strategy=strategy, journal=path) as study:
        study.enqueue({"kernel": "linear", "C": 1.0})
        study.observe({"kernel": "poly", "C": 1.0, "gamma": 0.1, "degree": 3, "shift": 0.2}, 0.3)
        for q in (6, 3, 2):
            batch = study.ask(q)
            for trial in batch:
                assert_lawful(TUNED, trial.params)
            for trial in batch[1:]:  # the first one stays pending
                study.tell(trial, loss(trial.params))
        fixed = study.ask(2, fixed={"degree": 4})
        assert all(t.params["degree"] == 4 and t.params["kernel"] == "poly" and "shift" in t.params for t in fixed)
        points = {json.dumps(trial.params) for trial in study.trials}
        assert len(points) == len(study.trials)
        assert study.settings.n_init == 6
    assert replay(path).identical


@each("surrogate", ["gp", "sparse_gp", "forest", "svr", "last_layer", "mq_rbf", "fixed_rbf"])
def test_surrogates_that_work_in_spaces_learn_conditional_ones(surrogate: str) -> None:
    study = bv.Optimizer(TUNED, n_init=6, seed=0, surrogate=surrogate)
    for q in (6, 3):
        for trial in study.ask(q):
            assert_lawful(TUNED, trial.params)
            study.tell(trial, loss(trial.params))


def test_several_objectives_and_limits_are_searched_in_conditional_spaces() -> None:
    goals: dict[str, Any] = {"loss": bv.Minimize(), "cost": bv.Minimize(), "heat": bv.AtMost(2.0)}
    study = bv.Optimizer(TUNED, outcomes=goals, n_init=6, seed=0)
    for q in (6, 3, 3):
        for trial in study.ask(q):
            assert_lawful(TUNED, trial.params)
            heat = trial.params.get("degree", 1)
            study.tell(trial, {"loss": loss(trial.params), "cost": trial.params["C"] ** 0.1, "heat": float(heat)})
    assert all(point.params.get("degree", 1) <= 2 for point in study.front)


def test_a_study_finds_the_best_branch_and_the_best_point_of_it() -> None:
    found = []
    for seed in range(3):
        study = bv.Optimizer(TUNED, seed=seed)
        while study.counts.done < 40:
            for trial in study.ask(4):
                study.tell(trial, loss(trial.params))
        assert study.best is not None
        found.append(study.best[1])
    assert np.median(found) < 0.06  # 0.05, with degree 3 and shift 0.7; without the third level 0.1


@each(
    "change, message",
    [
        ({"when": {"kernel": "rfb"}}, "when of 'gamma': a value must be one of"),
        ({"when": {"kernl": "rbf"}}, "must name parameters of the space; got 'kernl'"),
        ({"when": {"C": 1.0}}, "whose values can be listed"),
        ({"when": {"gamma": 1.0}}, "whose values can be listed"),
        ({"when": {}}, "when must name"),
        ({"when": "kernel"}, "when must name"),
        ({"when": {"kernel": []}}, "no value for 'kernel'"),
        ({"when": {"kernel": {"rbf"}}}, "when must name"),
        ({"when": {1: "rbf"}}, "when must name"),
    ],
)
def test_conditions_that_cannot_hold_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message.replace("(", "\\(")):
        bv.Space({**TUNED.parameters, "gamma": bv.Float(1e-4, 1, log=True, **change)})


def test_a_parent_with_too_many_values_to_list_is_refused_by_their_number() -> None:
    for parent in (bv.Int(0, 10**6), bv.Float(0, 1, step=1e-6)):
        with pytest.raises(InvalidInput, match=r"at most 100,000 values; got .* for 'n', which has 1,000,001"):
            bv.Space({"n": parent, "x": bv.Float(0, 1, when={"n": 1})})


def test_circles_clashes_and_rules_over_conditional_parameters_are_refused() -> None:
    with pytest.raises(InvalidInput, match="circle; got one among a, b"):
        bv.Space({"a": bv.Int(1, 3, when={"b": 1}), "b": bv.Int(1, 3, when={"a": 1})})
    with pytest.raises(InvalidInput, match="that of 'c', a is 1 and b is 1, never does"):
        bv.Space({"a": bv.Int(1, 3), "b": bv.Int(1, 3, when={"a": 2}), "c": bv.Int(1, 3, when={"a": 1, "b": 1})})
    parts: dict[str, Any] = {"x": bv.Float(0, 1), "y": bv.Float(0, 1, when={"n": 2}), "n": bv.Int(1, 2)}
    with pytest.raises(InvalidInput, match=r"sum_to.* 'y' has one only if n is 2"):
        bv.Space(parts, rules=[bv.sum_to(["x", "y"], 1.0)])


@each(
    "params, message",
    [
        ({"kernel": "linear", "C": 1.0, "gamma": 0.1}, "'gamma' has a value only if kernel is 'rbf' or 'poly'"),
        ({"kernel": "rbf", "C": 1.0}, "missing: gamma"),
        ({"kernel": "poly", "C": 1.0, "gamma": 0.1, "degree": 4}, "missing: shift"),
        ({"kernel": "poly", "C": 1.0, "gamma": 0.1, "degree": 2, "shift": 0.1}, "'shift' has a value only if"),
        ({"kernel": "rbf", "C": 1.0, "gamma": "2"}, "must be a finite number"),
        ({"gamma": 0.1, "C": 1.0}, "'gamma' has a value only if .* kernel is missing"),
        ({"kernel": "poly", "C": 1.0, "gamma": 0.1, "shift": 0.1}, "'shift' has a value only if .* degree is missing"),
        ({"shift": 0.1, "C": 1.0}, "'shift' has a value only if .* kernel is missing"),
    ],
)
def test_points_with_too_much_or_too_little_are_refused(params: dict[str, Any], message: str) -> None:
    study = bv.Optimizer(TUNED, seed=0)
    for call in (study.enqueue, lambda p: study.observe(p, 1.0), lambda p: study.tell(p, 1.0)):
        with pytest.raises(BelieverError, match=message):
            call(params)
    assert len(study.events) == 1


def test_a_refusal_says_what_of_the_conditions_does_not_hold() -> None:
    nested = bv.Space(
        {
            "model": bv.Categorical(["svm", "forest"]),
            "kernel": bv.Categorical(["rbf", "linear"], when={"model": "svm"}),
            "gamma": bv.Float(0, 1, when={"kernel": "rbf"}),
        }
    )
    with pytest.raises(InvalidInput, match=r"at \{'model': 'forest'\}"):
        nested.check({"model": "forest", "gamma": 0.5})


def test_none_stands_for_no_value_so_that_rows_of_a_table_can_be_observed() -> None:
    study = bv.Optimizer(TUNED, seed=0)
    for trial in study.ask(8):
        study.tell(trial, loss(trial.params))
    rows = study.records()
    assert any(row["gamma"] is None for row in rows)
    again = bv.Optimizer(TUNED, seed=0)
    for row in rows:
        again.observe({name: row[name] for name in TUNED.names}, row["value"])
    assert [trial.params for trial in again.trials] == [trial.params for trial in study.trials]
    for nan in (float("nan"), np.float32("nan")):  # as an empty cell is in a data frame
        assert TUNED.check({"kernel": "linear", "C": 1.0, "gamma": nan, "degree": nan}) == {
            "kernel": "linear",
            "C": 1.0,
        }
        assert TUNED.moved(again.trials[0].params, {"kernel": "linear", "C": 1.0, "gamma": nan}) == {
            "kernel": "linear",
            "C": 1.0,
        }
        with pytest.raises(InvalidInput, match=r"finite number; got .*nan.* for 'gamma'"):
            TUNED.check({"kernel": "rbf", "C": 1.0, "gamma": nan})
    odd = bv.Space({"a": bv.Categorical([None, 1]), "b": bv.Categorical([None, 2], when={"a": None})})
    assert odd.check({"a": None, "b": None}) == {"a": None, "b": None}
    assert odd.check({"a": 1, "b": None}) == {"a": 1}


def test_fixed_values_that_exclude_each_other_are_refused_before_any_work() -> None:
    study = bv.Optimizer(TUNED, seed=0)
    for fixed in ({"kernel": "rbf", "degree": 3}, {"degree": 2, "shift": 0.5}, {"kernel": "linear", "shift": 0.5}):
        with pytest.raises(InvalidInput, match="fixed parameters must have values together"):
            study.ask(1, fixed=fixed)
    assert len(study.events) == 1


def test_a_batch_may_share_a_parent_but_not_a_conditional_parameter() -> None:
    study = bv.Optimizer(TUNED, seed=0, n_init=4)
    for _ in range(3):
        batch = study.ask(4, shared=["kernel"])
        assert len({trial.params["kernel"] for trial in batch}) == 1
        for trial in batch:
            assert_lawful(TUNED, trial.params)
            study.tell(trial, loss(trial.params))
    assert {t.params["kernel"] for t in study.ask(4, shared={"kernel": 2}, fixed={"gamma": 0.1})} <= {"rbf", "poly"}
    with pytest.raises(InvalidInput, match="shared needs parameters that always have a value; 'gamma'"):
        study.ask(4, shared=["gamma"])


def test_a_finite_conditional_space_is_exhausted_after_its_last_point() -> None:
    space = bv.Space({"kind": bv.Categorical(["a", "b"]), "n": bv.Int(1, 4, when={"kind": "a"})})
    study, seen = bv.Optimizer(space, n_init=3, seed=0), []
    for q in (3, 2):
        for trial in study.ask(q):
            seen.append(json.dumps(trial.params))
            study.tell(trial, float(trial.params.get("n", 9)))
    assert len({*seen}) == 5
    with pytest.raises(SpaceExhausted, match="has 0 left"):
        study.ask(1)
    other = bv.Optimizer(space, seed=0)
    with pytest.raises(SpaceExhausted, match="has 5 left"):
        other.ask(6)
    with pytest.raises(SpaceExhausted, match="has 1 left"):
        other.ask(2, fixed={"kind": "b"})


def test_rules_and_functions_stand_beside_conditional_parameters() -> None:
    space = bv.Space(
        {**{name: bv.Float(0, 1) for name in "xyz"}, **TUNED.parameters},
        lambda p: p["kernel"] != "poly" or p["gamma"] < 0.1,
        rules=[bv.sum_to([*"xyz"], 1.0)],
    )
    study = bv.Optimizer(space, n_init=6, seed=0)
    for q in (6, 4):
        for trial in study.ask(q):
            assert_lawful(space, trial.params)
            assert space.allows(trial.params)
            study.tell(trial, loss(trial.params) + trial.params["x"])


def test_a_study_goes_on_with_a_new_branch_and_with_a_new_conditional_parameter(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    small: dict[str, Any] = {"kernel": bv.Categorical(["rbf", "linear"]), "C": bv.Float(0.1, 10)}
    with bv.Optimizer.open(path, bv.Space(small), seed=0, n_init=4) as study:
        for trial in study.ask(6):
            study.tell(trial, trial.params["C"])
    gamma = bv.Float(1e-4, 1, log=True, when={"kernel": "rbf"})
    with pytest.raises(InvalidInput, match="gamma: a new parameter needs the value"):
        bv.Optimizer.open(path, bv.Space({**small, "gamma": gamma}), change=True)
    filled = bv.Float(1e-4, 1, log=True, when={"kernel": "rbf"}, backfill=0.01)
    wider = bv.Space({**small, "kernel": bv.Categorical(["rbf", "linear", "poly"]), "gamma": filled})
    branch = bv.Space({**wider.parameters, "degree": bv.Int(2, 5, when={"kernel": "poly"})})  # no result can have it
    with bv.Optimizer.open(path, branch, change=True) as study:
        assert not study.outside
        for trial in study.trials:
            assert_lawful(branch, trial.params)
            assert trial.params.get("gamma", 0.01) == 0.01
        for trial in study.ask(3):
            study.tell(trial, trial.params["C"])
    with bv.Optimizer.open(path, bv.Space(small), change=True) as study:  # back, where gamma was as it had been
        assert {trial.id for trial in study.outside} >= {
            t.id for t in study.trials if t.id >= 6 and "gamma" in t.params
        }
    with pytest.raises(InvalidInput, match="when="):
        bv.Optimizer.open(path, bv.Space({**small, "C": bv.Float(0.1, 10, when={"kernel": "rbf"})}))
    assert replay(path).identical


def test_tables_have_blank_cells_and_units_for_what_has_no_value(tmp_path: Path) -> None:
    study = bv.Optimizer(TUNED, seed=0)
    for trial in study.ask(8):
        study.tell(trial, loss(trial.params))
    study.to_csv(tmp_path / "table.csv")
    header, *lines = (tmp_path / "table.csv").read_text().splitlines()
    place = header.split(",").index("gamma")
    for line, trial in zip(lines, study.trials, strict=True):
        assert (line.split(",")[place] == "") == ("gamma" not in trial.params)
    with_shift = next(trial for trial in study.trials if "shift" in trial.params)
    assert "shift=" in str(study.trials)
    assert " mm" in str(study.trials)
    assert "None" not in str(study.trials) + repr(with_shift)


def test_figures_show_a_parameter_where_it_counts() -> None:
    study = bv.Optimizer(TUNED, seed=0, n_init=8)
    while study.counts.done < 20:
        for trial in study.ask(4):
            study.tell(trial, loss(trial.params))
    through = {"kernel": "rbf", "C": 10.0, "gamma": 0.01}
    curves = {curve.axis.name: curve for curve in data.slice(study, through=through)}
    assert np.isfinite(curves["kernel"].mean).all()  # what begins to count is in the middle of its values
    assert np.isfinite(curves["gamma"].mean).all()
    assert np.isnan(curves["degree"].mean).all()
    assert np.isnan(curves["shift"].mean).all()
    for curve in data.partial_dependence(study, samples=32):
        assert np.isfinite(curve.mean).all(), curve.axis.name
        if curve.axis.name in ("gamma", "shift"):  # smooth, also where columns are that do not count
            assert np.abs(np.diff(curve.mean, 3)).max() < 0.2 * np.ptp(curve.mean), curve.axis.name
    assert np.isfinite(data.surface(study, parameters=["kernel", "C"], through=through).mean).all()


def test_a_choice_of_none_stays_one_where_another_value_was_really_used() -> None:
    """It was taken for no value, and the result was refused."""
    branch, none = bv.Categorical(["x", "y"]), bv.Categorical(["a", None], when={"branch": "x"})
    depth = bv.Int(1, 9, when={"branch": "x"})
    space = bv.Space(
        {"p": bv.Ordinal(["a", None]), "x": bv.Float(0, 1), "branch": branch, "none": none, "depth": depth}
    )
    opt = bv.Optimizer(space, seed=0)
    at = {"p": None, "x": 0.5, "branch": "x", "none": None, "depth": 3}
    for changed in ({"x": 0.51}, {"p": "a"}, {"depth": 4}, {"none": "a"}, {"none": None}):
        opt.enqueue(at)
        [trial] = opt.ask(1)
        opt.tell(trial, 1.0, params=changed)
        assert opt.trials[trial.id].params == {**at, **changed}
    opt.enqueue(at)
    [trial] = opt.ask(1)
    opt.tell(trial, 1.0, params={"branch": "y", "depth": None})
    assert opt.trials[trial.id].params == {"p": None, "x": 0.5, "branch": "y"}


@dataclass(frozen=True)
class Slope:
    """The sum of all columns, the same way up everywhere."""

    has_gradient = True

    def value(self, X: Array) -> Array:
        values: Array = X.sum(axis=1)
        return values

    def value_with_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.value(X), np.ones_like(X)


def test_a_climb_in_a_narrow_box_leaves_what_is_inactive_at_rest() -> None:
    tree: dict[str, Any] = {
        "kind": bv.Categorical(["a", "b"]),
        "x": bv.Float(0, 1),
        "y": bv.Float(0, 1, when={"kind": "a"}),
        "n": bv.Int(0, 300, when={"kind": "b"}),
    }
    space = bv.Space(tree)
    box = Narrowed(space.region(), np.full(space.dim, 0.7), np.full(space.dim, 0.9))
    for name in {"python", backend.name()}:
        with backend.using(name):
            X = box.sample(8, np.random.default_rng(0))
            for relaxed in (False, True):
                ends, _ = ascend(Slope(), box, X, LBFGSSettings(), 1.0, relaxed)
                assert_encoded(space, ends, name)
                np.testing.assert_array_equal(active(box, ends), active(box, X))
                assert (ends[:, 2] == 0.9).all()


def test_a_study_that_searches_narrow_boxes_loads_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    space = bv.Space({"kind": bv.Categorical(["a", "b"]), "x": bv.Float(0, 1), "y": bv.Float(0, 1, when={"kind": "a"})})
    with bv.Optimizer(space, n_init=4, seed=0, strategy="trust_region", journal=path) as study:
        for _ in range(12):
            for trial in study.ask(2):
                study.tell(trial, trial.params["x"] - trial.params.get("y", 0.3))
        asked = [trial.params for trial in study.trials]
    with bv.Optimizer.load(path) as again:
        assert [trial.params for trial in again.trials] == asked
