"""Several outcomes, in batches of four: limits to keep, objectives to trade; against BoTorch, Optuna and random points.

    python benchmarks/outcomes.py run --methods random botorch optuna believer --seeds 0-19
    python benchmarks/outcomes.py report --ours believer --markdown benchmarks/results/outcomes.md
    python benchmarks/outcomes.py speed

*The race.* 2 (d + 1) initial points, a Latin hypercube of the seed and the same for every method; then eight batches of
four. Six problems with one objective and limits, six with several objectives, one of them with a limit. A run is a JSON
line in ``outcomes-<method>.jsonl``: all outcomes in the order of their evaluation, what was reached after the initial
points and after each batch, and processor seconds of each ask (one thread; the fit to new results is part of it). Runs
already there are skipped; seeds are the outermost loop, so that whatever is finished is balanced.

*How it is judged*, as written before any run:

- One objective: log10 of the regret of the best feasible value after the last batch, no less than that of
  1e-6 max(1, |optimum|). A run that found nothing feasible is worse than every run that did, and two such are equal.
- Several objectives: log10 of the share of the ideal hypervolume that the feasible points still miss at the end, no
  less than 1e-6, from the problem's reference point.
- Ours against each peer on each problem: the two-sided Wilcoxon signed-rank test over the differences of seeds that
  both have run, Holm's correction over all comparisons of the report. Better or worse is said below 0.05 only.
- A peer is beaten on a group of problems when ours is better on more of its problems than worse. Problems are not
  averaged; nothing is left out. Processor time is reported, not judged.

*What the peers are.* ``botorch``: a ``SingleTaskGP`` for each outcome with its own priors, told that there is no noise
(a variance of 1e-6; where it had to infer it, constrained Branin ended at a regret 500 times as large, on a seed
outside the race), all outcomes standardized (limits and reference point with them, so that its temperatures mean what
they should), one point after another: ``qLogExpectedImprovement`` with constraints above the best feasible value (256
samples), or, as it advises while nothing is feasible, ``qLogProbabilityOfFeasibility``; for several objectives
``qLogExpectedHypervolumeImprovement`` (128 samples, compiled where a compiler is found), constraints included, from the
same reference point. How hard it searches is in ``RESTARTS``, ``RAW_SAMPLES`` and ``MAX_STEPS``. ``optuna``:
``GPSampler``, told that there is no noise, four trials asked before any is told, limits by ``set_constraint``; it knows
no reference point. ``random``: uniform points.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import hashlib
import json
import math
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from regret_report import markdown_table

import believer as bv
from believer.arrays import Array
from believer.experiments.lines import ProgressLines
from believer.experiments.statistics import hodges_lehmann, holm, wilcoxon
from believer.problems.synthetic import hartmann6
from believer.study.goals import Goals
from believer_bench.command import seeds_of
from believer_bench.problems import FRONTS, LIMITS, SEVERAL, SeveralProblem, feasible_regret
from believer_bench.problems.several import MINIMIZE, of_rows
from believer_bench.race import design

RESULTS = Path(__file__).parent / "results"
BATCH, BATCHES = 4, 8
RESTARTS, RAW_SAMPLES, MAX_STEPS = 5, 256, 100
"""Of BoTorch. Its tutorials have 10, 512 and 200; at 30 results the values found differed by 0.01 in log at most, which
the sampling of the criterion does alone, and the whole race fits into an hour and a half of one core."""
NOISE = 1e-6
"""BoTorch's variance of the noise, of standardized outcomes."""
LEAST = 1e-6
"""A regret or a missing share below it counts as it."""

GROUPS = {"limits": list(LIMITS), "fronts": list(FRONTS)}
PROBLEMS: dict[str, SeveralProblem] = {name: make() for name, make in SEVERAL.items()}


class Method(Protocol):
    """Who races: made from (problem, X0, Y0, seed), points in the unit cube, outcomes in the problem's units."""

    def ask(self, q: int) -> Array:
        """q points (q, d)."""
        ...

    def tell(self, X: Array, Y: Array) -> None:
        """Outcomes Y (q, k) at X (q, d)."""
        ...


class Random:
    """Uniform points."""

    def __init__(self, problem: SeveralProblem, X0: Array, Y0: Array, seed: int) -> None:
        self._rng, self._d = np.random.default_rng([seed, 1]), X0.shape[1]

    def ask(self, q: int) -> Array:
        return self._rng.random((q, self._d))

    def tell(self, X: Array, Y: Array) -> None:
        """Nothing is learnt."""


class Believer:
    """Ours: ``Optimizer(space, outcomes=...)`` as it comes, or with another strategy."""

    def __init__(self, problem: SeveralProblem, X0: Array, Y0: Array, seed: int, strategy: str | None = None) -> None:
        several = len(problem.objectives) > 1
        self._problem, self._batch = problem, list[Any]()
        self._optimizer = bv.Optimizer(
            problem.space,
            strategy=strategy,
            n_init=1,
            seed=seed,
            outcomes=Goals.named(problem.goals).wanted,
            reference=dict(zip(problem.objectives, problem.reference or (), strict=True)) if several else None,
        )
        for params, row in zip(problem.space.decode(X0), Y0, strict=True):
            self._optimizer.observe(params, dict(zip(problem.goals, row.tolist(), strict=True)))

    def ask(self, q: int) -> Array:
        self._batch = list(self._optimizer.ask(q))
        return np.array([trial.encoded for trial in self._batch])

    def tell(self, X: Array, Y: Array) -> None:
        for trial, row in zip(self._batch, Y, strict=True):
            self._optimizer.tell(trial, dict(zip(self._problem.goals, row.tolist(), strict=True)))


class BoTorch:
    """A Gaussian process for each outcome; see the top of this file."""

    def __init__(self, problem: SeveralProblem, X0: Array, Y0: Array, seed: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self._problem, self._X, self._Y = problem, X0, Y0

    def ask(self, q: int) -> Array:
        import torch
        from botorch.optim import optimize_acqf

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            points, _ = optimize_acqf(
                self._criterion(),
                bounds=torch.tensor([[0.0], [1.0]], dtype=torch.double).expand(2, self._X.shape[1]),
                q=q,
                num_restarts=RESTARTS,
                raw_samples=RAW_SAMPLES,
                options={"maxiter": MAX_STEPS},
                sequential=True,
            )
        found: Array = points.detach().numpy().copy()
        return found

    def tell(self, X: Array, Y: Array) -> None:
        self._X, self._Y = np.vstack([self._X, X]), np.vstack([self._Y, Y])

    def _criterion(self) -> Any:
        import torch
        from botorch.acquisition import logei
        from botorch.acquisition.multi_objective.logei import qLogExpectedHypervolumeImprovement
        from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
        from botorch.acquisition.objective import GenericMCObjective
        from botorch.sampling.normal import SobolQMCNormalSampler
        from botorch.utils.multi_objective.box_decompositions.non_dominated import FastNondominatedPartitioning

        problem, feasible = self._problem, self._problem.feasible(self._Y)
        values = np.hstack([-problem.to_minimize(self._Y), problem.violations(self._Y)])
        mean, std = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-12)
        Z = torch.as_tensor((values - mean) / std)
        o = len(problem.objectives)
        model = self._fitted(Z)
        limits = [_limit(j, float(-mean[j] / std[j])) for j in range(o, Z.shape[1])] or None
        if o > 1:
            reference = torch.as_tensor((-problem.reference_to_minimize() - mean[:o]) / std[:o])
            return qLogExpectedHypervolumeImprovement(
                model=model,
                ref_point=reference,
                partitioning=FastNondominatedPartitioning(ref_point=reference, Y=Z[torch.as_tensor(feasible), :o]),
                sampler=SobolQMCNormalSampler(torch.Size([128])),
                objective=IdentityMCMultiOutputObjective(outcomes=list(range(o))),
                constraints=limits,
            )
        sampler = SobolQMCNormalSampler(torch.Size([256]))
        objective = GenericMCObjective(lambda samples, X=None: samples[..., 0])
        if not feasible.any():
            return logei.qLogProbabilityOfFeasibility(model, limits, sampler=sampler, objective=objective)
        best = Z[torch.as_tensor(feasible), 0].max()
        return logei.qLogExpectedImprovement(model, best, sampler=sampler, objective=objective, constraints=limits)

    def _fitted(self, Z: Any) -> Any:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        # Hyperparameters of their own for each column, evaluated together: the likelihoods of a list of models are the
        # same to three decimals, at half the cost.
        model = SingleTaskGP(torch.as_tensor(self._X), Z, torch.full_like(Z, NOISE), outcome_transform=None)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model


def _limit(column: int, threshold: float) -> Callable[[Any], Any]:
    """A constraint of BoTorch's: below zero where the sampled outcome is below its threshold."""
    return lambda samples: samples[..., column] - threshold


class Optuna:
    """``GPSampler``; see the top of this file."""

    def __init__(self, problem: SeveralProblem, X0: Array, Y0: Array, seed: int) -> None:
        import optuna
        import torch

        torch.set_num_threads(1)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._problem, self._running = problem, list[Any]()
        self._axes = {f"x{j}": optuna.distributions.FloatDistribution(0.0, 1.0) for j in range(X0.shape[1])}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=True, n_startup_trials=0)
            self._study = optuna.create_study(directions=["minimize"] * len(problem.objectives), sampler=sampler)
            for x, values, limits in zip(X0, problem.to_minimize(Y0), problem.violations(Y0), strict=True):
                trial = optuna.trial.create_trial(
                    params=dict(zip(self._axes, x.tolist(), strict=True)),
                    distributions=self._axes,
                    values=values.tolist(),
                    constraints={f"g{j}": float(g) for j, g in enumerate(limits)},
                )
                self._study.add_trial(trial)

    def ask(self, q: int) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._running = [self._study.ask(self._axes) for _ in range(q)]
        return np.array([[trial.params[name] for name in self._axes] for trial in self._running])

    def tell(self, X: Array, Y: Array) -> None:
        rows = zip(self._running, self._problem.to_minimize(Y), self._problem.violations(Y), strict=True)
        for trial, values, limits in rows:
            for j, g in enumerate(limits):
                trial.set_constraint(f"g{j}", float(g))
            self._study.tell(trial, values.tolist())


METHODS: dict[str, Callable[[SeveralProblem, Array, Array, int], Method]] = {
    "random": Random,
    "botorch": BoTorch,
    "optuna": Optuna,
    "believer": Believer,
    **{f"believer-{name}": partial(Believer, strategy=name) for name in ("hedged", "qei", "thompson")},
}
PACKAGES = {
    "random": ["numpy"],
    "botorch": ["botorch", "gpytorch", "torch"],
    "optuna": ["optuna", "torch"],
}
OURS = ["believer", "numpy", "scipy"]


def hypervolume(F: Array, reference: Array) -> float:
    """Volume between the points ``F`` (m, o), to be minimized, and ``reference`` (o,), by slices of the last axis."""
    F = F[(reference > F).all(axis=1)]
    if len(F) == 0:
        return 0.0
    if F.shape[1] == 1:
        return float(reference[0] - F.min())
    F = F[np.argsort(F[:, -1])]
    heights = np.diff(np.append(F[:, -1], reference[-1]))
    slices = (hypervolume(F[: i + 1, :-1], reference[:-1]) for i in range(len(F)))
    return float(sum(height * area for height, area in zip(heights, slices, strict=True) if height > 0.0))


def hypervolumes(problem: SeveralProblem, Y: Array) -> Array:
    """Hypervolume of the feasible points so far (m,), after each row of ``Y`` (m, k)."""
    F, feasible, reference = problem.to_minimize(Y), problem.feasible(Y), problem.reference_to_minimize()
    return np.array([hypervolume(F[:i][feasible[:i]], reference) for i in range(1, len(Y) + 1)])


def reached(problem: SeveralProblem, Y: Array) -> Array:
    """How well outcomes ``Y`` (m, k) do after each row (m,), to be minimized, as judged; inf: nothing feasible."""
    if problem.optimum is not None:
        least, missing = LEAST * max(1.0, abs(problem.optimum)), feasible_regret(problem, Y)
    else:
        assert problem.hypervolume is not None
        least, missing = LEAST, 1.0 - hypervolumes(problem, Y) / problem.hypervolume
    return np.log10(np.maximum(missing, least))


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One run."""

    seed: int
    problem: str
    method: str


def run_cell(cell: Cell) -> dict[str, Any]:
    """Race to the end; a row of plain JSON."""
    problem = PROBLEMS[cell.problem]
    X = design(problem.space, 2 * (problem.space.dim + 1), cell.seed)
    Y = problem.evaluate(X)
    begun = time.process_time()
    method = METHODS[cell.method](problem, X, Y, cell.seed)
    setup, seconds, initial = time.process_time() - begun, [], len(X)
    digest = hashlib.sha256(X.tobytes()).hexdigest()[:16]
    for _ in range(BATCHES):
        begun = time.process_time()
        points = method.ask(BATCH)
        seconds.append(time.process_time() - begun)
        if points.shape != (BATCH, X.shape[1]) or not ((points >= 0.0) & (points <= 1.0)).all():
            raise ValueError(f"{cell.method} must propose {BATCH} points inside the unit cube; got {points!r}.")
        values = problem.evaluate(points)
        method.tell(points, values)
        X, Y = np.vstack([X, points]), np.vstack([Y, values])
    return {
        "method": cell.method,
        "problem": cell.problem,
        "seed": cell.seed,
        "reached": [x if math.isfinite(x) else None for x in reached(problem, Y)[initial - 1 :: BATCH].tolist()],
        "setup_cpu_seconds": round(setup, 4),
        "cpu_seconds": [round(value, 4) for value in seconds],
        "design": digest,
        "points": [[float(f"{x:.10g}") for x in row] for row in X.tolist()],
        "outcomes": Y.tolist(),
        "versions": {name: metadata.version(name) for name in PACKAGES.get(cell.method, OURS)},
    }


def path_of(folder: Path, method: str) -> Path:
    return folder / f"outcomes-{method}.jsonl"


def read(folder: Path, methods: Iterable[str]) -> dict[Cell, dict[str, Any]]:
    """Finished runs; a last line without its end is being written, and is left out."""
    rows: dict[Cell, dict[str, Any]] = {}
    for path in (path_of(folder, method) for method in methods):
        for row in map(json.loads, path.read_text().split("\n")[:-1] if path.exists() else []):
            rows.setdefault(Cell(row["seed"], row["problem"], row["method"]), row)
    return rows


def run(methods: Sequence[str], problems: Sequence[str], seeds: Sequence[int], folder: Path) -> int:
    """Run what is not there yet; returns how many raised."""
    done, failed = read(folder, methods), 0
    cells = [Cell(seed, problem, method) for seed in seeds for problem in problems for method in methods]
    todo = [cell for cell in cells if cell not in done]
    progress = ProgressLines(len(cells), sys.stderr)
    for method in dict.fromkeys(cell.method for cell in todo):
        warm_up(method)
    folder.mkdir(parents=True, exist_ok=True)
    for number, cell in enumerate(todo, len(cells) - len(todo)):
        progress.show(number, f"{cell.method} on {cell.problem}, seed {cell.seed}")
        try:
            row = run_cell(cell)
        except Exception:
            failed += 1
            print(f"*** {cell} ***\n{traceback.format_exc()}", file=sys.stderr, flush=True)
            continue
        with path_of(folder, cell.method).open("a") as file:
            file.write(json.dumps(row) + "\n")
    progress.show(len(cells))
    return failed


def warm_up(method: str) -> None:
    """So that no timed ask pays for loading, or for compiling."""
    for problem in (PROBLEMS["gramacy"], PROBLEMS["c2_dtlz2"]):
        X = design(problem.space, 8, 99)
        METHODS[method](problem, X, problem.evaluate(X), 99).ask(1)


def report(folder: Path, ours: str, seeds: Sequence[int] | None = None) -> str:
    """The tables as Markdown, over all runs that are there."""
    rows = {cell: row for cell, row in read(folder, METHODS).items() if seeds is None or cell.seed in seeds}
    if not rows:
        return "No finished runs to report.\n"
    _require_same_designs(rows.values())
    methods = [name for name in METHODS if any(cell.method == name for cell in rows)]
    ends = _ends(rows)
    parts = ["# Several outcomes, batches of four\n", "By benchmarks/outcomes.py, which says how it is judged.\n"]
    for group, names in GROUPS.items():
        what = "the regret of the best feasible value" if group == "limits" else "the share of hypervolume missing"
        parts.append(f"## {group}: log10 of {what}, medians over seeds (runs)\n")
        parts.append(markdown_table(["problem", *methods], [_medians(name, methods, ends) for name in names]))
    parts += [_seconds(rows, methods), _comparisons(ends, ours, methods)]
    versions = {name: v for row in rows.values() for name, v in row["versions"].items()}
    parts.append("One thread. " + ", ".join(f"{name} {v}" for name, v in sorted(versions.items())) + ".\n")
    return "\n".join(parts)


def _require_same_designs(rows: Iterable[dict[str, Any]]) -> None:
    designs: dict[tuple[str, int], str] = {}
    for row in rows:
        if designs.setdefault((row["problem"], row["seed"]), row["design"]) != row["design"]:
            raise ValueError(f"runs of {row['problem']}, seed {row['seed']}, begin from different points.")


def _ends(rows: dict[Cell, dict[str, Any]]) -> dict[Cell, float]:
    """Where each run ended, from its outcomes; inf where nothing feasible was found."""
    return {cell: float(reached(PROBLEMS[cell.problem], np.array(row["outcomes"]))[-1]) for cell, row in rows.items()}


def _medians(problem: str, methods: Sequence[str], ends: dict[Cell, float]) -> list[str]:
    cells = [problem]
    for method in methods:
        found = [end for cell, end in ends.items() if (cell.problem, cell.method) == (problem, method)]
        none = sum(math.isinf(end) for end in found)
        note = f"{len(found)}" + (f", {none} found nothing feasible" if none else "")
        middle = np.sort(found)[[(len(found) - 1) // 2, len(found) // 2]].mean() if found else math.nan
        cells.append(f"{middle:.2f} ({note})" if found else "")
    return cells


def _seconds(rows: dict[Cell, dict[str, Any]], methods: Sequence[str]) -> str:
    lines = []
    for problem in PROBLEMS:
        of = {m: [r["cpu_seconds"] for c, r in rows.items() if (c.problem, c.method) == (problem, m)] for m in methods}
        lines.append([problem, *(f"{np.median(of[m]):.3g}" if of[m] else "" for m in methods)])
    return "## Processor seconds of ask(4), medians\n\n" + markdown_table(["problem", *methods], lines)


def _comparisons(ends: dict[Cell, float], ours: str, methods: Sequence[str]) -> str:
    """Ours against each peer, and what it comes to for each group."""
    tests = []
    for peer in (method for method in methods if method != ours):
        for problem in PROBLEMS:
            d = differences(ends, ours, peer, problem)
            if len(d):
                tests.append((peer, problem, d, wilcoxon(d)))
    title = f"## {ours} against each, paired by seed\n\n"
    if not tests:
        return title + f"No seeds in common with {ours} yet.\n"
    lines, tally = [], dict[tuple[str, str], list[int]]()
    for (peer, problem, d, p), corrected in zip(tests, holm([test[3] for test in tests]), strict=True):
        group = next(name for name, members in GROUPS.items() if problem in members)
        shift, better, worse = hodges_lehmann(d), int((d < 0.0).sum()), int((d > 0.0).sum())
        verdict = ("better" if shift < 0.0 else "worse") if corrected < 0.05 else "no difference shown"
        counts = tally.setdefault((peer, group), [0, 0])
        counts[0] += verdict == "better"
        counts[1] += verdict == "worse"
        won = f"{better} / {len(d) - better - worse} / {worse}"
        lines.append([peer, problem, won, f"{shift:+.2f}", f"{p:.2g}", f"{corrected:.2g}", verdict])
    header = ["peer", "problem", "won / tied / lost", "ours - theirs, log10", "p", "p (Holm)", "verdict"]
    groups = [[peer, group, str(won), str(lost)] for (peer, group), (won, lost) in tally.items()]
    summary = markdown_table(["peer", "group", "better on", "worse on"], groups)
    return f"{title}{markdown_table(header, lines)}\n{summary}"


def differences(ends: dict[Cell, float], ours: str, peer: str, problem: str) -> Array:
    """Ours - theirs (m,), one for each seed that both have; nothing feasible counts one more than the worst of all."""
    finite = [end for cell, end in ends.items() if cell.problem == problem and math.isfinite(end)]
    worst = max(finite, default=0.0) + 1.0
    pairs = []
    for cell, end in sorted(ends.items()):
        if (cell.problem, cell.method) == (problem, ours):
            theirs = ends.get(Cell(cell.seed, problem, peer))
            if theirs is not None:
                pairs.append(min(end, worst) - min(theirs, worst))
    return np.array(pairs)


def probe() -> SeveralProblem:
    """Two objectives and two limits in six dimensions, for timing."""

    def rows(X: Array) -> Array:
        bowl = ((X - 0.5) ** 2).sum(axis=1)
        return np.column_stack([hartmann6(X), bowl, X.sum(axis=1), X[:, 0] * X[:, 1]])

    goals = {"hartmann": MINIMIZE, "bowl": MINIMIZE, "sum": ("at_most", 3.5), "product": ("at_least", 0.05)}
    box = {f"x{j}": (0.0, 1.0) for j in range(6)}
    return of_rows("probe", rows, box, goals, reference=(0.0, 1.5), hypervolume=1.0)


def speed(methods: Sequence[str], n: int = 50, repeats: int = 5) -> str:
    """Processor seconds of ask(4) at n results, after four more were told; median."""
    problem, lines = probe(), []
    for name in methods:
        warm_up(name)
        X = design(problem.space, n - BATCH, 0)
        method, seconds = METHODS[name](problem, X, problem.evaluate(X), 0), []
        for _ in range(repeats + 1):
            begun = time.process_time()
            points = method.ask(BATCH)
            seconds.append(time.process_time() - begun)
            method.tell(points, problem.evaluate(points))
        lines.append([name, f"{np.median(seconds[1:]):.3g}"])
        print(lines[-1], file=sys.stderr, flush=True)
    title = f"ask(4), n = {n} and a little more, d = 6, two objectives, two limits\n\n"
    return title + markdown_table(["method", "CPU s"], lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["run", "report", "speed"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["random", "botorch", "optuna"])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seeds", type=seeds_of, default=list(range(20)))
    parser.add_argument("--folder", type=Path, default=RESULTS, help="of the JSON lines")
    parser.add_argument("--ours", default="believer")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.task == "run":
        return int(run(options.methods, options.problems, options.seeds, options.folder) > 0)
    text = speed(options.methods) if options.task == "speed" else report(options.folder, options.ours, options.seeds)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
