"""Which of many results should a model learn from? Rules for a subset, and the sparse process on all, side by side.

    python benchmarks/many_results.py --results 20000 --most 1000 --seeds 5

A long study is imitated: half its points uniform, half normal steps around the best so far that become shorter. Each
rule then predicts points near the best ones ("near") and anywhere ("far"); errors are root mean squares in standard
deviations of y there. "gain" is what twelve further points of the strategy bring, as log10 of the regret after over
that before (less is better), each told before the next. Medians over problems and seeds, and cells won.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from regret_report import markdown_table

from believer import surrogates
from believer.arrays import Array, IntArray
from believer.problems.problem import Problem
from believer.propose import propose
from believer.study.history import History
from believer.study.settings import StudySettings
from believer.surrogates.data import Data
from believer.surrogates.kernels import squared_distances
from believer.surrogates.subset import learned_rows
from believer_bench.problems import PROBLEMS

Rule = Callable[[Array, Array, int, np.random.Generator], IntArray]


def anywhere(X: Array, y: Array, most: int, rng: np.random.Generator) -> IntArray:
    """Uniform draws."""
    return np.sort(rng.permutation(len(y))[:most])


def best(X: Array, y: Array, most: int, rng: np.random.Generator) -> IntArray:
    """The best values alone."""
    return np.sort(np.argsort(y, kind="stable")[:most])


def half_best(X: Array, y: Array, most: int, rng: np.random.Generator) -> IntArray:
    """Half the best values, half uniform draws of the others."""
    order = np.argsort(y, kind="stable")
    return np.sort(np.concatenate([order[: most // 2], rng.permutation(order[most // 2 :])[: most - most // 2]]))


def half_far(X: Array, y: Array, most: int, rng: np.random.Generator) -> IntArray:
    """Half the best values, then always the point that is farthest from all chosen."""
    chosen = list(np.argsort(y, kind="stable")[: most // 2])
    gap = np.full(len(y), np.inf)
    for row in chosen:
        gap = np.minimum(gap, squared_distances(X[row : row + 1], X)[0])
    while len(chosen) < most:
        chosen.append(int(np.argmax(gap)))
        gap = np.minimum(gap, squared_distances(X[chosen[-1:]], X)[0])
    return np.sort(np.array(chosen))


def ours(X: Array, y: Array, most: int, rng: np.random.Generator) -> IntArray:
    """The library's: half the best, an eighth the latest, the others evenly of the rest."""
    return learned_rows(y, most)


RULES: dict[str, Rule] = {
    "uniform": anywhere,
    "best": best,
    "half best": half_best,
    "half best, far": half_far,
    "believer": ours,
}


def long_study(problem: Problem, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points (n, d) of the cube and their values."""
    d = problem.space.dim
    X = np.zeros((0, d))
    y = np.zeros(0)
    for part in range(10):
        count = n // 20
        U = rng.random((count, d))
        if part:
            near_best = X[np.argsort(y)[rng.integers(min(20, len(y)), size=count)]]
            V = np.clip(near_best + 0.3 * 0.6**part * rng.standard_normal((count, d)), 0.0, 1.0)
        else:
            V = rng.random((count, d))
        new = rng.permutation(np.vstack([U, V]))
        X, y = np.vstack([X, new]), np.concatenate([y, problem.evaluate(new)])
    return X, y


def gained(problem: Problem, surrogate: object, X: Array, y: Array, rows: IntArray, seed: int, asks: int) -> float:
    """log10 of the regret after ``asks`` further points over that before."""
    settings = StudySettings.of(problem.space, surrogate=surrogate, n_init=1, seed=seed)  # type: ignore[arg-type]
    decoded = problem.space.decode(X[rows])
    trials = [(i, params, float(value)) for i, (params, value) in enumerate(zip(decoded, y[rows], strict=True))]
    fitted = None
    for _ in range(asks):
        found = propose(settings, History.of(settings, trials, fitted))
        fitted = (tuple(range(len(trials))), found.model) if found.model is not None else None
        trials.append((len(trials), found.batch[0].params, problem(found.batch[0].params)))
    optimum = float(problem.optimum or 0.0)
    now = min(float(value) for _, _, value in trials)
    return float(np.log10(max(now - optimum, 1e-12) / max(float(y.min()) - optimum, 1e-12)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--asks", type=int, default=12)
    parser.add_argument("--problems", nargs="*", default=["branin", "hartmann6", "ackley8", "levy10"])
    arguments = parser.parse_args()
    cells: dict[str, list[tuple[float, float, float]]] = {}
    for name in arguments.problems:
        problem = PROBLEMS[name]()
        for seed in range(arguments.seeds):
            rng = np.random.default_rng((seed, 7))
            X, y = long_study(problem, arguments.results, rng)
            near = X[np.argsort(y)[:50]] + 0.02 * rng.standard_normal((50, X.shape[1]))
            tests = [(T, problem.evaluate(T)) for T in (np.clip(near, 0.0, 1.0), rng.random((500, X.shape[1])))]
            entries: dict[str, tuple[object, IntArray]] = {
                rule: (surrogates.GP(), choose(X, y, arguments.most, rng)) for rule, choose in RULES.items()
            }
            for m in (64, 512):
                entries[f"sparse, {m} of all"] = (surrogates.SparseGP(inducing=m), np.arange(len(y)))
            for entry, (surrogate, rows) in entries.items():
                model = surrogate.fit(Data(X[rows], y[rows]), np.random.default_rng(0))  # type: ignore[attr-defined]
                errors = [float(np.sqrt(np.mean((model.predict(T).mean - f) ** 2)) / f.std()) for T, f in tests]
                gain = gained(problem, surrogate, X, y, rows, seed, arguments.asks)
                cells.setdefault(entry, []).append((*errors, gain))
                print(name, seed, entry, *(f"{value:.3g}" for value in (*errors, gain)), flush=True)
    table = {entry: np.array(found) for entry, found in cells.items()}
    won = np.argmin([found[:, 2] for found in table.values()], axis=0)
    rows = [
        [entry, *(f"{value:.3g}" for value in np.median(found, axis=0)), str(int((won == i).sum()))]
        for i, (entry, found) in enumerate(table.items())
    ]
    print(markdown_table(["rule", "error near", "error far", "gain", "won"], rows))


if __name__ == "__main__":
    main()
