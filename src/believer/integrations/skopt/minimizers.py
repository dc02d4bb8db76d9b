"""scikit-optimize's minimizers: a function, a space and a number of calls in, a result out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any

from scipy.optimize import OptimizeResult

from believer.arrays import shown
from believer.integrations.skopt.callbacks import VerboseCallback, check_callback, eval_callbacks
from believer.integrations.skopt.dimensions import check_random_state
from believer.integrations.skopt.estimators import cook_estimator, seed_from
from believer.integrations.skopt.optimizer import Optimizer
from believer.integrations.skopt.refusals import InvalidInput, OutOfOrder
from believer.integrations.skopt.space import Point

__all__ = ["base_minimize", "dummy_minimize", "forest_minimize", "gbrt_minimize", "gp_minimize"]

Function = Callable[[Point], Any]


def base_minimize(
    func: Function,
    dimensions: Any,
    base_estimator: Any,
    n_calls: int = 100,
    n_random_starts: int | None = None,
    n_initial_points: int = 10,
    x0: Any = None,
    y0: Any = None,
    verbose: bool = False,
    callback: Any = None,
    xi: float = 0.01,
    kappa: float = 1.96,
    **options: Any,
) -> OptimizeResult:
    """Minimize a function by calling it ``n_calls`` times; ``options`` are those of :class:`Optimizer`.

    Parameters
    ----------
    func : takes a point, a list, and returns a number.
    dimensions, base_estimator : as for :class:`~believer.integrations.skopt.optimizer.Optimizer`.
    n_calls : how often ``func`` is called.
    n_initial_points : initial points beside those of ``x0``; ``n_random_starts`` is the former name.
    n_random_starts : see there.
    x0 : a point, or a list of points, to begin with.
    y0 : their values; without them ``func`` is called, which counts.
    verbose : print what happens.
    callback : a function of the result so far, or a list of them; one that returns True ends the run.
    xi, kappa : of the acquisition.
    """
    specs = {"args": {**locals(), **options}, "function": "base_minimize"}
    points = [] if x0 is None or len(x0) == 0 else x0 if isinstance(x0[0], list | tuple) else [x0]
    if not isinstance(points, list):
        raise InvalidInput(f"x0 must be a list; got {shown(x0)}.")
    if n_random_starts is not None:
        warnings.warn("n_random_starts is now called n_initial_points.", DeprecationWarning, stacklevel=3)
        n_initial_points = n_random_starts
    if n_initial_points <= 0 and not points:
        raise InvalidInput("n_initial_points must be above zero, or x0 be given.")
    values = list(y0) if isinstance(y0, Iterable) else [y0] if isinstance(y0, Number) else y0
    required = n_initial_points + (0 if values else len(points))
    if n_calls < required:
        raise InvalidInput(f"n_calls must be {required} or more; got {n_calls}.")
    for without_effect in ("n_points", "n_restarts_optimizer", "n_jobs"):
        options.pop(without_effect, None)
    options |= {"n_initial_points": n_initial_points + len(points), "acq_func_kwargs": {"xi": xi, "kappa": kappa}}
    optimizer = Optimizer(dimensions, base_estimator, **{"acq_func": "EI", "acq_optimizer": "lbfgs", **options})
    optimizer.specs = specs
    if any(len(point) != optimizer.space.n_dims for point in points):
        raise OutOfOrder(f"each point of x0 must have {optimizer.space.n_dims} values; got {shown(x0)}.")
    callbacks = check_callback(callback)
    if verbose:
        callbacks.append(VerboseCallback(n_calls, 0 if values else len(points), n_initial_points))
    if points:
        if values is None:
            values = [func(point) for point in points]
            n_calls -= len(values)
        if not isinstance(values, list) or len(points) != len(values):
            raise InvalidInput(f"y0 must have a value for each of {len(points)} points; got {shown(y0)}.")
        result = optimizer.tell(points, values)
        if eval_callbacks(callbacks, result):
            return result
    for _ in range(n_calls):
        x = optimizer.ask()
        result = optimizer.tell(x, func(x))
        if eval_callbacks(callbacks, result):
            break
    return result


def gp_minimize(
    func: Function, dimensions: Any, base_estimator: Any = None, n_calls: int = 100, **options: Any
) -> OptimizeResult:
    """Minimize by a Gaussian process.

    Parameters
    ----------
    base_estimator : a regressor in its place.
    func, dimensions, n_calls : as for :func:`base_minimize`, whose other parameters may follow by name. ``noise``:
        "gaussian", the default, finds it out; a number is its variance, as a share of that of the values.
    """
    rng, noise = check_random_state(options.pop("random_state", None)), options.pop("noise", "gaussian")
    if base_estimator is None:
        seed_from(rng)  # scikit-optimize draws one here, too: so the initial points are the same
        base_estimator = cook_estimator("GP", noise=noise)
    options = {"acq_func": "gp_hedge", "acq_optimizer": "auto", **options, "random_state": rng}
    return base_minimize(func, dimensions, base_estimator, n_calls, **options)


def forest_minimize(
    func: Function, dimensions: Any, base_estimator: Any = "ET", n_calls: int = 100, **options: Any
) -> OptimizeResult:
    """Minimize by a forest; needs scikit-learn.

    Parameters
    ----------
    base_estimator : "ET", "RF", or a regressor.
    func, dimensions, n_calls : as for :func:`base_minimize`, whose other parameters may follow by name.
    """
    return base_minimize(func, dimensions, base_estimator, n_calls, **{**options, "acq_optimizer": "sampling"})


def gbrt_minimize(
    func: Function, dimensions: Any, base_estimator: Any = None, n_calls: int = 100, **options: Any
) -> OptimizeResult:
    """Minimize by boosted trees, of which many are fitted to resamples; needs scikit-learn.

    Parameters
    ----------
    base_estimator : a regressor in their place.
    func, dimensions, n_calls : as for :func:`base_minimize`, whose other parameters may follow by name.
    """
    return forest_minimize(func, dimensions, base_estimator or "GBRT", n_calls, **options)


def dummy_minimize(func: Function, dimensions: Any, n_calls: int = 100, **options: Any) -> OptimizeResult:
    """Random search, or the points of an ``initial_point_generator``.

    Parameters
    ----------
    func, dimensions, n_calls : as for :func:`base_minimize`, whose other parameters may follow by name.
    """
    x0, y0 = options.get("x0"), options.get("y0")
    given = 0 if x0 is None or y0 is not None else len(x0) if isinstance(x0[0], list | tuple) else 1
    options = {"n_initial_points": n_calls - given, **options, "acq_optimizer": "sampling"}
    return base_minimize(func, dimensions, "dummy", n_calls, **options)
