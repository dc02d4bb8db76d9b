"""What differs between processors: the same computations as each would do them, beside this machine as it is.

    python benchmarks/across_processors.py                        # some five minutes

The processors are those of tests/processors.py: their OpenBLAS, NumPy, C library and our compiled loops. Compared are,
over problems and seeds: the posterior at given hyperparameters, the hyperparameters of a fit, the first batch that a
model chooses, and the best value after 50 evaluations in batches of three.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from believer.surrogates.data import Data

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from processors import PROCESSORS, Processor, build  # noqa: E402 - a script of the tests, found by the line above

PROBLEMS = ("hartmann6", "ackley8", "levy10")
SEEDS = range(5)
BACKENDS = ("native", "python")
RESULTS = Path(__file__).parent / "results" / "across_processors.md"


def compute() -> list[dict[str, Any]]:
    """One entry a problem and seed, by the backend that the environment names."""
    import believer as bv
    from believer.surrogates.gp import posterior, standardization
    from believer.surrogates.gp_fit import Hyperparameters
    from believer_bench.problems import PROBLEMS as ALL

    found = []
    for seed in SEEDS:
        for name in PROBLEMS:
            problem = ALL[name]()
            d = problem.space.dim
            rng = np.random.default_rng(seed)
            X, at = rng.random((40, d)), rng.random((200, d))
            y = problem.evaluate(X)
            given = Hyperparameters("matern52", np.full(d, 0.5 * np.sqrt(d)), 1.0, 1e-6)
            predicted = posterior(given, X, y, *standardization(y)).predict(at)
            fitted = bv.GP().fit(Data(X, y), np.random.default_rng(seed)).hyper
            study = bv.Optimizer(problem.space, seed=seed)
            for params, value in zip(problem.space.decode(X), y, strict=True):
                study.observe(params, value)
            found.append(
                {
                    "design": problem.space.encode(bv.Optimizer(problem.space, seed=seed).ask(8).params).tolist(),
                    "unit": float(y.std()),
                    "mean": predicted.mean.tolist(),
                    "std": predicted.std.tolist(),
                    "hyper": np.log([*fitted.lengthscales, fitted.signal]).tolist(),
                    "batch": problem.space.encode(study.ask(3).params).tolist(),
                    "best": bv.minimize(problem, problem.space, 50, q=3, seed=seed).value,
                }
            )
    return found


def computed(processor: Processor | None, package: Path | None, backend: str) -> list[dict[str, Any]]:
    """The same in a process that runs as the processor does."""
    environment = dict(os.environ) if processor is None else processor.environment(package)
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "BELIEVER_BACKEND": backend}
    command = [sys.executable, __file__, "--compute"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def row(name: str, here: list[dict[str, Any]], there: list[dict[str, Any]]) -> str:
    """How far two processors are apart."""

    def gaps(key: str, relative: bool = False) -> np.ndarray:
        sizes = [np.abs(np.array(one[key])) if relative else np.ones(1) for one in here]
        pairs = zip(here, there, sizes, strict=True)
        return np.array([np.max(np.abs(np.array(one[key]) - np.array(two[key])) / size) for one, two, size in pairs])

    def same(key: str) -> str:
        return f"{int((gaps(key) == 0.0).sum())} of {len(here)}"

    def spread(key: str) -> str:
        return f"{np.median(gaps(key)):.0e}, {gaps(key).max():.0e}"

    means = (gaps("mean") / [one["unit"] for one in here]).max()
    stds = gaps("std", relative=True).max()
    ends = [np.median([one["best"] for one in there[k :: len(PROBLEMS)]]) for k in range(len(PROBLEMS))]
    cells = [name, same("design"), f"{means:.0e}", f"{stds:.0e}", spread("hyper"), same("batch"), spread("batch")]
    cells += [same("best"), spread("best"), ", ".join(f"{end:.4g}" for end in ends)]
    return f"| {' | '.join(cells)} |"


HEAD = """# What differs between processors

Made by `python benchmarks/across_processors.py` on: {machine}. Each row: the largest difference from this machine as it
is, with the same backend, over {problems} and seeds {first} to {last}. *Designs*: how many, of eight points each, are
the same to the bit. *Mean* in standard deviations of y, *std* relative, both at given hyperparameters, n = 40. *Hyper*:
of log ℓ and log σ_f² after a fit (median, largest). *Batch*: how many first batches of three are the same to the bit,
and how far a coordinate is off in the unit cube (median, largest). *Ends*: how many runs of 50 evaluations end at the
same value to the bit, how far they end apart (median, largest), and where they end on each problem (median).

| backend, processor | same designs | mean | std | hyper | same batches | batch | same ends | ends | median ends |
|---|---|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    """Compute, compare, write."""
    if "--compute" in sys.argv:
        print(json.dumps(compute()))
        return 0
    from speed import _processor

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        here = {backend: computed(None, None, backend) for backend in BACKENDS}
        for backend in BACKENDS:
            again = computed(None, None, backend)
            rows.append(row(f"{backend}, this machine again", here[backend], again))
        rows.append(row("python, this machine, beside native", here["native"], here["python"]))
        for processor in PROCESSORS:
            if processor.is_here:
                package = build(processor, Path(folder) / processor.name)
                for backend in BACKENDS:
                    there = computed(processor, package, backend)
                    rows.append(row(f"{backend}, {processor.name}", here[backend], there))
                    print(rows[-1], flush=True)
    said = {"machine": _processor(), "problems": ", ".join(PROBLEMS), "first": SEEDS[0], "last": SEEDS[-1]}
    RESULTS.write_text(HEAD.format(**said) + "\n".join(rows) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
