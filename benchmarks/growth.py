"""How the price of a batch grows with the number of results, beside the least that its arithmetic could cost.

    python benchmarks/growth.py run
    python benchmarks/growth.py report

Levy's function of ten parameters, ten results told and ten points asked for, three times at each size; the studies are
those of ``large.py``. "first" is the first ask, in which hyperparameters are fitted; "later" the last one. From 250
results on a later ask adds results to the model that is there; below that it is fitted anew. "local" is
``strategy="trust_region"``. Seconds of the processor, one thread, each size in a process of its own.

The floor is the time that the flops and bytes of a later ask take at this machine's rates (``speed_floor.py``): of N
results in the model (n, or 2,000 of more) and the one under shorter lengthscales, each with

- 704 candidates predicted, N² flops and N kernel entries each (632 for each point below 200 results, without hedges);
- ten results and ten lies as rows of the factor, 4 N² flops and 4 N² bytes each;
- ten lies told to the candidates, 2 N flops and 8 N bytes each;

and, once for both, the climbs of ten points: five rounds, of 16 starts and of one, 2 N² flops a start and 4 N² bytes a
round. Below 100 results one likelihood with its gradient is added, N³ flops. Needs matplotlib.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from regret_report import markdown_table
from speed_floor import Rates, rates

from believer.batch.picking import POOLED_FROM
from believer.study.models import KEPT_FROM
from believer.surrogates import GP

RESULTS = Path(__file__).parent / "results"
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 20_000)
MODELS = ("default", "local")
Q, LARGE = 10, 1000


def floor(n: int, at: Rates) -> float:
    """The least seconds of a later ask with ``n`` results: the table above."""
    N, kept = min(n, GP.most_results), n >= POOLED_FROM
    models, candidates = (2, 704) if kept else (1, 632 * Q)
    predicted = models * candidates * (N * at.entry + N**2 / at.gemm)
    rows = models * (2 if kept else 1) * Q * max(4.0 * N**2 / at.gemm, 4.0 * N**2 / at.read)
    told = models * Q * candidates * max(2.0 * N / at.gemm, 8.0 * N / at.read) if kept else 0.0
    climbs = Q * sum(m * N * at.entry + max(2.0 * N**2 * m / at.gemm, 4.0 * N**2 / at.read) for m in (16,) * 4 + (1,))
    return predicted + rows + told + climbs + (N**3 / at.gemm if n < KEPT_FROM else 0.0)


def run(path: Path) -> None:
    """The sizes that are not there yet, each with each model."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["model"], row["n"]) for row in rows}
    for n in SIZES:
        at = rates(min(n, LARGE))
        for model in MODELS:
            if (model, n) in done:
                continue
            command = [sys.executable, str(Path(__file__).parent / "large.py"), "cell", "--cell"]
            ended = subprocess.run([*command, model, "levy10", str(n), "3", "0"], capture_output=True, text=True)
            if ended.returncode:
                sys.exit(ended.stderr)
            row = {**json.loads(ended.stdout), "n": n, "floor": floor(n, at)}
            with path.open("a") as file:
                print(json.dumps(row), file=file)
            print(model, n, row["seconds"], row["floor"], row["mb"], flush=True)


def report(rows: list[dict[str, Any]]) -> str:
    """A line a size, and the figure."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    rows = sorted(rows, key=lambda row: row["n"])
    own = {model: [row for row in rows if row["model"] == model] for model in MODELS}
    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    for model, label, color in (("default", "default", "C0"), ("local", "trust region", "C1")):
        sizes = [row["n"] for row in own[model]]
        axes.plot(sizes, [row["seconds"][0] for row in own[model]], "o--", color=color, label=f"{label}, with a fit")
        axes.plot(sizes, [row["seconds"][-1] for row in own[model]], "o-", color=color, label=f"{label}, later")
    axes.plot(
        [row["n"] for row in own["default"]],
        [row["floor"] for row in own["default"]],
        color="0.4",
        label="floor of the default, later",
    )
    axes.set(xscale="log", yscale="log", xlabel="results", ylabel="seconds for ten points", xlim=(40, 25_000))
    axes.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(RESULTS / "growth.png", dpi=150)
    lines = []
    for row in own["default"]:
        local = next(one for one in own["local"] if one["n"] == row["n"])
        times = [row["seconds"][0], row["seconds"][-1], row["floor"]]
        lines.append([f"{row['n']:,}", *(f"{1e3 * seconds:.3g}" for seconds in times),
                      f"{times[1] / times[2]:.1f}", f"{row['mb']:.0f}",
                      *(f"{1e3 * local['seconds'][place]:.3g}" for place in (0, -1))])  # fmt: skip
    head = ["results", "first, ms", "later, ms", "floor, ms", "later / floor", "MB", "local: first, ms", "later, ms"]
    return (
        "# What ten points cost as results grow\n\nBy [growth.py](../growth.py): Levy-10D, native backend, one thread, "
        "processor time on a machine that was shared.\n\n![Seconds for ten points by the number of results]"
        f"(growth.png)\n\n{markdown_table(head, lines)}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["run", "report"])
    parser.add_argument("--out", type=Path, default=RESULTS / "growth.jsonl")
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments.out)
    else:
        text = report([json.loads(line) for line in arguments.out.read_text().splitlines()])
        (RESULTS / "growth.md").write_text(text)
        print(text)


if __name__ == "__main__":
    main()
