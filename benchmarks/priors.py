"""What the default model could have been: regret of its variants on seeds 0-19, the seeds that the choice was made on.

    python benchmarks/priors.py                          # every variant
    python benchmarks/priors.py default zero_mean        # some

One part of the default changes at a time. Writes ``results/priors.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from regret import PROBLEMS, Cell, ours, run_cell
from regret_report import markdown_table

from believer.plugins import Data, Model
from believer.surrogates import GPModel, LogNormal, Preset, fit_gp
from believer_paper.setup.likelihood import LIKELIHOOD

SEEDS = range(20)
RESULTS = Path(__file__).parent / "results" / "priors.md"


@dataclass(frozen=True, slots=True)
class Variant:
    """A Gaussian process with any preset, and options of the optimizer that it is for."""

    preset: Preset = field(default_factory=Preset)
    kernel: str = "matern52"
    noise: float | str = 1e-6
    options: dict[str, Any] = field(default_factory=dict)

    def fit(self, data: Data, rng: np.random.Generator, previous: Model | None = None) -> GPModel:
        """As ``GP`` does, but for the preset."""
        return fit_gp(data, self.kernel, self.noise, rng, previous, self.preset)


def lengthscale(center: float, std: float) -> Preset:
    """With another prior of ℓ/√d."""
    return Preset(lengthscale=LogNormal(float(np.log(center)), std))


VARIANTS = {
    "default": Variant(),
    "lengthscale std 1.0": Variant(lengthscale(0.5, 1.0)),
    "lengthscale std 0.7": Variant(lengthscale(0.5, 0.7)),
    "lengthscale center 0.7": Variant(lengthscale(0.7, 0.5)),
    "zero mean": Variant(Preset(mean_std=None)),
    "signal std 1": Variant(Preset(signal=LogNormal(0.0, 1.0))),
    "signal std 3": Variant(Preset(signal=LogNormal(0.0, 3.0))),
    "noise 1e-4": Variant(noise=1e-4),
    "noise inferred": Variant(noise="infer"),
    "SE kernel": Variant(kernel="se"),
    "Matérn-3/2 kernel": Variant(kernel="matern32"),
    "CL-min": Variant(options={"strategy": "cl_min"}),
    "KB, +1σ": Variant(options={"strategy": "kb_upper"}),
    "fantasies": Variant(options={"strategy": "fantasy"}),
    "paper's fit": Variant(LIKELIHOOD),
}


def finals(variant: Variant, problem: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Best values after the budget, one a seed."""
    factory = partial(ours, surrogate=variant, **variant.options)
    return np.array([run_cell(Cell("believer", problem, seed), factory)["best"] for seed in SEEDS])


def main(names: list[str]) -> None:
    """Run the variants and write the table."""
    lines = []
    for name in names or list(VARIANTS):
        cells = [name]
        for problem in PROBLEMS:
            values = finals(VARIANTS[name], problem)
            cells.append(f"{np.median(values):.3f} ({values.mean():.3f})")
        lines.append(cells)
        print(" | ".join(cells), flush=True)
    table = markdown_table(["variant", *PROBLEMS], lines)
    text = f"# Variants of the default model\n\nMedian (mean) of the best value, {len(SEEDS)} seeds.\n\n{table}\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
