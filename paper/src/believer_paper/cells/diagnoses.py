"""Cells of kind "sdd": the Structural Diversity Diagnostic with its controls (Exp 3, 7a, 7b, 8, 12, Table 1).

``printed``: EI with ξ = 0.01, UCB with β = 2 or PI over the best real result, y as it is. ``ours``: LogEI, UCB or PI
over real and believed results, y standardized. Both climb from 0.2, 0.5 and 0.8 of the way along the box's diagonal,
unless ``options`` of the cell say {"starts": "raw"}: then from these numbers in the units of the box.
"""

from __future__ import annotations

from typing import Any

from believer.acquisitions import EI, PI, UCB, Acquisition, LogEI
from believer.diagnostics import FromProblem, Probe, measure, standardized
from believer.experiments import Cell
from believer.maximize import FixedStarts
from believer.space import Space
from believer_paper.cells.loops import LIES, XI
from believer_paper.setup.process import box_of
from believer_paper.setup.surrogates import surrogate_of

PRINTED: dict[str, Acquisition] = {"ei": EI(XI), "ucb": UCB(), "pi": PI(XI)}
OURS: dict[str, Acquisition] = {"ei": LogEI(), "ucb": UCB(), "pi": PI()}


CONDITIONED = (("gp", "condition"), ("mq_rbf", "condition"))
UNTOLD = (("neural", "none"), ("forest", "none"))
AS_PRINTED = (*CONDITIONED, *UNTOLD)
"""The paper's four surrogates, each with the update by a lie that the paper uses unless it says otherwise."""

OVERVIEW: dict[str, Any] = {"problem": "branin", "n": 12, "q": 3, "lie": "cl_min", "acquisition": "ei"}
"""The situation of Figure 1, whose caption is a claim."""

OTHER_LIES = ("cl_max", "cl_mean", "kb")

SETTINGS: tuple[tuple[dict[str, Any], int], ...] = (
    *(({"surrogate": s, "update": u}, 20) for s, u in CONDITIONED),
    *(({"surrogate": s, "update": u}, 20) for s, u in UNTOLD),
    ({"surrogate": "forest", "update": "refit"}, 10),
    ({"surrogate": "neural", "update": "refit"}, 10),
    *(({"surrogate": "forest", "update": "refit", "lie": lie}, 5) for lie in OTHER_LIES),
    ({"surrogate": "gp", "update": "condition", "lie": "kb"}, 10),
    ({"surrogate": "mq_rbf", "update": "condition", "lie": "kb"}, 20),
    ({"surrogate": "neural", "update": "refit", "lie": "kb"}, 5),
    *(({"surrogate": s, "update": u, "lie": "kb"}, 5) for s, u in UNTOLD),
    *(
        ({"surrogate": s, "update": u, "lie": lie}, 10)
        for s, u in (
            *(("mq_rbf_power", "condition"), ("fixed_rbf", "none"), ("fixed_rbf", "condition")),
            *(("last_layer", "condition"), ("svr", "none"), ("svr", "refit"), ("sparse_gp", "condition")),
        )
        for lie in ("cl_min", "kb")
    ),
    *(({"surrogate": s, "update": u, "acquisition": "ucb"}, 10) for s, u in CONDITIONED),
    *(({"surrogate": s, "update": u, "acquisition": "ucb"}, 5) for s, u in UNTOLD),
    *(({"surrogate": s, "update": u, **OVERVIEW}, 20) for s, u in CONDITIONED),
    *(({"surrogate": s, "update": u, **OVERVIEW}, 5) for s, u in UNTOLD),
)
"""The diagnoses that only the ledger needs: settings besides the preset, each with its number of data sets."""


def diagnosis(cell: Cell) -> dict[str, Any]:
    """Diagnose the surrogate on the cell's data set. The result is read by ``Measurement.from_json``."""
    s = cell.settings
    source = FromProblem(s["problem"], s["n"])
    printed = s["preset"] == "printed"
    probe = Probe(
        surrogate=surrogate_of(s["preset"], s["surrogate"], source.space),
        acquisition=(PRINTED if printed else OURS)[s["acquisition"]],
        lie=LIES[s["lie"]],
        update=s["update"],
        incumbent="data" if printed else "believed",
        maximizer=_starts(source.space, s.get("options", {}).get("starts", "diagonal")),
        q=s["q"],
    )
    data = source.draw(cell.seed)
    if not printed:
        probe, data = standardized(probe, data)
    return measure(probe, data, cell.seed).to_json()


def _starts(space: Space, reading: str) -> FixedStarts:
    """The three starts, "[0.2, 0.5, 0.8]^d" read as shares of the box's diagonal, or as coordinates in a cubic box."""
    if reading == "diagonal":
        return FixedStarts()
    low, high = (float(end[0]) for end in box_of(space))
    return FixedStarts(tuple((level - low) / (high - low) for level in FixedStarts().levels))
