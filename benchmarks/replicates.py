"""What replicates are worth: when does the noise depend on the place, and when is a repeat better than a new point?

    python benchmarks/replicates.py thresholds    # seeds 0-39 choose, seeds 100-139 confirm
    python benchmarks/replicates.py repeats       # the rule for repeats beside Kriging Believer without it

**thresholds**: what the second model of :mod:`believer.surrogates.replicates` needs before it is believed. Of k points
in the unit cube each was measured r times, 30 others once; the loss is the mean over all points of the KL divergence
½(ρ - 1 - log ρ), ρ = σ²/σ̂², of N(0, σ̂²) from N(0, σ²). Laws of the noise: constant; "slope", a standard deviation
that rises by a factor of four along the first axis; "step", three times as large in half of the cube; "wave",
exp(sin(2πx₁)); and "heavy", constant with Student's t of five degrees of freedom instead of a normal law.

The rule, written before it was run. Candidates: points 3, 5, 8; degrees of freedom 0, 10, 20, 40; nats 0, 1, 2, 3, 5.
Allowed are those whose mean loss exceeds that of one pooled variance by 0.02 at most in every cell (d, k, r) of the
constant law. Of these the least mean loss over slope, step and wave wins; of those within 1 % of it the one with the
most nats, then degrees, then points. The prior mean of the second model was changed between two runs, so that it leads
to the pooled variance far from all replicates; the rule took the same candidate before and after.

**repeats**: functions over the unit cube with normal noise of 0, 10, 50 and 100 % of the function's standard deviation
over uniform points, its unit (noise.py). 54 evaluations in batches of three, the first six a design; every point is
chosen by Kriging Believer and LogEI. With the rule, :func:`believer.batch.repeat.worth_repeating` may replace it by a
repeat. Regret is what the function without noise is at the measured point with the least posterior mean, less its
optimum. Both members of a pair have the same design and the same draws of noise. Nothing was tuned on these seeds: a
first run had Branin and Hartmann-6D on seeds 0-19 alone, and the other functions, seeds and the noise of 100 % were
added to see more. Writes ``results/replicates.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from noise import FUNCTIONS, spread
from regret_report import markdown_table
from speed import provenance

from believer.acquisitions import LogEI
from believer.arrays import Array, frozen, near_any
from believer.batch import Pending, PseudoObservations, Request
from believer.batch.repeat import worth_repeating
from believer.experiments.statistics import wilcoxon
from believer.numerics import latin_hypercube
from believer.space.box import Box
from believer.surrogates import GP, GPModel, standardization
from believer.surrogates.data import Data
from believer.surrogates.replicates import _shares, second_model

RESULTS = Path(__file__).parent / "results" / "replicates.md"

# When noise depends on the place

LAWS: dict[str, Callable[[Array], Array]] = {
    "constant": lambda X: np.ones(len(X)),
    "heavy": lambda X: np.ones(len(X)),
    "slope": lambda X: np.exp(np.log(4.0) * (X[:, 0] - 0.5)),
    "step": lambda X: np.where(X[:, 0] > 0.5, 3.0, 1.0),
    "wave": lambda X: np.exp(np.sin(2.0 * np.pi * X[:, 0])),
}
DIMENSIONS, POINTS, REPLICATES = (1, 2, 6), (3, 5, 8, 12, 20, 40), (2, 3, 5, 10)
CHOOSING, CONFIRMING = range(40), range(100, 140)
CANDIDATES = tuple(product((0.0, 1.0, 2.0, 3.0, 5.0), (0, 10, 20, 40), (3, 5, 8)))
"""Nats, degrees of freedom, points."""

ALLOWED, NEARLY = 0.02, 1.01


@dataclass(frozen=True, slots=True)
class Sample:
    """Losses of one pooled variance and of the second model, and how much evidence that has."""

    law: str
    d: int
    k: int
    r: int
    nats: float
    pooled: float
    modeled: float

    def loss(self, nats: float, degrees: int, points: int) -> float:
        believed = self.k >= points and self.k * (self.r - 1) >= degrees and self.nats > nats
        return self.modeled if believed else self.pooled


def sample(law: str, d: int, k: int, r: int, seed: int) -> Sample:
    """One set of replicates."""
    rng = np.random.default_rng([seed, d, k, r, zlib.crc32(law.encode())])
    X = rng.random((k + 30, d))
    true = LAWS[law](X)
    draws = rng.standard_t(5.0, (k, r)) / np.sqrt(5.0 / 3.0) if law == "heavy" else rng.standard_normal((k, r))
    variances = np.square(true[:k]) * draws.var(axis=1, ddof=1)
    pooled = float(variances.mean())
    shares = variances / pooled
    model, nats = second_model(Data(X[:k], shares), np.full(k, r - 1.0), rng)
    modeled = pooled * _shares(model, X, float(shares.max()))
    return Sample(law, d, k, r, nats, _divergence(true**2 / pooled), _divergence(true**2 / modeled))


def _divergence(ratio: Array) -> float:
    return float(0.5 * (ratio - 1.0 - np.log(ratio)).mean())


def thresholds() -> str:
    """Which candidate the rule takes, and how it does on other seeds."""
    cells = list(product(LAWS, DIMENSIONS, POINTS, REPLICATES))
    found = [sample(*cell, seed) for cell in cells for seed in CHOOSING]
    groups = [found[i : i + len(CHOOSING)] for i in range(0, len(found), len(CHOOSING))]
    constant, rows = [group for group in groups if group[0].law == "constant"], []
    for candidate in CANDIDATES:
        worst = max(np.mean([one.loss(*candidate) - one.pooled for one in cell]) for cell in constant)
        varying = float(np.mean([one.loss(*candidate) for one in found if one.law in ("slope", "step", "wave")]))
        rows.append((candidate, float(worst), varying))
    allowed = [row for row in rows if row[1] <= ALLOWED]
    least = min(row[2] for row in allowed)
    taken = max(row[0] for row in allowed if row[2] <= NEARLY * least)
    shown = sorted(rows, key=lambda row: row[2])
    some = [row for row in shown if row[1] <= ALLOWED][:6] + [row for row in shown if row[1] > ALLOWED][:3]
    table = markdown_table(
        ["nats", "degrees", "points", "worst excess, constant noise", "mean loss, noise by place"],
        [[f"{c[0]:g}", f"{c[1]}", f"{c[2]}", f"{worst:.3f}", f"{mean:.4f}"] for c, worst, mean in some],
    )
    fresh = [sample(*cell, seed) for cell in cells for seed in CONFIRMING]
    lines = []
    for law, few in product(LAWS, (True, False)):
        those = [one for one in fresh if one.law == law and (one.k * (one.r - 1) < 40) == few]
        believed = np.mean([one.loss(*taken) != one.pooled for one in those])
        means = (np.mean(v) for v in zip(*[(one.pooled, one.modeled, one.loss(*taken)) for one in those], strict=True))
        lines.append(
            [law, "below 40" if few else "40 or more", *(f"{v:.3f}" for v in means), f"{100 * believed:.0f} %"]
        )
    confirmed = markdown_table(
        ["noise", "degrees of freedom", "pooled", "second model always", "by the rule", "second model believed"], lines
    )
    return f"""## When noise depends on the place

The best six of the {len(allowed)} candidates that are allowed, and three that are not:

{table}
The rule takes {taken[0]:g} nats, {taken[1]} degrees of freedom and {taken[2]} points. Mean loss on seeds 100-139:

{confirmed}"""


# When a repeat is better than a new point

EVALUATIONS, BATCH, DESIGN, SEEDS = 54, 3, 6, range(40)
SHARES = (0.0, 0.1, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Run:
    """Regret of what is recommended, and how many repeats there were."""

    regret: float
    repeats: int


def run(name: str, share: float, seed: int, repeating: bool) -> Run:
    """One optimization."""
    function, d, optimum = FUNCTIONS[name]
    unit = spread(name)
    noise = share * unit * np.random.default_rng([seed, 7]).standard_normal(EVALUATIONS)
    X = latin_hypercube(DESIGN, d, np.random.default_rng([seed, 8]))
    y, model, repeats = function(X) + noise[:DESIGN], None, 0
    while len(X) < EVALUATIONS:
        data = Data(frozen(X), frozen(y))
        model = GP().fit(data, np.random.default_rng([seed, len(X)]), model)
        batch, again = chosen(model, data, seed, repeating)
        X, repeats = np.vstack([X, batch]), repeats + again
        y = np.append(y, function(batch) + noise[len(y) : len(X)])
    model = GP().fit(Data(frozen(X), frozen(y)), np.random.default_rng([seed, 0]), model)
    best = X[int(model.predict(X).mean.argmin())]
    return Run(float(function(best[None, :])[0] - optimum) / unit, repeats)


def chosen(model: GPModel, data: Data, seed: int, repeating: bool) -> tuple[Array, int]:
    """A batch (q, d), and how many of its points are repeats."""
    n, d = data.X.shape
    points, repeats, believed = np.zeros((0, d)), 0, model
    scale, std = standardization(data.y)[1], model.scale * float(np.sqrt(model.hyper.noise))
    for slot in range(BATCH):
        under_way = Pending(tuple(range(n, n + slot)), frozen(points))
        request = Request.single(
            ids=(n + slot,),
            surrogate=GP(),
            acquisition=LogEI(),
            model=model,
            data=data,
            pending=under_way,
            region=Box.cube(d),
            avoid=np.vstack([data.X, points]),
            distinct=True,
            randomness=lambda trial, purpose: np.random.default_rng([seed, trial, zlib.crc32(purpose.encode())]),
        )
        x = PseudoObservations().choose(request).choices[0].x
        if repeating:
            every = np.vstack([data.X, points])
            better = worth_repeating(believed, every, std, x, std, scale)
            if better is not None:
                x, repeats = better.x, repeats + 1
                assert near_any(x[None, :], every)[0]
            believed = believed.condition(Data(x[None, :], believed.predict(x[None, :]).mean))
        points = np.vstack([points, x])
    return points, repeats


def repeats() -> str:
    """The rule beside none."""
    lines, differences = [], dict[float, list[Array]]()
    for name, share in product(FUNCTIONS, SHARES):
        without = [run(name, share, seed, False) for seed in SEEDS]
        with_it = [run(name, share, seed, True) for seed in SEEDS]
        one, other = (np.array([each.regret for each in runs]) for runs in (without, with_it))
        d = other - one
        differences.setdefault(share, []).append(d)
        again = np.mean([each.repeats for each in with_it]) / (EVALUATIONS - DESIGN)
        medians = [f"{np.median(one):.4f}", f"{np.median(other):.4f}", f"{one.mean():.4f}", f"{other.mean():.4f}"]
        lines.append([name, f"{100 * share:g} %", *medians, _wins(d), f"{wilcoxon(d):.2f}", f"{100 * again:.0f} %"])
        print(lines[-1], flush=True)
    header = ["function", "noise", "median without", "with", "mean without", "with", "less : more", "p", "repeats"]
    both = []
    for share, parts in differences.items():
        d = np.concatenate(parts)
        both.append([f"{100 * share:g} %", _wins(d), f"{d.mean():+.4f}", f"{wilcoxon(d):.2f}"])
    together = markdown_table(["noise", "less : more", "mean difference", "p"], both)
    return f"""## When a repeat is better than a new point

Regret in units of the function's standard deviation, {len(SEEDS)} seeds; "less : more" are seeds on which the rule has
less regret, and more; p of a Wilcoxon test of the paired differences, not corrected; "repeats" is their share of the
points that were chosen. Where the model sees no noise nothing is repeated; without noise, Ackley's function is at times
taken for a noisy one.

{markdown_table(header, lines)}
All functions together:

{together}"""


def _wins(d: Array) -> str:
    return f"{int((d < 0.0).sum())} : {int((d > 0.0).sum())}"


PARTS = {"thresholds": thresholds, "repeats": repeats}


def main(names: list[str]) -> None:
    """Run the parts that are named, all by default; the file keeps the others."""
    kept = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:] if RESULTS.exists() else []
    found = {"thresholds": "", "repeats": ""}
    for part in kept:
        found["thresholds" if part.startswith("When noise") else "repeats"] += f"## {part.rstrip()}\n\n"
    for name in names or list(PARTS):
        found[name] = PARTS[name]().rstrip() + "\n\n"
    text = f"# Replicates\n\n{provenance(['believer'])}\n{found['thresholds']}{found['repeats']}"
    RESULTS.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
