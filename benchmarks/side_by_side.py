"""Two checkouts of this repository against each other: the same choices? as fast?

    git worktree add ../before COMMIT && (cd ../before && python setup.py build_ext --inplace)
    python benchmarks/side_by_side.py ../before . --rounds 15

One process a checkout, both alive at once; they take turns on the same seeds, each cell timed in seconds of its own
processor time, the least of four turns a seed. A ratio is of medians over seeds, second over first. Only what both
have is used: ask, tell, and a model's predict. The cells are those of speed.py. "goal" declares the one outcome;
batches of 64 are on Levy's function of ten parameters, "noisy" with a tenth of the results' standard deviation as
noise. The last column counts the seeds whose batches are the same to the bit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from regret_report import markdown_table

CELLS = (
    "ask3_n50", "goal3_n50", "ask3_n200", "ask10_n200", "ask10_n500", "ask10_n1000", "ask64_n1000", "noisy64_n1000",
    "loop", "predict1_n50", "import",
)  # fmt: skip
REPEATS = 4
SLOW = {"ask10_n500": 3, "ask10_n1000": 5, "ask64_n1000": 5, "noisy64_n1000": 5}
"""Cells that get a share of the rounds."""

_WORKER = r"""
import inspect, json, re, sys, time
start = time.process_time()
import numpy, scipy.linalg, scipy.special
ready = time.process_time()
import believer as bv
imported = time.process_time() - ready
import numpy as np
from believer.problems import PROBLEMS
from believer.numerics.sampling import latin_hypercube


def encoded(batch):
    return (batch.unit if hasattr(batch, "unit") else batch.encoded).tolist()  # named anew since

problem, large = PROBLEMS["hartmann6"](), PROBLEMS["levy10"]()

def study(problem, X, seed, noise, **options):
    opt = bv.Optimizer(problem.space, seed=seed, n_init=1, **options)
    values = np.array([problem(params) for params in problem.space.decode(X)])
    values += noise * values.std() * np.random.default_rng(seed).standard_normal(len(values))
    for params, value in zip(problem.space.decode(X), values.tolist()):
        opt.observe(params, {"value": value} if options else value)
    return opt

def tell(opt, batch):
    opt.tell_many(batch, [problem(trial.params) for trial in batch])

def step(kind, n, q, seed):
    here = large if q == 64 else problem
    X = latin_hypercube(n - q, len(here.space.names), np.random.default_rng([seed, n, q]))
    options = {"outcomes": {"value": bv.Minimize()}} if kind == "goal" else {}
    opt = study(here, X, seed, 0.1 if kind == "noisy" else 0.0, **options)
    batch = opt.ask(q)
    values = [{"value": here(trial.params)} if options else here(trial.params) for trial in batch]
    begun = time.process_time()
    opt.tell_many(batch, values)
    batch = opt.ask(q)
    return time.process_time() - begun, encoded(batch)

def loop(seed):
    opt, spent, units = bv.Optimizer(problem.space, seed=seed), 0.0, []
    while len(opt.trials) < 50:
        begun = time.process_time()
        batch = opt.ask(min(3, 50 - len(opt.trials)))
        spent += time.process_time() - begun
        units += encoded(batch)
        values = [problem(trial.params) for trial in batch]
        begun = time.process_time()
        opt.tell_many(batch, values)
        spent += time.process_time() - begun
    return spent, units

def predict(seed):
    rng = np.random.default_rng(seed)
    X, y, at = rng.random((50, 6)), rng.random(50), rng.random((1, 6))
    fit = bv.GP().fit
    if "data" in inspect.signature(fit).parameters:
        from believer.surrogates.data import Data
        model = fit(Data(X, y), rng)
    else:
        model = fit(X, y, rng)
    model.predict(at)
    begun = time.process_time()
    for _ in range(20000):
        found = model.predict(at)
    return (time.process_time() - begun) / 20000, [found.mean.tolist(), found.std.tolist()]

for line in sys.stdin:
    cell, seed = json.loads(line)
    if cell == "import":
        answer = imported, None
    elif cell == "loop":
        answer = loop(seed)
    elif cell.startswith("predict"):
        answer = predict(seed)
    else:
        kind, q, n = re.fullmatch("([a-z]+)([0-9]+)_n([0-9]+)", cell).groups()
        answer = step(kind, int(n), int(q), seed)
    print(json.dumps(answer), flush=True)
"""


class Checkout:
    """A process that computes with one checkout."""

    def __init__(self, root: Path, backend: str) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._environment = {**os.environ, **threads, "PYTHONPATH": str(root / "src"), "BELIEVER_BACKEND": backend}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _WORKER]
        return subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, cell: str, seed: int) -> tuple[float, Any]:
        """Seconds, and what was chosen. An import is timed in an interpreter of its own."""
        if cell == "import":
            self.close()
            self._process = self._start()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([cell, seed]) + "\n")
        self._process.stdin.flush()
        seconds, chosen = json.loads(self._process.stdout.readline())
        return float(seconds), chosen

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    """Time both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--backend", choices=("native", "python"), default="native")
    parser.add_argument("--cells", nargs="+", choices=CELLS, default=CELLS)
    given = parser.parse_args()
    both = [Checkout(root.resolve(), given.backend) for root in (given.first, given.second)]
    rows = []
    for cell in given.cells:
        rounds = max(3, given.rounds // SLOW.get(cell, 1))
        for checkout in both:
            checkout.run(cell, 0)
        # The same work several times, who begins in turn, and the least: what else the machine does only adds.
        found = []
        for seed in range(rounds):
            turns = [[checkout.run(cell, seed) for checkout in (both if k % 2 else both[::-1])] for k in range(REPEATS)]
            turns = [turn if k % 2 else turn[::-1] for k, turn in enumerate(turns)]
            found.append([min((turn[one] for turn in turns), key=lambda run: run[0]) for one in range(2)])
        seconds = np.array([[one[0] for one in pair] for pair in found])
        first, second = np.median(seconds, axis=0)
        same = sum(pair[0][1] == pair[1][1] for pair in found)
        rows.append([cell, f"{1e3 * first:.4g}", f"{1e3 * second:.4g}", f"{second / first:.3f}", f"{same} of {rounds}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    for checkout in both:
        checkout.close()
    print(markdown_table(["cell", "first, ms", "second, ms", "ratio", "same choices"], rows))


if __name__ == "__main__":
    main()
