"""scikit-optimize's names and their meaning on this library's engine; scikit-optimize itself is not needed.

::

    from believer.integrations import skopt

    result = skopt.gp_minimize(lambda x: (x[0] - 1) ** 2 + x[1], [(-5.0, 10.0), (0, 15)], n_calls=20)

docs/skopt.md says what is the same, what differs, and what cannot be had.
"""

from importlib import import_module
from typing import Any

from believer.integrations.skopt import callbacks, sampler, space, utils
from believer.integrations.skopt.files import dump, load
from believer.integrations.skopt.minimizers import dummy_minimize, forest_minimize, gbrt_minimize, gp_minimize
from believer.integrations.skopt.optimizer import Optimizer
from believer.integrations.skopt.refusals import NotOffered
from believer.integrations.skopt.results import OptimizeResult, expected_minimum, expected_minimum_random_sampling
from believer.integrations.skopt.space import Space

__all__ = [
    "NotOffered",
    "OptimizeResult",
    "Optimizer",
    "Space",
    "callbacks",
    "dummy_minimize",
    "dump",
    "expected_minimum",
    "expected_minimum_random_sampling",
    "forest_minimize",
    "gbrt_minimize",
    "gp_minimize",
    "load",
    "plots",
    "sampler",
    "space",
    "utils",
]

_ABSENT = {
    "BayesSearchCV": "write the cross-validation into the function that is minimized",
    "acquisition": "acq_func names an acquisition",
    "benchmarks": "believer.problems has test functions",
    "learning": "base_estimator takes a name or any scikit-learn regressor",
}


def __getattr__(name: str) -> Any:
    if name == "plots":  # needs matplotlib
        return import_module("believer.integrations.skopt.plots")
    if name in _ABSENT:
        raise AttributeError(f"{name} of scikit-optimize is not offered here: {_ABSENT[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
