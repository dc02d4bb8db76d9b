"""What the choices are worth that the paper does not state: the printed set-up with one of them changed."""

from __future__ import annotations

import numpy as np

from believer.experiments import formatted, hodges_lehmann, wilcoxon
from believer.paper.numbers.printed import TABLE_4
from believer.paper.plan import ALTERNATIVES
from believer.paper.results import Loop, Results, paired
from believer.paper.tables.layout import PaperTable, Quantity, Row, laid_out

READINGS = {
    "{}": "as chosen",
    "{'incumbent': 'believed'}": "f⁺ over lies, too",
    "{'renormalize': False}": "y scaled once",
    "{'renormalize': False, 'gradient': True}": "y scaled once, exact gradients",
    "{'process': 'twin'}": "hyperparameters by this library's search",
}
"""A reading in words, by its options as Python writes them."""


def unstated(results: Results) -> PaperTable | None:
    """CL-min and KB on Hartmann-6D, q = 3, under every reading of the printed set-up."""
    rows = []
    for strategy in ("cl_min", "kb"):
        base = results.loops("printed", "hartmann6", strategy, 3)
        for options in ({}, *ALTERNATIVES):
            loops = results.loops("printed", "hartmann6", strategy, 3, options=options)
            items = (
                Quantity("final best", TABLE_4[strategy, 3, "hartmann6"], {"printed": [x.final for x in loops]}, 2),
                Quantity("diversity", None, {"printed": [float(np.nanmean(x.mean_distance)) for x in loops]}, 2),
                Quantity("starts that moved", None, {"printed": [x.moved for x in loops if x.moved is not None]}, 2),
            )
            rows.append(Row((strategy, READINGS[str(options)], _shift(loops, base) if options else ""), items))
    notes = (
        "Shift: the Hodges-Lehmann shift of the final best from the choice made, on the same seeds, with the p value "
        "of a signed-rank test; below zero is better. The eight p values are not corrected for their number.",
    )
    title = "Unstated choices of the printed set-up (Hartmann-6D, q=3)"
    return laid_out(100, title, ("strategy", "reading", "shift"), rows, notes, ("unstated",))


def _shift(loops: list[Loop], base: list[Loop]) -> str:
    ours, chosen = paired(loops, base)
    if not ours:
        return ""
    differences = [a.final - b.final for a, b in zip(ours, chosen, strict=True)]
    return f"{formatted(hodges_lehmann(differences))} (p = {formatted(wilcoxon(differences))})"
