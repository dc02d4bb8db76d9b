"""A table of reaction conditions: the highest yield whose purity is high enough. The table is simulated.

The kinetics, all of first order in the starting material A: A → P (the product), A → B (a by-product), P → D (it
decomposes). Each rate is a factor of the solvent times one of the base, times an Arrhenius law; the first two grow with
the concentration. What differs between solvents and bases is drawn from the seed, and so is an error of measurement.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from believer.cli.demos.demo import Demo
from believer.optimizer import Optimizer
from believer.space import Categorical, Int, Space
from believer.study.goal import AtLeast, Maximize

SEED = 2026
"""The seed of the factors of solvents and bases, and of measurement errors."""

SOLVENTS = ("DMF", "DMSO", "acetonitrile", "dioxane", "toluene", "ethanol")
BASES = ("K2CO3", "Cs2CO3", "Et3N", "DBU")
MIN_PURITY = 95.0
SPACE = Space(
    {
        "solvent": Categorical(SOLVENTS),
        "base": Categorical(BASES),
        "temperature": Int(40, 100, step=20, units="°C"),
        "concentration": Int(100, 300, step=100, units="mmol/L"),
        "time": Int(4, 20, step=8, units="h"),
    }
)
Reaction: TypeAlias = tuple[Any, ...]
"""Values of the parameters, in the order of the space."""

_GAS = 8.314e-3  # kJ / (mol K)
_WARM = 343.15  # K, where the factors are drawn
_RATES = {"product": 0.15, "by-product": 0.02, "decay": 0.004}  # 1/h
_BARRIERS = {"product": 65.0, "by-product": 85.0, "decay": 100.0}  # kJ/mol
_ORDERS = {"product": 1.0, "by-product": 2.0, "decay": 0.0}  # of the concentration
_SPREAD_SOLVENT, _SPREAD_BASE, _SPREAD_PAIR = 0.7, 0.7, 0.3  # of the logarithms of the factors
_LEFT = 0.25  # of the impurities after work-up
_ERRORS = (0.8, 0.2)  # standard deviations of yield and purity, in %


@cache
def table() -> dict[Reaction, tuple[float, float]]:
    """Yield and purity in % of every combination."""
    rng = np.random.default_rng(SEED)
    solvents = {(k, s): rng.normal(0.0, _SPREAD_SOLVENT) for k in _RATES for s in SOLVENTS}
    bases = {(k, b): rng.normal(0.0, _SPREAD_BASE) for k in _RATES for b in BASES}
    pairs = {(k, s, b): rng.normal(0.0, _SPREAD_PAIR) for k in _RATES for s in SOLVENTS for b in BASES}
    rows: dict[Reaction, tuple[float, float]] = {}
    for s, b, t, c, h in product(SOLVENTS, BASES, range(40, 101, 20), range(100, 301, 100), range(4, 21, 8)):
        warmth = (1.0 / (t + 273.15) - 1.0 / _WARM) / _GAS
        k1, k2, k3 = (
            _RATES[k]
            * math.exp(solvents[k, s] + bases[k, b] + pairs[k, s, b] - _BARRIERS[k] * warmth)
            * (c / 200.0) ** _ORDERS[k]
            for k in _RATES
        )
        made, pure = _after(k1, k2, k3, h)
        errors = rng.normal(0.0, _ERRORS)
        rows[s, b, t, c, h] = (
            round(min(max(made + errors[0], 0.0), 100.0), 1),
            round(min(max(pure + errors[1], 0.0), 100.0), 1),
        )
    return rows


def _after(k1: float, k2: float, k3: float, hours: float) -> tuple[float, float]:
    """Yield and purity in %: product over starting material, and product over what is left after work-up."""
    gone = k1 + k2
    left = math.exp(-gone * hours)
    made = k1 * (math.exp(-k3 * hours) - left) / (gone - k3)
    return 100.0 * made, 100.0 * made / (made + _LEFT * (1.0 - left - made))


def measure(params: dict[str, Any]) -> dict[str, float]:
    """Yield and purity of one combination."""
    made, pure = table()[tuple(params[name] for name in SPACE.names)]
    return {"yield": made, "purity": pure}


def rank(optimizer: Optimizer) -> str | None:
    """The rank of the best result in the whole table."""
    pure = [made for made, purity in table().values() if purity >= MIN_PURITY]
    known = f"In the table, {len(pure)} of {len(table())} rows keep the limit; the best of them yields {max(pure)} %"
    if optimizer.best is None:
        return f"{known}."
    above = sum(made > optimizer.best[1] for made in pure)
    place = "and was found" if above == 0 else f"and {above} of them yield more than the best result found"
    return f"{known}, {place}."


REACTION = Demo(
    name="reaction",
    title="a table of reaction conditions: the highest yield, with a limit on purity (simulated)",
    story=f"A reaction in the lab: 6 solvents, 4 bases, temperature, concentration and time, 864 combinations.\n"
    f"Wanted: the highest yield with a purity of at least {MIN_PURITY:g} %. The plate has 8 wells.\n"
    f"The table is simulated: kinetics with factors drawn from the seed {SEED}, and errors of measurement.",
    function=measure,
    space=SPACE,
    goals={"yield": Maximize(units="%"), "purity": AtLeast(MIN_PURITY, units="%")},
    budget=48,
    seeds=7,
    ending=rank,
)
