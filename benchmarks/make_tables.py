"""Make the tables of the suite: cross-validated errors of small models over whole grids, on scikit-learn's own data.

    python benchmarks/make_tables.py [name ...]

writes ``bench/src/believer_bench/problems/tables/<name>.csv``: a header, then one row for each point of the grid, the
error last.
Folds and models are seeded; another version of scikit-learn may give other errors, so the files are kept, not remade.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR

TO = Path(__file__).parents[1] / "bench" / "src" / "believer_bench" / "problems" / "tables"
SCALERS: dict[str, Any] = {"none": "passthrough", "standard": StandardScaler(), "minmax": MinMaxScaler()}
Row = tuple[dict[str, Any], float]


def grid(**values: Any) -> Iterator[dict[str, Any]]:
    for point in product(*values.values()):
        yield dict(zip(values, point, strict=True))


def error(model: Any, X: Any, y: Any, folds: Any) -> float:
    return 1.0 - float(np.mean(cross_val_score(model, X, y, cv=folds)))


def svr_diabetes() -> Iterator[Row]:
    """Support vectors on the diabetes data: cost, width, tube, kernel and scaling; 1 - R² over three folds."""
    X, y = load_diabetes(return_X_y=True)
    y, folds = (y - y.mean()) / y.std(), KFold(3, shuffle=True, random_state=0)
    scaled = {"standard": StandardScaler().fit_transform(X), "minmax": MinMaxScaler().fit_transform(X)}
    tubes, kernels = (0.0, 0.25, 0.5, 0.75, 1.0), ("rbf", "poly", "sigmoid")
    for p in grid(log2_C=range(-6, 6, 2), log2_gamma=range(-12, 2, 2), tube=tubes, kernel=kernels, scaling=scaled):
        kernel = {"kernel": p["kernel"], "gamma": 2.0 ** p["log2_gamma"], "degree": 2}
        model = SVR(C=2.0 ** p["log2_C"], epsilon=p["tube"], max_iter=20_000, **kernel)
        yield p, error(model, scaled[p["scaling"]], y, folds)


def knn_wine() -> Iterator[Row]:
    """Nearest neighbors on the wines: how many, by which norm, weights and scaling."""
    X, y = load_wine(return_X_y=True)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    weights = ("uniform", "distance")
    for p in grid(neighbors=range(1, 31), norm=(1.0, 1.5, 2.0, 2.5, 3.0), weights=weights, scaling=SCALERS):
        model = KNeighborsClassifier(p["neighbors"], p=p["norm"], weights=p["weights"], algorithm="brute")
        yield p, error(make_pipeline(SCALERS[p["scaling"]], model), X, y, folds)


def forest_cancer() -> Iterator[Row]:
    """A random forest on the breast cancer data: trees, depth, features at a split, least leaf and criterion."""
    X, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    criteria = ("gini", "entropy")
    for p in grid(
        trees=(2, 5, 8, 11, 14), depth=range(1, 8), features=(1, 4, 7, 10, 13), leaf=(1, 6, 11), criterion=criteria
    ):
        model = RandomForestClassifier(
            p["trees"],
            max_depth=p["depth"],
            max_features=p["features"],
            min_samples_leaf=p["leaf"],
            criterion=p["criterion"],
            random_state=0,
        )
        yield p, error(model, X, y, folds)


def boosting_diabetes() -> Iterator[Row]:
    """Boosted trees on the diabetes data: trees, rate, depth, subsample and loss; 1 - R² over three folds."""
    X, y = load_diabetes(return_X_y=True)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    stages = [2**k for k in range(2, 8)]
    for p in grid(
        log2_rate=range(-7, 1), depth=range(1, 5), subsample=(0.4, 0.7, 1.0), loss=("squared_error", "huber")
    ):
        errors = np.zeros(len(stages))
        for train, test in folds:
            model = GradientBoostingRegressor(
                loss=p["loss"],
                learning_rate=2.0 ** p["log2_rate"],
                n_estimators=stages[-1],
                max_depth=p["depth"],
                subsample=p["subsample"],
                random_state=0,
            ).fit(X[train], y[train])
            spread = float(((y[test] - y[test].mean()) ** 2).mean())
            said = list(model.staged_predict(X[test]))
            errors += [float(((said[k - 1] - y[test]) ** 2).mean()) / spread / len(folds) for k in stages]
        for k, found in zip(stages, errors, strict=True):
            yield {"log2_trees": k.bit_length() - 1, **p}, float(found)


def mlp_wine() -> Iterator[Row]:
    """A network of one layer on the wines, ten passes: units, rate, penalty, size of a batch and activation."""
    X, y = load_wine(return_X_y=True)
    X, folds = StandardScaler().fit_transform(X), StratifiedKFold(3, shuffle=True, random_state=0)
    activations = ("relu", "tanh", "logistic")
    for p in grid(
        log2_units=range(1, 7),
        log2_rate=range(-12, -1, 2),
        log10_penalty=(-4, -2, 0, 2),
        log2_batch=(3, 4, 5),
        activation=activations,
    ):
        model = MLPClassifier(
            (2 ** p["log2_units"],),
            activation=p["activation"],
            learning_rate_init=2.0 ** p["log2_rate"],
            alpha=10.0 ** p["log10_penalty"],
            batch_size=2 ** p["log2_batch"],
            max_iter=10,
            random_state=0,
        )
        yield p, error(model, X, y, folds)


TABLES: dict[str, Callable[[], Iterator[Row]]] = {
    "svr_diabetes": svr_diabetes,
    "knn_wine": knn_wine,
    "forest_cancer": forest_cancer,
    "boosting_diabetes": boosting_diabetes,
    "mlp_wine": mlp_wine,
}


def write(name: str) -> None:
    start, rows = time.process_time(), list(TABLES[name]())
    with open(TO / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*rows[0][0], "error"])
        table.writerows([*params.values(), f"{value:.6g}"] for params, value in rows)
    least, most = min(v for _, v in rows), max(v for _, v in rows)
    print(f"{name}: {len(rows)} rows, {least:.4g} to {most:.4g}, {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    for asked in sys.argv[1:] or TABLES:
        write(asked)
