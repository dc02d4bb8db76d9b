from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.batch import Believe, PseudoObservations, TrustRegion
from believer.batch.trust_box import FIRST, SMALLEST
from believer.errors import InvalidInput, MissingCapability
from believer.propose import request_of
from believer.study.settings import StudySettings
from believer.surrogates import GP, GPModel
from believer.surrogates.data import Data
from believer.surrogates.protocols import Model

SPACES = {
    "floats": bv.Space({"x": bv.Float(0.0, 1.0), "y": bv.Float(-2.0, 3.0)}),
    "mixed": bv.Space({"x": bv.Float(0.0, 1.0), "k": bv.Int(1, 400), "c": bv.Categorical(["a", "b"])}),
    "finite": bv.Space({"a": bv.Int(0, 150), "b": bv.Int(0, 3)}),
}


def value(params: dict[str, Any]) -> float:
    numbers = [float(v) if not isinstance(v, str) else float(v == "a") for v in params.values()]
    return sum((v - 0.3) ** 2 for v in numbers)


def rising(params: dict[str, Any]) -> float:
    """Nothing is better than the first result, so that every batch fails."""
    return 1.0 + value(params)


@dataclass(frozen=True)
class Counting:
    """A Gaussian process that writes down how many results it was given."""

    seen: list[int] = field(default_factory=list)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        self.seen.append(len(data))
        return GP().fit(data, rng, previous)


def study(space: str = "floats", n: int = 12, seed: int = 0, **options: Any) -> bv.Optimizer:
    options.setdefault("strategy", "trust_region")
    opt = bv.Optimizer(SPACES[space], n_init=n, seed=seed, **options)
    for trial in opt.ask(n):
        opt.tell(trial, value(trial.params))
    return opt


@each("space", SPACES)
def test_points_lie_in_the_box_about_the_best_result(space: str) -> None:
    opt = study(space)
    best = min(opt.trials, key=lambda trial: value(trial.params))
    batch = opt.ask(4)
    cut = SPACES[space].region().metric
    sides = np.abs(batch.encoded - best.encoded)[:, cut]
    # Sides are the same in the geometric mean, and each within eight times of it.
    assert (sides <= 0.5 * 8.0 * FIRST).all()
    for trial in batch:
        assert f"about trial {best.id}" in trial.provenance
        assert "by a model of" in trial.provenance


def test_the_model_learns_no_more_results_than_it_may_and_provenance_says_so() -> None:
    counting = Counting()
    opt = study(n=60, strategy=TrustRegion(results=20), surrogate=counting)
    batch = opt.ask(3)
    assert max(counting.seen, default=0) == 20
    assert all("the 20 nearest of 60 results" in trial.provenance for trial in batch)


def test_a_fit_is_made_once_for_points_asked_for_one_by_one() -> None:
    counting = Counting()
    opt = study(surrogate=counting)
    opt.ask(1)
    fits = len(counting.seen)
    for _ in range(4):
        opt.ask(1)
    assert len(counting.seen) == fits
    opt.tell(opt.pending[0], 0.5)
    opt.ask(1)
    assert len(counting.seen) > fits


def shrunk(q: int, rounds: int, seed: int = 0, journal: Any = None) -> bv.Optimizer:
    """A study whose batches never find anything better."""
    opt = bv.Optimizer(SPACES["floats"], n_init=6, seed=seed, strategy="trust_region", journal=journal)
    for trial in opt.ask(6):
        opt.tell(trial, value(trial.params))
    for _ in range(rounds):
        for trial in opt.ask(q):
            opt.tell(trial, 50.0 + rising(trial.params))
    return opt


def test_batches_that_find_nothing_shrink_the_box_and_a_tiny_one_is_followed_by_another() -> None:
    halvings = int(np.log2(FIRST / SMALLEST))
    opt = shrunk(4, halvings)
    assert f"{FIRST * 0.5**halvings:.3g} wide" in opt.ask(1)[0].provenance
    opt = shrunk(4, halvings + 1)
    batch = opt.ask(6)  # four points of a design, in two dimensions, then what is chosen knowing of them
    assert sum("from which box number 2 begins" in trial.provenance for trial in batch) == 4
    for trial in batch:
        opt.tell(trial, 60.0 - trial.id)
    assert f"in a box, number 2, {FIRST} wide about trial {batch[-1].id}" in opt.ask(1)[0].provenance


@each("rounds", [0, 3, 7])
def test_points_asked_for_one_by_one_are_those_asked_for_at_once_also_where_a_box_begins(rounds: int) -> None:
    at_once, one_by_one = shrunk(4, rounds), shrunk(4, rounds)
    batch = at_once.ask(6)
    singles = [one_by_one.ask(1)[0] for _ in range(6)]
    assert [trial.encoded.tobytes() for trial in batch] == [trial.encoded.tobytes() for trial in singles]


def test_a_study_that_was_loaded_goes_on_as_if_it_had_not_been(tmp_path: Any) -> None:
    path = tmp_path / "study.jsonl"
    opt = shrunk(4, 7, journal=path)
    opt.ask(3)
    del opt
    again, same = bv.Optimizer.load(path), shrunk(4, 7)
    same.ask(3)
    assert again.ask(3).encoded.tobytes() == same.ask(3).encoded.tobytes()


def test_failed_evaluations_are_told_to_the_model_as_the_worst_result() -> None:
    opt = study()
    failed = opt.ask(3)
    for trial in failed:
        opt.tell(trial, error="broke")
    batch = opt.ask(3)
    gaps = np.abs(batch.encoded[:, None, :] - failed.encoded).max(axis=2)
    assert gaps.min() > 1e-3


@each("failures", ["worst", "learn"])
def test_it_goes_on_with_failures_of_both_kinds(failures: str) -> None:
    opt = study(failures=failures)
    for _ in range(3):
        for i, trial in enumerate(opt.ask(3)):
            if i:
                opt.tell(trial, value(trial.params))
            else:
                opt.tell(trial, error="broke")
    assert len(opt.ask(2)) == 2


def test_limits_are_kept_and_the_box_is_about_the_best_point_that_keeps_them() -> None:
    opt = bv.Optimizer(
        SPACES["floats"],
        outcomes={"cost": bv.Minimize(), "load": bv.AtMost(0.0)},
        n_init=10,
        seed=0,
        strategy="trust_region",
    )
    for trial in opt.ask(10):
        opt.tell(trial, {"cost": value(trial.params), "load": 0.5 - trial.params["x"]})
    for _ in range(5):
        for trial in opt.ask(4):
            opt.tell(trial, {"cost": value(trial.params), "load": 0.5 - trial.params["x"]})
    assert opt.best is not None
    assert 0.5 <= opt.best[0]["x"] < 0.56


def test_several_objectives_are_refused_at_once() -> None:
    with pytest.raises(MissingCapability, match="trust_region"):
        bv.Optimizer(
            SPACES["floats"], outcomes={"a": bv.Minimize(), "b": bv.Minimize()}, strategy="trust_region", seed=0
        )


def test_a_finite_box_that_is_used_up_gives_way_to_the_whole_region() -> None:
    space = bv.Space({"a": bv.Int(0, 199)})
    opt = bv.Optimizer(space, n_init=3, seed=0, strategy="trust_region")
    seen = set()
    for _ in range(50):
        for trial in opt.ask(4):
            seen.add(trial.params["a"])
            opt.tell(trial, float(abs(trial.params["a"] - 20)))
    assert len(seen) == 200


def test_a_box_that_is_used_up_in_the_middle_of_a_batch_changes_nothing_for_points_asked_for_one_by_one() -> None:
    for known in (110, 125, 140):
        studies = []
        for _ in range(2):
            opt = bv.Optimizer(bv.Space({"a": bv.Int(0, 199)}), n_init=3, seed=0, strategy="trust_region")
            for a in range(20, 20 + known):
                opt.observe({"a": a}, float(abs(a - 100)))
            studies.append(opt)
        batch, singles = studies[0].ask(50), [studies[1].ask(1)[0] for _ in range(50)]
        assert [trial.params for trial in batch] == [trial.params for trial in singles]


def test_a_batch_knows_of_points_under_way_wherever_they_are() -> None:
    opt = study()
    first, second = opt.ask(3), opt.ask(3)
    gaps = np.abs(first.encoded[:, None, :] - second.encoded).max(axis=2)
    assert gaps.min() > 1e-4


@each("settings", [{"results": 1}, {"results": 2.5}, {"results": "all"}])
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        TrustRegion(**settings)


def test_its_settings_are_written_to_the_journal(tmp_path: Any) -> None:
    path = tmp_path / "study.jsonl"
    strategy = TrustRegion(results=40, within=PseudoObservations(Believe(1.0)))
    opt = study(strategy=strategy, journal=path)
    unit = opt.ask(2).encoded
    del opt
    assert bv.Optimizer.load(path).settings.strategy == strategy
    np.testing.assert_array_equal(unit, np.array([t.encoded for t in bv.Optimizer.load(path).pending]))


def test_a_request_says_of_each_trial_how_many_had_been_answered_when_it_was_chosen() -> None:
    opt = study()
    first = opt.ask(2)
    opt.tell(first[1], 1.0)
    opt.ask(1)
    settings = StudySettings.of(SPACES["floats"], n_init=12, seed=0)
    found = request_of(settings, opt.history(settings))
    assert found.answered_then == {12: 12, 13: 12, 14: 13}
