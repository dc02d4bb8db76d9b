"""Surrogates, strategies and maximizers, the user's own among them, in a study."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from optimizer_studies import (
    SPACES,
    Plain,
    SpyAcquisition,
    SpySurrogate,
    any_space,
    assert_distinct,
    assert_lawful,
    started,
    tell_all,
)

from believer import (
    GP,
    MQRBF,
    UCB,
    Believe,
    Candidates,
    Categorical,
    ConstantLie,
    Fantasy,
    Float,
    NeuralEnsemble,
    Optimizer,
    PseudoObservations,
    RandomBatch,
    RandomForest,
    Space,
)
from believer.batch import Chosen
from believer.batch.request import Choice
from believer.errors import InvalidInput, MissingCapability, MissingExtra
from believer.maximize import FixedStarts

# Members


@any_space
def test_a_surrogate_that_only_predicts_is_refitted_to_the_lies(space: Space) -> None:
    optimizer = started(space, surrogate=Plain())
    tell_all(optimizer, optimizer.ask(3))
    optimizer.tell(optimizer.ask(1)[0], error="failed")
    batch = optimizer.ask(2)
    assert {trial.origin for trial in batch} == {"model"}
    assert optimizer.hyperparameters is None
    assert_lawful(space, optimizer.trials)
    assert_distinct(optimizer.trials)


def test_what_a_surrogate_cannot_do_is_named_and_nothing_is_recorded() -> None:
    optimizer = started(SPACES["cube"], surrogate=Plain())
    before = optimizer.records()
    with pytest.raises(MissingCapability, match=r'PlainModel cannot be conditioned; use update="refit"'):
        optimizer.ask(2, strategy=PseudoObservations(update="condition"))
    assert optimizer.records() == before


@pytest.mark.parametrize(
    "strategy",
    [
        PseudoObservations(Believe(2.0), "refit"),
        PseudoObservations(ConstantLie(0.5), "none", "data"),
        PseudoObservations(Fantasy(), incumbent="data"),
        RandomBatch(),
    ],
    ids=repr,
)
def test_a_strategy_may_be_a_value_for_the_study_or_for_one_ask(strategy: Any) -> None:
    optimizer = started(SPACES["mixed"])
    own = started(SPACES["mixed"], strategy=strategy)
    assert optimizer.ask(2, strategy=strategy).params == own.ask(2).params
    assert_distinct(optimizer.trials)


def test_a_noisy_surrogate_and_another_maximizer_work() -> None:
    for options in ({"surrogate": GP("se", noise="infer")}, {"surrogate": GP("matern32"), "maximizer": Candidates()}):
        optimizer = started(SPACES["mixed"], **options)
        tell_all(optimizer, optimizer.ask(2))
        optimizer.ask(2)
        assert_distinct(optimizer.trials)


def test_a_maximizer_that_repeats_itself_still_gives_distinct_points_and_provenance_says_so() -> None:
    optimizer = Optimizer(SPACES["line"], n_init=1, maximizer=FixedStarts(), acquisition=UCB(0.0), seed=0)
    for x, y in ((-3.0, 1.0), (-1.0, -1.0), (2.0, 1.0), (7.0, 1.0)):
        optimizer.observe({"x": x}, y)
    stubborn = PseudoObservations(update="none")
    first, second = optimizer.ask(2, strategy=stubborn)
    assert first.provenance == "chosen at UCB rank 1"
    assert "replaced by a uniform draw, because it was not allowed or not new" in second.provenance
    assert_distinct(optimizer.trials)
    again = optimizer.ask(2, strategy=stubborn, distinct=False)
    assert {tuple(trial.encoded) for trial in again} == {tuple(first.encoded)}
    assert "replaced" not in str(again)


def test_hyperparameters_are_those_of_the_last_ask() -> None:
    optimizer = Optimizer(SPACES["cube"], n_init=3, seed=0)
    tell_all(optimizer, optimizer.ask(3))
    assert optimizer.hyperparameters is None
    optimizer.ask(1)
    found = optimizer.hyperparameters
    assert found is not None
    assert found["kernel"] == "matern52"
    assert len(found["lengthscales"]) == 2
    found.clear()
    assert optimizer.hyperparameters


@pytest.mark.both_backends
@pytest.mark.parametrize("surrogate", ["gp", "sparse_gp"])
def test_the_columns_of_a_category_have_one_lengthscale(surrogate: str, tmp_path: Path) -> None:
    space = Space({"a": Categorical(list("abc")), "x": Float(0, 1), "b": Categorical(list("defg"))})
    path = tmp_path / "study.jsonl"
    with Optimizer(space, surrogate=surrogate, n_init=6, seed=1, journal=path) as optimizer:
        for _ in range(4):
            for trial in optimizer.ask(3):
                at = trial.params
                optimizer.tell(trial, {"a": 0.0, "b": 2.0, "c": 1.0}[at["a"]] + (at["x"] - 0.3) ** 2 * (at["b"] < "f"))
        optimizer.ask(1)
        found = optimizer.hyperparameters
        assert found is not None
        lengths = found["lengthscales"]
        assert [len(set(part)) for part in (lengths[:3], lengths[3:4], lengths[4:])] == [1, 1, 1]
        assert len(set(lengths)) == 3
        there = optimizer.predict([{"a": "a", "x": 0.2, "b": "g"}])
    with Optimizer.load(path) as again:
        assert again.hyperparameters == found
        here = again.predict([{"a": "a", "x": 0.2, "b": "g"}])
    assert (here.mean.tolist(), here.std.tolist()) == (there.mean.tolist(), there.std.tolist())


# What a strategy of the user's own may answer


@dataclass(frozen=True)
class Answers:
    """A strategy that answers what it is told to, whatever was asked."""

    answer: Any

    def choose(self, request: Any, memory: object = None) -> Any:
        return self.answer


def chosen(*points: Any, why: Any = "because") -> Chosen:
    return Chosen(tuple(Choice(np.asarray(x), why) for x in points))


@each(
    ("answer", "rule"),
    [
        (chosen([0.5, 0.5]), "2 points were asked for, and it chose 1"),
        (chosen(), "2 points were asked for, and it chose 0"),
        (chosen([0.1, 0.1], [0.2, 0.2], [0.3, 0.3]), "and it chose 3"),
        (chosen([0.1, 0.1], [0.2, 1.2]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2, np.nan]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2]), r"2 numbers in \[0, 1\]"),
        (chosen([0.1, 0.1], [0.2, 0.2], why=None), "provenance must be a text"),
        ([1, 2], "it returned list"),
        (Chosen(([0.1, 0.1],)), "it returned Chosen"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_breaks_the_contract_is_refused_and_nothing_is_handed_out(answer: Any, rule: str) -> None:
    optimizer = Optimizer(Space.cube(2), strategy=Answers(answer), n_init=2, seed=0)
    for x in (0.25, 0.75):
        optimizer.observe({"x0": x, "x1": x}, x)
    with pytest.raises(InvalidInput, match=f"the strategy Answers breaks the contract: .*{rule}"):
        optimizer.ask(2)
    assert len(optimizer.trials) == 2
    assert len(optimizer.ask(2, strategy="kb")) == 2


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("qei", {"acquisition": UCB()}),
        ("qei", {"surrogate": MQRBF()}),
        ("lp", {"surrogate": MQRBF()}),
        ("gp_bucb", {"surrogate": NeuralEnsemble(members=2, hidden=(4,), max_iterations=5)}),
        ("thompson", {"surrogate": NeuralEnsemble(members=2, hidden=(4,), max_iterations=5)}),
    ],
)
def test_a_strategy_that_cannot_work_is_refused_before_anything_is_evaluated(strategy: str, options: Any) -> None:
    with pytest.raises(MissingCapability, match=strategy):
        Optimizer(Space.cube(2), strategy=strategy, seed=0, **options)
    study = Optimizer(Space.cube(2), seed=0, **options)
    assert len(study.ask(2)) == 2


def test_a_custom_surrogate_is_not_fitted_before_it_has_results() -> None:
    spy = SpySurrogate()
    Optimizer(Space.cube(2), strategy="lp", surrogate=spy, seed=0)
    assert not spy.fits


@pytest.mark.parametrize("strategy", ["lp", "qei", "dpp"])
def test_a_custom_acquisition_is_not_called_before_there_are_results(strategy: str) -> None:
    spy = SpyAcquisition()
    Optimizer(Space.cube(2), strategy=strategy, acquisition=spy, seed=0)
    assert not spy.incumbents


@pytest.mark.parametrize("strategy", ["thompson", "top_q"])
def test_a_package_that_is_missing_is_named_before_anything_is_evaluated(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*believer\[surrogates\]"):
        Optimizer(Space.cube(2), strategy=strategy, surrogate=RandomForest(), seed=0)
