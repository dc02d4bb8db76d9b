"""scikit-optimize's names on this library's engine; docs/skopt.md says what differs, and what cannot be had."""

from typing import Any

from believer.integrations.skopt import callbacks, space, utils
from believer.integrations.skopt.optimizer import Optimizer, dummy_minimize, forest_minimize, gp_minimize
from believer.integrations.skopt.space import Space
from believer.integrations.skopt.utils import OptimizeResult, dump, expected_minimum, load

__all__ = ["OptimizeResult", "Optimizer", "Space", "callbacks", "dummy_minimize", "dump", "expected_minimum"]
__all__ += ["forest_minimize", "gp_minimize", "load", "space", "utils"]

_ELSEWHERE = {
    "BayesSearchCV": "believer.integrations.sklearn has BatchSearchCV",
    "gbrt_minimize": "pass a scikit-learn regressor to forest_minimize as base_estimator",
}


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        raise ImportError(f"{name} is not here: {_ELSEWHERE[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
