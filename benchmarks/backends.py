"""The compiled backend beside the Python twin, on what must be the same: regret, and where fits end.

    python benchmarks/backends.py                                 # 20 seeds, a few minutes

Regret: 50 evaluations in batches of three from the same designs, as in regret.py, on seeds that nothing was chosen on.
The two round differently, and a loop makes much of little: runs drift apart and end as two draws from one distribution
would. The rule below was fixed before the first run. The backends are *indistinguishable* on a problem if both hold:

1. no difference is shown: Wilcoxon's two-sided signed-rank test on the paired differences, Holm-corrected over the
   problems, gives p of 0.05 or more;
2. a difference that matters is excluded: the 90 % bootstrap interval of the median paired difference (two one-sided
   tests at 5 %) lies within ± the interquartile range of the twin's own results over the seeds, what luck alone does.

The *control* is judged by the same rule: the twin from the same designs with other seeds of its own, beside the twin.

Fits: the log posterior of the hyperparameters that either backend reaches, both measured by the twin, in nats. A data
set is a problem, n points, spread out (Latin) or half of them close to the best of the others, as late in a run; a fit
starts cold, or from the hyperparameters of the first n - 3 points. Asked for: within 1e-3 of each other.
"""

from __future__ import annotations

import os

from believer.surrogates.data import Data

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from regret import PROBLEMS, Cell, Problem, ours, run_cell
from speed import provenance

from believer.arrays import Array
from believer.experiments import bootstrap_interval, hodges_lehmann, holm, wilcoxon
from believer.numerics import backend
from believer.numerics.sampling import latin_hypercube
from believer.report import Table
from believer.surrogates import GP
from believer.surrogates.gp import GPModel, standardization
from believer.surrogates.gp_fit import DEFAULT, LogNormal
from believer.surrogates.gp_likelihood import log_likelihood
from believer_bench.command import seeds_of
from believer_bench.members import Ours
from believer_bench.race import warm_up

SEEDS = "300-319"
SIZES = (20, 50, 200, 500)
WITHIN = 1e-3
"""Nats that two fits may differ by."""
LEVEL = 0.05
CONTROL = "control"
RESULTS = Path(__file__).parent / "results" / "backends.md"


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Best values and processor seconds (s,) of one backend on one problem, seed by seed."""

    best: Array
    seconds: Array


def runs_of(problem: str, seeds: Sequence[int], compiled: str) -> dict[str, Runs]:
    """The ``compiled`` backend, the twin, and the control, taking turns."""
    entrants = {"compiled": (compiled, 0), "python": ("python", 0), CONTROL: ("python", 1_000_000)}
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in entrants}
    for seed in seeds:
        for name, (which, shift) in entrants.items():
            with backend.using(which):
                row = run_cell(Cell("believer", problem, seed), partial(_reseeded, shift=shift))
            rows[name].append((row["best"], row["cpu_seconds"]))
        print(f"{problem} {seed}: {[round(rows[name][-1][0], 4) for name in rows]}", file=sys.stderr, flush=True)
    return {name: Runs(*np.array(pairs).T) for name, pairs in rows.items()}


def _reseeded(X0: Array, y0: Array, seed: int, shift: int) -> Ours:
    return ours(X0, y0, seed + shift)


def regret_tables(seeds: Sequence[int], compiled: str) -> str:
    """Regret on every problem, and the verdicts by the rule."""
    results = {problem: runs_of(problem, seeds, compiled) for problem in PROBLEMS}
    medians = []
    for problem, runs in results.items():
        for name, run in runs.items():
            low, high = bootstrap_interval(run.best)
            quartiles = np.quantile(run.best, [0.25, 0.75])
            medians.append((problem, name, np.median(run.best), low, high, np.ptp(quartiles), np.median(run.seconds)))
    columns = ("problem", "backend", "median", "95 % from", "to", "interquartile range", "median CPU s of a run")
    text = Table(f"Best value after 50 evaluations, seeds {seeds[0]} to {seeds[-1]}", columns, medians).markdown()
    for name, title in (("compiled", "Compiled - twin"), (CONTROL, "Control: the twin reseeded - twin")):
        text += "\n" + _verdicts(title, {problem: (runs[name], runs["python"]) for problem, runs in results.items()})
    return text


def _verdicts(title: str, pairs: dict[str, tuple[Runs, Runs]]) -> str:
    differences = {problem: a.best - b.best for problem, (a, b) in pairs.items()}
    raw = {problem: wilcoxon(d) for problem, d in differences.items()}
    rows = []
    for (problem, d), corrected in zip(differences.items(), holm(list(raw.values())), strict=True):
        low, high = bootstrap_interval(d, level=1.0 - 2.0 * LEVEL)
        margin = float(np.ptp(np.quantile(pairs[problem][1].best, [0.25, 0.75])))
        same = corrected >= LEVEL and -margin < low and high < margin
        ahead = f"{int((d < 0).sum())} / {int((d == 0).sum())} / {int((d > 0).sum())}"
        rows.append((problem, ahead, hodges_lehmann(d), low, high, margin, raw[problem], corrected, same))
    columns = ("problem", "less / equal / more", "shift", "90 % from", "to", "margin", "p", "p (Holm)")
    return Table(f"{title}, paired by seed", (*columns, "indistinguishable"), rows).markdown()


def data_set(problem: Problem, n: int, clustered: bool) -> tuple[Array, Array]:
    """Points (n, d) and values (n,), always the same ones."""
    rng = np.random.default_rng([n, problem.d, clustered])
    X = latin_hypercube(n, problem.d, rng)
    if clustered:
        few = n - n // 2
        best = X[np.argmin(problem(X[:few]))]
        X[few:] = np.clip(best + 0.05 * rng.standard_normal((n // 2, problem.d)), 0.0, 1.0)
    return X, problem(X)


def log_posterior(model: GPModel, X: Array, y: Array) -> float:
    """log p(θ | X, y) up to a constant, by the Python twin, with the default's priors."""
    preset, hyper, d = DEFAULT, model.hyper, X.shape[1]
    shift, scale = standardization(y)
    theta = np.append(np.log(hyper.lengthscales), np.log(hyper.signal))
    with backend.using("python"):
        value = log_likelihood(hyper.kernel, X, (y - shift) / scale, theta, hyper.noise, preset.mean_std).value
    offset = 0.5 * float(np.log(d)) if preset.scaled else 0.0
    return value + _log_density(preset.lengthscale, theta[:d] - offset) + _log_density(preset.signal, theta[d:])


def _log_density(prior: LogNormal | None, logarithms: Array) -> float:
    if prior is None:
        return 0.0
    u = (logarithms - prior.mean) / prior.std
    return -0.5 * float(u @ u)


def fits(problem: Problem, n: int, clustered: bool, warm: bool, compiled: str) -> tuple[float, float, float]:
    """Log posterior by the ``compiled`` backend less the twin's, and the processor seconds of either fit."""
    X, y = data_set(problem, n, clustered)
    previous = None
    if warm:
        with backend.using("python"):
            previous = GP().fit(Data(X[:-3], y[:-3]), np.random.default_rng(0))
    reached, seconds = [], []
    for name in (compiled, "python"):
        with backend.using(name):
            start = time.process_time()
            model = GP().fit(Data(X, y), np.random.default_rng(1), previous)
            seconds.append(time.process_time() - start)
        reached.append(log_posterior(model, X, y))
    return reached[0] - reached[1], seconds[0], seconds[1]


def fit_table(compiled: str) -> str:
    """Where the fits of both backends end, and how long they take."""
    rows, largest = [], 0.0
    for problem in PROBLEMS.values():
        for n in SIZES:
            cases = [(clustered, warm) for clustered in (False, True) for warm in (False, True)]
            found = np.array([fits(problem, n, clustered, warm, compiled) for clustered, warm in cases])
            ours_s, twin_s = found[:, 1].mean(), found[:, 2].mean()
            largest = max(largest, float(np.abs(found[:, 0]).max()))
            rows.append((problem.name, n, *found[:, 0], 1e3 * ours_s, 1e3 * twin_s, twin_s / ours_s))
    places = ("problem", "n", "spread, cold", "spread, warm", "clustered, cold", "clustered, warm")
    columns = (*places, "compiled, ms", "twin, ms", "twin / compiled")
    text = Table("Log posterior reached, compiled - twin, in nats; mean time of a fit", columns, rows).markdown()
    verdict = "met" if largest <= WITHIN else "missed"
    return f"{text}\nLargest difference: {largest:.2g} nats; asked for: {WITHIN:g} ({verdict}).\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: run everything, print it, write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=seeds_of, default=SEEDS, help="for example 300-319")
    parser.add_argument("--compiled", default="native", choices=["native", "python"], help="python: a rehearsal")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    for name in (options.compiled, "python"):
        with backend.using(name):
            warm_up(partial(ours, seed=0))
    parts = [fit_table(options.compiled), regret_tables(options.seeds, options.compiled)]
    text = "\n".join(["# The compiled backend beside the Python twin\n", provenance(["believer"]), *parts])
    print(text)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
