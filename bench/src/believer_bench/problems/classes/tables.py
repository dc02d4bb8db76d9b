"""Finite tables, whose optimum is their least value.

Two sources. *Reactions* are made: yields over choices only, nothing being known of a choice but its name. *Measured*
ones are errors of small models, cross-validated on scikit-learn's data over whole grids by
``benchmarks/make_tables.py``; their files are part of the package.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np

from believer.arrays import Array, read_only
from believer.problems.problem import Problem
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int, Parameter
from believer_bench.problems.made import uniform

KIND = "tables"


@dataclass(frozen=True, slots=True)
class Reaction:
    """Minus a yield in percent, of choices with ``sizes`` many values.

    yield = 97 / (1 + exp(-a)), a = -2 + Σ_k m_k[c_k] + Σ_{k<l} p_kl[c_k, c_l] + e[c], rounded to two decimals. By
    ``seed`` are drawn main effects m within ±1.5, interactions p within ±1, and e within ±0.4, which no pair explains.
    One choice in six of every parameter with more than four is dead: 4 less. Of a share ``dead`` of every parameter's
    choices nothing comes at all, nor of a share ``clashing`` of the pairs of choices of two parameters.
    """

    sizes: tuple[int, ...]
    seed: int
    dead: float = 0.0
    clashing: float = 0.0

    def __call__(self, params: dict[str, Any]) -> float:
        """The value of the row, whose choices are numbered at the end of their names."""
        return float(reaction_table(self)[tuple(int(choice[-2:]) - 1 for choice in params.values())])


@lru_cache(maxsize=8)
def reaction_table(reaction: Reaction) -> Array:
    """All values, an axis for each parameter."""
    sizes, seed = reaction.sizes, reaction.seed
    score = -2.0 + uniform(seed, *sizes, low=-0.4, high=0.4)
    for k, size in enumerate(sizes):
        main = uniform(seed + 1 + k, size, low=-1.5, high=1.5).copy()
        if size > 4:
            main[np.argsort(uniform(seed + 11 + k, size))[: size // 6]] -= 4.0
        score = score + main.reshape([-1 if axis == k else 1 for axis in range(len(sizes))])
    for k, other in combinations(range(len(sizes)), 2):
        pair = uniform(seed + 21 + 10 * k + other, sizes[k], sizes[other], low=-1.0, high=1.0)
        score = score + pair.reshape([sizes[a] if a in (k, other) else 1 for a in range(len(sizes))])
    none = np.zeros(sizes, dtype=bool)
    for k, size in enumerate(sizes):
        lost = np.argsort(uniform(seed + 101 + k, size))[: round(reaction.dead * size)]
        none |= np.isin(np.arange(size), lost).reshape([-1 if axis == k else 1 for axis in range(len(sizes))])
    for k, other in combinations(range(len(sizes)), 2):
        clash = uniform(seed + 121 + 10 * k + other, sizes[k], sizes[other]) < reaction.clashing
        none |= clash.reshape([sizes[a] if a in (k, other) else 1 for a in range(len(sizes))])
    return read_only(-np.where(none, 0.0, np.round(97.0 / (1.0 + np.exp(-score)), 2)))


def _reaction(name: str, seed: int, dead: float = 0.0, clashing: float = 0.0, **sizes: int) -> Problem:
    space = Space({key: Categorical([f"{key}_{i:02d}" for i in range(1, size + 1)]) for key, size in sizes.items()})
    function = Reaction(tuple(sizes.values()), seed, dead, clashing)
    table = reaction_table(function)
    where = [tuple(at) for at in np.argwhere(table == table.min())]
    best = tuple({key: f"{key}_{i + 1:02d}" for key, i in zip(sizes, at, strict=True)} for at in where)
    return Problem(name, space, function, float(table.min()), best, KIND)


def reaction3() -> Problem:
    """480 rows: 10 x 8 x 6."""
    return _reaction("reaction3", 1203, catalyst=10, base=8, solvent=6)


def reaction4() -> Problem:
    """3,960 rows: 22 x 15 x 4 x 3."""
    return _reaction("reaction4", 1304, additive=22, halide=15, ligand=4, base=3)


def reaction5() -> Problem:
    """1,728 rows: 12 x 4 x 3 x 4 x 3."""
    return _reaction("reaction5", 1405, ligand=12, base=4, solvent=3, heat=4, load=3)


def dead4() -> Problem:
    """1,440 rows: 12 x 8 x 5 x 3; one choice in six gives nothing, and two rows in five are zeros."""
    return _reaction("dead4", 1503, dead=0.15, catalyst=12, base=8, solvent=5, heat=3)


def cliffs3() -> Problem:
    """960 rows: 16 x 10 x 6; a fifth of the pairs of choices give nothing, which no single choice explains."""
    return _reaction("cliffs3", 1604, clashing=0.2, additive=16, halide=10, ligand=6)


def cliffs5() -> Problem:
    """2,160 rows: 10 x 6 x 4 x 3 x 3; dead choices and clashing pairs."""
    return _reaction("cliffs5", 1705, dead=0.1, clashing=0.05, ligand=10, base=6, solvent=4, heat=3, load=3)


@dataclass(frozen=True, slots=True)
class MeasuredTable:
    """The values of a file of the package, looked up by their params."""

    name: str
    space: Space

    def __call__(self, params: dict[str, Any]) -> float:
        """The value of the row."""
        return table_of(self)[tuple(params.values())]


@lru_cache(maxsize=8)
def table_of(measured: MeasuredTable) -> dict[tuple[Any, ...], float]:
    """Rows of the file by their params, in the file's order."""
    text = files("believer_bench.problems").joinpath("tables", f"{measured.name}.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    parameters = measured.space.parameters
    if header[:-1] != list(parameters):
        raise ValueError(f"{measured.name}.csv must have the columns {list(parameters)}; got {header[:-1]}.")
    read = [{Int: int, Float: float, Categorical: str}[type(p)] for p in parameters.values()]
    return {tuple(of(cell) for of, cell in zip(read, row[:-1], strict=True)): float(row[-1]) for row in rows}


def _measured(name: str, space: Space) -> Problem:
    table = table_of(MeasuredTable(name, space))
    least = min(table.values())
    best = tuple(dict(zip(space.names, row, strict=True)) for row, value in table.items() if value == least)
    return Problem(name, space, MeasuredTable(name, space), least, best, KIND)


def svr_diabetes() -> Problem:
    """1,260 rows: support vectors on diabetes data."""
    numbers: dict[str, Parameter] = {
        "log2_C": Int(-6, 4, step=2),
        "log2_gamma": Int(-12, 0, step=2),
        "tube": Float(0, 1, step=0.25),
    }
    choices = {"kernel": Categorical(["rbf", "poly", "sigmoid"]), "scaling": Categorical(["standard", "minmax"])}
    return _measured("svr_diabetes", Space({**numbers, **choices}))


def knn_wine() -> Problem:
    """900 rows: nearest neighbors on wines."""
    numbers: dict[str, Parameter] = {"neighbors": Int(1, 30), "norm": Float(1, 3, step=0.5)}
    choices = {
        "weights": Categorical(["uniform", "distance"]),
        "scaling": Categorical(["none", "standard", "minmax"]),
    }
    return _measured("knn_wine", Space({**numbers, **choices}))


def forest_cancer() -> Problem:
    """1,050 rows: a random forest on breast cancer data."""
    numbers: dict[str, Parameter] = {
        "trees": Int(2, 14, step=3),
        "depth": Int(1, 7),
        "features": Int(1, 13, step=3),
        "leaf": Int(1, 11, step=5),
    }
    return _measured("forest_cancer", Space({**numbers, "criterion": Categorical(["gini", "entropy"])}))


def boosting_diabetes() -> Problem:
    """1,152 rows: boosted trees on diabetes data."""
    numbers: dict[str, Parameter] = {
        "log2_trees": Int(2, 7),
        "log2_rate": Int(-7, 0),
        "depth": Int(1, 4),
        "subsample": Float(0.4, 1, step=0.3),
    }
    return _measured("boosting_diabetes", Space({**numbers, "loss": Categorical(["squared_error", "huber"])}))


def mlp_wine() -> Problem:
    """1,296 rows: a network on wines."""
    numbers: dict[str, Parameter] = {
        "log2_units": Int(1, 6),
        "log2_rate": Int(-12, -2, step=2),
        "log10_penalty": Int(-4, 2, step=2),
        "log2_batch": Int(3, 5),
    }
    return _measured("mlp_wine", Space({**numbers, "activation": Categorical(["relu", "tanh", "logistic"])}))


MEMBERS: dict[str, Callable[[], Problem]] = {
    "reaction3": reaction3,
    "reaction4": reaction4,
    "reaction5": reaction5,
    "dead4": dead4,
    "cliffs3": cliffs3,
    "cliffs5": cliffs5,
    "svr_diabetes": svr_diabetes,
    "knn_wine": knn_wine,
    "forest_cancer": forest_cancer,
    "boosting_diabetes": boosting_diabetes,
    "mlp_wine": mlp_wine,
}
