"""scikit-optimize's callbacks: called with the result so far after each evaluation; True ends the run."""

from __future__ import annotations

from time import time
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from believer.integrations.skopt.space import Real
from believer.integrations.skopt.utils import dump
from believer.study.files import PathLike


class TimerCallback:
    """Keeps the seconds from one evaluation to the next in ``iter_time``."""

    def __init__(self) -> None:
        self._time, self.iter_time = time(), list[float]()

    def __call__(self, res: OptimizeResult) -> Any:
        """Note the seconds since the last."""
        self.iter_time.append(time() - self._time)
        self._time = time()


class VerboseCallback(TimerCallback):
    """Prints each of ``n_total`` evaluations, of which ``n_init`` are the user's own, ``n_random`` initial ones."""

    def __init__(self, n_total: int, n_init: int = 0, n_random: int = 0) -> None:
        super().__init__()
        self.n_total, self.n_init, self.n_random = n_total, n_init, n_random

    def __call__(self, res: OptimizeResult) -> Any:
        """Print the last evaluation, its time and the best value."""
        super().__call__(res)
        print(
            f"Iteration No: {len(self.iter_time)} of {self.n_total} ended. Time taken: {self.iter_time[-1]:.4f}. ",
            end="",
        )
        print(f"Function value obtained: {res.func_vals[-1]:.4f}. Current minimum: {res.fun:.4f}")


class EarlyStopper:
    """Ends a run when ``_criterion``, which a subclass has, says so."""

    def __call__(self, result: OptimizeResult) -> bool:
        """Whether ``result`` is enough."""
        return bool(self._criterion(result))

    def _criterion(self, result: OptimizeResult) -> Any:
        raise NotImplementedError("a subclass of EarlyStopper says in _criterion(result) when to stop.")


class DeltaXStopper(EarlyStopper):
    """Enough when the last two points are less than ``delta`` apart, summed over dimensions; categories by 1."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def _criterion(self, result: OptimizeResult) -> Any:
        last = zip(result.space, *result.x_iters[-2:], strict=True) if len(result.x_iters) > 1 else None
        return last and sum(abs(a - b) if isinstance(dim, Real) else a != b for dim, a, b in last) < self.delta


class DeltaYStopper(EarlyStopper):
    """Enough when the ``n_best`` best values differ by less than ``delta``."""

    def __init__(self, delta: float, n_best: int = 5) -> None:
        self.delta, self.n_best = delta, n_best

    def _criterion(self, result: OptimizeResult) -> Any:
        best = np.sort(result.func_vals)[: self.n_best]
        return len(best) == self.n_best and best[-1] - best[0] < self.delta


class HollowIterationsStopper(EarlyStopper):
    """Enough when the last ``n_iterations`` evaluations have brought ``threshold`` at most."""

    def __init__(self, n_iterations: int, threshold: float = 0) -> None:
        self.n_iterations, self.threshold = n_iterations, abs(threshold)

    def _criterion(self, result: OptimizeResult) -> Any:
        best = np.fmin.accumulate(result.func_vals)[-self.n_iterations - 1 :]
        return len(best) > self.n_iterations and best[0] - best[-1] <= self.threshold


class DeadlineStopper(TimerCallback):
    """Enough when less is left of ``total_time`` seconds than the longest evaluation took."""

    def __init__(self, total_time: float) -> None:
        super().__init__()
        self.total_time = total_time

    def __call__(self, res: OptimizeResult) -> Any:
        """Whether it is time."""
        super().__call__(res)
        return self.total_time - sum(self.iter_time) <= max(self.iter_time)


class CheckpointSaver:
    """Writes the result to the file ``checkpoint_path`` after each evaluation, as ``dump`` does."""

    def __init__(self, checkpoint_path: PathLike, **dump_options: Any) -> None:
        self.checkpoint_path = checkpoint_path

    def __call__(self, res: OptimizeResult) -> None:
        """Write ``res``."""
        dump(res, self.checkpoint_path)
