"""Batch strategies: choosing q points that are good together."""

from believer.batch.lies import Believe, ConstantLie, Fantasy, Lie
from believer.batch.pseudo import PseudoObservations
from believer.batch.random import RandomBatch
from believer.batch.request import Chosen, Data, Pending, Request, Strategy
from believer.batch.verdict import Verdict

STRATEGIES: dict[str, Strategy] = {
    "cl_min": PseudoObservations(ConstantLie("min")),
    "cl_max": PseudoObservations(ConstantLie("max")),
    "cl_mean": PseudoObservations(ConstantLie("mean")),
    "kb": PseudoObservations(Believe()),
    "kb_lower": PseudoObservations(Believe(-1.0)),
    "kb_upper": PseudoObservations(Believe(1.0)),
    "fantasy": PseudoObservations(Fantasy()),
    "random": RandomBatch(),
}

__all__ = [
    "STRATEGIES",
    "Believe",
    "Chosen",
    "ConstantLie",
    "Data",
    "Fantasy",
    "Lie",
    "Pending",
    "PseudoObservations",
    "RandomBatch",
    "Request",
    "Strategy",
    "Verdict",
]
