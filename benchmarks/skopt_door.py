"""The same calls to scikit-optimize and to the door that has its names: regret and processor seconds.

    python benchmarks/skopt_door.py     # nine minutes, nearly all of them scikit-optimize's

scikit-optimize's own test functions at its own defaults: ``gp_minimize``, one call after the other, and ``ask(3)``
(CL-min) with ``tell``. The two take turns within one run, seed by seed; a seed gives both the same initial points,
which is checked. Seeds 200-209, on which nothing was chosen. Writes ``results/skopt_door.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import skopt as theirs
from regret_report import markdown_table
from skopt.benchmarks import branin, hart6
from speed import provenance

from believer.experiments.statistics import holm, wilcoxon
from believer.integrations import skopt as ours

SEEDS = range(200, 210)
PROBLEMS: dict[str, tuple[Callable[[Any], float], list[tuple[float, float]], float]] = {
    "branin": (branin, [(-5.0, 10.0), (0.0, 15.0)], 0.397887),
    "hart6": (hart6, [(0.0, 1.0)] * 6, -3.32237),
}
INITIAL, BATCH = 9, 3
STOPS = (30, 45)
"""Calls after which the regret is looked at."""
RESULTS = Path(__file__).parent / "results" / "skopt_door.md"


def one_by_one(library: Any, function: Any, dimensions: Any, calls: int, seed: int) -> Any:
    return library.gp_minimize(function, dimensions, n_calls=calls, n_initial_points=INITIAL, random_state=seed)


def in_batches(library: Any, function: Any, dimensions: Any, calls: int, seed: int) -> Any:
    optimizer = library.Optimizer(dimensions, "GP", n_initial_points=INITIAL, random_state=seed)
    while len(optimizer.Xi) < calls:
        X = optimizer.ask(n_points=BATCH, strategy="cl_min")
        result = optimizer.tell(X, [function(x) for x in X])
    return result


LOOPS = {"gp_minimize": one_by_one, f"ask({BATCH})": in_batches}


def measured(loop: Any, library: Any, *task: Any) -> tuple[Any, float]:
    """A result, and the processor seconds that it took."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        result = loop(library, *task)
        return result, time.process_time() - start


def compared(problem: str, name: str) -> list[tuple[list[str], float]]:
    """A row of the table for each stop, and a p value for each."""
    function, dimensions, optimum = PROBLEMS[problem]
    regret, seconds = np.empty((len(STOPS), 2, len(SEEDS))), np.empty((2, len(SEEDS)))
    for column, seed in enumerate(SEEDS):
        begun = []
        for line, library in enumerate((ours, theirs)):
            result, seconds[line, column] = measured(LOOPS[name], library, function, dimensions, STOPS[-1], seed)
            regret[:, line, column] = [min(result.func_vals[:stop]) - optimum for stop in STOPS]
            begun.append(result.x_iters[:INITIAL])
        assert begun[0] == begun[1]
    spent = np.median(seconds, axis=1)
    times = [f"{spent[0]:.3f}", f"{spent[1]:.2f}", f"{spent[1] / spent[0]:.0f}"]
    found = []
    for stop, (mine, yours) in zip(STOPS, regret, strict=True):
        figures = [f"{np.median(mine):.5f}", f"{np.median(yours):.5f}", f"{(mine < yours).sum()} of {len(SEEDS)}"]
        p = wilcoxon(np.log(np.maximum(mine, 1e-9)) - np.log(np.maximum(yours, 1e-9)))
        found.append(([problem, name, str(stop), *figures, *(times if stop == STOPS[-1] else [""] * 3)], p))
    return found


def main() -> None:
    head = ["problem", "loop", "calls", "regret, ours", "theirs", "ours less", "CPU s, ours", "theirs", "ratio", "p"]
    rows, p = zip(*(pair for problem in PROBLEMS for name in LOOPS for pair in compared(problem, name)), strict=True)
    lines = [[*row, f"{value:.3f}"] for row, value in zip(rows, holm(p), strict=True)]
    peer = f"scikit-optimize {version('scikit-optimize')} on scikit-learn {version('scikit-learn')}"
    RESULTS.write_text(
        f"""# The door for scikit-optimize's users, beside scikit-optimize

{provenance(["believer"])}{peer}.

By [skopt_door.py](../skopt_door.py): the same calls, at scikit-optimize's defaults, from the same {INITIAL} random
points, seeds {SEEDS.start}-{SEEDS.stop - 1}, the two in turns. Medians over seeds of the regret after so many
calls, and of the processor seconds of a whole run, the function's own included; p of a Wilcoxon test of the paired
logarithms of the regrets, corrected for {len(lines)} tests (Holm).

{markdown_table(head, lines)}""",
        encoding="utf-8",
    )
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
