"""Does a batch gain what its verdict expects, and do fewer slots do as well where it says so?

    python benchmarks/verdict.py        # three minutes of one core; a line for each problem

The 74 problems of the suite, and Levy-10D once more. On each, one study by default, in batches of five after a design
of ten, is halted at 20 and at 60 results (Levy-10D: a Latin design of 200). There every strategy is asked for batches
of 3, 10 and 50, which are judged, evaluated and forgotten. Random points are judged by the model that the others were
chosen with.

Expected is ``Gain.together``; measured is what the function, without noise, gains over its value at the incumbent: the
best result, under noise the evaluated point with the least mean. The unit is what the study has gained so far: the
median of its first ten results less its best, the same for every batch of a study; where that is nothing, the study is
left out.

The rule, written before the first run. The expected gain is *calibrated* on a class if the mean measured gain is
between half and twice the mean expected one, and at least 70 % of batches are within their 80 % intervals. It is a
guide *between batches* if, of two strategies asked in the same place for as many points, the one expected to gain more
does gain more in more than half of the pairs that differ, and more often than by the former ``effective_size``
(q²/Σρ²). The *slots* that the verdict calls enough are if they have at least 80 % of the mean measured gain of all.

What was seen after that: on seeds 0-70, over the strategies that have a model, slots with 90 % of the expected gain had
71 % and 72 % of the measured one at q=10 and q=50. Of 0.8, 0.9, 0.95 and 0.99 the least that passes is 0.95 (83 % at
both), and ``ENOUGH`` became that. What is written is from fresh seeds, 100-173. Writes ``results/verdict.md`` and
``results/verdict.png``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from speed import provenance
from verdict_report import SIZES, STRATEGIES, Judged, draw, report

import believer as bv
from believer.arrays import Array
from believer.batch import Gain, judge
from believer.batch.gain import expected_gain
from believer.errors import SpaceExhausted
from believer.numerics import latin_hypercube
from believer.plugins import History, ModelCache, StudySettings, best_so_far, propose
from believer.problems import Problem
from believer.propose import request_of
from believer_bench.problems import PROBLEMS
from believer_bench.problems.suite import SUITE

RESULTS = Path(__file__).parent / "results"
HALTS = (20, 60)
DESIGN, STEP = 10, 5
FIRST_SEED = 100
LEVY, LEVY_RESULTS = "levy10", 200


def effective_size(model: Any, X: Array) -> float:
    """q² / Σρ²: how many independent points the verdict used to say that a batch is worth."""
    covariance = model.joint(X).covariance
    std = np.sqrt(np.maximum(np.diagonal(covariance), 1e-300))
    rho = np.clip(covariance / np.multiply.outer(std, std), -1.0, 1.0)
    np.fill_diagonal(rho, 1.0)
    return float(len(X) ** 2 / (rho**2).sum())


def study_of(problem: Problem, seed: int) -> Iterator[tuple[StudySettings, History, float]]:
    """The study at each halt, and its unit."""
    optimizer = bv.Optimizer(problem.space, n_init=DESIGN, seed=seed)
    unit = 0.0
    for n in range(STEP, max(HALTS) + 1, STEP):
        batch = optimizer.ask(STEP)
        optimizer.tell_many(batch, [problem(trial.params) for trial in batch])
        y = np.array([record["value"] for record in optimizer.records()])
        if n in HALTS:
            unit = float(np.median(y[:DESIGN]) - y.min())
            trials = [(t.id, t.params, float(v)) for t, v in zip(optimizer.trials, y, strict=True)]
            yield optimizer.settings, History.of(optimizer.settings, trials), unit


def levy() -> Iterator[tuple[StudySettings, History, float]]:
    """Levy-10D after a Latin design of 200."""
    problem = PROBLEMS[LEVY]()
    X = latin_hypercube(LEVY_RESULTS, problem.space.dim, np.random.default_rng(0))
    y = problem.evaluate(X)
    settings = StudySettings.of(problem.space, seed=0)
    rows = zip(problem.space.decode(X), y, strict=True)
    yield (
        settings,
        History.of(settings, [(i, p, float(v)) for i, (p, v) in enumerate(rows)]),
        float(np.median(y) - y.min()),
    )


def judged(problem: Problem, settings: StudySettings, history: History, unit: float) -> Iterator[Judged]:
    """Every strategy's batch of every size, judged and evaluated."""
    truth, cache = problem.without_noise(), ModelCache(settings)
    asked = request_of(settings, history, cache=cache)
    here = best_so_far(asked)
    best = float(truth.evaluate(here.X[[int(np.argmin(here.Y[:, 0]))]])[0])
    for q in SIZES:
        for strategy in STRATEGIES:
            try:
                batch = propose(settings, history, q, strategy=strategy, cache=cache).batch
            except SpaceExhausted:
                continue
            gain = cast(Gain, expected_gain(asked, batch.encoded))
            singles = np.maximum(best - truth.evaluate(batch.encoded)[list(gain.order)], 0.0)
            words = judge(batch.encoded, asked.region, asked.model, 0, gain).sentence
            worth = effective_size(asked.model, batch.encoded)
            yield Judged(
                problem.name, problem.kind, len(history.ids), q, strategy, gain, unit, tuple(singles), worth, words
            )


def all_judged(chosen: list[str]) -> list[Judged]:
    """The batches on the ``chosen`` problems, each with the seed that it has among all."""
    rows: list[Judged] = []
    names, begun = list(SUITE), time.process_time()
    for i, name in enumerate([*names, LEVY]):
        if name not in chosen:
            continue
        problem = (SUITE.get(name) or PROBLEMS[name])().seeded(FIRST_SEED + i)
        halted = study_of(problem, FIRST_SEED + i) if i < len(names) else levy()
        found = [
            row for settings, history, unit in halted if unit > 0.0 for row in judged(problem, settings, history, unit)
        ]
        rows += found
        spent = time.process_time() - begun
        print(
            f"{i + 1:>3}/{len(names) + 1}  {name:<22} {len(found):>3} batches  {spent:5.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return rows


def main() -> None:
    """Judge the batches, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    known = [*SUITE, LEVY]
    parser.add_argument("--problems", nargs="+", choices=known, default=known, metavar="NAME", help="default: all")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the report; default: %(default)s")
    arguments = parser.parse_args()
    rows = all_judged(arguments.problems)
    arguments.out.mkdir(parents=True, exist_ok=True)
    draw(rows, arguments.out / "verdict.png")
    spent = f"Processor time: {time.process_time():.0f} s. "
    (arguments.out / "verdict.md").write_text("\n".join([report(rows), spent + provenance(["kb"])]), encoding="utf-8")


if __name__ == "__main__":
    main()
