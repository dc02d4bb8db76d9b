"""A worker of an Optuna study, for a process of its own."""

from __future__ import annotations

import os
import time
from typing import Any

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from believer.integrations.optuna import BelieverSampler

MIXED = {
    "x": FloatDistribution(0.0, 1.0),
    "y": FloatDistribution(1e-3, 1.0, log=True),
    "n": IntDistribution(1, 9),
}
FEW = {"i": IntDistribution(0, 14), "c": CategoricalDistribution(["a", "b", "c", "d"])}
"""60 points: workers often want the same."""


def storage_at(url: str) -> Any:
    """With patience where one writes at a time."""
    arguments = {"connect_args": {"timeout": 300}} if url.startswith("sqlite") else {}
    return optuna.storages.RDBStorage(url, engine_kwargs=arguments, skip_compatibility_check=True)


def value(params: dict[str, Any]) -> float:
    return float(sum(v / 9 if isinstance(v, float | int) else ord(v) / 99 for v in params.values()))


def work(url: str, space: dict[str, Any], trials: int, start: Any, dying: Any = None) -> None:
    """Run so many trials once all have come to the ``start``; where it may die, it has one more, and says so."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = BelieverSampler(seed=3, n_startup_trials=4, search_space=space)
    study = optuna.load_study(study_name="shared", storage=storage_at(url), sampler=sampler)
    start.wait()
    for _ in range(trials):
        trial = study.ask(space)
        time.sleep(0.001 * (os.getpid() % 7))
        study.tell(trial, value(trial.params))
    if dying is not None:
        study.ask(space)
        dying.set()
        time.sleep(3600)
