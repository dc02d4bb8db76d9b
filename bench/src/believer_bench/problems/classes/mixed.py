"""Choices beside numbers: what is best for the numbers depends on the choices.

| symbol | meaning | shape |
|---|---|---|
| c | index of the choice made in each categorical parameter | (k,) |
| u | positions of the numbers on their own scales, 0 at low and 1 at high | (d,) |
| u* | those of the optimum | (d,) |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from believer.arrays import Array
from believer.capabilities import has
from believer.problems.problem import Problem
from believer.space import Space
from believer.space.parameters import Categorical, Float, Int, Number, Parameter
from believer_bench.problems.made import uniform

KIND = "mixed"


@dataclass(frozen=True, slots=True)
class Mixture:
    """f = least + Σ_k m_k[c_k] + Σ_{k<l} p_kl[c_k, c_l] + Σ_j w_j[c] (d_j² + r (1 - cos 9 d_j)), d = u - u* - s[c].

    Main effects m and interactions p lie in [0, 1) times ``main`` and ``pair``; shifts s_j[c] = Σ_k s_jk[c_k] within
    ± ``shift``. All are drawn by ``seed`` and 0 for the choices of the optimum, which is therefore ``least``. Weights w
    are 4 + 4 j, and where ``idle`` is given, number j has no effect for choices of the first parameter with
    c_1 % idle = j % idle, those of the optimum excepted.
    """

    space: Space
    best: tuple[Any, ...]
    seed: int
    main: float = 1.0
    pair: float = 0.0
    shift: float = 0.3
    ripple: float = 0.0
    idle: int = 0
    least: float = 0.0

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value at ``params``."""
        chosen, at_best, sizes, moves = [], [], [], []
        for (name, p), best in zip(self.space.parameters.items(), self.best, strict=True):
            if not has(p, Number):
                choices = p.decode(p.grid())
                sizes.append(len(choices))
                chosen.append(choices.index(params[name]))
                at_best.append(choices.index(best))
            else:
                moves.append(position(p, params[name]) - position(p, best))
        value = self.least
        shifts = np.zeros(len(moves))
        for k, (c, best_c) in enumerate(zip(chosen, at_best, strict=True)):
            if c != best_c:
                value += self.main * (0.2 + 0.8 * float(uniform(self.seed + k, sizes[k])[c]))
                shifts += uniform(self.seed + 100 + k, sizes[k], len(moves), low=-self.shift, high=self.shift)[c]
        for k, other in combinations(range(len(chosen)), 2):
            if (chosen[k], chosen[other]) != (at_best[k], at_best[other]):
                table = uniform(self.seed + 200 + 10 * k + other, sizes[k], sizes[other])
                value += self.pair * float(table[chosen[k], chosen[other]])
        return value + self._of_numbers(np.array(moves) - shifts, chosen[0], chosen[0] == at_best[0])

    def _of_numbers(self, gaps: Array, first: int, is_best: bool) -> float:
        ranks = np.arange(len(gaps))
        weights = 4.0 + 4.0 * ranks
        if self.idle and not is_best:
            weights = np.where(ranks % self.idle == first % self.idle, 0.0, weights)
        return float((weights * (gaps * gaps + self.ripple * (1.0 - np.cos(9.0 * gaps)))).sum())


def position(p: Parameter, value: float) -> float:
    """The position of ``value`` between low and high, on the parameter's scale."""
    if not has(p, Number):
        raise TypeError("a choice has no position.")
    if p.log:
        return math.log(value / p.low) / math.log(p.high / p.low)
    return (value - p.low) / (p.high - p.low)


def bowls4() -> Problem:
    """A choice of four and three numbers: a bowl for each choice, at another place."""
    parameters: dict[str, Parameter] = {
        "solvent": Categorical(["water", "ethanol", "toluene", "hexane"]),
        "heat": Float(20, 120),
        "time": Float(0.1, 24, log=True),
        "dose": Float(0, 5),
    }
    return _mixture("bowls4", parameters, ("toluene", 87.5, 3.2, 1.4), 1104, shift=0.4, least=1.0)


def classifier5() -> Problem:
    """Two choices, a number over magnitudes, a whole number and a real one."""
    parameters: dict[str, Parameter] = {
        "kernel": Categorical(["rbf", "linear", "cubic"]),
        "shrink": Categorical([True, False]),
        "cost": Float(1e-3, 1e3, log=True),
        "parts": Int(2, 30),
        "weight": Float(0, 1),
    }
    return _mixture("classifier5", parameters, ("rbf", False, 42.0, 11, 0.61), 1105, pair=0.5)


def additives5() -> Problem:
    """A choice of ten and two of three, with interactions, and two numbers."""
    parameters: dict[str, Parameter] = {
        "ligand": Categorical([f"L{i}" for i in range(1, 11)]),
        "base": Categorical(["K2CO3", "Cs2CO3", "Et3N"]),
        "salt": Categorical(["none", "LiCl", "NaI"]),
        "heat": Float(25, 150),
        "load": Float(0.5, 10, log=True),
    }
    best = ("L7", "K2CO3", "LiCl", 104.0, 2.4)
    return _mixture("additives5", parameters, best, 1115, main=1.5, pair=1.0, shift=0.2)


def idle6() -> Problem:
    """A choice of five that decides which of four numbers matter, and one of two."""
    parameters: dict[str, Parameter] = {
        "method": Categorical(["a", "b", "c", "d", "e"]),
        "warm": Categorical(["yes", "no"]),
        "rate": Float(1e-4, 1e-1, log=True),
        "decay": Float(0, 1),
        "steps": Int(1, 64),
        "width": Int(1, 16),
    }
    return _mixture("idle6", parameters, ("d", "yes", 0.004, 0.23, 50, 6), 1106, idle=2, shift=0.3, least=-2.0)


def rough8() -> Problem:
    """Three choices, two whole and three real numbers, with ripples and interactions."""
    parameters: dict[str, Parameter] = {
        "shape": Categorical(["cube", "cone", "ball"]),
        "x": Float(-1, 1),
        "layers": Int(1, 9),
        "y": Float(-1, 1),
        "metal": Categorical(["Fe", "Co", "Ni", "Cu"]),
        "z": Float(1, 100, log=True),
        "turns": Int(0, 20, step=2),
        "coat": Categorical(["matte", "gloss"]),
    }
    best = ("cone", 0.37, 7, -0.58, "Ni", 21.0, 6, "gloss")
    return _mixture("rough8", parameters, best, 1108, pair=0.5, ripple=0.1, shift=0.2)


def _mixture(name: str, parameters: dict[str, Parameter], best: tuple[Any, ...], seed: int, **more: Any) -> Problem:
    space = Space(parameters)
    function = Mixture(space, best, seed, **more)
    return Problem(name, space, function, function.least, (dict(zip(space.names, best, strict=True)),), KIND)


MEMBERS: dict[str, Callable[[], Problem]] = {
    "bowls4": bowls4,
    "classifier5": classifier5,
    "additives5": additives5,
    "idle6": idle6,
    "rough8": rough8,
}
