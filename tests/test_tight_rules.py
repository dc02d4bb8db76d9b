"""Rules by function that allow next to nothing: what is known is where the search begins."""

from __future__ import annotations

from typing import Any

import pytest
from each import each

import believer as bv
from believer.batch import STRATEGIES
from believer.errors import NoPointFound, SpaceExhausted

CENTER = (0.31, 0.62, 0.47)
RADIUS = 0.0062  # a millionth of the cube


def within(params: dict[str, Any]) -> bool:
    return bool(sum((v - c) ** 2 for v, c in zip(params.values(), CENTER, strict=True)) <= RADIUS**2)


BALL = bv.Space({name: bv.Float(0, 1) for name in "xyz"}, within)
KNOWN = dict(zip("xyz", CENTER, strict=True))


def begun(**options: Any) -> bv.Optimizer:
    study = bv.Optimizer(BALL, n_init=3, seed=0, **options)
    study.observe(KNOWN, KNOWN["x"])
    return study


def test_a_millionth_of_the_cube_is_searched_from_a_known_point() -> None:
    study = begun()
    for q in (2, 3):
        for trial in study.ask(q):
            assert within(trial.params)
            study.tell(trial, trial.params["x"])
    assert len({tuple(trial.encoded) for trial in study.trials}) == 6
    assert study.best is not None
    assert study.best[1] < CENTER[0] - 0.8 * RADIUS


def test_a_queued_point_will_do() -> None:
    study = bv.Optimizer(BALL, n_init=2, seed=0)
    study.enqueue(KNOWN)
    assert all(within(trial.params) for trial in study.ask(2))


@pytest.mark.slow(reason="draws 65,535 points a point before it begins from what is known")
@each("strategy", STRATEGIES)
def test_every_strategy_begins_from_what_is_known(strategy: str) -> None:
    study = begun(strategy=strategy)
    for q in (2, 2):
        for trial in study.ask(q):
            assert within(trial.params)
            study.tell(trial, trial.params["x"])


def test_without_a_known_point_the_error_says_what_was_tried_and_what_to_do() -> None:
    study = bv.Optimizer(BALL, seed=0)
    with pytest.raises(NoPointFound, match=r"65,535.*0 of the known points.*observe"):
        study.ask(1)
    assert not study.trials


def test_a_sum_that_was_written_as_a_function_is_to_be_a_rule() -> None:
    parts = {name: bv.Float(0, 1) for name in "ABC"}
    for sums in (lambda p: p["A"] + p["B"] + p["C"] == 1, lambda p: abs(sum(p.values()) - 1) < 1e-9):
        with pytest.raises(NoPointFound, match=r"rules=\[sum_to"):
            bv.Optimizer(bv.Space(parts, sums), seed=0).ask(1)
    with pytest.raises(NoPointFound) as error:
        bv.Optimizer(bv.Space(parts, lambda p: p["A"] == p["B"]), seed=0).ask(1)
    assert "rules=" not in str(error.value)


def test_a_finite_space_is_exhausted_as_before() -> None:
    space = bv.Space({"k": bv.Int(1, 6)}, lambda p: p["k"] > 9)
    with pytest.raises(SpaceExhausted) as error:
        bv.Optimizer(space, seed=0).ask(1)
    assert not isinstance(error.value, NoPointFound)
