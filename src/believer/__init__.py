"""believer: batch Bayesian optimization by efficient conditioning.

>>> import believer as bv
>>> space = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
>>> opt = bv.Optimizer(space, seed=1)
>>> batch = opt.ask(3)
>>> for trial in batch:
...     opt.tell(trial, (trial.params["x"] - 1) ** 2 + trial.params["y"])

Authors of surrogates, acquisition functions and strategies find what they need in :mod:`believer.plugins`.
"""

from importlib import import_module
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any, NoReturn

from believer import batch, errors
from believer._version import __version__
from believer.acquisitions import EI, PI, UCB, LogEI
from believer.batch import Believe, ConstantLie, Fantasy, PseudoObservations
from believer.numerics.backend import name as backend
from believer.optimizer import Optimizer
from believer.replay import replay
from believer.space import Categorical, Discrete, Float, Int, Ordinal, Space, linear, max_parts, sum_to
from believer.study.goal import AtLeast, AtMost, Between, Desirability, Maximize, Minimize
from believer.study.outcome import Outcome
from believer.study.study import read_study
from believer.surrogates import GP, LOADED_ON_USE

# Silent unless a program asks for what is logged here, as is usual for libraries.
getLogger(__name__).addHandler(NullHandler())

if TYPE_CHECKING:
    from believer import plot as plot

    # Listed below, and loaded when first used.
    # Not listed: for the few who need them.
    from believer.acquisitions import EHVI as EHVI
    from believer.acquisitions import Scalarized as Scalarized
    from believer.batch import DPP, QEI, LocalPenalization, Thompson
    from believer.batch import GPBUCB as GPBUCB
    from believer.batch import UCBPE as UCBPE
    from believer.batch import LipschitzPenalization as LipschitzPenalization
    from believer.batch import RandomBatch as RandomBatch
    from believer.batch import TopQ as TopQ
    from believer.batch import TrustRegion as TrustRegion
    from believer.batch import Verdict as Verdict
    from believer.diagnostics.sdd import sdd
    from believer.diagnostics.sdd_report import SDDReport as SDDReport
    from believer.loop import minimize
    from believer.maximize import Candidates as Candidates
    from believer.maximize import Multistart as Multistart
    from believer.program import Finished as Finished
    from believer.program import Program as Program
    from believer.replay import Replay as Replay
    from believer.result import Result as Result
    from believer.stopping import Seconds, Target
    from believer.study.recommendation import Front as Front
    from believer.study.recommendation import Recommendation as Recommendation
    from believer.study.study import Study as Study
    from believer.study.trials import Batch as Batch
    from believer.study.trials import Trial as Trial
    from believer.surrogates import MQRBF, NeuralEnsemble, RandomForest, SklearnSurrogate, SparseGP
    from believer.surrogates import SVR as SVR
    from believer.surrogates import FixedRBF as FixedRBF
    from believer.surrogates import LastLayer as LastLayer
    from believer.surrogates import TorchGP as TorchGP
    from believer_bench.plan import benchmark
    from believer_bench.report import BenchReport as BenchReport

# Of the distribution believer-bench, which is installed apart.
_BENCH = {"BenchReport": "believer_bench.report", "benchmark": "believer_bench.plan"}

# So that importing the package stays light.
_LATER = {
    **_BENCH,
    **dict.fromkeys(LOADED_ON_USE, "believer.surrogates"),
    **dict.fromkeys((*batch.LOADED_ON_USE, "RandomBatch", "Verdict"), "believer.batch"),
    **dict.fromkeys(("Candidates", "Multistart"), "believer.maximize"),
    **dict.fromkeys(("EHVI", "Scalarized"), "believer.acquisitions"),
    **dict.fromkeys(("Batch", "Trial"), "believer.study.trials"),
    "minimize": "believer.loop",
    "Result": "believer.result",
    **dict.fromkeys(("Seconds", "Target"), "believer.stopping"),
    **dict.fromkeys(("Finished", "Program"), "believer.program"),
    **dict.fromkeys(("Front", "Recommendation"), "believer.study.recommendation"),
    "Replay": "believer.replay",
    "SDDReport": "believer.diagnostics.sdd_report",
    "Study": "believer.study.study",
    "plot": "believer",
    "plugins": "believer",
    "sdd": "believer.diagnostics.sdd",
}

__all__ = [
    "DPP",
    "EI",
    "GP",
    "MQRBF",
    "PI",
    "QEI",
    "UCB",
    "AtLeast",
    "AtMost",
    "Believe",
    "Between",
    "Categorical",
    "ConstantLie",
    "Desirability",
    "Discrete",
    "Fantasy",
    "Float",
    "Int",
    "LocalPenalization",
    "LogEI",
    "Maximize",
    "Minimize",
    "NeuralEnsemble",
    "Optimizer",
    "Ordinal",
    "Outcome",
    "PseudoObservations",
    "RandomForest",
    "Seconds",
    "SklearnSurrogate",
    "Space",
    "SparseGP",
    "Target",
    "Thompson",
    "__version__",
    "backend",
    "benchmark",
    "errors",
    "linear",
    "max_parts",
    "minimize",
    "read_study",
    "replay",
    "sdd",
    "sum_to",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("plot", "plugins"):
        return import_module(f"believer.{name}")
    try:
        return getattr(import_module(_LATER[name]), name)
    except ModuleNotFoundError as error:
        if name not in _BENCH or error.name != "believer_bench":
            raise
        return _without_bench


def _without_bench(*_: Any, **__: Any) -> NoReturn:
    """A placeholder for the names of believer-bench if it is not installed, so that ``import *`` does not fail."""
    raise errors.MissingExtra("believer-bench", "bench")


def __dir__() -> list[str]:
    return __all__
