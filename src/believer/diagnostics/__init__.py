"""The effect of one lie on an acquisition, and the parts of ``believer.sdd``. Figures are in ``believer.plot``.

``convergence`` and ``batches`` are those of ``believer.plot``. ``before_and_after_a_lie`` returns a
``matplotlib.figure.Figure`` of its own, outside pyplot; save it with ``figure.savefig(path)``. Colors, titles and
legends are here for further figures of this kind, and the parts of ``believer.sdd`` for other diagnoses; these are
loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.diagnostics.lie import before_and_after_a_lie
from believer.plot import batches, convergence
from believer.plot.figure import (
    BLACK,
    BLUE,
    GRAY,
    GREEN,
    ORANGE,
    RED,
    SHADE,
    entitle,
    legend_below,
    new_figure,
    plain_ticks,
)

if TYPE_CHECKING:
    from believer.diagnostics.measurement import Measurement, SddPart, distances
    from believer.diagnostics.sdd import diagnose, diagnosis
    from believer.diagnostics.sdd_figure import draw_verdicts
    from believer.diagnostics.sdd_report import (
        RESPONDS_DIVERSE,
        RESPONDS_FROM,
        SDDReport,
        is_diverse,
        own_response,
        verdict_of,
    )
    from believer.diagnostics.source import DataSet, FromProblem
    from believer.diagnostics.structural import Probe, measure, standardized

__all__ = [
    "BLACK",
    "BLUE",
    "GRAY",
    "GREEN",
    "ORANGE",
    "RED",
    "RESPONDS_DIVERSE",
    "RESPONDS_FROM",
    "SHADE",
    "DataSet",
    "FromProblem",
    "Measurement",
    "Probe",
    "SDDReport",
    "SddPart",
    "batches",
    "before_and_after_a_lie",
    "convergence",
    "diagnose",
    "diagnosis",
    "distances",
    "draw_verdicts",
    "entitle",
    "is_diverse",
    "legend_below",
    "measure",
    "new_figure",
    "own_response",
    "plain_ticks",
    "standardized",
    "verdict_of",
]

_REPORT = ("RESPONDS_DIVERSE", "RESPONDS_FROM", "SDDReport", "is_diverse", "own_response", "verdict_of")

__getattr__ = loader(
    __name__,
    {
        **dict.fromkeys(("Measurement", "SddPart", "distances"), "measurement"),
        **dict.fromkeys(("diagnose", "diagnosis"), "sdd"),
        **dict.fromkeys(_REPORT, "sdd_report"),
        **dict.fromkeys(("DataSet", "FromProblem"), "source"),
        **dict.fromkeys(("Probe", "measure", "standardized"), "structural"),
        "draw_verdicts": "sdd_figure",
    },
)
