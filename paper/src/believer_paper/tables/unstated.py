"""What the choices are worth that the paper does not state: the printed set-up with one of them changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from believer.experiments import formatted, hodges_lehmann, holm, wilcoxon
from believer_paper.numbers.printed import TABLE_4
from believer_paper.plan import ALTERNATIVES, LENGTHSCALES
from believer_paper.results import Loop, Results, paired
from believer_paper.tables.layout import PaperTable, Quantity, Row, laid_out
from believer_paper.tables.loops import NAMES

READINGS = {
    "": "as chosen",
    "incumbent=believed": "f⁺ over lies, too",
    "renormalize=False": "y scaled once",
    "renormalize=False gradient=True": "y scaled once, exact gradients",
    "process=twin": "hyperparameters by this library's search",
    "lengthscale=geometric": "ℓ the geometric mean of the columns'",
    "lengthscale=ard": "ℓ of each column",
}

Options = Mapping[str, Any]


def unstated(results: Results) -> PaperTable | None:
    """CL-min, KB and Local Penalization on Hartmann-6D, q = 3, under every reading of the printed set-up."""
    readings: list[tuple[str, Options]] = [
        (strategy, options)
        for strategy, others in (("cl_min", ALTERNATIVES), ("kb", ALTERNATIVES), ("lp", LENGTHSCALES))
        for options in ({}, *others)
    ]
    found = [results.loops("printed", "hartmann6", strategy, 3, options=dict(o)) for strategy, o in readings]
    chosen = {strategy: loops for (strategy, options), loops in zip(readings, found, strict=True) if not options}
    shifts = _shifts([(loops, chosen[s]) for (s, options), loops in zip(readings, found, strict=True) if options])
    rows = []
    for (strategy, options), loops in zip(readings, found, strict=True):
        items = (
            Quantity("final best", TABLE_4[strategy, 3, "hartmann6"], {"printed": [x.final for x in loops]}, 2),
            Quantity("diversity", None, {"printed": [float(np.nanmean(x.mean_distance)) for x in loops]}, 2),
            Quantity("starts that moved", None, {"printed": [x.moved for x in loops if x.moved is not None]}, 2),
        )
        reading = READINGS[" ".join(f"{name}={value}" for name, value in options.items())]
        rows.append(Row((NAMES[strategy], reading, next(shifts) if options else ""), items))
    notes = (
        "Shift: the Hodges-Lehmann shift of the final best from the choice made, on the same seeds, with the p value "
        "of a signed-rank test after Holm's correction over all of them; below zero is better.",
        *_on_levy(results),
    )
    title = "Unstated choices of the printed set-up (Hartmann-6D, q=3)"
    return laid_out(100, title, ("strategy", "reading", "shift"), rows, notes, ("unstated",))


def _shifts(pairs: Sequence[tuple[list[Loop], list[Loop]]]) -> Any:
    """For each pair of groups: how far the first ends from the second, and the corrected p value, as text."""
    differences = []
    for loops, base in pairs:
        ours, chosen = paired(loops, base)
        differences.append([a.final - b.final for a, b in zip(ours, chosen, strict=True)])
    corrected = iter(holm([wilcoxon(d) for d in differences if d]))
    return iter(
        [f"{formatted(hodges_lehmann(d))} (p = {formatted(next(corrected))})" if d else "" for d in differences]
    )


def _on_levy(results: Results) -> tuple[str, ...]:
    """The two searches for hyperparameters on Levy-10D, from runs that Exp 4 and Exp 12 have."""
    theirs = results.loops("printed", "levy10", "sequential", 1, budget=50)
    twins = results.loops("printed", "levy10", "sequential", 1, budget=170, options={"process": "twin"})
    first, second = paired(theirs, twins)
    if not first:
        return ()
    a, b = [x.final for x in first], [float(x.best[49]) for x in second]
    p = formatted(wilcoxon(np.array(a) - np.array(b)))
    return (
        f"On Levy-10D, sequential, after 50 evaluations on the same {len(a)} seeds: {np.mean(a):.1f} with "
        f"scikit-learn's search, {np.mean(b):.1f} with this library's (p = {p}).",
    )
