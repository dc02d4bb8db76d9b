"""scikit-optimize's callbacks: called with the result so far after each evaluation; True ends the run."""

from time import time
from typing import Any

import numpy as np

from believer.integrations.skopt.space import Numeric


class EarlyStopper:
    """Ends a run when ``_criterion``, a method of a subclass, returns True."""

    def __call__(self, result: Any) -> bool:
        """Whether ``result`` is enough."""
        return bool(self._criterion(result))

    def _criterion(self, result: Any) -> Any:
        raise NotImplementedError(
            "a subclass of EarlyStopper must have a method _criterion(result) that says when to stop."
        )


class DeltaXStopper(EarlyStopper):
    """Stops when the last two points are less than ``delta`` apart, summed over dimensions; different categories are 1
    apart."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def _criterion(self, result: Any) -> Any:
        last = zip(result.space, *result.x_iters[-2:], strict=True) if len(result.x_iters) > 1 else None
        return last and sum(abs(a - b) if isinstance(dim, Numeric) else a != b for dim, a, b in last) < self.delta


class DeltaYStopper(EarlyStopper):
    """Stops when the ``n_best`` best values differ by less than ``delta``."""

    def __init__(self, delta: float, n_best: int = 5) -> None:
        self.delta, self.n_best = delta, n_best

    def _criterion(self, result: Any) -> Any:
        best = np.sort(result.func_vals)[: self.n_best]
        return len(best) == self.n_best and best[-1] - best[0] < self.delta


class StdStopper(EarlyStopper):
    """Stops when the last model's standard deviation at some evaluated point is at most ``threshold``.

    ``log_interval`` is ignored.
    """

    def __init__(self, threshold: float, log_interval: int = 10) -> None:
        self.threshold = threshold

    def _criterion(self, result: Any) -> Any:
        if not result.models:
            return False
        stds = result.models[-1].predict(result.space.transform(result.x_iters), return_std=True)[1]
        return np.min(stds) <= self.threshold


class ThresholdStopper(EarlyStopper):
    """Stops when a value is at most ``threshold``."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def _criterion(self, result: Any) -> Any:
        return np.any(np.asarray(result.func_vals) <= self.threshold)


class HollowIterationsStopper(EarlyStopper):
    """Stops when the last ``n_iterations`` evaluations have improved the best value by at most ``threshold``."""

    def __init__(self, n_iterations: int, threshold: float = 0) -> None:
        self.n_iterations, self.threshold = n_iterations, abs(threshold)

    def _criterion(self, result: Any) -> Any:
        best = np.fmin.accumulate(result.func_vals)[-self.n_iterations - 1 :]
        return len(best) > self.n_iterations and best[0] - best[-1] <= self.threshold


class DeadlineStopper(EarlyStopper):
    """Stops when less time is left of ``total_time`` seconds than the longest evaluation took, by ``iter_time``."""

    def __init__(self, total_time: float = np.inf) -> None:
        self.total_time, self.iter_time, self._time = total_time, list[float](), time()

    def _criterion(self, result: Any) -> Any:
        self.iter_time.append(time() - self._time)
        self._time = time()
        return self.total_time - sum(self.iter_time) <= max(self.iter_time)


class TimerCallback(DeadlineStopper):
    """Stores the seconds from one evaluation to the next in ``iter_time``; never stops a run."""


class VerboseCallback(DeadlineStopper):
    """Prints each of ``n_total`` evaluations; ``n_init`` and ``n_random`` are ignored."""

    def __init__(self, n_total: int, n_init: int = 0, n_random: int = 0) -> None:
        super().__init__()
        self.n_total = n_total

    def _criterion(self, result: Any) -> Any:
        is_late, count, value = super()._criterion(result), len(self.iter_time), result.func_vals[-1]
        print(f"Iteration No: {count} of {self.n_total} ended. Time taken: {self.iter_time[-1]:.4f}.", end=" ")
        print(f"Function value obtained: {value:.4f}. Current minimum: {result.fun:.4f}")
        return is_late


class CheckpointSaver(EarlyStopper):
    """Writes the result to the file ``checkpoint_path`` after each evaluation, as ``dump`` does; never stops a run."""

    def __init__(self, checkpoint_path: Any, **dump_options: Any) -> None:
        self.checkpoint_path = checkpoint_path

    def _criterion(self, result: Any) -> Any:
        from believer.integrations.skopt.optimizer import dump  # whose minimizers print by VerboseCallback

        dump(result, self.checkpoint_path)
