"""The Gaussian process on a GPU: agreement with the one on the CPU, times, and BoTorch on the same device beside it.

    python benchmarks/gpu.py --device cuda                    # on a machine with a GPU
    python benchmarks/gpu.py --device cpu --results 500 --q 8 # a trial without one
    python benchmarks/gpu.py --device cuda --regret 5000      # a study of Ackley-50D in batches of 100, as JSON
    python benchmarks/gpu.py --draw gpu_regret.json           # its figure

It needs NumPy, SciPy, PyTorch and this source tree (``src`` is found beside it); BoTorch is compared with where it is
installed, Matplotlib draws the figure. Seconds are wall time after the device has finished, of the second of two runs:
the first one loads kernels. Each fit begins anew. "kb" is Kriging Believer; the default hedges, which takes a second
factor.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import numpy as np
import torch

import believer as bv
from believer.surrogates.data import Data

CELLS = ((2000, 64), (10_000, 100), (20_000, 100))
COLUMNS = 20


def main() -> None:
    """Print the report; ``--out`` keeps it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--results", type=int, help="only this many results")
    parser.add_argument("--q", type=int, default=100)
    parser.add_argument("--regret", type=int, metavar="N", help="a study of Ackley-50D up to so many results")
    parser.add_argument("--draw", type=Path, metavar="JSON", help="draw the figure of what --regret wrote")
    parser.add_argument("--out", type=Path, help="the report, the JSON of --regret, or the figure of --draw")
    given = parser.parse_args()
    if given.draw:
        draw(json.loads(given.draw.read_text(encoding="utf-8")), given.out or given.draw.with_suffix(".png"))
        return
    if given.regret:
        regret(given.device, given.regret, given.q, given.out or Path("gpu_regret.json"))
        return
    cells = CELLS if given.results is None else ((given.results, given.q),)
    text = report(given.device, cells)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


def report(device: str, cells: tuple[tuple[int, int], ...]) -> str:
    """Agreement and times, as Markdown."""
    lines = [
        f"# The Gaussian process on {device_name(device)}",
        "",
        f"PyTorch {torch.__version__}, {COLUMNS} columns, double precision; by [gpu.py](../gpu.py).",
        "",
        *agreement(device),
        "",
        "| results | q | fit, s | ask(q) after it, kb, s | fit and ask(q), kb, s | fit and ask(q), default, s | "
        "BoTorch: fit, s | BoTorch: ten points, s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n, q in cells:
        fit, kb, default = times(device, n, q)
        other = botorch_times(device, n)
        shown = [f"{n:,}", str(q), f"{fit:.2f}", f"{max(kb - fit, 0.0):.2f}", f"{kb:.2f}", f"{default:.2f}"]
        shown += ["-", "-"] if other is None else [f"{seconds:.2f}" for seconds in other]
        lines.append(f"| {' | '.join(shown)} |")
        print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


def device_name(device: str) -> str:
    """What the device calls itself."""
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else platform.processor() or "CPU"


def results_of(n: int, d: int = COLUMNS) -> Data:
    """``n`` results of a smooth function of which a few columns matter."""
    X = np.random.default_rng(n).random((n, d))
    y = (
        np.sin(3.0 * X[:, 0])
        + (X[:, 1] - 0.4) ** 2
        + 0.3 * np.cos(5.0 * X[:, 2] * X[:, 3])
        + 0.1 * X[:, 4:8].sum(axis=1)
    )
    return Data(X, y)


def agreement(device: str) -> list[str]:
    """How far predictions are from those of ``GP`` at the same hyperparameters."""
    data, Z = results_of(1500), np.random.default_rng(1).random((1000, COLUMNS))
    own = bv.GP().fit(data, np.random.default_rng(0))
    there = bv.TorchGP(device=device).restore(data, bv.GP().describe(own))
    one, other, scale = own.predict(Z), there.predict(Z), float(data.y.std())
    gaps = [float(np.abs(a - b).max()) / scale for a, b in ((one.mean, other.mean), (one.std, other.std))]
    return [
        f"At the hyperparameters that GP found for 1,500 results, means at 1,000 points differ by {gaps[0]:.1e}, "
        f"standard deviations by {gaps[1]:.1e}, at most, in units of the standard deviation of the results."
    ]


def times(device: str, n: int, q: int) -> tuple[float, float, float]:
    """Seconds of a fit, and of a first ask(q) with its fit by kb and by the default."""
    data, recipe = results_of(n), bv.TorchGP(device=device)
    fit = seconds(device, lambda: recipe.fit(data, np.random.default_rng(0)))
    asked = []
    for strategy in ("kb", "hedged"):

        def ask(strategy: str = strategy) -> Callable[[], Any]:
            opt = bv.Optimizer(bv.Space.cube(COLUMNS), surrogate=recipe, strategy=strategy, seed=0)
            names = opt.space.names
            for x, y in zip(data.X, data.y, strict=True):
                opt.observe(dict(zip(names, map(float, x), strict=True)), float(y))
            return lambda: opt.ask(q)

        asked.append(min(seconds(device, ask(), again=False) for _ in range(2)))
    return fit, asked[0], asked[1]


def seconds(device: str, work: Callable[[], Any], again: bool = True) -> float:
    """Wall time of ``work``, of its second run with ``again``."""
    took = 0.0
    for _ in range(2 if again else 1):
        began = time.perf_counter()
        work()
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        took = time.perf_counter() - began
    return took


def botorch_times(device: str, n: int) -> tuple[float, float] | None:
    """Seconds of BoTorch's fit and of ten points by its greedy q-LogEI, at its defaults; None without it."""
    try:
        acquisition, models, fitting, optimizing, likelihoods = (
            importlib.import_module(name)
            for name in ("botorch.acquisition", "botorch.models", "botorch.fit", "botorch.optim", "gpytorch.mlls")
        )
    except ImportError:
        return None
    data = results_of(n)
    X = torch.tensor(data.X, device=device)
    y = -torch.tensor(data.Y, device=device)
    model = models.SingleTaskGP(X, (y - y.mean()) / y.std())

    def fit() -> None:
        fitting.fit_gpytorch_mll(likelihoods.ExactMarginalLogLikelihood(model.likelihood, model))

    fitted = seconds(device, fit, again=False)
    gain = acquisition.qLogExpectedImprovement(model, best_f=float(((y - y.mean()) / y.std()).max()))
    bounds = torch.tensor([[0.0] * COLUMNS, [1.0] * COLUMNS], device=device, dtype=X.dtype)

    def ask() -> None:
        optimizing.optimize_acqf(gain, bounds, q=10, num_restarts=10, raw_samples=512, sequential=True)

    return fitted, seconds(device, ask, again=False)


def ackley(X: np.ndarray) -> np.ndarray:
    """Ackley's function on [-32.768, 32.768]^d, of points (n, d) of the cube; its least value is 0, off the center."""
    Z = 65.536 * (X - 0.43)
    d = X.shape[1]
    return np.asarray(
        20.0 + np.e - 20.0 * np.exp(-0.2 * np.sqrt((Z**2).sum(1) / d)) - np.exp(np.cos(2 * np.pi * Z).sum(1) / d)
    )


def regret(device: str, most: int, q: int, out: Path) -> None:
    """Ackley-50D in batches of ``q``: on the device, by a sparse model on the CPU, and at random; writes JSON."""
    d = 50
    members = {
        f"TorchGP, {device_name(device)}": {"surrogate": bv.TorchGP(device=device), "strategy": "kb"},
        "SparseGP on the CPU": {"surrogate": bv.SparseGP(inducing=256), "strategy": "cl_min"},
        "random": {"strategy": "random"},
    }
    study: dict[str, Any] = {"title": f"Ackley-{d}D, batches of {q}", "q": q, "members": {}}
    for name, options in members.items():
        opt, best = bv.Optimizer(bv.Space.cube(d), seed=0, n_init=2 * d, **options), list[float]()
        began = time.perf_counter()
        while len(best) * q < most:
            batch = opt.ask(q)
            values = ackley(np.array([trial.encoded for trial in batch]))
            opt.tell_many(batch, map(float, values))
            best.append(min([*best[-1:], float(values.min())]))
            print(f"{name}: {len(best) * q} results, best {best[-1]:.3f}", file=sys.stderr, flush=True)
        study["members"][name] = {"best": best, "seconds": round(time.perf_counter() - began, 1)}
        out.write_text(json.dumps(study) + "\n", encoding="utf-8")


def draw(study: dict[str, Any], out: Path) -> None:
    """The best value so far of each member of a study."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, member in study["members"].items():
        best = member["best"]
        axes.plot(study["q"] * np.arange(1, len(best) + 1), best, label=f"{name} ({member['seconds']:.0f} s)")
    axes.set(xlabel="results", ylabel="best value", title=study["title"])
    axes.legend()
    figure.savefig(out, dpi=150, bbox_inches="tight")


if __name__ == "__main__":
    main()
