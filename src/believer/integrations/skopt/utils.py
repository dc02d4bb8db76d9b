"""What scikit-optimize has in ``skopt.utils``, and people use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from believer.arrays import shown
from believer.integrations.skopt.callbacks import check_callback, eval_callbacks
from believer.integrations.skopt.estimators import cook_estimator, has_gradients
from believer.integrations.skopt.files import dump, load
from believer.integrations.skopt.optimizer import check_x_in_space
from believer.integrations.skopt.refusals import InvalidInput
from believer.integrations.skopt.results import create_result, expected_minimum, expected_minimum_random_sampling
from believer.integrations.skopt.sampler import cook_initial_point_generator
from believer.integrations.skopt.space import Dimension, Point

__all__ = [
    "check_callback",
    "check_x_in_space",
    "cook_estimator",
    "cook_initial_point_generator",
    "create_result",
    "dump",
    "eval_callbacks",
    "expected_minimum",
    "expected_minimum_random_sampling",
    "has_gradients",
    "load",
    "use_named_args",
]


def use_named_args(dimensions: Sequence[Any]) -> Callable[[Callable[..., Any]], Callable[[Point], Any]]:
    """A decorator: of a function with named arguments, one that takes a point.

    Parameters
    ----------
    dimensions : each a Real, Integer or Categorical with a name.
    """

    def decorator(func: Callable[..., Any]) -> Callable[[Point], Any]:
        unnamed = [dim for dim in dimensions if not isinstance(dim, Dimension) or dim.name is None]
        if unnamed:
            raise InvalidInput(f"dimensions must be Real, Integer or Categorical, with names; got {shown(unnamed)}.")

        @wraps(func)
        def named(x: Point) -> Any:
            if len(x) != len(dimensions):
                raise InvalidInput(f"a point must have {len(dimensions)} values; got {shown(x)}.")
            return func(**{dim.name: value for dim, value in zip(dimensions, x, strict=True)})

        return named

    return decorator
