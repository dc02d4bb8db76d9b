"""A comparison of batches, single points and random points, at equal numbers of evaluations and of rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from statistics import median
from typing import Any

from believer.cli.demos.demo import Demo
from believer.errors import EvaluationError
from believer.loop import minimize
from believer.optimizer import Optimizer
from believer.plot.data import convergence


@dataclass(frozen=True, slots=True)
class Method:
    """A way to choose points.

    Attributes
    ----------
    label : in the table.
    q : evaluations in a round.
    options : of ``minimize``, as pairs.
    """

    label: str
    q: int
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Reached:
    """Medians over seeds of the best value within the limits; None if most runs have none.

    Attributes
    ----------
    method : what chose the points.
    evaluations : after all evaluations.
    rounds : after as many rounds as the batches take.
    needed : how many rounds all evaluations take.
    """

    method: Method
    evaluations: float | None
    rounds: float | None
    needed: int


def methods(q: int) -> tuple[Method, ...]:
    """Batches of ``q``, one point at a time where ``q`` is more, and random points."""
    return (
        Method(f"believer, {q} at a time", q),
        *([Method("believer, 1 at a time", 1)] if q > 1 else []),
        Method(f"random, {q} at a time", q, (("strategy", "random"), ("n_init", 1))),
    )


def best_so_far(optimizer: Optimizer, budget: int) -> list[float]:
    """The best value within the limits after each evaluation, NaN while there is none.

    A study that ended early, as every point of its space was evaluated, keeps its last value.
    """
    if optimizer.counts.done == 0:
        return [math.nan] * budget
    values = [float(value) for value in convergence(optimizer).best]
    return values + values[-1:] * (budget - len(values))


def run_once(demo: Demo, method: Method, seed: int, budget: int) -> list[float]:
    """The best so far in one run, in this process."""
    try:
        result = minimize(
            demo.function,
            demo.space,
            budget,
            q=method.q,
            mode="batch",
            outcomes=demo.goals,
            failures=demo.failures,
            seed=seed,
            progress=False,
            **dict(method.options),
        )
    except EvaluationError:  # everything failed from the start
        return [math.nan] * budget
    return best_so_far(result.optimizer, budget)


def compare(demo: Demo, q: int, seeds: Sequence[int], budget: int, executor: Executor) -> list[Reached]:
    """Run every method with every seed on ``executor``, and take medians."""
    runs: dict[Method, list[Future[list[float]]]] = {
        method: [executor.submit(run_once, demo, method, seed, budget) for seed in seeds] for method in methods(q)
    }
    rounds, sign = math.ceil(budget / q), _sign(demo)
    found = []
    for method, futures in runs.items():
        curves = [future.result() for future in futures]
        after = min(rounds * method.q, budget) - 1
        found.append(
            Reached(
                method,
                _median([curve[-1] for curve in curves], sign),
                _median([curve[after] for curve in curves], sign),
                math.ceil(budget / method.q),
            )
        )
    return found


def _median(values: Sequence[float], sign: float) -> float | None:
    """The median of values, which are minimized times ``sign``; a run without a value counts as the worst."""
    middle = median(math.inf if math.isnan(value) else sign * value for value in values)
    return sign * middle if math.isfinite(middle) else None


def _sign(demo: Demo) -> float:
    return Optimizer(demo.space, outcomes=demo.goals, seed=0).settings.sign
