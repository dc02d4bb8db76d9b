"""Optuna with believer as its sampler: your study, storage, pruner and dashboard stay as they are."""

import sys

import optuna

import believer as bv
from believer.integrations.optuna import BelieverSampler, import_study

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    depth = trial.suggest_int("depth", 1, 12)
    act = trial.suggest_categorical("act", ["relu", "tanh"])
    return (lr / 3e-3 - 1) ** 2 / 10 + 0.01 * (depth - 5) ** 2 + 0.3 * (act == "relu")


def main(trials=30):
    storage = "sqlite:///optuna.db"
    study = optuna.create_study(
        study_name="first", storage=storage, load_if_exists=True, sampler=BelieverSampler(seed=1)
    )
    study.optimize(objective, n_trials=trials, n_jobs=4)  # trials that run together are good together
    print(f"best {study.best_value:.4f} with {study.best_params}")

    ours = import_study(study)  # for what believer says of it
    print("recommended:", ours.recommend())
    print("four more:", ours.ask(4).verdict)
    bv.plot.importance(ours).figure.savefig("optuna_importance.png")
    print("Which parameters matter is in optuna_importance.png.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
