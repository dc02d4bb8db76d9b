"""Candidates that are kept through a batch: however a batch is asked for, it is the same, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer import Optimizer, Space
from believer.batch import picking
from believer.study.models import ModelCache

STUDIES: dict[str, dict[str, Any]] = {
    "hedged": {},
    "kb": {"strategy": "kb"},
    "hopeful": {"strategy": "kb_lower"},
    "noisy": {"surrogate": bv.GP(noise=0.1)},
    "within limits": {"outcomes": {"a": bv.Minimize(), "b": bv.AtMost(1.0)}},
    "two objectives": {"outcomes": {"a": bv.Minimize(), "b": bv.Minimize()}},
}


def started(name: str) -> Optimizer:
    optimizer = Optimizer(Space.cube(2), n_init=8, seed=3, **STUDIES[name])
    for trial in optimizer.ask(8):
        a, b = float(((trial.encoded - 0.3) ** 2).sum()), float(trial.encoded.sum())
        optimizer.tell(trial, {"a": a, "b": b} if "outcomes" in STUDIES[name] else a)
    return optimizer


@pytest.mark.both_backends
@each("name", STUDIES)
def test_a_batch_is_the_same_however_it_is_asked_for_and_whatever_is_remembered(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More points than bring further candidates; and a cache that is lost after every other point."""
    monkeypatch.setattr(picking, "POOLED_FROM", 1)
    together, apart = started(name), started(name)
    whole, parts = together.ask(7), list[Any]()
    for turn in range(7):
        if turn % 2:
            apart._cache = ModelCache(apart.settings)
        parts += apart.ask(1)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one.encoded, other.encoded)
        assert one.provenance == other.provenance
