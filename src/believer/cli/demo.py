"""``believer demo``: two studies from beginning to end, with figures.

The classifier is tuned on the logarithm of its cross-validated error: errors span a factor of twenty, and a Gaussian
process that has to follow the worst ones is blind to differences among the best.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from believer import plot
from believer._version import __version__
from believer.cli.arguments import at_least, writable
from believer.diagnostics import before_and_after_a_lie
from believer.errors import EvaluationError, MissingExtra
from believer.loop import minimize
from believer.optimizer import Optimizer
from believer.problems import hartmann6, svm_breast_cancer
from believer.space import Space
from believer.study.trials import Batch
from believer.workers import Workers

_SVM_EVALUATIONS, _HARTMANN_EVALUATIONS = 30, 50
_LEAST_ERROR = 1e-4
"""Below the error of half a sample; keeps the logarithm finite should a classifier ever make no error at all."""

_SECOND_BASIN = -3.2032
"""The value of Hartmann-6D's second-best local optimum."""


@dataclass(frozen=True, slots=True, eq=False)
class _Study:
    """What to minimize; ``name`` begins its files, ``wording`` says the best value in a sentence."""

    name: str
    label: str
    title: str
    function: Callable[[dict[str, Any]], float]
    space: Space
    budget: int
    values_are: str
    wording: Callable[[float], str]
    optimum: float | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``believer demo``."""
    folder = Path("believer-demo")
    parser.add_argument("--out", type=Path, default=folder, help="folder for the files (default: %(default)s)")
    parser.add_argument(
        "--budget",
        type=at_least(1),
        metavar="N",
        help=f"evaluations in each study (default: {_SVM_EVALUATIONS} and {_HARTMANN_EVALUATIONS})",
    )
    parser.add_argument("--q", type=at_least(1), default=3, help="points in a batch (default: %(default)s)")
    parser.add_argument("--workers", type=at_least(1), default=2, help="processes (default: %(default)s)")
    parser.add_argument("--seed", type=at_least(0), default=0, help="of every choice (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Run both studies and leave figures, journals and tables in the folder; files of an earlier run are replaced."""
    started = time.monotonic()
    for package, module, extra in (("matplotlib", "matplotlib", "plots"), ("scikit-learn", "sklearn", "surrogates")):
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(package, extra)
    folder = writable(arguments.out)
    q, workers, seed = arguments.q, arguments.workers, arguments.seed
    _say(f"believer {__version__}: two studies, {q} points at a time, seed {seed}. Files go to {folder}{os.sep}")

    svm, hartmann = _svm(arguments.budget), _hartmann(arguments.budget)
    with Workers(workers) as executor:
        for _ in range(workers):  # each loads what the study needs
            executor.submit(svm.function, svm.space.decode([[0.5] * svm.space.dim])[0])
        before_and_after_a_lie().savefig(folder / "acquisition_before_after_lie.png")
        _say(f"\n1. {svm.title},\n   {svm.budget} evaluations in {workers} process{'es' if workers > 1 else ''}.")
        _conclude_svm(_solve(svm, q, seed, folder, executor))
    _say(f"\n2. {hartmann.title},\n   {hartmann.budget} evaluations in this process.")
    _conclude_hartmann(_solve(hartmann, q, seed, folder, None), hartmann)

    _say(f"\nFigures (*.png), journals (*.jsonl) and tables (*.csv) are in {folder}{os.sep}:")
    _say("  svm_*, hartmann_*: convergence and batches; acquisition_before_after_lie.png: what one lie does.")
    _say(f"Done in {time.monotonic() - started:.0f} s.")
    return 0


def log_error(params: dict[str, Any]) -> float:
    """log10 of the classifier's cross-validated error; at the top of a module, so that any process can find it."""
    return math.log10(max(svm_breast_cancer()(params), _LEAST_ERROR))


def _svm(budget: int | None) -> _Study:
    return _Study(
        name="svm",
        label="SVM",
        title="Support vector classifier on the breast cancer data: 4 parameters, log10 of the error in 5-fold CV",
        function=log_error,
        space=svm_breast_cancer().space,
        budget=budget or _SVM_EVALUATIONS,
        values_are="log10 of the CV error",
        wording=lambda value: f"best error {10**value:.4f}",
    )


def _hartmann(budget: int | None) -> _Study:
    problem = hartmann6()
    return _Study(
        name="hartmann",
        label="Hartmann-6D",
        title=f"Hartmann-6D: 6 parameters, a test function with the known optimum {problem.optimum:.5f}",
        function=problem,
        space=problem.space,
        budget=budget or _HARTMANN_EVALUATIONS,
        values_are="value",
        wording=lambda value: f"best {value:.5f}",
        optimum=problem.optimum,
    )


def _solve(study: _Study, q: int, seed: int, folder: Path, executor: Executor | None) -> Optimizer:
    """Minimize with a line for each batch and a bar below them on a terminal; then write all that is worth keeping."""

    def tell(optimizer: Optimizer, batch: Batch) -> None:
        best = optimizer.best
        so_far = "no result yet" if best is None else study.wording(best[1])
        _say(f"   {optimizer.counts.answered:>3}/{study.budget}  {so_far}  {batch.verdict}")

    result = minimize(
        study.function,
        study.space,
        study.budget,
        q=q,
        workers=executor,
        mode="batch",
        seed=seed,
        progress=True,
        callback=tell,
    )
    optimizer = result.optimizer
    if result.value is None:
        raise EvaluationError(f"every evaluation failed; the first one with: {optimizer.records()[0]['error']}")
    (folder / f"{study.name}.jsonl").unlink(missing_ok=True)
    optimizer.save(folder / f"{study.name}.jsonl")
    optimizer.to_csv(folder / f"{study.name}.csv")
    for name, axes in (
        ("convergence", plot.convergence(optimizer, optimum=study.optimum)),
        ("batches", plot.batches(optimizer)),
    ):
        figure: Any = axes.figure
        figure.suptitle(study.label, fontsize=11)
        figure.savefig(folder / f"{study.name}_{name}.png", dpi=150)
    return optimizer


def _conclude_svm(optimizer: Optimizer) -> None:
    params, value, design, count = _best_and_design(optimizer)
    _say(f"   Best: accuracy {_accuracy(value)} with {_describe(params)}.")
    _say(f"   The best of the {count} design points alone: accuracy {_accuracy(design)}.")


def _conclude_hartmann(optimizer: Optimizer, study: _Study) -> None:
    params, value, design, count = _best_and_design(optimizer)
    assert study.optimum is not None
    _say(f"   Best: {value:.5f}, {value - study.optimum:.5f} above the optimum, at {_describe(params)}.")
    if abs(value - _SECOND_BASIN) < 0.02:
        _say(f"   That is the function's second-best basin ({_SECOND_BASIN}); another --seed may find the best one.")
    _say(f"   The best of the {count} design points alone: {design:.5f}, {design - study.optimum:.5f} above.")


def _best_and_design(optimizer: Optimizer) -> tuple[dict[str, Any], float, float, int]:
    """Params and value of the best, the best value of the initial design, and how many points the design had."""
    best = optimizer.best
    assert best is not None
    design = [row["value"] for row in optimizer.records() if row["origin"] == "design"]
    return *best, min((value for value in design if value is not None), default=math.nan), len(design)


def _accuracy(value: float) -> str:
    return f"{100 * (1 - 10**value):.2f} %"


def _describe(params: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in params.items())


def _say(text: str) -> None:
    print(text, flush=True)
