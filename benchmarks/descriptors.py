"""Do descriptors of categories bring more than their identity, and what does it cost if they mislead?

    python benchmarks/descriptors.py --seeds 20

Tables of 1,728 reactions, as a direct arylation has them: 12 ligands x 4 bases x 4 solvents x 3 concentrations x 3
temperatures. Each table is made here: hidden properties of ligand, base and solvent, with concentration and
temperature, decide the yield by a smooth random function, and each category has an effect of its own beside them that
no property tells. A study sees descriptors that are

- informative: the hidden properties, in other units;
- half informative: every other property replaced by random numbers;
- misleading: random numbers;

or the names alone ("identity"). Batches of 5, 50 experiments, another table for each seed, and the same design of 10
for all arms of a seed. Regret is what is missing to the table's best yield, in percent of it: in the end, and in the
mean over experiments 16 to 50, by which seeds are won and lost to the names alone (sign test).
"""

from __future__ import annotations

import argparse
import itertools
import time
from math import comb

import numpy as np

import believer as bv

FACTORS = {"ligand": (12, 3), "base": (4, 2), "solvent": (4, 2)}
"""Of each factor, how many categories, and how many properties that matter."""

CONCENTRATIONS, TEMPERATURES = (0.057, 0.1, 0.153), (90, 105, 120)
ARMS = ("identity", "informative", "half informative", "misleading")
BATCH, BUDGET, DESIGN = 5, 50, 10
LS, OWN = (0.4, 3.0), 0.1
"""Lengthscales of the function along hidden properties, log-uniform; the spread of what no property tells."""


class Reactions:
    """A table of reactions with a known structure."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([seed, 1728])
        self.names = {name: [f"{name[0].upper()}{i + 1}" for i in range(k)] for name, (k, _) in FACTORS.items()}
        self.hidden = {name: rng.random(shape) for name, shape in FACTORS.items()}
        self.noise = {name: rng.random(shape) for name, shape in FACTORS.items()}
        self.units = {name: np.exp(rng.normal(0.0, 2.0, (2, p))) for name, (_, p) in FACTORS.items()}
        rows = list(itertools.product(*self.names.values(), CONCENTRATIONS, TEMPERATURES))
        places = np.array(list(itertools.product(*[range(k) for k, _ in FACTORS.values()], range(3), range(3))))
        Z = [self.hidden[name][places[:, j]] for j, name in enumerate(FACTORS)]
        Z = np.hstack([*Z, places[:, 3:] / 2.0])
        # A smooth function of all properties: random features of a squared-exponential kernel.
        W = rng.normal(0.0, 1.0 / np.exp(rng.uniform(np.log(LS[0]), np.log(LS[1]), Z.shape[1])), (300, Z.shape[1]))
        smooth = np.cos(Z @ W.T + rng.uniform(0.0, 2.0 * np.pi, 300)) @ rng.standard_normal(300) * np.sqrt(2.0 / 300)
        own = sum(rng.normal(0.0, OWN, k)[places[:, j]] for j, (k, _) in enumerate(FACTORS.values()))
        score = (smooth - smooth.mean()) / smooth.std() + own
        yields = 100.0 / (1.0 + np.exp(-1.5 * (score - np.quantile(score, 0.995))))
        self.yields = dict(zip(rows, yields.tolist(), strict=True))
        self.best = max(self.yields.values())

    def space(self, arm: str) -> bv.Space:
        """The space with what an arm sees."""
        factors = {}
        for name in FACTORS:
            table = self.hidden[name] if arm != "misleading" else self.noise[name]
            if arm == "half informative":
                table = np.where(np.arange(table.shape[1]) % 2 == 0, table, self.noise[name])
            table = self.units[name][0] + self.units[name][1] * table
            rows = dict(zip(self.names[name], table.tolist(), strict=True))
            factors[name] = bv.Categorical(self.names[name] if arm == "identity" else rows)
        return bv.Space({**factors, "c": bv.Discrete(CONCENTRATIONS), "T": bv.Discrete(TEMPERATURES, units="°C")})


def run(table: Reactions, arm: str, seed: int) -> tuple[float, float, float, float]:
    """Regret in percent of the best yield: in the end, and in the mean after the design; CPU seconds; what of the
    distances between categories is their identity.
    """
    opt = bv.Optimizer(table.space(arm), maximize=True, seed=seed)
    # The same design for all arms: that of the space without descriptors.
    for trial in bv.Optimizer(table.space("identity"), seed=seed).ask(DESIGN):
        opt.enqueue(trial.params)
    start, best, curve = time.process_time(), 0.0, []
    for _ in range(BUDGET // BATCH):
        for trial in opt.ask(BATCH):
            value = table.yields[tuple(trial.params.values())]
            best = max(best, value)
            curve.append(100.0 - 100.0 * best / table.best)
            opt.tell(trial, value)
    shares = [of["identity"] for of in opt.descriptor_shares().values()]
    cpu = time.process_time() - start
    return curve[-1], float(np.mean(curve[DESIGN + BATCH :])), cpu, float(np.mean(shares)) if shares else np.nan


def sign_test(won: int, lost: int) -> float:
    """The two-sided probability of so uneven a split by chance."""
    n, few = won + lost, min(won, lost)
    return min(1.0, 2.0 * sum(comb(n, i) for i in range(few + 1)) / 2.0**n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    said = parser.parse_args()
    found = {arm: [] for arm in ARMS}
    for seed in range(said.first, said.first + said.seeds):
        table = Reactions(seed)
        for arm in ARMS:
            found[arm].append(run(table, arm, seed))
    print(
        "| descriptors | final regret: mean | median | best reaction found | regret on the way | won : lost | p |",
        end="",
    )
    print(" share of identity | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    base = np.array(found["identity"])[:, 1]
    for arm in ARMS:
        last, way, cpu, share = np.array(found[arm]).T
        won, lost = int((way < base).sum()), int((way > base).sum())
        print(
            f"| {arm} | {last.mean():.2f} % | {np.median(last):.2f} % | {(last < 1e-9).sum()} of {len(last)} "
            f"| {way.mean():.2f} % | {won} : {lost} | {sign_test(won, lost):.3f} "
            f"| {'-' if np.isnan(share).all() else f'{100 * share.mean():.0f} %'} | {cpu.mean():.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
