"""Mixtures: the time of an ask beside a box of as many columns, and regret beside other ways to search blends.

    python -m venv .venv-mixtures
    .venv-mixtures/bin/pip install torch==2.13.0
    .venv-mixtures/bin/pip install botorch==0.18.1 baybe==0.15.0 ax-platform==1.3.1
    python benchmarks/mixtures.py --peers .venv-mixtures/bin/python --markdown benchmarks/results/mixtures.md

Times are CPU seconds, the median of five studies, mixture and box in turn. Ways to search:

- rules: ``rules=[sum_to(names, 1.0)]``, all else at its default;
- random: uniform blends, by the same rules;
- free factors: all parts but the last are free, and a function forbids those that add up to more than 1;
- BoTorch: qLogEI on a SingleTaskGP at its defaults under an equality constraint, after 2k uniform blends;
- BayBE: a campaign at its defaults, with the sum as a linear constraint;
- Ax: a client at its defaults. Its constraints are inequalities: the last part is what the others leave of 1.

Each of the last three runs in a process of the Python that ``--peers`` names, on one thread, and imports do not count.
One JSON line a run goes to ``--runs``, so that a run of this script can be taken up again.

Problems: *yarn*, the elongation of yarn of three fibers (Cornell, *Experiments with mixtures*, 2002); *sparse*, the
squared distance to a blend in which three of ten parts are present; *valley*, six parts, of which two have to be in
balance, with a ripple.

Each peer is compared with "rules" by who ends lower, in pairs of the same problem and seed: the two-sided sign test
over all problems and seeds, p values corrected by Holm's method over the peers. A run of a peer takes half a
minute to some minutes, so that they have fewer seeds (``--peer-seeds``), the same for all.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Function = Callable[[np.ndarray], float]
SPARSE = (0.5, 0.3, 0.2, *(0.0,) * 7)


def yarn(x: np.ndarray) -> float:
    """Elongation, to be maximized; returned negative. The largest is at (0.2939, 0, 0.7061)."""
    a, b, c = x
    return float(-(11.7 * a + 9.4 * b + 16.4 * c + 19.0 * a * b + 11.4 * a * c - 9.6 * b * c))


def sparse(x: np.ndarray) -> float:
    """Squared distance to a blend with three parts."""
    return float(((x - np.array(SPARSE)) ** 2).sum())


def valley(x: np.ndarray) -> float:
    """The first two parts in balance, the third a fifth, and a ripple; 0 at (0.4, 0.4, 0.2, 0, 0, 0)."""
    balance, rest = (x[0] - x[1]) ** 2, x[3:].sum()
    return float(20.0 * balance + 4.0 * (x[2] - 0.2) ** 2 + rest + 0.05 * (1.0 - np.cos(20.0 * (x[0] - 0.4))))


BEST_YARN = yarn(np.array([6.7 / 22.8, 0.0, 1.0 - 6.7 / 22.8]))
PROBLEMS: dict[str, tuple[int, Function, float]] = {
    "yarn": (3, yarn, BEST_YARN),
    "sparse": (10, sparse, 0.0),
    "valley": (6, valley, 0.0),
}


def names_of(k: int) -> list[str]:
    """The parts of a mixture."""
    return [f"p{i}" for i in range(k)]


def by_rules(k: int, function: Function, seed: int, budget: int, q: int, strategy: str = "hedged") -> float:
    """The best value of a study with a sum, and its strategy."""
    import believer as bv

    names = names_of(k)
    space = bv.Space({name: bv.Float(0, 1) for name in names}, rules=[bv.sum_to(names, 1.0)])
    study = bv.Optimizer(space, seed=seed, strategy=strategy)
    while len(study.trials) < budget:
        for trial in study.ask(q):
            study.tell(trial, function(np.array([*trial.params.values()])))
    return study.best[1]


def by_free_factors(k: int, function: Function, seed: int, budget: int, q: int) -> float:
    """The same with the last part as what is left, where that is not below zero."""
    import believer as bv

    space = bv.Space({name: bv.Float(0, 1) for name in names_of(k - 1)}, lambda p: sum(p.values()) <= 1.0)
    study = bv.Optimizer(space, seed=seed)
    while len(study.trials) < budget:
        for trial in study.ask(q):
            x = np.array([*trial.params.values()])
            study.tell(trial, function(np.append(x, 1.0 - x.sum())))
    return study.best[1]


def by_botorch(k: int, function: Function, seed: int, budget: int, q: int) -> float:
    """qLogEI on a SingleTaskGP at its defaults, with the sum as an equality constraint."""
    import torch
    from botorch.acquisition.logei import qLogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(seed)
    X = np.random.default_rng(seed).dirichlet(np.ones(k), 2 * k)
    y = [function(x) for x in X]
    one = torch.ones(k, dtype=torch.double)
    while len(y) < budget:
        Y = torch.tensor(y, dtype=torch.double)[:, None]
        model = SingleTaskGP(torch.tensor(X), -(Y - Y.mean()) / Y.std())
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        best = (-(Y - Y.mean()) / Y.std()).max()
        found, _ = optimize_acqf(
            qLogExpectedImprovement(model, best),
            torch.stack([0.0 * one, one]),
            q,
            num_restarts=10,
            raw_samples=256,
            equality_constraints=[(torch.arange(k), one, 1.0)],
        )
        X = np.vstack([X, found.numpy()])
        y += [function(x) for x in found.numpy()]
    return min(y)


def by_baybe(k: int, function: Function, seed: int, budget: int, q: int) -> float:
    """A campaign at its defaults, with the sum as a linear constraint."""
    from baybe import Campaign
    from baybe.constraints import ContinuousLinearConstraint
    from baybe.parameters import NumericalContinuousParameter
    from baybe.searchspace import SearchSpace
    from baybe.targets import NumericalTarget
    from baybe.utils.random import set_random_seed

    set_random_seed(seed)
    names, found = names_of(k), list[float]()
    parts = [NumericalContinuousParameter(name, (0, 1)) for name in names]
    space = SearchSpace.from_product(parts, [ContinuousLinearConstraint(names, "=", [1.0] * k, 1.0)])
    campaign = Campaign(space, NumericalTarget("y", minimize=True).to_objective())
    while len(found) < budget:
        batch = campaign.recommend(q)
        batch["y"] = [function(x) for x in batch[names].to_numpy()]
        found += batch["y"].tolist()
        campaign.add_measurements(batch)
    return min(found)


def by_ax(k: int, function: Function, seed: int, budget: int, q: int) -> float:
    """A client at its defaults: the last part is what the others leave, and they may not exceed 1."""
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    names, found = names_of(k - 1), list[float]()
    client = Client(random_seed=seed)
    client.configure_experiment(
        [RangeParameterConfig(name=name, parameter_type="float", bounds=(0, 1)) for name in names],
        parameter_constraints=[f"{' + '.join(names)} <= 1"],
    )
    client.configure_optimization("-y")
    while len(found) < budget:
        trials = client.get_next_trials(min(q, budget - len(found)))  # it may give fewer
        for number, params in trials.items():
            x = np.array([params[name] for name in names])
            found.append(function(np.append(x, 1.0 - x.sum())))
            client.complete_trial(number, raw_data={"y": found[-1]})
    return min(found)


OWN: dict[str, Callable[..., float]] = {
    "rules": by_rules,
    "random": lambda *of: by_rules(*of, strategy="random"),
    "free factors": by_free_factors,
}
PEERS: dict[str, Callable[..., float]] = {"BoTorch": by_botorch, "BayBE": by_baybe, "Ax": by_ax}


def run(way: str, problem: str, seed: int, budget: int, q: int) -> dict[str, Any]:
    """The regret of a way on a problem, and its CPU seconds; None for no regret where it finds no point."""
    k, function, best = PROBLEMS[problem]
    start, regret = time.process_time(), None
    try:
        regret = {**OWN, **PEERS}[way](k, function, seed, budget, q) - best
    except Exception as error:
        if type(error).__name__ != "NoPointFound":
            raise
    return {"regret": regret, "seconds": round(time.process_time() - start, 3)}


def serve(way: str) -> None:
    """Answer with a run each to lines of a problem and its settings, in the environment of the peers."""
    import torch

    there, sys.stdout = sys.stdout, sys.stderr
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    run(way, "yarn", 0, 8, 4)  # imports
    for line in sys.stdin:
        print(json.dumps(run(way, *json.loads(line))), file=there, flush=True)


class Peer:
    """A way to search in a process of another Python."""

    def __init__(self, python: str, way: str) -> None:
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [python, __file__, "--serve", way]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | one
        )

    def __call__(self, *of: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(of), file=self.process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


def runs(path: Path, wanted: list[tuple[str, int]], budget: int, q: int, python: str | None) -> dict[Any, Any]:
    """The runs of ``wanted`` ways and seeds on all problems, by these: from the file, or made and added to it."""
    known, peers = dict[Any, Any](), dict[str, Peer]()
    for line in path.read_text().splitlines() if path.exists() else ():
        one = json.loads(line)
        if (one["budget"], one["q"]) == (budget, q):
            known[one["way"], one["problem"], one["seed"]] = one
    for way, seed in wanted:
        for problem in PROBLEMS:
            if (way, problem, seed) in known:
                continue
            if way in PEERS and way not in peers:
                assert python is not None
                peers[way] = Peer(python, way)
            found = peers[way](problem, seed, budget, q) if way in PEERS else run(way, problem, seed, budget, q)
            one = {"way": way, "problem": problem, "seed": seed, "budget": budget, "q": q, **found}
            known[way, problem, seed] = one
            with path.open("a") as file:
                file.write(json.dumps(one) + "\n")
            print(one, file=sys.stderr, flush=True)
    for peer in peers.values():
        peer.process.communicate()
    return known


def seconds(k: int, n: int, rules: bool) -> tuple[float, float]:
    """CPU seconds of the first ask, and of ask(8) at ``n`` results once a model is fitted."""
    import believer as bv

    names, rng = names_of(k), np.random.default_rng(0)
    space = bv.Space({name: bv.Float(0, 1) for name in names}, rules=[bv.sum_to(names, 1.0)] if rules else [])
    start = time.process_time()
    bv.Optimizer(space, seed=0).ask(1)
    first = time.process_time() - start
    study = bv.Optimizer(space, seed=0)
    for x in rng.dirichlet(np.ones(k), n):
        study.observe(dict(zip(names, x.tolist(), strict=True)), sparse(x) + 0.1 * float(np.sin(9.0 * x).sum()))
    study.ask(1)
    times = []
    for _ in range(5):
        start = time.process_time()
        study.ask(8)
        times.append(time.process_time() - start)
    return first, statistics.median(times)


def timed() -> Iterator[str]:
    """The table of times, line by line."""
    import believer as bv

    seconds(10, 20, True), seconds(10, 20, False)  # imports
    found = [[seconds(10, 100, rules) for rules in (True, False)] for _ in range(5)]
    mixture, box = ([statistics.median(row[i][j] for row in found) for j in (0, 1)] for i in (0, 1))
    yield f"CPU seconds of ten parts, median of five, {bv.backend()} backend."
    yield from ("", "| | mixture | box | ratio |", "|---|---|---|---|")
    for j, what in enumerate(("first ask", "ask(8) at n=100")):
        yield f"| {what} | {mixture[j] * 1e3:.1f} ms | {box[j] * 1e3:.1f} ms | {mixture[j] / box[j]:.1f} |"


def table(known: dict[Any, Any], ways: list[str], seeds: int) -> Iterator[str]:
    """Medians, upper quartiles and seconds of some ways over the first seeds."""
    yield "| problem | " + " | ".join(ways) + " |"
    yield "|---|" + "---|" * len(ways)
    for problem, (k, _, _) in PROBLEMS.items():
        cells = []
        for way in ways:
            rows = [known[way, problem, seed] for seed in range(seeds)]
            spent = np.mean([row["seconds"] for row in rows])
            # A run that finds no point is worse than all others.
            regrets = sorted(np.inf if row["regret"] is None else row["regret"] for row in rows)
            lost = f", no point in {regrets.count(np.inf)}" if np.inf in regrets else ""
            median, upper = statistics.median(regrets), regrets[math.ceil(0.75 * (seeds - 1))]
            cells.append(f"{median:.2g} ({upper:.2g}), {spent:.2f} s{lost}")
        yield f"| {problem} ({k} parts) | " + " | ".join(cells) + " |"


def compared(known: dict[Any, Any], ways: list[str], seeds: int) -> Iterator[str]:
    """Each peer against rules, by problem and over all."""
    from believer.experiments import holm

    def ratio(way: str, problem: str, what: str) -> list[float]:
        return [known[way, problem, s][what] / known["rules", problem, s][what] for s in range(seeds)]

    won = {way: {p: sum(r > 1.0 for r in ratio(way, p, "regret")) for p in PROBLEMS} for way in ways}
    pairs = seeds * len(PROBLEMS)
    corrected = holm([sign_test(sum(of.values()), pairs) for of in won.values()])
    yield f"| peer | rules better on {', '.join(PROBLEMS)} | in all | p | CPU s of rules, a share of the peer's |"
    yield "|---|" + "---|" * 4
    for (way, of), p in zip(won.items(), corrected, strict=True):
        spent = [1.0 / np.median(ratio(way, problem, "seconds")) for problem in PROBLEMS]
        by = ", ".join(f"{n} of {seeds}" for n in of.values())
        yield (
            f"| {way} | {by} | {sum(of.values())} of {pairs} | {p:.2g} | "
            f"{100 * min(spent):.1f} to {100 * max(spent):.1f} % |"
        )


def sign_test(won: int, pairs: int) -> float:
    """The two-sided probability of so uneven a split by chance."""
    few = min(won, pairs - won)
    return min(1.0, 2.0 * sum(math.comb(pairs, i) for i in range(few + 1)) / 2.0**pairs)


def main() -> None:
    """Print the tables, and write them where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--peer-seeds", type=int, default=5)
    parser.add_argument("--ways", nargs="+", choices=PEERS, default=[*PEERS], help="the peers to run")
    parser.add_argument("--budget", type=int, default=40)
    parser.add_argument("-q", type=int, default=4)
    parser.add_argument("--peers", help="the Python of an environment with BoTorch, BayBE and Ax")
    parser.add_argument("--runs", type=Path, default=Path("mixtures_runs.jsonl"))
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        serve(given.serve)
        return
    wanted = [(way, seed) for seed in range(given.seeds) for way in OWN]
    if given.peers is not None:
        wanted += [(way, seed) for seed in range(given.peer_seeds) for way in given.ways]
    known = runs(given.runs, wanted, given.budget, given.q, given.peers)
    peers = f" --peer-seeds {given.peer_seeds} --ways {' '.join(given.ways)}" if given.peers else ""
    command = f"python benchmarks/mixtures.py --seeds {given.seeds}{peers}"
    often = f"Regret after {given.budget} evaluations in batches of {given.q}: median of"
    lines = [f"# Mixtures (`{command}`)", "", *timed(), ""]
    lines += [f"{often} {given.seeds} seeds (upper quartile), CPU s of each.", ""]
    lines += [*table(known, [*OWN], given.seeds)]
    if given.peers is not None:
        n = given.peer_seeds
        lines += ["", f"{often} {n} seeds (upper quartile), CPU s of each on one thread.", ""]
        lines += [*table(known, ["rules", *given.ways], n), ""]
        lines += ["p: two-sided sign test over all of these runs, corrected by Holm's method over the peers.", ""]
        lines += [*compared(known, given.ways, n)]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.markdown:
        given.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
