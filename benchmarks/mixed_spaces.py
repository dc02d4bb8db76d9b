"""What a batch costs on grids and categories, beside one on floats; and how good the points are that a search finds.

    python benchmarks/mixed_spaces.py --save before.json            # in another checkout
    python benchmarks/mixed_spaces.py --against before.json --ties 60 --markdown benchmarks/results/mixed_spaces.md

A *step* tells 4 results and asks for 4 points at n = 50: processor seconds on one thread. The spaces take turns, each
repeat is another study, and the ratio is that of the medians. ``--save`` writes the largest acquisition that the
default maximizer found in each of 50 made-up studies a space; ``--against`` compares with another checkout's, study by
study. Both see the same model of the same points, so a larger value is a better search and nothing else.

``--ties`` runs studies on made-up tables of categories with one lengthscale for each category, as the library does, and
with one for each of its columns: the regret after 50 evaluations in batches of 5, seed by seed.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import platform
import time
from contextlib import nullcontext
from pathlib import Path
from unittest import mock

import numpy as np

import believer as bv
from believer.acquisitions import LogEI, PointwiseObjective
from believer.arrays import Array
from believer.maximize import Multistart, Search
from believer.report import Table
from believer.surrogates.data import Data

N, Q = 50, 4
FLOATS, TABLE = "5 floats", "table of 1,728: categories of 12, 4, 3, 4, 3"


def _categories(*sizes: int) -> dict[str, bv.Categorical]:
    return {f"c{j}": bv.Categorical([f"v{i}" for i in range(k)]) for j, k in enumerate(sizes)}


SPACES = {
    FLOATS: bv.Space.cube(5),
    "5 integers of 10 to 100": bv.Space({f"i{j}": bv.Int(1, k) for j, k in enumerate((10, 20, 40, 70, 100))}),
    "2 floats, 2 integers, a category of 4": bv.Space(
        {"f0": bv.Float(0, 1), "f1": bv.Float(0, 1), "i0": bv.Int(1, 12), "i1": bv.Int(1, 60), **_categories(4)}
    ),
    TABLE: bv.Space(_categories(12, 4, 3, 4, 3)),
    "3 categories of 8, 3 integers of 20": bv.Space(
        {**_categories(8, 8, 8), **{f"i{j}": bv.Int(1, 20) for j in range(3)}}
    ),
    "5 floats with a step of 0.05": bv.Space({f"f{j}": bv.Float(0, 1, step=0.05) for j in range(5)}),
}


def objective(X: Array, seed: int) -> Array:
    """Values (n,) at encoded points (n, d): a bowl, two waves across it."""
    rng = np.random.default_rng([seed, X.shape[1]])
    center, waves = rng.random(X.shape[1]), rng.standard_normal((X.shape[1], 2)) * 2.0
    y: Array = ((X - center) ** 2).sum(axis=1) + 0.3 * np.sin(X @ waves).sum(axis=1)
    return y


def step(space: bv.Space, seed: int) -> float:
    """Seconds to tell the last of N results and to ask for Q points."""
    optimizer = bv.Optimizer(space, n_init=N - Q, seed=seed)
    batch = optimizer.ask(N - Q)
    for trial, y in zip(batch, objective(np.array([t.encoded for t in batch]), seed), strict=True):
        optimizer.tell(trial, float(y))
    batch = optimizer.ask(Q)
    values = objective(np.array([t.encoded for t in batch]), seed)
    began = time.process_time()
    for trial, y in zip(batch, values, strict=True):
        optimizer.tell(trial, float(y))
    optimizer.ask(Q)
    return time.process_time() - began


def seconds(repeats: int) -> dict[str, list[float]]:
    """Of steps on each space, in turn."""
    for space in SPACES.values():
        step(space, 0)
    times: dict[str, list[float]] = {name: [] for name in SPACES}
    for seed in range(1, repeats + 1):
        for name, space in SPACES.items():
            times[name].append(step(space, seed))
    return times


def found(space: bv.Space, seed: int) -> float:
    """The largest LogEI that the default maximizer finds in a made-up study of N random points."""
    region, rng = space.region(), np.random.default_rng(seed)
    X = region.spread(rng.random((N, region.dim)))
    y = objective(X, seed)
    target = PointwiseObjective(LogEI(), bv.GP().fit(Data(X, y), rng), float(y.min()))
    return Multistart().maximize(target, Search(region, X[np.argsort(y)[:3]], X), rng).value


def yields(space: bv.Space, seed: int, varied: bool) -> dict[bytes, float]:
    """A made-up table: the yield at every point of a space of categories, by the bytes of the point.

    A saturating function of main effects and interactions; ``varied`` makes some parameters count more than others.
    """
    rng, X = np.random.default_rng([seed, 1]), space.region().points()
    weight = np.exp(varied * rng.standard_normal(len(space)))[np.array(space.groups)]
    pairs = np.triu(0.5 * rng.standard_normal((space.dim, space.dim)) * np.sqrt(np.outer(weight, weight)), 1)
    effect = X @ (weight * rng.standard_normal(space.dim)) + np.einsum("ij,jk,ik->i", X, pairs, X)
    values = 1.0 / (1.0 + np.exp(-1.5 * (effect - effect.mean()) / effect.std()))
    return {x.tobytes(): float(y) for x, y in zip(X, values, strict=True)}


def regret(space: bv.Space, seed: int, varied: bool, tied: bool) -> float:
    """How far the best of 50 evaluations in batches of 5, 10 of them a design, is below the best of all."""
    table = yields(space, seed, varied)
    with nullcontext() if tied else mock.patch.object(bv.Space, "groups", None):
        optimizer = bv.Optimizer(space, n_init=10, seed=seed, maximize=True)
        for _ in range(10):
            for trial in optimizer.ask(5):
                optimizer.tell(trial, table[trial.encoded.tobytes()])
    return max(table.values()) - max(table[trial.encoded.tobytes()] for trial in optimizer.trials)


def ties(seeds: int) -> Table:
    """One lengthscale a category against one a column, on the same tables."""
    rows = []
    for what, varied in (("all count alike", False), ("some count more", True)):
        both = [[regret(SPACES[TABLE], seed, varied, tied) for seed in range(seeds)] for tied in (True, False)]
        gain = np.array(both[1]) - np.array(both[0])
        means = (f"{np.mean(values):.5f}" for values in both)
        rows.append((what, seeds, *means, int((gain > 1e-12).sum()), int((gain < -1e-12).sum())))
    columns = ("parameters", "seeds", "mean regret, one a category", "one a column", "better", "worse")
    return Table("Lengthscales on tables of 1,728 points", columns, rows)


def comparison(before: dict[str, list[float]], after: dict[str, list[float]]) -> Table:
    """Study by study, a row a space."""
    rows = []
    for name in before.keys() & after.keys():
        gain = np.array(after[name]) - np.array(before[name])
        better, worse = (gain > 1e-6), (gain < -1e-6)
        rows.append((name, len(gain), int(better.sum()), int(worse.sum()), f"{gain.mean():+.4f}", f"{gain.min():+.4f}"))
    columns = ("space", "studies", "better", "worse", "mean change of LogEI", "worst change")
    return Table("The largest LogEI found, beside the other checkout's", columns, sorted(rows))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--ties", type=int, default=0, metavar="SEEDS")
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    medians = {name: 1e3 * float(np.median(times)) for name, times in seconds(arguments.repeats).items()}
    rows = [(name, f"{ms:.2f}", f"{ms / medians[FLOATS]:.2f}") for name, ms in medians.items()]
    text = Table(f"A step of {Q} at n = {N}, one thread", ("space", "ms", "of that on floats"), rows).markdown()
    if arguments.save is not None or arguments.against is not None:
        values = {name: [found(space, seed) for seed in range(arguments.studies)] for name, space in SPACES.items()}
        if arguments.save is not None:
            arguments.save.write_text(json.dumps(values), encoding="utf-8")
        if arguments.against is not None:
            text += f"\n{comparison(json.loads(arguments.against.read_text(encoding='utf-8')), values).markdown()}"
    if arguments.ties:
        text += f"\n{ties(arguments.ties).markdown()}"
    text += f"\nbeliever {bv.__version__}, Python {platform.python_version()}, NumPy {np.__version__}.\n"
    print(text)
    if arguments.markdown is not None:
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
