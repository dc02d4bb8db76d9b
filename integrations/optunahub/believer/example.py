"""Four processes work on one study, and none evaluates what another does."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from typing import Any

import optuna
import optunahub


def objective(trial: Any) -> float:
    """A bowl that takes its time."""
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    time.sleep(0.05)
    return float((x - 1) ** 2 + 0.5 * (y - 4) ** 2)


def work(storage: str, n_trials: int) -> None:
    """A worker; start as many as you like, on as many machines."""
    sampler = optunahub.load_module(package="samplers/believer").BelieverSampler(seed=1)
    study = optuna.load_study(study_name="bowl", storage=storage, sampler=sampler)
    study.optimize(objective, n_trials=n_trials)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/study.db"
        study = optuna.create_study(study_name="bowl", storage=storage)
        workers = [multiprocessing.Process(target=work, args=(storage, 8)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(study.best_params, study.best_value)
