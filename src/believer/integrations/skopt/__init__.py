"""scikit-optimize's names on this library's engine; docs/skopt.md says what differs, and what cannot be had."""

from believer.integrations.skopt import callbacks, space, utils
from believer.integrations.skopt.optimizer import Optimizer, dummy_minimize, forest_minimize, gp_minimize
from believer.integrations.skopt.space import Space
from believer.integrations.skopt.utils import OptimizeResult, dump, expected_minimum, load

__all__ = ["OptimizeResult", "Optimizer", "Space", "callbacks", "dummy_minimize", "dump", "expected_minimum"]
__all__ += ["forest_minimize", "gp_minimize", "load", "space", "utils"]
