"""How sure is the default model, and does the gain come that it expects? By class, before the last change and after.

    python benchmarks/calibration.py        # five minutes of one core

A study on each problem of the suite without noise, ten random results first, then batches of five until there are 55,
three seeds. Expected is ``Gain.together`` of every batch after 20 results, at most ten times what the study had gained
in its design; measured is what it gained over the best result. Coverage is of leave-one-out intervals at the end.
"corrected": the same studies, and the standard deviations behind the expected gain times one factor a fit, by leave
one out: the root of (PRIOR + Σ z²) / (PRIOR + n), z the standardized residuals.
The second table counts, for each word of ``Gain.outlook``, the batches that gained more than the resolution.
Writes ``results/calibration.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from default_variants import BEFORE, VARIANTS
from regret_report import markdown_table
from speed import provenance

import believer as bv
from believer.arrays import Array
from believer.batch import gain as gain_of
from believer.errors import SpaceExhausted
from believer.problems import Problem
from believer_bench.problems.suite import KINDS, SUITE

SEEDS, DESIGN, STEP, FROM, RESULTS_OF_ALL, MOST = range(100, 103), 10, 5, 20, 55, 10.0
PRIORS = (BEFORE, "default", CORRECTED := "default, corrected")
PRIOR = 10.0
COVERED = {"50 %": 0.6744897501960817, "90 %": 1.6448536269514722}
RESULTS = Path(__file__).parent / "results" / "calibration.md"

_drawn = gain_of._drawn

Batch = tuple[float, float]
"""What a batch was expected to gain and what it gained, in units of the gain of the design."""

OUTLOOKS = ("likely", "possible", "unlikely", "little")
Words = dict[str, list[tuple[float, bool]]]
"""By word: the chance of each batch to gain more than the resolution, and whether it did."""


def corrected(model: Any, points: Array, shift: float, unit: float, place: int) -> Array | None:
    """In place of ``gain._drawn``: samples whose distance from the mean is that of the corrected model."""
    samples = _drawn(model, points, shift, unit, place)
    if samples is None:
        return None
    left_out, mean = model.leave_one_out(), (model.joint(points).mean - shift) / unit
    values = model.shift + model.scale * model.y
    squares = np.square((values - left_out.mean) / left_out.std).sum()
    factor = np.sqrt((PRIOR + squares) / (PRIOR + len(values)))
    scaled: Array = mean + factor * (samples - mean)
    return scaled


def studied(problem: Problem, seed: int, prior: str, words: Words) -> tuple[list[Batch], list[float]]:
    """:func:`observed` under a prior."""
    with VARIANTS[BEFORE](problem.space.size is not None) if prior == BEFORE else nullcontext({}) as options:
        return observed(problem, seed, prior, words, options)


def observed(
    problem: Problem, seed: int, prior: str, words: Words, options: dict[str, Any]
) -> tuple[list[Batch], list[float]]:
    """The batches of a study, and the shares of its results within their leave-one-out intervals; adds to ``words``."""
    gain_of._drawn = corrected if prior == CORRECTED else _drawn
    optimizer = bv.Optimizer(problem.space, n_init=DESIGN, seed=seed, **options)
    values: list[float] = []
    batches = []
    while len(values) < RESULTS_OF_ALL:
        try:
            batch = optimizer.ask(STEP)
        except SpaceExhausted:
            break
        new = [float(problem(trial.params)) for trial in batch]
        unit = float(np.median(values[:DESIGN]) - min(values[:DESIGN])) if len(values) >= FROM else 0.0
        if unit > 0.0 and batch.verdict is not None and batch.verdict.gain is not None:
            gained = max(min(values) - min(new), 0.0) / unit
            gain = batch.verdict.gain
            batches.append((min(gain.together / unit, MOST), min(gained, MOST)))
            words[gain.outlook].append((gain.chance, gained * unit > gain.resolution))
        optimizer.tell_many(batch, new)
        values += new
    learned = optimizer._cache.learned(optimizer._ledger.history(optimizer.settings))
    model: Any = learned.fit
    left_out = model.leave_one_out()
    off = np.abs(learned.data.y - left_out.mean) / left_out.std
    return batches, [float(np.mean(off < width)) for width in COVERED.values()]


def lines(prior: str, words: Words) -> Iterator[list[str]]:
    """A line for each class, and one for all."""
    shares, sums, covers = [], [], []
    for kind in KINDS:
        expected = gained = 0.0
        covered = []
        for make in SUITE.values():
            problem = make()
            if problem.kind != kind or kind == "noisy":
                continue
            found = [studied(problem, seed, prior, words) for seed in SEEDS]
            pairs = np.array([pair for batches, _ in found for pair in batches]).reshape(-1, 2).sum(axis=0)
            expected, gained = expected + pairs[0], gained + pairs[1]
            covered += [cover for _, cover in found]
            if pairs[0] > 0.0:
                shares.append(pairs[1] / pairs[0])
        if covered:
            sums.append((expected, gained))
            covers += covered
            yield [prior, kind, f"{gained / expected:.2f}", *(f"{share:.0%}" for share in np.mean(covered, axis=0))]
    total = np.sum(sums, axis=0)
    yield [prior, "all", f"{total[1] / total[0]:.2f}", *(f"{share:.0%}" for share in np.mean(covers, axis=0))]
    within = np.mean([0.5 < share < 2.0 for share in shares])
    yield [prior, "median problem", f"{np.median(shares):.2f}", f"{within:.0%} of problems in 0.5 to 2", ""]


def main() -> None:
    """Run all and write the table."""
    words: dict[str, Words] = {prior: {word: [] for word in OUTLOOKS} for prior in PRIORS}
    table = [line for prior in PRIORS for line in lines(prior, words[prior])]
    heads = ["prior", "class", "measured / expected gain", *(f"within the {name} interval" for name in COVERED)]
    text = "# Calibration\n\nMade by [calibration.py](../calibration.py), whose docstring says what is counted.\n\n"
    text += markdown_table(heads, table) + "\n\n## The words\n\n"
    said = [
        [prior, word, str(len(of)), *(f"{mean:.0%}" for mean in np.mean(of, axis=0))]
        for prior, found in words.items()
        for word, of in found.items()
        if of
    ]
    text += markdown_table(["prior", "outlook", "batches", "mean chance of a gain", "gained"], said)
    RESULTS.write_text(text + "\n\n" + provenance(["hedged"]), encoding="utf-8")


if __name__ == "__main__":
    main()
