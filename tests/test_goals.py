"""What may be declared of outcomes, what may not, and what goals make of results."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from believer import AtLeast, AtMost, Between, Desirability, Maximize, Minimize, Outcome
from believer.errors import InvalidInput
from believer.study.goal import Goal
from believer.study.goals import DESIRABILITY, RUNS, Goals, checked_reference

LARGE = st.floats(-1e100, 1e100, allow_nan=False)
ANY = Goals({"yield": Maximize(), "cost": Minimize(), "purity": AtLeast(95), "heat": AtMost(3.5), "pH": Between(6, 8)})


@each(
    ("make", "rule"),
    [
        (lambda: AtMost(cast(Any, "3")), "the threshold of a limit must be a finite number; got '3'"),
        (lambda: AtLeast(math.nan), "must be a finite number"),
        (lambda: AtLeast(math.inf), "must be a finite number"),
        (lambda: AtMost(1e101), "must lie within"),
        (lambda: AtMost(True), "must be a finite number"),
        (lambda: AtMost(cast(Any, None)), "must be a finite number"),
        (lambda: AtMost(1.0, 0.0), "a probability must lie between 0 and 1; got 0.0"),
        (lambda: AtLeast(1.0, 1.0), "a probability must lie between 0 and 1; got 1.0"),
        (lambda: Between(0.0, 1.0, 1.5), "a probability must lie between 0 and 1; got 1.5"),
        (lambda: AtMost(1.0, math.nan), "a probability must be a finite number"),
        (lambda: Between(2.0, 1.0), "low must lie below high; got 2.0 and 1.0"),
        (lambda: Between(1.0, 1.0), "low must lie below high"),
        (lambda: Between(-math.inf, 1.0), "low must be a finite number"),
        (lambda: Desirability(1.0, 1.0), "bad and good must differ; got 1.0 for both"),
        (lambda: Desirability(0.0, 1.0, 0.0), "a weight must be above zero"),
        (lambda: Desirability(0.0, 1.0, -1.0), "a weight must be above zero"),
        (lambda: Goals({}), "outcomes must be a dict"),
        (lambda: Goals(cast(Any, [Minimize()])), "outcomes must be a dict"),
        (lambda: Goals({"a": cast(Any, Minimize)}), r"got .* for 'a'\. Say Minimize\(\.\.\.\)"),
        (lambda: Goals({"a": cast(Any, "min")}), "one of Minimize, Maximize, AtMost"),
        (lambda: Goals({cast(Any, 1): Minimize()}), "a name"),
        (lambda: Goals({"": Minimize()}), "a name"),
        (lambda: Goals({RUNS: Minimize()}), "name"),
        (lambda: Goals({"desirability": Minimize()}), "name"),
        (lambda: Goals({"a": AtMost(1.0)}), "something to optimize"),
        (lambda: Goals({"a": Minimize(), "b": Desirability(0, 1)}), "desirabilities"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        make()


@pytest.mark.parametrize(
    ("reference", "goals", "rule"),
    [
        ({"value": 1.0}, Goals.plain(False), "this study has one"),
        ({"a": 1.0}, Goals({"a": Minimize()}), "this study has one"),
        ({"a": 1.0}, Goals({"a": Minimize(), "b": AtMost(1.0)}), "this study has one"),
        ({"a": 1.0}, Goals({"a": Minimize(), "b": Minimize()}), "a number for each of a, b"),
        ({"a": 1.0, "b": 1.0, "c": 1.0}, Goals({"a": Minimize(), "b": Minimize()}), "a number for each of a, b"),
        ([1.0, 1.0], Goals({"a": Minimize(), "b": Minimize()}), "a number for each of a, b"),
        ({"a": 1.0, "b": math.nan}, Goals({"a": Minimize(), "b": Minimize()}), "reference of b must be a finite"),
    ],
)
def test_a_reference_has_a_number_for_each_of_several_objectives(reference: Any, goals: Any, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule):
        checked_reference(reference, goals)
    assert checked_reference(None, goals) is None


def test_objectives_come_first_and_the_good_side_is_below() -> None:
    outputs = ANY.outputs
    assert [output.name for output in outputs] == ["yield", "cost", "purity", "heat", "pH"]
    assert [output.sign for output in outputs] == [-1.0, 1.0, -1.0, 1.0, 1.0]
    assert [output.limits is None for output in outputs] == [True, True, False, False, False]


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_limit_may_be_reached(threshold: float, value: float) -> None:
    goals = Goals({"a": Minimize(), "low": AtLeast(threshold), "high": AtMost(threshold)})
    assert goals.keeps_limits(Outcome({"a": 0.0}, {"low": threshold, "high": threshold}))
    assert goals.keeps_limits(Outcome({"a": 0.0}, {"low": value, "high": threshold})) == (value >= threshold)
    assert goals.keeps_limits(Outcome({"a": 0.0}, {"low": threshold, "high": value})) == (value <= threshold)
    assert not goals.keeps_limits(Outcome({"a": 0.0}, {"low": threshold}))


@st.composite
def goals(draw: st.DrawFn) -> Goals:
    names = draw(st.lists(st.text(min_size=1).filter(lambda n: n not in (RUNS, DESIRABILITY)), min_size=1, unique=True))
    share = st.floats(0.001, 0.999)
    limits: st.SearchStrategy[Goal] = st.one_of(
        st.builds(AtMost, LARGE, share),
        st.builds(AtLeast, LARGE, share),
        st.lists(LARGE, min_size=2, max_size=2, unique=True).map(lambda ends: Between(min(ends), max(ends))),
    )
    aims: st.SearchStrategy[Goal] = st.sampled_from([Minimize(), Maximize()])
    if draw(st.booleans()):
        ends = st.lists(LARGE, min_size=2, max_size=2, unique=True)
        aims = st.builds(lambda pair, weight: Desirability(pair[0], pair[1], weight), ends, st.floats(1e-3, 1e3))
    rest = [draw(st.one_of(aims, limits)) for _ in names[1:]]
    return Goals(dict(zip(names, [draw(aims), *rest], strict=True)))


@given(goals())
def test_goals_are_written_and_read_back(wanted: Goals) -> None:
    config = wanted.to_config()
    assert Goals.from_config(config) == wanted
    assert Goals.from_config(config).outputs == wanted.outputs
    assert [*Goals.from_config(config).wanted] == [*wanted.wanted]


@pytest.mark.parametrize(
    "number", [np.float32(0.5), np.int64(3), np.float64(0.25), np.array(2)[()], 3], ids=lambda n: type(n).__name__
)
def test_numbers_of_numpy_become_floats_that_json_can_hold(number: Any) -> None:
    for goal in (AtMost(number), AtLeast(number), Between(number, 99), Desirability(number, 99, number)):
        for part in Goals({"a": Desirability(0, 1), "b": goal}).to_config()["b"].values():
            assert type(part) in (str, float)


@each(
    "config",
    [
        None,
        [],
        {},
        {"a": None},
        {"a": {}},
        {"a": {"type": "Nothing"}},
        {"a": {"type": ["Minimize"]}},
        {"a": {"type": "Minimize", "threshold": 1.0}},
        {"a": {"type": "Minimize"}, "b": {"type": "AtMost"}},
        {"a": {"type": "Minimize"}, "b": {"type": "AtMost", "threshold": "1"}},
        {"a": {"type": "Minimize"}, "b": {"type": "AtMost", "threshold": 1.0, "probability": None}},
        {"a": {"type": "Minimize"}, "b": {"type": "Between", "low": 2.0, "high": 1.0}},
        {RUNS: {"type": "Minimize"}},
    ],
)
def test_what_no_goals_can_be_is_refused(config: Any) -> None:
    with pytest.raises(InvalidInput):
        Goals.from_config(config)


def test_an_outcome_is_arranged_and_what_is_unknown_refused() -> None:
    told = Outcome({"cost": 1.0, "purity": 96.0}, {"yield": 70.0}, {"cost": 0.1}, {"purity": (95.0, 97.0)}, ("heat",))
    found = ANY.arranged(told)
    assert (found.objectives, found.constraints) == ({"yield": 70.0, "cost": 1.0}, {"purity": 96.0})
    assert (found.noise, found.replicates, found.lost) == ({"cost": 0.1}, {"purity": (95.0, 97.0)}, ("heat",))
    assert ANY.missing(found) == ("pH",)
    assert ANY.missing(None) == tuple(ANY.wanted)
    for wrong in (Outcome({"price": 1.0}), Outcome({"cost": 1.0}, lost=("price",))):
        with pytest.raises(
            InvalidInput, match="this study has the outcomes yield, cost, purity, heat, pH; got 'price'"
        ):
            ANY.arranged(wrong)


@pytest.mark.parametrize(
    ("first", "second"), [(0.0, 1.0), (0.25, 0.25), (0.5, 0.9), (1.0, 1.0), (-3.0, 0.5), (9.0, 0.5)]
)
def test_desirabilities_are_a_weighed_geometric_mean(first: float, second: float) -> None:
    wanted = Goals({"a": Desirability(0, 1, weight=3), "b": Desirability(5, 3), "c": AtMost(1.0)})
    outcome = Outcome({"a": first, "b": 5.0 - 2.0 * second}, {"c": 0.0})
    expected = (min(1.0, max(0.0, first)) ** 3 * second) ** 0.25
    assert wanted.value(outcome, DESIRABILITY) == pytest.approx(expected)
    assert wanted.value(Outcome({"a": first}), DESIRABILITY) is None
    assert wanted.objectives == (DESIRABILITY,)
    assert wanted.value(outcome, "c") == 0.0


@given(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=2, unique=True), st.floats(-1e100, 1e100))
def test_what_a_value_is_worth_lies_between_nothing_and_all(ends: list[float], value: float) -> None:
    goal = Desirability(*ends)
    assert (goal.worth(ends[0]), goal.worth(ends[1])) == (0.0, 1.0)
    assert 0.0 <= goal.worth(value) <= 1.0
