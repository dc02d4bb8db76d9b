"""A study that changes its space or its goals: what fits counts, nothing is lost, and a change can be taken back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from journal_lines import edited

from believer import (
    AtMost,
    Categorical,
    Float,
    Int,
    Maximize,
    Minimize,
    Optimizer,
    Outcome,
    Space,
    minimize,
    read_study,
    replay,
)
from believer.errors import InvalidInput, JournalCorrupt, MissingCapability, TrialError

X = Space({"x": Float(0.0, 1.0)})
XY = Space({"x": Float(0.0, 1.0), "y": Float(0.0, 1.0, backfill=0.25)})
BOTH: dict[str, Any] = {"a": Minimize(), "b": AtMost(0.5)}
PLAIN: dict[str, Any] = {"value": Minimize()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.jsonl"


def begun(path: Path, space: Space = X, results: int = 4, **options: Any) -> None:
    """A study with a few results, each its x."""
    with Optimizer(space, journal=path, **{"seed": 0, "n_init": 3, **options}) as opt:
        for trial in opt.ask(results):
            opt.tell(trial, dict.fromkeys(options.get("outcomes", ["value"]), trial.params["x"]))


def changed(path: Path, space: Space = X, **options: Any) -> Optimizer:
    return Optimizer.open(path, space, change=True, **options)


def agree(path: Path) -> None:
    """What is read, loaded and replayed is the same study."""
    with Optimizer.load(path) as opt:
        assert (opt.records(), opt.queued) == (read_study(path).records(), read_study(path).queued)
    assert replay(path).identical


# The space


def test_a_parameter_that_is_added_and_taken_out_again_leaves_all_results_where_they_were(path: Path) -> None:
    begun(path)
    before = read_study(path).records()
    with changed(path, XY) as opt:
        assert all(trial.params["y"] == 0.25 for trial in opt.trials)
        elsewhere, same = opt.observe({"x": 0.5, "y": 0.75}, 9.0), opt.observe({"x": 0.125, "y": 0.25}, 1.0)
        opt.ask(1)
    with changed(path) as opt:
        assert [trial.id for trial in opt.outside] == [elsewhere.id, *(t.id for t in opt.pending)]
        assert opt.trials[same.id].params == {"x": 0.125}
        assert [{k: row[k] for k in then} for row, then in zip(opt.records(), before, strict=False)] == before
        opt.ask(1)
    with changed(path, XY) as opt:
        assert opt.outside == ()
        assert opt.trials[elsewhere.id].params == {"x": 0.5, "y": 0.75}
        opt.ask(1)
    agree(path)


def test_a_parameter_that_is_taken_out_is_left_out_of_earlier_results(path: Path) -> None:
    begun(path, Space({"x": Float(0.0, 1.0), "n": Int(1, 9)}))
    with changed(path) as opt:
        assert opt.outside == ()
        assert {*opt.trials[0].params} == {"x"}
        assert opt.ask(1)[0].origin == "model"
    agree(path)


def test_a_range_that_is_narrowed_and_widened_again_has_all_results_back(path: Path) -> None:
    begun(path)
    with changed(path, Space({"x": Float(0.0, 0.5)})) as opt:
        outside = {trial.id for trial in opt.outside}
        assert outside == {trial.id for trial in opt.trials if trial.params["x"] > 0.5}
        assert opt.best is not None
        assert 0 < len(outside) < 4
    with changed(path) as opt:
        assert opt.outside == ()
    agree(path)


def test_a_trial_that_was_asked_for_before_a_change_can_be_told_after_it(path: Path) -> None:
    begun(path)
    with Optimizer.load(path) as opt:
        first, second = opt.ask(2)
    with changed(path, XY) as opt:
        opt.tell(first, 0.5)
        opt.tell(opt.pending[0], 0.25)
        assert opt.counts.pending == 0
        with pytest.raises(TrialError, match="already has a result"):
            opt.tell(second, 0.5)
        other = Optimizer(Space.cube(3), seed=1).ask(1)[0]
        with pytest.raises(TrialError, match="is it from another study"):
            opt.tell(other, 0.5)


# The queue


def test_points_of_the_queue_that_do_not_fit_wait_until_they_do(path: Path) -> None:
    begun(path)
    with Optimizer.load(path) as opt:
        for x in (0.75, 0.25, 0.75):
            opt.enqueue({"x": x})
    with changed(path, Space({"x": Float(0.0, 0.5)})) as opt:
        assert opt.queued == ({"x": 0.25},)
        assert opt.ask(1)[0].params == {"x": 0.25}
    with changed(path) as opt:
        assert opt.queued == ({"x": 0.75}, {"x": 0.75})
        batch = opt.ask(2)
        assert [trial.params["x"] for trial in batch] == [0.75, 0.75]
        assert not opt.queued
    agree(path)


def below(params: dict[str, Any]) -> bool:
    return bool(params["x"] < 0.5)


def test_a_queued_point_that_a_new_constraint_forbids_is_not_handed_out(path: Path) -> None:
    begun(path)
    with Optimizer.load(path) as opt:
        opt.enqueue({"x": 0.75})
        opt.enqueue({"x": 0.25})
    with changed(path, Space(dict(X.parameters), below)) as opt:
        assert opt.queued == ({"x": 0.25},)
        assert [trial.params["x"] < 0.5 for trial in opt.ask(2)] == [True, True]
    with Optimizer.load(path, constraint=below) as opt:
        assert opt.queued == ()
    assert replay(path, constraint=below).identical
    with changed(path) as opt:
        assert opt.ask(1)[0].params == {"x": 0.75}


# The goals


def test_goals_that_are_changed_and_changed_back_leave_all_outcomes(path: Path) -> None:
    begun(path, outcomes=BOTH)
    with Optimizer.load(path) as opt:
        part, lost, failed, given_up = opt.ask(4)
        opt.tell(part, {"b": 0.25})
        opt.tell(lost, {"a": 0.75, "b": float("nan")})
        opt.tell(failed, error="it burnt")
        opt.abandon(given_up)
    before, outcomes = read_study(path).records(), read_study(path).outcomes
    with changed(path, outcomes=PLAIN) as opt:
        status = [row["status"] for row in opt.records()]
        assert status == ["done"] * 4 + ["pending", "done", "failed", "abandoned"]
        assert [row["value"] for row in opt.records()][:4] == [row["value"] for row in before][:4]
        opt.ask(1)
    with changed(path, outcomes=BOTH) as opt:
        assert opt.records()[:8] == before
        assert {i: opt.outcomes[i] for i in outcomes} == outcomes
        opt.ask(1)
    agree(path)


def test_numbers_that_were_told_under_a_name_stay_with_it(path: Path) -> None:
    begun(path, outcomes={"b": Maximize()})
    with changed(path, outcomes=PLAIN) as opt:
        assert opt.counts.done == 4
        opt.tell(opt.ask(1)[0], 0.125)
    with changed(path, outcomes={"a": Minimize(), "b": Maximize()}) as opt:
        assert [{**outcome.objectives} for outcome in opt.outcomes.values()] == [
            *({"b": trial.params["x"]} for trial in opt.trials[:4]),
            {"b": 0.125},
        ]
        assert opt.counts.abandoned == 5
    with changed(path, outcomes={"b": Maximize()}) as opt:
        assert opt.counts.done == 5
    agree(path)


def test_the_plain_number_becomes_the_only_objective_and_keeps_its_name(path: Path) -> None:
    begun(path)
    with changed(path, outcomes=BOTH) as opt:
        assert [{**outcome.objectives} for outcome in opt.outcomes.values()] == [
            {"a": trial.params["x"]} for trial in opt.trials
        ]
        opt.tell(0, {"b": 0.0})
        assert opt.best == (opt.trials[0].params, opt.trials[0].params["x"])
        opt.amend(0, {"a": 0.5})
    with changed(path, outcomes={"c": Minimize()}) as opt:
        assert opt.counts.done == 0, "what was told as a is not c"
        opt.tell(1, {"c": 3.0})
        opt.amend(1, {"c": 2.0})
    with changed(path, outcomes=PLAIN) as opt:
        assert opt.counts.done == 4
        assert [opt.outcomes[i].value for i in (0, 1)] == [0.5, opt.trials[1].params["x"]]
    agree(path)


def test_a_number_told_as_value_is_not_that_of_a_name_with_results_of_its_own(path: Path) -> None:
    begun(path, outcomes={"a": Minimize(), "b": Minimize()})
    with changed(path, outcomes=PLAIN) as opt:
        assert opt.counts.done == 0, "of several objectives none is the number"
        opt.tell(opt.ask(1)[0], 0.125)
    with changed(path, outcomes={"a": Minimize()}) as opt:
        assert (opt.counts.done, opt.counts.abandoned) == (4, 1)
    with changed(path, outcomes=PLAIN) as opt:
        assert (opt.counts.done, opt.counts.abandoned) == (1, 4)
    agree(path)


def test_names_that_results_of_a_plain_study_give_are_kept(path: Path) -> None:
    with Optimizer(X, journal=path, seed=0, n_init=2) as opt:
        for trial in opt.ask(3):
            opt.tell(trial, Outcome({"loss": trial.params["x"], "hours": 2.0}, {"heat": 1.0}))
    before = read_study(path).outcomes
    with changed(path, outcomes={"loss": Minimize(), "heat": AtMost(3.0)}) as opt:
        assert opt.counts.done == 3
        opt.tell(opt.ask(1)[0], {"loss": 0.5, "heat": 4.0})
    with changed(path, outcomes=PLAIN) as opt:
        assert [outcome.value for outcome in opt.outcomes.values()][:3] == [one.value for one in before.values()]
        assert opt.counts.done == 4
    agree(path)


def test_a_trial_that_was_whole_waits_for_nothing_new(path: Path) -> None:
    begun(path, outcomes={"a": Minimize()})
    with changed(path, outcomes=BOTH) as opt:
        assert opt.pending == ()
        opt.tell(0, {"b": 0.25})
        assert opt.counts.done == 1
    with changed(path, outcomes={"a": Minimize()}) as opt:
        assert opt.counts.done == 4
    agree(path)


def test_choices_come_and_go(path: Path) -> None:
    begun(path, Space({"x": Float(0.0, 1.0), "kind": Categorical(["a", "b"])}), results=6)
    for kinds in (["a"], ["a", "b", "c"], ["c", "b"]):
        with changed(path, Space({"x": Float(0.0, 1.0), "kind": Categorical(kinds)})) as opt:
            assert {t.params["kind"] for t in opt.trials if t not in opt.outside} <= {*kinds}
            opt.ask(1)
    agree(path)


# What is shown


def test_tables_keep_parameters_that_were_taken_out_and_say_which_trials_are_outside(path: Path) -> None:
    begun(path, Space({"x": Float(0.0, 1.0), "outside": Int(1, 9)}), results=3)
    assert "outside" not in read_study(path).records()[0]
    with changed(path, Space({"x": Float(0.0, 0.5), "n": Int(0, 3, backfill=2)})) as opt:
        rows, first = opt.records(), read_study(path).events[1]
        opt.to_csv(path.with_suffix(".csv"))
        assert [*rows[0]] == ["trial_id", "status", "value", "x", "n", "param.outside", *COLUMNS]
        assert opt.to_frame("pandas").columns.tolist() == [*rows[0]]
        assert [row["outside"] for row in rows] == [row["x"] > 0.5 for row in rows]
        handed = [trial.params for trial in first.trials]  # type: ignore[union-attr]
        assert [row["param.outside"] for row in rows] == [params["outside"] for params in handed]
        assert [row["n"] for row in rows] == [None if row["outside"] else 2 for row in rows]
        count = sum(row["outside"] for row in rows)
        assert 0 < count < 3
        assert f"3 results, 0 failed, 0 pending, 0 abandoned; {count} of 3 trials outside the space" in str(opt)
        assert "param.outside" in opt._repr_html_()
    head = path.with_suffix(".csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.split(",") == [*rows[0]]


COLUMNS = ["origin", "provenance", "error", "outside"]


# minimize


@pytest.mark.parametrize("mode", ["batch", "async"])
def test_what_lies_outside_is_not_evaluated_and_takes_nothing_from_the_budget(path: Path, mode: str) -> None:
    with Optimizer(X, journal=path, seed=0, n_init=3) as opt:
        for x in (0.125, 0.625, 0.75, 0.375, 0.25, 1.0):
            opt.enqueue({"x": x})
        batch = opt.ask(6)
        for trial in batch[:3]:
            opt.tell(trial, trial.params["x"])
    half, seen = Space({"x": Float(0.0, 0.5)}), []

    def f(params: dict[str, Any]) -> float:
        seen.append(params["x"])
        return float(params["x"])

    with ThreadPoolExecutor(2) as pool:
        workers = {"batch": None, "async": pool}[mode]
        found = minimize(f, half, 6, journal=path, change=True, workers=workers, mode=mode, progress=False)
    assert all(x <= 0.5 for x in seen)
    assert {0.375, 0.25} < {*seen}
    assert len(seen) == 5, "one result of before counts"
    assert (found.evaluations, found.stopped, found.failures) == (6, "budget", 0)
    assert (found.optimizer.counts.answered, found.optimizer.counts.pending) == (8, 1)


def test_a_pending_point_that_a_new_constraint_forbids_is_not_evaluated(path: Path) -> None:
    with Optimizer(X, journal=path, seed=0, n_init=3) as opt:
        opt.enqueue({"x": 0.75})
        opt.ask(1)
    seen = []

    def f(params: dict[str, Any]) -> float:
        seen.append(params["x"])
        return float(params["x"])

    found = minimize(f, Space(dict(X.parameters), below), 4, journal=path, change=True, progress=False)
    assert len(seen) == found.evaluations == 4
    assert max(seen) < 0.5


# What is said now, with what the journal has


TWO: dict[str, Any] = {"a": Minimize(), "b": Minimize()}


def test_what_is_said_is_checked_with_the_goals_of_the_journal(path: Path) -> None:
    begun(path, outcomes=TWO)
    before = path.read_bytes()
    for wrong in ({"a": 2.0}, {"value": 2.0}):
        with pytest.raises(InvalidInput, match="reference must have a number for each of a, b"):
            changed(path, reference=wrong)
    with pytest.raises(MissingCapability, match="chooses for one objective, and this study has 2"):
        changed(path, strategy="lp")
    assert path.read_bytes() == before
    with changed(path, reference={"a": 2.0, "b": 2.0}) as opt:
        assert opt.settings.reference == {"a": 2.0, "b": 2.0}
        assert opt.front.reference == {"a": 2.0, "b": 2.0}
    with Optimizer.open(path, X, outcomes={"b": Minimize(), "a": Minimize()}) as opt:
        assert [*opt.settings.goals.wanted] == ["a", "b"], "the order is that of the journal"
        opt.ask(1)
    agree(path)


def test_a_run_checks_its_beginning_with_the_goals_of_the_journal(path: Path) -> None:
    begun(path, outcomes=TWO)
    before = path.read_bytes()

    def f(params: dict[str, Any]) -> dict[str, float]:
        return {"a": params["x"], "b": 1.0 - params["x"]}

    with pytest.raises(InvalidInput, match="target"):
        minimize(f, X, 6, journal=path, stop=0.5, progress=False)
    with pytest.raises(InvalidInput, match="this study has the outcomes a, b; got 'c'"):
        minimize(f, X, 6, journal=path, x0=[{"x": 0.5}], y0=[{"c": 1.0}], seed=1, change=True, progress=False)
    with pytest.raises(InvalidInput, match="params must name parameters among x"):
        minimize(f, X, 6, journal=path, x0=[{"y": 0.5}], seed=1, change=True, progress=False)
    assert path.read_bytes() == before
    found = minimize(f, X, 6, journal=path, x0=[{"x": 0.5}], y0=[{"a": 0.5, "b": 0.5}], progress=False)
    assert (found.evaluations, found.optimizer.counts.done) == (6, 7)


def test_a_run_says_which_options_there_are_and_checks_change_without_a_journal() -> None:
    with pytest.raises(InvalidInput, match=r"no option 'xyzzy'; there are budget, workers, q, .*outcomes"):
        minimize(len, X, xyzzy=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="change must be True or False; got 'x'"):
        minimize(len, X, change="x", progress=False)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no option 'stratgy'; did you mean 'strategy'"):
        Optimizer.load("nowhere", stratgy="kb")  # type: ignore[call-arg]


def test_a_custom_part_that_is_replaced_need_not_be_passed(path: Path) -> None:
    class Own:
        def choose(self, request: Any, memory: object = None) -> Any:
            raise AssertionError

    begun(path, results=2, strategy=Own())
    with pytest.raises(InvalidInput, match="custom strategy"):
        Optimizer.open(path, X)
    with changed(path, strategy="kb") as opt:
        assert opt.settings.to_config()["strategy"]["type"] == "PseudoObservations"


# Failures that are learned


@pytest.mark.parametrize("strategy", ["lp", "lp_lipschitz", "dpp", "fantasies"])
def test_a_strategy_without_limits_is_refused_at_once_where_failures_are_learned(strategy: str, path: Path) -> None:
    match = f'{strategy} chooses .*failures="learn".* Pass failures="worst", or use one of .*kb.*qei'
    with pytest.raises(MissingCapability, match=match):
        Optimizer(X, strategy=strategy, failures="learn", journal=path)
    assert not path.exists()
    begun(path, strategy=strategy)
    before = path.read_bytes()
    with pytest.raises(MissingCapability, match=match):
        changed(path, failures="learn")
    assert path.read_bytes() == before
    opt = Optimizer(X, failures="learn", seed=0)
    opt.observe({"x": 0.5}, error="it burnt")
    opt.observe({"x": 0.25}, 1.0)
    with pytest.raises(MissingCapability, match=match):
        opt.ask(1, strategy=strategy)


# Words, and damage


def test_a_study_with_all_results_outside_says_so(path: Path) -> None:
    begun(path)
    with changed(path, Space({"x": Float(2.0, 3.0)})) as opt:
        for look in (opt.recommend, lambda: opt.predict([{"x": 2.5}])):
            with pytest.raises(InvalidInput, match="all 4 lie outside of it since it was changed"):
                look()
        assert opt.best is None
        assert opt.ask(1)[0].origin == "design"
    agree(path)


def test_a_change_without_settings_is_damage_of_its_line(path: Path) -> None:
    begun(path)
    with changed(path, strategy="kb"):
        pass
    last = len(path.read_text(encoding="utf-8").splitlines())

    def without(record: dict[str, Any]) -> None:
        record["config"] = {}

    edited(path, without, line=last)
    for look in (replay, Optimizer.load, read_study, lambda path: Optimizer.open(path, X)):
        with pytest.raises(JournalCorrupt, match=f"line {last}") as caught:
            look(path)
        assert caught.value.line == last


def test_a_backfill_that_was_said_once_holds(path: Path) -> None:
    begun(path)
    with changed(path, XY):
        pass
    with changed(path, Space({"x": Float(0.0, 1.0), "y": Float(0.0, 2.0)})) as opt:
        assert opt.outside == ()
        assert {trial.params["y"] for trial in opt.trials} == {0.25}
    agree(path)


# Constraints


def bounded(limit: float) -> Any:
    return lambda params: params["x"] < limit


def at_most(limit: float, params: dict[str, Any]) -> bool:
    return bool(params["x"] <= limit)


def same(path: Path, first: Any, second: Any) -> bool:
    """Whether a journal takes the second constraint for the first."""
    path.unlink(missing_ok=True)
    Optimizer(Space(dict(X.parameters), first), journal=path, seed=0).close()
    try:
        Optimizer.open(path, Space(dict(X.parameters), second)).close()
    except InvalidInput:
        return False
    return True


@dataclass(frozen=True)
class Below:
    limit: float

    def __call__(self, params: dict[str, Any]) -> bool:
        return bool(params["x"] < self.limit)


def test_a_constraint_is_known_by_what_it_does(path: Path) -> None:
    # fmt: off
    one, other = lambda p: p["x"] < 0.5, lambda p: p["x"] < 0.75
    assert same(path, one,
        lambda p:
            p["x"]  # on lines of its own
            < 0.5)
    # fmt: on
    assert not same(path, one, other)
    assert same(path, bounded(0.5), bounded(0.5))
    assert not same(path, bounded(0.5), bounded(0.75))
    assert same(path, partial(at_most, 0.5), partial(at_most, 0.5))
    assert not same(path, partial(at_most, 0.5), partial(at_most, 0.75))
    assert not same(path, partial(at_most, 0.5), partial(bounded, 0.5))
    assert same(path, Below(0.5), Below(0.5))
    assert not same(path, Below(0.5), Below(0.75))
    assert same(path, lambda p: p["x"] in {0.5, "a", "b"}, lambda p: p["x"] in {"b", 0.5, "a"})
    assert not same(path, lambda p: p["x"] in {0.5, "a", "b"}, lambda p: p["x"] in {"c", 0.5, "a"})


def test_a_journal_from_before_or_of_another_python_knows_a_constraint_by_its_source(path: Path) -> None:
    space = Space(dict(X.parameters), below)
    for code in (None, "2.7 0123456789abcdef"):
        path.unlink(missing_ok=True)
        Optimizer(space, journal=path, seed=0).close()

        def older(record: dict[str, Any], code: str | None = code) -> None:
            assert {*record["config"]["constraint"]} == {"function", "source", "code"}
            record["config"]["constraint"].pop("code")
            if code is not None:
                record["config"]["constraint"]["code"] = code

        edited(path, older)
        Optimizer.open(path, space).close()
        Optimizer.load(path, constraint=below).close()
        with pytest.raises(InvalidInput, match="written with the constraint below; got bounded"):
            Optimizer.load(path, constraint=bounded(0.5))


def test_an_edited_constraint_is_called_so(path: Path) -> None:
    Optimizer(Space(dict(X.parameters), bounded(0.5)), journal=path, seed=0).close()
    with pytest.raises(InvalidInput, match=r"constraint: bounded.<locals>.<lambda>, edited\n"):
        Optimizer.open(path, Space(dict(X.parameters), bounded(0.75)))
    with pytest.raises(InvalidInput, match=r"got bounded.<locals>.<lambda>, which was edited since"):
        Optimizer.load(path, constraint=bounded(0.75))
    with pytest.raises(InvalidInput, match=r"constraint: bounded.<locals>.<lambda>, now none\n"):
        Optimizer.open(path, X)
    with pytest.raises(InvalidInput, match="constraint_name must be the name of a constraint; got ''"):
        Space(dict(X.parameters), below, constraint_name="")
