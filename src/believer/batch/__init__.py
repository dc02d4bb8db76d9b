"""Batch strategies: choosing q points that are good together.

The lies and random points are loaded with the package, every other strategy when its name is first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from believer._lazy import loader
from believer.batch.gain import Gain
from believer.batch.hedge import NATS
from believer.batch.learned import Learned, Output, Pending
from believer.batch.lies import Believe, ConstantLie, Fantasy, Lie
from believer.batch.pseudo import INCUMBENTS, PseudoObservations
from believer.batch.random import RandomBatch
from believer.batch.request import Chosen, Request, Strategy
from believer.batch.verdict import Verdict, judge, random_pair_distance
from believer.surrogates.data import Data

if TYPE_CHECKING:
    from believer.batch.dpp import DPP
    from believer.batch.hallucination import GPBUCB, UCBPE
    from believer.batch.joint import QEI
    from believer.batch.lipschitz import LipschitzPenalization
    from believer.batch.penalization import GaussianPenalty, LocalPenalization
    from believer.batch.thompson import Thompson
    from believer.batch.top_q import TopQ
    from believer.batch.trust_region import TrustRegion

LOADED_ON_USE = {
    "DPP": "dpp",
    "GPBUCB": "hallucination",
    "LipschitzPenalization": "lipschitz",
    "LocalPenalization": "penalization",
    "QEI": "joint",
    "Thompson": "thompson",
    "TopQ": "top_q",
    "TrustRegion": "trust_region",
    "UCBPE": "hallucination",
}
"""The strategies, and the modules of this package that define them."""

__getattr__ = loader(__name__, {**LOADED_ON_USE, "GaussianPenalty": "penalization"})


class _Strategies(Mapping[str, Strategy]):
    """Strategies by name. Those whose class is loaded on use are made when they are first looked up."""

    def __init__(self, named: Mapping[str, Strategy | str]) -> None:
        self._named = dict(named)

    def __getitem__(self, name: str) -> Strategy:
        strategy = self._named[name]
        return _made(strategy) if isinstance(strategy, str) else strategy

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __len__(self) -> int:
        return len(self._named)


@cache
def _made(cls: str) -> Strategy:
    """One value of each class for all."""
    made: Strategy = __getattr__(cls)()
    return made


STRATEGIES: Mapping[str, Strategy] = _Strategies(
    {
        "cl_min": PseudoObservations(ConstantLie("min")),
        "cl_max": PseudoObservations(ConstantLie("max")),
        "cl_mean": PseudoObservations(ConstantLie("mean")),
        "kb": PseudoObservations(Believe()),
        "hedged": PseudoObservations(Believe(), hedge=NATS),
        "kb_lower": PseudoObservations(Believe(-1.0)),
        "kb_upper": PseudoObservations(Believe(1.0)),
        "fantasy": PseudoObservations(Fantasy()),
        "fantasies": PseudoObservations(Fantasy(samples=16)),
        "lp": "LocalPenalization",
        "lp_lipschitz": "LipschitzPenalization",
        "qei": "QEI",
        "thompson": "Thompson",
        "dpp": "DPP",
        "gp_bucb": "GPBUCB",
        "ucb_pe": "UCBPE",
        "trust_region": "TrustRegion",
        "top_q": "TopQ",
        "random": RandomBatch(),
    }
)

__all__ = [
    "DPP",
    "GPBUCB",
    "INCUMBENTS",
    "LOADED_ON_USE",
    "QEI",
    "STRATEGIES",
    "UCBPE",
    "Believe",
    "Chosen",
    "ConstantLie",
    "Data",
    "Fantasy",
    "Gain",
    "GaussianPenalty",
    "Learned",
    "Lie",
    "LipschitzPenalization",
    "LocalPenalization",
    "Output",
    "Pending",
    "PseudoObservations",
    "RandomBatch",
    "Request",
    "Strategy",
    "Thompson",
    "TopQ",
    "TrustRegion",
    "Verdict",
    "judge",
    "random_pair_distance",
]
