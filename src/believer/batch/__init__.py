"""Batch strategies: choosing q points that are good together."""

from believer.batch.dpp import DPP
from believer.batch.hallucination import GPBUCB, UCBPE
from believer.batch.joint import QEI
from believer.batch.lies import Believe, ConstantLie, Fantasy, Lie
from believer.batch.lipschitz import LipschitzPenalization
from believer.batch.penalization import LocalPenalization
from believer.batch.pseudo import PseudoObservations
from believer.batch.random import RandomBatch
from believer.batch.request import Chosen, Data, Pending, Request, Strategy
from believer.batch.thompson import Thompson
from believer.batch.top_q import TopQ
from believer.batch.verdict import Verdict

STRATEGIES: dict[str, Strategy] = {
    "cl_min": PseudoObservations(ConstantLie("min")),
    "cl_max": PseudoObservations(ConstantLie("max")),
    "cl_mean": PseudoObservations(ConstantLie("mean")),
    "kb": PseudoObservations(Believe()),
    "kb_lower": PseudoObservations(Believe(-1.0)),
    "kb_upper": PseudoObservations(Believe(1.0)),
    "fantasy": PseudoObservations(Fantasy()),
    "fantasies": PseudoObservations(Fantasy(samples=16)),
    "lp": LocalPenalization(),
    "lp_lipschitz": LipschitzPenalization(),
    "qei": QEI(),
    "thompson": Thompson(),
    "dpp": DPP(),
    "gp_bucb": GPBUCB(),
    "ucb_pe": UCBPE(),
    "top_q": TopQ(),
    "random": RandomBatch(),
}

__all__ = [
    "DPP",
    "GPBUCB",
    "QEI",
    "STRATEGIES",
    "UCBPE",
    "Believe",
    "Chosen",
    "ConstantLie",
    "Data",
    "Fantasy",
    "Lie",
    "LipschitzPenalization",
    "LocalPenalization",
    "Pending",
    "PseudoObservations",
    "RandomBatch",
    "Request",
    "Strategy",
    "Thompson",
    "TopQ",
    "Verdict",
]
