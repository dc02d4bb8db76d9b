"""What a trial returns: a number, a number with its noise, or several by name; kept, listed, and read back."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from each import each

from believer import GP, Float, Int, Optimizer, Outcome, Space
from believer.errors import InvalidInput, TrialError
from believer.study.events import Told
from believer.surrogates.data import Data

SPACE = Space({"x": Float(0.0, 1.0), "n": Int(1, 9)})
YIELD = Outcome({"yield": 71.2, "cost": 3.1}, {"purity": 96.0}, {"yield": 0.4})


def study(**settings: Any) -> Optimizer:
    return Optimizer(SPACE, n_init=3, **{"seed": 0, **settings})


def test_a_plain_number_is_an_outcome_of_one_objective() -> None:
    opt = study()
    opt.tell(opt.ask(1)[0], 0.5)
    assert opt.outcomes == {0: Outcome({"value": 0.5})}
    assert opt.outcomes[0].is_plain
    assert (opt.outcomes[0].value, opt.outcomes[0].std) == (0.5, None)
    assert "noise" not in opt.records()[0]


def test_known_noise_is_kept_listed_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path) as opt:
        batch = opt.ask(3)
        opt.tell(batch[0], 1.0, noise=0.3)
        opt.tell_many(batch[1:], [2.0, 3.0], noise=[0.0, 0.1])
        opt.observe({"x": 0.5, "n": 2}, 0.7, noise=0.2)
        opt.observe({"x": 0.6, "n": 2}, 0.8)
        rows = opt.records()
    assert [row["noise"] for row in rows] == [0.3, 0.0, 0.1, 0.2, None]
    with Optimizer.load(path) as loaded:
        assert loaded.records() == rows
        assert loaded.outcomes == opt.outcomes
        loaded.to_csv(tmp_path / "study.csv")
    with (tmp_path / "study.csv").open(newline="", encoding="utf-8") as file:
        assert [row["noise"] for row in csv.DictReader(file)] == ["0.3", "0.0", "0.1", "0.2", ""]


@pytest.mark.parametrize("warp", ["none", "auto"])
def test_the_model_believes_a_result_as_far_as_its_noise_allows(warp: str) -> None:
    """A model that has no noise of its own; the one result is far from the others, and may be warped."""
    at = {"x": 0.31, "n": 5}

    def mean(noise: float | None) -> float:
        opt = study(surrogate=GP(noise=1e-6), warp=warp)
        for k, x in enumerate(np.linspace(0.0, 1.0, 8)):
            opt.observe({"x": float(x), "n": 5}, float(k % 2))
        opt.observe(at, 9.0, noise=noise)
        return float(opt.predict([at]).mean[0])

    assert mean(None) == pytest.approx(9.0, abs=0.1)
    assert mean(0.5) > mean(5.0) > mean(50.0)
    assert mean(50.0) < 3.0


def test_the_study_hands_its_noise_to_every_fit_and_to_what_it_restores() -> None:
    seen: list[Data] = []

    class Spy:
        def fit(self, data: Data, rng: np.random.Generator, previous: Any = None) -> Any:
            seen.append(data)
            return GP().fit(data, rng, previous)

    opt = study(surrogate=Spy(), maximize=True)
    for trial in opt.ask(3):
        opt.tell(trial, 1.0 + trial.id, noise=0.1 * trial.id)
    opt.ask(2)
    std = seen[0].std
    assert std is not None
    np.testing.assert_allclose(std, [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(seen[0].y, [-1.0, -2.0, -3.0])


def test_a_loaded_study_with_noise_goes_on_as_it_would_have(tmp_path: Path) -> None:
    path, copy = tmp_path / "study.jsonl", tmp_path / "copy.jsonl"
    opt = study(journal=path)
    for _ in range(3):
        for trial in opt.ask(2):
            opt.tell(trial, trial.params["x"] ** 2 + trial.params["n"], noise=0.05)
    opt.save(copy)
    with Optimizer.load(copy) as loaded:
        np.testing.assert_array_equal(loaded.ask(3).encoded, opt.ask(3).encoded)
    opt.close()


def test_named_outcomes_are_carried_stored_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path, maximize=True) as opt:
        batch = opt.ask(3)
        opt.tell(batch[0], YIELD)
        opt.tell(batch[1], Outcome({"cost": 2.0, "yield": 60.0}, {"purity": 99.0, "color": 1.0}))
        opt.tell(batch[2], error="spilled")
        assert opt.best == (batch[0].params, 71.2)
        suggested = opt.ask(2)
        assert [trial.origin for trial in suggested] == ["model", "model"]
        assert all(trial.provenance.endswith("; without regard to cost") for trial in suggested)
        rows = opt.records()
    first = rows[0]
    assert (first["value"], first["yield"], first["cost"], first["purity"], first["noise.yield"]) == (
        *(71.2, 71.2, 3.1, 96.0),
        0.4,
    )
    assert first["color"] is None
    assert rows[2]["yield"] is None
    with Optimizer.load(path) as loaded:
        assert loaded.records() == rows
        assert loaded.outcomes[0] == YIELD
        assert list(loaded.outcomes[1].objectives) == ["yield", "cost"], "in the order of the first"


def test_an_outcome_may_bear_the_names_of_parameters_and_columns() -> None:
    opt = Optimizer(Space({"x": Float(0, 1), "noise": Float(0, 1)}), n_init=1, seed=0)
    opt.observe({"x": 0.5, "noise": 0.25}, Outcome({"x": 1.0, "value": 2.0}, {"status": 3.0}, {"x": 0.1}))
    row = opt.records()[0]
    assert (row["x"], row["noise"], row["value"]) == (0.5, 0.25, 1.0)
    assert (row["outcome.x"], row["outcome.value"], row["outcome.status"], row["noise.x"]) == (1.0, 2.0, 3.0, 0.1)


def test_a_parameter_called_noise_keeps_its_column_beside_known_noise() -> None:
    opt = Optimizer(Space({"noise": Float(0, 1)}), n_init=1, seed=0)
    opt.observe({"noise": 0.25}, 1.0, noise=0.5)
    assert (opt.records()[0]["noise"], opt.records()[0]["outcome.noise"]) == (0.25, 0.5)


@each(
    ("call", "rule"),
    [
        (lambda o: o.tell(0, 1.0, noise=-0.1), "noise must be a standard deviation, zero or more and finite; got -0.1"),
        (lambda o: o.tell(0, 1.0, noise=float("nan")), "zero or more and finite; got nan"),
        (lambda o: o.tell(0, 1.0, noise="much"), "must be a number; got 'much'"),
        (lambda o: o.tell(0, noise=0.1), "value, or error="),
        (lambda o: o.tell(0, error="no", noise=0.1), "failed evaluation.*noise"),
        (lambda o: o.tell(0, float("nan"), noise=-3.0), "zero or more and finite; got -3.0"),
        (lambda o: o.tell(0, YIELD, noise=0.1), "noise"),
        (lambda o: o.tell(0, YIELD), "the same objectives; these have value, got yield, cost"),
        (lambda o: o.observe({"x": 0.1, "n": 1}, YIELD), "the same objectives"),
        (lambda o: o.tell_many([0, 1], [1.0, 2.0], noise=[0.1]), "one value for each trial"),
        (lambda o: Outcome({}), "at least one number; got none"),
        (lambda o: Outcome({"a": float("nan")}), "a of objectives must be finite; got nan"),
        (lambda o: Outcome({"a": 1e101}), "within"),
        (lambda o: Outcome({"a": 1.0}, {"a": 2.0}), "an objective's or a constraint's.*got a"),
        (lambda o: Outcome({"a": 1.0}, noise={"b": 2.0}), "named after an objective or a constraint; got b"),
        (lambda o: Outcome(cast(Any, {1: 1.0})), "must be a dict of numbers by name"),
        (lambda o: Outcome(cast(Any, [1.0])), "must be a dict of numbers by name"),
    ],
)
def test_a_result_that_makes_no_sense_is_refused_and_changes_nothing(call: Any, rule: str) -> None:
    opt = study()
    opt.ask(2)
    opt.observe({"x": 0.5, "n": 5}, 1.0)
    before = opt.events
    with pytest.raises(InvalidInput, match=rule):
        call(opt)
    assert opt.events == before


def test_params_answer_the_pending_trial_that_has_them() -> None:
    opt = study()
    batch = opt.ask(3)
    opt.tell({"n": batch[1].params["n"], "x": batch[1].params["x"]}, 0.5)
    assert opt.outcomes == {1: Outcome.of(0.5)}
    assert [trial.id for trial in opt.pending] == [0, 2]
    with pytest.raises(TrialError, match=r"no pending trial has the params .*.*observe"):
        opt.tell(batch[1].params, 0.6)
    with pytest.raises(InvalidInput):
        opt.tell({"x": 0.5}, 0.6)


def test_params_of_several_pending_trials_answer_the_first() -> None:
    opt = study()
    for _ in range(2):
        opt.enqueue({"x": 0.5, "n": 3})
    opt.ask(2)
    opt.tell({"x": 0.5, "n": 3}, 1.0)
    opt.tell({"x": 0.5, "n": 3}, error="broke")
    assert isinstance(opt.events[-2], Told)
    assert [row["status"] for row in opt.records()] == ["done", "failed"]


def test_an_outcome_does_not_share_its_dicts_with_its_maker() -> None:
    mine = {"a": 1.0}
    outcome = Outcome(mine)
    mine["a"] = 2.0
    assert outcome.value == 1.0


def test_the_first_result_says_which_objective_is_optimized_whatever_the_order_of_names_and_ids() -> None:
    opt = study()
    batch = opt.ask(3)
    opt.tell(batch[2], Outcome({"loss": 1.0, "seconds": 9.0}))
    opt.tell(batch[0], Outcome({"seconds": 0.1, "loss": 5.0}))
    opt.tell(batch[1], Outcome({"seconds": 3.0, "loss": 0.5}))
    assert opt.best == (batch[1].params, 0.5)
    assert [row["value"] for row in opt.records()] == [5.0, 0.5, 1.0]
    assert opt.ask(1)[0].provenance.endswith("; without regard to seconds")


def test_results_told_together_are_checked_against_each_other_before_one_is_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path) as opt:
        batch = opt.ask(2)
        before = path.read_bytes()
        with pytest.raises(InvalidInput, match="the same objectives; these have a, got b"):
            opt.tell_many(batch, [Outcome({"a": 1.0}), Outcome({"b": 1.0})])
        assert path.read_bytes() == before
        assert opt.counts.done == 0
        opt.enqueue(batch[0].params)
        opt.ask(1)
        opt.tell_many([batch[0].params, batch[0].params], [1.0, 2.0])
        assert sorted(opt.outcomes) == [0, 2]
    Optimizer.load(path).close()


def test_what_a_caller_does_to_an_outcome_stays_with_the_caller() -> None:
    opt = study()
    mine = Outcome({"a": 1.0})
    opt.tell(opt.ask(1)[0], mine)
    mine.objectives["a"] = 99.0
    opt.outcomes[0].objectives["a"] = 55.0
    assert opt.best is not None
    assert opt.best[1] == 1.0


def test_params_answer_a_trial_that_was_abandoned() -> None:
    opt = study()
    trial = opt.ask(1)[0]
    opt.abandon(trial)
    opt.tell(trial.params, 0.5)
    assert opt.outcomes[0].value == 0.5


def test_no_column_takes_the_place_of_another() -> None:
    opt = Optimizer(Space({"x": Float(0, 1)}), n_init=1, seed=0)
    opt.observe({"x": 0.5}, Outcome({"x": 4.0, "outcome.x": 3.0, "a": 1.0, "noise.a": 2.0}, noise={"a": 0.1}))
    row = opt.records()[0]
    assert sorted(value for value in row.values() if isinstance(value, float)) == [0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 4.0]
