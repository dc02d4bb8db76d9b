"""scikit-optimize's callbacks: called with the result so far after each evaluation; True ends the run."""

from __future__ import annotations

import os
from time import time
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.integrations.skopt.utils import dump, load
from believer.study.files import PathLike


class TimerCallback:
    """Keeps the seconds from one evaluation to the next in ``iter_time``."""

    def __init__(self) -> None:
        self._time, self.iter_time = time(), list[float]()

    def __call__(self, res: OptimizeResult) -> None:
        """Note the seconds since the last."""
        self.iter_time.append(time() - self._time)
        self._time = time()


class VerboseCallback(TimerCallback):
    """Prints each of ``n_total`` evaluations, ``n_init`` at points of the user's, ``n_random`` at initial points."""

    def __init__(self, n_total: int, n_init: int = 0, n_random: int = 0) -> None:
        super().__init__()
        self.n_total, self.n_init, self.n_random = n_total, n_init, n_random

    def __call__(self, res: OptimizeResult) -> None:
        """Print the last evaluation, its time and the best value."""
        super().__call__(res)
        number = len(self.iter_time)
        initial = "an initial" if number <= self.n_init + self.n_random else "a model's"
        print(
            f"Iteration No: {number} of {self.n_total} ended, at {'a given' if number <= self.n_init else initial} "
            f"point. Time taken: {self.iter_time[-1]:.4f}. Function value obtained: {res.func_vals[-1]:.4f}. "
            f"Current minimum: {res.fun:.4f}"
        )


class EarlyStopper:
    """Ends a run when ``_criterion``, which a subclass has, says so."""

    def __call__(self, result: OptimizeResult) -> bool:
        """Whether ``result`` is enough."""
        return self._criterion(result)

    def _criterion(self, result: OptimizeResult) -> bool:
        raise NotImplementedError("a subclass of EarlyStopper says in _criterion(result) when to stop.")


class DeltaXStopper(EarlyStopper):
    """Enough when the last two points are less than ``delta`` apart."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def _criterion(self, result: OptimizeResult) -> bool:
        return len(result.x_iters) > 1 and bool(result.space.distance(*result.x_iters[-2:]) < self.delta)


class DeltaYStopper(EarlyStopper):
    """Enough when the ``n_best`` best values differ by less than ``delta``."""

    def __init__(self, delta: float, n_best: int = 5) -> None:
        self.delta, self.n_best = delta, n_best

    def _criterion(self, result: OptimizeResult) -> bool:
        best = np.sort(result.func_vals)[: self.n_best]
        return len(best) == self.n_best and bool(best[-1] - best[0] < self.delta)


class HollowIterationsStopper(EarlyStopper):
    """Enough when the last ``n_iterations`` evaluations have brought ``threshold`` at most."""

    def __init__(self, n_iterations: int, threshold: float = 0) -> None:
        self.n_iterations, self.threshold = n_iterations, abs(threshold)

    def _criterion(self, result: OptimizeResult) -> bool:
        best = np.fmin.accumulate(result.func_vals)[-self.n_iterations - 1 :]
        return len(best) > self.n_iterations and bool(best[0] - best[-1] <= self.threshold)


class DeadlineStopper(EarlyStopper):
    """Enough when less is left of ``total_time`` seconds than the longest evaluation took; see ``iter_time``."""

    def __init__(self, total_time: float) -> None:
        self.total_time, self._timer = total_time, TimerCallback()
        self.iter_time = self._timer.iter_time

    def _criterion(self, result: OptimizeResult) -> bool:
        self._timer(result)
        return self.total_time - sum(self.iter_time) <= max(self.iter_time)


class CheckpointSaver:
    """Writes the result to the file ``checkpoint_path`` after each evaluation, as ``dump`` does."""

    def __init__(self, checkpoint_path: PathLike, **dump_options: Any) -> None:
        self.checkpoint_path = checkpoint_path

    def __call__(self, res: OptimizeResult) -> None:
        """Write ``res``."""
        dump(res, self.checkpoint_path)

    def load(self) -> dict[str, Any]:
        """``x0``, ``y0`` and ``base_estimator`` for a minimizer that is to go on; nothing if there is no file yet."""
        if not os.path.exists(self.checkpoint_path):
            return {}
        found = load(self.checkpoint_path)
        return {"x0": found.x_iters, "y0": found.func_vals, "base_estimator": (found.models or [None])[-1]}
