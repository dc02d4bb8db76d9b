"""minimize with functions that return numbers by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from believer import AtMost, Float, Maximize, Minimize, Optimizer, Space, minimize
from believer.errors import EvaluationError, InvalidInput
from believer.study.goal import Goal

SPACE = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)})
LIMITED: dict[str, Goal] = {"cost": Minimize(), "heat": AtMost(1.2)}
SEVERAL: dict[str, Goal] = {"cost": Minimize(), "heat": Maximize()}


def reaction(params: dict[str, Any]) -> dict[str, Any]:
    x, y = params["x"], params["y"]
    return {"cost": (x - 0.7) ** 2 + (y - 0.8) ** 2, "heat": [x + y, x + y + 0.01]}


def in_part(params: dict[str, Any]) -> dict[str, Any]:
    return {"cost": params["x"]}


def test_one_objective_within_limits_is_minimized_and_recommended() -> None:
    found = minimize(reaction, SPACE, 14, q=2, n_init=6, outcomes=LIMITED, progress=False, seed=0)
    assert found.params is not None
    assert found.value is not None
    assert found.value < 0.1
    assert sum(found.params.values()) <= 1.2
    assert found.recommended is not None
    assert found.front is None
    assert (found.evaluations, found.stopped) == (14, "budget")
    assert str(found).startswith("best ")


def test_several_objectives_have_a_front_and_no_best() -> None:
    reference = {"cost": 2.0, "heat": 0.0}
    found = minimize(reaction, SPACE, 9, q=3, n_init=6, outcomes=SEVERAL, reference=reference, progress=False, seed=0)
    assert (found.params, found.value, found.recommended) == (None, None, None)
    assert found.front is not None
    assert len(found.front) > 0
    assert "on the front, hypervolume" in str(found)


def test_a_target_is_for_one_objective_within_limits() -> None:
    found = minimize(reaction, SPACE, 20, q=2, n_init=6, outcomes=LIMITED, stop=0.2, progress=False, seed=0)
    assert found.value is not None
    assert (found.value <= 0.2, found.stopped) == (True, "stop")


@pytest.mark.parametrize("mode", ["batch", "async"])
def test_worker_processes_return_numbers_by_name(mode: Any) -> None:
    found = minimize(reaction, SPACE, 6, q=2, n_init=4, outcomes=LIMITED, workers=2, mode=mode, progress=False, seed=0)
    assert (found.evaluations, found.failures) == (6, 0)
    assert found.optimizer.outcomes[0].replicates.keys() == {"heat"}


def test_a_journal_is_taken_up_and_what_was_told_in_part_is_completed(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with Optimizer(SPACE, n_init=4, outcomes=LIMITED, journal=path, seed=0) as opt:
        batch = opt.ask(3)
        opt.tell(batch[0], {"cost": 0.25})
        opt.tell(batch[1], reaction(batch[1].params))
    found = minimize(reaction, SPACE, 5, q=2, n_init=4, outcomes=LIMITED, journal=path, progress=False, seed=0)
    assert (found.evaluations, found.failures) == (5, 0)
    assert found.optimizer.outcomes[0].objectives == {"cost": 0.25}, "what was told stays"
    again = minimize(reaction, SPACE, 5, q=2, n_init=4, outcomes=LIMITED, journal=path, progress=False, seed=0)
    assert again.optimizer.records() == found.optimizer.records()


def test_a_function_that_leaves_an_outcome_out_is_wrong() -> None:
    with pytest.raises(EvaluationError, match=r"failed in the same way.*no number for heat"):
        minimize(in_part, SPACE, 9, n_init=3, outcomes=LIMITED, progress=False, q=3, seed=0)


def test_a_result_that_is_incomplete_now_and_then_has_failed_and_keeps_its_numbers() -> None:
    def f(params: dict[str, Any]) -> dict[str, Any]:
        return in_part(params) if params["x"] > 0.5 else reaction(params)

    found = minimize(f, SPACE, 8, q=2, n_init=4, outcomes=LIMITED, progress=False, seed=0)
    assert found.evaluations == 8
    rows = [row for row in found.optimizer.records() if row["x"] > 0.5]
    assert rows
    assert all((row["status"], row["error"], row["cost"]) == ("failed", "no number for heat", row["x"]) for row in rows)


@pytest.mark.parametrize(
    ("f", "outcomes", "rule"),
    [
        (reaction, None, "outcomes="),
        (lambda params: 1.0, LIMITED, "say which it is: {.cost"),
        (lambda params: {"cost": 1.0, "price": 2.0}, LIMITED, "got 'price'"),
        (lambda params: {"cost": "much", "heat": 2.0}, LIMITED, "cost must be a number"),
        (lambda params: {}, LIMITED, "at least one number"),
        (lambda params: None, LIMITED, "have a value"),
    ],
)
def test_a_function_that_returns_something_else_is_a_clear_failure(f: Any, outcomes: Any, rule: str) -> None:
    with pytest.raises(EvaluationError, match=rule):
        minimize(f, SPACE, 6, n_init=2, outcomes=outcomes, progress=False, q=3, seed=0)


def test_nothing_within_limits_is_no_error() -> None:
    found = minimize(
        reaction, SPACE, 5, n_init=4, outcomes={**LIMITED, "heat": AtMost(-1.0)}, progress=False, q=3, seed=0
    )
    assert (found.params, found.recommended, found.front) == (None, None, None)
    assert str(found).startswith("no result within all limits")
    lost = minimize(
        lambda p: {"cost": float("nan"), "heat": 1.0}, SPACE, 3, n_init=2, outcomes=LIMITED, progress=False, q=3, seed=0
    )
    assert (lost.value, lost.failures) == (None, 3)
    assert "no number for cost" in str(lost)


def test_points_to_begin_with_have_numbers_by_name() -> None:
    x0 = [{"x": 0.1, "y": 0.1}, {"x": 0.2, "y": 0.2}]
    y0 = [reaction(params) for params in x0]
    found = minimize(reaction, SPACE, 2, n_init=2, outcomes=LIMITED, x0=x0, y0=y0, progress=False, q=3, seed=0)
    assert (found.evaluations, found.optimizer.counts.done) == (2, 4)
    for wrong in ([1.0, 2.0], [{"price": 1.0}, {"cost": 1.0}]):
        with pytest.raises(InvalidInput, match="this study has"):
            minimize(reaction, SPACE, 2, n_init=2, outcomes=LIMITED, x0=x0, y0=wrong, progress=False)


def test_values_by_name_without_outcomes_are_refused_before_a_journal_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    x0, y0 = [{"x": 0.1, "y": 0.1}], [{"cost": 1.0}]
    with pytest.raises(InvalidInput, match="outcomes="):
        minimize(reaction, SPACE, 2, x0=x0, y0=y0, journal=path, progress=False, q=3, seed=0)
    assert not path.exists()


def test_what_is_missing_of_results_that_are_known_is_evaluated_within_the_budget(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []

    def f(params: dict[str, Any]) -> dict[str, float]:
        calls.append(params)
        return {"a": params["x"], "c": params["y"]}

    known = [{"x": 0.1 * i, "y": 0.3} for i in range(4)]
    told = [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}, {"a": 4.0, "c": 0.1}]
    settings: dict[str, Any] = {"outcomes": {"a": Minimize(), "c": AtMost(0.5)}, "q": 3, "seed": 0, "progress": False}
    for budget in (5, 8):  # the second run goes on with the first
        found = minimize(f, SPACE, budget=budget, x0=known, y0=told, journal=tmp_path / "study", **settings)
        assert (len(calls), found.evaluations) == (budget, budget)
        assert found.optimizer.counts.done == budget + 1
