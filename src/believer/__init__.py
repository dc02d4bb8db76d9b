"""believer: batch Bayesian optimization by efficient conditioning.

>>> import believer as bv
>>> space = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
>>> opt = bv.Optimizer(space, seed=1)
>>> batch = opt.ask(3)
>>> for trial in batch:
...     opt.tell(trial, (trial.params["x"] - 1) ** 2 + trial.params["y"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from believer import batch, errors
from believer._version import __version__
from believer.acquisitions import EI, PI, UCB, LogEI
from believer.batch import Believe, ConstantLie, Fantasy, PseudoObservations, RandomBatch, Verdict
from believer.loop import Result, Seconds, Target, minimize
from believer.maximize import Candidates, FixedStarts, Multistart
from believer.numerics.backend import name as backend
from believer.optimizer import Optimizer
from believer.replay import Replay, replay
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int
from believer.study.trials import Batch, Trial
from believer.surrogates import GP, LOADED_ON_USE

if TYPE_CHECKING:
    from believer.batch import DPP, GPBUCB, QEI, UCBPE, LipschitzPenalization, LocalPenalization, Thompson, TopQ
    from believer.bench.plan import benchmark
    from believer.bench.report import BenchReport
    from believer.diagnostics.sdd import sdd
    from believer.diagnostics.sdd_report import SDDReport
    from believer.surrogates import (
        MQRBF,
        SVR,
        FixedRBF,
        LastLayer,
        NeuralEnsemble,
        RandomForest,
        SklearnSurrogate,
        SparseGP,
    )

# Loaded when first used, so that importing the package stays light.
_LATER = {
    **dict.fromkeys(LOADED_ON_USE, "believer.surrogates"),
    **dict.fromkeys(batch.LOADED_ON_USE, "believer.batch"),
    "BenchReport": "believer.bench.report",
    "benchmark": "believer.bench.plan",
    "SDDReport": "believer.diagnostics.sdd_report",
    "sdd": "believer.diagnostics.sdd",
}

__all__ = [
    "DPP",
    "EI",
    "GP",
    "GPBUCB",
    "MQRBF",
    "PI",
    "QEI",
    "SVR",
    "UCB",
    "UCBPE",
    "Batch",
    "Believe",
    "BenchReport",
    "Candidates",
    "Categorical",
    "ConstantLie",
    "Fantasy",
    "FixedRBF",
    "FixedStarts",
    "Float",
    "Int",
    "LastLayer",
    "LipschitzPenalization",
    "LocalPenalization",
    "LogEI",
    "Multistart",
    "NeuralEnsemble",
    "Optimizer",
    "PseudoObservations",
    "RandomBatch",
    "RandomForest",
    "Replay",
    "Result",
    "SDDReport",
    "Seconds",
    "SklearnSurrogate",
    "Space",
    "SparseGP",
    "Target",
    "Thompson",
    "TopQ",
    "Trial",
    "Verdict",
    "__version__",
    "backend",
    "benchmark",
    "errors",
    "minimize",
    "replay",
    "sdd",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_LATER]
