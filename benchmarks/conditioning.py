"""One conditioning step against a refit at frozen parameters, for every surrogate with a closed form.

    python benchmarks/conditioning.py [--markdown benchmarks/results/conditioning.md]

n = 200 points of Hartmann-6D, one more added. Refit means: everything that depends on the data is computed anew on the
n + 1 points; what a fit learns (hyperparameters, features, spread, the scale of y) stays. Blocks of calls of the two
alternate, so that both meet the same machine; the ratio is that of the medians.
"""

from __future__ import annotations

import os

from believer.surrogates.data import Data

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import believer as bv
from believer.numerics.sampling import latin_hypercube
from believer.problems.synthetic import hartmann6
from believer.report import Table
from believer.surrogates import fixed_rbf, gp, last_layer, mq_rbf, sparse_gp
from believer_paper.setup import multiquadric
from believer_paper.setup.multiquadric import PrintedMQRBF

N, D, BLOCKS, CALLS = 200, 6, 40, 20
Pair = tuple[Callable[[], object], Callable[[], object]]


def pairs() -> dict[str, tuple[float, Pair]]:
    """For each surrogate: the ratio that is asked for, and the two calls."""
    rng = np.random.default_rng(0)
    X = latin_hypercube(N + 1, D, rng)
    y = hartmann6(X)

    def fitted(surrogate: Any) -> Any:
        return surrogate.fit(Data(X[:N], y[:N]), np.random.default_rng(1))

    def pair(model: Any, refit: Callable[[], Any]) -> Pair:
        apart = model.condition(Data(X[N:], y[N:])).predict(X * 0.9).mean - refit().predict(X * 0.9).mean
        if np.abs(apart).max() > 1e-6 * np.ptp(y):
            raise RuntimeError(f"conditioning and refit differ by {np.abs(apart).max():.3g}")
        return lambda: model.condition(Data(X[N:], y[N:])), refit

    e, f, s = fitted(bv.GP()), fitted(bv.FixedRBF()), fitted(bv.SparseGP())
    printed, power, last = fitted(PrintedMQRBF()), fitted(bv.MQRBF()), fitted(bv.LastLayer())
    shift_e, shift_s = e.shift - e.scale * e.hyper.mean, s.shift - s.scale * s.hyper.mean
    return {
        "GP": (10.0, pair(e, lambda: gp.posterior(e.hyper, X, y, shift_e, e.scale))),
        "MQRBF, σ as printed": (5.0, pair(printed, lambda: multiquadric.posterior(printed.parameters, X, y))),
        "MQRBF, power function": (5.0, pair(power, lambda: mq_rbf.posterior(power.parameters, X, y))),
        "FixedRBF, 64 centers": (
            10.0,
            pair(f, lambda: fixed_rbf.posterior(f.basis, f.prior, f.noise, X, y, f.shift, f.scale)),
        ),
        "LastLayer, 64 features": (10.0, pair(last, lambda: last_layer.posterior(last.basis, X, y))),
        "SparseGP, 64 inducing points": (
            10.0,
            pair(s, lambda: sparse_gp.posterior(s.hyper, s.rows, X, y, shift_s, s.scale)),
        ),
    }


def alternating(calls: Pair) -> tuple[float, float]:
    """Median seconds of either call, in alternating blocks: within one, a call finds its data in the cache."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(BLOCKS):
        for call, times in zip(calls, seconds, strict=True):
            call()
            for _ in range(CALLS):
                started = time.perf_counter()
                call()
                times.append(time.perf_counter() - started)
    return float(np.median(seconds[0])), float(np.median(seconds[1]))


def measured() -> Table:
    """One row a surrogate."""
    rows = []
    for name, (asked, calls) in pairs().items():
        condition, refit = alternating(calls)
        rows.append((name, round(1e6 * condition, 1), round(1e6 * refit, 1), round(refit / condition, 1), asked))
    columns = ("surrogate", "condition, µs", "refit at frozen parameters, µs", "refit / condition", "asked")
    return Table(f"One conditioning step at n = {N}, d = {D}, one thread", columns, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    ran_on = f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}"
    text = f"{measured().markdown()}\nbeliever {bv.__version__}, {ran_on}, {platform.system()} {platform.machine()}.\n"
    print(text)
    if arguments.markdown is not None:
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
