"""What do few results in many dimensions tell of lengthscales? Ackley-8D and Levy-10D, batches of three.

    python benchmarks/lengthscales.py        # a few seconds of one core

Histories are of the default of the second round (default_variants.py), on three seeds. At some numbers of results each
is fitted under both priors of decision 037, without noise: with the mean of log ℓ/√d given, and learned. The table has
the geometric mean of ℓ/√d, the errors of leave-one-out predictions as a share of the spread of the results, and the
logarithm of the evidence by Laplace's approximation, log p(y | θ) + log p(θ) + p/2 log 2π - ½ log |H| at the best θ.
Writes ``results/lengthscales.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

from dataclasses import replace
from pathlib import Path

import numpy as np
from default_variants import learned_from_the_first, lengthscale
from regret import BATCH, EVALUATIONS, PROBLEMS
from regret_report import markdown_table

from believer.arrays import Array
from believer.space import Space
from believer.surrogates import gp_fit
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, fit_gp
from believer.surrogates.gp_fit import Preset
from believer.surrogates.gp_likelihood import log_likelihood
from believer_bench.members import Ours
from believer_bench.race import run

NOISE, SEEDS, SIZES = 1e-6, (7000, 7001, 7002), (0, 26, 32, 50)
PRESETS = {"learned": lengthscale(), "given": replace(lengthscale(), lengthscale=lengthscale().category)}
RESULTS = Path(__file__).parent / "results" / "lengthscales.md"


def evidence(model: GPModel, preset: Preset) -> float:
    """log p(y | prior) by Laplace's approximation at the hyperparameters of ``model``."""
    hyper, d = model.hyper, model.X.shape[1]
    theta, prior = np.log([*hyper.lengthscales, hyper.signal]), gp_fit._prior(preset, d, infer=False)
    y = model.y + hyper.mean
    at = log_likelihood(hyper.kernel, model.X, y, theta, hyper.noise, preset.mean_std)
    volumes = [np.linalg.slogdet(matrix)[1] for matrix in (prior.precision, at.information + prior.precision)]
    return at.value - prior.nats(theta)[0] + 0.5 * float(volumes[0] - volumes[1])


def cells(X: Array, y: Array, preset: Preset) -> list[str]:
    """ℓ/√d, the leave-one-out error and the evidence of a fit."""
    model = fit_gp(Data(X, y), "matern52", NOISE, np.random.default_rng(0), preset=preset)
    length = float(np.exp(np.log(model.lengthscales).mean()) / np.sqrt(X.shape[1]))
    error = float(np.sqrt(np.mean((y - model.leave_one_out().mean) ** 2)) / y.std())
    return [f"{length:.2f}", f"{error:.2f}", f"{evidence(model, preset):.1f}"]


def main() -> None:
    """Run all and write the table."""
    lines = []
    for name in ("ackley8", "levy10"):
        problem = PROBLEMS[name]
        for seed in SEEDS:
            X = problem.design(seed)
            with learned_from_the_first() as options:
                enter = lambda X0, y0, o=options, s=seed: Ours(Space.cube(X0.shape[1]), X0, y0, s, **o)  # noqa: E731
                course = run(enter, problem, X, problem(X), BATCH, EVALUATIONS)
                for n in SIZES:
                    n = max(n, len(X))
                    found = [cells(course.X[:n], course.y[:n], preset) for preset in PRESETS.values()]
                    pairs = zip(*found, strict=True)
                    lines.append([name, str(seed), str(n), *(cell for pair in pairs for cell in pair)])
    heads = [f"{what}, {name}" for what in ("ℓ/√d", "left out", "evidence") for name in PRESETS]
    text = (
        "# Lengthscales of few results\n\nMade by [lengthscales.py](../lengthscales.py), which says what is shown.\n\n"
    )
    RESULTS.write_text(text + markdown_table(["problem", "seed", "results", *heads], lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
