"""Optuna's studies and ours: whoever has written one, it is learned from, brought here and taken back."""

from __future__ import annotations

import copy
import json
import logging
import math
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import believer as bv
from believer.errors import InvalidInput

optuna = pytest.importorskip("optuna")

from believer.integrations.optuna import (  # noqa: E402
    KEY,
    BelieverSampler,
    export_study,
    import_study,
    watch_study,
)


def cost(trial: Any) -> float:
    x, n = trial.suggest_float("x", 1e-3, 1.0, log=True), trial.suggest_int("n", 1, 9, step=2)
    act = trial.suggest_categorical("act", ["relu", None, 3])
    if n == 9:
        raise ValueError("too many")
    return float((math.log10(x) + 1.5) ** 2 + n + (act is None))


def front(trial: Any) -> tuple[float, float]:
    x = trial.suggest_float("x", 0.0, 1.0)
    trial.set_constraint("x", 0.1 - x)
    return x, 1.0 - x**2


@pytest.fixture
def foreign() -> Any:
    """Written by another sampler."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(cost, n_trials=20, catch=ValueError)
    return study


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in nested dicts and lists."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*at, key))


def damaged(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    whole = inner = copy.deepcopy(value)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = by
    return whole


@pytest.mark.parametrize("objective", [cost, front])
def test_damaged_attributes_in_a_storage_stop_no_worker(objective: Any, caplog: pytest.LogCaptureFixture) -> None:
    directions = ["minimize"] * (1 if objective is cost else 2)
    source = optuna.create_study(directions=directions, sampler=BelieverSampler(seed=0, n_startup_trials=3))
    source.optimize(objective, n_trials=6, catch=ValueError)
    noted = source.trials[-1].system_attrs[KEY]
    assert "fit" in noted
    for path in paths(noted):
        replaced: list[Any] = [None, -1, math.nan, "zz", [1], {"a": {}}]
        for by in replaced:
            study = optuna.create_study(directions=directions, sampler=BelieverSampler(seed=1, n_startup_trials=3))
            for trial in source.trials:
                if trial.number == 5:
                    trial.system_attrs[KEY] = damaged(noted, path, by)
                study.add_trial(trial)
            with caplog.at_level(logging.WARNING, "believer"):
                caplog.clear()
                study.optimize(objective, n_trials=2, catch=ValueError)
            assert [text for text in caplog.messages if "damaged" in text][1:] == []
            assert len(study.trials) == 8


def test_what_another_sampler_has_written_is_learned_from(foreign: Any) -> None:
    foreign.sampler = BelieverSampler(seed=0)
    before = foreign.best_value
    foreign.optimize(cost, n_trials=8, catch=ValueError)
    taken = foreign.trials[20:]
    assert all("fit" in trial.system_attrs[KEY] for trial in taken)  # none was drawn at random
    assert min(trial.value for trial in taken if trial.value is not None) <= before
    assert sum(trial.value is None for trial in taken) <= 2  # where it fails was learned, too


def test_a_study_comes_here_and_goes_back(foreign: Any, tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    ours = import_study(foreign, path)
    assert ours.best is not None
    assert ours.best[1] == foreign.best_value
    assert ours.best[0] == foreign.best_params
    assert ours.counts.failed == sum(trial.value is None for trial in foreign.trials)
    ours.close()
    back = export_study(path)
    assert [t.value for t in back.trials] == [t.value for t in foreign.trials]
    assert [t.params for t in back.trials] == [t.params for t in foreign.trials]
    assert [t.distributions for t in back.trials] == [t.distributions for t in foreign.trials]
    assert [t.state for t in back.trials] == [t.state for t in foreign.trials]
    with bv.Optimizer.load(path) as again:  # and it goes on
        assert len(again.ask(2)) == 2


def test_several_objectives_and_constraints_come_and_go_too() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=BelieverSampler(seed=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(["weight", "strength"])
    study.optimize(front, n_trials=6)
    ours = import_study(study)
    assert [*ours.goals.wanted] == ["weight", "strength", "constraint x"]
    assert ours.goals.wanted["strength"] == bv.Maximize()
    back = export_study(ours)
    assert back.directions == study.directions
    assert [t.values for t in back.trials] == [t.values for t in study.trials]
    assert [list(t.constraints.values()) for t in back.trials] == [list(t.constraints.values()) for t in study.trials]
    assert back.metric_names == study.metric_names


def test_a_study_without_anything_to_learn_from_is_refused() -> None:
    with pytest.raises(InvalidInput, match="finished trial"):
        import_study(optuna.create_study())
    with pytest.raises(InvalidInput, match="storage"):
        watch_study("sqlite:///no/such/folder/study.db")


def test_the_page_of_a_storage_follows_its_studies(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(storage=url, study_name="first")
    study.optimize(cost, n_trials=4, catch=ValueError)

    def answered(page: Any, path: str) -> Any:
        with urllib.request.urlopen(page.url + path) as answer:
            return json.load(answer)

    with watch_study(url, port=0) as page:
        (first,) = answered(page, "list.json")["studies"]
        before = answered(page, first["href"] + "state.json")
        study.optimize(cost, n_trials=1, catch=ValueError)
        assert answered(page, first["href"] + "state.json") != before
        optuna.create_study(storage=url, study_name="second")  # has no result yet
        names = {one["name"]: one["text"] for one in answered(page, "list.json")["studies"]}
        assert names.keys() == {"first", "second"}
        assert "cannot be read" in names["second"][0]
