"""Results at parameters that nobody suggested: off the steps, out of bounds, against rules. They count as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from journal_lines import checked
from optimizer_studies import assert_lawful, gap

import believer as bv
from believer import Categorical, Discrete, Float, Int, Optimizer, Ordinal, Space
from believer.batch import STRATEGIES
from believer.errors import BelieverError, InvalidInput, TrialError
from believer.study.events import Amended, Failed, Observed, Told
from believer.study.formats import decode_event, encode_event
from believer.study.outcome import Outcome
from believer.surrogates import SURROGATES

JOURNALS = Path(__file__).parent / "journals"
SPACE = Space(
    {
        "a": Float(0.0, 1.0, step=0.05),
        "n": Int(1, 9),
        "l": Float(1e-3, 1.0, log=True),
        "d": Discrete([0, 1, 2.5, 5]),
        "k": Categorical(["x", "y"]),
        "o": Ordinal(["low", "high"]),
    }
)
OFF = {"a": 0.76, "n": 2.5, "l": 2.0, "d": 3.3, "k": "x", "o": "low"}
FAR = {**OFF, "a": 7.0}


def loss(params: dict[str, Any]) -> float:
    return float((params["a"] - 0.6) ** 2 + 0.01 * (params["n"] - 3) ** 2 + 0.1 * params["d"])


def weighed(optimizer: Optimizer, q: int = 3) -> None:
    """A batch of which every second point was evaluated with other numbers than were suggested."""
    for trial in optimizer.ask(q):
        moved = {"a": trial.params["a"] + 0.013, "n": trial.params["n"] + 0.5} if trial.id % 2 else {}
        optimizer.tell(trial, loss(trial.params | moved), params=moved or None)


def study(**options: Any) -> Optimizer:
    optimizer = Optimizer(SPACE, **{"seed": 0, "n_init": 4, **options})
    weighed(optimizer, 4)
    optimizer.observe(OFF, loss(OFF))
    return optimizer


def test_the_record_shows_what_was_suggested_and_what_was_used(tmp_path: Path) -> None:
    optimizer = study()
    first, second = optimizer.records()[:2]
    assert [first["suggested.a"], first["suggested.n"]] == [None, None]
    assert second["a"] == second["suggested.a"] + 0.013
    assert second["n"] == second["suggested.n"] + 0.5
    assert "suggested.d" not in second
    trial = optimizer.trials[1]
    assert trial.suggested is not None
    assert (trial.params["a"], trial.suggested["a"]) == (second["a"], second["suggested.a"])
    assert optimizer.trials[0].suggested is None
    optimizer.to_csv(tmp_path / "study.csv")
    assert "suggested.a,suggested.n" in (tmp_path / "study.csv").read_text().splitlines()[0]
    assert "suggested.a" in optimizer._repr_html_()


def test_models_learn_from_what_was_used() -> None:
    used = study()
    same = Optimizer(SPACE, seed=0, n_init=4)
    for row in used.records():
        same.observe({name: row[name] for name in SPACE.names}, row["value"])
    at = [trial.params for trial in used.trials]
    assert used.predict(at).mean == pytest.approx(same.predict(at).mean, rel=1e-6)
    assert gap(used.trials[4].encoded, SPACE.located(OFF)[0]) == 0.0
    assert used.best is not None
    assert used.best[0] in at


@each(
    "value, place",
    [({"a": 0.76}, 0.76), ({"a": 1.2}, 1.2), ({"a": -0.5}, -0.5), ({"l": 10.0}, 4 / 3), ({"n": 10}, 9 / 8)],
)
def test_a_number_out_of_bounds_is_that_far_out_of_the_cube(value: dict[str, float], place: float) -> None:
    [name] = value
    encoded, near = SPACE.located(SPACE.measured(OFF | value))
    assert near
    assert encoded[SPACE.names.index(name)] == pytest.approx(place, abs=1e-12)


def test_on_steps_and_within_bounds_a_measured_point_is_as_any_other() -> None:
    rng = np.random.default_rng(0)
    for params in SPACE.decode(rng.random((50, SPACE.dim))):
        assert SPACE.measured(params) == params
        encoded, near = SPACE.located(params)
        assert near
        assert np.array_equal(encoded, SPACE.encode([params])[0])


def test_what_is_far_out_of_bounds_is_kept_and_no_model_learns_from_it() -> None:
    optimizer, other = study(), study()
    trial = optimizer.observe(FAR, -100.0)
    assert [one.id for one in optimizer.outside] == [trial.id]
    assert optimizer.records()[-1]["a"] == 7.0
    assert optimizer.best == other.best
    assert np.array_equal(optimizer.predict([OFF]).mean, other.predict([OFF]).mean)
    optimizer.amend(trial, params={"a": 0.7})
    assert len(optimizer.outside) == 0
    assert optimizer.best == ({**OFF, "a": 0.7}, -100.0)
    with pytest.raises(InvalidInput, match=r"got 7\.0"):
        optimizer.predict([FAR])


@each("name", STRATEGIES)
def test_every_strategy_goes_on_and_suggests_what_is_lawful(name: str) -> None:
    optimizer = study()
    batch = optimizer.ask(2, strategy=name)
    assert_lawful(SPACE, batch.trials)


@each("surrogate", [name for name in SURROGATES if name not in ("neural", "last_layer")])
def test_every_surrogate_learns_from_it(surrogate: str) -> None:
    optimizer = study(surrogate=surrogate, strategy="kb")
    assert np.isfinite(optimizer.predict([OFF, {**OFF, "a": 1.9, "d": 9.0}]).mean).all()
    assert_lawful(SPACE, optimizer.ask(1).trials)


def test_a_replicate_is_of_a_point_that_may_be_suggested() -> None:
    space = Space({"a": Float(0.0, 1.0, step=0.25)})
    optimizer = Optimizer(space, seed=0, n_init=2, surrogate=bv.GP(noise="infer"), strategy="kb")
    rng = np.random.default_rng(0)
    for a in (0.1, 0.6, 0.62, 0.25, 0.75, 0.5, 0.0, 1.0, 0.61):
        optimizer.observe({"a": a}, (a - 0.6) ** 2 + 0.3 * rng.standard_normal())
    for _ in range(6):
        batch = optimizer.ask(1, repeat=True, distinct=False)
        assert_lawful(space, batch.trials)
        optimizer.tell(batch[0], (batch[0].params["a"] - 0.6) ** 2 + 0.3 * rng.standard_normal())


def test_neither_what_was_suggested_nor_what_was_used_is_suggested_again() -> None:
    space = Space({"s": Float(0.0, 1.0, step=0.25)})
    optimizer = Optimizer(space, seed=0, n_init=2)
    seen = []
    for _ in range(4):
        (trial,) = optimizer.ask(1)
        seen.append(trial.params["s"])
        optimizer.tell(trial, seen[-1], params={"s": seen[-1] + 0.01})
    (used,) = {0.0, 0.25, 0.5, 0.75, 1.0} - {*seen}
    optimizer.observe({"s": used}, 0.0)
    with pytest.raises(bv.errors.SpaceExhausted):
        optimizer.ask(1)


def test_rules_and_a_constraint_bind_suggestions_and_not_results() -> None:
    parts = ["a", "b", "c"]
    mixture = Space(
        {name: Float(0.0, 1.0) for name in parts}, lambda params: bool(params["a"] < 0.9), rules=[bv.sum_to(parts, 1.0)]
    )
    optimizer = Optimizer(mixture, seed=0, n_init=3)
    for trial in optimizer.ask(3):
        optimizer.tell(trial, trial.params["a"], params={"a": trial.params["a"] + 0.004})
    optimizer.observe({"a": 0.95, "b": 0.2, "c": 0.1}, 2.0)
    assert_lawful(mixture, optimizer.ask(3).trials)


def test_it_is_in_the_journal_replayed_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with study(journal=path) as optimizer:
        weighed(optimizer)
        optimizer.tell(optimizer.ask(1)[0], error="spilled", params={"l": 0.2})
        optimizer.amend(0, params={"a": 0.41})
        optimizer.observe(FAR, 3.0)
        loaded = Optimizer.load(path, append=False)
        assert loaded.trials == optimizer.trials
        assert loaded.records() == optimizer.records() == bv.read_study(path).records()
        assert loaded.outside == optimizer.outside
        assert loaded.ask(3).trials == optimizer.ask(3).trials
    assert bv.replay(path).identical


def test_amending_parameters_leaves_the_result_and_back_again_is_as_suggested() -> None:
    optimizer = study()
    value, suggested = optimizer.outcomes[2], optimizer.trials[2].params
    optimizer.amend(2, params={"a": 0.41})
    assert (optimizer.outcomes[2], optimizer.trials[2].params["a"]) == (value, 0.41)
    optimizer.amend(2, 7.0)
    assert (optimizer.outcomes[2].value, optimizer.trials[2].params["a"]) == (7.0, 0.41)
    optimizer.amend(2, params=suggested)
    assert (optimizer.trials[2].params, optimizer.trials[2].suggested) == (suggested, None)
    before = optimizer.events
    optimizer.amend(2, params=suggested)
    assert optimizer.events == before


def test_a_part_of_a_result_may_say_where_it_was_obtained_and_the_rest_follows() -> None:
    optimizer = Optimizer(SPACE, outcomes={"cost": bv.Minimize(), "heat": bv.AtMost(2.0)}, n_init=2, seed=0)
    (trial,) = optimizer.ask(1)
    optimizer.tell(trial, {"cost": 1.0}, params={"a": 0.33})
    assert optimizer.pending[0].params["a"] == 0.33
    optimizer.tell(trial.id, {"heat": 1.0}, params={"n": 4})
    assert {n: optimizer.trials[0].params[n] for n in ("a", "n")} == {"a": 0.33, "n": 4}


def test_a_space_that_is_changed_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    study(journal=path).close()
    wider = Space({**SPACE.parameters, "z": Float(0.0, 1.0, backfill=0.5)})
    with Optimizer.open(path, wider, change=True) as optimizer:
        assert len(optimizer.outside) == 0
        assert optimizer.trials[4].params == {**OFF, "z": 0.5}
        weighed(optimizer)
    with Optimizer.open(path, Space({n: p for n, p in SPACE.parameters.items() if n != "k"}), change=True) as optimizer:
        assert "k" not in optimizer.trials[4].params
        optimizer.ask(2)
    assert bv.replay(path).identical


def test_parameters_that_depend_on_others_come_and_go_with_what_was_used() -> None:
    space = Space(
        {
            "kernel": Categorical(["rbf", "poly"]),
            "gamma": Float(1e-3, 1.0, log=True, when={"kernel": "rbf"}),
            "degree": Int(2, 5, when={"kernel": "poly"}),
        }
    )
    optimizer = Optimizer(space, n_init=2, seed=0)
    for trial in optimizer.ask(2):
        other = {"kernel": "poly", "degree": 6} if trial.params["kernel"] == "rbf" else {"kernel": "rbf", "gamma": 2.0}
        optimizer.tell(trial, 1.0, params=other)
        assert optimizer.trials[trial.id].params == other
        assert optimizer.trials[trial.id].suggested == trial.params
    assert {row["suggested.kernel"] for row in optimizer.records()} == {"rbf", "poly"}
    with pytest.raises(InvalidInput, match="only if"):
        optimizer.amend(0, params={"kernel": "rbf", "gamma": 0.5, "degree": 2})
    optimizer.observe({"kernel": "rbf", "gamma": 1.5}, 0.5)
    assert_lawful(space, optimizer.ask(2).trials)


def test_values_of_x0_need_not_be_suggestions_where_they_are_known() -> None:
    result = bv.minimize(loss, SPACE, 2, x0=[OFF], y0=[loss(OFF)], n_init=2, seed=0, progress=False)
    assert result.optimizer.trials[0].params == OFF
    with pytest.raises(InvalidInput):
        bv.minimize(loss, SPACE, 2, x0=[OFF], n_init=2, seed=0, progress=False)


@each(
    "params",
    [
        {"l": -1.0},
        {"l": 0},
        {"k": "z"},
        {"o": "mid"},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "1"},
        {"n": None},
        {"q": 1},
    ],
)
def test_what_has_no_place_is_one_clear_error_and_changes_nothing(params: dict[str, Any]) -> None:
    optimizer = study()
    (trial,) = optimizer.ask(1)
    before = optimizer.events
    for call in (
        lambda: optimizer.observe(OFF | params, 1.0),
        lambda: optimizer.tell(trial, 1.0, params=params),
        lambda: optimizer.tell(trial, error="no", params=params),
        lambda: optimizer.amend(0, params=params),
    ):
        with pytest.raises(BelieverError):
            call()
    assert optimizer.events == before


def test_params_of_a_trial_that_is_not_pending_say_how_to_tell_them() -> None:
    optimizer = study()
    optimizer.ask(1)
    with pytest.raises(TrialError, match=r"tell\(trial, value, params="):
        optimizer.tell(OFF, 1.0)
    with pytest.raises(InvalidInput, match="mapping"):
        optimizer.amend(0, params=5)  # type: ignore[arg-type]


# The journal


def test_formats_before_the_sixth_hold_no_parameters_of_results() -> None:
    outcome = Outcome.of(1.0)
    for event in (
        Told(0, outcome, params={"a": 0.5}),
        Failed(0, "no", params={"a": 0.5}),
        Amended(0, None, "no", {"a": 0.5}),
    ):
        assert decode_event(encode_event(event)) == event
        with pytest.raises(InvalidInput):
            encode_event(event, 5)
        with pytest.raises(InvalidInput):
            decode_event(encode_event(event), 5)
    assert decode_event(encode_event(Observed(0, {"a": 0.5}, outcome, None), 5), 5)


@each("params", [{}, [], 1, None])
def test_a_line_with_other_parameters_is_refused(params: Any) -> None:
    with pytest.raises(InvalidInput):
        decode_event(checked({"kind": "failed", "id": 0, "error": "no", "params": params}))


def test_a_journal_of_an_earlier_format_goes_on_with_them(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.write_bytes((JOURNALS / "format3" / "kb_cube.jsonl").read_bytes())
    with Optimizer.load(path) as optimizer:
        trial = optimizer.trials[0]
        name = next(name for name, value in trial.params.items() if type(value) is float)
        seen = optimizer.observe({**trial.params, name: trial.params[name] + 0.0123}, 0.5)
        assert Optimizer.load(path, append=False).trials[-1] == seen
