"""Extreme input is survived; wrong input is one clear error and changes nothing."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from optimizer_studies import (
    NEW,
    SPACES,
    SpySurrogate,
    assert_distinct,
    assert_lawful,
    started,
    state,
    tell_all,
    value_of,
    with_history,
)

from believer import EI, GP, Float, Int, Optimizer, PseudoObservations, RandomBatch, Space, Trial
from believer.errors import BelieverError, InvalidInput, SpaceExhausted, TrialError

# Extreme inputs


def mixed_magnitudes(trial: Trial) -> float:
    return float(10.0 ** (24.0 * trial.encoded[0] - 12.0))


EXTREME: dict[str, Callable[[Trial], float]] = {
    "1e12": lambda trial: 1e12 * value_of(trial),
    "1e-12": lambda trial: 1e-12 * value_of(trial),
    "1e-12 on 1e12": lambda trial: 1e12 + 1e-12 * value_of(trial),
    "1 on 1e12": lambda trial: 1e12 + value_of(trial),
    "1e-12 to 1e12": mixed_magnitudes,
    "1e12 and one 1e-12": lambda trial: 1e-12 if trial.id == 0 else 1e12,
    "zero": lambda trial: 0.0,
    "constant": lambda trial: -7.25,
    "constant 1e12": lambda trial: 1e12,
    "constant 1e-12": lambda trial: -1e-12,
    "1e100": lambda trial: 1e100 * value_of(trial),
    "1e-100": lambda trial: 1e-100 * value_of(trial),
    "the largest value as a penalty": lambda trial: 1e100 if trial.id == 1 else value_of(trial),
    "plus and minus the largest value": lambda trial: 1e100 * (-1.0) ** (trial.id == 1),
    "the smallest floats": lambda trial: 5e-324 * trial.id,
}


@each("strategy", ["kb", "cl_min", "fantasy"])
@each("f", EXTREME.values(), ids=EXTREME)
def test_any_finite_values_give_finite_predictions_and_new_points(f: Callable[[Trial], float], strategy: str) -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=5, strategy=strategy, seed=0)
    for q in (5, 3):
        for trial in optimizer.ask(q):
            optimizer.tell(trial, f(trial))
    batch = optimizer.ask(3)
    assert_lawful(SPACES["cube"], batch)
    assert_distinct(optimizer.trials)
    at = optimizer.predict(batch.params)
    assert np.isfinite(at.mean).all()
    assert np.isfinite(at.std).all()
    gain, values = batch.verdict.gain, {row["value"] for row in optimizer.records() if row["value"] is not None}
    assert (gain is None) == (len(values) == 1), "results that are all equal have no scale of a gain"
    assert gain is None or np.isfinite(gain.curve).all()


def test_observations_a_trillionth_apart_are_survived() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=4, seed=0)
    for i in range(12):
        optimizer.observe({"x0": 0.5 + i * 1e-12, "x1": 0.5 - i * 1e-12}, 1.0 + (i % 2))
    optimizer.observe({"x0": 0.1, "x1": 0.2}, 0.5)
    optimizer.observe({"x0": 0.1, "x1": 0.2}, 0.7)
    batch = optimizer.ask(4)
    assert_distinct([*batch, optimizer.trials[0], optimizer.trials[-1]][:5])
    at = optimizer.predict([{"x0": 0.5, "x1": 0.5}])
    assert 0.9 < at.mean[0] < 2.1


def test_one_parameter_of_one_value_is_a_space() -> None:
    optimizer = Optimizer(Space({"n": Int(3, 3)}), seed=0)
    optimizer.tell(optimizer.ask(1)[0], 1.0)
    assert optimizer.best == ({"n": 3}, 1.0)
    assert len(optimizer.ask(2, distinct=False)) == 2
    with pytest.raises(SpaceExhausted):
        optimizer.ask(1)


def test_fifty_dimensions_work() -> None:
    optimizer = started(Space.cube(50), n_init=6)
    tell_all(optimizer, optimizer.ask(2))
    optimizer.ask(2)
    assert_lawful(optimizer.space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_a_hundred_points_at_once_are_distinct_and_need_one_fit() -> None:
    surrogate = SpySurrogate()
    optimizer = started(SPACES["cube"], n_init=10, surrogate=surrogate, warp="none")
    batch = optimizer.ask(100)
    assert len(surrogate.fits) == 1
    assert len(batch) == 100
    assert_distinct(optimizer.trials)


def test_five_hundred_results_work() -> None:
    optimizer = Optimizer(Space.cube(3), n_init=10, seed=0)
    rng = np.random.default_rng(0)
    for point in rng.random((500, 3)):
        optimizer.observe(dict(zip(("x0", "x1", "x2"), point.tolist(), strict=True)), float(((point - 0.4) ** 2).sum()))
    batch = optimizer.ask(2)
    assert_distinct(batch)
    assert optimizer.best is not None
    at = optimizer.predict([optimizer.best[0]])
    assert at.mean[0] == pytest.approx(optimizer.best[1], abs=0.01)


def test_a_thousand_observations_cost_no_fit() -> None:
    surrogate = SpySurrogate()
    optimizer = Optimizer(SPACES["mixed"], surrogate=surrogate, seed=0)
    points = optimizer.space.decode(np.random.default_rng(0).random((1000, optimizer.space.dim)))
    for i, point in enumerate(points):
        optimizer.observe(point, float(i))
    assert surrogate.fits == []
    assert optimizer.counts.done == 1000


# Wrong input


WRONG: dict[str, tuple[Callable[[Optimizer], object], type[BelieverError], str]] = {
    "ask 0": (lambda o: o.ask(0), InvalidInput, "q must be a whole number, 1 or more; got 0"),
    "ask -1": (lambda o: o.ask(-1), InvalidInput, "q must be"),
    "ask 2.0": (lambda o: o.ask(2.0), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "ask True": (lambda o: o.ask(True), InvalidInput, "q must be"),
    "ask '2'": (lambda o: o.ask("2"), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "ask None": (lambda o: o.ask(None), InvalidInput, "q must be"),  # type: ignore[arg-type]
    "strategy": (lambda o: o.ask(1, strategy="kbb"), InvalidInput, "one of cl_min, .* got 'kbb'"),
    "strategy list": (lambda o: o.ask(1, strategy=["kb"]), InvalidInput, "choose"),  # type: ignore[arg-type]
    "strategy class": (lambda o: o.ask(1, strategy=PseudoObservations), InvalidInput, "strategy"),  # type: ignore[arg-type]
    "fixed name": (
        lambda o: o.ask(1, fixed={"dept": 1}),
        InvalidInput,
        "fixed must name .* Did you mean 'depth'",
    ),
    "fixed value": (lambda o: o.ask(1, fixed={"depth": 9}), InvalidInput, r"\[1, 8\]; got 9 for 'depth'"),
    "fixed choice": (lambda o: o.ask(1, fixed={"kernel": "RBF"}), InvalidInput, "got 'RBF' for 'kernel'"),
    "fixed text": (lambda o: o.ask(1, fixed="depth"), InvalidInput, "fixed must be a mapping"),  # type: ignore[arg-type]
    "distinct": (lambda o: o.ask(1, distinct="no"), InvalidInput, "distinct"),  # type: ignore[arg-type]
    "tell unknown": (lambda o: o.tell(99, 1.0), TrialError, "no trial 99; ids run from 0 to 6"),
    "tell negative": (lambda o: o.tell(-1, 1.0), TrialError, "no trial -1"),
    "tell told": (lambda o: o.tell(0, 1.0), TrialError, "trial 0 already has a result .done.; a trial is told once"),
    "tell failed": (lambda o: o.tell(4, 1.0), TrialError, "trial 4 already.*failed"),
    "fail told": (lambda o: o.tell(0, error="no"), TrialError, "trial 0 already"),
    "tell text id": (lambda o: o.tell("5", 1.0), TrialError, "its id or its params; got '5'"),  # type: ignore[arg-type]
    "tell float id": (lambda o: o.tell(5.0, 1.0), TrialError, "got 5.0"),  # type: ignore[arg-type]
    "tell bool id": (lambda o: o.tell(True, 1.0), TrialError, "got True"),
    "tell params": (lambda o: o.tell(NEW, 1.0), TrialError, "no pending trial has the params .* observe"),
    "tell nothing": (lambda o: o.tell(5), InvalidInput, "value, or error="),
    "tell None": (lambda o: o.tell(5, None), InvalidInput, "have a value"),
    "tell text": (lambda o: o.tell(5, "1.0"), InvalidInput, "must be a number; got '1.0'"),  # type: ignore[arg-type]
    "tell bool": (lambda o: o.tell(5, True), InvalidInput, "must be a number; got True"),
    "tell list of nothing": (lambda o: o.tell(5, []), InvalidInput, "at least one number"),
    "tell list of texts": (lambda o: o.tell(5, ["1.0"]), InvalidInput, "must be a number"),  # type: ignore[list-item]
    "tell matrix": (lambda o: o.tell(5, np.ones((2, 2))), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell complex": (lambda o: o.tell(5, 1j), InvalidInput, "must be a number"),  # type: ignore[arg-type]
    "tell numpy complex": (lambda o: o.tell(5, np.complex128(1 + 2j)), InvalidInput, "a number"),  # type: ignore[arg-type]
    "tell too much": (lambda o: o.tell(5, 1e101), InvalidInput, "within .1e.100; got 1e.101"),
    "tell a huge integer": (lambda o: o.tell(5, 10**400), InvalidInput, "within .1e.100"),
    "tell_many too much": (lambda o: o.tell_many([5, 6], [1.0, -1e101]), InvalidInput, "within"),
    "observe too much": (lambda o: o.observe(NEW, sys.float_info.max), InvalidInput, "within"),
    "tell both": (lambda o: o.tell(5, 1.0, error="no"), InvalidInput, "value or an error"),
    "tell_many lengths": (lambda o: o.tell_many([5], [1.0, 2.0]), InvalidInput, "got 1 and 2"),
    "tell_many twice": (lambda o: o.tell_many([5, 5], [1.0, 2.0]), TrialError, "told once"),
    "tell_many half": (lambda o: o.tell_many([5, 0], [1.0, 2.0]), TrialError, "trial 0 already"),
    "tell_many text": (lambda o: o.tell_many([5, 6], [1.0, "2"]), InvalidInput, "a number"),  # type: ignore[list-item]
    "tell_many numbers": (lambda o: o.tell_many(5, 1.0), InvalidInput, "."),  # type: ignore[arg-type]
    "observe missing": (lambda o: o.observe({"lr": 0.5}, 1.0), InvalidInput, "missing: depth, kernel"),
    "observe more": (lambda o: o.observe({**NEW, "x": 1}, 1.0), InvalidInput, "got 'x'"),
    "observe a place that a scale has not": (
        lambda o: o.observe({**NEW, "lr": -2.0}, 1.0),
        InvalidInput,
        r"got -2.0 for 'lr'",
    ),
    "observe nan": (lambda o: o.observe({**NEW, "lr": math.nan}, 1.0), InvalidInput, "got nan for 'lr'"),
    "observe digits": (lambda o: o.observe({**NEW, "depth": "2"}, 1.0), InvalidInput, "got '2' for 'depth'"),
    "observe list": (lambda o: o.observe([NEW], 1.0), InvalidInput, "mapping"),  # type: ignore[arg-type]
    "observe nothing": (lambda o: o.observe(NEW), InvalidInput, "have a value"),
    "observe text": (lambda o: o.observe(NEW, "low"), InvalidInput, "a number; got 'low'"),  # type: ignore[arg-type]
    "enqueue missing": (lambda o: o.enqueue({}), InvalidInput, "missing: lr, depth, kernel"),
    "enqueue outside": (lambda o: o.enqueue({**NEW, "depth": 0}), InvalidInput, "got 0 for 'depth'"),
    "enqueue None": (lambda o: o.enqueue(None), InvalidInput, "mapping"),  # type: ignore[arg-type]
    "enqueue forbidden": (lambda o: o.enqueue({**NEW, "depth": 8}), InvalidInput, "constraint does not allow"),
    "abandon unknown": (lambda o: o.abandon(7), TrialError, "no trial 7"),
    "abandon done": (lambda o: o.abandon(1), TrialError, "abandon"),
    "abandon text": (lambda o: o.abandon("5"), TrialError, "got '5'"),  # type: ignore[arg-type]
    "predict a dict": (lambda o: o.predict(NEW), InvalidInput, "needs a list of params"),  # type: ignore[arg-type]
    "predict missing": (lambda o: o.predict([{"lr": 0.5}]), InvalidInput, "missing"),
    "predict outside": (lambda o: o.predict([{**NEW, "lr": 9e9}]), InvalidInput, "got 9000000000.0"),
    "predict a number": (lambda o: o.predict(3), InvalidInput, "."),  # type: ignore[arg-type]
    "exhausted": (lambda o: o.ask(2, fixed=NEW), SpaceExhausted, r"2 new point\(s\) asked for.* 1 left"),
}


@pytest.fixture(scope="module")
def untouched() -> tuple[Any, list[dict[str, Any]]]:
    optimizer = with_history()
    before = state(optimizer)
    return before, optimizer.ask(1).params


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_clear_error_and_changes_nothing(
    name: str, untouched: tuple[Any, list[dict[str, Any]]]
) -> None:
    call, kind, text = WRONG[name]
    optimizer = with_history()
    with pytest.raises(kind, match=text):
        call(optimizer)
    assert (state(optimizer), optimizer.ask(1).params) == untouched


WRONG_SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "space dict": ({"space": {"x": Float(0.0, 1.0)}}, r"space must be a believer\.Space; got dict"),
    "surrogate class": ({"surrogate": GP}, r"surrogate must be an object with a method fit"),
    "surrogate text": (
        {"surrogate": "bogus"},
        "surrogate must be one of gp, .*, or an object such as GP..; got 'bogus'",
    ),
    "acquisition class": ({"acquisition": EI}, r"acquisition must be an object with a method pointwise"),
    "acquisition text": ({"acquisition": "XI"}, "acquisition must be one of LogEI, EI, PI, UCB, .* got 'XI'"),
    "strategy": ({"strategy": "bogus"}, "strategy must be one of cl_min, .*; got 'bogus'"),
    "strategy misspelt": ({"strategy": "hedgd"}, "got 'hedgd'. Did you mean 'hedged'"),
    "acquisition misspelt": ({"acquisition": "logie"}, "got 'logie'. Did you mean 'LogEI'"),
    "surrogate misspelt": ({"surrogate": "Forrest"}, "got 'Forrest'. Did you mean 'forest'"),
    "strategy class": ({"strategy": RandomBatch}, "strategy"),
    "maximizer": ({"maximizer": 3}, "maximizer must be an object with a method maximize"),
    "n_init 0": ({"n_init": 0}, "n_init must be a whole number, 1 or more; got 0"),
    "n_init 2.5": ({"n_init": 2.5}, "n_init must be"),
    "seed -1": ({"seed": -1}, "seed must be a whole number, 0 or more; got -1"),
    "seed text": ({"seed": "x"}, "seed must be"),
    "maximize text": ({"maximize": "yes"}, "maximize must be True or False"),
    "warp text": ({"warp": "log"}, 'warp must be "auto" or "none"; got \'log\''),
    "warp flag": ({"warp": True}, "warp must be"),
    "resolution -1": ({"resolution": -1.0}, "resolution must be an improvement, zero or more; got -1.0"),
    "resolution nan": ({"resolution": float("nan")}, "resolution must be"),
    "resolution infinite": ({"resolution": float("inf")}, "resolution must be"),
    "resolution text": ({"resolution": "fine"}, "resolution must be"),
    "resolution flag": ({"resolution": True}, "resolution must be"),
}


@pytest.mark.parametrize("name", WRONG_SETTINGS)
def test_a_wrong_setting_is_refused_and_leaves_no_journal(name: str, tmp_path: Path) -> None:
    settings, text = WRONG_SETTINGS[name]
    with pytest.raises(InvalidInput, match=text):
        Optimizer(**{"space": SPACES["cube"], "journal": tmp_path / "study.jsonl", **settings})
    assert list(tmp_path.iterdir()) == []


def test_numpy_scalars_and_flags_are_as_good_as_pythons_own(tmp_path: Path) -> None:
    plain = started(SPACES["mixed"], seed=3)
    typed = started(
        SPACES["mixed"],
        n_init=np.int64(4),  # type: ignore[arg-type]
        seed=np.int64(3),
        maximize=np.bool_(False),
        journal=tmp_path / "study.jsonl",
    )
    fixed = {"depth": np.int64(2)}
    ours = plain.ask(np.int64(2), fixed=fixed, distinct=np.bool_(True))  # type: ignore[arg-type]
    theirs = typed.ask(np.int64(2), fixed=fixed, distinct=np.bool_(True))  # type: ignore[arg-type]
    assert ours.params == theirs.params
    plain.save(tmp_path / "copy.jsonl")
    typed.close()
