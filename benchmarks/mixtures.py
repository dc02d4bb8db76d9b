"""Mixtures: the time of an ask beside a box of as many columns, and regret beside three other ways to search blends.

    python benchmarks/mixtures.py --markdown benchmarks/results/mixtures.md

Times are CPU seconds, the median of five studies, mixture and box in turn. Ways to search:

- rules: ``rules=[sum_to(names, 1.0)]``, all else at its default;
- random: uniform blends, by the same rules;
- free factors: all parts but the last are free, and a function forbids those that add up to more than 1;
- BoTorch: qLogEI under an equality constraint, where it is installed.

Problems: *yarn*, the elongation of yarn of three fibers (Cornell, *Experiments with mixtures*, 2002); *sparse*, the
squared distance to a blend in which three of ten parts are present; *valley*, six parts, of which two have to be in
balance, with a ripple.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import believer as bv

Values = dict[str, float]
SPARSE = (0.5, 0.3, 0.2, *(0.0,) * 7)


def yarn(x: np.ndarray) -> float:
    """Elongation, to be maximized; returned negative. The largest is at (0.2939, 0, 0.7061)."""
    a, b, c = x
    return float(-(11.7 * a + 9.4 * b + 16.4 * c + 19.0 * a * b + 11.4 * a * c - 9.6 * b * c))


def sparse(x: np.ndarray) -> float:
    """Squared distance to a blend with three parts."""
    return float(((x - np.array(SPARSE)) ** 2).sum())


def valley(x: np.ndarray) -> float:
    """The first two parts in balance, the third a fifth, and a ripple; 0 at (0.4, 0.4, 0.2, 0, 0, 0)."""
    balance, rest = (x[0] - x[1]) ** 2, x[3:].sum()
    return float(20.0 * balance + 4.0 * (x[2] - 0.2) ** 2 + rest + 0.05 * (1.0 - np.cos(20.0 * (x[0] - 0.4))))


BEST_YARN = yarn(np.array([6.7 / 22.8, 0.0, 1.0 - 6.7 / 22.8]))
PROBLEMS: dict[str, tuple[int, Callable[[np.ndarray], float], float]] = {
    "yarn": (3, yarn, BEST_YARN),
    "sparse": (10, sparse, 0.0),
    "valley": (6, valley, 0.0),
}


def names_of(k: int) -> list[str]:
    """The parts of a mixture."""
    return [f"p{i}" for i in range(k)]


def by_rules(k: int, function: Callable[[np.ndarray], float], seed: int, budget: int, q: int, strategy: str) -> float:
    """The best value of a study with a sum, and its strategy."""
    names = names_of(k)
    space = bv.Space({name: bv.Float(0, 1) for name in names}, rules=[bv.sum_to(names, 1.0)])
    study = bv.Optimizer(space, seed=seed, strategy=strategy)
    while len(study.trials) < budget:
        for trial in study.ask(q):
            study.tell(trial, function(np.array([*trial.params.values()])))
    return study.best[1]


def by_free_factors(k: int, function: Callable[[np.ndarray], float], seed: int, budget: int, q: int) -> float:
    """The same with the last part as what is left, where that is not below zero."""
    space = bv.Space({name: bv.Float(0, 1) for name in names_of(k - 1)}, lambda p: sum(p.values()) <= 1.0)
    study = bv.Optimizer(space, seed=seed)
    while len(study.trials) < budget:
        for trial in study.ask(q):
            x = np.array([*trial.params.values()])
            study.tell(trial, function(np.append(x, 1.0 - x.sum())))
    return study.best[1]


def by_botorch(k: int, function: Callable[[np.ndarray], float], seed: int, budget: int, q: int) -> float:
    """qLogEI on a SingleTaskGP at its defaults, with the sum as an equality constraint."""
    import torch
    from botorch.acquisition.logei import qLogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    X = np.random.default_rng(seed).dirichlet(np.ones(k), 2 * k)
    y = [function(x) for x in X]
    one = torch.ones(k, dtype=torch.double)
    while len(y) < budget:
        Y = torch.tensor(y, dtype=torch.double)[:, None]
        model = SingleTaskGP(torch.tensor(X), -(Y - Y.mean()) / Y.std())
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        best = (-(Y - Y.mean()) / Y.std()).max()
        found, _ = optimize_acqf(
            qLogExpectedImprovement(model, best),
            torch.stack([0.0 * one, one]),
            q,
            num_restarts=10,
            raw_samples=256,
            equality_constraints=[(torch.arange(k), one, 1.0)],
        )
        X = np.vstack([X, found.numpy()])
        y += [function(x) for x in found.numpy()]
    return min(y)


WAYS: dict[str, Callable[..., float]] = {
    "rules": lambda *of: by_rules(*of, "hedged"),
    "random": lambda *of: by_rules(*of, "random"),
    "free factors": by_free_factors,
    "BoTorch": by_botorch,
}


def seconds(k: int, n: int, rules: bool) -> tuple[float, float]:
    """CPU seconds of the first ask, and of ask(8) at ``n`` results once a model is fitted."""
    names, rng = names_of(k), np.random.default_rng(0)
    space = bv.Space({name: bv.Float(0, 1) for name in names}, rules=[bv.sum_to(names, 1.0)] if rules else [])
    start = time.process_time()
    bv.Optimizer(space, seed=0).ask(1)
    first = time.process_time() - start
    study = bv.Optimizer(space, seed=0)
    for x in rng.dirichlet(np.ones(k), n):
        study.observe(dict(zip(names, x.tolist(), strict=True)), sparse(x) + 0.1 * float(np.sin(9.0 * x).sum()))
    study.ask(1)
    times = []
    for _ in range(5):
        start = time.process_time()
        study.ask(8)
        times.append(time.process_time() - start)
    return first, statistics.median(times)


def report(seeds: int, budget: int, q: int, ways: list[str]) -> str:
    """Both tables, as Markdown."""
    seconds(10, 20, True), seconds(10, 20, False)  # imports
    timed = [[seconds(10, 100, rules) for rules in (True, False)] for _ in range(5)]
    mixture, box = ([statistics.median(row[i][j] for row in timed) for j in (0, 1)] for i in (0, 1))
    lines = [
        f"# Mixtures (`python benchmarks/mixtures.py --seeds {seeds} --budget {budget} -q {q}`)",
        "",
        f"CPU seconds of ten parts, median of five, {bv.backend()} backend.",
        "",
        "| | mixture | box | ratio |",
        "|---|---|---|---|",
        *(
            f"| {what} | {mixture[j] * 1e3:.1f} ms | {box[j] * 1e3:.1f} ms | {mixture[j] / box[j]:.1f} |"
            for j, what in enumerate(("first ask", "ask(8) at n=100"))
        ),
        "",
        f"Regret after {budget} evaluations in batches of {q}: median of {seeds} seeds (upper quartile), CPU s each.",
        "",
        "| problem | " + " | ".join(ways) + " |",
        "|---|" + "---|" * len(ways),
    ]
    for name, (k, function, best) in PROBLEMS.items():
        cells = []
        for way in map(WAYS.__getitem__, ways):
            start = time.process_time()
            try:
                regrets = [way(k, function, seed, budget, q) - best for seed in range(seeds)]
                spent = (time.process_time() - start) / seeds
                cells.append(f"{np.median(regrets):.2g} ({np.quantile(regrets, 0.75):.2g}), {spent:.2f} s")
            except ImportError:
                cells.append("not installed")
            except bv.errors.BelieverError as error:
                cells.append(f"{type(error).__name__}")
        lines.append(f"| {name} ({k} parts) | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the tables, and write them where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--budget", type=int, default=40)
    parser.add_argument("-q", type=int, default=4)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    parser.add_argument("--markdown", type=Path)
    given = parser.parse_args()
    text = report(given.seeds, given.budget, given.q, given.ways)
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
