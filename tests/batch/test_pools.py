"""Candidates that are kept through a batch: however a batch is asked for, it is the same, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer import Optimizer, Space, Trial
from believer.batch import picking
from believer.batch.belief import Belief
from believer.batch.request import Request
from believer.study.models import ModelCache

STUDIES: dict[str, dict[str, Any]] = {
    "hedged": {},
    "kb": {"strategy": "kb"},
    "hopeful": {"strategy": "kb_lower"},
    "noisy": {"surrogate": bv.GP(noise=0.1)},
    "within limits": {"outcomes": {"a": bv.Minimize(), "b": bv.AtMost(1.0)}},
    "two objectives": {"outcomes": {"a": bv.Minimize(), "b": bv.Minimize()}},
}


def result(name: str, trial: Trial) -> Any:
    a, b = float(((trial.encoded - 0.3) ** 2).sum()), float(trial.encoded.sum())
    return {"a": a, "b": b} if "outcomes" in STUDIES[name] else a


def started(name: str) -> Optimizer:
    optimizer = Optimizer(Space.cube(2), n_init=8, seed=3, **STUDIES[name])
    for trial in optimizer.ask(8):
        optimizer.tell(trial, result(name, trial))
    return optimizer


@pytest.mark.both_backends
@each("name", STUDIES)
def test_a_batch_is_the_same_however_it_is_asked_for_and_whatever_is_remembered(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More points than bring further candidates, again after new results; and a cache that is lost every other time."""
    monkeypatch.setattr(picking, "POOLED_FROM", 1)
    together, apart = started(name), started(name)
    for size in (7, 3):
        whole, parts = together.ask(size), list[Any]()
        for turn in range(size):
            if turn % 2:
                apart._cache = ModelCache(apart.settings)
            parts += apart.ask(1)
        for one, other in zip(whole, parts, strict=True):
            np.testing.assert_array_equal(one.encoded, other.encoded)
            assert one.provenance == other.provenance
            if one.id % 3:
                together.tell(one, result(name, one))
                apart.tell(other, result(name, other))


@each("name", STUDIES)
def test_a_point_after_another_result_is_chosen_among_its_own_candidates(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs no more with the candidates that a batch would share: none are made for it."""
    asked = list[bool]()
    original = Belief.with_candidates

    def watched(belief: Belief, request: Request) -> Belief:
        kept = original(belief, request)
        asked.append(kept.keeps_candidates)
        return kept

    monkeypatch.setattr(Belief, "with_candidates", watched)
    monkeypatch.setattr(picking, "POOLED_FROM", 1)
    optimizer = started(name)
    (first,) = optimizer.ask(1)
    assert any(asked)
    optimizer.tell(first, result(name, first))
    asked.clear()
    optimizer.ask(1)
    assert not any(asked)
    optimizer.ask(1)
    assert any(asked)


def test_what_is_remembered_goes_before_other_results_are_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of a large batch are larger than the model, and of no use under another one."""
    monkeypatch.setattr(picking, "POOLED_FROM", 1)
    optimizer = started("hedged")
    batch = optimizer.ask(4)
    cache, settings = optimizer._cache, optimizer.settings
    cache.learned(optimizer._ledger.history(settings))
    assert isinstance(cache.memory, Belief)
    optimizer.tell(batch[0], result("hedged", batch[0]))
    cache.learned(optimizer._ledger.history(settings))
    assert cache.memory is None
