"""Conditional parameters: choosing among a support vector machine, a forest and boosting on scikit-learn's digits.

    python benchmarks/conditional.py --seeds 20 --smac .venv-smac/bin/python

The space is nested two deep: the model has parameters of its own, and the kernel of the support vector machine has
further ones. A value is the share of errors among 1,197 digits after training on 600 others, the same for everyone; 60
evaluations in batches of four, all ways at their own defaults. One process has all values, and a file, so that a run
can be taken up again. Ways to search:

- believer: ``when=``, all else at its default;
- door: ``BelieverSampler`` in an Optuna study with branches, asked and told by fours;
- flat: the same optimizer without conditions, every parameter in every point;
- random: uniform points of the conditional space;
- TPE: Optuna's default sampler; TPE in groups: with ``multivariate=True, group=True, constant_liar=True``;
- SMAC: its facade for hyperparameters, by ask and tell, in the environment of the Python that ``--smac`` names
  (``pip install smac==2.4.0 "scikit-learn<1.7"``), which asks this process for values.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Params = dict[str, Any]
Function = Callable[[Params], float]

SVM, FOREST, BOOSTING = "svm", "forest", "boosting"
BUDGET, Q = 60, 4

FLOATS = {
    "C": (1e-3, 1e3, True, {"model": [SVM]}),
    "gamma": (1e-5, 1.0, True, {"kernel": ["rbf", "poly"]}),
    "features": (0.05, 1.0, False, {"model": [FOREST]}),
    "rate": (0.01, 1.0, True, {"model": [BOOSTING]}),
    "l2": (1e-6, 10.0, True, {"model": [BOOSTING]}),
}
INTS = {
    "degree": (2, 5, False, {"kernel": ["poly"]}),
    "trees": (10, 200, True, {"model": [FOREST]}),
    "depth": (2, 20, False, {"model": [FOREST]}),
    "leaf": (1, 10, False, {"model": [FOREST]}),
    "rounds": (5, 50, True, {"model": [BOOSTING]}),
    "leaves": (4, 64, True, {"model": [BOOSTING]}),
}
CHOICES = {"model": ([SVM, FOREST, BOOSTING], None), "kernel": (["rbf", "poly", "linear"], {"model": [SVM]})}


class Digits:
    """The share of errors of a model, remembered in a file."""

    def __init__(self, path: Path) -> None:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        X, y = load_digits(return_X_y=True)
        self.data = train_test_split(X / 16.0, y, train_size=600, random_state=0, stratify=y)
        self.path, self.known, self.seconds = path, dict[str, float](), 0.0
        if path.exists():
            self.known = dict(map(json.loads, path.read_text().splitlines()))

    def __call__(self, params: Params) -> float:
        """The value at a point with the parameters that count."""
        key = json.dumps(params, sort_keys=True)
        if key not in self.known:
            begun = time.process_time()
            A, B, a, b = self.data
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.known[key] = float(np.mean(model_of(params).fit(A, a).predict(B) != b))
            self.seconds += time.process_time() - begun
            with self.path.open("a") as file:
                file.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def model_of(p: Params) -> Any:
    """The model with these parameters."""
    if p["model"] == SVM:
        from sklearn.svm import SVC

        further = {name: p[name] for name in ("gamma", "degree") if name in p}
        return SVC(C=p["C"], kernel=p["kernel"], **further, max_iter=20_000)
    if p["model"] == FOREST:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(
            p["trees"], max_depth=p["depth"], min_samples_leaf=p["leaf"], max_features=p["features"], random_state=0
        )
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        learning_rate=p["rate"],
        max_iter=p["rounds"],
        max_leaf_nodes=p["leaves"],
        l2_regularization=p["l2"],
        early_stopping=False,
        random_state=0,
    )


def active(params: Params) -> Params:
    """The parameters that count, of a point with all of them."""
    kept = {"model": params["model"]}
    for table in (CHOICES, FLOATS, INTS):
        for name, (*_, when) in table.items():
            if when is not None and all(kept.get(parent) in values for parent, values in when.items()):
                kept[name] = params[name]
    return kept


def our_space(conditional: bool) -> Any:
    """The space, with its conditions or without."""
    import believer as bv

    def of(when: Any) -> Any:
        return when if conditional else None

    parameters: dict[str, Any] = {name: bv.Categorical(v, when=of(when)) for name, (v, when) in CHOICES.items()}
    parameters |= {name: bv.Float(a, b, log=log, when=of(when)) for name, (a, b, log, when) in FLOATS.items()}
    parameters |= {name: bv.Int(a, b, log=log, when=of(when)) for name, (a, b, log, when) in INTS.items()}
    return bv.Space(parameters)


def by_believer(function: Function, seed: int, conditional: bool = True, **options: Any) -> list[float]:
    """The values of a study of this library."""
    import believer as bv

    study, found = bv.Optimizer(our_space(conditional), seed=seed, **options), list[float]()
    while len(found) < BUDGET:
        for trial in study.ask(Q):
            found.append(function(active(trial.params) if not conditional else trial.params))
            study.tell(trial, found[-1])
    return found


def by_optuna(function: Function, sampler: Any) -> list[float]:
    """The values of a study of Optuna's, asked and told by fours."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study, found = optuna.create_study(sampler=sampler), list[float]()
    while len(found) < BUDGET:
        batch = [study.ask() for _ in range(Q)]
        for trial, params in [(trial, suggested(trial)) for trial in batch]:
            found.append(function(params))
            study.tell(trial, found[-1])
    return found


def suggested(trial: Any) -> Params:
    """A point of a trial of Optuna's, branch by branch."""
    params: Params = {"model": trial.suggest_categorical("model", CHOICES["model"][0])}

    def counts(when: Any) -> bool:
        return all(params.get(parent) in values for parent, values in when.items())

    if params["model"] == SVM:
        params["kernel"] = trial.suggest_categorical("kernel", CHOICES["kernel"][0])
    for name, (low, high, log, when) in FLOATS.items():
        if counts(when):
            params[name] = trial.suggest_float(name, low, high, log=log)
    for name, (least, most, log, when) in INTS.items():
        if counts(when):
            params[name] = trial.suggest_int(name, least, most, log=log)
    return params


def by_tpe(function: Function, seed: int, **options: Any) -> list[float]:
    """Optuna's default sampler."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return by_optuna(function, optuna.samplers.TPESampler(seed=seed, **options))


def by_door(function: Function, seed: int) -> list[float]:
    """This library's sampler for Optuna."""
    from believer.integrations.optuna import BelieverSampler

    logging.getLogger("believer").setLevel(logging.ERROR)
    return by_optuna(function, BelieverSampler(seed=seed))


def by_smac(function: Function, seed: int, python: str) -> tuple[list[float], float]:
    """SMAC in a process of its own, and its processor time; the values come from here."""
    command = [python, __file__, "--serve-smac", str(seed)]
    found, seconds = list[float](), 0.0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            asked = json.loads(line)
            if "seconds" in asked:
                seconds = asked["seconds"]
                continue
            values = [function(params) for params in asked["points"]]
            found += values
            process.stdin.write(json.dumps(values) + "\n")
            process.stdin.flush()
    return found[:BUDGET], seconds


def serve_smac(seed: int) -> None:
    """Ask SMAC for points, four at a time, and the other side of the pipe for their values."""
    import tempfile

    from ConfigSpace import Categorical, ConfigurationSpace, Float, InCondition, Integer
    from ConfigSpace.conditions import EqualsCondition
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue

    logging.disable(logging.WARNING)
    there, sys.stdout = sys.stdout, sys.stderr
    space = ConfigurationSpace(seed=seed)
    made = {name: Categorical(name, values) for name, (values, _) in CHOICES.items()}
    made |= {name: Float(name, (a, b), log=log) for name, (a, b, log, _) in FLOATS.items()}
    made |= {name: Integer(name, (a, b), log=log) for name, (a, b, log, _) in INTS.items()}
    space.add(*made.values())
    for table in (CHOICES, FLOATS, INTS):
        for name, (*_, when) in table.items():
            for parent, values in (when or {}).items():
                one = len(values) == 1
                kind, wanted = (EqualsCondition, values[0]) if one else (InCondition, values)
                space.add(kind(made[name], made[parent], wanted))
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=BUDGET, seed=seed, output_directory=Path(folder))
        smac = HyperparameterOptimizationFacade(scenario, lambda config, seed=0: 0.0, overwrite=True, logging_level=40)
        told = 0
        while told < BUDGET:
            trials = [smac.ask() for _ in range(Q)]
            points = [json.loads(json.dumps(dict(t.config), default=lambda v: v.item())) for t in trials]
            print(json.dumps({"points": points}), file=there, flush=True)
            for trial, value in zip(trials, json.loads(sys.stdin.readline()), strict=True):
                smac.tell(trial, TrialValue(cost=value))
                told += 1
        print(json.dumps({"seconds": time.process_time()}), file=there, flush=True)


WAYS: dict[str, Callable[[Function, int], list[float]]] = {
    "believer": by_believer,
    "door": by_door,
    "flat": lambda f, seed: by_believer(f, seed, conditional=False),
    "random": lambda f, seed: by_believer(f, seed, strategy="random", n_init=1),
    "TPE": by_tpe,
    "TPE in groups": lambda f, seed: by_tpe(f, seed, multivariate=True, group=True, constant_liar=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--ways", nargs="+", default=[*WAYS, "SMAC"])
    parser.add_argument("--smac", help="the Python of an environment with SMAC")
    parser.add_argument("--cache", type=Path, default=Path("conditional_digits.jsonl"))
    parser.add_argument("--runs", type=Path, default=Path("conditional_runs.jsonl"))
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--serve-smac", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve_smac is not None:
        serve_smac(given.serve_smac)
        return
    digits, runs = Digits(given.cache), dict[str, Any]()
    if given.runs.exists():
        runs = {f"{run['way']} {run['seed']}": run for run in map(json.loads, given.runs.read_text().splitlines())}
    ways = [way for way in given.ways if way != "SMAC" or given.smac]
    for seed in range(given.first, given.first + given.seeds):
        for way in ways:
            if f"{way} {seed}" in runs:
                continue
            begun, evaluated = time.process_time(), digits.seconds
            if way == "SMAC":
                values, seconds = by_smac(digits, seed, given.smac)
            else:
                values = WAYS[way](digits, seed)
                seconds = time.process_time() - begun - (digits.seconds - evaluated)
            run = {"way": way, "seed": seed, "values": values, "seconds": round(seconds, 3)}
            runs[f"{way} {seed}"] = run
            with given.runs.open("a") as file:
                file.write(json.dumps(run) + "\n")
            print(way, seed, min(values), round(seconds, 2), flush=True)
    text = report([*runs.values()], ways, range(given.first, given.first + given.seeds))
    print(text)
    if given.markdown:
        given.markdown.write_text(text)


def report(runs: list[Any], ways: list[str], seeds: range) -> str:
    """The errors of each way after 20, 40 and 60 evaluations, and how often the first way is better."""
    from believer.experiments import holm, wilcoxon

    found = {
        way: {run["seed"]: np.minimum.accumulate(run["values"]) for run in runs if run["way"] == way} for way in ways
    }
    seconds = {way: np.median([run["seconds"] for run in runs if run["way"] == way]) for way in ways}
    first = ways[0]
    lines = [
        "# Choosing among three models of digits (`python benchmarks/conditional.py`)",
        "",
        f"Errors in percent after 20, 40 and 60 evaluations in batches of {Q}: mean of {len(seeds)} seeds. "
        f"Won, lost: seeds in which {first} ends lower or higher. p: two-sided Wilcoxon signed-rank test of where they "
        "end, corrected by Holm's method. CPU seconds of the search alone, median.",
        "",
        f"| way | 20 | 40 | 60 | worst | {first} won, lost | p | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    own = np.array([found[first][seed][-1] for seed in seeds])
    apart = [own - np.array([found[way][seed][-1] for seed in seeds]) for way in ways[1:]]
    corrected = ["-", *(f"{p:.2g}" for p in holm([wilcoxon(d) if d.any() else 1.0 for d in apart]))]
    for way, p in zip(ways, corrected, strict=True):
        curves = np.array([found[way][seed] for seed in seeds])
        means = " | ".join(f"{100.0 * curves[:, n - 1].mean():.3f}" for n in (20, 40, 60))
        pairs = f"{int((own < curves[:, -1]).sum())}, {int((own > curves[:, -1]).sum())}"
        lines.append(f"| {way} | {means} | {100.0 * curves[:, -1].max():.3f} | {pairs} | {p} | {seconds[way]:.2f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
