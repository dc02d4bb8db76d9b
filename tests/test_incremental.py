"""Between two fits results are added to a model in closed form; who loads the journal adds them in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from believer import Optimizer, Space
from believer.errors import InvalidInput
from believer.replay import replay
from believer.study import models
from believer.study.models import ADDED, added_of


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits are kept from a few results on, and for longer."""
    monkeypatch.setattr(models, "KEPT_FROM", 12)
    monkeypatch.setattr(models, "GROWN", 0.5)
    monkeypatch.setattr(models, "SURPRISING", 1e9)


def bowl(unit: Any, rough: float = 0.0) -> float:
    return float(((unit - 0.3) ** 2).sum() + 0.1 * np.sin(9.0 * unit).sum() + rough)


def begun(path: Path | None = None) -> Optimizer:
    optimizer = Optimizer(Space.cube(2), n_init=14, seed=0, journal=path)
    for trial in optimizer.ask(14):
        optimizer.tell(trial, bowl(trial.encoded))
    return optimizer


def added(optimizer: Optimizer) -> list[int]:
    hyper: Any = optimizer.hyperparameters
    return list(hyper.get(ADDED, []))


def out_of_order(optimizer: Optimizer, path: Path | None) -> tuple[list[Any], list[list[int]]]:
    """An asynchronous study whose last results come first; with a ``path`` it is killed between any two asks."""
    seen, order = list[Any](), list[list[int]]()
    for turn in range(9):
        if path is not None:
            optimizer.close()
            optimizer = Optimizer.load(path)
        batch = optimizer.ask(2 if turn % 2 == 0 else 1)
        seen += [(trial.id, trial.encoded.tobytes(), trial.provenance) for trial in batch]
        order.append(added(optimizer))
        out = optimizer.pending
        for trial in out[:1] if turn % 3 == 2 else out[-1:]:
            if trial.id % 7 == 5:
                optimizer.tell(trial, error="lost")
            else:
                optimizer.tell(trial, bowl(trial.encoded))
    optimizer.close()
    return seen, order


@pytest.mark.both_backends
def test_a_study_that_is_killed_between_any_two_asks_goes_on_to_the_bit(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    once, order = out_of_order(begun(whole), None)
    again, same = out_of_order(begun(killed), killed)
    assert again == once
    assert same == order
    assert any(ids != sorted(ids) for ids in order), "the test is of results that came late"
    assert replay(killed).identical
    assert replay(whole).identical


def test_hyperparameters_stay_until_a_fit_is_due() -> None:
    optimizer, kept = begun(), list[int]()
    optimizer.ask(1)
    for _ in range(10):
        optimizer.tell_many(optimizer.pending, [bowl(trial.encoded) for trial in optimizer.pending])
        why = optimizer.ask(1)[0].provenance
        kept.append(len(added(optimizer)))
        said = f"hyperparameters of the last fit, {kept[-1]} results ago"
        assert (said in why) == (kept[-1] > 0)
    assert kept == [1, 2, 3, 4, 5, 6, 7, 0, 1, 2]


def test_results_that_surprise_the_model_bring_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "SURPRISING", 1.0 / 15.0)
    for rough, expected in ((0.0, 1), (5.0, 0)):
        optimizer = begun()
        trial = optimizer.ask(1)[0]
        at: Any = optimizer._cache.learned(optimizer._ledger.history(optimizer.settings)).predict(
            trial.encoded[None, :]
        )
        optimizer.tell(trial, float(at.mean[0]) + rough)
        optimizer.ask(1)
        assert len(added(optimizer)) == expected


def test_few_results_and_known_noise_are_fitted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    for noise, least, expected in ((None, 12, 1), (0.1, 12, 0), (None, 250, 0)):
        monkeypatch.setattr(models, "KEPT_FROM", least)
        optimizer = begun()
        trial = optimizer.ask(1)[0]
        optimizer.tell(trial, bowl(trial.encoded), noise=noise)
        optimizer.ask(1)
        assert len(added(optimizer)) == expected


def test_the_model_is_that_of_all_results_in_the_order_in_which_it_learned_them() -> None:
    optimizer = begun()
    for trial in optimizer.ask(4)[::-1]:
        optimizer.tell(trial, bowl(trial.encoded))
        optimizer.ask(1)
    assert added(optimizer) == [17, 16, 15, 14]
    learned = optimizer._cache.learned(optimizer._ledger.history(optimizer.settings))
    model: Any = learned.fit
    known = {trial.id: trial.encoded for trial in optimizer.trials}
    np.testing.assert_array_equal(learned.data.X, np.array([known[i] for i in learned.ids]))
    np.testing.assert_array_equal(model.X, learned.data.X)
    np.testing.assert_allclose(model.shift + model.scale * model.y, learned.data.y)
    assert sorted(learned.ids) == list(range(18))


def test_what_was_added_must_be_a_list_of_ids() -> None:
    wrong: list[Any] = ["3", [1, 1], [-1], [1.5], {"1": 2}, [None]]
    for ids in wrong:
        with pytest.raises(InvalidInput):
            added_of({ADDED: ids})
