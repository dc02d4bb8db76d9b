"""How many marginal likelihoods a fit evaluates, and how many nats it reaches, against the search it replaced.

    python benchmarks/fit_steps.py --seeds 0-4 --markdown benchmarks/results/fit_steps.md

Data grow in small batches, and every search carries its own last fit from one batch to the next. ``before`` is
limited-memory BFGS from the last fit and from the prior's center, the laggard dropped after six rounds, and from the
last fit alone above 500 results. ``after`` is what the library does: Newton's method, from both up to 100 results,
above from the last fit alone unless the data have grown by a quarter, beyond 500 from it alone. The ``top`` of data is
the best that SciPy finds at tight tolerances, from where both ended, from the prior's center and from draws of it.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
from regret import PROBLEMS, Problem
from scipy import optimize
from speed import provenance

from believer.arrays import Array
from believer.numerics import backend, lbfgs
from believer.numerics.sampling import latin_hypercube
from believer.surrogates import gp_fit
from believer.surrogates.gp import standardization
from believer.surrogates.gp_fit import DEFAULT, Hyperparameters
from believer.surrogates.gp_likelihood import log_likelihood
from believer_bench.command import seeds_of

BEFORE = replace(
    DEFAULT,
    search=lbfgs.Settings(max_rounds=60, gradient_tol=3e-4, value_tol=3e-6, heat=6, finalists=1),
)
SEARCHES = {
    "before": (BEFORE, gp_fit.CENTER_AT_TIMES_UP_TO),
    "after": (DEFAULT, gp_fit.CENTER_UP_TO),
}
"""Each with the size up to which it also starts from the prior's center."""
CHAINS = ((12, 3, 60), (70, 10, 300), (490, 10, 510), (990, 10, 1010))
"""First size, size of a batch, last size. A chain's first fit has no last fit to start from: it is not counted."""
BANDS = ((12, 30), (31, 60), (61, 100), (101, 200), (201, 300), (500, 510), (1000, 1010))
NOISE = 0.1
CLOSE = 1e-3
"""Nats that are told apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Standardized results, and whether their noise is inferred."""

    X: Array
    y: Array
    infer: bool

    @property
    def noise(self) -> float | str:
        """What a fit is told of the noise."""
        return "infer" if self.infer else 1e-6


@dataclass(frozen=True, slots=True)
class Fit:
    """A search on a data set: its size, likelihoods evaluated, nats reached, nats below the top."""

    n: int
    evaluations: int
    nats: float
    short: float


def growing(problem: Problem, noisy: bool, seed: int, chain: tuple[int, int, int]) -> Iterator[Data]:
    """Data sets of a run: a Latin hypercube, then batches half at random, half near the best so far."""
    first, batch, last = chain
    rng = np.random.default_rng([seed, problem.d, first, noisy])
    X = latin_hypercube(first, problem.d, rng)
    y = problem(X) + noisy * NOISE * rng.standard_normal(first)
    while True:
        shift, scale = standardization(y)
        yield Data(X, (y - shift) / scale, noisy)
        if len(y) >= last:
            return
        near = X[np.argmin(y)] + 0.1 * rng.standard_normal((batch, problem.d))
        new = np.where(rng.random((batch, 1)) < 0.5, np.clip(near, 0.0, 1.0), rng.random((batch, problem.d)))
        X = np.vstack([X, new])
        y = np.append(y, problem(new) + noisy * NOISE * rng.standard_normal(batch))


def posterior(data: Data) -> Callable[[Array], tuple[float, Array]]:
    """-log p(θ | y) of the default priors, to a constant, with its gradient."""
    preset = DEFAULT
    prior = gp_fit._prior(preset, data.X.shape[1], data.infer)
    fixed = None if data.infer else 1e-6

    def value(theta: Array) -> tuple[float, Array]:
        at = log_likelihood("matern52", data.X, data.y, theta, fixed, preset.mean_std)
        nats, slope = prior.nats(theta)
        return nats - at.value, slope - at.gradient

    return value


def coordinates(hyper: Hyperparameters, infer: bool) -> Array:
    """θ of a fit."""
    theta: Array = np.log([*hyper.lengthscales, hyper.signal, *([hyper.noise] if infer else [])])
    return theta


def top(data: Data, ends: Sequence[Array], draws: int) -> float:
    """The least -log p(θ | y) that SciPy finds."""
    d = data.X.shape[1]
    prior = gp_fit._prior(DEFAULT, d, data.infer)
    lower, upper = (np.log(bound) for bound in gp_fit._bounds(DEFAULT, d, data.infer))
    noise = np.random.default_rng(len(data.y)).standard_normal((draws, len(lower)))
    starts = [*ends, prior.center, *(prior.center + noise @ np.linalg.cholesky(np.linalg.inv(prior.precision)).T)]
    found = [
        optimize.minimize(
            posterior(data),
            np.clip(start, lower, upper),
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([lower, upper]),
            options={"ftol": 1e-14, "gtol": 1e-6, "maxiter": 300},
        ).fun
        for start in starts
    ]
    return float(min(found))


def searched(name: str, data: Data, last: Hyperparameters | None, seen: int) -> tuple[Hyperparameters, int]:
    """A fit by the search ``name``, the last one having seen so many results; and how many likelihoods it evaluated."""
    preset, center_up_to = SEARCHES[name]
    rng = np.random.default_rng(0)
    with (
        mock.patch.object(gp_fit, "log_likelihood", wraps=log_likelihood) as counted,
        mock.patch.object(gp_fit, "CENTER_UP_TO", center_up_to),
    ):
        hyper = gp_fit.fit(data.X, data.y, "matern52", data.noise, preset, rng, last, seen)
    return hyper, counted.call_count


def run(problem: Problem, noisy: bool, seed: int, chain: tuple[int, int, int]) -> dict[str, list[Fit]]:
    """Both searches along a chain."""
    fits: dict[str, list[Fit]] = {name: [] for name in SEARCHES}
    last: dict[str, Hyperparameters] = {}
    seen = 0
    for data in growing(problem, noisy, seed, chain):
        warm = bool(last)
        made = {name: searched(name, data, last.get(name), seen) for name in SEARCHES}
        seen = len(data.y)
        last = {name: hyper for name, (hyper, _) in made.items()}
        if warm:
            thetas = {name: coordinates(hyper, noisy) for name, hyper in last.items()}
            best = top(data, list(thetas.values()), 4 if len(data.y) <= 100 else 0)
            for name, (_, calls) in made.items():
                nats = -posterior(data)(thetas[name])[0]
                fits[name].append(Fit(len(data.y), calls, nats, -best - nats))
    return fits


def report(fits: dict[str, list[Fit]]) -> str:
    """A table by size, and what it says in a sentence a column."""
    lines = [
        "| n | fits | evaluations before, mean (max) | after | nats below the top before: median, 90 %, max | after "
        f"| after is worse by over {CLOSE:g} | better |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for low, high in BANDS:
        pairs = [(b, a) for b, a in zip(fits["before"], fits["after"], strict=True) if low <= b.n <= high]
        if pairs:
            before, after = zip(*pairs, strict=True)
            gain = np.array([a.nats - b.nats for b, a in pairs])
            worse, better = gain[gain < -CLOSE], gain[gain > CLOSE]
            cells = [
                f"{low}-{high}",
                str(len(pairs)),
                *map(_evaluations, (before, after)),
                *map(_short, (before, after)),
            ]
            cells += [f"{len(part)} times, {abs(part.sum()):.2g} nats in all" for part in (worse, better)]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _evaluations(fits: Sequence[Fit]) -> str:
    counts = [fit.evaluations for fit in fits]
    return f"{np.mean(counts):.1f} ({max(counts)})"


def _short(fits: Sequence[Fit]) -> str:
    return ", ".join(f"{value:.1e}" for value in np.quantile([fit.short for fit in fits], [0.5, 0.9, 1.0]))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=seeds_of, default="0-4", help="for example 0-4; sizes above 300 use the first")
    parser.add_argument("--largest", type=int, default=2000, help="leave out chains that end above this size")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    options = parser.parse_args(arguments)
    members = [(problem, False) for problem in PROBLEMS.values()] + [(PROBLEMS["hartmann6"], True)]
    fits: dict[str, list[Fit]] = {name: [] for name in SEARCHES}
    with backend.using("python"):
        for chain in (chain for chain in CHAINS if chain[2] <= options.largest):
            for seed in options.seeds if chain[2] <= 300 else options.seeds[:1]:
                for problem, noisy in members:
                    for name, made in run(problem, noisy, seed, chain).items():
                        fits[name].extend(made)
                print(f"sizes {chain[0]} to {chain[2]}, seed {seed}: done", file=sys.stderr, flush=True)
    title = "# Likelihood evaluations of a fit, and nats reached"
    text = f"{title}\n\n{provenance(['believer'])}\n{report(fits)}"
    print(text)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
