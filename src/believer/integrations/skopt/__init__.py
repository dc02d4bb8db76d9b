"""The names of scikit-optimize on this library's engine; docs/skopt.md lists the differences, and what is missing."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from believer.integrations.skopt import callbacks, space, utils
from believer.integrations.skopt.optimizer import (
    Optimizer,
    dummy_minimize,
    expected_minimum_random_sampling,
    forest_minimize,
    gbrt_minimize,
    gp_minimize,
)
from believer.integrations.skopt.space import Space
from believer.integrations.skopt.utils import OptimizeResult, dump, expected_minimum, load

if TYPE_CHECKING:
    from believer.integrations.skopt import acquisition, benchmarks, learning, plots, sampler
    from believer.integrations.skopt.searchcv import BayesSearchCV

__all__ = ["BayesSearchCV", "OptimizeResult", "Optimizer", "Space", "acquisition", "benchmarks", "callbacks"]
__all__ += ["dummy_minimize", "dump", "expected_minimum", "expected_minimum_random_sampling", "forest_minimize"]
__all__ += ["gbrt_minimize", "gp_minimize", "learning", "load", "plots", "sampler", "space", "utils"]


def __getattr__(name: str) -> Any:
    if name in ("acquisition", "benchmarks", "learning", "plots", "sampler"):
        return import_module(f"believer.integrations.skopt.{name}")
    if name == "BayesSearchCV":  # which needs scikit-learn
        return import_module("believer.integrations.skopt.searchcv").BayesSearchCV
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
