"""``BelieverSampler`` beside Optuna's ``GPSampler`` and ``TPESampler``, at their defaults, in one run on one thread.

    python benchmarks/optuna_sampler.py                       # everything: some ten minutes of one core
    python benchmarks/optuna_sampler.py cost spent window     # without the regret

*cost*: processor time of one ``study.ask`` on Hartmann-6D in memory, with n results and more, after one more was told;
while nothing else runs, and while seven other trials do. The samplers take turns, five suggestions each, so that what
else the machine does falls on all of them. Medians, and in brackets means; the first ask is not counted.

*spent*: what our suggestion of 200 results and seven running trials spends where, in milliseconds of the processor a
suggestion, means. The first four are compiled, and what they do is decided by the choices of the engine: that is the
floor.

*window*: on SQLite, from the moment when a sampler begins to choose until its point is in the storage, where other
workers see it: for so long they are blind to each other. Seconds of the clock, since disks count, too. Believer's
workers also guess what others are about to get, and look again after they have told.

*regret*: eight workers on a simulated clock, each evaluation between 1 and 10 units long (log-uniform, by seed and
number of the trial), asked one at a time as they become free; a budget of trials, and log10 of the regret at the end in
units of the median regret of a random point. Paired by seed; Wilcoxon, Holm over the problems. Samplers begin as their
defaults have it. Writes ``results/optuna_sampler.md``.
"""

from __future__ import annotations

import os

# ruff: noqa: E402 - the settings below must come before NumPy: its thread pools read them once, at import.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import heapq
import math
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import optuna
import torch
from regret_report import markdown_table
from speed import provenance

from believer.acquisitions import PointwiseObjective
from believer.experiments.statistics import holm, wilcoxon
from believer.integrations import optuna as door
from believer.integrations.optuna import BelieverSampler
from believer.problems import Problem
from believer.space.parameters import Number
from believer.surrogates import gp, gp_fit
from believer_bench.problems import PROBLEMS, SUITE, scale_of

RESULTS = Path(__file__).parent / "results" / "optuna_sampler.md"
SAMPLERS: dict[str, Any] = {
    "believer": BelieverSampler,
    "GPSampler": optuna.samplers.GPSampler,
    "TPESampler": optuna.samplers.TPESampler,
}
SIZES = {50: 25, 200: 40, 1000: 5}
"""Results, and how often an ask is timed there."""
TURN = 5
"""Suggestions in a row of one sampler."""
WORKERS = 8
BUDGETS = {"branin": 30, "hartmann6": 48, "ackley4": 40, "classifier5": 40}


def problem_named(name: str) -> Problem:
    return {**PROBLEMS, **SUITE}[name]()


def distributions(problem: Problem) -> dict[str, Any]:
    theirs = optuna.distributions
    found: dict[str, Any] = {}
    for name, p in problem.space.parameters.items():
        if not isinstance(p, Number):
            found[name] = theirs.CategoricalDistribution(p.decode(p.grid()))
        else:
            kind = theirs.IntDistribution if isinstance(p.low, int) else theirs.FloatDistribution
            found[name] = kind(p.low, p.high, log=p.log, step=p.step)
    return found


def with_results(name: str, n: int, seed: int, storage: str | None = None) -> tuple[Any, dict[str, Any], Problem]:
    """A study of n uniform points."""
    problem, rng = problem_named("hartmann6"), np.random.default_rng(seed)
    space = distributions(problem)
    study = optuna.create_study(storage=storage, sampler=SAMPLERS[name](seed=seed))
    for params in problem.space.decode(rng.random((n, problem.space.dim))):
        value = problem.function(params)
        study.add_trial(optuna.create_trial(params=params, distributions=space, value=value))
    return study, space, problem


def cost() -> str:
    lines = []
    for n, repeats in SIZES.items():
        for running in (0, WORKERS - 1):
            found = ask_costs(n, running, repeats)
            medians, means = ({name: 1e3 * of(each) for name, each in found.items()} for of in (np.median, np.mean))
            cells = [f"{medians[name]:.1f} ({means[name]:.1f})" for name in SAMPLERS]
            times = [f"{each['GPSampler'] / each['believer']:.1f}" for each in (medians, means)]
            lines.append([str(n), str(running), *cells, f"{times[0]} ({times[1]})"])
            print(lines[-1], flush=True)
    header = ["results", "running", *(f"{name}, ms" for name in SAMPLERS), "GPSampler over believer"]
    loads = " ".join(f"{load:.1f}" for load in os.getloadavg())
    return f"Load averages of this machine at the end: {loads}.\n\n{markdown_table(header, lines)}"


def ask_costs(n: int, running: int, repeats: int) -> dict[str, list[float]]:
    """Processor seconds of single suggestions, of each sampler."""
    studies = {name: with_results(name, n, 0) for name in SAMPLERS}
    under_way = {name: [study.ask(space) for _ in range(running + 1)] for name, (study, space, _) in studies.items()}
    seconds: dict[str, list[float]] = {name: [] for name in SAMPLERS}
    for begin in range(0, repeats, TURN):
        for name, (study, space, problem) in studies.items():
            for _ in range(begin, min(begin + TURN, repeats)):
                done = under_way[name].pop(0)
                study.tell(done, problem.function(done.params))
                begun = time.process_time()
                under_way[name].append(study.ask(space))
                seconds[name].append(time.process_time() - begun)
    return seconds


def spent() -> str:
    inside = {
        "fit of hyperparameters": (gp_fit, "_search"),
        "factors: of the fit, and of hedges": (gp, "_covariance_factor"),
        "candidates screened": (PointwiseObjective, "value"),
        "climbs from the best": (PointwiseObjective, "climb"),
        "the rest of the engine": (door, "propose"),
        "Optuna and the sampler": (optuna.Study, "ask"),
    }
    seconds = dict.fromkeys(inside, 0.0)
    with ExitStack() as stack:
        for part, (where, name) in inside.items():
            original = getattr(where, name)

            def timed(*args: Any, part: str = part, call: Any = original, **options: Any) -> Any:
                begun = time.process_time()
                try:
                    return call(*args, **options)
                finally:
                    seconds[part] += time.process_time() - begun

            stack.enter_context(patch.object(where, name, timed))
        study, space, problem = with_results("believer", 200, 0)
        under_way, repeats = [study.ask(space) for _ in range(WORKERS)], 40
        seconds.update(dict.fromkeys(inside, 0.0))
        for _ in range(repeats):
            done = under_way.pop(0)
            study.tell(done, problem.function(done.params))
            under_way.append(study.ask(space))
    *compiled, engine, whole = (1e3 * each / repeats for each in seconds.values())
    own = [*compiled, engine - sum(compiled), whole - engine]
    lines = [[part, f"{each:.2f}", f"{each / whole:.0%}"] for part, each in zip(inside, own, strict=True)]
    lines.append(["**compiled**", f"{sum(compiled):.2f}", f"{sum(compiled) / whole:.0%}"])
    lines.append(["**all**", f"{whole:.2f}", ""])
    return markdown_table(["part", "ms", "share"], lines)


def window() -> str:
    lines = []
    for n in (50, 200):
        medians = []
        for name in ("believer", "GPSampler"):
            with tempfile.TemporaryDirectory() as folder:
                study, space, _ = with_results(name, n, 0, f"sqlite:///{folder}/study.db")
                storage, sampler = study._storage, study.sampler
                choose, write = sampler.sample_relative, storage.set_trial_system_attr
                begun, told = list[float](), list[float]()

                def choosing(*args: Any, choose: Any = choose, begun: list[float] = begun) -> Any:
                    begun.append(time.perf_counter())
                    return choose(*args)

                def writing(*args: Any, write: Any = write, told: list[float] = told) -> None:
                    write(*args)
                    told.append(time.perf_counter())

                sampler.sample_relative, storage.set_trial_system_attr = choosing, writing
                seconds = []
                for _ in range(WORKERS):
                    told.clear()
                    study.ask(space)
                    seconds.append(told[0] - begun[-1])
                storage.remove_session()
                storage._backend.engine.dispose()
            medians.append(float(np.median(seconds[1:])))
        ours, theirs = medians
        lines.append([str(n), f"{1e3 * ours:.0f}", f"{1e3 * theirs:.0f}", f"{theirs / ours:.0f}x"])
        print(lines[-1], flush=True)
    return markdown_table(["results", "believer, ms", "GPSampler, ms", ""], lines)


def run(name: str, problem: Problem, budget: int, seed: int) -> tuple[float, float]:
    """log10 of the regret at the end, and processor seconds."""
    space, begun = distributions(problem), time.process_time()
    study = optuna.create_study(sampler=SAMPLERS[name](seed=seed))
    under_way: list[tuple[float, int, Any]] = []
    clock, best = 0.0, math.inf
    for number in range(budget):
        if len(under_way) == WORKERS:
            clock, _, done = heapq.heappop(under_way)
            value = problem.function(done.params)
            best = min(best, value)
            study.tell(done, value)
        trial = study.ask(space)
        length = 10.0 ** np.random.default_rng((seed, number)).random()
        heapq.heappush(under_way, (clock + length, number, trial))
    best = min([best, *(problem.function(trial.params) for _, _, trial in under_way)])
    assert problem.optimum is not None
    regret = max((best - problem.optimum) / scale_of(problem), 1e-8)
    return math.log10(regret), time.process_time() - begun


def regret(seeds: range) -> str:
    found, compared = {}, []
    for name, budget in BUDGETS.items():
        problem = problem_named(name)
        rows = [[run(sampler, problem, budget, seed) for sampler in SAMPLERS] for seed in seeds]
        ends, seconds = np.array(rows)[:, :, 0], np.array(rows)[:, :, 1]
        found[name] = (ends, seconds)
        compared.append(wilcoxon(ends[:, 0] - ends[:, 1]))
        print(name, ends.mean(axis=0), seconds.mean(axis=0), compared[-1], flush=True)
    lines = []
    for (name, budget), p in zip(BUDGETS.items(), holm(compared), strict=True):
        ends, seconds = found[name]
        won = f"{(ends[:, 0] < ends[:, 1]).sum()} : {(ends[:, 0] > ends[:, 1]).sum()}"
        means = [f"{mean:.2f}" for mean in ends.mean(axis=0)]
        lines.append([name, str(budget), *means, won, f"{p:.2g}", ", ".join(f"{s:.2f}" for s in seconds.mean(axis=0))])
    header = ["problem", "trials", *SAMPLERS, "won : lost to GPSampler", "p", "CPU s a run"]
    return markdown_table(header, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["cost", "spent", "window", "regret"])
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for sampler in SAMPLERS:  # so that nobody pays for loading
        run(sampler, problem_named("branin"), 14, 99)
    titles = {
        "cost": ("What a suggestion costs", cost),
        "spent": ("What ours is spent on, with 200 results and seven running", spent),
        "window": ("How long workers are blind to each other, by the clock", window),
        "regret": (f"Regret with eight workers, seeds 0-{options.seeds - 1}", lambda: regret(range(options.seeds))),
    }
    made = [f"## {titles[part][0]}\n\n{titles[part][1]()}" for part in options.parts]
    text = "\n".join(["# BelieverSampler in Optuna\n", "By benchmarks/optuna_sampler.py, which says how.\n", *made])
    text += "\n" + provenance(["believer", "optuna"])
    print(text)
    if set(options.parts) == set(titles):
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
