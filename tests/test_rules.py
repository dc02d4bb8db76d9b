"""Spaces with linear rules: every point that is handed out keeps them, whatever the space, strategy and history."""

from __future__ import annotations

import math
from fractions import Fraction
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
from believer.errors import InvalidInput, SpaceExhausted
from believer.space.polytope import Polytope
from believer.space.projection import excess, onto_rules
from believer.space.rules import Linear, MaxParts, from_config, to_config

law = settings(max_examples=40)
PARTS = [*"abcdef"]


@st.composite
def spaces(draw: st.DrawFn) -> bv.Space:
    """Mixtures with bounds and grids, beside other parameters, with further rules that one point keeps at least."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    names = PARTS[: draw(st.integers(2, 6))]
    shares = rng.multinomial(20, rng.dirichlet(np.ones(len(names)))) * 0.05  # a point that keeps every rule
    parameters: dict[str, Any] = {}
    for name, share in zip(names, shares, strict=True):
        step = draw(st.sampled_from([None, None, 0.05, 0.01]))
        low = 0.0 if rng.random() < 0.6 else round(float(share) * 0.5 // 0.05 * 0.05, 2)
        high = round(min(1.0, float(share) + draw(st.sampled_from([0.1, 0.5, 1.0]))), 2)
        parameters[name] = bv.Float(low, high, step=step)
    point = dict(zip(names, shares.tolist(), strict=True))
    rules: list[Any] = [bv.sum_to(names, 1.0)] if draw(st.booleans()) else []
    terms = {name: draw(st.sampled_from([1.0, 2.0, -1.0, 0.5])) for name in names[: draw(st.integers(1, len(names)))]}
    total = round(sum(c * point[name] for name, c in terms.items()), 6)
    if draw(st.booleans()) or not rules:
        rules.append(bv.linear(terms, at_most=total + 0.05))
    if draw(st.booleans()) and len(names) > 3:
        rules.append(bv.linear({names[0]: 1, names[1]: -1}, at_least=point[names[0]] - point[names[1]] - 0.1))
    if draw(st.booleans()) and all(parameter.low == 0.0 for parameter in parameters.values()):
        rules.append(bv.max_parts(names, max(1, int((shares > 0).sum()))))
    if draw(st.booleans()):
        parameters |= {"warm": bv.Float(1, 100, log=True), "kind": bv.Categorical(("x", "y")), "k": bv.Int(1, 3)}
    return bv.Space(parameters, rules=rules)


def kept(rule: Any, params: dict[str, Any]) -> bool:
    """Whether a rule holds exactly, in the decimals that the numbers are written with."""
    if isinstance(rule, MaxParts):
        return sum(bool(params[name] > 0) for name in rule.names) <= rule.most
    assert isinstance(rule, Linear)
    total = sum(Fraction(repr(c)) * Fraction(repr(float(params[name]))) for name, c in rule.terms)
    below = rule.at_most is None or float(total - Fraction(repr(rule.at_most))) <= 1e-12
    above = rule.at_least is None or float(Fraction(repr(rule.at_least)) - total) <= 1e-12
    return below and above


@law
@given(spaces(), st.integers(0, 2**32))
def test_every_point_that_a_region_gives_keeps_every_rule(space: bv.Space, seed: int) -> None:
    region, rng = space.region(), np.random.default_rng(seed)
    assert isinstance(region, Polytope)
    U = rng.random((20, space.dim))
    points = {
        "spread": region.spread(U),
        "sample": region.sample(20, rng),
        "project": region.project(4.0 * U - 1.5),
        "far": region.project(1e6 * (U[:4] - 0.5)),
        "near": region.near(region.spread(U[:3]), 5, (0.3, 0.01), rng),
        **{f"step {i}": step.reshape(-1, space.dim) for i, step in enumerate(region.steps(region.spread(U[:2])))},
    }
    points["neighbors"] = region.neighbors(points["spread"][0])
    for what, X in points.items():
        assert region.holds(X).all(), what
        decoded = space.decode(X)
        assert all(kept(rule, params) for params in decoded for rule in space.rules), what
        assert space.misplaced(decoded, X) is None, what
        assert all(map(space.allows, decoded)), what


@law
@given(spaces())
def test_a_projection_leaves_lawful_points_where_they_are(space: bv.Space) -> None:
    X = space.region().sample(10, np.random.default_rng(0))
    np.testing.assert_allclose(space.region().project(X), X, rtol=0.0, atol=1e-9)


@law
@given(spaces())
def test_a_space_with_rules_comes_back_from_its_config(space: bv.Space) -> None:
    again = bv.Space.from_config(space.to_config())
    assert again == space
    assert again.rules == space.rules
    U = np.random.default_rng(0).random((5, space.dim))
    np.testing.assert_array_equal(again.region().spread(U), space.region().spread(U))
    assert eval(repr(space.rules), {**vars(bv)}) == space.rules


@settings(max_examples=12)
@given(spaces(), st.sampled_from(["kb", "hedged", "cl_min", "random"]), st.integers(0, 99))
def test_asking_one_by_one_gives_the_same_lawful_points(space: bv.Space, strategy: str, seed: int) -> None:
    studies = [bv.Optimizer(space, n_init=4, seed=seed, strategy=strategy) for _ in range(2)]
    for q in (4, 3):
        try:
            together = list(studies[0].ask(q))
        except SpaceExhausted:
            return
        single = [studies[1].ask(1)[0] for _ in range(q)]
        assert [trial.params for trial in together] == [trial.params for trial in single]
        assert all(kept(rule, trial.params) for trial in together for rule in space.rules)
        for study in studies:
            for trial in together:
                study.tell(trial.id, float(((trial.encoded - 0.3) ** 2).sum()))


MIXED = bv.Space(
    {
        "a": bv.Float(0, 1),
        "b": bv.Float(0.1, 0.8),
        "c": bv.Float(0, 0.5, step=0.05),
        "warm": bv.Float(1, 100, log=True),
        "kind": bv.Categorical(("x", "y")),
    },
    rules=[bv.sum_to(["a", "b", "c"], 1.0), bv.linear({"a": 2, "b": 1}, at_most=1.4)],
)
PERCENT = bv.Space({name: bv.Float(0, 100, step=1) for name in "abcd"}, rules=[bv.sum_to([*"abcd"], 100)])
FEW = bv.Space({name: bv.Float(0, 1) for name in PARTS}, rules=[bv.sum_to(PARTS, 1.0), bv.max_parts(PARTS, 3)])


def checked(study: bv.Optimizer, q: int, **options: Any) -> list[bv.Trial]:
    """A batch whose points keep every rule."""
    batch = list(study.ask(q, **options))
    for trial in batch:
        assert all(kept(rule, trial.params) for rule in study.space.rules)
        assert study.space.misplaced([trial.params], trial.encoded[None, :]) is None
    return batch


OTHER_LIES = ("cl_max", "cl_mean", "kb_lower", "kb_upper", "fantasy")
"""They search as cl_min, kb and fantasies do, and differ in the value of their lie."""

OF_EACH_KIND = [(MIXED, name) for name in STRATEGIES if name not in OTHER_LIES] + [
    (space, name) for space in (PERCENT, FEW) for name in ("hedged", "lp_lipschitz", "qei", "dpp", "ucb_pe")
]


@each(("space", "strategy"), OF_EACH_KIND)
def test_every_way_to_search_keeps_the_rules(space: bv.Space, strategy: str) -> None:
    study = bv.Optimizer(space, n_init=4, seed=0, strategy=strategy)
    for trial in checked(study, 4):
        study.tell(trial, float(((trial.encoded - 0.3) ** 2).sum()))
    for _ in range(2):  # one of two stays pending
        trial = checked(study, 2)[0]
        study.tell(trial, float(((trial.encoded - 0.3) ** 2).sum()))
    assert len({tuple(trial.encoded) for trial in study.trials}) == 8


def test_limits_and_several_objectives_keep_the_rules_and_replay(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    outcomes: dict[str, Any] = {"strength": bv.Maximize(), "cost": bv.Minimize(), "smell": bv.AtMost(0.6)}
    with bv.Optimizer(MIXED, outcomes=outcomes, n_init=4, seed=0, journal=path) as study:
        for _ in range(4):
            for trial in checked(study, 2):
                p = trial.params
                study.tell(trial, {"strength": p["a"] * p["b"], "cost": p["b"], "smell": p["c"] + 0.3})
        told = study.records()
    with bv.Optimizer.load(path) as again:
        assert again.records() == told
        assert again.space == MIXED
    assert bv.replay(path).identical


def test_held_parts_stay_to_the_bit_and_the_others_fill_the_sum() -> None:
    study = bv.Optimizer(MIXED, n_init=2, seed=0)
    for _ in range(2):
        for trial in checked(study, 2, fixed={"a": 1.0 / 3.0, "c": 0.2}):
            assert (trial.params["a"], trial.params["c"]) == (1.0 / 3.0, 0.2)
            study.tell(trial, trial.params["warm"])
    with pytest.raises(InvalidInput, match=r"sum_to.*a=0\.9"):
        study.ask(1, fixed={"a": 0.9, "c": 0.5})


def test_a_mixture_is_optimized_to_its_best_blend_on_a_face() -> None:
    best = {"a": 0.5, "b": 0.3, "c": 0.2, "d": 0.0, "e": 0.0, "f": 0.0}
    space = bv.Space({name: bv.Float(0, 1) for name in best}, rules=[bv.sum_to([*best], 1.0)])
    study = bv.Optimizer(space, n_init=6, seed=0)
    for _ in range(8):
        for trial in study.ask(4):
            study.tell(trial, sum((trial.params[name] - share) ** 2 for name, share in best.items()))
    assert study.best is not None
    assert study.best[1] < 1e-4


def test_percent_steps_reach_the_best_blend_exactly() -> None:
    best = {"a": 41, "b": 0, "c": 59, "d": 0}
    study = bv.Optimizer(PERCENT, n_init=6, seed=1)
    for _ in range(8):
        for trial in study.ask(4):
            study.tell(trial, sum((trial.params[name] - share) ** 2 for name, share in best.items()))
    assert study.best is not None
    assert study.best[0] == best


def test_a_small_space_of_grids_is_listed_and_used_up() -> None:
    space = bv.Space({name: bv.Float(0, 1, step=0.25) for name in "abc"}, rules=[bv.sum_to([*"abc"], 1.0)])
    assert space.region().size == math.comb(6, 2) == 15
    study = bv.Optimizer(space, n_init=3, seed=0)
    seen = [tuple(trial.params.values()) for _ in range(5) for trial in checked(study, 3)]
    assert len(set(seen)) == 15
    with pytest.raises(SpaceExhausted):
        study.ask(1)


def test_thirty_parts_in_percent_steps_are_searched() -> None:
    names = [f"p{i}" for i in range(30)]
    space = bv.Space({name: bv.Float(0, 1, step=0.01) for name in names}, rules=[bv.sum_to(names, 1.0)])
    study = bv.Optimizer(space, n_init=4, seed=0, strategy="kb")
    for q in (4, 1):
        for trial in checked(study, q):
            study.tell(trial, trial.params["p3"])


def test_discrete_and_ordinal_parameters_are_searched_and_summed() -> None:
    space = bv.Space(
        {"a": bv.Discrete([0, 0.1, 0.25, 0.5]), "b": bv.Float(0, 1), "heat": bv.Ordinal(["low", "mid", "high"])},
        rules=[bv.sum_to(["a", "b"], 1.0)],
    )
    study = bv.Optimizer(space, n_init=4, seed=0)
    assert space.region().size == 12
    for _ in range(4):
        for trial in checked(study, 3):
            p = trial.params
            study.tell(trial, (p["a"] - 0.25) ** 2 + (p["heat"] != "mid"))
    assert study.best is not None
    assert study.best[0] == {"a": 0.25, "b": 0.75, "heat": "mid"}
    with pytest.raises(SpaceExhausted):  # what is left of the sum has one value for each of the others
        study.ask(1)


def test_a_function_is_asked_as_well() -> None:
    space = bv.Space(MIXED.parameters, lambda p: p["a"] > p["b"], rules=MIXED.rules)
    study = bv.Optimizer(space, n_init=4, seed=0)
    for _ in range(3):
        for trial in checked(study, 2):
            assert trial.params["a"] > trial.params["b"]
            study.tell(trial, trial.params["warm"])


def test_uniform_numbers_become_uniform_blends() -> None:
    """A part of a uniform blend of four has the mean 1/4 and the variance 3/80."""
    region = bv.Space({name: bv.Float(0, 1) for name in "abcd"}, rules=[bv.sum_to([*"abcd"], 1.0)]).region()
    X = region.spread(np.random.default_rng(0).random((8000, 4)))
    np.testing.assert_allclose(X.mean(axis=0), 0.25, atol=0.02)
    np.testing.assert_allclose(X.var(axis=0), 3.0 / 80.0, rtol=0.12)
    assert region.freedom == 3


def test_a_projection_onto_one_sum_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    lower, upper = rng.random(6) * 0.1, 0.4 + rng.random(6) * 0.6
    P, a = rng.normal(0.2, 1.0, (50, 6)), rng.choice([-1.0, 0.5, 1.0], 6)
    total = float(a @ (0.5 * (lower + upper)))
    one = ((np.array([0]), np.arange(6)),)
    X = onto_rules(P, lower, upper, a[None, :], np.array([total]), np.array([total]), one)
    np.testing.assert_allclose(X @ a, total, rtol=0.0, atol=1e-12)
    for other in range(50):  # no lawful point lies nearer: x - p makes an obtuse angle with every way from x
        ways = X - X[other]
        assert (ways @ (P[other] - X[other]) <= 1e-9).all()


def test_a_projection_onto_several_rules_is_the_nearest_point() -> None:
    rng = np.random.default_rng(1)
    A = np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 0.0, 0.5, 0.0], [0.0, 0.3, 1.0, 0.0, -1.0]])
    low, high = np.array([1.0, -0.1, -np.inf]), np.array([1.0, 0.2, 0.15])
    parts = ((np.arange(3), np.arange(5)),)
    spread: Array = rng.normal(0.2, 2.0, (200, 5))
    X = onto_rules(spread, np.zeros(5), np.ones(5), A, low, high, parts)
    assert excess(X, A, low, high).max() < 1e-9
    for other in range(200):
        assert ((X - X[other]) @ (spread[other] - X[other]) <= 1e-8).all()


@pytest.mark.parametrize(
    ("rules", "blamed", "spared"),
    [
        ([bv.sum_to(["a", "b"], 3.0), bv.linear({"c": 1}, at_most=0.5)], "sum_to(['a', 'b'], 3.0)", "linear"),
        ([bv.sum_to(["a", "b"], 1.0), bv.linear({"a": 1}, at_most=0.2), bv.linear({"b": 1}, at_most=0.2)], "and", "c="),
        ([bv.linear({"a": 1, "b": -1}, at_least=0.1), bv.linear({"b": 1, "a": -1}, at_least=0.0)], "and", "c="),
        ([bv.sum_to(["a", "b", "c"], 2.5), bv.max_parts(["a", "b", "c"], 2)], "max_parts", "d="),
        ([bv.sum_to(["d", "e"], 0.55)], "step=0.2", "a="),
    ],
)
def test_rules_that_cannot_hold_together_are_named_and_no_others(rules: list[Any], blamed: str, spared: str) -> None:
    parts = {name: bv.Float(0, 1) for name in "abc"} | {name: bv.Float(0, 1, step=0.2) for name in "de"}
    with pytest.raises(InvalidInput) as error:
        bv.Space(parts, rules=rules)
    assert blamed in str(error.value)
    assert spared not in str(error.value)


def test_a_rule_of_which_the_solver_makes_nothing_is_no_clash() -> None:
    """The presolve of HiGHS 1.12 gives up on this one, which holds at 0."""
    parts = {"a": bv.Float(0, 0.3, step=0.05), "b": bv.Float(0, 0.5, step=0.05), "c": bv.Float(0, 0.55)}
    rule = bv.linear({"a": -1, "b": 0.5, "c": 2, "d": 2}, at_most=0.55)
    space = bv.Space({**parts, "d": bv.Float(0, 1)}, rules=[rule])
    assert all(kept(rule, params) for params in space.decode(space.region().sample(20, np.random.default_rng(0))))


def test_where_no_nearest_point_is_found_a_lawful_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: dict[str, Any] = {"a": bv.Float(0, 1, step=0.3), "b": bv.Int(0, 4), "c": bv.Discrete([0, 0.5, 2.1])}
    rules: list[Any] = [bv.linear({"a": 1, "b": 1, "c": 1}, at_least=4.4, at_most=4.6), bv.max_parts([*"abc"], 2)]
    space = bv.Space(parts, rules=rules)
    monkeypatch.setattr("believer.space.rounding.by_program", lambda given, x: None)
    monkeypatch.setattr("believer.space.rounding.lawful", lambda given, P: (P, np.zeros(len(P), dtype=bool)))
    X = space.region().project(np.random.default_rng(0).random((3, space.dim)))
    assert space.misplaced(space.decode(X), X) is None
    assert all(map(space.allows, space.decode(X)))


def test_of_many_rules_those_that_clash_are_found() -> None:
    parts = {f"p{i}": bv.Float(0, 1) for i in range(12)}
    fine = [bv.linear({name: 1}, at_most=0.9) for name in parts]
    clash = [bv.linear({"p3": 1, "p4": 1}, at_least=1.7), bv.linear({"p3": 1}, at_most=0.5)]
    with pytest.raises(InvalidInput) as error:
        bv.Space(parts, rules=[*fine[:6], clash[0], *fine[6:], clash[1]])
    assert str(error.value).startswith("these rules cannot hold together: ")
    assert all(repr(rule) in str(error.value) for rule in clash)
    assert str(error.value).count("linear(") == 2


def test_an_equation_holds_exactly_where_all_of_its_terms_vanish() -> None:
    rule = bv.linear({"a": 1, "b": -2}, equals=0)
    space = bv.Space({"a": bv.Float(0, 1), "b": bv.Float(0, 2)}, rules=[rule])
    for rounding in (0.0, 3e-17, 1e-12):
        (params,) = space.decode([[0.0, rounding]])
        assert rule.holds(params)
        assert params["a"] == 2.0 * params["b"]


def test_an_equation_holds_whatever_the_sizes_of_its_coefficients() -> None:
    """A part that hardly counts cannot take what is left, however much room it has."""
    rule = bv.linear({"a": 1e-9, "b": 1, "c": 1e9}, equals=1)
    space = bv.Space({name: bv.Float(0, 1) for name in "abc"}, rules=[rule])
    for params in space.decode(space.region().sample(40, np.random.default_rng(0))):
        assert kept(rule, params)
        assert space.allows(params)


def test_a_part_that_is_absent_does_not_take_what_rounding_leaves() -> None:
    parts = {"a": bv.Float(0, 1), "b": bv.Float(0, 0.9), "c": bv.Float(0, 0.9)}
    for rounding in (-1e-15, 0.0, 1e-15):
        equation = bv.linear({"b": 1.0, "c": 0.1, "a": 1 / 3}, equals=1 / 3 + rounding)
        space = bv.Space(parts, rules=[equation, bv.max_parts([*parts], 1)])
        (params,) = space.decode([[1.0, 0.0, 0.0]])
        assert params["b"] == params["c"] == 0.0
        assert all(rule.holds(params) for rule in space.rules)


def test_a_study_loads_where_a_tiny_part_takes_what_large_steps_leave(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "small": bv.Float(-0.001676, -6e-6),
        "large": bv.Int(4, 14),
        "other": bv.Float(0.0, 0.00287),
    }
    rules = [
        bv.linear({"other": 1 / 3, "large": 1.0, "small": 0.5}, at_most=11.000068524174429),
        bv.linear({"small": 2.0, "large": 0.5}, equals=4.996648),
    ]
    space = bv.Space({**parts, "further": bv.Float(0, 1, likely=(0.3, 0.1))}, rules=rules)
    with bv.Optimizer(space, seed=116, n_init=4, strategy="trust_region", journal=tmp_path / "study") as study:
        for _ in range(3):
            for trial in study.ask(4):
                assert kept(rules[1], trial.params)
                study.tell(trial, sum(map(math.tanh, trial.params.values())))
    assert len(bv.Optimizer.load(tmp_path / "study", append=False).trials) == 12
    X = space.region().spread(np.random.default_rng(0).random((4, space.dim)))
    moved = X + np.array([5e-8, 0.0, 0.0, 0.0])  # what a projection onto several rules may leave of the large steps
    assert space.misplaced(space.decode(X), moved) is None
    assert space.misplaced(space.decode(X), X + 1e-5) == 0


def test_two_bounds_that_leave_one_value_are_an_equation() -> None:
    low, high = bv.linear({"a": 1, "b": 1}, at_least=1.0), bv.linear({"a": 1, "b": 1}, at_most=1.0)
    space = bv.Space({"a": bv.Float(0, 1), "b": bv.Float(0, 1), "c": bv.Float(0, 1)}, rules=[low, high])
    X = space.region().sample(10, np.random.default_rng(0))
    np.testing.assert_allclose(X[:, :2].sum(axis=1), 1.0, atol=1e-9)
    assert np.ptp(X[:, 0]) > 0.3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: bv.sum_to("ab", 1.0), "a list of names"),
        (lambda: bv.sum_to(["a", "a"], 1.0), "each once"),
        (lambda: bv.sum_to(["a"], 1.0), "2 or more"),
        (lambda: bv.sum_to(["a", "b"], float("nan")), "finite"),
        (lambda: bv.linear({"a": 1}), "at_most=, at_least= or equals="),
        (lambda: bv.linear({"a": 0}, at_most=1), "zero"),
        (lambda: bv.linear({"a": "1"}, at_most=1), "coefficient of 'a'"),  # type: ignore[dict-item]
        (lambda: bv.linear({"a": 1}, at_most=1, equals=1), "either equals or bounds"),
        (lambda: bv.linear({"a": 1}, at_most=0, at_least=1), "must not be above"),
        (lambda: bv.linear(["a"], at_most=1), "mapping"),  # type: ignore[arg-type]
        (lambda: bv.max_parts(["a", "b"], 0), "1 or more"),
        (lambda: bv.max_parts(["a", "b"], 3), "2 at most"),
        (lambda: bv.Space({"a": bv.Float(0, 1)}, rules=["a + b == 1"]), "sum_to, linear or max_parts"),  # type: ignore[list-item]
        (lambda: bv.Space({"a": bv.Float(0, 1)}, rules=3), "a list of rules"),  # type: ignore[arg-type]
        (lambda: bv.Space({"a": bv.Float(0, 1)}, rules=[bv.sum_to(["a", "z"], 1)]), "among a; got 'z'"),
        (lambda: bv.Space({"resin": bv.Float(0, 1)}, rules=[bv.linear({"rezin": 1}, at_most=1)]), "mean 'resin'"),
        (lambda: bv.Space({"a": bv.Float(1, 9, log=True)}, rules=[bv.linear({"a": 1}, at_most=5)]), "log=True"),
        (lambda: bv.Space({"a": bv.Categorical(("x", "y"))}, rules=[bv.linear({"a": 1}, at_most=5)]), "needs numbers"),
        (lambda: bv.Space({"a": bv.Int(0, 10**6)}, rules=[bv.linear({"a": 1}, at_most=5)]), "100,000 values"),
        (lambda: bv.Space({n: bv.Float(0.1, 1) for n in "ab"}, rules=[bv.max_parts([*"ab"], 1)]), "least value is 0"),
        (lambda: from_config({"kind": "Linear", "terms": 3}), "a rule must be what"),
        (lambda: from_config({"kind": "Lineal"}), "a rule must be what"),
        (lambda: bv.Optimizer(PERCENT).enqueue({"a": 50, "b": 50, "c": 1, "d": 0}), "sum_to"),
    ],
)
def test_what_is_no_rule_is_refused_with_what_it_should_be(make: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make()


def test_rules_come_back_from_their_configs() -> None:
    for rule in (*MIXED.rules, *FEW.rules, bv.linear({"a": 1, "b": -2}, at_least=-1, at_most=3)):
        assert from_config(to_config(rule)) == rule


def test_a_study_whose_rules_changed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    bv.Optimizer.open(path, PERCENT, seed=0).close()
    other = bv.Space(PERCENT.parameters, rules=[bv.sum_to([*"abcd"], 90)])
    with pytest.raises(InvalidInput, match=r"rules: sum_to.*100\.0\), now sum_to.*90\.0\)"):
        bv.Optimizer.open(path, other)
    with bv.Optimizer.open(path, other, change=True) as study:
        assert sum(study.ask(1)[0].params.values()) == 90


def test_a_rule_that_rounding_moved_by_a_hair_is_kept_on_grids_and_at_zero() -> None:
    """0.3 - 0.2 - 0.1 is -2.8e-17: the solver took 0.49999999997 for no less than 0.5, and 0 for too little."""
    hair = 0.3 - 0.2 - 0.1
    parts = {"a": bv.Float(0.2, 0.55), "b": bv.Float(0.15, 0.85, step=0.05)}
    grid = bv.Space(parts, rules=[bv.linear({"a": 1}, at_most=0.5), bv.linear({"a": 1, "b": -1}, at_least=hair)])
    corner = bv.Space(
        {name: bv.Float(0, 0.4) for name in "ab"} | {"c": bv.Float(0.05, 1, step=0.05), "d": bv.Float(0.15, 0.5)},
        rules=[bv.sum_to([*"abcd"], 1.0), bv.linear({"a": 1, "b": -1}, at_least=-hair)],
    )
    for space in (grid, corner):
        U = np.random.default_rng(0).random((40, space.dim))
        points = space.decode(space.region().project(4.0 * U - 1.5))
        assert all(kept(rule, params) and rule.holds(params) for params in points for rule in space.rules)
