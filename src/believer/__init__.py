"""believer: batch Bayesian optimization by efficient conditioning.

>>> import believer as bv
>>> space = bv.Space({"x": bv.Float(-5, 10), "y": bv.Float(0, 15)})
>>> opt = bv.Optimizer(space, seed=1)
>>> batch = opt.ask(3)
>>> for trial in batch:
...     opt.tell(trial, (trial.params["x"] - 1) ** 2 + trial.params["y"])
"""

from believer import errors
from believer._version import __version__
from believer.acquisitions import EI, PI, UCB, LogEI
from believer.batch import Believe, ConstantLie, Fantasy, PseudoObservations, RandomBatch, Verdict
from believer.loop import Result, Seconds, Target, minimize
from believer.maximize import Candidates, FixedStarts, Multistart
from believer.optimizer import Optimizer
from believer.parameters import Categorical, Float, Int
from believer.replay import Replay, replay
from believer.space import Space
from believer.surrogates import GP
from believer.trials import Batch, Trial

__all__ = [
    "EI",
    "GP",
    "PI",
    "UCB",
    "Batch",
    "Believe",
    "Candidates",
    "Categorical",
    "ConstantLie",
    "Fantasy",
    "FixedStarts",
    "Float",
    "Int",
    "LogEI",
    "Multistart",
    "Optimizer",
    "PseudoObservations",
    "RandomBatch",
    "Replay",
    "Result",
    "Seconds",
    "Space",
    "Target",
    "Trial",
    "Verdict",
    "__version__",
    "errors",
    "minimize",
    "replay",
]
