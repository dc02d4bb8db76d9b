"""Cells of kind "sdd": the Structural Diversity Diagnostic with its controls (Exp 3, 7a, 7b, 8, 12, Table 1).

``printed``: EI with ξ = 0.01, UCB with β = 2 or PI over the best real result, y as it is. ``ours``: LogEI, UCB or PI
over real and believed results, y standardized. Both climb from 0.2, 0.5 and 0.8 of the way along the box's diagonal.
"""

from __future__ import annotations

from typing import Any

from believer.acquisitions import EI, PI, UCB, Acquisition, LogEI
from believer.diagnostics.source import FromProblem
from believer.diagnostics.structural import Probe, measure, standardized
from believer.experiments import Cell
from believer.maximize import FixedStarts
from believer.paper.loops import LIES, XI
from believer.paper.surrogates import surrogate_of

PRINTED: dict[str, Acquisition] = {"ei": EI(XI), "ucb": UCB(), "pi": PI(XI)}
OURS: dict[str, Acquisition] = {"ei": LogEI(), "ucb": UCB(), "pi": PI()}


def diagnosis(cell: Cell) -> dict[str, Any]:
    """Measure the cell's data set; what ``Measurement.from_json`` reads."""
    s = cell.settings
    source = FromProblem(s["problem"], s["n"])
    printed = s["preset"] == "printed"
    probe = Probe(
        surrogate=surrogate_of(s["preset"], s["surrogate"], source.space),
        acquisition=(PRINTED if printed else OURS)[s["acquisition"]],
        lie=LIES[s["lie"]],
        update=s["update"],
        incumbent="data" if printed else "believed",
        maximizer=FixedStarts(),
        q=s["q"],
    )
    data = source.draw(cell.seed)
    if not printed:
        probe, data = standardized(probe, data)
    return measure(probe, data, cell.seed).to_json()
