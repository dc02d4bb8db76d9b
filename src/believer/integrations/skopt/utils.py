"""The functions of ``skopt.utils``."""

from collections.abc import Mapping
from typing import Any

from believer.errors import InvalidInput
from believer.integrations.skopt import optimizer
from believer.integrations.skopt.space import Numeric, Space

OptimizeResult, expected_minimum, dump = optimizer.OptimizeResult, optimizer.expected_minimum, optimizer.dump
use_named_args, load = optimizer.use_named_args, optimizer.load
expected_minimum_random_sampling = optimizer.expected_minimum_random_sampling
cook_initial_point_generator = optimizer.cook_initial_point_generator


def cook_estimator(base_estimator: Any, space: Any = None, **options: Any) -> Any:
    """The surrogate of this library for the name of an estimator, with its ``options``; an estimator is returned
    unchanged. ``space`` is ignored, because surrogates know spaces by themselves."""
    if not isinstance(base_estimator, str | None):
        return base_estimator
    made = optimizer.estimator_of(base_estimator)
    return made(**{k: v for k, v in options.items() if k not in ("random_state", "n_jobs", "normalize_y")})


def normalize_dimensions(dimensions: Any) -> Space:
    """The space of these ``dimensions``, in which models see numbers from 0 to 1."""
    space = Space(dimensions)
    for dim in space:
        if isinstance(dim, Numeric):
            dim.transform = "normalize"
    return space


def dimensions_aslist(search_space: Mapping[str, Any]) -> list[Any]:
    """Dimensions of a dict, in the order of their names."""
    return [search_space[name] for name in sorted(search_space)]


def point_aslist(search_space: Mapping[str, Any], point_as_dict: Mapping[str, Any]) -> list[Any]:
    """A point given by name, in the order of the names."""
    return [point_as_dict[name] for name in sorted(search_space)]


def point_asdict(search_space: Mapping[str, Any], point_as_list: Any) -> dict[str, Any]:
    """A point given in the order of the names, by name."""
    return dict(zip(sorted(search_space), point_as_list, strict=True))


def check_list_types(x: Any, types: Any) -> None:
    """Raise InvalidInput if a member of ``x`` has none of these types."""
    if wrong := [value for value in x if not isinstance(value, types)]:
        raise InvalidInput(f"all elements must be instances of {types}; got {wrong}.")


def check_dimension_names(dimensions: Any) -> None:
    """Raise InvalidInput if one of these ``dimensions`` has no name."""
    if unnamed := [dim for dim in dimensions if dim.name is None]:
        raise InvalidInput(f"all dimensions must have names; got {unnamed}.")


def has_gradients(estimator: Any) -> bool:
    """Whether the mean and std of an estimator have gradients."""
    kind = type(estimator).__name__
    return kind == "GP" or (kind == "GaussianProcessRegressor" and getattr(estimator, "kernel", None) is not None)


__all__ = ["OptimizeResult", "check_dimension_names", "check_list_types"]
__all__ += ["cook_estimator", "cook_initial_point_generator", "dimensions_aslist", "dump", "expected_minimum"]
__all__ += ["expected_minimum_random_sampling", "has_gradients", "load", "normalize_dimensions", "point_asdict"]
__all__ += ["point_aslist", "use_named_args"]
