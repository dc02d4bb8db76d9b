"""scikit-optimize's callbacks: called with the result so far after each evaluation; True ends the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import time
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.arrays import shown
from believer.integrations.skopt.files import dump, load
from believer.integrations.skopt.refusals import InvalidInput
from believer.study.files import PathLike

__all__ = [
    "CheckpointSaver",
    "DeadlineStopper",
    "DeltaXStopper",
    "DeltaYStopper",
    "EarlyStopper",
    "HollowIterationsStopper",
    "TimerCallback",
    "VerboseCallback",
    "check_callback",
]

Callback = Callable[[OptimizeResult], Any]


def check_callback(callback: Any) -> list[Callback]:
    """A list of callbacks, of one, of a list, or of None."""
    found = [] if callback is None else [callback] if callable(callback) else callback
    if not isinstance(found, list) or not all(map(callable, found)):
        raise InvalidInput(f"callback must be a function or a list of functions; got {shown(callback)}.")
    return list(found)


def eval_callbacks(callbacks: list[Callback], result: OptimizeResult) -> bool:
    """Whether one of ``callbacks``, all of which are called, says of ``result`` that it is enough."""
    decisions = [callback(result) for callback in callbacks]
    return any(decisions)


class VerboseCallback:
    """Prints each evaluation.

    Parameters
    ----------
    n_total : how many there will be.
    n_init, n_random : how many of them at points of the user's, and at initial points.
    """

    def __init__(self, n_total: int, n_init: int = 0, n_random: int = 0) -> None:
        self.n_total, self.n_init, self.n_random, self.iter_no = n_total, n_init, n_random, 1
        self._start_time = time()

    def __call__(self, res: OptimizeResult) -> None:
        """Print the last evaluation, its time and the best value."""
        initial = "an initial" if self.iter_no <= self.n_init + self.n_random else "a model's"
        where = "a given" if self.iter_no <= self.n_init else initial
        seconds, self._start_time = time() - self._start_time, time()
        print(
            f"Iteration No: {self.iter_no} of {self.n_total} ended, at {where} point. Time taken: {seconds:.4f}. "
            f"Function value obtained: {res.func_vals[-1]:.4f}. Current minimum: {res.fun:.4f}"
        )
        self.iter_no += 1


class TimerCallback:
    """Keeps the seconds from one evaluation to the next in ``iter_time``."""

    def __init__(self) -> None:
        self._time = time()
        self.iter_time: list[float] = []

    def __call__(self, res: OptimizeResult) -> None:
        """Note the seconds since the last."""
        self.iter_time.append(time() - self._time)
        self._time = time()


class EarlyStopper:
    """Ends a run when ``_criterion``, which a subclass has, says so: True, False, or None for too early to tell."""

    def __call__(self, result: OptimizeResult) -> bool | None:
        """Whether ``result`` is enough."""
        return self._criterion(result)

    def _criterion(self, result: OptimizeResult) -> bool | None:
        raise NotImplementedError("a subclass of EarlyStopper says in _criterion(result) when to stop.")


class DeltaXStopper(EarlyStopper):
    """Enough when the last two points are less than ``delta`` apart."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def _criterion(self, result: OptimizeResult) -> bool | None:
        if len(result.x_iters) < 2:
            return None
        return bool(result.space.distance(*result.x_iters[-2:]) < self.delta)


class DeltaYStopper(EarlyStopper):
    """Enough when the ``n_best`` best values differ by less than ``delta``."""

    def __init__(self, delta: float, n_best: int = 5) -> None:
        self.delta, self.n_best = delta, n_best

    def _criterion(self, result: OptimizeResult) -> bool | None:
        if len(result.func_vals) < self.n_best:
            return None
        best = np.sort(result.func_vals)
        return bool(best[self.n_best - 1] - best[0] < self.delta)


class HollowIterationsStopper(EarlyStopper):
    """Enough when the last ``n_iterations`` evaluations have brought ``threshold`` at most."""

    def __init__(self, n_iterations: int, threshold: float = 0) -> None:
        self.n_iterations, self.threshold = n_iterations, abs(threshold)

    def _criterion(self, result: OptimizeResult) -> bool:
        if len(result.func_vals) <= self.n_iterations:
            return False
        best = np.fmin.accumulate(result.func_vals)
        return bool(best[-self.n_iterations - 1] - best[-1] <= self.threshold)


class DeadlineStopper(EarlyStopper):
    """Enough when less is left of ``total_time`` seconds than the longest evaluation took."""

    def __init__(self, total_time: float) -> None:
        self.total_time, self._timer = total_time, TimerCallback()

    @property
    def iter_time(self) -> list[float]:
        """Seconds from one evaluation to the next."""
        return self._timer.iter_time

    def _criterion(self, result: OptimizeResult) -> bool:
        self._timer(result)
        return self.total_time - sum(self.iter_time) <= max(self.iter_time)


class CheckpointSaver:
    """Writes the result to a file after each evaluation, with :func:`~believer.integrations.skopt.files.dump`.

    Parameters
    ----------
    checkpoint_path : of the file.
    """

    def __init__(self, checkpoint_path: PathLike, **dump_options: Any) -> None:
        self.checkpoint_path, self.dump_options = checkpoint_path, dump_options

    def __call__(self, res: OptimizeResult) -> None:
        """Write ``res``."""
        dump(res, self.checkpoint_path, **self.dump_options)

    def load(self) -> dict[str, Any]:
        """``x0``, ``y0`` and ``base_estimator`` for a minimizer that is to go on; nothing if there is no file yet."""
        if not os.path.exists(self.checkpoint_path):
            return {}
        found = load(self.checkpoint_path)
        return {"x0": found.x_iters, "y0": found.func_vals, "base_estimator": (found.models or [None])[-1]}
